/* See scan.h. The text is looked at in blocks of 64 bytes: one comparison of the whole block finds its commas, quotes
 * and line ends, and fields are what lies between. */
#include "formats/afperf/scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

#if defined(__SSE2__)

static inline uint64_t marks_of(const char *text, bool *has_high) {
    __m128i bytes[4], marks[4];
    uint64_t high = 0, found = 0;
    for (int i = 0; i < 4; i++) bytes[i] = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
    high =
        (uint64_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(bytes[0], bytes[1]), _mm_or_si128(bytes[2], bytes[3])));
    for (int i = 0; i < 4; i++) {
        marks[i] = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes[i], _mm_set1_epi8(',')), _mm_cmpeq_epi8(bytes[i], _mm_set1_epi8('"'))),
            _mm_cmpeq_epi8(bytes[i], _mm_set1_epi8('\n')));
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(marks[i]) << 16 * i;
    }
    *has_high |= high != 0;
    return found;
}
#else
static inline uint64_t marks_of(const char *text, bool *has_high) {
    uint64_t found = 0;
    unsigned char high = 0;
    for (unsigned i = 0; i < BLOCK; i++) {
        char c = text[i];
        found |= (uint64_t)(c == ',' || c == '"' || c == '\n') << i;
        high |= (unsigned char)c;
    }
    *has_high |= high >> 7;
    return found;
}
#endif

/* The marks of the block at scanner->block; behind the end of the text there are none. */
static void look(as_af_scanner *scanner) {
    size_t room = scanner->size - scanner->block;
    if (room >= BLOCK) {
        scanner->marks = marks_of(scanner->data + scanner->block, &scanner->has_high);
        return;
    }
    char padded[BLOCK] = {0};
    memcpy(padded, scanner->data + scanner->block, room);
    scanner->marks = marks_of(padded, &scanner->has_high);
}

/* The offset of the next comma, quote or line end, which is taken; the size of the text where there is none. */
static inline size_t next_mark(as_af_scanner *scanner) {
    while (!scanner->marks) {
        if (scanner->size - scanner->block <= BLOCK) return scanner->size;
        scanner->block += BLOCK;
        look(scanner);
    }
    size_t at = scanner->block + (size_t)__builtin_ctzll(scanner->marks);
    scanner->marks &= scanner->marks - 1;
    return at;
}

