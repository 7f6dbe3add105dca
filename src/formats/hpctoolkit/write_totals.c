/* The summary profile: the source's statistics as they are, or those of the rows. */
#include "formats/hpctoolkit/write_plan.h"

#include <stdlib.h>

enum { ALL_STATISTICS = (1 << AS_HPC_STATISTICS) - 1 };

bool as_hpc_add_totals(const as_hpc_plan *plan, const as_hpc_side *side, uint32_t context, const as_sparse_line *line,
                       as_vec *totals) {
    unsigned wanted = as_hpc_group_at(plan, side->group)->statistics;
    double numbers[AS_HPC_STATISTICS] = {line->n, 0, 0, INFINITY, -INFINITY};
    if (!line->n) return true;
    for (uint32_t i = 0; i < line->n; i++) {
        double value = line->values[i];
        numbers[AS_HPC_SUM] += value;
        numbers[AS_HPC_SUMSQ] += value * value;
        numbers[AS_HPC_MIN] = as_part_combine(AS_PART_MINIMUM, numbers[AS_HPC_MIN], value);
        numbers[AS_HPC_MAX] = as_part_combine(AS_PART_MAXIMUM, numbers[AS_HPC_MAX], value);
    }
    for (unsigned k = 0; k < AS_HPC_STATISTICS; k++) {
        if (!(wanted >> k & 1) || numbers[k] == 0) continue;
        as_hpc_total total = {.context = context,
                              .id = (uint16_t)(side->summary_id + as_hpc_statistic_index(wanted, k)),
                              .value = numbers[k]};
        if (!as_vec_append(totals, &total, 1)) return false;
    }
    return true;
}

/* ---- those of the source ----------------------------------------------------------------------------------------- */

typedef struct stored {
    const as_summary *list;
    size_t n;
    uint32_t *sides; /* for each metric its side, or UINT32_MAX */
    as_str names[AS_HPC_STATISTICS];
} stored;

/* Which statistic a stored one is, of which side; UINT32_MAX: none of ours. */
static uint32_t side_of(const as_hpc_plan *plan, const stored *s, const as_summary *summary, unsigned *statistic) {
    if (summary->metric >= plan->ds->metrics.count || summary->context >= plan->n_contexts) return UINT32_MAX;
    for (unsigned k = 0; k < AS_HPC_STATISTICS; k++) {
        if (summary->statistic != s->names[k]) continue;
        *statistic = k;
        return s->sides[summary->metric];
    }
    return UINT32_MAX;
}

/* The statistics of each group; one without any has those of the others. */
static void find_statistics(as_hpc_plan *plan, const stored *s) {
    unsigned all = 0, k = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t side = side_of(plan, s, &s->list[i], &k);
        if (side == UINT32_MAX) continue;
        as_hpc_group_at(plan, as_hpc_side_at(plan, side)->group)->statistics |= 1u << k;
        all |= 1u << k;
    }
    plan->has_totals = all != 0;
    for (size_t i = 0; i < plan->groups.count; i++) {
        as_hpc_group *group = as_hpc_group_at(plan, i);
        if (!group->statistics) group->statistics = all ? all : ALL_STATISTICS;
    }
}

/* Numbers statistics so that the sum of a metric has the metric's id; false where these leave no room for the others.
 * Sides are in order of their ids. */
static bool number_around_sums(as_hpc_plan *plan) {
    unsigned next = 0;
    for (size_t i = 0; i < plan->sides.count; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        unsigned statistics = as_hpc_group_at(plan, side->group)->statistics;
        unsigned before = as_hpc_statistic_index(statistics, AS_HPC_SUM);
        if (side->id < next + before || !(statistics >> AS_HPC_SUM & 1)) return false;
        side->summary_id = (uint16_t)(side->id - before);
        next = side->summary_id + (unsigned)__builtin_popcount(statistics);
    }
    return next <= UINT16_MAX;
}

static void number_totals(as_hpc_plan *plan) {
    if (plan->form != AS_HPC_2021 && number_around_sums(plan)) return;
    unsigned next = 0;
    for (size_t i = 0; i < plan->sides.count; i++) {
        as_hpc_side *side = as_hpc_side_at(plan, i);
        unsigned n = (unsigned)__builtin_popcount(as_hpc_group_at(plan, side->group)->statistics);
        side->summary_id = (uint16_t)(plan->form == AS_HPC_2021 ? (unsigned)side->id << plan->summary_bits : next);
        next += n;
    }
}

