/* Kinds of resources: found by the text of their members, told apart as Perun does, and in the end flattened. */
#include "formats/perun/read.h"

#include <stdlib.h>

/* ---- members in order -------------------------------------------------------------------------------------------- */

/* Appends a value in a form that is the same whenever Python's repr() is: the current token is its first, and in the
 * end its last. */
static bool add_canonical(as_json *json, as_vec *out) {
    uint32_t depth = json->depth - (json->type == AS_JSON_OBJECT || json->type == AS_JSON_ARRAY);
    for (;; as_json_next(json)) {
        char buffer[AS_NUMBER_SIZE];
        const char *text = json->token;
        size_t size = json->token_size;
        if (json->type == AS_JSON_ERROR) return false;
        if (json->type == AS_JSON_KEY || json->type == AS_JSON_STRING) {
            text = as_json_text(json, &size);
            if (!text || !as_vec_text(out, "\"") || !as_vec_append(out, (const char *)&size, sizeof size)) return false;
        } else if (json->type == AS_JSON_NUMBER) {
            as_number number = as_json_number(json);
            bool is_digits = !memchr(text, '.', size) && !memchr(text, 'e', size) && !memchr(text, 'E', size);
            if (number.kind != AS_REAL || !is_digits) text = buffer, size = as_python_number(number, buffer);
            if (!as_vec_text(out, " ")) return false;
        }
        if (!as_vec_append(out, text, size)) return false;
        bool ends = json->type == AS_JSON_OBJECT_END || json->type == AS_JSON_ARRAY_END;
        if (json->depth == depth && (ends || as_json_is_scalar(json->type))) return true;
    }
}

