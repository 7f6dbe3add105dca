/* Tables of views of random trees: what a walk through the same view shows, node by node and bit by bit, whether values
 * are sparse or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/views/table.h"
#include "sparse_files.h"

enum { N_CONTEXTS = 250, N_LOCATIONS = 7, N_REGIONS = 30, N_CELLS = 900, INCLUSIVE = 0, EXCLUSIVE = 1, LONE = 2 };

static uint32_t seed;

static uint32_t pick(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

static void add_regions(as_dataset *ds) {
    static const char *const kinds[] = {"function", "loop", "line", "instruction"};
    static const char *const files[] = {"a.c", "b.c", "c.c"}, *const modules[] = {"app", "libm.so"};
    for (uint32_t i = 0; i < N_REGIONS; i++) {
        as_region region = AS_REGION_INIT;
        char name[20];
        snprintf(name, sizeof name, "r%u", (unsigned)pick(N_REGIONS));
        region.name = as_ds_intern_text(ds, name);
        region.kind = as_ds_intern_text(ds, i == 0 ? "root" : kinds[pick(4)]);
        if (pick(5)) region.file = as_ds_intern_text(ds, files[pick(3)]);
        if (pick(5)) region.module = as_ds_intern_text(ds, modules[pick(2)]);
        region.line_begin = (int64_t)pick(3);
        assert_int_equal(as_add_region(ds, &region), i);
    }
}

static as_context random_context(as_dataset *ds, assay_id at, bool has_roles, bool has_asides, bool has_root) {
    as_context context = AS_CONTEXT_INIT;
    bool is_top = at == 0 || (!has_root && pick(40) == 0);
    context.parent = is_top ? ASSAY_NONE : at - 1 - pick(at < 12 ? at : 12);
    context.region = at == 0 && has_root ? 0 : pick(15) ? 1 + pick(N_REGIONS - 1) : ASSAY_NONE;
    if (context.region == ASSAY_NONE) context.name = as_ds_intern_text(ds, pick(2) ? "nameless" : "other");
    if (has_roles && at) context.role = (uint8_t)(pick(3) ? AS_ROLE_CALL : pick(2) ? AS_ROLE_INNER : AS_ROLE_CALL_SITE);
    context.is_inlined = pick(9) == 0;
    context.is_aside = has_asides && pick(12) == 0;
    return context;
}

static as_dataset *make_dataset(bool has_roles, bool has_asides, bool has_root) {
    as_dataset *ds = as_dataset_new(0);
    as_tree tree;
    const assay_id *ids;
    add_threads(ds, N_LOCATIONS);
    add_regions(ds);
    as_tree_init(&tree, ds);
    for (assay_id i = 0; i < N_CONTEXTS; i++) {
        as_context context = random_context(ds, i, has_roles, has_asides, has_root);
        assert_int_equal(as_tree_add(&tree, &context), i);
    }
    assert_true(as_tree_finish(&tree, &ids));
    as_tree_free(&tree);
    assert_int_equal(as_add_run(ds, &AS_RUN_INIT), 0);
    assert_int_equal(add_stored(ds, "time", AS_KIND_INCLUSIVE), INCLUSIVE);
    assert_int_equal(add_stored(ds, "time", AS_KIND_EXCLUSIVE), EXCLUSIVE);
    assert_int_equal(add_stored(ds, "lone", AS_KIND_EXCLUSIVE), LONE);
    make_pair(ds, INCLUSIVE, EXCLUSIVE);
    return ds;
}

/* Numbers whose sums depend on the order of additions. */
static size_t random_cells(sparse_cell *cells) {
    static bool is_taken[N_CONTEXTS][N_LOCATIONS];
    size_t n = 0;
    memset(is_taken, 0, sizeof is_taken);
    for (size_t i = 0; i < N_CELLS; i++) {
        sparse_cell cell = {pick(N_CONTEXTS), pick(N_LOCATIONS), (1.0 + pick(1000)) / 7 * pow(10, (double)pick(12))};
        if (is_taken[cell.context][cell.column]) continue;
        is_taken[cell.context][cell.column] = true;
        cells[n++] = cell;
    }
    return n;
}

