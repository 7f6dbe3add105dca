/* `assay stat --report`: what activities took by name, in the columns of `nsys stats`. */
#include "cli/stat_reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/reports.h"
#include "cli/answers.h"
#include "cli/profile_choice.h"
#include "cli/study.h"
#include "core/words.h"
#include "render/display.h"
#include "render/quantity.h"

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static as_exit fail_name(as_cli *cli, const char *given) {
    char known[800] = "";
    size_t used = 0;
    as_nearest nearest = as_nearest_start(given, strcspn(given, ":"));
    for (const as_report_kind *kind = as_report_kinds; kind->name; kind++) {
        as_nearest_offer(&nearest, kind->name);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s%s", used ? ", " : "", kind->name,
                                 kind->has_kernels ? "[:base|:mangled]" : "");
        if (used >= sizeof known) break;
    }
    bool is_other = nearest.word && strncmp(given, nearest.word, strlen(nearest.word)) != 0;
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no report '%s'%s%s%s; there are %s", given,
                       is_other ? "; did you mean '" : "", is_other ? nearest.word : "", is_other ? "'?" : "", known);
}

/* The report of the command line, which was checked. */
static const as_report_kind *kind_of(const as_cli *cli, as_report_names *names) {
    const as_report_kind *kind;
    as_report_names ignored;
    as_report_parse(as_cli_value(cli, "report"), &kind, names ? names : &ignored);
    return kind;
}

