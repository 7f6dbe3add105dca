/* Reading XML: whatever the bytes, an error with a place or events that fit together, within the budget, and all memory
 * given back. */
#include <stdlib.h>

#include "io/xml.h"

enum { MAX_DEPTH = 1000, STOP_AFTER = 5000 };

typedef struct seen {
    uint32_t open, events;
} seen;

static assay_status see_start(void *user, const as_xml *xml, const char *name, const char *const *attributes) {
    seen *s = user;
    s->open++;
    if (s->open != xml->depth || s->open > MAX_DEPTH || !*name) abort();
    for (; *attributes; attributes += 2) {
        if (!**attributes || !attributes[1]) abort();
    }
    if (++s->events < STOP_AFTER) return ASSAY_OK;
    return as_fail(xml->error, ASSAY_E_FORMAT, as_xml_place(xml), "enough", "enough was seen");
}

static assay_status see_end(void *user, const as_xml *xml, const char *name) {
    seen *s = user;
    if (s->open-- != xml->depth || !*name) abort();
    return ASSAY_OK;
}

static assay_status see_text(void *user, const as_xml *xml, const char *data, size_t size) {
    seen *s = user;
    if (s->open == 0 || !xml || !data || size == 0) abort();
    return ASSAY_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const as_xml_handler handler = {see_start, see_end, see_text};
    as_budget budget = {.limit = 1 << 24};
    assay_error error;
    seen s = {0, 0};
    assay_status code = as_xml_read("document", (const char *)bytes, size, &handler, &s, MAX_DEPTH, &budget, &error);
    if (code == ASSAY_OK && s.open != 0) abort();
    if (code == ASSAY_E_FORMAT && (error.line == 0 || error.column == 0 || !error.rule[0] || !error.message[0]))
        abort();
    if (budget.used != 0) abort();
    return 0;
}
