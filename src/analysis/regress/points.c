#include <math.h>
#include <stdlib.h>

#include "analysis/regress/regress.h"
#include "dataset/profile.h"
#include "dataset/records.h"

#define NO_UID "None" /* as Perun writes it */

/* ---- rows of records --------------------------------------------------------------------------------------------- */

/* Where the rows come from: records that share cells, or any table. Rows of a kind have the same uid, and come one
 * behind the other. */
struct rows {
    const as_records *records;
    const as_table *table;
    size_t of, per, uid; /* columns; SIZE_MAX: there is none */
    size_t n, n_kinds;
    const uint32_t *kinds; /* of each row */
    as_vec own_kinds;      /* uint32_t: the same, where the rows share nothing */
    as_vec uids;           /* as_str of each kind, in `names` */
    as_strings names;      /* in the arena of the set */
    as_vec kinds_in_order; /* uint32_t: of first appearance */
    as_vec counts, starts; /* size_t of each kind: rows; where its points begin */
    as_vec filled;         /* size_t of each kind: usable points */
    as_vec unusable;       /* size_t of each uid */
    as_vec uids_in_order;  /* as_str: ascending */
};

static void init_rows(struct rows *rows, as_points_set *set) {
    as_budget *budget = set->arena.budget;
    as_strings_init(&rows->names, &set->arena);
    as_vec_init(&rows->own_kinds, sizeof(uint32_t), budget);
    as_vec_init(&rows->uids, sizeof(as_str), budget);
    as_vec_init(&rows->kinds_in_order, sizeof(uint32_t), budget);
    as_vec_init(&rows->counts, sizeof(size_t), budget);
    as_vec_init(&rows->starts, sizeof(size_t), budget);
    as_vec_init(&rows->filled, sizeof(size_t), budget);
    as_vec_init(&rows->unusable, sizeof(size_t), budget);
    as_vec_init(&rows->uids_in_order, sizeof(as_str), budget);
}

static void free_rows(struct rows *rows) {
    as_vec *all[] = {&rows->own_kinds, &rows->uids,   &rows->kinds_in_order, &rows->counts,
                     &rows->starts,    &rows->filled, &rows->unusable,       &rows->uids_in_order};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) as_vec_free(all[i]);
    as_strings_free(&rows->names);
}

/* n zeros. */
static bool fill(as_vec *vec, size_t n) {
    if (!as_vec_reserve(vec, n ? n : 1)) return false;
    memset(vec->data, 0, n * vec->size);
    vec->count = n;
    return true;
}

static as_str name_of(struct rows *rows, as_cell uid) {
    char digits[AS_NUMBER_SIZE];
    size_t size = 0;
    switch (uid.type) {
    case AS_CELL_NULL: return as_intern(&rows->names, NO_UID, strlen(NO_UID));
    case AS_CELL_INT: size = as_int_format(uid.i, digits); break;
    case AS_CELL_UINT: size = as_uint_format(uid.u, digits); break;
    case AS_CELL_REAL: size = as_real_format_python(uid.r, digits); break;
    default: return as_intern(&rows->names, uid.text, uid.size);
    }
    return as_intern(&rows->names, digits, size);
}

/* Whether uids are what kinds have, never a row's own. */
static bool kinds_have_uids(const struct rows *rows) {
    return rows->records && (rows->uid == SIZE_MAX || as_records_own(rows->records, (uint32_t)rows->uid).count == 0);
}

static bool find_shared_uids(struct rows *rows) {
    rows->n_kinds = as_records_kinds(rows->records);
    rows->kinds = as_records_row_kinds(rows->records);
    for (size_t kind = 0; kind < rows->n_kinds; kind++) {
        as_cell uid = rows->uid == SIZE_MAX
                          ? as_cell_null()
                          : as_records_shared_name(rows->records, (uint32_t)kind, (uint32_t)rows->uid);
        as_str name = name_of(rows, uid);
        if (name == AS_NO_STR || !as_vec_append(&rows->uids, &name, 1)) return false;
    }
    return true;
}

/* All rows of a uid are of one kind, in the order of the table. */
static bool find_own_uids(struct rows *rows) {
    if (!fill(&rows->own_kinds, rows->n)) return false;
    uint32_t *kinds = rows->own_kinds.data;
    for (size_t row = 0; row < rows->n; row++) {
        as_cell uid = rows->uid == SIZE_MAX ? as_cell_null()
                      : rows->records       ? as_records_name(rows->records, row, (uint32_t)rows->uid)
                                            : as_table_get(rows->table, row, rows->uid);
        as_str name = name_of(rows, uid);
        if (name == AS_NO_STR) return false;
        if (name == rows->uids.count && !as_vec_append(&rows->uids, &name, 1)) return false;
        kinds[row] = name;
    }
    rows->kinds = kinds;
    rows->n_kinds = rows->uids.count;
    return true;
}

