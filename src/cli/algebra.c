#include "cli/algebra.h"

#include <stdlib.h>

#include "cli/tree_view.h"

/* What is about the answer on the screen has no meaning for a file. */
static as_exit check_shown(as_cli *cli) {
    static const char *const shown[] = {"metric", "metric-a", "metric-b", "flat", "relative", "sort",  "min-change",
                                        "all",    "limit",    "location", "run",  "run-a",    "run-b", "full-names"};
    for (size_t i = 0; as_cli_has(cli, "output") && i < sizeof shown / sizeof *shown; i++) {
        if (as_cli_has(cli, shown[i]))
            return as_cli_fail(cli, AS_EXIT_USAGE, "--%s is about what is shown; with -o all of the result is written",
                               shown[i]);
    }
    return AS_EXIT_FINE;
}

as_exit as_inputs_open(as_cli *cli, size_t least, size_t most, const char *needs, as_inputs *out) {
    size_t n = as_cli_operands(cli);
    *out = (as_inputs){0};
    if (n < least || n > most)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s needs %s; assay %s --help tells more", cli->verb->name, needs,
                           cli->verb->name);
    as_exit status = check_shown(cli);
    if (status == AS_EXIT_FINE) status = as_save_plan(cli, as_cli_value(cli, "output"), n, &out->save);
    if (status != AS_EXIT_FINE) return status;
    out->parts = calloc(n, sizeof(as_dataset *));
    if (!out->parts) return as_cli_memory(cli);
    for (; out->n < n; out->n++) {
        assay_error error;
        if (as_cli_read(cli, as_cli_operand(cli, out->n), false, out->save.read_options, &out->parts[out->n], &error) !=
            ASSAY_OK)
            return as_cli_error(cli, &error);
    }
    return AS_EXIT_FINE;
}

void as_inputs_close(as_inputs *inputs) {
    for (size_t i = 0; i < inputs->n; i++) as_dataset_free(inputs->parts[i]);
    free(inputs->parts);
    as_save_free(&inputs->save);
}

as_matching as_matching_given(const as_cli *cli) {
    const char *word = as_cli_value(cli, "match");
    return word && strcmp(word, "exact") == 0 ? AS_MATCH_EXACT : AS_MATCH_NAME;
}

static void tell_problems(as_cli *cli, const as_dataset *ds) {
    static const char *const rules[] = {"metric-left-out", "point-left-out", "values-left-out", "beyond-limit"};
    for (size_t i = 0; i < ds->problems.count; i++) {
        const as_problem *problem = as_ds_problem(ds, i);
        const char *rule = problem->rule, *file = problem->file;
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            if (strcmp(rule, rules[k]) == 0)
                as_cli_note(cli, "%s%s%s", file ? file : "", file ? ": " : "", problem->message);
    }
}

as_exit as_answer_dataset(as_cli *cli, const as_inputs *inputs, as_dataset *ds) {
    tell_problems(cli, ds);
    if (inputs->save.output) return as_save_write(cli, &inputs->save, ds);
    bool for_people = cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN;
    as_tree_ask ask = {.is_plain = true,
                       .is_cut = for_people && !as_cli_has(cli, "all"),
                       .with_all_metrics = !for_people,
                       .view = {.order = for_people ? AS_SORT_INCLUSIVE : AS_SORT_SOURCE}};
    ask.view.min_share = ask.is_cut ? AS_USUAL_SHARE : 0;
    return as_tree_show(cli, &ask, ds);
}

as_exit as_answer_joined(as_cli *cli, const as_inputs *inputs,
                         assay_status (*join)(const as_dataset *const *parts, size_t n, as_matching matching,
                                              as_dataset **out, assay_error *error)) {
    as_dataset *ds = NULL;
    assay_error error;
    if (join(as_inputs_parts(inputs), inputs->n, as_matching_given(cli), &ds, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    as_exit status = as_answer_dataset(cli, inputs, ds);
    as_dataset_free(ds);
    return status;
}
