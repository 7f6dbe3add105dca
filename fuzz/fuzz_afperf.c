/* Reading of AFPerf captures, with and without pauses; every event, attribute and record is made, and what was read is
 * written and read again with as many of them. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void walk(const as_dataset *ds) {
    const as_table *records = as_ds_records(ds, "record");
    for (uint64_t i = 0; i < as_ds_intervals(ds); i++) {
        as_event event;
        uint64_t first, end;
        as_ds_event(ds, i, &event);
        if (event.run != ASSAY_NONE && event.run >= ds->runs.count) abort();
        if (event.context != ASSAY_NONE && event.context >= ds->contexts.count) abort();
        as_event_attributes(ds, i, &first, &end);
        for (; first < end; first++) {
            as_attribute attribute;
            as_ds_any_attribute(ds, first, &attribute);
            if (attribute.owner != AS_OWNER_EVENT || attribute.owner_id != i) abort();
        }
    }
    for (size_t row = 0; records && row < as_table_rows(records); row++) {
        for (size_t column = 0; column < as_table_columns(records); column++) {
            as_cell cell = as_table_get(records, row, column);
            if (cell.type == AS_CELL_TEXT && cell.size && !cell.text) abort();
        }
    }
}

static void write_and_read(const as_dataset *ds) {
    as_output *out = as_output_to_memory();
    if (!out) abort();
    if (as_write(ds, as_format_find("afperf"), NULL, 1, out, NULL) == ASSAY_OK) {
        size_t size;
        const char *bytes = as_output_memory(out, &size);
        as_read_config config = {.format = "afperf", .memory_limit = AS_FUZZ_MEMORY};
        as_dataset *back = NULL;
        if (as_read_memory("written", bytes, size, &config, &back, NULL) != ASSAY_OK) abort();
        if (as_ds_intervals(ds) != as_ds_intervals(back) || ds->runs.count != back->runs.count) abort();
        if (as_table_rows(as_ds_records(ds, "record")) != as_table_rows(as_ds_records(back, "record"))) abort();
        as_dataset_free(back);
    }
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const options[] = {"deduct_pauses=yes", NULL};
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "afperf",
                                 .options = keep_going ? options : NULL,
                                 .memory_limit = AS_FUZZ_MEMORY,
                                 .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        walk(ds);
        if (!keep_going) write_and_read(ds);
        as_dataset_free(ds);
    }
    return 0;
}
