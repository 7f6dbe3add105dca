/* The background thread: every 10 ms, or when a ring is half full, it turns what is in the rings into records, samples
 * the process, and writes. */
#include "internal.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static const uint64_t tick = 10000000, longest_start = 1000000000; /* ns */

/* The gate guards what is below; the writer sleeps at the bell, and who asked it for something waits for the answer. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell, answer;
static uint64_t asked, done;
static bool stop, finished = true, ready, joinable;
static pthread_t writer_thread;
static _Atomic bool asleep;

static uint64_t next_sample, next_look; /* whether it is alone */
static uint64_t last_look;              /* for pauses */
static uint64_t lost, misused;          /* of threads that are gone */

/* ---- what is in the rings ---------------------------------------------------------------------------------------- */

static inline uint64_t word(const as_capture_thread *thread, uint64_t at) { return thread->ring[at & thread->mask]; }

static void words_copy(const as_capture_thread *thread, uint64_t at, void *out, size_t words) {
    for (size_t i = 0; i < words; i++) {
        uint64_t w = word(thread, at + i);
        memcpy((char *)out + 8 * i, &w, 8);
    }
}

static as_capture_open *open_at(const as_capture_thread *thread, uint32_t index) {
    return (as_capture_open *)(void *)(thread->open + index * thread->open_size);
}

/* Before the first region: now it is settled what is measured. */
static bool open_prepare(as_capture_thread *thread) {
    size_t size = sizeof(as_capture_open) + (size_t)as_capture.regions.words * sizeof(uint64_t);
    thread->open_size = size;
    if (thread->open_room >= AS_CAPTURE_DEPTH * size) return true;
    char *open = as_capture_map(AS_CAPTURE_DEPTH * size); /* only what is used of it takes memory */
    if (!open) return false;
    if (thread->open) munmap(thread->open, thread->open_room);
    thread->open = open;
    thread->open_room = AS_CAPTURE_DEPTH * size;
    return true;
}

static inline void regions_end(as_capture_thread *thread, uint64_t time, uint64_t depth, const uint64_t *values) {
    while (thread->open_count > depth) {
        const as_capture_open *top = open_at(thread, --thread->open_count);
        as_capture_records_region_stop(time, top->id);
        if (!values) continue;
        as_capture_records_points(&as_capture.regions, time, top->id, 0, values);
        as_capture_records_aggregate(&as_capture.regions, time, top->begin, top->id, 0, top->values, values);
    }
}

/* Each reads the entry at `at`, whose first word it is given, and returns the words of it. */

/* What both kinds of begin end with, from `at` on. */
static inline uint64_t take_begin_values(as_capture_thread *thread, uint64_t at, uint64_t time, uint64_t id) {
    as_capture_open *top = open_at(thread, thread->open_count++);
    top->id = id;
    top->begin = time;
    if (!as_capture.regions.count) return 0;
    words_copy(thread, at, top->values, (size_t)as_capture.regions.words);
    as_capture_records_points(&as_capture.regions, time, id, 0, top->values);
    return (uint64_t)as_capture.regions.words;
}

static inline uint64_t take_begin(as_capture_thread *thread, uint64_t at, uint64_t time) {
    uint64_t id = as_capture.next_id++;
    const as_capture_label *label = (const as_capture_label *)(uintptr_t)word(thread, at + 1);
    as_capture_records_region_start(thread, time, id, label);
    return 2 + take_begin_values(thread, at + 2, time, id);
}

static __attribute__((noinline)) uint64_t take_begin_text(as_capture_thread *thread, uint64_t at, uint64_t time) {
    char texts[AS_CAPTURE_LABEL + AS_CAPTURE_TAGS + 16];
    uint64_t lengths = word(thread, at + 1), id = as_capture.next_id++;
    size_t label_length = lengths & UINT32_MAX, tags_length = lengths >> 32, tags_at = (label_length + 7) / 8 * 8;
    size_t text_words = (label_length + 7) / 8 + (tags_length + 7) / 8;
    words_copy(thread, at + 2, texts, text_words);
    as_capture_records_region_start_text(thread, time, id, texts, label_length, texts + tags_at, tags_length);
    return 2 + text_words + take_begin_values(thread, at + 2 + text_words, time, id);
}

static __attribute__((noinline)) uint64_t take_end_values(as_capture_thread *thread, uint64_t at, uint64_t time) {
    uint64_t values[AS_CAPTURE_MAX_WORDS];
    size_t count = (size_t)as_capture.regions.words;
    words_copy(thread, at + 2, values, count);
    regions_end(thread, time, word(thread, at + 1), values);
    return 2 + count;
}

