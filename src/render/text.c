/* Tables for people: aligned text and Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/display.h"
#include "render/printer_modes.h"

enum { GAP = 2, INDENT = 4, LEAST_TEXT = 6, LEAST_WRAPPED = 20, EXACT_LENGTH = 12 };

typedef struct column {
    size_t width;  /* as shown */
    bool numeric;  /* aligned to the right and never cut */
    bool keep_end; /* cut at the beginning */
    bool hidden;
} column;

/* A cell as text; small ones in the buffer. */
typedef struct shown {
    const char *text;
    size_t size;
    char buffer[AS_NUMBER_SIZE];
} shown;

/* Reals with many digits are rounded to nine: the other modes are exact. */
static size_t show_real(double value, char buffer[AS_NUMBER_SIZE]) {
    size_t size = as_real_format(value, buffer);
    if (size <= EXACT_LENGTH || !isfinite(value) || (trunc(value) == value && fabs(value) < 1e15)) return size;
    return as_real_format(as_real_round(value, 9), buffer);
}

static void show(as_cell cell, as_print_mode mode, shown *s) {
    s->text = s->buffer;
    switch (cell.type) {
    case AS_CELL_NULL: s->text = mode == AS_PRINT_TEXT ? "-" : "", s->size = strlen(s->text); break;
    case AS_CELL_INT: s->size = as_int_format(cell.i, s->buffer); break;
    case AS_CELL_UINT: s->size = as_uint_format(cell.u, s->buffer); break;
    case AS_CELL_REAL:
        s->size = mode == AS_PRINT_TEXT ? show_real(cell.r, s->buffer) : as_real_format(cell.r, s->buffer);
        break;
    case AS_CELL_TEXT:
    case AS_CELL_JSON: s->text = cell.text, s->size = cell.size; break;
    }
}

/* Natural widths; a column is numeric if it has numbers and nothing else but nulls. */
static column *measure(const as_table *table, as_print_mode mode, bool header,
                       size_t (*width)(const char *text, size_t size)) {
    size_t n = as_table_columns(table), rows = as_table_rows(table);
    column *columns = calloc(n ? n : 1, sizeof *columns);
    for (size_t i = 0; columns && i < n; i++) {
        const char *name = as_table_column_name(table, i);
        size_t widest = header ? width(name, strlen(name)) : 0, numbers = 0, texts = 0;
        for (size_t row = 0; row < rows; row++) {
            as_cell cell = as_table_get(table, row, i);
            shown s;
            show(cell, mode, &s);
            size_t w = width(s.text, s.size);
            if (w > widest) widest = w;
            if (cell.type == AS_CELL_TEXT || cell.type == AS_CELL_JSON)
                texts++;
            else if (cell.type != AS_CELL_NULL)
                numbers++;
        }
        columns[i] = (column){.width = widest ? widest : 1, .numeric = numbers > 0 && texts == 0};
    }
    return columns;
}

static size_t capped(const column *c, size_t cap) { return c->numeric || c->width <= cap ? c->width : cap; }

static size_t total_width(const column *columns, size_t n, size_t cap) {
    size_t total = 0;
    for (size_t i = 0; i < n; i++) total += capped(&columns[i], cap) + (i ? GAP : 0);
    return total;
}

/* Makes the table fit: the widest texts are cut first, all to one width; columns for which even that leaves no room are
 * hidden. */
static size_t fit(column *columns, size_t n, size_t width) {
    if (!width || total_width(columns, n, SIZE_MAX) <= width) return 0;
    size_t low = LEAST_TEXT, high = width;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (total_width(columns, n, middle) <= width)
            low = middle;
        else
            high = middle - 1;
    }
    size_t used = 0, hidden = 0;
    for (size_t i = 0; i < n; i++) {
        columns[i].width = capped(&columns[i], low);
        used += columns[i].width + (i ? GAP : 0);
        columns[i].hidden = i > 0 && used > width;
        hidden += columns[i].hidden;
    }
    return hidden;
}

/* The last column takes what the others leave; false where that is too little to read. */
static bool fit_last(column *columns, size_t n, size_t width) {
    size_t before = total_width(columns, n - 1, SIZE_MAX) + (n > 1 ? GAP : 0);
    if (!width || columns[n - 1].numeric || before + LEAST_WRAPPED > width) return false;
    if (before + columns[n - 1].width > width) columns[n - 1].width = width - before;
    return true;
}

