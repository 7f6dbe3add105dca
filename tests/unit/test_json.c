#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/json.h"
#include "json_documents.h"

/* A copy of exactly that size, so that the sanitizer sees every step beyond the end. */
static char *exact_copy(const char *text, size_t size) {
    char *copy = malloc(size ? size : 1);
    if (size) memcpy(copy, text, size);
    return copy;
}

/* Reads the whole document; returns END or ERROR, and the error if one is wanted. */
static as_json_type read_all(const char *text, size_t size, as_json_options options, assay_error *error) {
    char *copy = exact_copy(text, size);
    as_json json;
    as_json_init(&json, "file", copy, size, options, NULL);
    while (as_json_next(&json) > AS_JSON_END) {
        size_t n;
        if (json.type == AS_JSON_STRING || json.type == AS_JSON_KEY) assert_non_null(as_json_text(&json, &n));
    }
    as_json_type type = json.type;
    assert_int_equal(as_json_next(&json), type); /* it stays there */
    if (type == AS_JSON_ERROR) assert_int_equal(as_json_fail(&json, error), ASSAY_E_FORMAT);
    as_json_free(&json);
    free(copy);
    return type;
}

static void start(as_json *json, const char *text, as_json_options options) {
    as_json_init(json, "file", text, strlen(text), options, NULL);
}

static void conformance(void **state) {
    (void)state;
    as_json_options strict = {0};
    for (int i = 0; i < N_GOOD_DOCUMENTS; i++) {
        assay_error error = {.code = ASSAY_OK};
        if (read_all(good_documents[i].text, good_documents[i].size, strict, &error) != AS_JSON_END)
            fail_msg("refused: %s (%u:%u: %s)", good_documents[i].text, error.line, error.column, error.message);
    }
    for (int i = 0; i < N_BAD_DOCUMENTS; i++) {
        if (read_all(bad_documents[i].text, bad_documents[i].size, strict, NULL) != AS_JSON_ERROR)
            fail_msg("accepted: %s", bad_documents[i].text);
    }
}

static void truncation_is_always_an_error(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\": [1.5e-3, true, null, \"x\\u20ac\\ud834\\udd1e\\n\xc3\xa4 long enough for blocks\"],\n"
        " \"b\": {\"c\": -0.25, \"d\": false}}";
    size_t size = sizeof text - 1;
    assert_int_equal(read_all(text, size, (as_json_options){0}, NULL), AS_JSON_END);
    for (size_t n = 0; n < size; n++) {
        assay_error error;
        assert_int_equal(read_all(text, n, (as_json_options){0}, &error), AS_JSON_ERROR);
        assert_true(error.line >= 1 && error.column >= 1);
    }
}

static void tokens_in_order(void **state) {
    (void)state;
    static const struct {
        as_json_type type;
        uint32_t depth;
        const char *raw;
    } expected[] = {
        {AS_JSON_OBJECT, 1, "{"},     {AS_JSON_KEY, 1, "\"a\""},      {AS_JSON_ARRAY, 2, "["},
        {AS_JSON_NUMBER, 2, "1"},     {AS_JSON_NUMBER, 2, "-2.5e+1"}, {AS_JSON_ARRAY, 3, "["},
        {AS_JSON_ARRAY_END, 2, "]"},  {AS_JSON_OBJECT, 3, "{"},       {AS_JSON_OBJECT_END, 2, "}"},
        {AS_JSON_ARRAY_END, 1, "]"},  {AS_JSON_KEY, 1, "\"b\\n\""},   {AS_JSON_STRING, 1, "\"c\""},
        {AS_JSON_KEY, 1, "\"\""},     {AS_JSON_TRUE, 1, "true"},      {AS_JSON_KEY, 1, "\"d\""},
        {AS_JSON_FALSE, 1, "false"},  {AS_JSON_KEY, 1, "\"e\""},      {AS_JSON_NULL, 1, "null"},
        {AS_JSON_OBJECT_END, 0, "}"}, {AS_JSON_END, 0, ""},
    };
    as_json json;
    start(&json, " {\"a\" : [1, -2.5e+1 ,[ ],{}], \"b\\n\":\"c\",\"\":true ,\"d\":false,\n\"e\":null} \n",
          (as_json_options){0});
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(as_json_next(&json), expected[i].type);
        assert_int_equal(json.type, expected[i].type);
        assert_int_equal(json.depth, expected[i].depth);
        assert_int_equal(json.token_size, strlen(expected[i].raw));
        assert_memory_equal(json.token, expected[i].raw, json.token_size);
    }
    as_json_free(&json);
}

