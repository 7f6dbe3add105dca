/* Walking through a view, and the top-down one. No recursion: trees may be a million levels deep. */
#include <math.h>
#include <stdlib.h>

#include "analysis/views/view_private.h"

double as_view_size(double value) { return isnan(value) ? INFINITY : fabs(value); }

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int compare_names(const as_dataset *ds, as_str a, as_str b) {
    if (a == b || a == AS_NO_STR || b == AS_NO_STR) return (a == AS_NO_STR) - (b == AS_NO_STR);
    return strcmp(as_ds_text(ds, a), as_ds_text(ds, b));
}

/* Siblings come in the order of the source, where `at` ascends. */
static int compare_pending(const void *a, const void *b, void *user) {
    const as_view_walker *walker = user;
    const as_view_pending *x = a, *y = b;
    int result = x->is_apart - y->is_apart;
    if (result) return result;
    if (walker->request->order == AS_SORT_NAME)
        result = compare_names(walker->data->source.ds, x->name, y->name);
    else if (walker->request->order != AS_SORT_SOURCE)
        result = (x->key < y->key) - (x->key > y->key);
    return result ? result : (x->at > y->at) - (x->at < y->at);
}

void as_view_sort(const as_view_walker *walker, as_view_pending *pending, size_t n) {
    if (n > 1 && walker->request->order != AS_SORT_SOURCE)
        qsort_r(pending, n, sizeof *pending, compare_pending, (void *)walker);
}

void as_view_arrange(const as_view_walker *walker, as_vec *pending, size_t from) {
    if (pending->count == from) return;
    as_view_pending *siblings = &AS_AT(as_view_pending, pending, from);
    size_t n = 0;
    for (size_t i = 0; i < pending->count - from; i++) {
        if (!walker->request->only_hot || siblings[i].is_hot) siblings[n++] = siblings[i];
    }
    pending->count = from + n;
    if (n == 0) return;
    as_view_sort(walker, siblings, n);
    siblings[n - 1].is_last = true;
    for (size_t i = 0; i < n / 2; i++) {
        as_view_pending swapped = siblings[i];
        siblings[i] = siblings[n - 1 - i];
        siblings[n - 1 - i] = swapped;
    }
}

void as_view_mark_hot(const as_view_walker *walker, as_view_pending *siblings, size_t n, double limit) {
    const as_view_data *data = walker->data;
    size_t best = SIZE_MAX;
    if (!data->n_columns || !data->columns[0].adds_up) return;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(siblings[i].key) && siblings[i].key > 0 && !siblings[i].is_apart &&
            (best == SIZE_MAX || siblings[i].key > siblings[best].key))
            best = i;
    }
    if (best != SIZE_MAX && siblings[best].key >= limit) siblings[best].is_hot = true;
}

/* ---- top-down ---------------------------------------------------------------------------------------------------- */

typedef struct descent {
    as_view_walker *walker;
    const as_dataset *ds;
    const as_view_column *first;
    bool *is_kept;   /* for each context whether it, or one below it, has a name that is asked for; NULL: all have */
    double *weights; /* for each context the largest size in its subtree; NULL: nobody asks */
    uint32_t *shown_before; /* for each context the number of those before it that are nodes and kept; NULL: all are */
    as_vec pending;         /* as_view_pending, the next one last */
} descent;

/* What is no node anyway hides nothing; roots are shown whatever they are. */
static bool find_hidden(descent *d) {
    as_view_walker *w = d->walker;
    size_t n = AS_COUNT(d->ds, contexts);
    if (!w->request->hidden) return true;
    bool *is_hidden = calloc(n + 1, sizeof *is_hidden);
    if (!is_hidden) return false;
    for (size_t i = 0; i < w->data->n_roots; i++) {
        assay_id end = w->data->roots[i] + as_ds_context(d->ds, w->data->roots[i])->subtree;
        for (assay_id id = w->data->roots[i]; id < end; id++) {
            const as_context *context = as_ds_context(d->ds, id);
            bool is_node = id == w->data->roots[i] || as_view_is_node(w, id);
            uint8_t how = is_node && !is_hidden[id] ? as_view_hides(w, context->name) : 0;
            if (how) memset(is_hidden + id, true, how & AS_HIDES_SUBTREE ? context->subtree : 1);
            w->cut->hidden += is_node && is_hidden[id];
        }
    }
    w->is_hidden = is_hidden;
    return true;
}

/* Names that are asked for, and all above them. */
static bool find_kept(descent *d) {
    const bool *wanted = d->walker->request->wanted;
    size_t n = AS_COUNT(d->ds, contexts);
    if (!wanted) return true;
    d->is_kept = calloc(n + 1, sizeof *d->is_kept);
    if (!d->is_kept) return false;
    for (assay_id id = (assay_id)n; id-- > 0;) {
        const as_context *context = as_ds_context(d->ds, id);
        d->is_kept[id] |= context->name != AS_NO_STR && wanted[context->name] && as_view_is_node(d->walker, id);
        if (d->is_kept[id] && context->parent != ASSAY_NONE) d->is_kept[context->parent] = true;
    }
    return true;
}

