/* Views for requests, kept. */
#include "server/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dataset/pieces.h"

/* Bottom-up tables end where going on would take more steps; a function alone may take more of them. */
enum { STEPS_OF_ALL = 1 << 17, STEPS_OF_ONE = 1 << 19 };
/* Rows have two numbers of each. */
enum { MOST_METRICS = 256 };

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static assay_status choose_kind(const as_request *request, as_asked_view *asked, assay_error *error) {
    static const char *const words[] = {"top-down", "bottom-up", "flat"};
    const char *view = as_request_text(request, "view"), *by = as_request_text(request, "by");
    size_t i = 0;
    while (view && i < 3 && strcmp(words[i], view) != 0) i++;
    if (i == 3)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'view' cannot be '%.100s'; top-down, bottom-up or flat",
                       view);
    as_view_request *wanted = &asked->tree.request;
    wanted->kind = asked->regrouped == AS_REGROUP_KERNEL ? AS_VIEW_BOTTOM_UP
                   : asked->regrouped >= 0               ? AS_VIEW_TOP_DOWN
                                                         : (as_view_kind)i;
    wanted->without_root = true;
    if (wanted->kind != AS_VIEW_FLAT) return ASSAY_OK;
    wanted->group = as_group_of(by);
    if (!by && as_view_has_scopes(asked->tree.ds)) wanted->group = AS_GROUP_SCOPE;
    if (by && wanted->group == AS_GROUP_SCOPE && strcmp(by, "scope") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "'by' cannot be '%.100s'; region, file, module, kind, scope, kernel, api or nvtx", by);
    return ASSAY_OK;
}

/* The metric of another dataset that has the same name; ASSAY_NONE: none has. */
static assay_id same_metric(const as_dataset *ds, assay_id id, const as_dataset *other) {
    const char *name = ds == other ? NULL : as_ds_text(ds, as_ds_metric(ds, id)->name);
    if (ds == other) return id;
    for (assay_id at = 0; name && at < AS_COUNT(other, metrics); at++) {
        const char *known = as_ds_text(other, as_ds_metric(other, at)->name);
        if (known && strcmp(known, name) == 0) return at;
    }
    return ASSAY_NONE;
}

assay_id as_asked_input_metric(const as_asked_view *asked, assay_id metric) {
    return same_metric(asked->tree.ds, metric, asked->input->ds);
}

static assay_status add_numbered_metrics(const char *text, as_asked_view *asked, assay_error *error) {
    const as_dataset *ds = asked->input->ds;
    for (const char *at = text; *at; at += *at == ',') {
        size_t size = strcspn(at, ",");
        as_number number;
        if (!as_number_parse(at, size, &number) || number.kind == AS_REAL || as_number_real(number) < 0 ||
            as_number_real(number) >= (double)AS_COUNT(ds, metrics))
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no metric with the number '%.*s'",
                           size > 40 ? 40 : (int)size, at);
        assay_id id = same_metric(ds, (assay_id)as_number_real(number), asked->tree.ds);
        if (id == ASSAY_NONE)
            return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "the metric with the number '%.*s' is not in it",
                           size > 40 ? 40 : (int)size, at);
        if (!as_vec_append(&asked->tree.metrics, &id, 1)) return as_fail_memory(error, NULL);
        at += size;
    }
    asked->tree.n_asked = asked->tree.metrics.count;
    return ASSAY_OK;
}

static assay_status choose_metrics(const as_request *request, as_asked_view *asked, assay_error *error) {
    const char *numbers = as_request_text(request, "metrics");
    if (numbers)
        AS_TRY(add_numbered_metrics(numbers, asked, error));
    else
        AS_TRY(as_request_cli_status(&asked->made, as_tree_choose_metrics(&asked->tree), error));
    if (asked->tree.metrics.count <= MOST_METRICS) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "more than %d metrics at once", MOST_METRICS);
}

/* The parameters that something depends on. NULL when memory is out. */
static char *words_of(const as_request *request, const char *takes) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool fine = as_request_words(request, takes, &text) && as_vec_append(&text, "", 1);
    char *words = fine ? strdup(text.data) : NULL;
    as_vec_free(&text);
    return words;
}

