/* meta.db while it is read: the metadata of a released database, or of its drafts. Offsets are those of the file; a
 * pointer of 0 is none. */
#ifndef AS_FORMATS_HPCTOOLKIT_META_H
#define AS_FORMATS_HPCTOOLKIT_META_H

#include <endian.h>

#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/hpctoolkit.h"

/* Elements of one size: n of them, `size` bytes apart. */
typedef struct as_meta_table {
    uint64_t at;
    uint32_t n, size;
} as_meta_table;

typedef enum as_meta_section {
    AS_META_GENERAL,
    AS_META_ID_NAMES,
    AS_META_METRICS,
    AS_META_CONTEXTS,
    AS_META_STRINGS,
    AS_META_MODULES,
    AS_META_FILES,
    AS_META_FUNCTIONS,
    AS_META_SECTIONS
} as_meta_section;

typedef struct as_meta {
    as_reader *reader;
    as_dataset *ds;
    const char *path;
    const unsigned char *data;
    size_t size;
    bool is_draft; /* metrics of 24 bytes, roots instead of entry points */

    uint64_t sections[AS_META_SECTIONS]; /* where they begin; 0: there is none */
    as_map texts;                        /* offset -> as_str */
    uint64_t text_left;                  /* bytes that texts may still have: they do not overlap much */
    as_hpc_name_room name_room;
    as_vec kinds; /* const char *: names of the kinds of id tuple elements */
    as_meta_table modules, files, functions;
    as_str *module_names, *file_names; /* AS_NO_STR: not read yet, or none */
    assay_id *function_regions;        /* ASSAY_NONE: not made yet */
    bool has_sources;                  /* some files were copied into the database */
    as_map sources;                    /* their names, each once */

    as_vec metrics;    /* as_hpc_metric */
    as_vec statistics; /* as_hpc_statistic */

    as_tree tree;
    assay_id *contexts; /* of each context id below n_contexts its tree id, or ASSAY_NONE */
    size_t n_contexts;
    as_map other_contexts; /* of those beyond */
} as_meta;

/* ---- meta_file.c ------------------------------------------------------------------------------------------------- */

/* Of bytes that are there. */
static inline uint16_t as_meta_u16(const as_meta *meta, uint64_t at) {
    uint16_t value;
    memcpy(&value, meta->data + at, sizeof value);
    return le16toh(value);
}
static inline uint32_t as_meta_u32(const as_meta *meta, uint64_t at) {
    uint32_t value;
    memcpy(&value, meta->data + at, sizeof value);
    return le32toh(value);
}
static inline uint64_t as_meta_u64(const as_meta *meta, uint64_t at) {
    uint64_t value;
    memcpy(&value, meta->data + at, sizeof value);
    return le64toh(value);
}
/* Whether so many bytes are there. */
static inline bool as_meta_has(const as_meta *meta, uint64_t at, uint64_t n) {
    return n <= meta->size && at <= meta->size - n;
}

/* ASSAY_E_FORMAT at an offset. */
assay_status as_meta_bad(const as_meta *meta, uint64_t offset, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Where n elements of `size` bytes are, checked against the file and the least that they must have; `what` is for
 * messages, "metrics". */
assay_status as_meta_find_table(const as_meta *meta, uint64_t offset, uint64_t at, uint32_t n, uint32_t size,
                                uint32_t least, const char *what, as_meta_table *out);
/* The number of the element that a pointer at `offset` points to. */
assay_status as_meta_index(const as_meta *meta, uint64_t offset, uint64_t pointer, const as_meta_table *table,
                           const char *what, uint32_t *out);
/* The text that the pointer at `offset` points to, as valid UTF-8; AS_NO_STR for a pointer of 0. */
assay_status as_meta_text(as_meta *meta, uint64_t offset, as_str *out);

/* data is the whole file, and must live as long as this is used. as_meta_free() in every case. */
assay_status as_meta_open(as_meta *meta, as_reader *reader, const char *path, const void *data, size_t size);
void as_meta_free(as_meta *meta);
/* Title, description, names of tuple elements, modules, files, functions. */
assay_status as_meta_read_names(as_meta *meta);
/* The path of a module, by its number; AS_NO_STR: it has none. */
assay_status as_meta_module_name(as_meta *meta, uint32_t module, as_str *out);

/* ---- meta_metrics.c ---------------------------------------------------------------------------------------------- */

/* Metrics of the dataset, and what ids of profiles stand for. */
assay_status as_meta_read_metrics(as_meta *meta);

/* ---- meta_contexts.c, meta_regions.c ----------------------------------------------------------------------------- */

/* The tree, with meta->contexts for context ids below `limit`. */
assay_status as_meta_read_contexts(as_meta *meta, uint32_t limit);
/* Contexts get their final ids; so do meta->contexts, and attributes of contexts. */
assay_status as_meta_finish_contexts(as_meta *meta);

/* What a context is of. */
typedef struct as_meta_scope {
    uint8_t type, flags; /* 0 function, 1 loop, 2 line, 3 instruction; which of the fields are there */
    uint32_t function, file, line, module; /* numbers of elements */
    uint64_t offset;
} as_meta_scope;
enum { AS_META_FUNCTION = 1, AS_META_LINE = 2, AS_META_POINT = 4 };

/* The regions of contexts: those of one thing share one. */
typedef struct as_meta_regions {
    as_map known;  /* hash of a scope -> index into scopes */
    as_vec scopes; /* struct as_meta_known */
    assay_id unknown_function;
    as_vec name; /* char, a name in the making */
    as_str kinds[4];
} as_meta_regions;

bool as_meta_regions_init(as_meta_regions *regions, as_meta *meta);
void as_meta_regions_free(as_meta_regions *regions);
assay_status as_meta_region(as_meta *meta, as_meta_regions *regions, const as_meta_scope *scope, assay_id *out);

#endif
