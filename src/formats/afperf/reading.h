/* How a capture is read.
 *
 * 1. tokenise.c   The text is cut into pieces at line ends, and several pieces at a time become lists of items: what a
 *                 record says in numbers. Nobody knows whether a piece begins at a record before the one before it is
 *                 done (a line end may be quoted), so this is supposed, and a piece is done again where it was not so.
 * 2. collect.c    Items are taken in the order of the file: intervals are opened and closed, records of data find whom
 *                 they belong to. Only what is needed later stays.
 * 3. resolve.c    What refers to something that came later, or never.  tree.c: call paths and times.  values.c: what
 *                 was measured.
 * 4. events.c, records.c   The tables that millions of rows are in, made from what was kept when somebody asks. */
#ifndef AS_FORMATS_AFPERF_READING_H
#define AS_FORMATS_AFPERF_READING_H

#include <pthread.h>

#include "formats/afperf/afperf.h"
#include "formats/afperf/scan.h"
#include "formats/format.h"

#define AS_AF_NONE UINT32_MAX

/* ---- problems ---------------------------------------------------------------------------------------------------- */

typedef enum as_af_rule {
    AS_AF_MISSING, /* field: which; UINT8_MAX: the value of a pair */
    AS_AF_NUMBER,  /* field: which; UINT8_MAX - 1: the measurement of a pair */
    AS_AF_RECORD_TYPE,
    AS_AF_OMITTED,    /* field: which */
    AS_AF_VALUE,      /* text: what does not fit; number: the datatype */
    AS_AF_ORPHAN,     /* text: what is not there; number: its id, where has_number */
    AS_AF_UNFINISHED, /* number: its id */
    AS_AF_OVERLAP,    /* number, other: the ids */
    AS_AF_UTF8,
    AS_AF_BACKWARDS, /* an interval that ends before it starts; number: its id */
    AS_AF_DUPLICATE, /* text: what kind of id; number: the id */
    AS_AF_FAULT,     /* field: as_af_step */
    AS_AF_CHECK      /* of the validator: text says it all; rule and severity are in `check` */
} as_af_rule;

typedef struct as_af_problem {
    size_t offset;
    uint64_t number, other;
    const char *text;  /* static */
    const char *check; /* rule of AS_AF_CHECK */
    as_af_rule rule;
    as_severity severity;
    uint8_t type, field; /* as_af_type of the record */
    bool has_number, has_other;
} as_af_problem;

/* Those of each severity are kept up to AS_MAX_PROBLEMS, others counted: many notes must not hide an error. */
typedef struct as_af_problems {
    as_vec list; /* as_af_problem */
    size_t kept[3], dropped;
} as_af_problems;

void as_af_problems_init(as_af_problems *problems, as_budget *budget);
void as_af_problems_free(as_af_problems *problems);
/* False when memory is out. */
bool as_af_report(as_af_problems *problems, const as_af_problem *problem);
bool as_af_problems_append(as_af_problems *problems, const as_af_problems *more);

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* A text of a piece, in place. */
typedef struct as_af_text {
    as_af_field field;
    uint64_t hash;
} as_af_text;

enum {
    AS_AF_BLANK_RUN = 1,      /* of RegionStart */
    AS_AF_BLANK_ID = 2,       /* of the region, section or owner */
    AS_AF_BLANK_INTERVAL = 4, /* of the section's interval */
    AS_AF_PROCESSED = 8,      /* an aggregate with an aggregation type */
    AS_AF_EXTRA = 16          /* more fields than the format has */
};

/* What a record says. Definitions (RunInfo, MeasurementType, SectionInfo) and unknown records are read again where they
 * lie, so that of them there is only the offset. */
typedef struct as_af_item {
    uint64_t offset;
    uint64_t time; /* of a span its end */
    union {
        uint64_t start, run; /* of a span; of RegionStart */
    };
    uint64_t id;
    union {
        uint64_t interval; /* of sections */
        struct {
            uint32_t label, tags; /* of RegionStart: texts of the piece; tags AS_AF_NONE: none */
        };
    };
    uint32_t n_pairs;
    uint8_t type, flags;
} as_af_item;

typedef struct as_af_piece {
    const char *data; /* all of the text */
    size_t from, end; /* of the text: records that begin in it are its own */
    size_t next;      /* where the record behind its last one begins */
    bool overruns;    /* a record goes on beyond what was looked at: to be done again with all of the text */
    bool failed;      /* memory is out */
    bool stopped;     /* at a fault, which is its last problem */
    as_vec items;     /* as_af_item */
    as_vec texts;     /* as_af_text */
    uint32_t *slots;  /* hash table of texts: index + 1 */
    size_t n_slots;
    as_af_problems problems;
    struct {
        size_t count, offset; /* of the first one */
    } extra[AS_AF_N_TYPES];
} as_af_piece;

