#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "io/msgpack.h"

#define BYTES(...)                                                                                                     \
    (const char[]){__VA_ARGS__}, sizeof(const char[]) { __VA_ARGS__ }

static as_msgpack first_of(const char *data, size_t size) {
    as_msgpack m = as_msgpack_of(data, size);
    as_msgpack_next(&m);
    return m;
}

static void assert_whole(const char *data, size_t size, as_msgpack_type type, uint64_t bits) {
    as_msgpack m = first_of(data, size);
    assert_int_equal(m.type, type);
    assert_true(m.natural == bits);
    assert_int_equal(m.at, size);
    assert_int_equal(as_msgpack_next(&m), AS_MSGPACK_END);
}

/* Each notation of the specification, with its smallest and largest value where that is of interest. */
static void integers(void **state) {
    (void)state;
    assert_whole(BYTES(0x00), AS_MSGPACK_UINT, 0);
    assert_whole(BYTES(0x7f), AS_MSGPACK_UINT, 127);
    assert_whole(BYTES((char)0xe0), AS_MSGPACK_INT, (uint64_t)-32);
    assert_whole(BYTES((char)0xff), AS_MSGPACK_INT, (uint64_t)-1);
    assert_whole(BYTES((char)0xcc, (char)0xff), AS_MSGPACK_UINT, 255);
    assert_whole(BYTES((char)0xcd, 0x01, 0x02), AS_MSGPACK_UINT, 258);
    assert_whole(BYTES((char)0xce, 0x01, 0x02, 0x03, 0x04), AS_MSGPACK_UINT, 0x01020304);
    assert_whole(BYTES((char)0xcf, -1, -1, -1, -1, -1, -1, -1, -1), AS_MSGPACK_UINT, UINT64_MAX);
    assert_whole(BYTES((char)0xd0, (char)0x80), AS_MSGPACK_INT, (uint64_t)-128);
    assert_whole(BYTES((char)0xd0, 0x05), AS_MSGPACK_UINT, 5); /* from 0 on it is a natural number */
    assert_whole(BYTES((char)0xd1, (char)0xff, (char)0xfe), AS_MSGPACK_INT, (uint64_t)-2);
    assert_whole(BYTES((char)0xd2, (char)0x80, 0, 0, 0), AS_MSGPACK_INT, (uint64_t)INT32_MIN);
    assert_whole(BYTES((char)0xd3, (char)0x80, 0, 0, 0, 0, 0, 0, 0), AS_MSGPACK_INT, (uint64_t)INT64_MIN);
}

static void other_scalars(void **state) {
    (void)state;
    assert_int_equal(first_of(BYTES((char)0xc0)).type, AS_MSGPACK_NIL);
    as_msgpack no = first_of(BYTES((char)0xc2)), yes = first_of(BYTES((char)0xc3));
    assert_true(no.type == AS_MSGPACK_BOOL && !no.truth && yes.type == AS_MSGPACK_BOOL && yes.truth);
    as_msgpack half = first_of(BYTES((char)0xca, 0x3f, 0x00, 0, 0)); /* IEEE 754, 32 bits: 0.5 */
    assert_true(half.type == AS_MSGPACK_REAL && half.real == 0.5);
    as_msgpack real = first_of(BYTES((char)0xcb, 0x3f, (char)0xf8, 0, 0, 0, 0, 0, 0)); /* 1.5 */
    assert_true(real.type == AS_MSGPACK_REAL && real.real == 1.5);
}

static void assert_bytes(const char *data, size_t size, as_msgpack_type type, const char *text) {
    as_msgpack m = first_of(data, size);
    assert_int_equal(m.type, type);
    assert_int_equal(m.length, strlen(text));
    assert_memory_equal(m.text, text, m.length);
    assert_int_equal(m.at, size);
}

static void texts_and_bytes(void **state) {
    (void)state;
    assert_bytes(BYTES((char)0xa0), AS_MSGPACK_TEXT, "");
    assert_bytes(BYTES((char)0xa2, 'h', 'i'), AS_MSGPACK_TEXT, "hi");
    assert_bytes(BYTES((char)0xd9, 2, 'h', 'i'), AS_MSGPACK_TEXT, "hi");
    assert_bytes(BYTES((char)0xda, 0, 2, 'h', 'i'), AS_MSGPACK_TEXT, "hi");
    assert_bytes(BYTES((char)0xdb, 0, 0, 0, 2, 'h', 'i'), AS_MSGPACK_TEXT, "hi");
    assert_bytes(BYTES((char)0xc4, 1, 'x'), AS_MSGPACK_BYTES, "x");
    assert_bytes(BYTES((char)0xc5, 0, 1, 'x'), AS_MSGPACK_BYTES, "x");
    assert_bytes(BYTES((char)0xc6, 0, 0, 0, 1, 'x'), AS_MSGPACK_BYTES, "x");
    assert_bytes(BYTES((char)0xd4, 7, 'a'), AS_MSGPACK_EXTENSION, "a");
    assert_bytes(BYTES((char)0xd5, 7, 'a', 'b'), AS_MSGPACK_EXTENSION, "ab");
    assert_bytes(BYTES((char)0xd6, 7, 'a', 'b', 'c', 'd'), AS_MSGPACK_EXTENSION, "abcd");
    assert_bytes(BYTES((char)0xc7, 3, -1, 'a', 'b', 'c'), AS_MSGPACK_EXTENSION, "abc");
    assert_int_equal(first_of(BYTES((char)0xc7, 3, -1, 'a', 'b', 'c')).extension, -1);
    as_msgpack m = first_of(BYTES((char)0xa2, 'h', 'i'));
    assert_true(as_msgpack_is(&m, "hi"));
    assert_false(as_msgpack_is(&m, "h"));
    assert_false(as_msgpack_is(&m, "hi!"));
}

