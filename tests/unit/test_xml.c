#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "io/xml.h"

/* What was seen, in words. */
typedef struct seen {
    as_vec text;
    const char *stop_at; /* a name at whose start and an end "/name" to stop, or NULL */
    as_place place;
    uint64_t offset;
} seen;

static assay_status stop_here(seen *s, const as_xml *xml) {
    s->place = as_xml_place(xml);
    s->offset = as_xml_offset(xml);
    return as_fail(xml->error, ASSAY_E_UNSUPPORTED, s->place, "stopped", "as asked");
}

static assay_status see_start(void *user, const as_xml *xml, const char *name, const char *const *attributes) {
    seen *s = user;
    char depth[16];
    snprintf(depth, sizeof depth, "<%u ", xml->depth);
    as_vec_text(&s->text, depth);
    as_vec_text(&s->text, name);
    for (; *attributes; attributes += 2) {
        as_vec_text(&s->text, " ");
        as_vec_text(&s->text, attributes[0]);
        as_vec_text(&s->text, "=");
        as_vec_text(&s->text, attributes[1]);
    }
    as_vec_text(&s->text, ">");
    return s->stop_at && strcmp(name, s->stop_at) == 0 ? stop_here(s, xml) : (assay_status)ASSAY_OK;
}

static assay_status see_end(void *user, const as_xml *xml, const char *name) {
    seen *s = user;
    char depth[16];
    snprintf(depth, sizeof depth, "<%u /", xml->depth);
    as_vec_text(&s->text, depth);
    as_vec_text(&s->text, name);
    as_vec_text(&s->text, ">");
    return s->stop_at && *s->stop_at == '/' && strcmp(name, s->stop_at + 1) == 0 ? stop_here(s, xml)
                                                                                 : (assay_status)ASSAY_OK;
}

static assay_status see_text(void *user, const as_xml *xml, const char *data, size_t size) {
    seen *s = user;
    (void)xml;
    as_vec_append(&s->text, data, size);
    return ASSAY_OK;
}

static const as_xml_handler handler = {see_start, see_end, see_text};

static assay_status read_document(seen *s, const char *document, size_t size, assay_error *error) {
    as_vec_init(&s->text, 1, NULL);
    as_budget budget = {.limit = 0};
    assay_status code = as_xml_read("anchor.xml", document, size, &handler, s, 0, &budget, error);
    assert_int_equal(budget.used, 0);
    as_vec_append(&s->text, "", 1);
    return code;
}

