/* The tree of locations with what each has (api/location_tree), a few levels at a time. */
#include <stdlib.h>

#include "core/map.h"
#include "server/location_values.h"

enum { MOST_ROWS = 500, FIRST_ROWS = 200 };

/* What the places below a location have together. */
typedef struct below {
    uint32_t n_children, n_places, n_values;
    double sum;
    as_whole whole; /* the sum, where all are integers */
    as_number min, max;
} below;

typedef struct location_tree {
    const as_placed_values *of;
    const bool *selected; /* places, or NULL: all */
    below *sums;          /* of each location */
    assay_id *order;      /* locations by parent, then by id: those at the top first */
    uint32_t
        *starts;    /* of the children of each location in the order; the last two: of those at the top, and the end */
    as_map kinds;   /* a kind of locations -> index */
    as_vec largest; /* double: the largest value that a location of this kind has */
} location_tree;

static as_whole whole_of(as_number number) {
    return number.kind == AS_INT ? number.i : number.kind == AS_UINT ? (as_whole)number.u : 0;
}

static bool is_less(as_number x, as_number y) {
    double a = as_number_real(x), b = as_number_real(y);
    return a < b || (a == b && whole_of(x) < whole_of(y));
}

static bool is_no_number(as_number number) { return isnan(as_number_real(number)); }

static void take_place(location_tree *t, assay_id id, uint32_t place) {
    const as_placed_values *of = t->of;
    if (t->selected && !t->selected[place]) return;
    below *b = &t->sums[id];
    b->n_places++;
    if (!as_placed_has(of, place)) return;
    as_number number = of->values[place];
    b->whole += whole_of(number);
    b->sum += as_number_real(number);
    if (b->n_values == 0 || is_no_number(b->min) || is_less(number, b->min)) b->min = number;
    if (b->n_values == 0 || is_no_number(b->max) || is_less(b->max, number)) b->max = number;
    b->n_values++;
}

static void add_below(below *to, const below *from) {
    if (from->n_values) {
        if (to->n_values == 0 || is_no_number(to->min) || is_less(from->min, to->min)) to->min = from->min;
        if (to->n_values == 0 || is_no_number(to->max) || is_less(to->max, from->max)) to->max = from->max;
    }
    to->n_places += from->n_places;
    to->n_values += from->n_values;
    to->sum += from->sum;
    to->whole += from->whole;
}

/* Places are leaves, or processes with threads below them that are no places themselves. Parents come before their
 * children. */
static void sum_up(location_tree *t) {
    const as_dataset *ds = t->of->view.ds;
    const as_places *places = &t->of->view.places;
    for (uint32_t i = 0; i < places->n; i++) take_place(t, places->ids[i], i);
    for (assay_id id = (assay_id)AS_COUNT(ds, locations); id-- > 0;) {
        assay_id parent = as_ds_location(ds, id)->parent;
        if (parent == ASSAY_NONE || t->sums[id].n_places == 0) continue;
        add_below(&t->sums[parent], &t->sums[id]);
        t->sums[parent].n_children++;
    }
}

/* Only those with places below them are children of anything. */
static void order_children(location_tree *t) {
    const as_dataset *ds = t->of->view.ds;
    assay_id n = (assay_id)AS_COUNT(ds, locations);
    uint32_t at = 0;
    for (assay_id id = 0; id < n; id++) {
        t->starts[id] = at;
        at += t->sums[id].n_children;
    }
    t->starts[n] = at;
    uint32_t *next = t->starts;
    for (assay_id id = 0; id < n; id++) {
        assay_id parent = as_ds_location(ds, id)->parent;
        if (t->sums[id].n_places == 0) continue;
        if (parent == ASSAY_NONE)
            t->order[at++] = id;
        else
            t->order[next[parent]++] = id;
    }
    for (assay_id id = n; id-- > 0;) next[id] -= t->sums[id].n_children;
    t->starts[n + 1] = at;
}

/* ---- peers ------------------------------------------------------------------------------------------------------- */

static bool has_value(const location_tree *t, assay_id id) {
    return t->sums[id].n_values > 0 && (t->of->adds_up || t->sums[id].n_places == 1);
}

/* False when memory is out. */
static bool find_largest(location_tree *t) {
    const as_dataset *ds = t->of->view.ds;
    for (assay_id id = 0; id < AS_COUNT(ds, locations); id++) {
        if (!has_value(t, id)) continue;
        as_str kind = as_ds_location(ds, id)->kind;
        uint32_t at = as_map_get(&t->kinds, kind);
        if (at == AS_MAP_NONE) {
            at = (uint32_t)t->largest.count;
            if (!as_map_put(&t->kinds, kind, at) || !as_vec_append(&t->largest, &(double){0}, 1)) return false;
        }
        double *largest = &AS_AT(double, &t->largest, at);
        *largest = fmax(*largest, t->sums[id].sum);
    }
    return true;
}

