#include "render/tree_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/display.h"
#include "render/histogram.h"
#include "render/names.h"
#include "render/quantity.h"

enum {
    GAP = 2,
    LEAST_NAME = 30, /* columns that names are given by leaving out numbers */
    WIDE_BAR = 10,
    NARROW_BAR = 6,
    WIDE_TERMINAL = 100,
    LONGEST_TITLE = 16,
    LEVEL = 2,       /* columns of a level */
    MOST_LEVELS = 64 /* that have lines */
};

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define HOT   "\033[1;33m"
#define BAR   "\033[36m"
#define MORE  "\033[31m"
#define LESS  "\033[32m"
#define PLAIN "\033[0m"

typedef enum content { VALUE, SHARE, BARS } content;

typedef struct column {
    size_t metric;
    content what;
    bool exclusive;
    bool is_hidden;
    int worth; /* those of little worth go first */
    size_t width;
    char title[64];
} column;

enum { MOST_COLUMNS = 64 };

typedef struct layout {
    const as_tree_text *tree;
    as_quantity *quantities; /* one for each metric */
    column columns[MOST_COLUMNS];
    size_t n;
    size_t name_width; /* 0: no limit */
    const char *ellipsis;
    bool *is_last; /* for each level with lines whether the node on the way is the last of its siblings */
} layout;

void as_tree_text_init(as_tree_text *tree) {
    *tree = (as_tree_text){0};
    as_vec_init(&tree->rows, sizeof(as_tree_row), NULL);
    as_vec_init(&tree->numbers, sizeof(as_tree_number), NULL);
}

void as_tree_text_free(as_tree_text *tree) {
    as_vec_free(&tree->rows);
    as_vec_free(&tree->numbers);
}

static const as_tree_number *number_at(const as_tree_text *tree, size_t row, size_t metric, bool exclusive) {
    return &AS_AT(as_tree_number, &tree->numbers, (row * tree->n_metrics + metric) * 2 + exclusive);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* What the numbers of a metric are like. */
typedef struct extent {
    double largest;
    bool is_whole, has_reals; /* is_whole: all are integers, be they stored as such or as reals */
} extent;

static void extend(const as_tree_text *tree, size_t metric, extent *out) {
    const as_tree_metric *m = &tree->metrics[metric];
    for (size_t row = 0; row < tree->rows.count; row++) {
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            const as_tree_number *n = number_at(tree, row, metric, exclusive);
            if (!n->is_known || (m->only_exclusive && !exclusive)) continue;
            double size = fabs(as_number_real(n->number));
            bool is_real = n->number.kind == AS_REAL;
            out->has_reals |= is_real;
            out->is_whole &= !is_real || (size < 0x1p53 && floor(size) == size);
            if (isfinite(size) && size > out->largest) out->largest = size;
        }
    }
}

static as_quantity quantity_of(const char *unit, const extent *numbers) {
    as_quantity q = as_quantity_of(unit, numbers->largest, numbers->is_whole);
    return numbers->is_whole && numbers->has_reals && !*q.unit ? as_quantity_of_counts(numbers->largest) : q;
}

/* The units of metrics: that of the largest number; of those that share one, the largest of all. */
static void find_quantities(layout *l) {
    const as_tree_text *tree = l->tree;
    for (size_t first = 0, end; first < tree->n_metrics; first = end) {
        extent numbers = {.is_whole = true};
        for (end = first; end < tree->n_metrics && (end == first || tree->metrics[end].shares_unit); end++)
            if (!tree->metrics[end].is_part) extend(tree, end, &numbers);
        as_quantity q = quantity_of(tree->metrics[first].unit, &numbers);
        if (tree->ascii && strcmp(q.unit, "µs") == 0) q.unit = "us";
        for (size_t i = first; i < end; i++) l->quantities[i] = q;
    }
}

static void add_column(layout *l, size_t metric, content what, bool exclusive, int worth, const char *title) {
    if (l->n == MOST_COLUMNS) return;
    column *c = &l->columns[l->n++];
    *c = (column){.metric = metric, .what = what, .exclusive = exclusive, .worth = worth};
    snprintf(c->title, sizeof c->title, "%s", title);
}

