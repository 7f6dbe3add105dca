/* What the command line of `assay regress` asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/compatible.h"
#include "cli/regress_view.h"
#include "cli/study.h"
#include "core/words.h"

/* ---- the analysis ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *option, *name;
} analyses[AS_N_ANALYSES] = {
    [AS_ANALYSIS_FIT] = {NULL, "regression_analysis"},
    [AS_ANALYSIS_REGRESSOGRAM] = {"regressogram", "regressogram"},
    [AS_ANALYSIS_MOVING] = {"moving-average", "moving_average"},
    [AS_ANALYSIS_KERNEL] = {"kernel", "kernel_regression"},
    [AS_ANALYSIS_CLUSTERIZE] = {"clusterize", "clusterizer"},
    [AS_ANALYSIS_NORMALIZE] = {"normalize", "normalizer"},
    [AS_ANALYSIS_STORED] = {"stored", NULL},
};

const char *as_regress_analysis_name(as_regress_analysis analysis) { return analyses[analysis].name; }

/* Which analysis an option belongs to. */
static const struct {
    const char *option;
    as_regress_analysis analysis;
} owners[] = {
    {"method", AS_ANALYSIS_FIT},
    {"models", AS_ANALYSIS_FIT},
    {"steps", AS_ANALYSIS_FIT},
    {"seed", AS_ANALYSIS_FIT},
    {"bucket-method", AS_ANALYSIS_REGRESSOGRAM},
    {"buckets", AS_ANALYSIS_REGRESSOGRAM},
    {"statistic", AS_ANALYSIS_REGRESSOGRAM},
    {"window", AS_ANALYSIS_MOVING},
    {"no-center", AS_ANALYSIS_MOVING},
    {"min-periods", AS_ANALYSIS_MOVING},
    {"window-type", AS_ANALYSIS_MOVING},
    {"decay", AS_ANALYSIS_MOVING},
    {"regression", AS_ANALYSIS_KERNEL},
    {"bandwidth", AS_ANALYSIS_KERNEL},
    {"kernel-type", AS_ANALYSIS_KERNEL},
    {"smoothing", AS_ANALYSIS_KERNEL},
    {"order", AS_ANALYSIS_KERNEL},
    {"gamma", AS_ANALYSIS_KERNEL},
    {"width", AS_ANALYSIS_CLUSTERIZE},
    {"width-measure", AS_ANALYSIS_CLUSTERIZE},
    {"height-measure", AS_ANALYSIS_CLUSTERIZE},
};

static as_exit choose_analysis(as_cli *cli, as_regress_request *r) {
    for (as_regress_analysis i = 0; i < AS_N_ANALYSES; i++) {
        if (!analyses[i].option || !as_cli_has(cli, analyses[i].option)) continue;
        if (r->analysis != AS_ANALYSIS_FIT)
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s and --%s exclude each other: one analysis at a time",
                               analyses[r->analysis].option, analyses[i].option);
        r->analysis = i;
    }
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        if (owners[i].analysis == r->analysis || !as_cli_has(cli, owners[i].option)) continue;
        const char *owner = analyses[owners[i].analysis].option, *asked = analyses[r->analysis].option;
        if (owner) return as_cli_fail(cli, AS_EXIT_USAGE, "--%s belongs to --%s", owners[i].option, owner);
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is for fitting models; leave it out, or --%s", owners[i].option,
                           asked);
    }
    return AS_EXIT_FINE;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static as_exit read_whole(as_cli *cli, const char *name, uint32_t least, uint32_t *out) {
    size_t number = *out;
    if (!as_cli_count(cli, name, &number)) return AS_EXIT_USAGE;
    if (as_cli_has(cli, name) && (number < least || number > 1000000000))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s cannot be %zu; it is %u or more, up to a billion", name, number,
                           (unsigned)least);
    *out = (uint32_t)number;
    return AS_EXIT_FINE;
}

