/* Private to the reader of Nsight Systems exports: the activities of one export as arrays, and what is made of them.
 *
 *   load_*.c     rows of the tables -> the arrays here (strings.c: StringIds; places.c: processes, threads, devices,
 *                streams)
 *   symbols.c    names: what is fit for one, and how Extra-Prof encodes call paths
 *   paths_*.c    the call path of every call and range: contexts of the tree
 *   sweep.c      intervals against intervals: overlap, idle, concurrency
 *   values_*.c   the values of contexts at places
 *   events.c     every activity as an event, made when somebody asks
 *   read.c       the order of it all; nsight.c: the format
 *
 * Times are nanoseconds as stored. An activity is known by its table and its row here; rows stand in the order of the
 * file. */
#ifndef AS_FORMATS_NSIGHT_EXPORT_H
#define AS_FORMATS_NSIGHT_EXPORT_H

#include "dataset/build.h"
#include "formats/format.h"
#include "io/sqlite.h"

#define AS_NS_NONE UINT32_MAX
/* "No end": a mark, or a range that was never closed. */
#define AS_NS_OPEN INT64_MIN

typedef enum as_ns_kind {
    AS_NS_KERNEL,
    AS_NS_COPY,
    AS_NS_SET,
    AS_NS_GRAPH, /* a whole CUDA graph, where its kernels were not traced */
    AS_NS_SYNC,
    AS_NS_CALL,  /* of the CUDA API: "api" */
    AS_NS_RANGE, /* NVTX */
    AS_NS_OSRT,
    AS_NS_SAMPLE,
    AS_NS_KINDS
} as_ns_kind;

/* ---- places ------------------------------------------------------------------------------------------------------ */

typedef struct as_ns_process {
    uint64_t global_pid; /* hardware, VM and pid bits; the bits of the thread are 0 */
    uint32_t pid;
    as_str name; /* AS_NO_STR: unknown */
    assay_id location;
} as_ns_process;

typedef struct as_ns_thread {
    uint64_t global_tid;
    uint32_t process, tid;
    as_str name;
    assay_id location;
} as_ns_thread;

typedef struct as_ns_device {
    int64_t id;
    as_str name;
    double max_threads; /* that run at once; 0: unknown */
    assay_id location;
} as_ns_device;

typedef struct as_ns_stream {
    uint32_t process; /* AS_NS_NONE: the export does not say */
    uint32_t device;
    int64_t context, stream;
    assay_id location;
} as_ns_stream;

/* ---- activities -------------------------------------------------------------------------------------------------- */

/* What all of them have. end < start (a broken clock), or further from it than a number can say: `length` is 0, and no
 * interval work sees it. */
typedef struct as_ns_span {
    int64_t start, end; /* end AS_NS_OPEN: none */
} as_ns_span;

static inline int64_t as_ns_length(as_ns_span span) {
    int64_t length;
    return span.end == AS_NS_OPEN || span.end < span.start || __builtin_sub_overflow(span.end, span.start, &length)
               ? 0
               : length;
}

/* A function on the GPU. */
typedef struct as_ns_function {
    as_str name, demangled, mangled; /* name: the short one */
} as_ns_function;

/* How kernels are launched. -1: the export does not say. */
typedef struct as_ns_shape {
    int64_t grid[3], block[3], registers, static_memory, dynamic_memory;
} as_ns_shape;

/* A kernel, copy, memset or graph. */
enum { AS_NS_NO_MEMORY_KIND = 255 };
typedef struct as_ns_activity {
    as_ns_span span;
    uint32_t call;   /* the row in `calls` that caused it; AS_NS_NONE: none is known */
    uint32_t stream; /* row of `streams` */
    uint32_t what;   /* kernel: row of `functions`; copy: copyKind; memset: value; graph: its id */
    /* kernel: row of `shapes`; copy: srcKind * 256 + dstKind, AS_NS_NO_MEMORY_KIND where one of them is not said;
     * memset: memKind. AS_NS_NONE: not said */
    uint32_t detail;
    uint64_t bytes;      /* copies and memsets */
    int64_t correlation; /* 0: none */
    assay_id context;    /* where its time is: a tree id, then the dataset's */
} as_ns_activity;

typedef struct as_ns_sync {
    as_ns_span span;
    uint32_t call;
    uint32_t stream; /* AS_NS_NONE: of a whole context or device */
    uint32_t process;
    as_str name;        /* "STREAM_SYNCHRONIZE" … */
    bool has_sure_name; /* not from a number whose meaning differs between versions */
    int64_t correlation;
    assay_id context;
} as_ns_sync;

typedef struct as_ns_call {
    as_ns_span span;
    uint32_t thread;
    as_str name;         /* as stored, with "_v3020" */
    uint32_t chain;      /* callchainId; AS_NS_NONE: none */
    int64_t correlation; /* 0: none */
    int32_t result;      /* returnValue */
    assay_id context;    /* where its own time is */
} as_ns_call;

