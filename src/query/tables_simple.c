/* The tables whose rows lie in the dataset as they are. One description each: columns, number of rows, cell. */
#include <math.h>

#include "query/tables.h"

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static as_cell id_cell(assay_id id) { return id == ASSAY_NONE ? as_cell_null() : as_cell_int(id); }
static as_cell row_cell(size_t row) { return as_cell_int((int64_t)row); }
/* -1 (unknown) is null. */
static as_cell natural_cell(int64_t number) { return number < 0 ? as_cell_null() : as_cell_int(number); }
static as_cell str_cell(const as_dataset *ds, as_str id) {
    return id == AS_NO_STR ? as_cell_null() : as_cell_text_n(as_ds_text(ds, id), as_str_size(&ds->strings, id));
}

#define COUNT_ROWS(member)                                                                                             \
    static size_t member##_rows(const as_vtab *table) { return AS_COUNT(table->view->ds, member); }

COUNT_ROWS(parameters)
COUNT_ROWS(runs)
COUNT_ROWS(metrics)
COUNT_ROWS(regions)
COUNT_ROWS(contexts)
COUNT_ROWS(locations)
COUNT_ROWS(summaries)
COUNT_ROWS(models)
COUNT_ROWS(terms)

static size_t problems_rows(const as_vtab *table) { return as_ds_problems(table->view->ds); }
/* Some problems show only when values are decoded; those found so far, when memory is out. */
static assay_status prepare_problems(const as_view *view, assay_error *error) {
    const as_patience *patience = view->patience;
    if (!as_ds_check(view->ds, patience) && patience && patience->is_over(patience->user))
        return as_fail(error, ASSAY_E_SQL, AS_NOWHERE, "", "interrupted");
    return ASSAY_OK;
}

static size_t points_rows(const as_vtab *table) { return table->view->ds->n_points; }
static size_t coordinates_rows(const as_vtab *table) {
    return table->view->ds->n_points * as_ds_parameters(table->view->ds);
}
static size_t records_rows(const as_vtab *table) { return as_table_rows(table->records); }

static as_cell parameter_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    return column == 0 ? row_cell(row) : str_cell(ds, AS_AT(as_str, &ds->parameters, row));
}

static as_cell point_cell(as_vtab *table, size_t row, int column) {
    return column == 0 ? row_cell(row) : as_view_label(table->view, (assay_id)row);
}

static as_cell coordinate_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    size_t n_parameters = as_ds_parameters(ds);
    if (column == 0) return row_cell(row / n_parameters);
    if (column == 1) return row_cell(row % n_parameters);
    return as_cell_real(as_ds_point(ds, (assay_id)(row / n_parameters))[row % n_parameters]);
}

static as_cell run_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_run *run = as_ds_run(ds, (assay_id)row);
    switch (column) {
    case 0: return row_cell(row);
    case 1: return str_cell(ds, run->source_id);
    case 2: return id_cell(run->point);
    case 3: return as_cell_int(run->repetition);
    case 4: return str_cell(ds, run->source);
    default: return as_cell_real(run->start_time);
    }
}

static as_cell metric_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_metric *metric = as_ds_metric(ds, (assay_id)row);
    switch (column) {
    case 0: return row_cell(row);
    case 1: return str_cell(ds, metric->source_id);
    case 2: return str_cell(ds, metric->name);
    case 3: return str_cell(ds, metric->display_name);
    case 4: return str_cell(ds, metric->unit);
    case 5: return str_cell(ds, metric->dtype);
    case 6: return as_cell_text(as_kind_name(metric->kind));
    case 7: return id_cell(metric->parent);
    default: return str_cell(ds, metric->description);
    }
}

static as_cell region_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_region *region = as_ds_region(ds, (assay_id)row);
    switch (column) {
    case 0: return row_cell(row);
    case 1: return str_cell(ds, region->source_id);
    case 2: return str_cell(ds, region->name);
    case 3: return str_cell(ds, region->mangled);
    case 4: return str_cell(ds, region->kind);
    case 5: return str_cell(ds, region->file);
    case 6: return natural_cell(region->line_begin);
    case 7: return natural_cell(region->line_end);
    default: return str_cell(ds, region->module);
    }
}

