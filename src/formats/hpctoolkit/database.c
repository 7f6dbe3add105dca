/* Opening the binary files of a database, and checking all that does not grow with the number of values. */
#include "formats/hpctoolkit/database.h"

#include <stdlib.h>

#include "formats/hpctoolkit/private.h"

enum { ENTRY_2021 = 52, CCT_ENTRY_2021 = 22, SHORT_ENTRY_4 = 40, ENTRY_4 = 48, CCT_ENTRY_4 = 32 };
enum { END_OF_CONTEXTS = 0x656E6421, END_OF_METRICS = 0x6564 }; /* "end!", "ed" */
/* What is looked at on opening: all indexes of a small database, a part of those of a large one. */
enum { CHECKED_ENTRIES = 100000, CHECKED_BLOCKS = 2000 };
/* Contexts are numbered without gaps by those who write databases. Where only profile.db is there to say how many there
 * are, ids may be so many times their number, and up to this one in any case. */
enum { ID_FACTOR = 16, HARMLESS_ID = 1 << 20 };

/* ---- profile.db -------------------------------------------------------------------------------------------------- */

static assay_status fail_profile(const as_hpc_database *db, uint32_t i, uint64_t at, const char *rule, const char *what,
                                 assay_error *error) {
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(db->profile.path, at), rule, "profile %u: %s", i, what);
}

assay_status as_hpc_check_profile(const as_hpc_database *db, uint32_t i, assay_error *error) {
    const as_hpc_profile *profile = &db->profiles[i];
    const as_hpc_file *file = &db->profile;
    uint64_t before = 0, at = profile->index, end = at + (uint64_t)profile->n_contexts * AS_HPC_CONTEXT_ENTRY;
    int64_t last = -1;
    for (; at < end; at += AS_HPC_CONTEXT_ENTRY) {
        uint32_t context = as_hpc_u32(file, at);
        uint64_t start = as_hpc_u64(file, at + 4);
        if (start < before || start > profile->n_values)
            return fail_profile(db, i, at + 4, "index-damaged",
                                start < before ? "the values of a context start before those of the one before it"
                                               : "the values of a context start beyond the last one",
                                error);
        if ((int64_t)context <= last || context >= db->context_limit)
            return fail_profile(db, i, at, "context-order",
                                (int64_t)context <= last ? "its contexts do not ascend"
                                                         : "it has a context whose number is impossible",
                                error);
        last = context;
        before = start;
    }
    bool is_whole = profile->n_contexts ? as_hpc_u64(file, profile->index + 4) == 0 : profile->n_values == 0;
    if (!is_whole)
        return fail_profile(db, i, profile->index, "index-damaged", "its first values belong to no context", error);
    if (db->form == AS_HPC_4) return ASSAY_OK;
    if (as_hpc_u32(file, end) != END_OF_CONTEXTS || as_hpc_u64(file, end + 4) != profile->n_values)
        return fail_profile(db, i, end, "index-damaged", "the end of its contexts is not marked", error);
    return ASSAY_OK;
}

static as_hpc_profile entry_2021(const as_hpc_file *file, uint64_t at, uint32_t i) {
    as_hpc_profile profile = {.tuple = as_hpc_u64(file, at),
                              .n_values = as_hpc_u64(file, at + 32),
                              .n_contexts = as_hpc_u32(file, at + 40),
                              .values = as_hpc_u64(file, at + 44),
                              .is_summary = i == 0};
    profile.index = profile.values + profile.n_values * AS_HPC_PROFILE_VALUE;
    return profile;
}

static as_hpc_profile entry_4(const as_hpc_file *file, uint64_t at, uint32_t i, uint32_t entry_size) {
    return (as_hpc_profile){.n_values = as_hpc_u64(file, at),
                            .values = as_hpc_u64(file, at + 0x08),
                            .n_contexts = as_hpc_u32(file, at + 0x10),
                            .index = as_hpc_u64(file, at + 0x18),
                            .tuple = as_hpc_u64(file, at + 0x20),
                            .is_summary = entry_size < ENTRY_4 ? i == 0 : (as_hpc_u32(file, at + 0x28) & 1) != 0};
}

