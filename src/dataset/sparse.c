#include "dataset/sparse.h"

#include <stdlib.h>

#include "dataset/build.h"

bool as_sparse_line_reserve(as_sparse_line *line, uint32_t n) {
    line->n = 0;
    if (n <= line->room) return true;
    as_sparse_line_free(line);
    line->at = malloc(n * sizeof *line->at);
    line->values = malloc(n * sizeof *line->values);
    if (!line->at || !line->values) {
        as_sparse_line_free(line);
        return false;
    }
    line->room = n;
    return true;
}

void as_sparse_line_free(as_sparse_line *line) {
    free(line->at);
    free(line->values);
    *line = (as_sparse_line){0};
}

static bool add_row(const as_profile *profile, const as_sparse_line *line, as_vec *values) {
    if (!as_vec_reserve(values, profile->n_columns)) return false;
    double *row = (double *)values->data + values->count;
    memset(row, 0, profile->n_columns * sizeof *row);
    for (uint32_t i = 0; i < line->n; i++) row[line->at[i]] = line->values[i];
    values->count += profile->n_columns;
    return true;
}

assay_status as_sparse_rows(const as_profile *profile, assay_id first, uint32_t n, as_vec *contexts, as_vec *values,
                            assay_error *error) {
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (assay_id context = first; context - first < n && status == ASSAY_OK; context++) {
        status = profile->source->read_row(profile->source, profile, context, &line, error);
        if (status != ASSAY_OK || !line.n) continue;
        if (!as_vec_append(contexts, &context, 1) || !add_row(profile, &line, values))
            status = as_fail_memory(error, NULL);
    }
    as_sparse_line_free(&line);
    return status;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct held_rows {
    as_vec contexts, values;
} held_rows;

static void release_rows(void *object) {
    held_rows *rows = object;
    as_vec_free(&rows->contexts);
    as_vec_free(&rows->values);
    free(rows);
}

assay_status as_sparse_load(as_profile_source *source, as_dataset *ds, as_profile *profile, unsigned threads,
                            assay_error *error) {
    (void)source;
    (void)threads;
    held_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return as_fail_memory(error, NULL);
    as_vec_init(&rows->contexts, sizeof(assay_id), as_ds_budget(ds));
    as_vec_init(&rows->values, sizeof(double), as_ds_budget(ds));
    if (!as_ds_hold(ds, rows, release_rows)) return as_fail_memory(error, NULL);
    AS_TRY(as_sparse_rows(profile, 0, (uint32_t)AS_COUNT(ds, contexts), &rows->contexts, &rows->values, error));
    profile->contexts = rows->contexts.data;
    profile->values = rows->values.data;
    profile->n_rows = (uint32_t)rows->contexts.count;
    return ASSAY_OK;
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

/* One cell as a number; the order of cells does not matter to the sum of many. */
static void digest_cell(as_sparse_digest *digest, assay_id context, uint32_t column, double value) {
    uint64_t bits, hash = as_pair(context, column) * 0x9E3779B97F4A7C15u;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ hash >> 29 ^ bits) * 0xBF58476D1CE4E5B9u;
    digest->sum += hash ^ hash >> 32;
    digest->n_values++;
}

assay_status as_sparse_check(const as_dataset *ds, const as_profile *profile, as_sparse_digest *rows,
                             as_sparse_digest *columns, assay_error *error) {
    const as_profile_source *source = profile->source;
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    *rows = *columns = (as_sparse_digest){0};
    for (assay_id context = 0; context < AS_COUNT(ds, contexts) && status == ASSAY_OK; context++) {
        status = source->read_row(source, profile, context, &line, error);
        for (uint32_t i = 0; status == ASSAY_OK && i < line.n; i++)
            digest_cell(rows, context, line.at[i], line.values[i]);
    }
    for (uint32_t column = 0; column < profile->n_columns && status == ASSAY_OK; column++) {
        status = source->read_column(source, profile, column, &line, error);
        for (uint32_t i = 0; status == ASSAY_OK && i < line.n; i++)
            digest_cell(columns, line.at[i], column, line.values[i]);
    }
    as_sparse_line_free(&line);
    return status;
}
