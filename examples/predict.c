/* What a program costs at a size nobody has run yet: fits a model to every call path, and prints what each predicts
 * there, the costliest first.
 *
 *     build/examples/predict-example examples/kernels.txt time 8192
 *
 * A number for each parameter, in the order of the file. A program of its own links with libassay: cc predict.c
 * $(pkg-config --cflags --libs assay) */
#include <assay/assay.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 16 };

typedef struct {
    assay_model model;
    assay_prediction prediction;
} forecast;

static int costliest_first(const void *a, const void *b) {
    double x = ((const forecast *)a)->prediction.value, y = ((const forecast *)b)->prediction.value;
    return (x < y) - (x > y);
}

static int fail(const assay_error *error) {
    char text[2200];
    fprintf(stderr, "predict-example: %s\n", assay_error_text(error, text, sizeof text));
    return 1;
}

/* Fits, predicts all models of the metric, and prints them. */
static int predict(assay_dataset *dataset, const char *metric, const double *point) {
    assay_error error;
    assay_id first;
    assay_fit_config config = {.replace = true};
    if (assay_fit(dataset, &config, &first, &error) != ASSAY_OK) return fail(&error);
    size_t n = 0;
    forecast *all = calloc(assay_count(dataset, ASSAY_MODELS) + 1, sizeof *all);
    assay_model model;
    for (assay_id id = first; all && assay_model_get(dataset, id, &model); id++) {
        if (strcmp(model.metric, metric) != 0) continue;
        all[n].model = model;
        if (assay_predict(dataset, id, &config, point, 1, &all[n].prediction, &error) != ASSAY_OK) {
            free(all);
            return fail(&error);
        }
        if (!isnan(all[n].prediction.value)) n++;
    }
    if (n) qsort(all, n, sizeof *all, costliest_first);
    for (size_t i = 0; i < n; i++) {
        const assay_prediction *p = &all[i].prediction;
        printf("%-24s %12.4g  (%.4g to %.4g)  %s\n", all[i].model.callpath, p->value, p->low, p->high,
               all[i].model.growth);
    }
    if (n) printf("at %.3g times what was measured\n", all[0].prediction.extrapolation);
    free(all);
    return n ? 0 : 1;
}

int main(int argc, char **argv) {
    assay_error error;
    assay_dataset *dataset;
    double point[MAX_PARAMETERS];
    if (argc < 4 || argc > 3 + MAX_PARAMETERS) {
        fputs("usage: predict-example FILE METRIC NUMBER…\n", stderr);
        return 2;
    }
    if (assay_open(argv[1], NULL, &dataset, &error) != ASSAY_OK) return fail(&error);
    int n = argc - 3, status = 2;
    for (int i = 0; i < n; i++) point[i] = strtod(argv[3 + i], NULL);
    if ((uint64_t)n == assay_count(dataset, ASSAY_PARAMETERS))
        status = predict(dataset, argv[2], point);
    else
        fprintf(stderr, "predict-example: give a number for each of the %d parameters\n",
                (int)assay_count(dataset, ASSAY_PARAMETERS));
    assay_close(dataset);
    return status;
}
