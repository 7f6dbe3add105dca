#include "core/words.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };

bool as_is_choice(const char *choices, const char *word) {
    for (size_t size = strlen(word); *choices;) {
        size_t n = strcspn(choices, "|");
        if (n == size && memcmp(choices, word, n) == 0) return true;
        choices += n + (choices[n] == '|');
    }
    return false;
}

/* Edit distance (insert, delete, replace, swap neighbours); SIZE_MAX for words too long to bother. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return (size_t)-1;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[m];
}

as_nearest as_nearest_start(const char *given, size_t size) {
    return (as_nearest){.given = given, .size = size, .distance = (size_t)-1};
}

void as_nearest_offer(as_nearest *nearest, const char *word) {
    size_t length = strlen(word);
    size_t distance = edit_distance(nearest->given, nearest->size, word, length);
    if (nearest->size >= 2 && nearest->size < length && memcmp(nearest->given, word, nearest->size) == 0) distance = 1;
    size_t allowed = length / 3 > 1 ? length / 3 : 1;
    if (distance <= allowed && distance < nearest->distance) nearest->word = word, nearest->distance = distance;
}

double as_unit_seconds(const char *unit) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1},        {"sec", 1},     {"secs", 1},           {"second", 1},          {"seconds", 1},
                 {"ms", 1e-3},    {"msec", 1e-3}, {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"us", 1e-6},
                 {"usec", 1e-6},  {"µs", 1e-6},   {"μs", 1e-6},          {"microsecond", 1e-6},  {"microseconds", 1e-6},
                 {"ns", 1e-9},    {"nsec", 1e-9}, {"nanosecond", 1e-9},  {"nanoseconds", 1e-9},  {"min", 60},
                 {"minutes", 60}, {"h", 3600},    {"hours", 3600}};
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(unit, units[i].name) == 0) return units[i].seconds;
    }
    return 0;
}
