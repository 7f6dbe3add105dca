/* Scaling models in reports: of each metric their functions, which the page evaluates wherever the sliders stand, and
 * of those that grow fastest what was measured and what else was tried. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/main_metric.h"
#include "server/report_choice.h"
#include "server/scale.h"

enum { FEWEST = 10, MOST_DETAILS = 1000, EXPLAINED = 40 };

/* One more word, and the answer. */
static as_html_report_kept keep_with(as_html_report *report, const char *path, const as_report_words *words,
                                     const char *name, const char *value, double part) {
    as_report_words more = *words;
    as_report_words_add(&more, name, value);
    return as_html_report_keep_part(report, path, more.parameters, more.n, part);
}

/* As many models as this part of what is left has room for, and of as many of them all details; false: there is room
 * for none. */
static bool keep_models(as_html_report *report, const as_report_words *words, double part, double *n_rows,
                        double *n_details) {
    double room = part * (double)as_html_report_left(report);
    for (double few = fmin(*n_rows, FEWEST); *n_rows >= few && few > 0;) {
        char rows[AS_NUMBER_SIZE], details[AS_NUMBER_SIZE];
        as_report_words more = *words;
        as_uint_format((uint64_t)*n_rows, rows);
        as_uint_format((uint64_t)*n_details, details);
        as_report_words_add(&more, "rows", rows);
        as_report_words_add(&more, "details", details);
        as_html_report_kept kept = as_html_report_keep_part(report, "models", more.parameters, more.n, part);
        if (kept != AS_REPORT_TOO_LARGE) return kept == AS_REPORT_KEPT;
        double fits = 0.9 * room / (double)as_html_report_last_size(report);
        if (*n_details > few)
            *n_details = fmax(few, floor(*n_details * fits));
        else if (*n_details > 0)
            *n_details = 0;
        else
            *n_rows = floor(*n_rows * fits);
    }
    return false;
}

/* The contexts that grow fastest, at most EXPLAINED, into out (assay_id), and how many models there are. */
static size_t find_models(as_viewing *viewing, as_html_report *report, const as_report_words *words, as_vec *out) {
    as_request request = {.path = "scale", .body = ""};
    as_scale_view *s;
    assay_error error;
    as_vec_init(&request.parameters, sizeof(as_parameter), NULL);
    assay_status status = as_vec_append(&request.parameters, words->parameters, words->n) ? ASSAY_OK : ASSAY_E_NOMEM;
    if (status == ASSAY_OK)
        status = as_scale_open(viewing, &request, &s, &error);
    else
        as_fail_memory(&error, NULL);
    as_vec_free(&request.parameters);
    if (status != ASSAY_OK) {
        as_html_report_fail(report, &error);
        return 0;
    }
    const uint32_t *rows = as_scale_ordered(s, AS_BY_GROWTH);
    size_t n = s->predictor.fit.n;
    bool fine = rows != NULL;
    for (size_t i = 0; fine && i < n && i < EXPLAINED; i++) {
        assay_id context = as_scale_context(s, as_scale_model(s, rows[i])->context);
        fine = as_vec_append(out, &context, 1);
    }
    if (!fine) as_html_report_fail(report, NULL);
    as_scale_close(s);
    return n;
}

static void keep_metric(as_viewing *viewing, as_html_report *report, const as_report_words *words, bool is_main,
                        const char *of) {
    as_vec contexts;
    as_vec_init(&contexts, sizeof(assay_id), NULL);
    size_t n = find_models(viewing, report, words, &contexts);
    double n_rows = (double)n, n_details = fmin(n_rows, MOST_DETAILS);
    bool is_there = keep_with(report, "scale", words, "limit", "0", is_main ? 0.3 : 0.1) == AS_REPORT_KEPT &&
                    keep_models(report, words, is_main ? 0.35 : 0.1, &n_rows, &n_details);
    size_t n_kept = is_there ? (size_t)n_rows : 0;
    if (n && !is_there) as_html_report_note(report, "scaling models of %s", of);
    if (n_kept && n_kept < n) as_html_report_note(report, "scaling models of %s: %zu that grow least", of, n - n_kept);
    if (n_kept && n_details < n_rows)
        as_html_report_note(report, "measurements and intervals of the scaling models of %s: those of %zu of %zu", of,
                            n_kept - (size_t)n_details, n_kept);
    for (size_t i = 0; is_there && i < contexts.count; i++) {
        char context[AS_NUMBER_SIZE];
        as_uint_format(AS_AT(assay_id, &contexts, i), context);
        keep_with(report, "why", words, "context", context, is_main ? 0.01 : 0.002);
    }
    as_vec_free(&contexts);
}

static void report_metric(as_viewing *viewing, as_html_report *report, assay_id metric, bool is_main) {
    size_t number;
    const as_view_input *input = as_html_report_input(report, &number);
    as_report_words words;
    char *of = NULL;
    const char *name = as_ds_text(input->ds, as_ds_metric(input->ds, metric)->name);
    as_report_words_begin(&words, report, metric);
    if (asprintf(&of, "%s of %s", name ? name : "(unknown)", as_view_input_name(input)) < 0)
        return as_html_report_fail(report, NULL);
    keep_metric(viewing, report, &words, is_main, of);
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
    /* Of further inputs of the same experiment the main metric is enough */
    size_t n = has_points ? as_report_metrics(viewing, report, metrics) : 0;
    for (size_t i = 0; i < n && (is_first || i == 0); i++) {
        bool is_main = metrics[i] == as_main_metric(input->ds, false);
        report_metric(viewing, report, metrics[i], is_main && is_first);
    }
}
