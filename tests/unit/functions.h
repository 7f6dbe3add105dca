/* For tests of models: the text of a function. Include it behind cmocka.h. */
#ifndef AS_TESTS_FUNCTIONS_H
#define AS_TESTS_FUNCTIONS_H

#include "dataset/dataset.h"

static inline void assert_function(const as_dataset *ds, const as_model *model, const char *expected) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    assert_true(as_model_function_text(ds, model, &text));
    assert_string_equal(text.data, expected);
    as_vec_free(&text);
}

#endif
