#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/zip.h"
#include "io/zip_direct.h"

typedef struct content {
    as_zip_entry *entries;
    size_t count;
} content;

static bool want_all(void *user, const char *name) {
    (void)user;
    (void)name;
    return true;
}

static bool want_one(void *user, const char *name) { return strcmp(user, name) == 0; }

static assay_status read_zip(const char *data, size_t size, as_budget *budget, content *out, assay_error *error) {
    as_input input = {.path = "archive", .data = data, .size = size};
    return as_zip_read(&input, want_all, NULL, budget, &out->entries, &out->count, error);
}

/* An archive of a long text, deflated, a short one, stored, and an empty entry. */
static as_output *sample(size_t long_size) {
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    char *text = malloc(long_size);
    for (size_t i = 0; i < long_size; i++) text[i] = "0123456789,.e-"[i * i % 14];
    assert_int_equal(as_zip_add(zip, "folder/long.json", text, long_size, true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_add(zip, "short \xc3\xa4", "ab", 2, false, NULL), ASSAY_OK);
    assert_int_equal(as_zip_add(zip, "empty", NULL, 0, true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_OK);
    free(text);
    return out;
}

static void what_was_written_is_read(void **state) {
    (void)state;
    size_t size;
    as_output *out = sample(300000);
    const char *data = as_output_memory(out, &size);
    assert_true(size < 100000);
    as_budget budget = {.limit = 0};
    content found;
    assay_error error;
    if (read_zip(data, size, &budget, &found, &error) != ASSAY_OK) fail_msg("%s", error.message);
    assert_int_equal(found.count, 3);
    assert_string_equal(found.entries[0].name, "folder/long.json");
    assert_int_equal(found.entries[0].size, 300000);
    for (size_t i = 0; i < 300000; i++) assert_int_equal(found.entries[0].data[i], "0123456789,.e-"[i * i % 14]);
    assert_int_equal(found.entries[0].data[300000], 0);
    assert_string_equal(found.entries[1].name, "short \xc3\xa4");
    assert_string_equal(found.entries[1].data, "ab");
    assert_string_equal(found.entries[2].name, "empty");
    assert_int_equal(found.entries[2].size, 0);
    assert_string_equal(found.entries[2].data, "");
    as_zip_free(found.entries, found.count, &budget);
    assert_int_equal(budget.used, 0);
    as_output_discard(out);
}

static void equal_content_equal_bytes(void **state) {
    (void)state;
    size_t n, m;
    as_output *a = sample(1000), *b = sample(1000);
    const char *one = as_output_memory(a, &n), *two = as_output_memory(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(one, two, n);
    as_output_discard(a);
    as_output_discard(b);
}

static void what_does_not_shrink_is_stored(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    unsigned char noise[1000];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
    as_zip_add(zip, "noise", noise, sizeof noise, true, NULL);
    as_zip_finish(zip, NULL);
    size_t size;
    const char *data = as_output_memory(out, &size);
    assert_int_equal(size, 30 + 5 + 1000 + 46 + 5 + 22); /* the headers' sizes in APPNOTE, two names */
    assert_memory_equal(data + 35, noise, sizeof noise);
    as_output_discard(out);
}

static void only_wanted_entries(void **state) {
    (void)state;
    size_t size;
    as_output *out = sample(1000);
    as_input input = {.path = "archive"};
    input.data = as_output_memory(out, &size);
    input.size = size;
    content found;
    assert_int_equal(as_zip_read(&input, want_one, "empty", NULL, &found.entries, &found.count, NULL), ASSAY_OK);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.entries[0].name, "empty");
    as_zip_free(found.entries, found.count, NULL);
    assert_int_equal(as_zip_read(&input, want_one, "none", NULL, &found.entries, &found.count, NULL), ASSAY_OK);
    assert_int_equal(found.count, 0);
    as_zip_free(found.entries, found.count, NULL);
    as_output_discard(out);
}

static void many_entries(void **state) {
    (void)state;
    enum { MANY = 70000 }; /* beyond 16 bits: ZIP64 */
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    char name[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(as_zip_add(zip, name, name, strlen(name), false, NULL), ASSAY_OK);
    }
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_OK);
    as_input input = {.path = "archive"};
    input.data = as_output_memory(out, &input.size);
    content found;
    assay_error error;
    if (as_zip_read(&input, want_one, "69999", NULL, &found.entries, &found.count, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.entries[0].data, "69999");
    as_zip_free(found.entries, found.count, NULL);
    as_output_discard(out);
}

static void truncation_is_always_an_error(void **state) {
    (void)state;
    size_t size;
    as_output *out = sample(2000);
    const char *data = as_output_memory(out, &size);
    for (size_t n = 0; n < size; n++) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, data, n);
        as_budget budget = {.limit = 0};
        content found;
        assay_error error;
        assert_int_equal(read_zip(cut, n, &budget, &found, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, "zip-damaged");
        assert_true(error.message[0] && !strchr(error.message, '\n'));
        assert_int_equal(budget.used, 0);
        free(cut);
    }
    as_output_discard(out);
}

static bool same_data(const as_zip_entry *a, const as_zip_entry *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Flips every bit of the archive in turn: an error or the same content, never something else. */
static void no_damage_goes_unnoticed(void **state) {
    (void)state;
    size_t size;
    as_output *out = sample(300);
    const char *data = as_output_memory(out, &size);
    content good;
    assert_int_equal(read_zip(data, size, NULL, &good, NULL), ASSAY_OK);
    char *copy = malloc(size);
    memcpy(copy, data, size);
    int refused = 0;
    for (size_t bit = 0; bit < size * 8; bit++) {
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        content found;
        if (read_zip(copy, size, NULL, &found, NULL) == ASSAY_OK) {
            for (size_t i = 0; i < found.count;
                 i++) { /* a name may have changed, an entry may have become a folder: no checksum there */
                bool known = false;
                for (size_t k = 0; k < good.count; k++) known |= same_data(&found.entries[i], &good.entries[k]);
                if (!known) fail_msg("with bit %zu flipped, entry %zu has other content", bit, i);
            }
            as_zip_free(found.entries, found.count, NULL);
        } else
            refused++;
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
    }
    assert_true(refused > 1000);
    as_zip_free(good.entries, good.count, NULL);
    free(copy);
    as_output_discard(out);
}

/* Where the first header of this kind begins. */
static size_t find(const char *data, size_t size, const char signature[4]) {
    for (size_t i = 0; i + 4 <= size; i++) {
        if (memcmp(data + i, signature, 4) == 0) return i;
    }
    fail_msg("no such header");
    return 0;
}

static void claimed_sizes_are_not_believed(void **state) {
    (void)state;
    size_t size;
    as_output *out = sample(2000);
    const char *data = as_output_memory(out, &size);
    char *copy = malloc(size);
    memcpy(copy, data, size);
    size_t directory = find(copy, size, "PK\1\2");
    memcpy(copy + directory + 24, "\xf0\xff\xff\xff", 4); /* uncompressed: almost 4 GiB, in both places */
    memcpy(copy + 22, "\xf0\xff\xff\xff", 4);
    as_budget budget = {.limit = 1 << 20};
    content found;
    assay_error error;
    assert_int_equal(read_zip(copy, size, &budget, &found, &error), ASSAY_E_FORMAT);
    assert_int_equal(budget.used, 0);
    memcpy(copy, data, size);
    memcpy(copy + directory + 20, "\xf0\xff\xff\xff", 4); /* compressed */
    memcpy(copy + 18, "\xf0\xff\xff\xff", 4);
    assert_int_equal(read_zip(copy, size, &budget, &found, &error), ASSAY_E_FORMAT);
    assert_int_equal(budget.used, 0);
    free(copy);
    as_output_discard(out);
}

static void a_bomb_meets_the_budget(void **state) {
    (void)state;
    enum { LARGE = 50 << 20 };
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    char *zeros = calloc(1, LARGE);
    assert_int_equal(as_zip_add(zip, "bomb", zeros, LARGE, true, NULL), ASSAY_OK);
    as_zip_finish(zip, NULL);
    free(zeros);
    size_t size;
    const char *data = as_output_memory(out, &size);
    assert_true(size < 1 << 20);
    as_budget budget = {.limit = 10 << 20};
    content found;
    assay_error error;
    assert_int_equal(read_zip(data, size, &budget, &found, &error), ASSAY_E_NOMEM);
    assert_int_equal(budget.used, 0);
    as_output_discard(out);
}

static void expect_refusal(const char *const *names, size_t n_names, const char *rule) {
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    for (size_t i = 0; i < n_names; i++) as_zip_add(zip, names[i], "x", 1, false, NULL);
    as_zip_finish(zip, NULL);
    size_t size;
    const char *data = as_output_memory(out, &size);
    content found;
    assay_error error;
    as_budget budget = {.limit = 0};
    assert_int_equal(read_zip(data, size, &budget, &found, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, rule);
    assert_int_equal(budget.used, 0);
    as_output_discard(out);
}

static void names_that_lead_out(void **state) {
    (void)state;
    static const char *const names[] = {"../x", "a/../../x", "..",       "a/..",  "/etc/passwd",
                                        "\\x",  "..\\x",     "a\\..\\x", "C:\\x", "C:x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) expect_refusal(&names[i], 1, "zip-name");
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    static const char *const harmless[] = {"..x", "a/..b/c", "...", "a..", ".hidden", "a/./b"};
    for (size_t i = 0; i < 6; i++) as_zip_add(zip, harmless[i], "x", 1, false, NULL);
    as_zip_finish(zip, NULL);
    size_t size;
    const char *data = as_output_memory(out, &size);
    content found;
    assert_int_equal(read_zip(data, size, NULL, &found, NULL), ASSAY_OK);
    assert_int_equal(found.count, 6);
    as_zip_free(found.entries, found.count, NULL);
    as_output_discard(out);
}

static void duplicates(void **state) {
    (void)state;
    expect_refusal((const char *const[]){"a", "b", "a"}, 3, "zip-duplicate");
}

/* Changes bits of the first entry, where it stands and in the directory, which has two bytes more before them. */
static void assert_entry_refused(size_t at, int bits, const char *rule) {
    size_t size;
    as_output *out = sample(100);
    const char *data = as_output_memory(out, &size);
    char *copy = malloc(size);
    memcpy(copy, data, size);
    copy[at] = (char)(copy[at] | bits);
    copy[find(copy, size, "PK\1\2") + at + 2] = copy[at];
    content found;
    assay_error error;
    assert_int_equal(read_zip(copy, size, NULL, &found, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.rule, rule);
    free(copy);
    as_output_discard(out);
}

static void encrypted(void **state) {
    (void)state;
    assert_entry_refused(6, 1, "zip-encrypted");
}

/* An LZMA entry says how large its dictionary is, and the decoder takes that much memory: nothing to be read, whatever
 * the budget. */
static void other_methods(void **state) {
    (void)state;
    assert_entry_refused(8, 14, "zip-method");
}

static void no_zip_at_all(void **state) {
    (void)state;
    static const char *const texts[] = {"",    "P", "PK", "PK\3\4", "PK\5\6", "{\"json\": true}", "\x1f\x8b\x08 gzip",
                                        "Rar!"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        content found;
        assay_error error;
        assert_int_equal(read_zip(texts[i], strlen(texts[i]), NULL, &found, &error), ASSAY_E_FORMAT);
        assert_string_equal(error.rule, "zip-damaged");
    }
    as_input folder = {.path = "folder", .is_directory = true};
    content found;
    assert_int_equal(as_zip_read(&folder, want_all, NULL, NULL, &found.entries, &found.count, NULL), ASSAY_E_FORMAT);
}

static void a_full_disk_is_noticed(void **state) {
    (void)state;
    as_output *out = NULL;
    if (as_output_open("/dev/full", &out, NULL) != ASSAY_OK) skip();
    as_zip_writer *zip = as_zip_writer_new(out);
    as_zip_add(zip, "a", "x", 1, false, NULL);
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_E_IO);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_E_IO);
}

static void names_too_long(void **state) {
    (void)state;
    as_output *out = as_output_to_memory();
    as_zip_writer *zip = as_zip_writer_new(out);
    char *name = malloc(65537);
    memset(name, 'n', 65536);
    name[65536] = '\0';
    assert_int_equal(as_zip_add(zip, name, "x", 1, false, NULL), ASSAY_E_UNSUPPORTED);
    free(name);
    as_zip_discard(zip);
    as_zip_discard(NULL);
    as_output_discard(out);
}

/* The quick way gives what is right, or nothing. */
static void plain_archives_are_read_directly(void **state) {
    (void)state;
    size_t size;
    as_output *zip = sample(300000);
    const char *data = as_output_memory(zip, &size);
    as_vec out;
    as_vec_init(&out, 1, NULL);
    as_zip_directory directory = as_zip_directory_of(data, size);
    assert_true(as_zip_direct(&directory, "folder/long.json", &out));
    assert_int_equal(out.count, 300000);
    for (size_t i = 0; i < 300000; i++) assert_int_equal(AS_AT(char, &out, i), "0123456789,.e-"[i * i % 14]);
    out.count = 0;
    assert_true(as_zip_direct(&directory, "empty", &out));
    assert_int_equal(out.count, 0);
    assert_false(as_zip_direct(&directory, "folder/long.json", &out)); /* it lies behind */
    char *damaged = malloc(size);
    for (size_t i = 0; i < 200; i++) { /* in the packed data */
        memcpy(damaged, data, size);
        damaged[100 + i] ^= 1;
        directory = as_zip_directory_of(damaged, size);
        assert_false(as_zip_direct(&directory, "folder/long.json", &out));
        assert_int_equal(out.count, 0);
    }
    for (size_t n = 0; n < size; n++) {
        directory = as_zip_directory_of(data, n);
        assert_false(as_zip_direct(&directory, "empty", &out));
    }
    free(damaged);
    as_vec_free(&out);
    as_output_discard(zip);
}

/* ---- entries in a stream ----------------------------------------------------------------------------------------- */

static char digit_at(size_t i) { return "0123456789,.e-"[(i * i + i / 1000) % 14]; }

/* An entry of this size, written in small bits or (streamed false) added whole, between two short ones. */
static as_output *archive_of(size_t size, bool streamed, unsigned threads) {
    as_output *out = as_output_to_memory(), *body;
    as_zip_writer *zip = as_zip_writer_new(out);
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++) text[i] = digit_at(i);
    assert_int_equal(as_zip_add(zip, "before", "b", 1, false, NULL), ASSAY_OK);
    if (streamed) {
        assert_int_equal(as_zip_begin(zip, "large", threads, &body, NULL), ASSAY_OK);
        for (size_t at = 0; at < size; at += 99991)
            as_output_write(body, text + at, size - at < 99991 ? size - at : 99991);
        assert_int_equal(as_output_size(body), size);
        assert_int_equal(as_zip_end(zip, NULL), ASSAY_OK);
    } else
        assert_int_equal(as_zip_add(zip, "large", text, size, true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_add(zip, "after", "a", 1, true, NULL), ASSAY_OK);
    assert_int_equal(as_zip_finish(zip, NULL), ASSAY_OK);
    free(text);
    return out;
}

static void expect_digits(const char *data, size_t size, size_t expected) {
    assert_int_equal(size, expected);
    for (size_t i = 0; i < size; i++) {
        if (data[i] != digit_at(i)) fail_msg("byte %zu differs", i);
    }
}

static void small_streams_are_like_whole_entries(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 200000, AS_ZIP_WHOLE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n, m;
        as_output *a = archive_of(sizes[i], true, 2), *b = archive_of(sizes[i], false, 0);
        const char *one = as_output_memory(a, &n), *two = as_output_memory(b, &m);
        assert_int_equal(n, m);
        assert_memory_equal(one, two, n);
        as_output_discard(a);
        as_output_discard(b);
    }
}

static void large_streams_are_read(void **state) {
    (void)state;
    static const size_t sizes[] = {AS_ZIP_WHOLE + 1, AS_ZIP_WHOLE + (1 << 20), AS_ZIP_WHOLE + 5000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size, other_size;
        as_output *out = archive_of(sizes[i], true, 1), *other = archive_of(sizes[i], true, 4);
        const char *data = as_output_memory(out, &size), *other_data = as_output_memory(other, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(data, other_data, size); /* whatever the threads */
        as_output_discard(other);
        content found;
        assay_error error;
        if (read_zip(data, size, NULL, &found, &error) != ASSAY_OK) fail_msg("%s", error.message);
        assert_int_equal(found.count, 3);
        assert_string_equal(found.entries[0].data, "b");
        expect_digits(found.entries[1].data, found.entries[1].size, sizes[i]);
        assert_string_equal(found.entries[2].data, "a");
        as_zip_free(found.entries, found.count, NULL);
        as_vec direct;
        as_vec_init(&direct, 1, NULL);
        as_zip_directory directory = as_zip_directory_of(data, size);
        assert_true(as_zip_direct(&directory, "large", &direct)); /* below 4 GiB it is still a plain archive */
        expect_digits(direct.data, direct.count, sizes[i]);
        as_vec_free(&direct);
        as_output_discard(out);
    }
}

/* libarchive as a reader that goes from front to back knows sizes and checksum only from behind the data, and
 * compares. */
static void what_stands_behind_a_stream_is_right(void **state) {
    (void)state;
    size_t size, got = 0, expected = AS_ZIP_WHOLE + 1234567;
    as_output *out = archive_of(expected, true, 0);
    const char *data = as_output_memory(out, &size);
    assert_memory_equal(data + 37 + 6, "\x08\x08", 2); /* the second entry's flags: sizes follow, UTF-8 */
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    archive_read_support_format_zip_streamable(archive);
    assert_int_equal(archive_read_open_memory(archive, data, size), ARCHIVE_OK);
    assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
    assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
    assert_string_equal(archive_entry_pathname(entry), "large");
    char *block = malloc(1 << 20);
    for (la_ssize_t n; (n = archive_read_data(archive, block, 1 << 20)) != 0; got += (size_t)n) {
        if (n < 0) fail_msg("%s", archive_error_string(archive));
    }
    assert_int_equal(got, expected);
    assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
    assert_string_equal(archive_entry_pathname(entry), "after");
    assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
    archive_read_free(archive);
    free(block);
    as_output_discard(out);
}

static void streams_that_fail(void **state) {
    (void)state;
    as_output *out = NULL, *body;
    if (as_output_open("/dev/full", &out, NULL) != ASSAY_OK) skip();
    char *zeros = calloc(1, AS_ZIP_WHOLE);
    assay_error error;
    as_zip_writer *zip = as_zip_writer_new(out);
    assert_int_equal(as_zip_begin(zip, "large", 2, &body, NULL), ASSAY_OK);
    as_output_write(body, zeros, AS_ZIP_WHOLE);
    as_output_write(body, zeros, AS_ZIP_WHOLE);
    assert_int_equal(as_zip_end(zip, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot write the archive");
    as_zip_discard(zip);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_E_IO);

    out = as_output_to_memory();
    zip = as_zip_writer_new(out);
    char *name = malloc(65537);
    memset(name, 'n', 65536);
    name[65536] = '\0';
    assert_int_equal(as_zip_begin(zip, name, 2, &body, NULL), ASSAY_E_UNSUPPORTED);
    free(name);
    for (int large = 0; large < 2; large++) { /* given up in the middle */
        assert_int_equal(as_zip_begin(zip, "large", 2, &body, NULL), ASSAY_OK);
        as_output_write(body, zeros, 1000000);
        if (large) as_output_write(body, zeros, AS_ZIP_WHOLE);
        as_zip_discard(zip);
        zip = as_zip_writer_new(out);
    }
    as_zip_discard(zip);
    as_output_discard(out);
    free(zeros);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(plain_archives_are_read_directly),
        cmocka_unit_test(equal_content_equal_bytes),
        cmocka_unit_test(what_does_not_shrink_is_stored),
        cmocka_unit_test(only_wanted_entries),
        cmocka_unit_test(many_entries),
        cmocka_unit_test(truncation_is_always_an_error),
        cmocka_unit_test(no_damage_goes_unnoticed),
        cmocka_unit_test(claimed_sizes_are_not_believed),
        cmocka_unit_test(a_bomb_meets_the_budget),
        cmocka_unit_test(names_that_lead_out),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(encrypted),
        cmocka_unit_test(other_methods),
        cmocka_unit_test(no_zip_at_all),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(names_too_long),
        cmocka_unit_test(small_streams_are_like_whole_entries),
        cmocka_unit_test(large_streams_are_read),
        cmocka_unit_test(what_stands_behind_a_stream_is_right),
        cmocka_unit_test(streams_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
