#include "formats/hpctoolkit/experiment_metrics.h"

#include <stdlib.h>

#include "formats/hpctoolkit/companions.h"
#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/metrics.h"

as_metric_kind as_hpc_split_name(const char *name, size_t *size) {
    *size = strlen(name);
    if (*size < 4) return AS_KIND_NONE;
    const char *end = name + *size - 4;
    as_metric_kind kind = memcmp(end, " (I)", 4) == 0   ? AS_KIND_INCLUSIVE
                          : memcmp(end, " (E)", 4) == 0 ? AS_KIND_EXCLUSIVE
                                                        : AS_KIND_NONE;
    if (kind != AS_KIND_NONE) *size -= 4;
    return kind;
}

/* The name (of so many bytes) has the unit in it. ASSAY_NONE when memory is out. */
static assay_id add_metric(as_hpc_experiment *experiment, const char *name, size_t size, as_metric_kind kind,
                           const as_hpc_xml_metric *source) {
    as_dataset *ds = experiment->ds;
    as_metric metric = AS_METRIC_INIT;
    size_t unit_size;
    metric.source_id = source->id;
    metric.description = source->description;
    metric.name = as_ds_intern(ds, name, size);
    metric.dtype = as_ds_intern_text(ds, "DOUBLE");
    metric.kind = kind;
    if (metric.name == AS_NO_STR || metric.dtype == AS_NO_STR) return ASSAY_NONE;
    const char *unit = as_hpc_unit(as_ds_text(ds, metric.name), &unit_size);
    if (unit) metric.unit = as_ds_intern(ds, unit, unit_size);
    return unit && metric.unit == AS_NO_STR ? ASSAY_NONE : as_add_metric(ds, &metric);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* A metric, and what it shares with its other sides. */
typedef struct side {
    uint64_t group;
    assay_id metric;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->metric < y->metric ? -1 : x->metric > y->metric;
}

/* Pairs the n metrics of the dataset that have the same name, or, where partners (one for each metric, ASSAY_NONE:
 * none) is not NULL, those that say so of each other. */
static assay_status pair_metrics(as_hpc_experiment *experiment, const assay_id *partners) {
    as_dataset *ds = experiment->ds;
    size_t n = ds->metrics.count;
    side *list = as_arena_array(&ds->arena, n, sizeof *list);
    assay_id *group = as_arena_array(&ds->arena, n, sizeof *group);
    if (!list || !group) return as_reader_memory(experiment->reader);
    for (assay_id i = 0; i < n; i++) {
        assay_id partner = partners ? partners[i] : ASSAY_NONE;
        bool is_mutual = partner != ASSAY_NONE && partner != i && partners[partner] == i;
        list[i] = (side){as_ds_metric(ds, i)->name, i};
        if (is_mutual) list[i].group = as_pair(1, partner < i ? partner : i);
    }
    qsort(list, n, sizeof *list, compare_sides);
    for (size_t i = 0, size = 0; i < n; i++) {
        group[size++] = list[i].metric;
        if (i + 1 < n && list[i + 1].group == list[i].group) continue;
        as_hpc_pair_metrics(ds, group, size);
        size = 0;
    }
    return ASSAY_OK;
}

/* ---- the metrics of 2021 ----------------------------------------------------------------------------------------- */

/* The id that a MetricDB has in the files. */
static bool parse_id(const as_dataset *ds, as_str text, uint16_t *out) {
    as_number number;
    if (!as_number_parse(as_ds_text(ds, text), as_str_size(&ds->strings, text), &number)) return false;
    if (number.kind != AS_INT || number.i < 0 || number.i > UINT16_MAX) return false;
    *out = (uint16_t)number.i;
    return true;
}

/* Names and kinds to metrics. */
typedef struct known_metrics {
    as_map by_name; /* as_pair(name, kind) -> metric */
    as_map by_id;
} known_metrics;

static assay_status add_database_metric(as_hpc_experiment *experiment, known_metrics *known,
                                        const as_hpc_xml_metric *source, as_vec *metrics) {
    as_dataset *ds = experiment->ds;
    const char *text = as_ds_text(ds, source->name);
    as_hpc_metric entry;
    size_t size;
    as_metric_kind kind = as_hpc_split_name(text, &size);
    if (!parse_id(ds, source->id, &entry.id))
        return AS_HPC_BROKEN(experiment, source->at, "metric-id", "the id of a metric is no number from 0 to 65535");
    as_str name = as_ds_intern(ds, text, size);
    if (name == AS_NO_STR) return as_reader_memory(experiment->reader);
    entry.metric = as_map_get(&known->by_id, entry.id);
    if (entry.metric != AS_MAP_NONE) {
        AS_HPC_WARN(experiment, source->at, "metric-twice",
                    "metric %u is '%s' as well as '%s': their values cannot be told apart", entry.id, text,
                    as_ds_text(ds, as_ds_metric(ds, entry.metric)->name));
    } else {
        entry.metric = add_metric(experiment, text, size, kind, source);
        if (entry.metric == ASSAY_NONE || !as_map_put(&known->by_id, entry.id, entry.metric) ||
            !as_vec_append(metrics, &entry, 1))
            return as_reader_memory(experiment->reader);
    }
    return as_map_put(&known->by_name, as_pair(name, kind), entry.metric) ? ASSAY_OK
                                                                          : as_reader_memory(experiment->reader);
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* "NAME:Sum (I)": the metric NAME of that kind, or ASSAY_NONE; *statistic: "Sum". */
static assay_id find_base(const as_hpc_experiment *experiment, const known_metrics *known, as_str name,
                          const char **statistic, size_t *statistic_size) {
    const as_dataset *ds = experiment->ds;
    const char *text = as_ds_text(ds, name);
    size_t size;
    as_metric_kind kind = as_hpc_split_name(text, &size);
    const char *colon = memrchr(text, ':', size);
    if (kind == AS_KIND_NONE || !colon) return ASSAY_NONE;
    *statistic = colon + 1;
    *statistic_size = size - (size_t)(*statistic - text);
    as_str base = as_find(&ds->strings, text, (size_t)(colon - text));
    uint32_t metric = base == AS_NO_STR ? AS_MAP_NONE : as_map_get(&known->by_name, as_pair(base, kind));
    return metric == AS_MAP_NONE ? ASSAY_NONE : metric;
}

/* The numbers behind '$' in a formula: how many, and the first two. UINT64_MAX: beyond all ids. */
static size_t find_operands(const char *formula, uint64_t operands[2]) {
    size_t n = 0;
    for (const char *at = strchr(formula, '$'); at; at = strchr(at, '$')) {
        uint64_t number = 0;
        const char *digits = ++at;
        for (; *at >= '0' && *at <= '9'; at++)
            number = number > UINT32_MAX ? UINT64_MAX : number * 10 + (uint64_t)(*at - '0');
        if (at == digits) continue;
        if (n < 2) operands[n] = number;
        n++;
    }
    return n;
}

/* Which number of the summary profile the view tells the meaning of: Sum is the sum itself, Mean = sum / count, StdDev
 * = sqrt(sumsq / count - …). */
static const char *statistic_of(const char *view, size_t size, const char *formula, uint64_t *id) {
    static const struct {
        const char *view, *name;
        size_t n_operands, operand; /* n_operands 0: any number of them */
    } known[] = {{"Sum", "sum", 1, 0},
                 {"Min", "min", 1, 0},
                 {"Max", "max", 1, 0},
                 {"Mean", "count", 2, 1},
                 {"StdDev", "sumsq", 0, 0}};
    uint64_t operands[2];
    size_t n = find_operands(formula, operands);
    for (size_t i = 0; n && i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].view) != size || memcmp(known[i].view, view, size) != 0) continue;
        if (known[i].n_operands && known[i].n_operands != n) return NULL;
        *id = operands[known[i].operand];
        return *id <= UINT16_MAX ? known[i].name : NULL;
    }
    return NULL;
}

