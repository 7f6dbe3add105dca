#include "analysis/nodes.h"

#include <math.h>

/* A (run, metric) over a range of contexts, in one of two arithmetics. */
typedef struct summation {
    const as_dataset *ds;
    assay_id run, first;
    uint32_t n;
    as_node_sum *sums; /* n */
    bool is_real, is_unsigned;
} summation;

/* The first of lo … hi - 1 whose run is not below `run`; runs ascend. */
static uint64_t first_of_run(const assay_id *runs, uint64_t n, assay_id run) {
    uint64_t lo = 0, hi = n;
    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (runs[middle] < run)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Index of the first context of the block that is not below `context`. */
static uint32_t first_context(const as_block *block, assay_id context) {
    uint32_t lo = 0, hi = block->n_contexts;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (block->contexts[middle] < context)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The values of a metric in a run, with those of other runs where the source keeps them together. */
static const as_block *find_block(const as_dataset *ds, assay_id metric, assay_id run) {
    const as_block *all_runs = as_ds_metric_block(ds, metric);
    for (size_t i = 0; !all_runs && i < AS_COUNT(ds, blocks); i++) {
        const as_block *block = as_ds_block(ds, i);
        if (block->metric == metric && block->run == run) return block;
    }
    return all_runs;
}

static void add_row(as_node_sum *sum, const as_block *block, uint64_t row) {
    if (block->dtype == AS_DTYPE_INT64)
        sum->whole += ((const int64_t *)block->values)[row];
    else if (block->dtype == AS_DTYPE_UINT64)
        sum->whole += ((const uint64_t *)block->values)[row];
    sum->real_whole += as_block_real(block, row);
    sum->has_own = sum->has_data = true;
}

/* The sum over locations for the context number i of the block. */
static void add_context(const summation *sum, const as_block *block, uint32_t i, as_node_sum *own) {
    uint64_t row = block->starts[i], end = block->starts[i + 1];
    if (block->runs) row += first_of_run(as_block_runs(block, i), end - row, sum->run);
    for (; row < end && as_block_run(block, row) == sum->run; row++) add_row(own, block, row);
}

/* Whether context number i of the block belongs to the range. */
static bool is_in_range(const summation *sum, const as_block *block, uint32_t i) {
    return i < block->n_contexts && block->contexts[i] - sum->first < sum->n;
}

/* Hands each context's sum to its parent, from the last one on: a child comes behind its parent. `inclusive`: the parents
 * get the children's own values, otherwise those of their whole subtrees. */
static void add_children(summation *sum, bool inclusive) {
    for (uint32_t i = sum->n; i-- > 1;) {
        const as_node_sum *child = &sum->sums[i];
        assay_id parent_id = as_ds_context(sum->ds, sum->first + i)->parent;
        if (!child->has_data || parent_id == ASSAY_NONE || parent_id < sum->first) continue;
        as_node_sum *parent = &sum->sums[parent_id - sum->first];
        parent->other += child->whole;
        parent->real_other += child->real_whole;
        if (inclusive) continue;
        parent->other += child->other;
        parent->real_other += child->real_other;
        parent->has_data = true;
    }
}

static as_number integer_number(__int128 value) {
    if (value >= INT64_MIN && value <= INT64_MAX) return (as_number){.kind = AS_INT, .i = (int64_t)value};
    if (value > 0 && value <= UINT64_MAX) return (as_number){.kind = AS_UINT, .u = (uint64_t)value};
    return (as_number){.kind = AS_REAL, .r = (double)value};
}

static as_number real_number(double value) { return (as_number){.kind = AS_REAL, .r = value}; }

static as_number own_number(const summation *sum, const as_node_sum *node) {
    return sum->is_real ? real_number(node->real_whole) : integer_number(node->whole);
}

static as_number sum_number(const summation *sum, const as_node_sum *node) {
    return sum->is_real ? real_number(node->real_whole + node->real_other) : integer_number(node->whole + node->other);
}

static as_number difference_number(const summation *sum, const as_node_sum *node) {
    if (sum->is_real) return real_number(node->real_whole - node->real_other);
    __int128 difference = node->whole - node->other;
    return integer_number(sum->is_unsigned && difference < 0 ? 0 : difference);
}

static bool add_node(const summation *sum, as_metric_kind kind, assay_id context, const as_node_sum *node,
                     as_vec *out) {
    if (!(kind == AS_KIND_EXCLUSIVE ? node->has_data : node->has_own)) return true;
    as_node *row = as_vec_push(out);
    if (!row) return false;
    row->context = context;
    row->has_exclusive = kind == AS_KIND_EXCLUSIVE || kind == AS_KIND_INCLUSIVE;
    row->inclusive = kind == AS_KIND_EXCLUSIVE ? sum_number(sum, node) : own_number(sum, node);
    row->exclusive = kind == AS_KIND_INCLUSIVE ? difference_number(sum, node) : own_number(sum, node);
    return true;
}

/* Values that stand for themselves: only the contexts that have any are looked at. */
static bool collect_own(const summation *sum, as_metric_kind kind, const as_block *block, as_vec *out) {
    for (uint32_t i = first_context(block, sum->first); is_in_range(sum, block, i); i++) {
        as_node_sum own = {0};
        add_context(sum, block, i, &own);
        if (!add_node(sum, kind, block->contexts[i], &own, out)) return false;
    }
    return true;
}

/* Values that add up along the tree. */
static bool collect_sums(summation *sum, as_metric_kind kind, const as_block *block, as_vec *scratch, as_vec *out) {
    if (!as_vec_reserve(scratch, sum->n)) return false;
    sum->sums = scratch->data;
    memset(sum->sums, 0, sum->n * sizeof *sum->sums);
    for (uint32_t i = first_context(block, sum->first); is_in_range(sum, block, i); i++)
        add_context(sum, block, i, &sum->sums[block->contexts[i] - sum->first]);
    add_children(sum, kind == AS_KIND_INCLUSIVE);
    for (uint32_t i = 0; i < sum->n; i++) {
        if (!add_node(sum, kind, sum->first + i, &sum->sums[i], out)) return false;
    }
    return true;
}

bool as_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_vec *scratch, as_vec *out) {
    out->count = scratch->count = 0;
    const as_block *block = find_block(ds, metric, run);
    if (!block) return true;
    summation sum = {.ds = ds,
                     .run = run,
                     .is_real = block->dtype == AS_DTYPE_DOUBLE,
                     .is_unsigned = block->dtype == AS_DTYPE_UINT64};
    sum.first = root == ASSAY_NONE ? 0 : root;
    sum.n = root == ASSAY_NONE ? (uint32_t)AS_COUNT(ds, contexts) : as_ds_context(ds, root)->subtree;
    as_metric_kind kind = as_ds_metric(ds, metric)->kind;
    bool adds_up = kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE;
    return adds_up ? collect_sums(&sum, kind, block, scratch, out) : collect_own(&sum, kind, block, out);
}
