/* What the tables of call paths and of functions share. */
#ifndef AS_ANALYSIS_CHANGE_PRIVATE_H
#define AS_ANALYSIS_CHANGE_PRIVATE_H

#include "analysis/algebra/change_table.h"

/* A table without items. NULL when memory is out. */
as_change_table *as_change_table_empty(const as_dataset *const sides[2], bool flat);

/* Strings of a dataset in that of a table: each is looked up once, however many contexts have it. */
typedef struct as_carried_names {
    const as_dataset *from;
    as_dataset *to;
    as_str *of; /* of each string of `from`; AS_NO_STR: not yet */
} as_carried_names;

/* as_carried_names_free() in every case; false when memory is out. */
bool as_carried_names_init(as_carried_names *names, const as_dataset *from, as_dataset *to);
void as_carried_names_free(as_carried_names *names);
static inline as_str as_carry_name(const as_carried_names *names, as_str text, bool *fine) {
    if (text == AS_NO_STR) return AS_NO_STR;
    as_str *known = &names->of[text];
    if (*known == AS_NO_STR) *known = as_ds_carry(names->to, names->from, text, fine);
    return *known;
}

#endif
