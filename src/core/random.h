/* Random numbers that are the same everywhere: a result that chance has a part in is known by its seed, on every
 * machine. Not for secrets. */
#ifndef AS_CORE_RANDOM_H
#define AS_CORE_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* All 64 bits; the state begins with any seed (splitmix64). */
static inline uint64_t as_random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Between 0 and 1, neither included. */
static inline double as_random_part(uint64_t *state) { return ((double)(as_random_bits(state) >> 11) + 0.5) * 0x1p-53; }

/* With mean 0 and variance 1. */
static inline double as_random_normal(uint64_t *state) {
    double radius = sqrt(-2 * log(as_random_part(state)));
    return radius * cos(6.283185307179586 * as_random_part(state));
}

/* One of 0 … n - 1. */
static inline size_t as_random_below(uint64_t *state, size_t n) {
    __extension__ unsigned __int128 wide = (unsigned __int128)as_random_bits(state) * n;
    return (size_t)(wide >> 64);
}

#endif
