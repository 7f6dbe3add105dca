/* Reading Perun profiles: what the files of it share.
 *
 * A profile is read in one pass over its text, region by region in file order. Rows go into the table at once; what
 * their kinds have in common stays raw text until the profile is over, because the map of types, the units and the time
 * of a snapshot may come after the resources they are about. Then the profile's kinds are flattened and get their
 * contexts and metrics (kinds.c), and its amounts are added up (values.c). What needs the final numbers of contexts
 * waits for as_perun_finish(). */
#ifndef AS_FORMATS_PERUN_READ_H
#define AS_FORMATS_PERUN_READ_H

#include "formats/perun/places.h"
#include "formats/perun/tables.h"

enum { AS_PERUN_DYNAMIC = 7 };           /* as many as as_perun_dynamic_keys has */
enum { AS_PERUN_MOST_LEAVES = 10000 };   /* attributes of a region; what has more is one attribute, its JSON */
enum { AS_PERUN_AMOUNT, AS_PERUN_SIZE }; /* of them: amount, structure-unit-size */

/* Oddities that lose nothing: one problem for each, with the first place and a count. */
typedef enum as_perun_oddity {
    AS_PERUN_NO_UID,
    AS_PERUN_NO_RESOURCES,
    AS_PERUN_UNEVEN,
    AS_PERUN_DUPLICATE,
    AS_PERUN_AMOUNT_TYPE,
    AS_PERUN_TRACE_TYPE,
    AS_PERUN_REGION_TYPE,
    AS_PERUN_RANGE,
    AS_PERUN_NAN,
    AS_PERUN_ODDITIES
} as_perun_oddity;

/* What surrounds resources and belongs to all of them. */
typedef struct as_perun_frame {
    as_perun_place place;
    uint32_t snapshot; /* UINT32_MAX: none */
    as_raw_json time;  /* raw; size 0: none */
} as_perun_frame;

/* A kind while its profile is read. */
typedef struct as_perun_draft {
    uint32_t frame;    /* of reading->frames */
    as_str type;       /* the id of its type in the new layout, else AS_NO_STR */
    const char *place; /* where it first stands */
    as_str metric, unit;
    size_t first_row, n_rows; /* of a type */
    bool is_measured;         /* some of its rows have an amount and a size */
} as_perun_draft;

/* A spelling of a kind's members. */
typedef struct as_perun_spelling {
    const char *text;
    size_t size;
    uint32_t kind, frame;
} as_perun_spelling;

/* A member of an object, while its keys are put in order. Offsets into a buffer: the decoded key, and behind it the
 * canonical value. */
typedef struct as_perun_member {
    size_t key, value, end;
    as_raw_json raw; /* "key":value */
    size_t number;   /* in its object */
} as_perun_member;

/* An entry of header.units. */
typedef struct as_perun_unit {
    as_str name, unit; /* unit may be AS_NO_STR */
} as_perun_unit;

/* The sum of a kind's amounts. */
typedef struct as_perun_sum {
    as_whole whole;
    assay_id run;
    double real, lost;        /* of those that are no integers, and what its rounding lost */
    uint32_t n_whole, n_real; /* there are fewer rows than 2^32 */
} as_perun_sum;

struct as_perun_reading {
    as_reader *reader;
    as_dataset *ds;
    as_perun *perun;
    as_flattener *flattener;
    as_perun_tables *tables;
    as_tree tree;
    as_map metrics;                     /* as_pair(name, unit) -> metric */
    as_vec sums;                        /* as_perun_sum, by kind */
    uint32_t dynamic[AS_PERUN_DYNAMIC]; /* their columns, UINT32_MAX until one is needed */
    as_json inner;                      /* over text that is known to be sound */

