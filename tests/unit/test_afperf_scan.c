/* The lexical layer of AFPerf: records, fields, numbers, places. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/afperf/scan.h"

/* All of a text: "type:field|field;…" and, where it stops at a fault, "!step@offset". */
static char *scanned(const char *text, size_t size) {
    static char out[4096];
    as_af_scanner scanner;
    as_af_record record;
    as_af_step step;
    size_t used = 0;
    as_af_scan(&scanner, text, size, 0, NULL);
    while ((step = as_af_next(&scanner, &record)) == AS_AF_RECORD) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%d:", (int)record.type);
        for (size_t i = 0; i < record.n_fields; i++) {
            as_vec meant;
            as_vec_init(&meant, 1, NULL);
            assert_true(as_af_unquote(&record.fields[i], &meant));
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s", i ? "|" : "", (int)meant.count,
                                     meant.data ? (char *)meant.data : "");
            as_vec_free(&meant);
        }
        used += (size_t)snprintf(out + used, sizeof out - used, ";");
    }
    if (step != AS_AF_END)
        snprintf(out + used, sizeof out - used, "!%d@%zu", (int)step, scanner.fault);
    else
        out[used] = '\0';
    as_af_scan_end(&scanner);
    return out;
}

#define SCANNED(text) scanned(text, sizeof(text) - 1)

static void records(void **state) {
    (void)state;
    assert_string_equal(SCANNED(""), "");
    assert_string_equal(SCANNED("RegionStop,1,2\n"), "6:RegionStop|1|2;");
    assert_string_equal(SCANNED("6,1,2"), "6:6|1|2;");
    assert_string_equal(SCANNED("6,1,2\r"), "6:6|1|2;"); /* cut inside a line end */
    assert_string_equal(SCANNED("6,1,\r\n0x6,,\n"), "6:6|1|;6:0x6||;");
    assert_string_equal(SCANNED("6,a\rb,c\n"), "6:6|a\rb|c;");
    assert_string_equal(SCANNED("# \"x, y\n\n \t \n\r\n6,1\n#end"), "6:6|1;");
    assert_string_equal(SCANNED(" # no comment\n"), "0: # no comment;");
    assert_string_equal(SCANNED("\"6\",\"a, \"\"b\"\"\",\"two\nlines\",\"\"\r\n6\n"), "6:6|a, \"b\"|two\nlines|;6:6;");
    assert_string_equal(SCANNED("\"\"\"\",\"x\""), "0:\"|x;");
    assert_string_equal(SCANNED("0,1\n15\nNews\n"), "15:0|1;0:15;0:News;");
}

static void faults(void **state) {
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "6:6|1;!%d@7", AS_AF_LONE_QUOTE);
    assert_string_equal(SCANNED("6,1\n6,a\"b,c\n"), expected);
    snprintf(expected, sizeof expected, "!%d@5", AS_AF_AFTER_QUOTE);
    assert_string_equal(SCANNED("6,\"a\"b\n"), expected);
    assert_string_equal(SCANNED("6,\"a\" ,b\n"), expected);
    assert_string_equal(SCANNED("6,\"a\"\rb\n"), expected);
    assert_string_equal(SCANNED("6,\"a\"x\"\n"), expected);
    snprintf(expected, sizeof expected, "!%d@2", AS_AF_OPEN_QUOTE);
    assert_string_equal(SCANNED("6,\"a\n6,1\n"), expected);
    assert_string_equal(SCANNED("6,\"a\"\""), expected);
    assert_string_equal(SCANNED("6,\""), expected);
    snprintf(expected, sizeof expected, "6:6;!%d@2", AS_AF_OTHER_VERSION);
    assert_string_equal(SCANNED("6\n# AFPerf v2     \n6\n"), expected);
    assert_string_equal(SCANNED("6\n# AFPerf v10    \n6\n"), expected);
    assert_string_equal(SCANNED("6\n# AFPerf v99999999999999999999\n"), expected);
    assert_string_equal(SCANNED("6\n# AFPerf v1     \n# AFPerf values\n# AFPerf v\n7"), "6:6;7:7;");
    for (int step = AS_AF_LONE_QUOTE; step <= AS_AF_OUT_OF_MEMORY; step++)
        assert_true(strlen(as_af_fault_text((as_af_step)step)) > 10);
}

