/* Which range of its thread a call is in: of all that contain it, the one with the latest start.
 *
 * Ranges are taken in the order of their starts and kept on a stack. One that ends before the new one is dropped: the
 * new one contains whatever it could, and starts later. So ends descend from the bottom to the top, and the one that is
 * wanted is found by binary search, however ranges overlap. */
#include "formats/nsight/paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"

/* ---- rows by thread ---------------------------------------------------------------------------------------------- */

/* The rows of each thread in the order of their starts; of equal ones those that end last come first. */
typedef struct grouped {
    as_vec rows;    /* uint32_t */
    size_t *starts; /* of thread t, rows[starts[t]] … rows[starts[t + 1] - 1] */
} grouped;

/* Where a row stands. */
typedef struct standing {
    uint32_t thread; /* AS_NS_NONE: the row is left out */
    int64_t start, end;
} standing;
typedef standing standing_of(const as_ns_export *x, size_t row);

static void grouped_init(grouped *g, as_ns_export *x) {
    *g = (grouped){0};
    as_vec_init(&g->rows, sizeof(uint32_t), &x->ds->budget);
}

static void grouped_free(grouped *g) {
    as_vec_free(&g->rows);
    free(g->starts);
}

static bool is_sorted(const as_ns_export *x, const uint32_t *rows, size_t n, standing_of *of) {
    for (size_t i = 1; i < n; i++) {
        standing before = of(x, rows[i - 1]), here = of(x, rows[i]);
        if (before.start > here.start || (before.start == here.start && before.end < here.end)) return false;
    }
    return true;
}

static bool sort_group(as_ns_export *x, uint32_t *rows, size_t n, standing_of *of) {
    if (is_sorted(x, rows, n, of)) return true;
    as_vec order;
    as_vec_init(&order, sizeof(as_ns_ordered), &x->ds->budget);
    bool fine = as_vec_reserve(&order, n);
    as_ns_ordered *items = order.data;
    for (size_t i = 0; fine && i < n; i++) items[i] = (as_ns_ordered){~as_ns_key(of(x, rows[i]).end), rows[i]};
    fine = fine && as_ns_sort(items, n, &x->ds->budget);
    for (size_t i = 0; fine && i < n; i++) items[i].key = as_ns_key(of(x, items[i].index).start);
    fine = fine && as_ns_sort(items, n, &x->ds->budget);
    for (size_t i = 0; fine && i < n; i++) rows[i] = items[i].index;
    as_vec_free(&order);
    return fine;
}

/* n rows. False when memory is out. */
static bool group_rows(as_ns_export *x, size_t n, standing_of *of, grouped *g) {
    size_t n_threads = x->threads.count;
    size_t *starts = g->starts = calloc(n_threads + 2, sizeof *starts);
    if (!starts || n >= UINT32_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t thread = of(x, i).thread;
        if (thread < n_threads) starts[thread + 2]++;
    }
    for (size_t t = 2; t < n_threads + 2; t++) starts[t] += starts[t - 1];
    if (!as_vec_reserve(&g->rows, starts[n_threads + 1])) return false;
    uint32_t *rows = g->rows.data;
    for (size_t i = 0; i < n; i++) {
        uint32_t thread = of(x, i).thread;
        if (thread < n_threads) rows[starts[thread + 1]++] = (uint32_t)i;
    }
    for (size_t t = 0; t < n_threads; t++) {
        size_t count = starts[t + 1] - starts[t];
        if (count && !sort_group(x, rows + starts[t], count, of)) return false;
    }
    return true;
}

/* ---- who contains whom ------------------------------------------------------------------------------------------- */

static standing standing_of_call(const as_ns_export *x, size_t row) {
    const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, row);
    return (standing){call->thread, call->span.start, 0}; /* of equal starts the order does not matter */
}

typedef struct open_range {
    int64_t end;
    uint32_t row;
} open_range;

/* One search: the calls of all threads. */
typedef struct search {
    as_ns_export *x;
    grouped ranges, calls;
    bool is_strict; /* a call begins behind its range's start and ends before its end, not with it */
    bool *failed;   /* of each thread: memory is out */
} search;

static void push(as_vec *stack, open_range new) {
    open_range *open = stack->data;
    while (stack->count && open[stack->count - 1].end <= new.end) stack->count--;
    open[stack->count++] = new; /* there is room for all */
}

