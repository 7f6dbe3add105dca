/* Each side of a square that a line crosses has a number; a line is followed from side to side. */
#include "render/plot_contour.h"

#include <math.h>
#include <stdlib.h>

#define NOTHING UINT32_MAX

/* Sides: 2 * (j * nx + i) from (i, j) to (i + 1, j), and the next number from (i, j) to (i, j + 1). */
typedef struct tracing {
    const double *z;
    size_t nx, ny;
    double level;
    uint32_t (*next)[2]; /* of each side: the sides at the other ends of its two pieces */
    as_vec spots;
} tracing;

static bool is_above(const tracing *t, size_t i, size_t j) { return t->z[j * t->nx + i] >= t->level; }

static void connect(tracing *t, uint32_t a, uint32_t b) {
    t->next[a][t->next[a][0] != NOTHING] = b;
    t->next[b][t->next[b][0] != NOTHING] = a;
}

/* Connects the sides of one square. */
static void connect_square(tracing *t, size_t i, size_t j) {
    const double *z = &t->z[j * t->nx + i];
    double sum = z[0] + z[1] + z[t->nx] + z[t->nx + 1];
    if (!isfinite(sum)) return;
    uint32_t at = (uint32_t)(2 * (j * t->nx + i)), row = (uint32_t)(2 * t->nx);
    uint32_t bottom = at, left = at + 1, right = at + 3, top = at + row;
    unsigned corners = (unsigned)is_above(t, i, j) | (unsigned)is_above(t, i + 1, j) << 1 |
                       (unsigned)is_above(t, i + 1, j + 1) << 2 | (unsigned)is_above(t, i, j + 1) << 3;
    if (corners == 5 || corners == 10) { /* a saddle: the middle decides which corners belong together */
        bool joins = (sum / 4 >= t->level) == (corners == 5);
        connect(t, bottom, joins ? right : left);
        connect(t, top, joins ? left : right);
        return;
    }
    uint32_t ends[2];
    size_t n = 0;
    unsigned crossed[] = {corners ^ corners >> 1, corners >> 1 ^ corners >> 2, corners >> 2 ^ corners >> 3,
                          corners >> 3 ^ corners};
    uint32_t sides[] = {bottom, right, top, left};
    for (size_t k = 0; k < 4; k++) {
        if (crossed[k] & 1 && n < 2) ends[n++] = sides[k];
    }
    if (n == 2) connect(t, ends[0], ends[1]);
}

/* Where the line crosses a side. */
static as_spot crossing(const tracing *t, uint32_t side) {
    size_t cell = side / 2, i = cell % t->nx, j = cell / t->nx;
    bool upward = side & 1;
    double from = t->z[cell], to = t->z[upward ? cell + t->nx : cell + 1];
    double part = (t->level - from) / (to - from);
    return (as_spot){(double)i + (upward ? 0 : part), (double)j + (upward ? part : 0)};
}

/* Takes one way off a side; the first is filled as long as there is one. */
static void forget(tracing *t, uint32_t side, uint32_t way) {
    uint32_t *ways = t->next[side];
    if (ways[0] == way) ways[0] = ways[1];
    ways[1] = NOTHING;
}

/* Follows the line that starts at a side and takes it off the grid. */
static bool follow(tracing *t, uint32_t start, as_contour_visit visit, void *user) {
    t->spots.count = 0;
    for (uint32_t side = start; side != NOTHING;) {
        as_spot spot = crossing(t, side);
        if (!as_vec_append(&t->spots, &spot, 1)) return false;
        uint32_t to = t->next[side][0];
        if (to != NOTHING) {
            forget(t, side, to);
            forget(t, to, side);
        }
        side = to;
    }
    visit(user, t->spots.data, t->spots.count);
    return true;
}

static bool follow_all(tracing *t, size_t n_sides, as_contour_visit visit, void *user) {
    /* Lines that end at the border first: begun elsewhere they would come in two parts */
    for (uint32_t side = 0; side < n_sides; side++) {
        if (t->next[side][0] != NOTHING && t->next[side][1] == NOTHING && !follow(t, side, visit, user)) return false;
    }
    for (uint32_t side = 0; side < n_sides; side++) {
        if (t->next[side][0] != NOTHING && !follow(t, side, visit, user)) return false;
    }
    return true;
}

bool as_contour(const double *z, size_t nx, size_t ny, double level, as_contour_visit visit, void *user) {
    size_t cells, n_sides;
    if (nx < 2 || ny < 2) return true;
    if (!as_mul_size(nx, ny, &cells) || !as_mul_size(cells, 2, &n_sides) || n_sides >= NOTHING) return false;
    tracing t = {.z = z, .nx = nx, .ny = ny, .level = level, .next = calloc(n_sides, sizeof *t.next)};
    if (!t.next) return false;
    memset(t.next, 0xff, n_sides * sizeof *t.next);
    as_vec_init(&t.spots, sizeof(as_spot), NULL);
    for (size_t j = 0; j + 1 < ny; j++) {
        for (size_t i = 0; i + 1 < nx; i++) connect_square(&t, i, j);
    }
    bool done = follow_all(&t, n_sides, visit, user);
    as_vec_free(&t.spots);
    free(t.next);
    return done;
}
