/* How the binary files begin and end. */
#include "formats/hpctoolkit/private.h"

assay_status as_hpc_map_file(const as_reader *reader, const char *directory, const char *name, as_hpc_file *out,
                             assay_error *error) {
    as_input *input;
    AS_TRY(as_hpc_open_file(reader, directory, name, &input, error));
    *out = (as_hpc_file){.path = input->path, .data = (const unsigned char *)input->data, .size = input->size};
    return ASSAY_OK;
}

enum { MAGIC_2021 = 16, MAGIC_4 = 14, HEADER_2021 = 40, HEADER_4 = 0x20, FOOTER = 8 };

assay_status as_hpc_check_magic(as_dataset *ds, as_hpc_form form, as_hpc_file *file, const char *magic_2021,
                                const char *magic_4, assay_error *error) {
    const char *magic = form == AS_HPC_2021 ? magic_2021 : magic_4;
    const char *other = form == AS_HPC_2021 ? magic_4 : magic_2021;
    size_t size = form == AS_HPC_2021 ? MAGIC_2021 : MAGIC_4;
    uint64_t header = form == AS_HPC_2021 ? HEADER_2021 : HEADER_4;
    as_place place = as_place_offset(file->path, 0);
    if (file->size >= MAGIC_2021 && memcmp(file->data, other, strlen(other)) == 0)
        return as_fail(error, ASSAY_E_FORMAT, place, "other-generation",
                       "is of another generation of HPCToolkit than the rest of the database");
    if (!file->size) return as_fail(error, ASSAY_E_FORMAT, place, "file-cut", "is empty");
    if (file->size < size || memcmp(file->data, magic, size) != 0)
        return as_fail(error, ASSAY_E_FORMAT, place, "wrong-magic", "does not begin with %s", magic);
    if (file->size < header)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, file->size), "file-cut",
                       "ends within its header");
    unsigned major = file->data[size], minor = file->data[size + 1];
    bool is_known = major == 4 || (major == 1 && form == AS_HPC_2021);
    if (!is_known)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, size), "unknown-version",
                       "is of version %u.%u, which assay does not know", major, minor);
    if (minor)
        as_add_problem(ds, AS_NOTE, as_place_offset(file->path, size + 1), "unknown-version",
                       "is of version %u.%u; it was read as %u.0", major, minor, major);
    file->swap = form == AS_HPC_4 && as_hpc_machine_is_big();
    return ASSAY_OK;
}

/* Whether the header holds together in the byte order that is set: the size of its table is that of n entries, and it
 * is in the file. */
static bool is_consistent(const as_hpc_file *file, uint32_t entry_size, uint32_t *n, uint64_t *at) {
    *n = as_hpc_u32(file, 18);
    *at = as_hpc_u64(file, 32);
    uint64_t size = as_hpc_u64(file, 24), needed = (uint64_t)*n * entry_size;
    return size >= needed && size - needed < entry_size && as_hpc_fits(file, *at, size, 1);
}

assay_status as_hpc_header_2021(as_hpc_file *file, uint32_t entry_size, uint32_t *n, uint64_t *at, assay_error *error) {
    file->swap = as_hpc_machine_is_big();
    bool little = is_consistent(file, entry_size, n, at);
    file->swap = !file->swap;
    if (is_consistent(file, entry_size, n, at)) return ASSAY_OK; /* big-endian, as all real ones are */
    if (little) {
        file->swap = !file->swap;
        is_consistent(file, entry_size, n, at);
        return ASSAY_OK;
    }
    uint64_t size = as_hpc_u64(file, 24), needed = (uint64_t)*n * entry_size;
    if (size < needed || size - needed >= entry_size)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, 18), "index-size",
                       "its header has %u entries of %u bytes in a section of %llu bytes, in either byte order", *n,
                       entry_size, (unsigned long long)size);
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, 32), "outside-file",
                   "its %u entries should begin at %llu, but the file has %llu bytes", *n, (unsigned long long)*at,
                   (unsigned long long)file->size);
}

assay_status as_hpc_table_4(const as_hpc_file *file, uint32_t head, uint32_t least, uint64_t *section, uint32_t *n,
                            uint32_t *entry_size, uint64_t *at, assay_error *error) {
    *section = as_hpc_u64(file, 0x18);
    if (!as_hpc_fits(file, *section, head, 1))
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, 0x18), "outside-file",
                       "its first section should begin at %llu, but the file has %llu bytes",
                       (unsigned long long)*section, (unsigned long long)file->size);
    *at = as_hpc_u64(file, *section);
    *n = as_hpc_u32(file, *section + 8);
    *entry_size = file->data[*section + 12];
    if (*n && *entry_size < least)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, *section + 12), "entry-size",
                       "has entries of %u bytes; at least %u are needed", *entry_size, least);
    if (!as_hpc_fits(file, *at, *n, *entry_size))
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, *section), "outside-file",
                       "its %u entries of %u bytes should begin at %llu, but the file has %llu bytes", *n, *entry_size,
                       (unsigned long long)*at, (unsigned long long)file->size);
    return ASSAY_OK;
}

bool as_hpc_has_footer(const as_hpc_file *file, const char *footer, const char *other) {
    if (file->size < FOOTER) return false;
    const unsigned char *end = file->data + file->size - FOOTER;
    return memcmp(end, footer, FOOTER) == 0 || (other && memcmp(end, other, FOOTER) == 0);
}