static as_cell context_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_context *context = as_ds_context(ds, (assay_id)row);
    switch (column) {
    case 0: return row_cell(row);
    case 1:
        return context->is_numbered ? as_view_number(table->view, context->source_id)
                                    : str_cell(ds, context->source_id);
    case 2: return id_cell(context->parent);
    case 3: return id_cell(context->region);
    case 4: return str_cell(ds, context->name);
    case 5: return as_view_path(table->view, (assay_id)row);
    case 6: return as_cell_int(context->depth);
    default: return natural_cell(context->line);
    }
}

static as_cell location_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_location *location = as_ds_location(ds, (assay_id)row);
    switch (column) {
    case 0: return row_cell(row);
    case 1: return str_cell(ds, location->source_id);
    case 2: return id_cell(location->parent);
    case 3: return str_cell(ds, location->kind);
    case 4: return str_cell(ds, location->name);
    case 5: return natural_cell(location->rank);
    default: return as_cell_int(location->leaf);
    }
}

static assay_status prepare_summaries(const as_view *view, assay_error *error) {
    const as_summary *summaries;
    size_t n;
    return as_ds_summaries(view->ds, &summaries, &n, error);
}

static as_cell summary_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_summary *summary = &AS_AT(as_summary, &ds->summaries, row);
    switch (column) {
    case 0: return id_cell(summary->metric);
    case 1: return id_cell(summary->context);
    case 2: return str_cell(ds, summary->statistic);
    default: return summary->value;
    }
}

static as_cell record_cell(as_vtab *table, size_t row, int column) {
    return as_table_get(table->records, row, (size_t)column);
}

static as_cell model_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_model *model = as_ds_model(ds, (assay_id)row);
    const as_model_set *set = model->set == ASSAY_NONE ? NULL : as_ds_model_set(ds, model->set);
    switch (column) {
    case 0: return row_cell(row);
    case 1: return set ? str_cell(ds, set->name) : as_cell_null();
    case 2: return id_cell(model->metric);
    case 3: return id_cell(model->context);
    case 4: return set ? str_cell(ds, set->modeler) : as_cell_null();
    case 5: return set ? str_cell(ds, set->measure) : as_cell_null();
    case 6: return as_view_function(table->view, model);
    case 7:
        return model->n_segments == 1 ? as_cell_real(as_ds_segment(ds, model->first_segment)->constant)
                                      : as_cell_null();
    case 8: return as_cell_real(model->RSS);
    case 9: return as_cell_real(model->rRSS);
    case 10: return as_cell_real(model->SMAPE);
    case 11: return as_cell_real(model->AR2);
    default: return as_cell_real(model->RE);
    }
}

static as_cell term_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_term *term = as_ds_term(ds, row);
    switch (column) {
    case 0: return id_cell(term->model);
    case 1: return as_cell_int(term->segment);
    case 2: return as_cell_int(term->term);
    case 3: return as_cell_real(term->coefficient);
    case 4: return id_cell(term->parameter);
    case 5: return str_cell(ds, term->exponent);
    default: return str_cell(ds, term->log_exponent);
    }
}

