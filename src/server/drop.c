#include "server/drop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"

enum { MAX_FILES = 20000, MAX_PARTS = 16, MAX_NAME = 1024 };

struct as_drops {
    char *folder;
    int folder_fd; /* holds a lock on it, as long as the process lives */
    uint64_t limit, taken;
    unsigned n_files;
    as_drop_file *written; /* those that are still being written */
    as_vec opened;         /* char *: the drops that are complete */
    pthread_mutex_t lock;
};

struct as_drop_file {
    as_drops *drops;
    as_drop_file *next;
    char *drop;
    char *path;
    int fd;
    uint64_t size;
};

/* ---- the folder -------------------------------------------------------------------------------------------------- */

#define FOLDER "assay-view-"

/* Removes all of it; what cannot be removed stays. The bytes of its files, and how many they are. */
static uint64_t remove_tree(char *folder, unsigned *n) {
    char *const roots[] = {folder, NULL};
    uint64_t bytes = 0;
    *n = 0;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_D || remove(entry->fts_accpath) != 0 || entry->fts_info != FTS_F) continue;
        bytes += (uint64_t)entry->fts_statp->st_size;
        ++*n;
    }
    if (walk) fts_close(walk);
    return bytes;
}

static int is_folder(const struct dirent *entry) { return strncmp(entry->d_name, FOLDER, strlen(FOLDER)) == 0; }

/* Whether it is the folder of a viewer that was killed: it is ours, nobody holds its lock, and it is older than the
 * moment between making and locking one. */
static bool is_left_over(int fd) {
    enum { SECONDS = 60 };
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & 07777) == 0700 &&
           time(NULL) - about.st_mtime > SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Removes what viewers that were killed have left. */
static void sweep(const char *base) {
    struct dirent **entries = NULL;
    int n = scandir(base, &entries, is_folder, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        unsigned n_files;
        int fd = asprintf(&path, "%s/%s", base, entries[i]->d_name) < 0
                     ? -1
                     : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && is_left_over(fd)) remove_tree(path, &n_files);
        if (fd >= 0) close(fd);
        free(path);
        free(entries[i]);
    }
    free(entries);
}

assay_status as_drops_new(uint64_t limit, as_drops **out, assay_error *error) {
    const char *given = getenv("TMPDIR"), *base = given && *given ? given : "/tmp";
    as_drops *drops = calloc(1, sizeof *drops);
    if (!drops || asprintf(&drops->folder, "%s/" FOLDER "XXXXXX", base) < 0) {
        free(drops);
        return as_fail_memory(error, NULL);
    }
    bool is_made = mkdtemp(drops->folder) != NULL;
    drops->folder_fd = is_made ? open(drops->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (drops->folder_fd < 0) {
        assay_status status =
            as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "cannot make a folder for dropped files: %s", strerror(errno));
        if (is_made) rmdir(drops->folder);
        free(drops->folder);
        free(drops);
        return status;
    }
    flock(drops->folder_fd, LOCK_EX | LOCK_NB);
    sweep(base);
    drops->limit = limit;
    as_vec_init(&drops->opened, sizeof(char *), NULL);
    pthread_mutex_init(&drops->lock, NULL);
    *out = drops;
    return ASSAY_OK;
}

void as_drops_remove(const as_drops *drops) {
    unsigned n;
    if (drops) remove_tree(drops->folder, &n);
}

void as_drops_free(as_drops *drops) {
    if (!drops) return;
    as_drops_remove(drops);
    close(drops->folder_fd);
    pthread_mutex_destroy(&drops->lock);
    for (size_t i = 0; i < drops->opened.count; i++) free(AS_AT(char *, &drops->opened, i));
    as_vec_free(&drops->opened);
    free(drops->folder);
    free(drops);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* One part of a path: no way out, nothing hidden, nothing that cannot be shown. */
static bool is_plain_part(const char *part, size_t size) {
    if (size == 0 || size > 255 || part[0] == '.') return false;
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f || part[i] == '\\') return false;
    }
    return true;
}

static bool is_plain_path(const char *name, size_t most_parts) {
    size_t n_parts = 0;
    if (strlen(name) > MAX_NAME) return false;
    for (const char *part = name;; part++) {
        size_t size = strcspn(part, "/");
        if (!is_plain_part(part, size) || ++n_parts > most_parts) return false;
        part += size;
        if (!*part) return true;
    }
}

