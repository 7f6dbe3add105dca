#include "dataset/profile.h"

#include <stdlib.h>
#include <time.h>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "core/search.h"
#include "dataset/build.h"
#include "dataset/sparse.h"

/* Index of the first of contexts that is not below `context`. */
static uint32_t find_first(const as_profile *profile, assay_id context) {
    uint32_t n = profile->n_rows;
    if (n && profile->contexts[n - 1] - profile->contexts[0] == n - 1) { /* no gaps: the usual case */
        if (context <= profile->contexts[0]) return 0;
        return context - profile->contexts[0] < n ? context - profile->contexts[0] : n;
    }
    return (uint32_t)as_first_not_below(profile->contexts, n, context);
}

uint32_t as_profile_find(const as_profile *profile, assay_id context) {
    uint32_t i = find_first(profile, context);
    return i < profile->n_rows && profile->contexts[i] == context ? i : UINT32_MAX;
}

const as_profile *as_ds_profile(const as_dataset *ds, assay_id metric, assay_id run) {
    uint32_t index = as_map_get(&ds->profile_of, as_pair(metric, run));
    return index == AS_MAP_NONE ? NULL : &AS_AT(as_profile, &ds->profiles, index);
}

/* The values of a metric in a run, with those of other runs where the source keeps them together. */
static const as_block *find_block(const as_dataset *ds, assay_id metric, assay_id run) {
    const as_block *all_runs = as_ds_metric_block(ds, metric);
    uint32_t index = all_runs ? AS_MAP_NONE : as_map_get(&ds->block_of_run, as_pair(metric, run));
    return index == AS_MAP_NONE ? all_runs : as_ds_block(ds, index);
}

as_value_type as_ds_metric_type(const as_dataset *ds, assay_id metric) {
    const as_block *all_runs = as_ds_metric_block(ds, metric), *first = NULL;
    if (all_runs) return as_value_type_of(all_runs->dtype, 0);
    for (assay_id run = 0; run < ds->runs.count; run++) {
        const as_profile *profile = as_ds_profile(ds, metric, run);
        if (profile) return profile->type;
        const as_block *block = find_block(ds, metric, run);
        if (!block) continue;
        if (first && first->dtype != block->dtype) return as_value_type_of(AS_DTYPE_DOUBLE, 0);
        first = block;
    }
    if (first) return as_value_type_of(first->dtype, 0);
    as_value_type type;
    as_str text = as_ds_metric(ds, metric)->dtype;
    bool is_said =
        text != AS_NO_STR && as_value_type_parse(as_ds_text(ds, text), as_str_size(&ds->strings, text), &type);
    return is_said ? type : as_value_type_of(AS_DTYPE_DOUBLE, 0);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static bool is_loaded(const as_profile *profile) { return __atomic_load_n(&profile->is_loaded, __ATOMIC_ACQUIRE); }

assay_status as_profile_load(const as_dataset *ds, const as_profile *profile, assay_error *error) {
    if (is_loaded(profile)) return ASSAY_OK;
    /* Decoding is no change that anybody sees: who holds a dataset for reading may cause it. */
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    as_profile *target = (as_profile *)(uintptr_t)profile;
    assay_status status = ASSAY_OK;
    pthread_mutex_lock(&mutable->loading);
    if (!target->is_loaded) status = target->source->load(target->source, mutable, target, 0, error);
    if (status == ASSAY_OK) __atomic_store_n(&target->is_loaded, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutable->loading);
    return status;
}

assay_status as_ds_load(const as_dataset *ds, assay_id metric, assay_error *error) {
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (metric != ASSAY_NONE && profile->metric != metric) continue;
        assay_error ignored;
        assay_status loaded = as_profile_load(ds, profile, status == ASSAY_OK ? error : &ignored);
        if (status == ASSAY_OK) status = loaded;
    }
    return status;
}

static void report(as_dataset *ds, const assay_error *error) {
    as_place place = {.path = error->path, .offset = error->offset, .line = error->line, .column = error->column};
    as_add_problem(ds, AS_ERROR, place, error->rule, "%s", error->message);
}