static assay_status choose(const as_request *request, as_asked_view *asked, assay_error *error) {
    as_tree_view *tree = &asked->tree;
    int64_t root;
    AS_TRY(choose_kind(request, asked, error));
    AS_TRY(choose_metrics(request, asked, error));
    AS_TRY(as_request_cli_status(&asked->made, as_choose_runs(tree->cli, tree->ds, &tree->runs), error));
    AS_TRY(as_request_cli_status(&asked->made, as_choose_locations(tree->cli, tree->ds, &tree->locations), error));
    AS_TRY(as_request_number(request, "root", 0, (int64_t)AS_COUNT(tree->ds, contexts) - 1, -1, &root, error));
    if (root >= 0) asked->root = (assay_id)root;
    if (asked->regrouped == AS_REGROUP_KERNEL)
        AS_TRY(as_request_cli_status(&asked->made, as_tree_choose_names(tree), error));
    AS_TRY(as_request_cli_status(&asked->made, as_tree_choose_hidden(tree), error));
    asked->places = words_of(request, "run location");
    asked->hides = words_of(request, "hide hide-subtree");
    return asked->places && asked->hides ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_asked_view_make(as_viewing *viewing, const as_request *request, as_asked_view *out,
                                assay_error *error) {
    static const as_tree_ask ask = {.by_scope = true};
    *out = (as_asked_view){.root = ASSAY_NONE, .regrouped = -1};
    const char *by = as_request_text(request, "by");
    as_regrouping how;
    as_vec_init(&out->tree.metrics, sizeof(assay_id), NULL);
    as_vec_init(&out->tree.name, 1, NULL);
    AS_TRY(as_request_input(viewing, request, "d", &out->input, error));
    AS_TRY(as_request_number(request, "d", 0, INT32_MAX, 0, &out->number, error));
    if (by && as_regrouping_of(by, &how)) out->regrouped = (int)how;
    const char *takes = out->regrouped < 0 ? "metric run location hide hide-subtree min-share"
                                           : "metric run location hide hide-subtree min-share by";
    AS_TRY(as_request_cli_make(request, "tree", takes, NULL, &out->made, error));
    out->tree.cli = &out->made.cli;
    out->tree.ask = &ask;
    out->tree.ds = out->input->ds;
    if (out->regrouped >= 0) AS_TRY(as_view_input_regroup(out->input, how, &out->tree.ds, error));
    if (AS_COUNT(out->tree.ds, contexts) == 0)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "%s: has no call tree", out->input->path);
    return choose(request, out, error);
}

void as_asked_view_free(as_asked_view *asked) {
    as_tree_view_close(&asked->tree);
    as_request_cli_free(&asked->made);
    free(asked->places);
    free(asked->hides);
}

/* ---- tables and values ------------------------------------------------------------------------------------------- */

/* A table with what its request points to. */
typedef struct kept_table {
    as_view_table *table;
    uint8_t *joinings;
    bool *wanted;
    uint8_t *hidden;
    uint64_t number; /* as that of as_asked_table */
} kept_table;

static void free_table(void *object) {
    kept_table *kept = object;
    if (!kept) return;
    as_view_table_free(kept->table);
    free(kept->joinings);
    free(kept->wanted);
    free(kept->hidden);
    free(kept);
}
static void free_values(void *values) { as_view_values_free(values); }

/* Whether lines may be one with whom they call. Functions, and lists of them, have no lines. */
static bool joins_calls(const as_asked_view *asked) {
    const as_view_request *request = &asked->tree.request;
    bool has_lines =
        request->kind == AS_VIEW_TOP_DOWN || (request->kind == AS_VIEW_FLAT && request->group == AS_GROUP_SCOPE);
    return has_lines && as_ds_has_roles(asked->tree.ds);
}

/* Whether metrics and places tell which are. */
static bool depends_on_metrics(const as_asked_view *asked) {
    return joins_calls(asked) && as_ds_has_calling_lines(asked->tree.ds);
}

/* How keys go on that have metrics. */
#define METRIC_MARK " m"

/* What a table is called: the view, and of bottom-up ones the function whose callers it has (ASSAY_NONE: all);
 * without_metrics: how the keys begin that have the metrics and places it depends on. NULL when memory is out. */
static char *make_key(const as_viewing *viewing, const as_asked_view *asked, assay_id function, bool without_metrics) {
    const as_view_request *request = &asked->tree.request;
    as_vec text;
    char numbers[200];
    as_vec_init(&text, 1, NULL);
    snprintf(numbers, sizeof numbers, "table %" PRId64 " %d %d %d %" PRId64 " %" PRId64, asked->number,
             asked->regrouped, (int)request->kind, (int)request->group,
             asked->root == ASSAY_NONE ? -1 : (int64_t)asked->root, function == ASSAY_NONE ? -1 : (int64_t)function);
    bool fine = as_vec_text(&text, numbers), depends = depends_on_metrics(asked) && !without_metrics;
    fine = fine && as_vec_text(&text, asked->hides);
    for (size_t i = 0; fine && depends && i < asked->tree.metrics.count; i++) {
        assay_id metric = as_asked_metric(asked, i);
        snprintf(numbers, sizeof numbers, METRIC_MARK "%u", (unsigned)metric);
        fine =
            as_vec_text(&text, numbers) && as_vec_text(&text, as_viewing_formulas_of(viewing, asked->tree.ds, metric));
    }
    if (fine && depends) fine = as_vec_text(&text, "\n") && as_vec_text(&text, asked->places);
    if (fine && without_metrics) fine = as_vec_text(&text, METRIC_MARK);
    fine = fine && as_vec_append(&text, "", 1);
    char *key = fine ? strdup(text.data) : NULL;
    as_vec_free(&text);
    return key;
}

