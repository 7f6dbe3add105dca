/* Time lines of intervals: nesting, gaps, sections in lanes, pauses, several runs and places, windows; on events
 * written down by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/trace/timeline.h"
#include "traces.h"

/* main > (f > g), h; sections s and t */
enum { MAIN, F, G, H, S, T };
#define SECOND 1000000000u

static as_dataset *ds;
static as_timeline timeline;

static int make(void **state) {
    (void)state;
    ds = as_dataset_new(0);
    as_tree tree;
    as_tree_init(&tree, ds);
    static const char *const paths[] = {"main", "main->f", "main->f->g", "main->h", "s", "t"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) as_tree_path(&tree, paths[i], strlen(paths[i]));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    for (int i = 0; i < 2; i++) {
        as_run run = AS_RUN_INIT;
        run.start_time = 1000 + 10 * i;
        as_add_run(ds, &run);
    }
    timeline = (as_timeline){0};
    return 0;
}

static int unmake(void **state) {
    (void)state;
    as_timeline_free(&timeline);
    as_dataset_free(ds);
    return 0;
}

static void add(const char *kind, assay_id run, assay_id context, double start, double end) {
    as_event event = {.source_id = AS_NO_STR,
                      .name = context == ASSAY_NONE ? AS_NO_STR : as_ds_context(ds, context)->name,
                      .kind = as_ds_intern_text(ds, kind),
                      .run = run,
                      .location = ASSAY_NONE,
                      .context = context,
                      .start = start,
                      .end = end,
                      .start_raw = as_cell_null(),
                      .end_raw = as_cell_null()};
    assert_true(as_add_event(ds, &event));
}

static void build(as_timeline_choice choice) {
    assay_error error;
    as_timeline_free(&timeline);
    assert_int_equal(as_timeline_of(ds, &choice, &timeline, &error), ASSAY_OK);
}

/* A row's changes: pairs of seconds and contexts. */
static void check_row(size_t row, const double *expected, size_t n) {
    const as_timeline_row *r = &timeline.rows[row];
    assert_true(row < timeline.n_rows);
    assert_int_equal(r->n_changes, n);
    assert_int_equal(timeline.lines[row].n, n);
    for (size_t i = 0; i < n; i++) {
        as_trace_sample sample;
        assay_error error;
        assert_int_equal(as_trace_read(ds, &timeline.lines[row], i, 1, &sample, &error), ASSAY_OK);
        if (as_clock_seconds(&timeline.clock, sample.time) != expected[2 * i] ||
            (double)(int32_t)sample.context != expected[2 * i + 1])
            fail_msg("row %zu, change %zu: %g %d, expected %g %g", row, i,
                     as_clock_seconds(&timeline.clock, sample.time), (int)sample.context, expected[2 * i],
                     expected[2 * i + 1]);
    }
}
#define CHECK_ROW(row, ...)                                                                                            \
    check_row(row, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double) / 2)

/* As signed numbers: see check_row(). */
enum { UNKNOWN = -1, NOTHING = -2, IDLE = -3, PAUSED = -4 };
static const as_timeline_choice all = {0};

static void the_innermost_is_shown(void **state) {
    (void)state;
    add("region", 0, F, 1, 4); /* in no order */
    add("region", 0, MAIN, 0, 10);
    add("region", 0, G, 1, 2);
    add("region", 0, H, 4, 10);
    add("region", 0, MAIN, 12, 13);
    build(all);
    assert_int_equal(timeline.n_rows, 1);
    assert_int_equal(timeline.n_intervals, 5);
    /* h ends with main, f begins with g */
    CHECK_ROW(0, 0, MAIN, 1, F, 1, G, 2, F, 4, MAIN, 4, H, 10, IDLE, 12, MAIN, 13, MAIN);
}

