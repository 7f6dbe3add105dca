/* How large the readable form of a mangled name may become, without making it.
 *
 * A mangled name refers back to parts of itself: S1_ is all that the second part so remembered stands for, T_ the first
 * argument of the template around. So a few letters can double the text, again and again. This goes through a name as
 * the C++ runtime's demangler does, with the size of each part instead of its text. What the demangler of the runtime
 * does not take either, and what no function on a GPU has (conversions, virtual tables, modules), is refused. */
#include "core/demangle.h"

/* FIXED: of a part that is no name: "unsigned long long", "{lambda(", "operator co_await"; STANDARD:
 * "std::basic_string<char, std::char_traits<char>, std::allocator<char> >". */
enum { FIXED = 24, STANDARD = 96, MOST_PARTS = 1024, MOST_DEPTH = 200, MOST_SCOPES = 16, MOST_NUMBER = 1 << 20 };
static const uint64_t HUGE = (uint64_t)1 << 40; /* as good as without end */

/* Of a part: characters and steps, and how many template parameters are to be filled in. */
typedef struct extent {
    uint64_t size, parameters;
} extent;

typedef struct scan {
    const char *at, *end;
    extent parts[MOST_PARTS]; /* what S_, S0_, S1_ … stand for */
    size_t n_parts;
    uint64_t largest;          /* argument of a template */
    uint64_t longest_list;     /* of arguments: a pack has no more */
    uint64_t expansion;        /* what "…" is at most repeated */
    uint64_t longest_name;     /* which constructors say again */
    const char *arguments_end; /* behind the last list of arguments */
    unsigned depth, scopes;
    bool is_old;    /* "sr1A1x", as old compilers have it, not "sr1AE1x" */
    bool is_either; /* it makes a difference */
    bool failed;
    bool is_strange; /* because of what is no part of the names here: the demangler may know it */
    unsigned plain;  /* within what must be plain: names, parameters, built-in types, pointers */
} scan;

static extent type(scan *s);
static extent expression(scan *s);
static extent encoding(scan *s);
static extent name(scan *s);
static extent template_arguments(scan *s);

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b) { return a + b < HUGE ? a + b : HUGE; }
static uint64_t multiply(uint64_t a, uint64_t b) { return b && a > HUGE / b ? HUGE : a * b; }

static extent fixed(uint64_t size) { return (extent){size, 0}; }
static extent join(extent a, extent b) { return (extent){add(a.size, b.size), add(a.parameters, b.parameters)}; }
static extent more(extent a) { return join(a, fixed(FIXED)); }

/* Where no parameter is left open. */
static extent closed(extent a, uint64_t argument) { return fixed(add(a.size, multiply(a.parameters, argument))); }

static extent refuse(scan *s) {
    s->failed = true;
    return fixed(HUGE);
}

/* Where another demangler may go on. */
static extent pass(scan *s) {
    s->is_strange = true;
    return refuse(s);
}

static void remember(scan *s, extent part) {
    if (s->n_parts < MOST_PARTS)
        s->parts[s->n_parts++] = part;
    else
        pass(s);
}

/* Every part that has others in it begins here. */
static bool enter(scan *s) {
    if (++s->depth >= MOST_DEPTH) pass(s);
    return !s->failed;
}

/* ---- letters ----------------------------------------------------------------------------------------------------- */

