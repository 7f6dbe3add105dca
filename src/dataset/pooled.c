/* A set of profiles as an experiment: the pooled values of each series, which is all that the formats of experiments
 * hold. */
#include "dataset/merge.h"

#include <stdlib.h>

#include "dataset/build.h"

typedef struct copier {
    const as_dataset *from;
    as_dataset *to;
    bool fine;
} copier;

static as_str carry(copier *c, as_str text) {
    if (text == AS_NO_STR) return AS_NO_STR;
    as_str copy = as_ds_intern(c->to, as_ds_text(c->from, text), as_str_size(&c->from->strings, text));
    if (copy == AS_NO_STR) c->fine = false;
    return copy;
}

static void copy_set(copier *c, const as_model_set *set) {
    as_model_set copy = {.name = carry(c, set->name),
                         .modeler = carry(c, set->modeler),
                         .measure = carry(c, set->measure),
                         .raw = carry(c, set->raw),
                         .options = carry(c, set->options)};
    c->fine = c->fine && as_add_model_set(c->to, &copy) != ASSAY_NONE;
}

static void copy_model(copier *c, assay_id id) {
    const as_model *model = as_ds_model(c->from, id);
    as_model copy = *model;
    as_term *terms = calloc((size_t)model->n_terms + 1, sizeof *terms);
    if (!terms) {
        c->fine = false;
        return;
    }
    copy.function = carry(c, model->function);
    copy.raw = carry(c, model->raw);
    for (uint32_t i = 0; i < model->n_terms; i++) {
        terms[i] = *as_ds_term(c->from, model->first_term + i);
        terms[i].exponent = carry(c, terms[i].exponent);
        terms[i].log_exponent = carry(c, terms[i].log_exponent);
    }
    const as_segment *segments = (const as_segment *)c->from->segments.data + model->first_segment;
    c->fine = c->fine && as_add_model(c->to, &copy, segments, model->n_segments + model->n_pieces, terms,
                                      model->n_terms) != ASSAY_NONE;
    for (uint32_t i = 0; c->fine && i < model->n_segments; i++) {
        const as_segment_costs *costs = as_ds_segment_costs(c->from, id, i);
        if (costs) c->fine = as_add_segment_costs(c->to, costs);
    }
    free(terms);
}

/* Metrics are known by name and contexts by path, so that both keep their numbers. */
static bool copy_models(const as_dataset *from, as_dataset *to) {
    if (from->metrics.count != to->metrics.count || from->contexts.count != to->contexts.count) return true;
    copier c = {.from = from, .to = to, .fine = true};
    for (size_t i = 0; c.fine && i < from->model_sets.count; i++) copy_set(&c, as_ds_model_set(from, (assay_id)i));
    for (size_t i = 0; c.fine && i < from->models.count; i++) copy_model(&c, (assay_id)i);
    return c.fine;
}

assay_status as_pool_profiles(const as_dataset *ds, as_dataset **out, assay_error *error) {
    as_dataset *part = (as_dataset *)(uintptr_t)ds; /* which is only read */
    AS_TRY(ds->measurement_source ? as_merge_values(ds, out, error) : as_merge(&part, 1, out, error));
    if (copy_models(ds, *out)) return ASSAY_OK;
    as_dataset_free(*out);
    *out = NULL;
    return as_fail_memory(error, NULL);
}
