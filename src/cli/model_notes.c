/* What is odd about models, said once for all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model_view.h"

enum { MAX_NAMED = 3 };

/* Marks the points of a series whose value can be modelled. */
struct seen {
    bool *points;
    as_statistic measure;
};

static bool mark_point(void *user, const as_measurement *measurement) {
    struct seen *seen = user;
    if (isfinite(as_statistic_of(seen->measure, measurement))) seen->points[measurement->point] = true;
    return true;
}

bool as_missing_points(const as_dataset *ds, uint32_t series, as_statistic measure, size_t most,
                       void (*visit)(void *user, const char *label), void *user) {
    struct seen seen = {.points = calloc(ds->n_points + 1, sizeof(bool)), .measure = measure};
    as_vec label;
    as_vec_init(&label, 1, NULL);
    bool fine = seen.points && as_measure(ds, as_ds_series(ds, series), mark_point, &seen);
    for (assay_id point = 0; point < ds->n_points && fine && most; point++) {
        if (seen.points[point]) continue;
        most--;
        fine = as_point_label(ds, point, &label);
        if (fine) visit(user, label.data);
    }
    as_vec_free(&label);
    free(seen.points);
    return fine;
}

/* "main->f, main->g and 7 more": the call paths with this flag, into out. Returns how many. */
static size_t name_models(const as_model_view *view, uint32_t flag, char *out, size_t size) {
    const as_dataset *ds = view->study->ds;
    as_vec path;
    as_vec_init(&path, 1, NULL);
    size_t n = 0, used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < view->fit->n; i++) {
        if (!(view->fit->notes[i].flags & flag)) continue;
        if (n++ >= MAX_NAMED || used >= size) continue;
        if (!as_context_path(ds, as_ds_model(ds, view->fit->first_model + (assay_id)i)->context, &path)) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%.200s", used ? ", " : "", (const char *)path.data);
    }
    as_vec_free(&path);
    if (n > MAX_NAMED && used < size) snprintf(out + used, size - used, " and %zu more", n - MAX_NAMED);
    return n;
}

void as_model_remarks(as_cli *cli, const as_model_view *view) {
    static const struct {
        as_fit_flag flag;
        const char *one, *several;
    } remarks[] = {
        {AS_FIT_MISSING, "lacks points, and is modelled from those it has",
         "lack points, and are modelled from those they have"},
        {AS_FIT_FEW_POINTS, "has fewer than 5 points along a parameter: do not trust it",
         "have fewer than 5 points along a parameter: do not trust them"},
        {AS_FIT_CUT, "is constant because too few points are left", "are constant because too few points are left"},
        {AS_FIT_NOT_FINITE, "has values that are NaN or infinite; they were left out",
         "have values that are NaN or infinite; they were left out"},
        {AS_FIT_NO_LOG, "is modelled without logarithms: a parameter has values too small for them",
         "are modelled without logarithms: a parameter has values too small for them"},
        {AS_FIT_NOT_SEGMENTED, "has too few points for segments and got the basic model",
         "have too few points for segments and got the basic model"},
        {AS_FIT_NOISY, "is noisy: its repetitions differ by more than 10 %",
         "are noisy: their repetitions differ by more than 10 %"},
    };
    if (cli->quiet) return;
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
        char names[700];
        size_t n = name_models(view, (uint32_t)remarks[i].flag, names, sizeof names);
        if (n == view->fit->n && n > 1)
            as_cli_note(cli, "all models %s", remarks[i].several);
        else if (n)
            as_cli_note(cli, "%zu model%s %s: %s", n, n == 1 ? "" : "s", n == 1 ? remarks[i].one : remarks[i].several,
                        names);
    }
}
