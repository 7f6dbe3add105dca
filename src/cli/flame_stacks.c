/* The stacks of a dataset: those of a Perun profile, or of a call tree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/view.h"
#include "cli/diff_view.h"
#include "cli/flame_view.h"
#include "cli/profile_choice.h"
#include "core/words.h"
#include "dataset/metric_names.h"
#include "dataset/pieces.h"
#include "dataset/stacks.h"
#include "formats/perun/flame.h"

static const char *unit_of(const as_dataset *ds, assay_id metric) {
    const char *unit = as_ds_text(ds, as_ds_metric(ds, metric)->unit);
    return unit ? unit : "";
}

/* Also where it is spelled in two ways, as times are. */
static bool is_one_unit(const char *a, const char *b) {
    return strcmp(a, b) == 0 || (as_unit_seconds(a) > 0 && as_unit_seconds(a) == as_unit_seconds(b));
}

/* Stacks of several files are added only where their units are one, as far as they are known. */
static as_exit check_unit(as_cli *cli, const as_dataset *ds, const char *unit, as_flame_view *known) {
    const char *path = as_ds_text(ds, ds->path);
    if (!*unit || (known->factor > 0 && *known->unit)) return AS_EXIT_FINE;
    if (*known->unit && !is_one_unit(known->unit, unit))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "%s: its stacks are in %s, those of %s in %s: different units are not added; fold them one "
                           "by one, or choose with --metric",
                           path, unit, known->unit_path, known->unit);
    snprintf(known->unit, sizeof known->unit, "%s", unit);
    snprintf(known->unit_path, sizeof known->unit_path, "%s", path);
    return AS_EXIT_FINE;
}

/* What of the files the stacks are of: that of the first one, of two also of the second where it differs. */
static void say_part(as_flame_view *stacks, const char *runs, const char *places) {
    char text[256];
    size_t used = strlen(stacks->part);
    snprintf(text, sizeof text, "%.120s%s%.120s", runs, *runs && *places ? ", " : "", places);
    if (!used)
        snprintf(stacks->part, sizeof stacks->part, "%s", text);
    else if (stacks->pairs && *text && strcmp(text, stacks->part) != 0)
        snprintf(stacks->part + used, sizeof stacks->part - used, " → %s", text);
}

/* The frame of a context above parent. Of two files those of a pair of call paths are one, whatever either calls it;
 * where pairs are exact ones, what has no mate stays apart from what has. */
static uint32_t add_frame(const as_flame_view *stacks, uint32_t parent, const as_dataset *ds, assay_id context) {
    const as_comparison *pairs = stacks->pairs;
    unsigned apart = 0;
    if (pairs) {
        size_t side = as_flame_sides(stacks->flame) - 1;
        context = pairs->u.maps[side].contexts[context];
        ds = pairs->ds;
        if (stacks->is_exact && pairs->contexts[!side][context] == ASSAY_NONE) apart = 1 + (unsigned)side;
    }
    as_str name = as_ds_context(ds, context)->name;
    return as_flame_frame(stacks->flame, parent, name == AS_NO_STR ? "" : as_ds_text(ds, name),
                          name == AS_NO_STR ? 0 : as_str_size(&ds->strings, name), apart);
}

static void add_amount(const as_flame_view *stacks, uint32_t frame, as_number amount) {
    if (stacks->factor > 0 && stacks->factor != 1 && as_flame_sides(stacks->flame) == 2)
        amount = (as_number){.kind = AS_REAL, .r = as_number_real(amount) * stacks->factor};
    as_flame_add(stacks->flame, frame, amount);
}

/* ---- Perun profiles ---------------------------------------------------------------------------------------------- */

/* The frames of all contexts that kinds are of, by context; AS_FLAME_ROOT: not needed. False when memory is out. */
static bool add_path(const as_flame_view *stacks, const as_dataset *ds, assay_id context, uint32_t *frames,
                     as_vec *path) {
    uint32_t at = AS_FLAME_ROOT;
    path->count = 0;
    for (; context != ASSAY_NONE; context = as_ds_context(ds, context)->parent) {
        at = frames[context];
        if (at != AS_FLAME_ROOT) break;
        if (!as_vec_append(path, &context, 1)) return false;
    }
    for (size_t i = path->count; i-- > 0;) {
        assay_id id = AS_AT(assay_id, path, i);
        at = add_frame(stacks, at, ds, id);
        if (at == AS_FLAME_ROOT) return false;
        frames[id] = at;
    }
    return true;
}

