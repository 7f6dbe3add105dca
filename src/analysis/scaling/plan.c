/* Plans: a set of points, the lines of its parameters, and the models of series that were measured there. */
#include "analysis/scaling/plan.h"

#include <stdlib.h>

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static bool fill_coordinates(as_plan *plan, const assay_id *points) {
    size_t parameters = plan->n_parameters, size;
    if (!as_mul_size(plan->n, parameters, &size) || !as_mul_size(size, sizeof(double), &size)) return false;
    plan->points = malloc((plan->n + 1) * sizeof *plan->points);
    plan->coordinates = malloc(size + 1);
    if (!plan->points || !plan->coordinates) return false;
    for (size_t i = 0; i < plan->n; i++) {
        const double *point = as_ds_point(plan->ds, points[i]);
        plan->points[i] = points[i];
        for (size_t k = 0; k < parameters; k++) plan->coordinates[k * plan->n + i] = point[k];
    }
    return true;
}

/* The one parameter's line has all points in their order. */
static bool take_all_points(const as_plan *plan, as_line_points *line) {
    line->n = plan->n;
    line->x = malloc((plan->n + 1) * sizeof *line->x);
    line->starts = malloc((plan->n + 1) * sizeof *line->starts);
    line->members = malloc((plan->n + 1) * sizeof *line->members);
    if (!line->x || !line->starts || !line->members) return false;
    for (size_t i = 0; i < plan->n; i++) {
        line->x[i] = plan->coordinates[i];
        line->members[i] = line->starts[i] = (uint32_t)i;
    }
    line->starts[plan->n] = (uint32_t)plan->n;
    return true;
}

static bool make_line(as_plan *plan, size_t parameter, bool is_ragged) {
    const as_fit_options *o = plan->options;
    as_line_points *line = &plan->lines[parameter];
    bool is_only = plan->n_parameters == 1;
    as_modeler modeler = o->modeler == AS_MODELER_MULTI ? o->single_modeler : o->modeler;
    if (!(is_only ? take_all_points(plan, line) : as_line_points_choose(plan, parameter, line))) return false;
    if (line->n < AS_ENOUGH_POINTS) {
        plan->flags |= AS_FIT_FEW_POINTS;
        if (modeler == AS_MODELER_SEGMENTED) plan->flags |= AS_FIT_NOT_SEGMENTED;
    }
    if (line->n == 0 || (is_ragged && line->n < AS_ENOUGH_POINTS)) {
        plan->flags |= AS_FIT_CUT;
        return true;
    }
    line->modeler = as_line_modeler_new(modeler, line->x, line->n, &o->single);
    if (!line->modeler) return false;
    if (line->modeler->plan->lost_logs) plan->flags |= AS_FIT_NO_LOG;
    return true;
}

as_plan *as_plan_new(const as_dataset *ds, const as_fit_options *options, const assay_id *points, size_t n,
                     bool is_ragged) {
    as_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    *plan = (as_plan){.ds = ds, .options = options, .n = n, .n_parameters = as_ds_parameters(ds)};
    plan->lines = calloc(plan->n_parameters + 1, sizeof *plan->lines);
    bool fine = plan->lines && fill_coordinates(plan, points);
    for (size_t k = 0; fine && k < plan->n_parameters; k++) fine = make_line(plan, k, is_ragged);
    if (fine) return plan;
    as_plan_free(plan);
    return NULL;
}

void as_plan_free(as_plan *plan) {
    if (!plan) return;
    for (size_t k = 0; plan->lines && k < plan->n_parameters; k++) as_line_points_free(&plan->lines[k]);
    free(plan->lines);
    free(plan->points);
    free(plan->coordinates);
    free(plan);
}

static size_t line_plan_size(const as_line_plan *plan) {
    if (!plan) return 0;
    return sizeof *plan + (plan->powers.count + plan->further.count) * as_hypothesis_size(plan->n) * sizeof(double);
}

size_t as_plan_size(const as_plan *plan) {
    size_t size = sizeof *plan + plan->n * (plan->n_parameters + 1) * sizeof(double);
    for (size_t k = 0; k < plan->n_parameters; k++) {
        const as_line_points *line = &plan->lines[k];
        size += line->n * sizeof(double);
        if (!line->modeler) continue;
        size += line_plan_size(line->modeler->plan);
        for (size_t i = 0; line->modeler->parts && i < 3 * (line->n + 1); i++)
            size += line_plan_size(line->modeler->parts[i]);
    }
    return size;
}

/* ---- one parameter ----------------------------------------------------------------------------------------------- */

static as_made_term term_of(const as_line_fit *fit, uint32_t segment, uint32_t parameter) {
    return (as_made_term){
        .segment = segment, .parameter = parameter, .coefficient = fit->coefficient, .power = fit->power};
}

/* Names the hypothesis that came next where it is as good. */
static bool note_rival(const as_plan *plan, const as_line_fit *fit, as_made_head *head, as_vec *text) {
    double score = as_score(&fit->costs, &plan->options->single);
    if (!(fit->rival_score <= score * (1 + AS_TIE))) return true;
    head->flags |= AS_FIT_TIE;
    head->rival_error = (float)fit->rival_score;
    if (fit->rival < 0) return as_vec_append(text, "constant", strlen("constant"));
    const char *name = as_ds_parameter(plan->ds, 0);
    return as_power_text(&AS_AT(as_power, &plan->lines[0].modeler->plan->powers, fit->rival), name, text);
}

