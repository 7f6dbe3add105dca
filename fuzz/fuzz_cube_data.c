/* Reading N.index and N.data of a .cubex. The first bytes say of what type and for how many locations, and how long the
 * index is; the rest are the two members. */
#include <stdlib.h>

#include "formats/format.h"
#include "io/tar.h"

enum { MEMORY = 1 << 28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const DTYPES[] = {"DOUBLE", "UINT64", "INT8",       "UINT16",       "MINDOUBLE", "COMPLEX",
                                     "RATE",   "INT32",  "TAU_ATOMIC", "HISTOGRAM(2)", "SCALE_FUNC"};
enum { N_DTYPES = sizeof DTYPES / sizeof *DTYPES };

/* Seven contexts: r ( a ( b c ) d ) and r ( e ). */
static void write_anchor(as_output *out, const char *dtype, bool is_inclusive, unsigned n_locations) {
    as_output_printf(
        out, "<cube><metrics><metric id='0' type='%s'><uniq_name>v</uniq_name><dtype>%s</dtype></metric></metrics>",
        is_inclusive ? "INCLUSIVE" : "EXCLUSIVE", dtype);
    as_output_text(
        out, "<program><region id='0'><name>r</name></region><cnode id='0' calleeId='0'><cnode id='1' calleeId='0'>"
             "<cnode id='2' calleeId='0'/><cnode id='3' calleeId='0'/></cnode><cnode id='4' calleeId='0'/></cnode>"
             "<cnode id='5' calleeId='0'><cnode id='6' calleeId='0'/></cnode></program><system><machine>");
    for (unsigned i = 0; i < n_locations; i++) as_output_printf(out, "<thread Id='%u'/>", i);
    as_output_text(out, "</machine></system></cube>");
}

static void check_values(const as_dataset *ds) {
    as_slice slice;
    assay_error error;
    uint64_t promised = as_ds_values(ds);
    if (as_slice_open_all(ds, 0, 0, &slice, &error) != ASSAY_OK) {
        if (!error.message[0]) abort();
        return;
    }
    if ((uint64_t)slice.view.n_rows * slice.view.n_columns != promised && promised) abort();
    volatile char last = 0;
    for (uint32_t i = 0; i < slice.view.n_rows; i++) {
        if (slice.view.contexts[i] >= 7 || (i && slice.view.contexts[i - 1] >= slice.view.contexts[i])) abort();
        const char *row = as_profile_row(&slice.view, i);
        size_t row_size = (size_t)slice.view.n_columns * slice.view.type.size;
        for (size_t k = 0; k < row_size; k++) last ^= row[k];
    }
    (void)last;
    as_slice_close(&slice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    size_t index_size = data[2];
    if (index_size > size - 4) index_size = size - 4;
    as_output *anchor = as_output_to_memory(), *out = as_output_to_memory();
    as_tar_writer *tar = as_tar_writer_new(out);
    if (!anchor || !tar) abort();
    write_anchor(anchor, DTYPES[data[0] % N_DTYPES], data[0] & 0x80, data[1] % 5);
    size_t n;
    const char *text = as_output_memory(anchor, &n);
    as_tar_add(tar, "anchor.xml", text, n);
    if (!(data[3] & 1)) as_tar_add(tar, "0.index", data + 4, index_size);
    if (!(data[3] & 2)) as_tar_add(tar, "0.data", data + 4 + index_size, size - 4 - index_size);
    as_tar_finish(tar);
    const char *archive = as_output_memory(out, &n);
    as_read_config config = {.format = "cube", .memory_limit = MEMORY};
    as_dataset *ds = NULL;
    if (as_read_memory("input", archive, n, &config, &ds, NULL) != ASSAY_OK) abort(); /* the description is sound */
    check_values(ds);
    as_dataset_free(ds);
    as_output_discard(anchor);
    as_output_discard(out);
    return 0;
}
