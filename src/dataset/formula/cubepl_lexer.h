/* The tokens of CubePL. */
#ifndef AS_DATASET_FORMULA_CUBEPL_LEXER_H
#define AS_DATASET_FORMULA_CUBEPL_LEXER_H

#include "dataset/formula/formula.h"

typedef enum as_token_kind {
    AS_TOKEN_END,
    AS_TOKEN_BAD,      /* text: a sentence that says why */
    AS_TOKEN_NUMBER,   /* number */
    AS_TOKEN_STRING,   /* text: as written between the quotes, with its backslashes */
    AS_TOKEN_VARIABLE, /* ${name}; text: the name */
    AS_TOKEN_METRIC,   /* metric::name; text: the name */
    AS_TOKEN_METRIC_FIXED,
    AS_TOKEN_METRIC_CALL,
    AS_TOKEN_METRIC_SET, /* cube::metric::set::name */
    AS_TOKEN_MATCH,      /* =~ /pattern/; text: the pattern */
    /* sizeof(name) and so on; text: the name */
    AS_TOKEN_SIZEOF,
    AS_TOKEN_DEFINED,
    AS_TOKEN_GLOBAL,
    AS_TOKEN_LOCAL,
    AS_TOKEN_WORD, /* keywords and functions */
    /* What is written as it is named; text: as it is written */
    AS_TOKEN_SIGN
} as_token_kind;

typedef struct as_token {
    as_token_kind kind;
    size_t start, end; /* in the text */
    as_formula_text text;
    double number;
} as_token;

typedef struct as_lexer {
    as_formula_text text;
    size_t at;
} as_lexer;

/* The next token. After END and BAD it stays there. */
as_token as_lexer_next(as_lexer *lexer);
/* Whether it is this sign or word. */
bool as_token_is(const as_token *token, const char *text);
/* Line and column, from 1, of a byte of the text. */
void as_text_place(as_formula_text text, size_t at, uint32_t *line, uint32_t *column);

#endif
