#include "dataset/formula/infix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/number.h"
#include "core/words.h"
#include "dataset/formula/program.h"

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_WORD,
    TOKEN_QUOTED,
    TOKEN_REFERENCE, /* $5 and #5; text: the number */
    TOKEN_SIGN,      /* one character */
    TOKEN_BAD        /* text: why */
} token_kind;

typedef struct token {
    token_kind kind;
    as_formula_text text;
    size_t start;
    char sign; /* of references: $ or # */
    double number;
} token;

typedef struct parser {
    as_program_builder builder;
    const as_infix_names *names;
    as_formula_text text;
    size_t at;
    token token; /* the next one */
    unsigned depth;
    bool failed;
    size_t failed_at;
    char why[256]; /* "": what the builder says */
} parser;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static char char_at(const parser *p, size_t at) { return at < p->text.size ? p->text.text[at] : '\0'; }

static token make_token(token_kind kind, const parser *p, size_t start, size_t first, size_t end) {
    return (token){.kind = kind, .start = start, .text = {p->text.text + first, end - first}};
}

static token bad_token(size_t start, const char *why) {
    return (token){.kind = TOKEN_BAD, .start = start, .text = {why, strlen(why)}};
}

static size_t skip_digits(const parser *p, size_t at) {
    while (is_digit(char_at(p, at))) at++;
    return at;
}

static token number_token(parser *p) {
    size_t start = p->at, at = skip_digits(p, start);
    if (char_at(p, at) == '.') at = skip_digits(p, at + 1);
    if ((char_at(p, at) | 0x20) == 'e') {
        size_t digits = at + 1;
        if (char_at(p, digits) == '+' || char_at(p, digits) == '-') digits++;
        if (is_digit(char_at(p, digits))) at = skip_digits(p, digits);
    }
    token result = make_token(TOKEN_NUMBER, p, start, start, at);
    if (!as_real_parse(result.text.text, result.text.size, &result.number))
        return bad_token(start, "this is no number");
    p->at = at;
    return result;
}

/* Words may have colons and points inside: perf::cycles. */
static token word_token(parser *p) {
    size_t start = p->at, at = start;
    while (is_letter(char_at(p, at)) || is_digit(char_at(p, at)) || char_at(p, at) == ':' || char_at(p, at) == '.')
        at++;
    p->at = at;
    return make_token(TOKEN_WORD, p, start, start, at);
}

static token quoted_token(parser *p, char quote) {
    size_t start = p->at, at = start + 1;
    while (at < p->text.size && (p->text.text[at] != quote || char_at(p, at + 1) == quote))
        at += p->text.text[at] == quote ? 2 : 1;
    if (at >= p->text.size) return bad_token(start, "the quote that begins here does not end");
    p->at = at + 1;
    token result = make_token(TOKEN_QUOTED, p, start, start + 1, at);
    result.sign = quote;
    return result;
}

static token reference_token(parser *p, char sign) {
    size_t start = p->at, first = start + 1, digits = first + (char_at(p, first) == '-');
    size_t end = skip_digits(p, digits);
    if (end == digits)
        return bad_token(start, sign == '$' ? "behind $ the number of a metric is missing"
                                            : "behind # the number of a metric is missing");
    p->at = end;
    token result = make_token(TOKEN_REFERENCE, p, start, first, end);
    result.sign = sign;
    return result;
}

