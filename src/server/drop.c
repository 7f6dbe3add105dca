#include "server/drop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 20000, MAX_PARTS = 16, MAX_NAME = 1024 };

struct as_drops {
    char *folder;
    uint64_t limit, taken;
    unsigned n_files;
    pthread_mutex_t lock;
};

struct as_drop_file {
    as_drops *drops;
    char *path;
    int fd;
    uint64_t size;
};

assay_status as_drops_new(uint64_t limit, as_drops **out, assay_error *error) {
    const char *base = getenv("TMPDIR");
    as_drops *drops = calloc(1, sizeof *drops);
    if (!drops || asprintf(&drops->folder, "%s/assay-view-XXXXXX", base && *base ? base : "/tmp") < 0) {
        free(drops);
        return as_fail_memory(error, NULL);
    }
    if (!mkdtemp(drops->folder)) {
        assay_status status =
            as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "cannot make a folder for dropped files: %s", strerror(errno));
        free(drops->folder);
        free(drops);
        return status;
    }
    drops->limit = limit;
    pthread_mutex_init(&drops->lock, NULL);
    *out = drops;
    return ASSAY_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    remove(path);
    return 0; /* what cannot be removed stays; go on with the rest */
}

void as_drops_free(as_drops *drops) {
    if (!drops) return;
    nftw(drops->folder, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
    pthread_mutex_destroy(&drops->lock);
    free(drops->folder);
    free(drops);
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

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

/* ---- files ----------------------------------------------------------------------------------------------------------- */

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

static void give_back(as_drops *drops, uint64_t size) {
    pthread_mutex_lock(&drops->lock);
    drops->taken -= size;
    pthread_mutex_unlock(&drops->lock);
}

static assay_status count_file(as_drops *drops, assay_error *error) {
    pthread_mutex_lock(&drops->lock);
    bool fits = drops->n_files < MAX_FILES;
    drops->n_files += fits;
    pthread_mutex_unlock(&drops->lock);
    if (fits) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "too-many",
                   "more than %d files were dropped; name the directory behind `assay view`", MAX_FILES);
}

assay_status as_drop_begin(as_drops *drops, const char *drop, const char *name, uint64_t size, as_drop_file **out,
                           assay_error *error) {
    if (!drop || !is_plain_path(drop, 1) || !name || !is_plain_path(name, MAX_PARTS))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "a file of this name cannot be dropped; rename it");
    AS_TRY(take(drops, size, error));
    give_back(drops, size); /* only to say so before anything is sent: what counts is what comes */
    AS_TRY(count_file(drops, error));
    as_drop_file *file = calloc(1, sizeof *file);
    if (!file || asprintf(&file->path, "%s/%s/%s", drops->folder, drop, name) < 0) {
        free(file);
        return as_fail_memory(error, NULL);
    }
    file->drops = drops;
    file->fd = -1;
    if (make_directories(file->path, strlen(drops->folder) + 1))
        file->fd = open(file->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0) {
        assay_status status =
            as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "cannot keep '%.200s': %s", name, strerror(errno));
        free(file->path);
        free(file);
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
        if (written < 0)
            return as_fail(error, ASSAY_E_IO, AS_NOWHERE, "", "cannot keep the dropped file: %s", strerror(errno));
        at += written;
        size -= (size_t)written;
    }
    return ASSAY_OK;
}

void as_drop_end(as_drop_file *file, bool is_complete) {
    if (!file) return;
    if (close(file->fd) != 0) is_complete = false;
    if (!is_complete) {
        unlink(file->path);
        give_back(file->drops, file->size);
    }
    free(file->path);
    free(file);
}

assay_status as_drop_each(as_drops *drops, const char *drop,
                          assay_status (*visit)(void *user, const char *path, const char *name, assay_error *error),
                          void *user, assay_error *error) {
    struct dirent **entries = NULL;
    char *folder = NULL;
    if (!drop || !is_plain_path(drop, 1)) return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "name a drop");
    if (asprintf(&folder, "%s/%s", drops->folder, drop) < 0) return as_fail_memory(error, NULL);
    int n = scandir(folder, &entries, NULL, alphasort);
    assay_status status = n < 0 ? as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing was dropped") : ASSAY_OK;
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (status == ASSAY_OK && entries[i]->d_name[0] != '.') {
            if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
                status = as_fail_memory(error, NULL);
            else
                status = visit(user, path, entries[i]->d_name, error);
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return status;
}
