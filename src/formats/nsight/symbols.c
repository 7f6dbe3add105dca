/* Names: what is fit for one, and how Extra-Prof encodes call paths.
 *
 * A call path is plain text, main->solve, or encoded: 0x1F and a number in base 36 for each function. The names of the
 * numbers are texts of StringIds, each EP 0x1F number 0x1F name, whose ids lie between those of the texts
 * EXTRA_PROF_SYMBOLS and EXTRA_PROF_SYMBOLS_END. */
#include "core/utf8.h"
#include "formats/nsight/export.h"

#define UNIT '\x1f'

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Bytes that are together no character, of which there is at least one: as many as could have begun one. */
static size_t bad_length(const unsigned char *s, size_t room) {
    size_t n = s[0] < 0xc2 || s[0] > 0xf4 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2, i = 1;
    unsigned char least = s[0] == 0xe0   ? 0xa0
                          : s[0] == 0xf0 ? 0x90
                                         : 0x80,
                  greatest = s[0] == 0xed   ? 0x9f
                             : s[0] == 0xf4 ? 0x8f
                                            : 0xbf;
    for (; i < n && i < room && s[i] >= least && s[i] <= greatest; i++) least = 0x80, greatest = 0xbf;
    return i;
}

/* U+007F to U+009F are control characters, too. */
static bool is_control(const char *text, size_t n) {
    const unsigned char *s = (const unsigned char *)text;
    return n == 1 ? s[0] < 0x20 || s[0] == 0x7f : n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

bool as_ns_fit(const char *text, size_t size, bool is_context, as_vec *out) {
    if (!as_vec_reserve(out, size)) return false;
    for (const char *end = text + size; text < end;) {
        size_t n = as_utf8_length(text, (size_t)(end - text));
        bool fine = true;
        if (n == 0) {
            n = bad_length((const unsigned char *)text, (size_t)(end - text));
            fine = as_vec_text(out, "\xef\xbf\xbd");
        } else if (is_control(text, n)) {
            if (*text == '\t' || *text == '\n' || *text == '\r') fine = as_vec_text(out, " ");
        } else if (is_context && end - text >= 2 && memcmp(text, "->", 2) == 0) {
            fine = as_vec_text(out, "- >");
            n = 2;
        } else {
            fine = as_vec_append(out, text, n);
        }
        if (!fine) return false;
        text += n;
    }
    return true;
}

/* Whether a text is fit as it is. */
static bool is_fit(const char *text, size_t size, bool is_context) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c >= 0x7f || (is_context && c == '>' && i > 0 && text[i - 1] == '-')) return false;
    }
    return true;
}

as_str as_ns_fit_name(as_ns_export *x, const char *text, size_t size, bool is_context) {
    if (is_fit(text, size, is_context)) return as_ds_intern(x->ds, text, size);
    as_vec fit;
    as_vec_init(&fit, 1, &x->ds->budget);
    as_str name =
        as_ns_fit(text, size, is_context, &fit) ? as_ds_intern(x->ds, fit.count ? fit.data : "", fit.count) : AS_NO_STR;
    as_vec_free(&fit);
    return name;
}

/* ---- the table of symbols ---------------------------------------------------------------------------------------- */

/* An entry of the table, before it is known whether it lies between the marks. */
typedef struct entry {
    int64_t id;
    as_str number, name;
} entry;

typedef struct collected {
    as_vec entries;
    bool has_first, has_last;
    int64_t first, last; /* the marks */
} collected;

static bool is_text(const char *text, size_t size, const char *expected) {
    return size == strlen(expected) && memcmp(text, expected, size) == 0;
}

/* A text of StringIds; false when memory is out. */
static bool take_text(as_ns_export *x, int64_t id, const char *text, size_t size, collected *c) {
    if (is_text(text, size, "EXTRA_PROF_SYMBOLS")) {
        c->has_first = true;
        c->first = id;
    } else if (is_text(text, size, "EXTRA_PROF_SYMBOLS_END")) {
        c->has_last = true;
        c->last = id;
    }
    if (size < 3 || memcmp(text, "EP\x1f", 3) != 0) return true;
    const char *number = text + 3, *end = text + size, *unit = memchr(number, UNIT, (size_t)(end - number));
    if (!unit) return true;
    entry *new = as_vec_push(&c->entries);
    if (!new) return false;
    new->id = id;
    new->number = as_intern(&x->symbols.numbers, number, (size_t)(unit - number));
    new->name = as_ns_fit_name(x, unit + 1, (size_t)(end - unit - 1), true);
    return new->number != AS_NO_STR &&new->name != AS_NO_STR;
}

static bool keep_entries(as_ns_symbols *symbols, const collected *c) {
    for (size_t i = 0; c->has_first && c->has_last && i < c->entries.count; i++) {
        const entry *e = &AS_AT(entry, &c->entries, i);
        if (e->id < c->first || e->id > c->last) continue;
        while (symbols->names.count <= e->number) {
            as_str *none = as_vec_push(&symbols->names);
            if (!none) return false;
            *none = AS_NO_STR;
        }
        AS_AT(as_str, &symbols->names, e->number) = e->name;
    }
    return true;
}

