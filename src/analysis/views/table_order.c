/* Views as tables: children in any order, hot paths, and what matches a text. */
#include <stdlib.h>

#include "analysis/views/table.h"
#include "core/needle.h"
#include "core/search.h"

/* ---- order ------------------------------------------------------------------------------------------------------- */

typedef struct sorting {
    const as_view_table *table;
    const as_view_order *order;
} sorting;

static int compare_names(const as_dataset *ds, as_str a, as_str b) {
    if (a == b || a == AS_NO_STR || b == AS_NO_STR) return (a == AS_NO_STR) - (b == AS_NO_STR);
    return strcmp(as_ds_text(ds, a), as_ds_text(ds, b));
}

static int compare_keys(const sorting *s, uint32_t a, uint32_t b) {
    const as_view_order *order = s->order;
    switch (order->by) {
    case AS_SORT_NAME:
        return compare_names(s->table->ds, as_view_item_at(s->table, a)->name, as_view_item_at(s->table, b)->name);
    case AS_SORT_SOURCE: return (a > b) - (a < b);
    default: {
        bool exclusive = order->by == AS_SORT_EXCLUSIVE;
        double x = as_view_item_size(order->values, a, exclusive), y = as_view_item_size(order->values, b, exclusive);
        return (x < y) - (x > y);
    }
    }
}

