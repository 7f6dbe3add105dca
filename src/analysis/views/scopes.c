/* The tree of scopes: modules, their files, functions, and what is inside these.
 *
 * A scope is found by the one it stands in and by what it is: a string or a region, and of calls where they come from
 * as well. */
#include <stdlib.h>

#include "analysis/views/view_private.h"
#include "core/large_pages.h"
#include "core/map.h"
#include "core/parallel.h"

#define NOWHERE UINT32_MAX

/* What the lower half of an item says of the upper one; of a call it is the region of the call site. No region has such
 * an id. */
#define IS_MODULE (UINT32_MAX - 1)
#define IS_FILE   (UINT32_MAX - 2)
#define IS_REGION (UINT32_MAX - 3)
#define IS_NAME   (UINT32_MAX - 4)
#define IS_ASIDE  (UINT32_MAX - 5) /* a module of what stands aside */

/* A scope of something at a region. Most regions stand in one place or two only: those are found without looking into a
 * map. */
typedef struct scope_here {
    uint32_t parent, what, member; /* member: NOWHERE where there is none yet */
    uint32_t next;                 /* of the same region: its place in `others`; NOWHERE: none */
} scope_here;

/* So many more of a region are looked through one by one; what comes then is in the map. */
enum { MOST_OTHERS = 8 };

typedef struct builder {
    const as_view_walker *walker;
    const as_dataset *ds;
    as_view_groups *groups;
    as_map items;           /* as_pair(what, how) -> its number, of those that are not numbered by their region */
    as_map scopes;          /* as_pair(parent + 1, number of the item) -> member; without those that are found here: */
    scope_here *pieces;     /* for each region the first of its loop, line or instruction */
    scope_here *calls;      /* for each region the first of a call that comes from there */
    as_vec others;          /* scope_here: those that follow */
    uint32_t *of_region[2]; /* for each region the scope of its functions, of those that stand aside; or NOWHERE */
    uint32_t n_items;
} builder;

/* Regions alone, and calls of regions that come from nowhere in particular, are most of all. UINT32_MAX when memory is
 * out. */
static uint32_t number_item(builder *b, uint32_t what, uint32_t how, bool is_region) {
    uint32_t n_regions = (uint32_t)AS_COUNT(b->ds, regions);
    if (is_region && how == IS_REGION) return what;
    if (is_region && how == ASSAY_NONE) return n_regions + what;
    uint32_t item = as_map_get(&b->items, as_pair(what, how));
    if (item != AS_MAP_NONE) return item;
    item = 2 * n_regions + b->n_items++;
    return as_map_put(&b->items, as_pair(what, how), item) ? item : UINT32_MAX;
}

/* NOWHERE when memory is out. */
static uint32_t add_member(builder *b, uint32_t parent, const as_view_member *made) {
    as_vec *members = &b->groups->members;
    if (members->count == members->capacity && !as_vec_reserve(members, 1)) return NOWHERE;
    as_view_member *member = &AS_AT(as_view_member, members, members->count++);
    *member = *made;
    member->parent = parent;
    return (uint32_t)members->count - 1;
}

/* The member of an item below a parent, made if new. NOWHERE when memory is out. */
static uint32_t scope_of(builder *b, uint32_t parent, uint32_t what, uint32_t how, const as_view_member *made) {
    uint32_t item = number_item(b, what, how, as_view_member_region(b->ds, made) != ASSAY_NONE);
    if (item == UINT32_MAX) return NOWHERE;
    uint64_t key = as_pair(parent + 1, item);
    uint32_t at = as_map_get(&b->scopes, key);
    if (at != AS_MAP_NONE) return at;
    at = add_member(b, parent, made);
    return at != NOWHERE && as_map_put(&b->scopes, key, at) ? at : NOWHERE;
}

