/* `assay regress` for people, and as rows for CSV, JSON Lines and Markdown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/regress_view.h"
#include "render/display.h"
#include "render/plot_axis.h"

enum { DIGITS = 4, ROWS_ON_TERMINAL = 20, SKIPS_SHOWN = 3, BATCH = 1024 };

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

struct formula {
    as_vec *text;
    bool is_ascii, is_rich, fine;
};

static void put(struct formula *f, const char *text) { f->fine = f->fine && as_vec_text(f->text, text); }

static void put_number(struct formula *f, double value) {
    if (value < 0) put(f, f->is_ascii ? "-" : "−");
    value = fabs(value);
    char digits[AS_TICK_LABEL];
    _Static_assert((int)AS_TICK_LABEL >= (int)AS_NUMBER_SIZE, "for both kinds of numbers");
    if (f->is_rich)
        as_rich_number(value, DIGITS, digits);
    else
        as_real_format(as_real_round(value, DIGITS), digits);
    put(f, digits);
}

/* Of a number near 1 the digits that tell it from 1. */
static void put_base(struct formula *f, double base) {
    enum { MOST_DIGITS = 15 };
    double beyond = fabs(base - 1), digits = DIGITS + (beyond > 0 && beyond < 1 ? -floor(log10(beyond)) - 1 : 0);
    char text[AS_NUMBER_SIZE];
    as_real_format(as_real_round(base, digits > MOST_DIGITS ? MOST_DIGITS : (int)digits), text);
    put(f, text);
}

static void put_times(struct formula *f) { put(f, f->is_ascii ? "*" : "·"); }

static void put_x(struct formula *f) { put(f, f->is_rich ? "/{x}" : "x"); }

static void put_power(struct formula *f, const char *exponent) {
    put(f, f->is_rich ? "^{" : "^");
    put(f, exponent);
    if (f->is_rich) put(f, "}");
}

static void put_square(struct formula *f) {
    put_x(f);
    if (f->is_ascii || f->is_rich)
        put_power(f, "2");
    else
        put(f, "²");
}

/* " + 0.25·x" or " - 0.25·x". */
static void put_term(struct formula *f, double coefficient, void (*put_variable)(struct formula *f)) {
    if (coefficient == 0) return;
    put(f, coefficient < 0 ? (f->is_ascii ? " - " : " − ") : " + ");
    put_number(f, fabs(coefficient));
    put_times(f);
    put_variable(f);
}

static void put_logarithm(struct formula *f) {
    put(f, "ln(");
    put_x(f);
    put(f, ")");
}

/* "30 buckets, mean, doane": what there is to say of a curve without a formula. */
static void put_words(struct formula *f, const as_curve *curve) {
    char text[160] = "", width[AS_NUMBER_SIZE] = "", bandwidth[AS_NUMBER_SIZE] = "";
    if (curve->window_width >= 0) as_real_format(as_real_round(curve->window_width, DIGITS), width);
    if (!isnan(curve->bandwidth)) as_real_format(as_real_round(curve->bandwidth, DIGITS), bandwidth);
    switch (curve->model) {
    case AS_CURVE_REGRESSOGRAM: {
        const char *method = curve->buckets_method ? curve->buckets_method : "user"; /* a number that was given */
        bool is_given = strcmp(method, "user") == 0;
        snprintf(text, sizeof text, "%zu bucket%s, %.20s%s%.20s", curve->n_buckets, curve->n_buckets == 1 ? "" : "s",
                 curve->statistic_function ? curve->statistic_function : "?", is_given ? "" : ", ",
                 is_given ? "" : method);
        break;
    }
    case AS_CURVE_MOVING_AVERAGE:
        snprintf(text, sizeof text, "%.40s%s%s", curve->moving_method ? curve->moving_method : "moving average",
                 *width ? ", width " : "", width);
        break;
    case AS_CURVE_KERNEL:
        snprintf(text, sizeof text, "%.40s%s%s", curve->kernel_mode ? curve->kernel_mode : "kernel",
                 *bandwidth ? ", bandwidth " : "", bandwidth);
        break;
    default: break;
    }
    put(f, text);
}

