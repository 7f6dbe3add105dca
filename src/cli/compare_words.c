/* The sentences of compare: the same for people, for a pull request and in reports. */
#include <stdio.h>

#include "cli/compare_view.h"
#include "render/display.h"

const char *as_verdict_word(as_outcome outcome) {
    switch (outcome) {
    case AS_OUTCOME_WORSE: return "worse";
    case AS_OUTCOME_MAYBE_WORSE: return "maybe worse";
    case AS_OUTCOME_BETTER: return "better";
    case AS_OUTCOME_MAYBE_BETTER: return "maybe better";
    default: return "no change";
    }
}

bool as_compare_fails(const as_compare_view *view) { return as_outcome_fails(view, view->outcome); }

static const char *arrow(const as_compare_view *view) { return view->is_ascii ? "->" : "→"; }

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* "5", "0.1": percent of a part. */
static void put_percent(as_output *out, double part) {
    char text[AS_NUMBER_SIZE];
    as_real_format(as_real_round(part * 100, 4), text);
    as_output_printf(out, "%s %%", text);
}

/* "+12.3 %"; "from nothing" where the base is 0. */
static void put_relative(as_output *out, const as_judgement *j) {
    char text[AS_QUANTITY_SIZE];
    if (isinf(j->relative))
        as_output_text(out, "from nothing");
    else if (j->relative == 0)
        as_output_text(out, "unchanged");
    else if (as_percent_change_format(j->relative, text))
        as_output_printf(out, "%s %%", text);
}

static void put_amount(const as_compare_view *view, as_output *out, const as_quantity *q, double value) {
    char text[AS_QUANTITY_SIZE];
    if (!isfinite(value)) {
        as_output_text(out, isnan(value) ? "?" : value > 0 ? "inf" : "-inf");
        return;
    }
    as_quantity_format(q, (as_number){.kind = AS_REAL, .r = value}, text);
    const char *unit = as_unit_shown(q, view->is_ascii);
    bool is_count = strcmp(unit, "occ") == 0 || strcmp(unit, "#") == 0;
    as_output_printf(out, "%s%s%s", text, *unit && !is_count ? " " : "", is_count ? "" : unit);
}

static as_quantity quantity_of(const as_judgement *j) {
    double largest = fmax(isfinite(j->base) ? fabs(j->base) : 0, isfinite(j->target) ? fabs(j->target) : 0);
    bool is_whole = largest < 0x1p53 && (!isfinite(j->base) || floor(j->base) == j->base) &&
                    (!isfinite(j->target) || floor(j->target) == j->target);
    return as_quantity_of(j->subject->unit, largest, is_whole);
}

void as_change_words(const as_compare_view *view, const as_judgement *j, as_output *out) {
    as_quantity q = quantity_of(j);
    if (j->outcome == AS_OUTCOME_NEW || j->outcome == AS_OUTCOME_GONE) {
        as_output_printf(out, "%s: ", as_outcome_name(j->outcome));
        put_amount(view, out, &q, j->outcome == AS_OUTCOME_NEW ? j->target : j->base);
        return;
    }
    put_amount(view, out, &q, j->base);
    as_output_printf(out, " %s ", arrow(view));
    put_amount(view, out, &q, j->target);
    as_output_text(out, " (");
    put_relative(out, j);
    as_output_char(out, ')');
}

static void put_rounded(as_output *out, double value, int digits) { as_output_real(out, as_real_round(value, digits)); }

void as_judgement_words(const as_compare_view *view, const as_judgement *j, as_output *out) {
    as_change_words(view, j, out);
    if (!isnan(j->low)) {
        as_output_text(out, ", ratio ");
        put_rounded(out, j->ratio, 4);
        as_output_text(out, " [");
        put_rounded(out, j->low, 4);
        as_output_text(out, ", ");
        put_rounded(out, j->high, 4);
        as_output_char(out, ']');
    }
    if (!isnan(j->adjusted_p)) {
        as_output_text(out, ", p = ");
        put_rounded(out, j->adjusted_p, 2);
        as_output_text(out, " corrected");
    }
    if (j->outcome == AS_OUTCOME_NEW || j->outcome == AS_OUTCOME_GONE || !j->subject->n_strata) return;
    if (j->is_tested)
        as_output_printf(out, ", %u and %u values, threshold ", j->n_base, j->n_target);
    else
        as_output_text(out, ", threshold only, ");
    put_percent(out, j->threshold);
}

/* ---- the first line ---------------------------------------------------------------------------------------------- */

