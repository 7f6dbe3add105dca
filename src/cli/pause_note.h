/* What people are told about pauses: how long they were, and how to deduct them. */
#ifndef AS_CLI_PAUSE_NOTE_H
#define AS_CLI_PAUSE_NOTE_H

#include "cli/cli.h"

/* Seconds in which these runs stood still, together, as the source says; 0: they did not, or nobody knows. runs:
 * ascending; NULL: all there are. */
double as_runs_paused(const as_dataset *ds, const assay_id *runs, size_t n_runs);
/* Whether -O deduct_pauses is given. */
bool as_cli_deducts_pauses(const as_cli *cli);
/* A line below an answer for people, where there were pauses. is_mean: the times above are of one run, the mean of
 * several. */
void as_pauses_print(const as_cli *cli, const as_dataset *ds, const assay_id *runs, size_t n_runs, bool is_mean);

#endif
