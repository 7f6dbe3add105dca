/* The frames of a flame graph (analysis/views/flame_frames.h) that requests are about, kept from request to request. */
#ifndef AS_SERVER_FRAMES_H
#define AS_SERVER_FRAMES_H

#include "analysis/views/flame_frames.h"
#include "server/request.h"

typedef struct as_asked_frames {
    const as_flame_frames *frames; /* the viewing's, until the request ends */
    assay_id metric;
} as_asked_frames;

/* Of the parameters d, metric, run and location. ASSAY_E_USAGE where the values of the metric do not add up. */
assay_status as_asked_frames_find(as_viewing *viewing, const as_request *request, as_asked_frames *out,
                                  assay_error *error);

#endif
