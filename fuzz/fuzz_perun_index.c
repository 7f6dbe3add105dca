/* Reading of the indexes of Perun's stores. */
#include <stdlib.h>

#include "core/utf8.h"
#include "formats/perun/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_text(const as_perun_index *index, as_raw_json text) {
    if (text.size == 0) return;
    if (text.text < index->data || text.text + text.size > index->data + index->size) abort();
    if (as_utf8_invalid(text.text, text.size)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_perun_index index;
    as_perun_entry entry;
    size_t n = 0;
    if (as_perun_index_begin(&index, (const char *)bytes, size)) {
        uint32_t count = index.left;
        for (; as_perun_index_next(&index, &entry); n++) {
            check_text(&index, entry.name);
            for (int i = 0; i < AS_PERUN_DETAILS; i++) check_text(&index, entry.details[i]);
            if (entry.hash < bytes || entry.hash + AS_PERUN_HASH > bytes + size) abort();
        }
        if (n > count || (n < count) != (index.left > 0)) abort();
        if (!index.problem && index.at != size) abort();
    } else if (!index.problem)
        abort();
    if (index.problem && index.problem_at > size) abort();
    return 0;
}
