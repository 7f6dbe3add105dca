/* Writing: what was measured as sampled profiles, a sample for each call path with an amount, or the time line as
 * evented ones. */
#include <stdlib.h>
#include <strings.h>

#include "core/words.h"
#include "formats/slices.h"
#include "formats/speedscope/speedscope.h"
#include "formats/stack_target.h"

typedef struct scope {
    as_writer *writer;
    const as_dataset *ds;
    as_output *out;
    assay_id run;
    as_map numbers;   /* as_pair(region, name) -> number of the frame */
    as_vec frames;    /* uint64_t: these pairs */
    int64_t *columns; /* by region: where in its line it begins; -1: unknown */
    as_vec path;      /* uint32_t */
    as_vec text;      /* char */
    uint64_t n_frames_written;
    size_t n_profiles;
    bool fine; /* memory was never out */
} scope;

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* The number of a frame, made if new. */
static uint32_t frame_of(scope *s, assay_id context, as_str name) {
    assay_id region = context == ASSAY_NONE ? ASSAY_NONE : as_ds_context(s->ds, context)->region;
    if (name == AS_NO_STR && context != ASSAY_NONE) name = as_ds_context(s->ds, context)->name;
    uint64_t key = as_pair(region, name);
    uint32_t known = as_map_get(&s->numbers, key);
    if (known != AS_MAP_NONE) return known;
    known = (uint32_t)s->frames.count;
    s->fine &= as_vec_append(&s->frames, &key, 1) && as_map_put(&s->numbers, key, known);
    return known;
}

static void put_text(scope *s, const char *key, as_str text) {
    as_output_text(s->out, key);
    if (text == AS_NO_STR)
        as_output_text(s->out, "\"<unknown>\"");
    else
        as_json_write_string(s->out, as_ds_text(s->ds, text), as_str_size(&s->ds->strings, text));
}

/* The first `size` characters of a text, which is nowhere where it is empty. */
static void put_string(scope *s, const as_vec *text, size_t size) {
    as_json_write_string(s->out, size ? text->data : "", size);
}

static void put_shared(scope *s) {
    as_output_text(s->out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < s->frames.count; i++) {
        uint64_t key = AS_AT(uint64_t, &s->frames, i);
        assay_id id = (assay_id)(key >> 32);
        const as_region *region = id == ASSAY_NONE ? NULL : as_ds_region(s->ds, id);
        as_output_text(s->out, i ? ",\n" : "\n");
        put_text(s, "{\"name\":", (as_str)key);
        if (region && region->file != AS_NO_STR) put_text(s, ",\"file\":", region->file);
        if (region && region->line_begin >= 0) {
            as_output_text(s->out, ",\"line\":");
            as_output_int(s->out, region->line_begin);
        }
        if (region && s->columns[id] >= 0) {
            as_output_text(s->out, ",\"col\":");
            as_output_int(s->out, s->columns[id]);
        }
        as_output_char(s->out, '}');
    }
    as_output_text(s->out, "\n]}");
}

