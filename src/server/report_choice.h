/* What the parts of a report have in common: its metrics, its telling contexts, and the words of their requests. */
#ifndef AS_SERVER_REPORT_CHOICE_H
#define AS_SERVER_REPORT_CHOICE_H

#include "server/report.h"

enum { AS_REPORT_METRICS = 64, AS_REPORT_WORDS = 8 };

/* Whether there is something to show of a metric: values, or a formula. */
bool as_report_offers(const as_dataset *ds, assay_id metric);
/* The metrics that a report has of the input at hand: those that trees show where nobody chooses, the main one first, then those that were derived for it, others that have values, and formulas of the source; eight, or more
 * where there is room for a value of each in each call path. How many. */
size_t as_report_metrics(as_viewing *viewing, as_html_report *report, assay_id out[AS_REPORT_METRICS]);

/* Parameters of a request about the input at hand. */
typedef struct as_report_words {
    char number[AS_NUMBER_SIZE], context[AS_NUMBER_SIZE];
    as_parameter parameters[AS_REPORT_WORDS];
    size_t n;
} as_report_words;

/* d, and where it is not the main one, metric (ASSAY_NONE: the main one). */
void as_report_words_begin(as_report_words *words, const as_html_report *report, assay_id metric);
/* value must last; NULL: nothing is added. */
void as_report_words_add(as_report_words *words, const char *name, const char *value);
/* The context, in the place of the one before. */
void as_report_words_context(as_report_words *words, assay_id context);

/* Contexts of the input at hand that have most in its main metric, at most `most`, with those above them; the outermost first. Appended to out (assay_id). */
void as_report_contexts(as_viewing *viewing, as_html_report *report, uint32_t most, as_vec *out);

/* Of api/tree (report_trees.c): whole trees of all metrics, as much of them as there is room for; notes say what is not. */
void as_report_trees(as_viewing *viewing, as_html_report *report);
/* Of api/scale (report_scale.c): the models of all metrics, as many as there is room for, with the measurements of those that grow fastest. */
void as_report_scale(as_viewing *viewing, as_html_report *report);

#endif
