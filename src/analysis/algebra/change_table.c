/* What changed, as a table: its values. */
#include "analysis/algebra/change_table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/algebra/change_private.h"
#include "analysis/views/flame_frames.h"
#include "core/large_pages.h"
#include "core/parallel.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What is known of a side's metric. */
typedef struct side_facts {
    bool is_in, has_exclusive, adds_up;
    double sum;
    as_view_value whole;
} side_facts;

static side_facts facts_of(const as_view_data *data) {
    if (!data->n_columns) return (side_facts){.sum = NAN};
    const as_view_column *column = &data->columns[0];
    return (side_facts){.is_in = true,
                        .has_exclusive = column->has_exclusive,
                        .adds_up = column->adds_up,
                        .sum = column->whole,
                        .whole = as_view_whole(data, 0)};
}

/* Of both: they are alike where both have the metric. */
static void take_facts(as_change_values *values, side_facts facts[2]) {
    values->has_exclusive = values->adds_up = true;
    for (size_t side = 0; side < 2; side++) {
        values->is_in[side] = facts[side].is_in;
        values->sums[side] = facts[side].sum;
        values->has_exclusive &= facts[side].has_exclusive || !facts[side].is_in;
        values->adds_up &= facts[side].adds_up || !facts[side].is_in;
    }
    for (size_t side = 0; side < 2 && !values->has_exclusive; side++) {
        /* of metrics that are neither inclusive nor exclusive somebody had to guess */
        facts[side].whole.inclusive = (as_view_number){.is_known = isfinite(facts[side].sum), .real = facts[side].sum};
    }
    const as_view_value *base = &facts[AS_BASE].whole, *target = &facts[AS_TARGET].whole;
    values->whole.inclusive = as_change_of(base->inclusive, target->inclusive, values->adds_up);
    if (values->has_exclusive)
        values->whole.exclusive = as_change_of(base->exclusive, target->exclusive, values->adds_up);
}

/* Of each item. */
static bool make_room(as_change_values *values, size_t n) {
    for (size_t side = 0; side < 2; side++) {
        values->n[side] = n;
        values->inclusive[side] = as_large_array(n, sizeof(double));
        values->exclusive[side] = as_large_array(n, sizeof(double));
        if (!values->inclusive[side] || !values->exclusive[side]) return false;
    }
    return true;
}

/* Where values add up, what only the other side knows is 0; of call paths, whose values then hold those below them,
 * also what nobody knows. */
static void settle(double *base, double *target, const bool is_known[2], bool is_zero) {
    if (is_known[AS_BASE] == is_known[AS_TARGET] && !is_zero) return;
    if (!is_known[AS_BASE]) *base = 0;
    if (!is_known[AS_TARGET]) *target = 0;
}

static void drop_exclusive(as_change_values *values) {
    for (size_t side = 0; side < 2 && !values->has_exclusive; side++) {
        free(values->exclusive[side]);
        values->exclusive[side] = NULL;
    }
}

/* The metric on a side, if it has it. */
static assay_status load_side(const as_comparison *c, const as_view_source sources[2], size_t side, assay_id metric,
                              as_view_data *out, assay_error *error) {
    assay_id own = as_comparison_metric(c, side, metric);
    return as_view_load(&sources[side], &own, own != ASSAY_NONE, NULL, 0, out, error);
}

static void scale(double *values, size_t n, double factor) {
    for (size_t i = 0; values && i < n; i++) values[i] *= factor;
}

/* ---- of call paths, item by item --------------------------------------------------------------------------------- */

/* In pieces for several threads. */
typedef struct value_filling {
    const as_change_table *table;
    as_change_values *values;
    size_t side, n;
    const as_view_column *column; /* of the side at hand; NULL: it does not have the metric */
    bool *known[2];
} value_filling;

enum { ITEMS_AT_ONCE = 1 << 14 };

