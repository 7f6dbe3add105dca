/* Integers beyond 2^53 in answers. Tables of views and comparisons have the nearest double of them; what they are to
 * the last digit the dataset knows. */
#ifndef AS_SERVER_EXACT_H
#define AS_SERVER_EXACT_H

#include "analysis/views/view.h"
#include "server/request.h"

/* Where values come from. They are exact where they are those of one context in one run, and do not take long. */
typedef struct as_exact {
    as_view_source source;
    uint64_t work; /* values looked at so far */
} as_exact;

/* Whether `rounded`, the value that a table has of a context, is a rounded integer; *out: which one. Of a number that
 * is none, and of one that is not rounded, it is that number. */
bool as_exact_find(as_exact *exact, assay_id metric, assay_id context, bool exclusive, double rounded, as_whole *out);

/* As as_build_number() and as_build_whole(); beyond 2^53, where JavaScript loses digits, as text. */
void as_build_exact(as_builder *builder, const char *key, bool is_whole, as_whole whole, double real);

#endif