static void what_overlaps_without_nesting_is_shown_to_its_end(void **state) {
    (void)state;
    add("region", 0, F, 0, 10);
    add("region", 0, H, 5, 15);
    add("region", 0, MAIN, 20, NAN); /* a moment */
    add("region", 0, G, 30, 29);     /* ends before it begins */
    build(all);
    CHECK_ROW(0, 0, F, 5, H, 15, IDLE, 20, MAIN, 20, IDLE, 30, G, 30, G);
}

static void sections_have_lanes(void **state) {
    (void)state;
    add("section", 0, S, 0, 4);
    add("section", 0, S, 1, 2);
    add("section", 0, T, 1, 3);
    add("section", 0, S, 2, 3);
    add("section", 0, S, 4, 5);
    add("section", 0, S, 7, 8);
    build(all);
    assert_int_equal(timeline.n_rows, 3);
    /* one ends when the next begins */
    CHECK_ROW(0, 0, S, 4, NOTHING, 4, S, 5, NOTHING, 7, S, 8, S);
    CHECK_ROW(1, 1, S, 2, NOTHING, 2, S, 3, S);
    CHECK_ROW(2, 1, T, 3, T);
    assert_int_equal(timeline.rows[0].section, S);
    assert_int_equal(timeline.rows[1].section, S);
    assert_int_equal(timeline.rows[1].lane, 1);
    assert_int_equal(timeline.rows[1].n_intervals, 2);
    assert_int_equal(timeline.rows[2].section, T);
}

/* Calls of the OS runtime and samples lie within anything, ranges need not nest: rows beside that of the place. */
static void tracks_have_rows_of_their_own(void **state) {
    (void)state;
    add("api", 0, MAIN, 0, 10);
    add("osrt", 0, F, 1, 4);
    add("osrt", 0, G, 2, 3); /* in f */
    add("nvtx", 0, H, 2, 6);
    add("nvtx", 0, H, 4, 8);
    add("nvtx", 0, G, 5, 9); /* pushed and popped */
    assert_true(as_add_attribute(ds, AS_OWNER_EVENT, 3, "style", as_cell_text("StartEnd")));
    assert_true(as_add_attribute(ds, AS_OWNER_EVENT, 4, "style", as_cell_text("StartEnd")));
    assert_true(as_add_attribute(ds, AS_OWNER_EVENT, 5, "style", as_cell_text("PushPop")));
    /* Samples one second apart, but for the last but one: f lasts 2 s there, twice what is usual */
    add("sample", 0, MAIN, 0, NAN);
    add("sample", 0, F, 1, NAN);
    add("sample", 0, MAIN, 2, NAN);
    add("sample", 0, F, 3, NAN);
    add("sample", 0, G, 9, NAN);
    build(all);
    assert_int_equal(timeline.n_rows, 5);
    CHECK_ROW(0, 0, MAIN, 5, G, 9, MAIN, 10, MAIN);
    CHECK_ROW(1, 2, H, 6, H);
    CHECK_ROW(2, 4, H, 8, H);
    CHECK_ROW(3, 1, F, 2, G, 3, F, 4, F);
    CHECK_ROW(4, 0, MAIN, 1, NOTHING, 1, F, 2, NOTHING, 2, MAIN, 3, NOTHING, 3, F, 5, NOTHING, 9, G, 9, G);
    static const as_track tracks[] = {AS_TRACK_NESTED, AS_TRACK_RANGES, AS_TRACK_RANGES, AS_TRACK_OSRT,
                                      AS_TRACK_SAMPLES};
    for (size_t i = 0; i < 5; i++) assert_int_equal(timeline.rows[i].track, tracks[i]);
    assert_int_equal(timeline.rows[2].lane, 1);
}

static void places_in_an_order(void **state) {
    (void)state;
    static const uint32_t order[] = {2, 0, 1};
    for (int i = 0; i < 3; i++) add_place(ds, "stream", "s");
    for (assay_id i = 0; i < 3; i++) {
        add("kernel", 0, F, i, i + 1);
        AS_AT(as_event, &ds->events, i).location = i;
    }
    build((as_timeline_choice){.order = order});
    assert_int_equal(timeline.n_rows, 3);
    for (assay_id i = 0; i < 3; i++) assert_int_equal(order[timeline.rows[i].location], i);
}

