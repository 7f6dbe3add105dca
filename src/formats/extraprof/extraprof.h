/* Private to the readers of Extra-Prof profiles: one call tree a process, as MessagePack.
 *
 *   file   = [ "EXTRA PROF", version, root node, names of GPU metrics?, extended metrics? ]     the oldest files are
 *          the root node alone
 *   metric = [ name, device ]                                                                    device: 0 none, 1 CPU,
 *   2 GPU
 *   node   = [ name, children, type, flags, durations, visits, bytes, values of GPU metrics?, values of extended
 *          metrics? ]
 *
 * Durations are nanoseconds with all that is below; they, visits and bytes are a number, or a list with one for each
 * thread that came by, in no order. Extended metrics have such a list each.
 *
 *   parse.c    bytes -> the nodes of one file
 *   names.c    what a node is called
 *   point.c    the files of one point -> exclusive values of contexts
 *   build.c    contexts, metrics and values of all points -> the dataset
 *   format.c   the formats: one file; set.c: a directory of points */
#ifndef AS_FORMATS_EXTRAPROF_EXTRAPROF_H
#define AS_FORMATS_EXTRAPROF_EXTRAPROF_H

#include "formats/format.h"

#define AS_EP_ENDING ".extra-prof.msgpack"

typedef enum as_ep_type {
    AS_EP_FUNCTION,
    AS_EP_LAUNCH,
    AS_EP_KERNEL,
    AS_EP_MEMCPY,
    AS_EP_MEMSET,
    AS_EP_SYNC,
    AS_EP_OVERHEAD,
    AS_EP_OVERLAP,
    AS_EP_MEMORY,
    AS_EP_TYPES
} as_ep_type;

/* Bits of a node's flags; others are accepted, and mean nothing. */
enum { AS_EP_ASYNC = 1, AS_EP_OVERLAPS = 2 };

/* How values come about, from the options of the formats. */
typedef struct as_ep_rules {
    bool sums_threads; /* else their mean */
    bool sums_gpu;     /* durations of kernels and overlaps are sums over the threads in any case */
    bool is_inclusive; /* times stay as stored */
    bool keeps_all;    /* what is below a node whose children take longer than itself is kept */
} as_ep_rules;

#define AS_EP_OPTIONS                                                                                                  \
    {"scaling", AS_OPTION_CHOICE, "weak_threaded", "weak_threaded|strong",                                             \
     "what the threads of a process have together: their mean, or their sum"},                                         \
        {"sum_gpu", AS_OPTION_BOOL, "no", NULL,                                                                        \
         "durations of kernels and overlaps are sums over the threads in any case"},                                   \
        {"inclusive", AS_OPTION_BOOL, "no", NULL, "times are inclusive, as stored; else exclusive"}, {                 \
        "concurrent_threads", AS_OPTION_BOOL, "no", NULL,                                                              \
            "keep what is below a call that takes longer than the call itself, as that of several threads does"        \
    }
as_ep_rules as_ep_rules_of(const as_options *options);

/* ---- one file ---------------------------------------------------------------------------------------------------- */

#define AS_EP_TOP UINT32_MAX

typedef struct as_ep_node {
    const char *name;
    uint32_t name_size;
    uint32_t parent; /* its index, which is smaller; AS_EP_TOP: below the root, which is no node here */
    uint8_t type;    /* as_ep_type */
    uint8_t flags;
    uint16_t n_gpu, n_extended;
    double duration, visits, bytes; /* of all threads, as the rules say */
    uint64_t first_number;          /* in `numbers`: n_gpu values of GPU metrics, then n_extended of extended ones */
} as_ep_node;

typedef struct as_ep_metric {
    const char *name;
    size_t size;
    uint64_t device; /* GPU metrics: 2 */
} as_ep_metric;

/* Something odd in a file that loses nothing. offset -1: there is none. */
typedef struct as_ep_remarks {
    int64_t behind;      /* bytes after the object */
    int64_t more_fields; /* of a file or a node */
    int64_t negative;    /* a number below 0 */
    int64_t inexact;     /* an integer above 2^53 */
} as_ep_remarks;

/* What is in a file. Texts point into its bytes. */
typedef struct as_ep_file {
    as_vec nodes;         /* as_ep_node, parents first */
    as_vec numbers;       /* double */
    as_vec gpu, extended; /* as_ep_metric */
    const char *version;  /* NULL: a file without header */
    size_t version_size;
    bool is_timed; /* some node has durations; else it has nothing but GPU metrics */
    bool has_whole_visits, has_whole_bytes, has_whole_extended; /* integers, and no means of several */
    as_ep_remarks remarks;
} as_ep_file;

