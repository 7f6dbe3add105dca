/* The format `perun-store`: a directory .perun, or one that has it. Each profile is a run. */
#include "formats/perun/store.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- bid --------------------------------------------------------------------------------------------------------- */

enum { BID_BITS = 48 };

static bool has_folder(const char *path, const char *name) {
    struct stat status;
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool found = fd >= 0 && fstatat(fd, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
    if (fd >= 0) close(fd);
    return found;
}

/* Whether the directory is a store itself: it has objects and jobs, or is named .perun and has one of them. */
static bool is_store(const char *path) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    bool is_named = size >= 6 && memcmp(path + size - 6, ".perun", 6) == 0;
    int found = has_folder(path, "objects") + has_folder(path, "jobs");
    return found == 2 || (found == 1 && is_named);
}

static bool has_store(const char *path) {
    return has_folder(path, ".perun/objects") || has_folder(path, ".perun/jobs");
}

static int bid(const as_probe *probe) {
    if (!probe->is_directory) return 0;
    return is_store(probe->path) || has_store(probe->path) ? BID_BITS : 0;
}

/* ---- one profile ------------------------------------------------------------------------------------------------- */

/* The JSON of a profile, which lives until the next one and while *input is open. */
static assay_status open_profile(as_perun_store *store, const as_perun_stored *profile, as_input **input,
                                 const char **json, size_t *size) {
    const char *path = as_ds_text(store->ds, profile->path);
    AS_TRY(as_input_open(path, &store->ds->budget, input, store->reader->error));
    *json = (*input)->data;
    *size = (*input)->size;
    assay_status status = ASSAY_OK;
    store->text.count = 0;
    if (!profile->is_pending)
        status = as_perun_unpack(store->reader, path, (*input)->data, (*input)->size, &store->text, json, size);
    if (status == ASSAY_OK) return ASSAY_OK;
    as_input_close(*input);
    *input = NULL;
    return status;
}

static bool add_text(as_dataset *ds, assay_id run, const char *key, as_str text) {
    if (text == AS_NO_STR || as_str_size(&ds->strings, text) == 0) return true;
    as_cell cell = as_cell_text_n(as_ds_text(ds, text), as_str_size(&ds->strings, text));
    return as_add_attribute(ds, AS_OWNER_RUN, run, key, cell);
}

/* The value of the run's attribute among those from `first` on; NULL: it has none. */
static const as_cell *find_attribute(const as_dataset *ds, size_t first, const char *key) {
    for (size_t i = first; i < ds->attributes.count; i++) {
        const as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (strcmp(as_ds_text(ds, attribute->key), key) == 0) return &attribute->value;
    }
    return NULL;
}

/* What is known of the profile beside its own content: from the index or, where that says nothing, from its header.
 * first: the first attribute of its own. */
static bool describe_run(as_perun_store *store, const as_perun_stored *profile, assay_id run, size_t first) {
    static const struct {
        const char *key, *in_header;
    } DETAILS[AS_PERUN_DETAILS] = {
        [AS_PERUN_DETAIL_TYPE] = {"type", "header:type"},
        [AS_PERUN_DETAIL_CMD] = {"cmd", "header:cmd"},
        [AS_PERUN_DETAIL_WORKLOAD] = {"workload", "header:workload"},
        [AS_PERUN_DETAIL_COLLECTOR] = {"collector", "collector_info:name"},
        [AS_PERUN_DETAIL_POSTPROCESSORS] = {"postprocessors", NULL},
    };
    as_dataset *ds = store->ds;
    for (int i = 0; i < AS_PERUN_DETAILS; i++) {
        if (find_attribute(ds, first, DETAILS[i].key)) continue; /* very old profiles have it at the top */
        if (!add_text(ds, run, DETAILS[i].key, profile->details[i])) return false;
        const char *in_header = profile->details[i] == AS_NO_STR ? DETAILS[i].in_header : NULL;
        const as_cell *own = in_header ? find_attribute(ds, first, in_header) : NULL;
        if (own && !as_add_attribute(ds, AS_OWNER_RUN, run, DETAILS[i].key, *own)) return false;
    }
    bool has_time = !isnan(profile->commit_time);
    return add_text(ds, run, "commit", profile->commit) && add_text(ds, run, "file", profile->name) &&
           as_add_attribute(ds, AS_OWNER_RUN, run, "state",
                            as_cell_text(profile->is_pending            ? "pending"
                                         : profile->commit == AS_NO_STR ? "unlisted"
                                                                        : "stored")) &&
           (!has_time ||
            as_add_attribute(ds, AS_OWNER_RUN, run, "commit_time", as_cell_int((int64_t)profile->commit_time)));
}

