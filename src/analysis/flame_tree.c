#include "analysis/flame_tree.h"

#include <math.h>
#include <stdlib.h>

/* What a frame, or the stacks of an inverted one, have. */
typedef struct weight {
    double side[2], width;
} weight;

static void add_weight(weight *to, const weight *from) {
    to->side[0] += from->side[0];
    to->side[1] += from->side[1];
    to->width += from->width;
}

/* ---- what stacks have -------------------------------------------------------------------------------------------- */

static double countable(double amount, uint64_t *n_minus) {
    if (isfinite(amount) && amount >= 0) return amount;
    (*n_minus)++;
    return 0;
}

static double width_of(const as_flame_tree *tree, const as_flame_request *request, const weight *w) {
    if (as_flame_sides(tree->flame) == 1 || request->width == AS_WIDE_AS_FIRST) return w->side[0];
    return request->width == AS_WIDE_AS_SECOND ? w->side[1] : fmax(w->side[0], w->side[1]);
}

/* Finds what each frame has itself, and the sums. */
static void weigh(as_flame_tree *tree, const as_flame_request *request, weight *own, size_t n) {
    tree->scale[0] = tree->scale[1] = 1;
    for (uint32_t i = 0; i < n; i++) {
        as_flame_frame_info info = as_flame_look(tree->flame, i);
        for (int side = 0; side < 2; side++) {
            own[i].side[side] = countable(info.own[side], &tree->n_minus);
            tree->total[side] += own[i].side[side];
        }
    }
    if (request->is_normalized && tree->total[0] > 0 && tree->total[1] > 0) {
        tree->scale[0] = tree->total[1] / tree->total[0];
        tree->total[0] = tree->total[1];
    }
    for (size_t i = 0; i < n; i++) {
        own[i].side[0] *= tree->scale[0];
        own[i].width = width_of(tree, request, &own[i]);
        tree->width += own[i].width;
    }
}

/* ---- outermost first --------------------------------------------------------------------------------------------- */

typedef struct ordering {
    const as_flame *flame;
    const weight *total;
} ordering;

static int compare_siblings(const void *a, const void *b, void *user) {
    const ordering *o = user;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t above_i = as_flame_look(o->flame, i).parent, above_k = as_flame_look(o->flame, k).parent;
    double wide_i = o->total[i].width, wide_k = o->total[k].width;
    if (above_i != above_k) return above_i < above_k ? -1 : 1;
    if (wide_i != wide_k) return wide_i > wide_k ? -1 : 1;
    return i < k ? -1 : 1;
}

static as_flame_node node_of(const as_flame *flame, uint32_t frame, const weight *own, const weight *total) {
    as_flame_frame_info info = as_flame_look(flame, frame);
    as_flame_node node = {
        .name = info.name, .module = info.module, .kind = info.kind, .width = total->width, .own_width = own->width};
    for (int side = 0; side < 2; side++) {
        node.own[side] = own->side[side];
        node.total[side] = total->side[side];
    }
    return node;
}

/* Frames that are waiting, and below which node. */
typedef struct waiting {
    uint32_t frame, parent;
} waiting;

/* sorted: the frames that are shown, those of one parent together, of which begins[parent] is the first. */
static bool list_nodes(as_flame_tree *tree, const uint32_t *sorted, size_t n, const uint32_t *begins, const weight *own,
                       const weight *total) {
    as_vec stack; /* waiting */
    as_vec_init(&stack, sizeof(waiting), NULL);
    size_t first = 0;
    bool fine = true;
    while (first < n && as_flame_look(tree->flame, sorted[first]).parent != AS_FLAME_ROOT) first++;
    for (size_t i = n; fine && i > first; i--)
        fine = as_vec_append(&stack, &(waiting){sorted[i - 1], AS_FLAME_ROOT}, 1);
    while (fine && stack.count) {
        waiting next = AS_AT(waiting, &stack, --stack.count);
        as_flame_node node = node_of(tree->flame, next.frame, &own[next.frame], &total[next.frame]);
        uint32_t id = (uint32_t)tree->nodes.count;
        size_t begin = begins[next.frame], end = begin;
        node.parent = next.parent;
        fine = as_vec_append(&tree->nodes, &node, 1);
        while (end < n && as_flame_look(tree->flame, sorted[end]).parent == next.frame) end++;
        for (size_t i = end; fine && i > begin; i--) fine = as_vec_append(&stack, &(waiting){sorted[i - 1], id}, 1);
    }
    as_vec_free(&stack);
    return fine;
}

