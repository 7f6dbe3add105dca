/* What a format provides, and what it is given. A format is one file or folder that ends in one `const struct
 * assay_format`, named in formats/formats.def; docs/new-format.md and formats/TEMPLATE.c show how. */
#ifndef AS_FORMATS_FORMAT_H
#define AS_FORMATS_FORMAT_H

#include "dataset/build.h"
#include "io/directory.h"
#include "io/input.h"
#include "io/output.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef enum as_option_type {
    AS_OPTION_BOOL,
    AS_OPTION_INT,
    AS_OPTION_REAL,
    AS_OPTION_TEXT,
    AS_OPTION_CHOICE
} as_option_type;

/* One row an option; a table ends with a row whose name is NULL. The same table checks `-O key=value`, and prints help
 * and man pages. */
typedef struct as_option {
    const char *name;
    as_option_type type;
    const char *fallback; /* default, as text */
    const char *choices;  /* AS_OPTION_CHOICE: "weak|strong" */
    const char *help;
} as_option;

/* The values given for a table of options. */
typedef struct as_options {
    const as_option *table;   /* may be NULL: no options */
    const char *const *given; /* "key=value"…, NULL-terminated; may be NULL */
} as_options;

/* ASSAY_E_USAGE (naming the nearest option) where a key is unknown or a value does not fit. */
assay_status as_options_check(const as_options *options, const char *owner, assay_error *error);
/* The last value given, else the fallback. name must be in the table. */
const char *as_option_text(const as_options *options, const char *name);
bool as_option_bool(const as_options *options, const char *name);
double as_option_real(const as_options *options, const char *name);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A first look at an input: enough to tell formats apart, bounded whatever the size of the file. */
typedef struct as_probe {
    const char *path;
    bool is_directory;
    const char *head; /* the first bytes, at most AS_PROBE_SIZE */
    size_t head_size;
    const char *tail; /* the last bytes, at most AS_PROBE_SIZE; may overlap head */
    size_t tail_size;
    uint64_t size;
} as_probe;
enum { AS_PROBE_SIZE = 65536 };

/* Everything a reader works with. Fill reader->dataset; report, never print. */
typedef struct as_reader {
    as_input *input;
    as_dataset *dataset;
    as_options options;
    uint32_t max_depth;
    uint32_t most_frames; /* of stacks, which recursion makes deep: nothing calls itself for each of them */
    bool keep_going;
    /* only what `info` says is wanted: a reader that would take long may leave everything but runs and metrics unread,
     * and fill dataset->overview */
    bool is_overview;
    bool (*progress)(void *user, const char *stage, double fraction);
    void *user;
    assay_error *error;
    /* The input stays open as long as the dataset if the reader says so by setting keeps_input: profiles may point into
     * it. Where it cannot (bytes of somebody else), can_keep_input is false and everything must be decoded and copied
     * while reading. */
    bool can_keep_input, keeps_input;
    unsigned threads; /* to use at most; 0: as many as there are cores */
    bool failed;      /* some as_broken() was let pass because of keep_going */
} as_reader;

/* A rule is broken. Normally fills reader->error and returns ASSAY_E_FORMAT: `return` it. Under keep_going it records
 * the problem as an error and returns ASSAY_OK: step over the faulty piece and go on, so that `validate` sees them
 * all. */
