#include "io/deflate.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/parallel.h"

enum {
    PIECE = AS_DEFLATE_PIECE,
    ROOM = PIECE + PIECE / 64, /* for a piece that does not shrink */
    MIN_PIECES = 16,
    MAX_PIECES = 64, /* 128 MiB with what comes out */
    LEVEL = 1,
    RAW = -MAX_WBITS,
    MEMORY_LEVEL = 8 /* zlib's default */
};

struct as_deflater {
    as_output *out;
    unsigned threads;
    size_t n_pieces;                 /* that are packed at a time */
    unsigned char *plain;            /* n_pieces * PIECE */
    unsigned char *packed;           /* n_pieces * ROOM */
    size_t packed_sizes[MAX_PIECES]; /* 0: memory was out */
    size_t used;                     /* bytes in plain */
    bool is_ending;                  /* these pieces are the last */
    bool has_failed;
    as_deflated total;
};

as_deflater *as_deflater_new(as_output *out, unsigned threads) {
    as_deflater *deflater = calloc(1, sizeof *deflater);
    if (!deflater) return NULL;
    if (threads == 0) threads = as_core_count();
    size_t n = 4 * (size_t)threads; /* several each, so that none waits long for the others */
    n = n < MIN_PIECES ? MIN_PIECES : n > MAX_PIECES ? MAX_PIECES : n;
    deflater->out = out;
    deflater->threads = threads;
    deflater->n_pieces = n;
    deflater->plain = malloc(n * PIECE);
    deflater->packed = malloc(n * ROOM);
    if (deflater->plain && deflater->packed) return deflater;
    as_deflater_discard(deflater);
    return NULL;
}

void as_deflater_discard(as_deflater *deflater) {
    if (!deflater) return;
    free(deflater->plain);
    free(deflater->packed);
    free(deflater);
}

/* The number of pieces in use; the last piece of all may be empty, to end the stream. */
static size_t pieces_of(const as_deflater *deflater) { return deflater->used ? (deflater->used - 1) / PIECE + 1 : 1; }

static void pack_piece(void *user, size_t i) {
    as_deflater *deflater = user;
    bool is_last = deflater->is_ending && i + 1 == pieces_of(deflater);
    size_t rest = deflater->used - i * PIECE;
    deflater->packed_sizes[i] = 0;
    z_stream stream = {.next_in = deflater->plain + i * PIECE,
                       .avail_in = (uInt)(rest < PIECE ? rest : PIECE),
                       .next_out = deflater->packed + i * ROOM,
                       .avail_out = ROOM};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, RAW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) return;
    int code = deflate(&stream, is_last ? Z_FINISH : Z_SYNC_FLUSH); /* the latter ends at a byte */
    if (code == (is_last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0 && stream.avail_out > 0)
        deflater->packed_sizes[i] = ROOM - stream.avail_out;
    deflateEnd(&stream);
}

/* Packs and writes what has gathered. */
static bool pack_all(as_deflater *deflater) {
    size_t n = pieces_of(deflater);
    as_parallel(n, deflater->threads, pack_piece, deflater);
    for (size_t i = 0; i < n && !deflater->has_failed; i++) {
        size_t size = deflater->packed_sizes[i];
        deflater->has_failed = size == 0;
        as_output_write(deflater->out, deflater->packed + i * ROOM, size);
        deflater->total.packed_size += size;
    }
    deflater->used = 0;
    deflater->has_failed |= !as_output_flush(deflater->out);
    return !deflater->has_failed;
}

bool as_deflater_write(as_deflater *deflater, const void *data, size_t size) {
    const unsigned char *at = data;
    size_t room = deflater->n_pieces * PIECE;
    if (!size) return !deflater->has_failed;
    deflater->total.checksum = libdeflate_crc32(deflater->total.checksum, data, size);
    deflater->total.size += size;
    while (size && !deflater->has_failed) {
        if (deflater->used == room && !pack_all(deflater))
            break; /* not before more comes: the last piece ends the stream */
        size_t n = size < room - deflater->used ? size : room - deflater->used;
        memcpy(deflater->plain + deflater->used, at, n);
        deflater->used += n;
        at += n;
        size -= n;
    }
    return !deflater->has_failed;
}

bool as_deflater_end(as_deflater *deflater, as_deflated *total) {
    deflater->is_ending = true;
    bool fine = !deflater->has_failed && pack_all(deflater);
    *total = deflater->total;
    as_deflater_discard(deflater);
    return fine;
}
