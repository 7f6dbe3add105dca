/* The models as a table: for people, and flat with all columns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model_view.h"
#include "render/display.h"

enum { DIGITS = 4, BATCH = 1000 };

const as_flag_words as_fit_flag_words[] = {
    {AS_FIT_FEW_POINTS, 'f', "few-points", "fewer than 5 points along a parameter"},
    {AS_FIT_MISSING, 'm', "missing-points", "not measured at all points"},
    {AS_FIT_CUT, 'c', "constant-by-few-points", "constant because too few points are left"},
    {AS_FIT_NOISY, 'n', "noisy", "repetitions differ by more than 10 %"},
    {AS_FIT_TIE, 't', "tie", "another function fits as well (--why tells)"},
    {AS_FIT_NOT_FINITE, 'x', "not-finite", "values that are NaN or infinite left out"},
    {AS_FIT_NO_LOG, 'l', "no-logarithms", "no logarithms: a parameter has values too small for them"},
    {AS_FIT_NOT_SEGMENTED, 's', "not-segmented", "too few points for segments"},
    {AS_FIT_EXTRAPOLATED, 'e', "extrapolated", "outside what was measured"},
    {0, 0, NULL, NULL},
};

/* The columns that are there for some. */
struct columns {
    bool metric, value, flags;
};

/* Texts made for a row, each until the next row. */
struct texts {
    as_vec path, function, growth;
};

static void texts_init(struct texts *texts) {
    as_vec_init(&texts->path, 1, NULL);
    as_vec_init(&texts->function, 1, NULL);
    as_vec_init(&texts->growth, 1, NULL);
}

static void texts_free(struct texts *texts) {
    as_vec_free(&texts->path);
    as_vec_free(&texts->function);
    as_vec_free(&texts->growth);
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static as_cell rounded_cell(double value) {
    return isnan(value) ? as_cell_null() : as_cell_real(as_real_round(value, DIGITS));
}

/* Digits behind the point; what cannot be seen there is 0, and never -0. */
static as_cell fixed_cell(double value, double scale) {
    if (isnan(value)) return as_cell_null();
    return as_cell_real(fabs(value) < 1e9 ? round(value * scale) / scale + 0.0 : value);
}

/* "O(p log p)"; what falls says so. */
static bool put_growth(const as_dataset *ds, const as_model *model, struct texts *texts) {
    if (!as_growth_text(ds, model, &texts->function)) return false;
    bool falls = as_model_growth(ds, model).order == AS_ORDER_DECREASING;
    texts->growth.count = 0;
    const char *before = falls ? "falls, O(" : "O(";
    return as_vec_append(&texts->growth, before, strlen(before)) &&
           as_vec_append(&texts->growth, texts->function.data, texts->function.count - 1) &&
           as_vec_append(&texts->growth, ")", 2);
}

static void put_marks(uint32_t flags, char out[16]) {
    size_t n = 0;
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (flags & (uint32_t)row->flag) out[n++] = row->mark;
    }
    out[n] = '\0';
}

static bool add_text_row(as_table *table, const as_model_view *view, size_t i, const struct columns *columns,
                         struct texts *texts) {
    const as_dataset *ds = view->study->ds;
    const as_model *model = as_view_model(view, i);
    as_cell cells[8];
    size_t n = 0;
    char marks[16];
    if (!as_context_path(ds, model->context, &texts->path)) return false;
    cells[n++] = as_cell_text(texts->path.data);
    if (columns->metric) cells[n++] = as_cell_text(as_ds_text(ds, as_ds_metric(ds, model->metric)->name));
    if (!put_growth(ds, model, texts)) return false; /* before the function: both use its vector */
    if (!as_model_function_rounded(ds, model, DIGITS, &texts->function)) return false;
    cells[n++] = as_cell_text(texts->growth.data);
    cells[n++] = fixed_cell(model->AR2, 1e4);
    cells[n++] = fixed_cell(model->SMAPE, 1e2);
    if (columns->value) cells[n++] = rounded_cell(as_model_at(ds, model, view->at));
    put_marks(as_view_note(view, i)->flags, marks);
    if (columns->flags) cells[n++] = as_cell_text(marks);
    cells[n++] = as_cell_text(texts->function.data);
    return as_table_append(table, cells);
}

