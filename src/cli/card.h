/* What info says of a dataset: the card for people, and the same for programs. */
#ifndef AS_CLI_CARD_H
#define AS_CLI_CARD_H

#include "cli/cli.h"
#include "render/json_builder.h"

/* Prints it to cli->out; with_next: with the line of useful commands. False when memory was out: then it is not
 * whole. */
bool as_card_print(as_cli *cli, const as_dataset *dataset, bool with_next);

/* The members of the JSON object of info, into one that is open, but for "file": "format", …, "problems" (so many of
 * them at most). False when memory was out. */
bool as_info_build(as_builder *builder, const as_dataset *ds, size_t most_problems);

/* The verbs that a dataset is worth looking at with; the second may be NULL. */
void as_card_next(const as_dataset *ds, const char *verbs[2]);

/* Of an input that was only looked at (ds->overview): how many rows it has of each kind of event. */
void as_overview_rows(const as_dataset *ds, void (*visit)(void *user, const char *kind, uint64_t count), void *user);

#endif
