#include "dataset/dataset.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "core/search.h"

static uint64_t default_memory_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : 0;
}

/* Every vector of a dataset with the size of its elements: one list for making and freeing them. */
#define EACH_VECTOR(ds, DO)                                                                                            \
    DO((ds)->parameters, as_str)                                                                                       \
    DO((ds)->coordinates, double)                                                                                      \
    DO((ds)->runs, as_run)                                                                                             \
    DO((ds)->metrics, as_metric)                                                                                       \
    DO((ds)->regions, as_region)                                                                                       \
    DO((ds)->contexts, as_context)                                                                                     \
    DO((ds)->locations, as_location)                                                                                   \
    DO((ds)->blocks, as_block)                                                                                         \
    DO((ds)->block_of_metric, assay_id)                                                                                \
    DO((ds)->profiles, as_profile)                                                                                     \
    DO((ds)->holdings, as_holding)                                                                                     \
    DO((ds)->series, as_series)                                                                                        \
    DO((ds)->measurements, as_measurement)                                                                             \
    DO((ds)->summaries, as_summary)                                                                                    \
    DO((ds)->events, as_event)                                                                                         \
    DO((ds)->traces.lines, as_trace_line)                                                                              \
    DO((ds)->model_sets, as_model_set)                                                                                 \
    DO((ds)->models, as_model)                                                                                         \
    DO((ds)->segments, as_segment)                                                                                     \
    DO((ds)->segment_costs, as_segment_costs)                                                                          \
    DO((ds)->terms, as_term)                                                                                           \
    DO((ds)->attributes, as_attribute)                                                                                 \
    DO((ds)->records, as_record_table)

as_dataset *as_dataset_new_below(as_budget *parent, uint64_t memory_limit) {
    as_dataset *ds = calloc(1, sizeof *ds);
    if (!ds) return NULL;
    ds->budget.parent = parent;
    ds->budget.limit = memory_limit ? memory_limit : default_memory_limit();
    as_arena_init(&ds->arena, &ds->budget);
    as_strings_init(&ds->strings, &ds->arena);
    ds->format = "";
    ds->format_version = ds->path = ds->source_root = AS_NO_STR;
    ds->first_metric = ASSAY_NONE;
    ds->traces.ticks_per_second = 1;
#define MAKE(vector, type) as_vec_init(&(vector), sizeof(type), &ds->budget);
    EACH_VECTOR(ds, MAKE)
#undef MAKE
    as_map_init(&ds->profile_of, &ds->budget);
    as_map_init(&ds->block_of_run, &ds->budget);
    as_problems_init(&ds->problems, &ds->budget);
    pthread_mutex_init(&ds->loading, NULL);
    pthread_mutex_init(&ds->checking, NULL);
    /* Room for the first problems: short of memory, nobody would hear of them */
    if (as_arena_alloc(&ds->problems.texts, 1)) return ds;
    as_dataset_free(ds);
    return NULL;
}

as_dataset *as_dataset_new(uint64_t memory_limit) { return as_dataset_new_below(NULL, memory_limit); }

static void release_holdings(as_dataset *ds) {
    for (size_t i = ds->holdings.count; i-- > 0;) {
        const as_holding *holding = &AS_AT(as_holding, &ds->holdings, i);
        holding->release(holding->object);
    }
    ds->holdings.count = 0;
    ds->derivations = NULL;
}

void as_dataset_free(as_dataset *ds) {
    if (!ds) return;
    for (size_t i = 0; i < ds->records.count; i++) as_table_free(AS_AT(as_record_table, &ds->records, i).table);
    release_holdings(ds);
    as_map_free(&ds->profile_of);
    as_map_free(&ds->block_of_run);
    as_problems_free(&ds->problems);
    pthread_mutex_destroy(&ds->loading);
    pthread_mutex_destroy(&ds->checking);
#define FREE(vector, type) as_vec_free(&(vector));
    EACH_VECTOR(ds, FREE)
#undef FREE
    as_strings_free(&ds->strings);
    as_arena_free(&ds->arena);
    free(ds);
}

