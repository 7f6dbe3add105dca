#include "core/pattern.h"

#include <limits.h>
#include <stdlib.h>

#include "core/memory.h"

/* The pattern as a program for a machine that follows all ways at once: a set of instructions, advanced by one byte at
 * a time. Code of a part is contiguous and its targets lie in it or just behind it, so that parts can be moved and
 * copied. */
enum { MAX_CODE = 8192, MAX_DEPTH = 100, MAX_REPEAT = 1000 };

typedef enum operation { BYTE, ANY, CLASS, SPLIT, JUMP, AT_BEGIN, AT_END, AT_WORD, NOT_AT_WORD, MATCH } operation;

typedef struct instruction {
    uint8_t op, byte;
    uint16_t x, y; /* targets of SPLIT and JUMP (x); the class */
} instruction;

typedef struct byte_class {
    uint8_t bits[32];
} byte_class;

struct as_pattern {
    as_vec code, classes;
    as_vec beginning; /* the bytes that every match begins with; there may be none */
};

typedef struct parser {
    as_pattern *pattern;
    const char *text;
    size_t size, at;
    const char *why; /* NULL: memory is out */
    bool failed;
    unsigned depth;
} parser;

static bool fail(parser *p, const char *why) {
    if (!p->failed) p->why = why;
    p->failed = true;
    return false;
}

static instruction *code_at(as_pattern *pattern, size_t i) { return &AS_AT(instruction, &pattern->code, i); }
static size_t code_size(const parser *p) { return p->pattern->code.count; }

static bool emit(parser *p, operation op, unsigned byte, size_t x, size_t y) {
    instruction new = {(uint8_t)op, (uint8_t)byte, (uint16_t)x, (uint16_t)y};
    if (code_size(p) >= MAX_CODE) return fail(p, "the pattern is too long");
    return as_vec_append(&p->pattern->code, &new, 1) || fail(p, NULL);
}

static void relocate(instruction *code, size_t n, size_t by) {
    for (size_t i = 0; i < n; i++) {
        if (code[i].op == SPLIT || code[i].op == JUMP) code[i].x = (uint16_t)(code[i].x + by);
        if (code[i].op == SPLIT) code[i].y = (uint16_t)(code[i].y + by);
    }
}

/* Makes room for one instruction at `at`; all behind it moves. */
static bool insert(parser *p, size_t at, operation op, size_t x, size_t y) {
    if (!emit(p, op, 0, 0, 0)) return false;
    size_t n = code_size(p) - 1 - at;
    memmove(code_at(p->pattern, at + 1), code_at(p->pattern, at), n * sizeof(instruction));
    relocate(code_at(p->pattern, at + 1), n, 1);
    *code_at(p->pattern, at) = (instruction){(uint8_t)op, 0, (uint16_t)x, (uint16_t)y};
    return true;
}