/* "time s", "self s", "bytes_sent self MB". */
static void title_of(const layout *l, size_t metric, bool exclusive, char *out, size_t room) {
    const as_tree_text *tree = l->tree;
    const as_tree_metric *m = &tree->metrics[metric];
    bool is_named = m->only_exclusive || !m->has_exclusive || (!tree->exclusive_first && !exclusive);
    as_text title;
    as_text_init(&title);
    if (is_named || (tree->exclusive_first && tree->n_metrics > 1 && !tree->metrics[1].only_exclusive))
        as_name_shorten(&title, m->title, strlen(m->title), LONGEST_TITLE, l->ellipsis);
    if (!is_named)
        as_text_add(&title, as_text_size(&title) ? exclusive ? " self" : " incl" : exclusive ? "self" : "incl");
    const char *unit = l->quantities[metric].unit;
    bool is_known_unit = *unit && strcmp(unit, "occ") != 0 && strcmp(unit, "#") != 0 && !m->is_part;
    snprintf(out, room, "%.*s%s%s", (int)as_text_size(&title), as_text_data(&title), is_known_unit ? " " : "",
             is_known_unit ? unit : "");
    as_text_free(&title);
}

/* A number, its share and, of the first, the bars. */
static void add_numbers(layout *l, size_t metric, bool exclusive, bool is_first) {
    const as_tree_metric *m = &l->tree->metrics[metric];
    char title[64];
    title_of(l, metric, exclusive, title, sizeof title);
    int further = metric > 0 ? 0 : 10;
    add_column(l, metric, VALUE, exclusive, is_first && metric == 0 ? 100 : is_first ? 6 : 5 + further, title);
    if (!isfinite(m->whole) || m->only_exclusive) return;
    add_column(l, metric, SHARE, exclusive, is_first ? 4 + 2 * further : 1 + further / 2, "%");
    if (metric == 0 && is_first) add_column(l, metric, BARS, exclusive, 7, "");
}

static void add_columns(layout *l) {
    for (size_t i = 0; i < l->tree->n_metrics; i++) {
        const as_tree_metric *m = &l->tree->metrics[i];
        size_t first = l->n;
        bool both = m->has_exclusive && !m->only_exclusive;
        bool exclusive = m->only_exclusive || (both && l->tree->exclusive_first);
        add_numbers(l, i, exclusive, true);
        if (both) add_numbers(l, i, !exclusive, false);
        for (size_t k = first; k < l->n && m->can_be_left_out; k++) l->columns[k].worth = 3;
    }
}

static double share_of(const layout *l, const column *c, size_t row) {
    const as_tree_number *n = number_at(l->tree, row, c->metric, c->exclusive);
    return n->is_known ? as_number_real(n->number) / l->tree->metrics[c->metric].whole : NAN;
}

/* A change with its sign, also where it rounds to nothing. */
static size_t format_change(const as_tree_metric *m, const as_quantity *q, as_number number,
                            char text[AS_QUANTITY_SIZE]) {
    double real = as_number_real(number);
    if (m->is_part) return as_percent_change_format(real, text);
    text[0] = real > 0 ? '+' : '-';
    char *digits = text + (real > 0 || real < 0);
    as_quantity_format(q, number, digits);
    if (real < 0 && digits[0] == '-') memmove(text, digits, strlen(digits) + 1);
    return strlen(text);
}

static size_t format_cell(const layout *l, const column *c, size_t row, char text[AS_QUANTITY_SIZE]) {
    const as_tree_number *n = number_at(l->tree, row, c->metric, c->exclusive);
    const as_tree_metric *m = &l->tree->metrics[c->metric];
    text[0] = '\0';
    if (c->what == SHARE) return as_percent_format(share_of(l, c, row), text);
    const as_quantity *q = &l->quantities[c->metric];
    size_t size = 0;
    if (n->is_known && m->is_change)
        size = format_change(m, q, n->number, text);
    else if (n->is_known)
        size = m->is_part ? as_percent_format(as_number_real(n->number), text) : as_quantity_format(q, n->number, text);
    if (size) return size;
    memcpy(text, "-", 2);
    return 1;
}

static size_t bar_width(const as_tree_text *tree) {
    return tree->width && tree->width < WIDE_TERMINAL ? NARROW_BAR : WIDE_BAR;
}

static void measure(layout *l) {
    for (size_t i = 0; i < l->n; i++) {
        column *c = &l->columns[i];
        c->width = c->what == BARS ? bar_width(l->tree) : as_display_width(c->title, strlen(c->title));
        for (size_t row = 0; c->what != BARS && row < l->tree->rows.count; row++) {
            char text[AS_QUANTITY_SIZE];
            size_t size = format_cell(l, c, row, text);
            if (size > c->width) c->width = size;
        }
    }
}

