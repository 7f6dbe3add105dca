/* Reading an export from the first table to the last. */
#include <stdlib.h>

#include "formats/nsight/load.h"

/* Tables of which each export has some. */
static const char *const own_tables[] = {"StringIds",
                                         "EXPORT_META_DATA",
                                         "TARGET_INFO_SYSTEM_ENV",
                                         "TARGET_INFO_SESSION_START_TIME",
                                         "ANALYSIS_DETAILS",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "CUPTI_ACTIVITY_KIND_MEMSET",
                                         "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                         "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                         "NVTX_EVENTS",
                                         "OSRT_API",
                                         "COMPOSITE_EVENTS"};

static assay_status check_kind(const as_ns_export *x) {
    for (size_t i = 0; i < sizeof own_tables / sizeof *own_tables; i++) {
        if (as_database_has_table(x->db, own_tables[i])) return ASSAY_OK;
    }
    return as_fail(x->reader->error, ASSAY_E_FORMAT, as_place_file(x->reader->input->path), "no-export",
                   "is a database, but no export of Nsight Systems: it has none of its tables");
}

/* ---- what is odd ------------------------------------------------------------------------------------------------- */

static const char *are(uint64_t n) { return n == 1 ? "is" : "are"; }
static const char *have(uint64_t n) { return n == 1 ? "has" : "have"; }
static const char *s(uint64_t n) { return n == 1 ? "" : "s"; }

static void tell_problems(as_ns_export *x) {
    as_reader *reader = x->reader;
    as_place place = as_place_file(reader->input->path);
    typedef unsigned long long number;
    number n;
    if ((n = x->n_negative))
        as_warn(reader, place, "negative-duration", "%llu activit%s end%s before %s start: no time is counted for %s",
                n, n == 1 ? "y" : "ies", n == 1 ? "s" : "", n == 1 ? "its" : "their", n == 1 ? "it" : "them");
    if ((n = x->n_endless))
        as_warn(reader, place, "endless-duration", "%llu activit%s for centuries: no time is counted for %s", n,
                n == 1 ? "y lasts" : "ies last", n == 1 ? "it" : "them");
    if ((n = x->n_no_string))
        as_warn(reader, place, "missing-string", "%llu name%s %s not in StringIds: %s called [string NUMBER]", n, s(n),
                are(n), n == 1 ? "it is" : "they are");
    if ((n = x->n_many_calls))
        as_warn(reader, place, "ambiguous-correlation",
                "%llu activit%s without a process %s the number of calls in several processes: the first counts", n,
                n == 1 ? "y" : "ies", have(n));
    if ((n = x->n_no_call))
        as_add_problem(x->ds, AS_NOTE, place, "no-call", "%llu activit%s of GPUs %s not caused by a call in the export",
                       n, n == 1 ? "y" : "ies", are(n));
    if ((n = x->n_open_ranges))
        as_add_problem(x->ds, AS_NOTE, place, "unfinished-range",
                       "%llu range%s %s never closed: no time is counted for %s", n, s(n), n == 1 ? "was" : "were",
                       n == 1 ? "it" : "them");
    if ((n = x->n_unnamed))
        as_add_problem(x->ds, AS_NOTE, place, "unnamed-range", "%llu range%s or mark%s without a text %s left out", n,
                       s(n), s(n), are(n));
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void release(void *x) {
    as_ns_export_release(x);
    free(x);
}

static assay_status read_all(as_ns_export *x) {
    AS_TRY(as_ns_load(x));
    AS_TRY(as_ns_find_paths(x));
    AS_TRY(as_ns_find_values(x));
    AS_TRY(as_ns_add_events(x));
    tell_problems(x);
    return ASSAY_OK;
}

static assay_status read_export(as_ns_export *x, as_reader *reader) {
    AS_TRY(as_database_open(reader->input, &x->ds->budget, &x->db, reader->error));
    AS_TRY(check_kind(x));
    AS_TRY(as_ns_add_facts(x));
    bool is_overview = false;
    if (reader->is_overview) AS_TRY(as_ns_read_overview(x, &is_overview));
    return is_overview ? ASSAY_OK : read_all(x);
}

assay_status as_ns_read(as_reader *reader) {
    as_ns_export *x = malloc(sizeof *x);
    if (!x) return as_reader_memory(reader);
    as_ns_export_init(x, reader->dataset);
    x->reader = reader;
    assay_status status = read_export(x, reader);
    as_ns_export_end_reading(x);
    if (!as_ds_hold(reader->dataset, x, release)) return as_reader_memory(reader);
    return status;
}
