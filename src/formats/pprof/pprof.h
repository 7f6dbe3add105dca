/* pprof's profile.proto, and what the files of this folder share.
 *
 * A profile is one message, mostly packed by gzip. Texts are numbers of strings in a table; samples name locations by
 * their ids, the innermost first; a location is an address with the lines of source that are there: several, where
 * functions were put in place, the innermost first. */
#ifndef AS_FORMATS_PPROF_PPROF_H
#define AS_FORMATS_PPROF_PPROF_H

#include "formats/format.h"
#include "io/protobuf.h"

enum { /* of Profile */
       AS_PPROF_SAMPLE_TYPE = 1,
       AS_PPROF_SAMPLE,
       AS_PPROF_MAPPING,
       AS_PPROF_LOCATION,
       AS_PPROF_FUNCTION,
       AS_PPROF_STRING,
       AS_PPROF_DROP_FRAMES,
       AS_PPROF_KEEP_FRAMES,
       AS_PPROF_TIME,
       AS_PPROF_DURATION,
       AS_PPROF_PERIOD_TYPE,
       AS_PPROF_PERIOD,
       AS_PPROF_COMMENT,
       AS_PPROF_DEFAULT_TYPE,
       AS_PPROF_DOC_URL,
       AS_PPROF_FIELDS /* one more than there are */
};
enum { AS_PPROF_TYPE_TYPE = 1, AS_PPROF_TYPE_UNIT };
enum { AS_PPROF_SAMPLE_LOCATION = 1, AS_PPROF_SAMPLE_VALUE, AS_PPROF_SAMPLE_LABEL };
enum { AS_PPROF_LABEL_KEY = 1, AS_PPROF_LABEL_TEXT, AS_PPROF_LABEL_NUMBER, AS_PPROF_LABEL_UNIT };
enum {
    AS_PPROF_MAPPING_ID = 1,
    AS_PPROF_MAPPING_START,
    AS_PPROF_MAPPING_LIMIT,
    AS_PPROF_MAPPING_OFFSET,
    AS_PPROF_MAPPING_FILE,
    AS_PPROF_MAPPING_BUILD,
    AS_PPROF_MAPPING_HAS_FUNCTIONS,
    AS_PPROF_MAPPING_HAS_FILES,
    AS_PPROF_MAPPING_HAS_LINES,
    AS_PPROF_MAPPING_HAS_INLINED
};
enum {
    AS_PPROF_LOCATION_ID = 1,
    AS_PPROF_LOCATION_MAPPING,
    AS_PPROF_LOCATION_ADDRESS,
    AS_PPROF_LOCATION_LINE,
    AS_PPROF_LOCATION_FOLDED
};
enum { AS_PPROF_LINE_FUNCTION = 1, AS_PPROF_LINE_LINE };
enum {
    AS_PPROF_FUNCTION_ID = 1,
    AS_PPROF_FUNCTION_NAME,
    AS_PPROF_FUNCTION_SYSTEM_NAME,
    AS_PPROF_FUNCTION_FILE,
    AS_PPROF_FUNCTION_LINE
};

/* ds->of_format of a dataset that was read from a profile: the message, from which its writer makes the same profile
 * again. Held by the dataset. */
typedef struct as_pprof {
    as_vec bytes;
} as_pprof;
/* Of the dataset, where it is one of these and nothing went wrong when it was read; else NULL. */
const as_pprof *as_pprof_of(const as_dataset *ds);

extern const as_option as_pprof_write_options[];
assay_status as_pprof_write(as_writer *writer);
void as_pprof_losses(const as_dataset *ds, as_losses *losses);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct as_pprof_mapping {
    uint64_t id, start, limit, offset;
    as_str file, build_id;
    unsigned symbols; /* bits 0 … 3: has functions, files, lines, inlined frames */
} as_pprof_mapping;

typedef struct as_pprof_function {
    as_str name, system_name, file; /* AS_NO_STR: none */
    int64_t start_line;
} as_pprof_function;

typedef struct as_pprof_line {
    uint32_t function; /* index; UINT32_MAX: none */
    assay_id region;   /* once a sample has been there; else ASSAY_NONE */
    int64_t line;
} as_pprof_line;

typedef struct as_pprof_location {
    uint32_t mapping; /* index; UINT32_MAX: none */
    uint64_t address;
    size_t first_line, n_lines;
} as_pprof_location;

typedef struct as_pprof_type {
    as_str type, unit;
} as_pprof_type;

/* What the tables of a profile say; texts are the dataset's. */
typedef struct as_pprof_tables {
    as_reader *reader;
    const char *data; /* the message */
    size_t size;
    as_vec strings;                                         /* as_text_span, in the message */
    as_vec types, mappings, functions, locations, lines;    /* as_pprof_… */
    as_map mapping_of, function_of, location_of;            /* id -> index */
    as_str drop_frames, keep_frames, default_type, doc_url; /* AS_NO_STR: none */
    as_pprof_type period_type;
    int64_t time, duration, period;
    as_vec comments; /* as_str */
    size_t n_samples;
} as_pprof_tables;

/* All but the samples. as_pprof_tables_free() in every case. */
assay_status as_pprof_read_tables(as_reader *reader, const char *data, size_t size, as_pprof_tables *out);
void as_pprof_tables_free(as_pprof_tables *tables);
/* A rule is broken at a field. */
assay_status as_pprof_broken(const as_pprof_tables *tables, const as_protobuf *field, const char *rule,
                             const char *message);
/* A string of the table, by its number; AS_NO_STR for the empty one. */
assay_status as_pprof_text(const as_pprof_tables *tables, const as_protobuf *field, as_str *out);

typedef struct as_pprof_label {
    as_str key, text, unit; /* text AS_NO_STR: it is a number */
    int64_t number;
} as_pprof_label;
assay_status as_pprof_read_label(const as_pprof_tables *tables, const as_protobuf *field, as_pprof_label *out);

/* ---- places (places.c) ------------------------------------------------------------------------------------------- */

enum { AS_PPROF_PROCESSES, AS_PPROF_THREADS, AS_PPROF_LEVELS, AS_PPROF_PLACE_KEYS = 8 };

/* Labels of samples that say where they were taken, as locations of the dataset. */
typedef struct as_pprof_places {
    as_dataset *ds;
    as_str keys[AS_PPROF_LEVELS][AS_PPROF_PLACE_KEYS]; /* those that some sample has, in their order; AS_NO_STR: none */
    as_str kinds[AS_PPROF_LEVELS];
    bool has[AS_PPROF_LEVELS];
    as_str rank;  /* key of the rank that assay writes beside "location"; AS_NO_STR: none */
    as_map known; /* parent + 1, text -> location */
    as_vec text;  /* char */
    bool has_told;
} as_pprof_places;

/* wanted: "auto", "none", or the key of a label (-O locations). as_pprof_places_free() in every case. */
assay_status as_pprof_find_places(as_pprof_tables *tables, const char *wanted, as_pprof_places *out);
void as_pprof_places_free(as_pprof_places *places);
static inline bool as_pprof_has_places(const as_pprof_places *places) {
    return places->has[AS_PPROF_PROCESSES] || places->has[AS_PPROF_THREADS];
}
/* The place of a sample, made if new; one that says none is at "?". */
assay_status as_pprof_find_place(as_pprof_places *places, const as_pprof_tables *tables, as_protobuf sample,
                                 assay_id *out);

/* Makes contexts, metrics and values of the samples, and rows of those with labels. by_line: lines are contexts, and
 * call sites tell calls apart. */
assay_status as_pprof_build(as_pprof_tables *tables, bool by_line, as_pprof_places *places);

#endif
