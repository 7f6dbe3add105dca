/* The runs of a dataset that is a store of many: what info lists. */
#ifndef AS_CLI_RUN_LIST_H
#define AS_CLI_RUN_LIST_H

#include "cli/cli.h"
#include "render/json_builder.h"

/* Whether runs are known by a commit or a file name, as those of a store are. */
bool as_has_run_list(const as_dataset *dataset);
/* A line for each run: commit, file, state, type, collector, command, workload, time. False when memory was out. */
bool as_run_list_print(as_cli *cli, const as_dataset *dataset);
/* The member "profiles", an object for each run. False when memory was out. */
bool as_run_list_build(as_builder *builder, const as_dataset *dataset);

#endif
