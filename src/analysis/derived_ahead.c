#include "analysis/derived_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "dataset/formulas.h"

#define MOST_BYTES (64u << 20) /* of all that is kept */

typedef struct kept_sums {
    assay_id metric;
    double *sums[2];
} kept_sums;

struct as_ahead {
    pthread_mutex_t lock;
    as_budget *budget;
    uint64_t bytes; /* of one metric's sums */
    assay_id run;   /* that was asked for last; sums are of it */
    size_t n_next;  /* metrics to compute with the next that is not here */
    bool has_stopped;
    as_vec kept; /* kept_sums, metrics ascending */
};

static void drop_all(as_ahead *ahead) {
    for (size_t i = 0; i < ahead->kept.count; i++) {
        kept_sums *kept = &AS_AT(kept_sums, &ahead->kept, i);
        free(kept->sums[0]);
        free(kept->sums[1]);
        as_budget_give(ahead->budget, ahead->bytes);
    }
    ahead->kept.count = 0;
}

static void free_ahead(void *made) {
    as_ahead *ahead = made;
    drop_all(ahead);
    as_vec_free(&ahead->kept);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

static void *new_ahead(const as_dataset *ds) {
    as_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return NULL;
    ahead->budget = as_ds_budget(ds);
    ahead->bytes = 2 * sizeof(double) * ((uint64_t)AS_COUNT(ds, contexts) + 1);
    ahead->run = ASSAY_NONE;
    as_vec_init(&ahead->kept, sizeof(kept_sums), ahead->budget);
    pthread_mutex_init(&ahead->lock, NULL);
    return ahead;
}

as_ahead *as_ahead_of(const as_dataset *ds) { return as_ds_formula_companion(ds, new_ahead, free_ahead); }

/* Another run: it is not known yet whether several metrics of it will be asked for. */
static void change_run(as_ahead *ahead, assay_id run) {
    if (ahead->run == run) return;
    drop_all(ahead);
    ahead->run = run;
    ahead->n_next = 1;
}

static int by_metric(const void *key, const void *element) {
    assay_id metric = *(const assay_id *)key, other = ((const kept_sums *)element)->metric;
    return (metric > other) - (metric < other);
}

bool as_ahead_use(as_ahead *ahead, assay_id run, assay_id metric,
                  void (*use)(void *user, const double *inclusive, const double *exclusive), void *user) {
    pthread_mutex_lock(&ahead->lock);
    change_run(ahead, run);
    const kept_sums *kept =
        ahead->kept.count ? bsearch(&metric, ahead->kept.data, ahead->kept.count, sizeof *kept, by_metric) : NULL;
    if (kept) use(user, kept->sums[0], kept->sums[1]);
    pthread_mutex_unlock(&ahead->lock);
    return kept != NULL;
}

size_t as_ahead_choose(as_ahead *ahead, const as_dataset *ds, assay_id run, assay_id metric, assay_id *out) {
    pthread_mutex_lock(&ahead->lock);
    change_run(ahead, run);
    size_t most = ahead->has_stopped ? 1 : ahead->n_next, n = 0;
    if (most > MOST_BYTES / ahead->bytes) most = (size_t)(MOST_BYTES / ahead->bytes);
    if (ahead->n_next < AS_MOST_AHEAD) ahead->n_next *= 2;
    pthread_mutex_unlock(&ahead->lock);
    out[n++] = metric;
    while (n < most && (metric = as_ds_next_derived(ds, metric)) != ASSAY_NONE) {
        if (as_derived_has_values(as_ds_derived(ds, metric)) && !as_ds_metric_is_void(ds, metric)) out[n++] = metric;
    }
    return n;
}

void as_ahead_keep(as_ahead *ahead, assay_id run, assay_id metric, bool is_first, double *inclusive,
                   double *exclusive) {
    pthread_mutex_lock(&ahead->lock);
    if (is_first) drop_all(ahead);
    size_t n = ahead->kept.count;
    bool fits = ahead->run == run && (!n || AS_AT(kept_sums, &ahead->kept, n - 1).metric < metric);
    if (fits && as_budget_take(ahead->budget, ahead->bytes)) {
        kept_sums *kept = as_vec_push(&ahead->kept);
        if (kept) {
            *kept = (kept_sums){metric, {inclusive, exclusive}};
            inclusive = exclusive = NULL;
        } else
            as_budget_give(ahead->budget, ahead->bytes);
    }
    pthread_mutex_unlock(&ahead->lock);
    free(inclusive);
    free(exclusive);
}

void as_ahead_stop(as_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    drop_all(ahead);
    ahead->has_stopped = true;
    pthread_mutex_unlock(&ahead->lock);
}