void as_af_piece_init(as_af_piece *piece, as_budget *budget);
void as_af_piece_free(as_af_piece *piece);
/* Reads the records of data that begin in from … end - 1, looking no further than `limit`. keeps_going: past faults, at
 * the next line. */
void as_af_tokenise(as_af_piece *piece, const char *data, size_t size, size_t limit, bool keeps_going);

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

enum { AS_AF_OFFSET_BITS = 48 };
#define AS_AF_OFFSET_MASK ((UINT64_C(1) << AS_AF_OFFSET_BITS) - 1)

enum as_af_kind { AS_AF_REGION, AS_AF_SECTION, AS_AF_PAUSE };

/* Flags of an interval, above its offset. */
#define AS_AF_KIND_SHIFT 48
#define AS_AF_IS_OPEN    (UINT64_C(1) << 50)
#define AS_AF_HAS_NO_ID  (UINT64_C(1) << 51)
#define AS_AF_IS_CUT     (UINT64_C(1) << 52) /* unfinished: its end is the run's */

/* Regions, intervals of sections, and pauses, in the order of the records that start them. */
typedef struct as_af_interval {
    uint64_t start, end;
    uint64_t id;     /* of the region, or of the interval in its section */
    uint64_t offset; /* of the record that starts it, and flags */
    uint32_t what;   /* label of a region (as_str), section */
    uint32_t run;
    /* its call path in its run, AS_AF_NONE: none. While collecting: the next open one outwards of the run or section */
    uint32_t cell;
    /* set of tags, AS_AF_NONE: none. Of section intervals, while collecting: the next open one of any section */
    uint32_t tags;
} as_af_interval;

static inline enum as_af_kind as_af_kind_of(const as_af_interval *interval) {
    return (enum as_af_kind)(interval->offset >> AS_AF_KIND_SHIFT & 3);
}
static inline size_t as_af_offset_of(uint64_t offset) { return (size_t)(offset & AS_AF_OFFSET_MASK); }
/* Where the end comes before the start: the start. */
static inline uint64_t as_af_end_of(const as_af_interval *interval) {
    return interval->end < interval->start ? interval->start : interval->end;
}

typedef struct as_af_run {
    uint64_t id, start, latest;
    size_t offset; /* of RunInfo, or of the first record that names the run */
    double wallclock, per_second;
    uint64_t minor;
    as_str unit, version, application, application_version;
    uint32_t tags;
    uint32_t open; /* innermost open region */
    uint32_t n_pauses;
    bool is_defined, has_id;
    bool is_unordered;           /* region records of it go back in time, or overlap: the tree is made by sorting */
    uint64_t last_time;          /* of those records */
    assay_id final;              /* in the dataset */
    as_map measures;             /* id -> index of capture->measures */
    struct as_af_pauses *pauses; /* the union, made when needed */
} as_af_run;

typedef struct as_af_section {
    uint64_t id, latest;
    size_t offset;
    uint32_t run;
    as_str label;
    uint32_t tags, open;
    bool is_defined, has_id;
} as_af_section;

typedef enum as_af_datatype {
    AS_AF_DOUBLE,
    AS_AF_INT32,
    AS_AF_INT64,
    AS_AF_BOOL,
    AS_AF_STRING,
    AS_AF_ENUM,
    AS_AF_OTHER
} as_af_datatype;
as_af_datatype as_af_datatype_of(const char *text, size_t size);
static inline bool as_af_is_numeric(as_af_datatype type) { return type <= AS_AF_BOOL; }

typedef struct as_af_measure {
    uint64_t id;
    size_t offset;
    uint32_t run;
    as_af_datatype type;
    as_str name, dtype, unit, summary, description;
    assay_id metric;
} as_af_measure;

/* Flags of a record of data, above its offset. */
#define AS_AF_TYPE_SHIFT     48
#define AS_AF_OWNER_INTERVAL (UINT64_C(1) << 52)
#define AS_AF_OWNER_RUN      (UINT64_C(1) << 53)
#define AS_AF_IS_PROCESSED   (UINT64_C(1) << 54)
#define AS_AF_IS_PARTIAL     (UINT64_C(1) << 55) /* some of its pairs do not count */

