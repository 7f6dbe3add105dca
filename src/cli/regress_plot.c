/* `assay regress --plot UID`: its points and curves as a picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model_plot.h"
#include "cli/regress_view.h"
#include "cli/study.h"
#include "core/map.h"
#include "core/words.h"
#include "render/plot.h"

enum { CURVE_SAMPLES = 240, MOST_POINTS = 2000, CELLS_X = 900, CELLS_Y = 500, MOST_CURVES = 64 };

struct job {
    as_cli *cli;
    const as_regress_answer *answer;
    const char *uid;
    const as_points *points; /* NULL: there are none */
    as_plot *plot;
    as_vec text; /* char */
};

/* ---- the uid ----------------------------------------------------------------------------------------------------- */

/* Whether something is to be seen of a uid: calls visit for each, perhaps more than once. */
static void visit_uids(const struct job *job, void (*visit)(void *user, const char *uid), void *user) {
    const as_regress_answer *a = job->answer;
    for (size_t i = 0; i < a->points.n; i++) visit(user, a->points.points[i].uid);
    for (size_t i = 0; i < a->curves.curves.count; i++) {
        const char *uid = AS_AT(as_curve, &a->curves.curves, i).uid;
        if (uid) visit(user, uid);
    }
}

struct match {
    const char *name;
    const char *exact, *part; /* part: one that has the name in it */
    bool is_ambiguous;
    as_nearest nearest;
};

static void match_uid(void *user, const char *uid) {
    struct match *m = user;
    as_nearest_offer(&m->nearest, uid);
    if (strcmp(uid, m->name) == 0) m->exact = uid;
    if (!strstr(uid, m->name)) return;
    if (m->part && strcmp(m->part, uid) != 0) m->is_ambiguous = true;
    m->part = uid;
}

static bool is_asked(const struct job *job, const as_curve *curve) {
    return curve->uid && job->uid && strcmp(curve->uid, job->uid) == 0;
}

/* Given whole, or as a part that only one has. */
static as_exit find_uid(struct job *job) {
    const char *name = job->answer->request->plot;
    struct match m = {.name = name, .nearest = as_nearest_start(name, strlen(name))};
    visit_uids(job, match_uid, &m);
    job->uid = m.exact ? m.exact : m.is_ambiguous ? NULL : m.part;
    if (!job->uid && m.is_ambiguous)
        return as_cli_fail(job->cli, AS_EXIT_USAGE, "several uids have '%s' in them; name one whole, such as '%s'",
                           name, m.part);
    if (!job->uid)
        return as_cli_fail(job->cli, AS_EXIT_USAGE, "there is no uid '%s'%s%s%s", name,
                           m.nearest.word ? "; did you mean '" : "; assay regress without --plot lists them",
                           m.nearest.word ? m.nearest.word : "", m.nearest.word ? "'?" : "");
    for (size_t i = 0; i < job->answer->points.n; i++) {
        const as_points *points = &job->answer->points.points[i];
        if (strcmp(points->uid, job->uid) == 0) job->points = points;
    }
    return AS_EXIT_FINE;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static as_range range_of(const double *numbers, size_t n) {
    as_range range = {0};
    for (size_t i = 0; i < n; i++) as_range_add(&range, numbers[i]);
    return range;
}

/* Of many points those that lie on top of others, finer than anything is drawn, are left out. */
static bool add_points(struct job *job) {
    const as_points *p = job->points;
    if (!p || !p->n) return true;
    as_plot_series *series =
        as_plot_add(job->plot, AS_PLOT_POINTS, job->answer->points.is_measured ? "measured" : "resources", NULL);
    as_axis x = {.scale = job->plot->x.scale}, y = {.scale = job->plot->y.scale};
    as_range range_x = range_of(p->x, p->n), range_y = range_of(p->y, p->n);
    as_axis_fit(&x, &range_x);
    as_axis_fit(&y, &range_y);
    as_map seen;
    as_map_init(&seen, NULL);
    bool fine = series != NULL;
    for (size_t i = 0; i < p->n && fine; i++) {
        double at_x = as_axis_position(&x, p->x[i]), at_y = as_axis_position(&y, p->y[i]);
        if (p->n > MOST_POINTS && isfinite(at_x) && isfinite(at_y)) {
            uint64_t cell = (uint64_t)(at_y * CELLS_Y) * (CELLS_X + 1) + (uint64_t)(at_x * CELLS_X);
            if (as_map_get(&seen, cell) != AS_MAP_NONE) continue;
            fine = as_map_put(&seen, cell, 1);
        }
        fine = fine && as_plot_add_point(series, (as_plot_point){p->x[i], p->y[i], NAN, NAN, NAN});
    }
    as_map_free(&seen);
    return fine;
}

/* ---- curves ------------------------------------------------------------------------------------------------------ */

static bool add_sample(as_plot_series *series, double x, double y) {
    return as_plot_add_point(series, (as_plot_point){x, y, NAN, NAN, NAN});
}

/* Evenly on the axis as it will be drawn. */
static bool sample_formula(const struct job *job, const as_curve *curve, as_plot_series *series) {
    bool is_log = job->plot->x.scale == AS_SCALE_LOG && curve->x_start > 0;
    double from = is_log ? log(curve->x_start) : curve->x_start, to = is_log ? log(curve->x_end) : curve->x_end;
    for (int i = 0; i <= CURVE_SAMPLES; i++) {
        double at = from + (to - from) * i / CURVE_SAMPLES;
        double x = i == CURVE_SAMPLES ? curve->x_end : is_log ? exp(at) : at;
        if (fabs(x) < 1e-6) x = 1e-6; /* as Perun plots */
        if (!add_sample(series, x, as_curve_at(curve, x))) return false;
    }
    return true;
}

/* A level for each bucket. */
static bool sample_buckets(const as_curve *curve, as_plot_series *series) {
    double width = (curve->x_end - curve->x_start) / (double)curve->n_buckets;
    for (size_t i = 0; i < curve->n_buckets; i++) {
        double from = curve->x_start + (double)i * width;
        if (!add_sample(series, from, curve->bucket_stats[i]) ||
            !add_sample(series, from + width, curve->bucket_stats[i]))
            return false;
    }
    return true;
}

/* Values at the points in order of x; of stored ones whose points are not known, evenly. */
static bool sample_values(const struct job *job, const as_curve *curve, as_plot_series *series) {
    size_t n = curve->n_buckets;
    bool has_points = job->points && job->points->n == n;
    double *x = malloc((n ? n : 1) * sizeof *x);
    if (!x) return false;
    double step = n > 1 ? (curve->x_end - curve->x_start) / (double)(n - 1) : 0;
    for (size_t i = 0; i < n; i++) x[i] = has_points ? job->points->x[i] : curve->x_start + (double)i * step;
    if (has_points) qsort(x, n, sizeof *x, as_real_compare);
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) fine = add_sample(series, x[i], curve->bucket_stats[i]);
    free(x);
    return fine;
}

