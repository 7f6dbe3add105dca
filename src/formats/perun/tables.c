#include "formats/perun/tables.h"
#include "formats/perun/places.h"

#include <stdlib.h>

/* Models of one place in the profile. */
typedef struct noted_models {
    uint32_t order; /* 0: global, 1: the top; snapshots are 2 + their number */
    as_raw_json raw;
} noted_models;

struct as_perun_tables {
    as_reader *reader;
    as_dataset *ds;
    as_flattener *flattener;
    as_records *models;
    as_perun_frames *frames;
    as_vec noted;         /* noted_models, of the current profile */
    as_perun_cells cells; /* of the model that is being read */
};

static void release(void *object) {
    as_perun_tables *tables = object;
    as_vec_free(&tables->noted);
    as_perun_cells_free(&tables->cells);
    free(tables);
}

as_perun_tables *as_perun_tables_new(as_reader *reader, const as_perun *perun, as_flattener *flattener) {
    as_dataset *ds = reader->dataset;
    as_perun_tables *tables = calloc(1, sizeof *tables);
    if (!tables) return NULL;
    *tables = (as_perun_tables){.reader = reader, .ds = ds, .flattener = flattener};
    as_vec_init(&tables->noted, sizeof(noted_models), &ds->budget);
    as_perun_cells_init(&tables->cells, &ds->budget);
    if (!as_ds_hold(ds, tables, release)) return NULL; /* which released them */
    tables->frames = as_perun_frames_new(ds, perun);
    tables->models = as_records_new(ds, "stored_model");
    return tables->frames && tables->models && as_perun_fields_new(ds, perun->records) ? tables : NULL;
}

uint32_t as_perun_key_column(as_dataset *ds, as_records *records, const char *key, size_t size) {
    bool is_id = size == 2 && memcmp(key, "id", 2) == 0, is_run = size == 3 && memcmp(key, "run", 3) == 0;
    if (is_id) key = "source:id", size = 9;
    if (is_run) key = "source:run", size = 10;
    as_str name = as_ds_intern(ds, key, size);
    return name == AS_NO_STR ? UINT32_MAX : as_records_column(records, name);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

bool as_perun_note_models(as_perun_tables *tables, as_perun_place place, uint32_t snapshot, as_raw_json raw) {
    uint32_t of_snapshot = snapshot < UINT32_MAX - 2 ? 2 + snapshot : UINT32_MAX;
    noted_models new = {.raw = raw,
                        .order = place == AS_PERUN_GLOBAL      ? 0
                                 : place == AS_PERUN_SNAPSHOTS ? of_snapshot
                                                               : 1};
    size_t n = tables->noted.count;
    if (n && AS_AT(noted_models, &tables->noted, n - 1).order == new.order) tables->noted.count--;
    return as_vec_append(&tables->noted, &new, 1);
}

static int compare_noted(const void *left, const void *right) {
    const noted_models *a = left, *b = right;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return (a->raw.text > b->raw.text) - (a->raw.text < b->raw.text);
}

bool as_perun_keep_text(as_dataset *ds, as_cell *cell) {
    enum { SHORT = 64 }; /* short ones come again and again, long ones do not */
    if (cell->type != AS_CELL_TEXT) return true;
    if (cell->size > SHORT) return (cell->text = as_arena_copy(&ds->arena, cell->text, cell->size)) != NULL;
    as_str text = as_ds_intern(ds, cell->text, cell->size);
    if (text == AS_NO_STR) return false;
    cell->text = as_ds_text(ds, text);
    return true;
}

/* A cell of the model that is being read; of two in one column the later one counts. */
static bool add_cell(void *user, const char *key, size_t key_size, as_cell value) {
    as_perun_tables *tables = user;
    uint32_t column = as_perun_key_column(tables->ds, tables->models, key, key_size);
    return as_perun_keep_text(tables->ds, &value) && as_perun_cells_put(&tables->cells, column, value);
}

static assay_status json_failed(as_perun_tables *tables, const as_json *json) {
    if (json->type == AS_JSON_ERROR) return as_json_fail(json, tables->reader->error);
    return as_reader_memory(tables->reader);
}

/* The current token opens a model. */
static assay_status add_model(as_perun_tables *tables, as_json *json, assay_id run, uint32_t order,
                              as_perun_note *twice) {
    const char *begin = json->token;
    size_t n_superseded = as_flattener_superseded(tables->flattener);
    as_perun_cells_begin(&tables->cells);
    if (!as_flatten_members(tables->flattener, json, add_cell, tables)) return json_failed(tables, json);
    n_superseded = as_flattener_superseded(tables->flattener) - n_superseded;
    if (n_superseded && !twice->count) twice->first = begin;
    twice->count += n_superseded;
    bool fine = true;
    if (order >= 2) fine = add_cell(tables, "snapshot", 8, as_cell_int((int64_t)order - 2));
    const as_vec *cells = &tables->cells.cells;
    uint32_t kind = fine ? as_records_add_kind(tables->models, cells->data, cells->count) : UINT32_MAX;
    if (kind == UINT32_MAX || !as_records_add_rows(tables->models, run, kind, 1))
        return as_reader_memory(tables->reader);
    return ASSAY_OK;
}

static assay_status add_models(as_perun_tables *tables, as_json *json, as_perun_places *places, assay_id run,
                               uint32_t order, as_perun_note *twice) {
    if (as_json_next(json) == AS_JSON_NULL) return ASSAY_OK;
    if (json->type == AS_JSON_ERROR) return json_failed(tables, json);
    if (json->type != AS_JSON_ARRAY) {
        as_leave_out(tables->reader, as_perun_locate(places, json->token), "models-not-list",
                     "\"models\" is no list; left out");
        return ASSAY_OK;
    }
    while (as_json_next(json) != AS_JSON_ARRAY_END) {
        if (json->type == AS_JSON_OBJECT) {
            AS_TRY(add_model(tables, json, run, order, twice));
            continue;
        }
        if (json->type != AS_JSON_ERROR)
            as_leave_out(tables->reader, as_perun_locate(places, json->token), "model-not-object",
                         "a model is no object; left out");
        if (as_json_skip(json, NULL, NULL) == AS_JSON_ERROR) return json_failed(tables, json);
    }
    return ASSAY_OK;
}

assay_status as_perun_settle_models(as_perun_tables *tables, assay_id run, const char *path, const char *text,
                                    as_perun_note *twice) {
    size_t n = tables->noted.count;
    if (n == 0) return ASSAY_OK;
    qsort(tables->noted.data, n, sizeof(noted_models), compare_noted);
    as_json json;
    as_perun_places places = as_perun_places_of(path, text);
    as_json_init(&json, path, text, 0, (as_json_options){.nan_literals = true, .max_depth = tables->reader->max_depth},
                 &tables->ds->budget);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        noted_models *noted = &AS_AT(noted_models, &tables->noted, i);
        as_json_restart(&json, noted->raw.text, noted->raw.size, 1);
        json.begin = text; /* places are those of the profile */
        status = add_models(tables, &json, &places, run, noted->order, twice);
    }
    as_json_free(&json);
    tables->noted.count = 0;
    return status;
}

assay_status as_perun_tables_finish(as_perun_tables *tables) {
    as_records_shrink(tables->models);
    as_perun_cells_free(&tables->cells);
    as_vec_free(&tables->noted);
    return as_perun_frames_finish(tables->frames, tables->reader, tables->flattener);
}
