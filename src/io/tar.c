/* The layout of headers: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block"; 'L', 'K', 'S' and
 * base-256 numbers: GNU tar's manual, "Basic Tar Format". */
#include "io/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>

#include "io/gzip.h"
#include "io/names.h"

enum { BLOCK = 512, MAX_NAME = 1 << 16 };

/* A field of the header: where, and how long. */
typedef struct field {
    size_t at, size;
} field;

static const field NAME = {0, 100}, SIZE = {124, 12}, CHECKSUM = {148, 8}, MAGIC = {257, 5}, PREFIX = {345, 155};
enum { KIND_AT = 156 };

/* What a pax header or a long name says about the next member, or a global one about all that follow. */
typedef struct extension {
    const char *name; /* NULL: not said */
    size_t name_size;
    bool has_size;
    uint64_t size;
} extension;

typedef struct reading {
    as_tar *tar;
    const char *data;
    size_t size, at; /* at: of the current header */
    extension next, global;
    assay_error *error;
} reading;

/* ---- first bytes ------------------------------------------------------------------------------------------------- */

static bool begins_with(const char *data, size_t size, const char *magic, size_t magic_size) {
    return size >= magic_size && memcmp(data, magic, magic_size) == 0;
}

/* Bits of the magic number of a compression, or 0. */
static int compression_bits(const char *data, size_t size) {
    if (as_gzip_looks_like(data, size)) return 24;
    if (begins_with(data, size, "BZh", 3)) return 24;
    if (begins_with(data, size,
                    "\xfd"
                    "7zXZ\0",
                    6))
        return 48;
    return begins_with(data, size, "\x28\xb5\x2f\xfd", 4) ? 32 : 0;
}

int as_tar_looks_like(const char *data, size_t size) {
    if (size >= BLOCK && memcmp(data + MAGIC.at, "ustar", MAGIC.size) == 0) return 40;
    return compression_bits(data, size);
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

as_place as_tar_place(const as_tar *tar, const as_tar_member *member, uint64_t within) {
    return tar->is_compressed ? as_place_file(tar->path) : as_place_offset(tar->path, member->offset + within);
}

static assay_status fail_at(const reading *r, size_t at, const char *rule, const char *what) {
    as_place place = r->tar->is_compressed ? as_place_file(r->tar->path) : as_place_offset(r->tar->path, at);
    return as_fail(r->error, ASSAY_E_FORMAT, place, rule, "%s", what);
}

static assay_status fail_named(const reading *r, size_t at, const char *rule, const char *name, const char *what) {
    as_place place = r->tar->is_compressed ? as_place_file(r->tar->path) : as_place_offset(r->tar->path, at);
    return as_fail(r->error, ASSAY_E_FORMAT, place, rule, "%s: %s", name, what);
}

static bool is_zero(const char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (data[i]) return false;
    }
    return true;
}

/* A number in octal digits, blanks around it, up to a NUL; or, with the highest bit of the first byte set, in base
 * 256. */
static bool read_number(const char *header, field f, uint64_t *out) {
    const unsigned char *at = (const unsigned char *)header + f.at, *end = at + f.size;
    uint64_t value = 0;
    if (*at & 0x80) {
        if (*at != 0x80) return false; /* negative, or more than 64 bits hold */
        for (at++; at < end; at++) {
            if (value >> 56) return false;
            value = value << 8 | *at;
        }
        *out = value;
        return true;
    }
    while (at < end && *at == ' ') at++;
    for (; at < end && *at >= '0' && *at <= '7'; at++) value = value << 3 | (uint64_t)(*at - '0'); /* 36 bits at most */
    while (at < end && *at == ' ') at++;
    *out = value;
    return at == end || !*at;
}

static size_t text_size(const char *header, field f) { return strnlen(header + f.at, f.size); }

/* A header from before ustar has no magic number: then its checksum must be right. */
static bool is_header(const char *header) {
    if (memcmp(header + MAGIC.at, "ustar", MAGIC.size) == 0) return true;
    uint64_t claimed, sum = 0;
    int64_t signed_sum = 0; /* some old writers added signed characters */
    for (size_t i = 0; i < BLOCK; i++) {
        bool is_checksum = i >= CHECKSUM.at && i < CHECKSUM.at + CHECKSUM.size;
        sum += is_checksum ? ' ' : (unsigned char)header[i];
        signed_sum += is_checksum ? ' ' : (signed char)header[i];
    }
    return read_number(header, CHECKSUM, &claimed) && (claimed == sum || (int64_t)claimed == signed_sum);
}

