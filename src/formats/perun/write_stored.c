/* One profile of a store, as it is: the store's dataset has no regions, so its file is read again. */
#include "formats/perun/write.h"

/* The run that -O run names; without it the only one. */
static assay_status choose_run(const as_writer *writer, const char *text, assay_id *out) {
    size_t n = writer->dataset->runs.count;
    as_number number;
    *out = 0;
    if (!n) return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-profiles", "the store has no profiles");
    if (!text[0] && n > 1)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "several-runs",
                       "a profile is one run, and the store has %zu; choose one with -O run=0 … %zu (the ids of the "
                       "table run), or convert its file",
                       n, n - 1);
    if (!text[0]) return ASSAY_OK;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < 0 ||
        (uint64_t)number.i >= n)
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "run", "there is no run %s; they are 0 … %zu", text,
                       n - 1);
    *out = (assay_id)number.i;
    return ASSAY_OK;
}

bool as_perun_is_store(const as_dataset *ds) {
    return as_perun_of(ds) && strcmp(ds->format, as_format_perun_store.name) == 0;
}

assay_status as_perun_write_stored(as_writer *writer, const char *run_text) {
    const as_dataset *store = writer->dataset;
    as_read_config config = {
        .format = as_format_perun.name, .memory_limit = store->budget.limit, .budget = as_ds_budget(store)};
    as_dataset *alone = NULL;
    assay_id run;
    AS_TRY(choose_run(writer, run_text, &run));
    AS_TRY(as_read(as_ds_text(store, as_ds_run(store, run)->source), &config, &alone, writer->error));
    writer->dataset = alone;
    assay_status status = as_perun_write_alone(writer, NULL);
    writer->dataset = store;
    as_dataset_free(alone);
    return status;
}

void as_perun_stored_losses(const as_dataset *store, as_losses *losses) {
    const as_table *changes = as_ds_records(store, "change");
    size_t n_changes = changes ? as_table_rows(changes) : 0;
    if (store->runs.count > 1) as_lose(losses, "more than one of %zu runs", store->runs.count);
    if (n_changes) as_lose(losses, "%zu row%s of the table change", n_changes, n_changes == 1 ? "" : "s");
}
