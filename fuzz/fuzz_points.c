/* Points and ranges as text, for 1 to 4 parameters: what is accepted must be whole points of finite numbers, and no
 * more than promised. */
#include <stdlib.h>

#include "analysis/scaling/coordinates.h"
#include "dataset/build.h"

enum { MAX_POINTS = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static as_dataset *with_parameters(size_t n) {
    static const char *const names[] = {"p", "n", "size of grid", "p1"};
    as_dataset *ds = as_dataset_new(0);
    if (!ds) abort();
    for (size_t i = 0; i < n; i++) as_add_parameter(ds, as_ds_intern_text(ds, names[i]));
    for (size_t i = 0; i < 2 * n; i++) {
        double coordinate = i < n ? 2 : 64;
        as_vec_append(&ds->coordinates, &coordinate, 1);
    }
    ds->n_points = 2;
    return ds;
}

static void check_points(const as_dataset *ds, const as_vec *points) {
    size_t n = as_ds_parameters(ds);
    if (points->count == 0 || points->count % n || points->count / n > MAX_POINTS) abort();
    for (size_t i = 0; i < points->count; i++) {
        if (!isfinite(AS_AT(double, points, i))) abort();
    }
    assay_id parameter;
    for (size_t i = 0; i < points->count; i += n) {
        if (as_extrapolation(ds, &AS_AT(double, points, i), &parameter) < 1) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    as_dataset *ds = with_parameters(1 + bytes[0] % 4);
    char *text = malloc(size);
    if (!text) abort();
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    as_vec points;
    as_vec_init(&points, sizeof(double), NULL);
    assay_error error;
    if (as_points_parse(ds, text, &points, &error) == ASSAY_OK)
        check_points(ds, &points);
    else if (!error.message[0])
        abort();
    as_vec_free(&points);
    free(text);
    as_dataset_free(ds);
    return 0;
}
