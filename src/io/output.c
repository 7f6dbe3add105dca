#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/beside.h"
#include "io/directory.h"
#include "io/output_private.h"

enum { BUFFER_SIZE = 1 << 17, MAX_TEMPORARIES = 64 };

struct as_output {
    char *name;      /* for messages */
    char *final;     /* the place of a file written beside it; else NULL */
    char *temporary; /* points into `temporaries` */
    int fd;          /* -1: memory or sink */
    bool owns_fd;
    bool is_ascii;
    as_output_sink *sink; /* or NULL */
    void *sink_user;
    int failure; /* errno of the first failure */
    char *buffer;
    size_t used, capacity;
    uint64_t handed_over; /* bytes that have left the buffer */
    as_beginning beginning;
};

/* ---- the temporary files of all open outputs --------------------------------------------------------------------- */

enum { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };

/* Fixed memory, so that a signal handler can walk it whatever the threads are doing. */
static struct {
    atomic_int state;
    char path[PATH_MAX];
} temporaries[MAX_TEMPORARIES];

char *as_temporary_register(const char *path) {
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &expected, SLOT_TAKEN)) continue;
        memcpy(temporaries[i].path, path, strlen(path) + 1);
        atomic_store(&temporaries[i].state, SLOT_LIVE);
        return temporaries[i].path;
    }
    return NULL;
}

void as_temporary_unregister(const char *path) {
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        if (temporaries[i].path == path) atomic_store(&temporaries[i].state, SLOT_FREE);
    }
}

void as_output_abandon_all(void) {
    int errno_before = errno;
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        if (atomic_load(&temporaries[i].state) == SLOT_LIVE) unlink(temporaries[i].path);
    }
    as_output_directory_abandon_all();
    errno = errno_before;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void free_output(as_output *out) {
    free(out->name);
    free(out->final);
    free(out->buffer);
    free(out);
}

static as_output *new_output(int fd, bool owns_fd, const char *name) {
    as_output *out = calloc(1, sizeof *out);
    if (!out) return NULL;
    *out = (as_output){.fd = fd, .owns_fd = owns_fd, .name = strdup(name), .capacity = fd < 0 ? 0 : BUFFER_SIZE};
    if (fd >= 0) out->buffer = malloc(BUFFER_SIZE);
    if (out->name && (fd < 0 || out->buffer)) return out;
    free_output(out);
    return NULL;
}

as_output *as_output_to_memory(void) { return new_output(-1, false, "<memory>"); }

as_output *as_output_to_sink(as_output_sink *sink, void *user) {
    as_output *out = new_output(-1, false, "<sink>");
    if (!out) return NULL;
    out->sink = sink;
    out->sink_user = user;
    out->buffer = malloc(BUFFER_SIZE);
    out->capacity = BUFFER_SIZE;
    if (out->buffer) return out;
    free_output(out);
    return NULL;
}

as_output *as_output_to_fd(int fd, const char *name) { return new_output(fd, false, name); }

/* The open descriptor a path stands for, or -1: opening /dev/stdout anew would not append where the shell said >>. */
static int descriptor_of(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    int fd = -1, end = 0;
    return sscanf(path, "/dev/fd/%9d%n", &fd, &end) == 1 && fd >= 0 && !path[end] ? fd : -1;
}

/* Creates the file beside out->final; existing: what is there now, or NULL. errno on false. */
static bool create_temporary(as_output *out, const struct stat *existing) {
    char path[PATH_MAX];
    for (int attempt = 0; attempt < AS_BESIDE_ATTEMPTS; attempt++) {
        if (!as_beside(out->final, path)) return false;
        out->temporary = as_temporary_register(path); /* before it exists: a signal must find it at any moment */
        if (!out->temporary) return errno = EMFILE, false;
        out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, existing ? 0600 : 0666);
        if (out->fd >= 0) break;
        as_temporary_unregister(out->temporary);
        out->temporary = NULL;
        if (errno != EEXIST) return false;
    }
    if (out->fd < 0) return false;
    out->owns_fd = true;
    if (!existing) return true;
    if (fchown(out->fd, existing->st_uid, existing->st_gid) != 0) { /* only root may give files away: then it is ours */
        errno = 0;
    }
    return fchmod(out->fd, existing->st_mode & 0777) == 0;
}

