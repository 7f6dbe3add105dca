/* Reports for CI, written beside the answer: JUnit XML and SARIF. */
#include <stdlib.h>

#include "cli/compare_view.h"
#include "cli/sarif.h"
#include "io/xml_write.h"

/* The i-th of what is judged: totals (wholes where there are new or gone call paths), then subjects. NULL behind the
 * last. */
static const as_judgement *judgement_at(const as_compare_view *view, size_t i) {
    const as_verdict *v = &view->verdict;
    if (i < v->n_metrics) return v->metrics[i].has_whole ? &v->metrics[i].whole : &v->metrics[i].total;
    return i - v->n_metrics < v->n ? &v->judgements[i - v->n_metrics] : NULL;
}

/* Whether its outcome stands beside what is said about it. */
static bool is_reason(const as_compare_view *view, const as_judgement *j) {
    return as_outcome_fails(view, j->outcome) || j->outcome == AS_OUTCOME_TOO_FEW;
}

/* What is said about it, into room (cleared). NULL when memory is out. */
static const char *words_of(const as_compare_view *view, const as_judgement *j, bool with_path, as_output *room) {
    as_output_clear(room);
    if (with_path) {
        as_output_text(room, j->subject->path ? j->subject->path : "total");
        as_output_printf(room, ": %s of %s: ", as_outcome_name(j->outcome), j->subject->metric);
    }
    if (!with_path && j->outcome != AS_OUTCOME_NEW && j->outcome != AS_OUTCOME_GONE && !is_reason(view, j))
        as_output_printf(room, "%s: ", as_outcome_name(j->outcome));
    as_judgement_words(view, j, room);
    size_t size;
    return as_output_memory(room, &size);
}

/* ---- JUnit ------------------------------------------------------------------------------------------------------- */

static bool put_case(const as_compare_view *view, as_output *out, const as_judgement *j, as_output *room) {
    const char *words = words_of(view, j, false, room);
    if (!words) return false;
    as_output_text(out, "    <testcase");
    as_xml_put_attribute(out, "classname", j->subject->metric);
    as_xml_put_attribute(out, "name", j->subject->path ? j->subject->path : "(total)");
    as_output_text(out, ">\n");
    if (as_outcome_fails(view, j->outcome)) {
        as_output_text(out, "      <failure");
        as_xml_put_attribute(out, "type", as_outcome_name(j->outcome));
        as_xml_put_attribute(out, "message", words);
        as_output_text(out, "/>\n");
    } else if (j->outcome == AS_OUTCOME_TOO_FEW) {
        as_output_text(out, "      <skipped");
        as_xml_put_attribute(out, "message", words);
        as_output_text(out, "/>\n");
    } else {
        as_output_text(out, "      <system-out>");
        as_xml_put_text(out, words, strlen(words));
        as_output_text(out, "</system-out>\n");
    }
    as_output_text(out, "    </testcase>\n");
    return true;
}

/* A call path's order of growth. */
static bool put_growth_case(const as_compare_view *view, as_output *out, const as_growth_change *change,
                            as_output *room) {
    as_outcome outcome = as_growth_worst(change);
    bool is_failure = as_outcome_fails(view, outcome);
    size_t size;
    as_output_clear(room);
    if (!is_failure) as_output_printf(room, "%s: ", as_outcome_name(outcome));
    as_growth_words(view->cli, &view->growths, change, room);
    const char *words = as_output_memory(room, &size);
    if (!words) return false;
    as_output_text(out, "    <testcase");
    as_xml_put_attribute(out, "classname", "growth");
    as_xml_put_attribute(out, "name", change->path);
    as_output_text(out, is_failure ? ">\n      <failure" : ">\n      <system-out>");
    if (is_failure) {
        as_xml_put_attribute(out, "type", as_outcome_name(outcome));
        as_xml_put_attribute(out, "message", words);
    } else {
        as_xml_put_text(out, words, size);
    }
    as_output_text(out, is_failure ? "/>\n    </testcase>\n" : "</system-out>\n    </testcase>\n");
    return true;
}

