/* Stored objects: zlib of "profile TYPE LENGTH\0" and the JSON. */
#include "formats/perun/perun.h"
#include "io/gzip.h"

enum { LONGEST_TYPE = 63, LARGEST_HEADER = 128 };

bool as_perun_is_object(const char *head, size_t size) { return as_zlib_looks_like(head, size); }

static assay_status fail_header(as_reader *reader, const char *path, const char *rule, const char *what) {
    return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(path, 0), rule,
                   "no stored profile: what it unpacks to %s", what);
}

/* The length of a header without its NUL; false: it is not "profile TYPE LENGTH". */
static bool parse_header(const char *header, size_t size, uint64_t *length) {
    static const char WORD[] = "profile ";
    size_t word = sizeof WORD - 1;
    if (size < word || memcmp(header, WORD, word) != 0) return false;
    const char *begin = header + word, *blank = memchr(begin, ' ', size - word);
    if (!blank || blank == begin || blank - begin > LONGEST_TYPE) return false;
    as_number number;
    size_t digits = (size_t)(header + size - blank - 1);
    for (size_t i = 1; i <= digits; i++) {
        if ((unsigned char)(blank[i] - '0') > 9) return false;
    }
    if (!as_number_parse(blank + 1, digits, &number) || number.kind == AS_REAL) return false;
    *length = number.kind == AS_INT ? (uint64_t)number.i : number.u;
    return true;
}

static uint64_t count_characters(const char *text, size_t size) {
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++) n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

assay_status as_perun_unpack(as_reader *reader, const char *path, const char *data, size_t size, as_vec *text,
                             const char **json, size_t *json_size) {
    AS_TRY(as_zlib_unpack(path, data, size, text, reader->error));
    const char *header = text->data;
    size_t most = text->count < LARGEST_HEADER ? text->count : LARGEST_HEADER;
    const char *nul = most ? memchr(header, '\0', most) : NULL;
    if (!nul) return fail_header(reader, path, "object-header", "has no header \"profile TYPE LENGTH\"");
    uint64_t length;
    if (!parse_header(header, (size_t)(nul - header), &length))
        return fail_header(reader, path, "object-header", "begins otherwise than with \"profile TYPE LENGTH\"");
    *json = nul + 1;
    *json_size = text->count - (size_t)(*json - header);
    uint64_t characters = count_characters(*json, *json_size);
    if (characters == length) return ASSAY_OK;
    return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(path, 0), "object-length",
                   "the stored profile is damaged: %llu characters by its header, %llu in fact",
                   (unsigned long long)length, (unsigned long long)characters);
}
