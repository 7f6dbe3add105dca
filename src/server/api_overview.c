/* What is this (api/overview): what info says, and the hot path; and what is worth a look, but takes longer
 * (api/findings): totals, functions, imbalance, GPUs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/busy.h"
#include "analysis/reports.h"
#include "cli/card.h"
#include "cli/context_text.h"
#include "cli/stat_view.h"
#include "server/report_choice.h"
#include "server/tree_rows.h"

enum {
    MOST_PROBLEMS = 200,
    MOST_ATTRIBUTES = 200,
    MOST_TOTALS = 24,
    TOP_FUNCTIONS = 10,
    HOT_LEVELS = 60,
    IMBALANCED = 8,
    KERNELS = 8,
    MOST_BALANCED = 1 << 22, /* contexts times locations that are looked at for imbalance */
    MANY_CONTEXTS = 100000   /* of so many not all metrics are summed up */
};

/* ---- rows of views ----------------------------------------------------------------------------------------------- */

static void init_rows(as_vec *rows) { as_vec_init(rows, sizeof(as_tree_row), NULL); }

/* {"rows", "inclusive", "exclusive"} of some items. */
static assay_status build_items(as_builder *builder, const char *key, as_asked_view *asked, const as_asked_table *table,
                                const as_vec *items, assay_error *error) {
    as_vec rows;
    init_rows(&rows);
    bool fine = true;
    for (size_t i = 0; fine && i < items->count; i++) {
        as_tree_row row = {.of = table, .item = AS_AT(uint32_t, items, i)};
        fine = as_vec_append(&rows, &row, 1);
    }
    as_build_object(builder, key, false);
    as_build_tree_rows(builder, asked, &rows);
    as_build_end(builder);
    as_vec_free(&rows);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status build_hot_path(as_builder *builder, as_asked_view *asked, const as_asked_table *table,
                                   assay_error *error) {
    as_vec items;
    as_vec_init(&items, sizeof(uint32_t), NULL);
    bool fine = !table->n_values || as_view_hot_path(table->table, table->values[0], AS_NO_ITEM, 0, &items);
    if (items.count > HOT_LEVELS) items.count = HOT_LEVELS;
    assay_status status =
        fine ? build_items(builder, "hot_path", asked, table, &items, error) : as_fail_memory(error, NULL);
    as_vec_free(&items);
    return status;
}

static assay_status build_functions(as_viewing *viewing, as_builder *builder, as_asked_view *asked,
                                    assay_error *error) {
    as_asked_table table = {0};
    as_vec items;
    size_t n;
    as_vec_init(&items, sizeof(uint32_t), NULL);
    asked->tree.request.kind = AS_VIEW_FLAT;
    asked->tree.request.group = AS_GROUP_REGION;
    assay_status status = as_asked_table_some(viewing, asked, 1, &table, error);
    if (status == ASSAY_OK && table.n_values) {
        as_view_order order = {.by = AS_SORT_EXCLUSIVE, .values = table.values[0]};
        if (!as_view_children(table.table, &order, AS_NO_ITEM, 0, TOP_FUNCTIONS, &items, &n))
            status = as_fail_memory(error, NULL);
    }
    if (status == ASSAY_OK) status = build_items(builder, "functions", asked, &table, &items, error);
    as_vec_free(&items);
    as_asked_table_free(&table);
    asked->tree.request.kind = AS_VIEW_TOP_DOWN;
    return status;
}

static assay_status build_views(as_viewing *viewing, const as_request *request, as_builder *builder,
                                assay_error *error) {
    as_asked_view asked;
    as_asked_table table = {0};
    assay_status status = as_asked_view_make(viewing, request, &asked, error);
    if (status == ASSAY_OK) status = as_asked_table_get(viewing, &asked, &table, error);
    if (status == ASSAY_OK) {
        as_build_text(builder, "run", asked.tree.runs.label);
        as_build_text(builder, "location", asked.tree.locations.label);
        as_build_view_metrics(builder, &asked, &table);
        status = build_hot_path(builder, &asked, &table, error);
    }
    as_asked_table_free(&table);
    as_asked_view_free(&asked);
    return status;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

/* Those of the dataset and of its runs. */
static void build_attributes(as_builder *builder, const as_dataset *ds) {
    size_t n = 0;
    as_build_array(builder, "attributes_shown", false);
    for (size_t i = 0; i < AS_COUNT(ds, attributes) && n < MOST_ATTRIBUTES; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner != AS_OWNER_DATASET && attribute->owner != AS_OWNER_RUN) continue;
        as_build_object(builder, NULL, false);
        as_build_text(builder, "owner", as_owner_name(attribute->owner));
        as_build_int(builder, "id", attribute->owner_id);
        as_build_text(builder, "key", as_ds_text(ds, attribute->key));
        as_answer_cell(builder, "value", &attribute->value, AS_LONGEST_VALUE);
        as_build_end(builder);
        n++;
    }
    as_build_end(builder);
}

static void build_problem_counts(as_builder *builder, const as_dataset *ds) {
    uint64_t counts[3] = {0};
    for (size_t i = 0; i < as_ds_problems(ds); i++) counts[as_ds_problem(ds, i)->severity]++;
    as_build_object(builder, "problem_counts", false);
    for (int i = AS_NOTE; i <= AS_ERROR; i++)
        as_build_int(builder, as_severity_name((as_severity)i), (int64_t)counts[i]);
    as_build_int(builder, "all", (int64_t)(as_ds_problems(ds) + as_ds_problems_dropped(ds)));
    as_build_end(builder);
}

static void build_levels(as_builder *builder, const as_dataset *ds) {
    uint32_t levels = 0;
    size_t callpaths = 0;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id++) {
        const as_context *context = as_ds_context(ds, id);
        if (context->depth + 1 > levels) levels = context->depth + 1;
        callpaths += context->is_callpath;
    }
    as_build_int(builder, "levels", levels);
    as_build_int(builder, "call_paths", (int64_t)callpaths);
}