static void lanes_are_not_endless(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) add("section", 0, S, i, 1000);
    build(all);
    assert_int_equal(timeline.n_rows, 64);
    assert_int_equal(timeline.n_hidden, 36);
    assert_int_equal(timeline.n_intervals, 64);
}

static void pauses_lie_over_all_rows_of_the_run(void **state) {
    (void)state;
    add("region", 0, MAIN, 1, 10);
    add("region", 0, F, 2, 4);
    add("section", 0, S, 5, 7);
    add("region", 1, MAIN, 0, 10);
    add("pause", 0, ASSAY_NONE, 3, 5);
    add("pause", 0, ASSAY_NONE, 4, 6);
    add("pause", 0, ASSAY_NONE, 11, 12);
    build(all);
    assert_int_equal(timeline.n_rows, 3);
    assert_int_equal(timeline.n_pauses, 3);
    CHECK_ROW(0, 1, MAIN, 2, F, 3, PAUSED, 6, MAIN, 10, NOTHING, 11, PAUSED, 12, PAUSED);
    CHECK_ROW(1, 5, PAUSED, 6, S, 7, S);
    CHECK_ROW(2, 0, MAIN, 10, MAIN);
    add("pause", 1, ASSAY_NONE, -2, -1);
    build(all);
    CHECK_ROW(2, -2, PAUSED, -1, NOTHING, 0, MAIN, 10, MAIN);
}

/* One pause in each second of an hour, and a section that lasts as long. */
static void many_pauses_are_in_the_first_row_only(void **state) {
    (void)state;
    add("region", 0, MAIN, 0, 3600);
    add("section", 0, S, 0, 3600);
    for (int i = 0; i < 3600; i++) add("pause", 0, ASSAY_NONE, i + 0.25, i + 0.5);
    build(all);
    assert_int_equal(timeline.n_pauses, 3600);
    assert_int_equal(timeline.rows[0].n_changes, 2 * 3600 + 2);
    CHECK_ROW(1, 0, S, 3600, S);
}

static void runs_begin_at_zero_or_when_they_did(void **state) {
    (void)state;
    add("region", 0, MAIN, 1, 2);
    add("region", 1, MAIN, 0.5, 3);
    build(all);
    CHECK_ROW(0, 1, MAIN, 2, MAIN);
    CHECK_ROW(1, 0.5, MAIN, 3, MAIN);
    build((as_timeline_choice){.by_wallclock = true});
    CHECK_ROW(0, 1, MAIN, 2, MAIN);
    CHECK_ROW(1, 10.5, MAIN, 13, MAIN);
    const bool second[] = {false, true};
    build((as_timeline_choice){.runs = second, .by_wallclock = true});
    assert_int_equal(timeline.n_rows, 1);
    CHECK_ROW(0, 0.5, MAIN, 3, MAIN);
}

static void places_have_rows(void **state) {
    (void)state;
    assay_id places[] = {add_place(ds, "thread", "t0"), add_place(ds, "thread", "t1")};
    for (int i = 1; i >= 0; i--) {
        add("kernel", 0, F, i, i + 1);
        AS_AT(as_event, &ds->events, ds->events.count - 1).location = places[i];
    }
    add("region", 0, MAIN, 0, 2);
    build(all);
    assert_int_equal(timeline.n_rows, 3);
    assert_int_equal(timeline.rows[0].location, ASSAY_NONE);
    assert_int_equal(timeline.rows[1].location, places[0]);
    CHECK_ROW(2, 1, F, 2, F);
    const bool first[] = {true, false};
    build((as_timeline_choice){.locations = first});
    assert_int_equal(timeline.n_rows, 1);
    CHECK_ROW(0, 0, F, 1, F);
}

