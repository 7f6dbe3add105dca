/* The values that events and runs have of some tags, for who asks millions of events. Texts are numbered; what a source
 * stores once for many events is looked up once. */
#ifndef AS_ANALYSIS_TAGS_H
#define AS_ANALYSIS_TAGS_H

#include "dataset/dataset.h"

/* An attribute of this beginning is a tag. */
#define AS_TAG_PREFIX "tag:"

typedef struct as_tags {
    const as_dataset *ds;
    uint32_t n_keys;
    as_str *keys; /* the attribute of each tag, as a text of the dataset; AS_NO_STR: nothing is called so */
    bool *found;  /* whether something had it so far */
    as_arena arena;
    as_strings values;  /* texts of values */
    as_str *of_runs;    /* runs x keys */
    as_str *of_events;  /* events x keys, where the dataset has no event source; else NULL */
    uint64_t n_counted; /* bytes of both, counted in the dataset's budget */
    struct as_tag_memo *memo;
} as_tags;

/* names: of n tags, "platform"; where nothing is called tag:platform, the attribute platform is meant. False when
 * memory is out. as_tags_free() in every case. */
bool as_tags_open(const as_dataset *ds, const as_text_span *names, uint32_t n, as_tags *out);
void as_tags_free(as_tags *tags);
/* What the event itself has, AS_NO_STR: nothing; n_keys texts of tags->values. False when memory is out. */
bool as_tags_of_event(as_tags *tags, uint64_t event, as_str *values);
static inline const as_str *as_tags_of_run(const as_tags *tags, assay_id run) {
    return tags->of_runs + (size_t)run * tags->n_keys;
}

#endif
