#include "analysis/tags.h"

#include <stdlib.h>

/* Texts of tags that were looked up lately, by where they lie: a source has one text for all events of a tag set. */
struct as_tag_memo {
    const char *text;
    uint32_t size;
    as_str value;
};
enum { MEMO_BITS = 12, MEMO = 1 << MEMO_BITS };

static as_str attribute_of(const as_dataset *ds, as_text_span name, as_vec *text) {
    text->count = 0;
    if (!as_vec_text(text, AS_TAG_PREFIX) || !as_vec_append(text, name.text, name.size)) return AS_NO_STR;
    as_str tag = as_find(&ds->strings, text->data, text->count);
    return tag != AS_NO_STR ? tag : as_find(&ds->strings, name.text, name.size);
}

/* The number of a value; AS_NO_STR when memory is out. */
static as_str number_of(as_tags *tags, const as_cell *cell) {
    char digits[AS_NUMBER_SIZE];
    if (cell->type == AS_CELL_TEXT || cell->type == AS_CELL_JSON) {
        struct as_tag_memo *memo = &tags->memo[((uintptr_t)cell->text * 0x9e3779b97f4a7c15u) >> (64 - MEMO_BITS)];
        if (memo->text != cell->text || memo->size != cell->size)
            *memo = (struct as_tag_memo){cell->text, cell->size, as_intern(&tags->values, cell->text, cell->size)};
        return memo->value;
    }
    size_t size = cell->type == AS_CELL_INT    ? as_int_format(cell->i, digits)
                  : cell->type == AS_CELL_UINT ? as_uint_format(cell->u, digits)
                  : cell->type == AS_CELL_REAL ? as_real_format(cell->r, digits)
                                               : 0;
    return as_intern(&tags->values, digits, size);
}

/* Sets the value of the attribute's tag, if it is one of those asked for. */
static bool take(as_tags *tags, const as_attribute *attribute, as_str *values) {
    for (uint32_t k = 0; k < tags->n_keys; k++) {
        if (tags->keys[k] != attribute->key) continue;
        values[k] = number_of(tags, &attribute->value);
        tags->found[k] = true;
        if (values[k] == AS_NO_STR) return false;
    }
    return true;
}

static bool take_listed(as_tags *tags) {
    const as_dataset *ds = tags->ds;
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        as_str *values = NULL;
        if (attribute->owner == AS_OWNER_RUN && attribute->owner_id < AS_COUNT(ds, runs))
            values = tags->of_runs + (size_t)attribute->owner_id * tags->n_keys;
        if (attribute->owner == AS_OWNER_EVENT && tags->of_events && attribute->owner_id < as_ds_intervals(ds))
            values = tags->of_events + (size_t)attribute->owner_id * tags->n_keys;
        if (values && !take(tags, attribute, values)) return false;
    }
    return true;
}

/* rows x keys without values. */
static as_str *no_values(as_tags *tags, uint64_t rows) {
    size_t bytes;
    if (!as_mul_size(rows + 1, tags->n_keys * sizeof(as_str), &bytes) || !as_budget_take(as_ds_budget(tags->ds), bytes))
        return NULL;
    tags->n_counted += bytes;
    as_str *values = malloc(bytes ? bytes : 1);
    if (values) memset(values, 0xff, bytes); /* AS_NO_STR */
    return values;
}

bool as_tags_open(const as_dataset *ds, const as_text_span *names, uint32_t n, as_tags *out) {
    *out = (as_tags){.ds = ds, .n_keys = n};
    as_arena_init(&out->arena, as_ds_budget(ds));
    as_strings_init(&out->values, &out->arena);
    out->keys = calloc(n + 1, sizeof *out->keys);
    out->found = calloc(n + 1, sizeof *out->found);
    out->memo = calloc(MEMO, sizeof *out->memo);
    out->of_runs = no_values(out, AS_COUNT(ds, runs));
    if (!ds->event_source) out->of_events = no_values(out, as_ds_intervals(ds));
    if (!out->keys || !out->found || !out->memo || !out->of_runs || (!ds->event_source && !out->of_events))
        return false;
    as_vec text;
    as_vec_init(&text, 1, NULL);
    for (uint32_t k = 0; k < n; k++) out->keys[k] = attribute_of(ds, names[k], &text);
    as_vec_free(&text);
    return take_listed(out);
}

void as_tags_free(as_tags *tags) {
    if (!tags->ds) return;
    free(tags->keys);
    free(tags->found);
    free(tags->memo);
    free(tags->of_runs);
    free(tags->of_events);
    as_budget_give(as_ds_budget(tags->ds), tags->n_counted);
    as_strings_free(&tags->values);
    as_arena_free(&tags->arena);
    *tags = (as_tags){0};
}

bool as_tags_of_event(as_tags *tags, uint64_t event, as_str *values) {
    if (tags->of_events) {
        memcpy(values, tags->of_events + event * tags->n_keys, tags->n_keys * sizeof *values);
        return true;
    }
    for (uint32_t k = 0; k < tags->n_keys; k++) values[k] = AS_NO_STR;
    uint64_t first, end;
    as_event_attributes(tags->ds, event, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        as_attribute attribute;
        as_ds_any_attribute(tags->ds, i, &attribute);
        if (!take(tags, &attribute, values)) return false;
    }
    return true;
}
