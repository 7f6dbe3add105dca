#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "io/directory.h"
#include "temporary.h"

static int remove_all(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", temporary_folder);
    return system(command);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void entries_are_sorted(void **state) {
    (void)state;
    write_temporary("b", "", 0);
    write_temporary("a10", "x", 1);
    write_temporary("a2", "", 0);
    write_temporary(".hidden", "", 0);
    assert_int_equal(mkdir(temporary_path("B"), 0777), 0);
    assert_int_equal(mkfifo(temporary_path("pipe"), 0600), 0);
    assert_int_equal(symlink("b", temporary_path("link")), 0);
    assert_int_equal(symlink("B", temporary_path("z")), 0);
    assert_int_equal(symlink("nothing", temporary_path("nowhere")), 0);
    as_directory found;
    as_budget budget = {.limit = 0};
    assert_int_equal(as_directory_list(temporary_folder, &budget, &found, NULL), ASSAY_OK);
    static const char *const names[] = {"B", "a10", "a2", "b", "link", "nowhere", "z"};
    assert_int_equal(found.n_entries, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(found.entries[i].name, names[i]);
        assert_true(found.entries[i].is_directory == (i == 0 || i == 6));
    }
    as_directory_free(&found);
    assert_int_equal(budget.used, 0);
}

static void listing_can_fail(void **state) {
    (void)state;
    as_directory found;
    assay_error error = {0};
    assert_int_equal(as_directory_list(temporary_path("none"), NULL, &found, &error), ASSAY_E_IO);
    assert_string_equal(error.path, temporary_path("none"));
    as_directory_free(&found);
    write_temporary("file", "", 0);
    assert_int_equal(as_directory_list(temporary_path("file"), NULL, &found, &error), ASSAY_E_IO);
    as_directory_free(&found);
    as_budget budget = {.limit = 100};
    assert_int_equal(as_directory_list(temporary_folder, &budget, &found, &error), ASSAY_E_NOMEM);
    as_directory_free(&found);
    assert_int_equal(budget.used, 0);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static as_output_directory *open_directory(const char *path) {
    as_output_directory *directory = NULL;
    assay_error error;
    if (as_output_directory_open(path, &directory, &error) != ASSAY_OK) fail_msg("%s", error.message);
    return directory;
}

static void add_file(as_output_directory *directory, const char *name, const char *text) {
    as_output *out = NULL;
    assert_int_equal(as_output_directory_file(directory, name, &out, NULL), ASSAY_OK);
    as_output_text(out, text);
    assert_int_equal(as_output_commit(out, NULL), ASSAY_OK);
}

static void it_appears_on_commit(void **state) {
    (void)state;
    const char *path = temporary_path("new");
    as_output_directory *directory = open_directory(path);
    add_file(directory, "top", "1");
    add_file(directory, "sub/one", "2");
    add_file(directory, "sub/two", "3");
    add_file(directory, "sub/deeper/three", "4");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(as_output_directory_commit(directory, NULL), ASSAY_OK);
    assert_true(file_is(temporary_path("new/top"), "1"));
    assert_true(file_is(temporary_path("new/sub/one"), "2"));
    assert_true(file_is(temporary_path("new/sub/two"), "3"));
    assert_true(file_is(temporary_path("new/sub/deeper/three"), "4"));
    assert_int_equal(for_each_temporary(NULL), 1);
}

static void count(void *user) { ++*(int *)user; }

static void the_beginning_is_told_once(void **state) {
    (void)state;
    int told = 0;
    as_output_directory *directory = open_directory(temporary_path("new"));
    as_output_directory_on_begin(directory, count, &told);
    assert_int_equal(told, 0);
    add_file(directory, "top", "1");
    assert_int_equal(told, 1);
    add_file(directory, "bottom", "2");
    assert_int_equal(as_output_directory_commit(directory, NULL), ASSAY_OK);
    assert_int_equal(told, 1);
    directory = open_directory(temporary_path("given up"));
    as_output_directory_on_begin(directory, count, &told);
    as_output_directory_discard(directory);
    assert_int_equal(told, 1);
}

static void discarding_leaves_no_trace(void **state) {
    (void)state;
    as_output_directory *directory = open_directory(temporary_path("new/"));
    char name[32];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "sub%d/file", i);
        add_file(directory, name, "text");
    }
    as_output_directory_discard(directory);
    as_output_directory_discard(NULL);
    assert_int_equal(for_each_temporary(NULL), 0);
}

static void as_deep_as_can_be(void **state) {
    (void)state;
    as_output_directory *directory = open_directory(temporary_path("new"));
    char name[3 * AS_MAX_FOLDERS] = "";
    for (int i = 0; i < AS_MAX_FOLDERS; i++) strcat(name, "d/");
    strcat(name, "f");
    add_file(directory, name, "text");
    memmove(name + 2, name, strlen(name) + 1);
    as_output *out = NULL;
    assay_error error = {0};
    assert_int_equal(as_output_directory_file(directory, name, &out, &error), ASSAY_E_IO);
    assert_null(out);
    as_output_directory_discard(directory);
    assert_int_equal(for_each_temporary(NULL), 0);
}

