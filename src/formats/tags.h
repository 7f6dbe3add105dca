/* Extra-P's tags of call paths: attributes "tags:…" of contexts, in the types that they have when they are read from an
 * .extra-p file. */
#ifndef AS_FORMATS_TAGS_H
#define AS_FORMATS_TAGS_H

#include "dataset/build.h"

typedef struct as_tag {
    const char *key;   /* "tags:gpu__kernel"; NULL: none */
    const char *value; /* "true", "false" or "null", as in JSON; else a text */
} as_tag;

/* False when memory is out. */
bool as_add_tag(as_dataset *ds, assay_id context, as_tag tag);

#endif
