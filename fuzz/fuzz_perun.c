/* Reading of Perun profiles; what was read is written in both layouts and read again, with the same number of resources
 * and models. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* All cells, so that views are walked as well. */
static void walk_tables(const as_dataset *ds) {
    enum { ROWS = 1000 };
    for (size_t i = 0; i < ds->records.count; i++) {
        const as_table *table = AS_AT(as_record_table, &ds->records, i).table;
        for (size_t row = 0; row < as_table_rows(table) && row < ROWS; row++) {
            for (size_t column = 0; column < as_table_columns(table); column++) {
                as_cell cell = as_table_get(table, row, column);
                if (cell.type == AS_CELL_TEXT && cell.size && !cell.text) abort();
            }
        }
    }
}

static size_t rows_of(const as_dataset *ds, const char *name) {
    const as_table *table = as_ds_records(ds, name);
    return table ? as_table_rows(table) : 0;
}

static void write_and_read(const as_dataset *ds, const as_format *format, const char *layout) {
    const char *options[] = {layout, NULL};
    as_output *out = as_output_to_memory();
    if (!out) abort();
    if (as_write(ds, format, options, 1, out, NULL) == ASSAY_OK) {
        size_t size;
        const char *bytes = as_output_memory(out, &size);
        as_read_config config = {.format = format->name, .memory_limit = AS_FUZZ_MEMORY};
        as_dataset *back = NULL;
        if (as_read_memory("written", bytes, size, &config, &back, NULL) != ASSAY_OK) abort();
        if (rows_of(ds, "record") != rows_of(back, "record")) abort();
        if (rows_of(ds, "stored_model") != rows_of(back, "stored_model")) abort();
        as_dataset_free(back);
    }
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const as_format *format = as_format_find("perun");
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "perun", .memory_limit = AS_FUZZ_MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        walk_tables(ds);
        if (!keep_going) {
            write_and_read(ds, format, "layout=same");
            write_and_read(ds, format, "layout=old");
            write_and_read(ds, format, "layout=new");
        }
        as_dataset_free(ds);
    }
    return 0;
}
