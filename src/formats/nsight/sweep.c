/* Intervals against intervals, from the left to the right.
 *
 * Spans are taken in the order of their starts. Where one starts at or behind the end of all before it, a new group
 * begins: groups have nothing to do with each other. So ends are sorted within groups only, which are short in most
 * exports, and sums begin anew with each. */
#include "formats/nsight/export.h"

/* Noise of sums that are 0 on paper, in nanoseconds, and in parts of what it is left of. */
#define NOISE          1e-4
#define RELATIVE_NOISE 1e-15

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

/* Moves each item to its place among those before it, unless that takes more than a few moves an item: nearly sorted
 * ones, as most are, need no more. */
static bool insert_all(as_ns_ordered *items, size_t n) {
    size_t left = n < 64 ? n * 64 : n * 8;
    for (size_t i = 1; i < n; i++) {
        as_ns_ordered item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key && left > 0; at--, left--) items[at] = items[at - 1];
        items[at] = item;
        if (left == 0) return false;
    }
    return true;
}

/* One byte of the keys; false, and nothing moved, where it is the same in all of them. */
static bool sort_by_byte(const as_ns_ordered *from, as_ns_ordered *to, size_t n, unsigned shift) {
    size_t next[256] = {0}, first = 0;
    for (size_t i = 0; i < n; i++) next[from[i].key >> shift & 0xff]++;
    if (next[from[0].key >> shift & 0xff] == n) return false;
    for (size_t i = 0; i < 256; i++) {
        size_t count = next[i];
        next[i] = first;
        first += count;
    }
    for (size_t i = 0; i < n; i++) to[next[from[i].key >> shift & 0xff]++] = from[i];
    return true;
}

bool as_ns_sort(as_ns_ordered *items, size_t n, as_budget *budget) {
    if (insert_all(items, n)) return true;
    as_vec other;
    as_vec_init(&other, sizeof(as_ns_ordered), budget);
    bool fine = as_vec_reserve(&other, n);
    as_ns_ordered *from = items, *to = other.data;
    uint64_t differing = 0;
    for (size_t i = 0; i < n; i++) differing |= items[i].key ^ items[0].key;
    for (unsigned shift = 0; fine && shift < 64 && differing >> shift; shift += 8) {
        if (!sort_by_byte(from, to, n, shift)) continue;
        as_ns_ordered *sorted = to;
        to = from;
        from = sorted;
    }
    if (fine && from != items) memcpy(items, from, n * sizeof *items);
    as_vec_free(&other);
    return fine;
}

/* Spans in the order of their starts: as they stand, or by a table. */
typedef struct ordering {
    const as_ns_weighted *spans;
    size_t n;
    as_vec order; /* as_ns_ordered; empty: as they stand */
} ordering;

static inline size_t row_of(const ordering *by_start, size_t i) {
    return by_start->order.count ? AS_AT(as_ns_ordered, &by_start->order, i).index : i;
}
static inline const as_ns_weighted *span_of(const ordering *by_start, size_t i) {
    return &by_start->spans[row_of(by_start, i)];
}

static bool order_by_start(const as_ns_weighted *spans, size_t n, as_budget *budget, ordering *out) {
    *out = (ordering){.spans = spans, .n = n};
    as_vec_init(&out->order, sizeof(as_ns_ordered), budget);
    size_t i = 1;
    while (i < n && spans[i - 1].start <= spans[i].start) i++;
    if (i >= n) return true;
    if (n > UINT32_MAX || !as_vec_reserve(&out->order, n)) return false;
    as_ns_ordered *order = out->order.data;
    for (i = 0; i < n; i++) order[i] = (as_ns_ordered){as_ns_key(spans[i].start), (uint32_t)i};
    out->order.count = n;
    return as_ns_sort(order, n, budget);
}

/* ---- unions ------------------------------------------------------------------------------------------------------ */

static inline uint64_t distance(int64_t from, int64_t to) { return (uint64_t)to - (uint64_t)from; }

static int64_t piece_end(const as_ns_measure *measure, size_t i) {
    const as_ns_piece *piece = &AS_AT(as_ns_piece, &measure->pieces, i);
    uint64_t behind = i + 1 < measure->pieces.count ? piece[1].before : measure->total;
    return (int64_t)((uint64_t)piece->start + (behind - piece->before));
}

/* A union that grows to the right. */
typedef struct growing {
    as_ns_measure *out;
    int64_t end; /* of its last piece */
} growing;

static bool add_span(growing *g, int64_t start, int64_t end) {
    as_vec *pieces = &g->out->pieces;
    if (pieces->count == 0 || start > g->end) {
        as_ns_piece *piece = as_vec_push(pieces);
        if (!piece) return false;
        *piece = (as_ns_piece){start, g->out->total};
    } else if (end <= g->end) {
        return true;
    } else {
        start = g->end;
    }
    g->out->total += distance(start, end);
    g->end = end;
    return true;
}

