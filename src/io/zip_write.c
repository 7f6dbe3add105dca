/* The container of ZIP (PKWARE's APPNOTE 6.3): a local header and the data for each entry, then the directory of
 * all. */
#include <libdeflate.h>
#include <stdlib.h>

#include "io/deflate.h"
#include "io/zip.h"

enum {
    LOCAL_SIGNATURE = 0x04034b50,
    DIRECTORY_SIGNATURE = 0x02014b50,
    DESCRIPTOR_SIGNATURE = 0x08074b50,
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR64_SIGNATURE = 0x07064b50,
    VERSION_DEFLATE = 20,
    VERSION_ZIP64 = 45,
    MADE_BY_UNIX = 3 << 8 | VERSION_ZIP64,
    FLAG_DESCRIPTOR = 1 << 3,
    FLAG_UTF8 = 1 << 11,
    METHOD_STORED = 0,
    METHOD_DEFLATE = 8,
    DATE_1980_01_01 = 1 << 5 | 1,
    EXTRA_ZIP64 = 1,
    LEVEL = 1
};
static const uint64_t LIMIT_32 = 0xffffffff;
static const uint64_t LIMIT_16 = 0xffff;

typedef struct record {
    const char *name;
    size_t name_size;
    uint32_t checksum;
    uint16_t method;
    bool is_streamed; /* its sizes and checksum stand behind the data */
    uint64_t size, packed_size, offset;
} record;

/* The entry between as_zip_begin() and as_zip_end(). */
typedef struct open_entry {
    as_output *in; /* NULL: there is none */
    char *name;
    unsigned threads;
    as_vec whole;          /* char: the content, until it gets too large for that */
    as_deflater *deflater; /* then it goes here */
    record r;
} open_entry;

struct as_zip_writer {
    as_output *out;
    struct libdeflate_compressor *compressor;
    as_vec directory;      /* its bytes */
    uint64_t count, begin; /* begin: where in the output the archive starts */
    open_entry open;
};

/* A header in the making: little-endian fields one after the other. The longest has 98 bytes. */
typedef struct header {
    unsigned char bytes[128];
    size_t size;
} header;

static void put(header *h, uint64_t value, size_t n_bytes) {
    for (size_t i = 0; i < n_bytes; i++, value >>= 8) h->bytes[h->size++] = (unsigned char)value;
}

/* A field that may be too small: then it holds its largest value and the ZIP64 fields the true one. */
static void put_limited(header *h, uint64_t value, uint64_t limit, size_t n_bytes) {
    put(h, value < limit ? value : limit, n_bytes);
}

static void put_common(header *h, const record *r, bool zip64, size_t extra_size) {
    put(h, zip64 ? VERSION_ZIP64 : VERSION_DEFLATE, 2);
    put(h, FLAG_UTF8 | (r->is_streamed ? FLAG_DESCRIPTOR : 0), 2);
    put(h, r->method, 2);
    put(h, 0, 2); /* midnight */
    put(h, DATE_1980_01_01, 2);
    put(h, r->checksum, 4);
    put_limited(h, r->packed_size, LIMIT_32, 4);
    put_limited(h, r->size, LIMIT_32, 4);
    put(h, r->name_size, 2);
    put(h, extra_size, 2);
}

/* What is streamed may become large, and must say at the beginning how wide the sizes behind it are. */
static bool is_large(const record *r) { return r->is_streamed || r->size >= LIMIT_32 || r->packed_size >= LIMIT_32; }

static void write_local(as_output *out, const record *r) {
    header h = {.size = 0}, extra = {.size = 0};
    if (is_large(r)) { /* here both sizes are always given */
        put(&extra, EXTRA_ZIP64, 2);
        put(&extra, 16, 2);
        put(&extra, r->size, 8);
        put(&extra, r->packed_size, 8);
    }
    record shown = *r;
    if (r->is_streamed) shown.size = shown.packed_size = LIMIT_32; /* not known: those of ZIP64, which are 0 so far */
    put(&h, LOCAL_SIGNATURE, 4);
    put_common(&h, &shown, is_large(r), extra.size);
    as_output_write(out, h.bytes, h.size);
    as_output_write(out, r->name, r->name_size);
    as_output_write(out, extra.bytes, extra.size);
}

