/* The tree as a table for programs: a row for each node and metric. */
#include <math.h>
#include <string.h>

#include "cli/tree_view.h"

enum { ROWS_AT_ONCE = 4096 };

static const as_column columns[] = {{"input"},     {"path"},      {"depth"}, {"name"},           {"kind"},
                                    {"source_id"}, {"file"},      {"line"},  {"module"},         {"metric"},
                                    {"inclusive"}, {"exclusive"}, {"share"}, {"exclusive_share"}};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

typedef struct filler {
    as_tree_view *view;
    as_printer *printer;
    as_table *batch;
    as_walk_path path;
    as_vec parts[2]; /* char: texts of composite values */
    bool with_input;
} filler;

as_table *as_tree_columns(bool with_input) {
    size_t first = with_input ? 0 : 1;
    return as_table_new(columns + first, N_COLUMNS - first, NULL);
}

/* False when memory is out. */
static bool cell_of(const as_view_number *number, uint32_t n_parts, as_vec *text, as_cell *cell) {
    char digits[AS_WHOLE_SIZE];
    text->count = 0;
    *cell = as_cell_null();
    if (!number->is_known) return true;
    if (number->parts) {
        if (!as_parts_text(number->parts, n_parts, text)) return false;
        *cell = as_cell_json_n(text->data, text->count);
        return true;
    }
    as_number whole = number->is_whole ? as_whole_number(number->whole) : (as_number){.kind = AS_REAL};
    if (!number->is_whole)
        *cell = as_cell_real(number->real);
    else if (whole.kind != AS_REAL)
        *cell = as_cell_number(whole);
    else {
        size_t size = as_whole_format(number->whole, digits);
        if (!as_vec_append(text, digits, size)) return false;
        *cell = as_cell_text_n(text->data, size);
    }
    return true;
}

static as_cell share_of(const as_view_number *number, double whole) {
    double share = number->is_known ? number->real / whole : NAN;
    return isfinite(share) ? as_cell_real(share) : as_cell_null();
}

static bool add_row(filler *f, const as_view_node *node, const as_tree_place *place, size_t column) {
    const as_dataset *ds = f->view->ds;
    const as_view_column *c = &f->view->data.columns[column];
    const as_view_value *value = &node->values[column];
    uint32_t n_parts = c->list.n_parts;
    bool is_short = f->path.text.count <= AS_LONGEST_PATH;
    as_cell inclusive, exclusive;
    if (!cell_of(&value->inclusive, n_parts, &f->parts[0], &inclusive) ||
        !cell_of(&value->exclusive, n_parts, &f->parts[1], &exclusive))
        return false;
    as_cell cells[N_COLUMNS] = {
        as_cell_text(as_ds_text(ds, ds->path)),
        is_short ? as_cell_text_n(f->path.text.data ? f->path.text.data : "", f->path.text.count) : as_cell_null(),
        as_cell_int(node->depth),
        as_cell_text(as_tree_name_of(f->view, node, false)),
        as_cell_text(place->kind),
        as_cell_text(place->source_id),
        as_cell_text(as_ds_text(ds, place->file)),
        place->line >= 0 ? as_cell_int(place->line) : as_cell_null(),
        as_cell_text(place->module),
        as_cell_text(as_ds_text(ds, as_ds_metric(ds, c->metric)->name)),
        inclusive,
        exclusive,
        share_of(&value->inclusive, c->whole),
        share_of(&value->exclusive, c->whole)};
    return as_table_append(f->batch, cells + (f->with_input ? 0 : 1));
}

static bool add_node(void *user, const as_view_node *node) {
    filler *f = user;
    char digits[AS_NUMBER_SIZE];
    as_tree_place place = as_tree_place_of(f->view, node, digits);
    if (!as_tree_path_step(&f->path, f->view, node)) return false;
    for (size_t k = 0; k < f->view->data.n_columns; k++) {
        if (!add_row(f, node, &place, k)) return false;
    }
    if (as_table_rows(f->batch) < ROWS_AT_ONCE) return true;
    bool fine = as_printer_rows(f->printer, f->batch);
    as_table_clear(f->batch);
    return fine;
}

as_exit as_tree_rows(as_tree_view *view, as_printer *printer, as_table *batch) {
    filler f = {.view = view, .printer = printer, .batch = batch, .with_input = as_table_columns(batch) == N_COLUMNS};
    as_view_cut cut;
    as_walk_path_init(&f.path);
    for (size_t i = 0; i < 2; i++) as_vec_init(&f.parts[i], 1, NULL);
    as_exit status = as_tree_walk(view, add_node, &f, &cut);
    if (status == AS_EXIT_FINE && !as_printer_rows(printer, batch)) status = as_cli_memory(view->cli);
    if (status == AS_EXIT_FINE) as_tree_note_limit(view->cli, &cut);
    as_table_clear(batch);
    as_walk_path_free(&f.path);
    for (size_t i = 0; i < 2; i++) as_vec_free(&f.parts[i]);
    return status;
}
