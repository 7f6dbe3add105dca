#include "render/timeline_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/display.h"
#include "render/plot_axis.h"
#include "render/plot_text.h"
#include "render/quantity.h"
#include "render/svg_page.h"

enum { LONGEST_LABEL = 40, LEAST_LABELLED = 11, LEAST_PLOT = 200, GAP = 8, UNIT = 20 };

extern const char as_timeline_script[];

static const char style[] =
    ".assay .plot{cursor:crosshair}.assay .label{text-anchor:end}.assay .tick{text-anchor:middle;fill:#57606a}\n"
    ".assay .c0{fill:#a7adb5}.assay .c1{fill:#4f89c9}.assay .c2{fill:#ef9c4e}.assay .c3{fill:#5fae80}"
    ".assay .c4{fill:#efcf5c}.assay .c5{fill:#9a7bc6}.assay .c6{fill:#d9666e}.assay .c7{fill:#68c4d0}"
    ".assay .c8{fill:#31908a}.assay .c9{fill:#b1cd5e}.assay .c10{fill:#f1a9c4}.assay .c11{fill:#7c93a8}"
    ".assay .c12{fill:#cfae84}.assay .c13{fill:#eceef1}.assay .c14{fill:#e3cccc}.assay .c15{fill:#cfc9b8}\n"
    ".assay .lane{fill:#fafbfc}.assay .cross{stroke:#1f2328;stroke-width:.7;pointer-events:none}\n"
    ".assay .chosen{fill:#0969da;fill-opacity:.18;pointer-events:none}\n"
    ".assay .listing .row path:not(.on){opacity:.15}.assay .keys{cursor:default}\n"
    "@media (prefers-color-scheme:dark){.assay .c0{fill:#69707a}.assay .c13{fill:#262a31}.assay .c14{fill:#553f3f}"
    ".assay .c15{fill:#5a5546}.assay .lane{fill:#1b1e23}.assay .cross{stroke:#e6e8eb}.assay .tick{fill:#9aa4af}}\n";

typedef struct drawing {
    as_page page;
    const as_timeline_svg *picture;
    double left, width; /* of the plot */
    double row, bar;    /* from one row to the next; its height */
    double bottom;      /* of the plot */
    as_quantity time;
} drawing;

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The runs of one procedure in a row: "M12 0h5v14h-5z" each. */
static void put_runs(const drawing *d, const uint32_t *cells, size_t first) {
    as_output *out = d->page.out;
    size_t n = d->picture->n_columns;
    for (size_t i = first; i < n;) {
        size_t end = i + 1;
        while (end < n && cells[end] == cells[i]) end++;
        if (cells[i] == cells[first]) {
            as_output_printf(out, "M%zu 0h%zuv", i, end - i);
            as_svg_number(out, d->bar);
            as_output_printf(out, "h-%zuz", end - i);
        }
        i = end;
    }
}

/* seen: for each procedure the last row that has it, plus 1. */
static void draw_row(const drawing *d, size_t row, size_t *seen) {
    as_output *out = d->page.out;
    const as_timeline_svg *p = d->picture;
    const uint32_t *cells = p->cells + row * p->n_columns;
    as_output_text(out, "<g class=\"row\" transform=\"translate(0 ");
    as_svg_number(out, (double)row * d->row);
    as_output_text(out, ")\"><title>");
    as_page_cut(out, p->labels[row], strlen(p->labels[row]), 200);
    as_output_text(out, "</title><rect class=\"lane\"");
    as_svg_attribute(out, "width", (double)p->n_columns);
    as_svg_attribute(out, "height", d->bar);
    as_output_text(out, "/>");
    for (size_t i = 0; i < p->n_columns; i++) {
        uint32_t procedure = cells[i];
        if (procedure == AS_TIMELINE_NOTHING || seen[procedure] == row + 1) continue;
        seen[procedure] = row + 1;
        as_output_printf(out, "<path class=\"c%u\" data-p=\"%u\" d=\"", (unsigned)p->colours[procedure], procedure);
        put_runs(d, cells, i);
        as_output_text(out, "\"><title>");
        as_page_cut(out, p->names[procedure], strlen(p->names[procedure]), 400);
        as_output_text(out, "</title></path>");
    }
    as_output_text(out, "</g>\n");
}

/* Where rows are too low for a label each, every so many have one. */
static void draw_labels(const drawing *d) {
    const as_timeline_svg *p = d->picture;
    size_t step = 1;
    while (d->row * (double)step < LEAST_LABELLED) step++;
    for (size_t i = 0; i < p->n_rows; i += step)
        as_page_text(&d->page, d->left - GAP, AS_PAGE_HEAD + d->row * (double)i + d->bar / 2 + 4, "label", p->labels[i],
                     LONGEST_LABEL * AS_PAGE_LETTER);
}