static char *table_key(const as_viewing *viewing, const as_asked_view *asked, assay_id function) {
    return make_key(viewing, asked, function, false);
}

static char *metric_key(const as_viewing *viewing, const as_asked_view *asked, const char *what, const char *table,
                        assay_id metric) {
    char *key = NULL;
    const char *formulas = as_viewing_formulas_of(viewing, asked->tree.ds, metric);
    int size = asprintf(&key, "%s of %s: %u%s\n%s", what, table, (unsigned)metric, formulas, asked->places);
    return size < 0 ? NULL : key;
}
static char *values_key(const as_viewing *viewing, const as_asked_view *asked, const char *table, assay_id metric) {
    return metric_key(viewing, asked, "values", table, metric);
}

char *as_asked_key(const as_viewing *viewing, const as_asked_view *asked, const char *what, assay_id metric) {
    char *table = table_key(viewing, asked, ASSAY_NONE);
    char *key = table ? metric_key(viewing, asked, what, table, metric) : NULL;
    free(table);
    return key;
}

as_view_source as_asked_source(const as_asked_view *asked) {
    const as_tree_view *tree = &asked->tree;
    return (as_view_source){.ds = tree->ds,
                            .runs = tree->runs.runs,
                            .n_runs = tree->runs.n_runs,
                            .point = tree->runs.point,
                            .locations = tree->locations.wanted};
}

static void free_data(void *object) {
    as_view_data_free(object);
    free(object);
}

/* NULL: such columns are not kept, or memory is out. Bottom-up, each function that is opened needs them again, which
 * only sparse ones leave room for; those of formulas are nobody else's. */
static char *column_key(const as_viewing *viewing, const as_asked_view *asked, assay_id metric) {
    char *key = NULL;
    const as_metric *of = as_ds_metric(asked->tree.ds, metric);
    bool is_kept = viewing->keeps_columns || (asked->tree.request.kind == AS_VIEW_BOTTOM_UP && of->is_stored);
    if (!is_kept || of->kind == AS_KIND_DERIVED) return NULL;
    int size = asprintf(&key, "column %" PRId64 " %d %u\n%s", asked->number, asked->regrouped, (unsigned)metric,
                        asked->places);
    return size < 0 ? NULL : key;
}

/* What is kept of them stays until this request ends, whatever room is made meanwhile. */
static void hold_columns(as_viewing *viewing, const as_asked_view *asked, size_t n) {
    for (size_t k = 0; k < n; k++) {
        char *key = column_key(viewing, asked, as_asked_metric(asked, k));
        if (key) as_viewing_find(viewing, key);
        free(key);
    }
}

/* The column of a metric where such are kept; NULL: who needs it loads it. */
static assay_status find_column(as_viewing *viewing, const as_asked_view *asked, assay_id metric,
                                const as_view_column **out, assay_error *error) {
    char *key = column_key(viewing, asked, metric);
    *out = NULL;
    if (!key) return ASSAY_OK;
    as_view_data *kept = as_viewing_find(viewing, key);
    assay_status status = ASSAY_OK;
    if (!kept) {
        as_viewing_expect(viewing, AS_COUNT(asked->tree.ds, contexts) * 2 * (sizeof(double) + sizeof(bool)));
        kept = calloc(1, sizeof *kept);
        as_view_source source = as_asked_source(asked);
        source.only_values = true;
        status = kept ? as_view_load(&source, &metric, 1, NULL, 0, kept, error) : as_fail_memory(error, NULL);
        if (status != ASSAY_OK && kept) free_data(kept);
        size_t bytes = status == ASSAY_OK ? as_view_column_bytes(kept->columns, AS_COUNT(asked->tree.ds, contexts)) : 0;
        if (status == ASSAY_OK && !as_viewing_keep(viewing, key, kept, bytes, free_data))
            status = as_fail_memory(error, NULL);
    }
    free(key);
    if (status == ASSAY_OK) *out = kept->columns;
    return status;
}

static assay_status load(as_viewing *viewing, const as_asked_view *asked, const assay_id *metric, as_view_data *out,
                         assay_error *error) {
    const as_view_column *column = NULL;
    as_view_source source = as_asked_source(asked);
    bool has_root = asked->root != ASSAY_NONE;
    *out = (as_view_data){0};
    if (metric) AS_TRY(find_column(viewing, asked, *metric, &column, error));
    source.loaded = column;
    source.n_loaded = column != NULL;
    return as_view_load(&source, metric, metric ? 1 : 0, has_root ? &asked->root : NULL, has_root, out, error);
}

