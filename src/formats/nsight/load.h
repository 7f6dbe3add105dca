/* Private to load*.c, correlate.c and strings.c: rows of the tables become the arrays of an export.
 *
 * A table is read in pieces, ranges of rowids, by several threads at once. What rows share (threads, streams, names,
 * shapes) each piece numbers in its own order of appearance; when all pieces are there, these become the numbers of the
 * export, in an order that depends on the file alone, and every row is settled: it gets those instead. */
#ifndef AS_FORMATS_NSIGHT_LOAD_H
#define AS_FORMATS_NSIGHT_LOAD_H

#include "formats/nsight/export.h"

/* ---- things that rows share -------------------------------------------------------------------------------------- */

/* Stands for NULL among the words of a key. */
#define AS_NS_NULL INT64_MIN
enum { AS_NS_KEY_WORDS = 9 };

/* Numbers keys of `words` words in the order of their appearance. */
typedef struct as_ns_keys {
    size_t words;
    as_vec keys;     /* int64_t, words for each */
    uint32_t *slots; /* number + 1; 0: free */
    size_t n_slots;
    uint32_t last; /* the one found last */
} as_ns_keys;

void as_ns_keys_init(as_ns_keys *keys, size_t words, as_budget *budget);
void as_ns_keys_free(as_ns_keys *keys);
static inline size_t as_ns_keys_count(const as_ns_keys *keys) {
    return keys->words ? keys->keys.count / keys->words : 0;
}
static inline const int64_t *as_ns_key_at(const as_ns_keys *keys, size_t i) {
    return &AS_AT(int64_t, &keys->keys, i * keys->words);
}
/* Its number, new or known; AS_NS_NONE when memory is out. */
uint32_t as_ns_keys_number(as_ns_keys *keys, const int64_t *key);
/* Its number; AS_NS_NONE: it is not known. */
uint32_t as_ns_keys_find(const as_ns_keys *keys, const int64_t *key);

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef enum as_ns_taken {
    AS_NS_TAKEN,
    AS_NS_OTHER, /* nothing for the arrays */
    AS_NS_WRONG, /* a column has what it cannot have */
    AS_NS_MEMORY /* memory is out */
} as_ns_taken;

/* What a row of NVTX_EVENTS that is no activity says: the name of a domain or of a thread. */
typedef struct as_ns_declared {
    int64_t type, thread, domain;
    uint32_t name; /* among the part's names */
} as_ns_declared;

/* The text of ranges. */
typedef struct as_ns_range_text {
    as_str name, path; /* as as_ns_range has them */
} as_ns_range_text;

typedef struct as_ns_part as_ns_part;
typedef struct as_ns_loading as_ns_loading;

/* How rows of a table become elements of an array. */
typedef struct as_ns_source {
    const char *table;
    const char *const *columns;
    size_t n_columns;
    size_t rows;                    /* offset of the array in as_ns_export */
    size_t name_words, shape_words; /* of the keys */
    /* Fills row, which is zeroed. */
    as_ns_taken (*take)(as_ns_part *part, const as_scan *scan, void *row);
    /* Numbers of the part become those of the export. Safe from several threads, one for each part. */
    void (*settle)(const as_ns_part *part, void *row);
    /* What of the export a name or a shape is. False when memory is out. */
    bool (*name)(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out);
    bool (*shape)(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out);
    /* Before all of these: what rows that are no activities declare. False when memory is out. May be NULL. */
    bool (*declare)(as_ns_loading *loading, as_ns_part *part);
    bool is_gpu; /* a place is (globalPid, device, context, stream); else globalTid */
} as_ns_source;

struct as_ns_part {
    const as_ns_source *source;
    as_ns_loading *loading;
    as_scan_range range;
    size_t first, capacity, count;           /* its rows of the array */
    as_ns_keys places, names, shapes;        /* as its rows have them */
    uint32_t *place_of, *name_of, *shape_of; /* what these are in the export */
    as_arena arena;
    as_strings texts; /* texts within its rows, which no id stands for */
    as_vec declared;  /* as_ns_declared */
    uint64_t n_wrong, n_negative, n_endless, n_open, n_unnamed;
    int64_t least, greatest; /* of all times */
    assay_status status;
    assay_error error;
};

