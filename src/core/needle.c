#include "core/needle.h"

#include <ctype.h>
#include <string.h>

assay_status as_needle_init(as_needle *needle, const char *text, assay_error *error) {
    size_t size = strlen(text), at = 0;
    const char *why = NULL;
    *needle = (as_needle){.text = text, .folds = true};
    for (const char *c = text; *c; c++) needle->folds &= !isupper((unsigned char)*c);
    if (size < 3 || text[0] != '/' || text[size - 1] != '/') return ASSAY_OK;
    needle->pattern = as_pattern_new(text + 1, size - 2, &why, &at);
    if (needle->pattern) return ASSAY_OK;
    if (!why) return as_fail_memory(error, NULL);
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'%.200s' is no regular expression: %s (at %zu)", text, why,
                   at + 1);
}

void as_needle_free(as_needle *needle) {
    as_pattern_free(needle->pattern);
    needle->pattern = NULL;
}

bool as_needle_matches(const as_needle *needle, const char *name) {
    if (needle->pattern) return as_pattern_search(needle->pattern, name, strlen(name));
    return needle->folds ? strcasestr(name, needle->text) != NULL : strstr(name, needle->text) != NULL;
}
