/* Which points to measure next for a budget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/scaling/evaluate.h"
#include "analysis/scaling/interval.h"
#include "analysis/scaling/strong.h"
#include "analysis/scaling/totals.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "core/words.h"

/* Said on stderr now and in JSON later. */
__attribute__((format(printf, 3, 4))) static void add_note(as_cli *cli, as_suggest *s, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    as_cli_note(cli, "%s", text);
    char *copy = strdup(text);
    if (copy && !as_vec_append(&s->notes, &copy, 1)) free(copy);
}

/* ---- numbers of the command line --------------------------------------------------------------------------------- */

static as_exit read_budget(as_cli *cli, as_suggest *s) {
    const char *text = as_cli_value(cli, "budget");
    if (!text)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "suggest needs a budget in core hours, what is used already included: "
                           "--budget 100");
    if (!as_real_parse(text, strlen(text), &s->options.budget) || !isfinite(s->options.budget) ||
        !(s->options.budget > 0))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--budget cannot be '%s'; it takes core hours, a number above 0", text);
    return AS_EXIT_FINE;
}

/* A whole number from 1 to most; 0 where it is not given. */
static as_exit read_count(as_cli *cli, const char *name, size_t most, size_t *out) {
    if (!as_cli_has(cli, name)) return AS_EXIT_FINE;
    if (!as_cli_count(cli, name, out)) return AS_EXIT_USAGE;
    if (*out < 1 || *out > most)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s cannot be '%s'; it takes a number from 1 to %zu", name,
                           as_cli_value(cli, name), most);
    return AS_EXIT_FINE;
}

static as_exit read_numbers(as_cli *cli, as_suggest *s) {
    size_t repetitions = 0;
    s->options.max_points = 100;
    as_exit status = read_budget(cli, s);
    if (status == AS_EXIT_FINE) status = read_count(cli, "repetitions", 1000, &repetitions);
    if (status == AS_EXIT_FINE) status = read_count(cli, "limit", 1000, &s->options.max_points);
    s->options.repetitions = (uint32_t)repetitions;
    const char *mode = as_cli_value(cli, "mode");
    for (s->options.mode = AS_ADVICE_GPR; mode && s->options.mode > AS_ADVICE_AUTO; s->options.mode--) {
        if (strcmp(mode, as_advice_mode_name(s->options.mode)) == 0) break;
    }
    if (!mode) s->options.mode = AS_ADVICE_AUTO;
    return status;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* By its first n letters, or SIZE_MAX. */
static size_t find_parameter(const as_suggest *s, const char *name, size_t size) {
    for (size_t i = 0; i < as_ds_parameters(s->study.ds); i++) {
        const char *known = as_suggest_parameter(s, i);
        if (strlen(known) == size && memcmp(known, name, size) == 0) return i;
    }
    return SIZE_MAX;
}

static as_exit fail_parameter(as_cli *cli, const as_suggest *s, const char *name, size_t size) {
    as_nearest nearest = as_nearest_start(name, size);
    for (size_t i = 0; i < as_ds_parameters(s->study.ds); i++) as_nearest_offer(&nearest, as_suggest_parameter(s, i));
    const char *offer = nearest.word ? nearest.word : as_suggest_parameter(s, 0);
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no parameter '%.*s'; %s '%s'%s", (int)size, name,
                       nearest.word ? "did you mean" : "the first one is", offer, nearest.word ? "?" : "");
}

/* A name that everybody uses for the number of processes. */
static size_t guess_processes(const as_suggest *s) {
    assay_id guess = as_study_guess_processes(s->study.ds);
    return guess == ASSAY_NONE ? SIZE_MAX : guess;
}

static as_exit check_runtimes(as_cli *cli, const as_suggest *s) {
    const char *name = as_ds_text(s->study.ds, as_ds_metric(s->study.ds, s->metric)->name);
    if (s->campaign.n == 0)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: no call path has a finite value of '%s'", as_cli_operand(cli, 0),
                           name);
    for (size_t i = 0; i < s->campaign.n; i++) {
        if (s->campaign.runtimes[i] < 0)
            return as_cli_fail(cli, AS_EXIT_USAGE,
                               "the metric '%s' is below 0 at some point, so it is no time; name another with --metric",
                               name);
    }
    return AS_EXIT_FINE;
}

