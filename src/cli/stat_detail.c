/* `assay stat --context`: the values of one call path, place by place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/stat_view.h"
#include "render/display.h"
#include "render/histogram.h"
#include "render/quantity.h"

enum { MOST_BINS = 12, BAR_WIDTH = 24, EXTREMES = 5, PLACES_WIDTH = 40 };

/* One place and its value. */
struct member {
    uint32_t place;
    as_number value;
    double real;
};

struct detail {
    as_cli *cli;
    const as_stat_view *view;
    const as_spread *spread;
    as_quantity value, mean, sum;
    struct member *members; /* ascending by value, then by place, unless said otherwise */
    uint32_t n;
    bool is_computed; /* at each place */
};

static int compare_members(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->real != y->real) return x->real < y->real ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The largest first; equal ones by place, as above. */
static int compare_members_down(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return x->real != y->real ? compare_members(b, a) : compare_members(a, b);
}

static int compare_places(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void print_number(const struct detail *d, const char *name, const as_quantity *q, as_number number) {
    char text[AS_QUANTITY_SIZE];
    as_quantity_format(q, number, text);
    as_output_printf(d->cli->out, "%s %s%s%s", name, text, *q->unit ? " " : "", as_unit_shown(q, d->view->is_ascii));
}

static void print_real(const struct detail *d, const char *name, const as_quantity *q, double value) {
    print_number(d, name, q, (as_number){.kind = AS_REAL, .r = value});
}

static void print_extreme(const struct detail *d, const char *name, as_whole whole, double real, uint32_t place) {
    char label[AS_PLACE_SIZE];
    as_number number = d->spread->is_integer ? as_whole_number(whole) : (as_number){.kind = AS_REAL, .r = real};
    as_stat_place(d->view, place, label);
    print_number(d, name, &d->value, number);
    as_output_text(d->cli->out, " at ");
    as_display_write(d->cli->out, label, strlen(label), 0);
}

static void print_numbers(const struct detail *d) {
    const as_spread *s = d->spread;
    as_output *out = d->cli->out;
    char percent[AS_QUANTITY_SIZE];
    as_number sum = s->is_integer ? as_whole_number(s->whole_sum) : (as_number){.kind = AS_REAL, .r = s->sum};
    as_output_text(out, "  ");
    if (d->view->places.n == 1) { /* there is nothing to compare */
        print_number(d, "value", &d->sum, sum);
        as_output_char(out, '\n');
        return;
    }
    print_number(d, d->is_computed ? "whole" : "sum", &d->sum, sum);
    print_real(d, "  mean", &d->mean, s->mean);
    print_real(d, "  stddev", &d->mean, s->stddev);
    if (as_percent_format(s->imbalance, percent)) as_output_printf(out, "  imbalance %s %%", percent);
    if (!d->is_computed) print_real(d, "  excess", &d->sum, s->excess);
    as_output_text(out, "\n  ");
    print_extreme(d, "min", s->whole_min, s->min, s->min_at);
    print_real(d, "  q1", &d->mean, s->q1);
    print_real(d, "  median", &d->mean, s->median);
    print_real(d, "  q3", &d->mean, s->q3);
    as_output_text(out, "  ");
    print_extreme(d, "max", s->whole_max, s->max, s->max_at);
    as_output_char(out, '\n');
}

/* ---- histogram --------------------------------------------------------------------------------------------------- */

/* "0-3, 7" of ascending places, cut where there is no room; a run of neighbours is named by its ends. */
static void put_places(const as_stat_view *view, const uint32_t *places, size_t n, as_text *out) {
    for (size_t i = 0, end; i < n; i = end) {
        char first[AS_PLACE_SIZE], last[AS_PLACE_SIZE];
        for (end = i + 1; end < n && places[end] == places[end - 1] + 1;) end++;
        as_stat_place(view, places[i], first);
        as_stat_place(view, places[end - 1], last);
        if (i) as_text_add(out, ", ");
        as_text_add(out, first);
        if (end - i > 1) {
            as_text_add(out, end - i > 2 ? "-" : ", ");
            as_text_add(out, last);
        }
        if (as_text_size(out) > 4 * PLACES_WIDTH) return; /* more than is ever shown */
    }
}

static void print_bin(const struct detail *d, double from, double to, const size_t ends[2], uint32_t most,
                      uint32_t *places, as_text *text) {
    char low[AS_QUANTITY_SIZE], high[AS_QUANTITY_SIZE];
    size_t n = ends[1] - ends[0];
    as_quantity_format(&d->mean, (as_number){.kind = AS_REAL, .r = from}, low);
    as_quantity_format(&d->mean, (as_number){.kind = AS_REAL, .r = to}, high);
    for (size_t i = 0; i < n; i++) places[i] = d->members[ends[0] + i].place;
    if (n) qsort(places, n, sizeof *places, compare_places);
    as_output_printf(d->cli->out, "  %10s %s %-10s %6zu", low, d->view->is_ascii ? "-" : "…", high, n);
    if (n) {
        as_output_printf(d->cli->out, "  %s", as_sgr(d->cli->style.colour, AS_CYAN));
        double part = fmax((double)n / most, 1.0 / BAR_WIDTH); /* what is there is seen */
        size_t used = as_bar_write(d->cli->out, part, BAR_WIDTH, d->view->is_ascii);
        as_output_text(d->cli->out, as_sgr(d->cli->style.colour, AS_PLAIN));
        as_display_pad(d->cli->out, BAR_WIDTH - used + 2);
        as_text_clear(text);
        put_places(d->view, places, n, text);
        as_display_write(d->cli->out, as_text_data(text), as_text_size(text), PLACES_WIDTH);
    }
    as_output_char(d->cli->out, '\n');
}

static uint32_t choose_bins(uint32_t n) {
    uint32_t bins = 4;
    while (bins < MOST_BINS && bins * bins < n) bins++;
    return bins;
}

/* The members are in order: each bin takes those up to its end. */
static bool print_histogram(const struct detail *d) {
    uint32_t counts[MOST_BINS], n_bins = choose_bins(d->n), most = 1;
    double min = d->spread->min, max = d->spread->max;
    uint32_t *places = malloc((d->n + 1) * sizeof *places);
    double *reals = malloc((d->n + 1) * sizeof *reals);
    as_text text;
    as_text_init(&text);
    bool fine = places && reals;
    for (uint32_t i = 0; fine && i < d->n; i++) reals[i] = d->members[i].real;
    if (fine) as_spread_count(reals, d->n, min, max, counts, n_bins);
    for (uint32_t i = 0; fine && i < n_bins; i++) most = counts[i] > most ? counts[i] : most;
    size_t ends[2] = {0, 0};
    for (uint32_t i = 0; fine && i < n_bins; i++) {
        double low = (double)i / n_bins, high = (double)(i + 1) / n_bins;
        ends[0] = ends[1];
        ends[1] += counts[i];
        print_bin(d, min * (1 - low) + max * low, min * (1 - high) + max * high, ends, most, places, &text);
    }
    fine = fine && !text.failed;
    as_text_free(&text);
    free(places);
    free(reals);
    return fine;
}

/* "most   3: 1.90   0: 1.85": the first members. */
static void print_members(const struct detail *d, const char *name) {
    as_output_printf(d->cli->out, "  %-7s", name);
    for (uint32_t i = 0; i < d->n && i < EXTREMES; i++) {
        const struct member *m = &d->members[i];
        char label[AS_PLACE_SIZE], value[AS_QUANTITY_SIZE];
        as_stat_place(d->view, m->place, label);
        as_quantity_format(&d->value, m->value, value);
        if (i) as_output_text(d->cli->out, "   ");
        as_display_write(d->cli->out, label, strlen(label), 0);
        as_output_printf(d->cli->out, ": %s", value);
    }
    as_output_char(d->cli->out, '\n');
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool take_members(struct detail *d, const as_number *values) {
    d->members = malloc((d->view->places.n + 1) * sizeof *d->members);
    for (uint32_t i = 0; d->members && i < d->view->places.n; i++) {
        double real = as_number_real(values[i]);
        if (!isnan(real)) d->members[d->n++] = (struct member){.place = i, .value = values[i], .real = real};
    }
    if (d->n) qsort(d->members, d->n, sizeof *d->members, compare_members);
    return d->members != NULL;
}

/* With loops and lines: it is one of many paths that may differ in nothing else. */
static bool print_path(as_cli *cli, const as_stat_view *view) {
    as_path_style style = {.with_places = true, .ellipsis = as_display_ellipsis(cli->out)};
    as_text path;
    as_vec names;
    as_text_init(&path);
    as_vec_init(&names, sizeof(assay_id), NULL);
    as_context_put_path(&path, view->ds, view->context, &style, &names);
    as_display_write(cli->out, as_text_data(&path), as_text_size(&path), 0);
    as_output_char(cli->out, '\n');
    bool fine = !path.failed;
    as_vec_free(&names);
    as_text_free(&path);
    return fine;
}

bool as_stat_detail(as_cli *cli, const as_stat_view *view, const as_stat_metric *m) {
    bool fine = print_path(cli, view);
    int kind = m->kinds & AS_INCLUSIVE_VALUES ? 0 : 1;
    const as_spread *s = m->n_rows && m->values[kind] ? &as_stat_row(m, 0)->spread : NULL;
    if (!s || (s->min == 0 && s->max == 0)) {
        as_output_printf(cli->out, "  %s\n", as_stat_nothing(view, m));
        return fine;
    }
    const char *unit = as_ds_text(view->ds, as_ds_metric(view->ds, m->metric)->unit);
    double largest = fmax(fabs(s->min), fabs(s->max));
    struct detail d = {.cli = cli,
                       .view = view,
                       .spread = s,
                       .is_computed = as_is_computed(view->ds, &view->places, m->metric),
                       .value = as_quantity_of(unit, largest, s->is_integer),
                       .mean = as_quantity_of(unit, largest, false),
                       .sum = as_quantity_of(unit, s->sum, s->is_integer)};
    if (!fine || !take_members(&d, m->values[kind])) return false;
    print_numbers(&d);
    if (d.n && isfinite(s->min) && isfinite(s->max) && s->min != s->max) {
        as_output_char(cli->out, '\n');
        fine = print_histogram(&d);
        as_output_char(cli->out, '\n');
        qsort(d.members, d.n, sizeof *d.members, compare_members_down);
        print_members(&d, "most");
        qsort(d.members, d.n, sizeof *d.members, compare_members);
        print_members(&d, "least");
    }
    free(d.members);
    return fine;
}