static bool find_columns(scope *s) {
    size_t n = AS_COUNT(s->ds, regions);
    as_str key = as_find(&s->ds->strings, "col", 3);
    s->columns = malloc((n + 1) * sizeof *s->columns);
    if (!s->columns) return false;
    for (size_t i = 0; i < n; i++) s->columns[i] = -1;
    for (size_t i = 0; key != AS_NO_STR && i < AS_COUNT(s->ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(s->ds, i);
        if (attribute->owner == AS_OWNER_REGION && attribute->key == key && attribute->value.type == AS_CELL_INT)
            s->columns[attribute->owner_id] = attribute->value.i;
    }
    return true;
}

/* ---- sampled profiles -------------------------------------------------------------------------------------------- */

static const as_speedscope_unit *unit_of(const as_dataset *ds, assay_id metric) {
    const char *unit = as_ds_text(ds, as_ds_metric(ds, metric)->unit);
    const as_speedscope_unit *none = as_speedscope_units, *at = none;
    if (!unit) return none;
    if (strcasecmp(unit, "byte") == 0) unit = "B";
    double seconds = as_unit_seconds(unit);
    for (; at->word; at++) {
        bool is_same = at->per_second > 0
                           ? seconds > 0 && as_unit_seconds(at->unit) == seconds
                           : strcasecmp(unit, at->word) == 0 || (at->unit && strcmp(unit, at->unit) == 0);
        if (is_same) return at;
    }
    return none;
}

/* The names of a location and of those around it, up to its process: "process 0, thread 1". */
static bool find_place_name(scope *s, assay_id location) {
    enum { LEVELS = 8 };
    assay_id levels[LEVELS];
    size_t n = 0;
    for (assay_id id = location; id != ASSAY_NONE && n < LEVELS; id = as_ds_location(s->ds, id)->parent) {
        const char *kind = as_ds_text(s->ds, as_ds_location(s->ds, id)->kind);
        levels[n++] = id;
        if (kind && strcmp(kind, "process") == 0) break;
    }
    s->text.count = 0;
    while (n > 0) {
        const char *name = as_ds_text(s->ds, as_ds_location(s->ds, levels[--n])->name);
        if (!name) continue;
        if ((s->text.count && !as_vec_text(&s->text, ", ")) || !as_vec_text(&s->text, name)) return false;
    }
    return true;
}

/* "type", "name", "unit", and what assay says besides: the metric and its own unit, and the location. */
static void put_head(scope *s, assay_id metric, assay_id location, bool names_metric) {
    const as_metric *about = as_ds_metric(s->ds, metric);
    const char *name = as_ds_text(s->ds, about->name);
    s->fine &= location == ASSAY_NONE || find_place_name(s, location);
    size_t place_size = location == ASSAY_NONE ? 0 : s->text.count;
    as_output_text(s->out, s->n_profiles++ ? ",\n" : "\n");
    as_output_text(s->out, "{\"type\":\"sampled\",\"name\":");
    if (names_metric || location == ASSAY_NONE) {
        as_vec title;
        as_vec_init(&title, 1, NULL);
        s->fine &= as_vec_text(&title, name ? name : "") &&
                   (!place_size || (as_vec_text(&title, ", ") && as_vec_append(&title, s->text.data, place_size)));
        put_string(s, &title, title.count);
        as_vec_free(&title);
    } else
        put_string(s, &s->text, place_size);
    as_output_printf(s->out, ",\"unit\":\"%s\"", unit_of(s->ds, metric)->word);
    put_text(s, ",\"assay\":{\"metric\":", about->name);
    if (about->unit != AS_NO_STR) put_text(s, ",\"unit\":", about->unit);
    if (location != ASSAY_NONE) {
        as_output_text(s->out, ",\"location\":");
        put_string(s, &s->text, place_size);
    }
    as_output_char(s->out, '}');
}

static bool has_amount(const as_stacks *stacks, assay_id id) {
    return stacks->own.has[id] && !as_own_is_zero(&stacks->own, id) &&
           (stacks->own.is_whole || isfinite(stacks->own.real[id]));
}

static void put_stack(scope *s, const as_stacks *stacks, assay_id context) {
    s->path.count = 0;
    for (assay_id id = context; id != ASSAY_NONE; id = stacks->callers[id]) {
        uint32_t frame = frame_of(s, id, AS_NO_STR);
        s->fine &= as_vec_append(&s->path, &frame, 1);
    }
    as_output_char(s->out, '[');
    for (size_t i = s->path.count; i-- > 0;) {
        as_output_int(s->out, AS_AT(uint32_t, &s->path, i));
        if (i) as_output_char(s->out, ',');
    }
    as_output_char(s->out, ']');
    s->n_frames_written += s->path.count;
}

/* The sum of all weights. */
static void put_total(scope *s, const as_stacks *stacks) {
    as_whole whole = 0;
    double real = 0;
    char digits[AS_WHOLE_SIZE];
    for (assay_id id = 0; id < AS_COUNT(s->ds, contexts); id++) {
        if (!has_amount(stacks, id)) continue;
        if (stacks->own.is_whole)
            whole += stacks->own.whole[id];
        else
            real += stacks->own.real[id];
    }
    as_output_text(s->out, ",\"startValue\":0,\"endValue\":");
    if (stacks->own.is_whole)
        as_output_write(s->out, digits, as_whole_format(whole, digits));
    else
        as_output_real(s->out, isfinite(real) ? real : 0);
}

static void put_samples(scope *s, const as_stacks *stacks) {
    size_t n = AS_COUNT(s->ds, contexts);
    bool is_first = true;
    put_total(s, stacks);
    as_output_text(s->out, ",\"samples\":[");
    for (assay_id id = 0; id < n && s->n_frames_written < AS_STACK_MOST_WRITTEN; id++) {
        if (!has_amount(stacks, id)) continue;
        if (!is_first) as_output_char(s->out, ',');
        put_stack(s, stacks, id);
        is_first = false;
    }
    as_output_text(s->out, "],\"weights\":[");
    is_first = true;
    for (assay_id id = 0; id < n; id++) {
        if (!has_amount(stacks, id)) continue;
        if (!is_first) as_output_char(s->out, ',');
        as_output_number(s->out, as_own_number(&stacks->own, id));
        is_first = false;
    }
    as_output_text(s->out, "]}");
}

/* Frames have their numbers before the first profile: those of contexts in the order of the tree. */
static void number_frames(scope *s, const as_stacks *stacks) {
    for (assay_id id = 0; id < AS_COUNT(s->ds, contexts); id++) {
        if (stacks->frames[id] == id) frame_of(s, id, AS_NO_STR);
    }
}

static bool is_each(const scope *s, const as_own_values *own) {
    const char *way = as_option_text(&s->writer->options, "locations");
    uint32_t n = as_own_values_locations(own);
    return n && (strcmp(way, "each") == 0 || (strcmp(way, "auto") == 0 && n <= AS_SPEEDSCOPE_MOST_PLACES));
}

static assay_status put_profiles(scope *s, as_stacks *stacks, bool names_metric) {
    assay_id metric = stacks->own.metric;
    if (!is_each(s, &stacks->own)) {
        put_head(s, metric, ASSAY_NONE, names_metric);
        put_samples(s, stacks);
        return ASSAY_OK;
    }
    for (uint32_t i = 0; i < as_own_values_locations(&stacks->own); i++) {
        AS_TRY(as_stacks_load(stacks, i, s->writer->error));
        put_head(s, metric, as_own_values_location(&stacks->own, i), names_metric);
        put_samples(s, stacks);
    }
    return ASSAY_OK;
}

static assay_status write_metric(scope *s, assay_id metric, bool is_only, bool is_first) {
    as_stacks stacks;
    bool only_sums = strcmp(as_option_text(&s->writer->options, "locations"), "sum") == 0;
    assay_status status = as_stacks_open(s->ds, metric, s->run, only_sums, &stacks, s->writer->error);
    if (status == ASSAY_OK && is_first && is_only) {
        number_frames(s, &stacks);
        put_shared(s);
        as_output_text(s->out, ",\n");
    }
    if (status == ASSAY_OK && is_first) as_output_text(s->out, "\"profiles\":[");
    if (status == ASSAY_OK) status = put_profiles(s, &stacks, !is_only);
    as_stacks_close(&stacks);
    return status == ASSAY_OK && s->n_frames_written >= AS_STACK_MOST_WRITTEN ? as_stack_fail_large(s->writer->error)
                                                                              : status;
}

/* ---- evented profiles -------------------------------------------------------------------------------------------- */

typedef struct line {
    scope *s;
    bool is_first;
    uint64_t start, end;
} line;

static bool put_event(line *l, char type, const as_time_slice *slice, uint64_t at) {
    as_output *out = l->s->out;
    if (l->is_first) l->start = at;
    if (at > l->end) l->end = at;
    as_output_printf(out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%llu}", l->is_first ? "" : ",", type,
                     frame_of(l->s, slice->context, slice->name), (unsigned long long)at);
    l->is_first = false;
    return l->s->fine;
}

