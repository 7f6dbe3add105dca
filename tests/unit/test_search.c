/* The first of many in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/search.h"

typedef struct thing {
    uint32_t number, other;
} thing;

/* By what the user says: up or down. */
static int compare(const void *x, const void *y, void *user) {
    const thing *a = x, *b = y;
    int order = (a->number > b->number) - (a->number < b->number);
    return *(const int *)user * order;
}

/* 7 i mod 1009 takes every number below 1009 once: the places of 0, 1, 2 … are known. */
static void first_ones_stand_in_order(void **state) {
    enum { N = 1009 };
    static const size_t counts[] = {0, 1, 3, 100, 251, 252, 253, 1008, 1009, 5000};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (int way = -1; way < 2; way += 2) {
            thing things[N];
            for (uint32_t i = 0; i < N; i++) things[i] = (thing){7 * i % N, i};
            as_sort_first(things, N, sizeof *things, counts[k], compare, &way);
            for (uint32_t i = 0; i < N && i < counts[k]; i++) {
                assert_int_equal(things[i].number, way > 0 ? i : N - 1 - i);
                assert_int_equal(7 * things[i].other % N, things[i].number);
            }
        }
    }
}

static void few_and_none(void **state) {
    (void)state;
    int up = 1;
    thing one = {5, 6};
    as_sort_first(NULL, 0, sizeof one, 10, compare, &up);
    as_sort_first(&one, 1, sizeof one, 10, compare, &up);
    assert_int_equal(one.number, 5);
    assert_int_equal(one.other, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_ones_stand_in_order), cmocka_unit_test(few_and_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
