/* Protocol Buffers on the wire. The bytes are those of the encoding document
 * (protobuf.dev/programming-guides/encoding), or worked out from it by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "io/protobuf.h"

#define BYTES(...)                                                                                                     \
    (const char *)(const unsigned char[]){__VA_ARGS__}, sizeof(const unsigned char[]) { __VA_ARGS__ }

static as_protobuf first_of(const char *data, size_t size) {
    as_protobuf p = as_protobuf_of(data, size);
    as_protobuf_next(&p);
    return p;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void assert_number(const char *data, size_t size, uint32_t field, uint64_t number) {
    as_protobuf p = first_of(data, size);
    assert_null(p.error);
    assert_int_equal(p.field, field);
    assert_int_equal(p.type, AS_PROTOBUF_NUMBER);
    assert_true(p.number == number);
    assert_int_equal(p.at, size);
    assert_false(as_protobuf_next(&p));
    assert_null(p.error);
}

static void numbers_are_read(void **state) {
    (void)state;
    assert_number(BYTES(0x08, 0x96, 0x01), 1, 150); /* the document's first example */
    assert_number(BYTES(0x08, 0x00), 1, 0);
    assert_number(BYTES(0x78, 0x7f), 15, 127);
    assert_number(BYTES(0x80, 0x01, 0x80, 0x01), 16, 128);
    assert_number(BYTES(0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), 1, (uint64_t)-2);
    assert_number(BYTES(0x08, 0x80, 0x80, 0x00), 1, 0); /* longer than it need be */
    assert_number(BYTES(0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01), 536870911, 1);
}

static void fixed_numbers_are_read(void **state) {
    (void)state;
    as_protobuf p = first_of(BYTES(0x09, 1, 2, 3, 4, 5, 6, 7, 8));
    assert_true(p.type == AS_PROTOBUF_FIXED64 && p.number == 0x0807060504030201u);
    p = first_of(BYTES(0x0d, 1, 2, 3, 0xff));
    assert_true(p.type == AS_PROTOBUF_FIXED32 && p.number == 0xff030201u);
}

