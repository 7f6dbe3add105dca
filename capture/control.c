/* Start, stop, fork, and what the file says about the process. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

as_capture_shared as_capture = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .late_lock = PTHREAD_MUTEX_INITIALIZER, .output = {.fd = -1}};

static const uint64_t longest_stop = 5000000000, longest_flush = 1000000000; /* ns */

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t as_capture_now(void) {
    return clock_ns(CLOCK_MONOTONIC) - atomic_load_explicit(&as_capture.base, memory_order_relaxed);
}

uint64_t as_capture_mix(uint64_t x) {
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u; /* as splitmix64 does */
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Whether the library may be entered: not by a signal handler that interrupts it. */
static bool begin_call(void) {
    if (as_capture_me.busy > 0) return false;
    as_capture_me.ending = as_capture_me.busy < 0;
    as_capture_me.busy = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &as_capture_me.cancellation);
    pthread_mutex_lock(&as_capture.lock);
    return true;
}

static void end_call(void) {
    pthread_mutex_unlock(&as_capture.lock);
    pthread_setcancelstate(as_capture_me.cancellation, NULL);
    as_capture_me.busy = as_capture_me.ending ? -1 : 0;
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

static __thread bool fork_locked;

static void fork_prepare(void) {
    fork_locked = !as_capture_me.busy;
    if (fork_locked) pthread_mutex_lock(&as_capture.lock);
}

static void fork_parent(void) {
    if (fork_locked) pthread_mutex_unlock(&as_capture.lock);
}

/* The parent's writer is not here, and what it has not written yet is the parent's. The first record of the child
 * starts a capture of its own. */
static void fork_child(void) {
    bool on = fork_locked && __atomic_load_n(&assay_capture_state, __ATOMIC_RELAXED) != 0;
    pthread_mutex_init(&as_capture.lock, NULL);
    pthread_mutex_init(&as_capture.late_lock, NULL);
    if (as_capture.running) as_capture_output_close(&as_capture.output);
    as_capture_writer_forked();
    as_capture_threads_forked();
    as_capture.running = false;
    as_capture.late_count = 0;
    atomic_store(&as_capture.lost, 0);
    atomic_store(&as_capture.misused, 0);
    as_capture_settings_report(&as_capture.settings, true);
    as_capture.forked = on;
    as_capture.generations++;
    __atomic_store_n(&assay_capture_state, on ? as_capture.generations : 0, __ATOMIC_RELAXED);
}

/* ---- start and stop ---------------------------------------------------------------------------------------------- */

/* Once in a process: what the environment says, and the name of the program. */
static void settle(void) {
    if (as_capture.settled) return;
    as_capture.settled = true;
    as_capture_say_begin();
    as_capture_settings_read(&as_capture.settings);
    as_capture_settings_tags(as_capture.tags);
    if (!as_capture.application[0])
        strncpy(as_capture.application, program_invocation_short_name, sizeof as_capture.application - 1);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static void ids_make(void) {
    uint64_t random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = as_capture_mix(clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40);
    as_capture.run = random >> AS_CAPTURE_RUN_SHIFT;
    /* regions and sections are only told apart within the file: short ids will do; of four digits at least, see
     * put_next() in records.c */
    as_capture.next_id = 0x1000;
    atomic_store(&as_capture.next_section, 1);
}

bool as_capture_start_locked(const char *path, bool own) {
    as_capture.forked = false;
    atomic_store_explicit(&as_capture.base, clock_ns(CLOCK_MONOTONIC), memory_order_relaxed);
    as_capture.wallclock_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    as_capture.next_number = 1;
    as_capture_measures_choose();
    ids_make();
    __atomic_store_n(&assay_capture_state, 0, __ATOMIC_RELAXED);
    if (!as_capture_writer_gone()) {
        as_capture_say("the last capture is not written yet; nothing is captured");
        return false;
    }
    if (!as_capture_output_open(&as_capture.output, path, own)) return false;
    if (!as_capture_thread_add(as_capture.generations, true) || !as_capture_writer_start()) {
        as_capture_say("no thread to write %s; nothing is captured", as_capture.output.path);
        as_capture_output_close(&as_capture.output);
        return false;
    }
    as_capture.running = true;
    __atomic_store_n(&assay_capture_state, as_capture.generations, __ATOMIC_RELEASE);
    return true;
}

/* The path from the root: children may work in another directory when they begin to record. */
static bool path_set(const char *path) {
    char *at = as_capture.path;
    size_t room = sizeof as_capture.path, length = strlen(path);
    if (*path != '/' && getcwd(at, room)) {
        size_t used = strlen(at);
        at += used, room -= used;
        if (room < length + 2) return false;
        if (at[-1] != '/') *at++ = '/', room--;
    }
    if (length >= room) return false;
    memcpy(at, path, length + 1);
    return true;
}

int assay_capture_start(const char *path) {
    int saved = errno, started = 0;
    if (!path || !*path || !begin_call()) return 0;
    settle();
    if (as_capture.running || as_capture.forked) {
        as_capture_say("is on already");
    } else if (!path_set(path)) {
        as_capture_say("the name of the file is too long; nothing is captured");
    } else {
        as_capture.generations++;
        started = as_capture_start_locked(as_capture.path, false);
    }
    end_call();
    errno = saved;
    return started;
}

void assay_capture_stop(void) {
    int saved = errno;
    if (!begin_call()) return;
    as_capture_thread *thread = as_capture_me.thread;
    bool running = as_capture.running;
    as_capture.forked = false;
    __atomic_store_n(&assay_capture_state, 0, __ATOMIC_RELAXED);
    if (running && thread && atomic_load(&thread->state) == as_capture.generations) as_capture_record_close(thread);
    pthread_mutex_unlock(&as_capture.lock);
    if (running) as_capture_writer_ask(true, longest_stop);
    pthread_mutex_lock(&as_capture.lock);
    as_capture.running = false;
    end_call();
    errno = saved;
}

int assay_capture_flush(void) {
    int saved = errno;
    if (!begin_call()) return 0;
    bool running = as_capture.running;
    pthread_mutex_unlock(&as_capture.lock);
    bool written = !running || (as_capture_writer_ask(false, longest_flush) && !as_capture.output.failed);
    pthread_mutex_lock(&as_capture.lock);
    end_call();
    errno = saved;
    return written;
}

/* Before main, and before the constructors of the program; after its destructors. */
static void __attribute__((constructor(101))) library_begin(void) {
    const char *path = secure_getenv("ASSAY_CAPTURE");
    if (path && *path) assay_capture_start(path);
}

static void __attribute__((destructor(101))) library_end(void) {
    assay_capture_stop();
    as_capture_threads_forget(); /* this may be a dlclose() */
}

/* ---- tags and names ---------------------------------------------------------------------------------------------- */

static void copy_clean(char *out, size_t size, const char *text, const char *unwanted) {
    size_t n = as_capture_cut(text, size - 1);
    for (size_t i = 0; i < n; i++) out[i] = strchr(unwanted, text[i]) ? '_' : text[i];
    out[n] = '\0';
}

/* Takes the tag with this name out of the set. */
static void tag_remove(char *tags, const char *name) {
    size_t length = strlen(name);
    for (char *at = tags; *at;) {
        char *end = strchrnul(at, ';');
        char *next = *end ? end + 1 : end;
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            memmove(at, next, strlen(next) + 1);
            if (!*at && at > tags) at[-1] = '\0'; /* it was the last one */
            return;
        }
        at = next;
    }
}

int assay_capture_tag(const char *name, const char *value) {
    char clean_name[256], clean_value[512], tags[AS_CAPTURE_TAGS + 1];
    int saved = errno;
    if (!name || !*name || !value || !begin_call()) return 0;
    settle();
    copy_clean(clean_name, sizeof clean_name, name, ";=");
    copy_clean(clean_value, sizeof clean_value, value, ";");
    memcpy(tags, as_capture.tags, sizeof tags);
    tag_remove(tags, clean_name);
    size_t used = strlen(tags), need = (used != 0) + strlen(clean_name) + 1 + strlen(clean_value);
    int fits = used + need < sizeof tags;
    if (fits) {
        char *at = tags + used;
        if (used) *at++ = ';';
        at = stpcpy(at, clean_name);
        *at++ = '=';
        stpcpy(at, clean_value);
        memcpy(as_capture.tags, tags, sizeof tags);
        as_capture.tags_version++;
    }
    end_call();
    errno = saved;
    return fits;
}

void assay_capture_thread(const char *name) {
    int saved = errno;
    unsigned state = __atomic_load_n(&assay_capture_state, __ATOMIC_RELAXED);
    if (!state || !name || as_capture_me.busy) return;
    as_capture_me.busy = 1;
    as_capture_thread *thread = as_capture_me.thread;
    if (!thread || atomic_load(&thread->state) != state) thread = as_capture_thread_attach(state);
    if (thread) {
        pthread_mutex_lock(&as_capture.lock);
        copy_clean(thread->name, sizeof thread->name, name, ";=");
        as_capture.tags_version++;
        pthread_mutex_unlock(&as_capture.lock);
    }
    as_capture_me.busy = 0;
    errno = saved;
}

void assay_capture_application(const char *name, const char *version) {
    if (!begin_call()) return;
    settle();
    if (name) copy_clean(as_capture.application, sizeof as_capture.application, name, "");
    if (version) copy_clean(as_capture.version, sizeof as_capture.version, version, "");
    as_capture.tags_version++;
    end_call();
}
