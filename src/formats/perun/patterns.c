#include "formats/perun/patterns.h"

#include <stdlib.h>

#include "io/json.h"

/* Beyond them nothing more is learnt: what differs so much is faster read than compared, and may want to use up the
 * memory. */
enum { MOST_CHILDREN = 4096, MOST_NODES = 4096, MOST_BYTES = 1 << 24 };

/* A piece of text. No piece that can follow a node begins another one: the same bytes end at the same place. */
typedef struct child {
    const char *text;
    size_t size;
    uint32_t node; /* that follows it, or UINT32_MAX: the resource ends */
    uint32_t leaf; /* then */
    uint32_t next; /* that came after this one at the same node the last time; a guess */
} child;

/* Where a number ended, or the resource begins. */
typedef struct node {
    int key;         /* of the number before it */
    uint32_t recent; /* the child that came last */
    as_vec children; /* child, in order of their bytes */
} node;

struct as_perun_patterns {
    as_budget *budget;
    as_arena arena;
    as_vec nodes;  /* node; the first is where resources begin */
    as_vec leaves; /* as_pattern_leaf */
    size_t n_bytes;
};

static bool add_node(as_perun_patterns *patterns, int key) {
    node *added = as_vec_push(&patterns->nodes);
    if (!added) return false;
    added->key = key;
    as_vec_init(&added->children, sizeof(child), patterns->budget);
    return true;
}

as_perun_patterns *as_patterns_new(as_budget *budget) {
    as_perun_patterns *patterns = calloc(1, sizeof *patterns);
    if (!patterns) return NULL;
    patterns->budget = budget;
    as_arena_init(&patterns->arena, budget);
    as_vec_init(&patterns->nodes, sizeof(node), budget);
    as_vec_init(&patterns->leaves, sizeof(as_pattern_leaf), budget);
    if (add_node(patterns, -1)) return patterns;
    as_patterns_free(patterns);
    return NULL;
}

void as_patterns_free(as_perun_patterns *patterns) {
    if (!patterns) return;
    for (size_t i = 0; i < patterns->nodes.count; i++) as_vec_free(&AS_AT(node, &patterns->nodes, i).children);
    as_vec_free(&patterns->nodes);
    as_vec_free(&patterns->leaves);
    as_arena_free(&patterns->arena);
    free(patterns);
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static bool begins_with(const char *at, const char *end, const child *piece) {
    return (size_t)(end - at) >= piece->size && memcmp(at, piece->text, piece->size) == 0;
}

/* The first child whose bytes are not before those at `at`. */
static size_t find_place(const node *here, const char *at, size_t size) {
    size_t low = 0, high = here->children.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const child *piece = &AS_AT(child, &here->children, middle);
        int order = memcmp(piece->text, at, piece->size < size ? piece->size : size);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const child *find_child(node *here, const char *at, const char *end) {
    child *pieces = here->children.data;
    if (!here->children.count) return NULL;
    uint32_t guess = pieces[here->recent].next;
    if (!begins_with(at, end, &pieces[guess])) {
        size_t place = find_place(here, at, (size_t)(end - at));
        if (place == here->children.count || !begins_with(at, end, &pieces[place])) return NULL;
        guess = (uint32_t)place;
        pieces[here->recent].next = guess;
    }
    here->recent = guess;
    return &pieces[guess];
}

as_pattern_leaf *as_patterns_match(as_perun_patterns *patterns, const char *at, const char *end, size_t *size,
                                   as_number numbers[AS_PATTERN_NUMBERS], unsigned *has) {
    const char *p = at;
    *has = 0;
    for (node *here = patterns->nodes.data;;) {
        const child *piece = find_child(here, p, end);
        if (!piece) return NULL;
        p += piece->size;
        if (piece->node == UINT32_MAX) {
            if (piece->leaf == UINT32_MAX) return NULL; /* it was too much to learn */
            *size = (size_t)(p - at);
            return &AS_AT(as_pattern_leaf, &patterns->leaves, piece->leaf);
        }
        here = &AS_AT(node, &patterns->nodes, piece->node);
        p = as_json_plain_number(p, end, &numbers[here->key]);
        if (!p) return NULL;
        *has |= 1u << here->key;
    }
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* The child of this text, made if new; NULL: there are too many, or memory is out, which only means that nothing is
 * learnt. */
static child *take_child(as_perun_patterns *patterns, uint32_t at, const char *text, size_t size) {
    node *here = &AS_AT(node, &patterns->nodes, at);
    size_t place = find_place(here, text, size);
    child *known = place < here->children.count ? &AS_AT(child, &here->children, place) : NULL;
    if (known && known->size == size && memcmp(known->text, text, size) == 0) return known;
    if (here->children.count >= MOST_CHILDREN || size > MOST_BYTES - patterns->n_bytes) return NULL;
    child piece = {.text = as_arena_copy(&patterns->arena, text, size), .size = size, .node = UINT32_MAX};
    if (!piece.text || !as_vec_append(&here->children, &piece, 1)) return NULL;
    patterns->n_bytes += size;
    child *all = here->children.data;
    memmove(all + place + 1, all + place, (here->children.count - 1 - place) * sizeof *all);
    piece.leaf = UINT32_MAX;
    all[place] = piece;
    return &all[place];
}

static uint32_t take_node(as_perun_patterns *patterns, child *piece, int key) {
    if (piece->node != UINT32_MAX) return piece->node;
    if (piece->leaf != UINT32_MAX || patterns->nodes.count >= MOST_NODES || !add_node(patterns, key)) return UINT32_MAX;
    return piece->node = (uint32_t)(patterns->nodes.count - 1);
}

void as_patterns_learn(as_perun_patterns *patterns, const char *begin, const char *end,
                       const as_pattern_number *numbers, size_t n, const as_pattern_leaf *leaf) {
    uint32_t at = 0;
    const char *p = begin;
    for (size_t i = 0; i < n; i++) {
        child *piece = take_child(patterns, at, p, (size_t)(numbers[i].begin - p));
        at = piece ? take_node(patterns, piece, numbers[i].key) : UINT32_MAX;
        if (at == UINT32_MAX) return;
        p = numbers[i].end;
    }
    child *last = take_child(patterns, at, p, (size_t)(end - p));
    if (!last || last->leaf != UINT32_MAX || last->node != UINT32_MAX || leaf->size > MOST_BYTES - patterns->n_bytes)
        return;
    as_pattern_leaf copy = *leaf;
    copy.members = as_arena_copy(&patterns->arena, leaf->members, leaf->size);
    if (!copy.members || !as_vec_append(&patterns->leaves, &copy, 1)) return;
    patterns->n_bytes += leaf->size;
    last->leaf = (uint32_t)(patterns->leaves.count - 1);
}
