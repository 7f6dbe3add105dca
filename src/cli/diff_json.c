/* What changed, for programs: nested JSON, and a table with a row for each node and metric. */
#include <stdlib.h>

#include "cli/diff_view.h"
#include "cli/node_json.h"
#include "cli/tree_view.h"

/* Paths leave out the root of all. */
static bool step(as_walk_path *path, const as_dataset *ds, const as_change_node *node) {
    if (node->depth == 0 && as_context_is_root(ds, node->context)) return as_walk_path_skip(path);
    return as_walk_path_step(path, ds, node->depth, node->name, ASSAY_NONE, "->");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    as_diff_view *view;
    as_node_json json;
    as_walk_path path;
} writer;

static void write_pair(as_output *out, const char *key, const as_view_number *inclusive,
                       const as_view_number *exclusive) {
    as_output_printf(out, "\"%s\":{\"inclusive\":", key);
    as_node_json_number(out, inclusive, 1);
    as_output_text(out, ",\"exclusive\":");
    as_node_json_number(out, exclusive, 1);
    as_output_text(out, "},");
}

static as_view_number relative_of(const as_change *change) {
    double relative = as_change_relative(change);
    return (as_view_number){.is_known = change->change.is_known && isfinite(relative), .real = relative};
}

static void write_value(as_output *out, const as_change_value *value) {
    const as_change *inclusive = &value->inclusive, *exclusive = &value->exclusive;
    as_view_number parts[] = {relative_of(inclusive), relative_of(exclusive)};
    as_output_char(out, '{');
    write_pair(out, "base", &inclusive->side[AS_BASE], &exclusive->side[AS_BASE]);
    write_pair(out, "target", &inclusive->side[AS_TARGET], &exclusive->side[AS_TARGET]);
    write_pair(out, "change", &inclusive->change, &exclusive->change);
    as_output_text(out, "\"relative\":{\"inclusive\":");
    as_node_json_number(out, &parts[0], 1);
    as_output_text(out, ",\"exclusive\":");
    as_node_json_number(out, &parts[1], 1);
    as_output_text(out, "}}");
}

static void write_values(writer *w, const as_change_value *values) {
    const as_comparison *c = &w->view->comparison;
    as_output *out = w->json.out;
    as_output_text(out, "\"values\":{");
    for (size_t k = 0; k < c->n_columns; k++) {
        if (k) as_output_char(out, ',');
        as_node_json_metric(out, c->ds, c->columns[k].metric);
        as_output_char(out, ':');
        write_value(out, &values[k]);
    }
    as_output_text(out, "},");
}

static bool write_node(void *user, const as_change_node *node) {
    writer *w = user;
    as_output *out = w->json.out;
    const as_dataset *ds = w->view->comparison.ds;
    const as_context *context = as_ds_context(ds, node->context);
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(ds, context->region);
    int64_t line = region && region->line_begin >= 0 ? region->line_begin : context->line;
    if (!step(&w->path, ds, node)) return false;
    as_node_json_begin(&w->json, node->depth);
    as_node_json_member(out, "name", as_ds_text(ds, node->name));
    as_node_json_member(out, "kind", region ? as_ds_text(ds, region->kind) : NULL);
    as_node_json_path(out, &w->path);
    as_node_json_member(out, "file", region ? as_ds_text(ds, region->file) : NULL);
    as_node_json_line(out, line);
    as_node_json_member(out, "module", region ? as_ds_text(ds, region->module) : NULL);
    as_output_printf(out, "\"in_base\":%s,\"in_target\":%s,", node->is_in[AS_BASE] ? "true" : "false",
                     node->is_in[AS_TARGET] ? "true" : "false");
    if (node->is_aside) as_output_text(out, "\"aside\":true,");
    write_values(w, node->values);
    as_node_json_children(&w->json);
    return true;
}