static size_t pieces_of(size_t n) { return (n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE; }

static uint32_t piece_end(size_t n, size_t piece) {
    size_t end = (piece + 1) * ITEMS_AT_ONCE;
    return (uint32_t)(end < n ? end : n);
}

static void fill_piece(void *user, size_t piece) {
    const value_filling *f = user;
    double *inclusive = f->values->inclusive[f->side], *exclusive = f->values->exclusive[f->side];
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE), end = piece_end(f->n, piece); i < end; i++) {
        assay_id own = as_change_context(f->table, f->side, i);
        as_node node;
        bool is_known = f->column && own != ASSAY_NONE && as_column_node(f->column, own, &node);
        f->known[f->side][i] = is_known;
        inclusive[i] = is_known ? as_number_real(node.inclusive) : NAN;
        exclusive[i] = is_known && node.has_exclusive ? as_number_real(node.exclusive) : NAN;
    }
}

static void settle_piece(void *user, size_t piece) {
    const value_filling *f = user;
    as_change_values *v = f->values;
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE), end = piece_end(f->n, piece); i < end; i++) {
        const bool is_known[2] = {f->known[AS_BASE][i], f->known[AS_TARGET][i]};
        settle(&v->inclusive[AS_BASE][i], &v->inclusive[AS_TARGET][i], is_known, v->has_exclusive);
        if (v->has_exclusive) settle(&v->exclusive[AS_BASE][i], &v->exclusive[AS_TARGET][i], is_known, true);
    }
}

/* One side is read after the other, and only these numbers of it stay. */
static assay_status fill_values(value_filling *f, const as_comparison *c, const as_view_source sources[2],
                                assay_id metric, assay_error *error) {
    size_t n_pieces = pieces_of(f->n);
    side_facts facts[2];
    for (f->side = 0; f->side < 2; f->side++) {
        as_view_data data = {0};
        assay_status status = load_side(c, sources, f->side, metric, &data, error);
        if (status == ASSAY_OK) {
            facts[f->side] = facts_of(&data);
            f->column = data.n_columns ? &data.columns[0] : NULL;
            as_parallel(n_pieces, 0, fill_piece, f);
        }
        as_view_data_free(&data);
        if (status != ASSAY_OK) return status;
    }
    take_facts(f->values, facts);
    drop_exclusive(f->values);
    if (f->values->adds_up) as_parallel(n_pieces, 0, settle_piece, f);
    return ASSAY_OK;
}

static assay_status find_by_item(const as_change_table *table, const as_comparison *c, const as_view_source sources[2],
                                 assay_id metric, as_change_values *values, assay_error *error) {
    size_t n = as_view_items(&table->view);
    value_filling f = {.table = table, .values = values, .n = n, .known = {malloc(n + 1), malloc(n + 1)}};
    bool fine = f.known[AS_BASE] && f.known[AS_TARGET] && make_room(values, n);
    assay_status status = fine ? fill_values(&f, c, sources, metric, error) : as_fail_memory(error, NULL);
    free(f.known[AS_BASE]);
    free(f.known[AS_TARGET]);
    return status;
}

/* ---- of call paths, as the sides have them ----------------------------------------------------------------------- */

/* Sums of stored metrics are there for each context, in arrays: they stay as they are, and both sides are read at
 * once. */
typedef struct side_loading {
    const as_comparison *c;
    const as_view_source *sources;
    assay_id metric;
    bool with_own;
    as_change_values *values;
    const as_change_table *table; /* of functions */
    side_facts facts[2];          /* likewise */
    as_view_data data[2];
    assay_status status[2];
    assay_error error[2];
} side_loading;

static assay_status load_both(side_loading *l, bool at_once, void (*load)(void *user, size_t side),
                              assay_error *error) {
    as_parallel(2, at_once ? 2 : 1, load, l);
    for (size_t side = 0; side < 2; side++) {
        if (l->status[side] == ASSAY_OK) continue;
        *error = l->error[side];
        return l->status[side];
    }
    return ASSAY_OK;
}

