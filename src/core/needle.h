/* What people type to find names: /PATTERN/ is a regular expression (core/pattern.h), anything else is a part of the
 * name, in which small letters stand for large ones, too. */
#ifndef AS_CORE_NEEDLE_H
#define AS_CORE_NEEDLE_H

#include "core/error.h"
#include "core/pattern.h"

typedef struct as_needle {
    as_pattern *pattern; /* NULL: text is a part of the name */
    const char *text;    /* the caller's */
    bool folds;          /* small letters stand for large ones, too */
} as_needle;

/* ASSAY_E_USAGE where the pattern is none. as_needle_free() in every case. */
assay_status as_needle_init(as_needle *needle, const char *text, assay_error *error);
void as_needle_free(as_needle *needle);
bool as_needle_matches(const as_needle *needle, const char *name);

#endif