/* The topmost that ends behind `end`, or with it unless is_strict; AS_NS_NONE: none. */
static uint32_t find_around(const as_vec *stack, int64_t end, bool is_strict) {
    const open_range *open = stack->data;
    size_t low = 0, high = stack->count; /* those below `low` do, those from `high` on do not */
    if (high && (open[high - 1].end > end || (!is_strict && open[high - 1].end == end))) return open[high - 1].row;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (open[middle].end > end || (!is_strict && open[middle].end == end))
            low = middle + 1;
        else
            high = middle;
    }
    return low ? open[low - 1].row : AS_NS_NONE;
}

/* calls[…].context becomes the row of the range around it, or AS_NS_NONE. */
static void search_thread(void *user, size_t thread) {
    search *s = user;
    as_ns_export *x = s->x;
    const size_t *range_starts = s->ranges.starts, *call_starts = s->calls.starts;
    const uint32_t *ranges = s->ranges.rows.data, *calls = s->calls.rows.data;
    size_t next = range_starts[thread], n_ranges = range_starts[thread + 1];
    as_vec stack;
    as_vec_init(&stack, sizeof(open_range), &x->ds->budget);
    s->failed[thread] = !as_vec_reserve(&stack, n_ranges - next);
    for (size_t i = call_starts[thread]; !s->failed[thread] && i < call_starts[thread + 1]; i++) {
        as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, calls[i]);
        int64_t start = call->span.start, end = start + as_ns_length(call->span);
        for (; next < n_ranges; next++) {
            as_ns_span span = AS_NS_AT(as_ns_range, x, ranges, ranges[next])->span;
            if (span.start > start || (s->is_strict && span.start == start)) break;
            push(&stack, (open_range){span.end, ranges[next]});
        }
        while (stack.count && AS_AT(open_range, &stack, stack.count - 1).end < start) stack.count--;
        call->context = find_around(&stack, end, s->is_strict);
    }
    as_vec_free(&stack);
}

static bool search_all(search *s) {
    size_t n = s->x->threads.count;
    bool fine = (s->failed = calloc(n + 1, sizeof *s->failed)) != NULL;
    if (fine) as_parallel(n, s->x->reader->threads, search_thread, s);
    for (size_t i = 0; fine && i < n; i++) fine = !s->failed[i];
    free(s->failed);
    return fine;
}

/* Contexts of calls, from the rows of their ranges, or `outside` where they are in none. */
static assay_status place_calls(as_ns_builder *b, assay_id (*outside)(as_ns_builder *b, uint32_t thread)) {
    as_ns_export *x = b->x;
    for (size_t i = 0; i < x->calls.count; i++) {
        as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        assay_id above = call->context == AS_NS_NONE ? outside(b, call->thread)
                                                     : AS_NS_AT(as_ns_range, x, ranges, call->context)->context;
        call->context = above == ASSAY_NONE ? ASSAY_NONE : as_ns_child(b, above, AS_NS_NODE_API, call->name);
        if (call->context == ASSAY_NONE) return as_reader_memory(x->reader);
    }
    return ASSAY_OK;
}

/* Finds the range around every call; `of` says which ranges take part. A call whose thread is not known is in none. */
static assay_status search_calls(as_ns_export *x, standing_of *of, bool is_strict, grouped *ranges) {
    search s = {.x = x, .is_strict = is_strict};
    grouped_init(&s.calls, x);
    for (size_t i = 0; i < x->calls.count; i++) AS_NS_AT(as_ns_call, x, calls, i)->context = AS_NS_NONE;
    bool fine = group_rows(x, x->ranges.count, of, ranges) && group_rows(x, x->calls.count, standing_of_call, &s.calls);
    s.ranges = *ranges;
    fine = fine && search_all(&s);
    grouped_free(&s.calls);
    return fine ? ASSAY_OK : as_reader_memory(x->reader);
}

/* ---- ranges of Extra-Prof ---------------------------------------------------------------------------------------- */

enum { PUSH_POP = 59, IMPORTED_PUSH_POP = 70 };

static bool is_region(const as_ns_range *range) { return range->type == PUSH_POP && range->path != AS_NO_STR; }

static standing standing_of_region(const as_ns_export *x, size_t row) {
    const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, row);
    bool takes_part = is_region(range) && range->span.end != AS_NS_OPEN;
    return (standing){takes_part ? range->thread : AS_NS_NONE, range->span.start, range->span.end};
}

