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
    {AS_HOLDS_VALUES, "values"},         {AS_HOLDS_STATISTICS, "statistics"}, {AS_HOLDS_MODELS, "models"},
    {AS_HOLDS_LOCATIONS, "locations"},   {AS_HOLDS_EVENTS, "events"},         {AS_HOLDS_RECORDS, "records"},
    {AS_HOLDS_ATTRIBUTES, "attributes"}, {AS_HOLDS_UNITS, "units"},           {AS_HOLDS_SOURCE, "sources"},
    {AS_HOLDS_PROFILES, "profiles"},
};
enum { N_HOLDINGS = sizeof holdings / sizeof *holdings };

static listed listed_format(const as_format *f) {
    return (listed){f->name, f->title, f->extensions, f->read != NULL, f->write != NULL, f->holds, f};
}

static const listed database = {AS_SQLITE_NAME, AS_SQLITE_TITLE, AS_SQLITE_ENDINGS, false, true, ~0u, NULL};

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* A list as words for people, as an array in JSON; `text` holds it. */
static as_cell list_cell(as_output *text, bool json, const char *const *words, size_t n) {
    if (json) as_output_char(text, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) as_output_text(text, json ? "," : " ");
        if (json)
            as_json_write_string(text, words[i], strlen(words[i]));
        else
            as_output_text(text, words[i]);
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

static as_cell holds_cell(as_output *text, bool json, const listed *l) {
    const char *words[N_HOLDINGS];
    size_t n = 0;
    for (size_t i = 0; i < N_HOLDINGS; i++) {
        if (l->holds & holdings[i].bit) words[n++] = holdings[i].name;
    }
    return list_cell(text, json, words, n);
}

/* The first `most` of them. */
static as_cell endings_cell(as_output *text, bool json, const listed *l, size_t most) {
    enum { MOST = 8 };
    char endings[MOST][32];
    const char *words[MOST];
    size_t n = 0;
    for (const char *at = l->endings; *at && n < most && n < MOST; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        snprintf(endings[n], sizeof endings[0], "%.*s", (int)size, at);
        words[n] = endings[n];
        n++;
        at += size;
    }
    return list_cell(text, json, words, n);
}

static const char *option_values(const as_option *o) {
    static const char *const types[] = {"yes|no", "integer", "number", "text", ""};
    return o->type == AS_OPTION_CHOICE ? o->choices : types[o->type];
}

static void write_options(as_output *text, bool json, const char *when, const as_option *options, size_t *n) {
    for (const as_option *o = options; o && o->name; o++, ++*n) {
        const char *parts[] = {"when",           when,      "option",    o->name,   "value",
                               option_values(o), "default", o->fallback, "meaning", o->help};
        if (!json)
            as_output_printf(text, "%s%s=%s", *n ? " " : "", o->name, option_values(o));
        else if (*n)
            as_output_char(text, ',');
        for (size_t i = 0; json && i < sizeof parts / sizeof *parts; i++) {
            const char *part = parts[i] ? parts[i] : "";
            as_output_char(text, i == 0 ? '{' : i % 2 ? ':' : ',');
            as_json_write_string(text, part, strlen(part));
        }
        if (json) as_output_char(text, '}');
    }
}

static as_cell options_cell(as_output *text, bool json, const listed *l) {
    size_t n = 0;
    if (json) as_output_char(text, '[');
    if (l->format) write_options(text, json, "read", l->format->read_options, &n);
    if (l->format) write_options(text, json, "write", l->format->write_options, &n);
    if (json) as_output_char(text, ']');
    size_t size;
    const char *all = as_output_memory(text, &size);
    if (!all || size == 0) return as_cell_null();
    return json ? as_cell_json_n(all, size) : as_cell_text_n(all, size);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static bool is_json(const as_cli *cli) { return cli->style.mode == AS_PRINT_JSON || cli->style.mode == AS_PRINT_JSONL; }

/* Sets the columns that the table has. */
static bool add_row(as_table *table, const listed *l, bool json) {
    as_output *texts[3] = {as_output_to_memory(), as_output_to_memory(), as_output_to_memory()};
    size_t most_endings = as_table_find_column(table, "title") == SIZE_MAX ? 1 : SIZE_MAX; /* where it is narrow */
    bool fine = texts[0] && texts[1] && texts[2] && as_table_add_row(table);
    if (fine) {
        const struct {
            const char *column;
            as_cell cell;
        } cells[] = {{"name", as_cell_text(l->name)},
                     {"title", as_cell_text(l->title)},
                     {"reads", flag_cell(json, l->reads)},
                     {"writes", flag_cell(json, l->writes)},
                     {"endings", endings_cell(texts[0], json, l, most_endings)},
                     {"holds", holds_cell(texts[1], json, l)},
                     {"options", options_cell(texts[2], json, l)}};
        for (size_t i = 0; fine && i < sizeof cells / sizeof *cells; i++) {
            size_t column = as_table_find_column(table, cells[i].column);
            fine = column == SIZE_MAX || as_table_set(table, as_table_rows(table) - 1, column, cells[i].cell);
        }
    }
    for (size_t i = 0; i < 3; i++) as_output_discard(texts[i]);
    return fine;
}

/* On a narrow terminal the titles, and all endings but the first, make room for what each format holds; the options are
 * for programs. */
static as_table *new_list(const as_cli *cli) {
    enum { NARROW = 100 };
    static const as_column columns[] = {{"name"},    {"title"}, {"reads"},  {"writes"},
                                        {"endings"}, {"holds"}, {"options"}};
    static const as_column narrow[] = {{"name"}, {"reads"}, {"writes"}, {"endings"}, {"holds"}};
    if (cli->style.mode != AS_PRINT_TEXT) return as_table_new(columns, 7, NULL);
    return cli->style.width && cli->style.width < NARROW ? as_table_new(narrow, 5, NULL)
                                                         : as_table_new(columns, 6, NULL);
}

static bool find_listed(const char *name, listed *l) {
    const as_format *format = as_format_find(name);
    if (format)
        *l = listed_format(format);
    else if (strcmp(name, AS_SQLITE_NAME) == 0)
        *l = database;
    else
        return false;
    return true;
}

/* All formats, or those that were named. */
static as_exit list(as_cli *cli) {
    as_table *table = new_list(cli);
    bool fine = table != NULL, json = is_json(cli), all = as_cli_operands(cli) == 0;
    for (const as_format *const *format = as_formats; fine && all && *format; format++) {
        listed l = listed_format(*format);
        fine = add_row(table, &l, json);
    }
    if (fine && all) fine = add_row(table, &database, json);
    for (size_t i = 0; fine && i < as_cli_operands(cli); i++) {
        listed l;
        fine = find_listed(as_cli_operand(cli, i), &l) && add_row(table, &l, json);
    }
    as_exit status = fine ? as_cli_print(cli, table) : as_cli_memory(cli);
    as_table_free(table);
    return status;
}

/* ---- one format, for people -------------------------------------------------------------------------------------- */

static bool add_options(as_table *table, const char *when, const as_option *options) {
    for (const as_option *o = options; o && o->name; o++) {
        as_cell cells[] = {as_cell_text(o->name), as_cell_text(when), as_cell_text(option_values(o)),
                           as_cell_text(o->fallback), as_cell_text(o->help)};
        if (!as_table_append(table, cells)) return false;
    }
    return true;
}

static as_exit show_options(as_cli *cli, const as_format *format) {
    static const as_column columns[] = {{"option"}, {"when"}, {"value"}, {"default"}, {"meaning"}};
    as_table *table = as_table_new(columns, 5, NULL);
    bool fine = table && add_options(table, "reading", format->read_options) &&
                add_options(table, "writing", format->write_options);
    as_exit status = fine ? as_cli_print(cli, table) : as_cli_memory(cli);
    as_table_free(table);
    return status;
}

static as_exit show_facts(as_cli *cli, const listed *l, bool has_options) {
    static const as_column columns[] = {{"key"}, {"value"}};
    as_table *table = as_table_new(columns, 2, NULL);
    as_output *endings = as_output_to_memory(), *holds = as_output_to_memory();
    bool fine = table && endings && holds;
    if (fine) {
        as_cell rows[][2] = {{as_cell_text("name"), as_cell_text(l->name)},
                             {as_cell_text("title"), as_cell_text(l->title)},
                             {as_cell_text("reads"), flag_cell(false, l->reads)},
                             {as_cell_text("writes"), flag_cell(false, l->writes)},
                             {as_cell_text("endings"), endings_cell(endings, false, l, SIZE_MAX)},
                             {as_cell_text("holds"), holds_cell(holds, false, l)},
                             {as_cell_text("options"), as_cell_text("none")}};
        size_t n = sizeof rows / sizeof *rows - has_options;
        for (size_t i = 0; fine && i < n; i++) fine = as_table_append(table, rows[i]);
    }
    cli->style.no_header = true;
    as_exit status = fine ? as_cli_print(cli, table) : as_cli_memory(cli);
    cli->style.no_header = false;
    as_table_free(table);
    as_output_discard(endings);
    as_output_discard(holds);
    return status;
}

static as_exit show_named(as_cli *cli) {
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; status == AS_EXIT_FINE && i < as_cli_operands(cli); i++) {
        listed l;
        if (!find_listed(as_cli_operand(cli, i), &l)) continue; /* run() looked */
        bool has_options = l.format && ((l.format->read_options && l.format->read_options->name) ||
                                        (l.format->write_options && l.format->write_options->name));
        if (i) as_output_char(cli->out, '\n');
        status = show_facts(cli, &l, has_options);
        if (status == AS_EXIT_FINE && has_options) status = show_options(cli, l.format);
    }
    return status;
}

static as_exit run(as_cli *cli) {
    for (size_t i = 0; i < as_cli_operands(cli); i++) {
        listed l;
        assay_error error;
        if (find_listed(as_cli_operand(cli, i), &l)) continue;
        as_format_unknown(as_cli_operand(cli, i), AS_SQLITE_NAME, &error);
        return as_cli_error(cli, &error);
    }
    cli->style.wrap_last = true;
    return as_cli_operands(cli) && cli->style.mode == AS_PRINT_TEXT ? show_named(cli) : list(cli);
}

static const as_example examples[] = {
    {"assay formats", "All formats: what can be read and written, the endings, what each holds."},
    {"assay formats extrap-text", "What one format holds, and its options as -O takes them."},
    {NULL, NULL},
};

const as_verb as_verb_formats = {
    .name = "formats",
    .summary = "List what can be read and written",
    .usage = "[options] [NAME…]",
    .description = "Lists the formats: whether each is read and written, the endings it is written under, and what it "
                   "can hold beyond parameters, points, metrics and call paths; sources are files and lines of "
                   "regions, profiles runs without parameters. With names, shows those formats and their options for "
                   "-O. JSON and CSV have the options always.",
    .takes = AS_TAKES_JSON | AS_TAKES_TABLE | AS_TAKES_OUTPUT,
    .operands = AS_COMPLETES_FORMATS,
    .examples = examples,
    .run = run,
};
