#include "io/beside.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, SUFFIX_LENGTH = 6 };

/* Where the link `path` points, as seen from here. */
static bool read_link(char path[PATH_MAX]) {
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) return false;
    target[n] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = target[0] != '/' && slash ? (size_t)(slash + 1 - path) : 0;
    if (folder + (size_t)n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, target, (size_t)n + 1);
    return true;
}

bool as_real_place(const char *path, char place[PATH_MAX]) {
    char link[PATH_MAX], folder[PATH_MAX];
    struct stat status;
    if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, false;
    memcpy(link, path, strlen(path) + 1);
    for (int links = 0; lstat(link, &status) == 0 && S_ISLNK(status.st_mode); links++) {
        if (links == MAX_LINKS) return errno = ELOOP, false;
        if (!read_link(link)) return false;
    }
    char *slash = strrchr(link, '/');
    const char *base = slash ? slash + 1 : link;
    if (!*base) return errno = EISDIR, false;
    if (slash == link)
        memcpy(folder, "/", 2);
    else {
        if (slash) *slash = '\0';
        if (!realpath(slash ? link : ".", folder)) return false;
    }
    int n = snprintf(place, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, base);
    if (n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    return true;
}

/* Six random characters, as mkstemp does it; not mkstemp itself, whose mode 0600 could only be widened by changing the
 * umask. */
static void random_suffix(char suffix[SUFFIX_LENGTH + 1]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static atomic_uint calls;
    unsigned char bytes[SUFFIX_LENGTH];
    if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) {
        unsigned seed = (unsigned)getpid() * 64 + atomic_fetch_add(&calls, 1);
        for (size_t i = 0; i < SUFFIX_LENGTH; i++, seed /= 36) bytes[i] = (unsigned char)(seed % 36);
    }
    for (size_t i = 0; i < SUFFIX_LENGTH; i++) suffix[i] = letters[bytes[i] % 36];
    suffix[SUFFIX_LENGTH] = '\0';
}

bool as_beside(const char *place, char path[PATH_MAX]) {
    char suffix[SUFFIX_LENGTH + 1];
    const char *base = strrchr(place, '/') + 1;
    int room = NAME_MAX - (int)sizeof "..assay-" - SUFFIX_LENGTH;
    random_suffix(suffix);
    int n = snprintf(path, PATH_MAX, "%.*s.%.*s.assay-%s", (int)(base - place), place, room, base, suffix);
    if (n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    return true;
}
