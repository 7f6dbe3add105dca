/* The format `cube-set`: a directory of measured points. */
#include "formats/cube/set.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/parallel.h"
#include "formats/cube/rows.h"
#include "io/directory.h"

/* ONE_FILE_BITS: for a directory that has .cubex files itself, so that reading can say what to do. */
enum { BID_BITS = 56, ONE_FILE_BITS = 8, BID_ENTRIES = 10000 };

static const char FULL_UINT64[] = "full-uint64";

static const as_option read_options[] = {
    {"scaling", AS_OPTION_CHOICE, "weak", "weak|weak_threaded|strong",
     "how the values of a point's locations become one: all in one pool, the same without zeros, or summed for each "
     "run"},
    {FULL_UINT64, AS_OPTION_BOOL, "no", NULL,
     "sums take a UINT64 above 2^64 - 1025 as it stands, instead of as a counter that ran below zero"},
    {NULL, AS_OPTION_TEXT, NULL, NULL, NULL},
};

/* ---- bid ------------------------------------------------------------------------------------------------------------- */

/* Whether a directory has a .cubex; looks at so many entries at most. */
static bool has_cubex(int parent, const char *name, size_t *left) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    if (!directory && fd >= 0) close(fd);
    for (struct dirent *entry; directory && !found && *left && (entry = readdir(directory)) != NULL; (*left)--)
        found = entry->d_name[0] != '.' && as_has_ending(entry->d_name, ".cubex");
    if (directory) closedir(directory);
    return found;
}

/* The probe has nothing of a directory but its name: hence a bounded look into it. */
static int bid_set(const as_probe *probe) {
    if (!probe->is_directory) return 0;
    size_t left = BID_ENTRIES;
    bool found = false, has_one = false;
    DIR *directory = opendir(probe->path);
    for (struct dirent *entry; directory && !found && left && (entry = readdir(directory)) != NULL; left--) {
        bool may_be_one = entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
        if (entry->d_name[0] == '.') continue;
        has_one |= as_has_ending(entry->d_name, ".cubex");
        found = may_be_one && has_cubex(dirfd(directory), entry->d_name, &left);
    }
    if (directory) closedir(directory);
    return found ? BID_BITS : has_one ? ONE_FILE_BITS : 0;
}

/* ---- which files ----------------------------------------------------------------------------------------------------- */

static char *join(as_set *set, const char *directory, const char *name) {
    size_t size = strlen(directory), total = size + strlen(name) + 2;
    char *path = as_arena_alloc(&set->ds->arena, total);
    while (size > 1 && directory[size - 1] == '/') size--;
    if (path) snprintf(path, total, "%.*s/%s", (int)size, directory, name);
    return path;
}

static assay_status list_point(as_set *set, const char *name) {
    const char *path = join(set, set->reader->input->path, name),
               *kept = as_arena_copy(&set->ds->arena, name, strlen(name));
    if (!path || !kept) return as_reader_memory(set->reader);
    as_directory directory;
    assay_status status = as_directory_list(path, &set->ds->budget, &directory, set->reader->error);
    for (size_t i = 0; i < directory.n_entries && status == ASSAY_OK; i++) {
        const as_directory_entry *entry = &directory.entries[i];
        if (entry->is_directory || !as_has_ending(entry->name, ".cubex")) continue;
        as_set_file file = {.path = join(set, path, entry->name), .directory = kept};
        if (!file.path || !as_vec_append(&set->files, &file, 1)) status = as_reader_memory(set->reader);
    }
    as_directory_free(&directory);
    return status;
}

static assay_status list_files(as_set *set) {
    const char *path = set->reader->input->path;
    as_directory directory;
    char lone[256] = "";
    assay_status status = as_directory_list(path, &set->ds->budget, &directory, set->reader->error);
    for (size_t i = 0; i < directory.n_entries && status == ASSAY_OK; i++) {
        const as_directory_entry *entry = &directory.entries[i];
        if (entry->is_directory)
            status = list_point(set, entry->name);
        else if (!lone[0] && as_has_ending(entry->name, ".cubex"))
            snprintf(lone, sizeof lone, "%s", entry->name);
    }
    as_directory_free(&directory);
    if (status != ASSAY_OK || set->files.count) return status;
    as_place place = as_place_file(path);
    if (lone[0])
        return as_fail(set->reader->error, ASSAY_E_FORMAT, place, "no-files",
                       "is no set, which is DIR/POINT/FILE.cubex, but has %s; give that file", lone);
    return as_fail(set->reader->error, ASSAY_E_FORMAT, place, "no-files",
                   "there are no .cubex files in the directories of this one; a set is DIR/POINT/FILE.cubex");
}

/* ---- reading them ---------------------------------------------------------------------------------------------------- */

typedef struct read_job {
    as_set *set;
    pthread_t caller;
} read_job;

