/* N.index and the shape of N.data: what there is, without a look at the values. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "formats/cube/rows.h"

static const char INDEX_MAGIC[] = "CUBEX.INDEX", DATA_MAGIC[] = "CUBEX.DATA", PACKED_MAGIC[] = "ZCUBEX.DATA";
enum {
    ENDIAN_AT = 11,
    TYPE_AT = 17,
    COUNT_AT = 18,
    ENTRIES_AT = 22,
    SPARSE = 1,
    DENSE = 3,
    PACKED_COUNT_AT = 11,
    MAX_OPAQUE = 1 << 20, /* bytes of one value we know nothing of */
};

/* ---- words ------------------------------------------------------------------------------------------------------- */

assay_status as_cube_fail(const as_cube_rows *rows, const as_tar_member *member, uint64_t within, assay_error *error,
                          const char *rule, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return as_fail(error, ASSAY_E_FORMAT, as_tar_place(rows->cube->tar, member, within), rule, "%s (metric '%s'): %s",
                   member->name, as_ds_text(rows->cube->ds, as_ds_metric(rows->cube->ds, rows->metric.id)->name),
                   message);
}

void as_cube_warn(const as_cube_rows *rows, const as_tar_member *member, uint64_t within, const char *rule,
                  const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    as_add_problem(rows->cube->ds, AS_WARNING, as_tar_place(rows->cube->tar, member, within), rule,
                   "%s (metric '%s'): %s", member->name,
                   as_ds_text(rows->cube->ds, as_ds_metric(rows->cube->ds, rows->metric.id)->name), message);
}

/* ---- the index --------------------------------------------------------------------------------------------------- */

/* Count and list of a sparse index. One that ends before the count is what CubeLib writes where all is zero. */
static assay_status read_list(as_cube_rows *rows, assay_error *error) {
    const as_tar_member *index = rows->index;
    if (index->size == AS_CUBE_INDEX_HEADER) return ASSAY_OK;
    if (index->size < ENTRIES_AT)
        return as_cube_fail(rows, index, COUNT_AT, error, "index-damaged", "ends within the number of its entries");
    rows->n_entries = as_cube_u32(index->data + COUNT_AT, rows->is_big_endian);
    rows->entries = index->data + ENTRIES_AT;
    size_t room = (index->size - ENTRIES_AT) / 4;
    if (room < rows->n_entries)
        return as_cube_fail(rows, index, COUNT_AT, error, "index-damaged", "%u entries are announced, %zu are there",
                            rows->n_entries, room);
    if (index->size - ENTRIES_AT != 4 * (size_t)rows->n_entries)
        as_cube_warn(rows, index, ENTRIES_AT + 4 * (uint64_t)rows->n_entries, "index-size",
                     "%zu bytes behind the last of %u entries are not read",
                     index->size - ENTRIES_AT - 4 * (size_t)rows->n_entries, rows->n_entries);
    return ASSAY_OK;
}

static assay_status read_index(as_cube_rows *rows, assay_error *error) {
    const as_tar_member *index = rows->index;
    if (index->size < AS_CUBE_INDEX_HEADER || memcmp(index->data, INDEX_MAGIC, ENDIAN_AT) != 0)
        return as_cube_fail(rows, index, 0, error, "index-damaged", "does not begin as an index: '%s' is missing",
                            INDEX_MAGIC);
    rows->is_big_endian = as_cube_u32(index->data + ENDIAN_AT, true) == 1;
    if (!rows->is_big_endian && as_cube_u32(index->data + ENDIAN_AT, false) != 1)
        return as_cube_fail(rows, index, ENDIAN_AT, error, "index-damaged", "its mark of the byte order is not 1");
    unsigned type = (unsigned char)index->data[TYPE_AT];
    if (type == SPARSE) return read_list(rows, error);
    if (type != DENSE)
        return as_cube_fail(rows, index, TYPE_AT, error, "index-type",
                            "an index of type %u cannot be read; only 1 (sparse) and 3 (dense) are in use", type);
    rows->is_dense = true;
    rows->n_entries = rows->cube->n_contexts;
    if (index->size > AS_CUBE_INDEX_HEADER)
        as_cube_warn(rows, index, AS_CUBE_INDEX_HEADER, "index-size", "%zu bytes behind a dense index are not read",
                     index->size - AS_CUBE_INDEX_HEADER);
    return ASSAY_OK;
}

