#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

/* Length of the printable character at text, or 0 if it is a control character or no UTF-8. */
static size_t printable_length(const char *text, size_t room) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x20 || s[0] == 0x7f) return 0;
    size_t n = as_utf8_length(text, room);
    return n == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n; /* C1 controls */
}

void as_one_line(char *text) {
    for (char *end = text + strlen(text); text < end;) {
        size_t n = printable_length(text, (size_t)(end - text));
        if (n == 0) *text = '?', n = 1;
        text += n;
    }
}

assay_status as_vfail(assay_error *error, assay_status code, as_place place, const char *rule, const char *format,
                      va_list args) {
    if (!error) return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    error->offset = place.offset;
    error->line = place.line;
    error->column = place.column;
    snprintf(error->rule, sizeof error->rule, "%s", rule);
    if (place.path) {
        size_t n = strlen(place.path); /* of a path too long, the end says more than the beginning */
        snprintf(error->path, sizeof error->path, "%s",
                 n < sizeof error->path ? place.path : place.path + n - sizeof error->path + 1);
        as_one_line(error->path);
    }
    vsnprintf(error->message, sizeof error->message, format, args);
    as_one_line(error->message);
    return code;
}

assay_status as_fail(assay_error *error, assay_status code, as_place place, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    as_vfail(error, code, place, rule, format, args);
    va_end(args);
    return code;
}

assay_status as_fail_errno(assay_error *error, const char *path, const char *doing, int errno_value) {
    char words[128];
    return as_fail(error, ASSAY_E_IO, as_place_file(path), errno_value == EPIPE ? "closed-pipe" : "io", "%s: %s", doing,
                   strerror_r(errno_value, words, sizeof words));
}

assay_status as_fail_memory(assay_error *error, const char *path) {
    return as_fail(error, ASSAY_E_NOMEM, as_place_file(path), "memory",
                   "memory is out or its limit reached; --memory-limit sets another");
}

const char *assay_error_text(const assay_error *error, char *buffer, size_t size) {
    char place[64] = "";
    if (error->line && error->column)
        snprintf(place, sizeof place, ":%u:%u", error->line, error->column);
    else if (error->line)
        snprintf(place, sizeof place, ":%u", error->line);
    else if (error->offset >= 0)
        snprintf(place, sizeof place, ": byte %lld", (long long)error->offset);
    if (error->path[0])
        snprintf(buffer, size, "%s%s: %s", error->path, place, error->message);
    else
        snprintf(buffer, size, "%s", error->message);
    return buffer;
}
