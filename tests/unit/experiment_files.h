/* Experiments (.extra-p) made in memory, read and written: for the tests of that format. Include it behind cmocka.h. */
#ifndef AS_TESTS_EXPERIMENT_FILES_H
#define AS_TESTS_EXPERIMENT_FILES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/extrap/experiment.h"

static const char FORMAT[] = "extrap-experiment";

/* ---- building files ---------------------------------------------------------------------------------------------- */

typedef struct bytes {
    char data[4096];
    size_t size;
} bytes;

static inline void put(bytes *to, const void *data, size_t size) {
    assert_true(to->size + size <= sizeof to->data);
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static inline void put_u64(bytes *to, uint64_t value) {
    for (int i = 0; i < 8; i++) put(to, (char[]){(char)(value >> 8 * i & 0xff)}, 1);
}

static inline void put_real(bytes *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(to, bits);
}

/* An array as numpy saves it, but for the padding, which nobody needs. */
static inline void put_array(bytes *to, const char *type, const char *order, const char *shape) {
    char header[200];
    int n =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", type, order, shape);
    put(to, "\x93NUMPY\x01\x00", 8);
    put(to, (char[]){(char)n, 0}, 2);
    put(to, header, (size_t)n);
}

typedef struct file {
    const char *json;
    bytes vals, indx;
} file;

static inline file file_of(const char *json) {
    file f = {.json = json};
    put(&f.vals, "Extra-P VALUES\0\0", 16);
    put(&f.indx, "Extra-P INDEX\0\0\0", 16);
    return f;
}

static inline as_output *zip_of(const file *f) {
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    if (f->vals.size)
        assert_int_equal(as_zip_add(zip, "values/0.vals", f->vals.data, f->vals.size, false, NULL), ASSAY_OK);
    if (f->indx.size)
        assert_int_equal(as_zip_add(zip, "values/0.indx", f->indx.data, f->indx.size, false, NULL), ASSAY_OK);
    if (f->json) assert_int_equal(as_zip_add(zip, "experiment.json", f->json, strlen(f->json), true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_OK);
    return out;
}

static inline assay_status read_zip(as_output *zip, bool keep_going, as_dataset **ds, assay_error *error) {
    size_t size;
    const char *data = as_output_memory(zip, &size);
    as_read_config config = {.format = FORMAT, .keep_going = keep_going};
    assay_status status = as_read_memory("a.extra-p", data, size, &config, ds, error);
    as_output_discard(zip);
    return status;
}

static inline as_dataset *read_file(const file *f) {
    as_dataset *ds = NULL;
    assay_error error;
    if (read_zip(zip_of(f), false, &ds, &error) != ASSAY_OK) fail_msg("%s: %s", error.rule, error.message);
    return ds;
}

static inline as_dataset *read_json(const char *json) {
    file f = {.json = json};
    return read_file(&f);
}

static inline void refused(const file *f, const char *rule) {
    as_dataset *ds = NULL;
    assay_error error = {.code = ASSAY_OK};
    assay_status status = read_zip(zip_of(f), false, &ds, &error);
    if (status != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0)
        fail_msg("expected %s, got %d %s: %s", rule, status, error.rule, error.message);
    assert_true(strncmp(error.path, "a.extra-p", 9) == 0);
    if (status == ASSAY_OK) as_dataset_free(ds);
}

static inline void json_refused(const char *json, const char *rule) {
    file f = {.json = json};
    refused(&f, rule);
}

static inline bool only_json(void *user, const char *name) {
    (void)user;
    return strcmp(name, "experiment.json") == 0;
}

/* The experiment.json that writing a dataset gives; the caller frees it. */
static inline char *written_json(const as_dataset *ds) {
    as_output *out = as_output_to_memory();
    assay_error error;
    if (as_write(ds, as_format_find(FORMAT), NULL, 0, out, &error) != ASSAY_OK) fail_msg("%s", error.message);
    size_t size, n;
    as_input input = {.path = "written", .data = as_output_memory(out, &size)};
    input.size = size;
    as_zip_entry *entries;
    assert_int_equal(as_zip_read(&input, only_json, NULL, NULL, &entries, &n, &error), ASSAY_OK);
    assert_int_equal(n, 1);
    char *json = strdup(entries[0].data);
    as_zip_free(entries, n, NULL);
    as_output_discard(out);
    return json;
}

static inline as_dataset *write_and_read(const as_dataset *ds, uint64_t chunk_size) {
    as_output *out = as_output_to_memory();
    assay_error error;
    as_writer writer = {.dataset = ds, .out = out, .error = &error};
    if (as_xp_write(&writer, chunk_size) != ASSAY_OK) fail_msg("%s", error.message);
    as_dataset *again = NULL;
    if (read_zip(out, false, &again, &error) != ASSAY_OK) fail_msg("%s", error.message);
    return again;
}

static inline void same_real(double expected, double got) {
    if (isnan(expected) ? !isnan(got) : expected != got) fail_msg("expected %g, got %g", expected, got);
}

#define ONE(members)                                                                                                   \
    "{\"Extra-P\":\"4.2.5\",\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"coordinate\":[4]," members "}]}" \
    "}}"

#endif
