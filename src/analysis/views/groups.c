/* Calls put together by function, file, module or kind. */
#include <stdlib.h>

#include "analysis/views/functions.h"
#include "analysis/views/view_private.h"
#include "core/map.h"

/* What contexts of one group have in common, but for standing aside; regions and strings are told apart by the upper
 * half. */
static uint64_t key_of(const as_dataset *ds, const as_context *context, as_view_group by) {
    if (context->region == ASSAY_NONE) return as_pair(1, by == AS_GROUP_REGION ? context->name : AS_NO_STR);
    const as_region *region = as_ds_region(ds, context->region);
    switch (by) {
    case AS_GROUP_FILE: return as_pair(1, region->file);
    case AS_GROUP_MODULE: return as_pair(1, region->module);
    case AS_GROUP_KIND: return as_pair(1, region->kind);
    default: return as_pair(0, context->region);
    }
}

static as_view_level level_of(as_view_group by) {
    return by == AS_GROUP_FILE     ? AS_LEVEL_FILE
           : by == AS_GROUP_MODULE ? AS_LEVEL_MODULE
           : by == AS_GROUP_KIND   ? AS_LEVEL_KIND
                                   : AS_LEVEL_CONTEXT;
}

static bool is_aside_in(const as_view_data *data, assay_id id) { return data->is_aside && data->is_aside[id]; }

/* What tells its group from others. */
static uint64_t whole_key_of(const as_view_data *data, assay_id id, as_view_group by) {
    const as_dataset *ds = data->source.ds;
    return key_of(ds, as_ds_context(ds, id), by) | (is_aside_in(data, id) ? as_pair(2, 0) : 0);
}

typedef struct finder {
    as_view_groups *groups;
    const as_view_data *data;
    as_view_group by;
    as_map known;           /* by their keys, but for those of single regions */
    uint32_t *of_region[2]; /* for each region the group of its contexts, of those that stand aside; or UINT32_MAX */
} finder;

/* n times UINT32_MAX. NULL when memory is out. */
static uint32_t *new_numbers(size_t n) {
    uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
    if (numbers) memset(numbers, 0xff, (n + 1) * sizeof *numbers);
    return numbers;
}

/* UINT32_MAX when memory is out. */
static uint32_t add_group(finder *f, assay_id id, as_str name) {
    uint32_t at = (uint32_t)f->groups->members.count;
    as_view_member member = {.level = (uint8_t)level_of(f->by),
                             .name = name,
                             .context = id,
                             .parent = UINT32_MAX,
                             .is_aside = is_aside_in(f->data, id)};
    return as_vec_append(&f->groups->members, &member, 1) ? at : UINT32_MAX;
}

static uint32_t find_by_key(finder *f, assay_id id) {
    uint64_t key = whole_key_of(f->data, id, f->by);
    uint32_t at = as_map_get(&f->known, key);
    if (at != AS_MAP_NONE) return at;
    at = add_group(f, id, (as_str)key);
    return at != UINT32_MAX && as_map_put(&f->known, key, at) ? at : UINT32_MAX;
}

/* Contexts of one region are in one group, of which functions have one each. */
static uint32_t group_of(finder *f, assay_id id) {
    const as_context *context = as_ds_context(f->data->source.ds, id);
    if (context->region == ASSAY_NONE) return find_by_key(f, id);
    uint32_t *known = &f->of_region[is_aside_in(f->data, id)][context->region];
    if (*known == UINT32_MAX) *known = f->by == AS_GROUP_REGION ? add_group(f, id, context->name) : find_by_key(f, id);
    return *known;
}

/* An inlined piece of a function is a function where that takes nothing from another one. */
static bool is_counted(const as_dataset *ds, assay_id id, as_view_group by) {
    const as_context *context = as_ds_context(ds, id);
    bool is_piece = context->role == AS_ROLE_INNER && context->is_inlined && by == AS_GROUP_REGION;
    return is_piece || as_view_is_call(ds, id);
}

static bool find_groups(as_view_groups *groups, const as_view_data *data, as_view_group by) {
    const as_dataset *ds = data->source.ds;
    size_t n_regions = AS_COUNT(ds, regions);
    finder f = {.groups = groups, .data = data, .by = by, .of_region[0] = new_numbers(n_regions)};
    if (data->is_aside) f.of_region[1] = new_numbers(n_regions);
    as_map_init(&f.known, NULL);
    bool fine = f.of_region[0] && (f.of_region[1] || !data->is_aside);
    for (size_t i = 0; fine && i < data->n_roots; i++) {
        assay_id first = data->roots[i], end = first + as_ds_context(ds, first)->subtree;
        for (assay_id id = first; fine && id < end; id++) {
            if (!is_counted(ds, id, by)) continue;
            uint32_t group = group_of(&f, id);
            fine = group != UINT32_MAX;
            groups->of_context[id] = group;
        }
    }
    as_map_free(&f.known);
    free(f.of_region[0]);
    free(f.of_region[1]);
    return fine;
}

