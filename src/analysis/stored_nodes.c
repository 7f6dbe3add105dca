#include "analysis/stored_nodes.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "dataset/sparse.h"

enum { CONTEXTS_AT_ONCE = 512, CACHE_LINE = 64 };

typedef struct sums {
    const as_profile *profiles[2]; /* with the same columns; those of one context lie side by side in the files */
    int n_profiles;
    assay_id first; /* contexts first … first + n - 1 */
    uint32_t n;
    const assay_id *order; /* of the rows that are read, n_rows of them; NULL: as they are numbered */
    size_t n_rows;
    uint8_t *lane_of; /* of each column, AS_NO_LANE: it is not wanted */
    uint32_t
        n_lanes; /* that are kept of each context until its sum is known: more than one only where columns are read */
    double *values[2];  /* n_lanes of each context */
    bool *has[2];       /* of each context */
    assay_status *ends; /* of each piece of work */
} sums;

/* Which lane each column adds to, counted among those that are wanted. Returns how many are. */
static uint32_t deal_lanes(const as_profile *profile, const bool *wanted, uint8_t *lane_of) {
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < profile->n_columns; i++) {
        bool is_wanted = !wanted || (profile->columns && wanted[profile->columns[i]]);
        lane_of[i] = is_wanted ? 0 : AS_NO_LANE;
        n += is_wanted;
    }
    for (uint32_t i = 0; i < profile->n_columns; i++) {
        if (lane_of[i] == AS_NO_LANE) continue;
        lane_of[i] = at < n - n % AS_ROW_LANES ? (uint8_t)(at % AS_ROW_LANES) : 0;
        at++;
    }
    return n;
}

/* ---- row by row -------------------------------------------------------------------------------------------------- */

static void add_row(const sums *s, int which, uint32_t at, const as_sparse_line *line) {
    double lanes[AS_ROW_LANES] = {0};
    bool has = false;
    for (uint32_t i = 0; i < line->n; i++) {
        uint8_t lane = s->lane_of[line->at[i]];
        if (lane == AS_NO_LANE) continue;
        lanes[lane] += line->values[i];
        has = true;
    }
    s->values[which][at] = as_lanes_sum(lanes);
    s->has[which][at] = has;
}

/* Some contexts, as far as the source can add up their rows itself. Returns how many that are. */
static uint32_t sum_plain(const sums *s, const as_row_list *rows) {
    const as_profile_source *source = s->profiles[0]->source;
    as_row_sums out = {s->lane_of, s->first, {s->values[0], s->values[1]}, {s->has[0], s->has[1]}};
    const as_profile_source *other = s->n_profiles > 1 ? s->profiles[1]->source : NULL;
    return source->sum_rows ? source->sum_rows(source, other, rows, &out) : 0;
}

static assay_status sum_context(const sums *s, assay_id context, as_sparse_line *line, assay_error *error) {
    for (int i = 0; i < s->n_profiles && context != ASSAY_NONE; i++) {
        const as_profile *profile = s->profiles[i];
        AS_TRY(profile->source->read_row(profile->source, profile, context, line, error));
        add_row(s, i, context - s->first, line);
    }
    return ASSAY_OK;
}

static assay_status sum_piece(const sums *s, size_t piece, assay_error *error) {
    assay_id contexts[CONTEXTS_AT_ONCE];
    size_t first = piece * CONTEXTS_AT_ONCE;
    uint32_t n = s->n_rows - first < CONTEXTS_AT_ONCE ? (uint32_t)(s->n_rows - first) : CONTEXTS_AT_ONCE;
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (uint32_t i = 0; i < n; i++) contexts[i] = s->order ? s->order[first + i] : s->first + (assay_id)(first + i);
    for (uint32_t i = 0; i < n && status == ASSAY_OK; i++) {
        i += sum_plain(s, &(as_row_list){contexts + i, n - i, s->order ? first + i : SIZE_MAX});
        if (i < n) status = sum_context(s, contexts[i], &line, error);
    }
    as_sparse_line_free(&line);
    return status;
}

static void sum_one_piece(void *user, size_t piece) {
    const sums *s = user;
    assay_error ignored;
    s->ends[piece] = sum_piece(s, piece, &ignored);
}

