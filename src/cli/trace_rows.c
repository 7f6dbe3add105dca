/* `assay trace` of intervals: which runs and places, their timeline, and what its rows are called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_view.h"

/* ---- names of runs ----------------------------------------------------------------------------------------------- */

/* How runs are told apart: by a tag that each of them has, and each another, or by their numbers. */
typedef struct run_names {
    as_str tag;         /* AS_NO_STR: none */
    const char **texts; /* of the tag, for each run */
} run_names;

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether the tag has a text for each run that is shown, and no two alike; into texts. */
static bool tells_apart(const as_dataset *ds, as_str tag, const bool *shown, const char **texts, const char **sorted) {
    size_t n_runs = AS_COUNT(ds, runs), n = 0;
    memset(texts, 0, n_runs * sizeof *texts);
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_RUN && attribute->key == tag && attribute->owner_id < n_runs &&
            attribute->value.type == AS_CELL_TEXT)
            texts[attribute->owner_id] = attribute->value.text;
    }
    for (size_t i = 0; i < n_runs; i++) {
        if (!shown[i]) continue;
        if (!texts[i]) return false;
        sorted[n++] = texts[i];
    }
    qsort(sorted, n, sizeof *sorted, compare_texts);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) return false;
    }
    return true;
}

/* The first of the tags of the first run that does. False when memory is out. */
static bool name_runs(const as_trace_view *view, const bool *shown, run_names *names) {
    enum { MOST_TRIED = 16 };
    const as_dataset *ds = view->ds;
    size_t n = AS_COUNT(ds, runs), n_tried = 0;
    const char **sorted = calloc(n + 1, sizeof *sorted);
    *names = (run_names){.tag = AS_NO_STR, .texts = calloc(n + 1, sizeof *names->texts)};
    bool fine = sorted && names->texts;
    for (size_t i = 0; fine && view->n_runs > 1 && i < AS_COUNT(ds, attributes) && n_tried < MOST_TRIED; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner != AS_OWNER_RUN || attribute->owner_id != view->run ||
            strncmp(as_ds_text(ds, attribute->key), "tag:", 4) != 0)
            continue;
        n_tried++;
        if (!tells_apart(ds, attribute->key, shown, names->texts, sorted)) continue;
        names->tag = attribute->key;
        break;
    }
    free(sorted);
    return fine;
}

/* ---- names of rows ----------------------------------------------------------------------------------------------- */

static void add_word(as_text *out, const char *word) {
    if (as_text_size(out)) as_text_add(out, " ");
    as_text_add(out, word);
}

/* "solve #2" */
static void add_track(const as_dataset *ds, const as_timeline_row *row, as_text *out) {
    static const char *const words[] = {
        [AS_TRACK_RANGES] = "ranges", [AS_TRACK_OSRT] = "OS runtime", [AS_TRACK_SAMPLES] = "samples"};
    char number[32];
    if (row->track > AS_TRACK_SECTION) add_word(out, words[row->track]);
    if (row->section == AS_MANY_SECTIONS) add_word(out, "sections");
    if (row->section < AS_COUNT(ds, contexts)) {
        const char *name = as_ds_text(ds, as_ds_context(ds, row->section)->name);
        add_word(out, name ? name : "?");
    }
    if (!row->lane) return;
    snprintf(number, sizeof number, "#%u", row->lane + 1);
    add_word(out, number);
}

/* "run 3 thread 0 solve #2": as much of it as there is, "regions" where that were nothing. */
static void put_label(const as_trace_view *view, const as_timeline_row *row, const run_names *names,
                      const char *const *places, as_text *out) {
    const as_dataset *ds = view->ds;
    char number[32];
    as_text_clear(out);
    if (view->n_runs > 1 && names->tag != AS_NO_STR) {
        as_text_add(out, as_ds_text(ds, names->tag) + strlen("tag:"));
        as_text_add(out, "=");
        as_text_add(out, names->texts[row->run]);
    } else if (view->n_runs > 1) {
        snprintf(number, sizeof number, "run %u", row->run);
        as_text_add(out, number);
    }
    if (row->location < AS_COUNT(ds, locations)) add_word(out, places[row->location] ? places[row->location] : "?");
    add_track(ds, row, out);
    if (!as_text_size(out)) as_text_add(out, row->n_intervals ? "regions" : "pauses");
}

static const char *keep_label(as_trace_view *view, const as_text *label) {
    return label->failed ? NULL : as_arena_copy(&view->texts, as_text_data(label), as_text_size(label));
}