/* ---- tables and walks -------------------------------------------------------------------------------------------- */

typedef struct comparing {
    const as_view_table *table;
    const as_view_values *values;
    uint32_t next;
} comparing;

static bool is_same(double number, const as_view_number *shown) {
    double expected = shown->is_known ? shown->real : NAN;
    return isnan(expected) ? isnan(number) : memcmp(&number, &expected, sizeof number) == 0;
}

static bool compare_node(void *user, const as_view_node *node) {
    comparing *c = user;
    assert_true(c->next < as_view_items(c->table));
    uint32_t i = c->next++;
    const as_view_item *item = as_view_item_at(c->table, i);
    as_view_node kept = as_view_item_node(c->table, i);
    assert_int_equal(item->depth, node->depth);
    assert_int_equal(kept.level, node->level);
    assert_int_equal(kept.context, node->context);
    assert_int_equal(kept.call_site, node->call_site);
    assert_int_equal(kept.name, node->name);
    assert_int_equal(kept.is_inlined, node->is_inlined);
    assert_int_equal(kept.is_aside, node->is_aside);
    assert_int_equal(kept.is_last, node->is_last);
    assert_true(item->parent == AS_NO_ITEM ? node->depth == 0
                                           : item->parent < i && i < as_view_item_at(c->table, item->parent)->end);
    assert_true(is_same(c->values->inclusive[i], &node->values[0].inclusive));
    assert_true(c->values->exclusive ? is_same(c->values->exclusive[i], &node->values[0].exclusive)
                                     : !node->values[0].exclusive.is_known || isnan(node->values[0].exclusive.real));
    return true;
}

static void check_table(const as_view_data *data, as_view_request request, const as_view_table *table,
                        const as_view_values *values) {
    as_view_cut cut;
    assay_error error;
    comparing c = {.table = table, .values = values};
    request.order = AS_SORT_SOURCE;
    assert_int_equal(as_view_walk(data, &request, compare_node, &c, &cut, &error), ASSAY_OK);
    assert_int_equal(c.next, as_view_items(table));
}

/* A walk shows each node with what sums of its contexts give; a table has them from elsewhere: with the table, or when
 * it is there. */
static void check_view(const as_view_data *data, as_view_request request) {
    as_view_table *table;
    as_view_values *values;
    assay_error error;
    assert_int_equal(as_view_table_new(data, &request, &table, &values, &error), ASSAY_OK);
    assert_true(as_view_items(table) > 0);
    check_table(data, request, table, values);
    as_view_values_free(values);
    assert_int_equal(as_view_values_new(table, data, &values, &error), ASSAY_OK);
    check_table(data, request, table, values);
    as_view_values_free(values);
    as_view_table_free(table);
}

static uint8_t *random_hiding(const as_dataset *ds) {
    size_t n = ds->strings.entries.count;
    uint8_t *hidden = calloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) hidden[i] = (uint8_t)(pick(5) ? pick(12) ? 0 : AS_HIDES_SUBTREE : AS_HIDES_NODE);
    return hidden;
}

static void check_same_items(const as_view_table *a, const as_view_table *b) {
    assert_int_equal(as_view_items(a), as_view_items(b));
    for (uint32_t i = 0; i < as_view_items(a); i++) {
        const as_view_item *x = as_view_item_at(a, i), *y = as_view_item_at(b, i);
        assert_int_equal(x->parent, y->parent);
        assert_int_equal(x->end, y->end);
        assert_int_equal(x->depth, y->depth);
        assert_int_equal(x->context, y->context);
        assert_int_equal(x->call_site, y->call_site);
        assert_int_equal(x->name, y->name);
        assert_int_equal(x->level, y->level);
        assert_int_equal(x->flags, y->flags);
    }
}

