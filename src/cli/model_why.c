/* `assay model --why CALLPATH`: the hypotheses that were tried, and what became of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model_view.h"
#include "render/json_builder.h"

/* A hypothesis, kept: its texts live in the arena. */
struct tried {
    as_tried tried;
    bool is_chosen;
};

struct collection {
    as_vec tried; /* struct tried */
    as_arena texts;
    bool by_RSS, has_parameters;
    bool failed; /* memory is out */
};

static const char *keep_text(struct collection *c, const char *text) {
    return text ? as_arena_copy(&c->texts, text, strlen(text)) : NULL;
}

static bool collect(void *user, const as_tried *tried) {
    struct collection *c = user;
    struct tried *kept = as_vec_push(&c->tried);
    c->failed = !kept;
    if (!kept) return false;
    kept->tried = *tried;
    kept->tried.function = keep_text(c, tried->function);
    kept->tried.verdict = keep_text(c, tried->verdict);
    kept->tried.parameter = keep_text(c, tried->parameter);
    kept->is_chosen = tried->verdict && strcmp(tried->verdict, "chosen") == 0;
    c->has_parameters |= tried->parameter != NULL;
    c->failed = !kept->tried.function || !kept->tried.verdict || (tried->parameter && !kept->tried.parameter);
    return !c->failed;
}

