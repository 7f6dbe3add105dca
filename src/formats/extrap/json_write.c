/* Writing extrap-json, in the newer layout. */
#include <stdlib.h>

#include "formats/extrap/json.h"
#include "formats/extrap/values.h"

typedef struct json_writer {
    const as_dataset *ds;
    as_output *out;
    as_extras_index extras;
    as_vec path;
    size_t *first; /* by context: its first series + 1, or 0 */
    size_t *next;  /* by series: the next one of its context + 1, or 0 */
    bool *named;   /* by metric: some series has it */
    assay_id last; /* the call path written last */
} json_writer;

/* Keys of the layout itself, which no attribute may take. */
static bool is_reserved(const char *key) {
    return strcmp(key, "parameters") == 0 || strcmp(key, "measurements") == 0 || strcmp(key, "callpaths") == 0;
}

static bool is_written(const as_dataset *ds, const as_attribute *attribute) {
    return strcmp(ds->format, "extrap-json") == 0 && attribute->owner == AS_OWNER_DATASET &&
           !is_reserved(as_ds_text(ds, attribute->key));
}

static void write_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: as_output_text(out, "null"); break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: as_write_json_number(out, (as_number){.kind = AS_UINT, .u = cell.u}); break;
    case AS_CELL_REAL: as_write_json_number(out, (as_number){.kind = AS_REAL, .r = cell.r}); break;
    case AS_CELL_TEXT: as_json_write_string(out, cell.text, cell.size); break;
    case AS_CELL_JSON: as_output_write(out, cell.text, cell.size); break;
    }
}

static void write_head(json_writer *w) {
    as_output_text(w->out, "{\n");
    for (size_t i = 0; i < w->ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(w->ds, i);
        if (!is_written(w->ds, attribute)) continue;
        as_output_text(w->out, "  ");
        as_write_json_str(w->out, w->ds, attribute->key);
        as_output_text(w->out, ": ");
        write_cell(w->out, attribute->value);
        as_output_text(w->out, ",\n");
    }
    as_output_text(w->out, "  \"parameters\": [");
    for (size_t i = 0; i < as_ds_parameters(w->ds); i++) {
        if (i) as_output_text(w->out, ", ");
        as_write_json_str(w->out, w->ds, AS_AT(as_str, &w->ds->parameters, i));
    }
    as_output_text(w->out, "],\n  \"measurements\": {");
}

static void write_row(json_writer *w, const as_series_walk *walk, const as_record_split *split) {
    const double *coordinates = as_ds_point(w->ds, walk->point);
    as_output_text(w->out, "\n        {\"point\": [");
    for (size_t i = 0; i < as_ds_parameters(w->ds); i++) {
        if (i) as_output_char(w->out, ',');
        as_output_real(w->out, coordinates[i]);
    }
    as_output_text(w->out, "], \"values\": ");
    as_write_json_values(w->out, walk, split->first, split->n, true);
    if (split->row != SIZE_MAX) as_extras_write(&w->extras, split->row, AS_EXTRA_KEY, ',', w->out);
    as_output_char(w->out, '}');
}

/* "metric": [rows] */
static bool write_series(json_writer *w, const as_series *series) {
    as_series_walk walk;
    if (!as_walk_begin(&walk, w->ds, series)) return false;
    as_output_text(w->out, "      ");
    as_write_json_str(w->out, w->ds, as_ds_metric(w->ds, series->metric)->name);
    as_output_text(w->out, ": [");
    const char *before = "";
    while (as_walk_next(&walk)) {
        as_record_split split = as_record_split_begin(&walk, &w->extras, series);
        while (as_record_split_next(&split)) {
            as_output_text(w->out, before);
            write_row(w, &walk, &split);
            before = ",";
        }
    }
    as_output_text(w->out, "\n      ]");
    as_walk_end(&walk);
    return true;
}

/* "metric": [] for those without data. */
static void write_bare_metrics(json_writer *w) {
    for (size_t i = 0; i < w->ds->metrics.count; i++) {
        if (w->named[i]) continue;
        as_output_text(w->out, ",\n      ");
        as_write_json_str(w->out, w->ds, as_ds_metric(w->ds, (assay_id)i)->name);
        as_output_text(w->out, ": []");
    }
}

