/* Tables: what every answer of the command is made of, and what carries records. Columns have names; cells have types
 * of their own, as in SQL. One printer (render/printer.h) turns a table into text, CSV, JSON, JSON Lines or
 * Markdown. */
#ifndef AS_CORE_TABLE_H
#define AS_CORE_TABLE_H

#include "core/memory.h"
#include "core/number.h"

typedef enum as_cell_type {
    AS_CELL_NULL,
    AS_CELL_INT,
    AS_CELL_UINT, /* above INT64_MAX */
    AS_CELL_REAL,
    AS_CELL_TEXT,
    AS_CELL_JSON /* JSON text, shown as it is; in JSON output not quoted */
} as_cell_type;

typedef struct as_cell {
    as_cell_type type;
    uint32_t size; /* of text, without the NUL */
    union {
        int64_t i;
        uint64_t u;
        double r;
        const char *text;
    };
} as_cell;

static inline as_cell as_cell_null(void) { return (as_cell){.type = AS_CELL_NULL}; }
static inline as_cell as_cell_int(int64_t i) { return (as_cell){.type = AS_CELL_INT, .i = i}; }
static inline as_cell as_cell_uint(uint64_t u) {
    return u <= INT64_MAX ? as_cell_int((int64_t)u) : (as_cell){.type = AS_CELL_UINT, .u = u};
}
static inline as_cell as_cell_real(double r) { return (as_cell){.type = AS_CELL_REAL, .r = r}; }
as_cell as_cell_number(as_number number);
/* NULL gives a null cell. The text is borrowed. */
as_cell as_cell_text(const char *text);
as_cell as_cell_text_n(const char *text, size_t size);
as_cell as_cell_json_n(const char *text, size_t size);

typedef struct as_column {
    const char *name;
} as_column;

typedef struct as_table as_table;

/* Owns copies of the names. budget may be NULL. NULL when memory is out. */
as_table *as_table_new(const as_column *columns, size_t n_columns, as_budget *budget);
void as_table_free(as_table *table);

/* Cells that are found when they are asked for, for tables that are already there in another form. */
typedef struct as_table_source {
    size_t (*rows)(const struct as_table_source *source);
    /* row and column exist. Text is borrowed until the next call. */
    as_cell (*cell)(const struct as_table_source *source, size_t row, size_t column);
} as_table_source;
/* A table of such cells: further columns can be added, rows cannot. The source is borrowed. NULL when memory is out. */
as_table *as_table_new_view(const as_table_source *source, as_budget *budget);

size_t as_table_columns(const as_table *table);
const char *as_table_column_name(const as_table *table, size_t column);
/* The column of this name, or SIZE_MAX. */
size_t as_table_find_column(const as_table *table, const char *name);
/* A further column, null in all rows so far. SIZE_MAX when memory is out. */
size_t as_table_add_column(as_table *table, const char *name);

size_t as_table_rows(const as_table *table);
/* Appends a row of null cells; false when memory is out. Like all that changes rows not for the table of a source. */
bool as_table_add_row(as_table *table);
/* Sets a cell of an existing row, copying its text. */
bool as_table_set(as_table *table, size_t row, size_t column, as_cell cell);
/* Both at once: one cell per column. */
bool as_table_append(as_table *table, const as_cell *cells);
/* Borrowed until the table is changed. */
as_cell as_table_get(const as_table *table, size_t row, size_t column);
/* Drops all rows, keeps the columns: for answers that stream. */
void as_table_clear(as_table *table);

#endif
