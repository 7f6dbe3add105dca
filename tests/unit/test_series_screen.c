/* What the screen of series rules out must never be above the level, whatever the values are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/verdict/segments.h"
#include "core/random.h"

enum { LONGEST = 120, SERIES = 4000, KINDS = 6 };

static double value_of(uint64_t *state, int kind, size_t i, size_t n) {
    double even = as_random_part(state), noise = as_random_normal(state) / 2;
    switch (kind) {
    case 0: return 100 + noise;
    case 1: return 100 + 20 * noise + (i >= n / 3 ? 15 : 0);
    case 2: return even < 0.5 ? 0 : 1;
    case 3: return 1e9 * (1 + noise / (even + 0.01));
    case 4: return (i < n / 2 ? 1e-8 : 1) * (1 + noise); /* a half whose squares are lost beside the other's */
    default: return i < n / 2 ? 10 : 12;                 /* no noise at all */
    }
}

struct tried {
    double values[LONGEST], raw[LONGEST], room[2 * LONGEST + 2];
    float scaled[LONGEST + 1];
    as_segment_test segment;
};

static void fill(struct tried *t, uint64_t *state, int kind) {
    size_t n = 6 + as_random_below(state, LONGEST - 5);
    t->segment = (as_segment_test){.n = n, .values = t->values, .shortest = AS_SHORTEST_LEVEL};
    t->segment.threshold = (double)as_random_below(state, 3) * 0.03;
    for (size_t i = 0; i < n; i++) t->raw[i] = value_of(state, kind, i, n);
    as_segment_prepare(&t->segment, t->raw, t->room, as_random_below(state, 2) == 0);
}

static void rules_out_only_what_is_below(void **unused) {
    (void)unused;
    static const double factors[] = {0, 0.5, 0.97, 1 - 1e-9, 1, 1 + 1e-9, 1.03, 1.2, 2};
    enum { FACTORS = sizeof factors / sizeof *factors };
    uint64_t state = 17;
    size_t ruled_out[FACTORS] = {0};
    as_arena arena;
    as_screen screen;
    as_bar bar = {0};
    static struct tried t;
    as_arena_init(&arena, NULL);
    assert_true(as_screen_make(&arena, LONGEST, &screen));
    for (size_t i = 0; i < SERIES; i++) {
        as_split split;
        fill(&t, &state, (int)(i % KINDS));
        double statistic = as_segment_statistic(&t.segment, t.room, &split);
        for (size_t f = 0; f < FACTORS; f++) {
            double level = factors[f] * (statistic > 0 ? statistic : 3);
            bool may =
                as_segment_may_reach(&screen, &t.segment, t.room, t.room + t.segment.n + 1, level, &bar, t.scaled);
            ruled_out[f] += !may;
            if (!may) assert_true(statistic <= level);
        }
    }
    as_arena_free(&arena);
    /* It is of use: what is a fifth below the level is mostly seen to be so. */
    assert_true(ruled_out[7] > SERIES / 2);
    assert_true(ruled_out[8] > SERIES / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rules_out_only_what_is_below)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
