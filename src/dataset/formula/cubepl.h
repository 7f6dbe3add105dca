/* CubePL, the language of Cube's derived metrics, as CubeLib understands it (docs/formats/cubepl.md has what is and
 * what is not supported).
 *
 * A text is an expression. Operators, from the loosest: and or xor (one level); not; > >= < <= == != eq seq =~; + -; *
 * /; ^ (from the left); a minus sign takes all that follows as far as + or -. As in CubeLib: 0 / x and 0 * x are 0, x /
 * 0 and log(0) are not a number, log and sqrt of negative numbers are 0, a difference within two units in the last
 * place is 0. */
#ifndef AS_DATASET_FORMULA_CUBEPL_H
#define AS_DATASET_FORMULA_CUBEPL_H

#include "dataset/formula/formula.h"

enum { AS_CUBEPL_MAX_SIZE = 1 << 20 };

/* Makes the variables known that a text declares with global(name), so that they are global in all texts of the scope,
 * whichever is compiled first. Errors in the text are left to be found when it is compiled. False when memory is
 * out. */
bool as_cubepl_declare(as_formula_scope *scope, as_formula_text text);

/* texts: one for each part. The text of AS_FORMULA_VALUE may be empty: 0. On failure *error has a sentence without the
 * text (which part, what is wrong), line and column in the text of that part, rule "cubepl"; *failed (may be NULL) is
 * the part. */
assay_status as_cubepl_compile(as_formula_scope *scope, const as_formula_names *names,
                               const as_formula_text texts[AS_FORMULA_PARTS], as_formula **formula,
                               as_formula_part *failed, assay_error *error);

#endif