/* "linear", of parts "linear 1 … 20". */
static bool add_curve(struct job *job, const as_curve *curve, bool is_part) {
    char label[160], from[AS_NUMBER_SIZE], to[AS_NUMBER_SIZE];
    as_real_format(as_real_round(curve->x_start, 4), from);
    as_real_format(as_real_round(curve->x_end, 4), to);
    const char *word = as_curve_word(curve);
    if (is_part)
        snprintf(label, sizeof label, "%.40s, %s – %s", word ? word : "?", from, to);
    else
        snprintf(label, sizeof label, "%.40s", word ? word : "?");
    as_plot_series *series = as_plot_add(job->plot, AS_PLOT_CURVE, label, NULL);
    if (!series) return false;
    if (as_curve_is_parametric(curve->model)) return sample_formula(job, curve, series);
    if (!curve->bucket_stats || !curve->n_buckets) return true;
    return curve->model == AS_CURVE_REGRESSOGRAM ? sample_buckets(curve, series) : sample_values(job, curve, series);
}

static const as_curve *best_of(const struct job *job, size_t *n) {
    const as_curve *best = NULL;
    *n = 0;
    for (size_t i = 0; i < job->answer->shown.count; i++) {
        const as_curve *curve = as_answer_curve(job->answer, i);
        if (!is_asked(job, curve)) continue;
        (*n)++;
        if (!best || as_regress_is_better(job->answer, curve, best)) best = curve;
    }
    return best;
}