static assay_status add_profile(as_perun_store *store, const as_perun_stored *profile, as_perun_reading *reading,
                                const char *json, size_t size) {
    as_dataset *ds = store->ds;
    as_run run = AS_RUN_INIT;
    run.source_id = profile->id;
    run.source = profile->path;
    run.start_time = profile->time;
    assay_id id = as_add_run(ds, &run);
    if (id == ASSAY_NONE) return as_reader_memory(store->reader);
    size_t first = ds->attributes.count;
    AS_TRY(as_perun_add_profile(reading, id, as_ds_text(ds, profile->path), json, size, false));
    return describe_run(store, profile, id, first) ? ASSAY_OK : as_reader_memory(store->reader);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static assay_status report_progress(as_perun_store *store, size_t done) {
    as_reader *reader = store->reader;
    if (!reader->progress || reader->progress(reader->user, "reading", (double)done / (double)store->profiles.count))
        return ASSAY_OK;
    return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(reader->input->path), "cancelled", "cancelled");
}

static void mark_bad(as_perun_store *store, as_perun_stored *profile, const assay_error *error) {
    profile->is_bad = true;
    as_perun_leave_out(store, error);
}

/* Reads all that are not known to be bad. *is_spoiled: one of them failed half way, and left something of it in the
 * dataset. */
static assay_status add_profiles(as_perun_store *store, as_perun_reading *reading, bool *is_spoiled) {
    for (size_t i = 0; i < store->profiles.count; i++) {
        as_perun_stored *profile = &AS_AT(as_perun_stored, &store->profiles, i);
        as_input *input = NULL;
        const char *json;
        size_t size;
        if (profile->is_bad) continue;
        AS_TRY(report_progress(store, i));
        assay_status status = open_profile(store, profile, &input, &json, &size);
        if (status == ASSAY_OK) {
            status = add_profile(store, profile, reading, json, size);
            *is_spoiled = as_perun_is_partial(status);
            as_input_close(input);
            if (status != ASSAY_OK) return status;
        } else if (as_perun_is_partial(status))
            mark_bad(store, profile, store->reader->error);
        else
            return status;
    }
    return as_perun_finish(reading);
}

static assay_status read_profiles(as_perun_store *store, bool *is_spoiled) {
    *is_spoiled = false;
    as_perun_reading *reading = as_perun_begin(store->reader);
    if (!reading) return as_reader_memory(store->reader);
    assay_status status = add_profiles(store, reading, is_spoiled);
    as_perun_end(reading);
    return status;
}