static void texts(void **state) {
    (void)state;
    static const struct {
        const char *json, *text;
        size_t size;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"plain\"", "plain", 5},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\u0041\\u00E4\\u20ac\"", "A\xc3\xa4\xe2\x82\xac", 6},
        {"\"\\ud834\\uDD1E!\"", "\xf0\x9d\x84\x9e!", 5},
        {"\"\\uFFFF\"", "\xef\xbf\xbf", 3},
        {"\"x\\\\u0041\"", "x\\u0041", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_json json;
        size_t size;
        start(&json, cases[i].json, (as_json_options){0});
        assert_int_equal(as_json_next(&json), AS_JSON_STRING);
        const char *text = as_json_text(&json, &size);
        assert_int_equal(size, cases[i].size);
        assert_memory_equal(text, cases[i].text, size);
        bool in_place = text > cases[i].json && text <= cases[i].json + strlen(cases[i].json);
        assert_int_equal(in_place, strchr(cases[i].json, '\\') == NULL); /* no copy without need */
        as_json_free(&json);
    }
}

static void comparisons(void **state) {
    (void)state;
    as_json json;
    start(&json, "{\"n\\u0061me\": \"a\\u0000\"}", (as_json_options){0});
    as_json_next(&json);
    as_json_next(&json);
    assert_true(as_json_is(&json, "name"));
    assert_false(as_json_is(&json, "nam"));
    assert_false(as_json_is(&json, "names"));
    assert_false(as_json_is(&json, "n\\u0061me"));
    assert_false(as_json_is(&json, "a name much longer than this key"));
    as_json_next(&json);
    assert_false(as_json_is(&json, "a")); /* a NUL is a character like any other */
    as_json_free(&json);
}

static void numbers(void **state) {
    (void)state;
    as_json json;
    start(&json,
          "[18446744073709551615, 9007199254740993, -0, 0.1, 1e999999, -1e999999, 1e-999999, -7, "
          "123456789012345678901234567890]",
          (as_json_options){0});
    as_json_next(&json);
    as_number values[9];
    for (int i = 0; i < 9; i++) {
        assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
        values[i] = as_json_number(&json);
    }
    as_json_free(&json);
    assert_true(values[0].kind == AS_UINT && values[0].u == UINT64_MAX);
    assert_true(values[1].kind == AS_INT && values[1].i == 9007199254740993);
    assert_true(values[2].kind == AS_REAL && values[2].r == 0 && signbit(values[2].r));
    assert_true(values[3].kind == AS_REAL && values[3].r == 0.1);
    assert_true(values[4].kind == AS_REAL && values[4].r == INFINITY);
    assert_true(values[5].kind == AS_REAL && values[5].r == -INFINITY);
    assert_true(values[6].kind == AS_REAL && values[6].r == 0);
    assert_true(values[7].kind == AS_INT && values[7].i == -7);
    assert_true(values[8].kind == AS_REAL && values[8].r == 123456789012345678901234567890.0);
}

static void words_for_numbers(void **state) {
    (void)state;
    as_json_options options = {.nan_literals = true};
    as_json json;
    start(&json, "[NaN, Infinity, -Infinity, {\"a\":NaN}]", options);
    as_json_next(&json);
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    assert_true(isnan(as_json_number(&json).r));
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    assert_true(as_json_number(&json).r == INFINITY);
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    assert_int_equal(json.token_size, 9);
    assert_true(as_json_number(&json).r == -INFINITY);
    while (as_json_next(&json) > AS_JSON_END) {
    }
    assert_int_equal(json.type, AS_JSON_END);
    as_json_free(&json);
    static const char *const bad[] = {"[nan]",     "[NAN]",  "[Inf]", "[-NaN]", "[+Infinity]",
                                      "[Infinit]", "[NaNN]", "N",     "-I",     "[-Infinity1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_all(bad[i], strlen(bad[i]), options, NULL), AS_JSON_ERROR);
}

static void semicolons(void **state) {
    (void)state;
    as_json_options options = {.semicolons = true};
    static const char good[] = "{\"parameters\":{\"x\":1;\"y\":2};\"metric\":\"m\",\"value\":[1;2,3]}";
    static const char *const bad[] = {"[1;]", "[;1]", "{\"a\":1;}", "[1;;2]", "[1];", "{\"a\";1}"};
    assert_int_equal(read_all(good, sizeof good - 1, options, NULL), AS_JSON_END);
    assert_int_equal(read_all(good, sizeof good - 1, (as_json_options){0}, NULL), AS_JSON_ERROR);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_all(bad[i], strlen(bad[i]), options, NULL), AS_JSON_ERROR);
}