static as_exit read_real(as_cli *cli, const char *name, const char *text, double *out) {
    double number;
    if (as_real_parse(text, strlen(text), &number) && isfinite(number) && number >= 0) {
        *out = number;
        return AS_EXIT_FINE;
    }
    return as_cli_fail(cli, AS_EXIT_USAGE, "--%s cannot be '%s'; it takes a number, not below 0", name, text);
}

static as_exit read_given_real(as_cli *cli, const char *name, double *out) {
    const char *text = as_cli_value(cli, name);
    return text ? read_real(cli, name, text, out) : AS_EXIT_FINE;
}

/* ---- what each analysis takes ------------------------------------------------------------------------------------ */

static as_exit fail_model(as_cli *cli, const char *name, size_t size) {
    as_nearest nearest = as_nearest_start(name, size);
    for (as_curve_model model = 0; model <= AS_CURVE_CONSTANT; model++)
        as_nearest_offer(&nearest, as_curve_name(model));
    if (nearest.word)
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no model '%.*s'; did you mean '%s'?", (int)size, name,
                           nearest.word);
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "there is no model '%.*s'; there are constant, linear, logarithmic, quadratic, power, "
                       "exponential, and all of them: all",
                       (int)size, name);
}

static as_exit read_models(as_cli *cli, unsigned *out) {
    const char *text = as_cli_value(cli, "models");
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ",");
        size_t size = (size_t)(end - text);
        char word[32] = "";
        as_curve_model model;
        if (size < sizeof word) memcpy(word, text, size);
        if (strcmp(word, "all") == 0)
            *out |= (1u << (AS_CURVE_CONSTANT + 1)) - 1;
        else if (size < sizeof word && as_curve_find(word, &model) && as_curve_is_parametric(model))
            *out |= 1u << model;
        else
            return fail_model(cli, text, size);
    }
    return AS_EXIT_FINE;
}

static as_exit read_fit(as_cli *cli, as_regress_request *r) {
    const char *method = as_cli_value(cli, "method"), *seed = as_cli_value(cli, "seed");
    for (int i = 0; method && i <= AS_REGRESS_BISECTION; i++) {
        if (strcmp(as_regress_method_name((as_regress_method)i), method) == 0) r->fit.method = (as_regress_method)i;
    }
    size_t number = 0;
    as_exit status = read_models(cli, &r->fit.models);
    if (status == AS_EXIT_FINE) status = read_whole(cli, "steps", 1, &r->fit.steps);
    if (status == AS_EXIT_FINE && seed && !as_cli_count(cli, "seed", &number)) status = AS_EXIT_USAGE;
    r->fit.seed = number;
    return status;
}

