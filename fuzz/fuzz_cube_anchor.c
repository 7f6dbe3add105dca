/* Reading anchor.xml, the description in a .cubex: tables that hold together, or an error in words. */
#include <stdlib.h>

#include "formats/format.h"
#include "io/tar.h"

enum { MEMORY = 1 << 28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_contexts(const as_dataset *ds) {
    size_t n = ds->contexts.count;
    for (assay_id i = 0; i < n; i++) {
        const as_context *c = as_ds_context(ds, i);
        if (c->region >= ds->regions.count || c->name == AS_NO_STR || c->subtree < 1 || c->subtree > n - i) abort();
        if (c->parent == ASSAY_NONE ? c->depth != 0 : c->parent >= i) abort();
        if (c->parent == ASSAY_NONE) continue;
        const as_context *parent = as_ds_context(ds, c->parent);
        if (c->depth != parent->depth + 1 || i + c->subtree > c->parent + parent->subtree) abort();
    }
}

static void check_locations(const as_dataset *ds) {
    for (assay_id i = 0; i < ds->locations.count; i++) {
        const as_location *l = as_ds_location(ds, i);
        if (l->name == AS_NO_STR || (l->leaf && l->parent == ASSAY_NONE)) abort();
        if (l->parent != ASSAY_NONE && (l->parent >= i || as_ds_location(ds, l->parent)->leaf)) abort();
        if (i && !l->leaf && as_ds_location(ds, i - 1)->leaf) abort(); /* leaves come last */
    }
}

static void check_attributes(const as_dataset *ds) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *a = as_ds_attribute(ds, i);
        size_t n = a->owner == AS_OWNER_METRIC     ? ds->metrics.count
                   : a->owner == AS_OWNER_REGION   ? ds->regions.count
                   : a->owner == AS_OWNER_CONTEXT  ? ds->contexts.count
                   : a->owner == AS_OWNER_LOCATION ? ds->locations.count
                                                   : 1;
        if (a->owner_id >= n || !as_ds_text(ds, a->key)) abort();
    }
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        const as_metric *m = as_ds_metric(ds, i);
        if (m->name == AS_NO_STR || (m->parent != ASSAY_NONE && m->parent >= i)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_output *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!out || !tar) abort();
    as_tar_add(tar, "anchor.xml", data, size);
    as_tar_finish(tar);
    size_t archive_size;
    const char *archive = as_output_memory(out, &archive_size);
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "cube", .memory_limit = MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", archive, archive_size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        check_contexts(ds);
        check_locations(ds);
        check_attributes(ds);
        as_dataset_free(ds);
    }
    as_output_discard(out);
    return 0;
}
