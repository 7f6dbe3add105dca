/* Opening a file for tree and top: metrics, runs, locations, names and subtrees that are asked for. */
#include "cli/tree_view.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/algebra/algebra.h"
#include "cli/callpath.h"
#include "core/parallel.h"
#include "dataset/formulas.h"

as_view_group as_group_of(const char *word) {
    static const char *const words[] = {"region", "file", "module", "kind", "scope"};
    size_t i = 0;
    while (word && i < AS_GROUP_SCOPE && strcmp(words[i], word) != 0) i++;
    return (as_view_group)i;
}

as_view_sorting as_order_of(const char *word, as_view_sorting usual) {
    static const char *const words[] = {"inclusive", "exclusive", "name", "source"};
    size_t i = 0;
    if (!word) return usual;
    while (i < AS_SORT_SOURCE && strcmp(words[i], word) != 0) i++;
    return (as_view_sorting)i;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* How often things were called: of use beside any other metric. */
static assay_id find_visits(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        const char *name = as_ds_text(ds, metric->name);
        if (name && strcasecmp(name, "visits") == 0 && metric->kind == AS_KIND_EXCLUSIVE && as_metric_has_data(ds, id))
            return id;
    }
    return ASSAY_NONE;
}

static bool has_stored(const as_dataset *ds) {
    for (assay_id id = 0; id < AS_COUNT(ds, metrics); id++) {
        if (as_ds_metric(ds, id)->is_stored) return true;
    }
    return false;
}

/* One of each name: the sides of a metric are shown with it. Formulas that a source has beside what it stores
 * (statistics, ratios) are shown when named: most are nothing that the parts of a whole share. */
static bool add_all_metrics(const as_dataset *ds, as_vec *metrics) {
    bool *is_known = calloc(ds->strings.entries.count + 1, sizeof *is_known), fine = is_known != NULL;
    bool with_formulas = !has_stored(ds);
    for (assay_id id = 0; fine && id < AS_COUNT(ds, metrics); id++) {
        const as_metric *metric = as_ds_metric(ds, id);
        bool has_data = metric->kind == AS_KIND_DERIVED ? with_formulas : as_metric_has_data(ds, id);
        if (!has_data || metric->part_of != ASSAY_NONE || (metric->name != AS_NO_STR && is_known[metric->name]))
            continue;
        if (metric->name != AS_NO_STR) is_known[metric->name] = true;
        fine = as_vec_append(metrics, &id, 1);
    }
    free(is_known);
    return fine;
}

as_exit as_tree_choose_metrics(as_tree_view *view) {
    as_exit status = as_choose_metrics(view->cli, view->ds, &view->metrics);
    if (status != AS_EXIT_FINE || view->metrics.count) {
        view->n_asked = view->metrics.count;
        return status;
    }
    assay_id first = as_main_metric(view->ds, as_cli_has(view->cli, "location")), visits = find_visits(view->ds);
    bool fine = true;
    if (view->ask->with_all_metrics)
        fine = add_all_metrics(view->ds, &view->metrics);
    else if (first != ASSAY_NONE)
        fine = as_vec_append(&view->metrics, &first, 1);
    if (fine && (!view->ask->with_all_metrics || has_stored(view->ds)))
        fine = as_append_derived(view->cli, view->ds, &view->metrics);
    view->n_asked = view->metrics.count;
    assay_id gpu_time = as_gpu_time_metric(view->ds);
    view->has_gpu_time = !view->ask->with_all_metrics && gpu_time != ASSAY_NONE && gpu_time != first &&
                         view->request.kind == AS_VIEW_TOP_DOWN && view->n_asked == 1;
    if (fine && view->has_gpu_time) fine = as_vec_append(&view->metrics, &gpu_time, 1);
    if (fine && !view->ask->with_all_metrics && visits != ASSAY_NONE && visits != first)
        fine = as_vec_append(&view->metrics, &visits, 1);
    if (fine && view->ask->with_all_metrics && view->metrics.count > 1) { /* sorted by the same as people see */
        assay_id *ids = view->metrics.data;
        for (size_t i = 0; i < view->metrics.count; i++) {
            if (ids[i] != first) continue;
            memmove(ids + 1, ids, i * sizeof *ids);
            ids[0] = first;
        }
    }
    return fine ? AS_EXIT_FINE : as_cli_memory(view->cli);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_named(const as_cli *cli, const char *option, const char *name) {
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (strcmp(given->option->name, option) == 0 && strcmp(given->value, name) == 0) return true;
    }
    return false;
}

