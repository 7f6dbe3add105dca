/* speedscope files: samples and events by hand, what is refused, and that writing and reading again is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "helpers.h"

#define FRAMES                                                                                                         \
    "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"m.c\",\"line\":3,\"col\":7},{\"name\":\"f\"},{\"name\":"    \
    "\"g\"},"                                                                                                          \
    "{\"name\":\"f\"}]}"
#define SAMPLED                                                                                                        \
    "{\"type\":\"sampled\",\"name\":\"t1\",\"unit\":\"milliseconds\",\"startValue\":0,\"endValue\":60,"                \
    "\"samples\":[[0],[0,1],[0,3],[0,1,2],[]],\"weights\":[10,20,5,3,22]}"
/* main 100…200, f 110…150 and 150…160 in it, g 120…125 in the first */
#define EVENTED                                                                                                        \
    "{\"type\":\"evented\",\"name\":\"t2\",\"unit\":\"microseconds\",\"startValue\":100,\"endValue\":200,\"events\":[" \
    "{\"type\":\"O\",\"frame\":0,\"at\":100},{\"type\":\"O\",\"frame\":1,\"at\":110},{\"type\":\"O\",\"frame\":2,"     \
    "\"at\":120},{\"type\":\"C\",\"frame\":2,\"at\":125},{\"type\":\"C\",\"frame\":1,\"at\":150},{\"type\":\"O\","     \
    "\"frame\":1,\"at\":150},{\"type\":\"C\",\"frame\":1,\"at\":160},{\"type\":\"C\",\"frame\":0,\"at\":200}]}"
#define WITH(profile) "{" FRAMES ",\"profiles\":[" profile "]}"

/* The value of a metric at a call path; NAN where there is none. */
static double value_at(const as_dataset *ds, const char *metric, const char *path) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    double value = NAN;
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        if (strcmp(as_ds_text(ds, as_ds_metric(ds, block->metric)->name), metric) != 0) continue;
        for (uint32_t k = 0; k < block->n_contexts; k++) {
            assert_true(as_context_path(ds, block->contexts[k], &text));
            if (strcmp(text.data, path) == 0) value = as_block_real(block, block->starts[k]);
        }
    }
    as_vec_free(&text);
    return value;
}

static void check_sampled(const as_dataset *ds) {
    assert_int_equal(ds->metrics.count, 1);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "ms");
    assert_int_equal(ds->contexts.count, 3); /* both frames f are one */
    assert_true(value_at(ds, "time", "main") == 10);
    assert_true(value_at(ds, "time", "main->f") == 25);
    assert_true(value_at(ds, "time", "main->f->g") == 3);
    assert_string_equal(as_ds_text(ds, as_ds_location(ds, 0)->name), "t1");
    const as_region *region = as_ds_region(ds, as_ds_context(ds, 0)->region);
    assert_string_equal(as_ds_text(ds, region->file), "m.c");
    assert_int_equal(region->line_begin, 3);
}

static void test_samples(void **state) {
    (void)state;
    as_dataset *ds = read_text("speedscope", WITH(SAMPLED));
    check_sampled(ds);
    assert_int_equal(count_problems(ds, "idle", NULL), 1);
    as_dataset_free(ds);
    /* The other way round, as py-spy has it */
    ds = read_text("speedscope", "{\"profiles\":[" SAMPLED "]," FRAMES ",\"exporter\":\"x\"}");
    check_sampled(ds);
    assert_int_equal(ds->attributes.count, 2); /* col, exporter */
    as_dataset_free(ds);
}

