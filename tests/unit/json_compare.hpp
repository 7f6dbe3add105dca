/* Walks the tokens of our JSON reader along the DOM that simdjson made of the same document. */
#ifndef AS_TESTS_JSON_COMPARE_HPP
#define AS_TESTS_JSON_COMPARE_HPP

#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

extern "C" {
#include "io/json.h"
}

namespace json_compare {

inline std::string_view text_of(as_json *json) {
    size_t size = 0;
    const char *text = as_json_text(json, &size);
    return {text, size};
}

inline bool same_number(as_number ours, simdjson::dom::element theirs) {
    if (theirs.is_int64()) { /* simdjson reads "-0" as the integer 0 */
        int64_t value = theirs.get_int64().value_unsafe();
        return ours.kind == AS_INT ? ours.i == value
                                   : ours.kind == AS_REAL && ours.r == 0 && std::signbit(ours.r) && value == 0;
    }
    if (theirs.is_uint64()) return ours.kind == AS_UINT && ours.u == theirs.get_uint64().value_unsafe();
    double value = theirs.get_double().value_unsafe(), real = as_number_real(ours);
    return ours.kind == AS_REAL && std::memcmp(&value, &real, sizeof value) == 0;
}

/* Whether the value that begins at our current token is theirs; ends at its last token. */
inline bool same_value(as_json *json, simdjson::dom::element theirs) {
    using simdjson::dom::element_type;
    switch (theirs.type()) {
    case element_type::NULL_VALUE: return json->type == AS_JSON_NULL;
    case element_type::BOOL: return json->type == (theirs.get_bool().value_unsafe() ? AS_JSON_TRUE : AS_JSON_FALSE);
    case element_type::STRING:
        return json->type == AS_JSON_STRING && text_of(json) == theirs.get_string().value_unsafe();
    case element_type::ARRAY: {
        simdjson::dom::array children = theirs.get_array().value_unsafe();
        if (json->type != AS_JSON_ARRAY) return false;
        for (simdjson::dom::element child : children) {
            as_json_next(json);
            if (!same_value(json, child)) return false;
        }
        return as_json_next(json) == AS_JSON_ARRAY_END;
    }
    case element_type::OBJECT: {
        simdjson::dom::object members = theirs.get_object().value_unsafe();
        if (json->type != AS_JSON_OBJECT) return false;
        for (simdjson::dom::key_value_pair member : members) {
            if (as_json_next(json) != AS_JSON_KEY || text_of(json) != member.key) return false;
            as_json_next(json);
            if (!same_value(json, member.value)) return false;
        }
        return as_json_next(json) == AS_JSON_OBJECT_END;
    }
    default: return json->type == AS_JSON_NUMBER && same_number(as_json_number(json), theirs);
    }
}

/* Empty if both readers agree on the document, else how they differ. */
inline std::string difference(simdjson::dom::parser &parser, const char *data, size_t size) {
    as_json json;
    as_json_init(&json, "document", data, size, as_json_options{false, false, 1000}, nullptr);
    bool beyond_integers = false, beyond_doubles = false;
    while (as_json_next(&json) > AS_JSON_END) {
        if (json.type != AS_JSON_NUMBER) continue;
        as_number number = as_json_number(&json);
        beyond_integers |=
            number.kind == AS_REAL && !std::memchr(json.token, '.', json.token_size) && std::fabs(number.r) >= 0x1p63;
        beyond_doubles |= std::isinf(as_number_real(number));
    }
    bool accepted = json.type == AS_JSON_END;
    bool has_mark = json.begin != data; /* simdjson of old takes no byte order mark */
    simdjson::dom::element root;
    simdjson::padded_string padded(json.begin, size - (has_mark ? 3 : 0));
    auto code = parser.parse(padded).get(root);
    assay_error error = {};
    if (!accepted) as_json_fail(&json, &error);
    std::string result;
    if (accepted && code) {
        bool known = (code == simdjson::NUMBER_ERROR && (beyond_integers || beyond_doubles));
        if (!known) result = std::string("we accept, simdjson does not: ") + simdjson::error_message(code);
    } else if (!accepted && !code) {
        bool too_deep = std::strstr(error.message, "nested deeper") != nullptr;
        if (!too_deep) result = std::string("simdjson accepts, we do not: ") + error.message;
    } else if (accepted) {
        as_json_restart(&json, data, size, 1);
        as_json_next(&json);
        if (!same_value(&json, root))
            result = "other values, at column " + std::to_string(as_json_place(&json).column);
        else if (as_json_next(&json) != AS_JSON_END)
            result = "we read on where simdjson ends";
    }
    as_json_free(&json);
    return result;
}

} // namespace json_compare
#endif
