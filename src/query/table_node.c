/* The table node: inclusive and exclusive values, computed for one metric and run at a time. */
#include <stdlib.h>

#include "analysis/nodes.h"
#include "query/tables.h"

enum { RUN, METRIC, CONTEXT, INCLUSIVE };
enum { HAS_RUN = 1 << RUN, HAS_METRIC = 1 << METRIC, HAS_CONTEXT = 1 << CONTEXT };

typedef struct node_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    as_node_list list; /* of one metric and run */
    as_vec text;       /* char: of a composite value */
    size_t row, n_rows;
    assay_id metric, run; /* that rows belongs to */
    assay_id next_metric, end_metric, first_run, next_run, end_run;
    unsigned given;
    assay_id keys[3];
} node_cursor;

static int node_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    static const int order[] = {METRIC, RUN, CONTEXT, -1};
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    unsigned plan = as_take_ids(info, 3);
    double contexts = (double)AS_COUNT(ds, contexts), pairs = 1;
    if (!(plan & HAS_METRIC)) pairs *= (double)AS_COUNT(ds, metrics);
    if (!(plan & HAS_RUN)) pairs *= (double)AS_COUNT(ds, runs);
    double rows = plan & HAS_CONTEXT ? pairs : pairs * contexts;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)(rows < 1e15 ? rows : 1e15);
    info->estimatedCost =
        20 + rows * (plan & HAS_CONTEXT ? 8 : 2); /* a context costs what its subtree has, unless values are stored */
    info->orderByConsumed = as_order_fits(info, order, plan);
    return SQLITE_OK;
}

static int node_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    node_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    as_node_list_init(&cursor->list);
    as_vec_init(&cursor->text, 1, NULL);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int node_close(sqlite3_vtab_cursor *base) {
    as_node_list_free(&((node_cursor *)base)->list);
    as_vec_free(&((node_cursor *)base)->text);
    free(base);
    return SQLITE_OK;
}

/* Fills rows from the next metric and run that have any. */
static int next_pair(node_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    cursor->row = cursor->n_rows = 0;
    while (cursor->n_rows == 0 && cursor->next_metric < cursor->end_metric) {
        if (cursor->next_run >= cursor->end_run) {
            cursor->next_run = cursor->first_run;
            cursor->next_metric++;
            continue;
        }
        cursor->metric = cursor->next_metric;
        cursor->run = cursor->next_run++;
        if (as_ds_metric(ds, cursor->metric)->part_of != ASSAY_NONE) continue; /* its values are that one's */
        assay_error error;
        assay_status status =
            cursor->given & HAS_CONTEXT
                ? as_nodes_find_one(ds, cursor->run, cursor->metric, cursor->keys[CONTEXT], NULL, &cursor->list, &error)
                : as_nodes_find(ds, cursor->run, cursor->metric, ASSAY_NONE, &cursor->list, &error);
        if (status != ASSAY_OK) return as_vtab_fail(cursor->table, &error);
        cursor->n_rows = as_node_count(&cursor->list);
    }
    return SQLITE_OK;
}

static int node_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc, sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    node_cursor *cursor = (node_cursor *)base;
    const as_dataset *ds = cursor->table->view->ds;
    cursor->first_run = cursor->next_metric = 0;
    cursor->end_run = (assay_id)AS_COUNT(ds, runs);
    cursor->end_metric = (assay_id)AS_COUNT(ds, metrics);
    if (!as_read_ids(plan, argv, 3, cursor->keys, &cursor->given))
        cursor->end_metric = 0;
    else {
        if (cursor->given & HAS_CONTEXT && cursor->keys[CONTEXT] >= AS_COUNT(ds, contexts)) cursor->end_metric = 0;
        if (cursor->given & HAS_RUN) {
            cursor->first_run = cursor->keys[RUN];
            cursor->end_run = cursor->keys[RUN] < cursor->end_run ? cursor->keys[RUN] + 1 : 0;
        }
        if (cursor->given & HAS_METRIC) {
            cursor->next_metric = cursor->keys[METRIC];
            cursor->end_metric = cursor->keys[METRIC] < cursor->end_metric ? cursor->keys[METRIC] + 1 : 0;
        }
    }
    cursor->next_run = cursor->first_run;
    return next_pair(cursor);
}

static int node_next(sqlite3_vtab_cursor *base) {
    node_cursor *cursor = (node_cursor *)base;
    if (++cursor->row < cursor->n_rows) return SQLITE_OK;
    return next_pair(cursor);
}

static int node_eof(sqlite3_vtab_cursor *base) { return ((node_cursor *)base)->row >= ((node_cursor *)base)->n_rows; }

/* Composite values are JSON. */
static void result_amount(node_cursor *cursor, sqlite3_context *context, bool exclusive) {
    const as_node *node = as_node_at(&cursor->list, cursor->row);
    const double *parts = as_node_parts(&cursor->list, cursor->row, exclusive);
    if (node->is_whole) {
        as_result_whole(context, exclusive ? node->whole_exclusive : node->whole_inclusive);
        return;
    }
    if (!parts) {
        as_result_number(context, exclusive ? node->exclusive : node->inclusive);
        return;
    }
    cursor->text.count = 0;
    if (as_parts_text(parts, cursor->list.n_parts, &cursor->text))
        sqlite3_result_text(context, cursor->text.data, (int)cursor->text.count, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(context);
}

/* Which of the node's values a column shows. False: none. */
static bool find_amount(const node_cursor *cursor, bool exclusive, bool *out) {
    const as_node *node = as_node_at(&cursor->list, cursor->row);
    const as_metric *metric = as_ds_metric(cursor->table->view->ds, cursor->metric);
    *out = exclusive;
    if (!metric->is_stored) return !exclusive || node->has_exclusive;
    if (node->has_exclusive) return exclusive ? !node->lacks_exclusive : node->has_own;
    *out = false; /* the one there is */
    return exclusive == as_metric_is_only_exclusive(metric);
}

static int node_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    node_cursor *cursor = (node_cursor *)base;
    const as_node *node = as_node_at(&cursor->list, cursor->row);
    bool exclusive;
    switch (column) {
    case RUN: as_result_id(context, cursor->run); break;
    case METRIC: as_result_id(context, cursor->metric); break;
    case CONTEXT: as_result_id(context, node->context); break;
    default:
        if (find_amount(cursor, column != INCLUSIVE, &exclusive))
            result_amount(cursor, context, exclusive);
        else
            sqlite3_result_null(context);
    }
    return SQLITE_OK;
}

static int node_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    const node_cursor *cursor = (node_cursor *)base;
    const as_dataset *ds = cursor->table->view->ds;
    uint64_t pair = (uint64_t)cursor->metric * AS_COUNT(ds, runs) + cursor->run;
    *rowid = (sqlite3_int64)(pair * AS_COUNT(ds, contexts) + as_node_at(&cursor->list, cursor->row)->context);
    return SQLITE_OK;
}

const sqlite3_module as_node_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = node_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = node_open,
    .xClose = node_close,
    .xFilter = node_filter,
    .xNext = node_next,
    .xEof = node_eof,
    .xColumn = node_column,
    .xRowid = node_rowid,
};
