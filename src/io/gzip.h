/* Gzip (RFC 1952) in memory. */
#ifndef AS_IO_GZIP_H
#define AS_IO_GZIP_H

#include "core/error.h"
#include "core/memory.h"

/* Whether data begins as gzip does. */
bool as_gzip_looks_like(const char *data, size_t size);

/* Unpacks data, one or several members with zeros behind them at most, into out, an empty vector of char. The size the data claims is believed only
 * where libdeflate then finds it true; else memory is taken as the content arrives, within the vector's budget. path: for messages.
 * ASSAY_E_FORMAT with the rule gzip-damaged (also: cut off, a wrong checksum), ASSAY_E_NOMEM; out is empty then. */
assay_status as_gunzip(const char *path, const char *data, size_t size, as_vec *out, assay_error *error);

#endif
