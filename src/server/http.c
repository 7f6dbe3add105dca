#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/connections.h"
#include "server/drop.h"
#include "server/head.h"
#include "server/request.h"
#include "server/web.h"

enum {
    TOKEN_BYTES = 16,
    MAX_CONNECTIONS = 2 * AS_MOST_CONNECTIONS, /* those that have lost their places take a moment to go */
    CONNECTION_MEMORY = 64 << 10,
    TIMEOUT_SECONDS = 30,
    MAX_PARAMETERS = 4096,
    MAX_BODY = 128 << 10, /* of a request that is no dropped file */
    MAX_READ = 1 << 20,   /* bytes of a body that are read, so that who sends too much can hear it */
    SEND_ROOM = 256 << 10 /* bytes of answers that the system holds for a connection */
};

struct as_server {
    as_viewing *viewing;
    struct MHD_Daemon *daemon;
    as_connections *connections;
    uint16_t port;
    char token[2 * TOKEN_BYTES + 1];
    char url[400];
    char hosts[3][320];   /* what Host may say, beside the address of this end; the first is that of the URL */
    atomic_bool is_named; /* they are known: only when it listens it has a port */
};

/* One request from its first to its last byte. */
typedef struct exchange {
    as_server *server;
    as_connection *from;
    unsigned refusal; /* the status, where it was refused before its body came; the error says why */
    assay_error error;
    as_vec body;                      /* char */
    as_drop_file *file;               /* of a drop */
    uint64_t received, most_received; /* bytes of the body: beyond the second it is cut off */
    size_t n_on_the_way;
} exchange;

/* ---- who may ask ------------------------------------------------------------------------------------------------- */

/* Takes as long for a wrong token as for the right one. */
static bool is_token(const char *token, const char *given, size_t size) {
    unsigned char difference = size == 2 * TOKEN_BYTES ? 0 : 1;
    for (size_t i = 0; i < 2 * TOKEN_BYTES; i++) difference |= (unsigned char)(token[i] ^ (i < size ? given[i] : '\0'));
    return difference == 0;
}

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} any_address;

/* "127.0.0.1:80", "[::1]:80": as browsers write it. */
static void write_address(const any_address *address, uint16_t port, char *out, size_t room) {
    char text[INET6_ADDRSTRLEN] = "";
    bool is_v6 = address->any.sa_family == AF_INET6;
    inet_ntop(address->any.sa_family, is_v6 ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr, text,
              sizeof text);
    snprintf(out, room, "%s%s%s:%u", is_v6 ? "[" : "", text, is_v6 ? "]" : "", port);
}

/* Whether a header says this name with its port; browsers leave out the port 80. */
static bool is_name(const as_server *server, const char *host, const char *name) {
    size_t size = strlen(host);
    if (strcasecmp(host, name) == 0) return true;
    return server->port == 80 && strncasecmp(host, name, size) == 0 && strcmp(name + size, ":80") == 0;
}

/* Whether this is the address that the connection has at this end: who listens at all addresses has many. */
static bool is_this_end(const as_server *server, struct MHD_Connection *connection, const char *host) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    any_address address = {0};
    socklen_t size = sizeof address;
    char text[128];
    if (!info || getsockname(info->connect_fd, &address.any, &size) != 0) return false;
    write_address(&address, server->port, text, sizeof text);
    return is_name(server, host, text);
}

static bool is_host(const as_server *server, struct MHD_Connection *connection, const char *host) {
    if (!host || !atomic_load(&server->is_named)) return false;
    for (size_t i = 0; i < sizeof server->hosts / sizeof *server->hosts; i++) {
        if (is_name(server, host, server->hosts[i])) return true;
    }
    return is_this_end(server, connection, host);
}

static bool is_own_origin(const as_server *server, struct MHD_Connection *connection, const char *origin) {
    static const char scheme[] = "http://";
    return !origin || (strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
                       is_host(server, connection, origin + sizeof scheme - 1));
}

