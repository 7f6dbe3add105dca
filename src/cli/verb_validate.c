/* Every problem of a file, with its place and the rule it breaks. */
#include <string.h>

#include "cli/cli.h"
#include "cli/problems.h"
#include "cli/sarif.h"

enum { SEVERITY, RULE, FILE_NAME, OFFSET, LINE, COLUMN, MESSAGE, N_COLUMNS };
static const as_column columns[N_COLUMNS] = {{"severity"}, {"rule"},   {"file"},   {"offset"},
                                             {"line"},     {"column"}, {"message"}};

typedef struct verdict {
    as_table *findings;
    uint64_t counts[3]; /* by severity */
    uint64_t dropped;
    size_t files;
    bool failed; /* memory was out */
} verdict;

static void add_finding(verdict *v, as_severity severity, const as_finding *f) {
    as_cell cells[N_COLUMNS] = {
        [SEVERITY] = as_cell_text(f->severity),
        [RULE] = as_cell_text(f->rule),
        [FILE_NAME] = as_cell_text(f->file),
        [OFFSET] = f->offset >= 0 ? as_cell_int(f->offset) : as_cell_null(),
        [LINE] = f->line ? as_cell_int(f->line) : as_cell_null(),
        [COLUMN] = f->column ? as_cell_int(f->column) : as_cell_null(),
        [MESSAGE] = as_cell_text(f->message),
    };
    v->failed |= !as_table_append(v->findings, cells);
    v->counts[severity]++;
}

static uint32_t cell_number(as_cell cell) { return cell.type == AS_CELL_INT ? (uint32_t)cell.i : 0; }
static const char *cell_words(as_cell cell) { return cell.type == AS_CELL_TEXT ? cell.text : NULL; }

static as_finding finding_at(const as_table *findings, size_t row) {
    as_cell offset = as_table_get(findings, row, OFFSET);
    return (as_finding){.severity = cell_words(as_table_get(findings, row, SEVERITY)),
                        .rule = cell_words(as_table_get(findings, row, RULE)),
                        .file = cell_words(as_table_get(findings, row, FILE_NAME)),
                        .message = cell_words(as_table_get(findings, row, MESSAGE)),
                        .offset = offset.type == AS_CELL_INT ? offset.i : -1,
                        .line = cell_number(as_table_get(findings, row, LINE)),
                        .column = cell_number(as_table_get(findings, row, COLUMN))};
}

/* Reads one path and adds what is wrong with it. An input that cannot even be looked at is not invalid: status 3. */
static as_exit check(as_cli *cli, const char *path, verdict *v) {
    as_dataset *ds = NULL;
    assay_error error;
    assay_status status = as_cli_read(cli, path, true, NULL, &ds, &error);
    if (status == ASSAY_E_FORMAT) {
        as_finding finding = as_finding_of_error(&error);
        add_finding(v, AS_ERROR, &finding);
    } else if (status != ASSAY_OK) {
        return as_cli_error(cli, &error);
    } else {
        v->failed |= !as_ds_check(ds, NULL);
        for (size_t i = 0; i < as_ds_problems(ds); i++) {
            as_finding finding = as_finding_of(ds, i);
            add_finding(v, as_ds_problem(ds, i)->severity, &finding);
        }
        v->dropped += as_ds_problems_dropped(ds);
    }
    v->files++;
    as_dataset_free(ds);
    return AS_EXIT_FINE;
}

static void print_text(as_cli *cli, const verdict *v) {
    for (size_t i = 0; i < as_table_rows(v->findings); i++) {
        as_finding finding = finding_at(v->findings, i);
        as_finding_print(cli->out, &finding, cli->style.colour);
    }
    if (cli->quiet || !v->files) return;
    as_output_printf(cli->out, "%zu file%s: ", v->files, v->files == 1 ? "" : "s");
    as_finding_print_counts(cli->out, v->counts[AS_ERROR], v->counts[AS_WARNING], v->counts[AS_NOTE]);
    if (v->dropped) as_output_printf(cli->out, ", and %llu more that are not listed", (unsigned long long)v->dropped);
    if (v->files < as_cli_operands(cli))
        as_output_printf(cli->out, "; %zu could not be read", as_cli_operands(cli) - v->files);
    as_output_char(cli->out, '\n');
}

static as_exit print_sarif(as_cli *cli, const verdict *v) {
    as_sarif sarif;
    as_sarif_begin(&sarif, cli->out);
    for (size_t i = 0; i < as_table_rows(v->findings); i++) {
        as_finding finding = finding_at(v->findings, i);
        as_sarif_rule(&sarif, &finding);
    }
    as_sarif_begin_results(&sarif, v->files == as_cli_operands(cli));
    for (size_t i = 0; i < as_table_rows(v->findings); i++) {
        as_finding finding = finding_at(v->findings, i);
        as_sarif_result(&sarif, &finding);
    }
    return as_sarif_end(&sarif) ? AS_EXIT_FINE : as_cli_memory(cli);
}

static as_exit print(as_cli *cli, const verdict *v) {
    if (v->failed) return as_cli_memory(cli);
    if (as_cli_has(cli, "sarif")) return print_sarif(cli, v);
    if (cli->style.mode != AS_PRINT_TEXT) return as_cli_print(cli, v->findings);
    print_text(cli, v);
    return AS_EXIT_FINE;
}

static as_exit run(as_cli *cli) {
    if (as_cli_operands(cli) == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "validate needs a file; assay validate --help tells more");
    verdict v = {.findings = as_table_new(columns, N_COLUMNS, NULL)};
    if (!v.findings) return as_cli_memory(cli);
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < as_cli_operands(cli) && status != AS_EXIT_USAGE; i++) {
        as_exit checked = check(cli, as_cli_operand(cli, i), &v);
        if (checked != AS_EXIT_FINE) status = checked;
    }
    if (status != AS_EXIT_USAGE) {
        as_exit printed = print(cli, &v);
        if (printed != AS_EXIT_FINE) status = printed;
    }
    bool is_bad = v.counts[AS_ERROR] || (as_cli_has(cli, "strict") && v.counts[AS_WARNING]);
    as_table_free(v.findings);
    return status == AS_EXIT_FINE && is_bad ? AS_EXIT_CHECK : status;
}

static const as_cli_option options[] = {
    {.name = "strict", .help = "Let warnings fail the check, too"},
    {.name = "sarif", .help = "Print the problems as SARIF 2.1.0, for code scanning services"},
    {.name = NULL},
};

static const as_example examples[] = {
    {"assay validate kernels.txt", "Lists what is wrong, a line each, and a count."},
    {"assay validate --strict runs/*.jsonl", "For CI: status 1 if any file has an error or a warning."},
    {"assay validate --sarif -o assay.sarif kernels.txt", "A report for code scanning."},
    {NULL, NULL},
};

const as_verb as_verb_validate = {
    .name = "validate",
    .summary = "Check files against the rules of their formats",
    .usage = "[options] PATH…",
    .description = "Reads each path to its end and lists every problem as FILE:LINE:COLUMN: severity: message [rule]. "
                   "An error breaks a rule of the format, a warning is odd but loses nothing, a note is worth "
                   "knowing.\n\n"
                   "The exit status is 1 if there is any error (with --strict, any warning), and 3 if a path cannot "
                   "be read at all or is of no format assay knows.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_INPUT | AS_TAKES_OUTPUT,
    .options = options,
    .operands = AS_COMPLETES_FILES,
    .examples = examples,
    .run = run,
};
