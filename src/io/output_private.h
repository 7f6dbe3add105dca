/* For io/ only. */
#ifndef AS_IO_OUTPUT_PRIVATE_H
#define AS_IO_OUTPUT_PRIVATE_H

#include "io/output.h"

/* as_output_open() of a file that has another name in messages: one inside a directory in the making. */
assay_status as_output_open_shown(const char *path, const char *shown, as_output **out, assay_error *error);

/* Keeps the name of a file that as_output_abandon_all() removes; the copy of it, or NULL where there are too many.
 * Before the file exists: a signal must find it at any moment. */
char *as_temporary_register(const char *path);
/* What as_temporary_register() returned. */
void as_temporary_unregister(const char *path);

/* What is to be called, once, when there is something to write. */
typedef struct as_beginning {
    as_output_begins *begins; /* NULL: nobody, or it was called */
    void *user;
} as_beginning;

static inline void as_begin(as_beginning *beginning) {
    as_output_begins *begins = beginning->begins;
    beginning->begins = NULL;
    if (begins) begins(beginning->user);
}

#endif
