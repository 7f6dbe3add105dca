/* The table value: rows straight out of the blocks and profiles, which are the sources of rows, blocks first. A scan
 * walks each source from end to end; conditions on metric, context, run and location narrow it to ranges of rows by
 * binary search. Sparse profiles have a row for each value that is stored, read by context or, where only the location
 * is given, by location. */
#include <stdlib.h>

#include "core/search.h"
#include "query/sparse_walk.h"
#include "query/tables.h"

enum { RUN, METRIC, CONTEXT, LOCATION, VALUE };
enum { HAS_RUN = 1 << RUN, HAS_METRIC = 1 << METRIC, HAS_CONTEXT = 1 << CONTEXT, HAS_LOCATION = 1 << LOCATION };

typedef struct value_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    const as_block *block;               /* NULL: the row is a profile's, or there is none left */
    uint64_t row, end;                   /* the range of rows being walked */
    uint32_t context;                    /* an index into block->contexts at or before that of row */
    uint32_t next_context, last_context; /* groups of the block still to be looked at */
    const as_profile *profile;           /* NULL: the row is a block's, or there is none left */
    uint32_t index, last_index;          /* of the profile: which of its contexts, and the end of them */
    uint32_t column, first_column, last_column;
    as_sparse_walk sparse;   /* of a sparse profile; its profile is NULL where the row is another's */
    as_vec text;             /* char: of a composite value */
    const uint32_t *sources; /* numbers of sources still to be looked at, or NULL: all of them */
    size_t next_source, n_sources;
    unsigned given; /* HAS_… */
    assay_id keys[4];
} value_cursor;

/* ---- planning ---------------------------------------------------------------------------------------------------- */

static const as_profile *profile_at(const as_dataset *ds, size_t index) {
    return &AS_AT(as_profile, &ds->profiles, index);
}

static bool profiles_ascend(const as_dataset *ds) {
    for (size_t i = 1; i < ds->profiles.count; i++) {
        const as_profile *a = profile_at(ds, i - 1), *b = profile_at(ds, i);
        if (as_pair(a->metric, a->run) >= as_pair(b->metric, b->run)) return false;
    }
    return true;
}

/* What the rows are ordered by: one block a metric, or one a metric and run, in ascending order; otherwise nothing is
 * promised. Where a row may lack a location the order by location is not SQL's, which has NULL first. */
