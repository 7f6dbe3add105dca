/* Directories: what is in one, and writing one as a whole. */
#ifndef AS_IO_DIRECTORY_H
#define AS_IO_DIRECTORY_H

#include "io/output.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct as_directory_entry {
    const char *name;
    bool is_directory; /* else a regular file; links count as what they point to */
} as_directory_entry;

typedef struct as_directory {
    const as_directory_entry *entries; /* sorted by the bytes of their names */
    size_t n_entries;

    /* private */
    as_vec list;
    as_arena names;
} as_directory;

/* The files and directories in a directory. Left out: names that start with a dot, and what is neither (pipes,
 * devices). A link that leads nowhere is listed as a file, which cannot be opened then. Memory is counted against the
 * budget (may be NULL). ASSAY_E_IO, ASSAY_E_NOMEM; *out is freed by as_directory_free() in every case. */
assay_status as_directory_list(const char *path, as_budget *budget, as_directory *out, assay_error *error);
void as_directory_free(as_directory *directory);

/* The path, without links, of the regular file that a name leads to below a directory; NULL: there is none, or the name
 * or a link leads out of the directory. The caller frees it. */
char *as_file_below(const char *directory, const char *name);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A directory in the making. It grows beside its final place and gets there on commit; until then, and after any
 * failure, nothing is there that was not there before. */
typedef struct as_output_directory as_output_directory;
enum { AS_MAX_FOLDERS = 32 };

/* ASSAY_E_IO where something is there already, unless it is an empty directory, which is replaced then. At most 8 at a
 * time. */
assay_status as_output_directory_open(const char *path, as_output_directory **out, assay_error *error);
/* Opens a file in it, "sub/name": directories on the way are made, at most AS_MAX_FOLDERS deep. The caller commits it
 * (or discards it) before the directory is. */
assay_status as_output_directory_file(as_output_directory *directory, const char *name, as_output **out,
                                      assay_error *error);
/* As as_output_on_begin(): called before the first file is opened, or the directory ends without any. */
void as_output_directory_on_begin(as_output_directory *directory, as_output_begins *begins, void *user);
/* Ends it: the directory takes its place. Frees it in every case; on failure nothing is left behind. */
assay_status as_output_directory_commit(as_output_directory *directory, assay_error *error);
/* Ends it without a result and leaves no trace. NULL is fine. */
void as_output_directory_discard(as_output_directory *directory);

/* Removes all directories in the making. Async-signal-safe; as_output_abandon_all() calls it. */
void as_output_directory_abandon_all(void);

#endif
