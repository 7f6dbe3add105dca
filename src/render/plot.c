/* Descriptions of plots, and the ranges their numbers need. */
#include "render/plot.h"

#include <math.h>
#include <stdlib.h>

as_plot *as_plot_new(void) {
    as_plot *plot = calloc(1, sizeof *plot);
    if (!plot) return NULL;
    as_arena_init(&plot->arena, NULL);
    as_vec_init(&plot->series, sizeof(as_plot_series), NULL);
    plot->measured_x = plot->measured_y = NAN;
    return plot;
}

void as_plot_free(as_plot *plot) {
    if (!plot) return;
    for (size_t i = 0; i < plot->series.count; i++) as_vec_free(&AS_AT(as_plot_series, &plot->series, i).points);
    as_vec_free(&plot->series);
    as_arena_free(&plot->arena);
    free(plot);
}

bool as_plot_text(as_plot *plot, const char **to, const char *text) {
    *to = as_arena_copy(&plot->arena, text, strlen(text));
    return *to != NULL;
}

as_plot_series *as_plot_add(as_plot *plot, as_plot_kind kind, const char *label, const char *around) {
    as_plot_series series = {.kind = kind};
    if (!as_plot_text(plot, &series.label, label)) return NULL;
    if (around && !as_plot_text(plot, &series.around, around)) return NULL;
    as_vec_init(&series.points, sizeof(as_plot_point), NULL);
    if (!as_vec_append(&plot->series, &series, 1)) return NULL;
    return &AS_AT(as_plot_series, &plot->series, plot->series.count - 1);
}

bool as_plot_add_point(as_plot_series *series, as_plot_point point) {
    return as_vec_append(&series->points, &point, 1);
}

bool as_plot_add_grid(as_plot *plot, size_t nx, size_t ny) {
    size_t n;
    if (!as_mul_size(nx, ny, &n)) return false;
    as_plot_grid grid = {.nx = nx, .ny = ny};
    grid.x = as_arena_array(&plot->arena, nx, sizeof(double));
    grid.y = as_arena_array(&plot->arena, ny, sizeof(double));
    grid.z = as_arena_array(&plot->arena, n, sizeof(double));
    if (!grid.x || !grid.y || !grid.z) return false;
    for (size_t i = 0; i < nx; i++) grid.x[i] = as_axis_value(&plot->x, (double)i / (double)(nx - 1));
    for (size_t j = 0; j < ny; j++) grid.y[j] = as_axis_value(&plot->y, (double)j / (double)(ny - 1));
    for (size_t i = 0; i < n; i++) grid.z[i] = NAN;
    plot->grid = grid;
    return true;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

typedef struct ranges {
    as_range x, z;
    as_range points, curves; /* y: with their bars, and without their bands */
    as_range band;           /* may be much wider than all the rest */
} ranges;

static ranges ranges_of(const as_plot *plot) {
    ranges r = {0};
    for (size_t s = 0; s < plot->series.count; s++) {
        const as_plot_series *series = &AS_AT(as_plot_series, &plot->series, s);
        for (size_t i = 0; i < series->points.count; i++) {
            const as_plot_point *point = &AS_AT(as_plot_point, &series->points, i);
            bool is_curve = series->kind == AS_PLOT_CURVE;
            as_range_add(&r.x, point->x);
            as_range_add(is_curve ? &r.curves : &r.points, point->y);
            as_range_add(&r.z, point->z);
            as_range_add(is_curve ? &r.band : &r.points, point->low);
            as_range_add(is_curve ? &r.band : &r.points, point->high);
        }
    }
    for (size_t i = 0; i < plot->grid.nx * plot->grid.ny; i++) as_range_add(&r.z, plot->grid.z[i]);
    return r;
}

/* Makes room for the band, but not so much that the rest becomes a line: half of what the rest takes on each side. */
static void add_band(as_range *y, const as_range *band, bool is_log) {
    if (!y->n || !band->n) return;
    as_range all = *y;
    if (is_log) {
        double room = pow(10, fmax(0.3, 0.35 * (log10(y->high) - log10(y->low))));
        if (band->low > 0) all.low = fmin(y->low, fmax(band->low, y->low / room));
        all.high = fmax(y->high, fmin(band->high, y->high * room));
    } else {
        double span = y->high - y->low;
        double room = 0.5 * fmax(span, 0.2 * fmax(fabs(y->low), fabs(y->high)));
        all.low = fmin(y->low, fmax(band->low, y->low >= 0 ? fmax(0, y->low - room) : y->low - room));
        all.high = fmax(y->high, fmin(band->high, y->high + room));
    }
    *y = all;
}

static as_range joined(as_range a, const as_range *b) {
    if (b->n) as_range_add(&a, b->low);
    if (b->n) as_range_add(&a, b->high);
    return a;
}

/* Where the points ask for a logarithmic axis a curve may leave it: at most a decade below them is shown. */
static void fit_y(as_axis *axis, const ranges *r) {
    enum { BELOW = 10 };
    as_range all = joined(r->points, &r->curves);
    bool can_log = r->points.n ? r->points.low > 0 : all.low > 0;
    bool wants_log = as_range_prefers_log(&all) || as_range_prefers_log(&r->points);
    bool is_log = can_log && (axis->scale == AS_SCALE_LOG || (axis->scale == AS_SCALE_AUTO && wants_log));
    axis->scale = is_log ? AS_SCALE_LOG : AS_SCALE_LINEAR;
    if (is_log && r->points.n) all.low = fmax(all.low, r->points.low / BELOW);
    add_band(&all, &r->band, is_log);
    as_axis_fit(axis, &all);
}

static bool is_fitted(const as_axis *axis) { return axis->low != 0 || axis->high != 0; }

as_plot_axes as_plot_fitted(const as_plot *plot) {
    as_plot_axes axes = {plot->x, plot->y, plot->z};
    ranges r = ranges_of(plot);
    if (!is_fitted(&axes.x)) as_axis_fit(&axes.x, &r.x);
    if (!is_fitted(&axes.y)) fit_y(&axes.y, &r);
    if (!is_fitted(&axes.z)) as_axis_fit(&axes.z, &r.z);
    if (r.z.high - r.z.low > 0.01 * (axes.z.high - axes.z.low)) { /* colours need no air */
        axes.z.low = r.z.low;
        axes.z.high = r.z.high;
    }
    return axes;
}
