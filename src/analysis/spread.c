#include "analysis/spread.h"

#include <math.h>

/* ---- order statistics -------------------------------------------------------------------------------------------- */

enum { RADIX_BITS = 8, RADIX = 1 << RADIX_BITS, SORTED_AT_ONCE = 24, N_RANKS = 6 };

/* The numbers that would stand at some places if all were sorted. */
struct wanted {
    uint32_t ranks[N_RANKS]; /* ascending */
    uint64_t keys[N_RANKS];
};

static void sort_few(uint64_t *keys, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Some of the keys that follow each other when sorted, and the wanted ranks from … end - 1 that lie among them. */
struct piece {
    uint64_t *keys;
    uint32_t n, before; /* before: how many keys are below all of these */
    int from, end;
};

/* Deals the piece's keys into buckets by their highest differing bits and gathers in `other` those of buckets with a
 * wanted rank, each a piece of its own. Returns how many there are; *is_settled: the keys of a bucket are all the
 * same. */
static int split_piece(const struct piece *p, const struct wanted *w, uint64_t *other, struct piece out[N_RANKS],
                       bool *is_settled) {
    uint64_t low = p->keys[0], high = p->keys[0];
    for (uint32_t i = 1; i < p->n; i++) {
        if (p->keys[i] < low) low = p->keys[i];
        if (p->keys[i] > high) high = p->keys[i];
    }
    int bits = low == high ? 0 : 64 - __builtin_clzll(high - low), n_pieces = 0, rank = p->from;
    int shift = bits > RADIX_BITS ? bits - RADIX_BITS : 0;
    uint32_t counts[RADIX] = {0}, seen = p->before, kept = 0;
    uint64_t *ends[RADIX] = {0};
    for (uint32_t i = 0; i < p->n; i++) counts[(p->keys[i] - low) >> shift]++;
    for (int b = 0; b < RADIX && rank < p->end; b++) {
        struct piece piece = {.keys = other + kept, .n = counts[b], .before = seen, .from = rank};
        seen += counts[b];
        while (rank < p->end && w->ranks[rank] < seen) rank++;
        if (rank == piece.from) continue;
        piece.end = rank;
        out[n_pieces++] = piece;
        ends[b] = piece.keys;
        kept += piece.n;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t **end = &ends[(p->keys[i] - low) >> shift];
        if (*end) *(*end)++ = p->keys[i];
    }
    *is_settled = shift == 0;
    return n_pieces;
}

/* Answers the piece's ranks. Calls itself at most 64 / RADIX_BITS deep, whatever the numbers are. other: room for as
 * many keys. */
static void select_keys(const struct piece *p, uint64_t *other, struct wanted *w) {
    if (p->n <= SORTED_AT_ONCE) {
        sort_few(p->keys, p->n);
        for (int i = p->from; i < p->end; i++) w->keys[i] = p->keys[w->ranks[i] - p->before];
        return;
    }
    struct piece pieces[N_RANKS];
    bool is_settled;
    int n = split_piece(p, w, other, pieces, &is_settled);
    for (int i = 0; i < n; i++) {
        if (is_settled)
            for (int r = pieces[i].from; r < pieces[i].end; r++) w->keys[r] = pieces[i].keys[0];
        else
            select_keys(&pieces[i], p->keys, w);
    }
}

/* The three quartiles of values that are no NaN. keys, other: room for n each. */
static void find_quartiles(const double *values, uint32_t n, uint64_t *keys, uint64_t *other, double quartiles[3]) {
    struct wanted w;
    double parts[3];
    for (uint32_t i = 0; i < n; i++) keys[i] = as_real_key(values[i]);
    for (uint32_t q = 0; q < 3; q++) {
        uint64_t quarters = (uint64_t)(q + 1) * (n - 1); /* the place among the sorted, times 4 */
        uint32_t low = (uint32_t)(quarters / 4);
        parts[q] = (double)(quarters % 4) / 4;
        w.ranks[2 * q] = low;
        w.ranks[2 * q + 1] = low + 1 < n ? low + 1 : low;
    }
    /* The ranks of two quartiles cross where there are few numbers: of two, they are 0 1, 0 1 and 0 1. */
    struct wanted sorted = w;
    for (int i = 1; i < N_RANKS; i++) {
        for (int k = i; k > 0 && sorted.ranks[k - 1] > sorted.ranks[k]; k--) {
            uint32_t rank = sorted.ranks[k];
            sorted.ranks[k] = sorted.ranks[k - 1];
            sorted.ranks[k - 1] = rank;
        }
    }
    select_keys(&(struct piece){.keys = keys, .n = n, .end = N_RANKS}, other, &sorted);
    for (int q = 0; q < 3; q++) {
        double ends[2] = {0};
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < N_RANKS; k++)
                if (sorted.ranks[k] == w.ranks[2 * q + side]) ends[side] = as_key_real(sorted.keys[k]);
        }
        quartiles[q] = parts[q] > 0 ? ends[0] + (ends[1] - ends[0]) * parts[q] : ends[0];
    }
}

