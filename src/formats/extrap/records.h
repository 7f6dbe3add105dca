/* The two formats of a record per line, and their writing half. */
#ifndef AS_FORMATS_EXTRAP_RECORDS_H
#define AS_FORMATS_EXTRAP_RECORDS_H

#include "formats/format.h"

/* In what they differ. */
typedef struct as_dialect {
    const char *format;
    const char *parameters; /* the key of the coordinates */
    char separator;         /* between the members of a record as it is written; ';' is read like ',' then */
    const char *default_callpath, *default_metric; /* NULL: the keys must be there */
} as_dialect;
extern const as_dialect as_dialect_jsonl, as_dialect_talpas;

assay_status as_extrap_jsonl_write(as_writer *writer);
void as_extrap_jsonl_losses(const as_dataset *dataset, as_losses *losses);
assay_status as_extrap_talpas_write(as_writer *writer);
void as_extrap_talpas_losses(const as_dataset *dataset, as_losses *losses);

#endif
