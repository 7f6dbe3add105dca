/* Names inside archives. */
#ifndef AS_IO_NAMES_H
#define AS_IO_NAMES_H

#include <stdbool.h>
#include <string.h>

/* Whether a name leads out of the archive: absolute, or climbing with "..", in either system's way of writing it. */
static inline bool as_name_leads_out(const char *name) {
    if (name[0] == '/' || name[0] == '\\' || (name[0] && name[1] == ':')) return true;
    for (const char *part = name; part; part = strpbrk(part, "/\\")) {
        part += *part == '/' || *part == '\\';
        if (part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/' || part[2] == '\\')) return true;
    }
    return false;
}

#endif
