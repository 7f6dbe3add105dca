/* Datasets of other formats as captures: see write_foreign.h. */
#include "formats/afperf/write_foreign.h"

#include <stdlib.h>

/* Metrics whose values are looked at together, and written in one record. */
enum { GROUP = 16 };

static bool is_measured(const as_dataset *ds, assay_id metric) {
    return as_af_use_of(ds, metric) == AS_AF_USE_MEASURED;
}

/* ---- before a run is written ------------------------------------------------------------------------------------- */

/* Values that are 0 say nothing, but in experiments, where a missing one is something else. */
static bool says_something(const as_dataset *ds, const as_af_values *values, size_t i) {
    return values->has[i] && (as_ds_parameters(ds) || as_number_real(values->numbers[i]) != 0);
}

/* Which call paths have anything, and which sums are too large for integers. */
static assay_status look_at_values(as_af_foreign *f, as_af_written_run run, as_af_values *values) {
    size_t n = f->ds->contexts.count;
    memset(f->is_there, 0, n * sizeof *f->is_there);
    for (assay_id metric = 0; metric < f->ds->metrics.count; metric++) {
        as_af_use use = as_af_use_of(f->ds, metric);
        if (use > AS_AF_USE_COVERED) continue;
        AS_TRY(as_af_values_load(values, f->ds, metric, run, f->error));
        bool is_whole = as_dtype_is_integer(as_ds_metric_type(f->ds, metric).dtype);
        for (size_t i = 0; i < n; i++) {
            if (!says_something(f->ds, values, i)) continue;
            f->is_there[i] = true;
            if (is_whole && values->numbers[i].kind != AS_INT) f->is_real[metric] = true;
        }
    }
    for (size_t i = n; i-- > 0;) {
        assay_id parent = as_ds_context(f->ds, (assay_id)i)->parent;
        if (f->is_there[i] && parent != ASSAY_NONE) f->is_there[parent] = true;
    }
    return ASSAY_OK;
}

