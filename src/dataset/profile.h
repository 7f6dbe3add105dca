/* Values of profiles: what one metric has in one run, decoded when somebody asks.
 *
 * Readers of profiles add as_profile entries; those of experiments add blocks (dataset.h). Whoever reads values opens a
 * slice, which is the same for both. */
#ifndef AS_DATASET_PROFILE_H
#define AS_DATASET_PROFILE_H

#include "core/error.h"
#include "dataset/values.h"

struct assay_dataset;
struct as_profile;

/* What one context has at those locations that have anything, or one location at such contexts. Belongs to who reads,
 * who uses it again and again (dataset/sparse.h). */
typedef struct as_sparse_line {
    uint32_t n;
    uint32_t *at; /* of a row the columns, ascending; of a column the contexts, in any order; without repeats */
    double *values;
    uint32_t room; /* of both */
} as_sparse_line;

/* Sums of sparse rows are made in four lanes, as those of rows with all columns are (as_reals_sum()): zeros in between
 * change nothing, so the result is the same. */
enum { AS_ROW_LANES = 4, AS_NO_LANE = AS_ROW_LANES };
static inline double as_lanes_sum(const double *lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

/* Some contexts whose rows are wanted. */
typedef struct as_row_list {
    const assay_id *contexts; /* ASSAY_NONE among them are none */
    uint32_t n;
    size_t first; /* they are those of as_profile_source.order from this one on; SIZE_MAX: any */
} as_row_list;

/* What rows of one or two profiles with the same columns add up to. */
typedef struct as_row_sums {
    const uint8_t *lane_of; /* of each column; AS_NO_LANE: it is not wanted */
    assay_id first;         /* the context whose sums come first */
    double *sums[2];        /* of each profile and context */
    bool *has[2];           /* whether there is any value */
} as_row_sums;

/* Where the values of a profile come from.
 *
 * load        decodes it. Fills contexts, rows and values (in the dataset's arena or a mapping the dataset holds), may
 *             lower n_rows, and may add problems. Called once, by one thread at a time. `threads`: to use at most.
 * read_row    NULL, or: the values are sparse, of type DOUBLE, none of them 0, and what one context has can be had
 *             without loading the rest. Safe from several threads.
 * fetch_row   NULL, or: read_row() comes soon for the one context, and later for the other (ASSAY_NONE: none). Asks for
 *             memory that may lie anywhere, and waits for nothing.
 * sum_rows    NULL, or: what the rows of some contexts add up to, of this source and, where it is not NULL, of `other`:
 *             for who wants no more of them than that. Returns how many it has done: where it stops, something is
 *             unusual, and read_row says what.
 * order       NULL, or: the contexts that may have rows, n_order of them (ASSAY_NONE among them are none), as their
 *             rows lie in the source: for who reads all of them, in any order.
 * read_column the same of one column; NULL where read_row is.
 * mismatch    the rule of the problem that both do not say the same, where they read different files; NULL: they cannot
 *             differ.
 * Sparse ones have load = as_sparse_load (dataset/sparse.h), for who needs all rows with all columns. */
typedef struct as_profile_source {
    assay_status (*load)(struct as_profile_source *source, struct assay_dataset *ds, struct as_profile *profile,
                         unsigned threads, assay_error *error);
    assay_status (*read_row)(const struct as_profile_source *source, const struct as_profile *profile, assay_id context,
                             as_sparse_line *out, assay_error *error);
    void (*fetch_row)(const struct as_profile_source *source, assay_id soon, assay_id later);
    uint32_t (*sum_rows)(const struct as_profile_source *source, const struct as_profile_source *other,
                         const as_row_list *rows, const as_row_sums *out);
    const assay_id *order;
    size_t n_order;
    assay_status (*read_column)(const struct as_profile_source *source, const struct as_profile *profile,
                                uint32_t column, as_sparse_line *out, assay_error *error);
    const char *mismatch;
} as_profile_source;

/* A row of values for each context that has any, with a column for each location. */
typedef struct as_profile {
    assay_id metric, run;
    as_value_type type;
    uint32_t n_rows, n_columns;
    const assay_id *columns;   /* locations, ascending; NULL: one column that is no place */
    as_profile_source *source; /* NULL: all is here */
    bool is_packed;            /* the source has the values compressed: so may who writes them */

    /* Once loaded */
    bool is_loaded;
    bool is_checked;          /* as_ds_check() looked at it */
    bool below_zero;          /* some UINT64 are above AS_COUNTER_LIMIT, and sums take them as 0 */
    const assay_id *contexts; /* n_rows, ascending, without repeats */
    const uint32_t *rows;     /* for each of them the number of its row in values; NULL: the same number */
    const char *values;       /* rows of n_columns values in native byte order, at any address */
} as_profile;

/* Rows are read one by one from where they lie. Once somebody had to load it, it is like any other. */
static inline bool as_profile_is_sparse(const as_profile *profile) {
    return profile->source && profile->source->read_row;
}
/* Of sparse ones 0: nobody has counted them one by one, and ds->n_sparse_values is the number of all. */
static inline uint64_t as_profile_values(const as_profile *profile) {
    return as_profile_is_sparse(profile) ? 0 : (uint64_t)profile->n_rows * profile->n_columns;
}
/* The n_columns values of contexts[i]. */
static inline const char *as_profile_row(const as_profile *profile, uint32_t i) {
    uint64_t row = profile->rows ? profile->rows[i] : i;
    return profile->values + row * profile->n_columns * profile->type.size;
}
static inline assay_id as_profile_location(const as_profile *profile, uint32_t column) {
    return profile->columns ? profile->columns[column] : ASSAY_NONE;
}
/* Index into contexts, or UINT32_MAX. */
uint32_t as_profile_find(const as_profile *profile, assay_id context);

/* That of (metric, run), loaded or not, or NULL. */
const as_profile *as_ds_profile(const struct assay_dataset *ds, assay_id metric, assay_id run);

/* The type of a metric's values: of the block or first profile that has any (of blocks of several runs: the one they
 * share), else as the source writes it; plain doubles where nobody says. */
as_value_type as_ds_metric_type(const struct assay_dataset *ds, assay_id metric);

/* Decodes what is not decoded yet, of one metric or of all (ASSAY_NONE). Safe from several threads. An error is that of
 * the first profile which has one; others are loaded all the same. */
assay_status as_ds_load(const struct assay_dataset *ds, assay_id metric, assay_error *error);
/* Who does not wait without end: asked now and then, on the thread that has it. */
typedef struct as_patience {
    bool (*is_over)(void *user);
    void *user;
} as_patience;

/* Decodes everything; what cannot be decoded becomes a problem of the dataset, once. Safe from several threads.
 * patience (NULL: without end) is asked between profiles, and while another thread does the same; the next one goes on
 * where it was over. False when memory is out, or patience over. */
bool as_ds_check(const struct assay_dataset *ds, const as_patience *patience);
assay_status as_profile_load(const struct assay_dataset *ds, const as_profile *profile, assay_error *error);

/* A loaded profile to read from: the dataset's own, or one made from a block. view.n_rows is 0 where there are no
 * values. */
typedef struct as_slice {
    as_profile view;
    assay_id first; /* the contexts asked for: first … first + n - 1 */
    uint32_t n;
    void *owned[4];
    as_vec contexts, values; /* of rows made from a sparse profile */
} as_slice;

/* What metric has in run for the contexts first … first + n - 1. as_slice_close() in every case. */
assay_status as_slice_open(const struct assay_dataset *ds, assay_id metric, assay_id run, assay_id first, uint32_t n,
                           as_slice *out, assay_error *error);
/* The same for all contexts. */
assay_status as_slice_open_all(const struct assay_dataset *ds, assay_id metric, assay_id run, as_slice *out,
                               assay_error *error);
/* The same added up over locations, those that are wanted (one bool for each of the dataset; NULL: all, and values at
 * none): one column, where there are many contexts that have values at few locations each. *is_done: else nothing is
 * opened, because the values are no block with locations, or a sum is beyond 64 bits. */
assay_status as_slice_open_sums(const struct assay_dataset *ds, assay_id metric, assay_id run, assay_id first,
                                uint32_t n, const bool *wanted, as_slice *out, bool *is_done, assay_error *error);
/* Leaves out the columns of locations that are not wanted (one bool for each location of the dataset), and that of rows
 * without one, copying the rest. False when memory is out. */
bool as_slice_narrow(as_slice *slice, const bool *wanted);
/* Leaves out the rows of contexts that are dropped (one bool for each of the dataset). False when memory is out. */
bool as_slice_drop(as_slice *slice, const bool *dropped);
void as_slice_close(as_slice *slice);

#endif
