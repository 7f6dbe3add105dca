#include "formats/stack_target.h"

#include <math.h>
#include <stdlib.h>

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

/* Frames of one name below one caller are one for who reads names; so are those below them. */
static size_t count_alike(const as_dataset *ds, const assay_id *frames, const assay_id *callers, as_losses *losses) {
    size_t n = 0;
    assay_id *first = malloc((AS_COUNT(ds, contexts) + 1) * sizeof *first); /* of those that are one */
    as_map known;
    as_map_init(&known, NULL);
    losses->failed |= !first;
    for (assay_id id = 0; first && id < AS_COUNT(ds, contexts); id++) {
        if (frames[id] != id) continue;
        assay_id caller = callers[id] == ASSAY_NONE ? ASSAY_NONE : first[callers[id]];
        uint64_t key = as_pair(caller, as_ds_context(ds, id)->name);
        first[id] = as_map_get(&known, key);
        n += first[id] != AS_MAP_NONE;
        if (first[id] != AS_MAP_NONE) continue;
        first[id] = id;
        losses->failed |= !as_map_put(&known, key, id);
    }
    as_map_free(&known);
    free(first);
    return n;
}

void as_lose_frames(const as_dataset *ds, const assay_id *frames, const assay_id *callers, bool *has,
                    as_losses *losses) {
    size_t n_joined = 0, n_empty = 0, n_alike = count_alike(ds, frames, callers, losses);
    for (assay_id id = (assay_id)AS_COUNT(ds, contexts); id-- > 0;) {
        if (frames[id] == ASSAY_NONE || as_context_is_root(ds, id)) continue;
        n_joined += frames[id] != id;
        if (frames[id] != id || !has) continue;
        n_empty += !has[id];
        if (has[id] && callers[id] != ASSAY_NONE) has[callers[id]] = true;
    }
    if (n_joined)
        as_lose(losses, "%zu call site%s or line%s of code (one with whom they call, or are part of)", n_joined,
                n_joined == 1 ? "" : "s", n_joined == 1 ? "" : "s");
    if (n_empty) as_lose(losses, "%zu call path%s without any amount", n_empty, n_empty == 1 ? "" : "s");
    if (n_alike)
        as_lose(losses, "what tells %zu call path%s from others of the same names (they are one)", n_alike,
                n_alike == 1 ? "" : "s");
}

/* Those of the main metric; its amounts are not all where others are written beside them. */
static void lose_frames_of_main(const as_dataset *ds, bool is_all, as_losses *losses) {
    assay_id metric = as_main_metric(ds, false), run = as_stacks_main_run(ds);
    as_stacks stacks;
    assay_error error;
    if (metric == ASSAY_NONE || run == ASSAY_NONE) return;
    assay_status status = as_stacks_open(ds, metric, run, true, &stacks, &error);
    losses->failed |= status == ASSAY_E_NOMEM; /* writing will meet others again */
    size_t n_endless = 0;
    for (assay_id id = 0; status == ASSAY_OK && id < AS_COUNT(ds, contexts); id++) {
        n_endless += stacks.own.has[id] && !stacks.own.is_whole && !isfinite(stacks.own.real[id]);
        stacks.own.has[id] = stacks.own.has[id] && !as_own_is_zero(&stacks.own, id);
    }
    if (n_endless)
        as_lose(losses, "%zu value%s that %s infinite or no number", n_endless, n_endless == 1 ? "" : "s",
                n_endless == 1 ? "is" : "are");
    if (status == ASSAY_OK) as_lose_frames(ds, stacks.frames, stacks.callers, is_all ? stacks.own.has : NULL, losses);
    as_stacks_close(&stacks);
}

void as_stack_target_losses(const as_dataset *ds, size_t n_written, as_losses *losses) {
    size_t n_metrics = AS_COUNT(ds, metrics), n_sections = as_stacks_sections(ds);
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) n_metrics -= as_ds_metric(ds, id)->part_of != ASSAY_NONE;
    as_stack_target_run_losses(ds, losses);
    if (n_metrics > n_written)
        as_lose(losses, "%zu metric%s beyond those of -O metric", n_metrics - n_written,
                n_metrics == n_written + 1 ? "" : "s");
    as_lose_asides(losses, ds, true);
    as_lose_placeless(losses, ds);
    lose_frames_of_main(ds, n_written == 1, losses);
    if (n_sections) as_lose(losses, "%zu section%s, which run beside the rest", n_sections, n_sections == 1 ? "" : "s");
}

const char *as_stack_frame_name(const as_dataset *ds, assay_id context, size_t *size) {
    as_str name = as_ds_context(ds, context)->name;
    *size = name == AS_NO_STR ? 0 : as_str_size(&ds->strings, name);
    return *size ? as_ds_text(ds, name) : "";
}
