/* The tree for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/busy.h"
#include "cli/pause_note.h"
#include "cli/tree_view.h"
#include "dataset/metric_names.h"
#include "render/display.h"
#include "render/names.h"
#include "render/quantity.h"
#include "render/tree_text.h"

enum { LONGEST_CHAIN = 400 }; /* bytes of names on one line */

typedef struct printing {
    as_tree_view *view;
    as_view_data covered; /* how long at least one interval of a section was under way; no columns: nobody knows */
    as_tree_text text;
    as_tree_metric *metrics;
    double shown;     /* share of the first level, exclusive */
    as_arena names;   /* that were put together */
    as_text name;     /* in the making */
    as_vec depths;    /* uint32_t: for each depth of the walk that of the line */
    uint32_t is_next; /* the depth at which the next node is a child of the last line */
} printing;

/* The name of a metric without its unit, which stands beside it: "CPUTIME:Sum" of "CPUTIME (usec):Sum". Lives as long
 * as the arena. */
static const char *metric_title(const as_dataset *ds, assay_id metric, as_arena *arena) {
    const as_metric *about = as_ds_metric(ds, metric);
    const char *name = as_ds_text(ds, about->name), *unit = as_ds_text(ds, about->unit);
    if (!name || !*name) return "value";
    size_t from, to;
    if (!as_metric_find_unit(name, unit, &from, &to)) return name;
    char *title = as_arena_copy(arena, name, strlen(name));
    if (!title) return name;
    memmove(title + from, title + to, strlen(title + to) + 1);
    return title;
}

static as_tree_number tree_number(const as_view_number *number) {
    as_number shown =
        number->is_whole ? as_whole_number(number->whole) : (as_number){.kind = AS_REAL, .r = number->real};
    return (as_tree_number){number->is_known, shown};
}

static bool is_same(const as_tree_number *a, const as_view_number *b) {
    as_tree_number other = tree_number(b);
    return a->is_known == other.is_known && as_number_real(a->number) == as_number_real(other.number);
}

/* Whether the node is the only caller of the one on the last line, which stands below a function itself: the two share
 * a line. */
static bool is_chain(const printing *p, const as_view_node *node) {
    size_t n = p->view->data.n_columns;
    size_t size = p->text.rows.count ? strlen(AS_AT(as_tree_row, &p->text.rows, p->text.rows.count - 1).name) : 0;
    if (size > LONGEST_CHAIN || p->view->request.kind != AS_VIEW_BOTTOM_UP || node->depth < 2 || !node->is_last ||
        p->is_next != node->depth)
        return false;
    const as_tree_number *last = (const as_tree_number *)p->text.numbers.data + p->text.numbers.count - 2 * n;
    for (size_t k = 0; k < n; k++) {
        if (!is_same(&last[2 * k], &node->values[k].inclusive) ||
            !is_same(&last[2 * k + 1], &node->values[k].exclusive))
            return false;
    }
    return true;
}

/* The caller's name behind those on the last line. */
static bool extend_name(printing *p, const char *name) {
    as_tree_row *row = &AS_AT(as_tree_row, &p->text.rows, p->text.rows.count - 1);
    size_t before = strlen(row->name), behind = strlen(name);
    char *joined = as_arena_alloc(&p->names, before + 1 + behind + 1);
    if (!joined) return false;
    memcpy(joined, row->name, before);
    joined[before] = AS_TREE_CALLER;
    memcpy(joined + before + 1, name, behind);
    row->name = joined;
    row->file = row->source = NULL;
    return true;
}

/* Whether a node is a section: of the whole that others make up it is no part. */
static bool is_section(const printing *p, const as_view_node *node) {
    return node->level == AS_LEVEL_CONTEXT && node->context != ASSAY_NONE &&
           as_context_is_section(p->view->ds, node->context);
}

static bool keep_numbers(printing *p, const as_view_node *node) {
    const as_view_data *data = &p->view->data;
    bool is_apart = node->is_aside || (data->leaves_apart && is_section(p, node));
    if (node->depth == 0 && data->n_columns && !is_apart) {
        const as_view_value *value = &node->values[0];
        p->shown += data->columns[0].has_exclusive ? value->exclusive.real : value->inclusive.real;
    }
    for (size_t k = 0; k < data->n_columns; k++) {
        as_tree_number numbers[] = {tree_number(&node->values[k].inclusive), tree_number(&node->values[k].exclusive)};
        if (!as_vec_append(&p->text.numbers, numbers, 2)) return false;
    }
    return true;
}

