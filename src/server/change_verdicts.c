#include "server/change_verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/paths.h"

static void release(void *object) {
    as_change_verdicts *verdicts = object;
    if (!verdicts) return;
    as_verdict_free(&verdicts->verdict);
    as_samples_free(&verdicts->samples);
    free(verdicts->of_item);
    free(verdicts);
}

/* The judgement of each node of the tree of names, which the samples number as as_paths_add() does. */
static const as_judgement **list_by_node(const as_verdict *verdict, size_t n_nodes) {
    const as_judgement **of_node = calloc(n_nodes + 1, sizeof *of_node);
    for (size_t i = 0; of_node && i < verdict->n; i++) {
        const as_judgement *judgement = &verdict->judgements[i];
        if (judgement->subject->path && judgement->subject->node < n_nodes)
            of_node[judgement->subject->node] = judgement;
    }
    return of_node;
}

static bool find_of_items(const as_asked_changes *asked, as_change_verdicts *out) {
    as_paths paths;
    uint32_t *nodes[2] = {0}, n = as_view_items(&asked->table->view);
    bool fine = as_paths_init(&paths, NULL);
    for (size_t side = 0; side < 2; side++) {
        nodes[side] = malloc((AS_COUNT(asked->sides[side], contexts) + 1) * sizeof *nodes[side]);
        fine = fine && nodes[side] && as_paths_add(&paths, asked->sides[side], nodes[side]);
    }
    const as_judgement **of_node = fine ? list_by_node(&out->verdict, as_paths_count(&paths)) : NULL;
    out->of_item = calloc((size_t)n + 1, sizeof *out->of_item);
    fine = of_node && out->of_item;
    for (uint32_t i = 0; fine && i < n; i++) {
        for (size_t side = 0; side < 2 && !out->of_item[i]; side++) {
            assay_id own = as_change_context(asked->table, side, i);
            uint32_t node = own == ASSAY_NONE ? AS_NO_PATH : nodes[side][own];
            if (node != AS_NO_PATH) out->of_item[i] = of_node[node];
        }
    }
    free(of_node);
    for (size_t side = 0; side < 2; side++) free(nodes[side]);
    as_paths_free(&paths);
    if (fine) return true;
    free(out->of_item);
    out->of_item = NULL;
    return false;
}

/* "" where a side lacks it. */
static const char *metric_name(const as_asked_changes *asked, size_t side) {
    assay_id metric = as_asked_metric_of(asked, side);
    const char *name =
        metric == ASSAY_NONE ? NULL : as_ds_text(asked->sides[side], as_ds_metric(asked->sides[side], metric)->name);
    return name ? name : "";
}

static assay_status judge(const as_asked_changes *asked, as_change_verdicts *out, assay_error *error) {
    const char *metrics[2] = {metric_name(asked, AS_BASE), NULL};
    const char *target_metrics[1] = {metric_name(asked, AS_TARGET)};
    const as_dataset *const *sides[2] = {&asked->sides[AS_BASE], &asked->sides[AS_TARGET]};
    as_sample_request request = {.metrics = metrics, .target_metrics = target_metrics, .is_inclusive = true};
    as_judge_options options = AS_JUDGE_DEFAULTS;
    bool *runs[2] = {NULL, NULL}, fine = true;
    options.threads = 1;
    for (size_t side = 0; side < 2 && as_has_named_runs(&asked->made.cli); side++) {
        runs[side] = as_run_choice_marks(&asked->diff.runs[side], asked->sides[side]);
        request.runs[side] = runs[side];
        fine = fine && runs[side];
    }
    assay_status status = fine ? as_samples_find(sides, (const size_t[2]){1, 1}, &request, &out->samples, error)
                               : as_fail_memory(error, NULL);
    for (size_t side = 0; side < 2; side++) free(runs[side]);
    if (status == ASSAY_OK) status = as_judge(&out->samples, &options, &out->verdict, error);
    return status;
}

/* Several runs at what is compared, on both sides; who compares single places asks something else than compare does. */
static bool has_repetitions(const as_asked_changes *asked) {
    for (size_t side = 0; side < 2; side++) {
        if (asked->diff.runs[side].n_runs < 2 || asked->diff.locations[side].wanted) return false;
    }
    return *metric_name(asked, AS_BASE) && *metric_name(asked, AS_TARGET);
}

/* About: a subject has its samples, and a judgement. */
static size_t bytes_of(const as_asked_changes *asked, const as_change_verdicts *verdicts) {
    return sizeof *verdicts + as_view_items(&asked->table->view) * sizeof *verdicts->of_item +
           verdicts->samples.n * 512;
}

assay_status as_change_verdicts_find(as_viewing *viewing, const as_asked_changes *asked, const as_change_verdicts **out,
                                     assay_error *error) {
    char *key = NULL;
    *out = NULL;
    if (!has_repetitions(asked)) return ASSAY_OK;
    size_t size = strlen(asked->key) - (asked->flat ? strlen(AS_FLAT_KEY) : 0);
    if (asprintf(&key, "verdicts of %.*s", (int)size, asked->key) < 0) return as_fail_memory(error, NULL);
    as_change_verdicts *verdicts = as_viewing_find(viewing, key);
    assay_status status = ASSAY_OK;
    if (!verdicts) {
        verdicts = calloc(1, sizeof *verdicts);
        status = verdicts ? judge(asked, verdicts, error) : as_fail_memory(error, NULL);
        if (status != ASSAY_OK) {
            release(verdicts);
            verdicts = NULL;
            if (status != ASSAY_E_NOMEM) status = ASSAY_OK; /* there is nothing that compare could say */
        } else if (!as_viewing_keep(viewing, key, verdicts, bytes_of(asked, verdicts), release)) {
            status = as_fail_memory(error, NULL);
        }
    }
    free(key);
    if (status == ASSAY_OK && verdicts && !asked->flat && !verdicts->of_item && !find_of_items(asked, verdicts))
        status = as_fail_memory(error, NULL);
    *out = status == ASSAY_OK ? verdicts : NULL;
    return status;
}
