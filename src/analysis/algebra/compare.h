/* Two profiles side by side: their call trees united, with the values of both, summed over locations. What people look
 * at to see what changed; as_diff() is the difference itself. */
#ifndef AS_ANALYSIS_COMPARE_H
#define AS_ANALYSIS_COMPARE_H

#include "analysis/views/view.h"
#include "dataset/unify.h"

enum { AS_BASE, AS_TARGET };

typedef struct as_change_column {
    assay_id metric;    /* of the united dataset */
    size_t at[2];       /* the column of each side's data; SIZE_MAX: it does not have the metric */
    bool has_exclusive; /* on both sides that have the metric */
    bool adds_up;       /* likewise */
    double whole[2];    /* NAN: none */
    double factor;      /* what values of the target are multiplied by to have the base's unit */
} as_change_column;

struct as_change_value;

typedef struct as_comparison {
    as_dataset *ds; /* the united tables, without values */
    as_union u;
    assay_id *contexts[2], *metrics[2]; /* for each of ds that of each side; ASSAY_NONE: it has none */
    double *factors;                    /* for each metric of ds: of as_change_column */
    as_view_data data[2];
    as_change_column *columns;
    size_t n_columns;
    struct as_change_value *values; /* private: room of a walk, one for each column */
} as_comparison;

/* Unites the metrics; times of one name may have two units. as_comparison_close() in every case; the sides (and the
 * array of both) must live as long. */
assay_status as_comparison_open(const as_dataset *const *sides, as_comparison *out, assay_error *error);
/* Unites the call trees. Whoever has the pairs of call paths already (change_table.h) needs none of it. */
assay_status as_comparison_unite(as_comparison *comparison, as_matching matching, assay_error *error);
/* Which metric of a side is that of the united dataset, or ASSAY_NONE. */
static inline assay_id as_comparison_metric(const as_comparison *comparison, size_t side, assay_id metric) {
    return comparison->metrics[side][metric];
}
/* Sets a metric of the target against one of the base, whatever their names: from here on they are that of the base
 * (*out, of the united dataset). ASSAY_E_USAGE: their units differ (as_metric_factor()). */
assay_status as_comparison_pair(as_comparison *comparison, assay_id base, assay_id target, assay_id *out,
                                assay_error *error);
/* Finds the values of metrics (of the united dataset), in the runs and at the locations that the sources name. Once. */
assay_status as_comparison_load(as_comparison *comparison, const as_view_source sources[2], const assay_id *metrics,
                                size_t n, assay_error *error);
void as_comparison_close(as_comparison *comparison);

/* ---- what changed ------------------------------------------------------------------------------------------------ */

/* One number on both sides, and the second less the first: exact where both are integers. Where values add up a side
 * without it has 0. */
typedef struct as_change {
    as_view_number side[2], change; /* parts are NULL */
} as_change;

typedef struct as_change_value {
    as_change inclusive, exclusive; /* exclusive.change.is_known: the metric has such values */
} as_change_value;

/* Into another unit; what is not multiplied by 1 is no whole number then. */
void as_number_scale(as_view_number *number, double factor);
/* adds_up: a number that only the other side knows is 0; else it stays unknown, and so does the change. */
as_change as_change_of(as_view_number base, as_view_number target, bool adds_up);
/* Of a context of each side; ASSAY_NONE: it has none. */
as_change_value as_comparison_between(const as_comparison *comparison, size_t column, const assay_id contexts[2]);
/* Of a context of the united dataset. */
as_change_value as_comparison_at(const as_comparison *comparison, size_t column, assay_id context);
/* The change as a part of the base, 0.1: a tenth more; infinite where there was nothing before, 0 where nothing
 * changed. */
double as_change_relative(const as_change *change);

/* What the whole has: the roots together. */
as_change_value as_comparison_whole(const as_comparison *comparison, size_t column);

typedef enum as_change_order {
    AS_CHANGE_BY_SIZE,
    AS_CHANGE_BY_RELATIVE,
    AS_CHANGE_BY_BASE,
    AS_CHANGE_BY_TARGET,
    AS_CHANGE_BY_NAME,
    AS_CHANGE_AS_SOURCE
} as_change_order;

typedef struct as_change_request {
    size_t by;             /* the column that decides what is shown, and in which order */
    bool only_by;          /* nobody looks at the values of other columns: they are not found */
    bool flat;             /* functions instead of call paths */
    as_change_order order; /* inclusive values of call paths, exclusive ones of functions */
    double min_change;     /* leave out what changed by less than this, and all below it, too; 0: nothing */
    bool is_relative;      /* min_change is a part of each one's own base, else a number */
    bool only_changed;     /* leave out what did not change at all */
    size_t max_rows;       /* so many of the largest changes, and what is above them; 0: all */
} as_change_request;

typedef struct as_change_node {
    uint32_t depth;
    bool is_last;              /* of those shown below the same node */
    bool is_in[2];             /* whether each side has it */
    bool is_section, is_aside; /* it is no part of what is above it, and stands behind its siblings; not of functions */
    assay_id context;          /* of ds; of a function the first one */
    as_str name;               /* of ds */
    const as_change_value *values; /* one for each column */
} as_change_node;

/* How many were left out. */
typedef struct as_change_cut {
    uint64_t small; /* that changed too little, or not at all */
    uint64_t rest;  /* beyond max_rows */
} as_change_cut;

/* Calls visit for each node, a parent before its children. Where that gives false the walk ends with ASSAY_E_NOMEM. */
assay_status as_comparison_walk(const as_comparison *comparison, const as_change_request *request,
                                bool (*visit)(void *user, const as_change_node *node), void *user, as_change_cut *cut,
                                assay_error *error);

/* What functions of two sides are told by. */
typedef struct as_function_name {
    as_str name, file; /* of the same strings on both sides */
} as_function_name;
/* Pairs functions that are single on both sides: of one name and file, then of one name. mates: of each of n[side]
 * functions the number of the other side's, UINT32_MAX: none. False when memory is out. */
bool as_pair_functions(const as_function_name *const functions[2], const size_t n[2], uint32_t *const mates[2]);

/* The regions that only this side has, each by its first call path (assay_id of ds, ascending), into out. False when
 * memory is out. */
bool as_comparison_only_in(const as_comparison *comparison, size_t side, as_vec *out);

#endif
