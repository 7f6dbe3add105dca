#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "io/output.h"
#include "temporary.h"

static as_output *open_output(const char *path) {
    as_output *out = NULL;
    assay_error error;
    assert_int_equal(as_output_open(path, &out, &error), ASSAY_OK);
    assert_non_null(out);
    return out;
}

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void a_file_appears_on_commit(void **state) {
    (void)state;
    const char *path = temporary_path("new");
    as_output *out = open_output(path);
    as_output_text(out, "hello ");
    as_output_char(out, 'w');
    as_output_printf(out, "%s%d", "orld", 42);
    assert_int_equal(as_output_size(out), 13);
    assert_true(as_output_flush(out));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_true(file_is(path, "hello world42"));
    assert_int_equal(for_each_temporary(NULL), 1);
}

static void bytes_are_replaced_where_they_are_by_then(void **state) {
    (void)state;
    const char *path = temporary_path("patched");
    as_output *out = open_output(path);
    enum { SIZE = 300000 };
    for (int i = 0; i < SIZE; i++) as_output_char(out, '.');
    as_output_patch(out, 0, "AB", 2);       /* in the file */
    as_output_patch(out, 262143, "CD", 2);  /* half of it still in the buffer */
    as_output_patch(out, SIZE - 1, "E", 1); /* in the buffer */
    assert_int_equal(as_output_size(out), SIZE);
    as_output_text(out, "end");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    static const struct {
        long at;
        const char *text;
    } expected[] = {{0, "AB.."}, {262142, ".CD."}, {SIZE - 2, ".Eend"}};
    FILE *file = fopen(path, "rb");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[8] = "";
        assert_int_equal(fseek(file, expected[i].at, SEEK_SET), 0);
        assert_int_equal(fread(text, 1, strlen(expected[i].text), file), strlen(expected[i].text));
        assert_string_equal(text, expected[i].text);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);

    out = as_output_to_memory();
    size_t size;
    as_output_text(out, "0123456789");
    as_output_patch(out, 3, "xyz", 3);
    assert_string_equal(as_output_memory(out, &size), "012xyz6789");
    as_output_patch(out, 9, "xy", 2); /* beyond the end */
    assert_null(as_output_memory(out, &size));
    as_output_discard(out);
}

static void the_old_content_stays_until_commit(void **state) {
    (void)state;
    const char *path = write_temporary("kept", "old", 3);
    as_output *out = open_output(path);
    as_output_text(out, "new");
    as_output_flush(out);
    assert_true(file_is(path, "old"));
    as_output_discard(out);
    assert_true(file_is(path, "old"));
    assert_int_equal(for_each_temporary(NULL), 1);

    out = open_output(path);
    as_output_text(out, "new");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_true(file_is(path, "new"));
    as_output_discard(NULL);
}

static void permissions(void **state) {
    (void)state;
    const char *existing = write_temporary("existing", "x", 1), *fresh = temporary_path("fresh");
    chmod(existing, 0640);
    mode_t before = umask(027);
    assert_int_equal(as_output_commit(open_output(existing), NULL), ASSAY_OK);
    assert_int_equal(as_output_commit(open_output(fresh), NULL), ASSAY_OK);
    umask(before);
    assert_int_equal(mode_of(existing), 0640);
    assert_int_equal(mode_of(fresh), 0640); /* 0666 without 027 */
    chmod(existing, 0666);
    before = umask(077);
    assert_int_equal(as_output_commit(open_output(existing), NULL), ASSAY_OK);
    umask(before);
    assert_int_equal(mode_of(existing), 0666);
}

static void write_protected_files_are_refused(void **state) {
    (void)state;
    const char *path = write_temporary("protected", "x", 1);
    assay_error error;
    as_output *out = NULL;
    chmod(path, 0444);
    if (access(path, W_OK) == 0) skip(); /* root */
    assert_int_equal(as_output_open(path, &out, &error), ASSAY_E_IO);
    assert_true(file_is(path, "x"));
}

static void links_are_followed(void **state) {
    (void)state;
    const char *target = write_temporary("target", "old", 3), *link = temporary_path("link"),
               *dangling = temporary_path("dangling");
    struct stat status;
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(symlink("later", dangling), 0); /* relative: beside the link */
    as_output *out = open_output(link);
    as_output_text(out, "new");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_true(file_is(target, "new"));
    assert_true(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));

    out = open_output(dangling);
    as_output_text(out, "there");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_true(lstat(dangling, &status) == 0 && S_ISLNK(status.st_mode));
    assert_true(file_is(temporary_path("later"), "there"));
}

static void a_circle_of_links(void **state) {
    (void)state;
    const char *one = temporary_path("one"), *two = temporary_path("two");
    as_output *out = NULL;
    assay_error error;
    assert_int_equal(symlink(one, two), 0);
    assert_int_equal(symlink(two, one), 0);
    assert_int_equal(as_output_open(one, &out, &error), ASSAY_E_IO);
    assert_non_null(strstr(error.message, "symbolic links"));
}

