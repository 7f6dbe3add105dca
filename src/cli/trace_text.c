/* `assay trace` for people: what it is of, the picture, and the procedures with their letters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/pause_note.h"
#include "cli/trace_view.h"
#include "render/display.h"
#include "render/histogram.h"
#include "render/names.h"

enum { CELL_SIZE = 96, LEAST_NAME = 20, LONGEST_PAUSE = 24 };

static void print_time(const as_trace_view *view, as_output *out, double seconds) {
    as_quantity q = as_quantity_of("s", seconds, false);
    char text[AS_QUANTITY_SIZE];
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = seconds}, text);
    as_output_printf(out, "%s %s", text, as_unit_shown(&q, view->is_ascii));
}

/* ", paused for 1.2 s": all runs that are shown together. */
static void print_paused(const as_trace_view *view, as_output *out) {
    double paused = 0;
    if (view->n_runs == AS_COUNT(view->ds, runs)) {
        paused = as_runs_paused(view->ds, NULL, 0);
    } else {
        const as_timeline_row *rows = view->timeline.rows;
        for (size_t i = 0; i < view->timeline.n_rows; i++) {
            if (!i || rows[i].run != rows[i - 1].run) paused += as_runs_paused(view->ds, &rows[i].run, 1);
        }
    }
    if (!(paused > 0)) return;
    as_output_text(out, ", paused for ");
    print_time(view, out, paused);
}

/* Lines of one location stand together. */
static size_t count_locations(const as_trace_view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->n_lines; i++)
        n += !i || view->lines[i]->location != view->lines[i - 1]->location ||
             view->lines[i]->run != view->lines[i - 1]->run;
    return n;
}

void as_trace_describe(const as_trace_view *view, as_output *out) {
    const as_cli *cli = view->cli;
    char count[AS_QUANTITY_SIZE];
    bool has_places =
        !view->has_intervals || (view->n_runs == 1 && view->n_lines && view->lines[0]->location != ASSAY_NONE);
    size_t places = has_places ? count_locations(view) : view->n_runs;
    as_count_format(places, count);
    as_output_printf(out, "%s %s%s, ", count, has_places ? "location" : "run", places == 1 ? "" : "s");
    print_time(view, out, view->to - view->from);
    if (as_cli_has(cli, "since") || as_cli_has(cli, "until")) {
        as_output_text(out, " from ");
        print_time(view, out, view->from);
        as_output_text(out, " to ");
        print_time(view, out, view->to);
    }
    uint64_t n = view->is_exact ? view->times.all.n_samples : view->n_samples;
    as_count_format(n, count);
    as_output_printf(out, ", %s %s%s, depth ", count, view->has_intervals ? "interval" : "sample", n == 1 ? "" : "s");
    if (view->frames.depth < view->frames.deepest) as_output_printf(out, "%u of ", view->frames.depth);
    as_output_printf(out, "%u", view->frames.deepest);
}

/* The name of the file and what is shown of it, on two lines where one is too short. */
static bool print_head(const as_trace_view *view) {
    const as_cli *cli = view->cli;
    as_output *what = as_output_to_memory();
    size_t size = 0, width = cli->style.width;
    if (what) as_trace_describe(view, what);
    const char *text = what ? as_output_memory(what, &size) : NULL;
    bool is_whole = !as_cli_has(cli, "since") && !as_cli_has(cli, "until");
    if (text && view->has_intervals && is_whole && (!width || size + LONGEST_PAUSE < width)) {
        print_paused(view, what);
        text = as_output_memory(what, &size);
    }
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
    size_t used = as_display_write(cli->out, view->path, strlen(view->path), 0);
    as_output_printf(cli->out, "%s%s%s\n\n", as_sgr(cli->style.colour, AS_PLAIN),
                     width && used + 2 + size > width ? "\n  " : "  ", text ? text : "");
    as_output_discard(what);
    return text != NULL;
}

/* ---- procedures -------------------------------------------------------------------------------------------------- */

enum column { LETTER, SHARE, BAR, TIME, SAMPLES, PLACES, NAME, N_COLUMNS };

