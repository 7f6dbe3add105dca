/* What an export says of itself: its version, when and where the run was, how many rows there are. */
#include <stdio.h>

#include "formats/nsight/load.h"

/* A text as an attribute's value; what is no UTF-8 or no character goes. */
static bool add_text(as_ns_export *x, as_owner owner, assay_id id, const char *key, const char *text, size_t size) {
    as_vec fit;
    as_vec_init(&fit, 1, &x->ds->budget);
    bool fine = as_ns_fit(text, size, false, &fit) &&
                as_add_attribute(x->ds, owner, id, key, as_cell_text_n(fit.count ? fit.data : "", fit.count));
    as_vec_free(&fit);
    return fine;
}

/* Names and values of a table of such. Visit gives false when memory is out. */
static assay_status each_pair(as_ns_export *x, const char *table,
                              bool (*visit)(as_ns_export *x, const char *name, const char *value, size_t size)) {
    static const char *const columns[] = {"name", "value"};
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, table, columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    as_vec name;
    as_vec_init(&name, 1, &x->ds->budget);
    while (fine && as_scan_next(scan)) {
        size_t size;
        if (as_scan_type_of(scan, 0) < AS_SCAN_TEXT || as_scan_type_of(scan, 1) < AS_SCAN_TEXT) continue;
        name.count = 0;
        const char *text = as_scan_text(scan, 0, &size);
        fine = as_ns_fit(text, size, false, &name) && as_vec_append(&name, "", 1);
        text = as_scan_text(scan, 1, &size);
        fine = fine && visit(x, name.data, text, size);
    }
    as_vec_free(&name);
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

static bool take_meta(as_ns_export *x, const char *name, const char *value, size_t size) {
    if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0 && x->ds->format_version == AS_NO_STR) {
        x->ds->format_version = as_ns_fit_name(x, value, size, false);
        if (x->ds->format_version == AS_NO_STR) return false;
    }
    return add_text(x, AS_OWNER_DATASET, 0, name, value, size);
}

/* What tells machines apart. The rest says what the tool could have measured. */
static bool take_environment(as_ns_export *x, const char *name, const char *value, size_t size) {
    static const char *const kept[] = {"Hostname",      "CpuDescription",  "CpuCores",         "CpuArchitecture",
                                       "OsDescription", "NvDriverVersion", "CudaDriverVersion"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (strcmp(name, kept[i]) == 0) return add_text(x, AS_OWNER_RUN, x->run, name, value, size);
    }
    return true;
}

/* The first integer of a column; *is_there: there is one. */
static assay_status first_int(as_ns_export *x, const char *table, const char *column, int64_t *out, bool *is_there) {
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, table, &column, 1, (as_scan_range){0}, &scan, x->reader->error));
    *is_there = as_scan_next(scan) && as_ns_int(scan, 0, out) && *out != AS_NS_NULL;
    return as_scan_close(scan, x->reader->error);
}

assay_status as_ns_add_facts(as_ns_export *x) {
    as_dataset *ds = x->ds;
    int64_t started = 0, duration = 0;
    bool has_start, has_duration;
    AS_TRY(first_int(x, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &started, &has_start));
    AS_TRY(first_int(x, "ANALYSIS_DETAILS", "duration", &duration, &has_duration));
    as_run run = AS_RUN_INIT;
    run.source = ds->path;
    if (has_start) run.start_time = (double)started / 1e9;
    x->run = as_add_run(ds, &run);
    if (x->run == ASSAY_NONE) return as_reader_memory(x->reader);
    AS_TRY(each_pair(x, "EXPORT_META_DATA", take_meta));
    AS_TRY(each_pair(x, "TARGET_INFO_SYSTEM_ENV", take_environment));
    if (has_duration && duration > 0 &&
        !as_add_attribute(ds, AS_OWNER_RUN, x->run, "capture_duration", as_cell_real((double)duration / 1e9)))
        return as_reader_memory(x->reader);
    return ASSAY_OK;
}
