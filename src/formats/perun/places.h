/* Places in the text of a profile, by line and column: found from the last one on, so that many of them cost one
 * pass. */
#ifndef AS_FORMATS_PERUN_PLACES_H
#define AS_FORMATS_PERUN_PLACES_H

#include "formats/format.h"

typedef struct as_perun_places {
    const char *path, *text;
    const char *at, *line_begin; /* the last place */
    uint32_t line;
} as_perun_places;

static inline as_perun_places as_perun_places_of(const char *path, const char *text) {
    return (as_perun_places){.path = path, .text = text, .at = text, .line_begin = text, .line = 1};
}

/* at: in the text. */
as_place as_perun_locate(as_perun_places *places, const char *at);

#endif