/* Of several runs the mean. */
static void add_resources(const as_flame_view *stacks, uint32_t frame, const as_perun_amount *amount, size_t n_runs) {
    double real = isfinite(amount->real) ? amount->real + amount->lost : amount->real;
    if (n_runs > 1) {
        real = (real + (double)amount->whole) / (double)n_runs;
        add_amount(stacks, frame, (as_number){.kind = AS_REAL, .r = real});
        return;
    }
    if (amount->whole) add_amount(stacks, frame, as_whole_number(amount->whole));
    if (amount->has_real) add_amount(stacks, frame, (as_number){.kind = AS_REAL, .r = real});
}

/* What kinds have, contexts in the order of the tree. with_others: those of no metric, too. */
static bool add_kinds(const as_flame_view *stacks, const as_dataset *ds, const as_perun_amount *amounts,
                      const bool *metrics, bool with_others, size_t n_runs) {
    const as_vec *kinds = &as_perun_of(ds)->kinds;
    size_t n_contexts = ds->contexts.count;
    uint32_t *frames = malloc((n_contexts + 1) * sizeof *frames);
    bool *has = calloc(n_contexts + 1, sizeof *has);
    bool fine = frames && has;
    as_vec path;
    as_vec_init(&path, sizeof(assay_id), as_ds_budget(ds));
    for (size_t i = 0; fine && i < n_contexts; i++) frames[i] = AS_FLAME_ROOT;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; fine && i < kinds->count; i++) {
            const as_perun_kind *kind = &AS_AT(as_perun_kind, kinds, i);
            bool is_shown = amounts[i].is_there && !kind->is_free && kind->context != ASSAY_NONE &&
                            (kind->metric == ASSAY_NONE ? with_others : metrics[kind->metric]);
            if (is_shown && pass == 0) has[kind->context] = true;
            if (is_shown && pass == 1) add_resources(stacks, frames[kind->context], &amounts[i], n_runs);
        }
        for (assay_id id = 0; fine && pass == 0 && id < n_contexts; id++) {
            if (has[id]) fine = add_path(stacks, ds, id, frames, &path);
        }
    }
    as_vec_free(&path);
    free(frames);
    free(has);
    return fine;
}

/* Marks those of which something is to be shown. */
static void mark_present(const as_perun *perun, const as_perun_amount *amounts, bool *present) {
    for (size_t i = 0; i < perun->kinds.count; i++) {
        const as_perun_kind *kind = &AS_AT(as_perun_kind, &perun->kinds, i);
        if (amounts[i].is_there && !kind->is_free && kind->context != ASSAY_NONE && kind->metric != ASSAY_NONE)
            present[kind->metric] = true;
    }
}

/* The unit that all are shown in: that of the files before where some metric has it, else that of the metric that tree
 * shows, else the first there is. "": none has one. */
static const char *common_unit(const as_dataset *ds, const bool *metrics, const char *before) {
    assay_id best = as_main_metric(ds, false);
    const char *found = best != ASSAY_NONE && metrics[best] ? unit_of(ds, best) : "";
    for (assay_id id = 0; id < ds->metrics.count; id++) {
        if (!metrics[id] || !*unit_of(ds, id)) continue;
        if (is_one_unit(unit_of(ds, id), before)) return unit_of(ds, id);
        if (!*found) found = unit_of(ds, id);
    }
    return found;
}

/* ", 'time' [s]": as much as there is room for. */
static void put_metric(const as_dataset *ds, assay_id metric, char *out, size_t room) {
    const char *unit = unit_of(ds, metric), *name = as_ds_text(ds, as_ds_metric(ds, metric)->name);
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%s'%.60s'%s%.20s%s", used ? ", " : "", name ? name : "", *unit ? " [" : "", unit,
             *unit ? "]" : "");
}

/* Of the metrics that are there: keeps those whose amounts can be added. Metrics without a unit are no reason to leave
 * anything out. */