static void load_sums(void *user, size_t side) {
    side_loading *l = user;
    as_view_source sources[2] = {l->sources[AS_BASE], l->sources[AS_TARGET]};
    sources[side].only_inclusive = !l->with_own;
    l->status[side] = load_side(l->c, sources, side, l->metric, &l->data[side], &l->error[side]);
}

/* Those of all contexts of a side, as inclusive ones. */
static assay_status read_exclusive(const as_change_values *values, const as_view_source *source, size_t side,
                                   as_stored_sums *out, assay_error *error) {
    bool is_done;
    return as_stored_sums_find(source->ds, source->runs[0], values->own_metrics[side], source->locations, true, out,
                               &is_done, error);
}

static void load_exclusive(void *user, size_t side) {
    side_loading *l = user;
    l->status[side] = read_exclusive(l->values, &l->sources[side], side, &l->values->own[side], &l->error[side]);
}

static bool is_stored_sparse(const as_view_source *source, assay_id metric) {
    const as_profile *profile = as_ds_profile(source->ds, metric, source->runs[0]);
    return as_ds_metric(source->ds, metric)->is_stored && profile && as_profile_is_sparse(profile);
}

/* Whether the metric has sums of both kinds on a side, each by itself. */
static bool has_pairs(const as_comparison *c, const as_view_source *source, size_t side, assay_id metric) {
    assay_id inclusive = as_comparison_metric(c, side, metric);
    if (inclusive == ASSAY_NONE || source->n_runs != 1) return false;
    assay_id exclusive = as_ds_metric(source->ds, inclusive)->exclusive;
    return exclusive != ASSAY_NONE && as_ds_metric(source->ds, exclusive)->exclusive == ASSAY_NONE &&
           is_stored_sparse(source, inclusive) && is_stored_sparse(source, exclusive);
}

/* Whether both sides can be read at once: what is made of a dataset on the way is not for two threads, and of two dense
 * profiles there would be too much. */
static bool are_apart(const as_comparison *c, const as_view_source sources[2], assay_id metric) {
    return sources[AS_BASE].ds != sources[AS_TARGET].ds && has_pairs(c, &sources[AS_BASE], AS_BASE, metric) &&
           has_pairs(c, &sources[AS_TARGET], AS_TARGET, metric);
}

static bool goes_by_context(const as_change_table *table, const as_comparison *c, const as_view_source sources[2],
                            assay_id metric) {
    return table->view.request.kind != AS_VIEW_FLAT && are_apart(c, sources, metric);
}

/* Where a root has nothing but exclusive values, these say that it has any. */
static bool is_pair_of_sums(const as_view_data *data) {
    if (data->n_columns != 1) return false;
    const as_view_column *column = &data->columns[0];
    return column->has_sums && column->adds_up && column->has_exclusive && as_view_whole(data, 0).inclusive.is_known;
}

static void take_sums(as_change_values *values, size_t side, const as_comparison *c, assay_id metric,
                      as_view_data *data) {
    as_stored_sums *sums = &values->stored[side];
    *sums = data->columns[0].sums;
    data->columns[0].sums = (as_stored_sums){0};
    as_vec_free(&sums->has_inclusive); /* what is not there is 0 */
    values->n[side] = sums->inclusive.count;
    values->inclusive[side] = sums->inclusive.data;
    values->own[side] = (as_stored_sums){.inclusive = sums->exclusive};
    sums->exclusive = (as_vec){0};
    as_vec_free(&sums->has_exclusive);
    values->exclusive[side] = values->own[side].inclusive.count ? values->own[side].inclusive.data : NULL;
    values->own_metrics[side] = as_ds_metric(data->source.ds, as_comparison_metric(c, side, metric))->exclusive;
}