static void print_text_cell(as_output *out, const column *c, const char *text, size_t size, bool last) {
    size_t width = c->numeric ? as_display_width(text, size) : 0;
    if (width < c->width && c->numeric) as_display_pad(out, c->width - width);
    size_t used =
        c->keep_end ? as_display_write_end(out, text, size, c->width) : as_display_write(out, text, size, c->width);
    if (!c->numeric && !last) as_display_pad(out, c->width - used);
}

/* The last column on a line of its own. */
static void print_below(as_output *out, const char *text, size_t size, size_t width) {
    as_display_pad(out, INDENT);
    as_display_write(out, text, size, width > INDENT + LEAST_TEXT ? width - INDENT : LEAST_TEXT);
    as_output_char(out, '\n');
}

/* The bytes of the words of text that fit into width columns; all of it where it has no blank to break at. */
static size_t wrapped_size(const char *text, size_t size, size_t width) {
    size_t fits = 0;
    for (size_t end = 0; end < size; end++) {
        const char *blank = memchr(text + end, ' ', size - end);
        end = blank ? (size_t)(blank - text) : size;
        if (fits && as_display_width(text, end) > width) break;
        fits = end;
    }
    return fits ? fits : size;
}

/* The last cell of a row, broken between words; `indent` columns lie before it. */
static void print_wrapped(as_output *out, const column *c, const char *text, size_t size, size_t indent) {
    for (;;) {
        size_t n = wrapped_size(text, size, c->width);
        print_text_cell(out, c, text, n, true);
        while (n < size && text[n] == ' ') n++;
        if (n == size) return;
        text += n, size -= n;
        as_output_char(out, '\n');
        as_display_pad(out, indent);
    }
}

static size_t last_shown(const column *columns, size_t n) {
    while (n > 1 && columns[n - 1].hidden) n--;
    return n - 1;
}

static void print_text_header(as_output *out, const as_table *table, const column *columns, size_t last, bool below,
                              as_print_style style) {
    if (style.colour) as_output_text(out, "\033[1m");
    for (size_t i = 0; i <= last; i++) {
        const char *name = as_table_column_name(table, i);
        if (i) as_display_pad(out, GAP);
        print_text_cell(out, &columns[i], name, strlen(name), i == last);
    }
    if (below) {
        const char *name = as_table_column_name(table, as_table_columns(table) - 1);
        as_output_printf(out, "\n%*s%s", INDENT, "", name);
    }
    as_output_text(out, style.colour ? "\033[0m\n" : "\n");
    if (!style.width) return; /* a rule is for the eye, not for the next command of a pipe */
    if (style.colour) as_output_text(out, "\033[2m");
    for (size_t i = 0; i <= last; i++) {
        if (i) as_display_pad(out, GAP);
        for (size_t k = 0; k < columns[i].width; k++) as_output_text(out, as_output_is_ascii(out) ? "-" : "─");
    }
    as_output_text(out, style.colour ? "\033[0m\n" : "\n");
}

static void print_hidden(as_output *out, const as_table *table, const column *columns, size_t hidden_columns,
                         uint64_t hidden_rows) {
    if (hidden_rows)
        as_output_printf(out, "%s %llu more row%s\n", as_display_ellipsis(out), (unsigned long long)hidden_rows,
                         hidden_rows == 1 ? "" : "s");
    if (!hidden_columns) return;
    as_output_printf(out, "%s %zu more column%s:", as_display_ellipsis(out), hidden_columns,
                     hidden_columns == 1 ? "" : "s");
    for (size_t i = 0; i < as_table_columns(table); i++) {
        if (!columns[i].hidden) continue;
        as_output_char(out, ' ');
        as_display_write(out, as_table_column_name(table, i), strlen(as_table_column_name(table, i)), 0);
    }
    as_output_char(out, '\n');
}

/* How a table is laid out. */
struct layout {
    column *columns;
    size_t n, last, indent,
        /* n: columns in the table itself; last: the last one shown; indent: of what is wrapped; hidden: left out */
        hidden;
    bool wrap, below;
};

static bool lay_out(struct layout *l, const as_table *table, as_print_style style) {
    l->columns = measure(table, AS_PRINT_TEXT, !style.no_header, as_display_width);
    if (!l->columns) return false;
    l->n = as_table_columns(table);
    l->columns[0].keep_end = style.keep_end;
    l->columns[l->n - 1].keep_end |= style.keep_last_end;
    l->wrap = style.wrap_last && fit_last(l->columns, l->n, style.width);
    l->below = style.last_below && style.width && l->n > 1 && total_width(l->columns, l->n, SIZE_MAX) > style.width;
    l->n -= l->below;
    l->hidden = l->wrap ? 0 : fit(l->columns, l->n, style.width);
    l->last = last_shown(l->columns, l->n);
    l->indent = l->wrap ? total_width(l->columns, l->last, SIZE_MAX) + (l->last ? GAP : 0) : 0;
    return true;
}

