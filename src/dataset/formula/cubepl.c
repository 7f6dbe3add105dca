#include "dataset/formula/cubepl.h"

#include "dataset/formula/cubepl_lexer.h"
#include "dataset/formula/program.h"

enum { MAX_DEPTH = 200 };

typedef struct parser {
    as_program_builder builder;
    const as_formula_names *names;
    as_lexer lexer;
    as_token token; /* the next one */
    unsigned depth;
    const char *why; /* of the first failure; NULL: of the builder */
    size_t at;
    bool failed;
} parser;

static bool fail_at(parser *p, size_t at, const char *why) {
    if (!p->failed) {
        p->why = why;
        p->at = at;
    }
    p->failed = true;
    return false;
}

static bool fail(parser *p, const char *why) {
    if (p->token.kind == AS_TOKEN_BAD) return fail_at(p, p->token.start, p->token.text.text);
    return fail_at(p, p->token.start, why);
}

/* What the builder says; its place is the last token taken. */
static bool built(parser *p, bool ok) { return ok || fail_at(p, p->token.start, NULL); }

static void advance(parser *p) { p->token = as_lexer_next(&p->lexer); }

static bool accept(parser *p, const char *text) {
    if (!as_token_is(&p->token, text)) return false;
    advance(p);
    return true;
}

static bool expect(parser *p, const char *text, const char *why) { return accept(p, text) || fail(p, why); }

static bool is_at_points(const parser *p) { return p->builder.part == AS_FORMULA_VALUE; }

static bool deeper(parser *p) { return ++p->depth <= MAX_DEPTH || fail(p, "it is nested too deeply"); }

static bool parse_expression(parser *p, int level);
static bool parse_block(parser *p);

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

static bool parse_flavour(parser *p, as_flavour *flavour) {
    if (accept(p, "i"))
        *flavour = AS_FLAVOUR_INCLUSIVE;
    else if (accept(p, "e"))
        *flavour = AS_FLAVOUR_EXCLUSIVE;
    else if (accept(p, "*"))
        *flavour = AS_FLAVOUR_SAME;
    else
        return fail(p, "one of i, e and * is missing");
    return true;
}

static bool parse_metric_name(parser *p, uint32_t *metric) {
    if (!is_at_points(p)) return fail(p, "metrics can only be used where a value is computed");
    *metric = p->names->metric(p->names->user, p->token.text.text, p->token.text.size);
    if (*metric == AS_UNKNOWN_NAME) return fail(p, "there is no metric of this name");
    advance(p);
    return expect(p, "(", "( is missing behind the name of the metric");
}

/* metric::name(i|e|*, i|e|*): what is said of locations changes nothing, as they have no parts. */
static bool parse_metric(parser *p, bool fixed) {
    as_formula_operand operand = {.reach = AS_REACH_POINT};
    as_flavour of_location;
    unsigned n = 0;
    if (!parse_metric_name(p, &operand.metric)) return false;
    if (!as_token_is(&p->token, ")")) {
        if (!parse_flavour(p, &operand.flavour)) return false;
        n = 1;
        if (accept(p, ",")) {
            if (!parse_flavour(p, &of_location)) return false;
            n = 2;
        }
    }
    if (!expect(p, ")", ") is missing")) return false;
    if (fixed && n == 0) operand = (as_formula_operand){operand.metric, AS_REACH_ALL, AS_FLAVOUR_INCLUSIVE};
    if (fixed && n == 1) operand.reach = AS_REACH_CONTEXT;
    return built(p, as_program_metric(&p->builder, AS_DO_METRIC, operand));
}

/* metric::call::name(context, i|e): all locations together. */
static bool parse_metric_call(parser *p) {
    as_formula_operand operand = {.reach = AS_REACH_CALL};
    if (!parse_metric_name(p, &operand.metric) || !parse_expression(p, 0) || !expect(p, ",", ", is missing") ||
        !parse_flavour(p, &operand.flavour))
        return false;
    if (as_token_is(&p->token, ",")) return fail(p, "the value at one location of metric::call is not supported");
    return expect(p, ")", ") is missing") && built(p, as_program_metric(&p->builder, AS_DO_METRIC_CALL, operand));
}

