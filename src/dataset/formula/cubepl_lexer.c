#include "dataset/formula/cubepl_lexer.h"

#include "core/number.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_metric_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == ':' || c == '='; }
static bool is_variable_char(char c) {
    return is_letter(c) || is_digit(c) || c == ':' || c == '_' || c == '-' || c == '#';
}

static char char_at(const as_lexer *lexer, size_t at) { return at < lexer->text.size ? lexer->text.text[at] : '\0'; }

static void skip_blanks(as_lexer *lexer) {
    while (char_at(lexer, lexer->at) == ' ' || (char_at(lexer, lexer->at) >= '\t' && char_at(lexer, lexer->at) <= '\r'))
        lexer->at++;
}

static void skip_comments(as_lexer *lexer) {
    skip_blanks(lexer);
    while (char_at(lexer, lexer->at) == '/' && char_at(lexer, lexer->at + 1) == '/') {
        while (lexer->at < lexer->text.size && lexer->text.text[lexer->at] != '\n') lexer->at++;
        skip_blanks(lexer);
    }
}

static bool starts_with(const as_lexer *lexer, const char *prefix) {
    size_t n = strlen(prefix);
    return lexer->text.size - lexer->at >= n && memcmp(lexer->text.text + lexer->at, prefix, n) == 0;
}

static as_formula_text part(const as_lexer *lexer, size_t from, size_t to) {
    return (as_formula_text){lexer->text.text + from, to - from};
}

/* A bad token; the lexer stays where the token began. */
static as_token bad(as_lexer *lexer, size_t start, size_t at, const char *why) {
    lexer->at = start;
    return (as_token){.kind = AS_TOKEN_BAD, .start = at, .end = at, .text = {why, strlen(why)}};
}

static as_token token(const as_lexer *lexer, as_token_kind kind, size_t start, as_formula_text text) {
    return (as_token){.kind = kind, .start = start, .end = lexer->at, .text = text};
}

static as_token number_token(as_lexer *lexer) {
    size_t start = lexer->at, at = start;
    double number;
    while (is_digit(char_at(lexer, at)) || char_at(lexer, at) == '.') at++;
    if ((char_at(lexer, at) | 0x20) == 'e') {
        size_t digits = at + 1;
        if (char_at(lexer, digits) == '+' || char_at(lexer, digits) == '-') digits++;
        if (is_digit(char_at(lexer, digits))) {
            at = digits;
            while (is_digit(char_at(lexer, at))) at++;
        }
    }
    if (!as_real_parse(lexer->text.text + start, at - start, &number))
        return bad(lexer, start, start, "this is no number");
    lexer->at = at;
    as_token result = token(lexer, AS_TOKEN_NUMBER, start, part(lexer, start, at));
    result.number = number;
    return result;
}

/* Text between two marks; a backslash takes the character behind it along. */
static as_token marked_token(as_lexer *lexer, as_token_kind kind, size_t start, char mark, const char *why) {
    size_t first = lexer->at, at = first;
    while (at < lexer->text.size && lexer->text.text[at] != mark) at += lexer->text.text[at] == '\\' ? 2 : 1;
    if (at >= lexer->text.size) return bad(lexer, start, start, why);
    lexer->at = at + 1;
    return token(lexer, kind, start, part(lexer, first, at));
}

/* A name of a variable between two marks, blanks around it; lexer->at is behind the first. */
static as_token name_token(as_lexer *lexer, as_token_kind kind, size_t start, char mark) {
    skip_blanks(lexer);
    size_t first = lexer->at, at = first;
    if (!is_letter(char_at(lexer, at))) return bad(lexer, start, at, "the name of a variable is missing");
    while (is_variable_char(char_at(lexer, at))) at++;
    lexer->at = at;
    skip_blanks(lexer);
    if (char_at(lexer, lexer->at) != mark)
        return bad(lexer, start, lexer->at, mark == '}' ? "} is missing" : ") is missing");
    lexer->at++;
    return token(lexer, kind, start, part(lexer, first, at));
}