/* *is_done: else they are no such sums. */
static assay_status find_by_context(const as_comparison *c, const as_view_source sources[2], assay_id metric,
                                    bool with_own, as_change_values *values, bool *is_done, assay_error *error) {
    side_loading l = {.c = c, .sources = sources, .metric = metric, .with_own = with_own};
    assay_status status = load_both(&l, true, load_sums, error);
    *is_done = status == ASSAY_OK && is_pair_of_sums(&l.data[AS_BASE]) && is_pair_of_sums(&l.data[AS_TARGET]);
    if (*is_done) take_facts(values, (side_facts[2]){facts_of(&l.data[AS_BASE]), facts_of(&l.data[AS_TARGET])});
    for (size_t side = 0; side < 2; side++) {
        if (*is_done) take_sums(values, side, c, metric, &l.data[side]);
        as_view_data_free(&l.data[side]);
    }
    values->by_context = *is_done;
    values->lacks_own = *is_done && !(values->exclusive[AS_BASE] && values->exclusive[AS_TARGET]);
    for (size_t side = 0; side < 2 && values->lacks_own; side++) {
        as_stored_sums_free(&values->own[side]);
        values->exclusive[side] = NULL;
    }
    return status;
}

static double factor_of(const as_change_values *values, size_t side) { return side == AS_TARGET ? values->factor : 1; }

assay_status as_change_values_complete(as_change_values *values, const as_view_source sources[2], assay_error *error) {
    side_loading l = {.sources = sources, .values = values};
    if (!values->lacks_own) return ASSAY_OK;
    assay_status status = load_both(&l, true, load_exclusive, error);
    for (size_t side = 0; side < 2; side++) {
        as_stored_sums *own = &values->own[side];
        if (status == ASSAY_OK) {
            as_vec_free(&own->has_inclusive);
            values->exclusive[side] = own->inclusive.data;
            if (side == AS_TARGET) scale(values->exclusive[side], values->n[side], values->factor);
        } else {
            as_stored_sums_free(own);
        }
    }
    if (status == ASSAY_OK) values->lacks_own = false;
    return status;
}

assay_status as_change_exclusive(const as_change_table *table, const as_change_values *values,
                                 const as_view_source sources[2], size_t side, const uint32_t *items, size_t n,
                                 double *out, assay_error *error) {
    const as_view_source *source = &sources[side];
    assay_status status = ASSAY_OK;
    as_node_list list;
    as_node_list_init_of(&list, source->ds);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        assay_id own = as_change_context(table, side, items[i]);
        out[i] = values->lacks_own ? 0 : as_change_number(table, values, side, items[i], true);
        if (!values->lacks_own || own == ASSAY_NONE) continue;
        status = as_nodes_find_one(source->ds, source->runs[0], values->own_metrics[side], own, source->locations,
                                   &list, error);
        if (status == ASSAY_OK && as_node_count(&list))
            out[i] = as_number_real(as_node_at(&list, 0)->inclusive) * factor_of(values, side);
    }
    as_node_list_free(&list);
    return status;
}

/* ---- of functions ------------------------------------------------------------------------------------------------ */

/* The table as one of a side's own, for which views have values. */
static assay_status find_of_side(const as_change_table *table, size_t side, const as_view_data *data,
                                 as_change_values *out, assay_error *error) {
    uint8_t is_in = side == AS_BASE ? AS_ITEM_IN_BASE : AS_ITEM_IN_TARGET;
    as_view_table own = table->view;
    as_view_values *values = NULL;
    own.ds = data->source.ds;
    own.own_items = table->items_of[side];
    if (data->n_columns) AS_TRY(as_view_values_new(&own, data, &values, error));
    size_t n = out->n[side] = as_view_items(&own);
    out->inclusive[side] = values ? values->inclusive : as_large_array(n, sizeof(double));
    out->exclusive[side] = values ? values->exclusive : as_large_array(n, sizeof(double));
    if (values) values->inclusive = values->exclusive = NULL;
    bool has_exclusive = out->exclusive[side] != NULL;
    as_view_values_free(values);
    if (!has_exclusive) out->exclusive[side] = as_large_array(n, sizeof(double));
    if (!out->inclusive[side] || !out->exclusive[side]) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < n; i++) {
        bool is_there = data->n_columns && as_view_item_at(&own, i)->flags & is_in;
        if (!is_there) out->inclusive[side][i] = NAN;
        if (!is_there || !has_exclusive) out->exclusive[side][i] = NAN;
    }
    return ASSAY_OK;
}

