/* Settings from the environment, and lists of patterns. */
#include "internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The item's kind, which is cut off: "memory:duration". */
static int item_kind(char *item) {
    char *colon = strrchr(item, ':');
    int kind = !colon                            ? -1
               : strcmp(colon, ":snapshot") == 0 ? (int)ASSAY_MEASURE_SNAPSHOT
               : strcmp(colon, ":duration") == 0 ? (int)ASSAY_MEASURE_DURATION
                                                 : -1;
    if (kind >= 0) *colon = '\0';
    return kind;
}

static void list_read(as_capture_list *list, const char *variable, bool kinds) {
    const int room = (int)(sizeof list->items / sizeof list->items[0]);
    const char *text = secure_getenv(variable);
    list->count = 0;
    if (!text) return;
    if (strlen(text) >= sizeof list->text) {
        as_capture_say("%s is too long; it is ignored", variable);
        return;
    }
    memcpy(list->text, text, strlen(text) + 1);
    for (char *item = list->text, *next; item && *item; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = '\0';
        while (*item == ' ') item++;
        size_t n = strlen(item);
        while (n && item[n - 1] == ' ') item[--n] = '\0';
        bool exclude = *item == '-';
        if (exclude) item++;
        if (!*item) continue;
        if (list->count == room) {
            as_capture_say("%s has more than %d patterns; the rest is ignored", variable, room);
            return;
        }
        list->items[list->count].exclude = exclude;
        list->items[list->count].matched = false;
        list->items[list->count].kind = kinds ? item_kind(item) : -1;
        list->items[list->count++].pattern = item;
    }
}

bool as_capture_list_allows(as_capture_list *list, const char *text, bool otherwise, int *kind) {
    bool wanted = false, unwanted = false, any = false;
    for (int i = 0; i < list->count; i++) {
        bool exclude = list->items[i].exclude;
        any |= !exclude;
        if (fnmatch(list->items[i].pattern, text, 0) != 0) continue;
        if (kind) list->items[i].matched = true;
        if (kind && !exclude && !wanted && list->items[i].kind >= 0) *kind = list->items[i].kind;
        *(exclude ? &unwanted : &wanted) = true;
    }
    return !unwanted && (any ? wanted : otherwise);
}

/* "100ms", "2s", "500us"; a bare number is in milliseconds. */
static uint64_t period_read(uint64_t otherwise) {
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"", 1000000}, {"ms", 1000000}, {"s", 1000000000}, {"us", 1000}};
    const char *text = secure_getenv("ASSAY_CAPTURE_PERIOD");
    if (!text || !*text) return otherwise;
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    for (size_t i = 0; errno == 0 && *text != '-' && end != text && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0 && n <= UINT64_MAX / 1000000000 / 100) return n * units[i].ns;
    as_capture_say("ASSAY_CAPTURE_PERIOD=%.40s is no time like 100ms; 100ms is used", text);
    return otherwise;
}

static uint64_t ring_words_read(uint64_t otherwise) {
    const char *text = secure_getenv("ASSAY_CAPTURE_BUFFER");
    if (!text || !*text) return otherwise;
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno == 0 && *end == '\0' && n >= 16 && n <= 65536 && (n & (n - 1)) == 0) return n * 1024 / 8;
    as_capture_say("ASSAY_CAPTURE_BUFFER=%.40s is no power of two from 16 to 65536 (KiB); 1024 is used", text);
    return otherwise;
}

void as_capture_settings_read(as_capture_settings *settings) {
    list_read(&settings->filter, "ASSAY_CAPTURE_FILTER", false);
    list_read(&settings->measures, "ASSAY_CAPTURE_MEASURES", true);
    settings->period = period_read(100000000);
    settings->ring_words = ring_words_read(1024 * 1024 / 8);
}

void as_capture_settings_report(as_capture_settings *settings, bool quietly) {
    for (int i = 0; i < settings->measures.count; i++) {
        bool matched = settings->measures.items[i].matched;
        settings->measures.items[i].matched = true;
        if (matched || quietly) continue;
        as_capture_say("ASSAY_CAPTURE_MEASURES has %.60s, which is no measure; there are wall, cpu, memory, faults, "
                       "switches, and those of the program",
                       settings->measures.items[i].pattern);
    }
}

void as_capture_settings_tags(char *out) {
    const char *tags = secure_getenv("ASSAY_CAPTURE_TAGS");
    size_t length = tags ? as_capture_cut(tags, AS_CAPTURE_TAGS) : 0;
    if (tags && tags[length])
        as_capture_say("ASSAY_CAPTURE_TAGS is longer than %d bytes; the rest is ignored", AS_CAPTURE_TAGS);
    if (length) memcpy(out, tags, length);
    out[length] = '\0';
}
