/* Statistics over occurrences, and what was measured of them. Expected numbers are arithmetic by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "analysis/grouping.h"
#include "analysis/occurrences.h"
#include "interval_files.h"

static as_dataset *ds;
static as_occurrences found;

static int make(void **state) {
    (void)state;
    ds = as_dataset_new(0);
    found = (as_occurrences){0};
    return ds ? 0 : -1;
}

static int unmake(void **state) {
    (void)state;
    as_occurrences_free(&found);
    as_dataset_free(ds);
    return 0;
}

static void find(const as_occurrences_request *request) {
    assay_error error;
    assert_int_equal(as_occurrences_find(request, &found, &error), ASSAY_OK);
}

static void assert_near(double got, double expected) {
    assert_true(fabs(got - expected) <= 1e-12 * (1 + fabs(expected)));
}

/* ---- distributions ----------------------------------------------------------------------------------------------- */

static void test_distribution(void **state) {
    (void)state;
    double values[] = {4, 1, 3, 2, 5, NAN}, room[6];
    as_distribution d;
    as_distribution_of(values, 6, room, &d);
    assert_int_equal(d.n, 5);
    assert_near(d.sum, 15);
    assert_near(d.mean, 3);
    assert_near(d.stddev, sqrt(2));
    assert_near(d.min, 1);
    assert_near(d.q1, 2);
    assert_near(d.median, 3);
    assert_near(d.q3, 4);
    assert_near(d.p90, 4.6);
    assert_near(d.p99, 4.96);
    assert_near(d.max, 5);
    as_distribution_of(values, 0, room, &d);
    assert_int_equal(d.n, 0);
    assert_true(isnan(d.mean) && isnan(d.max) && d.sum == 0);
}

