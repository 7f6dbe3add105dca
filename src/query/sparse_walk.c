#include "query/sparse_walk.h"

#include <stdlib.h>

#include "core/search.h"

/* The first of a row's columns that is not below this one. */
static uint32_t find_column(const as_sparse_line *line, uint32_t column) {
    return (uint32_t)as_first_not_below(line->at, line->n, column);
}

/* The row of walk->context, or of the next one that has any values. */
static assay_status take_row(as_sparse_walk *walk, assay_error *error) {
    const as_profile *profile = walk->profile;
    for (; walk->context < walk->end_context; walk->context++) {
        AS_TRY(profile->source->read_row(profile->source, profile, walk->context, &walk->line, error));
        walk->at = walk->first_column ? find_column(&walk->line, walk->first_column) : 0;
        bool is_part = walk->n_wide < profile->n_columns - walk->first_column;
        walk->end = is_part ? find_column(&walk->line, walk->first_column + walk->n_wide) : walk->line.n;
        if (walk->at < walk->end) return ASSAY_OK;
    }
    as_sparse_walk_stop(walk);
    return ASSAY_OK;
}

assay_status as_sparse_walk_rows(as_sparse_walk *walk, const as_profile *profile, assay_id first, assay_id end,
                                 uint32_t first_column, uint32_t n_columns, assay_error *error) {
    walk->profile = profile;
    walk->is_column = false;
    walk->first_column = first_column;
    walk->n_wide = n_columns;
    walk->context = first;
    walk->end_context = end;
    return take_row(walk, error);
}

typedef struct cell {
    uint32_t at;
    double value;
} cell;

static int by_context(const void *a, const void *b) {
    uint32_t x = ((const cell *)a)->at, y = ((const cell *)b)->at;
    return (x > y) - (x < y);
}

/* Puts a column into the order of contexts. False when memory is out. */
static bool sort_line(as_sparse_line *line) {
    uint32_t i = 1;
    while (i < line->n && line->at[i - 1] < line->at[i]) i++;
    if (i >= line->n) return true;
    cell *cells = malloc(line->n * sizeof *cells);
    if (!cells) return false;
    for (i = 0; i < line->n; i++) cells[i] = (cell){line->at[i], line->values[i]};
    qsort(cells, line->n, sizeof *cells, by_context);
    for (i = 0; i < line->n; i++) line->at[i] = cells[i].at, line->values[i] = cells[i].value;
    free(cells);
    return true;
}

assay_status as_sparse_walk_column(as_sparse_walk *walk, const as_profile *profile, uint32_t column,
                                   assay_error *error) {
    AS_TRY(profile->source->read_column(profile->source, profile, column, &walk->line, error));
    if (!sort_line(&walk->line)) return as_fail_memory(error, NULL);
    walk->profile = walk->line.n ? profile : NULL;
    walk->is_column = true;
    walk->column = column;
    walk->at = 0;
    walk->end = walk->line.n;
    return ASSAY_OK;
}

assay_status as_sparse_walk_next_line(as_sparse_walk *walk, assay_error *error) {
    if (walk->is_column) {
        as_sparse_walk_stop(walk);
        return ASSAY_OK;
    }
    walk->context++;
    return take_row(walk, error);
}

void as_sparse_walk_free(as_sparse_walk *walk) {
    as_sparse_line_free(&walk->line);
    walk->profile = NULL;
}
