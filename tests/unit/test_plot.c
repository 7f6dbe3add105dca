/* Plots as a whole: contours, the canvas, a small plot drawn by hand, and numbers that no axis can show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "render/display.h"
#include "render/plot.h"
#include "render/plot_canvas.h"
#include "render/plot_colour.h"
#include "render/plot_contour.h"

/* ---- contours ---------------------------------------------------------------------------------------------------- */

/* Lines as text: "1.5,0 1,0.5; …". */
static void describe_line(void *user, const as_spot *spots, size_t n) {
    char *text = user;
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, 1024 - used, "%s%g,%g", i ? " " : *text ? "; " : "", spots[i].x, spots[i].y);
    }
}

static void assert_contour(const double *z, size_t nx, size_t ny, double level, const char *expected) {
    char text[1024] = "";
    assert_true(as_contour(z, nx, ny, level, describe_line, text));
    assert_string_equal(text, expected);
}

static void test_contour_of_a_plane(void **state) {
    (void)state;
    static const double plane[] = {0, 1, 2, 1, 2, 3, 2, 3, 4}; /* x + y */
    assert_contour(plane, 3, 3, 1.5, "1.5,0 1,0.5 0.5,1 0,1.5");
    assert_contour(plane, 3, 3, 5, "");
    static const double slope[] = {0, 4, 8, 0, 4, 8}; /* 4 x */
    assert_contour(slope, 3, 2, 5, "1.25,0 1.25,1");
}

static void test_contour_around_a_peak(void **state) {
    (void)state;
    static const double peak[] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    assert_contour(peak, 3, 3, 0.5, "1,0.5 0.5,1 1,1.5 1.5,1 1,0.5");
}

static void test_contour_of_a_saddle(void **state) {
    (void)state;
    static const double saddle[] = {1, 0, 0, 1};
    /* The middle, 0.5, is above 0.25: the high corners belong together, each low one is cut off */
    assert_contour(saddle, 2, 2, 0.25, "0.75,0 1,0.25; 0,0.75 0.25,1");
    assert_contour(saddle, 2, 2, 0.75, "0.25,0 0,0.25; 1,0.75 0.75,1");
}

static void test_contour_leaves_gaps(void **state) {
    (void)state;
    static const double holes[] = {0, 1, NAN, 0, 1, 0};
    assert_contour(holes, 3, 2, 0.5, "0.5,0 0.5,1");
    assert_contour(holes, 1, 6, 0.5, "");
}

/* ---- the canvas -------------------------------------------------------------------------------------------------- */

static void assert_row(const as_canvas *canvas, unsigned row, bool ascii, const char *expected) {
    as_output *out = as_output_to_memory();
    as_canvas_print_row(out, canvas, row, (as_canvas_style){.ascii = ascii});
    size_t size;
    assert_string_equal(as_output_memory(out, &size), expected);
    as_output_discard(out);
}

static void test_canvas(void **state) {
    (void)state;
    as_canvas canvas;
    assert_true(as_canvas_init(&canvas, 3, 1));
    as_canvas_line(&canvas, 0, 3, 3, 0, AS_LAYER_CURVE);
    assert_row(&canvas, 0, false, "⡠⠊");
    assert_row(&canvas, 0, true, "**");
    as_canvas_dot(&canvas, 0, 0, AS_LAYER_BAND); /* behind the curve */
    as_canvas_dot(&canvas, 2, 3, AS_LAYER_POINT);
    as_canvas_dot(&canvas, 6, 0, AS_LAYER_POINT); /* outside */
    assert_row(&canvas, 0, false, "⡠●");
    as_canvas_line(&canvas, -1e9, 1, 1e9, 1, AS_LAYER_BAR);
    assert_row(&canvas, 0, false, "⠒●⠒");
    as_canvas_line(&canvas, NAN, 1, 1, 1, AS_LAYER_POINT);
    as_canvas_line(&canvas, 9, -5, 20, 30, AS_LAYER_POINT);
    assert_row(&canvas, 0, true, "|o|");
    as_canvas_free(&canvas);
}

/* ---- whole plots ------------------------------------------------------------------------------------------------- */

static void add(as_plot_series *series, double x, double y, double low, double high) {
    assert_true(as_plot_add_point(series, (as_plot_point){x, y, NAN, low, high}));
}

