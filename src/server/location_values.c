#include "server/location_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tables.h"

/* The parameters that say which metric of which places, and of which row. */
#define CHOICE "metric run by"
#define ROW    "tree view root hide hide-subtree node metrics"

/* What values are asked of. */
typedef struct subject {
    as_view_input *input;
    int64_t d;
    as_dataset *ds;   /* the input's, or its tree of GPU activities */
    assay_id context; /* ASSAY_NONE: the whole program, or a row */
    bool is_row;
    as_vec contexts; /* assay_id: those of a row */
    bool wants_exclusive;
} subject;

static void release(void *object) {
    as_placed_values *of = object;
    as_stat_view_free(&of->view);
    free(of->values);
    free(of);
}

/* The metric that is asked for, else the main one, else the first whose values are numbers. */
static as_exit choose_metric(as_cli *cli, as_placed_values *of) {
    const as_dataset *ds = of->view.ds;
    assay_id main_metric = as_main_metric(ds, of->view.places.over != AS_OVER_RUNS);
    as_vec chosen;
    as_vec_init(&chosen, sizeof(assay_id), NULL);
    as_exit status = as_stat_choose_metrics(cli, &of->view, &chosen);
    if (status == AS_EXIT_FINE && chosen.count == 0)
        status =
            as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no metric whose values are numbers", as_ds_text(ds, ds->path));
    if (status == AS_EXIT_FINE) of->metric = AS_AT(assay_id, &chosen, 0);
    for (size_t i = 0; status == AS_EXIT_FINE && !as_cli_has(cli, "metric") && i < chosen.count; i++) {
        if (AS_AT(assay_id, &chosen, i) == main_metric) of->metric = main_metric;
    }
    as_vec_free(&chosen);
    return status;
}

static assay_status choose(const as_request *request, as_placed_values *of, const subject *of_what,
                           assay_error *error) {
    as_request_cli made;
    assay_status status = as_request_cli_make(request, "stat", CHOICE, NULL, &made, error);
    if (status == ASSAY_OK) status = as_request_cli_status(&made, as_stat_choose_places(&made.cli, &of->view), error);
    if (status == ASSAY_OK) status = as_request_cli_status(&made, choose_metric(&made.cli, of), error);
    if (status == ASSAY_OK) {
        of->is_exclusive = of_what->wants_exclusive && (of->context != ASSAY_NONE || of_what->is_row) &&
                           (as_stat_kinds(&made.cli, of->view.ds, of->metric) & AS_EXCLUSIVE_VALUES);
        of->adds_up = !as_is_computed(of->view.ds, &of->view.places, of->metric) &&
                      !as_dtype_is_extreme(as_ds_metric_type(of->view.ds, of->metric).dtype);
    }
    as_request_cli_free(&made);
    return status;
}

static assay_status find_values(as_placed_values *of, const subject *of_what, assay_error *error) {
    const as_stat_view *view = &of->view;
    as_value_kinds kind = of->is_exclusive ? AS_EXCLUSIVE_VALUES : AS_INCLUSIVE_VALUES;
    if (of_what->is_row)
        return as_location_sums(view->ds, &view->places, of->metric, of_what->contexts.data, of_what->contexts.count,
                                kind, &of->values, &of->spread, error);
    if (of->context == ASSAY_NONE)
        return as_location_totals(view->ds, &view->places, of->metric, &of->values, &of->spread, error);
    return as_location_values(view->ds, &view->places, of->metric, of->context, kind, &of->values, &of->spread, error);
}

/* What it is kept under. False when memory is out. */
static bool put_key(const as_request *request, const subject *s, const char *formulas, as_vec *key) {
    char head[80];
    snprintf(head, sizeof head, "placed %lld %u %d", (long long)s->d, (unsigned)s->context, s->wants_exclusive);
    return as_vec_text(key, head) && as_vec_text(key, formulas) && as_request_words(request, CHOICE, key) &&
           (!s->is_row || as_request_words(request, ROW, key)) && as_vec_append(key, "", 1);
}