/* metric::name and its relatives; kind END: it is none of them. */
static as_token metric_token(as_lexer *lexer) {
    static const struct {
        const char *prefix;
        as_token_kind kind;
    } prefixes[] = {/* longer ones first */
                    {"metric::fixed::", AS_TOKEN_METRIC_FIXED},
                    {"metric::call::", AS_TOKEN_METRIC_CALL},
                    {"metric::context::", AS_TOKEN_METRIC},
                    {"metric::", AS_TOKEN_METRIC},
                    {"cube::metric::set::", AS_TOKEN_METRIC_SET}};
    size_t start = lexer->at;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!starts_with(lexer, prefixes[i].prefix)) continue;
        size_t first = start + strlen(prefixes[i].prefix), at = first;
        while (is_metric_char(char_at(lexer, at))) at++;
        if (at == first) return bad(lexer, start, first, "the name of a metric is missing");
        lexer->at = at;
        return token(lexer, prefixes[i].kind, start, part(lexer, first, at));
    }
    if (starts_with(lexer, "cube::"))
        return bad(lexer, start, start, "defining, changing and reading metrics in an expression is not supported");
    return (as_token){.kind = AS_TOKEN_END};
}

static as_token word_token(as_lexer *lexer) {
    static const struct {
        const char *word;
        as_token_kind kind;
    } declarations[] = {{"sizeof", AS_TOKEN_SIZEOF},
                        {"defined", AS_TOKEN_DEFINED},
                        {"global", AS_TOKEN_GLOBAL},
                        {"local", AS_TOKEN_LOCAL}};
    as_token metric = metric_token(lexer);
    if (metric.kind != AS_TOKEN_END) return metric;
    size_t start = lexer->at;
    while (is_letter(char_at(lexer, lexer->at)) || is_digit(char_at(lexer, lexer->at)) ||
           char_at(lexer, lexer->at) == '_')
        lexer->at++;
    as_token word = token(lexer, AS_TOKEN_WORD, start, part(lexer, start, lexer->at));
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        if (!as_token_is(&word, declarations[i].word)) continue;
        skip_blanks(lexer);
        if (char_at(lexer, lexer->at) != '(') return bad(lexer, start, lexer->at, "( is missing");
        lexer->at++;
        return name_token(lexer, declarations[i].kind, start, ')');
    }
    return word;
}

static as_token sign_token(as_lexer *lexer) {
    static const char *const signs[] = {"==", "!=", ">=", "<=", ">", "<", "=", "+", "-", "*", "/",
                                        "^",  "(",  ")",  "{",  "}", "[", "]", ";", ",", "|"};
    size_t start = lexer->at;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!starts_with(lexer, signs[i])) continue;
        lexer->at += strlen(signs[i]);
        return token(lexer, AS_TOKEN_SIGN, start, part(lexer, start, lexer->at));
    }
    return bad(lexer, start, start, "this character means nothing here");
}

as_token as_lexer_next(as_lexer *lexer) {
    skip_comments(lexer);
    size_t start = lexer->at;
    char c = char_at(lexer, start);
    if (start >= lexer->text.size) return token(lexer, AS_TOKEN_END, start, part(lexer, start, start));
    if (is_digit(c) || c == '.') return number_token(lexer);
    if (is_letter(c)) return word_token(lexer);
    if (c == '"') {
        lexer->at++;
        return marked_token(lexer, AS_TOKEN_STRING, start, '"', "the closing quote is missing");
    }
    if (c == '$') {
        lexer->at++;
        skip_blanks(lexer);
        if (char_at(lexer, lexer->at) != '{') return bad(lexer, start, lexer->at, "{ is missing behind $");
        lexer->at++;
        return name_token(lexer, AS_TOKEN_VARIABLE, start, '}');
    }
    if (starts_with(lexer, "=~")) {
        lexer->at += 2;
        skip_blanks(lexer);
        if (char_at(lexer, lexer->at) != '/')
            return bad(lexer, start, lexer->at, "a pattern between slashes is missing behind =~");
        lexer->at++;
        return marked_token(lexer, AS_TOKEN_MATCH, start, '/', "the closing slash of the pattern is missing");
    }
    return sign_token(lexer);
}

bool as_token_is(const as_token *token, const char *text) {
    size_t n = strlen(text);
    return (token->kind == AS_TOKEN_WORD || token->kind == AS_TOKEN_SIGN) && token->text.size == n &&
           memcmp(token->text.text, text, n) == 0;
}

void as_text_place(as_formula_text text, size_t at, uint32_t *line, uint32_t *column) {
    *line = *column = 1;
    for (size_t i = 0; i < at && i < text.size; i++) {
        if (text.text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}
