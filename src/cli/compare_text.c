/* `assay compare` for people: a verdict, and tables of what changed. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/compare_view.h"
#include "render/display.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

bool as_compare_is_shown(const as_compare_view *view, const as_judgement *j) {
    return j->outcome != AS_OUTCOME_SAME || as_cli_has(view->cli, "all");
}

size_t as_compare_limit(const as_compare_view *view) {
    enum { USUAL = 30 };
    const char *text = as_cli_value(view->cli, "limit");
    as_number number;
    if (text && as_number_parse(text, strlen(text), &number) && number.kind == AS_INT && number.i > 0)
        return (size_t)number.i;
    return as_cli_has(view->cli, "all") ? SIZE_MAX : USUAL;
}

as_quantity as_compare_quantity(const as_compare_view *view, size_t metric) {
    double largest = 0;
    bool is_whole = true;
    for (size_t i = 0; i < view->verdict.n; i++) {
        const as_judgement *j = &view->verdict.judgements[i];
        if (j->subject->in_metric != metric || !as_compare_is_shown(view, j)) continue;
        for (size_t side = 0; side < 2; side++) {
            double value = side ? j->target : j->base;
            if (!isfinite(value)) continue;
            largest = fmax(largest, fabs(value));
            is_whole &= floor(value) == value && fabs(value) < 0x1p53;
        }
    }
    return as_quantity_of(view->verdict.metrics[metric].metric->unit, largest, is_whole);
}

static void put_number(const as_quantity *q, double value, bool with_sign, char out[AS_COMPARE_CELL]) {
    char text[AS_QUANTITY_SIZE];
    if (isnan(value)) return;
    if (isinf(value))
        snprintf(text, sizeof text, "%sinf", value < 0 ? "-" : "");
    else
        as_quantity_format(q, (as_number){.kind = AS_REAL, .r = value}, text);
    snprintf(out, AS_COMPARE_CELL, "%s%s", with_sign && value > 0 ? "+" : "", text);
}

static void put_ratio(const as_judgement *j, char out[AS_COMPARE_CELL]) {
    char texts[3][32] = {""};
    if (isnan(j->ratio) || isnan(j->low)) return;
    const double numbers[] = {j->ratio, j->low, j->high};
    for (size_t i = 0; i < 3; i++) {
        if (isinf(numbers[i]))
            snprintf(texts[i], 32, "inf");
        else if (!as_real_format_digits(numbers[i], numbers[i] >= 1e4, 2, texts[i], 32))
            return;
    }
    snprintf(out, AS_COMPARE_CELL, "%s [%s, %s]", texts[0], texts[1], texts[2]);
}

static void put_p(double p, char out[AS_COMPARE_CELL]) {
    char text[AS_NUMBER_SIZE];
    if (isnan(p)) return;
    if (p < 0.001)
        snprintf(out, AS_COMPARE_CELL, "<0.001");
    else if (as_real_format_digits(p, false, 3, text, sizeof text))
        snprintf(out, AS_COMPARE_CELL, "%s", text);
}

void as_compare_row_set(const as_quantity *q, const as_judgement *j, as_compare_row *out) {
    memset(out->cells, 0, sizeof out->cells);
    out->judgement = j;
    put_number(q, j->base, false, out->cells[AS_COMPARE_BASE]);
    put_number(q, j->target, false, out->cells[AS_COMPARE_TARGET]);
    put_number(q, j->change, true, out->cells[AS_COMPARE_CHANGE]);
    if (isfinite(j->relative)) as_percent_change_format(j->relative, out->cells[AS_COMPARE_PERCENT]);
    put_ratio(j, out->cells[AS_COMPARE_RATIO]);
    put_p(j->adjusted_p, out->cells[AS_COMPARE_P]);
    snprintf(out->cells[AS_COMPARE_VERDICT], AS_COMPARE_CELL, "%s",
             j->outcome == AS_OUTCOME_SAME ? "" : as_outcome_name(j->outcome));
}

/* ---- a metric's table -------------------------------------------------------------------------------------------- */

typedef struct layout {
    as_quantity quantity;
    char heads[AS_COMPARE_COLUMNS][AS_QUANTITY_SIZE];
    size_t widths[AS_COMPARE_COLUMNS]; /* 0: left out */
    as_vec rows;                       /* as_compare_row */
    size_t n_same, n_rest;             /* left out */
} layout;

