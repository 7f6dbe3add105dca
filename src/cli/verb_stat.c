/* How evenly the work lies over processes and threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/callpath.h"
#include "cli/node_json.h"
#include "cli/occurrence_view.h"
#include "cli/row_order.h"
#include "cli/stat_reports.h"
#include "cli/stat_view.h"
#include "cli/study.h"
#include "core/parallel.h"

enum { ROWS_FOR_PEOPLE = 20 };

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static bool is_text(const as_cli *cli) { return cli->style.mode == AS_PRINT_TEXT; }

static as_exit check_options(as_cli *cli) {
    if (as_cli_operands(cli) == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "stat needs a file; assay stat --help tells more");
    if (as_cli_has(cli, "inclusive") && as_cli_has(cli, "exclusive") && as_stat_is_for_people(cli))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--inclusive and --exclusive exclude each other in a table for people");
    if (cli->style.mode == AS_PRINT_JSON && (as_cli_has(cli, "sort") || as_cli_has(cli, "limit")))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--json has all call paths in the order of the tree; leave out --%s",
                           as_cli_has(cli, "sort") ? "sort" : "limit");
    if (as_cli_has(cli, "all") && as_cli_has(cli, "limit"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--all and -n exclude each other");
    return AS_EXIT_FINE;
}

static as_exit choose_limit(as_cli *cli, as_stat_view *view) {
    size_t limit = as_stat_is_for_people(cli) && !as_cli_has(cli, "all") ? ROWS_FOR_PEOPLE : 0;
    if (!as_cli_count(cli, "limit", &limit)) return AS_EXIT_USAGE;
    view->limit = limit ? limit : SIZE_MAX;
    return AS_EXIT_FINE;
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static bool add_one_context(const as_stat_view *view, as_stat_metric *m, as_value_kinds kind) {
    as_spread spread;
    as_number **values = &m->values[kind == AS_EXCLUSIVE_VALUES];
    m->status = as_location_values(view->ds, &view->places, m->metric, view->context, kind, values, &spread, &m->error);
    if (m->status != ASSAY_OK || !*values) return m->status == ASSAY_OK;
    as_context_spread *item = as_vec_push(&m->items);
    if (item)
        *item = (as_context_spread){view->context, kind == AS_EXCLUSIVE_VALUES, spread};
    else
        m->status = as_fail_memory(&m->error, NULL);
    return item != NULL;
}

static void find_metric(void *user, size_t i) {
    const as_stat_view *view = user;
    as_stat_metric *m = &view->metrics[i];
    if (view->context == ASSAY_NONE) {
        m->status = as_location_statistics(view->ds, &view->places, m->metric, m->kinds, &m->items, &m->error);
        return;
    }
    if (m->kinds & AS_INCLUSIVE_VALUES && !add_one_context(view, m, AS_INCLUSIVE_VALUES)) return;
    if (m->kinds & AS_EXCLUSIVE_VALUES) add_one_context(view, m, AS_EXCLUSIVE_VALUES);
}

static as_exit find_all(as_cli *cli, as_stat_view *view, const as_vec *chosen) {
    view->metrics = calloc(chosen->count, sizeof *view->metrics);
    if (!view->metrics) return as_cli_memory(cli);
    view->n_metrics = chosen->count;
    for (size_t i = 0; i < chosen->count; i++) {
        as_stat_metric *m = &view->metrics[i];
        m->metric = AS_AT(assay_id, chosen, i);
        m->kinds = as_stat_kinds(cli, view->ds, m->metric);
        as_vec_init(&m->items, sizeof(as_context_spread), NULL);
    }
    as_parallel(view->n_metrics, 0, find_metric, view);
    for (size_t i = 0; i < view->n_metrics; i++) {
        if (view->metrics[i].status != ASSAY_OK) return as_cli_error(cli, &view->metrics[i].error);
    }
    return AS_EXIT_FINE;
}

/* ---- which rows, in which order ---------------------------------------------------------------------------------- */

