/* The card of a dataset: what info shows to people. */
#ifndef AS_CLI_CARD_H
#define AS_CLI_CARD_H

#include "cli/cli.h"

/* Prints it to cli->out; with_next: with the line of useful commands. False when memory was out: then it is not whole. */
bool as_card_print(as_cli *cli, const as_dataset *dataset, bool with_next);

#endif
