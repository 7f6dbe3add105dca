/* Directories of measured points: DIR/POINT/FILE, each file a run of one program. The name of the directory POINT says
 * the point: "app.p16.n200.r1" is the first repetition at p = 16, n = 200. Several files of one point, whether
 * repetitions or processes, are runs of it. */
#ifndef AS_FORMATS_POINTS_H
#define AS_FORMATS_POINTS_H

#include "formats/format.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* A parameter and its value as a name has them. */
typedef struct as_point_pair {
    const char *name; /* in the text that was parsed */
    size_t size;
    double value;
} as_point_pair;

enum { AS_POINT_MAX_PAIRS = 64 };

typedef struct as_point_name {
    as_point_pair pairs[AS_POINT_MAX_PAIRS];
    size_t n;
    uint64_t repetition; /* of a name with ".r3"; else 0 */
} as_point_name;

/* NULL if fine, else what is wrong with the name. */
typedef const char *as_point_parser(const char *text, as_point_name *out);

/* As Extra-P reads them, what it fails at being refused: what lies between the first dot (the beginning, where there is
 * none) and the first ".r" (the end) is names and values in turns. A value is all digits, dots and commas that follow
 * one another; a comma in it is a point, dots and commas at its end are none of it. */
const char *as_point_parse(const char *text, as_point_name *out);
/* The value in such digits: "21,5," and "21.5." are 21.5. False where it is none. */
bool as_point_value(const char *text, size_t size, double *out);
/* The number behind ".r", kept below overflow; *end (may be NULL) is what follows it. */
uint64_t as_point_repetition(const char *digits, const char **end);

/* ---- the files --------------------------------------------------------------------------------------------------- */

/* What the points of one format are. */
typedef struct as_point_rules {
    const char *ending; /* of the files: ".cubex" */
    as_point_parser *parse;
    bool takes_files; /* where no directory has any, those in DIR itself, each named like a point; or DIR is a point */
    /* which keeps all its parameters; else it is refused. Of several points, parameters are those that vary */
    bool takes_one_point;
    bool counts_ranks; /* each run has the attribute `rank`: the number of the file in its directory, from 0 */
} as_point_rules;

/* The row of each such format's options that says which points are wanted: "app.p4:app.p8", the names of their
 * directories. */
#define AS_POINTS_OPTION                                                                                               \
    { "points", AS_OPTION_TEXT, "", NULL, "only the points in these directories: app.p4:app.p8; default: all" }

/* A bounded look, for bids. */
typedef enum as_points_seen { AS_POINTS_NONE, AS_POINTS_FILES, AS_POINTS_DIRECTORIES } as_points_seen;
/* AS_POINTS_FILES: only the directory itself has some. */
as_points_seen as_point_set_look(const char *directory, const char *ending);

typedef struct as_point_file {
    const char *path;      /* in the arena of the dataset, like the rest */
    const char *directory; /* its name; of a file in DIR itself its own, without the ending */
    const as_point_name *name;
    const double *coordinates; /* of the dataset's parameters */
    uint32_t rank;
} as_point_file;

typedef struct as_point_set {
    as_reader *reader;
    const as_point_rules *rules;
    const char *what; /* has the name of a point: "directory", or "file" */
    as_vec files; /* as_point_file, in order of points, repetitions and paths; the number of each is that of its run */
} as_point_set;

/* Lists the files of the reader's input, and adds parameters, points and runs to its dataset. Where that cannot be, the
 * error names a directory. as_point_set_free() in every case. */
assay_status as_point_set_find(as_reader *reader, const as_point_rules *rules, as_point_set *out);
void as_point_set_free(as_point_set *points);
static inline const as_point_file *as_point_file_at(const as_point_set *points, size_t i) {
    return &AS_AT(as_point_file, &points->files, i);
}

/* Reads one file. Called from several threads, for different files. */
typedef assay_status as_point_read(void *user, size_t file, assay_error *error);
/* Reads all of them, several at a time. The error is that of the first in order that has one, however fast others are;
 * where memory is out, which may be because of the others, a file gets a second chance alone. Tells the progress of the
 * reader, and stops when it says so. */
assay_status as_point_set_read(const as_point_set *points, as_point_read *read, void *user);

/* ---- what they have ---------------------------------------------------------------------------------------------- */

/* Series of the dataset, given at how many points each (metric, context) has data: counts[metric * contexts + context].
 * Their contexts are call paths. Where some have no data at some points, a problem says so. */
assay_status as_point_set_add_series(as_reader *reader, const uint32_t *counts);
/* The same of all that blocks have. */
assay_status as_point_set_add_block_series(as_reader *reader);

#endif
