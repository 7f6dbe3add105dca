/* The virtual tables, inside query/. A simple table is a description (columns, number of rows, a cell's getter) over
 * the generic module of vtab.c; value, measurement, node, event and attribute, whose rows are not (all) lying around as
 * rows, have modules of their own.
 *
 * Every module only narrows what it walks over: SQLite checks each condition again, so a module may always give more
 * rows than asked for. */
#ifndef AS_QUERY_TABLES_H
#define AS_QUERY_TABLES_H

#include <sqlite3.h>

#include "dataset/dataset.h"

/* ---- what the tables of one dataset share ------------------------------------------------------------------------ */

/* Texts made on demand (paths of contexts, labels of points), kept so that joins do not make them again and again, up
 * to a limit. */
typedef struct as_text_cache {
    as_arena arena;
    struct as_cached_text *texts; /* one for each id; NULL until first used */
    size_t count;
    uint64_t kept; /* bytes */
} as_text_cache;

typedef struct as_view {
    const as_dataset *ds;
    const as_patience *patience; /* of the connection; may be NULL */
    as_text_cache labels, paths;
    uint32_t *path_sizes;  /* of each context, AS_NO_PATH: it has none; NULL until first used */
    as_vec scratch;        /* char: a text that did not fit into its cache, until the next one is made */
    assay_id scratch_path; /* the context whose path it is; ASSAY_NONE: another text */
    bool is_out_of_memory; /* a text could not be made; the next as_result_cell() reports it */
    as_table *no_records;  /* stands for the table "record" of a dataset without one */
} as_view;

bool as_view_init(as_view *view, const as_dataset *ds);
void as_view_free(as_view *view);
/* NULL where it would be longer than AS_LONGEST_SQL_PATH: in trees of many thousand levels all of them together would
 * have no end. */
as_cell as_view_path(as_view *view, assay_id context);
enum { AS_LONGEST_SQL_PATH = 1 << 16 };
#define AS_NO_PATH UINT32_MAX
/* The bytes of each context's path, to be freed; NULL when memory is out. */
uint32_t *as_path_sizes(const as_dataset *ds);
as_cell as_view_label(as_view *view, assay_id point);
/* Made each time: nobody joins by it. */
as_cell as_view_function(as_view *view, const as_model *model);
/* Its digits, until the next text is made. */
as_cell as_view_number(as_view *view, uint64_t number);

/* ---- indexes ----------------------------------------------------------------------------------------------------- */

/* Rows by the hash of a key: rows[starts[bucket] … starts[bucket + 1] - 1], ascending; other keys may share a
 * bucket. */
typedef struct as_index {
    uint32_t *starts, *rows;
    uint32_t mask;
} as_index;

typedef uint64_t as_index_hash(void *user, size_t row);
/* Asks for each hash once. False when memory is out, or for more than 2^32 - 2 rows. */
bool as_index_build(as_index *index, size_t n_rows, as_index_hash *hash, void *user);
void as_index_free(as_index *index);
static inline bool as_index_is_built(const as_index *index) { return index->starts != NULL; }
/* The rows of a bucket; *n of them. */
const uint32_t *as_index_find(const as_index *index, uint64_t hash, uint32_t *n);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* AS_MAX_COLUMNS: the limit SQLite is built with; columns of records beyond it are not shown. */
enum { AS_MAX_KEYS = 5, AS_MAX_INDEXES = 4, AS_MAX_COLUMNS = 2000 };

typedef struct as_vtab as_vtab;

/* A column that rows can be found by: its cells are all integers (or null), or all text (or null). */
typedef struct as_key {
    int column;
    bool is_text;
} as_key;

typedef struct as_sql_table {
    const char *name;
    const char *columns; /* with their types, as in CREATE TABLE */
    const char *module;  /* NULL: the generic one, which needs the following three */
    size_t (*rows)(const as_vtab *table);
    as_cell (*cell)(as_vtab *table, size_t row, int column);
    /* NULL, or what the rows need before they can be counted; where they are not there yet, a plan's estimate is as if
     * there were none */
    assay_status (*prepare)(const as_view *view, assay_error *error);
    bool has_id; /* column 0 is the number of the row */
    int n_keys;
    as_key keys[AS_MAX_KEYS];                   /* the most selective first */
    const char *export_key;                     /* of a real database: "PRIMARY KEY(id)", or NULL */
    const char *export_indexes[AS_MAX_INDEXES]; /* lists of columns */
} as_sql_table;

