#include "io/append.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/strings.h"
#include "io/beside.h"
#include "io/output_private.h"

/* How long to wait for a program that writes to the file itself, and for others who add to it, in milliseconds. */
enum { PATIENCE_SHARED = 5000, PATIENCE = 600000, PAUSE = 10 };

struct as_append {
    char *name; /* as it was given */
    char place[PATH_MAX], temporary[PATH_MAX];
    const char *registered; /* the temporary file, where a signal finds it; NULL: it does not exist */
    int lock;               /* of the file; where there is none of its folder */
    int fd;                 /* of the temporary file */
    bool exists, is_locked;
    struct stat status; /* of the file that is locked */
    as_input *input;    /* NULL: there is no file */
    as_output *out;
};

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static void sleep_for(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static assay_status fail_locked(const as_append *append, bool is_shared, assay_error *error) {
    return as_fail(error, ASSAY_E_IO, as_place_file(append->name), "locked",
                   is_shared ? "a running program still writes to it; append when it has ended"
                             : "others have been adding to it for ten minutes; append when they are done");
}

/* Others who add are waited for; who holds the lock together with others does not add, but writes to the file in
 * place. */
static assay_status wait_for_lock(const as_append *append, assay_error *error) {
    long waited = 0, waited_shared = 0;
    while (flock(append->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return as_fail_errno(error, append->name, "cannot lock", errno);
        bool is_shared = flock(append->lock, LOCK_SH | LOCK_NB) == 0;
        if (is_shared) flock(append->lock, LOCK_UN);
        waited_shared = is_shared ? waited_shared + PAUSE : 0;
        waited += PAUSE;
        if (waited_shared > PATIENCE_SHARED || waited > PATIENCE) return fail_locked(append, is_shared, error);
        sleep_for(PAUSE);
    }
    return ASSAY_OK;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Locks the file that has the name when the lock is there; *done: so it is, else try again. */
static assay_status lock_file(as_append *append, bool *done, assay_error *error) {
    struct stat now;
    AS_TRY(wait_for_lock(append, error));
    if (fstat(append->lock, &append->status) != 0) return as_fail_errno(error, append->name, "cannot open", errno);
    append->is_locked = true;
    *done = stat(append->place, &now) == 0 && is_same_file(&now, &append->status);
    return ASSAY_OK;
}

/* The folder, so that two do not make the file at once. *done: there is still no file. A folder that cannot be locked
 * is not: the file is never put over another in any case. */
static assay_status lock_folder(as_append *append, bool *done, assay_error *error) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(append->place, '/') - append->place + 1), append->place);
    append->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (append->lock < 0) return as_fail_errno(error, append->name, "cannot create a file in its folder", errno);
    assay_error unwanted;
    assay_status status = wait_for_lock(append, &unwanted);
    if (status != ASSAY_OK && strcmp(unwanted.rule, "locked") == 0) {
        *error = unwanted;
        return status;
    }
    append->is_locked = status == ASSAY_OK;
    *done = access(append->place, F_OK) != 0;
    return ASSAY_OK;
}

