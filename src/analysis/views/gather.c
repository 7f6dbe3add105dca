/* What the contexts of a group have together, for the flat and the bottom-up view. */
#include <stdlib.h>

#include "analysis/views/view_private.h"

bool as_view_gather_init(as_view_gather *gather, as_view_walker *walker) {
    const as_view_data *data = walker->data;
    const as_view_request *request = walker->request;
    bool by_scope = request->kind == AS_VIEW_FLAT && request->group == AS_GROUP_SCOPE;
    *gather = (as_view_gather){.walker = walker};
    if (by_scope ? !as_view_scopes_init(&gather->groups, walker)
                 : !as_view_groups_init(&gather->groups, data, request->group))
        return false;
    if (!as_view_groups_list(&gather->groups, AS_COUNT(data->source.ds, contexts))) return false;
    size_t n_parts = 0;
    for (size_t k = 0; k < data->n_columns; k++) n_parts += 2 * (size_t)data->columns[k].list.n_parts;
    gather->sums = calloc(data->n_columns + 1, sizeof *gather->sums);
    gather->parts = calloc(n_parts + 1, sizeof *gather->parts);
    return gather->sums && gather->parts;
}

void as_view_gather_free(as_view_gather *gather) {
    as_view_groups_free(&gather->groups);
    free(gather->sums);
    free(gather->parts);
}

as_view_some as_view_gather_contexts(const as_view_gather *gather, uint32_t member) {
    const uint32_t *starts = gather->groups.starts + member;
    return (as_view_some){gather->groups.contexts + starts[0], sizeof(assay_id), starts[1] - starts[0]};
}

static double *parts_of(const as_view_gather *gather, size_t column) {
    const as_view_data *data = gather->walker->data;
    size_t before = 0;
    for (size_t k = 0; k < column; k++) before += 2 * (size_t)data->columns[k].list.n_parts;
    return data->columns[column].list.n_parts ? gather->parts + before : NULL;
}

/* Calls of a function below its caller have no exclusive value: what the function does is not done at that place. */
as_view_value as_view_gather_value(const as_view_gather *gather, const as_view_member *member, size_t column,
                                   as_view_some contexts) {
    const as_view_data *data = gather->walker->data;
    as_view_sum *sum = &gather->sums[column];
    as_view_sum_begin(sum, &data->columns[column], parts_of(gather, column));
    const char *at = (const char *)contexts.first;
    for (size_t i = 0; i < contexts.n; i++, at += contexts.step)
        as_view_sum_add(sum, data->source.ds, *(const assay_id *)(const void *)at);
    as_view_value value = as_view_sum_value(sum);
    if (member->level == AS_LEVEL_CALL) value.exclusive = (as_view_number){0};
    return value;
}

double as_view_gather_key(const as_view_gather *gather, const as_view_member *member, as_view_some contexts) {
    const as_view_walker *w = gather->walker;
    if (!w->data->n_columns) return 0;
    as_view_value value = as_view_gather_value(gather, member, 0, contexts);
    const as_view_column *first = &w->data->columns[0];
    /* Of stored values, of calls and where values can be missing, one that is missing is 0; a formula may have only the
     * other one */
    bool is_none = first->is_stored || first->can_be_empty || member->level == AS_LEVEL_CALL;
    bool has_both = first->has_exclusive && (value.exclusive.is_known || is_none);
    bool inclusive = (w->request->order == AS_SORT_INCLUSIVE || !has_both) && !first->lacks_inclusive;
    const as_view_number *number = inclusive ? &value.inclusive : &value.exclusive;
    return number->is_known ? as_view_size(number->real) : 0;
}

bool as_view_gather_show(const as_view_gather *gather, const as_view_pending *pending, const as_view_member *member,
                         assay_id context, as_view_some contexts) {
    as_view_walker *w = gather->walker;
    const as_dataset *ds = w->data->source.ds;
    const bool *wanted = w->request->wanted;
    bool is_context = as_view_member_is_context(member);
    for (size_t k = 0; k < w->data->n_columns; k++) w->values[k] = as_view_gather_value(gather, member, k, contexts);
    as_view_node node = {.level = (as_view_level)member->level,
                         .depth = pending->depth,
                         .is_last = pending->is_last,
                         .is_hot = pending->is_hot,
                         .is_wanted = wanted && (pending->depth == 0 || w->request->kind == AS_VIEW_FLAT) &&
                                      member->name != AS_NO_STR && wanted[member->name],
                         .is_inlined = is_context && as_ds_context(ds, context)->is_inlined,
                         .is_aside = member->is_aside && (pending->depth == 0 || w->request->kind == AS_VIEW_FLAT),
                         .context = is_context ? context : ASSAY_NONE,
                         .call_site = member->level == AS_LEVEL_CALL ? as_view_call_site(w, context) : ASSAY_NONE,
                         .origin = w->request->kind == AS_VIEW_BOTTOM_UP ? contexts.first[0] : ASSAY_NONE,
                         .is_cut = pending->is_cut,
                         .region = as_view_member_region(ds, member),
                         .name = member->name,
                         .values = w->values,
                         .contexts = contexts.first,
                         .n_contexts = contexts.n,
                         .step = contexts.step};
    return w->visit(w->user, &node);
}