bool as_regress_formula(const as_curve *curve, bool is_ascii, bool is_rich, as_vec *text) {
    struct formula f = {text, is_ascii, is_rich, true};
    const double *b = curve->coefficients;
    char exponent[AS_NUMBER_SIZE];
    text->count = 0;
    switch (curve->model) {
    case AS_CURVE_CONSTANT: put_number(&f, b[0]); break;
    case AS_CURVE_LINEAR:
        put_number(&f, b[0]);
        put_term(&f, b[1], put_x);
        break;
    case AS_CURVE_LOGARITHMIC:
        put_number(&f, b[0]);
        put_term(&f, b[1], put_logarithm);
        break;
    case AS_CURVE_POWER:
        put_number(&f, b[0]);
        put_times(&f);
        put_x(&f);
        as_real_format(as_real_round(b[1], DIGITS), exponent);
        put_power(&f, exponent);
        break;
    case AS_CURVE_EXPONENTIAL:
        put_number(&f, b[0]);
        put_times(&f);
        put_base(&f, b[1]);
        put_power(&f, "x");
        break;
    case AS_CURVE_QUADRATIC:
        put_number(&f, b[0]);
        put_term(&f, b[1], curve->n_coefficients == 2 ? put_square : put_x);
        if (curve->n_coefficients == 3) put_term(&f, b[2], put_square);
        break;
    default: put_words(&f, curve); break;
    }
    return f.fine && as_vec_append(text, "", 1);
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* Perun's best has the greatest r_square; a parabola has it wherever a line is as good. Here its third coefficient must
 * be worth it (by the Bayesian information criterion). */
static double unexplained(const as_regress_answer *answer, const as_curve *curve) {
    bool is_parabola = curve->model == AS_CURVE_QUADRATIC && curve->n_coefficients == 3;
    if (isnan(curve->r_square)) return INFINITY;
    if (!is_parabola || answer->request->fit.is_compatible) return 1 - curve->r_square;
    double n = 0;
    for (size_t low = 0, high = answer->points.n; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(curve->uid ? curve->uid : "", answer->points.points[middle].uid);
        if (order == 0) n = (double)answer->points.points[middle].n;
        if (order == 0) break;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (1 - curve->r_square) * (n > 0 ? pow(n, 1 / n) : 1);
}

bool as_regress_is_better(const as_regress_answer *answer, const as_curve *curve, const as_curve *rival) {
    enum { DIGITS_THAT_COUNT = 12 };
    return unexplained(answer, curve) < unexplained(answer, rival) - pow(10, -DIGITS_THAT_COUNT);
}

/* The parts that interval and bisection find are all answers, but no constants beside their lines. */
void as_regress_keep_best(as_regress_answer *answer) {
    as_vec *shown = &answer->shown;
    size_t kept = 0, next = 0;
    const as_regress_request *r = answer->request;
    bool has_parts = r->analysis == AS_ANALYSIS_FIT && r->fit.method != AS_REGRESS_FULL;
    for (size_t i = 0; i < shown->count; i = next) {
        const as_curve *best = as_answer_curve(answer, i);
        size_t best_at = AS_AT(size_t, shown, i);
        const char *uid = best->uid;
        for (next = i; next < shown->count; next++) {
            size_t at = AS_AT(size_t, shown, next);
            const as_curve *curve = as_answer_curve(answer, next);
            if (next > i && !(curve->uid && uid && strcmp(curve->uid, uid) == 0)) break;
            if (has_parts && curve->model != AS_CURVE_CONSTANT) AS_AT(size_t, shown, kept++) = at;
            if (!as_regress_is_better(answer, curve, best)) continue;
            best = curve;
            best_at = at;
        }
        if (!has_parts) AS_AT(size_t, shown, kept++) = best_at;
    }
    shown->count = kept;
}

static void format_range(const as_curve *curve, bool is_ascii, char *out, size_t size) {
    char from[AS_NUMBER_SIZE], to[AS_NUMBER_SIZE];
    as_real_format(as_real_round(curve->x_start, 6), from);
    as_real_format(as_real_round(curve->x_end, 6), to);
    if (isnan(curve->x_start) || isnan(curve->x_end))
        *out = '\0';
    else
        snprintf(out, size, is_ascii ? "%s ... %s" : "%s … %s", from, to);
}

/* Whether the first n rows have one range of x, which then need not stand in each. */
static bool has_one_range(const as_regress_answer *answer, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const as_curve *first = as_answer_curve(answer, 0), *curve = as_answer_curve(answer, i);
        if (!(curve->x_start == first->x_start && curve->x_end == first->x_end)) return false;
    }
    return n > 0;
}

/* Columns: uid, model, R2, x (unless it is the same in all), formula. */
static bool add_text_row(as_table *table, const as_curve *curve, bool with_range, bool is_ascii, as_vec *formula) {
    char range[2 * AS_NUMBER_SIZE + 8], quality[AS_NUMBER_SIZE] = "";
    format_range(curve, is_ascii, range, sizeof range);
    if (isfinite(curve->r_square)) as_real_format_digits(curve->r_square, false, 4, quality, sizeof quality);
    if (!as_regress_formula(curve, is_ascii, false, formula)) return false;
    as_cell cells[5] = {as_cell_text(curve->uid ? curve->uid : ""), as_cell_text(as_curve_word(curve)),
                        *quality ? as_cell_text(quality) : as_cell_null()};
    if (with_range) cells[3] = as_cell_text(range);
    cells[3 + with_range] = as_cell_text(formula->data);
    return as_table_append(table, cells);
}

static void print_skipped(as_cli *cli, const as_regress_answer *answer) {
    const as_vec *skipped = &answer->curves.skipped;
    if (!skipped->count) return;
    as_output_printf(cli->out, "%sskipped:%s ", as_sgr(cli->style.colour, AS_YELLOW),
                     as_sgr(cli->style.colour, AS_PLAIN));
    size_t n = skipped->count > SKIPS_SHOWN + 1 ? SKIPS_SHOWN : skipped->count;
    for (size_t i = 0; i < n; i++) {
        const as_skipped_curve *one = &AS_AT(as_skipped_curve, skipped, i);
        if (i) as_output_text(cli->out, "; ");
        as_display_write(cli->out, one->uid, strlen(one->uid), 40);
        if (one->model) as_output_printf(cli->out, ", %s", one->model);
        as_output_printf(cli->out, ": %s", one->reason);
    }
    if (n < skipped->count)
        as_output_printf(cli->out, "; %s %zu more in --json", as_display_ellipsis(cli->out), skipped->count - n);
    as_output_char(cli->out, '\n');
}

const char *as_regress_unit(const as_regress_answer *answer) {
    const as_dataset *ds = answer->ds;
    bool is_measured = answer->points.is_measured,
         is_amount = answer->points.of && strcmp(answer->points.of, "amount") == 0;
    if (!is_measured && (!is_amount || AS_COUNT(ds, metrics) != 1)) return NULL;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const char *name = as_ds_text(ds, as_ds_metric(ds, id)->name),
                   *unit = as_ds_text(ds, as_ds_metric(ds, id)->unit);
        if (!is_measured || (name && strcmp(name, answer->points.of) == 0)) return unit && *unit ? unit : NULL;
    }
    return NULL;
}

