/* What diff, merge, mean and cut share: their inputs, and an answer that is a dataset. */
#ifndef AS_CLI_ALGEBRA_H
#define AS_CLI_ALGEBRA_H

#include "analysis/algebra/algebra.h"
#include "cli/profile_choice.h"
#include "cli/save.h"

/* Rows for a verb's table of options. */
#define AS_PAIRING_OPTION                                                                                              \
    {                                                                                                                  \
        .name = "match", .argument = "HOW", .choices = "name|exact",                                                   \
        .help = "Which call paths belong together: exact wants the same file, lines, call site and parameters; name "  \
                "(the default) then takes what is left over by name"                                                   \
    }

#define AS_RESULT_OPTIONS                                                                                              \
    {.name = "output",                                                                                                 \
     .letter = 'o',                                                                                                    \
     .argument = "FILE",                                                                                               \
     .completes = AS_COMPLETES_FILES,                                                                                  \
     .help = "Write the result to this file, in the format of its ending or of --to; by default it is shown"},         \
        AS_SAVE_OPTIONS

/* Of the tree that is shown. */
#define AS_RESULT_TREE_OPTIONS                                                                                         \
    {.name = "metric",                                                                                                 \
     .argument = "NAME",                                                                                               \
     .help = "Show this metric; may be given several times. By default the time, or the first one; in JSON and CSV "   \
             "all of them"},                                                                                           \
        {.name = "all", .help = "Show everything, however small; by default what makes up 0.5 % of the first metric"}, \
        AS_RUN_OPTION, AS_ASCII_OPTION

typedef struct as_inputs {
    as_save save;
    as_dataset **parts;
    size_t n; /* that are open */
} as_inputs;

/* Opens all operands, of which there must be `least` to `most`; needs: "two files, BASE and TARGET". as_inputs_close()
 * in every case. */
as_exit as_inputs_open(as_cli *cli, size_t least, size_t most, const char *needs, as_inputs *out);
void as_inputs_close(as_inputs *inputs);
static inline const as_dataset *const *as_inputs_parts(const as_inputs *inputs) {
    return (const as_dataset *const *)inputs->parts;
}

as_matching as_matching_given(const as_cli *cli);

/* Writes the result where -o says, or shows its call tree. Notes what was left out on the way. */
as_exit as_answer_dataset(as_cli *cli, const as_inputs *inputs, as_dataset *ds);
/* Makes one dataset of the inputs and answers with it. join: as_mean() or as_merge_profiles(). */
as_exit as_answer_joined(as_cli *cli, const as_inputs *inputs,
                         assay_status (*join)(const as_dataset *const *parts, size_t n, as_matching matching,
                                              as_dataset **out, assay_error *error));

#endif
