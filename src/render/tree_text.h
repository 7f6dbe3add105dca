/* A tree with numbers for people: a line for each node, its numbers in columns, then its name with lines that show the
 * tree.
 *
 *     time s      %             self s     %   visits  call tree
 *      24.55  100.0 ██████████    0.41   1.7        8  ▸ main
 *      20.10   81.9 ████████▏     1.20   4.9      201  ▸ ├─solve  cg.c:88
 *
 * All numbers of a metric are in one unit. Where the width is too small, columns that say least go first, then names
 * are made shorter; deep nodes have their level in brackets instead of lines. */
#ifndef AS_RENDER_TREE_TEXT_H
#define AS_RENDER_TREE_TEXT_H

#include "core/memory.h"
#include "core/number.h"
#include "io/output.h"

typedef struct as_tree_metric {
    const char *title;
    const char *unit;     /* as the source writes it, or NULL */
    double whole;         /* what shares are of; NAN: they mean nothing */
    bool has_exclusive;   /* else there is one number */
    bool only_exclusive;  /* the other one is not shown */
    bool can_be_left_out; /* where there is little room */
    bool is_change;       /* numbers have a sign; in colour, more is red and less is green */
    bool is_part;         /* numbers are parts of something, shown as percent */
    bool shares_unit;     /* with the metric before it */
} as_tree_metric;

typedef struct as_tree_number {
    bool is_known;
    as_number number;
} as_tree_number;

/* Stands between names that share a line, each the caller of the one before: shown as an arrow. */
#define AS_TREE_CALLER '\x1f'

/* Texts are borrowed. */
typedef struct as_tree_row {
    uint32_t depth;
    bool is_last; /* of its siblings */
    bool is_hot, is_marked;
    const char *name, *file; /* file: NULL where it is not known; name never is */
    int64_t line;            /* -1: unknown */
    const char *remark;      /* stands behind the name; NULL: none */
    const char *note;        /* dim, where there is room; NULL: none */
    const char *call_file;   /* where it is called; NULL: not known */
    int64_t call_line;
    const char *folder; /* that the name lies in: shown behind it, its end where there is little room; NULL: none */
    const char *source; /* its line of source code, shown below; NULL: none */
} as_tree_row;

typedef struct as_tree_text {
    const as_tree_metric *metrics; /* the first one has bars */
    size_t n_metrics;
    as_vec rows;         /* as_tree_row, a parent before its children */
    as_vec numbers;      /* as_tree_number: for each row, for each metric the inclusive and the exclusive one */
    const char *heading; /* of the names */
    bool exclusive_first;
    bool is_list;   /* no node has children: no lines */
    unsigned width; /* 0: no limit */
    bool colour, ascii;
    bool full_names; /* however wide */
} as_tree_text;

/* Makes it empty. */
void as_tree_text_init(as_tree_text *tree);
void as_tree_text_free(as_tree_text *tree);
/* False when memory is out. */
bool as_tree_text_print(as_output *out, const as_tree_text *tree);

#endif