/* "sort.perf: 4 uids, amount over structure-unit-size (x)". range: of x in all rows; "": they have their own. */
static void print_heading(as_cli *cli, const as_regress_answer *answer, const char *path, const char *range) {
    const as_points_set *points = &answer->points;
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
    as_display_write(cli->out, path, strlen(path), 0);
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
    if (answer->request->analysis == AS_ANALYSIS_STORED) {
        size_t n = answer->curves.curves.count;
        as_output_printf(cli->out, ": %zu stored model%s", n, n == 1 ? "" : "s");
        if (*range) as_output_printf(cli->out, " (x: %s)", range);
        as_output_char(cli->out, '\n');
        return;
    }
    const char *what = points->is_measured ? "call path" : "uid";
    as_output_printf(cli->out, ": %zu %s%s", points->n, what, points->n == 1 ? "" : "s");
    if (points->of) {
        as_output_text(cli->out, ", ");
        as_display_write(cli->out, points->of, strlen(points->of), 0);
        const char *unit = as_regress_unit(answer);
        if (unit) as_output_text(cli->out, " [");
        if (unit) as_display_write(cli->out, unit, strlen(unit), 0);
        as_output_text(cli->out, unit ? "] over " : " over ");
        as_display_write(cli->out, points->per, strlen(points->per), 0);
        as_output_printf(cli->out, *range ? " (x: %s)" : " (x%s)", range);
    }
    as_output_char(cli->out, '\n');
}

