/* The export as a whole. */
#include "formats/nsight/export.h"

#include "formats/nsight/load.h"

void as_ns_export_init(as_ns_export *x, as_dataset *ds) {
    as_budget *budget = &ds->budget;
    *x = (as_ns_export){.ds = ds, .run = ASSAY_NONE, .mode = AS_NS_PLAIN};
    as_vec_init(&x->processes, sizeof(as_ns_process), budget);
    as_vec_init(&x->threads, sizeof(as_ns_thread), budget);
    as_vec_init(&x->devices, sizeof(as_ns_device), budget);
    as_vec_init(&x->streams, sizeof(as_ns_stream), budget);
    as_vec_init(&x->functions, sizeof(as_ns_function), budget);
    as_vec_init(&x->shapes, sizeof(as_ns_shape), budget);
    as_vec_init(&x->domains, sizeof(as_ns_domain), budget);
    as_vec_init(&x->kernels, sizeof(as_ns_activity), budget);
    as_vec_init(&x->copies, sizeof(as_ns_activity), budget);
    as_vec_init(&x->sets, sizeof(as_ns_activity), budget);
    as_vec_init(&x->graphs, sizeof(as_ns_activity), budget);
    as_vec_init(&x->syncs, sizeof(as_ns_sync), budget);
    as_vec_init(&x->calls, sizeof(as_ns_call), budget);
    as_vec_init(&x->ranges, sizeof(as_ns_range), budget);
    as_vec_init(&x->osrt, sizeof(as_ns_osrt), budget);
    as_vec_init(&x->samples, sizeof(as_ns_sample), budget);
    as_ns_symbols_init(x);
    as_tree_init(&x->tree, ds);
}

void as_ns_export_end_reading(as_ns_export *x) {
    as_ns_texts_free(x);
    as_ns_symbols_free(x);
    as_ns_places_free(x);
    as_ns_devices_free(x);
    as_tree_free(&x->tree);
    as_database_close(x->db);
    x->db = NULL;
    x->reader = NULL;
}

void as_ns_export_release(as_ns_export *x) {
    as_ns_export_end_reading(x);
    as_vec *all[] = {&x->processes, &x->threads, &x->devices, &x->streams, &x->functions, &x->shapes,
                     &x->domains,   &x->kernels, &x->copies,  &x->sets,    &x->graphs,    &x->syncs,
                     &x->calls,     &x->ranges,  &x->osrt,    &x->samples};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) as_vec_free(all[i]);
}