static assay_status add_statistic(as_hpc_experiment *experiment, as_map *known, const as_hpc_statistic *statistic,
                                  as_vec *statistics) {
    uint32_t index = as_map_get(known, statistic->id);
    if (index != AS_MAP_NONE) {
        AS_AT(as_hpc_statistic, statistics, index) = *statistic;
        return ASSAY_OK;
    }
    bool fine =
        as_map_put(known, statistic->id, (uint32_t)statistics->count) && as_vec_append(statistics, statistic, 1);
    return fine ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* What a Metric of the MetricTable says about a metric that has values. */
static bool note_view(as_dataset *ds, assay_id metric, const as_hpc_xml_metric *source, bool is_sum) {
    as_metric *base = &AS_AT(as_metric, &ds->metrics, metric);
    if (base->description == AS_NO_STR) base->description = source->description;
    if (!is_sum) return true;
    const char *show = as_ds_text(ds, source->show), *format = as_ds_text(ds, source->format);
    return (!show || strcmp(show, "1") == 0 ||
            as_add_attribute(ds, AS_OWNER_METRIC, metric, "show", as_cell_text(show))) &&
           (!format || as_add_attribute(ds, AS_OWNER_METRIC, metric, "format", as_cell_text(format)));
}

static assay_status read_views(as_hpc_experiment *experiment, const known_metrics *known, as_map *ids,
                               as_vec *statistics) {
    as_dataset *ds = experiment->ds;
    for (size_t i = 0; i < experiment->metrics.count; i++) {
        const as_hpc_xml_metric *source = &AS_AT(as_hpc_xml_metric, &experiment->metrics, i);
        const char *view = NULL;
        size_t size = 0;
        uint64_t id;
        if (source->view == AS_NO_STR) continue;
        as_hpc_statistic statistic = {.metric = find_base(experiment, known, source->name, &view, &size)};
        if (statistic.metric == ASSAY_NONE) continue;
        if (!note_view(ds, statistic.metric, source, size == 3 && memcmp(view, "Sum", 3) == 0))
            return as_reader_memory(experiment->reader);
        statistic.name = statistic_of(view, size, as_ds_text(ds, source->view), &id);
        if (!statistic.name) continue;
        statistic.id = (uint16_t)id;
        AS_TRY(add_statistic(experiment, ids, &statistic, statistics));
    }
    return ASSAY_OK;
}

assay_status as_hpc_add_metrics_2021(as_hpc_experiment *experiment, as_vec *metrics, as_vec *statistics) {
    as_budget *budget = &experiment->ds->budget;
    known_metrics known;
    as_map ids;
    as_map_init(&known.by_name, budget);
    as_map_init(&known.by_id, budget);
    as_map_init(&ids, budget);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < experiment->database_metrics.count && status == ASSAY_OK; i++)
        status = add_database_metric(experiment, &known, &AS_AT(as_hpc_xml_metric, &experiment->database_metrics, i),
                                     metrics);
    if (status == ASSAY_OK) status = pair_metrics(experiment, NULL);
    if (status == ASSAY_OK) status = read_views(experiment, &known, &ids, statistics);
    as_map_free(&known.by_name);
    as_map_free(&known.by_id);
    as_map_free(&ids);
    return status;
}

