/* The table "frame". Nothing is kept for its rows: resources of a kind have the same trace, and many frames are the
 * same; which row of which resource it is follows from how many frames there are before each block of resources. */
#include <stdatomic.h>
#include <stdlib.h>

#include "formats/perun/tables.h"

enum { BLOCK = 256, RECORD = 2, POSITION = 3, OWN_COLUMNS = 4 };

/* A distinct trace, and a distinct frame: the text it was read from, and what it consists of. */
typedef struct part {
    as_raw_json raw;
    size_t first, count; /* a trace: of `elements`; a frame: of `cells` */
} part;

struct as_perun_frames {
    as_table_source source; /* first: the table finds the frames by it */
    as_dataset *ds;
    const as_perun *perun;
    const as_records *records;
    as_table *table;
    uint64_t serial;           /* of all such tables: the number of this one */
    as_vec traces;             /* part */
    as_vec frames;             /* part */
    as_vec elements;           /* uint32_t: frames */
    as_vec cells;              /* as_shared_cell; columns are those of the table */
    as_vec kind_traces;        /* uint32_t, by kind; UINT32_MAX: none */
    as_vec block_starts;       /* uint64_t: rows before each block of resources, and all of them at last */
    as_map column_of;          /* as_str -> column */
    as_map trace_of, frame_of; /* hash of the text -> its first part with it */
};

/* ---- the view ---------------------------------------------------------------------------------------------------- */

/* Where the row lies that was asked for last: tables are read from the first row to the last. */
typedef struct cursor {
    uint64_t serial, row;
    size_t record, position;
} cursor;

static const part *trace_of_record(const as_perun_frames *frames, size_t record) {
    uint32_t kind = as_records_row_kinds(frames->records)[record];
    uint32_t trace = AS_AT(uint32_t, &frames->kind_traces, kind);
    return trace == UINT32_MAX ? NULL : &AS_AT(part, &frames->traces, trace);
}

static size_t frames_of_record(const as_perun_frames *frames, size_t record) {
    const part *trace = trace_of_record(frames, record);
    return trace ? trace->count : 0;
}

static cursor find_row(const as_perun_frames *frames, uint64_t row) {
    size_t low = 0, high = frames->block_starts.count - 1; /* the last block that begins at or before the row */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (AS_AT(uint64_t, &frames->block_starts, middle) <= row)
            low = middle;
        else
            high = middle;
    }
    cursor found = {.serial = frames->serial, .row = row, .record = low * BLOCK};
    uint64_t left = row - AS_AT(uint64_t, &frames->block_starts, low);
    for (size_t n; (n = frames_of_record(frames, found.record)) <= left; found.record++) left -= n;
    found.position = (size_t)left;
    return found;
}

static cursor next_row(const as_perun_frames *frames, cursor at) {
    at.row++;
    if (++at.position < frames_of_record(frames, at.record)) return at;
    at.position = 0;
    do at.record++;
    while (frames_of_record(frames, at.record) == 0);
    return at;
}

static size_t view_rows(const as_table_source *source) {
    const as_perun_frames *frames = (const as_perun_frames *)source;
    size_t n = frames->block_starts.count;
    return n ? (size_t)AS_AT(uint64_t, &frames->block_starts, n - 1) : 0;
}