static as_exit keep_one_unit(as_cli *cli, const as_dataset *ds, bool *metrics, as_flame_view *stacks) {
    const char *kept = common_unit(ds, metrics, stacks->unit), *path = as_ds_text(ds, ds->path);
    char added[300] = "", left[300] = "";
    size_t n_added = 0;
    for (assay_id id = 0; id < ds->metrics.count; id++) {
        if (!metrics[id]) continue;
        metrics[id] = !*unit_of(ds, id) || is_one_unit(unit_of(ds, id), kept);
        put_metric(ds, id, metrics[id] ? added : left, sizeof added);
        n_added += metrics[id];
    }
    if (*left && as_cli_has(cli, "metric"))
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s: %s and %s have different units, which are not added", path, added,
                           left);
    if (*left)
        as_cli_note(cli, "%s: stacks have the amounts of %s; those of %s have another unit: --metric takes them", path,
                    added, left);
    else if (n_added > 1 && !as_cli_has(cli, "metric"))
        as_cli_note(cli, "%s: stacks have the amounts of %s together; --metric takes one", path, added);
    if (!*stacks->metric) snprintf(stacks->metric, sizeof stacks->metric, "%s", added);
    return check_unit(cli, ds, kept, stacks);
}

static const char *run_option(const as_cli *cli, const as_flame_view *stacks) {
    return stacks->pairs ? as_side_run_option(cli, as_flame_sides(stacks->flame) - 1) : "run";
}

/* only: its resources; ASSAY_NONE: all of one unit, whatever their metric, unless one is named. */
static as_exit add_profile(as_cli *cli, const as_dataset *ds, assay_id only, as_flame_view *stacks) {
    const as_perun *perun = as_perun_of(ds);
    as_run_choice choice = {0};
    bool *runs = calloc(ds->runs.count + 1, sizeof *runs), *metrics = calloc(ds->metrics.count + 1, sizeof *metrics);
    bool *present = calloc(ds->metrics.count + 1, sizeof *present);
    as_perun_amount *amounts = calloc(perun->kinds.count + 1, sizeof *amounts);
    const char *run = run_option(cli, stacks);
    bool has_metric = only != ASSAY_NONE || as_cli_has(cli, "metric"),
         has_runs = ds->runs.count > 1 || as_cli_has(cli, run);
    as_exit status = runs && metrics && present && amounts ? AS_EXIT_FINE : as_cli_memory(cli);
    if (status == AS_EXIT_FINE && as_cli_has(cli, "location"))
        status =
            as_cli_fail(cli, AS_EXIT_USAGE, "%s: has no locations; leave out --location", as_ds_text(ds, ds->path));
    if (status == AS_EXIT_FINE) status = as_mark_metrics(cli, ds, metrics);
    if (status == AS_EXIT_FINE && has_runs) status = as_choose_runs_by(cli, ds, run, &choice);
    if (status == AS_EXIT_FINE) {
        for (size_t i = 0; i < choice.n_runs; i++) runs[choice.runs[i]] = true;
        as_perun_add_amounts(perun, choice.n_runs ? runs : NULL, amounts);
        mark_present(perun, amounts, present);
        for (size_t i = 0; i < ds->metrics.count; i++) metrics[i] &= present[i] && (only == ASSAY_NONE || i == only);
        status = keep_one_unit(cli, ds, metrics, stacks);
        say_part(stacks, choice.label, "");
    }
    size_t n_runs = choice.n_runs ? choice.n_runs : ds->runs.count;
    if (status == AS_EXIT_FINE && !add_kinds(stacks, ds, amounts, metrics, !has_metric, n_runs))
        status = as_cli_memory(cli);
    as_run_choice_free(&choice);
    free(runs);
    free(metrics);
    free(present);
    free(amounts);
    return status;
}

/* ---- call trees -------------------------------------------------------------------------------------------------- */

/* A node of the tree, and what it has. */
typedef struct stack_node {
    uint32_t
        frame; /* AS_FLAME_ROOT: it stands for the whole program, and is a frame only where it has something itself */
    uint32_t depth;
    as_view_value value;
} stack_node;

typedef struct walk {
    const as_view_data *data;
    const as_flame_view *stacks;
    bool has_root, has_wholes;
    as_vec nodes;   /* stack_node, in pre-order */
    as_vec parents; /* uint32_t, by depth: the frame of the last node */
    uint32_t aside; /* the depth of the last node that is left out, while nodes below it come; else UINT32_MAX */
} walk;

