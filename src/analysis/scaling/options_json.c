/* The options of a modeler as Extra-P keeps them beside the models. */
#include "analysis/scaling/fit.h"
#include "dataset/build.h"
#include "io/json.h"

static void put_bool(as_output *out, const char *before, const char *name, bool value) {
    as_output_printf(out, "%s\"%s\":%s", before, name, value ? "true" : "false");
}

static void put_text(as_output *out, const char *name, const char *value) {
    as_output_printf(out, ",\"%s\":", name);
    as_json_write_string(out, value, strlen(value));
}

/* The refining modeler has no lists of exponents. */
static void put_single(as_output *out, as_modeler modeler, const as_single_options *options) {
    char number[AS_NUMBER_SIZE];
    as_real_format_python(options->minimum_term_contribution, number);
    put_bool(out, "", "allow_log_terms", options->allow_log_terms);
    put_bool(out, ",", "use_crossvalidation", options->use_crossvalidation);
    put_bool(out, ",", "compare_with_RSS", options->compare_with_RSS);
    as_output_printf(out, ",\"minimum_term_contribution\":%s", number);
    if (modeler == AS_MODELER_REFINING) return;
    put_text(out, "poly_exponents", options->poly_exponents);
    put_text(out, "log_exponents", options->log_exponents);
    put_bool(out, ",", "retain_default_exponents", options->retain_default_exponents);
    put_bool(out, ",", "force_combination_exponents", options->force_combination_exponents);
    put_bool(out, ",", "allow_negative_exponents", options->allow_negative_exponents);
}

as_str as_fit_options_json(as_dataset *ds, const as_fit_options *options) {
    static const char *const selections[] = {"auto", "all", "smallest"};
    static const char *const types[] = {"SingleParameterModeler", "RefiningModeler", "SegmentedModeler"};
    as_output *out = as_output_to_memory();
    if (!out) return AS_NO_STR;
    if (options->modeler == AS_MODELER_MULTI) {
        as_output_printf(out, "\"single_parameter_point_selection\":\"%s\"", selections[options->point_selection]);
        put_bool(out, ",", "allow_combinations_of_sums_and_products", options->allow_combinations);
        put_bool(out, ",", "compare_with_RSS", options->compare_with_RSS);
        /* Extra-P does not keep this part; it steps over it on reading */
        as_output_text(out, ",\"single_parameter_modeler\":{");
        put_single(out, options->single_modeler, &options->single);
        as_output_printf(out, ",\"$type\":\"%s\"}", types[options->single_modeler]);
    } else {
        put_single(out, options->modeler, &options->single);
    }
    size_t size;
    const char *text = as_output_memory(out, &size);
    as_str result = text ? as_ds_intern(ds, text, size) : AS_NO_STR;
    as_output_discard(out);
    return result;
}
