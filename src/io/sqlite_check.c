/* Whether a file is a whole database, with nothing of it in other files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sqlite_private.h"

enum { HEADER_SIZE = 100, JOURNAL_MAGIC_SIZE = 8, WAL_HEADER_SIZE = 32, WAL_FRAME_SIZE = 24 };
static const char magic[16] = "SQLite format 3";

bool as_is_database(const char *head, size_t size) {
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static assay_status fail_cut(const as_input *input, assay_error *error, uint64_t wanted) {
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(input->path, input->size), "cut-database",
                   "is cut off: a database of %llu bytes, of which %llu are there", (unsigned long long)wanted,
                   (unsigned long long)input->size);
}

static assay_status check_header(const as_input *input, as_database_header *header, assay_error *error) {
    as_place place = as_place_file(input->path);
    if (input->size == 0) return as_fail(error, ASSAY_E_FORMAT, place, "no-database", "is empty, no database");
    if (!as_is_database(input->data, input->size))
        return as_fail(error, ASSAY_E_FORMAT, place, "no-database", "is not a database, or encrypted");
    if (input->size < HEADER_SIZE) return fail_cut(input, error, HEADER_SIZE);
    const unsigned char *head = (const unsigned char *)input->data;
    uint32_t size = (uint32_t)head[16] << 8 | head[17];
    if (size == 1) size = 65536;
    if (size < 512 || size & (size - 1))
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(input->path, 16), "damaged-database",
                       "is a database with pages of %u bytes, which no database has: its header is damaged", size);
    if (head[19] > 2 || head[21] != 64 || head[22] != 32 || head[23] != 32)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(input->path, 18), "damaged-database",
                       "is a database whose header is damaged, or of a kind nobody knows");
    header->page_size = size;
    header->usable = size - head[20];
    if (header->usable < 480)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(input->path, 20), "damaged-database",
                       "is a database that reserves %u bytes of each page: its header is damaged", head[20]);
    uint64_t pages = input->size / size;
    header->n_pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
    uint32_t encoding = as_big_endian_32(input->data + 56);
    header->is_utf8 = encoding < 2;
    /* Writers before 3.7.0 leave a stale count of pages: it is true only where "version-valid-for" is the change
     * counter. */
    uint32_t counted = as_big_endian_32(input->data + 28);
    bool is_valid = counted && memcmp(input->data + 24, input->data + 92, 4) == 0;
    if (is_valid ? pages < counted : input->size % size != 0)
        return fail_cut(input, error, is_valid ? (uint64_t)counted * size : (pages + 1) * size);
    return ASSAY_OK;
}

/* ---- what lies beside it ----------------------------------------------------------------------------------------- */

/* Opens the file beside a database; -1 where there is none. */
static int open_beside(const char *database, const char *ending) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s%s", database, ending);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool read_at(int fd, char *buffer, size_t size, uint64_t offset) {
    ssize_t n;
    do n = pread(fd, buffer, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

/* A journal that somebody who died left: the file may be anything between two states. One that is done with begins with
 * zeros. */
static bool is_hot_journal(int fd) {
    static const unsigned char journal_magic[JOURNAL_MAGIC_SIZE] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    char head[JOURNAL_MAGIC_SIZE];
    return read_at(fd, head, sizeof head, 0) && memcmp(head, journal_magic, sizeof head) == 0;
}

/* Whether a write-ahead log has a transaction: frames up to one that commits, with the salts of the log's header. */
static bool has_commit(int fd) {
    char head[WAL_HEADER_SIZE], frame[WAL_FRAME_SIZE];
    if (!read_at(fd, head, sizeof head, 0) || (as_big_endian_32(head) & ~1u) != 0x377f0682) return false;
    uint64_t page_size = as_big_endian_32(head + 8), at = WAL_HEADER_SIZE;
    if (page_size < 512 || page_size > 65536) return false;
    for (; read_at(fd, frame, sizeof frame, at); at += WAL_FRAME_SIZE + page_size) {
        if (memcmp(frame + 8, head + 16, 8) != 0) return false;
        char last;
        if (as_big_endian_32(frame + 4)) return read_at(fd, &last, 1, at + WAL_FRAME_SIZE + page_size - 1);
    }
    return false;
}

static bool holds(const char *database, const char *ending, bool (*matters)(int fd)) {
    int fd = open_beside(database, ending);
    if (fd < 0) return false;
    struct stat status;
    bool does = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && matters(fd);
    close(fd);
    return does;
}

static assay_status check_beside(const as_input *input, assay_error *error) {
    char path[PATH_MAX];
    if (!input->file_inode || !realpath(input->path, path)) return ASSAY_OK; /* bytes without a file */
    as_place place = as_place_file(input->path);
    if (holds(path, "-journal", is_hot_journal))
        return as_fail(error, ASSAY_E_FORMAT, place, "hot-journal",
                       "has a journal beside it (%s-journal) of a write that never ended: let SQLite undo that, with "
                       "sqlite3 FILE 'SELECT count(*) FROM sqlite_master', or export again",
                       input->path);
    if (holds(path, "-wal", has_commit))
        return as_fail(error, ASSAY_E_FORMAT, place, "hot-journal",
                       "has a log beside it (%s-wal) with what is not in it yet: let SQLite bring that in, with "
                       "sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'",
                       input->path);
    return ASSAY_OK;
}

assay_status as_database_check(const as_input *input, as_database_header *header, assay_error *error) {
    AS_TRY(check_header(input, header, error));
    return check_beside(input, error);
}