bool as_ns_measure_union(const as_ns_weighted *spans, size_t n, const as_ns_measure *base, as_budget *budget,
                         as_ns_measure *out) {
    *out = (as_ns_measure){0};
    as_vec_init(&out->pieces, sizeof(as_ns_piece), budget);
    ordering by_start;
    bool fine = order_by_start(spans, n, budget, &by_start);
    growing g = {.out = out};
    size_t i = 0, j = 0, n_base = base ? base->pieces.count : 0;
    while (fine && (i < n || j < n_base)) {
        const as_ns_weighted *span = i < n ? span_of(&by_start, i) : NULL;
        const as_ns_piece *piece = j < n_base ? &AS_AT(as_ns_piece, &base->pieces, j) : NULL;
        if (span && (!piece || span->start <= piece->start)) {
            fine = add_span(&g, span->start, span->end);
            i++;
        } else {
            fine = add_span(&g, piece->start, piece_end(base, j));
            j++;
        }
    }
    as_vec_free(&by_start.order);
    as_vec_shrink(&out->pieces);
    return fine;
}

void as_ns_measure_free(as_ns_measure *measure) {
    as_vec_free(&measure->pieces);
    measure->total = 0;
}

/* What is covered before `time`, `before` being the number of pieces that start at or before it. */
static uint64_t covered_before(const as_ns_measure *measure, size_t before, int64_t time) {
    if (before == 0) return 0;
    const as_ns_piece *piece = &AS_AT(as_ns_piece, &measure->pieces, before - 1);
    uint64_t length = (before < measure->pieces.count ? piece[1].before : measure->total) - piece->before,
             passed = distance(piece->start, time);
    return piece->before + (passed < length ? passed : length);
}

