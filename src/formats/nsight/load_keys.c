/* Keys of several words, numbered in the order of their appearance. */
#include <stdlib.h>

#include "formats/nsight/load.h"

enum { FIRST_SLOTS = 64 };

void as_ns_keys_init(as_ns_keys *keys, size_t words, as_budget *budget) {
    *keys = (as_ns_keys){.words = words};
    as_vec_init(&keys->keys, sizeof(int64_t), budget);
}

void as_ns_keys_free(as_ns_keys *keys) {
    as_budget_give(keys->keys.budget, keys->n_slots * sizeof *keys->slots);
    free(keys->slots);
    as_vec_free(&keys->keys);
    as_ns_keys_init(keys, keys->words, keys->keys.budget);
}

static uint32_t *find_slot(const as_ns_keys *keys, const int64_t *key) {
    size_t size = keys->words * sizeof *key, at = (size_t)as_hash(key, size) & (keys->n_slots - 1);
    while (keys->slots[at] && memcmp(as_ns_key_at(keys, keys->slots[at] - 1), key, size) != 0)
        at = (at + 1) & (keys->n_slots - 1);
    return &keys->slots[at];
}

static bool grow(as_ns_keys *keys) {
    as_ns_keys larger = *keys;
    larger.n_slots = keys->n_slots ? keys->n_slots * 2 : FIRST_SLOTS;
    if (!as_budget_take(keys->keys.budget, larger.n_slots * sizeof *keys->slots)) return false;
    larger.slots = calloc(larger.n_slots, sizeof *keys->slots);
    if (!larger.slots) {
        as_budget_give(keys->keys.budget, larger.n_slots * sizeof *keys->slots);
        return false;
    }
    for (uint32_t i = 0; i < as_ns_keys_count(keys); i++) *find_slot(&larger, as_ns_key_at(keys, i)) = i + 1;
    as_budget_give(keys->keys.budget, keys->n_slots * sizeof *keys->slots);
    free(keys->slots);
    *keys = larger;
    return true;
}

uint32_t as_ns_keys_number(as_ns_keys *keys, const int64_t *key) {
    size_t count = as_ns_keys_count(keys), size = keys->words * sizeof *key;
    if (keys->last < count && memcmp(as_ns_key_at(keys, keys->last), key, size) == 0) return keys->last;
    if (count * 4 >= keys->n_slots * 3 && !grow(keys)) return AS_NS_NONE;
    uint32_t *slot = find_slot(keys, key);
    if (!*slot) {
        if (count >= AS_NS_NONE - 1 || !as_vec_append(&keys->keys, key, keys->words)) return AS_NS_NONE;
        *slot = (uint32_t)count + 1;
    }
    return keys->last = *slot - 1;
}

uint32_t as_ns_keys_find(const as_ns_keys *keys, const int64_t *key) {
    return keys->n_slots ? *find_slot(keys, key) - 1 : AS_NS_NONE;
}