void as_dataset_forget_data(as_dataset *ds) {
    for (size_t i = 0; i < ds->records.count; i++) as_table_free(AS_AT(as_record_table, &ds->records, i).table);
    release_holdings(ds);
    as_map_free(&ds->profile_of);
    as_map_init(&ds->profile_of, &ds->budget);
    as_map_free(&ds->block_of_run);
    as_map_init(&ds->block_of_run, &ds->budget);
#define FORGET(vector, type) (vector).count = 0;
    EACH_VECTOR(ds, FORGET)
#undef FORGET
    ds->n_points = 0;
    ds->summary_source = NULL;
    ds->measurement_source = NULL;
    ds->event_source = NULL;
    ds->n_left_out = 0;
    ds->of_format = NULL;
    ds->traces.n_samples = ds->n_sparse_values = 0;
}

/* ---- getters ----------------------------------------------------------------------------------------------------- */

const as_run *as_ds_run(const as_dataset *ds, assay_id id) { return &AS_AT(as_run, &ds->runs, id); }
const as_metric *as_ds_metric(const as_dataset *ds, assay_id id) { return &AS_AT(as_metric, &ds->metrics, id); }
const as_location *as_ds_location(const as_dataset *ds, assay_id id) { return &AS_AT(as_location, &ds->locations, id); }
const as_series *as_ds_series(const as_dataset *ds, size_t index) { return &AS_AT(as_series, &ds->series, index); }
const as_block *as_ds_block(const as_dataset *ds, size_t index) { return &AS_AT(as_block, &ds->blocks, index); }
const as_measurement *as_ds_measurement(const as_dataset *ds, uint64_t index) {
    return &AS_AT(as_measurement, &ds->measurements, index);
}
const as_model *as_ds_model(const as_dataset *ds, assay_id id) { return &AS_AT(as_model, &ds->models, id); }
const as_model_set *as_ds_model_set(const as_dataset *ds, assay_id id) {
    return &AS_AT(as_model_set, &ds->model_sets, id);
}
const as_segment *as_ds_segment(const as_dataset *ds, size_t index) { return &AS_AT(as_segment, &ds->segments, index); }
const as_segment_costs *as_ds_segment_costs(const as_dataset *ds, assay_id model, uint32_t segment) {
    size_t low = 0, high = ds->segment_costs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const as_segment_costs *costs = &AS_AT(as_segment_costs, &ds->segment_costs, middle);
        if (costs->model == model && costs->segment == segment) return costs;
        if (costs->model < model || (costs->model == model && costs->segment < segment))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
const as_term *as_ds_term(const as_dataset *ds, size_t index) { return &AS_AT(as_term, &ds->terms, index); }
const as_attribute *as_ds_attribute(const as_dataset *ds, size_t index) {
    return &AS_AT(as_attribute, &ds->attributes, index);
}
const as_problem *as_ds_problem(const as_dataset *ds, size_t index) { return as_problems_at(&ds->problems, index); }
size_t as_ds_problems(const as_dataset *ds) { return __atomic_load_n(&ds->problems.count, __ATOMIC_ACQUIRE); }
uint64_t as_ds_problems_dropped(const as_dataset *ds) {
    return __atomic_load_n(&ds->problems.n_dropped, __ATOMIC_RELAXED);
}
const double *as_ds_point(const as_dataset *ds, assay_id point) {
    return &AS_AT(double, &ds->coordinates, (size_t)point * ds->parameters.count);
}

as_table *as_ds_records(const as_dataset *ds, const char *name) {
    for (size_t i = 0; i < ds->records.count; i++) {
        const as_record_table *records = &AS_AT(as_record_table, &ds->records, i);
        if (strcmp(as_ds_text(ds, records->name), name) == 0) return records->table;
    }
    return NULL;
}

uint64_t as_ds_values(const as_dataset *ds) {
    uint64_t n = ds->n_sparse_values;
    for (size_t i = 0; i < ds->blocks.count; i++) n += as_block_rows(as_ds_block(ds, i));
    for (size_t i = 0; i < ds->profiles.count; i++) n += as_profile_values(&AS_AT(as_profile, &ds->profiles, i));
    return n;
}

uint64_t as_ds_events(const as_dataset *ds) { return as_ds_intervals(ds) + ds->traces.n_samples; }

assay_status as_ds_summaries(const as_dataset *ds, const as_summary **summaries, size_t *n, assay_error *error) {
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    assay_status status = ASSAY_OK;
    pthread_mutex_lock(&mutable->loading);
    if (ds->summary_source) status = ds->summary_source->load(ds->summary_source, mutable, error);
    if (status == ASSAY_OK) mutable->summary_source = NULL;
    if (status != ASSAY_OK) mutable->summaries.count = 0; /* those of half a load */
    pthread_mutex_unlock(&mutable->loading);
    *summaries = ds->summaries.data;
    *n = ds->summaries.count;
    return status;
}

size_t as_ds_leaves(const as_dataset *ds) {
    size_t n = 0;
    for (size_t i = 0; i < ds->locations.count; i++) n += as_ds_location(ds, (assay_id)i)->leaf;
    return n;
}

const as_block *as_ds_metric_block(const as_dataset *ds, assay_id metric) {
    assay_id index = metric < ds->block_of_metric.count ? AS_AT(assay_id, &ds->block_of_metric, metric) : ASSAY_NONE;
    return index == ASSAY_NONE ? NULL : as_ds_block(ds, index);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

as_number as_block_value(const as_block *block, uint64_t row) {
    switch (block->dtype) {
    case AS_DTYPE_INT64: return (as_number){.kind = AS_INT, .i = ((const int64_t *)block->values)[row]};
    case AS_DTYPE_UINT64: {
        uint64_t value = ((const uint64_t *)block->values)[row];
        return value <= INT64_MAX ? (as_number){.kind = AS_INT, .i = (int64_t)value}
                                  : (as_number){.kind = AS_UINT, .u = value};
    }
    default: return (as_number){.kind = AS_REAL, .r = ((const double *)block->values)[row]};
    }
}

double as_block_real(const as_block *block, uint64_t row) {
    if (block->dtype == AS_DTYPE_DOUBLE) return ((const double *)block->values)[row];
    return as_number_real(as_block_value(block, row));
}

uint32_t as_block_find(const as_block *block, assay_id context) {
    uint32_t i = (uint32_t)as_first_not_below(block->contexts, block->n_contexts, context);
    return i < block->n_contexts && block->contexts[i] == context ? i : UINT32_MAX;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool as_point_label(const as_dataset *ds, assay_id point, as_vec *out) {
    const double *coordinates = as_ds_point(ds, point);
    out->count = 0;
    for (size_t i = 0; i < ds->parameters.count; i++) {
        char number[AS_NUMBER_SIZE];
        size_t n = as_real_format(coordinates[i], number);
        if (!as_vec_append(out, i ? "," : "(", 1) || !as_vec_append(out, number, n)) return false;
    }
    return as_vec_append(out, ")", 2); /* with the NUL */
}

bool as_ds_callpaths(const as_dataset *ds, assay_id **callpaths, size_t *n) {
    *n = 0;
    for (size_t i = 0; i < ds->contexts.count; i++) *n += as_ds_context(ds, (assay_id)i)->is_callpath;
    assay_id *ids = *callpaths = malloc((*n + 1) * sizeof *ids);
    if (!ids) {
        *n = 0;
        return false;
    }
    for (size_t i = 0; i < ds->contexts.count; i++) {
        const as_context *context = as_ds_context(ds, (assay_id)i);
        if (context->is_callpath) ids[context->callpath_order] = (assay_id)i;
    }
    return true;
}

static bool is_root_of_kind(const as_dataset *ds, assay_id context, const char *wanted) {
    const as_context *c = as_ds_context(ds, context);
    if (c->parent != ASSAY_NONE || c->region == ASSAY_NONE) return false;
    const char *kind = as_ds_text(ds, as_ds_region(ds, c->region)->kind);
    return kind && strcmp(kind, wanted) == 0;
}

bool as_context_is_root(const as_dataset *ds, assay_id context) { return is_root_of_kind(ds, context, "root"); }

bool as_context_is_section(const as_dataset *ds, assay_id context) { return is_root_of_kind(ds, context, "section"); }

bool as_region_is_place(const as_dataset *ds, assay_id region) {
    const char *kind = region == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_region(ds, region)->kind);
    return kind && (strcmp(kind, "process") == 0 || strcmp(kind, "thread") == 0);
}

bool as_location_is_gpu(const as_dataset *ds, assay_id location) {
    static const char *const kinds[] = {"device", "stream", "accelerator", "accelerator stream", NULL};
    const char *kind = as_ds_text(ds, as_ds_location(ds, location)->kind);
    for (size_t i = 0; kind && kinds[i]; i++) {
        if (strcmp(kind, kinds[i]) == 0) return true;
    }
    return kind && strncasecmp(kind, "gpu", 3) == 0;
}

bool as_ds_has_wholes(const as_dataset *ds) {
    assay_id id = 0, n = (assay_id)AS_COUNT(ds, contexts);
    while (id < n && (as_context_is_section(ds, id) || as_ds_context(ds, id)->is_aside ||
                      as_ds_context(ds, id)->role == AS_ROLE_PLACELESS))
        id += as_ds_context(ds, id)->subtree;
    return id < n;
}

/* What views ask again and again of all contexts, of which there may be millions; found once, and anew where contexts
 * were added. */
enum { HAS_ROLES = 1, HAS_ASIDES = 2, HAS_CALLING_LINES = 4, HAS_PLACES = 8, LOOKED_THROUGH = 16, SEEN_BITS = 5 };

/* Whether as_region_is_place() holds for some region: there may be a million of them, so kinds are told apart by their
 * ids. */
static bool find_places(const as_dataset *ds) {
    as_str process = as_find(&ds->strings, "process", strlen("process")),
           thread = as_find(&ds->strings, "thread", strlen("thread"));
    if (process == AS_NO_STR && thread == AS_NO_STR) return false;
    for (assay_id id = 0; id < AS_COUNT(ds, regions); id++) {
        as_str kind = as_ds_region(ds, id)->kind;
        if (kind != AS_NO_STR && (kind == process || kind == thread)) return true;
    }
    return false;
}

static unsigned look_through(const as_dataset *ds) {
    uint64_t *seen = &((as_dataset *)(uintptr_t)ds)->seen_contexts, n = AS_COUNT(ds, contexts);
    uint64_t known = __atomic_load_n(seen, __ATOMIC_RELAXED), found = n << SEEN_BITS | LOOKED_THROUGH;
    if (known >> SEEN_BITS == n && known & LOOKED_THROUGH) return (unsigned)(known & (LOOKED_THROUGH - 1));
    const as_context *contexts = ds->contexts.data;
    as_str line = as_find(&ds->strings, "line", strlen("line")),
           instruction = as_find(&ds->strings, "instruction", strlen("instruction"));
    for (size_t i = 0; i < n; i++) {
        found |= (contexts[i].role != AS_ROLE_CALL ? HAS_ROLES : 0u) | (contexts[i].is_aside ? HAS_ASIDES : 0u);
        if (contexts[i].role != AS_ROLE_INNER || contexts[i].subtree == 1 || contexts[i].region == ASSAY_NONE) continue;
        as_str kind = as_ds_region(ds, contexts[i].region)->kind;
        if (kind != AS_NO_STR && (kind == line || kind == instruction)) found |= HAS_CALLING_LINES;
    }
    if (find_places(ds)) found |= HAS_PLACES;
    __atomic_store_n(seen, found, __ATOMIC_RELAXED);
    return (unsigned)(found & (LOOKED_THROUGH - 1));
}

bool as_ds_has_roles(const as_dataset *ds) { return look_through(ds) & HAS_ROLES; }

bool as_ds_has_calling_lines(const as_dataset *ds) { return look_through(ds) & HAS_CALLING_LINES; }

bool as_ds_names_places(const as_dataset *ds) { return look_through(ds) & HAS_PLACES; }

size_t as_ds_asides(const as_dataset *ds) {
    size_t n = 0;
    if (!(look_through(ds) & HAS_ASIDES)) return 0;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts);
         id += as_ds_context(ds, id)->is_aside ? as_ds_context(ds, id)->subtree : 1)
        n += as_ds_context(ds, id)->is_aside;
    return n;
}

