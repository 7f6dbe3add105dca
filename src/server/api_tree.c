/* Rows of a call tree (api/tree): the children of nodes, the way to the hot path or to a match. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/report_choice.h"
#include "server/tree_rows.h"
#include "server/tree_whole.h"

enum {
    USUAL_ROWS = 200,
    MOST_ROWS = 5000,
    MOST_LEVELS = 50,
    MOST_NODES = 2000,
    MOST_SENT_OF_WHOLE = 150000, /* rows of a whole tree */
    MOST_VALUES = 600000,        /* of all metrics together, inclusive and exclusive */
    MOST_STEPS = 1 << 22         /* contexts that are gone through for callers of cut rows, a second or two */
};

/* Numbers are doubles on the page. */
#define LARGEST_NODE (INT64_C(1) << 53)

/* A table that rows are of, with what was searched in it. */
typedef struct source {
    as_asked_table asked;
    as_view_found found;
    assay_id above;       /* the function whose callers are followed; ASSAY_NONE: it is that of the view */
    uint8_t *large;       /* of each item whether its share is enough; NULL: all are */
    const uint8_t *shown; /* of each item whether it is one of the rows; NULL: all are */
} source;

/* The children of one node, from `offset` on. */
typedef struct list {
    int64_t node; /* -1: the first level */
    source *of;
    uint32_t item;
    size_t offset, n, rows; /* n: all there are */
} list;

typedef struct answer {
    as_viewing *viewing;
    as_asked_view asked;
    const char *match;
    bool only_matches;
    double share; /* what has less of the whole is left out */
    as_view_sorting sort;
    int64_t sort_metric; /* index into the metrics that are asked for */
    bool is_ascending;
    int64_t offset, limit, levels;
    as_vec sources; /* source *: the first is that of the view */
    /* of sources of callers that were cut: what they take, and what they were made of */
    size_t above_bytes, above_steps;
    as_vec lists;  /* list */
    as_vec rows;   /* as_tree_row */
    as_vec opened; /* int64_t: nodes whose children are in the answer */
    as_vec hot;    /* uint32_t: items of the view's table */
    int64_t at;    /* the match that was looked for, or the end of the hot path; -1: none */
    size_t most_rows;
    int64_t whole; /* rows that a whole tree may have; 0: it is no whole tree */
    as_whole_part part;
    as_vec usual; /* assay_id: of whole trees the metrics that are shown where nobody chooses */
} answer;

static source *source_at(const answer *a, size_t i) { return AS_AT(source *, &a->sources, i); }
static const as_view_table *view_table(const answer *a) { return source_at(a, 0)->asked.table; }

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* Whether GPUs did something while the host did not: then their time counts, too, as the command has it. */
static bool is_gpu_time_telling(const answer *a, const as_asked_table *asked) {
    if (!a->asked.tree.has_gpu_time || asked->n_values < 2 || !asked->values[1]->exclusive) return false;
    for (uint32_t i = 0; i < asked->values[0]->n; i++) {
        if (asked->values[1]->exclusive[i] > 0 && !(asked->values[0]->inclusive[i] > 0)) return true;
    }
    return false;
}

/* What is not shown because of its share, or its name. */
static assay_status choose_shown(const answer *a, source *s, assay_error *error) {
    if (a->share > 0 && s->asked.n_values) {
        s->large = malloc((size_t)as_view_items(s->asked.table) + 1);
        if (!s->large) return as_fail_memory(error, NULL);
        as_view_mark_large(s->asked.table, s->asked.values, is_gpu_time_telling(a, &s->asked) ? 2 : 1, a->sort,
                           a->share, s->large);
    }
    if (a->match) AS_TRY(as_view_search(s->asked.table, a->match, s->large, &s->found, error));
    s->shown = a->only_matches ? s->found.marks : s->large;
    return ASSAY_OK;
}