/* Every record has the same fields wherever it lies among blocks of 64 bytes, in memory that ends with it. */
static void blocks(void **state) {
    (void)state;
    static const char record[] = "5,110,\"a \"\"long\"\" label, with\r\nlines\",0x10,tail\r\n6,1";
    for (size_t before = 0; before < 200; before++) {
        size_t size = before + sizeof record;
        char *text = malloc(size), expected[600];
        memset(text, 'x', before);
        text[before] = '\n';
        memcpy(text + before + 1, record, sizeof record - 1);
        snprintf(expected, sizeof expected, "%s%.*s%s5:5|110|a \"long\" label, with\r\nlines|0x10|tail;6:6|1;",
                 before ? "0:" : "", (int)before, text, before ? ";" : "");
        assert_string_equal(scanned(text, size), expected);
        free(text);
    }
}

static void only_the_first_fields(void **state) {
    (void)state;
    static const char text[] = "9,1,2,3,4,5,\"6\"\n9,1\n";
    as_af_scanner scanner;
    as_af_record record;
    as_af_scan(&scanner, text, sizeof text - 1, 0, NULL);
    scanner.most_fields = 3;
    assert_int_equal(as_af_next(&scanner, &record), AS_AF_RECORD);
    assert_int_equal(record.n_fields, 7);
    assert_int_equal(record.offset, 0);
    assert_int_equal(record.end, 16);
    assert_memory_equal(record.fields[2].text, "2", 1);
    assert_int_equal(scanner.fields.count, 3);
    assert_int_equal(as_af_next(&scanner, &record), AS_AF_RECORD);
    assert_int_equal(record.n_fields, 2);
    assert_int_equal(as_af_next(&scanner, &record), AS_AF_END);
    assert_false(scanner.has_high);
    as_af_scan_end(&scanner);
    as_af_scan(&scanner, "6,\xc3\xa4\n", 5, 0, NULL);
    assert_true(scanner.has_high);
    as_af_scan_end(&scanner);
}

static as_af_field field_of(const char *text) { return (as_af_field){.text = text, .size = (uint32_t)strlen(text)}; }

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"007", 7},
                {" 42\t", 42},
                {"+5", 5},
                {"-0", 0},
                {"0x1F", 31},
                {"0X00000000000000000000ff", 255},
                {"18446744073709551615", UINT64_MAX},
                {"0018446744073709551615", UINT64_MAX},
                {"0xffffffffffffffff", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      " ",
                                      "x",
                                      "0x",
                                      "12x",
                                      "-5",
                                      "0x-1",
                                      "18446744073709551616",
                                      "0x10000000000000000",
                                      "1 2",
                                      "1.0",
                                      "--1",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        as_af_field field = field_of(good[i].text);
        uint64_t value = 99;
        assert_true(as_af_integer(&field, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        as_af_field field = field_of(bad[i]);
        uint64_t value;
        assert_false(as_af_integer(&field, &value));
    }
    int64_t number;
    as_af_field field = field_of("-9223372036854775808");
    assert_true(as_af_signed(&field, &number) && number == INT64_MIN);
    field = field_of("-0x10");
    assert_true(as_af_signed(&field, &number) && number == -16);
    field = field_of("9223372036854775807");
    assert_true(as_af_signed(&field, &number) && number == INT64_MAX);
    field = field_of("9223372036854775808");
    assert_false(as_af_signed(&field, &number));
    field = field_of("-9223372036854775809");
    assert_false(as_af_signed(&field, &number));
}

static void reals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1e3", 1000},       {".5", .5},
                {"5.", 5},           {"2.5 \t", 2.5},
                {"-INF", -INFINITY}, {"infinity", INFINITY},
                {"0x1p-3", .125},    {"0X.8P1", 1},
                {"-0xf.8", -15.5},   {"0x10", 16},
                {"1e999", INFINITY}, {"0x1p99999", INFINITY},
                {"0x1p-99999", 0},   {"+7", 7}};
    static const char *const bad[] = {"",    "1.5x", "1,5",  "x",      "0x",   "0x.",   "0x1p", "--1",
                                      "+-1", "1e",   "nan(", "nan(-)", "0x-1", "0xinf", "1 2"};
    double value;
    as_af_field field;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        field = field_of(good[i].text);
        assert_true(as_af_real(&field, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        field = field_of(bad[i]);
        assert_false(as_af_real(&field, &value));
    }
    field = field_of("nan");
    assert_true(as_af_real(&field, &value) && isnan(value));
    field = field_of("-NaN(a_1)");
    assert_true(as_af_real(&field, &value) && isnan(value));
}

