/* Reading the files beside an experiment.xml 2.x. The first byte says which one the rest is: a .metric-db, a .hpctrace,
 * or all of one kind in one file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dataset/sparse.h"
#include "formats/hpctoolkit/companions.h"

enum { MEMORY = 1 << 28, N_CONTEXTS = 5, N_COLUMNS = 3, N_NAMES = 4, N_SAMPLES = 16 };

static const char *const NAMES[N_NAMES] = {"1.app-000001-002-a8c0-17-0.metric-db", "app-000001-002-a8c0-17-0.hpctrace",
                                           "experiment-1.mdb", "experiment.mt"};
static char directory[64];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files are read into memory instead (--wrap in CMakeLists.txt): so is a byte behind their end none that may be looked
 * at. */
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    (void)address, (void)size, (void)protection, (void)flags, (void)file, (void)offset;
    return MAP_FAILED;
}

static void remove_directory(void) { rmdir(directory); }

static void make_directory(void) {
    if (directory[0]) return;
    strcpy(directory, "/dev/shm/assay-fuzz-XXXXXX");
    if (!mkdtemp(directory)) {
        strcpy(directory, "/tmp/assay-fuzz-XXXXXX");
        if (!mkdtemp(directory)) abort();
    }
    atexit(remove_directory);
}

/* A chain of contexts, which are the nodes from 1 on and what samples with their numbers are in. */
static void attach(as_reader *reader, as_hpc_companions *companions) {
    as_dataset *ds = reader->dataset;
    as_tree tree;
    as_context context = AS_CONTEXT_INIT;
    const assay_id *ids;
    as_map of_samples;
    assay_id contexts[N_CONTEXTS + 1] = {ASSAY_NONE};
    as_hpc_column columns[N_COLUMNS];
    as_metric metric = AS_METRIC_INIT;
    as_tree_init(&tree, ds);
    as_map_init(&of_samples, &ds->budget);
    for (uint32_t i = 0; i < N_CONTEXTS; i++) {
        context.parent = contexts[i];
        contexts[i + 1] = as_tree_add(&tree, &context);
        as_map_put(&of_samples, i + 1, i);
    }
    for (uint32_t i = 0; i < N_COLUMNS; i++) columns[i] = (as_hpc_column){i, as_add_metric(ds, &metric)};
    if (!as_tree_finish(&tree, &ids)) abort();
    as_tree_free(&tree);
    as_hpc_companions_meaning meaning = {columns, N_COLUMNS, contexts, N_CONTEXTS + 1, &of_samples, 1e6};
    if (as_hpc_companions_attach(reader, companions, &meaning) != ASSAY_OK && !reader->error->message[0]) abort();
    as_map_free(&of_samples);
}

/* Both ways into the values have the same, and as many as was said. */
static void check_values(const as_dataset *ds) {
    as_sparse_line line = {0};
    assay_error error;
    uint64_t by_row = 0, by_column = 0;
    for (size_t i = 0; i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        for (assay_id context = 0; context < N_CONTEXTS; context++) {
            if (profile->source->read_row(profile->source, profile, context, &line, &error) != ASSAY_OK) abort();
            by_row += line.n;
        }
        for (uint32_t column = 0; column < profile->n_columns; column++) {
            if (profile->source->read_column(profile->source, profile, column, &line, &error) != ASSAY_OK) abort();
            by_column += line.n;
        }
    }
    as_sparse_line_free(&line);
    if (by_row != by_column || by_row != as_ds_values(ds)) abort();
}

static void check_traces(const as_dataset *ds) {
    assay_error error;
    as_trace_sample samples[N_SAMPLES];
    for (size_t i = 0; i < as_trace_line_count(&ds->traces); i++) {
        const as_trace_line *line = as_trace_line_at(&ds->traces, i);
        for (uint64_t first = 0; first < line->n; first += N_SAMPLES) {
            size_t n = line->n - first < N_SAMPLES ? (size_t)(line->n - first) : N_SAMPLES;
            if (as_trace_read(ds, line, first, n, samples, &error) != ASSAY_OK) abort();
            for (size_t k = 0; k < n; k++)
                if (samples[k].context != ASSAY_NONE && samples[k].context >= N_CONTEXTS) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    make_directory();
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, NAMES[data[0] % N_NAMES]);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1) || close(file) != 0) abort();
    as_dataset *ds = as_dataset_new(MEMORY);
    as_input input = {.path = "experiment.xml"};
    assay_error error = {.message = ""};
    as_reader reader = {.dataset = ds, .input = &input, .error = &error};
    as_hpc_companions *companions;
    if (!ds) abort();
    if (as_hpc_companions_open(&reader, directory, &companions) == ASSAY_OK) {
        for (uint32_t node = 0; node < N_CONTEXTS; node++) as_hpc_companions_node_has_values(companions, node);
        attach(&reader, companions);
        check_values(ds);
        check_traces(ds);
    } else if (!error.message[0]) {
        abort();
    }
    as_dataset_free(ds);
    unlink(path);
    return 0;
}