static as_cell problem_cell(as_vtab *table, size_t row, int column) {
    const as_dataset *ds = table->view->ds;
    const as_problem *problem = as_ds_problem(ds, row);
    switch (column) {
    case 0: return as_cell_text(as_severity_name(problem->severity));
    case 1: return as_cell_text(problem->rule);
    case 2: return problem->file ? as_cell_text(problem->file) : as_cell_null();
    case 3: return natural_cell(problem->offset);
    case 4: return problem->line ? as_cell_int(problem->line) : as_cell_null();
    case 5: return problem->column ? as_cell_int(problem->column) : as_cell_null();
    default: return as_cell_text(problem->message);
    }
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

const as_sql_table as_sql_tables[AS_N_TABLES] = {
    {.name = "parameter",
     .columns = "id INTEGER, name TEXT",
     .rows = parameters_rows,
     .cell = parameter_cell,
     .has_id = true,
     .n_keys = 1,
     .keys = {{1, true}},
     .export_key = "PRIMARY KEY(id)"},
    {.name = "point",
     .columns = "id INTEGER, label TEXT",
     .rows = points_rows,
     .cell = point_cell,
     .has_id = true,
     .n_keys = 1,
     .keys = {{1, true}},
     .export_key = "PRIMARY KEY(id)"},
    {.name = "coordinate",
     .columns = "point INTEGER, parameter INTEGER, value REAL",
     .rows = coordinates_rows,
     .cell = coordinate_cell,
     .n_keys = 2,
     .keys = {{0, false}, {1, false}},
     .export_key = "PRIMARY KEY(point, parameter)"},
    {.name = "run",
     .columns = "id INTEGER, source_id TEXT, point INTEGER, repetition INTEGER, source TEXT, start_time REAL",
     .rows = runs_rows,
     .cell = run_cell,
     .has_id = true,
     .n_keys = 2,
     .keys = {{1, true}, {2, false}},
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"point"}},
    {.name = "metric",
     .columns = "id INTEGER, source_id TEXT, name TEXT, display_name TEXT, unit TEXT, dtype TEXT, kind TEXT, parent "
                "INTEGER, description TEXT",
     .rows = metrics_rows,
     .cell = metric_cell,
     .has_id = true,
     .n_keys = 3,
     .keys = {{1, true}, {2, true}, {7, false}},
     .export_key = "PRIMARY KEY(id)"},
    {.name = "region",
     .columns = "id INTEGER, source_id TEXT, name TEXT, mangled TEXT, kind TEXT, file TEXT, line_begin INTEGER, "
                "line_end INTEGER, module TEXT",
     .rows = regions_rows,
     .cell = region_cell,
     .has_id = true,
     .n_keys = 2,
     .keys = {{1, true}, {2, true}},
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"name"}},
    {.name = "context",
     .columns = "id INTEGER, source_id TEXT, parent INTEGER, region INTEGER, name TEXT, path TEXT, depth INTEGER, line "
                "INTEGER",
     .rows = contexts_rows,
     .cell = context_cell,
     .has_id = true,
     .n_keys = 5,
     .keys = {{1, true}, {5, true}, {2, false}, {3, false}, {4, true}},
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"parent", "region", "path"}},
    {.name = "location",
     .columns = "id INTEGER, source_id TEXT, parent INTEGER, kind TEXT, name TEXT, rank INTEGER, leaf INTEGER",
     .rows = locations_rows,
     .cell = location_cell,
     .has_id = true,
     .n_keys = 3,
     .keys = {{1, true}, {5, false}, {2, false}},
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"parent"}},
    {.name = "value",
     .columns = "run INTEGER, metric INTEGER, context INTEGER, location INTEGER, value",
     .module = "assay_value",
     .export_indexes = {"context, metric, run"}},
    {.name = "node",
     .columns = "run INTEGER, metric INTEGER, context INTEGER, inclusive, exclusive",
     .module = "assay_node",
     .export_indexes = {"context, metric, run"}},
    {.name = "summary",
     .columns = "metric INTEGER, context INTEGER, statistic TEXT, value",
     .rows = summaries_rows,
     .cell = summary_cell,
     .prepare = prepare_summaries,
     .n_keys = 2,
     .keys = {{1, false}, {0, false}},
     .export_indexes = {"context, metric"}},
    {.name = "measurement",
     .columns = "point INTEGER, metric INTEGER, context INTEGER, mean REAL, median REAL, minimum REAL, maximum REAL, "
                "std REAL, repetitions INTEGER",
     .module = "assay_measurement",
     .export_indexes = {"context, metric, point"}},
    {.name = "event",
     .columns = "id INTEGER, source_id TEXT, run INTEGER, location INTEGER, context INTEGER, name TEXT, kind TEXT, "
                "start REAL, \"end\" REAL, start_raw, end_raw",
     .module = "assay_event",
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"run, location", "context"}},
    {.name = "record", /* stands for all tables of records; columns are the source's own */
     .rows = records_rows,
     .cell = record_cell,
     .has_id = true,
     .n_keys = 1,
     .keys = {{1, false}},
     .export_indexes = {"id", "run"}},
    {.name = "model",
     .columns = "id INTEGER, \"set\" TEXT, metric INTEGER, context INTEGER, modeler TEXT, measure TEXT, function TEXT, "
                "constant REAL, RSS REAL, rRSS REAL, SMAPE REAL, AR2 REAL, RE REAL",
     .rows = models_rows,
     .cell = model_cell,
     .has_id = true,
     .n_keys = 2,
     .keys = {{3, false}, {2, false}},
     .export_key = "PRIMARY KEY(id)",
     .export_indexes = {"context, metric"}},
    {.name = "term",
     .columns = "model INTEGER, segment INTEGER, term INTEGER, coefficient REAL, parameter INTEGER, exponent TEXT, "
                "log_exponent TEXT",
     .rows = terms_rows,
     .cell = term_cell,
     .n_keys = 1,
     .keys = {{0, false}},
     .export_indexes = {"model"}},
    {.name = "attribute",
     .columns = "owner TEXT, owner_id INTEGER, \"key\" TEXT, value",
     .module = "assay_attribute",
     .export_indexes = {"owner, owner_id", "\"key\""}},
    {.name = "problem",
     .columns = "severity TEXT, rule TEXT, file TEXT, offset INTEGER, line INTEGER, \"column\" INTEGER, message TEXT",
     .rows = problems_rows,
     .cell = problem_cell,
     .prepare = prepare_problems},
};

