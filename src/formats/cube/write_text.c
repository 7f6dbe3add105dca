/* XML as CubeLib reads it. */
#include "core/utf8.h"
#include "formats/cube/write.h"

/* ---- characters ------------------------------------------------------------------------------------------------------ */

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

bool as_cube_is_xml(const char *text, size_t size) {
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

void as_cube_put_text(as_output *out, const char *text, size_t size) { put_escaped(out, text, size, ESCAPED); }
/* In the value of an attribute line ends and tabs would become blanks. */
static void put_value(as_output *out, const char *text, size_t size) {
    put_escaped(out, text, size, ESCAPED_IN_VALUES);
}

/* ---- elements -------------------------------------------------------------------------------------------------------- */

void as_cube_put_element(as_output *out, const char *name, const char *text) {
    as_output_char(out, '<');
    as_output_text(out, name);
    as_output_char(out, '>');
    if (text) as_cube_put_text(out, text, strlen(text));
    as_output_text(out, "</");
    as_output_text(out, name);
    as_output_text(out, ">\n");
}

void as_cube_put_attribute(as_output *out, const char *name, const char *value) {
    as_output_char(out, ' ');
    as_output_text(out, name);
    as_output_text(out, "=\"");
    put_value(out, value, strlen(value));
    as_output_char(out, '"');
}

const char *as_cube_cell_text(as_cell cell, char buffer[AS_NUMBER_SIZE]) {
    switch (cell.type) {
    case AS_CELL_TEXT:
    case AS_CELL_JSON: return cell.text;
    case AS_CELL_INT: as_int_format(cell.i, buffer); return buffer;
    case AS_CELL_UINT: as_uint_format(cell.u, buffer); return buffer;
    case AS_CELL_REAL: as_real_format(cell.r, buffer); return buffer;
    default: return "";
    }
}

void as_cube_put_attr(as_output *out, const char *key, as_cell value) {
    char number[AS_NUMBER_SIZE];
    as_output_text(out, "<attr");
    as_cube_put_attribute(out, "key", key);
    as_cube_put_attribute(out, "value", as_cube_cell_text(value, number));
    as_output_text(out, "/>\n");
}
