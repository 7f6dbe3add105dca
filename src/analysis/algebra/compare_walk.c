/* Going through what changed: the united call tree, or the functions of both sides. */
#include <stdlib.h>

#include "analysis/algebra/compare.h"

typedef struct walker {
    const as_comparison *c;
    const as_change_request *request;
    as_change_value *values; /* one for each column, for the node that is shown */
    bool (*visit)(void *user, const as_change_node *node);
    void *user;
    as_change_cut cut;
} walker;

/* Something to be shown: a context, or the number of a function. */
typedef struct item {
    uint32_t at;
    uint32_t depth;
    bool is_last;
    bool is_apart; /* a section, or it stands aside */
    const char *name;
    double key;
} item;

/* ---- what is shown, and in which order --------------------------------------------------------------------------- */

static double size_of(const as_change *change, bool relative) {
    double size = change->change.is_known ? fabs(relative ? as_change_relative(change) : change->change.real) : 0;
    return isnan(size) ? INFINITY : size; /* what is no number is worth a look */
}

/* What it did itself, where that is known. */
static const as_change *own_change(const as_change_value *value) {
    return value->exclusive.change.is_known ? &value->exclusive : &value->inclusive;
}

/* Of a function what it did itself; of a call path also what happened below it, if that is more. */
static double interest_of(const walker *w, const as_change_value *value, bool relative) {
    if (w->request->flat) return size_of(own_change(value), relative);
    double inclusive = size_of(&value->inclusive, relative), exclusive = size_of(&value->exclusive, relative);
    return exclusive > inclusive ? exclusive : inclusive;
}

/* Whether it is to be seen for its own sake. */
static bool is_wanted(const walker *w, const as_change_value *values) {
    const as_change_request *request = w->request;
    if (!w->c->n_columns) return true;
    double interest = interest_of(w, &values[request->by], false);
    if (request->only_changed && interest == 0) return false;
    if (request->is_relative) interest = interest_of(w, &values[request->by], true);
    return request->min_change <= 0 || interest >= request->min_change;
}

/* What functions and the largest changes are ranked by: numbers of one kind, so that what does nothing itself does not
 * come first with what is below it. */
static const as_change *ranked_change(const walker *w, const as_change_value *value) {
    return w->c->columns[w->request->by].has_exclusive ? &value->exclusive : &value->inclusive;
}

static double key_of(const walker *w, const as_change_value *values) {
    const as_change *change = !w->c->n_columns   ? NULL
                              : w->request->flat ? ranked_change(w, &values[w->request->by])
                                                 : &values[w->request->by].inclusive;
    double key = 0;
    if (change && w->request->order == AS_CHANGE_BY_SIZE) key = size_of(change, false);
    if (change && w->request->order == AS_CHANGE_BY_RELATIVE) key = size_of(change, true);
    if (change && w->request->order == AS_CHANGE_BY_BASE) key = change->side[AS_BASE].real;
    if (change && w->request->order == AS_CHANGE_BY_TARGET) key = change->side[AS_TARGET].real;
    return isnan(key) ? INFINITY : key;
}

static int compare_keys(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->is_apart != y->is_apart) return x->is_apart ? 1 : -1;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare_names(const void *a, const void *b) {
    const item *x = a, *y = b;
    int order = x->is_apart != y->is_apart ? (x->is_apart ? 1 : -1) : strcmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void sort_items(const walker *w, item *items, size_t n) {
    if (w->request->order == AS_CHANGE_AS_SOURCE || n < 2) return;
    qsort(items, n, sizeof *items, w->request->order == AS_CHANGE_BY_NAME ? compare_names : compare_keys);
}

/* By which the largest changes are found, of the values at hand. */
static double own_size(const walker *w) {
    if (!w->c->n_columns) return 0;
    return size_of(ranked_change(w, &w->values[w->request->by]), w->request->is_relative);
}

static int descending(const void *a, const void *b) { return -as_real_compare(a, b); }

/* Of n, keeps no more than the max_rows largest; ties as they stand. False when memory is out. */
static bool keep_largest(const double *sizes, size_t n, size_t max_rows, bool *keep) {
    if (!max_rows || max_rows >= n) return true;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, sizes, n * sizeof *sizes);
    qsort(sorted, n, sizeof *sorted, descending);
    double least = sorted[max_rows - 1];
    size_t room = max_rows; /* for those that are as large as the least */
    for (size_t i = 0; i < n; i++) room -= sizes[i] > least;
    for (size_t i = 0; i < n; i++) {
        bool fits = sizes[i] > least || (sizes[i] == least && room > 0);
        if (sizes[i] == least && fits) room--;
        keep[i] &= fits;
    }
    free(sorted);
    return true;
}

/* ---- call paths -------------------------------------------------------------------------------------------------- */