static const char *got(const as_compare_view *view, size_t metric, bool is_worse) {
    const as_sampled_metric *m = view->verdict.metrics[metric].metric;
    bool is_time = m->unit ? as_unit_is_time(m->unit) : strcmp(m->name, "time") == 0;
    return is_time ? is_worse ? "slower" : "faster" : is_worse ? "worse" : "better";
}

/* "2 of 41 call paths got slower (time)". Gives whether it said anything. */
static bool put_counts(const as_compare_view *view, size_t metric, as_outcome outcome, bool is_first, as_output *out) {
    const as_metric_verdict *m = &view->verdict.metrics[metric];
    bool is_worse = outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_MAYBE_WORSE;
    bool is_maybe = outcome == AS_OUTCOME_MAYBE_WORSE || outcome == AS_OUTCOME_MAYBE_BETTER;
    size_t n = m->counts[outcome];
    bool is_total = m->total.outcome == outcome || (m->has_whole && m->whole.outcome == outcome);
    if (!n && !is_total) return false;
    if (!is_first) as_output_text(out, ", ");
    if (n)
        as_output_printf(out, "%zu of %zu call path%s %s%s", n, m->n_matched, m->n_matched == 1 ? "" : "s",
                         is_maybe ? "may have got " : "got ", got(view, metric, is_worse));
    else if (m->total.outcome == outcome)
        as_output_printf(out, "no call path alone, but all together %s%s", is_maybe ? "may have got " : "got ",
                         got(view, metric, is_worse));
    else if (!m->n_matched)
        as_output_printf(out, "no call path is in both, but all together %s%s", is_maybe ? "may have got " : "got ",
                         got(view, metric, is_worse));
    else
        as_output_printf(out, "new and gone call paths %s it %s", is_maybe ? "may have made" : "made",
                         got(view, metric, is_worse));
    if (view->verdict.n_metrics > 1) {
        as_output_text(out, " (");
        as_display_write(out, m->metric->name, strlen(m->metric->name), 60);
        as_output_char(out, ')');
    }
    return true;
}

static void put_total(const as_compare_view *view, as_output *out) {
    const as_metric_verdict *m = &view->verdict.metrics[view->main_metric];
    as_output_text(out, "; ");
    if (view->verdict.n_metrics > 1) {
        as_display_write(out, m->metric->name, strlen(m->metric->name), 60);
        as_output_char(out, ' ');
    } else {
        as_output_text(out, "total ");
    }
    put_relative(out, &m->whole);
    if (!as_matched_differ(m)) return;
    as_output_text(out, ", without new and gone call paths ");
    put_relative(out, &m->total);
}

void as_compare_summary(const as_compare_view *view, as_output *out) {
    bool is_first = true;
    size_t n_metrics = view->verdict.n_metrics;
    for (size_t i = 0; i < n_metrics && view->outcome != AS_OUTCOME_SAME; i++) {
        size_t metric = i == 0 ? view->main_metric : i - (i <= view->main_metric);
        is_first &= !put_counts(view, metric, view->outcome, is_first, out);
    }
    if (is_first) {
        size_t matched = n_metrics ? view->verdict.metrics[view->main_metric].n_matched : 0;
        as_output_printf(out, "%zu call path%s", matched, matched == 1 ? "" : "s");
    }
    if (n_metrics) put_total(view, out);
    size_t n_models = view->growths.counts[AS_OUTCOME_WORSE] + view->growths.counts[AS_OUTCOME_MAYBE_WORSE];
    if (n_models)
        as_output_printf(out, "; %s%zu model%s got worse", view->growths.counts[AS_OUTCOME_WORSE] ? "" : "maybe ",
                         n_models, n_models == 1 ? "" : "s");
}

/* ---- how it was found -------------------------------------------------------------------------------------------- */

static void put_sides(const as_compare_view *view, as_output *out) {
    as_display_write(out, view->sides.label[0], strlen(view->sides.label[0]), 0);
    as_output_printf(out, " %s ", arrow(view));
    as_display_write(out, view->sides.label[1], strlen(view->sides.label[1]), 0);
}

void as_compare_method(const as_compare_view *view, as_output *out) {
    const as_judge_options *judge = &view->config.judge;
    put_sides(view, out);
    if (!view->verdict.n_tested) {
        as_output_text(out, "; no repetitions: threshold only, ");
        put_percent(out, judge->threshold);
        return;
    }
    bool is_shuffled = view->verdict.is_shuffled;
    as_output_text(out, is_shuffled ? "; shuffled runs" : "; rank tests");
    as_output_text(out, " and bootstrap intervals of the ratio of medians, ");
    as_output_printf(out, "%zu test%s at ", view->verdict.n_tested, view->verdict.n_tested == 1 ? "" : "s");
    put_percent(out, judge->level);
    as_output_printf(out, " together%s, threshold ", is_shuffled ? "" : " (Holm)");
    put_percent(out, judge->threshold);
}

