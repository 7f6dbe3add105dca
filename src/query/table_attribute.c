/* The table attribute: those lying in the dataset, then those an event source makes. Those of one owner are found by an
 * index over the first kind, and where the source says of the second, so that events and their tags join in linear time
 * however many there are. */
#include <stdlib.h>

#include "query/tables.h"

enum { OWNER, OWNER_ID, KEY, VALUE };

/* What a plan was given: a bit and an argument each, in this order, for columns that are equal to something. */
enum { BY_OWNER, BY_OWNER_ID, BY_KEY, N_CONDITIONS };
enum { INDEX_OF_OWNER_ID, INDEX_OF_KEY };

typedef struct attribute_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    unsigned given;
    as_owner owner;
    assay_id owner_id;
    as_str key;
    /* The list of rows, or all before `end`, then first … end of the event source's */
    const uint32_t *list; /* NULL: the rows themselves */
    uint32_t position, n_listed;
    uint64_t row, end;
    as_attribute attribute; /* of the row */
} attribute_cursor;

static bool has(const attribute_cursor *cursor, int condition) { return cursor->given & 1u << condition; }

/* ---- planning ---------------------------------------------------------------------------------------------------- */

static int attribute_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    int constraint_of[N_CONDITIONS], n_arguments = 0;
    unsigned plan = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (column < OWNER || column > KEY || plan & 1u << column) continue;
        if (column != OWNER_ID && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) continue;
        constraint_of[column] = i;
        plan |= 1u << column;
    }
    for (int condition = 0; condition < N_CONDITIONS; condition++) {
        if (plan & 1u << condition) info->aConstraintUsage[constraint_of[condition]].argvIndex = ++n_arguments;
    }
    double rows = (double)as_ds_attribute_count(ds), read = rows;
    if (plan & 1u << BY_OWNER_ID)
        rows = read = 4;
    else if (plan & 1u << BY_KEY)
        rows = read = rows / 8;
    if (plan & 1u << BY_OWNER) rows /= 2;
    if (plan & 1u << BY_KEY && plan & 1u << BY_OWNER_ID) rows = 1;
    info->idxNum = (int)plan;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = 2 + rows + (read - rows) / 8;
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn < 0 && !info->aOrderBy[0].desc;
    return SQLITE_OK;
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static bool read_owner(attribute_cursor *cursor, sqlite3_value *value) {
    const char *text = (const char *)sqlite3_value_text(value);
    for (int owner = AS_OWNER_DATASET; text && owner <= AS_OWNER_RECORD; owner++) {
        if (strcmp(text, as_owner_name((as_owner)owner)) != 0) continue;
        cursor->owner = (as_owner)owner;
        return true;
    }
    return false;
}

/* One condition's argument; false where no row can satisfy it. */
static bool read_condition(attribute_cursor *cursor, int condition, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return false;
    if (condition == BY_OWNER_ID) {
        as_match match = as_match_id(value, &cursor->owner_id);
        if (match == AS_MATCH_ID) cursor->given |= 1u << BY_OWNER_ID;
        return match != AS_MATCH_NOTHING;
    }
    if (type != SQLITE_TEXT) return true; /* SQLite decides what is equal to it */
    cursor->given |= 1u << condition;
    if (condition == BY_OWNER) return read_owner(cursor, value);
    const char *text = (const char *)sqlite3_value_text(value);
    cursor->key =
        text ? as_find(&cursor->table->view->ds->strings, text, (size_t)sqlite3_value_bytes(value)) : AS_NO_STR;
    return cursor->key != AS_NO_STR;
}

static uint64_t owner_id_of(void *user, size_t row) { return as_ds_attribute(user, row)->owner_id; }

static uint64_t key_of(void *user, size_t row) {
    as_attribute attribute;
    as_ds_any_attribute(user, row, &attribute);
    return attribute.key;
}