/* places: what locations are called. */
static bool make_labels(as_trace_view *view, const run_names *names, const char *const *places) {
    as_text label;
    as_text_init(&label);
    bool fine = true, is_below = false; /* whether the line of the run and place is there */
    for (size_t i = 0; i < view->n_lines && fine; i++) {
        const as_timeline_row *row = &view->timeline.rows[i];
        put_label(view, row, names, places, &label);
        view->labels[i] = keep_label(view, &label);
        is_below &= i > 0 && row[-1].run == row->run && row[-1].location == row->location;
        is_below |= row->track == AS_TRACK_NESTED;
        if (is_below && row->track != AS_TRACK_NESTED) {
            as_text_clear(&label);
            as_text_add(&label, " ");
            add_track(view->ds, row, &label);
            view->below[i] = keep_label(view, &label);
        }
        fine = view->labels[i] && !label.failed;
    }
    as_text_free(&label);
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* All runs, or those of --run. NULL when something fails, which is told. */
static bool *choose_runs(as_cli *cli, const as_trace_view *view, as_exit *status) {
    size_t n = AS_COUNT(view->ds, runs);
    bool *wanted = calloc(n + 1, sizeof *wanted);
    as_run_choice choice = {.runs = NULL};
    *status = wanted ? AS_EXIT_FINE : as_cli_memory(cli);
    for (size_t i = 0; wanted && i < n; i++) wanted[i] = !as_cli_has(cli, "run");
    if (wanted && as_cli_has(cli, "run")) *status = as_choose_runs(cli, view->ds, &choice);
    for (size_t i = 0; wanted && i < choice.n_runs; i++) wanted[choice.runs[i]] = true;
    as_run_choice_free(&choice);
    if (*status == AS_EXIT_FINE) return wanted;
    free(wanted);
    return NULL;
}

/* Those of the rows, each by no more than tells it apart. */
static bool name_places(as_trace_view *view, const char **places) {
    size_t n = 0, n_rows = view->timeline.n_rows, n_places = AS_COUNT(view->ds, locations);
    bool *is_listed = calloc(n_places + 1, sizeof *is_listed);
    assay_id *listed = malloc((n_rows + 1) * sizeof *listed);
    const char **labels = calloc(n_rows + 1, sizeof *labels);
    bool fine = is_listed && listed && labels;
    for (size_t i = 0; fine && i < n_rows; i++) {
        assay_id location = view->timeline.rows[i].location;
        if (location >= n_places || is_listed[location]) continue;
        is_listed[location] = true;
        listed[n++] = location;
    }
    fine = fine && as_trace_name_places(view, listed, n, labels);
    for (size_t i = 0; fine && i < n; i++) places[listed[i]] = labels[i];
    free(is_listed);
    free(listed);
    free(labels);
    return fine;
}

static bool list_rows(as_trace_view *view, const bool *shown) {
    as_timeline *timeline = &view->timeline;
    run_names names = {.tag = AS_NO_STR};
    view->lines = calloc(timeline->n_rows + 1, sizeof *view->lines);
    view->labels = calloc(timeline->n_rows + 1, sizeof *view->labels);
    view->below = calloc(timeline->n_rows + 1, sizeof *view->below);
    view->are_stamped = calloc(timeline->n_rows + 1, sizeof *view->are_stamped);
    if (!view->lines || !view->labels || !view->below || !view->are_stamped) return false;
    view->n_lines = timeline->n_rows;
    for (size_t i = 0; i < view->n_lines; i++) {
        const as_timeline_row *row = &timeline->rows[i];
        view->lines[i] = &timeline->lines[i];
        view->are_stamped[i] = true;
        view->n_samples += row->n_intervals;
        if (i == 0) view->run = row->run;
        view->n_runs += i == 0 || row->run != timeline->rows[i - 1].run;
    }
    const char **places = calloc(AS_COUNT(view->ds, locations) + 1, sizeof *places);
    bool fine =
        places && name_places(view, places) && name_runs(view, shown, &names) && make_labels(view, &names, places);
    free(names.texts);
    free(places);
    return fine;
}

static int compare_in_order(const void *a, const void *b, void *user) {
    return as_trace_compare_places(user, *(const assay_id *)a, *(const assay_id *)b);
}

/* The place of each location among all. NULL when memory is out. */
static uint32_t *order_places(const as_dataset *ds) {
    size_t n = AS_COUNT(ds, locations);
    assay_id *sorted = malloc((n + 1) * sizeof *sorted);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    for (assay_id i = 0; sorted && i < n; i++) sorted[i] = i;
    if (sorted) qsort_r(sorted, n, sizeof *sorted, compare_in_order, (void *)(uintptr_t)ds);
    for (uint32_t i = 0; sorted && order && i < n; i++) order[sorted[i]] = i;
    bool fine = sorted && order;
    free(sorted);
    if (fine) return order;
    free(order);
    return NULL;
}

as_exit as_trace_choose_rows(as_cli *cli, as_trace_view *view) {
    const char *path = as_ds_text(view->ds, view->ds->path);
    as_location_choice locations = {.wanted = NULL};
    assay_error error;
    as_exit status;
    bool *runs = choose_runs(cli, view, &status);
    if (runs) status = as_choose_locations(cli, view->ds, &locations);
    uint32_t *order = order_places(view->ds);
    if (status == AS_EXIT_FINE && !order) status = as_cli_memory(cli);
    as_timeline_choice choice = {runs, locations.wanted, as_cli_has(cli, "wallclock"), order};
    if (status == AS_EXIT_FINE && as_timeline_of(view->ds, &choice, &view->timeline, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    if (status == AS_EXIT_FINE && !list_rows(view, runs)) status = as_cli_memory(cli);
    free(runs);
    free(order);
    as_location_choice_free(&locations);
    if (status != AS_EXIT_FINE) return status;
    if (view->n_lines == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: there are no intervals of %s", path,
                           as_cli_has(cli, "location") ? as_cli_value(cli, "location") : "this run");
    if (view->timeline.n_hidden)
        as_cli_note(cli,
                    "%llu intervals are not shown: more than 64 of one section, or of one thread's ranges, overlap",
                    (unsigned long long)view->timeline.n_hidden);
    return AS_EXIT_FINE;
}