static void places_and_words_of_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {"", 1, 1, "empty input"},
        {" \n ", 1, 1, "empty input"},
        {"{\"a\" 1}", 1, 6, "expected ':' after the key, not '1'"},
        {"{\"a\":1,\n\"b\":\n  x}", 3, 3, "expected a value, not 'x'"},
        {"[1,\n2", 2, 2, "unexpected end of input"},
        {"{\"a\"", 1, 5, "unexpected end of input"},
        {"[1,]", 1, 3, "a comma before ']', which JSON does not allow; remove it"},
        {"[1,\n ]", 1, 3, "a comma before ']', which JSON does not allow; remove it"},
        {"{\"a\":1,}", 1, 7, "a comma before '}', which JSON does not allow; remove it"},
        {"[[1,2,\n}", 1, 6, "a comma before '}', which JSON does not allow; remove it"},
        {"{a:1}", 1, 2, "expected a key in double quotes, not 'a'"},
        {"[1 2]", 1, 4, "expected ',' or ']', not '2'"},
        {"{\"a\":1 \"b\"}", 1, 8, "expected ',' or '}', not '\"'"},
        {"[1}", 1, 3, "expected ',' or ']', not '}'"},
        {"[\"\xc3\xa4\", \"\xff\"]", 1, 9, "invalid UTF-8 in a string"}, /* columns count bytes */
        {"[\"ab\ncd\"]", 1, 5, "control character in a string; a quote is missing, or it must be written as an escape"},
        {"[\"a\\qb\"]", 1, 4, "unknown escape in a string"},
        {"[\"\\u12x4\"]", 1, 3, "\\u without four hexadecimal digits in a string"},
        {"[\"\\ud800\"]", 1, 3, "lone surrogate in a string"},
        {"[\"\\udc00\"]", 1, 3, "lone surrogate in a string"},
        {"[\"abc", 1, 6, "unexpected end of input in a string"},
        {"[\"abc\\", 1, 7, "unexpected end of input in a string"},
        {"[01]", 1, 2, "number with a leading zero"},
        {"[-01]", 1, 3, "number with a leading zero"},
        {"[1.]", 1, 4, "expected a digit after the decimal point, not ']'"},
        {"[-x]", 1, 3, "expected a digit after the minus sign, not 'x'"},
        {"[1e+]", 1, 5, "expected a digit in the exponent, not ']'"},
        {"[1_000]", 1, 3, "malformed number"},
        {"[0x10]", 1, 3, "malformed number"},
        {"1.2.3", 1, 4, "malformed number"},
        {"[+1]", 1, 2, "a number begins with a digit or a minus sign"},
        {"[.5]", 1, 2, "a number begins with a digit or a minus sign"},
        {"['a']", 1, 2, "strings stand in double quotes"},
        {"[tru1]", 1, 5, "expected one of the words true, false and null, not '1'"},
        {"[nul", 1, 5, "unexpected end of input"},
        {"{}\n\n{}", 3, 1, "unexpected data after the document"},
        {"[\x01]", 1, 2, "expected a value, not the byte 0x01"},
        {"[\xff]", 1, 2, "expected a value, not the byte 0xff"},
        {"\xef\xbb\xbf{\"a\"}", 1, 5,
         "expected ':' after the key, not '}'"}, /* a byte order mark is no part of the document */
        {"\xef\xbb\xbf", 1, 1, "empty input"},
        {"\r\n\r\n x", 3, 2, "expected a value, not 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error = {.code = ASSAY_OK};
        assert_int_equal(read_all(cases[i].text, strlen(cases[i].text), (as_json_options){0}, &error), AS_JSON_ERROR);
        if (error.line != cases[i].line || error.column != cases[i].column ||
            strcmp(error.message, cases[i].message) != 0)
            fail_msg("%s gave %u:%u %s", cases[i].text, error.line, error.column, error.message);
        assert_string_equal(error.rule, "json-syntax");
        assert_string_equal(error.path, "file");
    }
}