static as_exit check_processes(as_cli *cli, const as_suggest *s) {
    size_t parameter = s->options.processes;
    for (size_t i = 0; parameter != SIZE_MAX && i < s->campaign.n; i++) {
        double value = s->campaign.points[i * s->campaign.n_parameters + parameter];
        if (!(value > 0) || !isfinite(value)) {
            return as_cli_fail(cli, AS_EXIT_USAGE, "'%s' does not count processes: one of its values is %g",
                               as_suggest_parameter(s, parameter), value);
        }
    }
    return AS_EXIT_FINE;
}

static as_exit read_processes(as_cli *cli, as_suggest *s) {
    const char *text = as_cli_value(cli, "processes");
    s->options.is_strong = as_ds_scaling(s->study.ds) == AS_SCALING_STRONG;
    s->options.n_processes = 1;
    s->options.processes = text ? find_parameter(s, text, strlen(text)) : guess_processes(s);
    if (s->options.processes != SIZE_MAX) return check_processes(cli, s);
    if (text) {
        double *n = &s->options.n_processes;
        if (!as_real_parse(text, strlen(text), n)) return fail_parameter(cli, s, text, strlen(text));
        if (isfinite(*n) && *n > 0) return AS_EXIT_FINE;
        return as_cli_fail(cli, AS_EXIT_USAGE, "--processes cannot be %s; it takes a parameter or a number above 0",
                           text);
    }
    if (s->options.is_strong) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "which parameter counts the processes? name it with --processes, or give their number");
}

/* "p=2,4,8", or "2,4,8" where there is one parameter. */
static as_exit read_value_list(as_cli *cli, as_suggest *s, const char *text) {
    const char *equals = strchr(text, '='), *rest = equals ? equals + 1 : text;
    if (!equals && as_ds_parameters(s->study.ds) > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--values %s: whose values? write NAME=%s", text, text);
    size_t parameter = equals ? find_parameter(s, text, (size_t)(equals - text)) : 0;
    if (parameter == SIZE_MAX) return fail_parameter(cli, s, text, (size_t)(equals - text));
    as_vec *values = &s->values[parameter];
    for (bool more = true; more;) {
        size_t size = strcspn(rest, ",");
        double value;
        if (!as_real_parse(rest, size, &value) || !isfinite(value))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--values %s: '%.*s' is no number", text, (int)size, rest);
        if (!as_vec_append(values, &value, 1)) return as_cli_memory(cli);
        more = rest[size] == ',';
        rest += size + more;
    }
    qsort(values->data, values->count, sizeof(double), as_real_compare);
    size_t n = 0;
    for (size_t i = 0; i < values->count; i++) {
        double value = AS_AT(double, values, i);
        if (n == 0 || AS_AT(double, values, n - 1) != value) AS_AT(double, values, n++) = value;
    }
    values->count = n;
    return AS_EXIT_FINE;
}

static as_exit read_values(as_cli *cli, as_suggest *s) {
    size_t n = as_ds_parameters(s->study.ds);
    s->values = calloc(n, sizeof *s->values);
    if (!s->values) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) as_vec_init(&s->values[i], sizeof(double), NULL);
    s->options.values = s->values;
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < cli->arguments.given.count && status == AS_EXIT_FINE; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "values") == 0) status = read_value_list(cli, s, given->value);
    }
    return status;
}

/* ---- the metric -------------------------------------------------------------------------------------------------- */

/* How well a metric measures what is paid for: its name says time, its unit does, or nothing. */
static int likeness(const as_dataset *ds, assay_id id) {
    const as_metric *metric = as_ds_metric(ds, id);
    const char *name = as_ds_text(ds, metric->name), *unit = as_ds_text(ds, metric->unit);
    if (name && strcasecmp(name, "time") == 0) return 3;
    if (name && strcasecmp(name, "runtime") == 0) return 2;
    return unit && as_unit_seconds(unit) > 0;
}