/* A page of somebody else can make the browser ask, but not hide that it did. */
static bool comes_from_elsewhere(const char *site) {
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* What stands behind the token, or NULL where the request is refused. */
static const char *admitted_path(exchange *x, struct MHD_Connection *connection, const char *url) {
    const as_server *server = x->server;
    size_t size = url[0] == '/' ? strcspn(url + 1, "/") : 0;
    x->refusal = 403;
    if (!is_host(server, connection, header(connection, "Host")) ||
        !is_own_origin(server, connection, header(connection, "Origin")) ||
        comes_from_elsewhere(header(connection, "Sec-Fetch-Site"))) {
        as_fail(&x->error, ASSAY_E_USAGE, AS_NOWHERE, "", "this server answers only to its own page");
        return NULL;
    }
    if (!is_token(server->token, url + 1, size)) {
        as_fail(&x->error, ASSAY_E_USAGE, AS_NOWHERE, "",
                "this address lacks the token of the viewer, which is another at each start; open the one that "
                "`assay view` printed");
        return NULL;
    }
    x->refusal = 0;
    as_connection_is_known(server->connections, x->from);
    return url + 1 + size;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Of every answer. */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};
enum { N_HEADERS = sizeof headers / sizeof *headers };

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status, const char *type,
                                     struct MHD_Response *response) {
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < N_HEADERS; i++) MHD_add_response_header(response, headers[i].name, headers[i].value);
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status, const assay_error *error) {
    as_output *out = as_output_to_memory();
    size_t size;
    enum MHD_Result sent = MHD_NO;
    if (!out) return MHD_NO;
    as_answer_error(out, error);
    const char *text = as_output_memory(out, &size);
    if (text)
        sent = send_response(connection, status, "application/json; charset=utf-8",
                             MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
    as_output_discard(out);
    return sent;
}

/* The parts of the page. */
static const struct {
    const char *path, *type;
    const as_web_file *file;
} page[] = {{"/", "text/html; charset=utf-8", &as_web_html},
            {"/assay.js", "text/javascript; charset=utf-8", &as_web_js},
            {"/assay.css", "text/css; charset=utf-8", &as_web_css}};

static enum MHD_Result send_file(struct MHD_Connection *connection, const char *type, const as_web_file *file) {
    const char *accepted = header(connection, "Accept-Encoding");
    bool is_packed = file->gzip_size > 0 && accepted && strstr(accepted, "gzip");
    struct MHD_Response *response = MHD_create_response_from_buffer(
        is_packed ? file->gzip_size : file->size, (void *)(uintptr_t)(is_packed ? file->gzip : file->bytes),
        MHD_RESPMEM_PERSISTENT);
    if (response && is_packed) MHD_add_response_header(response, "Content-Encoding", "gzip");
    return send_response(connection, MHD_HTTP_OK, type, response);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static enum MHD_Result see_parameter(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    as_vec *parameters = user;
    as_parameter parameter = {name, value ? value : ""};
    (void)kind;
    return as_vec_append(parameters, &parameter, 1) ? MHD_YES : MHD_NO;
}

static enum MHD_Result send_answer(exchange *x, struct MHD_Connection *connection, const as_request *request) {
    as_server *server = x->server;
    as_output *out = as_output_to_memory();
    size_t size;
    if (!out) return MHD_NO;
    assay_error error;
    unsigned status = as_request_answer(server->viewing, request, out, &error);
    const char *text = as_output_memory(out, &size);
    enum MHD_Result sent = MHD_NO;
    if (text && !as_connections_answer(server->connections, x->from, size)) {
        as_fail(&x->error, ASSAY_E_NOMEM, AS_NOWHERE, "", "too many answers wait to be taken; try again");
        sent = send_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, &x->error);
    } else if (text) {
        x->n_on_the_way = size;
        sent = send_response(connection, status, "application/json; charset=utf-8",
                             MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
    }
    as_output_discard(out);
    return sent;
}

/* Whether the other end has hung up. */
static bool is_gone(const void *user) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info((struct MHD_Connection *)(uintptr_t)user, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    return info && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static enum MHD_Result answer_api(exchange *x, struct MHD_Connection *connection, const char *path, bool is_post) {
    as_request request = {.path = path, .is_post = is_post, .body = "", .is_gone = is_gone, .connection = connection};
    enum MHD_Result sent;
    if (x->body.count > 0) {
        if (!as_vec_append(&x->body, "", 1)) return MHD_NO;
        request.body = x->body.data;
        request.body_size = x->body.count - 1;
    }
    int n = MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL);
    if (n > MAX_PARAMETERS) {
        as_fail(&x->error, ASSAY_E_USAGE, AS_NOWHERE, "", "more than %d parameters", MAX_PARAMETERS);
        return send_error(connection, MHD_HTTP_BAD_REQUEST, &x->error);
    }
    as_vec_init(&request.parameters, sizeof(as_parameter), NULL);
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, see_parameter, &request.parameters);
    sent = (int)request.parameters.count == n ? send_answer(x, connection, &request) : MHD_NO;
    as_vec_free(&request.parameters);
    return sent;
}

static bool has_prefix(const char *text, const char *prefix, const char **rest) {
    size_t size = strlen(prefix);
    *rest = text + size;
    return strncmp(text, prefix, size) == 0;
}

static void refuse_body(exchange *x, assay_status status) {
    x->refusal = status == ASSAY_E_UNSUPPORTED                     ? MHD_HTTP_CONTENT_TOO_LARGE
                 : status == ASSAY_E_IO || status == ASSAY_E_NOMEM ? MHD_HTTP_INSUFFICIENT_STORAGE
                                                                   : MHD_HTTP_BAD_REQUEST;
}

static assay_status fail_too_long(assay_error *error) {
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-large", "the request is too long; it may have %d KiB",
                   MAX_BODY >> 10);
}