static double sort_number(const as_spread *s, const char *by) {
    if (strcmp(by, "imbalance") == 0) return s->imbalance;
    if (strcmp(by, "sum") == 0) return s->sum;
    if (strcmp(by, "mean") == 0) return s->mean;
    if (strcmp(by, "max") == 0) return s->max;
    if (strcmp(by, "min") == 0) return s->min;
    if (strcmp(by, "stddev") == 0) return s->stddev;
    if (strcmp(by, "median") == 0) return s->median;
    return s->excess;
}

static bool sort_by_number(as_stat_metric *m, const char *by) {
    double *numbers = malloc((m->items.count + 1) * sizeof *numbers);
    if (!numbers) return false;
    for (size_t i = 0; i < m->items.count; i++)
        numbers[i] = sort_number(&AS_AT(as_context_spread, &m->items, i).spread, by);
    as_rows_by_number(m->rows, m->n_rows, numbers);
    free(numbers);
    return true;
}

/* The path of each context, as far as it tells them apart for all practical purposes: deeper ones have that of their
 * parent. */
static bool make_paths(const as_dataset *ds, const char **paths, as_arena *texts) {
    enum { LONGEST = 4096 };
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        const as_context *context = as_ds_context(ds, id);
        const char *above = context->parent == ASSAY_NONE ? NULL : paths[context->parent];
        size_t before = above ? strlen(above) : 0, n = as_str_size(&ds->strings, context->name);
        if (before >= LONGEST) {
            paths[id] = above;
            continue;
        }
        char *path = as_arena_alloc(texts, before + 2 + n + 1);
        if (!path) return false;
        paths[id] = path;
        if (above) {
            memcpy(path, above, before);
            memcpy(path + before, "->", 2);
        }
        if (n) memcpy(path + (above ? before + 2 : 0), as_ds_text(ds, context->name), n);
    }
    return true;
}

static bool sort_by_name(const as_dataset *ds, as_stat_metric *m) {
    const char **names = calloc(m->items.count + 1, sizeof *names);
    const char **paths = calloc(AS_COUNT(ds, contexts) + 1, sizeof *paths);
    as_arena texts;
    as_arena_init(&texts, as_ds_budget(ds));
    bool fine = names && paths && make_paths(ds, paths, &texts);
    for (size_t i = 0; i < m->n_rows && fine; i++)
        names[m->rows[i]] = paths[AS_AT(as_context_spread, &m->items, m->rows[i]).context];
    if (fine) as_rows_by_name(m->rows, m->n_rows, names);
    as_arena_free(&texts);
    free(paths);
    free(names);
    return fine;
}

static const as_region *region_of(const as_dataset *ds, assay_id context) {
    assay_id region = context == ASSAY_NONE ? ASSAY_NONE : as_ds_context(ds, context)->region;
    return region == ASSAY_NONE ? NULL : as_ds_region(ds, region);
}

/* Instructions in another module than the function above them: nobody knows whose they are, and no function counts
 * them. */
static bool is_foreign(const as_dataset *ds, assay_id context) {
    const as_region *region = region_of(ds, context), *around;
    const char *kind = region ? as_ds_text(ds, region->kind) : NULL;
    if (!kind || strcmp(kind, "instruction") != 0) return false;
    assay_id above = as_ds_context(ds, context)->parent;
    while (above != ASSAY_NONE && as_ds_context(ds, above)->role != AS_ROLE_CALL)
        above = as_ds_context(ds, above)->parent;
    around = region_of(ds, above);
    return !around || around->module != region->module;
}

/* Whether people see it: calls, unless loops, lines and contexts without a place are asked for. */
static bool is_shown(const as_cli *cli, const as_dataset *ds, assay_id context) {
    if (!as_stat_is_for_people(cli) || as_cli_has(cli, "all-contexts") || as_cli_has(cli, "context")) return true;
    if (as_context_is_root(ds, context)) return false;
    return as_ds_context(ds, context)->role == AS_ROLE_CALL || is_foreign(ds, context);
}

/* Those whose path matches; match NULL: all. */
static bool list_rows(const as_cli *cli, const as_dataset *ds, as_stat_metric *m, const as_pattern *match) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    m->rows = malloc((m->items.count + 1) * sizeof *m->rows);
    m->n_rows = 0;
    bool fine = m->rows != NULL;
    for (size_t i = 0; i < m->items.count && fine; i++) {
        assay_id context = AS_AT(as_context_spread, &m->items, i).context;
        if (!is_shown(cli, ds, context)) continue;
        if (match && !(fine = as_context_path_end(ds, context, AS_LONGEST_PATH, &path, NULL))) break;
        if (!match || as_pattern_search(match, path.data, strlen(path.data))) m->rows[m->n_rows++] = (uint32_t)i;
    }
    as_vec_free(&path);
    return fine;
}