static int compare_scores(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

/* Those for the whole first, then parameter by parameter; in each the chosen one, then by error, then in order of
 * trial. */
static int compare_tried(const void *a, const void *b, void *user) {
    const struct collection *c = user;
    const struct tried *x = a, *y = b;
    if (!x->tried.parameter != !y->tried.parameter) return x->tried.parameter ? 1 : -1;
    int parameter = x->tried.parameter ? strcmp(x->tried.parameter, y->tried.parameter) : 0;
    if (parameter) return parameter;
    if (x->is_chosen != y->is_chosen) return x->is_chosen ? -1 : 1;
    int score = c->by_RSS ? compare_scores(x->tried.RSS, y->tried.RSS) : compare_scores(x->tried.SMAPE, y->tried.SMAPE);
    return score ? score : (x->tried.order > y->tried.order) - (x->tried.order < y->tried.order);
}

static void print_json(as_cli *cli, const as_study *study, const char *callpath, const char *metric,
                       const struct collection *c) {
    as_builder b = as_builder_of(cli->out);
    as_build_object(&b, NULL, true);
    as_build_text(&b, "callpath", callpath);
    as_build_text(&b, "metric", metric);
    as_build_text(&b, "modeler", as_modeler_name(study->options.modeler));
    as_build_text(&b, "measure", as_statistic_name(study->options.measure));
    as_build_array(&b, "hypotheses", true);
    for (size_t i = 0; i < c->tried.count; i++) {
        const as_tried *t = &AS_AT(struct tried, &c->tried, i).tried;
        as_build_object(&b, NULL, false);
        as_build_int(&b, "order", t->order);
        as_build_text(&b, "parameter", t->parameter);
        as_build_text(&b, "function", t->function);
        as_build_real(&b, "SMAPE", t->SMAPE);
        as_build_real(&b, "RSS", t->RSS);
        as_build_real(&b, "rRSS", t->rRSS);
        as_build_real(&b, "AR2", t->AR2);
        as_build_real(&b, "RE", t->RE);
        as_build_text(&b, "verdict", t->verdict);
        as_build_end(&b);
    }
    as_build_end(&b);
    as_build_end(&b);
}

/* For people rounded to a few digits. */
static as_cell real_cell(double value, bool for_people) {
    return as_cell_real(for_people ? as_real_round(value, 5) : value);
}

static bool fill_table(as_table *table, const struct collection *c, bool for_people, size_t limit) {
    for (size_t i = 0; i < c->tried.count && (!limit || i < limit); i++) {
        const as_tried *t = &AS_AT(struct tried, &c->tried, i).tried;
        as_cell cells[9];
        size_t n = 0;
        cells[n++] = as_cell_int(t->order);
        if (c->has_parameters) cells[n++] = as_cell_text(t->parameter);
        cells[n++] = real_cell(t->SMAPE, for_people);
        cells[n++] = real_cell(t->RSS, for_people);
        cells[n++] = real_cell(t->rRSS, for_people);
        cells[n++] = real_cell(t->AR2, for_people);
        cells[n++] = real_cell(t->RE, for_people);
        cells[n++] = as_cell_text(t->verdict);
        cells[n++] = as_cell_text(t->function);
        if (!as_table_append(table, cells)) return false;
    }
    return true;
}

static as_exit print_table(as_cli *cli, const char *callpath, const char *metric, const struct collection *c) {
    static const as_column names[] = {{"order"}, {"parameter"}, {"SMAPE"},   {"RSS"},     {"rRSS"},
                                      {"AR2"},   {"RE"},        {"verdict"}, {"function"}};
    as_column shown[9];
    size_t n = 0, limit = 0;
    for (size_t i = 0; i < 9; i++) {
        if (i != 1 || c->has_parameters) shown[n++] = names[i];
    }
    if (!as_cli_count(cli, "limit", &limit)) return AS_EXIT_USAGE;
    as_table *table = as_table_new(shown, n, NULL);
    as_exit status = AS_EXIT_INPUT;
    if (!table || !fill_table(table, c, cli->style.mode == AS_PRINT_TEXT, limit)) {
        as_cli_memory(cli);
    } else {
        if (cli->style.mode == AS_PRINT_TEXT)
            as_output_printf(cli->out, "%s of %s: %zu hypotheses, the chosen one first\n", metric, callpath,
                             c->tried.count);
        cli->style.last_below = true;
        status = as_cli_print(cli, table);
    }
    as_table_free(table);
    return status;
}

static as_exit answer(as_cli *cli, as_study *study, uint32_t series, struct collection *c) {
    assay_error error;
    if (as_fit_explain(study->ds, &study->options, series, collect, c, &error) != ASSAY_OK)
        return as_cli_error(cli, &error);
    if (c->failed) return as_cli_memory(cli);
    const as_series *s = as_ds_series(study->ds, series);
    const char *metric = as_ds_text(study->ds, as_ds_metric(study->ds, s->metric)->name);
    if (!c->tried.count)
        return as_cli_fail(cli, AS_EXIT_INPUT, "no finite %s of this call path was measured, so nothing was tried",
                           metric);
    qsort_r(c->tried.data, c->tried.count, sizeof(struct tried), compare_tried, c);
    as_vec path;
    as_vec_init(&path, 1, NULL);
    as_exit status = AS_EXIT_FINE;
    if (!as_context_path(study->ds, s->context, &path))
        status = as_cli_memory(cli);
    else if (cli->style.mode == AS_PRINT_JSON)
        print_json(cli, study, path.data, metric, c);
    else
        status = print_table(cli, path.data, metric, c);
    as_vec_free(&path);
    return status;
}

as_exit as_model_why(as_cli *cli, as_study *study, const char *callpath) {
    uint32_t series;
    as_exit status = as_study_find(cli, study, callpath, &series);
    return status == AS_EXIT_FINE ? as_model_why_of(cli, study, series) : status;
}

as_exit as_model_why_of(as_cli *cli, as_study *study, uint32_t series) {
    const as_fit_options *options = &study->options;
    struct collection c = {.by_RSS = options->modeler == AS_MODELER_MULTI ? options->compare_with_RSS
                                                                          : options->single.compare_with_RSS};
    as_vec_init(&c.tried, sizeof(struct tried), NULL);
    as_arena_init(&c.texts, NULL);
    as_exit status = answer(cli, study, series, &c);
    as_arena_free(&c.texts);
    as_vec_free(&c.tried);
    return status;
}
