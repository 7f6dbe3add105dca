/* A model over two parameters (api/surface): a grid of its values, and what was measured. */
#include <stdlib.h>
#include <string.h>

#include "server/scale.h"

enum { COLUMNS = 64, ROWS = 48, DIGITS = 6 };

typedef struct surface {
    as_scale_view *scale;
    assay_id over[2];
    double *at;       /* where the others are held */
    as_vec places[2]; /* double */
    bool is_log[2];
    as_vec models; /* uint32_t: one */
    as_vec text;
    as_builder builder;
} surface;

/* "p,n"; by default the first two. */
static assay_status read_over(surface *f, const as_request *request, assay_error *error) {
    const char *text = as_request_text(request, "over"), *comma = text ? strchr(text, ',') : NULL;
    f->over[0] = 0;
    f->over[1] = 1;
    if (as_ds_parameters(as_scale_ds(f->scale)) < 2)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "there is one parameter, and no surface over it");
    if (!text) return ASSAY_OK;
    char *first = comma ? strndup(text, (size_t)(comma - text)) : NULL;
    if (comma && !first) return as_fail_memory(error, NULL);
    assay_status status = as_scale_parameter(f->scale, first ? first : text, 0, &f->over[0], error);
    free(first);
    if (status == ASSAY_OK && comma) status = as_scale_parameter(f->scale, comma + 1, 1, &f->over[1], error);
    if (status != ASSAY_OK) return status;
    if (!comma || f->over[0] == f->over[1])
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'over' names two parameters, such as p,n");
    return ASSAY_OK;
}

static assay_status prepare(surface *f, const as_request *request, assay_error *error) {
    static const size_t sizes[] = {COLUMNS, ROWS};
    int log;
    if (!f->at) return as_fail_memory(error, NULL);
    AS_TRY(as_scale_chosen(f->scale, request, 1, &f->models, error));
    AS_TRY(read_over(f, request, error));
    AS_TRY(as_scale_at(f->scale, request, f->at, error));
    AS_TRY(as_scale_log(request, &log, error));
    for (size_t k = 0; k < 2; k++) {
        if (!as_scale_along(f->scale, f->over[k], f->at[f->over[k]], log, sizes[k], &f->places[k], &f->is_log[k]))
            return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

/* Row by row, from the smallest value of the second parameter. */
static void build_grid(surface *f, const as_model *model) {
    const as_dataset *ds = as_scale_ds(f->scale);
    double x = f->at[f->over[0]], y = f->at[f->over[1]];
    as_build_array(&f->builder, "z", false);
    for (size_t j = 0; j < f->places[1].count; j++) {
        for (size_t i = 0; i < f->places[0].count; i++) {
            f->at[f->over[0]] = AS_AT(double, &f->places[0], i);
            f->at[f->over[1]] = AS_AT(double, &f->places[1], j);
            as_build_number(&f->builder, NULL, as_real_round(as_model_at(ds, model, f->at), DIGITS));
        }
    }
    as_build_end(&f->builder);
    f->at[f->over[0]] = x;
    f->at[f->over[1]] = y;
}

static bool build(surface *f) {
    static const char *const axes[] = {"x", "y"};
    const as_dataset *ds = as_scale_ds(f->scale);
    uint32_t model = AS_AT(uint32_t, &f->models, 0);
    as_build_object(&f->builder, NULL, false);
    if (!as_build_model(&f->builder, f->scale, model, &f->text)) return false;
    as_build_array(&f->builder, "over", false);
    for (size_t k = 0; k < 2; k++) as_build_text(&f->builder, NULL, as_ds_parameter(ds, f->over[k]));
    as_build_end(&f->builder);
    as_build_array(&f->builder, "is_log", false);
    for (size_t k = 0; k < 2; k++) as_build_bool(&f->builder, NULL, f->is_log[k]);
    as_build_end(&f->builder);
    as_build_point(&f->builder, "at", ds, f->at);
    for (size_t k = 0; k < 2; k++) {
        as_build_array(&f->builder, axes[k], false);
        for (size_t i = 0; i < f->places[k].count; i++)
            as_build_number(&f->builder, NULL, AS_AT(double, &f->places[k], i));
        as_build_end(&f->builder);
    }
    build_grid(f, as_scale_model(f->scale, model));
    if (!as_build_measured(&f->builder, "measured", f->scale, model)) return false;
    as_build_end(&f->builder);
    return true;
}

static assay_status answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    surface f = {.builder = as_builder_of(out)};
    AS_TRY(as_scale_open(viewing, request, &f.scale, error));
    f.builder.compact = true;
    for (size_t k = 0; k < 2; k++) as_vec_init(&f.places[k], sizeof(double), NULL);
    as_vec_init(&f.models, sizeof(uint32_t), NULL);
    as_vec_init(&f.text, 1, NULL);
    f.at = calloc(as_ds_parameters(as_scale_ds(f.scale)), sizeof *f.at);
    assay_status status = prepare(&f, request, error);
    if (status == ASSAY_OK && !build(&f)) status = as_fail_memory(error, NULL);
    as_scale_close(f.scale);
    for (size_t k = 0; k < 2; k++) as_vec_free(&f.places[k]);
    as_vec_free(&f.models);
    as_vec_free(&f.text);
    free(f.at);
    return status;
}

const as_endpoint as_endpoint_surface = {.path = "surface", .answer = answer};
