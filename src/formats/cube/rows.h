/* Private to the readers of N.index and N.data: which rows of values a metric has, and where they are. */
#ifndef AS_FORMATS_CUBE_ROWS_H
#define AS_FORMATS_CUBE_ROWS_H

#include "formats/cube/cube.h"

enum {
    AS_CUBE_INDEX_HEADER = 18, /* up to the type, which is all of a dense index */
    AS_CUBE_DATA_HEADER = 10,
};

/* One metric's rows. Row i is that of the context numbered entry i. */
typedef struct as_cube_rows {
    as_profile_source source; /* first: it is one */
    as_cube *cube;
    as_cube_metric metric;
    as_value_type type;
    size_t row_size;
    const as_tar_member *index, *data;
    const assay_error *failure; /* what whoever asks for the values is told; NULL: none so far */

    /* index */
    bool is_big_endian, is_dense;
    uint32_t n_entries;
    const char *entries; /* 4 bytes each, at any address; NULL: of a dense index, entry i is i */

    /* data */
    bool is_packed;
    uint32_t n_plain; /* whole rows of plain data, at most n_entries */
    uint8_t width;    /* bytes of the table's fields: 8, or 4 as the format's document has it */
    uint64_t n_segments;
    size_t table_at, body_at, body_size;
    bool is_in_order; /* segment i is row i, and none is empty */

    bool is_simple; /* entries ascend, are all in the tree, and have a row each */
} as_cube_rows;

static inline uint32_t as_cube_u32(const char *at, bool is_big_endian) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
}

static inline uint64_t as_cube_u64(const char *at, bool is_big_endian) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return is_big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap64(value);
}

static inline uint32_t as_cube_entry(const as_cube_rows *rows, uint32_t i) {
    return rows->entries ? as_cube_u32(rows->entries + 4 * (size_t)i, rows->is_big_endian) : i;
}

/* Where the row of a segment begins among unpacked ones; where the packed bytes begin in the body; how many they
 * are. */
typedef struct as_cube_segment {
    uint64_t position, offset, size;
} as_cube_segment;
as_cube_segment as_cube_segment_at(const as_cube_rows *rows, uint64_t i);

/* ASSAY_E_FORMAT with the member's name and the byte. */
assay_status as_cube_fail(const as_cube_rows *rows, const as_tar_member *member, uint64_t within, assay_error *error,
                          const char *rule, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* A problem in the same words. */
void as_cube_warn(const as_cube_rows *rows, const as_tar_member *member, uint64_t within, const char *rule,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* For each number of a context its row, UINT32_MAX where there is none; of two with one number the last counts.
 * *n_rows: how many have one; *n_beyond: entries that are in no tree; *n_twice: entries whose number came again. *out
 * is to be freed; NULL when memory is out. */
void as_cube_find_rows(const as_cube_rows *rows, uint32_t **out, uint32_t *n_rows, uint32_t *n_beyond,
                       uint32_t *n_twice);
/* For each row its segment, UINT32_MAX where there is none; to be freed. NULL when memory is out, or when segments are
 * in order. */
uint32_t *as_cube_find_segments(const as_cube_rows *rows);

/* From now on whoever asks for the values is told this. False when memory is out. */
bool as_cube_give_up(as_cube_rows *rows, const assay_error *failure);
/* Fills contexts and rows of a profile of a Cube file ahead of its values. Nothing where the values cannot be had.
 * ASSAY_E_NOMEM. */
assay_status as_cube_list(as_profile *profile, assay_error *error);
/* as_profile_source.load of an as_cube_rows. */
assay_status as_cube_load(as_profile_source *source, as_dataset *ds, as_profile *profile, unsigned threads,
                          assay_error *error);

#endif
