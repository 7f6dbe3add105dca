/* What the numbers in activities mean. */
#include <stdio.h>

#include "formats/nsight/export.h"

const char *as_ns_copy_name(uint32_t kind, char buffer[AS_NS_NAME_SIZE]) {
    static const char *const names[] = {"UNKNOWN",
                                        "HOST_TO_DEVICE",
                                        "DEVICE_TO_HOST",
                                        "HOST_TO_DEVICE_ARRAY",
                                        "DEVICE_ARRAY_TO_HOST",
                                        "DEVICE_ARRAY_TO_DEVICE_ARRAY",
                                        "DEVICE_ARRAY_TO_DEVICE",
                                        "DEVICE_TO_DEVICE_ARRAY",
                                        "DEVICE_TO_DEVICE",
                                        "HOST_TO_HOST",
                                        "PEER_TO_PEER",
                                        "UMA_HOST_TO_DEVICE",
                                        "UMA_DEVICE_TO_HOST"};
    if (kind < sizeof names / sizeof *names) return names[kind];
    snprintf(buffer, AS_NS_NAME_SIZE, "UNKNOWN_COPY_KIND_%u", kind);
    return buffer;
}

const char *as_ns_memory_name(uint32_t kind) {
    static const char *const names[] = {"pageable", "pinned",        "device",        "array",
                                        "managed",  "device static", "managed static"};
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static bool is_pageable(as_ns_kind kind, uint32_t detail) {
    if (detail == AS_NS_NONE) return false;
    return kind == AS_NS_COPY ? detail / 256 == 0 || detail % 256 == 0 : detail == 0;
}

bool as_ns_is_blocking(const as_ns_export *x, as_ns_kind kind, const as_ns_activity *activity) {
    if (is_pageable(kind, activity->detail)) return true;
    if (activity->call == AS_NS_NONE) return false;
    const char *name = as_ds_text(x->ds, AS_NS_AT(as_ns_call, x, calls, activity->call)->name);
    return !name || !strstr(name, "Async");
}
