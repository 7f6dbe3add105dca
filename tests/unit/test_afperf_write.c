/* Writing AFPerf: captures as they were read, behind others, and datasets of other formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "formats/afperf/afperf.h"
#include "formats/afperf/write.h"
#include "io/append.h"
#include "profiles.h"
#include "temporary.h"

#define S   "# AFPerf v1     \n"
#define RUN "RunInfo,100,nanoseconds,1.5,1.0.0,0x1,app,2,\n"

/* ---- captures ---------------------------------------------------------------------------------------------------- */

static as_afperf kept;

/* A capture whose text the reader has kept; version: of its only run. */
static as_dataset *capture(const char *text, const char *version) {
    as_dataset *ds = as_dataset_new(0);
    as_run run = AS_RUN_INIT;
    kept = (as_afperf){.data = text, .size = strlen(text)};
    ds->format = "afperf";
    ds->of_format = &kept;
    ds->path = as_ds_intern_text(ds, "in.afperf");
    as_add_run(ds, &run);
    assert_true(as_add_attribute(ds, AS_OWNER_RUN, 0, "afperf format version", as_cell_text(version)));
    return ds;
}

static char *written(const as_dataset *ds, const char *existing) {
    as_output *out = as_output_to_memory();
    assay_error error = {0};
    as_input input = {.path = "out.afperf", .data = existing, .size = existing ? strlen(existing) : 0};
    as_writer writer = {.dataset = ds, .out = out, .existing = existing ? &input : NULL, .error = &error};
    size_t size;
    if (as_af_write(&writer) != ASSAY_OK) fail_msg("%u:%u: %s", error.line, error.column, error.message);
    char *text = strdup(as_output_memory(out, &size));
    as_output_discard(out);
    return text;
}

static void assert_copied(const char *text, const char *version, const char *expected) {
    as_dataset *ds = capture(text, version);
    char *copy = written(ds, NULL);
    assert_string_equal(copy, expected);
    free(copy);
    as_dataset_free(ds);
}

static void assert_appended(const char *existing, const char *text, const char *expected) {
    as_dataset *ds = capture(text, "1.0.0");
    char *added = written(ds, existing);
    assert_string_equal(added, expected);
    free(added);
    as_dataset_free(ds);
}

static void records_keep_their_order_and_comments_go(void **state) {
    (void)state;
    assert_copied(S "\n# \"no\n \t\n" RUN S "RegionStop,150,0x10\r\nRegionStart,110,0x1,0x10,a,\n#end", "1.0.0",
                  S RUN "RegionStop,150,0x10\nRegionStart,110,0x1,0x10,a,\n");
    assert_copied("# AFPerf v1     ", "1.0.0", S);
}

static void names_ids_and_quotes_have_one_spelling(void **state) {
    (void)state;
    assert_copied(S "8,0100,nanoseconds,1e3,1.0.0,018,\"app\",\"2,0\",\"k=\"\"v\"\"\"\n"
                    "0x5,110, 18 ,0X00fF,\"two\nlines\",\n6,150,0xFF\n3,150,110,255,,0X0A,\"1.50\",11,0x1p-3",
                  "1.0.0",
                  S "RunInfo,0100,nanoseconds,1e3,1.0.0,0x12,app,\"2,0\",\"k=\"\"v\"\"\"\n"
                    "RegionStart,110,0x12,0xff,\"two\nlines\",\nRegionStop,150,0xff\n"
                    "RegionAggregate,150,110,0xff,,0xa,1.50,0xb,0x1p-3\n");
    /* a return that is no line end */
    assert_copied(S RUN "RegionStart,110,0x1,0x10,a\rb,\n", "1.0.0", S RUN "RegionStart,110,0x1,0x10,\"a\rb\",\n");
}

static void what_examples_leave_out_is_filled_in(void **state) {
    (void)state;
    assert_copied(S "RegionStart,1,0xa,early,\nRunInfo,1,nanoseconds,1.5,0xbad,mission,2.9,\n"
                    "RegionStart,12,0xb,label,p=q\nSectionInfo,0xbb,0x99,fancy\nSectionStart,0xbb,0x99,34,fancy\n",
                  "1.0.0",
                  S "RegionStart,1,,0xa,early,\nRunInfo,1,nanoseconds,1.5,1.0.0,0xbad,mission,2.9,\n"
                    "RegionStart,12,0xbad,0xb,label,p=q\nSectionInfo,0xbb,0xbad,0x99,fancy,\n"
                    "SectionStart,0xbb,0x99,0x22\n");
}

