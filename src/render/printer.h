/* One printer for every table: text for people, CSV, JSON, JSON Lines, Markdown. Rows may come in batches; text and
 * Markdown wait for the end (they need the widths), the others stream. */
#ifndef AS_RENDER_PRINTER_H
#define AS_RENDER_PRINTER_H

#include "core/table.h"
#include "io/output.h"

typedef enum as_print_mode {
    AS_PRINT_TEXT,
    AS_PRINT_CSV,
    AS_PRINT_JSON,
    AS_PRINT_JSONL,
    AS_PRINT_MARKDOWN
} as_print_mode;

typedef struct as_print_style {
    as_print_mode mode;
    unsigned width; /* of the terminal, 0: no limit. Text only: columns are cut with "…" to fit */
    bool colour;    /* text only */
    bool no_header; /* text and CSV */
    /* Text only: what does not fit goes on in further lines of the last column; only a word can be cut */
    bool wrap_last;
    /* Text only: the first column holds paths, which are cut at their beginning */
    bool keep_end;
    /* Text only: so does the last one */
    bool keep_last_end;
    /* Text only: where the table is too wide, the last column goes to a line of its own below each row */
    bool last_below;
    unsigned max_rows; /* text and Markdown: 0 all; the rest is counted in a closing line */
} as_print_style;

typedef struct as_printer as_printer;

/* NULL when memory is out. out stays the caller's. */
as_printer *as_printer_new(as_output *out, as_print_style style);
/* Prints the rows of a batch; all batches have the columns of the first. False when memory is out. */
bool as_printer_rows(as_printer *printer, const as_table *batch);
/* What is left: the table itself in text, the closing bracket in JSON. columns: a table with the columns, needed where
 * no batch ever came. Frees the printer. False when memory was out. */
bool as_printer_end(as_printer *printer, const as_table *columns);

/* The columns a table takes as text, uncut. SIZE_MAX when memory is out. */
size_t as_text_width(const as_table *table);

/* The three steps for one table. */
bool as_print_table(as_output *out, const as_table *table, as_print_style style);

#endif
