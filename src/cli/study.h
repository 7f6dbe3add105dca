/* What the verbs over scaling experiments (model, predict, suggest) share: reading several files as one experiment, the
 * options of the method, and which call paths are meant. */
#ifndef AS_CLI_STUDY_H
#define AS_CLI_STUDY_H

#include "analysis/scaling/fit.h"
#include "cli/cli.h"

/* Rows for a verb's table of options. */
#define AS_METHOD_OPTIONS                                                                                              \
    {.name = "modeler",                                                                                                \
     .argument = "NAME",                                                                                               \
     .choices = "default|basic|refining|segmented|multi-parameter",                                                    \
     .help = "Find models this way: basic, refining or segmented with one parameter, multi-parameter with several"},   \
        {.name = "measure",                                                                                            \
         .argument = "STATISTIC",                                                                                      \
         .choices = "mean|median|minimum|maximum",                                                                     \
         .help = "Model this statistic of a point's repetitions; by default the mean"},                                \
        {.name = "scaling",                                                                                            \
         .argument = "KIND",                                                                                           \
         .choices = "weak|weak_threaded|strong",                                                                       \
         .help = "What the values of several places are: weak takes all, weak_threaded those that are not 0, strong "  \
                 "their sum; values without places are multiplied by the processes for strong"},                       \
    {                                                                                                                  \
        .name = "processes", .argument = "NAME",                                                                       \
        .help = "Which parameter counts the processes; by default the only one, or the one that looks like it"         \
    }

#define AS_CHOICE_OPTIONS                                                                                              \
    {.name = "metric", .argument = "NAME", .help = "Take only this metric; may be given several times"},               \
        {.name = "match", .argument = "REGEX", .help = "Take only call paths that match this regular expression"}, {   \
        .name = "min-share", .argument = "PERCENT",                                                                    \
        .help = "Take only call paths that make up at least this part of their metric, at the point where it is "      \
                "largest"                                                                                              \
    }

#define AS_THREADS_OPTION                                                                                              \
    { .name = "threads", .argument = "N", .help = "Use so many threads; by default one for each core" }

typedef struct as_study {
    as_dataset *ds;
    as_fit_options options;
    uint32_t *series; /* the chosen ones, ascending */
    size_t n_series;
    const char **fit_options; /* of -O */
} as_study;

/* Reads all operands (several become one experiment), applies --scaling, reads --modeler, --measure, --threads and -O,
 * and chooses by --metric, --match and --min-share. Prints what is wrong and gives its status. as_study_close() is due
 * in every case. */
as_exit as_study_open(as_cli *cli, as_study *out);
/* The same of a dataset that was read from `path`. The study owns it (--scaling changes it): who wants to keep it takes
 * it out, study->ds = NULL, before as_study_close(). */
as_exit as_study_of(as_cli *cli, as_dataset *ds, const char *path, as_study *out);
void as_study_close(as_study *study);

static inline as_choice as_study_choice(const as_study *study) { return (as_choice){study->series, study->n_series}; }

/* The chosen series of a call path: given whole, else as its end ("solve", "main->solve"), else as any part of it,
 * where only one has it. Of several metrics the first that has it, and a note says so. Nothing found, or several:
 * prints which there are and gives its status. */
as_exit as_study_find(as_cli *cli, const as_study *study, const char *callpath, uint32_t *series);

/* The parameter whose name says that it counts processes: p, procs, ranks, nodes …; ASSAY_NONE where there is none. */
assay_id as_study_guess_processes(const as_dataset *ds);

/* "16" of --NAME; false, with its line, where it is no whole number. Unset: *out stays. */
bool as_cli_count(as_cli *cli, const char *name, size_t *out);

#endif
