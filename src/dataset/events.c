#include "dataset/events.h"

#include "dataset/dataset.h"

uint64_t as_ds_intervals(const as_dataset *ds) {
    return ds->event_source ? ds->event_source->n_events : ds->events.count;
}

void as_ds_event(const as_dataset *ds, uint64_t event, as_event *out) {
    if (ds->event_source)
        ds->event_source->event(ds->event_source, event, out);
    else
        *out = AS_AT(as_event, &ds->events, event);
}

const char *as_event_source_id(const as_dataset *ds, const as_event *event, char digits[AS_NUMBER_SIZE]) {
    if (!event->is_numbered) return as_ds_text(ds, event->source_id);
    as_hex_format(event->source_number, digits);
    return digits;
}

uint64_t as_ds_attribute_count(const as_dataset *ds) {
    return ds->attributes.count + (ds->event_source ? ds->event_source->n_attributes : 0);
}

void as_ds_any_attribute(const as_dataset *ds, uint64_t index, as_attribute *out) {
    if (index < ds->attributes.count)
        *out = AS_AT(as_attribute, &ds->attributes, index);
    else
        ds->event_source->attribute(ds->event_source, index - ds->attributes.count, out);
}

void as_event_attributes(const as_dataset *ds, uint64_t event, uint64_t *first, uint64_t *end) {
    const as_event_source *source = ds->event_source;
    *first = *end = 0;
    if (!source) return;
    *first = ds->attributes.count + source->first_attribute(source, event);
    *end = ds->attributes.count + source->first_attribute(source, event + 1);
}
