/* Intervals in the order of time with what lies around them, pauses, and groups of tagged intervals. Expected numbers
 * are arithmetic by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "analysis/grouping.h"
#include "interval_files.h"

static as_dataset *ds;

static int make(void **state) {
    (void)state;
    ds = as_dataset_new(0);
    return ds ? 0 : -1;
}

static int unmake(void **state) {
    (void)state;
    as_dataset_free(ds);
    return 0;
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12)) fail_msg("expected %g, got %g", expected, got);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

typedef struct seen {
    char text[1024];
    uint64_t of_slot[64];
} seen;

/* "ID<AROUND:DURATION ", times in tenths. */
static bool note(void *user, const as_event_interval *interval) {
    seen *s = user;
    size_t used = strlen(s->text);
    char around[32] = "-";
    if (interval->around != AS_NO_SLOT)
        snprintf(around, sizeof around, "%llu", (unsigned long long)s->of_slot[interval->around]);
    snprintf(s->text + used, sizeof s->text - used, "%llu<%s:%.0f ", (unsigned long long)interval->id, around,
             interval->duration * 10);
    if (interval->slot != AS_NO_SLOT) s->of_slot[interval->slot] = interval->id;
    return true;
}

static void check_walk(const as_event_intervals *request, const char *expected) {
    seen s = {.text = ""};
    assay_error error;
    assert_int_equal(as_event_intervals_walk(request, note, &s, &error), ASSAY_OK);
    assert_string_equal(s.text, expected);
}

static void test_nesting(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    const made_event made[] = {{0, "region", "a", 0, 10, NULL},      {0, "region", "a->b", 1, 4, NULL},
                               {0, "section", "s", 2, 8, NULL},      {0, "region", "a->b", 4, 6, NULL},
                               {0, "region", "a->b->c", 4, 5, NULL}, {0, "region", "a", 10, 12, NULL}};
    add_made_events(ds, made, 6);
    as_event_intervals request = {.ds = ds};
    check_walk(&request, "0<-:100 1<0:30 2<-:60 3<0:20 4<3:10 5<-:20 ");
}

/* Stop before start, inner before outer, two runs in turn: sorted by run and time. */
static void test_any_order(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    add_made_run(ds, NULL);
    const made_event made[] = {{0, "region", "a->b", 1, 4, NULL},
                               {1, "region", "a", 0, 2, NULL},
                               {0, "region", "a", 1, 10, NULL},
                               {1, "region", "a->b", 0, 2, NULL},
                               {0, "region", "a->b", 5, 5, NULL}};
    add_made_events(ds, made, 5);
    as_event_intervals request = {.ds = ds};
    check_walk(&request, "2<-:90 0<2:30 4<2:0 1<-:20 3<1:20 ");
    bool runs[] = {false, true};
    request.runs = runs;
    check_walk(&request, "1<-:20 3<1:20 ");
}

/* Without contexts the times say what lies in what. */
static void test_no_contexts(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    const double times[][2] = {{0, 10}, {1, 4}, {2, 3}, {4, 6}, {5, 12}, {20, 21}};
    for (size_t i = 0; i < 6; i++) {
        as_event event = {.source_id = AS_NO_STR,
                          .name = as_ds_intern_text(ds, "k"),
                          .kind = as_ds_intern_text(ds, "kernel"),
                          .location = ASSAY_NONE,
                          .context = ASSAY_NONE,
                          .start = times[i][0],
                          .end = times[i][1]};
        as_add_event(ds, &event);
    }
    as_event_intervals request = {.ds = ds};
    check_walk(&request, "0<-:100 1<0:30 2<1:10 3<0:20 4<-:70 5<-:10 ");
}

