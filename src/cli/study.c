/* Reading experiments, and which of their call paths are meant. */
#include "cli/study.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/scaling/strong.h"
#include "analysis/scaling/totals.h"
#include "cli/callpath.h"
#include "cli/profile_choice.h"
#include "core/words.h"
#include "dataset/merge.h"

bool as_cli_count(as_cli *cli, const char *name, size_t *out) {
    const char *text = as_cli_value(cli, name);
    as_number number;
    if (!text) return true;
    if (!as_number_parse(text, strlen(text), &number) || number.kind != AS_INT || number.i < 0) {
        as_cli_fail(cli, AS_EXIT_USAGE, "--%s cannot be '%s'; it takes a whole number", name, text);
        return false;
    }
    *out = (size_t)number.i;
    return true;
}

/* ---- -O ---------------------------------------------------------------------------------------------------------- */

static bool is_key(const as_option *table, const char *key_value) {
    size_t size = strcspn(key_value, "=");
    for (const as_option *row = table; row && row->name; row++) {
        if (strlen(row->name) == size && memcmp(row->name, key_value, size) == 0) return true;
    }
    return false;
}

/* Whether some reader has the key; of a misspelled one nobody would say what was meant otherwise. */
static bool reader_knows(const char *key_value) {
    for (const as_format *const *format = as_formats; *format; format++) {
        if ((*format)->read && is_key((*format)->read_options, key_value)) return true;
    }
    return false;
}

static as_exit fail_option(as_cli *cli, const char *key_value) {
    size_t size = strcspn(key_value, "=");
    as_nearest nearest = as_nearest_start(key_value, size);
    for (const as_option *row = as_fit_option_table; row->name; row++) as_nearest_offer(&nearest, row->name);
    for (const as_format *const *format = as_formats; *format; format++) {
        for (const as_option *row = (*format)->read_options; row && row->name; row++)
            as_nearest_offer(&nearest, row->name);
    }
    if (nearest.word) {
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no option '%.*s'; did you mean '%s'?", (int)size, key_value,
                           nearest.word);
    }
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no option '%.*s'; 'assay model --help' lists those of the method",
                       (int)size, key_value);
}

/* What the method knows goes to it, the rest to the readers. */
static as_exit split_options(as_cli *cli, as_study *study, const char ***read_options) {
    size_t n = 0, reads = 0, fits = 0;
    while (cli->options[n]) n++;
    *read_options = calloc(n + 1, sizeof **read_options);
    study->fit_options = calloc(n + 1, sizeof *study->fit_options);
    if (!*read_options || !study->fit_options) return as_cli_memory(cli);
    for (size_t i = 0; i < n; i++) {
        if (as_fit_option_known(cli->options[i]))
            study->fit_options[fits++] = cli->options[i];
        else if (reader_knows(cli->options[i]))
            (*read_options)[reads++] = cli->options[i];
        else
            return fail_option(cli, cli->options[i]);
    }
    return AS_EXIT_FINE;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static as_exit merge_parts(as_cli *cli, as_dataset **parts, size_t n, as_dataset **out) {
    if (!as_can_merge(parts, n)) {
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "the files do not have the same parameters and are no one experiment; give them one by one");
    }
    assay_error error;
    if (as_merge(parts, n, out, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    return AS_EXIT_FINE;
}

/* Of several processes the first reads all, for it writes all. The others do so where the choice or the scaling of
 * their values depends on everybody's. */
static as_share values_to_read(const as_cli *cli) {
    const char *scaling = as_cli_value(cli, "scaling");
    bool is_strong = scaling && strcmp(scaling, as_scaling_name(AS_SCALING_STRONG)) == 0;
    if (as_cli_is_first(cli) || as_cli_has(cli, "min-share") || is_strong) return (as_share){0};
    return (as_share){cli->peers->share.index, cli->peers->share.count};
}

static as_exit read_parts(as_cli *cli, const char **read_options, as_dataset **out) {
    size_t n = as_cli_operands(cli);
    as_dataset **parts = calloc(n, sizeof *parts);
    if (!parts) return as_cli_memory(cli);
    as_exit status = AS_EXIT_FINE;
    cli->reads = values_to_read(cli);
    for (size_t i = 0; i < n && status == AS_EXIT_FINE; i++) {
        assay_error error;
        if (as_cli_read(cli, as_cli_operand(cli, i), false, read_options, &parts[i], &error) != ASSAY_OK) {
            parts[i] = NULL;
            status = as_cli_error(cli, &error);
        }
    }
    if (status == AS_EXIT_FINE && n > 1) status = merge_parts(cli, parts, n, out);
    if (status == AS_EXIT_FINE && n == 1) {
        *out = parts[0];
        parts[0] = NULL;
    }
    for (size_t i = 0; i < n; i++) as_dataset_free(parts[i]);
    free(parts);
    return status;
}

/* Whether an option of its format makes parameters of what it has. */
static bool can_name_parameters(const as_dataset *ds) {
    const as_format *format = ds->format ? as_format_find(ds->format) : NULL;
    const as_option *option = format ? format->read_options : NULL;
    while (option && option->name && strcmp(option->name, "parameter") != 0) option++;
    return option && option->name;
}

static as_exit check_dataset(as_cli *cli, const as_dataset *ds, const char *path) {
    assay_error error;
    if (as_ds_parameters(ds) == 0)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no parameters, so there is nothing to model along%s", path,
                           can_name_parameters(ds) ? "; name one with -O parameter=tag:NAME" : "");
    if (as_ds_load(ds, ASSAY_NONE, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (ds->series.count == 0) return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no measurements", path);
    return AS_EXIT_FINE;
}

/* ---- scaling ----------------------------------------------------------------------------------------------------- */

static as_exit find_parameter(as_cli *cli, const as_dataset *ds, const char *name, assay_id *out) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        const char *known = as_ds_parameter(ds, i);
        as_nearest_offer(&nearest, known);
        if (strcmp(known, name) != 0) continue;
        *out = (assay_id)i;
        return AS_EXIT_FINE;
    }
    if (nearest.word) {
        return as_cli_fail(cli, AS_EXIT_USAGE, "there is no parameter '%s'; did you mean '%s'?", name, nearest.word);
    }
    return as_cli_fail(cli, AS_EXIT_USAGE, "there is no parameter '%s'; the first one is '%s'", name,
                       as_ds_parameter(ds, 0));
}

/* The parameter of --processes, else the only one, else the one along which time falls. */
static as_exit processes_of(as_cli *cli, const as_dataset *ds, assay_id *out) {
    const char *name = as_cli_value(cli, "processes");
    if (name) return find_parameter(cli, ds, name, out);
    *out = 0;
    if (as_ds_parameters(ds) == 1) return AS_EXIT_FINE;
    if (!as_strong_detect(ds, out)) return as_cli_memory(cli);
    if (*out == ASSAY_NONE) {
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "which parameter counts the processes? time falls along none; name it with --processes");
    }
    return AS_EXIT_FINE;
}