static void times_of_centuries_fit(void **state) {
    (void)state;
    add("region", 0, MAIN, -5e18, 1.8e19);
    add("region", 0, F, NAN, 1);
    add("region", 0, F, INFINITY, 1);
    add("region", 7, F, 0, 1); /* of a run that is not there */
    build(all);
    assert_int_equal(timeline.n_rows, 1);
    assert_int_equal(timeline.n_intervals, 1);
    as_trace_sample ends[2];
    assay_error error;
    assert_int_equal(as_trace_read(ds, &timeline.lines[0], 0, 2, ends, &error), ASSAY_OK);
    assert_true(ends[0].time == 0);
    assert_true(fabs(as_clock_seconds(&timeline.clock, ends[1].time) / 1.8e19 - 1) < 1e-9);
}

static void times_and_counts_are_those_of_intervals(void **state) {
    (void)state;
    add("region", 0, MAIN, 0, 10);
    add("region", 0, F, 1, 5);
    add("region", 0, G, 2, 3);
    add("region", 0, G, 3, 4);
    add("region", 0, MAIN, 14, 16);
    add("section", 0, S, 0, 2);
    add("section", 0, S, 8, 16);
    add("pause", 0, ASSAY_NONE, 6, 8);
    build(all);
    assert_int_equal(timeline.n_rows, 2);
    const as_trace_line *lines[] = {&timeline.lines[0], &timeline.lines[1]};
    const bool stamped[] = {true, true};
    as_trace_window window = {.lines = lines,
                              .n_lines = 2,
                              .from = 2 * (uint64_t)SECOND,
                              .to = 15 * (uint64_t)SECOND,
                              .are_stamped = stamped};
    as_frames frames;
    as_trace_times times;
    assay_error error;
    assert_int_equal(as_frames_at(ds, 2, false, &frames, &error), ASSAY_OK);
    assert_int_equal(as_trace_times_of(ds, &window, &frames, 0, &times, &error), ASSAY_OK);
    assert_true(as_timeline_count(&timeline, &window, &frames, &times));
    /* main 5-6, 8-10 and 14-15; f, with both g, 2-5; paused 6-8; nothing 10-14 */
    static const struct {
        uint32_t procedure;
        double seconds;
        uint64_t n;
    } expected[] = {{AS_PROCEDURE_IDLE, 4, 0}, {3, 4, 1}, {4, 3, 0}, {AS_PROCEDURE_PAUSED, 2, 1}};
    assert_int_equal(times.lines[0].n_procedures, 4);
    for (size_t i = 0; i < 4; i++) {
        const as_procedure_time *p = &times.lines[0].procedures[i];
        bool is_found = false;
        for (size_t k = 0; k < 4; k++) {
            if (expected[k].procedure != p->procedure) continue;
            is_found = true;
            assert_true(p->ticks == expected[k].seconds * SECOND);
            assert_int_equal(p->n_samples, expected[k].n);
        }
        assert_true(is_found);
    }
    assert_int_equal(times.lines[0].n_samples, 3); /* both g and the second main */
    assert_true(times.lines[0].first == window.from && times.lines[0].last == window.to);
    assert_true(times.lines[0].longest_gap == 4.0 * SECOND && times.lines[0].gap_at == 10 * (uint64_t)SECOND);
    assert_int_equal(times.lines[1].n_samples, 1); /* the one that begins at 8 */
    assert_true(times.lines[1].ticks == 7.0 * SECOND && times.lines[1].longest_gap == 6.0 * SECOND);
    assert_int_equal(times.all.n_samples, 4);
    assay_id cells[2 * 13];
    assert_int_equal(as_trace_picture(ds, &window, 13, cells, &error), ASSAY_OK);
    static const int drawn[] = {G,       G,    F,    MAIN, PAUSED,  PAUSED,  MAIN,    MAIN,    IDLE,
                                IDLE,    IDLE, IDLE, MAIN, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
                                NOTHING, S,    S,    S,    S,       S,       S,       S};
    for (size_t i = 0; i < 26; i++) assert_int_equal((int32_t)cells[i], drawn[i]);
    /* at depth 2, two seconds a column; in the first and the third there are two of a second each */
    window.from = 0;
    window.to = 16 * (uint64_t)SECOND;
    assert_true(as_timeline_picture(&timeline, &window, &frames, 8, cells));
    static const int longest[] = {MAIN, F, F, PAUSED, MAIN, IDLE, IDLE, MAIN, S, NOTHING, NOTHING, NOTHING, S, S, S, S};
    for (size_t i = 0; i < 16; i++) assert_int_equal((int32_t)cells[i], longest[i]);
    as_trace_times_free(&times);
    as_frames_free(&frames);
}

