/* Directories of measured points: their names, which files there are, and reading several at a time. */
#include "formats/points.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/number.h"
#include "core/parallel.h"
#include "core/utf8.h"

enum { MAX_LOOKED_AT = 10000 };

/* ---- one name ---------------------------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_of_number(char c) { return is_digit(c) || c == '.' || c == ','; }

bool as_point_value(const char *text, size_t size, double *out) {
    char number[64];
    if (size >= sizeof number) return false;
    for (size_t i = 0; i < size; i++) number[i] = text[i] == ',' ? '.' : text[i];
    while (size && number[size - 1] == '.') size--;
    return size && as_real_parse(number, size, out);
}

uint64_t as_point_repetition(const char *digits, const char **end) {
    uint64_t repetition = 0;
    for (; is_digit(*digits); digits++) {
        if (repetition < UINT64_MAX / 100) repetition = repetition * 10 + (uint64_t)(*digits - '0');
    }
    if (end) *end = digits;
    return repetition;
}

static bool is_text(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return false;
    }
    return !as_utf8_invalid(text, size);
}

const char *as_point_parse(const char *text, as_point_name *out) {
    const char *dot = strchr(text, '.'), *at = dot ? dot + 1 : text, *end = strstr(text, ".r");
    out->n = 0;
    out->repetition = end ? as_point_repetition(end + 2, NULL) : 0;
    if (!end) end = text + strlen(text);
    while (at < end) {
        const char *word = at, *number;
        while (at < end && !is_of_number(*at)) at++;
        for (number = at; at < end && is_of_number(*at);) at++;
        if (number == at) return out->n ? "there is text behind its last number" : "there is no number in it";
        if (word == number) return "a number has no name before it";
        if (!is_text(word, (size_t)(number - word))) return "a name in it is no text";
        if (out->n == AS_POINT_MAX_PAIRS) return "it has too many parameters";
        as_point_pair *pair = &out->pairs[out->n++];
        *pair = (as_point_pair){.name = word, .size = (size_t)(number - word)};
        if (!as_point_value(number, (size_t)(at - number), &pair->value)) return "a value in it is no number";
    }
    return out->n ? NULL : "there is no parameter with a number in it";
}

/* ---- all names --------------------------------------------------------------------------------------------------- */

static as_point_file *file_at(const as_point_set *points, size_t i) { return &AS_AT(as_point_file, &points->files, i); }

#define FAIL_NAME(points, ...)                                                                                         \
    as_fail((points)->reader->error, ASSAY_E_FORMAT, as_place_file((points)->reader->input->path), "point-name",       \
            __VA_ARGS__)

