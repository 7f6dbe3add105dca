/* The parser of command lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const as_cli_option own[] = {
    {.name = "strict", .letter = 's'},
    {.name = "to", .letter = 't', .argument = "FORMAT"},
    {.name = "secret", .hidden = true},
    {.name = NULL},
};
static const as_cli_option common[] = {
    {.name = "json", .group = AS_TAKES_JSON},
    {.name = "output", .letter = 'o', .argument = "FILE", .group = AS_TAKES_OUTPUT},
    {.name = "option", .letter = 'O', .argument = "KEY=VALUE"},
    {.name = "color", .argument = "WHEN", .choices = "auto|always|never"},
    {.name = "quiet", .letter = 'q'},
    {.name = NULL},
};

typedef struct parsed {
    as_arguments arguments;
    assay_error error;
    assay_status status;
    char text[512]; /* "strict to=x | a b" */
} parsed;

static parsed *parse_words(parsed *p, char *const *words, unsigned takes) {
    int n = 0;
    while (words[n]) n++;
    const as_cli_option *tables[] = {own, common};
    p->status = as_arguments_parse(&p->arguments, n, words, tables, 2, takes, &p->error);
    p->text[0] = '\0';
    for (size_t i = 0; i < p->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &p->arguments.given, i);
        size_t used = strlen(p->text);
        snprintf(p->text + used, sizeof p->text - used, "%s%s%s ", given->option->name, given->value ? "=" : "",
                 given->value ? given->value : "");
    }
    size_t used = strlen(p->text);
    snprintf(p->text + used, sizeof p->text - used, "|");
    for (size_t i = 0; i < p->arguments.operands.count; i++) {
        used = strlen(p->text);
        snprintf(p->text + used, sizeof p->text - used, " %s", AS_AT(const char *, &p->arguments.operands, i));
    }
    return p;
}

static void check_as(unsigned takes, const char *expected, char *const *words) {
    parsed p;
    parse_words(&p, words, takes);
    assert_int_equal(p.status, ASSAY_OK);
    assert_string_equal(p.text, expected);
    as_arguments_free(&p.arguments);
}
#define CHECK(expected, ...) check_as(AS_TAKES_JSON | AS_TAKES_OUTPUT, expected, (char *[]){__VA_ARGS__, NULL})

static void check_fails(unsigned takes, const char *message, char *const *words) {
    parsed p;
    parse_words(&p, words, takes);
    assert_int_equal(p.status, ASSAY_E_USAGE);
    assert_string_equal(p.error.message, message);
    as_arguments_free(&p.arguments);
}
#define FAILS(message, ...) check_fails(AS_TAKES_JSON | AS_TAKES_OUTPUT, message, (char *[]){__VA_ARGS__, NULL})

static void long_options(void **state) {
    (void)state;
    CHECK("strict |", "--strict");
    CHECK("to=x |", "--to=x");
    CHECK("to=x |", "--to", "x");
    CHECK("to= |", "--to=");
    CHECK("option=a=b |", "--option=a=b");
    CHECK("to=--strict |", "--to", "--strict"); /* an argument may look like an option */
    CHECK("color=always |", "--color", "always");
    CHECK("secret |", "--secret");
}

static void short_options(void **state) {
    (void)state;
    CHECK("output=f |", "-of");
    CHECK("output=f |", "-o", "f");
    CHECK("strict quiet |", "-sq");
    CHECK("strict quiet output=f |", "-sqof");
    CHECK("strict output=f |", "-so", "f");
    CHECK("option=a=b option=c=d |", "-Oa=b", "-O", "c=d");
}

static void options_stand_anywhere(void **state) {
    (void)state;
    CHECK("strict to=x | a b", "a", "--strict", "b", "--to", "x");
    CHECK("| - a", "-", "a");
    CHECK("strict | --to -q a", "--strict", "--", "--to", "-q", "a");
    CHECK("| --", "--", "--");
    check_as(0, "|", (char *[]){NULL});
}

static void names_may_be_shortened(void **state) {
    (void)state;
    CHECK("strict |", "--str");
    CHECK("output=f |", "--out=f");
    FAILS("option --o is short for --output and --option; write more of it", "--o", "f");
    FAILS("unknown option --secr; --help lists the options", "--secr"); /* hidden ones only in full */
}

static void mistakes_name_the_nearest(void **state) {
    (void)state;
    FAILS("unknown option --stirct; did you mean --strict?", "--stirct");
    FAILS("unknown option --jsn; did you mean --json?", "--jsn=1");
    FAILS("unknown option --zzzzzz; --help lists the options", "--zzzzzz");
    FAILS("unknown option -x; --help lists the options", "-sx");
    FAILS("option --to needs FORMAT behind it", "--to");
    FAILS("option --output needs FILE behind it", "a", "-o");
    FAILS("option --strict takes no value", "--strict=yes");
    FAILS("--color cannot be 'sometimes'; it is one of auto|always|never", "--color=sometimes");
    FAILS("--color cannot be 'auto|always'; it is one of auto|always|never", "--color=auto|always");
    FAILS("--color cannot be ''; it is one of auto|always|never", "--color=");
}

static void groups_that_are_not_taken_are_unknown(void **state) {
    (void)state;
    check_fails(0, "unknown option --json; --help lists the options", (char *[]){"--json", NULL});
    check_fails(AS_TAKES_JSON, "unknown option -o; --help lists the options", (char *[]){"-o", "f", NULL});
    check_as(AS_TAKES_JSON, "json quiet |", (char *[]){"--json", "-q", NULL});
}

static void sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: not a size */
    } cases[] = {{"1", 1},         {"1000", 1000}, {"4K", 4096},
                 {"4KiB", 4096},   {"4kB", 4000},  {"1.5G", 1610612736},
                 {"2MB", 2000000}, {"10B", 10},    {"1T", 1099511627776},
                 {"", 0},          {"0", 0},       {"-1", 0},
                 {"1X", 0},        {"M", 0},       {"1MM", 0},
                 {"1 M", 0},       {"1.2.3", 0},   {"1e3", 0},
                 {"99999999P", 0}, {"nan", 0},     {"1KiBs", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        assert_int_equal(as_size_parse(cases[i].text, &bytes), cases[i].bytes != 0);
        if (cases[i].bytes) assert_int_equal(bytes, cases[i].bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_options),
        cmocka_unit_test(short_options),
        cmocka_unit_test(options_stand_anywhere),
        cmocka_unit_test(names_may_be_shortened),
        cmocka_unit_test(mistakes_name_the_nearest),
        cmocka_unit_test(groups_that_are_not_taken_are_unknown),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
