#include "formats/perun/places.h"

as_place as_perun_locate(as_perun_places *places, const char *at) {
    if (at < places->at) *places = as_perun_places_of(places->path, places->text);
    for (const char *p = places->at, *newline; (newline = memchr(p, '\n', (size_t)(at - p))); places->line++)
        p = places->line_begin = newline + 1;
    places->at = at;
    size_t column = (size_t)(at - places->line_begin) + 1;
    return as_place_line(places->path, places->line, column < UINT32_MAX ? (uint32_t)column : UINT32_MAX);
}