/* In how many lines each procedure has time, or a sample. */
static uint32_t *count_places(const as_trace_view *view) {
    uint32_t *counts = calloc(view->frames.n_procedures + 1, sizeof *counts);
    for (size_t i = 0; counts && i < view->times.n_lines; i++) {
        const as_line_times *line = &view->times.lines[i];
        for (size_t k = 0; k < line->n_procedures; k++) counts[line->procedures[k].procedure]++;
    }
    return counts;
}

double as_trace_share(const as_trace_view *view, const as_procedure_time *p) {
    double all = view->times.all.ticks;
    if (all > 0) return p->ticks / all;
    return view->times.all.n_samples ? (double)p->n_samples / (double)view->times.all.n_samples : 0;
}

static void put_cell(const as_trace_view *view, const as_procedure_time *p, const as_quantity *time,
                     const uint32_t *places, enum column column, char out[CELL_SIZE]) {
    size_t n;
    out[0] = '\0';
    switch (column) {
    case SHARE:
        n = as_percent_format(as_trace_share(view, p), out);
        if (n) memcpy(out + n, " %", 3);
        break;
    case TIME:
        as_quantity_format(time, (as_number){.kind = AS_REAL, .r = as_trace_duration(view, p->ticks)}, out);
        break;
    case SAMPLES: as_count_format(p->n_samples, out); break;
    case PLACES: as_count_format(places[p->procedure], out); break;
    default: break;
    }
}

/* What is printed: columns, their widths, and how many rows. */
struct layout {
    as_quantity time;
    bool has[N_COLUMNS];
    size_t widths[N_COLUMNS], n_rows;
    char heads[N_COLUMNS][CELL_SIZE];
};

static struct layout lay_out(const as_trace_view *view, const uint32_t *places) {
    static const char *const heads[] = {"", "share", "", "time", "samples", "places", "procedure"};
    const as_line_times *all = &view->times.all;
    struct layout l = {.n_rows = all->n_procedures < view->limit ? all->n_procedures : view->limit};
    double largest = 0;
    unsigned width = view->cli->style.width;
    for (size_t i = 0; i < all->n_procedures; i++)
        largest = fmax(largest, as_trace_duration(view, all->procedures[i].ticks));
    l.time = as_quantity_of("s", largest, false);
    for (int c = 0; c < N_COLUMNS; c++) {
        l.has[c] = (c != SAMPLES || view->is_exact) && (c != PLACES || view->n_lines > 1);
        const char *head = c == SAMPLES                         ? as_trace_counted(view)
                           : c == PLACES && view->has_intervals ? "lines"
                                                                : heads[c];
        snprintf(l.heads[c], CELL_SIZE, "%s%s%s%s", head, c == TIME ? " [" : "",
                 c == TIME ? as_unit_shown(&l.time, view->is_ascii) : "", c == TIME ? "]" : "");
        l.widths[c] = as_display_width(l.heads[c], strlen(l.heads[c]));
        for (size_t i = 0; i < l.n_rows; i++) {
            char cell[CELL_SIZE];
            put_cell(view, &all->procedures[view->order[i]], &l.time, places, (enum column)c, cell);
            if (strlen(cell) > l.widths[c]) l.widths[c] = strlen(cell);
        }
    }
    l.widths[LETTER] = 1;
    l.widths[BAR] = !width || width >= 100 ? 20 : width >= 60 ? 10 : 0;
    l.has[BAR] = l.widths[BAR] > 0;
    static const enum column dispensable[] = {BAR, PLACES, SAMPLES};
    for (size_t i = 0; width && i < sizeof dispensable / sizeof *dispensable; i++) {
        size_t used = 2;
        for (int c = 0; c < NAME; c++) used += l.has[c] ? l.widths[c] + 2 : 0;
        if (used + LEAST_NAME > width) l.has[dispensable[i]] = false;
    }
    return l;
}

void as_trace_put_name(const as_trace_view *view, uint32_t procedure, as_text *out) {
    assay_id context = view->frames.procedures[procedure].context;
    if (context < view->frames.n_contexts && view->all_contexts)
        as_context_put_name(out, view->ds, context);
    else
        as_text_add(out, as_trace_name(view, procedure));
}

