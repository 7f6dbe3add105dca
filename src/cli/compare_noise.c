/* How noisy repetitions are, and what change a comparison with them could find. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare_view.h"
#include "cli/series_view.h"
#include "render/display.h"

enum { ROWS = 30 };

/* One series that is not independent of the time it was measured at. */
struct drift {
    const as_series_subject *subject;
    as_trend trend;
};

struct noise_view {
    as_cli *cli;
    as_compare_config config;
    as_sides sides;
    as_samples samples;
    as_noises noises;
    as_series_view series; /* of several files: their order */
    as_vec drifts;         /* struct drift: those that chance does not explain, the total first */
    as_trend total;        /* of the first metric's total, or of its first call path */
    bool has_order;
};

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Looks for drift where runs say when they were. */
static as_exit find_drifts(struct noise_view *v) {
    as_exit status = as_series_of_open(&v->series, v->sides.parts[0], v->sides.n[0]);
    const as_series_group *group = v->series.n_groups == 1 ? &v->series.groups[0] : NULL;
    if (status != AS_EXIT_FINE || !group || strcmp(v->series.order, "time") != 0) return status;
    v->has_order = true;
    for (size_t i = 0; i < group->n_subjects; i++) {
        struct drift drift = {.subject = &group->subjects[i]};
        if (!as_trend_find(drift.subject->track.values, group->n_runs, &drift.trend)) return as_cli_memory(v->cli);
        if (!i) v->total = drift.trend;
        if (!(drift.trend.slope_p * (double)group->n_subjects < v->config.judge.level)) continue;
        if (!as_vec_append(&v->drifts, &drift, 1)) return as_cli_memory(v->cli);
    }
    return AS_EXIT_FINE;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static void put_percent(double part, char *out, size_t size) {
    char number[AS_NUMBER_SIZE];
    as_real_format(as_real_round(part * 100, part < 0.1 ? 2 : 3), number);
    snprintf(out, size, "%s %%", number);
}

static void put_detectable(const as_noise *noise, char *out, size_t size) {
    if (isnan(noise->detectable))
        out[0] = '\0';
    else if (isinf(noise->detectable))
        snprintf(out, size, "none");
    else
        put_percent(noise->detectable, out, size);
}

static void put_needed(const as_noise *noise, char *out, size_t size) {
    if (noise->needed == UINT32_MAX)
        snprintf(out, size, "%s", isnan(noise->detectable) || noise->subject->n_strata > 1 ? "" : "> 200");
    else
        snprintf(out, size, "%u", noise->needed);
}

static bool add_row(const struct noise_view *v, const as_noise *noise, as_table *table) {
    char median[AS_QUANTITY_SIZE + 20], number[AS_QUANTITY_SIZE], spread[40] = "", detectable[40], needed[40];
    as_quantity quantity =
        as_quantity_of(noise->subject->unit, fabs(noise->median), noise->median == floor(noise->median));
    as_quantity_format(&quantity, (as_number){.kind = AS_REAL, .r = noise->median}, number);
    const char *unit = as_unit_shown(&quantity, as_cli_is_ascii(v->cli));
    snprintf(median, sizeof median, "%s%s%.16s", number, *unit ? " " : "", unit);
    if (!isnan(noise->spread)) put_percent(noise->spread, spread, sizeof spread);
    put_detectable(noise, detectable, sizeof detectable);
    put_needed(noise, needed, sizeof needed);
    const as_cell cells[] = {as_cell_text(noise->subject->path ? noise->subject->path : "total"),
                             as_cell_text(noise->subject->metric),
                             as_cell_int(noise->n),
                             as_cell_text(median),
                             as_cell_text(spread),
                             as_cell_int(noise->outliers),
                             as_cell_text(detectable),
                             as_cell_text(needed)};
    return as_table_append(table, cells);
}

/* The first noise is the total's of the first metric, where it has one. */
static void print_headline(const struct noise_view *v) {
    as_output *out = v->cli->out;
    const char *mark = v->cli->style.mode == AS_PRINT_MARKDOWN ? "**" : "";
    char change[40], needed[40], twice[40];
    if (!v->noises.n) {
        as_output_printf(out, "%sNo repetitions%s: how noisy the measurements are is not known; give several runs\n",
                         mark, mark);
        return;
    }
    const as_noise *first = &v->noises.list[0];
    put_detectable(first, change, sizeof change);
    put_needed(first, needed, sizeof needed);
    put_percent(2 * first->threshold, twice, sizeof twice);
    const char *what = first->subject->path ? first->subject->path : "the total";
    as_output_text(out, mark);
    if (isinf(first->detectable))
        as_output_printf(out, "%u repetitions are too few to find any change", first->n);
    else
        as_output_printf(out, "With %u repetitions a change of %s is found", first->n,
                         *change ? change : "an unknown size");
    as_output_printf(out, "%s in ", mark);
    as_display_write(out, what, strlen(what), 0);
    as_output_printf(out, " of %s", first->subject->metric);
    if (*needed) as_output_printf(out, "; one of %s takes %s", twice, needed);
    as_output_text(out, "\n");
}

static void print_drifts(const struct noise_view *v) {
    as_output *out = v->cli->out;
    char change[40];
    if (!v->has_order) return;
    for (size_t i = 0; i < v->drifts.count && i < 3; i++) {
        const struct drift *drift = &AS_AT(struct drift, &v->drifts, i);
        const char *what = drift->subject->path ? drift->subject->path : "the total";
        put_percent(fabs(drift->trend.change), change, sizeof change);
        as_output_printf(out, "%s", i ? "" : "Repetitions are not independent of when they ran: ");
        as_display_write(out, what, strlen(what), 0);
        as_output_printf(out, " (%s) %s by %s from the first run to the last\n", drift->subject->metric,
                         drift->trend.change > 0 ? "rises" : "falls", change);
    }
    if (!v->drifts.count && fabs(v->total.autocorrelation) > v->total.limit)
        as_output_text(out, "Neighbouring runs are alike (autocorrelation): the machine's state lasts longer than a "
                            "run, and tests are too sure\n");
}

static as_exit print_text(struct noise_view *v) {
    static const as_column columns[] = {{"call path"}, {"metric"},   {"n"},     {"median"},
                                        {"spread"},    {"outliers"}, {"finds"}, {"needs"}};
    as_table *table = as_table_new(columns, sizeof columns / sizeof *columns, NULL);
    size_t most = as_cli_has(v->cli, "all") ? v->noises.n : ROWS;
    bool fine = table != NULL;
    print_headline(v);
    print_drifts(v);
    for (size_t i = 0; i < v->noises.n && i < most && fine; i++) fine = add_row(v, &v->noises.list[i], table);
    if (fine && v->noises.n) {
        char level[40], twice[40];
        as_output_text(v->cli->out, "\n");
        fine = as_print_table(v->cli->out, table, v->cli->style);
        put_percent(v->config.judge.level, level, sizeof level);
        put_percent(2 * v->config.judge.threshold, twice, sizeof twice);
        if (v->noises.n > most) as_output_printf(v->cli->out, "%zu more; --all shows them\n", v->noises.n - most);
        as_output_printf(v->cli->out,
                         "\n"
                         "spread: quartile distance by median. finds: the smallest change that 4 of 5 comparisons "
                         "with n repetitions on both sides call a degradation, at a level of %s for %zu tests. needs: "
                         "repetitions on both sides for a change of %s.\n",
                         level, v->noises.n_tests, twice);
    }
    if (v->noises.n_alone)
        as_output_printf(v->cli->out, "%zu call paths and metrics have no repetitions.\n", v->noises.n_alone);
    if (as_put_inclusive(&v->samples, v->cli->out)) as_output_text(v->cli->out, ".\n");
    as_table_free(table);
    return fine ? AS_EXIT_FINE : as_cli_memory(v->cli);
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static void build_known(as_builder *builder, const char *key, double value) {
    if (isnan(value) || isinf(value))
        as_build_text(builder, key, NULL);
    else
        as_build_real(builder, key, value);
}

static void build_noise(as_builder *builder, const as_noise *noise) {
    as_build_object(builder, NULL, false);
    as_build_text(builder, "metric", noise->subject->metric);
    as_build_text(builder, "unit", noise->subject->unit);
    as_build_text(builder, "callpath", noise->subject->path);
    as_build_int(builder, "repetitions", noise->n);
    as_build_real(builder, "median", noise->median);
    build_known(builder, "spread", noise->spread);
    as_build_int(builder, "outliers", noise->outliers);
    as_build_real(builder, "threshold", noise->threshold);
    build_known(builder, "detectable", noise->detectable);
    as_build_known(builder, "needed", noise->needed == UINT32_MAX ? -1 : (int64_t)noise->needed, false);
    as_build_end(builder);
}

static as_exit print_json(struct noise_view *v) {
    as_builder builder = as_builder_of(v->cli->out);
    as_build_object(&builder, NULL, true);
    as_build_int(&builder, "tests", (int64_t)v->noises.n_tests);
    as_build_real(&builder, "level", v->config.judge.level);
    as_build_real(&builder, "power", 0.8);
    as_build_array(&builder, "noise", true);
    for (size_t i = 0; i < v->noises.n; i++) build_noise(&builder, &v->noises.list[i]);
    as_build_end(&builder);
    as_build_bool(&builder, "is_ordered", v->has_order);
    as_build_array(&builder, "trends", true);
    for (size_t i = 0; i < v->drifts.count; i++) {
        const struct drift *drift = &AS_AT(struct drift, &v->drifts, i);
        as_build_object(&builder, NULL, false);
        as_build_text(&builder, "metric", drift->subject->metric);
        as_build_text(&builder, "callpath", drift->subject->path);
        build_known(&builder, "change", drift->trend.change);
        as_build_real(&builder, "p", drift->trend.slope_p);
        build_known(&builder, "autocorrelation", drift->trend.autocorrelation);
        as_build_end(&builder);
    }
    as_build_end(&builder);
    as_build_end(&builder);
    return AS_EXIT_FINE;
}

static as_exit print_rows(struct noise_view *v) {
    static const as_column columns[] = {{"metric"},   {"callpath"},  {"repetitions"}, {"median"}, {"spread"},
                                        {"outliers"}, {"threshold"}, {"detectable"},  {"needed"}};
    as_table *table = as_table_new(columns, sizeof columns / sizeof *columns, NULL);
    bool fine = table != NULL;
    for (size_t i = 0; i < v->noises.n && fine; i++) {
        const as_noise *noise = &v->noises.list[i];
        const as_cell cells[] = {as_cell_text(noise->subject->metric),
                                 as_cell_text(noise->subject->path),
                                 as_cell_int(noise->n),
                                 as_cell_real(noise->median),
                                 isnan(noise->spread) ? as_cell_null() : as_cell_real(noise->spread),
                                 as_cell_int(noise->outliers),
                                 as_cell_real(noise->threshold),
                                 isfinite(noise->detectable) ? as_cell_real(noise->detectable) : as_cell_null(),
                                 noise->needed == UINT32_MAX ? as_cell_null() : as_cell_int(noise->needed)};
        fine = as_table_append(table, cells);
    }
    as_exit status = fine ? as_cli_print(v->cli, table) : as_cli_memory(v->cli);
    as_table_free(table);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static as_exit find_noise(struct noise_view *v) {
    const as_dataset *const *parts = (const as_dataset *const *)v->sides.parts[0];
    const as_dataset *const *const sides[2] = {parts, parts};
    const size_t n[2] = {v->sides.n[0], v->sides.n[0]};
    as_path_choice chosen = {v->series.rules, v->config.match};
    as_sample_request request = {.metrics = v->config.metrics.data,
                                 .is_inclusive = v->config.is_inclusive,
                                 .keeps = as_path_choice_keeps,
                                 .user = &chosen};
    assay_error error;
    if (as_samples_find(sides, n, &request, &v->samples, &error) != ASSAY_OK) return as_cli_error(v->cli, &error);
    if (as_noises_find(&v->samples, &v->config.judge, &v->noises, &error) != ASSAY_OK)
        return as_cli_error(v->cli, &error);
    return v->sides.n[0] > 1 ? find_drifts(v) : AS_EXIT_FINE;
}

as_exit as_compare_noise(as_cli *cli) {
    struct noise_view v = {.cli = cli};
    as_arena_init(&v.noises.arena, NULL);
    as_vec_init(&v.drifts, sizeof(struct drift), NULL);
    as_exit status = as_compare_config_read(cli, &v.config);
    if (status == AS_EXIT_FINE) status = as_series_view_open(cli, &v.config, &v.series);
    if (status == AS_EXIT_FINE) status = as_sides_open_one(cli, &v.sides);
    if (status == AS_EXIT_FINE) status = find_noise(&v);
    if (status == AS_EXIT_FINE)
        status = cli->style.mode == AS_PRINT_JSON                                           ? print_json(&v)
                 : cli->style.mode == AS_PRINT_TEXT || cli->style.mode == AS_PRINT_MARKDOWN ? print_text(&v)
                                                                                            : print_rows(&v);
    as_vec_free(&v.drifts);
    as_noises_free(&v.noises);
    as_samples_free(&v.samples);
    as_sides_close(&v.sides);
    as_series_view_close(&v.series);
    as_compare_config_free(&v.config);
    return status;
}
