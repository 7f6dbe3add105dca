/* Where atomic outputs stand until they are done: beside their final place, under a name nobody else uses. */
#ifndef AS_IO_BESIDE_H
#define AS_IO_BESIDE_H

#include <limits.h>
#include <stdbool.h>

/* The real name of a file or directory that may not exist yet: links followed, even those that point to nothing, the
 * folder absolute, so that the result always has a '/'. errno on false. */
bool as_real_place(const char *path, char place[PATH_MAX]);

/* A new name in the folder of place, which as_real_place() made: ".NAME.assay-xxxxxx". errno on false. */
bool as_beside(const char *place, char path[PATH_MAX]);
enum { AS_BESIDE_ATTEMPTS = 100 }; /* to find one that is free */

#endif
