/* The list of formats, and how an input finds its reader and a dataset its writer. */
#include "formats/format.h"

#include <limits.h>
#include <stdio.h>
#include <strings.h>

#include "core/words.h"
#include "dataset/merge.h"
#include "io/directory.h"
#include "io/mapped.h"

#define AS_FORMAT(name) extern const as_format name;
#include "formats/formats.def"
#undef AS_FORMAT

const as_format *const as_formats[] = {
#define AS_FORMAT(name) &name,
#include "formats/formats.def"
#undef AS_FORMAT
    NULL};

const as_format *as_format_find(const char *name) {
    for (const as_format *const *format = as_formats; *format; format++) {
        if (strcmp((*format)->name, name) == 0) return *format;
    }
    return NULL;
}

assay_status as_format_unknown(const char *name, const char *further, assay_error *error) {
    as_nearest nearest = as_nearest_start(name, strlen(name));
    for (const as_format *const *format = as_formats; *format; format++) as_nearest_offer(&nearest, (*format)->name);
    if (further) as_nearest_offer(&nearest, further);
    if (nearest.word)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-format",
                       "there is no format '%s'; did you mean '%s'?", name, nearest.word);
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-format",
                   "there is no format '%s'; 'assay formats' lists them", name);
}

/* The length of the longest of the endings that path has; 0: none. */
static size_t ending_of(const char *path, const char *endings) {
    size_t size = strlen(path), longest = 0;
    for (const char *ending = endings; *ending;) {
        size_t n = strcspn(ending, " ");
        if (n > longest && size > n && strncasecmp(path + size - n, ending, n) == 0) longest = n;
        ending += n + strspn(ending + n, " ");
    }
    return longest;
}

bool as_has_ending(const char *path, const char *endings) { return ending_of(path, endings) > 0; }

/* Whether the last part of a path begins with this: callgrind.out, callgrind.out.4711, callgrind.out.before. */
static bool has_prefix(const char *path, const char *prefix) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = prefix ? strlen(prefix) : 0;
    return n && strncmp(name, prefix, n) == 0;
}

const as_format *as_format_for_path(const char *path) {
    const as_format *best = NULL, *begun = NULL;
    size_t longest = 0;
    for (const as_format *const *format = as_formats; *format; format++) {
        if (!(*format)->write) continue;
        size_t n = ending_of(path, (*format)->extensions);
        if (has_prefix(path, (*format)->prefix)) begun = *format;
        if (n <= longest) continue;
        best = *format;
        longest = n;
    }
    return best ? best : begun;
}

const char *as_source_name(const as_dataset *ds) {
    const char *path = as_ds_text(ds, ds->path), *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path ? path : "";
}

/* ---- what a reader reports --------------------------------------------------------------------------------------- */

assay_status as_broken(as_reader *reader, as_place place, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    assay_status status = ASSAY_OK;
    if (reader->keep_going) {
        reader->failed = true;
        as_add_vproblem(reader->dataset, AS_ERROR, place, rule, format, args);
    } else {
        status = as_vfail(reader->error, ASSAY_E_FORMAT, place, rule, format, args);
    }
    va_end(args);
    return status;
}

void as_leave_out(as_reader *reader, as_place place, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    as_add_vproblem(reader->dataset, reader->keep_going ? AS_ERROR : AS_WARNING, place, rule, format, args);
    va_end(args);
    reader->failed |= reader->keep_going;
}

void as_warn(as_reader *reader, as_place place, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    as_add_vproblem(reader->dataset, AS_WARNING, place, rule, format, args);
    va_end(args);
}

assay_status as_reader_progress(as_reader *reader, size_t done) {
    as_input_consumed(reader->input, done);
    if (!reader->progress) return ASSAY_OK;
    double fraction = reader->input->size ? (double)done / (double)reader->input->size : 1;
    if (reader->progress(reader->user, "reading", fraction)) return ASSAY_OK;
    return as_fail(reader->error, ASSAY_E_CANCELLED, as_place_file(reader->input->path), "cancelled", "cancelled");
}

assay_status as_reader_memory(as_reader *reader) { return as_fail_memory(reader->error, reader->input->path); }

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static as_probe probe_of(const as_input *input) {
    size_t window = input->size < AS_PROBE_SIZE ? input->size : AS_PROBE_SIZE;
    as_probe probe = {.path = input->path,
                      .is_directory = input->is_directory,
                      .size = input->size,
                      .head_size = window,
                      .tail_size = window};
    probe.head = input->is_directory ? "" : input->data;
    probe.tail = input->is_directory ? "" : input->data + input->size - window;
    return probe;
}