bool as_ds_find_asides(const as_dataset *ds, bool **out) {
    *out = NULL;
    if (!as_ds_asides(ds)) return true;
    bool *asides = *out = malloc(AS_COUNT(ds, contexts) * sizeof *asides);
    for (assay_id id = 0; asides && id < AS_COUNT(ds, contexts); id++) {
        const as_context *context = as_ds_context(ds, id);
        asides[id] = context->is_aside || (context->parent != ASSAY_NONE && asides[context->parent]);
    }
    return asides != NULL;
}

/* Contexts on their way up to the root; ds: whose they are, or NULL where they are not in one yet. */
typedef struct climb {
    const as_dataset *ds;
    const as_strings *strings;
    const as_context *contexts;
} climb;

/* The context above that has a place in paths, or ASSAY_NONE. */
static assay_id above(const climb *c, assay_id context) {
    assay_id parent = c->contexts[context].parent;
    return parent != ASSAY_NONE && c->ds && as_context_is_root(c->ds, parent) ? ASSAY_NONE : parent;
}

/* A chain is walked twice instead of recursing: trees may be deep. */
static bool join_path(const climb *c, assay_id context, as_vec *out) {
    size_t size = 0;
    if (c->ds && as_context_is_root(c->ds, context)) context = ASSAY_NONE;
    for (assay_id id = context, next; id != ASSAY_NONE; id = next) {
        next = above(c, id);
        size += as_str_size(c->strings, c->contexts[id].name) + (next == ASSAY_NONE ? 0 : 2);
    }
    out->count = 0;
    if (!as_vec_reserve(out, size + 1)) return false;
    char *at = (char *)out->data + size;
    *at = '\0';
    for (assay_id id = context, next; id != ASSAY_NONE; id = next) {
        as_str name = c->contexts[id].name;
        size_t n = as_str_size(c->strings, name);
        at -= n;
        if (n) memcpy(at, as_str_text(c->strings, name), n);
        next = above(c, id);
        if (next != ASSAY_NONE) memcpy(at -= 2, "->", 2);
    }
    out->count = size + 1;
    return true;
}

