/* -O perun_compatible=yes|no: an option of the methods that Perun has, too. */
#ifndef AS_CLI_COMPATIBLE_H
#define AS_CLI_COMPATIBLE_H

#include "cli/cli.h"

/* A verb's .method: help, man page and completion have it then. */
extern const as_option as_compatible_option_table[];

/* Whether Perun's own numbers are asked for. Takes the option out of cli->options, which go to the readers: to be
 * called before anything is opened, and, where it is of use, again. Status 2 with its line for a value that is neither
 * yes nor no. */
as_exit as_cli_compatible(as_cli *cli, bool *out);

#endif
