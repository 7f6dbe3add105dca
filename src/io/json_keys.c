#include "io/json_keys.h"

#include <string.h>

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static const char *skip_space(const char *at, const char *end) {
    while (at < end && is_space(*at)) at++;
    return at;
}

/* Behind the string that begins at a quote; end where the window is over first. */
static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\') at++;
    }
    return at < end ? at + 1 : end;
}

char as_json_keys_begin(as_json_keys *keys, const char *window, size_t size) {
    size_t mark = size >= 3 && memcmp(window, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *keys = (as_json_keys){.end = window + size};
    keys->at = skip_space(window + mark, keys->end);
    return keys->at < keys->end ? *keys->at : '\0';
}

bool as_json_keys_next(as_json_keys *keys) {
    const char *end = keys->end;
    while (keys->at < end && !keys->is_over) {
        char c = *keys->at;
        if (c != '"') {
            keys->depth += c == '{' || c == '[';
            keys->is_over = (c == '}' || c == ']') && --keys->depth == 0;
            keys->at++;
            continue;
        }
        keys->key = keys->at + 1;
        const char *behind = skip_string(keys->at, end);
        keys->size = (size_t)(behind - keys->key) - (behind > keys->key);
        keys->at = skip_space(behind, end);
        if (keys->depth != 1 || keys->at == end || *keys->at != ':') continue;
        keys->at = skip_space(keys->at + 1, end);
        if (keys->at == end) return false;
        keys->first = *keys->at;
        return true;
    }
    return false;
}
