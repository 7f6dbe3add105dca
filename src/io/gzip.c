#include "io/gzip.h"

#include <libdeflate.h>
#include <zlib.h>

enum {
    BLOCK = 1 << 18,        /* room given to zlib at a time, at least */
    SMALLEST = 18,          /* header and trailer */
    PLAUSIBLE_RATIO = 64,   /* a claim beyond it is not taken as the size of a buffer */
    GZIP_ONLY = 16,         /* zlib: added to the window bits */
    LARGEST_STEP = 1 << 30, /* zlib counts in unsigned int */
};

bool as_gzip_looks_like(const char *data, size_t size) { return size >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0; }

/* The usual case: one member, whose last four bytes say its size. False, with out empty, where it is anything else. */
static bool unpack_at_once(const char *data, size_t size, as_vec *out) {
    if (size < SMALLEST) return false;
    const unsigned char *trailer = (const unsigned char *)data + size - 4;
    size_t claimed = trailer[0] | (size_t)trailer[1] << 8 | (size_t)trailer[2] << 16 | (size_t)trailer[3] << 24;
    if (claimed / PLAUSIBLE_RATIO > size || !as_vec_reserve(out, claimed + 1)) return false;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) return false;
    size_t used = 0, unpacked = 0;
    enum libdeflate_result result =
        libdeflate_gzip_decompress_ex(decompressor, data, size, out->data, claimed, &used, &unpacked);
    libdeflate_free_decompressor(decompressor);
    if (result != LIBDEFLATE_SUCCESS || used != size || unpacked != claimed) return false;
    out->count = claimed;
    return true;
}

static bool is_all_zero(const char *data, size_t size) {
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

assay_status as_fail_unpacked(const char *path, assay_error *error) {
    return as_fail(error, ASSAY_E_FORMAT, as_place_file(path), "packed-ratio",
                   "unpacks to more than 128 times its size, as traps do; if it is sound, unpack it first");
}

bool as_gunzip_head(const char *data, size_t size, char *out, size_t most, size_t *n) {
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)data,
                       .avail_in = (unsigned)(size < LARGEST_STEP ? size : LARGEST_STEP),
                       .next_out = (unsigned char *)out,
                       .avail_out = (unsigned)most};
    if (inflateInit2(&stream, MAX_WBITS + GZIP_ONLY) != Z_OK) return false;
    inflate(&stream, Z_SYNC_FLUSH); /* what is wrong with it shows when all is unpacked */
    *n = most - stream.avail_out;
    inflateEnd(&stream);
    return true;
}

typedef struct unpacking {
    const char *path;
    z_stream stream;
    const char *data;
    size_t size, at;
    as_vec *out;
    bool is_zlib; /* else gzip */
    assay_error *error;
} unpacking;

static assay_status fail_damaged(const unpacking *u, const char *what) {
    if (u->is_zlib)
        return as_fail(u->error, ASSAY_E_FORMAT, as_place_offset(u->path, u->at), "zlib-damaged",
                       "the zlib data is damaged: %s", what);
    return as_fail(u->error, ASSAY_E_FORMAT, as_place_file(u->path), "gzip-damaged", "the gzip data is damaged: %s",
                   what);
}

/* From u->at to the end of a member. */
static assay_status unpack_member(unpacking *u) {
    for (int result = Z_OK; result != Z_STREAM_END;) {
        if (!as_vec_reserve(u->out, BLOCK)) return as_fail_memory(u->error, u->path);
        size_t room = u->out->capacity - u->out->count, left = u->size - u->at;
        unsigned in = (unsigned)(left < LARGEST_STEP ? left : LARGEST_STEP),
                 space = (unsigned)(room < LARGEST_STEP ? room : LARGEST_STEP);
        u->stream.next_in = (unsigned char *)(uintptr_t)(u->data + u->at);
        u->stream.avail_in = in;
        u->stream.next_out = (unsigned char *)u->out->data + u->out->count;
        u->stream.avail_out = space;
        result = inflate(&u->stream, Z_NO_FLUSH);
        u->at += in - u->stream.avail_in;
        u->out->count += space - u->stream.avail_out;
        if (u->out->count > as_unpacked_most(u->size)) return as_fail_unpacked(u->path, u->error);
        if (result == Z_MEM_ERROR) return as_fail_memory(u->error, u->path);
        if (result == Z_BUF_ERROR && u->at == u->size) return fail_damaged(u, "it is cut off");
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return fail_damaged(u, u->stream.msg ? u->stream.msg : "not as deflate writes it");
    }
    return ASSAY_OK;
}

