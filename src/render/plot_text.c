#include "render/plot_text.h"

#include <math.h>
#include <string.h>

#include "core/utf8.h"
#include "render/display.h"

/* A piece of rich text in one style. */
typedef struct piece {
    char style; /* '^', '_', '/', or 0 */
    const char *text;
    size_t size;
} piece;

/* Takes the next piece off the text; false at its end. */
static bool next_piece(const char **rich, const char *end, piece *out) {
    const char *at = *rich;
    if (at == end) return false;
    if (end - at > 1 && strchr("^_/", *at) && at[1] == '{') {
        const char *close = memchr(at, '}', (size_t)(end - at));
        *out = (piece){*at, at + 2, (size_t)((close ? close : end) - at - 2)};
        *rich = close ? close + 1 : end;
        return true;
    }
    const char *stop = at + 1;
    while (stop < end && !(strchr("^_/", *stop) && end - stop > 1 && stop[1] == '{')) stop++;
    *out = (piece){0, at, (size_t)(stop - at)};
    *rich = stop;
    return true;
}

/* ---- terminals --------------------------------------------------------------------------------------------------- */

static bool append_text(as_vec *out, const char *text) { return as_vec_append(out, text, strlen(text)); }

/* Signs and their stand-ins in ASCII. */
static const struct {
    const char *sign, *ascii;
} stand_ins[] = {{"×", "*"}, {"·", "*"}, {"−", "-"}, {"–", ".."}, {"…", "..."}, {"≤", "<="}, {"≥", ">="}, {"µ", "u"}};

static bool append_ascii(as_vec *out, const char *text, size_t size) {
    for (const char *end = text + size; text < end;) {
        const char *ascii = NULL;
        size_t used = 1;
        for (size_t i = 0; (unsigned char)*text >= 0x80 && i < sizeof stand_ins / sizeof *stand_ins; i++) {
            size_t n = strlen(stand_ins[i].sign);
            if ((size_t)(end - text) < n || memcmp(text, stand_ins[i].sign, n) != 0) continue;
            ascii = stand_ins[i].ascii;
            used = n;
        }
        if (!(ascii ? append_text(out, ascii) : as_vec_append(out, text, 1))) return false;
        text += used;
    }
    return true;
}

static bool ends_with(const as_vec *out, const char *text) {
    size_t n = strlen(text);
    return out->count >= n && memcmp((const char *)out->data + out->count - n, text, n) == 0;
}

static bool is_all_of(const char *text, size_t size, const char *letters) {
    for (size_t i = 0; i < size; i++) {
        if (!text[i] || !strchr(letters, text[i])) return false;
    }
    return size > 0;
}

/* "10" with an exponent becomes 1e6, "2*10" 2e6. */
static bool append_raised_ascii(as_vec *out, const piece *p) {
    if (is_all_of(p->text, p->size, "-0123456789") && ends_with(out, "10")) {
        bool is_product = ends_with(out, "*10");
        bool is_number = out->count == 2 || !strchr("0123456789.", ((char *)out->data)[out->count - 3]);
        if (is_product || is_number) {
            out->count -= is_product ? 3 : 1;
            return as_vec_append(out, "e", 1) && as_vec_append(out, p->text, p->size);
        }
    }
    bool simple = is_all_of(p->text, p->size, "0123456789.");
    return append_text(out, simple ? "^" : "^(") && as_vec_append(out, p->text, p->size) &&
           append_text(out, simple ? "" : ")");
}

static bool append_raised(as_vec *out, const piece *p) {
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (!is_all_of(p->text, p->size, "-0123456789")) return append_raised_ascii(out, p);
    for (size_t i = 0; i < p->size; i++) {
        if (!append_text(out, p->text[i] == '-' ? "⁻" : digits[p->text[i] - '0'])) return false;
    }
    return true;
}

static bool append_lowered(as_vec *out, const piece *p) {
    static const char *const digits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    if (!is_all_of(p->text, p->size, "0123456789")) return as_vec_append(out, p->text, p->size);
    for (size_t i = 0; i < p->size; i++) {
        if (!append_text(out, digits[p->text[i] - '0'])) return false;
    }
    return true;
}

bool as_rich_plain(const char *rich, bool ascii, as_vec *out) {
    out->count = 0;
    const char *end = rich + strlen(rich);
    for (piece p; next_piece(&rich, end, &p);) {
        bool done = p.style == '^'             ? (ascii ? append_raised_ascii : append_raised)(out, &p)
                    : p.style == '_' && !ascii ? append_lowered(out, &p)
                    : ascii                    ? append_ascii(out, p.text, p.size)
                                               : as_vec_append(out, p.text, p.size);
        if (!done) return false;
    }
    return as_vec_append(out, "", 1);
}

/* ---- SVG --------------------------------------------------------------------------------------------------------- */