static void test_events(void **state) {
    (void)state;
    as_dataset *ds = read_text("speedscope", WITH(EVENTED));
    assert_true(value_at(ds, "time", "main") == 10 + 40);         /* 100…110, 160…200 */
    assert_true(value_at(ds, "time", "main->f") == 10 + 25 + 10); /* 110…120, 125…150, 150…160 */
    assert_true(value_at(ds, "time", "main->f->g") == 5);
    assert_true(value_at(ds, "visits", "main") == 1);
    assert_true(value_at(ds, "visits", "main->f") == 2);
    assert_int_equal(as_ds_intervals(ds), 4);
    as_event event;
    as_ds_event(ds, 1, &event);
    assert_string_equal(as_ds_text(ds, event.name), "f");
    assert_float_equal(event.start, 10e-6, 1e-15); /* time 0 is startValue */
    assert_float_equal(event.end, 50e-6, 1e-15);
    assert_int_equal(event.start_raw.i, 110);
    as_dataset_free(ds);
}

static void test_several_profiles(void **state) {
    (void)state;
    as_dataset *ds = read_text("speedscope", WITH(SAMPLED "," EVENTED));
    assert_int_equal(ds->locations.count, 2);
    assert_int_equal(ds->metrics.count, 3);
    assert_true(value_at(ds, "time", "main") == 10);
    assert_true(value_at(ds, "time (us)", "main") == 50);
    as_event event; /* samples have no time line: it begins where the events do */
    as_ds_event(ds, 0, &event);
    assert_true(event.start == 0);
    as_dataset_free(ds);
}

#define OWN(words)                                                                                                     \
    "{\"type\":\"sampled\",\"name\":\"n\",\"unit\":\"none\",\"assay\":" words ",\"samples\":[[0]],\"weights\":[4]}"

/* What assay wrote of metrics with and without places. */
static void test_own_words(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("speedscope", WITH(OWN("{\"metric\":\"energy\",\"unit\":\"J\",\"location\":\"p0\"}") "," OWN(
                                    "{\"metric\":\"visits\",\"location\":\"p0\"}") "," OWN("{\"metric\":\"size\"}")));
    assert_int_equal(ds->locations.count, 1);
    assert_int_equal(ds->metrics.count, 3);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "J");
    assert_true(value_at(ds, "energy", "main") == 4);
    assert_true(value_at(ds, "visits", "main") == 4);
    assert_non_null(as_ds_block(ds, 0)->locations);
    assert_null(as_ds_block(ds, 2)->locations); /* it lies at no place */
    as_dataset_free(ds);
}

/* Two of one metric without a place are one: a context has one value. */
static void test_own_profiles_add_up(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("speedscope", WITH(OWN("{\"metric\":\"size\"}") "," OWN(
                                    "{\"metric\":\"visits\",\"location\":\"p0\"}") "," OWN("{\"metric\":\"size\"}")));
    assert_int_equal(as_block_rows(as_ds_block(ds, 0)), 1);
    assert_true(value_at(ds, "size", "main") == 8);
    assert_true(value_at(ds, "visits", "main") == 4);
    as_dataset_free(ds);
}

#define COUNTED(unit)                                                                                                  \
    "{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"" unit                                                            \
    "\",\"startValue\":0,\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"C\","            \
    "\"frame\":0,\"at\":9}]}"

/* There is no time line of what is counted in something else, and that is said. */
static void test_events_without_time(void **state) {
    (void)state;
    static const char *const texts[] = {WITH(COUNTED("bytes")), WITH(COUNTED("none")), WITH(COUNTED("seconds"))};
    for (size_t i = 0; i < 3; i++) {
        as_dataset *ds = read_text("speedscope", texts[i]);
        assert_int_equal(as_ds_intervals(ds), i == 2);
        assert_int_equal(ds->problems.count, i < 2);
        if (i < 2) assert_string_equal(as_ds_problem(ds, 0)->rule, "no-time");
        as_dataset_free(ds);
    }
}

