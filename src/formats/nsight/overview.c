/* What can be said of a large export without reading it: which tables it has, and how many rows. */
#include <stdio.h>

#include "formats/nsight/load.h"

/* Fewer activities than these are read in no time. */
enum { MANY = 250000, LOOKED_AT = 100000 };

typedef enum table { CALLS, KERNELS, COPIES, SETS, GRAPHS, SYNCS, RANGES, OSRT, SAMPLES, N_TABLES } table;

static const char *const kinds[N_TABLES] = {"api",  "kernel", "memcpy", "memset", "graph",
                                            "sync", "nvtx",   "osrt",   "sample"};
static const char *const tables[N_TABLES] = {[CALLS] = "CUPTI_ACTIVITY_KIND_RUNTIME",
                                             [KERNELS] = "CUPTI_ACTIVITY_KIND_KERNEL",
                                             [COPIES] = "CUPTI_ACTIVITY_KIND_MEMCPY",
                                             [SETS] = "CUPTI_ACTIVITY_KIND_MEMSET",
                                             [GRAPHS] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                             [SYNCS] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                             [RANGES] = "NVTX_EVENTS",
                                             [OSRT] = "OSRT_API",
                                             [SAMPLES] = "COMPOSITE_EVENTS"};

/* Whether the domain of Extra-Prof is there, by the rows that come first: a domain comes before its ranges. */
static assay_status look_for_extra_prof(as_ns_export *x, bool *is_there) {
    static const char *const columns[] = {"eventType", "text", "textId"};
    static const char extra_prof[] = "de.tu-darmstadt.parallel.extra_prof";
    as_scan *scan;
    *is_there = false;
    AS_TRY(as_scan_open(x->db, "NVTX_EVENTS", columns, 3, (as_scan_range){0}, &scan, x->reader->error));
    for (size_t i = 0; i < LOOKED_AT && !*is_there && as_scan_next(scan); i++) {
        enum { DOMAIN = 75 };
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT || as_scan_int(scan, 0) != DOMAIN) continue;
        size_t size = 0;
        const char *text = NULL;
        if (as_scan_type_of(scan, 1) >= AS_SCAN_TEXT)
            text = as_scan_text(scan, 1, &size);
        else if (as_scan_type_of(scan, 2) == AS_SCAN_INT)
            text = as_ns_stored_string(x, as_scan_int(scan, 2), &size);
        *is_there = text && size == sizeof extra_prof - 1 && memcmp(text, extra_prof, size) == 0;
    }
    return as_scan_close(scan, x->reader->error);
}

static bool add_metrics(as_ns_export *x, const uint64_t counts[N_TABLES]) {
    uint64_t on_gpu = counts[KERNELS] + counts[COPIES] + counts[SETS] + counts[GRAPHS];
    return (!(counts[CALLS] + counts[RANGES] + counts[OSRT]) || as_ns_add_metric(x, "time")) &&
           (!on_gpu || as_ns_add_metric(x, "gpu_time")) && as_ns_add_metric(x, "visits") &&
           (!(counts[COPIES] + counts[SETS]) || as_ns_add_metric(x, "bytes_transferred")) &&
           (!counts[SAMPLES] || as_ns_add_metric(x, "samples"));
}

assay_status as_ns_read_overview(as_ns_export *x, bool *is_done) {
    uint64_t counts[N_TABLES], total = 0;
    for (size_t i = 0; i < N_TABLES; i++) {
        AS_TRY(as_database_count(x->db, tables[i], &counts[i], x->reader->error));
        total += counts[i];
    }
    *is_done = total >= MANY;
    if (!*is_done) return ASSAY_OK;
    bool is_extra_prof;
    AS_TRY(as_ns_texts_read(x));
    AS_TRY(look_for_extra_prof(x, &is_extra_prof));
    if (is_extra_prof) x->mode = AS_NS_RANGES;
    if (!add_metrics(x, counts)) return as_reader_memory(x->reader);
    for (size_t i = 0; i < N_TABLES; i++) {
        char key[64];
        snprintf(key, sizeof key, "rows:%s", kinds[i]);
        if (counts[i] && !as_add_attribute(x->ds, AS_OWNER_RUN, x->run, key, as_cell_int((int64_t)counts[i])))
            return as_reader_memory(x->reader);
    }
    /* Rows of NVTX are not all ranges, and calls with chains may be there twice. */
    bool is_certain = !counts[RANGES] && !as_database_has_table(x->db, "CUDA_CALLCHAINS");
    x->ds->overview = (as_overview){.is_set = true,
                                    .regions = AS_NOT_COUNTED,
                                    .contexts = AS_NOT_COUNTED,
                                    .locations = AS_NOT_COUNTED,
                                    .values = AS_NOT_COUNTED,
                                    .events = is_certain ? total : AS_NOT_COUNTED,
                                    .attributes = AS_NOT_COUNTED};
    return ASSAY_OK;
}
