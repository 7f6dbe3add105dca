/* A raw deflate stream (RFC 1951) of data that comes bit by bit and need not fit into memory, by zlib at level 1. As in
 * pigz, pieces of 1 MiB are packed each on its own, on several threads; they end at a byte, so that they make one
 * stream when put together. libdeflate takes two thirds of the time and leaves 7 % less, but must have all data at
 * once. */
#ifndef AS_IO_DEFLATE_H
#define AS_IO_DEFLATE_H

#include "io/output.h"

enum { AS_DEFLATE_PIECE = 1 << 20 };

typedef struct as_deflater as_deflater;

typedef struct as_deflated {
    uint64_t size, packed_size;
    uint32_t checksum; /* CRC-32 of what went in */
} as_deflated;

/* threads 0: as many as there are cores. The bytes do not depend on it. NULL when memory is out. */
as_deflater *as_deflater_new(as_output *out, unsigned threads);
/* False when memory is out, or when out has failed: then it takes no more. */
bool as_deflater_write(as_deflater *deflater, const void *data, size_t size);
/* Writes what is left and the end of the stream, and frees the deflater in every case. */
bool as_deflater_end(as_deflater *deflater, as_deflated *total);
/* Ends it without a result. NULL is fine. */
void as_deflater_discard(as_deflater *deflater);

#endif