static void an_empty_directory_is_replaced(void **state) {
    (void)state;
    assert_int_equal(mkdir(temporary_path("empty"), 0750), 0);
    assert_int_equal(symlink("empty", temporary_path("link")), 0);
    as_output_directory *directory = open_directory(temporary_path("link/"));
    add_file(directory, "file", "1");
    assert_int_equal(as_output_directory_commit(directory, NULL), ASSAY_OK);
    assert_true(file_is(temporary_path("empty/file"), "1"));
    struct stat status;
    assert_int_equal(stat(temporary_path("empty"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
    assert_int_equal(lstat(temporary_path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void assert_open_fails(const char *path, const char *words) {
    as_output_directory *directory = NULL;
    assay_error error = {0};
    assert_int_equal(as_output_directory_open(path, &directory, &error), ASSAY_E_IO);
    assert_string_equal(error.path, path);
    assert_non_null(strstr(error.message, words));
}

static void what_is_there_stays(void **state) {
    (void)state;
    write_temporary("file", "old", 3);
    assert_int_equal(mkdir(temporary_path("full"), 0777), 0);
    write_temporary("full/.old", "old", 3);
    assert_open_fails(temporary_path("file"), "is a file");
    assert_open_fails(temporary_path("full"), "not empty");
    assert_open_fails(temporary_path("none/new"), "No such file");
    assert_open_fails(".", "current directory");
    assert_true(file_is(temporary_path("file"), "old"));
    assert_true(file_is(temporary_path("full/.old"), "old"));
    assert_int_equal(for_each_temporary(NULL), 2);
}

static void somebody_else_was_faster(void **state) {
    (void)state;
    as_output_directory *directory = open_directory(temporary_path("new"));
    add_file(directory, "file", "1");
    assert_int_equal(mkdir(temporary_path("new"), 0777), 0);
    write_temporary("new/theirs", "2", 1);
    assay_error error = {0};
    assert_int_equal(as_output_directory_commit(directory, &error), ASSAY_E_IO);
    assert_non_null(strstr(error.message, "not empty"));
    assert_true(file_is(temporary_path("new/theirs"), "2"));
    assert_int_equal(for_each_temporary(NULL), 1);
}

static void names_that_lead_out(void **state) {
    (void)state;
    as_output_directory *directory = open_directory(temporary_path("new"));
    as_output *out = NULL;
    assay_error error = {0};
    assert_int_equal(as_output_directory_file(directory, "../out", &out, &error), ASSAY_E_IO);
    assert_int_equal(as_output_directory_file(directory, "/tmp/out", &out, &error), ASSAY_E_IO);
    assert_string_equal(error.path, temporary_path("new"));
    char name[300];
    memset(name, 'n', sizeof name);
    name[299] = '\0';
    assert_int_equal(as_output_directory_file(directory, name, &out, &error), ASSAY_E_IO);
    char shown[600];
    snprintf(shown, sizeof shown, "%s/%s", temporary_path("new"), name);
    assert_true(strncmp(error.path, shown, 100) == 0); /* not the temporary name */
    as_output_directory_discard(directory);
    assert_int_equal(for_each_temporary(NULL), 0);
}

/* A signal comes at the worst moment: the directory is there, and nobody knows yet. */
static bool has_bad_luck;
int mkdir(const char *path, mode_t mode) {
    int status = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (has_bad_luck) raise(SIGINT);
    return status;
}

static void on_signal(int number) {
    as_output_abandon_all();
    _exit(100 + number);
}

static void a_signal_clears_up(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGINT, on_signal);
        as_output_directory *directory = NULL;
        as_output *out = NULL;
        if (as_output_directory_open(temporary_path("new"), &directory, NULL) != ASSAY_OK) _exit(1);
        add_file(directory, "sub/one", "1");
        add_file(directory, "other/two", "2");
        if (as_output_directory_file(directory, "sub/open", &out, NULL) != ASSAY_OK) _exit(2);
        as_output_text(out, "not done");
        as_output_flush(out);
        raise(SIGINT);
        _exit(3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 100 + SIGINT);
    assert_int_equal(for_each_temporary(NULL), 0);
}

static void a_signal_clears_up_what_is_just_made(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        as_output_directory *directory = NULL;
        signal(SIGINT, on_signal);
        has_bad_luck = true;
        as_output_directory_open(temporary_path("new"), &directory, NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 100 + SIGINT);
    assert_int_equal(for_each_temporary(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_sorted, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(listing_can_fail, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(it_appears_on_commit, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(the_beginning_is_told_once, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(discarding_leaves_no_trace, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(as_deep_as_can_be, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(an_empty_directory_is_replaced, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(what_is_there_stays, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(somebody_else_was_faster, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(names_that_lead_out, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(a_signal_clears_up, make_temporary_folder, remove_all),
        cmocka_unit_test_setup_teardown(a_signal_clears_up_what_is_just_made, make_temporary_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
