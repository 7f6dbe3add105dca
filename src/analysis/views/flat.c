/* The flat view: a list of functions, files, modules or kinds, or the tree of scopes. */
#include <math.h>
#include <stdlib.h>

#include "analysis/views/view_private.h"

/* For each member what a walk asks of it. Numbers of members, UINT32_MAX: none. */
typedef struct place {
    uint32_t parent;                        /* the nearest one above it that is not hidden */
    uint32_t first_child, last_child, next; /* next: of the same parent, in the order of the source */
    uint32_t n_kept;                        /* members in its subtree that are not left out by name, itself included */
    double key, weight;                     /* weight: the largest key in its subtree */
    bool is_kept;                           /* it, or one below it, has a name that is asked for; all where none is */
    uint8_t hides;                          /* AS_HIDES_…, of itself or one above it; 0: it is shown */
} place;

typedef struct listing {
    as_view_gather gather;
    place *places;
    uint32_t first, last; /* of the first level */
    as_vec pending;       /* as_view_pending, the next one last */
} listing;

static void append_child(listing *l, uint32_t i) {
    uint32_t parent = l->places[i].parent;
    uint32_t *first = parent == UINT32_MAX ? &l->first : &l->places[parent].first_child;
    uint32_t *last = parent == UINT32_MAX ? &l->last : &l->places[parent].last_child;
    if (*first == UINT32_MAX)
        *first = i;
    else
        l->places[*last].next = i;
    *last = i;
}

/* Whether a member is hidden, and what it stands below. */
static void find_parent(listing *l, uint32_t i) {
    const as_view_member *member = as_view_member_at(&l->gather.groups, i);
    const place *above = member->parent == UINT32_MAX ? NULL : &l->places[member->parent];
    bool is_below_hidden = above && above->hides & AS_HIDES_SUBTREE;
    l->places[i].hides = is_below_hidden ? AS_HIDES_SUBTREE : as_view_hides(l->gather.walker, member->name);
    l->places[i].parent = above && above->hides ? above->parent : member->parent;
}

/* Parents come before their children: forth for the lists of children, back for what subtrees have. */
static void find_places(listing *l) {
    const as_view_groups *groups = &l->gather.groups;
    const bool *wanted = l->gather.walker->request->wanted;
    uint32_t n = (uint32_t)groups->members.count;
    l->first = l->last = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const as_view_member *member = as_view_member_at(groups, i);
        double key = as_view_gather_key(&l->gather, member, as_view_gather_contexts(&l->gather, i));
        l->places[i] = (place){.first_child = UINT32_MAX,
                               .last_child = UINT32_MAX,
                               .next = UINT32_MAX,
                               .key = key,
                               .weight = key,
                               .is_kept = !wanted || (member->name != AS_NO_STR && wanted[member->name])};
        find_parent(l, i);
        l->gather.walker->cut->hidden += l->places[i].hides != 0;
        if (!l->places[i].hides) append_child(l, i);
    }
    for (uint32_t i = n; i-- > 0;) {
        place *own = &l->places[i];
        uint32_t parent = own->parent;
        if (own->hides) continue;
        own->n_kept += own->is_kept;
        if (parent == UINT32_MAX) continue;
        place *above = &l->places[parent];
        above->is_kept |= own->is_kept;
        above->n_kept += own->n_kept;
        above->weight = fmax(above->weight, own->weight);
    }
}

/* Puts the siblings that are shown behind those that wait. limit: what the hot one must have; negative: no path leads
 * here. */
static bool add_siblings(listing *l, uint32_t first, uint32_t depth, double limit) {
    as_view_walker *w = l->gather.walker;
    size_t from = l->pending.count;
    for (uint32_t i = first; i != UINT32_MAX; i = l->places[i].next) {
        const place *p = &l->places[i];
        if (!p->is_kept) continue;
        if (p->weight < w->least && !w->request->only_hot) {
            w->cut->small += p->n_kept;
            continue;
        }
        const as_view_member *member = as_view_member_at(&l->gather.groups, i);
        as_view_pending next = {.at = i,
                                .depth = depth,
                                .is_apart = as_view_member_is_apart(w, member),
                                .name = member->name,
                                .key = p->key};
        if (!as_vec_append(&l->pending, &next, 1)) return false;
    }
    if (limit >= 0 && l->pending.count > from)
        as_view_mark_hot(w, &AS_AT(as_view_pending, &l->pending, from), l->pending.count - from, limit);
    as_view_arrange(w, &l->pending, from);
    return true;
}

static bool add_children(listing *l, const as_view_pending *parent) {
    const as_view_walker *w = l->gather.walker;
    const place *p = &l->places[parent->at];
    if (parent->depth + 1 != w->request->max_levels)
        return add_siblings(l, p->first_child, parent->depth + 1, parent->is_hot ? parent->key * w->hot : -1);
    for (uint32_t i = p->first_child; i != UINT32_MAX; i = l->places[i].next) w->cut->deep += l->places[i].n_kept;
    return true;
}

/* Of the first level only so many are shown: the first of them waits last. */
static void cut_first(listing *l) {
    const as_view_walker *w = l->gather.walker;
    size_t most = w->request->max_first, n = l->pending.count;
    if (!most || n <= most) return;
    w->cut->rest = n - most;
    as_view_pending *waiting = l->pending.data;
    memmove(waiting, waiting + (n - most), most * sizeof *waiting);
    waiting[0].is_last = true;
    l->pending.count = most;
}

static bool walk(listing *l) {
    const as_view_walker *w = l->gather.walker;
    bool is_tree = w->request->group == AS_GROUP_SCOPE;
    double whole = w->data->n_columns ? w->data->columns[0].whole : NAN;
    find_places(l);
    if (!add_siblings(l, l->first, 0, !is_tree ? -1 : isfinite(whole) ? whole * w->hot : 0)) return false;
    cut_first(l);
    while (l->pending.count > 0) {
        as_view_pending next = AS_AT(as_view_pending, &l->pending, --l->pending.count);
        const as_view_member *member = as_view_member_at(&l->gather.groups, next.at);
        as_view_some contexts = as_view_gather_contexts(&l->gather, next.at);
        next.is_cut = next.depth + 1 == w->request->max_levels && l->places[next.at].first_child != UINT32_MAX;
        if (!as_view_gather_show(&l->gather, &next, member, member->context, contexts) || !add_children(l, &next))
            return false;
    }
    return true;
}

bool as_view_walk_flat(as_view_walker *walker) {
    listing l;
    as_vec_init(&l.pending, sizeof(as_view_pending), NULL);
    bool fine = as_view_gather_init(&l.gather, walker);
    l.places = malloc((l.gather.groups.members.count + 1) * sizeof *l.places);
    fine = fine && l.places && walk(&l);
    free(l.places);
    as_vec_free(&l.pending);
    as_view_gather_free(&l.gather);
    return fine;
}
