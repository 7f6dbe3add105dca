/* The answer of `assay model` in its shapes, inside cli/. */
#ifndef AS_CLI_MODEL_VIEW_H
#define AS_CLI_MODEL_VIEW_H

#include "analysis/scaling/evaluate.h"
#include "cli/study.h"

/* Models to show: those of rows, in this order. */
typedef struct as_model_view {
    const as_study *study;
    const as_fit *fit;
    const uint32_t *rows; /* numbers of notes of the fit */
    size_t n_rows;        /* to be shown */
    bool is_screenful;    /* they are as many as the terminal has lines */
    const double *at;     /* a point to evaluate the models at, or NULL */
    char at_label[128];   /* "p=64, n=10" */
} as_model_view;

typedef struct as_flag_words {
    as_fit_flag flag;
    char mark;        /* in the text table */
    const char *word; /* in machine output */
    const char *meaning;
} as_flag_words;
/* In the order of as_fit_flag, ended by a row without a word. */
extern const as_flag_words as_fit_flag_words[];

static inline const as_model *as_view_model(const as_model_view *view, size_t i) {
    return as_ds_model(view->study->ds, view->fit->first_model + view->rows[i]);
}
static inline const as_fit_note *as_view_note(const as_model_view *view, size_t i) {
    return &view->fit->notes[view->rows[i]];
}

/* model_json.c: the whole answer as one object, or (lines) the flat table; false when memory is out. */
bool as_model_json(as_output *out, const as_model_view *view);
/* model_table.c: for people, with a summary and a legend; else CSV, JSON Lines or Markdown with all columns. False when
 * memory is out. */
bool as_model_text(as_cli *cli, const as_model_view *view);
bool as_model_flat(as_cli *cli, const as_model_view *view);
/* model_order.c: fills rows with the numbers of all n models of the fit, sorted by "growth" (worst first), "value" (at
 * view->at), "error" (SMAPE), "name", or else as in the file. False when memory is out. */
bool as_model_order(const as_model_view *view, const char *sort, uint32_t *rows, size_t n);
/* model_notes.c: what is odd about the models, a note on stderr for each kind. */
void as_model_remarks(as_cli *cli, const as_model_view *view);
/* model_why.c: --why. */
as_exit as_model_why(as_cli *cli, as_study *study, const char *callpath);
as_exit as_model_why_of(as_cli *cli, as_study *study, uint32_t series);

/* The labels of the points that a series lacks, each passed to visit, at most `most` of them; false when memory is
 * out. */
bool as_missing_points(const as_dataset *ds, uint32_t series, as_statistic measure, size_t most,
                       void (*visit)(void *user, const char *label), void *user);

#endif
