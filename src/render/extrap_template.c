/* FORMAT strings. A text is split at its outermost braces; what is inside names a placeholder and, for lists, holds
 * further texts in quotes: "{points: sep:', '; format:'({point})'}". */
#include "render/extrap_template.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct slice {
    const char *at;
    size_t size;
} slice;

/* While a FORMAT string is taken apart. */
typedef struct parser {
    as_arena *arena;
    assay_error *error;
    const char *format;
    size_t column; /* of the outermost placeholder, from 1 */
} parser;

static assay_status no_memory(const parser *p) { return as_fail_memory(p->error, NULL); }

/* `what` is wrong with the placeholder. */
static assay_status reject(const parser *p, slice placeholder, const char *what) {
    int size = placeholder.size > 60 ? 60 : (int)placeholder.size;
    return as_fail(p->error, ASSAY_E_USAGE, AS_NOWHERE, "format-string", "--print, column %zu: '{%.*s%s}': %s",
                   p->column, size, placeholder.at, placeholder.size > 60 ? "…" : "", what);
}

/* ---- braces ------------------------------------------------------------------------------------------------------ */

static bool is_doubled(slice text, size_t i) { return i + 1 < text.size && text.at[i + 1] == text.at[i]; }

/* The positions of the outermost braces, pairwise open and closed, into braces (a vector of size_t). "{{" never opens;
 * of a run of closing ones the first closes if their number is odd. */
static assay_status find_braces(const parser *p, slice text, as_vec *braces) {
    long depth = 0;
    size_t opened = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool marks = false;
        size_t at = i;
        if (text.at[i] == '{') {
            if (is_doubled(text, i)) {
                i++;
            } else {
                marks = depth++ == 0;
                if (marks) opened = i;
            }
        } else if (text.at[i] == '}') {
            bool is_odd = true;
            for (; is_doubled(text, i); i++) is_odd = !is_odd;
            marks = is_odd && --depth == 0;
        }
        if (marks && !as_vec_append(braces, &at, 1)) return no_memory(p);
        if (depth < 0) {
            opened = at;
            break;
        }
    }
    if (depth == 0) return ASSAY_OK;
    const char *what = depth < 0 ? "a '}' without '{'" : "a '{' without '}'";
    size_t column = text.at == p->format ? opened + 1 : p->column;
    return as_fail(p->error, ASSAY_E_USAGE, AS_NOWHERE, "format-string",
                   "--print, column %zu: %s; write {{ and }} for a brace itself", column, what);
}

/* What Python's str.format makes of text without placeholders: "{{" is "{". unquote: "\'" is "'". */
static assay_status add_literal(const parser *p, as_template *template, slice text, bool unquote) {
    if (!text.size) return ASSAY_OK;
    char *copy = as_arena_alloc(p->arena, text.size);
    as_part *part = copy ? as_vec_push(&template->parts) : NULL;
    if (!part) return no_memory(p);
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool is_escape = unquote && text.at[i] == '\\' && i + 1 < text.size && text.at[i + 1] == '\'';
        bool is_brace = text.at[i] == '{' || text.at[i] == '}';
        if (is_escape || (is_brace && is_doubled(text, i))) i++;
        copy[n++] = text.at[i];
    }
    *part = (as_part){.field = AS_FIELD_LITERAL, .text = copy, .size = n};
    return ASSAY_OK;
}

/* ---- quoted texts ------------------------------------------------------------------------------------------------ */

/* Where the quoted text that begins at each position ends, SIZE_MAX: nowhere. A quote ends it unless a backslash stands
 * before it or (with_braces) it is inside braces, which reach as far as they can. NULL when memory is out. */
static size_t *find_quotes(const parser *p, slice text, bool with_braces) {
    size_t *ends = as_arena_array(p->arena, text.size + 1, sizeof *ends);
    if (!ends) return NULL;
    size_t behind_last_brace = SIZE_MAX; /* the end behind the last '}' from which there is one */
    ends[text.size] = SIZE_MAX;
    for (size_t i = text.size; i-- > 0;) {
        size_t end = SIZE_MAX;
        if (with_braces && text.at[i] == '{') end = behind_last_brace;
        if (end == SIZE_MAX && text.at[i] == '\\' && i + 1 < text.size && text.at[i + 1] == '\'') end = ends[i + 2];
        if (end == SIZE_MAX) end = text.at[i] == '\'' ? i : ends[i + 1];
        ends[i] = end;
        if (text.at[i] == '}' && behind_last_brace == SIZE_MAX) behind_last_brace = ends[i + 1];
    }
    return ends;
}

