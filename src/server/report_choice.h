/* What the parts of a report have in common: its metrics, its telling contexts, and the words of their requests. */
#ifndef AS_SERVER_REPORT_CHOICE_H
#define AS_SERVER_REPORT_CHOICE_H

#include "server/report.h"

enum { AS_REPORT_METRICS = 64, AS_REPORT_WORDS = 8, AS_REPORT_NUMBERS = 12 * AS_REPORT_METRICS };

/* Whether there is something to show of a metric: values, or a formula. */
bool as_report_offers(const as_dataset *ds, assay_id metric);
/* The metrics that a report has of the input at hand: those that trees show where nobody chooses, the main one first,
 * then those that were derived for it, others that have values, and formulas of the source; eight, or more where there
 * is room for a value of each in each call path. How many. */
size_t as_report_metrics(as_viewing *viewing, as_html_report *report, assay_id out[AS_REPORT_METRICS]);

/* The same as the parameter `metrics`: "0,2,4". */
void as_report_metric_numbers(as_viewing *viewing, as_html_report *report, char out[AS_REPORT_NUMBERS]);

/* Parameters of a request about the input at hand. */
typedef struct as_report_words {
    char number[AS_NUMBER_SIZE], row[AS_NUMBER_SIZE];
    as_parameter parameters[AS_REPORT_WORDS];
    size_t n;
} as_report_words;

/* d, and where it is not the main one, metric (ASSAY_NONE: the main one). */
void as_report_words_begin(as_report_words *words, const as_html_report *report, assay_id metric);
/* value must last; NULL: nothing is added. */
void as_report_words_add(as_report_words *words, const char *name, const char *value);
/* The number of a context or a row; once. */
void as_report_words_row(as_report_words *words, const char *name, int64_t row);

/* Rows of a view (NULL: top-down, where they are contexts) of the input at hand that have most in its main metric, at
 * most `most`, with those above them; the outermost first. Appended to out (int64_t), by what the page calls them,
 * which depends on the metrics that are looked at (NULL: the main one). */
void as_report_rows(as_viewing *viewing, as_html_report *report, const char *view, const char *metrics, uint32_t most,
                    as_vec *out);
/* Of api/locations: how values lie over locations for the rows of a view that have most. */
void as_report_row_places(as_viewing *viewing, as_html_report *report, const char *view);

/* Of api/tree (report_trees.c): whole trees of all metrics, as much of them as there is room for; notes say what is
 * not. */
void as_report_trees(as_viewing *viewing, as_html_report *report);
/* Of api/scale (report_scale.c): the models of all metrics, as many as there is room for, with the measurements of
 * those that grow fastest. */
void as_report_scale(as_viewing *viewing, as_html_report *report);

#endif
