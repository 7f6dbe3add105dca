/* Events: intervals and single moments on a run's time line, with their attributes (tags).
 *
 * Readers of few add them one by one (as_add_event(), as_add_attribute()). Readers of millions keep them in their own
 * compact form and set ds->event_source, which makes an event or one of its attributes when somebody asks; both are the
 * same to everybody else, who goes through the functions below. Samples of trace lines (dataset/trace.h) are events of
 * the table `event` too, behind these. */
#ifndef AS_DATASET_EVENTS_H
#define AS_DATASET_EVENTS_H

#include "core/error.h"
#include "core/map.h"
#include "core/strings.h"
#include "core/table.h"

struct assay_dataset;

typedef struct as_event {
    as_str source_id;  /* AS_NO_STR: none, or source_number where is_numbered */
    as_str name, kind; /* kind: region, section, pause, kernel, copy, api … */
    bool is_numbered;  /* the source's id is a number, in text 0x1f: lower-case, without leading zeros */
    uint64_t source_number;
    assay_id run, location,
        context; /* ASSAY_NONE: the source does not say, or names a run that is not there; then start and end are NAN */
    double start, end;          /* seconds since the run's start; end NAN: a moment */
    as_cell start_raw, end_raw; /* as stored */
} as_event;

typedef enum as_owner {
    AS_OWNER_DATASET,
    AS_OWNER_RUN,
    AS_OWNER_METRIC,
    AS_OWNER_REGION,
    AS_OWNER_CONTEXT,
    AS_OWNER_LOCATION,
    AS_OWNER_EVENT,
    AS_OWNER_RECORD
} as_owner;

typedef struct as_attribute {
    as_owner owner;
    assay_id owner_id; /* 0 for the dataset */
    as_str key;
    as_cell value; /* text lives in the dataset's arena */
} as_attribute;

#define AS_NO_EVENT ((uint64_t)-1)

/* One value that was recorded of an event, or of a run. */
typedef struct as_recorded {
    uint64_t event; /* AS_NO_EVENT: of the run itself */
    assay_id run;
    bool is_aggregate;  /* of the whole event; else a point */
    double time;        /* of a point, in seconds since the run's start */
    as_str measurement; /* its name */
    as_cell value;      /* a number or a text, which is borrowed for the call */
} as_recorded;
typedef bool (*as_recorded_taker)(void *user, const as_recorded *measured);

/* Events in a reader's own form. All functions are safe from several threads, and but for `measured` they cannot fail;
 * event < n_events, attribute < n_attributes. */
typedef struct as_event_source {
    uint64_t n_events, n_attributes;
    void (*event)(const struct as_event_source *source, uint64_t event, as_event *out);
    /* Attributes of events only, in ascending order of owner_id, those of one event in the order of the source. The
     * value's text lives as long as the dataset. */
    void (*attribute)(const struct as_event_source *source, uint64_t attribute, as_attribute *out);
    /* The number of the first attribute of an event or of one behind it; n_attributes for n_events. */
    uint64_t (*first_attribute)(const struct as_event_source *source, uint64_t event);
    /* The value of the first attribute of an event that has this key; false: there is none. NULL: as_event_value() goes
     * through the attributes. */
    bool (*value)(const struct as_event_source *source, uint64_t event, as_str key, as_cell *out);
    /* Where values were recorded in n_measured records: calls take for each value of one of them that belongs to an
     * event or a run and was not aggregated from other records. False: take gave that, or memory is out. NULL: the
     * table `record` is all there is. */
    uint64_t n_measured;
    bool (*measured)(const struct as_event_source *source, uint64_t record, as_recorded_taker take, void *user);
} as_event_source;

/* Intervals and moments, without the samples of trace lines. */
uint64_t as_ds_intervals(const struct assay_dataset *ds);
void as_ds_event(const struct assay_dataset *ds, uint64_t event, as_event *out);
/* What the source calls the event, in hexadecimal digits or borrowed from the dataset; NULL: nothing. */
const char *as_event_source_id(const struct assay_dataset *ds, const as_event *event, char digits[AS_NUMBER_SIZE]);

/* All attributes: those of ds->attributes, then those of the event source. The texts live as long as the dataset. */
uint64_t as_ds_attribute_count(const struct assay_dataset *ds);
void as_ds_any_attribute(const struct assay_dataset *ds, uint64_t index, as_attribute *out);
/* The attributes of one event of an event source are first … end - 1 of as_ds_any_attribute(). Where there is no event
 * source both are 0: they are somewhere in ds->attributes. */
void as_event_attributes(const struct assay_dataset *ds, uint64_t event, uint64_t *first, uint64_t *end);

/* Some attributes of events by their keys, for who asks for those of many events. */
enum { AS_MOST_EVENT_KEYS = 8 };
typedef struct as_event_values {
    const struct assay_dataset *ds;
    as_str keys[AS_MOST_EVENT_KEYS]; /* AS_NO_STR: nothing has it */
    size_t n_keys;
    as_map attributes; /* without an event source: event and number of the key -> index into ds->attributes */
} as_event_values;
/* keys: n of them, AS_MOST_EVENT_KEYS at most. False when memory is out; as_event_values_close() in every case. */
bool as_event_values_open(as_event_values *values, const struct assay_dataset *ds, const char *const *keys, size_t n);
void as_event_values_close(as_event_values *values);
/* That of keys[key], the first one where there are several; false: the event has none. The text lives as long as the
 * dataset. Safe from several threads. */
bool as_event_value(const as_event_values *values, uint64_t event, size_t key, as_cell *out);

#endif
