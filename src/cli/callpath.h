/* Call paths by name: which one is meant, and which match. */
#ifndef AS_CLI_CALLPATH_H
#define AS_CLI_CALLPATH_H

#include <regex.h>

#include "cli/cli.h"

/* The one of these n contexts that is named: by its whole path, else by its end ("solve", "main->solve"), else by what people see of it (context_text.h), else by any part of it,
 * where only one has it. Nothing found, or several: prints which there are and gives its status. */
as_exit as_callpath_find(as_cli *cli, const as_dataset *ds, const assay_id *contexts, size_t n, const char *name,
                         assay_id *out);

/* How patterns of call paths are meant, for regcomp(): POSIX extended. */
#define AS_CALLPATH_REGEX (REG_EXTENDED | REG_NOSUB)

/* That of --match (POSIX extended): *has says whether there is one, to be freed with regfree(). */
as_exit as_callpath_regex(as_cli *cli, regex_t *regex, bool *has);

#endif