enum { MOST_NAMES = 3 };

/* What --match and --name look at: the names of nodes that a context is in. function: of its function in any case.
 * Returns how many. */
static size_t names_of(const as_tree_view *view, assay_id context, bool function, as_str names[MOST_NAMES]) {
    const as_context *c = as_ds_context(view->ds, context);
    const as_region *region = c->region == ASSAY_NONE ? NULL : as_ds_region(view->ds, c->region);
    bool is_list = view->request.kind != AS_VIEW_TOP_DOWN && view->request.group != AS_GROUP_SCOPE;
    if (!as_view_shows(view->ds, context)) return 0;
    if (!function && is_list && c->role != AS_ROLE_CALL && !c->is_inlined) return 0;
    names[0] = c->name;
    if (function || view->request.group == AS_GROUP_REGION) return 1;
    as_str file = region ? region->file : AS_NO_STR, module = region ? region->module : AS_NO_STR;
    switch (view->request.group) {
    case AS_GROUP_FILE: names[0] = file; return 1;
    case AS_GROUP_MODULE: names[0] = module; return 1;
    case AS_GROUP_KIND: names[0] = region ? region->kind : AS_NO_STR; return 1;
    default: names[1] = file, names[2] = module; return 3;
    }
}

static bool has_name(const as_tree_view *view, assay_id context, bool function, as_str name) {
    as_str names[MOST_NAMES];
    size_t n = names_of(view, context, function, names);
    for (size_t i = 0; i < n; i++) {
        if (names[i] == name) return true;
    }
    return false;
}

/* Each name that was given must be there; gives the first that is not. */
static const char *find_missing(const as_tree_view *view, const char *option, bool function) {
    const as_vec *given = &view->cli->arguments.given;
    for (size_t i = 0; i < given->count; i++) {
        const as_given *g = &AS_AT(as_given, given, i);
        bool found = strcmp(g->option->name, option) != 0;
        as_str known = found ? AS_NO_STR : as_find(&view->ds->strings, g->value, strlen(g->value));
        for (assay_id id = 0; known != AS_NO_STR && !found && id < AS_COUNT(view->ds, contexts); id++)
            found = has_name(view, id, function, known);
        if (!found) return g->value;
    }
    return NULL;
}

/* First come GPU activities, and nothing else. */
static bool is_by_kernel(const as_cli *cli) {
    const char *by = as_cli_value(cli, "by");
    return by && strcmp(by, "kernel") == 0;
}

/* Asks each different name once. */
static bool mark_names(as_tree_view *view, const as_pattern *match) {
    bool *is_known = calloc(view->ds->strings.entries.count + 1, sizeof *is_known), found = false;
    bool by_kernel = is_by_kernel(view->cli);
    view->wanted = calloc(view->ds->strings.entries.count + 1, sizeof *view->wanted);
    for (assay_id id = 0; is_known && view->wanted && id < AS_COUNT(view->ds, contexts); id++) {
        as_str names[MOST_NAMES];
        size_t n = names_of(view, id, false, names);
        for (size_t i = 0; i < n; i++) {
            if (names[i] == AS_NO_STR || is_known[names[i]]) continue;
            const char *text = as_ds_text(view->ds, names[i]);
            is_known[names[i]] = true;
            view->wanted[names[i]] = (!match || as_pattern_search(match, text, strlen(text))) &&
                                     (!as_cli_has(view->cli, "name") || is_named(view->cli, "name", text)) &&
                                     (!by_kernel || as_region_is_gpu(view->ds, as_ds_context(view->ds, id)->region));
            found |= view->wanted[names[i]];
        }
    }
    if (!is_known) { /* as if all of it were out */
        free(view->wanted);
        view->wanted = NULL;
    }
    free(is_known);
    return found;
}

