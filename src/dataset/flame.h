/* Stacks with amounts, for flame graphs: a tree of names, in which equal stacks are one. */
#ifndef AS_DATASET_FLAME_H
#define AS_DATASET_FLAME_H

#include "core/number.h"
#include "core/strings.h"
#include "io/output.h"

typedef struct as_flame as_flame;

#define AS_FLAME_ROOT ((uint32_t)-1)

/* NULL when memory is out. budget may be NULL. */
as_flame *as_flame_new(as_budget *budget);
void as_flame_free(as_flame *flame);

/* The frame of this name above parent (AS_FLAME_ROOT: at the bottom of a stack), made if new. ';' in names, which parts
 * frames, becomes ':', and control characters become blanks. apart: those of one name with different numbers (0, 1, 2)
 * are different frames. AS_FLAME_ROOT when memory is out. */
uint32_t as_flame_frame(as_flame *flame, uint32_t parent, const char *name, size_t size, unsigned apart);
/* Adds to what the stack that ends at a frame has itself: integers exactly. */
void as_flame_add(as_flame *flame, uint32_t frame, as_number amount);
/* What is known of a frame's function, NULL: nothing; what was said first stays. False when memory is out. */
bool as_flame_describe(as_flame *flame, uint32_t frame, const char *module, const char *kind);

/* Two measurements in one graph: what is added from now on is the second one's. A flame that was never turned has one
 * side. */
void as_flame_turn(as_flame *flame);
size_t as_flame_sides(const as_flame *flame);

/* "outermost;…;innermost AMOUNT", a line for each stack whose amount is not 0; a frame before those above it, in the
 * order in which they came. Of two sides both amounts, where one of them is not 0. False when memory is out. */
bool as_flame_fold(const as_flame *flame, as_output *out);
/* How many stacks these leave out, since their amounts are infinite or no numbers: nobody could read such lines. */
size_t as_flame_unwritten(const as_flame *flame);

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

typedef struct as_flame_frame_info {
    uint32_t parent;           /* has a smaller number; AS_FLAME_ROOT: none */
    as_str name, module, kind; /* of as_flame_names(); AS_NO_STR: not known */
    double own[2];             /* what the stack that ends here has itself, of each side */
} as_flame_frame_info;

/* Frames are numbered from 0 in the order in which they came. */
size_t as_flame_count(const as_flame *flame);
as_flame_frame_info as_flame_look(const as_flame *flame, uint32_t frame);
const as_strings *as_flame_names(const as_flame *flame);

#endif