/* Whatever happens in the middle of the columns. */
static void pictures_show_what_lasts_longest(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        add("region", 0, MAIN, 10 * i, 10 * i + 10);
        add("region", 0, H, 10 * i + 4, 10 * i + 7);
        add("section", 0, S, 10 * i + 1, 10 * i + 2);
    }
    add("section", 0, T, 33, NAN);
    build(all);
    as_frames frames;
    assay_error error;
    assay_id cells[3 * 10];
    as_trace_window window = {.n_lines = 3, .from = 0, .to = 100 * (uint64_t)SECOND};
    assert_int_equal(as_frames_at(ds, AS_DEEPEST, false, &frames, &error), ASSAY_OK);
    assert_true(as_timeline_picture(&timeline, &window, &frames, 10, cells));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(cells[i], MAIN);
        assert_int_equal(cells[10 + i], S);
        assert_int_equal(cells[20 + i], i == 3 ? T : AS_TRACE_NOTHING);
    }
    window.from = window.to = 5 * (uint64_t)SECOND; /* a moment: h, and no section */
    assert_true(as_timeline_picture(&timeline, &window, &frames, 2, cells));
    assert_true(cells[0] == H && cells[1] == H && cells[2] == AS_TRACE_NOTHING && cells[4] == AS_TRACE_NOTHING);
    window.from = 3;
    window.to = 5; /* fewer time stamps than columns */
    assert_true(as_timeline_picture(&timeline, &window, &frames, 10, cells));
    for (int i = 0; i < 10; i++) assert_true(cells[i] == MAIN && cells[10 + i] == AS_TRACE_NOTHING);
    as_frames_free(&frames);
}

/* Of many in one column only some are looked at; few are all looked at. */
static void a_glance_shows_what_lasts_longest(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        bool is_late = i >= 10000; /* h has two thirds of the first half, f of the second */
        add("section", 0, S, 3 * i, 3 * i + (is_late ? 1 : 2));
        add("section", 0, S, 3 * i + (is_late ? 1 : 2), 3 * i + 3);
        add("region", 0, is_late ? F : H, 3 * i, 3 * i + 2);
        add("region", 0, MAIN, 3 * i + 2, 3 * i + 3);
    }
    build(all);
    as_frames frames;
    assay_error error;
    assay_id seen[2 * 40], glanced[2 * 40];
    as_trace_window window = {.n_lines = timeline.n_rows, .from = 0, .to = 60000 * (uint64_t)SECOND};
    assert_int_equal(timeline.n_rows, 2);
    assert_int_equal(as_frames_at(ds, AS_DEEPEST, false, &frames, &error), ASSAY_OK);
    assert_true(as_timeline_glance(&timeline, &window, &frames, 4, glanced)); /* 10,000 changes a column */
    static const assay_id expected[] = {H, H, F, F};
    for (size_t i = 0; i < 4; i++) assert_int_equal(glanced[i], expected[i]);
    for (size_t i = 4; i < 8; i++) assert_int_equal(glanced[i], S);
    window.from = 29000 * (uint64_t)SECOND;
    window.to = 31000 * (uint64_t)SECOND;
    assert_true(as_timeline_picture(&timeline, &window, &frames, 40, seen));
    assert_true(as_timeline_glance(&timeline, &window, &frames, 40, glanced));
    assert_memory_equal(seen, glanced, sizeof seen);
    assert_true(seen[0] == H && seen[39] == F);
    as_frames_free(&frames);
}

