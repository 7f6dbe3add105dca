#include "analysis/algebra/operation.h"

#include <stdlib.h>

#include "dataset/formulas.h"

#define OPERATION_KEY "assay operation"

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static int compare_runs(const void *a, const void *b) {
    const as_part_run *x = a, *y = b;
    if (x->point != y->point) return x->point < y->point ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static bool list_run(as_operation *op, size_t k, assay_id run, assay_id own_point) {
    as_part_run entry = {.part = (uint32_t)k, .run = run, .own_point = own_point};
    entry.point = own_point == ASSAY_NONE ? (assay_id)op->ds->n_points : op->u.maps[k].points[own_point];
    return as_vec_append(&op->runs, &entry, 1);
}

static bool list_runs(as_operation *op) {
    bool fine = true;
    op->runs.count = 0;
    for (size_t k = 0; k < op->u.n; k++) {
        const as_dataset *part = op->u.parts[k];
        for (assay_id run = 0; run < part->runs.count && fine; run++)
            fine = list_run(op, k, run, as_ds_run(part, run)->point);
        for (assay_id point = 0; point < part->n_points && !part->runs.count && fine; point++)
            fine = list_run(op, k, ASSAY_NONE, point);
    }
    if (op->runs.count) qsort(op->runs.data, op->runs.count, sizeof(as_part_run), compare_runs);
    return fine;
}

bool as_keep_common_points(as_operation *op) {
    size_t n = op->ds->n_points, n_dropped = 0;
    uint32_t *counts = calloc(n + 1, sizeof *counts);
    bool *drop = calloc(n + 1, sizeof *drop), fine = counts && drop;
    for (size_t k = 0; k < op->u.n && fine; k++) {
        for (size_t p = 0; p < op->u.parts[k]->n_points; p++) {
            uint32_t *count = &counts[op->u.maps[k].points[p]];
            if (*count == k) *count = (uint32_t)k + 1; /* once for each part, and only if all before have it */
        }
    }
    for (size_t p = 0; p < n && fine; p++) {
        drop[p] = counts[p] < op->u.n;
        n_dropped += drop[p];
    }
    if (n_dropped && fine) {
        as_add_problem(op->ds, AS_NOTE, AS_NOWHERE, "point-left-out",
                       "%zu point%s left out, as not all were measured there", n_dropped, n_dropped == 1 ? "" : "s");
        fine = as_union_drop_points(&op->u, drop) && list_runs(op);
        size_t kept = 0; /* runs of points that are gone have no number */
        for (size_t i = 0; i < op->runs.count; i++)
            if (as_part_run_at(op, i)->point != ASSAY_NONE)
                AS_AT(as_part_run, &op->runs, kept++) = *as_part_run_at(op, i);
        op->runs.count = kept;
    }
    free(counts);
    free(drop);
    return fine;
}

/* What the dataset is, as far as the parts agree. */
static bool describe_dataset(as_operation *op) {
    as_dataset *ds = op->ds;
    const as_dataset *first = op->u.parts[0];
    bool fine = true;
    ds->format = first->format;
    ds->format_version = as_ds_carry(ds, first, first->format_version, &fine);
    ds->pooling = first->pooling;
    for (size_t k = 0; k < op->u.n; k++) ds->input_size += op->u.parts[k]->input_size;
    return fine;
}

static assay_status begin(as_operation *op, const as_dataset *const *parts, size_t n, assay_error *error) {
    *op = (as_operation){.error = error, .ds = as_dataset_new(parts[0]->budget.limit)};
    if (!op->ds) return as_fail_memory(error, NULL);
    as_vec_init(&op->runs, sizeof(as_part_run), NULL);
    if (!as_union_init(&op->u, op->ds, parts, n)) return as_fail_memory(error, NULL);
    if (!as_same_parameters(parts, n))
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "parameters-differ",
                       "the inputs do not have the same parameters, so their runs do not belong together");
    if (describe_dataset(op) && as_unite_points(&op->u) && list_runs(op) && as_unite_metrics(&op->u) &&
        as_unite_locations(&op->u))
        return ASSAY_OK;
    return as_fail_memory(error, NULL);
}

