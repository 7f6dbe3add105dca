/* Events as regions, sections and pauses. Their records may stand in any order: each event is written by itself, in the
 * order of the dataset. */
#include <math.h>
#include <stdlib.h>

#include "formats/afperf/write_foreign.h"

typedef struct eventing {
    as_af_foreign *f;
    const as_dataset *ds;
    uint64_t run_id, origin;
    as_map sections; /* hash of what it is -> index into ids */
    as_vec ids;      /* section */
    as_vec tags;     /* of char */
} eventing;

typedef struct section {
    uint64_t id, n_intervals;
} section;

/* ---- time -------------------------------------------------------------------------------------------------------- */

uint64_t as_af_origin(const as_dataset *ds, as_af_written_run run) {
    double earliest = 0;
    for (uint64_t i = 0; i < as_ds_intervals(ds); i++) {
        as_event event;
        as_ds_event(ds, i, &event);
        if (event.run == run.run && event.start < earliest) earliest = event.start;
    }
    return as_af_nanoseconds(-earliest);
}

static uint64_t stamp(const eventing *e, double seconds) {
    if (seconds >= 0) return e->origin + as_af_nanoseconds(seconds);
    uint64_t before = as_af_nanoseconds(-seconds);
    return before < e->origin ? e->origin - before : 0;
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

static bool add_tag(eventing *e, const as_attribute *attribute) {
    const char *key = as_ds_text(e->ds, attribute->key), *name = strncmp(key, "tag:", 4) == 0 ? key + 4 : key;
    return !as_af_is_tag(name, attribute->value) || as_af_add_tag(&e->tags, name, attribute->value);
}

/* Where there is no event source its attributes are among all others, by event: `listed` says where they begin. */
static bool collect_tags(eventing *e, uint64_t number, const as_event *event, const char *kind) {
    const as_af_foreign *f = e->f;
    uint64_t first, end;
    bool fine = true;
    e->tags.count = 0;
    as_event_attributes(e->ds, number, &first, &end);
    for (uint64_t i = first; fine && i < end; i++) {
        as_attribute attribute;
        as_ds_any_attribute(e->ds, i, &attribute);
        fine = add_tag(e, &attribute);
    }
    for (size_t i = f->first_of_event ? f->first_of_event[number] : 0;
         fine && f->first_of_event && i < f->first_of_event[number + 1]; i++)
        fine = add_tag(e, as_ds_attribute(e->ds, f->of_events[i]));
    bool is_usual = strcmp(kind, "region") == 0 || strcmp(kind, "section") == 0;
    if (fine && !is_usual && as_af_is_tag("kind", as_cell_text(kind)))
        fine = as_af_add_tag(&e->tags, "kind", as_cell_text(kind));
    const as_location *place = event->location == ASSAY_NONE ? NULL : as_ds_location(e->ds, event->location);
    const char *where = place ? as_ds_text(e->ds, place->name) : NULL;
    if (fine && where && as_af_is_tag("location", as_cell_text(where)))
        fine = as_af_add_tag(&e->tags, "location", as_cell_text(where));
    return fine;
}

static void put_label(eventing *e, as_str name) {
    as_output *out = e->f->out;
    as_output_char(out, ',');
    if (name != AS_NO_STR) as_af_put_text(out, as_ds_text(e->ds, name), as_str_size(&e->ds->strings, name));
    as_output_char(out, ',');
    as_af_put_text(out, e->tags.data ? e->tags.data : "", e->tags.count);
    as_output_char(out, '\n');
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Values of a context go to the first event that has it. */
static void take_place(eventing *e, assay_id context, as_af_place_of place) {
    if (context != ASSAY_NONE && !e->f->places[context].id) e->f->places[context] = place;
}

static void put_region(eventing *e, const as_event *event, uint64_t start, uint64_t end) {
    as_output *out = e->f->out;
    uint64_t id = e->f->next_id++;
    as_output_text(out, "RegionStart");
    as_af_put_number(out, start);
    as_af_put_hex(out, e->run_id);
    as_af_put_hex(out, id);
    put_label(e, event->name);
    as_output_text(out, "RegionStop");
    as_af_put_number(out, end);
    as_af_put_hex(out, id);
    as_output_char(out, '\n');
    take_place(e, event->context, (as_af_place_of){.id = id, .start = start, .end = end});
}

static void put_interval(eventing *e, const char *type, uint64_t at, const section *of) {
    as_output_text(e->f->out, type);
    as_af_put_number(e->f->out, at);
    as_af_put_hex(e->f->out, of->id);
    as_af_put_hex(e->f->out, of->n_intervals);
    as_output_char(e->f->out, '\n');
}

/* Intervals of one name with the same tags are one section. */
static bool put_section(eventing *e, const as_event *event, uint64_t start, uint64_t end) {
    as_output *out = e->f->out;
    uint64_t key = as_hash(e->tags.data, e->tags.count) ^ (uint64_t)event->name * 0x9e3779b97f4a7c15u;
    uint32_t index = as_map_get(&e->sections, key);
    if (index == AS_MAP_NONE) {
        section new = {.id = e->f->next_id++};
        index = (uint32_t)e->ids.count;
        if (!as_vec_append(&e->ids, &new, 1) || !as_map_put(&e->sections, key, index)) return false;
        as_output_text(out, "SectionInfo,");
        as_af_put_hex(out, e->run_id);
        as_af_put_hex(out, new.id);
        put_label(e, event->name);
        take_place(e, event->context, (as_af_place_of){.id = new.id, .start = start, .end = end, .is_section = true});
    }
    section *of = &AS_AT(section, &e->ids, index);
    put_interval(e, "SectionStart", start, of);
    put_interval(e, "SectionStop", end, of);
    of->n_intervals++;
    return true;
}

static bool put_event(eventing *e, uint64_t number, const as_event *event) {
    const char *kind = as_ds_text(e->ds, event->kind);
    uint64_t start = stamp(e, event->start), end = isnan(event->end) ? start : stamp(e, event->end);
    if (!kind) kind = "region";
    if (end < start) end = start;
    if (!collect_tags(e, number, event, kind)) return false;
    if (strcmp(kind, "region") == 0)
        put_region(e, event, start, end);
    else if (strcmp(kind, "pause") != 0)
        return put_section(e, event, start, end);
    else {
        as_output_text(e->f->out, "PauseResume");
        as_af_put_number(e->f->out, end);
        as_af_put_number(e->f->out, start);
        as_af_put_hex(e->f->out, e->run_id);
        as_output_char(e->f->out, '\n');
    }
    return true;
}

assay_status as_af_write_events(as_af_foreign *f, as_af_written_run run, uint64_t run_id, uint64_t origin) {
    eventing e = {.f = f, .ds = f->ds, .run_id = run_id, .origin = origin};
    as_map_init(&e.sections, f->budget);
    as_vec_init(&e.ids, sizeof(section), f->budget);
    as_vec_init(&e.tags, 1, f->budget);
    bool fine = true;
    memset(f->places, 0, f->ds->contexts.count * sizeof *f->places);
    for (uint64_t i = 0; fine && i < as_ds_intervals(f->ds); i++) {
        as_event event;
        as_ds_event(f->ds, i, &event);
        if (event.run == run.run) fine = put_event(&e, i, &event);
    }
    as_map_free(&e.sections);
    as_vec_free(&e.ids);
    as_vec_free(&e.tags);
    return fine ? ASSAY_OK : as_fail_memory(f->error, NULL);
}
