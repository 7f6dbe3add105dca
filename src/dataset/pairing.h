/* Things of several datasets that belong together because they have the same key, one to one: of several with one key
 * the first goes with the first, the second with the second, and two of one dataset never meet. */
#ifndef AS_DATASET_PAIRING_H
#define AS_DATASET_PAIRING_H

#include "core/map.h"

/* The number of this key, counted from 0 in the order in which keys come; AS_MAP_NONE when memory is out. */
uint32_t as_number_key(as_map *map, uint64_t key);

typedef struct as_pairing {
    as_map queues; /* key -> index into lines */
    as_vec lines;  /* what waits under each key */
    as_vec things;
    uint32_t round;
} as_pairing;

void as_pairing_init(as_pairing *pairing, as_budget *budget);
void as_pairing_free(as_pairing *pairing);
/* The next dataset comes: everything can be met again. */
void as_pairing_begin(as_pairing *pairing);
/* The first thing of this key that was not met in this round, AS_MAP_NONE where there is none. */
uint32_t as_pairing_take(as_pairing *pairing, uint64_t key);
/* A new thing, after as_pairing_take() found none; it counts as met in this round. False when memory is out. */
bool as_pairing_add(as_pairing *pairing, uint64_t key, uint32_t thing);

#endif
