/* All tables, in pieces, at once. */
#include "formats/nsight/load.h"

#include <stdlib.h>

#include "core/parallel.h"

enum { PART_ROWS = 1 << 18, BATCH = 8 };

static const as_ns_source *const sources[] = {&as_ns_load_calls,   &as_ns_load_ranges,  &as_ns_load_osrt,
                                              &as_ns_load_samples, &as_ns_load_kernels, &as_ns_load_copies,
                                              &as_ns_load_sets,    &as_ns_load_graphs,  &as_ns_load_syncs};
enum { N_SOURCES = sizeof sources / sizeof *sources };

static as_vec *rows_of(const as_ns_loading *loading, const as_ns_source *source) {
    return (as_vec *)((char *)loading->x + source->rows);
}

static as_ns_part *part_at(const as_ns_loading *loading, size_t i) { return &AS_AT(as_ns_part, &loading->parts, i); }

static void *row_at(const as_ns_part *part, size_t i) {
    const as_vec *rows = rows_of(part->loading, part->source);
    return (char *)rows->data + (part->first + i) * rows->size;
}

/* ---- rows of a piece --------------------------------------------------------------------------------------------- */

bool as_ns_take_span(as_ns_part *part, int64_t start, int64_t end, as_ns_span *out) {
    if (start == AS_NS_NULL) return false;
    *out = (as_ns_span){start, end}; /* NULL is AS_NS_OPEN */
    if (start < part->least) part->least = start;
    if (start > part->greatest) part->greatest = start;
    if (end == AS_NS_OPEN) return true;
    if (end < part->least) part->least = end;
    if (end > part->greatest) part->greatest = end;
    int64_t length;
    part->n_negative += end < start;
    part->n_endless += end >= start && __builtin_sub_overflow(end, start, &length);
    return true;
}

static as_ns_taken take_rows(as_ns_part *part, as_scan *scan) {
    const as_ns_source *source = part->source;
    size_t size = rows_of(part->loading, source)->size;
    while (as_scan_next(scan)) {
        if (part->count == part->capacity) return AS_NS_WRONG;
        void *row = row_at(part, part->count);
        memset(row, 0, size);
        as_ns_taken taken = source->take(part, scan, row);
        if (taken == AS_NS_MEMORY) return taken;
        part->count += taken == AS_NS_TAKEN;
        part->n_wrong += taken == AS_NS_WRONG;
    }
    return AS_NS_TAKEN;
}

