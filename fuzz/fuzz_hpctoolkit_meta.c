/* Reading meta.db, of the released form and of the draft whose metrics have 24 bytes. The first byte says how many
 * context ids profiles have; the rest is the file. */
#include <stdlib.h>

#include "core/utf8.h"
#include "formats/hpctoolkit/meta.h"

enum { MEMORY = 1 << 28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static assay_status read_all(as_meta *meta, as_reader *reader, const uint8_t *data, size_t size, uint32_t limit) {
    AS_TRY(as_meta_open(meta, reader, "meta.db", data, size));
    AS_TRY(as_meta_read_names(meta));
    AS_TRY(as_meta_read_metrics(meta));
    AS_TRY(as_meta_read_contexts(meta, limit));
    return as_meta_finish_contexts(meta);
}

static void check_text(const as_dataset *ds, as_str id) {
    if (id == AS_NO_STR) return;
    if (as_utf8_invalid(as_ds_text(ds, id), as_str_size(&ds->strings, id))) abort();
}

/* Parents come before their children, whose subtrees lie in theirs; every context has a region. */
static void check_contexts(const as_dataset *ds) {
    if (!ds->contexts.count || as_ds_context(ds, 0)->subtree != ds->contexts.count) abort();
    for (assay_id i = 0; i < ds->contexts.count; i++) {
        const as_context *context = as_ds_context(ds, i);
        check_text(ds, context->name);
        if (context->region >= ds->regions.count || (i && context->parent >= i)) abort();
        if (!i) continue;
        const as_context *parent = as_ds_context(ds, context->parent);
        if (context->depth != parent->depth + 1 || i + context->subtree > context->parent + parent->subtree) abort();
    }
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_CONTEXT && attribute->owner_id >= ds->contexts.count) abort();
    }
}

/* Each id of profiles is one metric's, and sides belong to each other. */
static void check_metrics(const as_dataset *ds, const as_meta *meta) {
    if (meta->metrics.count != ds->metrics.count) abort();
    for (size_t i = 0; i < ds->metrics.count; i++) {
        const as_metric *metric = as_ds_metric(ds, (assay_id)i);
        check_text(ds, metric->name);
        if (!metric->is_stored) abort();
        if (metric->exclusive != ASSAY_NONE && as_ds_metric(ds, metric->exclusive)->part_of != i) abort();
        if (metric->part_of == ASSAY_NONE) continue;
        const as_metric *whole = as_ds_metric(ds, metric->part_of);
        if (whole->part_of != ASSAY_NONE || metric->exclusive != ASSAY_NONE) abort();
        if (whole->kind != AS_KIND_INCLUSIVE && whole->kind != AS_KIND_LEXICAL && whole->kind != AS_KIND_EXCLUSIVE)
            abort();
    }
    for (size_t i = 0; i < meta->statistics.count; i++)
        if (AS_AT(as_hpc_statistic, &meta->statistics, i).metric >= ds->metrics.count) abort();
}

static void read_once(const uint8_t *data, size_t size, uint32_t limit, bool keep_going) {
    as_dataset *ds = as_dataset_new(MEMORY);
    assay_error error = {.message = ""};
    as_reader reader = {.dataset = ds, .error = &error, .keep_going = keep_going};
    as_meta meta;
    if (!ds) abort();
    assay_status status = read_all(&meta, &reader, data, size, limit);
    if (status == ASSAY_OK) {
        check_contexts(ds);
        check_metrics(ds, &meta);
    } else if (!error.message[0]) {
        abort();
    }
    as_meta_free(&meta);
    as_dataset_free(ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    read_once(data + 1, size - 1, data[0], false);
    read_once(data + 1, size - 1, data[0], true);
    return 0;
}
