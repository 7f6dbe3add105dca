/* --group-by: groups of tagged events instead of call paths. A verb that has the option gets them from as_cli_read(),
 * one that sets cli->groups_itself asks for them here. */
#ifndef AS_CLI_GROUP_BY_H
#define AS_CLI_GROUP_BY_H

#include "analysis/grouping.h"
#include "cli/cli.h"

#define AS_GROUP_OPTION                                                                                                \
    {                                                                                                                  \
        .name = "group-by", .argument = "TAGS",                                                                        \
        .help = "Of inputs with events: show groups of these tags, such as platform,component, instead of call "       \
                "paths; the words region and path may be among them (docs/occurrences.md)"                             \
    }

/* Loads the pauses where -O deduct_pauses asks for that, else leaves *out empty; *pauses is what to deduct, or NULL.
 * options: NULL, or those used instead of -O's. False when memory is out; as_pauses_free() in every case. */
bool as_cli_pauses(const as_cli *cli, const char *const *options, const as_dataset *ds, as_pauses *out,
                   const as_pauses **pauses);
/* The groups of --group-by. as_grouping_free() in every case. */
assay_status as_cli_group(const as_cli *cli, const char *const *options, const as_dataset *ds, bool wants_events,
                          as_grouping *out, assay_error *error);

#endif
