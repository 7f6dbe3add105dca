/* Options as tables, near words, the loss report, and how inputs find their reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/words.h"
#include "dataset/experiment.h"
#include "formats/format.h"
#include "temporary.h"

static const as_option TABLE[] = {
    {.name = "scaling",
     .type = AS_OPTION_CHOICE,
     .fallback = "weak",
     .choices = "weak|weak_threaded|strong",
     .help = ""},
    {.name = "lazy", .type = AS_OPTION_BOOL, .fallback = "no", .help = ""},
    {.name = "steps", .type = AS_OPTION_INT, .fallback = "3", .help = ""},
    {.name = "share", .type = AS_OPTION_REAL, .fallback = "0.5", .help = ""},
    {.name = NULL},
};

static assay_status check(const char *given, assay_error *error) {
    const char *list[] = {given, NULL};
    as_options options = {TABLE, list};
    return as_options_check(&options, "toy", error);
}

static void options_are_checked(void **state) {
    (void)state;
    assay_error error;
    static const char *const good[] = {"scaling=strong", "lazy=YES", "lazy=0", "steps=-4", "share=1e-3"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_int_equal(check(good[i], &error), ASSAY_OK);
    static const char *const bad[] = {"scaling=wea", "scaling=", "lazy=maybe", "steps=1.5", "share=much",
                                      "nosuch=1",    "lazy",     "=1",         ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(check(bad[i], &error), ASSAY_E_USAGE);
    check("scalling=weak", &error);
    assert_string_equal(error.message, "toy has no option 'scalling'; did you mean 'scaling'?");
    check("scaling=wea", &error);
    assert_string_equal(error.message, "the option scaling cannot be 'wea'; it takes weak|weak_threaded|strong");
}

static void the_last_value_given_counts(void **state) {
    (void)state;
    const char *given[] = {"steps=5", "lazy=on", "steps=7", NULL};
    as_options options = {TABLE, given};
    assert_true(as_option_real(&options, "steps") == 7);
    assert_true(as_option_bool(&options, "lazy"));
    assert_string_equal(as_option_text(&options, "scaling"), "weak");
    assert_true(as_option_real(&options, "share") == 0.5);
}

static const char *nearest(const char *given) {
    static const char *const words[] = {"info", "validate", "convert", "sql", "formats"};
    as_nearest best = as_nearest_start(given, strlen(given));
    for (size_t i = 0; i < 5; i++) as_nearest_offer(&best, words[i]);
    return best.word;
}

static void near_words_are_found(void **state) {
    (void)state;
    assert_string_equal(nearest("ifno"), "info"); /* neighbours swapped: one step */
    assert_string_equal(nearest("convrt"), "convert");
    assert_string_equal(nearest("val"), "validate"); /* a beginning */
    assert_string_equal(nearest("format"), "formats");
    assert_null(nearest("xyzzy"));
    assert_null(nearest(""));
    char endless[4096];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(nearest(endless));
}

static as_dataset *small_experiment(void) {
    as_dataset *ds = as_dataset_new(0);
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    double one = 1;
    as_cell_key key = {as_experiment_metric(e, "m", 1), as_experiment_callpath(e, "c", 1),
                       as_experiment_point(e, &one)};
    as_experiment_value_at(e, key, 0, (as_number){.kind = AS_INT, .i = 1});
    as_experiment_value_at(e, key, 1, (as_number){.kind = AS_INT, .i = 2});
    key.context = as_experiment_callpath(e, "d", 1);
    as_measurement statistics = {.repetitions = 1, .mean = 1};
    as_experiment_statistics(e, key, &statistics);
    assert_true(as_experiment_finish(e, AS_NOWHERE, NULL));
    as_experiment_free(e);
    AS_AT(as_metric, &ds->metrics, 0).unit = as_ds_intern_text(ds, "s");
    as_add_attribute(ds, AS_OWNER_DATASET, 0, "scaling", as_cell_text("weak"));
    as_model model = {.function = AS_NO_STR, .raw = AS_NO_STR};
    as_segment segment = {.constant = 1, .from = -INFINITY, .to = INFINITY};
    as_add_model(ds, &model, &segment, 1, NULL, 0);
    ds->format = "toy";
    return ds;
}

static void losses_name_what_does_not_fit(void **state) {
    (void)state;
    as_dataset *ds = small_experiment();
    as_losses losses;
    as_losses_init(&losses);
    as_format nothing = {.name = "other"};
    as_find_losses(ds, &nothing, &losses);
    static const char *const expected[] = {"2 values",
                                           "1 series of statistics without values",
                                           "1 model",
                                           "2 locations (their values become repetitions)",
                                           "1 attribute (scaling)",
                                           "1 unit of a metric"};
    assert_int_equal(losses.texts.count, 6);
    for (size_t i = 0; i < 6; i++) assert_string_equal(AS_AT(char *, &losses.texts, i), expected[i]);
    as_losses_free(&losses);
    as_losses_init(&losses);
    as_format everything = {.name = "toy", .holds = ~0u};
    as_find_losses(ds, &everything, &losses);
    assert_int_equal(losses.texts.count, 0);
    everything.name = "other";
    everything.holds = ~(unsigned)AS_HOLDS_FOREIGN; /* attributes only go back where they came from */
    static const char *const more[] = {"a", "a", "b", "c"};
    for (size_t i = 0; i < 4; i++) as_add_attribute(ds, AS_OWNER_CONTEXT, (assay_id)(i % 2), more[i], as_cell_int(1));
    as_find_losses(ds, &everything, &losses);
    assert_int_equal(losses.texts.count, 1);
    assert_string_equal(AS_AT(char *, &losses.texts, 0), "5 attributes (scaling, a, b, …)");
    as_losses_free(&losses);
    as_dataset_free(ds);
}