/* What is no number is not known. */
static void settle_functions(as_change_values *values) {
    for (int k = 0; k < 1 + values->has_exclusive; k++) {
        double *const *numbers = k ? values->exclusive : values->inclusive;
        for (size_t i = 0; i < values->n[AS_BASE]; i++) {
            double *base = &numbers[AS_BASE][i], *target = &numbers[AS_TARGET][i];
            settle(base, target, (const bool[2]){!isnan(*base), !isnan(*target)}, false);
        }
    }
}

/* Nothing of a side stays but its functions' numbers. */
static void load_functions(void *user, size_t side) {
    side_loading *l = user;
    as_view_data *data = &l->data[side];
    assay_status status = load_side(l->c, l->sources, side, l->metric, data, &l->error[side]);
    if (status == ASSAY_OK) l->facts[side] = facts_of(data);
    if (status == ASSAY_OK) status = find_of_side(l->table, side, data, l->values, &l->error[side]);
    as_view_data_free(data);
    l->status[side] = status;
}

static assay_status find_of_functions(const as_change_table *table, const as_comparison *c,
                                      const as_view_source sources[2], assay_id metric, as_change_values *values,
                                      assay_error *error) {
    side_loading l = {.c = c, .sources = sources, .metric = metric, .values = values, .table = table};
    AS_TRY(load_both(&l, are_apart(c, sources, metric), load_functions, error));
    take_facts(values, l.facts);
    drop_exclusive(values);
    if (values->adds_up) settle_functions(values);
    return ASSAY_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Into the base's unit. */
static void scale_target(as_change_values *values, double factor) {
    as_change *whole[] = {&values->whole.inclusive, &values->whole.exclusive};
    values->factor = factor;
    scale(values->inclusive[AS_TARGET], values->n[AS_TARGET], factor);
    scale(values->exclusive[AS_TARGET], values->n[AS_TARGET], factor);
    values->sums[AS_TARGET] *= factor;
    for (size_t i = 0; i < 2; i++) {
        as_number_scale(&whole[i]->side[AS_TARGET], factor);
        *whole[i] = as_change_of(whole[i]->side[AS_BASE], whole[i]->side[AS_TARGET], values->adds_up);
    }
}

assay_status as_change_values_new(const as_change_table *table, const as_comparison *c, const as_view_source sources[2],
                                  assay_id metric, bool with_own, as_change_values **out, assay_error *error) {
    as_change_values *values = *out = calloc(1, sizeof *values);
    bool is_done = false;
    if (!values) return as_fail_memory(error, NULL);
    values->factor = 1;
    if (table->view.request.kind == AS_VIEW_FLAT)
        AS_TRY(find_of_functions(table, c, sources, metric, values, error));
    else if (goes_by_context(table, c, sources, metric))
        AS_TRY(find_by_context(c, sources, metric, with_own, values, &is_done, error));
    if (table->view.request.kind != AS_VIEW_FLAT && !is_done)
        AS_TRY(find_by_item(table, c, sources, metric, values, error));
    if (c->factors[metric] != 1) scale_target(values, c->factors[metric]);
    return ASSAY_OK;
}

void as_change_values_free(as_change_values *values) {
    if (!values) return;
    for (size_t side = 0; side < 2; side++) {
        as_stored_sums_free(&values->stored[side]);
        as_stored_sums_free(&values->own[side]);
        if (values->by_context) continue;
        free(values->inclusive[side]);
        free(values->exclusive[side]);
    }
    free(values);
}

size_t as_change_values_bytes(const as_change_values *values) {
    return sizeof *values + (values->has_exclusive && !values->lacks_own ? 2u : 1u) *
                                (values->n[AS_BASE] + values->n[AS_TARGET]) * sizeof(double);
}

size_t as_change_values_expected(const as_change_table *table, const as_comparison *c, const as_view_source sources[2],
                                 assay_id metric) {
    size_t n = AS_COUNT(sources[AS_BASE].ds, contexts) + AS_COUNT(sources[AS_TARGET].ds, contexts);
    if (goes_by_context(table, c, sources, metric)) return n * sizeof(double);
    return 2 * 2 * (size_t)as_view_items(&table->view) * sizeof(double);
}

/* ---- what items did themselves ----------------------------------------------------------------------------------- */

/* In pieces for several threads. */
typedef struct owning {
    const as_change_table *table;
    const as_change_values *values;
    double **own;
    bool exclusive; /* numbers as they are */
} owning;

/* Exclusive numbers of all items of a side that values do not have: nothing but these stays. */
static assay_status read_own(const owning *o, const as_view_source *source, size_t side, assay_error *error) {
    as_stored_sums sums = {0};
    assay_status status = read_exclusive(o->values, source, side, &sums, error);
    for (uint32_t i = 0; status == ASSAY_OK && i < as_view_items(&o->table->view); i++) {
        assay_id own = as_change_context(o->table, side, i);
        o->own[side][i] = own == ASSAY_NONE ? 0 : AS_AT(double, &sums.inclusive, own) * factor_of(o->values, side);
    }
    as_stored_sums_free(&sums);
    return status;
}

static void take_piece(void *user, size_t piece) {
    const owning *o = user;
    uint32_t end = piece_end(as_view_items(&o->table->view), piece);
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE); i < end; i++) {
        for (size_t side = 0; side < 2; side++)
            o->own[side][i] = as_change_number(o->table, o->values, side, i, o->exclusive);
    }
}