static as_exit read_regressogram(as_cli *cli, as_regress_request *r) {
    const char *statistic = as_cli_value(cli, "statistic");
    if (as_cli_has(cli, "buckets") && as_cli_has(cli, "bucket-method"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--buckets and --bucket-method exclude each other");
    r->regressogram.method = as_cli_value(cli, "bucket-method");
    r->regressogram.is_median = statistic && strcmp(statistic, "median") == 0;
    return read_whole(cli, "buckets", 1, &r->regressogram.buckets);
}

/* "com=0.5". */
static as_exit read_decay(as_cli *cli, as_moving_options *options) {
    static const char *const names[] = {"com", "span", "halflife", "alpha"};
    const char *text = as_cli_value(cli, "decay");
    size_t size = text ? strcspn(text, "=") : 0;
    for (size_t i = 0; text && text[size] && i < 4; i++) {
        if (strlen(names[i]) != size || memcmp(names[i], text, size) != 0) continue;
        options->decay = names[i];
        as_exit status = read_real(cli, "decay", text + size + 1, &options->decay_value);
        bool is_alpha = i == 3, is_span = i == 1;
        double v = options->decay_value;
        if (status != AS_EXIT_FINE || !((is_alpha && (v <= 0 || v > 1)) || (is_span && v < 1) || (i == 2 && v <= 0)))
            return status;
        return as_cli_fail(cli, AS_EXIT_USAGE, "--decay cannot be '%s'; %s", text,
                           is_alpha  ? "alpha lies above 0, up to 1"
                           : is_span ? "span is 1 or more"
                                     : "halflife is above 0");
    }
    if (!text) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--decay cannot be '%s'; it takes com=V, span=V, halflife=V or alpha=V",
                       text);
}

static as_exit read_moving(as_cli *cli, as_regress_request *r) {
    as_moving_options *options = &r->moving;
    options->method = as_cli_value(cli, "moving-average");
    options->no_center = as_cli_has(cli, "no-center");
    options->window_type = as_cli_value(cli, "window-type");
    as_exit status = read_whole(cli, "window", 1, &options->window);
    if (status == AS_EXIT_FINE) status = read_whole(cli, "min-periods", 1, &options->min_periods);
    if (status == AS_EXIT_FINE) status = read_decay(cli, options);
    if (status != AS_EXIT_FINE) return status;
    bool is_ema = strcmp(options->method, "ema") == 0;
    if (options->decay && !is_ema) return as_cli_fail(cli, AS_EXIT_USAGE, "--decay belongs to --moving-average ema");
    if (options->window_type && strcmp(options->method, "sma") != 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--window-type belongs to --moving-average sma");
    if (options->window_type && !as_window_type_is_known(options->window_type))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "there is no window type '%s' without a parameter; boxcar, triang, hann, hamming, blackman "
                           "and others of SciPy are",
                           options->window_type);
    return AS_EXIT_FINE;
}

/* "1e-5,1e-4,1e-5". */
static as_exit read_gamma(as_cli *cli, as_kernel_options *options) {
    const char *text = as_cli_value(cli, "gamma"), *at = text;
    double *numbers[] = {&options->gamma_low, &options->gamma_high, &options->gamma_step};
    if (!text) return AS_EXIT_FINE;
    for (int i = 0; i < 3; i++) {
        size_t size = strcspn(at, ",");
        bool is_last = at[size] == '\0';
        if (!as_real_parse(at, size, numbers[i]) || !isfinite(*numbers[i]) || is_last != (i == 2)) goto wrong;
        at += size + !is_last;
    }
    if (options->gamma_low > 0 && options->gamma_high > options->gamma_low && options->gamma_step > 0 &&
        (options->gamma_high - options->gamma_low) / options->gamma_step <= 1e6)
        return AS_EXIT_FINE;
wrong:
    return as_cli_fail(cli, AS_EXIT_USAGE, "--gamma cannot be '%s'; it takes LO,HI,STEP such as 1e-5,1e-4,1e-5", text);
}

static as_exit read_kernel(as_cli *cli, as_regress_request *r) {
    as_kernel_options *options = &r->kernel;
    options->mode = as_cli_value(cli, "kernel");
    options->regression = as_cli_value(cli, "regression");
    options->kernel = as_cli_value(cli, "kernel-type");
    options->smoothing = as_cli_value(cli, "smoothing");
    const char *bandwidth = as_cli_value(cli, "bandwidth");
    as_exit status = read_whole(cli, "order", 1, &options->order);
    if (status == AS_EXIT_FINE) status = read_gamma(cli, options);
    if (status == AS_EXIT_FINE && bandwidth && as_is_choice("scott|silverman|cv_ls|aic", bandwidth))
        options->bandwidth = bandwidth;
    else if (status == AS_EXIT_FINE && bandwidth)
        status = read_real(cli, "bandwidth", bandwidth, &options->bandwidth_value);
    if (status != AS_EXIT_FINE) return status;
    if (bandwidth && !options->bandwidth && !(options->bandwidth_value > 0))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--bandwidth is above 0");
    static const struct {
        const char *mode, *bandwidths;
        bool takes_number;
    } modes[] = {{"smoothing", "scott|silverman", true},
                 {"ridge", "", false},
                 {"user", "", true},
                 {"method", "scott|silverman", false},
                 {"estimator", "cv_ls|aic", false}};
    for (size_t i = 0; i < 5; i++) {
        if (strcmp(modes[i].mode, options->mode) != 0) continue;
        bool fits =
            !bandwidth || (options->bandwidth ? as_is_choice(modes[i].bandwidths, bandwidth) : modes[i].takes_number);
        if (!fits)
            return as_cli_fail(cli, AS_EXIT_USAGE, "--kernel %s cannot take --bandwidth %s; it takes %s%s%s",
                               options->mode, bandwidth, modes[i].bandwidths,
                               *modes[i].bandwidths && modes[i].takes_number ? " or " : "",
                               modes[i].takes_number  ? "a number"
                               : *modes[i].bandwidths ? ""
                                                      : "none");
        if (i == 2 && !bandwidth)
            return as_cli_fail(cli, AS_EXIT_USAGE, "--kernel user needs a bandwidth: --bandwidth 3");
    }
    return AS_EXIT_FINE;
}

static as_exit read_cluster(as_cli *cli, as_regress_request *r) {
    const char *width = as_cli_value(cli, "width-measure"), *height = as_cli_value(cli, "height-measure");
    r->cluster = (as_cluster_options){.is_sliding = strcmp(as_cli_value(cli, "clusterize"), "sliding_window") == 0,
                                      .width = 0.01,
                                      .height = 0.01,
                                      .width_is_absolute = width && strcmp(width, "absolute") == 0,
                                      .height_is_absolute = height && strcmp(height, "absolute") == 0};
    as_exit status = read_given_real(cli, "width", &r->cluster.width);
    return status == AS_EXIT_FINE ? read_given_real(cli, "height", &r->cluster.height) : status;
}

static as_exit read_analysis(as_cli *cli, as_regress_request *r) {
    switch (r->analysis) {
    case AS_ANALYSIS_REGRESSOGRAM: return read_regressogram(cli, r);
    case AS_ANALYSIS_MOVING: return read_moving(cli, r);
    case AS_ANALYSIS_KERNEL: return read_kernel(cli, r);
    case AS_ANALYSIS_CLUSTERIZE: return read_cluster(cli, r);
    case AS_ANALYSIS_FIT: return read_fit(cli, r);
    default: return AS_EXIT_FINE;
    }
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static bool changes_records(const as_regress_request *r) {
    return r->analysis == AS_ANALYSIS_CLUSTERIZE || r->analysis == AS_ANALYSIS_NORMALIZE;
}

static as_exit choose_answer_file(as_cli *cli, const char *output) {
    if (cli->style.mode != AS_PRINT_TEXT || strcmp(output, "-") == 0 || as_mode_of_ending(output, &cli->style.mode))
        return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE,
                       "%s: the ending does not say what to write; .perf is a profile, .json, .jsonl, .csv, .md and "
                       ".txt hold the answer",
                       output);
}

static as_exit choose_output(as_cli *cli, as_regress_request *r) {
    r->plot = as_cli_value(cli, "plot");
    r->output = as_cli_value(cli, "output");
    if (changes_records(r) && !(r->output && as_has_ending(r->output, ".perf")))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--%s changes records; name the profile to write with -o FILE.perf",
                           analyses[r->analysis].option);
    static const char *const of_plot[] = {"log", "height"};
    for (size_t i = 0; i < 2 && !r->plot; i++) {
        bool is_of_clusters = i == 1 && r->analysis == AS_ANALYSIS_CLUSTERIZE;
        if (as_cli_has(cli, of_plot[i]) && !is_of_clusters)
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is for plots; name a uid with --plot", of_plot[i]);
    }
    if (r->plot && cli->style.mode != AS_PRINT_TEXT)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--plot has a shape of its own; leave out --json and the like");
    if (r->plot && as_cli_operands(cli) > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--plot takes one file, and %zu are given", as_cli_operands(cli));
    if (!r->output) return AS_EXIT_FINE;
    bool is_svg = as_has_ending(r->output, ".svg");
    if (is_svg != (r->plot != NULL) && strcmp(r->output, "-") != 0)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           is_svg ? "%s: an SVG file is for a plot; name a uid with --plot"
                                  : "%s: a plot is written as .svg, or without -o to the terminal",
                           r->output);
    as_exit status = as_cli_check_output(cli, r->output, as_cli_operands(cli));
    r->to_profile = as_has_ending(r->output, ".perf");
    if (status != AS_EXIT_FINE || r->plot) return status;
    if (!r->to_profile) return choose_answer_file(cli, r->output);
    if (r->analysis == AS_ANALYSIS_STORED)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--stored adds no models; assay convert writes a profile as it is");
    if (as_cli_operands(cli) > 1)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: holds one profile, and %zu files are given", r->output,
                           as_cli_operands(cli));
    return AS_EXIT_FINE;
}

