/* Goes through the values of a sparse profile one by one, for the table value. */
#ifndef AS_QUERY_SPARSE_WALK_H
#define AS_QUERY_SPARSE_WALK_H

#include "dataset/sparse.h"

/* {0} is a walk that has ended. */
typedef struct as_sparse_walk {
    const as_profile *profile; /* NULL: there is no value left */
    as_sparse_line line;
    uint32_t at, end;              /* of the line: the value, and the end of those asked for */
    bool is_column;                /* the line is one */
    uint32_t column;               /* that it is */
    uint32_t first_column, n_wide; /* of rows: the columns asked for, first_column … first_column + n_wide - 1 */
    assay_id context, end_context; /* that the row is of; the end of those asked for */
} as_sparse_walk;

/* The values of the contexts first … end - 1 at some columns, in order of context and column. The walk is at the first
 * of them. */
assay_status as_sparse_walk_rows(as_sparse_walk *walk, const as_profile *profile, assay_id first, assay_id end,
                                 uint32_t first_column, uint32_t n_columns, assay_error *error);
/* The values of a column, in order of context. */
assay_status as_sparse_walk_column(as_sparse_walk *walk, const as_profile *profile, uint32_t column,
                                   assay_error *error);
/* The same behind the last value of a line. */
assay_status as_sparse_walk_next_line(as_sparse_walk *walk, assay_error *error);
static inline assay_status as_sparse_walk_next(as_sparse_walk *walk, assay_error *error) {
    return ++walk->at < walk->end ? ASSAY_OK : as_sparse_walk_next_line(walk, error);
}
/* Ends it; what it has read into is kept. */
static inline void as_sparse_walk_stop(as_sparse_walk *walk) { walk->profile = NULL; }
void as_sparse_walk_free(as_sparse_walk *walk);

static inline assay_id as_sparse_walk_context(const as_sparse_walk *walk) {
    return walk->is_column ? walk->line.at[walk->at] : walk->context;
}
static inline uint32_t as_sparse_walk_place(const as_sparse_walk *walk) {
    return walk->is_column ? walk->column : walk->line.at[walk->at];
}
static inline double as_sparse_walk_value(const as_sparse_walk *walk) { return walk->line.values[walk->at]; }

#endif
