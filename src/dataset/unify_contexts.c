/* Regions and call trees of several datasets as one: pairs are found from the roots down. */
#include <stdlib.h>

#include "dataset/unify.h"

/* Keys of what contexts and regions are compared by, each a number; equal numbers are equal things. */
typedef struct identities {
    as_map lines, spans, bodies, kinds, names, sites, wholes;
    as_arena arena;
    as_strings parameters; /* "key\0value\0…" of a context */
} identities;

/* A context of the united tree beside what as_tree knows of it. Children are a list in order of arrival. */
struct knot {
    uint32_t identity;
    assay_id first_child, last_child, next;
    uint32_t met_by; /* the last part that has it, from 1 */
};

typedef struct joiner {
    as_union *u;
    as_matching matching;
    identities ids;
    as_pairing regions; /* of the united dataset, by name, file, lines and kind */
    as_tree tree;
    as_vec knots; /* struct knot, one for each node of the tree */
    assay_id first_root, last_root;
    const as_dataset *base;  /* as_pair_contexts(): the first part stands for the tree, and there are no knots */
    uint32_t *base_identity; /* of each of its contexts */
    as_str *base_names;
    bool *is_met;        /* by the second part */
    uint32_t *identity;  /* of each context of the part at hand */
    as_str *names;       /* likewise, in the united dataset */
    as_vec mine, theirs; /* assay_id: children of the pair at hand, in the tree and in the part */
    as_vec left, right;  /* uint64_t: key and index into those */
} joiner;

/* ---- what regions and contexts are compared by ------------------------------------------------------------------- */

static void init_identities(identities *ids, as_budget *budget) {
    as_map *maps[] = {&ids->lines, &ids->spans, &ids->bodies, &ids->kinds, &ids->names, &ids->sites, &ids->wholes};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_init(maps[i], budget);
    as_arena_init(&ids->arena, budget);
    as_strings_init(&ids->parameters, &ids->arena);
}

static void free_identities(identities *ids) {
    as_map *maps[] = {&ids->lines, &ids->spans, &ids->bodies, &ids->kinds, &ids->names, &ids->sites, &ids->wholes};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) as_map_free(maps[i]);
    as_strings_free(&ids->parameters);
    as_arena_free(&ids->arena);
}

/* The number of a pair of numbers; AS_MAP_NONE (one of the two may be that) when memory is out. */
static uint32_t pair_number(as_map *map, uint32_t a, uint32_t b, bool *fine) {
    uint32_t number = as_number_key(map, as_pair(a, b));
    *fine = *fine && number != AS_MAP_NONE;
    return number;
}

static uint32_t line_number(identities *ids, int64_t line, bool *fine) {
    uint32_t number = as_number_key(&ids->lines, (uint64_t)line);
    *fine = *fine && number != AS_MAP_NONE;
    return number;
}

