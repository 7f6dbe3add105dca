/* Time lines: frames at a depth, which sample owns which time, pictures and times, on lines written down by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/trace/trace.h"
#include "traces.h"

/* root > entry > main > (loop > solve > line), (call site > write); entry > <no activity> */
enum { ROOT, ENTRY, MAIN, LOOP, SOLVE, LINE, SITE, WRITE, NO_ACTIVITY, LOST, N_CONTEXTS };

static as_dataset *ds;

static void add_context(assay_id parent, const char *kind, const char *name, as_context_role role) {
    as_region region = AS_REGION_INIT;
    region.kind = as_ds_intern_text(ds, kind);
    region.name = as_ds_intern_text(ds, name);
    as_context *context = as_vec_push(&ds->contexts);
    assert_non_null(context);
    *context = (as_context){.source_id = AS_NO_STR,
                            .name = region.name,
                            .parent = parent,
                            .region = as_add_region(ds, &region),
                            .depth = parent == ASSAY_NONE ? 0 : as_ds_context(ds, parent)->depth + 1,
                            .line = -1,
                            .role = (uint8_t)role};
}

static int make(void **state) {
    (void)state;
    ds = as_dataset_new(0);
    add_context(ASSAY_NONE, "root", "<root>", AS_ROLE_CALL);
    add_context(ROOT, "entry", "entry", AS_ROLE_CALL);
    add_context(ENTRY, "function", "main", AS_ROLE_CALL);
    add_context(MAIN, "loop", "loop at a.c:3", AS_ROLE_INNER);
    add_context(LOOP, "function", "solve", AS_ROLE_CALL);
    add_context(SOLVE, "line", "line a.c:9", AS_ROLE_INNER);
    add_context(MAIN, "call", "call a.c:5", AS_ROLE_CALL_SITE);
    add_context(SITE, "function", "write", AS_ROLE_CALL);
    add_context(ENTRY, "function", "<no activity>", AS_ROLE_CALL);
    as_context *lost = as_vec_push(&ds->contexts);
    *lost = (as_context){.source_id = AS_NO_STR,
                         .name = as_ds_intern_text(ds, "<context 7>"),
                         .parent = ASSAY_NONE,
                         .region = ASSAY_NONE,
                         .role = AS_ROLE_PLACELESS};
    ds->traces.ticks_per_second = 1000;
    return 0;
}