static void check_same_values(const as_view_values *a, const as_view_values *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->has_inclusive, b->has_inclusive);
    assert_int_equal(a->has_exclusive, b->has_exclusive);
    assert_memory_equal(a->inclusive, b->inclusive, a->n * sizeof *a->inclusive);
    assert_int_equal(a->exclusive == NULL, b->exclusive == NULL);
    if (a->exclusive) assert_memory_equal(a->exclusive, b->exclusive, a->n * sizeof *a->exclusive);
    assert_int_equal(a->weights == NULL, b->weights == NULL);
    if (a->weights) assert_memory_equal(a->weights, b->weights, a->n * sizeof *a->weights);
    assert_true(isnan(a->hidden) ? isnan(b->hidden) : a->hidden == b->hidden);
}

/* What is taken from the table of all is what a walk that hides shows; and so is what it becomes. */
static void check_hidden_view(const as_view_data *data, as_view_request request) {
    uint8_t *hidden = random_hiding(data->source.ds);
    as_view_table *all, *table, *walked;
    as_view_values *of_all, *values, *of_walked;
    assay_error error;
    assert_int_equal(as_view_table_new(data, &request, &all, &of_all, &error), ASSAY_OK);
    request.hidden = hidden;
    assert_int_equal(as_view_table_new(data, &request, &walked, &of_walked, &error), ASSAY_OK);
    assert_int_equal(as_view_table_hide(all, hidden, &table, &error), ASSAY_OK);
    assert_int_equal(as_view_values_hide(table, all, of_all, &values, &error), ASSAY_OK);
    check_same_items(table, walked);
    assert_int_equal(table->cut.hidden, walked->cut.hidden);
    assert_memory_equal(values->inclusive, of_walked->inclusive, values->n * sizeof *values->inclusive);
    assert_int_equal(values->has_inclusive, of_walked->has_inclusive);
    assert_int_equal(values->has_exclusive, of_walked->has_exclusive);
    assert_int_equal(values->weights == NULL, of_walked->weights == NULL);
    check_table(data, request, table, values);
    assert_int_equal(as_view_table_hide_here(all, hidden, &of_all, 1, &error), ASSAY_OK);
    check_same_items(all, table);
    check_same_values(of_all, values);
    assert_int_equal(all->cut.hidden, table->cut.hidden);
    as_view_values_free(of_all);
    as_view_values_free(values);
    as_view_values_free(of_walked);
    as_view_table_free(all);
    as_view_table_free(table);
    as_view_table_free(walked);
    free(hidden);
}

static void check_both(const as_view_data *data, as_view_request request) {
    check_view(data, request);
    check_hidden_view(data, request);
}

static void check_views(const as_dataset *ds, assay_id metric, const bool *locations, bool *has_sums) {
    static const assay_id run = 0;
    as_view_data data;
    assay_error error;
    as_view_source source = {.ds = ds, .runs = &run, .n_runs = 1, .point = ASSAY_NONE, .locations = locations};
    assert_int_equal(as_view_load(&source, &metric, 1, NULL, 0, &data, &error), ASSAY_OK);
    *has_sums = data.columns[0].has_sums;
    for (unsigned k = 0; k < 4; k++) check_both(&data, (as_view_request){.joins_calls = k & 1, .without_root = k & 2});
    for (unsigned group = AS_GROUP_REGION; group <= AS_GROUP_SCOPE; group++) {
        check_both(&data, (as_view_request){.kind = AS_VIEW_FLAT, .group = group});
        check_both(&data, (as_view_request){.kind = AS_VIEW_FLAT, .group = group, .joins_calls = true});
    }
    uint8_t *hidden = random_hiding(ds);
    check_view(&data, (as_view_request){.kind = AS_VIEW_BOTTOM_UP});
    check_view(&data, (as_view_request){.kind = AS_VIEW_BOTTOM_UP, .max_steps = 300});
    check_view(&data, (as_view_request){.kind = AS_VIEW_BOTTOM_UP, .max_levels = 2});
    check_view(&data, (as_view_request){.kind = AS_VIEW_BOTTOM_UP, .hidden = hidden});
    free(hidden);
    as_view_data_free(&data);
}

