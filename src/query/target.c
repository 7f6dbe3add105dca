#include "query/target.h"

#include <strings.h>

#include "core/words.h"
#include "io/append.h"
#include "query/query.h"

/* No format has this ending: pictures and reports have verbs of their own, and some endings are words for a format. */
static assay_status fail_unsaid(const char *path, assay_error *error) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.'), *ending = dot ? dot + 1 : "";
    as_place place = as_place_file(path);
    if (strcasecmp(ending, "svg") == 0)
        return as_fail(error, ASSAY_E_USAGE, place, "unknown-format",
                       "is the name of a picture: 'assay flame' and 'assay trace' draw them");
    if (strcasecmp(ending, "html") == 0)
        return as_fail(error, ASSAY_E_USAGE, place, "unknown-format",
                       "is the name of a page: 'assay report' makes one");
    as_nearest nearest = as_nearest_start(ending, strlen(ending));
    for (const as_format *const *format = as_formats; *format && *ending; format++) {
        if ((*format)->write) as_nearest_offer(&nearest, (*format)->name);
    }
    if (nearest.word)
        return as_fail(error, ASSAY_E_USAGE, place, "unknown-format",
                       "the name does not say which format to write; did you mean --to %s?", nearest.word);
    return as_fail(error, ASSAY_E_USAGE, place, "unknown-format",
                   "the name does not say which format to write; name one with --to; 'assay formats' lists them and "
                   "their endings");
}

assay_status as_target_find(const char *name, const char *path, as_target *out, assay_error *error) {
    if (name ? strcmp(name, AS_SQLITE_NAME) == 0 : as_has_ending(path, AS_SQLITE_ENDINGS)) {
        *out = (as_target){.name = AS_SQLITE_NAME};
        return ASSAY_OK;
    }
    const as_format *format = name ? as_format_find(name) : as_format_for_path(path);
    if (!format && name) return as_format_unknown(name, AS_SQLITE_NAME, error);
    if (!format) return fail_unsaid(path, error);
    if (!format->write)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "not-writable",
                       "the format %s can be read but not written", format->name);
    *out = (as_target){.name = format->name, .format = format};
    return ASSAY_OK;
}

void as_target_losses(const as_target *target, const as_dataset *dataset, as_losses *losses) {
    as_losses_init(losses);
    if (target->format) as_find_losses(dataset, target->format, losses);
}

static assay_status write_directory(const as_target *target, const as_dataset *dataset, const char *path,
                                    const char *const *options, assay_error *error) {
    as_output_directory *directory;
    AS_TRY(as_output_directory_open(path, &directory, error));
    as_output_directory_on_begin(directory, target->begins, target->user);
    assay_status status = as_write_directory(dataset, target->format, options, target->threads, directory, error);
    if (status == ASSAY_OK) return as_output_directory_commit(directory, error);
    as_output_directory_discard(directory);
    return status;
}

static assay_status append(const as_target *target, const as_dataset *dataset, const char *path,
                           const char *const *options, assay_error *error) {
    as_append *adding;
    AS_TRY(as_append_begin(path, as_ds_budget(dataset), &adding, error));
    as_output *out = as_append_output(adding);
    as_output_on_begin(out, target->begins, target->user);
    assay_status status =
        as_write_behind(dataset, target->format, options, target->threads, as_append_existing(adding), out, error);
    if (status == ASSAY_OK) return as_append_commit(adding, error);
    as_output_on_begin(out, NULL, NULL);
    as_append_discard(adding);
    return status;
}

assay_status as_target_write(const as_target *target, const as_dataset *dataset, const char *path,
                             const char *const *options, assay_error *error) {
    if (!target->format) {
        as_options none = {.given = options};
        AS_TRY(as_options_check(&none, target->name, error));
        return as_sql_export(dataset, path, error);
    }
    if (target->format->writes_directories) return write_directory(target, dataset, path, options, error);
    if (target->appends) return append(target, dataset, path, options, error);
    as_output *out;
    AS_TRY(as_output_open(path, &out, error));
    as_output_on_begin(out, target->begins, target->user);
    assay_status status = as_write(dataset, target->format, options, target->threads, out, error);
    if (status != ASSAY_OK) as_output_on_begin(out, NULL, NULL);
    if (status == ASSAY_OK || !as_output_flush(out))
        return as_output_commit(out, error); /* an output that failed says why better than the writer */
    as_output_discard(out);
    return status;
}
