/* AFPerf captures: what lands where, pieces of large files, captures that are cut or changed anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/format.h"

#define HEAD "# AFPerf v1     \n"
#define RUN  "RunInfo,100,nanoseconds,1639527663.5,1.0.0,0x1,app,2.0,size=4\n"

static const char SMALL[] = HEAD RUN
    "MeasurementType,100,0x1,0xa,T,double,s,,\nMeasurementType,100,0x1,0xb,N,int64,count,Sum,More\n"
    "RegionStart,110,0x1,0x10,\"a, \"\"b\"\"\n\",k=v;w=x\nRegionPoint,110,0x10,0xb,5\nRegionStart,115,0x1,0x11,in,\n"
    "RegionStop,120,0x11\nRegionAggregate,120,115,0x11,,0xa,2.5,0xb,7\nRegionStop,150,0x10\n"
    "RegionPoint,150,0x10,0xb,9\nSectionInfo,,0x1,0x20,s,t=u\nSectionStart,110,0x20,1\nSectionStart,112,0x20,2\n"
    "SectionStop,118,0x20,1\nSectionPoint,118,0x20,1,0xb,3\nSectionStop,130,0x20,2\nPauseResume,126,116,0x1\n"
    "RunPoint,130,0x1,0xa,1e3\nRunAggregate,150,100,0x1,mean,0xa,0x1p-1\n# end\n";

static as_dataset *read_text(const char *text, size_t size, const char *const *options, assay_error *error) {
    char *copy = malloc(size ? size : 1); /* so that reading beyond its end is noticed */
    assert_non_null(copy);
    memcpy(copy, text, size);
    as_read_config config = {.format = "afperf", .options = options};
    as_dataset *ds = NULL;
    assay_status status = as_read_memory("input", copy, size, &config, &ds, error);
    free(copy);
    assert_true((status == ASSAY_OK) == (ds != NULL));
    return ds;
}

static as_dataset *read_well(const char *text, const char *const *options) {
    as_dataset *ds = read_text(text, strlen(text), options, NULL);
    assert_non_null(ds);
    return ds;
}

static assay_id metric_of(const as_dataset *ds, const char *name) {
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        if (strcmp(as_ds_text(ds, as_ds_metric(ds, i)->name), name) == 0) return i;
    }
    return ASSAY_NONE;
}

/* The value of a metric at a path in the first run, NAN where it has none. */
static double value_of(const as_dataset *ds, const char *metric, const char *kind, const char *path) {
    double value = NAN;
    const as_profile *profile = as_ds_profile(ds, metric_of(ds, metric), 0);
    as_vec text;
    as_vec_init(&text, 1, NULL);
    for (uint32_t i = 0; profile && i < profile->n_rows; i++) {
        const as_context *context = as_ds_context(ds, profile->contexts[i]);
        assert_true(as_context_path(ds, profile->contexts[i], &text));
        if (strcmp(text.data, path) == 0 && strcmp(as_ds_text(ds, as_ds_region(ds, context->region)->kind), kind) == 0)
            value = as_part_real(profile->type, as_profile_row(profile, i), 0);
        text.count = 0;
    }
    as_vec_free(&text);
    return value;
}

static void check_value(const as_dataset *ds, const char *metric, const char *kind, const char *path, double expected) {
    assert_float_equal(value_of(ds, metric, kind, path), expected, 1e-18);
}

static void values(void **state) {
    (void)state;
    as_dataset *ds = read_well(SMALL, NULL);
    assert_int_equal(ds->problems.count, 0);
    check_value(ds, "visits", "region", "a, \"b\"\n", 1);
    check_value(ds, "time", "region", "a, \"b\"\n", 40e-9);
    check_value(ds, "time", "region", "a, \"b\"\n->in", 5e-9);
    check_value(ds, "visits", "section", "s", 2);
    check_value(ds, "time", "section", "s", 26e-9);         /* 8 + 18 */
    check_value(ds, "time covered", "section", "s", 20e-9); /* 110 … 130 */
    check_value(ds, "N", "region", "a, \"b\"\n", 4);        /* 9 - 5 */
    check_value(ds, "N", "region", "a, \"b\"\n->in", 7);
    check_value(ds, "T", "region", "a, \"b\"\n->in", 2.5);
    check_value(ds, "N", "section", "s", 3);
    as_dataset_free(ds);
    static const char *const options[] = {"deduct_pauses=yes", NULL};
    ds = read_well(SMALL, options); /* a pause from 116 to 126 */
    check_value(ds, "time", "region", "a, \"b\"\n", 30e-9);
    check_value(ds, "time", "region", "a, \"b\"\n->in", 1e-9);
    check_value(ds, "time", "section", "s", 14e-9); /* 8 - 2, 18 - 10 */
    check_value(ds, "time covered", "section", "s", 10e-9);
    as_dataset_free(ds);
}

