/* Writing a dataset where the command line says, for verbs whose answer is one: the format by --to or the output's
 * name, what is lost, and a report of it. */
#ifndef AS_CLI_SAVE_H
#define AS_CLI_SAVE_H

#include "cli/cli.h"
#include "query/target.h"

/* Rows for a verb's table of options. */
#define AS_SAVE_OPTIONS                                                                                                \
    {.name = "to",                                                                                                     \
     .argument = "FORMAT",                                                                                             \
     .completes = AS_COMPLETES_WRITABLE,                                                                               \
     .help = "Write this format instead of the one that the output's name says"},                                      \
    {                                                                                                                  \
        .name = "strict", .help = "Write nothing and end with status 1 if anything would be lost"                      \
    }

typedef struct as_save {
    const char *output;
    size_t n_inputs; /* the first operands */
    as_target target;
    const char **read_options, **write_options; /* those of -O that each side knows, ended by NULL */
} as_save;

/* Finds the format and refuses what cannot be written, before anything is read. output NULL: nothing is written, and
 * all of -O is the readers'. as_save_free() in every case. */
as_exit as_save_plan(as_cli *cli, const char *output, size_t n_inputs, as_save *out);
/* Says what is lost, writes, and under --json reports. */
as_exit as_save_write(as_cli *cli, const as_save *save, const as_dataset *ds);
void as_save_free(as_save *save);

#endif
