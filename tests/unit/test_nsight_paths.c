/* Call paths of exports: names, how Extra-Prof encodes them, and which call belongs where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "nsight_exports.h"

/* ---- names ----------------------------------------------------------------------------------------------------------- */

static void check_fit(const char *text, size_t size, bool is_context, const char *expected) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    assert_true(as_ns_fit(text, size, is_context, &out));
    assert_true(as_vec_append(&out, "", 1));
    assert_string_equal(out.data, expected);
    as_vec_free(&out);
}

static void texts_are_made_fit_for_names(void **state) {
    (void)state;
    check_fit("plain", 5, true, "plain");
    check_fit("a->b", 4, true, "a- >b");
    check_fit("a->b", 4, false, "a->b");
    check_fit("->", 2, true, "- >");
    check_fit("a\x1f\x01"
              "b\x7f\n\tc",
              8, true, "ab  c");
    check_fit("\xc3\xa9\xc2\x85", 4, true, "\xc3\xa9");           /* é, and a control character of two bytes */
    check_fit("a\xff\xc3", 3, true, "a\xef\xbf\xbd\xef\xbf\xbd"); /* neither begins a character that is there */
    check_fit("\xe2\x82z\xf0\x9f\x92", 6, true, "\xef\xbf\xbdz\xef\xbf\xbd");
    check_fit("\xed\xa0\x80", 3, true, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
}

/* "a|b|c" */
static const char *names_of(made_export *made, const char *path) {
    static char out[256];
    as_vec names;
    as_vec_init(&names, sizeof(as_str), NULL);
    assert_true(as_ns_path_names(made->x, path, strlen(path), &names));
    out[0] = '\0';
    for (size_t i = 0; i < names.count; i++) {
        if (i) strcat(out, "|");
        strcat(out, as_ds_text(made->ds, AS_AT(as_str, &names, i)));
    }
    as_vec_free(&names);
    return out;
}

static void call_paths_are_decoded(void **state) {
    (void)state;
    made_export made;
    make_export(&made, AS_NS_RANGES);
    add_symbol(&made, "0", "main");
    add_symbol(&made, "2s", "Ptr<T>::operator- >()");
    assert_string_equal(names_of(&made, "main->solve"), "main|solve");
    assert_string_equal(names_of(&made, "main"), "main");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f"
                                        "2s"),
                        "main|Ptr<T>::operator- >()");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f"
                                        "zz"),
                        "main|[0xzz]");
    assert_string_equal(names_of(&made, "\x1f"
                                        "0\x1f->cudaMalloc_v3020"),
                        "main|cudaMalloc_v3020");
    assert_string_equal(names_of(&made, "main->phase\x1f->cudaMalloc"), "main|phase|cudaMalloc");
    assert_string_equal(names_of(&made, "\x1f"), "[0x]");
    as_str whole = as_ns_path_text(made.x,
                                   "\x1f"
                                   "0\x1f"
                                   "2s\x1f"
                                   "9",
                                   7);
    assert_string_equal(as_ds_text(made.ds, whole), "main->Ptr<T>::operator- >()->[0x9]");
    free_export(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_made_fit_for_names),
        cmocka_unit_test(call_paths_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
