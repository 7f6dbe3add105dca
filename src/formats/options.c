/* Options of formats and methods as tables: one check, one way to ask. */
#include "formats/format.h"

#include <strings.h>

#include "core/words.h"

static const as_option *find_option(const as_option *table, const char *name, size_t size) {
    for (const as_option *option = table; option && option->name; option++) {
        if (strlen(option->name) == size && memcmp(option->name, name, size) == 0) return option;
    }
    return NULL;
}

/* yes/no, true/false, on/off, 1/0. */
static bool parse_bool(const char *text, bool *out) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    }
    return false;
}

static bool fits(const as_option *option, const char *value) {
    as_number number;
    bool flag;
    switch (option->type) {
    case AS_OPTION_BOOL: return parse_bool(value, &flag);
    case AS_OPTION_INT: return as_number_parse(value, strlen(value), &number) && number.kind == AS_INT;
    case AS_OPTION_REAL: return as_number_parse(value, strlen(value), &number);
    case AS_OPTION_CHOICE: return as_is_choice(option->choices, value);
    default: return true;
    }
}

static const char *wanted(const as_option *option) {
    static const char *const names[] = {"yes or no", "a whole number", "a number", "text", ""};
    return option->type == AS_OPTION_CHOICE ? option->choices : names[option->type];
}

static assay_status fail_unknown(const as_options *options, const char *owner, const char *given, size_t size,
                                 assay_error *error) {
    as_nearest nearest = as_nearest_start(given, size);
    for (const as_option *option = options->table; option && option->name; option++)
        as_nearest_offer(&nearest, option->name);
    if (!options->table || !options->table->name) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "%s has no option '%.*s'; it has none at all", owner, (int)size, given);
    }
    if (nearest.word) {
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                       "%s has no option '%.*s'; did you mean '%s'?", owner, (int)size, given, nearest.word);
    }
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-option",
                   "%s has no option '%.*s'; 'assay formats %s' lists them", owner, (int)size, given, owner);
}

assay_status as_options_check(const as_options *options, const char *owner, assay_error *error) {
    for (const char *const *given = options->given; given && *given; given++) {
        size_t size = strcspn(*given, "=");
        const as_option *option = find_option(options->table, *given, size);
        if (!option) return fail_unknown(options, owner, *given, size, error);
        if ((*given)[size] != '=')
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value", "the option %s needs a value: -O %s=…",
                           *given, *given);
        const char *value = *given + size + 1;
        if (!fits(option, value)) {
            return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "option-value",
                           "the option %s cannot be '%s'; it takes %s", option->name, value, wanted(option));
        }
    }
    return ASSAY_OK;
}

const char *as_option_text(const as_options *options, const char *name) {
    size_t size = strlen(name);
    const char *value = find_option(options->table, name, size)->fallback;
    for (const char *const *given = options->given; given && *given; given++) {
        if (strncmp(*given, name, size) == 0 && (*given)[size] == '=') value = *given + size + 1;
    }
    return value;
}

bool as_option_bool(const as_options *options, const char *name) {
    bool value = false;
    parse_bool(as_option_text(options, name), &value);
    return value;
}

double as_option_real(const as_options *options, const char *name) {
    const char *text = as_option_text(options, name);
    double value = NAN;
    as_real_parse(text, strlen(text), &value);
    return value;
}
