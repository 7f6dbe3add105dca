/* Call paths by name: which one is meant, and which match. */
#ifndef AS_CLI_CALLPATH_H
#define AS_CLI_CALLPATH_H

#include "cli/cli.h"
#include "core/pattern.h"

/* The one of these n contexts that is named: by its whole path, else by its end ("solve", "main->solve"), else by what
 * people see of it (context_text.h), else by any part of it, where only one has it. Nothing found, or several: prints
 * which there are and gives its status. */
as_exit as_callpath_find(as_cli *cli, const as_dataset *ds, const assay_id *contexts, size_t n, const char *name,
                         assay_id *out);

/* The regular expression that was given for an option such as --match, to be freed with as_pattern_free(). The viewer's
 * page asks for it, too: whatever it is, it takes no long time (core/pattern.h). */
as_exit as_callpath_pattern(as_cli *cli, const char *option, const char *text, as_pattern **out);
/* That of --match; NULL where there is none. */
as_exit as_callpath_match(as_cli *cli, as_pattern **out);

#endif
