/* The columns of a view: the nodes of a metric, in one run or in the mean of several. */
#include <math.h>
#include <stdlib.h>

#include "analysis/scaling/totals.h"
#include "analysis/views/view_private.h"
#include "core/parallel.h"
#include "core/search.h"
#include "dataset/formulas.h"

/* The type of the metric's values; plain doubles where nobody says. */
static as_dtype find_dtype(const as_dataset *ds, assay_id metric, const assay_id *runs, size_t n_runs) {
    for (size_t i = 0; i < n_runs; i++) {
        const as_profile *profile = as_ds_profile(ds, metric, runs[i]);
        if (profile) return profile->type.dtype;
    }
    const as_block *block = as_ds_metric_block(ds, metric);
    for (size_t i = 0; !block && i < AS_COUNT(ds, blocks); i++) {
        if (as_ds_block(ds, i)->metric == metric) block = as_ds_block(ds, i);
    }
    return block && n_runs ? block->dtype : AS_DTYPE_DOUBLE;
}

/* ---- the mean of several runs ------------------------------------------------------------------------------------ */

/* Sums over runs, one for each context. */
typedef struct mean {
    double *inclusive, *exclusive; /* n_parts (at least 1) for each context */
    uint32_t *counts;              /* runs in which the context has a node */
    size_t n, n_parts, n_runs;     /* n_runs: that have the metric at all */
    bool has_exclusive;
} mean;

/* m: all zero. */
static bool mean_init(mean *m, size_t n, size_t n_parts) {
    size_t cells;
    m->n = n;
    m->n_parts = n_parts;
    if (!as_mul_size(n, n_parts, &cells)) return false;
    m->inclusive = calloc(cells + 1, sizeof(double));
    m->exclusive = calloc(cells + 1, sizeof(double));
    m->counts = calloc(n + 1, sizeof *m->counts);
    return m->inclusive && m->exclusive && m->counts;
}

static void mean_free(mean *m) {
    free(m->inclusive);
    free(m->exclusive);
    free(m->counts);
}

static void mean_add(mean *m, const as_node_list *list) {
    m->n_runs += as_node_count(list) > 0;
    for (size_t i = 0; i < as_node_count(list); i++) {
        const as_node *node = as_node_at(list, i);
        size_t at = node->context * m->n_parts;
        const double *inclusive = as_node_parts(list, i, false), *exclusive = as_node_parts(list, i, true);
        m->counts[node->context]++;
        m->has_exclusive |= node->has_exclusive;
        for (size_t k = 0; k < m->n_parts; k++) {
            m->inclusive[at + k] += inclusive ? inclusive[k] : as_number_real(node->inclusive);
            if (!node->has_exclusive) continue;
            m->exclusive[at + k] += exclusive ? exclusive[k] : as_number_real(node->exclusive);
        }
    }
}

static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

/* Where values add up, a context that a run lacks took nothing there; else it was not measured. */
static bool mean_finish(const mean *m, bool adds_up, as_dtype dtype, as_node_list *list) {
    list->nodes.count = list->parts.count = 0;
    list->n_parts = m->n_parts > 1 ? (uint32_t)m->n_parts : 0;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->counts[i]) continue;
        double n = (double)(adds_up ? m->n_runs : m->counts[i]);
        double *inclusive = m->inclusive + i * m->n_parts, *exclusive = m->exclusive + i * m->n_parts;
        for (size_t k = 0; k < m->n_parts; k++) inclusive[k] /= n, exclusive[k] /= n;
        as_node *node = as_vec_push(&list->nodes);
        if (!node) return false;
        node->context = (assay_id)i;
        node->has_own = true;
        node->has_exclusive = m->has_exclusive;
        node->inclusive = real_number(inclusive[0]);
        node->exclusive = real_number(exclusive[0]);
        if (!list->n_parts) continue;
        node->inclusive = real_number(as_parts_shown(dtype, inclusive, list->n_parts));
        node->exclusive = real_number(as_parts_shown(dtype, exclusive, list->n_parts));
        if (!as_vec_append(&list->parts, inclusive, m->n_parts) || !as_vec_append(&list->parts, exclusive, m->n_parts))
            return false;
    }
    return true;
}

