/* For tests of the readers of Cube files: making small ones, and saying in words what values were read. Include it
 * behind cmocka.h. */
#ifndef AS_TESTS_CUBE_FILES_H
#define AS_TESTS_CUBE_FILES_H

#include <libdeflate.h>

#include "helpers.h"
#include "io/tar.h"

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Numbers of so many bytes behind what out holds. */
static inline void put(as_vec *out, bool is_big, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++) {
        char byte = (char)(value >> 8 * (is_big ? width - 1 - i : i));
        assert_true(as_vec_append(out, &byte, 1));
    }
}

static inline void put_real(as_vec *out, bool is_big, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(out, is_big, 8, bits);
}

enum { SPARSE = 1, DENSE = 3 };

/* N.index; ids are given for a sparse one only. */
static inline as_vec make_index(bool is_big, unsigned type, size_t n, const uint32_t *ids) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    as_vec_text(&out, "CUBEX.INDEX");
    put(&out, is_big, 4, 1);
    put(&out, is_big, 2, 0);
    put(&out, is_big, 1, type);
    if (type != SPARSE) return out;
    put(&out, is_big, 4, n);
    for (size_t i = 0; i < n; i++) put(&out, is_big, 4, ids[i]);
    return out;
}

/* 0, 1, … n - 1. */
static inline as_vec make_full_index(size_t n) {
    uint32_t ids[64] = {0};
    for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)i;
    return make_index(false, SPARSE, n, ids);
}

/* N.data of doubles, plain. */
static inline as_vec make_reals(bool is_big, size_t n, const double *values) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    as_vec_text(&out, "CUBEX.DATA");
    for (size_t i = 0; i < n; i++) put_real(&out, is_big, values[i]);
    return out;
}

/* N.data of integers, plain. */
static inline as_vec make_integers(bool is_big, size_t width, size_t n, const uint64_t *values) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    as_vec_text(&out, "CUBEX.DATA");
    for (size_t i = 0; i < n; i++) put(&out, is_big, width, values[i]);
    return out;
}

typedef struct segment {
    as_vec bytes;
    uint64_t position;
} segment;

/* A row of doubles, packed. */
static inline segment make_segment(bool is_big, size_t n, const double *values, uint64_t position) {
    as_vec plain = make_reals(is_big, n, values);
    segment out = {.position = position};
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(6);
    as_vec_init(&out.bytes, 1, NULL);
    assert_true(as_vec_reserve(&out.bytes, 1000 + 9 * n));
    out.bytes.count =
        libdeflate_zlib_compress(packer, (char *)plain.data + 10, plain.count - 10, out.bytes.data, out.bytes.capacity);
    libdeflate_free_compressor(packer);
    as_vec_free(&plain);
    return out;
}

/* N.data of segments, which are freed; order: in which they stand in the body. width: of the fields of its table. */
static inline as_vec make_packed(bool is_big, size_t width, size_t n, segment *segments, const size_t *order) {
    as_vec out;
    uint64_t offsets[64], at = 0;
    as_vec_init(&out, 1, NULL);
    as_vec_text(&out, "ZCUBEX.DATA");
    put(&out, is_big, width, n);
    for (size_t i = 0; i < n; i++) {
        offsets[order ? order[i] : i] = at;
        at += segments[order ? order[i] : i].bytes.count;
    }
    for (size_t i = 0; i < n; i++) {
        put(&out, is_big, width, segments[i].position);
        put(&out, is_big, width, offsets[i]);
        put(&out, is_big, width, segments[i].bytes.count);
    }
    for (size_t i = 0; i < n; i++) {
        const as_vec *bytes = &segments[order ? order[i] : i].bytes;
        as_vec_append(&out, bytes->data, bytes->count);
    }
    for (size_t i = 0; i < n; i++) as_vec_free(&segments[i].bytes);
    return out;
}

/* ---- archives ---------------------------------------------------------------------------------------------------- */

typedef struct archive {
    as_output *out;
    as_tar_writer *tar;
} archive;

static inline archive begin_archive(void) {
    archive file = {.out = as_output_to_memory()};
    file.tar = as_tar_writer_new(file.out);
    return file;
}

/* Frees the bytes. */
static inline void add_bytes(archive *file, const char *name, as_vec bytes) {
    as_tar_add(file->tar, name, bytes.data, bytes.count);
    as_vec_free(&bytes);
}