static bool grow_down(as_flame_tree *tree, const as_flame_request *request, const weight *own, size_t n) {
    weight *total = malloc((n + 1) * sizeof *total);
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted), *begins = malloc((n + 1) * sizeof *begins);
    double least = request->min_share * tree->width;
    size_t n_shown = 0;
    bool fine = total && sorted && begins;
    for (size_t i = 0; fine && i < n; i++) total[i] = own[i];
    for (size_t i = n; fine && i-- > 0;) {
        uint32_t parent = as_flame_look(tree->flame, (uint32_t)i).parent;
        if (parent != AS_FLAME_ROOT) add_weight(&total[parent], &total[i]);
    }
    for (uint32_t i = 0; fine && i < n; i++) {
        begins[i] = UINT32_MAX;
        if (total[i].width > 0 && total[i].width >= least) {
            sorted[n_shown++] = i;
        } else if (total[i].width > 0) {
            tree->n_left++;
        }
    }
    ordering order = {tree->flame, total};
    if (fine) qsort_r(sorted, n_shown, sizeof *sorted, compare_siblings, &order);
    for (size_t i = n_shown; fine && i-- > 0;) {
        uint32_t parent = as_flame_look(tree->flame, sorted[i]).parent;
        if (parent != AS_FLAME_ROOT) begins[parent] = (uint32_t)i;
    }
    fine = fine && list_nodes(tree, sorted, n_shown, begins, own, total);
    free(total);
    free(sorted);
    free(begins);
    return fine;
}

/* ---- innermost first --------------------------------------------------------------------------------------------- */

/* A stack, and the frame of it that is looked at. */
typedef struct item {
    uint32_t frame;
    as_str name; /* of the frame */
    weight has;
} item;

/* Stacks that have the same frames so far. */
typedef struct group {
    size_t begin, end; /* of the items */
    uint32_t parent;
    weight total;
} group;

