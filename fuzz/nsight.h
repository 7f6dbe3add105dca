/* What the fuzz targets of Nsight Systems exports share: the bytes of a database are read, stopping at the first broken
 * rule and going on; every event, attribute and location is gone through, and the tree is a profile like any other. */
#ifndef AS_FUZZ_NSIGHT_H
#define AS_FUZZ_NSIGHT_H

#include "profile.h"

static inline void check_events(const as_dataset *ds) {
    for (uint64_t i = 0; i < as_ds_intervals(ds); i++) {
        as_event event;
        uint64_t first, end;
        as_ds_event(ds, i, &event);
        if (event.run >= ds->runs.count || (event.location != ASSAY_NONE && event.location >= ds->locations.count))
            abort();
        if (event.context != ASSAY_NONE && event.context >= ds->contexts.count) abort();
        if (!*as_ds_text(ds, event.kind)) abort();
        as_event_attributes(ds, i, &first, &end);
        for (; first < end; first++) {
            as_attribute attribute;
            as_ds_any_attribute(ds, first, &attribute);
            if (attribute.owner != AS_OWNER_EVENT || attribute.owner_id != i) abort();
            if (attribute.value.type == AS_CELL_TEXT && !attribute.value.text) abort();
        }
    }
}

/* What check_profile() does, but one thing at a time: that takes longer than reading. Contexts that stand aside do not
 * so in what is written. */
static inline void check_export(const as_dataset *ds) {
    if (ds->contexts.count > AS_FUZZ_MOST_CONTEXTS) return;
    unsigned turn = ds->contexts.count % 16;
    if (turn == 0) check_algebra(ds, AS_MATCH_NAME);
    if (turn % 4 == 1) check_sums(ds);
    if (turn == 2) check_traces(ds);
    if (turn != 3) return;
    as_output *out = as_output_to_memory();
    assay_error error = {.message = ""};
    if (!out) abort();
    fine(as_write(ds, as_format_find("cube"), NULL, 1, out, &error), &error);
    as_output_discard(out);
}

static inline int fuzz_export(const char *bytes, size_t size) {
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "nsight", .memory_limit = AS_FUZZ_PROFILE_MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error = {.message = ""};
        if (!fine(as_read_memory("input", bytes, size, &config, &ds, &error), &error)) continue;
        if (ds->runs.count > 1 || (ds->runs.count == 0 && !keep_going)) abort();
        check_events(ds);
        if (!keep_going) check_export(ds);
        as_dataset_free(ds);
    }
    return 0;
}

#endif