static char *drawn(const as_plot *plot, unsigned width, unsigned height, bool ascii) {
    as_output *out = as_output_to_memory();
    assert_true(width ? as_plot_terminal(out, plot, width, height, false, ascii) : as_plot_svg(out, plot));
    size_t size;
    char *text = strdup(as_output_memory(out, &size));
    as_output_discard(out);
    return text;
}

static void test_straight_line(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    as_plot_series *line = as_plot_add(plot, AS_PLOT_CURVE, "line", NULL);
    add(line, 0, 0, NAN, NAN);
    add(line, 10, 10, NAN, NAN);
    char *text = drawn(plot, 40, 7, true);
    /* Both axes end at 10.5, the picture has 34 columns of two dots and 4 rows of four */
    assert_string_equal(text, " 10 +                          *******\n"
                              "    |                 *********\n"
                              "    |        *********\n"
                              "  0 +********\n"
                              "    ++---------------+---------------+-\n"
                              "     0               5              10\n"
                              " * line\n");
    free(text);
    as_plot_free(plot);
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) n++;
    return n;
}

static void test_svg(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    assert_true(as_plot_text(plot, &plot->title, "a<b>&->\"c\""));
    plot->measured_x = 8;
    as_plot_series *curve = as_plot_add(plot, AS_PLOT_CURVE, "model <1>", "95 %");
    for (int i = 1; i <= 16; i++) add(curve, i, i * i, i * i - 1, i * i + 1);
    as_plot_series *points = as_plot_add(plot, AS_PLOT_POINTS, "measured", "min–max");
    for (int i = 1; i <= 8; i *= 2) add(points, i, i * i, i * i - 0.5, i * i + 0.5);
    add(points, 3, NAN, NAN, NAN);
    char *text = drawn(plot, 0, 0, false), *again = drawn(plot, 0, 0, false);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "<title>a&lt;b&gt;&amp;-&gt;&quot;c&quot;</title>"));
    assert_non_null(strstr(text, "model &lt;1&gt;"));
    assert_int_equal(count(text, "<circle"), 4 + 1); /* and the legend's */
    assert_int_equal(count(text, "class=\"band\""), 1);
    assert_int_equal(count(text, "class=\"curve\""), 2); /* measured and beyond */
    const char *beyond = strstr(text, "stroke-dasharray=\"5 3\" d=\"M");
    assert_non_null(beyond);
    assert_int_equal(count(beyond, "L") > 8, 1); /* from 8 to 16 */
    free(text);
    free(again);
    as_plot_free(plot);
}

static void test_gap_of_a_curve(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    as_plot_series *curve = as_plot_add(plot, AS_PLOT_CURVE, "model", NULL);
    for (int i = 0; i < 10; i++) add(curve, i, i == 4 ? (double)NAN : (double)i, NAN, NAN);
    char *text = drawn(plot, 0, 0, false);
    const char *path = strstr(strstr(text, "class=\"curve\""), "d=\"");
    char *end = strchr(path + 3, '"');
    *end = '\0';
    assert_int_equal(count(path, "M"), 2);
    free(text);
    as_plot_free(plot);
}

/* No line wider than asked, nothing in SVG that is no number. */
static void assert_drawable(const as_plot *plot) {
    static const unsigned widths[] = {40, 80, 120};
    for (size_t k = 0; k < 6; k++) {
        char *text = drawn(plot, widths[k / 2], 20, k % 2);
        for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
            assert_true(as_display_width(line, (size_t)(end - line)) <= widths[k / 2]);
        free(text);
    }
    char *text = drawn(plot, 0, 0, false);
    assert_null(strstr(text, "=\"nan"));
    assert_null(strstr(text, "inf"));
    assert_true(strlen(text) < 4u << 20);
    free(text);
}