/* ---- the metrics of 2.x ------------------------------------------------------------------------------------------ */

/* As the type says, or the name. One that nobody says anything of has values where they were measured (raw): they are
 * added up along the tree. */
static as_metric_kind kind_of(const as_dataset *ds, const as_hpc_xml_metric *source, as_metric_kind of_name,
                              bool *is_open) {
    const char *type = as_ds_text(ds, source->type), *value_type = as_ds_text(ds, source->value_type);
    *is_open = false;
    if (type && strcmp(type, "inclusive") == 0) return AS_KIND_INCLUSIVE;
    if (type && strcmp(type, "exclusive") == 0) return AS_KIND_EXCLUSIVE;
    if (of_name != AS_KIND_NONE) return of_name;
    *is_open = !value_type || strcmp(value_type, "raw") == 0;
    return *is_open ? AS_KIND_EXCLUSIVE : AS_KIND_INCLUSIVE;
}

static as_hpc_ref ref_of(const as_dataset *ds, as_str text) {
    as_number number;
    if (text == AS_NO_STR) return AS_HPC_NO_REF;
    bool is_number = as_number_parse(as_ds_text(ds, text), as_str_size(&ds->strings, text), &number) &&
                     number.kind == AS_INT && number.i >= 0 && (uint64_t)number.i < AS_HPC_LITERAL;
    return is_number ? (uint64_t)number.i : AS_HPC_LITERAL + text;
}