static void find_value(const walker *w, assay_id context) {
    size_t by = w->request->by;
    if (w->c->n_columns) w->values[by] = as_comparison_at(w->c, by, context);
}

static void find_values(const walker *w, assay_id context) {
    if (w->request->only_by)
        find_value(w, context);
    else
        for (size_t k = 0; k < w->c->n_columns; k++) w->values[k] = as_comparison_at(w->c, k, context);
}

/* Marks what is shown, and all that is above it. keys: what siblings are sorted by. */
static bool mark_contexts(walker *w, bool *keep, double *keys) {
    size_t n = w->c->ds->contexts.count;
    double *sizes = malloc((n + 1) * sizeof *sizes);
    if (!sizes) return false;
    for (assay_id i = 0; i < n; i++) {
        bool is_node = as_view_shows(w->c->ds, i);
        find_value(w, i);
        keep[i] = is_node && is_wanted(w, w->values);
        keys[i] = key_of(w, w->values);
        sizes[i] = keep[i] ? own_size(w) : -1;
    }
    bool fine = keep_largest(sizes, n, w->request->max_rows, keep);
    for (size_t i = n; fine && i-- > 0;) { /* children come behind their parents */
        assay_id parent = as_ds_context(w->c->ds, (assay_id)i)->parent;
        if (keep[i] && parent != ASSAY_NONE) keep[parent] = true;
        w->cut.small += !keep[i] && sizes[i] < 0 && as_view_shows(w->c->ds, (assay_id)i);
        w->cut.rest += !keep[i] && sizes[i] >= 0;
    }
    free(sizes);
    return fine;
}

/* The children (of ASSAY_NONE: the roots) that are shown, the first one last: the next to be taken. What is called from
 * a call site stands in its place. */
static bool push_children(const walker *w, as_vec *pending, assay_id parent, uint32_t depth, const bool *keep,
                          const double *keys) {
    const as_dataset *ds = w->c->ds;
    size_t from = pending->count;
    assay_id id = parent == ASSAY_NONE ? 0 : parent + 1;
    size_t end = parent == ASSAY_NONE ? ds->contexts.count : parent + as_ds_context(ds, parent)->subtree;
    for (uint32_t step; id < end; id += step) {
        const as_context *context = as_ds_context(ds, id);
        bool is_node = as_view_shows(ds, id);
        step = is_node || context->role != AS_ROLE_CALL_SITE ? context->subtree : 1;
        if (!is_node) continue;
        const char *name = as_ds_text(ds, context->name);
        item one = {.at = id,
                    .depth = depth,
                    .is_apart = context->is_aside || as_context_is_section(ds, id),
                    .name = name ? name : "",
                    .key = keys[id]};
        if (keep[id] && !as_vec_append(pending, &one, 1)) return false;
    }
    size_t n = pending->count - from;
    if (n == 0) return true;
    item *items = &AS_AT(item, pending, from);
    sort_items(w, items, n);
    items[n - 1].is_last = true;
    for (size_t i = 0; i < n / 2; i++) {
        item swapped = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = swapped;
    }
    return true;
}