/* ---- variables, texts, functions --------------------------------------------------------------------------------- */

static uint32_t fact_of(parser *p, bool *varies) {
    *varies = false;
    return p->names->fact(p->names->user, p->token.text.text, p->token.text.size, varies);
}

/* [index], if there is one. */
static bool parse_index(parser *p, bool *indexed) {
    *indexed = accept(p, "[");
    return !*indexed || (parse_expression(p, 0) && expect(p, "]", "] is missing"));
}

static bool parse_variable(parser *p) {
    as_formula_text name = p->token.text;
    bool varies, indexed;
    uint32_t fact = fact_of(p, &varies);
    if (varies && !is_at_points(p)) return fail(p, "this is only known where a value is computed");
    advance(p);
    if (!parse_index(p, &indexed)) return false;
    if (fact == AS_UNKNOWN_NAME) return built(p, as_program_variable(&p->builder, name.text, name.size, indexed));
    return built(p, as_program_emit(&p->builder, indexed ? AS_DO_FACT_AT : AS_DO_FACT, varies, fact));
}

static bool parse_variable_size(parser *p) {
    as_formula_text name = p->token.text;
    bool varies;
    uint32_t fact = fact_of(p, &varies);
    advance(p);
    if (fact == AS_UNKNOWN_NAME) return built(p, as_program_variable_size(&p->builder, name.text, name.size));
    return built(p, as_program_emit(&p->builder, AS_DO_FACT_SIZE, 0, fact));
}

static bool parse_defined(parser *p) {
    bool varies;
    bool known = fact_of(p, &varies) != AS_UNKNOWN_NAME ||
                 as_program_knows_variable(&p->builder, p->token.text.text, p->token.text.size);
    advance(p);
    return built(p, as_program_number(&p->builder, known));
}

static bool parse_string(parser *p) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    const char *written = p->token.text.text;
    size_t size = p->token.text.size;
    bool ok = true;
    for (size_t i = 0; ok && i < size; i++) {
        char c = written[i];
        if (c == '\\' && i + 1 < size) {
            c = written[++i];
            if (c == 'n') c = '\n';
            if (c == 't') c = '\t';
        }
        ok = as_vec_append(&text, &c, 1);
    }
    advance(p);
    ok = built(p, ok && as_program_text(&p->builder, text.count ? text.data : "", text.count));
    as_vec_free(&text);
    return ok;
}

static const struct {
    const char *name;
    unsigned n; /* arguments */
    as_instruction_kind kind;
    unsigned b;
} functions[] = {
    {"abs", 1, AS_DO_UNARY, AS_ABS},        {"sqrt", 1, AS_DO_UNARY, AS_SQRT},
    {"log", 1, AS_DO_UNARY, AS_LOG},        {"ln", 1, AS_DO_UNARY, AS_LOG},
    {"exp", 1, AS_DO_UNARY, AS_EXP},        {"sin", 1, AS_DO_UNARY, AS_SIN},
    {"cos", 1, AS_DO_UNARY, AS_COS},        {"tan", 1, AS_DO_UNARY, AS_TAN},
    {"asin", 1, AS_DO_UNARY, AS_ASIN},      {"acos", 1, AS_DO_UNARY, AS_ACOS},
    {"atan", 1, AS_DO_UNARY, AS_ATAN},      {"floor", 1, AS_DO_UNARY, AS_FLOOR},
    {"ceil", 1, AS_DO_UNARY, AS_CEIL},      {"sgn", 1, AS_DO_UNARY, AS_SIGN},
    {"pos", 1, AS_DO_UNARY, AS_POSITIVE},   {"neg", 1, AS_DO_UNARY, AS_NEGATIVE},
    {"min", 2, AS_DO_BINARY, AS_MINIMUM},   {"max", 2, AS_DO_BINARY, AS_MAXIMUM},
    {"lowercase", 1, AS_DO_CHANGE_CASE, 0}, {"uppercase", 1, AS_DO_CHANGE_CASE, 1},
};

