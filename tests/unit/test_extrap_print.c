/* Extra-P's printed text. Expected texts are what Extra-P 4.2.5 prints for the experiments in tests/data that it
 * modelled and saved itself, and (formats of numbers) what Python 3.11's format() gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "dataset/build.h"
#include "formats/format.h"
#include "render/extrap_print.h"
#include "render/python_format.h"

#include "helpers.h"

static const char SEGMENTED[] =
    TEST_DATA "/extrap-segmented.extra-p"; /* one parameter: segmented, constant and plain models */
static const char PIECEWISE[] =
    TEST_DATA "/extrap-piecewise.extra-p"; /* two: a piecewise factor, a product, a constant */

static as_dataset *open_file(const char *path) {
    as_read_config config = {0};
    as_dataset *ds = NULL;
    assay_error error;
    if (as_read(path, &config, &ds, &error) != ASSAY_OK) fail_msg("%s: %s", path, error.message);
    return ds;
}

static void assert_prints(const as_dataset *ds, const char *what, const char *expected) {
    as_output *out = as_output_to_memory();
    assay_error error;
    if (as_extrap_print(out, ds, what, &error) != ASSAY_OK) fail_msg("%s: %s", what, error.message);
    size_t size;
    const char *got = as_output_memory(out, &size);
    if (strcmp(got, expected) != 0) fail_msg("--print '%s'\nexpected: %s\ngot: %s", what, expected, got);
    as_output_discard(out);
}