static assay_status lock(as_append *append, assay_error *error) {
    for (bool done = false; !done;) {
        if (append->lock >= 0) close(append->lock);
        append->lock = open(append->place, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        append->exists = append->lock >= 0;
        if (!append->exists && errno != ENOENT) return as_fail_errno(error, append->name, "cannot open", errno);
        if (append->exists && (fstat(append->lock, &append->status) != 0 || !S_ISREG(append->status.st_mode)))
            return as_fail(error, ASSAY_E_IO, as_place_file(append->name), "not-a-file",
                           "is no file that can be added to; name one");
        AS_TRY(append->exists ? lock_file(append, &done, error) : lock_folder(append, &done, error));
    }
    return ASSAY_OK;
}

/* ---- the copy ---------------------------------------------------------------------------------------------------- */

/* For who has the lock always the same name: what a killed one left is found and made anew. */
static bool name_temporary(as_append *append) {
    if (!append->is_locked) return as_beside(append->place, append->temporary);
    const char *base = strrchr(append->place, '/') + 1;
    unsigned hash = (unsigned)(as_hash_everywhere(base, strlen(base)) & 0xffffffffu);
    int room = NAME_MAX - (int)sizeof "..assay-append-12345678";
    int n = snprintf(append->temporary, PATH_MAX, "%.*s.%.*s.assay-append-%08x", (int)(base - append->place),
                     append->place, room, base, hash);
    return n < PATH_MAX || (errno = ENAMETOOLONG, false);
}

static assay_status create_temporary(as_append *append, assay_error *error) {
    if (!name_temporary(append)) return as_fail_errno(error, append->name, "cannot write", errno);
    append->registered = as_temporary_register(append->temporary);
    if (!append->registered) return as_fail_errno(error, append->name, "cannot write", EMFILE);
    if (append->is_locked) unlink(append->temporary);
    append->fd = open(append->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, append->exists ? 0600 : 0666);
    if (append->fd < 0) return as_fail_errno(error, append->name, "cannot create a file in its folder", errno);
    if (!append->exists) return ASSAY_OK;
    if (fchown(append->fd, append->status.st_uid, append->status.st_gid) != 0) { /* only root may give files away */
        errno = 0;
    }
    if (fchmod(append->fd, append->status.st_mode & 0777) == 0) return ASSAY_OK;
    return as_fail_errno(error, append->name, "cannot write", errno);
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) return false;
        if (n < 0) continue;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* By the file system where it can, which may share the blocks; the rest byte by byte. */
static assay_status copy_existing(as_append *append, assay_error *error) {
    const as_input *input = append->input;
    size_t copied = 0;
    off_t from = 0;
    while (copied < input->size) {
        ssize_t n = copy_file_range(append->lock, &from, append->fd, NULL, input->size - copied, 0);
        if (n <= 0) break;
        copied += (size_t)n;
    }
    if (write_all(append->fd, input->data + copied, input->size - copied)) return ASSAY_OK;
    return as_fail_errno(error, append->name, "cannot write", errno);
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static assay_status open_existing(as_append *append, as_budget *budget, assay_error *error) {
    AS_TRY(as_input_open(append->name, budget, &append->input, error));
    if (append->input->file_device == (uint64_t)append->status.st_dev &&
        append->input->file_inode == (uint64_t)append->status.st_ino)
        return copy_existing(append, error);
    return as_fail(error, ASSAY_E_IO, as_place_file(append->name), "replaced",
                   "was replaced by another file just now; try again");
}

assay_status as_append_begin(const char *path, as_budget *budget, as_append **out, assay_error *error) {
    as_append *append = calloc(1, sizeof *append);
    if (!append) return as_fail_memory(error, path);
    append->lock = append->fd = -1;
    append->name = strdup(path);
    assay_status status = append->name ? ASSAY_OK : as_fail_memory(error, path);
    if (status == ASSAY_OK && !as_real_place(path, append->place))
        status = as_fail_errno(error, path, "cannot write", errno);
    if (status == ASSAY_OK) status = lock(append, error);
    if (status == ASSAY_OK) status = create_temporary(append, error);
    if (status == ASSAY_OK && append->exists) status = open_existing(append, budget, error);
    if (status == ASSAY_OK && !(append->out = as_output_to_fd(append->fd, append->name)))
        status = as_fail_memory(error, path);
    if (status == ASSAY_OK)
        *out = append;
    else
        as_append_discard(append);
    return status;
}

const as_input *as_append_existing(const as_append *append) { return append->input; }
as_output *as_append_output(as_append *append) { return append->out; }

/* Over the very file that was copied, or where there was none, over nothing. */
static assay_status take_place(as_append *append, assay_error *error) {
    struct stat now;
    bool is_there = stat(append->place, &now) == 0;
    if (append->exists ? !is_there || !is_same_file(&now, &append->status) : is_there)
        return as_fail(error, ASSAY_E_IO, as_place_file(append->name), "replaced",
                       "was %s meanwhile; nothing is appended, try again", is_there ? "replaced" : "removed");
    int failed = append->exists ? rename(append->temporary, append->place) : link(append->temporary, append->place);
    if (failed && !append->exists && errno != EEXIST) /* a file system without links */
        failed = rename(append->temporary, append->place);
    if (failed) return as_fail_errno(error, append->name, "cannot put the new file in place", errno);
    if (!append->exists) unlink(append->temporary);
    as_temporary_unregister(append->registered);
    append->registered = NULL;
    return ASSAY_OK;
}

assay_status as_append_commit(as_append *append, assay_error *error) {
    assay_status status = as_output_commit(append->out, error);
    append->out = NULL;
    /* What was there must be on the disk again before it is given up: not even the machine's end may damage it. */
    if (status == ASSAY_OK && fdatasync(append->fd) != 0 && errno != EINVAL && errno != EROFS)
        status = as_fail_errno(error, append->name, "cannot write", errno);
    int fd = append->fd;
    append->fd = -1;
    if (close(fd) != 0 && status == ASSAY_OK && errno != EINTR)
        status = as_fail_errno(error, append->name, "cannot write", errno);
    if (status == ASSAY_OK) status = take_place(append, error);
    as_append_discard(append);
    return status;
}

void as_append_discard(as_append *append) {
    if (!append) return;
    as_output_discard(append->out);
    if (append->fd >= 0) close(append->fd);
    if (append->registered) {
        unlink(append->temporary);
        as_temporary_unregister(append->registered);
    }
    as_input_close(append->input);
    if (append->lock >= 0) close(append->lock); /* last: who waits for it finds nothing left of this one */
    free(append->name);
    free(append);
}
