/* metrics/NAME.yaml beside a database of two metrics in four scopes: any text is read or leaves warnings, never an
 * error but for memory. What is read holds together, and what formulas it has can be computed. */
#include <stdlib.h>

#include "core/utf8.h"
#include "dataset/formulas.h"
#include "formats/hpctoolkit/computed.h"
#include "formats/hpctoolkit/formulas.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { N_METRICS = 8, N_STATISTICS = 5, MAX_SIZE = 1 << 16 };

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

static void check_text(const as_dataset *ds, as_str id) {
    if (id != AS_NO_STR && as_utf8_invalid(as_ds_text(ds, id), as_str_size(&ds->strings, id))) abort();
}

/* Stored metrics stay as they are, all others are derived ones with a name of their own; computed statistics are those
 * of stored ones. */
static void check_metrics(const as_dataset *ds, const as_hpc_meaning *meaning) {
    if (ds->metrics.count < N_METRICS) abort();
    for (assay_id id = 0; id < ds->metrics.count; id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        check_text(ds, metric->name);
        check_text(ds, metric->description);
        if ((metric->kind == AS_KIND_DERIVED) != (id >= N_METRICS) || metric->name == AS_NO_STR) abort();
        if (id >= N_METRICS && as_ds_metric(ds, id - 1)->name == metric->name) abort();
    }
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_METRIC && attribute->owner_id >= ds->metrics.count) abort();
    }
    for (size_t i = 0; i < meaning->n_computed; i++)
        if (meaning->computed[i].metric >= N_METRICS) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size > MAX_SIZE) return 0;
    assay_error error = {.code = ASSAY_OK};
    as_dataset *ds = as_dataset_new(1 << 28);
    as_reader reader = {.dataset = ds, .error = &error};
    as_hpc_statistic statistics[N_METRICS * N_STATISTICS];
    as_hpc_meaning meaning = {.statistics = statistics, .n_statistics = N_METRICS * N_STATISTICS};
    if (!ds) abort();
    add_metrics(ds, statistics);
    const char *text = size ? (const char *)bytes : "";
    assay_status status = as_hpc_read_metrics_text(&reader, "x.yaml", text, size, &meaning);
    if (status == ASSAY_OK) {
        check_metrics(ds, &meaning);
        if (meaning.n_computed) compute(ds, &meaning);
        if (!as_ds_prepare_formulas(ds)) abort();
    } else if (status != ASSAY_E_NOMEM || !error.message[0]) {
        abort();
    }
    as_dataset_free(ds);
    return 0;
}