/* All contexts are taken as they lie in the source. */
static assay_status sum_rows(const as_dataset *ds, sums *s, assay_error *error) {
    const as_profile_source *source = s->profiles[0]->source;
    if (s->n == AS_COUNT(ds, contexts)) s->order = source->order;
    s->n_rows = s->order ? source->n_order : s->n;
    size_t n_pieces = (s->n_rows + CONTEXTS_AT_ONCE - 1) / CONTEXTS_AT_ONCE;
    s->ends = calloc(n_pieces + 1, sizeof *s->ends);
    if (!s->ends) return as_fail_memory(error, NULL);
    as_parallel(n_pieces, 0, sum_one_piece, s);
    for (size_t i = 0; i < n_pieces; i++) {
        if (s->ends[i] != ASSAY_OK) AS_TRY(sum_piece(s, i, error)); /* once more, to say why */
    }
    return ASSAY_OK;
}

/* ---- column by column -------------------------------------------------------------------------------------------- */

static void add_column(const sums *s, int which, uint32_t column, const as_sparse_line *line) {
    for (uint32_t i = 0; i < line->n; i++) {
        uint32_t at = line->at[i] - s->first;
        if (at >= s->n) continue;
        s->values[which][(size_t)at * s->n_lanes + s->lane_of[column]] += line->values[i];
        s->has[which][at] = true;
    }
}

static assay_status sum_columns(const sums *s, int which, assay_error *error) {
    const as_profile *profile = s->profiles[which];
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (uint32_t column = 0; column < profile->n_columns && status == ASSAY_OK; column++) {
        if (s->lane_of[column] == AS_NO_LANE) continue;
        status = profile->source->read_column(profile->source, profile, column, &line, error);
        if (status == ASSAY_OK) add_column(s, which, column, &line);
    }
    as_sparse_line_free(&line);
    double *values = s->values[which];
    for (uint32_t i = 0; i < s->n && s->n_lanes == AS_ROW_LANES; i++)
        values[i] = as_lanes_sum(values + (size_t)i * AS_ROW_LANES);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool collect(const as_stored_sums *of, assay_id first, uint32_t n, as_node_list *list) {
    as_node node;
    size_t n_nodes = 0;
    for (uint32_t i = 0; i < n; i++) n_nodes += as_stored_sums_node(of, i, &node);
    if (!as_vec_reserve(&list->nodes, n_nodes)) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!as_stored_sums_node(of, i, &node)) continue;
        node.context = first + i;
        AS_AT(as_node, &list->nodes, list->nodes.count++) = node;
    }
    return true;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* A column costs what its location has of all metrics, so a few of them cost less than all rows. */
static bool are_few(const as_dataset *ds, const sums *s, uint32_t n_wanted) {
    uint64_t by_columns = (uint64_t)n_wanted * AS_COUNT(ds, contexts);
    return by_columns <= (uint64_t)s->profiles[0]->n_columns * s->n / 16;
}

/* n zeros. */
static bool make_zeros(as_vec *vec, size_t n) {
    as_vec_expect(vec, n);
    if (!as_vec_reserve(vec, n)) return false;
    if (n) memset(vec->data, 0, n * vec->size);
    vec->count = n;
    return true;
}

static bool make_room(sums *s, as_stored_sums *out) {
    as_vec *values[] = {&out->inclusive, &out->exclusive}, *has[] = {&out->has_inclusive, &out->has_exclusive};
    for (int i = 0; i < s->n_profiles; i++) {
        if (!make_zeros(values[i], (size_t)s->n * s->n_lanes) || !make_zeros(has[i], s->n)) return false;
        s->values[i] = values[i]->data;
        s->has[i] = has[i]->data;
    }
    return true;
}

static assay_status sum_all(const as_dataset *ds, sums *s, const bool *wanted, as_stored_sums *out,
                            assay_error *error) {
    /* All threads read it for each value: in cache lines of its own, that none of them writes to */
    s->lane_of = aligned_alloc(CACHE_LINE, ((size_t)s->profiles[0]->n_columns / CACHE_LINE + 1) * CACHE_LINE);
    if (!s->lane_of) return as_fail_memory(error, NULL);
    uint32_t n_wanted = deal_lanes(s->profiles[0], wanted, s->lane_of);
    bool by_columns = are_few(ds, s, n_wanted);
    s->n_lanes = by_columns && n_wanted >= AS_ROW_LANES ? AS_ROW_LANES : 1;
    if (!make_room(s, out)) return as_fail_memory(error, NULL);
    for (int i = 0; i < s->n_profiles && by_columns; i++) AS_TRY(sum_columns(s, i, error));
    if (!by_columns) AS_TRY(sum_rows(ds, s, error));
    if (s->n_lanes == 1) return ASSAY_OK;
    out->inclusive.count = s->n;
    out->exclusive.count = s->n_profiles > 1 ? s->n : 0;
    as_vec_shrink(&out->inclusive);
    as_vec_shrink(&out->exclusive);
    return ASSAY_OK;
}

