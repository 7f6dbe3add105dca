/* `assay compare --md`: a comment for a pull request. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/compare_view.h"
#include "render/display.h"

enum { PATH, METRIC, BASE, TARGET, CHANGE, RATIO, P, FINDING, N_COLUMNS };

/* A path as code, so that nothing in it is taken for markup. */
static as_cell path_cell(as_arena *arena, const char *path) {
    size_t size = strlen(path);
    if (memchr(path, '`', size)) return as_cell_text(path);
    char *text = as_arena_alloc(arena, size + 3);
    if (!text) return as_cell_null();
    text[0] = '`';
    memcpy(text + 1, path, size);
    text[size + 1] = '`';
    return as_cell_text_n(text, size + 2);
}

static void put_value(as_output *out, const as_compare_view *view, const as_judgement *j, double value) {
    as_judgement one = *j;
    one.outcome = AS_OUTCOME_NEW;
    one.target = value;
    as_change_words(view, &one, out);
}

/* "12.3 s" of a value: as it stands behind "new: ". */
static as_cell value_cell(const as_compare_view *view, as_arena *arena, const as_judgement *j, double value) {
    enum { PREFIX = 5 };
    as_output *out = as_output_to_memory();
    as_cell cell = as_cell_null();
    size_t size;
    if (!out) return cell;
    if (!isnan(value)) put_value(out, view, j, value);
    const char *text = as_output_memory(out, &size);
    if (text && size > PREFIX) {
        char *copy = as_arena_copy(arena, text + PREFIX, size - PREFIX);
        if (copy) cell = as_cell_text(copy);
    }
    as_output_discard(out);
    return cell;
}

static bool add_row(const as_compare_view *view, as_table *table, as_arena *arena, const as_judgement *j,
                    const as_quantity *quantity) {
    as_compare_row row;
    char change[AS_COMPARE_CELL + 4] = "";
    as_compare_row_set(quantity, j, &row);
    if (row.cells[AS_COMPARE_PERCENT][0])
        snprintf(change, sizeof change, "%s %%", row.cells[AS_COMPARE_PERCENT]);
    else if (isinf(j->relative))
        snprintf(change, sizeof change, "from nothing");
    as_cell cells[N_COLUMNS] = {[PATH] =
                                    j->subject->path ? path_cell(arena, j->subject->path) : as_cell_text("**total**"),
                                [METRIC] = as_cell_text(j->subject->metric),
                                [BASE] = value_cell(view, arena, j, j->base),
                                [TARGET] = value_cell(view, arena, j, j->target),
                                [CHANGE] = as_cell_text(change),
                                [RATIO] = as_cell_text(row.cells[AS_COMPARE_RATIO]),
                                [P] = as_cell_text(row.cells[AS_COMPARE_P]),
                                [FINDING] = as_cell_text(as_outcome_name(j->outcome))};
    return as_table_append(table, cells);
}

/* Rows that are a finding, or those that are none; at most `limit`. Counts what is left out. */
static bool print_table(const as_compare_view *view, bool findings, size_t limit, size_t *left_out) {
    static const as_column columns[N_COLUMNS] = {{"call path"}, {"metric"},       {"base"}, {"target"},
                                                 {"change"},    {"ratio [95 %]"}, {"p"},    {"finding"}};
    as_table *table = as_table_new(columns, N_COLUMNS, NULL);
    as_arena arena;
    as_arena_init(&arena, NULL);
    bool fine = table != NULL;
    for (size_t i = 0; fine && findings && i < view->verdict.n_metrics; i++) {
        const as_judgement *whole = &view->verdict.metrics[i].whole;
        if (i != view->main_metric && whole->outcome == AS_OUTCOME_SAME) continue;
        as_quantity q = as_compare_quantity(view, i);
        fine = add_row(view, table, &arena, whole, &q);
    }
    for (size_t i = 0; fine && i < view->verdict.n; i++) {
        const as_judgement *j = &view->verdict.judgements[i];
        if ((j->outcome != AS_OUTCOME_SAME) != findings) continue;
        if (as_table_rows(table) >= limit) {
            ++*left_out;
            continue;
        }
        as_quantity q = as_quantity_of(j->subject->unit, 0, false);
        fine = add_row(view, table, &arena, j, &q);
    }
    if (fine && as_table_rows(table)) {
        as_print_style style = {.mode = AS_PRINT_MARKDOWN};
        fine = as_print_table(view->cli->out, table, style);
    }
    as_table_free(table);
    as_arena_free(&arena);
    return fine;
}

static size_t count_same(const as_compare_view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->verdict.n; i++) n += view->verdict.judgements[i].outcome == AS_OUTCOME_SAME;
    return n;
}

as_exit as_compare_markdown(as_compare_view *view) {
    enum { MOST_SAME = 200 };
    as_output *out = view->cli->out;
    size_t limit = as_compare_limit(view), left_out = 0, n_same = count_same(view);
    if (limit < SIZE_MAX) limit += view->verdict.n_metrics; /* of the totals */
    as_output_printf(out, "## Performance: %s\n\n", as_verdict_word(view->outcome));
    as_compare_summary(view, out);
    as_output_text(out, ".\n\n");
    if (!print_table(view, true, limit, &left_out)) return as_cli_memory(view->cli);
    if (left_out) as_output_printf(out, "\n%zu more changed.\n", left_out);
    if (n_same) {
        left_out = 0;
        as_output_printf(out, "\n<details>\n<summary>%zu without a change that counts</summary>\n\n", n_same);
        if (!print_table(view, false, MOST_SAME, &left_out)) return as_cli_memory(view->cli);
        if (left_out) as_output_printf(out, "\n%zu more.\n", left_out);
        as_output_text(out, "\n</details>\n");
    }
    as_exit status = as_growths_print(view->cli, &view->growths);
    if (status != AS_EXIT_FINE) return status;
    as_output_text(out, "\n<details>\n<summary>Method</summary>\n\n");
    as_compare_method(view, out);
    as_output_text(out, ".\n");
    for (size_t i = 0;; i++) {
        as_output_char(out, '\n');
        if (!as_compare_remark(view, i, out)) break;
        as_output_text(out, ".\n");
    }
    as_output_text(out, "</details>\n");
    return AS_EXIT_FINE;
}