static as_table *new_text_table(const as_model_view *view, const struct columns *columns) {
    as_column names[8];
    char value[sizeof view->at_label + 8];
    size_t n = 0;
    snprintf(value, sizeof value, "at %s", view->at_label);
    names[n++].name = "call path";
    if (columns->metric) names[n++].name = "metric";
    names[n++].name = "growth";
    names[n++].name = "adj. R2";
    names[n++].name = "SMAPE %";
    if (columns->value) names[n++].name = value;
    if (columns->flags) names[n++].name = "flags";
    names[n++].name = "function";
    return as_table_new(names, n, NULL);
}

static bool fill_text_table(as_table *table, const as_model_view *view, size_t n, const struct columns *columns) {
    struct texts texts;
    texts_init(&texts);
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) fine = add_text_row(table, view, i, columns, &texts);
    texts_free(&texts);
    return fine;
}

/* *shown: how many rows of it were; where rows take two lines, half as many fit the screen. */
static bool print_text_table(as_cli *cli, const as_model_view *view, const struct columns *columns, size_t *shown) {
    as_table *table = new_text_table(view, columns);
    bool fine = table && fill_text_table(table, view, view->n_rows, columns);
    as_print_style style = cli->style;
    style.keep_end = style.last_below = true;
    *shown = view->n_rows;
    if (fine && view->is_screenful && as_text_width(table) > style.width) {
        *shown = (view->n_rows + 1) / 2;
        as_table_clear(table);
        fine = fill_text_table(table, view, *shown, columns);
    }
    fine = fine && as_print_table(cli->out, table, style);
    as_table_free(table);
    return fine;
}

/* "12 models along p (basic, mean, 5 points): 3 constant, 2 grow faster than linearly". */
static void print_summary(as_cli *cli, const as_model_view *view) {
    const as_dataset *ds = view->study->ds;
    size_t constant = 0, steep = 0;
    for (size_t i = 0; i < view->fit->n; i++) {
        as_order order = as_model_growth(ds, as_ds_model(ds, view->fit->first_model + (assay_id)i)).order;
        constant += order == AS_ORDER_CONSTANT;
        steep += order > AS_ORDER_LINEAR;
    }
    as_output_printf(cli->out, "%s%zu model%s%s along ", as_sgr(cli->style.colour, AS_BOLD), view->fit->n,
                     view->fit->n == 1 ? "" : "s", as_sgr(cli->style.colour, AS_PLAIN));
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        const char *name = as_ds_parameter(ds, i);
        if (i) as_output_text(cli->out, ", ");
        as_display_write(cli->out, name, strlen(name), 0);
    }
    as_output_printf(cli->out, " (%s, %s of %zu points): %zu constant, %zu worse than linear\n",
                     as_modeler_name(view->fit->options.modeler), as_statistic_name(view->fit->options.measure),
                     ds->n_points, constant, steep);
}

static uint32_t flags_shown(const as_model_view *view) {
    uint32_t flags = 0;
    for (size_t i = 0; i < view->n_rows; i++) flags |= as_view_note(view, i)->flags;
    return flags;
}

static void print_legend(as_cli *cli, uint32_t flags) {
    const char *before = "";
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_DIM));
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (!(flags & (uint32_t)row->flag)) continue;
        as_output_printf(cli->out, "%s%c: %s", before, row->mark, row->meaning);
        before = "; ";
    }
    as_output_printf(cli->out, "%s\n", as_sgr(cli->style.colour, AS_PLAIN));
}