as_exit as_tree_choose_names(as_tree_view *view) {
    as_cli *cli = view->cli;
    as_pattern *match;
    as_exit status = as_callpath_match(cli, &match);
    if (status != AS_EXIT_FINE) return status;
    const char *missing = find_missing(view, "name", false);
    if (missing) {
        status = as_fail_context_name(cli, view->ds, "function", missing);
    } else if (match || as_cli_has(cli, "name") || is_by_kernel(cli)) {
        bool found = mark_names(view, match);
        if (!view->wanted)
            status = as_cli_memory(cli);
        else if (!found)
            status = as_cli_fail(cli, AS_EXIT_USAGE, "no name%s matches '%s'",
                                 as_cli_has(cli, "name") ? " of those given" : "", as_cli_value(cli, "match"));
        view->request.wanted = view->wanted;
    }
    as_pattern_free(match);
    return status;
}

/* What is hidden, in pieces for several threads. */
typedef struct hiding {
    const as_tree_view *view;
    const as_pattern *pattern;
    const bool *names; /* of all strings those that nodes have as names */
    uint8_t how;
    bool found;
} hiding;

enum { NAMES_AT_ONCE = 1 << 14 };

static void hide_piece(void *user, size_t piece) {
    hiding *h = user;
    const as_strings *strings = &h->view->ds->strings;
    size_t first = piece * NAMES_AT_ONCE, n = strings->entries.count - first;
    bool found = false;
    for (as_str name = (as_str)first; name - first < n && name - first < NAMES_AT_ONCE; name++) {
        if (!h->names[name]) continue;
        if (!as_pattern_search(h->pattern, as_str_text(strings, name), as_str_size(strings, name))) continue;
        h->view->hidden[name] |= h->how;
        found = true;
    }
    if (found) __atomic_store_n(&h->found, true, __ATOMIC_RELAXED);
}

/* Marks the names of nodes that a pattern matches. */
static as_exit hide_names(as_tree_view *view, const as_given *given, const bool *names) {
    as_pattern *pattern;
    as_exit status = as_callpath_pattern(view->cli, given->option->name, given->value, &pattern);
    if (status != AS_EXIT_FINE) return status;
    uint8_t how = strcmp(given->option->name, "hide") == 0 ? AS_HIDES_NODE : AS_HIDES_SUBTREE;
    hiding h = {.view = view, .pattern = pattern, .names = names, .how = how};
    as_parallel((view->ds->strings.entries.count + NAMES_AT_ONCE - 1) / NAMES_AT_ONCE, 0, hide_piece, &h);
    as_pattern_free(pattern);
    if (!h.found) as_cli_note(view->cli, "no name matches --%s '%s'", given->option->name, given->value);
    return AS_EXIT_FINE;
}

as_exit as_tree_choose_hidden(as_tree_view *view) {
    as_cli *cli = view->cli;
    if (!as_cli_has(cli, "hide") && !as_cli_has(cli, "hide-subtree")) return AS_EXIT_FINE;
    size_t n = view->ds->strings.entries.count;
    bool *names = calloc(n + 1, sizeof *names);
    view->request.hidden = view->hidden = calloc(n + 1, sizeof *view->hidden);
    as_exit status = names && view->hidden ? AS_EXIT_FINE : as_cli_memory(cli);
    for (assay_id id = 0; status == AS_EXIT_FINE && id < AS_COUNT(view->ds, contexts); id++) {
        as_str some[MOST_NAMES];
        for (size_t i = names_of(view, id, false, some); i-- > 0;) {
            if (some[i] != AS_NO_STR) names[some[i]] = true;
        }
    }
    for (size_t i = 0; status == AS_EXIT_FINE && i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        bool hides = strcmp(given->option->name, "hide") == 0 || strcmp(given->option->name, "hide-subtree") == 0;
        if (hides) status = hide_names(view, given, names);
    }
    free(names);
    return status;
}

/* Marks those of --context in wanted, one for each context. */
static as_exit mark_contexts(as_tree_view *view, bool *wanted) {
    const as_vec *given = &view->cli->arguments.given;
    for (size_t i = 0; i < given->count; i++) {
        const as_given *g = &AS_AT(as_given, given, i);
        as_number number;
        if (strcmp(g->option->name, "context") != 0) continue;
        if (!as_number_parse(g->value, strlen(g->value), &number) || number.kind == AS_REAL ||
            as_number_real(number) < 0 || as_number_real(number) >= (double)AS_COUNT(view->ds, contexts))
            return as_cli_fail(view->cli, AS_EXIT_USAGE, "there is no call path with the number '%s'; from 0 to %zu",
                               g->value, AS_COUNT(view->ds, contexts) - 1);
        wanted[(size_t)as_number_real(number)] = true;
    }
    return AS_EXIT_FINE;
}

