/* Base64 (RFC 4648), for bytes inside of text. */
#ifndef AS_IO_BASE64_H
#define AS_IO_BASE64_H

#include "io/output.h"

/* With padding, on one line. */
void as_base64(as_output *out, const void *data, size_t size);

#endif
