/* Opening what diff shows: metrics, runs and places that are asked for, on both sides. */
#include "cli/diff_view.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/study.h"
#include "dataset/metric_names.h"

#define USUAL_CHANGE 0.01

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static bool is_on_both_sides(const as_diff_view *view, assay_id metric) {
    return as_comparison_metric(&view->comparison, AS_BASE, metric) != ASSAY_NONE &&
           as_comparison_metric(&view->comparison, AS_TARGET, metric) != ASSAY_NONE;
}

/* Exclusive, point and lexical values that a file has as metrics of the same name are not columns of their own: an
 * inclusive one shows them. */
static bool is_part(const as_comparison *c, assay_id metric) {
    return as_ds_metric(c->ds, metric)->part_of != ASSAY_NONE;
}

static void tell_left_out(as_diff_view *view) {
    enum { NAMED = 8 };
    const as_comparison *c = &view->comparison;
    for (size_t side = 0; side < 2; side++) {
        char names[1024] = "", more[64] = "";
        size_t used = 0, n = 0;
        for (assay_id m = 0; m < c->ds->metrics.count; m++) {
            if (as_comparison_metric(c, !side, m) != ASSAY_NONE || is_part(c, m) || n++ >= NAMED) continue;
            const char *name = as_ds_text(c->ds, as_ds_metric(c->ds, m)->name);
            if (used < sizeof names)
                used +=
                    (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name ? name : "?");
        }
        if (n > NAMED) snprintf(more, sizeof more, " and %zu more", n - NAMED);
        if (n)
            as_cli_note(view->cli, "metrics only in %s are left out (--all-metrics shows them): %s%s",
                        view->names[side], names, more);
    }
}

/* Those of --derive, by the numbers they have in the comparison. */
static bool add_derived(as_diff_view *view) {
    const as_comparison *c = &view->comparison;
    size_t first = view->metrics.count;
    if (!as_append_derived(view->cli, c->u.parts[0], &view->metrics)) return false;
    for (size_t i = first; i < view->metrics.count; i++) {
        assay_id *metric = &AS_AT(assay_id, &view->metrics, i);
        *metric = c->u.maps[0].metrics[*metric];
    }
    return true;
}

/* Time on GPUs, beside that of hosts: plain exports have it nowhere else. */
static bool is_gpu_time(const as_comparison *c, assay_id metric) {
    const char *name = as_ds_text(c->ds, as_ds_metric(c->ds, metric)->name);
    return name && strcmp(name, "gpu_time") == 0;
}

bool as_has_metric_pair(const as_cli *cli) { return as_cli_has(cli, "metric-a") || as_cli_has(cli, "metric-b"); }

as_exit as_choose_side_metric(as_cli *cli, const as_dataset *ds, size_t side, assay_id *out) {
    const char *own = side == AS_BASE ? "metric-a" : "metric-b", *option = as_cli_has(cli, own) ? own : "metric";
    as_vec metrics;
    as_vec_init(&metrics, sizeof(assay_id), NULL);
    as_exit status = as_choose_metrics_by(cli, ds, option, &metrics);
    *out = metrics.count ? AS_AT(assay_id, &metrics, 0) : as_main_metric(ds, as_cli_has(cli, "location"));
    if (status == AS_EXIT_FINE && metrics.count > 1)
        status = as_cli_fail(cli, AS_EXIT_USAGE, "--metric-a and --metric-b are one pair of metrics; give --%s once",
                             option);
    if (status == AS_EXIT_FINE && *out == ASSAY_NONE)
        status = as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no metrics", as_ds_text(ds, ds->path));
    as_vec_free(&metrics);
    return status;
}

