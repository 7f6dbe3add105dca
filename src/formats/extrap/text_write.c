/* Writing extrap-text. DATA lines belong to points by their position, and names end with the line: what does not fit
 * that is in losses(). */
#include <stdlib.h>

#include "formats/extrap/series.h"
#include "formats/extrap/text.h"

enum { POINTS_PER_LINE = 20 };

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Whether reading the name back gives the same. */
static bool survives(const char *name) {
    if (is_blank(name[0])) return false;
    for (; *name; name++) {
        if (is_blank(*name) && (*name != ' ' || is_blank(name[1]) || !name[1])) return false;
    }
    return true;
}

/* The name as it will be read: runs of blanks become one, none at the ends. */
static void write_name(as_output *out, const char *name) {
    bool begun = false, gap = false;
    for (; *name; name++) {
        if (is_blank(*name)) {
            gap = true;
            continue;
        }
        if (gap && begun) as_output_char(out, ' ');
        as_output_char(out, *name);
        begun = true, gap = false;
    }
}

static void write_keyword(as_output *out, const char *keyword, const char *name) {
    as_output_text(out, keyword);
    if (*name) as_output_char(out, ' ');
    write_name(out, name);
    as_output_char(out, '\n');
}

static bool is_word(const char *name) {
    for (const char *c = name; *c; c++) {
        if (is_blank(*c)) return false;
    }
    return *name != '\0';
}

/* Parameter names are words: blanks become '_', and '_' is appended while the name is one of another parameter. */
static char *parameter_word(const as_dataset *ds, size_t index, char **earlier) {
    const char *name = as_ds_parameter(ds, index);
    size_t size = strlen(name), n = as_ds_parameters(ds);
    char *word = malloc(size + n + 2);
    if (!word) return NULL;
    for (size_t i = 0; i < size; i++) word[i] = is_blank(name[i]) ? '_' : name[i];
    word[size] = '\0';
    if (is_word(name)) return word;
    for (bool taken = size == 0;; taken = false) {
        for (size_t i = 0; i < n && !taken; i++) {
            taken = (i < index && strcmp(word, earlier[i]) == 0) ||
                    (i > index && strcmp(word, as_ds_parameter(ds, i)) == 0);
        }
        if (!taken) return word;
        word[size++] = '_';
        word[size] = '\0';
    }
}

/* Comments that a text file had: see text.c. */
static bool is_comment(const as_dataset *ds, const as_attribute *attribute) {
    return attribute->owner == AS_OWNER_DATASET && attribute->value.type == AS_CELL_TEXT &&
           strcmp(as_ds_text(ds, attribute->key), "comment") == 0;
}

static void write_comments(as_output *out, const as_dataset *ds) {
    for (size_t i = 0; i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (!is_comment(ds, attribute)) continue;
        for (const char *line = attribute->value.text;;) {
            size_t size = strcspn(line, "\n");
            as_output_text(out, size ? "# " : "#");
            as_output_write(out, line, size);
            as_output_char(out, '\n');
            if (!line[size]) break;
            line += size + 1;
        }
    }
}

