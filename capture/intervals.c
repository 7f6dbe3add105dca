/* Open intervals of sections: a hash table with open addressing, used by the writer alone. Records of an interval are
 * written when its begin and its end are known; the begin at once, so that a capture that is cut off shows what was
 * going on. */
#include "internal.h"

#include <string.h>
#include <sys/mman.h>

enum {
    MAX_SLOTS = 1 << 17
}; /* beyond three quarters of it, intervals are written as they come, unchecked and without durations */

typedef struct slot {
    uint64_t section, interval, time; /* section 0: free */
    bool ended;                       /* only its end is known */
    bool measured;
} slot;

static slot *slots;
static uint64_t *values; /* as_capture.sections.words for each slot */
static size_t room, count, words;
static uint64_t untracked; /* begins for which there was no slot */

static size_t place(uint64_t section, uint64_t interval) {
    return (size_t)as_capture_mix(section << 40 ^ interval) & (room - 1);
}

/* The slot of the interval, or the free one where it would be. */
static size_t find(uint64_t section, uint64_t interval) {
    size_t i = place(section, interval);
    while (slots[i].section && (slots[i].section != section || slots[i].interval != interval)) i = (i + 1) & (room - 1);
    return i;
}

static size_t slots_size(void) { return room * sizeof *slots; }
static size_t values_size(void) { return room * (words + 1) * sizeof *values; }

static void unmap(slot *old, uint64_t *old_values, size_t size, size_t size_of_values) {
    if (old) munmap(old, size);
    if (old_values) munmap(old_values, size_of_values);
}

static bool grow(void) {
    size_t old_room = room, size = slots_size(), size_of_values = values_size();
    slot *old = slots;
    uint64_t *old_values = values;
    if (room == MAX_SLOTS) return false;
    room = room ? 2 * room : 256;
    slot *fresh = as_capture_map(slots_size());
    uint64_t *fresh_values = as_capture_map(values_size());
    if (!fresh || !fresh_values) {
        unmap(fresh, fresh_values, slots_size(), values_size());
        room = old_room;
        return false;
    }
    slots = fresh, values = fresh_values;
    for (size_t i = 0; i < old_room; i++) {
        if (!old[i].section) continue;
        size_t at = find(old[i].section, old[i].interval);
        slots[at] = old[i];
        memcpy(values + at * words, old_values + i * words, words * sizeof *values);
    }
    unmap(old, old_values, size, size_of_values);
    return true;
}

/* Whether there is a slot to spare. */
static bool prepare(void) {
    if (!room) words = (size_t)as_capture.sections.words;
    return count + 1 <= room / 4 * 3 || grow();
}

static void add(size_t at, uint64_t time, uint64_t section, uint64_t interval, const uint64_t *now, bool ended) {
    slots[at] = (slot){section, interval, time, ended, now != NULL};
    if (now && words) memcpy(values + at * words, now, words * sizeof *values);
    count++;
}

/* Those behind it move up where they would not be found any more. */
static void take_out(size_t hole) {
    for (size_t i = (hole + 1) & (room - 1); slots[i].section; i = (i + 1) & (room - 1)) {
        size_t home = place(slots[i].section, slots[i].interval);
        if (((i - home) & (room - 1)) < ((i - hole) & (room - 1))) continue;
        slots[hole] = slots[i];
        memcpy(values + hole * words, values + i * words, words * sizeof *values);
        hole = i;
    }
    slots[hole].section = 0;
    count--;
}

static void write_end(uint64_t begin, uint64_t end, uint64_t section, uint64_t interval, const uint64_t *first,
                      const uint64_t *last) {
    as_capture_records_interval_stop(end, section, interval);
    if (last) as_capture_records_points(&as_capture.sections, end, section, interval, last);
    if (first && last) as_capture_records_aggregate(&as_capture.sections, end, begin, section, interval, first, last);
}

void as_capture_interval_begin(uint64_t time, uint64_t section, uint64_t interval, const uint64_t *now) {
    as_capture_records_interval_start(time, section, interval);
    as_capture_records_points(&as_capture.sections, time, section, interval, now);
    if (!prepare()) {
        untracked++;
        return;
    }
    size_t at = find(section, interval);
    if (slots[at].section) { /* its end was faster */
        write_end(time, slots[at].time, section, interval, now, slots[at].measured ? values + at * words : NULL);
        take_out(at);
    } else {
        add(at, time, section, interval, now, false);
    }
}

void as_capture_interval_end(uint64_t time, uint64_t section, uint64_t interval, const uint64_t *now) {
    bool spare = prepare();
    size_t at = room ? find(section, interval) : 0;
    if (room && slots[at].section && !slots[at].ended) {
        write_end(slots[at].time, time, section, interval, values + at * words, now);
        take_out(at);
    } else if (room && slots[at].section) {
        atomic_fetch_add_explicit(&as_capture.misused, 1, memory_order_relaxed); /* ended twice */
    } else if (untracked || !spare) {
        untracked -= untracked != 0;
        write_end(0, time, section, interval, NULL, now);
    } else {
        add(at, time, section, interval, now, true);
    }
}

uint64_t as_capture_intervals_clear(bool forked) {
    uint64_t ends = 0;
    for (size_t i = 0; !forked && i < room; i++) ends += slots[i].section && slots[i].ended;
    if (!forked) unmap(slots, values, slots_size(), values_size());
    slots = NULL, values = NULL;
    room = count = 0;
    untracked = 0;
    return ends;
}
