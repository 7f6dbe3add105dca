/* `assay stat` over occurrences: what is asked of a file with events, and found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/tags.h"
#include "cli/callpath.h"
#include "cli/node_json.h"
#include "cli/occurrence_view.h"
#include "cli/row_order.h"
#include "cli/study.h"
#include "core/words.h"

enum { ROWS_FOR_PEOPLE = 20, WORST_FOR_PROGRAMS = 3, WORST_OF_ONE = 10 };

static bool is_for_people(const as_cli *cli) {
    return cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

as_exit as_occurrences_chosen(as_cli *cli, const as_dataset *ds, bool *over) {
    const char *word = as_cli_value(cli, "over");
    bool has_events = as_ds_intervals(ds) > 0, is_about_places = as_cli_has(cli, "by") || as_cli_has(cli, "location");
    *over = word                          ? strcmp(word, "occurrences") == 0
            : as_cli_has(cli, "group-by") ? true
                                          : has_events && !is_about_places && as_ds_leaves(ds) == 0;
    if (*over && is_about_places)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is about locations; leave it out, or --over occurrences",
                           as_cli_has(cli, "by") ? "by" : "location");
    if (*over && !has_events)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no events with a start and an end, so no occurrences",
                           as_ds_text(ds, ds->path));
    if (!*over && as_cli_has(cli, "group-by"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--group-by is about occurrences; leave out --over locations");
    if (!*over && as_cli_has(cli, "worst"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--worst is about occurrences, and %s is shown over its locations",
                           as_ds_text(ds, ds->path));
    return AS_EXIT_FINE;
}

static as_exit choose_numbers(as_cli *cli, as_occurrence_view *view) {
    bool is_one = as_cli_has(cli, "context");
    size_t limit = is_for_people(cli) && !as_cli_has(cli, "all") ? ROWS_FOR_PEOPLE : 0;
    view->n_worst = !is_for_people(cli) ? WORST_FOR_PROGRAMS : is_one ? WORST_OF_ONE : 0;
    if (!as_cli_count(cli, "limit", &limit) || !as_cli_count(cli, "worst", &view->n_worst)) return AS_EXIT_USAGE;
    view->limit = limit ? limit : SIZE_MAX;
    view->is_exclusive = as_cli_has(cli, "exclusive");
    return AS_EXIT_FINE;
}

static as_exit choose_runs(as_cli *cli, as_occurrence_view *view) {
    as_exit status = as_choose_runs(cli, view->ds, &view->choice);
    if (status != AS_EXIT_FINE) return status;
    view->runs = calloc(AS_COUNT(view->ds, runs) + 1, sizeof *view->runs);
    if (!view->runs) return as_cli_memory(cli);
    for (size_t i = 0; i < view->choice.n_runs; i++) view->runs[view->choice.runs[i]] = true;
    view->n_runs = view->choice.n_runs;
    return AS_EXIT_FINE;
}

static as_exit find(as_cli *cli, as_occurrence_view *view) {
    assay_error error;
    as_occurrences_request request = {
        .ds = view->ds, .runs = view->runs, .is_exclusive = view->is_exclusive, .n_worst = view->n_worst};
    request.is_time_only = is_for_people(cli) && !as_cli_has(cli, "metric");
    if (as_cli_has(cli, "group-by")) {
        if (as_cli_group(cli, NULL, view->ds, true, &view->grouping, &error) != ASSAY_OK)
            return as_cli_error(cli, &error);
        view->names = view->grouping.ds;
        request.group_of = view->grouping.group_of;
    }
    if (!as_cli_pauses(cli, NULL, view->ds, &view->pauses, &request.pauses)) return as_cli_memory(cli);
    if (as_occurrences_find(&request, &view->found, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static as_exit fail_metric(as_cli *cli, const as_occurrence_view *view, const char *name) {
    char known[400] = "time";
    size_t used = strlen(known);
    as_nearest nearest = as_nearest_start(name, strlen(name));
    as_nearest_offer(&nearest, "time");
    for (size_t i = 0; i < view->found.measured.measures.count; i++) {
        const char *text = as_measure_text(&view->found.measured, i);
        as_nearest_offer(&nearest, text);
        if (used + strlen(text) + 3 < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", text);
    }
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "occurrences have no '%s'; did you mean '%s'?", name, nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE, "occurrences have no '%s'; there are %s", name, known);
}

/* People see the time unless they name something, programs all. */
static as_exit choose_metrics(as_cli *cli, as_occurrence_view *view) {
    size_t n = view->found.measured.measures.count;
    bool names_some = as_cli_has(cli, "metric");
    view->shows_time = !names_some;
    view->shows_measure = calloc(n + 1, sizeof *view->shows_measure);
    if (!view->shows_measure) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) view->shows_measure[i] = !names_some && !is_for_people(cli);
    for (size_t k = 0; k < cli->arguments.given.count; k++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, k);
        if (strcmp(given->option->name, "metric") != 0) continue;
        bool found = strcmp(given->value, "time") == 0;
        view->shows_time |= found;
        for (size_t i = 0; i < n; i++) {
            if (strcmp(as_measure_text(&view->found.measured, i), given->value) == 0)
                view->shows_measure[i] = found = true;
        }
        if (!found) return fail_metric(cli, view, given->value);
    }
    return AS_EXIT_FINE;
}