bool as_view_groups_list(as_view_groups *groups, size_t n_contexts) {
    uint32_t total = 0, in[AS_VIEW_MOST_GROUPS];
    size_t n_members = groups->members.count;
    uint32_t *starts = groups->starts = calloc(n_members + 1, sizeof *starts);
    if (!starts) return false;
    for (assay_id id = 0; id < n_contexts; id++) {
        for (size_t i = as_view_groups_of(groups, id, in); i-- > 0;) starts[in[i]]++;
    }
    for (size_t i = 0; i < n_members; i++) {
        uint32_t n = starts[i];
        starts[i] = total;
        total += n;
    }
    groups->contexts = malloc(((size_t)total + 1) * sizeof *groups->contexts);
    if (!groups->contexts) return false;
    for (assay_id id = 0; id < n_contexts; id++) {
        for (size_t i = as_view_groups_of(groups, id, in); i-- > 0;) groups->contexts[starts[in[i]]++] = id;
    }
    /* Each now says where the next one begins */
    memmove(starts + 1, starts, n_members * sizeof *starts);
    starts[0] = 0;
    return true;
}

bool as_view_groups_init(as_view_groups *groups, const as_view_data *data, as_view_group by) {
    size_t n = AS_COUNT(data->source.ds, contexts);
    *groups = (as_view_groups){.of_context = new_numbers(n)};
    as_vec_init(&groups->members, sizeof(as_view_member), NULL);
    return groups->of_context && find_groups(groups, data, by);
}

void as_view_groups_free(as_view_groups *groups) {
    free(groups->of_context);
    free(groups->of_call);
    free(groups->contexts);
    free(groups->starts);
    as_vec_free(&groups->members);
}

/* ---- some functions ---------------------------------------------------------------------------------------------- */

/* A context of one of the functions. */
typedef struct part {
    uint32_t function;
    assay_id context;
} part;

/* By their keys; has_region: of each region whether it is one of them. */
static bool know_functions(const as_view_data *data, const assay_id *firsts, size_t n, as_map *known,
                           bool *has_region) {
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        if (firsts[i] == ASSAY_NONE) continue;
        assay_id region = as_ds_context(data->source.ds, firsts[i])->region;
        if (region != ASSAY_NONE) has_region[region] = true;
        fine = as_map_put(known, whole_key_of(data, firsts[i], AS_GROUP_REGION), (uint32_t)i);
    }
    return fine;
}

static bool find_parts(const as_view_data *data, const as_map *known, const bool *has_region, as_vec *parts) {
    const as_dataset *ds = data->source.ds;
    for (size_t i = 0; i < data->n_roots; i++) {
        assay_id first = data->roots[i], end = first + as_ds_context(ds, first)->subtree;
        for (assay_id id = first; id < end; id++) {
            assay_id region = as_ds_context(ds, id)->region;
            if ((region != ASSAY_NONE && !has_region[region]) || !is_counted(ds, id, AS_GROUP_REGION)) continue;
            uint32_t at = as_map_get(known, whole_key_of(data, id, AS_GROUP_REGION));
            if (at != AS_MAP_NONE && !as_vec_append(parts, &(part){at, id}, 1)) return false;
        }
    }
    return true;
}

/* In the order of the functions; of each as they stand. */
static bool sort_parts(const as_vec *parts, size_t n, as_view_functions *out) {
    uint32_t *starts = out->starts = calloc(n + 2, sizeof *starts);
    out->contexts = malloc((parts->count + 1) * sizeof *out->contexts);
    if (!starts || !out->contexts) return false;
    for (size_t i = 0; i < parts->count; i++) starts[AS_AT(part, parts, i).function + 2]++;
    for (size_t i = 2; i < n + 2; i++) starts[i] += starts[i - 1];
    for (size_t i = 0; i < parts->count; i++) /* the start of each moves on to its end, which is that of the next */
        out->contexts[starts[AS_AT(part, parts, i).function + 1]++] = AS_AT(part, parts, i).context;
    return true;
}

assay_status as_view_functions_find(const as_view_source *source, const assay_id *firsts, size_t n,
                                    as_view_functions *out, assay_error *error) {
    as_view_data data = {0};
    as_map known;
    as_vec parts;
    *out = (as_view_functions){0};
    as_map_init(&known, NULL);
    as_vec_init(&parts, sizeof(part), NULL);
    bool *has_region = calloc(AS_COUNT(source->ds, regions) + 1, sizeof *has_region);
    assay_status status = as_view_load(source, NULL, 0, NULL, 0, &data, error);
    if (status == ASSAY_OK && !(has_region && know_functions(&data, firsts, n, &known, has_region) &&
                                find_parts(&data, &known, has_region, &parts) && sort_parts(&parts, n, out)))
        status = as_fail_memory(error, NULL);
    as_view_data_free(&data);
    free(has_region);
    as_vec_free(&parts);
    as_map_free(&known);
    return status;
}

void as_view_functions_free(as_view_functions *functions) {
    free(functions->starts);
    free(functions->contexts);
    *functions = (as_view_functions){0};
}
