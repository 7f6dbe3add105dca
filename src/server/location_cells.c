#include "server/location_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 200, MOST_COLUMNS = 400 };

static void build_value(as_builder *b, const char *key, const as_placed_values *of, uint32_t place) {
    if (as_placed_has(of, place))
        as_answer_number(b, key, of->values[place]);
    else
        as_build_text(b, key, NULL);
}

static void build_label(as_builder *b, const as_placed_values *of, uint32_t place) {
    char label[AS_PLACE_SIZE];
    as_stat_place(&of->view, place, label);
    as_build_text(b, NULL, label);
}

void as_answer_runs(as_builder *b, const as_placed_values *of) {
    const as_places *places = &of->view.places;
    uint32_t n = places->n < AS_MOST_SINGLE_PLACES ? places->n : AS_MOST_SINGLE_PLACES;
    as_build_object(b, "places", false);
    as_build_array(b, "id", false);
    for (uint32_t i = 0; i < n; i++) as_build_int(b, NULL, places->ids[i]);
    as_build_end(b);
    as_build_array(b, "label", false);
    for (uint32_t i = 0; i < n; i++) build_label(b, of, i);
    as_build_end(b);
    as_build_array(b, "value", false);
    for (uint32_t i = 0; i < n; i++) build_value(b, NULL, of, i);
    as_build_end(b);
    as_build_end(b);
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

/* The different kinds of locations, and what stands above them, each a number. */
typedef struct tables {
    as_vec kinds;         /* as_str */
    as_vec processes;     /* assay_id */
    uint32_t *process_of; /* of each location: its number among processes; UINT32_MAX: none yet */
} tables;

static int64_t kind_number(const tables *t, as_str kind) {
    for (size_t i = 0; i < t->kinds.count; i++) {
        if (AS_AT(as_str, &t->kinds, i) == kind) return (int64_t)i;
    }
    return -1;
}

static bool add_kind(tables *t, as_str kind) {
    return kind == AS_NO_STR || kind_number(t, kind) >= 0 || as_vec_append(&t->kinds, &kind, 1);
}

static bool fill_tables(const as_placed_values *of, tables *t) {
    const as_dataset *ds = of->view.ds;
    size_t n = AS_COUNT(ds, locations);
    as_vec_init(&t->kinds, sizeof(as_str), NULL);
    as_vec_init(&t->processes, sizeof(assay_id), NULL);
    t->process_of = malloc((n + 1) * sizeof *t->process_of);
    for (size_t i = 0; t->process_of && i < n; i++) t->process_of[i] = UINT32_MAX;
    bool fine = t->process_of != NULL;
    for (uint32_t i = 0; fine && i < of->view.places.n; i++) {
        assay_id id = of->view.places.ids[i], above = as_location_process(ds, id);
        fine = add_kind(t, as_ds_location(ds, id)->kind);
        if (!fine || above == ASSAY_NONE || t->process_of[above] != UINT32_MAX) continue;
        t->process_of[above] = (uint32_t)t->processes.count;
        fine = as_vec_append(&t->processes, &above, 1) && add_kind(t, as_ds_location(ds, above)->kind);
    }
    return fine;
}

static void free_tables(tables *t) {
    as_vec_free(&t->kinds);
    as_vec_free(&t->processes);
    free(t->process_of);
}

/* Columns id, kind, number and name of n locations. */
static void build_locations(as_builder *b, const as_dataset *ds, const tables *t, const assay_id *ids, size_t n) {
    as_build_array(b, "id", false);
    for (size_t i = 0; i < n; i++) as_build_int(b, NULL, ids[i]);
    as_build_end(b);
    as_build_array(b, "kind", false);
    for (size_t i = 0; i < n; i++) as_build_known(b, NULL, kind_number(t, as_ds_location(ds, ids[i])->kind), false);
    as_build_end(b);
    as_build_array(b, "number", false);
    for (size_t i = 0; i < n; i++) as_build_known(b, NULL, as_location_number(ds, as_ds_location(ds, ids[i])), false);
    as_build_end(b);
    as_build_array(b, "name", false);
    for (size_t i = 0; i < n; i++) as_build_text(b, NULL, as_ds_text(ds, as_ds_location(ds, ids[i])->name));
    as_build_end(b);
}

static void build_numbers(as_builder *b, const char *key, const uint32_t *numbers, uint32_t n) {
    as_build_array(b, key, false);
    for (uint32_t i = 0; i < n; i++) as_build_int(b, NULL, numbers[i]);
    as_build_end(b);
}

static void build_selected(as_builder *b, const bool *selected, uint32_t n) {
    if (!selected) return;
    as_build_array(b, "selected", false);
    for (uint32_t i = 0; i < n; i++) as_build_int(b, NULL, selected[i]);
    as_build_end(b);
}

static assay_status build_places(as_builder *b, const as_placed_values *of, const as_location_grid *grid,
                                 const bool *selected, assay_error *error) {
    const as_dataset *ds = of->view.ds;
    const as_places *places = &of->view.places;
    tables t;
    if (!fill_tables(of, &t)) {
        free_tables(&t);
        return as_fail_memory(error, NULL);
    }
    as_build_array(b, "kinds", false);
    for (size_t i = 0; i < t.kinds.count; i++) as_build_text(b, NULL, as_ds_text(ds, AS_AT(as_str, &t.kinds, i)));
    as_build_end(b);
    as_build_object(b, "processes", false);
    build_locations(b, ds, &t, t.processes.data, t.processes.count);
    as_build_end(b);
    as_build_object(b, "places", false);
    build_locations(b, ds, &t, places->ids, places->n);
    as_build_array(b, "process", false);
    for (uint32_t i = 0; i < places->n; i++) {
        assay_id above = as_location_process(ds, places->ids[i]);
        as_build_known(b, NULL, above == ASSAY_NONE ? -1 : (int64_t)t.process_of[above], false);
    }
    as_build_end(b);
    as_build_array(b, "label", false);
    for (uint32_t i = 0; i < places->n; i++) build_label(b, of, i);
    as_build_end(b);
    build_numbers(b, "row", grid->row, places->n);
    build_numbers(b, "column", grid->column, places->n);
    as_build_array(b, "value", false);
    for (uint32_t i = 0; i < places->n; i++) build_value(b, NULL, of, i);
    as_build_end(b);
    build_selected(b, selected, places->n);
    as_build_end(b);
    free_tables(&t);
    return ASSAY_OK;
}

/* ---- in cells of several ----------------------------------------------------------------------------------------- */

typedef struct cell {
    uint32_t n, n_selected;
    double sum, min, max;
} cell;

static uint32_t step_of(uint32_t n, uint32_t most) { return n <= most ? 1 : (n + most - 1) / most; }

typedef enum cell_part { CELL_N, CELL_SELECTED, CELL_MEAN, CELL_MIN, CELL_MAX } cell_part;

static void build_part(as_builder *b, const char *key, const cell *cells, size_t n, cell_part part) {
    as_build_array(b, key, false);
    for (size_t i = 0; i < n; i++) {
        const cell *c = &cells[i];
        if (part == CELL_N || part == CELL_SELECTED)
            as_build_int(b, NULL, part == CELL_N ? c->n : c->n_selected);
        else if (c->n == 0)
            as_build_text(b, NULL, NULL);
        else
            as_build_real(b, NULL, part == CELL_MEAN ? c->sum / c->n : part == CELL_MIN ? c->min : c->max);
    }
    as_build_end(b);
}

static assay_status build_cells(as_builder *b, const as_placed_values *of, const as_location_grid *grid,
                                const bool *selected, assay_error *error) {
    uint32_t row_step = step_of(grid->n_rows, MOST_ROWS), column_step = step_of(grid->n_columns, MOST_COLUMNS);
    uint32_t n_rows = (grid->n_rows + row_step - 1) / row_step,
             n_columns = (grid->n_columns + column_step - 1) / column_step;
    size_t n = (size_t)n_rows * n_columns;
    cell *cells = calloc(n + 1, sizeof *cells);
    if (!cells) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < of->view.places.n; i++) {
        cell *c = &cells[(size_t)(grid->row[i] / row_step) * n_columns + grid->column[i] / column_step];
        c->n_selected += selected && selected[i];
        if (!as_placed_has(of, i)) continue;
        double value = as_number_real(of->values[i]);
        c->sum += value;
        c->min = c->n && c->min < value ? c->min : value;
        c->max = c->n && c->max > value ? c->max : value;
        c->n++;
    }
    as_build_object(b, "cells", false);
    as_build_int(b, "rows", n_rows);
    as_build_int(b, "columns", n_columns);
    as_build_int(b, "row_step", row_step);
    as_build_int(b, "column_step", column_step);
    build_part(b, "n", cells, n, CELL_N);
    build_part(b, "mean", cells, n, CELL_MEAN);
    build_part(b, "min", cells, n, CELL_MIN);
    build_part(b, "max", cells, n, CELL_MAX);
    if (selected) build_part(b, "selected", cells, n, CELL_SELECTED);
    as_build_end(b);
    free(cells);
    return ASSAY_OK;
}

