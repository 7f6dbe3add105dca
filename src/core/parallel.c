#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 256 };

/* Those that the caller may use; none where that is not known. */
static void find_cores(cpu_set_t *out) {
    CPU_ZERO(out);
    if (sched_getaffinity(0, sizeof *out, out) != 0) CPU_ZERO(out);
}

unsigned as_core_count(void) {
    cpu_set_t cores;
    find_cores(&cores);
    int n = CPU_COUNT(&cores);
    return n < 1 ? 1 : (unsigned)n;
}

typedef struct queue {
    atomic_size_t next;
    size_t n;
    void (*work)(void *user, size_t i);
    void *user;
    cpu_set_t cores; /* that the caller may use */
} queue;

static void *take_work(void *argument) {
    queue *q = argument;
    for (size_t i = atomic_fetch_add(&q->next, 1); i < q->n; i = atomic_fetch_add(&q->next, 1)) q->work(q->user, i);
    return NULL;
}

static void *take_work_anywhere(void *argument) {
    const queue *q = argument;
    sched_setaffinity(0, sizeof q->cores, &q->cores);
    return take_work(argument);
}

/* A new thread begins on another core than the caller's, which is busy, and may go anywhere then. The system by itself
 * may let both share that core for some 20 ms, which is a good part of what is worth threads at all. False: it begins
 * anywhere. */
static bool begin_elsewhere(queue *q, pthread_attr_t *attributes) {
    find_cores(&q->cores);
    cpu_set_t others = q->cores;
    int own = sched_getcpu();
    if (own < 0 || own >= CPU_SETSIZE) return false;
    CPU_CLR((size_t)own, &others);
    if (!CPU_COUNT(&others) || pthread_attr_init(attributes) != 0) return false;
    if (pthread_attr_setaffinity_np(attributes, sizeof others, &others) == 0) return true;
    pthread_attr_destroy(attributes);
    return false;
}

/* elsewhere: NULL where it may begin anywhere, which it may also where the system does not let it be said. */
static bool start(pthread_t *thread, const pthread_attr_t *elsewhere, queue *q) {
    if (elsewhere && pthread_create(thread, elsewhere, take_work_anywhere, q) == 0) return true;
    return pthread_create(thread, NULL, take_work, q) == 0;
}

void as_parallel(size_t n, unsigned threads, void (*work)(void *user, size_t i), void *user) {
    queue q = {.n = n, .work = work, .user = user};
    if (threads == 0 && n > 1) threads = as_core_count();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (threads > n) threads = (unsigned)n;
    pthread_t others[MAX_THREADS];
    pthread_attr_t attributes, *elsewhere = threads > 1 && begin_elsewhere(&q, &attributes) ? &attributes : NULL;
    unsigned started = 0;
    while (started + 1 < threads && start(&others[started], elsewhere, &q)) started++;
    if (elsewhere) pthread_attr_destroy(elsewhere);
    take_work(&q);
    for (unsigned i = 0; i < started; i++) pthread_join(others[i], NULL);
}
