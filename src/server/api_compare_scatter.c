/* Two inputs, each call path or function a point (api/compare_scatter): the largest one by one, the others counted in
 * cells. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "server/change_noise.h"

/* Keys of sizes: see key_of(). */
enum { MOST_POINTS = 5000, CELLS = 64, N_KEYS = 1 << 16, N_PIECES = 64 };

/* What is known of some items. */
typedef struct piece {
    double low, high;             /* of all that is above 0 */
    uint32_t cells[CELLS][CELLS]; /* by a, then b */
    uint64_t n_others, n_beyond;  /* in cells; that are 0 or less on one side, and no points */
} piece;

typedef struct scatter {
    as_asked_changes asked;
    double scale;
    bool is_exclusive;
    uint32_t most; /* points */
    as_vec points; /* uint32_t: items */
    as_change_spreads spreads;
    double (*quartiles)[2]; /* of each point that of the changes of its locations; NULL: there are none */
    uint16_t *keys;         /* of each item that of its size */
    uint32_t least;         /* items with larger keys are points … */
    uint32_t last_tie;      /* … and those with this one up to this item; AS_NO_ITEM: none is */
    piece all, *pieces;
} scatter;

static double number_of(const scatter *s, size_t side, uint32_t i) {
    return as_change_number(s->asked.table, s->asked.values, side, i, s->is_exclusive);
}

/* What makes a point large; 0: there is nothing to be seen. */
static double size_of(const scatter *s, uint32_t i) {
    double a = fabs(number_of(s, AS_BASE, i)), b = fabs(number_of(s, AS_TARGET, i));
    double size = fmax(isfinite(a) ? a : 0, isfinite(b) ? b : 0);
    return as_view_item_at(&s->asked.table->view, i)->flags & AS_ITEM_APART ? 0 : size;
}

/* The first bits of a number that is not negative, and 1: larger numbers have larger keys, or the same. 0 has 0. */
static uint16_t key_of(double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return size > 0 ? (uint16_t)((bits >> 48) + 1) : 0;
}

static uint32_t first_of_piece(const scatter *s, size_t k) {
    return (uint32_t)((uint64_t)as_view_items(&s->asked.table->view) * k / N_PIECES);
}