/* A table of a connection. */
struct as_vtab {
    sqlite3_vtab base;
    as_view *view;
    const as_sql_table *description;
    const as_table *records;       /* of a table of records */
    as_index indexes[AS_MAX_KEYS]; /* built when first needed; what they hold is the table's own affair */
    int ordered_column; /* of records: the column, counted from 1, that can_be_ordered is about; 0: none yet */
    bool can_be_ordered;
    uint64_t *first_rows; /* value and event: for each block and profile, or trace line, the number of its first row */
};

enum { AS_N_TABLES = 18 };
extern const as_sql_table as_sql_tables[AS_N_TABLES];
extern const sqlite3_module as_table_module, as_value_module, as_measurement_module, as_node_module, as_event_module,
    as_attribute_module;

/* Calls visit for each table of the dataset in the order of docs/sql.md, the source's own tables of records last;
 * records is set for tables of records. Stops with false when visit returns it. */
bool as_each_table(const as_view *view,
                   bool (*visit)(void *user, const as_sql_table *table, const char *name, const as_table *records),
                   void *user);
/* The columns of a table as in CREATE TABLE, for a table of records made from its names. sqlite3_free() it. NULL when
 * memory is out. */
char *as_table_schema(const as_sql_table *table, const as_table *records);

/* The datasets of a connection: the client data of all modules. */
typedef struct as_views {
    as_view *views;
    size_t n;
    char *main_name;
} as_views;

/* As as_sql_open(), without the guard against changes. patience: see as_sql_open_patient(); may be NULL. */
assay_status as_sql_connect(const as_dataset *const *datasets, const char *const *names, size_t n,
                            const as_patience *patience, sqlite3 **out, assay_error *error);

/* ---- the order of records ---------------------------------------------------------------------------------------- */

/* Whether the column of a table of records holds nothing but numbers and null. */
bool as_rows_can_be_ordered(as_vtab *table, int column);
/* The numbers of its rows by the value of such a column, equal ones ascending. To be freed; NULL when memory is out. */
uint32_t *as_rows_order(const as_vtab *table, int column, bool is_descending);

/* ---- what the modules have in common ----------------------------------------------------------------------------- */

int as_vtab_connect(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **out, char **message);
int as_vtab_disconnect(sqlite3_vtab *base);
void as_result_cell(sqlite3_context *context, as_view *view, as_cell cell);
static inline void as_result_id(sqlite3_context *context, assay_id id) {
    if (id == ASSAY_NONE)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, id);
}
/* NULL for AS_NO_STR. */
void as_result_str(sqlite3_context *context, const as_view *view, as_str id);
void as_result_number(sqlite3_context *context, as_number number);
/* Beyond 63 bits: text. */
void as_result_whole(sqlite3_context *context, as_whole value);

/* An input that turns out to be damaged when its values are decoded: sets the table's message and gives SQLite's status
 * for it. as_sql_fail() makes ASSAY_E_FORMAT of it again. */
int as_vtab_fail(as_vtab *table, const assay_error *error);

/* What the right side of `column = ?` says about ids. */
typedef enum as_match { AS_MATCH_ANY, AS_MATCH_ID, AS_MATCH_NOTHING } as_match;
as_match as_match_id(sqlite3_value *value, assay_id *id);

/* For modules whose first n_keys columns are ids: takes the usable `column = ?`, gives each an argument in order of
 * columns, and a bit in idxNum. Returns the bits. */
unsigned as_take_ids(sqlite3_index_info *info, unsigned n_keys);
/* Reads the arguments of such a plan: keys[i] and the bit i of *given. False where nothing can match. */
bool as_read_ids(int plan, sqlite3_value **argv, unsigned n_keys, assay_id *keys, unsigned *given);
/* Whether rows that come in ascending order of `order` (columns, ended by -1) answer the ORDER BY, given the columns
 * fixed by the bits of plan. */
bool as_order_fits(const sqlite3_index_info *info, const int *order, unsigned plan);

#endif