static bool count_kinds(struct rows *rows) {
    if (!fill(&rows->counts, rows->n_kinds) || !fill(&rows->starts, rows->n_kinds) ||
        !fill(&rows->filled, rows->n_kinds) || !as_vec_reserve(&rows->kinds_in_order, rows->n_kinds + 1))
        return false;
    size_t *counts = rows->counts.data;
    uint32_t *order = rows->kinds_in_order.data;
    for (size_t row = 0; row < rows->n; row++) {
        uint32_t kind = rows->kinds[row];
        if (counts[kind]++ == 0) order[rows->kinds_in_order.count++] = kind;
    }
    return true;
}

static int compare_names(const void *a, const void *b, void *user) {
    const as_strings *names = user;
    as_str x = *(const as_str *)a, y = *(const as_str *)b;
    size_t nx = as_str_size(names, x), ny = as_str_size(names, y);
    int order = memcmp(as_str_text(names, x), as_str_text(names, y), nx < ny ? nx : ny);
    return order ? order : (nx > ny) - (nx < ny);
}

/* Gives each kind its place: uid by uid, the kinds of one in order of first appearance. */
static bool place_kinds(struct rows *rows, as_points_set *set) {
    size_t n_names = rows->names.entries.count, start = 0;
    as_vec sizes; /* size_t of each uid; then where its next kind begins */
    as_vec_init(&sizes, sizeof(size_t), set->arena.budget);
    bool fine = fill(&sizes, n_names) && fill(&rows->unusable, n_names);
    const uint32_t *order = rows->kinds_in_order.data;
    for (size_t i = 0; fine && i < rows->kinds_in_order.count; i++) {
        as_str uid = AS_AT(as_str, &rows->uids, order[i]);
        size_t *size = &AS_AT(size_t, &sizes, uid);
        if (*size == 0) fine = as_vec_append(&rows->uids_in_order, &uid, 1);
        *size += AS_AT(size_t, &rows->counts, order[i]);
    }
    if (fine && rows->uids_in_order.count > 1)
        qsort_r(rows->uids_in_order.data, rows->uids_in_order.count, sizeof(as_str), compare_names, &rows->names);
    for (size_t i = 0; fine && i < rows->uids_in_order.count; i++) {
        size_t *size = &AS_AT(size_t, &sizes, AS_AT(as_str, &rows->uids_in_order, i)), n = *size;
        *size = start;
        start += n;
    }
    for (size_t i = 0; fine && i < rows->kinds_in_order.count; i++) {
        size_t *next = &AS_AT(size_t, &sizes, AS_AT(as_str, &rows->uids, order[i]));
        AS_AT(size_t, &rows->starts, order[i]) = *next;
        *next += AS_AT(size_t, &rows->counts, order[i]);
    }
    as_vec_free(&sizes);
    return fine;
}

static inline bool own_number(const as_records *records, const as_own_column *own, size_t row, size_t column,
                              double *out) {
    as_own_type type = row < own->count ? own->types[row] : AS_OWN_ABSENT;
    bool is_number = true;
    if (type == AS_OWN_INT)
        *out = (double)own->values[row].i;
    else if (type == AS_OWN_REAL)
        *out = own->values[row].r;
    else
        *out = as_records_number(records, row, (uint32_t)column, &is_number);
    return is_number && isfinite(*out);
}

static bool cell_number(as_cell cell, double *out) {
    *out = cell.type == AS_CELL_INT    ? (double)cell.i
           : cell.type == AS_CELL_UINT ? (double)cell.u
           : cell.type == AS_CELL_REAL ? cell.r
                                       : NAN;
    return isfinite(*out);
}

/* Puts the numbers of each row where its kind's go. */
static void take_numbers(struct rows *rows, double *x, double *y) {
    const size_t *starts = rows->starts.data;
    size_t *filled = rows->filled.data;
    as_own_column per = {0}, of = {0};
    if (rows->records) {
        per = as_records_own(rows->records, (uint32_t)rows->per);
        of = as_records_own(rows->records, (uint32_t)rows->of);
    }
    for (size_t row = 0; row < rows->n; row++) {
        uint32_t kind = rows->kinds[row];
        size_t at = starts[kind] + filled[kind];
        bool is_usable = rows->records ? own_number(rows->records, &per, row, rows->per, &x[at]) &&
                                             own_number(rows->records, &of, row, rows->of, &y[at])
                                       : cell_number(as_table_get(rows->table, row, rows->per), &x[at]) &&
                                             cell_number(as_table_get(rows->table, row, rows->of), &y[at]);
        if (is_usable)
            filled[kind]++;
        else
            AS_AT(size_t, &rows->unusable, AS_AT(as_str, &rows->uids, kind))++;
    }
}