/* A copy, with single spaces for what a terminal would jump by. */
static const char *keep_text(printing *p, const char *text, size_t size) {
    char *copy = as_arena_alloc(&p->names, size + 1);
    for (size_t i = 0; copy && i < size; i++) copy[i] = text[i] == '\t' ? ' ' : text[i];
    if (copy) copy[size] = '\0';
    return copy;
}

static const char *join_texts(printing *p, const char *a, const char *b) {
    size_t a_size = strlen(a), b_size = strlen(b);
    char *text = as_arena_alloc(&p->names, a_size + b_size + 1);
    if (!text) return NULL;
    memcpy(text, a, a_size);
    memcpy(text + a_size, b, b_size + 1);
    return text;
}

/* What people see of a name: files without their folders, whom a place calls with an arrow. NULL when memory is out. */
static const char *name_for_people(printing *p, const as_view_node *node, const as_tree_place *place) {
    const char *name = as_tree_name_of(p->view, node, true), *file = as_ds_text(p->view->ds, place->file);
    bool is_whole = as_cli_has(p->view->cli, "full-names");
    if (node->level == AS_LEVEL_CALL) return join_texts(p, as_cli_is_ascii(p->view->cli) ? "-> " : "→ ", name);
    const char *last = node->level == AS_LEVEL_MODULE && !is_whole ? strrchr(name, '/') : NULL;
    if (last && last[1]) return last + 1;
    as_text_clear(&p->name);
    as_name_of_place(&p->name, name, is_whole ? NULL : file, place->line);
    if (p->name.failed) return NULL;
    size_t size = as_text_size(&p->name);
    bool is_same = size == strlen(name) && name != (const char *)p->view->name.data;
    return is_same ? name : as_arena_copy(&p->names, as_text_data(&p->name), size);
}

/* The folder of a module or file, where its name is not whole. */
static const char *folder_of(printing *p, const as_view_node *node) {
    const char *name = as_ds_text(p->view->ds, node->name), *slash = name ? strrchr(name, '/') : NULL;
    bool has_folder = node->level == AS_LEVEL_MODULE || node->level == AS_LEVEL_FILE;
    if (!has_folder || !slash || slash == name || !slash[1] || as_cli_has(p->view->cli, "full-names")) return NULL;
    return keep_text(p, name, (size_t)(slash - name));
}

/* Where a row stands, and below what. A node that shares a line with the one before has no row of its own. */
static bool place_row(printing *p, const as_view_node *node, bool is_joined, uint32_t *depth) {
    uint32_t above = node->depth ? AS_AT(uint32_t, &p->depths, node->depth - 1) : 0;
    *depth = is_joined || node->depth == 0 ? above : above + 1;
    p->depths.count = node->depth;
    p->is_next = node->depth + 1;
    return as_vec_append(&p->depths, depth, 1);
}

/* "covers 12.3 ms" of a section whose intervals overlap, else *note stays NULL. False when memory is out. */
static bool cover_note(printing *p, const as_view_node *node, const char **note) {
    as_node found;
    bool is_found = p->covered.n_columns && as_column_node(&p->covered.columns[0], node->context, &found);
    double covered = is_found ? as_number_real(found.inclusive) : NAN, all = node->values[0].inclusive.real;
    if (!(fabs(covered - all) > 1e-6 * fabs(all))) return true;
    const as_dataset *ds = p->view->ds;
    as_quantity q =
        as_quantity_of(as_ds_text(ds, as_ds_metric(ds, p->covered.columns[0].metric)->unit), covered, false);
    char text[AS_QUANTITY_SIZE], words[2 * AS_QUANTITY_SIZE];
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = covered}, text);
    int size = snprintf(words, sizeof words, "covers %s %s", text, as_unit_shown(&q, as_cli_is_ascii(p->view->cli)));
    *note = keep_text(p, words, (size_t)size);
    return *note;
}

