/* For io/ only. */
#ifndef AS_IO_OUTPUT_PRIVATE_H
#define AS_IO_OUTPUT_PRIVATE_H

#include "io/output.h"

/* as_output_open() of a file that has another name in messages: one inside a directory in the making. */
assay_status as_output_open_shown(const char *path, const char *shown, as_output **out, assay_error *error);

#endif