static double inclusive_of(const owning *o, size_t side, uint32_t i) {
    return as_change_number(o->table, o->values, side, i, false);
}
static double of_base(const void *user, uint32_t i) { return inclusive_of(user, AS_BASE, i); }
static double of_target(const void *user, uint32_t i) { return inclusive_of(user, AS_TARGET, i); }

static void subtract_piece(void *user, size_t piece) {
    const owning *o = user;
    const as_view_table *view = &o->table->view;
    for (uint32_t i = (uint32_t)(piece * ITEMS_AT_ONCE), end = piece_end(as_view_items(view), piece); i < end; i++) {
        o->own[AS_BASE][i] = as_flame_difference(view, i, of_base, o);
        o->own[AS_TARGET][i] = as_flame_difference(view, i, of_target, o);
    }
}

/* What nobody knows to be inclusive or exclusive; they are there. */
static bool guess(const owning *o) {
    size_t n = as_view_items(&o->table->view);
    double *numbers = as_large_array(n, sizeof *numbers);
    for (size_t side = 0; numbers && side < 2; side++) {
        memcpy(numbers, o->own[side], n * sizeof *numbers);
        as_flame_guess_own(&o->table->view, numbers, o->own[side]);
    }
    bool fine = numbers != NULL;
    free(numbers);
    return fine;
}

assay_status as_change_own(const as_change_table *table, const as_change_values *values,
                           const as_view_source sources[2], double *own[2], assay_error *error) {
    size_t n = as_view_items(&table->view);
    owning o = {table, values, own, values->has_exclusive && !table->has_roles};
    for (size_t side = 0; side < 2; side++) own[side] = as_large_array(n, sizeof(double));
    if (!own[AS_BASE] || !own[AS_TARGET]) return as_fail_memory(error, NULL);
    if (o.exclusive && values->lacks_own) {
        AS_TRY(read_own(&o, &sources[AS_BASE], AS_BASE, error));
        return read_own(&o, &sources[AS_TARGET], AS_TARGET, error);
    }
    bool subtracts = values->has_exclusive && !o.exclusive;
    as_parallel(pieces_of(n), 0, subtracts ? subtract_piece : take_piece, &o);
    return values->has_exclusive || guess(&o) ? ASSAY_OK : as_fail_memory(error, NULL);
}
