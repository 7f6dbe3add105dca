/* The events of a dataset in order of their starts, of those that start together in order of their numbers. Sources
 * have them in few runs of ascending starts, a table or a thread each, which are merged: nothing is held of an event.
 * Only where there are more than 1,024 such runs a list of all events is sorted, 16 bytes each. */
#ifndef AS_FORMATS_EVENT_ORDER_H
#define AS_FORMATS_EVENT_ORDER_H

#include "dataset/dataset.h"

typedef struct as_event_order {
    const as_dataset *ds;
    uint64_t n_without_time; /* events of no run, or without a start: they are left out */
    double earliest;         /* start, 0 at most */
    /* Private */
    as_vec runs;   /* uint64_t: the first event of each */
    as_vec sorted; /* where there are too many */
} as_event_order;

/* False when memory is out. as_event_order_close() in every case. */
bool as_event_order_open(as_event_order *order, const as_dataset *ds);
void as_event_order_close(as_event_order *order);

/* One walk along all of them. */
typedef struct as_event_walk {
    const as_event_order *order;
    as_vec heads; /* private: the next event of each run, the earliest first */
    size_t at;    /* in `sorted` */
} as_event_walk;

/* False when memory is out. as_event_walk_close() in every case. */
bool as_event_walk_open(as_event_walk *walk, const as_event_order *order);
void as_event_walk_close(as_event_walk *walk);
/* The next event and its number; false: there are no more. */
bool as_event_walk_next(as_event_walk *walk, as_event *out, uint64_t *number);

#endif
