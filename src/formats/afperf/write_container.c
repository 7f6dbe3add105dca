/* Several captures as one file, and captures behind what a file has already. */
#include "formats/afperf/afperf.h"
#include "formats/afperf/write.h"

#include <stdlib.h>

/* ---- captures that were read ------------------------------------------------------------------------------------- */

/* Some run has a later minor version than 1.0. */
static bool has_later_version(const as_dataset *ds) {
    as_str key = as_find(&ds->strings, "afperf format version", strlen("afperf format version"));
    for (size_t i = 0; key != AS_NO_STR && i < ds->attributes.count; i++) {
        const as_attribute *attribute = as_ds_attribute(ds, i);
        if (attribute->key != key || attribute->owner != AS_OWNER_RUN || attribute->value.type != AS_CELL_TEXT)
            continue;
        as_af_field version = {.text = attribute->value.text, .size = attribute->value.size};
        uint64_t minor;
        if (as_af_version(&version, NULL, &minor) && minor) return true;
    }
    return false;
}

bool as_af_part_of(const as_dataset *ds, as_af_part *out) {
    const as_afperf *kept = ds->of_format;
    if (!kept || strcmp(ds->format, "afperf") != 0) return false;
    *out = (as_af_part){
        .name = as_ds_text(ds, ds->path), .data = kept->data, .size = kept->size, .keeps_extra = has_later_version(ds)};
    return true;
}

/* ---- behind others ----------------------------------------------------------------------------------------------- */

static bool has_signature(const as_af_part *part) {
    return part->size >= AS_AF_SIGNATURE_SIZE && memcmp(part->data, AS_AF_SIGNATURE, AS_AF_SIGNATURE_SIZE) == 0;
}

/* What follows must be records of their own. Whether the rest of the file can be read is seen when its ids are looked
 * at. */
static assay_status check_existing(const as_af_part *existing, assay_error *error) {
    if (has_signature(existing)) return ASSAY_OK;
    return as_fail(error, ASSAY_E_FORMAT, as_place_line(existing->name, 1, 1), "afperf-signature",
                   "does not begin with the signature of AFPerf v1, so nothing is appended; name another file");
}

assay_status as_af_append_part(as_writer *writer, const as_af_part *part) {
    as_budget *budget = as_ds_budget(writer->dataset);
    const as_af_part existing = {
        .name = writer->existing->path, .data = writer->existing->data, .size = writer->existing->size};
    AS_TRY(check_existing(&existing, writer->error));
    as_af_renumbering ids;
    assay_status status = as_af_renumber(&ids, part, 1, &existing, budget, writer->error);
    if (status == ASSAY_OK) {
        if (existing.data[existing.size - 1] != '\n') as_output_char(writer->out, '\n');
        status = as_af_write_records(part, &ids, 0, true, writer->out, budget, writer->error);
    }
    as_af_renumbering_free(&ids);
    return status;
}

/* ---- containers -------------------------------------------------------------------------------------------------- */

static assay_status write_container(const as_af_part *parts, size_t n, as_output *out, as_budget *budget,
                                    assay_error *error) {
    as_af_renumbering ids;
    assay_status status = as_af_renumber(&ids, parts, n, NULL, budget, error);
    as_output_text(out, AS_AF_SIGNATURE "\n");
    for (size_t i = 0; status == ASSAY_OK && i < n; i++)
        status = as_af_write_records(&parts[i], &ids, i, i > 0, out, budget, error);
    as_af_renumbering_free(&ids);
    return status;
}

assay_status as_af_merge(const as_dataset *const *parts, size_t n, as_dataset **out, assay_error *error) {
    as_af_part *texts = calloc(n + 1, sizeof *texts);
    as_output *container = as_output_to_memory();
    if (!texts || !container) {
        free(texts);
        as_output_discard(container);
        return as_fail_memory(error, NULL);
    }
    bool keeps_extra = false;
    for (size_t i = 0; i < n; i++) keeps_extra |= as_af_part_of(parts[i], &texts[i]) && texts[i].keeps_extra;
    for (size_t i = 0; i < n; i++) texts[i].keeps_extra = keeps_extra;
    assay_status status = write_container(texts, n, container, as_ds_budget(parts[0]), error);
    size_t size;
    const char *text = as_output_memory(container, &size);
    if (status == ASSAY_OK && !text) status = as_fail_memory(error, NULL);
    const char *const options[] = {"deduct_pauses=yes", NULL};
    bool deducts = ((const as_afperf *)parts[0]->of_format)->deducts_pauses; /* all are read with the same options */
    const as_read_config config = {.format = "afperf", .options = deducts ? options : NULL};
    if (status == ASSAY_OK)
        status = as_read_memory(as_ds_text(parts[0], parts[0]->path), text, size, &config, out, error);
    as_output_discard(container);
    free(texts);
    return status;
}
