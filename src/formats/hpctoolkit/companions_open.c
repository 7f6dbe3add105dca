/* Finding the companions of an experiment.xml, one file for each thread or one for all of them. */
#include <endian.h>
#include <stdlib.h>

#include "formats/hpctoolkit/companions_private.h"
#include "formats/hpctoolkit/hpctoolkit.h"

enum { MAGIC = 18, VERSION = 5, HEADER = 24, FLAGS = 8, VALUES_HEADER = 32, SAMPLE = 12, DATA_CENTRIC_SAMPLE = 16 };
enum { MERGED_HEADER = 8, MERGED_ENTRY = 16, MERGED_END = 8 };
static const uint64_t IS_DATA_CENTRIC = 1;
static const unsigned char MERGED_MARK[] = {0xff, 0xff, 0xff, 0xff, 0xde, 0xad, 0xf0, 0x0d};

typedef enum companion_kind { OF_VALUES, OF_TRACES } companion_kind;

typedef struct finding {
    as_reader *reader;
    as_hpc_companions *companions;
    const char *directory;
    as_map seen[2];   /* by kind: (rank, thread) -> how many files were theirs */
    as_map single[2]; /* those that have a file of their own */
} finding;

static uint32_t big_u32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

static uint64_t big_u64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

/* ---- one thread's ------------------------------------------------------------------------------------------------ */

/* "00.10", "01.01". */
static bool parse_version(const unsigned char *text, unsigned *major, unsigned *minor) {
    for (unsigned i = 0; i < VERSION; i++)
        if (i == 2 ? text[i] != '.' : text[i] < '0' || text[i] > '9') return false;
    *major = 10u * (text[0] - '0') + (text[1] - '0');
    *minor = 10u * (text[3] - '0') + (text[4] - '0');
    return true;
}

static const char *check_header(const unsigned char *data, size_t size, const char *magic, unsigned known_major,
                                unsigned *minor) {
    unsigned major;
    if (size < MAGIC || memcmp(data, magic, MAGIC) != 0) return "does not begin as such a file does";
    if (size < HEADER) return "is cut off in its header";
    if (!parse_version(data + MAGIC, &major, minor) || major != known_major) return "is of a version nobody described";
    if (data[MAGIC + VERSION] != 'b') return "is not big-endian, as these files are";
    return NULL;
}

bool as_companion_read_values(const unsigned char *data, size_t size, as_companion_values *out, const char **problem) {
    unsigned minor;
    *problem = check_header(data, size, "HPCPROF-metricdb__", 0, &minor);
    if (!*problem && size < VALUES_HEADER) *problem = "is cut off in its header";
    if (*problem) return false;
    out->n_nodes = big_u32(data + HEADER);
    out->n_columns = big_u32(data + HEADER + 4);
    out->numbers = data + VALUES_HEADER;
    uint64_t n = (uint64_t)out->n_nodes * out->n_columns;
    if (n > (size - VALUES_HEADER) / sizeof(double)) *problem = "is shorter than its nodes and metrics need";
    return !*problem;
}

bool as_companion_read_trace(const unsigned char *data, size_t size, as_companion_trace *out, const char **problem) {
    unsigned minor;
    size_t header = HEADER;
    uint64_t flags = 0;
    *problem = check_header(data, size, "HPCRUN-trace______", 1, &minor);
    if (*problem) return false;
    if (minor) {
        header += FLAGS;
        if (size < header) {
            *problem = "is cut off in its header";
            return false;
        }
        flags = big_u64(data + HEADER);
    }
    out->record = flags & IS_DATA_CENTRIC ? DATA_CENTRIC_SAMPLE : SAMPLE;
    out->samples = data + header;
    out->n = (size - header) / out->record;
    return true;
}

static assay_status memory_is_out(const finding *f) { return as_fail_memory(f->reader->error, f->directory); }

/* What is in a file, or in a piece of a merged one at an offset. */
static assay_status add_piece(finding *f, companion_kind kind, as_companion_owner owner, const as_input *file,
                              uint64_t offset, uint64_t size) {
    as_hpc_companions *c = f->companions;
    const unsigned char *data = (const unsigned char *)file->data + offset;
    as_companion_values values = {.owner = owner};
    as_companion_trace trace = {.owner = owner};
    const char *problem;
    bool is_fine = kind == OF_VALUES ? as_companion_read_values(data, (size_t)size, &values, &problem)
                                     : as_companion_read_trace(data, (size_t)size, &trace, &problem);
    if (!is_fine) {
        as_leave_out(f->reader, as_place_offset(file->path, offset), "companion",
                     "%s; %s of rank %u, thread %u are left out", problem, kind == OF_VALUES ? "values" : "samples",
                     owner.rank, owner.thread);
        return ASSAY_OK;
    }
    if (kind == OF_TRACES) return as_vec_append(&c->traces, &trace, 1) ? ASSAY_OK : memory_is_out(f);
    if (values.n_columns && values.n_nodes > c->n_nodes) c->n_nodes = values.n_nodes;
    if (values.n_columns > c->n_columns) c->n_columns = values.n_columns;
    return as_vec_append(&c->values, &values, 1) ? ASSAY_OK : memory_is_out(f);
}

