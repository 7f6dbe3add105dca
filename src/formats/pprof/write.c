/* Writing: a profile that was read from one is the same message again; of others each frame of the call tree that has
 * anything is a sample. */
#include <math.h>
#include <stdlib.h>

#include "dataset/main_metric.h"
#include "formats/costs.h"
#include "formats/pprof/pprof.h"
#include "formats/stack_target.h"
#include "io/gzip.h"

const as_option as_pprof_write_options[] = {
    {"locations", AS_OPTION_CHOICE, "sum", "sum|each",
     "Add up what the locations have, or write samples of each, with the label \"location\""},
    {0}};

/* A function with the line in it that is at work: a location of the profile. */
typedef struct place {
    uint32_t function;
    int64_t line;
} place;

typedef struct writing {
    as_costs costs;
    const as_dataset *ds;
    as_output *out; /* of the message */
    as_message message;
    as_arena arena;
    as_strings strings;
    as_map functions;   /* name, region -> index */
    as_vec function_of; /* assay_id: for each function a context of it */
    as_map places;      /* function, line -> index */
    as_vec list;        /* place */
    as_map modules;     /* text of the dataset -> index */
    as_vec module_list; /* as_str */
    as_vec ids;         /* uint64_t: the locations of a sample */
    uint64_t location;  /* string of the location at hand; 0: none */
    int64_t rank;       /* of it; -1: none */
    uint32_t *depths;   /* of each context: the frames of its stack */
    uint64_t n_frames;  /* of all samples so far */
    bool failed;
} writing;

static void put(writing *w, uint32_t field) {
    w->failed |= !as_message_output(&w->message, field, w->out);
    as_message_clear(&w->message);
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(writing *w, const char *text, size_t size) {
    as_str id = as_intern(&w->strings, text, size);
    w->failed |= id == AS_NO_STR;
    return id == AS_NO_STR ? 0 : id;
}

static uint64_t string_of(writing *w, const char *text) {
    return bytes_of(w, text ? text : "", text ? strlen(text) : 0);
}

static void put_type(writing *w, uint32_t field, const char *type, const char *unit) {
    as_message_number_if(&w->message, AS_PPROF_TYPE_TYPE, string_of(w, type));
    as_message_number_if(&w->message, AS_PPROF_TYPE_UNIT, string_of(w, unit));
    put(w, field);
}

/* ---- locations --------------------------------------------------------------------------------------------------- */

/* The number a map has for the key, or the next one. */
static uint32_t number_of(writing *w, as_map *map, uint64_t key) {
    uint32_t number = as_map_get(map, key);
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)map->count;
    w->failed |= !as_map_put(map, key, number);
    return number;
}

static uint64_t location_of(writing *w, assay_id function, int64_t line) {
    const as_context *context = as_ds_context(w->ds, function);
    uint32_t index = number_of(w, &w->functions, as_pair(context->name, context->region));
    if (index == w->function_of.count) w->failed |= !as_vec_append(&w->function_of, &function, 1);
    if (line < 0 || line >= UINT32_MAX) line = 0;
    place new = {index, line};
    uint32_t number = number_of(w, &w->places, as_pair(index, (uint32_t)line));
    if (number == w->list.count) w->failed |= !as_vec_append(&w->list, &new, 1);
    return (uint64_t)number + 1;
}