/* The last metric that was loaded: what is asked next may be about it, and there is memory for one at a time only. */
typedef struct loaded {
    as_view_data data;
    assay_id metric;        /* ASSAY_NONE: none yet */
    as_view_values *values; /* of the first metric, where the table was made with them; else NULL */
} loaded;

static assay_status load_metric(as_viewing *viewing, const as_asked_view *asked, assay_id metric, loaded *out,
                                assay_error *error) {
    if (out->metric == metric) return ASSAY_OK;
    as_view_data_free(&out->data);
    assay_status status = load(viewing, asked, &metric, &out->data, error);
    out->metric = status == ASSAY_OK ? metric : ASSAY_NONE;
    return status;
}

/* What may be joined is the same for all metrics. NULL when memory is out. */
static const uint8_t *find_all_joinings(as_viewing *viewing, const as_asked_view *asked) {
    char key[64];
    snprintf(key, sizeof key, "joinings %" PRId64 " %d", asked->number, asked->regrouped);
    uint8_t *joinings = as_viewing_find(viewing, key);
    if (joinings) return joinings;
    joinings = as_find_joinings(asked->tree.ds);
    bool is_kept = joinings && as_viewing_keep(viewing, key, joinings, AS_COUNT(asked->tree.ds, contexts), free);
    return is_kept ? joinings : NULL;
}

/* The first metric last: its values are needed next. */
static assay_status find_joinings(as_viewing *viewing, const as_asked_view *asked, loaded *last, uint8_t **out,
                                  assay_error *error) {
    size_t n = AS_COUNT(asked->tree.ds, contexts);
    const uint8_t *all = find_all_joinings(viewing, asked);
    *out = all ? malloc(n + 1) : NULL;
    if (!*out) return as_fail_memory(error, NULL);
    memcpy(*out, all, n);
    for (size_t i = depends_on_metrics(asked) ? asked->tree.metrics.count : 0; i-- > 0;) {
        AS_TRY(load_metric(viewing, asked, as_asked_metric(asked, i), last, error));
        as_view_unjoin(&last->data, *out);
    }
    return ASSAY_OK;
}

/* The name of the function alone. */
static bool *name_function(const as_dataset *ds, assay_id function) {
    bool *wanted = calloc(ds->strings.entries.count + 1, sizeof *wanted);
    as_str name = as_ds_context(ds, function)->name;
    if (wanted && name != AS_NO_STR) wanted[name] = true;
    return wanted;
}

/* What the table's request points to must last as long as the table. False when memory is out. */
static bool keep_names(const as_asked_view *asked, assay_id function, kept_table *out) {
    const as_tree_view *tree = &asked->tree;
    size_t n = tree->ds->strings.entries.count + 1;
    if (function != ASSAY_NONE)
        out->wanted = name_function(tree->ds, function);
    else if (tree->wanted && (out->wanted = malloc(n * sizeof *out->wanted)))
        memcpy(out->wanted, tree->wanted, n * sizeof *out->wanted);
    if (tree->hidden && (out->hidden = malloc(n))) memcpy(out->hidden, tree->hidden, n);
    return (out->wanted || (function == ASSAY_NONE && !tree->wanted)) && (out->hidden || !tree->hidden);
}

/* out has joinings where there are any. */
static assay_status make_table(as_viewing *viewing, const as_asked_view *asked, assay_id function, loaded *last,
                               kept_table *out, assay_error *error) {
    as_view_request request = asked->tree.request;
    as_view_data data = {0};
    request.max_steps = function == ASSAY_NONE ? STEPS_OF_ALL : STEPS_OF_ONE;
    if (!keep_names(asked, function, out)) return as_fail_memory(error, NULL);
    request.joins_calls = joins_calls(asked);
    request.wanted = out->wanted;
    request.hidden = out->hidden;
    request.joinings = out->joinings;
    /* Where only a walk finds values, it is to make the table of them; others are had apart, and only then take room */
    bool is_walked = request.kind == AS_VIEW_BOTTOM_UP ? request.hidden != NULL : request.wanted != NULL;
    bool has_metric = asked->tree.metrics.count > 0 && is_walked;
    assay_status status = has_metric ? load_metric(viewing, asked, as_asked_metric(asked, 0), last, error)
                                     : load(viewing, asked, NULL, &data, error);
    if (status == ASSAY_OK)
        status = as_view_table_new(has_metric ? &last->data : &data, &request, &out->table, &last->values, error);
    as_view_data_free(&data);
    return status;
}

