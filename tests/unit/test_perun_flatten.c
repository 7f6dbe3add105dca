/* Flattening of Perun's values. What is expected was worked out by the rules of Perun (parts before the whole, ranks of
 * keys, Python's str()). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/perun/perun.h"
#include "formats/perun/rank.h"

typedef struct shown {
    char text[4096];
    size_t size, calls, most;
} shown;

/* "key=text|", "key=#number|", "key=null|" */
static bool show(void *user, const char *key, size_t key_size, as_cell value) {
    shown *s = user;
    char number[AS_NUMBER_SIZE] = "null";
    if (value.type == AS_CELL_INT) as_int_format(value.i, number);
    if (value.type == AS_CELL_UINT) as_uint_format(value.u, number);
    if (value.type == AS_CELL_REAL) as_real_format_python(value.r, number);
    bool is_text = value.type == AS_CELL_TEXT;
    int n = snprintf(s->text + s->size, sizeof s->text - s->size, "%.*s=%s%.*s|", (int)key_size, key,
                     is_text || value.type == AS_CELL_NULL ? "" : "#", is_text ? (int)value.size : 99,
                     is_text ? value.text : number);
    s->size += (size_t)n;
    return s->size < sizeof s->text && ++s->calls != s->most;
}

/* A copy of exactly the text's size, so that the sanitizer sees every step beyond its end. */
static bool flatten(as_flattener *flattener, const char *text, size_t size, shown *out, assay_error *error) {
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    as_json json;
    as_json_init(&json, "file", copy, size, (as_json_options){.nan_literals = true}, NULL);
    as_json_next(&json);
    *out = (shown){.most = out->most};
    bool fine = as_flatten(flattener, &json, "x", 1, show, out);
    if (fine) assert_int_equal(as_json_next(&json), AS_JSON_END);
    if (!fine && json.type == AS_JSON_ERROR) as_json_fail(&json, error);
    as_json_free(&json);
    free(copy);
    return fine;
}

