#include "analysis/stored_nodes.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "dataset/sparse.h"

/* Sums are made in four lanes, as those of rows with all columns are: zeros in between change nothing, so the result is the same. */
enum { LANES = 4, CONTEXTS_AT_ONCE = 512, NO_PLACE = 0xff };

typedef struct sums {
    const as_profile *profile;
    assay_id first; /* contexts first … first + n - 1 */
    uint32_t n;
    uint8_t *lane_of;   /* of each column, NO_PLACE: it is not wanted */
    double *values;     /* of each context; LANES of them where columns are read */
    bool *has;          /* of each context */
    assay_status *ends; /* of each piece of work */
} sums;

static double sum_lanes(const double *lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

/* Which lane each column adds to, counted among those that are wanted. Returns how many are. */
static uint32_t deal_lanes(const as_profile *profile, const bool *wanted, uint8_t *lane_of) {
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < profile->n_columns; i++) {
        bool is_wanted = !wanted || (profile->columns && wanted[profile->columns[i]]);
        lane_of[i] = is_wanted ? 0 : NO_PLACE;
        n += is_wanted;
    }
    for (uint32_t i = 0; i < profile->n_columns; i++) {
        if (lane_of[i] == NO_PLACE) continue;
        lane_of[i] = at < n - n % LANES ? (uint8_t)(at % LANES) : 0;
        at++;
    }
    return n;
}

/* ---- row by row ------------------------------------------------------------------------------------------------------ */

static void add_row(const sums *s, uint32_t at, const as_sparse_line *line) {
    double lanes[LANES] = {0};
    bool has = false;
    for (uint32_t i = 0; i < line->n; i++) {
        uint8_t lane = s->lane_of[line->at[i]];
        if (lane == NO_PLACE) continue;
        lanes[lane] += line->values[i];
        has = true;
    }
    s->values[at] = sum_lanes(lanes);
    s->has[at] = has;
}

static assay_status sum_piece(const sums *s, size_t piece, assay_error *error) {
    const as_profile_source *source = s->profile->source;
    uint32_t at = (uint32_t)piece * CONTEXTS_AT_ONCE, end = s->n - at < CONTEXTS_AT_ONCE ? s->n : at + CONTEXTS_AT_ONCE;
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (; at < end && status == ASSAY_OK; at++) {
        status = source->read_row(source, s->profile, s->first + at, &line, error);
        if (status == ASSAY_OK) add_row(s, at, &line);
    }
    as_sparse_line_free(&line);
    return status;
}

static void sum_one_piece(void *user, size_t piece) {
    const sums *s = user;
    assay_error ignored;
    s->ends[piece] = sum_piece(s, piece, &ignored);
}

static assay_status sum_rows(sums *s, assay_error *error) {
    size_t n_pieces = ((size_t)s->n + CONTEXTS_AT_ONCE - 1) / CONTEXTS_AT_ONCE;
    s->ends = calloc(n_pieces + 1, sizeof *s->ends);
    if (!s->ends) return as_fail_memory(error, NULL);
    as_parallel(n_pieces, 0, sum_one_piece, s);
    for (size_t i = 0; i < n_pieces; i++) {
        if (s->ends[i] != ASSAY_OK) AS_TRY(sum_piece(s, i, error)); /* once more, to say why */
    }
    return ASSAY_OK;
}

/* ---- column by column ------------------------------------------------------------------------------------------------ */

static void add_column(const sums *s, uint32_t column, const as_sparse_line *line) {
    for (uint32_t i = 0; i < line->n; i++) {
        uint32_t at = line->at[i] - s->first;
        if (at >= s->n) continue;
        s->values[(size_t)at * LANES + s->lane_of[column]] += line->values[i];
        s->has[at] = true;
    }
}

static assay_status sum_columns(const sums *s, assay_error *error) {
    const as_profile_source *source = s->profile->source;
    as_sparse_line line = {0};
    assay_status status = ASSAY_OK;
    for (uint32_t column = 0; column < s->profile->n_columns && status == ASSAY_OK; column++) {
        if (s->lane_of[column] == NO_PLACE) continue;
        status = source->read_column(source, s->profile, column, &line, error);
        if (status == ASSAY_OK) add_column(s, column, &line);
    }
    as_sparse_line_free(&line);
    for (uint32_t i = 0; i < s->n; i++) s->values[i] = sum_lanes(s->values + (size_t)i * LANES);
    return status;
}

/* ---- nodes ----------------------------------------------------------------------------------------------------------- */

static bool collect(const sums *s, as_node_list *list) {
    size_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) n += s->has[i];
    if (!as_vec_reserve(&list->nodes, n)) return false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->has[i]) continue;
        as_node *node = as_vec_push(&list->nodes);
        node->context = s->first + i;
        node->has_own = true;
        node->inclusive = (as_number){.kind = AS_REAL, .r = s->values[i]};
        node->exclusive = node->inclusive;
    }
    return true;
}

/* A column costs what its location has of all metrics, so a few of them cost less than all rows. */
static bool are_few(const as_dataset *ds, const sums *s, uint32_t n_wanted) {
    uint64_t by_columns = (uint64_t)n_wanted * AS_COUNT(ds, contexts), by_rows = (uint64_t)s->profile->n_columns * s->n;
    return by_columns <= by_rows / 16;
}

static assay_status sum_and_collect(const as_dataset *ds, sums *s, const bool *wanted, as_node_list *list,
                                    assay_error *error) {
    s->lane_of = malloc((size_t)s->profile->n_columns + 1);
    if (!s->lane_of) return as_fail_memory(error, NULL);
    uint32_t n_wanted = deal_lanes(s->profile, wanted, s->lane_of);
    if (!n_wanted) return ASSAY_OK;
    bool by_columns = are_few(ds, s, n_wanted);
    s->values = calloc((size_t)s->n + 1, (by_columns ? LANES : 1) * sizeof *s->values);
    s->has = calloc((size_t)s->n + 1, sizeof *s->has);
    if (!s->values || !s->has) return as_fail_memory(error, NULL);
    AS_TRY(by_columns ? sum_columns(s, error) : sum_rows(s, error));
    return collect(s, list) ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_sparse_nodes(const as_dataset *ds, const as_profile *profile, assay_id first, uint32_t n,
                             const bool *wanted, as_node_list *list, assay_error *error) {
    sums s = {.profile = profile, .first = first, .n = n};
    if (!as_budget_allows(&ds->budget, (uint64_t)n * (LANES * sizeof(double) + 1))) return as_fail_memory(error, NULL);
    assay_status status = sum_and_collect(ds, &s, wanted, list, error);
    free(s.lane_of);
    free(s.values);
    free(s.has);
    free(s.ends);
    return status;
}

/* ---- pairs ----------------------------------------------------------------------------------------------------------- */

/* own, other: of the same context, or NULL. */
static void set_pair(as_node *out, const as_node *own, const as_node *other) {
    as_node node = {.context = own ? own->context : other->context,
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
        set_pair(&AS_AT(as_node, &list->nodes, --at), takes_a ? a : NULL, takes_b ? b : NULL);
    }
    return true;
}