/* Both tables are one list: first those with values in the document. */
static const as_hpc_xml_metric *source_at(const as_hpc_experiment *experiment, size_t i) {
    size_t n = experiment->metrics.count;
    return i < n ? &AS_AT(as_hpc_xml_metric, &experiment->metrics, i)
                 : &AS_AT(as_hpc_xml_metric, &experiment->database_metrics, i - n);
}

/* Adds the metric of one row; *by_id has those of its table. */
static assay_status add_metric_2x(as_hpc_experiment *experiment, const as_hpc_xml_metric *source, as_map *by_id,
                                  bool *is_open) {
    as_dataset *ds = experiment->ds;
    const char *name = as_ds_text(ds, source->name);
    size_t size;
    as_metric_kind of_name = as_hpc_split_name(name, &size);
    assay_id metric = add_metric(experiment, name, size, kind_of(ds, source, of_name, is_open), source);
    as_hpc_ref ref = ref_of(ds, source->id);
    if (metric == ASSAY_NONE) return as_reader_memory(experiment->reader);
    if (as_map_get(by_id, ref) != AS_MAP_NONE) {
        AS_HPC_WARN(experiment, source->at, "metric-twice", "a second metric with the id %s: it has no values",
                    as_ds_text(ds, source->id));
        return ASSAY_OK;
    }
    return as_map_put(by_id, ref, metric) ? ASSAY_OK : as_reader_memory(experiment->reader);
}

static assay_status add_column(as_hpc_experiment *experiment, const as_hpc_xml_metric *source, assay_id metric,
                               as_vec *columns) {
    as_hpc_ref id = ref_of(experiment->ds, source->column);
    as_hpc_column column = {.id = (uint32_t)id, .metric = metric};
    if (id > UINT32_MAX) {
        AS_HPC_WARN(experiment, source->at, "no-column",
                    "a MetricDB without a db-id that is a number: it has no values");
        return ASSAY_OK;
    }
    return as_vec_append(columns, &column, 1) ? ASSAY_OK : as_reader_memory(experiment->reader);
}

/* For each metric the one that it names as its partner, in its own table. */
static assay_id *find_partners(as_hpc_experiment *experiment, const as_map *of_values, const as_map *of_columns) {
    size_t n = experiment->ds->metrics.count;
    assay_id *partners = as_arena_array(&experiment->ds->arena, n, sizeof *partners);
    for (size_t i = 0; partners && i < n; i++) {
        as_hpc_ref ref = ref_of(experiment->ds, source_at(experiment, i)->partner);
        uint32_t found = ref == AS_HPC_NO_REF ? AS_MAP_NONE
                                              : as_map_get(i < experiment->metrics.count ? of_values : of_columns, ref);
        partners[i] = found == AS_MAP_NONE ? ASSAY_NONE : found;
    }
    return partners;
}

static assay_status add_all_2x(as_hpc_experiment *experiment, as_map *of_values, as_map *of_columns, as_vec *columns) {
    as_dataset *ds = experiment->ds;
    size_t n = experiment->metrics.count + experiment->database_metrics.count;
    bool *is_open = as_arena_array(&ds->arena, n, sizeof *is_open);
    if (!is_open) return as_reader_memory(experiment->reader);
    for (size_t i = 0; i < n; i++) {
        bool is_column = i >= experiment->metrics.count;
        const as_hpc_xml_metric *source = source_at(experiment, i);
        AS_TRY(add_metric_2x(experiment, source, is_column ? of_columns : of_values, &is_open[i]));
        if (is_column) AS_TRY(add_column(experiment, source, (assay_id)i, columns));
    }
    assay_id *partners = find_partners(experiment, of_values, of_columns);
    if (!partners) return as_reader_memory(experiment->reader);
    AS_TRY(pair_metrics(experiment, partners));
    for (size_t i = 0; i < n; i++) {
        as_metric *metric = &AS_AT(as_metric, &ds->metrics, i);
        if (is_open[i] && metric->part_of == ASSAY_NONE) metric->is_stored = false;
    }
    return ASSAY_OK;
}

assay_status as_hpc_add_metrics_2x(as_hpc_experiment *experiment, as_map *of_values, as_vec *columns) {
    as_map of_columns;
    as_map_init(&of_columns, &experiment->ds->budget);
    assay_status status = add_all_2x(experiment, of_values, &of_columns, columns);
    as_map_free(&of_columns);
    return status;
}
