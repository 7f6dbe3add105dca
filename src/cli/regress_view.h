/* What the files of `assay regress` share: what is asked for, and what is found for one file. */
#ifndef AS_CLI_REGRESS_VIEW_H
#define AS_CLI_REGRESS_VIEW_H

#include "analysis/regress/regress.h"
#include "cli/answers.h"
#include "cli/cli.h"

typedef enum as_regress_analysis {
    AS_ANALYSIS_FIT, /* Perun's regression_analysis */
    AS_ANALYSIS_REGRESSOGRAM,
    AS_ANALYSIS_MOVING,
    AS_ANALYSIS_KERNEL,
    AS_ANALYSIS_CLUSTERIZE,
    AS_ANALYSIS_NORMALIZE,
    AS_ANALYSIS_STORED,
    AS_N_ANALYSES
} as_regress_analysis;

/* What the command line says. */
typedef struct as_regress_request {
    as_regress_analysis analysis;
    as_points_request points;
    as_regress_options fit;
    as_regressogram_options regressogram;
    as_moving_options moving;
    as_kernel_options kernel;
    as_cluster_options cluster;
    bool has_strategy;
    as_strategy strategy;
    size_t plot_points; /* 0: none */
    size_t limit;       /* of rows for people; SIZE_MAX: none */
    bool all;
    const char *plot;                           /* the uid, or NULL */
    const char *output;                         /* of -o, or NULL */
    bool to_profile;                            /* which is a profile */
    const char **read_options, **write_options; /* of -O, ended by NULL */
} as_regress_request;

/* Reads and checks it all; prints what is wrong. as_regress_request_free() in every case. */
as_exit as_regress_request_read(as_cli *cli, as_regress_request *out);
void as_regress_request_free(as_regress_request *request);
/* Perun's name of the analysis: "regression_analysis"; NULL: it has none. */
const char *as_regress_analysis_name(as_regress_analysis analysis);
/* What was found in one file. */
typedef struct as_regress_answer {
    const as_regress_request *request;
    const as_dataset *ds;
    as_points_set points; /* none with --stored, unless a plot needs them */
    as_curves curves;
    as_vec shown;                /* size_t: which curves, in which order */
    size_t n_records, n_changed; /* of --clusterize and --normalize: those that got a cluster or another amount */
} as_regress_answer;

static inline const as_curve *as_answer_curve(const as_regress_answer *answer, size_t i) {
    return &AS_AT(as_curve, &answer->curves.curves, AS_AT(size_t, &answer->shown, i));
}

/* The unit of the points' y, or NULL. */
const char *as_regress_unit(const as_regress_answer *answer);
/* Which of two curves people would call better. */
bool as_regress_is_better(const as_regress_answer *answer, const as_curve *curve, const as_curve *rival);
/* Keeps of the curves shown, which are sorted by uid, the best one of each (with methods that give several for parts of
 * a uid: all that are no constant). */
void as_regress_keep_best(as_regress_answer *answer);
/* "12.3 + 0.25·x", coefficients rounded to 4 digits, or what there is to say of a curve without a formula;
 * NUL-terminated, into text, which is cleared. is_rich: for a plot (render/plot_text.h). */
bool as_regress_formula(const as_curve *curve, bool is_ascii, bool is_rich, as_vec *text);

/* One curve as Perun's JSON object; is_file: NaN as files have it. False when memory is out. */
bool as_regress_json_curve(as_builder *builder, const as_curve *curve, size_t plot_points, bool is_file);
bool as_regress_json(as_builder *builder, const as_regress_answer *answer);
/* For people. */
bool as_regress_text(as_cli *cli, const as_regress_answer *answer, const char *path);
/* For CSV and the like: the columns, and the rows of one answer. */
as_table *as_regress_flat_table(void);
bool as_regress_flat(as_printer *printer, as_table *batch, const as_regress_answer *answer, const char *path);
/* Points and curves of request->plot. */
as_exit as_regress_plot(as_cli *cli, const as_regress_answer *answer);
/* Writes the profile with what was found added. cells: NULL, or what clusterize and normalize give each record. */
as_exit as_regress_save(as_cli *cli, const as_regress_answer *answer, const as_cell *cells);

#endif
