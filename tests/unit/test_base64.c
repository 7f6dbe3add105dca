/* Base64 by the test vectors of RFC 4648, and gzip there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/base64.h"
#include "io/gzip.h"

static void vectors_of_the_document(void **state) {
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        as_output *out = as_output_to_memory();
        size_t size;
        as_base64(out, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(as_output_memory(out, &size), pairs[i][1]);
        as_output_discard(out);
    }
}

static void all_letters(void **state) {
    static const unsigned char bytes[] = {0x00, 0x10, 0x83, 0xfb, 0xef, 0xbe, 0xff};
    as_output *out = as_output_to_memory();
    size_t size;
    (void)state;
    as_base64(out, bytes, sizeof bytes);
    assert_string_equal(as_output_memory(out, &size), "ABCD++++/w==");
    as_output_discard(out);
}

static void packed_and_unpacked(void **state) {
    char text[5000];
    as_vec packed, again, unpacked;
    assay_error error;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * i % 7 + '0');
    as_vec_init(&packed, sizeof(char), NULL);
    as_vec_init(&again, sizeof(char), NULL);
    as_vec_init(&unpacked, sizeof(char), NULL);
    assert_true(as_gzip(text, sizeof text, 9, &packed));
    assert_true(as_gzip(text, sizeof text, 9, &again));
    assert_true(packed.count < sizeof text / 4);
    assert_int_equal(packed.count, again.count);
    assert_memory_equal(packed.data, again.data, packed.count);
    assert_int_equal(as_gunzip("x", packed.data, packed.count, &unpacked, &error), ASSAY_OK);
    assert_int_equal(unpacked.count, sizeof text);
    assert_memory_equal(unpacked.data, text, sizeof text);
    as_vec_free(&packed);
    as_vec_free(&again);
    as_vec_free(&unpacked);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_of_the_document), cmocka_unit_test(all_letters),
                                       cmocka_unit_test(packed_and_unpacked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
