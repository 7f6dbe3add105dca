#include "analysis/nodes.h"

#include <math.h>

/* A (run, metric) over a range of contexts, in one of two arithmetics. */
typedef struct summation {
    const as_dataset *ds;
    assay_id run, metric, first;
    uint32_t n;
    as_node_sum *sums; /* n */
    bool is_real, is_unsigned;
} summation;

/* The first of lo … hi - 1 whose run is not below `run`; runs ascend. */
static uint64_t first_of_run(const assay_id *runs, uint64_t lo, uint64_t hi, assay_id run) {
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

static bool has_run(const as_block *block, const summation *sum) {
    return block->metric == sum->metric && (block->runs || block->run == sum->run);
}

static void add_row(as_node_sum *sum, const as_block *block, uint64_t row) {
    if (block->dtype == AS_DTYPE_INT64)
        sum->whole += ((const int64_t *)block->values)[row];
    else if (block->dtype == AS_DTYPE_UINT64)
        sum->whole += ((const uint64_t *)block->values)[row];
    sum->real_whole += as_block_real(block, row);
    sum->has_own = sum->has_data = true;
}

/* Adds up the contexts' own values over locations. */
static void add_block(summation *sum, const as_block *block) {
    for (uint32_t i = first_context(block, sum->first);
         i < block->n_contexts && block->contexts[i] - sum->first < sum->n; i++) {
        uint64_t row = block->starts[i], end = block->starts[i + 1];
        if (block->runs) row = first_of_run(block->runs, row, end, sum->run);
        as_node_sum *own = &sum->sums[block->contexts[i] - sum->first];
        for (; row < end && as_block_run(block, row) == sum->run; row++) add_row(own, block, row);
    }
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

static bool collect(const summation *sum, as_metric_kind kind, as_vec *out) {
    for (uint32_t i = 0; i < sum->n; i++) {
        const as_node_sum *node = &sum->sums[i];
        if (!(kind == AS_KIND_EXCLUSIVE ? node->has_data : node->has_own)) continue;
        as_node *row = as_vec_push(out);
        if (!row) return false;
        row->context = sum->first + i;
        row->has_exclusive = kind == AS_KIND_EXCLUSIVE || kind == AS_KIND_INCLUSIVE;
        row->inclusive = kind == AS_KIND_EXCLUSIVE ? sum_number(sum, node) : own_number(sum, node);
        row->exclusive = kind == AS_KIND_INCLUSIVE ? difference_number(sum, node) : own_number(sum, node);
    }
    return true;
}

bool as_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, as_vec *scratch, as_vec *out) {
    out->count = scratch->count = 0;
    summation sum = {.ds = ds, .run = run, .metric = metric, .is_unsigned = true};
    sum.first = root == ASSAY_NONE ? 0 : root;
    sum.n = root == ASSAY_NONE ? (uint32_t)AS_COUNT(ds, contexts) : as_ds_context(ds, root)->subtree;
    bool has_data = false;
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        const as_block *block = as_ds_block(ds, i);
        if (!has_run(block, &sum)) continue;
        has_data = true;
        sum.is_real |= block->dtype == AS_DTYPE_DOUBLE;
        sum.is_unsigned &= block->dtype == AS_DTYPE_UINT64;
    }
    if (!has_data) return true;
    if (!as_vec_reserve(scratch, sum.n)) return false;
    sum.sums = scratch->data;
    memset(sum.sums, 0, sum.n * sizeof *sum.sums);
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        if (has_run(as_ds_block(ds, i), &sum)) add_block(&sum, as_ds_block(ds, i));
    }
    as_metric_kind kind = as_ds_metric(ds, metric)->kind;
    if (kind == AS_KIND_INCLUSIVE || kind == AS_KIND_EXCLUSIVE) add_children(&sum, kind == AS_KIND_INCLUSIVE);
    return collect(&sum, kind, out);
}
