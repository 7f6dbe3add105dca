/* Limits that all Extra-P formats share: beyond them a file is absurd, and reading it would take time and memory out of
 * all proportion. */
#ifndef AS_FORMATS_EXTRAP_LIMITS_H
#define AS_FORMATS_EXTRAP_LIMITS_H

/* AS_EXTRAP_MAX_RECORD_COLUMNS: unknown keys that get a column of the table "record" of their own. */
enum { AS_EXTRAP_MAX_PARAMETERS = 1000, AS_EXTRAP_MAX_RECORD_COLUMNS = 100 };

#endif
