#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <zlib.h>

#include "io/deflate.h"

enum { PIECE = AS_DEFLATE_PIECE };

/* Text with repeats; noise: nothing that could shrink. */
static unsigned char *make_data(size_t size, bool noise) {
    unsigned char *data = malloc(size + 1);
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        data[i] = noise ? (unsigned char)(seed >> 24) : (unsigned char)"\"mean\":0123456789.,"[(seed >> 28) + i % 3];
    }
    return data;
}

static as_output *pack(const unsigned char *data, size_t size, size_t step, unsigned threads, as_deflated *total) {
    as_output *out = as_output_to_memory();
    as_deflater *deflater = as_deflater_new(out, threads);
    assert_non_null(deflater);
    for (size_t at = 0; at < size; at += step)
        assert_true(as_deflater_write(deflater, data + at, size - at < step ? size - at : step));
    assert_true(as_deflater_end(deflater, total));
    return out;
}

/* zlib takes the stream, all of it and nothing less, and gives the data back. */
static void expect_unpacked(const as_output *packed, const unsigned char *data, size_t size) {
    unsigned char *back = malloc(size + 1);
    size_t packed_size;
    const char *stream = as_output_memory(packed, &packed_size);
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)stream,
                  .avail_in = (uInt)packed_size,
                  .next_out = back,
                  .avail_out = (uInt)size + 1};
    assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, size);
    assert_memory_equal(back, data, size);
    inflateEnd(&z);
    free(back);
}

/* 16 and 17 pieces: as many as are packed at a time on a few threads, and one more. */
static const size_t sizes[] = {0,         1,         2,          1000,           PIECE - 1,         PIECE,
                               PIECE + 1, 2 * PIECE, 16 * PIECE, 16 * PIECE + 1, 17 * PIECE + 12345};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void all_sizes_come_back(void **state) {
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        for (size_t i = 0; i < N_SIZES; i++) {
            unsigned char *data = make_data(sizes[i], noise);
            as_deflated total;
            as_output *out = pack(data, sizes[i], 300007, 0, &total);
            assert_int_equal(total.size, sizes[i]);
            assert_int_equal(total.packed_size, as_output_size(out));
            assert_int_equal(total.checksum, crc32(0, data, (uInt)sizes[i]));
            assert_true(total.packed_size <= sizes[i] + sizes[i] / 1000 + 20);
            if (!noise && sizes[i] > 1000) assert_true(total.packed_size < sizes[i] * 7 / 10);
            expect_unpacked(out, data, sizes[i]);
            as_output_discard(out);
            free(data);
        }
    }
}

/* Neither the threads nor how the data comes in show in the bytes. */
static void always_the_same_bytes(void **state) {
    (void)state;
    size_t size = 40 * PIECE + 77, n, m;
    unsigned char *data = make_data(size, false);
    static const size_t steps[] = {1 << 17, PIECE, 3333333, SIZE_MAX};
    static const unsigned threads[] = {4, 2, 0, 30};
    as_deflated total;
    as_output *one = pack(data, size, size, 1, &total);
    const char *expected = as_output_memory(one, &n);
    for (size_t i = 0; i < 4; i++) {
        as_output *other = pack(data, size, steps[i] < size ? steps[i] : size, threads[i], &total);
        const char *bytes = as_output_memory(other, &m);
        assert_int_equal(n, m);
        assert_memory_equal(expected, bytes, n);
        as_output_discard(other);
    }
    as_output_discard(one);
    free(data);
}

static void a_full_disk_ends_it(void **state) {
    (void)state;
    as_output *out = NULL;
    if (as_output_open("/dev/full", &out, NULL) != ASSAY_OK) skip();
    unsigned char *data = make_data(PIECE, true);
    as_deflater *deflater = as_deflater_new(out, 2);
    size_t taken = 0;
    while (taken < 100 && as_deflater_write(deflater, data, PIECE)) taken++;
    assert_int_equal(taken, 16); /* the first pieces are written when the 17th comes */
    assert_false(as_deflater_write(deflater, data, 1));
    as_deflated total;
    assert_false(as_deflater_end(deflater, &total));

    deflater = as_deflater_new(out, 2);
    assert_true(as_deflater_write(deflater, data, 1));
    as_deflater_discard(deflater);
    as_deflater_discard(NULL);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_E_IO);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_come_back),
        cmocka_unit_test(always_the_same_bytes),
        cmocka_unit_test(a_full_disk_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
