/* The public functions about scaling models: fitting, looking, predicting, saving, and what they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "temporary.h"

/* f is 3 + 2 p, its largest repetition 1 above that; g is 7. */
static const char lines[] = "PARAMETER p\nPOINTS 1 2 4 8 16\nMETRIC time\n"
                            "REGION main->f\nDATA 4 5 6\nDATA 6 7 8\nDATA 10 11 12\nDATA 18 19 20\nDATA 34 35 36\n"
                            "REGION main->g\nDATA 7\nDATA 7\nDATA 7\nDATA 7\nDATA 7\n";

static assay_dataset *open_lines(void) {
    assay_dataset *ds;
    assert_int_equal(assay_open(write_temporary("lines.txt", lines, strlen(lines)), NULL, &ds, NULL), ASSAY_OK);
    return ds;
}

static void fits_and_looks(void **state) {
    (void)state;
    assay_dataset *ds = open_lines();
    assay_id first = ASSAY_NONE;
    assay_model model;
    assert_false(assay_model_get(ds, 0, &model));
    assert_int_equal(assay_fit(ds, NULL, &first, NULL), ASSAY_OK);
    assert_int_equal(first, 0);
    assert_int_equal(assay_count(ds, ASSAY_MODELS), 2);
    assert_true(assay_model_get(ds, 0, &model));
    assert_string_equal(model.callpath, "main->f");
    assert_string_equal(model.metric, "time");
    assert_string_equal(model.modeler, "basic");
    assert_string_equal(model.measure, "mean");
    assert_string_equal(model.growth, "linear");
    assert_non_null(strstr(model.function, "* p^(1)"));
    assert_true(model.SMAPE >= 0 && model.SMAPE < 1e-9 && fabs(model.AR2 - 1) < 1e-9);
    assert_true(assay_model_get(ds, 1, &model));
    assert_string_equal(model.function, "7.0");
    assert_string_equal(model.growth, "constant");
    assert_false(assay_model_get(ds, 2, &model));
    assay_close(ds);
}

static void adds_or_replaces(void **state) {
    (void)state;
    assay_dataset *ds = open_lines();
    assay_id first;
    assay_model model;
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.name = "means"}, NULL, NULL), ASSAY_OK);
    assay_fit_config config = {.measure = "maximum", .name = "maxima", .threads = 2};
    assert_int_equal(assay_fit(ds, &config, &first, NULL), ASSAY_OK);
    assert_int_equal(first, 2);
    assert_int_equal(assay_count(ds, ASSAY_MODELS), 4);
    assert_true(assay_model_get(ds, 0, &model));
    assert_string_equal(model.set, "means");
    assert_true(assay_model_get(ds, 2, &model));
    assert_string_equal(model.set, "maxima");
    assert_string_equal(model.measure, "maximum");
    config.replace = true;
    assert_int_equal(assay_fit(ds, &config, &first, NULL), ASSAY_OK);
    assert_int_equal(first, 0);
    assert_int_equal(assay_count(ds, ASSAY_MODELS), 2);
    assay_close(ds);
}

static void predicts(void **state) {
    (void)state;
    assay_dataset *ds = open_lines();
    assay_fit_config config = {.measure = "maximum"};
    static const double points[] = {32, 4, 0.25};
    assay_prediction out[3];
    assert_int_equal(assay_fit(ds, &config, NULL, NULL), ASSAY_OK);
    assert_int_equal(assay_predict(ds, 0, &config, points, 3, out, NULL), ASSAY_OK);
    static const double values[] = {4 + 2 * 32, 4 + 2 * 4, 4 + 2 * 0.25}, extrapolations[] = {2, 1, 4};
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs(out[i].value - values[i]) < 1e-9 * values[i]);
        assert_true(fabs(out[i].extrapolation - extrapolations[i]) < 1e-12);
        assert_true(out[i].low <= out[i].value && out[i].value <= out[i].high);
    }
    assert_int_equal(assay_predict(ds, 1, &config, points, 1, out, NULL), ASSAY_OK);
    assert_true(fabs(out[0].value - 7) < 1e-9);
    assert_int_equal(assay_predict(ds, 1, &config, NULL, 0, NULL, NULL), ASSAY_OK);
    assay_close(ds);
}