static bool add_to_directory(as_vec *directory, const record *r) {
    header h = {.size = 0}, fields = {.size = 0}, extra = {.size = 0};
    if (r->size >= LIMIT_32) put(&fields, r->size, 8); /* only those that do not fit, in this order */
    if (r->packed_size >= LIMIT_32) put(&fields, r->packed_size, 8);
    if (r->offset >= LIMIT_32) put(&fields, r->offset, 8);
    if (fields.size) {
        put(&extra, EXTRA_ZIP64, 2);
        put(&extra, fields.size, 2);
    }
    put(&h, DIRECTORY_SIGNATURE, 4);
    put(&h, MADE_BY_UNIX, 2);
    put_common(&h, r, r->is_streamed || fields.size > 0, extra.size + fields.size);
    put(&h, 0, 2); /* comment */
    put(&h, 0, 2); /* disk */
    put(&h, 0, 2); /* internal attributes */
    put(&h, (uint64_t)0100644 << 16, 4);
    put_limited(&h, r->offset, LIMIT_32, 4);
    return as_vec_append(directory, h.bytes, h.size) && as_vec_append(directory, r->name, r->name_size) &&
           as_vec_append(directory, extra.bytes, extra.size) && as_vec_append(directory, fields.bytes, fields.size);
}

/* Frees what the open entry has. */
static void close_entry(as_zip_writer *zip) {
    open_entry *open = &zip->open;
    if (!open->in) return;
    as_output_discard(open->in);
    as_deflater_discard(open->deflater);
    as_vec_free(&open->whole);
    free(open->name);
    *open = (open_entry){.in = NULL};
}

as_zip_writer *as_zip_writer_new(as_output *out) {
    as_zip_writer *zip = calloc(1, sizeof *zip);
    if (!zip) return NULL;
    zip->out = out;
    zip->begin = as_output_size(out);
    as_vec_init(&zip->directory, 1, NULL);
    zip->compressor = libdeflate_alloc_compressor(LEVEL);
    if (zip->compressor) return zip;
    as_zip_discard(zip);
    return NULL;
}

void as_zip_discard(as_zip_writer *zip) {
    if (!zip) return;
    close_entry(zip);
    if (zip->compressor) libdeflate_free_compressor(zip->compressor);
    as_vec_free(&zip->directory);
    free(zip);
}

static assay_status fail_writing(assay_error *error) {
    return as_fail(error, ASSAY_E_IO, AS_NOWHERE, "io", "cannot write the archive");
}

static assay_status check_name(const char *name, assay_error *error) {
    size_t size = strlen(name);
    if (size <= LIMIT_16) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "zip-name", "a name of %zu bytes is too long", size);
}

