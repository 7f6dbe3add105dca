/* Documents that every reader of RFC 8259 must accept, and documents it must refuse: shared by our tests and those against simdjson. */
#ifndef AS_TESTS_JSON_DOCUMENTS_H
#define AS_TESTS_JSON_DOCUMENTS_H

#include <stddef.h>

typedef struct json_document {
    const char *text;
    size_t size;
} json_document;

#define DOCUMENT(text) {text, sizeof(text) - 1}

static const json_document good_documents[] = {
    /* structure */
    DOCUMENT("[]"), DOCUMENT("{}"), DOCUMENT(" [ ] "), DOCUMENT("{ }"), DOCUMENT("[[]]"), DOCUMENT("[{}]"), DOCUMENT("{\"a\":{}}"), DOCUMENT("[[],[]]"),
    DOCUMENT("[1]"), DOCUMENT("[1,2]"), DOCUMENT("[ 1 , 2 ]"), DOCUMENT("\t\r\n [\t\r\n 1 \t\r\n,\t\r\n 2 \t\r\n]\t\r\n "), DOCUMENT("[null]"),
    DOCUMENT("[true,false,null]"), DOCUMENT("{\"a\":1}"), DOCUMENT("{\"a\" : 1 , \"b\" : [ ] }"), DOCUMENT("{\"a\":1,\"a\":2}"), DOCUMENT("{\"\":0}"),
    DOCUMENT("{\"a\":[1,{\"b\":[2,{\"c\":null}]}]}"), DOCUMENT("[[[[[[[[[[1]]]]]]]]]]"), DOCUMENT("[[],{},[[]],{\"x\":{}}]"),
    /* a document of one scalar */
    DOCUMENT("1"), DOCUMENT("-0"), DOCUMENT("true"), DOCUMENT("false"), DOCUMENT("null"), DOCUMENT("\"\""), DOCUMENT("\"a\""), DOCUMENT(" null "),
    DOCUMENT("1.5e3\n"),
    /* numbers */
    DOCUMENT("[0]"), DOCUMENT("[-0]"), DOCUMENT("[0.0]"), DOCUMENT("[-0.0]"), DOCUMENT("[0e0]"), DOCUMENT("[0E+0]"), DOCUMENT("[0e-0]"), DOCUMENT("[10]"),
    DOCUMENT("[123456789]"), DOCUMENT("[-1]"), DOCUMENT("[1.0]"), DOCUMENT("[1.10]"), DOCUMENT("[1e1]"), DOCUMENT("[1E1]"), DOCUMENT("[1e+1]"),
    DOCUMENT("[1e-1]"), DOCUMENT("[1e01]"), DOCUMENT("[1.5E+010]"), DOCUMENT("[0.1e00]"), DOCUMENT("[9007199254740993]"), DOCUMENT("[9223372036854775807]"),
    DOCUMENT("[-9223372036854775808]"), DOCUMENT("[18446744073709551615]"), DOCUMENT("[0.1234567890123456789012345678901234567890]"),
    DOCUMENT("[67.89227357735717,70.98880983748244]"), DOCUMENT("[1e-400]"), DOCUMENT("[4.9406564584124654e-324]"), DOCUMENT("[1.7976931348623157e308]"),
    /* strings */
    DOCUMENT("[\"\"]"), DOCUMENT("[\"a\"]"), DOCUMENT("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"), DOCUMENT("[\"\\u0000\"]"), DOCUMENT("[\"\\u0041\\u00e4\\u20ac\"]"),
    DOCUMENT("[\"\\uABCD\\uabcd\"]"), DOCUMENT("[\"\\uD834\\uDd1e\"]"), DOCUMENT("[\"\\uDBFF\\uDFFF\"]"), DOCUMENT("[\"\\uD800\\uDC00\"]"), DOCUMENT("[\"\\uD7FF\\uE000\\uFFFF\"]"),
    DOCUMENT("[\"\xc3\xa4\"]"), DOCUMENT("[\"\xe2\x82\xac\"]"), DOCUMENT("[\"\xf0\x9d\x84\x9e\"]"), DOCUMENT("[\"\xf4\x8f\xbf\xbf\"]"), DOCUMENT("[\"\xef\xbf\xbf\"]"),
    DOCUMENT("[\"\x7f\"]"), DOCUMENT("[\"\xe2\x80\xa8\xe2\x80\xa9\"]"), DOCUMENT("[\"/\"]"), DOCUMENT("[\"//\", \"/* */\"]"), DOCUMENT("[\" \"]"),
    DOCUMENT("{\"\\u0061\":1}"), DOCUMENT("{\"\xc3\xa4\":\"\xc3\xa4\"}"), DOCUMENT("[\"[{,:}]\"]"), DOCUMENT("[\"\\\\\"]"), DOCUMENT("[\"\\\\\\\"\"]"),
    DOCUMENT("[\"0123456789abcde\"]"), DOCUMENT("[\"0123456789abcdef\"]"), DOCUMENT("[\"0123456789abcdefg\"]"),
    DOCUMENT("[\"0123456789abcdef0123456789abcdef \xc3\xa4 0123456789abcdef0123456789abcdef \\n 0123456789abcdef\"]"),
    DOCUMENT("[\"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\"]"),
    DOCUMENT("{\"params\": {\"p\": 4.0}, \"callpath\": \"main->f\", \"metric\": \"time\", \"value\": [67.89227357735717, 1e-3]}"),
    DOCUMENT("[1,                                                                 2]"),
};

