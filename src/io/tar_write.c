/* Headers of ustar and pax: POSIX.1-2017, pax, "ustar Interchange Format". */
#include <stdio.h>
#include <stdlib.h>

#include "io/tar.h"

enum { BLOCK = 512, RECORD = 20 * BLOCK, NAME_SIZE = 100 };
static const uint64_t LARGEST_SIZE = (1ull << 33) - 1; /* 11 octal digits */

/* All fields are text. */
typedef struct ustar_header {
    char name[NAME_SIZE], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], kind, linked[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
} ustar_header;
_Static_assert(sizeof(ustar_header) == BLOCK, "as POSIX has it");

struct as_tar_writer {
    as_output *out;
    uint64_t begin;  /* where in the output the archive starts */
    uint64_t expect; /* where in the output the open member must end */
};

as_tar_writer *as_tar_writer_new(as_output *out) {
    as_tar_writer *tar = calloc(1, sizeof *tar);
    if (tar) *tar = (as_tar_writer){.out = out, .begin = as_output_size(out)};
    return tar;
}

void as_tar_discard(as_tar_writer *tar) { free(tar); }

static void put_octal(char *field, size_t digits, uint64_t value) {
    for (size_t i = digits; i-- > 0; value >>= 3) field[i] = (char)('0' + (value & 7));
}

static void write_header(as_output *out, const char *name, size_t name_size, uint64_t size, char kind) {
    ustar_header h;
    memset(&h, 0, sizeof h);
    memcpy(h.name, name, name_size < NAME_SIZE ? name_size : NAME_SIZE);
    put_octal(h.mode, 7, 0600);
    put_octal(h.uid, 7, 0);
    put_octal(h.gid, 7, 0);
    put_octal(h.size, 11, size);
    put_octal(h.mtime, 11, 0);
    h.kind = kind;
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    memcpy(h.user, "nouser", 6);
    memcpy(h.group, "users", 5);
    put_octal(h.major, 7, 0);
    put_octal(h.minor, 7, 0);
    memset(h.checksum, ' ', sizeof h.checksum);
    const unsigned char *bytes = (const unsigned char *)&h;
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += bytes[i];
    put_octal(h.checksum, 6, sum);
    h.checksum[6] = '\0';
    as_output_write(out, &h, sizeof h);
}

static void write_zeros(as_output *out, size_t size) {
    static const char zeros[BLOCK];
    for (size_t part; size; size -= part) {
        part = size < BLOCK ? size : BLOCK;
        as_output_write(out, zeros, part);
    }
}

static size_t padding_of(uint64_t size) { return (size_t)(BLOCK - size % BLOCK) % BLOCK; }

/* The length that a record "LENGTH key=value\n" has in all, its own digits included. */
static size_t record_size(size_t key_size, size_t value_size) {
    size_t rest = key_size + value_size + 3, size = rest + 1;
    for (size_t digits = 1, power = 10; size >= power; power *= 10) size = rest + ++digits;
    return size;
}

static void write_record(as_output *out, const char *key, const char *value, size_t value_size) {
    as_output_printf(out, "%zu %s=", record_size(strlen(key), value_size), key);
    as_output_write(out, value, value_size);
    as_output_char(out, '\n');
}

/* What the fields of ustar cannot hold. */
static void write_pax(as_tar_writer *tar, const char *name, size_t name_size, uint64_t size) {
    char digits[AS_NUMBER_SIZE];
    size_t n_digits = as_uint_format(size, digits);
    bool long_name = name_size > NAME_SIZE, large = size > LARGEST_SIZE;
    size_t whole = (long_name ? record_size(4, name_size) : 0) + (large ? record_size(4, n_digits) : 0);
    write_header(tar->out, "././@PaxHeader", 14, whole, 'x');
    if (long_name) write_record(tar->out, "path", name, name_size);
    if (large) write_record(tar->out, "size", digits, n_digits);
    write_zeros(tar->out, padding_of(whole));
}

void as_tar_begin(as_tar_writer *tar, const char *name, uint64_t size) {
    size_t name_size = strlen(name);
    if (name_size > NAME_SIZE || size > LARGEST_SIZE) write_pax(tar, name, name_size, size);
    write_header(tar->out, name, name_size, size > LARGEST_SIZE ? 0 : size, '0');
    tar->expect = as_output_size(tar->out) + size;
}

assay_status as_tar_end(as_tar_writer *tar, assay_error *error) {
    uint64_t at = as_output_size(tar->out);
    if (at != tar->expect)
        return as_fail(error, ASSAY_E_IO, AS_NOWHERE, "io", "a member of the archive got another size than announced");
    write_zeros(tar->out, padding_of(at - tar->begin));
    return ASSAY_OK;
}

void as_tar_add(as_tar_writer *tar, const char *name, const void *data, size_t size) {
    as_tar_begin(tar, name, size);
    as_output_write(tar->out, data, size);
    as_tar_end(tar, NULL);
}

void as_tar_finish(as_tar_writer *tar) {
    write_zeros(tar->out, (size_t)2 * BLOCK);
    uint64_t size = as_output_size(tar->out) - tar->begin;
    write_zeros(tar->out, (size_t)(RECORD - size % RECORD) % RECORD);
    as_tar_discard(tar);
}