/* A copy at the end of the n instructions at `from`. */
static bool copy_code(parser *p, const instruction *part, size_t n, size_t from) {
    size_t to = code_size(p);
    if (n > MAX_CODE - to) return fail(p, "the pattern is too long");
    if (n && !as_vec_append(&p->pattern->code, part, n)) return fail(p, NULL);
    if (n) relocate(code_at(p->pattern, to), n, to - from);
    return true;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static void class_add(byte_class *class, unsigned from, unsigned to) {
    for (unsigned c = from; c <= to; c++) class->bits[c >> 3] |= (uint8_t)(1u << (c & 7));
}
static void class_invert(byte_class *class) {
    for (size_t i = 0; i < sizeof class->bits; i++) class->bits[i] = (uint8_t) ~class->bits[i];
}
static bool class_has(const byte_class *class, unsigned char c) { return class->bits[c >> 3] >> (c & 7) & 1; }
static bool is_word(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* \d \w \s and their opposites; false if c is none of these. */
static bool class_letter(char c, byte_class *class) {
    *class = (byte_class){{0}};
    switch (c | 0x20) {
    case 'd': class_add(class, '0', '9'); break;
    case 's':
        class_add(class, '\t', '\r');
        class_add(class, ' ', ' ');
        break;
    case 'w':
        class_add(class, '0', '9');
        class_add(class, 'A', 'Z');
        class_add(class, 'a', 'z');
        class_add(class, '_', '_');
        break;
    default: return false;
    }
    if (c == 'D' || c == 'S' || c == 'W') class_invert(class);
    return true;
}

/* Adds [:name:]; p->at is behind "[:". */
static bool class_name(parser *p, byte_class *class) {
    static const struct {
        const char *name;
        unsigned char ranges[8];
    } names[] = {{"alpha", {'A', 'Z', 'a', 'z'}},
                 {"digit", {'0', '9'}},
                 {"alnum", {'0', '9', 'A', 'Z', 'a', 'z'}},
                 {"upper", {'A', 'Z'}},
                 {"lower", {'a', 'z'}},
                 {"space", {'\t', '\r', ' ', ' '}},
                 {"blank", {'\t', '\t', ' ', ' '}},
                 {"punct", {'!', '/', ':', '@', '[', '`', '{', '~'}},
                 {"xdigit", {'0', '9', 'A', 'F', 'a', 'f'}}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (p->size - p->at < length + 2 || memcmp(p->text + p->at, names[i].name, length) != 0 ||
            memcmp(p->text + p->at + length, ":]", 2) != 0)
            continue;
        for (size_t k = 0; k < 8 && names[i].ranges[k]; k += 2)
            class_add(class, names[i].ranges[k], names[i].ranges[k + 1]);
        p->at += length + 2;
        return true;
    }
    return fail(p, "there is no such class of characters");
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte a backslash and what follows stand for; p->at is at the letter behind the backslash. -1: none. */
static int escaped_byte(parser *p) {
    if (p->at >= p->size) return fail(p, "a backslash is the last character"), -1;
    char c = p->text[p->at++];
    switch (c) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case '0': return 0;
    case 'x': {
        int high = p->size - p->at >= 2 ? hex_digit(p->text[p->at]) : -1;
        int low = high >= 0 ? hex_digit(p->text[p->at + 1]) : -1;
        if (low < 0) return fail(p, "\\x needs two hexadecimal digits"), -1;
        p->at += 2;
        return high * 16 + low;
    }
    default:
        if (is_word((unsigned char)c) && c != '_') {
            p->at--;
            return fail(p, c >= '1' && c <= '9' ? "references to groups are not supported"
                                                : "what this letter means behind a backslash is not supported"),
                   -1;
        }
        return (unsigned char)c;
    }
}

/* One member of [...]: adds it if it is a class (returns -1), else the byte it is. */
static int class_member(parser *p, byte_class *class) {
    char c = p->text[p->at++];
    if (c == '[' && p->at < p->size && p->text[p->at] == ':') {
        p->at++;
        class_name(p, class);
        return -1;
    }
    if (c != '\\') return (unsigned char)c;
    byte_class letter;
    if (p->at < p->size && class_letter(p->text[p->at], &letter)) {
        for (size_t i = 0; i < sizeof letter.bits; i++) class->bits[i] |= letter.bits[i];
        p->at++;
        return -1;
    }
    if (p->at < p->size && p->text[p->at] == 'b') return p->at++, '\b';
    return escaped_byte(p);
}

static bool emit_class(parser *p, const byte_class *class) {
    size_t index = p->pattern->classes.count; /* fewer than instructions */
    if (!as_vec_append(&p->pattern->classes, class, 1)) return fail(p, NULL);
    return emit(p, CLASS, 0, index, 0);
}

/* [...]; p->at is behind the bracket. */
static bool parse_class(parser *p) {
    byte_class class = {{0}};
    size_t start = p->at - 1;
    bool inverted = p->at < p->size && p->text[p->at] == '^';
    p->at += inverted;
    while (p->at < p->size && p->text[p->at] != ']') {
        int from = class_member(p, &class);
        if (p->failed) return false;
        if (from < 0) continue;
        int to = from;
        if (p->size - p->at >= 2 && p->text[p->at] == '-' && p->text[p->at + 1] != ']') {
            p->at++;
            to = class_member(p, &class);
            if (p->failed) return false;
            if (to < from) return fail(p, "a range of characters ends before it begins");
        }
        class_add(&class, (unsigned)from, (unsigned)to);
    }
    if (p->at >= p->size) {
        p->at = start;
        return fail(p, "] is missing");
    }
    p->at++;
    if (inverted) class_invert(&class);
    return emit_class(p, &class);
}

/* ---- the grammar ------------------------------------------------------------------------------------------------- */

static bool parse_alternatives(parser *p);

static bool parse_group(parser *p) {
    size_t start = p->at - 1;
    if (p->at < p->size && p->text[p->at] == '?') {
        if (p->size - p->at < 2 || p->text[p->at + 1] != ':')
            return fail(p, "groups that begin with ? are not supported, but for (?:");
        p->at += 2;
    }
    if (++p->depth > MAX_DEPTH) return fail(p, "groups are nested too deeply");
    if (!parse_alternatives(p)) return false;
    p->depth--;
    if (p->at >= p->size) {
        p->at = start;
        return fail(p, ") is missing");
    }
    p->at++;
    return true;
}

static bool parse_escape(parser *p) {
    byte_class class;
    char c = p->at < p->size ? p->text[p->at] : '\0';
    if (c == 'b' || c == 'B') {
        p->at++;
        return emit(p, c == 'b' ? AT_WORD : NOT_AT_WORD, 0, 0, 0);
    }
    if (p->at < p->size && class_letter(c, &class)) {
        p->at++;
        return emit_class(p, &class);
    }
    int byte = escaped_byte(p);
    return byte >= 0 && emit(p, BYTE, (unsigned)byte, 0, 0);
}

static bool parse_atom(parser *p) {
    char c = p->text[p->at++];
    switch (c) {
    case '(': return parse_group(p);
    case '[': return parse_class(p);
    case '\\': return parse_escape(p);
    case '.': return emit(p, ANY, 0, 0, 0);
    case '^': return emit(p, AT_BEGIN, 0, 0, 0);
    case '$': return emit(p, AT_END, 0, 0, 0);
    case '*':
    case '+':
    case '?': p->at--; return fail(p, "there is nothing to repeat");
    default: return emit(p, BYTE, (unsigned char)c, 0, 0);
    }
}

static bool parse_count(parser *p, unsigned *out) {
    size_t start = p->at;
    *out = 0;
    while (p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9' && *out <= MAX_REPEAT)
        *out = *out * 10 + (unsigned)(p->text[p->at++] - '0');
    if (*out > MAX_REPEAT) return fail(p, "a count is too large");
    return p->at > start;
}

/* {m}, {m,} or {m,n}; p->at is behind the brace. *max UINT_MAX: no end. */
static bool parse_counts(parser *p, unsigned *min, unsigned *max) {
    if (!parse_count(p, min)) return fail(p, "a count is missing behind {");
    *max = *min;
    if (p->at < p->size && p->text[p->at] == ',') {
        p->at++;
        *max = UINT_MAX;
        if (p->at < p->size && p->text[p->at] != '}' && !parse_count(p, max)) return fail(p, "a count is missing");
    }
    if (p->at >= p->size || p->text[p->at] != '}') return fail(p, "} is missing");
    p->at++;
    return *max >= *min || fail(p, "the second count is smaller than the first");
}

static bool star(parser *p, size_t start) {
    return insert(p, start, SPLIT, start + 1, code_size(p) + 2) && emit(p, JUMP, 0, start, 0);
}

/* Turns the code from `start` on into min to max times itself. */
static bool repeat(parser *p, size_t start, unsigned min, unsigned max) {
    if (min == 0 && max == UINT_MAX) return star(p, start);
    size_t n = code_size(p) - start;
    instruction *part = malloc((n ? n : 1) * sizeof *part);
    if (!part) return fail(p, NULL);
    if (n) memcpy(part, code_at(p->pattern, start), n * sizeof *part);
    p->pattern->code.count = start;
    bool ok = true;
    for (unsigned i = 0; ok && i < min; i++) ok = copy_code(p, part, n, start);
    if (ok && max == UINT_MAX) {
        size_t last = code_size(p);
        ok = copy_code(p, part, n, start) && star(p, last);
    } else {
        /* Each of the rest may be left out, together with those behind it. */
        size_t end = code_size(p) + (max - min) * (n + 1);
        for (unsigned i = min; ok && i < max; i++)
            ok = emit(p, SPLIT, 0, code_size(p) + 1, end) && copy_code(p, part, n, start);
    }
    free(part);
    return ok;
}

static bool parse_quantifiers(parser *p, size_t start) {
    while (p->at < p->size) {
        unsigned min = 0, max = UINT_MAX;
        char c = p->text[p->at];
        if (c != '*' && c != '+' && c != '?' && c != '{') return true;
        p->at++;
        if (c == '+') min = 1;
        if (c == '?') max = 1;
        if (c == '{' && !parse_counts(p, &min, &max)) return false;
        if (!repeat(p, start, min, max)) return false;
        if (p->at < p->size && p->text[p->at] == '?') p->at++;
    }
    return true;
}

static bool parse_alternatives(parser *p) {
    size_t start = code_size(p), jumps = SIZE_MAX; /* jumps to the end, chained by their targets until that is known */
    for (;;) {
        while (p->at < p->size && p->text[p->at] != '|' && p->text[p->at] != ')') {
            size_t atom = code_size(p);
            if (!parse_atom(p) || !parse_quantifiers(p, atom)) return false;
        }
        if (p->at >= p->size || p->text[p->at] == ')') break;
        p->at++;
        if (!insert(p, start, SPLIT, start + 1, code_size(p) + 2)) return false;
        if (!emit(p, JUMP, 0, 0, 0)) return false;
        size_t jump = code_size(p) - 1;
        code_at(p->pattern, jump)->x = (uint16_t)jumps;
        jumps = jump;
        start = code_size(p);
    }
    while (jumps != SIZE_MAX) {
        instruction *jump = code_at(p->pattern, jumps);
        jumps = jump->x == UINT16_MAX ? SIZE_MAX : jump->x;
        jump->x = (uint16_t)code_size(p);
    }
    return true;
}

/* False when memory is out. */
static bool find_beginning(as_pattern *pattern) {
    for (size_t i = 0; code_at(pattern, i)->op == BYTE; i++) {
        if (!as_vec_append(&pattern->beginning, &code_at(pattern, i)->byte, 1)) return false;
    }
    return true;
}

as_pattern *as_pattern_new(const char *text, size_t size, const char **why, size_t *at) {
    parser p = {.pattern = calloc(1, sizeof(as_pattern)), .text = text, .size = size};
    *why = NULL;
    *at = 0;
    if (!p.pattern) return NULL;
    as_vec_init(&p.pattern->code, sizeof(instruction), NULL);
    as_vec_init(&p.pattern->classes, sizeof(byte_class), NULL);
    as_vec_init(&p.pattern->beginning, 1, NULL);
    bool ok = parse_alternatives(&p);
    if (ok && p.at < size) ok = fail(&p, ") without (");
    if (ok && emit(&p, MATCH, 0, 0, 0) && find_beginning(p.pattern)) return p.pattern;
    *why = p.why;
    *at = p.at;
    as_pattern_free(p.pattern);
    return NULL;
}

void as_pattern_free(as_pattern *pattern) {
    if (!pattern) return;
    as_vec_free(&pattern->code);
    as_vec_free(&pattern->classes);
    as_vec_free(&pattern->beginning);
    free(pattern);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

typedef struct search {
    const instruction *code;
    const char *text;
    size_t size, at;
    uint16_t *list; /* instructions that wait for a byte */
    size_t count;
    uint16_t *stack;
    uint32_t *seen; /* the position + 1 an instruction was last added at */
} search;

static bool passes(const search *s, const instruction *i) {
    if (i->op == AT_BEGIN) return s->at == 0;
    if (i->op == AT_END) return s->at == s->size;
    bool before = s->at > 0 && is_word((unsigned char)s->text[s->at - 1]);
    bool behind = s->at < s->size && is_word((unsigned char)s->text[s->at]);
    return (before != behind) == (i->op == AT_WORD);
}

/* Adds an instruction and all that can be reached from it without a byte. True: the match is reached. */
static bool add(search *s, uint16_t first) {
    uint32_t mark = (uint32_t)s->at + 1;
    size_t depth = 0;
    if (s->seen[first] == mark) return false;
    s->seen[first] = mark;
    s->stack[depth++] = first;
    while (depth) {
        uint16_t at = s->stack[--depth];
        const instruction *i = &s->code[at];
        uint16_t next[2];
        unsigned n = 0;
        switch (i->op) {
        case MATCH: return true;
        case BYTE:
        case ANY:
        case CLASS: s->list[s->count++] = at; break;
        case SPLIT: next[n++] = i->y; /* fall through */
        case JUMP: next[n++] = i->x; break;
        default:
            if (passes(s, i)) next[n++] = (uint16_t)(at + 1);
        }
        while (n) {
            uint16_t target = next[--n];
            if (s->seen[target] == mark) continue;
            s->seen[target] = mark;
            s->stack[depth++] = target;
        }
    }
    return false;
}

static bool takes(const as_pattern *pattern, const instruction *i, unsigned char c) {
    if (i->op == BYTE) return i->byte == c;
    return i->op == ANY ? c != '\n' && c != '\r' : class_has(&AS_AT(byte_class, &pattern->classes, i->x), c);
}

bool as_pattern_search(const as_pattern *pattern, const char *text, size_t size) {
    uint16_t lists[2][MAX_CODE], stack[MAX_CODE];
    uint32_t seen[MAX_CODE];
    search s = {.code = pattern->code.data, .text = text, .size = size, .list = lists[0], .stack = stack, .seen = seen};
    const as_vec *beginning = &pattern->beginning;
    if (size >= UINT32_MAX) return false;
    if (beginning->count) {
        const char *found = size ? memmem(text, size, beginning->data, beginning->count) : NULL;
        if (!found || beginning->count + 1 == pattern->code.count) return found != NULL;
        s.at = (size_t)(found - text);
    }
    memset(seen, 0, pattern->code.count * sizeof *seen);
    bool anchored = s.code[0].op == AT_BEGIN;
    if (add(&s, 0)) return true;
    for (size_t i = s.at; i < size; i++) {
        const uint16_t *now = s.list;
        size_t n = s.count;
        if (anchored && n == 0) return false;
        s.list = s.list == lists[0] ? lists[1] : lists[0];
        s.count = 0;
        s.at = i + 1;
        for (size_t k = 0; k < n; k++) {
            if (takes(pattern, &s.code[now[k]], (unsigned char)text[i]) && add(&s, (uint16_t)(now[k] + 1))) return true;
        }
        if (!anchored && add(&s, 0)) return true;
    }
    return false;
}
