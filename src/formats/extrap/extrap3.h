/* What the files of the format extrap-3 share: a file of Extra-P 3 while it is read.
 *
 * The file is a list of records; each begins with its kind as text. Errors stick: readers of parts go on with zeros,
 * and the record as a whole is judged behind its end. */
#ifndef AS_FORMATS_EXTRAP_EXTRAP3_H
#define AS_FORMATS_EXTRAP_EXTRAP3_H

#include "dataset/experiment.h"
#include "formats/extrap/limits.h"
#include "formats/format.h"
#include "io/bytes.h"

typedef struct as_x3_generator {
    as_model_set set;
    assay_id id; /* of the set in the dataset: only if it has models */
    size_t n_models;
} as_x3_generator;

typedef struct as_x3_file {
    as_reader *reader;
    as_dataset *ds;
    as_experiment *experiment;
    as_bytes bytes;
    as_map regions;         /* id -> string id of its name in call paths */
    as_map region_names;    /* string id of a name -> how often it was used beyond the first time */
    as_map callpaths;       /* id -> tree id */
    as_map coordinates;     /* id -> point */
    as_map comments;        /* id -> string id */
    as_vec generators;      /* as_x3_generator */
    as_vec segments, terms; /* of the function being read */
    as_table *records;      /* confidence intervals of measurements */
    as_table *details;      /* what models have beyond their function */
    bool is_sparse;         /* models have a relative error */

    /* the first thing wrong in the current record */
    const char *rule;
    uint64_t offset;
    char message[256];
    bool is_fatal; /* the records behind it cannot be found */
    bool no_memory;
} as_x3_file;

/* Something is wrong with what began at offset; the first one counts. */
void as_x3_wrong(as_x3_file *file, uint64_t offset, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, where nothing behind it can be read. */
void as_x3_lost(as_x3_file *file, uint64_t offset, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static inline bool as_x3_failed(const as_x3_file *file) {
    return file->bytes.failed || file->is_fatal || file->no_memory;
}

/* A text of the file, in place; "" after a failure. */
const char *as_x3_text(as_x3_file *file, size_t *size);
/* The same, interned; AS_NO_STR only after a failure. */
as_str as_x3_str(as_x3_file *file);
/* A count of elements of which each takes min_size bytes at least; 0 if there cannot be as many. */
uint64_t as_x3_count(as_x3_file *file, size_t min_size);
as_str as_x3_intern(as_x3_file *file, const char *text, size_t size);
/* Whether the next text is this one; if not, the file is lost. */
bool as_x3_expect(as_x3_file *file, const char *text);
/* The parameter of this name, or ASSAY_NONE, with an error. */
assay_id as_x3_parameter(as_x3_file *file);
/* The entity with this id. ASSAY_NONE, with an error, where there is none. */
assay_id as_x3_find(as_x3_file *file, const as_map *map, int64_t id, const char *what);
assay_id as_x3_metric(as_x3_file *file, int64_t position);

/* The records of models. kind: the text that began the record. */
bool as_x3_is_generator(const char *kind, size_t size);
void as_x3_read_generator(as_x3_file *file, const char *kind, size_t size);
void as_x3_read_model(as_x3_file *file);
/* Behind the last record: model sets of the generators that have models. */
bool as_x3_finish_models(as_x3_file *file);

#endif
