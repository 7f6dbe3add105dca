/* Experiments of which a process keeps its share: the values of its call paths, but the series and points of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataset/experiment.h"
#include "dataset/merge.h"
#include "formats/format.h"

enum { PROCESSES = 3, PATHS = 24, POINTS = 2 };

static void name_path(int i, char out[32]) { snprintf(out, 32, i % 2 ? "main->f%d" : "main->f%d->g", i); }

/* ---- what is there ----------------------------------------------------------------------------------------------- */

static bool add_mean(void *user, const as_measurement *measurement) {
    *(double *)user += measurement->mean;
    return true;
}

static double sum_of_means(const as_dataset *ds, size_t series) {
    double sum = 0;
    assert_true(as_measure(ds, as_ds_series(ds, series), add_mean, &sum));
    return sum;
}

/* The n datasets are the shares of all: each has its series in the same order, and each series has its values in one of
 * them, which is the one that the path says. Gives how many values they have together. */
static uint64_t check_shares(const as_dataset *all, as_dataset *const *shares, uint32_t n) {
    as_vec path, expected;
    as_vec_init(&path, 1, NULL);
    as_vec_init(&expected, 1, NULL);
    uint64_t values = 0;
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(shares[k]->series.count, all->series.count);
        assert_int_equal(shares[k]->n_points, all->n_points);
        assert_int_equal(shares[k]->contexts.count, all->contexts.count);
        assert_int_equal(shares[k]->metrics.count, all->metrics.count);
        assert_int_equal(shares[k]->problems.count, 0); /* that points are missing is for those to say who know all */
        values += as_ds_values(shares[k]);
        size_t own = 0;
        for (size_t i = 0; i < all->series.count; i++) {
            const as_series *series = as_ds_series(shares[k], i);
            assert_true(as_context_path(shares[k], series->context, &path));
            assert_true(as_context_path(all, as_ds_series(all, i)->context, &expected));
            assert_string_equal((char *)path.data, (char *)expected.data);
            assert_int_equal(series->metric, as_ds_series(all, i)->metric);
            bool is_own = as_share_has((as_share){k, n}, path.data, path.count - 1);
            own += is_own;
            assert_true(sum_of_means(shares[k], i) == (is_own ? sum_of_means(all, i) : 0));
        }
        assert_true(own > 0 && own < all->series.count); /* else nothing was tried */
    }
    as_vec_free(&path);
    as_vec_free(&expected);
    return values;
}

/* ---- the builder ------------------------------------------------------------------------------------------------- */

static void add_cell(as_experiment *e, as_cell_key key, int i) {
    as_number value = {.kind = AS_INT, .i = i + 1};
    as_measurement statistics = {.repetitions = 2, .mean = i + 1, .median = 1, .minimum = 1, .maximum = 1, .std = 0};
    if (i % 3 == 0)
        assert_true(as_experiment_statistics(e, key, &statistics));
    else if (i % 3 == 1)
        assert_true(as_experiment_value(e, key, value));
    else
        assert_true(as_experiment_value_at(e, key, 0, value) && as_experiment_value_at(e, key, 1, value));
}

/* Every third call path has statistics, values, or values of two places; the last one is not measured at the last
 * point. */
static as_dataset *build(as_share share) {
    as_dataset *ds = as_dataset_new(0);
    ds->share = share;
    as_add_parameter(ds, as_ds_intern_text(ds, "p"));
    as_experiment *e = as_experiment_new(ds);
    for (int k = 0; k < POINTS; k++) {
        double p = 1 << k;
        for (int i = 0; i < PATHS; i++) {
            char path[32];
            name_path(i, path);
            as_cell_key key = {as_experiment_metric(e, i % 3 ? "time" : "bytes", i % 3 ? 4 : 5),
                               as_experiment_callpath(e, path, strlen(path)), as_experiment_point(e, &p)};
            assert_true(as_experiment_keeps(e, key.context) == as_share_has(share, path, strlen(path)));
            if (i < PATHS - 1 || k < POINTS - 1) add_cell(e, key, i);
        }
    }
    assert_true(as_experiment_finish(e, as_place_file("test"), NULL));
    as_experiment_free(e);
    return ds;
}

static void the_builder_keeps_its_share(void **state) {
    (void)state;
    as_dataset *all = build((as_share){0}), *one = build((as_share){0, 1}), *shares[PROCESSES];
    for (uint32_t k = 0; k < PROCESSES; k++) shares[k] = build((as_share){k, PROCESSES});
    assert_int_equal(as_ds_values(all), 8 * 2 + 8 * 4 - 2); /* 8 with a value, 8 with two, at 2 points, but for one */
    assert_int_equal(as_ds_values(one), as_ds_values(all));
    assert_int_equal(check_shares(all, shares, PROCESSES), as_ds_values(all));
    assert_int_equal(all->problems.count, 1);
    size_t statistics = 0;
    for (uint32_t k = 0; k < PROCESSES; k++) statistics += shares[k]->measurements.count;
    assert_int_equal(all->measurements.count, 8 * 2);
    assert_int_equal(statistics, all->measurements.count);
    as_dataset_free(all);
    as_dataset_free(one);
    for (uint32_t k = 0; k < PROCESSES; k++) as_dataset_free(shares[k]);
}

