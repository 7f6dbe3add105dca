/* The stacks of a dataset: those of a Perun profile, or of a call tree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/sampling.h"
#include "analysis/views/view.h"
#include "cli/flame_view.h"
#include "cli/profile_choice.h"
#include "formats/perun/flame.h"

static const char *unit_of(const as_dataset *ds, assay_id metric) {
    const char *unit = as_ds_text(ds, as_ds_metric(ds, metric)->unit);
    return unit ? unit : "";
}

/* Also where it is spelled in two ways, as times are. */
static bool is_one_unit(const char *a, const char *b) {
    return strcmp(a, b) == 0 || (as_seconds_of(a) > 0 && as_seconds_of(a) == as_seconds_of(b));
}

/* Stacks of several files are added only where their units are one, as far as they are known. */
static as_exit check_unit(as_cli *cli, const as_dataset *ds, const char *unit, as_flame_view *known) {
    const char *path = as_ds_text(ds, ds->path);
    if (!*unit) return AS_EXIT_FINE;
    if (*known->unit && !is_one_unit(known->unit, unit))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "%s: its stacks are in %s, those of %s in %s: different units are not added; fold them one "
                           "by one, or choose with --metric",
                           path, unit, known->unit_path, known->unit);
    snprintf(known->unit, sizeof known->unit, "%s", unit);
    snprintf(known->unit_path, sizeof known->unit_path, "%s", path);
    return AS_EXIT_FINE;
}

/* What of the files the stacks are of: that of the first one. */
static void say_part(as_flame_view *stacks, const char *runs, const char *places) {
    if (!*stacks->part)
        snprintf(stacks->part, sizeof stacks->part, "%.120s%s%.120s", runs, *runs && *places ? ", " : "", places);
}

/* ---- Perun profiles ------------------------------------------------------------------------------------------------------ */

/* The frames of all contexts that kinds are of, by context; AS_FLAME_ROOT: not needed. False when memory is out. */
static bool add_path(as_flame *flame, const as_dataset *ds, assay_id context, uint32_t *frames, as_vec *path) {
    uint32_t at = AS_FLAME_ROOT;
    path->count = 0;
    for (; context != ASSAY_NONE; context = as_ds_context(ds, context)->parent) {
        at = frames[context];
        if (at != AS_FLAME_ROOT) break;
        if (!as_vec_append(path, &context, 1)) return false;
    }
    for (size_t i = path->count; i-- > 0;) {
        assay_id id = AS_AT(assay_id, path, i);
        as_str name = as_ds_context(ds, id)->name;
        at = as_flame_frame(flame, at, name == AS_NO_STR ? "" : as_ds_text(ds, name),
                            name == AS_NO_STR ? 0 : as_str_size(&ds->strings, name));
        if (at == AS_FLAME_ROOT) return false;
        frames[id] = at;
    }
    return true;
}

/* Of several runs the mean. */
static void add_amount(as_flame *flame, uint32_t frame, const as_perun_amount *amount, size_t n_runs) {
    double real = isfinite(amount->real) ? amount->real + amount->lost : amount->real;
    if (n_runs > 1) {
        real = (real + (double)amount->whole) / (double)n_runs;
        as_flame_add(flame, frame, (as_number){.kind = AS_REAL, .r = real});
        return;
    }
    if (amount->whole) as_flame_add(flame, frame, as_whole_number(amount->whole));
    if (amount->has_real) as_flame_add(flame, frame, (as_number){.kind = AS_REAL, .r = real});
}

