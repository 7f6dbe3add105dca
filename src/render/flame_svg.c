#include "render/flame_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/display.h"
#include "render/flame_colours.h"
#include "render/plot_text.h"
#include "render/quantity.h"
#include "render/svg_page.h"

enum { ROW = 18, BAR = 17, LONGEST_KEY = 40, MOST_GONE = 5, AMOUNT_SIZE = 160 };

extern const char as_flame_script[];

typedef struct drawing {
    as_page page;
    const as_flame_tree *tree;
    const as_flame_svg *picture;
    as_flame_colours colours;
    bool is_change;                 /* two sides */
    double plot;                    /* its width */
    double root;                    /* the upper edge of the outermost row */
    double foot;                    /* below the rows */
    size_t gone[MOST_GONE], n_gone; /* frames of the flame that only the side which is not drawn has: the largest */
    uint64_t all_gone;
    double gone_amount;
} drawing;

double as_flame_least_share(double page_width) { return 0.05 / (page_width - 2 * AS_PAGE_MARGIN); }

/* ---- amounts ----------------------------------------------------------------------------------------------------- */

/* "1.23 s", each in the unit that suits it. has_sign: "+" before what is not negative. */
static void format_amount(const drawing *d, double amount, bool has_sign, char out[AMOUNT_SIZE]) {
    bool is_whole = floor(amount) == amount; /* also where the type is not: counts of HPCToolkit are reals */
    as_quantity q = as_quantity_of(d->picture->unit, fabs(amount), is_whole);
    as_number number = {.kind = AS_REAL, .r = amount};
    char text[AS_QUANTITY_SIZE];
    if (is_whole && fabs(amount) < 9e15) number = (as_number){.kind = AS_INT, .i = (int64_t)amount};
    as_quantity_format(&q, number, text);
    const char *unit = as_unit_shown(&q, false);
    snprintf(out, AMOUNT_SIZE, "%s%s%s%s", has_sign && amount >= 0 ? "+" : "", text, *unit ? " " : "", unit);
}

static void put_amount(const drawing *d, double amount, bool has_sign) {
    char text[AMOUNT_SIZE];
    format_amount(d, amount, has_sign, text);
    as_svg_escape(d->page.out, text, strlen(text));
}

static void put_share(const drawing *d, double part, double whole, const char *of) {
    char text[AS_QUANTITY_SIZE];
    if (!(whole > 0)) return;
    as_percent_format(part / whole, text);
    as_output_text(d->page.out, ", ");
    as_svg_escape(d->page.out, text, strlen(text)); /* it may be "<0.1" */
    as_output_printf(d->page.out, " %% of %s", of);
}

static void put_change(const drawing *d, double a, double b) {
    char text[AS_QUANTITY_SIZE];
    as_output *out = d->page.out;
    as_output_char(out, '\n');
    put_amount(d, a, false);
    as_output_text(out, " → ");
    put_amount(d, b, false);
    as_output_text(out, a == 0 && b > 0 ? ", new: " : b == 0 && a > 0 ? ", gone: " : ", ");
    put_amount(d, b - a, true);
    if (a > 0) {
        as_percent_change_format((b - a) / a, text);
        as_output_text(out, ", ");
        as_svg_escape(out, text, strlen(text));
        as_output_text(out, " %");
    }
}