static size_t bytes_of(const as_asked_view *asked, const kept_table *kept) {
    return as_view_table_bytes(kept->table) + (kept->joinings ? AS_COUNT(asked->tree.ds, contexts) : 0) +
           ((kept->wanted != NULL) + (size_t)(kept->hidden != NULL)) * asked->tree.ds->strings.entries.count;
}

/* About what the table and the first values of a view take, and as much again while they are made. */
static size_t expected_bytes(const as_asked_view *asked) {
    const as_dataset *ds = asked->tree.ds;
    const as_view_request *request = &asked->tree.request;
    size_t n = asked->root == ASSAY_NONE ? AS_COUNT(ds, contexts) : as_ds_context(ds, asked->root)->subtree;
    /* A tree of scopes has calls below their callers, and the functions */
    bool by_scope = request->kind == AS_VIEW_FLAT && request->group == AS_GROUP_SCOPE;
    if (by_scope) n += AS_COUNT(ds, regions) < n ? AS_COUNT(ds, regions) : n;
    return 2 * n * (sizeof(as_view_item) + 2 * sizeof(double));
}

static bool joins_the_same(const void *object, const void *joinings) {
    const kept_table *kept = object;
    return kept->joinings && memcmp(kept->joinings, joinings, AS_COUNT(kept->table->ds, contexts)) == 0;
}

/* The table of other metrics or places, where these join the same, as they mostly do: it is then that of this one.
 * NULL: there is none. */
static kept_table *take_same(as_viewing *viewing, const as_asked_view *asked, assay_id function,
                             const uint8_t *joinings) {
    char *beginning = depends_on_metrics(asked) ? make_key(viewing, asked, function, true) : NULL;
    kept_table *kept = beginning ? as_viewing_take_like(viewing, beginning, joins_the_same, joinings) : NULL;
    free(beginning);
    return kept;
}

static assay_status new_table(as_viewing *viewing, const as_asked_view *asked, assay_id function, loaded *last,
                              kept_table **out, assay_error *error) {
    uint8_t *joinings = NULL;
    assay_status status = joins_calls(asked) ? find_joinings(viewing, asked, last, &joinings, error) : ASSAY_OK;
    *out = status == ASSAY_OK ? take_same(viewing, asked, function, joinings) : NULL;
    if (status != ASSAY_OK || *out) {
        free(joinings);
        return status;
    }
    as_viewing_expect(viewing, expected_bytes(asked));
    kept_table *kept = calloc(1, sizeof *kept);
    if (!kept) {
        free(joinings);
        return as_fail_memory(error, NULL);
    }
    kept->joinings = joinings;
    kept->number = ++viewing->n_tables;
    status = make_table(viewing, asked, function, last, kept, error);
    if (status == ASSAY_OK)
        *out = kept;
    else
        free_table(kept);
    return status;
}

static assay_status find_table(as_viewing *viewing, const as_asked_view *asked, assay_id function, const char *key,
                               loaded *last, as_asked_table *out, assay_error *error) {
    kept_table *kept = as_viewing_find(viewing, key);
    if (!kept) {
        AS_TRY(new_table(viewing, asked, function, last, &kept, error));
        if (!as_viewing_keep(viewing, key, kept, bytes_of(asked, kept), free_table)) return as_fail_memory(error, NULL);
    }
    out->table = kept->table;
    out->number = kept->number;
    return ASSAY_OK;
}

static assay_status find_values(as_viewing *viewing, const as_asked_view *asked, const char *of,
                                const as_view_table *table, assay_id metric, loaded *last, const as_view_values **out,
                                assay_error *error) {
    char *key = values_key(viewing, asked, of, metric);
    as_view_values *values = key ? as_viewing_find(viewing, key) : NULL;
    assay_status status = key ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK && !values) {
        bool is_made = last->values && last->values->metric == metric;
        if (is_made) {
            values = last->values;
            last->values = NULL;
        } else {
            as_viewing_expect(viewing, as_view_items(table) * 2 * sizeof(double));
            status = load_metric(viewing, asked, metric, last, error);
            if (status == ASSAY_OK) status = as_view_values_new(table, &last->data, &values, error);
        }
        if (status == ASSAY_OK && !as_viewing_keep(viewing, key, values, as_view_values_bytes(values), free_values))
            status = as_fail_memory(error, NULL);
    }
    free(key);
    *out = status == ASSAY_OK ? values : NULL;
    return status;
}

