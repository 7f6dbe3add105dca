/* Decoding a metric's rows: used in place where the file has them as this machine does, else unpacked and turned round,
 * rows in parallel. */
#include <libdeflate.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/cube/rows.h"

enum {
    PIECE = 1 << 18, /* bytes of values one piece of work has, at least */
    AHEAD = 64,      /* bytes libdeflate likes to have behind what it reads: without them it goes byte by byte */
};

static bool is_native(const as_cube_rows *rows) {
    return rows->type.dtype == AS_DTYPE_OPAQUE || rows->is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* ---- which context has which row --------------------------------------------------------------------------------- */

/* Rows of INCLUSIVE metrics are numbered "wide": going through the tree in pre-order, each context hands out the next
 * numbers to all its children. */
static const uint32_t *wide_numbers(as_cube *cube) {
    if (cube->wide_numbers) return cube->wide_numbers;
    const as_context *contexts = cube->ds->contexts.data;
    uint32_t *numbers = as_arena_array(&cube->ds->arena, cube->n_contexts, sizeof *numbers), next = 0;
    if (!numbers) return NULL;
    for (uint32_t c = 0; c < cube->n_contexts; c++) {
        if (contexts[c].parent == ASSAY_NONE) numbers[c] = next++;
        for (uint32_t k = c + 1; k < c + contexts[c].subtree; k += contexts[k].subtree) numbers[k] = next++;
    }
    cube->wide_numbers = numbers;
    return numbers;
}

/* 0, 1, 2 … for all contexts; one list does for all metrics. */
static const assay_id *all_contexts(as_cube *cube) {
    if (cube->all_contexts) return cube->all_contexts;
    assay_id *contexts = as_arena_array(&cube->ds->arena, cube->n_contexts, sizeof *contexts);
    if (!contexts) return NULL;
    for (uint32_t c = 0; c < cube->n_contexts; c++) contexts[c] = c;
    cube->all_contexts = contexts;
    return contexts;
}

/* Every context has a row. */
static bool list_all(as_cube_rows *rows, as_profile *profile) {
    profile->contexts = all_contexts(rows->cube);
    if (rows->metric.is_wide) profile->rows = wide_numbers(rows->cube);
    return profile->contexts && (profile->rows || !rows->metric.is_wide);
}

/* Row i is that of the i-th context. */
static bool list_ascending(as_cube_rows *rows, as_profile *profile) {
    assay_id *contexts = as_arena_array(&rows->cube->ds->arena, rows->n_entries, sizeof *contexts);
    if (!contexts) return false;
    for (uint32_t i = 0; i < rows->n_entries; i++) contexts[i] = as_cube_entry(rows, i);
    profile->contexts = contexts;
    return true;
}

static bool list_any(as_cube_rows *rows, as_profile *profile) {
    as_arena *arena = &rows->cube->ds->arena;
    const uint32_t *numbers = rows->metric.is_wide ? wide_numbers(rows->cube) : NULL;
    uint32_t *row_of_number, n_rows, n_beyond, n_twice, k = 0;
    if (rows->metric.is_wide && !numbers) return false;
    as_cube_find_rows(rows, &row_of_number, &n_rows, &n_beyond, &n_twice);
    assay_id *contexts = row_of_number ? as_arena_array(arena, n_rows, sizeof *contexts) : NULL;
    uint32_t *row_numbers = contexts ? as_arena_array(arena, n_rows, sizeof *row_numbers) : NULL;
    for (uint32_t c = 0; c < rows->cube->n_contexts && row_numbers; c++) {
        uint32_t row = row_of_number[numbers ? numbers[c] : c];
        if (row == UINT32_MAX) continue;
        contexts[k] = c;
        row_numbers[k++] = row;
    }
    free(row_of_number);
    profile->n_rows = k;
    profile->contexts = contexts;
    profile->rows = row_numbers;
    return row_numbers != NULL;
}

static bool list_rows(as_cube_rows *rows, as_profile *profile) {
    if (profile->contexts) return true; /* as_cube_list() was here */
    profile->rows = NULL;
    if (rows->is_simple && rows->n_entries == rows->cube->n_contexts) return list_all(rows, profile);
    if (rows->is_simple && !rows->metric.is_wide) return list_ascending(rows, profile);
    return list_any(rows, profile);
}

assay_status as_cube_list(as_profile *profile, assay_error *error) {
    as_cube_rows *rows = (as_cube_rows *)profile->source;
    if (rows->failure || list_rows(rows, profile)) return ASSAY_OK;
    return as_fail_memory(error, rows->cube->path);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

/* The bytes of n_values values in the other order. */
static void turn_round(as_value_type type, char *values, size_t n_values) {
    size_t width = type.dtype == AS_DTYPE_TAU_ATOMIC ? 0 : type.size / type.n_parts;
    size_t n = n_values * type.n_parts;
    if (width == 8) {
        for (size_t i = 0; i < n; i++) {
            uint64_t value = as_cube_u64(values + 8 * i, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
            memcpy(values + 8 * i, &value, 8);
        }
    } else if (width == 4) {
        for (size_t i = 0; i < n; i++) {
            uint32_t value = as_cube_u32(values + 4 * i, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
            memcpy(values + 4 * i, &value, 4);
        }
    } else if (width == 2) {
        for (size_t i = 0; i < n; i++) {
            char first = values[2 * i];
            values[2 * i] = values[2 * i + 1];
            values[2 * i + 1] = first;
        }
    } else if (width == 0) { /* a number of 4 bytes before those of 8 */
        for (size_t i = 0; i < n_values; i++, values += type.size) {
            turn_round(as_value_type_of(AS_DTYPE_UINT32, 0), values, 1);
            turn_round(as_value_type_of(AS_DTYPE_DOUBLE, 0), values + 4, type.n_parts - 1);
        }
    }
}

/* Values above the limit have all of their upper half set, which is quick to see. */
static uint64_t count_above_limit(const char *values, size_t n) {
    uint64_t all = 0, found = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t value;
        memcpy(&value, values + 8 * i, sizeof value);
        all |= (uint64_t)((value >> 32) == UINT32_MAX);
    }
    for (size_t i = 0; i < n && all; i++) {
        uint64_t value;
        memcpy(&value, values + 8 * i, sizeof value);
        found += value > AS_COUNTER_LIMIT;
    }
    return found;
}

/* Pieces of rows, each decoded by one thread. */
typedef struct decoding {
    const as_cube_rows *rows;
    const as_profile *profile; /* rows: those of the file */
    const uint32_t *segments;  /* by row; NULL: the same number */
    char *out;
    uint32_t per_piece;
    struct decoded_piece *pieces;
} decoding;

typedef struct decoded_piece {
    bool no_memory;
    uint32_t failed; /* row of the file, UINT32_MAX: none */
    enum libdeflate_result result;
    uint64_t n_below_zero; /* counters: while their row is at hand */
} decoded_piece;

static uint32_t row_number(const as_profile *profile, uint32_t i) { return profile->rows ? profile->rows[i] : i; }

/* Whether values above the limit are counters that ran below zero. */
static bool counts_below_zero(const as_cube_rows *rows) {
    return rows->type.dtype == AS_DTYPE_UINT64 && !rows->cube->full_uint64;
}

/* Unpacks a segment to exactly a row. Rows of zeros are segments of a few bytes, which all count as the end that
 * libdeflate reads slowly: it is shown what lies behind as well, and where that does not go well the segment alone
 * decides. */
static enum libdeflate_result unpack(struct libdeflate_decompressor *unpacker, const as_cube_rows *rows,
                                     as_cube_segment segment, char *out) {
    const char *from = rows->data->data + rows->body_at + segment.offset;
    uint64_t behind = rows->body_size - segment.offset - segment.size;
    size_t size = (size_t)segment.size, used, made, shown = size + (size_t)(behind < AHEAD ? behind : AHEAD);
    if (libdeflate_zlib_decompress_ex(unpacker, from, shown, out, rows->row_size, &used, &made) == LIBDEFLATE_SUCCESS &&
        used <= size && made == rows->row_size)
        return LIBDEFLATE_SUCCESS;
    return libdeflate_zlib_decompress(unpacker, from, size, out, rows->row_size, NULL);
}

static void decode_piece(void *user, size_t index) {
    decoding *d = user;
    const as_cube_rows *rows = d->rows;
    decoded_piece *piece = &d->pieces[index];
    uint32_t first = (uint32_t)index * d->per_piece, left = d->profile->n_rows - first,
             n = left < d->per_piece ? left : d->per_piece;
    struct libdeflate_decompressor *unpacker = rows->is_packed ? libdeflate_alloc_decompressor() : NULL;
    bool counts = counts_below_zero(rows);
    piece->failed = UINT32_MAX;
    piece->n_below_zero = 0;
    piece->no_memory = rows->is_packed && !unpacker;
    for (uint32_t i = first; i < first + n && !piece->no_memory; i++) {
        uint32_t row = row_number(d->profile, i);
        char *out = d->out + (size_t)i * rows->row_size;
        if (rows->is_packed) {
            as_cube_segment segment = as_cube_segment_at(rows, d->segments ? d->segments[row] : row);
            piece->result = unpack(unpacker, rows, segment, out);
            if (piece->result != LIBDEFLATE_SUCCESS) {
                piece->failed = row;
                break;
            }
        } else
            memcpy(out, rows->data->data + AS_CUBE_DATA_HEADER + row * rows->row_size, rows->row_size);
        if (!is_native(rows)) turn_round(rows->type, out, rows->cube->n_locations);
        if (counts) piece->n_below_zero += count_above_limit(out, rows->cube->n_locations);
    }
    if (unpacker) libdeflate_free_decompressor(unpacker);
}

static assay_status fail_row(const decoding *d, const decoded_piece *piece, assay_error *error) {
    const as_cube_rows *rows = d->rows;
    as_cube_segment segment = as_cube_segment_at(rows, d->segments ? d->segments[piece->failed] : piece->failed);
    if (piece->result == LIBDEFLATE_BAD_DATA)
        return as_cube_fail(rows, rows->data, rows->body_at + segment.offset, error, "data-damaged",
                            "the segment of row %u is no zlib data, or damaged", piece->failed);
    return as_cube_fail(rows, rows->data, rows->body_at + segment.offset, error, "data-damaged",
                        "the segment of row %u unpacks to %s than a row of %zu bytes", piece->failed,
                        piece->result == LIBDEFLATE_SHORT_OUTPUT ? "less" : "more", rows->row_size);
}

static assay_status run_pieces(decoding *d, size_t n_pieces, unsigned threads, uint64_t *n_below_zero,
                               assay_error *error) {
    as_parallel(n_pieces, threads, decode_piece, d);
    for (size_t i = 0; i < n_pieces; i++) {
        if (d->pieces[i].no_memory) return as_fail_memory(error, d->rows->cube->path);
        if (d->pieces[i].failed != UINT32_MAX) return fail_row(d, &d->pieces[i], error);
        *n_below_zero += d->pieces[i].n_below_zero;
    }
    return ASSAY_OK;
}

/* Rows of one piece of work. */
static uint32_t rows_per_piece(const as_cube_rows *rows) {
    size_t n = PIECE / rows->row_size + 1;
    return n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

/* The rows in the order of their contexts, into the dataset's arena. */
static assay_status decode(as_cube_rows *rows, as_profile *profile, unsigned threads, uint64_t *n_below_zero,
                           assay_error *error) {
    decoding d = {.rows = rows, .profile = profile, .per_piece = rows_per_piece(rows)};
    size_t n_pieces = (profile->n_rows + (size_t)d.per_piece - 1) / d.per_piece;
    d.out = as_arena_array(&rows->cube->ds->arena, profile->n_rows, rows->row_size);
    uint32_t *segments = as_cube_find_segments(rows);
    d.segments = segments;
    d.pieces = malloc((n_pieces + 1) * sizeof *d.pieces);
    bool fine = d.out && d.pieces && (segments || !rows->is_packed || rows->is_in_order);
    assay_status status =
        fine ? run_pieces(&d, n_pieces, threads, n_below_zero, error) : as_fail_memory(error, rows->cube->path);
    free(d.pieces);
    free(segments);
    if (status != ASSAY_OK) return status; /* who asks again still needs to know which row is whose */
    profile->values = d.out;
    profile->rows = NULL;
    return ASSAY_OK;
}

/* ---- counters below zero ----------------------------------------------------------------------------------------- */

typedef struct counter_search {
    const as_cube_rows *rows;
    const as_profile *profile;
    uint32_t per_piece;
    uint64_t *found; /* one a piece */
} counter_search;

static void search_piece(void *user, size_t index) {
    counter_search *search = user;
    uint32_t first = (uint32_t)index * search->per_piece, left = search->profile->n_rows - first,
             n = left < search->per_piece ? left : search->per_piece;
    for (uint32_t i = first; i < first + n; i++)
        search->found[index] += count_above_limit(as_profile_row(search->profile, i), search->profile->n_columns);
}

/* In rows that are used where they lie. */
static assay_status find_counters_below_zero(const as_cube_rows *rows, const as_profile *profile, unsigned threads,
                                             uint64_t *n_found, assay_error *error) {
    counter_search search = {.rows = rows, .profile = profile, .per_piece = rows_per_piece(rows)};
    size_t n_pieces = (profile->n_rows + (size_t)search.per_piece - 1) / search.per_piece;
    search.found = calloc(n_pieces + 1, sizeof *search.found);
    if (!search.found) return as_fail_memory(error, rows->cube->path);
    as_parallel(n_pieces, n_pieces < 16 ? 1 : threads, search_piece, &search);
    for (size_t i = 0; i < n_pieces; i++) *n_found += search.found[i];
    free(search.found);
    return ASSAY_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static assay_status load(as_cube_rows *rows, as_profile *profile, unsigned threads, assay_error *error) {
    uint64_t n_below_zero = 0;
    if (!list_rows(rows, profile)) return as_fail_memory(error, rows->cube->path);
    if (rows->is_packed || !is_native(rows)) {
        AS_TRY(decode(rows, profile, threads, &n_below_zero, error));
    } else {
        profile->values = rows->data->data + AS_CUBE_DATA_HEADER;
        if (counts_below_zero(rows)) AS_TRY(find_counters_below_zero(rows, profile, threads, &n_below_zero, error));
    }
    profile->below_zero = n_below_zero > 0;
    if (n_below_zero)
        as_cube_warn(rows, rows->data, 0, "counter-below-zero",
                     "%llu values above 2^64 - 1025, of a counter that ran below zero: sums take them as 0; "
                     "-O full-uint64=yes takes them as they stand",
                     (unsigned long long)n_below_zero);
    return ASSAY_OK;
}

assay_status as_cube_load(as_profile_source *source, as_dataset *ds, as_profile *profile, unsigned threads,
                          assay_error *error) {
    (void)ds;
    as_cube_rows *rows = (as_cube_rows *)source;
    assay_error failure;
    if (rows->failure) {
        if (error) *error = *rows->failure;
        return rows->failure->code;
    }
    assay_status status = load(rows, profile, threads, &failure);
    if (status == ASSAY_E_FORMAT) as_cube_give_up(rows, &failure);
    if (status != ASSAY_OK && error) *error = failure;
    return status;
}