static as_exit collect_roots(as_tree_view *view, const bool *wanted) {
    const as_dataset *ds = view->ds;
    for (assay_id id = 0; id < AS_COUNT(ds, contexts);) {
        const as_context *context = as_ds_context(ds, id);
        bool is_root = wanted[id] || (context->name != AS_NO_STR && as_view_shows(ds, id) &&
                                      is_named(view->cli, "root", as_ds_text(ds, context->name)));
        if (is_root && !as_vec_append(&view->roots, &id, 1)) return as_cli_memory(view->cli);
        id += is_root ? context->subtree : 1;
    }
    return AS_EXIT_FINE;
}

/* The contexts of --root and --context that lie in no other such. */
static as_exit choose_roots(as_tree_view *view) {
    const as_dataset *ds = view->ds;
    if (!as_cli_has(view->cli, "root") && !as_cli_has(view->cli, "context")) return AS_EXIT_FINE;
    bool *wanted = calloc(AS_COUNT(ds, contexts) + 1, sizeof *wanted);
    as_exit status = wanted ? mark_contexts(view, wanted) : as_cli_memory(view->cli);
    if (status == AS_EXIT_FINE) status = collect_roots(view, wanted);
    free(wanted);
    if (status != AS_EXIT_FINE) return status;
    const char *missing = find_missing(view, "root", true);
    return missing ? as_fail_context_name(view->cli, ds, "function", missing) : AS_EXIT_FINE;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static as_exit load(as_tree_view *view) {
    as_view_source source = {.ds = view->ds,
                             .runs = view->runs.runs,
                             .n_runs = view->runs.n_runs,
                             .point = view->runs.point,
                             .locations = view->locations.wanted};
    assay_error error;
    assay_status status = as_view_load(&source, view->metrics.data, view->metrics.count, view->roots.data,
                                       view->roots.count, &view->data, &error);
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(view->cli, &error);
}

/* Whether the places that are looked at have no time but that of GPUs. */
static bool is_gpu_time_all(const as_tree_view *view) {
    if (!view->has_gpu_time) return false;
    const as_view_column *time = &view->data.columns[0], *gpu = &view->data.columns[view->n_asked];
    return as_view_whole(&view->data, 0).inclusive.real == 0 && gpu->whole > 0 && isnan(time->whole);
}

/* The time of GPUs is what is looked at, instead of that of the host. */
static as_exit load_gpu_time(as_tree_view *view) {
    assay_id *metrics = view->metrics.data;
    memmove(metrics, metrics + view->n_asked, (view->metrics.count - view->n_asked) * sizeof *metrics);
    view->metrics.count -= view->n_asked;
    view->n_asked = 1;
    view->has_gpu_time = false;
    as_view_data_free(&view->data);
    return load(view);
}

/* Where the time is that of the host alone, what GPUs did is worth a line of its own. */
static void find_telling(as_tree_view *view) {
    if (!view->has_gpu_time) return;
    const as_view_column *time = &view->data.columns[0], *gpu = &view->data.columns[view->n_asked];
    for (assay_id id = 0; id < AS_COUNT(view->ds, contexts); id++) {
        as_node node, other;
        bool is_gpu = as_column_node(gpu, id, &node) && node.has_exclusive && as_number_real(node.exclusive) > 0;
        if (is_gpu && !(as_column_node(time, id, &other) && as_number_real(other.inclusive) > 0))
            view->request.n_telling = view->n_asked + 1;
    }
}

/* Says so where a formula that is looked at has no values. */
static void note_formulas(const as_tree_view *view) {
    for (size_t i = 0; i < view->n_asked && as_cli_has(view->cli, "metric"); i++) {
        const as_derived *derived = as_ds_derived(view->ds, AS_AT(assay_id, &view->metrics, i));
        if (derived && (!derived->is_usable || derived->has_failed))
            as_cli_note(view->cli, "the formula of '%s' cannot be computed; assay validate tells why",
                        as_ds_text(view->ds, as_ds_metric(view->ds, derived->metric)->name));
    }
}

static as_exit check_hot_path(as_tree_view *view) {
    const as_view_column *first = view->data.n_columns ? &view->data.columns[0] : NULL;
    if (!view->request.only_hot) return AS_EXIT_FINE;
    if (view->request.kind == AS_VIEW_FLAT && view->request.group != AS_GROUP_SCOPE)
        return as_cli_fail(view->cli, AS_EXIT_USAGE, "a flat list has no hot path; leave out --hot-path or --%s",
                           as_cli_has(view->cli, "by") ? "by" : "flat");
    if (first && first->adds_up) return AS_EXIT_FINE;
    const char *name = first ? as_ds_text(view->ds, as_ds_metric(view->ds, first->metric)->name) : NULL;
    return as_cli_fail(view->cli, AS_EXIT_USAGE, "there is no hot path of '%s': its values do not add up",
                       name ? name : "");
}

as_exit as_choose_hot_threshold(as_cli *cli, as_view_request *view) {
    const char *text = as_cli_value(cli, "hot-path-threshold");
    size_t size = text ? strlen(text) : 0;
    bool is_percent = size && text[size - 1] == '%';
    double part;
    if (!text) return AS_EXIT_FINE;
    if (!as_real_parse(text, size - is_percent, &part) || !(part >= 0) || part > (is_percent ? 100 : 1))
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "--hot-path-threshold cannot be '%s'; it takes a part from 0 to 1, or a percentage: 30%%",
                           text);
    part = is_percent ? part / 100 : part;
    view->hot_threshold = part > 0 ? part : DBL_MIN; /* 0 is the usual one */
    return AS_EXIT_FINE;
}