bool as_model_text(as_cli *cli, const as_model_view *view) {
    uint32_t flags = flags_shown(view);
    struct columns columns = {.value = view->at != NULL, .flags = flags != 0};
    for (size_t i = 1; i < view->fit->n && !columns.metric; i++) {
        columns.metric = as_ds_model(view->study->ds, view->fit->first_model + (assay_id)i)->metric !=
                         as_ds_model(view->study->ds, view->fit->first_model)->metric;
    }
    print_summary(cli, view);
    size_t shown;
    if (!print_text_table(cli, view, &columns, &shown)) return false;
    if (shown < view->fit->n)
        as_output_printf(cli->out, "%s %zu more; -n 0 shows all\n", as_display_ellipsis(cli->out),
                         view->fit->n - shown);
    if (flags) print_legend(cli, flags);
    return true;
}

/* ---- flat -------------------------------------------------------------------------------------------------------- */

static const as_column flat_columns[] = {{"metric"},   {"callpath"}, {"modeler"}, {"measure"}, {"function"},
                                         {"constant"}, {"RSS"},      {"rRSS"},    {"nRSS"},    {"SMAPE"},
                                         {"AR2"},      {"RE"},       {"growth"},  {"order"},   {"noise"},
                                         {"points"},   {"missing"},  {"flags"},   {"tie"},     {"value"}};
enum { FLAT_COLUMNS = sizeof flat_columns / sizeof *flat_columns };

/* "few-points noisy". */
static void put_words(uint32_t flags, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (!(flags & (uint32_t)row->flag) || used >= size) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", row->word);
    }
}

static as_cell known_cell(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

static bool add_flat_row(as_table *table, const as_model_view *view, size_t i, struct texts *texts) {
    const as_dataset *ds = view->study->ds;
    const as_model *model = as_view_model(view, i);
    const as_fit_note *note = as_view_note(view, i);
    char words[160];
    put_words(note->flags, words, sizeof words);
    if (!as_context_path(ds, model->context, &texts->path) || !as_model_function_text(ds, model, &texts->function) ||
        !as_growth_text(ds, model, &texts->growth))
        return false;
    double constant = model->n_segments == 1 ? as_ds_segment(ds, model->first_segment)->constant : NAN;
    as_cell cells[FLAT_COLUMNS] = {
        as_cell_text(as_ds_text(ds, as_ds_metric(ds, model->metric)->name)),
        as_cell_text(texts->path.data),
        as_cell_text(as_modeler_name(view->fit->options.modeler)),
        as_cell_text(as_statistic_name(view->fit->options.measure)),
        as_cell_text(texts->function.data),
        model->n_segments == 1 ? as_cell_real(constant) : as_cell_null(),
        as_cell_real(model->RSS),
        as_cell_real(model->rRSS),
        as_cell_real(model->nRSS),
        as_cell_real(model->SMAPE),
        as_cell_real(model->AR2),
        as_cell_real(model->RE),
        as_cell_text(texts->growth.data),
        as_cell_text(as_order_name(as_model_growth(ds, model).order)),
        known_cell((double)note->noise),
        as_cell_int(note->n_points),
        as_cell_int(note->n_missing),
        as_cell_text(words),
        note->flags & AS_FIT_TIE ? as_cell_text(as_ds_text(ds, note->rival)) : as_cell_null(),
        view->at ? as_cell_real(as_model_at(ds, model, view->at)) : as_cell_null(),
    };
    return as_table_append(table, cells);
}

bool as_model_flat(as_cli *cli, const as_model_view *view) {
    as_table *batch = as_table_new(flat_columns, view->at ? FLAT_COLUMNS : FLAT_COLUMNS - 1, NULL);
    as_printer *printer = batch ? as_printer_new(cli->out, cli->style) : NULL;
    struct texts texts;
    texts_init(&texts);
    bool fine = printer != NULL;
    for (size_t i = 0; i < view->n_rows && fine; i++) {
        fine = add_flat_row(batch, view, i, &texts);
        if (!fine || as_table_rows(batch) < BATCH) continue;
        fine = as_printer_rows(printer, batch);
        as_table_clear(batch);
    }
    if (fine && as_table_rows(batch)) fine = as_printer_rows(printer, batch);
    if (printer) fine = as_printer_end(printer, batch) && fine;
    texts_free(&texts);
    as_table_free(batch);
    return fine;
}
