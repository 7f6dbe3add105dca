#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/beside.h"
#include "io/directory.h"
#include "io/names.h"
#include "io/output_private.h"

enum { MAX_DIRECTORIES = 8, MAX_DEPTH = AS_MAX_FOLDERS + 2 };
enum { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };

/* Fixed memory, so that a signal handler can walk it whatever the threads are doing. */
static struct {
    atomic_int state;
    char path[PATH_MAX];
} live[MAX_DIRECTORIES];

struct as_output_directory {
    char *name;  /* as the user gave it, without slashes at its end */
    char *final; /* its real place */
    size_t slot; /* in `live`: where it grows */
    bool is_made;
    as_beginning beginning;
};

/* ---- removing ---------------------------------------------------------------------------------------------------- */

/* Only system calls: a signal handler comes here. A link is removed, not followed. */
static void remove_tree(int parent, const char *name, int depth) {
    if (unlinkat(parent, name, 0) == 0 || depth == 0) return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    _Alignas(struct dirent64) char entries[2048];
    for (ssize_t n; (n = getdents64(fd, entries, sizeof entries)) > 0;) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                remove_tree(fd, entry->d_name, depth - 1);
        }
    }
    close(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void as_output_directory_abandon_all(void) {
    for (size_t i = 0; i < MAX_DIRECTORIES; i++) {
        if (atomic_load(&live[i].state) == SLOT_LIVE) remove_tree(AT_FDCWD, live[i].path, MAX_DEPTH);
    }
}

static void free_directory(as_output_directory *directory) {
    if (directory->slot < MAX_DIRECTORIES) atomic_store(&live[directory->slot].state, SLOT_FREE);
    free(directory->name);
    free(directory->final);
    free(directory);
}

void as_output_directory_discard(as_output_directory *directory) {
    if (!directory) return;
    if (directory->is_made) remove_tree(AT_FDCWD, live[directory->slot].path, MAX_DEPTH);
    free_directory(directory);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static size_t take_slot(void) {
    for (size_t i = 0; i < MAX_DIRECTORIES; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&live[i].state, &expected, SLOT_TAKEN)) return i;
    }
    return MAX_DIRECTORIES;
}

/* mkdir, and entering the directory for the signal handler, in one: neither may a signal find one that is not entered,
 * nor a stranger's that is. */
static bool make_live(size_t slot) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_made = mkdir(live[slot].path, 0777) == 0;
    int reason = errno;
    if (is_made) atomic_store(&live[slot].state, SLOT_LIVE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return is_made;
}

/* errno on false. */
static bool make_beside(as_output_directory *directory, const struct stat *existing) {
    char path[PATH_MAX];
    directory->slot = take_slot();
    if (directory->slot == MAX_DIRECTORIES) return errno = EMFILE, false;
    for (int attempt = 0; attempt < AS_BESIDE_ATTEMPTS && !directory->is_made; attempt++) {
        if (!as_beside(directory->final, path)) return false;
        memcpy(live[directory->slot].path, path, strlen(path) + 1);
        directory->is_made = make_live(directory->slot);
        if (!directory->is_made && errno != EEXIST) return false;
    }
    if (!directory->is_made) return false;
    return !existing || chmod(path, existing->st_mode & 07777) == 0;
}

/* Whether there is nothing in it; errno where it cannot be read. */
static bool is_empty(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return false;
    bool empty = true;
    errno = 0;
    for (const struct dirent *entry; empty && (entry = readdir(folder));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (errno) empty = false;
    closedir(folder);
    return empty;
}

static assay_status fail_taken(assay_error *error, const char *path, const char *what) {
    return as_fail(error, ASSAY_E_IO, as_place_file(path), "io", "%s; name a directory that does not exist yet", what);
}

/* Whether a directory can get there: what is there now, and the real name of the place. */
static assay_status check_place(const char *path, struct stat *status, bool *exists, char place[PATH_MAX],
                                assay_error *error) {
    *exists = stat(path, status) == 0;
    if (!*exists) {
        if (errno != ENOENT) return as_fail_errno(error, path, "cannot write", errno);
        return as_real_place(path, place) ? ASSAY_OK : as_fail_errno(error, path, "cannot write", errno);
    }
    if (!S_ISDIR(status->st_mode)) return fail_taken(error, path, "is a file, but a directory is to be written");
    if (!realpath(path, place)) return as_fail_errno(error, path, "cannot write", errno);
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) && strcmp(here, place) == 0)
        return fail_taken(error, path, "is the current directory, which cannot be replaced");
    errno = 0;
    if (is_empty(place)) return ASSAY_OK;
    return errno ? as_fail_errno(error, path, "cannot write", errno)
                 : fail_taken(error, path, "exists and is not empty");
}

assay_status as_output_directory_open(const char *path, as_output_directory **out, assay_error *error) {
    as_output_directory *result = calloc(1, sizeof *result);
    if (!result) return as_fail_memory(error, path);
    result->slot = MAX_DIRECTORIES;
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    result->name = strndup(path, size);
    char place[PATH_MAX] = "";
    struct stat status;
    bool exists = false;
    assay_status code =
        result->name ? check_place(result->name, &status, &exists, place, error) : as_fail_memory(error, path);
    if (code == ASSAY_OK) {
        result->final = strdup(place);
        if (!result->final)
            code = as_fail_memory(error, path);
        else if (!make_beside(result, exists ? &status : NULL))
            code = as_fail_errno(error, result->name, "cannot create a directory beside it", errno);
    }
    if (code == ASSAY_OK)
        *out = result;
    else
        as_output_directory_discard(result);
    return code;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Makes the directories on the way to path, from its byte `from` on. errno on false. */
static bool make_folders(char *path, size_t from) {
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool fine = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!fine) return false;
    }
    return true;
}

void as_output_directory_on_begin(as_output_directory *directory, as_output_begins *begins, void *user) {
    directory->beginning = (as_beginning){begins, user};
}

assay_status as_output_directory_file(as_output_directory *directory, const char *name, as_output **out,
                                      assay_error *error) {
    char path[PATH_MAX], shown[PATH_MAX];
    const char *root = live[directory->slot].path;
    int n = snprintf(path, sizeof path, "%s/%s", root, name),
        m = snprintf(shown, sizeof shown, "%s/%s", directory->name, name);
    size_t folders = 0;
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) folders++;
    if (n >= PATH_MAX || m >= PATH_MAX || folders > AS_MAX_FOLDERS || as_name_leads_out(name))
        return as_fail_errno(error, directory->name, "cannot write", as_name_leads_out(name) ? EINVAL : ENAMETOOLONG);
    as_begin(&directory->beginning);
    if (!make_folders(path, strlen(root) + 1)) return as_fail_errno(error, shown, "cannot write", errno);
    return as_output_open_shown(path, shown, out, error);
}

assay_status as_output_directory_commit(as_output_directory *directory, assay_error *error) {
    as_begin(&directory->beginning);
    if (rename(live[directory->slot].path, directory->final) == 0) {
        free_directory(directory);
        return ASSAY_OK;
    }
    assay_status code = errno == ENOTEMPTY || errno == EEXIST
                            ? fail_taken(error, directory->name, "exists and is not empty")
                            : as_fail_errno(error, directory->name, "cannot put the new directory in place", errno);
    as_output_directory_discard(directory);
    return code;
}