typedef struct as_ns_range {
    as_ns_span span;
    uint32_t thread;
    uint32_t type; /* 34, 59, 60, 70, 71 */
    as_str name;   /* decoded, for people: call paths joined with "->", no control characters */
    as_str path; /* of an Extra-Prof range its text as stored, perhaps encoded: one of symbols.stored; else AS_NO_STR */
    uint32_t domain; /* row of `domains`; AS_NS_NONE: the default one */
    assay_id context;
} as_ns_range;

typedef struct as_ns_domain {
    uint32_t process; /* AS_NS_NONE: the export does not say */
    int64_t id;
    as_str name;
    bool is_extra_prof;
} as_ns_domain;

typedef struct as_ns_osrt {
    as_ns_span span;
    uint32_t thread;
    as_str name;
    uint32_t nesting; /* level, from 0 */
    assay_id context;
} as_ns_osrt;

typedef struct as_ns_sample {
    int64_t time;
    uint32_t thread;
    int64_t chain; /* id in SAMPLING_CALLCHAINS */
    as_str name;   /* of the innermost frame */
    assay_id context;
} as_ns_sample;

/* Where the call paths come from. */
typedef enum as_ns_mode {
    AS_NS_RANGES,   /* Extra-Prof's NVTX ranges */
    AS_NS_CHAINS,   /* CUDA_CALLCHAINS, where there is no NVTX_EVENTS */
    AS_NS_RESOLVED, /* EXTRAP_RESOLVED_CALLPATHS, where both are missing */
    AS_NS_PLAIN     /* process, thread, NVTX nesting */
} as_ns_mode;

/* Extra-Prof's table of symbols: names by their numbers in encoded call paths. */
typedef struct as_ns_symbols {
    as_arena arena;
    as_strings numbers; /* as texts: base 36 */
    as_vec names;       /* as_str of the dataset, by the id of its number */
    as_strings stored;  /* call paths of ranges: not in the dataset, whose texts have no control characters */
    bool is_read;
} as_ns_symbols;

/* ---- the export -------------------------------------------------------------------------------------------------- */

/* It lives as long as the dataset, which holds it: events are made from it. */
typedef struct as_ns_export {
    as_reader *reader; /* while reading only */
    as_dataset *ds;
    as_database *db; /* while reading only */
    assay_id run;
    as_ns_mode mode;
    int64_t origin; /* the raw time of the run's second 0 */

    as_vec processes, threads, devices, streams; /* as_ns_process … */
    as_vec functions, shapes, domains;
    as_vec kernels, copies, sets, graphs; /* as_ns_activity */
    as_vec syncs, calls, ranges, osrt, samples;

    as_ns_symbols symbols; /* while reading only */
    as_tree tree;          /* while reading only */
    as_event_source events;
    struct as_ns_texts *texts;             /* StringIds (strings.c), while reading only */
    struct as_ns_place_index *place_index; /* of places.c, while reading only */
    struct as_ns_gpus *gpus;               /* of devices.c, while reading only */
    struct as_ns_event_words *event_words; /* of events.c, in the arena */
    /* what is odd, counted while loading, told once each by read.c */
    uint64_t n_negative, n_endless, n_wrong_type, n_no_string, n_no_call, n_many_calls, n_open_ranges, n_unnamed;
} as_ns_export;

/* Empty, for this dataset. as_ns_export_end_reading() frees what is needed while reading only, as_ns_export_release()
 * all that x has. */
void as_ns_export_init(as_ns_export *x, as_dataset *ds);
void as_ns_export_end_reading(as_ns_export *x);
void as_ns_export_release(as_ns_export *x);

#define AS_NS_AT(type, export, member, i) (&AS_AT(type, &(export)->member, i))

/* Places, made when new. AS_NS_NONE when memory is out. */
uint32_t as_ns_process_of(as_ns_export *x, uint64_t global_id);
uint32_t as_ns_thread_of(as_ns_export *x, uint64_t global_tid);
uint32_t as_ns_device_of(as_ns_export *x, int64_t device);
uint32_t as_ns_stream_of(as_ns_export *x, uint32_t process, int64_t device, int64_t context, int64_t stream);

/* The text of StringIds with this number, fit for a name; one like "[string 17]" where there is none. AS_NO_STR when
 * memory is out. While reading only. */
as_str as_ns_string(as_ns_export *x, int64_t id);

/* A text fit for a name, behind what out (a vector of char) holds: valid UTF-8 (what is not becomes U+FFFD), no control
 * characters (0x1F and others go, tabs and ends of lines become blanks). Where is_context is set, "->", which parts
 * contexts, becomes "- >". False when memory is out. */
bool as_ns_fit(const char *text, size_t size, bool is_context, as_vec *out);
/* The same, interned. */
as_str as_ns_fit_name(as_ns_export *x, const char *text, size_t size, bool is_context);

void as_ns_symbols_init(as_ns_export *x);
/* Reads the table of symbols from StringIds, once; it is empty where there is none. */
assay_status as_ns_symbols_read(as_ns_export *x);
void as_ns_symbols_free(as_ns_export *x);
/* The names of a call path as Extra-Prof writes it, plain ("a->b") or encoded (0x1F and a number for each), the
 * outermost first, behind what names (as_str) holds. A number that the table does not have is "[0x<number>]". False
 * when memory is out. */
