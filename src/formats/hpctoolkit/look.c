/* Telling the generations of databases apart, by the first bytes of their files. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hpctoolkit/hpctoolkit.h"

/* The root element may stand behind a document type of many lines. */
enum { XML_WINDOW = 1 << 15 };
enum { BITS_OF_MAGIC = 112, BITS_OF_ROOT_ELEMENT = 96, BITS_OF_NAME = 16 };

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool directory_of(const char *path, bool is_directory, char directory[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t size = is_directory ? strlen(path) : slash ? (size_t)(slash - path) + 1 : 0;
    if (size >= PATH_MAX) return false;
    memcpy(directory, path, size);
    directory[size] = 0;
    return true;
}

bool as_hpc_path(const char *directory, const char *name, char path[PATH_MAX]) {
    size_t size = strlen(directory);
    const char *slash = size && directory[size - 1] != '/' ? "/" : "";
    int n = snprintf(path, PATH_MAX, "%s%s%s", directory, slash, name);
    return n > 0 && n < PATH_MAX;
}

bool as_hpc_has(const char *directory, const char *name) {
    char path[PATH_MAX];
    struct stat status;
    return as_hpc_path(directory, name, path) && stat(path, &status) == 0;
}

assay_status as_hpc_directory(as_reader *reader, char directory[PATH_MAX]) {
    const as_input *input = reader->input;
    as_place place = as_place_file(input->path);
    if (!input->is_directory && !input->file_inode)
        return as_fail(reader->error, ASSAY_E_FORMAT, place, "no-directory",
                       "an HPCToolkit database is a directory of files; give its path");
    if (!directory_of(input->path, input->is_directory, directory))
        return as_fail(reader->error, ASSAY_E_IO, place, "io", "the path is too long");
    return ASSAY_OK;
}

static void close_input(void *input) { as_input_close(input); }

assay_status as_hpc_check_file(const char *path, assay_error *error) {
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) return ASSAY_OK;
    return as_fail(error, ASSAY_E_FORMAT, as_place_file(path), "no-file", "should be a file");
}

assay_status as_hpc_fail_name(const as_hpc_name_room *room, const char *path, assay_error *error) {
    if (!room->was_too_small) return as_fail_memory(error, path);
    return as_fail(error, ASSAY_E_FORMAT, as_place_file(path), "long-paths",
                   "paths of source files or modules are too long: names of loops and lines would be many times as "
                   "large as the file itself, which is probably damaged");
}

assay_status as_hpc_open_file(const as_reader *reader, const char *directory, const char *name, as_input **out,
                              assay_error *error) {
    char path[PATH_MAX];
    as_dataset *ds = reader->dataset;
    if (!as_hpc_path(directory, name, path))
        return as_fail(error, ASSAY_E_IO, as_place_file(directory), "io", "the path is too long");
    AS_TRY(as_hpc_check_file(path, error));
    as_input *input;
    AS_TRY(as_input_open(path, &ds->budget, &input, error));
    if (!as_ds_hold(ds, input, close_input)) return as_fail_memory(error, directory);
    bool is_input = reader->input->file_inode && reader->input->file_inode == input->file_inode &&
                    reader->input->file_device == input->file_device;
    if (!is_input) ds->input_size += input->size;
    *out = input;
    return ASSAY_OK;
}

/* ---- a first look ------------------------------------------------------------------------------------------------ */

/* What the names and first bytes of a directory's files say. */
typedef struct look {
    as_hpc_generation meta, profile, xml; /* AS_HPC_NO_DATABASE: not there, or of no known kind */
    bool has_meta, has_xml;
} look;

static size_t head_of(const char *directory, const char *name, uint64_t offset, char *head, size_t size) {
    char path[PATH_MAX];
    if (offset > INT64_MAX || !as_hpc_path(directory, name, path)) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) return 0;
    ssize_t n = pread(file, head, size, (off_t)offset);
    close(file);
    return n > 0 ? (size_t)n : 0;
}

static bool begins(const char *head, size_t size, const char *magic) {
    size_t n = strlen(magic);
    return size >= n && memcmp(head, magic, n) == 0;
}

