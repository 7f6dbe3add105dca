/* What the reader and the writer of speedscope files share. docs/formats/speedscope.md has the layout. */
#ifndef AS_FORMATS_SPEEDSCOPE_SPEEDSCOPE_H
#define AS_FORMATS_SPEEDSCOPE_SPEEDSCOPE_H

#include "formats/format.h"
#include "formats/stack_sums.h"
#include "io/json.h"

#define AS_SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* So many locations have profiles of their own unless somebody wants those of more. */
enum { AS_SPEEDSCOPE_MOST_PLACES = 64 };

/* The units that profiles can have. */
typedef struct as_speedscope_unit {
    const char *word, *metric, *unit; /* as files have it; the metric it is of, and its unit (NULL: none) */
    double per_second;                /* of time: how many a second has; else 0 */
} as_speedscope_unit;
extern const as_speedscope_unit as_speedscope_units[]; /* ended by a word NULL; the first is "none" */

/* ---- reading: events (events.c) ---------------------------------------------------------------------------------- */

/* A call, in the numbers of the file. */
typedef struct as_speedscope_call {
    union {
        int64_t i;
        double r;
    } start, end;
    assay_id context;      /* of the tree while reading, later of the dataset */
    uint32_t profile : 31; /* index into profiles */
    uint32_t is_real : 1;  /* r; else i */
} as_speedscope_call;

/* Where the calls of a profile lie. */
typedef struct as_speedscope_line {
    assay_id location;
    double per_second; /* 0: it has none, being sampled, or of no unit of time */
    as_number start;   /* startValue */
} as_speedscope_line;

typedef struct as_speedscope_events {
    as_dataset *ds;
    as_vec calls; /* as_speedscope_call, by profile and start */
    as_vec lines; /* as_speedscope_line, one for each profile */
} as_speedscope_events;

void as_speedscope_events_init(as_speedscope_events *events, as_dataset *ds);
void as_speedscope_events_free(as_speedscope_events *events);
/* Makes them the dataset's, contexts by new_ids; nothing is left in `events` but what as_speedscope_events_free()
 * frees. False when memory is out. */
bool as_speedscope_events_finish(as_speedscope_events *events, const assay_id *new_ids);

assay_status as_speedscope_read(as_reader *reader);
assay_status as_speedscope_write(as_writer *writer);
/* From b to a, exactly where both are whole. */
as_number as_speedscope_difference(as_number a, as_number b);

#endif
