/* The card of a dataset: what info shows to people. */
#ifndef AS_CLI_CARD_H
#define AS_CLI_CARD_H

#include "cli/cli.h"

/* Prints it to cli->out; with_next: with the line of useful commands. False when memory was out: then it is not whole. */
bool as_card_print(as_cli *cli, const as_dataset *dataset, bool with_next);

/* Of an input that was only looked at (ds->overview): how many rows it has of each kind of event. */
void as_overview_rows(const as_dataset *ds, void (*visit)(void *user, const char *kind, uint64_t count), void *user);

#endif
