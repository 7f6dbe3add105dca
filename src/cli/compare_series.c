/* Since when is it worse? The numbers of each call path over runs in order, and where their level changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/series_view.h"

/* The number of a subject in a run at a point. */
struct cell {
    uint32_t subject, stratum, run, in_order;
    double value;
};

/* ---- numbers of a run -------------------------------------------------------------------------------------------- */

/* "metric\0" + 'p' + path, or 't' for the total. */
static as_str intern_subject(as_series_view *view, const as_subject *subject, as_vec *key) {
    key->count = 0;
    bool fine = as_vec_append(key, subject->metric, strlen(subject->metric) + 1) &&
                as_vec_append(key, subject->path ? "p" : "t", 1) &&
                (!subject->path || as_vec_append(key, subject->path, strlen(subject->path)));
    as_str id = fine ? as_intern(&view->subjects, key->data, key->count) : AS_NO_STR;
    if (id == AS_NO_STR || id < view->units.count) return id;
    const char *unit =
        subject->unit && *subject->unit ? as_arena_copy(&view->arena, subject->unit, strlen(subject->unit)) : NULL;
    return as_vec_append(&view->units, &unit, 1) ? id : AS_NO_STR;
}

static bool take_subject(as_series_view *view, const as_samples *samples, const as_subject *subject, size_t run,
                         as_vec *key) {
    as_str id = subject->n_strata ? intern_subject(view, subject, key) : 0;
    size_t n_parameters = samples->n_parameters;
    for (uint32_t i = 0; i < subject->n_strata; i++) {
        const double *point = subject->coordinates ? subject->coordinates + i * n_parameters : NULL;
        as_str stratum =
            as_intern(&view->strata, point ? (const char *)point : "", point ? n_parameters * sizeof *point : 0);
        struct cell cell = {.subject = id,
                            .stratum = stratum,
                            .run = (uint32_t)run,
                            .value = as_stratum_median(&subject->strata[0][i])};
        if (id == AS_NO_STR || stratum == AS_NO_STR || !as_vec_append(&view->cells, &cell, 1)) return false;
    }
    return true;
}

static as_exit take_run(as_series_view *view, const as_dataset *ds, size_t run) {
    const as_dataset *const side[1] = {ds};
    const as_dataset *const *const sides[2] = {side, side};
    static const size_t one[2] = {1, 1};
    as_path_choice chosen = {view->rules, view->config->match};
    as_sample_request request = {.metrics = view->config->metrics.data,
                                 .is_inclusive = view->config->is_inclusive,
                                 .keeps = as_path_choice_keeps,
                                 .user = &chosen};
    as_samples samples;
    assay_error error;
    as_vec key;
    as_exit status = AS_EXIT_FINE;
    as_vec_init(&key, 1, NULL);
    if (as_samples_find(sides, one, &request, &samples, &error) != ASSAY_OK) {
        status = as_cli_error(view->cli, &error);
    } else {
        bool fine = true;
        for (size_t i = 0; i < samples.n_metrics && fine; i++)
            fine = take_subject(view, &samples, &samples.metrics[i].total, run, &key);
        for (size_t i = 0; i < samples.n && fine; i++)
            fine = take_subject(view, &samples, &samples.subjects[i], run, &key);
        if (!fine) status = as_cli_memory(view->cli);
    }
    as_samples_free(&samples);
    as_vec_free(&key);
    return status;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static int by_series_order(const void *a, const void *b, void *view) { return as_series_compare_runs(view, a, b); }

/* Puts runs in order, and apart by group. place: for each run of the view its group and its number there. */
static bool make_groups(as_series_view *view, uint32_t *group_of, uint32_t *number_of) {
    size_t n = view->runs.count, n_listed = 0;
    const as_series_run **runs = as_arena_array(&view->arena, n, sizeof *runs);
    as_series_group *groups = as_arena_array(&view->arena, n, sizeof *groups);
    if (!runs || !groups) return false;
    bool is_file = strcmp(view->order, "file") == 0;
    for (size_t i = 0; i < n; i++) {
        const as_series_run *run = &AS_AT(as_series_run, &view->runs, i);
        group_of[i] = UINT32_MAX;
        if (!is_file || run->place != SIZE_MAX) runs[n_listed++] = run;
    }
    if (n_listed) qsort_r(runs, n_listed, sizeof *runs, by_series_order, view);
    as_strings names;
    as_strings_init(&names, &view->arena);
    bool fine = true;
    for (size_t i = 0; i < n_listed && fine; i++) {
        as_str id = as_intern(&names, runs[i]->group, strlen(runs[i]->group));
        if (!(fine = id != AS_NO_STR)) break;
        if (id == view->n_groups) groups[view->n_groups++].name = runs[i]->group;
        size_t index = (size_t)(runs[i] - (const as_series_run *)view->runs.data);
        group_of[index] = id;
        number_of[index] = (uint32_t)groups[id].n_runs++;
    }
    as_strings_free(&names);
    for (size_t g = 0; g < view->n_groups && fine; g++) {
        groups[g].runs = as_arena_array(&view->arena, groups[g].n_runs, sizeof *groups[g].runs);
        size_t at = 0;
        fine = groups[g].runs != NULL;
        for (size_t i = 0; i < n_listed && fine; i++)
            if (group_of[runs[i] - (const as_series_run *)view->runs.data] == g) groups[g].runs[at++] = runs[i];
    }
    view->groups = groups;
    return fine;
}

/* ---- one number for each run ------------------------------------------------------------------------------------- */

static int by_subject(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    if (x->in_order != y->in_order) return x->in_order < y->in_order ? -1 : 1; /* the group */
    if (x->subject != y->subject) return x->subject < y->subject ? -1 : 1;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* The cells of one subject in one group: the sum over those points that all its runs have. False: there is none. */
static bool add_up(const struct cell *cells, size_t n, double *values, size_t n_runs) {
    size_t n_present = 0, n_points = 0;
    for (size_t r = 0; r < n_runs; r++) values[r] = NAN;
    for (size_t i = 0; i < n; i++) {
        n_present += isnan(values[cells[i].run]) ? 1 : 0;
        values[cells[i].run] = 0;
    }
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && cells[end].stratum == cells[first].stratum;) end++;
        if (end - first < n_present) continue;
        n_points++;
        for (size_t i = first; i < end; i++) values[cells[i].run] += cells[i].value;
    }
    return n_points > 0;
}

