/* Unknown keys of JSON records: rows of the table "record", so that SQL sees them and the writer of the same format
 * puts them back.
 *
 * Columns: id, run (the record's first repetition), metric, context, repetitions (of the record), then one for each
 * key; parameters beyond those of the first record are "params:NAME". Keys that cannot be a column (reserved, empty,
 * equal to another but for case, or beyond the first AS_EXTRAP_MAX_RECORD_COLUMNS) stay together as a JSON object: in
 * the column "other", parameters in the column "params". */
#ifndef AS_FORMATS_EXTRAP_EXTRAS_H
#define AS_FORMATS_EXTRAP_EXTRAS_H

#include "dataset/experiment.h"
#include "formats/extrap/limits.h"
#include "io/output.h"

typedef enum as_extra_kind { AS_EXTRA_KEY, AS_EXTRA_PARAMETER } as_extra_kind;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct as_extras {
    as_dataset *ds;
    as_table *table; /* NULL until there is a row */
    as_map seen;     /* (kind, string id of the key) -> the last record that has it */
    as_map columns;  /* (kind, string id of the key) -> column */
    as_vec pending;  /* of the current record */
    as_vec text;     /* char: strings and nested values of the current record */
    as_vec rows;     /* where the rows of the table belong */
    uint32_t record;
} as_extras;

void as_extras_init(as_extras *extras, as_dataset *ds);
void as_extras_free(as_extras *extras);
/* A new record: what was pending is dropped. */
void as_extras_begin(as_extras *extras);

typedef enum as_extras_result { AS_EXTRAS_FINE, AS_EXTRAS_DUPLICATE, AS_EXTRAS_NO_MEMORY } as_extras_result;
/* Notes that the record has this key. */
as_extras_result as_extras_key(as_extras *extras, as_extra_kind kind, const char *key, size_t size);
/* The value of the key noted last; its text is copied. */
bool as_extras_value(as_extras *extras, as_cell value);
/* The pending values one by one; false behind the last. The text is valid until the next record begins. */
bool as_extras_get(const as_extras *extras, size_t index, as_str *key, as_cell *value);
/* Makes a row of what is pending, if anything. Call it before the record's values are handed over. */
bool as_extras_commit(as_extras *extras, as_experiment *experiment, as_cell_key key, uint32_t repetitions);
/* After as_experiment_finish(): sets runs and contexts. */
bool as_extras_finish(as_extras *extras, const assay_id *new_ids);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The rows of such a table by (metric, context, run). */
typedef struct as_extras_index {
    const as_dataset *ds;
    const as_table *table; /* NULL: no such rows */
    as_vec rows;           /* sorted */
} as_extras_index;

/* Only of a dataset that this format read. False when memory is out. */
bool as_extras_index_make(as_extras_index *index, const as_dataset *ds, const char *format);
void as_extras_index_free(as_extras_index *index);
/* The row of the record whose values begin with this run, or SIZE_MAX; *repetitions: how many it has. */
size_t as_extras_find(const as_extras_index *index, assay_id metric, assay_id context, assay_id run,
                      uint64_t *repetitions);
/* Writes `,"key":value` for each key of the row. separator: ',' or ';'. */
void as_extras_write(const as_extras_index *index, size_t row, as_extra_kind kind, char separator, as_output *out);

/* A number as Python writes JSON: NaN, Infinity, -Infinity. */
void as_write_json_number(as_output *out, as_number number);

#endif
