/* The file. No record crosses one of its pages, and every write(2) goes on where the last one ended: the kernel copies
 * page by page, so that a write which a kill cuts short ends between two records. The rest of a page is a record of
 * spaces, which readers skip. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 64 * AS_CAPTURE_PAGE };
static const char signature[] = "# AFPerf v1     ";

/* ---- which file -------------------------------------------------------------------------------------------------- */

/* When this process began, in the kernel's ticks: it stays over exec(), and tells apart processes that have the same id
 * one after the other. */
static unsigned long long process_start(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return 0;
    text[n] = '\0';
    const char *s = strrchr(text, ')'); /* the name of the program may hold anything */
    for (int field = 2; s && field < 22; field++) s = strchr(s + 1, ' ');
    return s ? strtoull(s, NULL, 10) : 0;
}

static void first_comment(char *out, size_t size) {
    snprintf(out, size, "# captured by process %ld of %llu\n", (long)getpid(), process_start());
}

/* Replaces %p. The name with the process id behind it where own is set and no %p is in it; with a number as well from
 * the second try on. */
static bool name_make(char *out, size_t size, const char *pattern, bool own, int attempt) {
    size_t n = 0;
    bool has_id = false;
    for (const char *s = pattern; *s && n < size; s++) {
        if (s[0] == '%' && s[1] == 'p') {
            n += (size_t)snprintf(out + n, size - n, "%ld", (long)getpid());
            has_id = true;
            s++;
        } else {
            out[n++] = *s;
        }
    }
    if (n < size && own && !has_id) n += (size_t)snprintf(out + n, size - n, ".%ld", (long)getpid());
    if (n < size && attempt > 1) n += (size_t)snprintf(out + n, size - n, ".%d", attempt);
    if (n >= size) return false;
    out[n] = '\0';
    return true;
}

enum { TAKEN, MINE, REFUSED };

/* Whether what is there may be replaced. An AFPerf file of this very process, before exec(), may not. */
static int content_check(int fd, const char *path) {
    char comment[128], start[sizeof signature + sizeof comment];
    first_comment(comment, sizeof comment);
    ssize_t n = pread(fd, start, sizeof start - 1, 0);
    if (n < 0 || (n > 0 && ((size_t)n < sizeof signature - 1 || memcmp(start, signature, sizeof signature - 1) != 0))) {
        as_capture_say("%s exists and is no capture; nothing is captured", path);
        return REFUSED;
    }
    if (n == 0) return MINE;
    start[n] = '\0';
    return (size_t)n > sizeof signature && strncmp(start + sizeof signature, comment, strlen(comment)) == 0 ? TAKEN
                                                                                                            : MINE;
}

/* Others that capture hold a shared lock: they are there if there is no exclusive one to be had. */
static int file_take(as_capture_output *output) {
    struct stat status;
    int fd = open(output->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd >= 0) fd = as_capture_descriptor_move(fd);
    if (fd < 0 || fstat(fd, &status) != 0) {
        as_capture_say("%s: %s; nothing is captured", output->path, strerror(errno));
        if (fd >= 0) close(fd);
        return REFUSED;
    }
    output->fd = fd;
    as_capture_descriptor_file(fd, &output->file);
    output->regular = S_ISREG(status.st_mode);
    if (S_ISCHR(status.st_mode)) return MINE;
    int answer = REFUSED;
    if (!output->regular)
        as_capture_say("%s is no file; nothing is captured", output->path);
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        answer = TAKEN;
    else
        answer = content_check(fd, output->path);
    /* a file system without locks has to do without */
    if (answer == MINE && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) answer = TAKEN;
    /* not if there is nothing to cut off: of a file that was truncated, some file systems write everything to the disk
     * when it is closed */
    if (answer == MINE && (fstat(fd, &status) != 0 || status.st_size) && ftruncate(fd, 0) != 0) {
        as_capture_say("%s: %s; nothing is captured", output->path, strerror(errno));
        answer = REFUSED;
    }
    if (answer != MINE) as_capture_output_close(output);
    return answer;
}

/* What every file begins with: it is valid from then on. */
static void beginning_write(as_capture_output *output) {
    char comment[128], *at = as_capture_output_begin(output, sizeof signature + sizeof comment);
    first_comment(comment, sizeof comment);
    memcpy(at, signature, sizeof signature - 1);
    at[sizeof signature - 1] = '\n';
    memcpy(at + sizeof signature, comment, strlen(comment));
    as_capture_output_end(output, at + sizeof signature + strlen(comment));
    as_capture_signals signals;
    as_capture_signals_hold(&signals);
    as_capture_output_write(output);
    as_capture_signals_release(&signals);
    if (output->failed) as_capture_output_close(output);
}