static bool name_subject(as_series_view *view, as_str id, as_series_subject *subject) {
    subject->metric = as_str_text(&view->subjects, id);
    const char *rest = subject->metric + strlen(subject->metric) + 1;
    subject->path = *rest == 'p' ? rest + 1 : NULL;
    subject->unit = AS_AT(const char *, &view->units, id);
    subject->track.threshold = view->config->judge.threshold;
    subject->bad = SIZE_MAX;
    const as_threshold_rule *rule = as_rules_find(view->rules, subject->metric, subject->path);
    if (!rule) return true;
    if (!isnan(rule->threshold)) subject->track.threshold = rule->threshold;
    subject->higher_is_better = rule->higher_is_better;
    return !rule->is_ignored;
}

static double largest_of(const double *values, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(values[i]));
    return largest;
}

/* Whether it is too small a part of its metric to be looked at. The total, where there is one, comes before its
 * parts. */
static bool is_small(const as_series_view *view, const as_series_group *group, const as_series_subject *subject) {
    for (size_t i = group->n_subjects; i-- > 0;) {
        const as_series_subject *total = &group->subjects[i];
        if (total->path || strcmp(total->metric, subject->metric) != 0) continue;
        double whole = largest_of(total->track.values, group->n_runs);
        return largest_of(subject->track.values, group->n_runs) < view->config->judge.floor * whole;
    }
    return false;
}

/* Subjects of all groups, in the order in which they were first seen. */
static bool make_subjects(as_series_view *view, const uint32_t *group_of, const uint32_t *number_of) {
    struct cell *cells = view->cells.data;
    size_t n = 0, n_cells = view->cells.count;
    for (size_t i = 0; i < n_cells; i++) {
        if (group_of[cells[i].run] == UINT32_MAX) continue;
        cells[n] = cells[i];
        cells[n].in_order = group_of[cells[i].run];
        cells[n].run = number_of[cells[i].run];
        n++;
    }
    if (n) qsort(cells, n, sizeof *cells, by_subject);
    size_t n_subjects = view->subjects.entries.count;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first;
             end < n && cells[end].in_order == cells[first].in_order && cells[end].subject == cells[first].subject;)
            end++;
        as_series_group *group = &view->groups[cells[first].in_order];
        if (!group->subjects) group->subjects = as_arena_array(&view->arena, n_subjects, sizeof *group->subjects);
        double *values = as_arena_array(&view->arena, group->n_runs, sizeof *values);
        if (!group->subjects || !values) return false;
        as_series_subject *subject = &group->subjects[group->n_subjects];
        subject->track.values = values;
        if (!name_subject(view, cells[first].subject, subject) ||
            !add_up(cells + first, end - first, values, group->n_runs))
            continue;
        if (subject->path && is_small(view, group, subject)) continue;
        group->n_subjects++;
    }
    return true;
}