/* Read, written and read again. */
static void check_again(const char *text, const char *option) {
    const char *options[] = {option, NULL};
    as_dataset *ds = read_text("speedscope", text);
    as_output *out = as_output_to_memory(), *again = as_output_to_memory();
    size_t size, again_size;
    assert_int_equal(as_write(ds, as_format_find("speedscope"), options, 1, out, NULL), ASSAY_OK);
    const char *bytes = as_output_memory(out, &size);
    as_dataset *back = read_bytes("speedscope", bytes, size);
    assert_int_equal(back->contexts.count, ds->contexts.count);
    assert_int_equal(back->locations.count, ds->locations.count);
    static const char *const paths[] = {"main", "main->f", "main->f->g"};
    for (size_t i = 0; i < 3; i++) {
        double scale = as_ds_intervals(back) ? 1000 : 1; /* time lines are written in nanoseconds */
        assert_true(value_at(back, "time", paths[i]) == scale * value_at(ds, "time", paths[i]));
    }
    assert_int_equal(as_write(back, as_format_find("speedscope"), options, 1, again, NULL), ASSAY_OK);
    const char *same = as_output_memory(again, &again_size);
    const char *a = strstr(bytes, "\"activeProfileIndex\""),
               *b = strstr(same, "\"activeProfileIndex\""); /* behind the file's name */
    assert_string_equal(a, b);
    as_output_discard(out);
    as_output_discard(again);
    as_dataset_free(ds);
    as_dataset_free(back);
}

static void test_writing(void **state) {
    (void)state;
    check_again(WITH(SAMPLED), "locations=each");
    check_again(WITH(SAMPLED), "locations=auto");
    check_again(WITH(EVENTED), "profiles=auto");
}

/* What comes back is not said to be lost: columns of frames. */
static void test_losses(void **state) {
    (void)state;
    assert_loses("speedscope", WITH(SAMPLED), "speedscope", "");
    assert_loses("speedscope", WITH(SAMPLED), "folded",
                 "1 location; 1 attribute (col); 1 unit of a metric; 1 source file of a region; what the amounts are: "
                 "time [ms]");
    assert_loses("speedscope", WITH(EVENTED), "perfetto",
                 "6 values; 2 units of metrics; 1 source file of a region; 1 attribute (col)");
}

static void test_refused(void **state) {
    (void)state;
    static const expected_error errors[] = {
        {"[]", "wrong-type", 1, 1},
        {"{", "json-syntax", 1, 2},
        {"{" FRAMES "}", "no-data", 0, 0},
        {WITH("3"), "wrong-type", 1, 121},
        {WITH("{}"), "profile-type", 1, 122},
        {WITH("{\"type\":\"sampled\",\"samples\":[],\"weights\":[]}"), "unit", 1, 164},
        {WITH("{\"unit\":\"miles\"}"), "unit", 1, 129},
        {WITH(OWN("{\"metric\":\"m\"}") "," OWN("{\"metric\":\"m\",\"location\":\"p\"}")), "location", 1, 328},
        {WITH("{\"samples\":[[4]]}"), "frame-index", 1, 134},
        {WITH("{\"samples\":[[-1]]}"), "frame-index", 1, 134},
        {WITH("{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],\"weights\":[]}"), "weights", 1, 181},
        {WITH("{\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}"), "nesting", 1, 160},
        {WITH("{\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":2},{\"type\":\"C\",\"frame\":0,\"at\":1}]}"),
         "time-order", 1, 190},
        {WITH("{\"events\":[{\"type\":\"X\",\"frame\":0,\"at\":1}]}"), "event", 1, 160},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_refused("speedscope", &errors[i]);
}

static void test_beginnings_and_memory(void **state) {
    (void)state;
    read_all_beginnings("speedscope", WITH(SAMPLED "," EVENTED));
    read_all_beginnings("speedscope", "{\"profiles\":[" EVENTED "]," FRAMES "}");
    read_with_little_memory("speedscope", WITH(SAMPLED "," EVENTED));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_several_profiles),
        cmocka_unit_test(test_own_words),
        cmocka_unit_test(test_own_profiles_add_up),
        cmocka_unit_test(test_events_without_time),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_beginnings_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
