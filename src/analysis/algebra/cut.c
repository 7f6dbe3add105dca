/* Parts of a call tree: subtrees as trees of their own, and subtrees folded into what calls them. */
#include <stdlib.h>

#include "analysis/algebra/algebra.h"
#include "analysis/algebra/convert.h"
#include "analysis/algebra/cutting.h"
#include "analysis/algebra/fold.h"
#include "analysis/algebra/sparse.h"
#include "core/words.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_in_tree(const as_dataset *part, const char *name) {
    as_str known = as_find(&part->strings, name, strlen(name));
    for (assay_id id = 0; known != AS_NO_STR && id < part->contexts.count; id++) {
        if (as_ds_context(part, id)->name == known) return true;
    }
    return false;
}

static assay_status check_names(const as_dataset *part, const char *const *names, size_t n, assay_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (is_in_tree(part, names[i])) continue;
        as_nearest nearest = as_nearest_start(names[i], strlen(names[i]));
        for (assay_id id = 0; id < part->contexts.count; id++)
            as_nearest_offer(&nearest, as_ds_text(part, as_ds_context(part, id)->name));
        return as_fail(error, ASSAY_E_USAGE, as_place_file(as_ds_text(part, part->path)), "unknown-region",
                       "there is no region '%s' in the call tree%s%s%s", names[i],
                       nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
                       nearest.word ? "'?" : "");
    }
    return ASSAY_OK;
}

static assay_status check(const as_dataset *part, const as_cut_names *names, assay_error *error) {
    if (!names->n_roots && !names->n_prunes)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "nothing to cut; name regions with --root or --prune");
    AS_TRY(check_names(part, names->roots, names->n_roots, error));
    AS_TRY(check_names(part, names->prunes, names->n_prunes, error));
    for (size_t i = 0; i < names->n_roots; i++) {
        for (size_t k = 0; k < names->n_prunes; k++) {
            if (strcmp(names->roots[i], names->prunes[k]) == 0)
                return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                               "'%s' cannot be both a root and pruned; give one of the two", names->roots[i]);
        }
    }
    return ASSAY_OK;
}

