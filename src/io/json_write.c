#include <math.h>

#include "core/utf8.h"
#include "io/json.h"

static const char HEX[] = "0123456789abcdef";

/* The letter of a two-character escape, or 0. */
static char short_escape(char c) {
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static void write_special(as_output *out, char c) {
    char letter = short_escape(c);
    if ((unsigned char)c >= 0x80)
        as_output_write(out, "\xef\xbf\xbd", 3); /* U+FFFD */
    else if (letter)
        as_output_write(out, (char[]){'\\', letter}, 2);
    else
        as_output_write(out, (char[]){'\\', 'u', '0', '0', HEX[c >> 4], HEX[c & 15]}, 6);
}

void as_json_write_string(as_output *out, const char *text, size_t size) {
    const char *end = text + size, *plain = text; /* what is written as it is, in one piece */
    as_output_char(out, '"');
    for (const char *p = text; p < end;) {
        size_t n = (unsigned char)*p < ' ' || *p == '"' || *p == '\\' ? 0 : as_utf8_length(p, (size_t)(end - p));
        if (n == 0) {
            as_output_write(out, plain, (size_t)(p - plain));
            write_special(out, *p);
            plain = ++p;
        } else
            p += n;
    }
    as_output_write(out, plain, (size_t)(end - plain));
    as_output_char(out, '"');
}

void as_json_write_real(as_output *out, double value) {
    if (isfinite(value))
        as_output_real(out, value);
    else
        as_output_text(out, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
}
