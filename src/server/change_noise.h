/* What can be told from noise where there are no repetitions, but several places: how a change lies over the locations
 * that both inputs have. Nothing is tested: where a quarter of the locations or more has less and a quarter or more has
 * more (0 lies between the quartiles of their changes), the change is within their spread. Places are kept from request
 * to request. */
#ifndef AS_SERVER_CHANGE_NOISE_H
#define AS_SERVER_CHANGE_NOISE_H

#include "analysis/location_statistics.h"
#include "analysis/views/functions.h"
#include "core/map.h"
#include "server/changes.h"

/* Of fewer, quartiles tell nothing. */
enum { AS_LEAST_LOCATIONS = 4 };

/* The places of both sides, pair by pair. */
typedef struct as_location_pairs {
    as_places places[2];
    uint32_t n;
    uint32_t *target_of; /* of each place of the base that of the target */
} as_location_pairs;

/* For one request. */
typedef struct as_change_spreads {
    const as_location_pairs *pairs; /* NULL: there is nothing to tell */
    const as_asked_changes *asked;
    double scale;       /* that values of the base are multiplied by */
    uint64_t work_left; /* values that may still be read: beyond it changes are not known */
    as_map places;      /* of functions: of each item its place in the lists */
    as_view_functions functions[2];
} as_change_spreads;

/* Single runs of call paths or functions at locations that are all on both sides. as_change_spreads_free() in every
 * case. */
assay_status as_change_spreads_open(as_viewing *viewing, const as_asked_changes *asked, double scale,
                                    as_change_spreads *out, assay_error *error);
void as_change_spreads_free(as_change_spreads *spreads);
static inline uint32_t as_change_spreads_locations(const as_change_spreads *spreads) {
    return spreads->pairs ? spreads->pairs->n : 0;
}
/* Functions, of which the changes of these can be asked for; call paths need no such word. */
assay_status as_change_spreads_expect(as_change_spreads *spreads, const uint32_t *items, size_t n, assay_error *error);
/* The first and third quartile of the changes of n groups of items, location by location. starts: of each group its
 * first item, and behind the last one where it ends; NULL: each item is a group. NANs: not known, or one side lacks
 * them. */
assay_status as_change_spreads_of(as_change_spreads *spreads, const uint32_t *items, const uint32_t *starts, size_t n,
                                  bool exclusive, double (*quartiles)[2], assay_error *error);

#endif