/* Of no format itself: whoever keeps several measurements in one directory is told to name one of them. */
static assay_status fail_directory(const as_input *input, assay_error *error) {
    enum { LOOKED_AT = 64 };
    as_directory directory;
    char path[PATH_MAX], first[NAME_MAX + 1] = "";
    size_t found = 0, looked = 0, size = strlen(input->path);
    const char *slash = size && input->path[size - 1] == '/' ? "" : "/";
    if (as_directory_list(input->path, NULL, &directory, NULL) != ASSAY_OK) directory.n_entries = 0;
    for (size_t i = 0; i < directory.n_entries && looked < LOOKED_AT; i++) {
        const as_directory_entry *entry = &directory.entries[i];
        if (!entry->is_directory) continue;
        int n = snprintf(path, sizeof path, "%s%s%s", input->path, slash, entry->name);
        as_probe probe = {.path = path, .is_directory = true, .head = "", .tail = ""};
        bool is_known = false;
        looked++;
        for (const as_format *const *format = as_formats; *format && n > 0 && n < PATH_MAX && !is_known; format++)
            is_known = (*format)->bid && (*format)->read && (*format)->bid(&probe) > 0;
        if (is_known && !found++) snprintf(first, sizeof first, "%s", entry->name);
    }
    as_directory_free(&directory);
    as_place place = as_place_file(input->path);
    if (found == 1)
        return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format",
                       "is no measurement itself, but holds one: name %s%s%s", input->path, slash, first);
    if (found)
        return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format",
                       "is no measurement itself, but holds several: name one, such as %s%s%s", input->path, slash,
                       first);
    return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format",
                   "is a directory without any measurement assay knows");
}

/* Files of other tools that people try: what to do with them. NULL: it is none of these. */
static const char *advice_on(const as_probe *probe) {
    enum { LOOKED_AT = 4096 };
    static const struct {
        const char *word; /* near the beginning */
        const char *advice;
    } others[] = {
        {"PERFILE2",
         "is what perf record writes; perf script and stackcollapse-perf.pl make folded stacks of it, which "
         "assay reads (docs/formats/folded.md)"},
        {"# callgrind format", "is a Callgrind profile, which assay writes but does not read"},
        {"creator: callgrind", "is a Callgrind profile, which assay writes but does not read"},
        {"\"traceEvents\"", "is a Chrome trace, which assay writes but does not read"},
    };
    size_t size = probe->head_size < LOOKED_AT ? probe->head_size : LOOKED_AT;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (memmem(probe->head, size, others[i].word, strlen(others[i].word))) return others[i].advice;
    }
    return NULL;
}

/* The format whose bid is highest. */
static assay_status choose(const as_input *input, const as_format **out, int *bits, assay_error *error) {
    as_probe probe = probe_of(input);
    const as_format *rival = NULL;
    *out = NULL;
    *bits = 0;
    for (const as_format *const *format = as_formats; *format; format++) {
        int bid = (*format)->bid && (*format)->read ? (*format)->bid(&probe) : 0;
        if (bid > *bits)
            *out = *format, *bits = bid, rival = NULL;
        else if (bid && bid == *bits)
            rival = *format;
    }
    as_place place = as_place_file(input->path);
    if (rival) {
        return as_fail(error, ASSAY_E_AMBIGUOUS, place, "ambiguous-format",
                       "may be %s as well as %s; say which with --from", (*out)->name, rival->name);
    }
    if (*out) return ASSAY_OK;
    if (input->is_directory) return fail_directory(input, error);
    if (!input->size) return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format", "is empty");
    const char *advice = advice_on(&probe);
    if (advice) return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format", "%s", advice);
    return as_fail(error, ASSAY_E_AMBIGUOUS, place, "unknown-format",
                   "is of no format assay knows; 'assay formats' lists them, --from names one");
}

static assay_status find_format(const as_input *input, const char *name, const as_format **out, int *bits,
                                assay_error *error) {
    if (!name) return choose(input, out, bits, error);
    *bits = 0;
    *out = as_format_find(name);
    if (!*out) return as_format_unknown(name, NULL, error);
    if (!(*out)->read)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "unknown-format", "the format %s cannot be read", name);
    return ASSAY_OK;
}

/* Reads an open input with a chosen format. */
static assay_status read_with(as_input *input, const as_format *format, int bits, const as_read_config *config,
                              as_dataset *ds, bool *keeps_input, assay_error *error) {
    as_reader reader = {.input = input,
                        .dataset = ds,
                        .options = {format->read_options, config->options},
                        .max_depth = config->depth_limit ? config->depth_limit : 1024,
                        .most_frames = config->depth_limit ? config->depth_limit : 1 << 16,
                        .keep_going = config->keep_going,
                        .is_overview = config->is_overview,
                        .progress = config->progress,
                        .user = config->user,
                        .can_keep_input = keeps_input != NULL,
                        .error = error};
    AS_TRY(as_options_check(&reader.options, format->name, error));
    ds->format = format->name;
    ds->evidence = bits;
    ds->input_size = input->size;
    ds->path = as_ds_intern_text(ds, input->path);
    if (ds->path == AS_NO_STR) return as_fail_memory(error, input->path);
    if (input->is_directory && !format->reads_directories) {
        return as_fail(error, ASSAY_E_FORMAT, as_place_file(input->path), "is-directory",
                       "is a directory; %s is a file", format->name);
    }
    assay_status status = format->read(&reader);
    /* Bytes that became others meanwhile may look like anything. */
    if (status == ASSAY_E_FORMAT && as_mapped_has_changed(&ds->budget, error)) return ASSAY_E_IO;
    if (keeps_input) *keeps_input = reader.keeps_input;
    if (status != ASSAY_E_FORMAT || !config->keep_going || !error) return status;
    /* What stops a reader that was told to keep going is one more problem beside those it stepped over. */
    as_place place = {.path = error->path, .offset = error->offset, .line = error->line, .column = error->column};
    as_dataset_forget_data(ds);
    as_add_problem(ds, AS_ERROR, place, error->rule, "%s", error->message);
    return ASSAY_OK;
}

