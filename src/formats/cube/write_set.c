/* The writer of `cube-set`: DIR/run.x1.y2.r1/profile.cubex for each run. The names of the directories say the
 * parameters in the way that Extra-P and the reader of sets understand; what they cannot say is refused. */
#include <math.h>
#include <stdlib.h>

#include "formats/cube/write.h"
#include "io/directory.h"

#define PREFIX "run"
enum { MAX_DIGITS = 60 }; /* of a number; names of files have an end, and the reader of sets has one, too */

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Whether a name can be told from the numbers around it. */
static bool is_speakable(const char *name, bool is_first) {
    size_t size = strlen(name);
    if (!size || name[0] == ' ' || name[size - 1] == ' ' || (is_first && strcmp(name, "r") == 0)) return false;
    for (const char *at = name; *at; at++) {
        if ((unsigned char)*at < ' ' || strchr("0123456789.,/", *at)) return false;
    }
    return true;
}

static assay_status check_names(const as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        const char *name = as_ds_parameter(ds, i);
        if (!is_speakable(name, i == 0))
            return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "parameter-name",
                           "names of directories cannot hold the parameter '%s' (no digits, '.', ',' and '/', and not "
                           "'r' first); rename it, or write extrap-experiment",
                           name);
    }
    return ASSAY_OK;
}

/* A number in digits and a point only, the shortest that is read as the same again. False where that is too long, where
 * it has a sign, or memory is out. */
static bool add_number(as_vec *out, double value) {
    char text[AS_NUMBER_SIZE], digits[AS_NUMBER_SIZE];
    if (!(value >= 0) || isinf(value)) return false;
    as_real_format(value == 0 ? 0 : value, text);
    const char *e = strchr(text, 'e');
    size_t mantissa = e ? (size_t)(e - text) : strlen(text), n = 0;
    long before = -1; /* digits before the point */
    for (size_t i = 0; i < mantissa; i++) {
        if (text[i] == '.')
            before = (long)n;
        else
            digits[n++] = text[i];
    }
    before = (before < 0 ? (long)n : before) + (e ? strtol(e + 1, NULL, 10) : 0);
    long behind = before < (long)n ? (long)n - before : 0;
    if ((before > 0 ? before : 1) + behind > MAX_DIGITS) return false;
    bool fine = before > 0 || as_vec_text(out, "0");
    for (long i = 0; i < before; i++) fine = fine && as_vec_append(out, i < (long)n ? &digits[i] : "0", 1);
    if (before < (long)n) fine = fine && as_vec_text(out, ".");
    for (long i = before; i < (long)n; i++) fine = fine && as_vec_append(out, i < 0 ? "0" : &digits[i], 1);
    return fine;
}

/* "run.x1.y2.5.r1/profile.cubex". A name that begins with r follows the number before it at once: Extra-P takes all
 * from the first ".r" on for a repetition. */
static assay_status make_name(const as_writer *writer, assay_id point, uint32_t repetition, as_vec *name) {
    const as_dataset *ds = writer->dataset;
    const double *coordinates = as_ds_point(ds, point);
    char digits[AS_NUMBER_SIZE];
    name->count = 0;
    bool fine = as_vec_text(name, PREFIX);
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        const char *parameter = as_ds_parameter(ds, i);
        fine = fine && (i && parameter[0] == 'r' ? true : as_vec_text(name, ".")) && as_vec_text(name, parameter);
        if (fine && !add_number(name, coordinates[i])) {
            as_real_format(coordinates[i], digits);
            return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "parameter-value",
                           "names of directories cannot hold the value %s of parameter '%s'; write extrap-experiment",
                           digits, parameter);
        }
    }
    as_uint_format((uint64_t)repetition + 1, digits);
    fine = fine && as_vec_text(name, ".r") && as_vec_text(name, digits) &&
           as_vec_append(name, "/profile.cubex", sizeof "/profile.cubex");
    return fine ? ASSAY_OK : as_fail_memory(writer->error, NULL);
}

/* ---- the set ----------------------------------------------------------------------------------------------------- */

