/* The predictions of `assay predict`, inside cli/. */
#ifndef AS_CLI_PREDICT_H
#define AS_CLI_PREDICT_H

#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/interval.h"
#include "analysis/scaling/totals.h"
#include "cli/study.h"

/* What is asked. */
typedef struct as_predict_request {
    const double *points; /* as_ds_parameters() coordinates each */
    size_t n_points;
    const double *base; /* a point, or NULL: the predicted one with the fewest processes that were measured */
    assay_id processes; /* the parameter that counts them */
    bool is_guessed;    /* that, because no name says so */
    double fewest;      /* its smallest measured value */
    double confidence;  /* of the interval */
    size_t limit;       /* call paths of each metric and point, 0: all */
} as_predict_request;

enum { AS_TOTAL = UINT32_MAX };

/* One call path (or the total) at one point. NAN: unknown. */
typedef struct as_prediction {
    uint32_t model; /* number in the fit, or AS_TOTAL */
    assay_id metric;
    double value;
    as_interval interval;
    double share; /* of the metric's total at this point */
    double speedup, efficiency_strong, efficiency_weak;
} as_prediction;

typedef struct as_predictor {
    const as_study *study;
    const as_predict_request *request;
    as_fit fit;                   /* of all series of the metrics that are wanted: their sum is the total */
    as_metric_series by_metric;   /* of the dataset */
    uint32_t *models;             /* for each series: its model in the fit, or AS_TOTAL: none */
    assay_id guessed;             /* a metric that looks inclusive, or ASSAY_NONE */
    size_t n_unknown;             /* series without any finite value: no part of the total */
    bool *parts;                  /* for each series: belongs to the total of its metric */
    bool *wanted;                 /* for each series: is to be shown */
    double *values, *base_values; /* of each model at the point in hand, and at its base */
    as_dataset *totals;
    uint32_t *total_series; /* for each metric: its series in totals, or AS_TOTAL: none */
    bool is_work;           /* values are totals over the processes: time is value / processes */
} as_predictor;

/* Fills in processes, is_guessed and fewest: the parameter of --processes (which as_study_open() checked), else one
 * with a name for it, else the first. */
void as_predict_processes(as_cli *cli, const as_dataset *ds, as_predict_request *request);

/* Fits the models. Prints what is wrong and gives its status; as_predictor_close() is due in every case. */
as_exit as_predictor_open(as_cli *cli, as_study *study, const as_predict_request *request, as_predictor *out);
/* The same with models that are there; series without one are no part of their metric's total. The predictor owns the
 * fit. False when memory is out. */
bool as_predictor_of(const as_study *study, const as_predict_request *request, const as_fit *fit, as_predictor *out);
void as_predictor_close(as_predictor *predictor);
/* Appends to rows (as_prediction) those of one point: metric by metric, the total first, then the call paths that cost
 * most. hidden: how many the limit has left out. False when memory is out. */
bool as_predict_at(as_predictor *predictor, const double *point, as_vec *rows, size_t *hidden);
/* The base of a point, into out (as_ds_parameters() numbers). */
void as_predict_base(const as_predictor *predictor, const double *point, double *out);

/* The parts of as_predict_at(), for who shows some call paths of many: first the values of all models at the point and
 * at its base (as_ds_parameters() numbers, filled in), then the total of a metric, and the call paths without their
 * intervals. False when memory is out. */
void as_predict_values(as_predictor *predictor, const double *point, double *base);
bool as_predict_total(const as_predictor *predictor, assay_id metric, const double *point, const double *base,
                      as_prediction *out);
as_prediction as_predict_path(const as_predictor *predictor, const as_prediction *total, uint32_t model,
                              const double *point, const double *base);

static inline const as_model *as_predicted_model(const as_predictor *predictor, uint32_t i) {
    return as_ds_model(predictor->study->ds, predictor->fit.first_model + i);
}

#endif