static bool is_blank(char c) { return isspace((unsigned char)c); }

/* key:'value'; in text from *from on. False: none. *from: its beginning, *end: behind it. */
static bool find_option(slice text, const char *key, const size_t *ends, size_t *from, size_t *end, slice *value) {
    size_t key_size = strlen(key);
    for (size_t i = *from; i + key_size < text.size; i++) {
        if (memcmp(text.at + i, key, key_size) != 0) continue;
        size_t quote = i + key_size;
        while (quote < text.size && is_blank(text.at[quote])) quote++;
        if (quote == text.size || text.at[quote] != '\'' || ends[quote + 1] == SIZE_MAX) continue;
        *value = (slice){text.at + quote + 1, ends[quote + 1] - quote - 1};
        *from = i;
        *end = ends[quote + 1] + 1;
        if (*end < text.size && text.at[*end] == ';') ++*end;
        while (*end < text.size && is_blank(text.at[*end])) ++*end;
        return true;
    }
    return false;
}

/* The options of a list: at is NULL where one is not given. */
typedef struct list_options {
    slice format, separator;
} list_options;

/* The separator is searched in what the formats leave, all of them. */
static assay_status find_options(const parser *p, slice text, list_options *out) {
    *out = (list_options){0};
    char *rest = as_arena_alloc(p->arena, text.size + 1);
    size_t *ends = find_quotes(p, text, true);
    if (!ends || !rest) return no_memory(p);
    size_t n = 0, from = 0, copied = 0, end;
    slice value;
    for (; find_option(text, "format:", ends, &from, &end, &value); from = copied = end) {
        if (!out->format.at) out->format = value;
        memcpy(rest + n, text.at + copied, from - copied);
        n += from - copied;
    }
    memcpy(rest + n, text.at + copied, text.size - copied);
    slice left = {rest, n + text.size - copied};
    ends = find_quotes(p, left, false);
    if (!ends) return no_memory(p);
    from = 0;
    find_option(left, "sep:", ends, &from, &end, &out->separator);
    return ASSAY_OK;
}

/* ---- placeholders ------------------------------------------------------------------------------------------------ */

typedef struct named_field {
    const char *name;
    as_field field;
} named_field;

static const named_field COSTS[] = {{"smape", AS_FIELD_SMAPE}, {"rrss", AS_FIELD_RRSS}, {"rss", AS_FIELD_RSS},
                                    {"ar2", AS_FIELD_AR2},     {"re", AS_FIELD_RE},     {0}};
static const named_field STATISTICS[] = {{"mean", AS_FIELD_MEAN}, {"median", AS_FIELD_MEDIAN}, {"std", AS_FIELD_STD},
                                         {"min", AS_FIELD_MIN},   {"max", AS_FIELD_MAX},       {0}};
static const named_field COORDINATES[] = {{"coordinate", AS_FIELD_COORDINATE}, {"parameter", AS_FIELD_PARAMETER}, {0}};
static const named_field PARAMETER[] = {{"parameter", AS_FIELD_PARAMETER}, {0}};

