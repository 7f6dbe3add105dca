/* Views of a call tree: top-down, bottom-up, flat.
 *
 * top-down   the call tree as it is: a node is a context. A call site and its callee are one node, that of the callee.
 * bottom-up  first the functions, below each its callers, below them theirs. A node stands for those contexts of the
 *            function that were called that way; its exclusive value is the sum of theirs, so that the callers of a
 *            node share its exclusive value (less what was called by nobody).
 * flat       the functions alone, or the files, modules or kinds of them; or all of it, by where the code stands:
 *            modules, below each its files, below them their functions, below these their loops and lines, and whom
 *            they call. Exclusive values of modules and files are those of their functions.
 *
 * Functions are what contexts of the role "call" call, but not the root of all. Inner contexts (loops, lines,
 * instructions) are parts of their function. Those without a place in the tree are left out.
 *
 * What stands aside (as_context.is_aside) is a node of its own, behind its siblings: no part of what is above it, nor
 * of the whole, nor of functions, files, modules and kinds that do not stand aside.
 *
 * Inclusive values of several contexts are never counted twice: where one of them lies inside another (recursion), only
 * the outermost counts. So the inclusive value of a function is what a stop watch around its outermost calls would
 * show.
 *
 * "Sum" is the metric's own: minima of MINDOUBLE, part by part of composite types. Metrics that have no exclusive
 * values (experiments) have theirs in `inclusive`; bottom-up and flat take the sum of what is not inside another of the
 * same function. */
#ifndef AS_ANALYSIS_VIEWS_VIEW_H
#define AS_ANALYSIS_VIEWS_VIEW_H

#include "analysis/nodes.h"

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Where the values come from: the mean of some runs, at some locations. */
typedef struct as_view_source {
    const as_dataset *ds;
    const assay_id *runs;
    size_t n_runs;         /* 0: the statistics of the point */
    assay_id point;        /* of the runs; ASSAY_NONE: none */
    const bool *locations; /* one for each of the dataset; NULL: all */
    /* of stored pairs the exclusive values stay where they are: their columns have none, and say that there are */
    bool only_inclusive;
    /* the columns are for others to take (loaded), who look at them from their own roots: they have neither whole nor
     * scale */
    bool only_values;
    /* Columns of the same source that are there already: those of their metrics are not loaded again, and neither are
     * what formulas take. They must last as long as the data. */
    const struct as_view_column *loaded;
    size_t n_loaded;
} as_view_source;

typedef struct as_view_formula as_view_formula;

/* A metric over the call tree. */
typedef struct as_view_column {
    assay_id metric;
    as_dtype dtype;
    bool has_exclusive;     /* values are inclusive and exclusive ones */
    bool adds_up;           /* single numbers whose sum is a sum: shares of the whole mean something */
    bool can_merge;         /* several contexts have a value together; some formulas have none */
    bool can_be_empty;      /* what is not a number is not there */
    bool lacks_inclusive;   /* a formula gives only exclusive values */
    bool is_zero_elsewhere; /* contexts without a node have 0; else nothing is known of them */
    bool is_inclusive; /* as stored: a row that is missing is zeros, of which the children's values are taken off */
    bool is_stored;    /* inclusive and exclusive values are the source's own; those it has no row of are not known */
    bool is_only_exclusive; /* of stored ones: there are no inclusive values */
    double whole;           /* all of it: what shares are of. NAN where they mean nothing, as of differences */
    double scale; /* what small is measured by: the whole, else the largest value; NAN where values do not add up */
    /* private: as_column_node() and as_column_has_any() know how values are kept */
    as_node_list list;
    uint32_t *index; /* of each context's node, UINT32_MAX: none; NULL: node i is context i */
    bool has_sums;   /* there are sums instead of a list */
    as_stored_sums sums;
    bool is_shared;           /* the list, index and sums are another column's */
    as_view_formula *formula; /* gives the value of several contexts, where that is no sum; else NULL */
} as_view_column;

