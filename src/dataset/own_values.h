/* What each context of a call tree has itself, without those below it, of one metric in one run: for writers of formats
 * that have nothing but that. */
#ifndef AS_DATASET_OWN_VALUES_H
#define AS_DATASET_OWN_VALUES_H

#include "dataset/dataset.h"

typedef struct as_own_values {
    const as_dataset *ds;
    assay_id metric, run;
    bool is_whole; /* the numbers are in whole, exactly; else in real */
    bool *has;     /* by context: the source has a value here. What stands aside is in no difference */
    as_whole *whole;
    double *real;
    /* Private */
    bool is_difference, is_guess, is_unsigned;
    as_slice slice;
    const as_profile *sparse; /* is read line by line; NULL: slice has the values */
    as_whole *whole_below;
    double *real_below, *row;
} as_own_values;

/* Where a source does not say whether values have in them what is below (AS_KIND_NONE), they look as if they had: those
 * of each context that has some below it are no less than theirs, but for noise, and those of roots, which may do work
 * of their own, at most twice as large. */
static inline bool as_looks_inclusive(double value, double below, bool is_root) {
    return value >= 0.95 * below && (!is_root || value <= 2 * below);
}

/* Why a metric has none: ASSAY_E_UNSUPPORTED where it is computed from others, or its values are no numbers that add
 * up. */
assay_status as_own_values_check(const as_dataset *ds, assay_id metric, assay_error *error);
/* Opens those of a metric that passed the check; nothing is loaded yet. only_sums: as_own_values_load() will not be
 * asked for single locations, which takes less memory. as_own_values_close() in every case. */
assay_status as_own_values_open(const as_dataset *ds, assay_id metric, assay_id run, bool only_sums, as_own_values *out,
                                assay_error *error);
void as_own_values_close(as_own_values *own);

/* The locations that have values, ascending; 0 where they lie at no place. */
uint32_t as_own_values_locations(const as_own_values *own);
assay_id as_own_values_location(const as_own_values *own, uint32_t index);

/* Fills has, and whole or real: the sums over all locations (AS_ALL_LOCATIONS), or what is at one, by its index. */
#define AS_ALL_LOCATIONS ((uint32_t)-1)
assay_status as_own_values_load(as_own_values *own, uint32_t location, assay_error *error);
as_number as_own_number(const as_own_values *own, assay_id context);
static inline bool as_own_is_zero(const as_own_values *own, assay_id context) {
    return own->is_whole ? own->whole[context] == 0 : own->real[context] == 0;
}

#endif
