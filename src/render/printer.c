#include "render/printer.h"

#include <stdlib.h>

#include "render/printer_modes.h"

struct as_printer {
    as_output *out;
    as_print_style style;
    as_table *kept;    /* text, Markdown: the rows so far */
    uint64_t hidden;   /* text, Markdown: rows beyond max_rows */
    const char **keys; /* JSON, JSON Lines */
    bool begun;        /* CSV: the header is out; JSON: so is a row */
};

as_printer *as_printer_new(as_output *out, as_print_style style) {
    as_printer *printer = calloc(1, sizeof *printer);
    if (!printer) return NULL;
    printer->out = out;
    printer->style = style;
    return printer;
}

static bool is_kept(const as_printer *printer) {
    return printer->style.mode == AS_PRINT_TEXT || printer->style.mode == AS_PRINT_MARKDOWN;
}

static as_table *same_columns(const as_table *batch) {
    as_table *table = as_table_new(NULL, 0, NULL);
    for (size_t i = 0; table && i < as_table_columns(batch); i++) {
        if (as_table_add_column(table, as_table_column_name(batch, i)) == SIZE_MAX) {
            as_table_free(table);
            table = NULL;
        }
    }
    return table;
}

static bool keep_rows(as_printer *printer, const as_table *batch) {
    if (!printer->kept && !(printer->kept = same_columns(batch))) return false;
    unsigned limit = printer->style.max_rows;
    for (size_t row = 0; row < as_table_rows(batch); row++) {
        size_t kept = as_table_rows(printer->kept);
        if (limit && kept >= limit) {
            printer->hidden += as_table_rows(batch) - row;
            break;
        }
        if (!as_table_add_row(printer->kept)) return false;
        for (size_t i = 0; i < as_table_columns(batch); i++) {
            if (!as_table_set(printer->kept, kept, i, as_table_get(batch, row, i))) return false;
        }
    }
    return true;
}

static void begin_csv(as_printer *printer, const as_table *columns) {
    if (!printer->begun && !printer->style.no_header) as_csv_header(printer->out, columns);
    printer->begun = true;
}

bool as_printer_rows(as_printer *printer, const as_table *batch) {
    if (is_kept(printer)) return keep_rows(printer, batch);
    if (printer->style.mode == AS_PRINT_CSV) {
        begin_csv(printer, batch);
        as_csv_rows(printer->out, batch);
        return true;
    }
    if (as_table_rows(batch) == 0) return true;
    if (!printer->keys && !(printer->keys = as_json_keys(batch))) return false;
    as_json_rows(printer->out, batch, printer->keys, printer->style.mode == AS_PRINT_JSONL, !printer->begun);
    printer->begun = true;
    return true;
}

static bool print_whole(as_output *out, const as_table *table, as_print_style style, uint64_t hidden) {
    return style.mode == AS_PRINT_TEXT ? as_text_print(out, table, style, hidden)
                                       : as_markdown_print(out, table, style, hidden);
}

bool as_printer_end(as_printer *printer, const as_table *columns) {
    bool fine = true;
    const as_table *shape = printer->kept ? printer->kept : columns;
    if (is_kept(printer)) {
        if (shape) fine = print_whole(printer->out, shape, printer->style, printer->hidden);
    } else if (printer->style.mode == AS_PRINT_CSV) {
        if (columns) begin_csv(printer, columns);
    } else if (printer->style.mode == AS_PRINT_JSON) {
        as_output_text(printer->out, printer->begun ? "\n]\n" : "[]\n");
    }
    as_table_free(printer->kept);
    free(printer->keys);
    free(printer);
    return fine;
}

bool as_print_table(as_output *out, const as_table *table, as_print_style style) {
    if ((style.mode == AS_PRINT_TEXT || style.mode == AS_PRINT_MARKDOWN) && style.max_rows == 0)
        return print_whole(out, table, style, 0);
    as_printer *printer = as_printer_new(out, style);
    if (!printer) return false;
    bool fine = as_printer_rows(printer, table);
    return as_printer_end(printer, table) && fine;
}
