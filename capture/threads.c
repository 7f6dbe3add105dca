/* Which thread has which ring. Rings are never given back, only handed on: a late writer or thread never meets memory
 * that is gone. */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__thread as_capture_self as_capture_me;

static as_capture_thread *_Atomic threads[AS_CAPTURE_THREADS];
static _Atomic unsigned thread_count;
static pthread_key_t end_key;
static bool have_key;

void *as_capture_map(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

as_capture_thread *as_capture_thread_at(unsigned index) {
    return index < atomic_load_explicit(&thread_count, memory_order_acquire) ? atomic_load(&threads[index]) : NULL;
}

/* The thread ends; regions it left open end with it. */
static void thread_ended(void *value) {
    as_capture_thread *thread = value;
    int saved = errno;
    as_capture_me.busy = -1;
    pthread_mutex_lock(&as_capture.lock);
    bool current = as_capture.running && atomic_load(&thread->state) == as_capture.generations;
    if (current) {
        atomic_fetch_add_explicit(&thread->misused, thread->level_count, memory_order_relaxed);
        as_capture_record_close(thread);
    }
    thread->level_count = thread->inherited = 0;
    atomic_store_explicit(&thread->life, current ? AS_CAPTURE_ENDED : AS_CAPTURE_FREE, memory_order_release);
    pthread_mutex_unlock(&as_capture.lock);
    as_capture_me.thread = NULL;
    errno = saved;
}

void as_capture_threads_forget(void) {
    pthread_mutex_lock(&as_capture.lock);
    if (have_key) pthread_key_delete(end_key);
    have_key = false;
    pthread_mutex_unlock(&as_capture.lock);
}

/* In stat, field 3 is the state of main's thread, 20 the number of threads, in which main's stays until the last one is
 * gone. */
bool as_capture_threads_alone(void) {
    char text[1024];
    as_capture_proc_read(AS_CAPTURE_STAT, text, sizeof text);
    const char *s = strrchr(text, ')'); /* the name of the program may hold anything */
    if (!s || s[1] != ' ' || s[2] != 'Z') return false;
    for (int field = 2; s && field < 20; field++) s = strchr(s + 1, ' ');
    return s && strtol(s, NULL, 10) <= 2;
}

static as_capture_thread *thread_new(void) {
    unsigned index = atomic_load(&thread_count);
    if (index == AS_CAPTURE_THREADS) return NULL;
    uint64_t words = as_capture.settings.ring_words / (index < AS_CAPTURE_LARGE_RINGS ? 1 : 32);
    if (words < AS_CAPTURE_SMALLEST_RING) words = AS_CAPTURE_SMALLEST_RING;
    size_t head = (sizeof(as_capture_thread) + 63) / 64 * 64;
    char *memory = as_capture_map(head + words * sizeof(uint64_t));
    if (!memory) return NULL;
    as_capture_thread *thread = (as_capture_thread *)(void *)memory;
    thread->ring = (uint64_t *)(void *)(memory + head);
    thread->mask = words - 1;
    thread->index = (uint16_t)index;
    atomic_store(&threads[index], thread);
    atomic_store_explicit(&thread_count, index + 1, memory_order_release);
    return thread;
}

static as_capture_thread *thread_find(void) {
    for (unsigned i = 0; i < atomic_load(&thread_count); i++) {
        as_capture_thread *thread = atomic_load(&threads[i]);
        if (atomic_load_explicit(&thread->life, memory_order_acquire) == AS_CAPTURE_FREE) return thread;
    }
    return thread_new();
}

/* An empty ring, no region, a run of its own. The writer does not look at it before its state is set. */
static void thread_reset(as_capture_thread *thread, bool first) {
    thread->inherited += thread->level_count;
    thread->head = thread->free_until = 0;
    thread->level_count = thread->depth = thread->too_deep = 0;
    thread->dropping = false;
    atomic_store(&thread->published, 0);
    atomic_store(&thread->consumed, 0);
    atomic_store(&thread->lost, 0);
    atomic_store(&thread->misused, 0);
    atomic_store(&thread->waited, 0);
    thread->number = first ? 0 : as_capture.next_number++;
    thread->run = first ? as_capture.run : as_capture_mix(as_capture.run + thread->number) >> AS_CAPTURE_RUN_SHIFT;
    thread->started = first ? 0 : as_capture_now();
    thread->announced = false;
    thread->type_count = 0;
    thread->open_count = 0;
}

as_capture_thread *as_capture_thread_add(unsigned state, bool first) {
    if (!have_key) have_key = pthread_key_create(&end_key, thread_ended) == 0;
    as_capture_thread *thread = as_capture_me.thread;
    bool kept = thread != NULL; /* from an earlier capture */
    if (!thread) thread = thread_find();
    if (!thread || !have_key || pthread_setspecific(end_key, thread) != 0) {
        as_capture_me.refused = state;
        return NULL;
    }
    if (!kept && pthread_getname_np(pthread_self(), thread->name, sizeof thread->name) != 0) thread->name[0] = '\0';
    if (!kept) thread->inherited = thread->level_count = 0;
    thread_reset(thread, first);
    atomic_store(&thread->life, AS_CAPTURE_ALIVE);
    atomic_store_explicit(&thread->state, state, memory_order_release);
    as_capture_me.thread = thread;
    return thread;
}

as_capture_thread *as_capture_thread_attach(unsigned state) {
    as_capture_thread *thread = NULL;
    bool is_over = false; /* the capture was just stopped: nothing that belongs to it is lost */
    if (as_capture_me.refused != state) {
        int saved = errno, cancellation;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
        pthread_mutex_lock(&as_capture.lock);
        if (__atomic_load_n(&assay_capture_state, __ATOMIC_RELAXED) != state)
            is_over = true;
        else if (as_capture.forked)
            thread = as_capture_start_locked(as_capture.path, true) ? as_capture_me.thread : NULL;
        else
            thread = as_capture_thread_add(state, false);
        pthread_mutex_unlock(&as_capture.lock);
        pthread_setcancelstate(cancellation, NULL);
        errno = saved;
    }
    if (!thread && !is_over) atomic_fetch_add_explicit(&as_capture.lost, 1, memory_order_relaxed);
    return thread;
}

void as_capture_thread_free(as_capture_thread *thread) {
    pthread_mutex_lock(&as_capture.lock);
    atomic_store_explicit(&thread->state, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->life, AS_CAPTURE_FREE, memory_order_release);
    pthread_mutex_unlock(&as_capture.lock);
}

void as_capture_threads_forked(void) {
    for (unsigned i = 0; i < atomic_load(&thread_count); i++) {
        as_capture_thread *thread = atomic_load(&threads[i]);
        thread->open = NULL; /* the parent's writer may have been about to replace it */
        thread->open_room = 0;
        atomic_store(&thread->state, 0);
        if (thread != as_capture_me.thread) atomic_store(&thread->life, AS_CAPTURE_FREE);
    }
}