/* Enough to be sorted by digits: 0 … 9999 shuffled, and their negatives. */
static void test_many(void **state) {
    (void)state;
    enum { N = 20001 };
    double *values = malloc(2 * N * sizeof *values);
    for (uint64_t i = 0; i < N; i++) values[i] = (double)((i * 7919) % N) - 10000; /* 7919 is a prime */
    as_distribution d;
    as_distribution_of(values, N, values + N, &d);
    for (size_t i = 0; i < N; i++) assert_true(values[i] == (double)i - 10000);
    assert_near(d.sum, 0);
    assert_near(d.median, 0);
    assert_near(d.p90, 8000);
    assert_near(d.stddev, sqrt(((double)N * N - 1) / 12));
    free(values);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static const made_event made[] = {
    {0, "region", "a", 0, 10, "t=x"},  {0, "region", "a->b", 1, 2, NULL}, {0, "section", "s", 1, 5, NULL},
    {0, "region", "a->b", 3, 6, NULL}, {0, "region", "a->b", 7, 8, NULL}, {0, "pause", "", 4, 5, NULL},
    {1, "region", "a", 0, 4, NULL},
};
enum { N_MADE = sizeof made / sizeof *made };

static void make_two_runs(void) {
    add_made_run(ds, NULL);
    add_made_run(ds, NULL);
    add_made_events(ds, made, N_MADE);
}

/* "NAME n sum max[worst events] " of each. */
static void check_subjects(const as_dataset *names, const char *expected) {
    char text[1024] = "";
    for (size_t i = 0; i < found.subjects.count; i++) {
        const as_subject *s = &AS_AT(as_subject, &found.subjects, i);
        size_t used = strlen(text);
        const char *name = as_ds_text(ds, s->kind);
        if (s->context != ASSAY_NONE) name = as_ds_text(names, as_ds_context(names, s->context)->name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %d %g %g[", name, (int)s->time.n, s->time.sum,
                                 s->time.max);
        for (size_t k = 0; k < s->n_worst; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", k ? " " : "",
                                     (int)AS_AT(as_worst, &found.worst, s->first_worst + k).event);
        snprintf(text + used, sizeof text - used, "] ");
    }
    assert_string_equal(text, expected);
}

static void test_time(void **state) {
    (void)state;
    make_two_runs();
    find(&(as_occurrences_request){.ds = ds, .n_worst = 2});
    check_subjects(ds, "a 2 14 10[0 6] b 3 5 3[3 1] s 1 4 4[2] pause 1 1 1[5] ");
}

static void test_exclusive(void **state) {
    (void)state;
    make_two_runs();
    find(&(as_occurrences_request){.ds = ds, .is_exclusive = true});
    check_subjects(ds, "a 2 9 5[0] b 3 5 3[3] s 1 4 4[2] pause 1 1 1[5] ");
}

static void test_one_run(void **state) {
    (void)state;
    make_two_runs();
    bool runs[] = {false, true};
    find(&(as_occurrences_request){.ds = ds, .runs = runs, .n_worst = 5});
    check_subjects(ds, "a 1 4 4[6] ");
}

static void test_deducted(void **state) {
    (void)state;
    make_two_runs();
    as_pauses pauses;
    assert_true(as_pauses_load(ds, &pauses));
    find(&(as_occurrences_request){.ds = ds, .pauses = &pauses});
    check_subjects(ds, "a 2 13 9[0] b 3 4 2[3] s 1 3 3[2] pause 1 1 1[5] ");
    as_pauses_free(&pauses);
}

static void test_groups(void **state) {
    (void)state;
    make_two_runs();
    as_grouping grouping;
    assay_error error;
    as_grouping_request request = {.ds = ds, .keys = "t", .wants_events = true};
    assert_int_equal(as_group(&request, &grouping, &error), ASSAY_OK);
    find(&(as_occurrences_request){.ds = ds, .group_of = grouping.group_of});
    check_subjects(grouping.ds, "x 4 15 10[0] (no t) 1 4 4[2] (no t) 1 4 4[6] ");
    as_grouping_free(&grouping);
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

static void add_metric(const char *name, const char *dtype) {
    as_metric metric = AS_METRIC_INIT;
    metric.name = as_ds_intern_text(ds, name);
    metric.dtype = as_ds_intern_text(ds, dtype);
    as_add_metric(ds, &metric);
}

/* "SUBJECT MEASURE value n sum [start sum end sum] {words} " of each. */
static void check_measures(const char *expected) {
    char text[2048] = "";
    for (size_t i = 0; i < found.measures.count; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &found.measures, i);
        size_t used = strlen(text);
        const as_subject *s = m->subject == AS_OF_RUN ? NULL : &AS_AT(as_subject, &found.subjects, m->subject);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", s ? as_ds_text(ds, s->name) : "run",
                                 as_measure_text(&found.measured, m->measure));
        if (m->value.n)
            used += (size_t)snprintf(text + used, sizeof text - used, " %d %g", (int)m->value.n, m->value.sum);
        if (m->start.n) used += (size_t)snprintf(text + used, sizeof text - used, " %g..%g", m->start.sum, m->end.sum);
        if (!s && m->value.n)
            used += (size_t)snprintf(text + used, sizeof text - used, " %g,%g", as_number_real(m->first),
                                     as_number_real(m->last));
        for (size_t k = 0; k < m->n_words; k++) {
            const as_word_count *word = &AS_AT(as_word_count, &found.words, m->first_word + k);
            used += (size_t)snprintf(text + used, sizeof text - used, " %s:%d",
                                     as_str_text(&found.measured.words, word->word), (int)word->count);
        }
        snprintf(text + used, sizeof text - used, "; ");
    }
    assert_string_equal(text, expected);
}

/* Regions of make_two_runs(): 0x10 is a, 0x11, 0x13 and 0x14 are b, 0x12 is the section. */
static void test_measures(void **state) {
    (void)state;
    make_two_runs();
    add_metric("flag", "bool");
    const made_record records[] = {
        {"RegionPoint", "0x11", -1, 2, NULL, "mem", 160, NULL}, /* the end comes first */
        {"RegionPoint", "0x11", -1, 1, NULL, "mem", 100, NULL},
        {"RegionPoint", "0x13", -1, 3, NULL, "mem", 10, NULL},
        {"RegionPoint", "0x13", -1, 4, NULL, "mem", 99, NULL}, /* one in between does not count */
        {"RegionPoint", "0x13", -1, 6, NULL, "mem", 15, NULL},
        {"RegionPoint", "0x14", -1, 7, NULL, "mem", 7, NULL}, /* one alone is a value */
        {"RegionPoint", "0x10", -1, 10, NULL, "cpu", 0.25, NULL},
        {"RegionAggregate", "0x10", -1, 0, NULL, "cpu", 0.5, NULL}, /* the aggregate is meant */
        {"RegionAggregate", "0x10", -1, 0, "sum", "cpu", 77, NULL}, /* of several records */
        {"RegionPoint", "0x11", -1, 1, NULL, "state", 0, "idle"},
        {"RegionPoint", "0x11", -1, 2, NULL, "state", 0, "busy"},
        {"RegionPoint", "0x13", -1, 3, NULL, "state", 0, "busy"},
        {"RegionPoint", "0x10", -1, 3, NULL, "flag", 1, NULL},
        {"SectionPoint", "0x12", 1, 1, NULL, "mem", 1, NULL},
        {"SectionPoint", "0x12", 2, 1, NULL, "mem", 5, NULL},
        {"SectionPoint", "0x12", 1, 3, NULL, "mem", 4, NULL},
        {"RunPoint", "0x1", -1, 5, NULL, "load", 3, NULL},
        {"RunPoint", "0x1", -1, 1, NULL, "load", 1.5, NULL},
        {"RunPoint", "0x1", -1, 9, NULL, "host", 0, "n1"},
        {"RegionPoint", "0x99", -1, 1, NULL, "mem", 1000, NULL}, /* of no region */
    };
    add_made_records(ds, records, sizeof records / sizeof *records);
    find(&(as_occurrences_request){.ds = ds});
    check_measures(
        "a cpu 1 0.5; a flag 1:1; b mem 3 72 110..175; b state busy:2 idle:1; s mem 2 8 1..4; run load 2 4.5 "
        "1.5,3; run host n1:1; ");
}

static void test_measures_of_other_run(void **state) {
    (void)state;
    make_two_runs();
    const made_record records[] = {{"RegionPoint", "0x11", -1, 2, NULL, "mem", 160, NULL}};
    add_made_records(ds, records, 1);
    bool runs[] = {false, true};
    find(&(as_occurrences_request){.ds = ds, .runs = runs});
    check_measures("");
}

/* A table of another kind has no measures. */
static void test_other_records(void **state) {
    (void)state;
    make_two_runs();
    as_table *table = as_add_record_table(ds, "record");
    as_table_add_column(table, "amount");
    as_table_add_row(table);
    find(&(as_occurrences_request){.ds = ds});
    check_measures("");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_many),
        cmocka_unit_test_setup_teardown(test_time, make, unmake),
        cmocka_unit_test_setup_teardown(test_exclusive, make, unmake),
        cmocka_unit_test_setup_teardown(test_one_run, make, unmake),
        cmocka_unit_test_setup_teardown(test_deducted, make, unmake),
        cmocka_unit_test_setup_teardown(test_groups, make, unmake),
        cmocka_unit_test_setup_teardown(test_measures, make, unmake),
        cmocka_unit_test_setup_teardown(test_measures_of_other_run, make, unmake),
        cmocka_unit_test_setup_teardown(test_other_records, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
