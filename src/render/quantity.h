/* Numbers for people: all of a column in one unit, that of the largest. Times in h … ns, bytes in B … PB, counts with
 * thousands separators. */
#ifndef AS_RENDER_QUANTITY_H
#define AS_RENDER_QUANTITY_H

#include "core/number.h"

/* How the numbers of one column are shown. */
typedef struct as_quantity {
    double factor;    /* value * factor is what is shown */
    const char *unit; /* "s", "ms", "MB"; the metric's own where it is none of those known; "" for none */
    int decimals;     /* behind the point */
    bool is_exact;    /* whole numbers, shown with all their digits */
    bool is_scientific;
} as_quantity;

/* For numbers of this unit (as files write it: "sec", "usec", "bytes", "occ"; NULL: none) up to `largest` in size.
 * is_whole: all are integers. The unit is borrowed. */
as_quantity as_quantity_of(const char *unit, double largest, bool is_whole);

/* For whole numbers without a unit that need not be shown to the last digit: large ones in M, G, T, P. */
as_quantity as_quantity_of_counts(double largest);

enum { AS_QUANTITY_SIZE = 64 };
/* "1,234.5"; "0" is exactly that, "0.0" what rounds to it. NUL-terminated; returns its length. */
size_t as_quantity_format(const as_quantity *quantity, as_number value, char buffer[AS_QUANTITY_SIZE]);
/* The unit; "us" for "µs" where there is only ASCII. */
const char *as_unit_shown(const as_quantity *quantity, bool is_ascii);
/* "12.3" of 0.1234: a share as percent, without the sign; "" of what is no number. */
size_t as_percent_format(double share, char buffer[AS_QUANTITY_SIZE]);
/* The same of a change, with its sign: "+12.3", "-0.4"; "<+0.1" and ">-0.1" of what rounds to nothing. */
size_t as_percent_change_format(double share, char buffer[AS_QUANTITY_SIZE]);
/* 1234567 as "1,234,567". */
size_t as_count_format(uint64_t count, char buffer[AS_QUANTITY_SIZE]);

/* Whether the unit is one of time: "s", "sec", "seconds", "us", "usec", "ns" … */
bool as_unit_is_time(const char *unit);

#endif
