#include "formats/extrap/bid.h"

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

/* The key among keys, or NULL. */
static const as_bid_key *find_key(const as_bid_key *keys, const char *text, size_t size) {
    for (; keys->key; keys++) {
        if (strlen(keys->key) == size && memcmp(keys->key, text, size) == 0) return keys;
    }
    return NULL;
}

int as_bid_json(const as_probe *probe, const as_bid_key *keys, bool one_line) {
    const char *at = probe->head, *end = at + probe->head_size;
    if (probe->is_directory || !probe->head_size) return 0;
    if (probe->head_size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    at = skip_space(at, end);
    if (at == end || *at != '{') return 0;
    if (one_line) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline) end = newline;
    }
    bool is_cut = end == probe->head + probe->head_size &&
                  probe->size > probe->head_size; /* there may be more keys behind the window */
    unsigned found = 0;                           /* a bit for each of keys */
    int bits = 0;
    size_t depth = 0;
    while (at < end) {
        if (*at != '"') {
            if (*at == '{' || *at == '[')
                depth++;
            else if ((*at == '}' || *at == ']') && --depth == 0) {
                is_cut = false;
                break;
            }
            at++;
            continue;
        }
        const char *text = at + 1, *behind = skip_string(at, end);
        at = skip_space(behind, end);
        if (depth != 1 || at == end || *at != ':') continue;
        at = skip_space(at + 1, end);
        const as_bid_key *key = find_key(keys, text, (size_t)(behind - 1 - text));
        if (!key || at == end || (key->begins && !strchr(key->begins, *at)) || (found & 1u << (key - keys))) continue;
        found |= 1u << (key - keys);
        bits += 8 * (int)strlen(key->key);
    }
    bool has_all = true;
    for (size_t i = 0; keys[i].key; i++) has_all &= !keys[i].required || found & 1u << i;
    return has_all || (is_cut && found & 1) ? bits : 0;
}