assay_status as_zip_add(as_zip_writer *zip, const char *name, const void *data, size_t size, bool compress,
                        assay_error *error) {
    record r = {.name = name, .name_size = strlen(name), .method = METHOD_STORED, .size = size, .packed_size = size};
    AS_TRY(check_name(name, error));
    r.checksum = libdeflate_crc32(0, data, size);
    r.offset = as_output_size(zip->out) - zip->begin;
    void *packed = NULL;
    if (compress && size) {
        packed = malloc(size);
        if (!packed) return as_fail_memory(error, NULL);
        size_t packed_size =
            libdeflate_deflate_compress(zip->compressor, data, size, packed, size); /* 0: it would not get smaller */
        if (packed_size) {
            r.method = METHOD_DEFLATE;
            r.packed_size = packed_size;
        }
    }
    bool added = add_to_directory(&zip->directory, &r);
    if (added) {
        write_local(zip->out, &r);
        as_output_write(zip->out, r.method == METHOD_DEFLATE ? packed : data, (size_t)r.packed_size);
        zip->count++;
    }
    free(packed);
    return added ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- entries in a stream ----------------------------------------------------------------------------------------- */

static bool begin_stream(as_zip_writer *zip) {
    open_entry *open = &zip->open;
    open->deflater = as_deflater_new(zip->out, open->threads);
    if (!open->deflater) return false;
    open->r = (record){.name = open->name,
                       .name_size = strlen(open->name),
                       .method = METHOD_DEFLATE,
                       .is_streamed = true,
                       .offset = as_output_size(zip->out) - zip->begin};
    write_local(zip->out, &open->r);
    bool fine = as_deflater_write(open->deflater, open->whole.data, open->whole.count);
    as_vec_free(&open->whole);
    return fine;
}

static bool take_content(void *user, const void *data, size_t size) {
    as_zip_writer *zip = user;
    open_entry *open = &zip->open;
    if (!open->deflater) {
        if (size <= AS_ZIP_WHOLE - open->whole.count) return as_vec_append(&open->whole, data, size);
        if (!begin_stream(zip)) return false;
    }
    return as_deflater_write(open->deflater, data, size);
}

assay_status as_zip_begin(as_zip_writer *zip, const char *name, unsigned threads, as_output **content,
                          assay_error *error) {
    AS_TRY(check_name(name, error));
    zip->open = (open_entry){.in = as_output_to_sink(take_content, zip), .name = strdup(name), .threads = threads};
    as_vec_init(&zip->open.whole, 1, NULL);
    *content = zip->open.in;
    if (zip->open.in && zip->open.name) return ASSAY_OK;
    free(zip->open.name);
    as_output_discard(zip->open.in);
    zip->open.in = NULL;
    return as_fail_memory(error, NULL);
}

static bool end_stream(as_zip_writer *zip) {
    record *r = &zip->open.r;
    as_deflated total;
    bool fine = as_deflater_end(zip->open.deflater, &total);
    zip->open.deflater = NULL;
    r->checksum = total.checksum;
    r->size = total.size;
    r->packed_size = total.packed_size;
    header descriptor = {.size = 0};
    put(&descriptor, DESCRIPTOR_SIGNATURE, 4);
    put(&descriptor, r->checksum, 4);
    put(&descriptor, r->packed_size, 8);
    put(&descriptor, r->size, 8);
    as_output_write(zip->out, descriptor.bytes, descriptor.size);
    zip->count++;
    return add_to_directory(&zip->directory, r) && fine;
}

assay_status as_zip_end(as_zip_writer *zip, assay_error *error) {
    open_entry *open = &zip->open;
    assay_status status = ASSAY_OK;
    bool fine = as_output_flush(open->in);
    if (fine && open->deflater)
        fine = end_stream(zip);
    else if (fine)
        status = as_zip_add(zip, open->name, open->whole.data, open->whole.count, true, error);
    if (!fine) status = as_output_flush(zip->out) ? as_fail_memory(error, NULL) : fail_writing(error);
    close_entry(zip);
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

assay_status as_zip_finish(as_zip_writer *zip, assay_error *error) {
    uint64_t offset = as_output_size(zip->out) - zip->begin, size = zip->directory.count, count = zip->count;
    header h = {.size = 0};
    if (count >= LIMIT_16 || size >= LIMIT_32 || offset >= LIMIT_32) {
        put(&h, END64_SIGNATURE, 4);
        put(&h, 44, 8); /* of this record, from here on */
        put(&h, MADE_BY_UNIX, 2);
        put(&h, VERSION_ZIP64, 2);
        put(&h, 0, 8); /* both disk numbers */
        put(&h, count, 8);
        put(&h, count, 8);
        put(&h, size, 8);
        put(&h, offset, 8);
        put(&h, LOCATOR64_SIGNATURE, 4);
        put(&h, 0, 4);
        put(&h, offset + size, 8);
        put(&h, 1, 4);
    }
    put(&h, END_SIGNATURE, 4);
    put(&h, 0, 4); /* both disk numbers */
    put_limited(&h, count, LIMIT_16, 2);
    put_limited(&h, count, LIMIT_16, 2);
    put_limited(&h, size, LIMIT_32, 4);
    put_limited(&h, offset, LIMIT_32, 4);
    put(&h, 0, 2); /* comment */
    as_output_write(zip->out, zip->directory.data, zip->directory.count);
    as_output_write(zip->out, h.bytes, h.size);
    bool written = as_output_flush(zip->out);
    as_zip_discard(zip);
    return written ? ASSAY_OK : fail_writing(error);
}
