/* The lexical layer of AFPerf: records of comma-separated fields (RFC 4180 each), and what the fields of each type of
 * record are.
 *
 * A scanner gives the records of a text one after the other, where they lie; comments, blank records and repeated
 * signatures are stepped over. It stops at the first fault, which has an offset; as_af_place() makes line and column of
 * any offset, so that nobody counts lines while all is well. Nothing is allocated but the list of fields of the longest
 * record. */
#ifndef AS_FORMATS_AFPERF_SCAN_H
#define AS_FORMATS_AFPERF_SCAN_H

#include "core/error.h"
#include "core/memory.h"

/* ---- the types of records ---------------------------------------------------------------------------------------- */

/* The numbers of the document. */
typedef enum as_af_type {
    AS_AF_UNKNOWN, /* a name or number that version 1.0 does not have */
    AS_AF_MEASUREMENT_TYPE,
    AS_AF_PAUSE_RESUME,
    AS_AF_REGION_AGGREGATE,
    AS_AF_REGION_POINT,
    AS_AF_REGION_START,
    AS_AF_REGION_STOP,
    AS_AF_RUN_AGGREGATE,
    AS_AF_RUN_INFO,
    AS_AF_RUN_POINT,
    AS_AF_SECTION_AGGREGATE,
    AS_AF_SECTION_INFO,
    AS_AF_SECTION_POINT,
    AS_AF_SECTION_START,
    AS_AF_SECTION_STOP,
    AS_AF_RESERVED, /* record type 0 */
    AS_AF_N_TYPES = AS_AF_RESERVED
} as_af_type;

typedef enum as_af_field_kind {
    AS_AF_TEXT,
    AS_AF_TIME,    /* a time stamp: an integer of 64 bits */
    AS_AF_ID,      /* an integer of 64 bits, or blank */
    AS_AF_DECIMAL, /* a floating-point number */
    AS_AF_VERSION, /* N.N.N */
    AS_AF_TAGS     /* name=value;… */
} as_af_field_kind;

enum { AS_AF_MOST_FIELDS = 9 };

/* The format line of a type of record. fields[0] is the type itself. Records of data have pairs (measurement id, value)
 * behind their fields: one or more. */
typedef struct as_af_layout {
    const char *name;
    uint8_t n_fields, n_required; /* both with the type; without pairs */
    bool has_pairs;
    struct {
        const char *name; /* as in the document */
        as_af_field_kind kind;
        bool can_be_blank;
    } fields[AS_AF_MOST_FIELDS];
} as_af_layout;

/* By type; that of AS_AF_UNKNOWN has no name. */
extern const as_af_layout as_af_layouts[AS_AF_N_TYPES];
/* "RegionStart", "5" or "0x5". */
as_af_type as_af_type_of(const char *text, size_t size);

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* A field as it stands: of a quoted one what is between the quotes, where each doubled quote is still two. */
typedef struct as_af_field {
    const char *text;
    uint32_t size;
    bool is_quoted, has_quotes; /* has_quotes: some are doubled, see as_af_unquote() */
} as_af_field;

typedef struct as_af_record {
    as_af_type type;
    size_t offset, end; /* of its first byte, and behind its last one, the separator included */
    const as_af_field *fields;
    size_t n_fields; /* at least 1; of them only the scanner's most_fields first ones are there */
} as_af_record;

typedef struct as_af_scanner {
    const char *data;
    size_t size, next;  /* next: where the next record begins */
    size_t most_fields; /* that are kept of a record, others are only counted: SIZE_MAX, unless the caller sets it */
    as_vec fields;      /* as_af_field */
    size_t fault;       /* offset of what stopped it */
    bool has_high;      /* there were bytes beyond ASCII; the caller may clear it */
    size_t
        odd_header; /* a later signature of this version with other blanks, SIZE_MAX: none; the caller may clear it */

    /* private: what is left of a block of 64 bytes that begins at `block` */
    size_t block;
    uint64_t marks; /* its commas, quotes and line ends, the lowest bit being the first byte */
} as_af_scanner;

/* The first 16 bytes of every file; may come again at the start of a record. */
#define AS_AF_SIGNATURE "# AFPerf v1     "
enum { AS_AF_SIGNATURE_SIZE = 16 };
/* Whether "# AFPerf v" and a number begin here; *major is that number, 0 where it is beyond 64 bits. */
bool as_af_signature_of(const char *text, size_t size, uint64_t *major);

typedef enum as_af_step {
    AS_AF_RECORD,
    AS_AF_END,
    AS_AF_LONE_QUOTE,     /* a quote inside an unquoted field */
    AS_AF_AFTER_QUOTE,    /* bytes behind a closing quote */
    AS_AF_OPEN_QUOTE,     /* the text ends inside a quoted field; fault: its quote */
    AS_AF_OTHER_VERSION,  /* a signature of another major version */
    AS_AF_FIELD_TOO_LONG, /* 4 GiB and more */
    AS_AF_OUT_OF_MEMORY
} as_af_step;

/* Begins at `from`, which must be the first byte of a record. budget may be NULL. */
void as_af_scan(as_af_scanner *scanner, const char *data, size_t size, size_t from, as_budget *budget);
/* The next record; its fields are the scanner's until the next call. */
as_af_step as_af_next(as_af_scanner *scanner, as_af_record *record);
void as_af_scan_end(as_af_scanner *scanner);
/* What a fault is, for people: "a quote inside an unquoted field; put the field in quotes and double those in it". */
const char *as_af_fault_text(as_af_step fault);

/* The field that a record leaves out, as some of the document's examples do: its index, or 0 where all are there. What
 * stands behind it is one place further to the front: of RunInfo the format version (4), of RegionStart and SectionInfo
 * the run id (2). */
size_t as_af_omitted(const as_af_record *record);

/* The fields of one record that is known to be without faults, one after the other and without any memory. */
typedef struct as_af_walker {
    const char *at, *end; /* end: of the text */
    bool is_over;
} as_af_walker;
as_af_walker as_af_walk(const char *data, size_t size, size_t offset);
/* False: there are no more. */
bool as_af_walk_next(as_af_walker *walker, as_af_field *field);

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* The bytes that the field means, appended to out (of char). False when memory is out. */
bool as_af_unquote(const as_af_field *field, as_vec *out);
/* Empty, or spaces and tabs only. */
bool as_af_is_blank(const as_af_field *field);
/* Decimal (leading zeros too) or 0x…, the whole range of 64 bits, blanks around it allowed; false: no such number,
 * negative or too large. */
bool as_af_integer(const as_af_field *field, uint64_t *out);
/* The same with a sign: -2^63 … 2^63 - 1. */
bool as_af_signed(const as_af_field *field, int64_t *out);
/* As strtod() in the C locale has it (inf, nan, hexadecimal), blanks around it allowed. */
bool as_af_real(const as_af_field *field, double *out);
/* "N.N.N"; major and minor (may be NULL): the first and the second one, something huge where 64 bits do not hold it. */
bool as_af_version(const as_af_field *field, uint64_t *major, uint64_t *minor);

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The line and column, from 1, of an offset: quoted line ends count as lines. Keeps count of where it was, so that
 * ascending offsets cost one pass. */
typedef struct as_af_lines {
    size_t offset, line, line_start;
} as_af_lines;
as_place as_af_place(as_af_lines *lines, const char *file, const char *data, size_t offset);

#endif
