/* Profiles of a set: those of its files, with the ids of the set. Rows that mean the same path are added up; all others
 * stay where they are. */
#include <stdlib.h>

#include "formats/cube/set.h"

typedef struct set_source {
    as_profile_source source; /* first: it is one */
    as_dataset *part;
    const as_profile *from;
    uint32_t n_from;         /* rows of from */
    const uint32_t *order;   /* indices of from's contexts in the order of the set's; NULL: as they are */
    const assay_id *targets; /* and what each is in the set, with repeats where there are some */
    bool adds;               /* there are */
    bool columns_ascend;
    const assay_id *columns; /* of from, in the set */
    as_value_type type;      /* of from */
} set_source;

/* ---- adding rows ------------------------------------------------------------------------------------------------- */

/* A sum never becomes what is taken for a counter below zero. */
static uint64_t add_unsigned(uint64_t a, uint64_t b) {
    uint64_t sum;
    bool fits = !__builtin_add_overflow(a, b, &sum) && (sum <= AS_COUNTER_LIMIT || a == 0 || b == 0);
    return fits ? sum : AS_COUNTER_LIMIT;
}

static int64_t add_signed(int64_t a, int64_t b) {
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

/* Adds a composite value, part by part; what is only kept stays the first. */
static void add_composite(as_value_type type, const char *value, char *to) {
    size_t at = 0;
    if (type.dtype == AS_DTYPE_OPAQUE) return;
    for (uint32_t part = 0; part < type.n_parts; part++) {
        if (type.dtype == AS_DTYPE_TAU_ATOMIC && part == 0) {
            uint32_t a, b;
            memcpy(&a, to, sizeof a);
            memcpy(&b, value, sizeof b);
            a = a > UINT32_MAX - b ? UINT32_MAX : a + b;
            memcpy(to, &a, sizeof a);
            at = sizeof a;
            continue;
        }
        double a, b;
        memcpy(&a, to + at, sizeof a);
        memcpy(&b, value + at, sizeof b);
        a = as_part_combine(as_part_rule_of(type.dtype, part), a, b);
        memcpy(to + at, &a, sizeof a);
        at += sizeof a;
    }
}

#define LOAD(type, address)                                                                                            \
    (__extension__({                                                                                                   \
        type loaded;                                                                                                   \
        memcpy(&loaded, address, sizeof loaded);                                                                       \
        loaded;                                                                                                        \
    }))

/* Adds n numbers of 8 bytes to those at their places. */
static void add_numbers(as_dtype dtype, bool below_zero, const char *wide, const uint32_t *places, uint32_t n,
                        char *to) {
    as_part_rule rule = as_part_rule_of(dtype, 0);
    bool is_unsigned = as_dtype_is_unsigned(dtype), is_integer = as_dtype_is_integer(dtype);
    for (uint32_t k = 0; k < n; k++, wide += 8) {
        char *cell = to + 8 * (size_t)places[k];
        if (!is_integer) {
            double sum = as_part_combine(rule, LOAD(double, cell), LOAD(double, wide));
            memcpy(cell, &sum, sizeof sum);
        } else if (is_unsigned) {
            uint64_t a = LOAD(uint64_t, cell), b = LOAD(uint64_t, wide);
            if (below_zero && a > AS_COUNTER_LIMIT) a = 0;
            if (below_zero && b > AS_COUNTER_LIMIT) b = 0;
            a = add_unsigned(a, b);
            memcpy(cell, &a, sizeof a);
        } else {
            int64_t sum = add_signed(LOAD(int64_t, cell), LOAD(int64_t, wide));
            memcpy(cell, &sum, sizeof sum);
        }
    }
}

/* What a value becomes that others are added to: integers of 8 bytes, so that they do not overflow. */
static as_value_type sum_type(as_value_type type) {
    if (!as_dtype_is_integer(type.dtype)) return type;
    return as_value_type_of(as_dtype_is_unsigned(type.dtype) ? AS_DTYPE_UINT64 : AS_DTYPE_INT64, 0);
}

/* Puts n values of `size` bytes at their places. */
static void put_values(const char *from, size_t size, const uint32_t *places, uint32_t n, char *to) {
    for (uint32_t k = 0; k < n && size == 8; k++) memcpy(to + 8 * (size_t)places[k], from + 8 * (size_t)k, 8);
    for (uint32_t k = 0; k < n && size != 8; k++) memcpy(to + places[k] * size, from + k * size, size);
}

/* The rows in the set's order of contexts and columns. wide: room for a row of numbers of 8 bytes. */
static void fill_rows(const set_source *source, const as_profile *profile, const uint32_t *places, uint64_t *wide,
                      char *values) {
    const as_profile *from = source->from;
    bool is_composite = as_dtype_is_composite(source->type.dtype);
    bool widens = source->adds && !is_composite && source->type.size < sizeof *wide;
    size_t size = profile->type.size;
    uint32_t row = 0;
    for (uint32_t i = 0; i < source->n_from; i++) {
        bool is_first = i == 0 || source->targets[i] != source->targets[i - 1];
        row += i && is_first;
        char *to = values + (size_t)row * profile->n_columns * size;
        const char *numbers = as_profile_row(from, source->order ? source->order[i] : i);
        if (widens) {
            as_values_widen(source->type, numbers, from->n_columns, 0, wide);
            numbers = (const char *)wide;
        }
        if (!source->adds || is_first)
            put_values(numbers, size, places, from->n_columns, to);
        else if (!is_composite)
            add_numbers(source->type.dtype, from->below_zero, numbers, places, from->n_columns, to);
        else
            for (uint32_t k = 0; k < from->n_columns; k++)
                add_composite(source->type, numbers + k * size, to + places[k] * size);
    }
}

typedef struct column_place {
    assay_id location;
    uint32_t column;
} column_place;

static int compare_columns(const void *a, const void *b) {
    const column_place *x = a, *y = b;
    return (x->location > y->location) - (x->location < y->location);
}

/* Where each column of the file goes. NULL when memory is out. */
static uint32_t *find_places(const assay_id *columns, uint32_t n) {
    column_place *sorted = malloc((n + (size_t)1) * sizeof *sorted);
    uint32_t *places = malloc((n + (size_t)1) * sizeof *places);
    for (uint32_t i = 0; i < n && sorted && places; i++) sorted[i] = (column_place){columns[i], i};
    if (sorted && places) qsort(sorted, n, sizeof *sorted, compare_columns);
    for (uint32_t i = 0; i < n && sorted && places; i++) places[sorted[i].column] = i;
    if (!sorted) {
        free(places);
        places = NULL;
    }
    free(sorted);
    return places;
}

static bool copy_rows(const set_source *source, as_dataset *ds, as_profile *profile) {
    size_t row_size = (size_t)profile->n_columns * profile->type.size;
    char *values = as_arena_array(&ds->arena, profile->n_rows, row_size);
    uint64_t *wide = malloc((profile->n_columns + (size_t)1) * sizeof *wide);
    uint32_t *places = find_places(source->columns, profile->n_columns);
    bool fine = values && wide && places;
    if (fine) fill_rows(source, profile, places, wide, values);
    free(places);
    free(wide);
    profile->values = values;
    return fine;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

/* What came up while a file's values were decoded. */
static void carry_problems(as_dataset *ds, const as_dataset *part, size_t first) {
    for (size_t i = first; i < part->problems.count; i++) {
        const as_problem *problem = as_ds_problem(part, i);
        as_place place = {problem->file, problem->offset, problem->line, problem->column};
        as_add_problem(ds, problem->severity, place, problem->rule, "%s", problem->message);
    }
}

/* The rows stay where they are; only their order is another one. */
static bool reorder_rows(const set_source *source, as_dataset *ds, as_profile *profile) {
    profile->values = source->from->values;
    profile->rows = source->from->rows;
    if (!source->order) return true;
    uint32_t *rows = as_arena_array(&ds->arena, profile->n_rows, sizeof *rows);
    for (uint32_t i = 0; i < profile->n_rows && rows; i++) {
        uint32_t k = source->order[i];
        rows[i] = source->from->rows ? source->from->rows[k] : k;
    }
    profile->rows = rows;
    return rows != NULL;
}

static assay_status load(as_profile_source *base, as_dataset *ds, as_profile *profile, unsigned threads,
                         assay_error *error) {
    (void)threads;
    set_source *source = (set_source *)base;
    as_dataset *part = source->part;
    size_t n_problems = part->problems.count;
    AS_TRY(as_profile_load(part, source->from, error));
    carry_problems(ds, part, n_problems);
    profile->below_zero = source->from->below_zero;
    bool copies = source->adds || !source->columns_ascend;
    bool fine = copies ? copy_rows(source, ds, profile) : reorder_rows(source, ds, profile);
    return fine ? ASSAY_OK : as_fail_memory(error, as_ds_text(part, part->path));
}

/* ---- adding them ------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Contexts of the file's rows in the set's order, where that is another one. */
static bool sort_rows(as_dataset *ds, set_source *source, assay_id *targets) {
    size_t n = source->n_from;
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    uint32_t *order = as_arena_array(&ds->arena, n, sizeof *order);
    if (keys && order) {
        for (size_t i = 0; i < n; i++) keys[i] = as_pair(targets[i], (uint32_t)i);
        qsort(keys, n, sizeof *keys, compare_keys);
        for (size_t i = 0; i < n; i++) {
            targets[i] = (assay_id)(keys[i] >> 32);
            order[i] = (uint32_t)keys[i];
            source->adds |= i && targets[i] == targets[i - 1];
        }
    }
    source->order = order;
    free(keys);
    return keys && order;
}

/* The contexts of the profile, each once. */
static bool list_targets(as_dataset *ds, const set_source *source, as_profile *profile) {
    profile->contexts = source->targets;
    profile->n_rows = source->n_from;
    if (!source->adds) return true;
    assay_id *contexts = as_arena_array(&ds->arena, source->n_from, sizeof *contexts);
    uint32_t n = 0;
    for (uint32_t i = 0; i < source->n_from && contexts; i++) {
        if (i == 0 || source->targets[i] != source->targets[i - 1]) contexts[n++] = source->targets[i];
    }
    profile->contexts = contexts;
    profile->n_rows = n;
    return contexts != NULL;
}

static bool find_targets(as_dataset *ds, const as_set_file *file, set_source *source) {
    const assay_id *contexts = source->from->contexts;
    source->targets = contexts;
    if (file->is_same_tree || !source->n_from) return true;
    assay_id *targets = as_arena_array(&ds->arena, source->n_from, sizeof *targets);
    bool ascends = true;
    for (uint32_t i = 0; i < source->n_from && targets; i++) {
        targets[i] = file->contexts[contexts[i]];
        ascends &= !i || targets[i - 1] < targets[i];
    }
    source->targets = targets;
    return targets && (ascends || sort_rows(ds, source, targets));
}

static bool sort_columns(as_dataset *ds, const set_source *source, as_profile *profile) {
    profile->columns = source->columns;
    if (source->columns_ascend) return true;
    assay_id *columns = as_arena_array(&ds->arena, profile->n_columns, sizeof *columns);
    uint32_t *places = find_places(source->columns, profile->n_columns);
    for (uint32_t i = 0; i < profile->n_columns && columns && places; i++) columns[places[i]] = source->columns[i];
    profile->columns = columns;
    free(places);
    return columns && places;
}

static bool add_profile(as_set *set, const as_set_file *file, const as_profile *from, assay_id run, assay_id metric) {
    set_source *source = as_arena_alloc(&set->ds->arena, sizeof *source);
    if (!source) return false;
    *source = (set_source){.source = {.load = load},
                           .part = file->source,
                           .from = from,
                           .n_from = from->n_rows,
                           .columns_ascend = file->columns_ascend,
                           .columns = file->columns,
                           .type = from->type};
    as_profile profile = {.metric = metric,
                          .run = run,
                          .n_columns = from->n_columns,
                          .source = &source->source,
                          .is_packed = from->is_packed};
    if (!find_targets(set->ds, file, source) || !list_targets(set->ds, source, &profile) ||
        !sort_columns(set->ds, source, &profile))
        return false;
    profile.type = source->adds ? sum_type(from->type) : from->type;
    return as_add_profile(set->ds, &profile);
}

/* Whether values of both types can belong to one metric: plain numbers of any width can. */
static bool is_compatible(as_value_type a, as_value_type b) {
    bool is_special = as_dtype_is_composite(a.dtype) || as_dtype_is_composite(b.dtype) ||
                      as_dtype_is_extreme(a.dtype) || as_dtype_is_extreme(b.dtype);
    return !is_special || (a.dtype == b.dtype && a.n_parts == b.n_parts);
}

/* Whether this file's metric is what earlier files have under the name. */
static bool fits(as_set *set, const as_set_file *file, const as_profile *from, assay_id metric) {
    const as_metric *mine = as_ds_metric(file->source, from->metric), *ours = as_ds_metric(set->ds, metric);
    const as_profile *first = NULL;
    for (size_t i = 0; i < set->ds->profiles.count && !first; i++) {
        const as_profile *profile = &AS_AT(as_profile, &set->ds->profiles, i);
        if (profile->metric == metric) first = profile;
    }
    bool same_kind = mine->kind == ours->kind;
    if (same_kind && (!first || is_compatible(first->type, from->type))) return true;
    const char *type = as_ds_text(file->source, mine->dtype), *first_type = as_ds_text(set->ds, ours->dtype);
    as_warn(set->reader, as_place_file(file->path), "metric-differs",
            "metric '%s' has %s values of type %s here, but %s ones of type %s in the first file that has it; those of "
            "this file are left out",
            as_ds_text(set->ds, ours->name), as_kind_name(mine->kind), type ? type : "", as_kind_name(ours->kind),
            first_type ? first_type : "");
    return false;
}

assay_status as_set_add_profiles(as_set *set, const as_set_file *file, assay_id run, const assay_id *metrics) {
    for (size_t i = 0; i < file->source->profiles.count; i++) {
        const as_profile *from = &AS_AT(as_profile, &file->source->profiles, i);
        assay_id metric = metrics[from->metric];
        if (!fits(set, file, from, metric)) continue;
        if (!add_profile(set, file, from, run, metric)) return as_reader_memory(set->reader);
    }
    return ASSAY_OK;
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* At how many points each context has values of one metric. last: room for one number a context. */
static void count_points(const as_dataset *ds, assay_id metric, uint32_t *counts, assay_id *last) {
    memset(last, 0xff, ds->contexts.count * sizeof *last);
    for (assay_id run = 0; run < ds->runs.count; run++) {
        const as_profile *profile = as_ds_profile(ds, metric, run);
        if (!profile || as_dtype_is_composite(profile->type.dtype)) continue;
        assay_id point = as_ds_run(ds, run)->point;
        for (uint32_t i = 0; i < profile->n_rows; i++) {
            assay_id context = profile->contexts[i];
            counts[context] += last[context] != point;
            last[context] = point;
        }
    }
}

assay_status as_set_find_series(as_set *set) {
    as_dataset *ds = set->ds;
    size_t n = ds->contexts.count;
    uint32_t *counts = calloc(n * ds->metrics.count + 1, sizeof *counts);
    assay_id *last = malloc((n + 1) * sizeof *last);
    for (assay_id m = 0; m < ds->metrics.count && counts && last; m++)
        count_points(ds, m, counts + (size_t)m * n, last);
    assay_status status = counts && last ? as_point_set_add_series(set->reader, counts) : as_reader_memory(set->reader);
    free(last);
    free(counts);
    return status;
}
