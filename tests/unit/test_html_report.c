/* Answers that a report keeps: what it knows of the one last asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "server/report.h"
#include "temporary.h"

/* What was kept before is not asked for again: nothing is known of it, and nothing of what came in between. */
static void an_answer_that_was_kept_before_has_no_numbers_of_another(void **state) {
    (void)state;
    const as_parameter more[] = {{"metric", "samples"}};
    as_viewing *viewing = as_viewing_new(&(as_read_config){0});
    char path[128];
    snprintf(path, sizeof path, "%s/a.folded", temporary_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("main;f 3\nmain;g 4\n", file);
    fclose(file);
    assert_true(as_viewing_open(viewing, path, NULL));
    as_html_report *report = as_html_report_new(viewing, "title", 5000000);
    assert_non_null(report);
    assert_int_equal(as_html_report_keep(report, "overview", NULL, 0), AS_REPORT_KEPT);
    assert_true(as_html_report_last_size(report) > 0);
    assert_int_equal(as_html_report_keep(report, "flame", more, 1), AS_REPORT_KEPT);
    assert_true(as_html_report_last_size(report) > 0);
    assert_true(as_html_report_last_number(report, "total") == 7);
    assert_int_equal(as_html_report_keep(report, "overview", NULL, 0), AS_REPORT_KEPT);
    assert_int_equal(as_html_report_last_size(report), 0);
    assert_true(isnan(as_html_report_last_number(report, "total")));
    /* Nor is it taken for the one that came in between. */
    assert_int_equal(as_html_report_keep(report, "flame", more, 1), AS_REPORT_KEPT);
    as_html_report_free(report);
    as_viewing_free(viewing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_was_kept_before_has_no_numbers_of_another),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
