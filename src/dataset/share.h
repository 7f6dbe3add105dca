/* Which call paths are this process's, where several read and model one experiment together. Readers and modellers ask
 * here, so that they agree. */
#ifndef AS_DATASET_SHARE_H
#define AS_DATASET_SHARE_H

#include "core/strings.h"

/* Process `index` of `count`. count 0 or 1: all call paths are its own. */
typedef struct as_share {
    uint32_t index, count;
} as_share;

/* The names tell, not their places: so it is the same in each of several files, and in what they become together. */
static inline bool as_share_has(as_share share, const char *path, size_t size) {
    return share.count < 2 || as_hash_everywhere(path, size) % share.count == share.index;
}

#endif
