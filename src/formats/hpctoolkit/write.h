/* The writers of HPCToolkit databases: what their as_format entries need. */
#ifndef AS_FORMATS_HPCTOOLKIT_WRITE_H
#define AS_FORMATS_HPCTOOLKIT_WRITE_H

#include "formats/format.h"

/* as_format.holds of both. */
#define AS_HPC_HOLDS                                                                                                   \
    (AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE | \
     AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN | AS_HOLDS_ASIDES | AS_HOLDS_DETAILS)

extern const as_option as_hpc_write_options[];

/* Make the directory writer->directory a database of the 2021 form, or of the released one. */
assay_status as_hpc_write_2021(as_writer *writer);
assay_status as_hpc_write_4(as_writer *writer);

void as_hpc_losses_2021(const as_dataset *ds, as_losses *losses);
void as_hpc_losses_4(const as_dataset *ds, as_losses *losses);

#endif
