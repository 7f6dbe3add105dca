/* metrics/NAME.yaml: any text is read or refused, without harm. What is read is a tree without circles, and what formulas it has can be computed. */
#include <stdlib.h>

#include "dataset/formulas.h"
#include "formats/hpctoolkit/computed.h"
#include "formats/hpctoolkit/formulas.h"
#include "io/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { N_METRICS = 8, N_STATISTICS = 5, MAX_SIZE = 1 << 16 };

/* Every link leads to a node, and a collection only to those that were complete before it. */
static void check_tree(const as_yaml *yaml) {
    for (size_t i = 0; i < yaml->nodes.count; i++) {
        const as_yaml_node *node = &AS_AT(as_yaml_node, &yaml->nodes, i);
        size_t n = node->kind == AS_YAML_MAPPING ? 2 * (size_t)node->n : node->n;
        if (node->kind == AS_YAML_SCALAR && strlen(node->text) > node->size) abort();
        if (node->first + n > yaml->links.count) abort();
        for (size_t k = 0; k < n; k++) {
            uint32_t below = AS_AT(uint32_t, &yaml->links, node->first + k);
            if (below >= yaml->nodes.count || below == i) abort();
        }
    }
}

static void add_metrics(as_dataset *ds, as_hpc_statistic statistics[N_METRICS * N_STATISTICS]) {
    static const char *const names[] = {"CPUTIME (sec)", "cycles"};
    static const char *const words[N_STATISTICS] = {"count", "sum", "sumsq", "min", "max"};
    static const as_metric_kind kinds[] = {AS_KIND_INCLUSIVE, AS_KIND_EXCLUSIVE, AS_KIND_POINT, AS_KIND_LEXICAL};
    for (unsigned i = 0; i < N_METRICS; i++) {
        as_metric metric = AS_METRIC_INIT;
        metric.name = as_ds_intern_text(ds, names[i / 4]);
        metric.kind = kinds[i % 4];
        metric.is_stored = true;
        if (i % 4) metric.part_of = i / 4 * 4;
        assay_id id = as_add_metric(ds, &metric);
        for (unsigned k = 0; k < N_STATISTICS; k++)
            statistics[i * N_STATISTICS + k] = (as_hpc_statistic){(uint16_t)(i * N_STATISTICS + k), id, words[k]};
    }
}

static void compute(as_dataset *ds, const as_hpc_meaning *meaning) {
    as_hpc_stored stored[N_METRICS * N_STATISTICS];
    for (uint16_t i = 0; i < N_METRICS * N_STATISTICS; i++) stored[i] = (as_hpc_stored){i, i % 7 - 2.0};
    as_hpc_computer *computer = as_hpc_computer_new(meaning->computed, meaning->n_computed);
    if (!computer || !as_hpc_compute(computer, ds, 0, stored, N_METRICS * N_STATISTICS)) abort();
    as_hpc_computer_free(computer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_yaml yaml;
    assay_error error = {.code = ASSAY_OK};
    const char *text = size ? (const char *)bytes : "";
    if (size > MAX_SIZE) return 0;
    if (as_yaml_read("x.yaml", text, size, NULL, &yaml, &error) == ASSAY_OK)
        check_tree(&yaml);
    else if (!error.message[0])
        abort();
    as_yaml_free(&yaml);
    as_dataset *ds = as_dataset_new(1 << 28);
    as_reader reader = {.dataset = ds, .error = &error};
    as_hpc_statistic statistics[N_METRICS * N_STATISTICS];
    as_hpc_meaning meaning = {.statistics = statistics, .n_statistics = N_METRICS * N_STATISTICS};
    if (!ds) abort();
    add_metrics(ds, statistics);
    if (as_hpc_read_metrics_text(&reader, "x.yaml", text, size, &meaning) == ASSAY_OK) {
        compute(ds, &meaning);
        if (!as_ds_prepare_formulas(ds)) abort();
    }
    as_dataset_free(ds);
    return 0;
}