/* "p, n" of a name, cut where there is no room. */
static void list_names(const as_point_name *name, char *out, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < name->n && at + 1 < size; i++) {
        int n = snprintf(out + at, size - at, "%s%.*s", i ? ", " : "", (int)name->pairs[i].size, name->pairs[i].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

static assay_status check_same(const as_point_set *points, const as_point_file *first, const as_point_file *file) {
    const as_point_name *a = first->name, *b = file->name;
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same =
            a->pairs[i].size == b->pairs[i].size && memcmp(a->pairs[i].name, b->pairs[i].name, a->pairs[i].size) == 0;
    if (same) return ASSAY_OK;
    char of_first[128], of_file[128];
    list_names(a, of_first, sizeof of_first);
    list_names(b, of_file, sizeof of_file);
    return FAIL_NAME(points, "the %s '%s' has the parameters %s, '%s' has %s; all must have the same in the same order",
                     points->what, file->directory, of_file, first->directory, of_first);
}

/* Files of one directory share its name. */
static assay_status parse_names(as_point_set *points) {
    for (size_t i = 0; i < points->files.count; i++) {
        as_point_file *file = file_at(points, i), *before = i ? file_at(points, i - 1) : NULL;
        if (before && before->directory == file->directory) {
            file->name = before->name;
            continue;
        }
        as_point_name *name = as_arena_alloc(&points->reader->dataset->arena, sizeof *name);
        if (!name) return as_reader_memory(points->reader);
        const char *problem = points->rules->parse(file->directory, name);
        if (problem)
            return FAIL_NAME(points, "the %s '%s' names no point: %s; names are like app.p16.n200.r1", points->what,
                             file->directory, problem);
        file->name = name;
        AS_TRY(check_same(points, file_at(points, 0), file));
    }
    return ASSAY_OK;
}

static bool varies(const as_point_set *points, size_t pair) {
    double first = file_at(points, 0)->name->pairs[pair].value;
    for (size_t i = 1; i < points->files.count; i++) {
        if (file_at(points, i)->name->pairs[pair].value != first) return true;
    }
    return false;
}

/* Which of the pairs are parameters. */
static size_t choose_parameters(const as_point_set *points, size_t kept[AS_POINT_MAX_PAIRS]) {
    size_t n_pairs = file_at(points, 0)->name->n, n = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        if (varies(points, i)) kept[n++] = i;
    }
    bool kept_some = n > 0 || !points->rules->takes_one_point;
    while (!kept_some && n < n_pairs) kept[n] = n, n++;
    return n;
}

static assay_status add_parameters(as_point_set *points) {
    as_dataset *ds = points->reader->dataset;
    const as_point_file *first = file_at(points, 0);
    size_t kept[AS_POINT_MAX_PAIRS], n = choose_parameters(points, kept);
    if (!n)
        return FAIL_NAME(points, "no parameter varies: a set needs directories of at least two points, named like "
                                 "app.p16.n200.r1");
    for (size_t i = 0; i < n; i++) {
        as_str name = as_ds_intern(ds, first->name->pairs[kept[i]].name, first->name->pairs[kept[i]].size);
        assay_id id = as_add_parameter(ds, name);
        if (id == ASSAY_NONE) return as_reader_memory(points->reader);
        if (id < i)
            return FAIL_NAME(points, "the parameter '%s' comes twice in '%s'", as_ds_text(ds, name), first->directory);
    }
    for (size_t i = 0; i < points->files.count; i++) {
        as_point_file *file = file_at(points, i);
        double *coordinates = as_arena_array(&ds->arena, n, sizeof *coordinates);
        if (!coordinates) return as_reader_memory(points->reader);
        for (size_t k = 0; k < n; k++) coordinates[k] = file->name->pairs[kept[k]].value;
        file->coordinates = coordinates;
    }
    return ASSAY_OK;
}

static int compare_points(const as_point_file *a, const as_point_file *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a->coordinates[i] != b->coordinates[i]) return a->coordinates[i] < b->coordinates[i] ? -1 : 1;
    }
    return 0;
}

static int compare_files(const void *a, const void *b, void *n_parameters) {
    const as_point_file *x = a, *y = b;
    int order = compare_points(x, y, *(const size_t *)n_parameters);
    if (order) return order;
    if (x->name->repetition != y->name->repetition) return x->name->repetition < y->name->repetition ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Points in ascending order, and a run for each file; those of one point are its repetitions. */
static assay_status add_points(as_point_set *points) {
    as_dataset *ds = points->reader->dataset;
    size_t n = as_ds_parameters(ds);
    uint32_t repetition = 0;
    qsort_r(points->files.data, points->files.count, sizeof(as_point_file), compare_files, &n);
    for (size_t i = 0; i < points->files.count; i++) {
        const as_point_file *file = file_at(points, i);
        repetition++;
        if (!i || compare_points(file_at(points, i - 1), file, n) != 0) {
            if (!as_vec_append(&ds->coordinates, file->coordinates, n)) return as_reader_memory(points->reader);
            ds->n_points++;
            repetition = 0;
        }
        as_run run = AS_RUN_INIT;
        run.source = as_ds_intern_text(ds, file->path);
        run.point = (assay_id)(ds->n_points - 1);
        run.repetition = repetition;
        assay_id id = run.source == AS_NO_STR ? ASSAY_NONE : as_add_run(ds, &run);
        bool fine = id != ASSAY_NONE && (!points->rules->counts_ranks ||
                                         as_add_attribute(ds, AS_OWNER_RUN, id, "rank", as_cell_int(file->rank)));
        if (!fine) return as_reader_memory(points->reader);
    }
    return ASSAY_OK;
}

/* ---- a look ------------------------------------------------------------------------------------------------------ */

/* Whether a directory has such a file; looks at so many entries at most. */
static bool has_file(int parent, const char *name, const char *ending, size_t *left) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    if (!directory && fd >= 0) close(fd);
    for (struct dirent *entry; directory && !found && *left && (entry = readdir(directory)) != NULL; (*left)--)
        found = entry->d_name[0] != '.' && as_has_ending(entry->d_name, ending);
    if (directory) closedir(directory);
    return found;
}

