/* `assay model --json`: written model by model, however many there are. */
#include <math.h>

#include "cli/model_view.h"
#include "render/json_builder.h"

/* What is needed for each model again and again. */
struct writing {
    const as_dataset *ds;
    as_builder builder;
    as_vec text; /* char */
};

static void write_segment(struct writing *w, const as_model *model, uint32_t segment, bool with_interval);

static void write_factor(struct writing *w, const as_model *model, const as_term *term) {
    as_builder *b = &w->builder;
    as_build_object(b, NULL, false);
    as_build_text(b, "parameter", as_ds_parameter(w->ds, term->parameter));
    if (!term->n_pieces) {
        as_build_text(b, "exponent", as_ds_text(w->ds, term->exponent));
        as_build_text(b, "log_exponent", as_ds_text(w->ds, term->log_exponent));
    } else if (term->segment < model->n_segments) { /* pieces have none of their own */
        as_build_array(b, "segments", false);
        for (uint32_t i = 0; i < term->n_pieces; i++) {
            as_build_object(b, NULL, false);
            write_segment(w, model, term->first_piece + i, true);
            as_build_end(b);
        }
        as_build_end(b);
    }
    as_build_end(b);
}

/* The terms of one segment; the rows of a factor's pieces may lie between those of a term. */
static void write_terms(struct writing *w, const as_model *model, uint32_t segment) {
    as_builder *b = &w->builder;
    const as_term *previous = NULL;
    as_build_array(b, "terms", false);
    for (uint32_t i = 0; i < model->n_terms; i++) {
        const as_term *term = as_ds_term(w->ds, model->first_term + i);
        if (term->segment != segment) continue;
        if (previous && previous->term != term->term) {
            as_build_end(b);
            as_build_end(b);
        }
        if (!previous || previous->term != term->term) {
            as_build_object(b, NULL, false);
            as_build_real(b, "coefficient", term->coefficient);
            as_build_array(b, "factors", false);
        }
        write_factor(w, model, term);
        previous = term;
    }
    if (previous) {
        as_build_end(b);
        as_build_end(b);
    }
    as_build_end(b);
}

static void write_segment(struct writing *w, const as_model *model, uint32_t segment, bool with_interval) {
    const as_segment *s = as_ds_segment(w->ds, model->first_segment + segment);
    as_build_real(&w->builder, "constant", s->constant);
    write_terms(w, model, segment);
    if (!with_interval) return;
    as_build_real(&w->builder, "from", s->from);
    as_build_real(&w->builder, "to", s->to);
}

static void write_function(struct writing *w, const as_model *model) {
    if (model->n_segments == 1) {
        write_segment(w, model, 0, false);
        return;
    }
    as_build_array(&w->builder, "segments", false);
    for (uint32_t i = 0; i < model->n_segments; i++) {
        as_build_object(&w->builder, NULL, false);
        write_segment(w, model, i, true);
        as_build_end(&w->builder);
    }
    as_build_end(&w->builder);
}

/* Of many call paths with points of their own, the lists of all others' points would fill disks. */
enum { MOST_MISSING = 1000 };

static void write_label(void *user, const char *label) { as_build_text(user, NULL, label); }

static bool write_note(struct writing *w, const as_model_view *view, const as_fit_note *note) {
    as_builder *b = &w->builder;
    if (isnan(note->noise))
        as_build_text(b, "noise", NULL);
    else
        as_build_real(b, "noise", (double)note->noise);
    as_build_int(b, "points", note->n_points);
    if (note->n_missing) {
        as_build_array(b, "missing", false);
        if (!as_missing_points(w->ds, note->series, view->fit->options.measure, MOST_MISSING, write_label, b))
            return false;
        as_build_end(b);
        if (note->n_missing > MOST_MISSING) as_build_int(b, "missing_count", note->n_missing);
    }
    as_build_array(b, "flags", false);
    for (const as_flag_words *row = as_fit_flag_words; row->word; row++) {
        if (note->flags & (uint32_t)row->flag) as_build_text(b, NULL, row->word);
    }
    as_build_end(b);
    if (!(note->flags & AS_FIT_TIE)) return true;
    const as_fit_options *options = &view->fit->options;
    bool by_RSS = options->modeler == AS_MODELER_MULTI ? options->compare_with_RSS : options->single.compare_with_RSS;
    as_build_object(b, "tie", false);
    as_build_text(b, "terms", as_ds_text(w->ds, note->rival));
    as_build_real(b, by_RSS ? "RSS" : "SMAPE", (double)note->rival_error);
    as_build_end(b);
    return true;
}

static bool write_model(struct writing *w, const as_model_view *view, size_t i) {
    const as_dataset *ds = w->ds;
    const as_model *model = as_view_model(view, i);
    as_builder *b = &w->builder;
    as_build_object(b, NULL, false);
    as_build_text(b, "metric", as_ds_text(ds, as_ds_metric(ds, model->metric)->name));
    if (!as_context_path(ds, model->context, &w->text)) return false;
    as_build_text(b, "callpath", w->text.data);
    as_build_text(b, "modeler", as_modeler_name(view->fit->options.modeler));
    as_build_text(b, "measure", as_statistic_name(view->fit->options.measure));
    if (!as_model_function_text(ds, model, &w->text)) return false;
    as_build_text(b, "function", w->text.data);
    write_function(w, model);
    as_build_real(b, "RSS", model->RSS);
    as_build_real(b, "rRSS", model->rRSS);
    as_build_real(b, "nRSS", model->nRSS);
    as_build_real(b, "SMAPE", model->SMAPE);
    as_build_real(b, "AR2", model->AR2);
    as_build_real(b, "RE", model->RE);
    if (!as_growth_text(ds, model, &w->text)) return false;
    as_build_text(b, "growth", w->text.data);
    as_build_text(b, "order", as_order_name(as_model_growth(ds, model).order));
    if (view->at) as_build_real(b, "value", as_model_at(ds, model, view->at));
    if (!write_note(w, view, as_view_note(view, i))) return false;
    as_build_end(b);
    return true;
}

static void write_point(struct writing *w, const char *key, const double *point) {
    as_build_object(&w->builder, key, false);
    for (size_t i = 0; i < as_ds_parameters(w->ds); i++)
        as_build_real(&w->builder, as_ds_parameter(w->ds, i), point[i]);
    as_build_end(&w->builder);
}

bool as_model_json(as_output *out, const as_model_view *view) {
    struct writing w = {.ds = view->study->ds, .builder = as_builder_of(out)};
    as_vec_init(&w.text, 1, NULL);
    as_builder *b = &w.builder;
    as_build_object(b, NULL, true);
    as_build_array(b, "parameters", false);
    for (size_t i = 0; i < as_ds_parameters(w.ds); i++) as_build_text(b, NULL, as_ds_parameter(w.ds, i));
    as_build_end(b);
    if (view->at) write_point(&w, "at", view->at);
    as_build_array(b, "models", true);
    bool fine = true;
    for (size_t i = 0; i < view->n_rows && fine; i++) fine = write_model(&w, view, i);
    if (fine) {
        as_build_end(b);
        as_build_end(b);
    }
    as_vec_free(&w.text);
    return fine;
}