static assay_status add_source(answer *a, const as_view_item *cut, source **out, uint32_t *item, assay_error *error) {
    source *s = calloc(1, sizeof *s);
    if (!s || !as_vec_append(&a->sources, &s, 1)) {
        free(s);
        return as_fail_memory(error, NULL);
    }
    *out = s;
    s->above = cut ? cut->call_site : ASSAY_NONE;
    if (cut)
        AS_TRY(as_asked_table_above(a->viewing, &a->asked, cut, SIZE_MAX, &s->asked, item, error));
    else
        AS_TRY(as_asked_table_get(a->viewing, &a->asked, &s->asked, error));
    if (cut) {
        a->above_steps += AS_COUNT(s->asked.table->ds, contexts);
        a->above_bytes +=
            as_view_items(s->asked.table) * (sizeof(as_view_item) + 2 * s->asked.n_values * sizeof(double));
    }
    return choose_shown(a, s, error);
}

/* The table of a function's callers, *item the node in it; *out NULL: the tables of this answer have enough, and
 * another must ask for it. */
static assay_status find_above(answer *a, const as_view_item *cut, int64_t node, source **out, uint32_t *item,
                               assay_error *error) {
    *out = NULL;
    for (size_t i = 1; i < a->sources.count && !*out; i++) {
        if (source_at(a, i)->above == cut->call_site) *out = source_at(a, i);
    }
    bool is_enough = a->above_bytes > AS_KEPT_LIMIT || a->above_steps > MOST_STEPS;
    if (!*out) return is_enough ? ASSAY_OK : add_source(a, cut, out, item, error);
    *item = as_asked_item((*out)->asked.table, node);
    if (*item != AS_NO_ITEM && as_view_item_at((*out)->asked.table, *item)->flags & AS_ITEM_CUT) *item = AS_NO_ITEM;
    return ASSAY_OK;
}

