/* Private to the writers of .cubex: what the files of one dataset share, and one file in the making. */
#ifndef AS_FORMATS_CUBE_WRITE_H
#define AS_FORMATS_CUBE_WRITE_H

#include "formats/cube/cube.h"
#include "io/xml_write.h"

/* ---- what all files of a dataset share --------------------------------------------------------------------------- */

/* The attributes of one kind of owner: those of owner i are list[starts[i]] … list[starts[i + 1] - 1], in the dataset's
 * order. starts NULL: none. */
typedef struct as_cube_owned {
    uint32_t *starts, *list;
} as_cube_owned;

/* A region that only some context needs: one whose name differs from its region's, or that has none. */
typedef struct as_cube_region {
    assay_id like; /* ASSAY_NONE: like none */
    as_str name;
} as_cube_region;

typedef struct as_cube_source {
    const as_dataset *ds;
    as_cube_owned owned[AS_OWNER_LOCATION + 1];
    /* Whether the ids of the source are 0 … n - 1 in some order, as CubeLib's vectors want them: then they stay */
    bool keeps_metric_ids, keeps_region_ids, keeps_context_ids;
    uint32_t *metric_numbers; /* of each metric that is written; UINT32_MAX: it is not */
    bool *placeless;          /* contexts whose values are left out; NULL: there are none */
    as_vec more_regions;      /* as_cube_region; their numbers follow those of the dataset's */
    assay_id *region_of;      /* for each context, NULL: as in the dataset */
    uint32_t *wide;           /* for each context its number among rows of INCLUSIVE metrics */
    assay_id *by_wide;        /* for each such number its context */
    assay_id *child,
        *sibling; /* metrics: the first child of each, and behind them that of none; the next of its parent */
} as_cube_source;

/* Whether the dataset comes from files like those we write: its words are theirs. */
static inline bool as_cube_is_ours(const as_dataset *ds) { return ds->format && strncmp(ds->format, "cube", 4) == 0; }

/* Whether a metric can be written. Cube adds exclusive values up along the call tree and takes inclusive ones of
 * children off: of values that a source stores as they are (of a function with those of its loops, say) only inclusive
 * ones, and those of single points, come out right. */
bool as_cube_holds_metric(const as_dataset *ds, assay_id metric);

/* False when memory is out; to be freed in every case. */
bool as_cube_source_init(as_cube_source *source, const as_dataset *ds);
void as_cube_source_free(as_cube_source *source);

/* Calls visit for the attributes of an owner, in order. */
typedef void as_cube_visit(void *user, const char *key, as_cell value);
void as_cube_each_attribute(const as_cube_source *source, as_owner owner, assay_id id, as_cube_visit *visit,
                            void *user);
/* The first attribute of this key, as text, or NULL. Only for text. */
const char *as_cube_attribute(const as_cube_source *source, as_owner owner, assay_id id, const char *key);

/* ---- one file ---------------------------------------------------------------------------------------------------- */

typedef enum as_cube_compression { AS_CUBE_INHERIT, AS_CUBE_PLAIN, AS_CUBE_ZLIB } as_cube_compression;

typedef struct as_cube_file {
    const as_cube_source *source;
    const as_dataset *ds;
    assay_id run;      /* ASSAY_NONE: there are no values */
    assay_id *columns; /* the locations with values, ascending; NULL: one that stands for none */
    uint32_t n_columns;
    bool is_of_set;   /* other runs have files of their own */
    as_slice *slices; /* for each metric what it has in this run; view.type.size 0: nothing */
    as_cube_compression compression;
    unsigned threads;
    as_output *out;
    assay_error *error;
} as_cube_file;

/* Writes the run as a whole .cubex to out. A file of a set has only the locations with values. */
assay_status as_cube_write_run(const as_writer *writer, const as_cube_source *source, assay_id run, bool is_of_set,
                               as_output *out);

/* Whether an attribute of a set says how it was read, not what its files say: the next reader decides anew. */
static inline bool as_cube_is_of_reading(as_owner owner, const char *key) {
    return owner == AS_OWNER_DATASET && strcmp(key, "scaling") == 0;
}

/* anchor.xml, the same at every call. False when memory is out. */
bool as_cube_write_anchor(const as_cube_file *file, as_output *out);
/* Its <system>. False when memory is out. */
bool as_cube_write_system(const as_cube_file *file, as_output *out);
/* Whether the locations are threads in processes in nodes, so that none need be made up. False when memory is out. */
bool as_cube_fits_system(const as_dataset *ds, bool *does_fit);
/* What is kept of an element beyond the tables: attributes of its tag (of a part of the owner, or "") that CubeLib
 * knows; all else as <attr>. */
void as_cube_put_tag(const as_cube_file *file, as_output *out, as_owner owner, assay_id id, const char *part);
void as_cube_put_rest(const as_cube_file *file, as_output *out, as_owner owner, assay_id id);
/* The number of a metric in the names of its files. */
void as_cube_write_metric_id(const as_cube_source *source, assay_id metric, as_output *out);
/* N.index and N.data of a metric that has rows. */
struct as_tar_writer;
assay_status as_cube_write_values(const as_cube_file *file, const as_profile *view, struct as_tar_writer *tar);

/* ASSAY_E_UNSUPPORTED where there is nothing a Cube file holds. */
assay_status as_cube_check_values(const as_writer *writer);
/* What both formats lose beyond what `holds` says. */
void as_cube_lose_common(const as_dataset *ds, as_losses *losses);

/* ---- XML --------------------------------------------------------------------------------------------------------- */

/* <name>text</name> and a line end. text NULL: empty. */
void as_cube_put_element(as_output *out, const char *name, const char *text);
/* <attr key="" value=""/> and a line end. */
void as_cube_put_attr(as_output *out, const char *key, as_cell value);
/* The text of a cell, NUL-terminated: its own, or a number in buffer. */
const char *as_cube_cell_text(as_cell cell, char buffer[AS_NUMBER_SIZE]);

#endif