/* ---- what rows and columns are ----------------------------------------------------------------------------------- */

/* Names and numbers of one location every `step`, or null. */
static void build_axis(as_builder *b, const char *key, const as_dataset *ds, const assay_id *ids, uint32_t n,
                       uint32_t step) {
    as_build_object(b, key, false);
    as_build_array(b, "kind", false);
    for (uint32_t i = 0; i < n; i += step)
        as_build_text(b, NULL, ids[i] == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_location(ds, ids[i])->kind));
    as_build_end(b);
    as_build_array(b, "name", false);
    for (uint32_t i = 0; i < n; i += step)
        as_build_text(b, NULL, ids[i] == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_location(ds, ids[i])->name));
    as_build_end(b);
    for (int is_last = 0; is_last < 2; is_last++) {
        as_build_array(b, is_last ? "last" : "number", false);
        for (uint32_t i = 0; i < n; i += step) {
            uint32_t at = is_last && step > 1 ? (n - i < step ? n : i + step) - 1 : i;
            as_build_known(b, NULL, ids[at] == ASSAY_NONE ? -1 : as_location_number(ds, as_ds_location(ds, ids[at])),
                           false);
        }
        as_build_end(b);
    }
    as_build_end(b);
}

static bool build_wrapped_rows(as_builder *b, const as_placed_values *of, const as_location_grid *grid, uint32_t step) {
    const as_places *places = &of->view.places;
    assay_id *firsts = malloc(((size_t)grid->n_rows + 1) * sizeof *firsts);
    if (!firsts) return false;
    for (uint32_t i = 0; i < grid->n_rows; i++) {
        assay_id id = places->ids[(size_t)i * grid->n_columns], above = as_location_process(of->view.ds, id);
        firsts[i] = of->view.one_thread && above != ASSAY_NONE ? above : id;
    }
    build_axis(b, "rows", of->view.ds, firsts, grid->n_rows, step);
    free(firsts);
    return true;
}