static assay_status unpack_members(unpacking *u) {
    do {
        AS_TRY(unpack_member(u));
        if (inflateReset(&u->stream) != Z_OK) return as_fail_memory(u->error, u->path);
    } while (as_gzip_looks_like(u->data + u->at, u->size - u->at));
    return is_all_zero(u->data + u->at, u->size - u->at) ? ASSAY_OK : fail_damaged(u, "something else follows it");
}

/* Ends the unpacking; out has what is left of it. */
static assay_status unpacked(unpacking *u, assay_status code) {
    inflateEnd(&u->stream);
    if (code == ASSAY_OK)
        as_vec_shrink(u->out);
    else
        as_vec_free(u->out);
    return code;
}

assay_status as_gunzip(const char *path, const char *data, size_t size, as_vec *out, assay_error *error) {
    if (unpack_at_once(data, size, out)) return ASSAY_OK;
    as_vec_free(out);
    unpacking u = {.path = path, .data = data, .size = size, .out = out, .error = error};
    if (inflateInit2(&u.stream, MAX_WBITS + GZIP_ONLY) != Z_OK) return as_fail_memory(error, path);
    return unpacked(&u, unpack_members(&u));
}

bool as_zlib_looks_like(const char *data, size_t size) {
    enum { METHOD = 0x0f, DEFLATE = 8, LARGEST_WINDOW = 7, DICTIONARY = 0x20, CHECK = 31 };
    if (size < 2) return false;
    unsigned first = (unsigned char)data[0], second = (unsigned char)data[1];
    return (first & METHOD) == DEFLATE && first >> 4 <= LARGEST_WINDOW && !(second & DICTIONARY) &&
           (first << 8 | second) % CHECK == 0;
}

assay_status as_zlib_unpack(const char *path, const char *data, size_t size, as_vec *out, assay_error *error) {
    unpacking u = {.path = path, .data = data, .size = size, .out = out, .is_zlib = true, .error = error};
    if (inflateInit(&u.stream) != Z_OK) return as_fail_memory(error, path);
    assay_status code = unpack_member(&u);
    if (code == ASSAY_OK && u.at != size) code = fail_damaged(&u, "something else follows it");
    return unpacked(&u, code);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

bool as_gzip(const char *data, size_t size, int level, as_vec *out) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (!compressor) return false;
    size_t most = libdeflate_gzip_compress_bound(compressor, size), old = out->count, packed = 0;
    if (as_vec_reserve(out, most)) {
        packed = libdeflate_gzip_compress(compressor, data, size, (char *)out->data + old, most);
        out->count = old + packed;
    }
    libdeflate_free_compressor(compressor);
    return packed > 0;
}

as_deflater *as_gzip_begin(as_output *out, unsigned threads) {
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; /* of no particular system */
    as_output_write(out, header, sizeof header);
    return as_deflater_new(out, threads);
}

bool as_gzip_end(as_output *out, as_deflater *deflater) {
    as_deflated total;
    if (!as_deflater_end(deflater, &total)) return false;
    unsigned char trailer[8];
    for (unsigned i = 0; i < 4; i++) {
        trailer[i] = (unsigned char)(total.checksum >> (8 * i));
        trailer[4 + i] = (unsigned char)(total.size >> (8 * i));
    }
    as_output_write(out, trailer, sizeof trailer);
    return true;
}
