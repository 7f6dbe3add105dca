#include "render/names.h"

#include "render/display.h"

enum { MOST_GROUPS = 64, LONGEST_NAME = 1 << 14 }; /* bytes of a name that is taken apart */

/* Something in brackets that is in no other brackets. */
typedef struct group {
    size_t begin, end; /* of the opening bracket, behind the closing one */
    bool is_short;     /* shown with nothing in it */
} group;

/* A name taken apart. */
typedef struct parsed {
    const char *name;
    size_t size;
    size_t from; /* where it is shown from: what lies before is left out */
    group groups[MOST_GROUPS];
    size_t n;
    size_t parameters; /* the group with the parameters of the function, or SIZE_MAX */
    size_t last_blank; /* behind the last blank before the function's own name, outside of brackets; 0: none */
    const char *ellipsis;
    size_t mark; /* columns of it */
} parsed;

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* ---- taking apart ------------------------------------------------------------------------------------------------ */

/* Bytes of "operator" and its symbols at `at`, whose brackets are none; 0 where there is no operator. */
static size_t operator_size(const char *name, size_t size, size_t at) {
    static const char word[] = "operator", symbols[] = "<>=!+-*/%^&|~,";
    size_t n = sizeof word - 1;
    if (size - at < n || memcmp(name + at, word, n) != 0 || (at && is_word(name[at - 1]))) return 0;
    if (at + n < size && is_word(name[at + n])) return 0;
    const char *behind = name + at + n;
    size_t left = size - at - n;
    if (left >= 2 && (memcmp(behind, "()", 2) == 0 || memcmp(behind, "[]", 2) == 0)) return n + 2;
    size_t k = 0;
    while (k < left && memchr(symbols, behind[k], sizeof symbols - 1)) k++;
    if (k == 0 && left && behind[0] == ' ') k = 1; /* operator new, operator bool */
    return n + k;
}

static bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
static char closing_of(char c) { return c == '<' ? '>' : c == '(' ? ')' : c == '[' ? ']' : '}'; }

/* The end of the group that opens at `at`, behind its last bracket; 0 where brackets do not match. */
static size_t group_end(const char *name, size_t size, size_t at) {
    char stack[MOST_GROUPS];
    size_t depth = 0;
    while (at < size) {
        size_t skipped = operator_size(name, size, at);
        char c = name[at];
        if (skipped) {
            at += skipped;
            continue;
        }
        if (opens(c)) {
            if (depth == MOST_GROUPS) return 0;
            stack[depth++] = closing_of(c);
        } else if (c == '>' && name[at - 1] == '-') {
            /* an arrow */
        } else if (c == '>' || c == ')' || c == ']' || c == '}') {
            if (stack[--depth] != c) return 0;
            if (depth == 0) return at + 1;
        }
        at++;
    }
    return 0;
}

/* False where brackets do not match: such a name has no parts. */
static bool take_apart(parsed *p) {
    for (size_t at = 0; at < p->size;) {
        size_t skipped = operator_size(p->name, p->size, at);
        char c = p->name[at];
        if (skipped) {
            at += skipped;
        } else if (opens(c)) {
            size_t end = group_end(p->name, p->size, at);
            if (!end || p->n == MOST_GROUPS) return false;
            p->groups[p->n++] = (group){.begin = at, .end = end};
            at = end;
        } else {
            if (c == ')' || c == ']' || c == '}' || (c == '>' && !(at && p->name[at - 1] == '-'))) return false;
            at++;
        }
    }
    return true;
}

static bool is_anonymous(const parsed *p, const group *g) {
    static const char word[] = "(anonymous";
    return g->end - g->begin > sizeof word - 1 && memcmp(p->name + g->begin, word, sizeof word - 1) == 0;
}

/* The parameters are the last brackets but those behind a blank; a function without them has no return type. */
static void find_parameters(parsed *p) {
    p->parameters = SIZE_MAX;
    for (size_t i = p->n; i-- > 0;) {
        const group *g = &p->groups[i];
        if (p->name[g->begin] == '[') continue;
        if (p->name[g->begin] == '(' && g->begin > 0 && p->name[g->begin - 1] != ' ' && !is_anonymous(p, g))
            p->parameters = i;
        break;
    }
    if (p->parameters == SIZE_MAX) return;
    size_t next = 0;
    for (size_t at = 0; at < p->groups[p->parameters].begin;) {
        size_t skipped = operator_size(p->name, p->size, at);
        if (next < p->n && at == p->groups[next].begin) {
            at = p->groups[next++].end;
        } else if (skipped) {
            break;
        } else {
            if (p->name[at] == ' ') p->last_blank = at + 1;
            at++;
        }
    }
}

/* ---- putting together -------------------------------------------------------------------------------------------- */

/* What is shown now, behind what out holds. */
static void compose(const parsed *p, as_text *out) {
    size_t at = p->from;
    if (p->from && p->from != p->last_blank) as_text_add(out, p->ellipsis);
    for (size_t i = 0; i < p->n; i++) {
        const group *g = &p->groups[i];
        if (!g->is_short || g->begin < at) continue;
        bool is_suffix = p->name[g->begin] == '[';
        size_t before = g->begin - (is_suffix && g->begin > at && p->name[g->begin - 1] == ' ');
        as_text_write(out, p->name + at, before - at);
        if (!is_suffix) {
            as_text_char(out, p->name[g->begin]);
            as_text_add(out, p->ellipsis);
            as_text_char(out, p->name[g->end - 1]);
        }
        at = g->end;
    }
    as_text_write(out, p->name + at, p->size - at);
}

