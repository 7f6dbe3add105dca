/* From series to models in the dataset: a window of series after the other is sampled, grouped by points, modelled by
 * threads, and stored in order. */
#include "analysis/scaling/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "analysis/scaling/plan.h"
#include "core/map.h"
#include "core/parallel.h"
#include "dataset/build.h"

enum {
    WINDOW_SERIES = 16384,
    WINDOW_CELLS = 1 << 22, /* points x series of a window */
    JOBS_PER_TASK = 64,
    PLANS_SIZE = 256 << 20 /* bytes of plans kept for later windows */
};

/* ---- plans by their points --------------------------------------------------------------------------------------- */

typedef struct plan_cache {
    as_vec plans; /* as_plan * */
    as_map by_hash;
    size_t size;
} plan_cache;

static void cache_init(plan_cache *cache) {
    as_vec_init(&cache->plans, sizeof(as_plan *), NULL);
    as_map_init(&cache->by_hash, NULL);
    cache->size = 0;
}

static void cache_free(plan_cache *cache) {
    for (size_t i = 0; i < cache->plans.count; i++) as_plan_free(AS_AT(as_plan *, &cache->plans, i));
    as_vec_free(&cache->plans);
    as_map_free(&cache->by_hash);
}

static uint64_t hash_points(const as_samples *samples) {
    return XXH3_64bits_withSeed(samples->points, samples->n * sizeof *samples->points, samples->n);
}

/* ---- a window ---------------------------------------------------------------------------------------------------- */

/* Series of one window that share their points: entries first … first + n - 1 of the sorted window. */
typedef struct group {
    size_t first, n;
    as_plan *plan;
    bool is_new;
} group;

typedef struct task {
    const group *group;
    size_t first, n;
    as_vec bytes;
    bool failed;
} task;

typedef struct entry {
    uint64_t hash;
    uint32_t index; /* in the window */
} entry;

typedef struct fitting {
    as_dataset *ds;
    const as_fit_options *options;
    as_choice choice;
    const as_fit_share *share;
    plan_cache cache;

    size_t capacity; /* series of a window */
    as_samples *samples;
    assay_id *points; /* capacity x points of the dataset */
    double *values, *means;
    uint32_t *positions; /* of each series of the window in the choice */
    entry *entries;
    size_t n;     /* series in the window */
    as_job *jobs; /* in the order of entries */
    as_vec groups, tasks;
    bool failed; /* memory was out in some thread */
    as_vec path; /* char: of the call path asked for last */
    assay_id asked;
    bool is_own;
} fitting;

static bool make_window(fitting *f) {
    size_t points = f->ds->n_points ? f->ds->n_points : 1;
    f->capacity = WINDOW_CELLS / points;
    if (f->capacity > WINDOW_SERIES) f->capacity = WINDOW_SERIES;
    if (f->capacity < JOBS_PER_TASK) f->capacity = JOBS_PER_TASK;
    if (f->capacity > f->choice.n) f->capacity = f->choice.n + 1;
    size_t cells;
    if (!as_mul_size(f->capacity, points, &cells) || cells > SIZE_MAX / sizeof(double)) return false;
    f->samples = calloc(f->capacity, sizeof *f->samples);
    f->points = malloc(cells * sizeof *f->points);
    f->values = malloc(cells * sizeof *f->values);
    f->means = as_fit_needs_means(f->options) ? malloc(cells * sizeof *f->means) : NULL;
    f->positions = malloc(f->capacity * sizeof *f->positions);
    f->entries = malloc(f->capacity * sizeof *f->entries);
    f->jobs = malloc(f->capacity * sizeof *f->jobs);
    if (!f->samples || !f->points || !f->values || !f->positions || !f->entries || !f->jobs) return false;
    if (as_fit_needs_means(f->options) && !f->means) return false;
    for (size_t i = 0; i < f->capacity; i++) {
        f->samples[i].points = f->points + i * points;
        f->samples[i].values = f->values + i * points;
        f->samples[i].means = f->means ? f->means + i * points : NULL;
    }
    return true;
}

static void free_tasks(fitting *f) {
    for (size_t i = 0; i < f->tasks.count; i++) as_vec_free(&AS_AT(task, &f->tasks, i).bytes);
    f->tasks.count = 0;
}