static bool begin_slice(void *user, const as_slice_track *track, const as_time_slice *slice) {
    (void)track;
    return put_event(user, 'O', slice, slice->start) &&
           (!slice->is_moment || put_event(user, 'C', slice, slice->start));
}

static bool end_slice(void *user, const as_slice_track *track, const as_time_slice *slice) {
    (void)track;
    return put_event(user, 'C', slice, slice->end);
}

static assay_status write_track(scope *s, const as_slices *slices, size_t index) {
    const as_slice_track *track = as_slice_track_at(slices, index);
    line l = {.s = s, .is_first = true};
    as_slice_visitor visitor = {begin_slice, end_slice, &l};
    as_vec name;
    as_vec_init(&name, 1, NULL);
    s->fine &= as_slice_process_name(slices, track->process, &s->text) && as_slice_track_name(slices, track, &name);
    as_output_text(s->out, s->n_profiles++ ? ",\n" : "\n");
    as_output_text(s->out, "{\"type\":\"evented\",\"name\":");
    if (s->fine && strcmp(s->text.data, name.data) != 0) {
        s->text.count = strlen(s->text.data);
        s->fine &= as_vec_text(&s->text, ", ") && as_vec_append(&s->text, name.data, strlen(name.data) + 1);
    }
    as_json_write_string(s->out, s->fine ? s->text.data : "", s->fine ? strlen(s->text.data) : 0);
    as_output_text(s->out, ",\"unit\":\"nanoseconds\",\"events\":[");
    assay_status status = as_slices_walk(slices, index, &visitor, s->writer->error);
    as_output_printf(s->out, "],\"startValue\":%llu,\"endValue\":%llu}", (unsigned long long)l.start,
                     (unsigned long long)l.end);
    as_vec_free(&name);
    return status;
}