static void arrays_and_maps(void **state) {
    (void)state;
    as_msgpack m = as_msgpack_of(BYTES((char)0x92, 1, (char)0x81, 2, 3, 4)); /* [1, {2: 3}], 4 */
    assert_true(as_msgpack_next(&m) == AS_MSGPACK_ARRAY && m.count == 2);
    assert_true(as_msgpack_next(&m) == AS_MSGPACK_UINT && m.natural == 1 && m.offset == 1);
    assert_true(as_msgpack_next(&m) == AS_MSGPACK_MAP && m.count == 1 && m.offset == 2);
    assert_int_equal(as_msgpack_skip(&m), AS_MSGPACK_UINT); /* the last that was skipped: 3 */
    assert_true(as_msgpack_next(&m) == AS_MSGPACK_UINT && m.natural == 4);
    assert_int_equal(as_msgpack_next(&m), AS_MSGPACK_END);
    assert_int_equal(as_msgpack_next(&m), AS_MSGPACK_END);
    m = as_msgpack_of(BYTES((char)0x92, 1, (char)0x81, 2, 3, 4));
    as_msgpack_next(&m);
    as_msgpack_skip(&m);
    assert_true(as_msgpack_next(&m) == AS_MSGPACK_UINT && m.natural == 4);
    assert_true(first_of(BYTES((char)0xdc, 0, 1, 5)).count == 1);
    assert_true(first_of(BYTES((char)0xdd, 0, 0, 0, 1, 5)).count == 1);
    assert_true(first_of(BYTES((char)0xde, 0, 1, 5, 6)).count == 1);
    assert_true(first_of(BYTES((char)0xdf, 0, 0, 0, 1, 5, 6)).type == AS_MSGPACK_MAP);
}

static void assert_broken(const char *data, size_t size, size_t offset) {
    as_msgpack m = as_msgpack_of(data, size);
    as_msgpack_next(&m);
    as_msgpack_skip(&m);
    assert_int_equal(m.type, AS_MSGPACK_ERROR);
    assert_non_null(m.error);
    assert_int_equal(m.offset, offset);
    assert_int_equal(as_msgpack_next(&m), AS_MSGPACK_ERROR); /* stays one */
}

static void hostile_lengths(void **state) {
    (void)state;
    assert_broken(BYTES((char)0xdd, -1, -1, -1, -1, 0), 0); /* an array of 2^32 - 1 in one byte */
    assert_broken(BYTES((char)0xdf, -1, -1, -1, -1, 0), 0); /* a map, of twice as many */
    assert_broken(BYTES((char)0xdb, -1, -1, -1, -1, 'x'), 0);
    assert_broken(BYTES((char)0xc9, -1, -1, -1, -1, 1, 'x'), 0);
    assert_broken(BYTES((char)0xc1), 0); /* no value begins so */
    assert_broken(BYTES((char)0x93, 1, 2), 0);
    assert_broken(BYTES((char)0x92, (char)0x91, 1), 1); /* each may be there, but not both */
    assert_broken(BYTES((char)0x81, 1), 0);
    assert_broken(BYTES((char)0xd8, 0, 1, 2), 0);
    assert_broken(BYTES((char)0xd4), 0);
}

/* Every beginning of a sound document is an error, and none of them is read beyond. */
static void every_cut(void **state) {
    (void)state;
    static const char whole[] =
        "\x98\xcd\x01\x02\xa3"
        "abc\xcb\x3f\xf8\0\0\0\0\0\0\xdc\0\2\1\2\xde\0\1\1\xc0\xc7\2\1xy\xdb\0\0\0\1z\xd3\0\0\0\0\0\0\0\1";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char *exact = malloc(size ? size : 1);
        memcpy(exact, whole, size);
        as_msgpack m = as_msgpack_of(exact, size);
        as_msgpack_type type = as_msgpack_next(&m);
        if (type != AS_MSGPACK_END) type = as_msgpack_skip(&m);
        assert_int_equal(type, size ? AS_MSGPACK_ERROR : AS_MSGPACK_END);
        free(exact);
    }
    as_msgpack m = as_msgpack_of(whole, sizeof whole - 1);
    as_msgpack_next(&m);
    assert_int_equal(as_msgpack_skip(&m), AS_MSGPACK_UINT);
    assert_int_equal(m.at, sizeof whole - 1);
}

/* A million arrays within one another are skipped without a stack. */
static void deep_nesting(void **state) {
    (void)state;
    enum { DEPTH = 1000000 };
    char *deep = malloc(DEPTH + 1);
    memset(deep, 0x91, DEPTH);
    deep[DEPTH] = 7;
    as_msgpack m = as_msgpack_of(deep, DEPTH + 1);
    as_msgpack_next(&m);
    assert_true(as_msgpack_skip(&m) == AS_MSGPACK_UINT && m.at == DEPTH + 1);
    m = as_msgpack_of(deep, DEPTH);
    as_msgpack_next(&m);
    assert_int_equal(as_msgpack_skip(&m), AS_MSGPACK_ERROR);
    free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),        cmocka_unit_test(other_scalars),   cmocka_unit_test(texts_and_bytes),
        cmocka_unit_test(arrays_and_maps), cmocka_unit_test(hostile_lengths), cmocka_unit_test(every_cut),
        cmocka_unit_test(deep_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
