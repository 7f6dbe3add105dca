#include "io/xml_scan.h"

#include <strings.h>

#include "core/utf8.h"

typedef struct open_element {
    const char *name;
    size_t size;
} open_element;

/* ---- kinds of characters ----------------------------------------------------------------------------------------- */

enum { BLANK = 1, NAME = 2, NAME_START = 4, ENDS_DOUBLE = 8, ENDS_SINGLE = 16 };

/* ENDS_…: where a run of plain characters ends in a value with such quotes. Bytes of longer characters can be part of
 * any name: the document was found to be UTF-8. */
#define BOTH     (ENDS_DOUBLE | ENDS_SINGLE)
#define LETTER   (NAME | NAME_START)
#define CONTROLS [0 ... 8] = BOTH, [11 ... 12] = BOTH, [14 ... 31] = BOTH
static const uint8_t kinds[256] = {
    CONTROLS,
    ['\t'] = BLANK | BOTH,
    ['\n'] = BLANK | BOTH,
    ['\r'] = BLANK | BOTH,
    [' '] = BLANK,
    ['"'] = ENDS_DOUBLE,
    ['\''] = ENDS_SINGLE,
    ['&'] = BOTH,
    ['<'] = BOTH,
    ['\\'] = ENDS_DOUBLE,
    ['-'] = NAME,
    ['.'] = NAME,
    ['0' ... '9'] = NAME,
    [':'] = LETTER,
    ['A' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    ['a' ... 'z'] = LETTER,
    [0x80 ... 0xff] = LETTER,
};

static inline uint8_t kind_of(const char *at) { return kinds[(unsigned char)*at]; }
static inline const char *skip_blanks(const char *at, const char *end) {
    while (at < end && kind_of(at) & BLANK) at++;
    return at;
}
static inline const char *skip_name(const char *at, const char *end) {
    while (at < end && kind_of(at) & NAME) at++;
    return at;
}
static bool begins(const char *at, const char *end, const char *text) {
    size_t size = strlen(text);
    return (size_t)(end - at) >= size && memcmp(at, text, size) == 0;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Characters from one place of a line to another. */
static uint64_t count_characters(const char *at, const char *end) {
    uint64_t n = 0;
    for (; at < end; at++) n += (*at & 0xc0) != 0x80;
    return n;
}

/* From the last place, in either direction: many places on one line must not be counted from its beginning each
 * time. */
as_place as_xml_scan_place(as_xml_scan *scan, const char *at) {
    const char *from = scan->counted_at, *newline = NULL;
    if (at >= from) {
        for (const char *next = from; (next = memchr(next, '\n', (size_t)(at - next))); newline = next++)
            scan->counted_line++;
        if (newline)
            scan->counted_column = 1 + count_characters(newline + 1, at);
        else
            scan->counted_column += count_characters(from, at);
    } else {
        for (const char *end = from; (end = memrchr(at, '\n', (size_t)(end - at))); newline = end) scan->counted_line--;
        const char *before = newline ? memrchr(scan->data, '\n', (size_t)(at - scan->data)) : NULL;
        if (newline)
            scan->counted_column = 1 + count_characters(before ? before + 1 : scan->data, at);
        else
            scan->counted_column -= count_characters(at, from);
    }
    scan->counted_at = at;
    return as_place_line(scan->path, scan->counted_line < UINT32_MAX ? (uint32_t)scan->counted_line : UINT32_MAX,
                         scan->counted_column < UINT32_MAX ? (uint32_t)scan->counted_column : UINT32_MAX);
}

static assay_status damaged(as_xml_scan *scan, const char *at, const char *message) {
    scan->at = scan->end;
    return as_fail(scan->error, ASSAY_E_FORMAT, as_xml_scan_place(scan, at), "xml-damaged", "%s", message);
}

static assay_status cut_off(as_xml_scan *scan) {
    return damaged(scan, scan->end, "the document ends too early: it is cut off");
}

static assay_status no_memory(as_xml_scan *scan) {
    scan->at = scan->end;
    return as_fail_memory(scan->error, scan->path);
}

/* ---- the encoding ------------------------------------------------------------------------------------------------ */

static const char *find_invalid(const char *at, const char *end) {
    while (at < end) {
        uint64_t word;
        while (end - at >= 8 && (memcpy(&word, at, 8), !(word & 0x8080808080808080u))) at += 8;
        if (at == end) break;
        size_t n = as_utf8_length(at, (size_t)(end - at));
        if (!n) return at;
        at += n;
    }
    return NULL;
}

static bool transcode(as_xml_scan *scan) {
    for (const char *at = scan->at; at < scan->end; at++) {
        char character[4];
        if (!as_vec_append(&scan->transcoded, character, as_utf8_put(character, (unsigned char)*at))) return false;
    }
    scan->data = scan->at = scan->transcoded.data;
    scan->end = scan->data + scan->transcoded.count;
    return true;
}

/* The value of encoding="…" in the declaration, or NULL. */
static const char *find_encoding(const as_xml_scan *scan, size_t *size) {
    const char *stop = scan->at;
    if (!begins(scan->at, scan->end, "<?xml")) return NULL;
    while (stop < scan->end && *stop != '>') stop++;
    const char *at = memmem(scan->at, (size_t)(stop - scan->at), "encoding", 8);
    if (!at) return NULL;
    at = skip_blanks(at + 8, stop);
    if (at < stop && *at == '=') at = skip_blanks(at + 1, stop);
    if (at == stop || (*at != '"' && *at != '\'')) return NULL;
    const char *close = memchr(at + 1, *at, (size_t)(stop - at - 1));
    if (!close) return NULL;
    *size = (size_t)(close - at - 1);
    return at + 1;
}

static bool is_one_of(const char *text, size_t size, const char *const *names) {
    for (; *names; names++) {
        if (strlen(*names) == size && strncasecmp(text, *names, size) == 0) return true;
    }
    return false;
}

static assay_status check_encoding(as_xml_scan *scan) {
    static const char *const plain[] = {"UTF-8", "UTF8", "US-ASCII", "ASCII", NULL};
    static const char *const latin[] = {"ISO-8859-1", "ISO_8859-1", "LATIN1", "LATIN-1", NULL};
    if (begins(scan->at, scan->end, "\xef\xbb\xbf")) scan->at += 3;
    if (begins(scan->at, scan->end, "\xff\xfe") || begins(scan->at, scan->end, "\xfe\xff"))
        return damaged(scan, scan->at, "the document is in UTF-16; make it UTF-8");
    size_t size;
    const char *encoding = find_encoding(scan, &size);
    if (encoding && is_one_of(encoding, size, latin)) return transcode(scan) ? ASSAY_OK : no_memory(scan);
    if (encoding && !is_one_of(encoding, size, plain))
        return damaged(scan, encoding, "neither UTF-8 nor ISO-8859-1: make it UTF-8");
    const char *invalid = find_invalid(scan->at, scan->end);
    return invalid ? damaged(scan, invalid, "not UTF-8") : ASSAY_OK;
}

assay_status as_xml_scan_open(as_xml_scan *scan, const char *path, const char *data, size_t size, uint32_t max_depth,
                              as_budget *budget, assay_error *error) {
    scan->path = path;
    scan->element = scan->name = scan->data = scan->at = scan->counted_at = data;
    scan->end = data + size;
    scan->counted_line = scan->counted_column = 1;
    scan->name_size = scan->depth = scan->n_attributes = 0;
    scan->is_empty = scan->closes = scan->has_root = false;
    scan->max_depth = max_depth ? max_depth : UINT32_MAX;
    scan->error = error;
    as_vec_init(&scan->open, sizeof(open_element), budget);
    as_vec_init(&scan->decoded, 1, budget);
    as_vec_init(&scan->transcoded, 1, budget);
    AS_TRY(check_encoding(scan));
    scan->element = scan->counted_at = scan->data;
    return ASSAY_OK;
}

void as_xml_scan_close(as_xml_scan *scan) {
    as_vec_free(&scan->open);
    as_vec_free(&scan->decoded);
    as_vec_free(&scan->transcoded);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Whether the quote behind a backslash ends the value all the same: what follows is the rest of a tag. (No writer has a
 * '>' inside a value.) */
static bool is_rest_of_tag(const char *at, const char *end) {
    const char *next = skip_blanks(at, end);
    if (next == end || *next == '>' || begins(next, end, "/>")) return true;
    if (next == at || !(kind_of(next) & NAME_START)) return false;
    next = skip_blanks(skip_name(next, end), end);
    if (next == end || *next != '=') return next == end;
    next = skip_blanks(next + 1, end);
    return next == end || *next == '"' || *next == '\'';
}

static const struct {
    const char *name;
    char character;
} entities[] = {{"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};

/* "#65;" or "#x41;" to a character; its length, or 0. */
static size_t parse_reference(const char *at, const char *end, uint32_t *character) {
    const char *start = at++;
    uint32_t base = at < end && *at == 'x' ? 16 : 10, c = 0;
    if (base == 16) at++;
    const char *digits = at;
    for (; at < end && *at != ';'; at++) {
        uint32_t digit = *at >= '0' && *at <= '9'   ? (uint32_t)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (uint32_t)(*at - 'a' + 10)
                         : *at >= 'A' && *at <= 'F' ? (uint32_t)(*at - 'A' + 10)
                                                    : 16;
        if (digit >= base || c > 0x10ffff) return 0;
        c = c * base + digit;
    }
    bool is_character = c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xd800) ||
                        (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c <= 0x10ffff);
    if (at == end || at == digits || !is_character) return 0;
    *character = c;
    return (size_t)(at + 1 - start);
}

/* What stands behind an '&'. */
static assay_status decode_entity(as_xml_scan *scan, const char **at, const char *end) {
    char character[4];
    uint32_t c;
    size_t size = *at < end && **at == '#' ? parse_reference(*at, end, &c) : 0;
    if (size) {
        *at += size;
        return as_vec_append(&scan->decoded, character, as_utf8_put(character, c)) ? ASSAY_OK : no_memory(scan);
    }
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        if (!begins(*at, end, entities[i].name)) continue;
        *at += strlen(entities[i].name);
        return as_vec_append(&scan->decoded, &entities[i].character, 1) ? ASSAY_OK : no_memory(scan);
    }
    const char *place = *at - 1;
    scan->at = scan->end;
    return as_fail(scan->error, ASSAY_E_FORMAT, as_xml_scan_place(scan, place), "xml-entities",
                   "'&' with no entity that is known behind it");
}

static assay_status decode_value(as_xml_scan *scan, as_xml_attribute *attribute) {
    const char *at = attribute->value, *end = at + attribute->value_size;
    attribute->decoded_at = scan->decoded.count;
    while (at < end) {
        if (*at == '&') {
            at++;
            AS_TRY(decode_entity(scan, &at, end));
            continue;
        }
        char c = kind_of(at) & BLANK ? ' ' : *at;
        if (begins(at, end, "\r\n")) at++;
        if (begins(at, end, "\\\"")) c = *++at;
        if (!as_vec_append(&scan->decoded, &c, 1)) return no_memory(scan);
        at++;
    }
    attribute->value_size = scan->decoded.count - attribute->decoded_at;
    return ASSAY_OK;
}

/* Between quotes, the first of which is at `at`; goes behind the last. */
static assay_status scan_value(as_xml_scan *scan, const char *at, as_xml_attribute *attribute) {
    const char quote = *at++, *end = scan->end;
    const uint8_t ends = quote == '"' ? ENDS_DOUBLE : ENDS_SINGLE;
    bool is_plain = true;
    attribute->at = attribute->value = at;
    attribute->decoded_at = SIZE_MAX;
    for (;; at++) {
        while (at < end && !(kind_of(at) & ends)) at++;
        if (at == end) return cut_off(scan);
        if (*at == quote) break;
        if (*at == '<') return damaged(scan, at, "'<' inside a value: its quotes are not closed");
        if (*at == '\\') {
            if (at + 1 == end || at[1] != '"' || is_rest_of_tag(at + 2, end)) continue;
            at++;
        } else if (*at != '&' && !(kind_of(at) & BLANK))
            return damaged(scan, at, "a control character inside a value");
        is_plain = false;
    }
    attribute->value_size = (size_t)(at - attribute->value);
    scan->at = at + 1;
    return is_plain ? ASSAY_OK : decode_value(scan, attribute);
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

static bool is_known(const as_xml_scan *scan, const as_xml_attribute *attribute) {
    for (uint32_t i = 0; i < scan->n_attributes; i++) {
        const as_xml_attribute *other = &scan->attributes[i];
        if (other->name_size == attribute->name_size && memcmp(other->name, attribute->name, other->name_size) == 0)
            return true;
    }
    return false;
}

/* name="value" at `at`. *seen has a bit for (about) each name so far. */
static assay_status scan_attribute(as_xml_scan *scan, const char *at, uint64_t *seen) {
    const char *end = scan->end;
    if (scan->n_attributes == AS_XML_MAX_ATTRIBUTES)
        return damaged(scan, at, "an element with more than 64 attributes");
    as_xml_attribute *attribute = &scan->attributes[scan->n_attributes];
    if (!(kind_of(at) & NAME_START)) return damaged(scan, at, "no attribute and no end of the tag");
    attribute->name = at;
    at = skip_name(at, end);
    attribute->name_size = (size_t)(at - attribute->name);
    uint64_t bit =
        1ull << (((unsigned char)at[-1] * 7u + (unsigned char)*attribute->name * 31u + attribute->name_size) & 63);
    if (*seen & bit && is_known(scan, attribute)) return damaged(scan, attribute->name, "an attribute is there twice");
    *seen |= bit;
    at = skip_blanks(at, end);
    if (at < end && *at != '=') return damaged(scan, at, "an attribute without a value");
    at = skip_blanks(at + (at < end), end);
    if (at == end) return cut_off(scan);
    if (*at != '"' && *at != '\'') return damaged(scan, at, "a value without quotes");
    AS_TRY(scan_value(scan, at, attribute));
    scan->n_attributes++;
    return ASSAY_OK;
}

static assay_status open_tag(as_xml_scan *scan, const char *at) {
    scan->is_empty = *at == '/';
    scan->at = at + 1 + scan->is_empty;
    if (scan->decoded.count) {
        for (uint32_t i = 0; i < scan->n_attributes; i++) {
            as_xml_attribute *attribute = &scan->attributes[i];
            if (attribute->decoded_at != SIZE_MAX)
                attribute->value = (const char *)scan->decoded.data + attribute->decoded_at;
        }
    }
    if (scan->depth == scan->max_depth) {
        scan->at = scan->end;
        return as_fail(scan->error, ASSAY_E_FORMAT, as_xml_scan_place(scan, scan->element), "xml-depth",
                       "more than %u elements inside each other", scan->max_depth);
    }
    scan->depth++;
    if (scan->is_empty) return ASSAY_OK;
    open_element open = {scan->name, scan->name_size};
    return as_vec_append(&scan->open, &open, 1) ? ASSAY_OK : no_memory(scan);
}

static assay_status scan_start(as_xml_scan *scan) {
    const char *at = scan->element + 1, *end = scan->end;
    uint64_t seen = 0;
    if (scan->has_root && !scan->depth) return damaged(scan, scan->element, "a second root element");
    if (!(kind_of(at) & NAME_START)) return damaged(scan, scan->element, "'<' without the name of an element");
    scan->has_root = true;
    scan->name = at;
    at = skip_name(at, end);
    scan->name_size = (size_t)(at - scan->name);
    scan->n_attributes = 0;
    scan->decoded.count = 0;
    for (;;) {
        const char *next = skip_blanks(at, end);
        if (next == end || (*next == '/' && next + 1 == end)) return cut_off(scan);
        if (*next == '>' || (*next == '/' && next[1] == '>')) return open_tag(scan, next);
        if (next == at) return damaged(scan, at, "no blank before an attribute");
        AS_TRY(scan_attribute(scan, next, &seen));
        at = scan->at;
    }
}

static assay_status scan_end(as_xml_scan *scan) {
    const char *at = scan->element + 2, *end = scan->end;
    if (!scan->open.count) return damaged(scan, scan->element, "an end tag without a start");
    const open_element *open = &AS_AT(open_element, &scan->open, scan->open.count - 1);
    if ((size_t)(end - at) <= open->size) return cut_off(scan);
    const char *stop = skip_blanks(at + open->size, end);
    if (memcmp(at, open->name, open->size) != 0 || kind_of(at + open->size) & NAME || (stop < end && *stop != '>'))
        return damaged(scan, scan->element, "an end tag that does not match its start");
    if (stop == end) return cut_off(scan);
    scan->name = open->name;
    scan->name_size = open->size;
    scan->n_attributes = 0;
    scan->open.count--;
    scan->at = stop + 1;
    return ASSAY_OK;
}

/* ---- what is skipped --------------------------------------------------------------------------------------------- */

/* Goes behind `close`. */
static assay_status skip_past(as_xml_scan *scan, const char *at, const char *close) {
    const char *found = memmem(at, (size_t)(scan->end - at), close, strlen(close));
    if (!found) return cut_off(scan);
    scan->at = found + strlen(close);
    return ASSAY_OK;
}

/* <!DOCTYPE … [ … ] >: quotes, comments and processing instructions may hold any of its signs. */
static assay_status skip_doctype(as_xml_scan *scan) {
    const char *end = scan->end;
    bool inside = false;
    for (const char *at = scan->at + 2; at < end; at = scan->at) {
        scan->at = at + 1;
        if (*at == '"' || *at == '\'') {
            const char close[2] = {*at};
            AS_TRY(skip_past(scan, at + 1, close));
        } else if (begins(at, end, "<!--"))
            AS_TRY(skip_past(scan, at + 4, "-->"));
        else if (begins(at, end, "<?"))
            AS_TRY(skip_past(scan, at + 2, "?>"));
        else if (*at == '[' || *at == ']')
            inside = *at == '[';
        else if (*at == '>' && !inside)
            return ASSAY_OK;
    }
    return cut_off(scan);
}

/* Goes to the next tag, or to the end of the document. */
static assay_status skip_to_tag(as_xml_scan *scan) {
    const char *end = scan->end;
    for (;;) {
        const char *at = skip_blanks(scan->at, end);
        if (at < end && *at != '<') {
            if (!scan->depth) return damaged(scan, at, "text outside of the root element");
            at = memchr(at, '<', (size_t)(end - at));
        }
        if (!at || at == end) {
            scan->at = end;
            return scan->depth || !scan->has_root ? cut_off(scan) : ASSAY_OK;
        }
        scan->at = at;
        if (at + 1 == end) return cut_off(scan);
        if (at[1] != '!' && at[1] != '?') return ASSAY_OK;
        if (at[1] == '?')
            AS_TRY(skip_past(scan, at + 2, "?>"));
        else if (begins(at, end, "<!--"))
            AS_TRY(skip_past(scan, at + 4, "-->"));
        else if (scan->depth && begins(at, end, "<![CDATA["))
            AS_TRY(skip_past(scan, at + 9, "]]>"));
        else if (!scan->has_root && begins(at, end, "<!DOCTYPE"))
            AS_TRY(skip_doctype(scan));
        else
            return damaged(scan, at, "'<!' that starts nothing known");
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

assay_status as_xml_scan_next(as_xml_scan *scan, as_xml_event *event) {
    scan->depth -= scan->closes;
    scan->closes = false;
    if (!scan->is_empty) {
        AS_TRY(skip_to_tag(scan));
        if (scan->at == scan->end) {
            *event = AS_XML_DONE;
            return ASSAY_OK;
        }
        scan->element = scan->at;
        if (scan->element[1] != '/') {
            *event = AS_XML_START;
            return scan_start(scan);
        }
        AS_TRY(scan_end(scan));
    }
    scan->is_empty = false;
    scan->closes = true; /* the end itself still sees its element's depth */
    *event = AS_XML_END;
    return ASSAY_OK;
}

assay_status as_xml_scan_skip(as_xml_scan *scan) {
    const uint32_t depth = scan->depth;
    for (as_xml_event event = AS_XML_START; event != AS_XML_END || scan->depth != depth;)
        AS_TRY(as_xml_scan_next(scan, &event));
    return ASSAY_OK;
}

const as_xml_attribute *as_xml_scan_attribute(const as_xml_scan *scan, const char *name) {
    size_t size = strlen(name);
    for (uint32_t i = 0; i < scan->n_attributes; i++) {
        const as_xml_attribute *attribute = &scan->attributes[i];
        if (attribute->name_size == size && memcmp(attribute->name, name, size) == 0) return attribute;
    }
    return NULL;
}