/* ---- -O ---------------------------------------------------------------------------------------------------------- */

static bool is_key(const as_option *table, const char *key_value) {
    size_t size = strcspn(key_value, "=");
    for (const as_option *row = table; row && row->name; row++) {
        if (strlen(row->name) == size && memcmp(row->name, key_value, size) == 0) return true;
    }
    return false;
}

/* What the writer of profiles knows goes there, the rest to the readers. */
static as_exit split_options(as_cli *cli, as_regress_request *r) {
    bool is_compatible;
    as_exit status = as_cli_compatible(cli, &is_compatible);
    if (status != AS_EXIT_FINE) return status;
    r->fit.is_compatible = r->regressogram.is_compatible = is_compatible;
    r->moving.is_compatible = r->kernel.is_compatible = is_compatible;
    size_t n = 0, reads = 0, writes = 0;
    while (cli->options[n]) n++;
    r->read_options = calloc(n + 1, sizeof *r->read_options);
    r->write_options = calloc(n + 1, sizeof *r->write_options);
    if (!r->read_options || !r->write_options) return as_cli_memory(cli);
    const as_format *format = r->to_profile ? as_format_find("perun") : NULL;
    for (size_t i = 0; i < n; i++) {
        if (format && is_key(format->write_options, cli->options[i]))
            r->write_options[writes++] = cli->options[i];
        else
            r->read_options[reads++] = cli->options[i];
    }
    return AS_EXIT_FINE;
}

