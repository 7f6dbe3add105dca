/* Inside a formula: the program and how a compiler writes it. For the languages and the machine only. */
#ifndef AS_DATASET_FORMULA_PROGRAM_H
#define AS_DATASET_FORMULA_PROGRAM_H

#include "core/pattern.h"
#include "core/strings.h"
#include "dataset/formula/formula.h"

/* Instructions work on a stack. The second column is what they add to its height. */
#define AS_INSTRUCTIONS(DO)                                                                                            \
    DO(NUMBER, 1)      /* numbers[a] */                                                                                \
    DO(TEXT, 1)        /* texts[a] */                                                                                  \
    DO(ARGUMENT, 1)    /* the first (a = 0) or second number of PLUS, MINUS, AGGR */                                   \
    DO(METRIC, 1)      /* operands[a] */                                                                               \
    DO(METRIC_CALL, 0) /* operands[a] at the context on the stack */                                                   \
    DO(LOCAL, 1)       /* variable a */                                                                                \
    DO(LOCAL_AT, 0)    /* its element, the index being on the stack */                                                 \
    DO(SET_LOCAL, -1)                                                                                                  \
    DO(SET_LOCAL_AT, -2) /* index, value */                                                                            \
    DO(GLOBAL, 1)                                                                                                      \
    DO(GLOBAL_AT, 0)                                                                                                   \
    DO(SET_GLOBAL, -1) /* only in INIT */                                                                              \
    DO(SET_GLOBAL_AT, -2)                                                                                              \
    DO(FACT, 1) /* fact a; b: it varies */                                                                             \
    DO(FACT_AT, 0)                                                                                                     \
    DO(LOCAL_SIZE, 1)                                                                                                  \
    DO(GLOBAL_SIZE, 1)                                                                                                 \
    DO(FACT_SIZE, 1)                                                                                                   \
    DO(UNARY, 0)       /* b: as_unary */                                                                               \
    DO(BINARY, -1)     /* b: as_binary */                                                                              \
    DO(EQUAL_TEXT, -1) /* b: upper and lower case are the same */                                                      \
    DO(MATCH, 0)       /* patterns[a] */                                                                               \
    DO(CHANGE_CASE, 0) /* b: to upper case */                                                                          \
    DO(JUMP, 0)        /* to instruction a */                                                                          \
    DO(JUMP_FALSE, -1)                                                                                                 \
    DO(SKIP_FALSE, 0) /* where the top is false: makes it 0 and jumps to a */                                          \
    DO(SKIP_TRUE, 0)  /* where it is true: makes it 1 and jumps */                                                     \
    DO(SKIP_ZERO, 0)  /* where it is 0 at all points: jumps */                                                         \
    DO(LOOP, 0)       /* jumps back to a, and counts */                                                                \
    DO(SET_VOID, 0)   /* metric a; b: is void */                                                                       \
    DO(DEVIATION, 1)  /* of the a numbers on top, which it takes off: 1 - a in all */                                  \
    DO(END, 0)

typedef enum as_instruction_kind {
#define ENUM(name, height) AS_DO_##name,
    AS_INSTRUCTIONS(ENUM)
#undef ENUM
} as_instruction_kind;

typedef enum as_unary {
    AS_NEGATE,
    AS_NOT,
    AS_ABS,
    AS_SQRT,
    AS_LOG,
    AS_EXP,
    AS_SIN,
    AS_COS,
    AS_TAN,
    AS_ASIN,
    AS_ACOS,
    AS_ATAN,
    AS_FLOOR,
    AS_CEIL,
    AS_SIGN,
    AS_POSITIVE, /* or 0 */
    AS_NEGATIVE, /* or 0 */
    /* Of plain numbers: not a number where there is no answer. CubePL has answers of its own */
    AS_REAL_SQRT,
    AS_REAL_LOG,
    AS_LOG2,
    AS_LOG10,
    AS_SINH,
    AS_COSH,
    AS_TANH,
    AS_ASINH,
    AS_ACOSH,
    AS_ATANH,
    AS_ROUND,
    AS_BELOW,     /* the largest whole number that is less */
    AS_ABOVE,     /* the smallest that is more */
    AS_FACTORIAL, /* of whole numbers */
    AS_OR_ZERO    /* 0 for what is no number */
} as_unary;