static assay_status place_path(as_ns_builder *b, as_str path, as_vec *names, assay_id *out) {
    const as_strings *strings = &b->x->symbols.stored;
    names->count = 0;
    if (!as_ns_path_names(b->x, as_str_text(strings, path), as_str_size(strings, path), names))
        return as_reader_memory(b->x->reader);
    assay_id at = ASSAY_NONE;
    for (size_t i = 0; i < names->count; i++)
        AS_TRY(as_ns_inner_child(b, at, AS_NS_NODE_REGION, AS_AT(as_str, names, i), &at));
    *out = at;
    return ASSAY_OK;
}

static assay_status place_regions(as_ns_builder *b) {
    as_ns_export *x = b->x;
    as_map of; /* a path -> its context */
    as_vec names;
    as_map_init(&of, &x->ds->budget);
    as_vec_init(&names, sizeof(as_str), &x->ds->budget);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < x->ranges.count; i++) {
        as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, i);
        if (!is_region(range)) continue;
        range->context = as_map_get(&of, range->path);
        if (range->context != AS_MAP_NONE) continue;
        status = place_path(b, range->path, &names, &range->context);
        if (status == ASSAY_OK && !as_map_put(&of, range->path, range->context)) status = as_reader_memory(x->reader);
    }
    as_map_free(&of);
    as_vec_free(&names);
    return status;
}

static assay_id outside_regions(as_ns_builder *b, uint32_t thread) {
    (void)thread;
    return as_ns_uncorrelated(b);
}

assay_status as_ns_paths_of_ranges(as_ns_builder *b) {
    grouped ranges;
    grouped_init(&ranges, b->x);
    assay_status status = place_regions(b);
    if (status == ASSAY_OK) status = search_calls(b->x, standing_of_region, true, &ranges);
    if (status == ASSAY_OK) status = place_calls(b, outside_regions);
    grouped_free(&ranges);
    return status;
}

/* ---- ranges in ranges -------------------------------------------------------------------------------------------- */

static standing standing_of_nested(const as_ns_export *x, size_t row) {
    const as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, row);
    bool nests = range->type == PUSH_POP || range->type == IMPORTED_PUSH_POP;
    /* AS_NS_OPEN is before every start */
    return (standing){nests && range->span.end >= range->span.start ? range->thread : AS_NS_NONE, range->span.start,
                      range->span.end};
}

static assay_id thread_child(as_ns_builder *b, assay_id parent, uint32_t thread) {
    char text[32];
    uint32_t tid = thread < b->x->threads.count ? AS_NS_AT(as_ns_thread, b->x, threads, thread)->tid : 0;
    snprintf(text, sizeof text, "thread %u", tid);
    return parent == ASSAY_NONE ? ASSAY_NONE : as_ns_child_text(b, parent, AS_NS_NODE_THREAD, text);
}

/* "process PID" -> "thread TID". */
static assay_id thread_context(as_ns_builder *b, uint32_t thread) {
    const as_ns_export *x = b->x;
    bool is_known = thread < x->threads.count;
    if (is_known && b->threads[thread] != ASSAY_NONE) return b->threads[thread];
    uint32_t process = is_known ? AS_NS_AT(as_ns_thread, x, threads, thread)->process : AS_NS_NONE;
    char text[32];
    snprintf(text, sizeof text, "process %u",
             process < x->processes.count ? AS_NS_AT(as_ns_process, x, processes, process)->pid : 0);
    assay_id context = thread_child(b, as_ns_child_text(b, ASSAY_NONE, AS_NS_NODE_PROCESS, text), thread);
    if (is_known) b->threads[thread] = context;
    return context;
}

/* Contexts of the ranges of one thread: each below the innermost that contains it. */
static assay_status nest_ranges(as_ns_builder *b, uint32_t thread, const uint32_t *rows, size_t n, as_vec *stack) {
    as_ns_export *x = b->x;
    assay_id root = n ? thread_context(b, thread) : ASSAY_NONE;
    stack->count = 0;
    if (n && (root == ASSAY_NONE || !as_vec_reserve(stack, n))) return as_reader_memory(x->reader);
    open_range *open = stack->data;
    for (size_t i = 0; i < n; i++) {
        as_ns_range *range = AS_NS_AT(as_ns_range, x, ranges, rows[i]);
        while (stack->count && open[stack->count - 1].end < range->span.end) stack->count--;
        assay_id above = stack->count ? AS_NS_AT(as_ns_range, x, ranges, open[stack->count - 1].row)->context : root;
        AS_TRY(as_ns_inner_child(b, above, AS_NS_NODE_NVTX, range->name, &range->context));
        open[stack->count++] = (open_range){range->span.end, rows[i]};
    }
    return ASSAY_OK;
}

/* Threads that have calls or ranges, in the order of their numbers whoever comes first in the file: so do several
 * executions of one program have them in one order. */