    /* The profile that is being read */
    const char *path, *text;
    size_t size;
    as_perun_places places;
    bool keeps_text;
    assay_id run;
    size_t profile; /* its index */
    as_perun_note notes[AS_PERUN_ODDITIES];
    const char *next_progress;
    struct as_perun_patterns *patterns;
    as_map seen;            /* keys of regions */
    size_t attributes_left; /* that the region may still have */
    as_vec frames;          /* as_perun_frame */
    size_t first_kind;
    as_vec drafts;                                   /* as_perun_draft, by kind - first_kind */
    as_map spelling_of;                              /* hash -> index into spellings */
    as_vec spellings;                                /* as_perun_spelling */
    as_map kind_of;                                  /* hash of the canonical text -> index into canonicals */
    as_vec canonicals;                               /* as_perun_spelling */
    as_vec members, canonical, order, key, callpath; /* buffers */
    as_perun_cells cells;                            /* of the kind that is being settled */
    as_map types;                                    /* id of a type -> index into type_texts */
    as_vec type_texts;                               /* as_raw_json: what the map says */
    as_raw_json header;
    as_vec units;   /* as_perun_unit */
    as_map unit_of; /* name -> index into units */
};

/* ---- read.c */

/* Counts an oddity that stands at `at` in the text. */
void as_perun_odd(as_perun_reading *reading, as_perun_oddity oddity, const char *at);
/* A break of a rule at `at`. */
#define AS_PERUN_BROKEN(reading, at, rule, ...)                                                                        \
    as_broken((reading)->reader, as_perun_locate(&(reading)->places, at), rule, __VA_ARGS__)
/* as_json_skip() that looks for odd numbers. *leaves (may be NULL): how many scalars and empty containers there are.
 * False: json is in error. */
bool as_perun_skip(as_perun_reading *reading, as_json *json, as_raw_json *raw, size_t *leaves);
/* The value that begins here is of a wrong type: what it must be. Where the reader goes on, its last token is the
 * current one then. */
assay_status as_perun_skip_broken(as_perun_reading *reading, as_json *json, const char *what);
/* The current token, a scalar, as an own cell. False when memory is out. */
bool as_perun_own(as_perun_reading *reading, as_json *json, as_own_type *type, as_own_value *value);
/* An own cell of a row. */
bool as_perun_set(as_perun_reading *reading, size_t row, uint32_t column, as_own_type type, as_own_value value);
/* as_perun_key_column() of "record". */
static inline uint32_t as_perun_column(as_perun_reading *reading, const char *key, size_t size) {
    return as_perun_key_column(reading->ds, reading->perun->records, key, size);
}
/* Text that lives as long as the dataset: itself, or a copy. text NULL: memory is out. */
as_raw_json as_perun_keep(as_perun_reading *reading, as_raw_json raw);
static inline bool as_json_is_scalar(as_json_type type) { return type >= AS_JSON_NULL && type <= AS_JSON_STRING; }

/* Says how far reading is, now and then. */
assay_status as_perun_progress(as_perun_reading *reading, const as_json *json);

/* ---- resources.c: the current token is the region's value; on return its last. */
assay_status as_perun_read_list(as_perun_reading *reading, as_json *json, uint32_t frame);
/* ---- columns.c */
assay_status as_perun_read_columns(as_perun_reading *reading, as_json *json);
assay_status as_perun_read_types(as_perun_reading *reading, as_json *json);

/* ---- kinds.c */

/* The kind of these raw members ("key":value,… in a frame), new or known. UINT32_MAX when memory is out. */
uint32_t as_perun_find_kind(as_perun_reading *reading, uint32_t frame, const char *members, size_t size,
                            const char *place);
/* A new kind for rows of a type whose members follow. */
uint32_t as_perun_add_draft(as_perun_reading *reading, uint32_t frame, as_str type, const char *place);
/* The members of a kind, whose type the map says to be this object: without its braces, and without those that count no
 * longer. text NULL: memory is out. */
as_raw_json as_perun_tidy(as_perun_reading *reading, const as_perun_draft *draft, as_raw_json object);
/* ---- settle.c */
/* Gives the profile's kinds their cells, contexts and metrics. */
assay_status as_perun_settle_kinds(as_perun_reading *reading);

/* ---- values.c */

/* Adds up the amounts of the profile's rows. */
assay_status as_perun_add_up(as_perun_reading *reading);
/* Blocks of all profiles; kinds have their final contexts. */
bool as_perun_make_blocks(as_perun_reading *reading);

/* ---- measurements.c */

/* Points, series and measurements of all profiles; kinds have their final contexts. */
bool as_perun_measure(as_perun_reading *reading);

/* ---- attributes.c */

/* Leaves of a region as attributes of the run. */
bool as_perun_add_attributes(as_perun_reading *reading, const char *key, size_t key_size, as_raw_json raw,
                             size_t leaves);

#endif