/* Whether all that an entry points to is in the file; *total adds up what it takes. */
static assay_status check_entry(const as_hpc_database *db, uint32_t i, uint64_t at, uint64_t *total,
                                assay_error *error) {
    const as_hpc_file *file = &db->profile;
    const as_hpc_profile *profile = &db->profiles[i];
    if (!as_hpc_fits(file, profile->values, profile->n_values, AS_HPC_PROFILE_VALUE))
        return fail_profile(db, i, at, "outside-file", "its values go beyond the end of the file", error);
    uint64_t n_entries = (uint64_t)profile->n_contexts + (db->form == AS_HPC_2021);
    if (!as_hpc_fits(file, profile->index, n_entries, AS_HPC_CONTEXT_ENTRY))
        return fail_profile(db, i, at, "outside-file", "its contexts go beyond the end of the file", error);
    *total += profile->n_values * AS_HPC_PROFILE_VALUE + (uint64_t)profile->n_contexts * AS_HPC_CONTEXT_ENTRY;
    if (*total > file->size)
        return fail_profile(db, i, at, "overlap", "it has values that belong to another profile", error);
    return ASSAY_OK;
}

static assay_status read_profiles(as_hpc_database *db, uint64_t at, assay_error *error) {
    db->profiles = as_arena_array(&db->ds->arena, db->n_profiles, sizeof *db->profiles);
    if (!db->profiles) return as_fail_memory(error, db->profile.path);
    uint64_t total = 0;
    db->profile_entries = at;
    for (uint32_t i = 0; i < db->n_profiles; i++, at += db->profile_entry) {
        db->profiles[i] =
            db->form == AS_HPC_2021 ? entry_2021(&db->profile, at, i) : entry_4(&db->profile, at, i, db->profile_entry);
        AS_TRY(check_entry(db, i, at, &total, error));
        if (!db->profiles[i].is_summary) db->n_values += db->profiles[i].n_values;
    }
    return ASSAY_OK;
}

static assay_status open_profile(as_reader *reader, const char *directory, as_hpc_database *db) {
    as_hpc_file *file = &db->profile;
    uint64_t at, section;
    AS_TRY(as_hpc_map_file(reader, directory, "profile.db", file, reader->error));
    AS_TRY(as_hpc_check_magic(db->ds, db->form, file, "HPCPROF-profdb__", "HPCTOOLKITprof", reader->error));
    bool is_whole = db->form == AS_HPC_2021 ? as_hpc_has_footer(file, "tfBDFORP", "PROFDBft")
                                            : as_hpc_has_footer(file, "_prof.db", NULL);
    if (!is_whole)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(file->path, file->size), "file-cut",
                       "its last bytes are missing: it was cut, or never written to its end");
    if (db->form == AS_HPC_2021) {
        db->profile_entry = ENTRY_2021;
        AS_TRY(as_hpc_header_2021(file, ENTRY_2021, &db->n_profiles, &at, reader->error));
    } else {
        AS_TRY(
            as_hpc_table_4(file, 13, SHORT_ENTRY_4, &section, &db->n_profiles, &db->profile_entry, &at, reader->error));
    }
    return read_profiles(db, at, reader->error);
}

/* The first entries of the indexes, as many as take no time to look at. */
static assay_status check_first_profiles(as_hpc_database *db, assay_error *error) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        n += db->profiles[i].n_contexts;
        if (n > CHECKED_ENTRIES) break;
        AS_TRY(as_hpc_check_profile(db, i, error));
    }
    return ASSAY_OK;
}

/* ---- cct.db ------------------------------------------------------------------------------------------------------ */

static assay_status fail_block(const as_hpc_database *db, uint32_t context, uint64_t at, const char *what,
                               assay_error *error) {
    return as_fail(error, ASSAY_E_FORMAT, as_place_offset(db->cct.path, at), "cct-damaged", "context %u: %s", context,
                   what);
}

