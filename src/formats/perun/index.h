/* The indexes of a Perun store: objects/XX/YYYY of a commit, and jobs/.index. */
#ifndef AS_FORMATS_PERUN_INDEX_H
#define AS_FORMATS_PERUN_INDEX_H

#include "formats/perun/perun.h"

enum { AS_PERUN_HASH = 20 }; /* bytes of a SHA-1 */

/* What version 2 says of a profile. */
typedef enum as_perun_detail {
    AS_PERUN_DETAIL_TYPE,
    AS_PERUN_DETAIL_CMD,
    AS_PERUN_DETAIL_WORKLOAD,
    AS_PERUN_DETAIL_COLLECTOR,
    AS_PERUN_DETAIL_POSTPROCESSORS, /* names, a blank between them */
    AS_PERUN_DETAILS
} as_perun_detail;

/* A profile. Texts are not JSON, and point into the index. */
typedef struct as_perun_entry {
    size_t offset; /* where it begins */
    uint32_t time; /* of its file, seconds since 1970 */
    const unsigned char *hash;
    as_raw_json name;
    bool has_details;
    as_raw_json details[AS_PERUN_DETAILS];
} as_perun_entry;

typedef struct as_perun_index {
    const char *data;
    size_t size, at;
    uint32_t version; /* 1 or 2 */
    uint32_t left;    /* entries to come */
    /* what is wrong, and where; NULL: nothing so far */
    const char *problem;
    size_t problem_at;
} as_perun_index;

/* Whether these are the first bytes of an index. */
bool as_perun_is_index(const char *head, size_t size);
/* Begins reading; false: there is a problem. */
bool as_perun_index_begin(as_perun_index *index, const char *data, size_t size);
/* The next entry; false: it was the last, or there is a problem. */
bool as_perun_index_next(as_perun_index *index, as_perun_entry *entry);

#endif
