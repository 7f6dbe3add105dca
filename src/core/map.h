/* A hash map from 64-bit keys to 32-bit values, for lookups like (parent, region) -> context. */
#ifndef AS_CORE_MAP_H
#define AS_CORE_MAP_H

#include "core/memory.h"

typedef struct as_map {
    struct as_map_slot *slots;
    size_t n_slots, count;
    uint64_t seed; /* see core/seed.h */
    as_budget *budget;
} as_map;

#define AS_MAP_NONE ((uint32_t)-1)

void as_map_init(as_map *map, as_budget *budget);
void as_map_free(as_map *map);
/* Makes room for so many keys, so that the table need not grow step by step. Only a hint. */
void as_map_expect(as_map *map, size_t n);
/* AS_MAP_NONE where the key is unknown. */
uint32_t as_map_get(const as_map *map, uint64_t key);
/* Inserts, or replaces. value must not be AS_MAP_NONE. False when memory is out. */
bool as_map_put(as_map *map, uint64_t key, uint32_t value);

static inline uint64_t as_pair(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

#endif
