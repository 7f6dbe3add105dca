/* What is this: a card for people, JSON and tables for programs. */
#include <string.h>

#include "analysis/busy.h"
#include "analysis/trace/trace.h"
#include "cli/card.h"
#include "cli/cli.h"
#include "cli/problems.h"
#include "cli/run_list.h"

static uint64_t count_rows(const as_dataset *ds, const char *table) {
    const as_table *records = as_ds_records(ds, table);
    return records ? as_table_rows(records) : 0;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void build_metrics(as_builder *b, const as_dataset *ds) {
    as_build_array(b, "metrics", true);
    for (size_t i = 0; i < AS_COUNT(ds, metrics); i++) {
        const as_metric *m = as_ds_metric(ds, (assay_id)i);
        as_build_object(b, NULL, false);
        as_build_text(b, "name", as_ds_text(ds, m->name));
        as_build_text(b, "unit", as_ds_text(ds, m->unit));
        as_build_text(b, "dtype", as_ds_text(ds, m->dtype));
        as_build_text(b, "kind", as_kind_name(m->kind));
        as_build_end(b);
    }
    as_build_end(b);
}

/* The counts of the dataset, or AS_NOT_COUNTED, in the order of docs and DESIGN. */
static void each_count(const as_dataset *ds, void (*visit)(void *user, const char *key, uint64_t count), void *user) {
    const as_overview *overview = ds->overview.is_set ? &ds->overview : NULL;
    visit(user, "regions", overview ? overview->regions : AS_COUNT(ds, regions));
    visit(user, "contexts", overview ? overview->contexts : AS_COUNT(ds, contexts));
    visit(user, "locations", overview ? overview->locations : as_ds_leaves(ds));
    visit(user, "values", overview ? overview->values : as_ds_values(ds));
    visit(user, "events", overview ? overview->events : as_ds_events(ds));
    visit(user, "records", count_rows(ds, "record"));
    visit(user, "models", AS_COUNT(ds, models) + count_rows(ds, "stored_model"));
    visit(user, "attributes", overview ? overview->attributes : as_ds_attribute_count(ds));
}

static void build_count(void *user, const char *key, uint64_t count) {
    if (count == AS_NOT_COUNTED)
        as_build_text(user, key, NULL);
    else
        as_build_int(user, key, (int64_t)count);
}

/* GPUs that something ran on: in which part of the time. */
static bool build_devices(as_builder *b, const as_dataset *ds) {
    as_vec devices; /* as_device_busy */
    double span;
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    bool fine = as_devices_busy(ds, &devices, &span);
    if (fine && devices.count) as_build_array(b, "gpus", true);
    for (size_t i = 0; fine && i < devices.count; i++) {
        const as_device_busy *device = &AS_AT(as_device_busy, &devices, i);
        as_build_object(b, NULL, false);
        as_build_int(b, "location", device->device);
        as_build_text(b, "name", as_ds_text(ds, as_ds_location(ds, device->device)->name));
        as_build_real(b, "busy", device->all / span);
        as_build_real(b, "kernels", device->kernels / span);
        as_build_end(b);
    }
    if (fine && devices.count) as_build_end(b);
    as_vec_free(&devices);
    return fine;
}

bool as_info_build(as_builder *b, const as_dataset *ds, size_t most_problems) {
    as_build_text(b, "format", ds->format);
    as_build_text(b, "format_version", as_ds_text(ds, ds->format_version));
    as_build_int(b, "evidence_bits", ds->evidence);
    as_build_int(b, "bytes", (int64_t)ds->input_size);
    as_build_int(b, "runs", (int64_t)AS_COUNT(ds, runs));
    as_build_int(b, "points", (int64_t)ds->n_points);
    as_build_array(b, "parameters", false);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) as_build_text(b, NULL, as_ds_parameter(ds, i));
    as_build_end(b);
    build_metrics(b, ds);
    each_count(ds, build_count, b);
    if (ds->overview.is_set) {
        as_build_object(b, "rows", false);
        as_overview_rows(ds, build_count, b);
        as_build_end(b);
    }
    double seconds;
    if (as_trace_quick_duration(ds, &seconds))
        as_build_real(b, "duration", seconds);
    else
        as_build_text(b, "duration", NULL);
    bool fine = build_devices(b, ds) && (!as_has_run_list(ds) || as_run_list_build(b, ds));
    as_build_array(b, "problems", true);
    for (size_t i = 0; i < as_ds_problems(ds) && i < most_problems; i++) {
        as_finding finding = as_finding_of(ds, i);
        as_finding_build(b, &finding);
    }
    as_build_end(b);
    return fine;
}

/* False when memory was out. */
static bool build_info(as_builder *b, const as_dataset *ds) {
    as_build_object(b, NULL, true);
    as_build_text(b, "file", as_ds_text(ds, ds->path));
    bool fine = as_info_build(b, ds, SIZE_MAX);
    as_build_end(b);
    return fine;
}

/* ---- key and value as a table ------------------------------------------------------------------------------------ */

typedef struct facts {
    as_table *table;
    const char *file;
    bool failed; /* memory was out */
} facts;

static void add_fact(facts *f, const char *key, as_cell value) {
    as_cell cells[] = {as_cell_text(f->file), as_cell_text(key), value};
    f->failed |= !as_table_append(f->table, cells);
}

