#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/demangle.h"

static void assert_readable(const char *name, const char *expected) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    if (as_demangle(name, strlen(name), &text) != AS_DEMANGLED) fail_msg("not demangled: %s", name);
    if (text.count != strlen(expected) || memcmp(text.data, expected, text.count) != 0)
        fail_msg("%s: expected %s, got %.*s", name, expected, (int)text.count, (const char *)text.data);
    assert_true(as_demangled_bound(name, strlen(name)) >= text.count);
    as_vec_free(&text);
}

static void assert_stays(const char *name, size_t size) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    if (as_demangle(name, size, &text) != AS_DEMANGLED_NOT) fail_msg("demangled: %s", name);
    assert_int_equal(text.count, 0);
    as_vec_free(&text);
}

/* What each is follows from the C++ declaration that a compiler makes this name of. */
static void names_of_functions(void **state) {
    (void)state;
    assert_readable("_Z5test0Pdmm", "test0(double*, unsigned long, unsigned long)");
    assert_readable("_Z6kernelIdEvPT_i", "void kernel<double>(double*, int)");
    assert_readable("_Z4axpyiPKfPf", "axpy(int, float const*, float*)");
    assert_readable("_ZN3gpu6solver4stepERKNS_4gridE", "gpu::solver::step(gpu::grid const&)");
    assert_readable("_ZNSt6vectorIiSaIiEE9push_backERKi",
                    "std::vector<int, std::allocator<int> >::push_back(int const&)");
    assert_readable("_Z1fIJidEEvDpT_", "void f<int, double>(int, double)");
    assert_readable("_Z1fPFvPKciE", "f(void (*)(char const*, int))");
    assert_readable("_Z1fILi3ELb1EEvv", "void f<3, true>()");
    assert_readable("_Z1fRA10_i", "f(int (&) [10])");
    assert_readable("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
    assert_readable("_ZNK1A3getERKS_", "A::get(A const&) const");
    assert_readable("_Z1fIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) f<int>(int)");
    assert_readable("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()");
    assert_readable("_ZN1AC1ERKS_", "A::A(A const&)");
    assert_readable("_Z1fIiENSt9enable_ifIXsrN3foo2trIT_EE5valueEiE4typeES3_",
                    "std::enable_if<foo::tr<int>::value, int>::type f<int>(int)");
    /* GCC and Clang write a trait outside of all namespaces in two ways. */
    assert_readable("_Z1gIiENSt9enable_ifIXsr3tr2IT_E5valueEiE4typeES2_",
                    "std::enable_if<tr2<int>::value, int>::type g<int>(int)");
    assert_readable("_Z1gIiENSt9enable_ifIXsr3tr2IT_EE5valueEiE4typeES1_",
                    "std::enable_if<tr2<int>::value, int>::type g<int>(int)");
    assert_readable("_ZL5helpri.constprop.0", "helpr(int) [clone .constprop.0]");
}

static void what_is_none(void **state) {
    (void)state;
    static const char *const none[] = {"",       "main",  "f",      "i",      "_Z",      "_Z1",
                                       "_Z5tes", "_ZN1a", "_Z1fT_", "_Z1fS_", "_Z1fS3_", "_Z9999999999999999999f"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_stays(none[i], strlen(none[i]));
    assert_stays("_Z1f\0i", 6);
    char longest[4000] = "_Z1f";
    memset(longest + 4, 'i', sizeof longest - 4);
    assert_stays(longest, sizeof longest);
}

/* b<b<b<a, a>, b<a, a> >, …>: each level refers twice to the one before. */
static void explode(char *name, size_t size, int levels) {
    size_t at = (size_t)snprintf(name, size, "_Z1f1a");
    for (int i = 0; i < levels; i++) {
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char part[8] = "S_";
        int id = 2 * i - 1; /* a is S_, then each level is two parts: b, and b with its arguments */
        if (i && id < 36) snprintf(part, sizeof part, "S%c_", digits[id]);
        if (i && id >= 36) snprintf(part, sizeof part, "S%c%c_", digits[id / 36], digits[id % 36]);
        at += (size_t)snprintf(name + at, size - at, "1bI%s%sE", part, part);
    }
}

/* Ten levels are thousands of characters, a hundred more than there are atoms. */
static void exploding_names(void **state) {
    (void)state;
    char name[1024];
    as_vec text;
    as_vec_init(&text, 1, NULL);
    explode(name, sizeof name, 2);
    assert_readable(name, "f(a, b<a, a>, b<b<a, a>, b<a, a> >)");
    explode(name, sizeof name, 10);
    assert_int_equal(as_demangle(name, strlen(name), &text), AS_DEMANGLED);
    assert_true(text.count > 10000 && text.count <= as_demangled_bound(name, strlen(name)));
    as_vec_free(&text);
    explode(name, sizeof name, 14); /* 200 KB: small enough to be made, too large to be a name */
    assert_stays(name, strlen(name));
    explode(name, sizeof name, 80);
    assert_stays(name, strlen(name));
    assert_true(as_demangled_bound(name, strlen(name)) == UINT64_MAX);
}

/* What lets demanglers go round for ever: something wrong in a name that depends on parameters, a parameter within the
 * very argument that it stands for; and nesting without end. */
static void endless_names(void **state) {
    (void)state;
    static const char *const endless[] = {"_Z1fIXsrCT_1bEEvv", "_Z1fIXsr1fIr0DE1hEE", "_Z1fIXsr1fIsr0DE1hEEvv",
                                          "_Z1fIXsr1fIT99999999999_E1hEEvv", "_Z1fIXsr1fIS9_DE1hEEvv"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) assert_stays(endless[i], strlen(endless[i]));
    assert_stays("_Z1fIPT_EvS0_", 13);
    assert_stays("_Z1gT_", 6);
    char deep[900] = "_Z1f";
    memset(deep + 4, 'P', sizeof deep - 5);
    deep[sizeof deep - 1] = 'i';
    assert_stays(deep, sizeof deep);
    for (size_t i = 4; i + 2 < sizeof deep; i += 3) memcpy(deep + i, "1aI", 3);
    assert_stays(deep, sizeof deep);
}

/* The beginnings of a name with some of everything: no end is read beyond. */
static void every_beginning(void **state) {
    (void)state;
    static const char name[] = "_ZZN3fooB5cxx113barIiJdSsEEEvRKT_DpT0_PFvS1_EM1AFivEA3_A_iDv4_fENKUlS2_E0_clILj4EXadL_"
                               "Z1gvEEXsr1BE1xEEEDTclfp_cvT_Li3EEES_";
    as_vec text;
    as_vec_init(&text, 1, NULL);
    for (size_t size = 0; size < sizeof name; size++) {
        char exact[sizeof name];
        memcpy(exact, name, size);
        as_demangle(exact, size, &text);
    }
    as_vec_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_functions), cmocka_unit_test(what_is_none),    cmocka_unit_test(exploding_names),
        cmocka_unit_test(endless_names),      cmocka_unit_test(every_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
