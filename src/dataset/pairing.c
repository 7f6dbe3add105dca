#include "dataset/pairing.h"

/* The things of one key, in order of arrival. */
struct line {
    uint32_t first, last;
    uint32_t next; /* to be met in `round`; AS_MAP_NONE: all were */
    uint32_t round;
};

struct thing {
    uint32_t id;
    uint32_t behind; /* index of the next of the same key */
};

uint32_t as_number_key(as_map *map, uint64_t key) {
    uint32_t known = as_map_get(map, key);
    if (known != AS_MAP_NONE) return known;
    uint32_t number = (uint32_t)map->count;
    return map->count < AS_MAP_NONE - 1 && as_map_put(map, key, number) ? number : AS_MAP_NONE;
}

void as_pairing_init(as_pairing *pairing, as_budget *budget) {
    pairing->round = 0;
    as_map_init(&pairing->queues, budget);
    as_vec_init(&pairing->lines, sizeof(struct line), budget);
    as_vec_init(&pairing->things, sizeof(struct thing), budget);
}

void as_pairing_free(as_pairing *pairing) {
    as_map_free(&pairing->queues);
    as_vec_free(&pairing->lines);
    as_vec_free(&pairing->things);
}

void as_pairing_begin(as_pairing *pairing) { pairing->round++; }

uint32_t as_pairing_take(as_pairing *pairing, uint64_t key) {
    uint32_t index = as_map_get(&pairing->queues, key);
    if (index == AS_MAP_NONE) return AS_MAP_NONE;
    struct line *line = &AS_AT(struct line, &pairing->lines, index);
    if (line->round != pairing->round) {
        line->round = pairing->round;
        line->next = line->first;
    }
    if (line->next == AS_MAP_NONE) return AS_MAP_NONE;
    const struct thing *thing = &AS_AT(struct thing, &pairing->things, line->next);
    line->next = thing->behind;
    return thing->id;
}

bool as_pairing_add(as_pairing *pairing, uint64_t key, uint32_t id) {
    struct thing thing = {.id = id, .behind = AS_MAP_NONE};
    uint32_t at = (uint32_t)pairing->things.count, index = as_map_get(&pairing->queues, key);
    if (pairing->things.count >= AS_MAP_NONE || !as_vec_append(&pairing->things, &thing, 1)) return false;
    if (index == AS_MAP_NONE) {
        struct line line = {.first = at, .last = at, .next = AS_MAP_NONE, .round = pairing->round};
        return as_map_put(&pairing->queues, key, (uint32_t)pairing->lines.count) &&
               as_vec_append(&pairing->lines, &line, 1);
    }
    struct line *line = &AS_AT(struct line, &pairing->lines, index);
    AS_AT(struct thing, &pairing->things, line->last).behind = at;
    line->last = at;
    return true;
}