static int unmake(void **state) {
    (void)state;
    as_dataset_free(ds);
    return 0;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void check_frames(uint32_t depth, bool all_contexts, const char *const names[N_CONTEXTS], uint32_t deepest) {
    as_frames frames;
    assay_error error;
    assert_int_equal(as_frames_at(ds, depth, all_contexts, &frames, &error), ASSAY_OK);
    for (assay_id id = 0; id < N_CONTEXTS; id++)
        assert_string_equal(frames.procedures[as_procedure_of(&frames, id)].name, names[id]);
    assert_string_equal(frames.procedures[as_procedure_of(&frames, ASSAY_NONE)].name, "<unknown>");
    assert_int_equal(as_procedure_of(&frames, ROOT), AS_PROCEDURE_IDLE);
    assert_int_equal(frames.deepest, deepest);
    as_frames_free(&frames);
}

static void frames_are_calls(void **state) {
    (void)state;
    static const char *const one[] = {"<no activity>", "entry", "entry", "entry", "entry",
                                      "entry",         "entry", "entry", "entry", "<context 7>"};
    static const char *const two[] = {"<no activity>", "entry", "main", "main",          "main",
                                      "main",          "main",  "main", "<no activity>", "<context 7>"};
    static const char *const deep[] = {"<no activity>", "entry", "main",  "main",          "solve",
                                       "solve",         "main",  "write", "<no activity>", "<context 7>"};
    check_frames(1, false, one, 3);
    check_frames(2, false, two, 3);
    check_frames(3, false, deep, 3);
    check_frames(AS_DEEPEST, false, deep, 3);
}

static void all_contexts_may_count(void **state) {
    (void)state;
    static const char *const three[] = {"<no activity>", "entry",      "main",       "loop at a.c:3", "loop at a.c:3",
                                        "loop at a.c:3", "call a.c:5", "call a.c:5", "<no activity>", "<context 7>"};
    check_frames(3, true, three, 5);
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static const as_trace_line *lines[8];

static as_trace_window window_of(uint64_t from, uint64_t to, as_trace_rule rule) {
    size_t n = as_trace_line_count(&ds->traces);
    for (size_t i = 0; i < n; i++) lines[i] = as_trace_line_at(&ds->traces, i);
    return (as_trace_window){.lines = lines, .n_lines = n, .from = from, .to = to, .rule = rule};
}

/* Cells as letters: r e m s w n, '?' unknown, ' ' nothing. Lines are separated by '|'. */
static void check_picture(as_trace_window window, size_t n_columns, const char *expected) {
    static const char letters[N_CONTEXTS + 1] = "remlsLSwnx";
    assay_id cells[256];
    char got[300];
    size_t at = 0;
    assay_error error;
    assert_true(window.n_lines * n_columns <= 256);
    assert_int_equal(as_trace_picture(ds, &window, n_columns, cells, &error), ASSAY_OK);
    for (size_t i = 0; i < window.n_lines * n_columns; i++) {
        if (i && i % n_columns == 0) got[at++] = '|';
        got[at++] = cells[i] == AS_TRACE_NOTHING ? ' ' : cells[i] == ASSAY_NONE ? '?' : letters[cells[i]];
    }
    got[at] = '\0';
    assert_string_equal(got, expected);
}

static void add_lines(void) {
    static const as_trace_sample plain[] = {{100, MAIN}, {140, SOLVE}, {180, WRITE}, {200, ROOT}};
    static const as_trace_sample one[] = {{155, SOLVE}};
    static const as_trace_sample equal[] = {{100, MAIN}, {150, SOLVE}, {150, WRITE}, {150, ASSAY_NONE}, {200, MAIN}};
    static const as_trace_sample back[] = {{180, WRITE}, {100, MAIN}, {200, ROOT}, {140, SOLVE}};
    add_line(ds, 0, add_place(ds, "thread", "0"), plain, 4);
    add_line(ds, 0, add_place(ds, "thread", "1"), NULL, 0);
    add_line(ds, 0, add_place(ds, "thread", "2"), one, 1);
    add_line(ds, 0, add_place(ds, "thread", "3"), equal, 5);
    add_line(ds, 0, add_place(ds, "thread", "4"), back, 4);
}

/* Middles of ten columns of 100 … 200: 105, 115 … 195. Mid-points of the first line: 120, 160, 190; of the fourth: 125
 * and 175. */
static void samples_own_the_time_around_them(void **state) {
    (void)state;
    add_lines();
    check_picture(window_of(100, 200, AS_TRACE_NEAREST), 10, "mmsssswwwr|          |     s    |mmsss??mmm|mmsssswwwr");
    check_picture(window_of(100, 200, AS_TRACE_BEFORE), 10, "mmmmssssww|          |     s    |mmmmm?????|mmmmssssww");
}

/* Exactly at a mid-point (120) time belongs to the later sample; in a window of nothing but a moment all columns are
 * the same. */
static void mid_points_belong_to_the_later_sample(void **state) {
    (void)state;
    static const as_trace_sample plain[] = {{100, MAIN}, {140, SOLVE}, {180, WRITE}};
    add_line(ds, 0, add_place(ds, "thread", "0"), plain, 3);
    check_picture(window_of(119, 121, AS_TRACE_NEAREST), 1, "s");
    check_picture(window_of(118, 120, AS_TRACE_NEAREST), 1, "m");
    check_picture(window_of(140, 140, AS_TRACE_NEAREST), 3, "sss");
    check_picture(window_of(139, 139, AS_TRACE_BEFORE), 2, "mm");
    check_picture(window_of(300, 400, AS_TRACE_NEAREST), 2, "  ");
    check_picture(window_of(0, UINT64_MAX, AS_TRACE_NEAREST), 2, "m ");
}

static void spans_cover_all_lines(void **state) {
    (void)state;
    add_lines();
    assay_error error;
    bool has_any;
    for (int is_glance = 0; is_glance < 2; is_glance++) {
        as_trace_window window = window_of(0, 0, AS_TRACE_NEAREST);
        assert_int_equal(as_trace_span(ds, &window, is_glance, &has_any, &error), ASSAY_OK);
        assert_true(has_any);
        assert_int_equal(window.from, 100);
        assert_int_equal(window.to, 200);
    }
    as_trace_window nothing = window_of(0, 0, AS_TRACE_NEAREST);
    nothing.lines++;
    nothing.n_lines = 1;
    assert_int_equal(as_trace_span(ds, &nothing, false, &has_any, &error), ASSAY_OK);
    assert_false(has_any);
    assert_int_equal(as_trace_prepare(ds, &error), ASSAY_OK);
    as_trace_clock clock = as_trace_clock_of(ds);
    assert_int_equal(as_clock_stamp(&clock, 0.0504), 150);
    assert_int_equal(as_clock_stamp(&clock, -0.04), 60);
    assert_int_equal(as_clock_stamp(&clock, -1), 0);
    assert_true(as_clock_stamp(&clock, 1e300) == UINT64_MAX);
    assert_true(as_clock_seconds(&clock, 150) == 0.05 && as_clock_seconds(&clock, 60) == -0.04);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static as_trace_times times_of(as_trace_window window, uint32_t depth, size_t n_bins, as_frames *frames) {
    as_trace_times times;
    assay_error error;
    assert_int_equal(as_frames_at(ds, depth, false, frames, &error), ASSAY_OK);
    assert_int_equal(as_trace_times_of(ds, &window, frames, n_bins, &times, &error), ASSAY_OK);
    return times;
}

/* "name samples ticks" of each. */
static void check_times(const as_frames *frames, const as_line_times *line, const char *expected) {
    char got[512] = "";
    for (size_t i = 0; i < line->n_procedures; i++) {
        const as_procedure_time *p = &line->procedures[i];
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s %d %g", i ? ", " : "",
                 frames->procedures[p->procedure].name, (int)p->n_samples, p->ticks);
    }
    assert_string_equal(got, expected);
}

static void times_are_exact(void **state) {
    (void)state;
    add_lines();
    as_frames frames;
    as_trace_times times = times_of(window_of(100, 200, AS_TRACE_NEAREST), AS_DEEPEST, 2, &frames);
    check_times(&frames, &times.lines[0], "solve 1 40, write 1 30, main 1 20, <no activity> 1 10");
    check_times(&frames, &times.lines[1], "");
    check_times(&frames, &times.lines[2], "solve 1 0");
    check_times(&frames, &times.lines[3], "main 2 50, <unknown> 1 25, solve 1 25, write 1 0");
    check_times(&frames, &times.lines[4], "solve 1 40, write 1 30, main 1 20, <no activity> 1 10");
    check_times(&frames, &times.all, "solve 4 105, main 4 90, write 3 60, <unknown> 1 25, <no activity> 2 20");
    assert_int_equal(times.lines[0].n_samples, 4);
    assert_int_equal(times.lines[0].first, 100);
    assert_int_equal(times.lines[0].last, 200);
    assert_true(times.lines[0].longest_gap == 40 && times.lines[0].gap_at == 100);
    assert_true(times.lines[3].longest_gap == 50 && times.lines[3].ticks == 100);
    assert_true(times.all.ticks == 300 && times.all.n_samples == 14);
    /* 100 … 150 and 150 … 200: solve has 30 + 10 twice, and 25 in the first half */
    assert_true(times.bins[0] == 85 && times.bins[1] == 20);
    assert_true(times.bin_ticks[0] == 150 && times.bin_ticks[1] == 150);
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

static void times_before_and_within(void **state) {
    (void)state;
    add_lines();
    as_frames frames;
    as_trace_times times = times_of(window_of(100, 200, AS_TRACE_BEFORE), 2, 0, &frames);
    check_times(&frames, &times.lines[0], "main 3 100, <no activity> 1 0");
    as_trace_times_free(&times);
    as_frames_free(&frames);
    /* From 150 to 170: solve owns up to 160, though its sample lies outside. */
    times = times_of(window_of(150, 170, AS_TRACE_NEAREST), AS_DEEPEST, 1, &frames);
    check_times(&frames, &times.lines[0], "solve 0 10, write 0 10");
    check_times(&frames, &times.lines[2], "solve 1 0");
    assert_int_equal(times.lines[0].n_samples, 0);
    as_trace_times_free(&times);
    as_frames_free(&frames);
    times = times_of(window_of(0, UINT64_MAX, AS_TRACE_NEAREST), AS_DEEPEST, 3, &frames);
    assert_true(times.all.ticks == 300 && times.bin_ticks[0] == 300);
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

static void times_of_a_picture_are_near(void **state) {
    (void)state;
    add_lines();
    as_trace_window window = window_of(100, 200, AS_TRACE_NEAREST);
    assay_id cells[50];
    assay_error error;
    as_frames frames;
    as_trace_times times;
    assert_int_equal(as_trace_picture(ds, &window, 10, cells, &error), ASSAY_OK);
    assert_int_equal(as_frames_at(ds, AS_DEEPEST, false, &frames, &error), ASSAY_OK);
    assert_int_equal(as_trace_times_seen(&window, &frames, cells, 10, 2, &times, &error), ASSAY_OK);
    check_times(&frames, &times.lines[0], "solve 0 40, write 0 30, main 0 20, <no activity> 0 10");
    assert_true(times.bin_ticks[0] == 150 && times.bins[0] == 90 && times.bins[1] == 30);
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

static void damage_is_told(void **state) {
    (void)state;
    add_lines();
    static const as_trace_sample some[] = {{100, MAIN}};
    add_line(ds, 0, add_place(ds, "thread", "5"), some, 1)->is_damaged = true;
    as_trace_window window = window_of(100, 200, AS_TRACE_NEAREST);
    assay_id cells[6];
    assay_error error;
    as_frames frames;
    as_trace_times times;
    assert_int_equal(as_trace_picture(ds, &window, 1, cells, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, "the line is cut off");
    assert_int_equal(as_frames_at(ds, 1, false, &frames, &error), ASSAY_OK);
    assert_int_equal(as_trace_times_of(ds, &window, &frames, 4, &times, &error), ASSAY_E_FORMAT);
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

/* ---- long lines, depths ------------------------------------------------------------------------------------------ */

static void pictures_read_little(void **state) {
    (void)state;
    enum { N = 1000000 };
    as_trace_sample *samples = malloc(N * sizeof *samples);
    for (uint32_t i = 0; i < N; i++) samples[i] = (as_trace_sample){10 * (uint64_t)i, i < N / 2 ? MAIN : SOLVE};
    line_source *source = add_line(ds, 0, add_place(ds, "thread", "0"), samples, N);
    check_picture(window_of(0, 10 * (uint64_t)(N - 1), AS_TRACE_NEAREST), 20, "mmmmmmmmmmssssssssss");
    assert_true(source->n_given < 20 * 45);
    free(samples);
}

static void the_telling_depth_is_the_first_that_shows_something(void **state) {
    (void)state;
    assay_error error;
    uint32_t depth;
    static const assay_id both[] = {SOLVE, WRITE, LINE, SOLVE, ROOT, AS_TRACE_NOTHING, WRITE, WRITE};
    static const assay_id above[] = {MAIN, SOLVE, WRITE, LOOP, NO_ACTIVITY};
    static const assay_id dull[] = {MAIN, MAIN, ROOT};
    assert_int_equal(as_trace_telling_depth(ds, both, 8, false, &depth, &error), ASSAY_OK);
    assert_int_equal(depth, 3);
    assert_int_equal(as_trace_telling_depth(ds, above, 5, false, &depth, &error), ASSAY_OK);
    assert_int_equal(depth, 3);
    assert_int_equal(as_trace_telling_depth(ds, dull, 3, false, &depth, &error), ASSAY_OK);
    assert_int_equal(depth, 3);
    assert_int_equal(as_trace_telling_depth(ds, NULL, 0, false, &depth, &error), ASSAY_OK);
    assert_int_equal(depth, 3);
}

/* process -> thread -> step -> call -> GPU k: on a thread step is the outermost frame, on a GPU the kernel is the only
 * one. */
static void frames_of_gpu_activities(void **state) {
    (void)state;
    static const char *const names[] = {"process", "thread", "step", "call", "GPU k"},
                             *const kinds[] = {"process", "thread", "nvtx", "api", "kernel"},
                             *const at_one[] = {"<no activity>", "<no activity>", "step", "step", "GPU k"},
                             *const at_two[] = {"<no activity>", "<no activity>", "step", "call", "GPU k"};
    as_dataset *gpu = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, gpu);
    for (assay_id i = 0; i < 5; i++) {
        as_region region = AS_REGION_INIT;
        region.name = as_ds_intern_text(gpu, names[i]);
        region.kind = as_ds_intern_text(gpu, kinds[i]);
        as_tree_child(&tree, i ? i - 1 : ASSAY_NONE, as_add_region(gpu, &region));
    }
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    for (uint32_t depth = 1; depth <= 2; depth++) {
        as_frames frames;
        assay_error error;
        assert_int_equal(as_frames_at(gpu, depth, false, &frames, &error), ASSAY_OK);
        for (assay_id i = 0; i < 5; i++)
            assert_string_equal(frames.procedures[as_procedure_of(&frames, i)].name, (depth == 1 ? at_one : at_two)[i]);
        assert_int_equal(frames.deepest, 2);
        assert_int_equal(frames.levels[4], 1);
        as_frames_free(&frames);
    }
    as_dataset_free(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_are_calls, make, unmake),
        cmocka_unit_test(frames_of_gpu_activities),
        cmocka_unit_test_setup_teardown(all_contexts_may_count, make, unmake),
        cmocka_unit_test_setup_teardown(samples_own_the_time_around_them, make, unmake),
        cmocka_unit_test_setup_teardown(mid_points_belong_to_the_later_sample, make, unmake),
        cmocka_unit_test_setup_teardown(spans_cover_all_lines, make, unmake),
        cmocka_unit_test_setup_teardown(times_are_exact, make, unmake),
        cmocka_unit_test_setup_teardown(times_before_and_within, make, unmake),
        cmocka_unit_test_setup_teardown(times_of_a_picture_are_near, make, unmake),
        cmocka_unit_test_setup_teardown(damage_is_told, make, unmake),
        cmocka_unit_test_setup_teardown(pictures_read_little, make, unmake),
        cmocka_unit_test_setup_teardown(the_telling_depth_is_the_first_that_shows_something, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