static assay_status get(as_viewing *viewing, const as_asked_view *asked, assay_id function, size_t n,
                        as_asked_table *out, assay_error *error) {
    char *key = table_key(viewing, asked, function);
    loaded last = {.metric = ASSAY_NONE};
    *out = (as_asked_table){.values = calloc(n + 1, sizeof *out->values)};
    assay_status status = key && out->values ? ASSAY_OK : as_fail_memory(error, NULL);
    hold_columns(viewing, asked, n);
    if (status == ASSAY_OK) status = find_table(viewing, asked, function, key, &last, out, error);
    for (; status == ASSAY_OK && out->n_values < n; out->n_values++)
        status = find_values(viewing, asked, key, out->table, as_asked_metric(asked, out->n_values), &last,
                             &out->values[out->n_values], error);
    as_view_values_free(last.values);
    as_view_data_free(&last.data);
    if (last.metric != ASSAY_NONE && !viewing->keeps_columns) as_give_back_memory();
    free(key);
    return status;
}

/* ---- what is hidden ---------------------------------------------------------------------------------------------- */

/* Bottom-up, what is hidden changes what others are. */
static bool is_part_of_all(const as_asked_view *asked) {
    return asked->tree.hidden && asked->tree.request.kind != AS_VIEW_BOTTOM_UP;
}

/* The same view with nothing hidden; what it points to stays that of the other. */
as_asked_view as_asked_view_of_all(const as_asked_view *asked) {
    static char nothing[] = "";
    as_asked_view plain = *asked;
    plain.tree.hidden = NULL;
    plain.tree.request.hidden = NULL;
    plain.hides = nothing;
    return plain;
}

/* Its table, unless that is known. */
static assay_status get_all(as_viewing *viewing, const as_asked_view *asked, size_t n, as_asked_table *all,
                            assay_error *error) {
    as_asked_view plain = as_asked_view_of_all(asked);
    return all->table ? ASSAY_OK : get(viewing, &plain, ASSAY_NONE, n, all, error);
}

static assay_status hide_table(as_viewing *viewing, const as_asked_view *asked, const char *key,
                               const as_view_table *all, const as_view_table **out, assay_error *error) {
    kept_table *kept = calloc(1, sizeof *kept);
    as_viewing_expect(viewing, as_view_items(all) * (sizeof(as_view_item) + 2 * sizeof(double)));
    assay_status status = kept && keep_names(asked, ASSAY_NONE, kept) ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_view_table_hide(all, kept->hidden, &kept->table, error);
    if (status != ASSAY_OK) {
        free_table(kept);
        return status;
    }
    *out = kept->table;
    return as_viewing_keep(viewing, key, kept, bytes_of(asked, kept), free_table) ? ASSAY_OK
                                                                                  : as_fail_memory(error, NULL);
}

static assay_status hide_values(as_viewing *viewing, const char *key, const as_view_table *all,
                                const as_view_values *of_all, const as_view_table *table, const as_view_values **out,
                                assay_error *error) {
    as_view_values *values;
    AS_TRY(as_view_values_hide(table, all, of_all, &values, error));
    *out = values;
    return as_viewing_keep(viewing, key, values, as_view_values_bytes(values), free_values)
               ? ASSAY_OK
               : as_fail_memory(error, NULL);
}

/* Whether there is no room for a table and its values twice, of all and of what is shown. */
static bool fills_half(const as_view_table *table, size_t n) {
    return as_view_table_bytes(table) + n * as_view_items(table) * 2 * sizeof(double) > AS_LEFT_LIMIT / 2;
}

/* Takes the table of all and its values, and makes what is shown of them, under keys of its own: `keys`, first that of
 * the table. */
static assay_status hide_here(as_viewing *viewing, const as_asked_view *asked, size_t n, char *const *keys,
                              assay_error *error) {
    as_asked_view plain = as_asked_view_of_all(asked);
    as_view_values **values = calloc(n + 1, sizeof *values);
    char *key = table_key(viewing, &plain, ASSAY_NONE);
    kept_table *kept = key ? as_viewing_take(viewing, key) : NULL;
    bool fine = values && kept && keep_names(asked, ASSAY_NONE, kept);
    size_t n_taken = 0, *numbers = calloc(n + 1, sizeof *numbers);
    for (size_t k = 0; fine && numbers && k < n; k++) { /* a metric may be asked for twice */
        char *of = values_key(viewing, &plain, key, as_asked_metric(asked, k));
        values[n_taken] = of ? as_viewing_take(viewing, of) : NULL;
        numbers[n_taken] = k;
        n_taken += values[n_taken] != NULL;
        free(of);
    }
    assay_status status = fine && numbers ? as_view_table_hide_here(kept->table, kept->hidden, values, n_taken, error)
                                          : as_fail_memory(error, NULL);
    for (size_t i = 0; i < n_taken; i++) {
        if (status != ASSAY_OK)
            as_view_values_free(values[i]);
        else if (!as_viewing_keep(viewing, keys[1 + numbers[i]], values[i], as_view_values_bytes(values[i]),
                                  free_values))
            status = as_fail_memory(error, NULL);
    }
    if (status != ASSAY_OK)
        free_table(kept);
    else if (!as_viewing_keep(viewing, keys[0], kept, bytes_of(asked, kept), free_table))
        status = as_fail_memory(error, NULL);
    free(key);
    free(values);
    free(numbers);
    return status;
}

