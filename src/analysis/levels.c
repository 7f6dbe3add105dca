#include "analysis/levels.h"

#include <stdlib.h>

void as_levels_init(as_levels *levels, size_t row_size, as_budget *budget) {
    *levels = (as_levels){.row_size = row_size ? row_size : 1, .budget = budget};
    as_vec_init(&levels->rows, sizeof(void *), budget);
    as_vec_init(&levels->spare, sizeof(void *), budget);
}

static void free_row(as_levels *levels, void *row) {
    if (row) as_budget_give(levels->budget, levels->row_size);
    free(row);
}

void as_levels_free(as_levels *levels) {
    for (size_t i = 0; i < levels->rows.count; i++) free_row(levels, AS_AT(void *, &levels->rows, i));
    for (size_t i = 0; i < levels->spare.count; i++) free_row(levels, AS_AT(void *, &levels->spare, i));
    as_vec_free(&levels->rows);
    as_vec_free(&levels->spare);
}

static void *new_row(as_levels *levels) {
    if (levels->spare.count) return AS_AT(void *, &levels->spare, --levels->spare.count);
    if (!as_budget_take(levels->budget, levels->row_size)) return NULL;
    void *row = malloc(levels->row_size);
    if (!row) as_budget_give(levels->budget, levels->row_size);
    return row;
}

void *as_levels_add(as_levels *levels, size_t depth) {
    while (levels->rows.count <= depth) {
        if (!as_vec_push(&levels->rows)) return NULL;
    }
    return AS_AT(void *, &levels->rows, depth) = new_row(levels);
}

void as_levels_remove(as_levels *levels, size_t depth) {
    void *row = as_levels_at(levels, depth);
    if (!row) return;
    AS_AT(void *, &levels->rows, depth) = NULL;
    if (!as_vec_append(&levels->spare, &row, 1)) free_row(levels, row);
}
