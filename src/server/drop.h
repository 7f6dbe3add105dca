/* Files dropped onto the page: they are written to a folder of the viewing's own, and opened there like any other.
 *
 * A drop is a number of files that came together: one file, or all those of a directory. The page sends them one by one
 * (POST api/drop?drop=K&name=db/profile.db, the bytes as body), then says that they are complete (POST
 * api/open?drop=K), or that it gives up (POST api/discard?drop=K). Names are made of plain parts only, and never lead
 * out of the folder. Safe from several threads. */
#ifndef AS_SERVER_DROP_H
#define AS_SERVER_DROP_H

#include "core/error.h"

typedef struct as_drops as_drops;
typedef struct as_drop_file as_drop_file;

/* A private folder below $TMPDIR, or /tmp; those that killed viewers left there are removed. limit: bytes of all files
 * together. */
assay_status as_drops_new(uint64_t limit, as_drops **out, assay_error *error);
/* Removes the folder with all that is in it. NULL is fine. */
void as_drops_remove(const as_drops *drops);
/* The same, and frees it. */
void as_drops_free(as_drops *drops);

/* A new file of this drop. size: what is to come, 0: nobody knows. ASSAY_E_USAGE where the name will not do,
 * ASSAY_E_UNSUPPORTED where it is too large; the message says so. */
assay_status as_drop_begin(as_drops *drops, const char *drop, const char *name, uint64_t size, as_drop_file **out,
                           assay_error *error);
assay_status as_drop_write(as_drop_file *file, const void *data, size_t size, assay_error *error);
/* is_complete: else it is removed. Frees the file. Whether it was kept: closing may fail, too. */
bool as_drop_end(as_drop_file *file, bool is_complete);

typedef struct as_drop_visitor {
    /* Whether a folder of directories is one experiment, whose points they are. */
    bool (*is_experiment)(void *user, const char *folder);
    assay_status (*visit)(void *user, const char *path, const char *name, assay_error *error);
} as_drop_visitor;

/* Visits each file or directory of a drop, in order of their names; directories that are points of one experiment as
 * one. This is done once for a drop, when all of it has come, and nothing can be added behind it. ASSAY_E_USAGE: there
 * is no such drop, some of it is still being written, or it was done already. */
assay_status as_drop_each(as_drops *drops, const char *drop, const as_drop_visitor *visitor, void *user,
                          assay_error *error);

/* Removes what has come of a drop that will never be complete, and gives its bytes and files back; nothing can be added
 * behind it. ASSAY_E_USAGE: some of it is still being written, or it was opened. */
assay_status as_drop_discard(as_drops *drops, const char *drop, assay_error *error);

#endif