/* What is not there has no size. */
static double size_in(const as_view_column *column, as_number number) {
    double value = as_number_real(number);
    return isnan(value) && column->can_be_empty ? 0 : as_view_size(value);
}

static double size_at(const as_view_column *column, assay_id context) {
    as_node node;
    if (!as_column_node(column, context, &node)) return 0;
    return size_in(column, column->lacks_inclusive ? node.exclusive : node.inclusive);
}

/* A parent may be smaller than its children (differences, values of experiments): what is cut is small all the way
 * down. */
static bool find_weights(descent *d) {
    size_t n = AS_COUNT(d->ds, contexts);
    if (!d->first || (!(d->walker->least > 0) && d->first->has_exclusive)) return true;
    d->weights = calloc(n + 1, sizeof *d->weights);
    if (!d->weights) return false;
    for (assay_id id = (assay_id)n; id-- > 0;) {
        double own = size_at(d->first, id);
        for (size_t k = 1; k < d->walker->request->n_telling && k < d->walker->data->n_columns; k++) {
            const as_view_column *column = &d->walker->data->columns[k];
            double part = size_at(column, id) / column->scale * d->first->scale;
            if (part > own) own = part;
        }
        if (own > d->weights[id]) d->weights[id] = own;
        assay_id parent = as_ds_context(d->ds, id)->parent;
        if (parent != ASSAY_NONE && d->weights[id] > d->weights[parent]) d->weights[parent] = d->weights[id];
    }
    return true;
}

/* The size of a context in the first column; of one without a value what lies below it. */
static double size_of(const descent *d, assay_id context, bool exclusive) {
    as_node node;
    if (!d->first || !as_column_node(d->first, context, &node)) return d->weights ? d->weights[context] : 0;
    bool takes_exclusive = (exclusive && node.has_exclusive) || d->first->lacks_inclusive;
    return size_in(d->first, takes_exclusive ? node.exclusive : node.inclusive);
}

static bool count_shown(descent *d) {
    size_t n = AS_COUNT(d->ds, contexts);
    if (!d->is_kept && !d->walker->is_hidden && !as_ds_has_roles(d->ds)) return true;
    d->shown_before = malloc((n + 1) * sizeof *d->shown_before);
    if (!d->shown_before) return false;
    d->shown_before[0] = 0;
    for (assay_id id = 0; id < n; id++)
        d->shown_before[id + 1] =
            d->shown_before[id] + ((!d->is_kept || d->is_kept[id]) && as_view_is_node(d->walker, id));
    return true;
}

/* Of all that is left out with this context. */
static uint64_t count_kept(const descent *d, assay_id context) {
    uint32_t n = as_ds_context(d->ds, context)->subtree;
    return d->shown_before ? d->shown_before[context + n] - d->shown_before[context] : n;
}

/* Adds a context to those that wait, unless it is left out. */
static bool offer(descent *d, assay_id context, uint32_t depth) {
    as_view_walker *w = d->walker;
    if (d->is_kept && !d->is_kept[context]) return true;
    if (d->weights && d->weights[context] < w->least && !w->request->only_hot) {
        w->cut->small += count_kept(d, context);
        return true;
    }
    as_view_pending *pending = as_vec_push(&d->pending);
    if (!pending) return false;
    *pending = (as_view_pending){.at = context,
                                 .depth = depth,
                                 .is_apart = as_view_is_apart(w->data, context),
                                 .name = as_ds_context(d->ds, context)->name,
                                 .key = size_of(d, context, w->request->order == AS_SORT_EXCLUSIVE)};
    return true;
}

/* Marks the hot one of the waiting siblings from `from` on. limit: what it must have; negative: no path leads here. */
static void mark_hot(descent *d, size_t from, double limit) {
    size_t n = d->pending.count - from, best = SIZE_MAX;
    double largest = 0;
    if (n == 0 || limit < 0 || !d->first || !d->first->adds_up) return;
    as_view_pending *siblings = &AS_AT(as_view_pending, &d->pending, from);
    for (size_t i = 0; i < n; i++) {
        double size = size_of(d, siblings[i].at, false);
        if (!(size > largest) || !isfinite(size) || siblings[i].is_apart) continue;
        largest = size;
        best = i;
    }
    if (best != SIZE_MAX && largest >= limit) siblings[best].is_hot = true;
}