static assay_status write_parameters(as_writer *writer) {
    size_t n = as_ds_parameters(writer->dataset), made = 0;
    char **words = calloc(n, sizeof *words);
    if (!words) return as_fail_memory(writer->error, NULL);
    while (made < n && (words[made] = parameter_word(writer->dataset, made, words))) made++;
    if (made == n) {
        as_output_text(writer->out, "PARAMETER");
        for (size_t i = 0; i < n; i++) {
            as_output_char(writer->out, ' ');
            as_output_text(writer->out, words[i]);
        }
        as_output_char(writer->out, '\n');
    }
    for (size_t i = 0; i < made; i++) free(words[i]);
    free(words);
    return made == n ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

static void write_points(as_output *out, const as_dataset *ds) {
    size_t n = as_ds_parameters(ds);
    for (size_t point = 0; point < ds->n_points; point++) {
        const double *coordinates = as_ds_point(ds, (assay_id)point);
        as_output_text(out, point % POINTS_PER_LINE == 0 ? point ? "\nPOINTS " : "POINTS " : " ");
        as_output_char(out, '(');
        for (size_t i = 0; i < n; i++) {
            if (i) as_output_char(out, ' ');
            as_output_real(out, coordinates[i]);
        }
        as_output_char(out, ')');
    }
    as_output_char(out, '\n');
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* Which points a series has: DATA lines can give the first ones only. */
typedef enum coverage { NO_VALUES, ALL_POINTS, FIRST_POINTS, WITH_GAPS } coverage;

static bool find_coverage(const as_dataset *ds, const as_series *series, coverage *out) {
    as_series_walk walk;
    bool fine = as_walk_begin(&walk, ds, series), gap = false;
    size_t n = 0;
    while (fine && as_walk_next(&walk)) gap |= walk.point != n++;
    as_walk_end(&walk);
    *out = n == 0 ? NO_VALUES : gap ? WITH_GAPS : n < ds->n_points ? FIRST_POINTS : ALL_POINTS;
    return fine;
}

static bool write_data(as_output *out, const as_dataset *ds, const as_series *series) {
    as_series_walk walk;
    bool fine = as_walk_begin(&walk, ds, series);
    while (fine && as_walk_next(&walk)) {
        as_output_text(out, "DATA");
        for (uint64_t i = 0; i < walk.n; i++) {
            as_output_char(out, ' ');
            as_output_number(out, as_block_value(walk.block, as_walk_row(&walk, walk.first + i)));
        }
        as_output_char(out, '\n');
    }
    as_walk_end(&walk);
    return fine;
}

static bool write_region(as_output *out, const as_dataset *ds, assay_id context, as_vec *path) {
    if (!as_context_path(ds, context, path)) return false;
    write_keyword(out, "REGION", path->data);
    return true;
}

static const char *metric_name(const as_dataset *ds, assay_id metric) {
    const char *name = as_ds_text(ds, as_ds_metric(ds, metric)->name);
    return name ? name : "";
}

/* Metrics and call paths without data are named before the others: so the call tree keeps its order when it is read
 * again and again. */
static bool write_bare_names(as_writer *writer, const as_measured *written, as_vec *path) {
    const as_dataset *ds = writer->dataset;
    for (size_t i = 0; i < ds->metrics.count; i++) {
        if (!written->metrics[i]) write_keyword(writer->out, "METRIC", metric_name(ds, (assay_id)i));
    }
    for (size_t i = 0; i < ds->contexts.count; i++) {
        if (!as_ds_context(ds, (assay_id)i)->is_callpath || written->contexts[i]) continue;
        if (!write_region(writer->out, ds, (assay_id)i, path)) return false;
    }
    return true;
}

static bool write_all_series(as_writer *writer, const bool *fits, as_vec *path) {
    const as_dataset *ds = writer->dataset;
    assay_id metric = ASSAY_NONE, context = ASSAY_NONE;
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        if (!fits[i]) continue;
        if (series->metric != metric) write_keyword(writer->out, "METRIC", metric_name(ds, series->metric));
        if (series->context != context && !write_region(writer->out, ds, series->context, path)) return false;
        metric = series->metric, context = series->context;
        if (!write_data(writer->out, ds, series)) return false;
    }
    return true;
}

/* Which series DATA lines can give, and what these name. */
static bool find_fitting(const as_dataset *ds, bool *fits, as_measured *written) {
    for (size_t i = 0; i < ds->series.count; i++) {
        const as_series *series = as_ds_series(ds, i);
        coverage covered;
        if (!find_coverage(ds, series, &covered)) return false;
        fits[i] = covered == ALL_POINTS || covered == FIRST_POINTS;
        if (fits[i]) written->metrics[series->metric] = written->contexts[series->context] = true;
    }
    return true;
}

assay_status as_extrap_text_write(as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    AS_TRY(as_require_experiment(writer, "extrap-text"));
    write_comments(writer->out, ds);
    AS_TRY(write_parameters(writer));
    write_points(writer->out, ds);
    as_measured named = {.metrics = calloc(ds->metrics.count + 1, 1), .contexts = calloc(ds->contexts.count + 1, 1)};
    bool *fits = calloc(ds->series.count + 1, 1);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    bool fine = named.metrics && named.contexts && fits && find_fitting(ds, fits, &named) &&
                write_bare_names(writer, &named, &path) && write_all_series(writer, fits, &path);
    as_vec_free(&path);
    as_measured_free(&named);
    free(fits);
    return fine ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

/* ---- what does not fit ------------------------------------------------------------------------------------------- */

static size_t count_changed_names(const as_dataset *ds, as_losses *losses) {
    size_t n = 0;
    for (size_t i = 0; i < ds->metrics.count; i++) n += !survives(metric_name(ds, (assay_id)i));
    as_vec path;
    as_vec_init(&path, 1, NULL);
    for (size_t i = 0; i < ds->contexts.count; i++) {
        if (!as_ds_context(ds, (assay_id)i)->is_callpath) continue;
        if (as_context_path(ds, (assay_id)i, &path))
            n += !survives(path.data);
        else
            losses->failed = true;
    }
    as_vec_free(&path);
    return n;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

void as_extrap_text_losses(const as_dataset *ds, as_losses *losses) {
    size_t parameters = 0, gaps = 0, short_ones = 0, names = count_changed_names(ds, losses);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) parameters += !is_word(as_ds_parameter(ds, i));
    for (size_t i = 0; i < ds->series.count; i++) {
        coverage covered;
        if (!find_coverage(ds, as_ds_series(ds, i), &covered)) {
            losses->failed = true;
            break;
        }
        gaps += covered == WITH_GAPS;
        short_ones += covered == FIRST_POINTS;
    }
    as_lose_attributes(losses, ds, is_comment);
    if (parameters)
        as_lose(losses, "the blanks in %zu parameter name%s (they become '_')", parameters, plural(parameters));
    if (names)
        as_lose(losses, "the exact white space of %zu name%s of metrics and call paths (runs of it become one blank)",
                names, plural(names));
    if (gaps) as_lose(losses, "the values of %zu series without data at a point before their last", gaps);
    if (short_ones)
        as_lose(losses, "%zu series without data at the last points in a way that readers other than assay accept",
                short_ones);
}
