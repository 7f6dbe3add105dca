/* The writer of `cube`: one run as a .cubex. */
#include "formats/cube/write.h"

#include <stdlib.h>

const as_option as_cube_write_options[] = {
    {"compression", AS_OPTION_CHOICE, "inherit", "inherit|none|zlib",
     "of the rows of values: as the input has them (none where it is no Cube file), none, or each packed by zlib"},
    {NULL, AS_OPTION_TEXT, NULL, NULL, NULL},
};

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* Opens what each metric has in the run. */
static assay_status open_slices(as_cube_file *file) {
    size_t n = file->ds->metrics.count;
    file->slices = calloc(n + 1, sizeof *file->slices);
    if (!file->slices) return as_fail_memory(file->error, NULL);
    for (assay_id i = 0; i < n; i++) {
        as_slice *slice = &file->slices[i];
        if (file->source->metric_numbers[i] == UINT32_MAX) continue;
        AS_TRY(as_slice_open_all(file->ds, i, file->run, slice, file->error));
        if (file->source->placeless && !as_slice_drop(slice, file->source->placeless))
            return as_fail_memory(file->error, NULL);
        if (!slice->view.n_rows && !as_ds_profile(file->ds, i, file->run)) slice->view.type.size = 0;
    }
    return ASSAY_OK;
}

/* The leaves that are columns: all, or those with values. */
static bool choose_columns(as_cube_file *file, bool all) {
    const as_dataset *ds = file->ds;
    size_t n = ds->locations.count;
    bool *used = calloc(n + 1, sizeof *used);
    file->columns = malloc((n + 1) * sizeof *file->columns);
    bool fine = used && file->columns;
    for (size_t i = 0; i < ds->metrics.count && fine; i++) {
        const as_profile *view = &file->slices[i].view;
        for (uint32_t k = 0; k < view->n_columns && view->columns && view->n_rows; k++) {
            if (view->columns[k] < n) used[view->columns[k]] = true;
        }
    }
    for (assay_id i = 0; i < n && fine; i++) {
        if (used[i] || (all && as_ds_location(ds, i)->leaf)) file->columns[file->n_columns++] = i;
    }
    free(used);
    if (fine && !file->n_columns) {
        free(file->columns);
        file->columns = NULL;
        file->n_columns = 1;
    }
    return fine;
}

static bool discard_bytes(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return true;
}

/* The size comes before the content: what is written is counted first. */
static assay_status write_anchor(const as_cube_file *file, as_tar_writer *tar) {
    as_output *counter = as_output_to_sink(discard_bytes, NULL);
    bool fine = counter && as_cube_write_anchor(file, counter);
    if (fine) {
        as_tar_begin(tar, "anchor.xml", as_output_size(counter));
        fine = as_cube_write_anchor(file, file->out);
    }
    as_output_discard(counter);
    return fine ? as_tar_end(tar, file->error) : as_fail_memory(file->error, NULL);
}

static void add_kept_file(void *user, const char *key, as_cell value) {
    size_t prefix = strlen(AS_CUBE_FILE);
    if (strncmp(key, AS_CUBE_FILE, prefix) == 0 && value.type == AS_CELL_TEXT)
        as_tar_add(user, key + prefix, value.text, value.size);
}

/* The order in which CubeLib and Score-P write: the anchor last. */
static assay_status write_members(const as_cube_file *file, as_tar_writer *tar) {
    for (size_t i = 0; i < file->ds->metrics.count; i++) {
        const as_profile *view = &file->slices[i].view;
        if (view->n_rows) AS_TRY(as_cube_write_values(file, view, tar));
    }
    as_cube_each_attribute(file->source, AS_OWNER_DATASET, 0, add_kept_file, tar);
    return write_anchor(file, tar);
}

static assay_status write_archive(const as_cube_file *file) {
    as_tar_writer *tar = as_tar_writer_new(file->out);
    if (!tar) return as_fail_memory(file->error, NULL);
    assay_status code = write_members(file, tar);
    if (code == ASSAY_OK)
        as_tar_finish(tar);
    else
        as_tar_discard(tar);
    return code;
}

