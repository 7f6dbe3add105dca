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

/* The frame of this name above parent (AS_FLAME_ROOT: at the bottom of a stack), made if new. ';' in names, which parts frames, becomes ':', and control characters become blanks.
 * AS_FLAME_ROOT when memory is out. */
uint32_t as_flame_frame(as_flame *flame, uint32_t parent, const char *name, size_t size);
/* Adds to what the stack that ends at a frame has itself: integers exactly. */
void as_flame_add(as_flame *flame, uint32_t frame, as_number amount);

/* "outermost;…;innermost AMOUNT", a line for each stack whose amount is not 0; a frame before those above it, in the order in which they came. False when memory is out. */
bool as_flame_fold(const as_flame *flame, as_output *out);

#endif