/* Takes the rows of one key from an index, which is made where this is the first time. False when memory is out. */
static bool use_index(attribute_cursor *cursor, int number, size_t n_rows, as_index_hash *hash, uint64_t wanted) {
    as_index *index = &cursor->table->indexes[number];
    if (!as_index_is_built(index) && !as_index_build(index, n_rows, hash, (void *)cursor->table->view->ds))
        return false;
    cursor->list = as_index_find(index, wanted, &cursor->n_listed);
    return true;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

/* Whether the row at hand is one asked for; others share a bucket of the index, or lie between. */
static bool fits(const attribute_cursor *cursor) {
    const as_attribute *attribute = &cursor->attribute;
    return (!has(cursor, BY_OWNER) || attribute->owner == cursor->owner) &&
           (!has(cursor, BY_OWNER_ID) || attribute->owner_id == cursor->owner_id) &&
           (!has(cursor, BY_KEY) || attribute->key == cursor->key);
}

static bool is_at_end(const attribute_cursor *cursor) {
    return cursor->position >= cursor->n_listed && cursor->row >= cursor->end;
}

static uint64_t row_at(const attribute_cursor *cursor) {
    return cursor->position < cursor->n_listed ? cursor->list[cursor->position] : cursor->row;
}

static void step(attribute_cursor *cursor) {
    if (cursor->position < cursor->n_listed)
        cursor->position++;
    else
        cursor->row++;
}

/* From where it stands to the first row asked for. */
static void find_row(attribute_cursor *cursor) {
    for (; !is_at_end(cursor); step(cursor)) {
        as_ds_any_attribute(cursor->table->view->ds, row_at(cursor), &cursor->attribute);
        if (fits(cursor)) return;
    }
}

static int attribute_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    attribute_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int attribute_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

/* Where the rows asked for can lie. False when memory is out. */
static bool choose_rows(attribute_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    bool can_be_event = !has(cursor, BY_OWNER) || cursor->owner == AS_OWNER_EVENT;
    if (has(cursor, BY_OWNER_ID)) {
        if (can_be_event && cursor->owner_id < as_ds_intervals(ds))
            as_event_attributes(ds, cursor->owner_id, &cursor->row, &cursor->end);
        size_t n = AS_COUNT(ds, attributes);
        return n == 0 || use_index(cursor, INDEX_OF_OWNER_ID, n, owner_id_of, cursor->owner_id);
    }
    if (has(cursor, BY_KEY)) return use_index(cursor, INDEX_OF_KEY, as_ds_attribute_count(ds), key_of, cursor->key);
    cursor->end = can_be_event ? as_ds_attribute_count(ds) : AS_COUNT(ds, attributes);
    return true;
}

static int attribute_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                            sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    attribute_cursor *cursor = (attribute_cursor *)base;
    cursor->given = 0;
    cursor->list = NULL;
    cursor->position = cursor->n_listed = 0;
    cursor->row = cursor->end = 0;
    int argument = 0;
    for (int condition = 0; condition < N_CONDITIONS; condition++) {
        if ((unsigned)plan & 1u << condition && !read_condition(cursor, condition, argv[argument++])) return SQLITE_OK;
    }
    if (!choose_rows(cursor)) return SQLITE_NOMEM;
    find_row(cursor);
    return SQLITE_OK;
}

static int attribute_next(sqlite3_vtab_cursor *base) {
    attribute_cursor *cursor = (attribute_cursor *)base;
    step(cursor);
    find_row(cursor);
    return SQLITE_OK;
}

static int attribute_eof(sqlite3_vtab_cursor *base) { return is_at_end((attribute_cursor *)base); }

static int attribute_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)row_at((attribute_cursor *)base);
    return SQLITE_OK;
}

static int attribute_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const attribute_cursor *cursor = (attribute_cursor *)base;
    const as_attribute *attribute = &cursor->attribute;
    as_view *view = cursor->table->view;
    switch (column) {
    case OWNER: sqlite3_result_text(context, as_owner_name(attribute->owner), -1, SQLITE_STATIC); break;
    case OWNER_ID: as_result_id(context, attribute->owner_id); break;
    case KEY: as_result_str(context, view, attribute->key); break;
    default: as_result_cell(context, view, attribute->value);
    }
    return SQLITE_OK;
}

const sqlite3_module as_attribute_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = attribute_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = attribute_open,
    .xClose = attribute_close,
    .xFilter = attribute_filter,
    .xNext = attribute_next,
    .xEof = attribute_eof,
    .xColumn = attribute_column,
    .xRowid = attribute_rowid,
};
