#include "cli/source_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/directory.h"
#include "io/input.h"

enum { MOST_FILES = 4096, LARGEST_FILE = 32 << 20 };

/* A file that was asked for; input NULL: it cannot be read. */
typedef struct source_file {
    as_input *input;
    as_vec starts; /* uint32_t: where each line begins, and the end of the last */
} source_file;

struct as_source_lines {
    const as_dataset *ds;
    const char *root; /* NULL: there are no sources */
    as_map known;     /* string -> index into files */
    as_vec files;     /* source_file */
};

as_source_lines *as_source_lines_new(const as_dataset *ds) {
    as_source_lines *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->ds = ds;
    s->root = as_ds_text(ds, ds->source_root);
    as_map_init(&s->known, NULL);
    as_vec_init(&s->files, sizeof(source_file), NULL);
    return s;
}

void as_source_lines_free(as_source_lines *s) {
    if (!s) return;
    for (size_t i = 0; i < s->files.count; i++) {
        source_file *file = &AS_AT(source_file, &s->files, i);
        if (file->input) as_input_close(file->input);
        as_vec_free(&file->starts);
    }
    as_vec_free(&s->files);
    as_map_free(&s->known);
    free(s);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* One of a sane size below the root. */
static as_input *open_source(const as_source_lines *s, const char *name) {
    as_input *input = NULL;
    assay_error error;
    struct stat about;
    char *path = as_file_below(s->root, name);
    bool is_open = path && stat(path, &about) == 0 && about.st_size <= LARGEST_FILE &&
                   as_input_open(path, NULL, &input, &error) == ASSAY_OK;
    free(path);
    return is_open ? input : NULL;
}

/* Where lines begin. A file whose index has no room has no lines. */
static void index_lines(source_file *file) {
    const char *data = file->input->data, *end = data + file->input->size;
    for (const char *at = data; at < end;) {
        uint32_t start = (uint32_t)(at - data);
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!as_vec_append(&file->starts, &start, 1)) break;
        at = stop ? stop + 1 : end;
    }
    uint32_t size = (uint32_t)file->input->size;
    if (!as_vec_append(&file->starts, &size, 1)) file->starts.count = 0;
}

static source_file *file_of(as_source_lines *s, as_str name) {
    uint32_t at = as_map_get(&s->known, name);
    if (at != AS_MAP_NONE) return &AS_AT(source_file, &s->files, at);
    if (s->files.count == MOST_FILES) return NULL;
    source_file file = {.input = open_source(s, as_ds_text(s->ds, name))};
    as_vec_init(&file.starts, sizeof(uint32_t), NULL);
    if (file.input) index_lines(&file);
    at = (uint32_t)s->files.count;
    if (!as_vec_append(&s->files, &file, 1)) {
        if (file.input) as_input_close(file.input);
        as_vec_free(&file.starts);
        return NULL;
    }
    return as_map_put(&s->known, name, at) ? &AS_AT(source_file, &s->files, at) : NULL;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

const char *as_source_line_whole(as_source_lines *s, as_str file, int64_t line, size_t *size) {
    source_file *f = s->root && file != AS_NO_STR && line > 0 ? file_of(s, file) : NULL;
    if (!f || !f->input || (uint64_t)line >= f->starts.count) return NULL;
    const char *from = f->input->data + AS_AT(uint32_t, &f->starts, (size_t)line - 1),
               *to = f->input->data + AS_AT(uint32_t, &f->starts, (size_t)line);
    while (from < to && is_space(to[-1])) to--;
    *size = (size_t)(to - from);
    return from;
}

const char *as_source_line(as_source_lines *s, as_str file, int64_t line, size_t *size) {
    const char *from = as_source_line_whole(s, file, line, size);
    for (; from && *size && is_space(*from); from++) --*size;
    return from && *size ? from : NULL;
}