as_exit as_regress_request_read(as_cli *cli, as_regress_request *r) {
    *r = (as_regress_request){.points = {.of = as_cli_value(cli, "of"), .per = as_cli_value(cli, "per")},
                              .limit = SIZE_MAX,
                              .all = as_cli_has(cli, "all")};
    if (as_cli_operands(cli) == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "regress needs a file; assay regress --help tells more");
    as_exit status = choose_analysis(cli, r);
    if (status == AS_EXIT_FINE) status = read_analysis(cli, r);
    if (status == AS_EXIT_FINE) status = choose_output(cli, r);
    if (status == AS_EXIT_FINE) status = split_options(cli, r);
    if (status != AS_EXIT_FINE) return status;
    const char *strategy = as_cli_value(cli, "strategy");
    r->has_strategy = strategy && as_strategy_find(strategy, &r->strategy);
    size_t limit = 0;
    if (!as_cli_count(cli, "plot-points", &r->plot_points) || !as_cli_count(cli, "limit", &limit)) return AS_EXIT_USAGE;
    if (limit) r->limit = limit;
    enum { MOST_POINTS = 1000000 };
    if (r->plot_points > MOST_POINTS) return as_cli_fail(cli, AS_EXIT_USAGE, "--plot-points is at most a million");
    return AS_EXIT_FINE;
}

void as_regress_request_free(as_regress_request *request) {
    free(request->read_options);
    free(request->write_options);
}
