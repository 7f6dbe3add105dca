/* What Extra-P's command prints with --print, byte for byte: its presets and its FORMAT strings. */
#ifndef AS_RENDER_EXTRAP_PRINT_H
#define AS_RENDER_EXTRAP_PRINT_H

#include "dataset/dataset.h"
#include "io/output.h"

/* ASSAY_E_USAGE where `what` is no preset and no sound FORMAT string: to be told before the work begins. */
assay_status as_extrap_print_check(const char *what, assay_error *error);
/* Prints the models of the dataset. what: a preset, in any case (all, all-python, all-latex, callpaths, metrics,
 * parameters, functions, functions-python, functions-latex), else a FORMAT string with placeholders in braces, filled
 * for each model ("{callpath}: {model} {rss:.2e}"). Presets show the first model set, as Extra-P does; a FORMAT string
 * all of them, each headed by its name where there are several. ASSAY_E_USAGE where the FORMAT string is wrong: nothing
 * is written then. */
assay_status as_extrap_print(as_output *out, const as_dataset *ds, const char *what, assay_error *error);

#endif
