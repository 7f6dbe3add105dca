/* The bytes as anchor.xml of a .cubex with the values of three metrics: tables that hold together, or an error
 * in words; and writing it again (see reader.h). */
#include "io/tar.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Plain rows of two contexts with two locations; a packed one; a number of bytes that fits nothing. */
static const char index_of_two[] = "CUBEX.INDEX\1\0\0\0\0\0\1\2\0\0\0\0\0\0\0\1\0\0\0";
static const char index_of_one[] = "CUBEX.INDEX\1\0\0\0\0\0\1\1\0\0\0\0\0\0\0";
static const char plain[] = "CUBEX.DATA01234567890123456789012345678901";
static const char packed[] = "ZCUBEX.DATA\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x11\0\0\0\0\0\0\0"
                             "\x78\x9c\x63\x60\x00\x81\x0f\xf6\x0c\x10\xe0\x00\x00\x0b\xe7\x01\x70";

static void add(as_tar_writer *tar, const char *name, const char *content, size_t size_with_nul) {
    as_tar_add(tar, name, content, size_with_nul - 1);
}

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

static void check_tables(const char *archive, size_t size) {
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "cube", .memory_limit = AS_FUZZ_MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        if (as_read_memory("input", archive, size, &config, &ds, NULL) != ASSAY_OK) continue;
        check_contexts(ds);
        check_locations(ds);
        check_attributes(ds);
        as_dataset_free(ds);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_output *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!tar) abort();
    add(tar, "0.index", index_of_two, sizeof index_of_two);
    add(tar, "0.data", plain, sizeof plain);
    add(tar, "1.index", index_of_one, sizeof index_of_one);
    add(tar, "1.data", packed, sizeof packed);
    add(tar, "2.index", index_of_one, sizeof index_of_one);
    add(tar, "2.data", plain, sizeof plain - 5);
    add(tar, "remapping.spec", "text", 5);
    as_tar_add(tar, "anchor.xml", data, size);
    as_tar_finish(tar);
    size_t archive_size;
    const char *archive = as_output_memory(out, &archive_size);
    check_tables(archive, archive_size);
    fuzz_reader("cube", (const uint8_t *)archive, archive_size);
    as_output_discard(out);
    return 0;
}
