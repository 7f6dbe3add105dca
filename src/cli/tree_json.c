/* The tree as JSON: written as the walk goes, a line for each node, whatever its size and depth. */
#include <stdlib.h>
#include <string.h>

#include "cli/tree_view.h"
#include "io/json.h"

typedef struct writer {
    as_tree_view *view;
    as_output *out;
    as_view_path path;
    bool has_top;    /* a node above the first level */
    uint32_t n_open; /* nodes whose children may still come */
    bool is_filled;  /* the innermost of them has a child */
    size_t n_nodes;
} writer;

static void write_text(as_output *out, const char *text) {
    if (text)
        as_json_write_string(out, text, strlen(text));
    else
        as_output_text(out, "null");
}

static void write_member(as_output *out, const char *key, const char *text) {
    as_output_char(out, '"');
    as_output_text(out, key);
    as_output_text(out, "\":");
    write_text(out, text);
    as_output_char(out, ',');
}

static void write_number(as_output *out, const as_view_number *number, uint32_t n_parts) {
    char text[AS_WHOLE_SIZE];
    if (!number->is_known) {
        as_output_text(out, "null");
    } else if (number->parts) {
        for (uint32_t i = 0; i < n_parts; i++) {
            as_output_char(out, i ? ',' : '[');
            as_json_write_real(out, number->parts[i]);
        }
        as_output_char(out, ']');
    } else if (number->is_whole) {
        as_output_write(out, text, as_whole_format(number->whole, text));
    } else {
        as_json_write_real(out, number->real);
    }
}

static void write_values(writer *w, const as_view_value *values) {
    const as_dataset *ds = w->view->ds;
    as_output_text(w->out, "\"values\":{");
    for (size_t k = 0; k < w->view->data.n_columns; k++) {
        const as_view_column *column = &w->view->data.columns[k];
        const char *name = as_ds_text(ds, as_ds_metric(ds, column->metric)->name);
        if (k) as_output_char(w->out, ',');
        write_text(w->out, name ? name : "");
        as_output_text(w->out, ":{\"inclusive\":");
        write_number(w->out, &values[k].inclusive, column->list.n_parts);
        as_output_text(w->out, ",\"exclusive\":");
        write_number(w->out, &values[k].exclusive, column->list.n_parts);
        as_output_char(w->out, '}');
    }
    as_output_text(w->out, "},\"children\":[");
}

/* Ends nodes until only n are open. */
static void close_nodes(writer *w, uint32_t n) {
    for (; w->n_open > n; w->n_open--) {
        as_output_text(w->out, "]}");
        w->is_filled = true;
    }
}

static bool write_node(void *user, const as_view_node *node) {
    writer *w = user;
    as_output *out = w->out;
    as_tree_place place = as_tree_place_of(w->view, node);
    close_nodes(w, node->depth + w->has_top);
    if (w->n_open) as_output_text(out, w->is_filled ? ",\n" : "\n");
    if (!as_view_path_step(&w->path, w->view, node)) return false;
    as_output_char(out, '{');
    write_member(out, "name", as_ds_text(w->view->ds, node->name));
    write_member(out, "kind", place.kind);
    as_output_text(out, "\"path\":");
    if (w->path.text.count <= AS_LONGEST_PATH)
        as_json_write_string(out, w->path.text.data ? w->path.text.data : "", w->path.text.count);
    else
        as_output_text(out, "null");
    as_output_char(out, ',');
    write_member(out, "source_id", place.source_id);
    write_member(out, "file", place.file);
    as_output_text(out, "\"line\":");
    if (place.line >= 0)
        as_output_int(out, place.line);
    else
        as_output_text(out, "null");
    as_output_char(out, ',');
    write_member(out, "module", place.module);
    if (node->is_hot) as_output_text(out, "\"hot\":true,");
    write_values(w, node->values);
    w->n_open++;
    w->n_nodes++;
    w->is_filled = false;
    return true;
}

/* What stands above several roots, and above functions. */
static bool write_top(writer *w) {
    size_t n = w->view->data.n_columns;
    as_view_value *all = calloc(n + 1, sizeof *all);
    if (!all) return false;
    for (size_t k = 0; k < n; k++) all[k] = as_view_whole(&w->view->data, k);
    as_output_text(w->out, "{\"name\":\"(all)\",\"kind\":null,\"path\":null,\"source_id\":null,\"file\":null,"
                           "\"line\":null,\"module\":null,");
    write_values(w, all);
    w->has_top = true;
    w->n_open = 1;
    free(all);
    return true;
}

static void write_head(writer *w) {
    static const char *const views[] = {"top-down", "bottom-up", "flat"};
    static const char *const groups[] = {"region", "file", "module", "kind"};
    const as_tree_view *view = w->view;
    const as_dataset *ds = view->ds;
    as_output_char(w->out, '{');
    write_member(w->out, "input", as_ds_text(ds, ds->path));
    write_member(w->out, "view", views[view->request.kind]);
    if (view->request.kind == AS_VIEW_FLAT) write_member(w->out, "by", groups[view->request.group]);
    if (view->runs.label[0]) write_member(w->out, "run", view->runs.label);
    if (view->locations.label[0]) write_member(w->out, "location", view->locations.label);
    as_output_text(w->out, "\"metrics\":[");
    for (size_t k = 0; k < view->data.n_columns; k++) {
        const char *name = as_ds_text(ds, as_ds_metric(ds, view->data.columns[k].metric)->name);
        if (k) as_output_char(w->out, ',');
        write_text(w->out, name ? name : "");
    }
    as_output_text(w->out, "],\n\"root\":");
}

as_exit as_tree_json(as_tree_view *view) {
    writer w = {.view = view, .out = view->cli->out};
    as_view_cut cut;
    as_view_path_init(&w.path);
    write_head(&w);
    bool is_one = view->request.kind == AS_VIEW_TOP_DOWN && view->data.n_roots == 1;
    as_exit status = is_one || write_top(&w) ? AS_EXIT_FINE : as_cli_memory(view->cli);
    if (status == AS_EXIT_FINE) status = as_tree_walk(view, write_node, &w, &cut);
    if (status == AS_EXIT_FINE) {
        close_nodes(&w, 0);
        if (is_one && !w.n_nodes) as_output_text(w.out, "null");
        as_output_text(w.out, "}");
        as_tree_note_limit(view->cli, &cut);
    }
    as_view_path_free(&w.path);
    return status;
}
