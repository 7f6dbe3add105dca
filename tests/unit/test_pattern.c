/* Regular expressions: what matches, what does not, what is refused; and that no pattern takes long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "core/pattern.h"

static bool matches(const char *pattern, const char *text) {
    const char *why;
    size_t at;
    as_pattern *compiled = as_pattern_new(pattern, strlen(pattern), &why, &at);
    if (!compiled) fail_msg("%s: %s at %zu", pattern, why ? why : "memory", at);
    bool result = as_pattern_search(compiled, text, strlen(text));
    as_pattern_free(compiled);
    return result;
}

typedef struct expectation {
    const char *pattern, *yes[6], *no[6];
} expectation;

static void check(const expectation *expected, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 6 && expected[i].yes[k]; k++) {
            if (!matches(expected[i].pattern, expected[i].yes[k]))
                fail_msg("/%s/ should match \"%s\"", expected[i].pattern, expected[i].yes[k]);
        }
        for (size_t k = 0; k < 6 && expected[i].no[k]; k++) {
            if (matches(expected[i].pattern, expected[i].no[k]))
                fail_msg("/%s/ should not match \"%s\"", expected[i].pattern, expected[i].no[k]);
        }
    }
}

static void test_plain(void **state) {
    (void)state;
    static const expectation expected[] = {
        {"", {"", "x"}, {NULL}},
        {"abc", {"abc", "xabcx", "ababc"}, {"ab", "abd", ""}},
        {"^abc", {"abc", "abcd"}, {"xabc"}},
        {"abc$", {"abc", "xabc"}, {"abcx"}},
        {"^$", {""}, {"x"}},
        {"a.c", {"abc", "a.c", "a-c"}, {"ac", "a\nc"}},
        {"a\\.c", {"a.c"}, {"abc"}},
        {"a\\/b", {"a/b"}, {"ab"}},
        {"[a-c1]x", {"ax", "bx", "1x"}, {"dx", "x", "-x"}},
        {"[^a-c]x", {"dx", "-x"}, {"ax", "x"}},
        {"[a\\]b]z", {"]z", "bz"}, {"cz"}},
        {"[-a]z", {"-z", "az"}, {"bz"}},
        {"[a-]z", {"-z", "az"}, {"bz"}},
        {"[\\d_]z", {"5z", "_z"}, {"az"}},
        {"[[:alpha:]]9", {"a9", "Z9"}, {"_9", "99"}},
        {"\\d\\w\\s\\D", {"1a b"}, {"1a 1", "aa b"}},
        {"\\x41\\t", {"A\t"}, {"a\t"}},
        {"\\bfoo\\b", {"foo", "a foo b", "foo-"}, {"foot", "_foo"}},
        {"oo\\B", {"foot"}, {"foo"}},
        {"abc\\d", {"abc1", "abcab abc1", "ababc7"}, {"abcd", "abc", "ab1", ""}},
        {"foo\\b", {"foo", "foot foo"}, {"foot", "foot_foot", "fo"}},
        {"ab+c", {"aab abbc", "abc"}, {"ac", "abb", "a"}},
        {"(?:ab)+c", {"xababc", "ab abc"}, {"ab", "ac", "aba"}},
        {"ab?c", {"aac", "abac abc"}, {"abb", "a"}},
        {"ab|c", {"ab", "xc"}, {"b", "a"}},
    };
    check(expected, sizeof expected / sizeof *expected);
}

static void test_repeated(void **state) {
    (void)state;
    static const expectation expected[] = {
        {"^ab*c$", {"ac", "abc", "abbbc"}, {"adc", "ab"}},
        {"^ab+c$", {"abc", "abbc"}, {"ac"}},
        {"^ab?c$", {"ac", "abc"}, {"abbc"}},
        {"^a{3}$", {"aaa"}, {"aa", "aaaa"}},
        {"^a{2,}$", {"aa", "aaaaa"}, {"a", ""}},
        {"^a{1,3}$", {"a", "aa", "aaa"}, {"", "aaaa"}},
        {"^a{0,2}b$", {"b", "ab", "aab"}, {"aaab"}},
        {"^a{0}b$", {"b"}, {"ab"}},
        {"^(ab|c){2}$", {"abab", "abc", "cab", "cc"}, {"ab", "abcab"}},
        {"^(ab|c)*$", {"", "abccab"}, {"abca"}},
        {"^(a|b|cd)$", {"a", "b", "cd"}, {"c", "d", "ab"}},
        {"^(?:a(b|c)d)+$", {"abd", "acdabd"}, {"ad", "abdac"}},
        {"^(a|)b$", {"ab", "b"}, {"cb"}},
        {"^(){1,3}b$", {"b"}, {"a"}},
        {"^(a*)*b$", {"b", "aaab"}, {"a"}},
        {"^a+?b$", {"aab"}, {"b"}},
        {"a|b|c", {"xbx", "c"}, {"d"}},
        {"^omp_(destroy|init)(_nest){0,1}_lock$",
         {"omp_init_lock", "omp_destroy_nest_lock"},
         {"omp_init_nest_nest_lock"}},
        {"^MPI_(Init(_thread|ialized){0,1}|Finalize(d){0,1})$",
         {"MPI_Init", "MPI_Initialized", "MPI_Finalized"},
         {"MPI_Init_", "MPI_Finalizedd"}},
        {"^MPI_.*(buffer|request)", {"MPI_x_request", "MPI_buffer_attach"}, {"PMPI_buffer", "MPI_Send"}},
    };
    check(expected, sizeof expected / sizeof *expected);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        size_t at;
    } bad[] = {{"(a", 0},
               {"a)", 1},
               {"[a", 0},
               {"*a", 0},
               {"a|*", 2},
               {"a{", 2},
               {"a{2", 3},
               {"a{3,2}", 6},
               {"a{2000}", 6},
               {"[z-a]", 4},
               {"a\\", 2},
               {"(a)\\1", 4},
               {"(?=a)", 1},
               {"\\q", 1},
               {"\\xg0", 2},
               {"[[:foo:]]", 3},
               {"((a{1000}){1000})", 16}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = NULL;
        size_t at = 99;
        as_pattern *pattern = as_pattern_new(bad[i].pattern, strlen(bad[i].pattern), &why, &at);
        if (pattern) fail_msg("/%s/ was accepted", bad[i].pattern);
        if (!why || at != bad[i].at) fail_msg("/%s/: %s at %zu, expected %zu", bad[i].pattern, why, at, bad[i].at);
    }
}

static void test_deep(void **state) {
    (void)state;
    char deep[100000];
    const char *why;
    size_t at;
    memset(deep, '(', sizeof deep);
    assert_null(as_pattern_new(deep, sizeof deep, &why, &at));
    assert_non_null(why);
}

/* What makes others go back and forth 2^30 times. */
static void test_time(void **state) {
    (void)state;
    static const char *const slow[] = {"^(a+)+$", "^(a|a)*$", "^(a*)*$", "(.*)(.*)(.*)(.*)(.*)x$", "^(a?){30}a{30}$"};
    char text[2001];
    memset(text, 'a', sizeof text);
    text[1999] = 'b';
    text[2000] = '\0';
    clock_t start = clock();
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) assert_false(matches(slow[i], text));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain), cmocka_unit_test(test_repeated), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_deep),  cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
