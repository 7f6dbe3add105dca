/* Formulas: what derived metrics are computed with. A language compiles its text into an as_formula (cubepl.h,
 * infix.h), which is a program for a small machine; an as_machine runs it for many points at a time. Neither knows a
 * language, a format or a dataset: metrics and facts are numbers that the caller gave out when it compiled.
 *
 * A point is what a formula is computed for, a context at a location, say. Points are taken in batches of AS_LANES:
 * every step of the program is done for the whole batch. Where points of a batch would go different ways (an if of a
 * loop whose condition is true for some), the batch is done again one point after the other. */
#ifndef AS_DATASET_FORMULA_FORMULA_H
#define AS_DATASET_FORMULA_FORMULA_H

#include "core/error.h"
#include "core/memory.h"

typedef struct as_formula as_formula;

typedef struct as_formula_text {
    const char *text; /* NULL: none. No NUL is needed behind it */
    size_t size;
} as_formula_text;

/* Which of the values of a metric a formula wants. */
typedef enum as_flavour { AS_FLAVOUR_SAME, AS_FLAVOUR_INCLUSIVE, AS_FLAVOUR_EXCLUSIVE } as_flavour;
typedef enum as_reach {
    AS_REACH_POINT,   /* the value at the point */
    AS_REACH_CONTEXT, /* at the point's context, all locations together */
    AS_REACH_ALL,     /* of the whole program */
    AS_REACH_CALL     /* at a context the formula computes, all locations together */
} as_reach;

typedef struct as_formula_operand {
    uint32_t metric;
    as_reach reach;
    as_flavour flavour; /* SAME: what is computed, the inclusive or the exclusive value of the derived metric */
} as_formula_operand;

/* The parts of a formula. */
typedef enum as_formula_part {
    AS_FORMULA_VALUE, /* the value at a point */
    AS_FORMULA_INIT,  /* run once, before the first value */
    AS_FORMULA_PLUS,  /* of two numbers: the value of a context and that of a child */
    AS_FORMULA_MINUS, /* of two numbers: the inclusive value and that of the children */
    AS_FORMULA_AGGR,  /* of two numbers: the values of two locations */
    AS_FORMULA_PARTS
} as_formula_part;

void as_formula_free(as_formula *formula);
/* A copy whose metrics are new_ids[…] of the old ones: only of formulas that can be empty. NULL when memory is out. */
as_formula *as_formula_copy(const as_formula *formula, const uint32_t *new_ids);
bool as_formula_has(const as_formula *formula, as_formula_part part);
/* Whether a value that is not a number means that there is none. So it is then where none of the metrics that are taken
 * at the point has a value there: is neither 0 nor itself not a number. In arithmetic what is not there counts as 0. */
bool as_formula_can_be_empty(const as_formula *formula);
/* Whether the value is that of a metric, and nothing else. */
bool as_formula_is_one_metric(const as_formula *formula);
/* The metrics it uses, each combination once; only the value's part does. */
size_t as_formula_operands(const as_formula *formula, const as_formula_operand **operands);
/* The global variables, by their number in the scope, that init sets, and that all parts read; each once. */
size_t as_formula_globals_set(const as_formula *formula, const uint32_t **globals);
size_t as_formula_globals_read(const as_formula *formula, const uint32_t **globals);

/* ---- what formulas of one dataset share -------------------------------------------------------------------------- */

/* Names of global variables. Formulas of one scope are compiled one after the other, and freed before it. */
typedef struct as_formula_scope as_formula_scope;
as_formula_scope *as_formula_scope_new(void);
void as_formula_scope_free(as_formula_scope *scope);
size_t as_formula_scope_globals(const as_formula_scope *scope);

/* What the names in a text mean. AS_UNKNOWN_NAME: nothing. */
#define AS_UNKNOWN_NAME ((uint32_t)-1)
typedef struct as_formula_names {
    void *user;
    uint32_t (*metric)(void *user, const char *name, size_t size);
    /* A fact is a number or a text; *varies: not the same at all points. */
    uint32_t (*fact)(void *user, const char *name, size_t size, bool *varies);
} as_formula_names;

