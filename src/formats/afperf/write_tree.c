/* A call tree laid out in time: one region for each call path, in it those below it, one after the other. */
#include <math.h>
#include <stdlib.h>

#include "formats/afperf/write_foreign.h"

/* Beyond so many regions more than call paths visits are not shown as regions. */
enum { MOST_VISITS = 1000000 };

typedef struct layout {
    as_af_foreign *f;
    const as_dataset *ds;
    as_af_written_run run;
    uint64_t run_id;
    uint64_t *length, *own,
        *cursor; /* nanoseconds, by context: all of it, what is not below it, how far it is filled */
    as_af_values visits, covered;
    bool has_visits, has_covered;
    as_vec tags;  /* of char */
    as_vec stack; /* assay_id: regions that are open */
} layout;

uint64_t as_af_nanoseconds(double seconds) {
    double nanoseconds = seconds * 1e9;
    if (!(nanoseconds > 0)) return 0;
    return nanoseconds >= 9e18 ? (uint64_t)9e18 : (uint64_t)(nanoseconds + 0.5);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* What stands in the values of time; without, so much that each begins at a time of its own. */
static assay_status find_lengths(layout *l) {
    const as_dataset *ds = l->ds;
    assay_id metric = as_af_time_metric(ds);
    as_af_values time = {0};
    if (metric != ASSAY_NONE) {
        if (!as_af_values_init(&time, ds)) {
            as_af_values_free(&time);
            return as_fail_memory(l->f->error, NULL);
        }
        assay_status status = as_af_values_load(&time, ds, metric, l->run, l->f->error);
        if (status != ASSAY_OK) {
            as_af_values_free(&time);
            return status;
        }
    }
    double seconds = metric == ASSAY_NONE ? 0 : as_af_unit_seconds(ds, metric);
    for (assay_id i = (assay_id)ds->contexts.count; i-- > 0;) {
        if (!l->f->is_there[i]) continue;
        uint64_t below = l->own[i]; /* so far: what those below it have */
        bool is_known = metric != ASSAY_NONE && time.has[i];
        uint64_t length = is_known ? as_af_nanoseconds(as_number_real(time.numbers[i]) * seconds) : 0;
        if (metric == ASSAY_NONE) length = below + 2;
        l->length[i] = length > below ? length : below;
        l->own[i] = l->length[i] - below;
        assay_id parent = as_af_has_place(ds, i) ? l->f->parents[i] : ASSAY_NONE;
        if (parent != ASSAY_NONE) l->own[parent] += l->length[i] + (metric == ASSAY_NONE);
    }
    as_af_values_free(&time);
    return ASSAY_OK;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static void put_start(layout *l, assay_id context, uint64_t id, uint64_t at) {
    as_output *out = l->f->out;
    const as_context *about = as_ds_context(l->ds, context);
    as_output_text(out, "RegionStart");
    as_af_put_number(out, at);
    as_af_put_hex(out, l->run_id);
    as_af_put_hex(out, id);
    as_output_char(out, ',');
    as_af_put_text(out, as_ds_text(l->ds, about->name), as_str_size(&l->ds->strings, about->name));
    as_output_char(out, ',');
    l->tags.count = 0;
    l->f->fine &= as_af_context_tags(l->ds, context, &l->tags);
    as_af_put_text(out, l->tags.data ? l->tags.data : "", l->tags.count);
    as_output_char(out, '\n');
}

static void put_stop(layout *l, uint64_t id, uint64_t at) {
    as_output_text(l->f->out, "RegionStop");
    as_af_put_number(l->f->out, at);
    as_af_put_hex(l->f->out, id);
    as_output_char(l->f->out, '\n');
}

static uint64_t visits_of(const layout *l, assay_id context) {
    if (!l->has_visits || !l->visits.has[context]) return 1;
    double n = as_number_real(l->visits.numbers[context]);
    return n >= 1 ? (uint64_t)n : 1;
}

/* Further visits take no time: the first one has all of it. */
static void close_region(layout *l, assay_id context) {
    const as_af_place_of *place = &l->f->places[context];
    put_stop(l, place->id, place->end);
    for (uint64_t i = visits_of(l, context); i-- > 1;) {
        uint64_t id = l->f->next_id++;
        put_start(l, context, id, place->end);
        put_stop(l, id, place->end);
    }
}

static void close_until(layout *l, assay_id parent) {
    while (l->stack.count && AS_AT(assay_id, &l->stack, l->stack.count - 1) != parent)
        close_region(l, AS_AT(assay_id, &l->stack, --l->stack.count));
}

/* Behind the one before it, and where there is time to spare, one later: then no two begin at once. */
static uint64_t next_start(layout *l, assay_id parent, uint64_t *end_of_all, uint64_t length) {
    if (parent == ASSAY_NONE) {
        uint64_t start = *end_of_all;
        *end_of_all += length;
        return start;
    }
    if (l->own[parent]) {
        l->own[parent]--;
        l->cursor[parent]++;
    }
    uint64_t start = l->cursor[parent];
    l->cursor[parent] += length;
    return start;
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Intervals that begin together: the first lasts as long as all of them cover, the others what is left to the sum. */
static void put_section(layout *l, assay_id context, uint64_t start) {
    as_output *out = l->f->out;
    as_af_place_of *place = &l->f->places[context];
    uint64_t left = l->length[context], covered = left, n = visits_of(l, context);
    if (l->has_covered && l->covered.has[context]) {
        assay_id metric = as_af_metric_for(l->ds, AS_AF_USE_COVERED);
        double unit = as_af_unit_seconds(l->ds, metric);
        uint64_t nanoseconds = as_af_nanoseconds(as_number_real(l->covered.numbers[context]) * (unit > 0 ? unit : 1));
        if (nanoseconds < covered && nanoseconds >= covered / MOST_VISITS + 1) covered = nanoseconds;
    }
    *place = (as_af_place_of){.id = l->f->next_id++, .start = start, .end = start + covered, .is_section = true};
    as_output_text(out, "SectionInfo,");
    as_af_put_hex(out, l->run_id);
    as_af_put_hex(out, place->id);
    as_output_char(out, ',');
    as_af_put_text(out, as_ds_text(l->ds, as_ds_context(l->ds, context)->name),
                   strlen(as_ds_text(l->ds, as_ds_context(l->ds, context)->name)));
    as_output_text(out, ",\n");
    for (uint64_t i = 0; i < n || (left && covered); i++) {
        uint64_t length = left < covered ? left : covered;
        left -= length;
        as_output_text(out, "SectionStart");
        as_af_put_number(out, start);
        as_af_put_hex(out, place->id);
        as_af_put_hex(out, i);
        as_output_text(out, "\nSectionStop");
        as_af_put_number(out, start + length);
        as_af_put_hex(out, place->id);
        as_af_put_hex(out, i);
        as_output_char(out, '\n');
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static assay_status load_if_any(layout *l, as_af_use use, as_af_values *values, bool *has) {
    assay_id metric = as_af_metric_for(l->ds, use);
    if (metric == ASSAY_NONE) return ASSAY_OK;
    if (!as_af_values_init(values, l->ds)) return as_fail_memory(l->f->error, NULL);
    *has = true;
    return as_af_values_load(values, l->ds, metric, l->run, l->f->error);
}

/* Too many visits are none. */
static void limit_visits(layout *l) {
    double sum = 0;
    for (size_t i = 0; l->has_visits && i < l->visits.n; i++) {
        if (l->visits.has[i]) sum += as_number_real(l->visits.numbers[i]);
    }
    l->has_visits &= sum <= MOST_VISITS + (double)l->ds->contexts.count;
}

static void put_contexts(layout *l) {
    const as_dataset *ds = l->ds;
    uint64_t end_of_all = 0;
    for (assay_id i = 0; i < ds->contexts.count && l->f->fine; i++) {
        l->f->places[i].id = 0;
        if (!l->f->is_there[i] || !as_af_has_place(ds, i)) continue;
        assay_id parent = l->f->parents[i];
        close_until(l, parent);
        uint64_t start = next_start(l, parent, &end_of_all, l->length[i]);
        if (as_af_is_section(ds, i)) {
            put_section(l, i, start);
            continue;
        }
        l->f->places[i] = (as_af_place_of){.id = l->f->next_id++, .start = start, .end = start + l->length[i]};
        l->cursor[i] = start;
        put_start(l, i, l->f->places[i].id, start);
        l->f->fine &= as_vec_append(&l->stack, &i, 1);
    }
    close_until(l, ASSAY_NONE);
}

assay_status as_af_write_tree(as_af_foreign *f, as_af_written_run run, uint64_t run_id) {
    size_t n = f->ds->contexts.count + 1;
    layout l = {.f = f, .ds = f->ds, .run = run, .run_id = run_id};
    as_vec_init(&l.tags, 1, f->budget);
    as_vec_init(&l.stack, sizeof(assay_id), f->budget);
    l.length = calloc(n, sizeof *l.length);
    l.own = calloc(n, sizeof *l.own);
    l.cursor = calloc(n, sizeof *l.cursor);
    assay_status status = l.length && l.own && l.cursor ? ASSAY_OK : as_fail_memory(f->error, NULL);
    if (status == ASSAY_OK) status = find_lengths(&l);
    if (status == ASSAY_OK) status = load_if_any(&l, AS_AF_USE_VISITS, &l.visits, &l.has_visits);
    if (status == ASSAY_OK) status = load_if_any(&l, AS_AF_USE_COVERED, &l.covered, &l.has_covered);
    limit_visits(&l);
    if (status == ASSAY_OK) put_contexts(&l);
    as_af_values_free(&l.visits);
    as_af_values_free(&l.covered);
    as_vec_free(&l.tags);
    as_vec_free(&l.stack);
    free(l.length);
    free(l.own);
    free(l.cursor);
    if (status != ASSAY_OK || f->fine) return status;
    return as_fail_memory(f->error, NULL);
}
