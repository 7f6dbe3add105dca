/* Perun profiles by hand: every layout, what is odd, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/perun/perun.h"

#define HEADER "\"header\":{\"type\":\"mixed\",\"units\":{\"mixed(time delta)\":\"us\",\"memory\":\"B\"},\"cmd\":\"c\"}"

static as_dataset *read_with(const char *text, const as_read_config *config) {
    as_dataset *ds = NULL;
    assay_error error = {0};
    assay_status status = as_read_memory("p.perf", text, strlen(text), config, &ds, &error);
    if (status != ASSAY_OK) fail_msg("%s:%u:%u: %s", error.path, error.line, error.column, error.message);
    return ds;
}

static as_dataset *read_text(const char *text) { return read_with(text, NULL); }

/* The table "record" without id and run: "name,…\n" and a line for each row; null is empty, text in quotes. */
static char *records_text(const as_dataset *ds) {
    const as_table *table = as_ds_records(ds, "record");
    size_t size;
    char *text, number[AS_NUMBER_SIZE];
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 2; i < as_table_columns(table); i++) fprintf(out, "%s,", as_table_column_name(table, i));
    for (size_t row = 0; row < as_table_rows(table); row++) {
        fputc('\n', out);
        for (size_t i = 2; i < as_table_columns(table); i++) {
            as_cell cell = as_table_get(table, row, i);
            number[0] = '\0';
            if (cell.type == AS_CELL_INT) as_int_format(cell.i, number);
            if (cell.type == AS_CELL_UINT) as_uint_format(cell.u, number);
            if (cell.type == AS_CELL_REAL) as_real_format_python(cell.r, number);
            if (cell.type == AS_CELL_TEXT) fprintf(out, "'%.*s'", (int)cell.size, cell.text);
            fprintf(out, "%s,", number);
        }
    }
    fclose(out);
    return text;
}

static void check_records(const char *text, const char *expected) {
    as_dataset *ds = read_text(text);
    char *got = records_text(ds);
    assert_string_equal(got, expected);
    free(got);
    as_dataset_free(ds);
}

/* "metric path value" for each value, and a newline. */
static char *values_text(const as_dataset *ds) {
    size_t size;
    char *text, number[AS_NUMBER_SIZE];
    FILE *out = open_memstream(&text, &size);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    for (size_t i = 0; i < AS_COUNT(ds, blocks); i++) {
        const as_block *block = as_ds_block(ds, i);
        for (uint32_t k = 0; k < block->n_contexts; k++) {
            path.count = 0;
            assert_true(as_context_path(ds, block->contexts[k], &path));
            as_number_format(as_block_value(block, block->starts[k]), number);
            fprintf(out, "%s %s %s\n", as_ds_text(ds, as_ds_metric(ds, block->metric)->name), (char *)path.data,
                    number);
        }
    }
    as_vec_free(&path);
    fclose(out);
    return text;
}

