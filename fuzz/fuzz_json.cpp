/* Our JSON reader against simdjson: both accept a document or neither does, and they find the same values in it. Then
 * the same bytes with the options simdjson does not know: only sanitizers watch there. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../tests/unit/json_compare.hpp"

static void read_with(as_json_options options, const char *data, size_t size) {
    as_json json;
    as_json_init(&json, "document", data, size, options, nullptr);
    while (as_json_next(&json) > AS_JSON_END) {
        if (json.type == AS_JSON_STRING || json.type == AS_JSON_KEY)
            json_compare::text_of(&json);
        else if (json.type == AS_JSON_NUMBER)
            as_json_number(&json);
    }
    assay_error error;
    if (json.type == AS_JSON_ERROR && as_json_fail(&json, &error) == ASSAY_OK) abort();
    as_json_restart(&json, data, size, 1);
    const char *raw;
    size_t raw_size;
    as_json_next(&json);
    if (as_json_skip(&json, &raw, &raw_size) > AS_JSON_END && (raw < data || raw + raw_size > data + size)) abort();
    as_json_free(&json);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static simdjson::dom::parser parser;
    std::vector<char> exact(bytes, bytes + size); /* so that a step beyond the end is seen */
    const char *data = size ? exact.data() : "";
    std::string difference = json_compare::difference(parser, data, size);
    if (!difference.empty()) {
        std::fprintf(stderr, "%s\n", difference.c_str());
        abort();
    }
    read_with(as_json_options{true, true, 0}, data, size);
    return 0;
}
