/* Lines of source files that lie beside a dataset's data. */
#ifndef AS_CLI_SOURCE_LINES_H
#define AS_CLI_SOURCE_LINES_H

#include "dataset/dataset.h"

typedef struct as_source_lines as_source_lines;

/* Of those that ds->source_root has. NULL when memory is out. The dataset must live longer. */
as_source_lines *as_source_lines_new(const as_dataset *ds);
void as_source_lines_free(as_source_lines *sources);

/* The text of a line (from 1) of a file of a region, without white space around it; its size in *size. NULL where there
 * is none: no copy of the file, no such line, an empty one. Only regular files below the root are opened, each once,
 * and none that is absurdly large. It is not NUL-terminated and stays until the sources are freed. */
const char *as_source_line(as_source_lines *sources, as_str file, int64_t line, size_t *size);
/* The same with the white space before it; NULL only where there is no such line. */
const char *as_source_line_whole(as_source_lines *sources, as_str file, int64_t line, size_t *size);

#endif