static as_exit order_rows(as_cli *cli, as_stat_view *view) {
    as_pattern *match;
    bool fine = true;
    as_exit status = as_callpath_match(cli, &match);
    if (status != AS_EXIT_FINE) return status;
    const char *sort = as_cli_value(cli, "sort");
    if (sort && (strcmp(sort, "count") == 0 || strcmp(sort, "p99") == 0)) {
        as_pattern_free(match);
        return as_cli_fail(cli, AS_EXIT_USAGE, "--sort %s is about occurrences; sort by excess, sum, mean or max",
                           sort);
    }
    size_t n_rows = 0, n_items = 0;
    bool is_balance = view->places.n_sharing > 1;
    if (!sort) sort = !as_stat_is_for_people(cli) ? "tree" : is_balance ? "excess" : "sum";
    for (size_t i = 0; i < view->n_metrics && fine; i++) {
        as_stat_metric *m = &view->metrics[i];
        fine = list_rows(cli, view->ds, m, match);
        if (fine && strcmp(sort, "name") == 0)
            fine = sort_by_name(view->ds, m);
        else if (fine && strcmp(sort, "tree") != 0)
            fine = sort_by_number(m, sort);
        n_rows += m->n_rows;
        n_items += m->items.count;
    }
    as_pattern_free(match);
    if (!fine) return as_cli_memory(cli);
    if (n_items && !n_rows && as_cli_has(cli, "match"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "no call path matches '%s'", as_cli_value(cli, "match"));
    return AS_EXIT_FINE;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static as_exit choose_context(as_cli *cli, as_stat_view *view) {
    const char *name = as_cli_value(cli, "context");
    size_t n = AS_COUNT(view->ds, contexts);
    view->context = ASSAY_NONE;
    if (!name) return AS_EXIT_FINE;
    assay_id *all = malloc((n + 1) * sizeof *all);
    if (!all) return as_cli_memory(cli);
    for (assay_id id = 0; id < n; id++) all[id] = id;
    as_exit status = as_callpath_find(cli, view->ds, all, n, name, &view->context);
    free(all);
    return status;
}

/* Of what runs on GPUs alone (a kernel, a stream) people see the time of GPUs, if nothing else was asked for. */
static as_exit find_gpu_time(as_cli *cli, as_stat_view *view, as_vec *chosen) {
    bool is_default = as_stat_is_for_people(cli) && !as_cli_has(cli, "metric");
    assay_id metric = is_default && view->n_metrics ? as_gpu_time_metric(view->ds) : ASSAY_NONE;
    for (size_t i = 0; i < view->n_metrics; i++) {
        if (view->metrics[i].items.count) return AS_EXIT_FINE;
    }
    if (metric == ASSAY_NONE || !as_has_statistics(view->ds, &view->places, metric)) return AS_EXIT_FINE;
    as_stat_free_metrics(view);
    chosen->count = 0;
    return as_vec_append(chosen, &metric, 1) ? find_all(cli, view, chosen) : as_cli_memory(cli);
}

as_exit as_stat_find(as_cli *cli, const as_dataset *ds, as_stat_view *view) {
    as_vec chosen;
    as_vec_init(&chosen, sizeof(assay_id), NULL);
    *view = (as_stat_view){.ds = ds, .is_ascii = as_cli_is_ascii(cli)};
    as_exit status = choose_limit(cli, view);
    if (status == AS_EXIT_FINE) status = choose_context(cli, view);
    if (status == AS_EXIT_FINE) status = as_stat_choose_places(cli, view);
    if (status == AS_EXIT_FINE) status = as_stat_choose_metrics(cli, view, &chosen);
    if (status == AS_EXIT_FINE) status = find_all(cli, view, &chosen);
    if (status == AS_EXIT_FINE) status = find_gpu_time(cli, view, &chosen);
    if (status == AS_EXIT_FINE) status = order_rows(cli, view);
    as_vec_free(&chosen);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static as_exit show(as_cli *cli, as_answers *a, const as_stat_view *view, const char *path) {
    bool several = as_cli_operands(cli) > 1, fine;
    if (cli->style.mode == AS_PRINT_JSON) {
        fine = as_stat_json(&a->builder, view);
    } else if (is_text(cli)) {
        if (a->shown) as_output_char(cli->out, '\n');
        if (several) as_output_printf(cli->out, "%s\n", path);
        fine = as_stat_text(cli, view);
    } else {
        fine = as_stat_rows(a->printer, a->batch, view, several ? path : NULL);
    }
    a->shown++;
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

/* The columns of rows are known with the first file; files of the other sort have no place in the same table. */
static as_exit set_columns(as_cli *cli, as_table *batch, bool over_occurrences, const char *path) {
    bool has_file = as_cli_operands(cli) > 1;
    size_t n;
    const as_column *columns = over_occurrences ? as_occurrence_columns(cli, &n) : as_stat_columns(cli, &n);
    if (as_table_columns(batch) == n - !has_file) return AS_EXIT_FINE;
    if (as_table_columns(batch))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "%s: is shown over its %s, those before it are not; --over decides for all of them", path,
                           over_occurrences ? "occurrences" : "locations");
    for (size_t i = !has_file; i < n; i++) {
        if (as_table_add_column(batch, columns[i].name) == SIZE_MAX) return as_cli_memory(cli);
    }
    return AS_EXIT_FINE;
}

static as_exit answer_file(as_cli *cli, as_answers *a, const char *path) {
    as_dataset *ds;
    as_stat_view view = {0};
    bool over_occurrences = false;
    as_exit status = as_cli_open(cli, path, &ds);
    if (status == AS_EXIT_FINE) status = as_occurrences_chosen(cli, ds, &over_occurrences);
    if (status == AS_EXIT_FINE && a->printer) status = set_columns(cli, a->batch, over_occurrences, path);
    if (status == AS_EXIT_FINE && over_occurrences) {
        status = as_occurrences_answer(cli, a, ds, path);
    } else if (status == AS_EXIT_FINE) {
        status = as_stat_find(cli, ds, &view);
        if (status == AS_EXIT_FINE) status = show(cli, a, &view, path);
        as_stat_view_free(&view);
    }
    as_dataset_free(ds);
    return status;
}

static as_exit run(as_cli *cli) {
    as_exit status = check_options(cli);
    if (status != AS_EXIT_FINE) return status;
    if (as_cli_has(cli, "report")) return as_stat_reports(cli);
    bool is_table = !is_text(cli) && cli->style.mode != AS_PRINT_JSON;
    as_table *batch = is_table ? as_table_new(NULL, 0, NULL) : NULL;
    cli->groups_itself = true;
    return as_answer_files(cli, is_table, batch, answer_file);
}

static const as_cli_option options[] = {
    AS_METRIC_OPTION,
    AS_DERIVE_OPTION,
    AS_GROUP_OPTION,
    AS_REPORT_OPTION,
    {.name = "over",
     .argument = "WHAT",
     .choices = "occurrences|locations",
     .help = "Statistics over the occurrences of each region and section, or over locations (or runs); by default over "
             "occurrences where the input has events and no locations"},
    {.name = "worst",
     .argument = "N",
     .help = "Over occurrences: list the N longest of each call path, with when they began, run and tags; by default 3 "
             "in JSON, none for people"},
    {.name = "exclusive",
     .help = "What each call path costs itself, without what it calls; the default for people over locations"},
    {.name = "inclusive", .help = "What each call path costs with all it calls; the default over occurrences"},
    {.name = "by",
     .argument = "PLACE",
     .choices = "location|process|run",
     .help = "Compare locations, processes (their threads summed), or the runs of a point; by default locations, and "
             "runs where there are none"},
    AS_LOCATION_OPTION,
    {.name = "run",
     .argument = "RUN",
     .help = "Take this run (its number), or those of a point such as p=64,n=10; by default of the largest point"},
    {.name = "context",
     .argument = "PATH",
     .help = "Show the values of this call path one by one: a histogram, and which places are the extremes. Its end "
             "will do where only one ends so, and so does what tables show of it"},
    {.name = "match",
     .argument = "REGEX",
     .help = "Take only call paths that match this regular expression; of a path of more than 16384 "
             "bytes, its end is looked at"},
    {.name = "sort",
     .argument = "COLUMN",
     .choices = "excess|imbalance|sum|count|mean|median|p99|max|min|stddev|name|tree",
     .help = "Sort by this, the largest first; by default by excess for people (by sum over occurrences, and with a "
             "single place), and as in the tree for programs; count, median and p99 are those of occurrences"},
    {.name = "limit",
     .letter = 'n',
     .argument = "ROWS",
     .help = "Show at most so many rows of each metric, 0: all; by default 20 for people"},
    {.name = "all", .help = "Show all rows"},
    {.name = "all-contexts",
     .help = "For people: rows of loops, lines, call sites and contexts without a place in the tree as well, where a "
             "file has them (HPCToolkit); programs get them all"},
    AS_ASCII_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay stat profile.cubex", "Where the time lies unevenly over the processes, the worst first."},
    {"assay stat profile.cubex --metric visits --inclusive --sort imbalance",
     "Another metric, with all that is called."},
    {"assay stat hpctoolkit-app-database --location 'rank=0-3,thread=0'", "Only the first threads of four processes."},
    {"assay stat profile.cubex --context solve", "One call path: which ranks are slow?"},
    {"assay stat runs --run p=64 --by run", "How much the repetitions of a point differ."},
    {"assay stat flight.afperf --worst 3", "How long regions took one by one, and the three longest of each."},
    {"assay stat flight.afperf --group-by platform --sort p99", "The same for each value of a tag, slow tails first."},
    {"assay stat --report cuda_gpu_kern_sum report1.sqlite", "What GPU kernels took, as nsys stats has it."},
    {"assay stat --json profile.cubex", "All call paths and metrics, exact."},
    {NULL, NULL},
};

const as_verb as_verb_stat = {
    .name = "stat",
    .summary = "How evenly the cost lies over processes and threads",
    .usage = "[options] PATH…",
    .description =
        "Shows for each call path how the values of a metric (by default time) lie over the locations of a run: their "
        "sum, mean, standard deviation, smallest and largest value, and which rank has them (3 is a process, 3.1 its "
        "thread 1), the imbalance max / mean - 1, and a small histogram from the smallest to the largest value. The "
        "excess is (max - mean) times the number of locations: what perfect balance would save. A location without a "
        "value has 0. Streams of GPUs take part only where they have a value, threads only where one of them has: of "
        "what GPUs did there is no mean over threads, and the other way round.\n\n"
        "Of several runs, the first at the largest point is taken; --run chooses another. With --by run, and where "
        "the file knows no locations, as experiments do, the runs of the point are compared instead: count, mean and "
        "so on are those of its repetitions.\n\n"
        "Where a file has events and no locations (AFPerf captures), the statistics are over the occurrences of each "
        "region and section instead: how many, their total, mean, standard deviation, smallest, median (p50), 90th "
        "and 99th percentile, largest, and when that one began. --metric shows what else was measured of them: "
        "numbers, and of snapshots the difference between start and end; how often each text was recorded; the points "
        "of the run itself. --worst lists the longest (docs/occurrences.md).\n\n"
        "Where a file has GPU activities (Nsight Systems), --report gives what nsys stats gives, with its columns and "
        "units: time by kernel, API call, copy, NVTX range or function of the OS runtime, the largest total first "
        "(docs/gpu.md).\n\n"
        "--json gives all metrics and call paths, inclusive and exclusive, with quartiles; integers are exact. Where "
        "all is 0, a call path may be missing. The standard deviation divides by n; quartiles are linear between "
        "neighbours; the imbalance is null where the mean is 0. A path of more than 16384 bytes is null. min_at and "
        "max_at are ids of places (the table location, or run, of assay sql). CSV and JSON Lines have a row for each "
        "metric, call path and kind, Markdown those that people see. Metrics whose sum is a minimum or maximum have "
        "that as sum. Derived metrics, and those of several parts, are computed at each location; instead of a sum "
        "they have what is computed for all locations together, and a location without a number takes no part.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