/* ---- plain data -------------------------------------------------------------------------------------------------- */

/* Some types do not say how large they are: the rows do. */
static assay_status find_plain_size(as_cube_rows *rows, size_t size) {
    uint64_t n = (uint64_t)rows->n_entries * rows->cube->n_locations;
    if (n && size % n == 0 && size / n >= 1 && size / n <= MAX_OPAQUE) {
        rows->type = as_value_type_of(AS_DTYPE_OPAQUE, (uint32_t)(size / n));
        rows->row_size = size / rows->n_entries;
        return ASSAY_OK;
    }
    as_cube_warn(rows, rows->data, AS_CUBE_DATA_HEADER, "data-size",
                 "%zu bytes are no whole number of values for %u contexts and %u locations: no values are read", size,
                 rows->n_entries, rows->cube->n_locations);
    rows->n_entries = 0;
    return ASSAY_OK;
}

static assay_status read_plain(as_cube_rows *rows) {
    size_t size = rows->data->size - AS_CUBE_DATA_HEADER;
    if (rows->type.dtype == AS_DTYPE_OPAQUE) find_plain_size(rows, size);
    if (!rows->n_entries) return ASSAY_OK;
    uint64_t expected, there = size / rows->row_size;
    rows->n_plain = there < rows->n_entries ? (uint32_t)there : rows->n_entries;
    if (__builtin_mul_overflow((uint64_t)rows->n_entries, rows->row_size, &expected)) expected = UINT64_MAX;
    if (size != expected)
        as_cube_warn(rows, rows->data, AS_CUBE_DATA_HEADER, "data-size",
                     "%zu bytes of values instead of %llu, for %u contexts and %u locations: %u rows are read", size,
                     (unsigned long long)expected, rows->n_entries, rows->cube->n_locations, rows->n_plain);
    return ASSAY_OK;
}

/* ---- packed data ------------------------------------------------------------------------------------------------- */

static uint64_t field_at(const as_cube_rows *rows, size_t at) {
    return rows->width == 8 ? as_cube_u64(rows->data->data + at, rows->is_big_endian)
                            : as_cube_u32(rows->data->data + at, rows->is_big_endian);
}

as_cube_segment as_cube_segment_at(const as_cube_rows *rows, uint64_t i) {
    size_t at = rows->table_at + 3u * rows->width * (size_t)i;
    return (as_cube_segment){field_at(rows, at), field_at(rows, at + rows->width),
                             field_at(rows, at + 2u * rows->width)};
}

/* What a look at the table found. */
typedef struct table_state {
    bool has_table;    /* it is all there */
    bool is_usable;    /* and its segments can be */
    bool is_sound;     /* and there is one for each row */
    uint64_t n_beyond; /* segments of rows that are not in the index */
    uint64_t n_twice;  /* of rows that have one already */
    uint64_t bad;      /* a segment that cannot be */
} table_state;

/* Looks at the segments of a table that is there. seen: a bit for each row, 0. */
static void check_segments(as_cube_rows *rows, table_state *state, uint8_t *seen) {
    for (uint64_t i = 0; i < rows->n_segments; i++) {
        as_cube_segment segment = as_cube_segment_at(rows, i);
        bool is_in_file = segment.offset <= rows->body_size && segment.size <= rows->body_size - segment.offset;
        if (state->is_usable && (segment.position % rows->row_size || (segment.size && !is_in_file))) {
            state->is_usable = false;
            state->bad = i;
        }
        uint64_t row = segment.position / rows->row_size;
        rows->is_in_order &= row == i && segment.size;
        if (row >= rows->n_entries) {
            state->n_beyond++;
            continue;
        }
        state->n_twice += seen[row / 8] >> row % 8 & 1;
        seen[row / 8] |= (uint8_t)(1 << row % 8);
    }
}

/* Looks at the table as one of fields of so many bytes. False when memory is out. */
static bool try_table(as_cube_rows *rows, uint8_t width, table_state *state) {
    size_t size = rows->data->size;
    *state = (table_state){.has_table = false};
    rows->width = width;
    rows->table_at = PACKED_COUNT_AT + (size_t)width;
    rows->is_in_order = true;
    rows->n_segments = 0;
    if (size < rows->table_at) return true;
    rows->n_segments = field_at(rows, PACKED_COUNT_AT);
    if (rows->n_segments > (size - rows->table_at) / (3u * width)) return true;
    rows->body_at = rows->table_at + 3u * width * (size_t)rows->n_segments;
    rows->body_size = size - rows->body_at;
    uint8_t *seen = calloc(rows->n_entries / 8 + 1, 1);
    if (!seen) return false;
    state->has_table = state->is_usable = true;
    check_segments(rows, state, seen);
    free(seen);
    state->is_sound = state->is_usable && rows->n_segments == rows->n_entries && !state->n_beyond && !state->n_twice;
    return true;
}

