/* Intervals by their ids: a hash table of indices alone, whose keys are the intervals' own. */
#include <stdlib.h>

#include "core/seed.h"
#include "formats/afperf/reading.h"

/* splitmix64's finaliser over both; the seed keeps a file from choosing ids that collide. */
static size_t slot_of(const as_af_index *ids, uint32_t section, uint64_t id) {
    uint64_t key = (id ^ ids->seed) + (section + UINT64_C(1)) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return (size_t)(key ^ key >> 31) & (ids->n_slots - 1);
}

static uint32_t section_of(const as_af_interval *interval) {
    return as_af_kind_of(interval) == AS_AF_SECTION ? interval->what : AS_AF_NONE;
}

static uint32_t *find(const as_af_index *ids, const as_af_capture *capture, uint32_t section, uint64_t id) {
    const as_af_interval *intervals = capture->intervals.data;
    size_t at = slot_of(ids, section, id);
    for (; ids->slots[at]; at = (at + 1) & (ids->n_slots - 1)) {
        const as_af_interval *known = &intervals[ids->slots[at] - 1];
        if (known->id == id && section_of(known) == section) break;
    }
    return &ids->slots[at];
}

static bool grow(as_af_index *ids, const as_af_capture *capture) {
    as_af_index larger = {.n_slots = ids->n_slots ? 2 * ids->n_slots : 1024,
                          .count = ids->count,
                          .seed = as_seed(),
                          .budget = ids->budget};
    if (!as_budget_take(ids->budget, larger.n_slots * sizeof *ids->slots)) return false;
    larger.slots = calloc(larger.n_slots, sizeof *ids->slots);
    if (!larger.slots) {
        as_budget_give(ids->budget, larger.n_slots * sizeof *ids->slots);
        return false;
    }
    const as_af_interval *intervals = capture->intervals.data;
    for (size_t i = 0; i < ids->n_slots; i++) {
        if (!ids->slots[i]) continue;
        const as_af_interval *known = &intervals[ids->slots[i] - 1];
        *find(&larger, capture, section_of(known), known->id) = ids->slots[i];
    }
    as_af_index_free(ids);
    *ids = larger;
    return true;
}

uint32_t as_af_index_find(const as_af_index *ids, const as_af_capture *capture, uint32_t section, uint64_t id) {
    return ids->n_slots ? *find(ids, capture, section, id) - 1 : AS_AF_NONE;
}

bool as_af_index_put(as_af_index *ids, const as_af_capture *capture, uint32_t interval, uint32_t *before) {
    if (ids->count * 4 >= ids->n_slots * 3 && !grow(ids, capture)) return false;
    const as_af_interval *own = AS_AF_INTERVAL(capture, interval);
    uint32_t *slot = find(ids, capture, section_of(own), own->id);
    *before = *slot - 1;
    ids->count += *slot == 0;
    *slot = interval + 1;
    return true;
}

void as_af_index_free(as_af_index *ids) {
    as_budget_give(ids->budget, ids->n_slots * sizeof *ids->slots);
    free(ids->slots);
    *ids = (as_af_index){.budget = ids->budget};
}
