/* usage: pack FILE...    writes FILE.gz of each, as small as libdeflate can make it: the page is packed once and sent
 * often. */
#include <libdeflate.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALLEST = 12 };

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *data = NULL;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) data = malloc((size_t)end + 1);
    if (data) *size = fread(data, 1, (size_t)end, file);
    if (data && *size != (size_t)end) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

static bool write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool is_written = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && is_written;
}

static bool pack(struct libdeflate_compressor *compressor, const char *path) {
    char name[4096];
    size_t size = 0;
    char *data = read_file(path, &size);
    size_t most = libdeflate_gzip_compress_bound(compressor, size);
    void *packed = data ? malloc(most) : NULL;
    size_t packed_size = packed ? libdeflate_gzip_compress(compressor, data, size, packed, most) : 0;
    int length = snprintf(name, sizeof name, "%s.gz", path);
    bool is_done =
        packed_size > 0 && length > 0 && (size_t)length < sizeof name && write_file(name, packed, packed_size);
    free(packed);
    free(data);
    return is_done;
}

int main(int argc, char **argv) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(SMALLEST);
    if (!compressor) return 1;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (pack(compressor, argv[i])) continue;
        fprintf(stderr, "pack: cannot pack %s\n", argv[i]);
        failed = 1;
    }
    libdeflate_free_compressor(compressor);
    return failed;
}