/* A dropped file goes to its folder as it comes. */
static assay_status begin_drop(exchange *x, struct MHD_Connection *connection) {
    as_viewing *viewing = x->server->viewing;
    assay_status status = ASSAY_OK;
    as_viewing_lock(viewing);
    if (!viewing->drops) status = as_drops_new(viewing->max_drop, &viewing->drops, &x->error);
    as_viewing_unlock(viewing);
    AS_TRY(status);
    if (viewing->max_drop > x->most_received) x->most_received = viewing->max_drop;
    return as_drop_begin(viewing->drops, MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "drop"),
                         MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "name"),
                         as_head_body_size(connection), &x->file, &x->error);
}

/* The head is there: whether the body may come. */
static void begin_body(exchange *x, struct MHD_Connection *connection, const char *version, bool is_drop) {
    assay_status status = as_head_check(connection, version, &x->error);
    x->most_received = MAX_READ;
    if (status == ASSAY_OK && is_drop)
        status = begin_drop(x, connection);
    else if (status == ASSAY_OK && as_head_body_size(connection) > MAX_READ)
        status = fail_too_long(&x->error);
    if (status != ASSAY_OK) refuse_body(x, status);
}

/* libmicrohttpd answers only when a body has ended, and this one may have no end: so the refusal goes out beside it,
 * and the connection ends. */
