/* The viewer's server: HTTP on one address, over libmicrohttpd.
 *
 * Who may ask: whoever knows the token, which is the first part of every path (http://127.0.0.1:PORT/TOKEN/…), and says
 * so to this host: requests with another Host, or from a page of another Origin, are refused. Every connection has a
 * thread of its own, so that a slow one holds up nobody; their number, the memory of each, and that of all answers on
 * their way are limited. */
#ifndef AS_SERVER_HTTP_H
#define AS_SERVER_HTTP_H

#include "server/viewing.h"

typedef struct as_server as_server;

typedef struct as_server_config {
    const char *address; /* "127.0.0.1"; an IPv4 or IPv6 address */
    uint16_t port;       /* 0: a free one */
} as_server_config;

/* Listens, and answers from threads of its own until as_server_stop(). The viewing must last. */
assay_status as_server_start(as_viewing *viewing, const as_server_config *config, as_server **out, assay_error *error);
void as_server_stop(as_server *server);

/* "http://127.0.0.1:4711/TOKEN/", borrowed. */
const char *as_server_url(const as_server *server);
uint16_t as_server_port(const as_server *server);

#endif