/* What stands above several roots, and above functions. */
static bool write_top(writer *w) {
    const as_comparison *c = &w->view->comparison;
    as_change_value *all = calloc(c->n_columns + 1, sizeof *all);
    if (!all) return false;
    for (size_t k = 0; k < c->n_columns; k++) all[k] = as_comparison_whole(c, k);
    as_output_text(w->json.out,
                   "{\"name\":\"<root>\",\"kind\":null,\"path\":null,\"file\":null,\"line\":null,\"module\":null,"
                   "\"in_base\":true,\"in_target\":true,");
    write_values(w, all);
    as_node_json_children(&w->json);
    w->json.has_top = true;
    free(all);
    return true;
}

static void write_only(writer *w, const char *key, const as_vec *only) {
    as_output_printf(w->json.out, "\"%s\":[", key);
    for (size_t i = 0; i < only->count; i++) {
        if (i) as_output_char(w->json.out, ',');
        const as_dataset *ds = w->view->comparison.ds;
        as_node_json_text(w->json.out, as_ds_text(ds, as_ds_context(ds, AS_AT(assay_id, only, i))->name));
    }
    as_output_text(w->json.out, "],\n");
}

static void write_head(writer *w) {
    as_diff_view *view = w->view;
    const as_comparison *c = &view->comparison;
    as_output_char(w->json.out, '{');
    as_node_json_member(w->json.out, "base", view->names[AS_BASE]);
    as_node_json_member(w->json.out, "target", view->names[AS_TARGET]);
    as_node_json_member(w->json.out, "view", view->request.flat ? "flat" : "top-down");
    const char *base = view->runs[AS_BASE].label, *target = view->runs[AS_TARGET].label;
    if (base[0]) as_node_json_member(w->json.out, "run", base);
    if (strcmp(base, target) != 0 && target[0]) as_node_json_member(w->json.out, "target_run", target);
    if (view->locations[AS_BASE].label[0]) as_node_json_member(w->json.out, "location", view->locations[AS_BASE].label);
    as_output_text(w->json.out, "\"metrics\":[");
    for (size_t k = 0; k < c->n_columns; k++) {
        if (k) as_output_char(w->json.out, ',');
        as_node_json_metric(w->json.out, c->ds, c->columns[k].metric);
    }
    as_output_text(w->json.out, "],");
    for (size_t k = 0; k < c->n_columns; k++) { /* there is one, or none */
        const char *own = as_diff_target_metric(view, c->columns[k].metric);
        if (own) as_node_json_member(w->json.out, "target_metric", own);
    }
    as_output_char(w->json.out, '\n');
    write_only(w, "only_in_base", &view->only[AS_BASE]);
    write_only(w, "only_in_target", &view->only[AS_TARGET]);
    as_output_text(w->json.out, "\"root\":");
}

/* Whether all that is shown stands below the first context. */
static bool has_one_root(const as_dataset *ds) {
    size_t id = as_ds_context(ds, 0)->subtree;
    while (id < ds->contexts.count && !as_view_shows(ds, (assay_id)id)) id++;
    return id == ds->contexts.count;
}