static as_exit check_options(as_cli *cli) {
    static const char *const others[] = {"over",    "worst",        "exclusive", "inclusive", "by",
                                         "context", "match",        "group-by",  "metric",    "derive",
                                         "sort",    "all-contexts", NULL};
    const as_report_kind *kind;
    as_report_names names;
    for (size_t i = 0; others[i]; i++) {
        if (as_cli_has(cli, others[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--report and --%s exclude each other", others[i]);
    }
    const char *given = as_cli_value(cli, "report");
    return as_report_parse(given, &kind, &names) ? AS_EXIT_FINE : fail_name(cli, given);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { SHARE, TOTAL, COUNT, MEAN, MEDIAN, MINIMUM, MAXIMUM, DEVIATION, CATEGORY, STYLE, LABEL, N_COLUMNS };

static bool has_column(const as_report_kind *kind, int column) {
    return column == SHARE      ? !kind->is_size
           : column == CATEGORY ? kind->has_category
                                : column != STYLE || kind->has_style;
}

static const char *head_of(const as_report_kind *kind, int column) {
    static const char *const of_time[] = {"Time (%)", "Total Time (ns)", NULL,          "Avg (ns)", "Med (ns)",
                                          "Min (ns)", "Max (ns)",        "StdDev (ns)", "Category", "Style"};
    static const char *const of_size[] = {NULL,       "Total (MB)", NULL,          "Avg (MB)", "Med (MB)",
                                          "Min (MB)", "Max (MB)",   "StdDev (MB)", NULL,       NULL};
    return column == COUNT   ? kind->count
           : column == LABEL ? kind->label
           : kind->is_size   ? of_size[column]
                             : of_time[column];
}

/* Times in ns and bytes in MB, unrounded. Whole numbers of ns are integers. */
static as_cell cell_of(const as_report_kind *kind, const as_report_row *row, int column) {
    double values[] = {[TOTAL] = row->total,     [MEAN] = row->mean,       [MEDIAN] = row->median,
                       [MINIMUM] = row->minimum, [MAXIMUM] = row->maximum, [DEVIATION] = row->deviation};
    bool is_whole = column == TOTAL || column == MINIMUM || column == MAXIMUM;
    switch (column) {
    case SHARE: return as_cell_real(row->share * 100);
    case COUNT: return as_cell_uint(row->n);
    case CATEGORY: return as_cell_text(row->category);
    case STYLE: return as_cell_text(row->style);
    case LABEL: return as_cell_text(row->name);
    default: break;
    }
    if (kind->is_size) return as_cell_real(values[column] / 1e6);
    return is_whole && values[column] < 0x1p63 ? as_cell_int((int64_t)values[column]) : as_cell_real(values[column]);
}

/* The same for people: "1,234.5", as many digits as nsys shows. */
static void format_cell(const as_report_kind *kind, as_cell cell, int column, char out[AS_QUANTITY_SIZE]) {
    char digits[AS_QUANTITY_SIZE];
    if (cell.type != AS_CELL_REAL) {
        as_count_format(cell.type == AS_CELL_INT ? (uint64_t)cell.i : cell.u, out);
        return;
    }
    size_t size = as_real_format_digits(cell.r, false, kind->is_size && column != SHARE ? 3 : 1, digits, sizeof digits);
    size_t point = strcspn(digits, ".");
    char behind[AS_QUANTITY_SIZE];
    snprintf(behind, sizeof behind, "%.*s", (int)(size - point), digits + point);
    size_t used = as_count_format(cell.r < 0x1p63 ? strtoull(digits, NULL, 10) : 0, out);
    snprintf(out + used, AS_QUANTITY_SIZE - used, "%s", behind);
}

static bool is_text_column(int column) { return column == CATEGORY || column == STYLE || column == LABEL; }

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static size_t shown_rows(const as_report *report, size_t limit) {
    return limit && limit < report->rows.count ? limit : report->rows.count;
}

static const as_report_row *row_at(const as_report *report, size_t i) {
    return &AS_AT(as_report_row, &report->rows, i);
}

static void build_json(as_builder *b, const as_dataset *ds, const as_report_kind *kind, const as_report *report,
                       size_t n) {
    as_build_object(b, NULL, true);
    as_build_text(b, "file", as_ds_text(ds, ds->path));
    as_build_text(b, "report", kind->name);
    as_build_text(b, "title", kind->title);
    as_build_array(b, "rows", true);
    for (size_t i = 0; i < n; i++) {
        as_build_object(b, NULL, false);
        for (int column = 0; column < N_COLUMNS; column++) {
            if (!has_column(kind, column)) continue;
            as_cell cell = cell_of(kind, row_at(report, i), column);
            const char *key = head_of(kind, column);
            if (cell.type == AS_CELL_TEXT)
                as_build_text(b, key, cell.text);
            else if (cell.type == AS_CELL_INT)
                as_build_int(b, key, cell.i);
            else
                as_build_real(b, key, cell.type == AS_CELL_UINT ? (double)cell.u : cell.r);
        }
        as_build_end(b);
    }
    as_build_end(b);
    as_build_end(b);
}

/* Rows for programs, or (Markdown) as people read them. file: what the first column has, or NULL: there is none. */
static bool add_rows(as_cli *cli, as_answers *a, const as_report_kind *kind, const as_report *report, size_t n,
                     const char *file) {
    bool is_markdown = cli->style.mode == AS_PRINT_MARKDOWN, fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        char texts[N_COLUMNS][AS_QUANTITY_SIZE];
        as_cell cells[N_COLUMNS + 1];
        size_t k = 0;
        if (file) cells[k++] = as_cell_text(file);
        for (int column = 0; column < N_COLUMNS; column++) {
            if (!has_column(kind, column)) continue;
            as_cell cell = cell_of(kind, row_at(report, i), column);
            if (is_markdown && !is_text_column(column)) {
                format_cell(kind, cell, column, texts[column]);
                cell = as_cell_text(texts[column]);
            }
            cells[k++] = cell;
        }
        fine = as_table_append(a->batch, cells);
    }
    fine = fine && as_printer_rows(a->printer, a->batch);
    as_table_clear(a->batch);
    return fine;
}

/* How the text is laid out: which columns there are, and how wide numbers are. */
typedef struct layout {
    bool has[N_COLUMNS];
    size_t widths[N_COLUMNS];
} layout;

/* Leaves out what says least until the numbers fit beside each other. Returns how many columns are left out. */
static size_t fit_columns(layout *l, unsigned width) {
    static const int dispensable[] = {DEVIATION, MEDIAN, MINIMUM, MAXIMUM, MEAN};
    enum { GAP = 2 };
    size_t n_left_out = 0, total = 0;
    for (int column = 0; column < LABEL; column++) total += l->has[column] ? l->widths[column] + GAP : 0;
    for (size_t i = 0; width && total > width && i < sizeof dispensable / sizeof *dispensable; i++) {
        total -= l->widths[dispensable[i]] + GAP;
        l->has[dispensable[i]] = false;
        n_left_out++;
    }
    return n_left_out;
}

static layout lay_out(const as_report_kind *kind, const as_report *report, size_t n) {
    layout l;
    for (int column = 0; column < N_COLUMNS; column++) {
        l.has[column] = has_column(kind, column);
        l.widths[column] = l.has[column] ? strlen(head_of(kind, column)) : 0;
        for (size_t i = 0; i < n && l.has[column] && column != LABEL; i++) {
            char text[AS_QUANTITY_SIZE];
            as_cell cell = cell_of(kind, row_at(report, i), column);
            if (!is_text_column(column)) format_cell(kind, cell, column, text);
            size_t size = is_text_column(column) ? strlen(cell.text) : strlen(text);
            if (size > l.widths[column]) l.widths[column] = size;
        }
    }
    return l;
}

/* Numbers are texts aligned to the right, so that they can have separators and as many digits as nsys shows. */
static bool print_text(as_cli *cli, const as_report_kind *kind, const as_report *report, size_t n) {
    char text[AS_QUANTITY_SIZE], padded[N_COLUMNS][2 * AS_QUANTITY_SIZE];
    as_column columns[N_COLUMNS];
    size_t n_columns = 0;
    layout l = lay_out(kind, report, n);
    size_t n_left_out = fit_columns(&l, cli->style.width);
    for (int column = 0; column < N_COLUMNS; column++) {
        if (!l.has[column]) continue;
        int width = is_text_column(column) ? 0 : (int)l.widths[column];
        snprintf(padded[column], sizeof padded[column], "%*s", width, head_of(kind, column));
        columns[n_columns++] = (as_column){padded[column]};
    }
    as_table *table = as_table_new(columns, n_columns, NULL);
    bool fine = table != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        as_cell cells[N_COLUMNS];
        size_t k = 0;
        for (int column = 0; column < N_COLUMNS; column++) {
            if (!l.has[column]) continue;
            cells[k] = cell_of(kind, row_at(report, i), column);
            if (!is_text_column(column)) {
                format_cell(kind, cells[k], column, text);
                snprintf(padded[column], sizeof padded[column], "%*s", (int)l.widths[column], text);
                cells[k] = as_cell_text(padded[column]);
            }
            k++;
        }
        fine = as_table_append(table, cells);
    }
    as_print_style style = cli->style;
    style.last_below = true;
    fine = fine && as_print_table(cli->out, table, style);
    as_table_free(table);
    if (fine && n_left_out)
        as_output_printf(cli->out, "%s %zu more column%s where there is more room\n", as_display_ellipsis(cli->out),
                         n_left_out, n_left_out == 1 ? "" : "s");
    return fine;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static as_exit show(as_cli *cli, as_answers *a, const as_dataset *ds, const as_report *report, size_t limit) {
    const as_report_kind *kind = kind_of(cli, NULL);
    size_t n = shown_rows(report, limit);
    bool several = as_cli_operands(cli) > 1, fine = true;
    const char *path = as_ds_text(ds, ds->path);
    if (cli->style.mode == AS_PRINT_JSON) {
        build_json(&a->builder, ds, kind, report, n);
    } else if (cli->style.mode == AS_PRINT_TEXT) {
        if (a->shown) as_output_char(cli->out, '\n');
        if (several) as_output_printf(cli->out, "%s\n", path);
        as_output_printf(cli->out, "%s%s (%s)%s\n", as_sgr(cli->style.colour, AS_BOLD), kind->title,
                         as_cli_value(cli, "report"), as_sgr(cli->style.colour, AS_PLAIN));
        fine = print_text(cli, kind, report, n);
        if (fine && n < report->rows.count)
            as_output_printf(cli->out, "%s %zu more row%s\n", as_display_ellipsis(cli->out), report->rows.count - n,
                             report->rows.count - n == 1 ? "" : "s");
    } else {
        fine = add_rows(cli, a, kind, report, n, several ? path : NULL);
    }
    a->shown++;
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit choose(as_cli *cli, const as_dataset *ds, as_run_choice *runs, as_location_choice *locations,
                      bool *wanted, as_report_request *request) {
    as_exit status = as_cli_has(cli, "location") ? as_choose_locations(cli, ds, locations) : AS_EXIT_FINE;
    request->locations = locations->wanted;
    if (status != AS_EXIT_FINE || !as_cli_has(cli, "run")) return status;
    status = as_choose_runs(cli, ds, runs);
    for (size_t i = 0; status == AS_EXIT_FINE && i < runs->n_runs; i++) wanted[runs->runs[i]] = true;
    request->runs = wanted;
    return status;
}

static as_exit answer_from(as_cli *cli, as_answers *a, const as_dataset *ds, size_t limit) {
    as_report_request request = {.ds = ds};
    as_run_choice runs = {0};
    as_location_choice locations = {0};
    as_report report;
    assay_error error;
    bool *wanted = calloc(AS_COUNT(ds, runs) + 1, sizeof *wanted);
    if (!wanted) return as_cli_memory(cli);
    request.kind = kind_of(cli, &request.names);
    as_exit status = choose(cli, ds, &runs, &locations, wanted, &request);
    bool is_made = status == AS_EXIT_FINE;
    if (is_made && as_report_make(&request, &report, &error) != ASSAY_OK) status = as_cli_error(cli, &error);
    if (status == AS_EXIT_FINE && !report.rows.count)
        status =
            as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no %s%s", as_ds_text(ds, ds->path), request.kind->subjects,
                        request.locations || request.runs                ? " there"
                        : !as_ds_intervals(ds) && AS_COUNT(ds, runs) > 1 ? ", as it is a set; open one of its files"
                                                                         : "");
    if (status == AS_EXIT_FINE) status = show(cli, a, ds, &report, limit);
    if (is_made) as_report_free(&report);
    as_location_choice_free(&locations);
    as_run_choice_free(&runs);
    free(wanted);
    return status;
}

static as_exit answer_file(as_cli *cli, as_answers *a, const char *path) {
    as_dataset *ds;
    size_t limit = 0;
    if (!as_cli_count(cli, "limit", &limit)) return AS_EXIT_USAGE;
    as_exit status = as_cli_open(cli, path, &ds);
    if (status == AS_EXIT_FINE) status = answer_from(cli, a, ds, limit);
    as_dataset_free(ds);
    return status;
}

static as_table *new_batch(const as_cli *cli) {
    const as_report_kind *kind = kind_of(cli, NULL);
    as_column columns[N_COLUMNS + 1];
    size_t n = 0;
    if (as_cli_operands(cli) > 1) columns[n++] = (as_column){"file"};
    for (int column = 0; column < N_COLUMNS; column++) {
        if (has_column(kind, column)) columns[n++] = (as_column){head_of(kind, column)};
    }
    return as_table_new(columns, n, NULL);
}

as_exit as_stat_reports(as_cli *cli) {
    as_exit status = check_options(cli);
    if (status != AS_EXIT_FINE) return status;
    bool is_table = cli->style.mode != AS_PRINT_TEXT && cli->style.mode != AS_PRINT_JSON;
    return as_answer_files(cli, is_table, is_table ? new_batch(cli) : NULL, answer_file);
}
