/* What is in a store: its files, what the indexes say of them, and the profiles that come of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "formats/perun/store.h"
#include "io/directory.h"
#include "io/gzip.h"

char *as_perun_path(as_perun_store *store, const char *root, const char *a, const char *b) {
    size_t size = strlen(root), total = size + strlen(a) + (b ? strlen(b) + 1 : 0) + 2;
    while (size > 1 && root[size - 1] == '/') size--;
    char *path = as_arena_alloc(&store->ds->arena, total);
    if (path) snprintf(path, total, "%.*s/%s%s%s", (int)size, root, a, b ? "/" : "", b ? b : "");
    return path;
}

char *as_perun_object_path(as_perun_store *store, const char *root, const char *hex, const char *ending) {
    char name[16 + AS_PERUN_HEX + 16];
    snprintf(name, sizeof name, "objects/%.2s/%s%s", hex, hex + 2, ending);
    return as_perun_path(store, root, name, NULL);
}

bool as_perun_is_partial(assay_status status) { return status == ASSAY_E_FORMAT || status == ASSAY_E_IO; }

void as_perun_leave_out(as_perun_store *store, const assay_error *error) {
    as_place place = {.path = error->path, .offset = error->offset, .line = error->line, .column = error->column};
    as_leave_out(store->reader, place, error->rule, "%s; left out", error->message);
    if (store->n_bad++ == 0) store->first = *error;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool is_hex(const char *text, size_t size) { return strspn(text, "0123456789abcdef") >= size; }

/* What the file is by its first bytes; false, with a problem, where it is nothing of a store's. */
static assay_status look_at(as_perun_store *store, as_perun_file *file, bool *is_known) {
    const char *path = as_perun_object_path(store, store->root, file->hex, "");
    if (!path) return as_reader_memory(store->reader);
    as_input *input;
    assay_error error;
    *is_known = false;
    assay_status status = as_input_open(path, &store->ds->budget, &input, &error);
    if (status == ASSAY_OK) {
        store->ds->input_size += input->size;
        bool is_index = as_perun_is_index(input->data, input->size);
        *is_known = is_index || as_perun_is_object(input->data, input->size);
        file->type = is_index ? AS_PERUN_FILE_INDEX : AS_PERUN_FILE_OBJECT;
        as_input_close(input);
        if (!*is_known)
            status = as_fail(&error, ASSAY_E_FORMAT, as_place_offset(path, 0), "store-object",
                             "is neither an index (\"pidx\") nor a stored profile (zlib)");
    }
    if (!as_perun_is_partial(status)) {
        if (status != ASSAY_OK && store->reader->error) *store->reader->error = error;
        return status;
    }
    as_perun_leave_out(store, &error);
    return ASSAY_OK;
}

static assay_status add_file(as_perun_store *store, const char *folder, const char *name) {
    enum { REST = AS_PERUN_HEX - 2 };
    if (!is_hex(name, REST)) return ASSAY_OK;
    bool is_changes = strcmp(name + REST, ".changes") == 0, is_known = true;
    if (!is_changes && name[REST]) return ASSAY_OK;
    as_perun_file file = {.type = AS_PERUN_FILE_CHANGES};
    memcpy(file.hex, folder, 2);
    memcpy(file.hex + 2, name, REST);
    if (!is_changes) AS_TRY(look_at(store, &file, &is_known));
    if (!is_known || as_vec_append(&store->files, &file, 1)) return ASSAY_OK;
    return as_reader_memory(store->reader);
}