static assay_status make(as_viewing *viewing, const as_request *request, const subject *of_what, const char *key,
                         const as_placed_values **out, assay_error *error) {
    as_placed_values *of = calloc(1, sizeof *of);
    if (!of) return as_fail_memory(error, NULL);
    of->view.ds = of_what->ds;
    of->context = of_what->context;
    assay_status status = choose(request, of, of_what, error);
    if (status == ASSAY_OK) status = find_values(of, of_what, error);
    if (status != ASSAY_OK) {
        release(of);
        return status;
    }
    for (uint32_t i = 0; i < of->view.places.n; i++) of->n_values += as_placed_has(of, i);
    size_t bytes = sizeof *of + of->view.places.n * (sizeof *of->values + sizeof *of->view.places.ids) +
                   AS_COUNT(of_what->ds, locations) * sizeof *of->view.places.place;
    *out = of;
    return as_viewing_keep(viewing, key, of, bytes, release) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* The request as that of a tree: what `by` means here is no matter there. False when memory is out. */
static bool tree_request(const as_request *request, as_request *out) {
    bool fine = true;
    *out = (as_request){.path = "tree"};
    as_vec_init(&out->parameters, sizeof(as_parameter), NULL);
    for (size_t i = 0; fine && i < request->parameters.count; i++) {
        as_parameter parameter = AS_AT(as_parameter, &request->parameters, i);
        if (strcmp(parameter.name, "by") == 0 || strcmp(parameter.name, "location") == 0) continue;
        if (strcmp(parameter.name, "tree") == 0) parameter.name = "by";
        fine = as_vec_append(&out->parameters, &parameter, 1);
    }
    return fine;
}

static assay_status find_row(as_viewing *viewing, const as_request *request, int64_t node, subject *s,
                             assay_error *error) {
    as_request tree;
    as_asked_view asked = {0};
    as_asked_table table = {0};
    uint32_t item;
    bool fine = tree_request(request, &tree);
    assay_status status = fine ? as_asked_view_make(viewing, &tree, &asked, error) : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_asked_row_get(viewing, &asked, node, &table, &item, error);
    if (status == ASSAY_OK) status = as_asked_contexts(&asked, table.table, item, &s->contexts, error);
    s->is_row = true;
    if (status == ASSAY_OK) s->ds = asked.tree.ds;
    as_asked_table_free(&table);
    if (fine) as_asked_view_free(&asked);
    as_vec_free(&tree.parameters);
    return status;
}

static assay_status find_subject(as_viewing *viewing, const as_request *request, subject *s, assay_error *error) {
    int64_t context, node;
    AS_TRY(as_request_input(viewing, request, "d", &s->input, error));
    AS_TRY(as_request_number(request, "d", 0, INT32_MAX, 0, &s->d, error));
    s->ds = s->input->ds;
    AS_TRY(as_request_number(request, "context", 0, (int64_t)AS_COUNT(s->ds, contexts) - 1, -1, &context, error));
    AS_TRY(as_request_number(request, "node", 0, INT64_C(1) << 53, -1, &node, error));
    const char *kind = as_request_text(request, "kind");
    if (kind && strcmp(kind, "inclusive") != 0 && strcmp(kind, "exclusive") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'kind' is inclusive or exclusive, not '%.100s'", kind);
    s->wants_exclusive = kind && strcmp(kind, "exclusive") == 0;
    if (context >= 0 && node < 0) s->context = (assay_id)context;
    return node < 0 ? ASSAY_OK : find_row(viewing, request, node, s, error);
}

static assay_status find_or_make(as_viewing *viewing, const as_request *request, const subject *s,
                                 const as_placed_values **out, assay_error *error) {
    as_vec key;
    as_vec_init(&key, 1, NULL);
    const char *formulas = as_viewing_formulas_of_name(viewing, s->input->ds, as_request_text(request, "metric"));
    assay_status status = put_key(request, s, formulas, &key) ? ASSAY_OK : as_fail_memory(error, NULL);
    *out = status == ASSAY_OK ? as_viewing_find(viewing, key.data) : NULL;
    if (status == ASSAY_OK && !*out) status = make(viewing, request, s, key.data, out, error);
    as_vec_free(&key);
    return status;
}

assay_status as_placed_values_find(as_viewing *viewing, const as_request *request, const as_placed_values **out,
                                   assay_error *error) {
    subject s = {.context = ASSAY_NONE};
    as_vec_init(&s.contexts, sizeof(assay_id), NULL);
    assay_status status = find_subject(viewing, request, &s, error);
    if (status == ASSAY_OK) status = find_or_make(viewing, request, &s, out, error);
    as_vec_free(&s.contexts);
    return status;
}

/* ---- a part of the places ---------------------------------------------------------------------------------------- */

/* A process is meant where one of its threads is. */
static void mark_places(const as_placed_values *of, const bool *wanted, bool *out) {
    const as_places *places = &of->view.places;
    for (assay_id id = 0; id < AS_COUNT(of->view.ds, locations); id++) {
        if (wanted[id] && places->place[id] != UINT32_MAX) out[places->place[id]] = true;
    }
}

assay_status as_placed_selection(const as_request *request, const as_placed_values *of, bool **out, char label[256],
                                 assay_error *error) {
    as_request_cli made;
    as_location_choice choice = {0};
    *out = NULL;
    label[0] = '\0';
    if (!as_request_text(request, "location") || of->view.places.over == AS_OVER_RUNS) return ASSAY_OK;
    assay_status status = as_request_cli_make(request, "stat", "location", NULL, &made, error);
    if (status == ASSAY_OK)
        status = as_request_cli_status(&made, as_choose_locations(&made.cli, of->view.ds, &choice), error);
    if (status == ASSAY_OK && choice.wanted) {
        *out = calloc((size_t)of->view.places.n + 1, sizeof **out);
        if (*out)
            mark_places(of, choice.wanted, *out);
        else
            status = as_fail_memory(error, NULL);
        snprintf(label, 256, "%s", choice.label);
    }
    as_location_choice_free(&choice);
    as_request_cli_free(&made);
    return status;
}
