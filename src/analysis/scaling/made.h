/* A model between the modeler that made it and the dataset it goes into: flat bytes, so that threads and processes can
 * hand it on. */
#ifndef AS_ANALYSIS_SCALING_MADE_H
#define AS_ANALYSIS_SCALING_MADE_H

#include "analysis/scaling/line_modeler.h"

typedef struct as_made_term {
    uint32_t segment, term, parameter;
    uint32_t first_piece, n_pieces; /* of a piecewise factor */
    double coefficient;
    as_power power;
} as_made_term;

/* Followed by segments (those of pieces last), terms, the costs of segments (where there are several), and the rival's
 * text, each padded to 8 bytes. */
typedef struct as_made_head {
    uint32_t position; /* in the list of chosen series */
    uint32_t flags;
    uint32_t n_points, n_missing;
    float noise, rival_error;
    as_costs costs;
    uint32_t n_segments, n_pieces, n_terms, rival_size;
} as_made_head;

/* The same with its parts apart. */
typedef struct as_made {
    as_made_head head;
    const as_segment *segments;
    const as_made_term *terms;
    const char *rival;     /* rival_size characters */
    const as_costs *parts; /* of each of several segments alone, else NULL */
} as_made;

/* Appends it to bytes (a vector of char). False when memory is out. */
bool as_made_append(as_vec *bytes, const as_made *made);
/* Reads the one at *at and moves *at behind it; false at the end, or where the bytes are cut. Borrows from bytes, which
 * must be aligned to 8. */
bool as_made_next(const as_vec *bytes, size_t *at, as_made *out);

/* "p^(3/2) * log2(p)^(1)" appended to text (a vector of char, not terminated); "1" where it is none. False when memory
 * is out. */
bool as_power_text(const as_power *power, const char *parameter, as_vec *text);

#endif
