/* File descriptors and signals belong to the program: the library takes none of its numbers, writes into none of its
 * files, and its writes kill nobody. */
#include "internal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HIGH = 500, LINE_WAIT = 100 /* ms */ };

int as_capture_descriptor_move(int fd) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0) high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return high;
}

bool as_capture_descriptor_file(int fd, as_capture_file *file) {
    struct stat status;
    *file = (as_capture_file){0, 0, 0};
    if (fd < 0 || fstat(fd, &status) != 0) return false;
    *file = (as_capture_file){status.st_dev, status.st_ino, status.st_size};
    return true;
}

bool as_capture_descriptor_is(int fd, const as_capture_file *file) {
    as_capture_file now;
    return as_capture_descriptor_file(fd, &now) && now.device == file->device && now.inode == file->inode;
}

void as_capture_signals_hold(as_capture_signals *signals) {
    sigset_t pending, ours;
    sigemptyset(&ours);
    sigpending(&pending);
    if (!sigismember(&pending, SIGPIPE)) sigaddset(&ours, SIGPIPE);
    if (!sigismember(&pending, SIGXFSZ)) sigaddset(&ours, SIGXFSZ);
    signals->ours = ours;
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &signals->before);
}

void as_capture_signals_release(const as_capture_signals *signals) {
    const struct timespec at_once = {0, 0};
    while (sigtimedwait(&signals->ours, NULL, &at_once) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}

/* ---- what the kernel tells --------------------------------------------------------------------------------------- */

static struct {
    const char *path;
    _Atomic int fd;
    as_capture_file file;
} proc[] = {{"/proc/self/stat", -1, {0, 0, 0}},
            {"/proc/thread-self/statm", -1, {0, 0, 0}},
            {"/proc/thread-self/schedstat", -1, {0, 0, 0}}};

enum { PROC_COUNT = sizeof proc / sizeof proc[0] };

void as_capture_proc_open(void) {
    for (int i = 0; i < PROC_COUNT; i++) {
        int fd = open(proc[i].path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) fd = as_capture_descriptor_move(fd);
        as_capture_descriptor_file(fd, &proc[i].file);
        atomic_store(&proc[i].fd, fd);
    }
}

void as_capture_proc_close(void) {
    for (int i = 0; i < PROC_COUNT; i++) {
        int fd = atomic_exchange(&proc[i].fd, -1);
        if (as_capture_descriptor_is(fd, &proc[i].file)) close(fd);
    }
}

bool as_capture_proc_read(as_capture_proc which, char *text, size_t size) {
    int fd = atomic_load(&proc[which].fd);
    ssize_t n = as_capture_descriptor_is(fd, &proc[which].file) ? pread(fd, text, size - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* ---- standard error ---------------------------------------------------------------------------------------------- */

static as_capture_file standard_error;
static bool has_standard_error;

void as_capture_say_begin(void) { has_standard_error = as_capture_descriptor_file(STDERR_FILENO, &standard_error); }

void as_capture_say(const char *format, ...) {
    char line[1024] = "assay-capture: ";
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    /* what has this number now may be a file of the program; a pipe nobody empties must not hold it up */
    struct pollfd ready = {STDERR_FILENO, POLLOUT, 0};
    if (n < 0 || !has_standard_error || !as_capture_descriptor_is(STDERR_FILENO, &standard_error) ||
        poll(&ready, 1, LINE_WAIT) != 1 || !(ready.revents & POLLOUT))
        return;
    used = (size_t)n < sizeof line - used - 1 ? used + (size_t)n : sizeof line - 2;
    line[used++] = '\n';
    as_capture_signals signals;
    as_capture_signals_hold(&signals);
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
    as_capture_signals_release(&signals);
}