as_points_seen as_point_set_look(const char *path, const char *ending) {
    size_t left = MAX_LOOKED_AT;
    as_points_seen found = AS_POINTS_NONE;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && left && (entry = readdir(directory)) != NULL; left -= left > 0) {
        bool may_be_one = entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
        if (entry->d_name[0] == '.') continue;
        if (may_be_one && has_file(dirfd(directory), entry->d_name, ending, &left)) {
            found = AS_POINTS_DIRECTORIES;
            break;
        }
        if (as_has_ending(entry->d_name, ending)) found = AS_POINTS_FILES;
    }
    if (directory) closedir(directory);
    return found;
}

/* ---- which files ------------------------------------------------------------------------------------------------- */

static char *join(as_point_set *points, const char *directory, const char *name) {
    size_t size = strlen(directory), total = size + strlen(name) + 2;
    char *path = as_arena_alloc(&points->reader->dataset->arena, total);
    while (size > 1 && directory[size - 1] == '/') size--;
    if (path) snprintf(path, total, "%.*s/%s", (int)size, directory, name);
    return path;
}

static bool is_one(const as_point_set *points, const as_directory_entry *entry) {
    return !entry->is_directory && as_has_ending(entry->name, points->rules->ending);
}

static assay_status list_point(as_point_set *points, const char *name) {
    as_dataset *ds = points->reader->dataset;
    const char *path = join(points, points->reader->input->path, name),
               *kept = as_arena_copy(&ds->arena, name, strlen(name));
    if (!path || !kept) return as_reader_memory(points->reader);
    as_directory directory;
    uint32_t rank = 0;
    assay_status status = as_directory_list(path, &ds->budget, &directory, points->reader->error);
    for (size_t i = 0; i < directory.n_entries && status == ASSAY_OK; i++) {
        if (!is_one(points, &directory.entries[i])) continue;
        as_point_file file = {.path = join(points, path, directory.entries[i].name), .directory = kept, .rank = rank++};
        if (!file.path || !as_vec_append(&points->files, &file, 1)) status = as_reader_memory(points->reader);
    }
    as_directory_free(&directory);
    return status;
}

/* point: of the directory they are in; NULL: each file is named like its own. */
static bool add_lone_file(as_point_set *points, const char *name, const char *point) {
    size_t size = strlen(name) - strlen(points->rules->ending);
    as_point_file file = {.path = join(points, points->reader->input->path, name),
                          .directory = point ? point : as_arena_copy(&points->reader->dataset->arena, name, size),
                          .rank = point ? (uint32_t)points->files.count : 0};
    return file.path && file.directory && as_vec_append(&points->files, &file, 1);
}

/* One point of a set that is given alone, "app.n64/rank0.sqlite": the name of the directory says it, those of the files
 * have no point in them. NULL: it is none, or memory is out. */
static const char *own_point(const as_point_set *points, const as_directory *directory) {
    as_point_name name;
    const char *path = points->reader->input->path, *ending = points->rules->ending;
    size_t size = strlen(path), begin;
    while (size > 0 && path[size - 1] == '/') size--;
    for (begin = size; begin > 0 && path[begin - 1] != '/';) begin--;
    const char *own = as_arena_copy(&points->reader->dataset->arena, path + begin, size - begin);
    bool is_point = own && strchr(own, '.') && !points->rules->parse(own, &name);
    for (size_t i = 0; i < directory->n_entries && is_point; i++) {
        const char *file = directory->entries[i].name;
        is_point = !is_one(points, &directory->entries[i]) || strcspn(file, ".") >= strlen(file) - strlen(ending);
    }
    return is_point ? own : NULL;
}

static assay_status fail_no_files(const as_point_set *points, const char *lone) {
    const char *ending = points->rules->ending;
    as_place place = as_place_file(points->reader->input->path);
    if (lone)
        return as_fail(
            points->reader->error, ASSAY_E_FORMAT, place, "no-files",
            "is no set, which is DIR/POINT/FILE%s, but has %s; give that file, or the directory that all points are in",
            ending, lone);
    return as_fail(points->reader->error, ASSAY_E_FORMAT, place, "no-files",
                   "there are no %s files in the directories of this one; a set is DIR/POINT/FILE%s", ending, ending);
}

