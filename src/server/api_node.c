/* One context, or one row of any view (api/node): what it is, its way from the root, its source, who calls its function
 * and whom that calls, and what it has of all metrics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "server/exact.h"
#include "server/report_choice.h"
#include "server/tree_rows.h"

enum {
    MOST_METRICS = 60,
    MOST_STEPS = 200,    /* of the way from the root */
    MOST_RELATIVES = 50, /* callers or callees */
    MOST_ATTRIBUTES = 50,
    LINES_BEFORE = 4,
    LINES_AFTER = 12,
    LONGEST_LINE = 400,
    MOST_WORK = 1 << 22,  /* contexts that are looked at for the values of all metrics */
    MOST_VALUES = 1 << 19 /* of tables that are made for those of a row */
};

typedef struct details {
    as_asked_view asked;
    as_asked_table table; /* top-down */
    assay_id context;     /* of several the first; ASSAY_NONE: a file, a module or a kind */
    uint32_t item;        /* of the table; AS_NO_ITEM: none */
    as_asked_table shown; /* the view that a row is asked of, where that is another one */
    uint32_t row;         /* AS_NO_ITEM: it is a context that is asked for */
} details;

/* What is asked for, as a walk shows it. */
static as_view_node node_of(const details *d) {
    return d->row == AS_NO_ITEM ? as_view_item_node(d->table.table, d->item)
                                : as_view_item_node(d->shown.table, d->row);
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

static void build_step(as_builder *builder, details *d, const as_view_table *table, uint32_t item) {
    as_view_node node = as_view_item_node(table, item);
    as_build_object(builder, NULL, false);
    as_build_known(builder, "context", node.context == ASSAY_NONE ? -1 : (int64_t)node.context, false);
    as_build_int(builder, "node", as_asked_node(table, item));
    as_build_text(builder, "name", as_tree_name_of(&d->asked.tree, &node, true));
    as_build_end(builder);
}

/* From the root; of very many steps the last. */
static assay_status build_path(as_builder *builder, details *d, assay_error *error) {
    const as_view_table *table = d->row == AS_NO_ITEM ? d->table.table : d->shown.table;
    as_vec path;
    bool fine = true;
    as_vec_init(&path, sizeof(uint32_t), NULL);
    for (uint32_t i = d->row == AS_NO_ITEM ? d->item : d->row; fine && i != AS_NO_ITEM && path.count < MOST_STEPS;
         i = as_view_item_at(table, i)->parent)
        fine = as_vec_append(&path, &i, 1);
    as_build_array(builder, "path", false);
    for (size_t i = path.count; i-- > 0;) build_step(builder, d, table, AS_AT(uint32_t, &path, i));
    as_build_end(builder);
    as_vec_free(&path);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static void build_place(as_builder *builder, details *d) {
    const as_dataset *ds = d->asked.tree.ds;
    char digits[AS_NUMBER_SIZE];
    as_view_node node = node_of(d);
    as_tree_place place = as_tree_place_of(&d->asked.tree, &node, digits);
    as_build_known(builder, "context", node.context == ASSAY_NONE ? -1 : (int64_t)node.context, false);
    as_build_text(builder, "name", as_tree_name_of(&d->asked.tree, &node, true));
    as_build_text(builder, "kind", place.kind);
    as_build_text(builder, "source_id", place.source_id);
    as_build_text(builder, "module", place.module);
    as_build_text(builder, "file", as_ds_text(ds, place.file));
    as_build_known(builder, "line", place.line, true);
    as_build_text(builder, "call_file", as_ds_text(ds, place.call_file));
    as_build_known(builder, "call_line", place.call_line, true);
    as_build_bool(builder, "is_aside", node.is_aside);
    as_build_bool(builder, "is_inlined", node.is_inlined);
    bool is_context = d->row == AS_NO_ITEM;
    as_build_int(builder, "below", is_context ? as_view_item_at(d->table.table, d->item)->end - d->item - 1 : 0);
}

/* {"file", "first", "line", "lines": […]}: some lines around its own; null where there is no copy of the file. */
static assay_status build_source(as_builder *builder, const details *d, assay_error *error) {
    const as_dataset *ds = d->asked.tree.ds;
    char digits[AS_NUMBER_SIZE], text[LONGEST_LINE + 1];
    as_view_node node = node_of(d);
    as_tree_place place = as_tree_place_of(&d->asked.tree, &node, digits);
    as_source_lines *sources = as_source_lines_new(ds);
    size_t size;
    if (!sources) return as_fail_memory(error, NULL);
    if (!as_source_line_whole(sources, place.file, place.line, &size)) {
        as_build_text(builder, "source", NULL);
    } else {
        int64_t first = place.line > LINES_BEFORE ? place.line - LINES_BEFORE : 1;
        as_build_object(builder, "source", false);
        as_build_text(builder, "file", as_ds_text(ds, place.file));
        as_build_int(builder, "first", first);
        as_build_int(builder, "line", place.line);
        as_build_array(builder, "lines", false);
        for (int64_t line = first; line <= place.line + LINES_AFTER; line++) {
            const char *from = as_source_line_whole(sources, place.file, line, &size);
            if (!from) break;
            if (size > LONGEST_LINE) size = LONGEST_LINE;
            memcpy(text, from, size);
            text[size] = '\0';
            as_build_text(builder, NULL, text);
        }
        as_build_end(builder);
        as_build_end(builder);
    }
    as_source_lines_free(sources);
    return ASSAY_OK;
}

static void build_attributes(as_builder *builder, const details *d) {
    const as_dataset *ds = d->asked.tree.ds;
    assay_id region = d->context == ASSAY_NONE ? ASSAY_NONE : as_ds_context(ds, d->context)->region;
    size_t n = 0;
    as_build_array(builder, "attributes", false);
    for (size_t i = 0; d->context != ASSAY_NONE && i < AS_COUNT(ds, attributes) && n < MOST_ATTRIBUTES; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        bool is_context =
            d->row == AS_NO_ITEM && attribute->owner == AS_OWNER_CONTEXT && attribute->owner_id == d->context;
        bool is_region = attribute->owner == AS_OWNER_REGION && region != ASSAY_NONE && attribute->owner_id == region;
        if (!is_context && !is_region) continue;
        as_build_object(builder, NULL, false);
        as_build_text(builder, "owner", as_owner_name(attribute->owner));
        as_build_text(builder, "key", as_ds_text(ds, attribute->key));
        as_answer_cell(builder, "value", &attribute->value, AS_LONGEST_VALUE);
        as_build_end(builder);
        n++;
    }
    as_build_end(builder);
}

/* ---- callers and callees ----------------------------------------------------------------------------------------- */

/* A function that calls, or is called by, the one that is looked at. */
typedef struct relative {
    as_str name;
    uint32_t item; /* the first */
    uint32_t row;  /* of the view that is shown; AS_NO_ITEM: none */
    uint32_t n;    /* different calls of it in the tree */
    uint32_t end;  /* of the call that was counted last: those before it are inside, and part of it */
    double value;
} relative;

typedef struct relatives {
    as_map known; /* name -> index */
    as_vec all;   /* relative */
} relatives;

/* Calls come in the order of the tree. */
static bool add_relative(relatives *r, const as_view_table *table, const as_view_values *values, uint32_t item,
                         uint32_t call) {
    as_str name = as_view_item_at(table, item)->name;
    uint32_t at = as_map_get(&r->known, name);
    if (at == AS_MAP_NONE) {
        at = (uint32_t)r->all.count;
        relative made = {.name = name, .item = item, .row = AS_NO_ITEM};
        if (!as_map_put(&r->known, name, at) || !as_vec_append(&r->all, &made, 1)) return false;
    }
    relative *found = &AS_AT(relative, &r->all, at);
    found->n++;
    if (call < found->end || isnan(values->inclusive[call])) return true;
    found->value += values->inclusive[call];
    found->end = as_view_item_at(table, call)->end;
    return true;
}

static bool is_call(const as_view_table *table, uint32_t item) {
    return as_ds_context(table->ds, as_view_item_at(table, item)->context)->role == AS_ROLE_CALL;
}

/* The function around an item, or what is in it and has that name (AS_NO_STR: nothing); AS_NO_ITEM: none. */
static uint32_t around(const as_view_table *table, uint32_t item, as_str name) {
    do item = as_view_item_at(table, item)->parent;
    while (item != AS_NO_ITEM && !is_call(table, item) &&
           (name == AS_NO_STR || as_view_item_at(table, item)->name != name));
    return item;
}

/* What is called in an item of that name, itself or in its loops and lines. */
static bool add_callee(relatives *r, const as_view_table *table, const as_view_values *values, uint32_t item,
                       as_str name) {
    uint32_t above = is_call(table, item) ? around(table, item, name) : AS_NO_ITEM;
    bool is_callee = above != AS_NO_ITEM && as_view_item_at(table, above)->name == name;
    return !is_callee || add_relative(r, table, values, item, item);
}

static bool add_caller(relatives *r, const as_view_table *table, const as_view_values *values, uint32_t item) {
    uint32_t above = around(table, item, AS_NO_STR);
    return above == AS_NO_ITEM || add_relative(r, table, values, above, item);
}

static int compare_relatives(const void *a, const void *b) {
    const relative *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Functions of bottom-up and flat views have rows of their own. */
static void find_rows(const as_asked_table *shown, relatives *r) {
    for (uint32_t i = 0; i < as_view_items(shown->table); i++) {
        const as_view_item *item = as_view_item_at(shown->table, i);
        bool is_function =
            item->level == AS_LEVEL_CONTEXT && (item->depth == 0 || shown->table->request.kind != AS_VIEW_BOTTOM_UP);
        uint32_t at = is_function ? as_map_get(&r->known, item->name) : AS_MAP_NONE;
        if (at != AS_MAP_NONE && AS_AT(relative, &r->all, at).row == AS_NO_ITEM) AS_AT(relative, &r->all, at).row = i;
    }
}

static void build_relatives(as_builder *builder, const char *key, details *d, relatives *r) {
    if (d->row != AS_NO_ITEM) find_rows(&d->shown, r);
    if (r->all.count) qsort(r->all.data, r->all.count, sizeof(relative), compare_relatives);
    as_build_object(builder, key, false);
    as_build_int(builder, "n", (int64_t)r->all.count);
    as_build_array(builder, "rows", false);
    for (size_t i = 0; i < r->all.count && i < MOST_RELATIVES; i++) {
        const relative *one = &AS_AT(relative, &r->all, i);
        as_view_node node = as_view_item_node(d->table.table, one->item);
        as_build_object(builder, NULL, false);
        as_build_int(builder, "context", node.context);
        if (d->row != AS_NO_ITEM)
            as_build_known(builder, "node", one->row == AS_NO_ITEM ? -1 : as_asked_node(d->shown.table, one->row),
                           false);
        as_build_text(builder, "name", as_tree_name_of(&d->asked.tree, &node, true));
        as_build_int(builder, "n", one->n);
        as_build_number(builder, "value", one->value);
        as_build_end(builder);
    }
    as_build_end(builder);
    as_build_end(builder);
}

/* Of all calls of the function: direct calls, with their inclusive values, those inside others counted once. */
static assay_status build_sandwich(as_builder *builder, details *d, assay_error *error) {
    const as_view_table *table = d->table.table;
    const as_view_values *values = d->table.n_values ? d->table.values[0] : NULL;
    as_str name = d->item == AS_NO_ITEM ? AS_NO_STR : as_view_item_at(table, d->item)->name;
    relatives callers, callees;
    relatives *const both[] = {&callers, &callees};
    for (size_t i = 0; i < 2; i++) {
        as_map_init(&both[i]->known, NULL);
        as_vec_init(&both[i]->all, sizeof(relative), NULL);
    }
    bool fine = true;
    uint32_t n_calls = 0;
    for (uint32_t i = 0; fine && values && d->item != AS_NO_ITEM && i < as_view_items(table); i++) {
        fine = add_callee(&callees, table, values, i, name);
        if (as_view_item_at(table, i)->name != name) continue;
        n_calls++;
        fine = fine && add_caller(&callers, table, values, i);
    }
    as_build_int(builder, "calls", n_calls);
    if (fine) build_relatives(builder, "callers", d, &callers);
    if (fine) build_relatives(builder, "callees", d, &callees);
    for (size_t i = 0; i < 2; i++) {
        as_map_free(&both[i]->known);
        as_vec_free(&both[i]->all);
    }
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static assay_status build_metric(as_builder *builder, const details *d, assay_id id, assay_error *error) {
    const as_dataset *ds = d->asked.tree.ds;
    const as_metric *metric = as_ds_metric(ds, id);
    as_node_list list;
    as_node_list_init_of(&list, ds);
    assay_status status = as_nodes_find_one(ds, d->asked.tree.runs.runs[0], id, d->context, NULL, &list, error);
    if (status == ASSAY_OK && as_node_count(&list)) {
        const as_node *node = as_node_at(&list, 0);
        bool is_own = as_metric_is_only_exclusive(metric);
        bool has_exclusive = node->has_exclusive && !node->lacks_exclusive;
        assay_id of_input = as_asked_input_metric(&d->asked, id);
        as_build_object(builder, NULL, false);
        as_build_known(builder, "id", of_input == ASSAY_NONE ? -1 : (int64_t)of_input, false);
        as_build_text(builder, "name", as_ds_text(ds, metric->name));
        as_build_text(builder, "display_name", as_ds_text(ds, metric->display_name));
        as_build_text(builder, "unit", as_ds_text(ds, metric->unit));
        as_build_exact(builder, is_own ? "exclusive" : "inclusive", node->is_whole, node->whole_inclusive,
                       as_number_real(node->inclusive));
        if (has_exclusive)
            as_build_exact(builder, "exclusive", node->is_whole, node->whole_exclusive,
                           as_number_real(node->exclusive));
        as_build_end(builder);
    }
    as_node_list_free(&list);
    return status;
}

static void build_view_value(as_builder *builder, const details *d, const as_view_values *values, uint32_t item) {
    const as_dataset *ds = d->asked.tree.ds;
    const as_metric *metric = as_ds_metric(ds, values->metric);
    assay_id id = as_asked_input_metric(&d->asked, values->metric);
    as_build_object(builder, NULL, false);
    as_build_known(builder, "id", id == ASSAY_NONE ? -1 : (int64_t)id, false);
    as_build_text(builder, "name", as_ds_text(ds, metric->name));
    as_build_text(builder, "display_name", as_ds_text(ds, metric->display_name));
    as_build_text(builder, "unit", as_ds_text(ds, metric->unit));
    if (values->has_inclusive) as_build_number(builder, "inclusive", values->inclusive[item]);
    if (values->exclusive) as_build_number(builder, "exclusive", values->exclusive[item]);
    as_build_end(builder);
}

/* Those that values can be shown of. */
static bool is_shown(const as_dataset *ds, assay_id id) {
    const as_metric *metric = as_ds_metric(ds, id);
    return metric->part_of == ASSAY_NONE && metric->kind != AS_KIND_DERIVED && as_metric_has_data(ds, id);
}

/* Exactly, and of all metrics, where that is one run and does not take long; else of those that are looked at. Of those
 * that are computed only what is looked at. */
static assay_status build_metrics(as_builder *builder, const details *d, assay_error *error) {
    const as_tree_view *tree = &d->asked.tree;
    size_t n = AS_COUNT(tree->ds, metrics), n_shown = 0;
    uint64_t work = 0, each = as_ds_context(tree->ds, d->context)->subtree;
    assay_status status = ASSAY_OK;
    bool is_exact = tree->runs.n_runs == 1 && !tree->locations.wanted;
    for (assay_id id = 0; is_exact && status == ASSAY_OK && id < n && n_shown < MOST_METRICS; id++) {
        if (!is_shown(tree->ds, id)) continue;
        work += as_ds_metric(tree->ds, id)->is_stored ? 1 : each;
        if (work > MOST_WORK) break;
        status = build_metric(builder, d, id, error);
        n_shown++;
    }
    for (size_t i = 0; i < d->table.n_values; i++) {
        if (!n_shown || !is_shown(tree->ds, d->table.values[i]->metric))
            build_view_value(builder, d, d->table.values[i], d->item);
    }
    return status;
}

/* Of a row: those of its columns, then as many others as do not take long. */
static assay_status build_row_metrics(as_builder *builder, as_viewing *viewing, const details *d, assay_error *error) {
    const as_dataset *ds = d->asked.tree.ds;
    size_t n_shown = 0;
    uint64_t work = 0, each = as_view_items(d->shown.table) + AS_COUNT(ds, contexts);
    bool *is_column = calloc(AS_COUNT(ds, metrics) + 1, sizeof *is_column);
    if (!is_column) return as_fail_memory(error, NULL);
    for (; n_shown < d->shown.n_values; n_shown++) {
        is_column[d->shown.values[n_shown]->metric] = true;
        build_view_value(builder, d, d->shown.values[n_shown], d->row);
    }
    assay_status status = ASSAY_OK;
    for (assay_id id = 0; status == ASSAY_OK && id < AS_COUNT(ds, metrics) && n_shown < MOST_METRICS; id++) {
        const as_view_values *values = NULL;
        if (is_column[id] || !is_shown(ds, id)) continue;
        if ((work += each) > MOST_VALUES) break;
        status = as_asked_more_values(viewing, &d->asked, &d->shown, id, &values, error);
        bool has_one =
            values && !(isnan(values->inclusive[d->row]) && (!values->exclusive || isnan(values->exclusive[d->row])));
        if (has_one) build_view_value(builder, d, values, d->row);
        n_shown++;
    }
    free(is_column);
    return status;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* A row of a view other than the call tree from the root on: the numbers of its row, and as its context the first of
 * those that it stands for. */
static assay_status find_row(as_viewing *viewing, details *d, int64_t node, assay_error *error) {
    AS_TRY(as_asked_row_get(viewing, &d->asked, node, &d->shown, &d->row, error));
    d->context = as_view_item_at(d->shown.table, d->row)->context;
    return ASSAY_OK;
}

/* The tree that tells who calls whom: nothing of it is hidden. */
static assay_status find_tree(as_viewing *viewing, details *d, assay_error *error) {
    as_asked_view all = as_asked_view_of_all(&d->asked);
    all.tree.request.kind = AS_VIEW_TOP_DOWN;
    all.tree.request.group = AS_GROUP_REGION;
    AS_TRY(as_asked_table_get(viewing, &all, &d->table, error));
    if (d->row == AS_NO_ITEM) d->asked.tree.request = all.tree.request;
    d->item = d->context != ASSAY_NONE ? as_view_item_of(d->table.table, d->context) : AS_NO_ITEM;
    return ASSAY_OK;
}

static assay_status find(as_viewing *viewing, const as_request *request, details *d, assay_error *error) {
    int64_t context, node;
    AS_TRY(as_asked_view_make(viewing, request, &d->asked, error));
    AS_TRY(as_request_number(request, "context", 0, (int64_t)AS_COUNT(d->asked.tree.ds, contexts) - 1, 0, &context,
                             error));
    AS_TRY(as_request_number(request, "node", 0, INT64_C(1) << 53, -1, &node, error));
    bool is_row = node >= 0 && d->asked.tree.request.kind != AS_VIEW_TOP_DOWN;
    d->context = (assay_id)context;
    if (is_row)
        AS_TRY(find_row(viewing, d, node, error));
    else if (node >= 0 && node < (int64_t)AS_COUNT(d->asked.tree.ds, contexts))
        d->context = (assay_id)node;
    AS_TRY(find_tree(viewing, d, error));
    if (is_row) return ASSAY_OK;
    if (d->item == AS_NO_ITEM)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "context %lld is not in this view",
                       (long long)d->context);
    d->context = as_view_item_at(d->table.table, d->item)->context;
    return ASSAY_OK;
}

static assay_status build(as_builder *builder, as_viewing *viewing, details *d, assay_error *error) {
    as_build_object(builder, NULL, false);
    build_place(builder, d);
    AS_TRY(build_path(builder, d, error));
    as_build_view_metrics(builder, &d->asked, d->row == AS_NO_ITEM ? &d->table : &d->shown);
    as_build_array(builder, "values", false);
    AS_TRY(d->row == AS_NO_ITEM ? build_metrics(builder, d, error) : build_row_metrics(builder, viewing, d, error));
    as_build_end(builder);
    AS_TRY(build_sandwich(builder, d, error));
    AS_TRY(build_source(builder, d, error));
    build_attributes(builder, d);
    as_build_end(builder);
    return ASSAY_OK;
}

static assay_status answer_node(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_builder builder = as_builder_of(out);
    details d = {.row = AS_NO_ITEM};
    builder.compact = true;
    assay_status status = find(viewing, request, &d, error);
    if (status == ASSAY_OK) status = build(&builder, viewing, &d, error);
    as_asked_table_free(&d.table);
    as_asked_table_free(&d.shown);
    as_asked_view_free(&d.asked);
    return status;
}

/* Those that have most, with all there is to say of them; of others the page knows what the trees say. Of rows of other
 * views these do not say how they lie over locations. */
static void report_nodes(as_viewing *viewing, as_html_report *report) {
    enum { CONTEXTS = 1500, FEWEST = 100, WORK = 1 << 25 }; /* each looks at the whole tree */
    static const double part = 0.3;                         /* of the room, for all of them */
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    as_vec contexts; /* int64_t */
    if (!input || !AS_COUNT(input->ds, contexts) || !AS_COUNT(input->ds, metrics)) return;
    as_vec_init(&contexts, sizeof(int64_t), NULL);
    size_t most = WORK / (AS_COUNT(input->ds, contexts) + 1);
    most = most < FEWEST ? FEWEST : most > CONTEXTS ? CONTEXTS : most;
    as_report_rows(viewing, report, NULL, NULL, (uint32_t)most, &contexts);
    double least = (1 - part) * (double)as_html_report_left(report);
    for (size_t i = 0; i < contexts.count && (double)as_html_report_left(report) > least; i++) {
        as_report_words words;
        as_report_words_begin(&words, report, ASSAY_NONE);
        as_report_words_row(&words, "context", AS_AT(int64_t, &contexts, i));
        as_html_report_keep_part(report, "node", words.parameters, words.n, 0.02);
    }
    as_vec_free(&contexts);
    as_report_row_places(viewing, report, "bottom-up");
    as_report_row_places(viewing, report, "flat");
}

const as_endpoint as_endpoint_node = {.path = "node", .answer = answer_node, .report = report_nodes};
