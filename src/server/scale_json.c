/* Parts of answers about models. */
#include <stdlib.h>
#include <string.h>

#include "render/extrap_function.h"
#include "server/scale.h"

enum { DIGITS = 4, PATH_BYTES = 4000, MOST_REPETITIONS = 200 };

void as_build_point(as_builder *builder, const char *key, const as_dataset *ds, const double *point) {
    as_build_object(builder, key, false);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) as_build_number(builder, as_ds_parameter(ds, i), point[i]);
    as_build_end(builder);
}

void as_build_flags(as_builder *builder, const char *key, uint32_t flags) {
    as_build_array(builder, key, false);
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (flags & (uint32_t)row->flag) as_build_text(builder, NULL, row->word);
    }
    as_build_end(builder);
}

static bool build_notation(as_builder *builder, const char *key, const as_scale_view *s, const as_model *model,
                           as_notation notation) {
    as_text text;
    as_text_init(&text);
    as_extrap_function(&text, as_scale_ds(s), model, notation);
    as_text_char(&text, '\0');
    bool fine = !text.failed;
    if (fine) as_build_text(builder, key, as_text_data(&text));
    as_text_free(&text);
    return fine;
}

bool as_build_model(as_builder *builder, const as_scale_view *s, uint32_t number, as_vec *text) {
    const as_dataset *ds = as_scale_ds(s);
    const as_model *model = as_scale_model(s, number);
    const as_fit_note *note = as_scale_note(s, number);
    as_build_int(builder, "context", as_scale_context(s, model->context));
    as_build_text(builder, "name", as_ds_text(ds, as_ds_context(ds, model->context)->name));
    if (!as_context_path_end(ds, model->context, PATH_BYTES, text, NULL)) return false;
    as_build_text(builder, "callpath", text->data);
    if (!as_model_function_text(ds, model, text)) return false;
    as_build_text(builder, "function", text->data);
    if (!as_model_function_rounded(ds, model, DIGITS, text)) return false;
    as_build_text(builder, "text", text->data);
    if (!build_notation(builder, "python", s, model, AS_NOTATION_PYTHON) ||
        !build_notation(builder, "latex", s, model, AS_NOTATION_LATEX) || !as_growth_text(ds, model, text))
        return false;
    as_build_text(builder, "growth", text->data);
    as_build_text(builder, "order", as_order_name(as_model_growth(ds, model).order));
    as_build_number(builder, "RSS", model->RSS);
    as_build_number(builder, "rRSS", model->rRSS);
    as_build_number(builder, "SMAPE", model->SMAPE);
    as_build_number(builder, "AR2", model->AR2);
    as_build_number(builder, "RE", model->RE);
    as_build_number(builder, "noise", (double)note->noise);
    as_build_int(builder, "missing", note->n_missing);
    as_build_flags(builder, "flags", note->flags);
    as_build_text(builder, "rival", note->flags & AS_FIT_TIE ? as_ds_text(ds, note->rival) : NULL);
    return true;
}

/* ---- measurements ------------------------------------------------------------------------------------------------ */

static bool keep_measurement(void *user, const as_measurement *m) { return as_vec_append(user, m, 1); }

typedef enum statistic_column { S_MEAN, S_MEDIAN, S_MINIMUM, S_MAXIMUM, S_STD, S_VALUE, S_MODEL } statistic_column;

static double statistic_of(const as_scale_view *s, const as_model *model, const as_measurement *m,
                           statistic_column column) {
    switch (column) {
    case S_MEAN: return m->mean;
    case S_MEDIAN: return m->median;
    case S_MINIMUM: return m->minimum;
    case S_MAXIMUM: return m->maximum;
    case S_STD: return m->std;
    case S_VALUE: return as_statistic_of(s->study.options.measure, m);
    case S_MODEL: return as_model_at(as_scale_ds(s), model, as_ds_point(as_scale_ds(s), m->point));
    }
    return NAN;
}