static int compare_items(const sorting *s, uint32_t a, uint32_t b) {
    int result =
        (as_view_item_at(s->table, a)->flags & AS_ITEM_APART) - (as_view_item_at(s->table, b)->flags & AS_ITEM_APART);
    if (result) return result;
    result = compare_keys(s, a, b);
    if (s->order->is_reversed) result = -result;
    return result ? result : (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b, void *user) {
    return compare_items(user, *(const uint32_t *)a, *(const uint32_t *)b);
}

bool as_view_children(const as_view_table *table, const as_view_order *order, uint32_t i, size_t offset, size_t limit,
                      as_vec *out, size_t *n) {
    const sorting s = {table, order};
    size_t from = out->count, most;
    for (uint32_t at = as_view_first_child(table, i); at != AS_NO_ITEM; at = as_view_next_sibling(table, at)) {
        if (order->marks && !order->marks[at]) continue;
        if (!as_vec_append(out, &at, 1)) return false;
    }
    *n = out->count - from;
    if (*n == 0) return true;
    if (!as_add_size(offset, limit, &most) || most > *n) most = *n;
    uint32_t *items = &AS_AT(uint32_t, out, from);
    as_sort_first(items, *n, sizeof *items, most, compare_places, (void *)(uintptr_t)&s);
    size_t kept = offset < most ? most - offset : 0;
    if (kept) memmove(items, items + offset, kept * sizeof *items);
    out->count = from + kept;
    return true;
}

/* What small is measured by; NAN: nothing is. */
static double scale_of(const as_view_values *values) {
    double scale = NAN;
    if (!values->adds_up || isfinite(values->whole)) return values->adds_up ? values->whole : NAN;
    for (uint32_t i = 0; i < values->n; i++) scale = fmax(scale, fabs(values->inclusive[i]));
    return scale;
}

void as_view_mark_large(const as_view_table *table, const as_view_values *const *values, size_t n,
                        as_view_sorting order, double share, uint8_t *marks) {
    uint32_t n_items = as_view_items(table);
    bool exclusive = table->request.kind != AS_VIEW_TOP_DOWN && order != AS_SORT_INCLUSIVE;
    memset(marks, !n || !isfinite(scale_of(values[0])), n_items);
    for (size_t k = 0; k < n; k++) {
        double least = share * scale_of(values[k]);
        for (uint32_t i = 0; i < n_items; i++) marks[i] |= as_view_item_size(values[k], i, exclusive) >= least;
    }
    /* Callers have parts of their callee's value: each is cut by its own */
    bool is_bottom_up = table->request.kind == AS_VIEW_BOTTOM_UP;
    for (uint32_t i = 0; is_bottom_up && i < n_items; i++) {
        uint32_t parent = as_view_item_at(table, i)->parent;
        marks[i] &= parent == AS_NO_ITEM || marks[parent];
    }
    for (uint32_t i = n_items; !is_bottom_up && i-- > 0;) {
        uint32_t parent = as_view_item_at(table, i)->parent;
        if (parent != AS_NO_ITEM) marks[parent] |= marks[i];
    }
}

bool as_view_hot_path(const as_view_table *table, const as_view_values *values, uint32_t i, double threshold,
                      as_vec *out) {
    if (!values->adds_up) return true;
    bool exclusive = table->request.kind != AS_VIEW_TOP_DOWN;
    double limit = i == AS_NO_ITEM ? 0 : as_view_item_size(values, i, exclusive);
    while (true) {
        uint32_t best = AS_NO_ITEM;
        double largest = 0;
        for (uint32_t at = as_view_first_child(table, i); at != AS_NO_ITEM; at = as_view_next_sibling(table, at)) {
            double size = as_view_item_size(values, at, exclusive);
            if (!(size > largest) || !isfinite(size) || (as_view_item_at(table, at)->flags & AS_ITEM_APART)) continue;
            largest = size;
            best = at;
        }
        if (best == AS_NO_ITEM || largest < limit * (threshold > 0 ? threshold : 0.5)) return true;
        if (!as_vec_append(out, &best, 1)) return false;
        i = best;
        limit = largest;
    }
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

/* Asks each different name once. */
static bool mark_matches(const as_view_table *table, const as_needle *n, const uint8_t *among, as_view_found *out) {
    enum { UNKNOWN, NO, YES };
    uint8_t *known = calloc(table->ds->strings.entries.count + 1, 1);
    if (!known) return false;
    for (uint32_t i = 0; i < as_view_items(table); i++) {
        as_str name = as_view_item_at(table, i)->name;
        if (name == AS_NO_STR || (among && !among[i])) continue;
        if (known[name] == UNKNOWN) known[name] = as_needle_matches(n, as_ds_text(table->ds, name)) ? YES : NO;
        out->marks[i] = known[name] == YES ? AS_MARK_MATCH : 0;
        out->n += known[name] == YES;
    }
    free(known);
    return true;
}

/* Forth to those below, back to those above. */
static void mark_around(const as_view_table *table, uint8_t *marks) {
    uint32_t n = as_view_items(table);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = as_view_item_at(table, i)->parent;
        if (parent != AS_NO_ITEM && (marks[parent] & (AS_MARK_MATCH | AS_MARK_BELOW))) marks[i] |= AS_MARK_BELOW;
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = as_view_item_at(table, i)->parent;
        if (parent != AS_NO_ITEM && (marks[i] & (AS_MARK_MATCH | AS_MARK_ABOVE))) marks[parent] |= AS_MARK_ABOVE;
    }
}

assay_status as_view_search(const as_view_table *table, const char *text, const uint8_t *among, as_view_found *out,
                            assay_error *error) {
    as_needle n;
    *out = (as_view_found){0};
    AS_TRY(as_needle_init(&n, text, error));
    out->marks = calloc((size_t)as_view_items(table) + 1, 1);
    bool fine = out->marks && mark_matches(table, &n, among, out);
    as_needle_free(&n);
    if (!fine) return as_fail_memory(error, NULL);
    mark_around(table, out->marks);
    for (uint32_t i = 0; among && i < as_view_items(table); i++) out->marks[i] = among[i] ? out->marks[i] : 0;
    return ASSAY_OK;
}

void as_view_found_free(as_view_found *found) {
    free(found->marks);
    *found = (as_view_found){0};
}

double as_view_found_sum(const as_view_table *table, const as_view_found *found, const as_view_values *values,
                         bool exclusive) {
    const double *of = exclusive ? values->exclusive : values->inclusive;
    bool takes_all = exclusive && table->request.kind == AS_VIEW_TOP_DOWN;
    double sum = 0;
    if (!values->adds_up || !of) return NAN;
    for (uint32_t i = 0; i < values->n;) {
        const as_view_item *item = as_view_item_at(table, i);
        bool is_match = found->marks[i] & AS_MARK_MATCH, is_apart = item->flags & AS_ITEM_APART;
        if (is_match && !is_apart && !isnan(of[i])) sum += of[i];
        i = is_apart || (is_match && !takes_all) ? item->end : i + 1;
    }
    return sum;
}

/* ---- from match to match ----------------------------------------------------------------------------------------- */

enum { LEADS_TO_MATCH = AS_MARK_MATCH | AS_MARK_ABOVE };

/* Of the siblings below parent that lead to a match: the first one behind `after`, or the last one before it;
 * AS_NO_ITEM: of all. */
static uint32_t nearest(const sorting *s, const uint8_t *marks, uint32_t parent, uint32_t after, bool is_backwards) {
    uint32_t best = AS_NO_ITEM;
    int sign = is_backwards ? -1 : 1;
    for (uint32_t at = as_view_first_child(s->table, parent); at != AS_NO_ITEM;
         at = as_view_next_sibling(s->table, at)) {
        if (!(marks[at] & LEADS_TO_MATCH)) continue;
        if (after != AS_NO_ITEM && (at == after || sign * compare_items(s, at, after) < 0)) continue;
        if (best == AS_NO_ITEM || sign * compare_items(s, at, best) < 0) best = at;
    }
    return best;
}

static uint32_t first_match(const sorting *s, const uint8_t *marks, uint32_t at) {
    while (at != AS_NO_ITEM && !(marks[at] & AS_MARK_MATCH)) at = nearest(s, marks, at, AS_NO_ITEM, false);
    return at;
}

static uint32_t last_match(const sorting *s, const uint8_t *marks, uint32_t at) {
    while (at != AS_NO_ITEM && (marks[at] & AS_MARK_ABOVE)) at = nearest(s, marks, at, AS_NO_ITEM, true);
    return at;
}

static uint32_t parent_of(const sorting *s, uint32_t at) { return as_view_item_at(s->table, at)->parent; }

uint32_t as_view_next_match(const as_view_table *table, const as_view_order *order, const as_view_found *found,
                            uint32_t i, bool is_backwards) {
    const sorting s = {table, order};
    const uint8_t *marks = found->marks;
    if (i == AS_NO_ITEM) {
        uint32_t at = nearest(&s, marks, AS_NO_ITEM, AS_NO_ITEM, is_backwards);
        return is_backwards ? last_match(&s, marks, at) : first_match(&s, marks, at);
    }
    if (!is_backwards && (marks[i] & AS_MARK_ABOVE))
        return first_match(&s, marks, nearest(&s, marks, i, AS_NO_ITEM, false));
    for (uint32_t at = i; at != AS_NO_ITEM; at = parent_of(&s, at)) {
        uint32_t beside = nearest(&s, marks, parent_of(&s, at), at, is_backwards);
        if (beside != AS_NO_ITEM) return is_backwards ? last_match(&s, marks, beside) : first_match(&s, marks, beside);
        uint32_t above = parent_of(&s, at);
        if (is_backwards && above != AS_NO_ITEM && (marks[above] & AS_MARK_MATCH)) return above;
    }
    return AS_NO_ITEM;
}