/* ---- what became of it ------------------------------------------------------------------------------------------- */

/* How much larger a level is than the first, as a part of that. */
static double relative_to(double first, double level) {
    return level == first ? 0 : first == 0 ? copysign(INFINITY, level) : (level - first) / fabs(first);
}

static void judge_subject(as_series_subject *subject) {
    size_t n = subject->track.points.count;
    subject->outcome = AS_OUTCOME_SAME;
    if (!n) return;
    double first = as_series_point(subject, 0)->before, threshold = subject->track.threshold;
    double last = relative_to(first, as_series_point(subject, n - 1)->after);
    if (!(fabs(last) >= threshold)) return;
    bool is_tested = true, is_worse = (last > 0) != subject->higher_is_better;
    subject->bad = n - 1;
    for (size_t i = n; i-- > 0;) {
        double level = relative_to(first, as_series_point(subject, i)->after);
        if (!((level > 0) == (last > 0) && fabs(level) >= threshold)) break;
        subject->bad = i;
        is_tested = !isnan(as_series_point(subject, i)->p);
    }
    subject->outcome = is_worse ? (is_tested ? AS_OUTCOME_WORSE : AS_OUTCOME_MAYBE_WORSE)
                                : (is_tested ? AS_OUTCOME_BETTER : AS_OUTCOME_MAYBE_BETTER);
}

/* What caused a change is rather what changed by much and for much of itself than all that contains it. */
static double weight_of(const as_series_subject *subject) {
    const as_change_point *point = as_series_point(subject, subject->bad);
    return fabs(point->after - point->before) * fmin(fabs(relative_to(point->before, point->after)), 1e6);
}