static void bytes_and_messages_are_read(void **state) {
    (void)state;
    as_protobuf p = first_of(BYTES(0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g'));
    assert_int_equal(p.field, 2);
    assert_int_equal(p.length, 7);
    assert_memory_equal(p.bytes, "testing", 7);
    p = first_of(BYTES(0x1a, 0x03, 0x08, 0x96, 0x01)); /* a message in field 3 */
    as_protobuf inner = as_protobuf_message_of(&p);
    assert_true(as_protobuf_next(&inner));
    assert_true(inner.field == 1 && inner.number == 150);
    p = first_of(BYTES(0x12, 0x00));
    assert_true(!p.error && p.length == 0);
}

static void repeated_numbers_are_read_packed_or_not(void **state) {
    (void)state;
    as_protobuf p = first_of(BYTES(0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05)); /* 3, 270, 86942 in field 6 */
    size_t at = 0;
    uint64_t number;
    static const uint64_t expected[] = {3, 270, 86942};
    for (size_t i = 0; i < 3; i++) {
        assert_true(as_protobuf_each(&p, &at, &number));
        assert_true(number == expected[i]);
    }
    assert_false(as_protobuf_each(&p, &at, &number));
    assert_null(p.error);
    p = first_of(BYTES(0x30, 0x03, 0x30, 0x04));
    at = 0;
    assert_true(as_protobuf_each(&p, &at, &number) && number == 3);
    assert_false(as_protobuf_each(&p, &at, &number));
    p = first_of(BYTES(0x32, 0x02, 0x03, 0x8e)); /* the last one is cut off */
    at = 0;
    assert_true(as_protobuf_each(&p, &at, &number));
    assert_false(as_protobuf_each(&p, &at, &number));
    assert_non_null(p.error);
}

static void assert_bad(const char *data, size_t size, const char *error) {
    as_protobuf p = as_protobuf_of(data, size);
    while (as_protobuf_next(&p)) {
    }
    assert_string_equal(p.error ? p.error : "", error);
    assert_true(p.offset <= size && p.at <= size);
    assert_false(as_protobuf_next(&p)); /* it stays there */
}

static void what_is_no_message_is_refused(void **state) {
    (void)state;
    assert_bad(BYTES(0x08), "the bytes end within a number");
    assert_bad(BYTES(0x08, 0x96), "the bytes end within a number");
    assert_bad(BYTES(0x96), "the bytes end within a number");
    assert_bad(BYTES(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02),
               "a number has more than 64 bits");
    assert_bad(BYTES(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00),
               "a number has more than 64 bits");
    assert_bad(BYTES(0x09, 1, 2, 3, 4, 5, 6, 7), "the bytes end within a number");
    assert_bad(BYTES(0x0d, 1, 2, 3), "the bytes end within a number");
    assert_bad(BYTES(0x12, 0x03, 'a', 'b'), "a field is longer than what it is in");
    assert_bad(BYTES(0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
               "a field is longer than what it is in");
    assert_bad(BYTES(0x00, 0x00), "no field has such a number");
    assert_bad(BYTES(0x80, 0x80, 0x80, 0x80, 0x10, 0x00), "no field has such a number"); /* 2^29 */
    assert_bad(BYTES(0x0b, 0x0c), "groups are not known");
    assert_bad(BYTES(0x0c), "groups are not known");
    assert_bad(BYTES(0x0e, 0x00), "no field is of such a type");
    assert_bad(BYTES(0x08, 0x01, 0x0f), "no field is of such a type");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void assert_written(const as_message *m, const char *data, size_t size) {
    assert_false(m->failed);
    assert_int_equal(m->bytes.count, size);
    assert_memory_equal(m->bytes.data, data, size);
}

static void fields_are_written(void **state) {
    (void)state;
    as_message m;
    as_message_init(&m, NULL);
    as_message_number(&m, 1, 150);
    as_message_number(&m, 16, (uint64_t)-2);
    as_message_number_if(&m, 3, 0);
    assert_written(&m, BYTES(0x08, 0x96, 0x01, 0x80, 0x01, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01));
    as_message_clear(&m);
    as_message_real(&m, 1, 1.5); /* 0x3ff8000000000000 */
    as_message_text(&m, 2, "testing");
    static const uint64_t numbers[] = {3, 270, 86942};
    as_message_packed(&m, 6, numbers, 3);
    as_message_packed(&m, 6, numbers, 0);
    assert_written(&m, BYTES(0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g', 0x32,
                             0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05));
    as_message_free(&m);
}

static void messages_are_written_in_messages(void **state) {
    (void)state;
    as_message m;
    as_message_init(&m, NULL);
    size_t outer = as_message_begin(&m, 3), inner = as_message_begin(&m, 1);
    as_message_number(&m, 1, 150);
    as_message_end(&m, inner);
    as_message_end(&m, as_message_begin(&m, 2));
    as_message_end(&m, outer);
    assert_written(&m, BYTES(0x1a, 0x07, 0x0a, 0x03, 0x08, 0x96, 0x01, 0x12, 0x00));
    as_message_clear(&m);
    char text[200] = {0};
    size_t begun = as_message_begin(&m, 1); /* a length of two digits: 203 is 0xcb 0x01 */
    as_message_bytes(&m, 1, text, sizeof text);
    as_message_end(&m, begun);
    assert_int_equal(m.bytes.count, 206);
    assert_memory_equal(m.bytes.data, "\x0a\xcb\x01\x0a\xc8\x01", 6);
    as_output *out = as_output_to_memory();
    assert_true(as_message_output(&m, 5, out));
    size_t size;
    const char *bytes = as_output_memory(out, &size);
    assert_int_equal(size, 209);
    assert_memory_equal(bytes, "\x2a\xce\x01\x0a\xcb\x01", 6);
    as_output_discard(out);
    as_message_free(&m);
}

static void memory_that_is_out_is_remembered(void **state) {
    (void)state;
    as_budget budget = {.limit = 8};
    as_message m;
    as_message_init(&m, &budget);
    char text[4096] = {0};
    size_t begun = as_message_begin(&m, 1);
    as_message_bytes(&m, 1, text, sizeof text);
    as_message_end(&m, begun);
    assert_true(m.failed);
    as_output *out = as_output_to_memory();
    assert_false(as_message_output(&m, 1, out));
    as_output_discard(out);
    as_message_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(fixed_numbers_are_read),
        cmocka_unit_test(bytes_and_messages_are_read),
        cmocka_unit_test(repeated_numbers_are_read_packed_or_not),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(fields_are_written),
        cmocka_unit_test(messages_are_written_in_messages),
        cmocka_unit_test(memory_that_is_out_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