static const struct {
    const char *json, *expected;
} VALUES[] = {
    {"\"main\"", "x=main|"},
    {"\"a\\u00e9\\n\"", "x=a\xc3\xa9\n|"},
    {"12", "x=#12|"},
    {"-0", "x=#0|"},
    {"-0.0", "x=#-0.0|"},
    {"18446744073709551615", "x=#18446744073709551615|"},
    {"18446744073709551616", "x=18446744073709551616|"},
    {"-9223372036854775809", "x=-9223372036854775809|"},
    {"1.5", "x=#1.5|"},
    {"null", "x=null|"},
    {"true", "x=#1|"},
    {"false", "x=#0|"},
    {"{}", "x=|"},
    {"[]", "x=|"},
    {"[[]]", "x=|"},
    {"[{}, {}]", "x=,|"},
    {"[{}]", "x=|"},
    /* ranks: source 1, function 4, line 5, whatever the order */
    {"{\"source\":\"a.c\",\"function\":\"main\",\"line\":22}",
     "x:source=a.c|x:function=main|x:line=#22|x=a.c:main:22|"},
    {"{\"line\":22,\"function\":\"main\",\"source\":\"a.c\"}",
     "x:line=#22|x:function=main|x:source=a.c|x=a.c:main:22|"},
    {"{\"zz\":1,\"instruction\":2,\"bin\":3,\"module\":4,\"class\":5,\"package\":6}",
     "x:zz=#1|x:instruction=#2|x:bin=#3|x:module=#4|x:class=#5|x:package=#6|x=3:6:4:5:2:1|"},
    /* a: 103, ab: 103104, column: 105117114123115116; Z: 96 */
    {"{\"column\":1,\"ab\":2,\"b\":3,\"a\":4,\"Z\":5}", "x:column=#1|x:ab=#2|x:b=#3|x:a=#4|x:Z=#5|x=5:4:3:2:1|"},
    /* equal ranks keep their order */
    {"{\"func\":1,\"function\":2,\"method\":3}", "x:func=#1|x:function=#2|x:method=#3|x=1:2:3|"},
    {"{\"a\":{\"b\":1,\"c\":2},\"line\":3}", "x:a:b=#1|x:a:c=#2|x:a=1:2|x:line=#3|x=3:1:2:1:2|"},
    /* inner keys are ranked as they are: "line:line" is none of the known ones */
    {"{\"line\":{\"line\":1},\"a\":2}", "x:line:line=#1|x:line=1|x:a=#2|x=1:2:1|"},
    {"{\"a\":null,\"b\":true,\"c\":false,\"d\":1.0,\"e\":1e22,\"f\":-0,\"g\":1E400}",
     "x:a=null|x:b=#1|x:c=#0|x:d=#1.0|x:e=#1e+22|x:f=#0|x:g=#inf|x=None:True:False:1.0:1e+22:0:inf|"},
    {"[1, 2.5, \"a\", null, true, NaN, -Infinity]", "x=1,2.5,a,None,True,nan,-inf|"},
    {"[[1,2],[3]]", "x=1,2,3|"},
    {"[1,[[2],{\"a\":3,\"line\":4}],5]", "x=1,2,3:4,5|"},
    {"[{\"function\":\"malloc\",\"source\":\"u\",\"line\":0},{\"function\":\"main\",\"source\":\"a.c\",\"line\":22}]",
     "x=malloc:u:0,main:a.c:22|"},
    /* inside of a list an object with a name is ranked, and has parts and whole */
    {"[{\"k\":{\"line\":2,\"file\":1},\"z\":9}]", "x=2:1:1:2:9|"},
    {"[{\"name\":\"b0\",\"value\":1.5},{\"value\":2,\"name\":\"b1\"}]", "x:b0=#1.5|x:b1=#2|x=1.5:2|"},
    {"[{\"name\":\"b1\",\"value\":1},{\"name\":\"b0\",\"value\":{\"a\":2}},{\"name\":\"b1\",\"value\":3}]",
     "x:b1=#3|x:b0:a=#2|x:b0=2|x=2:3:2|"},
    {"[{\"name\":\"b0\",\"value\":1},{\"name\":\"b1\"}]", "x=b0:1,b1|"},
    {"[{\"name\":\"b0\",\"value\":1},{\"name\":\"b1\",\"value\":2,\"unit\":\"s\"}]", "x=b0:1,b1:2:s|"},
    {"[{\"name\":1,\"value\":2}]", "x=1:2|"},
    {"[[{\"name\":\"b1\",\"value\":1},{\"name\":\"b0\",\"value\":2}],7]", "x=1:2,7|"},
    {"{\"c\":[{\"name\":\"b0\",\"value\":1}]}", "x:c:b0=#1|x:c=1|x=1:1|"},
    /* the last of equal keys counts, in the first one's place */
    {"{\"a\":1,\"b\":2,\"a\":3}", "x:a=#3|x:b=#2|x=3:2|"},
    {"{\"a\":1,\"\\u0061\":[4],\"a\":{\"b\":5}}", "x:a:b=#5|x:a=5|x=5:5|"},
    {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,\"k\":11,\"l\":12,\"m\":13,"
     "\"n\":"
     "14,\"o\":15,\"p\":16,\"a\":17,\"q\":18,\"a\":19}",
     "x:a=#19|x:b=#2|x:c=#3|x:d=#4|x:e=#5|x:f=#6|x:g=#7|x:h=#8|x:i=#9|x:j=#10|x:k=#11|x:l=#12|x:m=#13|x:n=#14|x:o=#15|"
     "x:p=#16|x:q=#18|x=19:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:18|"},
    {"{\"a\":123456789012345678901234567890,\"b\":0.0001,\"c\":1e-05,\"d\":5e-324,\"e\":1e16,\"f\":123456789.125}",
     "x:a=123456789012345678901234567890|x:b=#0.0001|x:c=#1e-05|x:d=#5e-324|x:e=#1e+16|x:f=#123456789.125|"
     "x=123456789012345678901234567890:0.0001:1e-05:5e-324:1e+16:123456789.125|"},
};

static void values_become_perun_s_keys(void **state) {
    (void)state;
    as_flattener *flattener = as_flattener_new(NULL);
    shown out = {0};
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        assert_true(flatten(flattener, VALUES[i].json, strlen(VALUES[i].json), &out, NULL));
        assert_string_equal(out.text, VALUES[i].expected);
    }
    as_flattener_free(flattener);
}

