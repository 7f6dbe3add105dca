/* `assay stat` for people: a table of call paths. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/stat_view.h"
#include "render/display.h"
#include "render/histogram.h"
#include "render/quantity.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* How much of a name is shown: "thread 48213 (reader)" goes without what is in brackets, where that does not fit. */
static size_t label_size(const char *name) {
    size_t size = strlen(name), shown = as_display_prefix(name, size, AS_PLACE_SIZE / 4);
    const char *bracket = shown < size ? strstr(name, " (") : NULL;
    return bracket && bracket > name && (size_t)(bracket - name) < shown ? (size_t)(bracket - name) : shown;
}

void as_stat_place(const as_stat_view *view, uint32_t place, char out[AS_PLACE_SIZE]) {
    const as_dataset *ds = view->ds;
    assay_id id = view->places.ids[place];
    if (view->places.over == AS_OVER_RUNS) {
        snprintf(out, AS_PLACE_SIZE, "%u", (unsigned)id);
        return;
    }
    const as_location *location = as_ds_location(ds, id);
    assay_id above = location->parent;
    int64_t process = location->leaf && above != ASSAY_NONE ? as_ds_location(ds, above)->rank : -1;
    const char *name = as_ds_text(ds, location->name);
    int64_t number = as_location_number(ds, location);
    const char *kind = as_ds_text(ds, location->kind);
    bool is_stream = kind && strcmp(kind, "gpustream") == 0;
    if (process >= 0 && (view->one_thread || number < 0))
        snprintf(out, AS_PLACE_SIZE, "%lld", (long long)process);
    else if (process >= 0 && is_stream) /* not to be taken for the thread of this number */
        snprintf(out, AS_PLACE_SIZE, "%lld.stream%lld", (long long)process, (long long)number);
    else if (process >= 0)
        snprintf(out, AS_PLACE_SIZE, "%lld.%lld", (long long)process, (long long)number);
    else if (location->rank >= 0)
        snprintf(out, AS_PLACE_SIZE, "%lld", (long long)location->rank);
    else if (name && *name)
        snprintf(out, AS_PLACE_SIZE, "%.*s", (int)label_size(name), name);
    else
        snprintf(out, AS_PLACE_SIZE, "#%u", (unsigned)id);
}

static const char *plural(size_t n, const char *one, const char *many) { return n == 1 ? one : many; }

/* How many places take part in one row at most. */
static uint32_t most_places(const as_stat_view *view, const as_stat_metric *m) {
    uint32_t most = 0;
    if (!view->places.is_gpu || !m->items.count) return view->places.n;
    for (size_t i = 0; i < m->items.count; i++) {
        uint32_t n = AS_AT(as_context_spread, &m->items, i).spread.n;
        if (n > most) most = n;
    }
    return most;
}

/* "8 processes", "64 threads of 8 processes", "4 of 6 locations", "3 runs". */
static void count_places(const as_stat_view *view, const as_stat_metric *m, char out[AS_PLACE_SIZE]) {
    char n[2 * AS_NUMBER_SIZE + 4];
    size_t places = view->places.n, most = most_places(view, m), used = 0;
    if (most < places) {
        as_uint_format(most, n);
        used = strlen(n);
        memcpy(n + used, " of ", 5);
        used += 4;
    }
    as_uint_format(places, n + used);
    if (view->places.over == AS_OVER_RUNS) {
        snprintf(out, AS_PLACE_SIZE, "%s %s", n, plural(places, "run", "runs"));
    } else if (view->places.over == AS_OVER_PROCESSES || view->one_thread) {
        snprintf(out, AS_PLACE_SIZE, "%s %s", n, plural(places, "process", "processes"));
    } else {
        size_t size = (size_t)snprintf(out, AS_PLACE_SIZE, "%s %s", n, plural(places, "location", "locations"));
        if (view->n_processes && view->has_ranks)
            snprintf(out + size, AS_PLACE_SIZE - size, " of %zu %s", view->n_processes,
                     plural(view->n_processes, "process", "processes"));
    }
}