/* The values of a block at a point, in the order of its runs. */
static void build_rows(as_builder *builder, const as_dataset *ds, const as_block *block, uint32_t index,
                       assay_id point) {
    size_t n = 0;
    for (uint64_t row = block->starts[index]; row < block->starts[index + 1] && n < MOST_REPETITIONS; row++) {
        if (as_ds_run(ds, as_block_run(block, row))->point != point) continue;
        as_build_number(builder, NULL, as_block_real(block, row));
        n++;
    }
}

/* The same of profiles: what each run adds to the pool of its point. */
static bool build_pools(as_builder *builder, const as_dataset *ds, const as_series *series, assay_id point) {
    as_vec pool;
    as_vec_init(&pool, sizeof(double), NULL);
    bool fine = true;
    for (assay_id run = 0; run < AS_COUNT(ds, runs) && fine && pool.count < MOST_REPETITIONS; run++) {
        if (as_ds_run(ds, run)->point != point) continue;
        const as_profile *profile = as_ds_profile(ds, series->metric, run);
        uint32_t at = profile && profile->is_loaded ? as_profile_find(profile, series->context) : UINT32_MAX;
        if (at != UINT32_MAX) fine = as_pool_row(ds, profile, at, &pool);
    }
    for (size_t i = 0; i < pool.count && i < MOST_REPETITIONS; i++)
        as_build_number(builder, NULL, AS_AT(double, &pool, i));
    as_vec_free(&pool);
    return fine;
}

/* A list for each measurement; empty where the source has nothing but statistics. */
static bool build_repetitions(as_builder *builder, const as_dataset *ds, const as_series *series, const as_vec *all) {
    const as_block *block = as_ds_metric_block(ds, series->metric);
    uint32_t index = block ? as_block_find(block, series->context) : UINT32_MAX;
    bool fine = true;
    as_build_array(builder, "values", false);
    for (size_t i = 0; i < all->count && fine; i++) {
        assay_id point = AS_AT(as_measurement, all, i).point;
        as_build_array(builder, NULL, false);
        if (index != UINT32_MAX)
            build_rows(builder, ds, block, index, point);
        else if (!block)
            fine = build_pools(builder, ds, series, point);
        as_build_end(builder);
    }
    as_build_end(builder);
    return fine;
}

bool as_build_measured(as_builder *builder, const char *key, const as_scale_view *s, uint32_t number) {
    static const char *const names[] = {"mean", "median", "minimum", "maximum", "std", "value", "model"};
    const as_dataset *ds = as_scale_ds(s);
    const as_series *series = as_ds_series(ds, as_scale_note(s, number)->series);
    as_vec all;
    as_vec_init(&all, sizeof(as_measurement), NULL);
    bool fine = as_measure(ds, series, keep_measurement, &all);
    as_build_object(builder, key, false);
    as_build_array(builder, "at", false);
    for (size_t i = 0; i < all.count; i++) {
        const double *point = as_ds_point(ds, AS_AT(as_measurement, &all, i).point);
        as_build_array(builder, NULL, false);
        for (size_t k = 0; k < as_ds_parameters(ds); k++) as_build_number(builder, NULL, point[k]);
        as_build_end(builder);
    }
    as_build_end(builder);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        as_build_array(builder, names[k], false);
        for (size_t i = 0; i < all.count; i++)
            as_build_number(
                builder, NULL,
                statistic_of(s, as_scale_model(s, number), &AS_AT(as_measurement, &all, i), (statistic_column)k));
        as_build_end(builder);
    }
    as_build_array(builder, "repetitions", false);
    for (size_t i = 0; i < all.count; i++)
        as_build_known(builder, NULL, AS_AT(as_measurement, &all, i).repetitions, false);
    as_build_end(builder);
    fine = fine && build_repetitions(builder, ds, series, &all);
    as_build_end(builder);
    as_vec_free(&all);
    return fine;
}
