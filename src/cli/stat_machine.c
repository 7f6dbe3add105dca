/* `assay stat` for programs: the JSON of the whole tree, and flat rows. */
#include <math.h>
#include <stdlib.h>

#include "cli/node_json.h"
#include "cli/stat_view.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void build_number(as_builder *b, const char *key, const as_spread *s, as_whole whole, double real) {
    if (s->is_integer)
        as_build_whole(b, key, whole);
    else
        as_build_real(b, key, real);
}

static void build_values(as_builder *b, const as_number *values, uint32_t n) {
    as_build_array(b, "values", false);
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].kind == AS_INT)
            as_build_int(b, NULL, values[i].i);
        else if (values[i].kind == AS_UINT)
            as_build_whole(b, NULL, values[i].u);
        else
            as_build_real(b, NULL, values[i].r);
    }
    as_build_end(b);
}

static void build_spread(as_builder *b, const as_stat_view *view, const as_stat_metric *m,
                         const as_context_spread *item) {
    const as_spread *s = &item->spread;
    const as_number *values = m->values[item->is_exclusive];
    as_build_object(b, item->is_exclusive ? "exclusive" : "inclusive", false);
    build_number(b, "sum", s, s->whole_sum, s->sum);
    as_build_real(b, "mean", s->mean);
    build_number(b, "min", s, s->whole_min, s->min);
    build_number(b, "max", s, s->whole_max, s->max);
    as_build_real(b, "stddev", s->stddev);
    as_build_real(b, "q1", s->q1);
    as_build_real(b, "median", s->median);
    as_build_real(b, "q3", s->q3);
    if (isnan(s->imbalance))
        as_build_text(b, "imbalance", NULL);
    else
        as_build_real(b, "imbalance", s->imbalance);
    as_build_int(b, "count", s->n);
    as_build_int(b, "min_at", view->places.ids[s->min_at]);
    as_build_int(b, "max_at", view->places.ids[s->max_at]);
    if (values) build_values(b, values, view->places.n);
    as_build_end(b);
}

/* What one metric has of the context; *next goes on. */
static void build_metric(as_builder *b, const as_stat_view *view, const as_stat_metric *m, assay_id context,
                         size_t *next) {
    const char *name = as_ds_text(view->ds, as_ds_metric(view->ds, m->metric)->name);
    as_build_object(b, name ? name : "", false);
    for (; *next < m->n_rows && as_stat_row(m, *next)->context == context; ++*next)
        build_spread(b, view, m, as_stat_row(m, *next));
    as_build_end(b);
}

static assay_id next_context(const as_stat_view *view, const size_t *next) {
    assay_id context = ASSAY_NONE;
    for (size_t i = 0; i < view->n_metrics; i++) {
        const as_stat_metric *m = &view->metrics[i];
        if (next[i] < m->n_rows && as_stat_row(m, next[i])->context < context)
            context = as_stat_row(m, next[i])->context;
    }
    return context;
}

static bool build_contexts(as_builder *b, const as_stat_view *view, size_t *next) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = true;
    for (assay_id context; fine && (context = next_context(view, next)) != ASSAY_NONE;) {
        bool is_whole;
        if (!(fine = as_context_path_end(view->ds, context, AS_LONGEST_PATH, &path, &is_whole))) break;
        as_build_object(b, NULL, false);
        as_build_text(b, "path", is_whole ? path.data : NULL);
        char digits[AS_NUMBER_SIZE];
        as_build_text(b, "source_id", as_context_source_id(view->ds, context, digits));
        as_build_object(b, "metrics", false);
        for (size_t i = 0; i < view->n_metrics; i++) {
            const as_stat_metric *m = &view->metrics[i];
            if (next[i] < m->n_rows && as_stat_row(m, next[i])->context == context)
                build_metric(b, view, m, context, &next[i]);
        }
        as_build_end(b);
        as_build_end(b);
    }
    as_vec_free(&path);
    return fine;
}

static void build_places(as_builder *b, const as_stat_view *view) {
    const as_dataset *ds = view->ds;
    as_build_array(b, "places", true);
    for (uint32_t i = 0; i < view->places.n; i++) {
        char label[AS_PLACE_SIZE];
        assay_id id = view->places.ids[i];
        as_stat_place(view, i, label);
        as_build_object(b, NULL, false);
        as_build_int(b, "id", id);
        as_build_text(b, "label", label);
        if (view->places.over != AS_OVER_RUNS) {
            const as_location *location = as_ds_location(ds, id);
            as_build_text(b, "name", as_ds_text(ds, location->name));
            as_build_text(b, "kind", as_ds_text(ds, location->kind));
        }
        as_build_end(b);
    }
    as_build_end(b);
}

