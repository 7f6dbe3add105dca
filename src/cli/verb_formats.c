/* What can be read and written, what each format holds, and its options. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "io/json.h"
#include "query/target.h"

/* What stands in the list: a format, or the database that is written only. */
typedef struct listed {
    const char *name, *title, *endings;
    bool reads, writes;
    unsigned holds;
    const as_format *format; /* NULL for the database */
} listed;

static const struct {
    unsigned bit;
    const char *name;
} holdings[] = {
    {AS_HOLDS_VALUES, "values"},   {AS_HOLDS_STATISTICS, "statistics"}, {AS_HOLDS_MODELS, "models"},         {AS_HOLDS_LOCATIONS, "locations"},
    {AS_HOLDS_EVENTS, "events"},   {AS_HOLDS_RECORDS, "records"},       {AS_HOLDS_ATTRIBUTES, "attributes"}, {AS_HOLDS_UNITS, "units"},
    {AS_HOLDS_SOURCE, "sources"},  {AS_HOLDS_PROFILES, "profiles"},
};
enum { N_HOLDINGS = sizeof holdings / sizeof *holdings };

static listed listed_format(const as_format *f) {
    return (listed){f->name, f->title, f->extensions, f->read != NULL, f->write != NULL, f->holds, f};
}

static const listed database = {AS_SQLITE_NAME, AS_SQLITE_TITLE, AS_SQLITE_ENDINGS, false, true, ~0u, NULL};

/* ---- cells ----------------------------------------------------------------------------------------------------------- */

/* A list as words for people, as an array in JSON; `text` holds it. */
static as_cell list_cell(as_output *text, bool json, const char *const *words, size_t n) {
    if (json) as_output_char(text, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) as_output_text(text, json ? "," : " ");
        if (json) as_json_write_string(text, words[i], strlen(words[i]));
        else as_output_text(text, words[i]);
    }
    if (json) as_output_char(text, ']');
    size_t size;
    const char *all = as_output_memory(text, &size);
    if (!all) return as_cell_null();
    if (json) return as_cell_json_n(all, size);
    return size == 0 ? as_cell_null() : as_cell_text_n(all, size);
}

static as_cell flag_cell(bool json, bool flag) {
    if (json) return flag ? as_cell_json_n("true", 4) : as_cell_json_n("false", 5);
    return as_cell_text(flag ? "yes" : "no");
}

static bool add_row(as_table *table, const listed *l, bool json) {
    as_output *holds_text = as_output_to_memory(), *endings_text = as_output_to_memory();
    bool fine = holds_text && endings_text;
    if (fine) {
        const char *holds[N_HOLDINGS];
        char endings[8][16];
        const char *ending_words[8];
        size_t n_holds = 0, n_endings = 0;
        for (size_t i = 0; i < N_HOLDINGS; i++) {
            if (l->holds & holdings[i].bit) holds[n_holds++] = holdings[i].name;
        }
        for (const char *at = l->endings; *at && n_endings < 8; at += strspn(at, " ")) {
            size_t size = strcspn(at, " ");
            snprintf(endings[n_endings], sizeof endings[0], "%.*s", (int)size, at);
            ending_words[n_endings] = endings[n_endings];
            n_endings++;
            at += size;
        }
        as_cell cells[] = {as_cell_text(l->name),
                           as_cell_text(l->title),
                           flag_cell(json, l->reads),
                           flag_cell(json, l->writes),
                           list_cell(endings_text, json, ending_words, n_endings),
                           list_cell(holds_text, json, holds, n_holds)};
        fine = as_table_append(table, cells);
    }
    as_output_discard(holds_text);
    as_output_discard(endings_text);
    return fine;
}

static bool is_json(const as_cli *cli) { return cli->style.mode == AS_PRINT_JSON || cli->style.mode == AS_PRINT_JSONL; }

static as_exit list_all(as_cli *cli) {
    static const as_column columns[] = {{"name"}, {"title"}, {"reads"}, {"writes"}, {"endings"}, {"holds"}};
    as_table *table = as_table_new(columns, 6, NULL);
    bool fine = table != NULL, json = is_json(cli);
    for (const as_format *const *format = as_formats; fine && *format; format++) {
        listed l = listed_format(*format);
        fine = add_row(table, &l, json);
    }
    as_exit status = fine && add_row(table, &database, json) ? as_cli_print(cli, table) : as_cli_fail(cli, AS_EXIT_INPUT, "memory is out");
    as_table_free(table);
    return status;
}

/* ---- the options of formats ------------------------------------------------------------------------------------------ */

static bool add_options(as_table *table, const char *format, const char *when, const as_option *options) {
    static const char *const types[] = {"yes|no", "integer", "number", "text", ""};
    for (const as_option *o = options; o && o->name; o++) {
        as_cell cells[] = {as_cell_text(format), as_cell_text(when), as_cell_text(o->name),
                           as_cell_text(o->type == AS_OPTION_CHOICE ? o->choices : types[o->type]), as_cell_text(o->fallback), as_cell_text(o->help)};
        if (!as_table_append(table, cells)) return false;
    }
    return true;
}

static as_exit fail_unknown(as_cli *cli, const char *name) {
    assay_error error;
    as_format_unknown(name, AS_SQLITE_NAME, &error);
    return as_cli_error(cli, &error);
}

static as_exit list_options(as_cli *cli) {
    static const as_column columns[] = {{"format"}, {"when"}, {"option"}, {"value"}, {"default"}, {"meaning"}};
    as_table *table = as_table_new(columns, 6, NULL);
    as_exit status = table ? AS_EXIT_FINE : as_cli_fail(cli, AS_EXIT_INPUT, "memory is out");
    for (size_t i = 0; i < as_cli_operands(cli) && status == AS_EXIT_FINE; i++) {
        const char *name = as_cli_operand(cli, i);
        const as_format *f = as_format_find(name);
        if (!f && strcmp(name, AS_SQLITE_NAME) != 0) status = fail_unknown(cli, name);
        else if (f && !(add_options(table, name, "read", f->read_options) && add_options(table, name, "write", f->write_options))) {
            status = as_cli_fail(cli, AS_EXIT_INPUT, "memory is out");
        }
    }
    if (status == AS_EXIT_FINE && cli->style.mode == AS_PRINT_TEXT && as_table_rows(table) == 0) as_cli_note(cli, "no options");
    else if (status == AS_EXIT_FINE) status = as_cli_print(cli, table);
    as_table_free(table);
    return status;
}

static as_exit run(as_cli *cli) { return as_cli_operands(cli) ? list_options(cli) : list_all(cli); }

static const as_example examples[] = {
    {"assay formats", "All formats: what can be read and written, the endings, what each holds."},
    {"assay formats extrap-text", "The options of one format, as -O takes them."},
    {NULL, NULL},
};

const as_verb as_verb_formats = {
    .name = "formats",
    .summary = "List what can be read and written",
    .usage = "[options] [NAME…]",
    .description = "Lists the formats: whether each is read and written, the endings it is written under, and what it can hold beyond parameters, points, "
                   "metrics and call paths. With names, lists the options of those formats, for -O.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_OUTPUT,
    .operands = AS_COMPLETES_FORMATS,
    .examples = examples,
    .run = run,
};
