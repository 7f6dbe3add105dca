#include "server/exact.h"

#include <math.h>

#include "analysis/nodes.h"

enum { MOST_WORK = 1 << 22 };

bool as_exact_find(as_exact *exact, assay_id metric, assay_id context, bool exclusive, double rounded, as_whole *out) {
    const as_view_source *of = &exact->source;
    if (!(fabs(rounded) < 0x1p100)) return false;
    *out = (as_whole)rounded;
    if (fabs(rounded) < 0x1p53) return (double)*out == rounded;
    if (of->n_runs != 1 || metric == ASSAY_NONE || context == ASSAY_NONE) return false;
    if (!as_dtype_is_integer(as_ds_metric_type(of->ds, metric).dtype)) return false;
    size_t n_locations = AS_COUNT(of->ds, locations);
    exact->work += (uint64_t)as_ds_context(of->ds, context)->subtree * (n_locations ? n_locations : 1);
    if (exact->work > MOST_WORK) return false;
    as_node_list list;
    assay_error error;
    as_node_list_init_of(&list, of->ds);
    bool fine = as_nodes_find_one(of->ds, of->runs[0], metric, context, of->locations, &list, &error) == ASSAY_OK &&
                as_node_count(&list) && as_node_at(&list, 0)->is_whole;
    if (fine) *out = exclusive ? as_node_at(&list, 0)->whole_exclusive : as_node_at(&list, 0)->whole_inclusive;
    as_node_list_free(&list);
    return fine && (double)*out ==
                       rounded; /* a table may have something else of it, such as what is left where names are hidden */
}

void as_build_exact(as_builder *builder, const char *key, bool is_whole, as_whole whole, double real) {
    char digits[AS_WHOLE_SIZE];
    if (!is_whole) {
        as_build_number(builder, key, real);
    } else if (whole > -((as_whole)1 << 53) && whole < (as_whole)1 << 53) {
        as_build_whole(builder, key, whole);
    } else {
        as_whole_format(whole, digits);
        as_build_text(builder, key, digits);
    }
}
