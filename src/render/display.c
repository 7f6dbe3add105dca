#include "render/display.h"

#include <stdio.h>
#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

static const range wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
                             {0xa960, 0xa97f},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                             {0xff01, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
                             {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
static const range combining[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                  {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
                                  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
/* The page has the same list: web/src/visible.ts. */
static const range harmful[] = {{0x80, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},
                                {0x2028, 0x202e}, {0x2066, 0x206f}, {0xfeff, 0xfeff}};

static bool is_in(const range *ranges, size_t n, uint32_t c) {
    for (size_t i = 0; i < n && c >= ranges[i].first; i++) {
        if (c <= ranges[i].last) return true;
    }
    return false;
}
#define IS_IN(ranges, c) is_in(ranges, sizeof(ranges) / sizeof *(ranges), c)

/* The code point at `at`; *used is its length, or 0 where it is no UTF-8. */
static uint32_t decode(const unsigned char *at, size_t left, size_t *used) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80                    ? 1
               : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
               : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
               : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                               : 0;
    *used = 0;
    if (n == 0 || n > left) return 0;
    uint32_t c = n == 1 ? at[0] : at[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *used = n;
    return c;
}

/* One character as it is shown. */
typedef struct glyph {
    size_t used;                 /* bytes of the input */
    size_t width;                /* columns */
    char escape[AS_ESCAPE_SIZE]; /* shown instead of the input; "" for none */
} glyph;

static glyph control_glyph(unsigned char c) {
    glyph g = {.used = 1};
    const char *name = c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
    if (name)
        snprintf(g.escape, sizeof g.escape, "%s", name);
    else
        snprintf(g.escape, sizeof g.escape, "\\x%02x", c);
    g.width = strlen(g.escape);
    return g;
}

static glyph glyph_at(const char *text, size_t left) {
    unsigned char c = (unsigned char)text[0];
    if (c >= 0x20 && c < 0x7f) return (glyph){.used = 1, .width = 1};
    size_t used;
    uint32_t code = decode((const unsigned char *)text, left, &used);
    if (used <= 1) return control_glyph(c);
    glyph g = {.used = used, .width = IS_IN(wide, code) ? 2 : IS_IN(combining, code) ? 0 : 1};
    if (IS_IN(harmful, code)) g.width = (size_t)snprintf(g.escape, sizeof g.escape, "\\u%04x", (unsigned)code);
    return g;
}

size_t as_display_harmful(const char *text, size_t left, char escape[AS_ESCAPE_SIZE]) {
    if (left == 0 || (unsigned char)text[0] < 0x80) return 0;
    glyph g = glyph_at(text, left);
    memcpy(escape, g.escape, AS_ESCAPE_SIZE);
    return g.used > 1 && g.escape[0] ? g.used : 0;
}

/* How many characters that are one byte and one column wide come next. */
static size_t count_plain(const char *text, const char *end) {
    const char *at = text;
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f) at++;
    return (size_t)(at - text);
}

size_t as_display_width(const char *text, size_t size) {
    size_t width = 0;
    for (const char *end = text + size; text < end;) {
        size_t plain = count_plain(text, end);
        text += plain;
        width += plain;
        if (text == end) break;
        glyph g = glyph_at(text, (size_t)(end - text));
        text += g.used;
        width += g.width;
    }
    return width;
}

size_t as_display_prefix(const char *text, size_t size, size_t width) {
    size_t used = 0, taken = 0;
    while (used < size) {
        glyph g = glyph_at(text + used, size - used);
        if (taken + g.width > width) break;
        used += g.used;
        taken += g.width;
    }
    return used;
}

const char *as_display_ellipsis(const as_output *out) { return as_output_is_ascii(out) ? "..." : "…"; }

/* Columns of the ellipsis in so many; 0: not even that fits, and the text ends without. */
static size_t ellipsis_width(const as_output *out, size_t max_width) {
    size_t width = as_output_is_ascii(out) ? 3 : 1;
    return max_width >= width ? width : 0;
}

size_t as_display_write(as_output *out, const char *text, size_t size, size_t max_width) {
    bool cut = max_width && as_display_width(text, size) > max_width;
    size_t dots = cut ? ellipsis_width(out, max_width) : 0, room = cut ? max_width - dots : SIZE_MAX, width = 0;
    for (const char *end = text + size; text < end;) {
        size_t plain = count_plain(text, end);
        if (plain > room - width) plain = room - width;
        as_output_write(out, text, plain);
        text += plain;
        width += plain;
        if (text == end) break;
        glyph g = glyph_at(text, (size_t)(end - text));
        if (width + g.width > room) break;
        if (g.escape[0])
            as_output_text(out, g.escape);
        else
            as_output_write(out, text, g.used);
        text += g.used;
        width += g.width;
    }
    if (dots) as_output_text(out, as_display_ellipsis(out));
    return width + dots;
}

size_t as_display_write_end(as_output *out, const char *text, size_t size, size_t max_width) {
    enum { NEAR = 8 };
    size_t width = as_display_width(text, size);
    if (!max_width || width <= max_width) return as_display_write(out, text, size, 0);
    const char *end = text + size;
    size_t dots = ellipsis_width(out, max_width);
    while (text < end && width + dots > max_width) {
        glyph g = glyph_at(text, (size_t)(end - text));
        text += g.used;
        width -= g.width;
    }
    for (const char *arrow = text; arrow + 2 < end && arrow < text + NEAR; arrow++) {
        if (memcmp(arrow, "->", 2) != 0) continue;
        width -= as_display_width(text, (size_t)(arrow - text));
        text = arrow;
        break;
    }
    if (dots) as_output_text(out, as_display_ellipsis(out));
    as_display_write(out, text, (size_t)(end - text), 0);
    return width + dots;
}

void as_display_pad(as_output *out, size_t columns) {
    static const char blanks[] = "                                ";
    for (; columns >= sizeof blanks; columns -= sizeof blanks - 1) as_output_write(out, blanks, sizeof blanks - 1);
    as_output_write(out, blanks, columns);
}