static void check_values(const char *text, const char *expected) {
    as_dataset *ds = read_text(text);
    char *got = values_text(ds);
    assert_string_equal(got, expected);
    free(got);
    assert_true(as_ds_check(ds, NULL));
    as_dataset_free(ds);
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static void snapshots_have_number_and_time(void **state) {
    (void)state;
    check_records("{" HEADER ",\"snapshots\":[{\"time\":\"0.1\",\"resources\":[{\"uid\":\"u\",\"amount\":1}]},"
                  "{\"resources\":[]},{\"resources\":[{\"amount\":2.5,\"uid\":\"u\"}]}]}",
                  "amount,uid,time,snapshot,\n1,'u','0.1',0,\n2.5,'u','0.0',2,");
    /* the time may come behind the resources, and wins over what resources say themselves */
    check_records("{\"snapshots\":[{\"resources\":[{\"uid\":1,\"time\":\"x\",\"snapshot\":7}],\"time\":\"9\"}]}",
                  "uid,time,snapshot,\n1,'9',0,");
}

static void global_is_an_object_or_a_list(void **state) {
    (void)state;
    check_records("{\"global\":{\"timestamp\":3,\"resources\":[{\"uid\":\"u\",\"amount\":1}]}}",
                  "amount,uid,time,\n1,'u','0.0',");
    check_records("{\"global\":[{\"uid\":\"u\",\"amount\":1}]}", "amount,uid,\n1,'u',");
    check_records("{\"global\":{}}", "");
}

static void lists_have_neither(void **state) {
    (void)state;
    check_records(
        "{\"resources\":[{\"uid\":\"a\",\"amount\":1},{\"uid\":\"b\",\"amount\":2},{\"uid\":\"a\",\"amount\":3}]}",
        "amount,uid,\n1,'a',\n2,'b',\n3,'a',");
}

#define MAP                                                                                                            \
    "\"resource_type_map\":{\"f#0\":{\"uid\":\"f\",\"type\":\"mixed\"},\"g#0\":{\"uid\":\"g\",\"bound\":\"O(n)\"}}"
#define COLUMNS "\"resources\":{\"f#0\":{\"amount\":[3,5],\"structure-unit-size\":[1,2.5]},\"g#0\":{}}"

static void columns_go_with_their_map(void **state) {
    (void)state;
    const char *expected =
        "amount,structure-unit-size,uid,type,bound,\n3,1,'f','mixed',,\n5,2.5,'f','mixed',,\n,,'g',,'O(n)',";
    check_records("{" COLUMNS "," MAP "}", expected);
    check_records("{" MAP "," COLUMNS "}", expected);
    as_dataset *ds = read_text("{" COLUMNS "," MAP "}");
    assert_string_equal(as_ds_text(ds, ds->format_version), "new");
    as_dataset_free(ds);
    ds = read_text("{\"resources\":[]}");
    assert_string_equal(as_ds_text(ds, ds->format_version), "old");
    as_dataset_free(ds);
}

static void the_map_wins_over_columns(void **state) {
    (void)state;
    check_records("{\"resources\":{\"f#0\":{\"amount\":[3,5],\"cluster\":[1,[2,3]]}},"
                  "\"resource_type_map\":{\"f#0\":{\"uid\":\"f\",\"amount\":7}}}",
                  "amount,cluster,uid,\n7,1,'f',\n7,'2,3','f',");
}

static void regions_keep_the_order_of_the_file(void **state) {
    (void)state;
    check_records(
        "{\"snapshots\":[{\"resources\":[{\"uid\":1}]}],\"global\":{\"time\":\"3\",\"resources\":[{\"uid\":2}]},"
        "\"resources\":[{\"uid\":3}]}",
        "uid,time,snapshot,\n1,'0.0',0,\n2,'3',,\n3,,,");
}

static void keys_and_numbers_keep_what_they_are(void **state) {
    (void)state;
    check_records(
        "{\"resources\":[{\"uid\":{\"line\":22,\"source\":\"a.c\",\"function\":\"main\"},\"id\":5,\"run\":\"r\"}]}",
        "uid:line,uid:source,uid:function,uid,source:id,source:run,\n22,'a.c','main','a.c:main:22',5,'r',");
    check_records(
        "{\"resources\":[{\"uid\":\"a\",\"amount\":9007199254740993},{\"uid\":\"a\",\"amount\":9223372036854775813},"
        "{\"uid\":\"a\",\"amount\":123456789012345678901234567890},{\"uid\":\"a\",\"amount\":true},"
        "{\"uid\":\"a\",\"amount\":null},{\"uid\":\"a\",\"amount\":\"12ms\"},{\"uid\":\"a\",\"amount\":-0.5}]}",
        "amount,uid,\n9007199254740993,'a',\n9223372036854775813,'a',\n'123456789012345678901234567890','a',"
        "\n1,'a',\n,'a',\n'12ms','a',\n-0.5,'a',");
    check_records("{\"resources\":[{\"uid\":\"a\",\"amount\":{\"x\":1,\"y\":2}},{\"uid\":\"a\",\"amount\":3}]}",
                  "amount,uid,amount:x,amount:y,\n'1:2','a',1,2,\n3,'a',,,");
}

/* What stands in most resources of one program: the same text but for the numbers. */
static void repeated_text_is_the_same_as_read(void **state) {
    (void)state;
    check_records("{\"resources\":[{\"amount\": 1, \"uid\": \"a\", \"order\": 1}, {\"amount\": -2.25, \"uid\": \"a\", "
                  "\"order\": 2},"
                  "{\"amount\": 3, \"uid\": \"b\", \"order\": 3}, {\"amount\": 1e3, \"uid\": \"a\", \"order\": 4},"
                  "{\"amount\": 0.1, \"uid\": \"b\", \"order\": 5},{\"amount\": \"x\", \"uid\": \"b\", \"order\": 6},"
                  "{\"amount\": 12345678901234567890, \"uid\": \"a\", \"order\": 7}]}",
                  "amount,order,uid,\n1,1,'a',\n-2.25,2,'a',\n3,3,'b',\n1000.0,4,'a',\n0.1,5,'b',\n'x',6,'b',"
                  "\n12345678901234567890,7,'a',");
    /* the same text in another snapshot is another type */
    check_records("{\"snapshots\":[{\"resources\":[{\"amount\":1,\"uid\":\"a\"},{\"amount\":2,\"uid\":\"a\"}]},"
                  "{\"resources\":[{\"amount\":3,\"uid\":\"a\"}]}]}",
                  "amount,uid,time,snapshot,\n1,'a','0.0',0,\n2,'a','0.0',0,\n3,'a','0.0',1,");
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static size_t count_kinds(const char *resources) {
    char text[1000];
    snprintf(text, sizeof text, "{\"resources\":[%s]}", resources);
    as_dataset *ds = read_text(text);
    size_t n = as_perun_of(ds)->kinds.count;
    assert_int_equal(n, as_records_kinds(as_perun_of(ds)->records));
    as_dataset_free(ds);
    return n;
}

static void kinds_are_told_apart_as_perun_does(void **state) {
    (void)state;
    assert_int_equal(
        count_kinds("{\"uid\":\"u\",\"type\":\"t\"},{ \"type\" : \"t\", \"amount\":1, \"uid\":\"\\u0075\" }"), 1);
    assert_int_equal(count_kinds("{\"uid\":{\"a\":1,\"b\":2}},{\"uid\":{\"b\":2,\"a\":1}}"), 2);
    assert_int_equal(count_kinds("{\"uid\":1},{\"uid\":1.0},{\"uid\":\"1\"},{\"uid\":true},{\"uid\":[1]}"), 5);
    assert_int_equal(count_kinds("{\"uid\":1.0},{\"uid\":1.00},{\"uid\":10e-1}"), 1);
}

static void members_of_kinds_are_what_resources_say(void **state) {
    (void)state;
    as_dataset *ds = read_text("{\"snapshots\":[{\"resources\":[{\"uid\":\"u\", \"time\":5, \"amount\":1, "
                               "\"trace\":[{\"function\":\"f\"}], \"subtype\":\"free\"}]}]}");
    const as_perun_kind *kind = &AS_AT(as_perun_kind, &as_perun_of(ds)->kinds, 0);
    const char *expected = "\"uid\":\"u\",\"trace\":[{\"function\":\"f\"}],\"subtype\":\"free\"";
    assert_int_equal(kind->members.size, strlen(expected));
    assert_memory_equal(kind->members.text, expected, kind->members.size);
    assert_memory_equal(kind->uid.text, "\"u\"", kind->uid.size);
    assert_memory_equal(kind->trace.text, "[{\"function\":\"f\"}]", kind->trace.size);
    assert_string_equal(as_ds_text(ds, kind->flat_uid), "u");
    assert_true(kind->is_free);
    assert_int_equal(kind->snapshot, 0);
    assert_int_equal(kind->place, AS_PERUN_SNAPSHOTS);
    as_dataset_free(ds);
}

/* ---- call paths, metrics, values --------------------------------------------------------------------------------- */

static void amounts_are_added_up_by_call_path(void **state) {
    (void)state;
    check_values("{" HEADER ",\"resources\":["
                 "{\"uid\":\"a\",\"amount\":9007199254740993,\"type\":\"mixed\",\"subtype\":\"time delta\"},"
                 "{\"uid\":\"a\",\"amount\":2,\"type\":\"mixed\",\"subtype\":\"time delta\",\"x\":1},"
                 "{\"uid\":\"b\",\"amount\":1,\"type\":\"mixed\"},{\"uid\":\"b\",\"amount\":0.5,\"type\":\"mixed\"},"
                 "{\"uid\":\"b\",\"amount\":\"x\",\"type\":\"mixed\"},{\"uid\":null,\"amount\":7,\"type\":\"mixed\"}]}",
                 "mixed(time delta) a 9007199254740995\nmixed b 1.5\n");
    /* beyond 64 bits */
    check_values("{\"resources\":[{\"uid\":\"a\",\"amount\":9223372036854775807},{\"uid\":\"a\",\"amount\":1}]}",
                 "amount a 9223372036854775808\n");
    check_values(
        "{\"header\":{\"units\":{\"time\":\"s\"}},\"resources\":[{\"uid\":\"a\",\"amount\":18446744073709551615},"
        "{\"uid\":\"a\",\"amount\":18446744073709551615}]}",
        "time a 36893488147419103232\n");
}

static void traces_run_from_the_outermost(void **state) {
    (void)state;
    check_values(
        "{\"resources\":[{\"uid\":{\"function\":\"m\",\"line\":3},\"amount\":4,\"trace\":["
        "{\"function\":\"malloc\",\"line\":0},{\"function\":\"m\",\"line\":3},{\"function\":\"main\",\"line\":9}]}]}",
        "amount main:9->m:3->malloc:0 4\n");
    check_values("{\"resources\":[{\"uid\":\"leaf\",\"command\":\"sh\",\"amount\":4,\"trace\":[{\"func\":\"main\"},"
                 "{\"func\":\"mid\"}]},{\"uid\":\"leaf\",\"command\":\"sh\",\"amount\":5,\"trace\":[]}]}",
                 "amount sh->main->mid->leaf 4\namount leaf 5\n");
    as_dataset *ds = read_text("{\"resources\":[{\"uid\":{\"function\":\"m\",\"source\":\"s.c\",\"line\":3}}]}");
    assert_int_equal(AS_COUNT(ds, regions), 1);
    assert_string_equal(as_ds_text(ds, as_ds_region(ds, 0)->file), "s.c");
    assert_int_equal(as_ds_region(ds, 0)->line_begin, 3);
    as_dataset_free(ds);
}

static bool collect(void *user, const as_measurement *measurement) {
    as_measurement **next = user;
    *(*next)++ = *measurement;
    return true;
}

static void sizes_are_points(void **state) {
    (void)state;
    as_dataset *ds =
        read_text("{\"resources\":{\"f#0\":{\"amount\":[3,5,4,8,1],\"structure-unit-size\":[20,10,20,1e6,\"x\"]}},"
                  "\"resource_type_map\":{\"f#0\":{\"uid\":\"f\",\"trace\":[{\"func\":\"main\"}]}}}");
    as_measurement got[4], *next = got;
    assert_int_equal(as_ds_parameters(ds), 1);
    assert_string_equal(as_ds_parameter(ds, 0), "structure-unit-size");
    assert_int_equal(ds->n_points, 3);
    assert_true(as_ds_point(ds, 0)[0] == 10 && as_ds_point(ds, 1)[0] == 20 && as_ds_point(ds, 2)[0] == 1e6);
    assert_int_equal(AS_COUNT(ds, series), 1);
    assert_true(as_measure(ds, as_ds_series(ds, 0), collect, &next));
    assert_int_equal(next - got, 3);
    assert_true(got[1].point == 1 && got[1].repetitions == 2 && got[1].mean == 3.5 && got[1].median == 3.5);
    assert_true(got[1].minimum == 3 && got[1].maximum == 4 && got[1].std == 0.5);
    assert_true(got[2].repetitions == 1 && got[2].mean == 8);
    const as_context *context = as_ds_context(ds, got[0].context);
    assert_int_equal(context->parent, ASSAY_NONE);
    assert_string_equal(as_ds_text(ds, context->name), "f");
    as_dataset_free(ds);
}

/* Many series at points that no two of them share: no array of all is made. */
static void sparse_sizes_are_points_too(void **state) {
    (void)state;
    enum { N = 1000 };
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fputs("{\"resources\":[", out);
    for (int i = 0; i < N; i++)
        fprintf(out,
                "%s{\"uid\":%d,\"amount\":%d,\"structure-unit-size\":%d.5},{\"uid\":%d,\"amount\":%d,\"structure-unit-"
                "size\":%d.5}",
                i ? "," : "", i, i, N - i, i, i + 2, N - i);
    fputs("]}", out);
    fclose(out);
    as_dataset *ds = read_text(text);
    assert_int_equal(ds->n_points, N);
    assert_int_equal(AS_COUNT(ds, measurements), N);
    assert_true(as_ds_load_measurements(ds));
    for (uint32_t i = 0; i < N; i++) {
        const as_measurement *m = as_ds_measurement(ds, as_ds_series(ds, i)->first_measurement);
        assert_true(m->mean == i + 1 && m->repetitions == 2 && as_ds_point(ds, m->point)[0] == N - i + 0.5);
    }
    as_dataset_free(ds);
    free(text);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const as_attribute *find_attribute(const as_dataset *ds, const char *key) {
    for (size_t i = 0; i < AS_COUNT(ds, attributes); i++) {
        if (strcmp(as_ds_text(ds, as_ds_attribute(ds, i)->key), key) == 0) return as_ds_attribute(ds, i);
    }
    fail_msg("no attribute %s", key);
    return NULL;
}

static void all_else_is_attributes(void **state) {
    (void)state;
    as_dataset *ds = read_text(
        "{" HEADER ",\"collector\":{\"name\":\"t\",\"params\":{\"x\":[1,{\"y\":null}]}},\"minor_version\":\"z\","
        "\"global\":{\"time\":\"1\",\"timestamp\":2.5,\"resources\":[]},\"chunks\":{}}");
    assert_string_equal(find_attribute(ds, "header:units:memory")->value.text, "B");
    assert_string_equal(find_attribute(ds, "minor_version")->value.text, "z");
    assert_int_equal(find_attribute(ds, "collector:params:x:0")->value.i, 1);
    assert_int_equal(find_attribute(ds, "collector:params:x:1:y")->value.type, AS_CELL_NULL);
    assert_true(find_attribute(ds, "global:timestamp")->value.r == 2.5);
    assert_string_equal(find_attribute(ds, "chunks")->value.text, "{}");
    assert_int_equal(find_attribute(ds, "chunks")->owner, AS_OWNER_RUN);
    assert_int_equal(AS_COUNT(ds, attributes), 11);
    as_dataset_free(ds);
}

static void large_regions_are_one_attribute(void **state) {
    (void)state;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fputs("{\"header\":{},\"stats\":[0", out);
    for (int i = 0; i < 10000; i++) fputs(",1", out);
    fputs("]}", out);
    fclose(out);
    as_dataset *ds = read_text(text);
    assert_int_equal(AS_COUNT(ds, attributes), 2);
    assert_int_equal(find_attribute(ds, "stats")->value.type, AS_CELL_JSON);
    assert_int_equal(find_attribute(ds, "stats")->value.size, 3 + 2 * 10000);
    as_dataset_free(ds);
    free(text);
}

/* ---- what is odd ------------------------------------------------------------------------------------------------- */

static void oddities_are_problems_with_a_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *rule, *message;
        uint32_t line, column;
    } cases[] = {
        {"{\"resources\":[{\"amount\":1},\n {\"amount\":2}]}", "missing-uid",
         "2 resources have no uid; this is the first", 1, 15},
        {"{\"resources\":{\"f#0\":{\"amount\":[1]}},\"resource_type_map\":{\"f#0\":{}}}", "missing-uid",
         "a resource has no uid", 1, 15},
        {"{\"snapshots\":[{\"resources\":[]},\n{\"time\":\"1\"}]}", "missing-resources", "there are no resources in it",
         2, 1},
        {"{\"global\":{\"time\":\"1\"}}", "missing-resources", "there are no resources in it", 1, 11},
        {"{\"resources\":{\"u#0\":{\"amount\":[1,2,3],\"order\":[1,2]}},\"resource_type_map\":{\"u#0\":{\"uid\":\"u\"}}"
         "}",
         "uneven-columns", "the columns of this type have different lengths; what is missing is NULL", 1, 15},
        {"{\"resources\":[{\"uid\":\"u\",\"amount\":1,\n\"amount\":2}]}", "duplicate-key",
         "this key is there before; its last value counts", 2, 1},
        {"{\"resources\":[{\"uid\":\"u\",\"uid\":\"v\"}]}", "duplicate-key",
         "this key is there before; its last value counts", 1, 15},
        {"{\"resources\":[{\"uid\":\"u\",\"amount\":\"12ms\"}]}", "amount-type",
         "this amount is no number, and counts nowhere", 1, 35},
        {"{\"resources\":[{\"uid\":\"u\",\"amount\":1e999}]}", "number-range",
         "this number is too large, and counts as infinity", 1, 35},
        {"{\"resources\":[],\"models\":[{\"uid\":\"u\",\"x\":[NaN]}]}", "nan",
         "NaN and Infinity are no JSON, but read as numbers", 1, 43},
        {"{\"resources\":[{\"uid\":\"u\",\"amount\":NaN},{\"uid\":\"u\",\"amount\":-Infinity}]}", "nan",
         "2 numbers are NaN or Infinity, which is no JSON; this is the first", 1, 35},
        /* also where resources repeat each other */
        {"{\"resources\":[{\"uid\":\"u\",\"x\":NaN,\"amount\":1},{\"uid\":\"u\",\"x\":NaN,\"amount\":2},"
         "{\"uid\":\"u\",\"x\":NaN,\"amount\":3}]}",
         "nan", "3 numbers are NaN or Infinity, which is no JSON; this is the first", 1, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dataset *ds = read_text(cases[i].text);
        assert_int_equal(AS_COUNT(ds, problems), 1);
        const as_problem *problem = as_ds_problem(ds, 0);
        assert_int_equal(problem->severity, AS_WARNING);
        assert_string_equal(problem->rule, cases[i].rule);
        assert_string_equal(problem->message, cases[i].message);
        if (problem->line != cases[i].line || problem->column != cases[i].column)
            fail_msg("case %zu: %u:%u", i, problem->line, problem->column);
        as_dataset_free(ds);
    }
}

static void odd_values_are_read_as_said(void **state) {
    (void)state;
    check_records("{\"resources\":{\"u#0\":{\"amount\":[1,2,3],\"order\":[1,2]}},\"resource_type_map\":{\"u#0\":{"
                  "\"uid\":\"u\"}}}",
                  "amount,order,uid,\n1,1,'u',\n2,2,'u',\n3,,'u',");
    check_records("{\"resources\":[{\"uid\":\"u\",\"amount\":1,\"amount\":2,\"uid\":\"v\"}]}", "amount,uid,\n2,'v',");
    check_records("{\"resources\":[{\"uid\":\"u\",\"amount\":1e999}]}", "amount,uid,\ninf,'u',");
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void wrong_shapes_are_refused_at_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *rule;
        uint32_t line, column;
    } cases[] = {
        {"", "json-syntax", 1, 1},
        {"[1]", "wrong-type", 1, 1},
        {"42", "wrong-type", 1, 1},
        {"{\"a\":1}", "missing-region", 1, 1},
        {"{\"header\":{\"type\":\"time\",\n}}", "json-syntax", 1, 25},
        {"{\"resources\":[]} x", "json-syntax", 1, 18},
        {"{\"resources\":5}", "wrong-type", 1, 14},
        {"{\"resources\":[5]}", "wrong-type", 1, 15},
        {"{\"resources\":[{\"uid\":1},{\"uid\":1},[]]}", "wrong-type", 1, 35},
        {"{\"resources\":{\"u#0\":[]}}", "wrong-type", 1, 21},
        {"{\"resources\":{\"u#0\":{\"amount\":5}}}", "wrong-type", 1, 31},
        {"{\"resources\":{\"u#0\":{\"amount\":[5]}},\"resource_type_map\":{}}", "missing-type", 1, 15},
        {"{\"resources\":{\"u#0\":{}},\"resource_type_map\":{\"u#0\":1}}", "wrong-type", 1, 52},
        {"{\"resources\":{\"u#0\":{},\"u#0\":{}}}", "duplicate-key", 1, 24},
        {"{\"resources\":{\"u#0\":{\"amount\":[1],\"amount\":[2]}}}", "duplicate-key", 1, 35},
        {"{\"resources\":[],\"resources\":[]}", "duplicate-key", 1, 17},
        {"{\"resource_type_map\":[],\"header\":{}}", "wrong-type", 1, 22},
        {"{\"snapshots\":{}}", "wrong-type", 1, 14},
        {"{\"snapshots\":[\n1]}", "wrong-type", 2, 1},
        {"{\"snapshots\":[{\"resources\":{}}]}", "wrong-type", 1, 28},
        {"{\"snapshots\":[{\"resources\":[],\"resources\":[]}]}", "duplicate-key", 1, 31},
        {"{\"global\":1}", "wrong-type", 1, 11},
        {"{\"resources\":[{\"uid\":\"u\",\"amount\":01}]}", "json-syntax", 1, 35},
        {"{\"resources\":[{\"uid\":1,\"amount\":1},{\"uid\":1,\"amount\":1x}]}", "json-syntax", 1, 55},
        {"{\"resources\":{\"u#0\":{\"amount\":[1,2,3,]}}}", "json-syntax", 1, 37},
        {"{\"resources\":{\"u#0\":{\"amount\":[1,2", "json-syntax", 1, 35},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dataset *ds = NULL;
        assay_error error = {0};
        as_read_config config = {.format = "perun"};
        assay_status status = as_read_memory("p", cases[i].text, strlen(cases[i].text), &config, &ds, &error);
        if (status != ASSAY_E_FORMAT || strcmp(error.rule, cases[i].rule) != 0 || error.line != cases[i].line ||
            error.column != cases[i].column)
            fail_msg("case %zu: %u:%u: %s: %s", i, error.line, error.column, error.rule, error.message);
        config.keep_going = true; /* what is broken is a problem then, and nothing crashes */
        assert_int_equal(as_read_memory("p", cases[i].text, strlen(cases[i].text), &config, &ds, &error), ASSAY_OK);
        assert_true(AS_COUNT(ds, problems) > 0);
        as_dataset_free(ds);
    }
}

static void nesting_ends_at_the_limit(void **state) {
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH + 100);
    size_t n = (size_t)sprintf(text, "{\"resources\":[{\"uid\":");
    memset(text + n, '[', DEPTH);
    as_dataset *ds = NULL;
    assay_error error = {0};
    assert_int_equal(as_read_memory("p", text, n + DEPTH, &(as_read_config){.format = "perun"}, &ds, &error),
                     ASSAY_E_FORMAT);
    assert_string_equal(error.message, "nested deeper than 1024 levels");
    free(text);
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

static void profiles_are_recognised(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"resources\":[]}", "{\"header\":{}}", "{\"models\":[],\"snapshots\":[]}",
                                        " \n{\"collector\":{},\"cmd\":\"x\"}", "\xef\xbb\xbf{\"global\":{}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        as_dataset *ds = read_text(texts[i]);
        assert_string_equal(ds->format, "perun");
        as_dataset_free(ds);
    }
    static const char *const others[] = {"{\"a\":1}", "{\"x\":{\"header\":{}}}", "{\"header\":1}", "[{\"header\":{}}]"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        as_probe probe = {.path = "p", .head = others[i], .head_size = strlen(others[i]), .size = strlen(others[i])};
        assert_int_equal(as_format_perun.bid(&probe), 0);
    }
}

