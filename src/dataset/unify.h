/* One set of tables for several datasets (the parts), and where the ids of each of them go.
 *
 * The dataset to fill is new and empty. Whatever several parts have comes from the first of them. Ids that files give
 * (source_id) are left out, but for the first part's locations: those of two files say nothing about each other.
 * Everything is O(n) but for sorting brothers and sisters, and nothing goes down a tree by recursion. */
#ifndef AS_DATASET_UNIFY_H
#define AS_DATASET_UNIFY_H

#include "dataset/build.h"
#include "dataset/pairing.h"

/* Which contexts below a pair are a pair: those equal in name, file, lines, call site and parameters; then, unless
 * AS_MATCH_EXACT, of what is left over on both sides those of one name, in their order. Of processes and threads
 * (as_region_is_place()) that are left over the first goes with the first, and so on. */
typedef enum as_matching { AS_MATCH_NAME, AS_MATCH_EXACT } as_matching;

/* The ids of one part in the united dataset, of malloc; ASSAY_NONE: nowhere. */
typedef struct as_id_map {
    assay_id *points, *metrics, *regions, *contexts, *locations;
} as_id_map;

typedef struct as_union {
    as_dataset *ds;
    const as_dataset *const *parts;
    size_t n;
    as_id_map *maps; /* one for each part */
    /* For each metric, region, context and location of ds the number of the part it comes from: uint32_t */
    as_vec metric_origins, region_origins, context_origins, location_origins;
    const as_dataset *carried_from; /* private: the part whose strings were carried over last … */
    as_str *carried;                /* … and those of ds they are; AS_NO_STR: not yet */
} as_union;

/* All give false when memory is out. parts and ds stay the caller's and must live as long as the union. as_union_free()
 * in every case. */
bool as_union_init(as_union *u, as_dataset *ds, const as_dataset *const *parts, size_t n);
void as_union_free(as_union *u);

/* Metrics of one name are one, wherever they hang; order and parents are those of the first part that has them, the
 * unit is that of the first that says one. Stored ones (as_metric.is_stored) only with those of the same kind, and
 * pairs stay pairs. */
bool as_unite_metrics(as_union *u);
/* Takes out the metrics for which drop[id] is set; their children hang on what is above them. Before
 * as_unite_attributes(). */
bool as_union_drop_metrics(as_union *u, const bool *drop);

/* Leaves of one process (name and rank of what is above them) and one rank (one name, where they have id tuples) are
 * one, whatever lies above the process. Where they have no ranks, those of one name below one parent are one, and of
 * what is left over those of one kind in their order. Inner locations get the lower ids, parents before children; then
 * come the leaves in the order of the first part, those that others bring behind the last one of their process. */
bool as_unite_locations(as_union *u);

/* Contexts from the roots down, with their regions: all of the first part, and what contexts of others need. Those
 * without a place in the tree meet nobody. */
bool as_unite_contexts(as_union *u, as_matching matching);
/* Only the pairs of two parts, in a small part of the room and time: contexts[] of the second part's map are those of
 * the first one, ASSAY_NONE where it has no mate. ds gets strings alone. */
bool as_pair_contexts(as_union *u, as_matching matching);
/* Only the regions, of the only part: for who makes contexts another way. */
bool as_copy_regions(as_union *u);

/* Parameters and points, in ascending order of coordinates. All parts have the same parameters
 * (as_same_parameters()). */
bool as_same_parameters(const as_dataset *const *parts, size_t n);
bool as_unite_points(as_union *u);
/* Takes out the points for which drop[id] is set. False when memory is out. */
bool as_union_drop_points(as_union *u, const bool *drop);

/* Formulas of derived metrics, from the part that each comes from. After as_union_drop_metrics(). */
bool as_unite_formulas(as_union *u);

/* Whether an attribute is a number that a file gives, like a source_id: those of two files say nothing about each
 * other. */
bool as_is_file_number(const char *key);

/* Attributes: of metrics, regions, contexts and locations where they come from (of several parts without such numbers);
 * of the dataset those that all parts have alike. Problems of all parts. */
bool as_unite_attributes(as_union *u);

#endif