/* Interval i, of f and h by turns, from i * i * i milliseconds on for half a millisecond: short steps and long ones,
 * many to a block. */
static void any_of_many_changes_is_found(void **state) {
    (void)state;
    enum { N = 1000, FROM = 63, COUNT = 300 };
    as_trace_sample read[COUNT];
    assay_error error;
    for (int i = N - 1; i >= 0; i--) /* the last first: somebody has to sort them */
        add("region", 0, i % 2 ? F : H, 1e-3 * i * i * i, 1e-3 * i * i * i + 5e-4);
    build(all);
    assert_int_equal(timeline.n_rows, 1);
    assert_int_equal(timeline.lines[0].n, 2 * N);
    assert_int_equal(as_trace_read(ds, &timeline.lines[0], FROM, COUNT, read, &error), ASSAY_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t number = (FROM + i) / 2, end = (FROM + i) % 2;
        assert_int_equal(read[i].time, number * number * number * 1000000 + end * 500000);
        assert_int_equal((int32_t)read[i].context, end ? IDLE : number % 2 ? F : H);
    }
    /* In the middle of interval 500, at its beginning, and before and behind all */
    static const uint64_t when[] = {125000000250000u, 125000000000000u, 0, 999000000000000u};
    static const int seen[] = {H, H, H, NOTHING};
    for (size_t i = 0; i < 4; i++) {
        assay_id cell;
        as_trace_window window = {.n_lines = 1, .from = when[i], .to = when[i]};
        assert_true(as_timeline_moments(&timeline, &window, 1, &cell));
        assert_int_equal((int32_t)cell, seen[i]);
    }
    size_t first, end;
    as_row_intervals(&timeline, &timeline.rows[0], 8000000, 27000000, &first, &end);
    assert_true(first == 2 && end == 4);
    as_interval interval = as_row_interval(&timeline, &timeline.rows[0], 999);
    assert_true(interval.start == 997002999000000u && interval.end == 997002999500000u && interval.context == F);
    assert_true(as_timeline_size(&timeline) < 30000); /* as they are they would take 56,000 bytes */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_of_many_changes_is_found, make, unmake),
        cmocka_unit_test_setup_teardown(a_glance_shows_what_lasts_longest, make, unmake),
        cmocka_unit_test_setup_teardown(the_innermost_is_shown, make, unmake),
        cmocka_unit_test_setup_teardown(what_overlaps_without_nesting_is_shown_to_its_end, make, unmake),
        cmocka_unit_test_setup_teardown(sections_have_lanes, make, unmake),
        cmocka_unit_test_setup_teardown(tracks_have_rows_of_their_own, make, unmake),
        cmocka_unit_test_setup_teardown(places_in_an_order, make, unmake),
        cmocka_unit_test_setup_teardown(lanes_are_not_endless, make, unmake),
        cmocka_unit_test_setup_teardown(pauses_lie_over_all_rows_of_the_run, make, unmake),
        cmocka_unit_test_setup_teardown(many_pauses_are_in_the_first_row_only, make, unmake),
        cmocka_unit_test_setup_teardown(runs_begin_at_zero_or_when_they_did, make, unmake),
        cmocka_unit_test_setup_teardown(places_have_rows, make, unmake),
        cmocka_unit_test_setup_teardown(times_of_centuries_fit, make, unmake),
        cmocka_unit_test_setup_teardown(pictures_show_what_lasts_longest, make, unmake),
        cmocka_unit_test_setup_teardown(times_and_counts_are_those_of_intervals, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
