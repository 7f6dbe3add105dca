/* meta.db: its sections, texts, and the tables of names. */
#include "core/number.h"
#include "core/utf8.h"
#include "formats/hpctoolkit/hpctoolkit.h"
#include "formats/hpctoolkit/meta.h"

enum { HEADER_SIZE = 0x90, FOOTER_SIZE = 8, MAJOR_VERSION = 4, MINOR_VERSION = 0, MOST_PATH = 1 << 16 };
enum { MODULE_SIZE = 16, FILE_SIZE = 16, FUNCTION_SIZE = 40, DRAFT_METRIC_SIZE = 24 };
enum { FILE_IS_COPIED = 1 };

static const char *const SECTION_NAMES[] = {"General", "IdNames", "Metrics", "Context",
                                            "Strings", "Modules", "Files",   "Functions"};
/* Of the part that every section begins with. */
static const uint8_t SECTION_LEAST[] = {0x10, 0x09, 0x0f, 0x0b, 0, 0x0e, 0x0e, 0x0e};

/* ---- access ------------------------------------------------------------------------------------------------------ */

assay_status as_meta_bad(const as_meta *meta, uint64_t offset, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status =
        as_vfail(meta->reader->error, ASSAY_E_FORMAT, as_place_offset(meta->path, offset), rule, format, args);
    va_end(args);
    return status;
}

static assay_status memory_is_out(const as_meta *meta) { return as_fail_memory(meta->reader->error, meta->path); }

assay_status as_meta_find_table(const as_meta *meta, uint64_t offset, uint64_t at, uint32_t n, uint32_t size,
                                uint32_t least, const char *what, as_meta_table *out) {
    *out = (as_meta_table){at, n, size};
    if (!n) return ASSAY_OK;
    if (size < least)
        return as_meta_bad(meta, offset, "entry-size", "%s of %u bytes; they have at least %u", what, size, least);
    if (!as_meta_has(meta, at, (uint64_t)n * size))
        return as_meta_bad(meta, offset, "outside-file", "%u %s of %u bytes at %llu are not all in the file", n, what,
                           size, (unsigned long long)at);
    return ASSAY_OK;
}

assay_status as_meta_index(const as_meta *meta, uint64_t offset, uint64_t pointer, const as_meta_table *table,
                           const char *what, uint32_t *out) {
    uint64_t from = pointer - table->at;
    if (table->n && pointer >= table->at && from < (uint64_t)table->n * table->size && from % table->size == 0) {
        *out = (uint32_t)(from / table->size);
        return ASSAY_OK;
    }
    return as_meta_bad(meta, offset, "pointer", "%llu is where no %s begins", (unsigned long long)pointer, what);
}

/* With U+FFFD for what is no UTF-8. */
static as_str intern_mended(as_dataset *ds, const char *text, size_t size) {
    as_vec mended;
    as_vec_init(&mended, 1, &ds->budget);
    bool fine = true;
    for (const char *end = text + size; text < end && fine;) {
        size_t n = as_utf8_length(text, (size_t)(end - text));
        fine = n ? as_vec_append(&mended, text, n) : as_vec_text(&mended, "\xef\xbf\xbd");
        text += n ? n : 1;
    }
    as_str id = fine ? as_ds_intern(ds, mended.data, mended.count) : AS_NO_STR;
    as_vec_free(&mended);
    return id;
}

