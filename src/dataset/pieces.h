/* Pieces of calls: lines, instructions, loops, code that was put in place and call sites. Where a source has exclusive
 * values only where they were measured, which is at lines (metrics of kind AS_KIND_EXCLUSIVE that are not is_stored),
 * those of a call are its own and its pieces', as sources that store both sides have it; those of a loop are its
 * lines', but not those of the loops in it. Trees without such contexts, like Cube's, keep what each context has. */
#ifndef AS_DATASET_PIECES_H
#define AS_DATASET_PIECES_H

#include "dataset/dataset.h"

/* What it has is in the exclusive value of the call above it as well. */
static inline bool as_is_piece(const as_dataset *ds, assay_id context) {
    const as_context *c = as_ds_context(ds, context);
    return (c->role == AS_ROLE_INNER || c->role == AS_ROLE_CALL_SITE) && !c->is_aside;
}

/* The kind of regions that are loops; AS_NO_STR: there are none. */
static inline as_str as_loop_kind(const as_dataset *ds) { return as_find(&ds->strings, "loop", 4); }

static inline bool as_is_loop(const as_dataset *ds, as_str loop_kind, assay_id context) {
    assay_id region = as_ds_context(ds, context)->region;
    return loop_kind != AS_NO_STR && region != ASSAY_NONE && as_ds_region(ds, region)->kind == loop_kind;
}

/* Whether a context is a node of its own to people, or one with whom it calls. */
typedef enum as_joining {
    AS_JOINS_NEVER,
    AS_JOINS_WHERE_IDLE, /* a line or instruction that calls: where it has no value of its own */
    AS_JOINS_ALWAYS      /* a call site with a callee, or a line that nobody knows */
} as_joining;
/* The as_joining of each context, to be freed; NULL when memory is out. */
uint8_t *as_find_joinings(const as_dataset *ds);

#endif