void as_ep_file_init(as_ep_file *file, as_budget *budget);
void as_ep_file_free(as_ep_file *file);
/* Fills a new file. Errors have the offset. reader: is told how far it is; NULL: nobody, and several files may be
 * parsed at a time. */
assay_status as_ep_parse(const as_input *input, const as_ep_rules *rules, uint32_t max_depth, as_reader *reader,
                         as_ep_file *file, assay_error *error);

/* ---- the dataset ------------------------------------------------------------------------------------------------- */

/* What a node is called: "GPU saxpy(int, float*)". Interned in the dataset. */
typedef struct as_ep_names {
    as_dataset *ds;
    as_map known; /* (mangled name, type) -> name */
    as_vec text, demangled;
} as_ep_names;

void as_ep_names_init(as_ep_names *names, as_dataset *ds);
void as_ep_names_free(as_ep_names *names);
/* Interns a text in which "->", which joins names to paths, is "- >", and what is no text is '?'. AS_NO_STR when memory
 * is out. */
as_str as_ep_text(as_ep_names *names, const char *text, size_t size);
/* AS_NO_STR when memory is out. *mangled: its name in the file where the other was made of it, else AS_NO_STR. */
as_str as_ep_name(as_ep_names *names, const as_ep_node *node, as_str *mangled);

typedef struct as_ep_row {
    assay_id context, run; /* context: of the tree, then of the dataset */
    double value;
} as_ep_row;

/* A metric with all its values. */
typedef struct as_ep_column {
    as_metric about;
    const char *device; /* "CPU", "GPU"; NULL: nobody says */
    assay_id metric;    /* in the dataset, in the end; ASSAY_NONE: it has no values, and is not there */
    bool is_whole;      /* integers */
    as_vec rows;        /* as_ep_row; those of one context by run */
} as_ep_column;

enum { AS_EP_TIME, AS_EP_VISITS, AS_EP_BYTES, AS_EP_FIXED };

/* Type and flags of the first node that is a context. */
typedef struct as_ep_origin {
    uint8_t type, flags;
} as_ep_origin;

/* What is known of contexts whose values were left out. */
typedef struct as_ep_dropped {
    uint64_t n_contexts, n_points; /* contexts: at all points */
    uint64_t n_nodes;              /* that lost what is below them */
    as_str first;                  /* path of the first of those */
    assay_id first_run;
} as_ep_dropped;

typedef struct as_ep_builder {
    as_reader *reader;
    as_dataset *ds;
    as_ep_rules rules;
    as_ep_names names;
    as_tree tree;
    bool is_one_point; /* which is all there is: each of its paths is a new context */
    as_map contexts;   /* (parent + 1, name) -> context of the tree; of several points */
    as_vec origins;    /* as_ep_origin, of each context */
    as_map regions;    /* (name, type) -> region */
    as_vec columns;    /* as_ep_column: time, visits, bytes, then GPU and extended metrics as they come */
    as_map by_metric;  /* (kind, name) -> column */
    as_ep_dropped dropped;
} as_ep_builder;

/* as_ep_builder_free() in every case. */
assay_status as_ep_builder_init(as_ep_builder *builder, as_reader *reader);
void as_ep_builder_free(as_ep_builder *builder);
/* The column of a metric of the files, made if new; UINT32_MAX when memory is out. */
uint32_t as_ep_column_of(as_ep_builder *builder, const as_ep_metric *metric, bool is_gpu);
/* The context of this name below parent (ASSAY_NONE: a root), made if new; ASSAY_NONE when memory is out. node: the
 * first of its kind. */
assay_id as_ep_context(as_ep_builder *builder, assay_id parent, as_str name, as_str mangled, uint8_t type,
                       uint8_t flags);
/* One value. False when memory is out. */
bool as_ep_add(as_ep_builder *builder, uint32_t column, assay_id context, assay_id run, double value);
/* Takes the values of a point: n files whose runs are first_run and those that follow. */
assay_status as_ep_add_point(as_ep_builder *builder, const as_ep_file *files, size_t n, assay_id first_run);
/* Problems of a file that was read. */
void as_ep_report(as_ep_builder *builder, const as_ep_file *file, const char *path);
/* Contexts, metrics and blocks of the dataset, and a problem where something was left out. */
assay_status as_ep_finish(as_ep_builder *builder);
/* Whether a node's duration is no part of its parent's: kernels and copies run beside it, partners of an overlap are
 * named only. */
bool as_ep_stands_beside(uint8_t type, uint8_t flags);

#endif
