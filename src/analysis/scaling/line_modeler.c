/* Which modeler a line gets; and the segmented one: windows of five points show where behaviour changes, each side gets
 * a model of its own. */
#include "analysis/scaling/line_modeler.h"

#include <stdlib.h>

enum { WINDOW = 5 };

static const double much_error = 0.5, some_error = 0.1, much_change = 4, tiny = 1e-16;

/* ---- making one -------------------------------------------------------------------------------------------------- */

typedef struct sort_key {
    double x;
    uint32_t index;
} sort_key;

static int compare_keys(const void *a, const void *b) {
    const sort_key *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static bool sort_points(as_line_modeler *m, const double *x) {
    sort_key *keys = malloc((m->n + 1) * sizeof *keys);
    if (!keys) return false;
    for (size_t i = 0; i < m->n; i++) keys[i] = (sort_key){x[i], (uint32_t)i};
    if (m->modeler == AS_MODELER_SEGMENTED) qsort(keys, m->n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < m->n; i++) {
        m->x[i] = keys[i].x;
        m->order[i] = keys[i].index;
    }
    free(keys);
    return true;
}

as_line_modeler *as_line_modeler_new(as_modeler modeler, const double *x, size_t n, const as_single_options *options) {
    as_line_modeler *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        free(m);
        return NULL;
    }
    m->modeler = modeler == AS_MODELER_SEGMENTED && n < WINDOW ? AS_MODELER_BASIC : modeler;
    m->options = *options;
    m->n = n;
    m->x = malloc((n + 1) * sizeof *m->x);
    m->order = malloc((n + 1) * sizeof *m->order);
    if (m->modeler == AS_MODELER_SEGMENTED) m->parts = calloc(3 * (n + 1), sizeof(as_line_plan *));
    bool fine = m->x && m->order && (m->parts || m->modeler != AS_MODELER_SEGMENTED) && sort_points(m, x);
    if (fine) m->plan = as_line_plan_new(m->x, n, options, m->modeler != AS_MODELER_REFINING);
    if (m->plan) return m;
    as_line_modeler_free(m);
    return NULL;
}

void as_line_modeler_free(as_line_modeler *m) {
    if (!m) return;
    for (size_t i = 0; m->parts && i < 3 * (m->n + 1); i++) as_line_plan_free(m->parts[i]);
    free(m->parts);
    as_line_plan_free(m->plan);
    pthread_mutex_destroy(&m->lock);
    free(m->order);
    free(m->x);
    free(m);
}