bool as_comparison_pair_mains(as_comparison *c, assay_id *out) {
    const as_dataset *target = c->u.parts[AS_TARGET];
    assay_id own[2] = {as_main_metric(c->u.parts[AS_BASE], false), as_main_metric(target, false)};
    if (own[AS_BASE] == ASSAY_NONE || own[AS_TARGET] == ASSAY_NONE) return false;
    const char *name = as_ds_text(c->u.parts[AS_BASE], as_ds_metric(c->u.parts[AS_BASE], own[AS_BASE])->name);
    for (assay_id id = 0; name && id < AS_COUNT(target, metrics); id++) {
        const as_metric *metric = as_ds_metric(target, id);
        const char *other = as_ds_text(target, metric->name);
        if (metric->part_of != ASSAY_NONE || !other || strcmp(name, other) != 0) continue;
        own[AS_TARGET] = id;
        break;
    }
    /* Without units nothing says that two names are one thing */
    const as_metric *metric = as_ds_metric(target, own[AS_TARGET]);
    const char *unit = as_ds_text(target, metric->unit), *other = as_ds_text(target, metric->name);
    if ((!unit || !*unit) && (!name || !other || strcmp(name, other) != 0)) return false;
    assay_error ignored;
    return as_comparison_pair(c, own[AS_BASE], own[AS_TARGET], out, &ignored) == ASSAY_OK;
}

static const char *metric_name(const as_diff_view *view, size_t side, assay_id metric) {
    const as_dataset *ds = view->comparison.u.parts[side];
    const char *name = as_ds_text(ds, as_ds_metric(ds, as_comparison_metric(&view->comparison, side, metric))->name);
    return name ? name : "?";
}

const char *as_diff_target_metric(const as_diff_view *view, assay_id metric) {
    if (!is_on_both_sides(view, metric)) return NULL;
    const char *name = metric_name(view, AS_TARGET, metric);
    return strcmp(metric_name(view, AS_BASE, metric), name) == 0 ? NULL : name;
}

/* Those of --metric-a and --metric-b. */
static as_exit choose_pair(as_diff_view *view) {
    assay_id own[2], metric;
    assay_error error;
    for (size_t side = 0; side < 2; side++) {
        as_exit status = as_choose_side_metric(view->cli, view->comparison.u.parts[side], side, &own[side]);
        if (status != AS_EXIT_FINE) return status;
    }
    if (as_comparison_pair(&view->comparison, own[AS_BASE], own[AS_TARGET], &metric, &error) != ASSAY_OK)
        return as_cli_error(view->cli, &error);
    return as_vec_append(&view->metrics, &metric, 1) ? AS_EXIT_FINE : as_cli_memory(view->cli);
}

/* Where no metric is of both. */
static as_exit choose_mains(as_diff_view *view) {
    assay_id metric;
    if (!as_comparison_pair_mains(&view->comparison, &metric)) {
        tell_left_out(view);
        return AS_EXIT_FINE;
    }
    if (as_diff_target_metric(view, metric))
        as_cli_note(view->cli,
                    "the two have no metric in common: '%s' of %s is set against '%s' of %s; --metric-a and --metric-b "
                    "choose others",
                    metric_name(view, AS_BASE, metric), view->names[AS_BASE], metric_name(view, AS_TARGET, metric),
                    view->names[AS_TARGET]);
    else
        as_cli_note(view->cli,
                    "'%s' is stored for each call path in one file, and added up along the tree in the other: what is "
                    "of a call path itself may differ; assay convert makes them alike",
                    metric_name(view, AS_BASE, metric));
    return as_vec_append(&view->metrics, &metric, 1) ? AS_EXIT_FINE : as_cli_memory(view->cli);
}

static bool has_common_metric(const as_diff_view *view) {
    const as_comparison *c = &view->comparison;
    for (assay_id m = 0; m < AS_COUNT(c->ds, metrics); m++) {
        if (is_on_both_sides(view, m) && !is_part(c, m)) return true;
    }
    return false;
}