static uint64_t covered_until(const as_ns_measure *measure, int64_t time) {
    size_t low = 0, high = measure->pieces.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (AS_AT(as_ns_piece, &measure->pieces, middle).start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return covered_before(measure, low, time);
}

int64_t as_ns_measure_between(const as_ns_measure *measure, int64_t start, int64_t end) {
    return end <= start ? 0 : (int64_t)(covered_until(measure, end) - covered_until(measure, start));
}

/* The same for times that only grow. */
typedef struct cursor {
    const as_ns_measure *measure; /* NULL: nothing is covered */
    size_t before;
} cursor;

static uint64_t covered_next(cursor *at, int64_t time) {
    const as_ns_measure *measure = at->measure;
    if (!measure) return 0;
    while (at->before < measure->pieces.count && AS_AT(as_ns_piece, &measure->pieces, at->before).start <= time)
        at->before++;
    return covered_before(measure, at->before, time);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

/* What there was when a span began, or is now, of all that counts: moments when several run and nothing covers them. */
typedef struct tally {
    uint64_t covered; /* before now */
    uint64_t shared;  /* such moments */
    double high, low; /* the sum of length / T over them; low: what high lost to rounding */
} tally;

/* One pass over groups. */
typedef struct sweep {
    const ordering *by_start;
    cursor cover;
    as_budget *budget;
    double *overlaps;
    as_vec ends;   /* as_ns_ordered: those of the group; index: within it */
    as_vec begins; /* tally of each of the group, when it began */
    /* of the moment */
    int64_t now;
    size_t n_running;
    double weight; /* of all that run */
    tally tally;
} sweep;

static void advance(sweep *s, int64_t to) {
    if (to == s->now) return;
    uint64_t covered = covered_next(&s->cover, to), length = distance(s->now, to) - (covered - s->tally.covered);
    s->tally.covered = covered;
    s->now = to;
    if (s->n_running < 2 || length == 0 || !(s->weight > 0)) return;
    s->tally.shared += length;
    double term = (double)length / s->weight, sum = s->tally.high + term;
    s->tally.low += s->tally.high >= term ? (s->tally.high - sum) + term : (term - sum) + s->tally.high;
    s->tally.high = sum;
}

static double overlap_since(const sweep *s, const tally *begin, double weight) {
    double shared = (double)(s->tally.shared - begin->shared),
           own = weight * ((s->tally.high - begin->high) + (s->tally.low - begin->low)), lost = shared - own;
    if (lost < NOISE || lost < shared * RELATIVE_NOISE) lost = 0;
    return (double)(s->tally.covered - begin->covered) + lost;
}

static bool sort_ends(sweep *s, size_t first, size_t n) {
    s->ends.count = s->begins.count = 0;
    if (n > UINT32_MAX || !as_vec_reserve(&s->ends, n) || !as_vec_reserve(&s->begins, n)) return false;
    as_ns_ordered *ends = s->ends.data;
    for (size_t i = 0; i < n; i++)
        ends[i] = (as_ns_ordered){as_ns_key(span_of(s->by_start, first + i)->end), (uint32_t)i};
    return as_ns_sort(ends, n, s->budget);
}

/* A group of n spans. What ends at a moment ends before others start. */
static bool take_group(sweep *s, size_t first, size_t n) {
    if (!sort_ends(s, first, n)) return false;
    const as_ns_ordered *ends = s->ends.data;
    tally *begins = s->begins.data;
    s->now = span_of(s->by_start, first)->start;
    s->weight = 0;
    s->tally = (tally){.covered = covered_next(&s->cover, s->now)};
    for (size_t started = 0, ended = 0; ended < n;) {
        const as_ns_weighted *starting = started < n ? span_of(s->by_start, first + started) : NULL;
        if (starting && as_ns_key(starting->start) < ends[ended].key) {
            advance(s, starting->start);
            begins[started++] = s->tally;
            s->weight += starting->weight;
            s->n_running++;
            continue;
        }
        size_t i = ends[ended++].index, row = row_of(s->by_start, first + i);
        advance(s, s->by_start->spans[row].end);
        s->overlaps[row] = overlap_since(s, &begins[i], s->by_start->spans[row].weight);
        s->weight -= s->by_start->spans[row].weight;
        s->n_running--;
    }
    return true;
}

static void take_alone(sweep *s, size_t i) {
    size_t row = row_of(s->by_start, i);
    const as_ns_weighted *span = &s->by_start->spans[row];
    uint64_t before = covered_next(&s->cover, span->start);
    s->overlaps[row] = (double)(covered_next(&s->cover, span->end) - before);
}

bool as_ns_shared_overlaps(const as_ns_weighted *spans, size_t n, const as_ns_measure *cover, as_budget *budget,
                           double *overlaps) {
    ordering by_start;
    sweep s = {.by_start = &by_start, .cover = {.measure = cover}, .budget = budget, .overlaps = overlaps};
    as_vec_init(&s.ends, sizeof(as_ns_ordered), budget);
    as_vec_init(&s.begins, sizeof(tally), budget);
    bool fine = order_by_start(spans, n, budget, &by_start);
    for (size_t first = 0, end; fine && first < n; first = end) {
        int64_t last = span_of(&by_start, first)->end;
        for (end = first + 1; end < n && span_of(&by_start, end)->start < last; end++) {
            int64_t other = span_of(&by_start, end)->end;
            if (other > last) last = other;
        }
        if (end - first > 1)
            fine = take_group(&s, first, end - first);
        else
            take_alone(&s, first);
    }
    as_vec_free(&by_start.order);
    as_vec_free(&s.ends);
    as_vec_free(&s.begins);
    return fine;
}

bool as_ns_kernel_overlaps(const as_ns_weighted *kernels, size_t n, as_budget *budget, double *overlaps) {
    return as_ns_shared_overlaps(kernels, n, NULL, budget, overlaps);
}

/* ---- who owns a moment ------------------------------------------------------------------------------------------- */

/* By start; of equal ones those that end last come first. */
static bool order_owned(const as_ns_owned *spans, size_t n, as_budget *budget, as_vec *out) {
    if (n > UINT32_MAX || !as_vec_reserve(out, n)) return false;
    as_ns_ordered *order = out->data;
    out->count = n;
    for (size_t i = 0; i < n; i++) order[i] = (as_ns_ordered){~as_ns_key(spans[i].end), (uint32_t)i};
    if (!as_ns_sort(order, n, budget)) return false;
    for (size_t i = 0; i < n; i++) order[i].key = as_ns_key(spans[order[i].index].start);
    return as_ns_sort(order, n, budget);
}

/* What runs, the latest start on top; what ended while others were above it goes when it comes to the top. */
typedef struct latest {
    const as_ns_owned *spans;
    as_vec stack; /* uint32_t */
    cursor cover;
    uint64_t covered;
    int64_t now;
    int64_t *of_owner;
} latest;

static void give_until(latest *l, int64_t to) {
    while (l->stack.count) {
        const as_ns_owned *top = &l->spans[AS_AT(uint32_t, &l->stack, l->stack.count - 1)];
        int64_t until = top->end < to ? top->end : to;
        if (until > l->now) {
            uint64_t covered = covered_next(&l->cover, until);
            l->of_owner[top->owner] = (int64_t)((uint64_t)l->of_owner[top->owner] + (covered - l->covered));
            l->covered = covered;
            l->now = until;
        }
        if (top->end > to) return;
        l->stack.count--;
    }
}

bool as_ns_cover_latest(const as_ns_owned *spans, size_t n, const as_ns_measure *cover, as_budget *budget,
                        int64_t *covered) {
    as_vec order;
    as_vec_init(&order, sizeof(as_ns_ordered), budget);
    latest l = {.spans = spans, .cover = {.measure = cover}, .of_owner = covered};
    as_vec_init(&l.stack, sizeof(uint32_t), budget);
    bool fine = order_owned(spans, n, budget, &order);
    for (size_t i = 0; fine && i < n; i++) {
        uint32_t row = AS_AT(as_ns_ordered, &order, i).index;
        give_until(&l, spans[row].start);
        l.now = spans[row].start;
        l.covered = covered_next(&l.cover, l.now);
        fine = as_vec_append(&l.stack, &row, 1);
    }
    if (fine) give_until(&l, INT64_MAX);
    as_vec_free(&order);
    as_vec_free(&l.stack);
    return fine;
}