/* ---- compressed archives ----------------------------------------------------------------------------------------- */

static assay_status fail_unpacking(reading *r, struct archive *archive) {
    const char *detail = archive_error_string(archive);
    return as_fail(r->error, ASSAY_E_FORMAT, as_place_file(r->tar->path), "tar-damaged",
                   "the compressed archive is damaged: %s", detail ? detail : "no details known");
}

/* A look at the first bytes of what is being unpacked, so that nobody unpacks gigabytes of something else. */
static assay_status check_head(const reading *r, const char *head, size_t size) {
    if (size < BLOCK || is_header(head)) return ASSAY_OK;
    return as_fail(r->error, ASSAY_E_FORMAT, as_place_file(r->tar->path), "tar-damaged",
                   "no tar archive: what is compressed here is something else");
}

static assay_status unpack_all(reading *r, struct archive *archive, const as_input *input) {
    struct archive_entry *entry;
    archive_read_support_filter_bzip2(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_zstd(archive);
    archive_read_support_format_raw(archive);
    if (archive_read_open_memory(archive, input->data, input->size) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        return fail_unpacking(r, archive);
    if (archive_filter_count(archive) > 2) /* the last one is the input itself */
        return as_fail(r->error, ASSAY_E_FORMAT, as_place_file(r->tar->path), "tar-damaged",
                       "compressed several times over; unpack it once before");
    as_vec *bytes = &r->tar->bytes;
    for (;;) {
        const void *piece;
        size_t size;
        la_int64_t offset;
        int code = archive_read_data_block(archive, &piece, &size, &offset);
        if (code == ARCHIVE_EOF) return ASSAY_OK;
        if (code != ARCHIVE_OK) return fail_unpacking(r, archive);
        bool is_first = bytes->count < BLOCK;
        if (!as_vec_append(bytes, piece, size)) return as_fail_memory(r->error, r->tar->path);
        if (is_first) AS_TRY(check_head(r, bytes->data, bytes->count));
        if (bytes->count > as_unpacked_most(input->size)) return as_fail_unpacked(r->tar->path, r->error);
    }
}

static assay_status unpack_gzip(reading *r, const as_input *input) {
    char head[BLOCK];
    size_t n = 0;
    if (!as_gunzip_head(input->data, input->size, head, sizeof head, &n)) return as_fail_memory(r->error, input->path);
    AS_TRY(check_head(r, head, n));
    return as_gunzip(input->path, input->data, input->size, &r->tar->bytes, r->error);
}

static assay_status unpack(reading *r, const as_input *input) {
    as_vec *bytes = &r->tar->bytes;
    if (as_gzip_looks_like(input->data, input->size))
        AS_TRY(unpack_gzip(r, input));
    else {
        struct archive *archive = archive_read_new();
        if (!archive) return as_fail_memory(r->error, input->path);
        assay_status code = unpack_all(r, archive, input);
        archive_read_free(archive);
        AS_TRY(code);
        as_vec_shrink(bytes);
    }
    r->data = bytes->count ? bytes->data : "";
    r->size = bytes->count;
    r->tar->is_compressed = true;
    return ASSAY_OK;
}

/* ---- extensions -------------------------------------------------------------------------------------------------- */

static bool is_key(const char *record, size_t size, const char *key) {
    return size == strlen(key) && memcmp(record, key, size) == 0;
}

static bool read_decimal(const char *text, size_t size, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return size > 0;
}

/* One record, "27 path=some/file\n": its key and value. False where it is none. *size: of the whole. */
static bool split_record(const char *record, size_t room, size_t *size, const char **key, const char **value) {
    const char *blank = memchr(record, ' ', room < 20 ? room : 20);
    uint64_t length;
    if (!blank || !read_decimal(record, (size_t)(blank - record), &length) || length > room) return false;
    *size = (size_t)length;
    *key = blank + 1;
    if (length < (size_t)(*key - record) + 2 || record[length - 1] != '\n') return false;
    const char *equals = memchr(*key, '=', (size_t)(record + length - *key));
    *value = equals ? equals + 1 : NULL;
    return equals != NULL;
}

static assay_status read_pax(reading *r, const char *data, size_t size, extension *out) {
    for (size_t at = 0, record_size; at < size; at += record_size) {
        const char *key, *value;
        size_t offset = (size_t)(data - r->data) + at;
        if (!split_record(data + at, size - at, &record_size, &key, &value)) {
            if (is_zero(data + at, size - at)) return ASSAY_OK; /* some pad with NUL */
            return fail_at(r, offset, "tar-damaged", "a pax header that cannot be read");
        }
        size_t key_size = (size_t)(value - 1 - key), value_size = (size_t)(data + at + record_size - 1 - value);
        if (is_key(key, key_size, "path")) {
            out->name = value_size ? value : NULL;
            out->name_size = value_size;
        } else if (is_key(key, key_size, "size")) {
            out->has_size = value_size > 0;
            if (value_size && !read_decimal(value, value_size, &out->size))
                return fail_at(r, offset, "tar-damaged", "a pax header with a size that is no number");
        } else if (key_size > 11 && memcmp(key, "GNU.sparse.", 11) == 0)
            return fail_at(r, offset, "tar-sparse", "a member with holes; pack the archive anew without --sparse");
    }
    return ASSAY_OK;
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

/* The name of the member whose header is at r->at, NUL-terminated in the arena. NULL: *status says why. */
static const char *make_name(reading *r, assay_status *status) {
    const char *header = r->data + r->at;
    const extension *said = r->next.name ? &r->next : &r->global;
    size_t name_size = said->name ? strnlen(said->name, said->name_size) : text_size(header, NAME);
    const char *name = said->name ? said->name : header + NAME.at;
    /* GNU's older kind, "ustar  ", has other things in the place of the prefix. */
    bool has_prefix = !said->name && memcmp(header + MAGIC.at, "ustar", 6) == 0;
    size_t prefix_size = has_prefix ? text_size(header, PREFIX) : 0;
    if (name_size > MAX_NAME) {
        *status = fail_at(r, r->at, "tar-name", "a member with a name of more than 64 KiB");
        return NULL;
    }
    char *result = as_arena_alloc(&r->tar->arena, prefix_size + 1 + name_size + 1);
    if (!result) {
        *status = as_fail_memory(r->error, r->tar->path);
        return NULL;
    }
    memcpy(result, header + PREFIX.at, prefix_size);
    if (prefix_size) result[prefix_size++] = '/';
    memcpy(result + prefix_size, name, name_size);
    if (!as_name_leads_out(result)) return result;
    *status = fail_named(r, r->at, "tar-name", result, "the name leads out of the archive");
    return NULL;
}

static assay_status add_member(reading *r, const char *name, const char *data, size_t size) {
    as_tar *tar = r->tar;
    if (as_tar_find(tar, name)) return fail_named(r, r->at, "tar-duplicate", name, "stands in the archive twice");
    as_str id = as_intern(&tar->names, name, strlen(name));
    as_tar_member *member = id == AS_NO_STR ? NULL : as_vec_push(&tar->list);
    if (!member) return as_fail_memory(r->error, tar->path);
    *member = (as_tar_member){
        .name = as_str_text(&tar->names, id), .data = data, .size = size, .offset = (uint64_t)(data - r->data)};
    tar->members = tar->list.data;
    tar->n_members = tar->list.count;
    return ASSAY_OK;
}

/* Links, devices and directories have no data, whatever their size says. */
static bool has_data(char kind) { return kind < '1' || kind > '6'; }

static assay_status read_member(reading *r, char kind, const char *data, size_t size) {
    assay_status status = ASSAY_OK;
    const char *name = make_name(r, &status);
    if (!name) return status;
    r->next = (extension){.name = NULL};
    if (kind == 'S')
        return fail_named(r, r->at, "tar-sparse", name, "a file with holes; pack the archive anew without --sparse");
    bool is_file = kind == '0' || kind == '7' || (kind == '\0' && *name && name[strlen(name) - 1] != '/');
    return is_file ? add_member(r, name, data, size) : ASSAY_OK;
}

/* The size of what follows the header at r->at, checked against the end. */
static assay_status read_size(reading *r, char kind, size_t *out) {
    bool is_extension = strchr("xgLK", kind) && kind;
    const extension *said = r->next.has_size ? &r->next : &r->global;
    uint64_t size;
    if (said->has_size && !is_extension)
        size = said->size;
    else if (!read_number(r->data + r->at, SIZE, &size))
        return fail_at(r, r->at + SIZE.at, "tar-damaged", "a member's size is no number");
    if (!has_data(kind)) size = 0;
    if (size > r->size - r->at - BLOCK) {
        const char *name = r->data + r->at + NAME.at;
        as_place place = r->tar->is_compressed ? as_place_file(r->tar->path) : as_place_offset(r->tar->path, r->at);
        return as_fail(r->error, ASSAY_E_FORMAT, place, "tar-truncated",
                       "the archive is cut off: the member %.*s has %llu bytes, %zu are there",
                       (int)text_size(name, NAME), name, (unsigned long long)size, r->size - r->at - BLOCK);
    }
    *out = (size_t)size;
    return ASSAY_OK;
}

static assay_status read_entry(reading *r) {
    const char *header = r->data + r->at, *data = header + BLOCK;
    if (!is_header(header)) return fail_at(r, r->at, "tar-damaged", "no tar archive, or damaged: not a header");
    char kind = header[KIND_AT];
    size_t size = 0;
    AS_TRY(read_size(r, kind, &size));
    if (kind == 'x')
        AS_TRY(read_pax(r, data, size, &r->next));
    else if (kind == 'g')
        AS_TRY(read_pax(r, data, size, &r->global));
    else if (kind == 'L') {
        r->next.name = data;
        r->next.name_size = size;
    } else if (kind != 'K')
        AS_TRY(read_member(r, kind, data, size));
    size_t end = r->at + BLOCK + size, padding = (BLOCK - size % BLOCK) % BLOCK;
    r->at = padding < r->size - end ? end + padding : r->size;
    return ASSAY_OK;
}

static assay_status read_all(reading *r) {
    if (r->size == 0) return fail_at(r, 0, "tar-damaged", "no tar archive: it is empty");
    while (r->at < r->size) {
        size_t left = r->size - r->at;
        if (is_zero(r->data + r->at, left < BLOCK ? left : BLOCK)) break;
        if (left < BLOCK) {
            bool is_first = r->at == 0;
            return fail_at(r, r->at, is_first ? "tar-damaged" : "tar-truncated",
                           is_first ? "no tar archive: too short" : "the archive is cut off within a header");
        }
        AS_TRY(read_entry(r));
    }
    if (r->next.name || r->next.has_size)
        return fail_at(r, r->at, "tar-truncated", "the archive is cut off: a header for a member that is not there");
    return ASSAY_OK;
}

assay_status as_tar_open(const as_input *input, as_budget *budget, as_tar **out, assay_error *error) {
    as_tar *tar = as_budget_take(budget, sizeof *tar) ? calloc(1, sizeof *tar) : NULL;
    if (!tar) return as_fail_memory(error, input->path);
    tar->path = input->path;
    tar->budget = budget;
    as_arena_init(&tar->arena, budget);
    as_strings_init(&tar->names, &tar->arena);
    as_vec_init(&tar->list, sizeof(as_tar_member), budget);
    as_vec_init(&tar->bytes, 1, budget);
    reading r = {.tar = tar, .data = input->data, .size = input->size, .error = error};
    bool is_plain = as_tar_looks_like(input->data, input->size) == 40;
    assay_status code =
        !is_plain && compression_bits(input->data, input->size) ? unpack(&r, input) : (assay_status)ASSAY_OK;
    if (code == ASSAY_OK) code = read_all(&r);
    if (code == ASSAY_OK)
        *out = tar;
    else
        as_tar_free(tar);
    return code;
}

void as_tar_free(as_tar *tar) {
    if (!tar) return;
    as_budget *budget = tar->budget;
    as_vec_free(&tar->bytes);
    as_vec_free(&tar->list);
    as_strings_free(&tar->names);
    as_arena_free(&tar->arena);
    free(tar);
    as_budget_give(budget, sizeof *tar);
}

const as_tar_member *as_tar_find(const as_tar *tar, const char *name) {
    as_str id = as_find(&tar->names, name, strlen(name));
    return id == AS_NO_STR ? NULL : &tar->members[id];
}
