#include "analysis/derived.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/derived_ahead.h"
#include "analysis/derived_private.h"

/* ---- what formulas ask for --------------------------------------------------------------------------------------- */

static const as_formula_operand *operand_of(const plan *p, uint32_t which) {
    const as_formula_operand *operands;
    as_formula_operands(p->now->derived->formula, &operands);
    return &operands[which];
}

static const double *fill(double *room, size_t n, double value) {
    for (size_t i = 0; i < n; i++) room[i] = value;
    return room;
}

static const double *get_metric(void *user, uint32_t which, size_t first, size_t n, double *room) {
    const plan *p = user;
    const as_formula_operand *operand = operand_of(p, which);
    const member *m = member_at(p, p->now->operands[which]);
    int flavour = operand_flavour(operand, p->flavour);
    if (m->is_void) return fill(room, n, 0);
    if (operand->reach == AS_REACH_ALL || p->of_whole) return fill(room, n, m->total);
    if (p->context == ASSAY_NONE) return m->sums[flavour] + first;
    if (operand->reach == AS_REACH_CONTEXT) return fill(room, n, m->sums[flavour][p->context - p->first]);
    return as_derived_row(m, flavour) + first;
}

static bool get_metric_at(void *user, uint32_t which, double context, double *out) {
    const plan *p = user;
    const member *m = member_at(p, p->now->operands[which]);
    *out = 0;
    if (!m->is_void && context > -1 && context < (double)p->n)
        *out = m->sums[operand_flavour(operand_of(p, which), p->flavour)][(size_t)context];
    return true;
}

static bool get_fact(void *user, uint32_t fact, size_t at, double index, as_formula_value *out) {
    const plan *p = user;
    as_fact_point point = {.metric = p->now->metric, .context = p->context, .location = ASSAY_NONE};
    point.exclusive = p->flavour == EXCLUSIVE;
    if (p->context == ASSAY_NONE)
        point.context = p->first + (assay_id)at;
    else
        point.location = p->columns[at];
    *out = as_facts_value(as_ds_facts(p->ds), fact, &point, index);
    return true;
}

static bool fact_is_same(void *user, uint32_t fact) {
    const plan *p = user;
    as_fact_reach reach = as_fact_depends_on(fact);
    return reach == AS_FACT_OF_METRIC || reach == (p->context == ASSAY_NONE ? AS_FACT_OF_LOCATION : AS_FACT_OF_CONTEXT);
}

static double get_fact_size(void *user, uint32_t fact) {
    const plan *p = user;
    return as_facts_size(as_ds_facts(p->ds), fact);
}

static bool note_result(plan *p, const member *m, as_run_result result) {
    if (result == AS_RUN_OK) return true;
    p->failed = m->derived;
    p->failure = result;
    return false;
}

bool as_derived_evaluate(plan *p, const member *m, int flavour, size_t n, double *out) {
    p->now = m;
    p->flavour = flavour;
    if (m->derived->sides == (flavour == INCLUSIVE ? AS_SIDES_EXCLUSIVE : AS_SIDES_INCLUSIVE)) {
        fill(out, n, NAN);
        return true;
    }
    return note_result(p, m, as_machine_values(m->machine, n, out));
}

