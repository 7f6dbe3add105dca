/* Stored objects of Perun: zlib of "profile TYPE LENGTH\0JSON". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libdeflate.h>
#include <stdlib.h>

#include "formats/perun/perun.h"

typedef struct object {
    char bytes[1024];
    size_t size;
} object;

static object pack(const char *content, size_t size) {
    object out;
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(6);
    out.size = libdeflate_zlib_compress(packer, content, size, out.bytes, sizeof out.bytes);
    libdeflate_free_compressor(packer);
    assert_true(out.size > 0);
    return out;
}

typedef struct result {
    assay_status status;
    assay_error error;
    char json[512];
} result;

/* Unpacks bytes of exactly that size, so that the sanitizer sees every step beyond them. */
static result unpack(const char *bytes, size_t size, uint64_t limit) {
    as_dataset *ds = as_dataset_new(0);
    result out = {0};
    as_reader reader = {.dataset = ds, .error = &out.error};
    as_budget budget = {.limit = limit};
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    as_vec text;
    as_vec_init(&text, 1, &budget);
    const char *json = NULL;
    size_t json_size = 0;
    out.status = as_perun_unpack(&reader, "file", copy, size, &text, &json, &json_size);
    if (out.status == ASSAY_OK && json_size < sizeof out.json) memcpy(out.json, json, json_size);
    as_vec_free(&text);
    assert_int_equal(budget.used, 0);
    free(copy);
    as_dataset_free(ds);
    return out;
}

#define CONTENT(text) text, sizeof text - 1

static void check_refused(const char *content, size_t size, const char *rule) {
    object packed = pack(content, size);
    result got = unpack(packed.bytes, packed.size, 0);
    assert_int_equal(got.status, ASSAY_E_FORMAT);
    assert_string_equal(got.error.rule, rule);
    assert_int_equal(got.error.offset, 0);
}

static void sound_objects_are_unpacked(void **state) {
    (void)state;
    object packed = pack(CONTENT("profile mixed 11\0{\"a\": true}"));
    assert_true(as_perun_is_object(packed.bytes, packed.size));
    result got = unpack(packed.bytes, packed.size, 0);
    assert_int_equal(got.status, ASSAY_OK);
    assert_string_equal(got.json, "{\"a\": true}");
    /* characters are counted, not bytes: two bytes, four bytes */
    packed = pack(CONTENT("profile time 10\0{\"\xc3\xa9\": \"\xf0\x9f\x98\x80\"}"));
    got = unpack(packed.bytes, packed.size, 0);
    assert_int_equal(got.status, ASSAY_OK);
    assert_string_equal(got.json, "{\"\xc3\xa9\": \"\xf0\x9f\x98\x80\"}");
    packed = pack(CONTENT("profile memory 0\0"));
    assert_int_equal(unpack(packed.bytes, packed.size, 0).status, ASSAY_OK);
}

static void headers_are_checked(void **state) {
    (void)state;
    check_refused(CONTENT("profile mixed 12\0{\"a\": true}"), "object-length");
    check_refused(CONTENT("profile mixed 10\0{\"a\": true}"), "object-length");
    check_refused(CONTENT("profile mixed 18446744073709551615\0{}"), "object-length");
    check_refused(CONTENT("profile mixed 18446744073709551616\0{}"), "object-header");
    check_refused(CONTENT("profile mixed -2\0{}"), "object-header");
    check_refused(CONTENT("profile mixed 2.0\0{}"), "object-header");
    check_refused(CONTENT("profile mixed \0{}"), "object-header");
    check_refused(CONTENT("profile mixed\0{}"), "object-header");
    check_refused(CONTENT("profile  2\0{}"), "object-header");
    check_refused(CONTENT("profiles mixed 2\0{}"), "object-header");
    check_refused(CONTENT("blob 2\0{}"), "object-header");
    check_refused(CONTENT("profile mixed 2 {}"), "object-header");
    check_refused(CONTENT("{}"), "object-header");
    check_refused("", 0, "object-header");
    check_refused(CONTENT("profile 0123456789012345678901234567890123456789012345678901234567890123 2\0{}"),
                  "object-header");
}

static void cut_and_damaged_objects_are_errors(void **state) {
    (void)state;
    object packed = pack(CONTENT("profile mixed 27\0{\"a\": [1, 22, 333, true]}  "));
    assert_int_equal(unpack(packed.bytes, packed.size, 0).status, ASSAY_OK);
    for (size_t cut = 0; cut < packed.size; cut++) {
        result got = unpack(packed.bytes, cut, 0);
        assert_int_equal(got.status, ASSAY_E_FORMAT);
        assert_string_equal(got.error.rule, "zlib-damaged");
    }
    size_t unseen = 0;
    for (size_t i = 0; i < packed.size * 8; i++) { /* each bit: the checksum sees it, or zlib does */
        object other = packed;
        other.bytes[i / 8] ^= (char)(1 << i % 8);
        result got = unpack(other.bytes, other.size, 0);
        if (got.status == ASSAY_OK) assert_string_equal(got.json, "{\"a\": [1, 22, 333, true]}  ");
        unseen += got.status == ASSAY_OK;
    }
    assert_true(unseen < 8); /* those between the last code and the checksum */
    packed.bytes[packed.size] = '\0';
    result got = unpack(packed.bytes, packed.size + 1, 0);
    assert_int_equal(got.status, ASSAY_E_FORMAT);
    assert_int_equal(got.error.offset, packed.size);
}

static void traps_stop_at_the_limit(void **state) {
    (void)state;
    enum { SIZE = 8 << 20 };
    char *zeros = calloc(1, SIZE), *packed = malloc(SIZE);
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(6);
    size_t size = libdeflate_zlib_compress(packer, zeros, SIZE, packed, SIZE);
    libdeflate_free_compressor(packer);
    assert_int_equal(unpack(packed, size, 1 << 20).status, ASSAY_E_NOMEM);
    assert_int_equal(unpack(packed, size, 0).status, ASSAY_E_FORMAT);
    free(zeros);
    free(packed);
}

static void only_zlib_looks_like_an_object(void **state) {
    (void)state;
    assert_true(as_perun_is_object("\x78\x9c", 2));
    assert_true(as_perun_is_object("\x78\x01", 2));
    assert_true(as_perun_is_object("\x78\xda", 2));
    assert_false(as_perun_is_object("\x78\x9d", 2)); /* not a multiple of 31 */
    assert_false(as_perun_is_object("\x78\xbb", 2)); /* a dictionary */
    assert_false(as_perun_is_object("\x88\x1c", 2)); /* a window beyond 32 KiB */
    assert_false(as_perun_is_object("\x79\x01", 2)); /* another method */
    assert_false(as_perun_is_object("\x78", 1));
    assert_false(as_perun_is_object("{\"", 2));
    assert_false(as_perun_is_object("pidx", 4));
    assert_false(as_perun_is_object("", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_objects_are_unpacked),         cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(cut_and_damaged_objects_are_errors), cmocka_unit_test(traps_stop_at_the_limit),
        cmocka_unit_test(only_zlib_looks_like_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
