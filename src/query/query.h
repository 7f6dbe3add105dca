/* SQL over datasets: the tables of docs/sql.md as SQLite virtual tables that read the dataset in place. */
#ifndef AS_QUERY_QUERY_H
#define AS_QUERY_QUERY_H

#include <sqlite3.h>

#include "dataset/dataset.h"
#include "io/output.h"

/* The datasets as databases of one connection. The first is `main`, and names[0]; further ones are attached under
 * names[i] (its tables are name.value and so on). names may be NULL for one dataset. The datasets must outlive the
 * connection; close it with sqlite3_close(). The connection can create temporary tables and views, never change
 * data. */
assay_status as_sql_open(as_dataset *const *datasets, const char *const *names, size_t n, sqlite3 **out,
                         assay_error *error);

/* The same of one dataset for who does not wait without end, where a table takes long before it has a row: the
 * statement fails then. SQLite's own steps have sqlite3_progress_handler(). */
assay_status as_sql_open_patient(as_dataset *dataset, const as_patience *patience, sqlite3 **out, assay_error *error);

/* A name for SQL from a path: "runs/a-1.txt" gives "a_1"; never "main" or "temp", and not one of the n taken. Caller
 * frees. */
char *as_sql_name(const char *path, char *const *taken, size_t n);

/* ASSAY_E_SQL with SQLite's message. */
assay_status as_sql_fail(sqlite3 *db, assay_error *error);

/* One cell of the current row of a statement; text is borrowed until the next step. */
as_cell as_sql_cell(sqlite3_stmt *statement, int column);

/* Writes all tables of the dataset as a real database to path, atomically. */
assay_status as_sql_export(const as_dataset *dataset, const char *path, assay_error *error);

#endif