static assay_status open_beside(const char *path, const char *shown, const struct stat *existing, as_output **out,
                                assay_error *error) {
    char place[PATH_MAX];
    if (existing && access(path, W_OK) != 0) return as_fail_errno(error, shown, "cannot write", errno);
    if (!as_real_place(path, place)) return as_fail_errno(error, shown, "cannot write", errno);
    as_output *result = new_output(-1, false, shown);
    if (result) {
        result->buffer = malloc(BUFFER_SIZE);
        result->capacity = BUFFER_SIZE;
        result->final = strdup(place);
    }
    if (!result || !result->buffer || !result->final) {
        as_output_discard(result);
        return as_fail_memory(error, shown);
    }
    if (!create_temporary(result, existing)) {
        int reason = errno;
        as_output_discard(result);
        return as_fail_errno(error, shown, "cannot create a file in its folder", reason);
    }
    *out = result;
    return ASSAY_OK;
}

assay_status as_output_open_shown(const char *path, const char *shown, as_output **out, assay_error *error) {
    int fd = descriptor_of(path);
    bool owns_fd = false;
    if (fd < 0) {
        struct stat status;
        bool exists = stat(path, &status) == 0;
        if (!exists && errno != ENOENT) return as_fail_errno(error, shown, "cannot write", errno);
        if (exists && S_ISDIR(status.st_mode)) return as_fail_errno(error, shown, "cannot write", EISDIR);
        if (!exists || S_ISREG(status.st_mode)) return open_beside(path, shown, exists ? &status : NULL, out, error);
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0) return as_fail_errno(error, shown, "cannot open for writing", errno);
        owns_fd = true;
    }
    *out = new_output(fd, owns_fd, strcmp(path, "-") == 0 ? "<stdout>" : shown);
    if (*out) return ASSAY_OK;
    if (owns_fd) close(fd);
    return as_fail_memory(error, shown);
}

assay_status as_output_open(const char *path, as_output **out, assay_error *error) {
    return as_output_open_shown(path, path, out, error);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static bool is_memory(const as_output *out) { return out->fd < 0 && !out->sink; }

void as_output_on_begin(as_output *out, as_output_begins *begins, void *user) {
    out->beginning = (as_beginning){begins, user};
}

static void write_out(as_output *out, const char *data, size_t size) {
    as_begin(&out->beginning);
    out->handed_over += size;
    if (out->sink) {
        if (!out->failure && !out->sink(out->sink_user, data, size)) out->failure = ENOMEM;
        return;
    }
    while (size && !out->failure) {
        ssize_t n = write(out->fd, data, size);
        if (n >= 0) {
            data += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) { /* a terminal or pipe somebody made non-blocking */
            poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR)
            out->failure = errno;
    }
}

bool as_output_flush(as_output *out) {
    if (!is_memory(out) && out->used) {
        write_out(out, out->buffer, out->used);
        out->used = 0;
    }
    return !out->failure;
}

/* Room for size more bytes and a NUL behind them. */
static bool grow_memory(as_output *out, size_t size) {
    size_t needed;
    if (out->failure) return false;
    if (as_add_size(out->used, size, &needed) && as_add_size(needed, 1, &needed)) {
        if (needed <= out->capacity) return true;
        size_t capacity = out->capacity + out->capacity / 2 + 256;
        if (capacity < needed) capacity = needed;
        char *buffer = realloc(out->buffer, capacity);
        if (buffer) {
            out->buffer = buffer;
            out->capacity = capacity;
            return true;
        }
    }
    out->failure = ENOMEM;
    return false;
}

void as_output_write(as_output *out, const void *data, size_t size) {
    if (size == 0) return;
    if (size >= out->capacity - out->used) {
        if (is_memory(out)) {
            if (!grow_memory(out, size)) return;
        } else {
            as_output_flush(out);
            if (size >= out->capacity) {
                write_out(out, data, size);
                return;
            }
        }
    }
    memcpy(out->buffer + out->used, data, size);
    out->used += size;
}

void as_output_text(as_output *out, const char *text) { as_output_write(out, text, strlen(text)); }
void as_output_char(as_output *out, char c) { as_output_write(out, &c, 1); }

void as_output_quoted(as_output *out, const char *text, size_t size) {
    as_output_char(out, '"');
    for (const char *end = text + size; text < end;) {
        const char *quote = memchr(text, '"', (size_t)(end - text));
        const char *stop = quote ? quote + 1 : end;
        as_output_write(out, text, (size_t)(stop - text));
        if (quote) as_output_char(out, '"');
        text = stop;
    }
    as_output_char(out, '"');
}

void as_output_printf(as_output *out, const char *format, ...) {
    char text[512], *longer = NULL;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text) {
        va_start(args, format);
        n = vasprintf(&longer, format, args);
        va_end(args);
    }
    if (n >= 0)
        as_output_write(out, longer ? longer : text, (size_t)n);
    else if (!out->failure)
        out->failure = ENOMEM;
    if (n >= 0) free(longer);
}

