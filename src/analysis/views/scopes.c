/* The tree of scopes: modules, their files, functions, and what is inside these.
 *
 * A scope is found by the one it stands in and by what it is: a string or a region, and of calls where they come from as well. */
#include <stdlib.h>

#include "analysis/views/view_private.h"
#include "core/map.h"

#define NOWHERE UINT32_MAX

/* What the lower half of an item says of the upper one; of a call it is the region of the call site. No region has such an id. */
#define IS_MODULE (UINT32_MAX - 1)
#define IS_FILE   (UINT32_MAX - 2)
#define IS_REGION (UINT32_MAX - 3)
#define IS_NAME   (UINT32_MAX - 4)
#define IS_ASIDE  (UINT32_MAX - 5) /* a module of what stands aside */

typedef struct builder {
    const as_view_walker *walker;
    const as_dataset *ds;
    as_view_groups *groups;
    as_map items;      /* as_pair(what, how) -> its number */
    as_map scopes;     /* as_pair(parent + 1, number of the item) -> member */
    uint32_t *of_call; /* for each context the scope of calls below its caller, or NOWHERE */
    uint32_t n_items;
} builder;

/* The member of an item below a parent, made if new. NOWHERE when memory is out. */
static uint32_t scope_of(builder *b, uint32_t parent, uint32_t what, uint32_t how, const as_view_member *made) {
    uint64_t pair = as_pair(what, how);
    uint32_t item = as_map_get(&b->items, pair);
    if (item == AS_MAP_NONE) {
        item = b->n_items++;
        if (!as_map_put(&b->items, pair, item)) return NOWHERE;
    }
    uint64_t key = as_pair(parent + 1, item);
    uint32_t at = as_map_get(&b->scopes, key);
    if (at != AS_MAP_NONE) return at;
    at = (uint32_t)b->groups->members.count;
    as_view_member member = *made;
    member.parent = parent;
    return as_vec_append(&b->groups->members, &member, 1) && as_map_put(&b->scopes, key, at) ? at : NOWHERE;
}

static bool stands_aside(const builder *b, assay_id id) {
    const bool *is_aside = b->walker->data->is_aside;
    return is_aside && is_aside[id];
}

/* That of a context's region, or name where it has none. */
static uint32_t region_scope(builder *b, uint32_t parent, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    as_view_member made = {.level = AS_LEVEL_CONTEXT,
                           .name = context->name,
                           .region = context->region,
                           .context = id,
                           .is_aside = stands_aside(b, id)};
    bool has_region = context->region != ASSAY_NONE;
    return scope_of(b, parent, has_region ? context->region : context->name, has_region ? IS_REGION : IS_NAME, &made);
}

static uint32_t function_scope(builder *b, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(b->ds, context->region);
    as_view_member module = {
        .level = AS_LEVEL_MODULE, .name = region ? region->module : AS_NO_STR, .region = ASSAY_NONE, .context = id};
    as_view_member file = {
        .level = AS_LEVEL_FILE, .name = region ? region->file : AS_NO_STR, .region = ASSAY_NONE, .context = id};
    bool is_aside = module.is_aside = file.is_aside = stands_aside(b, id);
    uint32_t at = scope_of(b, NOWHERE, module.name, is_aside ? IS_ASIDE : IS_MODULE, &module);
    if (at != NOWHERE) at = scope_of(b, at, file.name, IS_FILE, &file);
    return at == NOWHERE ? NOWHERE : region_scope(b, at, id);
}

/* The scope of calls of a function below that of its caller. */
static uint32_t call_scope(builder *b, uint32_t caller, assay_id id) {
    const as_context *context = as_ds_context(b->ds, id);
    assay_id site = as_view_call_site(b->walker, id);
    assay_id from = site == ASSAY_NONE ? ASSAY_NONE : as_ds_context(b->ds, site)->region;
    as_view_member made = {.level = AS_LEVEL_CALL,
                           .name = context->name,
                           .region = context->region,
                           .context = id,
                           .is_aside = stands_aside(b, id)};
    return scope_of(b, caller, context->region == ASSAY_NONE ? context->name : context->region, from, &made);
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
    b->of_call[id] = call_scope(b, above, id);
    return b->of_call[id] != NOWHERE;
}

/* Calls visit for each scope that a context counts in. */
static void each_scope(const builder *b, assay_id id,
                       void (*visit)(as_view_groups *groups, uint32_t scope, assay_id id)) {
    uint32_t own = b->groups->of_context[id];
    if (own == NOWHERE || !as_view_is_node(b->walker, id)) return;
    visit(b->groups, own, id);
    uint32_t file = as_view_member_at(b->groups, own)->parent;
    if (as_view_member_at(b->groups, file)->level == AS_LEVEL_FILE) {
        visit(b->groups, file, id);
        visit(b->groups, as_view_member_at(b->groups, file)->parent, id);
    }
    if (b->of_call[id] != NOWHERE) visit(b->groups, b->of_call[id], id);
}

static void count(as_view_groups *groups, uint32_t scope, assay_id id) {
    (void)id;
    as_view_member_at(groups, scope)->n++;
}

static void list(as_view_groups *groups, uint32_t scope, assay_id id) {
    as_view_member *member = as_view_member_at(groups, scope);
    groups->contexts[member->first + member->n++] = id;
}

static bool list_contexts(builder *b) {
    size_t n = AS_COUNT(b->ds, contexts);
    uint32_t total = 0;
    for (assay_id id = 0; id < n; id++) each_scope(b, id, count);
    for (size_t i = 0; i < b->groups->members.count; i++) {
        as_view_member *member = as_view_member_at(b->groups, i);
        member->first = total;
        total += member->n;
        member->n = 0;
    }
    b->groups->contexts = malloc(((size_t)total + 1) * sizeof *b->groups->contexts);
    if (!b->groups->contexts) return false;
    for (assay_id id = 0; id < n; id++) each_scope(b, id, list);
    return true;
}

bool as_view_scopes_init(as_view_groups *groups, const as_view_walker *walker) {
    const as_view_data *data = walker->data;
    const as_dataset *ds = data->source.ds;
    size_t n = AS_COUNT(ds, contexts);
    builder b = {.walker = walker, .ds = ds, .groups = groups, .of_call = malloc((n + 1) * sizeof *b.of_call)};
    *groups = (as_view_groups){.of_context = malloc((n + 1) * sizeof *groups->of_context)};
    as_vec_init(&groups->members, sizeof(as_view_member), NULL);
    as_map_init(&b.items, NULL);
    as_map_init(&b.scopes, NULL);
    /* Places of a context: its function, file, module, and below its caller */
    bool fine = b.of_call && groups->of_context && n < UINT32_MAX / 4;
    if (fine) memset(b.of_call, 0xff, (n + 1) * sizeof *b.of_call);
    if (fine) memset(groups->of_context, 0xff, (n + 1) * sizeof *groups->of_context);
    for (size_t i = 0; fine && i < data->n_roots; i++) {
        assay_id first = data->roots[i], end = first + as_ds_context(ds, first)->subtree;
        for (assay_id id = first; fine && id < end; id++) fine = place_context(&b, id);
    }
    if (fine) fine = list_contexts(&b);
    as_map_free(&b.items);
    as_map_free(&b.scopes);
    free(b.of_call);
    return fine;
}