static void assert_seen(const char *document, const char *expected) {
    seen s = {.stop_at = NULL};
    assay_error error;
    if (read_document(&s, document, strlen(document), &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_string_equal(s.text.data, expected);
    as_vec_free(&s.text);
}

static void elements_attributes_and_text(void **state) {
    (void)state;
    assert_seen("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x='1' y=\"&lt;&#228;\"><b/>t &amp; <![CDATA[<u>]]>\n<c>"
                "</c></a>\n",
                "<1 a x=1 y=<\xc3\xa4><2 b><2 /b>t & <u>\n<2 c><2 /c><1 /a>");
    assert_seen("<!DOCTYPE a SYSTEM \"a.dtd\"><a/>", "<1 a><1 /a>");
}

static void encodings(void **state) {
    (void)state;
    assert_seen("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe4</a>", "<1 a>\xc3\xa4<1 /a>");
    assert_seen("<?xml version=\"1.0\" encoding=\"US-ASCII\"?><a>b</a>", "<1 a>b<1 /a>");
    assert_seen("\xef\xbb\xbf<a>\xc3\xa4</a>", "<1 a>\xc3\xa4<1 /a>");
}

static void handlers_may_be_missing(void **state) {
    (void)state;
    const as_xml_handler none = {NULL, NULL, NULL};
    assert_int_equal(as_xml_read("x", "<a>b<c/></a>", 12, &none, NULL, 0, NULL, NULL), ASSAY_OK);
}

static void damage_has_a_place(void **state) {
    (void)state;
    static const struct {
        const char *document, *rule;
        uint32_t line, column;
    } cases[] = {
        {"", "xml-damaged", 1, 1},
        {"no xml", "xml-damaged", 1, 1},
        {"<a>\n<b>\n</a>", "xml-damaged", 3, 3},
        {"<a>\n  <b", "xml-damaged", 2, 3},
        {"<a><b></b>", "xml-damaged", 1, 11},
        {"<a></a><b></b>", "xml-damaged", 1, 8},
        {"<a x='1' x='2'/>", "xml-damaged", 1, 10},
        {"<a>&nothing;</a>", "xml-damaged", 1, 4},
        {"<a>\xff</a>", "xml-damaged", 1, 4},
        {"<a>\x01</a>", "xml-damaged", 1, 4},
        {"<?xml version=\"1.0\" encoding=\"KOI8-R\"?><a/>", "xml-damaged", 1, 31},
        {"<!DOCTYPE a [<!ENTITY b 'bbbb'><!ENTITY c '&b;&b;&b;&b;'>]>\n<a>&c;</a>", "xml-entities", 1, 13},
        {"<!DOCTYPE a SYSTEM \"a.dtd\"><a>&outside;</a>", "xml-entities", 1, 31},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen s = {.stop_at = NULL};
        assay_error error = {0};
        assert_int_equal(read_document(&s, cases[i].document, strlen(cases[i].document), &error), ASSAY_E_FORMAT);
        if (strcmp(error.rule, cases[i].rule) != 0 || error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("%s: %s %u:%u %s", cases[i].document, error.rule, error.line, error.column, error.message);
        assert_string_equal(error.path, "anchor.xml");
        as_vec_free(&s.text);
    }
}

static void a_handler_can_stop(void **state) {
    (void)state;
    const char *document = "<a>\n <b><c>more</c></b></a>";
    seen s = {.stop_at = "b"};
    assay_error error = {0};
    assert_int_equal(read_document(&s, document, strlen(document), &error), ASSAY_E_UNSUPPORTED);
    assert_string_equal(error.rule, "stopped");
    assert_int_equal(s.place.line, 2);
    assert_int_equal(s.place.column, 2);
    assert_int_equal(s.offset, 5);
    assert_string_equal(s.text.data, "<1 a>\n <2 b>");
    as_vec_free(&s.text);
    s = (seen){.stop_at = "/c"};
    assert_int_equal(read_document(&s, document, strlen(document), &error), ASSAY_E_UNSUPPORTED);
    assert_string_equal(s.text.data, "<1 a>\n <2 b><3 c>more<3 /c>");
    as_vec_free(&s.text);
}

/* An empty element has both events at one token: the second must not come after a stop at the first. */
static void a_stop_is_at_once(void **state) {
    (void)state;
    seen s = {.stop_at = "b"};
    assert_int_equal(read_document(&s, "<a><b/></a>", 11, NULL), ASSAY_E_UNSUPPORTED);
    assert_string_equal(s.text.data, "<1 a><2 b>");
    as_vec_free(&s.text);
}

static void every_beginning(void **state) {
    (void)state;
    const char *document = "<?xml version=\"1.0\"?>\n<a x='&lt;'><b>text &amp; \xc3\xa4</b><c/><!-- d --></a>";
    for (size_t size = 0; size < strlen(document); size++) {
        char *exact = malloc(size ? size : 1);
        memcpy(exact, document, size);
        seen s = {.stop_at = NULL};
        assay_error error = {0};
        assert_int_equal(read_document(&s, exact, size, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, "xml-damaged");
        as_vec_free(&s.text);
        free(exact);
    }
}

static assay_status count_text(void *user, const as_xml *xml, const char *data, size_t size) {
    (void)xml;
    (void)data;
    *(size_t *)user += size;
    return ASSAY_OK;
}

/* Longer than the pieces that are handed to expat, tags and characters across their ends. */
static void long_documents(void **state) {
    (void)state;
    as_vec document;
    as_vec_init(&document, 1, NULL);
    as_vec_text(&document, "<a>");
    for (size_t i = 0; i < 50000; i++) as_vec_text(&document, "<element attribute='value'>\xc3\xa4\xc3\xb6</element>");
    as_vec_text(&document, "</a>");
    size_t text = 0;
    const as_xml_handler counting = {.text = count_text};
    assert_int_equal(as_xml_read("x", document.data, document.count, &counting, &text, 0, NULL, NULL), ASSAY_OK);
    assert_int_equal(text, 50000 * 4);
    as_vec_free(&document);
}

/* One token of a hundred megabytes: a comment, and the value of an attribute. expat before 2.6 looks at it from its
 * beginning with each piece it is given, which takes minutes if all pieces are of one size. */
static void long_tokens(void **state) {
    (void)state;
    enum { LONG = 100 << 20 };
    as_vec document;
    as_vec_init(&document, 1, NULL);
    assert_true(as_vec_reserve(&document, 2 * LONG + 100));
    as_vec_text(&document, "<a><!--");
    memset((char *)document.data + document.count, '.', LONG);
    document.count += LONG;
    as_vec_text(&document, "--><b c='");
    memset((char *)document.data + document.count, '.', LONG);
    document.count += LONG;
    as_vec_text(&document, "'>text</b></a>");
    size_t text = 0;
    const as_xml_handler counting = {.text = count_text};
    clock_t before = clock();
    assert_int_equal(as_xml_read("x", document.data, document.count, &counting, &text, 0, NULL, NULL), ASSAY_OK);
    assert_int_equal(text, 4);
    assert_true(clock() - before < 30 * CLOCKS_PER_SEC);
    as_vec_free(&document);
}

static as_vec nested(size_t depth) {
    as_vec document;
    as_vec_init(&document, 1, NULL);
    for (size_t i = 0; i < depth; i++) as_vec_text(&document, "<c>");
    for (size_t i = 0; i < depth; i++) as_vec_text(&document, "</c>");
    return document;
}

static void deep_documents(void **state) {
    (void)state;
    const as_xml_handler none = {NULL, NULL, NULL};
    as_vec document = nested(1000000);
    assay_error error = {0};
    assert_int_equal(as_xml_read("x", document.data, document.count, &none, NULL, 0, NULL, NULL), ASSAY_OK);
    assert_int_equal(as_xml_read("x", document.data, document.count, &none, NULL, 1000000, NULL, NULL), ASSAY_OK);
    assert_int_equal(as_xml_read("x", document.data, document.count, &none, NULL, 999999, NULL, &error),
                     ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "xml-depth");
    assert_int_equal(error.column, 999999 * 3 + 1);
    as_budget budget = {.limit = 10 << 20};
    assert_int_equal(as_xml_read("x", document.data, document.count, &none, NULL, 0, &budget, &error), ASSAY_E_NOMEM);
    assert_int_equal(budget.used, 0);
    as_vec_free(&document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_attributes_and_text),
        cmocka_unit_test(encodings),
        cmocka_unit_test(handlers_may_be_missing),
        cmocka_unit_test(damage_has_a_place),
        cmocka_unit_test(a_handler_can_stop),
        cmocka_unit_test(a_stop_is_at_once),
        cmocka_unit_test(every_beginning),
        cmocka_unit_test(long_documents),
        cmocka_unit_test(long_tokens),
        cmocka_unit_test(deep_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