size_t as_line_modeler_scratch(const as_line_modeler *m) {
    return as_line_scratch(m->n) + 2 * m->n * AS_LANES; /* and a sorted copy, and a piece of it */
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* The plan of points from … to - 1: a window of five, or one that begins at 0 or ends at n. NULL when memory is out. */
static as_line_plan *part_plan(as_line_modeler *m, size_t from, size_t to) {
    size_t at = to - from == WINDOW ? from : from == 0 ? (m->n + 1) + to : 2 * (m->n + 1) + from;
    pthread_mutex_lock(&m->lock);
    if (!m->parts[at]) m->parts[at] = as_line_plan_new(m->x + from, to - from, &m->options, true);
    as_line_plan *plan = m->parts[at];
    pthread_mutex_unlock(&m->lock);
    return plan;
}

/* Where the pattern of window errors says that behaviour changes: the left part ends with point *left, the right one
 * begins with *right. False where it does not change. errors: one a window. */
static bool find_change(const double *errors, size_t n, size_t *left, size_t *right) {
    double largest = 0, change = -INFINITY;
    size_t ones = 0, seen = 0;
    bool is_known = true; /* an error that is none makes the largest unknown */
    for (size_t k = 0; k < n; k++) {
        double step = k ? errors[k] / (errors[k - 1] + tiny) : -INFINITY;
        is_known = is_known && !isnan(errors[k]);
        if (errors[k] > largest) largest = errors[k];
        if (step > change) change = step;
        ones += errors[k] >= some_error || step > much_change;
    }
    if (!(is_known && largest > much_error) && !(change > much_change)) return false;
    size_t middle = 0;
    for (size_t k = 0; k < n; k++) {
        double step = k ? errors[k] / (errors[k - 1] + tiny) : -INFINITY;
        if (!(errors[k] >= some_error || step > much_change)) continue;
        if (seen++ == ones / 2) middle = k;
    }
    if (ones == WINDOW - 2) {
        *left = *right = middle + WINDOW / 2;
        return true;
    }
    *left = (middle ? middle - 1 : n - 1) + WINDOW / 2;
    *right = *left + 1;
    return true;
}

double as_line_result_at(const as_line_result *r, double x) {
    const as_line_fit *fit = &r->whole;
    if (r->is_segmented) {
        if (x <= r->left_end)
            fit = &r->parts[0];
        else if (x >= r->right_begin)
            fit = &r->parts[1];
        else
            return NAN;
    }
    return fit->term == -1 ? fit->constant : fit->constant + fit->coefficient * as_power_value(&fit->power, x);
}

/* In-sample costs of both parts together. y: one series in order of x. */
static void whole_costs(const as_line_modeler *m, const double *y, as_line_result *r) {
    as_costs costs = {0};
    double n = (double)m->n, sum = 0, used = 0;
    for (size_t i = 0; i < m->n; i++) {
        double prediction = as_line_result_at(r, m->x[i]), d = prediction - y[i];
        double size = fabs(y[i]) + fabs(prediction);
        sum += y[i];
        costs.RSS += d * d;
        if (y[i] != 0) {
            costs.rRSS += d / y[i] * (d / y[i]);
            costs.RE += fabs(d / y[i]) / n;
        }
        if (size == 0) continue;
        costs.SMAPE += fabs(d) / size;
        used++;
    }
    if (used > 0) costs.SMAPE *= 200 / used;
    costs.nRSS = sqrt(costs.RSS) / (sum / n);
    as_line_fit constant;
    as_constant_fit(y, m->n, &constant);
    costs.AR2 = 1 - costs.RSS / constant.costs.RSS * (n - 1) / (n - 2);
    r->whole = (as_line_fit){.term = -2, .rival = -1, .rival_score = INFINITY, .costs = costs};
}

/* Models points from … to - 1 of one series, given in order of x. */
static bool model_part(as_line_modeler *m, const double *y, size_t from, size_t to, double *scratch, as_line_fit *out) {
    as_line_plan *plan = part_plan(m, from, to);
    if (!plan) return false;
    double *tile = scratch + as_line_scratch(m->n);
    for (size_t i = from; i < to; i++) {
        for (size_t lane = 0; lane < AS_LANES; lane++) tile[(i - from) * AS_LANES + lane] = y[i];
    }
    as_line_basic(plan, tile, 1, scratch, out);
    return true;
}

/* y: the tile in order of x. */
static bool run_segmented(as_line_modeler *m, const double *y, size_t lanes, double *scratch, as_line_result *out) {
    size_t n_windows = m->n - (WINDOW - 1);
    double *errors = malloc(n_windows * AS_LANES * sizeof *errors), *series = malloc(m->n * sizeof *series);
    as_line_fit fits[AS_LANES];
    bool fine = errors && series;
    for (size_t k = 0; fine && k < n_windows; k++) {
        as_line_plan *window = part_plan(m, k, k + WINDOW);
        fine = window != NULL;
        if (fine) as_line_basic(window, y + k * AS_LANES, lanes, scratch, fits);
        for (size_t lane = 0; fine && lane < lanes; lane++) errors[lane * n_windows + k] = fabs(fits[lane].costs.nRSS);
    }
    if (fine) as_line_basic(m->plan, y, lanes, scratch, fits);
    for (size_t lane = 0; fine && lane < lanes; lane++) {
        as_line_result *r = &out[lane];
        size_t left, right;
        *r = (as_line_result){.whole = fits[lane]};
        if (!find_change(errors + lane * n_windows, n_windows, &left, &right)) continue;
        for (size_t i = 0; i < m->n; i++) series[i] = y[i * AS_LANES + lane];
        r->is_segmented = true;
        r->left_end = m->x[left];
        r->right_begin = m->x[right];
        fine = model_part(m, series, 0, left + 1, scratch, &r->parts[0]) &&
               model_part(m, series, right, m->n, scratch, &r->parts[1]);
        if (fine) whole_costs(m, series, r);
    }
    free(errors);
    free(series);
    return fine;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

bool as_line_modeler_run(as_line_modeler *m, const double *y, size_t lanes, double *scratch, as_line_result *out) {
    as_line_fit fits[AS_LANES];
    switch (m->modeler) {
    case AS_MODELER_SEGMENTED: {
        double *sorted = scratch + as_line_scratch(m->n) + m->n * AS_LANES;
        for (size_t i = 0; i < m->n; i++)
            memcpy(sorted + i * AS_LANES, y + m->order[i] * AS_LANES, AS_LANES * sizeof *y);
        return run_segmented(m, sorted, lanes, scratch, out);
    }
    case AS_MODELER_REFINING:
        for (size_t lane = 0; lane < lanes; lane++) {
            for (size_t i = 0; i < m->n; i++) scratch[i] = y[i * AS_LANES + lane];
            if (!as_line_refine(m->plan, scratch, &fits[lane])) return false;
        }
        break;
    default: as_line_basic(m->plan, y, lanes, scratch, fits);
    }
    for (size_t lane = 0; lane < lanes; lane++) out[lane] = (as_line_result){.whole = fits[lane]};
    return true;
}
