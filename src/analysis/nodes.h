/* Inclusive and exclusive values of the call tree, summed over locations, in the metric's own arithmetic: see
 * analysis/rows.h.
 *
 * Exclusive values that are where they were measured are in those of the calls around them as well (dataset/pieces.h).
 * Metrics of kinds without a second value have theirs in `inclusive`. Derived metrics are computed
 * (analysis/derived.h). Of stored metrics (as_metric.is_stored) an inclusive one has its own values and those of its
 * `exclusive` metric, if there is one, and nothing is made of them along the tree; others have one value
 * (as_metric_is_only_exclusive()). */
#ifndef AS_ANALYSIS_NODES_H
#define AS_ANALYSIS_NODES_H

#include "dataset/dataset.h"

typedef struct as_node {
    assay_id context;
    /* the source has a row for this very context; of stored metrics: an inclusive value, which is 0 otherwise */
    bool has_own;
    bool has_exclusive;   /* the metric has exclusive values: the same for all its nodes */
    bool lacks_exclusive; /* of stored metrics: there is none here, and it is 0 */
    bool is_whole;        /* the type is an integer, and the following are exact */
    as_whole whole_inclusive, whole_exclusive;
    /* The same as numbers: those beyond 64 bits are reals. Of a composite type: the number people see
     * (as_parts_shown()) */
    as_number inclusive, exclusive;
} as_node;

enum { AS_SUM_IS_NODE = 1, AS_SUM_HAS_OWN = 2 };

/* Of each context its numbers and flags, which is a fifth of what a node takes. */
typedef struct as_node_sums {
    as_vec inclusive, exclusive; /* double, or int64_t where is_whole */
    as_vec flags;                /* uint8_t: AS_SUM_…, and private ones */
    bool is_whole;
} as_node_sums;

/* The nodes of one metric in one run, with room that is kept from call to call. */
typedef struct as_node_list {
    as_vec nodes;      /* as_node, contexts ascending */
    uint32_t n_parts;  /* of a composite type, else 0 */
    as_vec parts;      /* double; of a composite type: for each node n_parts inclusive and n_parts exclusive ones */
    bool is_compact;   /* of as_nodes_find_compact(): there are no nodes, but sums */
    as_node_sums sums; /* where is_compact; else private */
} as_node_list;

/* The one value its nodes have is an exclusive one, or what is spent at the very place: people see it as such. */
static inline bool as_metric_is_only_exclusive(const as_metric *metric) {
    return metric->is_stored &&
           (metric->kind == AS_KIND_EXCLUSIVE || metric->kind == AS_KIND_LEXICAL || metric->kind == AS_KIND_POINT);
}

void as_node_list_init(as_node_list *list);
/* The same, and what it takes counts as the dataset's, which must live longer. */
void as_node_list_init_of(as_node_list *list, const as_dataset *ds);
void as_node_list_free(as_node_list *list);
/* Frees what is only of use to the next call; not where is_compact. */
void as_node_list_drop_room(as_node_list *list);
static inline size_t as_node_count(const as_node_list *list) { return list->nodes.count; }
static inline const as_node *as_node_at(const as_node_list *list, size_t i) { return &AS_AT(as_node, &list->nodes, i); }
/* The parts of node i, inclusive or exclusive; NULL unless the type is composite. */
const double *as_node_parts(const as_node_list *list, size_t i, bool exclusive);

/* The nodes of the subtree of `root` (ASSAY_NONE: of all contexts) with data of this run and metric into list. Metrics
 * of exclusive values have a node wherever the subtree has data, those of inclusive values where the context or a child
 * has (a missing row is zeros), others where the context has; stored ones where it has one of both. One pass over the
 * contexts. */
assay_status as_nodes_find(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_node_list *list,
                           assay_error *error);
/* The same of the values at some locations (one bool for each of the dataset; NULL: all). Those that are no place are
 * then left out. */
assay_status as_nodes_find_at(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error);
/* The nodes of all contexts. Where the metric has inclusive and exclusive values that are single numbers of 64 bits,
 * the list gets sums instead of nodes (is_compact): as_node_sums_node() makes the same nodes of them. */
assay_status as_nodes_find_compact(const as_dataset *ds, assay_id run, assay_id metric, const bool *locations,
                                   as_node_list *list, assay_error *error);
/* False where there is none. */
static inline bool as_node_sums_node(const as_node_sums *sums, assay_id context, as_node *out) {
    uint8_t flags = AS_AT(uint8_t, &sums->flags, context);
    if (!(flags & AS_SUM_IS_NODE)) return false;
    *out = (as_node){
        .context = context, .has_own = flags & AS_SUM_HAS_OWN, .has_exclusive = true, .is_whole = sums->is_whole};
    if (sums->is_whole) {
        out->whole_inclusive = AS_AT(int64_t, &sums->inclusive, context);
        out->whole_exclusive = AS_AT(int64_t, &sums->exclusive, context);
        out->inclusive = as_whole_number(out->whole_inclusive);
        out->exclusive = as_whole_number(out->whole_exclusive);
    } else {
        out->inclusive = (as_number){.kind = AS_REAL, .r = AS_AT(double, &sums->inclusive, context)};
        out->exclusive = (as_number){.kind = AS_REAL, .r = AS_AT(double, &sums->exclusive, context)};
    }
    return true;
}

/* Stored values of all contexts without a list, which of a large tree takes five times as much room: of each context
 * the sums over locations. */
typedef struct as_stored_sums {
    as_vec inclusive, exclusive;         /* double; exclusive is empty where the metric has no values of both kinds */
    as_vec has_inclusive, has_exclusive; /* bool: whether there is a value */
} as_stored_sums;

/* The sums of a stored metric whose values are sparse, those of as_nodes_find_at() to the last bit. only_inclusive:
 * without those of its `exclusive` metric, which is one by itself. *is_done: else it is no such metric.
 * as_stored_sums_free() in every case. */
assay_status as_stored_sums_find(const as_dataset *ds, assay_id run, assay_id metric, const bool *locations,
                                 bool only_inclusive, as_stored_sums *out, bool *is_done, assay_error *error);
void as_stored_sums_free(as_stored_sums *sums);
/* The node of a context as a list would have it; false where there is none. */
static inline bool as_stored_sums_node(const as_stored_sums *sums, assay_id context, as_node *out) {
    bool is_pair = sums->exclusive.count > 0, has = AS_AT(bool, &sums->has_inclusive, context),
         has_exclusive = is_pair && AS_AT(bool, &sums->has_exclusive, context);
    if (!has && !has_exclusive) return false;
    double own = AS_AT(double, &sums->inclusive, context);
    *out = (as_node){.context = context,
                     .has_own = has,
                     .has_exclusive = is_pair,
                     .lacks_exclusive = is_pair && !has_exclusive,
                     .inclusive = {.kind = AS_REAL, .r = own},
                     .exclusive = {.kind = AS_REAL, .r = is_pair ? AS_AT(double, &sums->exclusive, context) : own}};
    return true;
}

/* The node of one context, or none: of stored metrics without looking at its subtree. locations: as those of
 * as_nodes_find_at(). */
assay_status as_nodes_find_one(const as_dataset *ds, assay_id run, assay_id metric, assay_id context,
                               const bool *locations, as_node_list *list, assay_error *error);

#endif