static void look_at_sizes(void *user, size_t k) {
    scatter *s = user;
    double low = INFINITY, high = 0;
    for (uint32_t i = first_of_piece(s, k); i < first_of_piece(s, k + 1); i++) {
        s->keys[i] = key_of(size_of(s, i));
        for (size_t side = 0; s->keys[i] && side < 2; side++) {
            double value = number_of(s, side, i);
            if (!(value > 0) || !isfinite(value)) continue;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
    s->pieces[k].low = low;
    s->pieces[k].high = high;
}

/* The largest are points, ties as they stand. False when memory is out. */
static bool choose_points(scatter *s) {
    uint32_t *counts = calloc(N_KEYS, sizeof *counts), n = as_view_items(&s->asked.table->view), room = s->most;
    if (!counts) return false;
    for (uint32_t i = 0; i < n; i++) counts[s->keys[i]]++;
    uint32_t key = N_KEYS - 1;
    while (key > 0 && counts[key] <= room) room -= counts[key--];
    free(counts);
    s->least = key;
    s->last_tie = AS_NO_ITEM;
    for (uint32_t i = 0; i < n; i++) {
        bool is_tie = key > 0 && s->keys[i] == key && room > 0;
        if (is_tie) {
            room--;
            s->last_tie = i;
        }
        if ((s->keys[i] > key || is_tie) && !as_vec_append(&s->points, &i, 1)) return false;
    }
    return true;
}

static bool is_point(const scatter *s, uint32_t i) {
    bool is_tie = s->keys[i] == s->least && s->last_tie != AS_NO_ITEM && i <= s->last_tie;
    return s->keys[i] > s->least || is_tie;
}

static int cell_of(const scatter *s, double value) {
    double range = log(s->all.high) - log(s->all.low);
    double part = range > 0 ? (log(value) - log(s->all.low)) / range : 0;
    int cell = (int)(part * CELLS);
    return cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell;
}

static void count_others(void *user, size_t k) {
    const scatter *s = user;
    piece *p = &s->pieces[k];
    for (uint32_t i = first_of_piece(s, k); i < first_of_piece(s, k + 1); i++) {
        if (!s->keys[i] || is_point(s, i)) continue;
        double a = number_of(s, AS_BASE, i), b = number_of(s, AS_TARGET, i);
        if (!(a > 0 && b > 0 && isfinite(a) && isfinite(b))) {
            p->n_beyond++;
            continue;
        }
        p->cells[cell_of(s, a)][cell_of(s, b)]++;
        p->n_others++;
    }
}

/* What all pieces have together. */
static void unite_pieces(scatter *s) {
    for (size_t k = 0; k < N_PIECES; k++) {
        const piece *p = &s->pieces[k];
        s->all.n_beyond += p->n_beyond;
        s->all.n_others += p->n_others;
        for (size_t i = 0; i < CELLS * CELLS; i++) s->all.cells[i / CELLS][i % CELLS] += p->cells[i / CELLS][i % CELLS];
    }
}

static bool look_at_items(scatter *s) {
    s->keys = malloc(((size_t)as_view_items(&s->asked.table->view) + 1) * sizeof *s->keys);
    s->pieces = calloc(N_PIECES, sizeof *s->pieces);
    bool fine = s->keys && s->pieces;
    if (fine) {
        as_parallel(N_PIECES, 0, look_at_sizes, s);
        s->all.low = INFINITY;
        for (size_t k = 0; k < N_PIECES; k++) {
            s->all.low = fmin(s->all.low, s->pieces[k].low);
            s->all.high = fmax(s->all.high, s->pieces[k].high);
        }
        fine = choose_points(s);
    }
    if (fine) {
        as_parallel(N_PIECES, 0, count_others, s);
        unite_pieces(s);
    }
    free(s->keys);
    free(s->pieces);
    s->keys = NULL;
    s->pieces = NULL;
    return fine;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static assay_status find_spreads(scatter *s, assay_error *error) {
    if (!as_change_spreads_locations(&s->spreads)) return ASSAY_OK;
    s->quartiles = malloc((s->points.count + 1) * sizeof *s->quartiles);
    if (!s->quartiles) return as_fail_memory(error, NULL);
    AS_TRY(as_change_spreads_expect(&s->spreads, s->points.data, s->points.count, error));
    return as_change_spreads_of(&s->spreads, s->points.data, NULL, s->points.count, s->is_exclusive, s->quartiles,
                                error);
}

typedef enum column { NODE, NAME, A, B, A_CONTEXT, B_CONTEXT, QUARTER, THREE_QUARTERS, N_COLUMNS } column;

static void build_cell(as_builder *b, const scatter *s, size_t point, column k) {
    uint32_t i = AS_AT(uint32_t, &s->points, point);
    const as_view_table *view = &s->asked.table->view;
    switch (k) {
    case NODE: as_build_int(b, NULL, i); break;
    case NAME: as_build_text(b, NULL, as_ds_text(view->ds, as_view_item_at(view, i)->name)); break;
    case A: as_build_number(b, NULL, number_of(s, AS_BASE, i)); break;
    case B: as_build_number(b, NULL, number_of(s, AS_TARGET, i)); break;
    case A_CONTEXT:
    case B_CONTEXT: {
        assay_id own = as_change_context(s->asked.table, k == B_CONTEXT, i);
        as_build_known(b, NULL, own == ASSAY_NONE ? -1 : (int64_t)own, false);
        break;
    }
    case QUARTER:
    case THREE_QUARTERS: as_build_number(b, NULL, s->quartiles[point][k - QUARTER]); break;
    case N_COLUMNS: break;
    }
}

static void build_cells(as_builder *b, const scatter *s) {
    as_build_object(b, "others", false);
    as_build_int(b, "n", (int64_t)s->all.n_others);
    as_build_int(b, "beyond", (int64_t)s->all.n_beyond);
    as_build_int(b, "cells", CELLS);
    for (int k = 0; k < 3; k++) {
        static const char *const titles[] = {"a", "b", "count"};
        as_build_array(b, titles[k], false);
        for (int x = 0; x < CELLS; x++) {
            for (int y = 0; y < CELLS; y++) {
                uint32_t n = s->all.cells[x][y];
                if (n) as_build_int(b, NULL, k == 0 ? x : k == 1 ? y : (int64_t)n);
            }
        }
        as_build_end(b);
    }
    as_build_end(b);
}

static void build(const scatter *s, as_output *out) {
    static const char *const titles[N_COLUMNS] = {"node",      "name",      "a",       "b",
                                                  "a_context", "b_context", "quarter", "three_quarters"};
    as_builder builder = as_builder_of(out), *b = &builder;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_text(b, "view", s->asked.flat ? "flat" : "top-down");
    as_build_text(b, "kind", s->is_exclusive ? "exclusive" : "inclusive");
    as_build_changes_head(b, &s->asked, s->scale);
    as_build_int(b, "locations", as_change_spreads_locations(&s->spreads));
    as_build_number(b, "low", s->all.high > 0 ? s->all.low : NAN);
    as_build_number(b, "high", s->all.high > 0 ? s->all.high : NAN);
    as_build_object(b, "points", false);
    for (column k = 0; k < (s->quartiles ? N_COLUMNS : QUARTER); k++) {
        as_build_array(b, titles[k], false);
        for (size_t i = 0; i < s->points.count; i++) build_cell(b, s, i, k);
        as_build_end(b);
    }
    as_build_end(b);
    build_cells(b, s);
    as_build_end(b);
}

static assay_status gather(as_viewing *viewing, const as_request *request, scatter *s, assay_error *error) {
    const char *view = as_request_text(request, "view"), *kind = as_request_text(request, "kind");
    bool flat = view && strcmp(view, "flat") == 0, is_inclusive = kind && strcmp(kind, "inclusive") == 0;
    if (view && !flat && strcmp(view, "top-down") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'view' cannot be '%.100s'; top-down or flat", view);
    if (kind && !is_inclusive && strcmp(kind, "exclusive") != 0)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "'kind' cannot be '%.100s'; exclusive or inclusive", kind);
    int64_t most;
    AS_TRY(as_request_number(request, "points", 1, MOST_POINTS, MOST_POINTS, &most, error));
    s->most = (uint32_t)most;
    AS_TRY(as_asked_changes_choose(viewing, request, flat, &s->asked, error));
    s->asked.wants_own = !is_inclusive;
    AS_TRY(as_asked_changes_find(viewing, &s->asked, error));
    AS_TRY(as_asked_changes_need_metric(&s->asked, error));
    s->scale = as_asked_scale(&s->asked, request);
    s->is_exclusive = s->asked.values->has_exclusive && !is_inclusive;
    if (s->is_exclusive) AS_TRY(as_asked_changes_complete(viewing, &s->asked, error));
    if (!look_at_items(s)) return as_fail_memory(error, NULL);
    AS_TRY(as_change_spreads_open(viewing, &s->asked, s->scale, &s->spreads, error));
    return find_spreads(s, error);
}

static assay_status answer_scatter(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    scatter *s = calloc(1, sizeof *s);
    if (!s) return as_fail_memory(error, NULL);
    as_vec_init(&s->points, sizeof(uint32_t), NULL);
    assay_status status = gather(viewing, request, s, error);
    if (status == ASSAY_OK) build(s, out);
    as_vec_free(&s->points);
    free(s->quartiles);
    as_change_spreads_free(&s->spreads);
    as_asked_changes_free(&s->asked);
    free(s);
    return status;
}

const as_endpoint as_endpoint_compare_scatter = {.path = "compare_scatter", .answer = answer_scatter};