static enum MHD_Result cut_off(const exchange *x, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    as_output *body = as_output_to_memory(), *out = as_output_to_memory();
    size_t size = 0, n = 0;
    if (body) as_answer_error(body, &x->error);
    const char *text = body ? as_output_memory(body, &size) : NULL;
    if (info && out && text) {
        as_output_printf(out, "HTTP/1.1 %u %s\r\nContent-Type: application/json; charset=utf-8\r\n", x->refusal,
                         MHD_get_reason_phrase_for(x->refusal));
        for (size_t i = 0; i < N_HEADERS; i++) as_output_printf(out, "%s: %s\r\n", headers[i].name, headers[i].value);
        as_output_printf(out, "Connection: close\r\nContent-Length: %zu\r\n\r\n", size);
        as_output_write(out, text, size);
        const char *answer = as_output_memory(out, &n);
        if (answer) send(info->connect_fd, answer, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    as_output_discard(body);
    as_output_discard(out);
    return MHD_NO;
}

/* Some bytes of a body. What was refused is read on for a while, so that the refusal can be heard. */
static enum MHD_Result take_body(exchange *x, struct MHD_Connection *connection, const char *data, size_t size) {
    assay_status status = ASSAY_OK;
    x->received += size;
    if (!x->refusal && x->file)
        status = as_drop_write(x->file, data, size, &x->error);
    else if (!x->refusal && x->body.count + size > MAX_BODY)
        status = fail_too_long(&x->error);
    else if (!x->refusal && !as_vec_append(&x->body, data, size))
        status = as_fail_memory(&x->error, NULL);
    if (status != ASSAY_OK) {
        refuse_body(x, status);
        as_drop_end(x->file, false);
        x->file = NULL;
    }
    return x->refusal && x->received > x->most_received ? cut_off(x, connection) : MHD_YES;
}

static enum MHD_Result finish_drop(exchange *x, struct MHD_Connection *connection) {
    static const char done[] = "{}\n";
    bool is_kept = as_drop_end(x->file, true);
    x->file = NULL;
    if (!is_kept) {
        as_fail(&x->error, ASSAY_E_IO, AS_NOWHERE, "", "cannot keep the dropped file; is the disk full?");
        return send_error(connection, MHD_HTTP_INSUFFICIENT_STORAGE, &x->error);
    }
    return send_response(
        connection, MHD_HTTP_OK, "application/json; charset=utf-8",
        MHD_create_response_from_buffer(sizeof done - 1, (void *)(uintptr_t)done, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer_path(exchange *x, struct MHD_Connection *connection, const char *path, bool is_post) {
    const char *name;
    if (*path == '\0') { /* the page's addresses are relative to the folder */
        struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        if (response) MHD_add_response_header(response, "Location", x->server->url);
        return send_response(connection, MHD_HTTP_PERMANENT_REDIRECT, "text/plain", response);
    }
    if (has_prefix(path, "/api/", &name)) return answer_api(x, connection, name, is_post);
    for (size_t i = 0; !is_post && i < sizeof page / sizeof *page; i++) {
        if (strcmp(path, page[i].path) == 0) return send_file(connection, page[i].type, page[i].file);
    }
    as_fail(&x->error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no such page");
    return send_error(connection, MHD_HTTP_NOT_FOUND, &x->error);
}

static as_connection *place_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static exchange *begin_exchange(as_server *server, struct MHD_Connection *connection) {
    exchange *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->server = server;
    x->from = place_of(connection);
    x->error.offset = -1;
    as_vec_init(&x->body, sizeof(char), NULL);
    return x;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state) {
    exchange *x = *state;
    as_connections *connections = ((as_server *)user)->connections;
    bool is_post = strcmp(method, "POST") == 0, is_new = !x;
    if (is_new && !(*state = x = begin_exchange(user, connection))) return MHD_NO;
    const char *path = x->refusal && !is_new ? NULL : admitted_path(x, connection, url);
    bool is_drop = path && is_post && strcmp(path, "/api/drop") == 0;
    if (is_new && !is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        as_fail(&x->error, ASSAY_E_USAGE, AS_NOWHERE, "", "only GET and POST are answered");
        return send_error(connection, x->refusal = MHD_HTTP_METHOD_NOT_ALLOWED, &x->error);
    }
    if (is_new) {
        as_connection_is_at(connections, x->from, AS_CONNECTION_SENDS);
        if (!x->refusal) begin_body(x, connection, version, is_drop);
        /* Nobody who may not ask gets to send anything. */
        return x->refusal ? send_error(connection, x->refusal, &x->error) : MHD_YES;
    }
    if (*size > 0) {
        size_t n = *size;
        *size = 0;
        return take_body(x, connection, data, n);
    }
    if (x->refusal) return send_error(connection, x->refusal, &x->error);
    as_connection_is_at(connections, x->from, AS_CONNECTION_IS_SERVED);
    enum MHD_Result sent = is_drop ? finish_drop(x, connection) : answer_path(x, connection, path, is_post);
    as_connection_is_at(connections, x->from, AS_CONNECTION_TAKES);
    return sent;
}

static void forget(void *user, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
    exchange *x = *state;
    (void)user, (void)connection, (void)code;
    if (!x) return;
    as_connections_taken(x->server->connections, x->from, x->n_on_the_way);
    as_connection_is_at(x->server->connections, x->from, AS_CONNECTION_WAITS);
    as_drop_end(x->file, false);
    as_vec_free(&x->body);
    free(x);
    *state = NULL;
}

/* A zero byte ends no text here: it becomes another that no name has. */
static size_t unescape(void *user, struct MHD_Connection *connection, char *text) {
    (void)user, (void)connection;
    size_t size = MHD_http_unescape(text);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0') text[i] = '\1';
    }
    return size;
}

/* A connection comes or goes. */
static void see_connection(void *user, struct MHD_Connection *connection, void **place,
                           enum MHD_ConnectionNotificationCode code) {
    as_connections *connections = ((as_server *)user)->connections;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int room = SEND_ROOM;
    if (info && code == MHD_CONNECTION_NOTIFY_STARTED)
        setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        *place = info ? as_connections_add(connections, info->connect_fd) : NULL;
    else
        as_connections_remove(connections, *place);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static bool make_token(char *out) {
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool parse_address(const as_server_config *config, any_address *out) {
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, config->address, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(config->port);
        return true;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(config->port);
    return inet_pton(AF_INET6, config->address, &out->v6.sin6_addr) == 1;
}

/* 0.0.0.0 and ::, at which nobody can be found. */
static bool is_every_address(const any_address *address) {
    return address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr)
                                              : address->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

static void name_server(as_server *server, const any_address *address) {
    size_t room = sizeof server->hosts[0];
    char name[256] = "";
    if (is_every_address(address) && gethostname(name, sizeof name - 1) == 0)
        snprintf(server->hosts[0], room, "%s:%u", name, server->port);
    else
        write_address(address, server->port, server->hosts[0], room);
    /* What a forwarded port is called at the other end. */
    snprintf(server->hosts[1], room, "localhost:%u", server->port);
    snprintf(server->hosts[2], room, "127.0.0.1:%u", server->port);
    snprintf(server->url, sizeof server->url, "http://%s/%s/", server->hosts[0], server->token);
}

assay_status as_server_start(as_viewing *viewing, const as_server_config *config, as_server **out, assay_error *error) {
    any_address address;
    if (!parse_address(config, &address))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'%.100s' is no address; give one such as 127.0.0.1",
                       config->address);
    as_server *server = calloc(1, sizeof *server);
    if (!server) return as_fail_memory(error, NULL);
    server->viewing = viewing;
    server->connections = as_connections_new();
    if (!server->connections) {
        free(server);
        return as_fail_memory(error, NULL);
    }
    if (!make_token(server->token)) {
        assay_status status =
            as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "no random numbers for a token: %s", strerror(errno));
        as_server_stop(server);
        return status;
    }
    errno = 0;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
    if (address.any.sa_family == AF_INET6) flags |= MHD_USE_IPv6;
    server->daemon =
        MHD_start_daemon(flags, config->port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, &address.any,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_SECONDS,
                         MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, forget, server,
                         MHD_OPTION_NOTIFY_CONNECTION, see_connection, server, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        bool is_taken = errno == 0 || errno == EADDRINUSE;
        assay_status status = as_fail(
            error, ASSAY_E_IO, AS_NOWHERE, "", "cannot listen at %.60s, port %u: %s", config->address, config->port,
            is_taken ? "it is taken; --port names another, without it a free one is found" : strerror(errno));
        as_server_stop(server);
        return status;
    }
    server->port = info->port;
    name_server(server, &address);
    atomic_store(&server->is_named, true);
    *out = server;
    return ASSAY_OK;
}

void as_server_stop(as_server *server) {
    if (!server) return;
    if (server->daemon) MHD_stop_daemon(server->daemon);
    as_connections_free(server->connections);
    free(server);
}

const char *as_server_url(const as_server *server) { return server->url; }
uint16_t as_server_port(const as_server *server) { return server->port; }