as_exit as_diff_json(as_diff_view *view) {
    writer w = {.view = view, .json = {.out = view->cli->out}};
    const as_dataset *ds = view->comparison.ds;
    as_change_request request = as_diff_request(view, 0);
    as_change_cut cut;
    as_walk_path_init(&w.path);
    write_head(&w);
    bool is_one = !request.flat && has_one_root(ds);
    as_exit status = is_one || write_top(&w) ? AS_EXIT_FINE : as_cli_memory(view->cli);
    if (status == AS_EXIT_FINE) status = as_diff_walk(view, &request, write_node, &w, &cut);
    if (status == AS_EXIT_FINE) {
        if (is_one && !w.json.n_open) as_output_text(w.json.out, "null");
        as_node_json_close(&w.json, 0);
        as_output_text(w.json.out, "}\n");
    }
    as_walk_path_free(&w.path);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const as_column columns[] = {{"path"},
                                    {"depth"},
                                    {"name"},
                                    {"file"},
                                    {"line"},
                                    {"metric"},
                                    {"base"},
                                    {"target"},
                                    {"change"},
                                    {"relative"},
                                    {"in_base"},
                                    {"in_target"},
                                    {"base_exclusive"},
                                    {"target_exclusive"},
                                    {"exclusive_change"}};
enum { N_COLUMNS = sizeof columns / sizeof *columns, ROWS_AT_ONCE = 4096 };

typedef struct filler {
    as_diff_view *view;
    as_printer *printer;
    as_table *batch;
    as_walk_path path;
} filler;

/* text: room for a number that is beyond 64 bits. */
static as_cell cell_of(const as_view_number *number, char text[AS_WHOLE_SIZE]) {
    if (!number->is_known) return as_cell_null();
    if (!number->is_whole) return as_cell_real(number->real);
    as_number whole = as_whole_number(number->whole);
    return whole.kind != AS_REAL ? as_cell_number(whole) : as_cell_text_n(text, as_whole_format(number->whole, text));
}

static bool add_row(filler *f, const as_change_node *node, size_t column) {
    const as_comparison *c = &f->view->comparison;
    const as_context *context = as_ds_context(c->ds, node->context);
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(c->ds, context->region);
    int64_t line = region && region->line_begin >= 0 ? region->line_begin : context->line;
    const as_change *inclusive = &node->values[column].inclusive, *exclusive = &node->values[column].exclusive;
    as_view_number relative = relative_of(inclusive);
    bool is_short = f->path.text.count <= AS_LONGEST_PATH;
    char texts[6][AS_WHOLE_SIZE];
    as_cell cells[N_COLUMNS] = {
        is_short ? as_cell_text_n(f->path.text.data ? f->path.text.data : "", f->path.text.count) : as_cell_null(),
        as_cell_int(node->depth),
        as_cell_text(as_ds_text(c->ds, node->name)),
        as_cell_text(region ? as_ds_text(c->ds, region->file) : NULL),
        line >= 0 ? as_cell_int(line) : as_cell_null(),
        as_cell_text(as_ds_text(c->ds, as_ds_metric(c->ds, c->columns[column].metric)->name)),
        cell_of(&inclusive->side[AS_BASE], texts[0]),
        cell_of(&inclusive->side[AS_TARGET], texts[1]),
        cell_of(&inclusive->change, texts[2]),
        relative.is_known ? as_cell_real(relative.real) : as_cell_null(),
        as_cell_int(node->is_in[AS_BASE]),
        as_cell_int(node->is_in[AS_TARGET]),
        cell_of(&exclusive->side[AS_BASE], texts[3]),
        cell_of(&exclusive->side[AS_TARGET], texts[4]),
        cell_of(&exclusive->change, texts[5])};
    return as_table_append(f->batch, cells);
}

static bool add_node(void *user, const as_change_node *node) {
    filler *f = user;
    if (!step(&f->path, f->view->comparison.ds, node)) return false;
    for (size_t k = 0; k < f->view->comparison.n_columns; k++) {
        if (!add_row(f, node, k)) return false;
    }
    if (as_table_rows(f->batch) < ROWS_AT_ONCE) return true;
    bool fine = as_printer_rows(f->printer, f->batch);
    as_table_clear(f->batch);
    return fine;
}

as_exit as_diff_table(as_diff_view *view) {
    as_cli *cli = view->cli;
    filler f = {
        .view = view, .printer = as_printer_new(cli->out, cli->style), .batch = as_table_new(columns, N_COLUMNS, NULL)};
    as_change_request request = as_diff_request(view, 0);
    as_change_cut cut;
    as_walk_path_init(&f.path);
    as_exit status = f.printer && f.batch ? as_diff_walk(view, &request, add_node, &f, &cut) : as_cli_memory(cli);
    if (status == AS_EXIT_FINE && !as_printer_rows(f.printer, f.batch)) status = as_cli_memory(cli);
    if (f.printer && !as_printer_end(f.printer, f.batch) && status == AS_EXIT_FINE) status = as_cli_memory(cli);
    as_walk_path_free(&f.path);
    as_table_free(f.batch);
    return status;
}
