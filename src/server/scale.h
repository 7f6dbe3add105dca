/* An experiment with the models of one of its metrics, as the screen Scale looks at it: one input, or several that are
 * points of one experiment. Fitting takes a while, so what was made for a choice is kept with the viewing; the models
 * stay apart from the dataset, which other endpoints see as the file has it. */
#ifndef AS_SERVER_SCALE_H
#define AS_SERVER_SCALE_H

#include "cli/model_view.h"
#include "cli/predict.h"
#include "server/request.h"

/* Orders that do not depend on a point. */
typedef enum as_scale_order { AS_BY_GROWTH, AS_BY_ERROR, AS_BY_NAME, AS_BY_TREE, AS_SCALE_ORDERS } as_scale_order;

typedef struct as_scale_view {
    const as_view_input *input; /* the one that was asked for */
    as_dataset *own; /* several inputs as one, or with other values (scaling); NULL: it is the input's dataset */
    as_vec inputs;   /* size_t: the numbers of all that belong to it */
    as_study study;  /* the series of one metric; its dataset has the models while the scale is open */
    as_predict_request request;
    as_predictor predictor;
    assay_id metric;
    assay_id set;     /* of the file, whose models are shown; ASSAY_NONE: they were made here */
    assay_id largest; /* the largest point */
    double *now;      /* the value of each model there */
    assay_id strong;  /* the parameter along which the whole decreases, as under strong scaling; ASSAY_NONE: none */
    double total_now; /* and that of all of them together */

    /* private */
    as_arena texts;
    as_models_aside aside;             /* the models; while it is open, those of the file */
    assay_id *to_own, *from_own;       /* contexts of the input to those of `own` and back; NULL: they are the same */
    uint32_t *orders[AS_SCALE_ORDERS]; /* NULL: not yet */
    as_forecast **forecasts;           /* of each model; NULL: not yet */
    size_t n_forecasts;
    char *pattern; /* the last one that was searched for, and which models it means; NULL: none was */
    bool *matches;
    double *point, *base; /* where predictor.values are */
    bool has_values;
} as_scale_view;

/* The words of a request that say which models are meant: for docs/viewer-api.md and as_request_cli_make(). */
#define AS_SCALE_WORDS "metric measure modeler scaling processes"

/* Finds or makes what the request asks for: d, together, set, O and AS_SCALE_WORDS. as_scale_close() is due when it
 * went well, before the request ends. */
assay_status as_scale_open(as_viewing *viewing, const as_request *request, as_scale_view **out, assay_error *error);
void as_scale_close(as_scale_view *scale);

static inline const as_dataset *as_scale_ds(const as_scale_view *scale) { return scale->study.ds; }
static inline const as_model *as_scale_model(const as_scale_view *scale, uint32_t model) {
    return as_predicted_model(&scale->predictor, model);
}
static inline const as_fit_note *as_scale_note(const as_scale_view *scale, uint32_t model) {
    return &scale->predictor.fit.notes[model];
}

/* Whether two inputs could be points of one experiment. */
bool as_inputs_fit(const as_view_input *a, const as_view_input *b);
/* Whether they plainly are: both have one point. */
bool as_inputs_are_points(const as_view_input *a, const as_view_input *b);
/* What the page calls a context of the scale's dataset: the number it has in the input; those it does not have follow
 * behind. */
assay_id as_scale_context(const as_scale_view *scale, assay_id context);
/* The models of the contexts that the parameter "context" lists ("3,17", as the page calls them), each once, at most
 * `most`, into out (uint32_t). ASSAY_E_USAGE where there is none. */
assay_status as_scale_chosen(const as_scale_view *scale, const as_request *request, size_t most, as_vec *out,
                             assay_error *error);
/* The point of "at" into out (as_ds_parameters() numbers); by default the largest one, with four times its
 * processes. */
assay_status as_scale_at(const as_scale_view *scale, const as_request *request, double *out, assay_error *error);
/* The parameter that "over" names; `usual` where it is not given. */
assay_status as_scale_parameter(const as_scale_view *scale, const char *name, assay_id usual, assay_id *out,
                                assay_error *error);
/* Fills predictor.values and base_values for the point, unless they are there. */
void as_scale_evaluate(as_scale_view *scale, const double *point);
/* What a model's series says of new measurements, made once and kept; NULL when memory is out. Safe from several
 * threads for different models. */
const as_forecast *as_scale_forecast(as_scale_view *scale, uint32_t model);
/* Sets the intervals of these rows. False when memory is out. */
bool as_scale_intervals(as_scale_view *scale, const double *point, as_prediction *rows, size_t n);
/* All models in this order; borrowed. NULL when memory is out. */
const uint32_t *as_scale_ordered(as_scale_view *scale, as_scale_order order);

/* Whether each model's call path matches "match"; NULL where nothing is searched for. Borrowed until the next
 * search. */
assay_status as_scale_matching(as_scale_view *scale, const as_request *request, const bool **out, assay_error *error);

/* n places along a parameter, into out (double): from the smallest measured value to `to`, or to the largest where that
 * lies beyond. log: 1 equal factors, 0 equal steps, -1 whichever fits what was measured; *is_log says which. False when
 * memory is out. */
bool as_scale_along(const as_scale_view *scale, assay_id parameter, double to, int log, size_t n, as_vec *out,
                    bool *is_log);
/* What "log" says of such: 0, 1, or -1. */
assay_status as_scale_log(const as_request *request, int *out, assay_error *error);

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* {"p": 64, "n": 100} */
void as_build_point(as_builder *builder, const char *key, const as_dataset *ds, const double *point);
/* "callpath", "function" and what else there is to say of a model, as members of an open object. text: a vector of
 * char. False when memory is out. */
bool as_build_model(as_builder *builder, const as_scale_view *scale, uint32_t model, as_vec *text);
/* The measurements of a model's series as columns: the coordinates ("at", a list each), its statistics, its value (that
 * was modelled), and the model's. False when memory is out. */
bool as_build_measured(as_builder *builder, const char *key, const as_scale_view *scale, uint32_t model);
/* ["noisy", "tie"] */
void as_build_flags(as_builder *builder, const char *key, uint32_t flags);

#endif
