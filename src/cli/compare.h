/* The parts of `assay compare`, inside cli/. verb_compare.c has the table of options and calls them by what the command
 * line asks for. */
#ifndef AS_CLI_COMPARE_H
#define AS_CLI_COMPARE_H

#include "analysis/verdict/growth.h"
#include "cli/cli.h"
#include "render/json_builder.h"

/* ---- inputs (compare_sides.c) ------------------------------------------------------------------------------------ */

/* What is compared: BASE and TARGET, each a dataset or several repetitions of one. */
typedef struct as_sides {
    as_dataset **parts[2];
    size_t n[2];
    char label[2][256]; /* "old.cubex", "runs (5 repetitions)", "a.cubex and 4 more" */
} as_sides;

/* Opens `BASE TARGET`, or `BASE… vs TARGET…`. A directory that is no dataset itself holds repetitions: what is in it
 * and of a format that assay knows, all of one format. as_sides_close() in every case. */
as_exit as_sides_open(as_cli *cli, as_sides *out);
/* All operands as the base alone. */
as_exit as_sides_open_one(as_cli *cli, as_sides *out);
void as_sides_close(as_sides *sides);

/* "5%", "0.05" as a part of 1; false for anything else, and for what is negative or above 1000 %. */
bool as_part_parse(const char *text, double *out);

/* ---- other questions: each answers the whole command (all operands), prints it, and gives its exit status -------- */

/* `compare --series DIR|.perun|FILES…`: change points over runs in order (compare_series.c). Its options: --order HOW,
 * and those of a comparison. */
as_exit as_compare_series(as_cli *cli);
/* `compare --noise BASE…`: how noisy repetitions are, and what change they could show (compare_noise.c). */
as_exit as_compare_noise(as_cli *cli);

/* `compare --check NAME[,NAME…]|all BASE TARGET`: Perun's checks (compare_checks.c). Its options: AS_CHECK_OPTIONS,
 * --fail-on, --all, -O perun_compatible=yes|no. */
as_exit as_compare_checks(as_cli *cli);
#define AS_CHECK_OPTIONS                                                                                               \
    {.name = "check",                                                                                                  \
     .argument = "NAME,…",                                                                                             \
     .help = "Run these of Perun's checks instead: average_amount_threshold (aat), best_model_order_equality (bmoe), " \
             "polynomial_regression (preg), linear_regression (lreg), fast_check (fast), integral_comparison (int), "  \
             "local_statistics (loc), exclusive_time_outliers (eto), or all"},                                         \
    {                                                                                                                  \
        .name = "strategy", .argument = "NAME,…",                                                                      \
        .help = "With --check int or loc: which of the stored models are compared: best-model (the default), "         \
                "best-param, best-nonparam, all-param, all-nonparam, all-models, best-both"                            \
    }

/* ---- models on both sides: a part of the answer of BASE TARGET (compare_growth.c) -------------------------------- */

struct as_compare_config;
/* Fits or finds the models of both sides (which the datasets then have) and reads --at, --modeler and -O. A side of
 * several datasets is one experiment. Without models and parameters on both sides: none, status 0. A failure has its
 * line on stderr. as_growths_free() in every case; out->outcome counts for the exit status like a verdict's. */
as_exit as_compare_growth(as_cli *cli, as_dataset *const *const sides[2], const size_t n[2],
                          const struct as_compare_config *config, as_growths *out);
/* The section of the answer; nothing where there are no models. The array "growth" of the open object; a table with its
 * head, for people or as Markdown. */
void as_growths_json(as_builder *builder, const as_growths *growths);
as_exit as_growths_print(as_cli *cli, const as_growths *growths);
/* The worse of a change's two outcomes, and in words what became of it: "n log n → n^2, 1.2 s → 3.4 s at n=1000". */
as_outcome as_growth_worst(const as_growth_change *change);
void as_growth_words(const as_cli *cli, const as_growths *growths, const as_growth_change *change, as_output *out);

#endif
