#include "server/tree_whole.h"

#include <math.h>
#include <stdlib.h>

/* What shares are of: the whole, or the largest value where that is not known or less. */
static double base_of(const as_view_values *values) {
    double base = isfinite(values->whole) ? fabs(values->whole) : 0;
    for (uint32_t i = 0; i < values->n; i++) {
        double size = fmax(as_view_item_size(values, i, false), as_view_item_size(values, i, true));
        if (isfinite(size) && size > base) base = size;
    }
    return base;
}

/* The largest share that an item, or one below it, has of any metric. Minima and ratios say nothing of what matters, where there is something that adds up. */
static void find_shares(const as_asked_table *asked, double *shares) {
    bool adds_up = false;
    for (size_t k = 0; k < asked->n_values; k++) adds_up |= isfinite(asked->values[k]->whole);
    for (size_t k = 0; k < asked->n_values; k++) {
        const as_view_values *values = asked->values[k];
        if (adds_up && !isfinite(values->whole)) continue;
        double base = base_of(values);
        for (uint32_t i = 0; base > 0 && i < values->n; i++) {
            double size = fmax(as_view_item_size(values, i, false), as_view_item_size(values, i, true));
            if (size / base > shares[i]) shares[i] = size / base;
        }
    }
    for (uint32_t i = as_view_items(asked->table); i-- > 0;) {
        uint32_t parent = as_view_item_at(asked->table, i)->parent;
        if (parent != AS_NO_ITEM && shares[i] > shares[parent]) shares[parent] = shares[i];
    }
}

static uint32_t count_from(const double *shares, uint32_t n, double least) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += shares[i] >= least;
    return count;
}

/* The shares that are tried: 1e-7, 1.1e-7 … 9.9e-7, 1e-6 … 1. */
enum { STEPS = 90, POWERS = 7 };

static double share_of(int step) { return (10 + step % STEPS) * pow(10, step / STEPS - POWERS - 1); }

/* The least that leaves few enough. */
static double choose_share(const double *shares, uint32_t n, uint32_t most) {
    int low = 0, high = STEPS * POWERS;
    if (n <= most) return 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (count_from(shares, n, share_of(middle)) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t count = count_from(shares, n, share_of(low));
    return count > 0 && count <= most ? share_of(low) : NAN;
}

bool as_whole_part_choose(const as_asked_table *asked, uint32_t most, as_whole_part *out) {
    uint32_t n = as_view_items(asked->table);
    double *shares = calloc((size_t)n + 1, sizeof *shares);
    *out = (as_whole_part){.marks = calloc((size_t)n + 1, 1), .all = n};
    if (!shares || !out->marks) {
        free(shares);
        free(out->marks);
        out->marks = NULL;
        return false;
    }
    find_shares(asked, shares);
    out->share = choose_share(shares, n, most);
    for (uint32_t i = 0; i < n; i++) {
        out->marks[i] = isnan(out->share) ? i < most : shares[i] >= out->share;
        out->n += out->marks[i];
    }
    free(shares);
    return true;
}
