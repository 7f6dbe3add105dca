/* What the parts of the reader share. */
#ifndef AS_FORMATS_SPEEDSCOPE_READING_H
#define AS_FORMATS_SPEEDSCOPE_READING_H

#include "formats/speedscope/speedscope.h"

/* A frame of the stack at hand. */
typedef struct as_speedscope_frame {
    uint32_t frame;
    assay_id context;
    size_t call; /* of an evented profile: index into calls */
} as_speedscope_frame;

typedef enum as_speedscope_type {
    AS_SPEEDSCOPE_UNKNOWN,
    AS_SPEEDSCOPE_SAMPLED,
    AS_SPEEDSCOPE_EVENTED
} as_speedscope_type;

/* What a profile says, as far as it was read. */
typedef struct as_speedscope_profile {
    as_speedscope_type type;
    const as_speedscope_unit *unit;          /* NULL: not said */
    as_str name, metric, metric_unit, place; /* the last three: what assay wrote */
    bool has_samples, has_weights, has_events, is_ours;
    as_number start, end;
    uint64_t n_idle;   /* samples without frames */
    size_t first_call; /* of those in calls */
} as_speedscope_profile;

typedef struct as_speedscope_reading {
    as_reader *reader;
    as_json json;
    as_stack_sums sums;
    as_speedscope_events events;
    as_vec frames;  /* assay_id: regions */
    as_map regions; /* string of all that a frame says -> region */
    as_map metrics; /* as_pair(name, unit) -> number in sums */
    as_map places;  /* name -> location */
    as_map used;    /* as_pair(metric, location) -> 1 */
    as_vec text;    /* char */
    as_vec stack;   /* as_speedscope_frame */
    as_vec samples; /* assay_id: the context of each; ASSAY_NONE: idle */
    as_vec amounts; /* as_number: of each sample; of evented profiles a sample is what lies between two events */
    as_speedscope_profile now;
    uint32_t n_profiles;

    const char *told;
    bool has_frames, has_profiles;
} as_speedscope_reading;

/* A broken rule at the current token; where the JSON itself is broken, that. */
assay_status as_speedscope_broken(as_speedscope_reading *s, const char *rule, const char *message);
/* The current value is of no use: says so and steps over it. */
assay_status as_speedscope_skip_broken(as_speedscope_reading *s, const char *rule, const char *message);
/* Steps over the current value. */
assay_status as_speedscope_skip(as_speedscope_reading *s);
assay_status as_speedscope_progress(as_speedscope_reading *s);
/* The current value, interned; what is no string is a broken rule, and *out stays. */
assay_status as_speedscope_string(as_speedscope_reading *s, as_str *out);
/* The same of a finite number. */
assay_status as_speedscope_number(as_speedscope_reading *s, as_number *out);
/* An index from 0; UINT32_MAX where the number is none. */
uint32_t as_speedscope_index(as_number number);

/* The profile that begins at the current token (profile.c). */
assay_status as_speedscope_profile_read(as_speedscope_reading *s);

#endif
