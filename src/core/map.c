#include "core/map.h"

#include <stdlib.h>

#include "core/large_pages.h"
#include "core/seed.h"

struct as_map_slot {
    uint64_t key;
    uint32_t value; /* stored + 1, 0: free */
};

void as_map_init(as_map *map, as_budget *budget) { *map = (as_map){.budget = budget}; }

void as_map_free(as_map *map) {
    as_budget_give(map->budget, map->n_slots * sizeof *map->slots);
    free(map->slots);
    as_map_init(map, map->budget);
}

/* A 64-bit mixer (the finaliser of splitmix64): keys are often small and dense. */
static size_t slot_of(const as_map *map, uint64_t key) {
    key ^= map->seed;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return (size_t)(key ^ key >> 31) & (map->n_slots - 1);
}

static struct as_map_slot *find(const as_map *map, uint64_t key) {
    size_t slot = slot_of(map, key);
    while (map->slots[slot].value && map->slots[slot].key != key) slot = (slot + 1) & (map->n_slots - 1);
    return &map->slots[slot];
}

uint32_t as_map_get(const as_map *map, uint64_t key) { return map->n_slots ? find(map, key)->value - 1 : AS_MAP_NONE; }

static bool grow(as_map *map, size_t n_slots) {
    as_map larger = {
        .n_slots = n_slots, .count = map->count, .seed = map->n_slots ? map->seed : as_seed(), .budget = map->budget};
    if (!as_budget_take(map->budget, larger.n_slots * sizeof *map->slots)) return false;
    larger.slots = calloc(larger.n_slots, sizeof *map->slots);
    if (!larger.slots) {
        as_budget_give(map->budget, larger.n_slots * sizeof *map->slots);
        return false;
    }
    as_use_large_zeros(larger.slots, larger.n_slots * sizeof *map->slots);
    for (size_t i = 0; i < map->n_slots; i++) {
        if (map->slots[i].value) *find(&larger, map->slots[i].key) = map->slots[i];
    }
    as_map_free(map);
    *map = larger;
    return true;
}

void as_map_expect(as_map *map, size_t n) {
    size_t n_slots = map->n_slots ? map->n_slots : 64;
    if (n > UINT32_MAX) return;
    while (n * 4 >= n_slots * 3) n_slots *= 2;
    if (n_slots > map->n_slots) (void)grow(map, n_slots);
}

bool as_map_put(as_map *map, uint64_t key, uint32_t value) {
    if (map->count * 4 >= map->n_slots * 3 && !grow(map, map->n_slots ? map->n_slots * 2 : 64)) return false;
    struct as_map_slot *slot = find(map, key);
    if (!slot->value) map->count++;
    *slot = (struct as_map_slot){key, value + 1};
    return true;
}