static bool describe_frame(const walk *s, uint32_t frame, assay_id id) {
    const as_dataset *ds = s->data->source.ds;
    if (id == ASSAY_NONE) return true;
    const as_region *region = as_ds_region(ds, id);
    return as_flame_describe(s->stacks->flame, frame, as_ds_text(ds, region->module), as_ds_text(ds, region->kind));
}

/* What stands aside is in the stacks of others already; these are one whole, which sections are no part of. */
static bool is_left_out(const walk *s, const as_view_node *node) {
    return node->is_aside ||
           (node->depth == 0 && s->has_wholes && as_context_is_section(s->data->source.ds, node->context));
}

static bool see_node(void *user, const as_view_node *node) {
    walk *s = user;
    if (node->depth <= s->aside) s->aside = is_left_out(s, node) ? node->depth : UINT32_MAX;
    if (s->aside != UINT32_MAX) return true;
    stack_node seen = {AS_FLAME_ROOT, node->depth, node->values[0]};
    if (!s->has_root || node->depth) {
        uint32_t parent = node->depth ? AS_AT(uint32_t, &s->parents, node->depth - 1) : AS_FLAME_ROOT;
        seen.frame = add_frame(s->stacks, parent, s->data->source.ds, node->context);
        if (seen.frame == AS_FLAME_ROOT || !describe_frame(s, seen.frame, node->region)) return false;
    }
    s->parents.count = node->depth;
    return as_vec_append(&s->parents, &seen.frame, 1) && as_vec_append(&s->nodes, &seen, 1);
}

/* False when memory is out. */
static bool add_number(const walk *s, uint32_t frame, const as_view_number *number) {
    if (!number->is_known) return true;
    bool is_zero = number->is_whole ? number->whole == 0 : number->real == 0;
    if (frame == AS_FLAME_ROOT && is_zero) return true;
    if (frame == AS_FLAME_ROOT) frame = add_frame(s->stacks, AS_FLAME_ROOT, s->data->source.ds, s->data->roots[0]);
    if (frame == AS_FLAME_ROOT) return false;
    add_amount(s->stacks, frame,
               number->is_whole ? as_whole_number(number->whole) : (as_number){.kind = AS_REAL, .r = number->real});
    return true;
}

/* What a node has and its children have not. Exclusive values will not do where lines are nodes: those of a function
 * have them, too. */
typedef struct level_sum {
    as_whole whole;
    double real;
} level_sum;

typedef enum difference_use {
    ADD_THEM,
    /* of values that only look as if they had in them what is below: noise can leave less than nothing */
    ADD_WHAT_IS_LEFT,
    LOOK_AT_THEM
} difference_use;

/* *nests: whether values look as if they had in them what is below. */
static bool take_differences(walk *s, difference_use use, bool *nests) {
    as_vec sums; /* level_sum, by depth: of the children seen so far, from the last one on */
    as_vec_init(&sums, sizeof(level_sum), as_ds_budget(s->data->source.ds));
    bool fine = true, has_inner = false;
    *nests = true;
    for (size_t i = s->nodes.count; fine && i-- > 0;) {
        const stack_node *node = &AS_AT(stack_node, &s->nodes, i);
        const as_view_number *number = &node->value.inclusive;
        while (fine && sums.count < (size_t)node->depth + 2) fine = as_vec_push(&sums) != NULL;
        if (!fine) break;
        level_sum *below = &AS_AT(level_sum, &sums, node->depth + 1), *mine = &AS_AT(level_sum, &sums, node->depth);
        as_view_number own = *number;
        own.whole -= below->whole;
        own.real -= below->real;
        if (fabs(own.real) <= 1e-12 * fabs(number->real)) own.real = 0; /* rounding */
        if (use == ADD_WHAT_IS_LEFT && own.whole < 0) own.whole = 0;
        if (use == ADD_WHAT_IS_LEFT && own.real < 0) own.real = 0;
        if (use != LOOK_AT_THEM) fine = add_number(s, node->frame, &own);
        double sum = number->is_whole ? (double)below->whole : below->real;
        if (sum != 0) {
            has_inner = true;
            *nests &=
                as_looks_inclusive(number->is_whole ? (double)number->whole : number->real, sum, node->depth == 0);
        }
        *below = (level_sum){0};
        mine->whole += number->whole;
        mine->real += number->real;
    }
    *nests &= has_inner;
    as_vec_free(&sums);
    return fine;
}