static void blank_and_missing_fields(void **state) {
    (void)state;
    assert_copied(S "RunInfo,0,seconds,1,1.0.0,0x1,app,2\nMeasurementType,1,0x1,10,T,double,s\nRegionStart,110,,,a\n"
                    "RegionStop,130, \nRegionAggregate,130,120,,,10,2.5\nSectionInfo,,1,32,s\n",
                  "1.0.0",
                  S "RunInfo,0,seconds,1,1.0.0,0x1,app,2,\nMeasurementType,1,0x1,0xa,T,double,s,,\n"
                    "RegionStart,110,,,a,\nRegionStop,130,\nRegionAggregate,130,120,,,0xa,2.5\n"
                    "SectionInfo,,0x1,0x20,s,\n");
}

/* The reader leaves the second RunInfo out, so that it is nobody's. */
static void faulty_runs_are_no_runs(void **state) {
    (void)state;
    assert_copied(S RUN "RunInfo,1,seconds,x,1.0.0,5,a,b,\nRegionStart,12,0xaa,frob,p=q\n", "1.0.0",
                  S RUN "RunInfo,1,seconds,x,1.0.0,0x5,a,b,\nRegionStart,12,0x1,0xaa,frob,p=q\n");
}

static void faulty_and_unknown_records_stay(void **state) {
    (void)state;
    static const char odd[] = S RUN "Novelty,010,\"a,b\"\n99,1\n0,1,2\nRegionStart,-5,0x1,12x,b,\nRegionStart,110,0x1\n"
                                    "\"#x\",1\n\" \"\nRunPoint,1,0x1,0xa\n";
    assert_copied(odd, "1.0.0", odd);
}

static void fields_of_later_versions_stay(void **state) {
    (void)state;
    static const char later[] = S "RunInfo,0,seconds,1,1.3.0,0x1,app,2,,more\nRegionStop,1,0x10,0xA\n";
    assert_copied(later, "1.3.0", later);
    assert_copied(later, "1.0.0", S "RunInfo,0,seconds,1,1.3.0,0x1,app,2,\nRegionStop,1,0x10\n");
}

/* ---- behind others ----------------------------------------------------------------------------------------------- */

static void ids_that_are_free_stay(void **state) {
    (void)state;
    static const char text[] = "RunInfo,0,seconds,1,1.0.0,0x2,app,1,\nRegionStart,1,0x2,0x20,a,\nRegionStop,2,0x20\n";
    assert_appended(S RUN "RegionStart,1,0x1,0x10,a,\n",
                    S "RunInfo,0,seconds,1,1.0.0,2,app,1,\nRegionStart,1,2,32,a\n"
                      "RegionStop,2,32\n",
                    text);
    assert_appended(S, S RUN, RUN);
    assert_appended("# AFPerf v1     ", S RUN, "\n" RUN);
    assert_appended(S "RunPoint,1,0x5,0xa,1", S RUN, "\n" RUN);
}

/* The largest id of both is 0x21: new ones begin at 0x22, in the order in which the file has those they stand for. */
static void ids_that_collide_are_new(void **state) {
    (void)state;
    static const char existing[] = S RUN "RegionStart,110,0x1,0x10,a,\nRegionStop,120,0x10\nSectionInfo,,0x1,0x20,s,\n";
    assert_appended(existing,
                    S RUN "MeasurementType,1,0x1,0x10,T,double,s,,\nRegionStart,110,0x1,0x10,b,\n"
                          "RegionAggregate,120,110,0x10,,0x10,5\nRegionAggregate,120,110,0x1,mean,0x10,5\n"
                          "RegionStart,111,0x1,0x21,c,\nRegionStop,112,0x21\nSectionInfo,,0x1,0x20,s,\n"
                          "SectionStart,1,0x20,0x10\nRunPoint,1,0x1,0x10,5\nRegionStart,5,0x10,short,\n",
                    "RunInfo,100,nanoseconds,1.5,1.0.0,0x22,app,2,\nMeasurementType,1,0x22,0x10,T,double,s,,\n"
                    "RegionStart,110,0x22,0x23,b,\nRegionAggregate,120,110,0x23,,0x10,5\n"
                    "RegionAggregate,120,110,0x22,mean,0x10,5\nRegionStart,111,0x22,0x21,c,\nRegionStop,112,0x21\n"
                    "SectionInfo,,0x22,0x24,s,\nSectionStart,1,0x24,0x10\nRunPoint,1,0x22,0x10,5\n"
                    "RegionStart,5,0x22,0x23,short,\n");
}