static int compare_items(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* The widest last, as that is the first one taken off a stack. */
static int compare_groups(const void *a, const void *b) {
    const group *x = a, *y = b;
    if (x->total.width != y->total.width) return x->total.width < y->total.width ? -1 : 1;
    return (x->begin < y->begin) - (x->begin > y->begin);
}

/* Puts the items begin … end - 1 into groups of one name, which wait to be shown below parent. */
static bool part_items(as_flame_tree *tree, item *items, size_t begin, size_t end, uint32_t parent, double least,
                       as_vec *stack) {
    size_t first = stack->count;
    qsort(items + begin, end - begin, sizeof *items, compare_items);
    for (size_t i = begin; i < end;) {
        group g = {.begin = i, .parent = parent};
        for (; i < end && items[i].name == items[g.begin].name; i++) add_weight(&g.total, &items[i].has);
        g.end = i;
        if (g.total.width > 0 && g.total.width >= least) {
            if (!as_vec_append(stack, &g, 1)) return false;
        } else if (g.total.width > 0) {
            tree->n_left++;
        }
    }
    qsort((group *)stack->data + first, stack->count - first, sizeof(group), compare_groups);
    return true;
}

/* The group as a node; its items go on to who called them, those that nobody did are its own. Gives where the others
 * end. */
static bool show_group(as_flame_tree *tree, item *items, group *g) {
    weight own = {.width = 0};
    uint32_t frame = items[g->begin].frame;
    size_t end = g->begin;
    for (size_t i = g->begin; i < g->end; i++) {
        uint32_t caller = as_flame_look(tree->flame, items[i].frame).parent;
        if (caller == AS_FLAME_ROOT) {
            add_weight(&own, &items[i].has);
            continue;
        }
        items[end] = items[i];
        items[end].frame = caller;
        items[end++].name = as_flame_look(tree->flame, caller).name;
    }
    g->end = end;
    as_flame_node node = node_of(tree->flame, frame, &own, &g->total);
    node.parent = g->parent;
    return as_vec_append(&tree->nodes, &node, 1);
}

static bool grow_inverted(as_flame_tree *tree, const as_flame_request *request, const weight *own, size_t n) {
    item *items = malloc((n + 1) * sizeof *items);
    as_vec stack; /* group */
    as_vec_init(&stack, sizeof(group), NULL);
    double least = request->min_share * tree->width;
    size_t n_items = 0;
    for (uint32_t i = 0; items && i < n; i++) {
        if (own[i].side[0] > 0 || own[i].side[1] > 0)
            items[n_items++] = (item){i, as_flame_look(tree->flame, i).name, own[i]};
    }
    bool fine = items && part_items(tree, items, 0, n_items, AS_FLAME_ROOT, least, &stack);
    while (fine && stack.count) {
        group g = AS_AT(group, &stack, --stack.count);
        uint32_t id = (uint32_t)tree->nodes.count;
        fine = show_group(tree, items, &g) && part_items(tree, items, g.begin, g.end, id, least, &stack);
    }
    as_vec_free(&stack);
    free(items);
    return fine;
}

/* ---- what there is room for -------------------------------------------------------------------------------------- */

static int compare_widths(const void *a, const void *b, void *user) {
    const as_flame_node *nodes = user;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (nodes[i].width != nodes[k].width) return nodes[i].width > nodes[k].width ? -1 : 1;
    return i < k ? -1 : 1;
}

/* Takes out the narrowest. Who is as wide as his parent comes behind it, so that nobody loses his. */
static bool fit_room(as_flame_tree *tree, const as_flame_request *request) {
    as_flame_node *nodes = tree->nodes.data;
    size_t n = tree->nodes.count, used = 0, n_kept = 0, at = 0;
    if (!request->room) return true;
    uint32_t *order = malloc((n + 1) * sizeof *order), *moved = malloc((n + 1) * sizeof *moved);
    bool fine = order && moved;
    for (uint32_t i = 0; fine && i < n; i++) {
        order[i] = i;
        moved[i] = AS_FLAME_ROOT;
    }
    if (fine) qsort_r(order, n, sizeof *order, compare_widths, nodes);
    for (; fine && n_kept < n; n_kept++) {
        size_t size = as_str_size(as_flame_names(tree->flame), nodes[order[n_kept]].name);
        used += request->frame_costs + (size < request->longest_name ? size : request->longest_name);
        if (used > request->room) break;
        moved[order[n_kept]] = 0;
    }
    for (uint32_t i = 0; fine && i < n; i++) {
        as_flame_node node = nodes[i];
        if (moved[i] == AS_FLAME_ROOT) {
            tree->n_left++;
            continue;
        }
        moved[i] = (uint32_t)at;
        if (node.parent != AS_FLAME_ROOT) node.parent = moved[node.parent];
        nodes[at++] = node;
    }
    if (fine) tree->nodes.count = at;
    free(order);
    free(moved);
    return fine;
}

/* Depths and places, and what has none. */
static bool place(as_flame_tree *tree) {
    as_flame_node *nodes = tree->nodes.data;
    size_t n = tree->nodes.count;
    double *ends = malloc((n + 1) * sizeof *ends); /* of the children of each node so far */
    double end = 0, seen = 0;
    if (!ends) return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = nodes[i].parent;
        double *at = parent == AS_FLAME_ROOT ? &end : &ends[parent];
        nodes[i].depth = parent == AS_FLAME_ROOT ? 0 : nodes[parent].depth + 1;
        nodes[i].x = ends[i] = *at;
        *at += nodes[i].width;
        seen += nodes[i].own_width;
    }
    if (tree->n_left) tree->left_width = fmax(0, tree->width - seen);
    free(ends);
    return true;
}

bool as_flame_tree_make(const as_flame *flame, const as_flame_request *request, as_flame_tree *out) {
    size_t n = as_flame_count(flame);
    *out = (as_flame_tree){.flame = flame};
    as_vec_init(&out->nodes, sizeof(as_flame_node), NULL);
    weight *own = calloc(n + 1, sizeof *own);
    if (!own) return false;
    weigh(out, request, own, n);
    bool fine = (request->is_inverted ? grow_inverted : grow_down)(out, request, own, n) && fit_room(out, request) &&
                place(out);
    free(own);
    return fine;
}

void as_flame_tree_free(as_flame_tree *tree) { as_vec_free(&tree->nodes); }
