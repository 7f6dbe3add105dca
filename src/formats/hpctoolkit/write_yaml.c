/* metrics/default.yaml of the released form: how viewers show what the summary profile has. */
#include "formats/hpctoolkit/hpctoolkit.h"
#include "formats/hpctoolkit/write_meta.h"

/* A metric, and its statistics. */
typedef struct yaml_writer {
    const as_hpc_plan *plan;
    as_output *out;
    const as_hpc_group *group;
    size_t number; /* of the group: for anchors */
} yaml_writer;

/* Names can hold anything: a text in double quotes. */
static void put_text(as_output *out, const char *text) {
    as_output_char(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            as_output_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            as_output_printf(out, "\\x%02x", c);
        else
            as_output_char(out, (char)c);
    }
    as_output_char(out, '"');
}

/* "*m0-execution-sum": what the inputs name. */
static void put_anchor(const yaml_writer *w, char mark, int scope, unsigned statistic) {
    as_output_printf(w->out, "%cm%zu-%s-%s", mark, w->number, as_meta_out_scope_names[scope],
                     as_hpc_statistic_names[statistic]);
}

static void put_inputs(const yaml_writer *w, const char *name) {
    static const char *const combine[] = {"sum", "min", "max"};
    for (int scope = AS_META_OUT_SCOPES; scope-- > 0;) {
        if (as_meta_out_side(w->plan, w->group, scope) == ASSAY_NONE) continue;
        for (unsigned k = 0; k < AS_HPC_STATISTICS; k++) {
            if (!(w->group->statistics >> k & 1)) continue;
            as_output_text(w->out, "  - ");
            put_anchor(w, '&', scope, k);
            as_output_text(w->out, "\n    metric: ");
            put_text(w->out, name);
            as_output_printf(w->out, "\n    scope: %s\n    formula: %s\n    combine: %s\n",
                             as_meta_out_scope_names[scope], as_meta_out_formulas[k], combine[as_meta_out_combine[k]]);
        }
    }
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

static void put_mean(const yaml_writer *w, int scope, unsigned statistic) {
    as_output_text(w->out, "{/: [");
    put_anchor(w, '*', scope, statistic);
    as_output_text(w->out, ", ");
    put_anchor(w, '*', scope, AS_HPC_COUNT);
    as_output_text(w->out, "]}");
}

static void put_deviation(const yaml_writer *w, int scope) {
    as_output_text(w->out, "{sqrt: [{\"-\": [");
    put_mean(w, scope, AS_HPC_SUMSQ);
    as_output_text(w->out, ", {^: [");
    put_mean(w, scope, AS_HPC_SUM);
    as_output_text(w->out, ", 2]}]}]}");
}

enum { SUM, MEAN, DEVIATION, VARIATION, MINIMUM, MAXIMUM, N_VARIANTS };

static void put_formula(const yaml_writer *w, int variant, int scope) {
    switch (variant) {
    case SUM: put_anchor(w, '*', scope, AS_HPC_SUM); break;
    case MEAN: put_mean(w, scope, AS_HPC_SUM); break;
    case DEVIATION: put_deviation(w, scope); break;
    case VARIATION:
        as_output_text(w->out, "{/: [");
        put_deviation(w, scope);
        as_output_text(w->out, ", ");
        put_mean(w, scope, AS_HPC_SUM);
        as_output_text(w->out, "]}");
        break;
    default: put_anchor(w, '*', scope, variant == MINIMUM ? AS_HPC_MIN : AS_HPC_MAX);
    }
    as_output_char(w->out, '\n');
}

static void put_variant(const yaml_writer *w, int variant) {
    static const char *const names[N_VARIANTS] = {"Sum", "Mean", "StdDev", "CfVar", "Min", "Max"};
    const as_hpc_group *group = w->group;
    as_output_printf(w->out, "      %s:\n        render: %s\n        formula:\n", names[variant],
                     variant == SUM ? "[number, percent]" : "[number]");
    if (group->inclusive != ASSAY_NONE) {
        as_output_text(w->out, "          inclusive:\n            standard: ");
        put_formula(w, variant, AS_META_OUT_EXECUTION);
    }
    if (group->exclusive == ASSAY_NONE) return;
    as_output_text(w->out, "          exclusive:\n");
    if (group->lexical != ASSAY_NONE) {
        as_output_text(w->out, "            custom: ");
        put_formula(w, variant, AS_META_OUT_LEXICAL);
    }
    as_output_text(w->out, "            standard: ");
    put_formula(w, variant, AS_META_OUT_FUNCTION);
}

static void put_root(const yaml_writer *w, const char *name) {
    static const unsigned needs[N_VARIANTS] = {
        1 << AS_HPC_SUM,
        1 << AS_HPC_SUM | 1 << AS_HPC_COUNT,
        1 << AS_HPC_SUM | 1 << AS_HPC_COUNT | 1 << AS_HPC_SUMSQ,
        1 << AS_HPC_SUM | 1 << AS_HPC_COUNT | 1 << AS_HPC_SUMSQ,
        1 << AS_HPC_MIN,
        1 << AS_HPC_MAX,
    };
    const char *description = as_ds_text(w->plan->ds, as_ds_metric(w->plan->ds, w->group->first)->description);
    if (w->group->inclusive == ASSAY_NONE && w->group->exclusive == ASSAY_NONE) return;
    as_output_text(w->out, "  - name: ");
    put_text(w->out, name);
    as_output_text(w->out, "\n    description: ");
    put_text(w->out, description && description[0] ? description : name);
    as_output_text(w->out, "\n    variants:\n");
    for (int i = 0; i < N_VARIANTS; i++) {
        if ((w->group->statistics & needs[i]) == needs[i]) put_variant(w, i);
    }
}

/* Metrics that are only a formula: the percent of one means nothing. */
static void put_derived(const as_hpc_plan *plan, as_output *out, assay_id id) {
    const as_metric *metric = as_ds_metric(plan->ds, id);
    const char *name = as_ds_text(plan->ds, metric->name), *description = as_ds_text(plan->ds, metric->description);
    as_output_text(out, "  - name: ");
    put_text(out, name ? name : "");
    as_output_text(out, "\n    description: ");
    put_text(out, description ? description : name ? name : "");
    as_output_text(out, "\n    variants:\n      Sum:\n        render: [number]\n");
    if (plan->kept.format[id]) {
        as_output_text(out, "        format: ");
        put_text(out, plan->kept.format[id]);
        as_output_char(out, '\n');
    }
    as_output_text(out, "        formula:\n");
    for (int side = 0; side < 2; side++) {
        as_output_printf(out, "          %s:\n            standard: ", side ? "exclusive" : "inclusive");
        as_hpc_put_formula_4(plan, out, plan->kept.formula[id], side);
        as_output_char(out, '\n');
    }
}

static bool write_groups(const as_hpc_plan *plan, as_output *out, const char *head,
                         void (*put)(const yaml_writer *w, const char *name)) {
    as_vec name;
    as_vec_init(&name, 1, NULL);
    bool fine = true;
    as_output_text(out, head);
    as_output_text(out, plan->groups.count ? "\n" : " []\n");
    for (size_t i = 0; i < plan->groups.count && fine; i++) {
        yaml_writer w = {.plan = plan, .out = out, .group = as_hpc_group_at(plan, i), .number = i};
        fine = as_hpc_group_name(plan, w.group, &name);
        if (fine) put(&w, name.data);
    }
    as_vec_free(&name);
    return fine;
}

/* Those of a source that is a database of the same form say more than can be made here, and what they name is all
 * there. */
static assay_status copy_files(const as_hpc_plan *plan, as_output_directory *directory, bool *is_done) {
    char from[PATH_MAX], path[PATH_MAX], name[PATH_MAX];
    as_directory list;
    if (!as_hpc_metrics_directory(plan->ds, from) || !as_hpc_path(from, "metrics", path)) return ASSAY_OK;
    assay_status code = as_directory_list(path, as_ds_budget(plan->ds), &list, plan->error);
    for (size_t i = 0; i < list.n_entries && code == ASSAY_OK; i++) {
        if (!list.entries[i].is_directory && as_hpc_path("metrics", list.entries[i].name, name))
            code = as_hpc_copy_file(plan, from, name, directory);
    }
    as_directory_free(&list);
    *is_done = true;
    return code;
}

assay_status as_hpc_write_yaml(const as_hpc_plan *plan, as_output_directory *directory) {
    as_output *out = NULL;
    bool is_done = false;
    AS_TRY(copy_files(plan, directory, &is_done));
    if (is_done) return ASSAY_OK;
    AS_TRY(as_output_directory_file(directory, "metrics/default.yaml", &out, plan->error));
    as_output_text(out, "version: 0\n");
    if (!write_groups(plan, out, "inputs:", put_inputs) || !write_groups(plan, out, "roots:", put_root)) {
        as_output_discard(out);
        return as_fail_memory(plan->error, NULL);
    }
    for (assay_id i = 0; i < plan->ds->metrics.count; i++) {
        if (as_hpc_is_written(plan, i)) put_derived(plan, out, i);
    }
    return as_output_commit(out, plan->error);
}