/* What is there but in no directory of a point. */
static assay_status list_lone_files(as_point_set *points, const as_directory *directory) {
    const char *lone = NULL, *point = points->rules->takes_files ? own_point(points, directory) : NULL;
    points->what = point ? "directory" : "file";
    for (size_t i = 0; i < directory->n_entries; i++) {
        const as_directory_entry *entry = &directory->entries[i];
        if (!is_one(points, entry)) continue;
        if (!lone) lone = entry->name;
        if (points->rules->takes_files && !add_lone_file(points, entry->name, point))
            return as_reader_memory(points->reader);
    }
    return points->files.count ? ASSAY_OK : fail_no_files(points, lone);
}

static bool is_same(const char *text, const char *name, size_t size) {
    return strlen(text) == size && memcmp(text, name, size) == 0;
}

/* Whether a name is one of "app.p4:app.p8"; "" are all. */
static bool is_among(const char *names, const char *name) {
    for (const char *at = names; *names; at++) {
        size_t n = strcspn(at, ":");
        if (is_same(name, at, n)) return true;
        if (!*(at += n)) return false;
    }
    return true;
}

/* Each name of the option is a point. */
static assay_status check_chosen(const as_point_set *points, const char *names) {
    for (const char *at = names; *names; at++) {
        size_t n = strcspn(at, ":"), i = 0;
        while (i < points->files.count && !is_same(file_at(points, i)->directory, at, n)) i++;
        if (i == points->files.count)
            return as_fail(points->reader->error, ASSAY_E_USAGE, as_place_file(points->reader->input->path), "",
                           "has no directory '%.*s' with %s files, which -O points names", (int)(n < 200 ? n : 200), at,
                           points->rules->ending);
        if (!*(at += n)) break;
    }
    return ASSAY_OK;
}

static assay_status list_files(as_point_set *points) {
    as_directory directory;
    const char *chosen = as_option_text(&points->reader->options, "points");
    assay_status status = as_directory_list(points->reader->input->path, &points->reader->dataset->budget, &directory,
                                            points->reader->error);
    for (size_t i = 0; i < directory.n_entries && status == ASSAY_OK; i++) {
        bool is_wanted = directory.entries[i].is_directory && is_among(chosen, directory.entries[i].name);
        if (is_wanted) status = list_point(points, directory.entries[i].name);
    }
    if (status == ASSAY_OK) status = check_chosen(points, chosen);
    if (status == ASSAY_OK && !points->files.count) status = list_lone_files(points, &directory);
    as_directory_free(&directory);
    return status;
}

/* ---- reading them ------------------------------------------------------------------------------------------------ */

typedef struct read_job {
    const as_point_set *points;
    as_point_read *read;
    void *user;
    pthread_t caller;
    bool *done;
    size_t n_done;       /* atomic */
    bool is_cancelled;   /* atomic */
    size_t first_failed; /* none behind it is wanted; atomic */
    pthread_mutex_t failing;
    assay_status status; /* of the first that failed */
    assay_error error;
} read_job;