/* Whether a parameter has more than one value: else its reader takes it for a part of the name. */
static bool varies(const as_dataset *ds, size_t parameter) {
    for (assay_id i = 1; i < ds->n_points; i++) {
        if (as_ds_point(ds, i)[parameter] != as_ds_point(ds, 0)[parameter]) return true;
    }
    return false;
}

static bool any_varies(const as_dataset *ds) {
    for (size_t i = 0; i < as_ds_parameters(ds); i++) {
        if (varies(ds, i)) return true;
    }
    return false;
}

static assay_status check_points(const as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    if (!as_ds_parameters(ds))
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-parameters",
                       "there are no parameters that directories could be named after; --to cube writes a single run");
    if (!any_varies(ds))
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "one-point",
                       "there is only one point, and a set needs two; --to cube writes a single run");
    for (assay_id i = 0; i < ds->runs.count; i++) {
        if (as_ds_run(ds, i)->point == ASSAY_NONE)
            return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-point",
                           "run %u has no values of the parameters, so no directory", i);
    }
    return check_names(writer);
}

static assay_status write_runs(const as_writer *writer, const as_cube_source *source, uint32_t *repetitions) {
    const as_dataset *ds = writer->dataset;
    as_vec name;
    as_vec_init(&name, 1, NULL);
    assay_status code = ASSAY_OK;
    for (assay_id run = 0; run < ds->runs.count && code == ASSAY_OK; run++) {
        assay_id point = as_ds_run(ds, run)->point;
        as_output *out = NULL;
        code = make_name(writer, point, repetitions[point]++, &name);
        if (code == ASSAY_OK) code = as_output_directory_file(writer->directory, name.data, &out, writer->error);
        if (code != ASSAY_OK) break;
        code = as_cube_write_run(writer, source, run, true, out);
        if (code == ASSAY_OK)
            code = as_output_commit(out, writer->error);
        else
            as_output_discard(out);
    }
    as_vec_free(&name);
    return code;
}

assay_status as_cube_set_write(as_writer *writer) {
    AS_TRY(as_cube_check_values(writer));
    AS_TRY(check_points(writer));
    as_cube_source source;
    uint32_t *repetitions = calloc(writer->dataset->n_points + 1, sizeof *repetitions);
    assay_status code = as_cube_source_init(&source, writer->dataset) && repetitions
                            ? write_runs(writer, &source, repetitions)
                            : as_fail_memory(writer->error, NULL);
    as_cube_source_free(&source);
    free(repetitions);
    return code;
}

void as_cube_set_losses(const as_dataset *ds, as_losses *losses) {
    bool can_be_written = any_varies(ds);
    for (size_t i = 0; i < as_ds_parameters(ds) && can_be_written; i++) {
        if (!varies(ds, i)) as_lose(losses, "the parameter %s, which has one value only", as_ds_parameter(ds, i));
    }
    for (size_t i = 0; i < ds->attributes.count && !as_cube_is_ours(ds); i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (as_cube_is_of_reading(attribute->owner, as_ds_text(ds, attribute->key)))
            as_lose(losses, "the attribute scaling (say -O scaling=… when reading)");
    }
    as_cube_lose_common(ds, losses);
}

/* Sets are made for Extra-P, which reads them with pyCubexR. */
void as_cube_set_remarks(const as_dataset *ds, const as_options *options, as_losses *remarks) {
    (void)options;
    static const char whom[] = "pyCubexR, and so Extra-P, cannot read";
    size_t roots = 0, systems = 0, derived = 0;
    for (size_t i = 0; i < ds->contexts.count; i++) roots += as_ds_context(ds, (assay_id)i)->parent == ASSAY_NONE;
    for (size_t i = 0; i < ds->locations.count; i++) systems += as_ds_location(ds, (assay_id)i)->parent == ASSAY_NONE;
    for (size_t i = 0; i < ds->metrics.count; i++) derived += as_ds_metric(ds, (assay_id)i)->kind == AS_KIND_DERIVED;
    if (roots > 1) as_lose(remarks, "%s files whose call tree has several roots (here %zu); assay can", whom, roots);
    if (systems > 1) as_lose(remarks, "%s files with several machines (here %zu); assay can", whom, systems);
    if (derived) as_lose(remarks, "%s files with derived metrics (here %zu); assay can", whom, derived);
}