/* What kinds have, contexts in the order of the tree. with_others: those of no metric, too. */
static bool add_kinds(as_flame *flame, const as_dataset *ds, const as_perun_amount *amounts, const bool *metrics,
                      bool with_others, size_t n_runs) {
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
            if (is_shown && pass == 1) add_amount(flame, frames[kind->context], &amounts[i], n_runs);
        }
        for (assay_id id = 0; fine && pass == 0 && id < n_contexts; id++) {
            if (has[id]) fine = add_path(flame, ds, id, frames, &path);
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

/* The unit that all are shown in: that of the files before where some metric has it, else that of the metric that tree shows, else the first there is. "": none has one. */
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

/* Of the metrics that are there: keeps those whose amounts can be added. Metrics without a unit are no reason to leave anything out. */
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

/* All resources of one unit, whatever their metric, unless one is named. */
static as_exit add_profile(as_cli *cli, const as_dataset *ds, as_flame_view *stacks) {
    const as_perun *perun = as_perun_of(ds);
    as_run_choice choice = {0};
    bool *runs = calloc(ds->runs.count + 1, sizeof *runs), *metrics = calloc(ds->metrics.count + 1, sizeof *metrics);
    bool *present = calloc(ds->metrics.count + 1, sizeof *present);
    as_perun_amount *amounts = calloc(perun->kinds.count + 1, sizeof *amounts);
    bool has_metric = as_cli_has(cli, "metric"), has_runs = ds->runs.count > 1 || as_cli_has(cli, "run");
    as_exit status = runs && metrics && present && amounts ? AS_EXIT_FINE : as_cli_memory(cli);
    if (status == AS_EXIT_FINE && as_cli_has(cli, "location"))
        status =
            as_cli_fail(cli, AS_EXIT_USAGE, "%s: has no locations; leave out --location", as_ds_text(ds, ds->path));
    if (status == AS_EXIT_FINE) status = as_mark_metrics(cli, ds, metrics);
    if (status == AS_EXIT_FINE && has_runs) status = as_choose_runs(cli, ds, &choice);
    if (status == AS_EXIT_FINE) {
        for (size_t i = 0; i < choice.n_runs; i++) runs[choice.runs[i]] = true;
        as_perun_add_amounts(perun, choice.n_runs ? runs : NULL, amounts);
        mark_present(perun, amounts, present);
        for (size_t i = 0; i < ds->metrics.count; i++) metrics[i] &= present[i];
        status = keep_one_unit(cli, ds, metrics, stacks);
        say_part(stacks, choice.label, "");
    }
    size_t n_runs = choice.n_runs ? choice.n_runs : ds->runs.count;
    if (status == AS_EXIT_FINE && !add_kinds(stacks->flame, ds, amounts, metrics, !has_metric, n_runs))
        status = as_cli_memory(cli);
    as_run_choice_free(&choice);
    free(runs);
    free(metrics);
    free(present);
    free(amounts);
    return status;
}

/* ---- call trees ---------------------------------------------------------------------------------------------------------- */

/* A node of the tree, and what it has. */
typedef struct stack_node {
    uint32_t frame, depth;
    as_view_value value;
} stack_node;

typedef struct walk {
    const as_dataset *ds;
    as_flame *flame;
    as_vec nodes;   /* stack_node, in pre-order */
    as_vec parents; /* uint32_t, by depth: the frame of the last node */
    uint32_t aside; /* the depth of the last node that stands aside, while nodes below it come; else UINT32_MAX */
} walk;

static bool describe_frame(const walk *s, uint32_t frame, assay_id id) {
    if (id == ASSAY_NONE) return true;
    const as_region *region = as_ds_region(s->ds, id);
    return as_flame_describe(s->flame, frame, as_ds_text(s->ds, region->module), as_ds_text(s->ds, region->kind));
}

/* What stands aside is in the stacks of others already. */
static bool see_node(void *user, const as_view_node *node) {
    walk *s = user;
    if (node->depth <= s->aside) s->aside = node->is_aside ? node->depth : UINT32_MAX;
    if (s->aside != UINT32_MAX) return true;
    const char *name = node->name == AS_NO_STR ? "" : as_ds_text(s->ds, node->name);
    uint32_t parent = node->depth ? AS_AT(uint32_t, &s->parents, node->depth - 1) : AS_FLAME_ROOT;
    stack_node seen = {as_flame_frame(s->flame, parent, name, strlen(name)), node->depth, node->values[0]};
    s->parents.count = node->depth;
    return seen.frame != AS_FLAME_ROOT && describe_frame(s, seen.frame, node->region) &&
           as_vec_append(&s->parents, &seen.frame, 1) && as_vec_append(&s->nodes, &seen, 1);
}

static void add_number(as_flame *flame, uint32_t frame, const as_view_number *number) {
    if (!number->is_known) return;
    as_flame_add(flame, frame,
                 number->is_whole ? as_whole_number(number->whole) : (as_number){.kind = AS_REAL, .r = number->real});
}

/* What a node has and its children have not. Exclusive values will not do where lines are nodes: those of a function have them, too. */
typedef struct level_sum {
    as_whole whole;
    double real;
} level_sum;

static bool add_differences(walk *s) {
    as_vec sums; /* level_sum, by depth: of the children seen so far, from the last one on */
    as_vec_init(&sums, sizeof(level_sum), as_ds_budget(s->ds));
    bool fine = true;
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
        add_number(s->flame, node->frame, &own);
        *below = (level_sum){0};
        mine->whole += number->whole;
        mine->real += number->real;
    }
    as_vec_free(&sums);
    return fine;
}

