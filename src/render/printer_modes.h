/* The two families of modes behind render/printer.h. */
#ifndef AS_RENDER_PRINTER_MODES_H
#define AS_RENDER_PRINTER_MODES_H

#include "render/printer.h"

/* text.c: the whole table at once. hidden_rows: how many more there are beyond max_rows. False when memory is out. */
bool as_text_print(as_output *out, const as_table *table, as_print_style style, uint64_t hidden_rows);
bool as_markdown_print(as_output *out, const as_table *table, as_print_style style, uint64_t hidden_rows);

/* machine.c: header and rows as they come. */
void as_csv_header(as_output *out, const as_table *columns);
void as_csv_rows(as_output *out, const as_table *batch);
/* keys: as_json_keys() of the columns; first: whether no row was printed before. */
void as_json_rows(as_output *out, const as_table *batch, const char *const *keys, bool lines, bool first);
/* The names of the columns as JSON text with a colon behind each, one block to be freed as a whole. NULL when memory is
 * out. */
const char **as_json_keys(const as_table *columns);

#endif