static void free_fitting(fitting *f) {
    free_tasks(f);
    as_vec_free(&f->tasks);
    for (size_t i = 0; i < f->groups.count; i++) {
        if (AS_AT(group, &f->groups, i).is_new) as_plan_free(AS_AT(group, &f->groups, i).plan);
    }
    as_vec_free(&f->groups);
    as_vec_free(&f->path);
    cache_free(&f->cache);
    free(f->samples);
    free(f->points);
    free(f->values);
    free(f->means);
    free(f->positions);
    free(f->entries);
    free(f->jobs);
}

/* Threads take series in stretches, so that they seldom ask for more. */
enum { SAMPLE_STRETCH = 256 };

static void sample_stretch(void *user, size_t stretch) {
    fitting *f = user;
    size_t end = (stretch + 1) * SAMPLE_STRETCH < f->n ? (stretch + 1) * SAMPLE_STRETCH : f->n;
    for (size_t i = stretch * SAMPLE_STRETCH; i < end; i++) {
        if (!as_samples_take(f->ds, f->choice.series[f->positions[i]], f->options->measure, &f->samples[i])) {
            __atomic_store_n(&f->failed, true, __ATOMIC_RELAXED);
            return;
        }
        f->entries[i] = (entry){hash_points(&f->samples[i]), (uint32_t)i};
    }
}

static bool same_points(const as_samples *a, const assay_id *points, size_t n) {
    return a->n == n && memcmp(a->points, points, n * sizeof *points) == 0;
}

static int compare_entries(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The plan of earlier windows for these points, or NULL. */
static as_plan *known_plan(const fitting *f, const as_samples *samples, uint64_t hash) {
    uint32_t at = as_map_get(&f->cache.by_hash, hash);
    if (at == AS_MAP_NONE) return NULL;
    as_plan *plan = AS_AT(as_plan *, &f->cache.plans, at);
    return same_points(samples, plan->points, plan->n) ? plan : NULL;
}

/* Series with the same points become neighbours; equal hashes of different points only make more groups. */
static bool group_window(fitting *f) {
    bool is_sorted = true;
    for (size_t i = 1; is_sorted && i < f->n; i++) is_sorted = f->entries[i].hash == f->entries[i - 1].hash;
    if (!is_sorted) qsort(f->entries, f->n, sizeof *f->entries, compare_entries);
    f->groups.count = 0;
    const as_samples *previous = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const as_samples *samples = &f->samples[f->entries[i].index];
        f->jobs[i] = (as_job){f->positions[f->entries[i].index], samples};
        if (!previous || !same_points(samples, previous->points, previous->n)) {
            group *g = as_vec_push(&f->groups);
            if (!g) return false;
            *g = (group){.first = i, .plan = known_plan(f, samples, f->entries[i].hash)};
            g->is_new = !g->plan;
        }
        AS_AT(group, &f->groups, f->groups.count - 1).n++;
        previous = samples;
    }
    return true;
}

static void make_plan(void *user, size_t i) {
    fitting *f = user;
    group *g = &AS_AT(group, &f->groups, i);
    if (!g->is_new) return;
    const as_samples *samples = f->jobs[g->first].samples;
    bool is_ragged = samples->n < f->ds->n_points;
    g->plan = as_plan_new(f->ds, f->options, samples->points, samples->n, is_ragged);
}

/* Plans made for this window, kept for the next ones while there is room. A full cache begins anew. False when memory
 * is out. */
static bool keep_plans(fitting *f) {
    if (f->cache.size > PLANS_SIZE) {
        cache_free(&f->cache);
        cache_init(&f->cache);
    }
    for (size_t i = 0; i < f->groups.count; i++) {
        group *g = &AS_AT(group, &f->groups, i);
        if (!g->is_new || !g->plan) continue;
        if (f->cache.size > PLANS_SIZE) {
            as_plan_free(g->plan);
            g->plan = NULL;
            continue;
        }
        g->plan->hash = f->entries[g->first].hash;
        as_plan **place = as_vec_push(&f->cache.plans);
        if (!place) return false;
        *place = g->plan;
        g->is_new = false;
        f->cache.size += as_plan_size(g->plan);
        if (!as_map_put(&f->cache.by_hash, g->plan->hash, (uint32_t)f->cache.plans.count - 1)) return false;
    }
    return true;
}