static void a_byte_order_mark_only_at_the_start(void **state) {
    (void)state;
    as_json json;
    assert_int_equal(read_all("\xef\xbb\xbf[1]", 6, (as_json_options){0}, NULL), AS_JSON_END);
    assert_int_equal(read_all("\xef\xbb\xbf\xef\xbb\xbf[1]", 9, (as_json_options){0}, NULL), AS_JSON_ERROR);
    start(&json, "", (as_json_options){0});
    as_json_restart(&json, "\xef\xbb\xbf[1]", 6, 2); /* the second line of a file */
    assert_int_equal(as_json_next(&json), AS_JSON_ERROR);
    as_json_free(&json);
}

static void depth_is_limited(void **state) {
    (void)state;
    enum { DEEP = 1000000 };
    char *text = malloc(2 * DEEP);
    assay_error error;
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    assert_int_equal(read_all(text + DEEP - 1024, 2048, (as_json_options){0}, NULL), AS_JSON_END);
    assert_int_equal(read_all(text + DEEP - 1025, 2050, (as_json_options){0}, &error), AS_JSON_ERROR);
    assert_string_equal(error.message, "nested deeper than 1024 levels");
    assert_int_equal(error.column, 1025);
    assert_int_equal(read_all("[[1]]", 5, (as_json_options){.max_depth = 1}, NULL), AS_JSON_ERROR);
    assert_int_equal(read_all("[1]", 3, (as_json_options){.max_depth = 1}, NULL), AS_JSON_END);

    as_json json; /* refused at once, not after reading it all */
    as_json_init(&json, "file", text, 2 * DEEP, (as_json_options){0}, NULL);
    while (as_json_next(&json) > AS_JSON_END) {
    }
    assert_int_equal(json.type, AS_JSON_ERROR);
    assert_int_equal(json.at - text, 1024);
    as_json_free(&json);

    assert_int_equal(read_all(text, 2 * DEEP, (as_json_options){.max_depth = UINT32_MAX}, NULL),
                     AS_JSON_END); /* no recursion */
    as_budget budget = {.limit = 1000};
    as_json_init(&json, "file", text, 2 * DEEP, (as_json_options){.max_depth = UINT32_MAX}, &budget);
    while (as_json_next(&json) > AS_JSON_END) {
    }
    assert_int_equal(as_json_fail(&json, &error), ASSAY_E_NOMEM);
    as_json_free(&json);
    assert_int_equal(budget.used, 0);
    free(text);
}

static void a_text_beyond_the_budget(void **state) {
    (void)state;
    as_budget budget = {.limit = 100};
    char text[300];
    memset(text, 'a', sizeof text);
    text[0] = text[299] = '"';
    text[1] = '\\', text[2] = 'n';
    as_json json;
    size_t size;
    assay_error error;
    as_json_init(&json, "file", text, sizeof text, (as_json_options){0}, &budget);
    assert_int_equal(as_json_next(&json), AS_JSON_STRING);
    assert_null(as_json_text(&json, &size));
    assert_int_equal(as_json_fail(&json, &error), ASSAY_E_NOMEM);
    assert_int_equal(as_json_next(&json), AS_JSON_ERROR);
    as_json_free(&json);
}

static void skipping(void **state) {
    (void)state;
    as_json json;
    const char *raw;
    size_t size;
    start(&json, "{\"a\": {\"x\": [1, {\"]\": 2}]} , \"b\":-1.5 ,\"c\": \"\\n\"}", (as_json_options){0});
    as_json_next(&json);
    as_json_next(&json);
    as_json_next(&json);
    assert_int_equal(as_json_skip(&json, &raw, &size), AS_JSON_OBJECT_END);
    assert_int_equal(size, 20);
    assert_memory_equal(raw, "{\"x\": [1, {\"]\": 2}]}", size);
    assert_int_equal(json.depth, 1);
    assert_int_equal(as_json_next(&json), AS_JSON_KEY);
    assert_true(as_json_is(&json, "b"));
    as_json_next(&json);
    assert_int_equal(as_json_skip(&json, &raw, &size), AS_JSON_NUMBER);
    assert_memory_equal(raw, "-1.5", size);
    as_json_next(&json);
    as_json_next(&json);
    assert_int_equal(as_json_skip(&json, NULL, NULL), AS_JSON_STRING);
    assert_int_equal(as_json_next(&json), AS_JSON_OBJECT_END);
    assert_int_equal(as_json_next(&json), AS_JSON_END);
    as_json_restart(&json, "[[1,2}]", 7, 1);
    as_json_next(&json);
    as_json_next(&json);
    assert_int_equal(as_json_skip(&json, &raw, &size), AS_JSON_ERROR);
    as_json_free(&json);
}