static assay_status find_mean(const as_view_source *source, as_view_column *column, assay_error *error) {
    mean m = {0};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < source->n_runs && status == ASSAY_OK; i++) {
        status = as_nodes_find_at(source->ds, source->runs[i], column->metric, ASSAY_NONE, source->locations,
                                  &column->list, error);
        if (status != ASSAY_OK || as_node_count(&column->list) == 0) continue;
        size_t n_parts = column->list.n_parts ? column->list.n_parts : 1;
        if (!m.counts && !mean_init(&m, AS_COUNT(source->ds, contexts), n_parts)) {
            mean_free(&m);
            return as_fail_memory(error, NULL);
        }
        if (n_parts == m.n_parts) /* runs whose values have another shape cannot take part */
            mean_add(&m, &column->list);
    }
    column->list.nodes.count = 0;
    if (status == ASSAY_OK && m.counts) {
        if (!mean_finish(&m, m.has_exclusive && column->adds_up, column->dtype, &column->list))
            status = as_fail_memory(error, NULL);
        if (as_dtype_is_integer(column->dtype)) column->dtype = AS_DTYPE_DOUBLE;
    }
    mean_free(&m);
    return status;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* Where the source has statistics instead of runs: the means of the point. */
static assay_status find_statistics(const as_view_source *source, as_view_column *column, assay_error *error) {
    const as_dataset *ds = source->ds;
    mean m = {0};
    bool fine = mean_init(&m, AS_COUNT(ds, contexts), 1);
    for (size_t i = 0; fine && i < AS_COUNT(ds, series); i++) {
        const as_series *series = as_ds_series(ds, i);
        double mean_there;
        if (series->metric != column->metric) continue;
        fine = as_measure_mean(ds, series, source->point, &mean_there);
        if (!fine || isnan(mean_there)) continue;
        m.inclusive[series->context] = mean_there;
        m.counts[series->context] = 1;
    }
    if (fine) fine = mean_finish(&m, false, column->dtype, &column->list);
    mean_free(&m);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* False when memory is out. */
static bool add_computed(const as_view_source *source, as_view_column *column, double *inclusive, double *exclusive) {
    bool has_exclusive = as_ds_derived(source->ds, column->metric)->has_exclusive;
    size_t n = AS_COUNT(source->ds, contexts);
    as_view_formula_all(column->formula, false, n, inclusive);
    as_view_formula_all(column->formula, true, n, exclusive);
    for (assay_id id = 0; id < n; id++) {
        if (isnan(inclusive[id]) && isnan(exclusive[id])) continue;
        as_node *node = as_vec_push(&column->list.nodes);
        if (!node) return false;
        *node = (as_node){.context = id, .has_own = true, .has_exclusive = has_exclusive};
        node->inclusive = real_number(inclusive[id]);
        node->exclusive = real_number(exclusive[id]);
    }
    return true;
}

/* The formula of what the other columns have: of several runs that of the means, as it is that of the sums over
 * locations. *is_done: false where it cannot be had. */
static assay_status find_by_formula(const as_view_source *source, as_view_column *column, unsigned *formulas_left,
                                    bool *is_done, assay_error *error) {
    *is_done = false;
    if (!formulas_left) return ASSAY_OK;
    if (!as_ds_prepare_formulas(source->ds)) return as_fail_memory(error, NULL);
    AS_TRY(as_view_formula_new(source, column->metric, formulas_left, &column->formula, error));
    *is_done = column->formula != NULL;
    if (!*is_done) return ASSAY_OK;
    size_t n = AS_COUNT(source->ds, contexts);
    double *values =
        as_budget_allows(&source->ds->budget, 2 * n * sizeof *values) ? calloc(2 * n + 1, sizeof *values) : NULL;
    bool fine = values && add_computed(source, column, values, values + n);
    free(values);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Whether a context is looked at, and a part of the whole. */
static bool is_looked_at(const as_view_data *data, assay_id context) {
    size_t behind = as_first_not_below(data->roots, data->n_roots, context + 1);
    if (behind == 0) return false;
    assay_id root = data->roots[behind - 1];
    if (data->leaves_apart && as_context_is_section(data->source.ds, root)) return false;
    if (data->is_aside && data->is_aside[context]) return false;
    return context - root < as_ds_context(data->source.ds, root)->subtree;
}

/* Of metrics that are neither inclusive nor exclusive: what as_total_parts() takes for the parts of the total. */
static assay_status sum_parts(as_view_data *data, assay_error *error) {
    const as_dataset *ds = data->source.ds;
    as_metric_series by_metric = {0};
    assay_id guessed;
    bool *parts = as_metric_series_init(&by_metric, ds) ? as_total_parts(ds, &by_metric, &guessed) : NULL;
    for (size_t k = 0; parts && k < data->n_columns; k++) {
        as_view_column *column = &data->columns[k];
        if (column->has_exclusive || column->is_stored || !column->adds_up) continue;
        column->whole = 0;
        for (uint32_t i = by_metric.starts[column->metric]; i < by_metric.starts[column->metric + 1]; i++) {
            assay_id context = as_ds_series(ds, by_metric.series[i])->context;
            as_node node;
            bool has_node = parts[by_metric.series[i]] && as_column_node(column, context, &node);
            if (has_node && is_looked_at(data, context)) column->whole += as_number_real(node.inclusive);
        }
    }
    bool fine = parts != NULL;
    free(parts);
    as_metric_series_free(&by_metric);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* The inclusive number of a context's node, without making that where all contexts are looked at; false where there is
 * none. */
static inline bool inclusive_of(const as_view_column *column, assay_id context, double *out) {
    as_node node;
    if (column->has_sums) {
        const as_stored_sums *sums = &column->sums;
        *out = AS_AT(double, &sums->inclusive, context);
        return AS_AT(bool, &sums->has_inclusive, context) ||
               (sums->exclusive.count && AS_AT(bool, &sums->has_exclusive, context));
    }
    if (column->list.is_compact && !column->list.sums.is_whole) {
        *out = AS_AT(double, &column->list.sums.inclusive, context);
        return AS_AT(uint8_t, &column->list.sums.flags, context) & AS_SUM_IS_NODE;
    }
    bool has_node = as_column_node(column, context, &node);
    *out = has_node ? as_number_real(node.inclusive) : 0;
    return has_node;
}

/* What the numbers of some contexts are like. */
typedef struct extent {
    double largest; /* NAN: there is none */
    bool is_signed; /* one is below 0, or larger than the whole */
} extent;

static extent look_through(const as_view_data *data, const as_view_column *column, assay_id first, assay_id end) {
    static const double slack = 0.01;
    extent found = {.largest = NAN};
    double least = -slack * column->whole, most = (1 + slack) * column->whole;
    for (assay_id id = first; id < end; id++) {
        double inclusive;
        if ((data->is_aside && data->is_aside[id]) || !inclusive_of(column, id, &inclusive)) continue;
        if (!isfinite(inclusive)) continue;
        if (!(fabs(inclusive) <= found.largest)) found.largest = fabs(inclusive); /* the first one is, too */
        found.is_signed |= inclusive < least || inclusive > most;
    }
    return found;
}

enum { MOST_PIECES = 64, CONTEXTS_OF_A_PIECE = 1 << 14 };

/* A subtree in pieces. */
typedef struct looking {
    const as_view_data *data;
    const as_view_column *column;
    assay_id first;
    uint32_t n, n_pieces;
    extent found[MOST_PIECES];
} looking;

static void look_through_piece(void *user, size_t piece) {
    looking *l = user;
    assay_id first = l->first + (assay_id)((uint64_t)l->n * piece / l->n_pieces),
             end = l->first + (assay_id)((uint64_t)l->n * (piece + 1) / l->n_pieces);
    l->found[piece] = look_through(l->data, l->column, first, end);
}

static void widen(extent *all, extent part) {
    if (part.largest > all->largest || isnan(all->largest)) all->largest = part.largest;
    all->is_signed |= part.is_signed;
}

/* Differences have both signs, and parts that are larger than the whole: of such a whole nothing is a share. */
static void check_whole(const as_view_data *data, as_view_column *column) {
    extent all = {.largest = NAN};
    looking l = {.data = data, .column = column};
    column->scale = NAN;
    if (!column->adds_up) return;
    for (size_t i = 0; i < data->n_roots; i++) {
        l.first = data->roots[i];
        if (data->leaves_apart && as_context_is_section(data->source.ds, l.first)) continue;
        l.n = as_ds_context(data->source.ds, l.first)->subtree;
        l.n_pieces = 1 + l.n / CONTEXTS_OF_A_PIECE < MOST_PIECES ? 1 + l.n / CONTEXTS_OF_A_PIECE : MOST_PIECES;
        as_parallel(l.n_pieces, 0, look_through_piece, &l);
        for (uint32_t k = 0; k < l.n_pieces; k++) widen(&all, l.found[k]);
    }
    column->scale = all.largest;
    if (!isfinite(column->whole) || column->whole <= 0 || (all.is_signed && column->has_exclusive)) column->whole = NAN;
    if (isfinite(column->whole)) column->scale = column->whole;
}

static assay_status find_wholes(as_view_data *data, assay_error *error) {
    bool has_open = false;
    for (size_t k = 0; k < data->n_columns; k++) {
        as_view_column *column = &data->columns[k];
        column->whole = NAN;
        if (!column->adds_up) continue;
        bool is_inclusive =
            (column->has_exclusive && !column->is_only_exclusive) || (column->is_stored && column->is_inclusive);
        has_open |= !column->has_exclusive && !column->is_stored && as_column_has_any(column);
        if (is_inclusive) column->whole = as_view_whole(data, k).inclusive.real;
    }
    if (has_open) AS_TRY(sum_parts(data, error));
    for (size_t k = 0; k < data->n_columns; k++) check_whole(data, &data->columns[k]);
    return ASSAY_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

bool as_column_has_any(const as_view_column *column) {
    const as_vec *flags = &column->list.sums.flags;
    for (size_t i = 0; column->list.is_compact && i < flags->count; i++) {
        if (AS_AT(uint8_t, flags, i)) return true;
    }
    if (!column->has_sums) return as_node_count(&column->list) > 0;
    const as_vec *has = &column->sums.has_inclusive, *has_exclusive = &column->sums.has_exclusive;
    return (has->count && memchr(has->data, true, has->count)) ||
           (has_exclusive->count && memchr(has_exclusive->data, true, has_exclusive->count));
}

/* The same for all nodes of a column. */
static bool has_exclusive_nodes(const as_dataset *ds, const as_view_column *column) {
    return column->has_sums ? as_ds_metric(ds, column->metric)->exclusive != ASSAY_NONE
                            : column->list.is_compact || as_node_at(&column->list, 0)->has_exclusive;
}

/* Nodes of all contexts need no index. */
static bool make_index(as_view_column *column, size_t n_contexts) {
    size_t n = as_node_count(&column->list);
    if (n == n_contexts || column->has_sums || column->list.is_compact) return true;
    column->index = malloc((n_contexts + 1) * sizeof *column->index);
    if (!column->index) return false;
    memset(column->index, 0xff, (n_contexts + 1) * sizeof *column->index);
    for (size_t i = 0; i < n; i++) column->index[as_node_at(&column->list, i)->context] = (uint32_t)i;
    return true;
}

/* Whether each inclusive value is the exclusive one and those of the children: formulas may give sums, or something
 * else. */
static bool is_sum(const as_dataset *ds, const as_view_column *column, bool *out) {
    size_t n = AS_COUNT(ds, contexts);
    double *below = calloc(n + 1, sizeof *below), largest = 0;
    if (!below) return false;
    for (assay_id id = 0; id < n; id++) {
        as_node node;
        if (!as_column_node(column, id, &node)) continue;
        const as_context *context = as_ds_context(ds, id);
        assay_id parent = context->is_aside ? ASSAY_NONE : context->parent;
        double inclusive = as_number_real(node.inclusive);
        if (parent != ASSAY_NONE) below[parent] += inclusive;
        largest = fmax(largest, fabs(inclusive));
    }
    *out = true;
    for (assay_id id = 0; *out && id < n; id++) {
        as_node node;
        bool has_node = as_column_node(column, id, &node);
        double rest = has_node ? as_number_real(node.inclusive) - as_number_real(node.exclusive) : 0;
        *out = fabs(rest - below[id]) <= 1e-9 * largest;
    }
    free(below);
    return true;
}

static assay_status find_values(const as_view_source *source, as_view_column *column, unsigned *formulas_left,
                                assay_error *error) {
    const as_derived *derived = as_ds_derived(source->ds, column->metric);
    bool is_done = false;
    column->can_be_empty = derived && derived->is_usable && as_formula_can_be_empty(derived->formula);
    column->lacks_inclusive = column->can_be_empty && derived->sides == AS_SIDES_EXCLUSIVE;
    if (column->can_be_empty) AS_TRY(find_by_formula(source, column, formulas_left, &is_done, error));
    if (is_done) return ASSAY_OK;
    if (source->n_runs == 1)
        AS_TRY(as_stored_sums_find(source->ds, source->runs[0], column->metric, source->locations,
                                   source->only_inclusive, &column->sums, &column->has_sums, error));
    if (column->has_sums) return ASSAY_OK;
    if (source->n_runs == 1)
        return as_nodes_find_compact(source->ds, source->runs[0], column->metric, source->locations, &column->list,
                                     error);
    return source->n_runs ? find_mean(source, column, error) : find_statistics(source, column, error);
}

/* What is loaded already need not be again; columns with formulas are theirs alone. */
static bool share_column(const as_view_source *source, as_view_column *column) {
    for (size_t i = 0; i < source->n_loaded; i++) {
        const as_view_column *loaded = &source->loaded[i];
        if (loaded->metric != column->metric || loaded->formula || loaded == column) continue;
        *column = *loaded;
        column->is_shared = true;
        return true;
    }
    return false;
}

assay_status as_view_column_load(const as_view_source *source, as_view_column *column, unsigned *formulas_left,
                                 assay_error *error) {
    const as_dataset *ds = source->ds;
    if (share_column(source, column)) return ASSAY_OK;
    as_metric_kind kind = as_ds_metric(ds, column->metric)->kind;
    column->dtype = find_dtype(ds, column->metric, source->runs, source->n_runs);
    column->adds_up = !as_dtype_is_composite(column->dtype) && !as_dtype_is_extreme(column->dtype);
    AS_TRY(find_values(source, column, formulas_left, error));
    column->has_exclusive = as_column_has_any(column) ? has_exclusive_nodes(ds, column)
                                                      : kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE;
    bool is_derived = kind == AS_KIND_DERIVED, fine = make_index(column, AS_COUNT(ds, contexts));
    if (fine && is_derived) fine = is_sum(ds, column, &column->adds_up);
    column->is_stored = as_ds_metric(ds, column->metric)->is_stored;
    column->is_only_exclusive = as_metric_is_only_exclusive(as_ds_metric(ds, column->metric));
    column->has_exclusive |= column->is_only_exclusive;
    column->is_inclusive = kind == AS_KIND_INCLUSIVE;
    column->can_merge = !is_derived || column->adds_up;
    column->is_zero_elsewhere = is_derived ? as_column_has_any(column) && !column->can_be_empty
                                           : column->adds_up && column->has_exclusive && !column->is_stored;
    if (!fine) return as_fail_memory(error, NULL);
    if (!column->list.is_compact) as_node_list_drop_room(&column->list);
    if (column->formula && column->can_merge) {
        as_view_formula_free(column->formula);
        column->formula = NULL;
    }
    if (!formulas_left || column->can_merge) return ASSAY_OK;
    if (!column->formula) AS_TRY(as_view_formula_new(source, column->metric, formulas_left, &column->formula, error));
    column->can_merge = column->formula != NULL;
    return ASSAY_OK;
}

size_t as_view_column_bytes(const as_view_column *column, size_t n_contexts) {
    const as_stored_sums *sums = &column->sums;
    size_t bytes =
        column->list.nodes.count * sizeof(as_node) + (column->index ? n_contexts * sizeof *column->index : 0);
    const as_node_sums *compact = &column->list.sums;
    bytes += (compact->inclusive.count + compact->exclusive.count) * sizeof(double) + compact->flags.count;
    return bytes + (sums->inclusive.count + sums->exclusive.count) * (sizeof(double) + sizeof(bool));
}

void as_view_column_free(as_view_column *column) {
    if (column->is_shared) return;
    as_node_list_free(&column->list);
    as_stored_sums_free(&column->sums);
    free(column->index);
    as_view_formula_free(column->formula);
}

/* All of the tree: what has no place in it is none. */
static size_t find_roots(const as_dataset *ds, assay_id *roots) {
    size_t n = 0;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id += as_ds_context(ds, id)->subtree) {
        if (as_ds_context(ds, id)->role == AS_ROLE_PLACELESS) continue;
        if (roots) roots[n] = id;
        n++;
    }
    return n;
}

/* Where all that is looked at stands aside, it is the whole. */
static void stand_in(as_view_data *data) {
    for (size_t i = 0; i < data->n_roots; i++) {
        assay_id root = data->roots[i], end = root + as_ds_context(data->source.ds, root)->subtree;
        data->is_aside[root] = false;
        for (assay_id id = root + 1; id < end; id++) {
            const as_context *context = as_ds_context(data->source.ds, id);
            data->is_aside[id] = context->is_aside || data->is_aside[context->parent];
        }
    }
}

static bool take_roots(as_view_data *data, const assay_id *roots, size_t n_roots) {
    const as_dataset *ds = data->source.ds;
    data->n_roots = roots ? n_roots : find_roots(ds, NULL);
    data->roots = malloc((data->n_roots + 1) * sizeof *data->roots);
    if (!data->roots) return false;
    if (roots)
        memcpy(data->roots, roots, n_roots * sizeof *roots);
    else
        find_roots(ds, data->roots);
    if (!as_ds_find_asides(ds, &data->is_aside)) return false;
    size_t n_apart = 0;
    for (size_t i = 0; i < data->n_roots; i++)
        n_apart += as_context_is_section(ds, data->roots[i]) || (data->is_aside && data->is_aside[data->roots[i]]);
    data->leaves_apart = n_apart && n_apart < data->n_roots;
    if (!data->leaves_apart && data->is_aside) stand_in(data);
    return true;
}

assay_status as_view_load(const as_view_source *source, const assay_id *metrics, size_t n_metrics,
                          const assay_id *roots, size_t n_roots, as_view_data *out, assay_error *error) {
    *out = (as_view_data){.source = *source, .columns = calloc(n_metrics + 1, sizeof *out->columns)};
    if (!out->columns || !take_roots(out, roots, n_roots)) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < n_metrics; i++) {
        out->columns[i].metric = metrics[i];
        as_node_list_init_of(&out->columns[i].list, source->ds);
        out->n_columns++;
        if (share_column(source, &out->columns[i])) continue;
        unsigned formulas_left = AS_VIEW_MAX_FORMULAS;
        as_view_source with_loaded = *source;
        with_loaded.loaded = out->columns;
        with_loaded.n_loaded = i;
        AS_TRY(as_view_column_load(&with_loaded, &out->columns[i], &formulas_left, error));
    }
    return source->only_values ? ASSAY_OK : find_wholes(out, error);
}

void as_view_data_free(as_view_data *data) {
    for (size_t i = 0; i < data->n_columns; i++) as_view_column_free(&data->columns[i]);
    free(data->columns);
    free(data->roots);
    free(data->is_aside);
    *data = (as_view_data){0};
}