static as_exit fold_tree(as_cli *cli, const as_view_data *data, as_flame *flame) {
    const as_dataset *ds = data->source.ds;
    const as_view_column *column = &data->columns[0];
    as_view_request request = {.order = AS_SORT_SOURCE, .joins_calls = true, .without_root = true};
    walk s = {.ds = ds, .flame = flame, .aside = UINT32_MAX};
    as_view_cut cut;
    assay_error error;
    as_vec_init(&s.nodes, sizeof(stack_node), as_ds_budget(ds));
    as_vec_init(&s.parents, sizeof(uint32_t), as_ds_budget(ds));
    as_exit status = AS_EXIT_FINE;
    if (as_view_walk(data, &request, see_node, &s, &cut, &error) != ASSAY_OK) {
        status = as_cli_error(cli, &error);
    } else if (column->has_exclusive && !column->is_only_exclusive && !column->lacks_inclusive &&
               as_view_has_roles(ds)) {
        if (!add_differences(&s)) status = as_cli_memory(cli);
    } else {
        for (size_t i = 0; i < s.nodes.count; i++) {
            const stack_node *node = &AS_AT(stack_node, &s.nodes, i);
            add_number(flame, node->frame, column->has_exclusive ? &node->value.exclusive : &node->value.inclusive);
        }
    }
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

/* The stacks are one whole, which sections are no part of. roots: what is left; none: all of it. */
static as_exit leave_sections(as_cli *cli, const as_dataset *ds, as_vec *roots) {
    size_t n_sections = 0;
    if (!as_ds_has_wholes(ds)) return AS_EXIT_FINE;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts); id += as_ds_context(ds, id)->subtree) {
        bool is_section = as_context_is_section(ds, id);
        n_sections += is_section;
        if (!is_section && as_ds_context(ds, id)->role != AS_ROLE_PLACELESS && !as_vec_append(roots, &id, 1))
            return as_cli_memory(cli);
    }
    if (n_sections)
        as_cli_note(cli, "%s: without %zu section%s, which run%s beside the regions; assay tree shows %s",
                    as_ds_text(ds, ds->path), n_sections, n_sections == 1 ? "" : "s", n_sections == 1 ? "s" : "",
                    n_sections == 1 ? "it" : "them");
    return AS_EXIT_FINE;
}

static as_exit add_tree(as_cli *cli, const as_dataset *ds, as_flame_view *stacks) {
    assay_id metric = ASSAY_NONE;
    as_run_choice runs = {0};
    as_location_choice locations = {0};
    as_view_data data = {0};
    as_exit status = AS_EXIT_FINE;
    if (AS_COUNT(ds, contexts) == 0)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no call tree", as_ds_text(ds, ds->path));
    status = choose_metric(cli, ds, &metric);
    if (status == AS_EXIT_FINE && metric == ASSAY_NONE)
        return as_cli_fail(cli, AS_EXIT_INPUT, "%s: has no metrics", as_ds_text(ds, ds->path));
    if (status == AS_EXIT_FINE) status = as_choose_runs(cli, ds, &runs);
    if (status == AS_EXIT_FINE) status = as_choose_locations(cli, ds, &locations);
    if (status == AS_EXIT_FINE) {
        as_view_source source = {
            .ds = ds, .runs = runs.runs, .n_runs = runs.n_runs, .point = runs.point, .locations = locations.wanted};
        assay_error error;
        as_vec roots; /* assay_id */
        as_vec_init(&roots, sizeof(assay_id), NULL);
        status = leave_sections(cli, ds, &roots);
        if (status == AS_EXIT_FINE &&
            as_view_load(&source, &metric, 1, roots.count ? roots.data : NULL, roots.count, &data, &error) != ASSAY_OK)
            status = as_cli_error(cli, &error);
        as_vec_free(&roots);
        if (status == AS_EXIT_FINE && !data.columns[0].adds_up)
            status = as_cli_fail(cli, AS_EXIT_USAGE, "the values of '%s' do not add up; choose another with --metric",
                                 as_ds_text(ds, as_ds_metric(ds, metric)->name));
        if (status == AS_EXIT_FINE) status = check_unit(cli, ds, unit_of(ds, metric), stacks);
        if (status == AS_EXIT_FINE) {
            if (!*stacks->metric) put_metric(ds, metric, stacks->metric, sizeof stacks->metric);
            say_part(stacks, runs.label, locations.label);
            status = fold_tree(cli, &data, stacks->flame);
        }
        as_view_data_free(&data);
    }
    as_run_choice_free(&runs);
    as_location_choice_free(&locations);
    return status;
}

as_exit as_flame_view_add(as_cli *cli, const as_dataset *ds, as_flame_view *stacks) {
    return as_perun_of(ds) ? add_profile(cli, ds, stacks) : add_tree(cli, ds, stacks);
}