static uint64_t little_u64(const char *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* The byte that says how large the elements of a section's table are: 12 behind the section's start, which the header
 * has at `pointer`. 0 where it cannot be had. */
static unsigned element_size(const char *directory, const char *name, uint64_t pointer) {
    char bytes[8];
    if (head_of(directory, name, pointer, bytes, 8) != 8) return 0;
    uint64_t section = little_u64(bytes);
    if (section > INT64_MAX - 12 || head_of(directory, name, section + 12, bytes, 1) != 1) return 0;
    return (unsigned char)bytes[0];
}

/* The text of version="…" in the root element. */
static as_hpc_generation generation_of_xml(const char *head, size_t size) {
    const char *root = memmem(head, size, "<HPCToolkitExperiment", 21);
    if (!root) return AS_HPC_NO_DATABASE;
    size -= (size_t)(root - head);
    const char *end = memchr(root, '>', size), *version = NULL;
    if (end) version = memmem(root, (size_t)(end - root), "version=", 8);
    if (!version || version + 9 >= end) return AS_HPC_NO_DATABASE;
    return version[9] >= '3' && version[9] <= '9' ? AS_HPC_GENERATION_2021 : AS_HPC_GENERATION_XML;
}

static look look_at(const char *directory) {
    char head[XML_WINDOW];
    look found = {.has_meta = as_hpc_has(directory, "meta.db"), .has_xml = as_hpc_has(directory, "experiment.xml")};
    size_t n = head_of(directory, "profile.db", 0, head, 16);
    if (begins(head, n, "HPCPROF-profdb__")) found.profile = AS_HPC_GENERATION_2021;
    if (begins(head, n, "HPCTOOLKITprof")) found.profile = AS_HPC_GENERATION_4;
    if (found.profile == AS_HPC_GENERATION_4) {
        unsigned entry = element_size(directory, "profile.db", 0x18);
        if (entry && entry < 48) found.profile = AS_HPC_GENERATION_DRAFT;
    }
    if (found.has_meta) {
        n = head_of(directory, "meta.db", 0, head, 16);
        if (begins(head, n, "HPCTOOLKITmeta")) {
            bool is_draft = found.profile == AS_HPC_GENERATION_DRAFT || element_size(directory, "meta.db", 0x38) == 24;
            found.meta = is_draft ? AS_HPC_GENERATION_DRAFT : AS_HPC_GENERATION_4;
        }
    }
    if (found.has_xml) found.xml = generation_of_xml(head, head_of(directory, "experiment.xml", 0, head, sizeof head));
    return found;
}

static as_hpc_generation generation_of_directory(const look *found, int *bits) {
    *bits = BITS_OF_MAGIC;
    if (found->meta) return found->meta;
    *bits = BITS_OF_ROOT_ELEMENT;
    if (found->xml) return found->xml;
    *bits = BITS_OF_NAME; /* the reader will say what is wrong with the rest */
    if (found->profile) return found->profile;
    return AS_HPC_NO_DATABASE;
}

static bool is_named(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Values or traces of all threads in one file, which has no magic: experiment-0.mdb, experiment.mt. */
static bool is_merged(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strcmp(name, "experiment.mt") == 0) return true;
    return strncmp(name, "experiment-", 11) == 0 && as_has_ending(name, ".mdb");
}

static bool is_of_form_4(as_hpc_generation generation) {
    return generation == AS_HPC_GENERATION_4 || generation == AS_HPC_GENERATION_DRAFT;
}

/* Of a file: its own bytes say the form, the files beside it the rest. */
static as_hpc_generation generation_of_file(const as_probe *probe, const char *directory, int *bits) {
    *bits = BITS_OF_MAGIC;
    if (begins(probe->head, probe->head_size, "HPCTOOLKIT")) {
        as_hpc_generation meta = look_at(directory).meta;
        return meta ? meta : AS_HPC_GENERATION_4;
    }
    if (begins(probe->head, probe->head_size, "HPCPROF-metricdb__") ||
        begins(probe->head, probe->head_size, "HPCRUN-trace______"))
        return AS_HPC_GENERATION_XML;
    if (begins(probe->head, probe->head_size, "HPCPROF-")) return AS_HPC_GENERATION_2021;
    *bits = BITS_OF_ROOT_ELEMENT;
    as_hpc_generation xml = generation_of_xml(probe->head, probe->head_size);
    if (xml) return xml;
    *bits = BITS_OF_NAME;
    if (is_merged(probe->path))
        return look_at(directory).xml == AS_HPC_GENERATION_XML ? AS_HPC_GENERATION_XML : AS_HPC_NO_DATABASE;
    bool is_meta = is_named(probe->path, "meta.db"), is_xml = is_named(probe->path, "experiment.xml");
    if (!is_meta && !is_xml) return AS_HPC_NO_DATABASE;
    as_hpc_generation profile = look_at(directory).profile;
    bool fits = profile && is_of_form_4(profile) == is_meta;
    return fits ? profile : AS_HPC_NO_DATABASE;
}

int as_hpc_bid(const as_probe *probe, as_hpc_generation generation) {
    char directory[PATH_MAX];
    int bits;
    if (!directory_of(probe->path, probe->is_directory, directory)) return 0;
    as_hpc_generation found;
    if (probe->is_directory) {
        look files = look_at(directory);
        found = generation_of_directory(&files, &bits);
    } else {
        found = generation_of_file(probe, directory, &bits);
    }
    return found == generation ? bits : 0;
}
