/* `assay compare BASE TARGET`: what its outputs share. */
#ifndef AS_CLI_COMPARE_VIEW_H
#define AS_CLI_COMPARE_VIEW_H

#include "cli/compare.h"
#include "core/pattern.h"
#include "render/quantity.h"

typedef enum as_fail_on { AS_FAIL_DEGRADATION, AS_FAIL_MAYBE, AS_FAIL_NEVER } as_fail_on;

/* What the config file and the command line say; the latter wins. */
typedef struct as_compare_config {
    as_judge_options judge; /* its rules are below */
    as_vec rules;           /* as_threshold_rule */
    as_vec metrics;         /* const char *; the last one is NULL where there are any */
    bool is_inclusive;
    as_pattern *match; /* call paths that are looked at, of --match; NULL: all */
    as_fail_on fail_on;
    as_arena arena; /* of texts */
} as_compare_config;

/* Status 2 or 3, with its line, where something is wrong. as_compare_config_free() in every case. */
as_exit as_compare_config_read(as_cli *cli, as_compare_config *out);
void as_compare_config_free(as_compare_config *config);

/* Which call paths are looked at: an as_sample_request's user, and its keeps. */
typedef struct as_path_choice {
    const as_rules *rules;
    const as_pattern *match; /* NULL: all */
} as_path_choice;
bool as_path_choice_keeps(void *choice, const char *metric, const char *path);

typedef struct as_compare_view {
    as_cli *cli;
    as_sides sides;
    as_compare_config config;
    as_samples samples;
    as_verdict verdict;
    as_growths growths;
    size_t main_metric; /* that the first line is about; of verdict.metrics */
    as_outcome outcome; /* of all, models too */
    bool is_ascii;
} as_compare_view;

/* Whether it is worth saying what matched call paths have by themselves: new and gone ones are not inside of them. */
static inline bool as_matched_differ(const as_metric_verdict *m) {
    return m->has_whole && m->n_matched && (m->whole.base != m->total.base || m->whole.target != m->total.target);
}

/* Whether the command ends with status 1. */
bool as_compare_fails(const as_compare_view *view);
/* Whether one subject is among the reasons. */
static inline bool as_outcome_fails(const as_compare_view *view, as_outcome outcome) {
    return view->config.fail_on != AS_FAIL_NEVER &&
           (outcome == AS_OUTCOME_WORSE ||
            (outcome == AS_OUTCOME_MAYBE_WORSE && view->config.fail_on == AS_FAIL_MAYBE));
}

/* ---- words (compare_words.c) ------------------------------------------------------------------------------------- */

/* "worse", "maybe worse", "better", "maybe better", "no change". */
const char *as_verdict_word(as_outcome outcome);
/* "2 of 41 call paths got slower; time +12.3 %": the rest of the first line. */
void as_compare_summary(const as_compare_view *view, as_output *out);
/* How it was found out, in a sentence without a full stop: "no repetitions: the threshold of 5 % alone decides". */
void as_compare_method(const as_compare_view *view, as_output *out);
/* What should be known about it: each a sentence; *at counts from 0. False behind the last one. */
bool as_compare_remark(const as_compare_view *view, size_t at, as_output *out);
/* The metrics whose values look inclusive, if there are any. */
bool as_put_inclusive(const as_samples *samples, as_output *out);
/* The value of one of both sides, the change, in words: "12.3 s → 14.0 s (+13.8 %)". */
void as_change_words(const as_compare_view *view, const as_judgement *judgement, as_output *out);
/* Why a subject is what it is: "12.3 s → 14.0 s (+13.8 %), ratio 1.14 [1.10, 1.18], p = 0.003". */
void as_judgement_words(const as_compare_view *view, const as_judgement *judgement, as_output *out);

/* ---- rows for people (compare_text.c) ---------------------------------------------------------------------------- */

enum {
    AS_COMPARE_BASE,
    AS_COMPARE_TARGET,
    AS_COMPARE_CHANGE,
    AS_COMPARE_PERCENT,
    AS_COMPARE_RATIO,
    AS_COMPARE_P,
    AS_COMPARE_VERDICT,
    AS_COMPARE_COLUMNS
};
enum { AS_COMPARE_CELL = 112 };
typedef struct as_compare_row {
    char cells[AS_COMPARE_COLUMNS][AS_COMPARE_CELL];
    const as_judgement *judgement;
} as_compare_row;
/* The unit that all numbers of a metric are shown in. */
as_quantity as_compare_quantity(const as_compare_view *view, size_t metric);
void as_compare_row_set(const as_quantity *quantity, const as_judgement *judgement, as_compare_row *out);
/* Whether people see it without asking for everything. */
bool as_compare_is_shown(const as_compare_view *view, const as_judgement *judgement);
/* Rows at most; of --limit. */
size_t as_compare_limit(const as_compare_view *view);

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

as_exit as_compare_print(as_compare_view *view);
as_exit as_compare_markdown(as_compare_view *view);
as_exit as_compare_json(as_compare_view *view);
as_exit as_compare_rows(as_compare_view *view);
/* Those of --junit and --sarif. */
as_exit as_compare_reports(as_compare_view *view);

#endif