/* The stack of a frame, the innermost first: each caller at the line where it calls the next. */
static void find_stack(writing *w, assay_id frame) {
    as_cost_place at = as_cost_place_of(&w->costs, frame);
    w->ids.count = 0;
    for (;;) {
        uint64_t id = location_of(w, at.function, at.line);
        w->failed |= !as_vec_append(&w->ids, &id, 1);
        assay_id caller = w->costs.callers[at.function];
        if (caller == ASSAY_NONE || w->failed) return;
        int64_t call_line = as_ds_context(w->ds, at.function)->line;
        at = as_cost_place_of(&w->costs, caller);
        if (call_line > 0) at.line = call_line;
    }
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Where it was, for labels: the names from the outermost on. */
static void find_label(writing *w, assay_id location) {
    enum { MOST_LEVELS = 16 };
    assay_id levels[MOST_LEVELS];
    size_t n = 0;
    as_vec text;
    as_vec_init(&text, 1, NULL);
    for (assay_id at = location; at != ASSAY_NONE && n < MOST_LEVELS; at = as_ds_location(w->ds, at)->parent)
        levels[n++] = at;
    while (n--) {
        const char *name = as_ds_text(w->ds, as_ds_location(w->ds, levels[n])->name);
        w->failed |= !as_vec_text(&text, name ? name : "?") || (n && !as_vec_text(&text, ", "));
    }
    w->failed |= !as_vec_append(&text, "", 1);
    w->location = string_of(w, w->failed ? "" : text.data);
    w->rank = as_ds_location(w->ds, location)->rank;
    as_vec_free(&text);
}

static void put_label(writing *w, const char *key, uint32_t field, uint64_t value) {
    size_t begun = as_message_begin(&w->message, AS_PPROF_SAMPLE_LABEL);
    as_message_number(&w->message, AS_PPROF_LABEL_KEY, string_of(w, key));
    as_message_number(&w->message, field, value);
    as_message_end(&w->message, begun);
}

/* Callers come before those they call. */
static bool find_depths(writing *w) {
    size_t n = AS_COUNT(w->ds, contexts);
    w->depths = malloc((n + 1) * sizeof *w->depths);
    for (assay_id id = 0; w->depths && id < n; id++) {
        if (w->costs.frames[id] != id) continue;
        assay_id caller = w->costs.callers[as_cost_place_of(&w->costs, id).function];
        w->depths[id] = caller == ASSAY_NONE ? 1 : w->depths[caller] + 1;
    }
    return w->depths != NULL;
}

/* Before they are written: what is refused later has filled a disk by then. */
static assay_status count_frames(writing *w, assay_error *error) {
    for (assay_id id = 0; id < AS_COUNT(w->ds, contexts); id++) {
        if (w->costs.frames[id] == id && as_costs_any(&w->costs, id)) w->n_frames += w->depths[id];
    }
    return w->n_frames > AS_STACK_MOST_WRITTEN ? as_stack_fail_large(error) : ASSAY_OK;
}

static void put_samples(writing *w) {
    size_t n = w->costs.types.count;
    for (assay_id id = 0; id < AS_COUNT(w->ds, contexts) && !w->failed; id++) {
        if (w->costs.frames[id] != id || !as_costs_any(&w->costs, id)) continue;
        find_stack(w, id);
        as_message_packed(&w->message, AS_PPROF_SAMPLE_LOCATION, w->ids.data, w->ids.count);
        as_message_packed(&w->message, AS_PPROF_SAMPLE_VALUE, (const uint64_t *)as_costs_of(&w->costs, id), n);
        if (w->location) put_label(w, "location", AS_PPROF_LABEL_TEXT, w->location);
        if (w->location && w->rank >= 0) put_label(w, "rank", AS_PPROF_LABEL_NUMBER, (uint64_t)w->rank);
        put(w, AS_PPROF_SAMPLE);
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const as_region *region_of(const writing *w, uint32_t function) {
    assay_id region = as_ds_context(w->ds, AS_AT(assay_id, &w->function_of, function))->region;
    return region == ASSAY_NONE ? NULL : as_ds_region(w->ds, region);
}

/* Its id: 0 where there is none. */
static uint64_t mapping_of(writing *w, as_str module) {
    if (module == AS_NO_STR || !*as_ds_text(w->ds, module)) return 0;
    uint32_t index = number_of(w, &w->modules, module);
    if (index == w->module_list.count) w->failed |= !as_vec_append(&w->module_list, &module, 1);
    return (uint64_t)index + 1;
}

static void put_locations(writing *w) {
    for (size_t i = 0; i < w->list.count && !w->failed; i++) {
        place at = AS_AT(place, &w->list, i);
        const as_region *region = region_of(w, at.function);
        as_message_number(&w->message, AS_PPROF_LOCATION_ID, i + 1);
        as_message_number_if(&w->message, AS_PPROF_LOCATION_MAPPING,
                             mapping_of(w, region ? region->module : AS_NO_STR));
        size_t begun = as_message_begin(&w->message, AS_PPROF_LOCATION_LINE);
        as_message_number(&w->message, AS_PPROF_LINE_FUNCTION, (uint64_t)at.function + 1);
        as_message_number_if(&w->message, AS_PPROF_LINE_LINE, (uint64_t)at.line);
        as_message_end(&w->message, begun);
        put(w, AS_PPROF_LOCATION);
    }
}

/* A function without a second name keeps its name as it is: of one whose names are the same pprof makes a shorter one,
 * and nothing of "<module>". Names that nobody has made readable it shall. */
static const char *system_name(const char *name, const char *mangled) {
    bool is_mangled = strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
    return mangled ? mangled : is_mangled ? name : NULL;
}

static void put_functions(writing *w) {
    for (uint32_t i = 0; i < w->function_of.count && !w->failed; i++) {
        const as_region *region = region_of(w, i);
        size_t size;
        const char *name = as_frame_name(w->ds, AS_AT(assay_id, &w->function_of, i), &size);
        const char *mangled = region ? as_ds_text(w->ds, region->mangled) : NULL;
        const char *file = region ? as_ds_text(w->ds, region->file) : NULL;
        as_message_number(&w->message, AS_PPROF_FUNCTION_ID, (uint64_t)i + 1);
        as_message_number(&w->message, AS_PPROF_FUNCTION_NAME, bytes_of(w, name, size));
        as_message_number_if(&w->message, AS_PPROF_FUNCTION_SYSTEM_NAME, string_of(w, system_name(name, mangled)));
        as_message_number_if(&w->message, AS_PPROF_FUNCTION_FILE, string_of(w, file));
        if (region && region->line_begin > 0)
            as_message_number(&w->message, AS_PPROF_FUNCTION_LINE, (uint64_t)region->line_begin);
        put(w, AS_PPROF_FUNCTION);
    }
}

static void put_mappings(writing *w) {
    for (size_t i = 0; i < w->module_list.count && !w->failed; i++) {
        const char *module = as_ds_text(w->ds, AS_AT(as_str, &w->module_list, i));
        as_message_number(&w->message, AS_PPROF_MAPPING_ID, i + 1);
        as_message_number(&w->message, AS_PPROF_MAPPING_FILE, string_of(w, module));
        as_message_number(&w->message, AS_PPROF_MAPPING_HAS_FUNCTIONS, 1);
        put(w, AS_PPROF_MAPPING);
    }
}

/* ---- the profile ------------------------------------------------------------------------------------------------- */

static void put_number(writing *w, uint32_t field, uint64_t number) {
    as_message_number_if(&w->message, field, number);
    w->failed |= w->message.failed;
    as_output_write(w->out, w->message.bytes.data, w->message.bytes.count);
    as_message_clear(&w->message);
}

static const char *name_of(const writing *w, assay_id metric) {
    return as_ds_text(w->ds, as_ds_metric(w->ds, metric)->name);
}

static void put_rest(writing *w) {
    double start = as_ds_run(w->ds, w->costs.run)->start_time;
    if (start > 0 && start < 0x1p62 / 1e9) put_number(w, AS_PPROF_TIME, (uint64_t)nearbyint(start * 1e9));
    assay_id main = as_main_metric(w->ds, false);
    bool is_written = false;
    for (size_t i = 0; i < w->costs.types.count; i++)
        is_written |= AS_AT(as_cost_type, &w->costs.types, i).metric == main;
    if (is_written) put_number(w, AS_PPROF_DEFAULT_TYPE, string_of(w, name_of(w, main)));
    /* Strings stand behind all that names them */
    for (as_str i = 0; i < w->strings.entries.count && !w->failed; i++) {
        w->failed |= !as_vec_append(&w->message.bytes, as_str_text(&w->strings, i), as_str_size(&w->strings, i));
        put(w, AS_PPROF_STRING);
    }
}

static assay_status write_message(writing *w, bool by_location, assay_error *error) {
    if (!find_depths(w)) return as_fail_memory(error, NULL);
    if (!by_location || !w->costs.locations.count) AS_TRY(count_frames(w, error));
    string_of(w, ""); /* the first string is empty */
    for (size_t i = 0; i < w->costs.types.count; i++) {
        const as_cost_type *type = &AS_AT(as_cost_type, &w->costs.types, i);
        put_type(w, AS_PPROF_SAMPLE_TYPE, name_of(w, type->metric), type->unit);
    }
    if (!by_location || !w->costs.locations.count) put_samples(w);
    for (size_t i = 0; i < w->costs.locations.count && by_location; i++) {
        AS_TRY(as_costs_load(&w->costs, i, error));
        AS_TRY(count_frames(w, error));
        find_label(w, AS_AT(assay_id, &w->costs.locations, i));
        put_samples(w);
    }
    put_locations(w);
    put_functions(w);
    put_mappings(w);
    put_rest(w);
    return w->failed ? as_fail_memory(error, NULL) : ASSAY_OK;
}

static assay_status write_new(const as_dataset *ds, bool by_location, as_output *out, assay_error *error) {
    writing w = {.ds = ds, .out = out};
    as_budget *budget = as_ds_budget(ds);
    as_message_init(&w.message, budget);
    as_arena_init(&w.arena, budget);
    as_strings_init(&w.strings, &w.arena);
    as_map_init(&w.functions, budget);
    as_map_init(&w.places, budget);
    as_vec_init(&w.function_of, sizeof(assay_id), budget);
    as_vec_init(&w.list, sizeof(place), budget);
    as_map_init(&w.modules, budget);
    as_vec_init(&w.module_list, sizeof(as_str), budget);
    as_vec_init(&w.ids, sizeof(uint64_t), budget);
    assay_status status = as_costs_open(ds, by_location, &w.costs, error);
    if (status == ASSAY_OK) status = write_message(&w, by_location, error);
    as_costs_close(&w.costs);
    free(w.depths);
    as_message_free(&w.message);
    as_strings_free(&w.strings);
    as_arena_free(&w.arena);
    as_map_free(&w.functions);
    as_map_free(&w.places);
    as_map_free(&w.modules);
    as_vec *const vectors[] = {&w.function_of, &w.list, &w.module_list, &w.ids};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) as_vec_free(vectors[i]);
    return status;
}

static bool deflate(void *user, const void *data, size_t size) { return as_deflater_write(user, data, size); }

assay_status as_pprof_write(as_writer *writer) {
    const as_pprof *same = as_pprof_of(writer->dataset);
    bool by_location = strcmp(as_option_text(&writer->options, "locations"), "each") == 0;
    as_deflater *deflater = as_gzip_begin(writer->out, writer->threads);
    as_output *plain = deflater ? as_output_to_sink(deflate, deflater) : NULL;
    assay_status status = plain ? ASSAY_OK : as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK && same)
        as_output_write(plain, same->bytes.data, same->bytes.count);
    else if (status == ASSAY_OK)
        status = write_new(writer->dataset, by_location, plain, writer->error);
    bool fine = plain && as_output_flush(plain);
    as_output_discard(plain);
    if (deflater && status == ASSAY_OK && fine)
        fine = as_gzip_end(writer->out, deflater);
    else
        as_deflater_discard(deflater);
    if (status != ASSAY_OK) return status;
    return fine || !as_output_flush(writer->out) ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

void as_pprof_losses(const as_dataset *ds, as_losses *losses) {
    if (as_pprof_of(ds)) return;
    size_t n = as_ds_leaves(ds);
    if (n) as_lose(losses, "%zu location%s (values are added up without -O locations=each)", n, n == 1 ? "" : "s");
    as_lose_costs(ds, true, losses);
}
