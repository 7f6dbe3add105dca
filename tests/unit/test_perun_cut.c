/* Perun profiles cut at every byte, and with every byte changed: an error with a place, or a dataset, never anything
 * else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "formats/format.h"

static const char *const PROFILES[] = {
    "{\"header\": {\"type\": \"mixed\", \"units\": {\"mixed(time delta)\": \"us\"}}, \"snapshots\": [{\"time\": "
    "\"0.1\", \"resources\": [{\"type\": "
    "\"mixed\", \"subtype\": \"time delta\", \"amount\": 1.5, \"structure-unit-size\": 2, \"uid\": {\"source\": "
    "\"a.c\", "
    "\"function\": \"f\", \"line\": 3}, \"trace\": [{\"function\": \"f\", \"line\": 3}, {\"function\": \"main\"}]}], "
    "\"models\": [{\"uid\": \"f\", \"coeffs\": [{\"name\": \"b0\", \"value\": 1}]}]}]}",
    "{\"header\": {}, \"resources\": {\"f#0\": {\"amount\": [1, 2.5, null]}, \"g#0\": {}}, \"resource_type_map\": "
    "{\"f#0\": "
    "{\"uid\": \"f\", \"type\": \"t\"}, \"g#0\": {\"uid\": \"\\u00e9\", \"bound\": \"n\"}}, \"models\": [], "
    "\"chunks\": {\"a\": [1]}}",
    "{\"collector_info\": {\"name\": \"time\"}, \"global\": {\"time\": \"1\", \"resources\": [{\"uid\": \"f\", "
    "\"amount\": NaN}, "
    "{\"amount\": 12345678901234567890123}], \"models\": null}}",
};

/* The status, of a copy of exactly that size. */
static assay_status read_copy(const char *text, size_t size, bool keep_going, assay_error *error) {
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    as_read_config config = {.format = "perun", .keep_going = keep_going};
    as_dataset *ds = NULL;
    assay_status status = as_read_memory("input", copy, size, &config, &ds, error);
    as_dataset_free(ds);
    free(copy);
    return status;
}

static void cut_profiles_are_refused_with_a_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof PROFILES / sizeof *PROFILES; i++) {
        assay_error error;
        size_t size = strlen(PROFILES[i]);
        assert_int_equal(read_copy(PROFILES[i], size, false, &error), ASSAY_OK);
        for (size_t cut = 0; cut < size; cut++) {
            assert_int_equal(read_copy(PROFILES[i], cut, false, &error), ASSAY_E_FORMAT);
            assert_int_equal(error.line, 1);
            assert_true(error.column >= 1 && error.column <= cut + 1);
            assert_int_equal(read_copy(PROFILES[i], cut, true, &error), ASSAY_OK); /* a problem among others */
        }
    }
}

static void changed_bytes_are_errors_or_other_profiles(void **state) {
    (void)state;
    static const char OTHERS[] = {'\0', '"', '{', '}', '[', ']', ',', ':', '\\', '9', '-', '\xff', 'x'};
    for (size_t i = 0; i < sizeof PROFILES / sizeof *PROFILES; i++) {
        size_t size = strlen(PROFILES[i]);
        char *copy = strdup(PROFILES[i]);
        for (size_t at = 0; at < size; at++) {
            for (size_t k = 0; k < sizeof OTHERS; k++) {
                assay_error error;
                copy[at] = OTHERS[k];
                assay_status status = read_copy(copy, size, k % 2, &error);
                assert_true(status == ASSAY_OK || status == ASSAY_E_FORMAT);
            }
            copy[at] = PROFILES[i][at];
        }
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_profiles_are_refused_with_a_place),
        cmocka_unit_test(changed_bytes_are_errors_or_other_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
