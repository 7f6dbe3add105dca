/* Comparisons for requests, kept. */
#include "server/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static assay_status choose_inputs(as_viewing *viewing, const as_request *request, as_asked_changes *asked,
                                  assay_error *error) {
    static const char *const names[2] = {"a", "b"};
    int64_t last = (int64_t)as_viewing_inputs(viewing) - 1;
    if (last < 1 && !as_request_text(request, names[AS_TARGET]))
        return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "",
                       "there are no two inputs to compare; drop another file onto the page");
    for (int side = 0; side < 2; side++) {
        AS_TRY(as_request_number(request, names[side], 0, last, side, &asked->numbers[side], error));
        asked->inputs[side] = as_viewing_input(viewing, (size_t)asked->numbers[side]);
        asked->sides[side] = asked->inputs[side]->ds;
        if (!asked->sides[side]) {
            *error = asked->inputs[side]->error;
            return error->code;
        }
    }
    return ASSAY_OK;
}

static assay_status choose_pairing(const as_request *request, as_asked_changes *asked, assay_error *error) {
    const char *pairing = as_request_text(request, "pairing");
    bool is_exact = pairing && strcmp(pairing, "exact") == 0;
    if (pairing && !is_exact && strcmp(pairing, "name") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'pairing' cannot be '%.100s'; name or exact", pairing);
    asked->matching = is_exact ? AS_MATCH_EXACT : AS_MATCH_NAME;
    return ASSAY_OK;
}

/* What values depend on: sides, metrics, runs and locations. Other formulas give other numbers to the metrics of
 * both. */
static char *make_key(const as_viewing *viewing, const as_request *request, const as_asked_changes *asked) {
    as_vec text;
    char numbers[200];
    as_vec_init(&text, 1, NULL);
    snprintf(numbers, sizeof numbers, "%" PRId64 " %" PRId64 " %d %u %u", asked->numbers[0], asked->numbers[1],
             (int)asked->matching, (unsigned)asked->metric, (unsigned)as_asked_metric_of(asked, AS_TARGET));
    bool fine = as_vec_text(&text, numbers) && as_vec_text(&text, viewing->asked_words ? viewing->asked_words : "") &&
                as_request_words(request, "run run_a run_b location", &text) &&
                as_vec_text(&text, asked->flat ? AS_FLAT_KEY : "") && as_vec_append(&text, "", 1);
    char *key = fine ? strdup(text.data) : NULL;
    as_vec_free(&text);
    return key;
}

/* ---- tables and values ------------------------------------------------------------------------------------------- */

static void free_pairs(void *pairs) { as_change_pairs_free(pairs); }
static void free_table(void *table) { as_change_table_free(table); }
static void free_values(void *values) { as_change_values_free(values); }

/* What depends on nothing but the two trees. */
static char *tree_key(const as_asked_changes *asked, const char *what) {
    char *key = NULL;
    int size = asprintf(&key, "%s compared %" PRId64 " %" PRId64 " %d", what, asked->numbers[0], asked->numbers[1],
                        (int)asked->matching);
    return size < 0 ? NULL : key;
}

static size_t contexts_of(const as_asked_changes *asked) {
    return AS_COUNT(asked->sides[AS_BASE], contexts) + AS_COUNT(asked->sides[AS_TARGET], contexts);
}

/* While pairs and functions are found there is more than what stays of them: others give way first. */
enum { PAIRS_ROOM = 24, FUNCTIONS_ROOM = 28, TREE_ROOM = sizeof(as_view_item) / 2 };

/* Whoever has the pairs can make the table again in no time. */
static assay_status find_pairs(as_viewing *viewing, const as_asked_changes *asked, as_change_pairs **out,
                               assay_error *error) {
    char *key = tree_key(asked, "pairs");
    if (!key) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    *out = as_viewing_find(viewing, key);
    if (!*out) {
        as_viewing_expect(viewing, contexts_of(asked) * PAIRS_ROOM);
        status = as_change_pairs_new(asked->sides, asked->matching, out, error);
        if (status != ASSAY_OK)
            as_change_pairs_free(*out);
        else if (!as_viewing_keep(viewing, key, *out, sizeof **out + (*out)->n * sizeof(assay_id), free_pairs))
            status = as_fail_memory(error, NULL);
        as_give_back_memory();
    }
    free(key);
    return status;
}

/* Pairs are used last, also by functions, so that they go last: they are small, and the way back from elsewhere is
 * short then. A table that somebody else has had longer is here again: so it is counted. */
void as_asked_changes_touch(as_viewing *viewing, const as_asked_changes *asked) {
    char *table = tree_key(asked, asked->flat ? "functions" : "call paths"), *pairs = tree_key(asked, "pairs");
    if (table && asked->table && !as_viewing_find(viewing, table))
        (void)as_viewing_keep(viewing, table, as_change_table_share(asked->table), as_change_table_bytes(asked->table),
                              free_table);
    if (pairs) (void)as_viewing_find(viewing, pairs);
    free(table);
    free(pairs);
}

static assay_status make_table(as_viewing *viewing, as_asked_changes *asked, as_change_table **out,
                               assay_error *error) {
    as_change_pairs *pairs = NULL;
    if (!asked->flat) AS_TRY(find_pairs(viewing, asked, &pairs, error));
    as_viewing_expect(viewing, contexts_of(asked) * (asked->flat ? FUNCTIONS_ROOM : TREE_ROOM));
    return asked->flat ? as_change_functions_new(asked->sides, out, error)
                       : as_change_table_new(asked->sides, pairs, out, error);
}

static assay_status find_table(as_viewing *viewing, as_asked_changes *asked, assay_error *error) {
    if (asked->table) return ASSAY_OK;
    char *key = tree_key(asked, asked->flat ? "functions" : "call paths");
    as_change_table *table = NULL;
    if (!key) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    asked->table = as_viewing_find(viewing, key);
    if (!asked->table) {
        status = make_table(viewing, asked, &table, error);
        if (status != ASSAY_OK)
            as_change_table_free(table);
        else if (!as_viewing_keep(viewing, key, table, as_change_table_bytes(table), free_table))
            status = as_fail_memory(error, NULL);
        asked->table = table;
        as_give_back_memory();
    }
    free(key);
    return status;
}

static assay_status make_values(as_viewing *viewing, as_asked_changes *asked, const char *key, assay_error *error) {
    const as_view_source sources[2] = {as_diff_view_source(&asked->diff, AS_BASE),
                                       as_diff_view_source(&asked->diff, AS_TARGET)};
    as_change_values *values = NULL;
    as_viewing_expect(viewing,
                      (asked->wants_own ? 2 : 1) *
                          as_change_values_expected(asked->table, &asked->diff.comparison, sources, asked->metric));
    assay_status status = as_change_values_new(asked->table, &asked->diff.comparison, sources, asked->metric,
                                               asked->wants_own, &values, error);
    if (status != ASSAY_OK) {
        as_change_values_free(values);
        return status;
    }
    asked->values = values;
    bool is_kept = as_viewing_keep(viewing, key, values, as_change_values_bytes(values), free_values);
    as_give_back_memory();
    return is_kept ? ASSAY_OK : as_fail_memory(error, NULL);
}

static char *values_key(const as_asked_changes *asked) {
    char *key = NULL;
    return asprintf(&key, "changes of %s", asked->key) < 0 ? NULL : key;
}

assay_status as_asked_changes_complete(as_viewing *viewing, as_asked_changes *asked, assay_error *error) {
    if (!asked->values || !asked->values->lacks_own) return ASSAY_OK;
    const as_view_source sources[2] = {as_diff_view_source(&asked->diff, AS_BASE),
                                       as_diff_view_source(&asked->diff, AS_TARGET)};
    char *key = values_key(asked);
    if (!key) return as_fail_memory(error, NULL);
    as_change_values *values = as_viewing_find(viewing, key);
    as_viewing_expect(viewing, as_change_values_bytes(values));
    assay_status status = as_change_values_complete(values, sources, error);
    if (status == ASSAY_OK) as_viewing_resize(viewing, key, as_change_values_bytes(values));
    free(key);
    as_asked_changes_touch(viewing, asked);
    return status;
}

assay_status as_asked_exclusive(const as_asked_changes *asked, size_t side, const uint32_t *items, size_t n,
                                double *out, assay_error *error) {
    const as_view_source sources[2] = {as_diff_view_source(&asked->diff, AS_BASE),
                                       as_diff_view_source(&asked->diff, AS_TARGET)};
    return as_change_exclusive(asked->table, asked->values, sources, side, items, n, out, error);
}

void as_asked_changes_forget_values(as_viewing *viewing, as_asked_changes *asked) {
    char *key = values_key(asked);
    if (key) as_viewing_forget(viewing, key);
    if (key) asked->values = NULL;
    free(key);
}

assay_status as_asked_changes_find(as_viewing *viewing, as_asked_changes *asked, assay_error *error) {
    char *key = values_key(asked);
    if (!key) return as_fail_memory(error, NULL);
    if (asked->metric != ASSAY_NONE) asked->values = as_viewing_find(viewing, key);
    assay_status status = find_table(viewing, asked, error);
    if (status == ASSAY_OK && asked->metric != ASSAY_NONE && !asked->values)
        status = make_values(viewing, asked, key, error);
    free(key);
    if (status == ASSAY_OK) as_asked_changes_touch(viewing, asked);
    return status;
}

assay_status as_asked_changes_choose(as_viewing *viewing, const as_request *request, bool flat, as_asked_changes *out,
                                     assay_error *error) {
    *out = (as_asked_changes){.flat = flat, .metric = ASSAY_NONE};
    AS_TRY(choose_inputs(viewing, request, out, error));
    AS_TRY(as_request_cli_make(request, "diff", "metric metric_a metric_b run run_a run_b location", NULL, &out->made,
                               error));
    const char *names[2] = {out->inputs[AS_BASE]->path, out->inputs[AS_TARGET]->path};
    AS_TRY(choose_pairing(request, out, error));
    AS_TRY(
        as_request_cli_status(&out->made, as_diff_view_choose(&out->made.cli, out->sides, names, &out->diff), error));
    if (out->diff.metrics.count) out->metric = AS_AT(assay_id, &out->diff.metrics, 0);
    out->key = make_key(viewing, request, out);
    return out->key ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_asked_changes_make(as_viewing *viewing, const as_request *request, bool flat, as_asked_changes *out,
                                   assay_error *error) {
    AS_TRY(as_asked_changes_choose(viewing, request, flat, out, error));
    return as_asked_changes_find(viewing, out, error);
}

void as_asked_changes_free(as_asked_changes *asked) {
    as_diff_view_close(&asked->diff);
    as_request_cli_free(&asked->made);
    free(asked->key);
}

double as_asked_scale(const as_asked_changes *asked, const as_request *request) {
    if (!asked->values || !asked->values->adds_up || !as_request_flag(request, "normalize")) return 1;
    double ratio = asked->values->sums[AS_TARGET] / asked->values->sums[AS_BASE];
    return isfinite(ratio) && ratio > 0 ? ratio : 1;
}

assay_status as_asked_changes_need_metric(const as_asked_changes *asked, assay_error *error) {
    if (asked->values) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "", "%s and %s have no metric in common; name one of each",
                   asked->inputs[AS_BASE]->path, asked->inputs[AS_TARGET]->path);
}

/* ---- the head of answers ----------------------------------------------------------------------------------------- */

static void build_side(as_builder *b, const as_asked_changes *asked, size_t side) {
    assay_id metric = as_asked_metric_of(asked, side);
    const as_dataset *ds = asked->sides[side];
    as_build_object(b, side == AS_BASE ? "a" : "b", false);
    as_build_int(b, "d", asked->numbers[side]);
    as_build_text(b, "run", asked->diff.runs[side].label);
    as_build_text(b, "location", asked->diff.locations[side].label);
    as_build_text(b, "metric", metric == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_metric(ds, metric)->name));
    const as_change_values *values = asked->values;
    const as_view_number *whole = values ? &values->whole.inclusive.side[side] : NULL;
    as_build_number(b, "total", whole && whole->is_known ? whole->real : NAN);
    as_build_end(b);
}

