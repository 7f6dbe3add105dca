/* Did it get worse? The command line of all that compare answers, and its default: any two measurements. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/compare_view.h"
#include "cli/compatible.h"
#include "cli/diff_view.h"
#include "cli/group_by.h"
#include "dataset/metric_names.h"

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* Time, by its unit or name; else the first one. */
static size_t main_metric(const as_samples *samples) {
    for (size_t i = 0; i < samples->n_metrics; i++) {
        const as_sampled_metric *m = &samples->metrics[i];
        if (m->unit ? as_unit_is_time(m->unit) : strcmp(m->name, "time") == 0) return i;
    }
    return 0;
}

/* "runs.txt (p=4, 8 runs)": no means are taken here. */
static void label_runs(const as_dataset *ds, const as_run_choice *choice, char label[256]) {
    char point[200] = "";
    size_t used = strlen(label);
    if (choice->n_runs == 1 && choice->label[0]) snprintf(label + used, 256 - used, " (%s)", choice->label);
    if (choice->n_runs == 1) return;
    if (choice->point != ASSAY_NONE) as_describe_point(ds, as_ds_point(ds, choice->point), point, sizeof point);
    snprintf(label + used, 256 - used, " (%s%s%zu runs)", point, point[0] ? ", " : "", choice->n_runs);
}