bool as_ns_path_names(as_ns_export *x, const char *text, size_t size, as_vec *names);
/* All of them as one text for people, joined with "->". AS_NO_STR when memory is out. */
as_str as_ns_path_text(as_ns_export *x, const char *text, size_t size);

/* All arrays but the contexts in them; the place of every activity is a location of the dataset. */
assay_status as_ns_load(as_ns_export *x);
/* Contexts of all activities, in tree ids, by mode. Names of contexts have no "->" (it becomes "- >") and no control
 * characters. */
assay_status as_ns_find_paths(as_ns_export *x);
/* Metrics, values, and contexts that only values need (OVERLAP, WAIT, GPU IDLE). Ends the tree: contexts of all
 * activities are the dataset's from then on. */
assay_status as_ns_find_values(as_ns_export *x);
/* One of these metrics ("time", "bytes_transferred" …) where there are no values yet. False when memory is out. */
bool as_ns_add_metric(as_ns_export *x, const char *name);
/* The table of events: all kinds in the order of as_ns_kind, of each kind its rows. After as_ns_find_values(). */
assay_status as_ns_add_events(as_ns_export *x);
/* Extra-P's tags of contexts, by the kinds of their regions (tags.c). False when memory is out. */
bool as_ns_add_tags(as_dataset *ds);

/* ---- what activities are (names.c) ------------------------------------------------------------------------------- */

/* "HOST_TO_DEVICE" … of a copyKind; "UNKNOWN_COPY_KIND_42", made in buffer, of those that nobody knows. */
enum { AS_NS_NAME_SIZE = 40 };
const char *as_ns_copy_name(uint32_t kind, char buffer[AS_NS_NAME_SIZE]);
/* "pageable" … of a srcKind, dstKind or memKind; NULL: nobody knows. */
const char *as_ns_memory_name(uint32_t kind);
/* Whether the host waits for a copy or memset: its memory is pageable, or the name of its call has no "Async". */
bool as_ns_is_blocking(const as_ns_export *x, as_ns_kind kind, const as_ns_activity *activity);

/* ---- intervals against intervals (sweep.c): no knowledge of exports -------------------------------------------------
 *
 * Everything is sorted once (not at all where it is in order already) and gone through from the left: O(n log n)
 * whatever overlaps what. False when memory (budget) is out. */

typedef struct as_ns_weighted {
    int64_t start, end; /* end > start */
    double weight;      /* threads of a kernel, not below 0; else 1 */
} as_ns_weighted;

/* What a set of spans covers: intervals that do not touch each other, ascending. */
typedef struct as_ns_measure {
    as_vec pieces; /* as_ns_piece */
    uint64_t total;
} as_ns_measure;
typedef struct as_ns_piece {
    int64_t start;
    uint64_t
        before; /* what all pieces before it cover: so its end is where `before` of the next one, or `total`, says */
} as_ns_piece;

/* The union of spans and of what base (may be NULL) covers. *out is to be freed in any case. */
bool as_ns_measure_union(const as_ns_weighted *spans, size_t n, const as_ns_measure *base, as_budget *budget,
                         as_ns_measure *out);
/* How much of [start, end] is covered. Binary search. */
int64_t as_ns_measure_between(const as_ns_measure *measure, int64_t start, int64_t end);
void as_ns_measure_free(as_ns_measure *measure);

/* For each of n kernels of one device: the sum over the segments inside it of length * (T - t) / T, t being its weight,
 * T the sum of weights of all that run; T = 0 adds nothing. Exactly 0 for one that runs alone; what is less than a
 * 10000th of a nanosecond is 0, too. */
bool as_ns_kernel_overlaps(const as_ns_weighted *kernels, size_t n, as_budget *budget, double *overlaps);
/* For each of n spans of weight 1: what of it is covered, and of the rest (k - 1) / k where k of the spans run at
 * once. */
bool as_ns_shared_overlaps(const as_ns_weighted *spans, size_t n, const as_ns_measure *cover, as_budget *budget,
                           double *overlaps);

typedef struct as_ns_owned {
    int64_t start, end; /* end > start */
    uint32_t owner;
} as_ns_owned;
/* A moment belongs to the span with the latest start of all that run then (of several: the one that ends first, then
 * the last one here). Adds what of each owner's moments is covered to covered[owner]. */
bool as_ns_cover_latest(const as_ns_owned *spans, size_t n, const as_ns_measure *cover, as_budget *budget,
                        int64_t *covered);

/* A number and where it stands. */
typedef struct as_ns_ordered {
    uint64_t key; /* as_ns_key() of a time */
    uint32_t index;
} as_ns_ordered;
static inline uint64_t as_ns_key(int64_t time) { return (uint64_t)time ^ (uint64_t)1 << 63; }
/* By key, equal ones as they stand: several keys are sorted by from the last to the first. */
bool as_ns_sort(as_ns_ordered *items, size_t n, as_budget *budget);

#endif
