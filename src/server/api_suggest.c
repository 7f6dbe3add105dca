/* What to measure next (api/suggest), as `assay suggest` advises. */
#include "cli/suggest.h"
#include "server/scale.h"

static assay_status advise(as_scale_view *s, const as_request *request, as_output *out, assay_error *error) {
    as_request_cli made;
    as_models_aside aside; /* the verb makes models of its own */
    assay_status status = as_request_cli_make(request, "suggest", "metric measure modeler processes budget repetitions",
                                              out, &made, error);
    if (status == ASSAY_OK) {
        as_models_aside_init(&aside, s->study.ds);
        as_models_exchange(s->study.ds, &aside);
        status = as_request_cli_status(&made, as_suggest_of(&made.cli, s->study.ds, s->input->path), error);
        as_models_exchange(s->study.ds, &aside);
        as_models_aside_free(&aside);
    }
    as_request_cli_free(&made);
    return status;
}

/* The processes that suggest takes may be a number, which names no parameter. */
static assay_status open_view(as_viewing *viewing, const as_request *request, as_scale_view **out, assay_error *error) {
    as_request copy = *request;
    as_vec_init(&copy.parameters, sizeof(as_parameter), NULL);
    bool fine = true;
    for (size_t i = 0; i < request->parameters.count && fine; i++) {
        const as_parameter *parameter = &AS_AT(as_parameter, &request->parameters, i);
        double number;
        bool is_number = strcmp(parameter->name, "processes") == 0 &&
                         as_real_parse(parameter->value, strlen(parameter->value), &number);
        fine = is_number || as_vec_append(&copy.parameters, parameter, 1);
    }
    assay_status status = fine ? as_scale_open(viewing, &copy, out, error) : as_fail_memory(error, NULL);
    as_vec_free(&copy.parameters);
    return status;
}

static assay_status answer(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_scale_view *scale;
    AS_TRY(open_view(viewing, request, &scale, error));
    assay_status status = advise(scale, request, out, error);
    as_scale_close(scale);
    return status;
}

const as_endpoint as_endpoint_suggest = {.path = "suggest", .answer = answer};
