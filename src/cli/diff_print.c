/* What changed, for people. */
#include <stdlib.h>

#include "cli/context_text.h"
#include "cli/diff_view.h"
#include "render/display.h"
#include "render/names.h"
#include "render/quantity.h"
#include "render/tree_text.h"

/* Columns of the tree. */
enum { BASE, TARGET, CHANGE, RELATIVE, SELF, N_COLUMNS };

typedef struct printing {
    as_diff_view *view;
    size_t column;
    as_tree_text text;
    as_arena names; /* that were put together */
    as_text name;   /* in the making */
    bool is_below_root;
} printing;

static as_tree_number shown(const as_view_number *number) {
    as_number value =
        number->is_whole ? as_whole_number(number->whole) : (as_number){.kind = AS_REAL, .r = number->real};
    return (as_tree_number){number->is_known, value};
}

/* What people see of a name: files without their folders. NULL when memory is out. */
static const char *name_for_people(printing *p, const as_change_node *node, const as_region *region) {
    const as_dataset *ds = p->view->comparison.ds;
    const char *name = as_ds_text(ds, node->name);
    if (!name) return "(unknown)";
    if (!region || p->text.full_names) return name;
    as_text_clear(&p->name);
    as_name_of_place(&p->name, name, as_ds_text(ds, region->file), region->line_begin);
    if (p->name.failed) return NULL;
    size_t size = as_text_size(&p->name);
    return size == strlen(name) ? name : as_arena_copy(&p->names, as_text_data(&p->name), size);
}

/* What stands behind a name: what happened to it, and what it is. */
static const char *remark_of(const as_change_node *node) {
    static const char *const remarks[3][3] = {
        {NULL, "section", "aside"}, {"new", "new section", "new, aside"}, {"gone", "gone section", "gone, aside"}};
    return remarks[!node->is_in[AS_BASE]     ? 1
                   : !node->is_in[AS_TARGET] ? 2
                                             : 0][node->is_section ? 1
                                                  : node->is_aside ? 2
                                                                   : 0];
}

static bool keep_row(void *user, const as_change_node *node) {
    printing *p = user;
    const as_dataset *ds = p->view->comparison.ds;
    const as_change_value *value = &node->values[p->column];
    /* A root that stands for no function is what the line above is about. */
    if (node->depth == 0 && as_context_is_root(ds, node->context)) p->is_below_root = !p->view->request.flat;
    if (node->depth == 0 && p->is_below_root) return true;
    bool by_itself = p->view->request.flat && p->view->comparison.columns[p->column].has_exclusive;
    const as_change *first = by_itself ? &value->exclusive : &value->inclusive,
                    *second = by_itself ? &value->inclusive : &value->exclusive;
    as_tree_number numbers[N_COLUMNS][2] = {0}; /* there are no exclusive ones in this table */
    double relative = first->change.is_known ? as_change_relative(first) : NAN;
    numbers[BASE][0] = shown(&first->side[AS_BASE]);
    numbers[TARGET][0] = shown(&first->side[AS_TARGET]);
    numbers[CHANGE][0] = shown(&first->change);
    numbers[RELATIVE][0] = (as_tree_number){isfinite(relative), {.kind = AS_REAL, .r = relative}};
    numbers[SELF][0] = shown(&second->change);
    const as_context *context = as_ds_context(ds, node->context);
    const as_region *region = context->region == ASSAY_NONE ? NULL : as_ds_region(ds, context->region);
    const char *name = name_for_people(p, node, region);
    if (!name) return false;
    as_tree_row row = {.depth = node->depth - p->is_below_root,
                       .is_last = node->is_last,
                       .name = name,
                       .file = region ? as_ds_text(ds, region->file) : NULL,
                       .line = region && region->line_begin >= 0 ? region->line_begin : context->line,
                       .remark = remark_of(node)};
    size_t n = p->text.n_metrics;
    return as_vec_append(&p->text.numbers, numbers, 2 * n) && as_vec_append(&p->text.rows, &row, 1);
}

