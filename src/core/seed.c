#include "core/seed.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t as_seed(void) {
    static uint64_t known; /* whichever thread finds it first, it is the same */
    uint64_t seed = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (seed) return seed;
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM); /* 16 bytes, from the kernel */
    if (random) memcpy(&seed, random, sizeof seed);
    seed |= 1; /* so that it is known */
    __atomic_store_n(&known, seed, __ATOMIC_RELAXED);
    return seed;
}
