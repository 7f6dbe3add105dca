/* Tables of records whose rows share most of their cells, such as Perun's resources. Each row is of a kind, which has
 * the cells that all its rows share, and has a few cells of its own, mostly numbers: a million rows of some hundred
 * kinds take 30 MB instead of 200, and who reckons with a column gets it as an array. To everybody else it is a table
 * like any other: as_ds_records(), SQL.
 *
 * Readers: as_records_new(), columns, kinds, then rows in order. Everything returns UINT32_MAX, NULL or false when
 * memory is out. */
#ifndef AS_DATASET_RECORDS_H
#define AS_DATASET_RECORDS_H

#include "dataset/build.h"

typedef struct as_records as_records;

/* A cell that all rows of a kind share. Its text lives as long as the dataset (as_ds_intern(), the arena, or what the
 * dataset holds). */
typedef struct as_shared_cell {
    uint32_t column;
    bool is_flag; /* 0 or 1 that stand for false and true */
    as_cell cell;
} as_shared_cell;

/* What a row says in a column of its own. */
typedef enum as_own_type {
    AS_OWN_ABSENT, /* nothing: the kind's cell, if it has one, is the row's */
    AS_OWN_NULL,   /* null, and it says so */
    AS_OWN_FALSE,  /* 0 in the table */
    AS_OWN_TRUE,   /* 1 in the table */
    AS_OWN_INT,
    AS_OWN_UINT, /* above INT64_MAX */
    AS_OWN_REAL,
    AS_OWN_TEXT,
    AS_OWN_DIGITS /* an integer beyond 64 bits: its digits, text in the table */
} as_own_type;

typedef union as_own_value {
    int64_t i;
    uint64_t u;
    double r;
    as_str text; /* TEXT, DIGITS */
} as_own_value;

/* One column's own cells. Those of rows from `count` on are absent. */
typedef struct as_own_column {
    const uint8_t *types; /* as_own_type */
    const as_own_value *values;
    size_t count;
} as_own_column;

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* The table of this name, which the dataset must not have yet; it becomes one of ds->records. */
as_records *as_records_new(as_dataset *ds, const char *name);
/* The column of this name, made if new; the columns "id" and "run" are there already and do not count. */
uint32_t as_records_column(as_records *records, as_str name);
/* A kind with these cells, at most one of each column, which are copied. Kinds are numbered from 0. */
uint32_t as_records_add_kind(as_records *records, const as_shared_cell *cells, size_t n);
/* n further rows of a kind and run; their own cells are absent. Runs come in ascending order. Fails also beyond 2^32 -
 * 2 rows. */
bool as_records_add_rows(as_records *records, assay_id run, uint32_t kind, size_t n);
/* An own cell of a row. Cheap where rows are set in ascending order; one that is set again has its last value. False
 * also where columns that begin late would need too much. */
bool as_records_set(as_records *records, size_t row, uint32_t column, as_own_type type, as_own_value value);
/* Whether it was that, not memory, that made it fail. */
bool as_records_is_too_sparse(const as_records *records);
/* The same for n rows, from `row` on. */
bool as_records_set_numbers(as_records *records, size_t row, uint32_t column, const as_number *numbers, size_t n);
/* Says that there will be about so many rows, and that columns which the last row has go on to the end: takes memory
 * ahead. */
void as_records_expect(as_records *records, size_t rows);
/* Gives back memory that was taken ahead; at the end. */
void as_records_shrink(as_records *records);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The records behind the dataset's table of this name; NULL: there is none, or its rows share nothing. */
const as_records *as_ds_shared_records(const as_dataset *ds, const char *name);
size_t as_records_rows(const as_records *records);
size_t as_records_kinds(const as_records *records);
size_t as_records_columns(const as_records *records);
as_str as_records_column_name(const as_records *records, uint32_t column);
/* By name, or UINT32_MAX. */
uint32_t as_records_find_column(const as_records *records, const char *name);
/* The kind of each row. */
const uint32_t *as_records_row_kinds(const as_records *records);
assay_id as_records_run(const as_records *records, size_t row);
as_own_column as_records_own(const as_records *records, uint32_t column);
/* What all rows of the kind have in this column, unless they have one of their own. */
as_cell as_records_shared(const as_records *records, uint32_t kind, uint32_t column);
/* All of a kind's cells, in ascending order of columns. */
const as_shared_cell *as_records_kind(const as_records *records, uint32_t kind, size_t *n);
/* What the table has. */
as_cell as_records_cell(const as_records *records, size_t row, uint32_t column);
/* The same of what is a name: true and false are the texts "True" and "False", as regions are called, so that they are
 * not 1 and 0. */
as_cell as_records_shared_name(const as_records *records, uint32_t kind, uint32_t column);
as_cell as_records_name(const as_records *records, size_t row, uint32_t column);
/* Its number; NAN where it is none. *is_number (may be NULL): whether it is one; NaN is. Booleans are not. */
double as_records_number(const as_records *records, size_t row, uint32_t column, bool *is_number);

#endif
