#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/xml_scan.h"

/* ---- what was seen, in words: "<1 a x=1>" for a start, "<1 /a>" for an end --------------------------------------- */

static void see(as_vec *seen, const as_xml_scan *scan, as_xml_event event) {
    char depth[32];
    snprintf(depth, sizeof depth, event == AS_XML_START ? "<%u " : "<%u /", scan->depth);
    as_vec_text(seen, depth);
    as_vec_append(seen, scan->name, scan->name_size);
    for (uint32_t i = 0; event == AS_XML_START && i < scan->n_attributes; i++) {
        as_vec_text(seen, " ");
        as_vec_append(seen, scan->attributes[i].name, scan->attributes[i].name_size);
        as_vec_text(seen, "=");
        as_vec_append(seen, scan->attributes[i].value, scan->attributes[i].value_size);
    }
    as_vec_text(seen, ">");
}

/* The document lies at the very end of its memory, so that reading beyond it is seen. */
static assay_status scan_all(const char *document, size_t size, uint32_t max_depth, as_vec *seen, assay_error *error) {
    char *copy = malloc(size ? size : 1);
    as_xml_scan scan;
    as_xml_event event = AS_XML_START;
    as_budget budget = {.limit = 0};
    assert_non_null(copy);
    memcpy(copy, document, size);
    as_vec_init(seen, 1, NULL);
    assay_status status = as_xml_scan_open(&scan, "some.xml", copy, size, max_depth, &budget, error);
    while (status == ASSAY_OK) {
        status = as_xml_scan_next(&scan, &event);
        if (status != ASSAY_OK || event == AS_XML_DONE) break;
        see(seen, &scan, event);
    }
    as_vec_append(seen, "", 1);
    as_xml_scan_close(&scan);
    assert_int_equal(budget.used, 0);
    free(copy);
    return status;
}

static void assert_seen(const char *document, const char *expected) {
    as_vec seen;
    assay_error error;
    if (scan_all(document, strlen(document), 0, &seen, &error) != ASSAY_OK)
        fail_msg("%s\n%u:%u: %s", document, error.line, error.column, error.message);
    assert_string_equal(seen.data, expected);
    as_vec_free(&seen);
}

