#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/map.h"
#include "core/number.h"
#include "core/quantile.h"
#include "core/random.h"
#include "core/strings.h"
#include "core/table.h"
#include "core/utf8.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static as_number parse(const char *text) {
    as_number number;
    if (!as_number_parse(text, strlen(text), &number)) fail_msg("\"%s\" was refused", text);
    return number;
}

static void integers_stay_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"20", 20},
        {"+7", 7},
        {"-7", -7},
        {"007", 7},
        {"9007199254740993", 9007199254740993}, /* 2^53 + 1: no double */
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_number number = parse(cases[i].text);
        assert_int_equal(number.kind, AS_INT);
        assert_true(number.i == cases[i].value);
    }
    as_number unsigned_max = parse("18446744073709551615"), above = parse("9223372036854775808");
    assert_int_equal(unsigned_max.kind, AS_UINT);
    assert_true(unsigned_max.u == UINT64_MAX);
    assert_int_equal(above.kind, AS_UINT);
    assert_true(above.u == (uint64_t)1 << 63);
}

static void what_no_integer_holds_is_real(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"18446744073709551616", 0x1p64},
        {"-9223372036854775809", -0x1p63},
        {"100000000000000000000", 1e20},
        {"1.0", 1},
        {"1e0", 1},
        {"2.5e3", 2500},
        {".5", 0.5},
        {"5.", 5},
        {"-.5E-1", -0.05},
        {"4.9406564584124654e-324", 0x1p-1074},               /* the smallest denormal */
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022}, /* the largest */
        {"1.7976931348623157e308", DBL_MAX},
        {"1e999999", INFINITY},
        {"-1e999999", -INFINITY},
        {"1e-999999", 0},
        {"1e99999999999999999999", INFINITY},
        {"1e-99999999999999999999", 0},
        {"0e99999999999999999999", 0},
        {"1e400", INFINITY},
        {"0.000000000000000000001e-400", 0},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
        {"INF", INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_number number = parse(cases[i].text);
        assert_int_equal(number.kind, AS_REAL);
        if (number.r != cases[i].value) fail_msg("%s became %g", cases[i].text, number.r);
    }
    assert_true(isnan(parse("NaN").r));
    as_number minus_zero = parse("-0");
    assert_int_equal(minus_zero.kind, AS_REAL);
    assert_true(minus_zero.r == 0 && signbit(minus_zero.r));
}

static void long_numbers_out_of_range(void **state) {
    (void)state;
    char text[2048];
    size_t n = 0;
    text[n++] = '0';
    text[n++] = '.';
    for (int i = 0; i < 1000; i++) text[n++] = '0';
    memcpy(text + n, "1e1001", 7); /* 0.[1000 zeros]1 * 10^1001 = 10^0 */
    assert_true(parse(text).r == 1.0);
    memcpy(text + n, "1e1400", 7); /* 10^399 */
    assert_true(parse(text).r == INFINITY);
    memcpy(text + n, "1e600", 6); /* 10^-401 */
    assert_true(parse(text).r == 0.0);
    memset(text, '9', 400);
    memcpy(text + 400, "e-800", 6); /* about 10^-400 */
    assert_true(parse(text).r == 0.0);
    text[400] = '\0';
    assert_true(parse(text).r == INFINITY);
}

static void no_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"",   "-",   "+",  ".",   "1_000",  " 1",    "1 ",  "0x10", "0b1",
                                        "1e", "1e+", "e5", "--1", "+-1",    "1.2.3", "1,5", "nano", "infinit",
                                        "na", "1f",  "1d", "\n",  "nan(1)", "1e5.5", "-.",  "0x",   "١"};
    as_number number;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (as_number_parse(texts[i], strlen(texts[i]), &number)) fail_msg("\"%s\" was taken for a number", texts[i]);
    }
    assert_false(as_number_parse("1\0", 2, &number));
    double real;
    assert_false(as_real_parse("x", 1, &real));
    assert_true(as_real_parse("18446744073709551615", 20, &real) && real == 0x1p64);
}

