/* The tree as JSON: written as the walk goes, a line for each node, whatever its size and depth. */
#include <stdlib.h>

#include "cli/tree_view.h"
#include "io/json.h"

typedef struct writer {
    as_tree_view *view;
    as_node_json json;
    as_walk_path path;
    size_t n_nodes;
} writer;

/* One of two members, if it is known. */
static bool write_number(as_output *out, const char *key, const as_view_number *number, uint32_t n_parts,
                         bool is_next) {
    if (!number->is_known) return is_next;
    as_output_text(out, is_next ? ",\"" : "\"");
    as_output_text(out, key);
    as_output_text(out, "\":");
    as_node_json_number(out, number, n_parts);
    return true;
}

/* What is not known is not there. */
static void write_values(writer *w, const as_view_value *values) {
    as_output *out = w->json.out;
    bool is_next = false;
    as_output_text(out, "\"values\":{");
    for (size_t k = 0; k < w->view->data.n_columns; k++) {
        const as_view_column *column = &w->view->data.columns[k];
        uint32_t n_parts = column->list.n_parts;
        if (!values[k].inclusive.is_known && !values[k].exclusive.is_known) continue;
        if (is_next) as_output_char(out, ',');
        is_next = true;
        as_node_json_metric(out, w->view->ds, column->metric);
        as_output_text(out, ":{");
        write_number(out, "exclusive", &values[k].exclusive, n_parts,
                     write_number(out, "inclusive", &values[k].inclusive, n_parts, false));
        as_output_char(out, '}');
    }
    as_output_text(out, "},");
}

static void write_call_site(writer *w, const as_tree_place *place) {
    as_output *out = w->json.out;
    if (place->call_file == AS_NO_STR && place->call_line <= 0) return;
    as_node_json_member(out, "call_file", as_ds_text(w->view->ds, place->call_file));
    as_output_text(out, "\"call_line\":");
    if (place->call_line > 0)
        as_output_int(out, place->call_line);
    else
        as_output_text(out, "null");
    as_output_char(out, ',');
}

static void write_source(writer *w, const as_view_node *node, const as_tree_place *place) {
    size_t size;
    const char *source = as_tree_source_of(w->view, node, place, &size);
    if (!source) return;
    as_output_text(w->json.out, "\"source\":");
    as_json_write_string(w->json.out, source, size);
    as_output_char(w->json.out, ',');
}

static bool write_node(void *user, const as_view_node *node) {
    writer *w = user;
    as_output *out = w->json.out;
    char digits[AS_NUMBER_SIZE];
    as_tree_place place = as_tree_place_of(w->view, node, digits);
    if (!as_tree_path_step(&w->path, w->view, node)) return false;
    as_node_json_begin(&w->json, node->depth);
    as_node_json_member(out, "name", as_tree_name_of(w->view, node, false));
    as_node_json_member(out, "kind", place.kind);
    as_node_json_path(out, &w->path);
    as_node_json_member(out, "source_id", place.source_id);
    as_node_json_member(out, "file", as_ds_text(w->view->ds, place.file));
    as_node_json_line(out, place.line);
    as_node_json_member(out, "module", place.module);
    write_call_site(w, &place);
    if (node->is_inlined) as_output_text(out, "\"inlined\":true,");
    if (node->is_aside) as_output_text(out, "\"aside\":true,");
    write_source(w, node, &place);
    if (node->is_hot) as_output_text(out, "\"hot\":true,");
    write_values(w, node->values);
    as_node_json_children(&w->json);
    w->n_nodes++;
    return true;
}

/* What stands above several roots, and above functions. */
static bool write_top(writer *w) {
    size_t n = w->view->data.n_columns;
    as_view_value *all = calloc(n + 1, sizeof *all);
    if (!all) return false;
    for (size_t k = 0; k < n; k++) all[k] = as_view_whole(&w->view->data, k);
    as_output_text(w->json.out, "{\"name\":\"<root>\",\"kind\":null,\"path\":null,\"source_id\":null,\"file\":null,"
                                "\"line\":null,\"module\":null,");
    write_values(w, all);
    as_node_json_children(&w->json);
    w->json.has_top = true;
    free(all);
    return true;
}

static void write_head(writer *w) {
    static const char *const views[] = {"top-down", "bottom-up", "flat"};
    static const char *const groups[] = {"region", "file", "module", "kind", "scope"};
    const as_tree_view *view = w->view;
    as_output *out = w->json.out;
    const as_dataset *ds = view->ds;
    as_output_char(out, '{');
    as_node_json_member(out, "input", as_ds_text(ds, ds->path));
    as_node_json_member(out, "view", views[view->request.kind]);
    const char *by = as_cli_value(view->cli, "by");
    if (view->request.kind == AS_VIEW_FLAT) by = groups[view->request.group];
    if (by) as_node_json_member(out, "by", by);
    if (view->runs.label[0]) as_node_json_member(out, "run", view->runs.label);
    if (view->locations.label[0]) as_node_json_member(out, "location", view->locations.label);
    as_output_text(out, "\"metrics\":[");
    for (size_t k = 0; k < view->data.n_columns; k++) {
        if (k) as_output_char(out, ',');
        as_node_json_metric(out, ds, view->data.columns[k].metric);
    }
    as_output_text(out, "],\n\"root\":");
}

as_exit as_tree_json(as_tree_view *view) {
    writer w = {.view = view, .json = {.out = view->cli->out}};
    as_view_cut cut;
    as_walk_path_init(&w.path);
    write_head(&w);
    bool is_one = view->request.kind == AS_VIEW_TOP_DOWN && view->data.n_roots == 1;
    as_exit status = is_one || write_top(&w) ? AS_EXIT_FINE : as_cli_memory(view->cli);
    if (status == AS_EXIT_FINE) status = as_tree_walk(view, write_node, &w, &cut);
    if (status == AS_EXIT_FINE) {
        as_node_json_close(&w.json, 0);
        if (is_one && !w.n_nodes) as_output_text(w.json.out, "null");
        as_output_text(w.json.out, "}");
        as_tree_note_limit(view->cli, &cut);
    }
    as_walk_path_free(&w.path);
    return status;
}