static void read_part(void *user, size_t i) {
    as_ns_part *part = &((as_ns_part *)user)[i];
    const as_ns_source *source = part->source;
    const as_ns_export *x = part->loading->x;
    const char *path = x->reader->input->path;
    as_scan *scan;
    part->status =
        as_scan_open(x->db, source->table, source->columns, source->n_columns, part->range, &scan, &part->error);
    if (part->status != ASSAY_OK) return;
    as_ns_taken taken = take_rows(part, scan);
    part->status = as_scan_close(scan, &part->error);
    if (part->status != ASSAY_OK) return;
    if (taken == AS_NS_MEMORY) part->status = as_fail_memory(&part->error, path);
    if (taken == AS_NS_WRONG)
        part->status = as_fail(&part->error, ASSAY_E_FORMAT, as_place_file(path), "damaged-database",
                               "is a damaged database, in table %s: it has more rows than it counts", source->table);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static bool add_part(as_ns_loading *loading, const as_ns_source *source, as_scan_range range, size_t first, size_t n) {
    as_ns_part *part = as_vec_push(&loading->parts);
    as_budget *budget = &loading->x->ds->budget;
    if (!part) return false;
    *part = (as_ns_part){.source = source,
                         .loading = loading,
                         .range = range,
                         .first = first,
                         .capacity = n,
                         .least = INT64_MAX,
                         .greatest = INT64_MIN};
    as_ns_keys_init(&part->places, source->is_gpu ? 4 : 1, budget);
    as_ns_keys_init(&part->names, source->name_words, budget);
    as_ns_keys_init(&part->shapes, source->shape_words, budget);
    as_vec_init(&part->declared, sizeof(as_ns_declared), budget);
    as_arena_init(&part->arena, budget);
    return true;
}

/* Where no rowid is missing, which is usual, each piece knows where its rows will stand. */
static bool add_parts(as_ns_loading *loading, const as_ns_source *source, size_t n) {
    int64_t least, greatest;
    bool is_dense = as_database_rowids(loading->x->db, source->table, &least, &greatest) &&
                    (uint64_t)greatest - (uint64_t)least == n - 1;
    if (!is_dense || n <= PART_ROWS) return add_part(loading, source, (as_scan_range){0}, 0, n);
    for (size_t first = 0; first < n; first += PART_ROWS) {
        size_t rows = n - first < PART_ROWS ? n - first : PART_ROWS;
        int64_t from = least + (int64_t)first;
        if (!add_part(loading, source, (as_scan_range){true, from, from + (int64_t)rows - 1}, first, rows))
            return false;
    }
    return true;
}

static assay_status plan_source(as_ns_loading *loading, const as_ns_source *source) {
    as_ns_export *x = loading->x;
    uint64_t n;
    AS_TRY(as_database_count(x->db, source->table, &n, x->reader->error));
    if (n == 0) return ASSAY_OK;
    if (n >= AS_NS_NONE - 1)
        return as_fail(x->reader->error, ASSAY_E_UNSUPPORTED, as_place_file(x->reader->input->path), "too-many-rows",
                       "has %llu rows in table %s, more than can be read", (unsigned long long)n, source->table);
    as_vec *rows = rows_of(loading, source);
    as_vec_expect(rows, (size_t)n);
    if (!as_vec_reserve(rows, (size_t)n) || !add_parts(loading, source, (size_t)n)) return as_reader_memory(x->reader);
    rows->count = (size_t)n;
    return ASSAY_OK;
}

static assay_status read_parts(as_ns_loading *loading) {
    as_reader *reader = loading->x->reader;
    for (size_t i = 0; i < loading->parts.count; i += BATCH) {
        size_t n = loading->parts.count - i < BATCH ? loading->parts.count - i : BATCH;
        as_parallel(n, reader->threads, read_part, part_at(loading, i));
        for (size_t k = i; k < i + n; k++) {
            const as_ns_part *part = part_at(loading, k);
            if (part->status == ASSAY_OK) continue;
            if (reader->error) *reader->error = part->error;
            return part->status;
        }
        if (reader->progress && !reader->progress(reader->user, "reading", (double)i / (double)loading->parts.count))
            return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(reader->input->path), "cancelled",
                           "cancelled");
    }
    return ASSAY_OK;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* A place of rows of one part. */
typedef struct place {
    uint64_t process; /* or thread */
    int64_t device, context, stream;
    as_ns_part *part;
    uint32_t number;
    bool is_gpu, has_process, is_none;
} place;

#define COMPARE(a, b)                                                                                                  \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

static int compare_places(const void *a, const void *b) {
    const place *p = a, *q = b;
    COMPARE(p->is_gpu, q->is_gpu);
    COMPARE(p->device, q->device);
    COMPARE(p->has_process, q->has_process);
    COMPARE(p->process, q->process);
    COMPARE(p->context, q->context);
    COMPARE(p->stream, q->stream);
    return 0;
}

static place place_of_key(as_ns_part *part, uint32_t number) {
    enum { NO_STREAM = 0xffffffff }; /* of CUPTI */
    const int64_t *key = as_ns_key_at(&part->places, number);
    place p = {.part = part, .number = number, .is_gpu = part->source->is_gpu};
    p.has_process = key[0] != AS_NS_NULL;
    p.process = (uint64_t)as_ns_or(key[0], 0);
    if (!p.is_gpu) return p;
    p.device = as_ns_or(key[1], 0);
    p.context = as_ns_or(key[2], 0);
    p.stream = as_ns_or(key[3], 0);
    p.is_none = part->source == &as_ns_load_syncs && (key[3] == AS_NS_NULL || key[3] == NO_STREAM);
    return p;
}

static bool collect_places(as_ns_loading *loading, as_vec *places) {
    for (size_t i = 0; i < loading->parts.count; i++) {
        as_ns_part *part = part_at(loading, i);
        size_t n = as_ns_keys_count(&part->places);
        part->place_of = as_arena_array(&part->arena, n, sizeof *part->place_of);
        if (!part->place_of) return false;
        for (uint32_t k = 0; k < n; k++) {
            place p = place_of_key(part, k);
            if (!as_vec_append(places, &p, 1)) return false;
        }
    }
    return true;
}

static bool number_place(as_ns_export *x, const place *p) {
    uint32_t *out = &p->part->place_of[p->number];
    *out = AS_NS_NONE;
    if (p->is_none) return true;
    if (!p->is_gpu) return (*out = as_ns_thread_of(x, p->process)) != AS_NS_NONE;
    uint32_t process = p->has_process ? as_ns_process_of(x, p->process) : AS_NS_NONE;
    if (p->has_process && process == AS_NS_NONE) return false;
    int64_t device = as_ns_physical_device(x, process, p->device);
    return (*out = as_ns_stream_of(x, process, device, p->context, p->stream)) != AS_NS_NONE;
}

/* Places get their numbers in order of what they are, not of who came first. */
static bool number_places(as_ns_loading *loading) {
    as_vec places;
    as_vec_init(&places, sizeof(place), &loading->x->ds->budget);
    bool fine = collect_places(loading, &places);
    if (fine && places.count) qsort(places.data, places.count, sizeof(place), compare_places);
    for (size_t i = 0; fine && i < places.count; i++) fine = number_place(loading->x, &AS_AT(place, &places, i));
    as_vec_free(&places);
    return fine;
}

/* ---- names and shapes -------------------------------------------------------------------------------------------- */

static uint32_t *number_keys(as_ns_loading *loading, as_ns_part *part, const as_ns_keys *keys,
                             bool (*number)(as_ns_loading *loading, const as_ns_part *part, const int64_t *key,
                                            uint32_t *out),
                             bool *fine) {
    size_t n = as_ns_keys_count(keys);
    uint32_t *out = as_arena_array(&part->arena, n, sizeof *out);
    *fine &= out != NULL;
    for (uint32_t i = 0; *fine && i < n; i++) *fine = number(loading, part, as_ns_key_at(keys, i), &out[i]);
    return out;
}

static bool number_others(as_ns_loading *loading) {
    bool fine = true;
    for (size_t i = 0; fine && i < loading->parts.count; i++) {
        as_ns_part *part = part_at(loading, i);
        if (part->source->name_words)
            part->name_of = number_keys(loading, part, &part->names, part->source->name, &fine);
    }
    for (size_t i = 0; fine && i < loading->parts.count; i++) {
        as_ns_part *part = part_at(loading, i);
        if (part->source->declare) fine = part->source->declare(loading, part);
    }
    for (size_t i = 0; fine && i < loading->parts.count; i++) {
        as_ns_part *part = part_at(loading, i);
        if (part->source->shape_words)
            part->shape_of = number_keys(loading, part, &part->shapes, part->source->shape, &fine);
    }
    return fine;
}

static void settle_part(void *user, size_t i) {
    const as_ns_part *part = part_at(user, i);
    for (size_t k = 0; k < part->count; k++) part->source->settle(part, row_at(part, k));
}

/* Rows that were left out leave holes. */
static void close_gaps(as_ns_loading *loading) {
    for (size_t i = 0; i < N_SOURCES; i++) {
        as_vec *rows = rows_of(loading, sources[i]);
        size_t count = 0;
        for (size_t k = 0; k < loading->parts.count; k++) {
            as_ns_part *part = part_at(loading, k);
            if (part->source != sources[i]) continue;
            char *to = (char *)rows->data + count * rows->size;
            if (count != part->first && part->count) memmove(to, row_at(part, 0), part->count * rows->size);
            part->first = count;
            count += part->count;
        }
        bool has_gaps = count < rows->count;
        rows->count = count;
        if (has_gaps) as_vec_shrink(rows);
    }
}

void as_ns_tell_wrong(as_ns_export *x, const char *table, uint64_t n) {
    x->n_wrong_type += n;
    if (n)
        as_leave_out(x->reader, as_place_file(x->reader->input->path), "wrong-type",
                     "%llu row%s of table %s %s no number, or none that can be, where one must be: left out",
                     (unsigned long long)n, n == 1 ? "" : "s", table, n == 1 ? "has" : "have");
}

static void sum_up(as_ns_loading *loading) {
    as_ns_export *x = loading->x;
    for (size_t i = 0; i < N_SOURCES; i++) {
        uint64_t n_wrong = 0;
        for (size_t k = 0; k < loading->parts.count; k++)
            n_wrong += part_at(loading, k)->source == sources[i] ? part_at(loading, k)->n_wrong : 0;
        as_ns_tell_wrong(x, sources[i]->table, n_wrong);
    }
    for (size_t i = 0; i < loading->parts.count; i++) {
        const as_ns_part *part = part_at(loading, i);
        x->n_negative += part->n_negative;
        x->n_endless += part->n_endless;
        x->n_open_ranges += part->n_open;
        x->n_unnamed += part->n_unnamed;
        if (part->least < loading->least) loading->least = part->least;
        if (part->greatest > loading->greatest) loading->greatest = part->greatest;
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void choose_mode(as_ns_export *x) {
    bool has_ranges = as_database_has_table(x->db, "NVTX_EVENTS"),
         has_chains = as_database_has_table(x->db, "CUDA_CALLCHAINS"), is_extra_prof = false, is_chained = false;
    for (size_t i = 0; i < x->domains.count; i++) is_extra_prof |= AS_NS_AT(as_ns_domain, x, domains, i)->is_extra_prof;
    for (size_t i = 0; !is_chained && i < x->calls.count; i++)
        is_chained = AS_NS_AT(as_ns_call, x, calls, i)->chain != AS_NS_NONE;
    x->mode = is_extra_prof                                                                             ? AS_NS_RANGES
              : !has_ranges && has_chains && is_chained                                                 ? AS_NS_CHAINS
              : !has_ranges && !has_chains && as_database_has_table(x->db, "EXTRAP_RESOLVED_CALLPATHS") ? AS_NS_RESOLVED
                                                                                                        : AS_NS_PLAIN;
}

/* Times of which a double has every nanosecond are seconds as they are; others count from the first. */
static void choose_origin(as_ns_loading *loading) {
    const int64_t exact = (int64_t)1 << 53;
    bool is_exact = loading->least > -exact && loading->greatest < exact;
    loading->x->origin = is_exact || loading->least > loading->greatest ? 0 : loading->least;
}

static assay_status load_all(as_ns_loading *loading) {
    as_ns_export *x = loading->x;
    AS_TRY(as_ns_texts_read(x));
    AS_TRY(as_ns_symbols_read(x));
    AS_TRY(as_ns_devices_read(x));
    for (size_t i = 0; i < N_SOURCES; i++) AS_TRY(plan_source(loading, sources[i]));
    AS_TRY(read_parts(loading));
    if (!number_places(loading) || !number_others(loading)) return as_reader_memory(x->reader);
    as_parallel(loading->parts.count, x->reader->threads, settle_part, loading);
    close_gaps(loading);
    sum_up(loading);
    choose_origin(loading);
    AS_TRY(as_ns_name_samples(x));
    AS_TRY(as_ns_correlate(x));
    choose_mode(x);
    AS_TRY(as_ns_describe_places(loading));
    return as_ns_add_locations(x);
}

assay_status as_ns_load(as_ns_export *x) {
    as_budget *budget = &x->ds->budget;
    as_ns_loading loading = {.x = x, .least = INT64_MAX, .greatest = INT64_MIN};
    as_vec_init(&loading.parts, sizeof(as_ns_part), budget);
    as_vec_init(&loading.range_texts, sizeof(as_ns_range_text), budget);
    as_ns_keys_init(&loading.functions, 3, budget);
    as_ns_keys_init(&loading.shapes, AS_NS_KEY_WORDS, budget);
    as_map_init(&loading.domains, budget);
    as_map_init(&loading.thread_names, budget);
    assay_status status = load_all(&loading);
    for (size_t i = 0; i < loading.parts.count; i++) {
        as_ns_part *part = part_at(&loading, i);
        as_ns_keys_free(&part->places);
        as_ns_keys_free(&part->names);
        as_ns_keys_free(&part->shapes);
        as_vec_free(&part->declared);
        if (part->texts.arena) as_strings_free(&part->texts);
        as_arena_free(&part->arena);
    }
    as_vec_free(&loading.parts);
    as_vec_free(&loading.range_texts);
    as_ns_keys_free(&loading.functions);
    as_ns_keys_free(&loading.shapes);
    as_map_free(&loading.domains);
    as_map_free(&loading.thread_names);
    return status;
}
