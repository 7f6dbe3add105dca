#include "formats/stack_target.h"

#include "dataset/main_metric.h"
#include "dataset/metric_names.h"

static assay_status add_named(const as_writer *writer, const char *name, size_t size, as_vec *out) {
    char why[512];
    assay_id id = as_metric_by_name(writer->dataset, name, size, false, why, sizeof why);
    if (id == ASSAY_NONE) return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "metric", "-O metric: %s", why);
    for (size_t i = 0; i < out->count; i++) {
        if (AS_AT(assay_id, out, i) == id) return ASSAY_OK;
    }
    return as_vec_append(out, &id, 1) ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

assay_status as_stack_fail_large(assay_error *error) {
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-large",
                   "the call paths have more than %llu frames, which samples would repeat; cut the tree first",
                   (unsigned long long)AS_STACK_MOST_WRITTEN);
}

assay_status as_stack_target_metrics(const as_writer *writer, as_vec *out) {
    const as_dataset *ds = writer->dataset;
    const char *names = as_option_text(&writer->options, "metric");
    assay_id best = as_main_metric(ds, false);
    if (!AS_COUNT(ds, contexts) || best == ASSAY_NONE)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-stacks",
                       "there is no call tree with values to write");
    if (!*names) return as_vec_append(out, &best, 1) ? ASSAY_OK : as_fail_memory(writer->error, NULL);
    /* A name may have commas: the whole is tried first */
    if (as_metric_by_name(ds, names, strlen(names), false, NULL, 0) != ASSAY_NONE)
        return add_named(writer, names, strlen(names), out);
    for (const char *at = names; at;) {
        const char *comma = strchr(at, ',');
        AS_TRY(add_named(writer, at, comma ? (size_t)(comma - at) : strlen(at), out));
        at = comma ? comma + 1 : NULL;
    }
    return ASSAY_OK;
}

assay_status as_stack_target_run(const as_writer *writer, assay_id *out) {
    const char *text = as_option_text(&writer->options, "run");
    size_t n = AS_COUNT(writer->dataset, runs);
    as_number number;
    *out = as_stacks_main_run(writer->dataset);
    if (!n)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-stacks",
                       "there are no values of a run, only statistics or models");
    if (*out == ASSAY_NONE) return as_fail_memory(writer->error, NULL);
    if (!*text) return ASSAY_OK;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < 0 ||
        (uint64_t)number.i >= n)
        return as_fail(writer->error, ASSAY_E_USAGE, AS_NOWHERE, "run", "there is no run %s; they are 0 … %zu", text,
                       n - 1);
    *out = (assay_id)number.i;
    return ASSAY_OK;
}

void as_stack_target_run_losses(const as_dataset *ds, as_losses *losses) {
    size_t n = as_ds_parameters(ds), n_more = AS_COUNT(ds, runs) > 1 ? AS_COUNT(ds, runs) - 1 : 0;
    if (n) as_lose(losses, "%zu parameter%s", n, n == 1 ? "" : "s");
    if (n_more) as_lose(losses, "%zu run%s beyond one (-O run says which)", n_more, n_more == 1 ? "" : "s");
}

void as_stack_target_losses(const as_dataset *ds, size_t n_written, as_losses *losses) {
    size_t n_metrics = AS_COUNT(ds, metrics), n_sections = as_stacks_sections(ds), n_asides = as_ds_asides(ds);
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) n_metrics -= as_ds_metric(ds, id)->part_of != ASSAY_NONE;
    as_stack_target_run_losses(ds, losses);
    if (n_metrics > n_written)
        as_lose(losses, "%zu metric%s beyond those of -O metric", n_metrics - n_written,
                n_metrics == n_written + 1 ? "" : "s");
    if (n_asides)
        as_lose(losses, "%zu context%s aside, with what is below", n_asides,
                n_asides == 1 ? " that stands" : "s that stand");
    as_lose_placeless(losses, ds);
    if (n_sections) as_lose(losses, "%zu section%s, which run beside the rest", n_sections, n_sections == 1 ? "" : "s");
}

const char *as_stack_frame_name(const as_dataset *ds, assay_id context, size_t *size) {
    as_str name = as_ds_context(ds, context)->name;
    *size = name == AS_NO_STR ? 0 : as_str_size(&ds->strings, name);
    return *size ? as_ds_text(ds, name) : "";
}
