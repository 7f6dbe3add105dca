/* Formulas as people write them, and as HPCToolkit's viewer knows them: ipc = instructions / cycles.
 *
 * Operators, from the loosest: + -; * /; a minus sign; ^ (from the right: 2^3^2 is 2^9, -2^2 is -4, 2^-1 is a half).
 * Numbers, parentheses, and functions with arguments in ( ), in any case: sum avg min max stdev (of any number), pow
 * mod combin (of two), log (base 10, or that of a second argument), ln lg (base 2) exp sqrt abs sign floor ceil round
 * fact sin cos tan asin acos atan and their …h; pi and e with or without ( ). Metrics: a word, or any name in '…', "…"
 * or `…` (a quote inside is doubled); $5: by the number the source gives it; #5: by its place in the source's order. @
 * before one of these (@5 as well) is its value of the whole program.
 *
 * There is no value where x / 0 or log(0) would be needed, nor where no metric of the formula has one
 * (as_formula_can_be_empty()). */
#ifndef AS_DATASET_FORMULA_INFIX_H
#define AS_DATASET_FORMULA_INFIX_H

#include "dataset/formula/formula.h"

enum { AS_INFIX_MAX_SIZE = 1 << 16, AS_INFIX_MAX_DEPTH = 200 };

typedef enum as_infix_reference {
    AS_INFIX_NAME,
    AS_INFIX_NUMBER, /* $5, @5 */
    AS_INFIX_ORDER   /* #5 */
} as_infix_reference;

/* What metrics a text can use. */
typedef struct as_infix_names {
    void *user;
    /* Sets the metric, and the flavour where it is not the one that is computed. False: there is no such metric; why (a
     * sentence) says more. */
    bool (*metric)(void *user, as_infix_reference kind, const char *name, size_t size, as_formula_operand *out,
                   char *why, size_t room);
    bool sqrt_rounds; /* what is below 0 is so by rounding, and its root 0: of variances; else it has none */
} as_infix_names;

/* On failure *error has a sentence about the text, and the column in it (line 1); rule "formula". */
assay_status as_infix_compile(const as_infix_names *names, as_formula_text text, as_formula **formula,
                              assay_error *error);

#endif