static bool keep_last(void *user, const char *key, size_t key_size, as_cell value) {
    shown *s = user;
    (void)key;
    s->calls++;
    if (key_size == 1) memcpy(s->text, value.text, value.size);
    return true;
}

static void keys_beyond_ascii_are_ranked_by_their_characters(void **state) {
    (void)state;
    /* the ranks: 239, 103, 6, 0 and 0, U+1F600 128512 + 6 */
    static const char TEXT[] =
        "{\"\\ud83d\\ude00\":0,\"\xc3\xa9\":1,\"a\":2,\"\\u0000\":3,\"\":4,\"bin\":5,\"line\":6}";
    as_json json;
    as_json_init(&json, "file", TEXT, sizeof TEXT - 1, (as_json_options){0}, NULL);
    as_json_next(&json);
    as_flattener *flattener = as_flattener_new(NULL);
    shown out = {0};
    assert_true(as_flatten(flattener, &json, "x", 1, keep_last, &out));
    assert_int_equal(out.calls, 8);
    assert_string_equal(out.text, "4:5:6:3:2:1:0");
    as_flattener_free(flattener);
    as_json_free(&json);
}

static void ranks_are_numbers_of_any_length(void **state) {
    (void)state;
    /* ascending: 5, 6 (line, then the character 0), 103, 239, 103104, 1000103, 105117114123115116 */
    static const struct {
        const char *key;
        size_t size;
    } KEYS[] = {{"line", 4},
                {"\0", 1},
                {"a", 1},
                {"\xc3\xa9", 2},
                {"ab", 2},
                {"\xcf\xa2"
                 "a",
                 3},
                {"column", 6}};
    enum { N = sizeof KEYS / sizeof *KEYS };
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            as_rank a = as_rank_of(KEYS[i].key, KEYS[i].size), b = as_rank_of(KEYS[j].key, KEYS[j].size);
            assert_int_equal(as_rank_compare(&a, &b), (i > j) - (i < j));
        }
    }
    /* U+0004 and U+0000: 10, 6; together 106, as U+0064 "d": 106 */
    as_rank pair = as_rank_of("\4\0", 2), one = as_rank_of("d", 1);
    assert_int_equal(pair.digits, 3);
    assert_int_equal(as_rank_compare(&pair, &one), 0);
}

static void a_visitor_can_stop(void **state) {
    (void)state;
    as_flattener *flattener = as_flattener_new(NULL);
    shown out = {.most = 2};
    const char *text = "{\"a\":1,\"b\":2,\"c\":3}";
    assert_false(flatten(flattener, text, strlen(text), &out, NULL));
    assert_string_equal(out.text, "x:a=#1|x:b=#2|");
    out.most = 0;
    assert_true(flatten(flattener, "[7]", 3, &out, NULL)); /* and is used again */
    assert_string_equal(out.text, "x=7|");
    as_flattener_free(flattener);
}

static void cut_values_are_errors(void **state) {
    (void)state;
    as_flattener *flattener = as_flattener_new(NULL);
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        size_t size = strlen(VALUES[i].json);
        if (VALUES[i].json[0] != '{' && VALUES[i].json[0] != '[') continue;
        for (size_t cut = 1; cut < size; cut++) {
            shown out = {0};
            assay_error error = {0};
            assert_false(flatten(flattener, VALUES[i].json, cut, &out, &error));
            assert_int_equal(error.code, ASSAY_E_FORMAT);
        }
    }
    as_flattener_free(flattener);
}

/* Nesting of n objects or lists in each other. */
static char *nested(const char *open, const char *close, size_t n) {
    size_t size = n * (strlen(open) + strlen(close)) + 2;
    char *text = calloc(1, size), *at = text;
    for (size_t i = 0; i < n; i++) at = stpcpy(at, open);
    at = stpcpy(at, "1");
    for (size_t i = 0; i < n; i++) at = stpcpy(at, close);
    return text;
}

static bool count_bytes(void *user, const char *key, size_t key_size, as_cell value) {
    (void)key;
    size_t *total = user;
    *total += key_size + (value.type == AS_CELL_TEXT ? value.size : 1);
    return true;
}

