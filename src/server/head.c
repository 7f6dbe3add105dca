#include "server/head.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "core/number.h"

/* What may be said once. */
static const char *const single[] = {"Content-Length", "Transfer-Encoding", "Host", "Origin", "Sec-Fetch-Site"};
enum { LENGTH, ENCODING, N_SINGLE = sizeof single / sizeof *single };

typedef struct head {
    unsigned n[N_SINGLE];
    bool has_odd_name;
} head;

/* The characters that names may have: a blank before the colon makes another name of it for some, and none for
 * others. */
static bool is_name(const char *name) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (const char *at = name; *at; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (!is_letter && !strchr(marks, *at)) return false;
    }
    return *name != '\0';
}

static enum MHD_Result see(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
    head *h = user;
    (void)kind, (void)value;
    if (!is_name(name)) h->has_odd_name = true;
    for (size_t i = 0; i < N_SINGLE; i++) h->n[i] += strcasecmp(name, single[i]) == 0;
    return MHD_YES;
}

static const char *value_of(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

assay_status as_head_check(struct MHD_Connection *connection, const char *version, assay_error *error) {
    head h = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, see, &h);
    for (size_t i = 0; i < N_SINGLE; i++) {
        if (h.n[i] > 1)
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the request has more than one %s", single[i]);
    }
    if (h.has_odd_name)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the request has a header whose name is none");
    if (!h.n[ENCODING]) return ASSAY_OK;
    if (h.n[LENGTH])
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "the request has both %s and %s", single[LENGTH],
                       single[ENCODING]);
    const char *encoding = value_of(connection, single[ENCODING]);
    if (!encoding || strcasecmp(encoding, "chunked") != 0 || strcmp(version, "HTTP/1.1") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a body can be sent plainly or in chunks (HTTP/1.1) only");
    return ASSAY_OK;
}

uint64_t as_head_body_size(struct MHD_Connection *connection) {
    const char *length = value_of(connection, single[LENGTH]);
    as_number size;
    if (!length || !as_number_parse(length, strlen(length), &size)) return 0;
    return size.kind == AS_INT && size.i > 0 ? (uint64_t)size.i : size.kind == AS_UINT ? size.u : 0;
}
