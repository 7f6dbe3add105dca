#include "io/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdlib.h>

#include "io/names.h"
#include "io/zip_direct.h"

enum { READ_BLOCK = 1 << 16 };

typedef struct reading {
    const as_input *input;
    struct archive *archive;
    as_zip_directory directory;
    as_budget *budget;
    as_vec entries; /* as_zip_entry */
    assay_error *error;
} reading;

void as_zip_free(as_zip_entry *entries, size_t n_entries, as_budget *budget) {
    for (size_t i = 0; i < n_entries; i++) {
        as_budget_give(budget, strlen(entries[i].name) + 1);
        as_budget_give(budget, entries[i].size + 1);
        free(entries[i].name);
        free(entries[i].data);
    }
    as_budget_give(budget, n_entries * sizeof *entries);
    free(entries);
}

static assay_status fail(const reading *r, const char *rule, const char *what, const char *detail) {
    return as_fail(r->error, ASSAY_E_FORMAT, as_place_file(r->input->path), rule, "%s: %s", what,
                   detail ? detail : "no details known");
}

static assay_status fail_damaged(const reading *r, const char *what) {
    return fail(r, "zip-damaged", what, archive_error_string(r->archive));
}

/* Stored or deflated. The others are nothing our formats use, and LZMA would take as much memory as the archive claims
 * it needs. libarchive tells the method only in the name of the format: "ZIP 2.0 (deflation)". */
static bool has_known_method(struct archive *archive) {
    const char *format = archive_format_name(archive);
    return format && (strstr(format, "(uncompressed)") || strstr(format, "(deflation)"));
}

/* The content of the current entry, to be freed with `data`, in memory that grows as the data comes. */
static assay_status read_data(reading *r, const char *name, as_vec *data) {
    for (bool is_read = as_zip_direct(&r->directory, name, data); !is_read;) {
        if (!as_vec_reserve(data, READ_BLOCK)) return as_fail_memory(r->error, r->input->path);
        la_ssize_t n = archive_read_data(r->archive, (char *)data->data + data->count, READ_BLOCK);
        if (n < 0) return fail_damaged(r, name);
        is_read = n == 0;
        data->count += (size_t)n;
    }
    AS_AT(char, data, data->count++) = '\0';
    as_vec_shrink(data);
    return data->count == data->capacity ? ASSAY_OK : as_fail_memory(r->error, r->input->path);
}

static assay_status add_entry(reading *r, const char *name) {
    as_vec data, copy;
    as_vec_init(&data, 1, r->budget);
    as_vec_init(&copy, 1, r->budget);
    as_zip_entry *entry = NULL;
    assay_status code = read_data(r, name, &data);
    if (code == ASSAY_OK) {
        bool room = as_vec_append(&copy, name, strlen(name) + 1);
        as_vec_shrink(&copy);
        if (room && copy.count == copy.capacity) entry = as_vec_push(&r->entries);
        if (!entry) code = as_fail_memory(r->error, r->input->path);
    }
    if (code == ASSAY_OK)
        *entry = (as_zip_entry){.name = copy.data, .data = data.data, .size = data.count - 1};
    else {
        as_vec_free(&data);
        as_vec_free(&copy);
    }
    return code;
}

static assay_status visit_entry(reading *r, struct archive_entry *entry, bool (*wanted)(void *user, const char *name),
                                void *user) {
    const char *name = archive_entry_pathname_utf8(entry);
    if (!name) name = archive_entry_pathname(entry);
    if (!name) return fail(r, "zip-name", "an entry's name", "not readable; it should be UTF-8");
    if (as_name_leads_out(name)) return fail(r, "zip-name", name, "the name leads out of the archive");
    if (archive_entry_filetype(entry) != AE_IFREG || !wanted(user, name)) return ASSAY_OK;
    if (archive_entry_is_encrypted(entry))
        return fail(r, "zip-encrypted", name, "encrypted; extract it and open the content");
    if (!has_known_method(r->archive))
        return fail(r, "zip-method", name, "packed in a way that is not supported; only deflate is");
    for (size_t i = 0; i < r->entries.count; i++) {
        const as_zip_entry *earlier = &AS_AT(as_zip_entry, &r->entries, i);
        if (strcmp(earlier->name, name) == 0) return fail(r, "zip-duplicate", name, "stands in the archive twice");
    }
    return add_entry(r, name);
}

static assay_status read_archive(reading *r, bool (*wanted)(void *user, const char *name), void *user) {
    struct archive *archive = r->archive;
    /* Only the reader that needs the directory at the end: an archive cut off is refused, not half read. */
    if (archive_read_support_format_zip_seekable(archive) != ARCHIVE_OK ||
        archive_read_open_memory(archive, r->input->data, r->input->size) != ARCHIVE_OK)
        return fail_damaged(r, "no ZIP archive, or cut off");
    for (;;) {
        struct archive_entry *entry;
        int code = archive_read_next_header(archive, &entry);
        if (code == ARCHIVE_EOF) return ASSAY_OK;
        if (code != ARCHIVE_OK) return fail_damaged(r, "no ZIP archive, or damaged");
        AS_TRY(visit_entry(r, entry, wanted, user));
    }
}

assay_status as_zip_read(const as_input *input, bool (*wanted)(void *user, const char *name), void *user,
                         as_budget *budget, as_zip_entry **entries, size_t *n_entries, assay_error *error) {
    reading r = {.input = input,
                 .archive = archive_read_new(),
                 .directory = as_zip_directory_of(input->data, input->size),
                 .budget = budget,
                 .error = error};
    if (!r.archive) return as_fail_memory(error, input->path);
    as_vec_init(&r.entries, sizeof(as_zip_entry), budget);
    /* libarchive turns names into the locale's encoding and loses those that do not fit: for this thread and time it is
     * UTF-8. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = utf8 ? uselocale(utf8) : (locale_t)0;
    assay_status code = read_archive(&r, wanted, user);
    archive_read_free(r.archive);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    as_vec_shrink(&r.entries);
    if (code == ASSAY_OK && r.entries.count != r.entries.capacity) code = as_fail_memory(error, input->path);
    if (code == ASSAY_OK) {
        *entries = r.entries.data;
        *n_entries = r.entries.count;
    } else {
        as_budget_give(budget, (r.entries.capacity - r.entries.count) * sizeof(as_zip_entry));
        as_zip_free(r.entries.data, r.entries.count, budget);
    }
    return code;
}
