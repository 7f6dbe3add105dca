#include "core/strings.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/large_pages.h"
#include "core/seed.h"

struct as_string_entry {
    const char *text;
    size_t size;
};

/* The hash stands in the slot: neither entries of other texts nor, when the table grows, any need be looked at, which
 * in large tables would each be a wait for memory. */
struct as_string_slot {
    uint32_t id; /* + 1, 0: free */
    uint32_t hash;
};

uint64_t as_hash(const void *data, size_t size) { return XXH3_64bits_withSeed(data, size, as_seed()); }

uint64_t as_hash_everywhere(const void *data, size_t size) { return XXH3_64bits(data, size); }

void as_strings_init(as_strings *strings, as_arena *arena) {
    *strings = (as_strings){.arena = arena};
    as_vec_init(&strings->entries, sizeof(struct as_string_entry), arena->budget);
}

void as_strings_free(as_strings *strings) {
    as_budget_give(strings->arena->budget, strings->n_slots * sizeof *strings->slots);
    free(strings->slots);
    as_vec_free(&strings->entries);
    as_strings_init(strings, strings->arena);
}

static bool grow_slots(as_strings *strings, size_t n) {
    if (!as_budget_take(strings->arena->budget, n * sizeof *strings->slots)) return false;
    struct as_string_slot *slots = calloc(n, sizeof *slots);
    if (!slots) {
        as_budget_give(strings->arena->budget, n * sizeof *strings->slots);
        return false;
    }
    as_use_large_pages(slots, n * sizeof *slots);
    for (size_t i = 0; i < strings->n_slots; i++) {
        if (!strings->slots[i].id) continue;
        size_t slot = strings->slots[i].hash & (n - 1);
        while (slots[slot].id) slot = (slot + 1) & (n - 1);
        slots[slot] = strings->slots[i];
    }
    as_budget_give(strings->arena->budget, strings->n_slots * sizeof *strings->slots);
    free(strings->slots);
    strings->slots = slots;
    strings->n_slots = n;
    return true;
}

void as_strings_expect(as_strings *strings, size_t n) {
    size_t n_slots = strings->n_slots ? strings->n_slots : 64;
    if (n > UINT32_MAX) return;
    while ((strings->entries.count + n) * 4 >= n_slots * 3) n_slots *= 2;
    if (n_slots > strings->n_slots) (void)grow_slots(strings, n_slots);
}

static uint32_t hash_text(const char *text, size_t size) { return (uint32_t)as_hash(text, size); }

/* The slot that holds the text, or the free one where it would stand. */
static size_t find_slot(const as_strings *strings, const char *text, size_t size, uint32_t hash) {
    const struct as_string_entry *entries = strings->entries.data;
    size_t slot = hash & (strings->n_slots - 1);
    for (; strings->slots[slot].id; slot = (slot + 1) & (strings->n_slots - 1)) {
        if (strings->slots[slot].hash != hash) continue;
        const struct as_string_entry *entry = &entries[strings->slots[slot].id - 1];
        if (entry->size == size && memcmp(entry->text, text, size) == 0) break;
    }
    return slot;
}

as_str as_find(const as_strings *strings, const char *text, size_t size) {
    if (!strings->n_slots) return AS_NO_STR;
    uint32_t found = strings->slots[find_slot(strings, text, size, hash_text(text, size))].id;
    return found ? found - 1 : AS_NO_STR;
}

/* Room for n texts more. */
static bool make_room(as_strings *strings, size_t n) {
    size_t n_slots = strings->n_slots ? strings->n_slots : 64;
    while ((strings->entries.count + n - 1) * 4 >= n_slots * 3) n_slots *= 2;
    return n_slots == strings->n_slots || grow_slots(strings, n_slots);
}

/* Where there is room. */
static as_str intern(as_strings *strings, const char *text, size_t size, uint32_t hash) {
    size_t slot = find_slot(strings, text, size, hash);
    if (strings->slots[slot].id) return strings->slots[slot].id - 1;
    if (strings->entries.count >= AS_NO_STR - 1) return AS_NO_STR;
    char *copy = as_arena_copy(strings->arena, text, size);
    struct as_string_entry *entry = copy ? as_vec_push(&strings->entries) : NULL;
    if (!entry) return AS_NO_STR;
    *entry = (struct as_string_entry){copy, size};
    strings->slots[slot] = (struct as_string_slot){(uint32_t)strings->entries.count, hash};
    return strings->slots[slot].id - 1;
}

as_str as_intern(as_strings *strings, const char *text, size_t size) {
    if (!make_room(strings, 1)) return as_find(strings, text, size); /* known ones need no memory */
    return intern(strings, text, size, hash_text(text, size));
}

bool as_intern_batch(as_strings *strings, const as_text_span *texts, size_t n, as_str *ids) {
    uint32_t hashes[AS_INTERN_BATCH];
    if (n && !make_room(strings, n)) return false;
    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_text(texts[i].text, texts[i].size);
        __builtin_prefetch(&strings->slots[hashes[i] & (strings->n_slots - 1)], 1);
    }
    for (size_t i = 0; i < n; i++) {
        ids[i] = intern(strings, texts[i].text, texts[i].size, hashes[i]);
        if (ids[i] == AS_NO_STR) return false;
    }
    return true;
}

const char *as_str_text(const as_strings *strings, as_str id) {
    return id == AS_NO_STR ? NULL : AS_AT(struct as_string_entry, &strings->entries, id).text;
}

size_t as_str_size(const as_strings *strings, as_str id) {
    return id == AS_NO_STR ? 0 : AS_AT(struct as_string_entry, &strings->entries, id).size;
}