static const json_document bad_documents[] = {
    /* structure */
    DOCUMENT(""), DOCUMENT(" "), DOCUMENT("\n\n"), DOCUMENT("["), DOCUMENT("{"), DOCUMENT("]"), DOCUMENT("}"), DOCUMENT("[}"), DOCUMENT("{]"), DOCUMENT("[1}"),
    DOCUMENT("{\"a\":1]"), DOCUMENT("[1,]"), DOCUMENT("[,1]"), DOCUMENT("[,]"), DOCUMENT("[1,,2]"), DOCUMENT("[1 2]"), DOCUMENT("[1:2]"), DOCUMENT("[1;2]"), DOCUMENT("[]]"),
    DOCUMENT("[][]"), DOCUMENT("[],"), DOCUMENT("{}}"), DOCUMENT("{,}"), DOCUMENT("{\"a\"}"), DOCUMENT("{\"a\":}"), DOCUMENT("{:1}"), DOCUMENT("{\"a\":1,}"),
    DOCUMENT("{\"a\":1,,\"b\":2}"), DOCUMENT("{\"a\" \"b\"}"), DOCUMENT("{\"a\":1 \"b\":2}"), DOCUMENT("{\"a\",1}"), DOCUMENT("{\"a\"::1}"), DOCUMENT("{1:1}"), DOCUMENT("{null:1}"),
    DOCUMENT("{a:1}"), DOCUMENT("{'a':1}"), DOCUMENT("{[]:1}"), DOCUMENT("{\"a\":1"), DOCUMENT("{\"a\":"), DOCUMENT("{\"a\""), DOCUMENT("[1"), DOCUMENT("[1,"), DOCUMENT("[\"a\""), DOCUMENT("[[1]"),
    DOCUMENT("[{\"a\":1]"), DOCUMENT("1 2"), DOCUMENT("1,2"), DOCUMENT("[1]x"), DOCUMENT("{}#"), DOCUMENT("[1] // c"), DOCUMENT("/* c */ [1]"), DOCUMENT("[1/**/]"), DOCUMENT(","), DOCUMENT(":"),
    DOCUMENT("["  "\0" "]"), DOCUMENT("[]" "\0"), DOCUMENT("\0"), DOCUMENT("[\x0b" "1]"), DOCUMENT("[\x0c" "1]"), DOCUMENT("[\xc2\xa0" "1]"), DOCUMENT("[\xe2\x80\xa8" "1]"), DOCUMENT("\xff\xfe[\0]\0"),
    DOCUMENT("[\xef\xbb\xbf]"), DOCUMENT("\xef\xbb"), DOCUMENT("[1]\xef\xbb\xbf"), DOCUMENT("\xc3\xa4"), DOCUMENT("(1)"), DOCUMENT("<a/>"),
    /* words */
    DOCUMENT("[tru]"), DOCUMENT("[truee]"), DOCUMENT("[True]"), DOCUMENT("[TRUE]"), DOCUMENT("[fals]"), DOCUMENT("[nul]"), DOCUMENT("[nulll]"), DOCUMENT("[undefined]"), DOCUMENT("tru"), DOCUMENT("n"),
    DOCUMENT("[true false]"), DOCUMENT("[NaN]"), DOCUMENT("[nan]"), DOCUMENT("[Infinity]"), DOCUMENT("[-Infinity]"), DOCUMENT("[inf]"), DOCUMENT("[-NaN]"), DOCUMENT("[true1]"), DOCUMENT("truefalse"),
    /* numbers */
    DOCUMENT("[-]"), DOCUMENT("[+1]"), DOCUMENT("[01]"), DOCUMENT("[-01]"), DOCUMENT("[00]"), DOCUMENT("[-00]"), DOCUMENT("[1.]"), DOCUMENT("[.1]"), DOCUMENT("[-.1]"), DOCUMENT("[1.e1]"), DOCUMENT("[1e]"),
    DOCUMENT("[1e+]"), DOCUMENT("[1e-]"), DOCUMENT("[1eE1]"), DOCUMENT("[1e1.5]"), DOCUMENT("[1.2.3]"), DOCUMENT("[1-2]"), DOCUMENT("[1+2]"), DOCUMENT("[--1]"), DOCUMENT("[0x10]"), DOCUMENT("[1_000]"),
    DOCUMENT("[1a]"), DOCUMENT("[0e]"), DOCUMENT("[0.]"), DOCUMENT("[0.e1]"), DOCUMENT("[1 000]"), DOCUMENT("[1,5.]"), DOCUMENT("-"), DOCUMENT("1."), DOCUMENT("1e"), DOCUMENT("01"), DOCUMENT("[- 1]"),
    DOCUMENT("[\xef\xbc\x91]"), DOCUMENT("[1\0]"), DOCUMENT("[012.5]"), DOCUMENT("[1f]"), DOCUMENT("1x"),
    /* strings */
    DOCUMENT("\""), DOCUMENT("[\"a]"), DOCUMENT("[\"a\"\"b\"]"), DOCUMENT("['a']"), DOCUMENT("[a]"), DOCUMENT("[\"\\x41\"]"), DOCUMENT("[\"\\a\"]"), DOCUMENT("[\"\\'\"]"), DOCUMENT("[\"\\0\"]"), DOCUMENT("[\"\\U0041\"]"),
    DOCUMENT("[\"\\u\"]"), DOCUMENT("[\"\\u004\"]"), DOCUMENT("[\"\\u004g\"]"), DOCUMENT("[\"\\u+041\"]"), DOCUMENT("[\"\\u 041\"]"), DOCUMENT("[\"\\\"]"), DOCUMENT("\"\\"), DOCUMENT("\"\\u004"), DOCUMENT("[\"\\"), DOCUMENT("[\"\\\0\"]"),
    DOCUMENT("[\"\n\"]"), DOCUMENT("[\"\t\"]"), DOCUMENT("[\"\0\"]"), DOCUMENT("[\"\x1f\"]"), DOCUMENT("[\"a\r\"]"), DOCUMENT("{\"a\n\":1}"), DOCUMENT("[\"0123456789abcdef\n\"]"),
    DOCUMENT("[\"\\uD800\"]"), DOCUMENT("[\"\\uD800x\"]"), DOCUMENT("[\"\\uDC00\"]"), DOCUMENT("[\"\\uD800\\n\"]"), DOCUMENT("[\"\\uD800\\u0041\"]"), DOCUMENT("[\"\\uD800\\uD800\"]"), DOCUMENT("[\"\\uDC00\\uD800\"]"),
    DOCUMENT("[\"\\uD800\\uDC0\"]"), DOCUMENT("\"\\uD800\\u"), DOCUMENT("\"\\uD800\\"), DOCUMENT("[\"\x80\"]"), DOCUMENT("[\"\xbf\"]"), DOCUMENT("[\"\xc0\xaf\"]"), DOCUMENT("[\"\xc1\xbf\"]"), DOCUMENT("[\"\xc3\"]"),
    DOCUMENT("[\"\xc3\x28\"]"), DOCUMENT("[\"\xe2\x82\"]"), DOCUMENT("[\"\xe0\x9f\xbf\"]"), DOCUMENT("[\"\xed\xa0\x80\"]"), DOCUMENT("[\"\xf0\x8f\xbf\xbf\"]"), DOCUMENT("[\"\xf0\x9d\x84\"]"), DOCUMENT("[\"\xf4\x90\x80\x80\"]"),
    DOCUMENT("[\"\xf5\x80\x80\x80\"]"), DOCUMENT("[\"\xff\"]"), DOCUMENT("[\"0123456789abcdef\xff\"]"), DOCUMENT("{\"\xff\":1}"), DOCUMENT("\"\xc3"), DOCUMENT("[\"\xe4\"]"),
};

enum { N_GOOD_DOCUMENTS = sizeof good_documents / sizeof *good_documents, N_BAD_DOCUMENTS = sizeof bad_documents / sizeof *bad_documents };

#endif
