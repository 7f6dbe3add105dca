/* The command, for test_failing_memory.py, run once for each allocation it makes, in a process of its own in which that
 * one fails; linked so that malloc and the like come here first. In the folder FAIL_FOLDER the n-th run leaves: the
 * folder n, its current one (in which is the file FAIL_OLD, if this is set, that says "old"); what it printed, n.out
 * and n.err; and a line "n STATUS" in the file log. In the last run, n = 0, nothing fails. FAIL_STEP: takes only each
 * so-many-th. FAIL_ALL: all allocations behind the n-th fail, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static bool all_fail;
static long failing = -1; /* -1: nothing is counted */
static long *made;        /* atomic, shared with the process that looks after this one */

/* Counts an allocation; whether it is to fail. */
static bool is_to_fail(void) {
    if (failing < 0) return false;
    long n = __atomic_add_fetch(made, 1, __ATOMIC_RELAXED);
    if (!failing || n < failing || (n > failing && !all_fail)) return false;
    errno = ENOMEM;
    return true;
}

/* The linker's --wrap gives __wrap_NAME for NAME, and NAME for __real_NAME. */
void *__real_malloc(size_t size), *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size), *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *data, size_t size), *__wrap_realloc(void *data, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size), *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text), *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t size), *__wrap_strndup(const char *text, size_t size);

void *__wrap_malloc(size_t size) { return is_to_fail() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_to_fail() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *data, size_t size) { return is_to_fail() ? NULL : __real_realloc(data, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return is_to_fail() ? NULL : __real_aligned_alloc(alignment, size);
}
char *__wrap_strdup(const char *text) { return is_to_fail() ? NULL : __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t size) { return is_to_fail() ? NULL : __real_strndup(text, size); }

enum { BROKEN = 90 }; /* the test itself */

static bool redirect(int fd, long n, const char *ending) {
    char name[64];
    snprintf(name, sizeof name, "../%ld.%s", n, ending);
    int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    return file >= 0 && dup2(file, fd) == fd && close(file) == 0;
}

static bool make_old(const char *name) {
    int file = open(name, O_CREAT | O_WRONLY, 0666);
    return file >= 0 && write(file, "old\n", 4) == 4 && close(file) == 0;
}

static int run_once(int argc, char **argv, const char *folder, long n) {
    char name[4096];
    const char *old = getenv("FAIL_OLD");
    snprintf(name, sizeof name, "%s/%ld", folder, n);
    if (mkdir(name, 0777) != 0 || chdir(name) != 0 || (old && !make_old(old))) return BROKEN;
    if (!redirect(STDOUT_FILENO, n, "out") || !redirect(STDERR_FILENO, n, "err")) return BROKEN;
    failing = n;
    int status = (int)as_command_run(argc, argv, NULL);
    failing = -1;
    return status;
}

int main(int argc, char **argv) {
    const char *folder = getenv("FAIL_FOLDER"), *step = getenv("FAIL_STEP");
    char name[4096];
    if (!folder) return BROKEN;
    all_fail = getenv("FAIL_ALL") != NULL;
    snprintf(name, sizeof name, "%s/log", folder);
    int log = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
    made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (log < 0 || made == MAP_FAILED) return BROKEN;
    for (long n = 1, by = step ? atol(step) : 1; n >= 0;) {
        *made = 0;
        pid_t child = fork();
        if (child == 0) exit(run_once(argc, argv, folder, n));
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child) return BROKEN;
        dprintf(log, "%ld %d\n", n, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
        n = n == 0 ? -1 : *made < n ? 0 : n + by;
    }
    return 0;
}
