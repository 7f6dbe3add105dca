#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/bytes.h"

static const unsigned char DATA[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xf8};

static void both_byte_orders(void **state) {
    (void)state;
    as_bytes little = as_bytes_of(DATA, sizeof DATA), big = little;
    big.big_endian = true;
    assert_int_equal(as_bytes_u16(&little), 0x0201);
    assert_int_equal(as_bytes_u16(&big), 0x0102);
    assert_int_equal(as_bytes_u32(&little), 0x06050403);
    assert_int_equal(as_bytes_u32(&big), 0x03040506);
    assert_int_equal(little.at, 6);
    little.at = big.at = 0;
    assert_true(as_bytes_u64(&little) == 0xf807060504030201u);
    assert_true(as_bytes_u64(&big) == 0x01020304050607f8u);
    little.at = 0;
    assert_true(as_bytes_i64(&little) == -0x07f8f9fafbfcfdff); /* two's complement of 0xf807060504030201 */
    assert_false(little.failed);
}

static void reals(void **state) {
    (void)state;
    static const unsigned char one_and_half[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0}; /* IEEE 754: 1.5 */
    as_bytes bytes = as_bytes_of(one_and_half, sizeof one_and_half);
    bytes.big_endian = true;
    assert_true(as_bytes_f64(&bytes) == 1.5);
}

static void the_end_holds(void **state) {
    (void)state;
    as_bytes bytes = as_bytes_of(DATA, sizeof DATA);
    assert_memory_equal(as_bytes_take(&bytes, 5), DATA, 5);
    assert_int_equal(as_bytes_u32(&bytes), 0);
    assert_true(bytes.failed);
    assert_int_equal(bytes.at, 5);
    assert_int_equal(as_bytes_u16(&bytes), 0); /* it would fit, but a failure stays one */
    assert_null(as_bytes_take(&bytes, 1));

    as_bytes fresh = as_bytes_of(DATA, sizeof DATA);
    fresh.at = 1;
    assert_null(as_bytes_take(&fresh, SIZE_MAX)); /* a hostile length must not wrap around */
    assert_true(fresh.failed);

    as_bytes exact = as_bytes_of(DATA, sizeof DATA);
    assert_non_null(as_bytes_take(&exact, sizeof DATA));
    assert_non_null(as_bytes_take(&exact, 0));
    assert_false(exact.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders),
        cmocka_unit_test(reals),
        cmocka_unit_test(the_end_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