static int compare_members(const void *a, const void *b, void *user) {
    const as_perun_member *x = a, *y = b;
    const char *text = user;
    size_t m = x->value - x->key, n = y->value - y->key;
    int order = memcmp(text + x->key, text + y->key, m < n ? m : n);
    if (order) return order;
    if (m != n) return m < n ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* The members of the object that `inner` begins with, into reading->order, sorted by key. *is_changed: some are left
 * out, because they are there again behind, or the frame has the like. */
static bool list_members(as_perun_reading *reading, uint32_t frame, const char *place, bool *is_changed) {
    as_json *json = &reading->inner;
    as_vec *order = &reading->order, *text = &reading->canonical;
    bool is_framed = AS_AT(as_perun_frame, &reading->frames, frame).time.size != 0;
    bool has_snapshot = AS_AT(as_perun_frame, &reading->frames, frame).snapshot != UINT32_MAX;
    order->count = text->count = 0;
    *is_changed = false;
    as_json_next(json);
    while (as_json_next(json) == AS_JSON_KEY) {
        bool is_added = (is_framed && as_json_is(json, "time")) || (has_snapshot && as_json_is(json, "snapshot"));
        as_perun_member member = {.key = text->count, .raw.text = json->token, .number = order->count};
        size_t size;
        const char *key = as_json_text(json, &size);
        if (!key || !as_vec_append(text, key, size)) return false;
        member.value = text->count;
        as_json_next(json);
        if (!add_canonical(json, text)) return false;
        member.end = text->count;
        member.raw.size = (size_t)(json->token + json->token_size - member.raw.text);
        *is_changed |= is_added;
        if (!is_added && !as_vec_append(order, &member, 1)) return false;
    }
    if (order->count > 1) qsort_r(order->data, order->count, order->size, compare_members, text->data);
    size_t kept = 0;
    for (size_t i = 0; i < order->count; i++) {
        const as_perun_member *here = &AS_AT(as_perun_member, order, i), *next = here + 1;
        bool is_superseded =
            i + 1 < order->count && here->value - here->key == next->value - next->key &&
            memcmp((char *)text->data + here->key, (char *)text->data + next->key, here->value - here->key) == 0;
        if (is_superseded) as_perun_odd(reading, AS_PERUN_DUPLICATE, place);
        *is_changed |= is_superseded;
        if (!is_superseded) AS_AT(as_perun_member, order, kept++) = *here;
    }
    order->count = kept;
    return json->type == AS_JSON_OBJECT_END;
}

static int compare_numbers(const void *a, const void *b) {
    size_t x = ((const as_perun_member *)a)->number, y = ((const as_perun_member *)b)->number;
    return (x > y) - (x < y);
}

/* "{" and "}" around the members of reading->order in their own order; in the arena. What is between them is the
 * text. */
static as_raw_json join_members(as_perun_reading *reading) {
    as_vec *order = &reading->order, *out = &reading->canonical;
    out->count = 0;
    if (order->count > 1) qsort(order->data, order->count, order->size, compare_numbers);
    bool fine = as_vec_text(out, "{");
    for (size_t i = 0; i < order->count && fine; i++) {
        as_raw_json raw = AS_AT(as_perun_member, order, i).raw;
        fine = (!i || as_vec_text(out, ",")) && as_vec_append(out, raw.text, raw.size);
    }
    fine = fine && as_vec_text(out, "}");
    char *copy = fine ? as_arena_copy(&reading->ds->arena, out->data, out->count) : NULL;
    return copy ? (as_raw_json){copy + 1, out->count - 2} : (as_raw_json){0};
}

/* ---- finding a kind ---------------------------------------------------------------------------------------------- */

/* The entry with this text and frame; else *key is where it belongs. */
static const as_perun_spelling *find_text(const as_map *map, const as_vec *entries, uint32_t frame, const char *text,
                                          size_t size, uint64_t *key) {
    *key = as_hash(text, size) ^ (frame + 1) * 0x9e3779b97f4a7c15u;
    for (uint32_t at; (at = as_map_get(map, *key)) != AS_MAP_NONE; *key = *key * 0x9e3779b97f4a7c15u + 1) {
        const as_perun_spelling *known = &AS_AT(as_perun_spelling, entries, at);
        if (known->frame == frame && known->size == size && memcmp(known->text, text, size) == 0) return known;
    }
    return NULL;
}

static bool add_text(as_map *map, as_vec *entries, uint64_t key, const as_perun_spelling *entry) {
    return entry->text && entries->count < AS_MAP_NONE && as_vec_append(entries, entry, 1) &&
           as_map_put(map, key, (uint32_t)(entries->count - 1));
}

uint32_t as_perun_add_draft(as_perun_reading *reading, uint32_t frame, as_str type, const char *place) {
    as_vec *kinds = &reading->perun->kinds;
    as_perun_frame *about = &AS_AT(as_perun_frame, &reading->frames, frame);
    as_perun_kind kind = {.flat_uid = AS_NO_STR,
                          .context = ASSAY_NONE,
                          .uid_context = ASSAY_NONE,
                          .metric = ASSAY_NONE,
                          .snapshot = about->snapshot,
                          .place = about->place};
    as_perun_draft draft = {.frame = frame, .type = type, .place = place, .metric = AS_NO_STR, .unit = AS_NO_STR};
    if (kinds->count >= UINT32_MAX - 1 || !as_vec_append(&reading->drafts, &draft, 1) ||
        !as_vec_append(kinds, &kind, 1))
        return UINT32_MAX;
    return (uint32_t)(kinds->count - 1);
}

/* The text that tells a kind from others, into reading->key: its members by key. */
static bool make_identity(as_perun_reading *reading) {
    as_vec *out = &reading->key;
    const char *text = reading->canonical.data;
    out->count = 0;
    for (size_t i = 0; i < reading->order.count; i++) {
        const as_perun_member *member = &AS_AT(as_perun_member, &reading->order, i);
        size_t size = member->value - member->key;
        if (!as_vec_append(out, (const char *)&size, sizeof size) ||
            !as_vec_append(out, text + member->key, member->end - member->key))
            return false;
    }
    return true;
}

/* A spelling that is new, perhaps of a kind that is not. */
static uint32_t add_spelling(as_perun_reading *reading, uint32_t frame, const char *members, size_t size,
                             const char *place, uint64_t key) {
    bool is_changed;
    uint64_t identity;
    as_arena *arena = &reading->ds->arena;
    char *text = as_arena_alloc(arena, size + 2);
    if (!text) return UINT32_MAX;
    text[0] = '{';
    if (size) memcpy(text + 1, members, size);
    text[size + 1] = '}';
    as_perun_spelling spelling = {.text = text + 1, .size = size, .frame = frame};
    as_json_restart(&reading->inner, text, size + 2, 2);
    if (!list_members(reading, frame, place, &is_changed) || !make_identity(reading)) return UINT32_MAX;
    const as_vec *name = &reading->key;
    const as_perun_spelling *known =
        find_text(&reading->kind_of, &reading->canonicals, frame, name->data, name->count, &identity);
    spelling.kind = known ? known->kind : as_perun_add_draft(reading, frame, AS_NO_STR, place);
    if (spelling.kind == UINT32_MAX) return UINT32_MAX;
    if (!known) {
        as_perun_spelling canonical = {.text = as_arena_copy(arena, name->data, name->count),
                                       .size = name->count,
                                       .frame = frame,
                                       .kind = spelling.kind};
        as_raw_json kept = is_changed ? join_members(reading) : (as_raw_json){spelling.text, size};
        AS_AT(as_perun_kind, &reading->perun->kinds, spelling.kind).members = kept;
        if (!kept.text || !add_text(&reading->kind_of, &reading->canonicals, identity, &canonical)) return UINT32_MAX;
    }
    return add_text(&reading->spelling_of, &reading->spellings, key, &spelling) ? spelling.kind : UINT32_MAX;
}

uint32_t as_perun_find_kind(as_perun_reading *reading, uint32_t frame, const char *members, size_t size,
                            const char *place) {
    uint64_t key;
    const as_perun_spelling *known = find_text(&reading->spelling_of, &reading->spellings, frame, members, size, &key);
    return known ? known->kind : add_spelling(reading, frame, members, size, place, key);
}

as_raw_json as_perun_tidy(as_perun_reading *reading, const as_perun_draft *draft, as_raw_json object) {
    bool is_changed;
    as_json_restart(&reading->inner, object.text, object.size, 2);
    if (!list_members(reading, draft->frame, draft->place, &is_changed)) return (as_raw_json){0};
    return is_changed ? join_members(reading) : (as_raw_json){object.text + 1, object.size - 2};
}