static char peek(const scan *s) { return s->at < s->end ? *s->at : '\0'; }
static char peek_next(const scan *s) { return s->end - s->at > 1 ? s->at[1] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static bool take(scan *s, char c) {
    if (peek(s) != c) return false;
    s->at++;
    return true;
}

static void expect(scan *s, char c) {
    if (!take(s, c)) s->failed = true;
}

static bool take_pair(scan *s, const char *pair) {
    if (peek(s) != pair[0] || peek_next(s) != pair[1]) return false;
    s->at += 2;
    return true;
}

/* Digits; false where there are none, or too many. */
static bool number(scan *s, uint64_t *out) {
    bool found = is_digit(peek(s));
    for (*out = 0; is_digit(peek(s)) && *out < MOST_NUMBER; s->at++) *out = *out * 10 + (uint64_t)(*s->at - '0');
    return found && *out < MOST_NUMBER;
}

/* "_" or "3_". */
static void index_of(scan *s) {
    uint64_t ignored;
    number(s, &ignored);
    if (take(s, '_')) return;
    if (is_lower(peek(s)) || is_upper(peek(s)))
        s->is_strange = true; /* "Ty": parameters of a lambda that is a template */
    refuse(s);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static extent source_name(scan *s) {
    uint64_t n;
    if (!number(s, &n) || !n || n > (uint64_t)(s->end - s->at)) return refuse(s);
    s->at += n;
    if (n > s->longest_name) s->longest_name = n;
    return fixed(n + FIXED); /* "(anonymous namespace)" has a shorter one */
}

/* Behind S: one of the parts so far, or one that all names share. */
static extent substitution(scan *s) {
    char c = peek(s);
    uint64_t id = 0;
    s->at++;
    if (c == '_') return s->n_parts ? s->parts[0] : refuse(s);
    if (is_digit(c) || is_upper(c)) {
        for (; is_digit(c) || is_upper(c); c = *s->at++) {
            id = id * 36 + (uint64_t)(is_digit(c) ? c - '0' : c - 'A' + 10);
            if (id >= MOST_PARTS || s->at >= s->end) return refuse(s);
        }
        return c == '_' && id + 1 < s->n_parts ? s->parts[id + 1] : refuse(s);
    }
    return c && strchr("tabsiod", c) ? fixed(STANDARD) : refuse(s);
}

/* Types up to the end of a list. */
static extent types(scan *s) {
    extent all = fixed(FIXED);
    while (!s->failed && peek(s) && peek(s) != 'E' && peek(s) != '.') all = join(more(all), type(s));
    return all;
}

/* "Ul…E3_", a lambda, or "Ut3_". */
static extent unnamed(scan *s) {
    extent all = fixed(2 * FIXED);
    if (take_pair(s, "Ul")) {
        all = join(all, closed(types(s), FIXED)); /* "auto:1" for T_ */
        expect(s, 'E');
        index_of(s);
    } else if (take_pair(s, "Ut")) {
        index_of(s);
        remember(s, all);
    } else {
        s->is_strange |= peek(s) == 'U' || peek(s) == 'F' || peek(s) == 'W';
        return refuse(s);
    }
    return all;
}

/* Operators, and what they have as operands in an expression. */
static const struct operator{
    char code[3];
    char operands[4]; /* e: expression, t: type, l: a list to the end, n: an unqualified name; "": only a name here */
}
OPERATORS[] = {
    {"aN", ""},   {"aS", ""},   {"aa", "ee"}, {"ad", "e"},  {"an", "ee"},  {"at", "t"},  {"aw", "e"},  {"az", "e"},
    {"cc", "te"}, {"cl", "el"}, {"cm", "ee"}, {"co", "e"},  {"dV", "ee"},  {"da", ""},   {"dc", "te"}, {"de", "e"},
    {"dl", ""},   {"ds", "ee"}, {"dt", "en"}, {"dv", "ee"}, {"eO", "ee"},  {"eo", "ee"}, {"eq", "ee"}, {"ge", "ee"},
    {"gt", "ee"}, {"il", "l"},  {"ix", "ee"}, {"lS", "ee"}, {"le", "ee"},  {"li", ""},   {"ls", "ee"}, {"lt", "ee"},
    {"mI", "ee"}, {"mL", "ee"}, {"mi", "ee"}, {"ml", "ee"}, {"mm", ""},    {"na", ""},   {"ne", "ee"}, {"ng", "e"},
    {"nt", "e"},  {"nw", ""},   {"nx", "e"},  {"oR", "ee"}, {"oo", "ee"},  {"or", "ee"}, {"pL", "ee"}, {"pl", "ee"},
    {"pm", "ee"}, {"pp", ""},   {"ps", "e"},  {"pt", "en"}, {"qu", "eee"}, {"rM", "ee"}, {"rS", "ee"}, {"rc", "te"},
    {"rm", "ee"}, {"rs", "ee"}, {"sZ", "e"},  {"sc", "te"}, {"ss", "ee"},  {"st", "t"},  {"sz", "e"},  {"te", "e"},
    {"ti", "t"},  {"tl", "tl"}, {"tw", "e"},
};

/* NULL: none; one with small letters may be one of a later time. Conversions ("cv") have a type, and are tried in
 * several ways: no name for us. */
static const struct operator* take_operator(scan *s) {
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++) {
        if (take_pair(s, OPERATORS[i].code)) return &OPERATORS[i];
    }
    if (is_lower(peek(s)) && (is_lower(peek_next(s)) || is_digit(peek_next(s)))) s->is_strange = true;
    s->failed = true;
    return NULL;
}

static extent operator_name(scan *s) {
    const struct operator* found = take_operator(s);
    if (!found) return refuse(s);
    return strcmp(found->code, "li") == 0 ? more(source_name(s)) : fixed(2 * FIXED);
}

static extent structor(scan *s) {
    bool is_constructor = take(s, 'C');
    if (!is_constructor) expect(s, 'D');
    bool inherits = is_constructor && take(s, 'I');
    if (!is_digit(peek(s))) return refuse(s);
    s->at++;
    extent all = fixed(s->longest_name + STANDARD);
    return inherits ? join(all, type(s)) : all;
}

static extent bindings(scan *s) {
    extent all = fixed(FIXED);
    while (!s->failed && peek(s) && peek(s) != 'E') all = join(all, source_name(s));
    expect(s, 'E');
    return all;
}

/* "_3" or "__12_", behind a local name. */
static void discriminator(scan *s) {
    uint64_t ignored;
    if (!take(s, '_')) return;
    bool is_long = take(s, '_');
    if (!number(s, &ignored)) s->failed = true;
    if (is_long && ignored >= 10) expect(s, '_');
}

static extent unqualified_name(scan *s) {
    char c = peek(s);
    extent all;
    if (s->plain && !is_digit(c)) return pass(s);
    if (is_digit(c)) {
        all = source_name(s);
    } else if (is_lower(c)) {
        if (take_pair(s, "on")) c = peek(s);
        all = operator_name(s);
    } else if (take_pair(s, "DC")) {
        all = bindings(s);
    } else if (c == 'C' || c == 'D') {
        all = structor(s);
    } else if (take(s, 'L')) {
        all = source_name(s);
        discriminator(s);
    } else {
        all = unnamed(s);
    }
    while (!s->failed && take(s, 'B')) all = join(all, source_name(s)); /* tags of the ABI */
    return all;
}

/* The inside of N…E. Each beginning of it is a part (are_parts: else none is), except what was one before and the
 * whole. */
static extent prefix(scan *s, bool are_parts) {
    extent all = fixed(0);
    bool is_first = true;
    for (; !s->failed && peek(s) != 'E'; is_first = false) {
        char c = peek(s);
        if (s->plain && !is_digit(c) && (is_first ? c != 'S' && c != 'T' : c != 'I')) return pass(s);
        if (c == 'D' && (peek_next(s) == 't' || peek_next(s) == 'T')) {
            all = join(more(all), type(s));
        } else if (take(s, 'S')) {
            all = join(more(all), substitution(s));
        } else if (c == 'I') {
            if (is_first) return refuse(s);
            all = join(all, template_arguments(s));
        } else if (take(s, 'T')) {
            index_of(s);
            all = join(more(all), (extent){1, 1});
        } else if (c == 'M') { /* where a lambda is the initial value of a member */
            if (is_first) return refuse(s);
            s->at++;
            continue;
        } else if (is_digit(c) || is_lower(c) || c == 'C' || c == 'U' || c == 'L' || c == 'D') {
            all = join(more(all), unqualified_name(s));
        } else {
            s->is_strange |= c == 'F' || c == 'W'; /* friends, modules */
            return refuse(s);
        }
        if (are_parts && c != 'S' && peek(s) != 'E') remember(s, all);
    }
    return is_first ? refuse(s) : all;
}

static extent nested_name(scan *s) {
    extent all = fixed(4 * FIXED);
    expect(s, 'N');
    for (; peek(s) && strchr("rVK", peek(s)); s->at++) all = more(all);
    if (peek(s) == 'R' || peek(s) == 'O') s->at++;
    all = join(all, prefix(s, true));
    expect(s, 'E');
    return all;
}

static extent local_name(scan *s) {
    expect(s, 'Z');
    extent all = more(encoding(s));
    expect(s, 'E');
    if (take(s, 's')) {
        discriminator(s);
        return all;
    }
    if (take(s, 'd')) index_of(s); /* in a default argument */
    bool has_number = peek(s) == 'U';
    all = join(more(all), name(s));
    if (!has_number) discriminator(s);
    return all;
}

static extent any_name(scan *s) {
    extent all;
    bool is_known = false;
    switch (peek(s)) {
    case 'N': return nested_name(s);
    case 'Z': return local_name(s);
    case 'U': return unnamed(s);
    case 'S':
        s->at++;
        is_known = peek(s) != 't';
        all = is_known ? substitution(s) : (s->at++, more(unqualified_name(s)));
        break;
    default: all = unqualified_name(s); break;
    }
    if (peek(s) != 'I') return all;
    if (!is_known) remember(s, all);
    return join(all, template_arguments(s));
}

static extent name(scan *s) {
    extent all = enter(s) ? any_name(s) : refuse(s);
    s->depth--;
    return all;
}

/* ---- templates --------------------------------------------------------------------------------------------------- */

static extent literal(scan *s);

static extent template_argument(scan *s) {
    extent all;
    switch (peek(s)) {
    case 'X':
        if (s->plain) return pass(s);
        s->at++;
        all = expression(s);
        expect(s, 'E');
        return all;
    case 'L': return literal(s);
    case 'I':
    case 'J': return template_arguments(s);
    default: return type(s);
    }
}

static extent template_arguments(scan *s) {
    extent all = fixed(FIXED);
    uint64_t n = 0;
    bool fine = enter(s);
    if (!fine || (!take(s, 'I') && !take(s, 'J'))) all = refuse(s);
    for (; !s->failed && peek(s) != 'E'; n++) {
        extent one = more(template_argument(s));
        if (one.size > s->largest) s->largest = one.size;
        all = join(all, one);
    }
    expect(s, 'E');
    s->arguments_end = s->at;
    if (n > s->longest_list) s->longest_list = n;
    s->depth--;
    return all;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool is_qualifier(const scan *s) {
    char c = peek(s), next = peek_next(s);
    return c == 'r' || c == 'V' || c == 'K' || (c == 'D' && next && strchr("oOwx", next));
}

static extent qualifiers(scan *s) {
    extent all = fixed(FIXED);
    while (!s->failed && is_qualifier(s)) {
        all = more(all);
        char c = *s->at++;
        if (c != 'D') continue;
        c = *s->at++;
        if (c == 'O') all = join(all, expression(s));
        if (c == 'w') all = join(all, types(s));
        if (c == 'O' || c == 'w') expect(s, 'E');
    }
    return all;
}

static extent function_type(scan *s) {
    expect(s, 'F');
    take(s, 'Y');
    extent all = types(s); /* "R" or "O" for *this is no type, and ends the list */
    expect(s, 'E');
    return more(all);
}

static extent array_type(scan *s) {
    uint64_t ignored;
    extent all = fixed(FIXED);
    expect(s, 'A');
    if (is_digit(peek(s)))
        number(s, &ignored);
    else if (peek(s) != '_')
        all = join(all, expression(s));
    expect(s, '_');
    return join(more(all), type(s));
}

static extent vector_type(scan *s) {
    uint64_t ignored;
    extent all = fixed(FIXED);
    if (take(s, '_'))
        all = join(all, expression(s));
    else if (!number(s, &ignored))
        return refuse(s);
    expect(s, '_');
    return join(more(all), type(s));
}

static extent repeated(scan *s, extent all) {
    return (extent){multiply(all.size, s->expansion), multiply(all.parameters, s->expansion)};
}

/* Types that begin with D. *is_part: they can be referred to. */
static extent other_type(scan *s, bool *is_part) {
    s->at++;
    char c = peek(s);
    if (c) s->at++;
    extent all = fixed(FIXED);
    *is_part = c == 't' || c == 'T' || c == 'p' || c == 'v';
    switch (c) {
    case 't':
    case 'T':
        all = more(expression(s));
        expect(s, 'E');
        return all;
    case 'p': return repeated(s, more(type(s)));
    case 'v': return vector_type(s);
    default: return c && strchr("acfdehsuin", c) ? all : pass(s);
    }
}

static extent parameter_type(scan *s) {
    extent all = {1, 1};
    s->at++;
    index_of(s);
    if (peek(s) != 'I') return all;
    remember(s, all);
    return join(all, template_arguments(s));
}

/* Types that begin with S. */
static extent known_type(scan *s, bool *is_part) {
    char next = peek_next(s);
    if (!is_digit(next) && next != '_' && !is_upper(next)) {
        bool is_whole = next != 't' && s->end - s->at > 2 && s->at[2] != 'I' && s->at[2] != 'B';
        bool is_last = next != 't' && s->end - s->at == 2;
        *is_part = !is_whole && !is_last;
        return name(s);
    }
    s->at++;
    extent all = substitution(s);
    *is_part = peek(s) == 'I';
    return *is_part ? join(all, template_arguments(s)) : all;
}

static extent vendor_type(scan *s) {
    s->at++;
    extent all = source_name(s);
    return peek(s) == 'I' ? join(all, template_arguments(s)) : all;
}

static extent any_type(scan *s) {
    extent all;
    bool is_part = true;
    char c = peek(s);
    if (s->plain && (!c || !strchr("0123456789NTSPROKVabcdefhijlmstvwxy", c))) return pass(s);
    if (is_qualifier(s)) {
        all = qualifiers(s);
        all = join(all, peek(s) == 'F' ? function_type(s) : type(s));
    } else if (is_digit(c) || c == 'N' || c == 'Z') {
        all = name(s);
    } else if (c == 'F') {
        all = function_type(s);
    } else if (c == 'A') {
        all = array_type(s);
    } else if (c == 'M') {
        s->at++;
        all = more(type(s));
        all = join(all, type(s));
    } else if (c == 'T') {
        all = parameter_type(s);
    } else if (c == 'S') {
        all = known_type(s, &is_part);
    } else if (c == 'D') {
        all = other_type(s, &is_part);
    } else if (c == 'u') {
        all = vendor_type(s);
    } else if (c == 'U') {
        all = vendor_type(s);
        all = join(more(all), type(s));
    } else if (c && strchr("OPRCG", c)) {
        s->at++;
        all = more(type(s));
    } else if (c && strchr("abcdefghijlmnostvwxyz", c)) {
        s->at++;
        return fixed(FIXED);
    } else {
        return refuse(s);
    }
    if (is_part) remember(s, all);
    return all;
}

static extent type(scan *s) {
    extent all = enter(s) ? any_type(s) : refuse(s);
    s->depth--;
    return all;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* "Lj4E", "L_Z4functionvE". */
static extent literal(scan *s) {
    expect(s, 'L');
    extent all;
    if (s->plain && !is_lower(peek(s))) return pass(s);
    if (peek(s) == '_' || peek(s) == 'Z') {
        take(s, '_');
        expect(s, 'Z');
        all = encoding(s);
    } else {
        all = more(type(s));
        for (; peek(s) && peek(s) != 'E'; s->at++) all = join(all, fixed(1));
    }
    expect(s, 'E');
    return all;
}

static extent expressions(scan *s, char end) {
    extent all = fixed(FIXED);
    while (!s->failed && peek(s) && peek(s) != end) all = join(more(all), expression(s));
    expect(s, end);
    return all;
}

/* "sr1AE1b": a name in a type that depends on parameters. What is wrong before the E lets some demanglers go round for
 * ever: so it must be plain. */
static extent unresolved_name(scan *s) {
    char c = peek(s);
    bool is_either = is_digit(c) || is_lower(c) || c == 'C' || c == 'U' || c == 'L';
    s->is_either |= is_either;
    bool is_new = is_either && !s->is_old;
    s->plain += is_new;
    extent all = more(is_new ? prefix(s, false) : type(s));
    s->plain -= is_new;
    if (is_new && s->failed) s->is_strange = true;
    if (is_new) expect(s, 'E');
    all = join(all, unqualified_name(s));
    return peek(s) == 'I' ? join(all, template_arguments(s)) : all;
}

static extent function_parameter(scan *s) {
    s->at += 2;
    if (take(s, 'T')) return fixed(FIXED);
    index_of(s);
    return fixed(FIXED);
}

static extent operands(scan *s, const char *kinds) {
    extent all = fixed(2 * FIXED);
    for (; *kinds && !s->failed; kinds++) {
        all = more(all);
        if (*kinds == 'e') all = join(all, expression(s));
        if (*kinds == 't') all = join(all, type(s));
        if (*kinds == 'l') all = join(all, expressions(s, 'E'));
        if (*kinds != 'n') continue;
        all = join(all, unqualified_name(s));
        if (peek(s) == 'I') all = join(all, template_arguments(s));
    }
    return all;
}

static extent operation(scan *s) {
    const struct operator* found = take_operator(s);
    if (!found) return refuse(s);
    return found->operands[0] ? operands(s, found->operands) : pass(s);
}

static extent conversion(scan *s) {
    extent all = more(type(s));
    return join(all, take(s, '_') ? expressions(s, 'E') : expression(s));
}

static extent any_expression(scan *s) {
    char c = peek(s), next = peek_next(s);
    if (c == 'L') return literal(s);
    if (take(s, 'T')) {
        index_of(s);
        return (extent){1, 1};
    }
    if (take_pair(s, "sr")) return unresolved_name(s);
    if (take_pair(s, "sp")) return repeated(s, more(expression(s)));
    if (c == 'f' && next == 'p') return function_parameter(s);
    if (take_pair(s, "cv")) return conversion(s);
    if (is_digit(c) || (c == 'o' && next == 'n')) {
        extent all = unqualified_name(s);
        return peek(s) == 'I' ? join(all, template_arguments(s)) : all;
    }
    return operation(s);
}

static extent expression(scan *s) {
    extent all = enter(s) ? any_expression(s) : refuse(s);
    s->depth--;
    return all;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* A function with its parameters. T_ and the like are the arguments of the template that it is: where it is none, or
 * they are within these arguments, what they are is for nobody to say, and the demangler may try for ever. */
static extent encoding(scan *s) {
    extent all;
    if (!enter(s))
        all = refuse(s);
    else if (++s->scopes >= MOST_SCOPES || peek(s) == 'G' || peek(s) == 'T')
        all = pass(s);
    else
        all = name(s);
    bool is_template = s->arguments_end && (s->at == s->arguments_end || s->at - 1 == s->arguments_end);
    if (!s->failed && all.parameters) all = pass(s);
    if (!s->failed && peek(s) && peek(s) != 'E' && peek(s) != '.') all = join(all, types(s));
    if (!s->failed && all.parameters && !is_template) all = pass(s);
    s->depth--;
    return closed(all, s->largest);
}

/* 0: it is no name in this notation. HUGE: too large to say, or nobody knows. */
static uint64_t bound_of(const char *text, size_t size, bool is_old, bool *is_either) {
    uint64_t expansion = 1, bound = 0;
    for (int round = 0; round < 2; round++) { /* how long packs are is known behind the first */
        scan s = {.at = text, .end = text + size, .expansion = expansion, .is_old = is_old};
        expect(&s, '_');
        expect(&s, 'Z');
        extent all = encoding(&s);
        if (!s.failed && peek(&s) && peek(&s) != '.') refuse(&s);
        *is_either = s.is_either;
        if (s.failed) return s.is_strange ? HUGE : 0;
        all = join(all, fixed((uint64_t)(s.end - s.at) * FIXED)); /* "[clone .cold]" */
        expansion = s.longest_list ? s.longest_list : 1;
        bound = all.size;
    }
    return bound;
}

/* Where the two notations are not the same name, the demangler takes the new one if it can. */
uint64_t as_demangled_bound(const char *text, size_t size) {
    bool is_either;
    uint64_t bound = bound_of(text, size, false, &is_either),
             old = is_either ? bound_of(text, size, true, &is_either) : 0;
    if (old > bound) bound = old;
    return bound && bound < HUGE ? bound : UINT64_MAX;
}
