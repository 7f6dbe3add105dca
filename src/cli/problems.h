/* Problems as info and validate show them. */
#ifndef AS_CLI_PROBLEMS_H
#define AS_CLI_PROBLEMS_H

#include "cli/cli.h"
#include "render/json_builder.h"

/* A problem with its texts; of a dataset, or made of an error. Borrowed. */
typedef struct as_finding {
    const char *severity, *rule, *file, *message; /* rule and file may be NULL */
    int64_t offset;
    uint32_t line, column;
} as_finding;

as_finding as_finding_of(const as_dataset *dataset, size_t index);
as_finding as_finding_of_error(const assay_error *error);

/* {"severity", "rule", "file", "offset", "line", "column", "message"}, absent ones null, as a member of an array. */
void as_finding_build(as_builder *builder, const as_finding *finding);
/* "FILE:LINE:COL: error: message [rule]" and a newline. */
void as_finding_print(as_output *out, const as_finding *finding, bool colour);
/* "1 error, 2 warnings"; "no problems". */
void as_finding_print_counts(as_output *out, uint64_t errors, uint64_t warnings, uint64_t notes);

#endif