/* Names of the metrics in which nothing changed. */
static bool put_unchanged(const as_compare_view *view, as_output *out) {
    enum { MOST = 8 };
    size_t n = 0;
    for (size_t i = 0; i < view->verdict.n_metrics; i++) {
        const as_metric_verdict *m = &view->verdict.metrics[i];
        bool is_same = m->total.outcome == AS_OUTCOME_SAME && (!m->has_whole || m->whole.outcome == AS_OUTCOME_SAME);
        for (size_t k = AS_OUTCOME_WORSE; k <= AS_OUTCOME_GONE; k++) is_same &= m->counts[k] == 0;
        if (!is_same || i == view->main_metric || !m->metric->n) continue; /* nothing measured is no news */
        if (n < MOST) {
            as_output_text(out, n ? ", " : "no change in ");
            as_display_write(out, m->metric->name, strlen(m->metric->name), 60);
        }
        n++;
    }
    if (n > MOST) as_output_printf(out, " and %zu more metrics", n - MOST);
    return n > 0;
}

static bool put_points(const as_compare_view *view, as_output *out) {
    const size_t *n = view->samples.n_unmatched_points;
    if (!n[0] && !n[1]) return false;
    as_output_printf(out, "points that only one has are left out: %zu of the base, %zu of the target", n[0], n[1]);
    return true;
}

/* More repetitions than there are would be needed. */
static bool put_needed(const as_compare_view *view, as_output *out) {
    uint32_t needed = view->verdict.needed;
    if (!needed) return false;
    as_output_printf(out,
                     "too few repetitions for certainty: among %zu tests it takes %u on both sides (or fewer call "
                     "paths: --match, --metric, --floor)",
                     view->verdict.n_tested, needed);
    return true;
}

bool as_put_inclusive(const as_samples *samples, as_output *out) {
    enum { MOST = 3 };
    size_t n = 0;
    for (size_t i = 0; i < samples->n_metrics; i++) {
        const as_sampled_metric *metric = &samples->metrics[i];
        if (!metric->looks_inclusive || n++ >= MOST) continue;
        as_output_text(out, n > 1 ? ", " : "values of ");
        as_display_write(out, metric->name, strlen(metric->name), 60);
    }
    if (n > MOST) as_output_printf(out, " and %zu more metrics", n - MOST);
    if (n) as_output_text(out, " look inclusive: totals are sums of the topmost call paths");
    return n > 0;
}

static bool has_inclusive(const as_samples *samples) {
    for (size_t i = 0; i < samples->n_metrics; i++)
        if (samples->metrics[i].looks_inclusive) return true;
    return false;
}

/* Whether no metric has a call path that both sides have. */
static bool is_foreign(const as_compare_view *view) {
    size_t n = 0;
    for (size_t i = 0; i < view->verdict.n_metrics; i++) n += view->verdict.metrics[i].n_matched;
    return n == 0;
}

/* The metric that each side has a name of its own for; NULL: none. */
static const as_sampled_metric *find_renamed(const as_samples *samples) {
    for (size_t i = 0; i < samples->n_metrics; i++)
        if (samples->metrics[i].target_name) return &samples->metrics[i];
    return NULL;
}

bool as_compare_remark(const as_compare_view *view, size_t at, as_output *out) {
    size_t here = 0;
    if (is_foreign(view) && here++ == at) {
        as_output_text(out, view->verdict.n ? "no call path is in both: only the sum of all of them is compared"
                                            : "there is no call path to compare");
        return true;
    }
    const as_sampled_metric *renamed = find_renamed(&view->samples);
    if (renamed && here++ == at) {
        as_output_printf(out, "'%s' is compared with '%s' of the second side", renamed->name, renamed->target_name);
        return true;
    }
    if (view->verdict.needed && here++ == at) return put_needed(view, out);
    if (view->verdict.n_tested && view->samples.is_within_run && here++ == at) {
        as_output_text(out, "repetitions are of one run each: what differs from run to run is not in them, so small "
                            "changes may be chance");
        return true;
    }
    if ((view->samples.n_unmatched_points[0] || view->samples.n_unmatched_points[1]) && here++ == at)
        return put_points(view, out);
    if (has_inclusive(&view->samples) && here++ == at) return as_put_inclusive(&view->samples, out);
    return here == at && put_unchanged(view, out);
}