assay_status as_cube_write_run(const as_writer *writer, const as_cube_source *source, assay_id run, bool is_of_set,
                               as_output *out) {
    const char *compression = as_option_text(&writer->options, "compression");
    as_cube_file file = {.source = source,
                         .ds = writer->dataset,
                         .run = run,
                         .is_of_set = is_of_set,
                         .compression = strcmp(compression, "zlib") == 0   ? AS_CUBE_ZLIB
                                        : strcmp(compression, "none") == 0 ? AS_CUBE_PLAIN
                                                                           : AS_CUBE_INHERIT,
                         .threads = writer->threads,
                         .out = out,
                         .error = writer->error};
    assay_status code = open_slices(&file);
    if (code == ASSAY_OK && !choose_columns(&file, !is_of_set)) code = as_fail_memory(writer->error, NULL);
    if (code == ASSAY_OK) code = write_archive(&file);
    for (size_t i = 0; file.slices && i < writer->dataset->metrics.count; i++) as_slice_close(&file.slices[i]);
    free(file.slices);
    free(file.columns);
    return code;
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

assay_status as_cube_check_values(const as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    if (!ds->contexts.count && !as_cube_is_ours(ds))
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-call-tree",
                       "there is no call tree, and a Cube file is one");
    if (!ds->runs.count)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-values",
                       "there are no values of runs, only statistics; extrap-experiment holds those");
    return ASSAY_OK;
}

assay_status as_cube_write(as_writer *writer) {
    const as_dataset *ds = writer->dataset;
    AS_TRY(as_cube_check_values(writer));
    if (ds->runs.count > 1)
        return as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "several-runs",
                       "a .cubex holds one run, and there are %zu; --to cube-set writes a directory with one file each",
                       ds->runs.count);
    as_cube_source source;
    assay_status code = as_cube_source_init(&source, ds) ? as_cube_write_run(writer, &source, 0, false, writer->out)
                                                         : as_fail_memory(writer->error, NULL);
    as_cube_source_free(&source);
    return code;
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

static bool is_attribute_kept(const as_dataset *ds, const as_attribute *attribute) {
    (void)ds;
    return attribute->owner <= AS_OWNER_LOCATION;
}

static void lose_texts(const as_dataset *ds, as_losses *losses) {
    size_t n = 0;
    for (as_str i = 0; i < ds->strings.entries.count; i++)
        n += !as_xml_holds(as_ds_text(ds, i), as_str_size(&ds->strings, i));
    if (n)
        as_lose(losses, "the control characters of %zu text%s (XML has none; U+FFFD stands for them)", n,
                n == 1 ? "" : "s");
}

/* Of what a source stores as it is. */
static void lose_stored(const as_dataset *ds, as_losses *losses) {
    size_t partners = 0, lone = 0, formulas = 0;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        if (as_cube_holds_metric(ds, i)) continue;
        formulas += !as_ds_metric(ds, i)->is_stored;
        partners += as_ds_metric(ds, i)->part_of != ASSAY_NONE;
        lone += as_ds_metric(ds, i)->is_stored && as_ds_metric(ds, i)->part_of == ASSAY_NONE;
    }
    if (formulas)
        as_lose(losses, "%zu derived metric%s, whose formula%s no CubePL", formulas, formulas == 1 ? "" : "s",
                formulas == 1 ? " is" : "s are");
    if (partners)
        as_lose(losses, "the exclusive values of %zu metric%s (Cube makes its own of the inclusive ones)", partners,
                partners == 1 ? "" : "s");
    if (lone)
        as_lose(losses, "%zu metric%s of exclusive values alone (Cube would add them up along the call tree)", lone,
                lone == 1 ? "" : "s");
    as_lose_placeless(losses, ds);
}

static void lose_columns(const as_dataset *ds, as_losses *losses) {
    size_t kinds = 0;
    bool fits = true;
    for (assay_id i = 0; i < ds->metrics.count; i++) {
        as_metric_kind kind = as_ds_metric(ds, i)->kind;
        kinds += as_cube_holds_metric(ds, i) && (kind == AS_KIND_POINT || kind == AS_KIND_LEXICAL);
    }
    if (kinds) as_lose(losses, "the kind of %zu metric%s (written as exclusive)", kinds, kinds == 1 ? "" : "s");
    losses->failed |= !as_cube_fits_system(ds, &fits);
    if (!fits) as_lose(losses, "locations that are not threads of processes of a machine (those are made up)");
}

void as_cube_lose_common(const as_dataset *ds, as_losses *losses) {
    as_lose_attributes(losses, ds, is_attribute_kept);
    lose_columns(ds, losses);
    lose_stored(ds, losses);
    lose_texts(ds, losses);
}

void as_cube_losses(const as_dataset *ds, as_losses *losses) {
    size_t n = as_ds_parameters(ds);
    if (n && ds->runs.count <= 1) /* more cannot be written at all */
        as_lose(losses, "%zu parameter%s (--to cube-set keeps them)", n, n == 1 ? "" : "s");
    as_cube_lose_common(ds, losses);
}
