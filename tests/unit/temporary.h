/* A folder for a test's files, gone at its end, and files in it. */
#ifndef AS_TESTS_TEMPORARY_H
#define AS_TESTS_TEMPORARY_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char temporary_folder[64];

static inline int make_temporary_folder(void **state) {
    (void)state;
    strcpy(temporary_folder, "/tmp/assay-test-XXXXXX");
    return mkdtemp(temporary_folder) ? 0 : -1;
}

/* Calls visit for every name in the folder; returns how many there are. */
static inline int for_each_temporary(void (*visit)(const char *path)) {
    int count = 0;
    char path[512];
    DIR *folder = opendir(temporary_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(path, sizeof path, "%s/%s", temporary_folder, entry->d_name);
        if (visit) visit(path);
        count++;
    }
    if (folder) closedir(folder);
    return count;
}

static inline void remove_path(const char *path) { remove(path); }

static inline int remove_temporary_folder(void **state) {
    (void)state;
    for_each_temporary(remove_path);
    return rmdir(temporary_folder);
}

/* The path of a file of that name in the folder; valid until the fourth call from here. */
static inline const char *temporary_path(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", temporary_folder, name);
    return path;
}

static inline const char *write_temporary(const char *name, const void *data, size_t size) {
    const char *path = temporary_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    return path;
}

/* Whether the file holds exactly this text. */
static inline bool file_is(const char *path, const char *text) {
    char content[4096];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    return size == strlen(text) && memcmp(content, text, size) == 0;
}

#endif
