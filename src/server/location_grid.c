#include "server/location_grid.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_kind(const as_dataset *ds, assay_id location, const char *wanted) {
    const char *kind = as_ds_text(ds, as_ds_location(ds, location)->kind);
    return kind && strcasecmp(kind, wanted) == 0;
}

assay_id as_location_process(const as_dataset *ds, assay_id location) {
    for (assay_id id = location; id != ASSAY_NONE; id = as_ds_location(ds, id)->parent) {
        if (is_kind(ds, id, "rank") || is_kind(ds, id, "process")) return id;
    }
    return as_ds_location(ds, location)->parent;
}

static assay_id node_of(const as_dataset *ds, assay_id location) {
    for (assay_id id = location; id != ASSAY_NONE; id = as_ds_location(ds, id)->parent) {
        if (is_kind(ds, id, "node")) return id;
    }
    return ASSAY_NONE;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A row for each different location that `above` gives, in order of appearance; places one after the other in each.
 * False when memory is out. */
static bool put_rows(const as_placed_values *of, assay_id (*above)(const as_dataset *ds, assay_id location),
                     as_location_grid *grid) {
    const as_dataset *ds = of->view.ds;
    const as_places *places = &of->view.places;
    size_t n = AS_COUNT(ds, locations);
    uint32_t *row_of = malloc((n + 1) * sizeof *row_of), *used = calloc((size_t)places->n + 1, sizeof *used);
    grid->n_rows = grid->n_columns = 0;
    for (size_t i = 0; row_of && i <= n; i++) row_of[i] = UINT32_MAX;
    for (uint32_t i = 0; row_of && used && i < places->n; i++) {
        assay_id id = above(ds, places->ids[i]);
        uint32_t *row = &row_of[id == ASSAY_NONE ? n : id];
        if (*row == UINT32_MAX) {
            grid->above[grid->n_rows] = id;
            *row = grid->n_rows++;
        }
        grid->row[i] = *row;
        grid->column[i] = used[*row]++;
        if (used[*row] > grid->n_columns) grid->n_columns = used[*row];
    }
    bool fine = row_of && used;
    free(row_of);
    free(used);
    return fine;
}

/* About twice as wide as high. */
static void wrap(const as_placed_values *of, as_location_grid *grid) {
    uint32_t n = of->view.places.n, wide = 16;
    while ((uint64_t)wide * wide < 2 * (uint64_t)n) wide *= 2;
    grid->layout = AS_GRID_WRAPPED;
    grid->n_columns = n < wide ? n : wide;
    grid->n_rows = grid->n_columns ? (n + grid->n_columns - 1) / grid->n_columns : 0;
    for (uint32_t i = 0; i < n; i++) {
        grid->row[i] = i / grid->n_columns;
        grid->column[i] = i % grid->n_columns;
    }
}

/* ---- columns by number ------------------------------------------------------------------------------------------- */

/* A place by what it is called in its row. */
typedef struct named {
    as_str kind;
    int64_t number;
    uint32_t row, place;
} named;

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The column of each: false where two of one row would have the same, some have no number, or most columns were
 * empty. */
static bool number_columns(const as_placed_values *of, named *names, as_location_grid *grid) {
    uint32_t n = of->view.places.n, n_columns = 0;
    for (uint32_t i = 0; i < n; i++) {
        const as_location *location = as_ds_location(of->view.ds, of->view.places.ids[i]);
        names[i] = (named){location->kind, as_location_number(of->view.ds, location), grid->row[i], i};
        if (names[i].number < 0) return false;
    }
    qsort(names, n, sizeof *names, compare_named);
    for (uint32_t i = 0; i < n; i++) {
        bool is_same = i && names[i].kind == names[i - 1].kind && names[i].number == names[i - 1].number;
        if (is_same && names[i].row == names[i - 1].row) return false;
        n_columns += !is_same;
    }
    if (n_columns > grid->n_columns + grid->n_columns / 4) return false;
    grid->n_columns = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!i || names[i].kind != names[i - 1].kind || names[i].number != names[i - 1].number)
            grid->example[grid->n_columns++] = of->view.places.ids[names[i].place];
        grid->column[names[i].place] = grid->n_columns - 1;
    }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

assay_status as_location_grid_make(const as_placed_values *of, as_location_grid *grid, assay_error *error) {
    size_t n = (size_t)of->view.places.n + 1;
    *grid = (as_location_grid){.row = malloc(n * sizeof *grid->row),
                               .column = malloc(n * sizeof *grid->column),
                               .above = malloc(n * sizeof *grid->above),
                               .example = malloc(n * sizeof *grid->example)};
    named *names = malloc(n * sizeof *names);
    bool fine =
        grid->row && grid->column && grid->above && grid->example && names && put_rows(of, as_location_process, grid);
    if (fine && grid->n_rows > 1 && grid->n_rows < of->view.places.n) {
        grid->layout = AS_GRID_PROCESSES;
        grid->has_numbers = number_columns(of, names, grid);
    } else if (fine) {
        grid->layout = AS_GRID_NODES;
        fine = put_rows(of, node_of, grid);
        if (fine && (grid->n_rows < 2 || grid->n_rows == of->view.places.n)) wrap(of, grid);
    }
    free(names);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_location_grid_free(as_location_grid *grid) {
    free(grid->row);
    free(grid->column);
    free(grid->above);
    free(grid->example);
    *grid = (as_location_grid){0};
}
