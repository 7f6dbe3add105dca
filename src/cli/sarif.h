/* SARIF 2.1.0: problems for code scanning services. First all rules, then all results. */
#ifndef AS_CLI_SARIF_H
#define AS_CLI_SARIF_H

#include "cli/problems.h"
#include "core/strings.h"

typedef struct as_sarif {
    as_builder builder;
    as_arena arena;
    as_strings rules; /* the id of a rule is its index in the report */
    bool failed;
} as_sarif;

void as_sarif_begin(as_sarif *sarif, as_output *out);
/* Lists the finding's rule, once. */
void as_sarif_rule(as_sarif *sarif, const as_finding *finding);
/* all_read: else the report says that it does not cover everything. */
void as_sarif_begin_results(as_sarif *sarif, bool all_read);
void as_sarif_result(as_sarif *sarif, const as_finding *finding);
/* False when memory was out. */
bool as_sarif_end(as_sarif *sarif);

#endif
