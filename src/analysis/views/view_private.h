/* What the views share. */
#ifndef AS_ANALYSIS_VIEWS_VIEW_PRIVATE_H
#define AS_ANALYSIS_VIEWS_VIEW_PRIVATE_H

#include "analysis/views/view.h"

/* ---- sums of contexts (sum.c) ------------------------------------------------------------------------------------ */

/* What several contexts have together in one column: begun empty, contexts added in ascending order. */
typedef struct as_view_sum {
    const as_view_column *column;
    assay_id end; /* of the last outermost context: what lies before it is inside */
    as_view_value value;
    double *parts; /* n_parts inclusive, n_parts exclusive; NULL unless composite */
} as_view_sum;

/* Room of *parts is the caller's: 2 * n_parts doubles. */
void as_view_sum_begin(as_view_sum *sum, const as_view_column *column, double *parts);
void as_view_sum_add(as_view_sum *sum, const as_dataset *ds, assay_id context);
/* The value so far; the parts stay the sum's. */
as_view_value as_view_sum_value(const as_view_sum *sum);

/* Of one context. Where the source has no row, and values add up along the tree, they are 0. */
as_view_value as_view_value_of(const as_view_column *column, assay_id context);

/* ---- columns (columns.c) ----------------------------------------------------------------------------------------- */

/* A column has at most so many formulas: its own, and those of the formulas that they are made of. */
enum { AS_VIEW_MAX_FORMULAS = 64 };
/* Fills a column whose metric is set and whose list is initialised. formulas_left: how many formulas there may still
 * be, for quotients and their like; NULL: none. */
assay_status as_view_column_load(const as_view_source *source, as_view_column *column, unsigned *formulas_left,
                                 assay_error *error);
void as_view_column_free(as_view_column *column);

/* ---- formulas (formula.c) ---------------------------------------------------------------------------------------- */

/* *out: NULL where several contexts have no value together. */
assay_status as_view_formula_new(const as_view_source *source, assay_id metric, unsigned *formulas_left,
                                 as_view_formula **out, assay_error *error);
void as_view_formula_free(as_view_formula *formula);
/* A sum of contexts, as as_view_sum makes it; one at a time. */
void as_view_formula_begin(as_view_formula *formula);
void as_view_formula_add(as_view_formula *formula, assay_id context);
as_view_value as_view_formula_value(as_view_formula *formula);
/* The values of contexts 0 … n - 1, each alone; NAN where there is none. */
void as_view_formula_all(as_view_formula *formula, bool exclusive, size_t n, double *out);

/* Whether a root is no part of the whole that others are, or a context below no part of what is above it. */
static inline bool as_view_is_apart(const as_view_data *data, assay_id context) {
    const as_dataset *ds = data->source.ds;
    if (data->is_aside && data->is_aside[context]) return true;
    return data->leaves_apart && as_context_is_section(ds, context);
}

/* ---- roles (roles.c) --------------------------------------------------------------------------------------------- */

/* Whether it is a call of a function: the root of all, inner contexts and call sites are not. */
bool as_view_is_call(const as_dataset *ds, assay_id context);

/* ---- groups of contexts (groups.c, scopes.c) --------------------------------------------------------------------- */

/* A function, file, module or kind; or, in a tree of scopes, what is inside functions. */
typedef struct as_view_member {
    as_str name;
    assay_id context; /* the first one */
    uint32_t parent;  /* the member it stands below, which comes before it; UINT32_MAX: none */
    uint8_t level;    /* as_view_level */
    bool is_aside;    /* all its contexts stand aside, or lie below such; else none does */
} as_view_member;

typedef struct as_view_groups {
    uint32_t *of_context; /* the number of its group, for each context of the dataset; UINT32_MAX: in none */
    uint32_t *of_call;    /* of scopes: that of the calls below its caller; else NULL */
    as_vec members;       /* as_view_member, in the order of their first contexts */
    assay_id *contexts;   /* of all groups, one after the other, ascending in each; NULL: not asked for */
    uint32_t *starts;     /* those of member i are contexts[starts[i]] … contexts[starts[i + 1] - 1] */
} as_view_groups;

