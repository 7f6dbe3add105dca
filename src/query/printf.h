/* printf() and format() of SQL, whose results may be too long. */
#ifndef AS_QUERY_PRINTF_H
#define AS_QUERY_PRINTF_H

#include <sqlite3.h>
#include <stdbool.h>

/* SQLite answers NULL where the result is longer than a value may be; from now on that is the error it is for other
 * functions. False when memory is out. */
bool as_sql_check_printf(sqlite3 *db);

#endif