/* What is said of a frame, a line each. */
static void put_facts(const drawing *d, const as_flame_node *node) {
    as_output *out = d->page.out;
    const as_strings *names = as_flame_names(d->tree->flame);
    size_t side = d->is_change && d->picture->request.width != AS_WIDE_AS_FIRST;
    bool is_inverted = d->picture->request.is_inverted;
    if (d->is_change) {
        put_change(d, node->total[0], node->total[1]);
        if (!is_inverted && node->own[0] + node->own[1] > 0 &&
            (node->own[0] != node->total[0] || node->own[1] != node->total[1])) {
            put_change(d, node->own[0], node->own[1]);
            as_output_text(out, " itself");
        }
        return;
    }
    as_output_char(out, '\n');
    put_amount(d, node->total[side], false);
    put_share(d, node->width, d->tree->width, "all");
    if (node->parent != AS_FLAME_ROOT)
        put_share(d, node->width, AS_AT(as_flame_node, &d->tree->nodes, node->parent).width,
                  is_inverted ? "its callee" : "its caller");
    if (!is_inverted && node->own[side] > 0 && node->own[side] < node->total[side]) {
        as_output_char(out, '\n');
        put_amount(d, node->own[side], false);
        as_output_text(out, " itself");
    }
    if (node->module == AS_NO_STR && node->kind == AS_NO_STR) return;
    const char *module = node->module == AS_NO_STR ? "" : as_flame_module_name(as_str_text(names, node->module));
    const char *kind = node->kind == AS_NO_STR ? "" : as_str_text(names, node->kind);
    as_output_char(out, '\n');
    as_svg_escape(out, kind, strlen(kind));
    if (*module && *kind) as_output_text(out, " in ");
    as_svg_escape(out, module, strlen(module));
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void put_attribute(const drawing *d, const char *name, double value) {
    as_output_printf(d->page.out, " %s=\"", name);
    as_svg_fine(d->page.out, value);
    as_output_char(d->page.out, '"');
}

/* The upper edge of a row; level 0 is that of everything. */
static double row_at(const drawing *d, size_t level) {
    return d->root + (d->picture->grows_up ? -1 : 1) * (double)ROW * (double)level;
}

static void put_box(const drawing *d, double x, double width, size_t level, const char *name, size_t size) {
    as_output *out = d->page.out;
    size_t columns = width > 7 ? (size_t)((width - 7) / AS_PAGE_LETTER) : 0;
    as_output_text(out, "</title><rect");
    put_attribute(d, "x", AS_PAGE_MARGIN + x);
    put_attribute(d, "y", row_at(d, level));
    put_attribute(d, "width", width);
    as_output_printf(out, " height=\"%d\"/>", BAR);
    if (columns >= 4 || as_display_width(name, size) <= columns) {
        as_output_text(out, "<text");
        put_attribute(d, "x", AS_PAGE_MARGIN + x + 4);
        put_attribute(d, "y", row_at(d, level) + 12.5);
        as_output_char(out, '>');
        as_page_cut(out, name, size, columns);
        as_output_text(out, "</text>");
    }
    as_output_text(out, "</g>\n");
}

static void draw_frame(const drawing *d, size_t i) {
    as_output *out = d->page.out;
    const as_flame_node *node = &AS_AT(as_flame_node, &d->tree->nodes, i);
    const as_strings *names = as_flame_names(d->tree->flame);
    const char *name = as_str_text(names, node->name);
    size_t size = as_str_size(names, node->name);
    double scale = d->plot / d->tree->width, width = node->width * scale;
    as_output_text(out, "<g class=\"");
    if (d->is_change)
        as_output_text(out, as_change_classes[as_flame_change(node->total[0], node->total[1])].name);
    else
        as_flame_put_class(out, d->tree, &d->colours, i);
    as_output_text(out, width > 20 ? " b\"><title>" : "\"><title>");
    if (!size) {
        name = "(no name)";
        size = strlen(name);
    }
    as_page_cut(out, name, size, AS_FLAME_LONGEST_NAME);
    put_facts(d, node);
    put_box(d, node->x * scale, width, node->depth + 1, name, size);
}

static void draw_frames(const drawing *d) {
    as_output *out = d->page.out;
    as_output_printf(out, "<g class=\"frames\" data-left=\"%d\" data-row=\"%d\" data-grows=\"%s\"", AS_PAGE_MARGIN, ROW,
                     d->picture->grows_up ? "up" : "down");
    put_attribute(d, "data-root", d->root);
    put_attribute(d, "data-width", d->plot);
    as_output_text(out, ">\n<g class=\"all b\"><title>");
    char name[AMOUNT_SIZE + 8] = "all, ";
    format_amount(d, d->tree->total[d->is_change], false, name + strlen(name));
    as_svg_escape(out, name, strlen(name));
    if (d->is_change) put_change(d, d->tree->total[0], d->tree->total[1]);
    put_box(d, 0, d->plot, 0, name, strlen(name));
    for (size_t i = 0; i < d->tree->nodes.count; i++) draw_frame(d, i);
    as_output_text(out, "</g>\n");
}

/* ---- the legend -------------------------------------------------------------------------------------------------- */

typedef struct legend {
    const drawing *d;
    double x, y;
    bool writes; /* else it only finds its height */
} legend;

static void put_key(legend *l, const char *colour, const char *text) {
    size_t columns = as_display_width(text, strlen(text));
    double width = 36 + AS_PAGE_LETTER * (double)(columns < LONGEST_KEY ? columns : LONGEST_KEY);
    if (l->x > AS_PAGE_MARGIN && l->x + width > l->d->page.width) {
        l->x = AS_PAGE_MARGIN;
        l->y += AS_PAGE_LINE;
    }
    if (l->writes) as_page_key(&l->d->page, l->x, l->y, colour, text, LONGEST_KEY);
    l->x += width;
}

/* Those of the largest groups, in the order of their colours. */
static void put_group_keys(legend *l) {
    const as_strings *names = as_flame_names(l->d->tree->flame);
    static const char *const shades[] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "g0", "g1", "g2", "g3"};
    size_t n_others = 0, n = l->d->colours.groups.count;
    for (size_t k = 0; k < sizeof shades / sizeof *shades; k++) {
        for (size_t i = 0; i < n; i++) {
            const as_flame_group *group = &AS_AT(as_flame_group, &l->d->colours.groups, i);
            if (strcmp(group->shade, shades[k]) != 0) continue;
            const char *text = group->text == AS_NO_STR ? "GPU" : as_str_text(names, group->text);
            put_key(l, shades[k], as_flame_module_name(text));
            break;
        }
    }
    for (size_t i = 0; i < n; i++) n_others += strcmp(AS_AT(as_flame_group, &l->d->colours.groups, i).shade, "hx") == 0;
    if (n_others) put_key(l, "hx", "others");
    if (n && l->d->colours.has_names) put_key(l, "w3", "functions, by name");
}