/* A share stands close to its number, and the bar close to the share. */
static size_t gap_before(const column *c, size_t i) { return i == 0 ? 0 : c->what == VALUE ? GAP : 1; }

static size_t numbers_width(const layout *l) {
    size_t width = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (!l->columns[i].is_hidden) width += l->columns[i].width + gap_before(&l->columns[i], i);
    }
    return width;
}

/* Leaves out columns, least worth first, until names have room. */
static void fit(layout *l) {
    size_t width = l->tree->width;
    if (!width) return;
    size_t enough = width > LEAST_NAME + GAP ? width - LEAST_NAME - GAP : 0;
    for (int worth = 0; worth < 100 && numbers_width(l) > enough; worth++) {
        for (size_t i = l->n; i-- > 0 && numbers_width(l) > enough;) {
            if (l->columns[i].worth == worth) l->columns[i].is_hidden = true;
        }
    }
    size_t used = numbers_width(l) + GAP;
    l->name_width = width > used + LEVEL + 1 ? width - used : LEVEL + 1;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void set_colour(const layout *l, as_output *out, const char *sequence) {
    if (l->tree->colour) as_output_text(out, sequence);
}

static void print_header(const layout *l, as_output *out) {
    set_colour(l, out, BOLD);
    for (size_t i = 0; i < l->n; i++) {
        const column *c = &l->columns[i];
        if (c->is_hidden) continue;
        as_display_pad(out, gap_before(c, i) + c->width - as_display_width(c->title, strlen(c->title)));
        as_output_text(out, c->title);
    }
    if (l->n) as_display_pad(out, GAP);
    if (!l->tree->is_list) as_display_pad(out, LEVEL);
    as_output_text(out, l->tree->heading);
    set_colour(l, out, PLAIN);
    as_output_char(out, '\n');
}

static void print_bar(const layout *l, const column *c, size_t row, as_output *out) {
    double share = share_of(l, c, row);
    if (share > 0) set_colour(l, out, BAR);
    size_t used = as_bar_write(out, share, c->width, l->tree->ascii);
    if (share > 0) set_colour(l, out, PLAIN);
    as_display_pad(out, c->width - used);
}

static void print_numbers(const layout *l, size_t row, as_output *out) {
    for (size_t i = 0; i < l->n; i++) {
        const column *c = &l->columns[i];
        if (c->is_hidden) continue;
        char text[AS_QUANTITY_SIZE];
        as_display_pad(out, gap_before(c, i));
        if (c->what == BARS) {
            print_bar(l, c, row, out);
            continue;
        }
        as_display_pad(out, c->width - format_cell(l, c, row, text));
        const char *colour = strcmp(text, "0") == 0 || strcmp(text, "-") == 0 ? DIM
                             : !l->tree->metrics[c->metric].is_change         ? NULL
                             : text[0] == '-'                                 ? LESS
                                                                              : MORE;
        if (colour) set_colour(l, out, colour);
        as_output_text(out, text);
        if (colour) set_colour(l, out, PLAIN);
    }
    if (l->n) as_display_pad(out, GAP);
}

/* The lines of the tree; returns the columns they take. */
static size_t print_lines(const layout *l, const as_tree_row *row, as_output *out) {
    bool ascii = l->tree->ascii;
    size_t most = l->name_width ? l->name_width / 2 / LEVEL : MOST_LEVELS;
    if (most > MOST_LEVELS) most = MOST_LEVELS;
    if (row->depth < MOST_LEVELS) l->is_last[row->depth] = row->is_last;
    if (row->depth == 0) return 0;
    bool is_deep = row->depth > most;
    size_t levels = is_deep ? most : row->depth, used = levels * LEVEL;
    set_colour(l, out, DIM);
    for (size_t i = 1; i < levels; i++) as_output_text(out, l->is_last[i] ? "  " : ascii ? "| " : "│ ");
    if (is_deep) {
        char level[32];
        int size = snprintf(level, sizeof level, "[%lu] ", (unsigned long)row->depth);
        as_output_text(out, level);
        used = (levels ? levels - 1 : 0) * LEVEL + (size_t)size;
    } else if (ascii) {
        as_output_text(out, row->is_last ? "`-" : "|-");
    } else {
        as_output_text(out, row->is_last ? "└─" : "├─");
    }
    set_colour(l, out, PLAIN);
    return used;
}

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* "file.c:12" of a place; the folders of a file say little. */
static void compose_place(char *out, size_t room, const char *file, int64_t line) {
    char digits[32] = "";
    if (line > 0) snprintf(digits, sizeof digits, ":%lld", (long long)line);
    snprintf(out, room, "%s%s", base_name(file), digits);
}

/* A dim text behind what stands already, where it has room. Returns the columns it takes. */
static size_t print_behind(const layout *l, const char *before, const char *text, size_t used, as_output *out) {
    size_t width = strlen(before) + as_display_width(text, strlen(text));
    if (l->name_width && used + GAP + width > l->name_width) return 0;
    set_colour(l, out, DIM);
    as_display_pad(out, GAP);
    as_output_text(out, before);
    as_display_write(out, text, strlen(text), 0);
    set_colour(l, out, PLAIN);
    return GAP + width;
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), n = strlen(end);
    return size >= n && strcmp(text + size - n, end) == 0;
}