/* All before it are still read, so that the error which is reported does not depend on who was faster. */
static void note_failure(read_job *job, size_t i, assay_status status, const assay_error *error) {
    pthread_mutex_lock(&job->failing);
    if (i < job->first_failed) {
        job->status = status;
        job->error = *error;
        __atomic_store_n(&job->first_failed, i, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&job->failing);
}

static void read_one(void *user, size_t i) {
    read_job *job = user;
    as_reader *reader = job->points->reader;
    assay_error error = {0};
    if (__atomic_load_n(&job->is_cancelled, __ATOMIC_RELAXED)) return;
    if (i > __atomic_load_n(&job->first_failed, __ATOMIC_RELAXED)) return;
    assay_status status = job->read(job->user, i, &error);
    job->done[i] = status == ASSAY_OK;
    if (status != ASSAY_OK) note_failure(job, i, status, &error);
    size_t done = __atomic_add_fetch(&job->n_done, 1, __ATOMIC_RELAXED);
    if (!reader->progress || !pthread_equal(pthread_self(), job->caller)) return;
    double fraction = (double)done / (double)job->points->files.count;
    if (!reader->progress(reader->user, "reading", fraction < 1 ? fraction : 1))
        __atomic_store_n(&job->is_cancelled, true, __ATOMIC_RELAXED);
}

assay_status as_point_set_read(const as_point_set *points, as_point_read *read, void *user) {
    as_reader *reader = points->reader;
    size_t n = points->files.count;
    read_job job = {.points = points,
                    .read = read,
                    .user = user,
                    .caller = pthread_self(),
                    .done = calloc(n + 1, sizeof(bool)),
                    .first_failed = SIZE_MAX,
                    .failing = PTHREAD_MUTEX_INITIALIZER};
    if (!job.done) return as_reader_memory(reader);
    as_parallel(n, reader->threads, read_one, &job);
    if (job.first_failed != SIZE_MAX && job.status == ASSAY_E_NOMEM) {
        job.first_failed = SIZE_MAX;
        job.status = ASSAY_OK;
        for (size_t i = 0; i < n; i++) {
            if (!job.done[i]) read_one(&job, i);
        }
    }
    free(job.done);
    pthread_mutex_destroy(&job.failing);
    if (job.is_cancelled)
        return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(reader->input->path), "cancelled", "cancelled");
    if (job.status != ASSAY_OK && reader->error) *reader->error = job.error;
    return job.status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

assay_status as_point_set_find(as_reader *reader, const as_point_rules *rules, as_point_set *out) {
    *out = (as_point_set){.reader = reader, .rules = rules, .what = "directory"};
    as_vec_init(&out->files, sizeof(as_point_file), &reader->dataset->budget);
    if (!reader->input->is_directory)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(reader->input->path), "not-a-directory",
                       "is a file; a set is a directory DIR/POINT/FILE%s", rules->ending);
    AS_TRY(list_files(out));
    AS_TRY(parse_names(out));
    AS_TRY(add_parameters(out));
    return add_points(out);
}

void as_point_set_free(as_point_set *points) { as_vec_free(&points->files); }

/* ---- series ------------------------------------------------------------------------------------------------------ */

assay_status as_point_set_add_series(as_reader *reader, const uint32_t *counts) {
    as_dataset *ds = reader->dataset;
    size_t n_contexts = ds->contexts.count, n_incomplete = 0, n_missing = 0, first = 0;
    uint32_t n_callpaths = 0;
    for (assay_id c = 0; c < n_contexts; c++) {
        as_context *context = &AS_AT(as_context, &ds->contexts, c);
        for (assay_id m = 0; m < ds->metrics.count; m++) {
            uint32_t n = counts[(size_t)m * n_contexts + c];
            if (!n) continue;
            if (!context->is_callpath) context->callpath_order = n_callpaths++;
            context->is_callpath = true;
            if (n < ds->n_points && !n_incomplete++) n_missing = ds->n_points - n, first = ds->series.count;
            as_series series = {.metric = m, .context = c};
            if (!as_vec_append(&ds->series, &series, 1)) return as_reader_memory(reader);
        }
    }
    bool fine = !n_incomplete || as_add_missing_points(ds, as_place_file(reader->input->path), as_ds_series(ds, first),
                                                       n_missing, n_incomplete);
    return fine ? ASSAY_OK : as_reader_memory(reader);
}

static void count_points(const as_dataset *ds, uint32_t *counts) {
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        for (uint32_t k = 0; k < block->n_contexts; k++) {
            uint32_t *count = &counts[(size_t)block->metric * ds->contexts.count + block->contexts[k]];
            assay_id last = ASSAY_NONE;
            for (uint64_t row = block->starts[k]; row < block->starts[k + 1]; row++) {
                assay_id point = as_ds_run(ds, as_block_run(block, row))->point;
                *count += point != last;
                last = point;
            }
        }
    }
}

assay_status as_point_set_add_block_series(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    size_t n;
    as_vec counts;
    as_vec_init(&counts, sizeof(uint32_t), &ds->budget);
    bool fine = as_mul_size(ds->contexts.count, ds->metrics.count, &n) && as_vec_reserve(&counts, n + 1);
    if (fine) {
        memset(counts.data, 0, (n + 1) * sizeof(uint32_t));
        count_points(ds, counts.data);
    }
    assay_status status = fine ? as_point_set_add_series(reader, counts.data) : as_reader_memory(reader);
    as_vec_free(&counts);
    return status;
}
