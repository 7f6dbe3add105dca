/* What formulas can ask about a dataset, besides the values of metrics: CubePL's cube::… and calculation::…
 * variables. */
#ifndef AS_DATASET_FACTS_H
#define AS_DATASET_FACTS_H

#include "dataset/dataset.h"
#include "dataset/formula/formula.h"

/* The number of a fact, AS_UNKNOWN_NAME: there is none of this name. *varies: depends on the point. */
uint32_t as_fact_find(const char *name, size_t size, bool *varies);

/* What a fact that varies depends on. */
typedef enum as_fact_reach { AS_FACT_OF_METRIC, AS_FACT_OF_CONTEXT, AS_FACT_OF_LOCATION } as_fact_reach;
as_fact_reach as_fact_depends_on(uint32_t fact);

/* What a formula computes for. ASSAY_NONE: none in particular. */
typedef struct as_fact_point {
    assay_id metric, context, location;
    bool exclusive; /* the value asked for */
} as_fact_point;

/* A dataset with what it takes to answer at once. Lists go by the ids of metrics, contexts and regions; locations
 * (leaves), location groups (their parents) and system nodes (the rest) are numbered by themselves. */
typedef struct as_facts as_facts;
/* NULL when memory is out. The dataset must not change as long as there are facts. */
as_facts *as_facts_new(const as_dataset *ds);
void as_facts_free(as_facts *facts);

/* index: in a list; beyond its end there is nothing. */
as_formula_value as_facts_value(const as_facts *facts, uint32_t fact, const as_fact_point *point, double index);
double as_facts_size(const as_facts *facts, uint32_t fact);

#endif
