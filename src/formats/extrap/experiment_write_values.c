/* Raw values into values/N.vals (numpy arrays one behind the other) and values/N.indx (where each begins). */
#include "formats/extrap/experiment.h"

#include <stdio.h>

/* An array of one point may not grow beyond this because its lists are of very different lengths. */
static const uint64_t MAX_CELLS = (uint64_t)1 << 27;

bool as_xp_value_writer_init(as_xp_value_writer *values, as_zip_writer *zip, uint64_t chunk_size, assay_error *error) {
    *values = (as_xp_value_writer){.zip = zip,
                                   .chunk_size = chunk_size,
                                   .error = error,
                                   .vals = as_output_to_memory(),
                                   .indx = as_output_to_memory()};
    as_vec_init(&values->offsets, sizeof(uint64_t), NULL);
    as_vec_init(&values->cells, sizeof(uint64_t), NULL);
    as_vec_init(&values->counts, sizeof(uint64_t), NULL);
    return values->vals && values->indx;
}

void as_xp_value_writer_free(as_xp_value_writer *values) {
    as_output_discard(values->vals);
    as_output_discard(values->indx);
    as_vec_free(&values->offsets);
    as_vec_free(&values->cells);
    as_vec_free(&values->counts);
}

static uint64_t little_endian(uint64_t bits) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(bits);
#else
    return bits;
#endif
}

/* ---- one array --------------------------------------------------------------------------------------------------- */

/* The layout of some rows: repetitions x columns, columns 0 where there are no locations. */
typedef struct layout {
    uint64_t repetitions, columns;
    assay_id first_location;
} layout;

static layout layout_of(const as_block *block, uint64_t first, uint64_t end) {
    layout result = {.first_location = ASSAY_NONE};
    if (!block->locations) {
        result.repetitions = end - first;
        return result;
    }
    assay_id run = ASSAY_NONE, last_location = 0;
    bool has_locations = false;
    for (uint64_t row = first; row < end; row++) {
        result.repetitions += row == first || as_block_run(block, row) != run;
        run = as_block_run(block, row);
        assay_id location = as_block_location(block, row);
        if (location == ASSAY_NONE) continue;
        has_locations = true;
        if (location < result.first_location) result.first_location = location;
        if (location > last_location) last_location = location;
    }
    if (has_locations)
        result.columns = (uint64_t)last_location - result.first_location + 1;
    else
        result.repetitions = end - first;
    return result;
}

/* 'f' where doubles hold all rows exactly; else the integers' own type. */
static char type_of(const as_block *block, uint64_t first, uint64_t end) {
    static const double limit = 9007199254740992.0; /* 2^53 */
    if (block->dtype == AS_DTYPE_DOUBLE) return 'f';
    for (uint64_t row = first; row < end; row++) {
        double real = as_block_real(block, row);
        if (real <= -limit || real >= limit) return block->dtype == AS_DTYPE_INT64 ? 'i' : 'u';
    }
    return 'f';
}

/* Whether cells are left over, which NaN fills: then all are doubles. */
static bool is_ragged(const layout *shape, uint64_t rows) {
    return shape->columns &&
           (shape->repetitions > rows || rows / shape->columns != shape->repetitions || rows % shape->columns);
}

static uint64_t cell_of(const as_block *block, uint64_t row, char type) {
    as_number number = as_block_value(block, row);
    if (type != 'f') return little_endian(number.u);
    double real = as_number_real(number);
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return little_endian(bits);
}

/* Fills cells: rows in their order, or each at its location with NaN where a list has none. False when memory is
 * out. */
static bool fill_cells(as_xp_value_writer *values, const as_block *block, uint64_t first, uint64_t end,
                       const layout *shape, char type) {
    values->cells.count = 0;
    if (!shape->columns) {
        if (!as_vec_reserve(&values->cells, (size_t)(end - first))) return false;
        uint64_t *cells = values->cells.data;
        for (uint64_t row = first; row < end; row++) cells[row - first] = cell_of(block, row, type);
        values->cells.count = (size_t)(end - first);
        return true;
    }
    size_t n = (size_t)(shape->repetitions * shape->columns);
    if (!as_vec_reserve(&values->cells, n)) return false;
    uint64_t *cells = values->cells.data, missing;
    double nan = NAN;
    memcpy(&missing, &nan, sizeof missing);
    for (size_t i = 0; i < n; i++) cells[i] = little_endian(missing);
    uint64_t repetition = 0;
    for (uint64_t row = first; row < end; row++) {
        repetition += row > first && as_block_run(block, row) != as_block_run(block, row - 1);
        assay_id location = as_block_location(block, row);
        uint64_t column = location == ASSAY_NONE ? 0 : location - shape->first_location;
        cells[repetition * shape->columns + column] = cell_of(block, row, type);
    }
    values->cells.count = n;
    return true;
}

