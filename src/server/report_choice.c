#include "server/report_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/main_metric.h"
#include "server/tree_whole.h"

static bool is_in(const assay_id *list, size_t n, assay_id metric) {
    for (size_t i = 0; i < n; i++) {
        if (list[i] == metric) return true;
    }
    return false;
}

/* A request about the input at hand. */
static bool plain_request(const as_report_words *words, as_request *out) {
    *out = (as_request){.path = "tree", .body = ""};
    as_vec_init(&out->parameters, sizeof(as_parameter), NULL);
    return as_vec_append(&out->parameters, words->parameters, words->n);
}

/* How many metrics there is room for. */
static size_t most_metrics(const as_html_report *report, const as_dataset *ds) {
    enum { FEWEST = 8, PART = 4, VALUE_BYTES = 8 };
    double each = (double)AS_COUNT(ds, contexts) * VALUE_BYTES + 1;
    double most = (double)as_html_report_room(report) / PART / each;
    return most < FEWEST ? FEWEST : most > AS_REPORT_METRICS ? AS_REPORT_METRICS : (size_t)most;
}

bool as_report_offers(const as_dataset *ds, assay_id metric) {
    const as_metric *at = as_ds_metric(ds, metric);
    return at->part_of == ASSAY_NONE && (at->kind == AS_KIND_DERIVED || as_metric_has_data(ds, metric));
}

size_t as_report_metrics(as_viewing *viewing, as_html_report *report, assay_id out[AS_REPORT_METRICS]) {
    size_t number, n = 0;
    const as_view_input *input = as_html_report_input(report, &number);
    const as_dataset *ds = input->ds;
    size_t most = most_metrics(report, ds);
    as_report_words words;
    as_request request;
    as_asked_view asked;
    assay_error error;
    as_report_words_begin(&words, report, ASSAY_NONE);
    bool fine = plain_request(&words, &request);
    assay_status status = fine ? as_asked_view_make(viewing, &request, &asked, &error) : ASSAY_E_NOMEM;
    if (status != ASSAY_OK) as_html_report_fail(report, fine ? &error : NULL);
    if (status == ASSAY_OK) {
        for (size_t i = 0; i < asked.tree.metrics.count && n < most; i++) out[n++] = as_asked_metric(&asked, i);
    }
    if (fine) as_asked_view_free(&asked);
    as_vec_free(&request.parameters);
    assay_id first_given = (assay_id)(AS_COUNT(ds, metrics) - input->derives.count);
    for (assay_id id = first_given; id < first_given + input->n_given && n < most; id++) {
        if (!is_in(out, n, id)) out[n++] = id;
    }
    for (int formulas = 0; formulas < 2; formulas++) {
        for (assay_id id = 0; id < AS_COUNT(ds, metrics) && n < most; id++) {
            bool is_formula = as_ds_metric(ds, id)->kind == AS_KIND_DERIVED;
            if (as_report_offers(ds, id) && is_formula == (formulas == 1) && !is_in(out, n, id)) out[n++] = id;
        }
    }
    return n;
}

void as_report_metric_numbers(as_viewing *viewing, as_html_report *report, char out[AS_REPORT_NUMBERS]) {
    assay_id metrics[AS_REPORT_METRICS];
    size_t n = as_report_metrics(viewing, report, metrics), used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(out + used, AS_REPORT_NUMBERS - used, "%s%u", i ? "," : "", metrics[i]);
}

void as_report_words_begin(as_report_words *words, const as_html_report *report, assay_id metric) {
    size_t number;
    const as_dataset *ds = as_html_report_input(report, &number)->ds;
    words->n = 0;
    as_uint_format(number, words->number);
    as_report_words_add(words, "d", words->number);
    if (metric != ASSAY_NONE && metric != as_main_metric(ds, false))
        as_report_words_add(words, "metric", as_ds_text(ds, as_ds_metric(ds, metric)->name));
}

void as_report_words_add(as_report_words *words, const char *name, const char *value) {
    if (value && words->n < AS_REPORT_WORDS) words->parameters[words->n++] = (as_parameter){name, value};
}

void as_report_words_row(as_report_words *words, const char *name, int64_t row) {
    as_int_format(row, words->row);
    as_report_words_add(words, name, words->row);
}

void as_report_rows(as_viewing *viewing, as_html_report *report, const char *view, const char *metrics, uint32_t most,
                    as_vec *out) {
    as_report_words words;
    as_request request;
    as_asked_view asked;
    as_asked_table table;
    as_whole_part part;
    assay_error error;
    as_report_words_begin(&words, report, ASSAY_NONE);
    as_report_words_add(&words, "metrics", metrics);
    as_report_words_add(&words, "view", view);
    if (!plain_request(&words, &request)) return as_html_report_fail(report, NULL);
    as_viewing_lock(viewing);
    assay_status status = as_asked_view_make(viewing, &request, &asked, &error);
    if (status == ASSAY_OK) {
        status = as_asked_table_some(viewing, &asked, 1, &table, &error);
        if (status == ASSAY_OK && !as_whole_part_choose(&table, most, &part)) status = as_fail_memory(&error, NULL);
        for (uint32_t i = 0; status == ASSAY_OK && i < part.all; i++) {
            int64_t node = as_asked_node(table.table, i);
            if (part.marks[i] && !as_vec_append(out, &node, 1)) as_html_report_fail(report, NULL);
        }
        if (status == ASSAY_OK) free(part.marks);
        as_asked_table_free(&table);
    }
    if (status != ASSAY_OK) as_html_report_fail(report, &error);
    as_asked_view_free(&asked);
    as_viewing_unlock(viewing);
    as_vec_free(&request.parameters);
}
