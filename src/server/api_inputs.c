/* What is open (api/inputs), and opening what was dropped (api/open). */
#include <stdio.h>
#include <string.h>

#include "cli/profile_choice.h"
#include "server/drop.h"
#include "server/scale.h"

static void build_metrics(as_builder *builder, const as_view_input *input) {
    const as_dataset *ds = input->ds;
    size_t n_read = AS_COUNT(ds, metrics) - input->derives.count;
    assay_id main_metric = as_main_metric(ds, false);
    as_build_array(builder, "metrics", false);
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        as_build_object(builder, NULL, false);
        as_build_int(builder, "id", id);
        as_build_text(builder, "name", as_ds_text(ds, metric->name));
        as_build_text(builder, "display_name", as_ds_text(ds, metric->display_name));
        as_build_text(builder, "unit", as_ds_text(ds, metric->unit));
        as_build_text(builder, "dtype", as_ds_text(ds, metric->dtype));
        as_build_text(builder, "kind", as_kind_name(metric->kind));
        as_build_text(builder, "description", as_ds_text(ds, metric->description));
        as_build_bool(builder, "has_data", as_metric_has_data(ds, id));
        as_build_known(builder, "parent", metric->parent == ASSAY_NONE ? -1 : (int64_t)metric->parent, false);
        as_build_known(builder, "part_of", metric->part_of == ASSAY_NONE ? -1 : (int64_t)metric->part_of, false);
        as_build_bool(builder, "is_main", id == main_metric);
        if (id >= n_read) as_build_text(builder, "derive", AS_AT(const char *, &input->derives, id - n_read));
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* At most so many runs or points are listed: nobody chooses from more. */
enum { MAX_LISTED = 10000 };

static void build_points(as_builder *builder, const as_dataset *ds) {
    as_build_array(builder, "points", false);
    for (assay_id id = 0; id < ds->n_points && id < MAX_LISTED; id++) {
        char text[256];
        as_describe_point(ds, as_ds_point(ds, id), text, sizeof text);
        as_build_object(builder, NULL, false);
        as_build_int(builder, "id", id);
        as_build_text(builder, "label", text);
        as_build_array(builder, "coordinates", false);
        for (size_t i = 0; i < as_ds_parameters(ds); i++) as_build_real(builder, NULL, as_ds_point(ds, id)[i]);
        as_build_end(builder);
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* What people call a run: "p=64, repetition 2", else what the source calls it, else its number. */
static const char *label_of(const as_dataset *ds, const as_run *run, assay_id id, char *out, size_t room) {
    const char *source = as_ds_text(ds, run->source);
    out[0] = '\0';
    if (run->point == ASSAY_NONE) {
        if (source && *source)
            snprintf(out, room, "%s", source);
        else
            snprintf(out, room, "run %u", id);
        return out;
    }
    as_describe_point(ds, as_ds_point(ds, run->point), out, room);
    size_t used = strlen(out);
    snprintf(out + used, room - used, ", repetition %u", run->repetition + 1);
    return out;
}

static void build_runs(as_builder *builder, const as_dataset *ds) {
    size_t n = AS_COUNT(ds, runs) < MAX_LISTED ? AS_COUNT(ds, runs) : MAX_LISTED;
    char label[300];
    as_build_int(builder, "n_runs", (int64_t)AS_COUNT(ds, runs));
    as_build_array(builder, "runs", false);
    for (assay_id id = 0; id < n; id++) {
        const as_run *run = as_ds_run(ds, id);
        as_build_object(builder, NULL, false);
        as_build_int(builder, "id", id);
        as_build_known(builder, "point", run->point == ASSAY_NONE ? -1 : (int64_t)run->point, false);
        as_build_text(builder, "label", label_of(ds, run, id, label, sizeof label));
        as_build_int(builder, "repetition", run->repetition);
        as_build_text(builder, "source", as_ds_text(ds, run->source));
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* Other trees that can be made of it, as --by names them. */
static void build_regroupings(as_builder *builder, const as_dataset *ds) {
    static const char *const words[] = {"kernel", "api", "nvtx"};
    as_build_array(builder, "regroupings", false);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        as_regrouping by;
        if (as_regrouping_of(words[i], &by) && as_can_regroup(ds, by)) as_build_text(builder, NULL, words[i]);
    }
    as_build_end(builder);
}

static void build_has(as_builder *builder, const as_dataset *ds) {
    as_build_object(builder, "has", false);
    as_build_bool(builder, "tree", AS_COUNT(ds, contexts) > 0 && AS_COUNT(ds, metrics) > 0);
    as_build_int(builder, "contexts", (int64_t)AS_COUNT(ds, contexts));
    as_build_int(builder, "regions", (int64_t)AS_COUNT(ds, regions));
    as_build_int(builder, "locations", (int64_t)as_ds_leaves(ds));
    as_build_int(builder, "values", (int64_t)as_ds_values(ds));
    as_build_int(builder, "events", (int64_t)as_ds_events(ds));
    as_build_int(builder, "points", (int64_t)ds->n_points);
    as_build_int(builder, "models", (int64_t)AS_COUNT(ds, models));
    build_regroupings(builder, ds);
    as_build_array(builder, "parameters", false);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) as_build_text(builder, NULL, as_ds_parameter(ds, i));
    as_build_end(builder);
    as_build_end(builder);
}

static void build_error(as_builder *builder, const assay_error *error) {
    as_build_object(builder, "error", false);
    as_build_text(builder, "message", error->message);
    as_build_text(builder, "rule", error->rule[0] ? error->rule : NULL);
    as_build_known(builder, "line", error->line, true);
    as_build_known(builder, "column", error->column, true);
    as_build_known(builder, "offset", error->offset, false);
    as_build_end(builder);
}

static void build_dataset(as_builder *builder, const as_view_input *input) {
    const as_dataset *ds = input->ds;
    const as_format *format = as_format_find(ds->format);
    as_build_text(builder, "format", ds->format);
    as_build_text(builder, "format_title", format ? format->title : NULL);
    as_build_text(builder, "format_version", as_ds_text(ds, ds->format_version));
    as_build_int(builder, "size", (int64_t)ds->input_size);
    as_build_int(builder, "problems", (int64_t)(as_ds_problems(ds) + as_ds_problems_dropped(ds)));
    build_has(builder, ds);
    build_metrics(builder, input);
    build_runs(builder, ds);
}

/* Inputs of one point each that are one experiment together: the first such, with all that belong to it. */
static void build_experiment(as_builder *builder, const as_viewing *viewing) {
    const as_view_input *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < as_viewing_inputs(viewing) && n < 2; i++) {
        first = as_viewing_input(viewing, i);
        n = 0;
        for (size_t k = i; k < as_viewing_inputs(viewing); k++)
            n += as_inputs_are_points(first, as_viewing_input(viewing, k));
    }
    if (n < 2) {
        as_build_text(builder, "experiment", NULL);
        return;
    }
    as_build_object(builder, "experiment", false);
    as_build_array(builder, "inputs", false);
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        if (as_inputs_are_points(first, as_viewing_input(viewing, i))) as_build_int(builder, NULL, (int64_t)i);
    }
    as_build_end(builder);
    as_build_array(builder, "parameters", false);
    for (size_t i = 0; i < as_ds_parameters(first->ds); i++)
        as_build_text(builder, NULL, as_ds_parameter(first->ds, i));
    as_build_end(builder);
    as_build_end(builder);
}

/* The formulas of the request, and why no input has one. */
static void build_derives(as_builder *builder, const as_viewing *viewing) {
    as_build_array(builder, "derives", false);
    for (size_t i = 0; i < viewing->asked.count; i++) {
        const as_view_derive *derive = &AS_AT(as_view_derive, &viewing->asked, i);
        as_build_object(builder, NULL, false);
        as_build_text(builder, "text", derive->text);
        as_build_text(builder, "error", derive->is_used ? NULL : derive->error.message);
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* How the inputs are read, as words of a command that reads them so. */
static void build_reading(as_builder *builder, const as_read_config *config) {
    as_build_array(builder, "reading", false);
    if (config->format) {
        as_build_text(builder, NULL, "--from");
        as_build_text(builder, NULL, config->format);
    }
    for (const char *const *option = config->options; option && *option; option++) {
        as_build_text(builder, NULL, "-O");
        as_build_text(builder, NULL, *option);
    }
    as_build_end(builder);
}

static assay_status answer_inputs(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_builder builder = as_builder_of(out);
    (void)request, (void)error;
    builder.compact = true;
    as_build_object(&builder, NULL, false);
    as_build_text(&builder, "version", assay_version());
    as_build_int(&builder, "max_drop", (int64_t)viewing->max_drop);
    build_reading(&builder, &viewing->config);
    as_build_array(&builder, "inputs", false);
    for (size_t i = 0; i < as_viewing_inputs(viewing); i++) {
        const as_view_input *input = as_viewing_input(viewing, i);
        if (input->is_dismissed) continue;
        as_build_object(&builder, NULL, false);
        as_build_int(&builder, "id", (int64_t)i);
        as_build_text(&builder, "path", input->path);
        as_build_text(&builder, "name", as_view_input_name(input));
        as_build_bool(&builder, "is_dropped", input->is_dropped);
        if (!input->ds)
            build_error(&builder, &input->error);
        else {
            build_dataset(&builder, input);
            build_points(&builder, input->ds);
            as_build_text(&builder, "error", NULL);
        }
        as_build_end(&builder);
    }
    as_build_end(&builder);
    build_experiment(&builder, viewing);
    if (viewing->asked.count) build_derives(&builder, viewing);
    as_build_end(&builder);
    return ASSAY_OK;
}

const as_endpoint as_endpoint_inputs = {.path = "inputs", .answer = answer_inputs};

/* Takes an input that could not be read out of the list; the others keep their numbers. The answer is that of
 * api/inputs. */
static assay_status answer_dismiss(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    int64_t number;
    AS_TRY(as_request_number(request, "d", 0, (int64_t)as_viewing_inputs(viewing) - 1, -1, &number, error));
    if (number < 0 || as_viewing_input(viewing, (size_t)number)->ds)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "only an input that could not be read can be dismissed");
    as_viewing_input(viewing, (size_t)number)->is_dismissed = true;
    return answer_inputs(viewing, request, out, error);
}

const as_endpoint as_endpoint_dismiss = {.path = "dismiss", .is_post = true, .answer = answer_dismiss};

/* ---- what was dropped -------------------------------------------------------------------------------------------- */

static bool is_experiment(void *user, const char *folder) {
    const as_viewing *viewing = user;
    as_dataset *ds = NULL;
    assay_error error;
    bool is_one = as_read(folder, &viewing->config, &ds, &error) == ASSAY_OK && ds->n_points > 1;
    as_dataset_free(ds);
    return is_one;
}

static assay_status open_dropped(void *user, const char *path, const char *name, assay_error *error) {
    return as_viewing_open(user, path, name) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Opens the files of a drop; the answer is that of api/inputs. */
static assay_status answer_open(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    if (!viewing->drops) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing was dropped");
    static const as_drop_visitor opener = {.is_experiment = is_experiment, .visit = open_dropped};
    AS_TRY(as_drop_each(viewing->drops, as_request_text(request, "drop"), &opener, viewing, error));
    return answer_inputs(viewing, request, out, error);
}

const as_endpoint as_endpoint_open = {.path = "open", .is_post = true, .answer = answer_open};

/* Some file of the drop did not come: nothing of it is kept. */
static assay_status answer_discard(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    if (viewing->drops) AS_TRY(as_drop_discard(viewing->drops, as_request_text(request, "drop"), error));
    as_output_text(out, "{}\n");
    return ASSAY_OK;
}

const as_endpoint as_endpoint_discard = {.path = "discard", .is_post = true, .answer = answer_discard};