static bool show(const descent *d, const as_view_pending *pending) {
    as_view_walker *w = d->walker;
    const as_context *context = as_ds_context(d->ds, pending->at);
    for (size_t k = 0; k < w->data->n_columns; k++) w->values[k] = as_view_value_of(&w->data->columns[k], pending->at);
    as_view_node node = {.level = AS_LEVEL_CONTEXT,
                         .depth = pending->depth,
                         .is_last = pending->is_last,
                         .is_hot = pending->is_hot,
                         .is_wanted =
                             w->request->wanted && context->name != AS_NO_STR && w->request->wanted[context->name],
                         .is_inlined = context->is_inlined,
                         .is_aside = context->is_aside && w->data->is_aside[pending->at],
                         .context = pending->at,
                         .call_site = as_view_call_site(w, pending->at),
                         .origin = ASSAY_NONE,
                         .is_cut = pending->depth + 1 == w->request->max_levels && context->subtree > 1,
                         .region = context->region,
                         .name = context->name,
                         .values = w->values};
    return w->visit(w->user, &node);
}

/* Offers the nodes below a context, in the place of those that are none (call sites, what is hidden) those below
 * them. */
static bool offer_below(descent *d, assay_id context, uint32_t depth) {
    assay_id end = context + as_ds_context(d->ds, context)->subtree;
    for (assay_id id = context + 1; id < end;) {
        bool is_node = as_view_is_node(d->walker, id);
        if (is_node && !offer(d, id, depth)) return false;
        id += is_node ? as_ds_context(d->ds, id)->subtree : 1;
    }
    return true;
}

/* The nodes below a context wait. limit: what the hot one must have; negative: no path leads here. */
static bool add_below(descent *d, assay_id context, uint32_t depth, double limit) {
    size_t from = d->pending.count;
    if (!offer_below(d, context, depth)) return false;
    mark_hot(d, from, limit);
    as_view_arrange(d->walker, &d->pending, from);
    return true;
}

static bool add_children(descent *d, const as_view_pending *parent) {
    as_view_walker *w = d->walker;
    if (parent->depth + 1 != w->request->max_levels)
        return add_below(d, parent->at, parent->depth + 1,
                         parent->is_hot ? size_of(d, parent->at, false) * w->hot : -1);
    w->cut->deep += count_kept(d, parent->at) - 1;
    return true;
}

static bool add_roots(descent *d) {
    const as_view_data *data = d->walker->data;
    if (d->walker->request->without_root && as_view_has_root(data))
        return add_below(d, data->roots[0], 0, size_of(d, data->roots[0], false) * d->walker->hot);
    for (size_t i = 0; i < data->n_roots; i++) {
        bool is_hidden = d->walker->is_hidden && d->walker->is_hidden[data->roots[i]];
        if (!(is_hidden ? offer_below(d, data->roots[i], 0) : offer(d, data->roots[i], 0))) return false;
    }
    mark_hot(d, 0, 0);
    as_view_arrange(d->walker, &d->pending, 0);
    return true;
}

static bool descend(descent *d) {
    if (!add_roots(d)) return false;
    while (d->pending.count > 0) {
        as_view_pending next = AS_AT(as_view_pending, &d->pending, --d->pending.count);
        if (!show(d, &next) || !add_children(d, &next)) return false;
    }
    return true;
}

static bool walk_down(as_view_walker *walker) {
    descent d = {.walker = walker,
                 .ds = walker->data->source.ds,
                 .first = walker->data->n_columns ? &walker->data->columns[0] : NULL};
    as_vec_init(&d.pending, sizeof(as_view_pending), NULL);
    bool fine = find_hidden(&d) && find_kept(&d) && count_shown(&d) && find_weights(&d) && descend(&d);
    free(d.shown_before);
    free(d.is_kept);
    free(d.weights);
    as_vec_free(&d.pending);
    return fine;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

assay_status as_view_walk(const as_view_data *data, const as_view_request *request,
                          bool (*visit)(void *user, const as_view_node *node), void *user, as_view_cut *cut,
                          assay_error *error) {
    *cut = (as_view_cut){.hidden_exclusive = NAN};
    as_view_walker walker = {.data = data, .request = request, .visit = visit, .user = user, .cut = cut};
    walker.values = calloc(data->n_columns + 1, sizeof *walker.values);
    double scale = data->n_columns ? data->columns[0].scale : 0;
    walker.least = isfinite(scale) ? request->min_share * scale : 0;
    walker.hot = request->hot_threshold > 0 ? request->hot_threshold : 0.5;
    bool fine = walker.values && (!request->joins_calls || as_view_join_calls(&walker));
    if (fine)
        fine = request->kind == AS_VIEW_TOP_DOWN    ? walk_down(&walker)
               : request->kind == AS_VIEW_BOTTOM_UP ? as_view_walk_callers(&walker)
                                                    : as_view_walk_flat(&walker);
    free(walker.values);
    free(walker.is_joined);
    free(walker.is_hidden);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}