static assay_status list_folder(as_perun_store *store, const char *objects, const char *name) {
    if (strlen(name) != 2 || !is_hex(name, 2)) return ASSAY_OK;
    const char *path = as_perun_path(store, objects, name, NULL);
    if (!path) return as_reader_memory(store->reader);
    as_directory folder;
    assay_error error;
    assay_status status = as_directory_list(path, &store->ds->budget, &folder, &error);
    if (as_perun_is_partial(status)) {
        as_perun_leave_out(store, &error);
        status = ASSAY_OK;
    } else if (status != ASSAY_OK && store->reader->error)
        *store->reader->error = error;
    for (size_t i = 0; i < folder.n_entries && status == ASSAY_OK; i++) {
        if (!folder.entries[i].is_directory) status = add_file(store, name, folder.entries[i].name);
    }
    as_directory_free(&folder);
    return status;
}

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static assay_status list_objects(as_perun_store *store) {
    const char *path = as_perun_path(store, store->root, "objects", NULL);
    if (!path) return as_reader_memory(store->reader);
    if (!is_directory(path)) return ASSAY_OK;
    as_directory folders;
    assay_status status = as_directory_list(path, &store->ds->budget, &folders, store->reader->error);
    for (size_t i = 0; i < folders.n_entries && status == ASSAY_OK; i++) {
        if (folders.entries[i].is_directory) status = list_folder(store, path, folders.entries[i].name);
    }
    as_directory_free(&folders);
    return status;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static as_perun_stored *add_profile(as_perun_store *store, const char *path, const char *id) {
    as_perun_stored *new = as_vec_push(&store->profiles);
    if (!new || !path) return NULL;
    *new = (as_perun_stored){.path = as_ds_intern_text(store->ds, path),
                             .id = as_ds_intern_text(store->ds, id),
                             .name = AS_NO_STR,
                             .commit = AS_NO_STR,
                             .time = NAN,
                             .commit_time = NAN};
    for (int i = 0; i < AS_PERUN_DETAILS; i++) new->details[i] = AS_NO_STR;
    return new->path == AS_NO_STR || new->id == AS_NO_STR ? NULL : new;
}

/* What an entry says of a profile. False when memory is out. */
static bool describe(as_dataset *ds, as_perun_stored *profile, const as_perun_entry *entry) {
    profile->time = entry->time;
    profile->name = as_ds_intern(ds, entry->name.text, entry->name.size);
    bool fine = profile->name != AS_NO_STR;
    for (int i = 0; i < AS_PERUN_DETAILS && entry->has_details && fine; i++) {
        profile->details[i] = as_ds_intern(ds, entry->details[i].text, entry->details[i].size);
        fine = profile->details[i] != AS_NO_STR;
    }
    return fine;
}

static int compare_hex(const void *key, const void *file) {
    return memcmp(key, ((const as_perun_file *)file)->hex, AS_PERUN_HEX);
}

/* The stored profile of this hash, or NULL. */
static as_perun_file *find_object(as_perun_store *store, const char *hex) {
    size_t n = store->files.count;
    as_perun_file *files = store->files.data, *found = n ? bsearch(hex, files, n, sizeof *files, compare_hex) : NULL;
    if (!found) return NULL;
    while (found > files && compare_hex(hex, found - 1) == 0) found--; /* its changes have the same name */
    for (; found < files + n && compare_hex(hex, found) == 0; found++) {
        if (found->type == AS_PERUN_FILE_OBJECT) return found;
    }
    return NULL;
}

static void hex_of(const unsigned char *hash, char hex[AS_PERUN_HEX + 1]) {
    static const char DIGITS[] = "0123456789abcdef";
    for (size_t i = 0; i < AS_PERUN_HASH; i++) {
        hex[2 * i] = DIGITS[hash[i] >> 4];
        hex[2 * i + 1] = DIGITS[hash[i] & 15];
    }
    hex[AS_PERUN_HEX] = '\0';
}

static void complain(as_perun_store *store, const char *path, size_t offset, const char *rule, const char *what) {
    assay_error error;
    as_fail(&error, ASSAY_E_FORMAT, as_place_offset(path, offset), rule, "%s", what);
    as_perun_leave_out(store, &error);
}

/* An entry of a commit's index. */
static assay_status add_entry(as_perun_store *store, const char *path, as_str commit, double commit_time,
                              const as_perun_entry *entry) {
    char hex[AS_PERUN_HEX + 1];
    hex_of(entry->hash, hex);
    as_perun_file *object = find_object(store, hex);
    if (!object) {
        complain(store, path, entry->offset, "store-missing", "the index names a profile that is not in the store");
        return ASSAY_OK;
    }
    object->is_listed = true;
    as_perun_stored *profile = add_profile(store, as_perun_object_path(store, store->root, hex, ""), hex);
    if (!profile || !describe(store->ds, profile, entry)) return as_reader_memory(store->reader);
    profile->commit = commit;
    profile->commit_time = commit_time;
    return ASSAY_OK;
}

/* Opens a file of the store; *out is NULL where it could not be, which is a problem now. */
static assay_status open_part(as_perun_store *store, const char *path, as_input **out) {
    assay_error error;
    *out = NULL;
    assay_status status = as_input_open(path, &store->ds->budget, out, &error);
    if (status == ASSAY_OK) return status;
    *out = NULL;
    if (!as_perun_is_partial(status)) {
        if (store->reader->error) *store->reader->error = error;
        return status;
    }
    as_perun_leave_out(store, &error);
    return ASSAY_OK;
}

static assay_status read_index(as_perun_store *store, const char *hex) {
    const char *path = as_perun_object_path(store, store->root, hex, "");
    as_str commit = as_ds_intern_text(store->ds, hex);
    if (!path || commit == AS_NO_STR) return as_reader_memory(store->reader);
    as_input *input;
    AS_TRY(open_part(store, path, &input));
    if (!input) return ASSAY_OK;
    as_perun_index index;
    as_perun_entry entry;
    double time = as_perun_commit_time(store, hex);
    assay_status status = ASSAY_OK;
    if (as_perun_index_begin(&index, input->data, input->size)) {
        if (index.version > store->version) store->version = index.version;
        while (status == ASSAY_OK && as_perun_index_next(&index, &entry))
            status = add_entry(store, path, commit, time, &entry);
    }
    if (index.problem) complain(store, path, index.problem_at, "store-index", index.problem);
    as_input_close(input);
    return status;
}

/* Stored profiles that no index names, in the order of their names: removing one from an index leaves it there. */
static assay_status add_unlisted(as_perun_store *store) {
    size_t n = 0;
    for (size_t i = 0; i < store->files.count; i++) {
        const as_perun_file *file = &AS_AT(as_perun_file, &store->files, i);
        if (file->type != AS_PERUN_FILE_OBJECT || file->is_listed) continue;
        if (!add_profile(store, as_perun_object_path(store, store->root, file->hex, ""), file->hex))
            return as_reader_memory(store->reader);
        n++;
    }
    if (n)
        as_add_problem(store->ds, AS_NOTE, as_place_file(store->root), "store-unlisted",
                       "%zu stored profile%s in no commit's index: removed from it, or its index is lost", n,
                       n == 1 ? " is" : "s are");
    return ASSAY_OK;
}

/* ---- pending profiles -------------------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right) {
    const as_perun_entry *a = left, *b = right;
    size_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order = size ? memcmp(a->name.text, b->name.text, size) : 0;
    if (order == 0 && a->name.size != b->name.size) order = a->name.size < b->name.size ? -1 : 1;
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

/* What jobs/.index says, sorted by names; of the same name twice the later one is found. */
static assay_status list_entries(as_perun_store *store, const char *path, const as_input *input, as_vec *entries) {
    as_perun_index index;
    as_perun_entry entry;
    if (as_perun_index_begin(&index, input->data, input->size)) {
        while (as_perun_index_next(&index, &entry)) {
            if (!as_vec_append(entries, &entry, 1)) return as_reader_memory(store->reader);
        }
    }
    if (index.problem) complain(store, path, index.problem_at, "store-index", index.problem);
    if (entries->count) qsort(entries->data, entries->count, sizeof entry, compare_names);
    return ASSAY_OK;
}

static const as_perun_entry *find_entry(const as_vec *entries, const char *name) {
    as_perun_entry key = {.name = {name, strlen(name)}, .offset = SIZE_MAX};
    size_t low = 0, high = entries->count; /* behind all of this name */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&AS_AT(as_perun_entry, entries, middle), &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const as_perun_entry *found = low ? &AS_AT(as_perun_entry, entries, low - 1) : NULL;
    bool is_same = found && found->name.size == key.name.size && memcmp(found->name.text, name, key.name.size) == 0;
    return is_same ? found : NULL;
}

static assay_status add_pending(as_perun_store *store, const char *jobs, const char *name, const as_vec *entries) {
    if (!as_has_ending(name, ".perf")) return ASSAY_OK;
    const char *path = as_perun_path(store, jobs, name, NULL);
    as_perun_stored *profile = add_profile(store, path, name);
    if (!profile) return as_reader_memory(store->reader);
    const as_perun_entry *entry = find_entry(entries, name);
    if (entry && !describe(store->ds, profile, entry)) return as_reader_memory(store->reader);
    profile->is_pending = true;
    profile->name = profile->id;
    struct stat status;
    if (stat(path, &status) != 0) return ASSAY_OK; /* which is said when it is opened */
    store->ds->input_size += (uint64_t)status.st_size;
    if (!entry) profile->time = (double)status.st_mtim.tv_sec;
    return ASSAY_OK;
}

static assay_status list_files_of_jobs(as_perun_store *store, const char *jobs, const as_vec *entries) {
    as_directory folder;
    assay_status status = as_directory_list(jobs, &store->ds->budget, &folder, store->reader->error);
    for (size_t i = 0; i < folder.n_entries && status == ASSAY_OK; i++) {
        if (!folder.entries[i].is_directory) status = add_pending(store, jobs, folder.entries[i].name, entries);
    }
    as_directory_free(&folder);
    return status;
}

static assay_status list_jobs(as_perun_store *store) {
    const char *jobs = as_perun_path(store, store->root, "jobs", NULL);
    const char *path = as_perun_path(store, store->root, "jobs", ".index");
    if (!jobs || !path) return as_reader_memory(store->reader);
    if (!is_directory(jobs)) return ASSAY_OK;
    as_input *input = NULL;
    struct stat is_there;
    if (stat(path, &is_there) == 0) AS_TRY(open_part(store, path, &input));
    as_vec entries;
    as_vec_init(&entries, sizeof(as_perun_entry), &store->ds->budget);
    assay_status status = input ? list_entries(store, path, input, &entries) : ASSAY_OK;
    if (status == ASSAY_OK) status = list_files_of_jobs(store, jobs, &entries);
    as_vec_free(&entries);
    as_input_close(input);
    return status;
}

assay_status as_perun_list_store(as_perun_store *store) {
    AS_TRY(list_objects(store));
    for (size_t i = 0; i < store->files.count; i++) {
        as_perun_file file = AS_AT(as_perun_file, &store->files, i);
        if (file.type == AS_PERUN_FILE_INDEX) AS_TRY(read_index(store, file.hex));
    }
    AS_TRY(add_unlisted(store));
    return list_jobs(store);
}

/* ---- commits ----------------------------------------------------------------------------------------------------- */

/* The seconds of "committer NAME <MAIL> SECONDS ZONE\n". */
static double committer_time(const char *text, size_t size) {
    static const int64_t MOST = 1ll << 50; /* whole numbers as doubles, too */
    static const char WORD[] = "\ncommitter ";
    const char *line = memmem(text, size, WORD, sizeof WORD - 1);
    if (!line) return NAN;
    line += sizeof WORD - 1;
    const char *end = memchr(line, '\n', (size_t)(text + size - line));
    const char *mail = end ? memrchr(line, '>', (size_t)(end - line)) : NULL;
    if (!mail || end - mail < 3 || mail[1] != ' ') return NAN;
    const char *seconds = mail + 2, *blank = memchr(seconds, ' ', (size_t)(end - seconds));
    as_number time;
    bool is_fine = blank && as_number_parse(seconds, (size_t)(blank - seconds), &time) && time.kind == AS_INT;
    return is_fine && time.i > -MOST && time.i < MOST ? (double)time.i : NAN;
}

double as_perun_commit_time(as_perun_store *store, const char *hex) {
    enum { LARGEST = 1 << 20 };
    const char *git = as_perun_path(store, store->beside, ".git", NULL);
    const char *path = git ? as_perun_object_path(store, git, hex, "") : NULL;
    as_input *input;
    if (!path || as_input_open(path, &store->ds->budget, &input, NULL) != ASSAY_OK) return NAN;
    double time = NAN;
    store->text.count = 0;
    bool fine = input->size < LARGEST && as_zlib_looks_like(input->data, input->size) &&
                as_zlib_unpack(path, input->data, input->size, &store->text, NULL) == ASSAY_OK;
    if (fine && store->text.count > 7 && memcmp(store->text.data, "commit ", 7) == 0)
        time = committer_time(store->text.data, store->text.count);
    as_input_close(input);
    return time;
}
