/* The answers of a verb for all files of the command line: texts with an empty line between them, JSON (an array where
 * there are several files), or rows of one table. */
#ifndef AS_CLI_ANSWERS_H
#define AS_CLI_ANSWERS_H

#include "cli/cli.h"
#include "render/json_builder.h"

typedef struct as_answers {
    as_builder builder;  /* of JSON */
    as_printer *printer; /* of rows, else NULL */
    as_table *batch;     /* their columns, empty */
    size_t shown;        /* answers so far; who gives one counts it */
} as_answers;

/* Gives the answer for one file; a failure has its line on stderr. */
typedef as_exit as_answer_file(as_cli *cli, as_answers *answers, const char *path);

/* Asks for the answer of one file after the other. is_table: they are rows of `batch`, which is freed here (NULL:
 * memory is out). Gives the last failure there was. */
as_exit as_answer_files(as_cli *cli, bool is_table, as_table *batch, as_answer_file *answer);

/* The shape of the answer that a file's ending asks for: .json, .jsonl, .csv, .md, .txt. False: another ending. */
bool as_mode_of_ending(const char *path, as_print_mode *mode);

#endif
