/* Call trees by what their contexts are: GPU activities and who caused them, API calls and what they caused, NVTX
 * ranges over all threads. */
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/algebra/cutting.h"

/* What a context is; UNKNOWN: something that no view by kinds is about. */
typedef enum role { UNKNOWN, GPU, API, NVTX, LAUNCH, PART } role;

typedef struct regrouper {
    as_cutting c;
    as_regrouping by;
    as_tree tree;
    role *roles;       /* by context of the part */
    assay_id *api;     /* by context: the API call it is, or is below; ASSAY_NONE: none */
    assay_id *gpu;     /* the same of GPU activities */
    assay_id *regions; /* by region of the part: the one of the result that all of its name and kind share */
    assay_id *place;   /* by context: its place in the tree that is made; ASSAY_NONE: none */
    as_vec causes;     /* assay_id: contexts above the one at hand, the innermost first */
    assay_id no_range; /* the region "(no NVTX range)"; ASSAY_NONE: not needed yet */
} regrouper;

bool as_regrouping_of(const char *word, as_regrouping *out) {
    static const char *const words[] = {
        [AS_REGROUP_KERNEL] = "kernel", [AS_REGROUP_API] = "api", [AS_REGROUP_NVTX] = "nvtx"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *out = (as_regrouping)i;
        return true;
    }
    return false;
}

/* ---- what contexts are ------------------------------------------------------------------------------------------- */

