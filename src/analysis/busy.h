/* How busy GPUs were: what of the time from the first to the last event something ran on each of them. */
#ifndef AS_ANALYSIS_BUSY_H
#define AS_ANALYSIS_BUSY_H

#include "dataset/dataset.h"

/* Of one device: a location above those (streams) of events of the kinds kernel, memcpy, memset and graph. */
typedef struct as_device_busy {
    assay_id device;
    double kernels,
        all; /* seconds in which a kernel (or graph) ran, and in which anything did: what runs at once counts once */
} as_device_busy;

/* Devices in the order of their locations behind what out (a vector of as_device_busy) has; *span: seconds from the
 * first to the last event, where there are devices. Events are sorted once. False when memory is out. */
bool as_devices_busy(const as_dataset *ds, as_vec *out, double *span);

#endif
