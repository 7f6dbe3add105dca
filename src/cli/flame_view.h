/* What `assay flame` shows, inside cli/: stacks, and their picture. */
#ifndef AS_CLI_FLAME_VIEW_H
#define AS_CLI_FLAME_VIEW_H

#include "analysis/algebra/compare.h"
#include "cli/cli.h"
#include "dataset/flame.h"

/* The stacks of all files so far. */
typedef struct as_flame_view {
    as_flame *flame;
    char unit[64],
        unit_path[200]; /* the beginning of the unit of all of them, and of which file it is; "": not known */
    char metric[300];   /* "'time' [sec]": what the amounts are; "": nothing yet */
    char part[520];     /* "p=64, mean of 5 runs, process 3": what they are of; "": everything */
    const as_comparison
        *pairs; /* of two files, while they are added: which call paths belong together; NULL: those of equal names */
    /* of two files: what amounts of the second are multiplied by to have the unit of the first; 0: their units must be
     * one */
    double factor;
    bool is_exact; /* pairs are those of --match exact */
} as_flame_view;

/* flame_stacks.c: adds those of a dataset, as the command line chooses them. Its unit must be that of the others. */
as_exit as_flame_view_add(as_cli *cli, const as_dataset *ds, as_flame_view *stacks);
/* Two of them, a side each: metric, runs and pairs of call paths are those that `diff` takes. */
as_exit as_flame_view_add_two(as_cli *cli, const as_dataset *const *sides, as_flame_view *stacks);

/* flame_draw.c: an interactive SVG, */
as_exit as_flame_draw(as_cli *cli, const as_flame_view *stacks);
/* or all frames as JSON. */
as_exit as_flame_json(as_cli *cli, const as_flame_view *stacks);

#endif
