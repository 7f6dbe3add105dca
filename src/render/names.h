/* Names of functions that are too long for their place. */
#ifndef AS_RENDER_NAMES_H
#define AS_RENDER_NAMES_H

#include "render/text_buffer.h"

/* Columns of a name where there is no terminal that limits them: one name must not fill the screen, or a million lines
 * of a file. */
enum { AS_WIDEST_NAME = 1000 };

/* Appends the name of a place for people: "loop at heat.c:36" of "loop at src/heat.c:36", the file being in the name,
 * and no line where it is 0. Other names as they are. file: NULL where it is not known. */
void as_name_of_place(as_text *out, const char *name, const char *file, int64_t line);

/* Appends the name in at most `width` columns (0: no limit, 1 is the least). What says least goes first: suffixes in
 * square brackets, what parameter lists and template arguments hold ("std::vector<…>::push_back(…)"), the return type,
 * namespaces from the left ("…::Grid::update(…)"), at last the middle of what is left; of a name of many kilobytes at
 * once the middle. Characters are never torn. ellipsis: "…", or "..." where the output has only ASCII. */
void as_name_shorten(as_text *out, const char *name, size_t size, size_t width, const char *ellipsis);

#endif
