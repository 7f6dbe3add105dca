/* Readable forms of mangled names: none is larger than was said before it was made, and none takes long. */
#include <stdlib.h>

#include "core/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char name[1100] = "_Z";
    as_vec text;
    if (size > sizeof name - 2) size = sizeof name - 2;
    memcpy(name + 2, bytes, size);
    as_vec_init(&text, 1, NULL);
    if (as_demangle(name, size + 2, &text) == AS_DEMANGLED && text.count > as_demangled_bound(name, size + 2)) abort();
    as_vec_free(&text);
    return 0;
}
