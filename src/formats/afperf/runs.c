/* Runs with their attributes and parameters, and metrics. */
#include <stdlib.h>

#include "formats/afperf/reading.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static assay_id add_metric(as_dataset *ds, const char *name, const char *unit, const char *dtype, as_metric_kind kind,
                           const char *description) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, name);
    metric.unit = as_ds_intern_text(ds, unit);
    metric.dtype = as_ds_intern_text(ds, dtype);
    metric.description = as_ds_intern_text(ds, description);
    metric.kind = kind;
    if (metric.name == AS_NO_STR || metric.unit == AS_NO_STR || metric.dtype == AS_NO_STR ||
        metric.description == AS_NO_STR)
        return ASSAY_NONE;
    return as_add_metric(ds, &metric);
}

/* A metric for each name, unit and type. */
static bool add_measures(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    as_dataset *ds = reading->ds;
    as_map known;
    as_map_init(&known, &ds->budget);
    bool fine = true;
    for (size_t i = 0; fine && i < capture->measures.count; i++) {
        as_af_measure *measure = AS_AF_MEASURE(capture, i);
        uint32_t words[3] = {measure->name, measure->unit, measure->dtype};
        uint64_t key = as_hash(words, sizeof words);
        measure->metric = as_map_get(&known, key);
        if (measure->metric != AS_MAP_NONE) continue;
        as_metric metric = AS_METRIC_INIT;
        metric.name = measure->name;
        metric.unit = measure->unit;
        metric.dtype = measure->dtype;
        metric.kind = AS_KIND_INCLUSIVE;
        metric.description = measure->description != AS_NO_STR ? measure->description : measure->summary;
        measure->metric = as_add_metric(ds, &metric);
        fine = measure->metric != ASSAY_NONE && as_map_put(&known, key, measure->metric);
        if (fine && measure->description != AS_NO_STR && measure->summary != AS_NO_STR)
            fine = as_add_attribute(ds, AS_OWNER_METRIC, measure->metric, "summary",
                                    as_cell_text(as_ds_text(ds, measure->summary)));
    }
    as_map_free(&known);
    return fine;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static bool add_text(as_dataset *ds, assay_id run, const char *key, as_str text) {
    return as_add_attribute(ds, AS_OWNER_RUN, run, key,
                            as_cell_text_n(as_ds_text(ds, text), as_str_size(&ds->strings, text)));
}

static bool add_attributes(as_af_capture *capture, const as_af_run *run) {
    as_dataset *ds = capture->ds;
    bool fine = add_text(ds, run->final, "application name", run->application) &&
                add_text(ds, run->final, "application version", run->application_version) &&
                add_text(ds, run->final, "afperf format version", run->version) &&
                add_text(ds, run->final, "timestamp units", run->unit) &&
                as_add_attribute(ds, AS_OWNER_RUN, run->final, "start timestamp", as_cell_uint(run->start)) &&
                as_add_attribute(ds, AS_OWNER_RUN, run->final, "pauses", as_cell_uint(run->n_pauses)) &&
                as_add_attribute(ds, AS_OWNER_RUN, run->final, "paused", as_cell_uint(as_af_paused(run)));
    if (!fine || run->tags == AS_AF_NONE) return fine;
    const as_af_tag_set *set = &AS_AT(as_af_tag_set, &capture->tag_sets, run->tags);
    for (uint32_t i = 0; fine && i < set->n; i++) {
        as_af_tag tag = AS_AT(as_af_tag, &capture->tags, set->first + i);
        fine = add_text(ds, run->final, as_ds_text(ds, tag.key), tag.value);
    }
    return fine;
}

/* ---- parameters from tags ---------------------------------------------------------------------------------------- */

/* A run and its coordinates, n of them. */
typedef struct placed_run {
    uint32_t run;
    double *coordinates;
    size_t n;
} placed_run;

static int compare_placed(const void *a, const void *b) {
    const placed_run *x = a, *y = b;
    for (size_t i = 0; i < x->n; i++) {
        if (x->coordinates[i] != y->coordinates[i]) return x->coordinates[i] < y->coordinates[i] ? -1 : 1;
    }
    return (x->run > y->run) - (x->run < y->run);
}

static bool same_point(const placed_run *a, const placed_run *b) {
    return memcmp(a->coordinates, b->coordinates, a->n * sizeof *a->coordinates) == 0;
}

static bool tag_number(const as_af_capture *capture, const as_af_run *run, as_str key, double *out) {
    if (run->tags == AS_AF_NONE || key == AS_NO_STR) return false;
    const as_af_tag_set *set = &AS_AT(as_af_tag_set, &capture->tag_sets, run->tags);
    for (uint32_t i = set->n; i-- > 0;) {
        as_af_tag tag = AS_AT(as_af_tag, &capture->tags, set->first + i);
        if (tag.key != key) continue;
        as_af_field field = {.text = as_ds_text(capture->ds, tag.value),
                             .size = (uint32_t)as_str_size(&capture->ds->strings, tag.value)};
        if (!as_af_real(&field, out) || !isfinite(*out)) return false;
        *out += 0.0; /* -0 is 0 */
        return true;
    }
    return false;
}

/* "tag:size,tag:ranks": a parameter each. */
static assay_status name_parameters(as_af_reading *reading, const char *list) {
    as_dataset *ds = reading->ds;
    while (*list) {
        size_t size = strcspn(list, ",");
        if (size <= 4 || memcmp(list, "tag:", 4) != 0)
            return as_fail(reading->reader->error, ASSAY_E_USAGE, AS_NOWHERE, "parameter",
                           "the option 'parameter' takes tags of the runs, such as tag:size or tag:size,tag:ranks");
        as_str name = as_ds_intern(ds, list + 4, size - 4);
        if (name == AS_NO_STR || as_add_parameter(ds, name) == ASSAY_NONE) return as_reader_memory(reading->reader);
        list += size + (list[size] == ',');
    }
    return ASSAY_OK;
}

/* "; those that are: size, ranks" of the run's tags that are numbers, as many as fit. */
static void list_numbers(const as_af_capture *capture, const as_af_run *run, char *out, size_t room) {
    size_t used = 0;
    out[0] = '\0';
    if (run->tags == AS_AF_NONE) return;
    const as_af_tag_set *set = &AS_AT(as_af_tag_set, &capture->tag_sets, run->tags);
    for (uint32_t i = 0; i < set->n; i++) {
        as_str key = AS_AT(as_af_tag, &capture->tags, set->first + i).key;
        const char *name = as_ds_text(capture->ds, key) + strlen("tag:"), *before = used ? ", " : "; its numbers are ";
        size_t size = strlen(name), more = strlen(before);
        double number;
        if (used + more + size >= room || !tag_number(capture, run, key, &number)) continue;
        memcpy(out + used, before, more);
        memcpy(out + used + more, name, size + 1);
        used += more + size;
    }
}

static assay_status place_run(as_af_reading *reading, placed_run *placed, uint32_t index) {
    as_dataset *ds = reading->ds;
    const as_af_run *run = AS_AF_RUN(reading->capture, index);
    *placed = (placed_run){.run = index, .n = as_ds_parameters(ds)};
    placed->coordinates = as_arena_array(&ds->arena, placed->n, sizeof *placed->coordinates);
    if (!placed->coordinates) return as_reader_memory(reading->reader);
    for (size_t i = 0; i < placed->n; i++) {
        const char *name = as_ds_parameter(ds, i);
        reading->text.count = 0;
        if (!as_vec_text(&reading->text, "tag:") || !as_vec_text(&reading->text, name))
            return as_reader_memory(reading->reader);
        as_str key = as_find(&ds->strings, reading->text.data, reading->text.count);
        if (tag_number(reading->capture, run, key, &placed->coordinates[i])) continue;
        as_af_lines lines = {0};
        char numbers[200];
        list_numbers(reading->capture, run, numbers, sizeof numbers);
        return as_fail(reading->reader->error, ASSAY_E_USAGE,
                       as_af_place(&lines, reading->reader->input->path, reading->data, run->offset), "parameter",
                       "this run has no tag '%s' that is a number, as all runs must for a parameter%s", name, numbers);
    }
    return ASSAY_OK;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool add_run(as_af_reading *reading, uint32_t index, assay_id point, uint32_t repetition) {
    as_dataset *ds = reading->ds;
    as_af_run *from = AS_AF_RUN(reading->capture, index);
    as_run run = AS_RUN_INIT;
    char id[AS_NUMBER_SIZE];
    run.source = ds->path;
    run.start_time = from->wallclock;
    run.point = point;
    run.repetition = repetition;
    if (from->has_id) {
        run.source_id = as_ds_intern(ds, id, as_hex_format(from->id, id));
        if (run.source_id == AS_NO_STR) return false;
    }
    from->final = as_add_run(ds, &run);
    return from->final != ASSAY_NONE && add_attributes(reading->capture, from);
}

/* In the order of their points, those of one point in the order of the file. */
static assay_status add_placed(as_af_reading *reading, placed_run *placed, size_t n) {
    as_dataset *ds = reading->ds;
    uint32_t repetition = 0;
    qsort(placed, n, sizeof *placed, compare_placed);
    for (size_t i = 0; i < n; i++) {
        bool is_new = i == 0 || !same_point(&placed[i - 1], &placed[i]);
        repetition = is_new ? 0 : repetition + 1;
        if (is_new && !as_vec_append(&ds->coordinates, placed[i].coordinates, placed[i].n))
            return as_reader_memory(reading->reader);
        ds->n_points += is_new;
        if (!add_run(reading, placed[i].run, (assay_id)(ds->n_points - 1), repetition))
            return as_reader_memory(reading->reader);
    }
    ds->whole_coordinates = true;
    return ASSAY_OK;
}

static int by_offset(const void *a, const void *b, void *user) {
    const as_af_run *runs = user, *x = &runs[*(const uint32_t *)a], *y = &runs[*(const uint32_t *)b];
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Those that are defined, in the order of their definitions. */
static assay_status add_runs(as_af_reading *reading, uint32_t *order, placed_run *placed) {
    as_af_capture *capture = reading->capture;
    size_t n = 0;
    for (size_t i = 0; i < capture->runs.count; i++) {
        if (AS_AF_RUN(capture, i)->is_defined) order[n++] = (uint32_t)i;
    }
    qsort_r(order, n, sizeof *order, by_offset, capture->runs.data);
    bool is_placed = as_ds_parameters(reading->ds);
    for (size_t i = 0; i < n; i++) {
        if (is_placed)
            AS_TRY(place_run(reading, &placed[i], order[i]));
        else if (!add_run(reading, order[i], ASSAY_NONE, 0))
            return as_reader_memory(reading->reader);
    }
    return is_placed ? add_placed(reading, placed, n) : ASSAY_OK;
}

assay_status as_af_add_runs(as_af_reading *reading) {
    as_dataset *ds = reading->ds;
    AS_TRY(name_parameters(reading, as_option_text(&reading->reader->options, "parameter")));
    if (add_metric(ds, "visits", "occ", "UINT64", AS_KIND_EXCLUSIVE,
                   "how often a region was visited; of a section its intervals") == ASSAY_NONE ||
        add_metric(ds, "time", "s", "DOUBLE", AS_KIND_INCLUSIVE, "the sum of all durations") == ASSAY_NONE ||
        add_metric(ds, "time covered", "s", "DOUBLE", AS_KIND_INCLUSIVE,
                   "of a section: the time in which at least one of its intervals was under way") == ASSAY_NONE ||
        !add_measures(reading))
        return as_reader_memory(reading->reader);
    size_t n = reading->capture->runs.count + 1;
    if (!as_budget_allows(&ds->budget, n * (sizeof(placed_run) + sizeof(uint32_t))))
        return as_reader_memory(reading->reader);
    placed_run *placed = malloc(n * sizeof *placed);
    uint32_t *order = malloc(n * sizeof *order);
    assay_status status = placed && order ? add_runs(reading, order, placed) : as_reader_memory(reading->reader);
    free(order);
    free(placed);
    return status;
}