/* "call path": {series}; first: its first series + 1, or 0. The last one also names the metrics without data, so that
 * the others keep their order. */
static bool write_callpath(json_writer *w, assay_id context, size_t first, bool comma) {
    if (!as_context_path(w->ds, context, &w->path)) return false;
    as_output_text(w->out, comma ? ",\n    " : "\n    ");
    as_json_write_string(w->out, w->path.data, strlen(w->path.data));
    as_output_text(w->out, ": {");
    for (size_t i = first; i; i = w->next[i - 1]) {
        as_output_text(w->out, i == first ? "\n" : ",\n");
        if (!write_series(w, as_ds_series(w->ds, i - 1))) return false;
    }
    if (context == w->last) write_bare_metrics(w);
    as_output_text(w->out, first ? "\n    }" : "}");
    return true;
}

/* Call paths without data come first, so that the call tree keeps its order when it is read again and again; then
 * those with data in the order of their first series. */
static bool write_callpaths(json_writer *w) {
    const as_dataset *ds = w->ds;
    bool comma = false;
    for (size_t i = 0; i < ds->contexts.count; i++) {
        if (w->first[i] || !as_ds_context(ds, (assay_id)i)->is_callpath) continue;
        if (!write_callpath(w, (assay_id)i, 0, comma)) return false;
        comma = true;
    }
    for (size_t i = 0; i < ds->series.count; i++) {
        assay_id context = as_ds_series(ds, i)->context;
        if (w->first[context] != i + 1) continue;
        if (!write_callpath(w, context, i + 1, comma)) return false;
        comma = true;
    }
    return true;
}

/* Links the series of each context in their order. */
static bool link_series(json_writer *w) {
    size_t n = w->ds->series.count;
    w->first = calloc(w->ds->contexts.count + 1, sizeof *w->first);
    w->next = calloc(n + 1, sizeof *w->next);
    w->named = calloc(w->ds->metrics.count + 1, sizeof *w->named);
    if (!w->first || !w->next || !w->named) return false;
    for (size_t i = n; i-- > 0;) {
        assay_id context = as_ds_series(w->ds, i)->context;
        w->next[i] = w->first[context];
        w->first[context] = i + 1;
    }
    for (size_t i = 0; i < n; i++) {
        assay_id context = as_ds_series(w->ds, i)->context;
        if (w->first[context] == i + 1) w->last = context;
        w->named[as_ds_series(w->ds, i)->metric] = true;
    }
    return true;
}

assay_status as_extrap_json_write(as_writer *writer) {
    AS_TRY(as_require_experiment(writer, "extrap-json"));
    json_writer w = {.ds = writer->dataset, .out = writer->out, .last = ASSAY_NONE};
    as_vec_init(&w.path, 1, NULL);
    bool fine = as_extras_index_make(&w.extras, w.ds, "extrap-json") && link_series(&w);
    if (fine) {
        write_head(&w);
        fine = write_callpaths(&w);
        as_output_text(w.out, "\n  }\n}\n");
    }
    as_extras_index_free(&w.extras);
    as_vec_free(&w.path);
    free(w.first);
    free(w.next);
    free(w.named);
    return fine ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

void as_extrap_json_losses(const as_dataset *ds, as_losses *losses) {
    as_unmeasured bare;
    losses->failed |= !as_count_unmeasured(ds, &bare);
    size_t attributes = 0;
    for (size_t i = 0; i < ds->attributes.count; i++) attributes += !is_written(ds, as_ds_attribute(ds, i));
    if (bare.points) as_lose(losses, "%zu point%s without data", bare.points, bare.points == 1 ? "" : "s");
    if (attributes && strcmp(ds->format, "extrap-json") == 0) {
        as_lose(losses, "%zu attribute%s of metrics and call paths (the older layout)", attributes,
                attributes == 1 ? "" : "s");
    }
    as_lose_locations(ds, losses);
}
