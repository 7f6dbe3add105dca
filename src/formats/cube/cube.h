/* Cube 4: one .cubex, a tar of anchor.xml (metrics, call tree, system tree) and, for each metric N with values, N.index
 * (which contexts have a row) and N.data (the rows, plain or each packed by zlib).
 *
 * Opening decodes the anchor and checks the sizes of the rest; a metric's rows are decoded when somebody asks. */
#ifndef AS_FORMATS_CUBE_CUBE_H
#define AS_FORMATS_CUBE_CUBE_H

#include "formats/format.h"
#include "io/tar.h"

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* What the document says beyond the columns of the tables, so that a writer can say it again:
 *
 *   an attribute of an element    "@" and its name: "@viztype" of a metric, "@mod" of a context (the file of the call
 *                                 site); of a part of the document: "@metrics:title". "@type" of a metric only where
 *                                 the kind does not say it (derived ones, SIMPLE)
 *   a child element               its name: "paradigm", "url", "descr" of a region; "url", "val", "cubepl",
 *                                 "cubeplinit" of a metric; "descr" of a location
 *   <attr key="K">                K itself; "attr:K" where K would be mistaken for one of these, and always of a
 *                                 context
 *   <parameter> of a context      its key, and "partype:" and the key where it is not a string: "numeric";
 *                                 "parameter:K" where K would be mistaken for one of these
 *   <cubeplaggr>                  "cubeplaggr:" and its type, plus, minus or aggr
 *   a child element we don't know "xml" ("attr:xml" of a context), the whole of it as XML text, one for each
 *   <murl> of the document        "mirror", one for each
 *   <topologies>                  "topologies", the whole of it as XML text; none where it is empty
 *   another file of the archive   "file:" and its name, where it is text of at most AS_CUBE_KEPT_FILE bytes
 *
 * Elements that are empty are not kept: <url></url> and no <url> are the same. What CubeLib's reader would refuse,
 * attributes and elements it does not know, is written as <attr> of this key. */
#define AS_CUBE_ATTR        "attr:"
#define AS_CUBE_PARAMETER   "parameter:"
#define AS_CUBE_PARTYPE     "partype:"
#define AS_CUBE_XML         "xml"
#define AS_CUBE_MIRROR      "mirror"
#define AS_CUBE_TOPOLOGIES  "topologies"
#define AS_CUBE_FILE        "file:"
#define AS_CUBE_CUBEPL      "cubepl"
#define AS_CUBE_CUBEPL_INIT "cubeplinit"
#define AS_CUBE_CUBEPL_AGGR "cubeplaggr:"
#define AS_CUBE_TYPE        "@type"
enum { AS_CUBE_KEPT_FILE = 1 << 20 };

/* ---- an open file ------------------------------------------------------------------------------------------------ */

/* What the values of a metric need to know of the file. Lives in the dataset's arena. */
typedef struct as_cube {
    as_dataset *ds;
    const as_tar *tar;
    const char *path;
    assay_id run;
    bool full_uint64; /* the option: no UINT64 is taken for a counter that ran below zero */
    uint32_t n_contexts, n_locations;
    const assay_id *columns; /* the locations in order of their Id: ids of the dataset, ascending */
    /* For each context, its number among rows of INCLUSIVE metrics; made when first needed */
    const uint32_t *wide_numbers;
    const assay_id *all_contexts; /* 0, 1, 2 …; likewise */
} as_cube;

/* A metric as the archive names it. */
typedef struct as_cube_metric {
    assay_id id;
    uint32_t number; /* of NUMBER.index and NUMBER.data */
    bool is_wide;    /* rows are numbered as those of INCLUSIVE metrics */
} as_cube_metric;

/* Reads anchor.xml (it may be packed by gzip) into the tables of reader->dataset; *metrics gets an as_cube_metric for
 * each metric, in their order. Fills what is left of *cube. */
assay_status as_cube_read_anchor(as_reader *reader, const as_tar_member *anchor, as_cube *cube, as_vec *metrics);

/* Adds the profile of a metric that has values, after a look at its index and the sizes of its data. Whatever is wrong
 * with them becomes a problem, and, if the values cannot be had then, an error of whoever asks for them. Fails only
 * when memory is out. */
assay_status as_cube_open_metric(as_cube *cube, const as_cube_metric *metric, assay_error *error);

/* Whether the type of a metric is one of the three that formulas have, in any case. */
bool as_cube_is_derived(const char *type, as_derived_kind *kind);
/* Makes formulas of the CubePL that derived metrics have in their attributes. One that cannot be used becomes a
 * problem. False when memory is out. */
bool as_cube_formulas(as_dataset *ds, const char *path);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* One run as a .cubex; a directory of them, one for each run. */
assay_status as_cube_write(as_writer *writer);
assay_status as_cube_set_write(as_writer *writer);
void as_cube_losses(const as_dataset *ds, as_losses *losses);
void as_cube_set_losses(const as_dataset *ds, as_losses *losses);
void as_cube_set_remarks(const as_dataset *dataset, const as_options *options, as_losses *remarks);
/* Of both. */
extern const as_option as_cube_write_options[];

#endif
