/* Time lines as slices on tracks: which tracks there are, lanes, nesting, samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "formats/slices.h"
#include "interval_files.h"
#include "traces.h"

static uint32_t most_deep = UINT32_MAX;

/* ---- what is told, in words -------------------------------------------------------------------------------------- */

static bool say_begin(void *user, const as_slice_track *track, const as_time_slice *slice) {
    const as_dataset *ds = ((const as_slices *)((void **)user)[0])->ds;
    size_t size;
    (void)track;
    fprintf(((void **)user)[1], slice->is_moment ? " %s@%llu" : " %s[%llu", as_slice_name(ds, slice, &size),
            (unsigned long long)slice->start);
    return true;
}

static bool say_end(void *user, const as_slice_track *track, const as_time_slice *slice) {
    (void)track;
    fprintf(((void **)user)[1], " %llu]", (unsigned long long)slice->end);
    return true;
}

/* What as_slices_walk_all() tells, with a text for each track. */
typedef struct telling {
    const as_slices *slices;
    FILE **texts;
} telling;

static bool say_begin_of_any(void *user, const as_slice_track *track, const as_time_slice *slice) {
    const telling *t = user;
    void *one[] = {(void *)(uintptr_t)t->slices, t->texts[track - as_slice_track_at(t->slices, 0)]};
    return say_begin(one, track, slice);
}

static bool say_end_of_any(void *user, const as_slice_track *track, const as_time_slice *slice) {
    const telling *t = user;
    void *one[] = {(void *)(uintptr_t)t->slices, t->texts[track - as_slice_track_at(t->slices, 0)]};
    return say_end(one, track, slice);
}

/* All at once, without lists of events, tells of each track what is told of it alone. */
static void assert_same_at_once(const as_dataset *ds, char *const *alone) {
    as_slices slices;
    assay_error error;
    assert_int_equal(as_slices_open(ds, false, most_deep, &slices, &error), ASSAY_OK);
    size_t n = as_slice_track_count(&slices);
    assert_int_equal(slices.listed.capacity, 0);
    char **texts = calloc(n + 1, sizeof *texts);
    size_t *sizes = calloc(n + 1, sizeof *sizes);
    FILE **files = calloc(n + 1, sizeof *files);
    for (size_t i = 0; i < n; i++) files[i] = open_memstream(&texts[i], &sizes[i]);
    telling t = {&slices, files};
    as_slice_visitor visitor = {say_begin_of_any, say_end_of_any, &t};
    for (int turn = 0; turn < 2; turn++) { /* it can be told again */
        for (size_t i = 0; i < n; i++) rewind(files[i]);
        assert_int_equal(as_slices_walk_all(&slices, &visitor, &error), ASSAY_OK);
    }
    for (size_t i = 0; i < n; i++) {
        fclose(files[i]);
        assert_string_equal(texts[i], alone[i]);
        free(texts[i]);
    }
    free(texts);
    free(sizes);
    free(files);
    as_slices_close(&slices);
}

/* A line for each track: process/name: slices. To be freed. */
static char *tell(const as_dataset *ds, as_slices *slices) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assay_error error;
    assert_int_equal(as_slices_open(ds, true, most_deep, slices, &error), ASSAY_OK);
    as_vec process, name;
    as_vec_init(&process, 1, NULL);
    as_vec_init(&name, 1, NULL);
    char **alone = calloc(as_slice_track_count(slices) + 1, sizeof *alone);
    for (size_t i = 0; i < as_slice_track_count(slices); i++) {
        const as_slice_track *track = as_slice_track_at(slices, i);
        assert_true(as_slice_process_name(slices, track->process, &process));
        assert_true(as_slice_track_name(slices, track, &name));
        fprintf(out, "%s/%s:", (char *)process.data, (char *)name.data);
        size_t alone_size;
        FILE *one = open_memstream(&alone[i], &alone_size);
        void *user[] = {slices, one};
        as_slice_visitor visitor = {say_begin, say_end, user};
        assert_int_equal(as_slices_walk(slices, i, &visitor, &error), ASSAY_OK);
        fclose(one);
        fprintf(out, "%s\n", alone[i]);
    }
    assert_same_at_once(ds, alone);
    for (size_t i = 0; i < as_slice_track_count(slices); i++) free(alone[i]);
    free(alone);
    as_vec_free(&process);
    as_vec_free(&name);
    fclose(out);
    return text;
}

static void assert_told(const as_dataset *ds, const char *expected) {
    as_slices slices;
    char *text = tell(ds, &slices);
    assert_string_equal(text, expected);
    free(text);
    as_slices_close(&slices);
}

