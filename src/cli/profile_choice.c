/* Metrics and runs by name. */
#include "cli/profile_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/scaling/coordinates.h"
#include "core/words.h"
#include "dataset/metric_names.h"
#include "render/quantity.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* In any case. False: there is none, or more than one; it is printed which there are, and of which file where each has
 * an option of its own. */
static bool find_near(as_cli *cli, const as_dataset *ds, const char *option, const char *name, assay_id *out) {
    char why[512];
    bool is_of_file = strcmp(option, "metric") != 0;
    *out = as_metric_by_name(ds, name, strlen(name), false, why, sizeof why);
    if (*out == ASSAY_NONE)
        as_cli_fail(cli, AS_EXIT_USAGE, "%s%s%s", is_of_file ? as_ds_text(ds, ds->path) : "", is_of_file ? ": " : "",
                    why);
    return *out != ASSAY_NONE;
}

/* Of metrics of one name the one is meant that the others are sides of. */
static bool is_side(const as_dataset *ds, assay_id id) { return as_ds_metric(ds, id)->part_of != ASSAY_NONE; }

/* Whether the metric has this name, in one of its two ways to be named. */
static bool is_metric(const as_dataset *ds, assay_id id, const char *name, bool displayed) {
    const as_metric *metric = as_ds_metric(ds, id);
    const char *known = as_ds_text(ds, displayed ? metric->display_name : metric->name);
    return known && strcmp(known, name) == 0;
}

as_exit as_mark_metrics(as_cli *cli, const as_dataset *ds, bool *wanted) {
    bool all = !as_cli_has(cli, "metric");
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) wanted[id] = all;
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "metric") != 0) continue;
        bool found = false;
        for (int displayed = 0; displayed < 2 && !found; displayed++) {
            for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
                if (is_metric(ds, id, given->value, displayed)) wanted[id] = found = true;
            }
        }
        assay_id near;
        if (!found && !find_near(cli, ds, "metric", given->value, &near)) return AS_EXIT_USAGE;
        if (!found) wanted[near] = true;
    }
    return AS_EXIT_FINE;
}

as_exit as_choose_metrics_by(as_cli *cli, const as_dataset *ds, const char *option, as_vec *metrics) {
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, option) != 0) continue;
        assay_id found = ASSAY_NONE;
        for (int way = 0; way < 4 && found == ASSAY_NONE; way++) {
            for (assay_id id = 0; id < AS_COUNT(ds, metrics) && found == ASSAY_NONE; id++) {
                if (is_side(ds, id) == (way > 1) && is_metric(ds, id, given->value, way % 2)) found = id;
            }
        }
        if (found == ASSAY_NONE && !find_near(cli, ds, option, given->value, &found)) return AS_EXIT_USAGE;
        bool is_known = false;
        for (size_t k = 0; k < metrics->count; k++) is_known |= AS_AT(assay_id, metrics, k) == found;
        if (!is_known && !as_vec_append(metrics, &found, 1)) return as_cli_memory(cli);
    }
    return AS_EXIT_FINE;
}

bool as_append_derived(const as_cli *cli, const as_dataset *ds, as_vec *metrics) {
    size_t n = AS_COUNT(ds, metrics), n_derived = 0;
    for (size_t i = 0; i < cli->arguments.given.count; i++)
        n_derived += strcmp(AS_AT(as_given, &cli->arguments.given, i).option->name, "derive") == 0;
    for (assay_id id = (assay_id)(n - n_derived); id < n; id++) {
        if (!as_vec_append(metrics, &id, 1)) return false;
    }
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

void as_describe_point(const as_dataset *ds, const double *coordinates, char *out, size_t room) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < as_ds_parameters(ds) && used < room; i++) {
        char number[AS_NUMBER_SIZE];
        as_real_format(coordinates[i], number);
        used += (size_t)snprintf(out + used, room - used, "%s%s=%s", i ? ", " : "", as_ds_parameter(ds, i), number);
    }
}

static as_exit fail_point(as_cli *cli, const as_dataset *ds, const double *coordinates) {
    char asked[200], first[200];
    as_describe_point(ds, coordinates, asked, sizeof asked);
    as_describe_point(ds, as_ds_point(ds, 0), first, sizeof first);
    return as_cli_fail(cli, AS_EXIT_USAGE, "nothing was measured at %s; there is %s%s", asked, first,
                       ds->n_points > 1 ? ", and others: assay sql FILE 'select * from point' lists them" : "");
}

