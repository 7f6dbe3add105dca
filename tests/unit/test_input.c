#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "io/input.h"
#include "io/mapped.h"
#include "temporary.h"

static void maps_a_file(void **state) {
    (void)state;
    as_budget budget = {.limit = 1};
    as_input *input;
    assay_error error;
    const char *path = write_temporary("some", "hello", 5);
    assert_int_equal(as_input_open(path, &budget, &input, &error), ASSAY_OK);
    assert_string_equal(input->path, path);
    assert_ptr_not_equal(input->path, path);
    assert_int_equal(input->size, 5);
    assert_memory_equal(input->data, "hello", 5);
    assert_true(input->is_mapped);
    assert_int_equal(budget.used, 0);
    struct stat status;
    stat(path, &status);
    assert_true(input->file_device == status.st_dev && input->file_inode == status.st_ino);
    as_input_close(input);
}

static void an_empty_file_has_data(void **state) {
    (void)state;
    as_input *input;
    assert_int_equal(as_input_open(write_temporary("empty", "", 0), NULL, &input, NULL), ASSAY_OK);
    assert_non_null(input->data);
    assert_int_equal(input->size, 0);
    assert_false(input->is_directory);
    as_input_close(input);
}

static void a_directory(void **state) {
    (void)state;
    as_input *input;
    assert_int_equal(as_input_open(temporary_folder, NULL, &input, NULL), ASSAY_OK);
    assert_true(input->is_directory);
    assert_null(input->data);
    assert_int_equal(input->size, 0);
    as_input_close(input);
}

static void a_file_that_says_it_is_empty(void **state) {
    (void)state;
    as_input *input;
    if (as_input_open("/proc/self/status", NULL, &input, NULL) != ASSAY_OK) skip();
    assert_true(input->size > 5);
    assert_memory_equal(input->data, "Name:", 5);
    as_input_close(input);
}

static void says_what_is_missing(void **state) {
    (void)state;
    as_input *input = NULL;
    assay_error error;
    const char *path = temporary_path("missing");
    assert_int_equal(as_input_open(path, NULL, &input, &error), ASSAY_E_IO);
    assert_null(input);
    assert_string_equal(error.message, "cannot open: No such file or directory");
    assert_string_equal(error.path, path);
}

static void says_what_is_forbidden(void **state) {
    (void)state;
    as_input *input = NULL;
    assay_error error;
    const char *path = write_temporary("forbidden", "x", 1);
    chmod(path, 0);
    if (access(path, R_OK) == 0) skip(); /* root may read everything */
    assert_int_equal(as_input_open(path, NULL, &input, &error), ASSAY_E_IO);
    assert_non_null(strstr(error.message, "Permission denied"));
}

/* Makes standard input a pipe with that text in it; returns the descriptor to restore it from. */
static int feed_stdin(const char *text, size_t size) {
    int ends[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, size), (int)size);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return before;
}

static void restore_stdin(int before) {
    dup2(before, STDIN_FILENO);
    close(before);
}

static void reads_a_pipe_within_the_budget(void **state) {
    (void)state;
    as_input *input;
    assay_error error;
    as_budget budget = {.limit = 1 << 20}, small = {.limit = 1000};
    int before = feed_stdin("piped", 5);
    assert_int_equal(as_input_open("-", &budget, &input, &error), ASSAY_OK);
    assert_string_equal(input->path, "<stdin>");
    assert_int_equal(input->size, 5);
    assert_memory_equal(input->data, "piped", 5);
    assert_false(input->is_mapped);
    assert_int_equal(budget.used, 5);
    as_input_close(input);
    assert_int_equal(budget.used, 0);
    restore_stdin(before);

    before = feed_stdin("piped", 5);
    assert_int_equal(as_input_open("-", &small, &input, &error), ASSAY_E_NOMEM);
    assert_int_equal(small.used, 0);
    restore_stdin(before);
}

static void a_redirected_file_starts_where_it_stands(void **state) {
    (void)state;
    as_input *input;
    char two[2];
    const char *path = write_temporary("redirected", "abcdef", 6);
    FILE *file = fopen(path, "rb");
    int before = dup(STDIN_FILENO);
    dup2(fileno(file), STDIN_FILENO);
    assert_int_equal(as_input_open("-", NULL, &input, NULL), ASSAY_OK);
    assert_true(input->is_mapped);
    assert_int_equal(input->size, 6);
    as_input_close(input);
    assert_int_equal(read(STDIN_FILENO, two, 2), 2);
    assert_int_equal(as_input_open("-", NULL, &input, NULL), ASSAY_OK);
    assert_int_equal(input->size, 4);
    assert_memory_equal(input->data, "cdef", 4);
    as_input_close(input);
    restore_stdin(before);
    fclose(file);
}

static void stdin_is_no_directory(void **state) {
    (void)state;
    as_input *input = NULL;
    assay_error error;
    FILE *folder = fopen(temporary_folder, "rb");
    int before = dup(STDIN_FILENO);
    dup2(fileno(folder), STDIN_FILENO);
    assert_int_equal(as_input_open("-", NULL, &input, &error), ASSAY_E_IO);
    assert_string_equal(error.message, "cannot read: Is a directory");
    restore_stdin(before);
    fclose(folder);
}

/* Pages of the input that are in this process's memory, in bytes, as /proc counts them for the mapping that begins
 * there. */