static void assert_refused(const char *document, const char *rule, uint32_t line, uint32_t column) {
    as_vec seen;
    assay_error error;
    if (scan_all(document, strlen(document), 0, &seen, &error) == ASSAY_OK) fail_msg("accepted: %s", document);
    if (error.code != ASSAY_E_FORMAT || strcmp(error.rule, rule) != 0 || error.line != line || error.column != column)
        fail_msg("%s\nexpected %s at %u:%u, got %s at %u:%u: %s", document, rule, line, column, error.rule, error.line,
                 error.column, error.message);
    as_vec_free(&seen);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void elements_and_attributes(void **state) {
    (void)state;
    assert_seen("<a/>", "<1 a><1 /a>");
    assert_seen("<a x='1'  yy=\"2 3\"\n z = 'q'><b></b><c:d-e.f i=\"\"/></a >",
                "<1 a x=1 yy=2 3 z=q><2 b><2 /b><2 c:d-e.f i=><2 /c:d-e.f><1 /a>");
    assert_seen("<a q='\"' p=\"'>\"/>", "<1 a q=\" p='>><1 /a>");
    assert_seen("<a>text > & more ]]&amp; <b/>\n text</a>\n\n", "<1 a><2 b><2 /b><1 /a>");
    assert_seen("\xef\xbb\xbf<\xc3\xa4 n='\xe2\x82\xac'/>", "<1 \xc3\xa4 n=\xe2\x82\xac><1 /\xc3\xa4>");
}

static void what_is_skipped(void **state) {
    (void)state;
    assert_seen(
        "<?xml version=\"1.0\"?>\n<!-- <a> -- > --><?pi <b> ?>\n<r><!--<x>--><?p >?><![CDATA[<y>]] >]]></r><!---->",
        "<1 r><1 /r>");
    assert_seen("<!DOCTYPE r SYSTEM \"r.dtd\"><r/>", "<1 r><1 /r>");
    assert_seen("<!DOCTYPE r [\n<!ELEMENT r (a)*> <!-- ]> ' --> <?p ]> ?>\n<!ATTLIST r v CDATA \"]>\"\n n (a|b) "
                "'a'>\n]\n>\n<r/>",
                "<1 r><1 /r>");
}

static void values_with_entities_and_line_ends(void **state) {
    (void)state;
    assert_seen("<a n='&lt;&gt;&amp;&quot;&apos;' m=\"&#65;&#x20AC;&#x1F600;x\" o='p'/>",
                "<1 a n=<>&\"' m=A\xe2\x82\xac\xf0\x9f\x98\x80x o=p><1 /a>");
    assert_seen("<a n='a\tb\nc\r\nd\re'/>", "<1 a n=a b c d e><1 /a>");
}

/* Writers of HPCToolkit put a backslash before a quote inside a name; in legal documents a value may end in a
 * backslash. */
static void quotes_behind_backslashes(void **state) {
    (void)state;
    assert_seen("<a n=\"a\\\"b\"/>", "<1 a n=a\"b><1 /a>");
    assert_seen("<a n=\"operator\\\"\\\" _kb(unsigned long)\" v=\"0\"/>",
                "<1 a n=operator\"\" _kb(unsigned long) v=0><1 /a>");
    assert_seen("<a n=\"operator\\\"\\\" _kb\" v=\"0\"/>", "<1 a n=operator\"\" _kb v=0><1 /a>");
    assert_seen("<a n=\"C:\\\"/>", "<1 a n=C:\\><1 /a>");
    assert_seen("<a n=\"C:\\\"></a>", "<1 a n=C:\\><1 /a>");
    assert_seen("<a n=\"C:\\\" v=\"0\"/>", "<1 a n=C:\\ v=0><1 /a>");
    assert_seen("<a n=\"C:\\\"\n v = '0' />", "<1 a n=C:\\ v=0><1 /a>");
    assert_seen("<a n=\"\\\\\" m=\"\\x\\\\y\"/>", "<1 a n=\\\\ m=\\x\\\\y><1 /a>");
    assert_seen("<a n=\"say \\\" x=\\\"y\"/>", "<1 a n=say \" x=\"y><1 /a>");
    assert_seen("<a n=\"\\\"\\\"\" m=\"\\\"&lt;\"/>", "<1 a n=\"\" m=\"<><1 /a>");
    assert_seen("<a n='C:\\'/>", "<1 a n=C:\\><1 /a>");
    assert_refused("<a n=\"a\\\"b", "xml-damaged", 1, 11);
}

static void what_is_refused(void **state) {
    (void)state;
    assert_refused("", "xml-damaged", 1, 1);
    assert_refused("  \n ", "xml-damaged", 2, 2);
    assert_refused("text", "xml-damaged", 1, 1);
    assert_refused("<a>\n<b></a>", "xml-damaged", 2, 4);
    assert_refused("<a></ab>", "xml-damaged", 1, 4);
    assert_refused("<ab></a>", "xml-damaged", 1, 9);
    assert_refused("<a></a x>", "xml-damaged", 1, 4);
    assert_refused("</a>", "xml-damaged", 1, 1);
    assert_refused("<a/><b/>", "xml-damaged", 1, 5);
    assert_refused("<a/>text", "xml-damaged", 1, 5);
    assert_refused("<a>", "xml-damaged", 1, 4);
    assert_refused("<a x=\"1\" y=\"2\" x=\"3\"/>", "xml-damaged", 1, 16);
    assert_refused("<a x=\"1\"y=\"2\"/>", "xml-damaged", 1, 9);
    assert_refused("<a x/>", "xml-damaged", 1, 5);
    assert_refused("<a x=1/>", "xml-damaged", 1, 6);
    assert_refused("<a 1='x'/>", "xml-damaged", 1, 4);
    assert_refused("<a x='<'/>", "xml-damaged", 1, 7);
    assert_refused("<a x='\x01'/>", "xml-damaged", 1, 7);
    assert_refused("< a/>", "xml-damaged", 1, 1);
    assert_refused("<a><!x></a>", "xml-damaged", 1, 4);
    assert_refused("<a><!DOCTYPE a></a>", "xml-damaged", 1, 4);
    assert_refused("<!DOCTYPE a [", "xml-damaged", 1, 14);
    assert_refused("<a n='&no;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='\xc3\xa4\xc3\xa4&no;'/>", "xml-entities", 1, 9);
    assert_refused("<a n='&#0;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='&#xD800;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='&#x110000;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='&#99999999999999999999;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='&#;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='&#x;'/>", "xml-entities", 1, 7);
    assert_refused("<a n='\xff'/>", "xml-damaged", 1, 7);
    assert_refused("<a>\xc3</a>", "xml-damaged", 1, 4);
}

static void encodings(void **state) {
    (void)state;
    assert_seen("<?xml version='1.0' encoding='ISO-8859-1'?><a n='\xe4&lt;'/>", "<1 a n=\xc3\xa4<><1 /a>");
    assert_seen("<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>", "<1 a><1 /a>");
    assert_refused("<?xml version='1.0' encoding='EBCDIC'?><a/>", "xml-damaged", 1, 31);
    assert_refused("\xff\xfe<", "xml-damaged", 1, 1);
}

/* Cut anywhere, a document is refused, and nothing behind its end is read. */
static void cut_anywhere(void **state) {
    (void)state;
    static const char document[] = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ELEMENT a ANY> ]><a n=\"x\\\"y\" "
                                   "m='&lt;'><!-- c --><b/><c d='1'></c></a>";
    for (size_t size = 0; size < sizeof document - 1; size++) {
        as_vec seen;
        assay_error error;
        if (scan_all(document, size, 0, &seen, &error) != ASSAY_E_FORMAT) fail_msg("accepted %zu bytes", size);
        as_vec_free(&seen);
    }
    assert_seen(document, "<1 a n=x\"y m=<><2 b><2 /b><2 c d=1><2 /c><1 /a>");
}