static bool print_name(const as_trace_view *view, uint32_t procedure, size_t used) {
    unsigned width = view->cli->style.width;
    size_t room = !width ? AS_WIDEST_NAME : width > used + 8 ? width - used : 8;
    as_text name, text;
    as_text_init(&name);
    as_text_init(&text);
    as_trace_put_name(view, procedure, &name);
    as_name_shorten(&text, as_text_data(&name), as_text_size(&name), room, as_display_ellipsis(view->cli->out));
    as_display_write(view->cli->out, as_text_data(&text), as_text_size(&text), room);
    bool fine = !name.failed && !text.failed;
    as_text_free(&name);
    as_text_free(&text);
    return fine;
}

static bool print_procedure(const as_trace_view *view, const struct layout *l, const as_procedure_time *p,
                            const uint32_t *places) {
    as_output *out = view->cli->out;
    char cell[CELL_SIZE];
    size_t used = 2;
    as_output_text(out, "  ");
    as_trace_print_letter(view, p->procedure);
    as_output_text(out, "  ");
    used += 3;
    for (int c = SHARE; c < NAME; c++) {
        if (!l->has[c]) continue;
        if (c == BAR) {
            size_t bar = as_bar_write(out, as_trace_share(view, p), l->widths[BAR], view->is_ascii);
            as_display_pad(out, l->widths[BAR] - bar + 2);
        } else {
            put_cell(view, p, &l->time, places, (enum column)c, cell);
            as_display_pad(out, l->widths[c] - strlen(cell));
            as_output_printf(out, "%s  ", cell);
        }
        used += l->widths[c] + 2;
    }
    bool fine = print_name(view, p->procedure, used);
    as_output_char(out, '\n');
    return fine;
}