static void test_pauses(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    add_made_run(ds, NULL);
    const made_event made[] = {{1, "region", "a", 0, 10, NULL},   {1, "pause", "", 2, 4, NULL},
                               {1, "pause", "", 3, 5, NULL},      {1, "pause", "", 7, 8, NULL},
                               {1, "region", "b", 7.5, 20, NULL}, {0, "region", "a", 2, 3, NULL}};
    add_made_events(ds, made, 6);
    as_pauses pauses;
    assert_true(as_pauses_load(ds, &pauses));
    assert_near(as_paused(&pauses, 1, 0, 10), 4);
    assert_near(as_paused(&pauses, 1, 2.5, 7.25), 2.75);
    assert_near(as_paused(&pauses, 1, 5, 7), 0);
    assert_near(as_paused(&pauses, 0, 0, 10), 0);
    assert_near(as_paused(NULL, 1, 0, 10), 0);
    as_event_intervals request = {.ds = ds, .pauses = &pauses};
    check_walk(&request, "0<-:60 1<-:20 2<-:20 3<-:10 4<-:120 5<-:10 ");
    as_pauses_free(&pauses);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static double value_at(const as_dataset *of, const char *metric, assay_id run, assay_id context) {
    for (assay_id id = 0; id < AS_COUNT(of, metrics); id++) {
        if (strcmp(as_ds_text(of, as_ds_metric(of, id)->name), metric) != 0) continue;
        const as_profile *profile = as_ds_profile(of, id, run);
        uint32_t row = profile ? as_profile_find(profile, context) : UINT32_MAX;
        return row == UINT32_MAX ? NAN : as_part_real(profile->type, as_profile_row(profile, row), 0);
    }
    return NAN;
}

/* "PATH visits time covered; " of each group that has something in the run, in the order of the tree. */
static void check_groups(const as_dataset *of, assay_id run, const char *expected) {
    char text[2048] = "";
    as_vec path;
    as_vec_init(&path, 1, NULL);
    for (assay_id id = 0; id < AS_COUNT(of, contexts); id++) {
        size_t used = strlen(text);
        assert_true(as_context_path(of, id, &path));
        double visits = value_at(of, "visits", run, id);
        if (!isnan(visits))
            snprintf(text + used, sizeof text - used, "%s %g %g %g; ", (char *)path.data, visits,
                     value_at(of, "time", run, id), value_at(of, "time covered", run, id));
    }
    as_vec_free(&path);
    assert_string_equal(text, expected);
}

static void check_grouping(const char *keys, const as_pauses *pauses, const char *expected) {
    as_grouping_request request = {.ds = ds, .keys = keys, .pauses = pauses, .wants_events = true};
    as_grouping grouping;
    assay_error error;
    assay_status status = as_group(&request, &grouping, &error);
    if (status != ASSAY_OK)
        assert_string_equal(error.message, expected);
    else
        check_groups(grouping.ds, 0, expected);
    as_grouping_free(&grouping);
}

static const made_event flight[] = {
    {0, "region", "frame", 0, 10, NULL},
    {0, "region", "frame->move", 1, 4, "platform=F15"},
    {0, "region", "frame->move->radar", 2, 3, "component=sensor"},
    {0, "region", "frame->move", 5, 9, "platform=F16;component=engine"},
    {0, "region", "frame->move->radar", 5, 6, "component=sensor"},
    {0, "section", "io", 3, 8, "platform=F15"},
    {0, "section", "io", 6, 12, "platform=F15"},
    {0, "pause", "", 7, 8, NULL},
};

static void make_flight(const char *run_tags) {
    add_made_run(ds, run_tags);
    add_made_events(ds, flight, sizeof flight / sizeof *flight);
}

static void test_groups(void **state) {
    (void)state;
    make_flight(NULL);
    /* frame 10 - 3 - 4; F15: move 3 - 1, radar 1; F16: move 4 - 1, radar 1; sections are groups of their own: io 5 and
     * 6 */
    check_grouping("platform", NULL, "(no platform) 1 3 10; F15 2 3 3; F15 2 11 9; F16 2 4 4; ");
    check_grouping("platform,component", NULL,
                   "(no platform) 0 0 10; (no platform)->(no component) 1 3 10; F15 0 0 3; F15->(no component) 1 2 "
                   "3; F15->sensor 1 1 1; F15 0 0 9; F15->(no component) 2 11 9; F16 0 0 4; F16->engine 1 3 4; "
                   "F16->sensor 1 1 1; ");
    check_grouping(" component , platform ", NULL,
                   "(no component) 0 0 10; (no component)->(no platform) 1 3 10; (no component)->F15 1 2 3; sensor 0 "
                   "0 2; sensor->F15 1 1 1; sensor->F16 1 1 1; (no component) 0 0 9; (no component)->F15 2 11 9; "
                   "engine 0 0 4; engine->F16 1 3 4; ");
}

static void test_words(void **state) {
    (void)state;
    make_flight(NULL);
    check_grouping("region", NULL, "frame 1 3 10; move 2 5 7; radar 2 2 2; io 2 11 9; ");
    check_grouping("path", NULL, "frame 1 3 10; frame->move 2 5 7; frame->move->radar 2 2 2; io 2 11 9; ");
    check_grouping(
        "platform,path", NULL,
        "(no platform) 0 0 10; (no platform)->frame 1 3 10; F15 0 0 3; F15->frame 0 0 3; "
        "F15->frame->move 1 2 3; F15->frame->move->radar 1 1 1; F15 0 0 9; F15->io 2 11 9; F16 0 0 4; F16->frame 0 0 "
        "4; F16->frame->move 1 3 4; F16->frame->move->radar 1 1 1; ");
    check_grouping("region,component", NULL,
                   "frame 0 0 10; frame->(no component) 1 3 10; move 0 0 7; move->(no component) 1 2 3; move->engine "
                   "1 3 4; radar 0 0 2; radar->sensor 2 2 2; io 0 0 9; io->(no component) 2 11 9; ");
}

/* What nothing around an interval says, its run does; sections ask it, too. */
static void test_run_tags(void **state) {
    (void)state;
    make_flight("platform=all;component=none");
    check_grouping("platform", NULL, "all 1 3 10; F15 2 3 3; F15 2 11 9; F16 2 4 4; ");
    check_grouping("component", NULL, "none 2 5 10; sensor 2 2 2; none 2 11 9; engine 1 3 4; ");
}

static void test_deducted(void **state) {
    (void)state;
    make_flight(NULL);
    as_pauses pauses;
    assert_true(as_pauses_load(ds, &pauses));
    /* 7 … 8 lies in frame, in the second move and in both intervals of io */
    check_grouping("platform", &pauses, "(no platform) 1 3 9; F15 2 3 3; F15 2 9 8; F16 2 3 3; ");
    as_pauses_free(&pauses);
}

static void test_runs_apart(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    add_made_run(ds, "t=v");
    const made_event made[] = {{0, "region", "a", 0, 4, "t=v"},
                               {1, "region", "a", 0, 2, NULL},
                               {0, "region", "a", 4, 5, "t="},
                               {1, "region", "b", 1, 3, "t=w"}};
    add_made_events(ds, made, 4);
    as_grouping_request request = {.ds = ds, .keys = "t", .wants_events = true};
    as_grouping grouping;
    assay_error error;
    assert_int_equal(as_group(&request, &grouping, &error), ASSAY_OK);
    check_groups(grouping.ds, 0, "v 1 4 4; t= 1 1 1; ");
    check_groups(grouping.ds, 1, "v 1 2 2; w 1 2 2; ");
    const char *names[] = {"v", "v", "t=", "w"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(as_ds_text(grouping.ds, as_ds_context(grouping.ds, grouping.group_of[i])->name), names[i]);
    assert_int_equal(AS_COUNT(grouping.ds, runs), 2);
    assert_near(as_ds_run(grouping.ds, 1)->start_time, 1700000000.25);
    as_grouping_free(&grouping);
}

/* Numbers of an interval less those of the same measure inside it; an interval between that has none does not
 * matter. */
static void test_measured(void **state) {
    (void)state;
    make_flight(NULL);
    const made_record records[] = {
        {"RegionAggregate", "0x10", -1, 0, NULL, "cpu", 9, NULL},   /* frame */
        {"RegionAggregate", "0x12", -1, 2, NULL, "cpu", 1, NULL},   /* radar of F15, below a move without */
        {"RegionAggregate", "0x13", -1, 5, NULL, "cpu", 4.5, NULL}, /* move of F16 */
        {"RegionAggregate", "0x14", -1, 5, NULL, "cpu", 0.5, NULL}, /* radar in it */
        {"RegionPoint", "0x10", -1, 0, NULL, "mem", 100, NULL},
        {"RegionPoint", "0x10", -1, 10, NULL, "mem", 170, NULL},
        {"RegionPoint", "0x11", -1, 1, NULL, "mem", 110, NULL},
        {"RegionPoint", "0x11", -1, 4, NULL, "mem", 120, NULL},
        {"SectionPoint", "0x15", 0, 3, NULL, "mem", 5, NULL}, /* in nothing */
        {"SectionPoint", "0x15", 1, 6, NULL, "mem", 7, NULL},
        {"RegionPoint", "0x11", -1, 4, NULL, "state", 0, "busy"},
        {"RunPoint", "0x1", -1, 4, NULL, "load", 3, NULL},
    };
    add_made_records(ds, records, sizeof records / sizeof *records);
    as_grouping_request request = {.ds = ds, .keys = "platform"};
    as_grouping grouping;
    assay_error error;
    assert_int_equal(as_group(&request, &grouping, &error), ASSAY_OK);
    /* groups: (no platform), F15, F15 of sections, F16 */
    assert_near(value_at(grouping.ds, "cpu", 0, 0), 9 - 1 - 4.5);
    assert_near(value_at(grouping.ds, "cpu", 0, 1), 1);
    assert_near(value_at(grouping.ds, "cpu", 0, 3), 4.5 - 0.5 + 0.5);
    assert_near(value_at(grouping.ds, "mem", 0, 0), 70 - 10);
    assert_near(value_at(grouping.ds, "mem", 0, 1), 10);
    assert_near(value_at(grouping.ds, "mem", 0, 2), 5 + 7);
    assert_int_equal(AS_COUNT(grouping.ds, metrics), 5);
    assert_int_equal(as_ds_metric_type(grouping.ds, 3).dtype, AS_DTYPE_DOUBLE);
    assert_int_equal(as_ds_metric_type(grouping.ds, 4).dtype, AS_DTYPE_INT64);
    as_grouping_free(&grouping);
}

/* Late in a run the difference of two times is rounded; the counts of the source are not. */
static void test_exact_durations(void **state) {
    (void)state;
    add_made_run(ds, NULL);
    for (int64_t i = 0; i < 3; i++) {
        int64_t start = 1000000007 + i * 1000000013;
        as_event event = {.source_id = AS_NO_STR,
                          .name = as_ds_intern_text(ds, "k"),
                          .kind = as_ds_intern_text(ds, "section"),
                          .location = ASSAY_NONE,
                          .context = ASSAY_NONE,
                          .start = (double)start / 1e9,
                          .end = (double)(start + 7) / 1e9,
                          .start_raw = as_cell_int(start),
                          .end_raw = as_cell_int(start + 7)};
        as_add_event(ds, &event);
    }
    as_grouping_request request = {.ds = ds, .keys = "region"};
    as_grouping grouping;
    assay_error error;
    assert_int_equal(as_group(&request, &grouping, &error), ASSAY_OK);
    assert_true(value_at(grouping.ds, "time", 0, 0) == 7e-9 + 7e-9 + 7e-9);
    as_grouping_free(&grouping);
}

static void test_slips(void **state) {
    (void)state;
    check_grouping("platform", NULL, "has no events, so there is nothing to group; tags are those of events");
    make_flight("case=1");
    check_grouping("", NULL, "--group-by takes names of tags, such as platform,component; also region and path");
    check_grouping("platform,,region", NULL,
                   "--group-by takes names of tags, such as platform,component; also region and path");
    check_grouping("path,platform,path", NULL, "there is twice 'path' in --group-by");
    check_grouping("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", NULL, "--group-by takes at most 16 names");
    check_grouping("platfrom", NULL,
                   "the input: nothing has the tag 'platfrom'; there are case, platform, component; region and path "
                   "are words of their own");
    /* a name that is known as something else is no tag */
    check_grouping("radar", NULL,
                   "the input: nothing has the tag 'radar'; there are case, platform, component; region and path are "
                   "words of their own");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nesting, make, unmake),
        cmocka_unit_test_setup_teardown(test_any_order, make, unmake),
        cmocka_unit_test_setup_teardown(test_no_contexts, make, unmake),
        cmocka_unit_test_setup_teardown(test_pauses, make, unmake),
        cmocka_unit_test_setup_teardown(test_groups, make, unmake),
        cmocka_unit_test_setup_teardown(test_words, make, unmake),
        cmocka_unit_test_setup_teardown(test_run_tags, make, unmake),
        cmocka_unit_test_setup_teardown(test_deducted, make, unmake),
        cmocka_unit_test_setup_teardown(test_runs_apart, make, unmake),
        cmocka_unit_test_setup_teardown(test_measured, make, unmake),
        cmocka_unit_test_setup_teardown(test_exact_durations, make, unmake),
        cmocka_unit_test_setup_teardown(test_slips, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