static void passing_over_what_is_known(void **state) {
    (void)state;
    as_json json;
    start(&json, "{\"a\":{\"x\":[1]} ,\"b\":2}", (as_json_options){0});
    as_json_next(&json);
    as_json_next(&json);
    as_json_next(&json);
    as_json_pass(&json, 9);
    assert_int_equal(json.type, AS_JSON_OBJECT_END);
    assert_int_equal(json.depth, 1);
    assert_int_equal(as_json_next(&json), AS_JSON_KEY);
    assert_true(as_json_is(&json, "b"));
    as_json_restart(&json, "[]", 2, 1); /* the outermost one */
    as_json_next(&json);
    as_json_pass(&json, 2);
    assert_int_equal(json.depth, 0);
    assert_int_equal(as_json_next(&json), AS_JSON_END);
    as_json_free(&json);
}

static void records(void **state) {
    (void)state;
    as_json json;
    assay_error error;
    start(&json, "", (as_json_options){0});
    as_json_restart(&json, "{\"a\":", 5, 7);
    while (as_json_next(&json) > AS_JSON_END) {
    }
    assert_int_equal(as_json_fail(&json, &error), ASSAY_E_FORMAT);
    assert_int_equal(error.line, 7);
    assert_int_equal(error.column, 6);
    as_json_restart(&json, "[1]", 3, 8); /* an error is left behind */
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY);
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    as_place place = as_json_place(&json);
    assert_int_equal(place.line, 8);
    assert_int_equal(place.column, 2);
    as_json_free(&json);
}

static const char *written_string(as_output *out, const char *text, size_t size) {
    size_t n;
    as_json_write_string(out, text, size);
    return as_output_memory(out, &n);
}

static void writing(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    assert_string_equal(written_string(out, "a\"\\/\b\f\n\r\t\x01\x1f\x7f\0z\xc3\xa4", 16),
                        "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000z\xc3\xa4\"");
    as_output_discard(out);
    out = as_output_to_memory();
    assert_string_equal(written_string(out,
                                       "\xff"
                                       "a\xc3",
                                       3),
                        "\"\xef\xbf\xbd"
                        "a\xef\xbf\xbd\"");
    as_output_discard(out);
    out = as_output_to_memory();
    as_json_write_string(out, "", 0);
    static const double values[] = {20, 0.1, 1e30, NAN, INFINITY, -INFINITY, -0.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        as_output_char(out, ' '), as_json_write_real(out, values[i]);
    size_t size;
    assert_string_equal(as_output_memory(out, &size), "\"\" 20 0.1 1e+30 \"nan\" \"inf\" \"-inf\" -0");
    as_output_discard(out);
}

static void what_is_written_reads_back(void **state) {
    (void)state;
    char text[0x80 + 9];
    size_t size = sizeof text;
    for (int c = 0; c < 0x80; c++) text[c] = (char)c;
    memcpy(text + 0x80, "\xc2\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf", 9);
    as_output *out = as_output_to_memory();
    size_t n, back_size;
    as_json_write_string(out, text, size);
    const char *written = as_output_memory(out, &n);
    as_json json;
    as_json_init(&json, "file", written, n, (as_json_options){0}, NULL);
    assert_int_equal(as_json_next(&json), AS_JSON_STRING);
    const char *back = as_json_text(&json, &back_size);
    assert_int_equal(back_size, size);
    assert_memory_equal(back, text, size);
    as_json_free(&json);
    as_output_discard(out);
}

/* ---- plain numbers ----------------------------------------------------------------------------------------------- */

static void plain_numbers_are_what_others_are(void **state) {
    (void)state;
    static const char *const plain[] = {"0", "7", "-12", "0.1", "-12.50", "999999999999999999", "9007199254740.991"};
    static const char *const others[] = {"-0",
                                         "01",
                                         "1.",
                                         ".5",
                                         "1e5",
                                         "-",
                                         "",
                                         "NaN",
                                         "1000000000000000000",
                                         "9007199254740993.5",
                                         "0.0000000000000000001"};
    as_number number, expected;
    char text[64];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_true(as_number_parse(plain[i], strlen(plain[i]), &expected));
        for (int n = 0; n < 3; n++) { /* with little and with much behind it */
            snprintf(text, sizeof text, "%s,%.*s", plain[i], 8 * n, " 12345678901234567890");
            const char *behind = as_json_plain_number(text, text + strlen(text), &number);
            assert_ptr_equal(behind, text + strlen(plain[i]));
            assert_int_equal(number.kind, expected.kind);
            assert_true(number.u == expected.u);
        }
        assert_null(as_json_plain_number(plain[i], plain[i] + strlen(plain[i]), &number)); /* it may go on */
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        for (int n = 0; n < 3; n++) { /* with little and with much behind it */
            snprintf(text, sizeof text, "%s,%.*s", others[i], 8 * n, " 12345678901234567890");
            assert_null(as_json_plain_number(text, text + strlen(text), &number));
        }
    }
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int n = snprintf(text, sizeof text, "%llu.%0*llu,", (unsigned long long)(random >> 44), 1 + i % 9,
                         (unsigned long long)(random % (i % 9 ? 10 : 1)));
        if (!as_json_plain_number(text, text + n, &number)) continue;
        assert_true(as_number_parse(text, (size_t)n - 1, &expected));
        assert_true(number.r == expected.r);
    }
}

