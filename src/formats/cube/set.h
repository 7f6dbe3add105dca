/* Private to the reader of sets: a directory DIR/POINT/FILE.cubex, each a run of one program at one point of its
 * parameters. */
#ifndef AS_FORMATS_CUBE_SET_H
#define AS_FORMATS_CUBE_SET_H

#include "dataset/unify.h"
#include "formats/cube/cube.h"
#include "formats/points.h"

/* ---- names of directories ---------------------------------------------------------------------------------------- */

typedef as_point_name as_set_name;

/* Reads "app.p4.n1,5.r2": what follows the first dot (all, where none does or a digit follows), up to ".r" and a
 * number; words and numbers in turns. Words that only a dot follows do not count. NULL if fine, else what is wrong with
 * it. */
const char *as_set_parse_name(const char *text, as_set_name *out);

/* ---- the set ----------------------------------------------------------------------------------------------------- */

typedef struct as_set_file {
    const char *path;         /* in the arena of the set's dataset */
    as_dataset *part;         /* its content, until it is united */
    as_dataset *source;       /* then: the set's dataset holds it */
    const assay_id *contexts; /* for each context of the part its id in the set */
    const assay_id *columns;  /* for each column of the part its location in the set */
    bool is_same_tree;        /* contexts[i] is i for all */
    bool columns_ascend;
} as_set_file;

typedef struct as_set {
    as_reader *reader;
    as_dataset *ds;
    as_point_set points;
    as_vec files;         /* as_set_file, those of the points */
    const char **options; /* of each file */
} as_set;

/* Makes one dataset of them. */
assay_status as_set_unite(as_set *set);
/* The profiles of a file's metrics as those of the run; metrics: for each of its metrics that of the set. */
assay_status as_set_add_profiles(as_set *set, const as_set_file *file, assay_id run, const assay_id *metrics);
/* What was measured at which points: series, call paths, and a problem where points are missing. */
assay_status as_set_find_series(as_set *set);

#endif