/* Nothing that is blank or without a definition may become part of what is there. */
static void orphans_stay_orphans(void **state) {
    (void)state;
    static const char existing[] = S RUN "RegionStart,110,0x1,0x10,a,\n";
    assert_appended(existing, S "RegionStop,120,\nRunPoint,1,,0xa,5\nRegionStop,5,0x10\n" RUN "RegionStop,7,\n",
                    "RegionStop,120,0x13\nRunPoint,1,,0xa,5\nRegionStop,5,0x12\n"
                    "RunInfo,100,nanoseconds,1.5,1.0.0,0x11,app,2,\nRegionStop,7,\n");
}

static void there_is_room_beyond_the_largest_id(void **state) {
    (void)state;
    assert_appended(S "RunInfo,0,seconds,1,1.0.0,0xffffffffffffffff,app,1,\n",
                    S "RunInfo,0,seconds,1,1.0.0,0xffffffffffffffff,app,1,\n",
                    "RunInfo,0,seconds,1,1.0.0,0x1,app,1,\n");
}

static void what_cannot_be_appended_to_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *existing;
        uint32_t line, column;
    } cases[] = {{"hello\n", 1, 1},
                 {"# AFPerf v2     \n", 1, 1},
                 {S RUN "RegionStart,1,0x1,0x2,\"cut of", 3, 23},
                 {S RUN "RegionStart,1,0x1,0x2,a\"b,\n", 3, 24},
                 {S "# AFPerf v2     \n", 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dataset *ds = capture(S RUN, "1.0.0");
        as_output *out = as_output_to_memory();
        assay_error error = {0};
        as_input input = {.path = "out.afperf", .data = cases[i].existing, .size = strlen(cases[i].existing)};
        as_writer writer = {.dataset = ds, .out = out, .existing = &input, .error = &error};
        assert_int_equal(as_af_write(&writer), ASSAY_E_FORMAT);
        assert_string_equal(error.path, "out.afperf");
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
        assert_int_equal(as_output_size(out), 0);
        as_output_discard(out);
        as_dataset_free(ds);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static assay_status append_text(const char *path, const char *text, assay_error *error) {
    as_append *append;
    AS_TRY(as_append_begin(path, NULL, &append, error));
    as_output_text(as_append_output(append), text);
    return as_append_commit(append, error);
}

static void a_file_is_made_and_added_to(void **state) {
    (void)state;
    const char *path = temporary_path("grows");
    assay_error error;
    assert_int_equal(append_text(path, "one ", &error), ASSAY_OK);
    assert_true(file_is(path, "one "));
    assert_int_equal(append_text(path, "two", &error), ASSAY_OK);
    assert_true(file_is(path, "one two"));
    as_append *append;
    assert_int_equal(as_append_begin(path, NULL, &append, &error), ASSAY_OK);
    assert_int_equal(as_append_existing(append)->size, 7);
    as_output_text(as_append_output(append), "never");
    as_append_discard(append);
    assert_true(file_is(path, "one two"));
    assert_int_equal(for_each_temporary(NULL), 1);
}

static void what_is_no_file_cannot_be_added_to(void **state) {
    (void)state;
    assay_error error;
    assert_int_equal(append_text("/dev/null", "x", &error), ASSAY_E_IO);
    assert_int_equal(append_text("/nowhere/at/all", "x", &error), ASSAY_E_IO);
}

static void a_file_that_is_replaced_meanwhile_stays(void **state) {
    (void)state;
    const char *path = temporary_path("replaced");
    assay_error error;
    as_append *append;
    assert_int_equal(append_text(path, "old", &error), ASSAY_OK);
    assert_int_equal(as_append_begin(path, NULL, &append, &error), ASSAY_OK);
    as_output_text(as_append_output(append), "added");
    assert_int_equal(remove(path), 0);
    write_temporary("replaced", "new", 3);
    assert_int_equal(as_append_commit(append, &error), ASSAY_E_IO);
    assert_string_equal(error.rule, "replaced");
    assert_true(file_is(path, "new"));
}

/* ---- datasets of other formats ----------------------------------------------------------------------------------- */

static void a_call_tree_becomes_regions(void **state) {
    (void)state;
    as_dataset *ds = make_profile("0/0 0/1", "time DOUBLE inclusive; bytes UINT64 exclusive",
                                  "main | 2e-8 1e-8 | 1 2\n"
                                  "  f | 5e-9 0 | 3 4\n"
                                  "  g | 4e-9 1e-9 | -\n");
    ds->format = "made";
    for (size_t i = 0; i < ds->metrics.count; i++) {
        as_metric *metric = &AS_AT(as_metric, &ds->metrics, i);
        metric->unit = as_ds_intern_text(ds, i ? "bytes" : "sec");
    }
    char *text = written(ds, NULL);
    /* main lasts 30 ns, f and g 5 each, one nanosecond apart from what comes before them; the tree's values are
     * inclusive */
    assert_string_equal(text, S
                        "RunInfo,0,nanoseconds,0,1.0.0,0x1,unknown,,\nMeasurementType,0,0x1,0x2,bytes,int64,bytes,,\n"
                        "RegionStart,0,0x1,0x1,main,file=app.c\nRegionStart,1,0x1,0x2,f,file=app.c\nRegionStop,6,0x2\n"
                        "RegionStart,7,0x1,0x3,g,file=app.c\nRegionStop,12,0x3\nRegionStop,30,0x1\n"
                        "RegionAggregate,30,0,0x1,,0x2,10\nRegionAggregate,6,1,0x2,,0x2,7\n");
    free(text);
    as_dataset_free(ds);
}

static void visits_are_regions(void **state) {
    (void)state;
    as_dataset *ds =
        make_profile("", "visits UINT64 exclusive; time DOUBLE inclusive", "main | 1 | 1e-8\n  f | 3 | 4e-9\n");
    ds->format = "made";
    char *text = written(ds, NULL);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "RegionStart,")); at++) n++;
    assert_int_equal(n, 4);
    assert_null(strstr(text, "visits"));
    assert_non_null(strstr(text, "RegionStart,5,0x1,0x3,f,file=app.c\nRegionStop,5,0x3\n"));
    free(text);
    as_dataset_free(ds);
}