const char *as_measure_unit(const as_occurrence_view *view, uint32_t measure) {
    assay_id metric = AS_AT(as_measure_name, &view->found.measured.measures, measure).metric;
    const char *unit = metric == ASSAY_NONE ? NULL : as_ds_text(view->ds, as_ds_metric(view->ds, metric)->unit);
    return unit && strcmp(unit, "count") != 0 && strcmp(unit, "text") != 0 ? unit : NULL;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static as_exit choose_context(as_cli *cli, as_occurrence_view *view) {
    const char *name = as_cli_value(cli, "context");
    view->context = ASSAY_NONE;
    if (!name) return AS_EXIT_FINE;
    size_t n = 0;
    assay_id *known = malloc((view->found.subjects.count + 1) * sizeof *known);
    if (!known) return as_cli_memory(cli);
    for (size_t i = 0; i < view->found.subjects.count; i++) {
        assay_id context = AS_AT(as_subject, &view->found.subjects, i).context;
        if (context != ASSAY_NONE) known[n++] = context;
    }
    as_exit status = as_callpath_find(cli, view->names, known, n, name, &view->context);
    free(known);
    return status;
}

const char *as_subject_path(const as_occurrence_view *view, const as_subject *subject, as_vec *text, bool *fine) {
    bool is_whole;
    if (subject->context == ASSAY_NONE) {
        const char *name = as_ds_text(view->ds, subject->name);
        return name ? name : "";
    }
    if (as_context_path_end(view->names, subject->context, AS_LONGEST_PATH, text, &is_whole))
        return is_whole ? text->data : NULL;
    *fine = false;
    return NULL;
}

static double sort_number(const as_subject *subject, const char *by) {
    const as_distribution *d = &subject->time;
    if (strcmp(by, "count") == 0) return (double)d->n;
    if (strcmp(by, "mean") == 0) return d->mean;
    if (strcmp(by, "median") == 0) return d->median;
    if (strcmp(by, "p99") == 0) return d->p99;
    if (strcmp(by, "max") == 0) return d->max;
    if (strcmp(by, "min") == 0) return d->min;
    if (strcmp(by, "stddev") == 0) return d->stddev;
    return d->sum;
}

/* By path; the texts of all that are shown are needed at once. */
static bool sort_by_name(as_occurrence_view *view) {
    size_t n = view->found.subjects.count;
    const char **names = calloc(n + 1, sizeof *names);
    as_arena texts;
    as_vec path;
    as_arena_init(&texts, as_ds_budget(view->ds));
    as_vec_init(&path, 1, NULL);
    bool fine = names != NULL;
    for (size_t i = 0; i < view->n_rows && fine; i++) {
        const char *text = as_subject_path(view, as_occurrence_row(view, i), &path, &fine);
        if (fine && text) fine = (names[view->rows[i]] = as_arena_copy(&texts, text, strlen(text))) != NULL;
        if (fine && !text) names[view->rows[i]] = "";
    }
    if (fine) as_rows_by_name(view->rows, view->n_rows, names);
    as_vec_free(&path);
    as_arena_free(&texts);
    free(names);
    return fine;
}

static bool list_rows(as_occurrence_view *view, const as_pattern *match) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    size_t n = view->found.subjects.count;
    view->rows = malloc((n + 1) * sizeof *view->rows);
    bool fine = view->rows != NULL;
    for (size_t i = 0; i < n && fine; i++) {
        const as_subject *subject = &AS_AT(as_subject, &view->found.subjects, i);
        const char *text = NULL;
        if (view->context != ASSAY_NONE && subject->context != view->context) continue;
        if (match) text = as_subject_path(view, subject, &path, &fine);
        if (!match || (text && as_pattern_search(match, text, strlen(text)))) view->rows[view->n_rows++] = (uint32_t)i;
    }
    as_vec_free(&path);
    return fine;
}

