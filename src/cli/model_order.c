/* Models in the order that people ask for. */
#include <stdlib.h>
#include <string.h>

#include "cli/model_view.h"
#include "cli/row_order.h"

/* Worst first; equal ones in the order of the file. */
static int compare_growths(const void *a, const void *b, void *user) {
    const as_growth *growths = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int result = as_growth_compare(&growths[y], &growths[x]);
    return result ? result : (x > y) - (x < y);
}

static bool sort_by_growth(const as_model_view *view, uint32_t *rows, size_t n) {
    as_growth *growths = malloc(n * sizeof *growths);
    if (!growths) return false;
    for (size_t i = 0; i < n; i++) {
        const as_dataset *ds = view->study->ds;
        growths[i] = as_model_growth(ds, as_ds_model(ds, view->fit->first_model + (assay_id)i));
    }
    qsort_r(rows, n, sizeof *rows, compare_growths, growths);
    free(growths);
    return true;
}

static bool sort_by_number(const as_model_view *view, bool by_value, uint32_t *rows, size_t n) {
    double *numbers = malloc(n * sizeof *numbers);
    if (!numbers) return false;
    for (size_t i = 0; i < n; i++) {
        const as_dataset *ds = view->study->ds;
        const as_model *model = as_ds_model(ds, view->fit->first_model + (assay_id)i);
        numbers[i] = by_value ? as_model_at(ds, model, view->at) : model->SMAPE;
    }
    as_rows_by_number(rows, n, numbers);
    free(numbers);
    return true;
}

static bool sort_by_name(const as_model_view *view, uint32_t *rows, size_t n) {
    const char **names = malloc(n * sizeof *names);
    as_arena texts;
    as_vec path;
    as_arena_init(&texts, NULL);
    as_vec_init(&path, 1, NULL);
    bool fine = names != NULL;
    for (size_t i = 0; i < n && fine; i++) {
        const as_dataset *ds = view->study->ds;
        fine = as_context_path(ds, as_ds_model(ds, view->fit->first_model + (assay_id)i)->context, &path) &&
               (names[i] = as_arena_copy(&texts, path.data, path.count - 1));
    }
    if (fine) as_rows_by_name(rows, n, names);
    as_vec_free(&path);
    as_arena_free(&texts);
    free(names);
    return fine;
}

bool as_model_order(const as_model_view *view, const char *sort, uint32_t *rows, size_t n) {
    for (size_t i = 0; i < n; i++) rows[i] = (uint32_t)i;
    if (strcmp(sort, "growth") == 0) return sort_by_growth(view, rows, n);
    if (strcmp(sort, "name") == 0) return sort_by_name(view, rows, n);
    if (strcmp(sort, "value") == 0) return sort_by_number(view, true, rows, n);
    if (strcmp(sort, "error") == 0) return sort_by_number(view, false, rows, n);
    return true;
}