/* Formulas are those of the set: what is wrong with them is said once, not for each file. */
static void forget_formulas(as_dataset *part) {
    size_t n = 0;
    for (size_t i = 0; i < part->problems.count; i++) {
        as_problem problem = *as_ds_problem(part, i);
        if (strcmp(as_ds_text(part, problem.rule), "cubepl") != 0) AS_AT(as_problem, &part->problems, n++) = problem;
    }
    part->problems.count = n;
}

/* All before it are still read, so that the error which is reported does not depend on who was faster. */
static void note_failure(as_set *set, size_t i) {
    size_t first = __atomic_load_n(&set->first_failed, __ATOMIC_RELAXED);
    while (i < first &&
           !__atomic_compare_exchange_n(&set->first_failed, &first, i, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void read_one(void *user, size_t i) {
    read_job *job = user;
    as_set *set = job->set;
    as_set_file *file = &AS_AT(as_set_file, &set->files, i);
    as_reader *reader = set->reader;
    if (__atomic_load_n(&set->is_cancelled, __ATOMIC_RELAXED)) return;
    if (i > __atomic_load_n(&set->first_failed, __ATOMIC_RELAXED)) return;
    as_read_config config = {.format = "cube",
                             .options = set->options,
                             .memory_limit = set->ds->budget.limit,
                             .budget = &set->ds->budget,
                             .depth_limit = reader->max_depth,
                             .keep_going = reader->keep_going};
    file->status = as_read(file->path, &config, &file->part, &file->error);
    for (size_t k = 0; file->status == ASSAY_OK && k < file->part->profiles.count; k++)
        file->status = as_cube_list(&AS_AT(as_profile, &file->part->profiles, k), &file->error);
    if (file->status == ASSAY_OK)
        forget_formulas(file->part);
    else
        note_failure(set, i);
    size_t done = __atomic_add_fetch(&set->n_done, 1, __ATOMIC_RELAXED);
    if (!reader->progress || !pthread_equal(pthread_self(), job->caller)) return;
    if (!reader->progress(reader->user, "reading", (double)done / (double)set->files.count))
        __atomic_store_n(&set->is_cancelled, true, __ATOMIC_RELAXED);
}

/* Several at a time. */
static assay_status read_files(as_set *set) {
    as_reader *reader = set->reader;
    read_job job = {set, pthread_self()};
    set->first_failed = SIZE_MAX;
    as_parallel(set->files.count, reader->threads, read_one, &job);
    if (set->is_cancelled)
        return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(reader->input->path), "cancelled", "cancelled");
    for (size_t i = 0; i < set->files.count; i++) {
        const as_set_file *file = &AS_AT(as_set_file, &set->files, i);
        if (file->status == ASSAY_OK) continue;
        if (reader->error) *reader->error = file->error;
        return file->status;
    }
    return ASSAY_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

static as_scaling chosen_scaling(const as_options *options) {
    const char *text = as_option_text(options, "scaling");
    as_scaling scaling = AS_SCALING_STRONG;
    while (scaling > AS_SCALING_WEAK && strcmp(text, as_scaling_name(scaling)) != 0) scaling--;
    return scaling;
}

static assay_status read_all(as_set *set) {
    AS_TRY(list_files(set));
    AS_TRY(as_set_find_points(set));
    AS_TRY(read_files(set));
    AS_TRY(as_set_unite(set));
    AS_TRY(as_set_find_series(set));
    set->ds->pooling = chosen_scaling(&set->reader->options);
    as_cell scaling = as_cell_text(as_scaling_name(set->ds->pooling));
    return as_add_attribute(set->ds, AS_OWNER_DATASET, 0, "scaling", scaling) ? ASSAY_OK
                                                                              : as_reader_memory(set->reader);
}

static assay_status read_set(as_reader *reader) {
    const char *options[] = {as_option_bool(&reader->options, FULL_UINT64) ? "full-uint64=yes" : NULL, NULL};
    as_set set = {.reader = reader, .ds = reader->dataset, .options = options};
    if (!reader->input->is_directory)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(reader->input->path), "not-a-directory",
                       "is a file; a set is a directory DIR/POINT/FILE.cubex");
    as_vec_init(&set.files, sizeof(as_set_file), &reader->dataset->budget);
    assay_status status = read_all(&set);
    for (size_t i = 0; i < set.files.count; i++) as_dataset_free(AS_AT(as_set_file, &set.files, i).part);
    as_vec_free(&set.files);
    return status;
}

const struct assay_format as_format_cube_set = {
    .name = "cube-set",
    .title = "Cube experiment",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
             AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN,
    .reads_directories = true,
    .writes_directories = true,
    .writes_points = true,
    .read_options = read_options,
    .write_options = as_cube_write_options,
    .bid = bid_set,
    .read = read_set,
    .write = as_cube_set_write,
    .losses = as_cube_set_losses,
    .remarks = as_cube_set_remarks,
};
