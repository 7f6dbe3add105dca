/* The table value: rows straight out of the blocks. A scan walks each block from end to end; conditions on metric, context, run and location
 * narrow it to ranges of rows by binary search. */
#include <stdlib.h>

#include "query/tables.h"

enum { RUN, METRIC, CONTEXT, LOCATION, VALUE };
enum { HAS_RUN = 1 << RUN, HAS_METRIC = 1 << METRIC, HAS_CONTEXT = 1 << CONTEXT, HAS_LOCATION = 1 << LOCATION };

typedef struct value_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    const as_block *block;               /* NULL: behind the last row */
    uint64_t row, end;                   /* the range of rows being walked */
    uint32_t context;                    /* an index into block->contexts at or before that of row */
    uint32_t next_context, last_context; /* groups of the block still to be looked at */
    const uint32_t *blocks;              /* numbers of blocks still to be looked at, or NULL: all of them */
    size_t next_block, n_blocks;
    unsigned given; /* HAS_… */
    assay_id keys[4];
} value_cursor;

/* ---- planning -------------------------------------------------------------------------------------------------------- */

/* What the rows are ordered by: one block a metric, or one a metric and run, in ascending order; otherwise nothing is promised. Where a row
 * may lack a location the order by location is not SQL's, which has NULL first. */
static const int *value_order(const as_dataset *ds) {
    static const int nothing[] = {-1};
    static const int by_metric[] = {METRIC, CONTEXT, RUN, LOCATION, -1}, by_metric_only[] = {METRIC, CONTEXT, RUN, -1};
    static const int by_run[] = {METRIC, RUN, CONTEXT, LOCATION, -1}, by_run_only[] = {METRIC, RUN, CONTEXT, -1};
    bool metrics_ascend = true, runs_ascend = true, has_locations = false;
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        const as_block *block = as_ds_block(ds, i);
        has_locations |= block->locations != NULL;
        runs_ascend &= block->runs == NULL;
        if (i == 0) continue;
        const as_block *before = as_ds_block(ds, i - 1);
        metrics_ascend &= block->metric > before->metric;
        runs_ascend &= block->metric > before->metric || (block->metric == before->metric && block->run > before->run);
    }
    if (metrics_ascend) return has_locations ? by_metric_only : by_metric;
    if (runs_ascend) return has_locations ? by_run_only : by_run;
    return nothing;
}

static double share(double rows, size_t n) { return n > 1 ? rows / (double)n : rows; }

static int value_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    unsigned plan = as_take_ids(info, 4);
    double rows = (double)as_ds_values(ds), walked;
    if (plan & HAS_METRIC) rows = share(rows, AS_COUNT(ds, metrics));
    if (plan & HAS_CONTEXT) rows = share(rows, AS_COUNT(ds, contexts));
    walked = rows; /* without a context every group has to be looked at */
    if (plan & HAS_RUN) rows = share(rows, AS_COUNT(ds, runs));
    if (plan & HAS_LOCATION) rows = share(rows, AS_COUNT(ds, locations));
    if (plan & HAS_CONTEXT) walked = rows;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = 10 + rows + (walked - rows) / 8;
    info->orderByConsumed = info->nOrderBy > 0 && as_order_fits(info, value_order(ds), plan);
    return SQLITE_OK;
}

/* ---- walking --------------------------------------------------------------------------------------------------------- */

static int value_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    value_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int value_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

/* The part of lo … hi - 1, where ids ascend, that has this id. */
static void narrow(const assay_id *ids, assay_id id, uint64_t *lo, uint64_t *hi) {
    uint64_t first = *lo, end = *hi;
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (ids[middle] < id)
            first = middle + 1;
        else
            end = middle;
    }
    *lo = first;
    end = *hi;
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (ids[middle] <= id)
            first = middle + 1;
        else
            end = middle;
    }
    *hi = first;
}

/* Sets the next range of the block that can have rows asked for; false when there is none left. */
static bool next_range(value_cursor *cursor) {
    const as_block *block = cursor->block;
    bool by_run = cursor->given & HAS_RUN && block->runs;
    bool by_location = cursor->given & HAS_LOCATION && (by_run || !block->runs);
    while (cursor->next_context < cursor->last_context) {
        cursor->context = cursor->next_context;
        /* Groups are neighbours: without a condition inside them they are one range. */
        cursor->next_context = by_run || by_location ? cursor->next_context + 1 : cursor->last_context;
        uint64_t first = block->starts[cursor->context];
        uint64_t lo = 0, hi = block->starts[cursor->next_context] - first;
        if (by_run) narrow(as_block_runs(block, cursor->context), cursor->keys[RUN], &lo, &hi);
        if (by_location) narrow(block->locations + first, cursor->keys[LOCATION], &lo, &hi);
        if (lo >= hi) continue;
        cursor->row = first + lo;
        cursor->end = first + hi;
        return true;
    }
    return false;
}

