#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/parallel.h"

enum { N = 1000 };

typedef struct seen {
    cpu_set_t cores; /* that the caller may use */
    atomic_uint done[N], n_others, n_confined;
    pthread_t caller;
} seen;

/* Each piece takes so long that another thread gets some of them. */
static void look(void *user, size_t i) {
    seen *s = user;
    cpu_set_t own;
    CPU_ZERO(&own);
    atomic_fetch_add(&s->done[i], 1);
    bool is_free = sched_getaffinity(0, sizeof own, &own) == 0 && CPU_EQUAL(&own, &s->cores);
    atomic_fetch_add(&s->n_confined, !is_free);
    if (pthread_equal(pthread_self(), s->caller)) {
        while (as_core_count() > 1 && i + 1 < N && !atomic_load(&s->n_others)) sched_yield();
    } else {
        atomic_fetch_add(&s->n_others, 1);
    }
}

static void look_at_all(seen *s, unsigned threads) {
    *s = (seen){.caller = pthread_self()};
    CPU_ZERO(&s->cores);
    assert_int_equal(sched_getaffinity(0, sizeof s->cores, &s->cores), 0);
    as_parallel(N, threads, look, s);
    for (int i = 0; i < N; i++) assert_int_equal(atomic_load(&s->done[i]), 1);
}

/* Threads begin away from the caller, but are not kept there: one that could not go where there is room would be waited
 * for. */
static void threads_may_go_anywhere(void **state) {
    (void)state;
    static seen s;
    cpu_set_t after;
    CPU_ZERO(&after);
    look_at_all(&s, 0);
    assert_int_equal(atomic_load(&s.n_confined), 0);
    assert_true(as_core_count() == 1 || atomic_load(&s.n_others) > 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&after, &s.cores));
}

typedef struct two {
    seen inner[2];
} two;

static void within_threads(void *user, size_t i) { as_parallel(N, 2, look, &((two *)user)->inner[i]); }

static void threads_have_threads(void **state) {
    (void)state;
    static two t;
    for (int i = 0; i < 2; i++) {
        t.inner[i] = (seen){.n_others = 1}; /* nobody waits for them */
        CPU_ZERO(&t.inner[i].cores);
        assert_int_equal(sched_getaffinity(0, sizeof(cpu_set_t), &t.inner[i].cores), 0);
    }
    as_parallel(2, 2, within_threads, &t);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < N; k++) assert_int_equal(atomic_load(&t.inner[i].done[k]), 1);
        assert_int_equal(atomic_load(&t.inner[i].n_confined), 0);
    }
}

/* What taskset says holds: more threads than cores are possible, and stay there. */
static void one_core_is_enough(void **state) {
    (void)state;
    static seen s;
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(as_core_count(), 1);
    look_at_all(&s, 3);
    assert_int_equal(atomic_load(&s.n_confined), 0);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_go_anywhere),
        cmocka_unit_test(threads_have_threads),
        cmocka_unit_test(one_core_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
