/* One of the binary files of a small HPCToolkit database is replaced by the input; then everything in the database is
 * read.
 *
 * The first byte of the input says of which form the database is (bit 0), of which byte order form 2021 (bit 1), and
 * whether cct.db is there (bit 2); the rest is the file. */
#ifndef AS_FUZZ_HPCTOOLKIT_H
#define AS_FUZZ_HPCTOOLKIT_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/unit/hpctoolkit_files.h"
#include "dataset/sparse.h"

enum { MEMORY = 1 << 28 };

/* Files are read into memory instead (--wrap in CMakeLists.txt): so is a byte behind their end none that may be looked
 * at. */
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    (void)address, (void)size, (void)protection, (void)flags, (void)file, (void)offset;
    return MAP_FAILED;
}

/* A directory for each form, byte order and presence of cct.db, as the low bits of the first byte say. */
enum { N_DIRECTORIES = 8 };
static char directories[N_DIRECTORIES][64];

static const char *path_in(unsigned i, const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directories[i], name);
    return path;
}

static void remove_directories(void) {
    static const char *const names[] = {"profile.db", "cct.db", "trace.db"};
    for (unsigned i = 0; i < N_DIRECTORIES; i++) {
        for (unsigned k = 0; k < 3; k++) unlink(path_in(i, names[k]));
        rmdir(directories[i]);
    }
}

static void put_file(unsigned i, const char *name, const void *data, size_t size) {
    int file = open(path_in(i, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0) abort();
}

static void put_vec(unsigned i, const char *name, as_vec bytes) {
    put_file(i, name, bytes.data, bytes.count);
    as_vec_free(&bytes);
}

static shape shape_of(unsigned i) { return (shape){.form = i & 1 ? AS_HPC_4 : AS_HPC_2021, .big = (i & 3) == 2}; }

static void make_directories(void) {
    if (directories[0][0]) return;
    for (unsigned i = 0; i < N_DIRECTORIES; i++) {
        shape how = shape_of(i);
        strcpy(directories[i], "/dev/shm/assay-fuzz-XXXXXX");
        if (!mkdtemp(directories[i])) {
            strcpy(directories[i], "/tmp/assay-fuzz-XXXXXX");
            if (!mkdtemp(directories[i])) abort();
        }
        put_vec(i, "profile.db", make_profile(&how, CELLS, N_CELLS));
        if (i & 4) put_vec(i, "cct.db", make_cct(&how, CELLS, N_CELLS));
        put_vec(i, "trace.db", make_trace(&how));
    }
    atexit(remove_directories);
}

/* What a line must be: ascending columns (rows only), or contexts, that are there, and no zeros. */
static void check_line(const as_sparse_line *line, uint32_t limit, bool ascends, uint64_t *n) {
    for (uint32_t i = 0; i < line->n; i++) {
        if (line->at[i] >= limit || line->values[i] == 0 || (ascends && i && line->at[i] <= line->at[i - 1])) abort();
    }
    *n += line->n;
}

/* Reads each row and column. Where rows were made from profile.db both have as many values. */
static void read_values(const opened *o, bool is_made) {
    as_sparse_line line = {0};
    assay_error error;
    uint32_t n_contexts = (uint32_t)AS_COUNT(o->ds, contexts);
    for (assay_id metric = 0; metric < N_METRICS; metric++) {
        const as_profile *profile = as_ds_profile(o->ds, metric, 0);
        uint64_t by_row = 0, by_column = 0;
        bool is_whole = true;
        for (assay_id context = 0; context < n_contexts; context++) {
            assay_status status = profile->source->read_row(profile->source, profile, context, &line, &error);
            if (status == ASSAY_OK)
                check_line(&line, profile->n_columns, true, &by_row);
            else if (!error.message[0])
                abort();
            is_whole &= status == ASSAY_OK;
        }
        for (uint32_t column = 0; column < profile->n_columns; column++) {
            assay_status status = profile->source->read_column(profile->source, profile, column, &line, &error);
            if (status == ASSAY_OK)
                check_line(&line, n_contexts, false, &by_column);
            else if (!error.message[0])
                abort();
            is_whole &= status == ASSAY_OK;
        }
        if (is_made && is_whole && by_row != by_column) abort();
    }
    as_sparse_line_free(&line);
}

static void read_rest(const opened *o) {
    const as_summary *summaries;
    size_t n;
    assay_error error;
    as_ds_summaries(o->ds, &summaries, &n, &error);
    if (as_trace_prepare(o->ds, &error) != ASSAY_OK && !error.message[0]) abort();
    for (size_t i = 0; i < as_trace_line_count(&o->ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&o->ds->traces, i);
        as_trace_sample samples[16];
        uint64_t before = 0;
        for (uint64_t first = 0; first < line->n; first += 16) {
            size_t count = line->n - first < 16 ? (size_t)(line->n - first) : 16;
            if (as_trace_read(o->ds, line, first, count, samples, &error) != ASSAY_OK) break;
            for (size_t k = 0; k < count; k++) {
                if (samples[k].time < before) abort();
                before = samples[k].time;
            }
        }
    }
}

static inline int fuzz_hpctoolkit(const char *name, const uint8_t *data, size_t size) {
    if (!size) return 0;
    bool is_cct = strcmp(name, "cct.db") == 0;
    unsigned i = (data[0] | (is_cct ? 4 : 0)) % N_DIRECTORIES;
    make_directories();
    put_file(i, name, data + 1, size - 1);
    opened o = open_files(directories[i], shape_of(i).form, MEMORY);
    if (o.status == ASSAY_OK) {
        read_values(&o, !(i & 4));
        read_rest(&o);
    } else if (!o.error.message[0]) {
        abort();
    }
    close_files(&o);
    return 0;
}

#endif
