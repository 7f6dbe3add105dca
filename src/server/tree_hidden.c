#include "server/tree_hidden.h"

#include <math.h>

static double known(double value) { return isnan(value) ? 0 : value; }

/* What an item has that those below it have not. */
static double own_of(const as_view_table *table, const double *values, uint32_t item) {
    double own = known(values[item]);
    for (uint32_t at = as_view_first_child(table, item); at != AS_NO_ITEM; at = as_view_next_sibling(table, at)) {
        const as_view_item *child = as_view_item_at(table, at);
        if (!(child->flags & AS_ITEM_APART) && child->level != AS_LEVEL_CALL) own -= known(values[at]);
    }
    return own;
}

static double sum_of(const as_view_table *table, const uint8_t *hidden, const as_view_values *values) {
    bool is_tree = table->request.kind == AS_VIEW_TOP_DOWN, is_bottom_up = table->request.kind == AS_VIEW_BOTTOM_UP;
    const double *of = is_tree ? values->inclusive : values->exclusive;
    double sum = 0;
    if (!values->adds_up || !values->has_exclusive || (is_tree && !values->has_inclusive)) return NAN;
    for (uint32_t i = 0; i < values->n;) {
        const as_view_item *item = as_view_item_at(table, i);
        bool is_apart = item->flags & AS_ITEM_APART;
        uint8_t how = item->name == AS_NO_STR || is_apart ? 0 : hidden[item->name];
        bool is_whole = how & AS_HIDES_SUBTREE || is_bottom_up;
        if (how) sum += is_whole ? known(of[i]) : own_of(table, of, i);
        i = is_whole || is_apart ? item->end : i + 1;
    }
    return sum;
}

assay_status as_tree_hidden_values(as_viewing *viewing, const as_asked_view *asked, as_vec *out, assay_error *error) {
    static char nothing[] = "";
    as_asked_view plain = *asked; /* all of it; what it points to stays that of the other */
    as_asked_table all;
    plain.tree.hidden = NULL;
    plain.tree.request.hidden = NULL;
    plain.hides = nothing;
    assay_status status = as_asked_table_get(viewing, &plain, &all, error);
    for (size_t k = 0; status == ASSAY_OK && k < all.n_values; k++) {
        double sum = sum_of(all.table, asked->tree.hidden, all.values[k]);
        if (!as_vec_append(out, &sum, 1)) status = as_fail_memory(error, NULL);
    }
    as_asked_table_free(&all);
    return status;
}