static void shares_of_parts_become_shares_of_the_whole(void **state) {
    (void)state;
    assay_error error;
    as_dataset *merged[PROCESSES + 1];
    for (uint32_t k = 0; k <= PROCESSES; k++) { /* the last is the whole */
        as_share share = k < PROCESSES ? (as_share){k, PROCESSES} : (as_share){0};
        as_dataset *parts[2] = {build(share), build(share)};
        assert_int_equal(as_merge(parts, 2, &merged[k], &error), ASSAY_OK);
        as_dataset_free(parts[0]);
        as_dataset_free(parts[1]);
    }
    assert_int_equal(as_ds_values(merged[PROCESSES]), 2 * (8 * 2 + 8 * 4 - 2));
    assert_int_equal(check_shares(merged[PROCESSES], merged, PROCESSES), as_ds_values(merged[PROCESSES]));
    for (uint32_t k = 0; k <= PROCESSES; k++) as_dataset_free(merged[k]);
}

/* ---- the readers ------------------------------------------------------------------------------------------------- */

static void append(as_vec *text, const char *format, ...) {
    char line[256];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert_true(size >= 0 && size < (int)sizeof line && as_vec_append(text, line, (size_t)size));
}

static void write_text(as_vec *text, const char *last) {
    append(text, "PARAMETER p\nPOINTS 2 4\nMETRIC time\n");
    for (int i = 0; i < PATHS; i++) {
        char path[32];
        name_path(i, path);
        append(text, "REGION %s\nDATA %d %d\nDATA %s\n", path, i + 1, i + 2, i < PATHS - 1 ? "7" : last);
    }
}

static void write_records(as_vec *text, const char *last) {
    for (int i = 0; i < PATHS; i++) {
        char path[32];
        name_path(i, path);
        append(text,
               "{\"params\":{\"p\":2},\"callpath\":\"%s\",\"metric\":\"time\",\"value\":[%d,%d],\"host\":\"a\"}\n",
               path, i + 1, i + 2);
        append(text, "{\"value\":7,\"params\":{\"p\":4},\"metric\":\"time\",\"callpath\":\"%s\"}\n", path);
        append(text, "{\"params\":{\"p\":4},\"callpath\":\"%s\",\"value\":[%s]}\n", path, i < PATHS - 1 ? "7" : last);
    }
}

static assay_status read_share(const as_vec *text, as_share share, as_dataset **out) {
    as_read_config config = {.share = share};
    assay_error error;
    return as_read_memory("test", text->data, text->count, &config, out, &error);
}

static void check_reader(void (*write)(as_vec *text, const char *last), uint64_t n_values) {
    as_vec sound, broken;
    as_vec_init(&sound, 1, NULL);
    as_vec_init(&broken, 1, NULL);
    write(&sound, "7");
    write(&broken, "\"x\"");
    as_dataset *all, *shares[PROCESSES], *none;
    assert_int_equal(read_share(&sound, (as_share){0}, &all), ASSAY_OK);
    assert_int_equal(as_ds_values(all), n_values);
    for (uint32_t k = 0; k < PROCESSES; k++)
        assert_int_equal(read_share(&sound, (as_share){k, PROCESSES}, &shares[k]), ASSAY_OK);
    assert_int_equal(check_shares(all, shares, PROCESSES), n_values);
    /* A bad number is found by those who need it. */
    char path[32];
    name_path(PATHS - 1, path);
    assert_int_equal(read_share(&broken, (as_share){0}, &none), ASSAY_E_FORMAT);
    for (uint32_t k = 0; k < PROCESSES; k++) {
        as_share share = {k, PROCESSES};
        assay_status status = read_share(&broken, share, &none);
        assert_int_equal(status, as_share_has(share, path, strlen(path)) ? ASSAY_E_FORMAT : ASSAY_OK);
        if (status == ASSAY_OK) as_dataset_free(none);
        as_dataset_free(shares[k]);
    }
    as_dataset_free(all);
    as_vec_free(&sound);
    as_vec_free(&broken);
}

static void text_is_read_in_shares(void **state) {
    (void)state;
    check_reader(write_text, PATHS * 3);
}

static void records_are_read_in_shares(void **state) {
    (void)state;
    check_reader(write_records, PATHS * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_builder_keeps_its_share),
        cmocka_unit_test(shares_of_parts_become_shares_of_the_whole),
        cmocka_unit_test(text_is_read_in_shares),
        cmocka_unit_test(records_are_read_in_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
