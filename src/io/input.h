/* Input: a file as bytes in memory (mapped where possible), or a directory by its name.
 * Formats read through this and never open files themselves. Nothing here ever writes to the input. */
#ifndef AS_IO_INPUT_H
#define AS_IO_INPUT_H

#include "core/error.h"
#include "core/memory.h"

typedef struct as_input {
    const char *path; /* as the user gave it; "-" is shown as "<stdin>" */
    const char *data; /* not NUL-terminated; NULL for a directory, never NULL for a file, be it empty */
    size_t size;
    bool is_directory;
    /* what becomes of it when the file changes: mapped.h; else the bytes were read into memory: pipes, standard
     * input */
    bool is_mapped;
    uint64_t file_device, file_inode; /* to tell whether an output is this input; 0 for standard input */
    as_budget *budget;

    /* private */
    as_vec bytes;             /* what was read, if not mapped */
    size_t dropped;           /* see as_input_consumed */
    struct as_mapped *mapped; /* mapped.h */
} as_input;

/* Opens path, "-" being standard input. A pipe is read whole, counted against the budget (may be NULL). On success the
 * caller owns *out. */
assay_status as_input_open(const char *path, as_budget *budget, as_input **out, assay_error *error);
void as_input_close(as_input *input);

/* Says that bytes before offset will not be needed soon, so that their pages need not stay in memory. Cheap; call it
 * often. The bytes stay readable (they come back from the file), and a second pass may say it again from the start. */
void as_input_consumed(as_input *input, size_t offset);

/* The same of bytes from … to - 1, wherever others read. */
void as_input_forget(const as_input *input, size_t from, size_t to);

#endif
