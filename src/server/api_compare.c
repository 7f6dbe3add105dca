/* Two inputs, call path by call path: what changed (api/compare). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/search.h"
#include "dataset/main_metric.h"
#include "dataset/metric_names.h"
#include "server/change_noise.h"
#include "server/change_verdicts.h"
#include "server/exact.h"
#include "server/report.h"

enum {
    MOST_ROWS = 2000,
    MOST_IN_REPORT = 20000,
    USUAL_ROWS = 200,
    MOST_NODES = 400,
    MOST_LEVELS = 60,
    MOST_NAMES = 200,
    MATCH_ROWS = 500
};
/* Of "flags". */
enum { ROW_APART = AS_ITEM_APART, ROW_MATCH = 32, ROW_LEADS_TO_MATCH = 64 };

typedef enum sort_key {
    BY_CHANGE,
    BY_INCREASE,
    BY_RELATIVE,
    BY_BASE,
    BY_TARGET,
    BY_SELF,
    BY_NAME,
    BY_SOURCE,
    N_SORTS
} sort_key;

static const char *const sort_words[N_SORTS] = {"change", "increase", "relative", "base",
                                                "target", "self",     "name",     "source"};

/* The children of a node that the answer has. */
typedef struct list {
    uint32_t node; /* AS_NO_ITEM: the first level */
    size_t n, offset, rows;
} list;

typedef struct answer {
    as_asked_changes asked;
    const as_change_verdicts *verdicts; /* or NULL */
    as_change_spreads spreads;
    double *own[2];         /* of each row its exclusive number on each side */
    double (*quartiles)[2]; /* of each row that of the changes of its locations; NULL: there are none */
    as_exact *exact;        /* of each side; while the answer is built */
    double scale;
    sort_key sort;
    bool is_reversed;
    int64_t offset, limit;
    int64_t all; /* rows, of as many nodes as that takes; 1: as many as there may be; 0: what was asked for */
    size_t most_rows, most_lists;
    as_view_found found; /* of `match` */
    uint8_t *hidden;     /* of each item whether min_change leaves it out; NULL: none is */
    as_vec lists;        /* list */
    as_vec rows;         /* uint32_t: items */
    int64_t at;          /* of `reveal`; -1: none */
} answer;

static const as_view_table *view_of(const answer *a) { return &a->asked.table->view; }

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static double number_of(const answer *a, size_t side, uint32_t i, bool exclusive) {
    return a->asked.values ? as_change_number(a->asked.table, a->asked.values, side, i, exclusive) : NAN;
}

static double change_of(const answer *a, uint32_t i, bool exclusive) {
    return number_of(a, AS_TARGET, i, exclusive) - a->scale * number_of(a, AS_BASE, i, exclusive);
}

/* As a part of the base; NAN where that is 0 and something changed. */
static double relative_of(const answer *a, uint32_t i, bool exclusive) {
    double change = change_of(a, i, exclusive), base = a->scale * number_of(a, AS_BASE, i, exclusive);
    if (change == 0) return 0;
    return base == 0 ? NAN : change / fabs(base);
}

/* Functions are told by what they do themselves. */
static bool by_exclusive(const answer *a) { return a->asked.flat && a->asked.values && a->asked.values->has_exclusive; }

static double known(double value, double otherwise) { return isnan(value) ? otherwise : value; }