/* What the view is like depends on what the file has. */
static void choose_shape(as_tree_view *view) {
    view->request.without_root = view->request.joins_calls = view->cli->style.mode == AS_PRINT_TEXT;
    if (view->request.kind == AS_VIEW_FLAT && view->ask->by_scope && as_view_has_scopes(view->ds))
        view->request.group = AS_GROUP_SCOPE;
}

static as_exit prepare(as_tree_view *view) {
    bool shows_root = view->request.kind == AS_VIEW_TOP_DOWN && !view->request.without_root;
    /* The root of all is no level of its own */
    if (view->request.max_levels && shows_root && as_view_has_root(&view->data)) view->request.max_levels++;
    if (!as_cli_has(view->cli, "source")) return AS_EXIT_FINE;
    if (view->ds->source_root == AS_NO_STR)
        as_cli_note(view->cli, "%s has no copies of sources", as_ds_text(view->ds, view->ds->path));
    view->sources = as_source_lines_new(view->ds);
    return view->sources ? AS_EXIT_FINE : as_cli_memory(view->cli);
}

static as_exit look_at(as_tree_view *view) {
    if (AS_COUNT(view->ds, contexts) == 0)
        return as_cli_fail(view->cli, AS_EXIT_INPUT, "%s: has no call tree", as_ds_text(view->ds, view->ds->path));
    choose_shape(view);
    as_exit status = as_tree_choose_metrics(view);
    if (status == AS_EXIT_FINE) status = as_choose_runs(view->cli, view->ds, &view->runs);
    if (status == AS_EXIT_FINE) status = as_choose_locations(view->cli, view->ds, &view->locations);
    if (status == AS_EXIT_FINE && !view->ask->is_plain) status = as_tree_choose_names(view);
    if (status == AS_EXIT_FINE && !view->ask->is_plain) status = as_tree_choose_hidden(view);
    if (status == AS_EXIT_FINE && !view->ask->is_plain) status = choose_roots(view);
    if (status == AS_EXIT_FINE) status = load(view);
    if (status == AS_EXIT_FINE && is_gpu_time_all(view)) status = load_gpu_time(view);
    if (status == AS_EXIT_FINE) find_telling(view);
    if (status == AS_EXIT_FINE) note_formulas(view);
    if (status == AS_EXIT_FINE) status = check_hot_path(view);
    if (status == AS_EXIT_FINE) status = prepare(view);
    return status;
}

