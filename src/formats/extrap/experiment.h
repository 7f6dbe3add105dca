/* What the files of the format extrap-experiment share; docs of the format: Extra-P's docs/file-formats.md.
 *
 * A .extra-p file is a ZIP with experiment.json and, where raw values were kept, values/N.vals and values/N.indx. */
#ifndef AS_FORMATS_EXTRAP_EXPERIMENT_H
#define AS_FORMATS_EXTRAP_EXPERIMENT_H

#include "dataset/experiment.h"
#include "formats/extrap/limits.h"
#include "formats/format.h"
#include "io/json.h"
#include "io/zip.h"

#define AS_XP_JSON_NAME    "experiment.json"
#define AS_XP_VALUES_MAGIC "Extra-P VALUES\0\0"
#define AS_XP_INDEX_MAGIC  "Extra-P INDEX\0\0\0"
enum { AS_XP_MAGIC_SIZE = 16 };
/* Before columns of the table "record" that would be called like one of those every record has. */
#define AS_XP_RECORD_PREFIX "measurement:"
/* The column of the table "record" for members that have none of their own: a JSON object. */
#define AS_XP_RECORD_OTHERS "other"
/* Before the keys of attributes that are tags. */
#define AS_XP_TAG_PREFIX "tags:"
/* Old versions wrote tags, as a JSON object, behind a name. */
#define AS_XP_TAGS_IN_NAME "\x03{"
/* Before the index of a model set and a key that nobody knows. */
#define AS_XP_MODELER_PREFIX "modelers:"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* An array of numpy's as its header describes it: repetitions x what else there is. */
typedef struct as_xp_array {
    const unsigned char *header; /* where it was read from; equal headers are read once */
    size_t header_size;
    char kind; /* 'f', 'i' or 'u' */
    unsigned item_size;
    bool big_endian, column_major, is_flat; /* is_flat: at most one dimension */
    uint64_t repetitions, columns;
} as_xp_array;

/* An experiment while it is read. */
typedef struct as_xp_file {
    as_reader *reader;
    as_dataset *ds;
    as_experiment *experiment;
    char *json_path; /* "FILE/experiment.json", for messages */
    as_json json;
    as_zip_entry *entries;
    size_t n_entries;
    as_map vals, indices; /* number of a chunk -> its entry */
    uint64_t chunk;       /* the last one, and its entries, NULL before the first */
    const as_zip_entry *chunk_vals, *chunk_indx;
    as_xp_array array;                 /* the last one */
    as_vec numbers;                    /* double: coordinates of a point, or the values of one */
    as_vec key;                        /* char: the name of an attribute */
    as_map tagged;                     /* (owner, id) of those whose name carried tags */
    bool has_real_whole;               /* a coordinate written like 4.0 */
    size_t n_broken;                   /* rules broken so far, under keep_going */
    as_vec segments, terms, intervals; /* of the model being read */
    as_vec segment_costs;              /* the same */
    uint32_t n_pieces;                 /* segments of piecewise factors among them */
    assay_id parameter;                /* of terms that name none: the one whose piecewise factor is being read */
} as_xp_file;

/* The raw values that a measurement names as [chunk, index], as repetitions of key. *repetitions: how many; the numbers
 * are left in file->numbers. */
assay_status as_xp_read_values(as_xp_file *file, uint64_t chunk, uint64_t index, as_cell_key key, int64_t *repetitions);

/* All model sets of "modelers", json being before its first token. Contexts are tree ids until as_extrap_renumber(). */
assay_status as_xp_read_modelers(as_xp_file *file);

/* A number, or a text that stands for one: "nan", "-inf", "3/2", "2.5". False if the current token is neither. */
bool as_xp_real(as_json *json, double *out);
/* The cell that says the same as a JSON value, such that writing it gives the value again. json: behind as_json_skip(),
 * which gave raw. */