/* The point of an option; "(64,10)" is what SQL shows. */
static as_exit find_point(as_cli *cli, const as_dataset *ds, const char *option, assay_id *out) {
    const char *text = as_cli_value(cli, option);
    as_vec points, label;
    as_vec_init(&points, sizeof(double), NULL);
    as_vec_init(&label, 1, NULL);
    as_exit status = AS_EXIT_FINE;
    *out = ASSAY_NONE;
    for (assay_id id = 0; id < ds->n_points && *out == ASSAY_NONE && status == AS_EXIT_FINE; id++) {
        if (!as_point_label(ds, id, &label))
            status = as_cli_memory(cli);
        else if (label.count >= strlen(text) && memcmp(label.data, text, strlen(text)) == 0 &&
                 (label.count == strlen(text) || AS_AT(char, &label, strlen(text)) == '\0'))
            *out = id;
    }
    assay_error error;
    size_t n = as_ds_parameters(ds);
    if (status == AS_EXIT_FINE && *out == ASSAY_NONE) {
        if (as_points_parse(ds, text, &points, &error) != ASSAY_OK)
            status = as_cli_error(cli, &error);
        else if (points.count != n)
            status = as_cli_fail(cli, AS_EXIT_USAGE, "--%s takes one run or one point, not '%s'", option, text);
        for (assay_id id = 0; status == AS_EXIT_FINE && id < ds->n_points && *out == ASSAY_NONE; id++) {
            if (memcmp(as_ds_point(ds, id), points.data, n * sizeof(double)) == 0) *out = id;
        }
        if (status == AS_EXIT_FINE && *out == ASSAY_NONE) status = fail_point(cli, ds, points.data);
    }
    as_vec_free(&points);
    as_vec_free(&label);
    return status;
}

/* The runs of a point, or one of them. */
static bool take_runs(const as_dataset *ds, assay_id point, assay_id only, as_run_choice *out) {
    size_t n = AS_COUNT(ds, runs);
    out->point = point;
    out->runs = malloc((n ? n : 1) * sizeof *out->runs);
    if (!out->runs) return false;
    for (assay_id id = 0; id < n; id++) {
        if (only == ASSAY_NONE ? as_ds_run(ds, id)->point == point : id == only) out->runs[out->n_runs++] = id;
    }
    return true;
}

static void label_runs(const as_dataset *ds, as_run_choice *choice, bool is_one) {
    size_t room = sizeof choice->label;
    if (choice->point != ASSAY_NONE) as_describe_point(ds, as_ds_point(ds, choice->point), choice->label, room);
    size_t used = strlen(choice->label);
    if (is_one && AS_COUNT(ds, runs) > 1)
        snprintf(choice->label + used, room - used, "%srun %u", used ? ", " : "", (unsigned)choice->runs[0]);
    else if (choice->n_runs > 1)
        snprintf(choice->label + used, room - used, "%smean of %zu runs", used ? ", " : "", choice->n_runs);
}

bool as_has_whole_runs(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, runs); id++) {
        if (as_ds_run(ds, id)->point == ASSAY_NONE) return true;
    }
    return false;
}

as_exit as_choose_runs_by(as_cli *cli, const as_dataset *ds, const char *option, as_run_choice *out) {
    *out = (as_run_choice){.point = ASSAY_NONE};
    const char *text = as_cli_value(cli, option);
    size_t n = AS_COUNT(ds, runs);
    assay_id point = ASSAY_NONE, only = ASSAY_NONE;
    as_number number;
    bool is_number = text && as_number_parse(text, strlen(text), &number) && number.kind == AS_INT;
    if (is_number && (number.i < 0 || (uint64_t)number.i >= n)) {
        if (n == 0)
            return as_cli_fail(cli, AS_EXIT_USAGE, "there are no runs, only statistics of points; name a point");
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no run %s; there are %zu, from 0", text, n);
    }
    if (is_number) {
        only = (assay_id)number.i;
        point = as_ds_run(ds, only)->point;
    } else if (text && as_ds_parameters(ds) == 0) {
        return as_cli_fail(cli, AS_EXIT_USAGE, "there are no parameters, so --%s takes the number of a run, not '%s'",
                           option, text);
    } else if (text) {
        as_exit status = find_point(cli, ds, option, &point);
        if (status != AS_EXIT_FINE) return status;
    } else if (ds->n_points && !as_has_whole_runs(ds) && !as_largest_point_with_runs(ds, &point)) {
        return as_cli_memory(cli);
    }
    if (!take_runs(ds, point, only, out)) return as_cli_memory(cli);
    label_runs(ds, out, only != ASSAY_NONE);
    return AS_EXIT_FINE;
}

bool *as_run_choice_marks(const as_run_choice *choice, const as_dataset *ds) {
    bool *marks = calloc(AS_COUNT(ds, runs) + 1, sizeof *marks);
    for (size_t i = 0; marks && i < choice->n_runs; i++) marks[choice->runs[i]] = true;
    return marks;
}

void as_run_choice_free(as_run_choice *choice) {
    free(choice->runs);
    *choice = (as_run_choice){.point = ASSAY_NONE};
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

as_exit as_choose_min_share(as_cli *cli, double *out) {
    const char *text = as_cli_value(cli, "min-share");
    size_t size = text ? strlen(text) : 0;
    double percent;
    if (!text) return AS_EXIT_FINE;
    if (size && text[size - 1] == '%') size--;
    if (!as_real_parse(text, size, &percent) || !(percent >= 0) || percent > 100)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--min-share cannot be '%s'; it takes a percentage from 0 to 100", text);
    *out = percent / 100;
    return AS_EXIT_FINE;
}

/* ---- names of call paths ----------------------------------------------------------------------------------------- */

as_exit as_fail_context_name(as_cli *cli, const as_dataset *ds, const char *subject, const char *name) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
        const char *known = as_ds_text(ds, as_ds_region(ds, id)->name);
        if (known) as_nearest_offer(&nearest, known);
    }
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no %s '%s'; did you mean '%s'?", subject, name, nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no %s '%s' in the call tree", subject, name);
}