/* ---- running ----------------------------------------------------------------------------------------------------- */

enum { AS_LANES = 256 };

/* A number, or a text. */
typedef struct as_formula_value {
    double number;
    const char *text; /* NULL: a number */
    size_t size;
    bool is_nothing; /* which is the number 0 and the text "" */
} as_formula_value;

/* Where metrics and facts come from. Functions return false (NULL) where that fails: the evaluation ends with
 * AS_RUN_FAILED, and the caller knows why. NULL functions: there is nothing of the kind, an evaluation that needs it
 * fails. */
typedef struct as_formula_source {
    void *user;
    /* The operand at the points first … first + n - 1: an array of n numbers, in room or elsewhere,
     * where they stay until these points are done. */
    const double *(*metric)(void *user, uint32_t operand, size_t first, size_t n, double *room);
    /* An operand of AS_REACH_CALL; the context is a number as the formula computed it, to be checked. */
    bool (*metric_at)(void *user, uint32_t operand, double context, double *out);
    /* A fact at a point. index: of facts that are lists, else 0; to be checked; there is nothing beyond the end. Texts
     * live on. */
    bool (*fact)(void *user, uint32_t fact, size_t point, double index, as_formula_value *out);
    /* Whether a fact is the same at all points of this evaluation, though it can vary. NULL: it never is. */
    bool (*fact_is_same)(void *user, uint32_t fact);
    /* How many elements a fact has. */
    double (*fact_size)(void *user, uint32_t fact);
    /* Says that a metric counts as 0 everywhere, or no longer. */
    bool (*set_void)(void *user, uint32_t metric, bool is_void);
} as_formula_source;

/* The values of global variables: written by init, only read by the rest. */
typedef struct as_globals as_globals;
/* max_elements: of all lists together. NULL when memory is out. */
as_globals *as_globals_new(const as_formula_scope *scope, size_t max_elements);
void as_globals_free(as_globals *globals);

typedef enum as_run_result {
    AS_RUN_OK,
    AS_RUN_FAILED, /* a function of the source did */
    AS_RUN_NO_MEMORY,
    AS_RUN_TOO_LARGE, /* lists or texts are larger than they may be */
    AS_RUN_TOO_LONG   /* loops took more than the steps allowed */
} as_run_result;
const char *as_run_result_text(as_run_result result);

typedef struct as_machine_limits {
    uint64_t steps_of_init;  /* turns of its loops; very long ones count as several */
    uint64_t steps_of_point; /* and those of the value at one point */
    uint64_t steps;          /* for all points, in the life of the machine */
    size_t max_elements;     /* of all lists of the machine's own variables */
    uint64_t *work_left;     /* of all machines that share it: taken off by each; NULL: no such limit. Atomic */
} as_machine_limits;
#define AS_MACHINE_LIMITS ((as_machine_limits){1000000, 1000000, 1000000000, 1 << 22, NULL})
/* The work of a step at n points together is n + AS_TURN_WORK. */
enum { AS_TURN_WORK = 16 };

/* A machine belongs to one thread. All that is given here must live as long. NULL when memory is out. */
typedef struct as_machine as_machine;
as_machine *as_machine_new(const as_formula *formula, as_globals *globals, const as_formula_source *source,
                           as_machine_limits limits);
void as_machine_free(as_machine *machine);

/* Runs init, if the formula has one: sets globals, and the variables that every later evaluation starts with. No other
 * machine with the same globals may run meanwhile. */
as_run_result as_machine_init(as_machine *machine);
/* Another machine for the same formula, which starts with what init left in this one, and needs it as long as it
 * lives. */
as_machine *as_machine_like(const as_machine *machine, const as_formula_source *source);
/* The value at points 0 … n - 1, after init. Does not allocate, unless the formula makes texts or lists. */
as_run_result as_machine_values(as_machine *machine, size_t n, double *out);
/* out[i] = part(a[i], b[i]) for AS_FORMULA_PLUS, MINUS and AGGR, which the formula must have. out may be a or b. */
as_run_result as_machine_combine(as_machine *machine, as_formula_part part, const double *a, const double *b, size_t n,
                                 double *out);

#endif
