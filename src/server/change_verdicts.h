/* What `assay compare` says of the call paths of a comparison, where there are repetitions: which changes can be told
 * from noise. Kept from request to request. */
#ifndef AS_SERVER_CHANGE_VERDICTS_H
#define AS_SERVER_CHANGE_VERDICTS_H

#include "analysis/verdict/verdict.h"
#include "server/changes.h"

typedef struct as_change_verdicts {
    as_samples samples;
    as_verdict verdict;
    const as_judgement *
        *of_item; /* of each item of call paths; NULL: nothing is said of it. NULL: none was asked for */
} as_change_verdicts;

/* Of functions only what is said of the whole. *out is NULL where there are no repetitions on both sides, or compare
 * cannot say anything about the metric. It is the viewing's, until the request ends. */
assay_status as_change_verdicts_find(as_viewing *viewing, const as_asked_changes *asked, const as_change_verdicts **out,
                                     assay_error *error);

#endif
