#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 256 };

unsigned as_core_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : (unsigned)n;
}

typedef struct queue {
    atomic_size_t next;
    size_t n;
    void (*work)(void *user, size_t i);
    void *user;
} queue;

static void *take_work(void *argument) {
    queue *q = argument;
    for (size_t i = atomic_fetch_add(&q->next, 1); i < q->n; i = atomic_fetch_add(&q->next, 1)) q->work(q->user, i);
    return NULL;
}

void as_parallel(size_t n, unsigned threads, void (*work)(void *user, size_t i), void *user) {
    queue q = {.n = n, .work = work, .user = user};
    if (threads == 0 && n > 1) threads = as_core_count();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (threads > n) threads = (unsigned)n;
    pthread_t others[MAX_THREADS];
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&others[started], NULL, take_work, &q) == 0) started++;
    take_work(&q);
    for (unsigned i = 0; i < started; i++) pthread_join(others[i], NULL);
}
