/* Copies of sources go along with the database, and a description of its files. */
#include <stdlib.h>

#include "formats/hpctoolkit/hpctoolkit.h"
#include "formats/hpctoolkit/write_plan.h"
#include "io/directory.h"
#include "io/names.h"

#define METRICS "metrics/default.yaml"

/* "./src/main.c" is "src/main.c". */
static const char *plain_name(const char *file) { return strncmp(file, "./", 2) == 0 ? file + 2 : file; }

static size_t folders_of(const char *name) {
    size_t n = 0;
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) n++;
    return n;
}

/* What links lead to elsewhere is none of the database's. */
static bool has_file(const char *directory, const char *name) {
    char *file = as_file_below(directory, name);
    free(file);
    return file;
}

bool as_hpc_is_copied(const as_dataset *ds, as_str file) {
    const char *root = as_ds_text(ds, ds->source_root), *name = as_ds_text(ds, file);
    if (!root || !name) return false;
    name = plain_name(name);
    return strncmp(name, "src/", 4) == 0 && !as_name_leads_out(name) && folders_of(name) <= AS_MAX_FOLDERS &&
           has_file(root, name);
}

assay_status as_hpc_copy_file(const as_hpc_plan *plan, const char *from, const char *name,
                              as_output_directory *directory) {
    char *path = as_file_below(from, name);
    as_input *input = NULL;
    as_output *out = NULL;
    if (!path) return ASSAY_OK;
    assay_status code = as_input_open(path, as_ds_budget(plan->ds), &input, plan->error);
    free(path);
    if (code != ASSAY_OK) return code;
    code = as_output_directory_file(directory, name, &out, plan->error);
    if (out) {
        as_output_write(out, input->data, input->size);
        code = as_output_commit(out, plan->error);
    }
    as_input_close(input);
    return code;
}

static assay_status copy_once(const as_hpc_plan *plan, as_output_directory *directory, as_str file, as_map *done) {
    if (file == AS_NO_STR || as_map_get(done, file) != AS_MAP_NONE || !as_hpc_is_copied(plan->ds, file))
        return ASSAY_OK;
    if (!as_map_put(done, file, 0)) return as_fail_memory(plan->error, NULL);
    return as_hpc_copy_file(plan, as_ds_text(plan->ds, plan->ds->source_root), plain_name(as_ds_text(plan->ds, file)),
                            directory);
}

/* Whether metrics/default.yaml is as written since 2023: formulas have a level `standard`. */
static bool has_metrics(const as_dataset *ds, const char *directory) {
    char path[PATH_MAX];
    as_input *input = NULL;
    if (!has_file(directory, METRICS) || !as_hpc_path(directory, METRICS, path) ||
        as_input_open(path, as_ds_budget(ds), &input, NULL) != ASSAY_OK)
        return false;
    bool is_new = !input->is_directory && memmem(input->data, input->size, "standard:", strlen("standard:"));
    as_input_close(input);
    return is_new;
}

bool as_hpc_metrics_directory(const as_dataset *ds, char directory[PATH_MAX]) {
    const char *path = as_ds_text(ds, ds->path);
    if (!as_hpc_is_from(ds, "hpctoolkit-4") || !path || !as_hpc_path(path, "", directory)) return false;
    if (has_metrics(ds, directory)) return true;
    const char *slash = strrchr(path, '/'); /* it was named by one of its files */
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;
    if (size + sizeof "./" > PATH_MAX) return false;
    memcpy(directory, path, size);
    memcpy(directory + size, "./", sizeof "./");
    return has_metrics(ds, directory);
}

/* The sources that the database has copies of: those that regions name, and those that the source lists. */
static assay_status write_sources(const as_hpc_plan *plan, as_output_directory *directory) {
    const as_dataset *ds = plan->ds;
    if (ds->source_root == AS_NO_STR) return ASSAY_OK;
    as_map done;
    as_map_init(&done, as_ds_budget(ds));
    assay_status code = ASSAY_OK;
    for (assay_id i = 0; i < ds->regions.count && code == ASSAY_OK; i++)
        code = copy_once(plan, directory, as_ds_region(ds, i)->file, &done);
    for (size_t i = 0; i < ds->attributes.count && code == ASSAY_OK; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->owner == AS_OWNER_DATASET && attribute->value.type == AS_CELL_TEXT &&
            strcmp(as_ds_text(ds, attribute->key), "source") == 0)
            code =
                copy_once(plan, directory, as_find(&ds->strings, attribute->value.text, attribute->value.size), &done);
    }
    as_map_free(&done);
    return code;
}

/* ---- the database ------------------------------------------------------------------------------------------------ */

assay_status as_hpc_write_2021(as_writer *writer) {
    as_hpc_plan plan;
    assay_status code = as_hpc_plan_make(&plan, writer, AS_HPC_2021);
    if (code == ASSAY_OK) code = as_hpc_write_values(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_traces(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_xml(&plan, writer->directory);
    if (code == ASSAY_OK) code = write_sources(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_description(&plan, writer->directory);
    as_hpc_plan_free(&plan);
    return code;
}

assay_status as_hpc_write_4(as_writer *writer) {
    as_hpc_plan plan;
    assay_status code = as_hpc_plan_make(&plan, writer, AS_HPC_4);
    if (code == ASSAY_OK) code = as_hpc_write_values(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_traces(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_meta(&plan, writer->directory);
    if (code == ASSAY_OK) code = as_hpc_write_yaml(&plan, writer->directory);
    if (code == ASSAY_OK) code = write_sources(&plan, writer->directory);
    as_hpc_plan_free(&plan);
    return code;
}