static void versions(void **state) {
    (void)state;
    uint64_t major, minor;
    as_af_field field = field_of("1.20.3");
    assert_true(as_af_version(&field, &major, &minor));
    assert_int_equal(major, 1);
    assert_int_equal(minor, 20);
    static const char *const bad[] = {"", "1", "1.0", "1.0.", "1.0.0.0", "1.0.x", "v1.0.0", "-1.0.0", "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        field = field_of(bad[i]);
        assert_false(as_af_version(&field, NULL, NULL));
    }
}

static void types(void **state) {
    (void)state;
    for (int type = 1; type < AS_AF_N_TYPES; type++) {
        const as_af_layout *layout = &as_af_layouts[type];
        char digits[8];
        snprintf(digits, sizeof digits, "0x%x", (unsigned)type);
        assert_int_equal(as_af_type_of(layout->name, strlen(layout->name)), type);
        assert_int_equal(as_af_type_of(digits, strlen(digits)), type);
        assert_true(layout->n_required <= layout->n_fields && layout->fields[layout->n_fields - 1].name);
    }
    assert_int_equal(as_af_type_of("regionstart", 11), AS_AF_UNKNOWN);
    assert_int_equal(as_af_type_of("", 0), AS_AF_UNKNOWN);
    assert_int_equal(as_af_type_of("00", 2), AS_AF_RESERVED);
}

static size_t omitted(const char *text) {
    as_af_scanner scanner;
    as_af_record record;
    as_af_scan(&scanner, text, strlen(text), 0, NULL);
    assert_int_equal(as_af_next(&scanner, &record), AS_AF_RECORD);
    size_t field = as_af_omitted(&record);
    as_af_scan_end(&scanner);
    return field;
}

static void omitted_fields(void **state) {
    (void)state;
    assert_int_equal(omitted("RunInfo,1,nanoseconds,1.5,0xbad,mission,2.9,"), 4);
    assert_int_equal(omitted("RunInfo,1,nanoseconds,1.5,0xbad,mission,2.9"), 4);
    assert_int_equal(omitted("RunInfo,1,nanoseconds,1.5,1.0.0,0xbad,mission,2.9"), 0);
    assert_int_equal(omitted("RunInfo,1,nanoseconds,1.5,1.0,0xbad,mission,2.9,"), 0);
    assert_int_equal(omitted("RegionStart,1,0x1,label,"), 2);
    assert_int_equal(omitted("RegionStart,1,0x1,label"), 2);
    assert_int_equal(omitted("RegionStart,1,0x1,0x2,label"), 0);
    assert_int_equal(omitted("RegionStart,1,0x1,,label,"), 0);
    assert_int_equal(omitted("RegionStart,1,0x1,2x,label,tags"), 0);
    assert_int_equal(omitted("SectionInfo,,0x1,label,a=b"), 2);
    assert_int_equal(omitted("SectionStart,1,0x1,label"), 0);
}

static void places(void **state) {
    (void)state;
    static const char text[] = "ab\nc\n\nd";
    as_af_lines lines = {0};
    static const unsigned at[][3] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 3, 1},
                                     {6, 4, 1}, {7, 4, 2}, {6, 4, 1}, {1, 1, 2}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        as_place place = as_af_place(&lines, "f", text, at[i][0]);
        assert_int_equal(place.offset, at[i][0]);
        assert_int_equal(place.line, at[i][1]);
        assert_int_equal(place.column, at[i][2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(records),        cmocka_unit_test(faults),
                                       cmocka_unit_test(blocks),         cmocka_unit_test(only_the_first_fields),
                                       cmocka_unit_test(integers),       cmocka_unit_test(reals),
                                       cmocka_unit_test(versions),       cmocka_unit_test(types),
                                       cmocka_unit_test(omitted_fields), cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