static const struct {
    const char *file, *what, *text;
} PRINTED[] = {
    {SEGMENTED, "callpaths",
     "main->solve\n"
     "main->init\n"
     "main\n"
     "\n"},
    {SEGMENTED, "Metrics",
     "time\n"
     "bytes\n"
     "\n"},
    {SEGMENTED, "PARAMETERS",
     "p\n"
     "\n"},
    {SEGMENTED, "functions",
     "Model 1: -1.0522741539893282e-14 + 2.9999999999999996 * p^(1)\n"
     "Model 2: 99999.99999999999 + 6.999999999998061 * log2(p)^(1)\n"
     "0.0\n"
     "5.024999999999998 + -1.0050000000000009e-05 * p^(3/2) * log2(p)^(1)\n"
     "1e+16\n"
     "\n"},
    {SEGMENTED, "functions-python",
     "Model 1: -1.0522741539893282e-14+2.9999999999999996*p**(1)\n"
     "Model 2: 99999.99999999999+6.999999999998061*log2(p)**(1)\n"
     "0.0\n"
     "5.024999999999998-1.0050000000000009e-05*p**(3/2)*log2(p)**(1)\n"
     "1e+16\n"
     "\n"},
    {SEGMENTED, "functions-latex",
     "Model 1: $-1.052\\times10^{−14}+3.000\\cdot p^{1}$\n"
     "Model 2: $10^{5}+7.000\\cdot \\log_2{p}^{1}$\n"
     "0.0\n"
     "$5.025-1.005\\times10^{−5}\\cdot p^{3/2}\\cdot \\log_2{p}^{1}$\n"
     "1e+16\n"
     "\n"},
    {SEGMENTED, "{?callpath} {?metric}: {model}",
     "main->solve time: -1.0522741539893282e-14 + 2.9999999999999996 * p^(1) for p<=32.0\n"
     "99999.99999999999 + 6.999999999998061 * log2(p)^(1) for p>=64.0\n"
     "main->init     : 0.0\n"
     "main     : 5.024999999999998 + -1.0050000000000009e-05 * p^(3/2) * log2(p)^(1)\n"
     "     bytes: 1e+16\n"
     "\n"},
    {SEGMENTED, "{model:python}",
     "-1.0522741539893282e-14+2.9999999999999996*p**(1) if p<=32.0 "
     "else99999.99999999999+6.999999999998061*log2(p)**(1) if p>=64.0 else math.nan\n"
     "0.0\n"
     "5.024999999999998-1.0050000000000009e-05*p**(3/2)*log2(p)**(1)\n"
     "1e+16\n"
     "\n"},
    {SEGMENTED, "{model:latex}",
     "$-1.052\\times10^{−14}+3.000\\cdot p^{1}$ for $p<=32.0$\n"
     "$10^{5}+7.000\\cdot \\log_2{p}^{1}$ for $p>=64.0$\n"
     "0.0\n"
     "$5.025-1.005\\times10^{−5}\\cdot p^{3/2}\\cdot \\log_2{p}^{1}$\n"
     "1e+16\n"
     "\n"},
    {SEGMENTED, "{callpath}: {rss:.2e}|{smape:10.3f}|{rrss}|{re:%}|{ar2}|{ar2:.3f}",
     "main->solve: 3.39e-21|     0.000|5.641356018555699e-30|0.000000%|1.0|1.000\n"
     "main->init: 0.00e+00|     0.000|0|0.000000%|1|1.000\n"
     "main: 1.34e-29|     0.000|5.739764702835008e-31|0.000000%|1.0|1.000\n"
     "main: 0.00e+00|     0.000|0.0|0.000000%|1|1.000\n"
     "\n"},
    {SEGMENTED, "{{{points: sep:' \\' ' ; format:'({point})'}}}",
     "{(2.00E+00) ' (4.00E+00) ' (8.00E+00) ' (1.60E+01) ' (3.20E+01) ' (6.40E+01) ' (1.28E+02) ' (2.56E+02) ' "
     "(5.12E+02)}\n"
     "{(2.00E+00) ' (4.00E+00) ' (8.00E+00) ' (1.60E+01) ' (3.20E+01) ' (6.40E+01) ' (1.28E+02) ' (2.56E+02) ' "
     "(5.12E+02)}\n"
     "{(2.00E+00) ' (4.00E+00) ' (8.00E+00) ' (1.60E+01) ' (3.20E+01) ' (6.40E+01) ' (1.28E+02) ' (2.56E+02) ' "
     "(5.12E+02)}\n"
     "{(2.00E+00) ' (4.00E+00) ' (8.00E+00) ' (1.60E+01) ' (3.20E+01) ' (6.40E+01) ' (1.28E+02) ' (2.56E+02) ' "
     "(5.12E+02)}\n"
     "\n"},
    {SEGMENTED,
     "{metric} {measurements: sep:', '; format:'{point: sep:';';format:'{parameter}{coordinate}'}--{mean} {std:g}'}",
     "time p2.0--6.0 0, p4.0--12.0 0, p8.0--24.0 0, p16.0--48.0 0, p32.0--96.0 0, p64.0--100042.0 0, p128.0--100049.0 "
     "0, p256.0--100056.0 0, p512.0--100063.0 0\n"
     "time p2.0--0.0 0, p4.0--0.0 0, p8.0--0.0 0, p16.0--0.0 0, p32.0--0.0 0, p64.0--0.0 0, p128.0--0.0 0, p256.0--0.0 "
     "0, p512.0--0.0 0\n"
     "time p2.0--5.024971574307396 0.0249999, p4.0--5.0248392 0.0249992, p8.0--5.024317783377511 0.0249966, "
     "p16.0--5.0224272 0.0249872, p32.0--5.015903778366816 0.0249547, p64.0--4.994126400000001 0.0248464, "
     "p128.0--4.9231223177083425 0.0244931, p256.0--4.6956816 0.0233616, p512.0--3.977115267857232 0.0197866\n"
     "bytes p2.0--1e+16 0, p4.0--1e+16 0, p8.0--1e+16 0, p16.0--1e+16 0, p32.0--1e+16 0, p64.0--1e+16 0, p128.0--1e+16 "
     "0, p256.0--1e+16 0, p512.0--1e+16 0\n"
     "\n"},
    {SEGMENTED, "{?points}|{?points}|{?parameters}",
     "(2.00E+00) | (4.00E+00) | (8.00E+00) | (1.60E+01) | (3.20E+01) | (6.40E+01) | (1.28E+02) | (2.56E+02) | "
     "(5.12E+02)|                                                                                                      "
     "            |p\n"
     "(2.00E+00) | (4.00E+00) | (8.00E+00) | (1.60E+01) | (3.20E+01) | (6.40E+01) | (1.28E+02) | (2.56E+02) | "
     "(5.12E+02)|                                                                                                      "
     "            |p\n"
     "(2.00E+00) | (4.00E+00) | (8.00E+00) | (1.60E+01) | (3.20E+01) | (6.40E+01) | (1.28E+02) | (2.56E+02) | "
     "(5.12E+02)|                                                                                                      "
     "            |p\n"
     "(2.00E+00) | (4.00E+00) | (8.00E+00) | (1.60E+01) | (3.20E+01) | (6.40E+01) | (1.28E+02) | (2.56E+02) | "
     "(5.12E+02)|                                                                                                      "
     "            |p\n"
     "\n"},
    {SEGMENTED, "a\\nb {{ }} {parameters: format:'<{parameter:^5}>'}",
     "a\\nb { } <  p  >\n"
     "a\\nb { } <  p  >\n"
     "a\\nb { } <  p  >\n"
     "a\\nb { } <  p  >\n"
     "\n"},
    {SEGMENTED, "{points: sep:''; format:'no placeholder'}",
     "(2.00E+00)(4.00E+00)(8.00E+00)(1.60E+01)(3.20E+01)(6.40E+01)(1.28E+02)(2.56E+02)(5.12E+02)\n"
     "(2.00E+00)(4.00E+00)(8.00E+00)(1.60E+01)(3.20E+01)(6.40E+01)(1.28E+02)(2.56E+02)(5.12E+02)\n"
     "(2.00E+00)(4.00E+00)(8.00E+00)(1.60E+01)(3.20E+01)(6.40E+01)(1.28E+02)(2.56E+02)(5.12E+02)\n"
     "(2.00E+00)(4.00E+00)(8.00E+00)(1.60E+01)(3.20E+01)(6.40E+01)(1.28E+02)(2.56E+02)(5.12E+02)\n"
     "\n"},
    {PIECEWISE, "functions",
     "3.7099242984266546e-14 + 0.08064516129032258 * {12.400000000000036 + 12.399999999999997 * x^(2) for x<=5.0; "
     "322.3999999999997 + 12.400000000000025 * x^(1) for x>=6.0} * y^(1)\n"
     "3.000000000000034 + 1.0000000000000002 * x^(1) * log2(y)^(2)\n"
     "2.0\n"
     "\n"},
    {PIECEWISE, "functions-python",
     "3.7099242984266546e-14+0.08064516129032258*(12.400000000000036+12.399999999999997*x**(2) if x<=5.0 "
     "else322.3999999999997+12.400000000000025*x**(1) if x>=6.0 else math.nan)*y**(1)\n"
     "3.000000000000034+1.0000000000000002*x**(1)*log2(y)**(2)\n"
     "2.0\n"
     "\n"},
    {PIECEWISE, "functions-latex",
     "$3.710\\times10^{−14}+8.065\\times10^{−2}\\cdot {12.400000000000036+12.399999999999997\\cdot x^{2} if x<=5.0 "
     "else322.3999999999997+12.400000000000025\\cdot x^{1} if x>=6.0 else math.nan}\\cdot y^{1}$\n"
     "$3.000+1.000\\cdot x^{1}\\cdot \\log_2{y}^{2}$\n"
     "2.0\n"
     "\n"},
    {PIECEWISE, "{callpath} {parameters: sep:'/'} {model} {ar2}",
     "f x/y 3.7099242984266546e-14 + 0.08064516129032258 * {12.400000000000036 + 12.399999999999997 * x^(2) for "
     "x<=5.0; 322.3999999999997 + 12.400000000000025 * x^(1) for x>=6.0} * y^(1) 1.0\n"
     "g x/y 3.000000000000034 + 1.0000000000000002 * x^(1) * log2(y)^(2) 1.0\n"
     "h x/y 2.0 1\n"
     "\n"},
};

