/* The table measurement: the statistics of each series at each point, as stored or computed from the values, one series
 * at a time. */
#include <stdlib.h>

#include "query/tables.h"

enum { POINT, METRIC, CONTEXT };
enum { HAS_POINT = 1 << POINT, HAS_METRIC = 1 << METRIC, HAS_CONTEXT = 1 << CONTEXT };
enum { BY_CONTEXT, BY_METRIC }; /* indexes of the table, over series */

typedef struct measurement_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    as_vec rows; /* as_measurement: those of one series */
    size_t row;
    size_t series;        /* that rows belongs to */
    const uint32_t *list; /* numbers of series to look at, or NULL: all of them */
    size_t next, n;
    unsigned given;
    assay_id keys[3];
    bool is_out_of_memory;
} measurement_cursor;

static int measurement_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    static const int order[] = {POINT, -1};
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    unsigned plan = as_take_ids(info, 3);
    double series = (double)AS_COUNT(ds, series), points = (double)ds->n_points;
    if (plan & HAS_METRIC && AS_COUNT(ds, metrics) > 1) series /= (double)AS_COUNT(ds, metrics);
    if (plan & HAS_CONTEXT && AS_COUNT(ds, contexts) > 1) series /= (double)AS_COUNT(ds, contexts);
    double rows = plan & HAS_POINT ? series : series * points;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = 10 + series * points * 4 + rows; /* all points of a series are computed together */
    bool one_series = (plan & (HAS_METRIC | HAS_CONTEXT)) == (HAS_METRIC | HAS_CONTEXT);
    info->orderByConsumed = one_series && as_order_fits(info, order, plan);
    return SQLITE_OK;
}

static int measurement_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    measurement_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    as_vec_init(&cursor->rows, sizeof(as_measurement), NULL);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int measurement_close(sqlite3_vtab_cursor *base) {
    as_vec_free(&((measurement_cursor *)base)->rows);
    free(base);
    return SQLITE_OK;
}

static bool collect(void *user, const as_measurement *measurement) {
    measurement_cursor *cursor = user;
    if (cursor->given & HAS_POINT && measurement->point != cursor->keys[POINT]) return true;
    if (!as_vec_append(&cursor->rows, measurement, 1)) cursor->is_out_of_memory = true;
    return !cursor->is_out_of_memory;
}

static bool is_wanted(const measurement_cursor *cursor, const as_series *series) {
    if (cursor->given & HAS_METRIC && series->metric != cursor->keys[METRIC]) return false;
    return !(cursor->given & HAS_CONTEXT) || series->context == cursor->keys[CONTEXT];
}

/* Fills rows from the next series that has any. */
static int next_series(measurement_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    cursor->row = 0;
    cursor->rows.count = 0;
    while (cursor->rows.count == 0 && cursor->next < cursor->n) {
        cursor->series = cursor->list ? cursor->list[cursor->next] : cursor->next;
        cursor->next++;
        const as_series *series = as_ds_series(ds, cursor->series);
        if (!is_wanted(cursor, series)) continue;
        if (!as_measure(ds, series, collect, cursor) || cursor->is_out_of_memory) return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

static int measurement_next(sqlite3_vtab_cursor *base) {
    measurement_cursor *cursor = (measurement_cursor *)base;
    if (++cursor->row < cursor->rows.count) return SQLITE_OK;
    return next_series(cursor);
}

static int measurement_eof(sqlite3_vtab_cursor *base) {
    return ((measurement_cursor *)base)->row >= ((measurement_cursor *)base)->rows.count;
}

static uint64_t series_metric(void *user, size_t row) { return as_ds_series(user, row)->metric; }
static uint64_t series_context(void *user, size_t row) { return as_ds_series(user, row)->context; }

static bool find_series(measurement_cursor *cursor, unsigned number, as_index_hash *hash, assay_id id) {
    const as_dataset *ds = cursor->table->view->ds;
    as_index *index = &cursor->table->indexes[number];
    if (!as_index_is_built(index) && !as_index_build(index, AS_COUNT(ds, series), hash, (void *)ds)) return false;
    uint32_t n;
    cursor->list = as_index_find(index, id, &n);
    cursor->n = n;
    return true;
}

static int measurement_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                              sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    measurement_cursor *cursor = (measurement_cursor *)base;
    cursor->list = NULL;
    cursor->next = 0;
    cursor->n = AS_COUNT(cursor->table->view->ds, series);
    cursor->is_out_of_memory = false;
    assay_error error;
    if (AS_COUNT(cursor->table->view->ds, series) &&
        as_ds_load(cursor->table->view->ds, ASSAY_NONE, &error) != ASSAY_OK)
        return as_vtab_fail(cursor->table, &error);
    if (!as_read_ids(plan, argv, 3, cursor->keys, &cursor->given))
        cursor->n = 0;
    else if (cursor->given & HAS_CONTEXT) {
        if (!find_series(cursor, BY_CONTEXT, series_context, cursor->keys[CONTEXT])) return SQLITE_NOMEM;
    } else if (cursor->given & HAS_METRIC && !find_series(cursor, BY_METRIC, series_metric, cursor->keys[METRIC]))
        return SQLITE_NOMEM;
    return next_series(cursor);
}

static int measurement_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const measurement_cursor *cursor = (measurement_cursor *)base;
    const as_measurement *row = &AS_AT(as_measurement, &cursor->rows, cursor->row);
    switch (column) {
    case POINT: as_result_id(context, row->point); break;
    case METRIC: as_result_id(context, row->metric); break;
    case CONTEXT: as_result_id(context, row->context); break;
    case 3: sqlite3_result_double(context, row->mean); break;
    case 4: sqlite3_result_double(context, row->median); break;
    case 5: sqlite3_result_double(context, row->minimum); break;
    case 6: sqlite3_result_double(context, row->maximum); break;
    case 7: sqlite3_result_double(context, row->std); break;
    default:
        if (row->repetitions < 0)
            sqlite3_result_null(context);
        else
            sqlite3_result_int64(context, row->repetitions);
    }
    return SQLITE_OK;
}

/* Unique whatever conditions the walk had: the series, and the point in it. */
static int measurement_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    const measurement_cursor *cursor = (measurement_cursor *)base;
    uint32_t point = AS_AT(as_measurement, &cursor->rows, cursor->row).point;
    *rowid = (sqlite3_int64)((uint64_t)cursor->series << 32 | point);
    return SQLITE_OK;
}

const sqlite3_module as_measurement_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = measurement_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = measurement_open,
    .xClose = measurement_close,
    .xFilter = measurement_filter,
    .xNext = measurement_next,
    .xEof = measurement_eof,
    .xColumn = measurement_column,
    .xRowid = measurement_rowid,
};