static void shortest_text(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{20, "20"},     {0.1, "0.1"},      {1e30, "1e+30"},       {NAN, "nan"},
                 {-NAN, "nan"},  {INFINITY, "inf"}, {-INFINITY, "-inf"},   {0, "0"},
                 {-0.0, "-0"},   {-2.5, "-2.5"},    {0x1p-1074, "5e-324"}, {1.0 / 3, "0.3333333333333333"},
                 {1e-7, "1e-07"}};
    char text[AS_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(as_real_format(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    assert_int_equal(as_int_format(INT64_MIN, text), 20);
    assert_string_equal(text, "-9223372036854775808");
    as_uint_format(UINT64_MAX, text);
    assert_string_equal(text, "18446744073709551615");
    as_number_format((as_number){.kind = AS_UINT, .u = (uint64_t)1 << 63}, text);
    assert_string_equal(text, "9223372036854775808");
}

static void text_without_an_exponent(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{20, "20"},
                 {7.994407304856566e-05, "0.00007994407304856566"},
                 {1e-7, "0.0000001"},
                 {-2.5e-10, "-0.00000000025"},
                 {1e22, "10000000000000000000000"},
                 {0.6865903347281989, "0.6865903347281989"}};
    char text[AS_PLAIN_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(as_real_format_plain(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    static const double extremes[] = {-2.2250738585072014e-308, 0x1p-1074, -1.7976931348623157e308};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        double back;
        size_t n = as_real_format_plain(extremes[i], text);
        assert_true(n < AS_PLAIN_NUMBER_SIZE - 1 && !strchr(text, 'e'));
        assert_true(as_real_parse(text, n, &back) && back == extremes[i]);
    }
}

static void every_double_comes_back(void **state) {
    (void)state;
    uint64_t bits = 0x9e3779b97f4a7c15u;
    char text[AS_NUMBER_SIZE];
    for (int i = 0; i < 200000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        uint64_t pattern = bits ^ bits >> 29;
        double value, back;
        memcpy(&value, &pattern, sizeof value);
        if (isnan(value)) continue;
        size_t n = as_real_format(value, text);
        assert_true(n < AS_NUMBER_SIZE);
        assert_true(as_real_parse(text, n, &back));
        if (memcmp(&value, &back, sizeof value) != 0) fail_msg("%a became %s became %a", value, text, back);
    }
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool set = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++) set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set) skip();
    char text[AS_NUMBER_SIZE];
    as_real_format(0.5, text);
    double value = parse("0.5").r;
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "0.5");
    assert_true(value == 0.5);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void budgets(void **state) {
    (void)state;
    as_budget budget = {.limit = 100};
    assert_true(as_budget_take(&budget, 60));
    assert_false(as_budget_take(&budget, 41));
    assert_int_equal(budget.used, 60);
    assert_false(as_budget_take(&budget, UINT64_MAX));
    assert_true(as_budget_take(&budget, 40));
    as_budget_give(&budget, 100);
    assert_int_equal(budget.used, 0);
    as_budget unlimited = {.limit = 0};
    assert_true(as_budget_take(&unlimited, (uint64_t)1 << 60));
    assert_true(as_budget_take(NULL, UINT64_MAX));
}

static void budgets_of_several_share_one(void **state) {
    (void)state;
    as_budget all = {.limit = 100}, a = {.limit = 80, .parent = &all}, b = {.limit = 80, .parent = &all};
    assert_true(as_budget_take(&a, 60));
    assert_true(as_budget_allows(&b, 40));
    assert_false(as_budget_allows(&b, 41));
    assert_false(as_budget_take(&b, 41));
    assert_int_equal(b.used, 0);
    assert_int_equal(all.used, 60);
    assert_true(as_budget_take(&b, 40));
    assert_false(as_budget_take(&a, 1));
    as_budget_give(&b, 40);
    assert_false(as_budget_allows(&a, 21)); /* its own limit */
    assert_true(as_budget_take(&a, 20));
    as_budget_give(&a, 80);
    assert_int_equal(all.used, 0);
}

static void arenas(void **state) {
    (void)state;
    as_budget budget = {.limit = 1 << 20};
    as_arena arena;
    as_arena_init(&arena, &budget);
    char *previous = NULL;
    for (size_t size = 0; size < 300; size++) {
        char *p = as_arena_alloc(&arena, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
        memset(p, 0xaa, size);
        assert_ptr_not_equal(p, previous);
        previous = p;
    }
    char *large = as_arena_alloc(&arena, 300000), *text = as_arena_copy(&arena, "abc\0d", 5);
    assert_non_null(large);
    memset(large, 1, 300000);
    assert_memory_equal(text, "abc\0d", 6);
    uint64_t used = budget.used;
    assert_null(as_arena_alloc(&arena, 1 << 20)); /* the limit */
    assert_int_equal(budget.used, used);
    assert_null(as_arena_alloc(&arena, SIZE_MAX));
    assert_null(as_arena_alloc(&arena, SIZE_MAX - 20));
    assert_null(as_arena_array(&arena, SIZE_MAX / 2, 3));
    assert_null(as_arena_copy(&arena, "", SIZE_MAX));
    as_arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void vectors(void **state) {
    (void)state;
    as_budget budget = {.limit = 1 << 16};
    as_vec vec;
    as_vec_init(&vec, sizeof(int), &budget);
    for (int i = 0; i < 1000; i++) {
        int *p = as_vec_push(&vec);
        assert_int_equal(*p, 0);
        *p = i;
    }
    assert_true(as_vec_append(&vec, (int[]){7, 8}, 2));
    assert_true(as_vec_append(&vec, NULL, 0));
    assert_int_equal(vec.count, 1002);
    for (int i = 0; i < 1000; i++) assert_int_equal(AS_AT(int, &vec, i), i);
    assert_int_equal(AS_AT(int, &vec, 1001), 8);
    assert_int_equal(budget.used, vec.capacity * sizeof(int));
    as_vec_shrink(&vec);
    assert_int_equal(budget.used, 1002 * sizeof(int));
    assert_false(as_vec_reserve(&vec, 1 << 14)); /* 64 KiB and what is there */
    assert_false(as_vec_reserve(&vec, SIZE_MAX));
    assert_false(as_vec_reserve(&vec, SIZE_MAX / sizeof(int)));
    assert_int_equal(vec.count, 1002);
    assert_true(as_vec_reserve(&vec, (1 << 14) - 1002)); /* exactly the limit */
    as_vec_free(&vec);
    assert_int_equal(budget.used, 0);
}

static void vectors_that_are_expected_to_grow(void **state) {
    (void)state;
    enum { MANY = 3000001 };
    as_budget budget = {.limit = 100000000};
    as_vec vec;
    as_vec_init(&vec, 12, &budget);
    assert_true(as_vec_append(&vec, "first......", 1));
    as_vec_expect(&vec, 100); /* few */
    assert_int_equal(vec.capacity, 100);
    as_vec_expect(&vec, MANY);
    assert_true(vec.capacity >= MANY);
    assert_int_equal(budget.used, vec.capacity * 12);
    assert_string_equal(vec.data, "first......");
    const void *data = vec.data;
    for (int i = 1; i < MANY; i++) assert_non_null(as_vec_push(&vec));
    assert_ptr_equal(vec.data, data);
    as_vec_expect(&vec, 10); /* there is more already */
    as_vec_expect(&vec, SIZE_MAX / 12);
    as_vec_expect(&vec, SIZE_MAX);
    as_vec_expect(&vec, 6000000); /* too much of what is left */
    assert_ptr_equal(vec.data, data);
    assert_int_equal(vec.count, MANY);
    as_vec_shrink(&vec);
    assert_int_equal(budget.used, MANY * 12);
    assert_string_equal(vec.data, "first......");
    as_vec_free(&vec);
    assert_int_equal(budget.used, 0);
}

static void checked_arithmetic(void **state) {
    (void)state;
    size_t result;
    assert_true(as_add_size(SIZE_MAX - 1, 1, &result) && result == SIZE_MAX);
    assert_false(as_add_size(SIZE_MAX, 1, &result));
    assert_true(as_mul_size(SIZE_MAX / 2, 2, &result) && result == SIZE_MAX - 1);
    assert_false(as_mul_size(SIZE_MAX / 2 + 1, 2, &result));
}

/* ---- strings, maps ----------------------------------------------------------------------------------------------- */

static void interned_strings(void **state) {
    (void)state;
    as_budget budget = {.limit = 0};
    as_arena arena;
    as_strings strings;
    as_arena_init(&arena, &budget);
    as_strings_init(&strings, &arena);
    assert_int_equal(as_find(&strings, "a", 1), AS_NO_STR);
    char text[16];
    for (int round = 0; round < 2; round++) {
        for (as_str i = 0; i < 1000; i++) {
            int n = snprintf(text, sizeof text, "name%u", i);
            assert_int_equal(as_intern(&strings, text, (size_t)n), i); /* dense, and the same the second time */
        }
    }
    assert_string_equal(as_str_text(&strings, 500), "name500");
    assert_int_equal(as_find(&strings, "name999", 7), 999);
    assert_int_equal(as_find(&strings, "name1000", 8), AS_NO_STR);
    as_str empty = as_intern(&strings, "", 0), with_nul = as_intern(&strings, "a\0b", 3),
           shorter = as_intern(&strings, "a", 1);
    assert_true(empty != with_nul && with_nul != shorter && empty != AS_NO_STR);
    assert_int_equal(as_str_size(&strings, with_nul), 3);
    assert_int_equal(as_str_size(&strings, empty), 0);
    assert_string_equal(as_str_text(&strings, empty), "");
    assert_null(as_str_text(&strings, AS_NO_STR));
    assert_int_equal(as_str_size(&strings, AS_NO_STR), 0);
    as_strings_free(&strings);
    as_arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void strings_within_a_budget(void **state) {
    (void)state;
    as_budget budget = {.limit = 20000};
    as_arena arena;
    as_strings strings;
    as_arena_init(&arena, &budget);
    as_strings_init(&strings, &arena);
    char text[16];
    as_str last = 0, i = 0;
    for (; i < 100000 && last != AS_NO_STR; i++)
        last = as_intern(&strings, text, (size_t)snprintf(text, sizeof text, "%u", i));
    assert_int_equal(last, AS_NO_STR);
    assert_true(i > 10 && i < 2000 && budget.used <= budget.limit);
    assert_int_equal(as_intern(&strings, "5", 1), 5); /* known ones need no memory */
    as_strings_free(&strings);
    as_arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void maps(void **state) {
    (void)state;
    as_budget budget = {.limit = 1 << 20};
    as_map map;
    as_map_init(&map, &budget);
    assert_int_equal(as_map_get(&map, 0), AS_MAP_NONE);
    for (uint32_t i = 0; i < 5000; i++) assert_true(as_map_put(&map, as_pair(i % 70, i / 70), i));
    for (uint32_t i = 0; i < 5000; i++) assert_int_equal(as_map_get(&map, as_pair(i % 70, i / 70)), i);
    assert_int_equal(as_map_get(&map, as_pair(70, 0)), AS_MAP_NONE);
    assert_int_equal(map.count, 5000);
    assert_true(as_map_put(&map, 0, 77) && as_map_get(&map, 0) == 77);
    assert_true(as_map_put(&map, UINT64_MAX, AS_MAP_NONE - 1) && as_map_get(&map, UINT64_MAX) == AS_MAP_NONE - 1);
    assert_int_equal(map.count, 5001);
    bool full = false;
    for (uint64_t i = 0; i < 100000 && !full; i++) full = !as_map_put(&map, i << 40, 1);
    assert_true(full);
    assert_int_equal(as_map_get(&map, as_pair(1, 1)), 71); /* still whole */
    as_map_free(&map);
    assert_int_equal(budget.used, 0);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void tables(void **state) {
    (void)state;
    as_budget budget = {.limit = 0};
    as_table *table = as_table_new((as_column[]){{"name"}, {"value"}}, 2, &budget);
    char text[] = "volatile";
    assert_true(as_table_append(table, (as_cell[]){as_cell_text(text), as_cell_uint(UINT64_MAX)}));
    text[0] = 'X';
    assert_true(as_table_append(
        table, (as_cell[]){as_cell_json_n("[1]x", 3), as_cell_number((as_number){.kind = AS_REAL, .r = 0.5})}));
    assert_int_equal(as_table_rows(table), 2);
    assert_int_equal(as_table_columns(table), 2);
    assert_int_equal(as_table_find_column(table, "value"), 1);
    assert_int_equal(as_table_find_column(table, "none"), SIZE_MAX);
    assert_string_equal(as_table_get(table, 0, 0).text, "volatile");
    assert_int_equal(as_table_get(table, 0, 1).type, AS_CELL_UINT);
    assert_string_equal(as_table_get(table, 1, 0).text, "[1]");
    assert_int_equal(as_table_get(table, 1, 0).type, AS_CELL_JSON);
    assert_true(as_table_get(table, 1, 1).r == 0.5);
    assert_int_equal(as_table_add_column(table, "late"), 2);
    assert_string_equal(as_table_column_name(table, 2), "late");
    assert_int_equal(as_table_get(table, 1, 2).type, AS_CELL_NULL);
    assert_true(as_table_add_row(table));
    assert_int_equal(as_table_get(table, 2, 0).type, AS_CELL_NULL);
    assert_true(as_table_set(table, 2, 2, as_cell_int(-1)));
    assert_int_equal(as_table_get(table, 2, 2).i, -1);
    assert_int_equal(as_cell_text(NULL).type, AS_CELL_NULL);
    assert_int_equal(as_cell_uint(7).type, AS_CELL_INT);
    as_table_clear(table);
    assert_int_equal(as_table_rows(table), 0);
    assert_true(as_table_add_row(table));
    assert_int_equal(as_table_get(table, 0, 2).type, AS_CELL_NULL);
    as_table_free(table);
    assert_int_equal(budget.used, 0);
}

static void tables_within_a_budget(void **state) {
    (void)state;
    as_budget budget = {.limit = 100000};
    as_table *table = as_table_new((as_column[]){{"a"}, {"b"}}, 2, &budget);
    size_t rows = 0;
    while (rows < 100000 && as_table_append(table, (as_cell[]){as_cell_text("some text of a row"), as_cell_int(1)}))
        rows++;
    assert_true(rows > 100 && rows < 10000);
    assert_int_equal(as_table_get(table, rows - 1, 1).i, 1);
    as_table_free(table);
    assert_int_equal(budget.used, 0);
    as_budget tiny = {.limit = 16};
    assert_null(as_table_new((as_column[]){{"a"}}, 1, &tiny));
    assert_int_equal(tiny.used, 0);
}

/* ---- errors, UTF-8 ----------------------------------------------------------------------------------------------- */

static void errors_are_one_line(void **state) {
    (void)state;
    assay_error error;
    char text[4096];
    const char *hostile = "x\r\ny\x1b[31m\xc2\x85\xff\xc3\xa4";
    assert_int_equal(as_fail(&error, ASSAY_E_FORMAT, as_place_line("a\nb", 3, 7), "some-rule", "bad \"%s\"", hostile),
                     ASSAY_E_FORMAT);
    assert_string_equal(error.message, "bad \"x??y?[31m???\xc3\xa4\""); /* the C1 control takes two bytes, 0xff one */
    assert_string_equal(error.path, "a?b");
    assert_string_equal(error.rule, "some-rule");
    assert_string_equal(assay_error_text(&error, text, sizeof text), "a?b:3:7: bad \"x??y?[31m???\xc3\xa4\"");
    as_fail(&error, ASSAY_E_FORMAT, as_place_line("f", 3, 0), "", "m");
    assert_string_equal(assay_error_text(&error, text, sizeof text), "f:3: m");
    as_fail(&error, ASSAY_E_FORMAT, as_place_offset("f", 0), "", "m");
    assert_string_equal(assay_error_text(&error, text, sizeof text), "f: byte 0: m");
    as_fail(&error, ASSAY_E_USAGE, AS_NOWHERE, "", "m");
    assert_string_equal(assay_error_text(&error, text, sizeof text), "m");
    assert_int_equal(as_fail(NULL, ASSAY_E_IO, AS_NOWHERE, "", "m"), ASSAY_E_IO);
    assert_int_equal(as_fail_errno(&error, "f", "cannot open", 2), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot open: No such file or directory");
    assert_int_equal(as_fail_memory(&error, "f"), ASSAY_E_NOMEM);
}

static void errors_are_bounded(void **state) {
    (void)state;
    assay_error error;
    char longer[3000];
    memset(longer, 'a', sizeof longer);
    memcpy(longer + sizeof longer - 5, "/end", 5);
    as_fail(&error, ASSAY_E_FORMAT, as_place_file(longer),
            "a-rule-with-a-name-so-long-that-nobody-would-ever-choose-it", "%s", longer);
    assert_int_equal(strlen(error.path), sizeof error.path - 1);
    assert_string_equal(error.path + strlen(error.path) - 4, "/end");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(strlen(error.rule), sizeof error.rule - 1);
    for (size_t i = 0; i + 2 < sizeof longer; i += 2) memcpy(longer + i, "\xc3\xa4", 3);
    as_fail(&error, ASSAY_E_FORMAT, AS_NOWHERE, "", "%s", longer); /* cut in the middle of a character */
    assert_string_equal(error.message + sizeof error.message - 4, "\xc3\xa4?");
}

static void utf8(void **state) {
    (void)state;
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2\x41",
                                      "\xe0\x9f\xbf",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf0\x90\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xfe"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(as_utf8_length(good[i], strlen(good[i])), strlen(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(as_utf8_length(bad[i], strlen(bad[i])), 0);
    assert_int_equal(as_utf8_length("", 0), 0);
    static const uint32_t codes[] = {'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char text[5] = "";
        assert_int_equal(as_utf8_put(text, codes[i]), strlen(good[i]));
        assert_string_equal(text, good[i]);
    }
}

/* ---- quantiles, chance ------------------------------------------------------------------------------------------- */

static void quantiles(void **state) {
    (void)state;
    static const double odd[] = {1, 2, 4}, even[] = {1, 2, 4, 8}, one[] = {7}, large[] = {DBL_MAX, DBL_MAX},
                        small[] = {5e-324, 5e-324}, infinite[] = {1, INFINITY, INFINITY};
    assert_true(as_median(odd, 3) == 2 && as_median(even, 4) == 3 && as_median(one, 1) == 7);
    assert_true(as_median(large, 2) == DBL_MAX && as_median(small, 2) == 5e-324);
    /* numpy.quantile([1, 2, 4, 8], [0, 0.25, 0.5, 0.75, 1]) */
    static const double expected[] = {1, 1.75, 3, 5, 8};
    for (int i = 0; i <= 4; i++) assert_true(as_quantile(even, 4, i / 4.0) == expected[i]);
    assert_true(as_quantile(one, 1, 0.3) == 7);
    assert_true(as_quantile(infinite, 3, 0.75) == INFINITY);
}

static void chance(void **state) {
    (void)state;
    uint64_t random = 0; /* what Vigna's splitmix64.c gives for this seed */
    assert_true(as_random_bits(&random) == 0xe220a8397b1dcdafu);
    assert_true(as_random_bits(&random) == 0x6e789e6aa1b965f4u);
    enum { N = 60000 };
    unsigned counts[6] = {0};
    double sum = 0, squares = 0, parts = 0;
    for (int i = 0; i < N; i++) {
        double value = as_random_normal(&random), part = as_random_part(&random);
        assert_true(part > 0 && part < 1);
        counts[as_random_below(&random, 6)]++;
        sum += value;
        squares += value * value;
        parts += part;
    }
    /* five standard deviations */
    assert_true(fabs(sum) < 5 * sqrt(N) && fabs(squares - N) < 5 * sqrt(2.0 * N));
    assert_true(fabs(parts - N / 2.0) < 5 * sqrt(N / 12.0));
    for (int i = 0; i < 6; i++) assert_true(fabs(counts[i] - N / 6.0) < 5 * sqrt(N * 5 / 36.0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_stay_integers),
        cmocka_unit_test(what_no_integer_holds_is_real),
        cmocka_unit_test(long_numbers_out_of_range),
        cmocka_unit_test(no_numbers),
        cmocka_unit_test(shortest_text),
        cmocka_unit_test(text_without_an_exponent),
        cmocka_unit_test(every_double_comes_back),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(budgets),
        cmocka_unit_test(budgets_of_several_share_one),
        cmocka_unit_test(arenas),
        cmocka_unit_test(vectors),
        cmocka_unit_test(vectors_that_are_expected_to_grow),
        cmocka_unit_test(checked_arithmetic),
        cmocka_unit_test(interned_strings),
        cmocka_unit_test(strings_within_a_budget),
        cmocka_unit_test(maps),
        cmocka_unit_test(tables),
        cmocka_unit_test(tables_within_a_budget),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(chance),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(errors_are_bounded),
        cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
