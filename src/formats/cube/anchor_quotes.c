/* CubeLib writes two attributes of formulas without quotes, <cubepl rowwise=false> and <cubeplaggr
 * cubeplaggrtype=plus>, and reads them so. That is no XML. */
#include <ctype.h>

#include "formats/cube/anchor.h"

/* Whether text ends in " name" right before at. */
static bool follows(const char *begin, const char *at, const char *name) {
    size_t size = strlen(name);
    return (size_t)(at - begin) > size && memcmp(at - size, name, size) == 0 &&
           isspace((unsigned char)at[-1 - (ptrdiff_t)size]);
}

/* The first value without quotes in a tag, or NULL. */
static const char *find_bare(const char *tag, const char *tag_end) {
    for (const char *at = tag; at + 1 < tag_end; at++) {
        if (*at == '=' && isalpha((unsigned char)at[1]) &&
            (follows(tag, at, "rowwise") || follows(tag, at, "cubeplaggrtype")))
            return at + 1;
    }
    return NULL;
}

static bool append_quoted(as_vec *out, const char *from, const char *value, const char *behind) {
    return as_vec_append(out, from, (size_t)(value - from)) && as_vec_append(out, "\"", 1) &&
           as_vec_append(out, value, (size_t)(behind - value)) && as_vec_append(out, "\"", 1);
}

assay_status as_anchor_quote(as_anchor *a, const char *data, size_t size, as_vec *out) {
    const char *end = memmem(data, size, "</metrics>", 10), *done = data, *at = data, *tag_end;
    if (!end) return ASSAY_OK;
    while ((at = memmem(at, (size_t)(end - at), "<cubepl", 7)) && (tag_end = memchr(at, '>', (size_t)(end - at)))) {
        for (const char *value; (value = find_bare(at, tag_end)) != NULL;) {
            const char *behind = value;
            while (isalpha((unsigned char)*behind)) behind++; /* the tag's end is no letter */
            if (!append_quoted(out, done, value, behind)) return as_reader_memory(a->reader);
            done = at = behind;
        }
        at = tag_end;
    }
    if (!out->count) return ASSAY_OK;
    return as_vec_append(out, done, (size_t)(data + size - done)) ? ASSAY_OK : as_reader_memory(a->reader);
}
