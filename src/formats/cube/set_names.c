/* Names of directories, more leniently read than those of other sets. */
#include "formats/cube/set.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_of_number(char c) { return is_digit(c) || c == '.' || c == ','; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Where ".r3" begins that ends the name or has a dot behind it; else the end. */
static const char *find_repetition(const char *text, uint64_t *repetition) {
    for (const char *at = text; (at = strstr(at, ".r")) != NULL; at++) {
        const char *behind;
        *repetition = as_point_repetition(at + 2, &behind);
        if (behind > at + 2 && (!*behind || *behind == '.')) return at;
    }
    *repetition = 0;
    return text + strlen(text);
}

static const char *add_pair(as_set_name *out, const char *word, const char *word_end, const char *number,
                            const char *number_end) {
    while (word < word_end && is_blank(*word)) word++;
    while (word < word_end && is_blank(word_end[-1])) word_end--;
    if (word == word_end) return "a number has no name before it";
    if (out->n == AS_POINT_MAX_PAIRS) return "it has too many parameters";
    as_point_pair *pair = &out->pairs[out->n++];
    *pair = (as_point_pair){.name = word, .size = (size_t)(word_end - word)};
    bool fine = is_digit(*number) && as_point_value(number, (size_t)(number_end - number), &pair->value);
    return fine ? NULL : "a value in it is no number";
}

const char *as_set_parse_name(const char *text, as_set_name *out) {
    const char *end = find_repetition(text, &out->repetition), *dot = memchr(text, '.', (size_t)(end - text));
    const char *at = dot && !(dot + 1 < end && is_digit(dot[1])) ? dot + 1 : text;
    out->n = 0;
    while (at < end) {
        const char *word = at, *number, *problem;
        bool has_digit = false;
        while (at < end && !is_of_number(*at)) at++;
        for (number = at; at < end && is_of_number(*at); at++) has_digit |= is_digit(*at);
        if (number == end && out->n) return "there is text behind its last number";
        if (!has_digit) continue; /* a part of the prefix */
        problem = add_pair(out, word, number, number, at);
        if (problem) return problem;
    }
    return out->n ? NULL : "there is no parameter with a number in it";
}