/* Leaves *rows as the table is: 8 bytes, as files have it, or 4, as the format's document has it. Only one of them can
 * be sound. */
static bool find_table(as_cube_rows *rows, table_state *state) {
    if (!try_table(rows, 8, state)) return false;
    if (state->is_sound) return true;
    if (!try_table(rows, 4, state)) return false;
    return state->is_sound || try_table(rows, 8, state);
}

/* Where a value's size is not known: the second row begins behind the first. False where it cannot be told. */
static bool find_packed_size(as_cube_rows *rows, uint8_t width) {
    uint64_t smallest = UINT64_MAX;
    table_state state;
    rows->row_size = 1;
    if (!try_table(rows, width, &state) || !state.has_table) return false;
    for (uint64_t i = 0; i < rows->n_segments; i++) {
        uint64_t position = as_cube_segment_at(rows, i).position;
        if (position && position < smallest) smallest = position;
    }
    uint32_t n = rows->cube->n_locations;
    if (smallest % n || smallest / n > MAX_OPAQUE) return false;
    rows->type = as_value_type_of(AS_DTYPE_OPAQUE, (uint32_t)(smallest / n));
    rows->row_size = (size_t)smallest;
    return try_table(rows, width, &state) && state.is_sound;
}

static assay_status fail_table(as_cube_rows *rows, const table_state *state, assay_error *error) {
    if (!state->has_table)
        return as_cube_fail(rows, rows->data, PACKED_COUNT_AT, error, "data-damaged",
                            "its table of %llu segments goes beyond its end", (unsigned long long)rows->n_segments);
    as_cube_segment segment = as_cube_segment_at(rows, state->bad);
    return as_cube_fail(rows, rows->data, rows->table_at + 3u * rows->width * state->bad, error, "data-damaged",
                        "segment %llu (%llu bytes at %llu, for byte %llu of the values) is not of this file",
                        (unsigned long long)state->bad, (unsigned long long)segment.size,
                        (unsigned long long)segment.offset, (unsigned long long)segment.position);
}

static assay_status read_packed(as_cube_rows *rows, assay_error *error) {
    rows->is_packed = true;
    if (rows->type.dtype == AS_DTYPE_OPAQUE && !find_packed_size(rows, 8) && !find_packed_size(rows, 4)) {
        as_cube_warn(rows, rows->data, 0, "data-size", "the size of its values cannot be told: no values are read");
        rows->n_entries = 0;
        return ASSAY_OK;
    }
    table_state state;
    if (!find_table(rows, &state)) return as_fail_memory(error, rows->cube->path);
    if (!state.is_usable) return fail_table(rows, &state, error);
    if (!state.is_sound)
        as_cube_warn(rows, rows->data, PACKED_COUNT_AT, "data-size",
                     "%llu segments for %u contexts (%llu are for none, %llu for one that has one): those that have "
                     "one are read",
                     (unsigned long long)rows->n_segments, rows->n_entries, (unsigned long long)state.n_beyond,
                     (unsigned long long)state.n_twice);
    if (rows->n_segments > UINT32_MAX - 1)
        return as_cube_fail(rows, rows->data, PACKED_COUNT_AT, error, "data-damaged", "too many segments");
    rows->is_in_order &= rows->n_segments >= rows->n_entries;
    return ASSAY_OK;
}

static bool begins(const as_tar_member *member, const char *magic) {
    return member->size >= strlen(magic) && memcmp(member->data, magic, strlen(magic)) == 0;
}

static assay_status read_data(as_cube_rows *rows, assay_error *error) {
    if (begins(rows->data, DATA_MAGIC)) return read_plain(rows);
    if (begins(rows->data, PACKED_MAGIC)) return read_packed(rows, error);
    return as_cube_fail(rows, rows->data, 0, error, "data-damaged", "begins neither with '%s' nor with '%s'",
                        DATA_MAGIC, PACKED_MAGIC);
}

