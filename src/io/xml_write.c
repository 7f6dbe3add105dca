#include "io/xml_write.h"

#include "core/utf8.h"

enum { PLAIN, ESCAPED_IN_VALUES, ESCAPED, CONTROL, MULTIBYTE };

static int class_of(unsigned char c) {
    if (c >= 0x80) return MULTIBYTE;
    if (c == '&' || c == '<' || c == '>' || c == '\r') return ESCAPED;
    if (c == '"' || c == '\t' || c == '\n') return ESCAPED_IN_VALUES;
    return c < 0x20 ? CONTROL : PLAIN;
}

static const char *entity_of(char c) {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\t': return "&#9;";
    case '\n': return "&#10;";
    default: return "&#13;";
    }
}

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_noncharacter(const char *at) {
    return at[0] == '\xef' && at[1] == '\xbf' && (at[2] == '\xbe' || at[2] == '\xbf');
}

/* Bytes of the character at `at`, 0 where XML has none like it. */
static size_t xml_length(const char *at, size_t room) {
    if (class_of((unsigned char)*at) == CONTROL) return 0;
    size_t n = as_utf8_length(at, room);
    return n == 3 && is_noncharacter(at) ? 0 : n;
}

bool as_xml_holds(const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t n = xml_length(text + at, size - at);
        if (!n) return false;
        at += n;
    }
    return true;
}

static void put_escaped(as_output *out, const char *text, size_t size, int first_escaped) {
    size_t done = 0;
    for (size_t at = 0; at < size;) {
        int class = class_of((unsigned char)text[at]);
        if (class < first_escaped) {
            at++;
            continue;
        }
        size_t n = xml_length(text + at, size - at);
        if (class == MULTIBYTE && n) {
            at += n;
            continue;
        }
        as_output_write(out, text + done, at - done);
        as_output_text(out, n ? entity_of(text[at]) : "\xef\xbf\xbd");
        size_t whole = as_utf8_length(text + at, size - at);
        done = at += whole ? whole : 1;
    }
    as_output_write(out, text + done, size - done);
}

void as_xml_put_text(as_output *out, const char *text, size_t size) { put_escaped(out, text, size, ESCAPED); }

void as_xml_put_value(as_output *out, const char *text, size_t size) {
    put_escaped(out, text, size, ESCAPED_IN_VALUES);
}

void as_xml_put_attribute(as_output *out, const char *name, const char *value) {
    as_output_char(out, ' ');
    as_output_text(out, name);
    as_output_text(out, "=\"");
    as_xml_put_value(out, value, strlen(value));
    as_output_char(out, '"');
}
