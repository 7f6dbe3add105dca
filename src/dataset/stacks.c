#include "dataset/stacks.h"

#include <stdlib.h>

#include "dataset/main_metric.h"
#include "dataset/pieces.h"

assay_id as_stacks_main_run(const as_dataset *ds) {
    assay_id point = ASSAY_NONE;
    if (ds->n_points && !as_largest_point_with_runs(ds, &point)) return ASSAY_NONE;
    for (assay_id run = 0; run < AS_COUNT(ds, runs); run++) {
        if (point == ASSAY_NONE || as_ds_run(ds, run)->point == point) return run;
    }
    return AS_COUNT(ds, runs) ? 0 : ASSAY_NONE;
}

size_t as_stacks_sections(const as_dataset *ds) {
    size_t n = 0;
    if (!as_ds_has_wholes(ds)) return 0;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id += as_ds_context(ds, id)->subtree)
        n += as_context_is_section(ds, id);
    return n;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Whether it, with all below it, is in no stack. */
static bool is_left_out(const as_dataset *ds, assay_id id, bool has_wholes) {
    const as_context *context = as_ds_context(ds, id);
    return context->is_aside || context->role == AS_ROLE_PLACELESS ||
           (context->parent == ASSAY_NONE && has_wholes && as_context_is_section(ds, id));
}

static void find_frames(as_stacks *s, const uint8_t *joinings) {
    const as_dataset *ds = s->own.ds;
    bool has_wholes = as_ds_has_wholes(ds);
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        assay_id parent = as_ds_context(ds, id)->parent;
        bool is_below = parent != ASSAY_NONE, is_below_root = is_below && as_context_is_root(ds, parent);
        assay_id below = is_below && !is_below_root ? s->frames[parent] : ASSAY_NONE;
        bool is_out = is_left_out(ds, id, has_wholes) || (is_below && s->frames[parent] == ASSAY_NONE);
        bool is_joined =
            joinings[id] == AS_JOINS_ALWAYS || (joinings[id] == AS_JOINS_WHERE_IDLE && as_own_is_zero(&s->own, id));
        /* Where nothing is around it, whatever it is, it is a frame */
        s->frames[id] = is_out ? ASSAY_NONE : is_joined && below != ASSAY_NONE ? below : id;
        s->callers[id] = below;
    }
}

/* Amounts of what is no frame go to the frame that has them. */
static void gather_amounts(as_stacks *s) {
    as_own_values *own = &s->own;
    for (assay_id id = 0; id < AS_COUNT(own->ds, contexts); id++) {
        assay_id frame = s->frames[id];
        if (frame == id || !own->has[id]) continue;
        own->has[id] = false;
        if (frame == ASSAY_NONE) continue;
        own->has[frame] = true;
        if (own->is_whole)
            own->whole[frame] += own->whole[id];
        else
            own->real[frame] += own->real[id];
    }
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

assay_status as_stacks_open(const as_dataset *ds, assay_id metric, assay_id run, bool only_sums, as_stacks *out,
                            assay_error *error) {
    size_t n = AS_COUNT(ds, contexts) + 1;
    *out = (as_stacks){0};
    AS_TRY(as_own_values_check(ds, metric, error));
    AS_TRY(as_own_values_open(ds, metric, run, only_sums, &out->own, error));
    AS_TRY(as_own_values_load(&out->own, AS_ALL_LOCATIONS, error));
    uint8_t *joinings = as_find_joinings(ds);
    out->frames = malloc(n * sizeof *out->frames);
    out->callers = malloc(n * sizeof *out->callers);
    bool fine = joinings && out->frames && out->callers;
    if (fine) {
        find_frames(out, joinings);
        gather_amounts(out);
    }
    free(joinings);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_stacks_load(as_stacks *stacks, uint32_t location, assay_error *error) {
    AS_TRY(as_own_values_load(&stacks->own, location, error));
    gather_amounts(stacks);
    return ASSAY_OK;
}

void as_stacks_close(as_stacks *stacks) {
    as_own_values_close(&stacks->own);
    free(stacks->frames);
    free(stacks->callers);
}
