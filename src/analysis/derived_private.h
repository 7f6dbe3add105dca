/* Between derived.c, which makes a plan, and derived_rows.c, which goes through the contexts location by location. */
#ifndef AS_ANALYSIS_DERIVED_PRIVATE_H
#define AS_ANALYSIS_DERIVED_PRIVATE_H

#include "analysis/derived.h"
#include "analysis/rows.h"
#include "dataset/formulas.h"

/* Inclusive and exclusive values have their place in arrays of two. */
enum { INCLUSIVE, EXCLUSIVE };

struct member_rows; /* of derived_rows.c */

/* A metric that takes part. */
typedef struct member {
    assay_id metric;
    const as_derived *derived; /* NULL: its values are stored */
    uint32_t *operands;        /* of a derived one: the member that each operand is */
    bool is_void;              /* counts as 0 */
    bool needs_sums;           /* over locations, for all contexts */
    bool needs_rows[2];        /* for each location */
    bool has_sums, is_ready;   /* is_ready: all sums are there that its rows are made with */
    double *sums[2];           /* one number a context of the plan */
    double total;              /* of the roots, inclusive */
    as_machine *machine;
    struct member_rows *rows;
} member;

typedef struct plan {
    const as_dataset *ds;
    assay_id run;
    const bool *locations;
    assay_id first; /* the contexts: first … first + n - 1 */
    uint32_t n;
    as_vec members; /* member; each behind those it needs */
    uint64_t taken; /* bytes of the dataset's budget */
    /* What is being computed: facts and operands are asked for */
    const member *now;
    int flavour;   /* INCLUSIVE or EXCLUSIVE */
    bool of_whole; /* of the whole program: operands are totals */
    /* ASSAY_NONE: points are contexts, and operands sums; else points are its locations, and operands rows */
    assay_id context;
    const assay_id *columns; /* the locations of rows (ASSAY_NONE: no place) */
    uint32_t n_columns;
    const as_derived *failed; /* the formula that could not be computed, and why */
    as_run_result failure;
    assay_status stopped; /* rows that could not be read end the walk, and error says why */
    assay_error *error;
    /* Who wants the rows of the last member, and which; visit is NULL until all sums are there */
    bool wanted[2];
    assay_id root; /* of the contexts that are wanted */
    bool (*visit)(void *user, const as_computed_row *row);
    void *user;
} plan;

static inline member *member_at(const plan *p, size_t i) { return &AS_AT(member, &p->members, i); }

/* The flavour that an operand has, in a value of this flavour. */
static inline int operand_flavour(const as_formula_operand *operand, int flavour) {
    if (operand->flavour == AS_FLAVOUR_SAME) return flavour;
    return operand->flavour == AS_FLAVOUR_INCLUSIVE ? INCLUSIVE : EXCLUSIVE;
}

/* The value of m's formula at all points (n of them), of this flavour. What went wrong is in the plan then. */
bool as_derived_evaluate(plan *p, const member *m, int flavour, size_t n, double *out);
/* out[i] = part(a[i], b[i]), or a + b (a - b for AS_FORMULA_MINUS) where the formula has no such part. */
bool as_derived_combine(plan *p, const member *m, as_formula_part part, const double *a, const double *b, size_t n,
                        double *out);

/* The current row of a member with rows, of a flavour it needs. */
const double *as_derived_row(const member *m, int flavour);
/* Goes through the contexts for all members that are ready, need sums, and are computed location by location: fills
 * their sums of the flavour that the formula gives. Hands over the rows of the last member where somebody wants them.
 * ASSAY_OK also where a formula failed. */
assay_status as_derived_walk(plan *p, assay_error *error);

#endif