/* The name of a file without the way to it, or as much of that as tells the two apart. */
static const char *short_name(const as_diff_view *view, size_t side) {
    const char *a = view->names[AS_BASE], *b = view->names[AS_TARGET], *bases[2] = {a, b};
    size_t same = 0; /* what both begin with, up to the last slash */
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/') same = i + 1;
    for (size_t i = 0; i < 2; i++) {
        const char *slash = strrchr(view->names[i], '/');
        if (slash && slash[1]) bases[i] = slash + 1;
    }
    return strcmp(bases[0], bases[1]) != 0 ? bases[side] : strcmp(a, b) != 0 ? view->names[side] + same : bases[side];
}

/* ---- the lines above and below ----------------------------------------------------------------------------------- */

static void print_amount(as_cli *cli, as_output *out, const as_quantity *q, const as_view_number *number,
                         bool with_sign) {
    char text[AS_QUANTITY_SIZE];
    as_tree_number value = shown(number);
    as_quantity_format(q, value.number, text);
    bool is_count = strcmp(q->unit, "occ") == 0 || strcmp(q->unit, "#") == 0;
    const char *unit = is_count ? "" : as_unit_shown(q, as_cli_is_ascii(cli));
    as_output_printf(out, "%s%s%s%s", with_sign && as_number_real(value.number) > 0 ? "+" : "", text, *unit ? " " : "",
                     unit);
}

static bool is_integer(const as_view_number *number) { return floor(number->real) == number->real; }

/* "time 130.5 s -> 145.3 s, +14.75 s (+11.3 %)" */
static void print_whole(const printing *p, as_output *out) {
    as_cli *cli = p->view->cli;
    const as_comparison *c = &p->view->comparison;
    const as_metric *metric = as_ds_metric(c->ds, c->columns[p->column].metric);
    const char *name = as_ds_text(c->ds, metric->name), *arrow = as_cli_is_ascii(cli) ? "->" : "→";
    const char *target = as_diff_target_metric(p->view, c->columns[p->column].metric);
    as_display_write(out, name ? name : "value", name ? strlen(name) : 5, 0);
    if (target) {
        as_output_printf(out, " %s ", arrow);
        as_display_write(out, target, strlen(target), 0);
        as_output_char(out, ':');
    }
    as_change whole = as_comparison_whole(c, p->column).inclusive;
    if (!c->columns[p->column].adds_up || !whole.change.is_known) return;
    double larger = fmax(fabs(whole.side[AS_BASE].real), fabs(whole.side[AS_TARGET].real));
    bool is_whole = whole.change.is_whole ||
                    (larger < 0x1p53 && is_integer(&whole.side[AS_BASE]) && is_integer(&whole.side[AS_TARGET]));
    as_quantity q = as_quantity_of(as_ds_text(c->ds, metric->unit), larger, is_whole);
    as_output_char(out, ' ');
    print_amount(cli, out, &q, &whole.side[AS_BASE], false);
    as_output_printf(out, " %s ", arrow);
    print_amount(cli, out, &q, &whole.side[AS_TARGET], false);
    if (whole.change.real == 0) return;
    const char *colour = whole.change.real > 0 ? AS_RED : AS_GREEN;
    as_output_printf(out, ", %s", as_sgr(cli->style.colour, colour));
    print_amount(cli, out, &q, &whole.change, true);
    char percent[AS_QUANTITY_SIZE];
    if (as_percent_change_format(as_change_relative(&whole), percent)) as_output_printf(out, " (%s %%)", percent);
    as_output_text(out, as_sgr(cli->style.colour, AS_PLAIN));
}

/* What stands behind the names. */
static void describe(const printing *p, as_output *out) {
    enum { LONGEST_NAME = 40 };
    const as_diff_view *view = p->view;
    const char *label = view->locations[AS_BASE].label;
    print_whole(p, out);
    if (label[0]) {
        as_output_text(out, ", ");
        as_display_write(out, label, strlen(label), LONGEST_NAME);
    }
    const char *base = view->runs[AS_BASE].label, *target = view->runs[AS_TARGET].label;
    if (base[0]) as_output_printf(out, ", %s", base);
    const char *arrow = as_cli_is_ascii(view->cli) ? " -> " : " → ";
    if (strcmp(base, target) != 0 && target[0]) as_output_printf(out, "%s%s", base[0] ? arrow : ", ", target);
}

