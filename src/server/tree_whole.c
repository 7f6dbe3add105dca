#include "server/tree_whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of each item the larger one of its sizes (as_view_item_size()), inclusive and exclusive. */
static void find_sizes(const as_view_values *values, double *sizes) {
    const double *first = values->has_inclusive || !values->exclusive ? values->inclusive : values->exclusive;
    const double *second = values->exclusive ? values->exclusive : first;
    for (uint32_t i = 0; i < values->n; i++) {
        double a = fabs(first[i]), b = fabs(second[i]);
        if (isnan(a) || isnan(b)) {
            double weight = values->weights ? values->weights[i] : 0;
            a = isnan(a) ? weight : a;
            b = isnan(b) ? weight : b;
        }
        sizes[i] = a > b ? a : b;
    }
}

/* What shares are of: the whole, or the largest value where that is not known or less. sizes: of each item. */
static double base_of(const as_view_values *values, const double *sizes) {
    double base = isfinite(values->whole) ? fabs(values->whole) : 0;
    for (uint32_t i = 0; i < values->n; i++) {
        if (isfinite(sizes[i]) && sizes[i] > base) base = sizes[i];
    }
    return base;
}

/* The largest share that an item, or one below it, has of any metric. Minima and ratios say nothing of what matters,
 * where there is something that adds up. sizes: room for one of each item. */
static void find_shares(const as_asked_table *asked, double *sizes, double *shares) {
    bool adds_up = false;
    for (size_t k = 0; k < asked->n_values; k++) adds_up |= isfinite(asked->values[k]->whole);
    for (size_t k = 0; k < asked->n_values; k++) {
        const as_view_values *values = asked->values[k];
        if (adds_up && !isfinite(values->whole)) continue;
        find_sizes(values, sizes);
        double base = base_of(values, sizes);
        for (uint32_t i = 0; base > 0 && i < values->n; i++) {
            double share = sizes[i] / base;
            if (share > shares[i]) shares[i] = share;
        }
    }
    for (uint32_t i = as_view_items(asked->table); i-- > 0;) {
        uint32_t parent = as_view_item_at(asked->table, i)->parent;
        if (parent != AS_NO_ITEM && shares[i] > shares[parent]) shares[parent] = shares[i];
    }
}

/* The n-th largest share, n from 1 on: bits of numbers that are not below 0 are ordered as these are, and are found 16
 * at a time. False when memory is out. */
static bool find_nth(const double *shares, uint32_t n_shares, uint32_t n, double *out) {
    enum { BITS = 16 };
    uint32_t *counts = malloc((1u << BITS) * sizeof *counts);
    uint64_t found = 0, bits, known = 0; /* known: the bits that are found */
    if (!counts) return false;
    for (int shift = 64 - BITS; shift >= 0; shift -= BITS) {
        memset(counts, 0, (1u << BITS) * sizeof *counts);
        for (uint32_t i = 0; i < n_shares; i++) {
            memcpy(&bits, &shares[i], sizeof bits);
            if ((bits & known) == found) counts[bits >> shift & ((1u << BITS) - 1)]++;
        }
        uint64_t at = (1u << BITS) - 1;
        for (; at > 0 && counts[at] < n; at--) n -= counts[at];
        found |= at << shift;
        known |= (uint64_t)((1u << BITS) - 1) << shift;
    }
    memcpy(out, &found, sizeof found);
    free(counts);
    return true;
}

/* The shares that are told: 1e-7, 1.1e-7 … 9.9e-7, 1e-6 … 1. */
enum { STEPS = 90, POWERS = 7 };

static double share_of(int step) { return (10 + step % STEPS) * pow(10, step / STEPS - POWERS - 1); }

/* The least that is more than what is left out. NAN: none is. */
static double choose_share(double largest_left) {
    int step = 0;
    while (step <= STEPS * POWERS && !(share_of(step) > largest_left)) step++;
    return step <= STEPS * POWERS ? share_of(step) : NAN;
}

/* The most items: those with the largest shares, of equal ones the first, so that what lies above one is there before
 * it. */
static bool mark(const double *shares, uint32_t most, as_whole_part *out) {
    double least, largest_left = 0;
    uint32_t n_equal = most;
    if (out->all <= most) {
        memset(out->marks, 1, out->all);
        out->n = out->all;
        return true;
    }
    if (!find_nth(shares, out->all, most, &least)) return false;
    for (uint32_t i = 0; i < out->all; i++) n_equal -= shares[i] > least;
    for (uint32_t i = 0; i < out->all; i++) {
        bool is_equal = shares[i] == least && n_equal > 0;
        n_equal -= is_equal;
        out->marks[i] = shares[i] > least || is_equal;
        out->n += out->marks[i];
        if (!out->marks[i] && shares[i] > largest_left) largest_left = shares[i];
    }
    out->share = choose_share(largest_left);
    return true;
}

bool as_whole_part_choose(const as_asked_table *asked, uint32_t most, as_whole_part *out) {
    uint32_t n = as_view_items(asked->table);
    double *shares = calloc((size_t)n + 1, sizeof *shares), *sizes = malloc(((size_t)n + 1) * sizeof *sizes);
    *out = (as_whole_part){.marks = calloc((size_t)n + 1, 1), .all = n};
    bool fine = shares && sizes && out->marks;
    if (fine && n > most) find_shares(asked, sizes, shares);
    fine = fine && mark(shares, most, out);
    if (!fine) {
        free(out->marks);
        out->marks = NULL;
    }
    free(shares);
    free(sizes);
    return fine;
}