/* Points and aggregates, in the order of the file. */
typedef struct as_af_datum {
    uint64_t offset;  /* and flags */
    uint32_t owner;   /* interval or run */
    uint32_t n_pairs; /* in the end only those that count */
} as_af_datum;

static inline as_af_type as_af_datum_type(const as_af_datum *datum) {
    return (as_af_type)(datum->offset >> AS_AF_TYPE_SHIFT & 15);
}

/* Tags in the order they are written. */
typedef struct as_af_tag {
    as_str key; /* "tag:NAME" */
    as_str value;
} as_af_tag;
typedef struct as_af_tag_set {
    uint32_t first, n; /* of capture->tags */
    as_str text;
} as_af_tag_set;

/* A call path in a run, and what adds up there. */
typedef struct as_af_cell {
    uint32_t run;
    assay_id context; /* while the tree grows that of the tree */
    bool is_section;
    uint64_t visits;
    as_whole time, covered; /* covered: of sections; visits of one region's path never overlap */
} as_af_cell;

/* What one metric adds up to in a cell. */
typedef struct as_af_sum {
    assay_id metric;
    uint32_t cell;
    bool is_real; /* else the sum is `whole` */
    double real;
    as_whole whole;
} as_af_sum;

/* Intervals by (region: id; section: its number and id): only their indices. */
typedef struct as_af_index {
    uint32_t *slots;
    uint8_t *marks; /* 0: the slot is free */
    size_t n_slots, count;
    uint64_t seed;
    as_budget *budget;
} as_af_index;

/* A capture that is read; it lives as long as the dataset. */
typedef struct as_af_capture {
    as_afperf file; /* first: it is the dataset's of_format */
    as_dataset *ds;
    bool deducts_pauses;
    as_vec intervals; /* as_af_interval */
    as_vec data;      /* as_af_datum */
    as_vec runs;      /* as_af_run: those that are defined, and those that are only named */
    as_vec sections, measures, tags, tag_sets, cells;
    as_map tag_set_of;         /* as_str of the text -> set */
    as_map run_of, section_of; /* id -> the latest of that id */
    as_str kinds[3], region_kind;
    as_str unfinished;
    /* events.c, records.c: sums of the tags of the events, of the pairs of the records, before every
     * AS_AF_STEP_SIZE-th */
    uint64_t *tags_before, *pairs_before;
    as_event_source events;
} as_af_capture;

#define AS_AF_INTERVAL(capture, i)   (&AS_AT(as_af_interval, &(capture)->intervals, i))
#define AS_AF_DATUM(capture, i)      (&AS_AT(as_af_datum, &(capture)->data, i))
#define AS_AF_RUN(capture, i)        (&AS_AT(as_af_run, &(capture)->runs, i))
#define AS_AF_SECTION_AT(capture, i) (&AS_AT(as_af_section, &(capture)->sections, i))
#define AS_AF_MEASURE(capture, i)    (&AS_AT(as_af_measure, &(capture)->measures, i))
enum { AS_AF_STEP_SIZE = 16 };

/* ---- collecting -------------------------------------------------------------------------------------------------- */

/* A stop without its start so far. */
typedef struct as_af_pending {
    uint64_t id, time, offset;
    uint32_t section; /* AS_AF_NONE: of a region */
    uint32_t next;    /* of the same id */
    bool is_taken;
} as_af_pending;

/* A record of data whose owner is not there so far. One of a run, with a blank id, belongs to the run of that region or
 * section. */
typedef struct as_af_waiting {
    uint64_t id, interval, time;
    uint32_t datum, section;
} as_af_waiting;

typedef struct as_af_reading {
    as_reader *reader;
    as_af_capture *capture;
    as_dataset *ds;
    const char *data;
    size_t size;
    as_af_problems problems;
    as_af_index ids;
    as_vec pending;     /* as_af_pending */
    as_map pending_of;  /* hash of id and section -> first one not taken; see collect.c */
    as_vec waiting;     /* as_af_waiting */
    as_vec loose_stops; /* as_af_loose: SectionStop records of sections that were not defined before them */
    as_vec unknown;     /* as_af_unknown_type */
    as_map unknown_of;  /* as_str of the name -> index */
    as_vec text;        /* char, for a moment */
    as_vec names;       /* as_str of the texts of a piece */
    as_vec sets;        /* tag set of the texts of a piece; AS_AF_NONE: not looked up */
    struct {
        size_t count, offset;
    } extra[AS_AF_N_TYPES];
    uint32_t current_run;     /* of the nearest RunInfo before, AS_AF_NONE: none */
    uint32_t nobody;          /* that of records which name no run before the first RunInfo */
    uint32_t block_run;       /* of the latest record that starts or stops something */
    uint32_t current_section; /* of the latest SectionInfo */
    uint32_t open_section_interval;
    enum { AS_AF_NO_BLOCK, AS_AF_RUN_BLOCK, AS_AF_INTERVAL_BLOCK, AS_AF_PENDING_BLOCK } block;
    uint32_t block_index; /* run, interval, or pending stop */
    struct {
        uint64_t id;
        uint32_t run;
        bool is_set;
    } last_run;
    size_t first_fault; /* SIZE_MAX: none */
    as_af_step fault;
} as_af_reading;