static void events_and_records(void **state) {
    (void)state;
    as_dataset *ds = read_well(SMALL, NULL);
    assert_int_equal(as_ds_intervals(ds), 5);
    as_event event;
    as_ds_event(ds, 1, &event);
    assert_string_equal(as_ds_text(ds, event.name), "in");
    assert_true(event.is_numbered && event.source_number == 0x11);
    assert_float_equal(event.start, 15e-9, 1e-18);
    assert_float_equal(event.end, 20e-9, 1e-18);
    as_ds_event(ds, 4, &event);
    assert_string_equal(as_ds_text(ds, event.kind), "pause");
    uint64_t first, end;
    as_event_attributes(ds, 0, &first, &end);
    assert_int_equal(end - first, 2);
    as_attribute attribute;
    as_ds_any_attribute(ds, first + 1, &attribute);
    assert_string_equal(as_ds_text(ds, attribute.key), "tag:w");
    assert_memory_equal(attribute.value.text, "x", 1);
    as_event_attributes(ds, 3, &first, &end); /* the section's */
    assert_int_equal(end - first, 1);
    const as_table *records = as_ds_records(ds, "record");
    assert_int_equal(as_table_rows(records), 7);
    size_t value = as_table_find_column(records, "value"), type = as_table_find_column(records, "type");
    static const double expected[] = {5, 2.5, 7, 9, 3, 1000, .5};
    for (size_t i = 7; i-- > 0;) { /* in any order */
        as_cell cell = as_table_get(records, i, value);
        assert_true((cell.type == AS_CELL_INT ? (double)cell.i : cell.r) == expected[i]);
    }
    assert_string_equal(as_table_get(records, 6, type).text, "RunAggregate");
    as_dataset_free(ds);
}

/* A cut capture still reads, or says where it is broken. */
static void cut_anywhere(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof SMALL; size++) {
        assay_error error = {0};
        as_dataset *ds = read_text(SMALL, size < sizeof SMALL - 1 ? size : sizeof SMALL - 1, NULL, &error);
        bool is_inside_quotes =
            size > (size_t)(strchr(SMALL, '"') - SMALL) && size < (size_t)(strstr(SMALL, "\",k=v") - SMALL) + 1;
        if (size < 16)
            assert_null(ds);
        else if (!is_inside_quotes)
            assert_non_null(ds);
        if (!ds) assert_true(error.message[0]);
        as_dataset_free(ds);
    }
}

static void changed_anywhere(void **state) {
    (void)state;
    char text[sizeof SMALL];
    static const char bytes[] = ",\"\n\r#0-x\xff";
    for (size_t at = 0; at < sizeof SMALL - 1; at++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            assay_error error = {0};
            memcpy(text, SMALL, sizeof SMALL);
            text[at] = bytes[i];
            as_dataset *ds = read_text(text, sizeof SMALL - 1, NULL, &error);
            if (!ds) assert_true(error.message[0] && error.line > 0);
            if (ds) {
                const as_table *records = as_ds_records(ds, "record");
                for (size_t row = 0; row < as_table_rows(records); row++)
                    for (size_t column = 0; column < as_table_columns(records); column++)
                        as_table_get(records, row, column);
            }
            as_dataset_free(ds);
        }
    }
}

/* Labels with line ends everywhere, so that pieces do not begin where records do. */
static void pieces(void **state) {
    (void)state;
    enum { REGIONS = 40000 };
    as_vec text;
    char line[200];
    as_vec_init(&text, 1, NULL);
    assert_true(as_vec_text(&text, HEAD RUN));
    for (int i = 0; i < REGIONS; i++) {
        snprintf(line, sizeof line,
                 "RegionStart,%d,0x1,%d,\"x\nRegionStop,1,2\n\"\"\n6,1,1\ny%d\",\nRegionStop,%d,%d\n", 100 + 10 * i, i,
                 i % 3, 104 + 10 * i, i);
        assert_true(as_vec_text(&text, line));
    }
    /* A label of several pieces. */
    assert_true(as_vec_text(&text, "RegionStart,9000000,0x1,0xffffff,\""));
    for (int i = 0; i < 200000; i++) assert_true(as_vec_text(&text, "RegionStop,5,5\n"));
    assert_true(as_vec_text(&text, "\",\nRegionStop,9000001,0xffffff\nRegionStop,1,0xabcdef\n"));
    as_dataset *ds = read_text(text.data, text.count, NULL, NULL);
    assert_non_null(ds);
    assert_int_equal(as_ds_intervals(ds), REGIONS + 1);
    check_value(ds, "visits", "region", "x\nRegionStop,1,2\n\"\n6,1,1\ny0", 13334);
    check_value(ds, "time", "region", "x\nRegionStop,1,2\n\"\n6,1,1\ny2", 13333 * 4e-9);
    assert_int_equal(ds->problems.count, 1); /* the last line, counted through all those */
    assert_int_equal(as_ds_problem(ds, 0)->line, 2 + 6 * REGIONS + 200000 + 3);
    as_dataset_free(ds);
    as_vec_free(&text);
}

