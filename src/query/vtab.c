/* The generic module: tables whose rows are numbered 0 … n - 1, read cell by cell. Rows are found by number, or by the
 * value of one of the table's keys through an index that is built when it is first needed. */
#include <stdlib.h>

#include "query/tables.h"

/* ---- connecting -------------------------------------------------------------------------------------------------- */

typedef struct named_table {
    const char *wanted;
    const as_sql_table *found;
    const as_table *records;
} named_table;

static bool match_name(void *user, const as_sql_table *table, const char *name, const as_table *records) {
    named_table *search = user;
    if (strcmp(search->wanted, name) != 0) return true;
    search->found = table;
    search->records = records;
    return false;
}

/* argv: module, database, table, and the number of the dataset. */
int as_vtab_connect(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **out, char **message) {
    const as_views *views = user;
    size_t dataset = argc == 4 ? (size_t)strtoul(argv[3], NULL, 10) : SIZE_MAX;
    if (dataset >= views->n) {
        *message = sqlite3_mprintf("the tables of a dataset cannot be made by hand");
        return SQLITE_ERROR;
    }
    named_table search = {.wanted = argv[2]};
    as_each_table(&views->views[dataset], match_name, &search);
    if (!search.found) {
        *message = sqlite3_mprintf("no table %s", argv[2]);
        return SQLITE_ERROR;
    }
    char *columns = as_table_schema(search.found, search.records);
    char *schema = columns ? sqlite3_mprintf("CREATE TABLE t(%s)", columns) : NULL;
    int status = schema ? sqlite3_declare_vtab(db, schema) : SQLITE_NOMEM;
    sqlite3_free(columns);
    sqlite3_free(schema);
    if (status != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        return status;
    }
    as_vtab *table = calloc(1, sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->view = &views->views[dataset];
    table->description = search.found;
    table->records = search.records;
    *out = &table->base;
    return SQLITE_OK;
}

int as_vtab_disconnect(sqlite3_vtab *base) {
    as_vtab *table = (as_vtab *)base;
    for (size_t i = 0; i < AS_MAX_KEYS; i++) as_index_free(&table->indexes[i]);
    free(table->first_rows);
    free(table);
    return SQLITE_OK;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

void as_result_whole(sqlite3_context *context, as_whole value) {
    if (value >= INT64_MIN && value <= INT64_MAX) {
        sqlite3_result_int64(context, (sqlite3_int64)value);
        return;
    }
    char text[AS_WHOLE_SIZE];
    size_t size = as_whole_format(value, text);
    sqlite3_result_text(context, text, (int)size, SQLITE_TRANSIENT);
}

void as_result_str(sqlite3_context *context, const as_view *view, as_str id) {
    const char *text = as_ds_text(view->ds, id);
    if (text)
        sqlite3_result_text64(context, text, as_str_size(&view->ds->strings, id), SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(context);
}

void as_result_number(sqlite3_context *context, as_number number) {
    if (number.kind == AS_INT)
        sqlite3_result_int64(context, number.i);
    else if (number.kind == AS_REAL)
        sqlite3_result_double(context, number.r); /* NaN becomes NULL */
    else
        as_result_whole(context, number.u);
}

int as_vtab_fail(as_vtab *table, const assay_error *error) {
    char text[sizeof error->path + sizeof error->message];
    if (error->code == ASSAY_E_NOMEM) return SQLITE_NOMEM;
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", assay_error_text(error, text, sizeof text));
    return SQLITE_CORRUPT_VTAB;
}

void as_result_cell(sqlite3_context *context, as_view *view, as_cell cell) {
    if (view->is_out_of_memory) {
        view->is_out_of_memory = false;
        sqlite3_result_error_nomem(context);
        return;
    }
    switch (cell.type) {
    case AS_CELL_NULL: sqlite3_result_null(context); break;
    case AS_CELL_INT: sqlite3_result_int64(context, cell.i); break;
    case AS_CELL_UINT: as_result_whole(context, cell.u); break;
    case AS_CELL_REAL: sqlite3_result_double(context, cell.r); break;
    case AS_CELL_TEXT:
    case AS_CELL_JSON:
        sqlite3_result_text64(context, cell.text, cell.size,
                              cell.text == view->scratch.data ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

as_match as_match_id(sqlite3_value *value, assay_id *id) {
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return AS_MATCH_NOTHING;
    if (type != SQLITE_INTEGER) return AS_MATCH_ANY; /* 3.0 and '3' may be equal to 3: SQLite decides */
    sqlite3_int64 number = sqlite3_value_int64(value);
    if (number < 0 || number >= ASSAY_NONE) return AS_MATCH_NOTHING;
    *id = (assay_id)number;
    return AS_MATCH_ID;
}

unsigned as_take_ids(sqlite3_index_info *info, unsigned n_keys) {
    int constraint_of[8];
    unsigned plan = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (column < 0 || column >= (int)n_keys || plan & 1u << column) continue;
        constraint_of[column] = i;
        plan |= 1u << column;
    }
    int n_arguments = 0;
    for (unsigned column = 0; column < n_keys; column++) {
        if (plan & 1u << column) info->aConstraintUsage[constraint_of[column]].argvIndex = ++n_arguments;
    }
    info->idxNum = (int)plan;
    return plan;
}

bool as_read_ids(int plan, sqlite3_value **argv, unsigned n_keys, assay_id *keys, unsigned *given) {
    int argument = 0;
    *given = 0;
    for (unsigned column = 0; column < n_keys; column++) {
        if (!((unsigned)plan & 1u << column)) continue;
        as_match match = as_match_id(argv[argument++], &keys[column]);
        if (match == AS_MATCH_NOTHING) return false;
        if (match == AS_MATCH_ID) *given |= 1u << column;
    }
    return true;
}

bool as_order_fits(const sqlite3_index_info *info, const int *order, unsigned plan) {
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        if (column >= 0 && plan & 1u << column) continue; /* one value in all rows */
        while (*order >= 0 && *order != column && plan & 1u << *order) order++;
        if (*order != column || column < 0 || info->aOrderBy[i].desc) return false;
        order++;
    }
    return info->nOrderBy > 0;
}

/* idxNum of the generic module: 0 all rows, 1 by number, 2 + k by the key number k, from PLAN_ORDERED on all rows by a
 * column: twice its number, and 1 more for descending. */
enum { PLAN_ALL, PLAN_ROW, PLAN_KEY, PLAN_ORDERED = PLAN_KEY + AS_MAX_KEYS };

/* Number of the key on a column, or -1. */
static int key_on(const as_sql_table *table, int column) {
    for (int k = 0; k < table->n_keys; k++) {
        if (table->keys[k].column == column) return k;
    }
    return -1;
}

static double square_root_of(size_t rows) {
    double root = 1;
    while (root * root < (double)rows) root *= 2;
    return root;
}

/* Whether nothing is asked of other columns: else SQLite may be left with few rows, and all need not be put in
 * order. */
static bool has_only_constraints_on(const sqlite3_index_info *info, int column) {
    for (int i = 0; i < info->nConstraint; i++) {
        int op = info->aConstraint[i].op;
        bool is_limit = op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET;
        if (info->aConstraint[i].iColumn != column && !is_limit) return false;
    }
    return true;
}

/* The order that all rows can be given in so that SQLite need not sort them; PLAN_ALL: none. */
static int find_order(as_vtab *table, const sqlite3_index_info *info) {
    if (info->nOrderBy != 1) return PLAN_ALL;
    int column = info->aOrderBy[0].iColumn;
    if (!has_only_constraints_on(info, column) || !as_rows_can_be_ordered(table, column)) return PLAN_ALL;
    return PLAN_ORDERED + 2 * column + (info->aOrderBy[0].desc ? 1 : 0);
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    as_vtab *table = (as_vtab *)base;
    int plan = PLAN_ALL, chosen = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (column < 0 || (column == 0 && table->description->has_id)) {
            plan = PLAN_ROW;
            chosen = i;
            break;
        }
        int key = key_on(table->description, column);
        if (key < 0 || (plan != PLAN_ALL && PLAN_KEY + key >= plan) ||
            strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        plan = PLAN_KEY + key;
        chosen = i;
    }
    if (chosen >= 0) info->aConstraintUsage[chosen].argvIndex = 1;
    size_t rows = table->description->rows(table);
    double found = plan == PLAN_ALL ? (double)rows : plan == PLAN_ROW ? 1 : square_root_of(rows);
    info->idxNum = plan;
    info->idxFlags = plan == PLAN_ROW ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    info->estimatedRows = (sqlite3_int64)found;
    info->estimatedCost = plan == PLAN_ALL ? found + 10 : found + 2;
    /* Rows always come in the order of their numbers. */
    bool by_id = info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
                 (info->aOrderBy[0].iColumn < 0 || (info->aOrderBy[0].iColumn == 0 && table->description->has_id));
    info->orderByConsumed = by_id;
    int order = by_id || chosen >= 0 ? PLAN_ALL : find_order(table, info);
    if (order != PLAN_ALL) {
        info->idxNum = order;
        info->orderByConsumed = 1;
    }
    return SQLITE_OK;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

typedef struct table_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    size_t row, position, end; /* row: the current one; position and end count rows, or entries of list */
    const uint32_t *list;      /* NULL: the rows themselves */
    uint32_t *ordered;         /* NULL, or the list where it is the cursor's own */
} table_cursor;

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    table_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *base) {
    free(((table_cursor *)base)->ordered);
    free(base);
    return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base) {
    const table_cursor *cursor = (table_cursor *)base;
    return cursor->position >= cursor->end;
}

static int table_next(sqlite3_vtab_cursor *base) {
    table_cursor *cursor = (table_cursor *)base;
    if (++cursor->position < cursor->end)
        cursor->row = cursor->list ? cursor->list[cursor->position] : cursor->position;
    return SQLITE_OK;
}

static uint64_t hash_cell(as_cell cell) {
    switch (cell.type) {
    case AS_CELL_INT: return (uint64_t)cell.i;
    case AS_CELL_TEXT:
    case AS_CELL_JSON: return as_hash(cell.text, cell.size);
    default: return 0;
    }
}

typedef struct key_column {
    as_vtab *table;
    int column;
} key_column;

static uint64_t hash_row(void *user, size_t row) {
    const key_column *key = user;
    return hash_cell(key->table->description->cell(key->table, row, key->column));
}

/* The hash of a value to look for. False where values of another type may be equal to it (3.0 to 3, '3' to 3): SQLite
 * then sees all rows. */
static bool hash_value(sqlite3_value *value, bool is_text, uint64_t *hash) {
    if (sqlite3_value_type(value) != (is_text ? SQLITE_TEXT : SQLITE_INTEGER)) return false;
    if (!is_text)
        *hash = (uint64_t)sqlite3_value_int64(value);
    else {
        const unsigned char *text = sqlite3_value_text(value);
        if (!text) return false;
        *hash = as_hash(text, (size_t)sqlite3_value_bytes(value));
    }
    return true;
}

static bool table_filter_key(table_cursor *cursor, int key, sqlite3_value *value) {
    as_vtab *table = cursor->table;
    const as_key *on = &table->description->keys[key];
    uint64_t hash;
    if (!hash_value(value, on->is_text, &hash)) return true;
    as_index *index = &table->indexes[key];
    if (!as_index_is_built(index)) {
        key_column user = {table, on->column};
        if (!as_index_build(index, table->description->rows(table), hash_row, &user)) return false;
    }
    uint32_t n;
    cursor->list = as_index_find(index, hash, &n);
    cursor->end = n;
    return true;
}

static int table_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc, sqlite3_value **argv) {
    (void)plan_text;
    table_cursor *cursor = (table_cursor *)base;
    cursor->position = 0;
    cursor->list = NULL;
    assay_error error;
    assay_status (*prepare)(const as_view *, assay_error *) = cursor->table->description->prepare;
    if (prepare && prepare(cursor->table->view, &error) != ASSAY_OK) return as_vtab_fail(cursor->table, &error);
    cursor->end = cursor->table->description->rows(cursor->table);
    if (argc == 1 && sqlite3_value_type(argv[0]) == SQLITE_NULL)
        cursor->end = 0;
    else if (plan == PLAN_ROW && sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
        sqlite3_int64 row = sqlite3_value_int64(argv[0]);
        bool exists = row >= 0 && (uint64_t)row < cursor->end;
        cursor->position = exists ? (size_t)row : 0;
        cursor->end = exists ? (size_t)row + 1 : 0;
    } else if (plan >= PLAN_ORDERED) {
        free(cursor->ordered);
        cursor->ordered = as_rows_order(cursor->table, (plan - PLAN_ORDERED) / 2, (plan - PLAN_ORDERED) % 2 != 0);
        cursor->list = cursor->ordered;
        if (!cursor->list) return SQLITE_NOMEM;
    } else if (plan >= PLAN_KEY && !table_filter_key(cursor, plan - PLAN_KEY, argv[0]))
        return SQLITE_NOMEM;
    if (cursor->position < cursor->end) cursor->row = cursor->list ? cursor->list[cursor->position] : cursor->position;
    return SQLITE_OK;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const table_cursor *cursor = (table_cursor *)base;
    as_vtab *table = cursor->table;
    as_result_cell(context, table->view, table->description->cell(table, cursor->row, column));
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((table_cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module as_table_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};
