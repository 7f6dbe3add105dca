/* The writing half of extrap-text. */
#ifndef AS_FORMATS_EXTRAP_TEXT_H
#define AS_FORMATS_EXTRAP_TEXT_H

#include "formats/format.h"

assay_status as_extrap_text_write(as_writer *writer);
void as_extrap_text_losses(const as_dataset *dataset, as_losses *losses);

#endif
