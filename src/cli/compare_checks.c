/* `compare --check`: Perun's checks, printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checks/checks.h"
#include "analysis/regress/regress.h"
#include "cli/compare.h"
#include "cli/compatible.h"
#include "core/words.h"
#include "render/display.h"

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* Names with commas between them: find() turns each into a bit. */
typedef struct name_list {
    const char *option, *what;
    bool (*find)(const char *name, unsigned *bits);
    const char *(*name)(unsigned index); /* those there are; NULL: no more */
} name_list;

static bool find_check(const char *name, unsigned *bits) {
    as_check check;
    if (strcmp(name, "all") == 0) {
        *bits |= (1u << AS_N_CHECKS) - 1;
        return true;
    }
    if (!as_check_find(name, &check)) return false;
    *bits |= 1u << check;
    return true;
}

static const char *check_name(unsigned index) {
    if (index < AS_N_CHECKS) return as_check_name((as_check)index);
    return index < 2 * AS_N_CHECKS ? as_check_short_name((as_check)(index - AS_N_CHECKS)) : NULL;
}

static bool find_strategy(const char *name, unsigned *bits) {
    as_strategy strategy;
    if (!as_strategy_find(name, &strategy)) return false;
    *bits |= 1u << strategy;
    return true;
}

static const char *strategy_name(unsigned index) {
    return index < AS_N_STRATEGIES ? as_strategy_name((as_strategy)index) : NULL;
}

static as_exit fail_name(as_cli *cli, const name_list *list, const char *name) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (unsigned i = 0; list->name(i); i++) as_nearest_offer(&nearest, list->name(i));
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s: there is no %s '%s'; did you mean '%s'?", list->option,
                           list->what, name, nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s: there is no %s '%s'; --help lists them", list->option, list->what,
                       name);
}

static as_exit read_names(as_cli *cli, const name_list *list, unsigned *bits) {
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, list->option) != 0) continue;
        for (const char *at = given->value, *end; at; at = *end ? end + 1 : NULL) {
            end = at + strcspn(at, ",");
            char *name = strndup(at, (size_t)(end - at));
            if (!name) return as_cli_memory(cli);
            as_exit status = list->find(name, bits) ? AS_EXIT_FINE : fail_name(cli, list, name);
            free(name);
            if (status != AS_EXIT_FINE) return status;
        }
    }
    return AS_EXIT_FINE;
}

