/* Names of functions that are too long for their place. */
#ifndef AS_RENDER_NAMES_H
#define AS_RENDER_NAMES_H

#include "render/text_buffer.h"

/* Appends the name in at most `width` columns (0: no limit, 1 is the least). What says least goes first: suffixes in square brackets, what parameter
 * lists and template arguments hold ("std::vector<…>::push_back(…)"), the return type, namespaces from the left ("…::Grid::update(…)"), at last the
 * middle of what is left. Characters are never torn. ellipsis: "…", or "..." where the output has only ASCII. */
void as_name_shorten(as_text *out, const char *name, size_t size, size_t width, const char *ellipsis);

#endif
