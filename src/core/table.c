#include "core/table.h"

#include <stdlib.h>

struct as_table {
    as_budget *budget;
    as_arena names, texts;
    as_vec columns; /* const char * */
    as_vec data;    /* one as_vec of as_cell for each column */
    size_t rows;
    const as_table_source *source; /* of a view, which has no rows of its own; else NULL */
};

as_cell as_cell_number(as_number number) {
    return number.kind == AS_INT    ? as_cell_int(number.i)
           : number.kind == AS_UINT ? as_cell_uint(number.u)
                                    : as_cell_real(number.r);
}

static as_cell text_cell(as_cell_type type, const char *text, size_t size) {
    if (!text) return as_cell_null();
    return (as_cell){.type = type, .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, .text = text};
}

as_cell as_cell_text(const char *text) { return text_cell(AS_CELL_TEXT, text, text ? strlen(text) : 0); }
as_cell as_cell_text_n(const char *text, size_t size) { return text_cell(AS_CELL_TEXT, text, size); }
as_cell as_cell_json_n(const char *text, size_t size) { return text_cell(AS_CELL_JSON, text, size); }

as_table *as_table_new(const as_column *columns, size_t n_columns, as_budget *budget) {
    as_table *table = calloc(1, sizeof *table);
    if (!table) return NULL;
    table->budget = budget;
    as_arena_init(&table->names, budget);
    as_arena_init(&table->texts, budget);
    as_vec_init(&table->columns, sizeof(const char *), budget);
    as_vec_init(&table->data, sizeof(as_vec), budget);
    for (size_t i = 0; i < n_columns; i++) {
        if (as_table_add_column(table, columns[i].name) == SIZE_MAX) {
            as_table_free(table);
            return NULL;
        }
    }
    return table;
}

as_table *as_table_new_view(const as_table_source *source, as_budget *budget) {
    as_table *table = as_table_new(NULL, 0, budget);
    if (table) table->source = source;
    return table;
}

void as_table_free(as_table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->data.count; i++) as_vec_free(&AS_AT(as_vec, &table->data, i));
    as_vec_free(&table->data);
    as_vec_free(&table->columns);
    as_arena_free(&table->names);
    as_arena_free(&table->texts);
    free(table);
}

size_t as_table_columns(const as_table *table) { return table->columns.count; }
const char *as_table_column_name(const as_table *table, size_t column) {
    return AS_AT(const char *, &table->columns, column);
}
size_t as_table_rows(const as_table *table) { return table->source ? table->source->rows(table->source) : table->rows; }

size_t as_table_find_column(const as_table *table, const char *name) {
    for (size_t i = 0; i < table->columns.count; i++) {
        if (strcmp(as_table_column_name(table, i), name) == 0) return i;
    }
    return SIZE_MAX;
}

/* Fills a column up to `rows` with nulls. */
static bool extend(as_vec *column, size_t rows) {
    size_t missing = rows - column->count;
    if (!as_vec_reserve(column, missing)) return false;
    if (missing) memset((as_cell *)column->data + column->count, 0, missing * sizeof(as_cell)); /* AS_CELL_NULL is 0 */
    column->count = rows;
    return true;
}

size_t as_table_add_column(as_table *table, const char *name) {
    char *copy = as_arena_copy(&table->names, name, strlen(name));
    as_vec column;
    as_vec_init(&column, sizeof(as_cell), table->budget);
    if (!copy || !extend(&column, table->rows) || !as_vec_reserve(&table->data, 1) ||
        !as_vec_append(&table->columns, &copy, 1)) {
        as_vec_free(&column);
        return SIZE_MAX;
    }
    as_vec_append(&table->data, &column, 1); /* room was reserved */
    return table->columns.count - 1;
}

bool as_table_add_row(as_table *table) {
    for (size_t i = 0; i < table->data.count; i++) {
        as_vec *column = &AS_AT(as_vec, &table->data, i);
        if (column->count <= table->rows && !extend(column, table->rows + 1)) return false;
    }
    table->rows++;
    return true;
}

bool as_table_set(as_table *table, size_t row, size_t column, as_cell cell) {
    if (cell.type == AS_CELL_TEXT || cell.type == AS_CELL_JSON) {
        cell.text = as_arena_copy(&table->texts, cell.text, cell.size);
        if (!cell.text) return false;
    }
    AS_AT(as_cell, &AS_AT(as_vec, &table->data, column), row) = cell;
    return true;
}

bool as_table_append(as_table *table, const as_cell *cells) {
    if (!as_table_add_row(table)) return false;
    for (size_t i = 0; i < table->data.count; i++) {
        if (!as_table_set(table, table->rows - 1, i, cells[i])) return false;
    }
    return true;
}

as_cell as_table_get(const as_table *table, size_t row, size_t column) {
    if (table->source) return table->source->cell(table->source, row, column);
    return AS_AT(as_cell, &AS_AT(as_vec, &table->data, column), row);
}

void as_table_clear(as_table *table) {
    for (size_t i = 0; i < table->data.count; i++) AS_AT(as_vec, &table->data, i).count = 0;
    as_arena_free(&table->texts);
    table->rows = 0;
}