/* The runs that --run-a and --run-b name; they are of one dataset each. */
static as_exit choose_runs(as_compare_view *view, bool *runs[2]) {
    as_cli *cli = view->cli;
    as_run_choice choices[2] = {0};
    if (!as_has_named_runs(cli)) return AS_EXIT_FINE;
    if (view->sides.n[0] != 1 || view->sides.n[1] != 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--run-a and --run-b take runs of one file, not of several");
    const as_dataset *sides[2] = {view->sides.parts[0][0], view->sides.parts[1][0]};
    as_exit status = as_choose_common_runs(cli, sides, choices);
    for (size_t side = 0; side < 2; side++) {
        if (status == AS_EXIT_FINE) label_runs(sides[side], &choices[side], view->sides.label[side]);
        if (status == AS_EXIT_FINE && !(runs[side] = as_run_choice_marks(&choices[side], sides[side])))
            status = as_cli_memory(cli);
        as_run_choice_free(&choices[side]);
    }
    return status;
}

/* Those of --metric-a and --metric-b, by their names in the first dataset of each side. */
static as_exit choose_pair(as_compare_view *view, const char *names[2]) {
    const as_dataset *sides[2] = {view->sides.parts[0][0], view->sides.parts[1][0]};
    assay_id metrics[2];
    double factor;
    assay_error error;
    for (size_t side = 0; side < 2; side++) {
        as_exit status = as_choose_side_metric(view->cli, sides[side], side, &metrics[side]);
        if (status != AS_EXIT_FINE) return status;
        names[side] = as_ds_text(sides[side], as_ds_metric(sides[side], metrics[side])->name);
    }
    if (as_metric_factor(sides, metrics, &factor, &error) != ASSAY_OK) return as_cli_error(view->cli, &error);
    return AS_EXIT_FINE;
}

static as_exit judge(as_compare_view *view) {
    as_cli *cli = view->cli;
    const as_dataset *const *const sides[2] = {(const as_dataset *const *)view->sides.parts[0],
                                               (const as_dataset *const *)view->sides.parts[1]};
    as_rules *rules = NULL;
    assay_error error;
    bool *runs[2] = {NULL, NULL};
    if (as_rules_new(view->config.judge.rules, view->config.judge.n_rules, &rules, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    as_path_choice chosen = {rules, view->config.match};
    as_sample_request request = {.metrics = view->config.metrics.data,
                                 .is_inclusive = view->config.is_inclusive,
                                 .keeps = as_path_choice_keeps,
                                 .user = &chosen};
    const char *pair[2], *names[2] = {NULL, NULL};
    as_exit status = choose_runs(view, runs);
    if (status == AS_EXIT_FINE && as_has_metric_pair(cli)) {
        status = choose_pair(view, pair);
        names[0] = pair[0];
        request.metrics = names;
        request.target_metrics = &pair[1];
    }
    for (size_t side = 0; side < 2; side++) request.runs[side] = runs[side];
    if (status == AS_EXIT_FINE && as_samples_find(sides, view->sides.n, &request, &view->samples, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    if (status == AS_EXIT_FINE && chosen.match && !view->samples.n)
        status = as_cli_fail(cli, AS_EXIT_USAGE, "--match %s: no call path of either side matches",
                             as_cli_value(cli, "match"));
    if (status == AS_EXIT_FINE && view->samples.has_no_common_point && !as_cli_has(cli, "at"))
        status = as_cli_fail(cli, AS_EXIT_USAGE,
                             "no point of %s is of both sides: there is nothing to compare; --at compares their models",
                             view->samples.n_parameters == 1 ? view->samples.parameters[0] : "the parameters");
    if (status == AS_EXIT_FINE && as_judge(&view->samples, &view->config.judge, &view->verdict, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    as_rules_free(rules);
    for (size_t side = 0; side < 2; side++) free(runs[side]);
    view->main_metric = main_metric(&view->samples);
    view->outcome = view->verdict.outcome;
    return status;
}

/* Models count like everything else; single points have none, and they go by one name. */
static as_exit judge_growth(as_compare_view *view) {
    as_dataset *const *const sides[2] = {view->sides.parts[0], view->sides.parts[1]};
    if (as_has_named_runs(view->cli) || as_has_metric_pair(view->cli)) return AS_EXIT_FINE;
    as_exit status = as_compare_growth(view->cli, sides, view->sides.n, &view->config, &view->growths);
    view->outcome = as_outcome_worse(view->outcome, view->growths.outcome);
    return status;
}

static as_exit answer(as_compare_view *view) {
    as_exit status;
    switch (view->cli->style.mode) {
    case AS_PRINT_TEXT: status = as_compare_print(view); break;
    case AS_PRINT_MARKDOWN: return as_compare_markdown(view);
    case AS_PRINT_JSON: return as_compare_json(view);
    default: return as_compare_rows(view);
    }
    return status == AS_EXIT_FINE ? as_growths_print(view->cli, &view->growths) : status;
}

static as_exit compare(as_cli *cli) {
    as_compare_view view = {.cli = cli, .is_ascii = as_cli_is_ascii(cli)};
    as_exit status = as_compare_config_read(cli, &view.config);
    if (status == AS_EXIT_FINE) status = as_sides_open(cli, &view.sides);
    if (status == AS_EXIT_FINE) status = judge(&view);
    if (status == AS_EXIT_FINE) status = judge_growth(&view);
    if (status == AS_EXIT_FINE) status = as_compare_reports(&view);
    if (status == AS_EXIT_FINE) status = answer(&view);
    if (status == AS_EXIT_FINE && as_compare_fails(&view)) status = AS_EXIT_CHECK;
    as_growths_free(&view.growths);
    as_verdict_free(&view.verdict);
    as_samples_free(&view.samples);
    as_sides_close(&view.sides);
    as_compare_config_free(&view.config);
    return status;
}

/* What only the comparison of two sides can do is refused elsewhere, rather than left out. */
static as_exit check_mode(as_cli *cli) {
    static const char *const modes[] = {"series", "noise", "check", NULL};
    static const char *const others[] = {"junit", "sarif", "at", "run-a", "run-b", "metric-a", "metric-b", NULL};
    const char *mode = NULL;
    for (size_t i = 0; modes[i]; i++) {
        if (!as_cli_has(cli, modes[i])) continue;
        if (mode) return as_cli_fail(cli, AS_EXIT_USAGE, "--%s and --%s exclude each other", mode, modes[i]);
        mode = modes[i];
    }
    for (size_t i = 0; mode && others[i]; i++)
        if (as_cli_has(cli, others[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE,
                               "--%s goes with BASE and TARGET alone, not with --%s; --json has all of it", others[i],
                               mode);
    if (as_cli_has(cli, "order") && !as_cli_has(cli, "series"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--order belongs to --series");
    if (as_cli_has(cli, "at") && as_has_named_runs(cli))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--at compares models of all points, not those of --run-a and --run-b");
    if (as_cli_has(cli, "at") && as_has_metric_pair(cli))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "--at compares models of one name, not those of --metric-a and --metric-b");
    return AS_EXIT_FINE;
}

static as_exit run(as_cli *cli) {
    bool is_compatible;
    as_exit status = as_cli_compatible(cli, &is_compatible);
    if (status == AS_EXIT_FINE) status = check_mode(cli);
    if (status != AS_EXIT_FINE) return status;
    if (as_cli_has(cli, "series")) return as_compare_series(cli);
    if (as_cli_has(cli, "noise")) return as_compare_noise(cli);
    return as_cli_has(cli, "check") ? as_compare_checks(cli) : compare(cli);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static const as_cli_option options[] = {
    {.name = "threshold",
     .argument = "PART",
     .help = "Take only changes beyond this part of the base as such: 5% (the default), 0.05"},
    {.name = "level",
     .argument = "PART",
     .help = "Probability of calling anything a degradation where nothing changed, all call paths and metrics "
             "together; by default 0.05"},
    {.name = "metric",
     .argument = "NAME",
     .help = "Compare this metric; may be given several times. By default all that both have and that add up"},
    {.name = "inclusive",
     .help = "Compare what call paths take with all they call; by default without, so that a slow function is blamed "
             "once, and not all its callers"},
    {.name = "match", .argument = "REGEX", .help = "Look only at call paths that match, such as 'solve'"},
    {.name = "floor",
     .argument = "PART",
     .help = "Call paths with less than this part of a metric's total are no finding by themselves; by default 0.1%"},
    {.name = "config",
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Read thresholds of metrics and call paths from this file (YAML, see docs/compare-outputs.md)"},
    {.name = "fail-on",
     .argument = "WHAT",
     .choices = "maybe|degradation|never",
     .help = "End with status 1 on a degradation (the default), also on one that may be, or never"},
    {.name = "junit",
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Also write a JUnit report to this file, a test case for each call path and metric"},
    {.name = "sarif",
     .argument = "FILE",
     .completes = AS_COMPLETES_FILES,
     .help = "Also write degradations to this file as SARIF 2.1.0, for code scanning services"},
    {.name = "at",
     .argument = "POINT",
     .help = "With models on both sides (parameters): compare what they predict at this point, such as n=1e6,p=64"},
    AS_SIDE_METRIC_OPTIONS,
    AS_SIDE_RUN_OPTIONS,
    {.name = "series",
     .help = "Look for changes of level over many runs instead: files, a directory of them, or a .perun store"},
    {.name = "order",
     .argument = "HOW",
     .completes = AS_COMPLETES_FILES,
     .help = "Order of --series: time, name, given (as on the command line), or a file with a commit or file name in "
             "each line; by default by commit or time where all runs have it, else by name"},
    {.name = "noise", .help = "Tell how noisy the repetitions of one side are, and what change they could show"},
    {.name = "all", .help = "Show everything, changed or not"},
    {.name = "limit",
     .letter = 'n',
     .argument = "N",
     .help = "Show at most so many changes of a metric; by default 30"},
    {.name = "resamples", .argument = "N", .help = "Resamples for each confidence interval; by default 2000"},
    {.name = "seed", .argument = "N", .help = "Begin the random numbers of resampling elsewhere; by default 1"},
    {.name = "full-names", .help = "Print names whole, even where they do not fit the terminal"},
    AS_CHECK_OPTIONS,
    AS_ASCII_OPTION,
    AS_DERIVE_OPTION,
    AS_GROUP_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay compare old.cubex new.cubex", "What became slower, by the threshold alone: there are no repetitions."},
    {"assay compare old-*.cubex vs new-*.cubex", "The same with repetitions on both sides, and statistics."},
    {"assay compare old.cubex new.cubex --md > comment.md", "A comment for the pull request."},
    {"assay compare --noise old-*.cubex", "How large a change must be to be found with these repetitions."},
    {"assay compare --series nightly/", "Since when it is slower, and where."},
    {"assay compare old.cubex new.cubex --junit report.xml --fail-on never", "A report for CI that does not fail it."},
    {"assay compare old.perf new.perf --check all", "Perun's eight checks of two profiles."},
    {NULL, NULL},
};

const as_verb as_verb_compare = {
    .name = "compare",
    .summary = "Tell whether a measurement got worse",
    .usage = "[options] BASE TARGET | BASE… vs TARGET… | --series PATH… | --noise PATH…",
    .description =
        "Compares two measurements of any formats, call path by call path and metric by metric, and ends with status "
        "1 where something got worse. BASE and TARGET are a file or directory that is a dataset, or a directory of "
        "repetitions, files of one format; lists of repetitions have the word vs between them. Call paths are matched "
        "by their names, points of parameters by their coordinates; new and vanished call paths are listed.\n\n"
        "With repetitions (two or more on both sides) a degradation is significant by a rank test (where repetitions "
        "are few for so many call paths: by shuffling the runs), corrected for the number of call paths and metrics, "
        "and its estimate, the ratio of medians with its bootstrap confidence interval, is beyond the threshold. What "
        "is beyond the threshold, but only likely (by the false discovery rate; or, where repetitions are too few for "
        "certainty, as no value of one side is among those of the other) is a maybe, and so is what is significant "
        "and reaches beyond the threshold with its interval. Of a side with several files each gives one number: "
        "repetitions inside one run are not independent. Without repetitions the threshold alone decides, and the "
        "answer says so.\n\n"
        "Larger is worse, unless the config file says otherwise. Call paths with less than 0.1 % of the total are no "
        "finding by themselves (--floor). Totals and the geometric mean of ratios are over call paths that both sides "
        "have; the whole, with new and vanished ones, is judged as well.\n\n"
        "Where both sides have parameters, models are fitted to both as assay model does: a call path whose order of "
        "growth rose is a degradation where the models' intervals at four times the largest point, widened for the "
        "number of models, have nothing in common, and a maybe where their 95 % intervals have nothing in common; "
        "--at compares predictions.\n\n"
        "--series takes the median of each run, in order, and finds where the level of a call path changes, by a "
        "permutation test over all call paths and metrics together. It ends with status 1 where the last level is "
        "worse than the first, and names the run since when. Profiles of different commands, workloads and collectors "
        "are series of their own. --noise tells what change would be found in four of five comparisons.\n\n"
        "With --check two profiles are compared by Perun's checks instead, in Perun's words (docs/compare-checks.md).",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .method = as_compatible_option_table,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