/* Whether a name says where its node is: "loop at solve.c:12", "read [libc.so]". */
static bool says_place(const char *name, const char *place, const char *file) {
    return ends_with(name, place) || (*file == '[' && ends_with(name, file));
}

/* Where it is, unless the name says it already, and where it is called. */
static void print_place(const layout *l, const as_tree_row *row, size_t used, as_output *out) {
    char place[256];
    if (row->file && *row->file && *row->file != '<' &&
        *row->file != '~') { /* not "<unknown file>", "~unknown-file~" */
        compose_place(place, sizeof place, row->file, row->line);
        if (!says_place(row->name, place, base_name(row->file))) used += print_behind(l, "", place, used, out);
    }
    if (row->call_file && *row->call_file && row->call_line > 0) {
        compose_place(place, sizeof place, row->call_file, row->call_line);
        print_behind(l, "called at ", place, used, out);
    }
}

/* The folder of a file, in what room there is. */
static void print_folder(const layout *l, const as_tree_row *row, size_t used, as_output *out) {
    enum { LEAST = 12 };
    size_t room = !l->name_width ? AS_WIDEST_NAME : l->name_width > used + GAP ? l->name_width - used - GAP : 1;
    if (!row->folder || room < LEAST) return;
    set_colour(l, out, DIM);
    as_display_pad(out, GAP);
    as_display_write_end(out, row->folder, strlen(row->folder), room);
    set_colour(l, out, PLAIN);
}