#define NS *1e-9

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static void intervals_are_told_as_they_nest(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    /* The inner ones first, and one that takes all the time of the one around it. */
    static const made_event made[] = {{0, "region", "a->b", 10 NS, 20 NS, NULL},
                                      {0, "region", "a->b->c", 10 NS, 20 NS, NULL},
                                      {0, "region", "a->b", 20 NS, 40 NS, NULL},
                                      {0, "region", "a", 0 NS, 100 NS, NULL},
                                      {0, "region", "d", 100 NS, 100 NS, NULL}};
    add_made_events(ds, made, 5);
    assert_told(ds, "run 0/regions: a[0 b[10 c[10 20] 20] b[20 40] 100] d[100 100]\n");
    as_dataset_free(ds);
}

static void what_overlaps_has_lanes(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    static const made_event made[] = {{0, "section", "s", 0 NS, 50 NS, NULL}, {0, "section", "s", 10 NS, 20 NS, NULL},
                                      {0, "section", "t", 5 NS, 60 NS, NULL}, {0, "section", "s", 50 NS, 70 NS, NULL},
                                      {0, "region", "a", 0 NS, 30 NS, NULL},  {0, "region", "b", 20 NS, 40 NS, NULL},
                                      {0, "region", "c", 30 NS, 40 NS, NULL}, {0, "pause", "p", 33 NS, 35 NS, NULL}};
    add_made_events(ds, made, 8);
    assert_told(ds, "run 0/regions: a[0 30] c[30 40]\n"
                    "run 0/regions (2): b[20 40]\n"
                    "run 0/s: s[0 50] s[50 70]\n"
                    "run 0/s (2): s[10 20]\n"
                    "run 0/t: t[5 60]\n"
                    "run 0/pauses: p[33 35]\n");
    as_dataset_free(ds);
}

static void times_begin_with_the_first_event(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    add_made_run(ds, NULL);
    static const made_event made[] = {{1, "region", "a", 0 NS, 30 NS, NULL},
                                      {0, "region", "a", -1000 NS, 30 NS, NULL},
                                      {0, "region", "m", 5 NS, NAN, NULL},
                                      {0, "region", "x", NAN, NAN, NULL},
                                      {7, "region", "y", 1 NS, 2 NS, NULL}};
    add_made_events(ds, made, 5);
    as_slices slices;
    char *text = tell(ds, &slices);
    assert_string_equal(text, "run 0/regions: a[0 m@1005 1030]\n"
                              "run 1/regions: a[1000 1030]\n");
    assert_int_equal(slices.n_left_out, 2);
    assert_int_equal(as_slice_track_at(&slices, 0)->pid, 1);
    assert_int_equal(as_slice_track_at(&slices, 0)->tid, 3);
    assert_int_equal(as_slice_track_at(&slices, 1)->pid, 2);
    assert_int_equal(as_slice_track_at(&slices, 1)->tid, 4);
    free(text);
    as_slices_close(&slices);
    as_dataset_free(ds);
}

/* As many as may overlap: each is on a track of its own, and the rest is counted. */
static void lanes_are_limited(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    for (int i = 0; i < 300; i++) {
        as_event event = {.source_id = AS_NO_STR,
                          .name = AS_NO_STR,
                          .kind = AS_NO_STR,
                          .location = ASSAY_NONE,
                          .context = ASSAY_NONE,
                          .start = i NS,
                          .end = (1000 + i) NS};
        as_add_event(ds, &event);
    }
    as_slices slices;
    assay_error error;
    assert_int_equal(as_slices_open(ds, true, most_deep, &slices, &error), ASSAY_OK);
    assert_int_equal(as_slice_track_count(&slices), 256);
    assert_int_equal(slices.n_left_out, 44);
    as_slices_close(&slices);
    as_dataset_free(ds);
}

/* Events in no order at all: each is earlier than the one before it, more of them than are merged. */
static void events_in_no_order_are_sorted(void **state) {
    (void)state;
    enum { N = 3000 };
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    for (int i = 0; i < N; i++) {
        as_event event = {.source_id = AS_NO_STR,
                          .name = as_ds_intern_text(ds, "e"),
                          .kind = AS_NO_STR,
                          .location = ASSAY_NONE,
                          .context = ASSAY_NONE,
                          .start = (N - i) NS,
                          .end = (N - i + 1) NS};
        assert_true(as_add_event(ds, &event));
    }
    as_slices slices;
    char *text = tell(ds, &slices), expected[64];
    assert_int_equal(as_slice_track_count(&slices), 1);
    assert_int_equal(as_slice_track_at(&slices, 0)->n, N);
    assert_int_equal(strncmp(text, "run 0/regions: e[1 2] e[2 3] e[3 4]", 35), 0);
    snprintf(expected, sizeof expected, " e[%d %d]\n", N, N + 1);
    assert_string_equal(text + strlen(text) - strlen(expected), expected);
    free(text);
    as_slices_close(&slices);
    as_dataset_free(ds);
}