/* Memory may be out at any allocation: a limit that is a little larger each time. */
static void limits_of_memory_are_kept(void **state) {
    (void)state;
    const char *text = "{" HEADER "," COLUMNS "," MAP ",\"snapshots\":[{\"resources\":[{\"uid\":{\"a\":1},\"amount\":1,"
                       "\"structure-unit-size\":3,\"trace\":[{\"function\":\"f\"}]}],\"models\":[{\"uid\":\"u\"}]}]}";
    bool was_enough = false;
    for (uint64_t limit = 1000; !was_enough; limit += 997) {
        as_dataset *ds = NULL;
        assay_error error = {0};
        as_read_config config = {.memory_limit = limit};
        assay_status status = as_read_memory("p", text, strlen(text), &config, &ds, &error);
        assert_true(status == ASSAY_OK || status == ASSAY_E_NOMEM);
        was_enough = status == ASSAY_OK;
        if (was_enough) as_dataset_free(ds);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_have_number_and_time),
        cmocka_unit_test(global_is_an_object_or_a_list),
        cmocka_unit_test(lists_have_neither),
        cmocka_unit_test(columns_go_with_their_map),
        cmocka_unit_test(the_map_wins_over_columns),
        cmocka_unit_test(regions_keep_the_order_of_the_file),
        cmocka_unit_test(keys_and_numbers_keep_what_they_are),
        cmocka_unit_test(repeated_text_is_the_same_as_read),
        cmocka_unit_test(kinds_are_told_apart_as_perun_does),
        cmocka_unit_test(members_of_kinds_are_what_resources_say),
        cmocka_unit_test(amounts_are_added_up_by_call_path),
        cmocka_unit_test(traces_run_from_the_outermost),
        cmocka_unit_test(sizes_are_points),
        cmocka_unit_test(sparse_sizes_are_points_too),
        cmocka_unit_test(all_else_is_attributes),
        cmocka_unit_test(large_regions_are_one_attribute),
        cmocka_unit_test(oddities_are_problems_with_a_place),
        cmocka_unit_test(odd_values_are_read_as_said),
        cmocka_unit_test(wrong_shapes_are_refused_at_their_place),
        cmocka_unit_test(nesting_ends_at_the_limit),
        cmocka_unit_test(profiles_are_recognised),
        cmocka_unit_test(limits_of_memory_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