typedef struct as_view_data {
    as_view_source source;
    as_view_column *columns;
    size_t n_columns;
    assay_id *roots; /* of the subtrees that are looked at, ascending, none inside another */
    size_t n_roots;
    bool *is_aside;    /* for each context whether it stands aside, or lies below one that does; NULL: none does */
    bool leaves_apart; /* some roots are sections or stand aside, and others are not: the whole is that of the others */
} as_view_data;

/* Finds the nodes of the metrics. roots: those of the subtrees to look at, ascending, none inside another; NULL: all of
 * the tree. as_view_data_free() in every case. */
assay_status as_view_load(const as_view_source *source, const assay_id *metrics, size_t n_metrics,
                          const assay_id *roots, size_t n_roots, as_view_data *out, assay_error *error);
void as_view_data_free(as_view_data *data);

/* What its values take, about. n_contexts: of the dataset. */
size_t as_view_column_bytes(const as_view_column *column, size_t n_contexts);

/* The number of a context's node in the list, where it has nodes; or UINT32_MAX. */
static inline uint32_t as_column_at(const as_view_column *column, assay_id context) {
    uint32_t at = column->index ? column->index[context] : context;
    return at < column->list.nodes.count ? at : UINT32_MAX;
}
/* The node of a context; false where there is none. */
static inline bool as_column_node(const as_view_column *column, assay_id context, as_node *out) {
    if (column->has_sums) return as_stored_sums_node(&column->sums, context, out);
    if (column->list.is_compact) return as_node_sums_node(&column->list.sums, context, out);
    uint32_t at = as_column_at(column, context);
    if (at != UINT32_MAX) *out = *as_node_at(&column->list, at);
    return at != UINT32_MAX;
}
/* Whether some context has a node. */
bool as_column_has_any(const as_view_column *column);

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

typedef enum as_view_kind { AS_VIEW_TOP_DOWN, AS_VIEW_BOTTOM_UP, AS_VIEW_FLAT } as_view_kind;
/* What a flat view lists; AS_GROUP_SCOPE: all by where the code stands. */
typedef enum as_view_group {
    AS_GROUP_REGION,
    AS_GROUP_FILE,
    AS_GROUP_MODULE,
    AS_GROUP_KIND,
    AS_GROUP_SCOPE
} as_view_group;
typedef enum as_view_sorting { AS_SORT_INCLUSIVE, AS_SORT_EXCLUSIVE, AS_SORT_NAME, AS_SORT_SOURCE } as_view_sorting;

/* What becomes of nodes of a name: those below stand in their place, or are hidden with them. Bottom-up a hidden
 * function has no place of its own, and as a caller is passed over, or ends the way up. */
enum { AS_HIDES_NODE = 1, AS_HIDES_SUBTREE = 2 };

typedef struct as_view_request {
    as_view_kind kind;
    as_view_group group;   /* of flat views */
    as_view_sorting order; /* by the first column, largest first; ties as in the source */
    const bool *wanted;    /* for each string of the dataset whether a name is asked for; NULL: all. Top-down: those and
                            all above them; else those functions */
    const uint8_t *hidden; /* for each string of the dataset AS_HIDES_…, 0: shown; NULL: all are. No number of what is
                            shown depends on it */
    uint32_t max_levels;   /* that are shown; 0: all */
    uint64_t max_steps;    /* bottom-up: steps up that are made at most, so that a level ends it; 0: the usual number */
    size_t max_first;      /* nodes of the first level that are shown, flat and bottom-up; 0: all */
    /* leave out what, with all below it, stays under this part of the first column's scale; 0: nothing */
    double min_share;
    size_t n_telling; /* top-down: of so many of the first columns, each by its own scale; 0: 1 */
    bool only_hot;
    double hot_threshold; /* the part of its parent that the next node of the hot path has at least; 0: half */
    /* lines and instructions that do nothing but call are one with whom they call, like call sites; lines that nobody
     * knows are no nodes */
    bool joins_calls;
    /* of joins_calls: for each context how it is joined (dataset/pieces.h), where more than the columns of data tells
     * it; NULL: these tell it */
    const uint8_t *joinings;
    bool
        without_root; /* top-down: where one context stands for the whole program, those below it are the first level */
} as_view_request;

