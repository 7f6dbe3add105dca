/* Rows and columns of a result, and where operands have them. */
#include <math.h>
#include <stdlib.h>

#include "analysis/algebra/operand.h"

bool as_workbench_init(as_workbench *bench, as_union *u) {
    *bench = (as_workbench){.u = u,
                            .context_marks = calloc(u->ds->contexts.count + 1, sizeof *bench->context_marks),
                            .location_marks = calloc(u->ds->locations.count + 1, sizeof *bench->location_marks)};
    return bench->context_marks && bench->location_marks;
}

void as_workbench_free(as_workbench *bench) {
    free(bench->context_marks);
    free(bench->location_marks);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Puts all operands' columns into order, or the same array as last time. */
static bool list_columns(as_workbench *bench, const as_operand *operands, size_t n, as_alignment *out) {
    uint32_t *marks = bench->location_marks, count = 0;
    for (size_t k = 0; k < n; k++) {
        const assay_id *map = bench->u->maps[operands[k].part].locations;
        for (uint32_t i = 0; i < operands[k].view.n_columns; i++) {
            uint32_t *mark = &marks[map[operands[k].view.columns[i]]];
            count += !*mark;
            *mark = 1;
        }
    }
    bool same = count == bench->n_last_columns && bench->last_columns;
    for (uint32_t i = 0; same && i < count; i++) same = marks[bench->last_columns[i]] != 0;
    if (!same) {
        bench->last_columns = as_arena_array(&bench->u->ds->arena, count, sizeof(assay_id));
        bench->n_last_columns = 0;
        if (!bench->last_columns) return false;
        for (assay_id id = 0; bench->n_last_columns < count; id++)
            if (marks[id]) bench->last_columns[bench->n_last_columns++] = id;
    }
    out->columns = bench->last_columns;
    out->n_columns = count;
    return true;
}

static bool find_columns(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out) {
    bool fine = true;
    for (uint32_t i = 0; i < out->n_columns; i++) bench->location_marks[out->columns[i]] = i + 1;
    for (size_t k = 0; k < n && fine; k++) {
        const as_profile *view = &operands[k].view;
        const assay_id *map = bench->u->maps[operands[k].part].locations;
        uint32_t *at = operands[k].columns_at = malloc(((size_t)out->n_columns + 1) * sizeof *at);
        fine = at != NULL;
        bool same = view->n_columns == out->n_columns;
        for (uint32_t i = 0; fine && i < out->n_columns; i++) at[i] = UINT32_MAX;
        for (uint32_t i = 0; fine && i < view->n_columns; i++) {
            uint32_t column = bench->location_marks[map[view->columns[i]]] - 1;
            at[column] = i;
            same &= column == i;
        }
        if (fine && same) {
            free(at);
            operands[k].columns_at = NULL;
        }
    }
    return fine;
}

bool as_align_columns(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out) {
    bool has_places = false;
    for (size_t k = 0; k < n; k++) has_places |= operands[k].view.columns != NULL;
    out->columns = NULL;
    out->n_columns = 1;
    if (!has_places) return true;
    bool fine = list_columns(bench, operands, n, out) && find_columns(bench, operands, n, out);
    for (size_t k = 0; k < n; k++) {
        const assay_id *map = bench->u->maps[operands[k].part].locations;
        for (uint32_t i = 0; i < operands[k].view.n_columns; i++)
            bench->location_marks[map[operands[k].view.columns[i]]] = 0;
    }
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool align_rows(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out) {
    uint32_t *marks = bench->context_marks, n_rows = 0;
    for (size_t k = 0; k < n; k++) {
        const assay_id *map = bench->u->maps[operands[k].part].contexts;
        for (uint32_t i = 0; i < operands[k].view.n_rows; i++) {
            uint32_t *mark = &marks[map[operands[k].view.contexts[i]]];
            n_rows += !*mark;
            *mark = 1;
        }
    }
    out->contexts = as_arena_array(&bench->u->ds->arena, n_rows, sizeof *out->contexts);
    out->n_rows = out->contexts ? n_rows : 0;
    for (assay_id id = 0, row = 0; row < out->n_rows; id++) {
        if (!marks[id]) continue;
        out->contexts[row++] = id;
        marks[id] = row;
    }
    bool fine = out->contexts != NULL;
    for (size_t k = 0; k < n && fine; k++) {
        const assay_id *map = bench->u->maps[operands[k].part].contexts;
        uint32_t *at = operands[k].rows_at = malloc(((size_t)n_rows + 1) * sizeof *at);
        fine = at != NULL;
        for (uint32_t i = 0; fine && i < n_rows; i++) at[i] = UINT32_MAX;
        for (uint32_t i = 0; fine && i < operands[k].view.n_rows; i++)
            at[marks[map[operands[k].view.contexts[i]]] - 1] = i;
    }
    for (size_t k = 0; k < n; k++) {
        const assay_id *map = bench->u->maps[operands[k].part].contexts;
        for (uint32_t i = 0; i < operands[k].view.n_rows; i++) marks[map[operands[k].view.contexts[i]]] = 0;
    }
    return fine;
}

/* Where one operand has no places, nobody has. */
static bool agree_on_places(as_operand *operands, size_t n) {
    bool without = false, with = false;
    for (size_t k = 0; k < n; k++) {
        without |= !operands[k].view.columns && operands[k].view.n_rows > 0;
        with |= operands[k].view.columns != NULL;
    }
    for (size_t k = 0; k < n; k++) {
        as_profile *view = &operands[k].view;
        if (without && !as_operand_sum_places(&operands[k])) return false;
        if (!without && with && !view->columns) view->n_columns = 0; /* it has no values at all */
    }
    return true;
}

bool as_align(as_workbench *bench, as_operand *operands, size_t n, as_alignment *out) {
    *out = (as_alignment){0};
    bool fine = agree_on_places(operands, n) && as_align_columns(bench, operands, n, out) &&
                align_rows(bench, operands, n, out);
    if (!out->n_columns) out->n_rows = 0;
    return fine;
}

const char *as_operand_row(const as_operand *operand, const as_alignment *alignment, uint32_t i, void *room) {
    uint32_t row = operand->rows_at[i];
    return row == UINT32_MAX ? NULL : as_operand_gather(operand, alignment, row, room);
}

const char *as_operand_gather(const as_operand *operand, const as_alignment *alignment, uint32_t row, void *room) {
    const char *values = as_profile_row(&operand->view, row);
    uint32_t size = operand->view.type.size;
    if (!operand->columns_at && (uintptr_t)values % 8 == 0) return values;
    if (!operand->columns_at) return memcpy(room, values, (size_t)alignment->n_columns * size);
    char *to = room;
    for (uint32_t c = 0; c < alignment->n_columns; c++, to += size) {
        if (operand->columns_at[c] == UINT32_MAX)
            memset(to, 0, size);
        else
            memcpy(to, values + (size_t)operand->columns_at[c] * size, size);
    }
    return room;
}

/* Adds up the row of all operands, each number divided before. */
static void add_rows(const as_operand *operands, size_t n, const as_alignment *alignment, uint32_t i, double divisor,
                     double *room, size_t width, double *out) {
    memset(out, 0, width * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        const double *row = (const double *)(const void *)as_operand_row(&operands[k], alignment, i, room);
        for (size_t c = 0; row && c < width; c++) out[c] += row[c] / divisor;
    }
}

static bool all_finite(const double *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(numbers[i])) return false;
    }
    return true;
}