/* The same of something at a region, whose first one is known. */
static uint32_t scope_at(builder *b, scope_here *first, uint32_t parent, uint32_t what, uint32_t how,
                         const as_view_member *made) {
    scope_here made_here = {.parent = parent, .what = what, .next = NOWHERE}, *here = first;
    if (first->member == NOWHERE) {
        made_here.member = add_member(b, parent, made);
        *first = made_here;
        return first->member;
    }
    for (int step = 0; here->parent != parent || here->what != what; step++) {
        if (step == MOST_OTHERS) return scope_of(b, parent, what, how, made);
        if (here->next == NOWHERE) {
            here->next = (uint32_t)b->others.count;
            made_here.member = add_member(b, parent, made);
            return as_vec_append(&b->others, &made_here, 1) ? made_here.member : NOWHERE;
        }
        here = &AS_AT(scope_here, &b->others, here->next);
    }
    return here->member;
}

static bool stands_aside(const builder *b, assay_id id) {
    const bool *is_aside = b->walker->data->is_aside;
    return is_aside && is_aside[id];
}

static as_view_member member_of(const builder *b, as_view_level level, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    return (as_view_member){
        .level = (uint8_t)level, .name = context->name, .context = id, .is_aside = stands_aside(b, id)};
}

/* That of a context's region, or name where it has none. */
static uint32_t region_scope(builder *b, uint32_t parent, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    as_view_member made = member_of(b, AS_LEVEL_CONTEXT, id);
    if (context->region == ASSAY_NONE) return scope_of(b, parent, context->name, IS_NAME, &made);
    return scope_at(b, &b->pieces[context->region], parent, context->region, IS_REGION, &made);
}

/* The scope of the file that a context's function stands in. */
static uint32_t file_scope(builder *b, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(b->ds, context->region);
    as_view_member module = {.level = AS_LEVEL_MODULE, .name = region ? region->module : AS_NO_STR, .context = id};
    as_view_member file = {.level = AS_LEVEL_FILE, .name = region ? region->file : AS_NO_STR, .context = id};
    bool is_aside = module.is_aside = file.is_aside = stands_aside(b, id);
    uint32_t at = scope_of(b, NOWHERE, module.name, is_aside ? IS_ASIDE : IS_MODULE, &module);
    return at == NOWHERE ? NOWHERE : scope_of(b, at, file.name, IS_FILE, &file);
}

static uint32_t function_scope(builder *b, assay_id id) {
    assay_id region = as_ds_context(b->ds, id)->region;
    uint32_t *known = region == ASSAY_NONE ? NULL : &b->of_region[stands_aside(b, id)][region];
    if (known && *known != NOWHERE) return *known;
    uint32_t file = file_scope(b, id);
    if (file == NOWHERE || !known) return file == NOWHERE ? NOWHERE : region_scope(b, file, id);
    as_view_member made = member_of(b, AS_LEVEL_CONTEXT, id);
    return *known = add_member(b, file, &made);
}

/* The scope of calls of a function below that of its caller. */
static uint32_t call_scope(builder *b, uint32_t caller, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    assay_id site = as_view_call_site(b->walker, id);
    assay_id from = site == ASSAY_NONE ? ASSAY_NONE : as_ds_context(b->ds, site)->region;
    as_view_member made = member_of(b, AS_LEVEL_CALL, id);
    uint32_t what = context->region == ASSAY_NONE ? context->name : context->region;
    bool has_place = from != ASSAY_NONE && context->region != ASSAY_NONE;
    return has_place ? scope_at(b, &b->calls[from], caller, what, from, &made) : scope_of(b, caller, what, from, &made);
}

static bool place_context(builder *b, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    uint32_t *of_context = b->groups->of_context;
    uint32_t above = context->parent == ASSAY_NONE ? NOWHERE : of_context[context->parent];
    if (context->role == AS_ROLE_PLACELESS || as_context_is_root(b->ds, id)) return true;
    if (!as_view_is_node(b->walker, id)) {
        of_context[id] = above;
        return true;
    }
    bool is_call = as_view_is_call(b->ds, id);
    of_context[id] = is_call || above == NOWHERE ? function_scope(b, id) : region_scope(b, above, id);
    if (of_context[id] == NOWHERE) return false;
    if (!is_call || above == NOWHERE) return true;
    b->groups->of_call[id] = call_scope(b, above, id);
    return b->groups->of_call[id] != NOWHERE;
}