static bool add_own(const walk *s) {
    const as_view_column *column = &s->data->columns[0];
    bool fine = true;
    for (size_t i = 0; fine && i < s->nodes.count; i++) {
        const stack_node *node = &AS_AT(stack_node, &s->nodes, i);
        fine = add_number(s, node->frame, column->has_exclusive ? &node->value.exclusive : &node->value.inclusive);
    }
    return fine;
}

static bool add_amounts(walk *s) {
    const as_view_column *column = &s->data->columns[0];
    const as_dataset *ds = s->data->source.ds;
    bool nests = false;
    if (column->has_exclusive && !column->is_only_exclusive && !column->lacks_inclusive && as_ds_has_roles(ds))
        return take_differences(s, ADD_THEM, &nests);
    if (!column->has_exclusive && as_ds_metric(ds, column->metric)->kind == AS_KIND_NONE &&
        !take_differences(s, LOOK_AT_THEM, &nests))
        return false;
    return nests ? take_differences(s, ADD_WHAT_IS_LEFT, &nests) : add_own(s);
}

/* joinings: of as_view_request. */
static as_exit fold_tree(as_cli *cli, const as_view_data *data, const uint8_t *joinings, const as_flame_view *stacks) {
    const as_dataset *ds = data->source.ds;
    as_view_request request = {.order = AS_SORT_SOURCE, .joins_calls = true, .joinings = joinings};
    walk s = {.data = data,
              .stacks = stacks,
              .has_root = as_view_has_root(data),
              .has_wholes = as_ds_has_wholes(ds),
              .aside = UINT32_MAX};
    as_view_cut cut;
    assay_error error;
    as_vec_init(&s.nodes, sizeof(stack_node), as_ds_budget(ds));
    as_vec_init(&s.parents, sizeof(uint32_t), as_ds_budget(ds));
    as_exit status = AS_EXIT_FINE;
    if (as_view_walk(data, &request, see_node, &s, &cut, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    else if (!add_amounts(&s))
        status = as_cli_memory(cli);
    as_vec_free(&s.nodes);
    as_vec_free(&s.parents);
    return status;
}

/* The metric of --metric, else the one that tree shows. */
static as_exit choose_metric(as_cli *cli, const as_dataset *ds, assay_id *out) {
    as_vec metrics;
    as_vec_init(&metrics, sizeof(assay_id), NULL);
    as_exit status = as_choose_metrics(cli, ds, &metrics);
    if (status == AS_EXIT_FINE && metrics.count > 1)
        status = as_cli_fail(cli, AS_EXIT_USAGE, "stacks have one amount; give --metric once");
    if (status == AS_EXIT_FINE)
        *out = metrics.count ? AS_AT(assay_id, &metrics, 0) : as_main_metric(ds, as_cli_has(cli, "location"));
    as_vec_free(&metrics);
    return status;
}

static void tell_sections(as_cli *cli, const as_dataset *ds) {
    size_t n = as_stacks_sections(ds);
    if (n)
        as_cli_note(cli, "%s: without %zu section%s, which run%s beside the regions; assay tree shows %s",
                    as_ds_text(ds, ds->path), n, n == 1 ? "" : "s", n == 1 ? "s" : "", n == 1 ? "it" : "them");
}

/* The values of a dataset's metric that the stacks have. as_tree_stacks_free() in every case. */
typedef struct tree_stacks {
    as_run_choice runs;
    as_location_choice locations;
    as_view_data data;
} tree_stacks;

static void free_tree(tree_stacks *tree) {
    as_view_data_free(&tree->data);
    as_run_choice_free(&tree->runs);
    as_location_choice_free(&tree->locations);
}

/* That of the first file, of two also that of the second where it has another name. */
static void say_metric(const as_dataset *ds, assay_id metric, as_flame_view *stacks) {
    char text[120] = "";
    size_t used = strlen(stacks->metric);
    put_metric(ds, metric, text, sizeof text);
    if (!used)
        snprintf(stacks->metric, sizeof stacks->metric, "%s", text);
    else if (stacks->pairs && strcmp(text, stacks->metric) != 0)
        snprintf(stacks->metric + used, sizeof stacks->metric - used, " → %s", text);
}

/* tree->runs: chosen. */
static as_exit load_tree(as_cli *cli, const as_dataset *ds, assay_id metric, tree_stacks *tree, as_flame_view *stacks) {
    assay_error error;
    as_exit status = as_choose_locations(cli, ds, &tree->locations);
    if (status != AS_EXIT_FINE) return status;
    as_view_source source = {.ds = ds,
                             .runs = tree->runs.runs,
                             .n_runs = tree->runs.n_runs,
                             .point = tree->runs.point,
                             .locations = tree->locations.wanted};
    tell_sections(cli, ds);
    if (as_view_load(&source, &metric, 1, NULL, 0, &tree->data, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (!tree->data.columns[0].adds_up)
        return as_cli_fail(cli, AS_EXIT_USAGE, "the values of '%s' do not add up; choose another with --metric",
                           as_ds_text(ds, as_ds_metric(ds, metric)->name));
    say_metric(ds, metric, stacks);
    say_part(stacks, tree->runs.label, tree->locations.label);
    return check_unit(cli, ds, unit_of(ds, metric), stacks);
}

static as_exit need_tree(as_cli *cli, const as_dataset *ds) {
    if (AS_COUNT(ds, contexts)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no call tree", as_ds_text(ds, ds->path));
}

static as_exit need_metric(as_cli *cli, const as_dataset *ds, assay_id metric) {
    if (metric != ASSAY_NONE) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no metrics", as_ds_text(ds, ds->path));
}

/* metric: ASSAY_NONE for that of the command line. */
static as_exit add_tree(as_cli *cli, const as_dataset *ds, assay_id metric, as_flame_view *stacks) {
    tree_stacks tree = {0};
    as_exit status = need_tree(cli, ds);
    if (status == AS_EXIT_FINE && metric == ASSAY_NONE) status = choose_metric(cli, ds, &metric);
    if (status == AS_EXIT_FINE) status = need_metric(cli, ds, metric);
    if (status == AS_EXIT_FINE) status = as_choose_runs_by(cli, ds, run_option(cli, stacks), &tree.runs);
    if (status == AS_EXIT_FINE) status = load_tree(cli, ds, metric, &tree, stacks);
    if (status == AS_EXIT_FINE) status = fold_tree(cli, &tree.data, NULL, stacks);
    free_tree(&tree);
    return status;
}

static as_exit add_metric(as_cli *cli, const as_dataset *ds, assay_id metric, as_flame_view *stacks) {
    return as_perun_of(ds) ? add_profile(cli, ds, metric, stacks) : add_tree(cli, ds, metric, stacks);
}

as_exit as_flame_view_add(as_cli *cli, const as_dataset *ds, as_flame_view *stacks) {
    return add_metric(cli, ds, ASSAY_NONE, stacks);
}

/* ---- two of them ------------------------------------------------------------------------------------------------- */

/* As `diff` chooses it: those of --metric-a and --metric-b; what is named, else the main metric of either that both
 * have; else the main one of each. */
static as_exit choose_metrics(as_cli *cli, as_flame_view *stacks, assay_id metrics[2]) {
    const as_comparison *pairs = stacks->pairs;
    const as_dataset *const *sides = pairs->u.parts;
    bool is_pair = as_has_metric_pair(cli);
    for (size_t side = 0; side < 2; side++) {
        as_exit status = is_pair ? as_choose_side_metric(cli, sides[side], side, &metrics[side])
                                 : choose_metric(cli, sides[side], &metrics[side]);
        if (status == AS_EXIT_FINE) status = need_metric(cli, sides[side], metrics[side]);
        if (status != AS_EXIT_FINE) return status;
    }
    for (size_t side = 0; side < 2 && !is_pair && !as_cli_has(cli, "metric"); side++) {
        assay_id other = pairs->metrics[!side][pairs->u.maps[side].metrics[metrics[side]]];
        if (other == ASSAY_NONE) continue;
        metrics[!side] = other;
        break;
    }
    assay_error error;
    if (as_metric_factor(sides, metrics, &stacks->factor, &error) == ASSAY_OK) return AS_EXIT_FINE;
    stacks->factor = 0; /* units that are not known are no reason to refuse what nobody asked for by name */
    return is_pair ? as_cli_error(cli, &error) : AS_EXIT_FINE;
}

/* What does something itself in either is no part of another frame in both. */
static bool find_joinings(const as_comparison *pairs, const tree_stacks trees[2], uint8_t *joinings[2]) {
    for (size_t side = 0; side < 2; side++) {
        joinings[side] = as_find_joinings(trees[side].data.source.ds);
        if (!joinings[side]) return false;
        as_view_unjoin(&trees[side].data, joinings[side]);
    }
    for (assay_id id = 0; id < AS_COUNT(pairs->ds, contexts); id++) {
        assay_id base = pairs->contexts[AS_BASE][id], target = pairs->contexts[AS_TARGET][id];
        if (base == ASSAY_NONE || target == ASSAY_NONE) continue;
        if (joinings[AS_BASE][base] == AS_JOINS_NEVER) joinings[AS_TARGET][target] = AS_JOINS_NEVER;
        if (joinings[AS_TARGET][target] == AS_JOINS_NEVER) joinings[AS_BASE][base] = AS_JOINS_NEVER;
    }
    return true;
}

static as_exit add_trees(as_cli *cli, as_flame_view *stacks) {
    const as_comparison *pairs = stacks->pairs;
    tree_stacks trees[2] = {0};
    as_run_choice runs[2] = {0};
    uint8_t *joinings[2] = {0};
    assay_id metrics[2];
    as_exit status = choose_metrics(cli, stacks, metrics);
    if (status == AS_EXIT_FINE) status = as_choose_common_runs(cli, pairs->u.parts, runs);
    for (size_t side = 0; side < 2; side++) {
        trees[side].runs = runs[side];
        if (status == AS_EXIT_FINE) status = load_tree(cli, pairs->u.parts[side], metrics[side], &trees[side], stacks);
    }
    if (status == AS_EXIT_FINE && !find_joinings(pairs, trees, joinings)) status = as_cli_memory(cli);
    for (size_t side = 0; side < 2; side++) {
        if (side) as_flame_turn(stacks->flame);
        if (status == AS_EXIT_FINE) status = fold_tree(cli, &trees[side].data, joinings[side], stacks);
    }
    for (size_t side = 0; side < 2; side++) {
        free_tree(&trees[side]);
        free(joinings[side]);
    }
    return status;
}

/* Of Perun profiles the resources of one metric, as `diff` has them; of one beside a call tree, those that it shows
 * alone. */
static as_exit add_profiles(as_cli *cli, const as_dataset *const *sides, as_flame_view *stacks) {
    bool are_chosen = as_has_metric_pair(cli) || (as_perun_of(sides[AS_BASE]) && as_perun_of(sides[AS_TARGET]));
    assay_id metrics[2] = {ASSAY_NONE, ASSAY_NONE};
    as_exit status = are_chosen ? choose_metrics(cli, stacks, metrics) : AS_EXIT_FINE;
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++) {
        if (side) as_flame_turn(stacks->flame);
        status = add_metric(cli, sides[side], metrics[side], stacks);
    }
    return status;
}

as_exit as_flame_view_add_two(as_cli *cli, const as_dataset *const *sides, as_flame_view *stacks) {
    as_comparison pairs;
    assay_error error;
    as_exit status = AS_EXIT_FINE;
    for (size_t side = 0; side < 2 && status == AS_EXIT_FINE; side++) status = need_tree(cli, sides[side]);
    if (status != AS_EXIT_FINE) return status;
    stacks->is_exact = as_matching_given(cli) == AS_MATCH_EXACT;
    if (as_comparison_open(sides, &pairs, &error) != ASSAY_OK ||
        as_comparison_unite(&pairs, as_matching_given(cli), &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    stacks->pairs = &pairs;
    if (status == AS_EXIT_FINE)
        status = as_perun_of(sides[AS_BASE]) || as_perun_of(sides[AS_TARGET]) ? add_profiles(cli, sides, stacks)
                                                                              : add_trees(cli, stacks);
    stacks->pairs = NULL;
    as_comparison_close(&pairs);
    return status;
}
