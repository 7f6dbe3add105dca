/* Values of variables: one value, and lists of them. For the machine only. */
#ifndef AS_DATASET_FORMULA_LISTS_H
#define AS_DATASET_FORMULA_LISTS_H

#include "dataset/formula/formula.h"

/* A number or, with text, a text. */
typedef struct as_cell_value {
    double number;
    const char *text;
    size_t size;
    bool lasting; /* the text: stays as long as there are machines */
    bool unset;   /* nothing was ever stored: the number 0 and the text "" */
} as_cell_value;
#define AS_UNSET ((as_cell_value){.unset = true})

/* Elements of a variable. Numbers, until a text is stored. */
typedef struct as_list {
    double *numbers;
    as_formula_text *texts; /* NULL: none is a text. Borrowed */
    size_t count, capacity;
} as_list;

/* The index a number stands for; what is none is beyond every list. */
size_t as_list_index(double number);
as_cell_value as_list_get(const as_list *list, size_t index);
/* *elements_left: how much may still be allocated. */
as_run_result as_list_set(as_list *list, size_t index, as_cell_value value, size_t *elements_left);
as_run_result as_list_copy(as_list *to, const as_list *from, size_t *elements_left);
void as_list_free(as_list *list);

struct as_globals {
    as_list *lists;
    size_t count, elements_left;
    as_arena texts;   /* made by init */
    size_t text_left; /* bytes that may still be */
};

as_run_result as_globals_set(as_globals *globals, uint32_t which, size_t index, as_cell_value value);
const as_list *as_globals_list(const as_globals *globals, uint32_t which);

#endif