/* Stored statistics and traces. False when memory is out. */
static bool check_others(as_dataset *ds) {
    assay_error error;
    const as_summary *summaries;
    size_t n;
    if (!ds->summaries_are_checked) {
        assay_status status = as_ds_summaries(ds, &summaries, &n, &error);
        if (status == ASSAY_E_NOMEM) return false;
        if (status != ASSAY_OK) report(ds, &error);
    }
    ds->summaries_are_checked = true; /* said once */
    assay_status status = as_trace_prepare(ds, &error);
    if (status == ASSAY_E_NOMEM) return false;
    if (status != ASSAY_OK && !ds->traces.is_reported) report(ds, &error);
    ds->traces.is_reported = true;
    return true;
}

/* A profile that as_ds_check() looks at. */
typedef struct checkup {
    const as_dataset *ds;
    as_profile *profile;
    assay_status status;
    assay_error error;
    as_sparse_digest rows, columns; /* of sparse ones */
} checkup;

static void check_sparse(void *user, size_t i) {
    checkup *c = (checkup *)user + i;
    if (as_profile_is_sparse(c->profile))
        c->status = as_sparse_check(c->ds, c->profile, &c->rows, &c->columns, &c->error);
}

/* What contexts have, and what locations have, may lie in different files. */
static void compare_ways(as_dataset *ds, const checkup *c) {
    const char *rule = c->profile->source->mismatch;
    if (!rule || (c->rows.n_values == c->columns.n_values && c->rows.sum == c->columns.sum)) return;
    const as_metric *metric = as_ds_metric(ds, c->profile->metric);
    const char *name = as_ds_text(ds, metric->name);
    as_add_problem(ds, AS_WARNING, as_place_file(as_ds_text(ds, ds->path)), rule,
                   "metric '%s' (%s) is not the same by context and by location: %llu and %llu values%s",
                   name ? name : "", as_kind_name(metric->kind), (unsigned long long)c->rows.n_values,
                   (unsigned long long)c->columns.n_values,
                   c->rows.n_values == c->columns.n_values ? ", which are not the same" : "");
}

enum { CHECKED_AT_ONCE = 16 };

/* Profiles that were not looked at yet, from number *next on, some at once. */
static bool check_some(as_dataset *ds, size_t *next, size_t most) {
    checkup checks[CHECKED_AT_ONCE];
    size_t n = 0;
    for (; *next < ds->profiles.count && n < most; ++*next) {
        as_profile *profile = &AS_AT(as_profile, &ds->profiles, *next);
        if (!profile->is_checked) checks[n++] = (checkup){.ds = ds, .profile = profile};
    }
    as_parallel(n, 0, check_sparse, checks);
    for (size_t i = 0; i < n; i++) {
        if (!as_profile_is_sparse(checks[i].profile)) /* one by one: what is found has its order */
            checks[i].status = as_profile_load(ds, checks[i].profile, &checks[i].error);
        if (checks[i].status == ASSAY_E_NOMEM) return false;
        checks[i].profile->is_checked = true;
        if (checks[i].status != ASSAY_OK)
            report(ds, &checks[i].error);
        else if (as_profile_is_sparse(checks[i].profile))
            compare_ways(ds, &checks[i]);
    }
    return true;
}

static bool is_over(const as_patience *patience) { return patience && patience->is_over(patience->user); }