static bool collect_rows(const as_compare_view *view, size_t metric, layout *l) {
    size_t limit = as_compare_limit(view);
    for (size_t i = 0; i < view->verdict.n; i++) {
        const as_judgement *j = &view->verdict.judgements[i];
        if (j->subject->in_metric != metric) continue;
        if (!as_compare_is_shown(view, j)) {
            l->n_same++;
        } else if (l->rows.count >= limit) {
            l->n_rest++;
        } else {
            as_compare_row *row = as_vec_push(&l->rows);
            if (!row) return false;
            as_compare_row_set(&l->quantity, j, row);
        }
    }
    return true;
}

/* Columns that say least go first where the terminal is narrow. */
static void fit_columns(const as_compare_view *view, layout *l) {
    static const char *const heads[] = {"base", "target", "change", "%", "ratio", "p", "verdict"};
    static const unsigned char order[] = {AS_COMPARE_P,     AS_COMPARE_BASE,   AS_COMPARE_TARGET,
                                          AS_COMPARE_RATIO, AS_COMPARE_CHANGE, AS_COMPARE_VERDICT};
    enum { LEAST_PATH = 24 };
    const char *unit = as_unit_shown(&l->quantity, view->is_ascii);
    if (strcmp(unit, "occ") == 0 || strcmp(unit, "#") == 0) unit = "";
    size_t width = view->cli->style.width, used = 0;
    for (size_t c = 0; c < AS_COMPARE_COLUMNS; c++) {
        bool has_unit = c <= AS_COMPARE_CHANGE && *unit;
        snprintf(l->heads[c], AS_QUANTITY_SIZE, "%s%s%.40s", heads[c], has_unit ? " " : "", has_unit ? unit : "");
        for (size_t i = 0; i < l->rows.count; i++) {
            const char *cell = AS_AT(as_compare_row, &l->rows, i).cells[c];
            size_t needed = as_display_width(cell, strlen(cell));
            if (needed > l->widths[c]) l->widths[c] = needed;
        }
        size_t head = as_display_width(l->heads[c], strlen(l->heads[c]));
        if (l->widths[c] && l->widths[c] < head) l->widths[c] = head; /* what no row has is left out */
        used += l->widths[c] ? l->widths[c] + 2 : 0;
    }
    for (size_t i = 0; width && i < sizeof order && used + LEAST_PATH > width; i++) {
        used -= l->widths[order[i]] ? l->widths[order[i]] + 2 : 0;
        l->widths[order[i]] = 0;
    }
}

static const char *colour_of(as_outcome outcome) {
    switch (outcome) {
    case AS_OUTCOME_WORSE: return AS_RED;
    case AS_OUTCOME_MAYBE_WORSE: return AS_YELLOW;
    case AS_OUTCOME_BETTER:
    case AS_OUTCOME_MAYBE_BETTER: return AS_GREEN;
    case AS_OUTCOME_NEW:
    case AS_OUTCOME_GONE: return AS_CYAN;
    default: return "";
    }
}

static void put_cell(as_output *out, const layout *l, size_t column, const char *text) {
    size_t width = as_display_width(text, strlen(text)), room = l->widths[column];
    if (!room) return;
    bool is_left = column == AS_COMPARE_VERDICT;
    if (!is_left && width < room) as_display_pad(out, room - width);
    as_output_text(out, text);
    as_display_pad(out, is_left && width < room ? room - width + 2 : 2);
}

static void print_rows(const as_compare_view *view, const layout *l) {
    as_cli *cli = view->cli;
    bool colour = cli->style.colour;
    size_t used = 0, width = cli->style.width;
    for (size_t c = 0; c < AS_COMPARE_COLUMNS; c++) used += l->widths[c] ? l->widths[c] + 2 : 0;
    size_t room = !width || as_cli_has(cli, "full-names") ? 0 : width > used + 8 ? width - used : 8;
    as_output_text(cli->out, as_sgr(colour, AS_BOLD));
    for (size_t c = 0; c < AS_COMPARE_COLUMNS; c++) put_cell(cli->out, l, c, l->heads[c]);
    as_output_printf(cli->out, "call path%s\n", as_sgr(colour, AS_PLAIN));
    for (size_t i = 0; i < l->rows.count; i++) {
        const as_compare_row *row = &AS_AT(as_compare_row, &l->rows, i);
        const char *path = row->judgement->subject->path, *sgr = colour_of(row->judgement->outcome);
        for (size_t c = 0; c < AS_COMPARE_COLUMNS; c++) {
            bool is_coloured = colour && *sgr && l->widths[c] && row->cells[c][0] && c >= AS_COMPARE_CHANGE;
            as_output_text(cli->out, as_sgr(is_coloured, sgr));
            put_cell(cli->out, l, c, row->cells[c]);
            as_output_text(cli->out, as_sgr(is_coloured, AS_PLAIN));
        }
        as_display_write_end(cli->out, path, strlen(path), room);
        as_output_char(cli->out, '\n');
    }
}