/* {"node": 2, "process": 16, "thread": 128}: how many there are of each kind, in the order in which they come. */
static void build_location_kinds(as_builder *builder, const as_dataset *ds) {
    enum { MOST_KINDS = 16 };
    as_str kinds[MOST_KINDS];
    size_t counts[MOST_KINDS] = {0}, n = 0;
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        as_str kind = as_ds_location(ds, id)->kind;
        size_t k = 0;
        while (k < n && kinds[k] != kind) k++;
        if (kind == AS_NO_STR || k == MOST_KINDS) continue;
        if (k == n) kinds[n++] = kind;
        counts[k]++;
    }
    as_build_array(builder, "location_kinds", false);
    for (size_t k = 0; k < n; k++) {
        as_build_object(builder, NULL, false);
        as_build_text(builder, "kind", as_ds_text(ds, kinds[k]));
        as_build_int(builder, "n", (int64_t)counts[k]);
        as_build_end(builder);
    }
    as_build_end(builder);
}

static assay_status build_facts(as_builder *builder, const as_view_input *input, assay_error *error) {
    const as_dataset *ds = input->ds;
    const as_format *format = as_format_find(ds->format);
    const char *verbs[2];
    as_build_object(builder, "info", false);
    bool fine = as_info_build(builder, ds, MOST_PROBLEMS);
    as_build_end(builder);
    as_build_text(builder, "path", input->path);
    as_build_text(builder, "title", format ? format->title : NULL);
    build_levels(builder, ds);
    build_location_kinds(builder, ds);
    build_problem_counts(builder, ds);
    build_attributes(builder, ds);
    as_card_next(ds, verbs);
    as_build_array(builder, "next", false);
    for (size_t i = 0; i < 2 && verbs[i]; i++) as_build_text(builder, NULL, verbs[i]);
    as_build_end(builder);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status answer_overview(as_viewing *viewing, const as_request *request, as_output *out,
                                    assay_error *error) {
    as_view_input *input;
    as_builder builder = as_builder_of(out);
    builder.compact = true;
    AS_TRY(as_request_input(viewing, request, "d", &input, error));
    as_build_object(&builder, NULL, false);
    AS_TRY(build_facts(&builder, input, error));
    bool has_tree = AS_COUNT(input->ds, contexts) && AS_COUNT(input->ds, metrics);
    if (has_tree) AS_TRY(build_views(viewing, request, &builder, error));
    as_build_end(&builder);
    return ASSAY_OK;
}

/* Of each metric, the first ones first; the page offers those whose overview there is. */
static void report_overviews(as_viewing *viewing, as_html_report *report) {
    assay_id metrics[AS_REPORT_METRICS];
    size_t number, n_kept = 0;
    if (!as_html_report_input(report, &number)) return;
    size_t n = as_report_metrics(viewing, report, metrics);
    for (size_t i = 0; i < n || i == 0; i++) {
        as_report_words words;
        as_report_words_begin(&words, report, n ? metrics[i] : ASSAY_NONE);
        if (as_html_report_keep_part(report, "overview", words.parameters, words.n, 0.3) != AS_REPORT_KEPT) break;
        as_html_report_keep_part(report, "findings", words.parameters, words.n, 0.3);
        if (n) n_kept++;
    }
    as_html_report_tell_metrics(report, metrics, n_kept);
}

const as_endpoint as_endpoint_overview = {.path = "overview", .answer = answer_overview, .report = report_overviews};

/* ---- totals ------------------------------------------------------------------------------------------------------ */

static void build_total(as_builder *builder, const as_dataset *ds, assay_id metric, const as_view_number *all) {
    const as_metric *m = as_ds_metric(ds, metric);
    as_build_object(builder, NULL, false);
    as_build_int(builder, "id", metric);
    as_build_text(builder, "name", as_ds_text(ds, m->name));
    as_build_text(builder, "display_name", as_ds_text(ds, m->display_name));
    as_build_text(builder, "unit", as_ds_text(ds, m->unit));
    as_build_number(builder, "all", all->is_known ? all->real : NAN);
    as_build_bool(builder, "is_whole", all->is_whole);
    as_build_end(builder);
}

/* Of the metrics that have values here: what all of the program has, of very large trees only of those that are looked
 * at, which are there in any case; and the functions that cost most. */
static assay_status build_totals(as_viewing *viewing, const as_request *request, as_builder *builder,
                                 assay_error *error) {
    as_asked_view asked;
    assay_status status = as_asked_view_make(viewing, request, &asked, error);
    const as_dataset *ds = asked.tree.ds;
    size_t n_shown = 0;
    bool is_large = status == ASSAY_OK && AS_COUNT(ds, contexts) > MANY_CONTEXTS;
    as_build_array(builder, "totals", false);
    for (assay_id id = 0; status == ASSAY_OK && id < AS_COUNT(ds, metrics); id++) {
        as_view_number all;
        bool is_asked = false;
        for (size_t i = 0; i < asked.tree.metrics.count; i++) is_asked |= as_asked_metric(&asked, i) == id;
        if (!is_asked && (is_large || n_shown >= MOST_TOTALS)) continue;
        if (as_ds_metric(ds, id)->part_of != ASSAY_NONE || !as_metric_has_data(ds, id)) continue;
        as_viewing_expect(viewing, AS_COUNT(ds, contexts) * 2 * sizeof(double)); /* while it is added up */
        status = as_asked_whole(viewing, &asked, id, &all, error);
        if (status != ASSAY_OK || (!is_asked && !all.is_known)) continue;
        build_total(builder, ds, id, &all);
        n_shown++;
    }
    as_build_end(builder);
    if (status == ASSAY_OK) status = build_functions(viewing, builder, &asked, error);
    as_asked_view_free(&asked);
    return status;
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static bool build_imbalanced(as_builder *builder, const as_stat_view *view, const as_context_spread *item) {
    const as_spread *s = &item->spread;
    char place[AS_PLACE_SIZE];
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = as_context_path_end(view->ds, item->context, AS_LONGEST_PATH, &path, NULL);
    const char *name = as_ds_text(view->ds, as_ds_context(view->ds, item->context)->name);
    as_build_object(builder, NULL, false);
    as_build_int(builder, "context", item->context);
    as_build_text(builder, "name", name);
    as_build_text(builder, "path", fine ? path.data : NULL);
    as_build_bool(builder, "is_exclusive", item->is_exclusive);
    as_build_int(builder, "count", s->n);
    as_build_number(builder, "sum", s->sum);
    as_build_number(builder, "mean", s->mean);
    as_build_number(builder, "min", s->min);
    as_build_number(builder, "max", s->max);
    as_build_number(builder, "stddev", s->stddev);
    as_build_number(builder, "imbalance", s->imbalance);
    as_build_number(builder, "excess", s->excess);
    as_stat_place(view, s->max_at, place);
    as_build_text(builder, "max_at", place);
    as_build_array(builder, "bins", false);
    for (size_t i = 0; i < AS_SPREAD_BINS; i++) as_build_int(builder, NULL, s->bins[i]);
    as_build_end(builder);
    as_build_end(builder);
    as_vec_free(&path);
    return fine;
}

static assay_status build_balance(const as_request *request, as_builder *builder, const as_dataset *ds,
                                  assay_error *error) {
    static const char *const words[] = {"locations", "processes", "runs"};
    as_request_cli made;
    as_stat_view view = {0};
    assay_status status = as_request_cli_make(request, "stat", "metric run location", NULL, &made, error);
    made.cli.style.mode = AS_PRINT_TEXT; /* as people are told */
    if (status == ASSAY_OK) status = as_request_cli_status(&made, as_stat_find(&made.cli, ds, &view), error);
    if (status == ASSAY_OK && view.n_metrics && view.places.n_sharing > 1) {
        const as_stat_metric *m = &view.metrics[0];
        const as_metric *metric = as_ds_metric(ds, m->metric);
        as_build_object(builder, "balance", false);
        as_build_text(builder, "over", words[view.places.over]);
        as_build_int(builder, "places", view.places.n_sharing);
        as_build_text(builder, "metric", as_ds_text(ds, metric->name));
        as_build_text(builder, "unit", as_ds_text(ds, metric->unit));
        as_build_array(builder, "rows", false);
        for (size_t i = 0; i < m->n_rows && i < IMBALANCED && status == ASSAY_OK; i++)
            if (!build_imbalanced(builder, &view, as_stat_row(m, i))) status = as_fail_memory(error, NULL);
        as_build_end(builder);
        as_build_end(builder);
    }
    as_stat_view_free(&view);
    as_request_cli_free(&made);
    return status;
}

static assay_status build_kernels(as_builder *builder, const as_dataset *ds, assay_error *error) {
    as_report report = {0};
    as_report_request wanted = {.ds = ds, .names = AS_NAMES_BASE};
    if (!as_report_parse("cuda_gpu_kern_sum", &wanted.kind, &(as_report_names){0})) return ASSAY_OK;
    assay_status status = as_report_make(&wanted, &report, error);
    as_build_array(builder, "kernels", false);
    for (size_t i = 0; status == ASSAY_OK && i < report.rows.count && i < KERNELS; i++) {
        const as_report_row *row = &AS_AT(as_report_row, &report.rows, i);
        as_build_object(builder, NULL, false);
        as_build_text(builder, "name", row->name);
        as_build_int(builder, "n", (int64_t)row->n);
        as_build_real(builder, "seconds", row->total * 1e-9);
        as_build_number(builder, "share", row->share);
        as_build_real(builder, "mean", row->mean * 1e-9);
        as_build_end(builder);
    }
    as_build_end(builder);
    as_report_free(&report);
    return status;
}

static assay_status build_devices(as_builder *builder, const as_dataset *ds, assay_error *error) {
    as_vec devices; /* as_device_busy */
    double span = 0;
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    bool fine = as_devices_busy(ds, &devices, &span);
    as_build_array(builder, "gpus", false);
    for (size_t i = 0; fine && i < devices.count; i++) {
        const as_device_busy *device = &AS_AT(as_device_busy, &devices, i);
        as_build_object(builder, NULL, false);
        as_build_text(builder, "name", as_ds_text(ds, as_ds_location(ds, device->device)->name));
        as_build_real(builder, "busy", device->all / span);
        as_build_real(builder, "kernels", device->kernels / span);
        as_build_real(builder, "seconds", span);
        as_build_end(builder);
    }
    as_build_end(builder);
    bool has_devices = devices.count > 0;
    as_vec_free(&devices);
    if (!fine) return as_fail_memory(error, NULL);
    return has_devices ? build_kernels(builder, ds, error) : ASSAY_OK;
}

static assay_status answer_findings(as_viewing *viewing, const as_request *request, as_output *out,
                                    assay_error *error) {
    as_view_input *input;
    assay_error why;
    as_builder builder = as_builder_of(out);
    builder.compact = true;
    AS_TRY(as_request_input(viewing, request, "d", &input, error));
    as_build_object(&builder, NULL, false);
    uint64_t work = (uint64_t)AS_COUNT(input->ds, contexts) * as_ds_leaves(input->ds);
    assay_status status = work > MOST_BALANCED
                              ? as_fail(&why, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "",
                                        "how evenly it is spread takes a moment here: assay stat tells it")
                              : build_balance(request, &builder, input->ds, &why);
    if (status == ASSAY_E_NOMEM) {
        *error = why;
        return status;
    }
    /* Nothing to compare is no failure */
    as_build_text(&builder, "no_balance", status == ASSAY_OK ? NULL : why.message);
    if (AS_COUNT(input->ds, contexts) && AS_COUNT(input->ds, metrics))
        AS_TRY(build_totals(viewing, request, &builder, error));
    AS_TRY(build_devices(&builder, input->ds, error));
    as_build_end(&builder);
    return ASSAY_OK;
}

const as_endpoint as_endpoint_findings = {.path = "findings", .answer = answer_findings};
