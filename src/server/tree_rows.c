#include "server/tree_rows.h"

#include <math.h>

#include "server/exact.h"

void as_build_view_metrics(as_builder *builder, const as_asked_view *asked, const as_asked_table *table) {
    const as_dataset *ds = asked->tree.ds;
    as_build_array(builder, "metrics", false);
    for (size_t i = 0; i < table->n_values; i++) {
        const as_view_values *values = table->values[i];
        const as_metric *metric = as_ds_metric(ds, values->metric);
        as_build_object(builder, NULL, false);
        assay_id id = as_asked_input_metric(asked, values->metric);
        as_build_known(builder, "id", id == ASSAY_NONE ? -1 : (int64_t)id, false);
        as_build_text(builder, "name", as_ds_text(ds, metric->name));
        as_build_text(builder, "display_name", as_ds_text(ds, metric->display_name));
        as_build_text(builder, "unit", as_ds_text(ds, metric->unit));
        as_build_bool(builder, "is_whole", as_dtype_is_integer(values->dtype));
        as_build_bool(builder, "adds_up", values->adds_up);
        as_build_bool(builder, "has_inclusive", values->has_inclusive);
        as_build_bool(builder, "has_exclusive", values->has_exclusive);
        as_build_number(builder, "whole", values->whole);
        as_build_number(builder, "all", values->all.is_known ? values->all.real : NAN);
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

typedef void put_cell(as_builder *builder, as_asked_view *asked, const as_tree_row *row);

static const as_tree_row *row_at(const as_vec *rows, size_t i) { return &AS_AT(as_tree_row, rows, i); }
static const as_view_item *item_of(const as_tree_row *row) { return as_view_item_at(row->of->table, row->item); }

static as_tree_place place_of(const as_asked_view *asked, const as_tree_row *row, char digits[AS_NUMBER_SIZE]) {
    as_view_node node = as_view_item_node(row->of->table, row->item);
    return as_tree_place_of(&asked->tree, &node, digits);
}

static void put_node(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    (void)asked;
    as_build_int(builder, NULL, as_asked_node(row->of->table, row->item));
}
static void put_depth(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    (void)asked;
    as_build_int(builder, NULL, item_of(row)->depth);
}
static void put_name(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    as_view_node node = as_view_item_node(row->of->table, row->item);
    as_build_text(builder, NULL, as_tree_name_of(&asked->tree, &node, true));
}
static void put_context(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    assay_id context = asked->regrouped < 0 ? item_of(row)->context : ASSAY_NONE;
    as_build_known(builder, NULL, context == ASSAY_NONE ? -1 : (int64_t)context, false);
}
static void put_kind(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_text(builder, NULL, place_of(asked, row, digits).kind);
}
static void put_module(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_text(builder, NULL, place_of(asked, row, digits).module);
}
static void put_file(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_text(builder, NULL, as_ds_text(asked->tree.ds, place_of(asked, row, digits).file));
}
static void put_line(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_known(builder, NULL, place_of(asked, row, digits).line, true);
}
static void put_call_file(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_text(builder, NULL, as_ds_text(asked->tree.ds, place_of(asked, row, digits).call_file));
}
static void put_call_line(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    char digits[AS_NUMBER_SIZE];
    as_build_known(builder, NULL, place_of(asked, row, digits).call_line, true);
}
static void put_children(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    (void)asked;
    as_build_known(builder, NULL, row->children == UINT32_MAX ? -1 : (int64_t)row->children, false);
}
static void put_flags(as_builder *builder, as_asked_view *asked, const as_tree_row *row) {
    (void)asked;
    as_build_int(builder, NULL, (int64_t)(row->flags | item_of(row)->flags));
}

static const struct {
    const char *key;
    put_cell *put;
} columns[] = {
    {"node", put_node},           {"depth", put_depth},         {"name", put_name},         {"context", put_context},
    {"kind", put_kind},           {"module", put_module},       {"file", put_file},         {"line", put_line},
    {"call_file", put_call_file}, {"call_line", put_call_line}, {"children", put_children}, {"flags", put_flags},
};

/* Whether a row has something in this column of texts or lines that are often not there at all. */
static bool is_filled(as_asked_view *asked, const as_vec *rows, put_cell *put) {
    char digits[AS_NUMBER_SIZE];
    for (size_t i = 0; i < rows->count; i++) {
        as_tree_place place = place_of(asked, row_at(rows, i), digits);
        if ((put == put_module && place.module) || (put == put_file && place.file != AS_NO_STR) ||
            (put == put_line && place.line > 0) || (put == put_call_file && place.call_file != AS_NO_STR) ||
            (put == put_call_line && place.call_line > 0) || (put == put_kind && place.kind))
            return true;
    }
    return false;
}

/* Top-down each item is one context. */
static void build_value(as_builder *builder, as_exact *exact, const as_tree_row *row, size_t k, bool exclusive) {
    const as_view_values *of = row->of->values[k];
    const double *values = exclusive ? of->exclusive : of->inclusive;
    double value = values ? values[row->item] : NAN;
    as_whole whole = 0;
    assay_id context = row->of->table->request.kind == AS_VIEW_TOP_DOWN ? item_of(row)->context : ASSAY_NONE;
    bool is_whole = as_exact_find(exact, of->metric, context, exclusive, value, &whole);
    as_build_exact(builder, NULL, is_whole, whole, value);
}

static void build_values(as_builder *builder, const char *key, const as_vec *rows, as_exact *exact, bool exclusive) {
    size_t n = rows->count ? row_at(rows, 0)->of->n_values : 0;
    as_build_array(builder, key, false);
    for (size_t k = 0; k < n; k++) {
        as_build_array(builder, NULL, false);
        for (size_t i = 0; i < rows->count; i++) {
            build_value(builder, exact, row_at(rows, i), k, exclusive);
        }
        as_build_end(builder);
    }
    as_build_end(builder);
}

void as_build_tree_rows(as_builder *builder, as_asked_view *asked, const as_vec *rows) {
    as_build_object(builder, "rows", false);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        put_cell *put = columns[k].put;
        bool is_place = put == put_kind || put == put_module || put == put_file || put == put_line ||
                        put == put_call_file || put == put_call_line;
        if (is_place && !is_filled(asked, rows, put)) continue;
        as_build_array(builder, columns[k].key, false);
        for (size_t i = 0; i < rows->count; i++) put(builder, asked, row_at(rows, i));
        as_build_end(builder);
    }
    as_build_end(builder);
    as_exact exact = {.source = as_asked_source(asked)};
    build_values(builder, "inclusive", rows, &exact, false);
    build_values(builder, "exclusive", rows, &exact, true);
}