static void places_that_cannot_be_written(void **state) {
    (void)state;
    as_output *out = NULL;
    assay_error error;
    assert_int_equal(as_output_open(temporary_folder, &out, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot write: Is a directory");
    assert_int_equal(as_output_open(temporary_path("none/file"), &out, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot write: No such file or directory");
    assert_int_equal(as_output_open(temporary_path("new/"), &out, &error), ASSAY_E_IO);
    assert_int_equal(as_output_open("", &out, &error), ASSAY_E_IO);
    assert_null(out);
    assert_int_equal(for_each_temporary(NULL), 0);
}

static void long_names(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', sizeof name - 1);
    name[255] = '\0';
    const char *path = temporary_path(name);
    assert_int_equal(as_output_commit(open_output(path), NULL), ASSAY_OK); /* the longest a file system allows */
    assert_true(file_is(path, ""));
}

static void a_full_disk_is_an_error(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    assay_error error;
    as_output *out = open_output("/dev/full");
    as_output_text(out, "x");
    assert_int_equal(as_output_commit(out, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot write: No space left on device");
    assert_string_equal(error.path, "/dev/full");

    out = open_output("/dev/full");
    as_output_text(out, "x");
    assert_false(as_output_flush(out));
    as_output_text(out, "y");
    assert_false(as_output_flush(out)); /* it sticks */
    as_output_discard(out);
    struct stat status;
    assert_true(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
}

static void large_output_arrives_whole(void **state) {
    (void)state;
    enum { SIZE = 3000000 };
    const char *path = temporary_path("large");
    as_output *out = open_output(path);
    char *block = malloc(SIZE), *back = malloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++) block[i] = (char)(i * 7 + i / 251);
    for (size_t at = 0, step = 1; at < SIZE;
         at += step, step = step * 3 % 200003) { /* pieces of all sizes, up to larger than the buffer */
        if (step > SIZE - at) step = SIZE - at;
        as_output_write(out, block + at, step);
    }
    assert_int_equal(as_output_size(out), SIZE);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(back, 1, SIZE + 1, file), SIZE);
    fclose(file);
    assert_memory_equal(block, back, SIZE);
    free(block);
    free(back);
}

static void memory(void **state) {
    (void)state;
    size_t size;
    as_output *out = as_output_to_memory();
    assert_string_equal(as_output_memory(out, &size), "");
    assert_int_equal(size, 0);
    for (int i = 0; i < 1000; i++) as_output_int(out, i % 10);
    as_output_real(out, 0.1);
    as_output_number(out, (as_number){.kind = AS_UINT, .u = UINT64_MAX});
    as_output_int(out, INT64_MIN);
    const char *text = as_output_memory(out, &size);
    assert_int_equal(size, 1000 + 3 + 20 + 20);
    assert_string_equal(text + 998, "890.118446744073709551615-9223372036854775808");
    assert_null(as_output_temporary(out));
    as_output_printf(out, "%2000d", 1);
    assert_int_equal(as_output_size(out), 3043);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
}

typedef struct gathered {
    char data[600000];
    size_t size, calls, room; /* room: then it fails */
} gathered;

static bool gather(void *user, const void *data, size_t size) {
    gathered *g = user;
    g->calls++;
    if (size > g->room - g->size) return false;
    memcpy(g->data + g->size, data, size);
    g->size += size;
    return true;
}

static void a_sink_gets_everything_in_order(void **state) {
    (void)state;
    gathered *g = calloc(1, sizeof *g);
    g->room = sizeof g->data;
    as_output *out = as_output_to_sink(gather, g);
    char *expected = malloc(500000);
    for (size_t i = 0; i < 500000; i++) expected[i] = (char)(i * 7 + i / 251);
    for (size_t at = 0, step = 1; at < 500000; at += step, step = step * 3 % 150001) {
        if (step > 500000 - at) step = 500000 - at;
        as_output_write(out, expected + at, step);
    }
    assert_int_equal(as_output_size(out), 500000);
    assert_true(as_output_flush(out));
    assert_int_equal(g->size, 500000);
    assert_memory_equal(g->data, expected, 500000);
    assert_true(g->calls < 10);
    as_output_discard(out);

    g->size = g->calls = 0; /* one that fails is left alone from then on */
    g->room = 200000;
    out = as_output_to_sink(gather, g);
    as_output_write(out, expected, 200000);
    as_output_write(out, expected, 200000);
    assert_false(as_output_flush(out));
    as_output_write(out, expected, 300000);
    assert_false(as_output_flush(out));
    assert_int_equal(g->calls, 2);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_E_NOMEM);
    free(expected);
    free(g);
}

static void memory_can_be_used_again(void **state) {
    (void)state;
    size_t size;
    as_output *out = as_output_to_memory();
    as_output_text(out, "first");
    as_output_clear(out);
    assert_int_equal(as_output_size(out), 0);
    assert_string_equal(as_output_memory(out, &size), "");
    as_output_text(out, "2nd");
    assert_string_equal(as_output_memory(out, &size), "2nd");
    assert_int_equal(size, 3);
    as_output_discard(out);
}

static void a_descriptor_stays_open(void **state) {
    (void)state;
    int ends[2];
    char text[8] = "";
    assert_int_equal(pipe(ends), 0);
    as_output *out = as_output_to_fd(ends[1], "pipe");
    as_output_text(out, "abc");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_int_equal(write(ends[1], "d", 1), 1);
    assert_int_equal(read(ends[0], text, sizeof text), 4);
    assert_memory_equal(text, "abcd", 4);

    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    assay_error error;
    out = as_output_to_fd(ends[1], "<stdout>");
    as_output_text(out, "abc");
    assert_int_equal(as_output_commit(out, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot write: Broken pipe");
    close(ends[1]);
}

static void a_named_descriptor_is_appended_to(void **state) {
    (void)state;
    const char *path = write_temporary("log", "before ", 7);
    int fd = open(path, O_WRONLY | O_APPEND);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    as_output *out = open_output(name);
    as_output_text(out, "after");
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    close(fd);
    assert_true(file_is(path, "before after"));
}

static void others_may_write_the_temporary_file(void **state) {
    (void)state;
    const char *path = temporary_path("other");
    as_output *out = open_output(path);
    FILE *file = fopen(as_output_temporary(out), "wb");
    fputs("by name", file);
    fclose(file);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_true(file_is(path, "by name"));
}

static void interrupted(int signal_number) {
    (void)signal_number;
    as_output_abandon_all();
    _exit(0);
}

static void a_signal_leaves_nothing(void **state) {
    (void)state;
    const char *path = write_temporary("victim", "old", 3);
    pid_t child = fork();
    if (child == 0) {
        as_output *a = NULL, *b = NULL;
        signal(SIGTERM, interrupted);
        if (as_output_open(path, &a, NULL) || as_output_open(temporary_path("second"), &b, NULL)) _exit(1);
        as_output_text(a, "new");
        as_output_flush(a);
        if (for_each_temporary(NULL) != 3) _exit(2);
        raise(SIGTERM);
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(file_is(path, "old"));
    assert_int_equal(for_each_temporary(NULL), 1);
}

static void many_at_once(void **state) {
    (void)state;
    enum { MANY = 200 };
    as_output *outs[MANY] = {NULL};
    char name[16];
    assay_error error;
    int opened = 0;
    for (; opened < MANY; opened++) {
        snprintf(name, sizeof name, "f%d", opened);
        if (as_output_open(temporary_path(name), &outs[opened], &error) != ASSAY_OK) break;
    }
    assert_int_equal(opened, 64); /* then the table that the signal handler needs is full: an error, no leak */
    assert_int_equal(error.code, ASSAY_E_IO);
    for (int i = 0; i < opened; i++) as_output_discard(outs[i]);
    assert_int_equal(for_each_temporary(NULL), 0);
    assert_int_equal(as_output_commit(open_output(temporary_path("again")), NULL), ASSAY_OK);
}

static void count(void *user) { ++*(int *)user; }

static void the_beginning_is_told_once(void **state) {
    (void)state;
    enum { LARGE = 1 << 18 };
    static char bytes[LARGE];
    int told = 0;
    as_output *out = open_output(temporary_path("large"));
    as_output_on_begin(out, count, &told);
    as_output_text(out, "a few bytes stay where they can be taken back");
    assert_int_equal(told, 0);
    as_output_write(out, bytes, sizeof bytes);
    assert_int_equal(told, 1);
    as_output_write(out, bytes, sizeof bytes);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_int_equal(told, 1);
    out = open_output(temporary_path("given up"));
    as_output_on_begin(out, count, &told);
    as_output_text(out, "a few bytes");
    as_output_discard(out);
    assert_int_equal(told, 1);
    out = open_output(temporary_path("empty"));
    as_output_on_begin(out, count, &told);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
    assert_int_equal(told, 2);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_temporary_folder, remove_temporary_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_appears_on_commit),
        IN_FOLDER(bytes_are_replaced_where_they_are_by_then),
        IN_FOLDER(the_old_content_stays_until_commit),
        IN_FOLDER(permissions),
        IN_FOLDER(write_protected_files_are_refused),
        IN_FOLDER(links_are_followed),
        IN_FOLDER(a_circle_of_links),
        IN_FOLDER(places_that_cannot_be_written),
        IN_FOLDER(long_names),
        cmocka_unit_test(a_full_disk_is_an_error),
        IN_FOLDER(large_output_arrives_whole),
        cmocka_unit_test(memory),
        cmocka_unit_test(a_sink_gets_everything_in_order),
        cmocka_unit_test(memory_can_be_used_again),
        cmocka_unit_test(a_descriptor_stays_open),
        IN_FOLDER(a_named_descriptor_is_appended_to),
        IN_FOLDER(others_may_write_the_temporary_file),
        IN_FOLDER(a_signal_leaves_nothing),
        IN_FOLDER(many_at_once),
        IN_FOLDER(the_beginning_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
