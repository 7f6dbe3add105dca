/* Errors: one sentence with a place, in the caller's struct (assay_error of the public header). */
#ifndef AS_CORE_ERROR_H
#define AS_CORE_ERROR_H

#include <stdarg.h>

#include "assay/assay.h"

/* A place in a file. path NULL: no file; offset -1, line 0, column 0: unknown. */
typedef struct as_place {
    const char *path;
    int64_t offset;
    uint32_t line, column;
} as_place;

#define AS_NOWHERE ((as_place){.path = NULL, .offset = -1})
/* The whole file. */
static inline as_place as_place_file(const char *path) { return (as_place){.path = path, .offset = -1}; }
static inline as_place as_place_line(const char *path, uint32_t line, uint32_t column) {
    return (as_place){.path = path, .offset = -1, .line = line, .column = column};
}
static inline as_place as_place_offset(const char *path, uint64_t offset) {
    return (as_place){.path = path, .offset = (int64_t)offset};
}

/* Fills *error (NULL: nobody wants it) and returns code, so that a function can end with `return as_fail(...)`.
 * rule: short name in lower case with hyphens ("" for none); message: printf format, no newline. Newlines and control
 * characters that come in through arguments are replaced, so the message stays one line. */
assay_status as_fail(assay_error *error, assay_status code, as_place place, const char *rule, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
assay_status as_vfail(assay_error *error, assay_status code, as_place place, const char *rule, const char *format,
                      va_list args) __attribute__((format(printf, 5, 0)));

/* ASSAY_E_IO with the words of errno_value: "cannot open: No such file or directory". Rule "closed-pipe" for EPIPE,
 * else "io". */
assay_status as_fail_errno(assay_error *error, const char *path, const char *doing, int errno_value);
/* ASSAY_E_NOMEM: memory is out, or the limit was reached. */
assay_status as_fail_memory(assay_error *error, const char *path);

/* Makes text safe for one terminal line: control characters and invalid UTF-8 become '?'. In place. */
void as_one_line(char *text);

#define AS_TRY(expression)                                                                                             \
    do {                                                                                                               \
        assay_status as_try_status_ = (expression);                                                                    \
        if (as_try_status_ != ASSAY_OK) return as_try_status_;                                                         \
    } while (0)

#endif