static void depth_has_an_end_if_asked_for(void **state) {
    (void)state;
    enum { DEPTH = 1000000 };
    char *document = malloc((size_t)DEPTH * 7 + 1);
    assert_non_null(document);
    for (size_t i = 0; i < DEPTH; i++) memcpy(document + i * 3, "<a>", 3);
    for (size_t i = 0; i < DEPTH; i++) memcpy(document + (size_t)DEPTH * 3 + i * 4, "</a>", 4);
    as_vec seen;
    assay_error error;
    assert_int_equal(scan_all(document, (size_t)DEPTH * 7, 0, &seen, &error), ASSAY_OK);
    as_vec_free(&seen);
    assert_int_equal(scan_all(document, (size_t)DEPTH * 7, 7, &seen, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, "xml-depth");
    assert_int_equal(error.column, 22);
    as_vec_free(&seen);
    free(document);
}

static void attributes_are_found_and_counted(void **state) {
    (void)state;
    char document[2000] = "<a";
    for (int i = 0; i < AS_XML_MAX_ATTRIBUTES; i++) sprintf(document + strlen(document), " a%d='%d'", i, i);
    size_t size = strlen(document);
    strcpy(document + size, "/>");
    as_xml_scan scan;
    as_xml_event event;
    assay_error error;
    assert_int_equal(as_xml_scan_open(&scan, "x", document, strlen(document), 0, NULL, &error), ASSAY_OK);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_int_equal(scan.n_attributes, AS_XML_MAX_ATTRIBUTES);
    assert_memory_equal(as_xml_scan_attribute(&scan, "a42")->value, "42", 2);
    assert_null(as_xml_scan_attribute(&scan, "a"));
    as_xml_scan_close(&scan);
    strcpy(document + size, " one='more'/>");
    assert_refused(document, "xml-damaged", 1, (uint32_t)size + 2);
    strcpy(document + size - 7, " a7='x'/>");
    assert_refused(document, "xml-damaged", 1, (uint32_t)size - 5);
}

static void skipping_and_places(void **state) {
    (void)state;
    static const char document[] = "<a>\n <b><c><c/></c></b>\n\xc3\xa4 <d n='x'/></a>";
    as_xml_scan scan;
    as_xml_event event;
    assay_error error;
    assert_int_equal(as_xml_scan_open(&scan, "x", document, strlen(document), 0, NULL, &error), ASSAY_OK);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_true(AS_XML_IS(&scan, "b"));
    assert_int_equal(as_xml_scan_place(&scan, scan.element).line, 2);
    assert_int_equal(as_xml_scan_place(&scan, scan.element).column, 2);
    assert_int_equal(as_xml_scan_skip(&scan), ASSAY_OK);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_int_equal(event, AS_XML_START);
    assert_true(AS_XML_IS(&scan, "d"));
    as_place place = as_xml_scan_place(&scan, scan.attributes[0].at);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 9);
    assert_int_equal(as_xml_scan_place(&scan, document + 1).line, 1);
    assert_int_equal(as_xml_scan_place(&scan, scan.element).column, 3);
    assert_int_equal(as_xml_scan_skip(&scan), ASSAY_OK);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_int_equal(event, AS_XML_END);
    assert_int_equal(as_xml_scan_next(&scan, &event), ASSAY_OK);
    assert_int_equal(event, AS_XML_DONE);
    as_xml_scan_close(&scan);
}

