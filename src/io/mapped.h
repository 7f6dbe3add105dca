/* The mapped inputs of the process, for when the file behind one is written to or shrinks: touching bytes that are gone
 * raises SIGBUS. Who handles that signal learns here whose bytes they were, and may go on with zeros in their place;
 * whoever keeps inputs open asks whether they still are what they were.
 *
 * Safe from several threads. */
#ifndef AS_IO_MAPPED_H
#define AS_IO_MAPPED_H

#include "io/input.h"

struct timespec;
typedef struct as_mapped as_mapped;

/* For as_input_open() and as_input_close(). changed: when the file was written to last. NULL when memory is out. */
as_mapped *as_mapped_add(const as_input *input, const struct timespec *changed);
void as_mapped_remove(as_mapped *mapped);

/* For handlers of SIGBUS, in the thread that has touched the address. The path of the input that has it, or NULL. */
const char *as_mapped_path_at(const void *address);
/* For the same: from the page of this address on the input has zeros, and has changed. False: no input has it, or
 * memory is out. */
bool as_mapped_fill(const void *address);

/* Whether an open input that counts against this budget has changed since it was opened; error says which. A file that
 * was replaced by another is none: the input still has the old one. */
bool as_mapped_has_changed(const as_budget *budget, assay_error *error);

#endif
