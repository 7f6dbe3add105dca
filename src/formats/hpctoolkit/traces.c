/* trace.db: which context each profile was in, sample by sample. */
#include <stdlib.h>

#include "formats/hpctoolkit/private.h"

enum { LINE_2021 = 22, LINE_4 = 24, HEAD_4 = 0x20 };
/* Time stamps between these, in seconds since 1970, say when a run began: the years 1990 to 2100. */
#define EARLIEST 631152000.0
#define LATEST   4102444800.0

typedef struct trace_source {
    as_trace_source source;
    as_hpc_database *db;
} trace_source;

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b) {
    const as_hpc_line *x = a, *y = b;
    if (x->profile != y->profile) return x->profile < y->profile ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* One line from start to end; *total adds up what all of them take. What is wrong with it, or NULL. */
static const char *check_line(const as_hpc_database *db, uint32_t profile, uint64_t start, uint64_t end,
                              uint64_t *total) {
    if (start == end) return NULL;
    if (end < start) return "ends before it starts";
    if (end > db->trace.size) return "goes beyond the end of the file";
    if (db->form == AS_HPC_2021 && (end - start) % AS_HPC_SAMPLE) return "ends within a sample";
    if (profile >= db->n_profiles || db->profiles[profile].is_summary) return "is of a profile that is not there";
    *total += end - start;
    return *total > db->trace.size ? "has samples of another one" : NULL;
}

static assay_status add_line(as_reader *reader, as_hpc_database *db, uint32_t i, uint64_t at, uint64_t *total) {
    const as_hpc_file *file = &db->trace;
    bool is_2021 = db->form == AS_HPC_2021;
    uint32_t profile = as_hpc_u32(file, at);
    uint64_t start = as_hpc_u64(file, at + (is_2021 ? 6 : 8)), end = as_hpc_u64(file, at + (is_2021 ? 14 : 16));
    const char *problem = check_line(db, profile, start, end, total);
    if (!problem && is_2021 && as_hpc_u16(file, at + 4)) problem = "has values of a metric, which are not read";
    if (problem) {
        as_leave_out(reader, as_place_offset(file->path, at), "trace-damaged", "line %u %s; it is left out", i,
                     problem);
        return ASSAY_OK;
    }
    as_hpc_line line = {.profile = profile, .at = start, .n = (end - start) / AS_HPC_SAMPLE};
    if (line.n && !as_vec_append(&db->lines, &line, 1)) return as_reader_memory(reader);
    return ASSAY_OK;
}

/* Of several lines of a profile only the first is kept. */
static void drop_repeats(as_reader *reader, as_hpc_database *db) {
    as_hpc_line *lines = db->lines.data;
    size_t n = 0;
    for (size_t i = 0; i < db->lines.count; i++) {
        if (n && lines[n - 1].profile == lines[i].profile)
            as_leave_out(reader, as_place_offset(db->trace.path, lines[i].at), "trace-damaged",
                         "profile %u has another line; it is left out", lines[i].profile);
        else
            lines[n++] = lines[i];
    }
    db->lines.count = n;
}

/* Finds the table of lines: *n entries of *entry_size bytes at *at. */
static assay_status read_header(as_reader *reader, const char *directory, as_hpc_database *db, uint32_t *n,
                                uint32_t *entry_size, uint64_t *at, assay_error *error) {
    as_hpc_file *file = &db->trace;
    uint64_t section;
    AS_TRY(as_hpc_map_file(reader, directory, "trace.db", file, error));
    AS_TRY(as_hpc_check_magic(db->ds, db->form, file, "HPCPROF-tracedb_", "HPCTOOLKITtrce", error));
    *entry_size = LINE_2021;
    if (db->form == AS_HPC_2021) return as_hpc_header_2021(file, LINE_2021, n, at, error);
    AS_TRY(as_hpc_table_4(file, HEAD_4, LINE_4, &section, n, entry_size, at, error));
    db->start = as_hpc_u64(file, section + 0x10);
    db->has_start = db->start <= as_hpc_u64(file, section + 0x18);
    if (!as_hpc_has_footer(file, "trace.db", NULL))
        as_leave_out(reader, as_place_offset(file->path, file->size), "trace-damaged", "its last bytes are missing");
    return ASSAY_OK;
}

assay_status as_hpc_open_trace(as_reader *reader, const char *directory, as_hpc_database *db) {
    char path[PATH_MAX];
    assay_error error = {0};
    uint32_t n = 0, entry_size = 0;
    uint64_t at = 0, total = 0;
    if (!as_hpc_has(directory, "trace.db") || !as_hpc_path(directory, "trace.db", path)) return ASSAY_OK;
    assay_status status = read_header(reader, directory, db, &n, &entry_size, &at, &error);
    if (status == ASSAY_E_NOMEM) return as_fail_memory(reader->error, path);
    if (status != ASSAY_OK) {
        as_place place = {.path = path, .offset = error.offset};
        as_leave_out(reader, place, "trace-damaged", "%s; there are no traces", error.message);
        return ASSAY_OK;
    }
    for (uint32_t i = 0; i < n; i++) AS_TRY(add_line(reader, db, i, at + (uint64_t)i * entry_size, &total));
    if (db->lines.count) qsort(db->lines.data, db->lines.count, sizeof(as_hpc_line), compare_lines);
    drop_repeats(reader, db);
    return ASSAY_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static assay_status read_samples(const as_trace_source *source, const as_trace_line *line, uint64_t first, size_t n,
                                 as_trace_sample *out, assay_error *error) {
    const as_hpc_database *db = ((const trace_source *)source)->db;
    (void)error; /* the line was found to be in the file when it was added */
    const unsigned char *at = db->trace.data + line->at + first * AS_HPC_SAMPLE;
    bool swap = db->trace.swap;
    for (size_t i = 0; i < n; i++, at += AS_HPC_SAMPLE) {
        uint32_t context = as_hpc_load_u32(at + 8, swap);
        out[i].time = as_hpc_load_u64(at, swap);
        out[i].context = context < db->n_trace_contexts ? db->trace_contexts[context] : ASSAY_NONE;
    }
    return ASSAY_OK;
}

/* ---- attaching --------------------------------------------------------------------------------------------------- */

static bool copy_contexts(as_hpc_database *db, const as_hpc_meaning *meaning) {
    const assay_id *from = meaning->trace_contexts ? meaning->trace_contexts : meaning->contexts;
    size_t n = meaning->trace_contexts ? meaning->n_trace_contexts : meaning->n_contexts;
    assay_id *copy = as_arena_array(&db->ds->arena, n, sizeof *copy);
    if (!copy) return false;
    if (n) memcpy(copy, from, n * sizeof *copy);
    db->trace_contexts = copy;
    db->n_trace_contexts = n;
    return true;
}

assay_status as_hpc_attach_traces(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning, assay_id run,
                                  const assay_id *columns) {
    as_dataset *ds = db->ds;
    as_traces *traces = &ds->traces;
    traces->ticks_per_second = meaning->ticks_per_second > 0 ? meaning->ticks_per_second : 1e9;
    if (!db->lines.count) return ASSAY_OK;
    traces->has_start = meaning->has_start || db->has_start;
    traces->start = meaning->has_start ? meaning->start : db->start;
    double seconds = (double)traces->start / traces->ticks_per_second;
    as_run *first_run = &AS_AT(as_run, &ds->runs, run);
    if (traces->has_start && isnan(first_run->start_time) && seconds >= EARLIEST && seconds <= LATEST)
        first_run->start_time = seconds;
    trace_source *source = as_arena_alloc(&ds->arena, sizeof *source);
    if (!source || !copy_contexts(db, meaning)) return as_reader_memory(reader);
    *source = (trace_source){.source = {.read = read_samples}, .db = db};
    for (size_t i = 0; i < db->lines.count; i++) {
        const as_hpc_line *line = &AS_AT(as_hpc_line, &db->lines, i);
        as_trace_line added = {.run = run,
                               .location = columns[db->columns[line->profile]],
                               .n = line->n,
                               .source = &source->source,
                               .at = line->at};
        if (!as_add_trace_line(ds, &added)) return as_reader_memory(reader);
    }
    return ASSAY_OK;
}
