#include "cli/node_json.h"

#include <string.h>

#include "io/json.h"

/* ---- paths ------------------------------------------------------------------------------------------------------- */

void as_walk_path_init(as_walk_path *path) {
    *path = (as_walk_path){0};
    as_vec_init(&path->text, 1, NULL);
    as_vec_init(&path->lengths, sizeof(size_t), NULL);
}

void as_walk_path_free(as_walk_path *path) {
    as_vec_free(&path->text);
    as_vec_free(&path->lengths);
}

static bool add_name(as_walk_path *path, const as_dataset *ds, as_str name) {
    return name == AS_NO_STR || as_vec_append(&path->text, as_ds_text(ds, name), as_str_size(&ds->strings, name));
}

/* The path of a context, of what views show of it. */
static bool add_path(as_walk_path *path, const as_dataset *ds, assay_id context) {
    as_vec ids;
    as_vec_init(&ids, sizeof context, NULL);
    bool fine = true;
    for (assay_id id = context; id != ASSAY_NONE && fine; id = as_ds_context(ds, id)->parent) {
        if (as_view_shows(ds, id) && !as_context_is_root(ds, id)) fine = as_vec_append(&ids, &id, 1);
    }
    for (size_t i = ids.count; i-- > 0 && fine;)
        fine = add_name(path, ds, as_ds_context(ds, AS_AT(assay_id, &ids, i))->name) && as_vec_text(&path->text, "->");
    as_vec_free(&ids);
    return fine;
}

bool as_walk_path_step(as_walk_path *path, const as_dataset *ds, uint32_t depth, as_str name, assay_id above,
                       const char *arrow) {
    path->lengths.count = depth;
    path->text.count = depth ? AS_AT(size_t, &path->lengths, depth - 1) : 0;
    if (above != ASSAY_NONE && !add_path(path, ds, above)) return false;
    if (depth > path->n_left_out && !as_vec_text(&path->text, arrow)) return false;
    return add_name(path, ds, name) && as_vec_append(&path->lengths, &path->text.count, 1);
}

bool as_walk_path_skip(as_walk_path *path) {
    size_t none = 0;
    path->text.count = path->lengths.count = 0;
    path->n_left_out = 1;
    return as_vec_append(&path->lengths, &none, 1);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void as_node_json_text(as_output *out, const char *text) {
    if (text)
        as_json_write_string(out, text, strlen(text));
    else
        as_output_text(out, "null");
}

/* Pieces rather than a format: a million nodes have many members. */
static void write_key(as_output *out, const char *key) {
    as_output_char(out, '"');
    as_output_text(out, key);
    as_output_text(out, "\":");
}

void as_node_json_member(as_output *out, const char *key, const char *text) {
    write_key(out, key);
    as_node_json_text(out, text);
    as_output_char(out, ',');
}

void as_node_json_path(as_output *out, const as_walk_path *path) {
    write_key(out, "path");
    if (path->text.count <= AS_LONGEST_PATH)
        as_json_write_string(out, path->text.data ? path->text.data : "", path->text.count);
    else
        as_output_text(out, "null");
    as_output_char(out, ',');
}

void as_node_json_line(as_output *out, int64_t line) {
    write_key(out, "line");
    if (line >= 0)
        as_output_int(out, line);
    else
        as_output_text(out, "null");
    as_output_char(out, ',');
}

void as_node_json_number(as_output *out, const as_view_number *number, uint32_t n_parts) {
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

void as_node_json_metric(as_output *out, const as_dataset *ds, assay_id metric) {
    const char *name = as_ds_text(ds, as_ds_metric(ds, metric)->name);
    as_node_json_text(out, name ? name : "");
}

void as_node_json_begin(as_node_json *json, uint32_t depth) {
    as_node_json_close(json, depth + json->has_top);
    if (json->n_open) as_output_text(json->out, json->is_filled ? ",\n" : "\n");
    as_output_char(json->out, '{');
}

void as_node_json_children(as_node_json *json) {
    write_key(json->out, "children");
    as_output_char(json->out, '[');
    json->n_open++;
    json->is_filled = false;
}

void as_node_json_close(as_node_json *json, uint32_t n) {
    for (; json->n_open > n; json->n_open--) {
        as_output_text(json->out, "]}");
        json->is_filled = true;
    }
}