static void assert_values_drawable(const double *values, size_t n) {
    static const as_scale scales[] = {AS_SCALE_AUTO, AS_SCALE_LINEAR, AS_SCALE_LOG};
    for (size_t s = 0; s < 9; s++) {
        as_plot *plot = as_plot_new();
        plot->x.scale = scales[s % 3];
        plot->y.scale = scales[s / 3];
        plot->measured_x = n ? values[n - 1] : NAN;
        as_plot_series *curve = as_plot_add(plot, AS_PLOT_CURVE, "model", "band");
        for (size_t i = 0; i < n; i++) add(curve, (double)i, values[i], values[n - 1 - i], values[i]);
        as_plot_series *points = as_plot_add(plot, AS_PLOT_POINTS, "measured", "bars");
        for (size_t i = 0; i < n; i++) add(points, values[i], values[n - 1 - i], values[0], values[i]);
        assert_drawable(plot);
        as_plot_free(plot);
    }
}
#define ASSERT_DRAWABLE(...)                                                                                           \
    assert_values_drawable((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_hard_numbers(void **state) {
    (void)state;
    assert_values_drawable(NULL, 0);
    ASSERT_DRAWABLE(5);
    ASSERT_DRAWABLE(0);
    ASSERT_DRAWABLE(3, 3, 3, 3);
    ASSERT_DRAWABLE(-3, -2, -1);
    ASSERT_DRAWABLE(0, 1, 1000, 1e6);
    ASSERT_DRAWABLE(NAN, 1, INFINITY, 2, -INFINITY);
    ASSERT_DRAWABLE(NAN, NAN);
    ASSERT_DRAWABLE(1e-300, 1, 1e300);
    ASSERT_DRAWABLE(-1e300, 1e300);
    ASSERT_DRAWABLE(1e-308, 4.9e-324, 1.7e308, -1.7e308);
    ASSERT_DRAWABLE(1e9, 1e9 + 1, 1e9 + 2);
    ASSERT_DRAWABLE(1, 1 + 1e-15, 1 - 1e-15);
}

static void test_many_points(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    as_plot_series *points = as_plot_add(plot, AS_PLOT_POINTS, "measured", "bars");
    for (int i = 0; i < 100000; i++) add(points, i, i % 997, i % 997 - 1, i % 997 + 1);
    assert_drawable(plot);
    as_plot_free(plot);
}

/* A band that is much wider than the rest takes half as much room as that on each side, and does not go below zero
 * alone. */
static void test_wide_band(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    as_plot_series *curve = as_plot_add(plot, AS_PLOT_CURVE, "model", "band");
    add(curve, 1, 50, -1000, 1000);
    add(curve, 2, 90, -1e9, 1e9);
    as_plot_axes axes = as_plot_fitted(plot);
    assert_int_equal(axes.y.scale, AS_SCALE_LINEAR);
    /* 50 - 20 … 90 + 20, to zero because that is near, and a twentieth of the span above */
    assert_float_equal(axes.y.low, 0, 1e-9);
    assert_float_equal(axes.y.high, 110 + 5.5, 1e-9);
    /* The left end of the curve lies in the first column, and above and below it there is nothing but band */
    char *text = drawn(plot, 40, 12, true);
    assert_true(count(text, ".") > 40);
    free(text);
    as_plot_free(plot);
}

/* The points span three decades; that the curve is negative at one end does not hide it. */
static void test_curve_leaves_a_log_axis(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    as_plot_series *curve = as_plot_add(plot, AS_PLOT_CURVE, "model", NULL);
    add(curve, 1, -5, NAN, NAN);
    add(curve, 2, 1e-9, NAN, NAN);
    add(curve, 3, 1000, NAN, NAN);
    as_plot_series *points = as_plot_add(plot, AS_PLOT_POINTS, "measured", NULL);
    add(points, 1, 1, NAN, NAN);
    add(points, 3, 1000, NAN, NAN);
    as_plot_axes axes = as_plot_fitted(plot);
    assert_int_equal(axes.y.scale, AS_SCALE_LOG);
    assert_true(axes.y.low > 0.05 && axes.y.low < 0.1 && axes.y.high > 1000);
    assert_drawable(plot);
    as_plot_free(plot);
}

/* z = x, in levels of 2; 35 columns of 10 / 35, their middles compared. */
static void test_levels_on_a_terminal(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    plot->x.tight = plot->y.tight = true;
    as_axis_fit_parameter(&plot->x, (const double[]){0, 10}, 2, 10);
    as_axis_fit_parameter(&plot->y, (const double[]){0, 1}, 2, 1);
    assert_true(as_plot_add_grid(plot, 2, 2));
    for (size_t i = 0; i < 4; i++) plot->grid.z[i] = plot->grid.x[i % 2];
    char *text = drawn(plot, 40, 7, true);
    assert_string_equal(text, " 1 +.......-------=======*******#######\n"
                              "   |.......-------=======*******#######\n"
                              "   |.......-------=======*******#######\n"
                              " 0 +.......-------=======*******#######\n"
                              "   ++----------------+----------------+\n"
                              "    0                5               10\n"
                              "      0 ... 2 --- 4 === 6 *** 8 ###\n"
                              "  10 @@@\n");
    free(text);
    as_plot_free(plot);
}

/* The same with 64 columns in SVG: each has one of the 64 colours, from the left to the right. */
static void test_cells_in_svg(void **state) {
    (void)state;
    as_plot *plot = as_plot_new();
    plot->x.tight = plot->y.tight = true;
    as_axis_fit_parameter(&plot->x, (const double[]){0, 10}, 2, 10);
    as_axis_fit_parameter(&plot->y, (const double[]){0, 1}, 2, 1);
    assert_true(as_plot_add_grid(plot, 65, 3));
    for (size_t i = 0; i < 65 * 3; i++) plot->grid.z[i] = plot->grid.x[i % 65];
    char *text = drawn(plot, 0, 0, false);
    char *surface = strstr(text, "class=\"surface\""), *end = strstr(surface, "</g>");
    *end = '\0';
    assert_int_equal(count(surface, "<path"), 64);
    assert_int_equal(count(surface, "M"), 2 * 64); /* two rows */
    const char *first = strstr(surface, "d=\"M");
    assert_true(strncmp(first, "d=\"M0 ", 6) == 0);
    double before = -1;
    for (const char *at = first; (at = strstr(at, "d=\"M")); at++) {
        assert_true(atof(at + 4) > before);
        before = atof(at + 4);
    }
    free(text);
    as_plot_free(plot);
}

static void test_colours(void **state) {
    (void)state;
    for (unsigned i = 1; i < AS_TERMINAL_LEVELS; i++)
        assert_int_not_equal(as_terminal_colour(i, AS_TERMINAL_LEVELS), as_terminal_colour(i - 1, AS_TERMINAL_LEVELS));
    as_rgb dark = as_heat_colour(0), light = as_heat_colour(1), beyond = as_heat_colour(7);
    assert_true(!as_is_light(dark) && as_is_light(light));
    assert_memory_equal(&light, &beyond, sizeof light);
    unsigned before = 0;
    for (int i = 0; i <= 100; i++) { /* lighter and lighter, by the weights of television */
        as_rgb c = as_heat_colour(i / 100.0);
        unsigned grey = 299u * c.red + 587u * c.green + 114u * c.blue;
        assert_true(grey >= before);
        before = grey;
    }
}

static as_plot *plane(double factor, double offset, bool with_hole) {
    as_plot *plot = as_plot_new();
    as_axis_fit_parameter(&plot->x, (const double[]){1, 2, 4, 8}, 4, 8);
    as_axis_fit_parameter(&plot->y, (const double[]){10, 20, 30}, 3, 30);
    assert_true(as_plot_add_grid(plot, 20, 15));
    for (size_t j = 0; j < 15; j++) {
        for (size_t i = 0; i < 20; i++)
            plot->grid.z[j * 20 + i] = with_hole && i < 5 ? NAN : factor * (plot->grid.x[i] + plot->grid.y[j]) + offset;
    }
    as_plot_series *points = as_plot_add(plot, AS_PLOT_POINTS, "measured", NULL);
    assert_true(as_plot_add_point(points, (as_plot_point){2, 20, factor * 22 + offset, NAN, NAN}));
    return plot;
}

static void test_heat_maps(void **state) {
    (void)state;
    static const struct {
        double factor, offset;
        bool with_hole;
    } cases[] = {{1, 0, false},  {1, 0, true},      {0, 5, false},  {0, 0, false},
                 {-1, 3, false}, {1e298, 0, false}, {NAN, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_plot *plot = plane(cases[i].factor, cases[i].offset, cases[i].with_hole);
        assert_drawable(plot);
        as_plot_free(plot);
    }
    as_plot *plot = plane(1, 0, false);
    char *text = drawn(plot, 0, 0, false);
    assert_int_equal(count(text, "<circle"), 1 + 1);
    assert_true(count(text, "class=\"contour\"") >= 4);
    free(text);
    as_plot_free(plot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contour_of_a_plane),
        cmocka_unit_test(test_contour_around_a_peak),
        cmocka_unit_test(test_contour_of_a_saddle),
        cmocka_unit_test(test_contour_leaves_gaps),
        cmocka_unit_test(test_canvas),
        cmocka_unit_test(test_straight_line),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_gap_of_a_curve),
        cmocka_unit_test(test_hard_numbers),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_wide_band),
        cmocka_unit_test(test_curve_leaves_a_log_axis),
        cmocka_unit_test(test_levels_on_a_terminal),
        cmocka_unit_test(test_cells_in_svg),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_heat_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