static bool add_curves(struct job *job) {
    const as_regress_request *r = job->answer->request;
    bool is_part = r->analysis == AS_ANALYSIS_FIT && r->fit.method != AS_REGRESS_FULL;
    size_t drawn = 0, n;
    best_of(job, &n);
    for (size_t i = 0; i < job->answer->shown.count; i++) {
        const as_curve *curve = as_answer_curve(job->answer, i);
        if (!is_asked(job, curve)) continue;
        if (drawn++ == MOST_CURVES) {
            as_cli_note(job->cli, "only the first %d of %zu curves are drawn", MOST_CURVES, n);
            break;
        }
        if (!add_curve(job, curve, is_part && n > 1)) return false;
    }
    return true;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* "0.5 + 2 · x, R² = 0.998". */
static bool describe_best(struct job *job) {
    size_t n;
    const as_curve *best = best_of(job, &n);
    char quality[200], number[AS_NUMBER_SIZE] = "?";
    if (!best) return true;
    if (isfinite(best->r_square)) as_real_format_digits(best->r_square, false, 4, number, sizeof number);
    const char *word = as_curve_word(best);
    snprintf(quality, sizeof quality, n > 1 ? "R^{2} = %s (%.40s, the best of %zu)" : "R^{2} = %s", number,
             word ? word : "?", n);
    as_vec formula;
    as_vec_init(&formula, 1, NULL);
    bool is_parametric = as_curve_is_parametric(best->model);
    bool fine = as_regress_formula(best, false, true, &formula);
    job->text.count = 0;
    fine = fine && as_vec_text(&job->text, is_parametric ? "/{f}(/{x}) = " : "") &&
           as_vec_text(&job->text, formula.data) && as_vec_append(&job->text, "", 1) &&
           as_plot_text(job->plot, &job->plot->function, job->text.data) &&
           as_plot_text(job->plot, &job->plot->quality, quality);
    as_vec_free(&formula);
    return fine;
}

static bool describe(struct job *job) {
    const as_points_set *set = &job->answer->points;
    const char *of = set->of ? set->of : "y", *per = set->per ? set->per : "x", *unit = as_regress_unit(job->answer);
    char text[512];
    snprintf(text, sizeof text, "%.200s over %.200s, %zu point%s", of, per, job->points ? job->points->n : 0,
             job->points && job->points->n == 1 ? "" : "s");
    if (!as_plot_text(job->plot, &job->plot->title, job->uid) || !as_plot_text(job->plot, &job->plot->subtitle, text))
        return false;
    snprintf(text, sizeof text, unit ? "%.200s [%.50s]" : "%.200s", of, unit ? unit : "");
    return as_plot_text(job->plot, &job->plot->y.label, text) && as_plot_text(job->plot, &job->plot->x.label, per) &&
           describe_best(job);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static as_scale asked_scale(const as_cli *cli, char axis) {
    const char *asked = as_cli_value(cli, "log");
    if (!asked) return AS_SCALE_AUTO;
    return strchr(asked, axis) ? AS_SCALE_LOG : AS_SCALE_LINEAR;
}

/* The scale of x is fixed before the curves are computed along it. */
static void choose_scales(struct job *job) {
    as_axis x = {.scale = asked_scale(job->cli, 'x')};
    as_range range = job->points ? range_of(job->points->x, job->points->n) : (as_range){0};
    for (size_t i = 0; i < job->answer->shown.count; i++) {
        const as_curve *curve = as_answer_curve(job->answer, i);
        if (!is_asked(job, curve)) continue;
        as_range_add(&range, curve->x_start);
        as_range_add(&range, curve->x_end);
    }
    as_axis_fit(&x, &range);
    job->plot->x.scale = x.scale;
    job->plot->y.scale = asked_scale(job->cli, 'y');
}

static as_exit draw(const struct job *job) {
    enum { USUAL_WIDTH = 80, MOST_WIDTH = 120 };
    as_cli *cli = job->cli;
    const char *output = job->answer->request->output;
    size_t height = as_plot_height(cli);
    if (!as_cli_count(cli, "height", &height)) return AS_EXIT_USAGE;
    unsigned width = cli->style.width ? cli->style.width : USUAL_WIDTH;
    bool fine =
        output && as_has_ending(output, ".svg")
            ? as_plot_svg(cli->out, job->plot)
            : as_plot_terminal(cli->out, job->plot, width > MOST_WIDTH ? MOST_WIDTH : width,
                               height > 1000 ? 1000 : (unsigned)height, cli->style.colour, as_cli_is_ascii(cli));
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

as_exit as_regress_plot(as_cli *cli, const as_regress_answer *answer) {
    struct job job = {.cli = cli, .answer = answer, .plot = as_plot_new()};
    as_vec_init(&job.text, 1, NULL);
    as_exit status = job.plot ? find_uid(&job) : as_cli_memory(cli);
    if (status == AS_EXIT_FINE) {
        size_t n;
        bool nothing = (!job.points || !job.points->n) && !best_of(&job, &n);
        if (nothing) status = as_cli_fail(cli, AS_EXIT_INPUT, "'%s' has neither points nor curves", job.uid);
    }
    if (status == AS_EXIT_FINE) {
        choose_scales(&job);
        status = describe(&job) && add_curves(&job) && add_points(&job) ? draw(&job) : as_cli_memory(cli);
    }
    as_vec_free(&job.text);
    as_plot_free(job.plot);
    return status;
}
