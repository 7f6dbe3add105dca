#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cube_files.h"
#include "temporary.h"

static const double SIX[] = {1, 10, 2, 20, 3, 30};

/* A plain metric, a packed one and one of the other byte order; the description last, as tools write it, or first. */
static archive make_file(bool anchor_first) {
    archive file = begin_archive();
    char *anchor = make_anchor(METRIC("0", "plain", "DOUBLE", "EXCLUSIVE") METRIC("1", "packed", "DOUBLE", "EXCLUSIVE")
                                   METRIC("2", "turned", "DOUBLE", "INCLUSIVE"),
                               "0(1()2())", 2);
    segment segments[3];
    for (size_t i = 0; i < 3; i++) segments[i] = make_segment(false, 2, SIX + 2 * i, 16 * i);
    if (anchor_first) add_text(&file, "anchor.xml", anchor);
    add_bytes(&file, "0.index", make_full_index(3));
    add_bytes(&file, "0.data", make_reals(false, 6, SIX));
    add_bytes(&file, "1.index", make_full_index(3));
    add_bytes(&file, "1.data", make_packed(false, 8, 3, segments, NULL));
    add_bytes(&file, "2.index", make_index(true, SPARSE, 3, (uint32_t[]){0, 1, 2}));
    add_bytes(&file, "2.data", make_reals(true, 6, SIX));
    if (!anchor_first) add_text(&file, "anchor.xml", anchor);
    free(anchor);
    return file;
}

static void assert_all_values(const as_dataset *ds) {
    for (assay_id metric = 0; metric < 3; metric++) assert_values(ds, metric, "0: 1 10\n1: 2 20\n2: 3 30\n");
}

static void files_are_recognised(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        archive file = make_file(first);
        size_t size;
        const char *bytes = end_archive(&file, &size);
        as_dataset *ds = NULL;
        assert_int_equal(as_read_memory("any name", bytes, size, NULL, &ds, NULL), ASSAY_OK);
        assert_string_equal(ds->format, "cube");
        assert_int_equal(ds->runs.count, 1);
        assert_int_equal(as_ds_run(ds, 0)->point, ASSAY_NONE);
        assert_int_equal(as_ds_values(ds), 18);
        as_output_discard(file.out); /* what was read from memory needs it no more */
        assert_all_values(ds);
        as_dataset_free(ds);
    }
}

static void other_archives_are_not(void **state) {
    (void)state;
    archive file = begin_archive();
    add_text(&file, "readme.txt", "hello");
    size_t size;
    const char *bytes = end_archive(&file, &size);
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("some.tar", bytes, size, NULL, &ds, NULL), ASSAY_E_AMBIGUOUS);
    as_output_discard(file.out);
}

static void packed_archives(void **state) {
    (void)state;
    archive file = make_file(false);
    size_t size;
    const char *bytes = end_archive(&file, &size);
    char *packed = malloc(size + 1000);
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(6);
    size = libdeflate_gzip_compress(packer, bytes, size, packed, size + 1000);
    libdeflate_free_compressor(packer);
    as_output_discard(file.out);
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("profile.cubex", packed, size, NULL, &ds, NULL), ASSAY_OK);
    assert_all_values(ds);
    as_dataset_free(ds);
    free(packed);
}

/* Rows of a file in native order are where the file is mapped: 10 bytes behind a multiple of 512. */
static void rows_are_used_in_place(void **state) {
    (void)state;
    archive file = make_file(false);
    size_t size;
    const char *bytes = end_archive(&file, &size);
    const char *path = write_temporary("a.cubex", bytes, size);
    as_output_discard(file.out);
    as_dataset *ds = NULL;
    assert_int_equal(as_read(path, NULL, &ds, NULL), ASSAY_OK);
    assert_false(as_ds_profile(ds, 0, 0)->is_loaded);
    assert_all_values(ds);
    assert_int_equal((uintptr_t)as_ds_profile(ds, 0, 0)->values % 512, 10);
    assert_int_equal((uintptr_t)as_ds_profile(ds, 1, 0)->values % 16, 0);
    as_dataset_free(ds);
}

/* Whatever of a file is there: a refusal in words, or a dataset whose values can be asked for. */
static void files_cut_at_any_byte(void **state) {
    (void)state;
    archive file = make_file(true);
    size_t size, n_read = 0, n_whole = 0;
    const char *bytes = end_archive(&file, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        as_read_config config = {.format = "cube"};
        char *copy = malloc(cut + 1); /* so that a look beyond the end shows */
        memcpy(copy, bytes, cut);
        as_dataset *ds = NULL;
        assay_error error = {.message = ""};
        assay_status status = as_read_memory("input", copy, cut, &config, &ds, &error);
        free(copy);
        if (status != ASSAY_OK) {
            assert_int_equal(error.code, ASSAY_E_FORMAT);
            assert_true(error.message[0] && error.rule[0]);
            continue;
        }
        n_read++;
        n_whole += as_ds_values(ds) == 18;
        assert_int_equal(as_ds_load(ds, ASSAY_NONE, &error), ASSAY_OK);
        as_dataset_free(ds);
    }
    assert_true(n_whole > 0 && n_whole < n_read && n_read < size);
    as_output_discard(file.out);
}

/* Whatever the memory, it is enough, or the refusal says that it is not. */
static void any_memory_limit(void **state) {
    (void)state;
    archive file = make_file(false);
    size_t size, n_refused = 0, n_loaded = 0;
    const char *bytes = end_archive(&file, &size);
    for (uint64_t limit = 500; limit < 200000; limit += 250) {
        as_read_config config = {.format = "cube", .memory_limit = limit};
        as_dataset *ds = NULL;
        assay_error error;
        assay_status status = as_read_memory("input", bytes, size, &config, &ds, &error);
        if (status == ASSAY_OK) status = as_ds_load(ds, ASSAY_NONE, &error);
        if (status != ASSAY_OK) assert_int_equal(error.code, ASSAY_E_NOMEM);
        n_refused += status != ASSAY_OK;
        n_loaded += status == ASSAY_OK;
        as_dataset_free(ds);
    }
    assert_true(n_refused > 10 && n_loaded > 10);
    as_output_discard(file.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_recognised),
        cmocka_unit_test(other_archives_are_not),
        cmocka_unit_test(packed_archives),
        cmocka_unit_test_setup_teardown(rows_are_used_in_place, make_temporary_folder, remove_temporary_folder),
        cmocka_unit_test(files_cut_at_any_byte),
        cmocka_unit_test(any_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