static as_cell view_cell(const as_table_source *source, size_t row, size_t column) {
    static _Thread_local cursor last;
    const as_perun_frames *frames = (const as_perun_frames *)source;
    if (column == 0) return as_cell_int((int64_t)row);
    if (last.serial != frames->serial || last.row != row)
        last = last.serial == frames->serial && last.row + 1 == row ? next_row(frames, last) : find_row(frames, row);
    if (column == 1) return as_cell_int(as_records_run(frames->records, last.record));
    if (column == RECORD) return as_cell_int((int64_t)last.record);
    if (column == POSITION) return as_cell_int((int64_t)last.position);
    const part *trace = trace_of_record(frames, last.record);
    uint32_t frame = AS_AT(uint32_t, &frames->elements, trace->first + last.position);
    const part *it = &AS_AT(part, &frames->frames, frame);
    for (size_t i = it->count; i-- > 0;) { /* of two in one column the later one counts */
        const as_shared_cell *cell = &AS_AT(as_shared_cell, &frames->cells, it->first + i);
        if (cell->column == column) return cell->cell;
    }
    return as_cell_null();
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

static void release(void *object) {
    as_perun_frames *frames = object;
    as_vec *all[] = {&frames->traces, &frames->frames,      &frames->elements,
                     &frames->cells,  &frames->kind_traces, &frames->block_starts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) as_vec_free(all[i]);
    as_map_free(&frames->column_of);
    as_map_free(&frames->trace_of);
    as_map_free(&frames->frame_of);
    free(frames);
}

as_perun_frames *as_perun_frames_new(as_dataset *ds, const as_perun *perun) {
    static atomic_uint_least64_t serials;
    as_perun_frames *frames = calloc(1, sizeof *frames);
    if (!frames) return NULL;
    frames->source = (as_table_source){.rows = view_rows, .cell = view_cell};
    frames->ds = ds;
    frames->perun = perun;
    frames->records = perun->records;
    frames->serial = 1 + atomic_fetch_add(&serials, 1);
    as_vec_init(&frames->traces, sizeof(part), &ds->budget);
    as_vec_init(&frames->frames, sizeof(part), &ds->budget);
    as_vec_init(&frames->elements, sizeof(uint32_t), &ds->budget);
    as_vec_init(&frames->cells, sizeof(as_shared_cell), &ds->budget);
    as_vec_init(&frames->kind_traces, sizeof(uint32_t), &ds->budget);
    as_vec_init(&frames->block_starts, sizeof(uint64_t), &ds->budget);
    as_map_init(&frames->column_of, &ds->budget);
    as_map_init(&frames->trace_of, &ds->budget);
    as_map_init(&frames->frame_of, &ds->budget);
    if (!as_ds_hold(ds, frames, release)) return NULL; /* which released them */
    frames->table = as_add_derived_view(ds, "frame", &frames->source, AS_RECORDS_PARTS);
    bool fine = frames->table && as_table_add_column(frames->table, "record") == RECORD &&
                as_table_add_column(frames->table, "position") == POSITION;
    return fine ? frames : NULL;
}

/* Whether the text is known; *index: of its part, which is new otherwise. Two texts of one hash are two parts, the
 * second of which is not found again. False when memory is out. */
static bool find_part(as_map *map, as_vec *parts, as_raw_json raw, uint32_t *index, bool *is_known) {
    uint64_t hash = as_hash(raw.text, raw.size);
    *index = as_map_get(map, hash);
    const part *known = *index == AS_MAP_NONE ? NULL : &AS_AT(part, parts, *index);
    *is_known = known && known->raw.size == raw.size && memcmp(known->raw.text, raw.text, raw.size) == 0;
    if (*is_known) return true;
    if (parts->count >= UINT32_MAX - 1) return false;
    *index = (uint32_t)parts->count;
    part *new = as_vec_push(parts);
    if (!new) return false;
    new->raw = raw;
    return as_map_put(map, hash, *index);
}

static uint32_t column_of(as_perun_frames *frames, const char *key, size_t size) {
    static const char *const TAKEN[] = {"source:id", "source:run", "source:record", "source:position"};
    enum { PREFIX = sizeof "source:" - 1 };
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++) {
        if (size + PREFIX != strlen(TAKEN[i]) || memcmp(key, TAKEN[i] + PREFIX, size) != 0) continue;
        key = TAKEN[i];
        size += PREFIX;
        break;
    }
    as_str name = as_ds_intern(frames->ds, key, size);
    if (name == AS_NO_STR) return UINT32_MAX;
    uint32_t known = as_map_get(&frames->column_of, name);
    if (known != AS_MAP_NONE) return known;
    size_t column = as_table_add_column(frames->table, as_ds_text(frames->ds, name));
    bool fine = column < UINT32_MAX && as_map_put(&frames->column_of, name, (uint32_t)column);
    return fine ? (uint32_t)column : UINT32_MAX;
}