static assay_status build_grid(as_builder *b, const as_placed_values *of, const as_location_grid *grid, bool is_single,
                               assay_error *error) {
    static const char *const layouts[] = {"processes", "nodes", "wrapped"};
    uint32_t row_step = is_single ? 1 : step_of(grid->n_rows, MOST_ROWS);
    uint32_t column_step = is_single ? 1 : step_of(grid->n_columns, MOST_COLUMNS);
    bool fine = true;
    as_build_object(b, "grid", false);
    as_build_text(b, "layout", layouts[grid->layout]);
    as_build_int(b, "n_rows", grid->n_rows);
    as_build_int(b, "n_columns", grid->n_columns);
    if (grid->layout == AS_GRID_WRAPPED)
        fine = build_wrapped_rows(b, of, grid, row_step);
    else
        build_axis(b, "rows", of->view.ds, grid->above, grid->n_rows, row_step);
    if (grid->has_numbers)
        build_axis(b, "columns", of->view.ds, grid->example, grid->n_columns, column_step);
    else
        as_build_text(b, "columns", NULL);
    as_build_end(b);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_answer_cells(as_builder *b, const as_placed_values *of, const bool *selected, assay_error *error) {
    as_location_grid grid;
    bool is_single = of->view.places.n <= AS_MOST_SINGLE_PLACES;
    assay_status status = as_location_grid_make(of, &grid, error);
    if (status == ASSAY_OK) status = build_grid(b, of, &grid, is_single, error);
    if (status == ASSAY_OK) status = (is_single ? build_places : build_cells)(b, of, &grid, selected, error);
    as_location_grid_free(&grid);
    return status;
}