static void hint_strong(as_cli *cli, const as_dataset *ds) {
    assay_id parameter;
    if (cli->quiet || as_ds_scaling(ds) == AS_SCALING_STRONG) return;
    if (!as_strong_detect(ds, &parameter) || parameter == ASSAY_NONE) return;
    const char *name = as_ds_parameter(ds, parameter);
    as_cli_note(cli,
                "the whole decreases along %s: looks like strong scaling; --scaling strong models the work, value * %s",
                name, name);
}

static as_exit scale_strong(as_cli *cli, as_dataset *ds) {
    if (as_ds_scaling(ds) == AS_SCALING_STRONG) {
        as_cli_note(cli, "the file says that its values are strong scaling's already; they stay as they are");
        return AS_EXIT_FINE;
    }
    if (as_has_places(ds)) return as_scale_places(ds, AS_SCALING_STRONG) ? AS_EXIT_FINE : as_cli_memory(cli);
    assay_id parameter;
    as_exit status = processes_of(cli, ds, &parameter);
    if (status != AS_EXIT_FINE) return status;
    return as_scale_strong(ds, parameter) ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit apply_scaling(as_cli *cli, as_dataset *ds) {
    const char *word = as_cli_value(cli, "scaling");
    assay_id parameter;
    if (!word) {
        const char *processes = as_cli_value(cli, "processes");
        double count; /* suggest takes a number too */
        hint_strong(cli, ds);
        if (!processes || as_real_parse(processes, strlen(processes), &count)) return AS_EXIT_FINE;
        return find_parameter(cli, ds, processes, &parameter);
    }
    as_scaling scaling = AS_SCALING_WEAK;
    while (scaling < AS_SCALING_STRONG && strcmp(as_scaling_name(scaling), word) != 0) scaling++;
    as_exit status = AS_EXIT_FINE;
    if (scaling == AS_SCALING_STRONG)
        status = scale_strong(cli, ds);
    else if (!as_scale_places(ds, scaling))
        status = as_cli_memory(cli);
    if (status == AS_EXIT_FINE && !as_set_scaling(ds, scaling)) status = as_cli_memory(cli);
    return status;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* What --metric, --match and --min-share ask for. */
struct wish {
    bool *metrics;     /* for each metric whether it is wanted */
    as_pattern *match; /* NULL: all */
    double min_share;  /* part, 0: all */
};

/* Sums over all call paths at each point of one metric, then each one's part of the largest. */
struct shares {
    as_statistic measure;
    double *sums;
    assay_id largest;
    double value; /* at the largest point */
};

static bool add_to_sums(void *user, const as_measurement *measurement) {
    struct shares *shares = user;
    double value = as_statistic_of(shares->measure, measurement);
    if (isfinite(value)) shares->sums[measurement->point] += value;
    return true;
}

static bool take_value(void *user, const as_measurement *measurement) {
    struct shares *shares = user;
    if (measurement->point != shares->largest) return true;
    shares->value = as_statistic_of(shares->measure, measurement);
    return false;
}

/* Marks in wanted those of the metric's series (n of them) that make up enough of it. parts: those that make its
 * total. */
static bool choose_by_share(const as_dataset *ds, const uint32_t *series, size_t n, const bool *parts, double min_share,
                            struct shares *shares, bool *wanted) {
    for (size_t i = 0; i < ds->n_points; i++) shares->sums[i] = 0;
    for (size_t i = 0; i < n; i++) {
        if (parts[series[i]] && !as_measure(ds, as_ds_series(ds, series[i]), add_to_sums, shares)) return false;
    }
    shares->largest = 0;
    for (assay_id i = 1; i < ds->n_points; i++) {
        if (shares->sums[i] > shares->sums[shares->largest]) shares->largest = i;
    }
    double total = shares->sums[shares->largest];
    for (size_t i = 0; i < n; i++) {
        if (!wanted[series[i]]) continue;
        shares->value = 0;
        if (!as_measure(ds, as_ds_series(ds, series[i]), take_value, shares)) return false;
        wanted[series[i]] = shares->value >= min_share * total;
    }
    return true;
}

static bool apply_share(const as_dataset *ds, const struct wish *wish, as_statistic measure, bool *wanted) {
    struct shares shares = {.measure = measure, .sums = calloc(ds->n_points ? ds->n_points : 1, sizeof(double))};
    as_metric_series by_metric = {0};
    assay_id guessed;
    bool fine = shares.sums && as_metric_series_init(&by_metric, ds);
    bool *parts = fine ? as_total_parts(ds, &by_metric, &guessed) : NULL;
    fine = parts != NULL;
    for (assay_id metric = 0; fine && metric < ds->metrics.count; metric++) {
        uint32_t first = by_metric.starts[metric], n = by_metric.starts[metric + 1] - first;
        if (wish->metrics[metric])
            fine = choose_by_share(ds, by_metric.series + first, n, parts, wish->min_share, &shares, wanted);
    }
    free(parts);
    as_metric_series_free(&by_metric);
    free(shares.sums);
    return fine;
}

/* Which series fit; false when memory is out. */
static bool mark_wanted(const as_study *study, const struct wish *wish, bool *wanted) {
    const as_dataset *ds = study->ds;
    as_vec path;
    as_vec_init(&path, 1, NULL);
    assay_id last = ASSAY_NONE; /* series of one call path are often neighbours */
    bool fine = true, matches = true;
    for (size_t i = 0; fine && i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        if (wish->match && series->context != last) {
            fine = as_context_path(ds, series->context, &path);
            matches = fine && as_pattern_search(wish->match, path.data, strlen(path.data));
            last = series->context;
        }
        wanted[i] = matches && wish->metrics[series->metric];
    }
    as_vec_free(&path);
    if (fine && wish->min_share > 0) fine = apply_share(ds, wish, study->options.measure, wanted);
    return fine;
}

static as_exit collect_wanted(as_cli *cli, as_study *study, const struct wish *wish) {
    size_t n = study->ds->series.count;
    bool *wanted = calloc(n, sizeof *wanted);
    study->series = calloc(n, sizeof *study->series);
    as_exit status = AS_EXIT_FINE;
    if (!wanted || !study->series || !mark_wanted(study, wish, wanted)) status = as_cli_memory(cli);
    for (size_t i = 0; status == AS_EXIT_FINE && i < n; i++) {
        if (wanted[i]) study->series[study->n_series++] = (uint32_t)i;
    }
    free(wanted);
    if (status != AS_EXIT_FINE || study->n_series) return status;
    if (wish->match)
        return as_cli_fail(cli, AS_EXIT_USAGE, "no call path%s matches '%s'",
                           as_cli_has(cli, "metric") || wish->min_share > 0 ? " of those chosen" : "",
                           as_cli_value(cli, "match"));
    const char *share = as_cli_value(cli, "min-share");
    if (!share) return as_cli_fail(cli, AS_EXIT_USAGE, "the metric has no measurements; choose another one");
    return as_cli_fail(cli, AS_EXIT_USAGE, "no call path makes up %.*s %% of its metric; ask for less with --min-share",
                       (int)strcspn(share, "%"), share);
}

static as_exit choose(as_cli *cli, as_study *study) {
    struct wish wish = {.metrics = calloc(study->ds->metrics.count + 1, sizeof(bool))};
    if (!wish.metrics) return as_cli_memory(cli);
    as_exit status = as_mark_metrics(cli, study->ds, wish.metrics);
    if (status == AS_EXIT_FINE) status = as_choose_min_share(cli, &wish.min_share);
    if (status == AS_EXIT_FINE) status = as_callpath_match(cli, &wish.match);
    if (status == AS_EXIT_FINE) status = collect_wanted(cli, study, &wish);
    as_pattern_free(wish.match);
    free(wish.metrics);
    return status;
}

/* ---- one call path ----------------------------------------------------------------------------------------------- */

/* The call paths of the chosen series, each once: *n of them, to be freed. False when memory is out. */
static bool list_callpaths(const as_study *study, assay_id **out, size_t *n) {
    bool *seen = calloc(AS_COUNT(study->ds, contexts) + 1, sizeof *seen);
    *out = malloc((study->n_series + 1) * sizeof **out);
    *n = 0;
    for (size_t i = 0; seen && *out && i < study->n_series; i++) {
        assay_id context = as_ds_series(study->ds, study->series[i])->context;
        if (!seen[context]) (*out)[(*n)++] = context;
        seen[context] = true;
    }
    bool fine = seen && *out;
    free(seen);
    return fine;
}

as_exit as_study_find(as_cli *cli, const as_study *study, const char *callpath, uint32_t *series) {
    assay_id *callpaths, context;
    size_t n, n_found = 0;
    as_exit status = list_callpaths(study, &callpaths, &n)
                         ? as_callpath_find(cli, study->ds, callpaths, n, callpath, &context)
                         : as_cli_memory(cli);
    free(callpaths);
    if (status != AS_EXIT_FINE) return status;
    for (size_t i = 0; i < study->n_series; i++) {
        if (as_ds_series(study->ds, study->series[i])->context != context) continue;
        if (n_found++ == 0) *series = study->series[i];
    }
    if (n_found > 1) {
        const as_metric *metric = as_ds_metric(study->ds, as_ds_series(study->ds, *series)->metric);
        as_cli_note(cli, "%zu metrics have this call path; shown is %s, --metric names another", n_found,
                    as_ds_text(study->ds, metric->name));
    }
    return AS_EXIT_FINE;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static as_exit read_method(as_cli *cli, as_study *study) {
    assay_error error;
    size_t threads = 0;
    if (as_fit_options_parse(as_ds_parameters(study->ds), as_cli_value(cli, "modeler"), as_cli_value(cli, "measure"),
                             study->fit_options, &study->options, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    if (!as_cli_count(cli, "threads", &threads)) return AS_EXIT_USAGE;
    study->options.threads = threads > 1024 ? 1024 : (unsigned)threads;
    if (threads == 0 && cli->peers) study->options.threads = cli->peers->threads;
    return AS_EXIT_FINE;
}

/* What is due once the dataset is there. */
static as_exit prepare(as_cli *cli, const char *path, as_study *out) {
    as_exit status = check_dataset(cli, out->ds, path);
    if (status == AS_EXIT_FINE) status = read_method(cli, out);
    if (status == AS_EXIT_FINE) status = apply_scaling(cli, out->ds);
    return status == AS_EXIT_FINE ? choose(cli, out) : status;
}

as_exit as_study_open(as_cli *cli, as_study *out) {
    *out = (as_study){0};
    if (as_cli_operands(cli) == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s needs a file; assay %s --help tells more", cli->verb->name,
                           cli->verb->name);
    const char **read_options = NULL;
    as_exit status = split_options(cli, out, &read_options);
    if (status == AS_EXIT_FINE) status = read_parts(cli, read_options, &out->ds);
    free(read_options);
    return status == AS_EXIT_FINE ? prepare(cli, as_cli_operand(cli, 0), out) : status;
}

as_exit as_study_of(as_cli *cli, as_dataset *ds, const char *path, as_study *out) {
    *out = (as_study){.ds = ds};
    const char **read_options = NULL;
    as_exit status = split_options(cli, out, &read_options);
    free(read_options);
    return status == AS_EXIT_FINE ? prepare(cli, path, out) : status;
}

void as_study_close(as_study *study) {
    as_dataset_free(study->ds);
    free(study->series);
    free(study->fit_options);
    *study = (as_study){0};
}

assay_id as_study_guess_processes(const as_dataset *ds) {
    static const char *const names[] = {"p",         "processes", "procs",  "nprocs",  "n_procs", "num_procs",
                                        "np",        "ranks",     "nranks", "nodes",   "cores",   "ncores",
                                        "mpi_ranks", "tasks",     "pes",    "threads", "workers", "gpus"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (size_t i = 0; i < as_ds_parameters(ds); i++) {
            if (strcasecmp(as_ds_parameter(ds, i), names[k]) == 0) return (assay_id)i;
        }
    }
    return ASSAY_NONE;
}
