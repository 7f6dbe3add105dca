/* Scaling models in reports: of each metric the table with predictions at the places of the slider, and the pictures of what grows fastest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/coordinates.h"
#include "dataset/main_metric.h"
#include "server/report_choice.h"
#include "server/scale.h"

enum { CURVES = 150, CURVES_OF_OTHERS = 60, SURFACES = 10, PAGE = 200, MOST_PLACES = 16, LONGEST_PLACE = 256 };

/* What there is to ask for of one metric. */
typedef struct plan {
    assay_id contexts[CURVES]; /* those that grow fastest */
    size_t n_contexts, n_models, n_axes;
    char places[MOST_PLACES][LONGEST_PLACE]; /* "p=64,n=10": where the slider can stand, but for the usual place */
    size_t n_places;
} plan;

/* A point with the largest of all other parameters. */
static void add_place(plan *p, const as_scale_view *s, double value) {
    const as_dataset *ds = as_scale_ds(s);
    const double *largest = as_ds_point(ds, s->largest);
    char *out = p->places[p->n_places], digits[AS_NUMBER_SIZE];
    size_t used = 0;
    if (p->n_places == MOST_PLACES) return;
    for (size_t k = 0; k < as_ds_parameters(ds) && used < LONGEST_PLACE; k++) {
        as_real_format(k == s->request.processes ? value : largest[k], digits);
        used +=
            (size_t)snprintf(out + used, LONGEST_PLACE - used, "%s%s=%s", k ? "," : "", as_ds_parameter(ds, k), digits);
    }
    p->n_places += used < LONGEST_PLACE;
}

/* The measured values, the last of many, and some up to where the usual prediction is. */
static bool add_places(plan *p, const as_scale_view *s) {
    static const double further[] = {1.5, 2, 3};
    enum { FURTHER = sizeof further / sizeof *further, MEASURED = MOST_PLACES - FURTHER };
    as_vec values;
    as_vec_init(&values, sizeof(double), NULL);
    bool fine = as_parameter_values(as_scale_ds(s), s->request.processes, &values), is_whole = true;
    for (size_t i = 0; fine && i < values.count; i++) {
        double value = AS_AT(double, &values, i);
        is_whole = is_whole && value == floor(value);
        if (i + MEASURED >= values.count) add_place(p, s, value);
    }
    double last = fine && values.count ? AS_AT(double, &values, values.count - 1) : 0;
    for (size_t i = 0; last > 0 && i < FURTHER; i++)
        add_place(p, s, is_whole ? round(last * further[i]) : last * further[i]);
    as_vec_free(&values);
    return fine;
}

static bool make_plan(as_viewing *viewing, as_html_report *report, const as_report_words *words, plan *out) {
    as_request request = {.path = "scale", .body = ""};
    as_scale_view *s;
    assay_error error;
    *out = (plan){0};
    as_vec_init(&request.parameters, sizeof(as_parameter), NULL);
    assay_status status = as_vec_append(&request.parameters, words->parameters, words->n) ? ASSAY_OK : ASSAY_E_NOMEM;
    if (status == ASSAY_OK)
        status = as_scale_open(viewing, &request, &s, &error);
    else
        as_fail_memory(&error, NULL);
    as_vec_free(&request.parameters);
    if (status != ASSAY_OK) {
        as_html_report_fail(report, &error);
        return false;
    }
    const uint32_t *rows = as_scale_ordered(s, AS_BY_GROWTH);
    out->n_axes = as_ds_parameters(as_scale_ds(s));
    out->n_models = s->predictor.fit.n;
    for (; rows && out->n_contexts < CURVES && out->n_contexts < out->n_models; out->n_contexts++)
        out->contexts[out->n_contexts] = as_scale_context(s, as_scale_model(s, rows[out->n_contexts])->context);
    if (!rows || !add_places(out, s)) as_html_report_fail(report, NULL);
    as_scale_close(s);
    return true;
}