as_cell as_xp_cell(as_json *json, const char *raw, size_t size);
/* A rule is broken at the current token: as_broken() with its place. */
assay_status as_xp_broken(as_xp_file *file, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a name with a NUL in it. what: "a metric", … */
assay_status as_xp_nul(as_xp_file *file, const char *what);
/* As as_xp_broken(), and steps over the value whose first token is current. */
assay_status as_xp_reject(as_xp_file *file, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The next token is of this type: ASSAY_OK and *fits true. Else the value is stepped over and reported: `what` "must
 * be" of that type. */
assay_status as_xp_expect(as_xp_file *file, as_json_type type, const char *what, bool *fits);
/* Steps to the next member of an object: *more is false behind the last one. */
assay_status as_xp_next_key(as_xp_file *file, bool *more);
/* Steps over the next value and keeps its text. */
assay_status as_xp_skip(as_xp_file *file, const char **raw, size_t *size);
/* Steps over the next value and keeps it as an attribute PREFIX + key, key being the current token. */
assay_status as_xp_keep_member(as_xp_file *file, as_owner owner, assay_id owner_id, const char *prefix);
/* The call path or metric whose name is the current key, made if new. Old versions wrote tags behind the name: they are
 * kept. */
assay_status as_xp_named(as_xp_file *file, as_owner owner, assay_id *id);
static inline assay_status as_xp_no_memory(as_xp_file *file) { return as_reader_memory(file->reader); }

/* After as_experiment_finish(): contexts of models, attributes and records, so far tree ids, get their final ids. */
bool as_extrap_renumber(as_dataset *ds, const assay_id *new_ids);

/* Extra-P's class of a modeler and our word for it; ended by NULL. */
typedef struct as_xp_modeler_name {
    const char *type, *word;
} as_xp_modeler_name;
extern const as_xp_modeler_name as_xp_modeler_names[];

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Puts items of one context next to each other, in the order in which the contexts first come up. */
typedef struct as_xp_groups {
    uint32_t *heads; /* first item of each group */
    uint32_t *next;  /* the item that follows in the group, or UINT32_MAX */
    size_t n_groups;
} as_xp_groups;
/* contexts[i] ASSAY_NONE: an item to leave out. False when memory is out; freed with as_xp_groups_free() in any
 * case. */
bool as_xp_group(as_xp_groups *groups, const assay_id *contexts, size_t n);
void as_xp_groups_free(as_xp_groups *groups);

/* A number as Python writes a float: "20.0"; nan and infinities as texts. Returns its length. */
size_t as_xp_format_real(double value, char buffer[AS_NUMBER_SIZE]);
void as_xp_write_real(as_output *out, double value);
void as_xp_write_str(as_output *out, const as_dataset *ds, as_str text);
void as_xp_write_cell(as_output *out, as_cell cell);
/* ASSAY_E_NOMEM where the document, of this size so far, is larger than the dataset's limit, so that nobody could read
 * it: the paths of a deep tree may be longer than any memory. */
assay_status as_xp_check_size(const as_writer *writer, uint64_t size);

/* Raw values on their way into values/N.vals and values/N.indx. */
typedef struct as_xp_value_writer {
    as_zip_writer *zip;
    assay_error *error;
    as_output *vals, *indx; /* of the chunk in the making */
    as_vec offsets, cells;  /* uint64_t; double */
    as_vec counts;          /* uint64_t: arrays of each chunk that is written */
    uint64_t chunk_size;
    uint64_t next_chunk, next_index; /* of as_xp_next_values() */
    char header[128];                /* of the last array */
    size_t header_size;
    uint64_t header_shape[2];
    char header_type;
} as_xp_value_writer;
bool as_xp_value_writer_init(as_xp_value_writer *values, as_zip_writer *zip, uint64_t chunk_size, assay_error *error);
void as_xp_value_writer_free(as_xp_value_writer *values);
/* Adds rows first … end - 1 of a block, which belong to one point. */
assay_status as_xp_write_values(as_xp_value_writer *values, const as_block *block, uint64_t first, uint64_t end);
/* Writes what has gathered; further arrays begin a new chunk. */
assay_status as_xp_flush_values(as_xp_value_writer *values);
/* When all are written: where the first added array is, at the next call the second, and so on. */
void as_xp_next_values(as_xp_value_writer *values, uint64_t *chunk, uint64_t *index);

/* Says what of values with locations an array of numpy cannot hold. */
void as_xp_lose_values(const as_dataset *ds, as_losses *losses);

/* The value of "modelers": all model sets of the dataset. */
assay_status as_xp_write_modelers(as_writer *writer, as_output *out);
/* The format's write, with chunks of values that end when they reach chunk_size bytes. */
assay_status as_xp_write(as_writer *writer, uint64_t chunk_size);
void as_xp_losses(const as_dataset *ds, as_losses *losses);

#endif