typedef struct as_af_loose {
    size_t offset;
    uint32_t section;
} as_af_loose;

typedef struct as_af_unknown_type {
    as_str name;
    size_t offset, count;
    bool in_first_minor; /* some is in a run of version 1.0 */
    bool before_runs;    /* some come before the first RunInfo */
} as_af_unknown_type;

/* All functions below give false, or ASSAY_E_NOMEM, when memory is out. */
/* section AS_AF_NONE: a region. AS_AF_NONE: unknown. */
uint32_t as_af_index_find(const as_af_index *ids, const as_af_capture *capture, uint32_t section, uint64_t id);
/* The interval, which has an id, becomes the one of that id; *before: the one that was, or AS_AF_NONE. */
bool as_af_index_put(as_af_index *ids, const as_af_capture *capture, uint32_t interval, uint32_t *before);
void as_af_index_free(as_af_index *ids);

/* Takes the items of a piece. */
bool as_af_collect(as_af_reading *reading, const as_af_piece *piece);
/* define.c: RunInfo, MeasurementType, SectionInfo, and records of no known type, at an offset. */
bool as_af_define(as_af_reading *reading, as_af_type type, size_t offset);
/* The run or section of this id, made (not defined) if new. AS_AF_NONE when memory is out. */
uint32_t as_af_run_named(as_af_reading *reading, uint64_t id, size_t offset);
uint32_t as_af_section_named(as_af_reading *reading, uint64_t id, size_t offset);
/* The run of the nearest RunInfo before; where there is none a run that is never defined. */
uint32_t as_af_run_before(as_af_reading *reading, size_t offset);
/* The set of the tags in a field. */
bool as_af_tags_of(as_af_reading *reading, const as_af_field *field, uint32_t *set);
bool as_af_intern(as_af_reading *reading, const as_af_field *field, as_str *text);

/* ---- afterwards -------------------------------------------------------------------------------------------------- */

assay_status as_af_resolve(as_af_reading *reading);  /* resolve.c */
assay_status as_af_add_runs(as_af_reading *reading); /* runs.c: run, attribute, parameter, metric */
bool as_af_build_tree(as_af_reading *reading);       /* tree.c */
/* values.c: what was measured in each cell, into *sums (as_af_sum), ordered by metric and cell. */
bool as_af_add_up(as_af_reading *reading, as_vec *sums);
bool as_af_add_profiles(as_af_reading *reading, const as_vec *sums); /* profiles.c */
bool as_af_add_events(as_af_reading *reading);                       /* events.c */
bool as_af_add_records(as_af_reading *reading);                      /* records.c */
/* measured.c: the event source's. */
bool as_af_recorded(const as_af_capture *capture, uint64_t record, as_recorded_taker take, void *user);
bool as_af_check(as_af_reading *reading); /* check.c: the validator's rules */
/* problems.c: all of them, in the order of the file, into the dataset. */
void as_af_tell_problems(as_af_reading *reading);

/* Seconds since the start of the run. */
double as_af_since_start(const as_af_run *run, uint64_t time);
/* pauses.c: the union of a run's pauses. */
bool as_af_unite_pauses(as_af_capture *capture);
uint64_t as_af_paused(const as_af_run *run);
/* The part of start … end that pauses overlap. */
uint64_t as_af_paused_in(const as_af_run *run, uint64_t start, uint64_t end);

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

typedef struct as_af_value {
    as_cell cell; /* of text: what it means, unless has_quotes */
    bool fits;
} as_af_value;
/* What a value of this type is; fits: whether it is one. measure NULL: undefined. */
as_af_value as_af_value_of(const as_af_field *field, const as_af_measure *measure, bool is_processed);

#endif
