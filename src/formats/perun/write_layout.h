/* Profiles in the other layout: what both directions share. Rows are written from the table "record": the members of
 * their kind, and their own cells. */
#ifndef AS_FORMATS_PERUN_WRITE_LAYOUT_H
#define AS_FORMATS_PERUN_WRITE_LAYOUT_H

#include "formats/perun/write.h"

/* A column of cells that are rows' own. */
typedef struct as_layout_column {
    as_own_column cells;
    const char *key; /* as the source has it */
    size_t key_size;
} as_layout_column;

typedef struct as_layout {
    as_writer *writer;
    as_output *out;
    const as_dataset *ds;
    const as_perun *perun;
    const as_perun_profile *profile;
    const as_records *records;
    as_budget *budget;
    as_region_list regions;
    as_vec columns;          /* as_layout_column */
    uint32_t time, snapshot; /* columns of the table; UINT32_MAX: there is none */
    bool fine;               /* memory is not out */

    /* private: members without some keys, of the kind that was asked for last */
    as_vec whole, rest; /* char */
    uint32_t rest_of;
    unsigned rest_without;
} as_layout;

enum { AS_WITHOUT_TIME = 1, AS_WITHOUT_SNAPSHOT = 2 };

static inline const as_perun_kind *as_layout_kind(const as_layout *layout, uint32_t kind) {
    return &AS_AT(as_perun_kind, &layout->perun->kinds, kind);
}
/* Whether the row has a cell of its own in this column. */
static inline bool as_layout_has(const as_layout_column *column, size_t row) {
    return row < column->cells.count && column->cells.types[row] != AS_OWN_ABSENT;
}
/* What all rows of a kind share in the column; null where there is no such column. */
as_cell as_layout_shared(const as_layout *layout, uint32_t kind, uint32_t column);
/* The members of a kind but for some keys, "key": value, …; size 0: none. Valid until the next call. */
as_raw_json as_layout_members(as_layout *layout, uint32_t kind, unsigned without);
/* The own cell of a row that has one. */
void as_layout_write_own(const as_layout *layout, const as_layout_column *column, size_t row);
/* Members of an object but for some keys (ended by NULL); *n counts what was written, and says whether a comma comes
 * first. */
void as_layout_write_members(as_layout *layout, as_raw_json object, const char *const *but, size_t *n);
/* A region of the profile; size 0: there is none. */
as_raw_json as_layout_region(const as_layout *layout, const char *key);

assay_status as_layout_write_new(as_layout *layout);
assay_status as_layout_write_old(as_layout *layout);

/* ---- types of the new layout ------------------------------------------------------------------------------------- */

/* Rows of one kind with the same own columns. */
typedef struct as_layout_type {
    uint32_t kind;
    size_t n, first; /* rows, and where they begin in as_layout_types.rows */
} as_layout_type;

typedef struct as_layout_types {
    as_vec types;   /* as_layout_type, in order of first appearance */
    uint32_t *rows; /* numbers of rows from profile->first_row on, type by type */
} as_layout_types;

/* False when memory is out. as_layout_types_free() in every case. */
bool as_layout_find_types(const as_layout *layout, as_layout_types *out);
void as_layout_types_free(as_layout_types *types);

bool as_layout_init(as_layout *layout, as_writer *writer, const as_perun_profile *profile);
void as_layout_free(as_layout *layout);

#endif
