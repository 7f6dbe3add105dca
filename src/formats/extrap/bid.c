#include "formats/extrap/bid.h"

#include "io/json_keys.h"

/* The key among keys, or NULL. */
static const as_bid_key *find_key(const as_bid_key *keys, const char *text, size_t size) {
    for (; keys->key; keys++) {
        if (strlen(keys->key) == size && memcmp(keys->key, text, size) == 0) return keys;
    }
    return NULL;
}

int as_bid_json(const as_probe *probe, const as_bid_key *keys, bool one_line) {
    as_json_keys walk;
    if (probe->is_directory || as_json_keys_begin(&walk, probe->head, probe->head_size) != '{') return 0;
    const char *newline = one_line ? memchr(walk.at, '\n', (size_t)(walk.end - walk.at)) : NULL;
    if (newline) walk.end = newline;
    unsigned found = 0; /* a bit for each of keys */
    int bits = 0;
    while (as_json_keys_next(&walk)) {
        const as_bid_key *key = find_key(keys, walk.key, walk.size);
        if (!key || (key->begins && !strchr(key->begins, walk.first)) || (found & 1u << (key - keys))) continue;
        found |= 1u << (key - keys);
        bits += 8 * (int)strlen(key->key);
    }
    bool is_cut =
        !walk.is_over && !newline && probe->size > probe->head_size; /* there may be more keys behind the window */
    bool has_all = true;
    for (size_t i = 0; keys[i].key; i++) has_all &= !keys[i].required || found & 1u << i;
    return has_all || (is_cut && found & 1) ? bits : 0;
}
