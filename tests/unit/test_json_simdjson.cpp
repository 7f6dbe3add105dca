/* Our JSON reader and simdjson agree on every document of the conformance set, and on every way to cut or change them a
 * little. */
#include <cstdio>

#include "json_compare.hpp"
#include "json_documents.h"

static int failures;

static void compare(simdjson::dom::parser &parser, const std::string &text) {
    std::string difference = json_compare::difference(parser, text.data(), text.size());
    if (difference.empty()) return;
    std::printf("%s: %s\n", text.c_str(), difference.c_str());
    failures++;
}

/* The document, every beginning of it, and with each byte replaced by each of those that mean something. */
static void compare_variants(simdjson::dom::parser &parser, const std::string &text) {
    static const std::string meaningful("[]{},:\"\\ 0-+.eEu/tfn\n\xc3\x80\x00", 24);
    compare(parser, text);
    for (size_t i = 0; i < text.size(); i++) {
        compare(parser, text.substr(0, i));
        for (char c : meaningful) {
            std::string changed = text;
            changed[i] = c;
            compare(parser, changed);
        }
    }
}

int main() {
    simdjson::dom::parser parser;
    for (const json_document &document : good_documents)
        compare_variants(parser, std::string(document.text, document.size));
    for (const json_document &document : bad_documents)
        compare_variants(parser, std::string(document.text, document.size));
    std::printf("%d differences\n", failures);
    return failures ? 1 : 0;
}