static void add_count(void *user, const char *key, uint64_t count) {
    add_fact(user, key, count == AS_NOT_COUNTED ? as_cell_null() : as_cell_uint(count));
}

/* "p, n" of the names; as a cell of the table, which copies it. */
static void add_names(facts *f, const char *key, const as_dataset *ds, size_t n,
                      as_str (*name)(const as_dataset *ds, size_t i)) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    for (size_t i = 0; i < n; i++) {
        as_str id = name(ds, i);
        f->failed |= i && !as_vec_append(&text, ", ", 2);
        f->failed |= id != AS_NO_STR && !as_vec_append(&text, as_ds_text(ds, id), as_str_size(&ds->strings, id));
    }
    add_fact(f, key, as_cell_text_n(text.data ? text.data : "", text.count));
    as_vec_free(&text);
}

static as_str parameter_name(const as_dataset *ds, size_t i) { return AS_AT(as_str, &ds->parameters, i); }
static as_str metric_name(const as_dataset *ds, size_t i) { return as_ds_metric(ds, (assay_id)i)->name; }

static void add_facts(facts *f, const as_dataset *ds) {
    f->file = as_ds_text(ds, ds->path);
    add_fact(f, "format", as_cell_text(ds->format));
    add_fact(f, "format_version", as_cell_text(as_ds_text(ds, ds->format_version)));
    add_fact(f, "bytes", as_cell_uint(ds->input_size));
    add_count(f, "runs", AS_COUNT(ds, runs));
    add_count(f, "points", ds->n_points);
    add_names(f, "parameters", ds, as_ds_parameters(ds), parameter_name);
    add_names(f, "metrics", ds, AS_COUNT(ds, metrics), metric_name);
    each_count(ds, add_count, f);
    add_count(f, "problems", as_ds_problems(ds) + as_ds_problems_dropped(ds));
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

typedef struct answer {
    as_builder builder;
    facts facts;
    size_t shown;
} answer;

static as_exit show(as_cli *cli, answer *a, const as_dataset *ds) {
    bool several = as_cli_operands(cli) > 1, fine = true;
    switch (cli->style.mode) {
    case AS_PRINT_JSON: fine = build_info(&a->builder, ds); break;
    case AS_PRINT_JSONL:
        a->builder.compact = true;
        fine = build_info(&a->builder, ds);
        break;
    case AS_PRINT_TEXT:
        if (a->shown) as_output_char(cli->out, '\n');
        fine = as_card_print(cli, ds, !several && !cli->quiet);
        break;
    case AS_PRINT_CSV:
    case AS_PRINT_MARKDOWN: add_facts(&a->facts, ds); break;
    }
    a->shown++;
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit run(as_cli *cli) {
    size_t n = as_cli_operands(cli);
    if (n == 0) return as_cli_fail(cli, AS_EXIT_USAGE, "info needs a file; assay info --help tells more");
    static const as_column columns[] = {{"file"}, {"key"}, {"value"}};
    answer a = {.builder = as_builder_of(cli->out), .facts = {.table = as_table_new(columns, 3, NULL)}};
    if (!a.facts.table) return as_cli_memory(cli);
    bool is_array = n > 1 && cli->style.mode == AS_PRINT_JSON,
         is_table = cli->style.mode == AS_PRINT_CSV || cli->style.mode == AS_PRINT_MARKDOWN;
    if (is_array) as_build_array(&a.builder, NULL, true);
    as_exit status = AS_EXIT_FINE;
    cli->reads_overview = !as_cli_has(cli, "full");
    for (size_t i = 0; i < n; i++) {
        as_dataset *ds;
        as_exit answered = as_cli_open(cli, as_cli_operand(cli, i), &ds);
        if (answered == AS_EXIT_FINE) answered = show(cli, &a, ds);
        if (answered != AS_EXIT_FINE) status = answered;
        as_dataset_free(ds);
    }
    if (is_array) as_build_end(&a.builder);
    if (a.facts.failed)
        status = as_cli_memory(cli);
    else if (is_table && a.shown) {
        as_exit printed = as_cli_print(cli, a.facts.table);
        if (printed != AS_EXIT_FINE) status = printed;
    }
    as_table_free(a.facts.table);
    return status;
}

static const as_cli_option options[] = {
    {.name = "full", .help = "read everything, and count it, however long that takes"},
    AS_DERIVE_OPTION,
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay info kernels.txt", "A card: format, parameters, points, metrics, call paths, problems."},
    {"assay kernels.txt", "The same: without a verb, a file is shown."},
    {"assay info --json *.extra-p", "An array with an object for each file."},
    {"assay info --from extrap-talpas data.txt", "Reads the file as TaLPas, whatever it looks like."},
    {NULL, NULL},
};

const as_verb as_verb_info = {
    .name = "info",
    .summary = "Show what is in a measurement",
    .usage = "[options] PATH…",
    .description =
        "Opens each path and shows its format, parameters, points, metrics, call paths, values, models and the "
        "problems found while reading. A path is a file, a directory, or - for standard input; the format is found "
        "out from the content.\n\n"
        "Of a large export of Nsight Systems, with 250,000 activities or more, only the tables are looked at: what "
        "that does not tell is not counted (null in JSON), unless --full says so.\n\n"
        "Where one of several paths cannot be read, its error is printed, the others are shown all the same, and the "
        "exit status is 3.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