/* Whether another run of the operand's part has row i: then this one did not measure it, while a part without the row
 * has 0. */
static bool is_measured_elsewhere(const as_operand *operands, size_t n, size_t k, uint32_t i) {
    for (size_t other = 0; other < n; other++) {
        if (operands[other].part == operands[k].part && operands[other].rows_at[i] != UINT32_MAX) return true;
    }
    return false;
}

/* Whether operand k takes part in the mean of a column of row i. */
static bool takes_part(const as_operand *operands, size_t n, size_t k, uint32_t i, uint32_t column) {
    const as_operand *operand = &operands[k];
    bool has_row = operand->rows_at[i] != UINT32_MAX;
    if (as_dtype_is_extreme(operand->view.type.dtype))
        return has_row && (!operand->columns_at || operand->columns_at[column] != UINT32_MAX);
    return has_row || !operand->is_sparse || !is_measured_elsewhere(operands, n, k, i);
}

void as_operands_average(const as_operand *operands, size_t n, const as_alignment *alignment, uint32_t i, double *room,
                         double *out) {
    as_value_type type = n ? operands[0].view.type : as_value_type_of(AS_DTYPE_DOUBLE, 0);
    size_t width = (size_t)alignment->n_columns * type.n_parts;
    add_rows(operands, n, alignment, i, 1, room, width, out);
    double *scaled = room + width; /* where the sum is too large, though the mean may not be */
    bool is_scaled = n > 1 && !all_finite(out, width);
    if (is_scaled) add_rows(operands, n, alignment, i, (double)n, room, width, scaled);
    for (uint32_t column = 0; column < alignment->n_columns; column++) {
        double divisor = 0;
        for (size_t k = 0; k < n; k++) divisor += takes_part(operands, n, k, i, column);
        size_t first = (size_t)column * type.n_parts;
        if (divisor == 0) as_values_clear(type, &out[first], 1);
        for (size_t c = first; divisor > 0 && c < first + type.n_parts; c++)
            out[c] = is_scaled && !isfinite(out[c]) ? scaled[c] * ((double)n / divisor) : out[c] / divisor;
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void release_room(void *room) { as_vec_free(room); }

char *as_result_room(as_dataset *ds, uint64_t bytes, as_vec **holder) {
    as_vec *room = as_arena_alloc(&ds->arena, sizeof *room);
    if (!room || bytes > SIZE_MAX - 1) return NULL;
    as_vec_init(room, 1, &ds->budget);
    if (!as_vec_reserve(room, (size_t)bytes + 1) || !as_ds_hold(ds, room, release_room)) return NULL;
    *holder = room;
    return room->data;
}

void as_tell_limits(as_dataset *ds, assay_id metric, uint64_t n, const char *type) {
    if (!n) return;
    as_add_problem(ds, AS_WARNING, AS_NOWHERE, "beyond-limit",
                   "metric '%s': %llu value%s beyond what %s can hold became the nearest limit",
                   as_ds_text(ds, as_ds_metric(ds, metric)->name), (unsigned long long)n, n == 1 ? "" : "s", type);
}