static as_exit choose_metric(as_cli *cli, as_suggest *s) {
    const as_dataset *ds = s->study.ds;
    size_t n_named = 0;
    for (size_t i = 0; i < cli->arguments.given.count; i++)
        n_named += strcmp(AS_AT(as_given, &cli->arguments.given, i).option->name, "metric") == 0;
    if (n_named > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "suggest takes one metric, the one that says what a run costs");
    int best = -1;
    for (size_t i = 0; i < s->study.n_series; i++) {
        assay_id id = as_ds_series(ds, s->study.series[i])->metric;
        int like = likeness(ds, id);
        if (like < best || (like == best && id >= s->metric)) continue;
        best = like;
        s->metric = id;
    }
    const char *name = as_ds_text(ds, as_ds_metric(ds, s->metric)->name);
    const char *unit = as_ds_text(ds, as_ds_metric(ds, s->metric)->unit);
    s->seconds = unit && unit[0] ? as_unit_seconds(unit) : 1;
    if (s->seconds == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the metric '%s' is in '%s', which is no time; name another with --metric", name, unit);
    if (best == 0) add_note(cli, s, "the metric '%s' is taken as seconds", name);
    return AS_EXIT_FINE;
}

/* Keeps the series of the metric; where values hold those of their children, only the topmost. */
static as_exit narrow_series(as_cli *cli, as_suggest *s) {
    const as_dataset *ds = s->study.ds;
    const char *sum = as_cli_value(cli, "sum");
    bool topmost = sum && strcmp(sum, "topmost") == 0;
    as_nesting nesting = AS_NESTING_NONE;
    if (!sum && !as_metric_nesting(ds, s->metric, &nesting)) return as_cli_memory(cli);
    topmost |= nesting == AS_NESTING_INCLUSIVE;
    bool *asides, *chosen = calloc(ds->contexts.count + 1, sizeof *chosen);
    if (!as_ds_find_asides(ds, &asides) || !chosen) return free(chosen), free(asides), as_cli_memory(cli);
    size_t n = 0;
    for (size_t i = 0; i < s->study.n_series; i++) {
        const as_series *series = as_ds_series(ds, s->study.series[i]);
        if (series->metric != s->metric || (asides && asides[series->context])) continue;
        chosen[series->context] = true;
        s->study.series[n++] = s->study.series[i];
    }
    for (assay_id id = 0; topmost && id < ds->contexts.count; id++) {
        if (!chosen[id]) continue;
        assay_id end = id + as_ds_context(ds, id)->subtree;
        for (id++; id < end; id++) chosen[id] = false;
        id--;
    }
    s->study.n_series = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t series = s->study.series[i];
        if (chosen[as_ds_series(ds, series)->context]) s->study.series[s->study.n_series++] = series;
    }
    free(chosen);
    free(asides);
    if (!sum && s->study.n_series < n && as_measured_kind(ds, s->metric) != AS_KIND_INCLUSIVE)
        add_note(cli, s, "values of %s look inclusive: only the topmost call paths are summed; --sum all takes all",
                 as_ds_text(ds, as_ds_metric(ds, s->metric)->name));
    return AS_EXIT_FINE;
}

/* ---- runtimes ---------------------------------------------------------------------------------------------------- */

/* The sum of the models of all call paths; one below 0 means that the call path takes no time there. */
static double predict(void *user, const double *point) {
    const as_suggest *s = user;
    const as_dataset *ds = s->study.ds;
    double sum = 0;
    for (size_t i = 0; i < s->fit.n; i++) {
        double value = as_model_at(ds, as_ds_model(ds, s->fit.first_model + (assay_id)i), point);
        if (isnan(value)) return NAN;
        sum += fmax(value, 0);
    }
    return sum * s->seconds;
}

static bool fit_progress(void *user, double fraction) { return as_progress_step(user, "", fraction); }

