/* Writing extrap-jsonl and extrap-talpas: a record for each point of each series. Records that had unknown keys stay
 * records of their own. */
#include "formats/extrap/extras.h"
#include "formats/extrap/records.h"
#include "formats/extrap/series.h"
#include "formats/extrap/values.h"
#include "io/json.h"

typedef struct record_writer {
    const as_dataset *ds;
    as_output *out;
    const as_dialect *dialect;
    as_extras_index extras;
    as_vec path;
} record_writer;

static void write_point(record_writer *w, assay_id point, size_t row) {
    const double *coordinates = as_ds_point(w->ds, point);
    as_output_char(w->out, '{');
    for (size_t i = 0; i < as_ds_parameters(w->ds); i++) {
        if (i) as_output_char(w->out, ',');
        as_write_json_str(w->out, w->ds, AS_AT(as_str, &w->ds->parameters, i));
        as_output_char(w->out, ':');
        as_output_real(w->out, coordinates[i]);
    }
    if (row != SIZE_MAX) as_extras_write(&w->extras, row, AS_EXTRA_PARAMETER, ',', w->out);
    as_output_char(w->out, '}');
}

/* The rows of a walk from `first` on, as one record. */
static void write_record(record_writer *w, const as_series *series, const as_series_walk *walk, uint64_t first,
                         uint64_t n, size_t row) {
    as_output *out = w->out;
    char separator = w->dialect->separator;
    as_output_printf(out, "{\"%s\":", w->dialect->parameters);
    write_point(w, walk->point, row);
    as_output_printf(out, "%c\"metric\":", separator);
    as_write_json_str(out, w->ds, as_ds_metric(w->ds, series->metric)->name);
    as_output_printf(out, "%c\"callpath\":", separator);
    as_json_write_string(out, w->path.data, strlen(w->path.data));
    as_output_printf(out, "%c\"value\":", separator);
    as_write_json_values(out, walk, first, n, false);
    if (row != SIZE_MAX) as_extras_write(&w->extras, row, AS_EXTRA_KEY, separator, out);
    as_output_text(out, "}\n");
}

static bool write_series(record_writer *w, const as_series *series) {
    as_series_walk walk;
    bool fine = as_context_path(w->ds, series->context, &w->path) && as_walk_begin(&walk, w->ds, series);
    if (!fine) return false;
    while (as_walk_next(&walk)) {
        as_record_split split = as_record_split_begin(&walk, &w->extras, series);
        while (as_record_split_next(&split)) write_record(w, series, &walk, split.first, split.n, split.row);
    }
    as_walk_end(&walk);
    return true;
}

static assay_status write_records(as_writer *writer, const as_dialect *dialect) {
    const as_dataset *ds = writer->dataset;
    AS_TRY(as_require_experiment(writer, dialect->format));
    record_writer w = {.ds = ds, .out = writer->out, .dialect = dialect};
    as_vec_init(&w.path, 1, NULL);
    bool fine = as_extras_index_make(&w.extras, ds, dialect->format);
    for (size_t i = 0; i < ds->series.count && fine; i++) fine = write_series(&w, as_ds_series(ds, i));
    as_extras_index_free(&w.extras);
    as_vec_free(&w.path);
    return fine ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

assay_status as_extrap_jsonl_write(as_writer *writer) { return write_records(writer, &as_dialect_jsonl); }
assay_status as_extrap_talpas_write(as_writer *writer) { return write_records(writer, &as_dialect_talpas); }

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

void as_extrap_jsonl_losses(const as_dataset *ds, as_losses *losses) {
    as_unmeasured bare;
    losses->failed |= !as_count_unmeasured(ds, &bare);
    if (bare.points) as_lose(losses, "%zu point%s without data", bare.points, plural(bare.points));
    if (bare.callpaths) as_lose(losses, "%zu call path%s without data", bare.callpaths, plural(bare.callpaths));
    if (bare.metrics) as_lose(losses, "%zu metric%s without data", bare.metrics, plural(bare.metrics));
    as_lose_locations(ds, losses);
}

void as_extrap_talpas_losses(const as_dataset *ds, as_losses *losses) {
    size_t names = 0;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) names += strchr(as_ds_parameter(ds, i), ';') != NULL;
    for (size_t i = 0; i < ds->metrics.count; i++)
        names += strchr(as_ds_text(ds, as_ds_metric(ds, (assay_id)i)->name), ';') != NULL;
    for (size_t i = 0; i < ds->contexts.count; i++)
        names += strchr(as_ds_text(ds, as_ds_context(ds, (assay_id)i)->name), ';') != NULL;
    as_extrap_jsonl_losses(ds, losses);
    if (names)
        as_lose(losses, "the ';' in %zu name%s for readers other than assay (they take it for a comma)", names,
                plural(names));
}
