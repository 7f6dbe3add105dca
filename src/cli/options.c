/* The parser of command lines: one for all verbs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/number.h"
#include "core/words.h"

/* One parse: where it stands and what it may find. */
typedef struct parse {
    as_arguments *arguments;
    int argc, at;
    char *const *argv;
    const as_cli_option *const *tables;
    size_t n_tables;
    unsigned takes;
    assay_error *error;
} parse;

static bool is_taken(const parse *p, const as_cli_option *option) {
    return option->group == 0 || (option->group & p->takes);
}

/* Steps through all options that may be given: *table and *option start as 0 and NULL. */
static const as_cli_option *next_option(const parse *p, size_t *table, const as_cli_option *option) {
    for (;;) {
        option = option ? option + 1 : *table < p->n_tables ? p->tables[*table] : NULL;
        while (!option || !option->name) {
            if (++*table >= p->n_tables) return NULL;
            option = p->tables[*table];
        }
        if (is_taken(p, option)) return option;
    }
}

static assay_status usage(const parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static assay_status usage(const parse *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status = as_vfail(p->error, ASSAY_E_USAGE, AS_NOWHERE, "", format, args);
    va_end(args);
    return status;
}

static assay_status fail_unknown(const parse *p, const char *name, size_t size) {
    as_nearest nearest = as_nearest_start(name, size);
    size_t table = 0;
    for (const as_cli_option *o = NULL; (o = next_option(p, &table, o));) {
        if (!o->hidden) as_nearest_offer(&nearest, o->name);
    }
    if (nearest.word) return usage(p, "unknown option --%.*s; did you mean --%s?", (int)size, name, nearest.word);
    return usage(p, "unknown option --%.*s; --help lists the options", (int)size, name);
}

/* The option of this name, or the only one that begins with it. */
static assay_status find_long(const parse *p, const char *name, size_t size, const as_cli_option **out) {
    const as_cli_option *begun = NULL, *other = NULL;
    size_t table = 0;
    for (const as_cli_option *o = NULL; (o = next_option(p, &table, o));) {
        if (strncmp(o->name, name, size) != 0) continue;
        if (o->name[size] == '\0') {
            *out = o;
            return ASSAY_OK;
        }
        if (o->hidden || size == 0) continue;
        if (begun)
            other = o;
        else
            begun = o;
    }
    if (other)
        return usage(p, "option --%.*s is short for --%s and --%s; write more of it", (int)size, name, begun->name,
                     other->name);
    if (!begun) return fail_unknown(p, name, size);
    *out = begun;
    return ASSAY_OK;
}

static const as_cli_option *find_short(const parse *p, char letter) {
    size_t table = 0;
    for (const as_cli_option *o = NULL; (o = next_option(p, &table, o));) {
        if (o->letter == letter) return o;
    }
    return NULL;
}

static assay_status add(parse *p, const as_cli_option *option, const char *value) {
    if (value && option->choices && !as_is_choice(option->choices, value)) {
        return usage(p, "--%s cannot be '%s'; it is one of %s", option->name, value, option->choices);
    }
    as_given given = {.option = option, .value = value};
    return as_vec_append(&p->arguments->given, &given, 1) ? ASSAY_OK : as_fail_memory(p->error, NULL);
}

/* The argument of an option that has none attached: the next word. */
static assay_status add_with_next(parse *p, const as_cli_option *option) {
    if (p->at >= p->argc) return usage(p, "option --%s needs %s behind it", option->name, option->argument);
    return add(p, option, p->argv[p->at++]);
}

static assay_status parse_long(parse *p, const char *word) {
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const as_cli_option *option = NULL;
    AS_TRY(find_long(p, word, size, &option));
    if (!option->argument) return equals ? usage(p, "option --%s takes no value", option->name) : add(p, option, NULL);
    return equals ? add(p, option, equals + 1) : add_with_next(p, option);
}

static assay_status parse_short(parse *p, const char *letters) {
    for (const char *at = letters; *at; at++) {
        const as_cli_option *option = find_short(p, *at);
        if (!option) return usage(p, "unknown option -%c; --help lists the options", *at);
        if (option->argument) return at[1] ? add(p, option, at + 1) : add_with_next(p, option);
        AS_TRY(add(p, option, NULL));
    }
    return ASSAY_OK;
}

assay_status as_arguments_parse(as_arguments *arguments, int argc, char *const *argv,
                                const as_cli_option *const *tables, size_t n, unsigned takes, assay_error *error) {
    as_vec_init(&arguments->given, sizeof(as_given), NULL);
    as_vec_init(&arguments->operands, sizeof(const char *), NULL);
    as_vec_init(&arguments->joined, sizeof(char *), NULL);
    parse p = {.arguments = arguments,
               .argc = argc,
               .argv = argv,
               .tables = tables,
               .n_tables = n,
               .takes = takes,
               .error = error};
    bool options_over = false;
    while (p.at < argc) {
        const char *word = argv[p.at++];
        if (!options_over && strcmp(word, "--") == 0)
            options_over = true;
        else if (!options_over && word[0] == '-' && word[1] == '-')
            AS_TRY(parse_long(&p, word + 2));
        else if (!options_over && word[0] == '-' && word[1] != '\0')
            AS_TRY(parse_short(&p, word + 1));
        else if (!as_vec_append(&arguments->operands, &word, 1))
            return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

void as_arguments_free(as_arguments *arguments) {
    as_vec_free(&arguments->given);
    as_vec_free(&arguments->operands);
    for (size_t i = 0; i < arguments->joined.count; i++) free(AS_AT(char *, &arguments->joined, i));
    as_vec_free(&arguments->joined);
}

bool as_size_parse(const char *text, uint64_t *out) {
    size_t digits = strspn(text, "0123456789.");
    double number;
    if (digits == 0 || !as_real_parse(text, digits, &number)) return false;
    const char *unit = text + digits;
    static const char letters[] = "KMGTP";
    double factor = 1;
    if (*unit && *unit != 'B') {
        const char *letter = strchr(letters, toupper((unsigned char)*unit));
        if (!letter) return false;
        double base = strcmp(unit + 1, "B") == 0 ? 1000 : 1024;
        for (const char *l = letters; l <= letter; l++) factor *= base;
        if (strcmp(unit + 1, "iB") == 0 || strcmp(unit + 1, "B") == 0)
            unit += strlen(unit);
        else
            unit++;
    } else if (*unit == 'B') {
        unit++;
    }
    double bytes = number * factor;
    if (*unit || !(bytes >= 1 && bytes < 9e18)) return false;
    *out = (uint64_t)bytes;
    return true;
}