static as_exit fit(as_cli *cli, as_suggest *s) {
    assay_error error;
    if (!cli->quiet) as_progress_begin("modelling", as_cli_operand(cli, 0));
    assay_status status = as_fit_models(s->study.ds, &s->study.options, as_study_choice(&s->study), "suggest", NULL,
                                        cli->quiet ? NULL : fit_progress, NULL, &s->fit, &error);
    as_progress_end();
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

static void tell_campaign(as_cli *cli, as_suggest *s) {
    if (s->campaign.n_unknown)
        add_note(cli, s, "%zu measurements do not say how often they were repeated; each counts as one",
                 s->campaign.n_unknown);
    if (s->campaign.n_not_finite)
        add_note(cli, s, "%zu measurements are not finite and left out", s->campaign.n_not_finite);
}

static void tell_advice(as_cli *cli, as_suggest *s) {
    const as_advice *advice = &s->advice;
    if (advice->mode == AS_ADVICE_BASE && advice->suggestions.count)
        add_note(cli, s, "runtimes are rough, from a power law along each line: for models there are too few points");
    if (advice->is_forced && advice->mode != AS_ADVICE_BASE && advice->lines[advice->parameter].length < AS_LINE_POINTS)
        add_note(cli, s, "%s has fewer than %d points on a line: the models, and so the costs, are uncertain",
                 as_suggest_parameter(s, advice->parameter), AS_LINE_POINTS);
    if (advice->is_cut) {
        char number[AS_NUMBER_SIZE];
        as_real_format(advice->space, number);
        add_note(cli, s,
                 "of %s new points the %zu with the smallest values were considered; --values narrows the choice",
                 number, advice->n_candidates + advice->n_unpredicted);
    }
    if (advice->n_unpredicted && advice->n_candidates)
        add_note(cli, s, "%zu new points are left out: the models predict no positive runtime there",
                 advice->n_unpredicted);
    if (advice->is_full)
        add_note(cli, s, "the budget allows more than the %zu %s suggested; --limit changes that",
                 s->options.max_points, advice->mode == AS_ADVICE_GPR ? "measurements" : "points");
    if (advice->mode == AS_ADVICE_GPR && advice->suggestions.count && isnan(s->campaign.noise))
        add_note(cli, s, "no point was measured more than once, so the noise is unknown and taken as 0");
    if (s->options.is_strong && s->options.processes == SIZE_MAX && !as_cli_has(cli, "processes"))
        add_note(cli, s, "runtimes are those of all processes together; --processes gives those of one run");
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

/* With few call paths many points are looked at, with many few: predicting takes time for each of both. */
static size_t candidates_for(size_t n_series) {
    enum { EVALUATIONS = 4000000, MOST = 10000, LEAST = 200 };
    size_t n = EVALUATIONS / (n_series ? n_series : 1);
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static as_exit ask(as_cli *cli, as_suggest *s) {
    const as_dataset *ds = s->study.ds;
    as_exit status = choose_metric(cli, s);
    if (status == AS_EXIT_FINE) status = narrow_series(cli, s);
    if (status == AS_EXIT_FINE) status = read_values(cli, s);
    if (status != AS_EXIT_FINE) return status;
    assay_error error;
    if (as_campaign_collect(ds, s->study.series, s->study.n_series, s->seconds, &s->campaign, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    status = check_runtimes(cli, s);
    if (status == AS_EXIT_FINE) status = read_processes(cli, s);
    if (status != AS_EXIT_FINE) return status;
    tell_campaign(cli, s);
    s->options.runtime = predict;
    s->options.user = s;
    s->options.max_candidates = candidates_for(s->study.n_series);
    status = fit(cli, s);
    if (status != AS_EXIT_FINE) return status;
    if (as_advise(&s->campaign, &s->options, &s->advice, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    tell_advice(cli, s);
    return AS_EXIT_FINE;
}

/* What the sum of the chosen call paths says about new measurements; *out NULL: nothing. It refers to *totals. False
 * when memory is out. */
static bool forecast_total(const as_suggest *s, as_dataset **totals, as_forecast **out) {
    const as_dataset *ds = s->study.ds;
    as_metric_series by_metric;
    assay_id *metrics = NULL;
    bool *parts = calloc(ds->series.count + 1, sizeof *parts);
    for (size_t i = 0; parts && i < s->study.n_series; i++) parts[s->study.series[i]] = true;
    bool fine = as_metric_series_init(&by_metric, ds) && parts &&
                (*totals = as_totals(ds, &by_metric, parts, &metrics)) != NULL;
    as_metric_series_free(&by_metric);
    free(parts);
    free(metrics);
    if (!fine || (*totals)->series.count == 0) return fine;
    return (*out = as_forecast_new(*totals, &s->fit.options, 0, NULL)) != NULL;
}

/* The intervals hold the predicted runtimes: NAN stays. */
static void set_interval(as_suggest *s, const as_forecast *forecast, size_t i) {
    const as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
    const double *point = &AS_AT(double, &s->advice.points, suggestion->point * s->advice.n_parameters);
    as_interval interval = as_forecast_at(forecast, point, 0.95);
    if (isnan(interval.low) || isnan(interval.high)) return;
    s->low[i] = fmin(fmax(interval.low, 0) * s->seconds, suggestion->runtime);
    s->high[i] = fmax(interval.high * s->seconds, suggestion->runtime);
}

static bool find_intervals(as_suggest *s) {
    size_t n = s->advice.suggestions.count;
    s->low = calloc(n + 1, sizeof *s->low);
    s->high = calloc(n + 1, sizeof *s->high);
    if (!s->low || !s->high) return false;
    for (size_t i = 0; i < n; i++) s->low[i] = s->high[i] = NAN;
    if (s->advice.mode == AS_ADVICE_BASE || n == 0) return true;
    as_dataset *totals = NULL;
    as_forecast *forecast = NULL;
    bool fine = forecast_total(s, &totals, &forecast);
    for (size_t i = 0; forecast && i < n; i++) set_interval(s, forecast, i);
    if (forecast) as_forecast_free(forecast);
    as_dataset_free(totals);
    return fine;
}

/* Strong scaling models the work of all processes; a person waits for one of them. */
static void share_among_processes(as_suggest *s) {
    for (size_t i = 0; s->options.is_strong && i < s->advice.suggestions.count; i++) {
        as_suggestion *suggestion = &AS_AT(as_suggestion, &s->advice.suggestions, i);
        const double *point = &AS_AT(double, &s->advice.points, suggestion->point * s->advice.n_parameters);
        double processes = s->options.processes == SIZE_MAX ? s->options.n_processes : point[s->options.processes];
        suggestion->runtime /= processes;
        s->low[i] /= processes;
        s->high[i] /= processes;
    }
}

/* The dataset stays where keeps_dataset says so. */
static void close_suggest(as_suggest *s, bool keeps_dataset) {
    for (size_t i = 0; s->values && i < as_ds_parameters(s->study.ds); i++) as_vec_free(&s->values[i]);
    free(s->values);
    for (size_t i = 0; i < s->notes.count; i++) free(AS_AT(char *, &s->notes, i));
    as_vec_free(&s->notes);
    free(s->low);
    free(s->high);
    as_advice_free(&s->advice);
    as_fit_free(&s->fit);
    as_campaign_free(&s->campaign);
    if (keeps_dataset) s->study.ds = NULL;
    as_study_close(&s->study);
}

/* Asks and prints, where the study could be opened. */
static as_exit answer(as_cli *cli, as_suggest *s, as_exit status) {
    if (status == AS_EXIT_FINE) status = ask(cli, s);
    if (status == AS_EXIT_FINE && !find_intervals(s)) status = as_cli_memory(cli);
    if (status != AS_EXIT_FINE) return status;
    share_among_processes(s);
    return as_suggest_print(cli, s);
}

static as_exit run(as_cli *cli) {
    as_suggest s = {0};
    as_vec_init(&s.notes, sizeof(char *), NULL);
    as_exit status = read_numbers(cli, &s);
    if (status == AS_EXIT_FINE) status = as_study_open(cli, &s.study);
    status = answer(cli, &s, status);
    close_suggest(&s, false);
    return status;
}

as_exit as_suggest_of(as_cli *cli, as_dataset *ds, const char *path) {
    as_suggest s = {0};
    as_vec_init(&s.notes, sizeof(char *), NULL);
    as_exit status = read_numbers(cli, &s);
    if (status == AS_EXIT_FINE) status = as_study_of(cli, ds, path, &s.study);
    status = answer(cli, &s, status);
    close_suggest(&s, true);
    return status;
}

static const as_cli_option options[] = {
    {.name = "budget",
     .argument = "CORE_HOURS",
     .help = "What all measurements may cost, those that exist included: processes times hours, a number above 0"},
    {.name = "processes",
     .argument = "NAME|N",
     .help = "Which parameter counts the processes, or their number where it is the same everywhere; by default a "
             "parameter with a usual name, such as p or ranks"},
    {.name = "metric",
     .argument = "NAME",
     .help =
         "Which metric is the time a run takes; by default time or runtime, else one whose unit is a time, else the "
         "first. Values are seconds unless the file says ms, us, ns, min or h"},
    {.name = "match", .argument = "REGEX", .help = "Take only call paths that match this regular expression"},
    {.name = "sum",
     .argument = "WHICH",
     .choices = "all|topmost",
     .help = "A run takes the sum of all call paths chosen, or only of the topmost; by default topmost where values "
             "include those of the children: the file says so, or they look like it"},
    {.name = "mode",
     .argument = "MODE",
     .choices = "auto|base|add|gpr",
     .help = "Complete lines (base), add the cheapest points (add) or those that teach most for their cost (gpr); by "
             "default what the points call for"},
    {.name = "values",
     .argument = "NAME=V,V,…",
     .help = "Choose from these values of a parameter instead of continuing its series; may be given for each"},
    {.name = "repetitions",
     .argument = "N",
     .help = "Measure each new point so often, in gpr mode at most; by default as often as the existing ones, in gpr "
             "mode up to 5 times"},
    {.name = "limit",
     .argument = "N",
     .help = "Suggest at most so many points, in gpr mode measurements; 100 by default"},
    {.name = "modeler",
     .argument = "NAME",
     .choices = "default|basic|refining|segmented|multi-parameter",
     .help = "Find the models that predict runtimes this way"},
    {.name = "scaling",
     .argument = "KIND",
     .choices = "weak|weak_threaded|strong",
     .help = "With strong, model the time of all processes together; with the others, that of one"},
    AS_THREADS_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay suggest kernels.txt --budget 0.01 --processes 1", "What to measure next of a program with one process."},
    {"assay suggest runs.txt --budget 500 --processes p", "p processes at each point, 500 core hours in all."},
    {"assay suggest runs.txt --budget 500 --values p=64,128,256,512 --repetitions 3",
     "Only these values of p, three runs each."},
    {"assay suggest --json runs/*.txt --budget 500 --mode gpr", "The answer as JSON, by the Gaussian process."},
    {NULL, NULL},
};

const as_verb as_verb_suggest = {
    .name = "suggest",
    .summary = "Say which points to measure next for a budget",
    .usage = "--budget CORE_HOURS [options] PATH…",
    .description =
        "Looks at the points of an experiment and says which to add, in which order, what each will cost, and what it "
        "brings, as long as the budget lasts. The budget counts everything: what is measured already is taken off "
        "first.\n\n"
        "There are three modes. base: a model needs five points that differ in one parameter only, for each parameter; "
        "where these are missing they are suggested, whatever the budget. add: nothing tells yet how the parameters "
        "act together; the cheapest new points are suggested. gpr: a Gaussian process through all measurements says "
        "where they tell least, and what teaches most for its cost is suggested, point by point, repetitions of "
        "measured points included.\n\n"
        "New values of a parameter continue its series: 2, 4, 8 go on with 16, and 10, 20, 30 with 40. Runtimes are "
        "sums over the call paths chosen, predicted by their models.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .joins_files_from = 2,
    .examples = examples,
    .run = run,
};