/* Frames come behind the profiles, since only these say which there are. */
static assay_status write_events(scope *s, const as_slices *slices) {
    as_output_text(s->out, "\"profiles\":[");
    for (size_t i = 0; i < as_slice_track_count(slices) && s->fine; i++) {
        if (as_slice_track_at(slices, i)->run == s->run) AS_TRY(write_track(s, slices, i));
    }
    return ASSAY_OK;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void put_beginning(scope *s) {
    const char *name = as_source_name(s->ds);
    as_output_text(s->out, "{\"$schema\":\"" AS_SPEEDSCOPE_SCHEMA "\",\"exporter\":\"assay\",\"name\":");
    as_json_write_string(s->out, name, strlen(name));
    as_output_text(s->out, ",\"activeProfileIndex\":0,\n");
}

static assay_status write_samples(scope *s) {
    as_vec metrics; /* assay_id */
    as_vec_init(&metrics, sizeof(assay_id), NULL);
    assay_status status = as_stack_target_metrics(s->writer, &metrics);
    if (status == ASSAY_OK) put_beginning(s);
    for (size_t i = 0; status == ASSAY_OK && i < metrics.count; i++)
        status = write_metric(s, AS_AT(assay_id, &metrics, i), metrics.count == 1, i == 0);
    as_output_text(s->out, "\n]");
    if (status == ASSAY_OK && metrics.count > 1) {
        as_output_text(s->out, ",\n");
        put_shared(s);
    }
    as_vec_free(&metrics);
    return status;
}

/* Whether the time line is to be written. */
static assay_status choose_events(scope *s, as_slices *slices, bool *out) {
    const char *way = as_option_text(&s->writer->options, "profiles");
    bool is_asked = strcmp(way, "evented") == 0;
    *out = false;
    if (strcmp(way, "sampled") == 0 || (!is_asked && *as_option_text(&s->writer->options, "metric"))) return ASSAY_OK;
    AS_TRY(as_slices_open(s->ds, true, UINT32_MAX, slices, s->writer->error));
    for (size_t i = 0; i < as_slice_track_count(slices); i++) *out |= as_slice_track_at(slices, i)->run == s->run;
    if (is_asked && !*out)
        return as_fail(s->writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-events",
                       "there is no time line to write; -O profiles=sampled writes the values of a metric");
    return ASSAY_OK;
}

assay_status as_speedscope_write(as_writer *writer) {
    scope s = {.writer = writer, .ds = writer->dataset, .out = writer->out, .fine = true};
    as_slices slices = {0};
    bool has_events = false;
    as_map_init(&s.numbers, as_ds_budget(s.ds));
    as_vec_init(&s.frames, sizeof(uint64_t), as_ds_budget(s.ds));
    as_vec_init(&s.path, sizeof(uint32_t), NULL);
    as_vec_init(&s.text, 1, NULL);
    assay_status status = find_columns(&s) ? as_stack_target_run(writer, &s.run) : as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK) status = choose_events(&s, &slices, &has_events);
    if (status == ASSAY_OK && has_events) {
        put_beginning(&s);
        status = write_events(&s, &slices);
        as_output_text(s.out, "\n],\n");
        put_shared(&s);
    } else if (status == ASSAY_OK)
        status = write_samples(&s);
    as_output_text(s.out, "}\n");
    if (status == ASSAY_OK && !s.fine) status = as_fail_memory(writer->error, NULL);
    as_slices_close(&slices);
    as_map_free(&s.numbers);
    as_vec_free(&s.frames);
    as_vec_free(&s.path);
    as_vec_free(&s.text);
    free(s.columns);
    return status;
}