static bool is_word(slice text, const char *word) {
    return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

static bool begins_with(slice text, const char *word) {
    return text.size >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

/* "name", "name:spec", "name!s:spec" of one of the fields. `expected` ends the message where it is none. */
static assay_status parse_value(const parser *p, slice text, const named_field *fields, const char *expected,
                                as_part *out) {
    slice name = text, spec = {text.at + text.size, 0};
    const char *colon = memchr(text.at, ':', text.size);
    if (colon) {
        name.size = (size_t)(colon - text.at);
        spec = (slice){colon + 1, text.size - name.size - 1};
    }
    bool converts = name.size > 2 && name.at[name.size - 2] == '!' && strchr("sra", name.at[name.size - 1]);
    char conversion = converts ? name.at[name.size - 1] : 0;
    if (converts) name.size -= 2;
    while (fields->name && !is_word(name, fields->name)) fields++;
    if (!fields->name) return reject(p, text, expected);
    *out = (as_part){.field = fields->field, .conversion = conversion};
    bool is_text = converts || fields->field == AS_FIELD_PARAMETER;
    const char *problem;
    if (as_format_spec_parse(spec.at, spec.size, is_text, &out->spec, &problem)) return ASSAY_OK;
    char message[200];
    snprintf(message, sizeof message, "no format of Python's: %s", problem);
    return reject(p, text, message);
}

static assay_status parse_text(const parser *p, slice text, as_field within, as_template **out);

/* A separator is taken as it is, but for "\'" outside of braces, which is "'". */
static assay_status unquote_separator(const parser *p, slice text, as_part *out) {
    as_vec braces;
    as_vec_init(&braces, sizeof(size_t), NULL);
    assay_status status = find_braces(p, text, &braces);
    char *copy = as_arena_alloc(p->arena, text.size + 1);
    if (status == ASSAY_OK && !copy) status = no_memory(p);
    size_t n_passed = 0; /* braces before this place: an odd number inside of them */
    for (size_t i = 0; status == ASSAY_OK && i < text.size; i++) {
        while (n_passed < braces.count && AS_AT(size_t, &braces, n_passed) <= i) n_passed++;
        bool is_escape = text.at[i] == '\\' && i + 1 < text.size && text.at[i + 1] == '\'';
        if (!is_escape || n_passed % 2) copy[out->size++] = text.at[i];
    }
    out->text = copy;
    as_vec_free(&braces);
    return status;
}

/* A list: its separator, and how its entries look. */
static assay_status parse_list(const parser *p, slice text, as_field field, as_part *out) {
    list_options options;
    AS_TRY(find_options(p, text, &options));
    *out = (as_part){.field = field};
    bool has_format = options.format.size > 0;
    if (options.separator.at) AS_TRY(unquote_separator(p, options.separator, out));
    if (!has_format) return ASSAY_OK;
    AS_TRY(parse_text(p, options.format, field, &out->entry));
    bool has_placeholder = false;
    for (size_t i = 0; i < out->entry->parts.count; i++)
        has_placeholder |= AS_AT(as_part, &out->entry->parts, i).field != AS_FIELD_LITERAL;
    bool needs_placeholder = field == AS_FIELD_POINTS || field == AS_FIELD_MEASUREMENTS; /* else Extra-P ignores it */
    if (needs_placeholder && !has_placeholder) {
        as_template_free(out->entry);
        out->entry = NULL;
    }
    return ASSAY_OK;
}

/* Whether text is the name of a list, alone or with options behind a colon; *rest: these. */
static bool is_list(slice text, const char *name, slice *rest) {
    size_t n = strlen(name);
    if (!begins_with(text, name)) return false;
    *rest = (slice){text.at + n, text.size - n};
    size_t colon = n;
    while (colon < text.size && is_blank(text.at[colon])) colon++;
    return !rest->size || (colon < text.size && text.at[colon] == ':');
}

static assay_status parse_model_field(const parser *p, slice text, as_part *out) {
    slice rest, name = text;
    bool once = text.size && *text.at == '?';
    if (once) name = (slice){text.at + 1, text.size - 1};
    *out = (as_part){.field = AS_FIELD_MODEL};
    if (is_word(name, "callpath") || is_word(name, "metric"))
        out->field = is_word(name, "metric") ? AS_FIELD_METRIC : AS_FIELD_CALLPATH;
    else if (is_list(name, "points", &rest))
        AS_TRY(parse_list(p, rest, AS_FIELD_POINTS, out));
    else if (is_list(name, "parameters", &rest))
        AS_TRY(parse_list(p, rest, AS_FIELD_PARAMETERS, out));
    else if (!once && is_list(name, "measurements", &rest))
        AS_TRY(parse_list(p, rest, AS_FIELD_MEASUREMENTS, out));
    else if (is_word(text, "model:python"))
        out->notation = AS_NOTATION_PYTHON;
    else if (is_word(text, "model:latex"))
        out->notation = AS_NOTATION_LATEX;
    else if (!is_word(text, "model"))
        return parse_value(p, text, COSTS,
                           "no placeholder of this name; there are callpath, metric, model, model:python, model:latex, "
                           "parameters, points, measurements, smape, rrss, rss, re, ar2",
                           out);
    out->once = once;
    return ASSAY_OK;
}

static assay_status parse_placeholder(const parser *p, slice text, as_field within, as_part *out) {
    switch (within) {
    case AS_FIELD_PARAMETERS: return parse_value(p, text, PARAMETER, "only {parameter} is known here", out);
    case AS_FIELD_POINT:
        return parse_value(p, text, COORDINATES, "only {parameter} and {coordinate} are known here", out);
    case AS_FIELD_POINTS:
        if (begins_with(text, "point")) return parse_list(p, text, AS_FIELD_POINT, out);
        return reject(p, text, "only {point} is known here");
    case AS_FIELD_MEASUREMENTS:
        if (begins_with(text, "point")) return parse_list(p, text, AS_FIELD_POINT, out);
        return parse_value(p, text, STATISTICS, "only {point}, {mean}, {median}, {std}, {min} and {max} are known here",
                           out);
    default: return parse_model_field(p, text, out);
    }
}

/* "\n" and "\t" inside a placeholder are what they say. */
static bool unescape(const parser *p, slice *text) {
    char *copy = as_arena_alloc(p->arena, text->size + 1);
    if (!copy) return false;
    size_t n = 0;
    for (size_t i = 0; i < text->size; i++) {
        char next = text->at[i] == '\\' && i + 1 < text->size ? text->at[i + 1] : 0;
        bool is_escape = next == 'n' || next == 't';
        copy[n++] = is_escape ? (next == 'n' ? '\n' : '\t') : text->at[i];
        i += is_escape;
    }
    *text = (slice){copy, n};
    return true;
}

static assay_status parse_parts(const parser *outer, slice text, as_field within, const as_vec *braces,
                                as_template *template) {
    parser here = *outer;
    bool is_outermost = within == AS_FIELD_LITERAL;
    size_t from = 0;
    for (size_t i = 0; i < braces->count; i += 2) {
        size_t open = AS_AT(size_t, braces, i), close = AS_AT(size_t, braces, i + 1);
        slice placeholder = {text.at + open + 1, close - open - 1};
        if (is_outermost) here.column = open + 1;
        AS_TRY(add_literal(&here, template, (slice){text.at + from, open - from}, !is_outermost));
        if (is_outermost && !unescape(&here, &placeholder)) return no_memory(&here);
        as_part part;
        AS_TRY(parse_placeholder(&here, placeholder, within, &part));
        if (!as_vec_append(&template->parts, &part, 1)) {
            as_template_free(part.entry);
            return no_memory(&here);
        }
        from = close + 1;
    }
    return add_literal(&here, template, (slice){text.at + from, text.size - from}, !is_outermost);
}

/* A text with placeholders; within: the list whose entries it is for, AS_FIELD_LITERAL for the FORMAT string itself. */
static assay_status parse_text(const parser *p, slice text, as_field within, as_template **out) {
    as_vec braces;
    as_vec_init(&braces, sizeof(size_t), NULL);
    assay_status status = find_braces(p, text, &braces);
    as_template *template = status == ASSAY_OK ? as_arena_alloc(p->arena, sizeof *template) : NULL;
    if (status == ASSAY_OK && !template) status = no_memory(p);
    if (status == ASSAY_OK) {
        as_vec_init(&template->parts, sizeof(as_part), NULL);
        status = parse_parts(p, text, within, &braces, template);
        if (status == ASSAY_OK)
            *out = template;
        else
            as_template_free(template);
    }
    as_vec_free(&braces);
    return status;
}

assay_status as_template_parse(const char *format, as_arena *arena, as_template **out, assay_error *error) {
    parser p = {.arena = arena, .error = error, .format = format, .column = 1};
    return parse_text(&p, (slice){format, strlen(format)}, AS_FIELD_LITERAL, out);
}

void as_template_free(as_template *template) {
    if (!template) return;
    for (size_t i = 0; i < template->parts.count; i++) as_template_free(AS_AT(as_part, &template->parts, i).entry);
    as_vec_free(&template->parts);
}