static void parameters(void **state) {
    (void)state;
    static const char text[] = HEAD
        "RunInfo,0,seconds,1,1.0.0,0x1,app,1,size=16\nRunInfo,0,seconds,1,1.0.0,0x2,app,1,size=4\n"
        "RunInfo,0,seconds,1,1.0.0,0x3,app,1,size=16\nRegionStart,1,1,1,a,\nRegionStop,17,1\nRegionStart,1,2,2,a,\n"
        "RegionStop,5,2\nRegionStart,1,3,3,a,\nRegionStop,18,3\n";
    static const char *const options[] = {"parameter=tag:size", NULL}, *const wrong[] = {"parameter=tag:none", NULL};
    as_dataset *ds = read_well(text, options);
    assert_int_equal(ds->n_points, 2);
    assert_true(as_ds_point(ds, 0)[0] == 4 && as_ds_point(ds, 1)[0] == 16);
    assert_string_equal(as_ds_text(ds, as_ds_run(ds, 0)->source_id), "0x2");
    assert_int_equal(as_ds_run(ds, 2)->point, 1);
    assert_int_equal(as_ds_run(ds, 2)->repetition, 1);
    assert_int_equal(ds->series.count, 2); /* visits and time; only sections have a time covered */
    as_dataset_free(ds);
    assay_error error = {0};
    assert_null(read_text(text, sizeof text - 1, wrong, &error));
    assert_int_equal(error.line, 2);
}

/* The rules of the problems of a text, one after the other. */
static const char *rules_of(const char *text) {
    static char out[1000];
    as_dataset *ds = read_well(text, NULL);
    out[0] = '\0';
    for (size_t i = 0; i < ds->problems.count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, sizeof out - used, "%s:%u ", as_ds_problem(ds, i)->rule + 7, as_ds_problem(ds, i)->line);
    }
    as_dataset_free(ds);
    return out;
}

static void bad_input(void **state) {
    (void)state;
    assert_string_equal(rules_of(HEAD RUN "RegionStart,150,0x1,1,a,\nRegionStop,110,1\n"), "backwards:3 ");
    assert_string_equal(rules_of(HEAD RUN "RegionStart,110,0x1,1,a,\nRegionStart,111,0x1,1,b,\nRegionStop,112,1\n"),
                        "unfinished:3 duplicate:4 ");
    assert_string_equal(rules_of(HEAD RUN RUN), "duplicate:3 ");
    assert_string_equal(rules_of(HEAD "RunInfo,1,days,1,1.0.0,1,a,1,\n"), "units:2 ");
    assert_string_equal(rules_of(HEAD "RunInfo,1,seconds,1,1.x,1,a,1,\n"), "version:2 ");
    assert_string_equal(rules_of(HEAD RUN "RunPoint,1,0x1,0xa,1,0xb\n"), "missing:3 ");
    assert_string_equal(rules_of(HEAD RUN "RunPoint,1,0x1,zz,1\n"), "number:3 ");
    assert_string_equal(rules_of(HEAD RUN "RegionStop,1,\nSectionStop,1,,\nRegionPoint,1,,1,1\n"),
                        "orphan:3 orphan:4 orphan:5 ");
    assert_string_equal(rules_of(HEAD "RegionStart,1,,1,a,\nRegionStop,2,1\n" RUN), "orphan:2 ");
    /* Time that goes backwards in the file is no fault. */
    assert_string_equal(rules_of(HEAD RUN "RegionStart,150,0x1,1,a,\nRegionStop,160,1\nRegionStart,110,0x1,2,b,\n"
                                          "RegionStop,120,2\n"),
                        "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),       cmocka_unit_test(events_and_records),
                                       cmocka_unit_test(cut_anywhere), cmocka_unit_test(changed_anywhere),
                                       cmocka_unit_test(pieces),       cmocka_unit_test(parameters),
                                       cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
