/* The table of events: intervals as they are kept, each made an event when somebody asks. */
#include "core/search.h"
#include "formats/afperf/reading.h"

static const as_af_capture *capture_of(const as_event_source *source) {
    return (const as_af_capture *)((const char *)source - offsetof(as_af_capture, events));
}

static const as_af_run *run_of(const as_af_capture *capture, const as_af_interval *interval) {
    const as_af_run *run = interval->run == AS_AF_NONE ? NULL : AS_AF_RUN(capture, interval->run);
    return run && run->is_defined ? run : NULL;
}

static void make_event(const as_event_source *source, uint64_t event, as_event *out) {
    const as_af_capture *capture = capture_of(source);
    const as_af_interval *interval = AS_AF_INTERVAL(capture, event);
    const as_af_run *run = run_of(capture, interval);
    enum as_af_kind kind = as_af_kind_of(interval);
    *out =
        (as_event){.source_id = AS_NO_STR,
                   .name = kind == AS_AF_PAUSE ? capture->kinds[AS_AF_PAUSE] : interval->what,
                   .kind = capture->kinds[kind],
                   .is_numbered = !(interval->offset & AS_AF_HAS_NO_ID),
                   .source_number = interval->id,
                   .run = run ? run->final : ASSAY_NONE,
                   .location = ASSAY_NONE,
                   .context = interval->cell == AS_AF_NONE ? ASSAY_NONE
                                                           : AS_AT(as_af_cell, &capture->cells, interval->cell).context,
                   .start = run ? as_af_since_start(run, interval->start) : NAN,
                   .end = run ? as_af_since_start(run, interval->end) : NAN,
                   .start_raw = as_cell_uint(interval->start),
                   .end_raw = as_cell_uint(interval->end)};
    if (kind != AS_AF_SECTION) return;
    const as_af_section *section = AS_AF_SECTION_AT(capture, interval->what);
    out->name = section->label;
    out->is_numbered = section->has_id;
    out->source_number = section->id;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const as_af_tag_set *tags_of(const as_af_capture *capture, const as_af_interval *interval) {
    return interval->tags == AS_AF_NONE ? NULL : &AS_AT(as_af_tag_set, &capture->tag_sets, interval->tags);
}

static uint32_t n_attributes(const as_af_capture *capture, const as_af_interval *interval) {
    const as_af_tag_set *set = tags_of(capture, interval);
    return (set ? set->n : 0) + (interval->offset & AS_AF_IS_CUT ? 1 : 0);
}

static uint64_t first_attribute(const as_event_source *source, uint64_t event) {
    const as_af_capture *capture = capture_of(source);
    uint64_t block = event / AS_AF_STEP_SIZE, n = capture->tags_before[block];
    for (uint64_t i = block * AS_AF_STEP_SIZE; i < event; i++) n += n_attributes(capture, AS_AF_INTERVAL(capture, i));
    return n;
}

static void make_attribute(const as_event_source *source, uint64_t attribute, as_attribute *out) {
    const as_af_capture *capture = capture_of(source);
    size_t block = as_last_not_above(capture->tags_before, source->n_events / AS_AF_STEP_SIZE + 1, attribute);
    uint64_t event = block * AS_AF_STEP_SIZE, left = attribute - capture->tags_before[block];
    uint32_t n;
    while (left >= (n = n_attributes(capture, AS_AF_INTERVAL(capture, event)))) {
        left -= n;
        event++;
    }
    const as_af_tag_set *set = tags_of(capture, AS_AF_INTERVAL(capture, event));
    *out = (as_attribute){.owner = AS_OWNER_EVENT, .owner_id = (assay_id)event};
    if (set && left < set->n) {
        as_af_tag tag = AS_AT(as_af_tag, &capture->tags, set->first + left);
        out->key = tag.key;
        out->value = as_cell_text_n(as_ds_text(capture->ds, tag.value), as_str_size(&capture->ds->strings, tag.value));
        return;
    }
    out->key = capture->unfinished;
    out->value = as_cell_int(1);
}

static bool each_measured(const as_event_source *source, uint64_t record, as_recorded_taker take, void *user) {
    return as_af_recorded(capture_of(source), record, take, user);
}

bool as_af_add_events(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    size_t n = capture->intervals.count;
    capture->tags_before = as_arena_array(&reading->ds->arena, n / AS_AF_STEP_SIZE + 2, sizeof(uint64_t));
    if (!capture->tags_before) return false;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % AS_AF_STEP_SIZE == 0) capture->tags_before[i / AS_AF_STEP_SIZE] = total;
        total += n_attributes(capture, AS_AF_INTERVAL(capture, i));
    }
    if (n % AS_AF_STEP_SIZE == 0) capture->tags_before[n / AS_AF_STEP_SIZE] = total;
    capture->events = (as_event_source){.n_events = n,
                                        .n_attributes = total,
                                        .event = make_event,
                                        .attribute = make_attribute,
                                        .first_attribute = first_attribute,
                                        .n_measured = capture->data.count,
                                        .measured = each_measured};
    reading->ds->event_source = &capture->events;
    return true;
}