static assay_status place_threads(as_ns_builder *b, const grouped *ranges) {
    as_ns_export *x = b->x;
    size_t n = x->threads.count;
    bool *has_calls = calloc(n + 1, sizeof *has_calls), fine = has_calls != NULL;
    for (size_t i = 0; fine && i < x->calls.count; i++) {
        uint32_t thread = AS_NS_AT(as_ns_call, x, calls, i)->thread;
        if (thread < n) has_calls[thread] = true;
    }
    for (uint32_t t = 0; fine && t < n; t++) {
        bool has_ranges = ranges->starts[t + 1] > ranges->starts[t];
        if (has_calls[t] || has_ranges) fine = thread_context(b, t) != ASSAY_NONE;
    }
    free(has_calls);
    return fine ? ASSAY_OK : as_reader_memory(x->reader);
}

assay_status as_ns_paths_of_nesting(as_ns_builder *b) {
    as_ns_export *x = b->x;
    grouped ranges;
    as_vec stack;
    grouped_init(&ranges, x);
    as_vec_init(&stack, sizeof(open_range), &x->ds->budget);
    assay_status status = search_calls(x, standing_of_nested, false, &ranges);
    if (status == ASSAY_OK) status = place_threads(b, &ranges);
    for (uint32_t t = 0; status == ASSAY_OK && t < x->threads.count; t++) {
        size_t first = ranges.starts[t], n = ranges.starts[t + 1] - first;
        status = nest_ranges(b, t, n ? &AS_AT(uint32_t, &ranges.rows, first) : NULL, n, &stack);
    }
    if (status == ASSAY_OK) status = place_calls(b, thread_context);
    as_vec_free(&stack);
    grouped_free(&ranges);
    return status;
}

/* ---- the OS runtime ---------------------------------------------------------------------------------------------- */

static standing standing_of_osrt(const as_ns_export *x, size_t row) {
    const as_ns_osrt *osrt = AS_NS_AT(as_ns_osrt, x, osrt, row);
    return (standing){osrt->thread, osrt->span.start, osrt->span.start + as_ns_length(osrt->span)};
}

/* Functions of one thread. One of a level above 0 stands below what it ran in, of any level below its own. */
static assay_status nest_osrt(as_ns_builder *b, assay_id root, const uint32_t *rows, size_t n, as_vec *stack) {
    as_ns_export *x = b->x;
    stack->count = 0;
    if (!as_vec_reserve(stack, n)) return as_reader_memory(x->reader);
    open_range *open = stack->data;
    for (size_t i = 0; i < n; i++) {
        as_ns_osrt *osrt = AS_NS_AT(as_ns_osrt, x, osrt, rows[i]);
        int64_t end = standing_of_osrt(x, rows[i]).end;
        while (stack->count && (open[stack->count - 1].end < end ||
                                AS_NS_AT(as_ns_osrt, x, osrt, open[stack->count - 1].row)->nesting >= osrt->nesting))
            stack->count--;
        assay_id above = stack->count ? AS_NS_AT(as_ns_osrt, x, osrt, open[stack->count - 1].row)->context : root;
        AS_TRY(as_ns_inner_child(b, above, AS_NS_NODE_OSRT, osrt->name, &osrt->context));
        open[stack->count++] = (open_range){end, rows[i]};
    }
    return ASSAY_OK;
}

assay_status as_ns_paths_of_osrt(as_ns_builder *b) {
    as_ns_export *x = b->x;
    if (x->osrt.count == 0) return ASSAY_OK;
    grouped g;
    as_vec stack;
    grouped_init(&g, x);
    as_vec_init(&stack, sizeof(open_range), &x->ds->budget);
    assay_id section = as_ns_child_text(b, ASSAY_NONE, AS_NS_NODE_SECTION, "[OS runtime]");
    bool fine = section != ASSAY_NONE && group_rows(x, x->osrt.count, standing_of_osrt, &g);
    assay_status status = fine ? ASSAY_OK : as_reader_memory(x->reader);
    for (uint32_t t = 0; status == ASSAY_OK && t < x->threads.count; t++) {
        size_t first = g.starts[t], n = g.starts[t + 1] - first;
        if (n == 0) continue;
        assay_id root = thread_child(b, section, t);
        status = root == ASSAY_NONE ? as_reader_memory(x->reader)
                                    : nest_osrt(b, root, &AS_AT(uint32_t, &g.rows, first), n, &stack);
    }
    as_vec_free(&stack);
    grouped_free(&g);
    return status;
}
