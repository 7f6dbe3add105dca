/* ZIP archives: reading through libarchive (and libdeflate, see io/zip_direct.h), writing with libdeflate at level 1,
 * or zlib where an entry is too large to be held (io/deflate.h). On 19 MB of JSON with numbers libdeflate takes 0.083 s
 * and leaves 29.1 %; libarchive with zlib needs 0.123 s for 31.0 % at level 1, 0.53 s for 29.0 % at level 6. */
#ifndef AS_IO_ZIP_H
#define AS_IO_ZIP_H

#include "io/input.h"
#include "io/output.h"

typedef struct as_zip_entry {
    char *name;
    char *data; /* NUL behind it */
    size_t size;
} as_zip_entry;

/* Calls wanted(user, name) for each regular entry and reads those for which it returns true, in the order of the
 * archive. A size the archive claims is not believed: memory is taken as data arrives, within the budget. On success
 * the caller owns *entries (as_zip_free). ASSAY_E_FORMAT with the rule zip-damaged (also: cut off, no ZIP at all, a
 * wrong checksum), zip-name (absolute, or climbing with ".."; any entry's), zip-duplicate, zip-encrypted, zip-method
 * (neither stored nor deflated; wanted entries'). */
assay_status as_zip_read(const as_input *input, bool (*wanted)(void *user, const char *name), void *user,
                         as_budget *budget, as_zip_entry **entries, size_t *n_entries, assay_error *error);
void as_zip_free(as_zip_entry *entries, size_t n_entries, as_budget *budget);

/* A ZIP in the making. Dates are fixed, so equal content gives equal bytes. Beyond 4 GiB it becomes ZIP64. */
typedef struct as_zip_writer as_zip_writer;
as_zip_writer *as_zip_writer_new(as_output *out);
/* Adds an entry; compress: deflate, else stored. */
assay_status as_zip_add(as_zip_writer *zip, const char *name, const void *data, size_t size, bool compress,
                        assay_error *error);
/* Begins an entry of a size not known beforehand: *content takes it and belongs to zip, up to as_zip_end(), before
 * which nothing else may be added. Up to AS_ZIP_WHOLE bytes the entry becomes the one as_zip_add() makes, deflated. A
 * larger one is deflated as it comes, on so many threads (0: all cores; the bytes are the same): memory stays bounded,
 * the output is never gone back in, checksum and sizes follow the data. */
enum { AS_ZIP_WHOLE = 32 << 20 };
assay_status as_zip_begin(as_zip_writer *zip, const char *name, unsigned threads, as_output **content,
                          assay_error *error);
/* Ends it; on failure zip is good for nothing but as_zip_discard(). */
assay_status as_zip_end(as_zip_writer *zip, assay_error *error);
/* Writes the directory and frees zip; the output stays open. */
assay_status as_zip_finish(as_zip_writer *zip, assay_error *error);
void as_zip_discard(as_zip_writer *zip);

#endif