static as_exit order_rows(as_cli *cli, as_occurrence_view *view) {
    const char *sort = as_cli_value(cli, "sort");
    as_pattern *match;
    if (sort && (strcmp(sort, "excess") == 0 || strcmp(sort, "imbalance") == 0))
        return as_cli_fail(cli, AS_EXIT_USAGE, "occurrences have no %s; sort by sum, count, mean, median, p99 or max",
                           sort);
    as_exit status = as_callpath_match(cli, &match);
    if (status != AS_EXIT_FINE) return status;
    bool fine = list_rows(view, match);
    as_pattern_free(match);
    if (fine && as_cli_has(cli, "match") && !view->n_rows)
        return as_cli_fail(cli, AS_EXIT_USAGE, "no call path matches '%s'", as_cli_value(cli, "match"));
    if (!sort) sort = is_for_people(cli) ? "sum" : "tree";
    if (fine && strcmp(sort, "name") == 0) {
        fine = sort_by_name(view);
    } else if (fine && strcmp(sort, "tree") != 0) {
        size_t n = view->found.subjects.count;
        double *numbers = malloc((n + 1) * sizeof *numbers);
        fine = numbers != NULL;
        for (size_t i = 0; i < n && fine; i++)
            numbers[i] = sort_number(&AS_AT(as_subject, &view->found.subjects, i), sort);
        if (fine) as_rows_by_number(view->rows, view->n_rows, numbers);
        free(numbers);
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

/* ---- the worst --------------------------------------------------------------------------------------------------- */

static int compare_tags(const void *a, const void *b) {
    const as_worst_tag *x = a, *y = b;
    if (x->event != y->event) return x->event < y->event ? -1 : 1;
    return x->attribute < y->attribute ? -1 : x->attribute > y->attribute;
}

static int compare_events(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Of a dataset that has attributes in no order: those whose owner is among the n events. */
static bool search_tags(as_occurrence_view *view, const uint64_t *events, size_t n) {
    for (size_t i = 0; i < AS_COUNT(view->ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(view->ds, i);
        uint64_t owner = attribute->owner_id;
        if (attribute->owner != AS_OWNER_EVENT || !bsearch(&owner, events, n, sizeof *events, compare_events)) continue;
        as_worst_tag tag = {owner, i};
        if (!as_vec_append(&view->tags, &tag, 1)) return false;
    }
    return true;
}

static bool take_tags(as_occurrence_view *view, uint64_t event) {
    uint64_t first, end;
    as_event_attributes(view->ds, event, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        as_worst_tag tag = {event, i};
        if (!as_vec_append(&view->tags, &tag, 1)) return false;
    }
    return true;
}

static as_exit find_tags(as_cli *cli, as_occurrence_view *view) {
    size_t n = view->found.worst.count;
    uint64_t *events = malloc((n + 1) * sizeof *events);
    bool fine = events != NULL;
    for (size_t i = 0; i < n && fine; i++) events[i] = AS_AT(as_worst, &view->found.worst, i).event;
    if (fine) qsort(events, n, sizeof *events, compare_events);
    if (fine && !view->ds->event_source) fine = search_tags(view, events, n);
    for (size_t i = 0; i < n && fine && view->ds->event_source; i++) fine = take_tags(view, events[i]);
    if (fine && view->tags.count) qsort(view->tags.data, view->tags.count, sizeof(as_worst_tag), compare_tags);
    free(events);
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

const as_worst_tag *as_tags_of_worst(const as_occurrence_view *view, uint64_t event, size_t *n) {
    const as_worst_tag *tags = view->tags.data;
    size_t low = 0, high = view->tags.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tags[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < view->tags.count && tags[low + *n].event == event;) ++*n;
    return tags + low;
}

const char *as_tag_name(const as_dataset *ds, const as_attribute *attribute, bool *is_tag) {
    const char *key = as_ds_text(ds, attribute->key);
    if (!key) key = "";
    *is_tag = strncmp(key, AS_TAG_PREFIX, strlen(AS_TAG_PREFIX)) == 0;
    return *is_tag ? key + strlen(AS_TAG_PREFIX) : key;
}

void as_utc_format(double seconds, char out[AS_UTC_SIZE]) {
    enum { MICROSECONDS = 1000000 };
    struct tm parts;
    double whole = floor(seconds);
    long part = (long)((seconds - whole) * MICROSECONDS + 0.5);
    time_t time = fabs(seconds) < 1e11 ? (time_t)whole + part / MICROSECONDS : 0;
    out[0] = '\0';
    if (!(fabs(seconds) < 1e11) || !gmtime_r(&time, &parts)) return;
    size_t used = strftime(out, AS_UTC_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + used, AS_UTC_SIZE - used, ".%06ldZ", part % MICROSECONDS);
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static as_exit show(as_cli *cli, as_answers *a, as_occurrence_view *view, const char *path) {
    bool several = as_cli_operands(cli) > 1, fine;
    if (cli->style.mode == AS_PRINT_JSON) {
        fine = as_occurrence_json(&a->builder, view);
    } else if (cli->style.mode == AS_PRINT_TEXT) {
        if (a->shown) as_output_char(cli->out, '\n');
        if (several) as_output_printf(cli->out, "%s\n", path);
        fine = as_occurrence_text(view);
    } else {
        fine = as_occurrence_rows(a->printer, a->batch, view, several ? path : NULL);
    }
    a->shown++;
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

as_exit as_occurrences_answer(as_cli *cli, as_answers *answers, const as_dataset *ds, const char *path) {
    as_occurrence_view view = {.cli = cli, .ds = ds, .names = ds, .is_ascii = as_cli_is_ascii(cli)};
    as_vec_init(&view.tags, sizeof(as_worst_tag), as_ds_budget(ds));
    as_exit status = choose_numbers(cli, &view);
    if (status == AS_EXIT_FINE) status = choose_runs(cli, &view);
    if (status == AS_EXIT_FINE) status = find(cli, &view);
    if (status == AS_EXIT_FINE) status = choose_metrics(cli, &view);
    if (status == AS_EXIT_FINE) status = choose_context(cli, &view);
    if (status == AS_EXIT_FINE) status = order_rows(cli, &view);
    if (status == AS_EXIT_FINE) status = find_tags(cli, &view);
    if (status == AS_EXIT_FINE) status = show(cli, answers, &view, path);
    as_vec_free(&view.tags);
    as_occurrences_free(&view.found);
    as_pauses_free(&view.pauses);
    as_grouping_free(&view.grouping);
    as_run_choice_free(&view.choice);
    free(view.runs);
    free(view.rows);
    free(view.shows_measure);
    return status;
}
