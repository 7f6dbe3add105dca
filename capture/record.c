/* What the measured threads run: regions and sections go into the ring of the thread, without a lock or a system call.
 *
 * A begin is only written where there is room for it and for the ends of all open regions: an end always has room. What
 * is dropped is marked in the thread's stack of levels, with all that begins inside it, so that its end is dropped as
 * well. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t max_wait = 100000000; /* ns: a writer that is only waiting for a processor comes in that time */

unsigned assay_capture_state;

struct assay_section {
    uint64_t id;
    unsigned state; /* as that of a site */
    bool recorded;
    _Atomic uint64_t intervals;
    size_t label_length, tags_length;
    char text[]; /* label and tags, each with its NUL */
};

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

static inline void put(as_capture_thread *thread, uint64_t word) { thread->ring[thread->head++ & thread->mask] = word; }

static inline void put_values(as_capture_thread *thread, const as_capture_set *set, const uint64_t *values) {
    for (int i = 0; i < set->words; i++) put(thread, values[i]);
}

static void put_text(as_capture_thread *thread, const char *text, size_t length) {
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text + i, length - i < 8 ? length - i : 8);
        put(thread, word);
    }
}

static inline size_t text_words(size_t length) { return (length + 7) / 8; }

static inline void publish(as_capture_thread *thread) {
    atomic_store_explicit(&thread->published, thread->head, memory_order_release);
}

static inline void count(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Words that the ends of all open regions need. */
static inline uint64_t reserve(const as_capture_thread *thread) {
    return (uint64_t)thread->depth * (2 + (uint64_t)as_capture.regions.words);
}

static uint64_t used(const as_capture_thread *thread) {
    return thread->head - atomic_load_explicit(&thread->consumed, memory_order_acquire);
}

/* Until the ring is half empty, if that comes in time: who goes on as soon as there is room waits again at once. */
static uint64_t wait_for_writer(as_capture_thread *thread, uint64_t words) {
    const struct timespec pause = {0, 50000};
    uint64_t capacity = thread->mask + 1, in_use = used(thread), begin = as_capture_now(), waited = 0;
    uint64_t enough = words <= capacity / 2 ? capacity / 2 : capacity;
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation); /* a region is no place to be cancelled at */
    while (in_use + words > enough && waited < max_wait) {
        as_capture_writer_wake();
        nanosleep(&pause, NULL);
        in_use = used(thread);
        waited = as_capture_now() - begin;
    }
    pthread_setcancelstate(cancellation, NULL);
    count(&thread->waited, waited);
    return in_use;
}

/* The ring is half full, or was when this was last looked at. The writer is woken, and waited for if need be. */
static __attribute__((noinline)) bool make_room(as_capture_thread *thread, uint64_t words) {
    uint64_t capacity = thread->mask + 1, in_use = used(thread);
    if (in_use <= capacity / 2) thread->dropping = false;
    if (in_use + words > capacity / 2) {
        int saved = errno;
        as_capture_writer_wake();
        if (in_use + words > capacity && words <= capacity && !thread->dropping) {
            in_use = wait_for_writer(thread, words);
            thread->dropping = in_use + words > capacity;
        }
        errno = saved;
    }
    thread->free_until = 0;
    if (in_use + words > capacity || thread->dropping) return false;
    /* the next look is at the half, or, beyond it, a sixteenth on */
    uint64_t left = capacity - in_use, half = capacity / 2;
    thread->free_until = thread->head + (left > half ? left - half : left < half / 8 ? left : half / 8);
    return true;
}

static inline bool has_room(as_capture_thread *thread, uint64_t words) {
    words += reserve(thread);
    if (__builtin_expect(thread->head + words <= thread->free_until, 1)) return true;
    return make_room(thread, words);
}

/* ---- who records ------------------------------------------------------------------------------------------------- */

/* The calling thread, which is then busy until leave(). A signal handler that comes in between finds it so. */
static inline as_capture_thread *enter(unsigned state) {
    as_capture_self *me = &as_capture_me;
    if (me->busy) return NULL;
    me->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    as_capture_thread *thread = me->thread;
    if (__builtin_expect(thread && atomic_load_explicit(&thread->state, memory_order_relaxed) == state, 1))
        return thread;
    thread = as_capture_thread_attach(state);
    if (!thread) me->busy = 0;
    return thread;
}

