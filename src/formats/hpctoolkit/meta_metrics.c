/* meta.db: metrics, one for each scope that values are stored in, and the statistics of the summary profile. */
#include "core/number.h"
#include "formats/hpctoolkit/meta.h"
#include "formats/hpctoolkit/metrics.h"

enum { HEADER_SIZE = 0x1b, METRIC_SIZE = 32, INSTANCE_SIZE = 16, SUMMARY_SIZE = 24, SCOPE_SIZE = 16 };
enum { DRAFT_METRIC_SIZE = 24, DRAFT_INSTANCE_SIZE = 24, DRAFT_SUMMARY_SIZE = 16 };
enum { COMBINE_SUM, COMBINE_MIN, COMBINE_MAX };

/* What a metric has in one scope. */
typedef struct instance {
    uint32_t of; /* number of the metric that it was last seen in, + 1 */
    assay_id metric;
} instance;

typedef struct metrics {
    as_meta *meta;
    uint32_t instance_size, summary_size; /* of elements */
    as_meta_table scopes;
    instance *instances;    /* of each scope */
    as_map by_id;           /* id of profiles -> metric */
    uint64_t elements_left; /* instances and summaries that fit into the file */
    as_str dtype;
    as_vec group; /* assay_id: those of the metric at hand */
} metrics;

static assay_status memory_is_out(const metrics *m) { return as_fail_memory(m->meta->reader->error, m->meta->path); }

/* ---- one metric in one scope ------------------------------------------------------------------------------------- */

static as_metric_kind kind_of(const char *scope) {
    if (strcmp(scope, "execution") == 0) return AS_KIND_INCLUSIVE;
    if (strcmp(scope, "function") == 0) return AS_KIND_EXCLUSIVE;
    if (strcmp(scope, "point") == 0) return AS_KIND_POINT;
    return strcmp(scope, "lex_aware") == 0 ? AS_KIND_LEXICAL : AS_KIND_NONE;
}

static const char *text_or_empty(const as_dataset *ds, as_str text) {
    return text == AS_NO_STR ? "" : as_ds_text(ds, text);
}

/* A row of the dataset. ASSAY_NONE when memory is out. */
static assay_id new_metric(metrics *m, as_str name, const char *scope, uint16_t id) {
    as_dataset *ds = m->meta->ds;
    as_metric metric = AS_METRIC_INIT;
    char digits[AS_NUMBER_SIZE];
    metric.source_id = as_ds_intern(ds, digits, as_uint_format(id, digits));
    metric.name = name != AS_NO_STR ? name : as_ds_intern(ds, "", 0);
    metric.dtype = m->dtype;
    metric.kind = kind_of(scope);
    size_t size;
    const char *unit = as_hpc_unit(text_or_empty(ds, name), &size);
    if (unit) metric.unit = as_ds_intern(ds, unit, size);
    if (metric.source_id == AS_NO_STR || metric.name == AS_NO_STR || (unit && metric.unit == AS_NO_STR))
        return ASSAY_NONE;
    assay_id added = as_add_metric(ds, &metric);
    if (added == ASSAY_NONE || metric.kind != AS_KIND_NONE) return added;
    return as_add_attribute(ds, AS_OWNER_METRIC, added, "scope", as_cell_text(scope)) ? added : ASSAY_NONE;
}