/* keys: of the table, and of the values of each metric. Returns whether all of them are known. */
static bool find_shown(as_viewing *viewing, char *const *keys, size_t n, as_asked_table *out) {
    const kept_table *kept = as_viewing_find(viewing, keys[0]);
    bool has_all = kept != NULL;
    out->table = kept ? kept->table : NULL;
    for (size_t k = 0; k < n; k++) {
        out->values[k] = as_viewing_find(viewing, keys[1 + k]);
        has_all &= out->values[k] != NULL;
    }
    out->n_values = n;
    return has_all;
}

/* What is not known yet from the view of all: beside it, or in its place. */
static assay_status make_shown(as_viewing *viewing, const as_asked_view *asked, size_t n, char *const *keys,
                               as_asked_table *out, as_asked_table *all, assay_error *error) {
    if (out->table && fills_half(out->table, n)) {
        for (size_t k = 0; k <= n; k++) as_viewing_forget(viewing, keys[k]);
        out->table = NULL;
    }
    AS_TRY(get_all(viewing, asked, n, all, error));
    if (fills_half(all->table, n)) {
        AS_TRY(hide_here(viewing, asked, n, keys, error));
        return find_shown(viewing, keys, n, out) ? ASSAY_OK : as_fail_memory(error, NULL);
    }
    if (!out->table) AS_TRY(hide_table(viewing, asked, keys[0], all->table, &out->table, error));
    for (size_t k = 0; k < n; k++) {
        out->values[k] = as_viewing_find(viewing, keys[1 + k]);
        if (!out->values[k])
            AS_TRY(hide_values(viewing, keys[1 + k], all->table, all->values[k], out->table, &out->values[k], error));
    }
    return ASSAY_OK;
}

/* As get(), of top-down and flat views: what is shown is a part of the view of all, which is asked for where something
 * is not known yet. */
static assay_status get_shown(as_viewing *viewing, const as_asked_view *asked, size_t n, as_asked_table *out,
                              assay_error *error) {
    char **keys = calloc(n + 2, sizeof *keys);
    as_asked_table all = {0};
    *out = (as_asked_table){.values = calloc(n + 1, sizeof *out->values)};
    bool fine = keys && out->values && (keys[0] = table_key(viewing, asked, ASSAY_NONE)) != NULL;
    for (size_t k = 0; fine && k < n; k++)
        fine = (keys[1 + k] = values_key(viewing, asked, keys[0], as_asked_metric(asked, k))) != NULL;
    assay_status status = fine ? ASSAY_OK : as_fail_memory(error, NULL);
    if (fine && !find_shown(viewing, keys, n, out)) status = make_shown(viewing, asked, n, keys, out, &all, error);
    as_asked_table_free(&all);
    for (size_t k = 0; keys && k <= n; k++) free(keys[k]);
    free(keys);
    return status;
}

/* ---- what requests get ------------------------------------------------------------------------------------------- */

assay_status as_asked_table_get(as_viewing *viewing, const as_asked_view *asked, as_asked_table *out,
                                assay_error *error) {
    return as_asked_table_some(viewing, asked, SIZE_MAX, out, error);
}

assay_status as_asked_table_some(as_viewing *viewing, const as_asked_view *asked, size_t n, as_asked_table *out,
                                 assay_error *error) {
    size_t most = asked->tree.metrics.count;
    if (n > most) n = most;
    return is_part_of_all(asked) ? get_shown(viewing, asked, n, out, error)
                                 : get(viewing, asked, ASSAY_NONE, n, out, error);
}

assay_status as_asked_whole(as_viewing *viewing, const as_asked_view *asked, assay_id metric, as_view_number *out,
                            assay_error *error) {
    as_view_data data = {0};
    assay_status status = load(viewing, asked, &metric, &data, error);
    *out = status == ASSAY_OK ? as_view_whole(&data, 0).inclusive : (as_view_number){0};
    out->parts = NULL;
    as_view_data_free(&data);
    return status;
}

void as_asked_table_free(as_asked_table *table) {
    free(table->values);
    *table = (as_asked_table){0};
}