/* All lengths and places of the point, before anything that may follow. */
static void short_numbers_are_what_others_are(void **state) {
    (void)state;
    static const char *const behind[] = {",", "]", " ,", "\n", "}", "x", ":", "/", ".", "-", "\xff", "\xb0"};
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        char text[64], digits[16];
        random = random * 6364136223846793005u + 1442695040888963407u;
        int size = 1 + i % 10, point = i / 10 % 10;
        const char *rest = behind[random >> 20 & 7 ? 0 : i % 12];
        snprintf(digits, sizeof digits, "%0*llu", size, (unsigned long long)(random >> 32) % 10000000000);
        digits[size] = '\0';
        int n = point && point < size ? snprintf(text, sizeof text, "%.*s.%s", point, digits, digits + point)
                                      : snprintf(text, sizeof text, "%s", digits);
        snprintf(text + n, sizeof text - (size_t)n, "%s 7, 8, 9, 10", rest);
        as_number number, expected;
        const char *end = as_json_plain_number(text, text + strlen(text), &number);
        bool is_number = text[0] != '0' || n == 1 || text[1] == '.';
        if (*rest == '.' && !memchr(text, '.', (size_t)n)) is_number = false; /* nothing behind the point */
        assert_int_equal(end != NULL, is_number);
        if (!end) continue;
        assert_ptr_equal(end, text + n);
        assert_true(as_number_parse(text, (size_t)n, &expected));
        assert_int_equal(number.kind, expected.kind);
        assert_true(number.u == expected.u);
    }
}

static void numbers_of_a_list_are_taken_together(void **state) {
    (void)state;
    const char *text = "[[1 , 2.5,-3, \"x\", 4,5e1, 6], [], [7";
    as_json json;
    as_number numbers[4];
    as_json_init(&json, "p", text, strlen(text), (as_json_options){0}, NULL);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 0); /* there is no list yet */
    as_json_next(&json);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 0);
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY);
    assert_int_equal(as_json_take_numbers(&json, numbers, 2), 2);
    assert_true(numbers[0].i == 1 && numbers[1].r == 2.5);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 1);
    assert_true(numbers[0].i == -3 && json.type == AS_JSON_NUMBER && json.token_size == 2);
    assert_int_equal(as_json_next(&json), AS_JSON_STRING);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 1);
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    assert_true(as_json_number(&json).r == 50);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 1);
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY_END);
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 0);
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY_END);
    assert_int_equal(as_json_next(&json), AS_JSON_ARRAY);
    assert_int_equal(as_json_take_numbers(&json, numbers, 4), 0); /* the input ends: the number may go on */
    assert_int_equal(as_json_next(&json), AS_JSON_NUMBER);
    assert_int_equal(as_json_next(&json), AS_JSON_ERROR);
    as_json_free(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conformance),
        cmocka_unit_test(truncation_is_always_an_error),
        cmocka_unit_test(tokens_in_order),
        cmocka_unit_test(texts),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(numbers),
        cmocka_unit_test(words_for_numbers),
        cmocka_unit_test(semicolons),
        cmocka_unit_test(places_and_words_of_errors),
        cmocka_unit_test(a_byte_order_mark_only_at_the_start),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(a_text_beyond_the_budget),
        cmocka_unit_test(skipping),
        cmocka_unit_test(passing_over_what_is_known),
        cmocka_unit_test(records),
        cmocka_unit_test(writing),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(plain_numbers_are_what_others_are),
        cmocka_unit_test(short_numbers_are_what_others_are),
        cmocka_unit_test(numbers_of_a_list_are_taken_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