static bool add_cell(void *user, const char *key, size_t key_size, as_cell value) {
    as_perun_frames *frames = user;
    uint32_t column = column_of(frames, key, key_size);
    if (column == UINT32_MAX || !as_perun_keep_text(frames->ds, &value)) return false;
    return as_vec_append(&frames->cells, &(as_shared_cell){.column = column, .cell = value}, 1);
}

/* json: over the trace, inner: for frames that are new. What is no object is no frame. */
static bool read_trace(as_perun_frames *frames, as_json *json, as_json *inner, as_flattener *flattener) {
    if (as_json_next(json) != AS_JSON_ARRAY) return true;
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        bool is_frame = json->type == AS_JSON_OBJECT, is_known;
        as_raw_json raw;
        uint32_t index;
        if (as_json_skip(json, &raw.text, &raw.size) == AS_JSON_ERROR) return false;
        if (!is_frame) continue;
        if (!find_part(&frames->frame_of, &frames->frames, raw, &index, &is_known)) return false;
        if (!is_known) {
            size_t first = frames->cells.count;
            as_json_restart(inner, raw.text, raw.size, 1);
            as_json_next(inner);
            if (!as_flatten_members(flattener, inner, add_cell, frames)) return false;
            AS_AT(part, &frames->frames, index).first = first;
            AS_AT(part, &frames->frames, index).count = frames->cells.count - first;
        }
        if (!as_vec_append(&frames->elements, &index, 1)) return false;
    }
    return true;
}

static bool read_traces(as_perun_frames *frames, as_json *json, as_json *inner, as_flattener *flattener) {
    size_t n_kinds = frames->perun->kinds.count;
    if (!as_vec_reserve(&frames->kind_traces, n_kinds)) return false;
    for (size_t kind = 0; kind < n_kinds; kind++) {
        as_raw_json raw = AS_AT(as_perun_kind, &frames->perun->kinds, kind).trace;
        uint32_t index = UINT32_MAX;
        bool is_known = true;
        if (raw.size && !find_part(&frames->trace_of, &frames->traces, raw, &index, &is_known)) return false;
        as_vec_append(&frames->kind_traces, &index, 1); /* room was reserved */
        if (is_known) continue;
        size_t first = frames->elements.count;
        as_json_restart(json, raw.text, raw.size, 1);
        if (!read_trace(frames, json, inner, flattener)) return false;
        AS_AT(part, &frames->traces, index).first = first;
        AS_AT(part, &frames->traces, index).count = frames->elements.count - first;
    }
    return true;
}

/* How many rows there are before each block of resources; no blocks, where there are none at all. */
static bool count_rows(as_perun_frames *frames) {
    size_t n = as_records_rows(frames->records);
    if (frames->elements.count == 0 || n == 0) return true;
    if (!as_vec_reserve(&frames->block_starts, n / BLOCK + 2)) return false;
    uint64_t rows = 0;
    for (size_t record = 0; record < n; record++) {
        if (record % BLOCK == 0) as_vec_append(&frames->block_starts, &rows, 1); /* room was reserved */
        rows += frames_of_record(frames, record);
    }
    as_vec_append(&frames->block_starts, &rows, 1);
    return rows <= INT64_MAX;
}

assay_status as_perun_frames_finish(as_perun_frames *frames, as_reader *reader, as_flattener *flattener) {
    as_json json, inner;
    as_json_options options = {.nan_literals = true, .max_depth = reader->max_depth};
    as_json_init(&json, reader->input->path, "", 0, options, &frames->ds->budget);
    as_json_init(&inner, reader->input->path, "", 0, options, &frames->ds->budget);
    assay_status status = ASSAY_OK;
    if (!read_traces(frames, &json, &inner, flattener))
        status = json.type == AS_JSON_ERROR    ? as_json_fail(&json, reader->error)
                 : inner.type == AS_JSON_ERROR ? as_json_fail(&inner, reader->error)
                                               : as_reader_memory(reader);
    if (status == ASSAY_OK && !count_rows(frames)) status = as_reader_memory(reader);
    as_json_free(&json);
    as_json_free(&inner);
    as_map_free(&frames->trace_of);
    as_map_free(&frames->frame_of);
    as_vec_shrink(&frames->cells);
    as_vec_shrink(&frames->elements);
    return status;
}
