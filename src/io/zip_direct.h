/* The quick way to an entry of a plain ZIP archive: straight from the directory at its end, unpacked by libdeflate,
 * which takes a third of zlib's time. Whatever is not plain (ZIP64, encryption, other methods) or not as it should be
 * is left to libarchive, which knows better and says what is wrong. */
#ifndef AS_IO_ZIP_DIRECT_H
#define AS_IO_ZIP_DIRECT_H

#include "core/memory.h"

typedef struct as_zip_directory {
    const unsigned char *data; /* the archive */
    size_t begin, end, at;     /* the directory in it, and its next record */
} as_zip_directory;

/* An archive without a plain directory gives an empty one. */
as_zip_directory as_zip_directory_of(const void *data, size_t size);
/* The content of the next entry of this name into out, an empty vector of char, checksum verified. False, with out
 * empty, where libarchive must do it. Entries must be asked for in the order of the directory. */
bool as_zip_direct(as_zip_directory *directory, const char *name, as_vec *out);

#endif
