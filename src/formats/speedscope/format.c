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

/* Without options: the time line where there is one. */
static void find_losses(const as_dataset *ds, as_losses *losses) {
    size_t n = AS_COUNT(ds, metrics);
    if (!as_ds_events(ds)) {
        size_t n_places = as_ds_leaves(ds);
        if (n_places > AS_SPEEDSCOPE_MOST_PLACES)
            as_lose(losses, "%zu locations: more than %d are added up without -O locations=each", n_places,
                    AS_SPEEDSCOPE_MOST_PLACES);
        as_stack_target_losses(ds, losses);
        return;
    }
    as_stack_target_run_losses(ds, losses);
    if (n)
        as_lose(losses, "the values of %zu metric%s beside the time line (-O metric=NAME writes them instead)", n,
                n == 1 ? "" : "s");
}

const struct assay_format as_format_speedscope = {
    .name = "speedscope",
    .title = "speedscope profiles",
    .extensions = ".speedscope.json",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
             AS_HOLDS_PROFILES | AS_HOLDS_ASIDES,
    .write_options = write_options,
    .bid = bid,
    .read = as_speedscope_read,
    .write = as_speedscope_write,
    .losses = find_losses,
};