/* The line of source code below a node, where its children's lines would begin. */
static void print_source(const layout *l, size_t index, as_output *out) {
    const as_tree_text *tree = l->tree;
    const as_tree_row *row = &AS_AT(as_tree_row, &tree->rows, index);
    if (!row->source) return;
    bool has_children = index + 1 < tree->rows.count && AS_AT(as_tree_row, &tree->rows, index + 1).depth > row->depth;
    size_t most = l->name_width ? l->name_width / 2 / LEVEL : MOST_LEVELS, used = 0;
    if (most > MOST_LEVELS) most = MOST_LEVELS;
    as_display_pad(out, numbers_width(l) + (l->n ? GAP : 0));
    set_colour(l, out, DIM);
    if (!tree->is_list) {
        as_display_pad(out, LEVEL);
        for (size_t i = 1; i <= row->depth && i < most; i++, used += LEVEL)
            as_output_text(out, l->is_last[i] ? "  " : tree->ascii ? "| " : "│ ");
        as_output_text(out, !has_children || row->depth >= most ? "  " : tree->ascii ? "| " : "│ ");
        used += 2 * LEVEL;
    }
    as_display_pad(out, LEVEL);
    used += LEVEL;
    as_display_write(out, row->source, strlen(row->source),
                     !l->name_width             ? 0
                     : l->name_width > used + 1 ? l->name_width - used
                                                : 1);
    set_colour(l, out, PLAIN);
    as_output_char(out, '\n');
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Columns of a name where nothing else limits them. */
static size_t widest_name(const layout *l) { return l->tree->full_names ? 0 : AS_WIDEST_NAME; }

/* The columns that all names of a chain together take, each at most `most`. */
static size_t chain_width(const char *names, size_t most, size_t between) {
    size_t width = 0;
    for (;;) {
        const char *end = strchrnul(names, AS_TREE_CALLER);
        size_t one = as_display_width(names, (size_t)(end - names));
        width += one < most ? one : most;
        if (!*end) return width;
        width += between;
        names = end + 1;
    }
}

/* Names with arrows between them: all are given the same most columns. Where that is too little, the first ones are
 * shown as long as there is room, and the last. */
static void compose_chain(const layout *l, as_text *out, const char *names, size_t room) {
    enum { LEAST = 14 };
    const char *arrow = l->tree->ascii ? " <- " : " ← ", *last = strrchr(names, AS_TREE_CALLER);
    size_t between = as_display_width(arrow, strlen(arrow)), most = room ? room : SIZE_MAX;
    while (room && most > LEAST && chain_width(names, most, between) > room) most--;
    bool all = !room || chain_width(names, most, between) <= room;
    /* What comes behind the names that are left out, and what is left for those before */
    size_t most_last = room / 3 < LEAST ? room / 3 + 1 : LEAST;
    size_t behind = all ? 0 : 2 * between + strlen(l->ellipsis) + chain_width(last + 1, most_last, 0);
    size_t left = room > behind ? room - behind : LEAST;
    for (const char *end = names;; names = end + 1) {
        end = strchrnul(names, AS_TREE_CALLER);
        size_t width = as_display_width(names, (size_t)(end - names));
        as_name_shorten(out, names, (size_t)(end - names),
                        all            ? room ? most : widest_name(l)
                                   : names > last ? LEAST
                                       : left,
                        l->ellipsis);
        if (!*end) return;
        as_text_add(out, arrow);
        left -= width + between < left ? width + between : left;
        const char *next_end = strchrnul(end + 1, AS_TREE_CALLER);
        bool fits = as_display_width(end + 1, (size_t)(next_end - end - 1)) <= left;
        if (all || fits || end == last) continue;
        as_text_add(out, l->ellipsis);
        as_text_add(out, arrow);
        end = last;
    }
}

static void compose_name(const layout *l, as_text *out, const char *name, size_t room) {
    as_text_clear(out);
    if (strchr(name, AS_TREE_CALLER))
        compose_chain(l, out, name, room);
    else
        as_name_shorten(out, name, strlen(name), room ? room : widest_name(l), l->ellipsis);
}

static void print_row(const layout *l, size_t index, as_text *name, as_output *out) {
    const as_tree_text *tree = l->tree;
    const as_tree_row *row = &AS_AT(as_tree_row, &tree->rows, index);
    print_numbers(l, index, out);
    size_t used = 0;
    if (!tree->is_list) {
        if (row->is_hot) set_colour(l, out, HOT);
        as_output_text(out, !row->is_hot ? "  " : tree->ascii ? "> " : "▸ ");
        if (row->is_hot) set_colour(l, out, PLAIN);
        used = LEVEL + print_lines(l, row, out);
    }
    size_t taken = used + (row->remark ? strlen(row->remark) + 3 : 0);
    size_t room = !l->name_width || tree->full_names ? 0 : l->name_width > taken + 1 ? l->name_width - taken : 1;
    compose_name(l, name, row->name, room);
    bool is_strong = row->is_hot || row->is_marked;
    if (is_strong) set_colour(l, out, row->is_hot ? HOT : BOLD);
    used += as_display_write(out, as_text_data(name), as_text_size(name), room);
    if (is_strong) set_colour(l, out, PLAIN);
    if (row->remark) {
        set_colour(l, out, BOLD);
        as_output_printf(out, " (%s)", row->remark);
        set_colour(l, out, PLAIN);
        used += strlen(row->remark) + 3;
    }
    if (row->note) used += print_behind(l, "", row->note, used, out);
    print_folder(l, row, used, out);
    print_place(l, row, used, out);
    as_output_char(out, '\n');
    print_source(l, index, out);
}

bool as_tree_text_print(as_output *out, const as_tree_text *tree) {
    bool is_last[MOST_LEVELS] = {false};
    layout l = {.tree = tree, .ellipsis = tree->ascii ? "..." : "…", .is_last = is_last};
    l.quantities = calloc(tree->n_metrics + 1, sizeof *l.quantities);
    as_text name;
    as_text_init(&name);
    bool fine = l.quantities != NULL;
    if (fine) {
        find_quantities(&l);
        add_columns(&l);
        measure(&l);
        fit(&l);
        print_header(&l, out);
        for (size_t i = 0; i < tree->rows.count; i++) print_row(&l, i, &name, out);
        fine = !name.failed;
    }
    as_text_free(&name);
    free(l.quantities);
    return fine;
}