/* People see those that matter, programs all that both have. */
static as_exit choose_metrics(as_diff_view *view) {
    as_cli *cli = view->cli;
    const as_comparison *c = &view->comparison;
    if (as_has_metric_pair(cli)) return choose_pair(view);
    as_exit status = as_choose_metrics(cli, c->ds, &view->metrics);
    if (status != AS_EXIT_FINE || view->metrics.count) return status;
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN,
         all = as_cli_has(cli, "all-metrics"), fine = true;
    if (!all && !has_common_metric(view)) return choose_mains(view);
    if (!all) tell_left_out(view);
    assay_id main_metric = ASSAY_NONE;
    for (size_t side = 0; side < 2 && main_metric == ASSAY_NONE; side++) {
        assay_id own = as_main_metric(c->u.parts[side], false);
        if (own == ASSAY_NONE) continue;
        main_metric = c->u.maps[side].metrics[own];
        if (!is_on_both_sides(view, main_metric)) main_metric = ASSAY_NONE;
    }
    if (main_metric != ASSAY_NONE) fine = as_vec_append(&view->metrics, &main_metric, 1);
    if (fine && for_people && main_metric != ASSAY_NONE && !all) fine = add_derived(view);
    for (assay_id m = 0; m < c->ds->metrics.count && fine; m++) {
        bool is_more =
            (all || !for_people || !view->metrics.count || is_gpu_time(c, m)) && (all || is_on_both_sides(view, m));
        if (m != main_metric && is_more && !is_part(c, m)) fine = as_vec_append(&view->metrics, &m, 1);
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

/* Numbers in units that are not known to be one kind of thing are shown as they are. */
static void tell_units(const as_diff_view *view) {
    const as_comparison *c = &view->comparison;
    for (size_t i = 0; i < view->metrics.count; i++) {
        assay_id metric = AS_AT(assay_id, &view->metrics, i);
        const assay_id own[2] = {as_comparison_metric(c, AS_BASE, metric), as_comparison_metric(c, AS_TARGET, metric)};
        double factor;
        assay_error ignored;
        if (!is_on_both_sides(view, metric) || as_metric_factor(c->u.parts, own, &factor, &ignored) == ASSAY_OK)
            continue;
        const char *units[2];
        for (size_t side = 0; side < 2; side++)
            units[side] = as_ds_text(c->u.parts[side], as_ds_metric(c->u.parts[side], own[side])->unit);
        as_cli_note(view->cli, "the unit of '%s' is '%s' in %s and '%s' in %s: numbers are compared as they are",
                    metric_name(view, AS_BASE, metric), units[AS_BASE], view->names[AS_BASE], units[AS_TARGET],
                    view->names[AS_TARGET]);
    }
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The point of a dataset that has these coordinates, whose names are those of another; ASSAY_NONE: there is none. */
static assay_id find_point(const as_dataset *ds, const as_dataset *other, const double *coordinates) {
    for (assay_id p = 0; p < ds->n_points; p++) {
        const double *own = as_ds_point(ds, p);
        bool same = true;
        for (size_t i = 0; i < as_ds_parameters(other) && same; i++) {
            size_t k = 0;
            while (k < as_ds_parameters(ds) && strcmp(as_ds_parameter(ds, k), as_ds_parameter(other, i)) != 0) k++;
            same = k < as_ds_parameters(ds) && own[k] == coordinates[i];
        }
        if (same) return p;
    }
    return ASSAY_NONE;
}

/* The largest point that both sides have: those of the base in a dataset of their own. */
static bool find_common_point(const as_dataset *base, const as_dataset *target, assay_id points[2]) {
    as_dataset *common = as_dataset_new(0);
    bool fine = common != NULL;
    points[AS_BASE] = ASSAY_NONE;
    for (size_t i = 0; fine && i < as_ds_parameters(base); i++)
        fine = as_add_parameter(common, as_ds_intern_text(common, as_ds_parameter(base, i))) != ASSAY_NONE;
    for (assay_id p = 0; fine && p < base->n_points; p++) {
        const double *coordinates = as_ds_point(base, p);
        if (find_point(target, base, coordinates) == ASSAY_NONE) continue;
        fine = as_vec_append(&common->coordinates, coordinates, as_ds_parameters(base));
        common->n_points += fine;
    }
    assay_id largest = ASSAY_NONE;
    fine = fine && (!common->n_points || as_largest_point(common, &largest));
    if (fine && largest != ASSAY_NONE) {
        points[AS_BASE] = find_point(base, common, as_ds_point(common, largest));
        points[AS_TARGET] = find_point(target, common, as_ds_point(common, largest));
    }
    as_dataset_free(common);
    return fine;
}

/* All runs of a point. */
static bool take_runs(const as_dataset *ds, assay_id point, as_run_choice *out) {
    out->point = point;
    out->runs = malloc((ds->runs.count + 1) * sizeof *out->runs);
    for (assay_id run = 0; out->runs && run < ds->runs.count; run++)
        if (as_ds_run(ds, run)->point == point) out->runs[out->n_runs++] = run;
    as_describe_point(ds, as_ds_point(ds, point), out->label, sizeof out->label);
    size_t used = strlen(out->label);
    if (out->n_runs > 1) snprintf(out->label + used, sizeof out->label - used, ", mean of %zu runs", out->n_runs);
    return out->runs != NULL;
}

const char *as_side_run_option(const as_cli *cli, size_t side) {
    const char *own = side == AS_BASE ? "run-a" : "run-b";
    return as_cli_has(cli, own) ? own : "run";
}

bool as_has_named_runs(const as_cli *cli) {
    return as_cli_has(cli, "run") || as_cli_has(cli, "run-a") || as_cli_has(cli, "run-b");
}

/* Whether runs are named that need not belong together: one of each side, where a side has more than one. */
static bool are_named_apart(const as_cli *cli, const as_dataset *const *sides) {
    bool has_base = as_cli_has(cli, "run-a"), has_target = as_cli_has(cli, "run-b");
    return (has_base || has_target) && (has_base || sides[AS_BASE]->runs.count == 1) &&
           (has_target || sides[AS_TARGET]->runs.count == 1);
}

as_exit as_choose_common_runs(as_cli *cli, const as_dataset *const *sides, as_run_choice out[2]) {
    const char *options[2] = {as_side_run_option(cli, AS_BASE), as_side_run_option(cli, AS_TARGET)};
    bool is_named[2] = {as_cli_has(cli, options[AS_BASE]), as_cli_has(cli, options[AS_TARGET])};
    bool are_apart = are_named_apart(cli, sides);
    bool are_whole = as_has_whole_runs(sides[AS_BASE]) && as_has_whole_runs(sides[AS_TARGET]);
    assay_id points[2] = {ASSAY_NONE, ASSAY_NONE};
    if (!are_whole && !are_apart && !as_same_parameters(sides, 2))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the two do not have the same parameters, so their runs do not belong together; name those "
                           "of each with --run-a and --run-b");
    bool is_by_point =
        sides[AS_BASE]->n_points && !are_whole && !are_apart && !(is_named[AS_BASE] && is_named[AS_TARGET]);
    if (is_by_point && !find_common_point(sides[AS_BASE], sides[AS_TARGET], points)) return as_cli_memory(cli);
    if (is_by_point && points[AS_BASE] == ASSAY_NONE)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the two have no point in common; name one of each with --run-a and --run-b");
    for (size_t side = 0; side < 2; side++) {
        as_exit status = AS_EXIT_FINE;
        if (is_named[side] || !is_by_point)
            status = as_choose_runs_by(cli, sides[side], options[side], &out[side]);
        else if (!take_runs(sides[side], points[side], &out[side]))
            status = as_cli_memory(cli);
        if (status != AS_EXIT_FINE) return status;
    }
    return AS_EXIT_FINE;
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static as_exit choose_request(as_diff_view *view) {
    static const char *const orders[] = {"change", "relative", "base", "target", "name", "source"};
    as_cli *cli = view->cli;
    as_change_request *request = &view->request;
    const char *sort = as_cli_value(cli, "sort"), *least = as_cli_value(cli, "min-change");
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    request->flat = as_cli_has(cli, "flat");
    request->is_relative = as_cli_has(cli, "relative");
    request->order = !for_people && !request->flat ? AS_CHANGE_AS_SOURCE
                     : request->is_relative        ? AS_CHANGE_BY_RELATIVE
                                                   : AS_CHANGE_BY_SIZE;
    for (size_t i = 0; sort && i < sizeof orders / sizeof *orders; i++)
        if (strcmp(sort, orders[i]) == 0) request->order = (as_change_order)i;
    if (!as_cli_count(cli, "limit", &request->max_rows)) return AS_EXIT_USAGE;
    if (as_cli_has(cli, "all") && least)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--all and --min-change exclude each other");
    view->is_cut = for_people && !least && !request->max_rows && !as_cli_has(cli, "all");
    request->min_change = view->is_cut ? USUAL_CHANGE : 0;
    request->only_changed = for_people && !as_cli_has(cli, "all");
    if (!least) return AS_EXIT_FINE;
    size_t size = strlen(least);
    if (size && least[size - 1] == '%') size--;
    if (!as_real_parse(least, size, &request->min_change) || !(request->min_change >= 0))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--min-change cannot be '%s'; it takes percent, a number from 0 on",
                           least);
    request->min_change /= 100;
    return AS_EXIT_FINE;
}

as_change_request as_diff_request(const as_diff_view *view, size_t column) {
    as_change_request request = view->request;
    request.by = column;
    if (request.is_relative || !view->comparison.n_columns) return request;
    /* percent of the larger of both wholes; where there are none, of nothing */
    const double *wholes = view->comparison.columns[column].whole;
    double larger = fmax(isfinite(wholes[AS_BASE]) ? fabs(wholes[AS_BASE]) : 0,
                         isfinite(wholes[AS_TARGET]) ? fabs(wholes[AS_TARGET]) : 0);
    request.min_change *= larger;
    return request;
}

as_exit as_diff_walk(as_diff_view *view, const as_change_request *request,
                     bool (*visit)(void *user, const as_change_node *node), void *user, as_change_cut *cut) {
    assay_error error;
    if (as_comparison_walk(&view->comparison, request, visit, user, cut, &error) == ASSAY_OK) return AS_EXIT_FINE;
    return as_cli_error(view->cli, &error);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

as_view_source as_diff_view_source(const as_diff_view *view, size_t side) {
    return (as_view_source){.ds = view->comparison.u.parts[side],
                            .runs = view->runs[side].runs,
                            .n_runs = view->runs[side].n_runs,
                            .point = view->runs[side].point,
                            .locations = view->locations[side].wanted};
}

as_exit as_diff_view_load(as_diff_view *view, const assay_id *metrics, size_t n) {
    as_view_source sources[2] = {as_diff_view_source(view, AS_BASE), as_diff_view_source(view, AS_TARGET)};
    assay_error error;
    if (as_comparison_load(&view->comparison, sources, metrics, n, &error) == ASSAY_OK) return AS_EXIT_FINE;
    return as_cli_error(view->cli, &error);
}

as_exit as_diff_view_choose(as_cli *cli, const as_dataset *const *sides, const char *const names[2],
                            as_diff_view *out) {
    assay_error error;
    *out = (as_diff_view){.cli = cli, .names = {names[AS_BASE], names[AS_TARGET]}};
    as_vec_init(&out->metrics, sizeof(assay_id), NULL);
    for (size_t side = 0; side < 2; side++) as_vec_init(&out->only[side], sizeof(assay_id), NULL);
    as_exit status = choose_request(out);
    if (status == AS_EXIT_FINE && as_comparison_open(sides, &out->comparison, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++) {
        if (!sides[side]->contexts.count)
            status = as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no call tree", out->names[side]);
    }
    if (status == AS_EXIT_FINE) status = as_choose_common_runs(cli, sides, out->runs);
    if (status == AS_EXIT_FINE) status = choose_metrics(out);
    if (status == AS_EXIT_FINE) tell_units(out);
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++)
        status = as_choose_locations(cli, sides[side], &out->locations[side]);
    return status;
}

as_exit as_diff_view_open(as_cli *cli, const as_inputs *inputs, as_diff_view *out) {
    const char *names[2] = {as_cli_operand(cli, AS_BASE), as_cli_operand(cli, AS_TARGET)};
    assay_error error;
    as_exit status = as_diff_view_choose(cli, as_inputs_parts(inputs), names, out);
    if (status == AS_EXIT_FINE && as_comparison_unite(&out->comparison, as_matching_given(cli), &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    if (status == AS_EXIT_FINE) status = as_diff_view_load(out, out->metrics.data, out->metrics.count);
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++)
        if (!as_comparison_only_in(&out->comparison, side, &out->only[side])) status = as_cli_memory(cli);
    return status;
}

void as_diff_view_close(as_diff_view *view) {
    as_comparison_close(&view->comparison);
    as_vec_free(&view->metrics);
    for (size_t side = 0; side < 2; side++) {
        as_run_choice_free(&view->runs[side]);
        as_location_choice_free(&view->locations[side]);
        as_vec_free(&view->only[side]);
    }
}
