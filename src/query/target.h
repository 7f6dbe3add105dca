/* Where a dataset can be written to: one of the formats, or a SQLite database. */
#ifndef AS_QUERY_TARGET_H
#define AS_QUERY_TARGET_H

#include "formats/format.h"

#define AS_SQLITE_NAME    "sqlite"
#define AS_SQLITE_TITLE   "SQLite database"
#define AS_SQLITE_ENDINGS ".sqlite .db"

typedef struct as_target {
    const char *name;        /* "extrap-text", "sqlite" */
    const as_format *format; /* NULL: a database */
    unsigned threads;        /* that writing may use; 0, as as_target_find() leaves it: all cores */
    bool appends;            /* behind what is in the file, see as_format */
    /* Called before anything is written, once the writer knows that it can. NULL: nobody */
    as_output_begins *begins;
    void *user;
} as_target;

/* By name, or where that is NULL by the ending of path. ASSAY_E_USAGE where there is none (naming the nearest),
 * ASSAY_E_UNSUPPORTED where it cannot be written. */
assay_status as_target_find(const char *name, const char *path, as_target *out, assay_error *error);
/* What would be lost; a database holds everything. Ended by as_losses_free(). */
void as_target_losses(const as_target *target, const as_dataset *dataset, as_losses *losses);
static inline bool as_target_is_directory(const as_target *target) {
    return target->format && target->format->writes_directories;
}
/* Writes the dataset to path, whole or not at all. */
assay_status as_target_write(const as_target *target, const as_dataset *dataset, const char *path,
                             const char *const *options, assay_error *error);

#endif