static inline void add_text(archive *file, const char *name, const char *text) {
    as_tar_add(file->tar, name, text, strlen(text));
}

/* The bytes; the caller discards file->out. */
static inline const char *end_archive(archive *file, size_t *size) {
    as_tar_finish(file->tar);
    return as_output_memory(file->out, size);
}

static inline as_dataset *read_archive(archive *file) {
    size_t size;
    const char *bytes = end_archive(file, &size);
    as_dataset *ds = read_bytes("cube", bytes, size);
    as_output_discard(file->out);
    return ds;
}

/* A description of these metrics, of regions r0 … r9, of a tree like "0(1()2(3()))", where numbers are those of
 * regions, and of n locations. The caller frees it. */
static inline char *make_anchor(const char *metrics, const char *tree, unsigned n_locations) {
    char *text = NULL;
    size_t size;
    unsigned id = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n<metrics>\n%s</metrics>\n<program>\n",
            metrics);
    for (unsigned i = 0; i < 10; i++)
        fprintf(out, "<region id=\"%u\" mod=\"f.c\" begin=\"%u\" end=\"-1\"><name>r%u</name></region>\n", i, i + 1, i);
    for (const char *at = tree; *at; at++) {
        if (*at == ')')
            fputs("</cnode>\n", out);
        else if (*at != '(')
            fprintf(out, "<cnode id=\"%u\" calleeId=\"%c\">", id++, *at);
    }
    fputs(
        "</program>\n<system>\n<systemtreenode Id=\"0\"><name>m</name><class>machine</class>\n<locationgroup Id=\"0\">"
        "<name>p</name><rank>0</rank><type>process</type>\n",
        out);
    for (unsigned i = 0; i < n_locations; i++)
        fprintf(out, "<location Id=\"%u\"><name>t%u</name><rank>%u</rank><type>thread</type></location>\n", i, i, i);
    fputs("</locationgroup>\n</systemtreenode>\n</system>\n</cube>\n", out);
    fclose(out);
    return text;
}

#define METRIC(id, name, dtype, type)                                                                                  \
    "<metric id=\"" id "\" type=\"" type "\"><disp_name>" name "</disp_name><uniq_name>" name                          \
    "</uniq_name><dtype>" dtype "</dtype></metric>\n"

/* Frees the text. */
static inline void add_anchor(archive *file, char *text) {
    add_text(file, "anchor.xml", text);
    free(text);
}

/* ---- values in words --------------------------------------------------------------------------------------------- */

/* "1: 2 3.5\n" for each context with values of the metric in a run. The caller frees it. */
static inline char *describe_values(const as_dataset *ds, assay_id metric, assay_id run) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    as_slice slice;
    assay_error error;
    if (as_slice_open_all(ds, metric, run, &slice, &error) != ASSAY_OK)
        fprintf(out, "%s: %s", error.rule, error.message);
    for (uint32_t i = 0; i < slice.view.n_rows; i++) {
        fprintf(out, "%u:", slice.view.contexts[i]);
        for (uint32_t k = 0; k < slice.view.n_columns; k++) {
            const char *value = as_profile_row(&slice.view, i) + (size_t)k * slice.view.type.size;
            char number[AS_NUMBER_SIZE];
            for (uint32_t part = 0; part < slice.view.type.n_parts; part++) {
                as_number_format(as_part_get(slice.view.type, value, part), number);
                fprintf(out, "%c%s", part ? '|' : ' ', number);
            }
        }
        fputc('\n', out);
    }
    as_slice_close(&slice);
    fclose(out);
    return text;
}

static inline void assert_values_of(const as_dataset *ds, assay_id metric, assay_id run, const char *expected) {
    char *text = describe_values(ds, metric, run);
    assert_string_equal(text, expected);
    free(text);
}

static inline void assert_values(const as_dataset *ds, assay_id metric, const char *expected) {
    assert_values_of(ds, metric, 0, expected);
}

/* The first attribute of this key, NULL: none. */
static inline const char *find_attribute(const as_dataset *ds, as_owner owner, assay_id id, const char *key) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == owner && attribute->owner_id == id && strcmp(as_ds_text(ds, attribute->key), key) == 0)
            return attribute->value.text;
    }
    return NULL;
}

#endif
