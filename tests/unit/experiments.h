/* experiment.xml documents in memory, read without the files beside them. Include it behind cmocka.h, or without it. */
#ifndef AS_TESTS_EXPERIMENTS_H
#define AS_TESTS_EXPERIMENTS_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/hpctoolkit/companions.h"
#include "formats/hpctoolkit/database.h"
#include "formats/hpctoolkit/experiment_metrics.h"

/* A document that was read: its dataset, with the tree finished, and what its reader found. */
typedef struct experiment {
    as_dataset *ds;
    as_hpc_experiment *xml;
    const assay_id *new_ids;    /* of contexts */
    as_vec metrics, statistics; /* as_hpc_metric, as_hpc_statistic of 4.0 */
    as_vec columns;             /* as_hpc_column of 2.x */
    as_map of_values;           /* of 2.x */
    as_input input;
    as_reader reader;
    assay_error error;
} experiment;

static inline assay_status read_all_of(experiment *e, const char *data, size_t size, bool is_2x) {
    AS_TRY(as_hpc_experiment_read(e->xml, &e->reader, "experiment.xml", data, size, is_2x));
    if (is_2x)
        AS_TRY(as_hpc_add_metrics_2x(e->xml, &e->of_values, &e->columns));
    else
        AS_TRY(as_hpc_add_metrics_2021(e->xml, &e->metrics, &e->statistics));
    return as_hpc_experiment_finish(e->xml, &e->new_ids);
}

/* close_experiment() in every case. */
static inline assay_status open_experiment(experiment *e, const char *data, size_t size, bool is_2x, uint64_t memory,
                                           bool keep_going) {
    *e = (experiment){.ds = as_dataset_new(memory), .xml = malloc(sizeof(as_hpc_experiment))};
    if (!e->ds || !e->xml) abort();
    e->input = (as_input){.path = "experiment.xml", .data = data, .size = size};
    e->reader = (as_reader){
        .input = &e->input, .dataset = e->ds, .max_depth = 1024, .keep_going = keep_going, .error = &e->error};
    as_vec_init(&e->metrics, sizeof(as_hpc_metric), NULL);
    as_vec_init(&e->statistics, sizeof(as_hpc_statistic), NULL);
    as_vec_init(&e->columns, sizeof(as_hpc_column), NULL);
    as_map_init(&e->of_values, NULL);
    return read_all_of(e, data, size, is_2x);
}

static inline void close_experiment(experiment *e) {
    as_hpc_experiment_free(e->xml);
    as_vec_free(&e->metrics);
    as_vec_free(&e->statistics);
    as_vec_free(&e->columns);
    as_map_free(&e->of_values);
    as_dataset_free(e->ds);
    free(e->xml);
}

#endif