const char *as_stat_nothing(const as_stat_view *view, const as_stat_metric *m) {
    bool has_more = m->items.count > 0 && view->context == ASSAY_NONE;
    return has_more ? "no call has a value; --all-contexts shows loops and lines"
           : as_has_statistics(view->ds, &view->places, m->metric)
               ? "all values are 0"
               : "could not be computed; the table problem of assay sql says why";
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum column { PATH, SUM, MEAN, STDDEV, MIN, MIN_AT, MAX, MAX_AT, IMBALANCE, EXCESS, SPREAD, N_COLUMNS };

enum { LEAST_PATH = 28, MOST_NAME = 48, CELL_SIZE = 128 };

/* How the columns are printed, and which. */
struct layout {
    as_quantity sum, value, mean;
    bool has[N_COLUMNS];
    size_t widths[N_COLUMNS];
    char heads[N_COLUMNS][CELL_SIZE];
};

static as_number number_of(const as_spread *s, as_whole whole, double real) {
    return s->is_integer ? as_whole_number(whole) : (as_number){.kind = AS_REAL, .r = real};
}
static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

static void put_cell(const as_stat_view *view, const as_context_spread *item, const struct layout *l,
                     enum column column, as_text *text, char out[CELL_SIZE]) {
    const as_spread *s = &item->spread;
    size_t n;
    out[0] = '\0';
    switch (column) {
    case SUM: as_quantity_format(&l->sum, number_of(s, s->whole_sum, s->sum), out); break;
    case MEAN: as_quantity_format(&l->mean, real_number(s->mean), out); break;
    case STDDEV: as_quantity_format(&l->mean, real_number(s->stddev), out); break;
    case MIN: as_quantity_format(&l->value, number_of(s, s->whole_min, s->min), out); break;
    case MAX: as_quantity_format(&l->value, number_of(s, s->whole_max, s->max), out); break;
    case MIN_AT: as_stat_place(view, s->min_at, out); break;
    case MAX_AT: as_stat_place(view, s->max_at, out); break;
    case EXCESS: as_quantity_format(&l->sum, real_number(s->excess), out); break;
    case IMBALANCE:
        n = as_percent_format(s->imbalance, out);
        if (n) memcpy(out + n, " %", 3);
        break;
    case SPREAD:
        as_text_clear(text);
        as_histogram_line(text, s->bins, AS_SPREAD_BINS, view->is_ascii);
        n = as_text_size(text);
        while (n && as_text_data(text)[n - 1] == ' ') n--; /* the last column ends where its text does */
        snprintf(out, CELL_SIZE, "%.*s", (int)n, as_text_data(text));
        break;
    case PATH:
    case N_COLUMNS: break;
    }
}

/* Large counts that a file has as real numbers are shown in M, G, T, P, as in trees. */
static as_quantity quantity_of(const char *unit, double largest, bool is_whole) {
    enum { READABLE = 100000000 };
    as_quantity q = as_quantity_of(unit, largest, is_whole);
    return is_whole || *q.unit || largest < READABLE ? q : as_quantity_of_counts(largest);
}

static struct layout lay_out(const as_stat_view *view, const as_stat_metric *m, size_t n) {
    static const char *const heads[] = {"call path", "sum", "mean",      "stddev", "min",   "at",
                                        "max",       "at",  "imbalance", "excess", "spread"};
    struct layout l = {0};
    double largest = 0, largest_sum = 0;
    bool is_whole = true, is_computed = as_is_computed(view->ds, &view->places, m->metric);
    bool is_alone = most_places(view, m) == 1; /* there is nothing to compare */
    for (size_t i = 0; i < n; i++) {
        const as_spread *s = &as_stat_row(m, i)->spread;
        largest = fmax(largest, fmax(fabs(s->min), fabs(s->max)));
        largest_sum = fmax(largest_sum, fabs(s->sum));
        is_whole = is_whole && s->is_integer;
    }
    const char *unit = as_ds_text(view->ds, as_ds_metric(view->ds, m->metric)->unit);
    l.sum = quantity_of(unit, largest_sum, is_whole);
    l.value = quantity_of(unit, largest, is_whole);
    l.mean = is_whole ? as_quantity_of(unit, largest, false) : quantity_of(unit, largest, false);
    for (int c = 0; c < N_COLUMNS; c++) {
        const as_quantity *q = c == SUM || c == EXCESS    ? &l.sum
                               : c == MEAN || c == STDDEV ? &l.mean
                               : c == MIN || c == MAX     ? &l.value
                                                          : NULL;
        bool has_unit = q && *q->unit && (c == SUM || c == MEAN);
        l.has[c] = is_alone ? c == PATH || c == SUM : c != EXCESS || !is_computed;
        snprintf(l.heads[c], CELL_SIZE, "%s%s%.40s%s",
                 c != SUM      ? heads[c]
                 : is_alone    ? "value"
                 : is_computed ? "whole"
                               : heads[c],
                 has_unit ? " [" : "", has_unit ? as_unit_shown(q, view->is_ascii) : "", has_unit ? "]" : "");
        l.widths[c] = as_display_width(l.heads[c], strlen(l.heads[c]));
    }
    return l;
}

static size_t total_width(const struct layout *l) {
    size_t total = LEAST_PATH;
    for (int c = PATH + 1; c < N_COLUMNS; c++) total += l->has[c] ? l->widths[c] + 2 : 0;
    return total;
}

/* The extremes say their unit themselves, which is that of the mean. */
static void name_units(struct layout *l, const as_stat_view *view) {
    static const enum column extremes[] = {MIN, MAX};
    for (size_t i = 0; i < 2 && *l->value.unit; i++) {
        char *head = l->heads[extremes[i]];
        size_t size = strlen(head);
        snprintf(head + size, CELL_SIZE - size, " [%.40s]", as_unit_shown(&l->value, view->is_ascii));
        size_t width = as_display_width(head, strlen(head));
        if (width > l->widths[extremes[i]]) l->widths[extremes[i]] = width;
    }
}

/* Leaves out what says least until call paths have enough room. */
static void fit_columns(struct layout *l, const as_stat_view *view, unsigned width) {
    static const enum column dispensable[][2] = {{STDDEV, STDDEV}, {MEAN, MEAN}, {MIN, MIN_AT},
                                                 {EXCESS, EXCESS}, {SUM, SUM},   {SPREAD, SPREAD}};
    if (!l->has[MAX]) return; /* one value is all there is */
    for (size_t i = 0; width && total_width(l) > width && i < sizeof dispensable / sizeof *dispensable; i++) {
        l->has[dispensable[i][0]] = l->has[dispensable[i][1]] = false;
        if (dispensable[i][0] == MEAN) name_units(l, view);
    }
}

/* Texts that are aligned to the right by blanks before them. */
static size_t pad(const char *cell, size_t width, char *out, size_t room) {
    size_t taken = as_display_width(cell, strlen(cell));
    return (size_t)snprintf(out, room, "%*s%s", (int)(width > taken ? width - taken : 0), "", cell);
}

/* Texts that are needed again and again. */
struct texts {
    as_text path, line;
    as_vec names;
};

static bool add_row(as_table *table, const as_stat_view *view, const as_context_spread *item, const struct layout *l,
                    bool shorten, struct texts *texts) {
    as_cell cells[N_COLUMNS];
    char cell[CELL_SIZE], padded[N_COLUMNS][2 * CELL_SIZE];
    size_t n = 0;
    as_path_style style = {.most = shorten ? MOST_NAME : 0, .ellipsis = view->is_ascii ? "..." : "…"};
    as_text_clear(&texts->path);
    as_context_put_path(&texts->path, view->ds, item->context, &style, &texts->names);
    cells[n++] = as_cell_text_n(as_text_data(&texts->path), as_text_size(&texts->path));
    for (int c = PATH + 1; c < N_COLUMNS; c++) {
        if (!l->has[c]) continue;
        put_cell(view, item, l, (enum column)c, &texts->line, cell);
        cells[n++] = as_cell_text_n(padded[c], pad(cell, c == SPREAD ? 0 : l->widths[c], padded[c], sizeof padded[c]));
    }
    return !texts->path.failed && as_table_append(table, cells);
}

static as_table *new_table(const struct layout *l) {
    as_column columns[N_COLUMNS];
    char padded[N_COLUMNS][2 * CELL_SIZE];
    size_t n = 0;
    for (int c = 0; c < N_COLUMNS; c++) {
        if (!l->has[c]) continue;
        pad(l->heads[c], c == PATH || c == SPREAD ? 0 : l->widths[c], padded[c], sizeof padded[c]);
        columns[n++].name = padded[c];
    }
    return as_table_new(columns, n, NULL);
}

static bool print_table(as_cli *cli, const as_stat_view *view, const as_stat_metric *m, size_t n) {
    struct texts texts;
    as_text_init(&texts.path);
    as_text_init(&texts.line);
    as_vec_init(&texts.names, sizeof(assay_id), NULL);
    struct layout l = lay_out(view, m, n);
    for (size_t i = 0; i < n; i++) {
        for (int c = PATH + 1; c < N_COLUMNS; c++) {
            char cell[CELL_SIZE];
            put_cell(view, as_stat_row(m, i), &l, (enum column)c, &texts.line, cell);
            size_t width = as_display_width(cell, strlen(cell));
            if (width > l.widths[c]) l.widths[c] = width;
        }
    }
    fit_columns(&l, view, cli->style.width);
    as_table *table = new_table(&l);
    bool fine = table != NULL;
    for (size_t i = 0; i < n && fine; i++)
        fine = add_row(table, view, as_stat_row(m, i), &l, cli->style.width > 0, &texts);
    as_print_style style = cli->style;
    style.keep_end = true;
    fine = fine && as_print_table(cli->out, table, style);
    as_table_free(table);
    as_text_free(&texts.path);
    as_text_free(&texts.line);
    as_vec_free(&texts.names);
    return fine;
}

/* ---- around it --------------------------------------------------------------------------------------------------- */

/* "time, exclusive, over 8 processes (p=64, run 3)". */
static void print_head(as_cli *cli, const as_stat_view *view, const as_stat_metric *m) {
    char places[AS_PLACE_SIZE];
    count_places(view, m, places);
    const as_metric *metric = as_ds_metric(view->ds, m->metric);
    const char *name = as_ds_text(view->ds, metric->name);
    if (!name || !*name) name = "values";
    bool has_kinds =
        metric->kind == AS_KIND_INCLUSIVE || metric->kind == AS_KIND_EXCLUSIVE || metric->kind == AS_KIND_DERIVED;
    bool is_exclusive = m->kinds == AS_EXCLUSIVE_VALUES || as_metric_is_only_exclusive(metric);
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
    as_display_write(cli->out, name, strlen(name), 0);
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
    if (has_kinds) as_output_text(cli->out, is_exclusive ? ", exclusive" : ", inclusive");
    as_output_printf(cli->out, ", over %s", places);
    if (*view->where) {
        as_output_text(cli->out, " (");
        as_display_write(cli->out, view->where, strlen(view->where), 0);
        as_output_char(cli->out, ')');
    }
    as_output_char(cli->out, '\n');
}

static void print_foot(as_cli *cli, const as_stat_view *view, const as_stat_metric *m, size_t n) {
    bool is_computed = as_is_computed(view->ds, &view->places, m->metric);
    const char *words = most_places(view, m) == 1 ? "there is nothing to compare with; assay tree shows more"
                        : is_computed             ? "imbalance: max / mean - 1; whole: of all together, not a sum"
                                      : "imbalance: max / mean - 1; excess: what perfect balance would save";
    char more[AS_QUANTITY_SIZE];
    as_count_format(m->n_rows - n, more);
    if (n < m->n_rows)
        as_output_printf(cli->out, "%s %s more call path%s\n", view->is_ascii ? "..." : "…", more,
                         m->n_rows - n == 1 ? "; --all shows it" : "s; --all shows them");
    if (!cli->is_terminal || cli->style.width <= strlen(words)) return;
    as_output_printf(cli->out, "%s%s%s\n", as_sgr(cli->style.colour, AS_DIM), words,
                     as_sgr(cli->style.colour, AS_PLAIN));
}

bool as_stat_text(as_cli *cli, const as_stat_view *view) {
    bool fine = true;
    for (size_t i = 0; i < view->n_metrics && fine; i++) {
        const as_stat_metric *m = &view->metrics[i];
        size_t n = m->n_rows < view->limit ? m->n_rows : view->limit;
        if (i) as_output_char(cli->out, '\n');
        print_head(cli, view, m);
        if (view->context != ASSAY_NONE)
            fine = as_stat_detail(cli, view, m);
        else if (n)
            fine = print_table(cli, view, m, n);
        else
            as_output_printf(cli->out, "%s\n", as_stat_nothing(view, m));
        if (fine && n && view->context == ASSAY_NONE) print_foot(cli, view, m, n);
    }
    return fine;
}
