/* CSV (RFC 4180, lines end in LF), JSON and JSON Lines: exact, and printed as rows come. */
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "render/printer_modes.h"

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* An empty text is "", so that it is not NULL. */
static void csv_text(as_output *out, const char *text, size_t size) {
    bool quoted = size == 0;
    for (size_t i = 0; i < size && !quoted; i++)
        quoted = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (!quoted)
        as_output_write(out, text, size);
    else
        as_output_quoted(out, text, size);
}

static void csv_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: as_output_number(out, (as_number){.kind = AS_UINT, .u = cell.u}); break;
    case AS_CELL_REAL: as_output_real(out, cell.r); break;
    case AS_CELL_TEXT:
    case AS_CELL_JSON: csv_text(out, cell.text, cell.size); break;
    }
}

void as_csv_header(as_output *out, const as_table *columns) {
    for (size_t i = 0; i < as_table_columns(columns); i++) {
        const char *name = as_table_column_name(columns, i);
        if (i) as_output_char(out, ',');
        csv_text(out, name, strlen(name));
    }
    as_output_char(out, '\n');
}

void as_csv_rows(as_output *out, const as_table *batch) {
    size_t n = as_table_columns(batch);
    for (size_t row = 0; row < as_table_rows(batch); row++) {
        for (size_t i = 0; i < n; i++) {
            if (i) as_output_char(out, ',');
            csv_cell(out, as_table_get(batch, row, i));
        }
        as_output_char(out, '\n');
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

const char **as_json_keys(const as_table *columns) {
    size_t n = as_table_columns(columns);
    as_output *memory = as_output_to_memory();
    if (!memory) return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_table_column_name(columns, i);
        as_json_write_string(memory, name, strlen(name));
        as_output_write(memory, ":", 2); /* with the NUL */
    }
    size_t size;
    const char *text = as_output_memory(memory, &size);
    const char **keys = as_output_flush(memory) ? malloc(n * sizeof *keys + size + 1) : NULL;
    if (keys) {
        char *copy = (char *)(keys + n);
        memcpy(copy, text, size);
        for (size_t i = 0; i < n; i++, copy += strlen(copy) + 1) keys[i] = copy;
    }
    as_output_discard(memory);
    return keys;
}

/* JSON text as it is; line breaks can only stand between its tokens and become blanks, so that a record stays a
 * line. */
static void raw_json(as_output *out, const char *text, size_t size) {
    for (const char *end = text + size; text < end;) {
        size_t plain = 0;
        while (text + plain < end && text[plain] != '\n' && text[plain] != '\r') plain++;
        as_output_write(out, text, plain);
        text += plain;
        if (text < end) as_output_char(out, ' '), text++;
    }
}

static void json_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: as_output_write(out, "null", 4); break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: /* many readers of JSON have no such number: as text it arrives whole */
        as_output_char(out, '"');
        as_output_number(out, (as_number){.kind = AS_UINT, .u = cell.u});
        as_output_char(out, '"');
        break;
    case AS_CELL_REAL: as_json_write_real(out, cell.r); break;
    case AS_CELL_TEXT: as_json_write_string(out, cell.text, cell.size); break;
    case AS_CELL_JSON: raw_json(out, cell.text, cell.size); break;
    }
}

void as_json_rows(as_output *out, const as_table *batch, const char *const *keys, bool lines, bool first) {
    size_t n = as_table_columns(batch);
    for (size_t row = 0; row < as_table_rows(batch); row++) {
        if (!lines) as_output_text(out, first ? "[\n  " : ",\n  ");
        first = false;
        as_output_char(out, '{');
        for (size_t i = 0; i < n; i++) {
            if (i) as_output_char(out, ',');
            as_output_text(out, keys[i]);
            json_cell(out, as_table_get(batch, row, i));
        }
        as_output_char(out, '}');
        if (lines) as_output_char(out, '\n');
    }
}