static bool put_junit(const as_compare_view *view, as_output *out, as_output *room) {
    size_t n = 0, failed = 0, skipped = 0;
    const as_judgement *j;
    for (; (j = judgement_at(view, n)); n++) {
        failed += as_outcome_fails(view, j->outcome);
        skipped += j->outcome == AS_OUTCOME_TOO_FEW;
    }
    const as_growths *growths = &view->growths;
    size_t n_judged = n;
    n += growths->n;
    for (size_t i = 0; i < growths->n; i++) failed += as_outcome_fails(view, as_growth_worst(&growths->changes[i]));
    as_output_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    as_output_printf(out, "<testsuites tests=\"%zu\" failures=\"%zu\">\n", n, failed);
    as_output_printf(out,
                     "  <testsuite name=\"assay compare\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
                     "skipped=\"%zu\">\n",
                     n, failed, skipped);
    for (size_t i = 0; i < n_judged; i++)
        if (!put_case(view, out, judgement_at(view, i), room)) return false;
    for (size_t i = 0; i < growths->n; i++)
        if (!put_growth_case(view, out, &growths->changes[i], room)) return false;
    as_output_clear(room);
    as_compare_method(view, room);
    size_t size;
    const char *method = as_output_memory(room, &size);
    if (!method) return false;
    as_output_text(out, "    <system-out>");
    as_xml_put_text(out, method, strlen(method));
    as_output_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
    return true;
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

/* What scanning services show: degradations, and those that may be. */
static bool is_listed(as_outcome outcome) { return outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_MAYBE_WORSE; }

/* subject NULL: it has no place of its own. */
static as_finding finding_of(const as_compare_view *view, as_outcome outcome, const as_subject *subject,
                             const char *message) {
    const as_dataset *target = view->sides.parts[1][0];
    const char *file = subject ? subject->file : NULL;
    int64_t line = subject ? subject->line : -1;
    bool is_sure = outcome == AS_OUTCOME_WORSE;
    return (as_finding){.severity = is_sure ? "error" : "warning",
                        .rule = is_sure ? "degradation" : "maybe-degradation",
                        .file = file ? file : as_ds_text(target, target->path),
                        .message = message,
                        .offset = -1,
                        .line = file && line > 0 ? (uint32_t)line : 0};
}

static const char *growth_message(const as_compare_view *view, const as_growth_change *change, as_output *room) {
    size_t size;
    as_output_clear(room);
    as_output_printf(room, "%s: %s of the growth of %s: ", change->path, as_outcome_name(as_growth_worst(change)),
                     change->metric);
    as_growth_words(view->cli, &view->growths, change, room);
    return as_output_memory(room, &size);
}

static bool put_sarif(const as_compare_view *view, as_output *out, as_output *room) {
    const as_growths *growths = &view->growths;
    as_sarif sarif;
    const as_judgement *j;
    bool fine = true;
    as_sarif_begin(&sarif, out);
    for (size_t i = 0; (j = judgement_at(view, i)); i++) {
        as_finding finding = finding_of(view, j->outcome, j->subject, "");
        if (is_listed(j->outcome)) as_sarif_rule(&sarif, &finding);
    }
    for (size_t i = 0; i < growths->n; i++) {
        as_finding finding = finding_of(view, as_growth_worst(&growths->changes[i]), NULL, "");
        if (is_listed(as_growth_worst(&growths->changes[i]))) as_sarif_rule(&sarif, &finding);
    }
    as_sarif_begin_results(&sarif, true);
    for (size_t i = 0; (j = judgement_at(view, i)) && fine; i++) {
        if (!is_listed(j->outcome)) continue;
        const char *message = words_of(view, j, true, room);
        as_finding finding = finding_of(view, j->outcome, j->subject, message);
        fine = message != NULL;
        if (fine) as_sarif_result(&sarif, &finding);
    }
    for (size_t i = 0; i < growths->n && fine; i++) {
        const as_growth_change *change = &growths->changes[i];
        if (!is_listed(as_growth_worst(change))) continue;
        const char *message = growth_message(view, change, room);
        as_finding finding = finding_of(view, as_growth_worst(change), NULL, message);
        fine = message != NULL;
        if (fine) as_sarif_result(&sarif, &finding);
    }
    return as_sarif_end(&sarif) && fine;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static as_exit write_report(as_compare_view *view, const char *option,
                            bool (*put)(const as_compare_view *view, as_output *out, as_output *room)) {
    const char *path = as_cli_value(view->cli, option);
    as_output *out, *room;
    assay_error error;
    if (!path) return AS_EXIT_FINE;
    as_exit status = as_cli_check_output(view->cli, path, as_cli_operands(view->cli));
    if (status != AS_EXIT_FINE) return status;
    if (as_output_open(path, &out, &error) != ASSAY_OK) return as_cli_error(view->cli, &error);
    room = as_output_to_memory();
    bool fine = room && put(view, out, room);
    as_output_discard(room);
    if (fine) return as_cli_commit(view->cli, out, AS_EXIT_FINE);
    as_output_discard(out);
    return as_cli_memory(view->cli);
}

as_exit as_compare_reports(as_compare_view *view) {
    as_exit status = write_report(view, "junit", put_junit);
    return status == AS_EXIT_FINE ? write_report(view, "sarif", put_sarif) : status;
}