/* Closes the gaps that unusable rows left, and tells where the points of each uid are. */
static bool gather(struct rows *rows, as_points_set *set, double *x, double *y) {
    const uint32_t *order = rows->kinds_in_order.data;
    size_t n = rows->uids_in_order.count;
    as_vec index; /* of each uid: its place in the set */
    as_vec_init(&index, sizeof(size_t), set->arena.budget);
    set->points = as_arena_array(&set->arena, n, sizeof *set->points);
    bool fine = set->points && fill(&index, rows->names.entries.count);
    for (size_t i = 0; fine && i < n; i++) {
        as_str uid = AS_AT(as_str, &rows->uids_in_order, i);
        AS_AT(size_t, &index, uid) = i;
        set->points[i] =
            (as_points){.uid = as_str_text(&rows->names, uid), .n_unusable = AS_AT(size_t, &rows->unusable, uid)};
    }
    for (size_t i = 0; fine && i < rows->kinds_in_order.count; i++) {
        as_points *points = &set->points[AS_AT(size_t, &index, AS_AT(as_str, &rows->uids, order[i]))];
        size_t start = AS_AT(size_t, &rows->starts, order[i]), filled = AS_AT(size_t, &rows->filled, order[i]);
        if (!points->x) {
            points->x = x + start;
            points->y = y + start;
        }
        size_t to = (size_t)(points->x - x) + points->n;
        if (to != start) {
            memmove(x + to, x + start, filled * sizeof *x);
            memmove(y + to, y + start, filled * sizeof *y);
        }
        points->n += filled;
    }
    if (fine) set->n = n;
    as_vec_free(&index);
    return fine;
}

static bool read_rows(struct rows *rows, as_points_set *set) {
    bool has_keys = rows->of != SIZE_MAX && rows->per != SIZE_MAX;
    double *x = as_arena_array(&set->arena, rows->n, sizeof *x), *y = as_arena_array(&set->arena, rows->n, sizeof *y);
    if (!x || !y || !(kinds_have_uids(rows) ? find_shared_uids(rows) : find_own_uids(rows)) || !count_kinds(rows) ||
        !place_kinds(rows, set))
        return false;
    if (has_keys) take_numbers(rows, x, y);
    for (size_t kind = 0; !has_keys && kind < rows->n_kinds; kind++)
        AS_AT(size_t, &rows->unusable, AS_AT(as_str, &rows->uids, kind)) += AS_AT(size_t, &rows->counts, kind);
    return gather(rows, set, x, y);
}

static size_t find_column(const struct rows *rows, const char *name) {
    if (!rows->records) return as_table_find_column(rows->table, name);
    uint32_t column = as_records_find_column(rows->records, name);
    return column == UINT32_MAX ? SIZE_MAX : column;
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

struct measuring {
    const as_dataset *ds;
    size_t parameter;
    as_vec x, y; /* double */
    size_t n_unusable;
    bool failed;
};

static bool add_measurement(void *user, const as_measurement *measurement) {
    struct measuring *m = user;
    double x = as_ds_point(m->ds, measurement->point)[m->parameter], y = measurement->mean;
    if (!isfinite(x) || !isfinite(y))
        m->n_unusable++;
    else
        m->failed = !as_vec_append(&m->x, &x, 1) || !as_vec_append(&m->y, &y, 1);
    return !m->failed;
}

static const double *keep(as_points_set *set, const as_vec *numbers) {
    double *copy = as_arena_array(&set->arena, numbers->count, sizeof *copy);
    if (copy && numbers->count) memcpy(copy, numbers->data, numbers->count * sizeof *copy);
    return copy;
}

static bool measure_series(struct measuring *m, const as_series *series, as_vec *path, as_vec *points,
                           as_points_set *set) {
    m->x.count = m->y.count = m->n_unusable = 0;
    if (!as_measure(m->ds, series, add_measurement, m) || m->failed || !as_context_path(m->ds, series->context, path))
        return false;
    as_points one = {.uid = as_arena_copy(&set->arena, path->data, path->count - 1),
                     .x = keep(set, &m->x),
                     .y = keep(set, &m->y),
                     .n = m->x.count,
                     .n_unusable = m->n_unusable};
    return one.uid && one.x && one.y && as_vec_append(points, &one, 1);
}

/* Of equal ones first the one that was read first. */
static int compare_points(const void *a, const void *b, void *user) {
    const as_points *points = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(points[x].uid, points[y].uid);
    return order ? order : (x > y) - (x < y);
}

static bool sort_points(as_points_set *set, const as_vec *points) {
    size_t n = points->count, *order = as_arena_array(&set->arena, n, sizeof *order);
    set->points = as_arena_array(&set->arena, n, sizeof *set->points);
    if (!order || !set->points) return false;
    for (size_t i = 0; i < n; i++) order[i] = i;
    if (n) qsort_r(order, n, sizeof *order, compare_points, points->data);
    for (size_t i = 0; i < n; i++) set->points[i] = AS_AT(as_points, points, order[i]);
    set->n = n;
    return true;
}

/* ASSAY_NONE: there is no such metric, or none at all. */
static assay_id find_metric(const as_dataset *ds, const char *name) {
    if (!name) return AS_COUNT(ds, series) ? as_ds_series(ds, 0)->metric : ASSAY_NONE;
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const char *known = as_ds_text(ds, as_ds_metric(ds, id)->name);
        if (known && strcmp(known, name) == 0) return id;
    }
    return ASSAY_NONE;
}

