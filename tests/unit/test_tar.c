/* Archives are made by libarchive, or by hand where it makes none of the kind; what is written is read by
 * libarchive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/tar.h"

typedef struct archive_bytes {
    char *data;
    size_t size;
} archive_bytes;

static la_ssize_t take_bytes(struct archive *archive, void *user, const void *data, size_t size) {
    (void)archive;
    archive_bytes *bytes = user;
    bytes->data = realloc(bytes->data, bytes->size + size);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    return (la_ssize_t)size;
}

static void add_file(struct archive *archive, const char *name, const char *text) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_size(entry, (la_int64_t)strlen(text));
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(archive, text, strlen(text)), strlen(text));
    archive_entry_free(entry);
}

static void add_other(struct archive *archive, const char *name, unsigned kind, const char *target) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, kind);
    archive_entry_set_perm(entry, 0700);
    if (target) archive_entry_set_symlink(entry, target);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    archive_entry_free(entry);
}

static char long_name[300];

/* A file, a directory, a link, a file with a long name, an empty file; filter NULL: plain. */
static archive_bytes sample(const char *format, const char *filter) {
    archive_bytes bytes = {NULL, 0};
    struct archive *archive = archive_write_new();
    assert_int_equal(archive_write_set_format_by_name(archive, format), ARCHIVE_OK);
    if (filter) assert_int_equal(archive_write_add_filter_by_name(archive, filter), ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(archive, 1);
    archive_write_open(archive, &bytes, NULL, take_bytes, NULL);
    size_t length = strcmp(format, "ustar") == 0 ? 150 : sizeof long_name - 1;
    memset(long_name, 'n', length);
    long_name[length] = '\0';
    long_name[90] = '/'; /* so that ustar can split it */
    add_file(archive, "anchor.xml", "<cube></cube>");
    add_other(archive, "folder/", AE_IFDIR, NULL);
    add_other(archive, "link", AE_IFLNK, "anchor.xml");
    add_file(archive, long_name, "long");
    add_file(archive, "empty", "");
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
    return bytes;
}

static assay_status open_tar(const char *data, size_t size, as_budget *budget, as_tar **tar, assay_error *error) {
    as_input input = {.path = "archive", .data = data, .size = size};
    return as_tar_open(&input, budget, tar, error);
}

static bool has(const as_tar *tar, const char *name, const char *text) {
    const as_tar_member *member = as_tar_find(tar, name);
    return member && strcmp(member->name, name) == 0 && member->size == strlen(text) &&
           memcmp(member->data, text, member->size) == 0;
}

static void check_sample(archive_bytes bytes, bool is_compressed) {
    as_budget budget = {.limit = 0};
    as_tar *tar = NULL;
    assay_error error;
    if (open_tar(bytes.data, bytes.size, &budget, &tar, &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_int_equal(tar->n_members, 3);
    assert_true(has(tar, "anchor.xml", "<cube></cube>"));
    assert_true(has(tar, long_name, "long"));
    assert_true(has(tar, "empty", ""));
    assert_null(as_tar_find(tar, "folder/"));
    assert_null(as_tar_find(tar, "link"));
    assert_null(as_tar_find(tar, "anchor"));
    assert_true(tar->is_compressed == is_compressed);
    as_place place = as_tar_place(tar, &tar->members[0], 6);
    if (is_compressed)
        assert_int_equal(place.offset, -1);
    else {
        assert_ptr_equal(tar->members[0].data, bytes.data + tar->members[0].offset); /* no copy */
        assert_memory_equal(bytes.data + place.offset, "</cube>", 7);
    }
    as_tar_free(tar);
    assert_int_equal(budget.used, 0);
    free(bytes.data);
}

static void every_dialect_is_read(void **state) {
    (void)state;
    check_sample(sample("ustar", NULL), false);
    check_sample(sample("gnutar", NULL), false);
    check_sample(sample("pax", NULL), false);
}

static void every_compression_is_read(void **state) {
    (void)state;
    static const char *const filters[] = {"gzip", "bzip2", "xz", "zstd"};
    for (size_t i = 0; i < 4; i++) {
        archive_bytes bytes = sample("pax", filters[i]);
        assert_true(as_tar_looks_like(bytes.data, bytes.size) > 0);
        check_sample(bytes, true);
    }
}

/* ---- headers by hand --------------------------------------------------------------------------------------------- */

enum { BLOCK = 512 };

typedef struct header {
    const char *name, *size, *magic;
    char kind;
} header;

/* Appends a header with a wrong checksum, and content filled up to a block. */
static void put(as_vec *out, header h, const char *content, size_t content_size) {
    char block[BLOCK] = {0};
    memcpy(block, h.name, strlen(h.name));
    memcpy(block + 124, h.size, strnlen(h.size, 12));
    memcpy(block + 148, "0000000", 7);
    block[156] = h.kind;
    memcpy(block + 257, h.magic ? h.magic : "ustar", strlen(h.magic ? h.magic : "ustar"));
    as_vec_append(out, block, BLOCK);
    as_vec_append(out, content, content_size);
    char zeros[BLOCK] = {0};
    as_vec_append(out, zeros, (BLOCK - content_size % BLOCK) % BLOCK);
}

static void put_text(as_vec *out, const char *name, char kind, const char *content) {
    char size[12];
    snprintf(size, sizeof size, "%011o", (unsigned)strlen(content));
    put(out, (header){.name = name, .size = size, .kind = kind}, content, strlen(content));
}

static as_vec new_bytes(void) {
    as_vec out;
    as_vec_init(&out, 1, NULL);
    return out;
}

/* Opens and frees the bytes; NULL where it is not fine, with the error. */
static as_tar *open_bytes(const as_vec *bytes, assay_error *error) {
    as_tar *tar = NULL;
    return open_tar(bytes->data, bytes->count, NULL, &tar, error) == ASSAY_OK ? tar : NULL;
}

static void assert_fails(as_vec *bytes, const char *rule, int64_t offset) {
    assay_error error = {0};
    as_budget budget = {.limit = 0};
    as_tar *tar = NULL;
    assert_int_equal(open_tar(bytes->data, bytes->count, &budget, &tar, &error), ASSAY_E_FORMAT);
    if (strcmp(error.rule, rule) != 0) fail_msg("%s: %s", error.rule, error.message);
    assert_string_equal(error.path, "archive");
    assert_int_equal(error.offset, offset);
    assert_int_equal(budget.used, 0);
    as_vec_free(bytes);
}

static void checksums_are_not_looked_at(void **state) {
    (void)state;
    as_vec bytes = new_bytes();
    put_text(&bytes, "a", '0', "one");
    put_text(&bytes, "b", '\0', "two");
    as_tar *tar = open_bytes(&bytes, NULL);
    assert_non_null(tar);
    assert_true(has(tar, "a", "one"));
    assert_true(has(tar, "b", "two"));
    as_tar_free(tar);
    as_vec_free(&bytes);
}

static void sizes_in_base_256_and_with_blanks(void **state) {
    (void)state;
    as_vec bytes = new_bytes();
    put(&bytes, (header){.name = "a", .size = "\x80\0\0\0\0\0\0\0\0\0\0\3"}, "one", 3);
    memcpy((char *)bytes.data + 124, "\x80\0\0\0\0\0\0\0\0\0\0\3", 12);
    put(&bytes, (header){.name = "b", .size = "         3 "}, "two", 3);
    put(&bytes, (header){.name = "c", .size = "3"}, "six", 3);
    as_tar *tar = open_bytes(&bytes, NULL);
    assert_non_null(tar);
    assert_true(has(tar, "a", "one") && has(tar, "b", "two") && has(tar, "c", "six"));
    as_tar_free(tar);
    as_vec_free(&bytes);
}

static void pax_sizes_and_paths(void **state) {
    (void)state;
    as_vec bytes = new_bytes();
    put_text(&bytes, "x", 'x', "22 path=another/place\n9 size=3\n");
    put(&bytes, (header){.name = "b", .size = "00000000000", .kind = '0'}, "two", 3);
    put_text(&bytes, "c", '0', "four");
    as_tar *tar = open_bytes(&bytes, NULL);
    assert_non_null(tar);
    assert_int_equal(tar->n_members, 2);
    assert_true(has(tar, "another/place", "two") && has(tar, "c", "four"));
    as_tar_free(tar);
    as_vec_free(&bytes);
}

static void the_end_may_be_missing(void **state) {
    (void)state;
    as_vec bytes = new_bytes();
    put_text(&bytes, "a", '0', "one");
    put_text(&bytes, "b", '0', "seven12");
    for (size_t size = BLOCK * 3 + 7; size <= BLOCK * 4; size++) { /* without padding, with some, with all */
        as_tar *tar = NULL;
        assert_int_equal(open_tar(bytes.data, size, NULL, &tar, NULL), ASSAY_OK);
        assert_true(has(tar, "b", "seven12"));
        as_tar_free(tar);
    }
    char zeros[BLOCK] = {0};
    as_vec_append(&bytes, zeros, BLOCK);
    as_vec_append(&bytes, "what follows a block of zeros", 29);
    as_tar *tar = open_bytes(&bytes, NULL);
    assert_non_null(tar);
    assert_int_equal(tar->n_members, 2);
    as_tar_free(tar);
    as_vec_free(&bytes);
}

static void damage_has_a_rule_and_a_place(void **state) {
    (void)state;
    as_vec bytes = new_bytes();
    assert_fails(&bytes, "tar-damaged", 0);
    as_vec_text(&bytes, "no tar");
    assert_fails(&bytes, "tar-damaged", 0);
    for (int i = 0; i < 100; i++) as_vec_text(&bytes, "this is no tar ");
    assert_fails(&bytes, "tar-damaged", 0);
    put_text(&bytes, "a", '0', "one");
    put(&bytes, (header){.name = "b", .size = "12x"}, "", 0);
    assert_fails(&bytes, "tar-damaged", 2 * BLOCK + 124);
    put(&bytes, (header){.name = "b", .size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}, "", 0);
    assert_fails(&bytes, "tar-damaged", 124);
    put(&bytes, (header){.name = "b", .size = "\x80\1\1\1\1\1\1\1\1\1\1\1"}, "", 0);
    assert_fails(&bytes, "tar-damaged", 124);
    put_text(&bytes, "a", '0', "one");
    put(&bytes, (header){.name = "b", .size = "77777777777"}, "two", 3);
    assert_fails(&bytes, "tar-truncated", 2 * BLOCK);
    put_text(&bytes, "x", 'x', "29 size=18446744073709551615\n");
    put_text(&bytes, "a", '0', "one");
    assert_fails(&bytes, "tar-truncated", 2 * BLOCK);
    put_text(&bytes, "x", 'x', "99 path=b\n");
    assert_fails(&bytes, "tar-damaged", BLOCK);
    put_text(&bytes, "x", 'x', "10 path=b\n12 size=1b2\n");
    assert_fails(&bytes, "tar-damaged", BLOCK + 10);
    put_text(&bytes, "x", 'L', "name of nothing");
    assert_fails(&bytes, "tar-truncated", 2 * BLOCK);
    put_text(&bytes, "a", 'S', "one");
    assert_fails(&bytes, "tar-sparse", 0);
    put_text(&bytes, "x", 'x', "22 GNU.sparse.major=1\n");
    put_text(&bytes, "a", '0', "one");
    assert_fails(&bytes, "tar-sparse", BLOCK);
}

static void names_that_lead_out_or_come_twice(void **state) {
    (void)state;
    static const char *const names[] = {"/etc/passwd", "../a", "a/../../b", "a/..", ".."};
    as_vec bytes = new_bytes();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put_text(&bytes, "fine..", '0', "");
        put_text(&bytes, names[i], '0', "one");
        assert_fails(&bytes, "tar-name", BLOCK);
    }
    put_text(&bytes, "x", 'L', "../out");
    put_text(&bytes, "a", '0', "one");
    assert_fails(&bytes, "tar-name", 2 * BLOCK);
    put_text(&bytes, "a", '0', "one");
    put_text(&bytes, "b", '0', "");
    put_text(&bytes, "a", '0', "two");
    assert_fails(&bytes, "tar-duplicate", 3 * BLOCK);
}

/* Whatever is cut off: an error, or the members that are there whole. */
static void every_beginning(void **state) {
    (void)state;
    static const char *const formats[] = {"ustar", "gnutar", "pax"};
    for (size_t i = 0; i < 3; i++) {
        archive_bytes bytes = sample(formats[i], NULL);
        size_t fine = 0;
        for (size_t size = 0; size < bytes.size; size++) {
            char *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read behind the end */
            memcpy(exact, bytes.data, size);
            as_tar *tar = NULL;
            assay_error error = {0};
            if (open_tar(exact, size, NULL, &tar, &error) == ASSAY_OK) {
                fine++;
                if (tar->n_members > 0) assert_true(has(tar, "anchor.xml", "<cube></cube>"));
                assert_true(tar->n_members < 3 || has(tar, long_name, "long"));
            } else
                assert_true(strcmp(error.rule, "tar-truncated") == 0 || strcmp(error.rule, "tar-damaged") == 0);
            as_tar_free(tar);
            free(exact);
        }
        assert_true(fine > 100 && fine < bytes.size - 1000);
        free(bytes.data);
    }
}

static void damaged_compression(void **state) {
    (void)state;
    static const char *const filters[] = {"gzip", "bzip2", "xz", "zstd"};
    for (size_t i = 0; i < 4; i++) {
        archive_bytes bytes = sample("ustar", filters[i]);
        for (size_t size = 3; size < bytes.size; size += 7) {
            as_tar *tar = NULL;
            assay_error error = {0};
            as_budget budget = {.limit = 0};
            if (open_tar(bytes.data, size, &budget, &tar, &error) == ASSAY_OK)
                fail_msg("%s, %zu of %zu bytes", filters[i], size, bytes.size);
            assert_int_equal(error.code, ASSAY_E_FORMAT);
            assert_true(error.message[0] && error.rule[0]);
            assert_int_equal(budget.used, 0);
        }
        free(bytes.data);
    }
}

/* 64 MB of zeros are a few KB: the budget ends it, and nothing is left behind. */
static void bombs_end_at_the_budget(void **state) {
    (void)state;
    static const char *const filters[] = {"gzip", "bzip2", "xz", "zstd"};
    char *text = malloc((64u << 20) + 1);
    memset(text, 'a', 64u << 20);
    text[64u << 20] = '\0';
    for (size_t i = 0; i < 4; i++) {
        archive_bytes bytes = {NULL, 0};
        struct archive *archive = archive_write_new();
        archive_write_set_format_ustar(archive);
        archive_write_add_filter_by_name(archive, filters[i]);
        archive_write_open(archive, &bytes, NULL, take_bytes, NULL);
        add_file(archive, "bomb", text);
        archive_write_close(archive);
        archive_write_free(archive);
        as_budget budget = {.limit = 1 << 24};
        as_tar *tar = NULL;
        assay_error error = {0};
        assert_int_equal(open_tar(bytes.data, bytes.size, &budget, &tar, &error), ASSAY_E_NOMEM);
        assert_int_equal(budget.used, 0);
        free(bytes.data);
    }
    free(text);
}

/* Bytes packed by one of libarchive's filters. */
static archive_bytes pack(const char *filter, const char *data, size_t size) {
    archive_bytes bytes = {NULL, 0};
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_set_format_raw(archive);
    archive_write_add_filter_by_name(archive, filter);
    archive_write_set_bytes_in_last_block(archive, 1);
    archive_write_open(archive, &bytes, NULL, take_bytes, NULL);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(archive, entry);
    assert_int_equal(archive_write_data(archive, data, size), size);
    archive_write_close(archive);
    archive_write_free(archive);
    archive_entry_free(entry);
    return bytes;
}

static void assert_refused(const char *data, size_t size, uint64_t limit, const char *rule) {
    as_budget budget = {.limit = limit};
    as_tar *tar = NULL;
    assay_error error = {0};
    assert_int_equal(open_tar(data, size, &budget, &tar, &error), ASSAY_E_FORMAT);
    if (strcmp(error.rule, rule) != 0) fail_msg("%s: %s", error.rule, error.message);
    assert_int_equal(budget.used, 0);
}

/* 16 MB of something else end within a budget that would not hold them: only the first block is looked at. */
static void other_things_are_not_unpacked(void **state) {
    (void)state;
    static const char *const filters[] = {"gzip", "bzip2", "xz", "zstd"};
    char *text = malloc(16u << 20);
    for (char fill = 0; fill <= 1; fill++) {
        memset(text, fill, 16u << 20);
        for (size_t i = 0; i < 4; i++) {
            archive_bytes bytes = pack(filters[i], text, 16u << 20);
            assert_refused(bytes.data, bytes.size, 1 << 22, "tar-damaged");
            free(bytes.data);
        }
    }
    free(text);
}

/* A first member that looks right, and far more behind it than real archives have for their size. */
static void traps_end_at_their_ratio(void **state) {
    (void)state;
    static const char *const filters[] = {"gzip", "zstd"};
    archive_bytes plain = sample("ustar", NULL);
    size_t size = (256u << 20) + 1;
    char *text = calloc(size, 1);
    memcpy(text, plain.data, plain.size < 512 ? plain.size : 512);
    for (size_t i = 0; i < 2; i++) {
        archive_bytes bytes = pack(filters[i], text, size);
        assert_true(bytes.size < size / 128);
        assert_refused(bytes.data, bytes.size, 0, "packed-ratio");
        free(bytes.data);
    }
    free(text);
    free(plain.data);
}

static void compressed_several_times(void **state) {
    (void)state;
    archive_bytes once = sample("ustar", "xz"), twice = pack("bzip2", once.data, once.size);
    assert_refused(twice.data, twice.size, 0, "tar-damaged");
    free(once.data);
    free(twice.data);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static as_output *written(void) {
    as_output *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    as_tar_add(tar, "anchor.xml", "<cube></cube>", 13);
    memset(long_name, 'n', 200);
    long_name[200] = '\0';
    as_tar_add(tar, long_name, "long", 4);
    as_tar_begin(tar, "pieces", 6);
    as_output_text(out, "abc");
    as_output_text(out, "def");
    assert_int_equal(as_tar_end(tar, NULL), ASSAY_OK);
    as_tar_add(tar, "empty", NULL, 0);
    as_tar_finish(tar);
    return out;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    size_t size;
    as_output *out = written();
    const char *data = as_output_memory(out, &size);
    assert_int_equal(size % 10240, 0);
    struct archive *archive = archive_read_new();
    archive_read_support_format_tar(archive);
    assert_int_equal(archive_read_open_memory(archive, data, size), ARCHIVE_OK);
    const char *names[] = {"anchor.xml", long_name, "pieces", "empty"},
               *texts[] = {"<cube></cube>", "long", "abcdef", ""};
    for (size_t i = 0; i < 4; i++) {
        struct archive_entry *entry;
        char content[64] = "";
        assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
        assert_string_equal(archive_entry_pathname(entry), names[i]);
        assert_int_equal(archive_entry_perm(entry), 0600);
        assert_int_equal(archive_entry_mtime(entry), 0);
        assert_int_equal(archive_read_data(archive, content, sizeof content), strlen(texts[i]));
        assert_string_equal(content, texts[i]);
    }
    archive_read_free(archive);
    as_tar *tar = NULL;
    assert_int_equal(open_tar(data, size, NULL, &tar, NULL), ASSAY_OK);
    assert_int_equal(tar->n_members, 4);
    assert_true(has(tar, long_name, "long") && has(tar, "pieces", "abcdef"));
    as_tar_free(tar);
    as_output *again = written();
    size_t again_size;
    assert_memory_equal(data, as_output_memory(again, &again_size), size);
    assert_int_equal(size, again_size);
    as_output_discard(again);
    as_output_discard(out);
}

static void checksums_are_right(void **state) {
    (void)state;
    size_t size;
    as_output *out = written();
    const char *data = as_output_memory(out, &size);
    unsigned sum = 0, claimed = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : (unsigned char)data[i];
    assert_int_equal(sscanf(data + 148, "%6o", &claimed), 1);
    assert_int_equal(claimed, sum);
    as_output_discard(out);
}

static bool swallow(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return true;
}

/* Keeps the first two blocks of headers. */
static bool keep_beginning(void *user, const void *data, size_t size) {
    as_vec *kept = user;
    size_t room = 4096 - kept->count;
    return as_vec_append(kept, data, size < room ? size : room);
}

static void eight_gibibytes_need_a_pax_header(void **state) {
    (void)state;
    as_vec kept = new_bytes();
    as_output *out = as_output_to_sink(keep_beginning, &kept);
    as_tar_writer *tar = as_tar_writer_new(out);
    as_tar_begin(tar, "large", 1ull << 33);
    assert_true(as_output_flush(out));
    const char *data = kept.data;
    assert_int_equal(kept.count, 3 * BLOCK);
    assert_int_equal(data[156], 'x');
    assert_memory_equal(data + BLOCK, "19 size=8589934592\n", 20); /* 19 characters, then NUL */
    assert_string_equal(data + 2 * BLOCK, "large");
    as_tar_discard(tar);
    as_output_discard(out);
    as_vec_free(&kept);
    out = as_output_to_sink(swallow, NULL);
    tar = as_tar_writer_new(out);
    as_tar_begin(tar, "not large", 5);
    as_output_text(out, "four");
    assay_error error = {0};
    assert_int_equal(as_tar_end(tar, &error), ASSAY_E_IO);
    as_tar_discard(tar);
    as_output_discard(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dialect_is_read),
        cmocka_unit_test(every_compression_is_read),
        cmocka_unit_test(checksums_are_not_looked_at),
        cmocka_unit_test(sizes_in_base_256_and_with_blanks),
        cmocka_unit_test(pax_sizes_and_paths),
        cmocka_unit_test(the_end_may_be_missing),
        cmocka_unit_test(damage_has_a_rule_and_a_place),
        cmocka_unit_test(names_that_lead_out_or_come_twice),
        cmocka_unit_test(every_beginning),
        cmocka_unit_test(damaged_compression),
        cmocka_unit_test(bombs_end_at_the_budget),
        cmocka_unit_test(other_things_are_not_unpacked),
        cmocka_unit_test(traps_end_at_their_ratio),
        cmocka_unit_test(compressed_several_times),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(checksums_are_right),
        cmocka_unit_test(eight_gibibytes_need_a_pax_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
