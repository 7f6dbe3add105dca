/* `assay compare --json`, --csv, --jsonl: everything, exact. */
#include "cli/compare_view.h"

/* null where there is none. */
static void build_number(as_builder *b, const char *key, double value) {
    if (isnan(value))
        as_build_text(b, key, NULL);
    else
        as_build_real(b, key, value);
}

static void build_judgement(as_builder *b, const as_judgement *j) {
    build_number(b, "base", j->base);
    build_number(b, "target", j->target);
    build_number(b, "change", j->change);
    build_number(b, "relative", j->relative);
    build_number(b, "ratio", j->ratio);
    build_number(b, "ratio_low", j->low);
    build_number(b, "ratio_high", j->high);
    build_number(b, "p", j->p);
    build_number(b, "adjusted_p", j->adjusted_p);
    build_number(b, "q", j->q);
    as_build_real(b, "threshold", j->threshold);
    as_build_text(b, "method", j->is_tested ? "statistics" : "threshold");
    as_build_text(b, "finding", as_outcome_name(j->outcome));
    as_build_int(b, "n_base", j->n_base);
    as_build_int(b, "n_target", j->n_target);
}

static void build_totals(const as_compare_view *view, as_builder *b) {
    as_build_array(b, "totals", true);
    for (size_t i = 0; i < view->verdict.n_metrics; i++) {
        const as_metric_verdict *m = &view->verdict.metrics[i];
        as_build_object(b, NULL, false);
        as_build_text(b, "metric", m->metric->name);
        if (m->metric->target_name) as_build_text(b, "target_metric", m->metric->target_name);
        as_build_text(b, "unit", m->metric->unit);
        build_judgement(b, &m->total);
        as_build_int(b, "matched", (int64_t)m->n_matched);
        build_number(b, "geometric_mean", m->geometric_mean);
        as_build_bool(b, "looks_inclusive", m->metric->looks_inclusive);
        as_build_int(b, "new", (int64_t)m->counts[AS_OUTCOME_NEW]);
        as_build_int(b, "gone", (int64_t)m->counts[AS_OUTCOME_GONE]);
        as_build_real(b, "new_value", m->new_value);
        as_build_real(b, "gone_value", m->gone_value);
        as_build_object(b, "whole", false);
        build_judgement(b, &m->whole);
        as_build_end(b);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_subject(as_builder *b, const as_judgement *j) {
    as_build_text(b, "path", j->subject->path);
    as_build_text(b, "metric", j->subject->metric);
    as_build_text(b, "unit", j->subject->unit);
}

static void build_entries(const as_compare_view *view, as_builder *b) {
    as_build_array(b, "entries", true);
    for (size_t i = 0; i < view->verdict.n; i++) {
        const as_judgement *j = &view->verdict.judgements[i];
        if (j->outcome == AS_OUTCOME_NEW || j->outcome == AS_OUTCOME_GONE) continue;
        as_build_object(b, NULL, false);
        build_subject(b, j);
        build_judgement(b, j);
        build_number(b, "share", j->share);
        as_build_bool(b, "small", j->is_small);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_only(const as_compare_view *view, as_builder *b, const char *key, as_outcome outcome) {
    as_build_array(b, key, true);
    for (size_t i = 0; i < view->verdict.n; i++) {
        const as_judgement *j = &view->verdict.judgements[i];
        if (j->outcome != outcome) continue;
        as_build_object(b, NULL, false);
        build_subject(b, j);
        build_number(b, "value", outcome == AS_OUTCOME_NEW ? j->target : j->base);
        build_number(b, "share", j->share);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_method(const as_compare_view *view, as_builder *b) {
    const as_judge_options *judge = &view->config.judge;
    bool is_tested = view->verdict.n_tested > 0;
    as_build_object(b, "method", true);
    as_build_text(b, "name",
                  !is_tested                  ? "threshold only"
                  : view->verdict.is_shuffled ? "shuffled runs and bootstrap"
                                              : "rank test and bootstrap");
    as_build_bool(b, "has_repetitions", view->samples.has_repetitions);
    as_build_bool(b, "within_run", view->samples.is_within_run);
    as_build_text(b, "values", view->config.is_inclusive ? "inclusive" : "exclusive");
    as_build_real(b, "threshold", judge->threshold);
    as_build_real(b, "level", judge->level);
    as_build_real(b, "floor", judge->floor);
    as_build_int(b, "resamples", judge->resamples);
    as_build_int(b, "seed", (int64_t)judge->seed);
    as_build_int(b, "tests", (int64_t)view->verdict.n_tested);
    as_build_known(b, "repetitions_needed", view->verdict.needed, true);
    as_build_int(b, "unmatched_points_base", (int64_t)view->samples.n_unmatched_points[0]);
    as_build_int(b, "unmatched_points_target", (int64_t)view->samples.n_unmatched_points[1]);
    as_build_end(b);
}

as_exit as_compare_json(as_compare_view *view) {
    static const char *const names[] = {"base", "target"};
    as_builder builder = as_builder_of(view->cli->out), *b = &builder;
    as_build_object(b, NULL, true);
    as_build_text(b, "verdict", as_verdict_word(view->outcome));
    as_build_bool(b, "fails", as_compare_fails(view));
    for (size_t side = 0; side < 2; side++) {
        as_build_array(b, names[side], false);
        for (size_t i = 0; i < view->sides.n[side]; i++) {
            const as_dataset *ds = view->sides.parts[side][i];
            as_build_text(b, NULL, as_ds_text(ds, ds->path));
        }
        as_build_end(b);
    }
    build_method(view, b);
    build_totals(view, b);
    build_entries(view, b);
    build_only(view, b, "new", AS_OUTCOME_NEW);
    build_only(view, b, "gone", AS_OUTCOME_GONE);
    if (view->growths.n) as_growths_json(b, &view->growths);
    as_build_end(b);
    return AS_EXIT_FINE;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum {
    METRIC,
    UNIT,
    PATH,
    FINDING,
    METHOD,
    BASE,
    TARGET,
    CHANGE,
    RELATIVE,
    RATIO,
    LOW,
    HIGH,
    P,
    ADJUSTED_P,
    THRESHOLD,
    SHARE,
    N_BASE,
    N_TARGET,
    N_COLUMNS
};
static const as_column columns[N_COLUMNS] = {{"metric"},    {"unit"},       {"path"},    {"finding"},    {"method"},
                                             {"base"},      {"target"},     {"change"},  {"relative"},   {"ratio"},
                                             {"ratio_low"}, {"ratio_high"}, {"p"},       {"adjusted_p"}, {"threshold"},
                                             {"share"},     {"n_base"},     {"n_target"}};

static as_cell number_cell(double value) { return isnan(value) ? as_cell_null() : as_cell_real(value); }

static bool add_row(as_table *table, const as_judgement *j) {
    as_cell cells[N_COLUMNS] = {[METRIC] = as_cell_text(j->subject->metric),
                                [UNIT] = as_cell_text(j->subject->unit),
                                [PATH] = as_cell_text(j->subject->path),
                                [FINDING] = as_cell_text(as_outcome_name(j->outcome)),
                                [METHOD] = as_cell_text(j->is_tested ? "statistics" : "threshold"),
                                [BASE] = number_cell(j->base),
                                [TARGET] = number_cell(j->target),
                                [CHANGE] = number_cell(j->change),
                                [RELATIVE] = number_cell(j->relative),
                                [RATIO] = number_cell(j->ratio),
                                [LOW] = number_cell(j->low),
                                [HIGH] = number_cell(j->high),
                                [P] = number_cell(j->p),
                                [ADJUSTED_P] = number_cell(j->adjusted_p),
                                [THRESHOLD] = as_cell_real(j->threshold),
                                [SHARE] = number_cell(j->share),
                                [N_BASE] = as_cell_int(j->n_base),
                                [N_TARGET] = as_cell_int(j->n_target)};
    return as_table_append(table, cells);
}

/* Totals first, without a path. */
as_exit as_compare_rows(as_compare_view *view) {
    as_table *table = as_table_new(columns, N_COLUMNS, NULL);
    bool fine = table != NULL;
    for (size_t i = 0; fine && i < view->verdict.n_metrics; i++) fine = add_row(table, &view->verdict.metrics[i].total);
    for (size_t i = 0; fine && i < view->verdict.n; i++) fine = add_row(table, &view->verdict.judgements[i]);
    as_exit status = fine ? as_cli_print(view->cli, table) : as_cli_memory(view->cli);
    as_table_free(table);
    return status;
}