static bool walk_contexts(walker *w) {
    size_t n = w->c->ds->contexts.count;
    bool *keep = calloc(n + 1, sizeof *keep);
    double *keys = malloc((n + 1) * sizeof *keys);
    as_vec pending;
    as_vec_init(&pending, sizeof(item), NULL);
    bool fine = keep && keys && mark_contexts(w, keep, keys) && push_children(w, &pending, ASSAY_NONE, 0, keep, keys);
    while (fine && pending.count) {
        item next = AS_AT(item, &pending, --pending.count);
        as_change_node node = {
            .depth = next.depth,
            .is_last = next.is_last,
            .is_in = {w->c->contexts[AS_BASE][next.at] != ASSAY_NONE, w->c->contexts[AS_TARGET][next.at] != ASSAY_NONE},
            .is_section = as_context_is_section(w->c->ds, next.at),
            .is_aside = as_ds_context(w->c->ds, next.at)->is_aside,
            .context = next.at,
            .name = as_ds_context(w->c->ds, next.at)->name,
            .values = w->values};
        find_values(w, next.at);
        fine = w->visit(w->user, &node) && push_children(w, &pending, next.at, next.depth + 1, keep, keys);
    }
    as_vec_free(&pending);
    free(keys);
    free(keep);
    return fine;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* A function of one side, then of both. */
typedef struct function {
    as_str name, file; /* of the united dataset */
    assay_id context;  /* the first one of that side, in the united dataset */
    uint32_t mate;     /* of the other side, or UINT32_MAX */
} function;

typedef struct gathering {
    const as_comparison *c;
    size_t side, first, n; /* columns first … first + n - 1 of the comparison are looked at */
    as_vec functions;      /* function */
    as_vec values;         /* as_view_value: for each function one for each of those columns */
} gathering;

static bool gather(void *user, const as_view_node *node) {
    gathering *g = user;
    const as_dataset *ds = g->c->ds;
    function one = {.context = g->c->u.maps[g->side].contexts[node->context], .file = AS_NO_STR, .mate = UINT32_MAX};
    const as_context *context = as_ds_context(ds, one.context);
    one.name = context->name;
    if (context->region != ASSAY_NONE) one.file = as_ds_region(ds, context->region)->file;
    if (!as_vec_append(&g->functions, &one, 1)) return false;
    for (size_t k = g->first; k < g->first + g->n; k++) {
        size_t at = g->c->columns[k].at[g->side];
        as_view_value value = {0};
        if (at != SIZE_MAX) value = node->values[g->n == 1 ? 0 : at];
        if (!as_vec_append(&g->values, &value, 1)) return false;
    }
    return true;
}

static assay_status gather_side(const walker *w, size_t side, gathering *out, assay_error *error) {
    const as_comparison *c = w->c;
    *out = (gathering){.c = c, .side = side, .n = c->n_columns};
    as_view_data data = c->data[side];
    if (w->request->only_by && c->n_columns) {
        size_t at = c->columns[w->request->by].at[side];
        out->first = w->request->by;
        out->n = 1;
        data.n_columns = at != SIZE_MAX;
        if (data.n_columns) data.columns += at;
    }
    as_vec_init(&out->functions, sizeof(function), NULL);
    as_vec_init(&out->values, sizeof(as_view_value), NULL);
    as_view_request flat = {.kind = AS_VIEW_FLAT, .group = AS_GROUP_REGION, .order = AS_SORT_SOURCE};
    as_view_cut cut;
    return as_view_walk(&data, &flat, gather, out, &cut, error);
}

static function *function_at(gathering *g, size_t i) { return &AS_AT(function, &g->functions, i); }

static bool pair_by(const as_function_name *const functions[2], const size_t n[2], bool by_file,
                    uint32_t *const mates[2]) {
    as_pairing known;
    as_pairing_init(&known, NULL);
    bool fine = true;
    as_pairing_begin(&known);
    for (uint32_t i = 0; fine && i < n[AS_BASE]; i++) {
        const as_function_name *f = &functions[AS_BASE][i];
        if (mates[AS_BASE][i] == UINT32_MAX) fine = as_pairing_add(&known, as_pair(f->name, by_file ? f->file : 0), i);
    }
    as_pairing_begin(&known);
    for (uint32_t i = 0; fine && i < n[AS_TARGET]; i++) {
        const as_function_name *f = &functions[AS_TARGET][i];
        if (mates[AS_TARGET][i] != UINT32_MAX) continue;
        uint32_t mate = as_pairing_take(&known, as_pair(f->name, by_file ? f->file : 0));
        mates[AS_TARGET][i] = mate;
        if (mate != UINT32_MAX) mates[AS_BASE][mate] = i;
    }
    as_pairing_free(&known);
    return fine;
}

bool as_pair_functions(const as_function_name *const functions[2], const size_t n[2], uint32_t *const mates[2]) {
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < n[side]; i++) mates[side][i] = UINT32_MAX;
    return pair_by(functions, n, true, mates) && pair_by(functions, n, false, mates);
}

static bool pair_functions(gathering sides[2]) {
    as_function_name *names[2] = {0};
    uint32_t *mates[2] = {0};
    size_t n[2] = {sides[AS_BASE].functions.count, sides[AS_TARGET].functions.count};
    bool fine = true;
    for (size_t side = 0; side < 2; side++) {
        names[side] = malloc((n[side] + 1) * sizeof *names[side]);
        mates[side] = malloc((n[side] + 1) * sizeof *mates[side]);
        fine = fine && names[side] && mates[side];
        for (size_t i = 0; fine && i < n[side]; i++) {
            const function *f = function_at(&sides[side], i);
            names[side][i] = (as_function_name){f->name, f->file};
        }
    }
    fine = fine && as_pair_functions((const as_function_name *const *)names, n, mates);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; fine && i < n[side]; i++) function_at(&sides[side], i)->mate = mates[side][i];
        free(names[side]);
        free(mates[side]);
    }
    return fine;
}