static void prints_as_extrap_does(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof PRINTED / sizeof *PRINTED; i++) {
        as_dataset *ds = open_file(PRINTED[i].file);
        assert_prints(ds, PRINTED[i].what, PRINTED[i].text);
        as_dataset_free(ds);
    }
}

static void prints_all_with_measurements_and_segments(void **state) {
    (void)state;
    static char expected[16384];
    FILE *file = fopen(TEST_DATA "/extrap-segmented.all.txt", "r");
    assert_non_null(file);
    size_t size = fread(expected, 1, sizeof expected - 1, file);
    fclose(file);
    assert_in_range(size, 1000, sizeof expected - 2);
    as_dataset *ds = open_file(SEGMENTED);
    assert_prints(ds, "All", expected);
    as_dataset_free(ds);
}

/* JSON has integers, and Extra-P prints them so; a text file has none. */
static void keeps_integers_of_json(void **state) {
    (void)state;
    static const char lines[] = "{\"params\":{\"p\":4},\"value\":2}\n{\"params\":{\"p\":8.5},\"value\":3}\n";
    static const char what[] = "{measurements: sep:' '; format:'{point: format:'{coordinate}'}={mean},{min},{max}'}";
    static const struct {
        const char *format, *text, *expected;
    } cases[] = {{"extrap-jsonl", lines, "4=2.0,2,2 8.5=3.0,3,3\n\n"},
                 {"extrap-jsonl", "{\"params\":{\"p\":4.0},\"value\":2}\n", "4.0=2.0,2.0,2.0\n\n"},
                 {"extrap-text", "PARAMETER p\nPOINTS 4\nREGION a\nMETRIC t\nDATA 2\n", "4.0=2.0,2.0,2.0\n\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dataset *ds = read_text(cases[i].format, cases[i].text);
        as_model_set set = {.name = as_ds_intern_text(ds, "m"),
                            .modeler = AS_NO_STR,
                            .measure = AS_NO_STR,
                            .raw = AS_NO_STR,
                            .options = AS_NO_STR};
        as_model model = {.set = as_add_model_set(ds, &set), .function = AS_NO_STR, .n_segments = 1, .raw = AS_NO_STR};
        as_segment segment = {.constant = 2, .from = -INFINITY, .to = INFINITY};
        as_add_model(ds, &model, &segment, 1, NULL, 0);
        assert_prints(ds, what, cases[i].expected);
        as_dataset_free(ds);
    }
}

/* Newlines inside a placeholder make Extra-P fail, although its manual has them. */
static void newlines_separate(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("extrap-text", "PARAMETER p\nPOINTS 4 8\nREGION a\nREGION b\nMETRIC t\nDATA 2\nDATA 3\n");
    as_model_set set = {.name = as_ds_intern_text(ds, "one"),
                        .modeler = AS_NO_STR,
                        .measure = AS_NO_STR,
                        .raw = AS_NO_STR,
                        .options = AS_NO_STR};
    as_segment segment = {.constant = 2, .from = -INFINITY, .to = INFINITY};
    for (int i = 0; i < 2; i++) {
        as_model model = {
            .set = as_add_model_set(ds, &set), .context = 1, .function = AS_NO_STR, .n_segments = 1, .raw = AS_NO_STR};
        as_add_model(ds, &model, &segment, 1, NULL, 0);
        set.name = as_ds_intern_text(ds, "two");
    }
    assert_prints(ds, "{points: sep:'\\n'; format:'{point}\\t'}",
                  "Modeler: one\n4.00E+00\t\n8.00E+00\t\nModeler: two\n4.00E+00\t\n8.00E+00\t\n\n");
    assert_prints(ds, "callpaths", "a\nb\n\n"); /* in the order of the file, with and without data */
    as_dataset_free(ds);
}

static void refuses_wrong_formats(void **state) {
    (void)state;
    static const struct {
        const char *what, *message;
    } cases[] = {
        {"{callpath", "--print, column 1: a '{' without '}'; write {{ and }} for a brace itself"},
        {"ab} {rss}", "--print, column 3: a '}' without '{'; write {{ and }} for a brace itself"},
        {"x {rss} {foo}",
         "--print, column 9: '{foo}': no placeholder of this name; there are callpath, metric, model, model:python, "
         "model:latex, parameters, points, measurements, smape, rrss, rss, re, ar2"},
        {"{rss:d}", "--print, column 1: '{rss:d}': no format of Python's: it must be "
                    "[[fill]align][sign][0][width][,][.precision][type] with a type of e E f F g G n %"},
        {"{rss:.}", "--print, column 1: '{rss:.}': no format of Python's: a number must follow the point"},
        {"{rss:99999999999999999999}",
         "--print, column 1: '{rss:99999999999999999999}': no format of Python's: the width is too large"},
        {"{rss:.5000f}", "--print, column 1: '{rss:.5000f}': no format of Python's: the precision is too large"},
        {"{points: format:'{mean}'}", "--print, column 1: '{mean}': only {point} is known here"},
        {"{points: sep:'{'}", "--print, column 1: a '{' without '}'; write {{ and }} for a brace itself"},
    };
    as_dataset *ds = open_file(SEGMENTED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_output *out = as_output_to_memory();
        assay_error error;
        assert_int_equal(as_extrap_print(out, ds, cases[i].what, &error), ASSAY_E_USAGE);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(as_output_size(out), 0);
        assert_int_equal(as_extrap_print_check(cases[i].what, NULL), ASSAY_E_USAGE);
        as_output_discard(out);
    }
    as_dataset_free(ds);
}

static const struct {
    const char *spec;
    double value;
    const char *text;
} FORMATTED[] = {
    {"", 123456789.125, "123456789.125"},
    {"", 0.1, "0.1"},
    {"", 0.5, "0.5"},
    {"", 9.995, "9.995"},
    {"", -0.0, "-0.0"},
    {".2e", 1.0, "1.00e+00"},
    {".2e", 5e-324, "4.94e-324"},
    {".2e", -1.5, "-1.50e+00"},
    {".2e", -2.5, "-2.50e+00"},
    {".2e", 1.7976931348623157e+308, "1.80e+308"},
    {"10.3f", -0.0, "    -0.000"},
    {"10.3f", -INFINITY, "      -inf"},
    {"10.3f", 1e-05, "     0.000"},
    {"10.3f", 1.0, "     1.000"},
    {"10.3f", 1.5, "     1.500"},
    {"+", 1.5, "+1.5"},
    {"+", 1.0, "+1.0"},
    {"+", 123456.0, "+123456.0"},
    {"+", 5e-324, "+5e-324"},
    {"+", -0.0, "-0.0"},
    {"*^15.4E", 1.7976931348623157e+308, "**1.7977E+308**"},
    {"*^15.4E", -1.5, "**-1.5000E+00**"},
    {"*^15.4E", 123456.0, "**1.2346E+05***"},
    {"*^15.4E", 9.995, "**9.9950E+00***"},
    {"*^15.4E", -0.0, "**-0.0000E+00**"},
    {"=+12.2f", 1e+22, "+10000000000000000000000.00"},
    {"=+12.2f", 0.5, "+       0.50"},
    {"=+12.2f", -0.0, "-       0.00"},
    {"=+12.2f", 123456.0, "+  123456.00"},
    {"=+12.2f", 5e-324, "+       0.00"},
    {"015,.1f", 0.1, "0,000,000,000.1"},
    {"015,.1f", 1e+16, "10,000,000,000,000,000.0"},
    {"015,.1f", 1.5, "0,000,000,001.5"},
    {"015,.1f", 5e-324, "0,000,000,000.0"},
    {"015,.1f", -1.5, "-0,000,000,001.5"},
    {"_", 1.7976931348623157e+308, "1.7976931348623157e+308"},
    {"_", 1e+16, "1e+16"},
    {"_", 5e-324, "5e-324"},
    {"_", 0.3333333333333333, "0.3333333333333333"},
    {"_", 0.0001, "0.0001"},
    {".3", -1.5, "-1.5"},
    {".3", 1.7976931348623157e+308, "1.8e+308"},
    {".3", 9.995, "9.99"},
    {".3", 1e-05, "1e-05"},
    {".3", -2.5, "-2.5"},
    {".1", -1.5, "-2e+00"},
    {".1", 5e-324, "5e-324"},
    {".1", 1.0, "1e+00"},
    {".1", 1.7976931348623157e+308, "2e+308"},
    {".1", -0.0, "-0e+00"},
    {"g", 99999.5, "99999.5"},
    {"g", 1e-05, "1e-05"},
    {"g", INFINITY, "inf"},
    {"g", 0.3333333333333333, "0.333333"},
    {"g", 5e-324, "4.94066e-324"},
    {"G", 1.5, "1.5"},
    {"G", 123456789.125, "1.23457E+08"},
    {"G", NAN, "NAN"},
    {"G", 1.7976931348623157e+308, "1.79769E+308"},
    {"G", -2.5, "-2.5"},
    {"#g", 1e+16, "1.00000e+16"},
    {"#g", 123456.0, "123456."},
    {"#g", 0.0001, "0.000100000"},
    {"#g", 1.0, "1.00000"},
    {"#g", 1.7976931348623157e+308, "1.79769e+308"},
    {".0f", 1e+16, "10000000000000000"},
    {".0f", -INFINITY, "-inf"},
    {".0f", INFINITY, "inf"},
    {".0f", 123456789.125, "123456789"},
    {".0f", NAN, "nan"},
    {"#.0e", 1e+16, "1.e+16"},
    {"#.0e", 99999.5, "1.e+05"},
    {"#.0e", 1.0, "1.e+00"},
    {"#.0e", -1.5, "-2.e+00"},
    {"#.0e", -INFINITY, "-inf"},
    {"%", 1.5, "150.000000%"},
    {"%", 0.0001, "0.010000%"},
    {"%", 123456789.125, "12345678912.500000%"},
    {"%", 0.1, "10.000000%"},
    {"%", INFINITY, "inf%"},
    {".1%", 1.5, "150.0%"},
    {".1%", -0.0, "-0.0%"},
    {".1%", 0.3333333333333333, "33.3%"},
    {".1%", 1.0, "100.0%"},
    {".1%", 5e-324, "0.0%"},
    {"n", 1.7976931348623157e+308, "1.79769e+308"},
    {"n", 123456789.125, "1.23457e+08"},
    {"n", -2.5, "-2.5"},
    {"n", 99999.5, "99999.5"},
    {"n", INFINITY, "inf"},
    {"z.0f", 1e+22, "10000000000000000000000"},
    {"z.0f", NAN, "nan"},
    {"z.0f", 1.0, "1"},
    {"z.0f", 100000.0, "100000"},
    {"z.0f", INFINITY, "inf"},
    {" .3f", 0.3333333333333333, " 0.333"},
    {" .3f", 1.0, " 1.000"},
    {" .3f", -0.0, "-0.000"},
    {" .3f", 1e+16, " 10000000000000000.000"},
    {" .3f", 9.995, " 9.995"},
    {"<8", 1.7976931348623157e+308, "1.7976931348623157e+308"},
    {"<8", 0.3333333333333333, "0.3333333333333333"},
    {"<8", NAN, "nan     "},
    {"<8", 1e+16, "1e+16   "},
    {"<8", 0.5, "0.5     "},
    {"08.1f", 0.3333333333333333, "000000.3"},
    {"08.1f", -2.5, "-00002.5"},
    {"08.1f", 0.0, "000000.0"},
    {"08.1f", NAN, "00000nan"},
    {"08.1f", 0.0001, "000000.0"},
    {">12F", 99999.5, "99999.500000"},
    {">12F", -1.5, "   -1.500000"},
    {">12F", INFINITY, "         INF"},
    {">12F", -0.0, "   -0.000000"},
    {">12F", 1e-05, "    0.000010"},
    {".25f", 1e+16, "10000000000000000.0000000000000000000000000"},
    {".25f", 0.1, "0.1000000000000000055511151"},
    {".25f", 123456.0, "123456.0000000000000000000000000"},
    {".25f", 0.5, "0.5000000000000000000000000"},
    {".25f", INFINITY, "inf"},
    {"é^12.2f", 1.0, "éééé1.00éééé"},
    {"é^12.2f", 0.0001, "éééé0.00éééé"},
    {"é^12.2f", NAN, "éééénanééééé"},
    {"é^12.2f", 0.5, "éééé0.50éééé"},
    {"é^12.2f", 5e-324, "éééé0.00éééé"},
    {".12g", 100000.0, "100000"},
    {".12g", 0.1, "0.1"},
    {".12g", 1.5, "1.5"},
    {".12g", 5e-324, "4.94065645841e-324"},
    {".12g", -2.5, "-2.5"},
    {"012", 0.3333333333333333, "0.3333333333333333"},
    {"012", 0.5, "0000000000.5"},
    {"012", 123456.0, "0000123456.0"},
    {"012", 0.1, "0000000000.1"},
    {"012", 1.0, "0000000001.0"},
};

static void formats_numbers_as_python_does(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof FORMATTED / sizeof *FORMATTED; i++) {
        as_format_spec spec;
        const char *problem;
        as_text out;
        as_text_init(&out);
        assert_true(as_format_spec_parse(FORMATTED[i].spec, strlen(FORMATTED[i].spec), false, &spec, &problem));
        as_format_real(&out, FORMATTED[i].value, &spec);
        as_text_write(&out, "", 1);
        if (strcmp(as_text_data(&out), FORMATTED[i].text) != 0)
            fail_msg("'%s' of %.17g: expected '%s', got '%s'", FORMATTED[i].spec, FORMATTED[i].value, FORMATTED[i].text,
                     as_text_data(&out));
        as_text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_as_extrap_does),  cmocka_unit_test(prints_all_with_measurements_and_segments),
        cmocka_unit_test(keeps_integers_of_json), cmocka_unit_test(newlines_separate),
        cmocka_unit_test(refuses_wrong_formats),  cmocka_unit_test(formats_numbers_as_python_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