static void print_rest(const as_compare_view *view, const layout *l) {
    as_output *out = view->cli->out;
    const char *dots = as_display_ellipsis(out);
    char count[AS_QUANTITY_SIZE];
    if (!l->n_same && !l->n_rest) return;
    as_output_text(out, as_sgr(view->cli->style.colour, AS_DIM));
    if (l->n_rest) {
        as_count_format(l->n_rest, count);
        as_output_printf(out, "%s %s more that changed; -n shows more, --all everything\n", dots, count);
    }
    if (l->n_same) {
        as_count_format(l->n_same, count);
        as_output_printf(out, "%s %s without a change that counts; --all shows them\n", dots, count);
    }
    as_output_text(out, as_sgr(view->cli->style.colour, AS_PLAIN));
}

/* "time 13.5 s → 15.7 s (+16.1 %), ratio …; geometric mean of ratios 1.05" */
static void print_metric_head(const as_compare_view *view, size_t metric) {
    as_output *out = view->cli->out;
    const as_metric_verdict *m = &view->verdict.metrics[metric];
    bool colour = view->cli->style.colour;
    as_output_text(out, as_sgr(colour, AS_BOLD));
    as_display_write(out, m->metric->name, strlen(m->metric->name), 0);
    as_output_printf(out, "%s  ", as_sgr(colour, AS_PLAIN));
    as_output_text(out, as_sgr(colour, colour_of(m->whole.outcome)));
    as_change_words(view, &m->whole, out);
    as_output_text(out, as_sgr(colour && *colour_of(m->whole.outcome), AS_PLAIN));
    if (as_matched_differ(m)) {
        as_output_text(out, "; matched ");
        as_change_words(view, &m->total, out);
    }
    if (m->n_ratios > 1) { /* that of one is the total's */
        char text[AS_NUMBER_SIZE];
        as_real_format(as_real_round(m->geometric_mean, 4), text);
        as_output_printf(out, "; geometric mean of %zu ratio%s %s", m->n_ratios, m->n_ratios == 1 ? "" : "s", text);
    }
    as_output_char(out, '\n');
}

static bool has_something(const as_compare_view *view, size_t metric) {
    const as_metric_verdict *m = &view->verdict.metrics[metric];
    bool has = metric == view->main_metric || as_cli_has(view->cli, "all") || m->total.outcome != AS_OUTCOME_SAME ||
               (m->has_whole && m->whole.outcome != AS_OUTCOME_SAME);
    for (size_t i = AS_OUTCOME_WORSE; i < AS_N_OUTCOMES; i++) has |= m->counts[i] > 0;
    return has;
}

static bool print_metric(const as_compare_view *view, size_t metric) {
    layout l = {.quantity = as_compare_quantity(view, metric)};
    as_vec_init(&l.rows, sizeof(as_compare_row), NULL);
    bool fine = collect_rows(view, metric, &l);
    if (fine) {
        as_output_char(view->cli->out, '\n');
        print_metric_head(view, metric);
        fit_columns(view, &l);
        if (l.rows.count) print_rows(view, &l);
        print_rest(view, &l);
    }
    as_vec_free(&l.rows);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

as_exit as_compare_print(as_compare_view *view) {
    as_cli *cli = view->cli;
    as_output *out = cli->out;
    bool colour = cli->style.colour;
    const char *sgr = colour_of(view->outcome);
    as_output_text(out, as_sgr(colour, *sgr ? sgr : AS_BOLD));
    as_output_text(out, as_verdict_word(view->outcome));
    as_output_printf(out, "%s: ", as_sgr(colour, AS_PLAIN));
    as_compare_summary(view, out);
    as_output_char(out, '\n');
    as_compare_method(view, out);
    as_output_char(out, '\n');
    as_output_text(out, as_sgr(colour, AS_DIM));
    for (size_t i = 0; as_compare_remark(view, i, out); i++) as_output_char(out, '\n');
    as_output_text(out, as_sgr(colour, AS_PLAIN));
    for (size_t i = 0; i < view->verdict.n_metrics; i++) {
        size_t metric = i == 0 ? view->main_metric : i - (i <= view->main_metric);
        if (has_something(view, metric) && !print_metric(view, metric)) return as_cli_memory(cli);
    }
    return AS_EXIT_FINE;
}