assay_status as_operation_begin(as_operation *op, const as_dataset *const *parts, size_t n, as_matching matching,
                                assay_error *error) {
    AS_TRY(begin(op, parts, n, error));
    return as_unite_contexts(&op->u, matching) ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_operation_begin_one(as_operation *op, const as_dataset *const *part, assay_error *error) {
    AS_TRY(begin(op, part, 1, error));
    return as_copy_regions(&op->u) ? ASSAY_OK : as_fail_memory(error, NULL);
}

bool as_operation_map_metrics(as_operation *op) {
    size_t n = op->ds->metrics.count;
    free(op->part_metrics);
    op->part_metrics = malloc((op->u.n * n + 1) * sizeof *op->part_metrics);
    if (!op->part_metrics) return false;
    for (size_t i = 0; i < op->u.n * n; i++) op->part_metrics[i] = ASSAY_NONE;
    for (size_t k = 0; k < op->u.n; k++) {
        for (assay_id m = 0; m < op->u.parts[k]->metrics.count; m++) {
            assay_id united = op->u.maps[k].metrics[m];
            if (united != ASSAY_NONE) op->part_metrics[k * n + united] = m;
        }
    }
    return true;
}

assay_status as_operation_settle(as_operation *op) {
    if (as_operation_map_metrics(op) && as_unite_attributes(&op->u) && as_unite_formulas(&op->u) &&
        as_workbench_init(&op->bench, &op->u))
        return ASSAY_OK;
    return as_fail_memory(op->error, NULL);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

size_t as_runs_of_point(const as_operation *op, size_t i) {
    size_t n = 1;
    while (i + n < op->runs.count && as_part_run_at(op, i + n)->point == as_part_run_at(op, i)->point) n++;
    return n;
}

size_t as_runs_of_part(const as_operation *op, size_t i) {
    const as_part_run *first = as_part_run_at(op, i);
    size_t n = 1;
    while (i + n < op->runs.count && as_part_run_at(op, i + n)->point == first->point &&
           as_part_run_at(op, i + n)->part == first->part)
        n++;
    return n;
}

assay_id as_add_result_run(as_operation *op, assay_id point, uint32_t repetition) {
    as_run run = AS_RUN_INIT;
    run.point = point == op->ds->n_points ? ASSAY_NONE : point;
    run.repetition = repetition;
    return as_add_run(op->ds, &run);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

as_value_type as_part_type(const as_operation *op, size_t part, assay_id metric) {
    assay_id own = as_part_metric(op, part, metric);
    as_value_type type = as_ds_metric_type(op->u.parts[part], own);
    bool is_scaled = as_dtype_is_integer(type.dtype) && as_union_factor(&op->u, part, own) != 1;
    return is_scaled ? as_value_type_of(AS_DTYPE_DOUBLE, 0) : type;
}

bool as_set_metric_type(as_operation *op, assay_id id, as_value_type type) {
    as_dataset *ds = op->ds;
    as_metric *metric = &AS_AT(as_metric, &ds->metrics, id);
    as_value_type before;
    if (metric->dtype != AS_NO_STR) {
        bool known =
            as_value_type_parse(as_ds_text(ds, metric->dtype), as_str_size(&ds->strings, metric->dtype), &before);
        if (known ? before.dtype == type.dtype && before.n_parts == type.n_parts : as_dtype_is_composite(type.dtype))
            return true;
    }
    metric->dtype = as_ds_intern_text(ds, as_dtype_name(type.dtype));
    return metric->dtype != AS_NO_STR;
}

/* Says which metrics `why` names this reason for. */
static void tell_left_out(as_operation *op, const size_t *why, size_t reason, const char *words) {
    as_vec names;
    as_vec_init(&names, 1, NULL);
    bool fine = true;
    for (assay_id m = 0; m < op->ds->metrics.count && fine; m++) {
        if (why[m] != reason) continue;
        const char *name = as_ds_text(op->ds, as_ds_metric(op->ds, m)->name);
        fine = (!names.count || as_vec_text(&names, ", ")) && as_vec_text(&names, name ? name : "?");
    }
    if (fine && names.count && as_vec_append(&names, "", 1))
        as_add_problem(op->ds, AS_NOTE, AS_NOWHERE, "metric-left-out", "%s: %s", words, (const char *)names.data);
    as_vec_free(&names);
}

bool as_leave_out_metrics(as_operation *op, const char *const *reasons, size_t n_reasons,
                          size_t (*judge)(as_operation *op, assay_id metric, bool user), bool user) {
    size_t n = op->ds->metrics.count;
    bool *drop = calloc(n + 1, sizeof *drop);
    size_t *why = calloc(n + 1, sizeof *why);
    bool fine = drop && why && as_operation_map_metrics(op);
    for (assay_id m = 0; fine && m < n; m++) {
        why[m] = judge(op, m, user);
        drop[m] = why[m] != 0;
    }
    for (size_t reason = 1; fine && reason < n_reasons; reason++) tell_left_out(op, why, reason, reasons[reason]);
    fine = fine && as_union_drop_metrics(&op->u, drop);
    free(drop);
    free(why);
    return fine;
}

bool as_is_derived_elsewhere(const as_operation *op, assay_id metric) {
    uint32_t part = AS_AT(uint32_t, &op->u.metric_origins, metric);
    const as_derived *derived = as_ds_derived(op->u.parts[part], as_part_metric(op, part, metric));
    const as_formula_operand *operands;
    size_t n = derived && derived->formula ? as_formula_operands(derived->formula, &operands) : 0;
    for (size_t i = 0; i < n; i++) {
        if (as_union_factor(&op->u, part, operands[i].metric) != 1) return true;
    }
    return false;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* What has values of each metric, in any run. */
static bool add_series(as_operation *op) {
    as_dataset *ds = op->ds;
    uint32_t *marks = op->bench.context_marks; /* the metric's number + 1 */
    size_t next = 0;
    for (size_t i = 0; i < ds->profiles.count; i = next) {
        assay_id metric = AS_AT(as_profile, &ds->profiles, i).metric;
        for (next = i; next < ds->profiles.count && AS_AT(as_profile, &ds->profiles, next).metric == metric; next++) {
            const as_profile *profile = &AS_AT(as_profile, &ds->profiles, next);
            for (uint32_t row = 0; row < profile->n_rows; row++) marks[profile->contexts[row]] = metric + 1;
        }
        for (assay_id context = 0; context < ds->contexts.count; context++) {
            as_series series = {.metric = metric, .context = context};
            if (marks[context] == metric + 1 && !as_vec_append(&ds->series, &series, 1)) return false;
        }
    }
    return true;
}

/* An operation on results of operations says only what was done last. */
static bool add_operation(as_dataset *ds, const char *what) {
    as_str key = as_ds_intern_text(ds, OPERATION_KEY);
    for (size_t i = 0; i < ds->attributes.count; i++) {
        as_attribute *attribute = &AS_AT(as_attribute, &ds->attributes, i);
        if (attribute->owner != AS_OWNER_DATASET || attribute->key != key) continue;
        size_t size = strlen(what);
        const char *copy = as_arena_copy(&ds->arena, what, size);
        if (copy) attribute->value = as_cell_text_n(copy, size);
        return copy != NULL;
    }
    return as_add_attribute(ds, AS_OWNER_DATASET, 0, OPERATION_KEY, as_cell_text(what));
}

/* A piece of a path. */
typedef struct span {
    const char *text;
    size_t size;
} span;

static span path_of(const as_dataset *part) {
    const char *path = as_ds_text(part, part->path);
    span s = {path ? path : "", path ? strlen(path) : 0};
    while (s.size > 1 && s.text[s.size - 1] == '/') s.size--; /* a directory */
    return s;
}

/* Without the way to it. */
static span name_of(span path) {
    const char *slash = path.size > 1 ? memrchr(path.text, '/', path.size) : NULL;
    size_t skip = slash ? (size_t)(slash + 1 - path.text) : 0;
    return (span){path.text + skip, path.size - skip};
}

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* Bytes of the directories that all paths begin with. */
static size_t common_way(const span *paths, size_t n) {
    size_t same = n ? (size_t)(name_of(paths[0]).text - paths[0].text) : 0;
    for (size_t k = 1; k < n; k++) {
        size_t slash = 0;
        for (size_t i = 0; i < same && i < paths[k].size && paths[k].text[i] == paths[0].text[i]; i++)
            if (paths[0].text[i] == '/') slash = i + 1;
        same = slash;
    }
    return same;
}

/* The names by which the parts are told apart, into spans (room for two of each): without the way to them, so that the
 * same files give the same result wherever they are; where two have the same name, with as much of the way as is not
 * the same for all. */
static void name_parts(const as_operation *op, span *spans) {
    size_t n = op->u.n;
    span *sorted = spans + n;
    bool is_unique = true;
    for (size_t k = 0; k < n; k++) spans[k] = path_of(op->u.parts[k]), sorted[k] = name_of(spans[k]);
    size_t same = common_way(spans, n);
    qsort(sorted, n, sizeof *sorted, compare_spans);
    for (size_t k = 1; k < n; k++) is_unique = is_unique && compare_spans(&sorted[k - 1], &sorted[k]) != 0;
    for (size_t k = 0; k < n; k++)
        spans[k] = is_unique ? name_of(spans[k]) : (span){spans[k].text + same, spans[k].size - same};
}

/* "diff old.cubex new.cubex" */
static bool join_words(const as_operation *op, const char *what, as_vec *out) {
    span *names = calloc(2 * op->u.n + 1, sizeof *names);
    bool fine = names && as_vec_text(out, what);
    if (fine) name_parts(op, names);
    for (size_t k = 0; fine && k < op->u.n; k++) {
        span name = names[k].size ? names[k] : (span){"?", 1};
        fine = as_vec_append(out, " ", 1) && as_vec_append(out, name.text, name.size);
    }
    free(names);
    return fine && as_vec_append(out, "", 1);
}

assay_status as_operation_finish(as_operation *op, const char *what, as_dataset **out) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool is_experiment = op->ds->n_points > 0; /* formats of experiments have no place for the words */
    bool fine = join_words(op, what, &text) && (is_experiment ? add_series(op) : add_operation(op->ds, text.data));
    if (fine) op->ds->path = as_ds_intern(op->ds, text.data, text.count - 1);
    fine = fine && op->ds->path != AS_NO_STR;
    as_vec_free(&text);
    if (!fine) return as_fail_memory(op->error, NULL);
    *out = op->ds;
    op->ds = NULL;
    return ASSAY_OK;
}

void as_operation_end(as_operation *op) {
    as_workbench_free(&op->bench);
    free(op->part_metrics);
    as_vec_free(&op->runs);
    as_union_free(&op->u);
    as_dataset_free(op->ds);
}