static void attributes_are_those_of_the_event(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, "of=run");
    static const made_event made[] = {{0, "region", "a", 0 NS, 30 NS, "x=1;y=2"},
                                      {0, "region", "b", 30 NS, 40 NS, NULL},
                                      {0, "region", "c", 50 NS, 60 NS, "x=3"}};
    add_made_events(ds, made, 3);
    as_slices slices;
    assay_error error;
    as_attribute attribute;
    assert_int_equal(as_slices_open(ds, true, most_deep, &slices, &error), ASSAY_OK);
    assert_true(as_slice_attribute(&slices, 0, 1, &attribute));
    assert_string_equal(as_ds_text(ds, attribute.key), "tag:y");
    assert_string_equal(attribute.value.text, "2");
    assert_false(as_slice_attribute(&slices, 0, 2, &attribute));
    assert_false(as_slice_attribute(&slices, 1, 0, &attribute));
    assert_true(as_slice_attribute(&slices, 2, 0, &attribute));
    assert_string_equal(attribute.value.text, "3");
    assert_false(as_slice_attribute(&slices, 2, 1, &attribute));
    as_slices_close(&slices);
    as_dataset_free(ds);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

enum { MAIN, F, G };
static const as_trace_sample samples[] = {{1000, MAIN}, {1010, G}, {1030, F}, {1040, ASSAY_NONE}, {1050, MAIN}};

static as_dataset *sampled(void) {
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    as_tree tree;
    as_tree_init(&tree, ds);
    as_tree_path(&tree, "main->f->g", strlen("main->f->g"));
    const assay_id *ids;
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    ds->traces.ticks_per_second = 1e9;
    return ds;
}

/* Of threads samples have the time between mid-points, of GPUs that until the next one. */
static void samples_are_slices_of_calls(void **state) {
    (void)state;
    as_dataset *ds = sampled();
    add_line(ds, 0, add_place(ds, "thread", "thread 0"), samples, 5);
    add_line(ds, 0, add_place(ds, "gpustream", "stream 7"), samples, 5);
    assert_told(ds, "thread 0/thread 0: main[0 f[5 g[5 20] 35] 35] <unknown>[35 45] main[45 50]\n"
                    "stream 7/stream 7: main[0 f[10 g[10 30] 40] 40] <unknown>[40 50]\n");
    as_dataset_free(ds);
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static void what_is_too_deep_has_a_lane(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    add_made_run(ds, NULL);
    static const made_event made[] = {{0, "region", "a", 0 NS, 100 NS, NULL}, {0, "region", "b", 10 NS, 90 NS, NULL},
                                      {0, "region", "c", 20 NS, 80 NS, NULL}, {0, "region", "d", 30 NS, 40 NS, NULL},
                                      {0, "region", "m", 35 NS, NAN, NULL},   {0, "region", "e", 90 NS, 95 NS, NULL}};
    add_made_events(ds, made, 6);
    most_deep = 2;
    assert_told(ds, "run 0/regions: a[0 b[10 90] e[90 95] 100]\n"
                    "run 0/regions (2): c[20 d[30 40] 80]\n"
                    "run 0/regions (3): m@35\n");
    most_deep = UINT32_MAX;
    as_dataset_free(ds);
}

/* The outer calls last as long as the inner ones that are left out. */
static void samples_are_cut(void **state) {
    (void)state;
    as_dataset *ds = sampled();
    add_line(ds, 0, add_place(ds, "thread", "thread 0"), samples, 5);
    as_slices slices;
    most_deep = 2;
    char *text = tell(ds, &slices);
    assert_string_equal(text, "thread 0/thread 0: main[0 f[5 35] 35] <unknown>[35 45] main[45 50]\n");
    assert_int_equal(slices.n_cut, 1);
    most_deep = UINT32_MAX;
    free(text);
    as_slices_close(&slices);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_are_told_as_they_nest),
                                       cmocka_unit_test(what_overlaps_has_lanes),
                                       cmocka_unit_test(times_begin_with_the_first_event),
                                       cmocka_unit_test(lanes_are_limited),
                                       cmocka_unit_test(events_in_no_order_are_sorted),
                                       cmocka_unit_test(attributes_are_those_of_the_event),
                                       cmocka_unit_test(samples_are_slices_of_calls),
                                       cmocka_unit_test(what_is_too_deep_has_a_lane),
                                       cmocka_unit_test(samples_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