static bool find_parameter(const as_dataset *ds, const char *name, size_t *out) {
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        *out = i;
        if (!name || strcmp(as_ds_parameter(ds, i), name) == 0) return true;
    }
    return false;
}

static bool measure_metric(struct measuring *m, assay_id metric, as_points_set *set) {
    as_vec path, points;
    as_vec_init(&path, 1, set->arena.budget);
    as_vec_init(&points, sizeof(as_points), set->arena.budget);
    bool fine = true;
    for (size_t i = 0; fine && i < AS_COUNT(m->ds, series); i++) {
        const as_series *series = as_ds_series(m->ds, i);
        if (series->metric == metric) fine = measure_series(m, series, &path, &points, set);
    }
    fine = fine && sort_points(set, &points);
    as_vec_free(&path);
    as_vec_free(&points);
    return fine;
}

static assay_status find_measured(const as_dataset *ds, const as_points_request *request, as_points_set *set,
                                  assay_error *error) {
    struct measuring m = {.ds = ds};
    assay_id metric = find_metric(ds, request->metric ? request->metric : request->of);
    if (metric == ASSAY_NONE || !find_parameter(ds, request->per, &m.parameter)) return ASSAY_OK;
    AS_TRY(as_ds_load(ds, metric, error));
    const char *of = as_ds_text(ds, as_ds_metric(ds, metric)->name), *per = as_ds_parameter(ds, m.parameter);
    set->is_measured = true;
    set->of = as_arena_copy(&set->arena, of ? of : "", of ? strlen(of) : 0);
    set->per = as_arena_copy(&set->arena, per, strlen(per));
    as_vec_init(&m.x, sizeof(double), set->arena.budget);
    as_vec_init(&m.y, sizeof(double), set->arena.budget);
    bool fine = set->of && set->per && measure_metric(&m, metric, set);
    as_vec_free(&m.x);
    as_vec_free(&m.y);
    return fine ? ASSAY_OK : as_fail_memory(error, as_ds_text(ds, ds->path));
}

/* ---- the set ----------------------------------------------------------------------------------------------------- */

assay_status as_points_find(const as_dataset *ds, const as_points_request *request, as_points_set *out,
                            assay_error *error) {
    *out = (as_points_set){0};
    as_arena_init(&out->arena, as_ds_budget(ds));
    const char *of = request->of ? request->of : "amount", *per = request->per ? request->per : "structure-unit-size";
    struct rows rows = {.records = as_ds_shared_records(ds, "record"), .table = as_ds_records(ds, "record")};
    rows.uid = rows.table ? find_column(&rows, "uid") : SIZE_MAX;
    rows.of = rows.table ? find_column(&rows, of) : SIZE_MAX;
    rows.per = rows.table ? find_column(&rows, per) : SIZE_MAX;
    if (rows.uid == SIZE_MAX && (rows.of == SIZE_MAX || rows.per == SIZE_MAX))
        return find_measured(ds, request, out, error);
    rows.n = as_table_rows(rows.table);
    out->of = as_arena_copy(&out->arena, of, strlen(of));
    out->per = as_arena_copy(&out->arena, per, strlen(per));
    init_rows(&rows, out);
    bool fine = out->of && out->per && read_rows(&rows, out);
    free_rows(&rows);
    return fine ? ASSAY_OK : as_fail_memory(error, as_ds_text(ds, ds->path));
}

void as_points_free(as_points_set *set) {
    as_arena_free(&set->arena);
    set->points = NULL;
    set->n = 0;
}