/* ---- moments ----------------------------------------------------------------------------------------------------- */

/* Four sums side by side, as in as_reals_sum(). */
static double deviation_of(const double *values, uint32_t n, double mean) {
    double sums[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (uint32_t k = 0; k < 4; k++) sums[k] += (values[i + k] - mean) * (values[i + k] - mean);
    }
    for (; i < n; i++) sums[0] += (values[i] - mean) * (values[i] - mean);
    return sqrt(((sums[0] + sums[1]) + (sums[2] + sums[3])) / n);
}

void as_spread_count(const double *values, uint32_t n, double min, double max, uint32_t *bins, uint32_t n_bins) {
    memset(bins, 0, n_bins * sizeof *bins);
    /* A range beyond double is made smaller; one that is too small to divide by counts as none. */
    double unit = isfinite(max - min) ? 1 : 0.0625, scale = n_bins / (max * unit - min * unit);
    if (!isfinite(scale)) scale = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bin = (uint32_t)((values[i] * unit - min * unit) * scale);
        bins[bin < n_bins ? bin : n_bins - 1]++;
    }
}

/* What is the same for both kinds: values are the numbers, or how much they are above base. */
static void describe(const double *values, uint32_t n, double base, char *room, as_spread *out) {
    uint64_t *keys = (uint64_t *)(void *)room, *other = keys + n;
    double quartiles[3], low = out->is_integer ? 0 : out->min, high = out->is_integer ? values[out->max_at] : out->max;
    if (low == high) { /* the usual case of what no location has */
        for (int q = 0; q < 3; q++) quartiles[q] = low;
        out->stddev = isfinite(low) ? 0 : NAN;
    } else {
        find_quartiles(values, n, keys, other, quartiles);
    }
    out->q1 = base + quartiles[0];
    out->median = base + quartiles[1];
    out->q3 = base + quartiles[2];
    out->imbalance = out->mean == 0 ? NAN : out->max / out->mean - 1;
    if (isfinite(low) && isfinite(high)) as_spread_count(values, n, low, high, out->bins, AS_SPREAD_BINS);
}

void as_spread_integers(const as_whole *values, uint32_t n, void *room, as_spread *out) {
    *out = (as_spread){.n = n, .is_integer = true, .whole_min = values[0], .whole_max = values[0]};
    for (uint32_t i = 0; i < n; i++) {
        out->whole_sum += values[i];
        if (values[i] < out->whole_min) out->whole_min = values[i], out->min_at = i;
        if (values[i] > out->whole_max) out->whole_max = values[i], out->max_at = i;
    }
    out->sum = (double)out->whole_sum;
    out->min = (double)out->whole_min;
    out->max = (double)out->whole_max;
    out->mean = out->sum / n;
    out->excess = out->max * n - out->sum;
    /* How much they are above the smallest is exact where they themselves would be rounded. */
    double *above = room;
    if (out->whole_max - out->whole_min <= INT64_MAX) { /* nearly always, and much faster */
        for (uint32_t i = 0; i < n; i++) above[i] = (double)(int64_t)(values[i] - out->whole_min);
    } else {
        for (uint32_t i = 0; i < n; i++) above[i] = (double)(values[i] - out->whole_min);
    }
    if (out->whole_min != out->whole_max)
        out->stddev = deviation_of(above, n, (double)(out->whole_sum - out->whole_min * n) / n);
    describe(above, n, out->min, (char *)(above + n), out);
}

static void all_unknown(as_spread *out) {
    out->sum = out->min = out->max = out->mean = out->stddev = NAN;
    out->q1 = out->median = out->q3 = out->imbalance = out->excess = NAN;
}

void as_spread_reals(const double *values, uint32_t n, as_part_rule rule, void *room, as_spread *out) {
    *out = (as_spread){.n = n, .min = values[0], .max = values[0]};
    bool is_known = true;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] < out->min) out->min = values[i], out->min_at = i;
        if (values[i] > out->max) out->max = values[i], out->max_at = i;
        is_known = is_known && values[i] == values[i];
    }
    if (!is_known) {
        all_unknown(out);
        return;
    }
    double sum = as_reals_sum(values, n);
    out->sum = rule == AS_PART_ADD ? sum : rule == AS_PART_MINIMUM ? out->min : out->max;
    out->mean = sum / n;
    out->excess = out->max * n - sum;
    if (out->min != out->max) out->stddev = deviation_of(values, n, out->mean);
    describe(values, n, 0, room, out);
}
