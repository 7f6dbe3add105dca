/* `assay regress -o OUT.perf`: the profile with what was found. */
#include <stdlib.h>

#include "cli/progress.h"
#include "cli/regress_view.h"
#include "formats/perun/perun.h"
#include "query/target.h"

/* JSON texts, one behind the other in one output. */
struct texts {
    as_output *out;
    as_vec ends;   /* size_t */
    as_vec models; /* as_raw_json */
};

/* ---- the postprocessor ------------------------------------------------------------------------------------------- */

/* "linear", or a list of several. */
static void build_models(as_builder *b, unsigned models) {
    as_build_array(b, "regression_models", false);
    for (as_curve_model model = 0; model <= AS_CURVE_CONSTANT; model++) {
        if (!models || models & 1u << model) as_build_text(b, NULL, as_curve_name(model));
    }
    as_build_end(b);
}

static void build_fit(as_builder *b, const as_regress_options *o) {
    bool has_steps = o->method != AS_REGRESS_FULL && o->method != AS_REGRESS_BISECTION;
    bool is_random = o->method == AS_REGRESS_ITERATIVE || o->method == AS_REGRESS_INITIAL_GUESS;
    as_build_text(b, "method", as_regress_method_name(o->method));
    build_models(b, o->models);
    if (has_steps) as_build_int(b, "steps", o->steps ? o->steps : 3);
    if (is_random) as_build_int(b, "seed", (int64_t)o->seed);
}

static void build_moving(as_builder *b, const as_moving_options *o) {
    as_build_text(b, "moving_method", o->method);
    if (o->window) as_build_int(b, "window_width", o->window);
    as_build_bool(b, "center", !o->no_center);
    if (o->min_periods) as_build_int(b, "min_periods", o->min_periods);
    if (o->window_type) as_build_text(b, "window_type", o->window_type);
    if (!o->decay) return;
    as_build_array(b, "decay", false);
    as_build_text(b, NULL, o->decay);
    as_build_real(b, NULL, o->decay_value);
    as_build_end(b);
}

static void build_kernel(as_builder *b, const as_kernel_options *o) {
    as_build_text(b, "kernel_mode", o->mode);
    if (o->regression) as_build_text(b, "reg_type", o->regression);
    if (o->bandwidth) as_build_text(b, "bandwidth_method", o->bandwidth);
    if (o->bandwidth_value > 0) as_build_real(b, "bandwidth_value", o->bandwidth_value);
    if (o->kernel) as_build_text(b, "kernel_type", o->kernel);
    if (o->smoothing) as_build_text(b, "smoothing_method", o->smoothing);
    if (o->order) as_build_int(b, "polynomial_order", o->order);
    if (!(o->gamma_step > 0)) return;
    as_build_array(b, "gamma_range", false);
    as_build_real(b, NULL, o->gamma_low);
    as_build_real(b, NULL, o->gamma_high);
    as_build_end(b);
    as_build_real(b, "gamma_step", o->gamma_step);
}

static void build_cluster(as_builder *b, const as_cluster_options *o) {
    as_build_text(b, "strategy", o->is_sliding ? "sliding_window" : "sort_order");
    if (!o->is_sliding) return;
    as_build_real(b, "window_width", o->width);
    as_build_text(b, "width_measure", o->width_is_absolute ? "absolute" : "relative");
    as_build_real(b, "window_height", o->height);
    as_build_text(b, "height_measure", o->height_is_absolute ? "absolute" : "relative");
}

