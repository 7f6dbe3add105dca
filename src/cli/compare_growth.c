/* Models on both sides: how call paths grow, and what they will cost at a point that nobody measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scaling/coordinates.h"
#include "cli/compare_view.h"
#include "cli/profile_choice.h"
#include "dataset/merge.h"
#include "render/quantity.h"

enum { FEWEST_POINTS = 3 };

/* One side as one experiment. */
struct side {
    as_dataset *ds;
    as_dataset *merged; /* owned; NULL: it is the caller's */
    as_fit fit;
    bool is_fitted;
};

static as_exit open_side(as_cli *cli, as_dataset *const *parts, size_t n, struct side *out) {
    assay_error error;
    out->ds = n ? parts[0] : NULL;
    if (n <= 1 || !as_can_merge(parts, n)) return AS_EXIT_FINE;
    if (as_merge(parts, n, &out->merged, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    out->ds = out->merged;
    return AS_EXIT_FINE;
}

static void close_side(struct side *side) {
    if (side->is_fitted) as_fit_free(&side->fit);
    as_dataset_free(side->merged);
}

static bool fit_for_models(const as_dataset *base, const as_dataset *target) {
    return base && target && as_ds_parameters(base) && as_growths_fit(base, target);
}

static bool is_experiment(const as_dataset *ds) { return ds->n_points >= FEWEST_POINTS && ds->series.count > 0; }

/* Those of the series whose metrics and call paths are asked for. False when memory is out. */
static bool choose_series(const as_dataset *ds, const bool *wanted, as_path_choice *chosen, uint32_t *series,
                          size_t *n) {
    as_vec path;
    bool fine = true;
    as_vec_init(&path, 1, NULL);
    for (size_t i = 0; fine && i < ds->series.count; i++) {
        const as_series *s = as_ds_series(ds, i);
        const char *metric = as_ds_text(ds, as_ds_metric(ds, s->metric)->name);
        if (!wanted[s->metric]) continue;
        path.count = 0;
        fine = as_context_path(ds, s->context, &path) && as_vec_append(&path, "", 1);
        if (fine && as_path_choice_keeps(chosen, metric ? metric : "", path.data)) series[(*n)++] = (uint32_t)i;
    }
    as_vec_free(&path);
    return fine;
}

/* Models of the series that are looked at. */
static as_exit fit_side(as_cli *cli, struct side *side, as_path_choice *chosen, unsigned threads) {
    as_dataset *ds = side->ds;
    as_fit_options options;
    assay_error error;
    static const char *const none[] = {NULL};
    if (as_ds_load(ds, ASSAY_NONE, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (as_fit_options_parse(as_ds_parameters(ds), NULL, NULL, none, &options, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    options.threads = threads;
    bool *wanted = calloc(AS_COUNT(ds, metrics) + 1, sizeof *wanted);
    uint32_t *series = calloc(ds->series.count + 1, sizeof *series);
    size_t n = 0;
    as_exit status = wanted && series ? as_mark_metrics(cli, ds, wanted) : as_cli_memory(cli);
    if (status == AS_EXIT_FINE && !choose_series(ds, wanted, chosen, series, &n)) status = as_cli_memory(cli);
    if (status == AS_EXIT_FINE && as_fit_models(ds, &options, (as_choice){series, n}, "comparison", NULL, NULL, NULL,
                                                &side->fit, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    side->is_fitted = status == AS_EXIT_FINE;
    free(wanted);
    free(series);
    return status;
}

static as_exit read_point(as_cli *cli, const as_dataset *ds, as_vec *point) {
    const char *text = as_cli_value(cli, "at");
    assay_error error;
    if (!text) return AS_EXIT_FINE;
    if (as_points_parse(ds, text, point, &error) != ASSAY_OK) return as_cli_error(cli, &error);
    if (point->count == as_ds_parameters(ds)) return AS_EXIT_FINE;
    return as_cli_fail(cli, AS_EXIT_USAGE, "--at takes one point such as n=1e6, not the range '%s'", text);
}

static as_exit compare_sides(as_cli *cli, struct side sides[2], const as_compare_config *config, as_growths *out) {
    const as_judge_options *options = &config->judge;
    as_rules *rules = NULL;
    const as_dataset *base = sides[0].ds;
    as_vec point;
    assay_error error;
    as_vec_init(&point, sizeof(double), NULL);
    as_exit status = read_point(cli, base, &point);
    if (status == AS_EXIT_FINE && as_rules_new(options->rules, options->n_rules, &rules, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    bool is_fitted = is_experiment(sides[0].ds) && is_experiment(sides[1].ds);
    for (size_t s = 0; s < 2 && is_fitted && status == AS_EXIT_FINE; s++)
        status = fit_side(cli, &sides[s], &(as_path_choice){rules, config->match}, options->threads);
    as_growth_side given[2] = {{sides[0].ds, is_fitted ? &sides[0].fit : NULL},
                               {sides[1].ds, is_fitted ? &sides[1].fit : NULL}};
    as_growth_request request = {.point = point.count ? point.data : NULL,
                                 .threshold = options->threshold,
                                 .confidence = 0.95,
                                 .rules = rules,
                                 .threads = options->threads};
    if (status == AS_EXIT_FINE && as_growths_find(given, &request, out, &error) != ASSAY_OK)
        status = as_cli_error(cli, &error);
    as_rules_free(rules);
    as_vec_free(&point);
    return status;
}

/* "1e6", or with the name of what it is. */
static as_exit compare_stored(as_cli *cli, const struct side sides[2], const as_compare_config *config,
                              as_growths *out) {
    const as_dataset *const both[2] = {sides[0].ds, sides[1].ds};
    const char *text = as_cli_value(cli, "at"), *number = text && strrchr(text, '=') ? strrchr(text, '=') + 1 : text;
    double x = 0;
    assay_error error;
    if (text && (!as_real_parse(number, strlen(number), &x) || !isfinite(x)))
        return as_cli_fail(cli, AS_EXIT_USAGE, "--at %s is no point such as structure-unit-size=1e6", text);
    as_rules *rules;
    if (as_rules_new(config->judge.rules, config->judge.n_rules, &rules, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    as_path_choice chosen = {rules, config->match};
    as_growth_request request = {.point = text ? &x : NULL,
                                 .threshold = config->judge.threshold,
                                 .confidence = 0.95,
                                 .rules = rules,
                                 .keeps = as_path_choice_keeps,
                                 .user = &chosen};
    assay_status status = as_growths_find_stored(both, &request, out, &error);
    as_rules_free(rules);
    return status == ASSAY_OK ? AS_EXIT_FINE : as_cli_error(cli, &error);
}

static bool has_curves(const as_dataset *ds) {
    const as_table *table = ds ? as_ds_records(ds, "stored_model") : NULL;
    return table && as_table_rows(table) > 0;
}

as_exit as_compare_growth(as_cli *cli, as_dataset *const *const sides[2], const size_t n[2],
                          const as_compare_config *config, as_growths *out) {
    struct side opened[2] = {{0}, {0}};
    *out = (as_growths){.outcome = AS_OUTCOME_SAME};
    as_arena_init(&out->arena, NULL);
    as_exit status = open_side(cli, sides[0], n[0], &opened[0]);
    if (status == AS_EXIT_FINE) status = open_side(cli, sides[1], n[1], &opened[1]);
    bool is_fit_for_models = fit_for_models(opened[0].ds, opened[1].ds);
    bool is_stored = has_curves(opened[0].ds) && has_curves(opened[1].ds);
    if (status == AS_EXIT_FINE && is_stored &&
        !(is_fit_for_models && is_experiment(opened[0].ds) && is_experiment(opened[1].ds)))
        status = compare_stored(cli, opened, config, out);
    else if (status == AS_EXIT_FINE && is_fit_for_models)
        status = compare_sides(cli, opened, config, out);
    else if (status == AS_EXIT_FINE && as_cli_has(cli, "at"))
        status =
            as_cli_fail(cli, AS_EXIT_USAGE, "--at needs the same parameters on both sides, to have models of them");
    enum { SHORT = 8 };
    const char *name = is_fit_for_models && as_ds_parameters(opened[0].ds) == 1 ? as_ds_parameter(opened[0].ds, 0) : "";
    if (strlen(name) > SHORT) out->long_parameter = as_arena_copy(&out->arena, name, strlen(name));
    for (size_t s = 0; s < 2; s++) close_side(&opened[s]);
    return status;
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static void build_known(as_builder *builder, const char *key, double value) {
    if (isnan(value))
        as_build_text(builder, key, NULL);
    else
        as_build_real(builder, key, value);
}

static void build_side(as_builder *builder, const char *key, const as_growth_change *change, size_t side,
                       bool has_point) {
    as_build_object(builder, key, false);
    as_build_text(builder, "order", change->order[side]);
    as_build_text(builder, "function", change->function[side]);
    if (has_point) {
        build_known(builder, "value", change->value[side]);
        build_known(builder, "low", change->interval[side].low);
        build_known(builder, "high", change->interval[side].high);
    }
    as_build_end(builder);
}

void as_growths_json(as_builder *builder, const as_growths *growths) {
    as_build_array(builder, "growth", true);
    for (size_t i = 0; i < growths->n; i++) {
        const as_growth_change *change = &growths->changes[i];
        as_build_object(builder, NULL, true);
        as_build_text(builder, "metric", change->metric);
        as_build_text(builder, "callpath", change->path);
        as_build_text(builder, "order_outcome", as_outcome_name(change->order_outcome));
        if (growths->has_point) {
            as_build_text(builder, "at", growths->label);
            as_build_text(builder, "at_outcome", as_outcome_name(change->at_outcome));
            build_known(builder, "relative", change->relative);
        }
        build_side(builder, "base", change, 0, growths->has_point);
        build_side(builder, "target", change, 1, growths->has_point);
        as_build_end(builder);
    }
    as_build_end(builder);
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static bool is_changed(const as_growth_change *change) {
    return change->order_outcome != AS_OUTCOME_SAME || change->at_outcome != AS_OUTCOME_SAME;
}

static bool is_worse(as_outcome outcome) { return outcome == AS_OUTCOME_WORSE || outcome == AS_OUTCOME_MAYBE_WORSE; }

as_outcome as_growth_worst(const as_growth_change *change) {
    as_outcome order = change->order_outcome, at = change->at_outcome;
    if (order == AS_OUTCOME_WORSE || at == AS_OUTCOME_WORSE) return AS_OUTCOME_WORSE;
    if (is_worse(order) || is_worse(at)) return AS_OUTCOME_MAYBE_WORSE;
    if (order == AS_OUTCOME_BETTER || at == AS_OUTCOME_BETTER) return AS_OUTCOME_BETTER;
    return order != AS_OUTCOME_SAME ? order : at;
}

static void put_amount(const as_growth_change *change, size_t side, bool is_ascii, char *out, size_t size) {
    char number[AS_QUANTITY_SIZE];
    double value = change->value[side];
    out[0] = '\0';
    if (!isfinite(value)) return;
    as_quantity quantity = as_quantity_of(change->unit, fabs(value), false);
    as_quantity_format(&quantity, (as_number){.kind = AS_REAL, .r = value}, number);
    const char *unit = as_unit_shown(&quantity, is_ascii);
    int used = snprintf(out, size, "%s%s%s", number, *unit ? " " : "", unit);
    as_interval interval = change->interval[side];
    if (isnan(interval.low) || used < 0 || (size_t)used >= size) return;
    char low[AS_QUANTITY_SIZE], high[AS_QUANTITY_SIZE];
    as_quantity_format(&quantity, (as_number){.kind = AS_REAL, .r = interval.low}, low);
    as_quantity_format(&quantity, (as_number){.kind = AS_REAL, .r = interval.high}, high);
    snprintf(out + used, size - (size_t)used, " [%s, %s]", low, high);
}

/* Copies text, with x for the parameter where its name is long and the only one. */
static void put_order(const as_growths *growths, const char *text, char *out, size_t size) {
    const char *name = growths->long_parameter;
    size_t length = name ? strlen(name) : 0, used = 0;
    while (*text && used + 1 < size) {
        bool is_name = length && strncmp(text, name, length) == 0;
        out[used++] = is_name ? 'x' : *text;
        text += is_name ? length : 1;
    }
    out[used] = '\0';
}

void as_growth_words(const as_cli *cli, const as_growths *growths, const as_growth_change *change, as_output *out) {
    bool is_ascii = as_cli_is_ascii(cli);
    const char *arrow = is_ascii ? "->" : "→";
    char value[2][200];
    as_output_text(out, change->order[0]);
    if (change->change) as_output_printf(out, " %s %s", arrow, change->order[1]);
    if (!growths->has_point) return;
    for (size_t s = 0; s < 2; s++) put_amount(change, s, is_ascii, value[s], sizeof value[s]);
    as_output_printf(out, ", %s %s %s at %s", value[0], arrow, value[1], growths->label);
}

enum { GROWTH, BASE, TARGET, CHANGE, VERDICT, METRIC, PATH, N_COLUMNS };

static void choose_columns(const as_growths *growths, bool shown[N_COLUMNS]) {
    for (size_t i = 0; i < N_COLUMNS; i++) shown[i] = growths->has_point || i < BASE || i > CHANGE;
    shown[METRIC] = false;
    for (size_t i = 1; i < growths->n; i++)
        shown[METRIC] |= strcmp(growths->changes[i].metric, growths->changes[0].metric) != 0;
}

static bool add_row(as_cli *cli, const as_growths *growths, const as_growth_change *change, const bool shown[N_COLUMNS],
                    as_table *table) {
    char orders[2][120], order[260], value[2][200], percent[AS_QUANTITY_SIZE + 4] = "";
    bool is_ascii = as_cli_is_ascii(cli);
    for (size_t s = 0; s < 2; s++) put_order(growths, change->order[s], orders[s], sizeof orders[s]);
    if (change->change)
        snprintf(order, sizeof order, "%s %s %s", orders[0], is_ascii ? "->" : "→", orders[1]);
    else
        snprintf(order, sizeof order, "%s", orders[0]);
    for (size_t s = 0; s < 2; s++) put_amount(change, s, is_ascii, value[s], sizeof value[s]);
    if (isinf(change->relative))
        snprintf(percent, sizeof percent, "new");
    else if (!isnan(change->relative))
        snprintf(percent + as_percent_change_format(change->relative, percent), 3, " %%");
    const as_cell all[N_COLUMNS] = {[GROWTH] = as_cell_text(order),
                                    [BASE] = as_cell_text(value[0]),
                                    [TARGET] = as_cell_text(value[1]),
                                    [CHANGE] = as_cell_text(percent),
                                    [VERDICT] = as_cell_text(as_outcome_name(as_growth_worst(change))),
                                    [METRIC] = as_cell_text(change->metric),
                                    [PATH] = as_cell_text(change->path)};
    as_cell cells[N_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (shown[i]) cells[n++] = all[i];
    return as_table_append(table, cells);
}

/* "Models: 3 of 6 grow differently (x: structure-unit-size)" */
static void print_head(as_cli *cli, const as_growths *growths) {
    const char *mark = cli->style.mode == AS_PRINT_MARKDOWN ? "**" : "";
    size_t n_changed = 0;
    for (size_t i = 0; i < growths->n; i++) n_changed += is_changed(&growths->changes[i]);
    as_output_printf(cli->out, "\n%sModels%s: %zu of %zu grow differently", mark, mark, n_changed, growths->n);
    if (growths->has_point) as_output_printf(cli->out, ", or cost something else at %s", growths->label);
    if (growths->long_parameter && n_changed) as_output_printf(cli->out, " (x: %s)", growths->long_parameter);
    as_output_text(cli->out, "\n");
}

as_exit as_growths_print(as_cli *cli, const as_growths *growths) {
    static const char *const names[N_COLUMNS] = {"growth",  "base there", "target there", "change",
                                                 "verdict", "metric",     "call path"};
    bool with_all = as_cli_has(cli, "all"), shown[N_COLUMNS];
    if (!growths->n) return AS_EXIT_FINE;
    choose_columns(growths, shown);
    as_table *table = as_table_new(NULL, 0, NULL);
    bool fine = table != NULL;
    for (size_t i = 0; i < N_COLUMNS && fine; i++)
        if (shown[i]) fine = as_table_add_column(table, names[i]) != SIZE_MAX;
    for (size_t i = 0; i < growths->n && fine; i++)
        if (with_all || is_changed(&growths->changes[i]))
            fine = add_row(cli, growths, &growths->changes[i], shown, table);
    print_head(cli, growths);
    if (fine && as_table_rows(table)) {
        as_print_style style = cli->style;
        if (style.mode == AS_PRINT_MARKDOWN) as_output_text(cli->out, "\n");
        style.keep_last_end = true;
        fine = as_print_table(cli->out, table, style);
    }
    as_table_free(table);
    return fine ? AS_EXIT_FINE : as_cli_memory(cli);
}