static void check_nesting(const char *open, const char *close, size_t n, bool is_fine, size_t bytes) {
    char *text = nested(open, close, n);
    as_json json;
    as_json_init(&json, "file", text, strlen(text), (as_json_options){0}, NULL);
    as_json_next(&json);
    as_flattener *flattener = as_flattener_new(NULL);
    size_t total = 0;
    assert_int_equal(as_flatten(flattener, &json, "x", 1, count_bytes, &total), is_fine);
    if (is_fine) assert_int_equal(total, bytes);
    if (!is_fine) {
        assay_error error = {0};
        assert_int_equal(as_json_fail(&json, &error), ASSAY_E_FORMAT);
        assert_int_equal(error.line, 1);
        assert_int_equal(error.column, 1);
        assert_true(total <= 64 * strlen(text) + 16384);
    }
    as_flattener_free(flattener);
    as_json_free(&json);
    free(text);
}

static void nesting_costs_no_more_than_it_should(void **state) {
    (void)state;
    /* three objects: keys x:a:a:a, x:a:a, x:a, x of 7 + 5 + 3 + 1 characters; values 1, 1, 1:1, 1:1:1:1 */
    check_nesting("{\"a\":", "}", 3, true, 16 + 1 + 1 + 3 + 7);
    check_nesting("{\"a\":", "}", 30, false, 0);
    check_nesting("{\"a\":", "}", 1000, false, 0);
    check_nesting("[", "]", 1000, true, 2);
    check_nesting("[{\"a\":", "}]", 500, true, 2);
    check_nesting("[{\"name\":\"b\",\"value\":", "}]", 300, false, 0);
}

static void memory_may_be_out_at_any_time(void **state) {
    (void)state;
    const char *text =
        "{\"a\":{\"b\":[1,{\"name\":\"\\u0061\",\"value\":1.5}],\"c\":2},\"line\":[{\"name\":\"b0\",\"value\":1}]}";
    bool fine = false;
    for (uint64_t limit = 1; !fine; limit += 64) {
        as_budget budget = {.limit = limit};
        as_flattener *flattener = as_flattener_new(&budget);
        assert_non_null(flattener);
        shown out = {0};
        fine = flatten(flattener, text, strlen(text), &out, NULL);
        as_flattener_free(flattener);
        assert_int_equal(budget.used, 0);
        assert_true(limit < 1 << 20);
    }
}

static void numbers_look_as_in_python(void **state) {
    (void)state;
    static const struct {
        as_number number;
        const char *expected;
    } NUMBERS[] = {
        {{.kind = AS_REAL, .r = 1.0}, "1.0"},
        {{.kind = AS_REAL, .r = 1e22}, "1e+22"},
        {{.kind = AS_REAL, .r = 1e16}, "1e+16"},
        {{.kind = AS_REAL, .r = 1e15}, "1000000000000000.0"},
        {{.kind = AS_REAL, .r = 123456789.125}, "123456789.125"},
        {{.kind = AS_REAL, .r = 5e-324}, "5e-324"},
        {{.kind = AS_REAL, .r = -0.0}, "-0.0"},
        {{.kind = AS_REAL, .r = 1e-5}, "1e-05"},
        {{.kind = AS_REAL, .r = 0.0001}, "0.0001"},
        {{.kind = AS_REAL, .r = 1.7976931348623157e308}, "1.7976931348623157e+308"},
        {{.kind = AS_REAL, .r = -INFINITY}, "-inf"},
        {{.kind = AS_REAL, .r = NAN}, "nan"},
        {{.kind = AS_INT, .i = INT64_MIN}, "-9223372036854775808"},
        {{.kind = AS_UINT, .u = UINT64_MAX}, "18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        char text[AS_NUMBER_SIZE];
        assert_int_equal(as_python_number(NUMBERS[i].number, text), strlen(NUMBERS[i].expected));
        assert_string_equal(text, NUMBERS[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_perun_s_keys),
        cmocka_unit_test(keys_beyond_ascii_are_ranked_by_their_characters),
        cmocka_unit_test(ranks_are_numbers_of_any_length),
        cmocka_unit_test(a_visitor_can_stop),
        cmocka_unit_test(cut_values_are_errors),
        cmocka_unit_test(nesting_costs_no_more_than_it_should),
        cmocka_unit_test(memory_may_be_out_at_any_time),
        cmocka_unit_test(numbers_look_as_in_python),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