typedef enum as_binary {
    AS_ADD,
    AS_SUBTRACT,
    AS_MULTIPLY,
    AS_DIVIDE,
    AS_POWER,
    AS_MINIMUM,
    AS_MAXIMUM,
    AS_LESS,
    AS_LESS_EQUAL,
    AS_GREATER,
    AS_GREATER_EQUAL,
    AS_EQUAL,
    AS_NOT_EQUAL,
    AS_AND,
    AS_OR,
    AS_XOR,
    /* Of plain numbers */
    AS_DIFFERENCE,
    AS_PRODUCT,
    AS_QUOTIENT, /* not a number for a divisor 0 */
    AS_REMAINDER,
    AS_LOGARITHM,   /* of x to the base y */
    AS_COMBINATIONS /* ways to choose y of x */
} as_binary;

typedef struct as_instruction {
    uint8_t kind, b;
    uint32_t a;
} as_instruction;

typedef struct as_local {
    as_formula_text name;
    bool set_by_value; /* so that each evaluation has to begin with it as init left it */
} as_local;

typedef struct as_program {
    as_vec code; /* as_instruction; ends with END. Empty: the formula has no such part */
    int height;
} as_program;

struct as_formula {
    as_program parts[AS_FORMULA_PARTS];
    as_arena arena;
    as_vec numbers;                   /* double */
    as_vec texts;                     /* as_formula_text */
    as_vec patterns;                  /* as_pattern * */
    as_vec operands;                  /* as_formula_operand */
    as_vec locals;                    /* as_local */
    as_vec globals_set, globals_read; /* uint32_t, each once */
    bool can_be_empty;                /* see as_formula_can_be_empty() */
};

struct as_formula_scope {
    as_arena arena;
    as_strings names; /* their ids are the numbers of the globals */
};

enum { AS_MAX_INSTRUCTIONS = 1 << 18, AS_MAX_HEIGHT = 1000, AS_MAX_VARIABLES = 1000, AS_MAX_OPERANDS = 1000 };

/* Writes one part. A function that fails says so once for all: `why` (NULL: memory is out). */
typedef struct as_program_builder {
    as_formula *formula;
    as_formula_scope *scope;
    as_formula_part part;
    int height;
    bool failed;
    const char *why;
} as_program_builder;

as_formula *as_formula_new(void);
bool as_program_emit(as_program_builder *builder, as_instruction_kind kind, unsigned b, size_t a);
bool as_program_number(as_program_builder *builder, double number);
bool as_program_text(as_program_builder *builder, const char *text, size_t size);
/* The pattern is the formula's from here on. */
bool as_program_match(as_program_builder *builder, as_pattern *pattern);
bool as_program_metric(as_program_builder *builder, as_instruction_kind kind, as_formula_operand operand);
/* A variable, local or global; at: an element of it. */
bool as_program_variable(as_program_builder *builder, const char *name, size_t size, bool at);
bool as_program_set_variable(as_program_builder *builder, const char *name, size_t size, bool at);
bool as_program_variable_size(as_program_builder *builder, const char *name, size_t size);
/* Whether it is global, or a part so far sets it. */
bool as_program_knows_variable(const as_program_builder *builder, const char *name, size_t size);

/* Where the next instruction goes; a jump there, once it is known. Jumps that wait for a target form a list: its last
 * one, or AS_NO_JUMP. */
#define AS_NO_JUMP ((uint32_t)-1)
uint32_t as_program_here(const as_program_builder *builder);
bool as_program_jump(as_program_builder *builder, as_instruction_kind kind, uint32_t *list);
void as_program_land(as_program_builder *builder, uint32_t list);

/* Makes a global variable known, once or again. False when memory is out. */
bool as_scope_declare(as_formula_scope *scope, const char *name, size_t size);

#endif
