/* The formats `hpctoolkit-4` and `hpctoolkit-4-draft`: meta.db with profile.db, cct.db and trace.db. */
#include "formats/hpctoolkit/meta.h"

#include "formats/hpctoolkit/formulas.h"
#include "formats/hpctoolkit/hpctoolkit.h"
#include "formats/hpctoolkit/write.h"

enum {
    TICKS_PER_SECOND = 1000000000,
    HOLDS =
        AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | AS_HOLDS_PROFILES
};

/* How many context ids to expect. Samples may name contexts that have no values, so that profile.db and cct.db do not
 * tell; but ids are dense, more or less, and a context takes more than twice these bytes. */
static uint32_t expect_contexts(const as_meta *meta, const as_hpc_database *db) {
    uint32_t limit = as_hpc_context_limit(db);
    size_t likely = meta->size / 16 < UINT32_MAX ? meta->size / 16 : UINT32_MAX;
    return likely > limit ? (uint32_t)likely : limit;
}

static assay_status read_tables(as_meta *meta, as_hpc_database *db, const char *directory) {
    as_dataset *ds = meta->ds;
    AS_TRY(as_meta_read_names(meta));
    AS_TRY(as_meta_read_metrics(meta));
    AS_TRY(as_meta_read_contexts(meta, expect_contexts(meta, db)));
    AS_TRY(as_hpc_add_placeless(meta->reader, db, &meta->tree, meta->contexts, meta->n_contexts));
    if (meta->has_sources) ds->source_root = as_ds_intern_text(ds, *directory ? directory : ".");
    if (meta->has_sources && ds->source_root == AS_NO_STR) return as_fail_memory(meta->reader->error, meta->path);
    AS_TRY(as_meta_finish_contexts(meta));
    as_hpc_meaning meaning = {.kinds = meta->kinds.data,
                              .n_kinds = meta->kinds.count,
                              .metrics = meta->metrics.data,
                              .n_metrics = meta->metrics.count,
                              .statistics = meta->statistics.data,
                              .n_statistics = meta->statistics.count,
                              .contexts = meta->contexts,
                              .n_contexts = meta->n_contexts,
                              .ticks_per_second = TICKS_PER_SECOND};
    AS_TRY(as_hpc_read_metrics_yaml(meta->reader, directory, &meaning));
    return as_hpc_attach(meta->reader, db, &meaning);
}

static assay_status read_database(as_reader *reader) {
    char directory[PATH_MAX];
    as_input *file;
    as_hpc_database *db;
    AS_TRY(as_hpc_directory(reader, directory));
    AS_TRY(as_hpc_open_file(reader, directory, "meta.db", &file, reader->error));
    as_meta meta;
    assay_status status = as_meta_open(&meta, reader, file->path, file->data, file->size);
    if (status == ASSAY_OK) status = as_hpc_open(reader, directory, AS_HPC_4, &db);
    if (status == ASSAY_OK) status = read_tables(&meta, db, directory);
    as_meta_free(&meta);
    return status;
}

static int bid_4(const as_probe *probe) { return as_hpc_bid(probe, AS_HPC_GENERATION_4); }
static int bid_draft(const as_probe *probe) { return as_hpc_bid(probe, AS_HPC_GENERATION_DRAFT); }

const as_format as_format_hpctoolkit_4 = {
    .name = "hpctoolkit-4",
    .title = "HPCToolkit database 4",
    .extensions = "",
    .holds = AS_HPC_HOLDS,
    .reads_directories = true,
    .writes_directories = true,
    .write_options = as_hpc_write_options,
    .bid = bid_4,
    .read = read_database,
    .write = as_hpc_write_4,
    .losses = as_hpc_losses_4,
};

const as_format as_format_hpctoolkit_4_draft = {
    .name = "hpctoolkit-4-draft",
    .title = "HPCToolkit database 4 draft",
    .versioned = "meta.db",
    .extensions = "",
    .holds = HOLDS,
    .reads_directories = true,
    .bid = bid_draft,
    .read = read_database,
};