bool as_derived_combine(plan *p, const member *m, as_formula_part part, const double *a, const double *b, size_t n,
                        double *out) {
    if (as_formula_has(m->derived->formula, part))
        return note_result(p, m, as_machine_combine(m->machine, part, a, b, n, out));
    for (size_t i = 0; i < n; i++) out[i] = part == AS_FORMULA_MINUS ? a[i] - b[i] : a[i] + b[i];
    return true;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static void free_plan(plan *p) {
    for (size_t i = 0; i < p->members.count; i++) {
        member *m = member_at(p, i);
        free(m->operands);
        free(m->sums[INCLUSIVE]);
        free(m->sums[EXCLUSIVE]);
        as_machine_free(m->machine);
    }
    as_vec_free(&p->members);
    as_budget_give(as_ds_budget(p->ds), p->taken);
}

static bool add_member(plan *p, as_map *numbers, assay_id metric) {
    if (as_map_get(numbers, metric) != AS_MAP_NONE) return true;
    member new = {
        .metric = metric, .derived = as_ds_derived(p->ds, metric), .is_void = as_ds_metric_is_void(p->ds, metric)};
    return as_vec_append(&p->members, &new, 1) && as_map_put(numbers, metric, (uint32_t)(p->members.count - 1));
}

static int by_order(const void *a, const void *b) {
    const member *left = a, *right = b;
    uint32_t x = left->derived ? left->derived->order : 0, y = right->derived ? right->derived->order : 0;
    if (x != y) return x < y ? -1 : 1;
    return (left->metric > right->metric) - (left->metric < right->metric);
}

static size_t operands_of(const member *m, const as_formula_operand **operands) {
    *operands = NULL;
    return m->derived && !m->is_void ? as_formula_operands(m->derived->formula, operands) : 0;
}

/* All metrics that the values of some are made of. */
static bool collect_members(plan *p, as_map *numbers, const assay_id *metrics, size_t n_metrics) {
    const as_formula_operand *operands;
    for (size_t i = 0; i < n_metrics; i++) {
        if (!add_member(p, numbers, metrics[i])) return false;
    }
    for (size_t i = 0; i < p->members.count; i++) {
        size_t n = operands_of(member_at(p, i), &operands);
        for (size_t k = 0; k < n; k++) {
            if (!add_member(p, numbers, operands[k].metric)) return false;
        }
    }
    qsort(p->members.data, p->members.count, sizeof(member), by_order);
    for (size_t i = 0; i < p->members.count; i++) {
        if (!as_map_put(numbers, member_at(p, i)->metric, (uint32_t)i)) return false;
    }
    for (size_t i = 0; i < p->members.count; i++) {
        member *m = member_at(p, i);
        size_t n = operands_of(m, &operands);
        m->operands = calloc(n + 1, sizeof *m->operands);
        if (!m->operands) return false;
        for (size_t k = 0; k < n; k++) m->operands[k] = as_map_get(numbers, operands[k].metric);
    }
    return true;
}

/* What m needs of its operands, after all is known that is needed of m. */
static void spread_needs(const plan *p, const member *m) {
    const as_formula_operand *operands;
    size_t n = operands_of(m, &operands);
    bool by_rows = m->needs_rows[INCLUSIVE] || m->needs_rows[EXCLUSIVE];
    bool is_post = m->derived && m->derived->kind == AS_DERIVED_POST;
    int own = m->derived && m->derived->kind == AS_DERIVED_PRE_EXCLUSIVE ? EXCLUSIVE : INCLUSIVE;
    for (size_t i = 0; i < n; i++) {
        member *operand = member_at(p, m->operands[i]);
        bool at_point = operands[i].reach == AS_REACH_POINT;
        if (!at_point || (is_post && m->needs_sums)) operand->needs_sums = true;
        if (!at_point) continue;
        if (!is_post && (m->needs_sums || by_rows)) operand->needs_rows[operand_flavour(&operands[i], own)] = true;
        for (int flavour = INCLUSIVE; is_post && flavour <= EXCLUSIVE; flavour++) {
            if (m->needs_rows[flavour]) operand->needs_rows[operand_flavour(&operands[i], flavour)] = true;
        }
    }
}

static bool prepare_member(plan *p, member *m) {
    as_formula_source source = {.user = p,
                                .metric = get_metric,
                                .metric_at = get_metric_at,
                                .fact = get_fact,
                                .fact_is_same = fact_is_same,
                                .fact_size = get_fact_size};
    uint64_t bytes = 2 * sizeof(double) * ((uint64_t)p->n + 1);
    if (m->is_void) return true;
    if (m->needs_sums && !as_budget_take(as_ds_budget(p->ds), bytes)) return false;
    if (m->needs_sums) p->taken += bytes;
    for (int i = INCLUSIVE; m->needs_sums && i <= EXCLUSIVE; i++) {
        m->sums[i] = calloc((size_t)p->n + 1, sizeof(double));
        if (!m->sums[i]) return false;
    }
    if (!m->derived) return true;
    m->machine = as_derived_machine(m->derived, &source);
    return m->machine != NULL;
}

/* Some formulas look beyond the contexts asked for: at the whole program, or at contexts they compute. */
static bool needs_all_contexts(const plan *p) {
    const as_formula_operand *operands;
    for (size_t i = 0; i < p->members.count; i++) {
        size_t n = operands_of(member_at(p, i), &operands);
        for (size_t k = 0; k < n; k++) {
            if (operands[k].reach == AS_REACH_ALL || operands[k].reach == AS_REACH_CALL) return true;
        }
    }
    return false;
}

static bool make_plan(plan *p, const assay_id *metrics, size_t n, assay_id root) {
    as_map numbers;
    as_map_init(&numbers, NULL);
    bool fine = collect_members(p, &numbers, metrics, n);
    for (size_t i = 0; fine && i < n; i++) {
        member *m = member_at(p, as_map_get(&numbers, metrics[i]));
        m->needs_sums = true;
        memcpy(m->needs_rows, p->wanted, sizeof m->needs_rows);
    }
    as_map_free(&numbers);
    if (!fine) return false;
    bool is_part = root != ASSAY_NONE && !needs_all_contexts(p);
    p->first = is_part ? root : 0;
    p->n = is_part ? as_ds_context(p->ds, root)->subtree : (uint32_t)AS_COUNT(p->ds, contexts);
    for (size_t i = p->members.count; i-- > 0;) spread_needs(p, member_at(p, i));
    for (size_t i = 0; fine && i < p->members.count; i++) fine = prepare_member(p, member_at(p, i));
    return fine;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Of a formula that is no sum: that of the operands' totals. */
static bool compute_total(plan *p, member *m) {
    p->of_whole = true;
    bool fine = as_derived_evaluate(p, m, INCLUSIVE, 1, &m->total);
    p->of_whole = false;
    m->has_sums = true;
    return fine;
}

static void set_total(const plan *p, member *m) {
    bool has_wholes = p->first == 0 && as_ds_has_wholes(p->ds);
    for (uint32_t i = 0; i < p->n; i += as_ds_context(p->ds, p->first + i)->subtree) {
        const as_context *root = as_ds_context(p->ds, p->first + i);
        bool is_part = !has_wholes || !(root->is_aside || as_context_is_section(p->ds, p->first + i));
        if (root->role != AS_ROLE_PLACELESS && is_part) m->total += m->sums[INCLUSIVE][i];
    }
    m->has_sums = true;
}

static assay_status sum_stored(const plan *p, member *m, as_node_list *list, assay_error *error) {
    assay_id root = p->n == AS_COUNT(p->ds, contexts) ? ASSAY_NONE : p->first;
    AS_TRY(as_nodes_find_at(p->ds, p->run, m->metric, root, p->locations, list, error));
    for (size_t i = 0; i < as_node_count(list); i++) {
        const as_node *node = as_node_at(list, i);
        uint32_t at = node->context - p->first;
        m->sums[INCLUSIVE][at] = as_number_real(node->inclusive);
        m->sums[EXCLUSIVE][at] = as_number_real(node->has_exclusive ? node->exclusive : node->inclusive);
    }
    set_total(p, m);
    return ASSAY_OK;
}

static bool sum_post(plan *p, member *m) {
    p->context = ASSAY_NONE;
    if (!as_derived_evaluate(p, m, INCLUSIVE, p->n, m->sums[INCLUSIVE]) ||
        !as_derived_evaluate(p, m, EXCLUSIVE, p->n, m->sums[EXCLUSIVE]))
        return false;
    if (as_formula_can_be_empty(m->derived->formula)) return compute_total(p, m);
    set_total(p, m);
    return true;
}

/* The other flavour from that of the formula, along the tree: children's values to that of their parent, or off it. */
static bool sum_along_tree(plan *p, member *m) {
    bool adds = m->derived->kind == AS_DERIVED_PRE_EXCLUSIVE;
    double *own = m->sums[adds ? EXCLUSIVE : INCLUSIVE], *other = m->sums[adds ? INCLUSIVE : EXCLUSIVE];
    const double *below = adds ? other : own; /* what a child hands over */
    p->context = ASSAY_NONE;
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t end = i + as_ds_context(p->ds, p->first + i)->subtree;
        double sum = adds ? own[i] : 0;
        bool has_sum = adds;
        for (uint32_t child = i + 1; child < end; child += as_ds_context(p->ds, p->first + child)->subtree) {
            if (as_ds_context(p->ds, p->first + child)->is_aside) continue;
            if (!has_sum)
                sum = below[child];
            else if (!as_derived_combine(p, m, AS_FORMULA_PLUS, &sum, &below[child], 1, &sum))
                return false;
            has_sum = true;
        }
        other[i] = adds ? sum : own[i];
        if (!adds && has_sum && !as_derived_combine(p, m, AS_FORMULA_MINUS, &own[i], &sum, 1, &other[i])) return false;
    }
    set_total(p, m);
    return true;
}

/* Whether all sums are there that a value, or a row, is made with. */
static bool is_ready(const plan *p, const member *m, bool by_rows) {
    const as_formula_operand *operands;
    size_t n = operands_of(m, &operands);
    for (size_t i = 0; i < n; i++) {
        const member *operand = member_at(p, m->operands[i]);
        bool row = by_rows && operands[i].reach == AS_REACH_POINT;
        if (!operand->is_void && !(row ? operand->is_ready : operand->has_sums)) return false;
    }
    return true;
}

/* Sums that can be made from others. Sets is_ready; *left: how many can be made from rows now. */
static bool sum_what_is_ready(plan *p, size_t *left) {
    *left = 0;
    for (size_t i = 0; i < p->members.count; i++) {
        member *m = member_at(p, i);
        if (m->is_void || !m->derived) {
            m->is_ready = true;
            continue;
        }
        m->is_ready = is_ready(p, m, true);
        if (!m->needs_sums || m->has_sums) continue;
        if (m->derived->kind != AS_DERIVED_POST)
            *left += m->is_ready;
        else if (is_ready(p, m, false) && !sum_post(p, m))
            return false;
    }
    return true;
}

/* As each formula only needs those before it, every round gets further. */
static assay_status sum_all(plan *p, as_node_list *list, assay_error *error) {
    size_t left;
    for (size_t i = 0; i < p->members.count; i++) {
        member *m = member_at(p, i);
        if (!m->derived && m->needs_sums && !m->is_void) AS_TRY(sum_stored(p, m, list, error));
    }
    while (sum_what_is_ready(p, &left) && left) {
        AS_TRY(as_derived_walk(p, error));
        for (size_t i = 0; !p->failed && i < p->members.count; i++) {
            member *m = member_at(p, i);
            bool is_pre = m->derived && m->derived->kind != AS_DERIVED_POST;
            if (is_pre && m->is_ready && m->needs_sums && !m->has_sums && !m->is_void && !sum_along_tree(p, m)) break;
        }
        if (p->failed) break;
    }
    return ASSAY_OK;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* What becomes of the sums of a metric. */
typedef struct answer {
    const as_dataset *ds;
    assay_id root;     /* of what is asked for */
    assay_id first;    /* the context that the sums begin with */
    bool can_be_empty; /* what is not a number is not there, and 0 is */
    bool has_exclusive;
    as_node_list *list;
    bool no_memory;
} answer;

static answer answer_of(const as_dataset *ds, const as_derived *derived, assay_id root, as_node_list *list) {
    return (answer){.ds = ds,
                    .root = root,
                    .can_be_empty = as_formula_can_be_empty(derived->formula),
                    .has_exclusive = derived->has_exclusive,
                    .list = list};
}

static bool has_node(const answer *a, double inclusive, double exclusive) {
    if (a->can_be_empty) return !isnan(inclusive) || !isnan(exclusive);
    return inclusive != 0 || exclusive != 0;
}

static void collect_nodes(void *user, const double *inclusive, const double *exclusive) {
    answer *a = user;
    assay_id context = a->root == ASSAY_NONE ? 0 : a->root;
    assay_id end =
        a->root == ASSAY_NONE ? (assay_id)AS_COUNT(a->ds, contexts) : context + as_ds_context(a->ds, a->root)->subtree;
    for (; context < end && !a->no_memory; context++) {
        uint32_t i = context - a->first;
        if (!has_node(a, inclusive[i], exclusive[i])) continue;
        as_node *node = as_vec_push(&a->list->nodes);
        a->no_memory = !node;
        if (!node) continue;
        *node = (as_node){.context = context,
                          .has_own = a->can_be_empty,
                          .has_exclusive = a->has_exclusive,
                          .inclusive = {.kind = AS_REAL, .r = inclusive[i]},
                          .exclusive = {.kind = AS_REAL, .r = exclusive[i]}};
    }
}

static assay_status compute(plan *p, const assay_id *metrics, size_t n, assay_id root, as_node_list *list,
                            assay_error *error) {
    if (!make_plan(p, metrics, n, root)) return as_fail_memory(error, NULL);
    assay_status status = sum_all(p, list, error);
    list->nodes.count = list->parts.count = list->n_parts = 0;
    if (status == ASSAY_OK && p->failed && p->failure == AS_RUN_NO_MEMORY) return as_fail_memory(error, NULL);
    return status;
}

/* What could not be computed becomes a problem of the dataset. */
static bool has_failed(const plan *p, const member *m) {
    if (!p->failed) return false;
    as_ds_derived_failed(p->ds, p->failed, as_run_result_text(p->failure));
    if (p->failed != m->derived) as_ds_derived_failed(p->ds, m->derived, "a metric it needs could not be computed");
    return true;
}

static assay_status compute_one(plan *p, assay_id metric, assay_id root, as_node_list *list, assay_error *error) {
    AS_TRY(compute(p, &metric, 1, root, list, error));
    const member *m = member_at(p, p->members.count - 1); /* all others come before it */
    if (m->is_void || has_failed(p, m)) return ASSAY_OK;
    answer a = answer_of(p->ds, m->derived, root, list);
    a.first = p->first;
    collect_nodes(&a, m->sums[INCLUSIVE], m->sums[EXCLUSIVE]);
    return a.no_memory ? as_fail_memory(error, NULL) : ASSAY_OK;
}

/* Several metrics at once (ascending), of all contexts and locations, into what is kept. Where one cannot be had none
 * is. */
static void compute_several(plan *p, as_ahead *ahead, const assay_id *metrics, size_t n, as_node_list *list) {
    assay_error ignored;
    if (compute(p, metrics, n, ASSAY_NONE, list, &ignored) != ASSAY_OK || p->failed) {
        as_ahead_stop(ahead);
        return;
    }
    as_map numbers;
    as_map_init(&numbers, NULL);
    bool fine = true;
    for (size_t i = 0; fine && i < p->members.count; i++)
        fine = as_map_put(&numbers, member_at(p, i)->metric, (uint32_t)i);
    for (size_t i = 0; fine && i < n; i++) {
        member *m = member_at(p, as_map_get(&numbers, metrics[i]));
        as_ahead_keep(ahead, p->run, m->metric, i == 0, m->sums[INCLUSIVE], m->sums[EXCLUSIVE]);
        m->sums[INCLUSIVE] = m->sums[EXCLUSIVE] = NULL;
    }
    as_map_free(&numbers);
}

/* Whether the answer was there, or could be computed with that of other metrics. */
static bool find_ahead(const as_dataset *ds, assay_id run, assay_id metric, as_node_list *list, bool *no_memory) {
    answer a = answer_of(ds, as_ds_derived(ds, metric), ASSAY_NONE, list);
    as_ahead *ahead = as_ahead_of(ds);
    assay_id metrics[AS_MOST_AHEAD];
    bool is_there = ahead && as_ahead_use(ahead, run, metric, collect_nodes, &a);
    size_t n = ahead && !is_there ? as_ahead_choose(ahead, ds, run, metric, metrics) : 0;
    if (n > 1) {
        plan p = {.ds = ds, .run = run, .context = ASSAY_NONE};
        as_vec_init(&p.members, sizeof(member), NULL);
        compute_several(&p, ahead, metrics, n, list);
        free_plan(&p);
        is_there = as_ahead_use(ahead, run, metric, collect_nodes, &a);
    }
    *no_memory = a.no_memory;
    return is_there;
}

assay_status as_derived_nodes(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool *locations,
                              as_node_list *list, assay_error *error) {
    bool no_memory;
    list->nodes.count = list->parts.count = list->n_parts = 0;
    if (!as_ds_prepare_formulas(ds)) return as_fail_memory(error, NULL);
    if (!as_derived_has_values(as_ds_derived(ds, metric))) return ASSAY_OK;
    if (root == ASSAY_NONE && !locations && !as_ds_metric_is_void(ds, metric) &&
        find_ahead(ds, run, metric, list, &no_memory))
        return no_memory ? as_fail_memory(error, NULL) : ASSAY_OK;
    plan p = {.ds = ds, .run = run, .locations = locations, .context = ASSAY_NONE};
    as_vec_init(&p.members, sizeof(member), NULL);
    assay_status status = compute_one(&p, metric, root, list, error);
    free_plan(&p);
    return status;
}

static assay_status compute_rows(plan *p, assay_id metric, bool (*visit)(void *user, const as_computed_row *row),
                                 assay_error *error) {
    as_node_list list;
    as_node_list_init_of(&list, p->ds);
    assay_status status = compute(p, &metric, 1, p->root, &list, error);
    as_node_list_free(&list);
    if (status != ASSAY_OK) return status;
    const member *m = member_at(p, p->members.count - 1);
    if (m->is_void || has_failed(p, m)) return ASSAY_OK;
    p->visit = visit;
    AS_TRY(as_derived_walk(p, error));
    if (p->failed && p->failure == AS_RUN_NO_MEMORY) return as_fail_memory(error, NULL);
    has_failed(p, m);
    return ASSAY_OK;
}

assay_status as_computed_rows(const as_dataset *ds, assay_id run, assay_id metric, assay_id root, const bool wanted[2],
                              bool (*visit)(void *user, const as_computed_row *row), void *user, assay_error *error) {
    plan p = {.ds = ds, .run = run, .context = ASSAY_NONE, .root = root, .user = user};
    const as_derived *derived = as_ds_derived(ds, metric);
    memcpy(p.wanted, wanted, sizeof p.wanted);
    if (!as_ds_prepare_formulas(ds)) return as_fail_memory(error, NULL);
    if (derived && !as_derived_has_values(derived)) return ASSAY_OK;
    as_vec_init(&p.members, sizeof(member), NULL);
    assay_status status = compute_rows(&p, metric, visit, error);
    free_plan(&p);
    return status;
}
