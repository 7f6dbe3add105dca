/* What tree and top share: what the command line asks for, and the answer in all its shapes. */
#ifndef AS_CLI_TREE_VIEW_H
#define AS_CLI_TREE_VIEW_H

#include "analysis/views/view.h"
#include "cli/cli.h"
#include "cli/group_by.h"
#include "cli/node_json.h"
#include "cli/profile_choice.h"
#include "cli/source_lines.h"

/* Rows for a verb's table of options. */
#define AS_VIEW_CHOICE_OPTIONS                                                                                         \
    {.name = "metric",                                                                                                 \
     .argument = "NAME",                                                                                               \
     .help = "Show this metric; may be given several times. By default the time, or the first one; in JSON and CSV "   \
             "all of them"},                                                                                           \
        AS_DERIVE_OPTION, AS_GROUP_OPTION,                                                                             \
        {.name = "match",                                                                                              \
         .argument = "REGEX",                                                                                          \
         .help = "Show only functions whose names match this regular expression"},                                     \
        {.name = "name", .argument = "NAME", .help = "Show only functions of this name; may be given several times"},  \
        {.name = "root",                                                                                               \
         .argument = "NAME",                                                                                           \
         .help = "Look only at what this function does, with all it calls; may be given several times"},               \
        {.name = "context",                                                                                            \
         .argument = "ID",                                                                                             \
         .help = "Look only at this call path, with all it calls: its number, as assay sql has it (context.id); may "  \
                 "be given several times"},                                                                            \
        {.name = "hide",                                                                                               \
         .argument = "REGEX",                                                                                          \
         .help = "Do not show nodes whose names match this regular expression: what is below them stands in their "    \
                 "place; may be given several times"},                                                                 \
        {.name = "hide-subtree",                                                                                       \
         .argument = "REGEX",                                                                                          \
         .help = "The same with all that is below them; may be given several times"},                                  \
        AS_LOCATION_OPTION, AS_RUN_OPTION

#define AS_VIEW_SHOW_OPTIONS                                                                                           \
    {.name = "hot-path-threshold",                                                                                     \
     .argument = "PART",                                                                                               \
     .help = "Go on with the hot path while the largest child has at least this part of its parent, 0.3 or 30%; by "   \
             "default 0.5"},                                                                                           \
        {.name = "source",                                                                                             \
         .help = "Show the line of source code of each node, where the input has copies of sources"},                  \
        {.name = "full-names",                                                                                         \
         .help = "Print names whole, with the folders of files, even where they do not fit the terminal"},             \
        AS_ASCII_OPTION

/* What people see of a tree where they do not say it. */
#define AS_USUAL_SHARE 0.005

/* What is asked for, before any file is read. */
typedef struct as_tree_ask {
    as_view_request view;  /* wanted is set for each file */
    bool is_cut;           /* min_share was not asked for: a hint says how to see all */
    const char *no_limit;  /* the option that lifts max_first; NULL: there is none */
    bool with_all_metrics; /* where none is named: all instead of the first */
    bool by_scope; /* flat views of what has modules, files, functions and parts of these are the tree of them */
    bool is_plain; /* no functions are asked for: what --match, --name and --root say is about something else */
} as_tree_ask;

/* One file, opened and looked at. */
typedef struct as_tree_view {
    as_cli *cli;
    const as_tree_ask *ask;
    as_dataset *ds;
    as_view_request request;
    as_run_choice runs;
    as_location_choice locations;
    as_vec metrics;    /* assay_id */
    size_t n_asked;    /* of them: those that are looked at; the rest is for information (visits) */
    bool has_gpu_time; /* the first of these is the time of GPUs: beside that of the host */
    bool *wanted;      /* for each string; NULL: all */
    uint8_t *hidden;   /* for each string AS_HIDES_…; NULL: nothing is hidden */
    as_vec roots;      /* assay_id */
    as_view_data data;
    as_source_lines *sources; /* NULL: nobody asks for them */
    as_vec name;              /* char: the name of the node at hand, where it was put together */
} as_tree_view;

/* Sets view->hot_threshold to what --hot-path-threshold says. */
as_exit as_choose_hot_threshold(as_cli *cli, as_view_request *view);

/* Of the words of --by and --sort; NULL: the usual one. */
as_view_group as_group_of(const char *word);
as_view_sorting as_order_of(const char *word, as_view_sorting usual);

/* The whole of the verb: all operands, in cli->style. */
as_exit as_tree_answer(as_cli *cli, const as_tree_ask *ask);

/* The answer for one dataset that is open already; it stays the caller's. */
as_exit as_tree_show(as_cli *cli, const as_tree_ask *ask, as_dataset *ds);

/* The parts of it, for whoever shows views in other ways: fills view->metrics as the command line, or the input,
 * says. */
as_exit as_tree_choose_metrics(as_tree_view *view);
/* Fills view->wanted, and the request's, with what --match and --name say, and --by kernel. */
as_exit as_tree_choose_names(as_tree_view *view);
/* Fills view->hidden, and the request's, with what --hide and --hide-subtree say. */
as_exit as_tree_choose_hidden(as_tree_view *view);
/* Frees what the view has; not the dataset. */
void as_tree_view_close(as_tree_view *view);

/* The shapes of the answer: all of them give 3 with a line where memory is out. */
as_exit as_tree_print(as_tree_view *view);
as_exit as_tree_json(as_tree_view *view);
/* printer: of all files; rows of this one. */
as_exit as_tree_rows(as_tree_view *view, as_printer *printer, as_table *batch);
/* The columns of as_tree_rows(); NULL when memory is out. */
as_table *as_tree_columns(bool with_input);

/* A note where callers were not followed to their ends. */
void as_tree_note_limit(as_cli *cli, const as_view_cut *cut);
/* What as_view_walk() failed with; a walk that was ended for want of memory, too. */
as_exit as_tree_walk(as_tree_view *view, bool (*visit)(void *user, const as_view_node *node), void *user,
                     as_view_cut *cut);

/* ---- a node (tree_node.c) ---------------------------------------------------------------------------------------- */

/* Where a node's function is: that of the region, else the call site. */
typedef struct as_tree_place {
    const char *kind, *source_id, *module; /* NULL: unknown */
    as_str file;                           /* AS_NO_STR: unknown */
    int64_t line;                          /* -1: unknown */
    as_str call_file;                      /* where it is called, if there is one such place */
    int64_t call_line;
} as_tree_place;
/* digits: room for a source_id that is a number; it must last as long as the place. */
as_tree_place as_tree_place_of(const as_tree_view *view, const as_view_node *node, char digits[AS_NUMBER_SIZE]);

/* NULL: it has none. Lives until the next one is asked for. */
const char *as_tree_name_of(as_tree_view *view, const as_view_node *node, bool for_people);

/* Goes on to the next node of a walk: "main->solve", bottom-up "solve<-main", flat its name. False when memory is
 * out. */
bool as_tree_path_step(as_walk_path *path, const as_tree_view *view, const as_view_node *node);

/* Its line of source, *size bytes; NULL: it has none, or nobody asked for it. */
const char *as_tree_source_of(const as_tree_view *view, const as_view_node *node, const as_tree_place *place,
                              size_t *size);

#endif