/* What is known while loading only. */
struct as_ns_loading {
    as_ns_export *x;
    as_vec parts;                 /* as_ns_part */
    as_ns_keys functions, shapes; /* of all parts: the keys of x->functions and x->shapes */
    as_vec range_texts;           /* as_ns_range_text */
    as_map domains;               /* as_pair(process + 1, number) -> row of x->domains, of numbers that fit */
    as_map thread_names;          /* as NVTX has them: globalTid -> as_str */
    int64_t least, greatest;      /* of all times */
};

#define AS_NS_COLUMNS(list) .columns = list, .n_columns = sizeof list / sizeof *list

extern const as_ns_source as_ns_load_kernels, as_ns_load_copies, as_ns_load_sets, as_ns_load_graphs, as_ns_load_syncs,
    as_ns_load_calls, as_ns_load_osrt, as_ns_load_samples, as_ns_load_ranges;

/* n elements of zeros in an empty vector: working memory that counts in the budget. False when memory is out. */
static inline bool as_ns_zeros(as_vec *vec, size_t n) {
    if (!as_vec_reserve(vec, n)) return false;
    if (n) memset(vec->data, 0, n * vec->size);
    vec->count = n;
    return true;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* An integer, or AS_NS_NULL for NULL. False: something else. */
static inline bool as_ns_int(const as_scan *scan, size_t column, int64_t *out) {
    as_scan_type type = as_scan_type_of(scan, column);
    *out = type == AS_SCAN_INT ? as_scan_int(scan, column) : AS_NS_NULL;
    return type <= AS_SCAN_INT;
}
/* n of them, from column `first`. */
static inline bool as_ns_ints(const as_scan *scan, size_t first, size_t n, int64_t *out) {
    bool fine = true;
    for (size_t i = 0; i < n; i++) fine &= as_ns_int(scan, first + i, &out[i]);
    return fine;
}
static inline int64_t as_ns_or(int64_t value, int64_t fallback) { return value == AS_NS_NULL ? fallback : value; }
/* One that fits 32 bits; false: it does not. NULL is `fallback`. */
static inline bool as_ns_small(int64_t value, uint32_t fallback, uint32_t *out) {
    *out = value == AS_NS_NULL ? fallback : (uint32_t)value;
    return value == AS_NS_NULL || (value >= 0 && value <= UINT32_MAX);
}
/* start and end: counts what is odd, and which times there are. False: there is no start. */
bool as_ns_take_span(as_ns_part *part, int64_t start, int64_t end, as_ns_span *out);

/* So many rows of a table were left out: a problem, unless it is 0. */
void as_ns_tell_wrong(as_ns_export *x, const char *table, uint64_t n);

/* ---- what lies between the rows ---------------------------------------------------------------------------------- */

/* StringIds (strings.c). as_ns_stored_string(): the text as it is in the file; NULL: there is none, or memory is
 * out. */
const char *as_ns_stored_string(as_ns_export *x, int64_t id, size_t *size);
assay_status as_ns_texts_read(as_ns_export *x);
void as_ns_texts_free(as_ns_export *x);

/* Samples are named after their innermost frames (load_host.c). */
assay_status as_ns_name_samples(as_ns_export *x);

/* Makes rows of equal process and correlation one, finds the calls of activities and the names of waits
 * (correlate.c). */
assay_status as_ns_correlate(as_ns_export *x);

/* The GPU that a process means by a device's number (devices.c). */
assay_status as_ns_devices_read(as_ns_export *x);
void as_ns_devices_free(as_ns_export *x);
int64_t as_ns_physical_device(const as_ns_export *x, uint32_t process, int64_t device);
/* Names of processes, threads and devices, and what devices can do. */
assay_status as_ns_describe_places(as_ns_loading *loading);
void as_ns_places_free(as_ns_export *x);
/* The run, the version, and attributes (facts.c). */
assay_status as_ns_add_facts(as_ns_export *x);
/* Where there is much to read: only what can be said without reading it (overview.c). *is_done: that was so. */
assay_status as_ns_read_overview(as_ns_export *x, bool *is_done);
/* All of reader->input, a database (read.c). */
assay_status as_ns_read(as_reader *reader);
/* Locations of all places. */
assay_status as_ns_add_locations(as_ns_export *x);

#endif