static int by_badness(const void *a, const void *b) {
    const as_series_subject *x = a, *y = b;
    int rank = as_outcome_rank(x->outcome) - as_outcome_rank(y->outcome);
    if (rank) return rank;
    bool changed[2] = {x->track.points.count > 0, y->track.points.count > 0};
    if (changed[0] != changed[1]) return changed[0] ? -1 : 1;
    if (x->bad != SIZE_MAX && y->bad != SIZE_MAX) {
        size_t at[2] = {as_series_point(x, x->bad)->at, as_series_point(y, y->bad)->at};
        double weight[2] = {weight_of(x), weight_of(y)};
        if (at[0] != at[1]) return at[0] < at[1] ? -1 : 1;
        if (!x->path != !y->path) return x->path ? -1 : 1;
        if (weight[0] != weight[1]) return weight[0] > weight[1] ? -1 : 1;
    }
    int order = strcmp(x->metric, y->metric);
    return order ? order : strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

static bool judge_groups(as_series_view *view) {
    as_judge_options options = view->config->judge;
    options.level /= view->n_groups ? (double)view->n_groups : 1;
    for (size_t g = 0; g < view->n_groups; g++) {
        as_series_group *group = &view->groups[g];
        as_track *tracks = calloc(group->n_subjects + 1, sizeof *tracks);
        if (!tracks) return false;
        for (size_t i = 0; i < group->n_subjects; i++) tracks[i] = group->subjects[i].track;
        bool fine = as_tracks_find(tracks, group->n_subjects, group->n_runs, &options);
        for (size_t i = 0; i < group->n_subjects; i++) {
            group->subjects[i].track = tracks[i];
            if (fine) judge_subject(&group->subjects[i]);
            group->counts[group->subjects[i].outcome]++;
        }
        free(tracks);
        if (!fine) return false;
        if (group->n_subjects) qsort(group->subjects, group->n_subjects, sizeof *group->subjects, by_badness);
    }
    return true;
}

const as_series_subject *as_series_first_bad(const as_series_view *view, const as_series_group **group) {
    const as_series_subject *first = NULL;
    for (size_t g = 0; g < view->n_groups; g++) {
        const as_series_subject *subject = view->groups[g].n_subjects ? &view->groups[g].subjects[0] : NULL;
        int rank = subject ? as_outcome_rank(subject->outcome) : 4;
        if (rank > 1 || (first && as_outcome_rank(first->outcome) <= rank)) continue;
        first = subject;
        *group = &view->groups[g];
    }
    return first;
}

as_outcome as_series_outcome(const as_series_view *view) {
    as_outcome outcome = AS_OUTCOME_SAME;
    for (size_t g = 0; g < view->n_groups; g++) {
        if (!view->groups[g].n_subjects) continue;
        as_outcome here = view->groups[g].subjects[0].outcome;
        if (as_outcome_rank(here) < as_outcome_rank(outcome)) outcome = here;
    }
    return outcome;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

as_exit as_series_view_open(as_cli *cli, const as_compare_config *config, as_series_view *view) {
    assay_error error;
    *view = (as_series_view){.cli = cli, .config = config, .order = "name"};
    as_arena_init(&view->arena, NULL);
    as_strings_init(&view->subjects, &view->arena);
    as_strings_init(&view->strata, &view->arena);
    as_vec_init(&view->units, sizeof(const char *), NULL);
    as_vec_init(&view->runs, sizeof(as_series_run), NULL);
    as_vec_init(&view->cells, sizeof(struct cell), NULL);
    if (as_rules_new(config->judge.rules, config->judge.n_rules, &view->rules, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

void as_series_view_close(as_series_view *view) {
    for (size_t g = 0; g < view->n_groups; g++)
        for (size_t i = 0; i < view->groups[g].n_subjects; i++) as_vec_free(&view->groups[g].subjects[i].track.points);
    as_rules_free(view->rules);
    as_strings_free(&view->subjects);
    as_strings_free(&view->strata);
    as_vec_free(&view->units);
    as_vec_free(&view->runs);
    as_vec_free(&view->cells);
    as_arena_free(&view->arena);
}

static bool sort_out(as_series_view *view) {
    size_t n = view->runs.count;
    uint32_t *places = as_arena_array(&view->arena, 2 * n, sizeof *places);
    return places && make_groups(view, places, places + n) && make_subjects(view, places, places + n);
}

as_exit as_series_of_open(as_series_view *view, as_dataset *const *parts, size_t n) {
    as_exit status = as_series_add_open(view, parts, n, take_run);
    if (status == AS_EXIT_FINE && !sort_out(view)) status = as_cli_memory(view->cli);
    return status;
}

static bool fails(const as_series_view *view) {
    as_outcome outcome = as_series_outcome(view);
    if (view->config->fail_on == AS_FAIL_NEVER) return false;
    return outcome == AS_OUTCOME_WORSE || (outcome == AS_OUTCOME_MAYBE_WORSE && view->config->fail_on == AS_FAIL_MAYBE);
}

static void note_few_runs(as_series_view *view) {
    size_t fewest = SIZE_MAX;
    for (size_t g = 0; g < view->n_groups; g++)
        if (view->groups[g].n_runs < fewest) fewest = view->groups[g].n_runs;
    if (fewest < AS_FEWEST_RUNS)
        as_cli_note(view->cli,
                    "with fewer than %d runs no test can tell a change from noise: the threshold alone decides",
                    AS_FEWEST_RUNS);
}

as_exit as_compare_series(as_cli *cli) {
    as_compare_config config;
    as_series_view view = {0};
    as_exit status = as_compare_config_read(cli, &config);
    if (status == AS_EXIT_FINE) status = as_series_view_open(cli, &config, &view);
    if (status == AS_EXIT_FINE) status = as_series_find_runs(&view, take_run);
    if (status == AS_EXIT_FINE && !view.runs.count)
        status = as_cli_fail(cli, AS_EXIT_INPUT, "%s: there is no measurement in it", as_cli_operand(cli, 0));
    if (status == AS_EXIT_FINE && !(sort_out(&view) && judge_groups(&view))) status = as_cli_memory(cli);
    if (status == AS_EXIT_FINE) note_few_runs(&view);
    if (status == AS_EXIT_FINE) status = as_series_print(&view);
    if (status == AS_EXIT_FINE && fails(&view)) status = AS_EXIT_CHECK;
    as_series_view_close(&view);
    as_compare_config_free(&config);
    return status;
}