static bool parse_function(parser *p) {
    if (as_token_is(&p->token, "random"))
        return fail(p, "random() is not supported: every answer would be another one");
    if (as_token_is(&p->token, "env"))
        return fail(p, "env() is not supported: the answer would depend on where it is asked");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!accept(p, functions[i].name)) continue;
        if (!expect(p, "(", "( is missing behind the name of the function") || !parse_expression(p, 0)) return false;
        if (functions[i].n == 2 && (!expect(p, ",", "the second argument is missing") || !parse_expression(p, 0)))
            return false;
        return expect(p, ")", ") is missing") &&
               built(p, as_program_emit(&p->builder, functions[i].kind, functions[i].b, 0));
    }
    return fail(p, "there is no such function or word");
}

static bool parse_argument(parser *p, unsigned number) {
    if (p->builder.part != AS_FORMULA_PLUS && p->builder.part != AS_FORMULA_MINUS && p->builder.part != AS_FORMULA_AGGR)
        return fail(p, "arg1 and arg2 are for what combines values");
    advance(p);
    return built(p, as_program_emit(&p->builder, AS_DO_ARGUMENT, 0, number));
}

static bool parse_word(parser *p) {
    if (as_token_is(&p->token, "arg1")) return parse_argument(p, 0);
    if (as_token_is(&p->token, "arg2")) return parse_argument(p, 1);
    if (accept(p, "true")) return built(p, as_program_number(&p->builder, 1));
    if (accept(p, "false")) return built(p, as_program_number(&p->builder, 0));
    return parse_function(p);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* How tightly operators bind. A minus sign binds like its big brother, so -a * b is -(a * b), and 2 ^ -1 * 3 is 2 ^ -(1
 * * 3). */
enum { LEVEL_LOGIC = 1, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_POWER };

static bool parse_operand(parser *p) {
    switch (p->token.kind) {
    case AS_TOKEN_NUMBER: {
        double number = p->token.number;
        advance(p);
        return built(p, as_program_number(&p->builder, number));
    }
    case AS_TOKEN_STRING: return parse_string(p);
    case AS_TOKEN_VARIABLE: return parse_variable(p);
    case AS_TOKEN_METRIC: return parse_metric(p, false);
    case AS_TOKEN_METRIC_FIXED: return parse_metric(p, true);
    case AS_TOKEN_METRIC_CALL: return parse_metric_call(p);
    case AS_TOKEN_SIZEOF: return parse_variable_size(p);
    case AS_TOKEN_DEFINED: return parse_defined(p);
    default: break;
    }
    if (accept(p, "-"))
        return parse_expression(p, LEVEL_PRODUCT) && built(p, as_program_emit(&p->builder, AS_DO_UNARY, AS_NEGATE, 0));
    if (accept(p, "not"))
        return parse_expression(p, LEVEL_COMPARE) && built(p, as_program_emit(&p->builder, AS_DO_UNARY, AS_NOT, 0));
    if (accept(p, "(")) return parse_expression(p, 0) && expect(p, ")", ") is missing");
    if (accept(p, "|"))
        return parse_expression(p, 0) && expect(p, "|", "| is missing") &&
               built(p, as_program_emit(&p->builder, AS_DO_UNARY, AS_ABS, 0));
    if (as_token_is(&p->token, "{")) return parse_block(p);
    if (p->token.kind == AS_TOKEN_WORD) return parse_word(p);
    return fail(p, p->token.kind == AS_TOKEN_END ? "it ends where a value is missing" : "a value is missing here");
}

static const struct {
    const char *sign;
    int level;
    as_instruction_kind kind;
    unsigned b;
} operators[] = {
    {"+", LEVEL_SUM, AS_DO_BINARY, AS_ADD},
    {"-", LEVEL_SUM, AS_DO_BINARY, AS_SUBTRACT},
    {"*", LEVEL_PRODUCT, AS_DO_BINARY, AS_MULTIPLY},
    {"/", LEVEL_PRODUCT, AS_DO_BINARY, AS_DIVIDE},
    {"^", LEVEL_POWER, AS_DO_BINARY, AS_POWER},
    {"<", LEVEL_COMPARE, AS_DO_BINARY, AS_LESS},
    {"<=", LEVEL_COMPARE, AS_DO_BINARY, AS_LESS_EQUAL},
    {">", LEVEL_COMPARE, AS_DO_BINARY, AS_GREATER},
    {">=", LEVEL_COMPARE, AS_DO_BINARY, AS_GREATER_EQUAL},
    {"==", LEVEL_COMPARE, AS_DO_BINARY, AS_EQUAL},
    {"!=", LEVEL_COMPARE, AS_DO_BINARY, AS_NOT_EQUAL},
    {"eq", LEVEL_COMPARE, AS_DO_EQUAL_TEXT, 0},
    {"seq", LEVEL_COMPARE, AS_DO_EQUAL_TEXT, 1},
    {"and", LEVEL_LOGIC, AS_DO_BINARY, AS_AND},
    {"or", LEVEL_LOGIC, AS_DO_BINARY, AS_OR},
    {"xor", LEVEL_LOGIC, AS_DO_BINARY, AS_XOR},
};

static bool parse_match(parser *p) {
    const char *why;
    size_t at, start = (size_t)(p->token.text.text - p->lexer.text.text);
    as_pattern *pattern = as_pattern_new(p->token.text.text, p->token.text.size, &why, &at);
    if (!pattern) return fail_at(p, start + at, why);
    advance(p);
    return built(p, as_program_match(&p->builder, pattern));
}

/* What is done where the left side alone gives the result: the right side is not looked at. END: it has to be. */
static as_instruction_kind skip_of(unsigned operation) {
    switch (operation) {
    case AS_AND: return AS_DO_SKIP_FALSE;
    case AS_OR: return AS_DO_SKIP_TRUE;
    case AS_MULTIPLY:
    case AS_DIVIDE: return AS_DO_SKIP_ZERO;
    default: return AS_DO_END;
    }
}

static bool parse_right(parser *p, size_t which) {
    uint32_t end = AS_NO_JUMP;
    as_instruction_kind kind = operators[which].kind;
    as_instruction_kind skip = kind == AS_DO_BINARY ? skip_of(operators[which].b) : AS_DO_END;
    if (skip != AS_DO_END && !built(p, as_program_jump(&p->builder, skip, &end))) return false;
    if (!parse_expression(p, operators[which].level + 1) ||
        !built(p, as_program_emit(&p->builder, kind, operators[which].b, 0)))
        return false;
    as_program_land(&p->builder, end);
    return true;
}

/* An expression of operators that bind at least as tightly as level says, all from the left. */
static bool parse_expression(parser *p, int level) {
    if (!deeper(p) || !parse_operand(p)) return false;
    for (;;) {
        if (p->token.kind == AS_TOKEN_MATCH && level <= LEVEL_COMPARE) {
            if (!parse_match(p)) return false;
            continue;
        }
        size_t i = 0, n = sizeof operators / sizeof *operators;
        while (i < n && !as_token_is(&p->token, operators[i].sign)) i++;
        if (i == n || operators[i].level < level) break;
        advance(p);
        if (!parse_right(p, i)) return false;
    }
    p->depth--;
    return true;
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static bool parse_statements(parser *p, uint32_t *returns);

static bool parse_body(parser *p, uint32_t *returns) {
    return expect(p, "{", "{ is missing") && deeper(p) && parse_statements(p, returns) &&
           expect(p, "}", "} or a statement is missing") && (p->depth--, true);
}

static bool parse_condition(parser *p, uint32_t *otherwise) {
    return expect(p, "(", "( is missing") && parse_expression(p, 0) && expect(p, ")", ") is missing") &&
           built(p, as_program_jump(&p->builder, AS_DO_JUMP_FALSE, otherwise));
}

static bool parse_if(parser *p, uint32_t *returns) {
    uint32_t end = AS_NO_JUMP;
    do {
        uint32_t otherwise = AS_NO_JUMP;
        if (!parse_condition(p, &otherwise) || !parse_body(p, returns)) return false;
        if (as_token_is(&p->token, "elseif") || as_token_is(&p->token, "else")) {
            if (!built(p, as_program_jump(&p->builder, AS_DO_JUMP, &end))) return false;
        }
        as_program_land(&p->builder, otherwise);
    } while (accept(p, "elseif"));
    if (accept(p, "else") && !parse_body(p, returns)) return false;
    as_program_land(&p->builder, end);
    return true;
}

static bool parse_while(parser *p, uint32_t *returns) {
    uint32_t start = as_program_here(&p->builder), end = AS_NO_JUMP;
    if (!parse_condition(p, &end) || !parse_body(p, returns) ||
        !built(p, as_program_emit(&p->builder, AS_DO_LOOP, 0, start)))
        return false;
    as_program_land(&p->builder, end);
    return true;
}

static bool parse_assignment(parser *p) {
    as_formula_text name = p->token.text;
    bool varies, indexed;
    if (fact_of(p, &varies) != AS_UNKNOWN_NAME) return fail(p, "this variable cannot be set");
    advance(p);
    if (!parse_index(p, &indexed) || !expect(p, "=", "= is missing") || !parse_expression(p, 0)) return false;
    return built(p, as_program_set_variable(&p->builder, name.text, name.size, indexed));
}

static bool text_is(as_formula_text text, const char *expected) {
    return text.size == strlen(expected) && memcmp(text.text, expected, text.size) == 0;
}

/* cube::metric::set::name("value", "VOID"): the metric counts as 0. Metrics that are not there are left alone. */
static bool parse_metric_set(parser *p) {
    uint32_t metric = p->names->metric(p->names->user, p->token.text.text, p->token.text.size);
    if (p->builder.part != AS_FORMULA_INIT) return fail(p, "metrics can only be changed in the initialisation");
    advance(p);
    if (!expect(p, "(", "( is missing")) return false;
    if (p->token.kind != AS_TOKEN_STRING || !text_is(p->token.text, "value"))
        return fail(p, "of a metric only its \"value\" can be set");
    advance(p);
    if (!expect(p, ",", ", is missing")) return false;
    if (p->token.kind != AS_TOKEN_STRING) return fail(p, "a text is missing");
    bool is_void = text_is(p->token.text, "VOID");
    advance(p);
    if (!expect(p, ")", ") is missing")) return false;
    return metric == AS_UNKNOWN_NAME || built(p, as_program_emit(&p->builder, AS_DO_SET_VOID, is_void, metric));
}

/* returns: jumps to the end of the block, with its value on the stack. */
static bool parse_return(parser *p, uint32_t *returns) {
    if (!parse_expression(p, 0) || !built(p, as_program_jump(&p->builder, AS_DO_JUMP, returns))) return false;
    p->builder.height--;
    return true;
}

static bool parse_statement(parser *p, uint32_t *returns) {
    switch (p->token.kind) {
    case AS_TOKEN_VARIABLE: return parse_assignment(p);
    case AS_TOKEN_METRIC_SET: return parse_metric_set(p);
    case AS_TOKEN_GLOBAL: /* known since as_cubepl_declare() */
    case AS_TOKEN_LOCAL: advance(p); return true;
    default: break;
    }
    if (accept(p, "if")) return parse_if(p, returns);
    if (accept(p, "while")) return parse_while(p, returns);
    if (accept(p, "return")) return parse_return(p, returns);
    return fail(p, p->token.kind == AS_TOKEN_END ? "it ends inside of { }" : "this is no statement");
}

static bool parse_statements(parser *p, uint32_t *returns) {
    while (!as_token_is(&p->token, "}")) {
        if (accept(p, ";")) continue;
        bool needs_end = !as_token_is(&p->token, "if") && !as_token_is(&p->token, "while");
        if (!parse_statement(p, returns)) return false;
        if (needs_end && !as_token_is(&p->token, ";") && !as_token_is(&p->token, "}")) return fail(p, "; is missing");
    }
    return true;
}

/* { statements }: the value is what it returns, 0 where it does not. */
static bool parse_block(parser *p) {
    uint32_t returns = AS_NO_JUMP;
    if (!parse_body(p, &returns) || !built(p, as_program_number(&p->builder, 0))) return false;
    as_program_land(&p->builder, returns);
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

bool as_cubepl_declare(as_formula_scope *scope, as_formula_text text) {
    as_lexer lexer = {.text = text};
    if (!text.text || text.size > AS_CUBEPL_MAX_SIZE) return true;
    for (;;) {
        as_token token = as_lexer_next(&lexer);
        if (token.kind == AS_TOKEN_END || token.kind == AS_TOKEN_BAD) return true;
        if (token.kind == AS_TOKEN_GLOBAL && !as_scope_declare(scope, token.text.text, token.text.size)) return false;
    }
}

static bool parse_part(parser *p) {
    if (p->lexer.text.size > AS_CUBEPL_MAX_SIZE) return fail_at(p, 0, "it is too long");
    advance(p);
    if (p->token.kind == AS_TOKEN_END) {
        if (!built(p, as_program_number(&p->builder, 0))) return false;
    } else if (!parse_expression(p, 0)) {
        return false;
    } else if (p->token.kind != AS_TOKEN_END && !accept(p, ";")) {
        return fail(p, "an operator is missing here");
    }
    if (p->token.kind != AS_TOKEN_END) return fail(p, "nothing can follow here");
    return built(p, as_program_emit(&p->builder, AS_DO_END, 0, 0));
}

static assay_status report(const parser *p, assay_error *error) {
    const char *why = p->why ? p->why : p->builder.why;
    as_place place = AS_NOWHERE;
    if (!why) return as_fail_memory(error, NULL);
    as_text_place(p->lexer.text, p->at, &place.line, &place.column);
    return as_fail(error, ASSAY_E_FORMAT, place, "cubepl", "%s", why);
}

assay_status as_cubepl_compile(as_formula_scope *scope, const as_formula_names *names,
                               const as_formula_text texts[AS_FORMULA_PARTS], as_formula **formula,
                               as_formula_part *failed, assay_error *error) {
    /* INIT first: its variables are known in the others. */
    static const as_formula_part order[AS_FORMULA_PARTS] = {AS_FORMULA_INIT, AS_FORMULA_VALUE, AS_FORMULA_PLUS,
                                                            AS_FORMULA_MINUS, AS_FORMULA_AGGR};
    as_formula_part unused;
    *formula = NULL;
    as_formula *new = as_formula_new();
    if (!new || !as_cubepl_declare(scope, texts[AS_FORMULA_INIT])) {
        as_formula_free(new);
        return as_fail_memory(error, NULL);
    }
    for (int i = 0; i < AS_FORMULA_PARTS; i++) {
        as_formula_part part = order[i];
        if (!texts[part].text) continue;
        parser p = {
            .builder = {.formula = new, .scope = scope, .part = part}, .names = names, .lexer = {.text = texts[part]}};
        if (parse_part(&p)) continue;
        *(failed ? failed : &unused) = part;
        as_formula_free(new);
        return report(&p, error);
    }
    *formula = new;
    return ASSAY_OK;
}