/* Which of those that are of one rank and thread this one is. */
static assay_status count_owner(finding *f, companion_kind kind, as_companion_owner *owner) {
    uint64_t key = as_pair(owner->rank, owner->thread);
    uint32_t n = as_map_get(&f->seen[kind], key);
    owner->occurrence = n == AS_MAP_NONE ? 0 : n;
    return as_map_put(&f->seen[kind], key, owner->occurrence + 1) ? ASSAY_OK : memory_is_out(f);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* The field that ends before *end and begins behind a '-'; *end becomes the place of that. */
static bool take_field(const char *name, const char **end, bool (*belongs)(char), const char **field) {
    const char *at = *end;
    while (at > name && belongs(at[-1])) at--;
    if (at == *end || at == name || at[-1] != '-') return false;
    *field = at;
    *end = at - 1;
    return true;
}

static bool parse_field(const char *field, const char *end, uint32_t *out) {
    uint64_t number = 0;
    for (; field < end && number <= INT32_MAX; field++) number = number * 10 + (uint64_t)(*field - '0');
    *out = (uint32_t)number;
    return number <= INT32_MAX;
}

/* "…-RANK-THREAD-HOST-PID-GENERATION.ending" */
static bool parse_name(const char *name, as_companion_owner *out) {
    const char *end = strrchr(name, '.'), *field, *thread_end, *rank_end;
    if (!end || !take_field(name, &end, is_digit, &field) || !take_field(name, &end, is_digit, &field) ||
        !take_field(name, &end, is_hexadecimal, &field))
        return false;
    thread_end = end;
    if (!take_field(name, &end, is_digit, &field) || !parse_field(field, thread_end, &out->thread)) return false;
    rank_end = end;
    return take_field(name, &end, is_digit, &field) && parse_field(field, rank_end, &out->rank);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* *out is NULL where it cannot be opened, which is a warning. */
static assay_status open_file(finding *f, const char *name, as_input **out) {
    assay_error error;
    assay_status status = as_hpc_open_file(f->reader, f->directory, name, out, &error);
    if (status == ASSAY_OK) return ASSAY_OK;
    *out = NULL;
    if (status == ASSAY_E_NOMEM) return memory_is_out(f);
    as_leave_out(f->reader, as_place_file(error.path), "companion", "%s; it is left out", error.message);
    return ASSAY_OK;
}

static assay_status add_file(finding *f, companion_kind kind, const char *name) {
    as_companion_owner owner = {0};
    as_input *file;
    if (!parse_name(name, &owner)) {
        char path[PATH_MAX];
        if (!as_hpc_path(f->directory, name, path)) return ASSAY_OK;
        as_leave_out(f->reader, as_place_file(path), "companion",
                     "the name does not end in -RANK-THREAD-HOST-PID-GENERATION; it is left out");
        return ASSAY_OK;
    }
    AS_TRY(open_file(f, name, &file));
    if (!file) return ASSAY_OK;
    AS_TRY(count_owner(f, kind, &owner));
    if (!as_map_put(&f->single[kind], as_pair(owner.rank, owner.thread), 1)) return memory_is_out(f);
    return add_piece(f, kind, owner, file, 0, file->size);
}

/* *from: where it may begin, and the next one then. */
static assay_status add_merged_piece(finding *f, companion_kind kind, const as_input *file, uint32_t number,
                                     uint64_t *from, uint64_t end) {
    const unsigned char *entry = (const unsigned char *)file->data + MERGED_HEADER + (uint64_t)number * MERGED_ENTRY;
    as_companion_owner owner = {.rank = big_u32(entry), .thread = big_u32(entry + 4)};
    uint64_t at = big_u64(entry + 8);
    if (owner.rank > INT32_MAX || owner.thread > INT32_MAX || at < *from || at > end) {
        as_leave_out(f->reader, as_place_offset(file->path, (uint64_t)(entry - (const unsigned char *)file->data)),
                     "companion", "entry %u is not in order; it is left out", number);
        return ASSAY_OK;
    }
    *from = end;
    if (as_map_get(&f->single[kind], as_pair(owner.rank, owner.thread)) != AS_MAP_NONE) return ASSAY_OK;
    AS_TRY(count_owner(f, kind, &owner));
    return add_piece(f, kind, owner, file, at, end - at);
}

/* All threads' in one file, as hpcviewer makes it. */
static assay_status add_merged(finding *f, companion_kind kind, const char *name) {
    as_input *file;
    AS_TRY(open_file(f, name, &file));
    if (!file) return ASSAY_OK;
    const unsigned char *data = (const unsigned char *)file->data;
    uint64_t end = file->size, n = file->size >= MERGED_HEADER ? big_u32(data + 4) : 0;
    if (end < MERGED_HEADER || n > (end - MERGED_HEADER) / MERGED_ENTRY) {
        as_leave_out(f->reader, as_place_file(file->path), "companion", "is shorter than its index; it is left out");
        return ASSAY_OK;
    }
    bool has_mark = end >= MERGED_END && memcmp(data + end - MERGED_END, MERGED_MARK, MERGED_END) == 0;
    if (has_mark && MERGED_HEADER + n * MERGED_ENTRY + MERGED_END <= end) end -= MERGED_END;
    uint64_t from = MERGED_HEADER + n * MERGED_ENTRY;
    for (uint32_t i = 0; i < n; i++) {
        /* each ends where the next begins */
        uint64_t next = i + 1 < n ? big_u64(data + MERGED_HEADER + (i + 1) * (uint64_t)MERGED_ENTRY + 8) : end;
        AS_TRY(add_merged_piece(f, kind, file, i, &from, next < end ? next : end));
    }
    return ASSAY_OK;
}

static bool is_merged_values(const char *name) {
    const char *at = name + strlen("experiment-");
    return strncmp(name, "experiment-", strlen("experiment-")) == 0 && as_has_ending(at, ".mdb");
}

static assay_status add_files(finding *f, const as_directory *directory) {
    for (size_t i = 0; i < directory->n_entries; i++) {
        const as_directory_entry *entry = &directory->entries[i];
        if (entry->is_directory) continue;
        if (as_has_ending(entry->name, ".metric-db")) AS_TRY(add_file(f, OF_VALUES, entry->name));
        if (as_has_ending(entry->name, ".hpctrace")) AS_TRY(add_file(f, OF_TRACES, entry->name));
    }
    for (size_t i = 0; i < directory->n_entries; i++) {
        const as_directory_entry *entry = &directory->entries[i];
        if (entry->is_directory) continue;
        if (is_merged_values(entry->name)) AS_TRY(add_merged(f, OF_VALUES, entry->name));
        if (strcmp(entry->name, "experiment.mt") == 0) AS_TRY(add_merged(f, OF_TRACES, entry->name));
    }
    return ASSAY_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void release(void *object) {
    as_hpc_companions *c = object;
    as_vec_free(&c->values);
    as_vec_free(&c->by_size);
    as_vec_free(&c->traces);
    as_map_free(&c->trace_contexts);
    free(c);
}

static as_hpc_companions *new_companions(as_dataset *ds) {
    as_hpc_companions *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->ds = ds;
    as_vec_init(&c->values, sizeof(as_companion_values), &ds->budget);
    as_vec_init(&c->by_size, sizeof(as_companion_values), &ds->budget);
    as_vec_init(&c->traces, sizeof(as_companion_trace), &ds->budget);
    as_map_init(&c->trace_contexts, &ds->budget);
    return as_ds_hold(ds, c, release) ? c : NULL;
}

static int compare_sizes(const void *a, const void *b) {
    const as_companion_values *x = a, *y = b;
    return (x->n_nodes < y->n_nodes) - (x->n_nodes > y->n_nodes);
}

static bool sort_by_size(as_hpc_companions *c) {
    for (size_t i = 0; i < c->values.count; i++) {
        const as_companion_values *file = &AS_AT(as_companion_values, &c->values, i);
        if (file->n_columns && !as_vec_append(&c->by_size, file, 1)) return false;
    }
    if (c->by_size.count) qsort(c->by_size.data, c->by_size.count, sizeof(as_companion_values), compare_sizes);
    return true;
}

assay_status as_hpc_companions_open(as_reader *reader, const char *directory, as_hpc_companions **out) {
    as_dataset *ds = reader->dataset;
    finding f = {.reader = reader, .directory = directory, .companions = new_companions(ds)};
    if (!f.companions) return memory_is_out(&f);
    as_directory files;
    for (unsigned i = 0; i < 2; i++) {
        as_map_init(&f.seen[i], &ds->budget);
        as_map_init(&f.single[i], &ds->budget);
    }
    assay_status status = as_directory_list(*directory ? directory : ".", &ds->budget, &files, reader->error);
    if (status == ASSAY_OK) status = add_files(&f, &files);
    if (status == ASSAY_OK && !sort_by_size(f.companions)) status = memory_is_out(&f);
    as_directory_free(&files);
    for (unsigned i = 0; i < 2; i++) {
        as_map_free(&f.seen[i]);
        as_map_free(&f.single[i]);
    }
    *out = f.companions;
    return status;
}