void as_svg_escape(as_output *out, const char *text, size_t size) {
    char escape[AS_ESCAPE_SIZE];
    for (const char *end = text + size; text < end;) {
        size_t n = as_utf8_length(text, (size_t)(end - text));
        if (n > 1 && as_display_harmful(text, n, escape)) {
            as_output_text(out, escape);
            text += n;
            continue;
        }
        bool is_banned = n == 0 || (n == 1 && (unsigned char)*text < 0x20) || (n == 1 && *text == 0x7f) ||
                         (n == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0));
        if (n == 1 && (*text == '\n' || *text == '\t' || *text == '\r'))
            as_output_char(out, ' ');
        else if (is_banned)
            as_output_text(out, "\xef\xbf\xbd");
        else if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            as_output_text(out, *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : "&quot;");
        else
            as_output_write(out, text, n);
        text += n ? n : 1;
    }
}

static void open_span(as_output *out, char style, const char *dy) {
    as_output_text(out, "<tspan");
    if (*dy) as_output_printf(out, " dy=\"%s\"", dy);
    if (style == '^' || style == '_') as_output_text(out, " font-size=\"70%\"");
    if (style == '/') as_output_text(out, " font-style=\"italic\"");
    as_output_char(out, '>');
}

void as_svg_rich(as_output *out, const char *rich) {
    const char *end = rich + strlen(rich);
    char before = 0;
    bool is_first = true;
    for (piece p; next_piece(&rich, end, &p);) {
        /* Shifts are relative, in units of the size of their own span: what goes up by 0.5 of 70 % comes down by
         * 0.35 */
        const char *back = before == '^' ? ".35em" : before == '_' ? "-.14em" : "";
        const char *dy = p.style == '^' ? "-.5em" : p.style == '_' ? ".2em" : back;
        if ((p.style == '^' || p.style == '_') && *back) { /* two in a row: an empty span would be no shift */
            open_span(out, 0, back);
            as_output_text(out, "\xe2\x80\x8b</tspan>");
        }
        bool spans = p.style || *dy;
        if (spans) open_span(out, p.style, dy);
        if ((p.style == '^' || is_first) && p.size > 1 && p.text[0] == '-' && strchr("0123456789", p.text[1])) {
            as_output_text(out, "−");
            p.text++;
            p.size--;
        }
        as_svg_escape(out, p.text, p.size);
        is_first = false;
        if (spans) as_output_text(out, "</tspan>");
        before = p.style;
    }
}

static double letter_width(const char *letter, size_t n) {
    char c = *letter;
    if (n > 1) return n == 2 || (unsigned char)c == 0xe2 ? 0.6 : 1;
    if (strchr("iljtfr.,:;'|!()[] /-", c)) return 0.31;
    if (strchr("mwMW@%", c)) return 0.88;
    if (c >= 'A' && c <= 'Z') return 0.68;
    return 0.57;
}

/* Walks until the text is wider than `most`; *end (may be NULL): where. */
static double measure(const char *rich, size_t size, double most, const char **stop) {
    const char *end = rich + size;
    double width = 0;
    for (piece p; next_piece(&rich, end, &p);) {
        double scale = p.style == '^' || p.style == '_' ? 0.7 : 1;
        for (size_t i = 0; i < p.size;) {
            size_t n = as_utf8_length(p.text + i, p.size - i);
            if (n == 0) n = 1;
            width += scale * letter_width(p.text + i, n);
            if (stop && width > most) {
                *stop = p.text + i;
                return width;
            }
            i += n;
        }
    }
    if (stop) *stop = end;
    return width;
}

double as_svg_width(const char *rich, size_t size) { return measure(rich, size, 0, NULL); }

size_t as_svg_break(const char *rich, double width) {
    const char *stop;
    size_t size = strlen(rich);
    measure(rich, size, width, &stop);
    size_t fits = (size_t)(stop - rich);
    if (fits == size) return size;
    size_t at = fits;
    while (at > 0 && rich[at] != ' ') at--;
    return at > 0 ? at : fits > 0 ? fits : 1;
}

/* unit: 10^decimals. */
static void write_decimals(as_output *out, double value, int decimals, long long unit) {
    long long parts = llround(fmax(-1e9, fmin(1e9, isnan(value) ? 0 : value)) * (double)unit);
    if (parts < 0) as_output_char(out, '-');
    if (parts < 0) parts = -parts;
    as_output_printf(out, "%lld", parts / unit);
    long long rest = parts % unit;
    if (!rest) return;
    for (; rest % 10 == 0; rest /= 10) decimals--;
    as_output_printf(out, ".%0*lld", decimals, rest);
}

void as_svg_number(as_output *out, double value) { write_decimals(out, value, 2, 100); }
void as_svg_fine(as_output *out, double value) { write_decimals(out, value, 4, 10000); }

void as_svg_attribute(as_output *out, const char *name, double value) {
    as_output_printf(out, " %s=\"", name);
    as_svg_number(out, value);
    as_output_char(out, '"');
}
