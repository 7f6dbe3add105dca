/* Telling Extra-P's JSON kinds apart by the keys of the first object, from the probe alone. */
#ifndef AS_FORMATS_EXTRAP_BID_H
#define AS_FORMATS_EXTRAP_BID_H

#include "formats/format.h"

typedef struct as_bid_key {
    const char *key;
    const char *begins; /* characters its value may begin with; NULL: any */
    bool required;
} as_bid_key;

/* Bits of the keys found at the top level of the first object, 8 for each character; 0 where a required one is
 * missing; where the window ends before the object, the first one is enough. keys ends with a key NULL. one_line: the
 * object must end with its line. */
int as_bid_json(const as_probe *probe, const as_bid_key *keys, bool one_line);

#endif