/* Marks, for each string of the part, whether it is one of the names. */
static bool *mark_names(const as_dataset *part, const char *const *names, size_t n) {
    bool *marks = calloc(part->strings.entries.count + 1, sizeof *marks);
    for (size_t i = 0; marks && i < n; i++) marks[as_find(&part->strings, names[i], strlen(names[i]))] = true;
    return marks;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static bool keep_context(as_cutting *c, as_tree *tree, assay_id id, assay_id parent) {
    const as_context *from = as_ds_context(c->part, id);
    uint32_t origin = 0;
    bool fine = true;
    as_context context = AS_CONTEXT_INIT;
    context.name = as_ds_carry(c->op->ds, c->part, from->name, &fine);
    if (from->region != ASSAY_NONE) context.region = c->op->u.maps[0].regions[from->region];
    context.line = from->line;
    context.role = from->role;
    context.is_inlined = from->is_inlined;
    /* A tree that is asked for is a whole */
    context.is_aside = from->is_aside && (parent != ASSAY_NONE || from->parent == ASSAY_NONE);
    context.parent = parent;
    /* Contexts come in pre-order: the tree's ids are the final ones */
    c->into[id] = c->op->u.maps[0].contexts[id] = fine ? as_tree_add(tree, &context) : ASSAY_NONE;
    return c->into[id] != ASSAY_NONE && as_vec_append(&c->op->u.context_origins, &origin, 1);
}

/* Whether a context is a root, below what is kept, or outside; and whether it is folded into its caller. */
static bool sort_contexts(as_cutting *c, as_tree *tree, bool has_roots, const bool *roots, const bool *prunes) {
    size_t n = c->part->contexts.count, root_end = 0, pruned_end = 0;
    for (assay_id id = 0; id < n; id++) {
        const as_context *context = as_ds_context(c->part, id);
        bool has_name = context->name != AS_NO_STR;
        c->into[id] = c->op->u.maps[0].contexts[id] = ASSAY_NONE;
        if (id < pruned_end) { /* goes where its caller goes */
            if (!context->is_aside) c->into[id] = c->into[context->parent];
            continue;
        }
        bool is_root = has_roots ? id >= root_end && has_name && roots[context->name] : context->parent == ASSAY_NONE;
        if (is_root) root_end = id + context->subtree;
        if (id >= root_end) continue;
        if (!is_root && has_name && prunes[context->name]) {
            pruned_end = id + context->subtree;
            c->is_pruned = true;
            if (context->is_aside) continue; /* of which its caller has nothing */
            c->into[id] = c->into[context->parent];
            if (!as_add_folds(c->part, c->into, id, &c->folds)) return false;
        } else if (!keep_context(c, tree, id, is_root ? ASSAY_NONE : c->into[context->parent])) {
            return false;
        }
    }
    return true;
}

static bool mark_callpaths(as_cutting *c, as_tree *tree) {
    assay_id *callpaths = NULL;
    size_t n = 0;
    bool fine = as_ds_callpaths(c->part, &callpaths, &n);
    for (size_t i = 0; i < n; i++) {
        assay_id kept = c->op->u.maps[0].contexts[callpaths[i]];
        if (kept != ASSAY_NONE) as_tree_mark_callpath(tree, kept);
    }
    free(callpaths);
    return fine;
}

static bool cut_tree(as_cutting *c, const as_cut_names *names) {
    size_t n = c->part->contexts.count;
    const assay_id *new_ids;
    as_tree tree;
    as_tree_init(&tree, c->op->ds);
    c->op->u.maps[0].contexts = malloc((n + 1) * sizeof(assay_id));
    bool *roots = mark_names(c->part, names->roots, names->n_roots),
         *prunes = mark_names(c->part, names->prunes, names->n_prunes);
    bool fine = c->op->u.maps[0].contexts && roots && prunes &&
                sort_contexts(c, &tree, names->n_roots > 0, roots, prunes) && mark_callpaths(c, &tree) &&
                as_tree_finish(&tree, &new_ids);
    free(roots);
    free(prunes);
    as_tree_free(&tree);
    return fine;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What is folded into a caller is part of an inclusive value already. Values of no kind are taken as they stand, and
 * stored ones have their own way (fold.h). */
static bool is_added(const as_metric *metric, as_dtype dtype) {
    return !metric->is_stored && (metric->kind == AS_KIND_EXCLUSIVE || as_dtype_is_extreme(dtype));
}

static bool takes_part(const as_cutting *c, assay_id context, bool adds) {
    return adds ? c->into[context] != ASSAY_NONE : c->op->u.maps[0].contexts[context] != ASSAY_NONE;
}

/* One row onto another, n values each. Returns how many had to be limited. */
static uint64_t add_row(as_value_type type, char *to, const char *from, size_t n) {
    uint64_t n_limited = 0;
    for (size_t i = 0; i < n; i++, to += type.size, from += type.size) {
        if (as_dtype_is_integer(type.dtype)) {
            as_number a = as_part_get(type, to, 0), b = as_part_get(type, from, 0);
            __int128 sum = a.kind == AS_UINT ? (__int128)a.u : a.i;
            n_limited += as_integer_put(type.dtype, sum + (b.kind == AS_UINT ? (__int128)b.u : b.i), to);
            continue;
        }
        if (type.dtype == AS_DTYPE_TAU_ATOMIC) {
            int64_t count = as_part_get(type, to, 0).i + as_part_get(type, from, 0).i;
            n_limited += as_integer_put(AS_DTYPE_UINT32, count, to);
        }
        for (uint32_t part = type.dtype == AS_DTYPE_TAU_ATOMIC; part < type.n_parts; part++) {
            double sum = as_part_combine(as_part_rule_of(type.dtype, part), as_part_real(type, to, part),
                                         as_part_real(type, from, part));
            memcpy(to + type.size - (type.n_parts - part) * sizeof sum, &sum, sizeof sum);
        }
    }
    return n_limited;
}

/* The contexts of the result that get a row, and for each of them its number, from 1, in the marks. */
static bool list_rows(as_cutting *c, const as_profile *view, bool adds, as_alignment *out) {
    uint32_t *marks = c->op->bench.context_marks;
    out->n_rows = 0;
    for (uint32_t i = 0; i < view->n_rows; i++) {
        if (!takes_part(c, view->contexts[i], adds)) continue;
        uint32_t *mark = &marks[c->into[view->contexts[i]]];
        out->n_rows += !*mark;
        *mark = 1;
    }
    out->contexts = as_arena_array(&c->op->ds->arena, out->n_rows, sizeof *out->contexts);
    for (assay_id id = 0, row = 0; out->contexts && row < out->n_rows; id++) {
        if (!marks[id]) continue;
        out->contexts[row++] = id;
        marks[id] = row;
    }
    return out->contexts != NULL;
}

/* Copies rows, and adds those that come behind another of the same context. */
static uint64_t fill_rows(as_cutting *c, const as_operand *operand, bool adds, const as_alignment *alignment,
                          char *values, bool *filled, void *room) {
    const as_profile *view = &operand->view;
    size_t row_size = (size_t)alignment->n_columns * view->type.size;
    uint64_t n_limited = 0;
    for (uint32_t i = 0; i < view->n_rows; i++) {
        if (!takes_part(c, view->contexts[i], adds)) continue;
        uint32_t row = c->op->bench.context_marks[c->into[view->contexts[i]]] - 1;
        const char *from = as_operand_gather(operand, alignment, i, room);
        if (!filled[row])
            memcpy(values + row * row_size, from, row_size);
        else if (view->type.dtype == AS_DTYPE_OPAQUE)
            c->n_opaque++;
        else
            n_limited += add_row(view->type, values + row * row_size, from, alignment->n_columns);
        filled[row] = true;
    }
    return n_limited;
}

static bool cut_rows(as_cutting *c, as_operand *operand, assay_id metric, assay_id run, bool adds,
                     uint64_t *n_limited) {
    as_dataset *ds = c->op->ds;
    as_profile *view = &operand->view;
    as_alignment alignment = {0};
    if (!as_align_columns(&c->op->bench, operand, 1, &alignment) || !list_rows(c, view, adds, &alignment)) return false;
    size_t row_size = (size_t)alignment.n_columns * view->type.size, size;
    if (!as_mul_size(alignment.n_rows, row_size, &size)) return false;
    as_vec *holder;
    char *values = as_result_room(ds, size, &holder), *room = malloc(row_size + 1);
    bool *filled = calloc((size_t)alignment.n_rows + 1, sizeof *filled), fine = values && room && filled;
    if (fine) *n_limited += fill_rows(c, operand, adds, &alignment, values, filled, room);
    for (uint32_t i = 0; i < alignment.n_rows; i++) c->op->bench.context_marks[alignment.contexts[i]] = 0;
    free(room);
    free(filled);
    as_profile profile = {.metric = metric,
                          .run = run,
                          .type = view->type,
                          .n_rows = alignment.n_rows,
                          .n_columns = alignment.n_columns,
                          .columns = alignment.columns,
                          .below_zero = view->below_zero,
                          .contexts = alignment.contexts,
                          .values = values};
    return fine && (alignment.n_rows == 0 || as_add_profile(ds, &profile));
}

/* Sums of integers are made in 8 bytes; all runs of the metric, profiles from `first` on, go back to their type where
 * it holds them all. */
static bool narrow(as_dataset *ds, size_t first, as_value_type type) {
    as_integer_range range = as_integer_range_of(type.dtype);
    for (size_t i = first; i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        for (uint64_t k = 0; k < as_profile_values(profile); k++) {
            as_number number = as_part_get(profile->type, profile->values + k * 8, 0);
            if (number.kind == AS_UINT || number.i < range.low || number.i > range.high) return false;
        }
    }
    for (size_t i = first; i < ds->profiles.count; i++) {
        as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        char *values = (char *)(uintptr_t)profile->values; /* ours, made above */
        as_values_convert(profile->type.dtype, values, as_profile_values(profile), false, type.dtype, values);
        profile->type = type;
    }
    return true;
}

static assay_status cut_metric(as_cutting *c, assay_id metric) {
    as_operation *op = c->op;
    as_metric_kind kind = as_ds_metric(op->ds, metric)->kind;
    if (kind == AS_KIND_DERIVED) return ASSAY_OK;
    assay_id own = as_part_metric(op, 0, metric);
    as_value_type type = as_ds_metric_type(c->part, own), wide = type;
    bool adds = c->is_pruned && is_added(as_ds_metric(op->ds, metric), type.dtype),
         sums = adds && as_dtype_is_integer(type.dtype);
    size_t first = op->ds->profiles.count;
    uint64_t n_limited = 0;
    if (c->keeps_blocks && as_cutting_has_blocks(c, own)) {
        bool is_fine = as_cutting_move_blocks(c, metric, own, adds) && as_set_metric_type(op, metric, type);
        return is_fine ? ASSAY_OK : as_fail_memory(op->error, NULL);
    }
    if (sums) wide = as_value_type_of(as_dtype_is_unsigned(type.dtype) ? AS_DTYPE_UINT64 : AS_DTYPE_INT64, 0);
    for (assay_id run = 0; run < op->runs.count; run++) {
        as_operand operand;
        if (c->is_pruned && as_has_folds(op, metric)) {
            AS_TRY(as_fold_values(op, metric, run, &c->folds));
            continue;
        }
        as_sparse_term term = {as_part_run_at(op, run), 1};
        if (!adds && as_is_sparse_operation(op, metric, &term, 1)) {
            AS_TRY(as_combine_sparse(op, metric, run, AS_SPARSE_SUM, &term, 1));
            continue;
        }
        assay_status status =
            as_operand_open(&op->u, as_part_run_at(op, run), own, kind, wide.dtype, &operand, op->error);
        bool fine = status != ASSAY_OK || ((!sums || as_operand_convert(&operand, wide)) &&
                                           cut_rows(c, &operand, metric, run, adds, &n_limited));
        as_operand_close(&operand);
        if (status != ASSAY_OK) return status;
        if (!fine) return as_fail_memory(op->error, NULL);
    }
    if (sums && wide.dtype != type.dtype && !narrow(op->ds, first, type)) type = wide;
    as_tell_limits(op->ds, metric, n_limited, as_dtype_name(type.dtype));
    return as_set_metric_type(op, metric, type) ? ASSAY_OK : as_fail_memory(op->error, NULL);
}

/* ---- the operation ----------------------------------------------------------------------------------------------- */

/* Runs stay what they are, in the order of their points. */
static bool copy_runs(as_cutting *c) {
    bool fine = true;
    for (size_t i = 0; i < c->op->runs.count && fine; i++) {
        const as_part_run *from = as_part_run_at(c->op, i);
        as_run run = from->run == ASSAY_NONE ? AS_RUN_INIT : *as_ds_run(c->part, from->run);
        run.source_id = as_ds_carry(c->op->ds, c->part, run.source_id, &fine);
        run.source = as_ds_carry(c->op->ds, c->part, run.source, &fine);
        run.point = from->own_point == ASSAY_NONE ? ASSAY_NONE : from->point;
        fine = fine && as_add_run(c->op->ds, &run) != ASSAY_NONE;
    }
    return fine;
}

assay_status as_cutting_fill(as_cutting *c) {
    as_operation *op = c->op;
    if (!copy_runs(c)) return as_fail_memory(op->error, NULL);
    AS_TRY(as_operation_settle(op));
    for (assay_id m = 0; m < op->ds->metrics.count; m++) AS_TRY(cut_metric(c, m));
    if (c->n_opaque)
        as_add_problem(op->ds, AS_WARNING, AS_NOWHERE, "values-left-out",
                       "%llu rows of values that have no sum were left out with what was pruned",
                       (unsigned long long)c->n_opaque);
    return ASSAY_OK;
}

/* "cut --root solve --prune MPI_Isend" */
static bool join_names(const as_cut_names *names, as_vec *out) {
    bool fine = as_vec_text(out, "cut");
    for (size_t i = 0; i < names->n_roots && fine; i++)
        fine = as_vec_text(out, " --root ") && as_vec_text(out, names->roots[i]);
    for (size_t i = 0; i < names->n_prunes && fine; i++)
        fine = as_vec_text(out, " --prune ") && as_vec_text(out, names->prunes[i]);
    return fine && as_vec_append(out, "", 1);
}

assay_status as_cut(const as_dataset *part, const as_cut_names *names, as_dataset **out, assay_error *error) {
    AS_TRY(check(part, names, error));
    assay_id *into = malloc((part->contexts.count + 1) * sizeof *into);
    if (!into) return as_fail_memory(error, NULL);
    as_operation op;
    as_cutting c = {.op = &op, .part = part, .into = into};
    as_vec what;
    as_vec_init(&what, 1, NULL);
    as_vec_init(&c.folds, sizeof(as_fold), NULL);
    assay_status status = as_operation_begin_one(&op, &part, error);
    if (status == ASSAY_OK && !join_names(names, &what)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK && !cut_tree(&c, names)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_cutting_fill(&c);
    if (status == ASSAY_OK) status = as_operation_finish(&op, what.data, out);
    as_vec_free(&what);
    as_vec_free(&c.folds);
    free(into);
    as_operation_end(&op);
    return status;
}