/* A number of a node: exact where the type is an integer. */
typedef struct as_view_number {
    bool is_known, is_whole;
    as_whole whole;      /* where is_whole */
    double real;         /* in any case, rounded where it must be; of a composite type the number people see */
    const double *parts; /* of a composite type: n_parts of the column's list; else NULL */
} as_view_number;

/* The part of a node in one column. */
typedef struct as_view_value {
    as_view_number inclusive, exclusive;
} as_view_value;

/* What a node is. */
typedef enum as_view_level {
    AS_LEVEL_CONTEXT, /* a context, or several of one region */
    AS_LEVEL_MODULE,
    AS_LEVEL_FILE,
    AS_LEVEL_KIND,
    AS_LEVEL_CALL /* flat: calls of a function, below the place they come from */
} as_view_level;

typedef struct as_view_node {
    as_view_level level;
    uint32_t depth; /* first level: 0 */
    bool is_last;   /* of those shown below the same node */
    bool is_hot;
    bool is_wanted;     /* its name is asked for */
    bool is_inlined;    /* its first context is */
    bool is_aside;      /* it stands aside: what is above it, and the whole, have nothing of it */
    assay_id context;   /* of several the first; ASSAY_NONE: a file, module or kind */
    assay_id call_site; /* the context that stands for the place it is called from; ASSAY_NONE: none, or several */
    /* bottom-up: the first context of the function that these are the callers of; with the depth it names the node.
     * Else ASSAY_NONE */
    assay_id origin;
    bool is_cut;                 /* something below it is not shown, because of its depth */
    assay_id region;             /* or ASSAY_NONE */
    as_str name;                 /* AS_NO_STR: the source has none */
    const as_view_value *values; /* one for each column */
    /* private, bottom-up: the contexts whose values these are, ascending; `step` bytes from one to the next */
    const assay_id *contexts;
    size_t n_contexts, step;
} as_view_node;

/* What was left out. */
typedef struct as_view_cut {
    uint64_t small;  /* nodes under min_share */
    uint64_t deep;   /* beyond max_levels; bottom-up: whose callers are */
    uint64_t rest;   /* of the first level, beyond max_first */
    uint64_t hidden; /* by their names; bottom-up functions alone */
    /* bottom-up: what these functions have in the first column, but for what is apart; NAN: nobody knows, or there are
     * none */
    double hidden_exclusive;
    uint32_t limit; /* bottom-up: levels after which it ended because going on would take too long; 0: it did not */
} as_view_cut;

/* Whether a context is a node of the top-down view: call sites are one with their callees. */
static inline bool as_view_shows(const as_dataset *ds, assay_id context) {
    const as_context *c = as_ds_context(ds, context);
    return c->role == AS_ROLE_CALL_SITE ? c->subtree == 1 : c->role != AS_ROLE_PLACELESS;
}
/* Whether the source tells where code stands, also where no loop or line was seen (then it has a root of all): there
 * the flat view is the tree of scopes, unless something else is asked for. */
bool as_view_has_scopes(const as_dataset *ds);
/* Whether the root of what is looked at is a context that stands for the whole program. */
bool as_view_has_root(const as_view_data *data);

/* What has a value of its own in one of these columns is not joined by joins_calls: joinings, of as_find_joinings(),
 * are then AS_JOINS_NEVER there. */
void as_view_unjoin(const as_view_data *data, uint8_t *joinings);

/* Calls visit for each node of the view, a parent before its children. The node lives until visit returns; where that
 * is false the walk ends with ASSAY_E_NOMEM.
 *
 * The hot path begins at the root of all, else at the largest node of the first level, and goes on to the largest child
 * as long as that has at least a part (hot_threshold) of its parent's value: inclusive values top-down, those that are
 * sorted by else. Lists have none. */
assay_status as_view_walk(const as_view_data *data, const as_view_request *request,
                          bool (*visit)(void *user, const as_view_node *node), void *user, as_view_cut *cut,
                          assay_error *error);

/* The value of all that is looked at in one column: what a node above the first level has. */
as_view_value as_view_whole(const as_view_data *data, size_t column);

#endif