/* ---- which rows -------------------------------------------------------------------------------------------------- */

uint32_t *as_cube_find_segments(const as_cube_rows *rows) {
    if (!rows->is_packed || rows->is_in_order) return NULL;
    uint32_t *segments = malloc((rows->n_entries + (size_t)1) * sizeof *segments);
    if (!segments) return NULL;
    memset(segments, 0xff, rows->n_entries * sizeof *segments);
    for (uint64_t i = 0; i < rows->n_segments; i++) {
        as_cube_segment segment = as_cube_segment_at(rows, i);
        uint64_t row = segment.position / rows->row_size;
        if (row < rows->n_entries && segment.size) segments[row] = (uint32_t)i;
    }
    return segments;
}

void as_cube_find_rows(const as_cube_rows *rows, uint32_t **out, uint32_t *n_rows, uint32_t *n_beyond,
                       uint32_t *n_twice) {
    uint32_t n = rows->cube->n_contexts, *segments = as_cube_find_segments(rows);
    bool is_known = rows->is_packed && !rows->is_in_order;
    *n_rows = *n_beyond = *n_twice = 0;
    *out = !is_known || segments ? malloc((n + (size_t)1) * sizeof **out) : NULL;
    if (*out) memset(*out, 0xff, n * sizeof **out);
    for (uint32_t i = 0; i < rows->n_entries && *out; i++) {
        uint32_t number = as_cube_entry(rows, i);
        bool has_row = is_known ? segments[i] != UINT32_MAX : rows->is_packed || i < rows->n_plain;
        *n_beyond += number >= n;
        if (number >= n || !has_row) continue;
        bool is_new = (*out)[number] == UINT32_MAX;
        *n_rows += is_new;
        *n_twice += !is_new;
        (*out)[number] = i;
    }
    free(segments);
}

/* The usual case, told without a list: entries ascend and end in the tree, and each has its row. */
static bool is_simple(const as_cube_rows *rows) {
    if (rows->is_packed ? !rows->is_in_order : rows->n_plain < rows->n_entries) return false;
    if (rows->is_dense) return true;
    bool ascends = true;
    uint32_t before = 0;
    for (uint32_t i = 0; i < rows->n_entries && ascends; i++) {
        uint32_t entry = as_cube_entry(rows, i);
        ascends = !i || entry > before;
        before = entry;
    }
    return ascends && before < rows->cube->n_contexts;
}

/* How many rows of values there are, with problems for entries that have none. */
static assay_status count_rows(as_cube_rows *rows, uint32_t *n_rows, assay_error *error) {
    uint32_t *found, n_beyond, n_twice;
    *n_rows = rows->n_entries;
    rows->is_simple = is_simple(rows);
    if (rows->is_simple) return ASSAY_OK;
    as_cube_find_rows(rows, &found, n_rows, &n_beyond, &n_twice);
    if (!found) return as_fail_memory(error, rows->cube->path);
    free(found);
    if (n_beyond)
        as_cube_warn(rows, rows->index, AS_CUBE_INDEX_HEADER, "index-entry",
                     "%u of %u entries are beyond the call tree of %u contexts: their rows are not read", n_beyond,
                     rows->n_entries, rows->cube->n_contexts);
    if (n_twice)
        as_cube_warn(rows, rows->index, AS_CUBE_INDEX_HEADER, "index-entry",
                     "%u entries come again: the last row of each counts", n_twice);
    return ASSAY_OK;
}

/* ---- a metric ---------------------------------------------------------------------------------------------------- */

/* The type of a metric's values; what cannot be read as a type is taken for numbers of 8 bytes, as CubeLib does. */
static as_value_type type_of(const as_cube *cube, const as_cube_metric *metric) {
    const as_metric *m = as_ds_metric(cube->ds, metric->id);
    const char *text = m->dtype == AS_NO_STR ? "" : as_ds_text(cube->ds, m->dtype);
    as_value_type type;
    if (strcasecmp(text, "SCALE_FUNC") == 0) return as_value_type_of(AS_DTYPE_OPAQUE, 1); /* the data will tell */
    if (as_value_type_parse(text, strlen(text), &type)) return type;
    as_add_problem(cube->ds, AS_WARNING, as_place_file(cube->path), "unknown-dtype",
                   "anchor.xml: metric '%s' has the data type '%s', which is unknown; its values are read as doubles",
                   as_ds_text(cube->ds, m->name), text);
    return as_value_type_of(AS_DTYPE_DOUBLE, 0);
}

