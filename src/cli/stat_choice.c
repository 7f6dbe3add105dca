/* What is asked of `assay stat`: over which places, and of which metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat_view.h"

bool as_stat_is_for_people(const as_cli *cli) {
    return cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The rank that a location lies in, however deep; else whatever lies above it. */
static assay_id process_above(const as_dataset *ds, const as_location *location) {
    for (assay_id id = location->parent; id != ASSAY_NONE; id = as_ds_location(ds, id)->parent) {
        const char *kind = as_ds_text(ds, as_ds_location(ds, id)->kind);
        if (kind && strcmp(kind, "rank") == 0) return id;
    }
    return location->parent;
}

/* How many different places lie above the locations, in whatever order these are, and whether each is a process with
 * one of them. False when memory is out. */
static bool count_processes(as_stat_view *view) {
    const as_places *places = &view->places;
    bool *seen = calloc(AS_COUNT(view->ds, locations) + 1, sizeof *seen), has_ranks = true;
    if (!seen) return false;
    for (uint32_t i = 0; i < places->n; i++) {
        const as_location *location = as_ds_location(view->ds, places->ids[i]);
        assay_id above = process_above(view->ds, location);
        bool *is_known = &seen[above == ASSAY_NONE ? AS_COUNT(view->ds, locations) : above];
        has_ranks = has_ranks && location->leaf && above != ASSAY_NONE && as_ds_location(view->ds, above)->rank >= 0;
        view->n_processes += !*is_known;
        view->has_ranks |= above != ASSAY_NONE && as_ds_location(view->ds, above)->rank >= 0;
        *is_known = true;
    }
    view->one_thread = has_ranks && places->n > 0 && view->n_processes == places->n;
    free(seen);
    return true;
}

