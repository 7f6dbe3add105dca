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

bool as_event_values_open(as_event_values *values, const as_dataset *ds, const char *const *keys, size_t n) {
    *values = (as_event_values){.ds = ds, .n_keys = n};
    as_map_init(&values->attributes, as_ds_budget(ds));
    for (size_t k = 0; k < n; k++) values->keys[k] = as_find(&ds->strings, keys[k], strlen(keys[k]));
    if (ds->event_source) return true;
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner != AS_OWNER_EVENT) continue;
        size_t k = 0;
        while (k < n && values->keys[k] != attribute->key) k++;
        uint64_t which = as_pair(attribute->owner_id, (uint32_t)k);
        if (k == n || as_map_get(&values->attributes, which) != AS_MAP_NONE) continue;
        if (!as_map_put(&values->attributes, which, (uint32_t)i)) return false;
    }
    return true;
}

void as_event_values_close(as_event_values *values) { as_map_free(&values->attributes); }

bool as_event_value(const as_event_values *values, uint64_t event, size_t key, as_cell *out) {
    const as_dataset *ds = values->ds;
    const as_event_source *source = ds->event_source;
    as_str wanted = values->keys[key];
    if (wanted == AS_NO_STR) return false;
    if (!source) {
        uint32_t at = as_map_get(&values->attributes, as_pair((uint32_t)event, (uint32_t)key));
        if (at != AS_MAP_NONE) *out = as_ds_attribute(ds, at)->value;
        return at != AS_MAP_NONE;
    }
    if (source->value) return source->value(source, event, wanted, out);
    uint64_t end = source->first_attribute(source, event + 1);
    for (uint64_t i = source->first_attribute(source, event); i < end; i++) {
        as_attribute attribute;
        source->attribute(source, i, &attribute);
        if (attribute.key != wanted) continue;
        *out = attribute.value;
        return true;
    }
    return false;
}