static inline uint64_t take_end(as_capture_thread *thread, uint64_t at, uint64_t time) {
    if (as_capture.regions.count) return take_end_values(thread, at, time);
    regions_end(thread, time, word(thread, at + 1), NULL);
    return 2;
}

static uint64_t take_section_info(as_capture_thread *thread, uint64_t at, uint64_t time) {
    char texts[AS_CAPTURE_LABEL + AS_CAPTURE_TAGS + 16];
    uint64_t lengths = word(thread, at + 2);
    size_t label_length = lengths & UINT32_MAX, tags_length = lengths >> 32, tags_at = (label_length + 7) / 8 * 8;
    size_t text_words = (label_length + 7) / 8 + (tags_length + 7) / 8;
    words_copy(thread, at + 3, texts, text_words);
    as_capture_records_section_info(as_capture.run, time, word(thread, at + 1), texts, label_length, texts + tags_at,
                                    tags_length);
    return 3 + text_words;
}

static uint64_t take_interval(as_capture_thread *thread, uint64_t at, uint64_t time, bool begin) {
    uint64_t values[AS_CAPTURE_MAX_WORDS], section = word(thread, at + 1), interval = word(thread, at + 2);
    size_t count = (size_t)as_capture.sections.words;
    words_copy(thread, at + 3, values, count);
    if (begin)
        as_capture_interval_begin(time, section, interval, values);
    else
        as_capture_interval_end(time, section, interval, values);
    return 3 + count;
}

static __attribute__((noinline)) uint64_t take_other(as_capture_thread *thread, uint64_t at) {
    uint64_t first = word(thread, at), time = first >> 8;
    switch (first & 0xFF) {
    case AS_CAPTURE_BEGIN_TEXT: return take_begin_text(thread, at, time);
    case AS_CAPTURE_SECTION_INFO: return take_section_info(thread, at, time);
    case AS_CAPTURE_SECTION_BEGIN: return take_interval(thread, at, time, true);
    default: return take_interval(thread, at, time, false);
    }
}

static inline uint64_t take(as_capture_thread *thread, uint64_t at) {
    uint64_t first = word(thread, at), kind = first & 0xFF;
    if (kind == AS_CAPTURE_BEGIN) return take_begin(thread, at, first >> 8);
    if (kind == AS_CAPTURE_END) return take_end(thread, at, first >> 8);
    return take_other(thread, at);
}

