#include <stdlib.h>

#include "formats/slices.h"
#include "formats/speedscope/speedscope.h"
#include "formats/stack_target.h"
#include "io/json_keys.h"

static bool contains(const char *data, size_t size, const char *text) {
    return data && memmem(data, size, text, strlen(text)) != NULL;
}

/* The name of the schema, wherever it stands; files without it have both lists. */
static int bid(const as_probe *probe) {
    as_json_keys walk;
    if (probe->is_directory || as_json_keys_begin(&walk, probe->head, probe->head_size) != '{') return 0;
    if (contains(probe->head, probe->head_size, AS_SPEEDSCOPE_SCHEMA) ||
        contains(probe->tail, probe->tail_size, AS_SPEEDSCOPE_SCHEMA))
        return 8 * (int)strlen(AS_SPEEDSCOPE_SCHEMA);
    bool has_shared = false, has_profiles = false;
    while (as_json_keys_next(&walk)) {
        has_shared |= walk.size == 6 && memcmp(walk.key, "shared", 6) == 0 && walk.first == '{';
        has_profiles |= walk.size == 8 && memcmp(walk.key, "profiles", 8) == 0 && walk.first == '[';
    }
    return has_shared && has_profiles ? 8 * (6 + 8) : 0;
}

static const as_option write_options[] = {
    AS_STACK_METRIC_OPTION,
    AS_STACK_RUN_OPTION,
    {"profiles", AS_OPTION_CHOICE, "auto", "auto|evented|sampled",
     "evented: the time line; sampled: the values of a metric; auto: the time line where there is one and no metric is "
     "named"},
    {"locations", AS_OPTION_CHOICE, "auto", "auto|each|sum",
     "sampled: a profile for each location, or one of all; auto: each, up to 64, else one"},
    {0}};

/* The columns of frames are all that is kept of attributes. */
static bool is_column(const as_dataset *ds, const as_attribute *attribute) {
    return attribute->owner == AS_OWNER_REGION && attribute->value.type == AS_CELL_INT &&
           strcmp(as_ds_text(ds, attribute->key), "col") == 0;
}

static bool has_time_line(const as_dataset *ds, as_losses *losses) {
    as_slices slices;
    assay_error error;
    assay_id run = as_stacks_main_run(ds);
    bool has_one = false;
    if (as_slices_open(ds, false, UINT32_MAX, &slices, &error) == ASSAY_E_NOMEM) losses->failed = true;
    for (size_t i = 0; i < as_slice_track_count(&slices); i++) has_one |= as_slice_track_at(&slices, i)->run == run;
    as_slices_close(&slices);
    return has_one;
}

/* Metrics with values that a reader does not make of the time line again: all, or of what was read from speedscope
 * itself those of places without events. */
static size_t count_beside(const as_dataset *ds, as_losses *losses) {
    size_t n = 0;
    bool *has_events = calloc(AS_COUNT(ds, locations) + 1, sizeof *has_events);
    losses->failed |= !has_events;
    if (!has_events || strcmp(ds->format, "speedscope") != 0) return free(has_events), AS_COUNT(ds, metrics);
    for (uint64_t i = 0; i < as_ds_events(ds); i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        if (event.location != ASSAY_NONE) has_events[event.location] = true;
    }
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        as_slice slice;
        assay_error error;
        if (as_slice_open_all(ds, id, as_stacks_main_run(ds), &slice, &error) == ASSAY_E_NOMEM) losses->failed = true;
        bool is_beside = slice.view.n_rows && !slice.view.columns;
        for (uint32_t i = 0; !is_beside && slice.view.n_rows && i < slice.view.n_columns; i++)
            is_beside = slice.view.columns[i] == ASSAY_NONE || !has_events[slice.view.columns[i]];
        as_slice_close(&slice);
        n += is_beside;
    }
    free(has_events);
    return n;
}

/* Without options: the time line where there is one. */
static void find_losses(const as_dataset *ds, as_losses *losses) {
    size_t n_places = as_ds_leaves(ds), n_around = AS_COUNT(ds, locations) - n_places;
    as_lose_attributes(losses, ds, is_column);
    if (!has_time_line(ds, losses)) {
        if (n_places > AS_SPEEDSCOPE_MOST_PLACES)
            as_lose(losses, "%zu locations: more than %d are added up without -O locations=each", n_places,
                    AS_SPEEDSCOPE_MOST_PLACES);
        else if (n_around)
            as_lose(losses, "%zu location%s that others are part of", n_around, n_around == 1 ? "" : "s");
        as_stack_target_losses(ds, 1, losses);
        return;
    }
    as_lose_slices(ds, UINT32_MAX, losses);
    as_stack_target_run_losses(ds, losses);
    size_t n = count_beside(ds, losses);
    if (n)
        as_lose(losses, "the values of %zu metric%s beside the time line (-O metric=NAME writes them instead)", n,
                n == 1 ? "" : "s");
}

const struct assay_format as_format_speedscope = {
    .name = "speedscope",
    .title = "speedscope profiles",
    .extensions = ".speedscope.json",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
             AS_HOLDS_ATTRIBUTES | AS_HOLDS_FOREIGN | AS_HOLDS_PROFILES | AS_HOLDS_ASIDES,
    .write_options = write_options,
    .bid = bid,
    .read = as_speedscope_read,
    .write = as_speedscope_write,
    .losses = find_losses,
};