static bool keep_row(void *user, const as_view_node *node) {
    printing *p = user;
    const as_dataset *ds = p->view->ds;
    char digits[AS_NUMBER_SIZE];
    as_tree_place place = as_tree_place_of(p->view, node, digits);
    const char *name = name_for_people(p, node, &place);
    bool is_joined = is_chain(p, node), is_function = node->level == AS_LEVEL_CONTEXT;
    as_tree_row row = {.is_last = node->is_last,
                       .is_hot = node->is_hot,
                       .is_marked = node->is_wanted,
                       .name = name,
                       .file = is_function ? as_ds_text(ds, place.file) : NULL,
                       .line = place.line,
                       .call_file = as_ds_text(ds, place.call_file),
                       .call_line = place.call_line,
                       .folder = folder_of(p, node)};
    if (node->is_aside) row.remark = "aside";
    if (is_section(p, node)) {
        row.remark = "section";
        if (!cover_note(p, node, &row.note)) return false;
    }
    if (!name || !place_row(p, node, is_joined, &row.depth)) return false;
    if (is_joined) return extend_name(p, name);
    size_t size;
    const char *source = as_tree_source_of(p->view, node, &place, &size);
    if (source && !(row.source = keep_text(p, source, size))) return false;
    return keep_numbers(p, node) && as_vec_append(&p->text.rows, &row, 1);
}

/* ---- the line above ---------------------------------------------------------------------------------------------- */

/* "time 24.55 s" of a metric. */
static void print_whole(printing *p, as_output *out, size_t column, const char *before) {
    as_tree_view *view = p->view;
    const as_dataset *ds = view->ds;
    assay_id id = view->data.columns[column].metric;
    const as_metric *metric = as_ds_metric(ds, id);
    const char *title = metric_title(ds, id, &p->names), *unit = as_ds_text(ds, metric->unit);
    as_output_text(out, before);
    as_display_write(out, title, strlen(title), 0);
    as_view_number whole = as_view_whole(&view->data, column).inclusive;
    if (!whole.is_known || !isfinite(whole.real)) return;
    as_number number = tree_number(&whole).number;
    bool is_whole = whole.is_whole || (fabs(whole.real) < 0x1p53 && floor(whole.real) == whole.real);
    as_quantity q = as_quantity_of(unit, whole.real, is_whole);
    char text[AS_QUANTITY_SIZE];
    as_quantity_format(&q, number, text);
    const char *shown_unit = as_unit_shown(&q, as_cli_is_ascii(view->cli));
    as_output_printf(out, " %s%s%s", text, *shown_unit ? " " : "", shown_unit);
}

/* ", GPU busy 63.2 %": of several the mean. Not of captures that are so large that one would wait for it. */
static void print_busy(const as_dataset *ds, as_output *out) {
    enum { MOST_EVENTS = 2000000 };
    as_vec devices; /* as_device_busy */
    double span, all = 0;
    char share[AS_QUANTITY_SIZE];
    if (as_ds_intervals(ds) > MOST_EVENTS) return;
    as_vec_init(&devices, sizeof(as_device_busy), NULL);
    bool fine = as_devices_busy(ds, &devices, &span);
    size_t n = devices.count;
    for (size_t i = 0; fine && i < n; i++) all += AS_AT(as_device_busy, &devices, i).all;
    if (fine && n && as_percent_format(all / span / (double)n, share)) {
        if (n > 1) as_output_printf(out, ", %zu GPUs", n);
        as_output_printf(out, "%s busy %s %%", n > 1 ? "" : ", GPU", share);
    }
    as_vec_free(&devices);
}

/* " in solve, init": what --root names. */
static void print_roots(const as_cli *cli, as_output *out) {
    bool is_first = true;
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, "root") != 0) continue;
        as_output_text(out, is_first ? " in " : ", ");
        as_display_write(out, given->value, strlen(given->value), 40);
        is_first = false;
    }
}