static void models_are_saved_and_asked_for(void **state) {
    (void)state;
    assay_dataset *ds = open_lines(), *again;
    assert_int_equal(assay_fit(ds, NULL, NULL, NULL), ASSAY_OK);
    assay_query *query;
    bool row;
    static const char sql[] = "select t.exponent from term t join model m on m.id = t.model join context c on c.id = "
                              "m.context where c.path = 'main->f'";
    assert_int_equal(assay_query_open(ds, sql, &query, NULL), ASSAY_OK);
    assert_int_equal(assay_query_next(query, &row, NULL), ASSAY_OK);
    assert_true(row);
    assert_string_equal(assay_query_text(query, 0), "1");
    assay_query_close(query);
    const char *path = temporary_path("saved.extra-p");
    assert_int_equal(assay_save(ds, path, NULL, NULL), ASSAY_OK);
    assert_int_equal(assay_open(path, NULL, &again, NULL), ASSAY_OK);
    assay_model before, after;
    for (assay_id i = 0; i < 2; i++) {
        assert_true(assay_model_get(ds, i, &before));
        assert_true(assay_model_get(again, i, &after));
        assert_string_equal(before.function, after.function);
        assert_string_equal(before.callpath, after.callpath);
    }
    assay_prediction out; /* of a model that a file brought */
    assert_int_equal(assay_predict(again, 0, NULL, &(double){32}, 1, &out, NULL), ASSAY_OK);
    assert_true(fabs(out.value - 67) < 1e-9 * 67);
    assay_close(again);
    assay_close(ds);
}

static void refuses(void **state) {
    (void)state;
    assay_dataset *ds = open_lines();
    assay_error error;
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.modeler = "basc"}, NULL, &error), ASSAY_E_USAGE);
    assert_non_null(strstr(error.message, "basic"));
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.measure = "mode"}, NULL, NULL), ASSAY_E_USAGE);
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.modeler = "multi-parameter"}, NULL, NULL), ASSAY_E_USAGE);
    static const char *const unknown[] = {"colour=red", NULL}, *const wrong[] = {"allow_log_terms=maybe", NULL};
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.options = unknown}, NULL, &error), ASSAY_E_USAGE);
    assert_non_null(strstr(error.message, "colour"));
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.options = wrong}, NULL, NULL), ASSAY_E_USAGE);
    assert_int_equal(assay_count(ds, ASSAY_MODELS), 0);
    assay_prediction out;
    assert_int_equal(assay_predict(ds, 0, NULL, &(double){1}, 1, &out, &error), ASSAY_E_USAGE);
    assert_int_equal(assay_fit(ds, NULL, NULL, NULL), ASSAY_OK);
    assert_int_equal(assay_predict(ds, 0, NULL, &(double){NAN}, 1, &out, &error), ASSAY_E_USAGE);
    assert_int_equal(assay_predict(ds, 0, NULL, &(double){-INFINITY}, 1, &out, NULL), ASSAY_E_USAGE);
    assay_close(ds);
}

static bool stop(void *user, const char *stage, double fraction) {
    assert_string_equal(stage, "fitting");
    assert_true(fraction >= 0 && fraction <= 1);
    ++*(int *)user;
    return false;
}

static void stops_when_told(void **state) {
    (void)state;
    assay_dataset *ds = open_lines();
    int calls = 0;
    assert_int_equal(assay_fit(ds, &(assay_fit_config){.progress = stop, .user = &calls}, NULL, NULL),
                     ASSAY_E_CANCELLED);
    assert_int_equal(calls, 1);
    assert_int_equal(assay_count(ds, ASSAY_MODELS), 0);
    assay_close(ds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_and_looks), cmocka_unit_test(adds_or_replaces),
        cmocka_unit_test(predicts),       cmocka_unit_test(models_are_saved_and_asked_for),
        cmocka_unit_test(refuses),        cmocka_unit_test(stops_when_told),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
