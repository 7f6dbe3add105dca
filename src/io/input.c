#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/mapped.h"

enum { READ_BLOCK = 1 << 16, DROP_STEP = 1 << 19 }; /* DROP_STEP: a multiple of every page size in use */

/* Reads fd to its end. A file that says it is empty is read too: those of /proc say so. */
static assay_status read_whole(as_input *input, int fd, assay_error *error) {
    as_vec *bytes = &input->bytes;
    for (;;) {
        if (!as_vec_reserve(bytes, READ_BLOCK)) return as_fail_memory(error, input->path);
        ssize_t n = read(fd, (char *)bytes->data + bytes->count, bytes->capacity - bytes->count);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return as_fail_errno(error, input->path, "cannot read", errno);
        bytes->count += (size_t)n;
    }
    as_vec_shrink(bytes);
    input->data = bytes->count ? bytes->data : "";
    input->size = bytes->count;
    return ASSAY_OK;
}

static bool map_file(as_input *input, int fd, const struct stat *status) {
    if (!S_ISREG(status->st_mode) || status->st_size <= 0 || (uintmax_t)status->st_size > SIZE_MAX) return false;
    if (fd == STDIN_FILENO && lseek(fd, 0, SEEK_CUR) != 0)
        return false; /* somebody has read from it: only the rest counts */
    void *data = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return false;
    madvise(data, (size_t)status->st_size, MADV_SEQUENTIAL);
    input->data = data;
    input->size = (size_t)status->st_size;
    input->mapped = as_mapped_add(input, &status->st_mtim);
    input->is_mapped = input->mapped != NULL;
    if (!input->is_mapped) munmap(data, input->size);
    return input->is_mapped;
}

static assay_status load(as_input *input, int fd, assay_error *error) {
    struct stat status;
    if (fstat(fd, &status) != 0) return as_fail_errno(error, input->path, "cannot read", errno);
    if (fd != STDIN_FILENO && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
        input->file_device = status.st_dev;
        input->file_inode = status.st_ino;
    }
    if (S_ISDIR(status.st_mode) && fd != STDIN_FILENO) {
        input->is_directory = true;
        return ASSAY_OK;
    }
    return map_file(input, fd, &status) ? ASSAY_OK : read_whole(input, fd, error);
}

/* Not even the time of the last access changes, where that can be had: an owner can. */
static int open_quietly(const char *path) {
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY };
    int fd = open(path, FLAGS | O_NOATIME);
    return fd < 0 && errno == EPERM ? open(path, FLAGS) : fd;
}

assay_status as_input_open(const char *path, as_budget *budget, as_input **out, assay_error *error) {
    bool is_stdin = strcmp(path, "-") == 0;
    as_input *input = calloc(1, sizeof *input);
    char *shown = strdup(is_stdin ? "<stdin>" : path);
    if (!input || !shown) {
        free(input);
        free(shown);
        return as_fail_memory(error, path);
    }
    input->path = shown;
    input->budget = budget;
    as_vec_init(&input->bytes, 1, budget);
    int fd = is_stdin ? STDIN_FILENO : open_quietly(path);
    assay_status code = fd >= 0 ? load(input, fd, error) : as_fail_errno(error, path, "cannot open", errno);
    if (fd >= 0 && !is_stdin) close(fd);
    if (code == ASSAY_OK)
        *out = input;
    else
        as_input_close(input);
    return code;
}

void as_input_close(as_input *input) {
    if (!input) return;
    if (input->is_mapped) {
        as_mapped_remove(input->mapped);
        munmap((void *)(uintptr_t)input->data, input->size);
    }
    as_vec_free(&input->bytes);
    free((void *)(uintptr_t)input->path);
    free(input);
}

void as_input_consumed(as_input *input, size_t offset) {
    if (!input->is_mapped || offset > input->size) return;
    size_t until = offset - offset % DROP_STEP;
    if (until > input->dropped)
        madvise((void *)(uintptr_t)(input->data + input->dropped), until - input->dropped, MADV_DONTNEED);
    input->dropped = until; /* also back to the start, where a second pass begins */
}

void as_input_forget(const as_input *input, size_t from, size_t to) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = (from + page - 1) / page * page, end = to / page * page;
    if (input->is_mapped && first < end && to <= input->size)
        madvise((void *)(uintptr_t)(input->data + first), end - first, MADV_DONTNEED);
}