/* Where a node is, with all that is below it; *item AS_NO_ITEM: nowhere. */
static assay_status find_node(answer *a, int64_t node, source **of, uint32_t *item, assay_error *error) {
    const as_view_table *table = view_table(a);
    *of = source_at(a, 0);
    *item = as_asked_item(table, node);
    if (table->request.kind != AS_VIEW_BOTTOM_UP || !table->cut.deep || node < 0) return ASSAY_OK;
    const as_view_item *known = *item == AS_NO_ITEM ? NULL : as_view_item_at(table, *item);
    if (known && !(known->flags & AS_ITEM_CUT)) return ASSAY_OK;
    as_view_item cut = {.call_site = (assay_id)(node & UINT32_MAX), .depth = (uint32_t)(node >> 32)};
    if (cut.call_site >= AS_COUNT(table->ds, contexts)) return ASSAY_OK;
    uint32_t further = AS_NO_ITEM;
    source *above = NULL;
    AS_TRY(find_above(a, &cut, node, &above, &further, error));
    if (!above || further != AS_NO_ITEM) *item = further;
    if (above && further != AS_NO_ITEM) *of = above;
    return ASSAY_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static as_view_order order_of(const answer *a, const source *s) {
    return (as_view_order){.by = a->sort,
                           .values = s->asked.n_values ? s->asked.values[a->sort_metric] : NULL,
                           .is_reversed = a->is_ascending,
                           .marks = s->shown};
}

static bool is_opened(const answer *a, int64_t node) {
    for (size_t i = 0; i < a->opened.count; i++) {
        if (AS_AT(int64_t, &a->opened, i) == node) return true;
    }
    return false;
}

static bool is_hot(const answer *a, const source *s, uint32_t item) {
    for (size_t i = 0; s == source_at(a, 0) && i < a->hot.count; i++) {
        if (AS_AT(uint32_t, &a->hot, i) == item) return true;
    }
    return false;
}

static uint32_t count_children(const source *s, uint32_t item) {
    uint32_t n = 0;
    const as_view_table *table = s->asked.table;
    if (as_view_item_at(table, item)->flags & AS_ITEM_CUT) return UINT32_MAX;
    for (uint32_t at = as_view_first_child(table, item); at != AS_NO_ITEM; at = as_view_next_sibling(table, at))
        n += !s->shown || s->shown[at] != 0;
    return n;
}

static bool add_row(answer *a, const source *s, uint32_t item) {
    uint8_t mark = a->match ? s->found.marks[item] : 0;
    as_tree_row row = {.of = &s->asked, .item = item, .children = count_children(s, item)};
    row.flags = (is_hot(a, s, item) ? AS_ROW_HOT : 0u) | (mark & AS_MARK_MATCH ? AS_ROW_MATCH : 0u) |
                (mark & AS_MARK_ABOVE ? AS_ROW_LEADS_TO_MATCH : 0u);
    return as_vec_append(&a->rows, &row, 1);
}

/* The children of a node, of which at least `least` rows are wanted. */
static assay_status open_node(answer *a, int64_t node, size_t least, assay_error *error) {
    source *s;
    uint32_t item;
    if (is_opened(a, node)) return ASSAY_OK;
    AS_TRY(find_node(a, node, &s, &item, error));
    /* Of another view or selection, or hidden: it shows nothing */
    if (node >= 0 && (item == AS_NO_ITEM || as_asked_node(s->asked.table, item) != node)) return ASSAY_OK;
    as_view_order order = order_of(a, s);
    as_vec items;
    as_vec_init(&items, sizeof(uint32_t), NULL);
    list l = {.node = node, .of = s, .item = item, .offset = (size_t)a->offset};
    size_t most = (size_t)a->limit > least ? (size_t)a->limit : least;
    if (most > a->most_rows - a->rows.count) most = a->most_rows - a->rows.count;
    bool fine = as_view_children(s->asked.table, &order, item, l.offset, most, &items, &l.n);
    for (size_t i = 0; fine && i < items.count; i++) fine = add_row(a, s, AS_AT(uint32_t, &items, i));
    l.rows = items.count;
    fine = fine && as_vec_append(&a->lists, &l, 1) && as_vec_append(&a->opened, &node, 1);
    as_vec_free(&items);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* How many siblings stand before an item in the order, itself included. */
static size_t rank_of(const answer *a, const source *s, uint32_t item) {
    as_view_order order = order_of(a, s);
    const as_view_table *table = s->asked.table;
    as_vec items;
    size_t n, rank = 0;
    as_vec_init(&items, sizeof(uint32_t), NULL);
    if (as_view_children(table, &order, as_view_item_at(table, item)->parent, 0, MOST_ROWS, &items, &n)) {
        while (rank < items.count && AS_AT(uint32_t, &items, rank) != item) rank++;
    }
    as_vec_free(&items);
    return rank + 1;
}

/* All nodes above this one, so that it can be seen. */
static assay_status reveal(answer *a, int64_t node, assay_error *error) {
    source *s;
    uint32_t item;
    as_vec path;
    AS_TRY(find_node(a, node, &s, &item, error));
    as_vec_init(&path, sizeof(uint32_t), NULL);
    bool fine = true;
    for (; fine && item != AS_NO_ITEM; item = as_view_item_at(s->asked.table, item)->parent)
        fine = as_vec_append(&path, &item, 1);
    assay_status status = fine ? ASSAY_OK : as_fail_memory(error, NULL);
    int64_t above = -1;
    for (size_t i = path.count; status == ASSAY_OK && i-- > 0;) {
        uint32_t at = AS_AT(uint32_t, &path, i);
        if (a->rows.count < a->most_rows) status = open_node(a, above, rank_of(a, s, at), error);
        above = as_asked_node(s->asked.table, at);
    }
    as_vec_free(&path);
    return status;
}

/* What is below the rows so far, as many levels as are asked for. */
static assay_status open_levels(answer *a, assay_error *error) {
    for (size_t from = 0, level = 1; level < (size_t)a->levels; level++) {
        size_t end = a->lists.count;
        size_t row = 0;
        for (size_t i = 0; i < from; i++) row += AS_AT(list, &a->lists, i).rows;
        for (size_t i = from; i < end; i++) {
            size_t n = AS_AT(list, &a->lists, i).rows;
            for (size_t k = 0; k < n; k++, row++) {
                const as_tree_row *r = &AS_AT(as_tree_row, &a->rows, row);
                bool has_room = a->rows.count < a->most_rows && a->lists.count < MOST_NODES;
                if (!r->children || r->children == UINT32_MAX || !has_room) continue;
                AS_TRY(open_node(a, as_asked_node(r->of->table, r->item), 0, error));
            }
        }
        from = end;
    }
    return ASSAY_OK;
}

/* ---- whole trees ------------------------------------------------------------------------------------------------- */

static bool is_inner(const answer *a, const as_view_table *table, uint32_t item) {
    if (a->asked.tree.request.kind != AS_VIEW_TOP_DOWN) return false;
    return as_ds_context(table->ds, as_view_item_at(table, item)->context)->role != AS_ROLE_CALL;
}

/* Those below a node that are a part of the answer. */
static bool open_part(answer *a, int64_t node, uint32_t item, as_vec *items) {
    source *s = source_at(a, 0);
    as_view_order order = order_of(a, s);
    list l = {.node = node, .of = s, .item = item};
    size_t n_part;
    items->count = 0;
    for (uint32_t at = as_view_first_child(s->asked.table, item); at != AS_NO_ITEM;
         at = as_view_next_sibling(s->asked.table, at))
        l.n++;
    order.marks = a->part.marks;
    bool fine = as_view_children(s->asked.table, &order, item, 0, a->part.n, items, &n_part);
    for (size_t i = 0; fine && i < items->count; i++) {
        fine = add_row(a, s, AS_AT(uint32_t, items, i));
        if (fine && is_inner(a, s->asked.table, AS_AT(uint32_t, items, i)))
            AS_AT(as_tree_row, &a->rows, a->rows.count - 1).flags |= AS_ROW_INNER;
    }
    l.rows = items->count;
    return fine && (l.rows == 0 || as_vec_append(&a->lists, &l, 1));
}

/* The metrics of the same request without any. */
static assay_status find_usual(answer *a, const as_request *request, assay_error *error) {
    as_request plain = *request;
    as_asked_view asked;
    as_vec_init(&plain.parameters, sizeof(as_parameter), NULL);
    bool fine = true;
    for (size_t i = 0; fine && i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        if (strncmp(parameter->name, "metric", 6) != 0) fine = as_vec_append(&plain.parameters, parameter, 1);
    }
    assay_status status = fine ? as_asked_view_make(a->viewing, &plain, &asked, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK && !as_vec_append(&a->usual, asked.tree.metrics.data, asked.tree.metrics.count))
        status = as_fail_memory(error, NULL);
    if (fine) as_asked_view_free(&asked);
    as_vec_free(&plain.parameters);
    return status;
}

/* All there is, level by level, as far as it is worth it. */
static assay_status open_whole(answer *a, const as_request *request, assay_error *error) {
    as_vec items;
    AS_TRY(find_usual(a, request, error));
    if (!as_whole_part_choose(&source_at(a, 0)->asked, (uint32_t)a->whole, &a->part))
        return as_fail_memory(error, NULL);
    as_vec_init(&items, sizeof(uint32_t), NULL);
    bool fine = open_part(a, -1, AS_NO_ITEM, &items);
    for (size_t i = 0; fine && i < a->rows.count; i++) {
        uint32_t item = AS_AT(as_tree_row, &a->rows, i).item;
        fine = open_part(a, as_asked_node(view_table(a), item), item, &items);
    }
    as_vec_free(&items);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static assay_status choose_order(answer *a, const as_request *request, assay_error *error) {
    static const char *const words[] = {"inclusive", "exclusive", "name", "source"};
    const char *sort = as_request_text(request, "sort"), *order = as_request_text(request, "order");
    size_t i = 0;
    while (sort && i < 4 && strcmp(words[i], sort) != 0) i++;
    if (i == 4)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "'sort' cannot be '%.100s'; inclusive, exclusive, name or source", sort);
    if (order && strcmp(order, "ascending") != 0 && strcmp(order, "descending") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'order' cannot be '%.100s'; ascending or descending",
                       order);
    bool is_tree = a->asked.tree.request.kind == AS_VIEW_TOP_DOWN;
    a->sort = as_order_of(sort, is_tree ? AS_SORT_INCLUSIVE : AS_SORT_EXCLUSIVE);
    bool by_value = a->sort == AS_SORT_INCLUSIVE || a->sort == AS_SORT_EXCLUSIVE;
    if (a->asked.tree.metrics.count == 0 && by_value) a->sort = AS_SORT_SOURCE;
    /* Names and the source begin with their first, values with the largest */
    a->is_ascending = order && (strcmp(order, "ascending") == 0) == by_value;
    size_t n = a->asked.tree.metrics.count;
    return as_request_number(request, "sort_metric", 0, n ? (int64_t)n - 1 : 0, 0, &a->sort_metric, error);
}

static assay_status choose(answer *a, const as_request *request, assay_error *error) {
    AS_TRY(as_asked_view_make(a->viewing, request, &a->asked, error));
    AS_TRY(choose_order(a, request, error));
    AS_TRY(as_request_number(request, "offset", 0, UINT32_MAX, 0, &a->offset, error));
    AS_TRY(as_request_number(request, "limit", 1, MOST_ROWS, USUAL_ROWS, &a->limit, error));
    AS_TRY(as_request_number(request, "levels", 1, MOST_LEVELS, 1, &a->levels, error));
    int64_t most_of_whole = request->connection ? MOST_SENT_OF_WHOLE : AS_MOST_OF_WHOLE;
    AS_TRY(as_request_number(request, "whole", 1, most_of_whole, 0, &a->whole, error));
    size_t n_values = a->asked.tree.metrics.count ? 2 * a->asked.tree.metrics.count : 1;
    a->most_rows = n_values * MOST_ROWS > MOST_VALUES ? MOST_VALUES / n_values : MOST_ROWS;
    if (request->connection && (size_t)a->whole > MOST_VALUES / n_values) a->whole = (int64_t)(MOST_VALUES / n_values);
    a->match = as_request_text(request, "match");
    a->only_matches = a->match && as_request_flag(request, "filter");
    return as_request_cli_status(&a->asked.made, as_choose_min_share(&a->asked.made.cli, &a->share), error);
}

static assay_status find_hot(answer *a, assay_error *error) {
    const as_asked_table *asked = &source_at(a, 0)->asked;
    bool is_list = a->asked.tree.request.kind == AS_VIEW_FLAT && a->asked.tree.request.group != AS_GROUP_SCOPE;
    if (!asked->n_values || is_list) return ASSAY_OK;
    return as_view_hot_path(asked->table, asked->values[0], AS_NO_ITEM, 0, &a->hot) ? ASSAY_OK
                                                                                    : as_fail_memory(error, NULL);
}

/* The nodes of the parameters `node`; where there are none the first level, and what the hot path leads through. */
static assay_status open_asked(answer *a, const as_request *request, assay_error *error) {
    size_t n_asked = 0;
    for (size_t i = 0; i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        as_number number;
        if (strcmp(parameter->name, "node") != 0) continue;
        if (!as_number_parse(parameter->value, strlen(parameter->value), &number) || number.kind != AS_INT ||
            number.i < -1 || number.i > LARGEST_NODE || ++n_asked > MOST_NODES)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'node' cannot be '%.100s'; numbers, %d at most",
                           parameter->value, MOST_NODES);
        if (a->rows.count < MOST_ROWS) AS_TRY(open_node(a, number.i, 0, error));
    }
    if (n_asked) return ASSAY_OK;
    AS_TRY(open_node(a, -1, 0, error));
    const as_view_table *table = view_table(a);
    for (size_t i = 0; i < a->hot.count && i < MOST_LEVELS && !a->only_matches; i++) {
        uint32_t item = AS_AT(uint32_t, &a->hot, i);
        if (as_view_first_child(table, item) != AS_NO_ITEM && a->rows.count < MOST_ROWS)
            AS_TRY(open_node(a, as_asked_node(table, item), 0, error));
    }
    return ASSAY_OK;
}

/* hot=NODE: what the hot path below a node leads through. */
static assay_status follow_hot(answer *a, const as_request *request, assay_error *error) {
    int64_t node;
    source *s;
    uint32_t item;
    as_vec path;
    AS_TRY(as_request_number(request, "hot", 0, LARGEST_NODE, -1, &node, error));
    if (node < 0) return ASSAY_OK;
    AS_TRY(find_node(a, node, &s, &item, error));
    if (item == AS_NO_ITEM || !s->asked.n_values) return ASSAY_OK;
    as_vec_init(&path, sizeof(uint32_t), NULL);
    bool fine = as_view_hot_path(s->asked.table, s->asked.values[a->sort_metric], item, 0, &path);
    assay_status status = fine ? open_node(a, node, 0, error) : as_fail_memory(error, NULL);
    for (size_t i = 0; status == ASSAY_OK && i < path.count && i < MOST_LEVELS && a->rows.count < MOST_ROWS; i++) {
        uint32_t at = AS_AT(uint32_t, &path, i);
        a->at = as_asked_node(s->asked.table, at);
        if (as_view_first_child(s->asked.table, at) != AS_NO_ITEM) status = open_node(a, a->at, 0, error);
    }
    as_vec_free(&path);
    return status;
}

/* find=next|previous: the match behind or before `from`, and round again from the other end. */
static assay_status find_match(answer *a, const as_request *request, assay_error *error) {
    const char *find = as_request_text(request, "find");
    int64_t from;
    AS_TRY(as_request_number(request, "from", -1, LARGEST_NODE, -1, &from, error));
    if (!find || !a->match) return ASSAY_OK;
    const source *s = source_at(a, 0);
    as_view_order order = order_of(a, s);
    bool is_backwards = strcmp(find, "previous") == 0;
    uint32_t item = as_asked_item(s->asked.table, from);
    uint32_t found = as_view_next_match(s->asked.table, &order, &s->found, item, is_backwards);
    if (found == AS_NO_ITEM && item != AS_NO_ITEM)
        found = as_view_next_match(s->asked.table, &order, &s->found, AS_NO_ITEM, is_backwards);
    if (found == AS_NO_ITEM) return ASSAY_OK;
    a->at = as_asked_node(s->asked.table, found);
    return reveal(a, a->at, error);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void build_found(as_builder *builder, const answer *a) {
    const source *s = source_at(a, 0);
    if (!a->match) {
        as_build_text(builder, "found", NULL);
        return;
    }
    as_build_object(builder, "found", false);
    as_build_int(builder, "n", s->found.n);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        as_build_array(builder, exclusive ? "exclusive" : "inclusive", false);
        for (size_t k = 0; k < s->asked.n_values; k++)
            as_build_number(builder, NULL,
                            as_view_found_sum(s->asked.table, &s->found, s->asked.values[k], exclusive != 0));
        as_build_end(builder);
    }
    as_build_end(builder);
}

static void build_hidden(as_builder *builder, const answer *a) {
    const as_asked_table *shown = &source_at(a, 0)->asked;
    if (!a->asked.tree.hidden) {
        as_build_text(builder, "hidden", NULL);
        return;
    }
    as_build_object(builder, "hidden", false);
    as_build_int(builder, "n", (int64_t)shown->table->cut.hidden);
    as_build_array(builder, "values", false);
    for (size_t k = 0; k < shown->n_values; k++) as_build_number(builder, NULL, shown->values[k]->hidden);
    as_build_end(builder);
    as_build_end(builder);
}

static void build_lists(as_builder *builder, const answer *a) {
    as_build_array(builder, "lists", false);
    for (size_t i = 0; i < a->lists.count; i++) {
        const list *l = &AS_AT(list, &a->lists, i);
        as_build_object(builder, NULL, false);
        as_build_int(builder, "node", l->node);
        as_build_int(builder, "n", (int64_t)l->n);
        as_build_int(builder, "offset", (int64_t)l->offset);
        as_build_int(builder, "rows", (int64_t)l->rows);
        as_build_end(builder);
    }
    as_build_end(builder);
}

static void build(answer *a, as_output *out) {
    static const char *const views[] = {"top-down", "bottom-up", "flat"};
    static const char *const groups[] = {"region", "file", "module", "kind", "scope"};
    static const char *const sorts[] = {"inclusive", "exclusive", "name", "source"};
    const as_view_request *request = &a->asked.tree.request;
    const as_view_table *table = view_table(a);
    as_builder builder = as_builder_of(out);
    builder.compact = true;
    as_build_object(&builder, NULL, false);
    as_build_text(&builder, "view", views[request->kind]);
    as_build_text(&builder, "by",
                  a->asked.regrouped >= 0         ? as_cli_value(&a->asked.made.cli, "by")
                  : request->kind == AS_VIEW_FLAT ? groups[request->group]
                                                  : NULL);
    as_build_text(&builder, "sort", sorts[a->sort]);
    as_build_text(&builder, "run", a->asked.tree.runs.label);
    as_build_text(&builder, "location", a->asked.tree.locations.label);
    as_build_int(&builder, "items", as_view_items(table));
    as_build_bool(&builder, "has_scopes", as_view_has_scopes(a->asked.tree.ds));
    as_build_view_metrics(&builder, &a->asked, &source_at(a, 0)->asked);
    build_hidden(&builder, a);
    build_found(&builder, a);
    as_build_known(&builder, "at", a->at, false);
    if (a->whole) {
        as_build_number(&builder, "min_share", a->part.share);
        as_build_int(&builder, "left_out", a->part.all - a->part.n);
        as_build_array(&builder, "usual", false);
        for (size_t i = 0; i < a->usual.count; i++) as_build_int(&builder, NULL, AS_AT(assay_id, &a->usual, i));
        as_build_end(&builder);
    }
    as_build_array(&builder, "hot", false);
    for (size_t i = 0; i < a->hot.count && i < MOST_NODES; i++)
        as_build_int(&builder, NULL, as_asked_node(table, AS_AT(uint32_t, &a->hot, i)));
    as_build_end(&builder);
    build_lists(&builder, a);
    as_build_tree_rows(&builder, &a->asked, &a->rows);
    as_build_end(&builder);
}

static assay_status gather(answer *a, const as_request *request, assay_error *error) {
    source *first;
    uint32_t item;
    int64_t revealed;
    AS_TRY(choose(a, request, error));
    AS_TRY(add_source(a, NULL, &first, &item, error));
    if (a->whole) return open_whole(a, request, error);
    AS_TRY(find_hot(a, error));
    AS_TRY(find_match(a, request, error));
    AS_TRY(follow_hot(a, request, error));
    AS_TRY(as_request_number(request, "reveal", 0, LARGEST_NODE, -1, &revealed, error));
    if (revealed >= 0) AS_TRY(reveal(a, revealed, error));
    if (a->lists.count == 0 || as_request_text(request, "node")) AS_TRY(open_asked(a, request, error));
    return open_levels(a, error);
}

static void answer_free(answer *a) {
    for (size_t i = 0; i < a->sources.count; i++) {
        source *s = source_at(a, i);
        as_asked_table_free(&s->asked);
        as_view_found_free(&s->found);
        free(s->large);
        free(s);
    }
    as_vec_free(&a->sources);
    as_vec_free(&a->lists);
    as_vec_free(&a->rows);
    as_vec_free(&a->opened);
    as_vec_free(&a->hot);
    as_vec_free(&a->usual);
    free(a->part.marks);
    as_asked_view_free(&a->asked);
}

static assay_status answer_tree(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    answer a = {.viewing = viewing, .at = -1};
    as_vec_init(&a.sources, sizeof(source *), NULL);
    as_vec_init(&a.lists, sizeof(list), NULL);
    as_vec_init(&a.rows, sizeof(as_tree_row), NULL);
    as_vec_init(&a.opened, sizeof(int64_t), NULL);
    as_vec_init(&a.hot, sizeof(uint32_t), NULL);
    as_vec_init(&a.usual, sizeof(assay_id), NULL);
    assay_status status = gather(&a, request, error);
    if (status == ASSAY_OK) build(&a, out);
    answer_free(&a);
    return status;
}

const as_endpoint as_endpoint_tree = {.path = "tree", .answer = answer_tree, .report = as_report_trees};