bool as_path_join(const as_strings *strings, const as_context *contexts, assay_id context, as_vec *out) {
    return join_path(&(climb){NULL, strings, contexts}, context, out);
}

const char *as_context_source_id(const as_dataset *ds, assay_id context, char digits[AS_NUMBER_SIZE]) {
    const as_context *c = as_ds_context(ds, context);
    if (!c->is_numbered) return as_ds_text(ds, c->source_id);
    as_uint_format(c->source_id, digits);
    return digits;
}

bool as_context_path(const as_dataset *ds, assay_id context, as_vec *out) {
    return join_path(&(climb){ds, &ds->strings, ds->contexts.data}, context, out);
}

bool as_context_path_end(const as_dataset *ds, assay_id context, size_t most, as_vec *out, bool *is_whole) {
    const climb c = {ds, &ds->strings, ds->contexts.data};
    size_t size = 0, left;
    assay_id id = as_context_is_root(ds, context) ? ASSAY_NONE : context;
    for (assay_id next; id != ASSAY_NONE && size <= most; id = next) {
        next = above(&c, id);
        size += as_str_size(c.strings, c.contexts[id].name) + (next == ASSAY_NONE ? 0 : 2);
    }
    if (is_whole) *is_whole = size <= most;
    if (size <= most) return as_context_path(ds, context, out);
    out->count = 0;
    if (!as_vec_reserve(out, most + 1)) return false;
    char *at = (char *)out->data + most;
    *at = '\0';
    for (id = context, left = most; left; id = as_ds_context(ds, id)->parent) {
        as_str name = as_ds_context(ds, id)->name;
        size_t n = as_str_size(&ds->strings, name), taken = n < left ? n : left;
        if (taken) memcpy(at -= taken, as_ds_text(ds, name) + (n - taken), taken);
        left -= taken;
        for (size_t i = 2; i-- > 0 && left; left--) *--at = "->"[i];
    }
    out->count = most + 1;
    return true;
}

const char *as_kind_name(as_metric_kind kind) {
    static const char *const names[] = {"none", "inclusive", "exclusive", "point", "lexical", "derived"};
    return names[kind];
}

const char *as_scaling_name(as_scaling scaling) {
    static const char *const names[] = {"weak", "weak_threaded", "strong"};
    return names[scaling];
}

const char *as_severity_name(as_severity severity) {
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

const char *as_owner_name(as_owner owner) {
    static const char *const names[] = {"dataset", "run", "metric", "region", "context", "location", "event", "record"};
    return names[owner];
}