assay_status as_meta_text(as_meta *meta, uint64_t offset, as_str *out) {
    uint64_t at = as_meta_u64(meta, offset);
    *out = AS_NO_STR;
    if (!at) return ASSAY_OK;
    uint32_t known = as_map_get(&meta->texts, at);
    if (known != AS_MAP_NONE) {
        *out = known;
        return ASSAY_OK;
    }
    if (at >= meta->size)
        return as_meta_bad(meta, offset, "outside-file", "a text at %llu is not in the file", (unsigned long long)at);
    const char *text = (const char *)meta->data + at, *end = memchr(text, 0, meta->size - (size_t)at);
    if (!end) return as_meta_bad(meta, at, "text-end", "a text does not end in the file");
    size_t size = (size_t)(end - text);
    if (size >= meta->text_left) return as_meta_bad(meta, at, "overlap", "texts lie one inside the other, many times");
    meta->text_left -= size + 1;
    *out = as_utf8_invalid(text, size) ? intern_mended(meta->ds, text, size) : as_ds_intern(meta->ds, text, size);
    return *out != AS_NO_STR && as_map_put(&meta->texts, at, *out) ? ASSAY_OK : memory_is_out(meta);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static assay_status check_header(as_meta *meta) {
    as_dataset *ds = meta->ds;
    if (meta->size < 16 || memcmp(meta->data, "HPCTOOLKITmeta", 14) != 0)
        return as_meta_bad(meta, 0, "wrong-magic", "does not begin with HPCTOOLKITmeta");
    unsigned major = meta->data[14], minor = meta->data[15];
    if (major != MAJOR_VERSION)
        return as_meta_bad(meta, 14, "unknown-version", "is of version %u.%u; version %d is known", major, minor,
                           MAJOR_VERSION);
    if (meta->size < HEADER_SIZE + FOOTER_SIZE ||
        memcmp(meta->data + meta->size - FOOTER_SIZE, "_meta.db", FOOTER_SIZE) != 0)
        return as_meta_bad(meta, meta->size, "file-cut", "does not end with _meta.db: cut off, or never finished");
    if (minor != MINOR_VERSION)
        as_add_problem(ds, AS_NOTE, as_place_offset(meta->path, 15), "unknown-version",
                       "is of version %u.%u; read as %d.%d, what is new in it is left out", major, minor, MAJOR_VERSION,
                       MINOR_VERSION);
    char text[2 * AS_NUMBER_SIZE];
    size_t n = as_uint_format(major, text);
    text[n++] = '.';
    n += as_uint_format(minor, text + n);
    ds->format_version = as_ds_intern(ds, text, n);
    return ds->format_version != AS_NO_STR ? ASSAY_OK : memory_is_out(meta);
}

static assay_status find_sections(as_meta *meta) {
    for (unsigned i = 0; i < AS_META_SECTIONS; i++) {
        uint64_t offset = 0x10 + 16 * i, size = as_meta_u64(meta, offset), at = as_meta_u64(meta, offset + 8);
        if (!at) continue;
        if (!as_meta_has(meta, at, size) || !as_meta_has(meta, at, SECTION_LEAST[i]))
            return as_meta_bad(meta, offset, "outside-file",
                               "the section %s, %llu bytes at %llu, is not all in the file", SECTION_NAMES[i],
                               (unsigned long long)size, (unsigned long long)at);
        meta->sections[i] = at;
    }
    uint64_t metrics = meta->sections[AS_META_METRICS];
    meta->is_draft = metrics && meta->data[metrics + 0x0c] == DRAFT_METRIC_SIZE;
    if (meta->is_draft && meta->sections[AS_META_CONTEXTS] && !as_meta_has(meta, meta->sections[AS_META_CONTEXTS], 16))
        return as_meta_bad(meta, meta->sections[AS_META_CONTEXTS], "outside-file", "the section Context is cut off");
    return ASSAY_OK;
}

assay_status as_meta_open(as_meta *meta, as_reader *reader, const char *path, const void *data, size_t size) {
    as_dataset *ds = reader->dataset;
    *meta = (as_meta){.reader = reader, .ds = ds, .path = path, .data = data, .size = size};
    as_map_init(&meta->texts, &ds->budget);
    as_map_init(&meta->other_contexts, &ds->budget);
    as_map_init(&meta->sources, &ds->budget);
    as_vec_init(&meta->kinds, sizeof(const char *), &ds->budget);
    as_vec_init(&meta->metrics, sizeof(as_hpc_metric), &ds->budget);
    as_vec_init(&meta->statistics, sizeof(as_hpc_statistic), &ds->budget);
    as_tree_init(&meta->tree, ds);
    meta->text_left = 4 * (uint64_t)size;
    meta->name_room = as_hpc_name_room_of(size);
    AS_TRY(check_header(meta));
    return find_sections(meta);
}

void as_meta_free(as_meta *meta) {
    as_map_free(&meta->texts);
    as_map_free(&meta->other_contexts);
    as_map_free(&meta->sources);
    as_vec_free(&meta->kinds);
    as_vec_free(&meta->metrics);
    as_vec_free(&meta->statistics);
    as_tree_free(&meta->tree);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static assay_status read_general(as_meta *meta) {
    static const char *const keys[] = {"title", "description"};
    uint64_t at = meta->sections[AS_META_GENERAL];
    for (unsigned i = 0; i < 2 && at; i++) {
        as_str text;
        AS_TRY(as_meta_text(meta, at + 8 * i, &text));
        if (text != AS_NO_STR &&
            !as_add_attribute(meta->ds, AS_OWNER_DATASET, 0, keys[i], as_cell_text(as_ds_text(meta->ds, text))))
            return memory_is_out(meta);
    }
    return ASSAY_OK;
}

static assay_status read_id_names(as_meta *meta) {
    uint64_t at = meta->sections[AS_META_ID_NAMES];
    if (!at) return ASSAY_OK;
    as_meta_table names;
    AS_TRY(
        as_meta_find_table(meta, at, as_meta_u64(meta, at), meta->data[at + 8], 8, 8, "names of identifiers", &names));
    for (uint32_t i = 0; i < names.n; i++) {
        as_str text;
        AS_TRY(as_meta_text(meta, names.at + 8 * i, &text));
        const char *name = as_ds_text(meta->ds, text);
        if (!as_vec_append(&meta->kinds, &name, 1)) return memory_is_out(meta);
    }
    return ASSAY_OK;
}

static assay_status find_names(as_meta *meta, as_meta_section section, uint32_t least, const char *what,
                               as_meta_table *out) {
    uint64_t at = meta->sections[section];
    if (!at) return ASSAY_OK;
    return as_meta_find_table(meta, at, as_meta_u64(meta, at), as_meta_u32(meta, at + 8), as_meta_u16(meta, at + 12),
                              least, what, out);
}

static assay_status read_path(as_meta *meta, uint64_t offset, as_str *out) {
    AS_TRY(as_meta_text(meta, offset, out));
    if (*out != AS_NO_STR && as_str_size(&meta->ds->strings, *out) > MOST_PATH)
        return as_meta_bad(meta, offset, "path-size", "a path of more than %d bytes", MOST_PATH);
    return ASSAY_OK;
}

static assay_status read_files(as_meta *meta) {
    for (uint32_t i = 0; i < meta->files.n; i++) {
        uint64_t at = meta->files.at + (uint64_t)i * meta->files.size;
        AS_TRY(read_path(meta, at + 8, &meta->file_names[i]));
        if (!(as_meta_u32(meta, at) & FILE_IS_COPIED) || meta->file_names[i] == AS_NO_STR) continue;
        if (as_map_get(&meta->sources, meta->file_names[i]) != AS_MAP_NONE) continue; /* many may be the same */
        const char *path = as_ds_text(meta->ds, meta->file_names[i]);
        if (!as_map_put(&meta->sources, meta->file_names[i], i) ||
            !as_add_attribute(meta->ds, AS_OWNER_DATASET, 0, "source", as_cell_text(path)))
            return memory_is_out(meta);
        meta->has_sources = true;
    }
    return ASSAY_OK;
}

assay_status as_meta_module_name(as_meta *meta, uint32_t module, as_str *out) {
    *out = meta->module_names[module];
    if (*out != AS_NO_STR) return ASSAY_OK;
    AS_TRY(read_path(meta, meta->modules.at + (uint64_t)module * meta->modules.size + 8, out));
    meta->module_names[module] = *out;
    return ASSAY_OK;
}

/* n 32-bit numbers, all -1. */
static uint32_t *new_numbers(as_meta *meta, uint32_t n) {
    uint32_t *numbers = as_arena_array(&meta->ds->arena, n, sizeof *numbers);
    if (numbers) memset(numbers, 0xff, n * sizeof *numbers);
    return numbers;
}

assay_status as_meta_read_names(as_meta *meta) {
    AS_TRY(read_general(meta));
    AS_TRY(read_id_names(meta));
    AS_TRY(find_names(meta, AS_META_MODULES, MODULE_SIZE, "modules", &meta->modules));
    AS_TRY(find_names(meta, AS_META_FILES, FILE_SIZE, "files", &meta->files));
    AS_TRY(find_names(meta, AS_META_FUNCTIONS, FUNCTION_SIZE, "functions", &meta->functions));
    meta->module_names = new_numbers(meta, meta->modules.n);
    meta->file_names = new_numbers(meta, meta->files.n);
    meta->function_regions = new_numbers(meta, meta->functions.n);
    if (!meta->module_names || !meta->file_names || !meta->function_regions) return memory_is_out(meta);
    return read_files(meta);
}
