/* Reading Extra-P's JSON kinds: what records (JSON Lines, TaLPas) and documents (both layouts) have in common. A
 * cursor is a JSON reader plus the values and the unknown keys of the record it is in. Functions that return a status
 * may return AS_STEP_OVER: pass it up to where the next piece can be found. */
#ifndef AS_FORMATS_EXTRAP_CURSOR_H
#define AS_FORMATS_EXTRAP_CURSOR_H

#include "dataset/experiment.h"
#include "formats/extrap/extras.h"
#include "formats/format.h"
#include "io/json.h"

/* A broken rule was recorded as a problem (keep_going): leave this piece, go on with the next. */
#define AS_STEP_OVER ((assay_status)1)

enum { AS_EXTRAP_PROGRESS_BYTES = 1 << 18 };

/* A number of a list; location: index in its inner list, ASSAY_NONE where it stands in the outer one. */
typedef struct as_listed_value {
    as_number number;
    uint32_t location;
} as_listed_value;

typedef struct as_cursor {
    as_reader *reader;
    as_experiment *experiment;
    as_json json;
    const char *begin;               /* of the document, behind a byte order mark */
    const char *known, *known_begin; /* the place looked up last, and where its line begins */
    uint32_t known_line;
    as_vec values;      /* as_listed_value of the current record */
    as_vec coordinates; /* double */
    as_vec text;        /* char: see as_cursor_cell() */
    as_extras extras;
    as_vec point_texts; /* point_text by point: the JSON text it was read from */
    assay_id last_point;
    bool has_data;
    bool has_real_whole;     /* a coordinate written like 4.0 */
    const assay_id *new_ids; /* after as_cursor_finish(): final context for each tree id */
    size_t told;             /* bytes as_reader_progress() knows of */
} as_cursor;

/* False when memory is out. Always ended by as_cursor_end(). */
bool as_cursor_begin(as_cursor *cursor, as_reader *reader, bool semicolons);
void as_cursor_end(as_cursor *cursor);

/* Counts lines from the place looked up last, so that many problems in a large file cost no more than reading it. */
as_place as_cursor_place(as_cursor *cursor, const char *at);
/* A line begins here. */
void as_cursor_line(as_cursor *cursor, const char *at, uint32_t line);
/* as_broken() at the current token, or at another place. */
assay_status as_cursor_broken(as_cursor *cursor, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
assay_status as_cursor_broken_at(as_cursor *cursor, const char *at, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The current key stands in its object twice. */
assay_status as_cursor_duplicate(as_cursor *cursor);
/* The status for a JSON reader in error. */
assay_status as_cursor_syntax(as_cursor *cursor);
/* The next token; a syntax error becomes a status. */
static inline assay_status as_cursor_next(as_cursor *cursor) {
    return as_json_next(&cursor->json) == AS_JSON_ERROR ? as_cursor_syntax(cursor) : ASSAY_OK;
}
/* The current token must be of this type: "what must be an object". */
assay_status as_cursor_expect(as_cursor *cursor, as_json_type type, const char *what);
/* To the end of the object or array that was opened at this depth. */
assay_status as_cursor_leave(as_cursor *cursor, uint32_t depth);
/* After AS_STEP_OVER: to the end of the member or element, of the container of this depth, that the cursor is in.
 * AS_STEP_OVER again where the JSON itself is broken. */
assay_status as_cursor_resync(as_cursor *cursor, uint32_t depth);
/* Tells how far reading is, now and then. */
assay_status as_cursor_progress(as_cursor *cursor);

/* The current token as a name: a string without NUL bytes. what: "a metric". */
assay_status as_cursor_name(as_cursor *cursor, const char *what, const char **text, size_t *size);
/* The current token as a number, which may stand in quotes. */
assay_status as_cursor_number(as_cursor *cursor, const char *what, as_number *out);
/* The current token as a coordinate, appended to cursor->coordinates. */
assay_status as_cursor_coordinate(as_cursor *cursor);
/* Points come in the same order again and again. Where the object or list that begins at the current token is, byte
 * for byte, the text of the point that is likely to be next, it is passed over: *point is that point. Otherwise
 * nothing happens: read it, and tell. */
bool as_cursor_guess_point(as_cursor *cursor, assay_id *point);
/* The point was read from begin to the end of the current token. is_plain: its text says no more than the point. */
assay_status as_cursor_tell_point(as_cursor *cursor, assay_id point, const char *begin, bool is_plain);
/* The value that begins at the current token, a number, a list, or a list of lists, into cursor->values. */
assay_status as_cursor_values(as_cursor *cursor, const char *what);
/* The value that begins at the current token as a cell, objects and lists as (strict) JSON text. Its text is valid
 * until the cursor moves on. */
assay_status as_cursor_cell(as_cursor *cursor, as_cell *out);
/* The same for JSON text of the input that was read already. */
assay_status as_cursor_json(as_cursor *cursor, const char *text, size_t size, as_cell *out);
/* The current key and its value go to the unknown keys of the record. */
assay_status as_cursor_unknown(as_cursor *cursor, as_extra_kind kind);

/* Makes a parameter of the current token. */
assay_status as_cursor_parameter(as_cursor *cursor, assay_id *out);
/* Hands the values and unknown keys of the record to the experiment. */
assay_status as_cursor_commit(as_cursor *cursor, as_cell_key key);
/* After the last record: nothing at all is an error; numbers runs and places the unknown keys. */
assay_status as_cursor_finish(as_cursor *cursor);

#endif