static double key_of(const answer *a, uint32_t i) {
    bool exclusive = by_exclusive(a);
    switch (a->sort) {
    case BY_CHANGE: return known(fabs(change_of(a, i, exclusive)), -1);
    case BY_INCREASE: return known(change_of(a, i, exclusive), 0);
    case BY_RELATIVE: return known(fabs(relative_of(a, i, exclusive)), INFINITY);
    case BY_BASE: return known(number_of(a, AS_BASE, i, exclusive), -INFINITY);
    case BY_TARGET: return known(number_of(a, AS_TARGET, i, exclusive), -INFINITY);
    case BY_SELF: return known(fabs(change_of(a, i, true)), -1);
    default: return 0;
    }
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

typedef struct child {
    uint32_t item;
    bool is_apart;
    double key;
    const char *name; /* of BY_NAME */
} child;

static int compare_children(const void *x, const void *y, void *user) {
    const child *a = x, *b = y;
    (void)user;
    if (a->is_apart != b->is_apart) return a->is_apart ? 1 : -1;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    int order = a->name && b->name ? strcmp(a->name, b->name) : 0;
    return order ? order : (a->item > b->item) - (a->item < b->item);
}

static int compare_reversed(const void *x, const void *y, void *user) {
    const child *a = x, *b = y;
    return a->is_apart != b->is_apart ? compare_children(x, y, user) : compare_children(y, x, user);
}

static bool is_shown(const answer *a, uint32_t i) {
    if (a->hidden && a->hidden[i]) return false;
    return !a->found.marks || a->found.marks[i];
}

/* Of a node (AS_NO_ITEM: the first level) all that are shown, the first `most` of them in order: child. */
static bool list_children(const answer *a, uint32_t node, size_t most, as_vec *out) {
    const as_view_table *view = view_of(a);
    for (uint32_t i = as_view_first_child(view, node); i != AS_NO_ITEM; i = as_view_next_sibling(view, i)) {
        if (!is_shown(a, i)) continue;
        const as_view_item *item = as_view_item_at(view, i);
        const char *name = a->sort == BY_NAME ? as_ds_text(view->ds, item->name) : NULL;
        bool is_apart = a->sort != BY_SOURCE && item->flags & AS_ITEM_APART;
        child one = {.item = i, .is_apart = is_apart, .key = key_of(a, i), .name = name};
        if (!as_vec_append(out, &one, 1)) return false;
    }
    as_sort_first(out->data, out->count, sizeof(child), most, a->is_reversed ? compare_reversed : compare_children,
                  NULL);
    return true;
}

static bool is_open(const answer *a, uint32_t node) {
    for (size_t i = 0; i < a->lists.count; i++) {
        if (AS_AT(list, &a->lists, i).node == node) return true;
    }
    return false;
}

static bool has_room(const answer *a) { return a->rows.count < a->most_rows && a->lists.count < a->most_lists; }

/* Adds the children of a node; of those at least that of the item `wanted` (AS_NO_ITEM: none in particular). */
static assay_status open_node(answer *a, uint32_t node, uint32_t wanted, assay_error *error) {
    as_vec children;
    if (is_open(a, node) || !has_room(a)) return ASSAY_OK;
    as_vec_init(&children, sizeof(child), NULL);
    list l = {.node = node, .offset = (size_t)a->offset};
    size_t end = l.offset + (size_t)a->limit;
    bool fine = list_children(a, node, wanted == AS_NO_ITEM ? end : SIZE_MAX, &children);
    l.n = children.count;
    for (size_t i = 0; fine && wanted != AS_NO_ITEM && i < children.count; i++) {
        if (AS_AT(child, &children, i).item == wanted && i >= end) end = i + 1;
    }
    for (size_t i = l.offset; fine && i < end && i < children.count && a->rows.count < a->most_rows; i++, l.rows++)
        fine = as_vec_append(&a->rows, &AS_AT(child, &children, i).item, 1);
    fine = fine && as_vec_append(&a->lists, &l, 1);
    as_vec_free(&children);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* All nodes above an item, the outermost first. */
static assay_status reveal(answer *a, uint32_t item, assay_error *error) {
    as_vec above;
    as_vec_init(&above, sizeof(uint32_t), NULL);
    bool fine = true;
    for (uint32_t i = item; fine && i != AS_NO_ITEM; i = as_view_item_at(view_of(a), i)->parent)
        fine = as_vec_append(&above, &i, 1);
    assay_status status = fine ? ASSAY_OK : as_fail_memory(error, NULL);
    uint32_t node = AS_NO_ITEM;
    for (size_t i = above.count; status == ASSAY_OK && i-- > 0;) {
        uint32_t next = AS_AT(uint32_t, &above, i);
        status = open_node(a, node, next, error);
        node = next;
    }
    as_vec_free(&above);
    return status;
}

/* The child with the largest change, as long as it has half of its parent's: where most of it happened. */
static assay_status follow_change(answer *a, uint32_t node, assay_error *error) {
    const as_view_table *view = view_of(a);
    double all = 0;
    for (int level = 0; level < MOST_LEVELS; level++) {
        uint32_t largest = AS_NO_ITEM;
        double size = 0;
        for (uint32_t i = as_view_first_child(view, node); i != AS_NO_ITEM; i = as_view_next_sibling(view, i)) {
            double own = known(fabs(change_of(a, i, false)), 0);
            if (own <= size || !is_shown(a, i) || as_view_item_at(view, i)->flags & AS_ITEM_APART) continue;
            size = own;
            largest = i;
        }
        bool is_root = node == AS_NO_ITEM || as_view_item_at(view, node)->depth == 0;
        if (largest == AS_NO_ITEM || (!is_root && size < 0.5 * all)) return ASSAY_OK;
        if (as_view_first_child(view, largest) == AS_NO_ITEM) return ASSAY_OK;
        AS_TRY(open_node(a, largest, AS_NO_ITEM, error));
        node = largest;
        all = size;
    }
    return ASSAY_OK;
}

/* What leads to a match: level by level, as long as it can be read at a glance. */
static assay_status open_matches(answer *a, assay_error *error) {
    for (size_t row = 0; row < a->rows.count && a->rows.count < MATCH_ROWS && has_room(a); row++) {
        uint32_t item = AS_AT(uint32_t, &a->rows, row);
        if (a->found.marks[item] & AS_MARK_ABOVE) AS_TRY(open_node(a, item, AS_NO_ITEM, error));
    }
    return ASSAY_OK;
}

/* What is large on a side or changed much, with all above it: as much as there is room for. */
static assay_status open_all(answer *a, assay_error *error) {
    const as_change_values *values = a->asked.values;
    double whole = values ? fmax(known(fabs(values->sums[AS_BASE]), 0), known(fabs(values->sums[AS_TARGET]), 0)) : 0;
    uint8_t *done = calloc(a->most_rows + 1, 1);
    if (!done) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    for (double least = 0.1; has_room(a) && status == ASSAY_OK; least = least < 1e-6 ? 0 : least / 10) {
        for (size_t row = 0; row < a->rows.count && has_room(a) && status == ASSAY_OK; row++) {
            uint32_t item = AS_AT(uint32_t, &a->rows, row);
            double size = fmax(known(fabs(number_of(a, AS_BASE, item, false)), 0),
                               known(fabs(number_of(a, AS_TARGET, item, false)), 0));
            if (done[row] || (least > 0 && size < least * whole)) continue;
            done[row] = 1;
            if (as_view_first_child(view_of(a), item) != AS_NO_ITEM) status = open_node(a, item, AS_NO_ITEM, error);
        }
        if (least == 0) break;
    }
    free(done);
    return status;
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static assay_status choose_sort(answer *a, const as_request *request, assay_error *error) {
    const char *sort = as_request_text(request, "sort"), *order = as_request_text(request, "order");
    size_t i = 0;
    while (sort && i < N_SORTS && strcmp(sort_words[i], sort) != 0) i++;
    if (i == N_SORTS)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "'sort' cannot be '%.100s'; change, increase, relative, base, target, self, name or source",
                       sort);
    bool is_ascending = order && strcmp(order, "ascending") == 0;
    if (order && !is_ascending && strcmp(order, "descending") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'order' cannot be '%.100s'; ascending or descending",
                       order);
    a->sort = (sort_key)i;
    bool is_text = a->sort == BY_NAME || a->sort == BY_SOURCE;
    a->is_reversed = order && is_ascending != is_text;
    return ASSAY_OK;
}

/* As `diff` does: what changed by less than so many percent of the larger whole, and all below it, too. */
static assay_status hide_small(answer *a, as_viewing *viewing, const as_request *request, assay_error *error) {
    double percent;
    AS_TRY(as_request_real(request, "min_change", 0, &percent, error));
    if (percent < 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'min_change' takes percent, a number from 0 on");
    const as_change_values *values = a->asked.values;
    if (percent == 0 || !values) return ASSAY_OK;
    AS_TRY(as_asked_changes_complete(viewing, &a->asked, error));
    double base = known(fabs(values->sums[AS_BASE]), 0), target = known(fabs(values->sums[AS_TARGET]), 0);
    double least = percent / 100 * fmax(base, target);
    uint32_t n = as_view_items(view_of(a));
    if (!(a->hidden = malloc((size_t)n + 1))) return as_fail_memory(error, NULL);
    memset(a->hidden, 1, n);
    for (uint32_t i = n; i-- > 0;) {
        double size = fmax(known(fabs(change_of(a, i, false)), 0), known(fabs(change_of(a, i, true)), 0));
        if (size >= least && size > 0) a->hidden[i] = 0;
        uint32_t parent = as_view_item_at(view_of(a), i)->parent;
        if (!a->hidden[i] && parent != AS_NO_ITEM) a->hidden[parent] = 0;
    }
    return ASSAY_OK;
}

static assay_status choose(answer *a, as_viewing *viewing, const as_request *request, assay_error *error) {
    const char *view = as_request_text(request, "view"), *match = as_request_text(request, "match");
    bool flat = view && strcmp(view, "flat") == 0;
    int64_t most = request->connection ? MOST_ROWS : MOST_IN_REPORT;
    if (view && !flat && strcmp(view, "top-down") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'view' cannot be '%.100s'; top-down or flat", view);
    AS_TRY(choose_sort(a, request, error));
    AS_TRY(as_request_number(request, "offset", 0, UINT32_MAX, 0, &a->offset, error));
    AS_TRY(as_request_number(request, "limit", 1, most, USUAL_ROWS, &a->limit, error));
    AS_TRY(as_request_number(request, "all", 0, most, 0, &a->all, error));
    a->most_rows = a->all > 1 ? (size_t)a->all : (size_t)a->limit > MOST_ROWS ? (size_t)a->limit : MOST_ROWS;
    a->most_lists = a->all > 1 ? a->most_rows : MOST_NODES;
    AS_TRY(as_asked_changes_make(viewing, request, flat, &a->asked, error));
    if (a->sort == BY_SELF) AS_TRY(as_asked_changes_complete(viewing, &a->asked, error));
    a->scale = as_asked_scale(&a->asked, request);
    AS_TRY(as_change_verdicts_find(viewing, &a->asked, &a->verdicts, error));
    AS_TRY(as_change_spreads_open(viewing, &a->asked, a->scale, &a->spreads, error));
    AS_TRY(hide_small(a, viewing, request, error));
    return match ? as_view_search(view_of(a), match, NULL, &a->found, error) : ASSAY_OK;
}

static assay_status find_revealed(answer *a, const as_request *request, uint32_t *item, assay_error *error) {
    static const char *const names[2] = {"reveal_a", "reveal_b"};
    *item = AS_NO_ITEM;
    for (size_t side = 0; side < 2 && *item == AS_NO_ITEM; side++) {
        const as_dataset *ds = a->asked.sides[side];
        int64_t context;
        AS_TRY(as_request_number(request, names[side], 0, (int64_t)AS_COUNT(ds, contexts) - 1, -1, &context, error));
        if (context >= 0 && !a->asked.flat) *item = as_change_item_of(a->asked.table, side, ds, (assay_id)context);
    }
    return ASSAY_OK;
}

static assay_status gather(answer *a, const as_request *request, assay_error *error) {
    uint32_t n = as_view_items(view_of(a)), revealed;
    size_t n_asked = 0;
    for (size_t i = 0; i < request->parameters.count; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        as_number number;
        if (strcmp(parameter->name, "node") != 0) continue;
        if (!as_number_parse(parameter->value, strlen(parameter->value), &number) || number.kind != AS_INT ||
            number.i < -1 || number.i >= (int64_t)n || ++n_asked > MOST_NODES)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'node' cannot be '%.100s'; nodes, %d at most",
                           parameter->value, MOST_NODES);
        AS_TRY(open_node(a, number.i < 0 ? AS_NO_ITEM : (uint32_t)number.i, AS_NO_ITEM, error));
    }
    AS_TRY(find_revealed(a, request, &revealed, error));
    if (revealed != AS_NO_ITEM) {
        a->at = revealed;
        AS_TRY(reveal(a, revealed, error));
    }
    if (n_asked) return ASSAY_OK;
    AS_TRY(open_node(a, AS_NO_ITEM, AS_NO_ITEM, error));
    if (a->rows.count == 1) AS_TRY(open_node(a, AS_AT(uint32_t, &a->rows, 0), AS_NO_ITEM, error));
    if (a->found.marks) return open_matches(a, error);
    if (a->all) return open_all(a, error);
    return a->asked.flat ? ASSAY_OK : follow_change(a, AS_NO_ITEM, error);
}

/* Of the rows: values need not have those of all items. */
static assay_status find_own(answer *a, assay_error *error) {
    for (size_t side = 0; side < 2 && a->asked.values && a->asked.values->has_exclusive; side++) {
        a->own[side] = malloc((a->rows.count + 1) * sizeof *a->own[side]);
        if (!a->own[side]) return as_fail_memory(error, NULL);
        AS_TRY(as_asked_exclusive(&a->asked, side, a->rows.data, a->rows.count, a->own[side], error));
    }
    return ASSAY_OK;
}

static assay_status find_spreads(answer *a, assay_error *error) {
    if (!as_change_spreads_locations(&a->spreads)) return ASSAY_OK;
    a->quartiles = malloc((a->rows.count + 1) * sizeof *a->quartiles);
    if (!a->quartiles) return as_fail_memory(error, NULL);
    AS_TRY(as_change_spreads_expect(&a->spreads, a->rows.data, a->rows.count, error));
    return as_change_spreads_of(&a->spreads, a->rows.data, NULL, a->rows.count, by_exclusive(a), a->quartiles, error);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

typedef enum column {
    NODE,
    DEPTH,
    NAME,
    SOURCE,
    LINE,
    CHILDREN,
    IN,
    FLAGS,
    A_CONTEXT,
    B_CONTEXT,
    A,
    B,
    CHANGE,
    RELATIVE,
    A_SELF,
    B_SELF,
    CHANGE_SELF,
    VERDICT,
    LOW,
    HIGH,
    P,
    QUARTER,
    THREE_QUARTERS,
    N_COLUMNS
} column;

static int64_t count_children(const answer *a, uint32_t node) {
    int64_t n = 0;
    const as_view_table *view = view_of(a);
    for (uint32_t i = as_view_first_child(view, node); i != AS_NO_ITEM; i = as_view_next_sibling(view, i))
        n += is_shown(a, i);
    return n;
}

static int64_t flags_of(const answer *a, uint32_t i) {
    uint8_t mark = a->found.marks ? a->found.marks[i] : 0;
    return (as_view_item_at(view_of(a), i)->flags & ROW_APART) | (mark & AS_MARK_MATCH ? ROW_MATCH : 0) |
           (mark & AS_MARK_ABOVE ? ROW_LEADS_TO_MATCH : 0);
}

/* Where its function stands, as the target says, else the base. */
static const as_region *region_of(const answer *a, uint32_t i, const as_dataset **ds) {
    for (size_t side = 2; side-- > 0;) {
        assay_id own = as_change_context(a->asked.table, side, i);
        *ds = a->asked.sides[side];
        assay_id region = own == ASSAY_NONE ? ASSAY_NONE : as_ds_context(*ds, own)->region;
        if (region != ASSAY_NONE) return as_ds_region(*ds, region);
    }
    return NULL;
}

static void build_verdict(as_builder *b, const as_judgement *j, column k) {
    if (k == VERDICT) as_build_text(b, NULL, j ? as_outcome_name(j->outcome) : NULL);
    if (k == LOW) as_build_number(b, NULL, j ? j->low : NAN);
    if (k == HIGH) as_build_number(b, NULL, j ? j->high : NAN);
    if (k == P) as_build_number(b, NULL, j ? j->adjusted_p : NAN);
}

static void build_place(as_builder *b, const answer *a, uint32_t i, column k) {
    const as_dataset *ds;
    const as_region *region = region_of(a, i, &ds);
    if (k == SOURCE)
        as_build_text(b, NULL, region ? as_ds_text(ds, region->file) : NULL);
    else
        as_build_known(b, NULL, region ? region->line_begin : -1, true);
}

static void build_own(as_builder *b, assay_id own) {
    as_build_known(b, NULL, own == ASSAY_NONE ? -1 : (int64_t)own, false);
}

/* What a row has on a side, and whether it is a whole number. */
static double row_number(const answer *a, size_t row, size_t side, bool exclusive, bool *is_whole, as_whole *whole) {
    uint32_t i = AS_AT(uint32_t, &a->rows, row);
    double number = exclusive ? a->own[side][row] : number_of(a, side, i, false);
    assay_id context = a->asked.flat ? ASSAY_NONE : as_change_context(a->asked.table, side, i);
    *is_whole = as_exact_find(&a->exact[side], as_asked_metric_of(&a->asked, side), context, exclusive, number, whole);
    return number;
}

static void build_side(as_builder *b, const answer *a, size_t row, size_t side, bool exclusive) {
    bool is_whole;
    as_whole whole = 0;
    double number = row_number(a, row, side, exclusive, &is_whole, &whole);
    as_build_exact(b, NULL, is_whole, whole, number);
}

static void build_change(as_builder *b, const answer *a, size_t row, bool exclusive) {
    bool are_whole[2];
    as_whole wholes[2] = {0, 0};
    double base = row_number(a, row, AS_BASE, exclusive, &are_whole[AS_BASE], &wholes[AS_BASE]);
    double target = row_number(a, row, AS_TARGET, exclusive, &are_whole[AS_TARGET], &wholes[AS_TARGET]);
    bool is_whole = are_whole[AS_BASE] && are_whole[AS_TARGET] && a->scale == 1;
    as_build_exact(b, NULL, is_whole, wholes[AS_TARGET] - wholes[AS_BASE], target - a->scale * base);
}

static void build_cell(as_builder *b, const answer *a, size_t row, column k) {
    uint32_t i = AS_AT(uint32_t, &a->rows, row);
    const as_view_item *item = as_view_item_at(view_of(a), i);
    switch (k) {
    case NODE: as_build_int(b, NULL, i); break;
    case DEPTH: as_build_int(b, NULL, item->depth); break;
    case NAME: as_build_text(b, NULL, as_ds_text(view_of(a)->ds, item->name)); break;
    case SOURCE:
    case LINE: build_place(b, a, i, k); break;
    case CHILDREN: as_build_int(b, NULL, count_children(a, i)); break;
    case IN:
        as_build_int(b, NULL, (item->flags & AS_ITEM_IN_BASE ? 1 : 0) + (item->flags & AS_ITEM_IN_TARGET ? 2 : 0));
        break;
    case FLAGS: as_build_int(b, NULL, flags_of(a, i)); break;
    case A_CONTEXT: build_own(b, as_change_context(a->asked.table, AS_BASE, i)); break;
    case B_CONTEXT: build_own(b, as_change_context(a->asked.table, AS_TARGET, i)); break;
    case A: build_side(b, a, row, AS_BASE, false); break;
    case B: build_side(b, a, row, AS_TARGET, false); break;
    case CHANGE: build_change(b, a, row, false); break;
    case RELATIVE: as_build_number(b, NULL, relative_of(a, i, false)); break;
    case A_SELF: build_side(b, a, row, AS_BASE, true); break;
    case B_SELF: build_side(b, a, row, AS_TARGET, true); break;
    case CHANGE_SELF: build_change(b, a, row, true); break;
    case QUARTER:
    case THREE_QUARTERS: as_build_number(b, NULL, a->quartiles[row][k - QUARTER]); break;
    default: build_verdict(b, a->verdicts->of_item[i], k);
    }
}

static void build_rows(as_builder *b, const answer *a) {
    static const char *const titles[N_COLUMNS] = {"node",
                                                  "depth",
                                                  "name",
                                                  "file",
                                                  "line",
                                                  "children",
                                                  "in",
                                                  "flags",
                                                  "a_context",
                                                  "b_context",
                                                  "a",
                                                  "b",
                                                  "change",
                                                  "relative",
                                                  "a_exclusive",
                                                  "b_exclusive",
                                                  "change_exclusive",
                                                  "verdict",
                                                  "low",
                                                  "high",
                                                  "p",
                                                  "quarter",
                                                  "three_quarters"};
    bool has_exclusive = a->asked.values && a->asked.values->has_exclusive;
    as_build_object(b, "rows", false);
    for (column k = 0; k < N_COLUMNS; k++) {
        bool is_there = k < A              ? true
                        : k <= RELATIVE    ? a->asked.values != NULL
                        : k <= CHANGE_SELF ? has_exclusive
                        : k <= P           ? a->verdicts && !a->asked.flat
                                           : a->quartiles != NULL;
        if (!is_there) continue;
        as_build_array(b, titles[k], false);
        for (size_t i = 0; i < a->rows.count; i++) build_cell(b, a, i, k);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_lists(as_builder *b, const answer *a) {
    as_build_array(b, "lists", false);
    for (size_t i = 0; i < a->lists.count; i++) {
        const list *l = &AS_AT(list, &a->lists, i);
        as_build_object(b, NULL, false);
        as_build_int(b, "node", l->node == AS_NO_ITEM ? -1 : (int64_t)l->node);
        as_build_int(b, "n", (int64_t)l->n);
        as_build_int(b, "offset", (int64_t)l->offset);
        as_build_int(b, "rows", (int64_t)l->rows);
        as_build_end(b);
    }
    as_build_end(b);
}

/* Names of regions that one side lacks: how many, and the first of them. */
static void build_only(as_builder *b, const answer *a, size_t side) {
    const as_vec *only = &a->asked.table->only[side];
    const as_dataset *ds = a->asked.sides[side];
    as_build_object(b, side == AS_BASE ? "only_a" : "only_b", false);
    as_build_int(b, "n", (int64_t)only->count);
    as_build_array(b, "names", false);
    for (size_t i = 0; i < only->count && i < MOST_NAMES; i++)
        as_build_text(b, NULL, as_ds_text(ds, as_ds_context(ds, AS_AT(assay_id, only, i))->name));
    as_build_end(b);
    as_build_end(b);
}

static void build_summary(as_builder *b, const answer *a) {
    if (!a->verdicts || !a->verdicts->verdict.n_metrics) {
        as_build_text(b, "verdict", NULL);
        return;
    }
    const as_metric_verdict *metric = &a->verdicts->verdict.metrics[0];
    /* beside the sums of both, which have what is new and gone */
    const as_judgement *whole = metric->has_whole ? &metric->whole : &metric->total;
    as_build_object(b, "verdict", false);
    as_build_text(b, "outcome", as_outcome_name(whole->outcome));
    as_build_number(b, "low", whole->low);
    as_build_number(b, "high", whole->high);
    as_build_number(b, "p", whole->adjusted_p);
    as_build_object(b, "counts", false);
    for (as_outcome o = 0; o < AS_N_OUTCOMES; o++) as_build_int(b, as_outcome_name(o), (int64_t)metric->counts[o]);
    as_build_end(b);
    as_build_end(b);
}

static void build(answer *a, as_output *out) {
    as_builder builder = as_builder_of(out), *b = &builder;
    as_exact exact[2] = {{.source = as_diff_view_source(&a->asked.diff, AS_BASE)},
                         {.source = as_diff_view_source(&a->asked.diff, AS_TARGET)}};
    a->exact = exact;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_text(b, "view", a->asked.flat ? "flat" : "top-down");
    as_build_text(b, "sort", sort_words[a->sort]);
    as_build_changes_head(b, &a->asked, a->scale);
    as_build_int(b, "locations", as_change_spreads_locations(&a->spreads));
    as_build_int(b, "items", as_view_items(view_of(a)));
    as_build_int(b, "has", (int64_t)a->rows.count);
    build_only(b, a, AS_BASE);
    build_only(b, a, AS_TARGET);
    build_summary(b, a);
    as_build_known(b, "found", a->found.marks ? (int64_t)a->found.n : -1, false);
    as_build_known(b, "at", a->at, false);
    build_lists(b, a);
    build_rows(b, a);
    as_build_end(b);
}

static assay_status answer_compare(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    answer a = {.at = -1, .scale = 1};
    as_vec_init(&a.lists, sizeof(list), NULL);
    as_vec_init(&a.rows, sizeof(uint32_t), NULL);
    assay_status status = choose(&a, viewing, request, error);
    if (status == ASSAY_OK) status = gather(&a, request, error);
    if (status == ASSAY_OK) status = find_own(&a, error);
    if (status == ASSAY_OK) status = find_spreads(&a, error);
    if (status == ASSAY_OK) build(&a, out);
    as_vec_free(&a.lists);
    as_vec_free(&a.rows);
    as_view_found_free(&a.found);
    free(a.hidden);
    free(a.quartiles);
    for (size_t side = 0; side < 2; side++) free(a.own[side]);
    as_change_spreads_free(&a.spreads);
    as_asked_changes_free(&a.asked);
    return status;
}

/* ---- in a report ------------------------------------------------------------------------------------------------- */

/* One metric in every way the page shows it; parameters: n, and room for others. Of what there is no room for there is
 * less, and that is said. */
static void report_metric(as_html_report *report, as_parameter *parameters, size_t n, const char *metric, double part) {
    static const char *const rows[] = {"20000", "10000", "5000", "2000", "1000", "500", "200", "100", "50", "20", NULL};
    static const char *const widths[] = {"12800", "6400", "3200", "1600", "800", "400", "100", NULL};
    static const char *const points[] = {"5000", "2000", "1000", "500", "200", "50", NULL};
    static const struct {
        const char *path, *what, *number; /* what makes it smaller */
        const char *const *values;
        as_parameter more[2];
    } ways[] = {
        {"compare", "call paths", "all", rows, {{NULL, NULL}}},
        {"compare_flame", "the flame graph", "width", widths, {{NULL, NULL}}},
        {"compare", "functions", "limit", rows, {{"view", "flat"}}},
        {"compare_scatter", "the scatter plot", "points", points, {{"kind", "inclusive"}}},
        {"compare_scatter", "the scatter plot of exclusive values", "points", points, {{NULL, NULL}}},
        {"compare_scatter",
         "the scatter plot of functions",
         "points",
         points,
         {{"view", "flat"}, {"kind", "inclusive"}}},
        {"compare_scatter", "the scatter plot of what functions do themselves", "points", points, {{"view", "flat"}}},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t all = n;
        for (size_t k = 0; k < 2 && ways[i].more[k].name; k++) parameters[all++] = ways[i].more[k];
        const char *kept =
            as_html_report_keep_first(report, ways[i].path, parameters, all, ways[i].number, ways[i].values, part);
        double has = as_html_report_last_number(report, "has"), of = as_html_report_last_number(report, "items");
        if (!kept && !as_html_report_last_refused(report))
            as_html_report_note(report, "of the comparison%s%s: %s", metric ? " of " : "", metric ? metric : "",
                                ways[i].what);
        else if (kept && ways[i].values == rows && has < of)
            as_html_report_note(report, "of the comparison%s%s: %.0f of %.0f %s", metric ? " of " : "",
                                metric ? metric : "", of - has, of, ways[i].what);
    }
}

/* The first two that can be compared, as the page does: the main metric, then others that both have. */
static void report_comparison(as_viewing *viewing, as_html_report *report) {
    enum { METRICS = 8 };
    char numbers[2][24];
    as_parameter parameters[6];
    const as_dataset *sides[2];
    size_t n = 0, n_sides = 0, n_metrics = 1;
    if (as_html_report_input(report, &(size_t){0})) return;
    for (size_t i = 0; i < as_viewing_inputs(viewing) && n_sides < 2; i++) {
        const as_dataset *ds = as_viewing_input(viewing, i)->ds;
        if (!ds || !AS_COUNT(ds, contexts)) continue;
        snprintf(numbers[n_sides], sizeof numbers[n_sides], "%zu", i);
        if (i != n_sides) parameters[n++] = (as_parameter){n_sides ? "b" : "a", numbers[n_sides]};
        sides[n_sides++] = ds;
    }
    if (n_sides < 2) return;
    report_metric(report, parameters, n, NULL, 0.6);
    for (assay_id id = 0; id < AS_COUNT(sides[0], metrics) && n_metrics < METRICS; id++) {
        const as_metric *metric = as_ds_metric(sides[0], id);
        const char *name = as_ds_text(sides[0], metric->name);
        if (!name || metric->part_of != ASSAY_NONE || id == as_main_metric(sides[0], false) ||
            !as_metric_has_data(sides[0], id) ||
            as_metric_by_name(sides[1], name, strlen(name), false, NULL, 0) == ASSAY_NONE)
            continue;
        parameters[n] = (as_parameter){"metric", name};
        report_metric(report, parameters, n + 1, name, 0.1);
        n_metrics++;
    }
}

const as_endpoint as_endpoint_compare = {.path = "compare", .answer = answer_compare, .report = report_comparison};