static assay_status find_sums(const as_dataset *ds, sums *s, const bool *wanted, as_stored_sums *out,
                              assay_error *error) {
    as_vec_init(&out->inclusive, sizeof(double), as_ds_budget(ds));
    as_vec_init(&out->exclusive, sizeof(double), as_ds_budget(ds));
    as_vec_init(&out->has_inclusive, sizeof(bool), as_ds_budget(ds));
    as_vec_init(&out->has_exclusive, sizeof(bool), as_ds_budget(ds));
    assay_status status = sum_all(ds, s, wanted, out, error);
    free(s->lane_of);
    free(s->ends);
    return status;
}

assay_status as_sparse_sums(const as_dataset *ds, const as_profile *profile, const as_profile *exclusive,
                            const bool *wanted, as_stored_sums *out, assay_error *error) {
    sums s = {.profiles = {profile, exclusive}, .n_profiles = exclusive ? 2 : 1, .n = (uint32_t)AS_COUNT(ds, contexts)};
    return find_sums(ds, &s, wanted, out, error);
}

void as_stored_sums_free(as_stored_sums *of) {
    as_vec_free(&of->inclusive);
    as_vec_free(&of->exclusive);
    as_vec_free(&of->has_inclusive);
    as_vec_free(&of->has_exclusive);
}

assay_status as_sparse_nodes(const as_dataset *ds, const as_profile *profile, const as_profile *exclusive,
                             assay_id first, uint32_t n, const bool *wanted, as_node_list *list, assay_error *error) {
    sums s = {.profiles = {profile, exclusive}, .n_profiles = exclusive ? 2 : 1, .first = first, .n = n};
    as_stored_sums found = {0};
    assay_status status = find_sums(ds, &s, wanted, &found, error);
    if (status == ASSAY_OK && !collect(&found, first, n, list)) status = as_fail_memory(error, NULL);
    as_stored_sums_free(&found);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* own, other: of that context, or NULL. */
static void set_pair(as_node *out, assay_id context, const as_node *own, const as_node *other) {
    as_node node = {.context = context,
                    .has_own = own != NULL,
                    .has_exclusive = true,
                    .lacks_exclusive = other == NULL,
                    .is_whole = (!own || own->is_whole) && (!other || other->is_whole),
                    .inclusive = {.kind = AS_REAL},
                    .exclusive = {.kind = AS_REAL}};
    if (node.is_whole) {
        node.whole_inclusive = own ? own->whole_inclusive : 0;
        node.whole_exclusive = other ? other->whole_inclusive : 0;
        node.inclusive = as_whole_number(node.whole_inclusive);
        node.exclusive = as_whole_number(node.whole_exclusive);
    }
    if (own) node.inclusive = own->inclusive;
    if (other) node.exclusive = other->inclusive;
    *out = node;
}

bool as_nodes_pair(as_node_list *list, const as_node_list *other) {
    size_t n = as_node_count(list), n_other = as_node_count(other), both = 0;
    for (size_t i = 0, k = 0; i < n && k < n_other;) {
        assay_id a = as_node_at(list, i)->context, b = as_node_at(other, k)->context;
        both += a == b;
        i += a <= b;
        k += b <= a;
    }
    size_t at = n + n_other - both;
    if (!as_vec_reserve(&list->nodes, at - n)) return false;
    list->nodes.count = at;
    /* From the last to the first, so that none is written over before it was read. */
    while (n || n_other) {
        const as_node *a = n ? as_node_at(list, n - 1) : NULL, *b = n_other ? as_node_at(other, n_other - 1) : NULL;
        bool takes_a = a && (!b || a->context >= b->context), takes_b = b && (!a || b->context >= a->context);
        n -= takes_a;
        n_other -= takes_b;
        set_pair(&AS_AT(as_node, &list->nodes, --at), takes_a ? a->context : b->context, takes_a ? a : NULL,
                 takes_b ? b : NULL);
    }
    return true;
}