void as_ns_symbols_init(as_ns_export *x) {
    as_ns_symbols *symbols = &x->symbols;
    as_arena_init(&symbols->arena, &x->ds->budget);
    as_strings_init(&symbols->numbers, &symbols->arena);
    as_strings_init(&symbols->stored, &symbols->arena);
    as_vec_init(&symbols->names, sizeof(as_str), &x->ds->budget);
    symbols->is_read = false;
}

assay_status as_ns_symbols_read(as_ns_export *x) {
    as_ns_symbols *symbols = &x->symbols;
    if (!x->db || symbols->is_read) return ASSAY_OK;
    symbols->is_read = true;
    static const char *const columns[] = {"id", "value"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "StringIds", columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    collected c = {0};
    as_vec_init(&c.entries, sizeof(entry), &x->ds->budget);
    bool fine = true;
    while (fine && as_scan_next(scan)) {
        as_scan_type type = as_scan_type_of(scan, 1);
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT || (type != AS_SCAN_TEXT && type != AS_SCAN_BLOB)) continue;
        size_t size;
        const char *text = as_scan_text(scan, 1, &size);
        if (size > 2 && text[0] == 'E') fine = take_text(x, as_scan_int(scan, 0), text, size, &c);
    }
    assay_status status = as_scan_close(scan, x->reader->error);
    fine = fine && (status != ASSAY_OK || keep_entries(symbols, &c));
    as_vec_free(&c.entries);
    return fine ? status : as_reader_memory(x->reader);
}

void as_ns_symbols_free(as_ns_export *x) {
    as_vec_free(&x->symbols.names);
    as_strings_free(&x->symbols.numbers);
    as_strings_free(&x->symbols.stored);
    as_arena_free(&x->symbols.arena);
}

/* ---- call paths -------------------------------------------------------------------------------------------------- */

static as_str name_of_number(as_ns_export *x, const char *number, size_t size) {
    as_str known = as_find(&x->symbols.numbers, number, size);
    as_str name = known < x->symbols.names.count ? AS_AT(as_str, &x->symbols.names, known) : AS_NO_STR;
    if (name != AS_NO_STR) return name;
    as_vec text;
    as_vec_init(&text, 1, &x->ds->budget);
    if (as_vec_text(&text, "[0x") && as_ns_fit(number, size, true, &text) && as_vec_text(&text, "]"))
        name = as_ds_intern(x->ds, text.data, text.count);
    as_vec_free(&text);
    return name;
}

static bool add_name(as_vec *names, as_str name) { return name != AS_NO_STR && as_vec_append(names, &name, 1); }

static bool add_plain(as_ns_export *x, const char *text, size_t size, as_vec *names) {
    for (const char *end = text + size;;) {
        const char *arrow = memmem(text, (size_t)(end - text), "->", 2), *stop = arrow ? arrow : end;
        if (!add_name(names, as_ns_fit_name(x, text, (size_t)(stop - text), true))) return false;
        if (!arrow) return true;
        text = arrow + 2;
    }
}

bool as_ns_path_names(as_ns_export *x, const char *text, size_t size, as_vec *names) {
    if (size == 0 || text[0] != UNIT) return add_plain(x, text, size, names);
    const char *end = text + size;
    do {
        text++;
        const char *unit = memchr(text, UNIT, (size_t)(end - text)), *stop = unit ? unit : end;
        /* the name of a CUDA call behind the numbers is written out */
        bool is_plain = stop - text >= 2 && memcmp(text, "->", 2) == 0;
        if (is_plain ? !add_plain(x, text + 2, (size_t)(stop - text) - 2, names)
                     : !add_name(names, name_of_number(x, text, (size_t)(stop - text))))
            return false;
        text = stop;
    } while (text < end);
    return true;
}

as_str as_ns_path_text(as_ns_export *x, const char *text, size_t size) {
    if (size == 0 || text[0] != UNIT) return as_ns_fit_name(x, text, size, false);
    as_vec names, joined;
    as_vec_init(&names, sizeof(as_str), &x->ds->budget);
    as_vec_init(&joined, 1, &x->ds->budget);
    bool fine = as_ns_path_names(x, text, size, &names);
    for (size_t i = 0; fine && i < names.count; i++) {
        as_str name = AS_AT(as_str, &names, i);
        fine = (i == 0 || as_vec_text(&joined, "->")) &&
               as_vec_append(&joined, as_ds_text(x->ds, name), as_str_size(&x->ds->strings, name));
    }
    as_str result = fine ? as_ds_intern(x->ds, joined.count ? joined.data : "", joined.count) : AS_NO_STR;
    as_vec_free(&names);
    as_vec_free(&joined);
    return result;
}