/* What stands behind the name of the file. */
static void describe(printing *p, as_output *out) {
    as_tree_view *view = p->view;
    if (view->data.n_columns) print_whole(p, out, 0, "  ");
    if (view->has_gpu_time) print_whole(p, out, view->n_asked, ", ");
    if (view->has_gpu_time && !view->locations.label[0]) print_busy(view->ds, out);
    if (!view->ask->is_plain) print_roots(view->cli, out);
    if (view->locations.label[0]) {
        as_output_text(out, ", ");
        as_display_write(out, view->locations.label, strlen(view->locations.label), 40);
    }
    char count[AS_QUANTITY_SIZE];
    as_count_format(view->locations.n_leaves, count);
    if (view->locations.n_leaves > 1) as_output_printf(out, ", %s locations", count);
    if (view->runs.label[0]) {
        as_output_text(out, ", ");
        as_display_write(out, view->runs.label, strlen(view->runs.label), 0);
    }
}

static bool print_head(printing *p) {
    enum { LEAST_PATH = 20 };
    as_tree_view *view = p->view;
    as_cli *cli = view->cli;
    const char *path = as_ds_text(view->ds, view->ds->path);
    as_output *details = as_output_to_memory();
    size_t size = 0;
    if (details) describe(p, details);
    const char *text = details ? as_output_memory(details, &size) : NULL;
    if (text) {
        size_t width = cli->style.width, used = as_display_width(text, size);
        size_t room = width && width > used + LEAST_PATH ? width - used : LEAST_PATH;
        as_output_text(cli->out, as_sgr(cli->style.colour, AS_BOLD));
        as_display_write_end(cli->out, path, strlen(path), width ? room : 0);
        as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
        as_output_write(cli->out, text, size);
        as_output_char(cli->out, '\n');
    }
    as_output_discard(details);
    return text != NULL;
}

/* ---- the lines below --------------------------------------------------------------------------------------------- */

/* What was left out, and how to see it. */
static void print_cuts(const printing *p, const as_view_cut *cut) {
    as_tree_view *view = p->view;
    as_cli *cli = view->cli;
    const char *dots = as_cli_is_ascii(cli) ? "..." : "…";
    char count[AS_QUANTITY_SIZE], share[AS_QUANTITY_SIZE];
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_DIM));
    if (cut->small) {
        as_count_format(cut->small, count);
        as_real_format(as_real_round(view->request.min_share * 100, 4), share);
        as_output_printf(cli->out, "%s %s more below %s %%%s\n", dots, count, share,
                         view->ask->is_cut ? "; --all shows them" : "");
    }
    if (cut->deep && as_cli_has(cli, "depth") && !cut->limit) {
        as_count_format(cut->deep, count);
        as_output_printf(cli->out, "%s %s more below level %u\n", dots, count, (unsigned)view->request.max_levels);
    }
    if (cut->hidden) {
        as_count_format(cut->hidden, count);
        as_output_printf(cli->out, "%s %s hidden\n", dots, count);
    }
    if (cut->rest) {
        double rest = 1 - p->shown / view->data.columns[0].whole;
        as_count_format(cut->rest, count);
        as_output_printf(cli->out, "%s %s more", dots, count);
        /* Of functions that were asked for, the others are not all that is missing */
        if (!view->request.wanted && !view->request.hidden && isfinite(rest) && rest >= 0 &&
            as_percent_format(rest, share))
            as_output_printf(cli->out, ", %s %% in all", share);
        if (view->ask->no_limit) as_output_printf(cli->out, "; %s shows them", view->ask->no_limit);
        as_output_text(cli->out, "\n");
    }
    as_output_text(cli->out, as_sgr(cli->style.colour, AS_PLAIN));
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void describe_metrics(printing *p) {
    const as_tree_view *view = p->view;
    for (size_t k = 0; k < view->data.n_columns; k++) {
        const as_view_column *column = &view->data.columns[k];
        bool is_extra = k >= view->n_asked, is_gpu_time = view->has_gpu_time && k == view->n_asked;
        p->metrics[k] = (as_tree_metric){.title = metric_title(view->ds, column->metric, &p->names),
                                         .unit = as_ds_text(view->ds, as_ds_metric(view->ds, column->metric)->unit),
                                         .whole = is_gpu_time ? NAN : column->whole,
                                         .has_exclusive = column->has_exclusive && !is_gpu_time,
                                         .only_exclusive = column->is_only_exclusive ||
                                                           (is_extra && column->has_exclusive && !is_gpu_time),
                                         .can_be_left_out = is_extra};
    }
}