assay_status as_hpc_find_block(const as_hpc_database *db, uint32_t context, as_hpc_block *out, assay_error *error) {
    if (as_hpc_load_block(db, context, db->form == AS_HPC_4, db->cct.swap, out)) return ASSAY_OK;
    uint64_t at = db->cct_entries + (uint64_t)context * db->cct_entry;
    return fail_block(db, context, at, "its values go beyond the end of the file", error);
}

assay_status as_hpc_check_block(const as_hpc_database *db, uint32_t context, const as_hpc_block *block,
                                assay_error *error) {
    const as_hpc_file *file = &db->cct;
    uint64_t before = 0, at = block->index, end = at + (uint64_t)block->n_metrics * AS_HPC_METRIC_ENTRY;
    if (!block->n_values) return ASSAY_OK;
    for (int32_t last = -1; at < end; at += AS_HPC_METRIC_ENTRY) {
        uint16_t metric = as_hpc_u16(file, at);
        uint64_t start = as_hpc_u64(file, at + 2);
        if (metric <= last) return fail_block(db, context, at, "its metrics do not ascend", error);
        if (start < before || start > block->n_values || (last < 0 && start))
            return fail_block(db, context, at + 2, "the values of a metric do not follow those of the one before it",
                              error);
        last = metric;
        before = start;
    }
    if (!block->n_metrics) return fail_block(db, context, at, "its values belong to no metric", error);
    if (db->form == AS_HPC_2021 &&
        (as_hpc_u16(file, end) != END_OF_METRICS || as_hpc_u64(file, end + 2) != block->n_values))
        return fail_block(db, context, end, "the end of its metrics is not marked", error);
    return ASSAY_OK;
}

/* Entries of contexts: what they point to is in the file, and they have as many values as the profiles. */
static assay_status check_cct_entries(const as_hpc_database *db, uint32_t n, assay_error *error) {
    uint64_t total = 0, n_values = 0;
    for (uint32_t context = 0; context < n; context++) {
        as_hpc_block block;
        AS_TRY(as_hpc_find_block(db, context, &block, error));
        uint64_t at = db->cct_entries + (uint64_t)context * db->cct_entry;
        if (db->form == AS_HPC_2021 && as_hpc_u32(&db->cct, at) != context)
            return fail_block(db, context, at, "its entry has another number", error);
        total += block.n_values * AS_HPC_CONTEXT_VALUE + (uint64_t)block.n_metrics * AS_HPC_METRIC_ENTRY;
        if (total > db->cct.size) return fail_block(db, context, at, "it has values of another context", error);
        n_values += block.n_values;
    }
    if (n_values == db->n_values) return ASSAY_OK;
    return as_fail(error, ASSAY_E_FORMAT, as_place_file(db->cct.path), "cct-damaged",
                   "has %llu values, and profile.db %llu", (unsigned long long)n_values,
                   (unsigned long long)db->n_values);
}

static bool is_zero(const as_hpc_file *file, uint64_t at, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (file->data[at + i]) return false;
    }
    return true;
}

/* Some writers reserved the room for all values, and wrote none. */
static bool is_empty_block(const as_hpc_database *db, const as_hpc_block *block) {
    uint64_t n_entries = (uint64_t)block->n_metrics + (db->form == AS_HPC_2021);
    return is_zero(&db->cct, block->index, n_entries * AS_HPC_METRIC_ENTRY) &&
           is_zero(&db->cct, block->values, AS_HPC_CONTEXT_VALUE);
}

