/* Names of C++ functions as people read them: "_Z4axpyIdEvPT_i" is "void axpy<double>(double*, int)". */
#ifndef AS_CORE_DEMANGLE_H
#define AS_CORE_DEMANGLE_H

#include "core/memory.h"

typedef enum as_demangled {
    AS_DEMANGLED,
    AS_DEMANGLED_NOT, /* no name of the Itanium C++ ABI, or one whose readable form is too large: it stays as it is */
    AS_DEMANGLED_MEMORY, /* memory is out */
} as_demangled;

enum { AS_DEMANGLE_MOST = 1 << 16 }; /* bytes of a readable name */

/* The readable form of a name that begins with "_Z", as the C++ runtime writes it, into out (a vector of char, cleared
 * first; not NUL-terminated). A name of a few hundred bytes can stand for more text than there is memory: such a one is
 * recognised before anything is made of it. Safe from several threads. */
as_demangled as_demangle(const char *name, size_t size, as_vec *out);

/* No more than so many characters, and about as many steps, does the readable form of a mangled name take; UINT64_MAX:
 * it is none, or takes too many to count. */
uint64_t as_demangled_bound(const char *name, size_t size);

#endif
