#include "cli/row_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b, void *user) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = ((const double *)user)[x], q = ((const double *)user)[y];
    int result = isnan(p) || isnan(q) ? isnan(p) - isnan(q) : (p < q) - (p > q);
    return result ? result : (x > y) - (x < y);
}

static int compare_names(const void *a, const void *b, void *user) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int result = strcmp(((const char *const *)user)[x], ((const char *const *)user)[y]);
    return result ? result : (x > y) - (x < y);
}

void as_rows_by_number(uint32_t *rows, size_t n, const double *numbers) {
    qsort_r(rows, n, sizeof *rows, compare_numbers, (void *)(uintptr_t)numbers);
}

void as_rows_by_name(uint32_t *rows, size_t n, const char *const *names) {
    qsort_r(rows, n, sizeof *rows, compare_names, (void *)(uintptr_t)names);
}