/* Takes up a block, if it can have rows asked for. */
static bool enter_block(value_cursor *cursor, const as_block *block) {
    if (cursor->given & HAS_METRIC && block->metric != cursor->keys[METRIC]) return false;
    if (cursor->given & HAS_RUN && !block->runs && block->run != cursor->keys[RUN]) return false;
    if (cursor->given & HAS_LOCATION && !block->locations) return false;
    cursor->next_context = 0;
    cursor->last_context = block->n_contexts;
    if (cursor->given & HAS_CONTEXT) {
        uint32_t context = as_block_find(block, cursor->keys[CONTEXT]);
        if (context == UINT32_MAX) return false;
        cursor->next_context = context;
        cursor->last_context = context + 1;
    }
    cursor->block = block;
    return true;
}

static void find_range(value_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    if (cursor->block && next_range(cursor)) return;
    while (cursor->next_block < cursor->n_blocks) {
        size_t number = cursor->blocks ? cursor->blocks[cursor->next_block] : cursor->next_block;
        cursor->next_block++;
        if (enter_block(cursor, as_ds_block(ds, number)) && next_range(cursor)) return;
    }
    cursor->block = NULL;
}

/* Moves on to a row that has the location asked for, where ranges are not narrowed to it. */
static void skip_locations(value_cursor *cursor) {
    while (cursor->block) {
        while (cursor->row < cursor->end && cursor->block->locations[cursor->row] != cursor->keys[LOCATION])
            cursor->row++;
        if (cursor->row < cursor->end) return;
        find_range(cursor);
    }
}

static int value_next(sqlite3_vtab_cursor *base) {
    value_cursor *cursor = (value_cursor *)base;
    if (++cursor->row >= cursor->end) find_range(cursor);
    if (cursor->given & HAS_LOCATION) skip_locations(cursor);
    return SQLITE_OK;
}

static int value_eof(sqlite3_vtab_cursor *base) { return ((value_cursor *)base)->block == NULL; }

static uint64_t block_metric(void *user, size_t row) { return as_ds_block(user, row)->metric; }

/* Prepares what all cursors share: blocks by metric, and the number of each block's first row. */
static bool prepare(as_vtab *table) {
    const as_dataset *ds = table->view->ds;
    size_t n_blocks = AS_COUNT(ds, blocks);
    if (!as_index_is_built(&table->indexes[0]) &&
        !as_index_build(&table->indexes[0], n_blocks, block_metric, (void *)ds))
        return false;
    if (table->first_rows) return true;
    table->first_rows = calloc(n_blocks + 1, sizeof *table->first_rows);
    if (!table->first_rows) return false;
    for (size_t i = 0; i < n_blocks; i++)
        table->first_rows[i + 1] = table->first_rows[i] + as_block_rows(as_ds_block(ds, i));
    return true;
}

static int value_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc, sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    value_cursor *cursor = (value_cursor *)base;
    as_vtab *table = cursor->table;
    if (!prepare(table)) return SQLITE_NOMEM;
    cursor->block = NULL;
    cursor->blocks = NULL;
    cursor->next_block = 0;
    cursor->n_blocks = AS_COUNT(table->view->ds, blocks);
    if (!as_read_ids(plan, argv, 4, cursor->keys, &cursor->given)) return SQLITE_OK;
    if (cursor->given & HAS_METRIC) {
        uint32_t n;
        cursor->blocks = as_index_find(&table->indexes[0], cursor->keys[METRIC], &n);
        cursor->n_blocks = n;
    }
    find_range(cursor);
    if (cursor->given & HAS_LOCATION) skip_locations(cursor);
    return SQLITE_OK;
}

/* ---- cells ----------------------------------------------------------------------------------------------------------- */

static int value_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    value_cursor *cursor = (value_cursor *)base;
    const as_block *block = cursor->block;
    switch (column) {
    case RUN: as_result_id(context, as_block_run(block, cursor->row)); break;
    case METRIC: as_result_id(context, block->metric); break;
    case CONTEXT:
        while (block->starts[cursor->context + 1] <= cursor->row) cursor->context++;
        as_result_id(context, block->contexts[cursor->context]);
        break;
    case LOCATION: as_result_id(context, as_block_location(block, cursor->row)); break;
    default:
        if (block->dtype == AS_DTYPE_DOUBLE)
            sqlite3_result_double(context, ((const double *)block->values)[cursor->row]);
        else if (block->dtype == AS_DTYPE_INT64)
            sqlite3_result_int64(context, ((const int64_t *)block->values)[cursor->row]);
        else
            as_result_number(context, as_block_value(block, cursor->row));
    }
    return SQLITE_OK;
}

static int value_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    const value_cursor *cursor = (value_cursor *)base;
    size_t block = (size_t)(cursor->block - as_ds_block(cursor->table->view->ds, 0));
    *rowid = (sqlite3_int64)(cursor->table->first_rows[block] + cursor->row);
    return SQLITE_OK;
}

const sqlite3_module as_value_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = value_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = value_open,
    .xClose = value_close,
    .xFilter = value_filter,
    .xNext = value_next,
    .xEof = value_eof,
    .xColumn = value_column,
    .xRowid = value_rowid,
};