static const struct {
    const char *kind;
    role role;
} kinds[] = {{"kernel", GPU}, {"memcpy", GPU}, {"memset", GPU},   {"graph", GPU}, {"api", API},
             {"nvtx", NVTX},  {"sync", PART},  {"overlap", PART}, {"wait", PART}, {"launch", LAUNCH}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static role role_of(const char *kind) {
    for (size_t i = 0; kind && i < N_KINDS; i++) {
        if (strcmp(kind, kinds[i].kind) == 0) return kinds[i].role;
    }
    return UNKNOWN;
}

bool as_region_is_gpu(const as_dataset *ds, assay_id region) {
    return region != ASSAY_NONE && role_of(as_ds_text(ds, as_ds_region(ds, region)->kind)) == GPU;
}

static const role roles_asked[] = {[AS_REGROUP_KERNEL] = GPU, [AS_REGROUP_API] = API, [AS_REGROUP_NVTX] = NVTX};

bool as_can_regroup(const as_dataset *ds, as_regrouping by) {
    for (size_t k = 0; k < N_KINDS; k++) {
        as_str kind =
            kinds[k].role == roles_asked[by] ? as_find(&ds->strings, kinds[k].kind, strlen(kinds[k].kind)) : AS_NO_STR;
        for (assay_id i = 0; kind != AS_NO_STR && i < AS_COUNT(ds, regions); i++) {
            if (as_ds_region(ds, i)->kind == kind) return true;
        }
    }
    return false;
}

/* Roles, and what each context is below. A parent comes before its children. */
static bool find_roles(regrouper *r, size_t n_of[PART + 1]) {
    const as_dataset *part = r->c.part;
    size_t n = part->contexts.count, n_regions = part->regions.count;
    role *of_region = malloc((n_regions + 1) * sizeof *of_region);
    r->roles = malloc((n + 1) * sizeof *r->roles);
    r->api = malloc((n + 1) * sizeof *r->api);
    r->gpu = malloc((n + 1) * sizeof *r->gpu);
    r->place = malloc((n + 1) * sizeof *r->place);
    bool fine = of_region && r->roles && r->api && r->gpu && r->place;
    for (assay_id i = 0; fine && i < n_regions; i++)
        of_region[i] = role_of(as_ds_text(part, as_ds_region(part, i)->kind));
    for (assay_id id = 0; fine && id < n; id++) {
        const as_context *context = as_ds_context(part, id);
        bool is_root = context->parent == ASSAY_NONE;
        r->roles[id] = context->region == ASSAY_NONE ? UNKNOWN : of_region[context->region];
        r->api[id] = r->roles[id] == API ? id : is_root ? ASSAY_NONE : r->api[context->parent];
        r->gpu[id] = r->roles[id] == GPU ? id : is_root ? ASSAY_NONE : r->gpu[context->parent];
        r->place[id] = ASSAY_NONE;
        n_of[r->roles[id]]++;
    }
    free(of_region);
    return fine;
}

/* Regions of one name and kind are one: threads and processes need not share theirs. */
static bool unite_regions(regrouper *r) {
    const as_dataset *part = r->c.part;
    as_map known;
    as_map_init(&known, as_ds_budget(part));
    r->regions = malloc((part->regions.count + 1) * sizeof *r->regions);
    bool fine = r->regions != NULL;
    for (assay_id i = 0; fine && i < part->regions.count; i++) {
        const as_region *region = as_ds_region(part, i);
        uint64_t key = as_pair(region->name, region->kind);
        uint32_t first = as_map_get(&known, key);
        r->regions[i] = r->c.op->u.maps[0].regions[first == AS_MAP_NONE ? i : first];
        if (first == AS_MAP_NONE) fine = as_map_put(&known, key, i);
    }
    as_map_free(&known);
    return fine;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* The place of a context below `parent`, made if new. */
static assay_id place_below(regrouper *r, assay_id parent, assay_id context) {
    const as_context *from = as_ds_context(r->c.part, context);
    if (from->region == ASSAY_NONE) return ASSAY_NONE;
    assay_id id = as_tree_child(&r->tree, parent, r->regions[from->region]);
    if (id != ASSAY_NONE) AS_AT(as_context, &r->tree.nodes, id).is_aside |= from->is_aside && parent != ASSAY_NONE;
    return id;
}

/* Whether it says who caused something: processes and threads are places, and launches only repeat the name of their
 * kernel. */
static bool is_cause(const regrouper *r, assay_id context) {
    const as_region *region = as_ds_region(r->c.part, as_ds_context(r->c.part, context)->region);
    const char *kind = as_ds_text(r->c.part, region->kind);
    return r->roles[context] != LAUNCH && !(kind && (strcmp(kind, "process") == 0 || strcmp(kind, "thread") == 0));
}

/* Who causes something, then what is caused. False when memory is out. */
static bool place_by_kernel(regrouper *r, assay_id id) {
    if (r->gpu[id] == ASSAY_NONE) return true;
    if (r->gpu[id] != id) {
        r->place[id] = r->place[r->gpu[id]];
        return true;
    }
    r->causes.count = 0;
    for (assay_id above = as_ds_context(r->c.part, id)->parent; above != ASSAY_NONE;
         above = as_ds_context(r->c.part, above)->parent) {
        bool is_one = as_ds_context(r->c.part, above)->region != ASSAY_NONE && is_cause(r, above);
        if (is_one && !as_vec_append(&r->causes, &above, 1)) return false;
    }
    assay_id at = ASSAY_NONE;
    for (size_t i = r->causes.count; i-- > 0;) {
        at = place_below(r, at, AS_AT(assay_id, &r->causes, i));
        if (at == ASSAY_NONE) return false;
    }
    r->place[id] = place_below(r, at, id);
    return r->place[id] != ASSAY_NONE;
}

/* API calls and all below them; of GPU activities without a call all that is above them, too. */
static bool place_by_api(regrouper *r, assay_id id) {
    assay_id parent = as_ds_context(r->c.part, id)->parent;
    bool is_below = parent != ASSAY_NONE && r->place[parent] != ASSAY_NONE;
    if (r->api[id] == ASSAY_NONE && r->gpu[id] == ASSAY_NONE) return true;
    if (r->api[id] == ASSAY_NONE && !is_below &&
        parent != ASSAY_NONE) { /* places for what is above it, from the root on */
        assay_id top = parent;
        while (as_ds_context(r->c.part, top)->parent != ASSAY_NONE) top = as_ds_context(r->c.part, top)->parent;
        if (as_ds_context(r->c.part, top)->region == ASSAY_NONE) return true;
        assay_id root = place_below(r, ASSAY_NONE, top);
        r->place[id] = root == ASSAY_NONE ? ASSAY_NONE : place_below(r, root, id);
        return r->place[id] != ASSAY_NONE;
    }
    r->place[id] = place_below(r, is_below && r->api[id] != id ? r->place[parent] : ASSAY_NONE, id);
    return r->place[id] != ASSAY_NONE;
}

static assay_id no_range(regrouper *r) {
    if (r->no_range == ASSAY_NONE) {
        as_region region = AS_REGION_INIT;
        region.name = as_ds_intern_text(r->c.op->ds, "(no NVTX range)");
        region.kind = as_ds_intern_text(r->c.op->ds, "nvtx");
        if (region.name == AS_NO_STR || region.kind == AS_NO_STR) return ASSAY_NONE;
        r->no_range = as_add_region(r->c.op->ds, &region);
        uint32_t origin = 0;
        if (!as_vec_append(&r->c.op->u.region_origins, &origin, 1)) return ASSAY_NONE;
    }
    return r->no_range == ASSAY_NONE ? ASSAY_NONE : as_tree_child(&r->tree, ASSAY_NONE, r->no_range);
}

/* Ranges where they nest, calls below the range that is nearest above them. */
static bool place_by_nvtx(regrouper *r, assay_id id) {
    bool is_range = r->roles[id] == NVTX, is_caused = r->api[id] != ASSAY_NONE || r->gpu[id] != ASSAY_NONE;
    if (!is_range && !is_caused) return true;
    assay_id above = as_ds_context(r->c.part, id)->parent;
    while (above != ASSAY_NONE && r->place[above] == ASSAY_NONE) above = as_ds_context(r->c.part, above)->parent;
    assay_id parent = above == ASSAY_NONE ? ASSAY_NONE : r->place[above];
    if (parent == ASSAY_NONE && !is_range && (parent = no_range(r)) == ASSAY_NONE) return false;
    r->place[id] = place_below(r, parent, id);
    return r->place[id] != ASSAY_NONE;
}

static bool place_all(regrouper *r) {
    bool (*const place[])(regrouper *, assay_id) = {
        [AS_REGROUP_KERNEL] = place_by_kernel, [AS_REGROUP_API] = place_by_api, [AS_REGROUP_NVTX] = place_by_nvtx};
    for (assay_id id = 0; id < r->c.part->contexts.count; id++) {
        const as_context *context = as_ds_context(r->c.part, id);
        if (context->region != ASSAY_NONE && context->role != AS_ROLE_PLACELESS && !place[r->by](r, id)) return false;
    }
    return true;
}

/* Where each context goes, and which one each of the result is made of: the first that goes there. */
static bool finish_tree(regrouper *r) {
    as_union *u = &r->c.op->u;
    size_t n = r->c.part->contexts.count, n_new = r->tree.nodes.count;
    const assay_id *ids;
    uint32_t origin = 0;
    bool *is_made = calloc(n_new + 1, sizeof *is_made);
    u->maps[0].contexts = malloc((n + 1) * sizeof(assay_id));
    for (assay_id i = 0; i < n_new; i++) as_tree_mark_callpath(&r->tree, i);
    bool fine = is_made && u->maps[0].contexts && as_tree_finish(&r->tree, &ids);
    for (assay_id id = 0; fine && id < n; id++) {
        assay_id place = r->place[id];
        r->c.into[id] = place == ASSAY_NONE ? ASSAY_NONE : ids[place];
        u->maps[0].contexts[id] = place == ASSAY_NONE || is_made[place] ? ASSAY_NONE : ids[place];
        if (place != ASSAY_NONE) is_made[place] = true;
    }
    for (size_t i = 0; fine && i < n_new; i++) fine = as_vec_append(&u->context_origins, &origin, 1);
    free(is_made);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static assay_status fail_kind(const as_dataset *part, as_regrouping by, assay_error *error) {
    static const char *const missing[] = {[AS_REGROUP_KERNEL] = "GPU activities",
                                          [AS_REGROUP_API] = "calls of a GPU's API",
                                          [AS_REGROUP_NVTX] = "NVTX ranges other than its call paths"};
    return as_fail(error, ASSAY_E_UNSUPPORTED, as_place_file(as_ds_text(part, part->path)), "",
                   "the call tree has no %s", missing[by]);
}

static assay_status regroup(regrouper *r, assay_error *error) {
    size_t n_of[PART + 1] = {0};
    if (!find_roles(r, n_of)) return as_fail_memory(error, NULL);
    if (!n_of[roles_asked[r->by]]) return fail_kind(r->c.part, r->by, error);
    if (!unite_regions(r) || !place_all(r) || !finish_tree(r)) return as_fail_memory(error, NULL);
    return as_cutting_fill(&r->c);
}

assay_status as_regroup(const as_dataset *part, as_regrouping by, as_dataset **out, assay_error *error) {
    as_operation op;
    regrouper r = {
        .c = {.op = &op, .part = part, .is_pruned = true, .keeps_blocks = true}, .by = by, .no_range = ASSAY_NONE};
    r.c.into = malloc((part->contexts.count + 1) * sizeof *r.c.into);
    if (!r.c.into) return as_fail_memory(error, NULL);
    as_vec_init(&r.causes, sizeof(assay_id), NULL);
    as_vec_init(&r.c.folds, 1, NULL); /* stays empty: that is about stored pairs */
    assay_status status = as_operation_begin_one(&op, &part, error);
    if (status == ASSAY_OK) {
        as_tree_init(&r.tree, op.ds);
        status = regroup(&r, error);
        as_tree_free(&r.tree);
    }
    if (status == ASSAY_OK) status = as_operation_finish(&op, "regroup", out);
    as_operation_end(&op);
    bool fine = true;
    if (status == ASSAY_OK) (*out)->path = as_ds_carry(*out, part, part->path, &fine);
    as_vec_free(&r.causes);
    free(r.c.into);
    free(r.roles);
    free(r.api);
    free(r.gpu);
    free(r.regions);
    free(r.place);
    if (fine) return status;
    as_dataset_free(*out);
    return as_fail_memory(error, NULL);
}