static bool lock_patiently(pthread_mutex_t *lock, const as_patience *patience) {
    static const struct timespec pause = {.tv_nsec = 10000000};
    if (!patience) return pthread_mutex_lock(lock) == 0;
    while (pthread_mutex_trylock(lock) != 0) {
        if (is_over(patience)) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

bool as_ds_check(const as_dataset *ds, const as_patience *patience) {
    as_dataset *mutable = (as_dataset *)(uintptr_t)ds;
    size_t most = patience && as_core_count() < CHECKED_AT_ONCE ? as_core_count() : CHECKED_AT_ONCE;
    bool fine = true;
    /* who comes second waits for what the first finds */
    if (!lock_patiently(&mutable->checking, patience)) return false;
    for (size_t next = 0; fine && next < ds->profiles.count;)
        fine = !is_over(patience) && check_some(mutable, &next, most);
    fine = fine && !is_over(patience) && check_others(mutable);
    pthread_mutex_unlock(&mutable->checking);
    return fine;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* The rows of one run in a block: the group of context number i has lo … hi - 1. */
static void rows_of_run(const as_block *block, uint32_t i, assay_id run, uint64_t *lo, uint64_t *hi) {
    uint64_t first = block->starts[i], n = block->starts[i + 1] - first;
    *lo = first;
    *hi = first + n;
    if (!block->runs) {
        if (block->run != run) *hi = *lo;
        return;
    }
    const assay_id *runs = as_block_runs(block, i);
    uint64_t low = as_first_not_below(runs, n, run), high = low;
    while (high < n && runs[high] == run) high++;
    *lo = first + low;
    *hi = first + high;
}

static int compare_ids(const void *a, const void *b) {
    assay_id x = *(const assay_id *)a, y = *(const assay_id *)b;
    return (x > y) - (x < y);
}

/* The groups of a block that a slice is made of. */
struct part {
    const as_block *block;
    assay_id run;
    uint32_t first, end; /* groups that may have rows */
    uint64_t n_rows;     /* rows of all of them in the run */
    uint32_t n_groups;   /* that have any */
};

static struct part find_part(const as_block *block, assay_id run, assay_id first, uint32_t n) {
    struct part part = {.block = block, .run = run};
    part.first = part.end = (uint32_t)as_first_not_below(block->contexts, block->n_contexts, first);
    for (; part.end < block->n_contexts && block->contexts[part.end] - first < n; part.end++) {
        uint64_t lo, hi;
        rows_of_run(block, part.end, run, &lo, &hi);
        part.n_rows += hi - lo;
        part.n_groups += hi > lo;
    }
    return part;
}

/* The different locations of the part's rows, ascending; rows without one count as one more. False when memory is
 * out. */
static bool find_columns(const struct part *part, as_slice *out) {
    out->view.n_columns = 1;
    if (!part->block->locations) return true;
    assay_id *columns = malloc((size_t)(part->n_rows + 1) * sizeof *columns);
    if (!columns) return false;
    size_t n = 0, kept = 0;
    for (uint32_t i = part->first; i < part->end; i++) {
        uint64_t lo, hi;
        rows_of_run(part->block, i, part->run, &lo, &hi);
        for (; lo < hi; lo++) {
            assay_id location = as_block_location(part->block, lo);
            if (!n || columns[n - 1] != location) columns[n++] = location;
        }
    }
    qsort(columns, n, sizeof *columns, compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (!kept || columns[kept - 1] != columns[i]) columns[kept++] = columns[i];
    }
    out->owned[0] = columns;
    out->view.columns = columns;
    out->view.n_columns = kept ? (uint32_t)kept : 1;
    return true;
}

static uint32_t column_of(const as_profile *view, assay_id location) {
    if (!view->columns) return 0;
    const assay_id *found = bsearch(&location, view->columns, view->n_columns, sizeof location, compare_ids);
    return found ? (uint32_t)(found - view->columns) : 0;
}

/* What a run has twice at one place is added up. */
static void add_value(const as_block *block, uint64_t row, void *cell) {
    if (block->dtype == AS_DTYPE_DOUBLE)
        *(double *)cell += ((const double *)block->values)[row];
    else
        *(uint64_t *)cell += ((const uint64_t *)block->values)[row]; /* two's complement: signed ones, too */
}

static bool fill_slice(const as_dataset *ds, const struct part *part, as_slice *out) {
    size_t cells = (size_t)part->n_groups * out->view.n_columns; /* of 32 bits both */
    if (!as_budget_allows(&ds->budget, 8 * (uint64_t)cells)) return false;
    assay_id *contexts = malloc((part->n_groups + 1) * sizeof *contexts);
    char *values = calloc(cells + 1, 8);
    out->owned[1] = contexts;
    out->owned[2] = values;
    if (!contexts || !values) return false;
    uint32_t n = 0;
    for (uint32_t i = part->first; i < part->end; i++) {
        uint64_t lo, hi;
        rows_of_run(part->block, i, part->run, &lo, &hi);
        if (lo == hi) continue;
        for (; lo < hi; lo++) {
            uint32_t column = column_of(&out->view, as_block_location(part->block, lo));
            add_value(part->block, lo, values + ((size_t)n * out->view.n_columns + column) * 8);
        }
        contexts[n++] = part->block->contexts[i];
    }
    out->view.contexts = contexts;
    out->view.values = values;
    out->view.n_rows = n;
    return true;
}

/* Only the rows asked for: who looks at one context need not wait for all. */
static assay_status open_sparse(const as_dataset *ds, const as_profile *profile, as_slice *out, assay_error *error) {
    out->view = *profile;
    as_vec_init(&out->contexts, sizeof(assay_id), as_ds_budget(ds));
    as_vec_init(&out->values, sizeof(double), as_ds_budget(ds));
    size_t n = AS_COUNT(ds, contexts), beyond = out->first < n ? n - out->first : 0;
    uint32_t n_contexts = out->n < beyond ? out->n : (uint32_t)beyond;
    AS_TRY(as_sparse_rows(profile, out->first, n_contexts, &out->contexts, &out->values, error));
    out->view.source = NULL; /* from here on like any other */
    out->view.is_loaded = true;
    out->view.contexts = out->contexts.data;
    out->view.values = out->values.data;
    out->view.n_rows = (uint32_t)out->contexts.count;
    return ASSAY_OK;
}

assay_status as_slice_open(const as_dataset *ds, assay_id metric, assay_id run, assay_id first, uint32_t n,
                           as_slice *out, assay_error *error) {
    *out =
        (as_slice){.view = {.metric = metric, .run = run, .n_columns = 1, .is_loaded = true}, .first = first, .n = n};
    out->view.type = as_value_type_of(AS_DTYPE_DOUBLE, 0);
    const as_profile *profile = as_ds_profile(ds, metric, run);
    if (profile && as_profile_is_sparse(profile) && !is_loaded(profile)) return open_sparse(ds, profile, out, error);
    if (profile) {
        AS_TRY(as_profile_load(ds, profile, error));
        out->view = *profile;
        uint32_t low = find_first(profile, first);
        uint32_t end = n > UINT32_MAX - first ? profile->n_rows : find_first(profile, first + n);
        out->view.contexts += low;
        if (out->view.rows)
            out->view.rows += low;
        else
            out->view.values += (size_t)low * profile->n_columns * profile->type.size;
        out->view.n_rows = end - low;
        return ASSAY_OK;
    }
    const as_block *block = find_block(ds, metric, run);
    if (!block) return ASSAY_OK;
    out->view.type = as_value_type_of(block->dtype, 0);
    struct part part = find_part(block, run, first, n);
    if (find_columns(&part, out) && fill_slice(ds, &part, out)) return ASSAY_OK;
    as_slice_close(out);
    return as_fail_memory(error, NULL);
}

assay_status as_slice_open_all(const as_dataset *ds, assay_id metric, assay_id run, as_slice *out, assay_error *error) {
    return as_slice_open(ds, metric, run, 0, (uint32_t)AS_COUNT(ds, contexts), out, error);
}

/* False: the sum is beyond 64 bits. */
static bool add_exactly(const as_block *block, uint64_t row, void *cell) {
    if (block->dtype == AS_DTYPE_DOUBLE) {
        add_value(block, row, cell);
        return true;
    }
    if (block->dtype == AS_DTYPE_INT64)
        return !__builtin_add_overflow(*(int64_t *)cell, ((const int64_t *)block->values)[row], (int64_t *)cell);
    return !__builtin_add_overflow(*(uint64_t *)cell, ((const uint64_t *)block->values)[row], (uint64_t *)cell);
}

/* False: a sum is beyond 64 bits. As with columns, a context has a row where it has any values, unless nobody has one
 * at a place that is wanted. */
static bool fill_sums(const struct part *part, const bool *wanted, assay_id *contexts, char *values, uint32_t *n_rows) {
    uint32_t n = 0;
    bool has_any = !wanted;
    for (uint32_t i = part->first; i < part->end; i++) {
        uint64_t lo, hi;
        rows_of_run(part->block, i, part->run, &lo, &hi);
        if (lo == hi) continue;
        for (; lo < hi; lo++) {
            assay_id location = as_block_location(part->block, lo);
            if (wanted && (location == ASSAY_NONE || !wanted[location])) continue;
            has_any = true;
            if (!add_exactly(part->block, lo, values + (size_t)n * 8)) return false;
        }
        contexts[n++] = part->block->contexts[i];
    }
    *n_rows = has_any ? n : 0;
    return true;
}

assay_status as_slice_open_sums(const as_dataset *ds, assay_id metric, assay_id run, assay_id first, uint32_t n,
                                const bool *wanted, as_slice *out, bool *is_done, assay_error *error) {
    *out =
        (as_slice){.view = {.metric = metric, .run = run, .n_columns = 1, .is_loaded = true}, .first = first, .n = n};
    *is_done = false;
    const as_block *block = as_ds_profile(ds, metric, run) ? NULL : find_block(ds, metric, run);
    if (!block || !block->locations) return ASSAY_OK;
    struct part part = find_part(block, run, first, n);
    bool fine = as_budget_allows(&ds->budget, (uint64_t)part.n_groups * (8 + sizeof(assay_id)));
    out->owned[1] = fine ? malloc(((size_t)part.n_groups + 1) * sizeof(assay_id)) : NULL;
    out->owned[2] = fine ? calloc((size_t)part.n_groups + 1, 8) : NULL;
    fine = out->owned[1] && out->owned[2];
    if (fine) *is_done = fill_sums(&part, wanted, out->owned[1], out->owned[2], &out->view.n_rows);
    out->view.type = as_value_type_of(block->dtype, 0);
    out->view.contexts = out->owned[1];
    out->view.values = out->owned[2];
    if (!*is_done) as_slice_close(out);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Some columns of all rows, in pieces for several threads. */
typedef struct narrowing {
    const as_profile *view;
    const uint32_t *from;
    size_t n;
    char *values;
} narrowing;

enum { ROWS_AT_ONCE = 1 << 12 };

static void narrow_piece(void *user, size_t piece) {
    const narrowing *w = user;
    size_t size = w->view->type.size, first = piece * ROWS_AT_ONCE;
    char *to = w->values + first * w->n * size;
    for (size_t row = first; row < w->view->n_rows && row - first < ROWS_AT_ONCE; row++) {
        const char *old = as_profile_row(w->view, (uint32_t)row);
        for (size_t i = 0; i < w->n; i++, to += size) memcpy(to, old + w->from[i] * size, size);
    }
}

bool as_slice_narrow(as_slice *slice, const bool *wanted) {
    as_profile *view = &slice->view;
    size_t size = view->type.size, n = 0, bytes;
    assay_id *columns = malloc(((size_t)view->n_columns + 1) * sizeof *columns);
    uint32_t *from = malloc(((size_t)view->n_columns + 1) * sizeof *from);
    for (uint32_t i = 0; columns && from && view->columns && i < view->n_columns; i++) {
        if (view->columns[i] == ASSAY_NONE || !wanted[view->columns[i]]) continue; /* no place is nobody's */
        columns[n] = view->columns[i];
        from[n++] = i;
    }
    bool fits = as_mul_size(view->n_rows, n * size, &bytes);
    char *values = fits ? as_large_array(bytes, 1) : NULL;
    bool fine = columns && from && values;
    narrowing w = {view, from, n, values};
    if (fine) as_parallel((view->n_rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, 0, narrow_piece, &w);
    free(from);
    if (!fine) {
        free(columns);
        free(values);
        return false;
    }
    free(slice->owned[0]);
    free(slice->owned[2]);
    slice->owned[0] = columns;
    slice->owned[2] = values;
    view->columns = columns;
    view->n_columns = (uint32_t)n;
    view->values = values;
    view->rows = NULL;
    if (n == 0) view->n_rows = 0;
    return true;
}

bool as_slice_drop(as_slice *slice, const bool *dropped) {
    as_profile *view = &slice->view;
    uint32_t n = 0;
    assay_id *contexts = malloc(((size_t)view->n_rows + 1) * sizeof *contexts);
    uint32_t *rows = malloc(((size_t)view->n_rows + 1) * sizeof *rows);
    for (uint32_t i = 0; contexts && rows && i < view->n_rows; i++) {
        if (dropped[view->contexts[i]]) continue;
        contexts[n] = view->contexts[i];
        rows[n++] = view->rows ? view->rows[i] : i;
    }
    if (!contexts || !rows) {
        free(contexts);
        free(rows);
        return false;
    }
    free(slice->owned[1]);
    free(slice->owned[3]);
    slice->owned[1] = contexts;
    slice->owned[3] = rows;
    view->contexts = contexts;
    view->rows = rows;
    view->n_rows = n;
    return true;
}

void as_slice_close(as_slice *slice) {
    for (size_t i = 0; i < sizeof slice->owned / sizeof *slice->owned; i++) free(slice->owned[i]);
    as_vec_free(&slice->contexts);
    as_vec_free(&slice->values);
    *slice = (as_slice){0};
}
