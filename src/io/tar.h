/* Tar archives (POSIX ustar and pax, GNU's long names, the old kind), plain or compressed as a whole, and writing them.
 * Why our own parser: members of a plain archive are used in place from the mapping, and header checksums are not
 * looked at, because some writers of measurements get them wrong, which libarchive cannot be told. */
#ifndef AS_IO_TAR_H
#define AS_IO_TAR_H

#include "core/strings.h"
#include "io/input.h"
#include "io/output.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct as_tar_member {
    const char *name; /* NUL-terminated */
    const char *data; /* in the input, or in what was unpacked from it; nothing behind it is promised */
    size_t size;
    uint64_t offset; /* of data in the archive: see as_tar_place() */
} as_tar_member;

typedef struct as_tar {
    const as_tar_member *members; /* regular files only, in the archive's order */
    size_t n_members;
    bool is_compressed; /* as a whole */

    /* private */
    const char *path;
    as_budget *budget;
    as_arena arena;
    as_strings names; /* the id of a name is the index of its member */
    as_vec list;      /* as_tar_member */
    as_vec bytes;     /* what was unpacked */
} as_tar;

/* Lists the members. A plain archive is used in place: input must live as long as *out. One compressed by gzip, bzip2,
 * xz or zstd, told by its first bytes, is unpacked into memory that is taken as data arrives, within the budget (may be
 * NULL). On success the caller owns *out. An archive may end without the blocks of zeros, even without the last
 * member's padding. ASSAY_E_FORMAT with the rule tar-damaged (no tar at all, a field that is no number, broken
 * compression), tar-truncated (a member or header goes beyond the end), tar-name (absolute, climbing with "..", or over
 * 64 KiB), tar-duplicate (one name twice), tar-sparse (a file with holes), gzip-damaged. Of what is compressed the
 * first block is looked at before the rest is unpacked, and it may not grow beyond as_unpacked_most() (packed-ratio).
 * ASSAY_E_NOMEM. */
assay_status as_tar_open(const as_input *input, as_budget *budget, as_tar **out, assay_error *error);
/* NULL is fine. */
void as_tar_free(as_tar *tar);

/* The member of exactly this name, or NULL. */
const as_tar_member *as_tar_find(const as_tar *tar, const char *name);
/* The place of a byte of a member, for errors: the file, and the offset in it unless it is compressed. */
as_place as_tar_place(const as_tar *tar, const as_tar_member *member, uint64_t within);

/* For a bid: the bits of evidence that data, the beginning of a file, is a tar (40), or compressed as one may be (16 to
 * 48); 0: neither. */
int as_tar_looks_like(const char *data, size_t size);

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A tar in the making, ustar. Dates, owners and modes are fixed, so equal content gives equal bytes. A member of 8 GiB
 * or more, or with a name of more than 100 bytes, gets a pax header that says so. */
typedef struct as_tar_writer as_tar_writer;
/* The output stays the caller's. NULL when memory is out. */
as_tar_writer *as_tar_writer_new(as_output *out);
/* Adds a member. Errors of the output show when it is committed. */
void as_tar_add(as_tar_writer *tar, const char *name, const void *data, size_t size);
/* Begins a member of so many bytes, which are then written to the output itself, up to as_tar_end(). */
void as_tar_begin(as_tar_writer *tar, const char *name, uint64_t size);
/* Ends it. ASSAY_E_IO where fewer or more bytes were written than announced. */
assay_status as_tar_end(as_tar_writer *tar, assay_error *error);
/* Writes the end of the archive and frees the writer. */
void as_tar_finish(as_tar_writer *tar);
/* Frees it without. NULL is fine. */
void as_tar_discard(as_tar_writer *tar);

#endif