/* What it has of what the largest of its kind has, as Cube's "peer percent". NAN: nothing to compare with. */
static double share_of_peers(const location_tree *t, assay_id id) {
    uint32_t at = has_value(t, id) ? as_map_get(&t->kinds, as_ds_location(t->of->view.ds, id)->kind) : AS_MAP_NONE;
    double largest = at == AS_MAP_NONE ? 0 : AS_AT(double, &t->largest, at);
    return largest > 0 ? t->sums[id].sum / largest : NAN;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The children of `parent` from `offset` on; ASSAY_NONE: those at the top. */
static bool add_children(const location_tree *t, assay_id parent, uint32_t offset, as_vec *rows) {
    size_t n = AS_COUNT(t->of->view.ds, locations);
    uint32_t begin = parent == ASSAY_NONE ? t->starts[n] : t->starts[parent];
    uint32_t count = parent == ASSAY_NONE ? t->starts[n + 1] - begin : t->sums[parent].n_children;
    if (offset >= count) return true;
    uint32_t most = count - offset < MOST_ROWS ? count - offset : MOST_ROWS;
    return as_vec_append(rows, t->order + begin + offset, most);
}

/* The first levels, as many as have room: all children of a location, or none. */
static bool add_levels(const location_tree *t, as_vec *rows) {
    bool fine = add_children(t, ASSAY_NONE, 0, rows);
    for (size_t i = 0; fine && i < rows->count; i++) {
        assay_id id = AS_AT(assay_id, rows, i);
        if (rows->count + t->sums[id].n_children > FIRST_ROWS) continue;
        fine = add_children(t, id, 0, rows);
    }
    return fine;
}

typedef enum tree_column {
    ID,
    PARENT,
    KIND,
    NAME,
    NUMBER,
    CHILDREN,
    PLACES,
    VALUE,
    MEAN,
    MIN,
    MAX,
    PEERS,
    N_COLUMNS
} tree_column;

static void build_cell(as_builder *b, const location_tree *t, assay_id id, tree_column column) {
    const as_dataset *ds = t->of->view.ds;
    const as_location *location = as_ds_location(ds, id);
    const below *sums = &t->sums[id];
    switch (column) {
    case ID: as_build_int(b, NULL, id); return;
    case PARENT:
        as_build_known(b, NULL, location->parent == ASSAY_NONE ? -1 : (int64_t)location->parent, false);
        return;
    case KIND: as_build_text(b, NULL, as_ds_text(ds, location->kind)); return;
    case NAME: as_build_text(b, NULL, as_ds_text(ds, location->name)); return;
    case NUMBER: as_build_known(b, NULL, as_location_number(ds, location), false); return;
    case CHILDREN: as_build_int(b, NULL, sums->n_children); return;
    case PLACES: as_build_int(b, NULL, sums->n_places); return;
    case PEERS: as_build_number(b, NULL, share_of_peers(t, id)); return;
    default: break;
    }
    if (sums->n_values == 0 || (column == VALUE && !has_value(t, id)))
        as_build_text(b, NULL, NULL);
    else if (column == VALUE)
        as_answer_number(b, NULL,
                         t->of->spread.is_integer ? as_whole_number(sums->whole)
                                                  : (as_number){.kind = AS_REAL, .r = sums->sum});
    else if (column == MEAN)
        as_build_real(b, NULL, sums->sum / sums->n_values);
    else
        as_answer_number(b, NULL, column == MIN ? sums->min : sums->max);
}

static void build_rows(as_builder *b, const location_tree *t, const as_vec *rows) {
    static const char *const names[N_COLUMNS] = {"id",     "parent", "kind", "name", "number", "n_children",
                                                 "places", "value",  "mean", "min",  "max",    "peers"};
    for (tree_column column = 0; column < N_COLUMNS; column++) {
        as_build_array(b, names[column], false);
        for (size_t i = 0; i < rows->count; i++) build_cell(b, t, AS_AT(assay_id, rows, i), column);
        as_build_end(b);
    }
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static assay_status answer_rows(const as_request *request, location_tree *t, as_output *out, assay_error *error) {
    const as_dataset *ds = t->of->view.ds;
    int64_t parent, offset;
    as_vec rows;
    AS_TRY(as_request_number(request, "parent", 0, (int64_t)AS_COUNT(ds, locations) - 1, -1, &parent, error));
    AS_TRY(as_request_number(request, "offset", 0, UINT32_MAX, 0, &offset, error));
    as_vec_init(&rows, sizeof(assay_id), NULL);
    sum_up(t);
    order_children(t);
    bool fine = find_largest(t);
    if (fine)
        fine = parent < 0 && offset == 0
                   ? add_levels(t, &rows)
                   : add_children(t, parent < 0 ? ASSAY_NONE : (assay_id)parent, (uint32_t)offset, &rows);
    if (fine) {
        as_builder b = as_builder_of(out);
        b.compact = true;
        size_t n = AS_COUNT(ds, locations);
        as_build_object(&b, NULL, false);
        as_build_text(&b, "metric", as_ds_text(ds, as_ds_metric(ds, t->of->metric)->name));
        as_build_text(&b, "unit", as_ds_text(ds, as_ds_metric(ds, t->of->metric)->unit));
        as_build_bool(&b, "adds_up", t->of->adds_up);
        as_build_int(&b, "n_top", t->starts[n + 1] - t->starts[n]);
        build_rows(&b, t, &rows);
        as_build_end(&b);
    }
    as_vec_free(&rows);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status answer_tree(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    location_tree t = {0};
    bool *selected;
    char label[256];
    AS_TRY(as_placed_values_find(viewing, request, &t.of, error));
    if (t.of->view.places.over == AS_OVER_RUNS)
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "there are no locations here, only runs");
    AS_TRY(as_placed_selection(request, t.of, &selected, label, error));
    size_t n = AS_COUNT(t.of->view.ds, locations);
    t.selected = selected;
    t.sums = calloc(n + 1, sizeof *t.sums);
    t.order = malloc((n + 1) * sizeof *t.order);
    t.starts = calloc(n + 2, sizeof *t.starts);
    as_map_init(&t.kinds, NULL);
    as_vec_init(&t.largest, sizeof(double), NULL);
    assay_status status =
        t.sums && t.order && t.starts ? answer_rows(request, &t, out, error) : as_fail_memory(error, NULL);
    free(t.sums);
    free(t.order);
    free(t.starts);
    as_map_free(&t.kinds);
    as_vec_free(&t.largest);
    free(selected);
    return status;
}

const as_endpoint as_endpoint_location_tree = {.path = "location_tree", .answer = answer_tree};