/* The first blocks, as many as take no time to look at. *is_empty: they hold nothing but zeros. */
static assay_status check_first_blocks(as_hpc_database *db, uint32_t limit, bool *is_empty, assay_error *error) {
    uint64_t n = 0;
    *is_empty = false;
    for (uint32_t context = 0; context < limit && n < CHECKED_BLOCKS; context++) {
        as_hpc_block block;
        AS_TRY(as_hpc_find_block(db, context, &block, error));
        if (!block.n_values) continue;
        if (!n && is_empty_block(db, &block)) {
            *is_empty = true;
            return ASSAY_OK;
        }
        n++;
        AS_TRY(as_hpc_check_block(db, context, &block, error));
        db->checked[context] = 1;
    }
    return ASSAY_OK;
}

static assay_status read_cct(as_reader *reader, const char *directory, as_hpc_database *db, uint32_t *n,
                             assay_error *error) {
    as_hpc_file *file = &db->cct;
    uint64_t section;
    AS_TRY(as_hpc_map_file(reader, directory, "cct.db", file, error));
    AS_TRY(as_hpc_check_magic(db->ds, db->form, file, "HPCPROF-cctdb___", "HPCTOOLKITctxt", error));
    bool is_whole = db->form == AS_HPC_2021 ? as_hpc_has_footer(file, "rtfBDTCC", "CCTDBftr")
                                            : as_hpc_has_footer(file, "__ctx.db", NULL);
    if (!is_whole)
        return as_fail(error, ASSAY_E_FORMAT, as_place_offset(file->path, file->size), "file-cut",
                       "its last bytes are missing");
    if (db->form == AS_HPC_2021) {
        db->cct_entry = CCT_ENTRY_2021;
        AS_TRY(as_hpc_header_2021(file, CCT_ENTRY_2021, n, &db->cct_entries, error));
    } else {
        AS_TRY(as_hpc_table_4(file, 13, CCT_ENTRY_4, &section, n, &db->cct_entry, &db->cct_entries, error));
    }
    db->checked = as_arena_alloc(&db->ds->arena, *n);
    return db->checked ? check_cct_entries(db, *n, error) : as_fail_memory(error, file->path);
}

/* Opens cct.db; where it cannot be used, says so and goes on without. */
static assay_status open_cct(as_reader *reader, const char *directory, as_hpc_database *db) {
    char path[PATH_MAX];
    assay_error error = {0};
    uint32_t n = 0;
    bool is_empty = false;
    if (!as_hpc_path(directory, "cct.db", path)) path[0] = 0;
    if (!as_hpc_has(directory, "cct.db")) {
        as_warn(reader, as_place_file(path), "cct-missing", "is missing; its values were taken from profile.db");
        return ASSAY_OK;
    }
    assay_status status = read_cct(reader, directory, db, &n, &error);
    if (status == ASSAY_OK) status = check_first_blocks(db, n, &is_empty, &error);
    if (status == ASSAY_E_NOMEM) return as_fail_memory(reader->error, path);
    if (status != ASSAY_OK) {
        as_place place = {.path = path, .offset = error.offset};
        as_leave_out(reader, place, "cct-damaged", "%s; its values were taken from profile.db", error.message);
        return ASSAY_OK;
    }
    db->has_cct_entries = true;
    db->has_cct = !is_empty;
    db->context_limit = n;
    if (is_empty)
        as_warn(reader, as_place_file(path), "cct-empty",
                "holds nothing but zeros, as some writers of 2021 left it; its values were taken from profile.db");
    return ASSAY_OK;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* Without entries in cct.db only the indexes of all profiles say which contexts have values. */
static assay_status find_contexts(as_hpc_database *db, assay_error *error) {
    uint64_t n = 0, limit = 1;
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        const as_hpc_profile *profile = &db->profiles[i];
        if (!profile->n_contexts) continue;
        n += profile->n_contexts;
        uint64_t last = profile->index + (uint64_t)(profile->n_contexts - 1) * AS_HPC_CONTEXT_ENTRY;
        uint64_t context = as_hpc_u32(&db->profile, last);
        if (context >= limit) limit = context + 1;
    }
    if (limit > HARMLESS_ID && limit / ID_FACTOR > n)
        return as_fail(error, ASSAY_E_FORMAT, as_place_file(db->profile.path), "context-id",
                       "has the context %llu, but only %llu entries of contexts", (unsigned long long)(limit - 1),
                       (unsigned long long)n);
    db->context_limit = limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
    db->with_values = as_arena_alloc(&db->ds->arena, (size_t)(limit / 8) + 1);
    if (!db->with_values) return as_fail_memory(error, db->profile.path);
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        const as_hpc_profile *profile = &db->profiles[i];
        AS_TRY(as_hpc_check_profile(db, i, error));
        if (profile->is_summary) continue;
        for (uint32_t k = 0; k < profile->n_contexts; k++) {
            uint64_t at = profile->index + (uint64_t)k * AS_HPC_CONTEXT_ENTRY;
            uint64_t start = as_hpc_u64(&db->profile, at + 4);
            if (start == as_hpc_index_end(&db->profile, profile->index, k, profile->n_contexts, 4, profile->n_values))
                continue;
            uint32_t context = as_hpc_u32(&db->profile, at);
            db->with_values[context / 8] |= (unsigned char)(1u << context % 8);
        }
    }
    return ASSAY_OK;
}

