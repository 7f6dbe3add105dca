/* Whether the head of a request says one thing only. Where two programs could read it in two ways, as two lengths of a
 * body, nobody knows where the next request begins: such a one is refused. */
#ifndef AS_SERVER_HEAD_H
#define AS_SERVER_HEAD_H

#include <microhttpd.h>

#include "core/error.h"

/* ASSAY_E_USAGE where it contradicts itself; the message says how. version: "HTTP/1.1". */
assay_status as_head_check(struct MHD_Connection *connection, const char *version, assay_error *error);

/* The bytes that the body is said to have; 0: none, or nobody knows. */
uint64_t as_head_body_size(struct MHD_Connection *connection);

#endif