static const char *heading_of(const as_cli *cli, const as_view_request *request) {
    static const char *const groups[] = {"function", "file", "module", "kind", "module, file, function"};
    const char *by = as_cli_value(cli, "by");
    bool by_kernel = by && strcmp(by, "kernel") == 0;
    if (request->kind == AS_VIEW_TOP_DOWN) return "call tree";
    if (by_kernel) return request->kind == AS_VIEW_BOTTOM_UP ? "GPU activity, called by" : "GPU activity";
    return request->kind == AS_VIEW_BOTTOM_UP ? "function, called by" : groups[request->group];
}

/* Whether there is anything to show beside names; without metrics names are all there is. */
static bool has_values(const as_tree_view *view) {
    const as_view_data *data = &view->data;
    bool has_any = data->n_columns == 0;
    for (size_t k = 0; k < data->n_columns; k++)
        has_any |= data->columns[k].formula != NULL || as_column_has_any(&data->columns[k]);
    return has_any;
}

/* Beside the time of sections stands what they cover. */
static as_exit load_covered(printing *p) {
    as_tree_view *view = p->view;
    const as_dataset *ds = view->ds;
    assay_id covered = as_metric_by_name(ds, "time covered", strlen("time covered"), false, NULL, 0);
    const char *first =
        view->data.n_columns ? as_ds_text(ds, as_ds_metric(ds, view->data.columns[0].metric)->name) : "";
    assay_error error;
    if (covered == ASSAY_NONE || !first || strcmp(first, "time") != 0) return AS_EXIT_FINE;
    if (as_view_load(&view->data.source, &covered, 1, view->data.roots, view->data.n_roots, &p->covered, &error) ==
        ASSAY_OK)
        return AS_EXIT_FINE;
    return as_cli_error(view->cli, &error);
}

static as_exit print_tree(printing *p) {
    as_tree_view *view = p->view;
    as_cli *cli = view->cli;
    as_view_cut cut;
    as_exit status = load_covered(p);
    if (status == AS_EXIT_FINE) status = as_tree_walk(view, keep_row, p, &cut);
    if (status != AS_EXIT_FINE) return status;
    describe_metrics(p);
    p->text.metrics = p->metrics;
    p->text.n_metrics = view->data.n_columns;
    p->text.heading = heading_of(cli, &view->request);
    p->text.exclusive_first = view->request.kind != AS_VIEW_TOP_DOWN && view->request.order != AS_SORT_INCLUSIVE;
    p->text.is_list = view->request.kind == AS_VIEW_FLAT && view->request.group != AS_GROUP_SCOPE;
    p->text.width = cli->style.width;
    p->text.colour = cli->style.colour;
    p->text.ascii = as_cli_is_ascii(cli);
    p->text.full_names = as_cli_has(cli, "full-names");
    if (!print_head(p)) return as_cli_memory(cli);
    if (!has_values(view)) {
        as_output_printf(cli->out, "%sthere are no values%s%s%s\n", as_sgr(cli->style.colour, AS_DIM),
                         view->locations.label[0] ? " at " : "", view->locations.label,
                         as_sgr(cli->style.colour, AS_PLAIN));
        return AS_EXIT_FINE;
    }
    if (!as_tree_text_print(cli->out, &p->text)) return as_cli_memory(cli);
    print_cuts(p, &cut);
    as_pauses_print(cli, view->ds, view->runs.runs, view->runs.n_runs, true);
    as_tree_note_limit(cli, &cut);
    return AS_EXIT_FINE;
}

as_exit as_tree_print(as_tree_view *view) {
    printing p = {.view = view, .metrics = calloc(view->data.n_columns + 1, sizeof *p.metrics)};
    as_tree_text_init(&p.text);
    as_arena_init(&p.names, NULL);
    as_text_init(&p.name);
    as_vec_init(&p.depths, sizeof(uint32_t), NULL);
    as_exit status = p.metrics ? print_tree(&p) : as_cli_memory(view->cli);
    as_view_data_free(&p.covered);
    as_tree_text_free(&p.text);
    as_arena_free(&p.names);
    as_text_free(&p.name);
    as_vec_free(&p.depths);
    free(p.metrics);
    return status;
}