/* Columns that a text takes, without its colours. */
static size_t plain_width(const char *text, size_t size) {
    size_t width = 0;
    for (const char *end = text + size; text < end;) {
        const char *escape = memchr(text, '\033', (size_t)(end - text));
        width += as_display_width(text, (size_t)((escape ? escape : end) - text));
        const char *last = escape ? memchr(escape, 'm', (size_t)(end - escape)) : NULL;
        text = last ? last + 1 : end;
    }
    return width;
}

/* The names, and what changed in all: beside them, or below where that is too wide. */
static bool print_head(const printing *p) {
    as_diff_view *view = p->view;
    as_cli *cli = view->cli;
    const char *names[2], *arrow = as_cli_is_ascii(cli) ? " -> " : " → ";
    as_output *details = as_output_to_memory();
    size_t size = 0, width = cli->style.width, used = as_display_width(arrow, strlen(arrow)), room;
    if (details) {
        as_output_set_ascii(details, as_output_is_ascii(cli->out));
        describe(p, details);
    }
    const char *text = details ? as_output_memory(details, &size) : NULL;
    room = width > used + 2 ? (width - used) / 2 : 1;
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
    for (size_t side = 0; side < 2; side++) {
        names[side] = short_name(view, side);
        if (side) as_output_text(cli->out, arrow);
        used += as_display_write_end(cli->out, names[side], strlen(names[side]), width ? room : 0);
    }
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
    bool is_below = width && text && used + 2 + plain_width(text, size) > width;
    as_output_text(cli->out, is_below ? "\n" : "  ");
    if (text) as_output_write(cli->out, text, size);
    as_output_char(cli->out, '\n');
    as_output_discard(details);
    return text != NULL;
}

/* What was left out, and how to see it. */
static void print_cuts(const printing *p, const as_change_cut *cut) {
    const as_diff_view *view = p->view;
    as_cli *cli = view->cli;
    const char *dots = as_cli_is_ascii(cli) ? "..." : "…", *hint = view->is_cut ? "; --all shows them" : "";
    char count[AS_QUANTITY_SIZE], percent[AS_NUMBER_SIZE];
    as_real_format(as_real_round(view->request.min_change * 100, 4), percent);
    bool has_limit = view->request.min_change > 0;
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_DIM));
    if (!p->text.rows.count) {
        as_output_text(cli->out, view->request.flat ? "no function changed" : "no call path changed");
        if (has_limit) as_output_printf(cli->out, " by %s %% or more", percent);
        as_output_printf(cli->out, "%s\n", hint);
    } else if (cut->small) {
        as_count_format(cut->small, count);
        as_output_printf(cli->out, "%s %s more ", dots, count);
        if (has_limit)
            as_output_printf(cli->out, "changed by less than %s %%, or not at all%s\n", percent, hint);
        else
            as_output_printf(cli->out, "did not change%s\n", hint);
    }
    if (cut->rest) {
        as_count_format(cut->rest, count);
        as_output_printf(cli->out, "%s %s more; a larger -n shows them\n", dots, count);
    }
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
}

static bool is_function(const as_diff_view *view, assay_id context) {
    return as_ds_context(view->comparison.ds, context)->role == AS_ROLE_CALL;
}

/* A name with what stands before it: on a new line where it is too wide for this one. Returns the columns that are
 * used. */
static size_t print_next(as_cli *cli, const as_text *name, bool is_first, size_t used) {
    enum { INDENT = 4 };
    size_t width = cli->style.width, size = as_text_size(name), columns = as_display_width(as_text_data(name), size);
    if (!is_first) as_output_char(cli->out, ','), used++;
    bool breaks = width && used + columns + 2 > width;
    as_output_text(cli->out, breaks ? "\n" : is_first ? "" : " ");
    if (breaks) as_display_pad(cli->out, INDENT);
    used = breaks ? INDENT : used + !is_first;
    return used + as_display_write(cli->out, as_text_data(name), size, 0);
}