/* Whether there is already so much again that it should not have to wait. */
static __attribute__((noinline)) bool drain(as_capture_thread *thread) {
    uint64_t end = atomic_load_explicit(&thread->published, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&thread->consumed, memory_order_relaxed), told = at;
    if (at != end && !open_prepare(thread)) {
        __atomic_store_n(&assay_capture_state, 0, __ATOMIC_RELAXED);
        as_capture.output.failed = true;
        as_capture_say("no memory; the capture ends here, the program goes on");
    }
    while (at != end && !as_capture.output.failed) {
        at += take(thread, at);
        if (at - told < 1024) continue;
        atomic_store_explicit(&thread->consumed, at, memory_order_release);
        told = at;
    }
    atomic_store_explicit(&thread->consumed, end, memory_order_release);
    return atomic_load_explicit(&thread->published, memory_order_relaxed) - end > thread->mask / 4;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool is_current(const as_capture_thread *thread) {
    return atomic_load_explicit(&thread->state, memory_order_acquire) == as_capture.generations;
}

static unsigned tags_version(void) {
    pthread_mutex_lock(&as_capture.lock);
    unsigned version = as_capture.tags_version;
    pthread_mutex_unlock(&as_capture.lock);
    return version;
}

/* Its RunInfo, again where tags have come. */
static void announce(as_capture_thread *thread, unsigned tags) {
    if (!thread->announced || thread->tags_written != tags) as_capture_records_run(thread);
    thread->tags_written = tags;
    if (!atomic_load(&as_capture.frozen)) return;
    as_capture_records_types(thread, &as_capture.regions);
    if (thread->number == 0) as_capture_records_types(thread, &as_capture.sections);
}

/* What happened to a thread's run besides regions; the thread is gone, or the capture ends. */
static void run_end(as_capture_thread *thread, uint64_t time) {
    uint64_t n = atomic_load(&thread->lost), m = atomic_load(&thread->misused), w = atomic_load(&thread->waited);
    if (n)
        as_capture_records_count(time, thread->run, "capture lost", "count", "regions and intervals not recorded", n);
    if (m)
        as_capture_records_count(time, thread->run, "capture misused", "count",
                                 "ends without begin, begins without end", m);
    if (w)
        as_capture_records_count(time, thread->run, "capture waited", "ns", "time the thread waited for the writer", w);
    lost += n;
    misused += m;
}

static void drain_late_ends(void) {
    static as_capture_late_end late[sizeof as_capture.late / sizeof as_capture.late[0]];
    pthread_mutex_lock(&as_capture.late_lock);
    unsigned n = as_capture.late_count;
    memcpy(late, as_capture.late, n * sizeof late[0]);
    as_capture.late_count = 0;
    pthread_mutex_unlock(&as_capture.late_lock);
    for (unsigned i = 0; i < n; i++) as_capture_interval_end(late[i].time, late[i].section, late[i].interval, NULL);
}

static bool drain_all(void) {
    unsigned tags = tags_version();
    bool more = false;
    as_capture_thread *thread;
    for (unsigned i = 0; (thread = as_capture_thread_at(i)); i++) {
        int life = atomic_load_explicit(&thread->life, memory_order_acquire);
        if (life == AS_CAPTURE_FREE || !is_current(thread)) continue;
        announce(thread, tags);
        more |= drain(thread);
        if (life != AS_CAPTURE_ENDED || thread->number == 0) continue; /* run 0 lasts as long as the process */
        run_end(thread, as_capture_now());
        as_capture_thread_free(thread);
    }
    drain_late_ends();
    return more;
}

/* ---- samples and pauses ------------------------------------------------------------------------------------------ */

static as_capture_thread *first_thread(void) {
    as_capture_thread *thread;
    for (unsigned i = 0; (thread = as_capture_thread_at(i)); i++)
        if (is_current(thread) && thread->number == 0) return thread;
    return NULL;
}

static void sample(uint64_t now) {
    as_capture_set set; /* measures may be added meanwhile */
    uint64_t values[AS_CAPTURE_MAX_WORDS];
    as_capture_thread *thread = first_thread();
    if (!thread) return;
    int count = atomic_load_explicit(&as_capture.samples.count, memory_order_acquire);
    memcpy(set.measures, as_capture.samples.measures, sizeof set.measures);
    atomic_store(&set.count, count);
    as_capture_measures_read(&set, values);
    as_capture_records_types(thread, &set);
    as_capture_records_run_points(&set, now, as_capture.run, values);
}

static void pause_record(uint64_t paused, uint64_t resumed) {
    as_capture_thread *thread;
    for (unsigned i = 0; (thread = as_capture_thread_at(i)); i++)
        if (atomic_load(&thread->life) != AS_CAPTURE_FREE && is_current(thread) && thread->announced &&
            thread->started <= paused)
            as_capture_records_pause(resumed, paused, thread->run);
}

/* Was the process stopped since the last look? Without a gap between two looks: it may have happened in one. */
static void pause_look(bool working) {
    uint64_t now = as_capture_now();
    if (as_capture_pauses_found(last_look, now, working)) pause_record(last_look, now);
    last_look = now;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static struct timespec deadline(uint64_t ns) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ns += (uint64_t)t.tv_nsec;
    t.tv_sec += (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

/* Sleeps for a tick, unless there is something to do. Returns whether to stop; *wanted: which question the next round
 * answers. */
static bool sleep_tick(uint64_t *wanted, bool more) {
    struct timespec until = deadline(tick);
    pthread_mutex_lock(&gate);
    if (!stop && asked == done && !more) {
        atomic_store(&asleep, true);
        pthread_cond_timedwait(&bell, &gate, &until);
        atomic_store(&asleep, false);
    }
    *wanted = asked;
    bool stopping = stop;
    pthread_mutex_unlock(&gate);
    pause_look(false);
    return stopping;
}

static void finish(uint64_t now) {
    as_capture_thread *thread;
    for (unsigned i = 0; (thread = as_capture_thread_at(i)); i++) {
        if (atomic_load(&thread->life) == AS_CAPTURE_FREE || !is_current(thread)) continue;
        regions_end(thread, now, 0, NULL); /* of threads that run on */
        run_end(thread, now);
        if (atomic_load(&thread->life) == AS_CAPTURE_ENDED) as_capture_thread_free(thread);
    }
    uint64_t orphans = as_capture_intervals_clear(false) + atomic_exchange(&as_capture.misused, 0);
    uint64_t unheard = atomic_exchange(&as_capture.lost, 0);
    if (orphans)
        as_capture_records_count(now, as_capture.run, "capture misused intervals", "count",
                                 "ends of intervals without begin", orphans);
    if (unheard)
        as_capture_records_count(now, as_capture.run, "capture unheard", "count", "records of threads without a buffer",
                                 unheard);
    lost += unheard;
    misused += orphans;
}

static void report(void) {
    const char *path = as_capture.output.path;
    as_capture_settings_report(&as_capture.settings, false);
    if (lost && !as_capture.output.failed)
        as_capture_say("%s: %llu regions and intervals were not recorded, for they came too fast, were too deep, or of "
                       "too many threads; record fewer (ASSAY_CAPTURE_FILTER)",
                       path, (unsigned long long)lost);
    if (misused)
        as_capture_say("%s: %llu begins or ends without the other, or out of order", path, (unsigned long long)misused);
}

/* Whether the next one should come at once. */
static bool round_of_work(bool stopping) {
    uint64_t now = as_capture_now();
    bool more = drain_all();
    if (as_capture.settings.period && (now >= next_sample || stopping)) {
        sample(now);
        next_sample = now + as_capture.settings.period;
    }
    if (stopping) finish(as_capture_now());
    as_capture_output_write(&as_capture.output);
    if (as_capture.output.failed) __atomic_store_n(&assay_capture_state, 0, __ATOMIC_RELAXED);
    return more;
}

/* Nobody is left who could ask it to stop: it ends by itself. */
static bool is_last(void) {
    uint64_t now = as_capture_now();
    if (now < next_look) return false;
    next_look = now + 10 * tick;
    if (!as_capture_threads_alone()) return false;
    pthread_mutex_lock(&as_capture.lock);
    __atomic_store_n(&assay_capture_state, 0, __ATOMIC_RELAXED);
    as_capture.running = false;
    pthread_mutex_unlock(&as_capture.lock);
    return true;
}

static void *writer(void *unused) {
    (void)unused;
    as_capture_proc_open();
    pthread_mutex_lock(&gate);
    ready = true;
    pthread_cond_broadcast(&answer);
    pthread_mutex_unlock(&gate);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain) uselocale(plain);
    as_capture_me.busy = 1; /* what a measure's function does here is not recorded */
    pthread_setname_np(pthread_self(), "assay-capture");
    as_capture_pauses_begin();
    as_capture_records_begin();
    last_look = as_capture_now();
    bool stopping = false, more = false;
    while (!stopping) {
        uint64_t wanted;
        stopping = sleep_tick(&wanted, more) || is_last();
        more = round_of_work(stopping);
        if (!stopping) pause_look(true);
        pthread_mutex_lock(&gate);
        done = wanted;
        pthread_cond_broadcast(&answer);
        pthread_mutex_unlock(&gate);
    }
    as_capture_output_close(&as_capture.output);
    report();
    as_capture_proc_close();
    if (plain) uselocale(LC_GLOBAL_LOCALE), freelocale(plain);
    pthread_mutex_lock(&gate);
    finished = true;
    pthread_cond_broadcast(&answer);
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void conditions_make(void) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&bell, &monotonic);
    pthread_cond_init(&answer, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool as_capture_writer_start(void) {
    static bool made;
    if (!made) conditions_make();
    made = true;
    sigset_t all, before;
    pthread_mutex_lock(&gate);
    stop = finished = ready = false;
    asked = done = 0;
    pthread_mutex_unlock(&gate);
    next_sample = next_look = lost = misused = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&writer_thread, NULL, writer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct timespec until = deadline(longest_start);
    pthread_mutex_lock(&gate);
    if (error) finished = true;
    for (int late = error; !ready && !late;) late = pthread_cond_timedwait(&answer, &gate, &until);
    joinable = !error;
    pthread_mutex_unlock(&gate);
    return !error;
}

/* It is waited for to its very end: the code may be unloaded next. */
bool as_capture_writer_gone(void) {
    pthread_mutex_lock(&gate);
    bool gone = finished, join = gone && joinable;
    if (join) joinable = false;
    pthread_mutex_unlock(&gate);
    if (join) pthread_join(writer_thread, NULL);
    return gone;
}

bool as_capture_writer_ask(bool stopping, uint64_t limit) {
    struct timespec until = deadline(limit);
    pthread_mutex_lock(&gate);
    uint64_t mine = ++asked;
    if (stopping) stop = true;
    pthread_cond_signal(&bell);
    int error = 0;
    while (!finished && (stopping || done < mine) && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&answer, &gate, &until);
    bool answered = finished || done >= mine;
    pthread_mutex_unlock(&gate);
    if (stopping) as_capture_writer_gone();
    return answered;
}

void as_capture_writer_wake(void) {
    if (atomic_load_explicit(&asleep, memory_order_relaxed)) pthread_cond_signal(&bell);
}

void as_capture_writer_forked(void) {
    pthread_mutex_init(&gate, NULL);
    conditions_make();
    finished = true;
    joinable = false;
    as_capture_proc_close();
    atomic_store(&asleep, false);
    as_capture_intervals_clear(true);
}
