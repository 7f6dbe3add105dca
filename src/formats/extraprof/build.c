/* From values of contexts to the dataset: contexts with their regions and tags, metrics, blocks. */
#include <stdio.h>

#include "formats/extraprof/extraprof.h"
#include "formats/tags.h"

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static bool add_column(as_ep_builder *b, as_metric about, as_str name, const char *device) {
    as_ep_column *column = as_vec_push(&b->columns);
    if (!column) return false;
    as_vec_init(&column->rows, sizeof(as_ep_row), &b->ds->budget);
    about.name = name;
    column->about = about;
    column->device = device;
    column->is_whole = true;
    return name != AS_NO_STR;
}

static bool add_fixed(as_ep_builder *b) {
    as_metric time = AS_METRIC_INIT, visits = AS_METRIC_INIT, bytes = AS_METRIC_INIT;
    time.kind = b->rules.is_inclusive ? AS_KIND_INCLUSIVE : AS_KIND_EXCLUSIVE;
    time.is_stored = b->rules.is_inclusive; /* children may take longer than what they are part of */
    time.unit = as_ds_intern_text(b->ds, "s");
    visits.kind = bytes.kind = AS_KIND_EXCLUSIVE;
    bytes.unit = as_ds_intern_text(b->ds, "B");
    bool fine = time.unit != AS_NO_STR && bytes.unit != AS_NO_STR &&
                add_column(b, time, as_ds_intern_text(b->ds, "time"), NULL) &&
                add_column(b, visits, as_ds_intern_text(b->ds, "visits"), NULL) &&
                add_column(b, bytes, as_ds_intern_text(b->ds, "bytes"), NULL);
    if (fine) AS_AT(as_ep_column, &b->columns, AS_EP_TIME).is_whole = false;
    return fine;
}

uint32_t as_ep_column_of(as_ep_builder *b, const as_ep_metric *from, bool is_gpu) {
    static const char energy[] = "energy";
    as_str name = as_ep_text(&b->names, from->name, from->size);
    uint64_t key = as_pair(is_gpu, name);
    uint32_t known = name == AS_NO_STR ? UINT32_MAX : as_map_get(&b->by_metric, key), id = (uint32_t)b->columns.count;
    if (known != AS_MAP_NONE || name == AS_NO_STR) return known;
    bool is_energy = !is_gpu && from->size >= sizeof energy - 1 && memcmp(from->name, energy, sizeof energy - 1) == 0;
    as_metric metric = AS_METRIC_INIT;
    metric.kind = is_gpu ? AS_KIND_NONE : AS_KIND_EXCLUSIVE;
    if (is_energy && (metric.unit = as_ds_intern_text(b->ds, "uJ")) == AS_NO_STR) return UINT32_MAX;
    bool fine = add_column(b, metric, name, is_gpu || from->device == 2 ? "GPU" : from->device == 1 ? "CPU" : NULL);
    if (!fine || !as_map_put(&b->by_metric, key, id)) return UINT32_MAX;
    AS_AT(as_ep_column, &b->columns, id).is_whole = !is_gpu;
    return id;
}

