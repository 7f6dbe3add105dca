/* Numbers of rows in the order of what each row has; equal ones in the order of their numbers. */
#ifndef AS_CLI_ROW_ORDER_H
#define AS_CLI_ROW_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* The largest first, NaN last. numbers, names: by the number of the row. */
void as_rows_by_number(uint32_t *rows, size_t n, const double *numbers);
void as_rows_by_name(uint32_t *rows, size_t n, const char *const *names);

#endif
