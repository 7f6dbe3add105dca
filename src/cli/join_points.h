/* Points of one experiment that were given one by one, as the shell makes them of DIR/app.p*. */
#ifndef AS_CLI_JOIN_POINTS_H
#define AS_CLI_JOIN_POINTS_H

#include "cli/cli.h"

/* Where all operands are points of one set (as_format.points), in a directory with or without others, that directory
 * becomes the only operand, and options (of -O, const char *) get "points=…" where there are others. So do the files of
 * points, where these are at least as_verb.joins_files_from different ones and no file of theirs is missing. Whatever
 * else is given stays as it is. False when memory is out. */
bool as_join_points(as_cli *cli, as_vec *options);

#endif
