/* Locations of several datasets as one system tree. */
#include <stdlib.h>

#include "dataset/unify.h"

/* The tree while it grows: ids are those of arrival until finish(). */
typedef struct system_tree {
    as_union *u;
    as_vec locations; /* as_location */
    as_vec origins;   /* uint32_t */
    as_map ranks;     /* rank -> number */
    as_map labels;    /* (kind, name) -> number */
    as_pairing processes, others, leaves;
    as_pairing by_label, by_kind; /* those without ranks, by what is above them */
    as_vec met_by;                /* uint32_t: the last part that has it, from 1 */
    as_vec stack;                 /* assay_id of the part */
    bool are_tuples;              /* leaves of the part are known by their names: ranks are those of their processes */
} system_tree;

static void init(system_tree *tree, as_union *u) {
    as_budget *budget = &u->ds->budget;
    tree->u = u;
    as_vec_init(&tree->locations, sizeof(as_location), budget);
    as_vec_init(&tree->origins, sizeof(uint32_t), budget);
    as_vec_init(&tree->stack, sizeof(assay_id), budget);
    as_map_init(&tree->ranks, budget);
    as_map_init(&tree->labels, budget);
    as_pairing_init(&tree->processes, budget);
    as_pairing_init(&tree->others, budget);
    as_pairing_init(&tree->leaves, budget);
    as_pairing_init(&tree->by_label, budget);
    as_pairing_init(&tree->by_kind, budget);
    as_vec_init(&tree->met_by, sizeof(uint32_t), budget);
}

static void release(system_tree *tree) {
    as_vec_free(&tree->locations);
    as_vec_free(&tree->origins);
    as_vec_free(&tree->stack);
    as_map_free(&tree->ranks);
    as_map_free(&tree->labels);
    as_pairing_free(&tree->processes);
    as_pairing_free(&tree->others);
    as_pairing_free(&tree->leaves);
    as_pairing_free(&tree->by_label);
    as_pairing_free(&tree->by_kind);
    as_vec_free(&tree->met_by);
}

/* A location of part k with its texts in the united dataset; parent: its id there. */
static bool carry(system_tree *tree, size_t k, assay_id id, assay_id parent, as_location *out) {
    const as_dataset *part = tree->u->parts[k];
    bool fine = true;
    *out = *as_ds_location(part, id);
    /* What the first part says about places (topologies) names them by these */
    out->source_id = k == 0 ? as_ds_carry(tree->u->ds, part, out->source_id, &fine) : AS_NO_STR;
    out->kind = as_ds_carry(tree->u->ds, part, out->kind, &fine);
    out->name = as_ds_carry(tree->u->ds, part, out->name, &fine);
    out->parent = parent;
    return fine;
}

/* A new one. pairing NULL: it has no rank. */
static assay_id add(system_tree *tree, size_t k, const as_location *location, as_pairing *pairing, uint64_t key) {
    uint32_t origin = (uint32_t)k, met_by = origin + 1;
    assay_id id = (assay_id)tree->locations.count;
    bool fine = tree->locations.count < ASSAY_NONE && as_vec_append(&tree->locations, location, 1) &&
                as_vec_append(&tree->origins, &origin, 1) && as_vec_append(&tree->met_by, &met_by, 1);
    if (pairing) return fine && as_pairing_add(pairing, key, id) ? id : ASSAY_NONE;
    fine = fine && as_pairing_add(&tree->by_label, key, id) &&
           as_pairing_add(&tree->by_kind, as_pair(location->parent + 1, location->kind), id);
    return fine ? id : ASSAY_NONE;
}

/* ---- places without ranks ---------------------------------------------------------------------------------------- */

/* Threads, streams and what has them, where the source gives them no ranks: those of one name belong together, and of
 * what is left over, because names have numbers of one execution in them, those of one kind in their order. */
static bool is_unranked(const system_tree *tree, const as_location *location) {
    return location->rank < 0 && !tree->are_tuples;
}

/* The one that a location of the part meets below parent, ASSAY_NONE: none. */
static assay_id meet_unranked(system_tree *tree, size_t k, const as_location *location, assay_id parent, bool by_label,
                              bool *fine) {
    const as_dataset *part = tree->u->parts[k];
    as_str kind = as_ds_carry(tree->u->ds, part, location->kind, fine),
           name = as_ds_carry(tree->u->ds, part, location->name, fine);
    uint32_t label = as_number_key(&tree->labels, as_pair(kind, name));
    uint64_t key = as_pair(parent + 1, by_label ? label : kind);
    assay_id id;
    *fine = *fine && label != AS_MAP_NONE;
    do id = as_pairing_take(by_label ? &tree->by_label : &tree->by_kind, key);
    while (id != AS_MAP_NONE && AS_AT(uint32_t, &tree->met_by, id) == k + 1);
    if (id != AS_MAP_NONE) AS_AT(uint32_t, &tree->met_by, id) = (uint32_t)k + 1;
    return id;
}