static void tables_are_what_walks_show(void **state) {
    static const bool some[N_LOCATIONS] = {true, false, true, true}, one[N_LOCATIONS] = {[3] = true};
    (void)state;
    for (uint32_t number = 0; number < 40; number++) {
        seed = number;
        sparse_cell cells[3][N_CELLS];
        sparse_cells sources[3];
        as_dataset *sparse = make_dataset(number & 1, number & 2, number & 4);
        for (assay_id metric = 0; metric < 3; metric++) {
            sources[metric] = sparse_of(cells[metric], random_cells(cells[metric]));
            add_sparse(sparse, metric, &sources[metric]);
        }
        bool has_sums;
        for (assay_id metric = 0; metric < 3; metric++) {
            check_views(sparse, metric, NULL, &has_sums);
            assert_true(has_sums);
            check_views(sparse, metric, metric == LONE ? one : some, &has_sums);
        }
        as_dataset_free(sparse);
        seed = number;
        as_dataset *dense = make_dataset(number & 1, number & 2, number & 4);
        for (assay_id metric = 0; metric < 3; metric++) {
            AS_AT(as_metric, &dense->metrics, metric).is_stored = number & 8;
            add_dense(dense, metric, cells[metric], sources[metric].n);
            check_views(dense, metric, NULL, &has_sums);
            assert_false(has_sums);
        }
        as_dataset_free(dense);
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void check_sums(const as_dataset *sparse, const as_dataset *dense, assay_id metric) {
    as_stored_sums sums;
    as_node_list list;
    assay_error error;
    bool is_done;
    size_t next = 0;
    as_node_list_init(&list);
    assert_int_equal(as_stored_sums_find(dense, 0, metric, NULL, false, &sums, &is_done, &error), ASSAY_OK);
    assert_false(is_done);
    as_stored_sums_free(&sums);
    assert_int_equal(as_stored_sums_find(sparse, 0, metric, NULL, false, &sums, &is_done, &error), ASSAY_OK);
    assert_true(is_done);
    assert_int_equal(as_nodes_find(dense, 0, metric, ASSAY_NONE, &list, &error), ASSAY_OK);
    for (assay_id id = 0; id < N_CONTEXTS; id++) {
        as_node node;
        const as_node *expected = next < as_node_count(&list) ? as_node_at(&list, next) : NULL;
        bool is_there = as_stored_sums_node(&sums, id, &node);
        assert_int_equal(is_there, expected && expected->context == id);
        if (!is_there) continue;
        next++;
        assert_int_equal(node.has_own, expected->has_own);
        assert_int_equal(node.has_exclusive, expected->has_exclusive);
        assert_int_equal(node.lacks_exclusive, expected->lacks_exclusive);
        assert_true(node.inclusive.r == as_number_real(expected->inclusive));
        assert_true(node.exclusive.r == as_number_real(expected->exclusive));
    }
    assert_int_equal(next, as_node_count(&list));
    as_node_list_free(&list);
    as_stored_sums_free(&sums);
}

static void sums_are_those_of_full_rows(void **state) {
    (void)state;
    for (uint32_t number = 1; number < 20; number++) {
        sparse_cell cells[3][N_CELLS];
        sparse_cells sources[3];
        seed = number;
        as_dataset *sparse = make_dataset(true, false, true);
        seed = number;
        as_dataset *dense = make_dataset(true, false, true);
        for (assay_id metric = 0; metric < 3; metric++) {
            sources[metric] = sparse_of(cells[metric], random_cells(cells[metric]));
            add_sparse(sparse, metric, &sources[metric]);
            add_dense(dense, metric, cells[metric], sources[metric].n);
        }
        check_sums(sparse, dense, INCLUSIVE);
        check_sums(sparse, dense, LONE);
        as_dataset_free(sparse);
        as_dataset_free(dense);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_what_walks_show),
        cmocka_unit_test(sums_are_those_of_full_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