static bool append_single(const as_plan *plan, const as_line_result *r, as_made_head *head, as_vec *bytes) {
    as_segment segments[2] = {{.from = -INFINITY, .to = r->left_end}, {.from = r->right_begin, .to = INFINITY}};
    as_made_term terms[2];
    as_costs parts[2] = {r->parts[0].costs, r->parts[1].costs};
    as_vec rival;
    as_vec_init(&rival, 1, NULL);
    bool fine = true;
    head->costs = r->whole.costs;
    head->n_segments = r->is_segmented ? 2 : 1;
    if (!r->is_segmented) {
        segments[0].to = INFINITY;
        fine = note_rival(plan, &r->whole, head, &rival);
    }
    for (uint32_t i = 0; i < head->n_segments; i++) {
        const as_line_fit *fit = r->is_segmented ? &r->parts[i] : &r->whole;
        segments[i].constant = fit->constant;
        if (fit->term != -1) terms[head->n_terms++] = term_of(fit, i, 0);
    }
    head->rival_size = (uint32_t)rival.count;
    as_made made = {*head, segments, terms, rival.data ? rival.data : "", parts};
    fine = fine && as_made_append(bytes, &made);
    as_vec_free(&rival);
    return fine;
}

/* Nothing to go by: no point with a number, or (several parameters) all lines cut. */
static bool append_constant(const as_plan *plan, const double *y, as_made_head *head, as_vec *bytes) {
    as_line_result r = {0};
    if (plan->n)
        as_constant_fit(y, plan->n, &r.whole);
    else
        r.whole = (as_line_fit){
            .term = -1, .rival_score = INFINITY, .constant = NAN, .costs = {NAN, NAN, NAN, NAN, NAN, NAN}};
    return append_single(plan, &r, head, bytes);
}

/* ---- a tile ------------------------------------------------------------------------------------------------------ */

typedef struct workspace {
    double *tile, *scratch;  /* of the line with most points */
    as_line_result *results; /* parameters x AS_LANES */
} workspace;

static bool make_workspace(const as_plan *plan, workspace *w) {
    size_t tile = 1, scratch = 1;
    for (size_t k = 0; k < plan->n_parameters; k++) {
        const as_line_points *line = &plan->lines[k];
        if (!line->modeler) continue;
        size_t needed = as_line_modeler_scratch(line->modeler);
        tile = line->n > tile ? line->n : tile;
        scratch = needed > scratch ? needed : scratch;
    }
    w->tile = aligned_alloc(64, tile * AS_LANES * sizeof(double));
    w->scratch = aligned_alloc(64, (scratch + AS_LANES - 1) / AS_LANES * AS_LANES * sizeof(double));
    w->results = calloc(plan->n_parameters * AS_LANES, sizeof *w->results);
    return w->tile && w->scratch && w->results;
}

static void free_workspace(workspace *w) {
    free(w->tile);
    free(w->scratch);
    free(w->results);
}

static bool run_line(as_plan *plan, size_t parameter, const as_job *jobs, size_t lanes, workspace *w) {
    const as_line_points *line = &plan->lines[parameter];
    as_line_result *results = w->results + parameter * AS_LANES;
    if (!line->modeler) {
        for (size_t lane = 0; lane < lanes; lane++)
            results[lane] = (as_line_result){.whole = {.term = -1, .rival = -1, .rival_score = INFINITY}};
        return true;
    }
    for (size_t lane = 0; lane < AS_LANES; lane++) {
        const as_samples *samples = jobs[lane < lanes ? lane : 0].samples;
        as_line_points_values(line, samples->values, samples->means, w->tile + lane, AS_LANES);
    }
    return as_line_modeler_run(line->modeler, w->tile, lanes, w->scratch, results);
}

static bool run_tile(as_plan *plan, const as_job *jobs, size_t lanes, workspace *w, as_vec *bytes) {
    for (size_t k = 0; k < plan->n_parameters; k++) {
        if (!run_line(plan, k, jobs, lanes, w)) return false;
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        const as_samples *samples = jobs[lane].samples;
        as_made_head head = {.position = jobs[lane].position,
                             .flags = plan->flags | samples->flags,
                             .n_points = samples->n,
                             .n_missing = samples->n_missing,
                             .noise = samples->noise,
                             .rival_error = NAN};
        bool fine;
        if (plan->n == 0 || (plan->n_parameters == 1 && !plan->lines[0].modeler)) {
            fine = append_constant(plan, samples->values, &head, bytes);
        } else if (plan->n_parameters == 1) {
            fine = append_single(plan, &w->results[lane], &head, bytes);
        } else {
            as_line_result *lines = malloc(plan->n_parameters * sizeof *lines);
            fine = lines != NULL;
            for (size_t k = 0; fine && k < plan->n_parameters; k++) lines[k] = w->results[k * AS_LANES + lane];
            fine = fine && as_plan_combine(plan, samples->values, lines, &head, bytes, NULL);
            free(lines);
        }
        if (!fine) return false;
    }
    return true;
}

bool as_plan_run(as_plan *plan, const as_job *jobs, size_t n, as_vec *bytes) {
    workspace w = {0};
    bool fine = make_workspace(plan, &w);
    for (size_t i = 0; fine && i < n; i += AS_LANES)
        fine = run_tile(plan, jobs + i, n - i < AS_LANES ? n - i : AS_LANES, &w, bytes);
    free_workspace(&w);
    return fine;
}
