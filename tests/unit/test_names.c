/* Names made shorter: what goes first, and that characters stay whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/utf8.h"
#include "render/display.h"
#include "render/names.h"

static void check_with(const char *ellipsis, const char *name, size_t width, const char *expected) {
    as_text text;
    as_text_init(&text);
    as_text_add(&text, "> "); /* what is there stays */
    as_name_shorten(&text, name, strlen(name), width, ellipsis);
    as_text_char(&text, '\0');
    assert_false(text.failed);
    assert_memory_equal(as_text_data(&text), "> ", 2);
    assert_string_equal(as_text_data(&text) + 2, expected);
    as_text_free(&text);
}

static void check(const char *name, size_t width, const char *expected) { check_with("…", name, width, expected); }

static void check_place(const char *name, const char *file, int64_t line, const char *expected) {
    as_text text;
    as_text_init(&text);
    as_name_of_place(&text, name, file, line);
    as_text_char(&text, '\0');
    assert_string_equal(as_text_data(&text), expected);
    as_text_free(&text);
}

static void places_without_folders(void **state) {
    (void)state;
    check_place("loop at ./src/heat.c:36", "./src/heat.c", 36, "loop at heat.c:36");
    check_place("line /a/b/heat.c:36-40", "/a/b/heat.c", 36, "line heat.c:36-40");
    check_place("line heat.c:36", "heat.c", 36, "line heat.c:36");
    check_place("call <unknown file> [libm.so]:0", "<unknown file> [libm.so]", 0, "call <unknown file> [libm.so]");
    check_place("line src/heat.c:0", "src/heat.c", -1, "line heat.c");
    check_place("line heat.c:10", "heat.c", 10, "line heat.c:10");
    check_place("solve", "src/heat.c", 12, "solve");
    check_place("solve", NULL, -1, "solve");
    check_place("line src/:1", "src/", 1, "line src/:1");
    check_place("", "src/heat.c", 1, "");
}

/* Taking a name of a megabyte apart, step by step, would take hours. */
static void huge_names_lose_their_middle(void **state) {
    (void)state;
    size_t size = 1 << 20;
    char *name = malloc(size + 1);
    assert_non_null(name);
    for (size_t i = 0; i < size; i++) name[i] = "a::"[i % 3];
    name[size] = '\0';
    memcpy(name + size - 4, "last", 4);
    check(name, 12, "a::a::…:last");
    for (size_t i = 0; i < size; i++) name[i] = "ä"[i % 2];
    check(name, 5, "ää…ää");
    name[0] = 'x'; /* all of one character is torn, and shown as what it is */
    as_text text;
    as_text_init(&text);
    as_name_shorten(&text, name, size, 7, "…");
    assert_true(as_display_width(as_text_data(&text), as_text_size(&text)) <= 7);
    as_text_free(&text);
    free(name);
}

static void what_fits_stays(void **state) {
    (void)state;
    check("main", 4, "main");
    check("main", 0, "main");
    check("", 5, "");
    check("std::vector<int>::push_back(int const&)", 39, "std::vector<int>::push_back(int const&)");
    check("std::vector<int>::push_back(int const&)", 0, "std::vector<int>::push_back(int const&)");
}

static void parameters_go_first(void **state) {
    (void)state;
    const char *name = "std::vector<int, std::allocator<int> >::push_back(int const&)";
    check(name, 60, "std::vector<int, std::allocator<int> >::push_back(…)");
    check(name, 51, "std::vector<…>::push_back(…)");
    check(name, 28, "std::vector<…>::push_back(…)");
    check(name, 27, "…::vector<…>::push_back(…)");
    check(name, 25, "…::push_back(…)");
    check("solve(double*, int) const", 20, "solve(…) const");
    check("f()", 2, "f…"); /* nothing in it to leave out */
}

static void the_longest_arguments_go_next(void **state) {
    (void)state;
    const char *name = "A<int>::B<std::map<std::string, std::vector<double> > >::run<long>()";
    check(name, 40, "A<int>::B<…>::run<long>()");
    check(name, 24, "A<int>::B<…>::run<…>()");
}