/* Shows it behind `from` of out; whether it fits now. */
static bool try_it(const parsed *p, as_text *out, size_t from, size_t width) {
    out->bytes.count = from;
    compose(p, out);
    return as_display_width(as_text_data(out) + from, as_text_size(out) - from) <= width;
}

/* The longest group that may be left empty, of those that are not yet; NULL: none. */
static group *longest_arguments(parsed *p) {
    group *best = NULL;
    for (size_t i = 0; i < p->n; i++) {
        group *g = &p->groups[i];
        char before = g->begin ? p->name[g->begin - 1] : ' ';
        bool can = p->name[g->begin] == '<' && !g->is_short && (is_word(before) || before == ' ') && g->begin > 0;
        if (can && g->end - g->begin > p->mark + 2 && (!best || g->end - g->begin > best->end - best->begin)) best = g;
    }
    return best;
}

/* Behind the next namespace or class, or 0. */
static size_t next_qualifier(const parsed *p, size_t at) {
    size_t next = 0, end = p->parameters == SIZE_MAX ? p->size : p->groups[p->parameters].begin;
    while (next < p->n && p->groups[next].begin < at) next++;
    while (at + 2 < end) {
        if (next < p->n && at == p->groups[next].begin) {
            at = p->groups[next++].end;
        } else if (p->name[at] == ':' && p->name[at + 1] == ':') {
            return at;
        } else {
            at++;
        }
    }
    return 0;
}

/* Leaves out the middle of what stands behind `from`. */
static void cut_middle(const parsed *p, as_text *out, size_t from, size_t width) {
    const char *text = as_text_data(out) + from;
    size_t size = as_text_size(out) - from, mark = p->mark;
    if (width <= mark) {
        out->bytes.count = from + as_display_prefix(text, size, width);
        return;
    }
    size_t tail = (width - mark) / 2, head = as_display_prefix(text, size, width - mark - tail), behind = size;
    for (size_t skipped = as_display_width(text, size) - tail; behind == size && tail; skipped++) {
        behind = as_display_prefix(text, size, skipped);
        if (as_display_width(text + behind, size - behind) > tail) behind = size;
    }
    as_text end;
    as_text_init(&end);
    as_text_write(&end, text + behind, size - behind);
    out->bytes.count = from + head;
    as_text_add(out, p->ellipsis);
    as_text_write(out, as_text_data(&end), as_text_size(&end));
    out->failed |= end.failed;
    as_text_free(&end);
}

/* Takes away step by step what says least. */
static bool shorten(parsed *p, as_text *out, size_t from, size_t width) {
    for (size_t i = 0; i < p->n; i++) p->groups[i].is_short = p->name[p->groups[i].begin] == '[' && p->groups[i].begin;
    if (try_it(p, out, from, width)) return true;
    if (p->parameters != SIZE_MAX) {
        group *g = &p->groups[p->parameters];
        g->is_short = g->end - g->begin > p->mark + 2;
        if (try_it(p, out, from, width)) return true;
    }
    for (group *g; (g = longest_arguments(p));) {
        g->is_short = true;
        if (try_it(p, out, from, width)) return true;
    }
    if (p->last_blank) {
        p->from = p->last_blank;
        if (try_it(p, out, from, width)) return true;
    }
    for (size_t at = p->from; (at = next_qualifier(p, at)); at += 2) {
        p->from = at;
        if (try_it(p, out, from, width)) return true;
    }
    return false;
}

/* The beginning and the end of a name that is too long for more than that. */
static void write_ends(as_text *out, const char *name, size_t size) {
    enum { END = LONGEST_NAME / 2 };
    size_t begin = END, behind = size - END;
    while (begin > END - 4 && (name[begin] & 0xc0) == 0x80) begin--; /* characters stay whole */
    while (behind < size - END + 4 && (name[behind] & 0xc0) == 0x80) behind++;
    as_text_write(out, name, begin);
    as_text_write(out, name + behind, size - behind);
}

void as_name_of_place(as_text *out, const char *name, const char *file, int64_t line) {
    const char *slash = file ? strrchr(file, '/') : NULL, *at = slash && slash[1] ? strstr(name, file) : NULL;
    size_t size = strlen(name);
    if (line <= 0 && size > 2 && strcmp(name + size - 2, ":0") == 0) size -= 2;
    if (at) {
        as_text_write(out, name, (size_t)(at - name));
        size -= (size_t)(slash + 1 - file) + (size_t)(at - name);
        name = at + (slash + 1 - file);
    }
    as_text_write(out, name, size);
}

void as_name_shorten(as_text *out, const char *name, size_t size, size_t width, const char *ellipsis) {
    size_t from = as_text_size(out);
    bool is_huge = width && size > LONGEST_NAME;
    parsed p = {.name = name, .size = size, .parameters = SIZE_MAX, .ellipsis = ellipsis};
    p.mark = as_display_width(ellipsis, strlen(ellipsis));
    if (!width || (!is_huge && as_display_width(name, size) <= width)) {
        as_text_write(out, name, size);
        return;
    }
    if (is_huge) {
        write_ends(out, name, size);
    } else if (take_apart(&p)) {
        find_parameters(&p);
        if (shorten(&p, out, from, width)) return;
    } else {
        as_text_write(out, name, size);
    }
    cut_middle(&p, out, from, width);
}
