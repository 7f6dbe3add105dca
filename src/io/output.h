/* Output: buffered, atomic. A file is written beside its final place and renamed on commit; until then, and after any
 * failure, what was there before is untouched. Errors stick: write on, and look at the status of as_output_commit(). */
#ifndef AS_IO_OUTPUT_H
#define AS_IO_OUTPUT_H

#include "core/error.h"
#include "core/memory.h"
#include "core/number.h"

typedef struct as_output as_output;

/* path "-": standard output. A device, a pipe or an open descriptor (/dev/stdout, /dev/fd/N) is written in place. A
 * symbolic link is followed, an existing file's permissions are kept; one that may not be written is refused. At most
 * 64 files at a time. */
assay_status as_output_open(const char *path, as_output **out, assay_error *error);
/* Writes go to memory; take the bytes with as_output_memory(). NULL when memory is out. */
as_output *as_output_to_memory(void);
/* Writes go to sink(user, …), gathered to 128 KiB or more at a time; as_output_flush() hands over the rest. Where the
 * sink returns false it is not called again, and the output has failed for want of memory. NULL when memory is out. */
typedef bool as_output_sink(void *user, const void *data, size_t size);
as_output *as_output_to_sink(as_output_sink *sink, void *user);
/* Writes to a descriptor that stays the caller's (standard output and error of the command). */
as_output *as_output_to_fd(int fd, const char *name);

void as_output_write(as_output *out, const void *data, size_t size);
void as_output_text(as_output *out, const char *text);
void as_output_char(as_output *out, char c);
/* In quotes, those in it doubled, as in CSV (RFC 4180). */
void as_output_quoted(as_output *out, const char *text, size_t size);
/* Numbers with a fraction go through as_output_real(): printf writes them as the locale has it. */
void as_output_printf(as_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Shortest exact text (core/number.h). */
void as_output_real(as_output *out, double value);
void as_output_int(as_output *out, int64_t value);
void as_output_number(as_output *out, as_number number);

/* Replaces bytes that are written already: for a table in front of what it tells about. Only files beside their place
 * and memory can do it; other outputs fail, and so does one that is not as long yet. */
void as_output_patch(as_output *out, uint64_t offset, const void *data, size_t size);

/* Whether whoever reads it can only show ASCII (by default not): what writes text for people looks at it. Nothing is
 * converted on the way. */
void as_output_set_ascii(as_output *out, bool is_ascii);
bool as_output_is_ascii(const as_output *out);

/* Bytes written so far. */
uint64_t as_output_size(const as_output *out);
/* The bytes of a memory output, NUL-terminated, borrowed until the next write. NULL if memory was out on the way. */
const char *as_output_memory(const as_output *out, size_t *size);
/* Makes a memory output empty; it keeps its room. */
void as_output_clear(as_output *out);
/* Hands over what is buffered; false after an error. */
bool as_output_flush(as_output *out);
/* Has begins(user) called just before the first bytes are handed over, or the output ends without any: what must be
 * said before anything is written. NULL: nobody. */
typedef void as_output_begins(void *user);
void as_output_on_begin(as_output *out, as_output_begins *begins, void *user);

/* For libraries that write a file by name (SQLite): the temporary file, to be committed like any other. NULL unless a
 * regular file. */
const char *as_output_temporary(const as_output *out);

/* Ends the output: the file takes its place. Frees out in every case; on failure nothing is left behind. */
assay_status as_output_commit(as_output *out, assay_error *error);
/* Ends it without a result and leaves no trace. NULL is fine. */
void as_output_discard(as_output *out);

/* Removes the temporary files of all open outputs. Async-signal-safe: for the handler of SIGINT and the like. */
void as_output_abandon_all(void);

#endif