/* Makes the directories above path, below the first `from` bytes. */
static bool make_directories(char *path, size_t from) {
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool fine = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!fine) return false;
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Takes size bytes of what is allowed. */
static assay_status take(as_drops *drops, uint64_t size, assay_error *error) {
    pthread_mutex_lock(&drops->lock);
    uint64_t left = drops->limit - drops->taken;
    bool fits = size <= left;
    if (fits) drops->taken += size;
    pthread_mutex_unlock(&drops->lock);
    if (fits) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-large",
                   "dropped files may have %llu MiB together; name the file behind `assay view`, or allow more with "
                   "--max-drop",
                   (unsigned long long)(drops->limit >> 20));
}

static void give_back(as_drops *drops, uint64_t size, unsigned n_files) {
    pthread_mutex_lock(&drops->lock);
    drops->taken -= size;
    drops->n_files -= n_files;
    pthread_mutex_unlock(&drops->lock);
}

/* With the lock held. */
static bool is_opened(const as_drops *drops, const char *drop) {
    for (size_t i = 0; i < drops->opened.count; i++) {
        if (strcmp(AS_AT(char *, &drops->opened, i), drop) == 0) return true;
    }
    return false;
}

static assay_status fail_opened(assay_error *error) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "this drop was opened already");
}

/* One more file of its drop, which is being written from now on. */
static assay_status add_file(as_drops *drops, as_drop_file *file, assay_error *error) {
    pthread_mutex_lock(&drops->lock);
    bool late = is_opened(drops, file->drop), fits = drops->n_files < MAX_FILES;
    if (!late && fits) {
        drops->n_files++;
        file->next = drops->written;
        drops->written = file;
    }
    pthread_mutex_unlock(&drops->lock);
    if (late) return fail_opened(error);
    if (fits) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-many",
                   "more than %d files were dropped; name the directory behind `assay view`", MAX_FILES);
}

static void free_file(as_drop_file *file) {
    free(file->drop);
    free(file->path);
    free(file);
}

static void remove_file(as_drop_file *file) {
    as_drops *drops = file->drops;
    pthread_mutex_lock(&drops->lock);
    as_drop_file **at = &drops->written;
    while (*at != file) at = &(*at)->next;
    *at = file->next;
    pthread_mutex_unlock(&drops->lock);
    free_file(file);
}

/* Nothing is added to the drop from now on. */
static assay_status close_drop(as_drops *drops, const char *drop, assay_error *error) {
    assay_status status = ASSAY_OK;
    char *copy = strdup(drop);
    pthread_mutex_lock(&drops->lock);
    if (is_opened(drops, drop)) status = fail_opened(error);
    for (const as_drop_file *file = drops->written; file && status == ASSAY_OK; file = file->next) {
        if (strcmp(file->drop, drop) == 0)
            status = as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "files of this drop are still on their way");
    }
    if (status == ASSAY_OK && (!copy || !as_vec_append(&drops->opened, &copy, 1))) status = as_fail_memory(error, NULL);
    pthread_mutex_unlock(&drops->lock);
    if (status != ASSAY_OK) free(copy);
    return status;
}

/* errno says why: the name, or the disk. */
static assay_status fail_to_keep(const char *name, assay_error *error) {
    bool is_name = errno == EEXIST || errno == ENOTDIR || errno == EISDIR || errno == ENAMETOOLONG;
    return as_fail(error, is_name ? ASSAY_E_USAGE : ASSAY_E_IO, AS_NOWHERE, "", "cannot keep %.200s: %s%s", name,
                   strerror(errno), is_name ? "" : "; name it behind `assay view` instead");
}

assay_status as_drop_begin(as_drops *drops, const char *drop, const char *name, uint64_t size, as_drop_file **out,
                           assay_error *error) {
    if (!drop || !is_plain_path(drop, 1) || !name || !is_plain_path(name, MAX_PARTS))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a file of the name '%.200s' cannot be dropped; rename it",
                       name ? name : "");
    AS_TRY(take(drops, size, error));
    give_back(drops, size, 0); /* only to say so before anything is sent: what counts is what comes */
    as_drop_file *file = calloc(1, sizeof *file);
    if (!file || !(file->drop = strdup(drop)) || asprintf(&file->path, "%s/%s/%s", drops->folder, drop, name) < 0) {
        if (file) free(file->drop);
        free(file);
        return as_fail_memory(error, NULL);
    }
    file->drops = drops;
    file->fd = -1;
    assay_status status = add_file(drops, file, error);
    if (status != ASSAY_OK) {
        free_file(file);
        return status;
    }
    if (make_directories(file->path, strlen(drops->folder) + 1))
        file->fd = open(file->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0) {
        status = fail_to_keep(name, error);
        give_back(drops, 0, 1);
        remove_file(file);
        return status;
    }
    *out = file;
    return ASSAY_OK;
}