bool as_regress_text(as_cli *cli, const as_regress_answer *answer, const char *path) {
    bool is_ascii = as_cli_is_ascii(cli), fine = true;
    as_regress_analysis analysis = answer->request->analysis;
    bool has_formulas = analysis == AS_ANALYSIS_FIT || analysis == AS_ANALYSIS_STORED;
    size_t limit = answer->request->limit, n = answer->shown.count;
    if (limit == SIZE_MAX && !as_cli_has(cli, "limit") && cli->is_terminal && !answer->request->all)
        limit = ROWS_ON_TERMINAL;
    size_t rows = n < limit ? n : limit;
    bool with_range = !has_one_range(answer, rows);
    const char *last = has_formulas ? "formula" : "curve";
    const as_column columns[] = {{answer->points.is_measured ? "call path" : "uid"},
                                 {"model"},
                                 {is_ascii ? "R2" : "R²"},
                                 {with_range ? "x" : last},
                                 {last}};
    as_table *table = as_table_new(columns, with_range ? 5 : 4, NULL);
    char range[2 * AS_NUMBER_SIZE + 8] = "";
    as_vec formula;
    as_vec_init(&formula, 1, NULL);
    if (!with_range) format_range(as_answer_curve(answer, 0), is_ascii, range, sizeof range);
    print_heading(cli, answer, path, range);
    for (size_t i = 0; table && fine && i < rows; i++)
        fine = add_text_row(table, as_answer_curve(answer, i), with_range, is_ascii, &formula);
    if (table && fine && rows) {
        as_print_style style = cli->style;
        style.keep_end = answer->points.is_measured;
        style.last_below = true;
        fine = as_print_table(cli->out, table, style);
    }
    if (rows < n) as_output_printf(cli->out, "%s %zu more; -n 0 shows all\n", as_display_ellipsis(cli->out), n - rows);
    if (fine) print_skipped(cli, answer);
    as_vec_free(&formula);
    fine = fine && table;
    as_table_free(table);
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const as_column flat_columns[] = {{"file"},      {"uid"},          {"model"},   {"method"}, {"r_square"},
                                         {"x_start"},   {"x_end"},        {"b0"},      {"b1"},     {"b2"},
                                         {"bandwidth"}, {"window_width"}, {"buckets"}, {"formula"}};
enum { FLAT_COLUMNS = sizeof flat_columns / sizeof *flat_columns };

as_table *as_regress_flat_table(void) { return as_table_new(flat_columns, FLAT_COLUMNS, NULL); }

static as_cell known_cell(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

static as_cell coefficient(const as_curve *curve, unsigned i) {
    return i < curve->n_coefficients ? known_cell(curve->coefficients[i]) : as_cell_null();
}

bool as_regress_flat(as_printer *printer, as_table *batch, const as_regress_answer *answer, const char *path) {
    bool fine = true;
    as_vec formula;
    as_vec_init(&formula, 1, NULL);
    for (size_t i = 0; fine && i < answer->shown.count && i < answer->request->limit; i++) {
        const as_curve *curve = as_answer_curve(answer, i);
        fine = as_regress_formula(curve, true, false, &formula);
        if (!fine) break;
        as_cell cells[FLAT_COLUMNS] = {
            as_cell_text(path),
            as_cell_text(curve->uid),
            as_cell_text(as_curve_word(curve)),
            as_cell_text(curve->method),
            known_cell(curve->r_square),
            known_cell(curve->x_start),
            known_cell(curve->x_end),
            coefficient(curve, 0),
            coefficient(curve, 1),
            coefficient(curve, 2),
            known_cell(curve->bandwidth),
            curve->window_width >= 0 ? as_cell_real(curve->window_width) : as_cell_null(),
            curve->bucket_stats ? as_cell_int((int64_t)curve->n_buckets) : as_cell_null(),
            as_cell_text(formula.data),
        };
        fine = as_table_append(batch, cells);
        if (!fine || as_table_rows(batch) < BATCH) continue;
        fine = as_printer_rows(printer, batch);
        as_table_clear(batch);
    }
    if (fine && as_table_rows(batch)) fine = as_printer_rows(printer, batch);
    as_table_clear(batch);
    as_vec_free(&formula);
    return fine;
}