static bool print_procedures(const as_trace_view *view) {
    const as_line_times *all = &view->times.all;
    as_output *out = view->cli->out;
    uint32_t *places = count_places(view);
    if (!places) return false;
    struct layout l = lay_out(view, places);
    bool fine = true;
    as_output_printf(out, "\n%s     ", as_sgr(view->cli->style.colour, AS_DIM));
    for (int c = SHARE; c < NAME; c++) {
        if (!l.has[c]) continue;
        as_display_pad(out, l.widths[c] - as_display_width(l.heads[c], strlen(l.heads[c])));
        as_output_printf(out, "%s  ", l.heads[c]);
    }
    as_output_printf(out, "%s%s\n", l.heads[NAME], as_sgr(view->cli->style.colour, AS_PLAIN));
    for (size_t i = 0; i < l.n_rows && fine; i++)
        fine = print_procedure(view, &l, &all->procedures[view->order[i]], places);
    double rest = 0;
    for (size_t i = l.n_rows; i < all->n_procedures; i++)
        rest += as_trace_share(view, &all->procedures[view->order[i]]);
    if (l.n_rows < all->n_procedures) {
        char percent[AS_QUANTITY_SIZE];
        as_percent_format(rest, percent);
        as_output_printf(out, "  %c  %s %zu more (%s %%); -n 0 shows all\n", AS_LETTER_OTHER, as_display_ellipsis(out),
                         all->n_procedures - l.n_rows, percent);
    }
    free(places);
    return fine;
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* "s 52.3 %, A 20.1 %": the letters of the n largest. */
static void print_largest(const as_trace_view *view, const as_line_times *line, size_t n) {
    for (size_t i = 0; i < line->n_procedures && i < n; i++) {
        char percent[AS_QUANTITY_SIZE];
        const as_procedure_time *p = &line->procedures[i];
        as_percent_format(line->ticks > 0 ? p->ticks / line->ticks : 0, percent);
        as_output_text(view->cli->out, i ? ", " : "");
        as_trace_print_letter(view, p->procedure);
        as_output_printf(view->cli->out, " %s %%", percent);
    }
}

enum { FROM, TO, GAP, COUNT, N_FACTS };

/* The table of locations: widths of their labels and facts (0: left out), and how many procedures there is room for. */
struct places {
    as_quantity time;
    size_t label, widths[N_FACTS], n_largest;
    char heads[N_FACTS][CELL_SIZE];
};

static void put_fact(const as_trace_view *view, const struct places *p, size_t line, int fact, char out[CELL_SIZE]) {
    const as_line_times *l = &view->times.lines[line];
    double seconds = fact == FROM ? as_trace_time(view, l->first)
                     : fact == TO ? as_trace_time(view, l->last)
                                  : as_trace_duration(view, l->longest_gap);
    out[0] = '\0';
    if (fact == COUNT && view->is_exact) as_count_format(l->n_samples, out);
    if (fact != COUNT && as_trace_is_there(view, l))
        as_quantity_format(&p->time, (as_number){.kind = AS_REAL, .r = seconds}, out);
}

/* Facts are left out, what says least first, until the largest procedures have room. */
static struct places lay_out_places(const as_trace_view *view) {
    static const char *const heads[] = {"from", "to", "gap", "samples"};
    static const int dispensable[] = {GAP, COUNT, FROM, TO};
    enum { LARGEST = 3, WIDTH = 10 }; /* of "s 52.3 %, " */
    struct places p = {.time = as_quantity_of("s", view->to, false), .label = strlen("location"), .n_largest = LARGEST};
    size_t width = view->cli->style.width, used = LARGEST * WIDTH;
    for (int fact = 0; fact < N_FACTS; fact++) {
        bool has_unit = fact != COUNT;
        const char *head = fact == COUNT ? as_trace_counted(view) : heads[fact];
        snprintf(p.heads[fact], CELL_SIZE, "%s%s%s%s", head, has_unit ? " [" : "",
                 has_unit ? as_unit_shown(&p.time, view->is_ascii) : "", has_unit ? "]" : "");
        p.widths[fact] = as_display_width(p.heads[fact], strlen(p.heads[fact]));
        for (size_t i = 0; i < view->n_lines; i++) {
            char cell[CELL_SIZE];
            put_fact(view, &p, i, fact, cell);
            if (strlen(cell) > p.widths[fact]) p.widths[fact] = strlen(cell);
        }
        used += p.widths[fact] + 2;
    }
    for (size_t i = 0; i < view->n_lines; i++) {
        size_t label = as_display_width(as_trace_listed(view, i), strlen(as_trace_listed(view, i)));
        if (label > p.label) p.label = label;
    }
    if (width && p.label > width / 2) p.label = width / 2 > strlen("location") ? width / 2 : strlen("location");
    for (size_t i = 0; width && used + p.label > width && i < N_FACTS; i++) {
        used -= p.widths[dispensable[i]] + 2;
        p.widths[dispensable[i]] = 0;
    }
    for (; width && used + p.label > width && p.n_largest > 1; used -= WIDTH) p.n_largest--;
    return p;
}

/* A row for each location: when it was measured, how often, and what it did most. */
static void print_locations(const as_trace_view *view) {
    as_output *out = view->cli->out;
    struct places p = lay_out_places(view);
    const char *head = view->has_intervals ? "line" : "location";
    as_output_printf(out, "%s%s", as_sgr(view->cli->style.colour, AS_DIM), head);
    as_display_pad(out, p.label - strlen(head));
    for (int fact = 0; fact < N_FACTS; fact++) {
        if (!p.widths[fact]) continue;
        as_display_pad(out, 2 + p.widths[fact] - as_display_width(p.heads[fact], strlen(p.heads[fact])));
        as_output_text(out, p.heads[fact]);
    }
    as_output_printf(out, "  most%s\n", as_sgr(view->cli->style.colour, AS_PLAIN));
    for (size_t i = 0; i < view->n_lines; i++) {
        const char *label = as_trace_listed(view, i);
        size_t used = as_display_write(out, label, strlen(label), p.label);
        as_display_pad(out, p.label - used);
        for (int fact = 0; fact < N_FACTS; fact++) {
            char cell[CELL_SIZE];
            if (!p.widths[fact]) continue;
            put_fact(view, &p, i, fact, cell);
            as_output_printf(out, "  %*s", (int)p.widths[fact], cell);
        }
        as_output_text(out, "  ");
        print_largest(view, &view->times.lines[i], p.n_largest);
        as_output_char(out, '\n');
    }
}

bool as_trace_text(as_trace_view *view) {
    bool fine = print_head(view);
    if (view->shape == AS_TRACE_SUMMARY)
        fine = fine && as_trace_draw_summary(view);
    else if (view->shape == AS_TRACE_BY_LOCATION)
        print_locations(view);
    else
        fine = fine && as_trace_draw_lines(view);
    return fine && print_procedures(view);
}
