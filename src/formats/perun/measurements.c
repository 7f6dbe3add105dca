/* Amounts by size: points of structure-unit-size, and the statistics of each uid at them. */
#include "core/parallel.h"
#include "formats/perun/read.h"

#include <stdlib.h>

enum { SMALL = 1 << 16 }; /* whole sizes below have their points in an array */

/* What is measured: which series and point an amount belongs to. */
typedef struct measuring {
    as_measurement_source source; /* first: the dataset finds the plan by it */
    as_dataset *ds;
    const as_perun *perun;
    uint32_t amount, size; /* columns */
    as_own_column amounts, sizes;
    uint32_t *series; /* by kind; UINT32_MAX: none of its rows is measured */
    uint32_t *small;  /* by whole size: its point */
    as_map others;    /* bits of another size -> point */
    as_vec points;    /* double */
    as_map cells;     /* as_pair(series, point) -> measurement, where there are too many for an array */
    uint32_t *dense;  /* series x points -> measurement */
    size_t n_values;  /* of all measurements */
} measuring;

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool number_slowly(const measuring *plan, uint32_t column, size_t row, double *out) {
    bool is_number;
    *out = as_records_number(plan->perun->records, row, column, &is_number);
    return is_number;
}

static inline bool number_at(const measuring *plan, as_own_column own, uint32_t column, size_t row, double *out) {
    as_own_type type = row < own.count ? own.types[row] : AS_OWN_ABSENT;
    if (type != AS_OWN_REAL && type != AS_OWN_INT) return number_slowly(plan, column, row, out);
    *out = type == AS_OWN_REAL ? own.values[row].r : (double)own.values[row].i;
    return true;
}

/* The size and amount of a row that is measured. */
static inline bool measured_at(const measuring *plan, size_t row, double *size, double *amount) {
    return number_at(plan, plan->sizes, plan->size, row, size) && isfinite(*size) &&
           number_at(plan, plan->amounts, plan->amount, row, amount);
}

/* Whether the row has an amount that counts in the table "value". */
static bool is_value(const measuring *plan, size_t row) {
    const as_perun_kind *kind =
        &AS_AT(as_perun_kind, &plan->perun->kinds, as_records_row_kinds(plan->perun->records)[row]);
    double amount;
    return kind->context != ASSAY_NONE && number_at(plan, plan->amounts, plan->amount, row, &amount);
}

static inline bool is_small(double size) { return size >= 0 && size < SMALL && size == (double)(int32_t)size; }

static uint64_t bits_of(double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return bits;
}

static inline uint32_t point_of(const measuring *plan, double size) {
    return is_small(size) ? plan->small[(int32_t)size] : as_map_get(&plan->others, bits_of(size));
}

