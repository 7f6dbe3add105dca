/* Scanning XML: whatever the bytes, an error with a place or events that fit together, and all memory given back. What
 * expat reads is read, with the same events, where the document has nothing that the scanner takes in another way on
 * purpose: a DOCTYPE, \", more than 64 attributes. */
#include <stdlib.h>

#include "io/xml.h"
#include "io/xml_scan.h"

typedef struct seen {
    uint64_t hash;
    uint32_t events, most_attributes;
} seen;

static void add(seen *s, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) s->hash = (s->hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    s->hash = (s->hash ^ size) * 0x100000001b3u;
}

static assay_status see_start(void *user, const as_xml *xml, const char *name, const char *const *attributes) {
    seen *s = user;
    uint32_t n = 0;
    s->events++;
    add(s, "<", xml->depth % 2);
    add(s, name, strlen(name));
    for (; *attributes; attributes += 2, n++) {
        add(s, attributes[0], strlen(attributes[0]));
        add(s, attributes[1], strlen(attributes[1]));
    }
    if (n > s->most_attributes) s->most_attributes = n;
    return ASSAY_OK;
}

static assay_status see_end(void *user, const as_xml *xml, const char *name) {
    seen *s = user;
    s->events++;
    add(s, ">", xml->depth % 2);
    add(s, name, strlen(name));
    return ASSAY_OK;
}

static assay_status scan(const char *data, size_t size, seen *s, assay_error *error) {
    as_budget budget = {.limit = 1 << 24};
    as_xml_scan document;
    as_xml_event event = AS_XML_START;
    assay_status status = as_xml_scan_open(&document, "document", data, size, 0, &budget, error);
    uint32_t open = 0;
    while (status == ASSAY_OK && (status = as_xml_scan_next(&document, &event)) == ASSAY_OK && event != AS_XML_DONE) {
        if (event == AS_XML_START) open++;
        if (!document.name_size || document.depth != open) abort();
        as_xml xml = {.depth = document.depth};
        s->events++;
        add(s, event == AS_XML_START ? "<" : ">", xml.depth % 2);
        add(s, document.name, document.name_size);
        for (uint32_t i = 0; event == AS_XML_START && i < document.n_attributes; i++) {
            add(s, document.attributes[i].name, document.attributes[i].name_size);
            add(s, document.attributes[i].value, document.attributes[i].value_size);
        }
        if (event == AS_XML_END) open--;
    }
    if (status == ASSAY_OK && open) abort();
    as_xml_scan_close(&document);
    if (budget.used) abort();
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *data = (const char *)bytes;
    const as_xml_handler handler = {.start = see_start, .end = see_end};
    seen scanned = {0}, expected = {0};
    assay_error error, other;
    assay_status status = scan(data, size, &scanned, &error);
    if (status == ASSAY_E_FORMAT && (!error.line || !error.column || !error.rule[0] || !error.message[0])) abort();
    as_budget budget = {.limit = 1 << 26};
    if (memmem(data, size, "<!DOCTYPE", 9) || memchr(data, '\\', size) || memmem(data, size, "encoding", 8)) return 0;
    if (size >= 2 && (bytes[0] >= 0x80 || !bytes[0] || !bytes[1])) return 0; /* other encodings */
    if (as_xml_read("document", data, size, &handler, &expected, 0, &budget, &other) != ASSAY_OK) return 0;
    if (expected.most_attributes > AS_XML_MAX_ATTRIBUTES || status == ASSAY_E_NOMEM) return 0;
    if (status != ASSAY_OK || scanned.events != expected.events || scanned.hash != expected.hash) abort();
    return 0;
}
