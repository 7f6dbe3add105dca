/* Formulas of a database: those of experiment.xml (MetricFormula) and of metrics/NAME.yaml.
 *
 * They are expressions of stored statistics: the sum over all threads of one metric, the number of threads, and so on.
 * What one of sums is becomes a derived metric, computed like any other, from the values of whatever threads and
 * contexts are looked at. What one of several statistics of one metric is (mean, stddev …) becomes a further statistic
 * of it. What is one statistic alone is there already. */
#ifndef AS_FORMATS_HPCTOOLKIT_FORMULAS_H
#define AS_FORMATS_HPCTOOLKIT_FORMULAS_H

#include "formats/format.h"
#include "formats/hpctoolkit/database.h"

/* What $n and #n in formulas stand for. */
typedef struct as_hpc_reference {
    int64_t id;            /* n of $n; of statistics: the id in the summary profile */
    int64_t order;         /* n of #n; -1: none */
    assay_id metric;       /* whose statistic it is */
    const char *statistic; /* "sum" … as as_hpc_statistic has it */
} as_hpc_reference;

typedef struct as_hpc_formula {
    const char *name;      /* of the derived metric */
    const char *statistic; /* what a statistic is called: "mean"; NULL: it can be none */
    const char *text;
    size_t size;
    bool is_exclusive;
    const char *description, *format; /* may be NULL */
} as_hpc_formula;

/* Formulas being collected. */
typedef struct as_hpc_formulas {
    as_reader *reader;
    const char *path; /* of the file they come from, for warnings */
    const as_hpc_reference *references;
    size_t n_references;
    /* private */
    as_map by_id, by_order; /* -> reference */
    as_map by_name;         /* of derived ones */
    as_vec derived;
    as_vec computed;   /* as_hpc_computed */
    as_map n_computed; /* metric -> how many of its statistics are computed */
    uint32_t *ids;     /* of references */
    size_t spelled_left;
} as_hpc_formulas;

/* The references and the path live until as_hpc_formulas_finish(). as_hpc_formulas_free() in every case. */
assay_status as_hpc_formulas_init(as_hpc_formulas *formulas, as_reader *reader, const char *path,
                                  const as_hpc_reference *references, size_t n_references);
/* Texts are copied. A formula that cannot be used is a warning (rule "formula"). */
assay_status as_hpc_formulas_add(as_hpc_formulas *formulas, const as_hpc_formula *formula);
/* Adds derived metrics to the dataset, where all others are by now: one for the inclusive and the exclusive formula of
 * a name, called "NAME (computed)" where there is a metric of that name. Computed statistics go to *meaning (NULL: they
 * are dropped), where they live as long as the dataset. */
assay_status as_hpc_formulas_finish(as_hpc_formulas *formulas, as_hpc_meaning *meaning);
void as_hpc_formulas_free(as_hpc_formulas *formulas);

/* ---- experiment.xml ---------------------------------------------------------------------------------------------- */

struct as_hpc_experiment;
/* Those of the MetricTable, after the metrics of the dataset are known. meaning: of a database of 2021, whose
 * statistics the formulas are made of; NULL: of 2.x, where they are made of the metrics themselves. */
assay_status as_hpc_add_formulas(struct as_hpc_experiment *experiment, as_hpc_meaning *meaning);

/* ---- metrics/NAME.yaml ------------------------------------------------------------------------------------------- */

/* Reads all .yaml files of DIRECTORY/metrics, in the order of their names, after the metrics of the dataset and the
 * statistics of *meaning are known, to which computed ones are added. Descriptions and the like become those of the
 * metrics, and their attributes. What is wrong with a file is a warning. */
assay_status as_hpc_read_metrics_yaml(as_reader *reader, const char *directory, as_hpc_meaning *meaning);
/* The same of the text of one file. */
assay_status as_hpc_read_metrics_text(as_reader *reader, const char *path, const char *data, size_t size,
                                      as_hpc_meaning *meaning);

#endif