static assay_status add_instance(metrics *m, uint64_t offset, as_str name, as_str scope, uint16_t id, assay_id *out) {
    as_meta *meta = m->meta;
    as_dataset *ds = meta->ds;
    *out = as_map_get(&m->by_id, id);
    if (*out != AS_MAP_NONE) {
        as_warn(meta->reader, as_place_offset(meta->path, offset), "metric-twice",
                "metric id %u is that of %s, and of %s as well: their values cannot be told apart", id,
                as_ds_text(ds, as_ds_metric(ds, *out)->name), text_or_empty(ds, name));
        return ASSAY_OK;
    }
    *out = new_metric(m, name, text_or_empty(ds, scope), id);
    as_hpc_metric meaning = {id, *out};
    bool fine = *out != ASSAY_NONE && as_map_put(&m->by_id, id, *out) && as_vec_append(&meta->metrics, &meaning, 1) &&
                as_vec_append(&m->group, out, 1);
    return fine ? ASSAY_OK : memory_is_out(m);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static const char *statistic_name(const char *formula, unsigned combine) {
    if (strcmp(formula, "$$") == 0)
        return combine == COMBINE_SUM ? "sum" : combine == COMBINE_MIN ? "min" : combine == COMBINE_MAX ? "max" : NULL;
    if (combine != COMBINE_SUM) return NULL;
    return strcmp(formula, "1") == 0 ? "count" : strcmp(formula, "($$^2)") == 0 ? "sumsq" : NULL;
}

/* formula_at: where the pointer to the formula is. */
static assay_status add_statistic(metrics *m, assay_id metric, uint64_t formula_at, unsigned combine, uint16_t id) {
    as_meta *meta = m->meta;
    as_str formula;
    AS_TRY(as_meta_text(meta, formula_at, &formula));
    as_hpc_statistic statistic = {id, metric, statistic_name(text_or_empty(meta->ds, formula), combine)};
    if (!statistic.name) return ASSAY_OK;
    return as_vec_append(&meta->statistics, &statistic, 1) ? ASSAY_OK : memory_is_out(m);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* An array that belongs to one metric. They do not share their elements, so all of them together fit into the file. */
static assay_status find_elements(metrics *m, uint64_t offset, uint64_t at, uint32_t n, uint32_t size, uint32_t least,
                                  const char *what, as_meta_table *out) {
    AS_TRY(as_meta_find_table(m->meta, offset, at, n, size, least, what, out));
    if (n > m->elements_left) return as_meta_bad(m->meta, offset, "overlap", "%s lie one inside the other", what);
    m->elements_left -= n;
    return ASSAY_OK;
}

static assay_status read_metric(metrics *m, uint32_t number, uint64_t at) {
    as_meta *meta = m->meta;
    as_str name, scope;
    as_meta_table instances, summaries;
    uint32_t index;
    AS_TRY(as_meta_text(meta, at, &name));
    AS_TRY(find_elements(m, at + 0x08, as_meta_u64(meta, at + 0x08), as_meta_u16(meta, at + 0x18), m->instance_size,
                         INSTANCE_SIZE, "scopes of a metric", &instances));
    AS_TRY(find_elements(m, at + 0x10, as_meta_u64(meta, at + 0x10), as_meta_u16(meta, at + 0x1a), m->summary_size,
                         SUMMARY_SIZE, "statistics of a metric", &summaries));
    for (uint32_t i = 0; i < instances.n; i++) {
        uint64_t one = instances.at + (uint64_t)i * instances.size;
        assay_id added;
        AS_TRY(as_meta_index(meta, one, as_meta_u64(meta, one), &m->scopes, "scope", &index));
        AS_TRY(as_meta_text(meta, m->scopes.at + (uint64_t)index * m->scopes.size, &scope));
        AS_TRY(add_instance(m, one, name, scope, as_meta_u16(meta, one + 8), &added));
        m->instances[index] = (instance){number + 1, added};
    }
    for (uint32_t i = 0; i < summaries.n; i++) {
        uint64_t one = summaries.at + (uint64_t)i * summaries.size;
        AS_TRY(as_meta_index(meta, one, as_meta_u64(meta, one), &m->scopes, "scope", &index));
        if (m->instances[index].of == number + 1)
            AS_TRY(add_statistic(m, m->instances[index].metric, one + 8, meta->data[one + 0x10],
                                 as_meta_u16(meta, one + 0x12)));
    }
    return ASSAY_OK;
}

static assay_status read_draft_metric(metrics *m, uint64_t at) {
    as_meta *meta = m->meta;
    as_str name, scope;
    as_meta_table instances, summaries;
    AS_TRY(as_meta_text(meta, at, &name));
    AS_TRY(find_elements(m, at + 0x10, as_meta_u64(meta, at + 0x10), as_meta_u16(meta, at + 0x08), m->instance_size,
                         DRAFT_INSTANCE_SIZE, "scopes of a metric", &instances));
    for (uint32_t i = 0; i < instances.n; i++) {
        uint64_t one = instances.at + (uint64_t)i * instances.size;
        assay_id added;
        AS_TRY(as_meta_text(meta, one, &scope));
        AS_TRY(add_instance(m, one, name, scope, as_meta_u16(meta, one + 0x0a), &added));
        AS_TRY(find_elements(m, one + 0x10, as_meta_u64(meta, one + 0x10), as_meta_u16(meta, one + 0x08),
                             m->summary_size, DRAFT_SUMMARY_SIZE, "statistics of a metric", &summaries));
        for (uint32_t k = 0; k < summaries.n; k++) {
            uint64_t summary = summaries.at + (uint64_t)k * summaries.size;
            AS_TRY(add_statistic(m, added, summary, meta->data[summary + 8], as_meta_u16(meta, summary + 0x0a)));
        }
    }
    return ASSAY_OK;
}

static assay_status read_all(metrics *m, const as_meta_table *table) {
    as_meta *meta = m->meta;
    uint64_t at = meta->sections[AS_META_METRICS];
    if (!meta->is_draft && table->n) {
        if (!as_meta_has(meta, at, HEADER_SIZE))
            return as_meta_bad(meta, at, "outside-file", "the section Metrics is cut off");
        AS_TRY(as_meta_find_table(meta, at + 0x10, as_meta_u64(meta, at + 0x10), as_meta_u16(meta, at + 0x18),
                                  meta->data[at + 0x1a], SCOPE_SIZE, "scopes", &m->scopes));
    }
    m->instances = as_arena_array(&meta->ds->arena, m->scopes.n, sizeof *m->instances);
    m->dtype = as_ds_intern_text(meta->ds, "DOUBLE");
    if (!m->instances || m->dtype == AS_NO_STR) return memory_is_out(m);
    for (uint32_t i = 0; i < table->n; i++) {
        uint64_t one = table->at + (uint64_t)i * table->size;
        m->group.count = 0;
        AS_TRY(meta->is_draft ? read_draft_metric(m, one) : read_metric(m, i, one));
        as_hpc_pair_metrics(meta->ds, m->group.data, m->group.count);
    }
    return ASSAY_OK;
}

assay_status as_meta_read_metrics(as_meta *meta) {
    uint64_t at = meta->sections[AS_META_METRICS];
    if (!at) return ASSAY_OK;
    metrics m = {.meta = meta,
                 .instance_size = meta->data[at + 0x0d],
                 .summary_size = meta->data[at + 0x0e],
                 .elements_left = meta->size / INSTANCE_SIZE};
    as_meta_table table;
    AS_TRY(as_meta_find_table(meta, at, as_meta_u64(meta, at), as_meta_u32(meta, at + 8), meta->data[at + 0x0c],
                              meta->is_draft ? DRAFT_METRIC_SIZE : METRIC_SIZE, "metrics", &table));
    as_map_init(&m.by_id, &meta->ds->budget);
    as_vec_init(&m.group, sizeof(assay_id), &meta->ds->budget);
    assay_status status = read_all(&m, &table);
    as_map_free(&m.by_id);
    as_vec_free(&m.group);
    return status;
}
