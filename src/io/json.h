/* JSON in and out.
 *
 * Reading is by pulling tokens over bytes in memory: strict RFC 8259 and UTF-8, no copy, no recursion, exact places for
 * errors. Why our own: the formats need NaN literals, TaLPas' semicolons, the raw text of numbers and of values nobody
 * knows, and memory that does not grow with the file. It is tested against simdjson (tests/unit/test_json_simdjson.cpp,
 * fuzz/fuzz_json.cpp). */
#ifndef AS_IO_JSON_H
#define AS_IO_JSON_H

#include "core/error.h"
#include "core/memory.h"
#include "core/number.h"
#include "io/output.h"

typedef enum as_json_type {
    AS_JSON_ERROR, /* see as_json_fail() */
    AS_JSON_END,   /* the document is over, only white space follows */
    AS_JSON_NULL,
    AS_JSON_FALSE,
    AS_JSON_TRUE,
    AS_JSON_NUMBER,
    AS_JSON_STRING,
    AS_JSON_KEY, /* a string that names a member; its value is the next token */
    AS_JSON_OBJECT,
    AS_JSON_OBJECT_END,
    AS_JSON_ARRAY,
    AS_JSON_ARRAY_END
} as_json_type;

typedef struct as_json_options {
    bool nan_literals;  /* NaN, Infinity, -Infinity are numbers */
    bool semicolons;    /* ';' separates like ',' (TaLPas) */
    uint32_t max_depth; /* 0: 1024 */
} as_json_options;

typedef struct as_json {
    const char *path; /* for messages */
    const char *begin, *at, *end;
    as_json_options options;
    uint32_t first_line; /* line number of begin, 1 unless set by as_json_restart() */

    /* the current token */
    as_json_type type;
    const char *token; /* its raw text: strings with their quotes */
    size_t token_size;
    /* Of open objects and arrays: OBJECT and ARRAY count themselves, OBJECT_END and ARRAY_END no longer */
    uint32_t depth;

    /* private */
    as_vec stack; /* one char per open container */
    as_vec text;  /* decoded string */
    int state;
    bool has_escapes; /* the current string */
    const char *error;
    const char *error_at;
} as_json;

/* One document in data, not NUL-terminated. A byte order mark before it is skipped. budget may be NULL. Always ended by
 * as_json_free(). */
void as_json_init(as_json *json, const char *path, const char *data, size_t size, as_json_options options,
                  as_budget *budget);
/* Starts anew on another document, keeping the buffers: for records, a line each. line: its number in the file. */
void as_json_restart(as_json *json, const char *data, size_t size, uint32_t line);
void as_json_free(as_json *json);

/* The next token; also in json->type. After ERROR and END it stays there. */
as_json_type as_json_next(as_json *json);

/* The text of the current STRING or KEY, escapes resolved, valid UTF-8 (lone surrogates are an error). Without escapes
 * it points into the input; else into a buffer valid until the next call. NULL (and json is in error) when memory is
 * out. Not NUL-terminated. */
const char *as_json_text(as_json *json, size_t *size);
/* Whether the current STRING or KEY is this text. */
bool as_json_is(as_json *json, const char *text);
/* The current NUMBER. Too large for a double: infinity. */
as_number as_json_number(const as_json *json);

/* From the first token of a value, the current one, to its last: *raw (may be NULL) is its text, checked. Works on
 * scalars too. AS_JSON_ERROR on bad JSON, else the type of the last token. */
as_json_type as_json_skip(as_json *json, const char **raw, size_t *raw_size);

/* Passes over the object or array that begins at the current token and is known to be `size` bytes of sound JSON, such
 * as a repetition of what was read before. The current token is its end then. */
void as_json_pass(as_json *json, size_t size);

/* The number at p, where it is short and plain (at most 18 digits, no exponent, exact in one division): the place
 * behind it. NULL: it is not, or there is none, and as_json_next() must look at it. What follows the number is not
 * looked at. */
const char *as_json_plain_number(const char *p, const char *end, as_number *out);
/* Takes such numbers, at most n, from the list that the current token begins or is an element of. Returns how many: the
 * next token is what comes behind them. */
size_t as_json_take_numbers(as_json *json, as_number *out, size_t n);

/* The place of the current token, or of the error: line and column, which counts bytes. Counts from the start: not for
 * hot paths. */
as_place as_json_place(const as_json *json);
/* Ends reading with an error at `at`, a place in the input: what the values say cannot be used. message is borrowed. */
as_json_type as_json_refuse(as_json *json, const char *at, const char *message);
/* After AS_JSON_ERROR: fills error (rule "json-syntax", or memory) and returns its status. */
assay_status as_json_fail(const as_json *json, assay_error *error);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A JSON string with quotes; invalid UTF-8 is replaced by U+FFFD. */
void as_json_write_string(as_output *out, const char *text, size_t size);
/* A number; nan, inf, -inf become the strings "nan", "inf", "-inf". */
void as_json_write_real(as_output *out, double value);

#endif