static void print_text_row(as_output *out, const as_table *table, size_t row, const struct layout *l, size_t width) {
    shown s;
    for (size_t i = 0; i <= l->last; i++) {
        show(as_table_get(table, row, i), AS_PRINT_TEXT, &s);
        if (i) as_display_pad(out, GAP);
        if (l->wrap && i == l->last)
            print_wrapped(out, &l->columns[i], s.text, s.size, l->indent);
        else
            print_text_cell(out, &l->columns[i], s.text, s.size, i == l->last);
    }
    as_output_char(out, '\n');
    if (!l->below) return;
    show(as_table_get(table, row, l->n), AS_PRINT_TEXT, &s);
    print_below(out, s.text, s.size, width);
}

bool as_text_print(as_output *out, const as_table *table, as_print_style style, uint64_t hidden_rows) {
    if (as_table_columns(table) == 0) return true;
    struct layout l = {0};
    if (!lay_out(&l, table, style)) return false;
    if (!style.no_header) print_text_header(out, table, l.columns, l.last, l.below, style);
    for (size_t row = 0; row < as_table_rows(table); row++) print_text_row(out, table, row, &l, style.width);
    print_hidden(out, table, l.columns, l.hidden, hidden_rows);
    free(l.columns);
    return true;
}

size_t as_text_width(const as_table *table) {
    column *columns = measure(table, AS_PRINT_TEXT, true, as_display_width);
    size_t width = columns ? total_width(columns, as_table_columns(table), SIZE_MAX) : SIZE_MAX;
    free(columns);
    return width;
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

static size_t count_bars(const char *text, size_t size) {
    size_t bars = 0;
    for (size_t i = 0; i < size; i++) bars += text[i] == '|';
    return bars;
}

static size_t markdown_width(const char *text, size_t size) {
    return as_display_width(text, size) + count_bars(text, size);
}

static void print_markdown_cell(as_output *out, const column *c, const char *text, size_t size) {
    size_t width = markdown_width(text, size), padding = width < c->width ? c->width - width : 0;
    as_output_text(out, "| ");
    if (c->numeric) as_display_pad(out, padding);
    for (const char *end = text + size; text < end;) {
        const char *bar = memchr(text, '|', (size_t)(end - text));
        const char *stop = bar ? bar : end;
        as_display_write(out, text, (size_t)(stop - text), 0);
        if (bar) as_output_text(out, "\\|");
        text = bar ? bar + 1 : end;
    }
    if (!c->numeric) as_display_pad(out, padding);
    as_output_char(out, ' ');
}

bool as_markdown_print(as_output *out, const as_table *table, as_print_style style, uint64_t hidden_rows) {
    (void)style;
    size_t n = as_table_columns(table);
    if (n == 0) return true;
    column *columns = measure(table, AS_PRINT_MARKDOWN, true, markdown_width);
    if (!columns) return false;
    for (size_t i = 0; i < n; i++) {
        if (columns[i].width < 3) columns[i].width = 3; /* the least a rule takes */
        print_markdown_cell(out, &columns[i], as_table_column_name(table, i), strlen(as_table_column_name(table, i)));
    }
    as_output_text(out, "|\n");
    for (size_t i = 0; i < n; i++) {
        as_output_text(out, "| ");
        for (size_t k = 0; k < columns[i].width - columns[i].numeric; k++) as_output_char(out, '-');
        as_output_text(out, columns[i].numeric ? ": " : " ");
    }
    as_output_text(out, "|\n");
    for (size_t row = 0; row < as_table_rows(table); row++) {
        for (size_t i = 0; i < n; i++) {
            shown s;
            show(as_table_get(table, row, i), AS_PRINT_MARKDOWN, &s);
            print_markdown_cell(out, &columns[i], s.text, s.size);
        }
        as_output_text(out, "|\n");
    }
    if (hidden_rows)
        as_output_printf(out, "\n%s %llu more row%s\n", as_display_ellipsis(out), (unsigned long long)hidden_rows,
                         hidden_rows == 1 ? "" : "s");
    free(columns);
    return true;
}