static int compare_totals(const void *a, const void *b) {
    const as_hpc_total *x = a, *y = b;
    return x->context != y->context ? (x->context < y->context ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

static bool are_sorted(const as_vec *totals) {
    for (size_t i = 1; i < totals->count; i++) {
        if (compare_totals(&AS_AT(as_hpc_total, totals, i - 1), &AS_AT(as_hpc_total, totals, i)) >= 0) return false;
    }
    return true;
}

/* By context in one pass, then each context's; of two that say the same the first stays. */
static bool sort_totals(as_hpc_plan *plan) {
    as_vec *totals = &plan->totals;
    if (are_sorted(totals)) return true;
    size_t n = totals->count, to = 0;
    size_t *next = calloc((size_t)plan->n_ids + 1, sizeof *next);
    as_hpc_total *sorted = malloc(n * sizeof *sorted);
    bool fine = next && sorted;
    for (size_t i = 0; i < n && fine; i++) next[AS_AT(as_hpc_total, totals, i).context + 1]++;
    for (size_t i = 0; i < plan->n_ids && fine; i++) next[i + 1] += next[i];
    for (size_t i = 0; i < n && fine; i++) {
        const as_hpc_total *total = &AS_AT(as_hpc_total, totals, i);
        sorted[next[total->context]++] = *total;
    }
    for (size_t i = 0, end; i < n && fine; i = end) {
        for (end = i + 1; end < n && sorted[end].context == sorted[i].context;) end++;
        qsort(sorted + i, end - i, sizeof *sorted, compare_totals);
        for (size_t k = i; k < end; k++) {
            if (k == i || sorted[k].id != sorted[k - 1].id) AS_AT(as_hpc_total, totals, to++) = sorted[k];
        }
    }
    if (fine) totals->count = to;
    free(next);
    free(sorted);
    return fine;
}

static bool take_stored(as_hpc_plan *plan, const stored *s) {
    if (!as_vec_reserve(&plan->totals, s->n)) return false;
    for (size_t i = 0; i < s->n; i++) {
        const as_summary *summary = &s->list[i];
        unsigned k = 0;
        uint32_t at = side_of(plan, s, summary, &k);
        double value = summary->value.type == AS_CELL_REAL   ? summary->value.r
                       : summary->value.type == AS_CELL_INT  ? (double)summary->value.i
                       : summary->value.type == AS_CELL_UINT ? (double)summary->value.u
                                                             : 0;
        if (at == UINT32_MAX || value == 0) continue;
        const as_hpc_side *side = as_hpc_side_at(plan, at);
        unsigned statistics = as_hpc_group_at(plan, side->group)->statistics;
        as_hpc_total total = {.context = plan->ids[summary->context],
                              .id = (uint16_t)(side->summary_id + as_hpc_statistic_index(statistics, k)),
                              .value = value};
        if (!as_vec_append(&plan->totals, &total, 1)) return false;
    }
    return sort_totals(plan);
}

assay_status as_hpc_plan_totals(as_hpc_plan *plan) {
    stored s = {0};
    if (plan->is_family && plan->ds->runs.count == 1) AS_TRY(as_ds_summaries(plan->ds, &s.list, &s.n, plan->error));
    s.sides = malloc((plan->ds->metrics.count + 1) * sizeof *s.sides);
    if (!s.sides) return as_fail_memory(plan->error, NULL);
    memset(s.sides, 0xff, (plan->ds->metrics.count + 1) * sizeof *s.sides);
    for (unsigned k = 0; k < AS_HPC_STATISTICS; k++)
        s.names[k] = as_find(&plan->ds->strings, as_hpc_statistic_names[k], strlen(as_hpc_statistic_names[k]));
    for (size_t i = 0; i < plan->sides.count; i++) {
        const as_hpc_side *side = as_hpc_side_at(plan, i);
        if (side->make == AS_HPC_AS_IT_IS) s.sides[side->metric] = (uint32_t)i;
    }
    find_statistics(plan, &s);
    number_totals(plan);
    bool fine = !plan->has_totals || take_stored(plan, &s);
    free(s.sides);
    return fine ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}
