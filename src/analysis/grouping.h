/* Events by their tags: a dataset whose call tree is made of groups instead of call paths.
 *
 * Each key of the list makes a level of the tree: the name of a tag one node for each of its values; the word "region"
 * one for the name of the region or section itself; the word "path" as many as the call path has. An interval belongs
 * to one group: its time without that of the intervals directly in it, so that nothing counts twice, and the parts of
 * all groups make up the whole.
 *
 * An interval without a tag has that of the nearest interval around it which has it, else that of its run; sections,
 * which lie in nothing, ask their run at once. Where nobody has it, the group is "(no NAME)". A value that is empty
 * makes "NAME=". Where nothing is called tag:NAME, the attribute NAME of events and runs itself is taken. */
#ifndef AS_ANALYSIS_GROUPING_H
#define AS_ANALYSIS_GROUPING_H

#include "analysis/event_intervals.h"

enum { AS_MOST_GROUP_KEYS = 16 };

typedef struct as_grouping {
    as_dataset
        *ds; /* the groups: runs and points as before, metrics visits, time and time covered, and those measured */
    /* The group of each event, ASSAY_NONE: it has none (pauses, moments, those of no run). NULL unless asked for. */
    assay_id *group_of;
} as_grouping;

typedef struct as_grouping_request {
    const as_dataset *ds;
    const char *keys;        /* "platform,component,region" */
    const as_pauses *pauses; /* deducted; NULL: nothing is */
    bool wants_events;       /* group_of is asked for */
    uint64_t memory_limit;   /* of the new dataset; 0: as usual */
} as_grouping_request;

/* ASSAY_E_USAGE where keys name none or too many, one twice, or a tag that nothing has (the message has those there
 * are); ASSAY_E_... as usual where there are no intervals or memory is out. as_grouping_free() in every case. */
assay_status as_group(const as_grouping_request *request, as_grouping *out, assay_error *error);
void as_grouping_free(as_grouping *grouping);

#endif
