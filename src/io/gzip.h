/* Gzip (RFC 1952) and zlib (RFC 1950) in memory. */
#ifndef AS_IO_GZIP_H
#define AS_IO_GZIP_H

#include "core/error.h"
#include "core/memory.h"
#include "io/deflate.h"

/* Whether data begins as gzip does. */
bool as_gzip_looks_like(const char *data, size_t size);

/* How much so many packed bytes may become: 256 MiB, or 128 times as much. Real measurements stay far below it, and
 * what goes beyond it is a trap that would fill the memory; who means it can unpack the file before. */
static inline size_t as_unpacked_most(size_t size) {
    enum { ALWAYS_FINE = 1 << 28, RATIO = 128 };
    size_t most;
    if (!as_mul_size(size, RATIO, &most)) return SIZE_MAX;
    return most > ALWAYS_FINE ? most : ALWAYS_FINE;
}
/* ASSAY_E_FORMAT with the rule packed-ratio, for what goes beyond it. */
assay_status as_fail_unpacked(const char *path, assay_error *error);

/* The first `most` bytes of what data unpacks to, into out; how many there are, as far as the data is sound. False when
 * memory is out. */
bool as_gunzip_head(const char *data, size_t size, char *out, size_t most, size_t *n);

/* Unpacks data, one or several members with zeros behind them at most, into out, an empty vector of char. The size the
 * data claims is believed only where libdeflate then finds it true; else memory is taken as the content arrives, within
 * the vector's budget. path: for messages. ASSAY_E_FORMAT with the rule gzip-damaged (also: cut off, a wrong checksum)
 * or packed-ratio, ASSAY_E_NOMEM; out is empty then. */
assay_status as_gunzip(const char *path, const char *data, size_t size, as_vec *out, assay_error *error);

/* Packs data as one member of gzip, without name and time, behind what is in out, a vector of char: the same bytes each
 * time. level: 1 (fast) to 12 (small). False when memory is out. */
bool as_gzip(const char *data, size_t size, int level, as_vec *out);
/* Gzip that is written piece by piece: writes a header without name and time, and gives the deflater that the content
 * goes to, packed by so many threads (0: all cores; the bytes do not depend on it). NULL when memory is out. */
as_deflater *as_gzip_begin(as_output *out, unsigned threads);
/* Ends the stream and writes its trailer; frees the deflater in every case. False when memory is out, or when out has
 * failed. */
bool as_gzip_end(as_output *out, as_deflater *deflater);

/* Whether data begins as zlib does, without a dictionary. That is but 16 bits: text may look like it. */
bool as_zlib_looks_like(const char *data, size_t size);
/* Unpacks data, one zlib stream with nothing behind it, as as_gunzip() does. The rule is zlib-damaged, with the
 * offset. */
assay_status as_zlib_unpack(const char *path, const char *data, size_t size, as_vec *out, assay_error *error);

#endif