/* As next_mark(), for the next one that is c. */
static size_t next_of(as_af_scanner *scanner, char c) {
    size_t at;
    do at = next_mark(scanner);
    while (at < scanner->size && scanner->data[at] != c);
    return at;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

void as_af_scan(as_af_scanner *scanner, const char *data, size_t size, size_t from, as_budget *budget) {
    *scanner = (as_af_scanner){
        .data = data, .size = size, .next = from, .most_fields = SIZE_MAX, .odd_header = SIZE_MAX, .block = from};
    as_vec_init(&scanner->fields, sizeof(as_af_field), budget);
    look(scanner);
}

void as_af_scan_end(as_af_scanner *scanner) { as_vec_free(&scanner->fields); }

static as_af_step stop(as_af_scanner *scanner, as_af_step why, size_t where) {
    scanner->fault = where;
    return why;
}

bool as_af_signature_of(const char *text, size_t size, uint64_t *major) {
    static const char word[] = "# AFPerf v";
    size_t n = sizeof word - 1, i = n;
    if (size <= n || memcmp(text, word, n) != 0 || text[n] < '0' || text[n] > '9') return false;
    bool fits = true;
    for (*major = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++)
        fits = fits && !__builtin_mul_overflow(*major, 10u, major) &&
               !__builtin_add_overflow(*major, (unsigned)(text[i] - '0'), major);
    if (!fits) *major = 0;
    return true;
}

/* A comment, of which a signature is one, up to its line end. */
static bool skip_comment(as_af_scanner *scanner) {
    size_t from = scanner->next, end = next_of(scanner, '\n');
    const char *text = scanner->data + from;
    uint64_t major;
    if (as_af_signature_of(text, end - from, &major)) {
        if (major != 1) return false;
        bool is_same = end - from >= AS_AF_SIGNATURE_SIZE && memcmp(text, AS_AF_SIGNATURE, AS_AF_SIGNATURE_SIZE) == 0;
        if (!is_same && scanner->odd_header == SIZE_MAX) scanner->odd_header = from;
    }
    scanner->next = end < scanner->size ? end + 1 : end;
    return true;
}

/* The quoted field whose first quote, at `open`, is taken; *end is the mark behind it, or where the text ends. */
static as_af_step quoted_field(as_af_scanner *scanner, size_t open, as_af_field *field, size_t *end) {
    const char *data = scanner->data;
    size_t close = next_of(scanner, '"');
    *field = (as_af_field){.text = data + open + 1, .is_quoted = true};
    while (close + 1 < scanner->size && data[close + 1] == '"') { /* two of them are one that is meant */
        field->has_quotes = true;
        next_mark(scanner);
        close = next_of(scanner, '"');
    }
    if (close >= scanner->size) return stop(scanner, AS_AF_OPEN_QUOTE, open);
    if (close - open - 1 > UINT32_MAX) return stop(scanner, AS_AF_FIELD_TOO_LONG, open);
    field->size = (uint32_t)(close - open - 1);
    *end = next_mark(scanner);
    size_t behind =
        *end - close - 1; /* bytes between the closing quote and the next mark: at most the \r of a line end */
    bool is_return = behind == 1 && data[close + 1] == '\r' && (*end == scanner->size || data[*end] == '\n');
    if ((behind && !is_return) || (*end < scanner->size && data[*end] == '"'))
        return stop(scanner, AS_AF_AFTER_QUOTE, close + 1);
    return AS_AF_RECORD;
}

/* The field at `from`, which goes up to a comma, a line end or the end of the text: *end. */
static inline as_af_step next_field(as_af_scanner *scanner, size_t from, as_af_field *field, size_t *end) {
    size_t at = next_mark(scanner);
    if (__builtin_expect(at < scanner->size && scanner->data[at] == '"', 0))
        return at == from ? quoted_field(scanner, from, field, end) : stop(scanner, AS_AF_LONE_QUOTE, at);
    size_t size = at - from;
    if (size && scanner->data[at - 1] == '\r' && (at == scanner->size || scanner->data[at] == '\n')) size--;
    if (__builtin_expect(size > UINT32_MAX, 0)) return stop(scanner, AS_AF_FIELD_TOO_LONG, from);
    *field = (as_af_field){.text = scanner->data + from, .size = (uint32_t)size};
    *end = at;
    return AS_AF_RECORD;
}

static bool keep_field(as_af_scanner *scanner, const as_af_field *field) {
    as_vec *fields = &scanner->fields;
    if (fields->count == fields->capacity && !as_vec_reserve(fields, 16)) return false;
    AS_AT(as_af_field, fields, fields->count++) = *field;
    return true;
}

/* The fields of the record at scanner->next; *n of them. */
static as_af_step next_fields(as_af_scanner *scanner, size_t *n) {
    size_t from = scanner->next, end = from;
    scanner->fields.count = 0;
    for (*n = 0;; from = end + 1) {
        as_af_field field;
        as_af_step step = next_field(scanner, from, &field, &end);
        if (step != AS_AF_RECORD) return step;
        if ((*n)++ < scanner->most_fields && !keep_field(scanner, &field))
            return stop(scanner, AS_AF_OUT_OF_MEMORY, from);
        if (end == scanner->size || scanner->data[end] == '\n') break;
    }
    scanner->next = end < scanner->size ? end + 1 : end;
    return AS_AF_RECORD;
}

as_af_step as_af_next(as_af_scanner *scanner, as_af_record *record) {
    while (scanner->next < scanner->size) {
        size_t from = scanner->next, n;
        if (scanner->data[from] == '#') {
            if (!skip_comment(scanner)) return stop(scanner, AS_AF_OTHER_VERSION, from);
            continue;
        }
        as_af_step step = next_fields(scanner, &n);
        if (step != AS_AF_RECORD) return step;
        const as_af_field *fields = scanner->fields.data;
        if (n == 1 && !fields->is_quoted && as_af_is_blank(fields)) continue;
        *record = (as_af_record){.type = as_af_type_of(fields->text, fields->size),
                                 .offset = from,
                                 .end = scanner->next,
                                 .fields = fields,
                                 .n_fields = n};
        return AS_AF_RECORD;
    }
    return AS_AF_END;
}

as_af_walker as_af_walk(const char *data, size_t size, size_t offset) {
    return (as_af_walker){.at = data + offset, .end = data + size};
}

bool as_af_walk_next(as_af_walker *walker, as_af_field *field) {
    const char *at = walker->at, *end = walker->end;
    if (walker->is_over) return false;
    if (at < end && *at == '"') {
        *field = (as_af_field){.text = ++at, .is_quoted = true};
        for (;; at += 2) {
            at = memchr(at, '"', (size_t)(end - at));
            if (!at || at + 1 == end || at[1] != '"') break;
            field->has_quotes = true;
        }
        if (!at) at = end;
        field->size = (uint32_t)(at - field->text);
        while (at < end && *at != ',' && *at != '\n') at++;
    } else {
        *field = (as_af_field){.text = at};
        while (at < end && *at != ',' && *at != '\n') at++;
        bool has_return = at > field->text && at[-1] == '\r' && (at == end || *at == '\n');
        field->size = (uint32_t)(at - field->text - has_return);
    }
    walker->is_over = at == end || *at == '\n';
    walker->at = at + !walker->is_over;
    return true;
}

const char *as_af_fault_text(as_af_step fault) {
    switch (fault) {
    case AS_AF_LONE_QUOTE: return "a quote inside an unquoted field; put the field in quotes and double those in it";
    case AS_AF_AFTER_QUOTE: return "text behind a closing quote; double the quotes that belong to a quoted field";
    case AS_AF_OPEN_QUOTE: return "the file ends inside a quoted field that begins here; close it with a quote";
    case AS_AF_OTHER_VERSION:
        return "a signature of another major version of AFPerf; only version 1 is known, so split the file here";
    case AS_AF_FIELD_TOO_LONG: return "a field of 4 GiB or more; this is too long";
    case AS_AF_OUT_OF_MEMORY: return "a record that needs more memory than there is";
    case AS_AF_RECORD:
    case AS_AF_END: break;
    }
    return "";
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Line ends in n bytes, as many sums at a time as a compiler likes. */
static size_t count_lines(const char *text, size_t n) {
    size_t count = 0;
    while (n) {
        size_t some = n < UINT8_MAX * BLOCK ? n : UINT8_MAX * BLOCK, i = 0;
        uint8_t sums[BLOCK] = {0};
        for (; i + BLOCK <= some; i += BLOCK) {
            for (size_t k = 0; k < BLOCK; k++) sums[k] = (uint8_t)(sums[k] + (text[i + k] == '\n'));
        }
        for (; i < some; i++) count += text[i] == '\n';
        for (size_t k = 0; k < BLOCK; k++) count += sums[k];
        text += some;
        n -= some;
    }
    return count;
}

as_place as_af_place(as_af_lines *lines, const char *file, const char *data, size_t offset) {
    if (!lines->line || offset < lines->line_start) *lines = (as_af_lines){.line = 1};
    if (lines->offset < offset) {
        lines->line += count_lines(data + lines->offset, offset - lines->offset);
        size_t start = offset;
        while (start > lines->offset && data[start - 1] != '\n') start--;
        if (start > lines->offset) lines->line_start = start;
        lines->offset = offset;
    }
    size_t column = offset - lines->line_start + 1;
    return (as_place){.path = file,
                      .offset = (int64_t)offset,
                      .line = lines->line > UINT32_MAX ? UINT32_MAX : (uint32_t)lines->line,
                      .column = column > UINT32_MAX ? UINT32_MAX : (uint32_t)column};
}