/* {"name": …, "params": …}, the parameters under Perun's names. */
static void build_postprocessor(as_builder *b, const as_regress_answer *answer) {
    const as_regress_request *r = answer->request;
    as_build_object(b, NULL, false);
    as_build_text(b, "name", as_regress_analysis_name(r->analysis));
    as_build_object(b, "params", false);
    if (answer->points.of) {
        as_build_text(b, "of_key", answer->points.of);
        as_build_text(b, "per_key", answer->points.per);
    }
    switch (r->analysis) {
    case AS_ANALYSIS_FIT: build_fit(b, &r->fit); break;
    case AS_ANALYSIS_REGRESSOGRAM:
        if (r->regressogram.buckets)
            as_build_int(b, "bucket_number", r->regressogram.buckets);
        else
            as_build_text(b, "bucket_method", r->regressogram.method ? r->regressogram.method : "doane");
        as_build_text(b, "statistic_function", r->regressogram.is_median ? "median" : "mean");
        break;
    case AS_ANALYSIS_MOVING: build_moving(b, &r->moving); break;
    case AS_ANALYSIS_KERNEL: build_kernel(b, &r->kernel); break;
    case AS_ANALYSIS_CLUSTERIZE: build_cluster(b, &r->cluster); break;
    default: break;
    }
    as_build_end(b);
    as_build_end(b);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* All texts, then where each is: the output moves while it grows. */
static bool build_texts(struct texts *t, const as_regress_answer *answer, as_perun_edits *edits) {
    bool fine = t->out != NULL;
    for (size_t i = 0; fine && i <= answer->shown.count; i++) {
        as_builder b = {.out = t->out, .compact = true};
        if (i < answer->shown.count)
            fine = as_regress_json_curve(&b, as_answer_curve(answer, i), answer->request->plot_points, true);
        else
            build_postprocessor(&b, answer);
        size_t end = (size_t)as_output_size(t->out);
        fine = fine && as_vec_append(&t->ends, &end, 1);
    }
    size_t size, from = 0;
    const char *text = fine ? as_output_memory(t->out, &size) : NULL;
    for (size_t i = 0; text && i < t->ends.count; i++) {
        size_t end = AS_AT(size_t, &t->ends, i);
        as_raw_json one = {text + from, end - from - 1}; /* without the newline */
        from = end;
        if (i == answer->shown.count)
            edits->postprocessor = one;
        else if (!as_vec_append(&t->models, &one, 1))
            return false;
    }
    edits->models = t->models.data;
    edits->n_models = t->models.count;
    return text != NULL;
}

static void note_losses(as_cli *cli, const as_dataset *ds, const as_format *format) {
    as_losses losses;
    as_target target = {.name = format->name, .format = format};
    as_target_losses(&target, ds, &losses);
    for (size_t i = 0; i < losses.texts.count; i++)
        as_cli_note(cli, "%s cannot hold %s", format->name, AS_AT(char *, &losses.texts, i));
    as_losses_free(&losses);
}

static as_exit write_profile(as_cli *cli, const as_regress_answer *answer, const as_perun_edits *edits) {
    const as_regress_request *r = answer->request;
    assay_error error;
    as_output *file;
    as_writer writer = {
        .dataset = answer->ds, .options = {as_format_perun.write_options, r->write_options}, .error = &error};
    if (as_options_check(&writer.options, as_format_perun.name, &error) != ASSAY_OK ||
        as_output_open(r->output, &file, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    writer.out = file;
    if (!cli->quiet) as_progress_begin("writing", r->output);
    assay_status written = as_perun_write(&writer, edits);
    as_progress_end();
    if (written == ASSAY_OK) return as_cli_commit(cli, file, AS_EXIT_FINE);
    as_output_discard(file);
    return as_cli_error(cli, &error);
}

as_exit as_regress_save(as_cli *cli, const as_regress_answer *answer, const as_cell *cells) {
    bool is_cluster = answer->request->analysis == AS_ANALYSIS_CLUSTERIZE;
    struct texts texts = {.out = as_output_to_memory()};
    as_vec_init(&texts.ends, sizeof(size_t), NULL);
    as_vec_init(&texts.models, sizeof(as_raw_json), NULL);
    as_perun_edits edits = {.column = !cells ? NULL : is_cluster ? "cluster" : "amount", .cells = cells};
    as_exit status = build_texts(&texts, answer, &edits) ? AS_EXIT_FINE : as_cli_memory(cli);
    if (status == AS_EXIT_FINE) {
        if (!as_perun_of(answer->ds)) note_losses(cli, answer->ds, &as_format_perun);
        status = write_profile(cli, answer, &edits);
    }
    as_output_discard(texts.out);
    as_vec_free(&texts.ends);
    as_vec_free(&texts.models);
    return status;
}
