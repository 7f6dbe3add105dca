/* Derived metrics of a dataset: their formulas, and what these share. */
#ifndef AS_DATASET_FORMULAS_H
#define AS_DATASET_FORMULAS_H

#include "dataset/dataset.h"
#include "dataset/facts.h"
#include "dataset/formula/cubepl.h"
#include "dataset/formula/infix.h"

/* ---- for readers ------------------------------------------------------------------------------------------------- */

/* A derived metric in CubePL, one for each metric. The texts live as long as the dataset. False when memory is out. */
bool as_add_formula(as_dataset *ds, assay_id metric, as_derived_kind kind,
                    const as_formula_text texts[AS_FORMULA_PARTS]);
/* Which of inclusive and exclusive values a formula gives. */
typedef enum as_derived_sides { AS_SIDES_BOTH, AS_SIDES_INCLUSIVE, AS_SIDES_EXCLUSIVE } as_derived_sides;
/* A derived metric in the notation of formula/infix.h, of kind AS_DERIVED_POST, that as_infix_compile() has compiled;
 * as_compile_formulas() has to follow. The formula is the dataset's from here on in every case; the text is copied,
 * once where it comes again. False when memory is out. */
bool as_add_compiled_formula(as_dataset *ds, assay_id metric, as_derived_sides sides, as_formula *formula,
                             as_formula_text text);
/* Compiles what was added, when all metrics are known, and finds the order to compute it in. May be called again when
 * more was added, as long as nobody asked for values. A formula that cannot be used (its text is wrong or beyond what
 * is supported, it needs a metric that is not there, or itself) stays without a value, with a problem (warning, rule
 * "cubepl") that quotes it. path: the file. False when memory is out. */
bool as_compile_formulas(as_dataset *ds, const char *path);
/* Formulas are about to come or go when somebody may have asked for values: what was made ready for these goes, and is
 * made again. Nobody reads the dataset meanwhile. */
void as_unprepare_formulas(as_dataset *ds);
/* Takes the formulas of metrics from `first` on away, which no other one needs; as_unprepare_formulas() came before. */
void as_remove_formulas(as_dataset *ds, assay_id first);

/* ---- for whoever computes ---------------------------------------------------------------------------------------- */

typedef struct as_derived {
    assay_id metric;
    as_derived_kind kind;
    as_formula_text texts[AS_FORMULA_PARTS];
    as_formula *formula; /* NULL: it could not be compiled */
    as_derived_sides sides;
    bool is_infix;    /* else it is CubePL */
    bool is_compiled; /* or was tried to */
    bool is_usable;   /* it has a value; the metrics it needs do, too */
    uint32_t order;   /* of usable ones: greater than that of all it needs */
    /* its exclusive values are others than its inclusive ones: not where all it needs has but one value */
    bool has_exclusive;
    /* Private */
    as_machine *machine; /* has run init */
    bool has_no_init;    /* it failed, and a problem says so */
    bool has_failed;
} as_derived;

/* That of a metric; NULL: it is not derived. */
const as_derived *as_ds_derived(const as_dataset *ds, assay_id metric);

/* Makes ready what all formulas share, once: their inits run. False when memory is out. Safe from several threads.
 * After it, is_usable is false for what depends on an init that failed, and the following can be used. */
bool as_ds_prepare_formulas(const as_dataset *ds);
const as_facts *as_ds_facts(const as_dataset *ds);
/* A machine for a usable one; to be freed before the dataset. NULL when memory is out. */
as_machine *as_derived_machine(const as_derived *derived, const as_formula_source *source);
/* Whether an init says that the metric counts as 0. */
bool as_ds_metric_is_void(const as_dataset *ds, assay_id metric);
/* What whoever computes keeps with the formulas: made when first asked for, released before them. NULL when memory is
 * out. Safe from several threads. */
void *as_ds_formula_companion(const as_dataset *ds, void *(*make)(const as_dataset *ds), void (*release)(void *made));
/* The derived metric behind that one, by their numbers; ASSAY_NONE: there is no other. */
assay_id as_ds_next_derived(const as_dataset *ds, assay_id metric);
/* Whether there is any use in computing: not where that failed before. Once prepared; safe from several threads. */
bool as_derived_has_values(const as_derived *derived);
/* The values could not be computed, which a problem says once for each metric. Safe from several threads. */
void as_ds_derived_failed(const as_dataset *ds, const as_derived *derived, const char *why);

#endif