static void find_parents(as_af_foreign *f) {
    for (assay_id i = 0; i < f->ds->contexts.count; i++) {
        assay_id parent = as_ds_context(f->ds, i)->parent;
        f->parents[i] = parent == ASSAY_NONE || as_af_has_place(f->ds, parent) ? parent : f->parents[parent];
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void put_place(as_output *out, const as_af_place_of *place) {
    as_output_text(out, place->is_section ? "SectionAggregate" : "RegionAggregate");
    as_af_put_number(out, place->end);
    as_af_put_number(out, place->start);
    as_af_put_hex(out, place->id);
    as_output_text(out, place->is_section ? ",0x0," : ",");
}

static void put_values(as_af_foreign *f, const assay_id *metrics, const as_af_values *values, size_t n_metrics) {
    for (size_t i = 0; i < f->ds->contexts.count; i++) {
        bool any = false;
        for (size_t k = 0; f->places[i].id && k < n_metrics; k++) {
            if (!says_something(f->ds, &values[k], i)) continue;
            if (!any) put_place(f->out, &f->places[i]);
            any = true;
            as_number number = values[k].numbers[i];
            as_af_put_hex(f->out, metrics[k] + 1);
            as_output_char(f->out, ',');
            if (f->is_real[metrics[k]])
                as_output_real(f->out, as_number_real(number));
            else
                as_output_number(f->out, number);
        }
        if (any) as_output_char(f->out, '\n');
    }
}

/* Values of the metrics from `metric` on, a group at a time; the one behind the group. */
static assay_status put_group(as_af_foreign *f, as_af_written_run run, as_af_values *values, assay_id *metric) {
    assay_id metrics[GROUP];
    size_t n = 0;
    for (; *metric < f->ds->metrics.count && n < GROUP; (*metric)++) {
        if (!is_measured(f->ds, *metric)) continue;
        if (!values[n].has && !as_af_values_init(&values[n], f->ds)) return as_fail_memory(f->error, NULL);
        AS_TRY(as_af_values_load(&values[n], f->ds, *metric, run, f->error));
        metrics[n++] = *metric;
    }
    put_values(f, metrics, values, n);
    return ASSAY_OK;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static assay_status write_run(as_af_foreign *f, size_t index, as_af_values *values) {
    as_af_written_run run = as_af_run_at(f->ds, index);
    bool has_events = as_ds_intervals(f->ds) > 0;
    if (!values[0].has && !as_af_values_init(&values[0], f->ds)) return as_fail_memory(f->error, NULL);
    AS_TRY(look_at_values(f, run, &values[0]));
    uint64_t origin = has_events ? as_af_origin(f->ds, run) : 0;
    uint64_t id = as_af_put_run(f, index, origin);
    for (assay_id i = 0; i < f->ds->metrics.count; i++) {
        if (is_measured(f->ds, i)) as_af_put_measurement_type(f->out, f->ds, id, i + 1, i, f->is_real[i]);
    }
    AS_TRY(has_events ? as_af_write_events(f, run, id, origin) : as_af_write_tree(f, run, id));
    for (assay_id metric = 0; metric < f->ds->metrics.count;) AS_TRY(put_group(f, run, values, &metric));
    return f->fine ? ASSAY_OK : as_fail_memory(f->error, NULL);
}

static bool foreign_init(as_af_foreign *f) {
    size_t n = f->ds->contexts.count + 1;
    f->is_real = calloc(f->ds->metrics.count + 1, sizeof *f->is_real);
    f->is_there = calloc(n, sizeof *f->is_there);
    f->parents = calloc(n, sizeof *f->parents);
    f->places = calloc(n, sizeof *f->places);
    as_map_init(&f->run_ids, f->budget);
    return as_af_sort_attributes(f) && f->is_real && f->is_there && f->parents && f->places;
}

static void foreign_free(as_af_foreign *f) {
    free(f->is_real);
    free(f->is_there);
    free(f->parents);
    free(f->places);
    free(f->attributes);
    free(f->first_attribute);
    free(f->of_dataset);
    free(f->first_of_dataset);
    free(f->of_events);
    free(f->first_of_event);
    as_map_free(&f->run_ids);
}

assay_status as_af_write_foreign(as_writer *writer) {
    as_af_foreign f = {.ds = writer->dataset,
                       .out = writer->out,
                       .budget = as_ds_budget(writer->dataset),
                       .error = writer->error,
                       .next_id = 1,
                       .fine = true};
    as_af_values values[GROUP] = {0};
    assay_status status = foreign_init(&f) ? ASSAY_OK : as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK) find_parents(&f);
    as_output_text(f.out, AS_AF_SIGNATURE "\n");
    for (size_t i = 0; status == ASSAY_OK && i < as_af_runs(f.ds); i++) status = write_run(&f, i, values);
    for (size_t i = 0; i < GROUP; i++) as_af_values_free(&values[i]);
    foreign_free(&f);
    return status;
}

/* ---- what there is to say about it ------------------------------------------------------------------------------- */

static void lose(as_losses *losses, size_t n, const char *one, const char *many) {
    if (n) as_lose(losses, "%zu %s", n, n == 1 ? one : many);
}

/* Of a dataset with events only these are written: what else is in its call tree has no place, and sections have none
 * in a tree. */
static void lose_tree(const as_dataset *ds, as_losses *losses) {
    size_t n_without = 0, n_beside = 0;
    uint8_t *marks = calloc(ds->contexts.count + 1, sizeof *marks); /* 1: it has an event, 2: which is a section */
    losses->failed |= !marks;
    for (uint64_t i = 0; marks && i < as_ds_intervals(ds); i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        const char *kind = as_ds_text(ds, event.kind);
        if (event.context != ASSAY_NONE) marks[event.context] |= !kind || strcmp(kind, "region") == 0 ? 1 : 3;
    }
    for (assay_id i = 0; marks && i < ds->contexts.count; i++) {
        n_without += !marks[i];
        n_beside += marks[i] == 3 && as_ds_context(ds, i)->parent != ASSAY_NONE;
    }
    free(marks);
    lose(losses, n_without, "context without events, and its values", "contexts without events, and their values");
    if (n_beside)
        as_lose(losses, "where %zu context%s in the call tree (%s: these run beside it)", n_beside,
                n_beside == 1 ? " stands" : "s stand", n_beside == 1 ? "a section" : "sections");
}

void as_af_foreign_losses(const as_dataset *ds, as_losses *losses) {
    size_t n_derived = 0, n_other = 0, n_placeless = 0, n_records = 0;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        as_af_use use = as_af_use_of(ds, i);
        n_derived += use == AS_AF_USE_DERIVED;
        n_other += use == AS_AF_USE_NO_NUMBER;
    }
    for (size_t i = 0; i < ds->records.count; i++)
        n_records += as_table_rows(AS_AT(as_record_table, &ds->records, i).table);
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        const as_context *context = as_ds_context(ds, i);
        n_placeless += context->name == AS_NO_STR || context->role == AS_ROLE_PLACELESS;
    }
    as_lose_details(losses, ds, AS_HOLDS_SOURCE);
    if (as_ds_intervals(ds))
        lose_tree(ds, losses);
    else
        as_lose_asides(losses, ds, false);
    lose(losses, n_derived, "derived metric", "derived metrics");
    lose(losses, n_other, "metric whose values are no plain numbers", "metrics whose values are no plain numbers");
    lose(losses, n_records, "record with further keys", "records with further keys");
    if (n_placeless)
        as_lose(losses, "the values of %zu context%s without a place in the call tree", n_placeless,
                n_placeless == 1 ? "" : "s");
    as_lose_attributes(losses, ds, as_af_keeps_attribute);
}

void as_af_foreign_remarks(const as_dataset *ds, as_losses *remarks) {
    if (as_ds_intervals(ds) || !ds->contexts.count) return;
    assay_id metric = as_af_time_metric(ds);
    if (metric == ASSAY_NONE)
        as_lose(remarks, "there is no time, but regions need one: how long they last means nothing");
    else if (as_af_use_of(ds, metric) == AS_AF_USE_TIME)
        as_lose(remarks, "time is written in whole nanoseconds, in an order of call paths that is made up");
    else
        as_lose(remarks, "regions last as long as %s says, in an order that is made up",
                as_ds_text(ds, as_ds_metric(ds, metric)->name));
}