static size_t resident(const as_input *input) {
    char line[512], begin[32];
    size_t kilobytes = 0;
    bool found = false;
    snprintf(begin, sizeof begin, "%lx-", (unsigned long)(uintptr_t)input->data);
    FILE *maps = fopen("/proc/self/smaps", "r");
    if (!maps) return SIZE_MAX;
    while (fgets(line, sizeof line, maps)) {
        if (strncmp(line, begin, strlen(begin)) == 0) found = true;
        if (found && sscanf(line, "Rss: %zu kB", &kilobytes) == 1) break;
    }
    fclose(maps);
    return kilobytes * 1024;
}

static void consumed_pages_leave_and_come_back(void **state) {
    (void)state;
    enum { MIB = 1 << 20, SIZE = 32 * MIB };
    char *content = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) content[i] = (char)(i >> 12);
    const char *path = write_temporary("large", content, SIZE);
    as_input *input;
    assert_int_equal(as_input_open(path, NULL, &input, NULL), ASSAY_OK);
    if (resident(input) == SIZE_MAX) skip();
    size_t most = 0;
    for (int pass = 0; pass < 2; pass++) {
        unsigned sum = 0;
        for (size_t i = 0; i < SIZE; i += 4096) {
            sum += (unsigned char)input->data[i];
            as_input_consumed(input, i);
            if (i % (2 * MIB) == 0 && resident(input) > most) most = resident(input);
        }
        assert_int_equal(sum, 32 * 255 * 256 / 2); /* every byte value 32 times */
    }
    assert_true(most > 0 && most <= 8 * MIB);
    as_input_consumed(input, SIZE);
    as_input_consumed(input, SIZE_MAX); /* no crash */
    assert_memory_equal(input->data, content, SIZE);
    as_input_close(input);
    free(content);
}

static const char *touched;

static void fill(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    touched = as_mapped_path_at(info->si_addr);
    if (!as_mapped_fill(info->si_addr)) _exit(1);
}

static void bytes_that_are_gone_become_zeros(void **state) {
    (void)state;
    enum { PAGES = 5 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page + 100;
    char *content = malloc(size);
    memset(content, 'x', size);
    as_budget whole = {0}, part = {.parent = &whole}, other = {0};
    as_input *input, *beside;
    assay_error error;
    struct sigaction before, action = {.sa_sigaction = fill, .sa_flags = SA_SIGINFO};
    const char *path = write_temporary("shrinks", content, size);
    assert_int_equal(as_input_open(path, &part, &input, &error), ASSAY_OK);
    assert_int_equal(as_input_open(write_temporary("stays", content, size), &other, &beside, &error), ASSAY_OK);
    free(content);
    assert_false(as_mapped_has_changed(&whole, &error));
    assert_null(as_mapped_path_at(&whole));
    assert_false(as_mapped_fill(&whole));
    assert_int_equal(truncate(path, (off_t)page), 0);
    sigaction(SIGBUS, &action, &before);
    assert_int_equal(input->data[page - 1], 'x');
    assert_null(touched);
    assert_int_equal(input->data[2 * page], '\0');
    assert_string_equal(touched, path);
    touched = NULL;
    assert_int_equal(input->data[size - 1], '\0'); /* what follows, too */
    assert_null(touched);
    sigaction(SIGBUS, &before, NULL);
    assert_int_equal(beside->data[size - 1], 'x');
    unlink(path); /* what is gone stays gone */
    assert_true(as_mapped_has_changed(&whole, &error));
    assert_string_equal(error.path, path);
    assert_true(as_mapped_has_changed(&part, &error));
    assert_false(as_mapped_has_changed(&other, &error));
    as_input_close(input);
    assert_false(as_mapped_has_changed(&whole, &error));
    as_input_close(beside);
}

static void a_file_that_is_written_over_has_changed(void **state) {
    (void)state;
    as_budget budget = {0};
    as_input *input;
    assay_error error;
    const char *path = write_temporary("over", "before", 6);
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(as_input_open(path, &budget, &input, &error), ASSAY_OK);
    assert_false(as_mapped_has_changed(&budget, &error));
    times[1].tv_nsec = 1;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(as_mapped_has_changed(&budget, &error));
    unlink(path);
    assert_false(as_mapped_has_changed(&budget, &error)); /* nobody can write to it any more under this name */
    write_temporary("over", "another", 7);
    assert_false(as_mapped_has_changed(&budget, &error));
    assert_memory_equal(input->data, "before", 6);
    as_input_close(input);
}

static void many_are_open_at_once(void **state) {
    (void)state;
    enum { MANY = 300 };
    as_input *inputs[MANY];
    as_budget budget = {0};
    const char *path = write_temporary("many", "bytes", 5);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) assert_int_equal(as_input_open(path, &budget, &inputs[i], NULL), ASSAY_OK);
        for (int i = 0; i < MANY; i++) assert_ptr_equal(as_mapped_path_at(inputs[i]->data), inputs[i]->path);
        for (int i = 0; i < MANY; i++) as_input_close(inputs[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_a_file),
        cmocka_unit_test(an_empty_file_has_data),
        cmocka_unit_test(a_directory),
        cmocka_unit_test(a_file_that_says_it_is_empty),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(says_what_is_forbidden),
        cmocka_unit_test(reads_a_pipe_within_the_budget),
        cmocka_unit_test(a_redirected_file_starts_where_it_stands),
        cmocka_unit_test(stdin_is_no_directory),
        cmocka_unit_test(consumed_pages_leave_and_come_back),
        cmocka_unit_test(bytes_that_are_gone_become_zeros),
        cmocka_unit_test(a_file_that_is_written_over_has_changed),
        cmocka_unit_test(many_are_open_at_once),
    };
    return cmocka_run_group_tests(tests, make_temporary_folder, remove_temporary_folder);
}