static as_exit take_runs(as_cli *cli, as_stat_view *view) {
    assay_error error;
    const as_run_choice *choice = &view->choice;
    if (choice->n_runs == 0)
        return as_cli_fail(cli, AS_EXIT_INPUT,
                           "%s: has only statistics of its points, no values; assay sql shows them in measurement",
                           as_ds_text(view->ds, view->ds->path));
    if (as_places_of_runs(choice->runs, (uint32_t)choice->n_runs, &view->places, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

/* "p=64, n=10, run 3", as much of it as was chosen. */
static void describe_choice(as_stat_view *view) {
    const as_run_choice *choice = &view->choice;
    size_t room = sizeof view->where;
    if (choice->point != ASSAY_NONE)
        as_describe_point(view->ds, as_ds_point(view->ds, choice->point), view->where, room);
    size_t used = strlen(view->where);
    if (view->places.over != AS_OVER_RUNS && AS_COUNT(view->ds, runs) > 1)
        used +=
            (size_t)snprintf(view->where + used, room - used, "%srun %u", used ? ", " : "", (unsigned)choice->runs[0]);
    if (*view->locations.label && used < room)
        snprintf(view->where + used, room - used, "%s%.200s", used ? ", " : "", view->locations.label);
}

/* Over the locations of a run, where it has any; else over the runs of a point. */
static as_exit find_places(as_cli *cli, as_stat_view *view) {
    const char *by = as_cli_value(cli, "by");
    as_exit status = as_choose_runs(cli, view->ds, &view->choice);
    if (status == AS_EXIT_FINE) status = as_choose_locations(cli, view->ds, &view->locations);
    if (status != AS_EXIT_FINE) return status;
    if (view->locations.wanted && by && strcmp(by, "run") == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--location and --by run exclude each other");
    if (by && strcmp(by, "run") == 0) return take_runs(cli, view);
    as_run_choice *choice = &view->choice;
    as_over over = by && strcmp(by, "process") == 0 ? AS_OVER_PROCESSES : AS_OVER_LOCATIONS;
    assay_error error;
    if (choice->n_runs && as_places_of_run(view->ds, choice->runs[0], over, &view->places, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    if (view->places.n == 0 && by)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "%s: has no locations to compare by %s; --by run compares the runs of a point",
                           as_ds_text(view->ds, view->ds->path), by);
    if (view->places.n == 0) {
        as_places_free(&view->places);
        return take_runs(cli, view);
    }
    if (view->locations.wanted &&
        as_places_narrow(&view->places, AS_COUNT(view->ds, locations), view->locations.wanted, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    if (!count_processes(view)) return as_cli_memory(cli);
    if (choice->n_runs > 1)
        as_cli_note(cli, "run %u is the first of %zu at this point; --run takes another, --by run compares them",
                    (unsigned)choice->runs[0], choice->n_runs);
    return AS_EXIT_FINE;
}

as_exit as_stat_choose_places(as_cli *cli, as_stat_view *view) {
    as_exit status = find_places(cli, view);
    if (status == AS_EXIT_FINE) describe_choice(view);
    return status;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static as_exit fail_metric(as_cli *cli, const as_stat_view *view, assay_id metric) {
    const as_metric *m = as_ds_metric(view->ds, metric);
    const char *name = as_ds_text(view->ds, m->name);
    if (!name) name = "";
    if (view->places.is_shared && as_is_computed(view->ds, &view->places, metric))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "'%s' is computed at each location, and threads of a process have no sum; leave out --by "
                           "process",
                           name);
    if (view->places.is_narrowed && as_is_computed(view->ds, &view->places, metric))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "'%s' is computed from all locations; leave out --location, or see assay tree --location",
                           name);
    if (m->kind == AS_KIND_DERIVED)
        return as_cli_fail(cli, AS_EXIT_USAGE, "'%s' could not be computed; assay validate says why", name);
    return as_cli_fail(cli, AS_EXIT_USAGE, "values of '%s' are no numbers (%s)", name, as_ds_text(view->ds, m->dtype));
}

as_exit as_stat_choose_metrics(as_cli *cli, as_stat_view *view, as_vec *chosen) {
    const as_dataset *ds = view->ds;
    as_exit status = as_choose_metrics(cli, ds, chosen);
    if (status != AS_EXIT_FINE) return status;
    for (size_t i = 0; i < chosen->count; i++) {
        assay_id metric = AS_AT(assay_id, chosen, i);
        if (!as_has_statistics(ds, &view->places, metric)) return fail_metric(cli, view, metric);
    }
    if (chosen->count) return AS_EXIT_FINE;
    assay_id main_metric =
        as_stat_is_for_people(cli) ? as_main_metric(ds, view->places.over != AS_OVER_RUNS) : ASSAY_NONE;
    if (main_metric != ASSAY_NONE && as_has_statistics(ds, &view->places, main_metric)) {
        bool fine = as_vec_append(chosen, &main_metric, 1) && as_append_derived(cli, ds, chosen);
        return fine ? AS_EXIT_FINE : as_cli_memory(cli);
    }
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        if (as_ds_metric(ds, id)->part_of != ASSAY_NONE || !as_has_statistics(ds, &view->places, id)) continue;
        if (!as_vec_append(chosen, &id, 1)) return as_cli_memory(cli);
        if (as_stat_is_for_people(cli)) break;
    }
    if (chosen->count || !as_stat_is_for_people(cli)) return AS_EXIT_FINE; /* programs see that there is nothing */
    return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no metric whose values are numbers", as_ds_text(ds, ds->path));
}

as_value_kinds as_stat_kinds(const as_cli *cli, const as_dataset *ds, assay_id metric) {
    as_metric_kind kind = as_ds_metric(ds, metric)->kind;
    bool has_two = kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE || kind == AS_KIND_DERIVED;
    if (as_ds_metric(ds, metric)->is_stored) has_two = as_ds_metric(ds, metric)->exclusive != ASSAY_NONE;
    if (!has_two) return AS_INCLUSIVE_VALUES;
    bool inclusive = as_cli_has(cli, "inclusive"), exclusive = as_cli_has(cli, "exclusive");
    if (inclusive == exclusive)
        return as_stat_is_for_people(cli) ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES | AS_EXCLUSIVE_VALUES;
    return inclusive ? AS_INCLUSIVE_VALUES : AS_EXCLUSIVE_VALUES;
}

/* ---- the end of it ----------------------------------------------------------------------------------------------- */

void as_stat_free_metrics(as_stat_view *view) {
    for (size_t i = 0; i < view->n_metrics; i++) {
        as_vec_free(&view->metrics[i].items);
        free(view->metrics[i].rows);
        free(view->metrics[i].values[0]);
        free(view->metrics[i].values[1]);
    }
    free(view->metrics);
    view->metrics = NULL;
    view->n_metrics = 0;
}

void as_stat_view_free(as_stat_view *view) {
    as_stat_free_metrics(view);
    as_places_free(&view->places);
    as_run_choice_free(&view->choice);
    as_location_choice_free(&view->locations);
}
