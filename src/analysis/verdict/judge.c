/* What changed, by how much, and whether that can be told from noise. */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict.h"
#include "core/parallel.h"

const char *as_outcome_name(as_outcome outcome) {
    static const char *const names[] = {"no change",    "degradation",        "maybe degradation",
                                        "optimization", "maybe optimization", "new",
                                        "gone",         "too few repetitions"};
    return names[outcome];
}

int as_outcome_rank(as_outcome outcome) {
    switch (outcome) {
    case AS_OUTCOME_WORSE: return 0;
    case AS_OUTCOME_MAYBE_WORSE: return 1;
    case AS_OUTCOME_BETTER: return 2;
    case AS_OUTCOME_MAYBE_BETTER: return 3;
    default: return 4;
    }
}

as_outcome as_outcome_worse(as_outcome a, as_outcome b) { return as_outcome_rank(b) < as_outcome_rank(a) ? b : a; }

typedef struct judging {
    const as_samples *samples;
    const as_judge_options *options;
    as_rules *rules;
    as_median_laws *laws;
    as_verdict *out;
    as_judgement *all; /* of the subjects, then of the totals, then of the wholes */
    size_t n;
    bool *no_memory; /* of each piece of work */
} judging;

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Medians added over strata; NAN: there are none. */
static double amount_of(const as_subject *subject, size_t side, uint32_t *n) {
    double sum = subject->n_strata ? 0 : NAN;
    for (uint32_t i = 0; i < subject->n_strata; i++) {
        sum += as_stratum_median(&subject->strata[side][i]);
        *n += subject->strata[side][i].n;
    }
    return sum;
}

static void set_change(as_judgement *j) {
    j->change = j->target - j->base;
    j->relative = as_relative_change(j->base, j->change);
    j->ratio = j->base > 0 ? j->target / j->base : j->base == 0 && j->target > 0 ? INFINITY : NAN;
}

static void measure(const judging *t, as_judgement *j, const as_subject *subject) {
    *j = (as_judgement){.subject = subject,
                        .threshold = t->options->threshold,
                        .low = NAN,
                        .high = NAN,
                        .p = NAN,
                        .q = NAN,
                        .adjusted_p = NAN,
                        .share = NAN};
    const as_threshold_rule *rule = as_rules_find(t->rules, subject->metric, subject->path);
    if (rule && !isnan(rule->threshold)) j->threshold = rule->threshold;
    j->higher_is_better = rule && rule->higher_is_better;
    j->base = subject->is_in[0] ? amount_of(subject, 0, &j->n_base) : NAN;
    j->target = subject->is_in[1] ? amount_of(subject, 1, &j->n_target) : NAN;
    set_change(j);
    if (!subject->is_in[0]) j->outcome = AS_OUTCOME_NEW, j->change = j->target;
    if (!subject->is_in[1]) j->outcome = AS_OUTCOME_GONE, j->change = -j->base;
}

static bool is_matched(const as_judgement *j) { return j->subject->is_in[0] && j->subject->is_in[1]; }