/* Line and column, counted from the beginning. */
static void assert_place(as_xml_scan *scan, const char *document, size_t at) {
    uint32_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = document[i] == '\n' ? 1 : column + ((document[i] & 0xc0) != 0x80);
        line += document[i] == '\n';
    }
    as_place place = as_xml_scan_place(scan, document + at);
    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
}

static void places_in_any_order(void **state) {
    (void)state;
    static const char document[] = "<a>\n\n<b \xc3\xa4='\xc3\xbc'\n x='1'/><c>\n\xe2\x82\xac</c>\n</a>";
    as_xml_scan scan;
    assay_error error;
    assert_int_equal(as_xml_scan_open(&scan, "x", document, strlen(document), 0, NULL, &error), ASSAY_OK);
    for (size_t from = 0; from <= strlen(document); from++) {
        for (size_t to = 0; to <= strlen(document); to++) {
            assert_place(&scan, document, from);
            assert_place(&scan, document, to);
        }
    }
    as_xml_scan_close(&scan);
}

/* From the beginning of the line each time it would take hours. */
static void many_places_on_one_line(void **state) {
    (void)state;
    enum { N = 1 << 20, EACH = 8 };
    char *document = malloc((size_t)N * EACH);
    as_xml_scan scan;
    assay_error error;
    assert_non_null(document);
    for (size_t i = 0; i < N; i++) memcpy(document + i * EACH, "<a b=''>", EACH);
    assert_int_equal(as_xml_scan_open(&scan, "x", document, (size_t)N * EACH, 0, NULL, &error), ASSAY_OK);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(as_xml_scan_place(&scan, document + (size_t)i * EACH + 6).column, i * EACH + 7);
        assert_int_equal(as_xml_scan_place(&scan, document + (size_t)i * EACH).column, i * EACH + 1);
    }
    as_xml_scan_close(&scan);
    free(document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_and_attributes),
        cmocka_unit_test(what_is_skipped),
        cmocka_unit_test(values_with_entities_and_line_ends),
        cmocka_unit_test(quotes_behind_backslashes),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(encodings),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(depth_has_an_end_if_asked_for),
        cmocka_unit_test(attributes_are_found_and_counted),
        cmocka_unit_test(skipping_and_places),
        cmocka_unit_test(places_in_any_order),
        cmocka_unit_test(many_places_on_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
