/* Adding to a file that several processes may add to, whole or not at all.
 *
 * Whoever adds takes the file's lock (flock, exclusive), copies the file beside its place, writes behind the copy, and
 * renames it. So at any moment, whoever is killed and whenever, the file is as it was or has all that was added; and of
 * two who add at once, one waits for the other. What a killed one leaves beside the file is taken away by the next. */
#ifndef AS_IO_APPEND_H
#define AS_IO_APPEND_H

#include "io/input.h"
#include "io/output.h"

typedef struct as_append as_append;

/* Waits for the lock as long as others add; some seconds, and then fails, where a program keeps the file open and a
 * shared lock on it, because it still writes to it. A file that does not exist is made. budget may be NULL. On success
 * *out is ended by as_append_commit() or as_append_discard(). */
assay_status as_append_begin(const char *path, as_budget *budget, as_append **out, assay_error *error);
/* What is in the file, under the name it was given; NULL: there is none yet. */
const as_input *as_append_existing(const as_append *append);
/* Where to write what is added: behind a copy of what is there. */
as_output *as_append_output(as_append *append);
/* The file takes its place. Frees append in every case; on failure the file is as it was. */
assay_status as_append_commit(as_append *append, assay_error *error);
/* NULL is fine. */
void as_append_discard(as_append *append);

#endif