uint32_t as_hpc_context_limit(const as_hpc_database *db) { return db->context_limit; }

bool as_hpc_context_has_values(const as_hpc_database *db, uint32_t context_id) {
    if (context_id >= db->context_limit) return false;
    if (db->with_values) return db->with_values[context_id / 8] >> context_id % 8 & 1;
    uint64_t at = db->cct_entries + (uint64_t)context_id * db->cct_entry;
    return as_hpc_u64(&db->cct, at + (db->form == AS_HPC_2021 ? 4 : 0)) != 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void release(void *object) {
    as_hpc_database *db = object;
    as_hpc_transposed_free(db);
    as_vec_free(&db->lines);
    pthread_mutex_destroy(&db->transposing);
    free(db);
}

assay_status as_hpc_open(as_reader *reader, const char *directory, as_hpc_form form, as_hpc_database **out) {
    as_dataset *ds = reader->dataset;
    as_hpc_database *db = calloc(1, sizeof *db);
    if (!db) return as_reader_memory(reader);
    db->ds = ds;
    db->form = form;
    as_vec_init(&db->lines, sizeof(as_hpc_line), &ds->budget);
    pthread_mutex_init(&db->transposing, NULL);
    if (!as_ds_hold(ds, db, release)) return as_reader_memory(reader);
    AS_TRY(open_profile(reader, directory, db));
    AS_TRY(open_cct(reader, directory, db));
    AS_TRY(db->has_cct_entries ? check_first_profiles(db, reader->error) : find_contexts(db, reader->error));
    AS_TRY(as_hpc_open_trace(reader, directory, db));
    *out = db;
    return ASSAY_OK;
}

assay_id as_hpc_add_placeless_context(as_tree *tree, uint32_t id) {
    char number[AS_NUMBER_SIZE], name[AS_NUMBER_SIZE + 16] = "<context ";
    size_t size = as_uint_format(id, number), start = strlen(name);
    memcpy(name + start, number, size);
    name[start + size] = '>';
    as_context context = AS_CONTEXT_INIT;
    context.source_id = id;
    context.is_numbered = true;
    context.name = as_ds_intern(tree->ds, name, start + size + 1);
    context.role = AS_ROLE_PLACELESS;
    return context.name != AS_NO_STR ? as_tree_add(tree, &context) : ASSAY_NONE;
}

assay_status as_hpc_add_placeless(as_reader *reader, const as_hpc_database *db, as_tree *tree, assay_id *contexts,
                                  size_t n_contexts) {
    for (uint32_t id = 0; id < db->context_limit && id < n_contexts; id++) {
        if (contexts[id] != ASSAY_NONE || !as_hpc_context_has_values(db, id)) continue;
        contexts[id] = as_hpc_add_placeless_context(tree, id);
        if (contexts[id] == ASSAY_NONE) return as_reader_memory(reader);
    }
    return ASSAY_OK;
}