static const as_tar_member *find_member(const as_cube *cube, uint32_t number, const char *ending) {
    char name[32];
    snprintf(name, sizeof name, "%u.%s", number, ending);
    return as_tar_find(cube->tar, name);
}

/* Index and data, as far as they go. n_entries is 0 where there is nothing to read. */
static assay_status read_shape(as_cube_rows *rows, uint32_t *n_rows, assay_error *error) {
    AS_TRY(read_index(rows, error));
    if (!rows->n_entries) {
        if (rows->data && rows->data->size > PACKED_COUNT_AT + 8)
            as_cube_warn(rows, rows->data, AS_CUBE_DATA_HEADER, "data-size",
                         "values, but the index has no entries: none are read");
        else if (!rows->data && rows->index->size > COUNT_AT) /* shorter: CubeLib's word for zeros */
            as_cube_warn(rows, rows->index, 0, "no-data", "an index without data; it has no entries either");
        return ASSAY_OK;
    }
    if (!rows->data) {
        as_cube_warn(rows, rows->index, 0, "no-data", "an index of %u entries without data: no values are read",
                     rows->n_entries);
        rows->n_entries = 0;
        return ASSAY_OK;
    }
    if (!rows->cube->n_locations || !rows->cube->n_contexts) {
        as_cube_warn(rows, rows->data, 0, "no-data", "values, but the system tree or the call tree is empty");
        rows->n_entries = 0;
        return ASSAY_OK;
    }
    rows->row_size = (size_t)rows->type.size * rows->cube->n_locations;
    AS_TRY(read_data(rows, error));
    return rows->n_entries ? count_rows(rows, n_rows, error) : (assay_status)ASSAY_OK;
}

static assay_status add_profile(as_cube_rows *rows, uint32_t n_rows, assay_error *error) {
    as_cube *cube = rows->cube;
    as_profile profile = {.metric = rows->metric.id,
                          .run = cube->run,
                          .type = rows->type,
                          .n_rows = n_rows,
                          .n_columns = cube->n_locations,
                          .columns = cube->columns,
                          .source = &rows->source,
                          .is_packed = rows->is_packed};
    return as_add_profile(cube->ds, &profile) ? ASSAY_OK : as_fail_memory(error, cube->path);
}

bool as_cube_give_up(as_cube_rows *rows, const assay_error *failure) {
    assay_error *kept = as_arena_alloc(&rows->cube->ds->arena, sizeof *kept);
    if (kept) *kept = *failure;
    rows->failure = kept;
    return kept != NULL;
}

assay_status as_cube_open_metric(as_cube *cube, const as_cube_metric *metric, assay_error *error) {
    as_value_type type = type_of(cube, metric);
    if (as_ds_metric(cube->ds, metric->id)->kind == AS_KIND_DERIVED) return ASSAY_OK;
    const as_tar_member *index = find_member(cube, metric->number, "index"),
                        *data = find_member(cube, metric->number, "data");
    if (!index && !data) return ASSAY_OK;
    as_cube_rows *rows = as_arena_alloc(&cube->ds->arena, sizeof *rows);
    if (!rows) return as_fail_memory(error, cube->path);
    *rows = (as_cube_rows){
        .source = {.load = as_cube_load}, .cube = cube, .metric = *metric, .type = type, .index = index, .data = data};
    if (!index) {
        if (data->size > AS_CUBE_DATA_HEADER)
            as_cube_warn(rows, data, 0, "no-index", "values without an index: none are read");
        return ASSAY_OK;
    }
    uint32_t n_rows = 0;
    assay_error failure = {.code = ASSAY_OK};
    assay_status status = read_shape(rows, &n_rows, &failure);
    if (status == ASSAY_OK)
        return rows->n_entries && n_rows ? add_profile(rows, n_rows, error) : (assay_status)ASSAY_OK;
    if (status == ASSAY_E_FORMAT) {
        as_place place = {.path = failure.path, .offset = failure.offset};
        as_add_problem(cube->ds, AS_ERROR, place, failure.rule, "%s", failure.message);
        if (as_cube_give_up(rows, &failure)) return add_profile(rows, 0, error);
    }
    return as_fail_memory(error, cube->path);
}