/* Where the row is measured: its point, once all are known. */
static inline bool point_at(const measuring *plan, size_t row, uint32_t *point) {
    double size, amount;
    bool is_plain = row < plan->sizes.count && row < plan->amounts.count && plan->sizes.types[row] == AS_OWN_INT &&
                    (uint64_t)plan->sizes.values[row].i < SMALL &&
                    (plan->amounts.types[row] == AS_OWN_REAL || plan->amounts.types[row] == AS_OWN_INT);
    if (is_plain) {
        *point = plan->small[plan->sizes.values[row].i];
        return true;
    }
    if (!measured_at(plan, row, &size, &amount)) return false;
    *point = point_of(plan, size);
    return true;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static bool add_point(measuring *plan, double size) {
    if (plan->points.count >= ASSAY_NONE - 1 || !as_vec_append(&plan->points, &size, 1)) return false;
    uint32_t point = (uint32_t)(plan->points.count - 1);
    if (!is_small(size)) return as_map_put(&plan->others, bits_of(size), point);
    plan->small[(int32_t)size] = point;
    return true;
}

/* All sizes that occur, in ascending order. */
static bool find_points(measuring *plan) {
    size_t n = as_records_rows(plan->perun->records);
    const uint32_t *kinds = as_records_row_kinds(plan->perun->records);
    double size, amount;
    uint32_t point;
    for (size_t row = 0; row < n; row++) {
        if (plan->series[kinds[row]] == UINT32_MAX || !point_at(plan, row, &point))
            plan->source.n_elsewhere += is_value(plan, row);
        else if (point == AS_MAP_NONE && !(measured_at(plan, row, &size, &amount) && add_point(plan, size)))
            return false;
    }
    double *points = plan->points.data;
    if (plan->points.count) qsort(points, plan->points.count, sizeof *points, as_real_compare);
    for (size_t i = 0; i < plan->points.count; i++) {
        if (is_small(points[i]))
            plan->small[(int32_t)points[i]] = (uint32_t)i;
        else if (!as_map_put(&plan->others, bits_of(points[i]), (uint32_t)i))
            return false;
    }
    as_dataset *ds = plan->ds;
    if (!plan->points.count) return true;
    as_str name = as_ds_intern_text(ds, as_perun_dynamic_keys[AS_PERUN_SIZE]);
    ds->n_points = plan->points.count;
    ds->whole_coordinates = true;
    return as_add_parameter(ds, name) != ASSAY_NONE && as_vec_append(&ds->coordinates, points, plan->points.count);
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* A series for each metric and uid of kinds that are measured. */
static bool find_series(measuring *plan) {
    as_map known;
    as_map_init(&known, &plan->ds->budget);
    bool fine = true;
    for (size_t i = 0; i < plan->perun->kinds.count && fine; i++) {
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &plan->perun->kinds, i);
        plan->series[i] = UINT32_MAX;
        if (kind->uid_context == ASSAY_NONE) continue;
        uint64_t key = as_pair(kind->metric, kind->uid_context);
        plan->series[i] = as_map_get(&known, key);
        if (plan->series[i] != AS_MAP_NONE) continue;
        as_series series = {.metric = kind->metric, .context = kind->uid_context};
        plan->series[i] = (uint32_t)plan->ds->series.count;
        fine = as_map_put(&known, key, plan->series[i]) && as_vec_append(&plan->ds->series, &series, 1);
    }
    as_map_free(&known);
    return fine;
}

/* Where (series, point) stands in the array of all. */
static size_t place_of(const measuring *plan, uint32_t series, uint32_t point) {
    return (size_t)series * plan->points.count + point;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Appends the measurement of (series, point). */
static bool add_measurement(measuring *plan, uint32_t series, uint32_t point, uint32_t repetitions) {
    as_vec *all = &plan->ds->measurements;
    as_series *of = &AS_AT(as_series, &plan->ds->series, series);
    as_measurement measurement = {
        .point = point, .metric = of->metric, .context = of->context, .repetitions = repetitions};
    if (!of->n_measurements++) of->first_measurement = all->count;
    plan->n_values += repetitions;
    return all->count < AS_MAP_NONE && as_vec_append(all, &measurement, 1);
}

/* Counts the rows of each (series, point), in an array of all of them, and makes the measurements. */
static bool count_dense(measuring *plan, size_t room) {
    size_t n = as_records_rows(plan->perun->records), n_points = plan->points.count;
    const uint32_t *kinds = as_records_row_kinds(plan->perun->records);
    uint32_t point;
    plan->dense =
        as_budget_allows(&plan->ds->budget, room * sizeof *plan->dense) ? calloc(room, sizeof *plan->dense) : NULL;
    if (!plan->dense) return false;
    for (size_t row = 0; row < n; row++) {
        uint32_t series = plan->series[kinds[row]];
        if (series != UINT32_MAX && point_at(plan, row, &point)) plan->dense[place_of(plan, series, point)]++;
    }
    size_t n_cells = 0;
    for (size_t i = 0; i < room; i++) n_cells += plan->dense[i] != 0;
    as_vec_expect(&plan->ds->measurements, plan->ds->measurements.count + n_cells);
    for (size_t i = 0; i < room; i++) {
        uint32_t repetitions = plan->dense[i];
        plan->dense[i] = (uint32_t)plan->ds->measurements.count;
        if (repetitions && !add_measurement(plan, (uint32_t)(i / n_points), (uint32_t)(i % n_points), repetitions))
            return false;
    }
    return true;
}

/* The same where most of them have none. */
static bool count_sparse(measuring *plan) {
    size_t n = as_records_rows(plan->perun->records);
    const uint32_t *kinds = as_records_row_kinds(plan->perun->records);
    uint32_t point;
    as_vec keys;
    as_vec_init(&keys, sizeof(uint64_t), &plan->ds->budget);
    bool fine = true;
    for (size_t row = 0; row < n && fine; row++) {
        uint32_t series = plan->series[kinds[row]];
        if (series == UINT32_MAX || !point_at(plan, row, &point)) continue;
        uint64_t key = as_pair(series, point);
        uint32_t known = as_map_get(&plan->cells, key);
        fine = (known != AS_MAP_NONE || as_vec_append(&keys, &key, 1)) &&
               as_map_put(&plan->cells, key, known == AS_MAP_NONE ? 1 : known + 1);
    }
    if (keys.count) qsort(keys.data, keys.count, sizeof(uint64_t), compare_keys);
    for (size_t i = 0; i < keys.count && fine; i++) {
        uint64_t key = AS_AT(uint64_t, &keys, i);
        uint32_t number = (uint32_t)plan->ds->measurements.count;
        fine = add_measurement(plan, (uint32_t)(key >> 32), (uint32_t)key, as_map_get(&plan->cells, key)) &&
               as_map_put(&plan->cells, key, number);
    }
    as_vec_free(&keys);
    return fine;
}

static uint32_t measurement_of(const measuring *plan, uint32_t series, uint32_t point) {
    return plan->dense ? plan->dense[place_of(plan, series, point)] : as_map_get(&plan->cells, as_pair(series, point));
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static void release_plan(void *object) {
    measuring *plan = object;
    free(plan->series);
    free(plan->small);
    free(plan->dense);
    as_map_free(&plan->others);
    as_map_free(&plan->cells);
    as_vec_free(&plan->points);
    free(plan);
}

/* What as_parallel() works on: the amounts of measurement i are values[starts[i] … starts[i + 1] - 1]. */
typedef struct sorting {
    as_measurement *measurements;
    double *values;
    size_t *starts;
    size_t n;
} sorting;

enum { AT_ONCE = 1024 };

static void measure_some(void *user, size_t part) {
    const sorting *s = user;
    size_t end = (part + 1) * AT_ONCE < s->n ? (part + 1) * AT_ONCE : s->n;
    for (size_t i = part * AT_ONCE; i < end; i++)
        as_statistics(s->values + s->starts[i], s->starts[i + 1] - s->starts[i], &s->measurements[i]);
}

/* Puts the amounts of each measurement next to each other. */
static void deal_amounts(const measuring *plan, sorting *s, size_t *next) {
    size_t n = as_records_rows(plan->perun->records);
    const uint32_t *kinds = as_records_row_kinds(plan->perun->records);
    double size, amount;
    for (size_t row = 0; row < n; row++) {
        uint32_t series = plan->series[kinds[row]];
        if (series != UINT32_MAX && measured_at(plan, row, &size, &amount))
            s->values[next[measurement_of(plan, series, point_of(plan, size))]++] = amount;
    }
}

static bool load(as_measurement_source *source, as_dataset *ds) {
    measuring *plan = (measuring *)source;
    size_t n = ds->measurements.count;
    sorting s = {.measurements = ds->measurements.data, .n = n};
    if (!as_budget_allows(&ds->budget, plan->n_values * sizeof *s.values)) return false;
    s.values = malloc((plan->n_values + 1) * sizeof *s.values);
    s.starts = malloc((n + 1) * sizeof *s.starts);
    size_t *next = malloc((n + 1) * sizeof *next);
    bool fine = s.values && s.starts && next;
    if (fine) {
        s.starts[0] = 0;
        for (size_t i = 0; i < n; i++) s.starts[i + 1] = s.starts[i] + (size_t)s.measurements[i].repetitions;
        memcpy(next, s.starts, n * sizeof *next);
        deal_amounts(plan, &s, next);
        as_parallel((n + AT_ONCE - 1) / AT_ONCE, 0, measure_some, &s);
    }
    free(s.values);
    free(s.starts);
    free(next);
    return fine;
}

static bool each_value(as_measurement_source *source,
                       bool (*visit)(void *user, size_t series, assay_id point, double value), void *user) {
    const measuring *plan = (measuring *)source;
    size_t n = as_records_rows(plan->perun->records);
    const uint32_t *kinds = as_records_row_kinds(plan->perun->records);
    double size, amount;
    for (size_t row = 0; row < n; row++) {
        uint32_t series = plan->series[kinds[row]];
        if (series != UINT32_MAX && measured_at(plan, row, &size, &amount) &&
            !visit(user, series, point_of(plan, size), amount))
            return false;
    }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static measuring *new_plan(as_perun_reading *reading) {
    measuring *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    as_dataset *ds = reading->ds;
    plan->source.load = load;
    plan->source.values = each_value;
    plan->ds = ds;
    plan->perun = reading->perun;
    as_map_init(&plan->others, &ds->budget);
    as_map_init(&plan->cells, &ds->budget);
    as_vec_init(&plan->points, sizeof(double), &ds->budget);
    if (!as_ds_hold(ds, plan, release_plan)) return NULL; /* which released it */
    plan->series = malloc((reading->perun->kinds.count + 1) * sizeof *plan->series);
    plan->small = malloc(SMALL * sizeof *plan->small);
    if (plan->small) memset(plan->small, -1, SMALL * sizeof *plan->small);
    return plan->series && plan->small ? plan : NULL;
}

bool as_perun_measure(as_perun_reading *reading) {
    const as_records *records = reading->perun->records;
    uint32_t amount = as_records_find_column(records, as_perun_dynamic_keys[AS_PERUN_AMOUNT]);
    uint32_t size = as_records_find_column(records, as_perun_dynamic_keys[AS_PERUN_SIZE]);
    if (amount == UINT32_MAX || size == UINT32_MAX) return true;
    measuring *plan = new_plan(reading);
    if (!plan) return false;
    plan->amount = amount;
    plan->size = size;
    plan->amounts = as_records_own(records, amount);
    plan->sizes = as_records_own(records, size);
    if (!find_series(plan) || !find_points(plan)) return false;
    size_t room, rows = as_records_rows(records);
    bool is_dense = as_mul_size(plan->ds->series.count, plan->points.count, &room) && room <= 4 * rows + SMALL;
    if (!room) return true;
    if (!(is_dense ? count_dense(plan, room) : count_sparse(plan))) return false;
    plan->ds->measurement_source = &plan->source;
    return true;
}
