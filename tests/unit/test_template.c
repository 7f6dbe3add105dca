/* The format to copy stays true: it is built here, and read and written as the registry would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/TEMPLATE.c"

static assay_status read_toy(const char *text, bool keep_going, as_dataset **out, assay_error *error) {
    as_dataset *ds = as_dataset_new(0);
    as_input input = {.path = "input", .data = text, .size = strlen(text), .budget = &ds->budget};
    as_reader reader = {.input = &input, .dataset = ds, .keep_going = keep_going, .error = error};
    ds->format = as_format_template.name;
    assay_status status = as_format_template.read(&reader);
    if (status == ASSAY_OK)
        *out = ds;
    else
        as_dataset_free(ds);
    return status;
}

#define PROFILE                                                                                                        \
    "toy-profile 1\nmetric time s\nvalue main 2\nvalue main->solve 1.5\nvalue main->io 0.25\nmetric calls\nvalue "     \
    "main->io 7\n"

static void reading(void **state) {
    (void)state;
    as_dataset *ds = NULL;
    assert_int_equal(read_toy("toy-profile 1\n# c\nmetric time s\nvalue main->solve 1\nvalue idle 5\nvalue main->solve "
                              "0.5\n\nmetric calls\nvalue main 3",
                              false, &ds, NULL),
                     ASSAY_OK);
    assert_int_equal(ds->runs.count, 1);
    assert_int_equal(ds->contexts.count, 3); /* main, main->solve, idle */
    assert_int_equal(as_ds_metric(ds, 0)->kind, AS_KIND_EXCLUSIVE);
    assert_string_equal(as_ds_text(ds, as_ds_metric(ds, 0)->unit), "s");
    const as_block *time = as_ds_block(ds, 0);
    assert_int_equal(time->n_contexts, 2);
    assert_true(as_block_real(time, time->starts[as_block_find(time, 1)]) == 1.5); /* added up */
    assert_true(as_block_real(time, time->starts[as_block_find(time, 2)]) == 5);
    assert_int_equal(as_ds_values(ds), 3);
    as_dataset_free(ds);
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *rule;
        uint32_t line, column;
    } inputs[] = {{"", "magic", 1, 1},
                  {"toy-profile 2\n", "magic", 1, 1},
                  {"toy-profile 1\n", "no-data", 0, 0},
                  {"toy-profile 1\nvalue a 1\n", "no-metric", 2, 1},
                  {"toy-profile 1\nmetric m\nvalue a\n", "no-value", 3, 1},
                  {"toy-profile 1\nmetric m\nvalue a b x\n", "not-a-number", 3, 11},
                  {"toy-profile 1\nmetric m\nfoo\n", "keyword", 3, 1}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        as_dataset *ds = NULL;
        assay_error error;
        assert_int_equal(read_toy(inputs[i].text, false, &ds, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, inputs[i].rule);
        assert_int_equal(error.line, inputs[i].line);
        assert_int_equal(error.column, inputs[i].column);
    }
    as_dataset *ds = NULL;
    assert_int_equal(read_toy("toy-profile 1\nmetric m\nfoo\nvalue a x\nvalue a 1\n", true, &ds, NULL), ASSAY_OK);
    assert_int_equal(ds->problems.count, 2);
    assert_int_equal(as_ds_values(ds), 1);
    as_dataset_free(ds);
}

static void writing(void **state) {
    (void)state;
    as_dataset *ds = NULL;
    assert_int_equal(read_toy(PROFILE, false, &ds, NULL), ASSAY_OK);
    as_output *out = as_output_to_memory();
    size_t size;
    assert_int_equal(as_write(ds, &as_format_template, NULL, 0, out, NULL), ASSAY_OK);
    assert_string_equal(as_output_memory(out, &size), PROFILE);
    as_output_discard(out);
    as_losses losses;
    as_losses_init(&losses);
    as_find_losses(ds, &as_format_template, &losses);
    assert_int_equal(losses.texts.count, 0);
    as_losses_free(&losses);
    as_dataset_free(ds);
}

static void bidding(void **state) {
    (void)state;
    as_probe probe = {.path = "x", .head = PROFILE, .head_size = strlen(PROFILE), .size = strlen(PROFILE)};
    assert_int_equal(as_format_template.bid(&probe), 8 * 14);
    probe.head_size = 5;
    assert_int_equal(as_format_template.bid(&probe), 0);
    assert_null(as_format_find("template")); /* not registered */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading), cmocka_unit_test(errors), cmocka_unit_test(writing),
                                       cmocka_unit_test(bidding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
