/* A Perun store, .perun: what the parts of its reader share. */
#ifndef AS_FORMATS_PERUN_STORE_H
#define AS_FORMATS_PERUN_STORE_H

#include "formats/perun/index.h"

enum { AS_PERUN_HEX = 2 * AS_PERUN_HASH };

/* A file in objects/, by its name XX/YYYY without the slash. */
typedef struct as_perun_file {
    char hex[AS_PERUN_HEX + 1];
    enum { AS_PERUN_FILE_INDEX, AS_PERUN_FILE_OBJECT, AS_PERUN_FILE_CHANGES } type;
    bool is_listed; /* an object that some index names */
} as_perun_file;

/* A profile that is to be read: a run. Texts are interned, or AS_NO_STR. */
typedef struct as_perun_stored {
    as_str path; /* of the file */
    as_str id;   /* the hash of the object, or the name of the pending file */
    as_str name, commit;
    as_str details[AS_PERUN_DETAILS];
    double time;        /* NAN: unknown */
    double commit_time; /* NAN: unknown */
    bool is_pending, is_bad;
} as_perun_stored;

typedef struct as_perun_store {
    as_reader *reader;
    as_dataset *ds;
    const char *root;   /* the directory .perun */
    const char *beside; /* the one it is in */
    as_vec files;       /* as_perun_file, in ascending order of (hex, type) */
    as_vec profiles;    /* as_perun_stored, in the order of runs */
    as_vec text;        /* char: what was unpacked last */
    uint32_t version;   /* the greatest of the indexes */
    assay_error first;  /* why the first bad profile is */
    size_t n_bad;
} as_perun_store;

/* "root/a/b" in the arena; NULL when memory is out. b may be NULL. */
char *as_perun_path(as_perun_store *store, const char *root, const char *a, const char *b);
/* "root/objects/XX/YYYY", and the ending. */
char *as_perun_object_path(as_perun_store *store, const char *root, const char *hex, const char *ending);
/* Whether an error of a file is one that the others can be read in spite of. */
bool as_perun_is_partial(assay_status status);
/* The error of a file as a problem; the reader goes on without it. */
void as_perun_leave_out(as_perun_store *store, const assay_error *error);

/* Finds all files, indexes and profiles (store_list.c). */
assay_status as_perun_list_store(as_perun_store *store);
/* When the commit was made, from the repository beside the store, where it is there as a file of its own; NAN: not
 * known (store_list.c). */
double as_perun_commit_time(as_perun_store *store, const char *hex);
/* The table "change", from the files .changes (store_changes.c). */
assay_status as_perun_read_changes(as_perun_store *store);

#endif