bool as_stat_json(as_builder *b, const as_stat_view *view) {
    static const char *const words[] = {"locations", "processes", "runs"};
    size_t *next = calloc(view->n_metrics + 1, sizeof *next);
    if (!next) return false;
    as_build_object(b, NULL, true);
    as_build_text(b, "file", as_ds_text(view->ds, view->ds->path));
    as_build_text(b, "over", words[view->places.over]);
    as_build_int(b, "locations", view->places.over == AS_OVER_RUNS ? 0 : view->places.n);
    if (view->places.over == AS_OVER_RUNS) as_build_int(b, "runs", view->places.n);
    if (*view->where) as_build_text(b, "run", view->where);
    as_build_array(b, "contexts", true);
    bool fine = build_contexts(b, view, next);
    as_build_end(b);
    build_places(b, view);
    as_build_end(b);
    free(next);
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const as_column spread_columns[] = {{"file"},   {"metric"}, {"unit"},   {"callpath"}, {"kind"},     {"count"},
                                           {"sum"},    {"mean"},   {"min"},    {"min_at"},   {"max"},      {"max_at"},
                                           {"stddev"}, {"q1"},     {"median"}, {"q3"},       {"imbalance"}},
                       value_columns[] = {{"file"}, {"metric"}, {"unit"}, {"callpath"}, {"kind"}, {"place"}, {"value"}};
enum {
    SPREAD_COLUMNS = sizeof spread_columns / sizeof *spread_columns,
    VALUE_COLUMNS = sizeof value_columns / sizeof *value_columns,
    BATCH = 1000
};

const as_column *as_stat_columns(const as_cli *cli, size_t *n) {
    bool values = as_cli_has(cli, "context");
    *n = values ? VALUE_COLUMNS : SPREAD_COLUMNS;
    return values ? value_columns : spread_columns;
}

/* Integers beyond 64 bits are exact as text. */
static as_cell whole_cell(as_whole whole, char digits[AS_WHOLE_SIZE]) {
    as_number number = as_whole_number(whole);
    if (number.kind != AS_REAL) return as_cell_number(number);
    return as_cell_text_n(digits, as_whole_format(whole, digits));
}

/* What the rows of one metric begin with. */
static size_t begin_row(const as_stat_view *view, const as_stat_metric *m, const as_context_spread *item,
                        const char *file, const char *path, as_cell *cells) {
    const as_metric *metric = as_ds_metric(view->ds, m->metric);
    bool has_kinds = metric->kind == AS_KIND_INCLUSIVE || metric->kind == AS_KIND_EXCLUSIVE;
    size_t n = 0;
    if (file) cells[n++] = as_cell_text(file);
    cells[n++] = as_cell_text(as_ds_text(view->ds, metric->name));
    cells[n++] = as_cell_text(as_ds_text(view->ds, metric->unit));
    cells[n++] = as_cell_text(path);
    bool is_exclusive = item->is_exclusive || as_metric_is_only_exclusive(metric);
    cells[n++] = as_cell_text(is_exclusive ? "exclusive" : has_kinds ? "inclusive" : NULL);
    return n;
}

static bool add_spread(as_table *batch, const as_stat_view *view, const as_stat_metric *m,
                       const as_context_spread *item, const char *file, const char *path) {
    as_cell cells[SPREAD_COLUMNS];
    const as_spread *s = &item->spread;
    char digits[3][AS_WHOLE_SIZE], min_at[AS_PLACE_SIZE], max_at[AS_PLACE_SIZE];
    size_t n = begin_row(view, m, item, file, path, cells);
    as_stat_place(view, s->min_at, min_at);
    as_stat_place(view, s->max_at, max_at);
    cells[n++] = as_cell_int(s->n);
    cells[n++] = s->is_integer ? whole_cell(s->whole_sum, digits[0]) : as_cell_real(s->sum);
    cells[n++] = as_cell_real(s->mean);
    cells[n++] = s->is_integer ? whole_cell(s->whole_min, digits[1]) : as_cell_real(s->min);
    cells[n++] = as_cell_text(min_at);
    cells[n++] = s->is_integer ? whole_cell(s->whole_max, digits[2]) : as_cell_real(s->max);
    cells[n++] = as_cell_text(max_at);
    cells[n++] = as_cell_real(s->stddev);
    cells[n++] = as_cell_real(s->q1);
    cells[n++] = as_cell_real(s->median);
    cells[n++] = as_cell_real(s->q3);
    cells[n++] = isnan(s->imbalance) ? as_cell_null() : as_cell_real(s->imbalance);
    return as_table_append(batch, cells);
}

static bool add_values(as_table *batch, const as_stat_view *view, const as_stat_metric *m,
                       const as_context_spread *item, const char *file, const char *path) {
    const as_number *values = m->values[item->is_exclusive];
    as_cell cells[VALUE_COLUMNS];
    size_t n = begin_row(view, m, item, file, path, cells);
    for (uint32_t i = 0; values && i < view->places.n; i++) {
        char label[AS_PLACE_SIZE];
        as_stat_place(view, i, label);
        cells[n] = as_cell_text(label);
        cells[n + 1] = as_cell_number(values[i]);
        if (!as_table_append(batch, cells)) return false;
    }
    return true;
}

bool as_stat_rows(as_printer *printer, as_table *batch, const as_stat_view *view, const char *file) {
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = true;
    for (size_t i = 0; i < view->n_metrics; i++) {
        const as_stat_metric *m = &view->metrics[i];
        for (size_t row = 0; row < m->n_rows && row < view->limit && fine; row++) {
            const as_context_spread *item = as_stat_row(m, row);
            bool is_whole;
            fine = as_context_path_end(view->ds, item->context, AS_LONGEST_PATH, &path, &is_whole);
            const char *text = is_whole ? path.data : NULL;
            fine = fine && (view->context == ASSAY_NONE ? add_spread(batch, view, m, item, file, text)
                                                        : add_values(batch, view, m, item, file, text));
            if (fine && as_table_rows(batch) >= BATCH) {
                fine = as_printer_rows(printer, batch);
                as_table_clear(batch);
            }
        }
    }
    fine = fine && as_printer_rows(printer, batch);
    as_table_clear(batch);
    as_vec_free(&path);
    return fine;
}
