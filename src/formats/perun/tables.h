/* The tables beside "record": frame, one row per element of a resource's trace; stored_model, one per model in the
 * file; field, one per column of "record".
 *
 * Who reads profiles makes them with as_perun_tables_new(), hands over the models of each profile with
 * as_perun_note_models() and as_perun_settle_models(), and ends with as_perun_tables_finish(). */
#ifndef AS_FORMATS_PERUN_TABLES_H
#define AS_FORMATS_PERUN_TABLES_H

#include "formats/perun/cells.h"
#include "formats/perun/perun.h"

typedef struct as_perun_tables as_perun_tables;

/* How often something odd was met, and where first. */
typedef struct as_perun_note {
    uint64_t count;
    const char *first;
} as_perun_note;

/* Adds the tables, without rows, to reader->dataset, which owns them. perun and flattener are borrowed until
 * as_perun_tables_finish(); perun->records lives as long as the dataset. NULL when memory is out. */
as_perun_tables *as_perun_tables_new(as_reader *reader, const as_perun *perun, as_flattener *flattener);

/* Remembers a value of "models", sound JSON in the text that is given to as_perun_settle_models(). place: GLOBAL,
 * SNAPSHOTS (with its number), or any other for those at the top. Twice in a row for the same place: the later one
 * counts, as with all keys that come twice. False when memory is out. */
bool as_perun_note_models(as_perun_tables *tables, as_perun_place place, uint32_t snapshot, as_raw_json raw);
/* At the end of a profile: its models become rows, those of global first, then those at the top, then those of
 * snapshots. path, text: of the profile. What is no model is left out with a warning. twice counts their keys that are
 * there again behind, and so do not count. */
assay_status as_perun_settle_models(as_perun_tables *tables, assay_id run, const char *path, const char *text,
                                    as_perun_note *twice);

/* At the end: frames of all kinds, fields. */
assay_status as_perun_tables_finish(as_perun_tables *tables);

/* The column for a key of the source: "id" and "run" are "source:id" and "source:run". UINT32_MAX when memory is
 * out. */
uint32_t as_perun_key_column(as_dataset *ds, as_records *records, const char *key, size_t size);

/* Gives a cell's text the life of the dataset. False when memory is out. */
bool as_perun_keep_text(as_dataset *ds, as_cell *cell);

/* ---- frames.c, fields.c ------------------------------------------------------------------------------------------ */

typedef struct as_perun_frames as_perun_frames;
/* Adds the table "frame", without rows; owned by the dataset. */
as_perun_frames *as_perun_frames_new(as_dataset *ds, const as_perun *perun);
/* Reads the traces of all kinds, which have them by now. */
assay_status as_perun_frames_finish(as_perun_frames *frames, as_reader *reader, as_flattener *flattener);

/* Adds the table "field": id, run, name, rows (that have a value), numbers (how many of them are numbers or booleans),
 * whose ("row": the rows' own, "type": their types', "both"). Counted when it is asked for. */
bool as_perun_fields_new(as_dataset *ds, const as_records *records);

#endif