/* The plot is a picture in the picture, which cuts off what is outside; its units are columns. */
static bool draw_rows(const drawing *d) {
    as_output *out = d->page.out;
    const as_timeline_svg *p = d->picture;
    size_t n_procedures = 0;
    for (size_t i = 0; i < p->n_rows * p->n_columns; i++) {
        if (p->cells[i] != AS_TIMELINE_NOTHING && p->cells[i] >= n_procedures) n_procedures = (size_t)p->cells[i] + 1;
    }
    size_t *seen = calloc(n_procedures + 1, sizeof *seen);
    if (!seen) return false;
    draw_labels(d);
    as_output_text(out, "<svg class=\"plot\"");
    as_svg_attribute(out, "x", d->left);
    as_svg_attribute(out, "y", AS_PAGE_HEAD);
    as_svg_attribute(out, "width", d->width);
    as_svg_attribute(out, "height", d->bottom - AS_PAGE_HEAD);
    as_output_printf(out, " data-columns=\"%zu\"", p->n_columns);
    as_svg_attribute(out, "data-row", d->row);
    as_output_text(out, " data-from=\"");
    as_output_real(out, p->from);
    as_output_text(out, "\" data-to=\"");
    as_output_real(out, p->to);
    as_output_text(out, "\">\n<g class=\"rows\" transform=\"scale(");
    as_svg_fine(out, d->width / (double)p->n_columns);
    as_output_text(out, " 1)\">\n");
    for (size_t row = 0; row < p->n_rows; row++) draw_row(d, row, seen);
    as_output_text(out, "</g>\n</svg>\n");
    free(seen);
    return true;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void draw_axis(const drawing *d) {
    as_output *out = d->page.out;
    const as_timeline_svg *p = d->picture;
    as_axis axis = {
        .scale = AS_SCALE_LINEAR, .tight = true, .low = p->from * d->time.factor, .high = p->to * d->time.factor};
    as_ticks ticks = {.n = 0};
    unsigned want = (unsigned)(d->width / 110);
    if (p->to > p->from) as_axis_ticks(&axis, want < 2 ? 2 : want > 16 ? 16 : want, &ticks);
    as_output_text(out, "<g class=\"axis\">");
    for (size_t i = 0; i < ticks.n; i++) {
        double x = d->left + as_axis_position(&axis, ticks.at[i].value) * d->width;
        as_output_text(out, "<path class=\"rule\" d=\"M");
        as_svg_number(out, x);
        as_output_char(out, ' ');
        as_svg_number(out, d->bottom);
        as_output_text(out, "v5\"/><text class=\"tick\"");
        as_svg_attribute(out, "x", x);
        as_svg_attribute(out, "y", d->bottom + 17);
        as_output_char(out, '>');
        as_svg_rich(out, ticks.at[i].label);
        as_output_text(out, "</text>\n");
    }
    char unit[AS_QUANTITY_SIZE];
    snprintf(unit, sizeof unit, "[%s]", as_unit_shown(&d->time, false));
    as_page_text(&d->page, d->left - UNIT, d->bottom + 17, "label", unit, 100);
    as_output_text(out, "</g>\n");
}

/* ---- what colours stand for -------------------------------------------------------------------------------------- */

static void draw_keys(const drawing *d, double y) {
    as_output *out = d->page.out;
    const as_timeline_svg *p = d->picture;
    for (size_t i = 0; i < p->n_keys; i++, y += AS_PAGE_LINE) {
        const as_timeline_key *key = &p->keys[i];
        const char *name = key->procedure == AS_TIMELINE_NOTHING ? "" : p->names[key->procedure];
        char colour[16];
        snprintf(colour, sizeof colour, "c%u", key->colour);
        as_output_text(out, "<g class=\"keys\"");
        if (key->procedure != AS_TIMELINE_NOTHING) as_output_printf(out, " data-p=\"%u\"", key->procedure);
        as_output_char(out, '>');
        double used = as_page_key(&d->page, AS_PAGE_MARGIN, y, colour, key->facts, strlen(key->facts));
        as_page_text(&d->page, AS_PAGE_MARGIN + used, y, "name", name, d->page.width - used - 2 * AS_PAGE_MARGIN);
        as_output_text(out, "</g>\n");
    }
    if (p->note) as_page_text(&d->page, AS_PAGE_MARGIN, y, "note", p->note, d->page.width - 2 * AS_PAGE_MARGIN);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void lay_out(drawing *d) {
    const as_timeline_svg *p = d->picture;
    size_t widest = 7;
    for (size_t i = 0; i < p->n_rows; i++) {
        size_t width = as_display_width(p->labels[i], strlen(p->labels[i]));
        if (width > widest) widest = width < LONGEST_LABEL ? width : LONGEST_LABEL;
    }
    d->left = AS_PAGE_MARGIN + AS_PAGE_LETTER * (double)widest + GAP;
    d->width = p->n_columns < LEAST_PLOT ? LEAST_PLOT : (double)p->n_columns;
    d->row = p->n_rows <= 40 ? 20 : p->n_rows <= 100 ? 13 : p->n_rows <= 300 ? 7 : 4;
    d->bar = d->row > 10 ? d->row - 2 : d->row;
    d->bottom = AS_PAGE_HEAD + d->row * (double)p->n_rows;
    d->time = as_quantity_of("s", p->to, false);
    d->page.width = d->left + d->width + AS_PAGE_MARGIN + 10;
    d->page.height = d->bottom + 44 + AS_PAGE_LINE * (double)(p->n_keys + (p->note ? 1 : 0));
}

bool as_timeline_svg_write(as_output *out, const as_timeline_svg *picture) {
    drawing d = {.picture = picture};
    d.page = (as_page){.out = out, .title = picture->title, .subtitle = picture->subtitle, .what = "time lines"};
    lay_out(&d);
    as_page_begin(&d.page, style);
    bool fine = draw_rows(&d);
    draw_axis(&d);
    draw_keys(&d, d.bottom + 46);
    as_page_end(&d.page, as_timeline_script);
    return fine;
}