static void inputs_nobody_knows_are_refused(void **state) {
    (void)state;
    assay_error error;
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("x", "hello\n", 6, NULL, &ds, &error), ASSAY_E_AMBIGUOUS);
    assert_string_equal(error.rule, "unknown-format");
    assert_string_equal(error.path, "x");
    assert_int_equal(as_read_memory("x", "", 0, NULL, &ds, &error), ASSAY_E_AMBIGUOUS);
    assert_string_equal(error.message, "is empty");
    static const struct {
        const char *text, *words;
    } others[] = {{"PERFILE2\x68", "stackcollapse-perf.pl"},
                  {"version: 1\ncreator: callgrind-3.19\n", "Callgrind profile, which assay writes"},
                  {"# callgrind format\nevents: Ir\n", "Callgrind profile, which assay writes"},
                  {"{\"traceEvents\":[]}", "Chrome trace, which assay writes"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(as_read_memory("x", others[i].text, strlen(others[i].text), NULL, &ds, &error),
                         ASSAY_E_AMBIGUOUS);
        assert_non_null(strstr(error.message, others[i].words));
    }
    as_read_config config = {.format = "no-such"};
    assert_int_equal(as_read_memory("x", "hello\n", 6, &config, &ds, &error), ASSAY_E_USAGE);
    assert_int_equal(make_temporary_folder(NULL), 0);
    assert_int_equal(as_read(temporary_folder, NULL, &ds, &error), ASSAY_E_AMBIGUOUS);
    assert_int_equal(remove_temporary_folder(NULL), 0);
    assert_int_equal(as_read("/nonexistent/file", NULL, &ds, &error), ASSAY_E_IO);
    assert_null(ds);
}

static void a_reader_that_keeps_going_records_what_is_broken(void **state) {
    (void)state;
    static const char text[] = "PARAMETER p\nPOINTS 1 2\nREGION r\nDATA 1\nDATA x\n";
    static const char json[] =
        "{\"parameters\":[\"p\"],\"measurements\":{\"c\":{\"m\":[{\"point\":[1],\"values\":[1]},";
    as_read_config config = {.keep_going = true};
    assay_error error;
    as_dataset *ds = NULL;
    assert_int_equal(as_read_memory("x", json, sizeof json - 1, &config, &ds, &error), ASSAY_OK);
    assert_int_equal(ds->problems.count, 1);
    assert_int_equal(as_ds_problem(ds, 0)->severity, AS_ERROR);
    as_dataset_free(ds);
    assert_int_equal(as_read_memory("x", text, sizeof text - 1, &config, &ds, &error), ASSAY_OK);
    assert_int_equal(as_ds_problem(ds, 0)->line, 5); /* stepped over: the rest is there */
    assert_int_equal(as_ds_values(ds), 1);
    as_dataset_free(ds);
}

/* Somebody writes into a file while it is read: the bytes that are still to come are others. */
static bool overwrite(void *user, const char *stage, double fraction) {
    (void)stage;
    (void)fraction;
    const char *path = user;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -100, SEEK_END);
    for (int i = 0; i < 100; i++) fputc('x', file);
    fclose(file);
    return true;
}

static void a_file_that_changes_is_not_called_broken(void **state) {
    (void)state;
    enum { LINES = 100000 };
    char *text = malloc((size_t)LINES * 16), *at = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) at += sprintf(at, "main;f%d 1\n", i % 100);
    const char *path = write_temporary("growing.folded", text, (size_t)(at - text));
    as_read_config config = {.format = "folded", .progress = overwrite, .user = (void *)(uintptr_t)path};
    as_dataset *ds = NULL;
    assay_error error;
    assert_int_equal(as_read(path, &config, &ds, &error), ASSAY_E_IO);
    assert_string_equal(error.rule, "changed");
    config.progress = NULL;
    assert_int_equal(as_read(path, &config, &ds, &error), ASSAY_E_FORMAT); /* now it is what it is */
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(the_last_value_given_counts),
        cmocka_unit_test(near_words_are_found),
        cmocka_unit_test(losses_name_what_does_not_fit),
        cmocka_unit_test(inputs_nobody_knows_are_refused),
        cmocka_unit_test(a_reader_that_keeps_going_records_what_is_broken),
        cmocka_unit_test_setup_teardown(a_file_that_changes_is_not_called_broken, make_temporary_folder,
                                        remove_temporary_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