void as_tree_view_close(as_tree_view *view) {
    as_view_data_free(&view->data);
    as_vec_free(&view->metrics);
    as_vec_free(&view->roots);
    as_vec_free(&view->name);
    as_source_lines_free(view->sources);
    free(view->wanted);
    free(view->hidden);
    as_run_choice_free(&view->runs);
    as_location_choice_free(&view->locations);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Where the answers of several files go. */
typedef struct answer {
    as_printer *printer; /* of tables, else NULL */
    as_table *batch;
    bool has_several; /* there may be more than one */
    size_t shown;
} answer;

static as_exit show(as_tree_view *view, answer *a) {
    as_cli *cli = view->cli;
    bool is_array = cli->style.mode == AS_PRINT_JSON && a->has_several;
    if (is_array) as_output_text(cli->out, a->shown ? ",\n" : "[\n");
    if (cli->style.mode == AS_PRINT_TEXT && a->shown) as_output_char(cli->out, '\n');
    a->shown++;
    switch (cli->style.mode) {
    case AS_PRINT_TEXT: return as_tree_print(view);
    case AS_PRINT_JSON: return as_tree_json(view);
    default: return as_tree_rows(view, a->printer, a->batch);
    }
}

static bool begin(as_cli *cli, answer *a) {
    if (cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_JSON) return true;
    a->batch = as_tree_columns(a->has_several);
    a->printer = as_printer_new(cli->out, cli->style);
    return a->batch && a->printer;
}

static as_exit finish(as_cli *cli, answer *a, as_exit status) {
    bool is_array = cli->style.mode == AS_PRINT_JSON && a->has_several;
    if (is_array) as_output_text(cli->out, a->shown ? "\n]" : "[]");
    if (cli->style.mode == AS_PRINT_JSON && (is_array || a->shown)) as_output_char(cli->out, '\n');
    if (a->printer && !as_printer_end(a->printer, a->shown ? a->batch : NULL) && status == AS_EXIT_FINE)
        status = as_cli_memory(cli);
    as_table_free(a->batch);
    return status;
}

static as_exit show_dataset(as_cli *cli, const as_tree_ask *ask, as_dataset *ds, answer *a) {
    as_tree_view view = {.cli = cli, .ask = ask, .ds = ds, .request = ask->view};
    as_vec_init(&view.metrics, sizeof(assay_id), NULL);
    as_vec_init(&view.roots, sizeof(assay_id), NULL);
    as_vec_init(&view.name, 1, NULL);
    as_exit status = look_at(&view);
    if (status == AS_EXIT_FINE) status = show(&view, a);
    as_tree_view_close(&view);
    return status;
}

as_exit as_tree_answer(as_cli *cli, const as_tree_ask *ask) {
    size_t n = as_cli_operands(cli);
    if (n == 0)
        return as_cli_fail(cli, AS_EXIT_USAGE, "%s needs a file; assay %s --help tells more", cli->verb->name,
                           cli->verb->name);
    answer a = {.has_several = n > 1};
    if (!begin(cli, &a)) return finish(cli, &a, as_cli_memory(cli));
    as_exit status = AS_EXIT_FINE;
    for (size_t i = 0; i < n && status != AS_EXIT_USAGE; i++) {
        as_dataset *ds;
        as_exit one = as_cli_open(cli, as_cli_operand(cli, i), &ds);
        if (one == AS_EXIT_FINE) one = show_dataset(cli, ask, ds, &a);
        if (one != AS_EXIT_FINE) status = one;
        as_dataset_free(ds);
    }
    return finish(cli, &a, status);
}

as_exit as_tree_show(as_cli *cli, const as_tree_ask *ask, as_dataset *ds) {
    answer a = {0};
    as_exit status = begin(cli, &a) ? show_dataset(cli, ask, ds, &a) : as_cli_memory(cli);
    return finish(cli, &a, status);
}

/* ---- for all shapes ---------------------------------------------------------------------------------------------- */

void as_tree_note_limit(as_cli *cli, const as_view_cut *cut) {
    if (cut->limit)
        as_cli_note(cli, "the callers end after %u levels: following all of them would take too long", cut->limit);
}

as_exit as_tree_walk(as_tree_view *view, bool (*visit)(void *user, const as_view_node *node), void *user,
                     as_view_cut *cut) {
    assay_error error;
    if (as_view_walk(&view->data, &view->request, visit, user, cut, &error) == ASSAY_OK) return AS_EXIT_FINE;
    return as_cli_error(view->cli, &error);
}
