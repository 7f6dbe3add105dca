/* Reading and writing of pprof profiles, from bytes put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/pprof/pprof.h"
#include "helpers.h"
#include "io/gzip.h"

/* main calls f, into which g was put: strings 1 cpu, 2 ns, 3 main, 4 f, 5 g, 6 a.c. */
static const char small[] =
    "\x0a\x04\x08\x01\x10\x02"                                         /* sample_type: type 1, unit 2 */
    "\x12\x07\x0a\x02\x02\x01\x12\x01\x07"                             /* sample: locations 2, 1; value 7 */
    "\x12\x06\x0a\x01\x01\x12\x01\x05"                                 /* sample: location 1; value 5 */
    "\x22\x08\x08\x01\x22\x04\x08\x01\x10\x0a"                         /* location 1: function 1, line 10 */
    "\x22\x0e\x08\x02\x22\x04\x08\x03\x10\x1e\x22\x04\x08\x02\x10\x14" /* 2: 3 at 30 in 2 at 20 */
    "\x2a\x08\x08\x01\x10\x03\x20\x06\x28\x08"                         /* function 1: main, a.c, from line 8 */
    "\x2a\x04\x08\x02\x10\x04"                                         /* function 2: f */
    "\x2a\x04\x08\x03\x10\x05"                                         /* function 3: g */
    "\x32\x00\x32\x03"
    "cpu\x32\x02ns\x32\x04main\x32\x01"
    "f\x32\x01g\x32\x03"
    "a.c";
enum { SMALL_SIZE = sizeof small - 1 };

static void assert_small(const as_dataset *ds) {
    static const char *const names[] = {"main", "f", "g"};
    assert_int_equal(AS_COUNT(ds, contexts), 3);
    for (assay_id i = 0; i < 3; i++) {
        assert_string_equal(as_ds_text(ds, as_ds_context(ds, i)->name), names[i]);
        assert_int_equal(as_ds_context(ds, i)->depth, i);
    }
    const as_block *block = as_ds_block(ds, 0);
    assert_int_equal(block->n_contexts, 2);
    assert_true(block->contexts[0] == 0 && as_block_value(block, 0).i == 5);
    assert_true(block->contexts[1] == 2 && as_block_value(block, 1).i == 7);
}

static void frames_are_read(void **state) {
    (void)state;
    as_dataset *ds = read_bytes("pprof", small, SMALL_SIZE);
    assert_small(ds);
    assert_int_equal(as_ds_context(ds, 1)->line, 10); /* called from line 10 of main */
    assert_int_equal(as_ds_context(ds, 2)->line, 20);
    assert_false(as_ds_context(ds, 1)->is_inlined);
    assert_true(as_ds_context(ds, 2)->is_inlined);
    const as_region *region = as_ds_region(ds, as_ds_context(ds, 0)->region);
    assert_string_equal(as_ds_text(ds, region->file), "a.c");
    assert_int_equal(region->line_begin, 8);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "ns");
    as_dataset_free(ds);
}

/* By bidding: enough of it says what it is; a text that begins with the same byte is none. */
static void profiles_are_recognised(void **state) {
    (void)state;
    as_read_config config = {0};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read_memory("input", small, SMALL_SIZE, &config, &ds, &error), ASSAY_OK);
    assert_string_equal(ds->format, "pprof");
    as_dataset_free(ds);
    static const char *const others[] = {"\x0a", "\nPARAMETER p\n", "\n\n\n", "{}", "2\n", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        as_probe probe = {.path = "x", .head = others[i], .head_size = strlen(others[i]), .size = strlen(others[i])};
        assert_int_equal(as_format_find("pprof")->bid(&probe), 0);
    }
}

/* Every beginning is read, or refused with a rule; so it is line by line, and where reading goes on. */
static void every_beginning_is_read_or_refused(void **state) {
    (void)state;
    static const char *const by_line[] = {"lines=yes", NULL};
    size_t n_refused = 0;
    for (size_t size = 0; size < SMALL_SIZE; size++) {
        for (int way = 0; way < 3; way++) {
            char *data = malloc(size + 1); /* so that a look beyond the end is seen */
            memcpy(data, small, size);
            as_read_config config = {.format = "pprof", .options = way == 1 ? by_line : NULL, .keep_going = way == 2};
            as_dataset *ds = NULL;
            assay_error error;
            if (as_read_memory("input", data, size, &config, &ds, &error) != ASSAY_OK) {
                assert_int_equal(error.code, ASSAY_E_FORMAT);
                assert_true(error.rule[0] && error.message[0]);
                n_refused++;
            }
            as_dataset_free(ds);
            free(data);
        }
    }
    assert_true(n_refused > SMALL_SIZE); /* most of them, in two of the ways */
}

static as_output *write_again(const as_dataset *ds) {
    as_output *out = as_output_to_memory();
    assay_error error;
    assert_int_equal(as_write(ds, as_format_find("pprof"), NULL, 0, out, &error), ASSAY_OK);
    return out;
}

static void the_same_profile_is_written_again(void **state) {
    (void)state;
    as_dataset *ds = read_bytes("pprof", small, SMALL_SIZE);
    as_output *out = write_again(ds);
    size_t size;
    const char *bytes = as_output_memory(out, &size);
    as_vec plain;
    assay_error error;
    as_vec_init(&plain, 1, NULL);
    assert_int_equal(as_gunzip("x", bytes, size, &plain, &error), ASSAY_OK);
    assert_int_equal(plain.count, SMALL_SIZE);
    assert_memory_equal(plain.data, small, SMALL_SIZE);
    as_vec_free(&plain);
    as_output_discard(out);
    as_dataset_free(ds);
}

/* As of a dataset that no profile was read for: what is written has the same stacks and values. */
static void stacks_are_written(void **state) {
    (void)state;
    as_dataset *ds = read_bytes("pprof", small, SMALL_SIZE);
    ds->of_format = NULL;
    as_output *out = write_again(ds);
    size_t size;
    const char *bytes = as_output_memory(out, &size);
    as_dataset *back = read_bytes("pprof", bytes, size);
    assert_small(back);
    assert_int_equal(as_ds_context(back, 1)->line, 10);
    assert_int_equal(as_ds_context(back, 2)->line, 20);
    assert_string_equal(as_ds_text(back, as_ds_metric(back, 0)->unit), "nanoseconds");
    as_dataset_free(back);
    as_output_discard(out);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_read),
        cmocka_unit_test(profiles_are_recognised),
        cmocka_unit_test(every_beginning_is_read_or_refused),
        cmocka_unit_test(the_same_profile_is_written_again),
        cmocka_unit_test(stacks_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