assay_status as_broken(as_reader *reader, as_place place, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A part that can be done without is broken: the reader goes on without it. A warning; under keep_going an error, so
 * that `validate` fails. */
void as_leave_out(as_reader *reader, as_place place, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Something odd that loses nothing. */
void as_warn(as_reader *reader, as_place place, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* ASSAY_E_CANCELLED when the caller wants to stop. Also lets go of input pages before `done`. Call it every few hundred
 * kilobytes. */
assay_status as_reader_progress(as_reader *reader, size_t done);
assay_status as_reader_memory(as_reader *reader);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* What a format can hold, beyond parameters, points, metrics and call paths. */
typedef enum as_holds {
    AS_HOLDS_VALUES = 1 << 0,
    AS_HOLDS_STATISTICS = 1 << 1,
    AS_HOLDS_MODELS = 1 << 2,
    AS_HOLDS_LOCATIONS = 1 << 3,
    AS_HOLDS_EVENTS = 1 << 4,
    AS_HOLDS_RECORDS = 1 << 5,
    AS_HOLDS_ATTRIBUTES = 1 << 6,
    AS_HOLDS_UNITS = 1 << 7,    /* units of metrics */
    AS_HOLDS_SOURCE = 1 << 8,   /* files and lines of regions */
    AS_HOLDS_PROFILES = 1 << 9, /* runs without parameters */
    AS_HOLDS_FOREIGN = 1 << 10, /* records and attributes of other formats too; `losses` names those it cannot */
    AS_HOLDS_ASIDES = 1 << 11,  /* that contexts stand aside: sums along the tree without them, or tags that say it */
    /* What is lost of these goes without a word where the format is the source's own, or where its `losses` names
     * it. */
    AS_HOLDS_KINDS = 1 << 12,     /* of regions */
    AS_HOLDS_MANGLED = 1 << 13,   /* the names that compilers gave regions */
    AS_HOLDS_MODULES = 1 << 14,   /* of regions */
    AS_HOLDS_ENDS = 1 << 15,      /* last lines of regions */
    AS_HOLDS_SHOWN = 1 << 16,     /* display names of metrics */
    AS_HOLDS_DESCRIBED = 1 << 17, /* descriptions of metrics */
    AS_HOLDS_STARTS = 1 << 18,    /* start times of runs */
    AS_HOLDS_SUMMARIES = 1 << 19, /* stored statistics */
    AS_HOLDS_CALLS = 1 << 20,     /* lines that contexts are called from */
    AS_HOLDS_DETAILS = 511 << 12  /* all of these */
} as_holds;

typedef struct as_losses {
    as_vec texts; /* char *, of malloc */
    bool failed;  /* memory was out: not all of them are here, and nothing may be written as if they were */
} as_losses;
void as_losses_init(as_losses *losses);
void as_losses_free(as_losses *losses);
/* "3 models", "the unit of 2 metrics": what is lost; it stands behind "FORMAT cannot hold ". */
void as_lose(as_losses *losses, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Contexts that stand aside: the target leaves them out, or takes them for parts of those above them. */
void as_lose_asides(as_losses *losses, const as_dataset *dataset, bool are_left_out);
/* Whether nothing but its own line says where a context is called from: neither that of its region nor the line, call
 * site or loop that is around it. */
bool as_has_call_line(const as_dataset *dataset, assay_id context);
/* Of AS_HOLDS_SOURCE and AS_HOLDS_DETAILS what a target without them loses. */
void as_lose_details(as_losses *losses, const as_dataset *dataset, unsigned lacks);
/* The values of contexts outside the call tree. */
void as_lose_placeless(as_losses *losses, const as_dataset *dataset);
/* All rows of the dataset's own tables, "record" and others. */
void as_lose_records(as_losses *losses, const as_dataset *dataset);
/* The attributes for which kept() is false (kept NULL: all), counted and named: "2 attributes (comment, scaling)". */
void as_lose_attributes(as_losses *losses, const as_dataset *dataset,
                        bool (*kept)(const as_dataset *dataset, const as_attribute *attribute));

typedef struct as_writer {
    const as_dataset *dataset;
    as_output *out;                 /* NULL for a format that is a directory */
    as_output_directory *directory; /* of such a format, else NULL */
    const as_input *existing;       /* what stands in the output already, before all that is written; NULL: nothing */
    as_options options;
    unsigned threads; /* to use at most; 0: as many as there are cores. The bytes do not depend on it */
    assay_error *error;
} as_writer;

/* What people call the input: the last part of its path, "" where it has none. */
const char *as_source_name(const as_dataset *ds);

/* ---- the format -------------------------------------------------------------------------------------------------- */

typedef struct assay_format {
    const char *name;      /* "extrap-text" */
    const char *title;     /* "Extra-P text" */
    const char *versioned; /* the file whose version a dataset's is: "experiment.xml"; NULL: it is the format's own */
    /* Endings it is written under, best first: ".txt"; "" for none. Of several formats the one with the longest ending
     * has a name, then the first of formats.def */
    const char *extensions;
    const char *prefix;      /* what names without the ending of a format begin with: "callgrind.out"; NULL: nothing */
    unsigned holds;          /* as_holds */
    bool reads_directories;  /* else a directory is refused before read() is called */
    bool writes_directories; /* the output is a directory: writer->directory */
    bool writes_points; /* runs are written at their points only: one whose values are at several becomes several */
    bool appends;       /* write() can add to what is in a file: writer->existing */
    /* Of a set whose points are no input on their own (formats/points.h): several that are given one by one are the
     * set. NULL: it is none. */
    const struct as_point_rules *points;
    const as_option *read_options, *write_options;

    /* Bits of evidence verified, 0 = not mine. NULL: only by name. Must not allocate, fail or look beyond the probe;
     * only a directory, of which the probe has nothing but the name, may be looked into, at a bounded number of
     * entries. */
    int (*bid)(const as_probe *probe);
    /* NULL: cannot be read. */
    assay_status (*read)(as_reader *reader);
    /* NULL: cannot be written. Writes to writer->out; the caller commits or discards it. */
    assay_status (*write)(as_writer *writer);
    /* Several datasets that this format read as one, *out, for those that belong together in another way than profiles
     * do. NULL: they are united like all others. */
    assay_status (*merge)(const as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error);
    /* What is lost beyond what `holds` says; sets losses->failed when memory is out. May be NULL. */
    void (*losses)(const as_dataset *dataset, as_losses *losses);
    /* What else is good to know when this dataset is written, a clause each (as_lose()); nothing is lost. May be
     * NULL. */
    void (*remarks)(const as_dataset *dataset, const as_options *options, as_losses *remarks);
} as_format;

/* All formats, ended by NULL, in the order of formats.def. */
extern const as_format *const as_formats[];
/* By name, or NULL. */
const as_format *as_format_find(const char *name);
/* ASSAY_E_USAGE: there is no such format, but perhaps the nearest one was meant. further: one more name to offer, or
 * NULL. */
assay_status as_format_unknown(const char *name, const char *further, assay_error *error);
/* Whether path ends in one of the endings of a list like ".txt .text" (case-insensitive), with something before it. */
bool as_has_ending(const char *path, const char *endings);
/* The writable format for an output's name, by its ending (case-insensitive), or as it begins, or NULL. */
const as_format *as_format_for_path(const char *path);

typedef struct as_read_config {
    const char *format; /* NULL: by bidding */
    const char *const *options;
    uint64_t memory_limit;
    as_budget *budget; /* that the dataset's memory counts in, too, as long as it lives; may be NULL */
    uint32_t depth_limit;
    bool keep_going;
    bool is_overview;
    as_share share; /* whose values are wanted, see dataset/share.h; all 0: everybody's */
    bool (*progress)(void *user, const char *stage, double fraction);
    void *user;
} as_read_config;

/* Opens path and reads it. The highest bid wins; a tie and no bid are ASSAY_E_AMBIGUOUS. On success the caller owns
 * *out (as_dataset_free). Under keep_going a dataset with errors among its problems is a success. */
assay_status as_read(const char *path, const as_read_config *config, as_dataset **out, assay_error *error);
/* The same from bytes in memory; name stands for the file in messages. */
assay_status as_read_memory(const char *name, const char *data, size_t size, const as_read_config *config,
                            as_dataset **out, assay_error *error);
/* What a writer of the format gets instead of a set of profiles: an experiment, *out, to be freed. NULL: the dataset
 * itself. */
assay_status as_writable_form(const as_dataset *dataset, const as_format *format, as_dataset **out, assay_error *error);
/* The function of the format that read all of them and has one of its own to make them one; NULL: there is none. */
typedef assay_status as_format_merge(const as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error);
as_format_merge *as_own_merge(const as_dataset *const *parts, size_t n);
/* All that writing in this format would lose. */
void as_find_losses(const as_dataset *dataset, const as_format *format, as_losses *losses);
/* Writes to an open output, with so many threads (0: all cores); commit is the caller's. Profiles of an experiment are
 * made the kind of values that a format without AS_HOLDS_PROFILES wants. */
assay_status as_write(const as_dataset *dataset, const as_format *format, const char *const *options, unsigned threads,
                      as_output *out, assay_error *error);
/* The same behind what is in a file, for a format that appends. existing NULL: it is a new file. */
assay_status as_write_behind(const as_dataset *dataset, const as_format *format, const char *const *options,
                             unsigned threads, const as_input *existing, as_output *out, assay_error *error);
/* The same for a format that writes directories. */
assay_status as_write_directory(const as_dataset *dataset, const as_format *format, const char *const *options,
                                unsigned threads, as_output_directory *directory, assay_error *error);

#endif