/* Of all that have leaves, or of all leaves, whose parents have their places already. */
static bool meet_all_unranked(system_tree *tree, size_t k, const bool *is_process, bool leaves) {
    const as_dataset *part = tree->u->parts[k];
    assay_id *map = tree->u->maps[k].locations;
    bool fine = true;
    for (int pass = 0; pass < 2; pass++) {
        for (assay_id i = 0; fine && i < part->locations.count; i++) {
            const as_location *location = as_ds_location(part, i);
            bool is_one = leaves ? location->leaf : is_process[i] && location->parent == ASSAY_NONE;
            if (!is_one || map[i] != ASSAY_NONE || !is_unranked(tree, location)) continue;
            assay_id parent = location->parent == ASSAY_NONE ? ASSAY_NONE : map[location->parent];
            map[i] = meet_unranked(tree, k, location, parent, pass == 0, &fine);
        }
    }
    return fine;
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

/* The one that this location of part k meets, or a new one. is_process: it has leaves. `parent` is looked at only where
 * the parent decides (or the location is new). */
static assay_id place(system_tree *tree, size_t k, assay_id id, assay_id parent, bool is_process) {
    as_location location;
    if (!carry(tree, k, id, parent, &location)) return ASSAY_NONE;
    uint32_t rank = as_number_key(&tree->ranks, (uint64_t)location.rank),
             label = as_number_key(&tree->labels, as_pair(location.kind, location.name));
    if (rank == AS_MAP_NONE || label == AS_MAP_NONE) return ASSAY_NONE;
    if (is_unranked(tree, &location) && (location.leaf || (is_process && parent == ASSAY_NONE)))
        return add(tree, k, &location, NULL, as_pair(parent + 1, label));
    as_pairing *pairing = location.leaf ? &tree->leaves : is_process ? &tree->processes : &tree->others;
    uint64_t key = location.leaf ? as_pair(parent + 1, tree->are_tuples ? label : rank)
                   : is_process  ? as_pair(location.name, rank)
                                 : as_pair(parent + 1, label);
    assay_id known = as_pairing_take(pairing, key);
    return known != AS_MAP_NONE ? known : add(tree, k, &location, pairing, key);
}

/* A process that the tree has already, whatever is above it; else ASSAY_NONE. */
static assay_id find_process(system_tree *tree, size_t k, assay_id id) {
    const as_location *location = as_ds_location(tree->u->parts[k], id);
    bool fine = true;
    as_str name = as_ds_carry(tree->u->ds, tree->u->parts[k], location->name, &fine);
    uint32_t rank = as_map_get(&tree->ranks, (uint64_t)location->rank);
    return rank == AS_MAP_NONE ? ASSAY_NONE : as_pairing_take(&tree->processes, as_pair(name, rank));
}

/* Puts an inner location and what is above it into the tree. */
static bool place_inner(system_tree *tree, size_t k, assay_id id, const bool *is_process) {
    const as_dataset *part = tree->u->parts[k];
    assay_id *map = tree->u->maps[k].locations;
    tree->stack.count = 0;
    while (id != ASSAY_NONE && map[id] == ASSAY_NONE) {
        if (is_process[id]) map[id] = find_process(tree, k, id);
        if (map[id] != ASSAY_NONE) break;
        if (!as_vec_append(&tree->stack, &id, 1)) return false;
        id = as_ds_location(part, id)->parent;
    }
    while (tree->stack.count > 0) {
        id = AS_AT(assay_id, &tree->stack, --tree->stack.count);
        assay_id parent = as_ds_location(part, id)->parent;
        map[id] = place(tree, k, id, parent == ASSAY_NONE ? ASSAY_NONE : map[parent], is_process[id]);
        if (map[id] == ASSAY_NONE) return false;
    }
    return true;
}

static bool unite_part(system_tree *tree, size_t k) {
    const as_dataset *part = tree->u->parts[k];
    size_t n = part->locations.count;
    assay_id *map = tree->u->maps[k].locations = malloc((n + 1) * sizeof *map);
    bool *is_process = calloc(n + 1, sizeof *is_process);
    bool fine = map && is_process;
    for (size_t i = 0; fine && i < n; i++) {
        const as_location *location = as_ds_location(part, (assay_id)i);
        map[i] = ASSAY_NONE;
        if (location->leaf && location->parent != ASSAY_NONE) is_process[location->parent] = true;
    }
    tree->are_tuples = as_find(&part->strings, "id_tuple", strlen("id_tuple")) != AS_NO_STR;
    as_pairing_begin(&tree->processes);
    as_pairing_begin(&tree->others);
    as_pairing_begin(&tree->leaves);
    as_pairing_begin(&tree->by_label);
    as_pairing_begin(&tree->by_kind);
    fine = fine && meet_all_unranked(tree, k, is_process, false);
    for (assay_id i = 0; fine && i < n; i++) { /* of the first part also inner ones without leaves */
        const as_location *location = as_ds_location(part, i);
        if (!location->leaf && (k == 0 || is_process[i])) fine = place_inner(tree, k, i, is_process);
    }
    fine = fine && meet_all_unranked(tree, k, is_process, true);
    for (assay_id i = 0; fine && i < n; i++) {
        const as_location *location = as_ds_location(part, i);
        if (!location->leaf || map[i] != ASSAY_NONE) continue;
        assay_id parent = location->parent == ASSAY_NONE ? ASSAY_NONE : map[location->parent];
        map[i] = place(tree, k, i, parent, false);
        fine = map[i] != ASSAY_NONE;
    }
    free(is_process);
    return fine;
}

/* The leaves that later parts brought to a process (0: those without one; p + 1: those of p), as lists. */
typedef struct newcomers {
    assay_id *first, *last, *next;
    uint32_t *waiting; /* leaves of the first part that must come before them */
} newcomers;

static bool list_newcomers(const system_tree *tree, newcomers *new) {
    size_t n = tree->locations.count;
    const as_location *locations = tree->locations.data;
    new->first = malloc((n + 2) * sizeof(assay_id));
    new->last = malloc((n + 2) * sizeof(assay_id));
    new->next = malloc((n + 2) * sizeof(assay_id));
    new->waiting = calloc(n + 2, sizeof *new->waiting);
    if (!new->first || !new->last || !new->next || !new->waiting) return false;
    for (size_t i = 0; i < n + 2; i++) new->first[i] = ASSAY_NONE;
    for (assay_id i = 0; i < n; i++) {
        assay_id process = locations[i].parent + 1;
        if (!locations[i].leaf) continue;
        if (AS_AT(uint32_t, &tree->origins, i) == 0) {
            new->waiting[process]++;
            continue;
        }
        new->next[i] = ASSAY_NONE;
        if (new->first[process] == ASSAY_NONE)
            new->first[process] = i;
        else
            new->next[new->last[process]] = i;
        new->last[process] = i;
    }
    return true;
}

static void number_newcomers(newcomers *new, assay_id process, assay_id *new_ids, assay_id *number) {
    for (assay_id id = new->first[process]; id != ASSAY_NONE; id = new->next[id]) new_ids[id] = (*number)++;
    new->first[process] = ASSAY_NONE;
}

/* Final ids: inner ones first; then the leaves in the order of the first part, those that others brought behind the
 * last one of their process. */
static bool number_all(const system_tree *tree, assay_id *new_ids) {
    const as_location *locations = tree->locations.data;
    size_t n = tree->locations.count;
    newcomers new = {0};
    bool fine = list_newcomers(tree, &new);
    assay_id number = 0;
    for (assay_id i = 0; i < n && fine; i++)
        if (!locations[i].leaf) new_ids[i] = number++;
    for (assay_id i = 0; i < n && fine; i++) {
        assay_id process = locations[i].parent + 1;
        if (!locations[i].leaf) continue;
        if (AS_AT(uint32_t, &tree->origins, i) == 0) {
            new_ids[i] = number++;
            new.waiting[process]--;
        }
        if (new.waiting[process] == 0) number_newcomers(&new, process, new_ids, &number);
    }
    free(new.first);
    free(new.last);
    free(new.next);
    free(new.waiting);
    return fine;
}

static bool finish(system_tree *tree) {
    as_union *u = tree->u;
    size_t n = tree->locations.count;
    assay_id *new_ids = calloc(n + 1, sizeof *new_ids);
    bool fine = new_ids && number_all(tree, new_ids) && as_vec_reserve(&u->ds->locations, n) &&
                as_vec_reserve(&u->location_origins, n);
    for (size_t i = 0; fine && i < n; i++) {
        as_location location = AS_AT(as_location, &tree->locations, i);
        if (location.parent != ASSAY_NONE) location.parent = new_ids[location.parent];
        AS_AT(as_location, &u->ds->locations, new_ids[i]) = location;
        AS_AT(uint32_t, &u->location_origins, new_ids[i]) = AS_AT(uint32_t, &tree->origins, i);
    }
    if (fine) u->ds->locations.count = u->location_origins.count = n;
    for (size_t k = 0; fine && k < u->n; k++) {
        assay_id *map = u->maps[k].locations;
        for (size_t i = 0; i < u->parts[k]->locations.count; i++)
            if (map[i] != ASSAY_NONE) map[i] = new_ids[map[i]];
    }
    free(new_ids);
    return fine;
}

bool as_unite_locations(as_union *u) {
    system_tree tree;
    init(&tree, u);
    bool fine = true;
    for (size_t k = 0; k < u->n && fine; k++) fine = unite_part(&tree, k);
    fine = fine && finish(&tree);
    release(&tree);
    return fine;
}
