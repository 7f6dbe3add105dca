#include "formats/event_order.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_RUNS = 1024 };

typedef struct sorted_event {
    double start;
    uint64_t number;
} sorted_event;

typedef struct run_head {
    as_event event;
    uint64_t number, end; /* end: of the run */
} run_head;

static bool has_time(const as_dataset *ds, const as_event *event) {
    return event->run < AS_COUNT(ds, runs) && isfinite(event->start);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int compare_sorted(const void *a, const void *b) {
    const sorted_event *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool sort_all(as_event_order *order) {
    for (uint64_t i = 0, n = as_ds_intervals(order->ds); i < n; i++) {
        as_event event;
        as_ds_event(order->ds, i, &event);
        sorted_event new = {event.start, i};
        if (has_time(order->ds, &event) && !as_vec_append(&order->sorted, &new, 1)) return false;
    }
    qsort(order->sorted.data, order->sorted.count, sizeof(sorted_event), compare_sorted);
    return true;
}

bool as_event_order_open(as_event_order *order, const as_dataset *ds) {
    *order = (as_event_order){.ds = ds};
    as_vec_init(&order->runs, sizeof(uint64_t), as_ds_budget(ds));
    as_vec_init(&order->sorted, sizeof(sorted_event), as_ds_budget(ds));
    double last = -INFINITY;
    for (uint64_t i = 0, n = as_ds_intervals(ds); i < n; i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        if (!has_time(ds, &event)) {
            order->n_without_time++;
            continue;
        }
        if (event.start < order->earliest) order->earliest = event.start;
        bool is_new = !order->runs.count || event.start < last;
        if (is_new && order->runs.count <= MOST_RUNS && !as_vec_append(&order->runs, &i, 1)) return false;
        last = event.start;
    }
    return order->runs.count <= MOST_RUNS || sort_all(order);
}

void as_event_order_close(as_event_order *order) {
    as_vec_free(&order->runs);
    as_vec_free(&order->sorted);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static bool is_before(const run_head *a, const run_head *b) {
    return a->event.start != b->event.start ? a->event.start < b->event.start : a->number < b->number;
}

/* Puts the head at `at` of the heap where it belongs, below those that come before it. */
static void sink(as_vec *heads, size_t at) {
    run_head *all = heads->data, moved = all[at];
    for (size_t child; (child = 2 * at + 1) < heads->count; at = child) {
        if (child + 1 < heads->count && is_before(&all[child + 1], &all[child])) child++;
        if (!is_before(&all[child], &moved)) break;
        all[at] = all[child];
    }
    all[at] = moved;
}

/* The event with a time at head->number, or behind it in its run; false: there is none. */
static bool find_next(const as_dataset *ds, run_head *head) {
    for (; head->number < head->end; head->number++) {
        as_ds_event(ds, head->number, &head->event);
        if (has_time(ds, &head->event)) return true;
    }
    return false;
}

bool as_event_walk_open(as_event_walk *walk, const as_event_order *order) {
    *walk = (as_event_walk){.order = order};
    as_vec_init(&walk->heads, sizeof(run_head), as_ds_budget(order->ds));
    size_t n = order->sorted.count ? 0 : order->runs.count;
    for (size_t i = 0; i < n; i++) {
        run_head head = {.number = AS_AT(uint64_t, &order->runs, i)};
        head.end = i + 1 < n ? AS_AT(uint64_t, &order->runs, i + 1) : as_ds_intervals(order->ds);
        if (find_next(order->ds, &head) && !as_vec_append(&walk->heads, &head, 1)) return false;
    }
    for (size_t i = walk->heads.count / 2; i-- > 0;) sink(&walk->heads, i);
    return true;
}

void as_event_walk_close(as_event_walk *walk) { as_vec_free(&walk->heads); }

bool as_event_walk_next(as_event_walk *walk, as_event *out, uint64_t *number) {
    const as_event_order *order = walk->order;
    if (walk->at < order->sorted.count) {
        *number = AS_AT(sorted_event, &order->sorted, walk->at++).number;
        as_ds_event(order->ds, *number, out);
        return true;
    }
    if (!walk->heads.count) return false;
    run_head *first = walk->heads.data;
    *out = first->event;
    *number = first->number++;
    if (!find_next(order->ds, first)) {
        *first = AS_AT(run_head, &walk->heads, --walk->heads.count);
        if (!walk->heads.count) return true;
    }
    sink(&walk->heads, 0);
    return true;
}
