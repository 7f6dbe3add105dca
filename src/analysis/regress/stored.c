#include <math.h>

#include "analysis/regress/regress.h"
#include "core/table.h"

/* What is read of the table, by column. */
enum column {
    UID,
    MODEL,
    METHOD,
    R_SQUARE,
    X_START,
    X_END,
    X_INTERVAL_START,
    X_INTERVAL_END,
    B0,
    B1,
    B2,
    SNAPSHOT,
    BUCKET_STATS,
    Y_START,
    BANDWIDTH,
    WINDOW_WIDTH,
    PER_KEY,
    OF_KEY,
    BUCKETS_METHOD,
    STATISTIC_FUNCTION,
    MOVING_METHOD,
    KERNEL_MODE,
    N_COLUMNS
};

static const char *const column_names[N_COLUMNS] = {
    [UID] = "uid",
    [MODEL] = "model",
    [METHOD] = "method",
    [R_SQUARE] = "r_square",
    [X_START] = "x_start",
    [X_END] = "x_end",
    [X_INTERVAL_START] = "x_interval_start",
    [X_INTERVAL_END] = "x_interval_end",
    [B0] = "coeffs:b0",
    [B1] = "coeffs:b1",
    [B2] = "coeffs:b2",
    [SNAPSHOT] = "snapshot",
    [BUCKET_STATS] = "bucket_stats",
    [Y_START] = "y_start",
    [BANDWIDTH] = "bandwidth",
    [WINDOW_WIDTH] = "window_width",
    [PER_KEY] = "per_key",
    [OF_KEY] = "of_key",
    [BUCKETS_METHOD] = "buckets_method",
    [STATISTIC_FUNCTION] = "statistic_function",
    [MOVING_METHOD] = "moving_method",
    [KERNEL_MODE] = "kernel_mode",
};

struct reading {
    const as_table *table;
    size_t columns[N_COLUMNS]; /* SIZE_MAX: the table has none such */
    as_curves *out;
    bool failed;
};

static as_cell cell_of(const struct reading *r, size_t row, enum column column) {
    return r->columns[column] == SIZE_MAX ? as_cell_null() : as_table_get(r->table, row, r->columns[column]);
}

static double number_of(const struct reading *r, size_t row, enum column column) {
    as_cell cell = cell_of(r, row, column);
    return cell.type == AS_CELL_INT    ? (double)cell.i
           : cell.type == AS_CELL_UINT ? (double)cell.u
           : cell.type == AS_CELL_REAL ? cell.r
                                       : NAN;
}

static int64_t whole_of(const struct reading *r, size_t row, enum column column) {
    as_cell cell = cell_of(r, row, column);
    if (cell.type == AS_CELL_INT) return cell.i;
    return cell.type == AS_CELL_REAL && cell.r >= 0 && cell.r < 9e15 ? (int64_t)cell.r : -1;
}

/* A copy, numbers in digits; NULL: null, or memory is out. */
static const char *text_of(struct reading *r, size_t row, enum column column) {
    as_cell cell = cell_of(r, row, column);
    char digits[AS_NUMBER_SIZE];
    const char *text = digits;
    size_t size = 0;
    switch (cell.type) {
    case AS_CELL_NULL: return NULL;
    case AS_CELL_INT: size = as_int_format(cell.i, digits); break;
    case AS_CELL_UINT: size = as_uint_format(cell.u, digits); break;
    case AS_CELL_REAL: size = as_real_format_python(cell.r, digits); break;
    default:
        text = cell.text;
        size = cell.size;
        break;
    }
    const char *copy = as_arena_copy(&r->out->arena, text, size);
    r->failed |= !copy;
    return copy;
}

/* "1.5,nan,2" as numbers; what is none is NAN. */
static void read_buckets(struct reading *r, size_t row, as_curve *curve) {
    as_cell cell = cell_of(r, row, BUCKET_STATS);
    if (cell.type == AS_CELL_NULL || (cell.type == AS_CELL_TEXT && cell.size == 0)) return;
    size_t n = 1;
    for (size_t i = 0; cell.type == AS_CELL_TEXT && i < cell.size; i++) n += cell.text[i] == ',';
    double *numbers = as_arena_array(&r->out->arena, n, sizeof *numbers);
    r->failed |= !numbers;
    if (!numbers) return;
    curve->bucket_stats = numbers;
    curve->n_buckets = n;
    if (cell.type != AS_CELL_TEXT) {
        numbers[0] = number_of(r, row, BUCKET_STATS);
        return;
    }
    const char *from = cell.text, *end = cell.text + cell.size;
    for (size_t i = 0; i < n; i++) {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        if (!comma) comma = end;
        if (!as_real_parse(from, (size_t)(comma - from), &numbers[i])) numbers[i] = NAN;
        from = comma + 1;
    }
}

static void read_curve(struct reading *r, size_t row, as_curve *curve) {
    *curve = (as_curve){.uid = text_of(r, row, UID),
                        .model = AS_CURVE_OTHER,
                        .name = text_of(r, row, MODEL),
                        .method = text_of(r, row, METHOD),
                        .r_square = number_of(r, row, R_SQUARE),
                        .x_start = number_of(r, row, X_START),
                        .x_end = number_of(r, row, X_END),
                        .snapshot = whole_of(r, row, SNAPSHOT),
                        .y_start = number_of(r, row, Y_START),
                        .bandwidth = number_of(r, row, BANDWIDTH),
                        .window_width = number_of(r, row, WINDOW_WIDTH),
                        .per_key = text_of(r, row, PER_KEY),
                        .of_key = text_of(r, row, OF_KEY),
                        .buckets_method = text_of(r, row, BUCKETS_METHOD),
                        .statistic_function = text_of(r, row, STATISTIC_FUNCTION),
                        .moving_method = text_of(r, row, MOVING_METHOD),
                        .kernel_mode = text_of(r, row, KERNEL_MODE)};
    if (curve->name) as_curve_find(curve->name, &curve->model);
    if (isnan(curve->window_width)) curve->window_width = -1;
    if (cell_of(r, row, X_START).type == AS_CELL_NULL) curve->x_start = number_of(r, row, X_INTERVAL_START);
    if (cell_of(r, row, X_END).type == AS_CELL_NULL) curve->x_end = number_of(r, row, X_INTERVAL_END);
    for (unsigned i = 0; i < 3; i++) {
        curve->coefficients[i] = number_of(r, row, B0 + i);
        if (!isnan(curve->coefficients[i])) curve->n_coefficients = i + 1;
    }
    bool is_short = curve->model == AS_CURVE_CONSTANT && curve->n_coefficients == 1; /* b1 is 0 */
    if (is_short) curve->coefficients[1] = 0;
    read_buckets(r, row, curve);
}

assay_status as_stored_curves(const as_dataset *ds, as_curves *curves, assay_error *error) {
    struct reading r = {.table = as_ds_records(ds, "stored_model"), .out = curves};
    if (!r.table) return ASSAY_OK;
    for (int i = 0; i < N_COLUMNS; i++) r.columns[i] = as_table_find_column(r.table, column_names[i]);
    for (size_t row = 0; row < as_table_rows(r.table) && !r.failed; row++) {
        as_curve *curve = as_vec_push(&curves->curves);
        if (curve) read_curve(&r, row, curve);
        r.failed |= !curve;
    }
    return r.failed ? as_fail_memory(error, as_ds_text(ds, ds->path)) : ASSAY_OK;
}