/* Whether chance can be told from change: two or more values on both sides, at some point. */
static bool has_repetitions(const as_subject *subject) {
    for (uint32_t i = 0; i < subject->n_strata; i++)
        if (subject->strata[0][i].n > 1 && subject->strata[1][i].n > 1) return true;
    return false;
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static void add_to_metric(as_metric_verdict *m, const as_judgement *j, double *log_sum) {
    if (j->outcome == AS_OUTCOME_NEW && j->subject->is_top && isfinite(j->target)) m->new_value += j->target;
    if (j->outcome == AS_OUTCOME_GONE && j->subject->is_top && isfinite(j->base)) m->gone_value += j->base;
    if (!is_matched(j)) {
        m->has_whole = true;
        return;
    }
    m->n_matched++;
    if (j->subject->is_top && j->base > 0 && j->target > 0 && isfinite(j->ratio) && j->ratio > 0) {
        *log_sum += log(j->ratio);
        m->n_ratios++;
    }
}

/* The total of one metric, and each subject's share in it. */
static void sum_metric(judging *t, size_t index) {
    const as_sampled_metric *metric = &t->samples->metrics[index];
    as_metric_verdict *m = &t->out->metrics[index];
    as_judgement *total = &t->all[t->samples->n + index], *whole = total + t->samples->n_metrics;
    double sums[2] = {0, 0}, sizes = 0, log_sum = 0;
    *m = (as_metric_verdict){.metric = metric};
    for (size_t i = metric->first; i < metric->first + metric->n; i++) {
        const as_judgement *j = &t->all[i];
        add_to_metric(m, j, &log_sum);
        if (!is_matched(j) || !j->subject->is_top || !isfinite(j->change)) continue;
        sums[0] += j->base;
        sums[1] += j->target;
        sizes += fabs(j->base) + fabs(j->target);
    }
    m->geometric_mean = m->n_ratios ? exp(log_sum / (double)m->n_ratios) : NAN;
    measure(t, total, &metric->total);
    if (isnan(total->base) || isnan(total->target)) {
        total->base = m->n_matched ? sums[0] : NAN;
        total->target = m->n_matched ? sums[1] : NAN;
        set_change(total);
    }
    total->share = total->relative;
    measure(t, whole, &metric->whole);
    if ((isnan(whole->base) || isnan(whole->target)) && !t->samples->has_no_common_point) {
        whole->base = sums[0] + m->gone_value;
        whole->target = sums[1] + m->new_value;
        set_change(whole);
    }
    whole->share = whole->relative;
    double all = sums[0] + m->gone_value;
    for (size_t i = metric->first; i < metric->first + metric->n; i++) {
        as_judgement *j = &t->all[i];
        j->share = all != 0 ? j->change / fabs(all) : as_relative_change(0, j->change);
        j->is_small = is_matched(j) && fabs(j->base) + fabs(j->target) < t->options->floor * sizes;
    }
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static uint64_t seed_of(const judging *t, const as_subject *subject) {
    uint64_t seed = as_hash_everywhere(subject->metric, strlen(subject->metric));
    if (subject->path) seed = seed * 31 + as_hash_everywhere(subject->path, strlen(subject->path));
    return seed ^ (t->options->seed * 0x9e3779b97f4a7c15u);
}

enum { AT_ONCE = 64 };

static void test_piece(void *user, size_t piece) {
    judging *t = user;
    as_rank_room room = {0};
    double *draws = malloc(((size_t)t->options->resamples + 1) * sizeof *draws);
    t->no_memory[piece] = !draws;
    for (size_t i = piece * AT_ONCE; draws && i < t->n && i < (piece + 1) * AT_ONCE; i++) {
        as_judgement *j = &t->all[i];
        const as_subject *subject = j->subject;
        if (!j->is_tested) continue;
        j->p = as_rank_test(subject->strata[0], subject->strata[1], subject->n_strata, &room);
        t->no_memory[piece] |= isnan(j->p);
        if (j->base > 0)
            as_ratio_interval(t->laws, subject, t->options->level, t->options->resamples, seed_of(t, subject), draws,
                              &j->low, &j->high);
    }
    as_rank_room_free(&room);
    free(draws);
}

/* A whole that is the total does not count again. */
static bool counts(const judging *t, size_t i) {
    size_t n = t->samples->n, n_metrics = t->samples->n_metrics;
    return i < n + n_metrics || t->out->metrics[i - n - n_metrics].has_whole;
}

static const as_subject **tested_subjects(const judging *t) {
    const as_subject **subjects = malloc(t->out->n_tested * sizeof *subjects);
    size_t n = 0;
    for (size_t i = 0; subjects && i < t->n; i++)
        if (t->all[i].is_tested) subjects[n++] = t->all[i].subject;
    return subjects;
}

/* Of repetitions that are too few for ranks among so many tests: whether shuffling the runs will do. It is chosen by
 * their number alone, so that both ways together err no more often than one. False when memory is out. */
static bool choose_few(judging *t, double least) {
    const as_subject **subjects = tested_subjects(t);
    if (!subjects) return false;
    bool can_shuffle = as_can_shuffle(subjects, t->out->n_tested);
    t->out->is_shuffled = can_shuffle && least < t->options->level;
    if (!t->out->is_shuffled) t->out->needed = as_rank_needed(t->options->level, can_shuffle ? 1 : t->out->n_tested);
    free(subjects);
    return true;
}

/* p: room for all. */
static bool shuffle_all(judging *t, double *p) {
    const as_subject **subjects = tested_subjects(t);
    bool fine = subjects && as_shuffle_test(subjects, t->out->n_tested, t->options->seed, t->options->threads, p);
    size_t n = 0;
    for (size_t i = 0; fine && i < t->n; i++)
        if (t->all[i].is_tested) t->all[i].adjusted_p = p[n++];
    free(subjects);
    return fine;
}

/* Ranks and intervals of all that have repetitions and are not small, then the correction for their number. */
static bool test_all(judging *t) {
    double least = 1;
    for (size_t i = 0; i < t->n; i++) {
        as_judgement *j = &t->all[i];
        j->is_tested = counts(t, i) && is_matched(j) && !j->is_small && has_repetitions(j->subject);
        if (!j->is_tested) continue;
        t->out->n_tested++;
        least = fmin(least, as_rank_least(j->subject->strata[0], j->subject->strata[1], j->subject->n_strata));
    }
    if (!t->out->n_tested) return true;
    if (!(least * (double)t->out->n_tested < t->options->level) && !choose_few(t, least)) return false;
    size_t n_pieces = (t->n + AT_ONCE - 1) / AT_ONCE;
    double *p = malloc((t->n + 1) * sizeof *p);
    t->laws = as_median_laws_new(t->samples);
    t->no_memory = calloc(n_pieces + 1, 1);
    bool fine = p && t->laws && t->no_memory;
    if (fine) as_parallel(n_pieces, t->options->threads, test_piece, t);
    for (size_t i = 0; fine && i < n_pieces; i++) fine = !t->no_memory[i];
    for (size_t i = 0; fine && i < t->n; i++) p[i] = t->all[i].p;
    fine = fine && as_holm(p, t->n);
    for (size_t i = 0; fine && i < t->n; i++) {
        t->all[i].adjusted_p = p[i];
        p[i] = t->all[i].p;
    }
    fine = fine && as_false_discovery(p, t->n);
    for (size_t i = 0; fine && i < t->n; i++) t->all[i].q = p[i];
    fine = fine && (!t->out->is_shuffled || shuffle_all(t, p));
    free(p);
    free(t->no_memory);
    as_median_laws_free(t->laws);
    return fine;
}

/* ---- the decision ------------------------------------------------------------------------------------------------ */

/* Whether no value of one side lies within those of the other, at any point. */
static bool is_disjoint(const as_subject *subject) {
    bool is_above = true, is_below = true;
    for (uint32_t i = 0; i < subject->n_strata; i++) {
        const as_stratum *base = &subject->strata[0][i], *target = &subject->strata[1][i];
        is_above &= target->values[0] > base->values[base->n - 1];
        is_below &= target->values[target->n - 1] < base->values[0];
    }
    return is_above || is_below;
}

/* Of what changed by more than the threshold. */
static as_outcome decide_large(const judging *t, const as_judgement *j, as_outcome sure, as_outcome maybe) {
    const as_subject *subject = j->subject;
    double level = t->options->level;
    if (j->is_small) return AS_OUTCOME_SAME;
    if (!j->is_tested) return t->samples->has_repetitions ? maybe : sure;
    if (j->adjusted_p < level) return sure;
    if (j->q < level || ((t->out->needed || t->out->is_shuffled) && is_disjoint(subject))) return maybe;
    bool is_hopeless = as_rank_least(subject->strata[0], subject->strata[1], subject->n_strata) >= level;
    return is_hopeless ? AS_OUTCOME_TOO_FEW : AS_OUTCOME_SAME;
}

static as_outcome decide(const judging *t, const as_judgement *j) {
    if (!is_matched(j)) return j->outcome;
    bool is_worse = j->higher_is_better ? j->relative < 0 : j->relative > 0;
    as_outcome sure = is_worse ? AS_OUTCOME_WORSE : AS_OUTCOME_BETTER,
               maybe = is_worse ? AS_OUTCOME_MAYBE_WORSE : AS_OUTCOME_MAYBE_BETTER;
    if (isnan(j->relative)) return AS_OUTCOME_SAME;
    if (fabs(j->relative) > j->threshold) return decide_large(t, j, sure, maybe);
    bool may_be_large = j->relative > 0 ? j->high > 1 + j->threshold : j->low < 1 - j->threshold;
    return j->is_tested && j->adjusted_p < t->options->level && may_be_large ? maybe : AS_OUTCOME_SAME;
}

static as_outcome outcome_of_all(const size_t *counts) {
    static const as_outcome order[] = {AS_OUTCOME_WORSE, AS_OUTCOME_MAYBE_WORSE, AS_OUTCOME_BETTER,
                                       AS_OUTCOME_MAYBE_BETTER};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (counts[order[i]]) return order[i];
    return AS_OUTCOME_SAME;
}

/* By share, parts of the whole first; NaN behind numbers; ties as they came. */
static int by_share(const void *left, const void *right) {
    const as_judgement *a = left, *b = right;
    if (a->subject->is_apart != b->subject->is_apart) return a->subject->is_apart ? 1 : -1;
    double size_a = isnan(a->share) ? -1 : fabs(a->share), size_b = isnan(b->share) ? -1 : fabs(b->share);
    if (size_a != size_b) return size_a > size_b ? -1 : 1;
    return (a->subject > b->subject) - (a->subject < b->subject);
}

static void conclude(judging *t) {
    as_verdict *out = t->out;
    size_t n = t->samples->n, n_metrics = t->samples->n_metrics;
    for (size_t i = 0; i < t->n; i++) {
        as_judgement *j = &t->all[i];
        j->outcome = decide(t, j);
        if (counts(t, i)) out->counts[j->outcome]++;
        if (i < n)
            out->metrics[j->subject->in_metric].counts[j->outcome]++;
        else if (i < n + n_metrics)
            out->metrics[i - n].total = *j;
        else
            out->metrics[i - n - n_metrics].whole =
                out->metrics[i - n - n_metrics].has_whole ? *j : out->metrics[i - n - n_metrics].total;
    }
    out->outcome = outcome_of_all(out->counts);
    out->judgements = t->all;
    out->n = t->samples->n;
    out->n_metrics = t->samples->n_metrics;
    qsort(out->judgements, out->n, sizeof *out->judgements, by_share);
}

assay_status as_judge(const as_samples *samples, const as_judge_options *options, as_verdict *out, assay_error *error) {
    judging t = {.samples = samples, .options = options, .out = out, .n = samples->n + 2 * samples->n_metrics};
    *out = (as_verdict){0};
    as_arena_init(&out->arena, NULL);
    AS_TRY(as_rules_new(options->rules, options->n_rules, &t.rules, error));
    t.all = as_arena_array(&out->arena, t.n, sizeof *t.all);
    out->metrics = as_arena_array(&out->arena, samples->n_metrics, sizeof *out->metrics);
    bool fine = t.all && out->metrics;
    for (size_t i = 0; fine && i < samples->n; i++) measure(&t, &t.all[i], &samples->subjects[i]);
    for (size_t i = 0; fine && i < samples->n_metrics; i++) sum_metric(&t, i);
    fine = fine && test_all(&t);
    if (fine) conclude(&t);
    as_rules_free(t.rules);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_verdict_free(as_verdict *verdict) {
    as_arena_free(&verdict->arena);
    *verdict = (as_verdict){0};
}
