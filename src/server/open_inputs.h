/* Opening what view and report are given. */
#ifndef AS_SERVER_OPEN_INPUTS_H
#define AS_SERVER_OPEN_INPUTS_H

#include "cli/cli.h"
#include "server/viewing.h"

/* Reads all operands with what the command line says (--from, -O, --memory-limit). What cannot be read is said at once,
 * and is an input with an error; where nothing can be, or needs_all, its status is the answer. as_viewing_free(*out) in
 * every case. */
as_exit as_open_inputs(as_cli *cli, bool needs_all, as_viewing **out);

#endif