/* Those with values are metrics; where nothing has any, time is. */
static bool add_metrics(as_ep_builder *b) {
    bool has_any = false;
    for (size_t i = 0; i < b->columns.count; i++) has_any |= AS_AT(as_ep_column, &b->columns, i).rows.count > 0;
    for (size_t i = 0; i < b->columns.count; i++) {
        as_ep_column *column = &AS_AT(as_ep_column, &b->columns, i);
        column->metric = ASSAY_NONE;
        if (has_any ? !column->rows.count : i != AS_EP_TIME) continue;
        column->about.dtype = as_ds_intern_text(b->ds, column->is_whole ? "INT64" : "DOUBLE");
        if (column->about.dtype == AS_NO_STR) return false;
        column->metric = as_add_metric(b->ds, &column->about);
        if (column->metric == ASSAY_NONE) return false;
        if (column->device &&
            !as_add_attribute(b->ds, AS_OWNER_METRIC, column->metric, "device", as_cell_text(column->device)))
            return false;
    }
    return true;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static assay_id region_of(as_ep_builder *b, as_str name, as_str mangled, uint8_t type) {
    static const char *const kinds[AS_EP_TYPES] = {"function", "launch",   "kernel",  "memcpy", "memset",
                                                   "sync",     "overhead", "overlap", "memory"};
    uint64_t key = as_pair(type, name);
    uint32_t known = as_map_get(&b->regions, key);
    if (known != AS_MAP_NONE) return known;
    as_region region = AS_REGION_INIT;
    region.name = name;
    region.mangled = mangled;
    region.kind = as_ds_intern_text(b->ds, kinds[type]);
    assay_id id = region.kind == AS_NO_STR ? ASSAY_NONE : as_add_region(b->ds, &region);
    return id != ASSAY_NONE && as_map_put(&b->regions, key, id) ? id : ASSAY_NONE;
}

assay_id as_ep_context(as_ep_builder *b, assay_id parent, as_str name, as_str mangled, uint8_t type, uint8_t flags) {
    uint64_t key = as_pair(parent + 1, name);
    uint32_t known = b->is_one_point ? AS_MAP_NONE : as_map_get(&b->contexts, key);
    if (known != AS_MAP_NONE) return known;
    as_context context = AS_CONTEXT_INIT;
    context.parent = parent;
    context.region = region_of(b, name, mangled, type);
    context.is_aside = flags & AS_EP_OVERLAPS && type != AS_EP_OVERLAP;
    assay_id id = context.region == ASSAY_NONE ? ASSAY_NONE : as_tree_add(&b->tree, &context);
    as_ep_origin origin = {type, flags};
    bool fine = id != ASSAY_NONE && (b->is_one_point || as_map_put(&b->contexts, key, id)) &&
                as_vec_append(&b->origins, &origin, 1);
    return fine ? id : ASSAY_NONE;
}

/* What Extra-P says of nodes, in its own words: aggregations and comparisons of its viewer go by them. */
static size_t tags_of(as_ep_origin origin, as_tag tags[5]) {
    bool is_copy = origin.type == AS_EP_MEMCPY, is_async = origin.flags & AS_EP_ASYNC;
    size_t n = 0;
    if (origin.flags & AS_EP_OVERLAPS || origin.type == AS_EP_OVERLAP) {
        bool is_sum = origin.type == AS_EP_OVERLAP;
        tags[n++] = (as_tag){"tags:gpu__overlap", is_sum ? "agg" : "true"};
        if (origin.flags & AS_EP_OVERLAPS) tags[n++] = (as_tag){"tags:validation__ignore__num_measurements", "true"};
        if (is_sum) tags[n++] = (as_tag){"tags:agg__usage_disabled", "true"};
        if (is_sum) tags[n++] = (as_tag){"tags:agg__disabled", "true"};
        return n;
    }
    switch (origin.type) {
    case AS_EP_KERNEL:
        tags[n++] = (as_tag){"tags:gpu__kernel", "true"};
        tags[n++] = (as_tag){"tags:agg__category", "GPU"};
        tags[n++] = (as_tag){"tags:agg__category__comparison_cpu_gpu", "null"};
        break;
    case AS_EP_MEMCPY:
    case AS_EP_MEMSET:
        if (is_async) tags[n++] = (as_tag){"tags:agg__category", is_copy ? "GPU MEM" : "GPU"};
        tags[n++] = (as_tag){is_copy ? "tags:gpu__blocking__mem_copy" : "tags:gpu__blocking__mem_set",
                             is_async ? "false" : "true"};
        if (is_async) tags[n++] = (as_tag){"tags:agg__category__comparison_cpu_gpu", "null"};
        break;
    case AS_EP_OVERHEAD: tags[n++] = (as_tag){"tags:agg__category", "GPU OVERHEAD"}; break;
    case AS_EP_SYNC: tags[n++] = (as_tag){"tags:agg__category__comparison_cpu_gpu", "GPU SYNC"}; break;
    default: break;
    }
    return n;
}

static bool add_tags(as_ep_builder *b, const assay_id *new_ids) {
    for (size_t i = 0; i < b->origins.count; i++) {
        as_tag tags[5];
        size_t n = tags_of(AS_AT(as_ep_origin, &b->origins, i), tags);
        for (size_t k = 0; k < n; k++) {
            if (!as_add_tag(b->ds, new_ids[i], tags[k])) return false;
        }
    }
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

bool as_ep_add(as_ep_builder *b, uint32_t column, assay_id context, assay_id run, double value) {
    as_ep_row row = {context, run, value};
    return as_vec_append(&AS_AT(as_ep_column, &b->columns, column).rows, &row, 1);
}

/* contexts and starts of a block, from how many rows each context has: counts, whose entries become where its next row
 * goes. */
static bool list_contexts(as_ep_builder *b, as_block *block, uint64_t *counts) {
    size_t n_contexts = b->ds->contexts.count;
    for (size_t c = 0; c < n_contexts; c++) block->n_contexts += counts[c] > 0;
    assay_id *contexts = as_arena_array(&b->ds->arena, block->n_contexts, sizeof *contexts);
    uint64_t *starts = as_arena_array(&b->ds->arena, block->n_contexts + (size_t)1, sizeof *starts), next = 0;
    if (!contexts || !starts) return false;
    for (size_t c = 0, k = 0; c < n_contexts; c++) {
        if (!counts[c]) continue;
        contexts[k] = (assay_id)c;
        starts[k++] = next;
        next += counts[c];
        counts[c] = starts[k - 1];
    }
    starts[block->n_contexts] = next;
    block->contexts = contexts;
    block->starts = starts;
    return true;
}

static void put_value(const as_block *block, uint64_t at, double value) {
    if (block->dtype == AS_DTYPE_DOUBLE)
        ((double *)(uintptr_t)block->values)[at] = value;
    else
        ((int64_t *)(uintptr_t)block->values)[at] = (int64_t)value;
}

/* Rows by context, those of one in the order they came: by run. counts: room for a number a context. */
static bool add_block(as_ep_builder *b, as_ep_column *column, uint64_t *counts) {
    as_dataset *ds = b->ds;
    size_t n = column->rows.count;
    const as_ep_row *rows = column->rows.data;
    bool is_alone = ds->n_points == 0; /* else measurements are made of it, be it of one run */
    as_block block = {.metric = column->metric,
                      .run = is_alone ? 0 : ASSAY_NONE,
                      .dtype = column->is_whole ? AS_DTYPE_INT64 : AS_DTYPE_DOUBLE};
    memset(counts, 0, ds->contexts.count * sizeof *counts);
    for (size_t i = 0; i < n; i++) counts[rows[i].context]++;
    assay_id *runs = is_alone ? NULL : as_arena_array(&ds->arena, n, sizeof *runs);
    block.values = as_arena_array(&ds->arena, n, sizeof(double));
    if (!block.values || (!runs && !is_alone) || !list_contexts(b, &block, counts)) return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = counts[rows[i].context]++;
        put_value(&block, at, rows[i].value);
        if (runs) runs[at] = rows[i].run;
    }
    block.runs = runs;
    as_vec_free(&column->rows);
    return as_add_block(ds, &block);
}

static bool add_blocks(as_ep_builder *b, const assay_id *new_ids) {
    as_vec counts;
    as_vec_init(&counts, sizeof(uint64_t), &b->ds->budget);
    bool fine = as_vec_reserve(&counts, b->ds->contexts.count + 1);
    for (size_t i = 0; i < b->columns.count && fine; i++) {
        as_ep_column *column = &AS_AT(as_ep_column, &b->columns, i);
        for (size_t k = 0; k < column->rows.count; k++) {
            as_ep_row *row = &AS_AT(as_ep_row, &column->rows, k);
            row->context = new_ids[row->context];
        }
        fine = !column->rows.count || add_block(b, column, counts.data);
    }
    as_vec_free(&counts);
    return fine;
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

void as_ep_report(as_ep_builder *b, const as_ep_file *file, const char *path) {
    const as_ep_remarks *remarks = &file->remarks;
    as_place whole = as_place_file(path);
    if (file->version && (file->version_size != 3 || memcmp(file->version, "1.0", 3) != 0))
        as_add_problem(b->ds, AS_NOTE, whole, "version", "is of version %.*s; what is known is 1.0",
                       (int)(file->version_size < 32 ? file->version_size : 32), file->version);
    if (remarks->behind >= 0)
        as_add_problem(b->ds, AS_NOTE, as_place_offset(path, (uint64_t)remarks->behind), "bytes-behind",
                       "there are bytes behind the profile; they are not read");
    if (remarks->more_fields >= 0)
        as_add_problem(b->ds, AS_NOTE, as_place_offset(path, (uint64_t)remarks->more_fields), "unknown-fields",
                       "the profile has fields that nobody knows; they are not read");
    if (remarks->negative >= 0)
        as_add_problem(b->ds, AS_WARNING, as_place_offset(path, (uint64_t)remarks->negative), "negative-value",
                       "a number is below 0; it is taken as it is");
    if (remarks->inexact >= 0)
        as_add_problem(b->ds, AS_NOTE, as_place_offset(path, (uint64_t)remarks->inexact), "inexact-integer",
                       "an integer is above 2^53; the nearest real number stands for it");
    if (!file->nodes.count) as_add_problem(b->ds, AS_WARNING, whole, "no-data", "has no calls: the profile is empty");
}

static void report_dropped(as_ep_builder *b) {
    const as_ep_dropped *dropped = &b->dropped;
    if (!dropped->n_nodes) return;
    const char *path = as_ds_text(b->ds, dropped->first);
    const as_run *run = as_ds_run(b->ds, dropped->first_run);
    const char *file = as_ds_text(b->ds, run->source);
    char more[64] = "", points[64] = "";
    if (dropped->n_nodes > 1) snprintf(more, sizeof more, " (and %llu more)", (unsigned long long)dropped->n_nodes - 1);
    if (b->ds->n_points > 1)
        snprintf(points, sizeof points, " at %llu point%s", (unsigned long long)dropped->n_points,
                 dropped->n_points == 1 ? "" : "s");
    as_warn(b->reader, as_place_file(file ? file : b->reader->input->path), "subtree-dropped",
            "the calls below '%s'%s take longer than the call itself%s: it keeps all its time, and %llu call path%s "
            "left out; -O concurrent_threads=yes keeps them",
            path, more, points, (unsigned long long)dropped->n_contexts, dropped->n_contexts == 1 ? " is" : "s are");
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

assay_status as_ep_builder_init(as_ep_builder *b, as_reader *reader) {
    as_dataset *ds = reader->dataset;
    *b = (as_ep_builder){.reader = reader, .ds = ds, .rules = as_ep_rules_of(&reader->options)};
    b->dropped.first = AS_NO_STR;
    as_ep_names_init(&b->names, ds);
    as_tree_init(&b->tree, ds);
    as_map_init(&b->contexts, &ds->budget);
    as_map_init(&b->regions, &ds->budget);
    as_map_init(&b->by_metric, &ds->budget);
    as_vec_init(&b->origins, sizeof(as_ep_origin), &ds->budget);
    as_vec_init(&b->columns, sizeof(as_ep_column), &ds->budget);
    return add_fixed(b) ? ASSAY_OK : as_reader_memory(reader);
}

void as_ep_builder_free(as_ep_builder *b) {
    for (size_t i = 0; i < b->columns.count; i++) as_vec_free(&AS_AT(as_ep_column, &b->columns, i).rows);
    as_vec_free(&b->columns);
    as_vec_free(&b->origins);
    as_map_free(&b->by_metric);
    as_map_free(&b->regions);
    as_map_free(&b->contexts);
    as_tree_free(&b->tree);
    as_ep_names_free(&b->names);
}

assay_status as_ep_finish(as_ep_builder *b) {
    const assay_id *new_ids;
    bool has_first = !b->dropped.n_nodes || b->dropped.first != AS_NO_STR;
    bool fine = has_first && as_tree_finish(&b->tree, &new_ids) && add_metrics(b) && add_tags(b, new_ids) &&
                add_blocks(b, new_ids);
    if (!fine) return as_reader_memory(b->reader);
    report_dropped(b);
    return ASSAY_OK;
}
