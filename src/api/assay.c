/* The public functions of include/assay/assay.h, but for those of SQL (query/). */
#include "assay/assay.h"

#include "dataset/merge.h"
#include "formats/format.h"
#include "query/target.h"

const char *assay_version(void) { return ASSAY_VERSION; }

/* ---- opening and saving ------------------------------------------------------------------------------------------ */

assay_status assay_open(const char *path, const assay_config *config, assay_dataset **out, assay_error *error) {
    static const assay_config defaults = {0};
    if (!config) config = &defaults;
    as_read_config read = {.format = config->format,
                           .options = config->options,
                           .memory_limit = config->memory_limit,
                           .depth_limit = config->depth_limit,
                           .keep_going = config->keep_going,
                           .progress = config->progress,
                           .user = config->user};
    assay_error unwanted;
    *out = NULL;
    return as_read(path, &read, out, error ? error : &unwanted);
}

assay_status assay_merge(assay_dataset *const *parts, size_t n, assay_dataset **out, assay_error *error) {
    assay_error unwanted;
    *out = NULL;
    if (!as_can_merge(parts, n)) {
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "not-mergeable",
                       "the datasets do not have the same parameters; only points of one experiment can be merged");
    }
    return as_merge(parts, n, out, error ? error : &unwanted);
}

assay_status assay_save(const assay_dataset *dataset, const char *path, const assay_config *config,
                        assay_error *error) {
    static const assay_config defaults = {0};
    if (!config) config = &defaults;
    assay_error unwanted;
    if (!error) error = &unwanted;
    as_target target;
    AS_TRY(as_target_find(config->format, path, &target, error));
    as_losses losses;
    as_target_losses(&target, dataset, &losses);
    assay_status status = config->strict && losses.failed ? as_fail_memory(error, path) : ASSAY_OK;
    if (status == ASSAY_OK && config->strict && losses.texts.count) {
        status = as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "loss", "%s cannot hold %s", target.name,
                         AS_AT(char *, &losses.texts, 0));
    }
    as_losses_free(&losses);
    return status == ASSAY_OK ? as_target_write(&target, dataset, path, config->options, error) : status;
}

assay_status assay_losses(const assay_dataset *dataset, const char *format, void (*loss)(void *user, const char *text),
                          void *user, assay_error *error) {
    as_target target;
    AS_TRY(as_target_find(format ? format : "", "", &target, error));
    as_losses losses;
    as_target_losses(&target, dataset, &losses);
    for (size_t i = 0; i < losses.texts.count; i++) loss(user, AS_AT(char *, &losses.texts, i));
    assay_status status = losses.failed ? as_fail_memory(error, NULL) : ASSAY_OK;
    as_losses_free(&losses);
    return status;
}

void assay_close(assay_dataset *dataset) { as_dataset_free(dataset); }

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

const char *assay_format_name(const assay_dataset *dataset) { return dataset->format; }
const char *assay_format_version(const assay_dataset *dataset) { return as_ds_text(dataset, dataset->format_version); }

uint64_t assay_count(const assay_dataset *ds, assay_kind kind) {
    const as_table *records;
    switch (kind) {
    case ASSAY_PARAMETERS: return as_ds_parameters(ds);
    case ASSAY_POINTS: return ds->n_points;
    case ASSAY_RUNS: return AS_COUNT(ds, runs);
    case ASSAY_METRICS: return AS_COUNT(ds, metrics);
    case ASSAY_REGIONS: return AS_COUNT(ds, regions);
    case ASSAY_CONTEXTS: return AS_COUNT(ds, contexts);
    case ASSAY_LOCATIONS: return as_ds_leaves(ds);
    case ASSAY_VALUES: return as_ds_values(ds);
    case ASSAY_EVENTS: return as_ds_events(ds);
    case ASSAY_RECORDS: return (records = as_ds_records(ds, "record")) ? as_table_rows(records) : 0;
    case ASSAY_MODELS: return AS_COUNT(ds, models);
    case ASSAY_ATTRIBUTES: return as_ds_attribute_count(ds);
    case ASSAY_PROBLEMS: return as_ds_problems(ds);
    }
    return 0;
}

bool assay_metric_get(const assay_dataset *ds, assay_id id, assay_metric *out) {
    if (id >= AS_COUNT(ds, metrics)) return false;
    const as_metric *m = as_ds_metric(ds, id);
    *out = (assay_metric){.name = as_ds_text(ds, m->name),
                          .display_name = as_ds_text(ds, m->display_name),
                          .unit = as_ds_text(ds, m->unit),
                          .dtype = as_ds_text(ds, m->dtype),
                          .kind = as_kind_name(m->kind),
                          .description = as_ds_text(ds, m->description),
                          .parent = m->parent};
    return true;
}

bool assay_problem_get(const assay_dataset *ds, assay_id id, assay_problem *out) {
    if (id >= as_ds_problems(ds)) return false;
    const as_problem *p = as_ds_problem(ds, id);
    *out = (assay_problem){.severity = as_severity_name(p->severity),
                           .rule = p->rule,
                           .file = p->file,
                           .message = p->message,
                           .offset = p->offset,
                           .line = p->line,
                           .column = p->column};
    return true;
}
