/* The formulas of experiment.xml: what the statistics of 2021 are shown as, and what 2.x makes of its values in the
 * end. */
#include <stdlib.h>

#include "core/number.h"
#include "formats/hpctoolkit/experiment_metrics.h"
#include "formats/hpctoolkit/formulas.h"

static const as_hpc_xml_metric *metric_at(const as_hpc_experiment *experiment, size_t i) {
    return &AS_AT(as_hpc_xml_metric, &experiment->metrics, i);
}

static int64_t number_of(const as_dataset *ds, as_str text, int64_t otherwise) {
    as_number number;
    bool is_number =
        text != AS_NO_STR && as_number_parse(as_ds_text(ds, text), as_str_size(&ds->strings, text), &number);
    return is_number && number.kind == AS_INT ? number.i : otherwise;
}

/* ---- what formulas refer to -------------------------------------------------------------------------------------- */

/* Of 2021: the statistics of the summary profile. */
static void refer_to_statistics(const as_hpc_meaning *meaning, as_hpc_reference *out) {
    for (size_t i = 0; i < meaning->n_statistics; i++) {
        const as_hpc_statistic *s = &meaning->statistics[i];
        out[i] = (as_hpc_reference){.id = s->id, .order = -1, .metric = s->metric, .statistic = s->name};
    }
}

/* Of 2.x: the metrics themselves, whose values are sums. How many; SIZE_MAX when memory is out. */
static size_t refer_to_metrics(const as_hpc_experiment *experiment, as_hpc_reference *out) {
    const as_dataset *ds = experiment->ds;
    size_t n = 0;
    as_map by_id;
    as_map_init(&by_id, NULL);
    for (assay_id id = (assay_id)AS_COUNT(ds, metrics); id-- > 0;) {
        as_str source_id = as_ds_metric(ds, id)->source_id;
        if (source_id == AS_NO_STR || as_map_put(&by_id, source_id, id)) continue;
        as_map_free(&by_id);
        return SIZE_MAX;
    }
    for (size_t i = 0; i < experiment->metrics.count; i++) {
        const as_hpc_xml_metric *metric = metric_at(experiment, i);
        uint32_t known = metric->id != AS_NO_STR ? as_map_get(&by_id, metric->id) : AS_MAP_NONE;
        if (known == AS_MAP_NONE) continue;
        out[n++] = (as_hpc_reference){.id = number_of(ds, metric->id, -1),
                                      .order = number_of(ds, metric->order, -1),
                                      .metric = known,
                                      .statistic = "sum"};
    }
    as_map_free(&by_id);
    return n;
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* "CPUTIME (sec):Mean (I)": the name is "CPUTIME (sec):Mean" ("CPUTIME (sec)" of a sum), the statistic "mean". */
static bool add_formula(as_hpc_experiment *experiment, as_hpc_formulas *formulas, const as_hpc_xml_metric *metric,
                        as_vec *name, as_vec *statistic, assay_status *status) {
    const as_dataset *ds = experiment->ds;
    const char *full = as_ds_text(ds, metric->name), *type = as_ds_text(ds, metric->type);
    size_t size;
    as_metric_kind kind = as_hpc_split_name(full, &size);
    name->count = statistic->count = 0;
    if (!as_vec_append(name, full, size)) return false;
    const char *colon = memrchr(full, ':', size);
    for (const char *c = colon ? colon + 1 : full + size; c < full + size; c++) {
        char small = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        if (!as_vec_append(statistic, &small, 1)) return false;
    }
    if (!as_vec_append(statistic, "", 1)) return false;
    if (strcmp(statistic->data, "sum") == 0) name->count = (size_t)(colon - full);
    if (!as_vec_append(name, "", 1)) return false;
    as_hpc_formula formula = {.name = name->data,
                              .statistic = colon ? statistic->data : NULL,
                              .text = as_ds_text(ds, metric->view),
                              .size = as_str_size(&ds->strings, metric->view),
                              .is_exclusive = kind == AS_KIND_EXCLUSIVE || (type && strcmp(type, "exclusive") == 0),
                              .description = as_ds_text(ds, metric->description),
                              .format = as_ds_text(ds, metric->format)};
    *status = as_hpc_formulas_add(formulas, &formula);
    return true;
}

static assay_status add_formulas(as_hpc_experiment *experiment, as_hpc_formulas *formulas) {
    assay_status status = ASSAY_OK;
    as_vec name, statistic;
    as_vec_init(&name, 1, &experiment->ds->budget);
    as_vec_init(&statistic, 1, &experiment->ds->budget);
    for (size_t i = 0; i < experiment->metrics.count && status == ASSAY_OK; i++) {
        const as_hpc_xml_metric *metric = metric_at(experiment, i);
        if (metric->view == AS_NO_STR) continue;
        if (!add_formula(experiment, formulas, metric, &name, &statistic, &status))
            status = as_reader_memory(experiment->reader);
    }
    as_vec_free(&name);
    as_vec_free(&statistic);
    return status;
}

assay_status as_hpc_add_formulas(as_hpc_experiment *experiment, as_hpc_meaning *meaning) {
    as_hpc_formulas formulas;
    size_t n = meaning ? meaning->n_statistics : experiment->metrics.count;
    as_hpc_reference *references = as_arena_array(&experiment->ds->arena, n, sizeof *references);
    if (!references) return as_reader_memory(experiment->reader);
    if (meaning)
        refer_to_statistics(meaning, references);
    else if ((n = refer_to_metrics(experiment, references)) == SIZE_MAX)
        return as_reader_memory(experiment->reader);
    assay_status status = as_hpc_formulas_init(&formulas, experiment->reader, experiment->path, references, n);
    if (status == ASSAY_OK) status = add_formulas(experiment, &formulas);
    if (status == ASSAY_OK) status = as_hpc_formulas_finish(&formulas, meaning);
    as_hpc_formulas_free(&formulas);
    return status;
}