static void events_become_regions_sections_and_pauses(void **state) {
    (void)state;
    as_dataset *ds = as_dataset_new(0);
    as_run run = AS_RUN_INIT;
    run.source_id = as_ds_intern_text(ds, "0x7");
    run.start_time = 1.5;
    ds->format = "made";
    as_add_run(ds, &run);
    static const struct {
        const char *kind, *name;
        double start, end;
    } events[] = {{"region", "a", 1e-9, 9e-9},
                  {"section", "s", 2e-9, 5e-9},
                  {"section", "s", 3e-9, 6e-9},
                  {"kernel", "k", 4e-9, 5e-9},
                  {"pause", "", 7e-9, 8e-9}};
    for (size_t i = 0; i < 5; i++) {
        as_event event = {.source_id = AS_NO_STR,
                          .name = as_ds_intern_text(ds, events[i].name),
                          .kind = as_ds_intern_text(ds, events[i].kind),
                          .location = ASSAY_NONE,
                          .context = ASSAY_NONE,
                          .start = events[i].start,
                          .end = events[i].end};
        assert_true(as_add_event(ds, &event));
    }
    assert_true(as_add_attribute(ds, AS_OWNER_EVENT, 0, "tag:size", as_cell_int(3)));
    char *text = written(ds, NULL);
    assert_string_equal(text, S "RunInfo,0,nanoseconds,1.5,1.0.0,0x7,unknown,,\nRegionStart,1,0x7,0x1,a,size=3\n"
                                "RegionStop,9,0x1\nSectionInfo,,0x7,0x2,s,\nSectionStart,2,0x2,0x0\n"
                                "SectionStop,5,0x2,0x0\nSectionStart,3,0x2,0x1\nSectionStop,6,0x2,0x1\n"
                                "SectionInfo,,0x7,0x3,k,kind=kernel\nSectionStart,4,0x3,0x0\nSectionStop,5,0x3,0x0\n"
                                "PauseResume,8,7,0x7\n");
    free(text);
    as_dataset_free(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_keep_their_order_and_comments_go),
        cmocka_unit_test(names_ids_and_quotes_have_one_spelling),
        cmocka_unit_test(what_examples_leave_out_is_filled_in),
        cmocka_unit_test(blank_and_missing_fields),
        cmocka_unit_test(faulty_runs_are_no_runs),
        cmocka_unit_test(faulty_and_unknown_records_stay),
        cmocka_unit_test(fields_of_later_versions_stay),
        cmocka_unit_test(ids_that_are_free_stay),
        cmocka_unit_test(ids_that_collide_are_new),
        cmocka_unit_test(orphans_stay_orphans),
        cmocka_unit_test(there_is_room_beyond_the_largest_id),
        cmocka_unit_test(what_cannot_be_appended_to_is_refused),
        cmocka_unit_test_setup_teardown(a_file_is_made_and_added_to, make_temporary_folder, remove_temporary_folder),
        cmocka_unit_test(what_is_no_file_cannot_be_added_to),
        cmocka_unit_test_setup_teardown(a_file_that_is_replaced_meanwhile_stays, make_temporary_folder,
                                        remove_temporary_folder),
        cmocka_unit_test(a_call_tree_becomes_regions),
        cmocka_unit_test(visits_are_regions),
        cmocka_unit_test(events_become_regions_sections_and_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
