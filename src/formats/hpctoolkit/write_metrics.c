/* The metrics of a database: inclusive and exclusive ones of a name belong together, and each has an id. */
#include <stdlib.h>
#include <string.h>

#include "formats/hpctoolkit/metrics.h"
#include "formats/hpctoolkit/write_plan.h"

bool as_hpc_can_write(const as_dataset *ds, assay_id metric) {
    return as_ds_metric(ds, metric)->kind != AS_KIND_DERIVED &&
           !as_dtype_is_composite(as_ds_metric_type(ds, metric).dtype);
}

bool as_hpc_group_name(const as_hpc_plan *plan, const as_hpc_group *group, as_vec *name) {
    const char *text = as_ds_text(plan->ds, group->name);
    const char *unit = as_ds_text(plan->ds, as_ds_metric(plan->ds, group->first)->unit);
    name->count = 0;
    bool fine = as_vec_text(name, text ? text : "");
    if (group->names_unit) fine = fine && as_vec_text(name, " (") && as_vec_text(name, unit) && as_vec_text(name, ")");
    return fine && as_vec_append(name, "", 1);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static uint32_t *side_of(as_hpc_group *group, as_metric_kind kind) {
    switch (kind) {
    case AS_KIND_INCLUSIVE: return &group->inclusive;
    case AS_KIND_EXCLUSIVE: return &group->exclusive;
    case AS_KIND_POINT: return &group->point;
    case AS_KIND_LEXICAL: return &group->lexical;
    default: return &group->other;
    }
}

/* Whether the unit has to be put behind the name, where readers look for it. What came from a database has it there. */
static bool lacks_unit(const char *name, const char *unit) {
    if (!unit || !unit[0] || strpbrk(unit, "()")) return false;
    size_t size = 0;
    const char *named = name ? as_hpc_unit(name, &size) : NULL;
    return !named || size != strlen(unit) || memcmp(named, unit, size) != 0;
}

static uint32_t add_group(as_hpc_plan *plan, assay_id id) {
    const as_metric *metric = as_ds_metric(plan->ds, id);
    const char *unit = as_ds_text(plan->ds, metric->unit);
    as_hpc_group group = {.name = metric->name,
                          .first = id,
                          .names_unit = !plan->is_family && lacks_unit(as_ds_text(plan->ds, metric->name), unit),
                          .inclusive = ASSAY_NONE,
                          .exclusive = ASSAY_NONE,
                          .point = ASSAY_NONE,
                          .lexical = ASSAY_NONE,
                          .other = ASSAY_NONE};
    return as_vec_append(&plan->groups, &group, 1) ? (uint32_t)plan->groups.count - 1 : UINT32_MAX;
}

/* Adds a side to a group, or to a new one of the same name where it has such a side. *group UINT32_MAX: none yet. False
 * when memory is out. */
static bool add_side(as_hpc_plan *plan, uint32_t *group, assay_id metric, as_metric_kind kind, as_hpc_make make) {
    uint32_t at = *group;
    if (at == UINT32_MAX || *side_of(as_hpc_group_at(plan, at), kind) != ASSAY_NONE) at = add_group(plan, metric);
    if (at == UINT32_MAX) return false;
    if (*group == UINT32_MAX) *group = at;
    as_hpc_side side = {.metric = metric, .kind = kind, .make = make, .group = at};
    as_vec_init(&side.at, sizeof(uint32_t), as_ds_budget(plan->ds));
    as_vec_init(&side.values, sizeof(double), as_ds_budget(plan->ds));
    *side_of(as_hpc_group_at(plan, at), kind) = (uint32_t)plan->sides.count;
    return as_vec_append(&plan->sides, &side, 1);
}

/* A metric whose values add up along the tree has both sides; others have what they have. */
static bool add_sides(as_hpc_plan *plan, assay_id id, uint32_t *group) {
    const as_metric *metric = as_ds_metric(plan->ds, id);
    bool is_extreme = as_dtype_is_extreme(as_ds_metric_type(plan->ds, id).dtype);
    if (metric->is_stored) {
        if (plan->form == AS_HPC_2021 && (metric->kind == AS_KIND_POINT || metric->kind == AS_KIND_LEXICAL))
            return true;
        return add_side(plan, group, id, metric->kind, AS_HPC_AS_IT_IS);
    }
    if (metric->kind == AS_KIND_INCLUSIVE)
        return add_side(plan, group, id, AS_KIND_INCLUSIVE, AS_HPC_AS_IT_IS) &&
               (is_extreme || add_side(plan, group, id, AS_KIND_EXCLUSIVE, AS_HPC_DIFFERENCES));
    bool adds_up = metric->kind == AS_KIND_EXCLUSIVE;
    return add_side(plan, group, id, AS_KIND_EXCLUSIVE, AS_HPC_AS_IT_IS) &&
           add_side(plan, group, id, AS_KIND_INCLUSIVE, adds_up ? AS_HPC_SUMS : AS_HPC_AS_IT_IS);
}

static bool find_groups(as_hpc_plan *plan) {
    const as_dataset *ds = plan->ds;
    uint32_t *groups = malloc((ds->metrics.count + 1) * sizeof *groups);
    bool fine = groups != NULL;
    if (fine) memset(groups, 0xff, (ds->metrics.count + 1) * sizeof *groups);
    for (assay_id i = 0; i < ds->metrics.count && fine; i++) {
        assay_id head = as_ds_metric(ds, i)->part_of;
        if (!as_hpc_can_write(ds, i)) continue;
        fine = add_sides(plan, i, &groups[head < ds->metrics.count ? head : i]);
    }
    free(groups);
    return fine;
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* The source's, where it is of the same form and they are numbers from `least` to `most` that all differ. */
static bool keep_ids(as_hpc_plan *plan, uint32_t least, uint32_t most, bool *fits) {
    uint8_t *used = calloc(UINT16_MAX + 1, 1);
    if (!used) return false;
    *fits = as_hpc_is_from(plan->ds, plan->form == AS_HPC_2021 ? "hpctoolkit-2021" : "hpctoolkit-4");
    for (size_t i = 0; i < plan->sides.count && *fits; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        as_str text = as_ds_metric(plan->ds, side->metric)->source_id;
        as_number number = {.kind = AS_INT};
        *fits = side->make == AS_HPC_AS_IT_IS && text != AS_NO_STR &&
                as_number_parse(as_ds_text(plan->ds, text), as_str_size(&plan->ds->strings, text), &number) &&
                number.kind == AS_INT && number.i >= least && number.i <= most && !used[number.i];
        if (!*fits) break;
        used[number.i] = 1;
        side->id = (uint16_t)number.i;
    }
    free(used);
    return true;
}

/* Three ids for each group: point, exclusive, inclusive. */
static void number_2021(as_hpc_plan *plan) {
    for (size_t i = 0; i < plan->sides.count; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        side->id = (uint16_t)(side->group * 3 + (side->kind == AS_KIND_INCLUSIVE ? 2 : 1));
    }
}

/* Those of a group follow each other: point, exclusive, lexical, inclusive. Between them is room for the ids of their
 * statistics, so that those of sums can be the same: Hatchet does not tell one kind of ids from the other. */
static void number_4(as_hpc_plan *plan) {
    uint16_t next = AS_HPC_SUM;
    for (size_t i = 0; i < plan->groups.count; i++) {
        const as_hpc_group *group = as_hpc_group_at(plan, i);
        uint32_t sides[] = {group->point, group->exclusive, group->lexical, group->inclusive, group->other};
        for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
            if (sides[k] == ASSAY_NONE) continue;
            as_hpc_side_at(plan, sides[k])->id = next;
            next = (uint16_t)(next + AS_HPC_STATISTICS);
        }
    }
}

static int compare_sides(const void *a, const void *b) {
    const as_hpc_side *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* In order of their ids; groups point to them anew. */
static void sort_sides(as_hpc_plan *plan) {
    if (plan->sides.count) qsort(plan->sides.data, plan->sides.count, sizeof(as_hpc_side), compare_sides);
    for (size_t i = 0; i < plan->sides.count; i++) {
        const as_hpc_side *side = as_hpc_side_at(plan, i);
        *side_of(as_hpc_group_at(plan, side->group), side->kind) = (uint32_t)i;
    }
}

/* Ids of the summary profile are those of the metrics with some bits behind them, 16 in all. */
enum {
    WIDE_BITS = 8,
    NARROW_BITS = 4,
    MAX_ID_2021 = (1 << (16 - NARROW_BITS)) - 1,
    MAX_SIDES_4 = 65535 / AS_HPC_STATISTICS
};

assay_status as_hpc_plan_metrics(as_hpc_plan *plan) {
    bool is_2021 = plan->form == AS_HPC_2021, keeps = false;
    if (!find_groups(plan)) return as_fail_memory(plan->error, NULL);
    if (is_2021 ? plan->groups.count > MAX_ID_2021 / 3 : plan->sides.count > MAX_SIDES_4)
        return as_fail(plan->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "metrics",
                       "there are %zu metrics, more than the ids of the format can tell apart", plan->groups.count);
    if (!keep_ids(plan, is_2021 ? 1 : 0, is_2021 ? MAX_ID_2021 : UINT16_MAX, &keeps))
        return as_fail_memory(plan->error, NULL);
    if (!keeps) {
        if (is_2021)
            number_2021(plan);
        else
            number_4(plan);
    }
    sort_sides(plan);
    uint16_t largest = plan->sides.count ? as_hpc_side_at(plan, plan->sides.count - 1)->id : 0;
    plan->summary_bits = largest < 1 << (16 - WIDE_BITS) ? WIDE_BITS : NARROW_BITS;
    return ASSAY_OK;
}