/* numpy's header, version 1.0, filled up with blanks to a multiple of 64; most arrays have that of the one before. */
static void make_header(as_xp_value_writer *values, const layout *shape, char type) {
    if (values->header_size && values->header_type == type && values->header_shape[0] == shape->repetitions &&
        values->header_shape[1] == shape->columns)
        return;
    char shape_text[64];
    if (shape->columns)
        snprintf(shape_text, sizeof shape_text, "(%llu, %llu)", (unsigned long long)shape->repetitions,
                 (unsigned long long)shape->columns);
    else
        snprintf(shape_text, sizeof shape_text, "(%llu,)", (unsigned long long)shape->repetitions);
    char *header = values->header;
    memset(header, ' ', sizeof values->header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int n = snprintf(header + 10, sizeof values->header - 10,
                     "{'descr': '<%c8', 'fortran_order': False, 'shape': %s, }", type, shape_text);
    size_t size = (10 + (size_t)n + 1 + 63) / 64 * 64;
    header[10 + n] = ' ';
    header[size - 1] = '\n';
    header[8] = (char)(unsigned char)((size - 10) & 0xff);
    header[9] = (char)(unsigned char)((size - 10) >> 8);
    values->header_size = size;
    values->header_type = type;
    values->header_shape[0] = shape->repetitions;
    values->header_shape[1] = shape->columns;
}

assay_status as_xp_write_values(as_xp_value_writer *values, const as_block *block, uint64_t first, uint64_t end) {
    layout shape = layout_of(block, first, end);
    if (shape.columns && shape.repetitions > MAX_CELLS / shape.columns) {
        return as_fail(values->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "uneven-lists",
                       "the lists of values at one point are too uneven for a .extra-p file");
    }
    char type = is_ragged(&shape, end - first) ? 'f' : type_of(block, first, end);
    uint64_t offset = as_output_size(values->vals) ? as_output_size(values->vals) : AS_XP_MAGIC_SIZE;
    if (!fill_cells(values, block, first, end, &shape, type) || !as_vec_append(&values->offsets, &offset, 1))
        return as_fail_memory(values->error, NULL);
    if (offset == AS_XP_MAGIC_SIZE) as_output_write(values->vals, AS_XP_VALUES_MAGIC, AS_XP_MAGIC_SIZE);
    make_header(values, &shape, type);
    as_output_write(values->vals, values->header, values->header_size);
    as_output_write(values->vals, values->cells.data, values->cells.count * sizeof(uint64_t));
    return as_output_size(values->vals) >= values->chunk_size ? as_xp_flush_values(values) : ASSAY_OK;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Adds what has gathered in an output as values/N.SUFFIX. */
static assay_status add_entry(as_xp_value_writer *values, as_output *gathered, const char *suffix) {
    char name[64];
    size_t size;
    snprintf(name, sizeof name, "values/%zu.%s", values->counts.count, suffix);
    const char *data = as_output_memory(gathered, &size);
    if (!data) return as_fail_memory(values->error, NULL);
    AS_TRY(as_zip_add(values->zip, name, data, size, false, values->error));
    as_output_clear(gathered);
    return ASSAY_OK;
}

static void make_index(as_xp_value_writer *values) {
    as_output_write(values->indx, AS_XP_INDEX_MAGIC, AS_XP_MAGIC_SIZE);
    uint64_t count = little_endian(values->offsets.count);
    as_output_write(values->indx, &count, sizeof count);
    for (size_t i = 0; i < values->offsets.count; i++) {
        uint64_t offset = little_endian(AS_AT(uint64_t, &values->offsets, i));
        as_output_write(values->indx, &offset, sizeof offset);
    }
}

assay_status as_xp_flush_values(as_xp_value_writer *values) {
    uint64_t count = values->offsets.count;
    if (!count) return ASSAY_OK;
    make_index(values);
    AS_TRY(add_entry(values, values->vals, "vals"));
    AS_TRY(add_entry(values, values->indx, "indx"));
    values->offsets.count = 0;
    return as_vec_append(&values->counts, &count, 1) ? ASSAY_OK : as_fail_memory(values->error, NULL);
}

void as_xp_next_values(as_xp_value_writer *values, uint64_t *chunk, uint64_t *index) {
    *chunk = values->next_chunk;
    *index = values->next_index;
    if (++values->next_index < AS_AT(uint64_t, &values->counts, values->next_chunk)) return;
    values->next_chunk++;
    values->next_index = 0;
}

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

typedef struct lost_values {
    uint64_t nans, integers, places;
} lost_values;

static bool is_exact(as_number number) {
    return number.kind == AS_REAL ||
           (__int128)as_number_real(number) == (number.kind == AS_INT ? (__int128)number.i : (__int128)number.u);
}

/* The rows of a point as the reader will see their array. */
static void count_lost(const as_block *block, uint64_t first, uint64_t end, lost_values *lost) {
    layout shape = layout_of(block, first, end);
    if (!shape.columns) return;
    bool ragged = is_ragged(&shape, end - first);
    for (uint64_t row = first; row < end; row++) {
        as_number number = as_block_value(block, row);
        assay_id location = block->locations[row];
        lost->nans +=
            location != ASSAY_NONE && location > shape.first_location && number.kind == AS_REAL && isnan(number.r);
        lost->integers += ragged && !is_exact(number);
        lost->places += location == ASSAY_NONE || shape.first_location > 0;
    }
}

void as_xp_lose_values(const as_dataset *ds, as_losses *losses) {
    lost_values lost = {0};
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        uint64_t n = block->locations ? as_block_rows(block) : 0, first = 0;
        for (uint32_t context = 0; first < n;) {
            assay_id point = as_ds_run(ds, as_block_run(block, first))->point;
            while (block->starts[context + 1] <= first) context++;
            uint64_t end = first + 1, stop = block->starts[context + 1];
            while (end < stop && as_ds_run(ds, as_block_run(block, end))->point == point) end++;
            count_lost(block, first, end, &lost);
            first = end;
        }
    }
    if (lost.nans) as_lose(losses, "%llu NaN behind the first value of a list", (unsigned long long)lost.nans);
    if (lost.integers)
        as_lose(losses, "%llu integer%s beyond 2^53 in lists of unequal length (rounded to reals)",
                (unsigned long long)lost.integers, lost.integers == 1 ? "" : "s");
    if (lost.places)
        as_lose(losses, "the location, or that it has none, of %llu value%s", (unsigned long long)lost.places,
                lost.places == 1 ? "" : "s");
}