static token next_token(parser *p) {
    while (is_blank(char_at(p, p->at))) p->at++;
    char c = char_at(p, p->at);
    if (p->at >= p->text.size) return (token){.kind = TOKEN_END, .start = p->text.size};
    if (is_digit(c) || c == '.') return number_token(p);
    if (is_letter(c)) return word_token(p);
    if (c == '\'' || c == '"' || c == '`') return quoted_token(p, c);
    if (c == '$' || c == '#') return reference_token(p, c);
    if (c == '\0' || !strchr("+-*/^(),@", c)) return bad_token(p->at, "this character has no meaning here");
    token result = make_token(TOKEN_SIGN, p, p->at, p->at, p->at + 1);
    result.sign = c;
    p->at++;
    return result;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static bool fail_at(parser *p, size_t at, const char *why) {
    if (!p->failed) {
        snprintf(p->why, sizeof p->why, "%s", why ? why : "");
        p->failed_at = at;
    }
    p->failed = true;
    return false;
}

static bool fail(parser *p, const char *why) {
    return fail_at(p, p->token.start, p->token.kind == TOKEN_BAD ? p->token.text.text : why);
}

static bool built(parser *p, bool ok) { return ok || fail_at(p, p->token.start, NULL); }

static void advance(parser *p) { p->token = next_token(p); }

static bool is_sign(const parser *p, char sign) { return p->token.kind == TOKEN_SIGN && p->token.sign == sign; }

static bool accept(parser *p, char sign) {
    if (!is_sign(p, sign)) return false;
    advance(p);
    return true;
}

static bool emit(parser *p, as_instruction_kind kind, unsigned b) {
    return built(p, as_program_emit(&p->builder, kind, b, 0));
}

static bool parse_expression(parser *p);

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* A metric that is not there counts as 0. */
static bool emit_metric(parser *p, as_formula_operand operand) {
    return built(p, as_program_metric(&p->builder, AS_DO_METRIC, operand)) && emit(p, AS_DO_UNARY, AS_OR_ZERO);
}

static bool take_metric(parser *p, as_infix_reference kind, as_formula_text name, size_t at, as_reach reach) {
    as_formula_operand operand = {.metric = AS_UNKNOWN_NAME, .flavour = AS_FLAVOUR_SAME};
    char why[sizeof p->why] = "there is no such metric";
    if (!p->names->metric(p->names->user, kind, name.text, name.size, &operand, why, sizeof why))
        return fail_at(p, at, why);
    operand.reach = reach;
    if (reach == AS_REACH_ALL) operand.flavour = AS_FLAVOUR_INCLUSIVE; /* all of it, whatever is computed */
    return emit_metric(p, operand);
}

/* A quote inside is doubled. */
static bool parse_quoted(parser *p, as_reach reach) {
    token quoted = p->token;
    char *name = malloc(quoted.text.size + 1);
    size_t n = 0;
    if (!name) return fail_at(p, quoted.start, NULL);
    for (size_t i = 0; i < quoted.text.size; i++) {
        name[n++] = quoted.text.text[i];
        if (quoted.text.text[i] == quoted.sign) i++;
    }
    advance(p);
    bool ok = take_metric(p, AS_INFIX_NAME, (as_formula_text){name, n}, quoted.start, reach);
    free(name);
    return ok;
}

static bool parse_reference(parser *p, as_reach reach) {
    token reference = p->token;
    advance(p);
    return take_metric(p, reference.sign == '#' ? AS_INFIX_ORDER : AS_INFIX_NUMBER, reference.text, reference.start,
                       reach);
}

/* Behind @: 5, name or 'name'. */
static bool parse_whole(parser *p) {
    size_t start = p->token.start, first = start, end = skip_digits(p, first);
    if (p->token.kind == TOKEN_NUMBER && end > first) { /* digits alone: @5.2 is no metric */
        as_formula_text number = {p->text.text + first, end - first};
        p->at = end;
        advance(p);
        return take_metric(p, AS_INFIX_NUMBER, number, start, AS_REACH_ALL);
    }
    if (p->token.kind == TOKEN_REFERENCE) return parse_reference(p, AS_REACH_ALL);
    if (p->token.kind == TOKEN_QUOTED) return parse_quoted(p, AS_REACH_ALL);
    if (p->token.kind != TOKEN_WORD) return fail(p, "behind @ a metric is missing");
    as_formula_text name = p->token.text;
    advance(p);
    return take_metric(p, AS_INFIX_NAME, name, start, AS_REACH_ALL);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

enum { ANY_NUMBER = 0 };

static const struct {
    const char *name;
    unsigned n; /* arguments; ANY_NUMBER: one or more */
    as_instruction_kind kind;
    unsigned b;
} functions[] = {
    {"sum", ANY_NUMBER, AS_DO_BINARY, AS_ADD},
    {"prod", ANY_NUMBER, AS_DO_BINARY, AS_PRODUCT},
    {"min", ANY_NUMBER, AS_DO_BINARY, AS_MINIMUM},
    {"max", ANY_NUMBER, AS_DO_BINARY, AS_MAXIMUM},
    {"pow", 2, AS_DO_BINARY, AS_POWER},
    {"mod", 2, AS_DO_BINARY, AS_REMAINDER},
    {"combin", 2, AS_DO_BINARY, AS_COMBINATIONS},
    {"abs", 1, AS_DO_UNARY, AS_ABS},
    {"sqrt", 1, AS_DO_UNARY, AS_REAL_SQRT},
    {"ln", 1, AS_DO_UNARY, AS_REAL_LOG},
    {"lg", 1, AS_DO_UNARY, AS_LOG2},
    {"log", 1, AS_DO_UNARY, AS_LOG10},
    {"log", 2, AS_DO_BINARY, AS_LOGARITHM},
    {"exp", 1, AS_DO_UNARY, AS_EXP},
    {"sign", 1, AS_DO_UNARY, AS_SIGN},
    {"floor", 1, AS_DO_UNARY, AS_FLOOR},
    {"ceil", 1, AS_DO_UNARY, AS_CEIL},
    {"round", 1, AS_DO_UNARY, AS_ROUND},
    {"fact", 1, AS_DO_UNARY, AS_FACTORIAL},
    {"strictfloor", 1, AS_DO_UNARY, AS_BELOW},
    {"strictceil", 1, AS_DO_UNARY, AS_ABOVE},
    {"sin", 1, AS_DO_UNARY, AS_SIN},
    {"cos", 1, AS_DO_UNARY, AS_COS},
    {"tan", 1, AS_DO_UNARY, AS_TAN},
    {"asin", 1, AS_DO_UNARY, AS_ASIN},
    {"acos", 1, AS_DO_UNARY, AS_ACOS},
    {"atan", 1, AS_DO_UNARY, AS_ATAN},
    {"sinh", 1, AS_DO_UNARY, AS_SINH},
    {"cosh", 1, AS_DO_UNARY, AS_COSH},
    {"tanh", 1, AS_DO_UNARY, AS_TANH},
    {"asinh", 1, AS_DO_UNARY, AS_ASINH},
    {"acosh", 1, AS_DO_UNARY, AS_ACOSH},
    {"atanh", 1, AS_DO_UNARY, AS_ATANH},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool is_word(const char *text, size_t size, const char *word) {
    size_t i = 0;
    for (; i < size && word[i]; i++) {
        if (lower(text[i]) != word[i]) return false;
    }
    return i == size && !word[i];
}

/* Those that are more than one instruction. */
static bool call_other(as_program_builder *b, const char *name, size_t size, unsigned n) {
    if (is_word(name, size, "pi") && n == 0) return as_program_number(b, 3.141592653589793);
    if (is_word(name, size, "e") && n == 0) return as_program_number(b, 2.718281828459045);
    if (is_word(name, size, "stdev") && n > 0) return as_program_emit(b, AS_DO_DEVIATION, 0, n);
    if (is_word(name, size, "avg") && n > 0) {
        for (unsigned i = 1; i < n; i++) as_program_emit(b, AS_DO_BINARY, AS_ADD, 0);
        return as_program_number(b, n) && as_program_emit(b, AS_DO_BINARY, AS_QUOTIENT, 0);
    }
    return false;
}

static bool call(as_program_builder *builder, const char *name, size_t size, unsigned n_arguments) {
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        if (!is_word(name, size, functions[i].name)) continue;
        if (n_arguments && functions[i].n == n_arguments)
            return as_program_emit(builder, functions[i].kind, functions[i].b, 0);
        if (functions[i].n != ANY_NUMBER || n_arguments == 0) continue;
        for (unsigned k = 1; k < n_arguments; k++) as_program_emit(builder, functions[i].kind, functions[i].b, 0);
        return !builder->failed;
    }
    return call_other(builder, name, size, n_arguments);
}

/* What the functions of this name take: false, there are none. */
static bool say_arguments(const char *name, size_t size, char *why, size_t room) {
    const char *takes = NULL;
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        if (!is_word(name, size, functions[i].name)) continue;
        takes = takes                          ? "one or two arguments"
                : functions[i].n == ANY_NUMBER ? "at least one argument"
                : functions[i].n == 1          ? "one argument"
                                               : "two arguments";
    }
    if (is_word(name, size, "avg") || is_word(name, size, "stdev")) takes = "at least one argument";
    if (is_word(name, size, "pi") || is_word(name, size, "e")) takes = "no argument";
    if (takes) snprintf(why, room, "%.*s takes %s", (int)size, name, takes);
    return takes != NULL;
}

static void say_unknown(const char *name, size_t size, char *why, size_t room) {
    as_nearest nearest = as_nearest_start(name, size);
    for (size_t i = 0; i < N_FUNCTIONS; i++) as_nearest_offer(&nearest, functions[i].name);
    as_nearest_offer(&nearest, "avg");
    as_nearest_offer(&nearest, "stdev");
    int shown = size < 60 ? (int)size : 60;
    if (nearest.word)
        snprintf(why, room, "there is no function %.*s; did you mean %s?", shown, name, nearest.word);
    else
        snprintf(why, room, "there is no function %.*s", shown, name);
}

static bool parse_arguments(parser *p, unsigned *n) {
    *n = 0;
    advance(p); /* ( */
    if (accept(p, ')')) return true;
    do {
        if (!parse_expression(p)) return false;
        ++*n;
    } while (accept(p, ','));
    return accept(p, ')') || fail(p, "a , or ) is missing here");
}

static bool parse_function(parser *p, as_formula_text name, size_t start) {
    unsigned n;
    char why[sizeof p->why];
    if (is_word(name.text, name.size, "rand"))
        return fail_at(p, start, "rand() is not supported: every answer would be another one");
    if (!say_arguments(name.text, name.size, why, sizeof why)) {
        say_unknown(name.text, name.size, why, sizeof why);
        return fail_at(p, start, why);
    }
    if (!parse_arguments(p, &n)) return false;
    if (p->names->sqrt_rounds && n == 1 && is_word(name.text, name.size, "sqrt")) return emit(p, AS_DO_UNARY, AS_SQRT);
    if (call(&p->builder, name.text, name.size, n)) return true;
    return p->builder.failed ? built(p, false) : fail_at(p, start, why);
}

/* A function where ( follows, else a metric; pi and e only where no metric has that name. */
static bool parse_word(parser *p, as_reach reach) {
    as_formula_text name = p->token.text;
    size_t start = p->token.start;
    advance(p);
    if (is_sign(p, '(')) return parse_function(p, name, start);
    bool is_number = is_word(name.text, name.size, "pi") || is_word(name.text, name.size, "e");
    as_formula_operand known = {0};
    char why[sizeof p->why];
    if (is_number && !p->names->metric(p->names->user, AS_INFIX_NAME, name.text, name.size, &known, why, sizeof why))
        return built(p, call(&p->builder, name.text, name.size, 0));
    return take_metric(p, AS_INFIX_NAME, name, start, reach);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static bool parse_operand(parser *p) {
    double number = p->token.number;
    switch (p->token.kind) {
    case TOKEN_NUMBER: advance(p); return built(p, as_program_number(&p->builder, number));
    case TOKEN_WORD: return parse_word(p, AS_REACH_POINT);
    case TOKEN_QUOTED: return parse_quoted(p, AS_REACH_POINT);
    case TOKEN_REFERENCE: return parse_reference(p, AS_REACH_POINT);
    case TOKEN_END: return fail(p, "it ends where a value is missing");
    default: break;
    }
    if (accept(p, '@')) return parse_whole(p);
    if (accept(p, '(')) return parse_expression(p) && (accept(p, ')') || fail(p, "a ) is missing here"));
    return fail(p, "a value is missing here");
}

/* -x, +x, x^y: signs bind looser than the power on their right, and tighter than the one on their left. */
static bool parse_power(parser *p) {
    if (++p->depth > AS_INFIX_MAX_DEPTH) return fail(p, "it is nested too deeply");
    bool is_minus = is_sign(p, '-');
    if (is_minus || is_sign(p, '+')) {
        advance(p);
        if (!parse_power(p) || (is_minus && !emit(p, AS_DO_UNARY, AS_NEGATE))) return false;
    } else {
        if (!parse_operand(p)) return false;
        if (accept(p, '^') && !(parse_power(p) && emit(p, AS_DO_BINARY, AS_POWER))) return false;
    }
    p->depth--;
    return true;
}

static bool parse_product(parser *p) {
    if (!parse_power(p)) return false;
    while (is_sign(p, '*') || is_sign(p, '/')) {
        unsigned operation = p->token.sign == '*' ? AS_PRODUCT : AS_QUOTIENT;
        advance(p);
        if (!parse_power(p) || !emit(p, AS_DO_BINARY, operation)) return false;
    }
    return true;
}

static bool parse_expression(parser *p) {
    if (++p->depth > AS_INFIX_MAX_DEPTH) return fail(p, "it is nested too deeply");
    if (!parse_product(p)) return false;
    while (is_sign(p, '+') || is_sign(p, '-')) {
        unsigned operation = p->token.sign == '+' ? AS_ADD : AS_DIFFERENCE;
        advance(p);
        if (!parse_product(p) || !emit(p, AS_DO_BINARY, operation)) return false;
    }
    p->depth--;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool parse(parser *p) {
    if (p->text.size > AS_INFIX_MAX_SIZE) return fail_at(p, 0, "it is too long");
    advance(p);
    if (p->token.kind == TOKEN_END) return fail(p, "there is no expression");
    if (!parse_expression(p)) return false;
    if (p->token.kind != TOKEN_END)
        return fail(p, is_sign(p, ')') ? "this ) closes nothing" : "an operator is missing here");
    return emit(p, AS_DO_END, 0);
}

assay_status as_infix_compile(const as_infix_names *names, as_formula_text text, as_formula **formula,
                              assay_error *error) {
    *formula = as_formula_new();
    if (!*formula) return as_fail_memory(error, NULL);
    (*formula)->can_be_empty = true;
    parser p = {.builder = {.formula = *formula, .part = AS_FORMULA_VALUE}, .names = names, .text = text};
    if (parse(&p)) return ASSAY_OK;
    as_formula_free(*formula);
    *formula = NULL;
    const char *why = p.why[0] ? p.why : p.builder.why;
    if (!why) return as_fail_memory(error, NULL);
    as_place place = AS_NOWHERE;
    place.line = 1;
    place.column = (uint32_t)p.failed_at + 1;
    return as_fail(error, ASSAY_E_FORMAT, place, "formula", "%s", why);
}
