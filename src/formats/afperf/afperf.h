/* What the reader of AFPerf keeps for its writer: ds->of_format of a dataset whose format is "afperf". */
#ifndef AS_FORMATS_AFPERF_AFPERF_H
#define AS_FORMATS_AFPERF_AFPERF_H

#include <stdbool.h>
#include <stddef.h>

typedef struct as_afperf {
    /* all bytes of the file, from its signature on; they live as long as the dataset. as_af_scan() goes through their
     * records without a fault */
    const char *data;
    size_t size;
    bool deducts_pauses; /* the option of this name was given */
} as_afperf;

#endif