bool as_capture_output_open(as_capture_output *output, const char *pattern, bool own) {
    char *buffer = output->buffer;
    if (!buffer) {
        buffer = as_capture_map(BUFFER_SIZE + 2 * AS_CAPTURE_BLOCK);
        if (!buffer) {
            as_capture_say("no memory; nothing is captured");
            return false;
        }
    }
    memset(output, 0, sizeof *output);
    output->buffer = buffer;
    output->page_end = AS_CAPTURE_PAGE;
    output->fd = -1;
    int answer = TAKEN;
    for (int attempt = own; answer == TAKEN && attempt < 100; attempt++) {
        if (!name_make(output->path, sizeof output->path, pattern, own || attempt > 0, attempt)) {
            as_capture_say("the name of the file is too long; nothing is captured");
            return false;
        }
        answer = file_take(output);
    }
    if (answer == TAKEN) as_capture_say("%s and 99 others are in use; nothing is captured", output->path);
    if (answer != MINE) return false;
    beginning_write(output);
    return !output->failed;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

void as_capture_output_turn(as_capture_output *output) {
    size_t left = output->page_end - output->used;
    if (left) {
        memset(output->buffer + output->used, ' ', left - 1);
        output->buffer[output->page_end - 1] = '\n';
        output->used = output->page_end;
    }
    /* kernels are fastest with writes that are aligned */
    if ((output->base + (off_t)output->used) % BUFFER_SIZE == 0)
        as_capture_output_write(output);
    else
        output->page_end += AS_CAPTURE_PAGE;
}

off_t as_capture_output_place(as_capture_output *output, size_t size) {
    const char *at = as_capture_output_begin(output, size);
    return output->base + (at - output->buffer);
}

/* The end of the last whole record in the first n bytes of the buffer: a line end within quotes is none. */
static size_t whole_records(const as_capture_output *output, size_t n) {
    size_t end = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (output->buffer[i] == '"') quoted = !quoted;
        if (output->buffer[i] == '\n' && !quoted) end = i + 1;
    }
    return end;
}

static void write_failed(as_capture_output *output, int error) {
    output->failed = true;
    if (output->regular && as_capture_descriptor_is(output->fd, &output->file) &&
        ftruncate(output->fd, output->base + (off_t)whole_records(output, output->written)) != 0)
        as_capture_say("%s: its last record may be cut", output->path);
    as_capture_say("%s: %s; the capture ends here, the program goes on", output->path, strerror(error));
}

/* The program closed the descriptor: the file is opened again, if it is the same and nobody has written to it. */
static bool reopen(as_capture_output *output) {
    off_t size = output->base + (off_t)output->written;
    as_capture_file found;
    int fd = open(output->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) fd = as_capture_descriptor_move(fd);
    output->fd = fd;
    if (as_capture_descriptor_is(fd, &output->file) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        flock(fd, LOCK_SH | LOCK_NB) == 0 && as_capture_descriptor_file(fd, &found) && found.size == size &&
        lseek(fd, size, SEEK_SET) == size)
        return true;
    if (fd >= 0) close(fd);
    output->fd = -1;
    return false;
}

/* Before anything is written: is it our file, and as we left it? What others cut off it would become a hole. */
static void file_check(as_capture_output *output) {
    as_capture_file found;
    const char *trouble = NULL;
    if (!output->regular && !as_capture_descriptor_is(output->fd, &output->file))
        trouble = "was closed by the program";
    else if (output->regular && !as_capture_descriptor_is(output->fd, &output->file) && !reopen(output))
        trouble = "was closed by the program, and cannot be opened again";
    else if (output->regular && as_capture_descriptor_file(output->fd, &found) &&
             found.size < output->base + (off_t)output->written)
        trouble = "was cut by somebody else";
    if (!trouble) return;
    output->failed = true;
    as_capture_say("%s %s; the capture ends here, the program goes on", output->path, trouble);
}

void as_capture_output_write(as_capture_output *output) {
    if (!output->failed && output->written < output->used) file_check(output);
    while (!output->failed && output->written < output->used) {
        ssize_t n = write(output->fd, output->buffer + output->written, output->used - output->written);
        if (n > 0)
            output->written += (size_t)n;
        else if (n == 0 || errno != EINTR)
            write_failed(output, n == 0 ? ENOSPC : errno);
    }
    /* the page that is not full yet moves to the front */
    size_t full = output->used - output->used % AS_CAPTURE_PAGE;
    if (full) memmove(output->buffer, output->buffer + full, output->used - full);
    output->base += (off_t)full;
    output->used -= full;
    output->page_end = AS_CAPTURE_PAGE;
    output->written = output->used;
}

void as_capture_output_replace(as_capture_output *output, off_t offset, const char *text, size_t size) {
    as_capture_output_write(output);
    if (output->failed || !output->regular || !as_capture_descriptor_is(output->fd, &output->file)) return;
    ssize_t n = pwrite(output->fd, text, size, offset);
    (void)n; /* the record that was there is as good but for the new tag */
}

void as_capture_output_close(as_capture_output *output) {
    if (as_capture_descriptor_is(output->fd, &output->file)) close(output->fd);
    output->fd = -1;
}