/* ---- the tables of a dataset ------------------------------------------------------------------------------------- */

bool as_each_table(const as_view *view,
                   bool (*visit)(void *user, const as_sql_table *table, const char *name, const as_table *records),
                   void *user) {
    const as_dataset *ds = view->ds;
    const as_sql_table *record_table = NULL;
    for (size_t i = 0; i < AS_N_TABLES; i++) {
        const as_sql_table *table = &as_sql_tables[i];
        const as_table *records = NULL;
        if (table->rows == records_rows) {
            record_table = table;
            records = view->no_records ? view->no_records : as_ds_records(ds, "record");
        }
        if (!visit(user, table, table->name, records)) return false;
    }
    for (size_t i = 0; i < AS_COUNT(ds, records); i++) {
        const as_record_table *own = &AS_AT(as_record_table, &ds->records, i);
        const char *name = as_ds_text(ds, own->name);
        if (strcmp(name, "record") != 0 && !visit(user, record_table, name, own->table)) return false;
    }
    return true;
}

/* Whether one of the first n columns already has this name, as SQLite compares names. */
static bool is_taken(char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (sqlite3_stricmp(names[i], name) == 0) return true;
    }
    return false;
}

/* Columns of records come from the file: names that differ in case only get a number. */
static char *unique_name(char *const *names, size_t n, const char *wanted) {
    char *name = sqlite3_mprintf("%s", wanted);
    for (unsigned number = 2; name && is_taken(names, n, name); number++) {
        sqlite3_free(name);
        name = sqlite3_mprintf("%s_%u", wanted, number);
    }
    return name;
}

static char *record_schema(const as_table *records) {
    char *names[AS_MAX_COLUMNS];
    size_t n = 0;
    sqlite3_str *schema = sqlite3_str_new(NULL);
    while (n < as_table_columns(records) && n < AS_MAX_COLUMNS) {
        names[n] = unique_name(names, n, as_table_column_name(records, n));
        if (!names[n]) break;
        sqlite3_str_appendf(schema, "%s\"%w\"%s", n ? ", " : "", names[n], n < 2 ? " INTEGER" : "");
        n++;
    }
    bool failed = n < as_table_columns(records) && n < AS_MAX_COLUMNS;
    for (size_t i = 0; i < n; i++) sqlite3_free(names[i]);
    char *text = sqlite3_str_finish(schema);
    if (!failed) return text;
    sqlite3_free(text);
    return NULL;
}

char *as_table_schema(const as_sql_table *table, const as_table *records) {
    return records ? record_schema(records) : sqlite3_mprintf("%s", table->columns);
}