/* One more word, and the answer. */
static as_html_report_kept keep_with(as_html_report *report, const char *path, const as_report_words *words,
                                     const char *name, const char *value, double part) {
    as_report_words more = *words;
    as_report_words_add(&more, name, value);
    return as_html_report_keep_part(report, path, more.parameters, more.n, part);
}

/* All rows of the usual order, the first of others, and the first at other places. */
static void keep_tables(as_html_report *report, const as_report_words *words, const plan *p, bool is_main,
                        const char *of) {
    static const char *const sorts[] = {"share", "now", "change", "error", "name", "tree"};
    size_t n = PAGE;
    for (size_t i = 0; i < p->n_places; i++)
        keep_with(report, "scale", words, "at", p->places[i], is_main ? 0.05 : 0.01);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        keep_with(report, "scale", words, "sort", sorts[i], is_main ? 0.05 : 0.01);
    for (; n < p->n_models; n += PAGE) {
        char offset[AS_NUMBER_SIZE];
        as_uint_format(n, offset);
        if (keep_with(report, "scale", words, "offset", offset, is_main ? 0.1 : 0.03) != AS_REPORT_KEPT) break;
    }
    if (n < p->n_models) as_html_report_note(report, "scaling models of %s: %zu that grow least", of, p->n_models - n);
}

static void keep_pictures(as_html_report *report, const as_report_words *words, const plan *p, bool is_main,
                          const char *of) {
    size_t n = p->n_contexts, n_kept = 0;
    if (!is_main && n > CURVES_OF_OTHERS) n = CURVES_OF_OTHERS;
    for (size_t i = 0; i < n; i++) {
        char context[AS_NUMBER_SIZE];
        as_uint_format(p->contexts[i], context);
        n_kept += keep_with(report, "curve", words, "context", context, is_main ? 0.05 : 0.02) == AS_REPORT_KEPT;
        if (i < SURFACES) keep_with(report, "why", words, "context", context, 0.02);
        if (i < SURFACES && p->n_axes > 1) keep_with(report, "surface", words, "context", context, 0.05);
    }
    if (n_kept < p->n_models)
        as_html_report_note(report, "curves of the scaling models of %s: %zu of %zu", of, p->n_models - n_kept,
                            p->n_models);
}

/* is_first: no other input of the report is of the same experiment; else its table is enough. */
static void report_metric(as_viewing *viewing, as_html_report *report, assay_id metric, bool is_main, bool is_first) {
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    as_report_words words;
    as_report_words_begin(&words, report, metric);
    char *of = NULL;
    const char *name = as_ds_text(input->ds, as_ds_metric(input->ds, metric)->name);
    if (asprintf(&of, "%s of %s", name ? name : "(unknown)", as_view_input_name(input)) < 0)
        return as_html_report_fail(report, NULL);
    as_html_report_kept kept =
        as_html_report_keep_part(report, "scale", words.parameters, words.n, is_main ? 0.3 : 0.1);
    plan *p = malloc(sizeof *p);
    if (!p) as_html_report_fail(report, NULL);
    if (kept == AS_REPORT_TOO_LARGE) as_html_report_note(report, "scaling models of %s", of);
    if (p && kept == AS_REPORT_KEPT && make_plan(viewing, report, &words, p)) {
        if (is_first) keep_tables(report, &words, p, is_main, of);
        keep_pictures(report, &words, p, is_main && is_first, of);
    }
    free(p);
    free(of);
}

void as_report_scale(as_viewing *viewing, as_html_report *report) {
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    assay_id metrics[AS_REPORT_METRICS];
    bool has_points = input && input->ds->n_points > 1, is_first = true;
    for (size_t k = 0; input && k < as_viewing_inputs(viewing); k++) {
        bool is_other = k != number && as_inputs_are_points(input, as_viewing_input(viewing, k));
        has_points |= is_other;
        is_first &= !is_other || k > number;
    }
    size_t n = has_points ? as_report_metrics(viewing, report, metrics) : 0;
    for (size_t i = 0; i < n && (is_first || i == 0); i++) {
        bool is_main = metrics[i] == as_main_metric(input->ds, false);
        report_metric(viewing, report, metrics[i], is_main, is_first);
    }
}
