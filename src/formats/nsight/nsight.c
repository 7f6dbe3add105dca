/* Nsight Systems: what `nsys export --type sqlite` writes, a SQLite database (docs/formats/nsight.md). */
#include "formats/nsight/load.h"

#define REPORT_ENDINGS  ".nsys-rep .qdrep"
#define RAW_ENDINGS     ".qdstrm"
#define COMPUTE_ENDINGS ".ncu-rep .nsight-cuprof-report"

/* A database is one for certain. By their names some files are wanted, too, that no format reads: who gives one is told
 * what to do with it. */
static int bid(const as_probe *probe) {
    enum { BITS_OF_MAGIC = 16 * 8 };
    if (probe->is_directory) return 0;
    if (as_is_database(probe->head, probe->head_size)) return BITS_OF_MAGIC;
    return as_has_ending(probe->path, REPORT_ENDINGS " " RAW_ENDINGS " " COMPUTE_ENDINGS " .sqlite");
}

static assay_status read(as_reader *reader) {
    const as_input *input = reader->input;
    as_place place = as_place_file(input->path);
    if (as_is_database(input->data, input->size)) return as_ns_read(reader);
    if (as_has_ending(input->path, REPORT_ENDINGS))
        return as_fail(
            reader->error, ASSAY_E_FORMAT, place, "not-exported",
            "is a report of Nsight Systems, which only its own tools read: run nsys export --type sqlite %s, "
            "then open the .sqlite",
            input->path);
    if (as_has_ending(input->path, RAW_ENDINGS))
        return as_fail(reader->error, ASSAY_E_FORMAT, place, "not-exported",
                       "is a raw capture of Nsight Systems: make a report of it with QdstrmImporter, then run "
                       "nsys export --type sqlite on that");
    if (as_has_ending(input->path, COMPUTE_ENDINGS))
        return as_fail(reader->error, ASSAY_E_FORMAT, place, "not-exported",
                       "is a report of Nsight Compute, which assay does not read; of Nsight Systems it reads what "
                       "nsys export --type sqlite writes");
    return as_ns_read(reader);
}

const as_format as_format_nsight = {.name = "nsight",
                                    .title = "Nsight Systems export",
                                    .extensions = "",
                                    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS |
                                             AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_PROFILES,
                                    .bid = bid,
                                    .read = read};
