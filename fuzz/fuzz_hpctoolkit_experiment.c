/* experiment.xml of both generations, without the files beside it: read twice (stopping at the first broken rule, and
 * going on). The first byte says which generation. What comes out holds together: parents before children, ids that
 * exist, pairs of metrics that know each other. */
#include "../tests/unit/experiments.h"

enum { MEMORY = 1 << 28 };

static void check_contexts(const as_dataset *ds) {
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        const as_context *context = as_ds_context(ds, i);
        if (context->name == AS_NO_STR || context->region >= ds->regions.count) abort();
        if (i == 0 ? context->parent != ASSAY_NONE : context->parent >= i) abort();
        if (i && context->depth != as_ds_context(ds, context->parent)->depth + 1) abort();
    }
}

static void check_metrics(const experiment *e) {
    const as_dataset *ds = e->ds;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(ds, i);
        if (metric->exclusive != ASSAY_NONE && as_ds_metric(ds, metric->exclusive)->part_of != i) abort();
        if (metric->part_of == ASSAY_NONE) continue;
        const as_metric *whole = as_ds_metric(ds, metric->part_of);
        if (whole->part_of != ASSAY_NONE || metric->exclusive != ASSAY_NONE) abort();
        if (whole->kind != AS_KIND_INCLUSIVE && whole->kind != AS_KIND_LEXICAL && whole->kind != AS_KIND_EXCLUSIVE)
            abort();
    }
    for (size_t i = 0; i < e->metrics.count; i++)
        if (AS_AT(as_hpc_metric, &e->metrics, i).metric >= ds->metrics.count) abort();
    for (size_t i = 0; i < e->statistics.count; i++)
        if (AS_AT(as_hpc_statistic, &e->statistics, i).metric >= ds->metrics.count) abort();
    for (size_t i = 0; i < e->columns.count; i++)
        if (AS_AT(as_hpc_column, &e->columns, i).metric >= ds->metrics.count) abort();
}

static void check(const experiment *e) {
    if (!e->ds->contexts.count) abort();
    check_contexts(e->ds);
    check_metrics(e);
    for (size_t i = 0; i < e->xml->values.count; i++)
        if (AS_AT(as_hpc_value, &e->xml->values, i).context >= e->ds->contexts.count) abort();
    for (size_t i = 0; i < e->ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(e->ds, i);
        if (attribute->owner == AS_OWNER_CONTEXT && attribute->owner_id >= e->ds->contexts.count) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!size) return 0;
    bool is_2x = bytes[0] == '2';
    experiment e;
    for (int keep_going = 0; keep_going <= 1; keep_going++) {
        assay_status status = open_experiment(&e, (const char *)bytes + 1, size - 1, is_2x, MEMORY, keep_going == 1);
        if (status == ASSAY_OK) check(&e);
        if (status == ASSAY_E_FORMAT && (!e.error.rule[0] || !e.error.message[0])) abort();
        close_experiment(&e);
    }
    return 0;
}