static const int *value_order(const as_dataset *ds) {
    static const int nothing[] = {-1};
    static const int by_metric[] = {METRIC, CONTEXT, RUN, LOCATION, -1}, by_metric_only[] = {METRIC, CONTEXT, RUN, -1};
    static const int by_run[] = {METRIC, RUN, CONTEXT, LOCATION, -1}, by_run_only[] = {METRIC, RUN, CONTEXT, -1};
    bool metrics_ascend = true, runs_ascend = true, has_locations = false;
    if (ds->profiles.count) return AS_COUNT(ds, blocks) || !profiles_ascend(ds) ? nothing : by_run;
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

/* Sparse profiles: all contexts are asked what they have, or all of one; a location is asked once for each metric, and
 * goes through all it has. */
static double sparse_cost(const as_dataset *ds, unsigned plan, double rows) {
    double n_profiles = share((double)ds->profiles.count, plan & HAS_METRIC ? AS_COUNT(ds, metrics) : 1);
    if (plan & HAS_CONTEXT) return 10 + rows + n_profiles;
    if (plan & HAS_LOCATION)
        return 20 + rows + n_profiles * (double)ds->n_sparse_values / (double)(as_ds_leaves(ds) + 1) / 8;
    return 10 + rows + n_profiles * (double)AS_COUNT(ds, contexts) / 2;
}

static int value_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    unsigned plan = as_take_ids(info, 4);
    bool is_sparse = ds->n_sparse_values > 0;
    double rows = (double)as_ds_values(ds), walked;
    if (plan & HAS_METRIC) rows = share(rows, AS_COUNT(ds, metrics));
    if (plan & HAS_CONTEXT) rows = share(rows, AS_COUNT(ds, contexts));
    walked = rows; /* without a context every group has to be looked at */
    if (plan & HAS_RUN) rows = share(rows, AS_COUNT(ds, runs));
    if (plan & HAS_LOCATION) rows = share(rows, is_sparse ? as_ds_leaves(ds) : AS_COUNT(ds, locations));
    if (plan & HAS_CONTEXT) walked = rows;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = is_sparse ? sparse_cost(ds, plan, rows) : 10 + rows + (walked - rows) / 8;
    info->orderByConsumed = info->nOrderBy > 0 && as_order_fits(info, value_order(ds), plan);
    return SQLITE_OK;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static int value_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    value_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    as_vec_init(&cursor->text, 1, NULL);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int value_close(sqlite3_vtab_cursor *base) {
    as_vec_free(&((value_cursor *)base)->text);
    as_sparse_walk_free(&((value_cursor *)base)->sparse);
    free(base);
    return SQLITE_OK;
}

/* The part of lo … hi - 1, where ids ascend, that has this id. */
static void narrow(const assay_id *ids, assay_id id, uint64_t *lo, uint64_t *hi) {
    uint64_t end = *hi;
    if (*lo >= end) return; /* there may be no ids at all */
    *lo += as_first_not_below(ids + *lo, end - *lo, id);
    *hi = id == UINT32_MAX ? end : *lo + as_first_not_below(ids + *lo, end - *lo, id + 1);
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

/* The same of a sparse profile, of which only the lines asked for are read; its columns are set. */
static int enter_sparse(value_cursor *cursor, const as_profile *profile, bool *entered) {
    as_sparse_walk *walk = &cursor->sparse;
    assay_id first = 0, end = (assay_id)AS_COUNT(cursor->table->view->ds, contexts);
    uint32_t n_columns = cursor->last_column - cursor->first_column;
    assay_error error;
    if (cursor->given & HAS_CONTEXT) {
        first = cursor->keys[CONTEXT];
        end = first < end ? first + 1 : first;
    }
    bool by_column = n_columns == 1 && cursor->given & HAS_LOCATION && !(cursor->given & HAS_CONTEXT);
    assay_status status = by_column
                              ? as_sparse_walk_column(walk, profile, cursor->first_column, &error)
                              : as_sparse_walk_rows(walk, profile, first, end, cursor->first_column, n_columns, &error);
    *entered = status == ASSAY_OK && walk->profile;
    return status == ASSAY_OK ? SQLITE_OK : as_vtab_fail(cursor->table, &error);
}

/* Takes up a profile, if it can have rows asked for; it is decoded now. *entered: whether there are any. */
static int enter_profile(value_cursor *cursor, const as_profile *profile, bool *entered) {
    *entered = false;
    if (cursor->given & HAS_METRIC && profile->metric != cursor->keys[METRIC]) return SQLITE_OK;
    if (cursor->given & HAS_RUN && profile->run != cursor->keys[RUN]) return SQLITE_OK;
    cursor->first_column = 0;
    cursor->last_column = profile->n_columns;
    if (cursor->given & HAS_LOCATION) {
        uint64_t lo = 0, hi = profile->columns ? profile->n_columns : 0;
        narrow(profile->columns, cursor->keys[LOCATION], &lo, &hi);
        cursor->first_column = (uint32_t)lo;
        cursor->last_column = (uint32_t)hi;
    }
    if (cursor->first_column >= cursor->last_column) return SQLITE_OK;
    if (as_profile_is_sparse(profile)) return enter_sparse(cursor, profile, entered);
    assay_error error;
    if (as_profile_load(cursor->table->view->ds, profile, &error) != ASSAY_OK)
        return as_vtab_fail(cursor->table, &error);
    cursor->index = 0;
    cursor->last_index = profile->n_rows;
    if (cursor->given & HAS_CONTEXT) {
        cursor->index = as_profile_find(profile, cursor->keys[CONTEXT]);
        if (cursor->index == UINT32_MAX) return SQLITE_OK;
        cursor->last_index = cursor->index + 1;
    }
    cursor->profile = cursor->index < cursor->last_index ? profile : NULL;
    cursor->column = cursor->first_column;
    *entered = cursor->profile != NULL;
    return SQLITE_OK;
}

/* Sets the next range of rows, of the block at hand or of the sources behind it. */
static int find_range(value_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    size_t n_blocks = AS_COUNT(ds, blocks);
    if (cursor->block && next_range(cursor)) return SQLITE_OK;
    cursor->block = NULL;
    cursor->profile = NULL;
    as_sparse_walk_stop(&cursor->sparse);
    while (cursor->next_source < cursor->n_sources) {
        size_t number = cursor->sources ? cursor->sources[cursor->next_source] : cursor->next_source;
        cursor->next_source++;
        if (number < n_blocks) {
            if (enter_block(cursor, as_ds_block(ds, number)) && next_range(cursor)) return SQLITE_OK;
            cursor->block = NULL;
            continue;
        }
        bool entered;
        int status = enter_profile(cursor, profile_at(ds, number - n_blocks), &entered);
        if (status != SQLITE_OK || entered) return status;
    }
    return SQLITE_OK;
}

/* Moves on to a row that has the location asked for, where ranges of blocks are not narrowed to it. */
static int skip_locations(value_cursor *cursor) {
    while (cursor->block) {
        while (cursor->row < cursor->end && cursor->block->locations[cursor->row] != cursor->keys[LOCATION])
            cursor->row++;
        if (cursor->row < cursor->end) return SQLITE_OK;
        int status = find_range(cursor);
        if (status != SQLITE_OK) return status;
    }
    return SQLITE_OK;
}

static int next_sparse(value_cursor *cursor) {
    assay_error error;
    if (as_sparse_walk_next(&cursor->sparse, &error) != ASSAY_OK) return as_vtab_fail(cursor->table, &error);
    return cursor->sparse.profile ? SQLITE_OK : find_range(cursor);
}

static int value_next(sqlite3_vtab_cursor *base) {
    value_cursor *cursor = (value_cursor *)base;
    int status = SQLITE_OK;
    if (cursor->sparse.profile) return next_sparse(cursor);
    if (cursor->profile) {
        if (++cursor->column < cursor->last_column) return SQLITE_OK;
        cursor->column = cursor->first_column;
        if (++cursor->index < cursor->last_index) return SQLITE_OK;
        status = find_range(cursor);
    } else if (++cursor->row >= cursor->end) {
        status = find_range(cursor);
    }
    return status == SQLITE_OK && cursor->given & HAS_LOCATION ? skip_locations(cursor) : status;
}

static int value_eof(sqlite3_vtab_cursor *base) {
    const value_cursor *cursor = (const value_cursor *)base;
    return !cursor->block && !cursor->profile && !cursor->sparse.profile;
}

static uint64_t source_metric(void *user, size_t number) {
    const as_dataset *ds = user;
    size_t n_blocks = AS_COUNT(ds, blocks);
    return number < n_blocks ? as_ds_block(ds, number)->metric : profile_at(ds, number - n_blocks)->metric;
}

/* Prepares what all cursors share: sources by metric, and the number of each one's first row. */
static bool prepare(as_vtab *table) {
    const as_dataset *ds = table->view->ds;
    size_t n_blocks = AS_COUNT(ds, blocks), n = n_blocks + ds->profiles.count;
    if (!as_index_is_built(&table->indexes[0]) &&
        !as_index_build(&table->indexes[0], n, source_metric, (void *)(uintptr_t)ds))
        return false;
    if (table->first_rows) return true;
    table->first_rows = calloc(n + 1, sizeof *table->first_rows);
    if (!table->first_rows) return false;
    for (size_t i = 0; i < n; i++) {
        const as_profile *profile = i < n_blocks ? NULL : profile_at(ds, i - n_blocks);
        uint64_t rows = !profile                        ? as_block_rows(as_ds_block(ds, i))
                        : as_profile_is_sparse(profile) ? (uint64_t)AS_COUNT(ds, contexts) * profile->n_columns
                                                        : as_profile_values(profile);
        table->first_rows[i + 1] = table->first_rows[i] + rows;
    }
    return true;
}

static int value_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc, sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    value_cursor *cursor = (value_cursor *)base;
    as_vtab *table = cursor->table;
    if (!prepare(table)) return SQLITE_NOMEM;
    cursor->block = NULL;
    cursor->profile = NULL;
    as_sparse_walk_stop(&cursor->sparse);
    cursor->sources = NULL;
    cursor->next_source = 0;
    cursor->n_sources = AS_COUNT(table->view->ds, blocks) + table->view->ds->profiles.count;
    if (!as_read_ids(plan, argv, 4, cursor->keys, &cursor->given)) return SQLITE_OK;
    if (cursor->given & HAS_METRIC) {
        uint32_t n;
        cursor->sources = as_index_find(&table->indexes[0], cursor->keys[METRIC], &n);
        cursor->n_sources = n;
    }
    int status = find_range(cursor);
    return status == SQLITE_OK && cursor->given & HAS_LOCATION ? skip_locations(cursor) : status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void result_of_profile(value_cursor *cursor, sqlite3_context *context) {
    const as_profile *profile = cursor->profile;
    const char *value = as_profile_row(profile, cursor->index) + (size_t)cursor->column * profile->type.size;
    if (!as_dtype_is_composite(profile->type.dtype)) {
        as_result_number(context, as_part_get(profile->type, value, 0));
        return;
    }
    cursor->text.count = 0;
    if (as_value_text(profile->type, value, &cursor->text))
        sqlite3_result_text(context, cursor->text.data, (int)cursor->text.count, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(context);
}

static int profile_column(value_cursor *cursor, sqlite3_context *context, int column) {
    const as_profile *profile = cursor->profile;
    switch (column) {
    case RUN: as_result_id(context, profile->run); break;
    case METRIC: as_result_id(context, profile->metric); break;
    case CONTEXT: as_result_id(context, profile->contexts[cursor->index]); break;
    case LOCATION: as_result_id(context, as_profile_location(profile, cursor->column)); break;
    default: result_of_profile(cursor, context);
    }
    return SQLITE_OK;
}

static int sparse_column(const as_sparse_walk *walk, sqlite3_context *context, int column) {
    switch (column) {
    case RUN: as_result_id(context, walk->profile->run); break;
    case METRIC: as_result_id(context, walk->profile->metric); break;
    case CONTEXT: as_result_id(context, as_sparse_walk_context(walk)); break;
    case LOCATION: as_result_id(context, as_profile_location(walk->profile, as_sparse_walk_place(walk))); break;
    default: as_result_number(context, (as_number){.kind = AS_REAL, .r = as_sparse_walk_value(walk)});
    }
    return SQLITE_OK;
}

static int value_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    value_cursor *cursor = (value_cursor *)base;
    if (cursor->sparse.profile) return sparse_column(&cursor->sparse, context, column);
    const as_block *block = cursor->block;
    if (!block) return profile_column(cursor, context, column);
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
    const as_dataset *ds = cursor->table->view->ds;
    const uint64_t *first_rows = cursor->table->first_rows;
    if (cursor->block) {
        *rowid = (sqlite3_int64)(first_rows[cursor->block - as_ds_block(ds, 0)] + cursor->row);
        return SQLITE_OK;
    }
    const as_sparse_walk *walk = &cursor->sparse;
    const as_profile *profile = walk->profile ? walk->profile : cursor->profile;
    size_t number = AS_COUNT(ds, blocks) + (size_t)(profile - profile_at(ds, 0));
    uint64_t index = walk->profile ? as_sparse_walk_context(walk) : cursor->index;
    uint64_t row = index * profile->n_columns + (walk->profile ? as_sparse_walk_place(walk) : cursor->column);
    *rowid = (sqlite3_int64)(first_rows[number] + row);
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