/* File (the module, where nobody knows the file), first and last line. */
static uint32_t body_number(identities *ids, as_str file, int64_t begin, int64_t end, bool *fine) {
    uint32_t span = pair_number(&ids->spans, line_number(ids, begin, fine), line_number(ids, end, fine), fine);
    return pair_number(&ids->bodies, file, span, fine);
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

/* As as_ds_carry(); each string of the part at hand is looked up once, however many regions and contexts have it. */
static as_str carry(as_union *u, const as_dataset *part, as_str text, bool *fine) {
    if (text == AS_NO_STR) return AS_NO_STR;
    if (u->carried_from != part) {
        size_t n = part->strings.entries.count;
        free(u->carried);
        u->carried = malloc((n + 1) * sizeof *u->carried);
        u->carried_from = u->carried ? part : NULL;
        for (size_t i = 0; u->carried && i < n; i++) u->carried[i] = AS_NO_STR;
        *fine = *fine && u->carried;
    }
    if (!u->carried) return AS_NO_STR;
    if (u->carried[text] == AS_NO_STR) u->carried[text] = as_ds_carry(u->ds, part, text, fine);
    return u->carried[text];
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static as_str file_of(joiner *j, const as_dataset *part, const as_region *region, bool *fine) {
    return carry(j->u, part, region->file == AS_NO_STR ? region->module : region->file, fine);
}

/* A section is no region, though it may have the name of one. */
static uint32_t region_body(joiner *j, const as_dataset *part, const as_region *region, bool *fine) {
    const char *kind = as_ds_text(part, region->kind);
    int64_t end = kind && strcmp(kind, "section") == 0 ? INT64_MIN : region->line_end;
    return body_number(&j->ids, file_of(j, part, region, fine), region->line_begin, end, fine);
}

static assay_id add_region(as_union *u, size_t k, assay_id id) {
    const as_dataset *part = u->parts[k];
    uint32_t origin = (uint32_t)k;
    bool fine = true;
    as_region region = *as_ds_region(part, id);
    region.source_id = AS_NO_STR;
    region.name = carry(u, part, region.name, &fine);
    region.mangled = carry(u, part, region.mangled, &fine);
    region.kind = carry(u, part, region.kind, &fine);
    region.file = carry(u, part, region.file, &fine);
    region.module = carry(u, part, region.module, &fine);
    return fine && as_vec_append(&u->region_origins, &origin, 1) ? as_add_region(u->ds, &region) : ASSAY_NONE;
}

bool as_copy_regions(as_union *u) {
    size_t n = u->parts[0]->regions.count;
    assay_id *map = u->maps[0].regions = malloc((n + 1) * sizeof *map);
    for (assay_id i = 0; map && i < n; i++) {
        map[i] = add_region(u, 0, i);
        if (map[i] == ASSAY_NONE) return false;
    }
    return map != NULL;
}

/* A kernel is not the function that has its name. */
static uint64_t region_key(joiner *j, const as_dataset *part, const as_region *region, bool *fine) {
    as_str name = carry(j->u, part, region->name, fine), kind = carry(j->u, part, region->kind, fine);
    return as_pair(name, pair_number(&j->ids.kinds, region_body(j, part, region, fine), kind, fine));
}

/* Those of the first part are all there; those of others are made when a context needs them. */
static bool meet_regions(joiner *j, size_t k) {
    const as_dataset *part = j->u->parts[k];
    bool fine = true;
    as_pairing_begin(&j->regions);
    if (k == 0 && !as_copy_regions(j->u)) return false;
    assay_id *map = k == 0 ? j->u->maps[0].regions : malloc((part->regions.count + 1) * sizeof *map);
    j->u->maps[k].regions = map;
    for (assay_id i = 0; map && fine && i < part->regions.count; i++) {
        uint64_t key = region_key(j, part, as_ds_region(part, i), &fine);
        if (k == 0)
            fine = fine && as_pairing_add(&j->regions, key, map[i]);
        else
            map[i] = as_pairing_take(&j->regions, key);
    }
    return map && fine;
}

static assay_id region_of(joiner *j, size_t k, assay_id region, bool *fine) {
    if (region == ASSAY_NONE) return ASSAY_NONE;
    const as_dataset *part = j->u->parts[k];
    assay_id *id = &j->u->maps[k].regions[region];
    if (*id != ASSAY_NONE) return *id;
    *id = add_region(j->u, k, region);
    *fine = *fine && *id != ASSAY_NONE &&
            as_pairing_add(&j->regions, region_key(j, part, as_ds_region(part, region), fine), *id);
    return *id;
}

/* ---- contexts of one part ---------------------------------------------------------------------------------------- */

static bool add_text(as_vec *out, as_cell cell) {
    char buffer[AS_NUMBER_SIZE];
    size_t size = 0;
    switch (cell.type) {
    case AS_CELL_TEXT:
    case AS_CELL_JSON: return as_vec_append(out, cell.text, cell.size) && as_vec_append(out, "", 1);
    case AS_CELL_INT: size = as_int_format(cell.i, buffer); break;
    case AS_CELL_UINT: size = as_uint_format(cell.u, buffer); break;
    case AS_CELL_REAL: size = as_real_format(cell.r, buffer); break;
    case AS_CELL_NULL: break;
    }
    return as_vec_append(out, buffer, size) && as_vec_append(out, "", 1);
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Tags tell something about a context; they are no part of what it is. */
static bool is_tag(const char *key) { return key && strncmp(key, "tag:", 4) == 0; }

/* The parameters of each context as a text's id, AS_NO_STR for none, into j->identity. */
static bool find_parameters(joiner *j, const as_dataset *part) {
    as_vec text, owners;
    as_vec_init(&text, 1, NULL);
    as_vec_init(&owners, sizeof(uint64_t), NULL);
    bool fine = true;
    for (size_t i = 0; i < part->contexts.count; i++) j->identity[i] = AS_NO_STR;
    for (size_t i = 0; i < part->attributes.count && fine; i++) {
        const as_attribute *attribute = as_ds_attribute(part, i);
        uint64_t owner = as_pair(attribute->owner_id, (uint32_t)i);
        const char *key = as_ds_text(part, attribute->key);
        if (attribute->owner == AS_OWNER_CONTEXT && !as_is_file_number(key) && !is_tag(key))
            fine = as_vec_append(&owners, &owner, 1);
    }
    if (owners.count) qsort(owners.data, owners.count, sizeof(uint64_t), compare_keys);
    for (size_t i = 0; i < owners.count && fine;) {
        assay_id context = (assay_id)(AS_AT(uint64_t, &owners, i) >> 32);
        text.count = 0;
        for (; i < owners.count && AS_AT(uint64_t, &owners, i) >> 32 == context && fine; i++) {
            const as_attribute *attribute = as_ds_attribute(part, (uint32_t)AS_AT(uint64_t, &owners, i));
            fine = add_text(&text, as_cell_text(as_ds_text(part, attribute->key))) && add_text(&text, attribute->value);
        }
        j->identity[context] = fine ? as_intern(&j->ids.parameters, text.data, text.count) : AS_NO_STR;
        fine = fine && j->identity[context] != AS_NO_STR;
    }
    as_vec_free(&text);
    as_vec_free(&owners);
    return fine;
}

/* What contexts of one region have in common. Most contexts have its name, no call site and no parameters: they are
 * found without a look into any table. */
struct region_key {
    as_str name;    /* in the united dataset */
    uint32_t body;  /* file and lines */
    uint32_t plain; /* the identity of such a context; AS_MAP_NONE: none came yet */
};

static struct region_key *list_regions(joiner *j, const as_dataset *part, bool *fine) {
    size_t n = part->regions.count;
    struct region_key *keys = malloc((n + 1) * sizeof *keys);
    *fine = *fine && keys;
    for (size_t i = 0; i < n && *fine; i++) {
        const as_region *region = as_ds_region(part, (assay_id)i);
        keys[i] = (struct region_key){.name = carry(j->u, part, region->name, fine),
                                      .body = region_body(j, part, region, fine),
                                      .plain = AS_MAP_NONE};
    }
    return keys;
}

/* Everything that two contexts must have in common, as one number for each context of the part. */
static bool find_identities(joiner *j, const as_dataset *part) {
    size_t n = part->contexts.count;
    j->identity = malloc((n + 1) * sizeof *j->identity);
    j->names = malloc((n + 1) * sizeof *j->names);
    bool fine = j->identity && j->names && find_parameters(j, part);
    struct region_key *keys = list_regions(j, part, &fine);
    uint32_t nowhere = body_number(&j->ids, AS_NO_STR, -1, -1, &fine);
    for (size_t i = 0; i < n && fine; i++) {
        const as_context *context = as_ds_context(part, (assay_id)i);
        struct region_key *key = context->region == ASSAY_NONE ? NULL : &keys[context->region];
        bool is_named = key && context->name == as_ds_region(part, context->region)->name;
        bool is_plain = is_named && context->line == -1 && j->identity[i] == AS_NO_STR;
        j->names[i] = is_named ? key->name : carry(j->u, part, context->name, &fine);
        if (is_plain && key->plain != AS_MAP_NONE) {
            j->identity[i] = key->plain;
            continue;
        }
        uint32_t what = pair_number(&j->ids.names, j->names[i], key ? key->body : nowhere, &fine);
        uint32_t site = pair_number(&j->ids.sites, line_number(&j->ids, context->line, &fine), j->identity[i], &fine);
        j->identity[i] = pair_number(&j->ids.wholes, what, site, &fine);
        if (is_plain) key->plain = j->identity[i];
    }
    free(keys);
    return fine;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static struct knot *knot_of(joiner *j, assay_id id) { return &AS_AT(struct knot, &j->knots, id); }

/* A context of part k that nobody met, below parent. */
static assay_id add_context(joiner *j, size_t k, assay_id id, assay_id parent) {
    const as_dataset *part = j->u->parts[k];
    const as_context *from = as_ds_context(part, id);
    uint32_t origin = (uint32_t)k;
    bool fine = true;
    as_context context = AS_CONTEXT_INIT;
    context.name = j->names[id];
    context.region = region_of(j, k, from->region, &fine);
    context.parent = parent;
    context.line = from->line;
    context.role = from->role;
    context.is_inlined = from->is_inlined;
    context.is_aside = from->is_aside;
    struct knot knot = {.identity = j->identity[id], .met_by = origin + 1};
    knot.first_child = knot.last_child = knot.next = ASSAY_NONE;
    assay_id new = fine ? as_tree_add(&j->tree, &context) : ASSAY_NONE;
    if (new == ASSAY_NONE || !as_vec_append(&j->knots, &knot, 1) || !as_vec_append(&j->u->context_origins, &origin, 1))
        return ASSAY_NONE;
    assay_id *first = parent == ASSAY_NONE ? &j->first_root : &knot_of(j, parent)->first_child;
    assay_id *last = parent == ASSAY_NONE ? &j->last_root : &knot_of(j, parent)->last_child;
    if (*last == ASSAY_NONE)
        *first = new;
    else
        knot_of(j, *last)->next = new;
    *last = new;
    return new;
}

/* The children of a context of a dataset (ASSAY_NONE: the roots). */
static bool list_below(const as_dataset *ds, assay_id parent, as_vec *out) {
    assay_id id = parent == ASSAY_NONE ? 0 : parent + 1;
    size_t end = parent == ASSAY_NONE ? ds->contexts.count : parent + as_ds_context(ds, parent)->subtree;
    for (; id < end; id += as_ds_context(ds, id)->subtree) {
        if (!as_vec_append(out, &id, 1)) return false;
    }
    return true;
}

/* The children of a pair (ASSAY_NONE: the roots) into mine and theirs. */
static bool list_children(joiner *j, size_t k, assay_id in_tree, assay_id in_part) {
    j->mine.count = j->theirs.count = 0;
    if (!list_below(j->u->parts[k], in_part, &j->theirs)) return false;
    if (!j->theirs.count) return true;
    if (j->base) return list_below(j->base, in_tree, &j->mine);
    assay_id id = in_tree == ASSAY_NONE ? j->first_root : knot_of(j, in_tree)->first_child;
    for (; id != ASSAY_NONE; id = knot_of(j, id)->next) {
        if (!as_vec_append(&j->mine, &id, 1)) return false;
    }
    return true;
}

static bool is_placeless(const joiner *j, size_t k, assay_id id) {
    return as_ds_context(j->u->parts[k], id)->role == AS_ROLE_PLACELESS;
}

static void pair_up(joiner *j, size_t k, size_t mine, size_t theirs) {
    assay_id id = AS_AT(assay_id, &j->mine, mine);
    j->u->maps[k].contexts[AS_AT(assay_id, &j->theirs, theirs)] = id;
    if (j->base)
        j->is_met[id] = true;
    else
        knot_of(j, id)->met_by = (uint32_t)k + 1;
}

static uint32_t my_identity(joiner *j, assay_id id) {
    return j->base ? j->base_identity[id] : knot_of(j, id)->identity;
}

/* What contexts are compared by: everything, the name, or that they are places, whose names differ between
 * executions. */
typedef enum likeness { BY_ALL, BY_NAME, BY_PLACE } likeness;

/* The kind of place as a number; NO_KEY: it is none. */
#define NO_KEY UINT64_MAX
static uint64_t place_number(const as_dataset *ds, assay_id region) {
    return as_region_is_place(ds, region) ? (uint64_t)*as_ds_text(ds, as_ds_region(ds, region)->kind) : NO_KEY;
}

/* Of a node of the tree that has no mate in part k yet; NO_KEY: it meets nobody. */
static uint64_t my_key(joiner *j, size_t k, assay_id id, likeness by) {
    const as_context *node = j->base ? as_ds_context(j->base, id) : &AS_AT(as_context, &j->tree.nodes, id);
    bool is_met = j->base ? j->is_met[id] : knot_of(j, id)->met_by == k + 1;
    if (node->role == AS_ROLE_PLACELESS || is_met) return NO_KEY;
    if (by == BY_NAME) return j->base ? j->base_names[id] : node->name;
    return by == BY_ALL ? my_identity(j, id) : place_number(j->base ? j->base : j->u->ds, node->region);
}

static uint64_t their_key(joiner *j, size_t k, assay_id id, likeness by) {
    const as_dataset *part = j->u->parts[k];
    if (j->u->maps[k].contexts[id] != ASSAY_NONE || is_placeless(j, k, id)) return NO_KEY;
    return by == BY_ALL    ? j->identity[id]
           : by == BY_NAME ? j->names[id]
                           : place_number(part, as_ds_context(part, id)->region);
}

/* Pairs, in order, what is single on both sides from index `from` on and has the same key. */
static bool pair_equal(joiner *j, size_t k, size_t from, likeness by) {
    bool fine = true;
    j->left.count = j->right.count = 0;
    for (size_t i = from; i < j->mine.count && fine; i++) {
        uint64_t key = my_key(j, k, AS_AT(assay_id, &j->mine, i), by), place = key << 32 | i;
        if (key != NO_KEY) fine = as_vec_append(&j->left, &place, 1);
    }
    for (size_t i = from; i < j->theirs.count && fine; i++) {
        uint64_t key = their_key(j, k, AS_AT(assay_id, &j->theirs, i), by), place = key << 32 | i;
        if (key != NO_KEY) fine = as_vec_append(&j->right, &place, 1);
    }
    if (!fine || !j->left.count || !j->right.count) return fine;
    qsort(j->left.data, j->left.count, sizeof(uint64_t), compare_keys);
    qsort(j->right.data, j->right.count, sizeof(uint64_t), compare_keys);
    for (size_t a = 0, b = 0; a < j->left.count && b < j->right.count;) {
        uint64_t x = AS_AT(uint64_t, &j->left, a), y = AS_AT(uint64_t, &j->right, b);
        if (x >> 32 == y >> 32) pair_up(j, k, (uint32_t)x, (uint32_t)y);
        a += x >> 32 <= y >> 32;
        b += y >> 32 <= x >> 32;
    }
    return true;
}

/* Finds a mate for each child of a pair, or makes one (but for as_pair_contexts()). */
static bool join_children(joiner *j, size_t k, assay_id in_tree, assay_id in_part) {
    if (!list_children(j, k, in_tree, in_part)) return false;
    size_t same = 0; /* mostly both sides are alike */
    while (same < j->mine.count && same < j->theirs.count && !is_placeless(j, k, AS_AT(assay_id, &j->theirs, same)) &&
           my_identity(j, AS_AT(assay_id, &j->mine, same)) == j->identity[AS_AT(assay_id, &j->theirs, same)]) {
        pair_up(j, k, same, same);
        same++;
    }
    if (same < j->mine.count && same < j->theirs.count) {
        if (!pair_equal(j, k, same, BY_ALL)) return false;
        if (j->matching == AS_MATCH_NAME && !pair_equal(j, k, same, BY_NAME)) return false;
        if (!pair_equal(j, k, same, BY_PLACE)) return false;
    }
    for (size_t i = same; !j->base && i < j->theirs.count; i++) {
        assay_id id = AS_AT(assay_id, &j->theirs, i), *mate = &j->u->maps[k].contexts[id];
        if (*mate == ASSAY_NONE) *mate = add_context(j, k, id, in_tree);
        if (*mate == ASSAY_NONE) return false;
    }
    return true;
}

/* From the roots down. What stands below one without a mate has none either. */
static bool join_all(joiner *j, size_t k) {
    const as_dataset *part = j->u->parts[k];
    size_t n = part->contexts.count;
    assay_id *map = j->u->maps[k].contexts = malloc((n + 1) * sizeof *map);
    for (size_t i = 0; map && i < n; i++) map[i] = ASSAY_NONE;
    bool fine = map && join_children(j, k, ASSAY_NONE, ASSAY_NONE);
    for (assay_id i = 0; fine && i < n; i++) {
        if (as_ds_context(part, i)->subtree > 1 && map[i] != ASSAY_NONE) fine = join_children(j, k, map[i], i);
    }
    return fine;
}

static bool join_part(joiner *j, size_t k) {
    const as_dataset *part = j->u->parts[k];
    size_t n_callpaths = 0;
    assay_id *callpaths = NULL;
    bool fine = meet_regions(j, k) && find_identities(j, part) && join_all(j, k);
    const assay_id *map = j->u->maps[k].contexts;
    fine = fine && as_ds_callpaths(part, &callpaths, &n_callpaths);
    for (size_t i = 0; fine && i < n_callpaths; i++) as_tree_mark_callpath(&j->tree, map[callpaths[i]]);
    free(callpaths);
    free(j->identity);
    free(j->names);
    j->identity = j->names = NULL;
    return fine;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Contexts move into the dataset; everything that has their ids follows. */
static bool finish(joiner *j) {
    as_union *u = j->u;
    size_t n = j->tree.nodes.count;
    const assay_id *new_ids;
    uint32_t *origins = malloc((n + 1) * sizeof *origins);
    bool fine = origins && as_tree_finish(&j->tree, &new_ids);
    for (size_t i = 0; fine && i < n; i++) origins[new_ids[i]] = AS_AT(uint32_t, &u->context_origins, i);
    if (fine && n) memcpy(u->context_origins.data, origins, n * sizeof *origins);
    for (size_t k = 0; fine && k < u->n; k++) {
        for (size_t i = 0; i < u->parts[k]->contexts.count; i++)
            u->maps[k].contexts[i] = new_ids[u->maps[k].contexts[i]];
    }
    free(origins);
    return fine;
}

/* What tells contexts apart is not needed any more where all have their places. */
static void forget(joiner *j) {
    as_vec *vectors[] = {&j->knots, &j->mine, &j->theirs, &j->left, &j->right};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) as_vec_free(vectors[i]);
    as_pairing_free(&j->regions);
    free_identities(&j->ids);
}

static void init_joiner(joiner *j, as_union *u, as_matching matching) {
    as_budget *budget = &u->ds->budget;
    *j = (joiner){.u = u, .matching = matching, .first_root = ASSAY_NONE, .last_root = ASSAY_NONE};
    init_identities(&j->ids, budget);
    as_pairing_init(&j->regions, budget);
    as_tree_init(&j->tree, u->ds);
    as_vec_init(&j->knots, sizeof(struct knot), budget);
    as_vec_init(&j->mine, sizeof(assay_id), budget);
    as_vec_init(&j->theirs, sizeof(assay_id), budget);
    as_vec_init(&j->left, sizeof(uint64_t), budget);
    as_vec_init(&j->right, sizeof(uint64_t), budget);
}

bool as_unite_contexts(as_union *u, as_matching matching) {
    joiner j;
    size_t largest = 0;
    for (size_t k = 0; k < u->n; k++)
        if (u->parts[k]->contexts.count > largest) largest = u->parts[k]->contexts.count;
    init_joiner(&j, u, matching);
    as_vec_expect(&j.knots, largest); /* mostly the parts are alike */
    as_vec_expect(&j.tree.nodes, largest);
    as_vec_expect(&u->context_origins, largest);
    bool fine = true;
    for (size_t k = 0; k < u->n && fine; k++) fine = join_part(&j, k);
    forget(&j);
    fine = fine && finish(&j);
    as_tree_free(&j.tree);
    return fine;
}

/* In the united tree a context without a name has that of its region. */
static bool name_base(joiner *j) {
    bool fine = true;
    for (assay_id i = 0; fine && i < j->base->contexts.count; i++) {
        assay_id region = as_ds_context(j->base, i)->region;
        if (j->base_names[i] == AS_NO_STR && region != ASSAY_NONE)
            j->base_names[i] = carry(j->u, j->base, as_ds_region(j->base, region)->name, &fine);
    }
    return fine;
}

bool as_pair_contexts(as_union *u, as_matching matching) {
    joiner j;
    init_joiner(&j, u, matching);
    j.base = u->parts[0];
    j.is_met = calloc(j.base->contexts.count + 1, sizeof *j.is_met);
    bool fine = j.is_met && find_identities(&j, j.base);
    j.base_identity = j.identity;
    j.base_names = j.names;
    j.identity = j.names = NULL;
    fine = fine && name_base(&j) && find_identities(&j, u->parts[1]) && join_all(&j, 1);
    free(j.base_identity);
    free(j.base_names);
    free(j.identity);
    free(j.names);
    free(j.is_met);
    forget(&j);
    as_tree_free(&j.tree);
    return fine;
}