/* "only in new.cubex: cleanup, check": functions; where there are none, loops and lines. False when memory is out. */
static bool print_only(as_diff_view *view, size_t side) {
    enum { MOST = 8, LONGEST_NAME = 30 };
    as_cli *cli = view->cli;
    const as_vec *only = &view->only[side];
    const char *file = short_name(view, side);
    size_t width = cli->style.width, used = strlen("only in : "), n = 0;
    bool has_functions = false;
    for (size_t i = 0; i < only->count; i++) has_functions |= is_function(view, AS_AT(assay_id, only, i));
    if (!only->count) return true;
    as_output_text(cli->out, "only in ");
    used += as_display_write_end(cli->out, file, strlen(file), width > used + LONGEST_NAME ? width - used : 0);
    as_output_text(cli->out, ": ");
    as_text name, shown;
    as_text_init(&name);
    as_text_init(&shown);
    for (size_t i = 0; i < only->count; i++) {
        assay_id context = AS_AT(assay_id, only, i);
        if ((has_functions && !is_function(view, context)) || n++ >= MOST) continue;
        as_text_clear(&name);
        as_text_clear(&shown);
        as_context_put_name(&name, view->comparison.ds, context);
        as_name_shorten(&shown, as_text_data(&name), as_text_size(&name), width ? LONGEST_NAME : AS_WIDEST_NAME,
                        as_display_ellipsis(cli->out));
        used = print_next(cli, &shown, n == 1, used);
    }
    if (n > MOST) as_output_printf(cli->out, " and %zu more", n - MOST);
    as_output_char(cli->out, '\n');
    bool fine = !name.failed && !shown.failed;
    as_text_free(&name);
    as_text_free(&shown);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static as_exit print_column(as_diff_view *view, size_t column) {
    as_cli *cli = view->cli;
    const as_comparison *c = &view->comparison;
    bool flat = view->request.flat, has_exclusive = c->columns[column].has_exclusive;
    const char *unit = as_ds_text(c->ds, as_ds_metric(c->ds, c->columns[column].metric)->unit);
    const as_tree_metric metrics[N_COLUMNS] = {
        [BASE] = {.title = "base", .unit = unit, .whole = NAN, .can_be_left_out = true},
        [TARGET] = {.title = "target", .unit = unit, .whole = NAN, .shares_unit = true, .can_be_left_out = true},
        [CHANGE] = {.title = "change", .unit = unit, .whole = NAN, .shares_unit = true, .is_change = true},
        [RELATIVE] = {.title = "%", .whole = NAN, .shares_unit = true, .is_part = true, .is_change = true},
        [SELF] = {.title = flat ? "incl" : "self",
                  .shares_unit = true,
                  .unit = unit,
                  .whole = NAN,
                  .is_change = true,
                  .can_be_left_out = true}};
    printing p = {.view = view, .column = column};
    as_change_request request = as_diff_request(view, column);
    request.only_by = true;
    as_change_cut cut = {0};
    as_tree_text_init(&p.text);
    as_arena_init(&p.names, NULL);
    as_text_init(&p.name);
    p.text.metrics = metrics;
    p.text.n_metrics = has_exclusive ? N_COLUMNS : N_COLUMNS - 1;
    p.text.heading = flat ? "function" : "call tree";
    p.text.is_list = flat;
    p.text.width = cli->style.width;
    p.text.colour = cli->style.colour;
    p.text.ascii = as_cli_is_ascii(cli);
    p.text.full_names = as_cli_has(cli, "full-names");
    as_exit status = as_diff_walk(view, &request, keep_row, &p, &cut);
    if (status == AS_EXIT_FINE) {
        if (!print_head(&p) || (p.text.rows.count && !as_tree_text_print(cli->out, &p.text)))
            status = as_cli_memory(cli);
        print_cuts(&p, &cut);
    }
    as_tree_text_free(&p.text);
    as_arena_free(&p.names);
    as_text_free(&p.name);
    return status;
}

as_exit as_diff_print(as_diff_view *view) {
    as_exit status = AS_EXIT_FINE;
    for (size_t k = 0; k < view->comparison.n_columns && status == AS_EXIT_FINE; k++) {
        if (k) as_output_char(view->cli->out, '\n');
        status = print_column(view, k);
    }
    if (status == AS_EXIT_FINE && !view->comparison.n_columns)
        as_cli_note(view->cli, "the two have no metric in common, nor main ones of one unit; --metric-a and --metric-b "
                               "set others against each other");
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++)
        if (!print_only(view, side)) status = as_cli_memory(view->cli);
    return status;
}
