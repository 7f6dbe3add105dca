#include "dataset/sparse_table.h"

#include <stdlib.h>

#include "core/search.h"
#include "dataset/build.h"

/* The same values by column, made when first asked for. */
typedef struct turned {
    uint64_t *starts; /* of each column, and the end; NULL: not made yet */
    uint32_t *contexts;
    double *values;
} turned;

struct as_sparse_table {
    as_profile_source source;
    as_dataset *ds;
    as_vec contexts;   /* assay_id, ascending */
    as_vec starts;     /* uint64_t: of each context's values, and their end */
    as_vec at, values; /* uint32_t, double */
    pthread_mutex_t turning;
    turned turned;
    uint64_t taken; /* of the budget, by what was turned */
};

static void release(void *object) {
    as_sparse_table *table = object;
    as_vec_free(&table->contexts);
    as_vec_free(&table->starts);
    as_vec_free(&table->at);
    as_vec_free(&table->values);
    as_budget_give(as_ds_budget(table->ds), table->taken);
    free(table->turned.starts);
    free(table->turned.contexts);
    free(table->turned.values);
    pthread_mutex_destroy(&table->turning);
    free(table);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static assay_status read_row(const as_profile_source *source, const as_profile *profile, assay_id context,
                             as_sparse_line *out, assay_error *error) {
    const as_sparse_table *table = (const as_sparse_table *)source;
    size_t low = as_first_not_below(table->contexts.data, table->contexts.count, context);
    (void)profile;
    out->n = 0;
    if (low == table->contexts.count || AS_AT(assay_id, &table->contexts, low) != context) return ASSAY_OK;
    uint64_t start = AS_AT(uint64_t, &table->starts, low);
    uint32_t n = (uint32_t)(AS_AT(uint64_t, &table->starts, low + 1) - start);
    if (!as_sparse_line_reserve(out, n)) return as_fail_memory(error, NULL);
    memcpy(out->at, &AS_AT(uint32_t, &table->at, start), n * sizeof *out->at);
    memcpy(out->values, &AS_AT(double, &table->values, start), n * sizeof *out->values);
    out->n = n;
    return ASSAY_OK;
}

/* Counts, then places. */
static void turn_values(const as_sparse_table *table, uint32_t n_columns, turned *out) {
    const uint32_t *at = table->at.data;
    uint64_t n = table->values.count;
    for (uint64_t i = 0; i < n; i++) out->starts[at[i] + 2]++;
    for (uint32_t column = 0; column < n_columns; column++) out->starts[column + 2] += out->starts[column + 1];
    for (size_t row = 0; row < table->contexts.count; row++) {
        uint64_t end = AS_AT(uint64_t, &table->starts, row + 1);
        for (uint64_t i = AS_AT(uint64_t, &table->starts, row); i < end; i++) {
            uint64_t to = out->starts[at[i] + 1]++; /* moves starts one column on, to where they belong */
            out->contexts[to] = AS_AT(assay_id, &table->contexts, row);
            out->values[to] = AS_AT(double, &table->values, i);
        }
    }
}

static bool turn(as_sparse_table *table, uint32_t n_columns) {
    uint64_t n = table->values.count, bytes = ((uint64_t)n_columns + 2) * 8 + n * 12;
    turned made = {0};
    if (!as_budget_take(as_ds_budget(table->ds), bytes)) return false;
    made.starts = calloc((size_t)n_columns + 2, sizeof *made.starts);
    made.contexts = malloc((size_t)(n + 1) * sizeof *made.contexts);
    made.values = malloc((size_t)(n + 1) * sizeof *made.values);
    if (!made.starts || !made.contexts || !made.values) {
        free(made.starts);
        free(made.contexts);
        free(made.values);
        as_budget_give(as_ds_budget(table->ds), bytes);
        return false;
    }
    turn_values(table, n_columns, &made);
    table->turned = made;
    table->taken = bytes;
    return true;
}

static assay_status read_column(const as_profile_source *source, const as_profile *profile, uint32_t column,
                                as_sparse_line *out, assay_error *error) {
    /* Turning it around is no change that anybody sees. */
    as_sparse_table *table = (as_sparse_table *)(uintptr_t)source;
    pthread_mutex_lock(&table->turning);
    bool fine = table->turned.starts || turn(table, profile->n_columns);
    pthread_mutex_unlock(&table->turning);
    out->n = 0;
    if (!fine) return as_fail_memory(error, NULL);
    uint64_t start = table->turned.starts[column];
    uint32_t n = (uint32_t)(table->turned.starts[column + 1] - start);
    if (!as_sparse_line_reserve(out, n)) return as_fail_memory(error, NULL);
    memcpy(out->at, table->turned.contexts + start, n * sizeof *out->at);
    memcpy(out->values, table->turned.values + start, n * sizeof *out->values);
    out->n = n;
    return ASSAY_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

as_sparse_table *as_sparse_table_new(as_dataset *ds) {
    as_sparse_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->source = (as_profile_source){.load = as_sparse_load, .read_row = read_row, .read_column = read_column};
    table->ds = ds;
    pthread_mutex_init(&table->turning, NULL);
    as_vec_init(&table->contexts, sizeof(assay_id), as_ds_budget(ds));
    as_vec_init(&table->starts, sizeof(uint64_t), as_ds_budget(ds));
    as_vec_init(&table->at, sizeof(uint32_t), as_ds_budget(ds));
    as_vec_init(&table->values, sizeof(double), as_ds_budget(ds));
    return as_ds_hold(ds, table, release) && as_vec_push(&table->starts) ? table : NULL;
}

bool as_sparse_table_add(as_sparse_table *table, assay_id context, const uint32_t *columns, const double *values,
                         uint32_t n) {
    uint64_t before = table->values.count;
    if (!as_vec_reserve(&table->at, n) || !as_vec_reserve(&table->values, n)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] == 0) continue;
        AS_AT(uint32_t, &table->at, table->at.count++) = columns[i];
        AS_AT(double, &table->values, table->values.count++) = values[i];
    }
    uint64_t end = table->values.count;
    return end == before || (as_vec_append(&table->contexts, &context, 1) && as_vec_append(&table->starts, &end, 1));
}

bool as_sparse_table_finish(as_sparse_table *table, assay_id metric, assay_id run, const assay_id *columns,
                            uint32_t n_columns) {
    as_profile profile = {.metric = metric,
                          .run = run,
                          .type = as_value_type_of(AS_DTYPE_DOUBLE, 0),
                          .n_rows = (uint32_t)table->contexts.count,
                          .n_columns = n_columns,
                          .columns = columns,
                          .source = &table->source};
    as_vec_shrink(&table->at);
    as_vec_shrink(&table->values);
    if (!table->values.count) return true;
    table->ds->n_sparse_values += table->values.count;
    return as_add_profile(table->ds, &profile);
}