static double put_legend(const drawing *d, double y, bool writes) {
    legend l = {d, AS_PAGE_MARGIN, y, writes};
    for (size_t i = 0; d->is_change && i < AS_CHANGE_CLASSES; i++)
        put_key(&l, as_change_classes[i].name, as_change_classes[i].text);
    if (!d->is_change) put_group_keys(&l);
    return l.x > AS_PAGE_MARGIN ? l.y + AS_PAGE_LINE : y;
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

/* Stacks that only the side has which makes no widths: the largest, in their order. */
static void find_gone(drawing *d) {
    as_flame_width width = d->picture->request.width;
    size_t other = width == AS_WIDE_AS_SECOND ? 0 : 1;
    if (!d->is_change || width == AS_WIDE_AS_MOST) return;
    for (size_t i = 0; i < as_flame_count(d->tree->flame); i++) {
        as_flame_frame_info info = as_flame_look(d->tree->flame, (uint32_t)i);
        if (!(info.own[other] > 0) || info.own[1 - other] > 0) continue;
        size_t at = d->n_gone < MOST_GONE ? d->n_gone++ : MOST_GONE;
        d->all_gone++;
        d->gone_amount += info.own[other] * d->tree->scale[other];
        for (; at > 0; at--) {
            double before = as_flame_look(d->tree->flame, (uint32_t)d->gone[at - 1]).own[other];
            if (before >= info.own[other]) break;
            if (at < MOST_GONE) d->gone[at] = d->gone[at - 1];
        }
        if (at < MOST_GONE) d->gone[at] = i;
    }
}

/* "main;old;loop", as much of its end as there is room for. */
static void put_stack(const drawing *d, size_t frame) {
    enum { MOST_FRAMES = 4 };
    uint32_t path[MOST_FRAMES], at = (uint32_t)frame;
    const as_strings *names = as_flame_names(d->tree->flame);
    size_t n = 0;
    for (; at != AS_FLAME_ROOT && n < MOST_FRAMES; at = as_flame_look(d->tree->flame, at).parent) path[n++] = at;
    if (at != AS_FLAME_ROOT) as_output_text(d->page.out, "…;");
    for (size_t i = n; i-- > 0;) {
        as_str name = as_flame_look(d->tree->flame, path[i]).name;
        as_page_cut(d->page.out, as_str_text(names, name), as_str_size(names, name), 32);
        if (i) as_output_char(d->page.out, ';');
    }
}

static void open_note(const drawing *d, double y) {
    as_output_printf(d->page.out, "<text class=\"note\" x=\"%d\" y=\"", AS_PAGE_MARGIN);
    as_svg_number(d->page.out, y);
    as_output_text(d->page.out, "\">");
}

static double put_gone(const drawing *d, double y, bool writes) {
    size_t other = d->picture->request.width == AS_WIDE_AS_SECOND ? 0 : 1;
    char count[AS_QUANTITY_SIZE];
    if (!d->all_gone) return y;
    if (writes) {
        as_count_format(d->all_gone, count);
        open_note(d, y);
        as_output_printf(d->page.out, "%s stack%s that only ", count, d->all_gone == 1 ? "" : "s");
        as_page_cut(d->page.out, d->picture->sides[other], strlen(d->picture->sides[other]), 40);
        as_output_text(d->page.out, " has, with ");
        put_amount(d, d->gone_amount, false);
        as_output_text(d->page.out, ", cannot be seen here (--width-of max draws them):</text>\n");
    }
    y += AS_PAGE_LINE;
    for (size_t i = 0; i < d->n_gone; i++, y += AS_PAGE_LINE) {
        if (!writes) continue;
        open_note(d, y);
        as_output_text(d->page.out, "  ");
        put_amount(d, as_flame_look(d->tree->flame, (uint32_t)d->gone[i]).own[other] * d->tree->scale[other], false);
        as_output_text(d->page.out, "  ");
        put_stack(d, d->gone[i]);
        as_output_text(d->page.out, "</text>\n");
    }
    return y;
}

static double put_notes(const drawing *d, double y, bool writes) {
    char count[AS_QUANTITY_SIZE], percent[AS_QUANTITY_SIZE], text[256];
    const as_flame_tree *tree = d->tree;
    double room = d->page.width - 2 * AS_PAGE_MARGIN;
    uint64_t n_narrow = tree->n_left;
    y = put_gone(d, y, writes);
    if (n_narrow && tree->width > 0) {
        as_count_format(n_narrow, count);
        as_percent_format(tree->left_width / tree->width, percent);
        snprintf(text, sizeof text, "%s frame%s too narrow to be seen %s left out: %s %% of the whole lies in %s",
                 count, n_narrow == 1 ? "" : "s", n_narrow == 1 ? "is" : "are", percent, n_narrow == 1 ? "it" : "them");
        if (writes) as_page_text(&d->page, AS_PAGE_MARGIN, y, "note", text, room);
        y += AS_PAGE_LINE;
    }
    if (tree->n_minus) {
        as_count_format(tree->n_minus, count);
        snprintf(text, sizeof text, "%s stack%s with amounts below 0, or that are no numbers, cannot be drawn", count,
                 tree->n_minus == 1 ? "" : "s");
        if (writes) as_page_text(&d->page, AS_PAGE_MARGIN, y, "note", text, room);
        y += AS_PAGE_LINE;
    }
    if (!(tree->width > 0)) {
        if (writes)
            as_page_text(&d->page, AS_PAGE_MARGIN, y, "note", "There is nothing to draw: no stack has anything.", room);
        y += AS_PAGE_LINE;
    }
    return y;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Where the rows are, and how high the page is. */
static void lay_out(drawing *d) {
    size_t n_rows = 1;
    for (size_t i = 0; i < d->tree->nodes.count; i++) {
        size_t below = (size_t)AS_AT(as_flame_node, &d->tree->nodes, i).depth + 2;
        if (below > n_rows) n_rows = below;
    }
    double height = (double)ROW * (double)n_rows;
    d->plot = d->page.width - 2 * AS_PAGE_MARGIN;
    d->root = d->picture->grows_up ? AS_PAGE_HEAD + height - ROW : AS_PAGE_HEAD;
    d->foot = AS_PAGE_HEAD + height + 18;
    d->page.height = put_notes(d, put_legend(d, d->foot, false), false);
}

bool as_flame_svg_write(as_output *out, const as_flame_tree *tree, const as_flame_svg *picture) {
    drawing d = {.tree = tree, .picture = picture, .is_change = as_flame_sides(tree->flame) > 1};
    as_vec style; /* char */
    as_vec_init(&style, 1, NULL);
    d.page = (as_page){.out = out,
                       .width = picture->page_width,
                       .title = picture->title,
                       .subtitle = picture->subtitle,
                       .what = "flame graph"};
    bool fine = as_flame_colours_of(tree, picture->colour, &d.colours) && as_flame_style(&style);
    if (fine) {
        find_gone(&d);
        lay_out(&d);
        as_page_begin(&d.page, style.data);
        draw_frames(&d);
        put_notes(&d, put_legend(&d, d.foot, true), true);
        as_page_end(&d.page, as_flame_script);
    }
    as_flame_colours_free(&d.colours);
    as_vec_free(&style);
    return fine;
}