/* Groups of functions: each context is in one at most. By region, inlined pieces of functions are functions as well. */
bool as_view_groups_init(as_view_groups *groups, const as_view_data *data, as_view_group by);
/* Finds the contexts of each member. False when memory is out. */
bool as_view_groups_list(as_view_groups *groups, size_t n_contexts);
void as_view_groups_free(as_view_groups *groups);
static inline as_view_member *as_view_member_at(const as_view_groups *groups, size_t i) {
    return &AS_AT(as_view_member, &groups->members, i);
}
/* Whether it is of contexts, not a file, module or kind of them. */
static inline bool as_view_member_is_context(const as_view_member *member) {
    return member->level == AS_LEVEL_CONTEXT || member->level == AS_LEVEL_CALL;
}
/* The region of its contexts; ASSAY_NONE: none. */
static inline assay_id as_view_member_region(const as_dataset *ds, const as_view_member *member) {
    return as_view_member_is_context(member) ? as_ds_context(ds, member->context)->region : ASSAY_NONE;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

typedef struct as_view_walker {
    const as_view_data *data;
    const as_view_request *request;
    bool (*visit)(void *user, const as_view_node *node);
    void *user;
    as_view_cut *cut;
    as_view_value *values; /* one for each column, for the node that is shown */
    double least;          /* in the first column; what has less is left out */
    double hot;            /* the request's threshold */
    bool *is_joined;       /* for each context whether joins_calls makes it no node; NULL: call sites only */
    bool *is_hidden;       /* top-down: for each context whether its name, or one above it, hides it; NULL: none is */
} as_view_walker;

/* Whether a context is a node. */
static inline bool as_view_is_node(const as_view_walker *walker, assay_id context) {
    return as_view_shows(walker->data->source.ds, context) && !(walker->is_joined && walker->is_joined[context]) &&
           !(walker->is_hidden && walker->is_hidden[context]);
}
/* The context that is one with a call: the place it comes from; or ASSAY_NONE. */
static inline assay_id as_view_call_site(const as_view_walker *walker, assay_id context) {
    const as_dataset *ds = walker->data->source.ds;
    const as_context *c = as_ds_context(ds, context);
    if (c->parent == ASSAY_NONE || c->role != AS_ROLE_CALL) return ASSAY_NONE;
    bool is_site =
        as_ds_context(ds, c->parent)->role == AS_ROLE_CALL_SITE || (walker->is_joined && walker->is_joined[c->parent]);
    return is_site ? c->parent : ASSAY_NONE;
}
/* What becomes of nodes of this name: AS_HIDES_…, or 0. */
static inline uint8_t as_view_hides(const as_view_walker *walker, as_str name) {
    return walker->request->hidden && name != AS_NO_STR ? walker->request->hidden[name] : 0;
}
/* Finds what joins_calls is about. False when memory is out. */
bool as_view_join_calls(as_view_walker *walker);

/* The groups that a context counts in, at most AS_VIEW_MOST_GROUPS of them; returns how many. */
enum { AS_VIEW_MOST_GROUPS = 4 };
static inline size_t as_view_groups_of(const as_view_groups *groups, assay_id context,
                                       uint32_t out[AS_VIEW_MOST_GROUPS]) {
    size_t n = 0;
    uint32_t own = groups->of_context[context];
    if (own == UINT32_MAX) return 0;
    out[n++] = own;
    uint32_t file = as_view_member_at(groups, own)->parent;
    if (file != UINT32_MAX && as_view_member_at(groups, file)->level == AS_LEVEL_FILE) {
        out[n++] = file;
        out[n++] = as_view_member_at(groups, file)->parent;
    }
    if (groups->of_call && groups->of_call[context] != UINT32_MAX) out[n++] = groups->of_call[context];
    return n;
}

/* The tree of scopes: a call is in the groups of its function, file and module, and in one of calls below its caller;
 * of_context is the first of these. */
bool as_view_scopes_init(as_view_groups *groups, const as_view_walker *walker);
/* False when memory is out. */
bool as_view_walk_callers(as_view_walker *walker);
bool as_view_walk_flat(as_view_walker *walker);

/* A node that waits to be shown. */
typedef struct as_view_pending {
    uint32_t at;  /* the context or group; of callers the first of its pairs */
    uint32_t end; /* of callers: behind the last */
    uint32_t depth;
    bool is_last, is_hot;
    bool is_apart; /* no part of what is above it: behind all that is */
    bool is_cut;   /* what is below it is too deep */
    as_str name;
    double key; /* what it is sorted and cut by */
} as_view_pending;

/* Sorts n pending ones as the request says; ties as they stand. */
void as_view_sort(const as_view_walker *walker, as_view_pending *pending, size_t n);
/* Of the siblings from `from` on leaves those that are shown, in their order, the first one last: the next to be
 * taken. */
void as_view_arrange(const as_view_walker *walker, as_vec *pending, size_t from);
/* A size for sorting and cutting: what is no number counts as large. */
double as_view_size(double value);
/* Marks the one with the largest key as hot, if that is at least `limit` and values add up. */
void as_view_mark_hot(const as_view_walker *walker, as_view_pending *siblings, size_t n, double limit);

/* ---- what groups have together (gather.c) ------------------------------------------------------------------------ */

typedef struct as_view_gather {
    as_view_walker *walker;
    as_view_groups groups;
    as_view_sum *sums; /* one for each column */
    double *parts;     /* of all of them */
} as_view_gather;

/* Contexts that stand in an array, `step` bytes apart. */
typedef struct as_view_some {
    const assay_id *first;
    size_t step, n;
} as_view_some;

/* The groups that the request asks for. as_view_gather_free() in every case. */
bool as_view_gather_init(as_view_gather *gather, as_view_walker *walker);
void as_view_gather_free(as_view_gather *gather);
as_view_some as_view_gather_contexts(const as_view_gather *gather, uint32_t member);
/* What these contexts of a member have together. */
as_view_value as_view_gather_value(const as_view_gather *gather, const as_view_member *member, size_t column,
                                   as_view_some contexts);
/* What they are sorted and cut by: what they have in the first column. 0 where there is none. */
double as_view_gather_key(const as_view_gather *gather, const as_view_member *member, as_view_some contexts);
/* Whether it is no part of the whole. */
static inline bool as_view_member_is_apart(const as_view_walker *walker, const as_view_member *member) {
    return member->is_aside || (walker->data->leaves_apart && member->level == AS_LEVEL_CONTEXT &&
                                as_context_is_section(walker->data->source.ds, member->context));
}
/* Shows a member with what these contexts have together. context: the first one of it. */
bool as_view_gather_show(const as_view_gather *gather, const as_view_pending *pending, const as_view_member *member,
                         assay_id context, as_view_some contexts);

/* ---- values of tables (table.c) ---------------------------------------------------------------------------------- */

struct as_view_table;
struct as_view_values;
/* What is the same for all items, and room for n of them. NULL when memory is out. */
struct as_view_values *as_view_values_like(const struct as_view_values *other, uint32_t n);
/* When the numbers are there. False when memory is out. */
bool as_view_values_finish(const struct as_view_table *table, struct as_view_values *values);

/* ---- flat views as tables (table_flat.c) ------------------------------------------------------------------------- */

/* Fills the table of a flat view of which nothing is left out, in the order of the source. */
bool as_view_flat_fill(struct as_view_table *table, const as_view_data *data);
/* The numbers of such a table: those of a walk, to the last bit. */
bool as_view_flat_values(const struct as_view_table *table, const as_view_data *data, struct as_view_values *values);
/* The numbers of items from lists of their contexts: those of item i are contexts[starts[i]] … contexts[starts[i + 1] -
 * 1], ascending. False when memory is out. */
bool as_view_listed_values(const struct as_view_table *table, const as_view_column *column, const uint32_t *starts,
                           const assay_id *contexts, struct as_view_values *values);
/* as_view_item_contexts() of such a table. */
bool as_view_flat_contexts(const struct as_view_table *table, uint32_t item, as_vec *out);

#endif