assay_status as_drop_write(as_drop_file *file, const void *data, size_t size, assay_error *error) {
    const char *at = data;
    AS_TRY(take(file->drops, size, error));
    file->size += size;
    while (size > 0) {
        ssize_t written = write(file->fd, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_to_keep("the dropped file", error);
        at += written;
        size -= (size_t)written;
    }
    return ASSAY_OK;
}

bool as_drop_end(as_drop_file *file, bool is_complete) {
    if (!file) return false;
    if (close(file->fd) != 0) is_complete = false;
    if (!is_complete) {
        unlink(file->path);
        give_back(file->drops, file->size, 1);
    }
    remove_file(file);
    return is_complete;
}

/* The folder of a drop, which is not added to from now on; NULL: nothing has come of it. The caller frees it. */
static assay_status close_folder(as_drops *drops, const char *drop, char **out, assay_error *error) {
    struct stat about;
    char *folder = NULL;
    *out = NULL;
    if (!drop || !is_plain_path(drop, 1)) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "name a drop");
    if (asprintf(&folder, "%s/%s", drops->folder, drop) < 0) return as_fail_memory(error, NULL);
    bool is_there = stat(folder, &about) == 0;
    assay_status status = is_there ? close_drop(drops, drop, error) : ASSAY_OK;
    if (is_there && status == ASSAY_OK)
        *out = folder;
    else
        free(folder);
    return status;
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static bool is_directory(const char *folder, const char *name) {
    struct stat about;
    char *path = NULL;
    bool is_one = asprintf(&path, "%s/%s", folder, name) >= 0 && lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
    free(path);
    return is_one;
}

static bool move_below(const char *folder, const char *name, const char *to) {
    char *from = NULL, *behind = NULL;
    bool is_moved = asprintf(&from, "%s/%s", folder, name) >= 0 && asprintf(&behind, "%s/%s", to, name) >= 0 &&
                    rename(from, behind) == 0;
    free(from);
    free(behind);
    return is_moved;
}

/* Several directories that are points of one experiment are moved into one, which has the name of the program: what
 * stands before the first dot of theirs. */
static void join_points(const char *folder, bool (*is_experiment)(void *user, const char *folder), void *user) {
    struct dirent **entries = NULL;
    char *to = NULL;
    int n_directories = 0, n = scandir(folder, &entries, is_shown, alphasort);
    while (n_directories < n && is_directory(folder, entries[n_directories]->d_name)) n_directories++;
    if (n > 1 && n_directories == n && is_experiment(user, folder)) {
        const char *first = entries[0]->d_name;
        bool is_made = asprintf(&to, "%s/%.*s", folder, (int)strcspn(first, "."), first) >= 0 && mkdir(to, 0700) == 0;
        for (int i = 0; is_made && i < n; i++) is_made = move_below(folder, entries[i]->d_name, to);
    }
    for (int i = 0; i < n; i++) free(entries[i]);
    free(entries);
    free(to);
}

assay_status as_drop_each(as_drops *drops, const char *drop, const as_drop_visitor *visitor, void *user,
                          assay_error *error) {
    struct dirent **entries = NULL;
    char *folder;
    AS_TRY(close_folder(drops, drop, &folder, error));
    if (!folder) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing was dropped");
    assay_status status = ASSAY_OK;
    join_points(folder, visitor->is_experiment, user);
    int n = scandir(folder, &entries, is_shown, alphasort);
    if (n < 0) status = as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "cannot list what was dropped: %s", strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (status == ASSAY_OK) {
            if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
                status = as_fail_memory(error, NULL);
            else
                status = visitor->visit(user, path, entries[i]->d_name, error);
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return status;
}

assay_status as_drop_discard(as_drops *drops, const char *drop, assay_error *error) {
    char *folder;
    AS_TRY(close_folder(drops, drop, &folder, error));
    unsigned n = 0;
    uint64_t bytes = folder ? remove_tree(folder, &n) : 0;
    give_back(drops, bytes, n);
    free(folder);
    return ASSAY_OK;
}
