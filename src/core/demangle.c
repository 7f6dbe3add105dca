/* The C++ runtime's demangler, for names that are known to stay small. */
#include "core/demangle.h"

#include <stdlib.h>

/* Of the C++ runtime; <cxxabi.h> is a header for C++ only. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

enum { LONGEST = 1024, MOST_STEPS = 1 << 20, NO_MEMORY = -1 }; /* the runtime takes none that are longer */

as_demangled as_demangle(const char *name, size_t size, as_vec *out) {
    char mangled[LONGEST + 1];
    out->count = 0;
    if (size < 3 || size > LONGEST || memcmp(name, "_Z", 2) != 0 || memchr(name, '\0', size)) return AS_DEMANGLED_NOT;
    if (as_demangled_bound(name, size) > MOST_STEPS) return AS_DEMANGLED_NOT;
    memcpy(mangled, name, size);
    mangled[size] = '\0';
    int status = 0;
    char *text = __cxa_demangle(mangled, NULL, NULL, &status);
    if (!text) return status == NO_MEMORY ? AS_DEMANGLED_MEMORY : AS_DEMANGLED_NOT;
    size_t n = strlen(text);
    bool fits = n <= AS_DEMANGLE_MOST, fine = !fits || as_vec_append(out, text, n);
    free(text);
    return !fine ? AS_DEMANGLED_MEMORY : fits ? AS_DEMANGLED : AS_DEMANGLED_NOT;
}