void as_output_real(as_output *out, double value) {
    char text[AS_NUMBER_SIZE];
    as_output_write(out, text, as_real_format(value, text));
}

void as_output_int(as_output *out, int64_t value) {
    char text[AS_NUMBER_SIZE];
    as_output_write(out, text, as_int_format(value, text));
}

void as_output_number(as_output *out, as_number number) {
    char text[AS_NUMBER_SIZE];
    as_output_write(out, text, as_number_format(number, text));
}

/* What has left the buffer, in the file; the rest in the buffer. */
void as_output_patch(as_output *out, uint64_t offset, const void *data, size_t size) {
    const char *bytes = data;
    uint64_t end;
    if (out->failure) return;
    if (__builtin_add_overflow(offset, size, &end) || end > as_output_size(out) || (!is_memory(out) && !out->final)) {
        out->failure = ESPIPE;
        return;
    }
    while (size && offset < out->handed_over) {
        uint64_t room = out->handed_over - offset;
        ssize_t n = pwrite(out->fd, bytes, size < room ? size : (size_t)room, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            out->failure = n < 0 ? errno : EIO;
            return;
        }
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    if (size) memcpy(out->buffer + (offset - out->handed_over), bytes, size);
}

void as_output_set_ascii(as_output *out, bool is_ascii) { out->is_ascii = is_ascii; }

bool as_output_is_ascii(const as_output *out) { return out->is_ascii; }

uint64_t as_output_size(const as_output *out) { return out->handed_over + out->used; }

const char *as_output_memory(const as_output *out, size_t *size) {
    *size = out->failure ? 0 : out->used;
    if (out->failure) return NULL;
    if (!out->used) return "";
    out->buffer[out->used] = '\0';
    return out->buffer;
}

void as_output_clear(as_output *out) { out->used = 0; }

const char *as_output_temporary(const as_output *out) { return out->temporary; }

/* ---- ending ------------------------------------------------------------------------------------------------------ */

assay_status as_output_commit(as_output *out, assay_error *error) {
    as_output_flush(out);
    as_begin(&out->beginning);
    const char *doing = "cannot write";
    if (out->owns_fd) {
        if (close(out->fd) != 0 && !out->failure && errno != EINTR) out->failure = errno;
        out->owns_fd = false;
    }
    if (out->final && !out->failure && rename(out->temporary, out->final) != 0) {
        out->failure = errno;
        doing = "cannot put the new file in place";
    }
    assay_status code = ASSAY_OK;
    if (out->failure == ENOMEM)
        code = as_fail_memory(error, out->name);
    else if (out->failure)
        code = as_fail_errno(error, out->name, doing, out->failure);
    else if (out->temporary) {
        as_temporary_unregister(out->temporary);
        out->temporary = NULL;
    }
    as_output_discard(out);
    return code;
}

void as_output_discard(as_output *out) {
    if (!out) return;
    if (out->owns_fd) close(out->fd);
    if (out->temporary) {
        unlink(out->temporary);
        as_temporary_unregister(out->temporary);
    }
    free_output(out);
}