/* base, target: numbers of the two functions, UINT32_MAX: none. */
static void find_function(const walker *w, const gathering sides[2], uint32_t base, uint32_t target) {
    for (size_t i = 0; i < sides[AS_BASE].n; i++) {
        size_t k = sides[AS_BASE].first + i;
        as_view_value numbers[2] = {0};
        uint32_t at[2] = {base, target};
        for (size_t side = 0; side < 2; side++) {
            if (at[side] != UINT32_MAX)
                numbers[side] = AS_AT(as_view_value, &sides[side].values, at[side] * sides[side].n + i);
        }
        const as_change_column *column = &w->c->columns[k];
        as_number_scale(&numbers[AS_TARGET].inclusive, column->factor);
        as_number_scale(&numbers[AS_TARGET].exclusive, column->factor);
        w->values[k] =
            (as_change_value){.inclusive = as_change_of(numbers[0].inclusive, numbers[1].inclusive, column->adds_up)};
        if (column->has_exclusive)
            w->values[k].exclusive = as_change_of(numbers[0].exclusive, numbers[1].exclusive, column->adds_up);
    }
}

/* Number i of all functions: those of the base, then those that only the target has. */
static void find_row(const walker *w, gathering sides[2], const uint32_t *only, size_t i) {
    size_t n = sides[AS_BASE].functions.count;
    if (i < n)
        find_function(w, sides, (uint32_t)i, function_at(&sides[AS_BASE], i)->mate);
    else
        find_function(w, sides, UINT32_MAX, only[i - n]);
}

static bool visit_functions(walker *w, gathering sides[2], const uint32_t *only, const item *items, size_t n_items) {
    size_t n_base = sides[AS_BASE].functions.count;
    for (size_t i = 0; i < n_items; i++) {
        uint32_t at = items[i].at;
        bool is_new = at >= n_base;
        const function *f =
            is_new ? function_at(&sides[AS_TARGET], only[at - n_base]) : function_at(&sides[AS_BASE], at);
        as_change_node node = {.is_last = i + 1 == n_items,
                               .is_in = {!is_new, is_new || f->mate != UINT32_MAX},
                               .context = f->context,
                               .name = f->name,
                               .values = w->values};
        find_row(w, sides, only, at);
        if (!w->visit(w->user, &node)) return false;
    }
    return true;
}

static bool show_functions(walker *w, gathering sides[2]) {
    size_t n_base = sides[AS_BASE].functions.count, n_target = sides[AS_TARGET].functions.count, n = n_base, kept = 0;
    uint32_t *only = malloc((n_target + 1) * sizeof *only);
    item *items = malloc((n_base + n_target + 1) * sizeof *items);
    bool *keep = malloc(n_base + n_target + 1), fine = only && items && keep;
    double *sizes = malloc((n_base + n_target + 1) * sizeof *sizes);
    fine = fine && sizes;
    for (uint32_t i = 0; fine && i < n_target; i++)
        if (function_at(&sides[AS_TARGET], i)->mate == UINT32_MAX) only[n++ - n_base] = i;
    for (uint32_t i = 0; fine && i < n; i++) {
        const function *f =
            i < n_base ? function_at(&sides[AS_BASE], i) : function_at(&sides[AS_TARGET], only[i - n_base]);
        const char *name = as_ds_text(w->c->ds, f->name);
        find_row(w, sides, only, i);
        keep[i] = is_wanted(w, w->values);
        sizes[i] = keep[i] ? own_size(w) : -1;
        items[i] = (item){.at = i, .name = name ? name : "", .key = key_of(w, w->values)};
    }
    fine = fine && keep_largest(sizes, n, w->request->max_rows, keep);
    for (size_t i = 0; fine && i < n; i++) {
        if (keep[i]) items[kept++] = items[i];
        w->cut.small += !keep[i] && sizes[i] < 0;
        w->cut.rest += !keep[i] && sizes[i] >= 0;
    }
    if (fine) sort_items(w, items, kept);
    fine = fine && visit_functions(w, sides, only, items, kept);
    free(only);
    free(items);
    free(keep);
    free(sizes);
    return fine;
}

static assay_status walk_functions(walker *w, assay_error *error) {
    gathering sides[2];
    assay_status status = gather_side(w, AS_BASE, &sides[AS_BASE], error);
    assay_status other = gather_side(w, AS_TARGET, &sides[AS_TARGET], error);
    if (status == ASSAY_OK) status = other;
    if (status == ASSAY_OK && !(pair_functions(sides) && show_functions(w, sides)))
        status = as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2; side++) {
        as_vec_free(&sides[side].functions);
        as_vec_free(&sides[side].values);
    }
    return status;
}

assay_status as_comparison_walk(const as_comparison *c, const as_change_request *request,
                                bool (*visit)(void *user, const as_change_node *node), void *user, as_change_cut *cut,
                                assay_error *error) {
    walker w = {.c = c, .request = request, .visit = visit, .user = user, .values = c->values};
    assay_status status = ASSAY_OK;
    if (request->flat)
        status = walk_functions(&w, error);
    else if (!walk_contexts(&w))
        status = as_fail_memory(error, NULL);
    *cut = w.cut;
    return status;
}
