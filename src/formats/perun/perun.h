/* Perun profiles: what the parts of the format share.
 *
 * A profile is one JSON object. Old ones list resources one by one (snapshots, global, or a plain list); new ones have
 * columns for each type of resource, and the type's properties in resource_type_map. Both become the same: the table
 * "record" (dataset/records.h), whose kinds are Perun's resource types: all a resource has but the few dynamic keys.
 * What else is needed to write the profile again is as_perun, the dataset's of_format. A store (.perun) is many
 * profiles: each is a run, and appends to the same tables. */
#ifndef AS_FORMATS_PERUN_H
#define AS_FORMATS_PERUN_H

#include "dataset/records.h"
#include "formats/format.h"
#include "io/json.h"

/* JSON text in the input (where the dataset keeps it), in the arena or in what the dataset holds. Not
 * NUL-terminated. */
typedef struct as_raw_json {
    const char *text;
    size_t size;
} as_raw_json;

/* The keys whose values are a resource's own; all others belong to its type. */
extern const char *const as_perun_dynamic_keys[]; /* ended by NULL */

/* Where a row came from: what writing in the old layout needs. */
typedef enum as_perun_place {
    AS_PERUN_TYPES,    /* resources as columns, with resource_type_map */
    AS_PERUN_LIST,     /* resources, a list */
    AS_PERUN_GLOBAL,   /* global, an object */
    AS_PERUN_GLOBALS,  /* global, a list */
    AS_PERUN_SNAPSHOTS /* snapshots */
} as_perun_place;

/* A type of resources; by the kind of the table "record". */
typedef struct as_perun_kind {
    /* its persistent members, "type":"mixed","uid":{…}, without those that a snapshot or global adds; raw values */
    as_raw_json members;
    as_raw_json uid;      /* raw; size 0: it has none */
    as_raw_json trace;    /* raw, a list; size 0: none */
    as_str flat_uid;      /* as people see it: "a.c:main:22"; AS_NO_STR: none */
    assay_id context;     /* of its amounts: the call path, or the uid; ASSAY_NONE: no uid */
    assay_id uid_context; /* the root that its measurements are of; ASSAY_NONE: none of its amounts has a size */
    assay_id metric;      /* ASSAY_NONE: none of its amounts is a number */
    uint32_t snapshot;    /* UINT32_MAX: none */
    as_perun_place place;
    bool is_free; /* subtype "free": flame graphs leave it out */
} as_perun_kind;

/* A top-level member in the order of the file. */
typedef struct as_perun_region {
    as_str key;
    as_raw_json value;
} as_perun_region;

/* One profile: a file, or one of a store. */
typedef struct as_perun_profile {
    assay_id run;
    bool is_new;              /* resources are columns */
    as_vec regions;           /* as_perun_region; empty for profiles of a store */
    size_t first_row, n_rows; /* of "record" */
} as_perun_profile;

/* ds->of_format of what as_format_perun and as_format_perun_store read. Held by the dataset. */
typedef struct as_perun {
    as_records *records;
    as_vec kinds;    /* as_perun_kind */
    as_vec profiles; /* as_perun_profile */
} as_perun;

/* Of a dataset; NULL: it was not read from Perun's files. */
const as_perun *as_perun_of(const as_dataset *ds);

/* ---- reading (read.c and its neighbours) ------------------------------------------------------------------------- */

/* Fills one dataset from one or more profiles. */
typedef struct as_perun_reading as_perun_reading;
/* Makes the tables record, frame, stored_model and field. NULL when memory is out. */
as_perun_reading *as_perun_begin(as_reader *reader);
/* Reads one profile from JSON text, as a run that the caller has added. path: in messages. keeps_text: the text lives
 * as long as the dataset, and regions and kinds may point into it; else what is needed is copied, and there are no
 * regions. */
assay_status as_perun_add_profile(as_perun_reading *reading, assay_id run, const char *path, const char *text,
                                  size_t size, bool keeps_text);
/* Regions, contexts, metrics, values, points and measurements of all of them; then the dataset is whole. */
assay_status as_perun_finish(as_perun_reading *reading);
void as_perun_end(as_perun_reading *reading);

/* ---- stored objects (object.c) ----------------------------------------------------------------------------------- */

/* Whether these are the first bytes of zlib data, which a stored object is. */
bool as_perun_is_object(const char *head, size_t size);
/* Unpacks a stored object: *json, *size is the JSON behind its header, in *text (an as_vec of char, initialised by the
 * caller). Checks the header's word, type and length (which counts characters); ASSAY_E_FORMAT with the rule and the
 * offset in the error. */
assay_status as_perun_unpack(as_reader *reader, const char *path, const char *data, size_t size, as_vec *text,
                             const char **json, size_t *json_size);

/* ---- flattening (flatten.c) -------------------------------------------------------------------------------------- */

/* Calls visit for each flattened (key, value) of the JSON value that is json's current token, under the name `key`, in
 * Perun's order: parts before the whole. On return the current token is the value's last. Text of key and cell live
 * until visit returns. Perun's rules: nested objects "key:sub" and then "key", joined with ":" by rank; lists of {name,
 * value} as objects; other lists joined with ","; numbers as Python prints them; null is a null cell; true and false
 * are 1 and 0, "True" and "False" inside joined text. False: memory is out, visit said so, or json is in error. No
 * recursion: depth is bounded by json's own limit. */
typedef bool as_flat_visit(void *user, const char *key, size_t key_size, as_cell value);
typedef struct as_flattener as_flattener;
as_flattener *as_flattener_new(as_budget *budget);
void as_flattener_free(as_flattener *flattener);
/* How many members it met so far whose key came again in their object, so that they did not count. */
size_t as_flattener_superseded(const as_flattener *flattener);
bool as_flatten(as_flattener *flattener, as_json *json, const char *key, size_t key_size, as_flat_visit *visit,
                void *user);
/* The same for each member of the object that the current token opens, under its own key; of two with the same key the
 * last. */
bool as_flatten_members(as_flattener *flattener, as_json *json, as_flat_visit *visit, void *user);

/* A number as Python's str() writes it: 1.0, 1e-05, 1e+22, nan, inf. Returns its length. */
size_t as_python_number(as_number number, char out[AS_NUMBER_SIZE]);

/* ---- writing (write.c and its neighbours) ------------------------------------------------------------------------ */

/* What a command adds to a profile that it writes again. */
typedef struct as_perun_edits {
    const as_raw_json *models; /* further models, each a JSON object */
    size_t n_models;
    as_raw_json postprocessor; /* a further entry of "postprocessors"; size 0: none */
    const char *column;   /* a key that every resource gets, or whose value changes ("cluster", "amount"); NULL: none */
    const as_cell *cells; /* one for each row of "record"; a null cell leaves the row as it is */
} as_perun_edits;

/* Writes a dataset as a profile. edits may be NULL. Datasets of other formats become profiles too. */
assay_status as_perun_write(as_writer *writer, const as_perun_edits *edits);

extern const struct assay_format as_format_perun, as_format_perun_store;

#endif
