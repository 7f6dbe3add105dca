/* `assay regress --json`, and models as profiles hold them. */
#include <math.h>
#include <stdlib.h>

#include "cli/regress_view.h"

/* JSON knows no NaN and no infinity: answers have texts, files what Perun writes and reads. */
static void build_number(as_builder *b, const char *key, double value, bool is_file) {
    if (!is_file || isfinite(value))
        as_build_real(b, key, value);
    else
        as_build_json(b, key, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/* What the curve does not have is null, and left out of files. */
static void build_known(as_builder *b, const char *key, double value, bool is_file) {
    if (!isnan(value))
        build_number(b, key, value, is_file);
    else if (!is_file)
        as_build_text(b, key, NULL);
}

static void build_given(as_builder *b, const char *key, const char *text) {
    if (text) as_build_text(b, key, text);
}

static void build_numbers(as_builder *b, const char *key, const double *numbers, size_t n, bool is_file) {
    as_build_array(b, key, false);
    for (size_t i = 0; i < n; i++) build_number(b, NULL, numbers[i], is_file);
    as_build_end(b);
}

static void build_coefficients(as_builder *b, const as_curve *curve, bool is_file) {
    static const char *const names[] = {"b0", "b1", "b2"};
    as_build_array(b, "coeffs", false);
    for (unsigned i = 0; i < curve->n_coefficients; i++) {
        as_build_object(b, NULL, false);
        as_build_text(b, "name", names[i]);
        build_number(b, "value", curve->coefficients[i], is_file);
        as_build_end(b);
    }
    as_build_end(b);
}

static bool build_plot(as_builder *b, const as_curve *curve, size_t n, bool is_file) {
    double *x = malloc(2 * n * sizeof *x), *y = x ? x + n : NULL;
    if (!x) return false;
    as_curve_plot(curve, n, x, y);
    build_numbers(b, "plot_x", x, n, is_file);
    build_numbers(b, "plot_y", y, n, is_file);
    free(x);
    return true;
}

bool as_regress_json_curve(as_builder *b, const as_curve *curve, size_t plot_points, bool is_file) {
    bool is_parametric = as_curve_is_parametric(curve->model), fine = true;
    as_build_object(b, NULL, false);
    as_build_text(b, "uid", curve->uid);
    as_build_text(b, "model", as_curve_word(curve));
    build_given(b, "method", curve->method);
    build_number(b, "r_square", curve->r_square, is_file);
    if (is_parametric || curve->n_coefficients) build_coefficients(b, curve, is_file);
    build_known(b, "x_start", curve->x_start, is_file);
    build_known(b, "x_end", curve->x_end, is_file);
    if (!isnan(curve->y_start)) build_number(b, "y_start", curve->y_start, is_file);
    build_given(b, "buckets_method", curve->buckets_method);
    build_given(b, "statistic_function", curve->statistic_function);
    build_given(b, "moving_method", curve->moving_method);
    build_given(b, "kernel_mode", curve->kernel_mode);
    if (curve->window_width >= 0) build_number(b, "window_width", curve->window_width, is_file);
    if (!isnan(curve->bandwidth)) build_number(b, "bandwidth", curve->bandwidth, is_file);
    if (curve->bucket_stats) build_numbers(b, "bucket_stats", curve->bucket_stats, curve->n_buckets, is_file);
    build_given(b, "per_key", curve->per_key);
    build_given(b, "of_key", curve->of_key);
    if (curve->snapshot >= 0) as_build_int(b, "snapshot", curve->snapshot);
    if (plot_points && is_parametric) fine = build_plot(b, curve, plot_points, is_file);
    as_build_end(b);
    return fine;
}

bool as_regress_json(as_builder *b, const as_regress_answer *answer) {
    bool fine = true;
    as_build_object(b, NULL, true);
    as_build_array(b, "models", true);
    for (size_t i = 0; i < answer->shown.count && fine; i++)
        fine = as_regress_json_curve(b, as_answer_curve(answer, i), answer->request->plot_points, false);
    as_build_end(b);
    as_build_array(b, "skipped", true);
    for (size_t i = 0; i < answer->curves.skipped.count; i++) {
        const as_skipped_curve *skipped = &AS_AT(as_skipped_curve, &answer->curves.skipped, i);
        as_build_object(b, NULL, false);
        as_build_text(b, "uid", skipped->uid);
        as_build_text(b, "model", skipped->model);
        as_build_text(b, "reason", skipped->reason);
        as_build_end(b);
    }
    as_build_end(b);
    const as_regress_request *r = answer->request;
    if (r->analysis == AS_ANALYSIS_CLUSTERIZE || r->analysis == AS_ANALYSIS_NORMALIZE) {
        as_build_text(b, "postprocessor", as_regress_analysis_name(r->analysis));
        as_build_int(b, "records", (int64_t)answer->n_records);
        as_build_int(b, "changed", (int64_t)answer->n_changed);
    }
    as_build_end(b);
    return fine;
}
