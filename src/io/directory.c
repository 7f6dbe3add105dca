#include "io/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "io/names.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(((const as_directory_entry *)a)->name, ((const as_directory_entry *)b)->name);
}

/* Whether it is a file or a directory; links are followed. One that leads nowhere counts as a file: whoever wants it
 * finds that it cannot be opened, instead of missing nothing. */
static bool is_wanted(DIR *folder, const struct dirent *entry, bool *is_directory) {
    if (entry->d_name[0] == '.') return false;
    *is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_REG || entry->d_type == DT_DIR) return true;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) return false;
    struct stat status;
    if (fstatat(dirfd(folder), entry->d_name, &status, 0) != 0) return entry->d_type == DT_LNK;
    *is_directory = S_ISDIR(status.st_mode);
    return *is_directory || S_ISREG(status.st_mode);
}

static assay_status list_folder(DIR *folder, const char *path, as_directory *out, assay_error *error) {
    for (;;) {
        bool is_directory;
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry && errno) return as_fail_errno(error, path, "cannot read the directory", errno);
        if (!entry) return ASSAY_OK;
        if (!is_wanted(folder, entry, &is_directory)) continue;
        const char *name = as_arena_copy(&out->names, entry->d_name, strlen(entry->d_name));
        as_directory_entry *added = name ? as_vec_push(&out->list) : NULL;
        if (!added) return as_fail_memory(error, path);
        *added = (as_directory_entry){.name = name, .is_directory = is_directory};
    }
}

assay_status as_directory_list(const char *path, as_budget *budget, as_directory *out, assay_error *error) {
    *out = (as_directory){.entries = NULL};
    as_vec_init(&out->list, sizeof(as_directory_entry), budget);
    as_arena_init(&out->names, budget);
    DIR *folder = opendir(path);
    if (!folder) return as_fail_errno(error, path, "cannot open the directory", errno);
    assay_status code = list_folder(folder, path, out, error);
    closedir(folder);
    if (out->list.count) qsort(out->list.data, out->list.count, sizeof(as_directory_entry), compare_names);
    out->entries = out->list.data;
    out->n_entries = out->list.count;
    return code;
}

void as_directory_free(as_directory *directory) {
    as_vec_free(&directory->list);
    as_arena_free(&directory->names);
    directory->entries = NULL;
    directory->n_entries = 0;
}

char *as_file_below(const char *directory, const char *name) {
    struct stat about;
    char *path = NULL, *root = *name && !as_name_leads_out(name) ? realpath(directory, NULL) : NULL;
    if (root && asprintf(&path, "%s/%s", root, name) < 0) path = NULL;
    char *file = path ? realpath(path, NULL) : NULL;
    size_t size = root ? strlen(root) : 0;
    bool is_below = file && strncmp(file, root, size) == 0 && (file[size] == '/' || strcmp(root, "/") == 0);
    free(root);
    free(path);
    if (is_below && stat(file, &about) == 0 && S_ISREG(about.st_mode)) return file;
    free(file);
    return NULL;
}
