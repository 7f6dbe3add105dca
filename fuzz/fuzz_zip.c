/* Reading ZIP archives: whatever the bytes, an error or entries, within the budget, and all memory given back. */
#include <stdlib.h>

#include "io/zip.h"

static bool want_all(void *user, const char *name) {
    (void)user;
    return name[0] != '-';
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_input input = {.path = "archive", .data = (const char *)bytes, .size = size};
    as_budget budget = {.limit = 1 << 24};
    as_zip_entry *entries;
    size_t n_entries;
    assay_error error;
    if (as_zip_read(&input, want_all, NULL, &budget, &entries, &n_entries, &error) == ASSAY_OK) {
        for (size_t i = 0; i < n_entries; i++) {
            if (entries[i].data[entries[i].size] != '\0') abort();
        }
        as_zip_free(entries, n_entries, &budget);
    } else if (error.code == ASSAY_OK || !error.message[0])
        abort();
    if (budget.used != 0) abort();
    return 0;
}