assay_status as_asked_table_above(as_viewing *viewing, const as_asked_view *asked, const as_view_item *cut, size_t n,
                                  as_asked_table *out, uint32_t *item, assay_error *error) {
    int64_t node = (int64_t)cut->call_site | (int64_t)cut->depth << 32;
    size_t most = asked->tree.metrics.count;
    *item = AS_NO_ITEM;
    AS_TRY(get(viewing, asked, cut->call_site, n < most ? n : most, out, error));
    *item = as_asked_item(out->table, node);
    if (*item != AS_NO_ITEM && as_view_item_at(out->table, *item)->flags & AS_ITEM_CUT) *item = AS_NO_ITEM;
    return ASSAY_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

assay_status as_asked_row_get(as_viewing *viewing, const as_asked_view *asked, int64_t node, as_asked_table *out,
                              uint32_t *item, assay_error *error) {
    const as_dataset *ds = asked->tree.ds;
    AS_TRY(as_asked_table_get(viewing, asked, out, error));
    *item = as_asked_item(out->table, node);
    bool is_bottom_up = asked->tree.request.kind == AS_VIEW_BOTTOM_UP;
    as_view_item above = {.call_site = (assay_id)(node & UINT32_MAX), .depth = (uint32_t)(node >> 32)};
    if (*item == AS_NO_ITEM && is_bottom_up && above.call_site < AS_COUNT(ds, contexts)) {
        as_asked_table_free(out);
        AS_TRY(as_asked_table_above(viewing, asked, &above, asked->tree.metrics.count, out, item, error));
    }
    if (*item != AS_NO_ITEM) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "row %lld is not in this view", (long long)node);
}

assay_status as_asked_contexts(const as_asked_view *asked, const as_view_table *table, uint32_t item, as_vec *out,
                               assay_error *error) {
    size_t n = out->count;
    if (!as_view_item_contexts(table, item, out)) return as_fail_memory(error, NULL);
    if (asked->root == ASSAY_NONE) return ASSAY_OK;
    assay_id end = asked->root + as_ds_context(table->ds, asked->root)->subtree;
    for (size_t i = n; i < out->count; i++) {
        assay_id id = AS_AT(assay_id, out, i);
        if (id >= asked->root && id < end) AS_AT(assay_id, out, n++) = id;
    }
    out->count = n;
    return ASSAY_OK;
}

/* The same of a view without what is hidden: from those of the view of all. */
static assay_status more_shown_values(as_viewing *viewing, const as_asked_view *asked, const char *of,
                                      const as_view_table *table, assay_id metric, const as_view_values **out,
                                      assay_error *error) {
    char *key = values_key(viewing, asked, of, metric);
    as_asked_view plain = as_asked_view_of_all(asked);
    as_asked_table all = {0};
    const as_view_values *of_all = NULL;
    assay_status status = key ? ASSAY_OK : as_fail_memory(error, NULL);
    *out = key ? as_viewing_find(viewing, key) : NULL;
    if (status == ASSAY_OK && !*out) {
        status = get_all(viewing, asked, 0, &all, error);
        if (status == ASSAY_OK) status = as_asked_more_values(viewing, &plain, &all, metric, &of_all, error);
        if (status == ASSAY_OK) status = hide_values(viewing, key, all.table, of_all, table, out, error);
    }
    as_asked_table_free(&all);
    free(key);
    return status;
}

assay_status as_asked_more_values(as_viewing *viewing, const as_asked_view *asked, const as_asked_table *table,
                                  assay_id metric, const as_view_values **out, assay_error *error) {
    char *key = table_key(viewing, asked, ASSAY_NONE);
    loaded last = {.metric = ASSAY_NONE};
    *out = NULL;
    if (!key) return as_fail_memory(error, NULL);
    const kept_table *kept = as_viewing_find(viewing, key);
    assay_status status = ASSAY_OK;
    if (kept && kept->table == table->table)
        status = is_part_of_all(asked) ? more_shown_values(viewing, asked, key, table->table, metric, out, error)
                                       : find_values(viewing, asked, key, table->table, metric, &last, out, error);
    as_view_data_free(&last.data);
    free(key);
    return status;
}

/* ---- numbers of nodes -------------------------------------------------------------------------------------------- */

int64_t as_asked_node(const as_view_table *table, uint32_t item) {
    const as_view_item *at = as_view_item_at(table, item);
    switch (table->request.kind) {
    case AS_VIEW_TOP_DOWN: return at->context;
    case AS_VIEW_BOTTOM_UP: return (int64_t)at->call_site | (int64_t)at->depth << 32;
    default: return item;
    }
}

uint32_t as_asked_item(const as_view_table *table, int64_t node) {
    if (node < 0) return AS_NO_ITEM;
    if (table->request.kind == AS_VIEW_FLAT) return node < as_view_items(table) ? (uint32_t)node : AS_NO_ITEM;
    if (table->request.kind == AS_VIEW_TOP_DOWN)
        return node < (int64_t)AS_COUNT(table->ds, contexts) ? as_view_item_of(table, (assay_id)node) : AS_NO_ITEM;
    for (uint32_t i = 0; i < as_view_items(table); i++) {
        if (as_asked_node(table, i) == node) return i;
    }
    return AS_NO_ITEM;
}