static as_exit read_request(as_cli *cli, as_check_request *out) {
    static const name_list checks = {"check", "check", find_check, check_name};
    static const name_list strategies = {"strategy", "strategy", find_strategy, strategy_name};
    *out = (as_check_request){0};
    as_exit status = read_names(cli, &checks, &out->checks);
    if (status == AS_EXIT_FINE) status = read_names(cli, &strategies, &out->strategies);
    if (status == AS_EXIT_FINE) status = as_cli_compatible(cli, &out->is_compatible);
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* null where there is none; Perun's NaN is one. */
static void build_number(as_builder *builder, const char *key, double value, bool is_compatible) {
    if (isnan(value) && !is_compatible)
        as_build_text(builder, key, NULL);
    else
        as_build_real(builder, key, value);
}

static void build_change(as_builder *builder, const as_check_change *change, bool is_compatible) {
    as_build_object(builder, NULL, false);
    as_build_text(builder, "check", as_check_name(change->check));
    as_build_text(builder, "strategy", change->strategy);
    as_build_text(builder, "location", change->location);
    as_build_text(builder, "result", as_result_name(change->result));
    as_build_text(builder, "type", change->type);
    as_build_text(builder, "from", change->from);
    as_build_text(builder, "to", change->to);
    build_number(builder, "rate", change->rate, is_compatible);
    build_number(builder, "rate_relative", change->rate_relative, is_compatible);
    as_build_text(builder, "confidence_type", change->confidence_type);
    build_number(builder, "confidence", change->confidence, is_compatible);
    as_build_array(builder, "partial_intervals", false);
    for (size_t i = 0; i < change->n_intervals; i++) {
        const as_check_interval *interval = &change->intervals[i];
        as_build_array(builder, NULL, false);
        as_build_text(builder, NULL, as_result_name(interval->result));
        build_number(builder, NULL, interval->relative, is_compatible);
        as_build_real(builder, NULL, interval->from);
        as_build_real(builder, NULL, interval->to);
        as_build_end(builder);
    }
    as_build_end(builder);
    as_build_end(builder);
}

static void print_json(as_cli *cli, const as_check_report *report, bool is_compatible) {
    as_builder builder = as_builder_of(cli->out);
    as_build_object(&builder, NULL, true);
    as_build_array(&builder, "changes", true);
    for (size_t i = 0; i < report->changes.count; i++)
        build_change(&builder, &AS_AT(as_check_change, &report->changes, i), is_compatible);
    as_build_end(&builder);
    as_build_array(&builder, "skipped", true);
    for (size_t i = 0; i < report->skipped.count; i++) {
        const as_check_skipped *skipped = &AS_AT(as_check_skipped, &report->skipped, i);
        as_build_object(&builder, NULL, false);
        as_build_text(&builder, "check", as_check_name(skipped->check));
        as_build_text(&builder, "reason", skipped->reason);
        as_build_end(&builder);
    }
    as_build_end(&builder);
    as_build_end(&builder);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* How bad a result is: the worst first, then the best, then what is new or gone. */
static int rank(as_result result) {
    static const int ranks[] = {
        [AS_TOTAL_DEGRADATION - AS_UNKNOWN] = 0,  [AS_SEVERE_DEGRADATION - AS_UNKNOWN] = 1,
        [AS_DEGRADATION - AS_UNKNOWN] = 2,        [AS_MAYBE_DEGRADATION - AS_UNKNOWN] = 3,
        [AS_NOT_IN_BASELINE - AS_UNKNOWN] = 4,    [AS_NOT_IN_TARGET - AS_UNKNOWN] = 5,
        [AS_TOTAL_OPTIMIZATION - AS_UNKNOWN] = 6, [AS_SEVERE_OPTIMIZATION - AS_UNKNOWN] = 7,
        [AS_OPTIMIZATION - AS_UNKNOWN] = 8,       [AS_MAYBE_OPTIMIZATION - AS_UNKNOWN] = 9,
        [AS_NO_CHANGE - AS_UNKNOWN] = 11,         [0 /* AS_UNKNOWN */] = 10,
    };
    return ranks[result - AS_UNKNOWN];
}

/* How large a change is: amounts have ratios, of which half is as much as twice. Not known: smaller than all. */
static double size_of(const as_check_change *change) {
    if (isnan(change->rate)) return -1;
    if (change->check != AS_CHECK_AMOUNT) return fabs(change->rate);
    return change->rate > 0 ? fabs(log(change->rate)) : INFINITY;
}

static int compare_changes(const void *a, const void *b) {
    const as_check_change *x = *(const as_check_change *const *)a, *y = *(const as_check_change *const *)b;
    int order = rank(x->result) - rank(y->result);
    if (!order) order = (int)x->check - (int)y->check;
    if (!order) {
        double of_x = size_of(x), of_y = size_of(y);
        order = (of_y > of_x) - (of_y < of_x);
    }
    return order ? order : x < y ? -1 : x > y;
}

/* "2.5x", "+12.3 %", "+3.21 ms": what the rate of a check means. */
static const char *rate_text(const as_check_change *change, bool is_compatible, char *buffer, size_t size) {
    double rate = change->rate;
    char digits[AS_NUMBER_SIZE];
    const char *unit = " %";
    bool is_percent = is_compatible && (change->check == AS_CHECK_POLYNOMIAL || change->check == AS_CHECK_LINEAR ||
                                        change->check == AS_CHECK_FAST);
    if (isnan(rate)) return "";
    if (change->check == AS_CHECK_AMOUNT)
        unit = "x";
    else if (change->check == AS_CHECK_ORDER)
        unit = "";
    else if (change->check == AS_CHECK_OUTLIERS)
        unit = " ms";
    else if (!is_percent)
        rate *= 100;
    as_real_format(as_real_round(rate, 4), digits);
    snprintf(buffer, size, "%s%s%s", rate > 0 && *unit != 'x' ? "+" : "", digits, unit);
    return buffer;
}

static const char *confidence_text(const as_check_change *change, char *buffer, size_t size) {
    char digits[AS_NUMBER_SIZE];
    if (change->check == AS_CHECK_AMOUNT || isnan(change->confidence) || strcmp(change->confidence_type, "N/A") == 0)
        return "";
    as_real_format(as_real_round(change->confidence, 3), digits);
    const char *name = strcmp(change->confidence_type, "r_square") == 0       ? "r2"
                       : strcmp(change->confidence_type, "IQR_multiple") == 0 ? "IQR x"
                                                                              : "stddev x";
    snprintf(buffer, size, "%s %s", name, digits);
    return buffer;
}

/* "10.0us -> 30.0us", or the one word where nothing is another. */
static bool describe_sides(const as_check_change *change, as_vec *out) {
    out->count = 0;
    bool is_same = strcmp(change->from, change->to) == 0;
    return as_vec_text(out, change->from) && (is_same || (as_vec_text(out, " -> ") && as_vec_text(out, change->to)));
}

/* For people: what changed, in few columns. */
static bool fill_text(as_table *table, const as_check_change *const *changes, size_t n, bool is_compatible) {
    as_vec sides;
    as_vec_init(&sides, 1, NULL);
    bool is_done = true;
    for (size_t i = 0; is_done && i < n; i++) {
        const as_check_change *change = changes[i];
        char rate[64], confidence[64], check[64];
        bool is_named = change->strategy && strcmp(change->strategy, as_strategy_name(AS_BEST_MODEL)) != 0;
        snprintf(check, sizeof check, "%s%s%s", as_check_short_name(change->check), is_named ? " " : "",
                 is_named ? change->strategy : "");
        if (!(is_done = describe_sides(change, &sides))) break;
        as_cell cells[] = {as_cell_text(as_result_name(change->result)),
                           as_cell_text(check),
                           as_cell_text(rate_text(change, is_compatible, rate, sizeof rate)),
                           as_cell_text_n(sides.data, sides.count),
                           as_cell_text(confidence_text(change, confidence, sizeof confidence)),
                           as_cell_text(change->location)};
        is_done = as_table_append(table, cells);
    }
    as_vec_free(&sides);
    return is_done;
}

static as_cell number_cell(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

/* For programs: all of it but the intervals. */
static bool fill_rows(as_table *table, const as_check_report *report) {
    for (size_t i = 0; i < report->changes.count; i++) {
        const as_check_change *change = &AS_AT(as_check_change, &report->changes, i);
        as_cell cells[] = {as_cell_text(as_check_name(change->check)),
                           as_cell_text(change->strategy),
                           as_cell_text(change->location),
                           as_cell_text(as_result_name(change->result)),
                           as_cell_text(change->type),
                           as_cell_text(change->from),
                           as_cell_text(change->to),
                           number_cell(change->rate),
                           number_cell(change->rate_relative),
                           as_cell_text(change->confidence_type),
                           number_cell(change->confidence)};
        if (!as_table_append(table, cells)) return false;
    }
    return true;
}

static as_exit print_rows(as_cli *cli, const as_check_report *report) {
    static const as_column columns[] = {
        {"check"}, {"strategy"}, {"location"},      {"result"},          {"type"},      {"from"},
        {"to"},    {"rate"},     {"rate_relative"}, {"confidence_type"}, {"confidence"}};
    as_table *table = as_table_new(columns, sizeof columns / sizeof *columns, NULL);
    as_exit status = table && fill_rows(table, report) ? as_cli_print(cli, table) : as_cli_memory(cli);
    as_table_free(table);
    return status;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t worse, maybe_worse, better, maybe_better, new, gone, unknown, same;
} tally;

static tally count(const as_check_report *report) {
    tally t = {0};
    for (size_t i = 0; i < report->changes.count; i++) {
        as_result result = AS_AT(as_check_change, &report->changes, i).result;
        if (as_result_is_degradation(result))
            t.worse++;
        else if (result == AS_MAYBE_DEGRADATION)
            t.maybe_worse++;
        else if (result == AS_MAYBE_OPTIMIZATION)
            t.maybe_better++;
        else if (result == AS_NO_CHANGE)
            t.same++;
        else if (result == AS_NOT_IN_BASELINE)
            t.new ++;
        else if (result == AS_NOT_IN_TARGET)
            t.gone++;
        else if (result == AS_UNKNOWN)
            t.unknown++;
        else
            t.better++;
    }
    return t;
}

static void print_part(as_cli *cli, bool *is_first, size_t n, const char *one, const char *many, const char *colour) {
    if (!n) return;
    as_output_text(cli->out, *is_first ? "" : ", ");
    as_output_printf(cli->out, "%s%zu %s%s", as_sgr(cli->style.colour, colour), n, n == 1 ? one : many,
                     as_sgr(cli->style.colour, AS_PLAIN));
    *is_first = false;
}

/* "2 degradations, 1 maybe, 5 unchanged" */
static void print_verdict(as_cli *cli, const tally *t) {
    bool is_first = true, is_markdown = cli->style.mode == AS_PRINT_MARKDOWN;
    if (is_markdown) as_output_text(cli->out, "**");
    print_part(cli, &is_first, t->worse, "degradation", "degradations", AS_RED);
    print_part(cli, &is_first, t->maybe_worse, "maybe a degradation", "maybe degradations", AS_YELLOW);
    print_part(cli, &is_first, t->better, "optimization", "optimizations", AS_GREEN);
    print_part(cli, &is_first, t->maybe_better, "maybe an optimization", "maybe optimizations", AS_GREEN);
    print_part(cli, &is_first, t->new, "new", "new", AS_CYAN);
    print_part(cli, &is_first, t->gone, "gone", "gone", AS_CYAN);
    print_part(cli, &is_first, t->unknown, "unknown", "unknown", AS_PLAIN);
    print_part(cli, &is_first, t->same, "unchanged", "unchanged", AS_PLAIN);
    if (is_first) as_output_text(cli->out, "nothing was compared");
    as_output_text(cli->out, is_markdown ? "**\n" : "\n");
}

/* Checks with the same reason share a line. */
static void print_skipped(as_cli *cli, const as_check_report *report) {
    const as_check_skipped *all = report->skipped.data;
    size_t n = report->skipped.count;
    for (size_t i = 0, end; i < n; i = end) {
        as_output_text(cli->out, i ? "skipped " : "\nskipped ");
        for (end = i; end < n && strcmp(all[end].reason, all[i].reason) == 0; end++)
            as_output_printf(cli->out, "%s%s", end > i ? ", " : "", as_check_short_name(all[end].check));
        as_output_printf(cli->out, ": %s\n", all[i].reason);
    }
}

static as_exit print_people(as_cli *cli, const as_check_report *report, bool is_compatible) {
    static const as_column columns[] = {{"result"}, {"check"}, {"rate"}, {"from -> to"}, {"confidence"}, {"location"}};
    tally t = count(report);
    size_t n = 0;
    bool is_all = as_cli_has(cli, "all");
    const as_check_change **shown = malloc((report->changes.count + 1) * sizeof *shown);
    as_table *table = as_table_new(columns, sizeof columns / sizeof *columns, NULL);
    for (size_t i = 0; shown && i < report->changes.count; i++) {
        const as_check_change *change = &AS_AT(as_check_change, &report->changes, i);
        if (is_all || change->result != AS_NO_CHANGE) shown[n++] = change;
    }
    if (shown && n) qsort(shown, n, sizeof *shown, compare_changes);
    bool is_filled = shown && table && fill_text(table, shown, n, is_compatible);
    as_exit status = is_filled ? AS_EXIT_FINE : as_cli_memory(cli);
    if (is_filled) print_verdict(cli, &t);
    if (is_filled && n) {
        as_output_char(cli->out, '\n');
        cli->style.last_below = true;
        status = as_cli_print(cli, table);
    }
    if (is_filled) print_skipped(cli, report);
    free(shown);
    as_table_free(table);
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static as_exit verdict(const as_cli *cli, const as_check_report *report) {
    const char *fail_on = as_cli_value(cli, "fail-on");
    tally t = count(report);
    if (fail_on && strcmp(fail_on, "never") == 0) return AS_EXIT_FINE;
    bool is_maybe_enough = fail_on && strcmp(fail_on, "maybe") == 0;
    return t.worse || (is_maybe_enough && t.maybe_worse) ? AS_EXIT_CHECK : AS_EXIT_FINE;
}

static as_exit answer(as_cli *cli, const as_sides *sides, const as_check_request *request) {
    as_check_report report;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    if (as_checks_run(sides->parts[0][0], sides->parts[1][0], request, &report, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    else if (cli->style.mode == AS_PRINT_JSON)
        print_json(cli, &report, request->is_compatible);
    else if (cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN)
        status = print_people(cli, &report, request->is_compatible);
    else
        status = print_rows(cli, &report);
    if (status == AS_EXIT_FINE) status = verdict(cli, &report);
    as_check_report_free(&report);
    return status;
}

as_exit as_compare_checks(as_cli *cli) {
    as_check_request request;
    as_sides sides;
    as_exit status = read_request(cli, &request);
    if (status != AS_EXIT_FINE) return status;
    status = as_sides_open(cli, &sides);
    if (status == AS_EXIT_FINE && (sides.n[0] != 1 || sides.n[1] != 1))
        status = as_cli_fail(cli, AS_EXIT_USAGE, "--check compares one profile with another; give two files");
    if (status == AS_EXIT_FINE) status = answer(cli, &sides, &request);
    as_sides_close(&sides);
    return status;
}
