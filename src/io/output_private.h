/* For io/ only. */
#ifndef AS_IO_OUTPUT_PRIVATE_H
#define AS_IO_OUTPUT_PRIVATE_H

#include "io/output.h"

/* as_output_open() of a file that has another name in messages: one inside a directory in the making. */
assay_status as_output_open_shown(const char *path, const char *shown, as_output **out, assay_error *error);

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