/* *keeps_input (may be NULL: it cannot be kept): whether the dataset points into the input. */
static assay_status read_input(as_input *input, const as_read_config *config, as_dataset *ds, bool *keeps_input,
                               assay_error *error) {
    const as_format *format;
    int bits;
    AS_TRY(find_format(input, config->format, &format, &bits, error));
    return read_with(input, format, bits, config, ds, keeps_input, error);
}

static void close_input(void *input) { as_input_close(input); }

assay_status as_read(const char *path, const as_read_config *config, as_dataset **out, assay_error *error) {
    static const as_read_config defaults = {0};
    if (!config) config = &defaults;
    as_dataset *ds = as_dataset_new_below(config->budget, config->memory_limit);
    if (!ds) return as_fail_memory(error, path);
    ds->share = config->share;
    as_input *input = NULL;
    bool keeps_input = false;
    assay_status status = as_input_open(path, &ds->budget, &input, error);
    if (status == ASSAY_OK) status = read_input(input, config, ds, &keeps_input, error);
    if (status != ASSAY_OK || !keeps_input)
        as_input_close(input);
    else if (!as_ds_hold(ds, input, close_input))
        status = as_fail_memory(error, path);
    if (status == ASSAY_OK)
        *out = ds;
    else
        as_dataset_free(ds);
    return status;
}

assay_status as_read_memory(const char *name, const char *data, size_t size, const as_read_config *config,
                            as_dataset **out, assay_error *error) {
    static const as_read_config defaults = {0};
    if (!config) config = &defaults;
    as_dataset *ds = as_dataset_new_below(config->budget, config->memory_limit);
    if (!ds) return as_fail_memory(error, name);
    ds->share = config->share;
    as_input input = {.path = name, .data = data, .size = size, .budget = &ds->budget};
    assay_status status = read_input(&input, config, ds, NULL, error);
    if (status == ASSAY_OK)
        *out = ds;
    else
        as_dataset_free(ds);
    return status;
}

as_format_merge *as_own_merge(const as_dataset *const *parts, size_t n) {
    const as_format *format = n && parts[0]->format ? as_format_find(parts[0]->format) : NULL;
    for (size_t i = 0; format && format->merge && i < n; i++) {
        /* Without what the reader kept it is the result of some computation; with parameters, a part of an
         * experiment. */
        if (strcmp(parts[i]->format, format->name) != 0 || !parts[i]->of_format || as_ds_parameters(parts[i]))
            return NULL;
    }
    return format ? format->merge : NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

assay_status as_writable_form(const as_dataset *dataset, const as_format *format, as_dataset **out,
                              assay_error *error) {
    *out = NULL;
    bool holds_it = format->holds & AS_HOLDS_PROFILES && !(dataset->measurement_source && format->writes_points);
    bool is_made_of_values = dataset->profiles.count || dataset->measurement_source;
    bool fits = holds_it || !is_made_of_values || !as_ds_parameters(dataset);
    return fits ? ASSAY_OK : as_pool_profiles(dataset, out, error);
}

static assay_status write_with(as_writer *writer, const as_format *format, const char *const *options) {
    if (!format->write)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "not-writable",
                       "the format %s cannot be written", format->name);
    writer->options = (as_options){format->write_options, options};
    AS_TRY(as_options_check(&writer->options, format->name, writer->error));
    as_dataset *experiment;
    AS_TRY(as_writable_form(writer->dataset, format, &experiment, writer->error));
    if (experiment) writer->dataset = experiment;
    assay_status status = format->write(writer);
    as_dataset_free(experiment);
    return status;
}

assay_status as_write(const as_dataset *dataset, const as_format *format, const char *const *options, unsigned threads,
                      as_output *out, assay_error *error) {
    as_writer writer = {.dataset = dataset, .out = out, .threads = threads, .error = error};
    return write_with(&writer, format, options);
}

assay_status as_write_behind(const as_dataset *dataset, const as_format *format, const char *const *options,
                             unsigned threads, const as_input *existing, as_output *out, assay_error *error) {
    as_writer writer = {.dataset = dataset, .out = out, .existing = existing, .threads = threads, .error = error};
    return write_with(&writer, format, options);
}

assay_status as_write_directory(const as_dataset *dataset, const as_format *format, const char *const *options,
                                unsigned threads, as_output_directory *directory, assay_error *error) {
    as_writer writer = {.dataset = dataset, .directory = directory, .threads = threads, .error = error};
    return write_with(&writer, format, options);
}
