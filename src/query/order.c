/* Rows of a table of records in the order of a column of numbers: GROUP BY, ORDER BY and DISTINCT then need no sorter
 * of SQLite's, which compares records. */
#include <stdlib.h>

#include "query/tables.h"

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, DIGITS = 6 };
/* Larger integers have no double of their own. */
#define MOST_EXACT (INT64_C(1) << 53)

typedef struct keyed_row {
    uint64_t key;
    uint32_t row;
} keyed_row;

static bool is_number(as_cell cell) {
    return cell.type == AS_CELL_NULL || cell.type == AS_CELL_REAL ||
           (cell.type == AS_CELL_INT && cell.i >= -MOST_EXACT && cell.i <= MOST_EXACT);
}

bool as_rows_can_be_ordered(as_vtab *table, int column) {
    if (!table->records || column < 0 || as_table_rows(table->records) >= UINT32_MAX) return false;
    if (table->ordered_column == column + 1) return table->can_be_ordered;
    size_t n = as_table_rows(table->records), row = 0;
    while (row < n && is_number(as_table_get(table->records, row, (size_t)column))) row++;
    table->ordered_column = column + 1;
    return table->can_be_ordered = row == n;
}

/* Ascending as SQLite has it: null, which not-a-number is too, and then by value. */
static uint64_t key_of(as_cell cell) {
    double value = cell.type == AS_CELL_INT ? (double)cell.i : cell.r;
    uint64_t bits, sign = UINT64_C(1) << 63;
    if (cell.type == AS_CELL_NULL || value != value) return 0;
    if (value == 0) value = 0; /* -0 is no other number */
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* By one digit after the other, which keeps equal ones as they were. The result is in *rows. */
static void sort_rows(keyed_row **rows, keyed_row **other, size_t n, uint64_t differing) {
    for (int digit = 0; digit < DIGITS; digit++) {
        int shift = digit * RADIX_BITS;
        if (!(differing >> shift & (RADIX - 1))) continue;
        size_t starts[RADIX] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) starts[(*rows)[i].key >> shift & (RADIX - 1)]++;
        for (int i = 0; i < RADIX; i++) {
            size_t count = starts[i];
            starts[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) (*other)[starts[(*rows)[i].key >> shift & (RADIX - 1)]++] = (*rows)[i];
        keyed_row *sorted = *other;
        *other = *rows;
        *rows = sorted;
    }
}

uint32_t *as_rows_order(const as_vtab *table, int column, bool is_descending) {
    size_t n = as_table_rows(table->records);
    keyed_row *rows = malloc((n + 1) * sizeof *rows), *other = malloc((n + 1) * sizeof *other);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    uint64_t differing = 0;
    if (rows && other && order) {
        for (size_t i = 0; i < n; i++) {
            uint64_t key = key_of(as_table_get(table->records, i, (size_t)column));
            rows[i] = (keyed_row){is_descending ? ~key : key, (uint32_t)i};
            differing |= rows[i].key ^ rows[0].key;
        }
        sort_rows(&rows, &other, n, differing);
        for (size_t i = 0; i < n; i++) order[i] = rows[i].row;
    } else {
        free(order);
        order = NULL;
    }
    free(rows);
    free(other);
    return order;
}
