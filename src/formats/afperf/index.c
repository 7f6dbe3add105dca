/* Intervals by their ids: a hash table of indices alone, whose keys are the intervals' own.
 *
 * Slots come in groups of 16, with a byte for each that says almost surely whose it is: a group is looked at as a
 * whole, and intervals only where they match. Ids that differ in their last 4 bits alone share a group, so that ids
 * which count upwards stay near each other in memory. */
#include <stdlib.h>

#include "core/seed.h"
#include "formats/afperf/reading.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { GROUP = 16, FIRST_SIZE = 1024 };

/* splitmix64's finaliser; the seed keeps a file from choosing ids that collide. */
static uint64_t hash_of(const as_af_index *index, uint32_t section, uint64_t id) {
    uint64_t key = (id ^ index->seed) + (section + UINT64_C(1)) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return key ^ key >> 31;
}

static uint8_t mark_of(const as_af_index *index, uint32_t section, uint64_t id) {
    return (uint8_t)(0x80 | hash_of(index, section, id) >> 57);
}

static size_t group_of(const as_af_index *index, uint32_t section, uint64_t id) {
    return (size_t)hash_of(index, section, id / GROUP) * GROUP & (index->n_slots - 1);
}

static uint32_t section_of(const as_af_interval *interval) {
    return as_af_kind_of(interval) == AS_AF_SECTION ? interval->what : AS_AF_NONE;
}

/* Bits of the slots of a group that have this mark; 0: that are free. */
static unsigned marked(const uint8_t *marks, uint8_t mark) {
#if defined(__SSE2__)
    __m128i all = _mm_loadu_si128((const __m128i *)(const void *)marks);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8((char)mark)));
#else
    unsigned bits = 0;
    for (unsigned i = 0; i < GROUP; i++) bits |= (unsigned)(marks[i] == mark) << i;
    return bits;
#endif
}

/* The slot of this key, or a free one for it, of which there always are some. */
static size_t find(const as_af_index *index, const as_af_capture *capture, uint32_t section, uint64_t id) {
    const as_af_interval *intervals = capture->intervals.data;
    uint8_t mark = mark_of(index, section, id);
    for (size_t group = group_of(index, section, id);; group = (group + GROUP) & (index->n_slots - 1)) {
        const uint8_t *marks = index->marks + group;
        for (unsigned bits = marked(marks, mark); bits; bits &= bits - 1) {
            size_t at = group + (size_t)__builtin_ctz(bits);
            const as_af_interval *known = &intervals[index->slots[at]];
            if (known->id == id && section_of(known) == section) return at;
        }
        unsigned free_ones = marked(marks, 0);
        if (free_ones) return group + (size_t)__builtin_ctz(free_ones);
    }
}

static bool grow(as_af_index *index, const as_af_capture *capture) {
    as_af_index larger = {.n_slots = index->n_slots ? 2 * index->n_slots : FIRST_SIZE,
                          .count = index->count,
                          .seed = as_seed(),
                          .budget = index->budget};
    uint64_t size = larger.n_slots * (sizeof *larger.slots + 1);
    if (!as_budget_take(index->budget, size)) return false;
    larger.slots = malloc(larger.n_slots * sizeof *larger.slots);
    larger.marks = calloc(larger.n_slots, 1);
    if (!larger.slots || !larger.marks) {
        as_af_index_free(&larger);
        return false;
    }
    const as_af_interval *intervals = capture->intervals.data;
    for (size_t i = 0; i < index->n_slots; i++) {
        if (!index->marks[i]) continue;
        const as_af_interval *known = &intervals[index->slots[i]];
        size_t at = find(&larger, capture, section_of(known), known->id);
        larger.slots[at] = index->slots[i];
        larger.marks[at] = index->marks[i];
    }
    as_af_index_free(index);
    *index = larger;
    return true;
}

uint32_t as_af_index_find(const as_af_index *index, const as_af_capture *capture, uint32_t section, uint64_t id) {
    if (!index->n_slots) return AS_AF_NONE;
    size_t at = find(index, capture, section, id);
    return index->marks[at] ? index->slots[at] : AS_AF_NONE;
}

bool as_af_index_put(as_af_index *index, const as_af_capture *capture, uint32_t interval, uint32_t *before) {
    if (index->count * 8 >= index->n_slots * 5 && !grow(index, capture)) return false;
    const as_af_interval *own = AS_AF_INTERVAL(capture, interval);
    size_t at = find(index, capture, section_of(own), own->id);
    *before = index->marks[at] ? index->slots[at] : AS_AF_NONE;
    index->count += !index->marks[at];
    index->marks[at] = mark_of(index, section_of(own), own->id);
    index->slots[at] = interval;
    return true;
}

void as_af_index_free(as_af_index *index) {
    as_budget_give(index->budget, index->n_slots * (sizeof *index->slots + 1));
    free(index->slots);
    free(index->marks);
    *index = (as_af_index){.budget = index->budget};
}
