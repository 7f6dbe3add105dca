/* The tables of SQL over an input, with what they and their columns mean (api/schema). docs/sql.md says it at
 * length. */
#include <string.h>

#include "query/query.h"
#include "server/request.h"

/* "table" or "table.column"; ".column" of any table. */
static const struct meaning {
    const char *name, *text;
} meanings[] = {
    {"parameter", "The axes of an experiment, such as p or n"},
    {"point", "Measured configurations"},
    {"point.label", "Its coordinates: (20,0.5)"},
    {"coordinate", "The value of each parameter at each point"},
    {"run", "Single executions"},
    {"run.point", "Where it was measured"},
    {"run.repetition", "From 0"},
    {"run.source", "The file or command it comes from"},
    {"run.start_time", "Seconds since 1970"},
    {"metric", "What was measured"},
    {"metric.dtype", "The type of its values"},
    {"metric.kind", "inclusive, exclusive, point, lexical, derived or none"},
    {"metric.parent", "The metric above it"},
    {"region", "Functions, loops, files, kernels"},
    {"region.mangled", "The name as the compiler writes it"},
    {"region.line_begin", "First line in its file"},
    {"region.line_end", "Last line in its file"},
    {"region.module", "The program or library"},
    {"context", "Nodes of the call tree, parents before their children"},
    {"context.parent", "NULL: a root"},
    {"context.path", "The names from the root, joined with ->"},
    {"context.depth", "Roots have 0"},
    {"context.line", "Of the call"},
    {"location", "Machines, nodes, processes, threads, streams"},
    {"location.parent", "What it is a part of"},
    {"location.leaf", "1 where values were measured"},
    {"location.rank", "Of a process"},
    {"value", "Every number, as the file has it"},
    {"value.location", "NULL where the source has none"},
    {"node", "Inclusive and exclusive values, summed over locations"},
    {"summary", "Statistics that the file itself stores"},
    {"summary.statistic", "count, sum, min, max …"},
    {"measurement", "Statistics over the runs of a point"},
    {"measurement.std", "Standard deviation, divided by n"},
    {"event", "Intervals, moments and samples on the time line"},
    {"event.start", "Seconds since the run's start"},
    {"event.end", "Seconds; NULL: a moment"},
    {"event.kind", "sample, region, section, pause, kernel, memcpy, api …"},
    {"event.start_raw", "As stored"},
    {"event.end_raw", "As stored"},
    {"record", "Rows with columns of their own"},
    {"model", "Functions that the file stores"},
    {"model.set", "The name of the set of models; write it in quotes"},
    {"model.function", "In Extra-P's notation"},
    {"model.constant", "NULL where there are several segments"},
    {"term", "The terms of models, a row for each factor"},
    {"term.coefficient", "Of the whole term"},
    {"attribute", "Tags and everything else that is known of something"},
    {"attribute.owner", "dataset, run, metric, region, context, location, event or record"},
    {"attribute.owner_id", "Its id there"},
    {"problem", "What was odd while reading"},
    {"problem.severity", "note, warning or error"},
    {"frame", "The elements of a resource's trace"},
    {"stored_model", "Models in the file, of all kinds"},
    {"field", "The keys of the records"},
    {"change", "What checks found at each commit"},
    {".id", "Counts from 0"},
    {".source_id", "The id that the file gives, as text"},
    {".run", "run.id"},
    {".metric", "metric.id"},
    {".region", "region.id"},
    {".context", "context.id"},
    {".location", "location.id"},
    {".point", "point.id"},
    {".parameter", "parameter.id"},
    {".model", "model.id"},
};

static const char *meaning_of(const char *table, const char *column) {
    const char *found = NULL;
    size_t size = strlen(table);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const char *name = meanings[i].name;
        bool is_any = name[0] == '.';
        if (!is_any && (strncmp(name, table, size) != 0 || name[size] != (column ? '.' : '\0'))) continue;
        if (is_any && !column) continue;
        if (column && strcmp(name + (is_any ? 1 : size + 1), column) != 0) continue;
        if (!is_any || !found) found = meanings[i].text;
        if (!is_any) break;
    }
    return found;
}

/* Where it is known without counting; else -1. */
static int64_t rows_of(const as_dataset *ds, const char *table) {
    const struct {
        const char *name;
        uint64_t n;
    } known[] = {{"parameter", as_ds_parameters(ds)},
                 {"point", ds->n_points},
                 {"run", AS_COUNT(ds, runs)},
                 {"metric", AS_COUNT(ds, metrics)},
                 {"region", AS_COUNT(ds, regions)},
                 {"context", AS_COUNT(ds, contexts)},
                 {"location", AS_COUNT(ds, locations)},
                 {"value", as_ds_values(ds)},
                 {"event", as_ds_events(ds)},
                 {"model", AS_COUNT(ds, models)},
                 {"attribute", as_ds_attribute_count(ds)},
                 {"problem", as_ds_problems(ds)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, table) == 0) return (int64_t)known[i].n;
    }
    return -1;
}

static const char *text_of(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

static bool build_columns(as_builder *b, sqlite3 *db, const char *table) {
    sqlite3_stmt *columns;
    if (sqlite3_prepare_v2(db, "select name, type from pragma_table_info(?1)", -1, &columns, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(columns, 1, table, -1, SQLITE_TRANSIENT);
    as_build_array(b, "columns", false);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        as_build_object(b, NULL, false);
        as_build_text(b, "name", text_of(columns, 0));
        as_build_text(b, "type", text_of(columns, 1));
        as_build_text(b, "about", meaning_of(table, text_of(columns, 0)));
        as_build_end(b);
    }
    as_build_end(b);
    return sqlite3_finalize(columns) == SQLITE_OK;
}

static bool build_tables(as_builder *b, sqlite3 *db, const as_dataset *ds) {
    sqlite3_stmt *tables;
    bool fine = true;
    if (sqlite3_prepare_v2(db, "select name from sqlite_master order by rowid", -1, &tables, NULL) != SQLITE_OK)
        return false;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_array(b, "tables", false);
    while (fine && sqlite3_step(tables) == SQLITE_ROW) {
        const char *name = text_of(tables, 0);
        as_build_object(b, NULL, false);
        as_build_text(b, "name", name);
        as_build_text(b, "about", meaning_of(name, NULL));
        as_build_known(b, "rows", rows_of(ds, name), false);
        fine = build_columns(b, db, name);
        as_build_end(b);
    }
    as_build_end(b);
    as_build_end(b);
    return sqlite3_finalize(tables) == SQLITE_OK && fine;
}

static assay_status answer_schema(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_view_input *input;
    sqlite3 *db;
    as_builder b = as_builder_of(out);
    AS_TRY(as_request_input(viewing, request, "d", &input, error));
    as_dataset *datasets[] = {input->ds};
    AS_TRY(as_sql_open(datasets, NULL, 1, &db, error));
    assay_status status = build_tables(&b, db, input->ds) ? ASSAY_OK : as_sql_fail(db, error);
    sqlite3_close(db);
    return status;
}

const as_endpoint as_endpoint_schema = {.path = "schema", .answer = answer_schema};
