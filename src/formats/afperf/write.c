/* Writing AFPerf: which way, and what there is to say about it. */
#include "formats/afperf/write.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A dataset of another format behind what is in a file: its ids are only known when it is written. */
static assay_status append_foreign(as_writer *writer) {
    as_output *text = as_output_to_memory();
    if (!text) return as_fail_memory(writer->error, NULL);
    as_writer whole = *writer;
    whole.out = text;
    whole.existing = NULL;
    assay_status status = as_af_write_foreign(&whole);
    as_af_part part = {.name = as_ds_text(writer->dataset, writer->dataset->path)};
    part.data = as_output_memory(text, &part.size);
    if (status == ASSAY_OK && !part.data) status = as_fail_memory(writer->error, NULL);
    if (status == ASSAY_OK) status = as_af_append_part(writer, &part);
    as_output_discard(text);
    return status;
}

assay_status as_af_write(as_writer *writer) {
    as_af_part part;
    bool is_capture = as_af_part_of(writer->dataset, &part);
    if (writer->existing && writer->existing->size) /* an empty file is as good as none */
        return is_capture ? as_af_append_part(writer, &part) : append_foreign(writer);
    if (!is_capture) return as_af_write_foreign(writer);
    as_output_text(writer->out, AS_AF_SIGNATURE "\n");
    return as_af_write_records(&part, NULL, 0, false, writer->out, as_ds_budget(writer->dataset), writer->error);
}

/* ---- what there is to say about it ------------------------------------------------------------------------------- */

static bool has_extra_fields(const as_dataset *ds) {
    for (size_t i = 0; i < ds->problems.count; i++) {
        if (strcmp(as_ds_problem(ds, i)->rule, "afperf-extra") == 0) return true;
    }
    return false;
}

void as_af_losses(const as_dataset *ds, as_losses *losses) {
    as_af_part part;
    if (!as_af_part_of(ds, &part))
        as_af_foreign_losses(ds, losses);
    else if (!part.keeps_extra && has_extra_fields(ds))
        as_lose(losses, "fields beyond those of version 1.0, which its runs say they are of");
}

void as_af_remarks(const as_dataset *ds, const as_options *options, as_losses *remarks) {
    as_af_part part;
    (void)options;
    if (!as_af_part_of(ds, &part)) as_af_foreign_remarks(ds, remarks);
}