/* What is known of regions lies anywhere: it is asked for so many steps before it is needed. */
enum { STEPS_AHEAD = 24 };

static void ask_for_region(const builder *b, assay_id id) {
    assay_id region = as_ds_context(b->ds, id)->region;
    if (region == ASSAY_NONE) return;
    __builtin_prefetch(&b->pieces[region], 1);
    __builtin_prefetch(&b->calls[region], 1);
}

/* Arrays, all of whose numbers are NOWHERE. */
typedef struct blank {
    void *data;
    size_t size;
} blank;

static void make_blank(void *user, size_t i) {
    blank *array = &((blank *)user)[i];
    array->data = as_large_array(array->size, 1);
    if (array->data) memset(array->data, 0xff, array->size);
}

/* The first touch of memory takes long: all threads do it. False when memory is out. */
static bool make_all_blank(builder *b, size_t n_contexts, size_t n_regions, bool has_aside) {
    size_t places = (n_contexts + 1) * sizeof(uint32_t), scopes = (n_regions + 1) * sizeof(scope_here),
           regions = (n_regions + 1) * sizeof(uint32_t);
    blank arrays[] = {{NULL, scopes}, {NULL, scopes}, {NULL, places}, {NULL, places}, {NULL, regions}, {NULL, regions}};
    size_t n = has_aside ? 6 : 5;
    as_parallel(n, 0, make_blank, arrays);
    b->pieces = arrays[0].data;
    b->calls = arrays[1].data;
    b->groups->of_context = arrays[2].data;
    b->groups->of_call = arrays[3].data;
    b->of_region[0] = arrays[4].data;
    b->of_region[1] = arrays[5].data;
    bool fine = true;
    for (size_t i = 0; i < n; i++) fine &= arrays[i].data != NULL;
    return fine;
}

bool as_view_scopes_init(as_view_groups *groups, const as_view_walker *walker) {
    const as_view_data *data = walker->data;
    const as_dataset *ds = data->source.ds;
    size_t n = AS_COUNT(ds, contexts), n_regions = AS_COUNT(ds, regions);
    builder b = {.walker = walker, .ds = ds, .groups = groups};
    *groups = (as_view_groups){0};
    as_vec_init(&groups->members, sizeof(as_view_member), NULL);
    as_vec_expect(&groups->members, n);
    as_map_init(&b.items, NULL);
    as_map_init(&b.scopes, NULL);
    as_vec_init(&b.others, sizeof(scope_here), NULL);
    as_vec_expect(&b.others, n / 4);
    /* Places of a context: its function, file, module, and below its caller */
    bool fine = n < UINT32_MAX / 4 && n_regions < UINT32_MAX / 8 && make_all_blank(&b, n, n_regions, data->is_aside);
    for (size_t i = 0; fine && i < data->n_roots; i++) {
        assay_id first = data->roots[i], end = first + as_ds_context(ds, first)->subtree;
        for (assay_id id = first; fine && id < end; id++) {
            if (end - id > STEPS_AHEAD) ask_for_region(&b, id + STEPS_AHEAD);
            fine = place_context(&b, id);
        }
    }
    /* What is no node had its place for what lies below it only */
    for (assay_id id = 0; fine && id < n; id++) {
        if (!as_view_is_node(walker, id)) groups->of_context[id] = NOWHERE;
    }
    as_map_free(&b.items);
    as_map_free(&b.scopes);
    as_vec_free(&b.others);
    free(b.pieces);
    free(b.calls);
    free(b.of_region[0]);
    free(b.of_region[1]);
    return fine;
}