static inline void leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    as_capture_me.busy = 0;
}

/* In a child after fork the first record starts the capture, and may so change the state. */
static inline unsigned current(void) { return __atomic_load_n(&assay_capture_state, __ATOMIC_RELAXED); }

static bool allowed(const char *label) {
    return as_capture_list_allows(&as_capture.settings.filter, label, true, NULL);
}

/* A call site that is new to this capture: does the filter let it through? */
static __attribute__((noinline)) bool site_decide(assay_capture_site *site, unsigned state) {
    if (as_capture_me.busy) return false;
    as_capture_me.busy = 1;
    int saved = errno;
    pthread_mutex_lock(&as_capture.lock);
    const as_capture_label *label = as_capture_label_get(site->label);
    atomic_store(&as_capture.frozen, true);
    int recorded = label && allowed(label->text);
    __atomic_store_n(&site->name, (const void *)label, __ATOMIC_RELAXED);
    __atomic_store_n(&site->recorded, recorded, __ATOMIC_RELAXED);
    __atomic_store_n(&site->state, state, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&as_capture.lock);
    errno = saved;
    as_capture_me.busy = 0;
    return recorded;
}

static inline bool site_recorded(assay_capture_site *site, unsigned state) {
    if (__builtin_expect(__atomic_load_n(&site->state, __ATOMIC_ACQUIRE) != state, 0)) return site_decide(site, state);
    return __atomic_load_n(&site->recorded, __ATOMIC_RELAXED);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* A level of the thread's stack, for a begin of `words` words and its values. NULL: too deep. Otherwise, dropped says
 * whether to write it. */
static inline as_capture_level *level_push(as_capture_thread *thread, uint64_t hash, uint64_t words) {
    if (__builtin_expect(thread->level_count == AS_CAPTURE_DEPTH, 0)) {
        thread->too_deep++;
        count(&thread->lost, 1);
        return NULL;
    }
    as_capture_level *level = &thread->levels[thread->level_count++];
    uint64_t values = (uint64_t)as_capture.regions.words;
    level->hash = hash;
    level->depth = thread->depth;
    level->dropped = (level > thread->levels && level[-1].dropped) || !has_room(thread, words + values + 2 + values);
    if (__builtin_expect(level->dropped, 0))
        count(&thread->lost, 1);
    else
        thread->depth++;
    return level;
}

static inline void region_begin(as_capture_thread *thread, const as_capture_label *label) {
    as_capture_level *level = level_push(thread, label->hash, 2);
    if (__builtin_expect(!level || level->dropped, 0)) return;
    uint64_t values[AS_CAPTURE_MAX_WORDS];
    if (as_capture.regions.words) as_capture_measures_read(&as_capture.regions, values);
    put(thread, as_capture_now() << 8 | AS_CAPTURE_BEGIN);
    put(thread, (uint64_t)(uintptr_t)label);
    put_values(thread, &as_capture.regions, values);
    publish(thread);
}

static void region_begin_text(as_capture_thread *thread, const char *label, const char *tags) {
    size_t label_length = as_capture_cut(label, AS_CAPTURE_LABEL),
           tags_length = tags ? as_capture_cut(tags, AS_CAPTURE_TAGS) : 0;
    as_capture_level *level = level_push(thread, as_capture_hash(label, label_length),
                                         2 + text_words(label_length) + text_words(tags_length));
    if (!level || level->dropped) return;
    uint64_t values[AS_CAPTURE_MAX_WORDS];
    if (as_capture.regions.words) as_capture_measures_read(&as_capture.regions, values);
    put(thread, as_capture_now() << 8 | AS_CAPTURE_BEGIN_TEXT);
    put(thread, label_length | (uint64_t)tags_length << 32);
    put_text(thread, label, label_length);
    if (tags_length) put_text(thread, tags, tags_length);
    put_values(thread, &as_capture.regions, values);
    publish(thread);
}

/* Ends the levels from `level` on. */
static inline void levels_end(as_capture_thread *thread, uint32_t level) {
    uint32_t depth = thread->levels[level].depth;
    thread->level_count = level;
    thread->too_deep = 0;
    if (depth == thread->depth) return; /* dropped */
    uint64_t time = as_capture_now(), values[AS_CAPTURE_MAX_WORDS];
    if (as_capture.regions.words) as_capture_measures_read(&as_capture.regions, values);
    thread->depth = depth;
    put(thread, time << 8 | AS_CAPTURE_END);
    put(thread, depth);
    put_values(thread, &as_capture.regions, values);
    publish(thread);
}

static void region_end(as_capture_thread *thread, uint64_t hash) {
    uint32_t n = thread->level_count;
    if (__builtin_expect(thread->too_deep, 0)) {
        thread->too_deep--;
        return;
    }
    while (n && thread->levels[n - 1].hash != hash) n--;
    if (n) {
        if (n < thread->level_count) count(&thread->misused, thread->level_count - n);
        levels_end(thread, n - 1);
    } else if (thread->inherited) {
        thread->inherited--;
    } else {
        count(&thread->misused, 1);
    }
}

void as_capture_record_close(as_capture_thread *thread) {
    if (thread->level_count) levels_end(thread, 0);
}

assay_capture_scope assay_capture_begin(assay_capture_site *site, const char *tags) {
    assay_capture_scope scope = {0, 0, 0};
    unsigned state = current();
    if (!state || !site_recorded(site, state)) return scope;
    as_capture_thread *thread = enter(state);
    if (!thread) return scope;
    if (tags)
        region_begin_text(thread, site->label, tags);
    else
        region_begin(thread, __atomic_load_n(&site->name, __ATOMIC_RELAXED));
    scope.level = (uint16_t)(thread->level_count + (thread->too_deep != 0));
    scope.thread = thread->index;
    scope.state = state;
    leave();
    return scope;
}

void assay_capture_leave(assay_capture_scope scope) {
    if (current() != scope.state) return; /* a capture that is over, or the parent's */
    as_capture_thread *thread = enter(scope.state);
    if (!thread) return;
    if (__builtin_expect(scope.thread != thread->index, 0)) {
        count(&thread->misused, 1);
    } else if (scope.level > AS_CAPTURE_DEPTH) {
        if (thread->too_deep) thread->too_deep--;
    } else if (scope.level > thread->level_count) {
        count(&thread->misused, 1); /* one around it was ended before */
    } else {
        count(&thread->misused, thread->level_count - scope.level);
        levels_end(thread, scope.level - 1);
    }
    leave();
}

void assay_capture_end(assay_capture_site *site) {
    unsigned state = current();
    if (!state || !site_recorded(site, state)) return;
    as_capture_thread *thread = enter(state);
    if (!thread) return;
    region_end(thread, ((const as_capture_label *)__atomic_load_n(&site->name, __ATOMIC_RELAXED))->hash);
    leave();
}

/* From the first record on: what a measure adds to the entries must not change while somebody writes one. */
static __attribute__((noinline)) void freeze(void) {
    if (as_capture_me.busy) return;
    as_capture_me.busy = 1;
    pthread_mutex_lock(&as_capture.lock);
    atomic_store(&as_capture.frozen, true);
    pthread_mutex_unlock(&as_capture.lock);
    as_capture_me.busy = 0;
}

/* The filter for labels of run time, which have to be asked for each time. */
static bool label_recorded(const char *label) {
    char text[AS_CAPTURE_LABEL + 1];
    if (!atomic_load_explicit(&as_capture.frozen, memory_order_acquire)) freeze();
    if (!as_capture.settings.filter.count) return true;
    size_t length = as_capture_cut(label, AS_CAPTURE_LABEL);
    memcpy(text, label, length);
    text[length] = '\0';
    return allowed(text);
}

void assay_region_begin(const char *label, const char *tags) {
    unsigned state = current();
    if (!state || !label || !label_recorded(label)) return;
    as_capture_thread *thread = enter(state);
    if (!thread) return;
    region_begin_text(thread, label, tags);
    leave();
}

void assay_region_end(const char *label) {
    unsigned state = current();
    if (!state || !label || !label_recorded(label)) return;
    as_capture_thread *thread = enter(state);
    if (!thread) return;
    region_end(thread, as_capture_hash(label, as_capture_cut(label, AS_CAPTURE_LABEL)));
    leave();
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

assay_section *assay_section_create(const char *label, const char *tags) {
    size_t label_length = label ? as_capture_cut(label, AS_CAPTURE_LABEL) : 0,
           tags_length = tags ? as_capture_cut(tags, AS_CAPTURE_TAGS) : 0;
    assay_section *section = calloc(1, sizeof *section + label_length + tags_length + 2);
    if (!section) return NULL;
    section->label_length = label_length;
    section->tags_length = tags_length;
    if (label) memcpy(section->text, label, label_length);
    if (tags) memcpy(section->text + label_length + 1, tags, tags_length);
    return section;
}

void assay_section_free(assay_section *section) { free(section); }

/* A section that is new to this capture is written to the ring of the thread that comes first. */
static __attribute__((noinline)) void section_decide(assay_section *section, as_capture_thread *thread,
                                                     unsigned state) {
    if (!has_room(thread, 3 + text_words(section->label_length) + text_words(section->tags_length))) return;
    pthread_mutex_lock(&as_capture.lock);
    if (__atomic_load_n(&section->state, __ATOMIC_RELAXED) != state) {
        atomic_store(&as_capture.frozen, true);
        section->recorded = allowed(section->text);
        if (section->recorded) {
            section->id = atomic_fetch_add(&as_capture.next_section, 1);
            put(thread, as_capture_now() << 8 | AS_CAPTURE_SECTION_INFO);
            put(thread, section->id);
            put(thread, section->label_length | (uint64_t)section->tags_length << 32);
            put_text(thread, section->text, section->label_length);
            put_text(thread, section->text + section->label_length + 1, section->tags_length);
            publish(thread);
        }
        __atomic_store_n(&section->state, state, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&as_capture.lock);
}

/* Values are read before the beginning and after the end. */
static void section_put(as_capture_thread *thread, uint64_t kind, uint64_t time, uint64_t section, uint64_t interval) {
    uint64_t values[AS_CAPTURE_MAX_WORDS];
    if (as_capture.sections.words) as_capture_measures_read(&as_capture.sections, values);
    put(thread, (kind == AS_CAPTURE_SECTION_BEGIN ? as_capture_now() : time) << 8 | kind);
    put(thread, section);
    put(thread, interval);
    put_values(thread, &as_capture.sections, values);
    publish(thread);
}

/* An interval's number has the capture's in its upper 16 bits: one of an earlier capture is not mistaken. */
static inline uint64_t interval_capture(unsigned state) { return (uint64_t)(state & 0xFFFF) << 48; }

assay_interval assay_section_begin(assay_section *section) {
    unsigned state = current();
    if (!state || !section) return 0;
    as_capture_thread *thread = enter(state);
    if (!thread) return 0;
    assay_interval interval = 0;
    if (__atomic_load_n(&section->state, __ATOMIC_ACQUIRE) != state) section_decide(section, thread, state);
    bool decided = __atomic_load_n(&section->state, __ATOMIC_ACQUIRE) == state;
    if (decided && section->recorded && has_room(thread, 3 + (uint64_t)as_capture.sections.words)) {
        uint64_t number = atomic_fetch_add_explicit(&section->intervals, 1, memory_order_relaxed) + 1;
        section_put(thread, AS_CAPTURE_SECTION_BEGIN, 0, section->id, number);
        interval = number | interval_capture(state);
    } else if (!decided || section->recorded) {
        count(&thread->lost, 1);
    }
    leave();
    return interval;
}

/* No room in the ring: the end goes into a list that the writer looks at, too. */
static void section_end_late(uint64_t time, uint64_t section, uint64_t interval) {
    const unsigned room = (unsigned)(sizeof as_capture.late / sizeof as_capture.late[0]);
    pthread_mutex_lock(&as_capture.late_lock);
    if (as_capture.late_count < room)
        as_capture.late[as_capture.late_count++] = (as_capture_late_end){time, section, interval};
    else
        atomic_fetch_add_explicit(&as_capture.lost, 1, memory_order_relaxed);
    pthread_mutex_unlock(&as_capture.late_lock);
}

void assay_section_end(assay_section *section, assay_interval interval) {
    unsigned state = current();
    const uint64_t number = interval & 0xFFFFFFFFFFFF;
    if (!state || !section || !number || interval - number != interval_capture(state)) return;
    as_capture_thread *thread = enter(state);
    if (!thread) return;
    uint64_t time = as_capture_now();
    if (has_room(thread, 3 + (uint64_t)as_capture.sections.words))
        section_put(thread, AS_CAPTURE_SECTION_END, time, section->id, number);
    else
        section_end_late(time, section->id, number);
    leave();
}