static void run_task(void *user, size_t i) {
    fitting *f = user;
    task *t = &AS_AT(task, &f->tasks, i);
    t->failed = !as_plan_run(t->group->plan, f->jobs + t->first, t->n, &t->bytes);
}

static bool make_tasks(fitting *f) {
    free_tasks(f);
    for (size_t i = 0; i < f->groups.count; i++) {
        const group *g = &AS_AT(group, &f->groups, i);
        for (size_t at = 0; at < g->n; at += JOBS_PER_TASK) {
            task *t = as_vec_push(&f->tasks);
            if (!t) return false;
            *t = (task){.group = g, .first = g->first + at, .n = g->n - at < JOBS_PER_TASK ? g->n - at : JOBS_PER_TASK};
            as_vec_init(&t->bytes, 1, NULL);
        }
    }
    return true;
}

/* Samples and models the series of the window; what was made is in the tasks. */
static bool run_window(fitting *f) {
    unsigned threads = f->options->threads;
    as_parallel((f->n + SAMPLE_STRETCH - 1) / SAMPLE_STRETCH, threads, sample_stretch, f);
    if (f->failed || !group_window(f)) return false;
    as_parallel(f->groups.count, threads, make_plan, f);
    bool fine = true;
    for (size_t i = 0; i < f->groups.count; i++) fine = fine && AS_AT(group, &f->groups, i).plan;
    fine = fine && make_tasks(f);
    if (fine) as_parallel(f->tasks.count, threads, run_task, f);
    for (size_t i = 0; i < f->tasks.count; i++) fine = fine && !AS_AT(task, &f->tasks, i).failed;
    return fine;
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

typedef struct store {
    as_dataset *ds;
    as_fit *fit;
    as_choice choice;
    as_vec terms; /* as_term of one model */
} store;

static as_str exponent_str(as_dataset *ds, as_exponent exponent) {
    char text[AS_NUMBER_SIZE] = "0";
    if (exponent.denominator || exponent.value != 0) as_exponent_text(exponent, text);
    return as_ds_intern_text(ds, text);
}

static bool store_terms(store *s, const as_made *made) {
    s->terms.count = 0;
    for (uint32_t i = 0; i < made->head.n_terms; i++) {
        const as_made_term *from = &made->terms[i];
        as_term *term = as_vec_push(&s->terms);
        if (!term) return false;
        *term = (as_term){.segment = from->segment,
                          .term = from->term,
                          .coefficient = from->coefficient,
                          .parameter = from->parameter,
                          .first_piece = from->first_piece,
                          .n_pieces = from->n_pieces,
                          .exponent = AS_NO_STR,
                          .log_exponent = AS_NO_STR};
        if (from->n_pieces) continue;
        term->exponent = exponent_str(s->ds, from->power.power);
        term->log_exponent = exponent_str(s->ds, from->power.log);
        if (term->exponent == AS_NO_STR || term->log_exponent == AS_NO_STR) return false;
    }
    return true;
}

static bool store_made(store *s, const as_made *made) {
    const as_made_head *head = &made->head;
    const as_series *series = as_ds_series(s->ds, s->choice.series[head->position]);
    as_model model = {.set = s->fit->set,
                      .metric = series->metric,
                      .context = series->context,
                      .function = AS_NO_STR,
                      .raw = AS_NO_STR,
                      .RSS = head->costs.RSS,
                      .rRSS = head->costs.rRSS,
                      .nRSS = head->costs.nRSS,
                      .SMAPE = head->costs.SMAPE,
                      .AR2 = head->costs.AR2,
                      .RE = head->costs.RE,
                      .n_pieces = head->n_pieces};
    if (!store_terms(s, made)) return false;
    size_t n_segments = (size_t)head->n_segments + head->n_pieces;
    if (as_add_model(s->ds, &model, made->segments, n_segments, s->terms.data, s->terms.count) == ASSAY_NONE)
        return false;
    for (uint32_t i = 0; head->n_segments > 1 && i < head->n_segments; i++) {
        const as_costs *c = &made->parts[i];
        as_segment_costs costs = {0, i, c->RSS, c->rRSS, c->nRSS, c->SMAPE, c->AR2, c->RE};
        if (!as_add_segment_costs(s->ds, &costs)) return false;
    }
    as_fit_note *note = &s->fit->notes[s->fit->n++];
    *note = (as_fit_note){.series = s->choice.series[head->position],
                          .flags = head->flags,
                          .n_points = head->n_points,
                          .n_missing = head->n_missing,
                          .rival = AS_NO_STR,
                          .rival_error = head->rival_error,
                          .noise = head->noise};
    if (!head->rival_size) return true;
    note->rival = as_ds_intern(s->ds, made->rival, head->rival_size);
    return note->rival != AS_NO_STR;
}

static int compare_positions(const void *a, const void *b) {
    const as_made *x = a, *y = b;
    return (x->head.position > y->head.position) - (x->head.position < y->head.position);
}

/* Stores what stands in n vectors of bytes, in order of series. */
static bool store_all(store *s, as_vec *const *bytes, size_t n) {
    as_vec made;
    as_vec_init(&made, sizeof(as_made), NULL);
    bool fine = true, is_sorted = true;
    for (size_t i = 0; fine && i < n; i++) {
        as_made one;
        for (size_t at = 0; fine && as_made_next(bytes[i], &at, &one);) {
            is_sorted =
                is_sorted && (!made.count || AS_AT(as_made, &made, made.count - 1).head.position < one.head.position);
            fine = one.head.position < s->choice.n && as_vec_append(&made, &one, 1);
        }
    }
    if (fine && !is_sorted) qsort(made.data, made.count, sizeof(as_made), compare_positions);
    for (size_t i = 0; fine && i < made.count; i++) fine = store_made(s, &AS_AT(as_made, &made, i));
    as_vec_free(&made);
    return fine;
}

static bool store_window(store *s, fitting *f) {
    as_vec **bytes = malloc((f->tasks.count + 1) * sizeof *bytes);
    if (!bytes) return false;
    for (size_t i = 0; i < f->tasks.count; i++) bytes[i] = &AS_AT(task, &f->tasks, i).bytes;
    bool fine = store_all(s, bytes, f->tasks.count);
    free(bytes);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool begin_set(as_dataset *ds, const as_fit_options *options, const char *name, size_t n, as_fit *out) {
    as_model_set set = {.name = as_ds_intern_text(ds, name),
                        .modeler = as_ds_intern_text(ds, as_modeler_name(options->modeler)),
                        .measure = as_ds_intern_text(ds, as_statistic_name(options->measure)),
                        .raw = AS_NO_STR,
                        .options = as_fit_options_json(ds, options)};
    *out = (as_fit){.first_model = (assay_id)ds->models.count, .options = *options};
    out->notes = malloc((n + 1) * sizeof *out->notes);
    if (set.name == AS_NO_STR || set.modeler == AS_NO_STR || set.measure == AS_NO_STR || set.options == AS_NO_STR ||
        !out->notes)
        return false;
    out->set = as_add_model_set(ds, &set);
    return out->set != ASSAY_NONE;
}

/* Whether the call path is this process's; f->failed when memory is out. Series of one call path are often
 * neighbours. */
static bool owns(fitting *f, assay_id context) {
    if (!f->share || context == f->asked) return f->is_own;
    as_share share = {f->share->index, f->share->count};
    f->failed |= !as_context_path(f->ds, context, &f->path);
    f->asked = context;
    f->is_own = !f->failed && as_share_has(share, f->path.data, f->path.count - 1);
    return f->is_own;
}

/* The series of the next window: all, or this process's share of them. */
static void next_window(fitting *f, size_t *next) {
    for (f->n = 0; f->n < f->capacity && *next < f->choice.n; ++*next) {
        if (owns(f, as_ds_series(f->ds, f->choice.series[*next])->context)) f->positions[f->n++] = (uint32_t)*next;
    }
}

/* Models all windows; each is stored at once, or (shared) kept in bytes. */
static assay_status run_windows(fitting *f, store *s, as_vec *bytes, as_fit_progress progress, void *user,
                                assay_error *error) {
    size_t next = 0;
    while (next < f->choice.n) {
        next_window(f, &next);
        bool fine = run_window(f);
        if (fine && !f->share) fine = store_window(s, f);
        for (size_t i = 0; fine && f->share && i < f->tasks.count; i++) {
            const as_vec *made = &AS_AT(task, &f->tasks, i).bytes;
            fine = as_vec_append(bytes, made->data, made->count);
        }
        if (!fine || !keep_plans(f)) return as_fail_memory(error, NULL);
        if (progress && !progress(user, fmin((double)next / (double)f->choice.n, 1)))
            return as_fail(error, ASSAY_E_CANCELLED, AS_NOWHERE, "", "cancelled");
    }
    return ASSAY_OK;
}

static assay_status share_results(const as_fit_share *share, store *s, as_vec *bytes, assay_error *error) {
    AS_TRY(share->exchange(share->user, bytes, error));
    as_vec *all[] = {bytes};
    if (share->index != 0) return ASSAY_OK;
    return store_all(s, all, 1) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Drops what a set that was not finished has left behind the models that were there before. */
static void take_back(as_dataset *ds, const as_dataset *before) {
    ds->model_sets.count = before->model_sets.count;
    ds->models.count = before->models.count;
    ds->segments.count = before->segments.count;
    ds->terms.count = before->terms.count;
}

assay_status as_fit_models(as_dataset *ds, const as_fit_options *options, as_choice choice, const char *name,
                           const as_fit_share *share, as_fit_progress progress, void *user, as_fit *out,
                           assay_error *error) {
    fitting f = {.ds = ds, .options = options, .choice = choice, .share = share, .asked = ASSAY_NONE, .is_own = true};
    store s = {.ds = ds, .fit = out, .choice = choice};
    const as_dataset before = *ds;
    as_vec bytes;
    cache_init(&f.cache);
    as_vec_init(&f.groups, sizeof(group), NULL);
    as_vec_init(&f.path, 1, NULL);
    as_vec_init(&f.tasks, sizeof(task), NULL);
    as_vec_init(&s.terms, sizeof(as_term), NULL);
    as_vec_init(&bytes, 1, NULL);
    assay_status status =
        begin_set(ds, options, name, choice.n, out) && make_window(&f) ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = run_windows(&f, &s, &bytes, progress, user, error);
    if (status == ASSAY_OK && share) status = share_results(share, &s, &bytes, error);
    free_fitting(&f);
    as_vec_free(&s.terms);
    as_vec_free(&bytes);
    if (status == ASSAY_OK) return ASSAY_OK;
    take_back(ds, &before);
    as_fit_free(out);
    return status;
}

void as_fit_free(as_fit *fit) {
    free(fit->notes);
    fit->notes = NULL;
}

void as_ds_forget_models(as_dataset *ds) {
    ds->model_sets.count = ds->models.count = ds->segments.count = ds->terms.count = 0;
    ds->segment_costs.count = 0;
}

void as_models_aside_init(as_models_aside *aside, as_dataset *ds) {
    as_vec_init(&aside->model_sets, ds->model_sets.size, &ds->budget);
    as_vec_init(&aside->models, ds->models.size, &ds->budget);
    as_vec_init(&aside->segments, ds->segments.size, &ds->budget);
    as_vec_init(&aside->segment_costs, ds->segment_costs.size, &ds->budget);
    as_vec_init(&aside->terms, ds->terms.size, &ds->budget);
}

void as_models_exchange(as_dataset *ds, as_models_aside *aside) {
    as_models_aside before = {ds->model_sets, ds->models, ds->segments, ds->segment_costs, ds->terms};
    ds->model_sets = aside->model_sets;
    ds->models = aside->models;
    ds->segments = aside->segments;
    ds->segment_costs = aside->segment_costs;
    ds->terms = aside->terms;
    *aside = before;
}

void as_models_aside_free(as_models_aside *aside) {
    as_vec_free(&aside->model_sets);
    as_vec_free(&aside->models);
    as_vec_free(&aside->segments);
    as_vec_free(&aside->segment_costs);
    as_vec_free(&aside->terms);
}

bool as_choice_all(const as_dataset *ds, uint32_t **series, size_t *n) {
    *n = AS_COUNT(ds, series);
    *series = malloc((*n + 1) * sizeof **series);
    for (size_t i = 0; *series && i < *n; i++) (*series)[i] = (uint32_t)i;
    return *series != NULL;
}
