/* YAML: what becomes of collections, anchors, aliases and merge keys; what is refused and where; limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/yaml.h"

static void read_text(const char *text, as_yaml *yaml) {
    assay_error error;
    if (as_yaml_read("x.yaml", text, strlen(text), NULL, yaml, &error) != ASSAY_OK)
        fail_msg("%s: %u:%u: %s", text, error.line, error.column, error.message);
}

static void test_collections(void **state) {
    as_yaml yaml;
    (void)state;
    read_text("# comment\nname: CPUTIME (sec)\nlist: [1, 'two', {three: 4}]\nempty:\n", &yaml);
    const as_yaml_node *root = as_yaml_root(&yaml);
    assert_int_equal(root->kind, AS_YAML_MAPPING);
    assert_int_equal(root->n, 3);
    assert_string_equal(as_yaml_text(as_yaml_key(&yaml, root, 0)), "name");
    assert_string_equal(as_yaml_text(as_yaml_value(&yaml, root, 0)), "CPUTIME (sec)");
    const as_yaml_node *list = as_yaml_get(&yaml, root, "list");
    assert_int_equal(list->kind, AS_YAML_SEQUENCE);
    assert_int_equal(list->n, 3);
    assert_int_equal(list->line, 3);
    assert_int_equal(list->column, 7);
    assert_true(as_yaml_item(&yaml, list, 0)->is_plain);
    assert_false(as_yaml_item(&yaml, list, 1)->is_plain);
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, as_yaml_item(&yaml, list, 2), "three")), "4");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, root, "empty")), "");
    assert_null(as_yaml_get(&yaml, root, "other"));
    assert_null(as_yaml_get(&yaml, list, "name"));
    assert_null(as_yaml_get(&yaml, NULL, "name"));
    assert_null(as_yaml_text(list));
    as_yaml_free(&yaml);
}

static void test_aliases(void **state) {
    as_yaml yaml;
    (void)state;
    read_text("a: &x {k: 1}\nb: *x\nc: [*x, &y two, *y]\nd: &x later\ne: *x\n", &yaml);
    const as_yaml_node *root = as_yaml_root(&yaml), *a = as_yaml_get(&yaml, root, "a");
    assert_ptr_equal(a, as_yaml_get(&yaml, root, "b"));
    const as_yaml_node *c = as_yaml_get(&yaml, root, "c");
    assert_ptr_equal(a, as_yaml_item(&yaml, c, 0));
    assert_string_equal(as_yaml_text(as_yaml_item(&yaml, c, 2)), "two");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, root, "e")), "later");
    as_yaml_free(&yaml);
}

static void test_merge_keys(void **state) {
    as_yaml yaml;
    (void)state;
    read_text("- &a {x: 1, y: 2}\n- &b {<<: *a, y: 3}\n- {<<: *b}\n- &c {z: 5, x: 9}\n- {<<: [*c, *a]}\n", &yaml);
    const as_yaml_node *root = as_yaml_root(&yaml);
    const as_yaml_node *second = as_yaml_item(&yaml, root, 1), *third = as_yaml_item(&yaml, root, 2);
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, second, "x")), "1");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, second, "y")), "3");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, third, "x")), "1");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, third, "y")), "3");
    const as_yaml_node *last = as_yaml_item(&yaml, root, 4);
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, last, "x")), "9");
    assert_string_equal(as_yaml_text(as_yaml_get(&yaml, last, "y")), "2");
    as_yaml_free(&yaml);
}

static void check_refused(const char *text, size_t size, const char *rule, uint32_t line) {
    as_yaml yaml;
    assay_error error;
    assert_int_equal(as_yaml_read("x.yaml", text, size, NULL, &yaml, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, rule);
    assert_string_equal(error.path, "x.yaml");
    if (line) assert_int_equal(error.line, line);
    as_yaml_free(&yaml);
}

static void test_refused(void **state) {
    static const struct {
        const char *text;
        uint32_t line;
    } rows[] = {
        {"a: [1, 2", 0}, {"a: 1\nb: *nobody\n", 2}, {"&a [*a]", 1}, {"a: &x {b: *x}", 1}, {"a: 1\n b: 2\n", 2},
        {"\"open", 0},   {"a: \xff\n", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(rows[i].text, strlen(rows[i].text), "yaml-damaged", rows[i].line);
}

static void test_limits(void **state) {
    size_t size = 9 << 20;
    char *text = malloc(size);
    (void)state;
    assert_non_null(text);
    memset(text, '[', size);
    check_refused(text, 100000, "yaml-limit", 1);
    check_refused(text, size, "yaml-limit", 0);
    for (size_t i = 0; i < 4 << 20; i += 2) memcpy(text + i, "- ", 2); /* a sequence in a sequence … */
    check_refused(text, 4 << 20, "yaml-limit", 1);
    text[0] = '[';
    for (size_t i = 1; i + 2 <= 4 << 20; i += 2) memcpy(text + i, "1,", 2);
    check_refused(text, 4 << 20, "yaml-limit", 0);
    free(text);
}

/* A billion of nothing: ten levels of ten aliases each are a hundred links. */
static void test_many_aliases(void **state) {
    char text[4096] = "- &a0 lol\n";
    as_yaml yaml;
    (void)state;
    for (int level = 1; level < 10; level++) {
        size_t at = strlen(text);
        at += (size_t)snprintf(text + at, sizeof text - at, "- &a%d [", level);
        for (int i = 0; i < 10; i++) at += (size_t)snprintf(text + at, sizeof text - at, "*a%d,", level - 1);
        snprintf(text + at, sizeof text - at, "]\n");
    }
    read_text(text, &yaml);
    assert_true(yaml.nodes.count < 100);
    as_yaml_free(&yaml);
}

static void test_empty(void **state) {
    as_yaml yaml;
    (void)state;
    read_text("", &yaml);
    assert_string_equal(as_yaml_text(as_yaml_root(&yaml)), "");
    as_yaml_free(&yaml);
    read_text("--- a\n--- b\n", &yaml);
    assert_string_equal(as_yaml_text(as_yaml_root(&yaml)), "a");
    as_yaml_free(&yaml);
}

static void test_no_memory(void **state) {
    static const char text[] = "a: &x {b: 1}\nc: [*x, d]\n";
    (void)state;
    for (uint64_t limit = 1; limit < 4096; limit += 61) {
        as_budget budget = {.limit = limit};
        as_yaml yaml;
        assay_error error;
        assay_status status = as_yaml_read("x.yaml", text, strlen(text), &budget, &yaml, &error);
        assert_true(status == ASSAY_E_NOMEM || status == ASSAY_OK);
        as_yaml_free(&yaml);
        assert_int_equal(budget.used, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collections), cmocka_unit_test(test_aliases),   cmocka_unit_test(test_merge_keys),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_limits),    cmocka_unit_test(test_many_aliases),
        cmocka_unit_test(test_empty),       cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