static void build_choices(as_builder *b, const as_asked_changes *asked) {
    const as_comparison *c = &asked->diff.comparison;
    as_build_array(b, "metrics", false);
    for (assay_id m = 0; m < AS_COUNT(c->ds, metrics); m++) {
        const as_metric *metric = as_ds_metric(c->ds, m);
        bool is_both =
            as_comparison_metric(c, AS_BASE, m) != ASSAY_NONE && as_comparison_metric(c, AS_TARGET, m) != ASSAY_NONE;
        if (is_both && metric->part_of == ASSAY_NONE) as_build_text(b, NULL, as_ds_text(c->ds, metric->name));
    }
    as_build_end(b);
}

void as_build_changes_head(as_builder *b, const as_asked_changes *asked, double scale) {
    const as_dataset *ds = asked->diff.comparison.ds;
    const as_metric *metric = asked->metric == ASSAY_NONE ? NULL : as_ds_metric(ds, asked->metric);
    for (size_t side = 0; side < 2; side++) build_side(b, asked, side);
    as_build_text(b, "metric", metric ? as_ds_text(ds, metric->name) : NULL);
    as_build_text(b, "unit", metric ? as_ds_text(ds, metric->unit) : NULL);
    as_build_bool(b, "adds_up", asked->values && asked->values->adds_up);
    as_build_bool(b, "has_exclusive", asked->values && asked->values->has_exclusive);
    as_build_real(b, "scale", scale);
    build_choices(b, asked);
}