/* Reads each profile on its own, to know which are bad. */
static assay_status find_bad(as_perun_store *store) {
    as_read_config config = {.format = as_format_perun.name,
                             .memory_limit = store->ds->budget.limit,
                             .budget = &store->ds->budget,
                             .depth_limit = store->reader->max_depth,
                             .keep_going = store->reader->keep_going};
    for (size_t i = 0; i < store->profiles.count; i++) {
        as_perun_stored *profile = &AS_AT(as_perun_stored, &store->profiles, i);
        as_input *input = NULL;
        const char *json;
        size_t size;
        as_dataset *alone = NULL;
        if (profile->is_bad) continue;
        assay_status status = open_profile(store, profile, &input, &json, &size);
        if (status == ASSAY_OK)
            status =
                as_read_memory(as_ds_text(store->ds, profile->path), json, size, &config, &alone, store->reader->error);
        as_dataset_free(alone);
        as_input_close(input);
        if (status != ASSAY_OK && !as_perun_is_partial(status)) return status;
        if (status != ASSAY_OK) mark_bad(store, profile, store->reader->error);
    }
    return ASSAY_OK;
}

/* Mostly all profiles are sound, and reading them once is enough. */
static assay_status read_sound_profiles(as_perun_store *store) {
    size_t n_problems = store->ds->problems.count;
    bool is_spoiled;
    assay_status status = read_profiles(store, &is_spoiled);
    if (!is_spoiled) return status;
    as_dataset_forget_data(store->ds);
    store->ds->problems.count = n_problems; /* those of reading come again */
    AS_TRY(find_bad(store));
    return read_profiles(store, &is_spoiled);
}

static assay_status check_any(as_perun_store *store) {
    size_t n = store->profiles.count, n_bad = 0;
    for (size_t i = 0; i < n; i++) n_bad += AS_AT(as_perun_stored, &store->profiles, i).is_bad;
    if (n_bad < n || !store->n_bad) return ASSAY_OK;
    as_place place = {.path = store->first.path,
                      .offset = store->first.offset,
                      .line = store->first.line,
                      .column = store->first.column};
    return as_fail(store->reader->error, ASSAY_E_FORMAT, place, store->first.rule,
                   "no profile of the store can be read; this is the first: %s", store->first.message);
}

static assay_status read_store(as_perun_store *store) {
    const char *path = store->reader->input->path;
    bool is_inside = !is_store(path);
    store->root = is_inside ? as_perun_path(store, path, ".perun", NULL) : path;
    store->beside = is_inside ? path : as_perun_path(store, path, "..", NULL);
    if (!store->root || !store->beside) return as_reader_memory(store->reader);
    if (is_inside && !has_store(path))
        return as_fail(store->reader->error, ASSAY_E_FORMAT, as_place_file(path), "no-store",
                       "is no Perun store: it has neither objects nor jobs, nor a .perun with them");
    AS_TRY(as_perun_list_store(store));
    AS_TRY(read_sound_profiles(store));
    AS_TRY(check_any(store));
    AS_TRY(as_perun_read_changes(store));
    if (store->version) {
        char digits[AS_NUMBER_SIZE];
        size_t size = as_uint_format(store->version, digits);
        store->ds->format_version = as_ds_intern(store->ds, digits, size);
    }
    return ASSAY_OK;
}

static assay_status read_directory(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_perun_store store = {.reader = reader, .ds = ds};
    /* what is wrong with a file is looked at */
    if (!reader->error && !(reader->error = as_arena_array(&ds->arena, 1, sizeof *reader->error))) return ASSAY_E_NOMEM;
    as_vec_init(&store.files, sizeof(as_perun_file), &ds->budget);
    as_vec_init(&store.profiles, sizeof(as_perun_stored), &ds->budget);
    as_vec_init(&store.text, 1, &ds->budget);
    assay_status status = read_store(&store);
    as_vec_free(&store.files);
    as_vec_free(&store.profiles);
    as_vec_free(&store.text);
    return status;
}

const as_format as_format_perun_store = {.name = "perun-store",
                                         .title = "Perun store",
                                         .versioned = "index",
                                         .extensions = "",
                                         .holds = AS_HOLDS_VALUES | AS_HOLDS_MODELS | AS_HOLDS_RECORDS |
                                                  AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
                                                  AS_HOLDS_PROFILES,
                                         .reads_directories = true,
                                         .bid = bid,
                                         .read = read_directory};