static void return_types_and_namespaces_go_then(void **state) {
    (void)state;
    const char *name = "void Kokkos::Impl::ParallelFor<Functor, Policy>::execute<Tag>() const [clone .omp_fn.0]";
    check(name, 80, "void Kokkos::Impl::ParallelFor<Functor, Policy>::execute<Tag>() const");
    check(name, 60, "void Kokkos::Impl::ParallelFor<…>::execute<Tag>() const");
    check(name, 50, "Kokkos::Impl::ParallelFor<…>::execute<…>() const");
    check(name, 40, "…::ParallelFor<…>::execute<…>() const");
    check(name, 22, "…::execute<…>() const");
    check("main [with T = int]", 10, "main");
}

static void operators_have_no_brackets(void **state) {
    (void)state;
    check("Matrix::operator()(unsigned long, unsigned long) const", 30, "Matrix::operator()(…) const");
    check("std::ostream& operator<< <char>(std::ostream&, char const*)", 40, "std::ostream& operator<< <char>(…)");
    check("bool operator<(Point const&, Point const&)", 20, "bool operator<(…)");
    check("bool operator<(Point const&, Point const&)", 13, "operator<(…)");
    check("Pointer::operator->(Deep<Long<Thing>> const&) const", 30, "Pointer::operator->(…) const");
    check("operator new(unsigned long, std::nothrow_t const&)", 20, "operator new(…)");
    check("my_operator<long_argument>::f", 18, "my_operator<…>::f");
}

static void odd_names(void **state) {
    (void)state;
    check("(anonymous namespace)::Solver::iterate(int, int)", 41, "(anonymous namespace)::Solver::iterate(…)");
    check("(anonymous namespace)::Solver::iterate(int, int)", 40, "…::Solver::iterate(…)");
    const char *lambda = "f(std::function<void (int)>)::{lambda(int)#1}::operator()(int) const";
    check(lambda, 66, "f(std::function<void (int)>)::{lambda(int)#1}::operator()(…) const");
    check(lambda, 50, "…::{lambda(int)#1}::operator()(…) const");
    check("!$omp parallel @exch_qbc.f:255", 20, "!$omp para…qbc.f:255");
    check("a<b", 2, "a…");
    check("a)b>c", 3, "a…c");
    check("<unknown procedure>", 12, "<unkno…dure>");
}

static void characters_stay_whole(void **state) {
    (void)state;
    check("grünkohl_und_pinkel", 9, "grün…nkel");
    check("日本語の関数名", 9, "日本…数名");
    check("日本語の関数名", 8, "日本…名");
    static const char name[] = "übergroße::日本語<ßßßß, €€€>::f(äöü, 語) [clone ☃]";
    for (size_t width = 1; width < 60; width++) {
        as_text text;
        as_text_init(&text);
        as_name_shorten(&text, name, strlen(name), width, "…");
        assert_true(as_display_width(as_text_data(&text), as_text_size(&text)) <= width);
        assert_null(as_utf8_invalid(as_text_data(&text), as_text_size(&text)));
        assert_true(as_text_size(&text) > 0);
        as_text_free(&text);
    }
}

static void ascii_has_dots(void **state) {
    (void)state;
    check_with("...", "std::vector<int, std::allocator<int> >::push_back(int const&)", 35,
               "std::vector<...>::push_back(...)");
    check_with("...", "abcdefghijklmnop", 10, "abcd...nop");
    check_with("...", "abcdefghijklmnop", 3, "abc");
    check_with("...", "abcdefghijklmnop", 2, "ab");
}

/* Every cut of an awkward name, at every width: no read outside, never too wide. */
static void any_text_fits(void **state) {
    (void)state;
    static const char name[] = "operator<<A<(b[c]{d}->operator()>::operator-><e>)::~f operator new[](g) [h";
    for (size_t size = 0; size <= strlen(name); size++) {
        char *exact = malloc(size ? size : 1);
        memcpy(exact, name, size);
        for (size_t width = 1; width < 40; width++) {
            as_text text;
            as_text_init(&text);
            as_name_shorten(&text, exact, size, width, "…");
            assert_true(as_display_width(as_text_data(&text), as_text_size(&text)) <= width);
            as_text_free(&text);
        }
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_without_folders),
        cmocka_unit_test(huge_names_lose_their_middle),
        cmocka_unit_test(what_fits_stays),
        cmocka_unit_test(parameters_go_first),
        cmocka_unit_test(the_longest_arguments_go_next),
        cmocka_unit_test(return_types_and_namespaces_go_then),
        cmocka_unit_test(operators_have_no_brackets),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(characters_stay_whole),
        cmocka_unit_test(ascii_has_dots),
        cmocka_unit_test(any_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
