/* Pictures of frames: what is wide enough to be seen. */
#include <stdlib.h>

#include "analysis/views/flame_frames.h"

static const as_flame_shape no_shape = {.parent = AS_NO_FRAME, .frame = AS_NO_FRAME, .origin = AS_NO_FRAME};

static bool is_found(const as_flame_frames *f, const as_flame_asked *request, uint32_t frame) {
    as_str name = as_flame_box_at(f, frame)->name;
    return request->names && name != AS_NO_STR && request->names[name];
}

/* A shape that waits to be shown, with what lies below it. Inverted: the stacks begin … end - 1 are below it. */
typedef struct waiting {
    as_flame_shape shape;
    size_t begin, end;
    uint32_t depth; /* below the root */
} waiting;

/* How a picture is drawn. */
typedef struct drawing {
    double narrowest; /* what has less is not shown one by one … */
    uint32_t deepest; /* … nor what lies deeper */
    bool is_by_level; /* one level after the other */
    uint32_t depth;   /* of what was shown last */
    as_vec waiting;   /* waiting: those from `taken` on */
    size_t taken;
} drawing;

static bool is_waiting(const drawing *d) { return d->waiting.count > d->taken; }

static waiting take_next(drawing *d) {
    waiting next = AS_AT(waiting, &d->waiting, d->is_by_level ? d->taken++ : --d->waiting.count);
    d->depth = next.depth;
    return next;
}

static bool is_shown(const drawing *d, const as_flame_shape *shape, uint32_t depth) {
    return shape->total > 0 && shape->total >= d->narrowest && depth <= d->deepest;
}

static int compare_waiting(const void *a, const void *b) {
    const as_flame_shape *x = &((const waiting *)a)->shape, *y = &((const waiting *)b)->shape;
    bool x_is_rest = x->rest, y_is_rest = y->rest;
    if (x_is_rest != y_is_rest) return x_is_rest ? -1 : 1;
    if (x->total != y->total) return x->total < y->total ? -1 : 1;
    if (x->frame != y->frame) return x->frame > y->frame ? -1 : 1;
    return x->origin > y->origin ? -1 : x->origin < y->origin;
}

static int compare_sources(const void *a, const void *b) {
    const as_flame_shape *x = &((const waiting *)a)->shape, *y = &((const waiting *)b)->shape;
    bool x_is_rest = x->rest, y_is_rest = y->rest;
    if (x_is_rest != y_is_rest) return x_is_rest ? -1 : 1;
    return x->origin > y->origin ? -1 : x->origin < y->origin;
}

/* Those that wait from `first` on, the first of them last, as that is the next one taken. */
static void order_waiting(as_vec *stack, size_t first, const as_flame_asked *request) {
    if (stack->count == first) return;
    qsort((waiting *)stack->data + first, stack->count - first, sizeof(waiting),
          request->by_size ? compare_waiting : compare_sources);
}

static bool add_rest(drawing *d, const as_flame_shape *rest, uint32_t depth) {
    if (rest->rest == 0 || rest->total < d->narrowest || rest->total <= 0) return true;
    return as_vec_append(&d->waiting, &(waiting){.shape = *rest, .depth = depth}, 1);
}

/* ---- outermost first --------------------------------------------------------------------------------------------- */

static bool wait_below(const as_flame_frames *f, const as_flame_asked *request, uint32_t frame, uint32_t parent,
                       drawing *d) {
    size_t first = d->waiting.count;
    uint32_t depth = d->depth + 1;
    uint32_t at = frame == AS_NO_FRAME ? 0 : frame + 1;
    uint32_t end = frame == AS_NO_FRAME ? as_flame_frames_count(f) : as_flame_box_at(f, frame)->end;
    as_flame_shape rest = no_shape;
    rest.parent = parent;
    for (; at < end; at = as_flame_box_at(f, at)->end) {
        waiting next = {.shape = {.parent = parent,
                                  .frame = at,
                                  .origin = at,
                                  .own = f->own[at],
                                  .total = f->total[at],
                                  .is_found = is_found(f, request, at)},
                        .depth = depth};
        if (!is_shown(d, &next.shape, depth)) {
            rest.rest += f->total[at] > 0;
            rest.total += f->total[at];
        } else if (!as_vec_append(&d->waiting, &next, 1)) {
            return false;
        }
    }
    if (!add_rest(d, &rest, depth)) return false;
    order_waiting(&d->waiting, first, request);
    return true;
}

static bool draw_down(const as_flame_frames *f, const as_flame_asked *request, drawing *d, as_vec *shapes) {
    as_flame_shape root = no_shape;
    root.frame = root.origin = request->root;
    root.total = f->all;
    if (request->root != AS_NO_FRAME) {
        root.own = f->own[request->root];
        root.total = f->total[request->root];
        root.is_found = is_found(f, request, request->root);
    }
    bool fine = as_vec_append(shapes, &root, 1) && wait_below(f, request, request->root, 0, d);
    while (fine && is_waiting(d) && shapes->count <= request->most) {
        waiting next = take_next(d);
        uint32_t id = (uint32_t)shapes->count;
        fine = as_vec_append(shapes, &next.shape, 1);
        if (fine && !next.shape.rest) fine = wait_below(f, request, next.shape.frame, id, d);
    }
    return fine;
}

/* ---- innermost first --------------------------------------------------------------------------------------------- */

/* A stack that ends with `origin`, and the frame of it that is looked at. */
typedef struct trail {
    uint32_t origin, frame;
} trail;

typedef struct inverting {
    const as_flame_frames *f;
    const as_flame_asked *request;
    drawing *d;
    trail *trails, *room; /* of all stacks, and as much room */
    uint32_t *slot;       /* of each string, and of no name: the shape of this name at hand; AS_NO_FRAME: none */
    as_vec groups;        /* waiting: those of the trails at hand, in order of appearance */
} inverting;

static uint32_t *slot_of(const inverting *v, uint32_t frame) {
    as_str name = as_flame_box_at(v->f, frame)->name;
    return &v->slot[name == AS_NO_STR ? v->f->ds->strings.entries.count : name];
}

/* The trails begin … end - 1 by the names of their frames, those of one name together. */
static bool part_trails(inverting *v, size_t begin, size_t end, uint32_t parent, uint32_t level) {
    v->groups.count = 0;
    for (size_t i = begin; i < end; i++) {
        const trail *t = &v->trails[i];
        uint32_t *slot = slot_of(v, t->frame);
        if (*slot == AS_NO_FRAME) {
            waiting added = {.shape = {.parent = parent,
                                       .frame = t->frame,
                                       .origin = t->origin,
                                       .level = level,
                                       .is_found = is_found(v->f, v->request, t->frame)}};
            *slot = (uint32_t)v->groups.count;
            if (!as_vec_append(&v->groups, &added, 1)) return false;
        }
        waiting *g = &AS_AT(waiting, &v->groups, *slot);
        g->shape.total += v->f->own[t->origin];
        g->end++;
    }
    size_t at = begin;
    for (size_t i = 0; i < v->groups.count; i++) {
        waiting *g = &AS_AT(waiting, &v->groups, i);
        size_t n = g->end;
        g->begin = g->end = at;
        at += n;
    }
    for (size_t i = begin; i < end; i++)
        v->room[AS_AT(waiting, &v->groups, *slot_of(v, v->trails[i].frame)).end++] = v->trails[i];
    for (size_t i = begin; i < end; i++) {
        *slot_of(v, v->trails[i].frame) = AS_NO_FRAME;
        v->trails[i] = v->room[i];
    }
    return true;
}

static bool wait_groups(inverting *v, uint32_t parent) {
    drawing *d = v->d;
    size_t first = d->waiting.count;
    uint32_t depth = d->depth + 1;
    as_flame_shape rest = no_shape;
    rest.parent = parent;
    for (size_t i = 0; i < v->groups.count; i++) {
        waiting *g = &AS_AT(waiting, &v->groups, i);
        g->depth = depth;
        if (!is_shown(d, &g->shape, depth)) {
            rest.rest++;
            rest.total += g->shape.total;
        } else if (!as_vec_append(&d->waiting, g, 1)) {
            return false;
        }
    }
    if (!add_rest(d, &rest, depth)) return false;
    order_waiting(&d->waiting, first, v->request);
    return true;
}

/* Trails go on to who called them; those that nobody did are the shape's own, and end. Gives where the others end. */
static size_t go_up(inverting *v, waiting *g) {
    size_t end = g->begin;
    for (size_t i = g->begin; i < g->end; i++) {
        trail t = v->trails[i];
        uint32_t caller = as_flame_box_at(v->f, t.frame)->parent;
        if (caller == AS_NO_FRAME)
            g->shape.own += v->f->own[t.origin];
        else
            v->trails[end++] = (trail){t.origin, caller};
    }
    return end;
}

/* Whether the stack of a frame ends like that of the root, as many levels up; *at: its frame there. */
static bool ends_alike(const as_flame_frames *f, const as_flame_asked *request, uint32_t frame, uint32_t *at) {
    uint32_t root = request->root;
    for (uint32_t level = 0;; level++) {
        if (frame == AS_NO_FRAME || root == AS_NO_FRAME ||
            as_flame_box_at(f, frame)->name != as_flame_box_at(f, root)->name)
            return false;
        if (level == request->levels) break;
        frame = as_flame_box_at(f, frame)->parent;
        root = as_flame_box_at(f, root)->parent;
    }
    *at = frame;
    return true;
}

/* The stacks that are looked at, and the shape of the root. */
static size_t find_trails(inverting *v, waiting *root) {
    size_t n = 0;
    bool is_all = v->request->root == AS_NO_FRAME;
    for (uint32_t i = 0; i < as_flame_frames_count(v->f); i++) {
        uint32_t frame = i;
        double own = v->f->own[i];
        if (own <= 0 || (!is_all && !ends_alike(v->f, v->request, i, &frame))) continue;
        if (!is_all && n == 0) {
            root->shape.frame = frame;
            root->shape.is_found = is_found(v->f, v->request, frame);
        }
        root->shape.total += own;
        v->trails[n++] = (trail){i, frame};
    }
    root->shape.origin = v->request->root;
    root->shape.level = is_all ? 0 : v->request->levels;
    root->end = n;
    return n;
}

static bool invert(inverting *v, as_vec *shapes) {
    waiting root = {.shape = no_shape};
    bool is_all = v->request->root == AS_NO_FRAME;
    size_t end = find_trails(v, &root);
    if (!is_all) end = go_up(v, &root);
    uint32_t level = is_all ? 0 : v->request->levels + 1;
    bool fine = as_vec_append(shapes, &root.shape, 1) && part_trails(v, 0, end, 0, level) && wait_groups(v, 0);
    while (fine && is_waiting(v->d) && shapes->count <= v->request->most) {
        waiting next = take_next(v->d);
        uint32_t id = (uint32_t)shapes->count;
        end = next.shape.rest ? next.begin : go_up(v, &next);
        fine = as_vec_append(shapes, &next.shape, 1);
        if (fine && !next.shape.rest)
            fine = part_trails(v, next.begin, end, id, next.shape.level + 1) && wait_groups(v, id);
    }
    return fine;
}

static bool draw_inverted(const as_flame_frames *f, const as_flame_asked *request, drawing *d, as_vec *shapes) {
    size_t n = as_flame_frames_count(f), n_names = f->ds->strings.entries.count + 1;
    inverting v = {.f = f,
                   .request = request,
                   .d = d,
                   .trails = malloc((n + 1) * sizeof *v.trails),
                   .room = malloc((n + 1) * sizeof *v.room),
                   .slot = malloc(n_names * sizeof *v.slot)};
    as_vec_init(&v.groups, sizeof(waiting), as_ds_budget(f->ds));
    for (size_t i = 0; v.slot && i < n_names; i++) v.slot[i] = AS_NO_FRAME;
    bool fine = v.trails && v.room && v.slot && invert(&v, shapes);
    free(v.trails);
    free(v.room);
    free(v.slot);
    as_vec_free(&v.groups);
    return fine;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool draw(const as_flame_frames *f, const as_flame_asked *request, drawing *d, as_vec *shapes) {
    shapes->count = 0;
    as_vec_init(&d->waiting, sizeof(waiting), as_ds_budget(f->ds));
    bool fine = (request->is_inverted ? draw_inverted : draw_down)(f, request, d, shapes);
    as_vec_free(&d->waiting);
    return fine;
}

static bool draw_wide(const as_flame_frames *f, const as_flame_asked *request, double narrowest, as_vec *shapes) {
    return draw(f, request, &(drawing){.narrowest = narrowest, .deepest = UINT32_MAX}, shapes);
}

/* How many levels there is room for, with what is taken together below the last of them. */
static bool count_levels(const as_flame_frames *f, const as_flame_asked *request, double narrowest, as_vec *shapes,
                         uint32_t *n) {
    drawing d = {.narrowest = narrowest, .deepest = UINT32_MAX, .is_by_level = true};
    if (!draw(f, request, &d, shapes)) return false;
    *n = d.depth > 2 ? d.depth - 2 : 0; /* the level it ends in is not whole, the one above it has room for the rests */
    return true;
}

static bool fills(const as_vec *shapes, uint32_t most) { return shapes->count <= most && shapes->count > most / 2; }

/* Where there are too many, the width that leaves about as many as there is room for is looked for between one that
 * leaves too many and one that does not. Where there is none, as many are equally wide (one chain of calls), the first
 * levels are shown. */
bool as_flame_frames_draw(const as_flame_frames *f, const as_flame_asked *request, as_vec *shapes, uint32_t *n_levels) {
    enum { TRIES = 6 };
    double low = request->narrowest, high;
    *n_levels = 0;
    if (!draw_wide(f, request, low, shapes)) return false;
    if (shapes->count <= request->most) return true;
    double least = AS_AT(as_flame_shape, shapes, 0).total * 1e-9; /* of the root */
    if (!(low > least)) low = least;
    for (high = 16 * low;; high *= 16) {
        if (!draw_wide(f, request, high, shapes)) return false;
        if (shapes->count <= request->most) break;
        low = high;
    }
    for (int i = 0; i < TRIES && !fills(shapes, request->most); i++) {
        double middle = sqrt(low) * sqrt(high);
        if (!draw_wide(f, request, middle, shapes)) return false;
        if (shapes->count <= request->most)
            high = middle;
        else
            low = middle;
    }
    if (fills(shapes, request->most)) return true;
    if (!count_levels(f, request, low, shapes, n_levels)) return false;
    return *n_levels ? draw(f, request, &(drawing){.narrowest = low, .deepest = *n_levels}, shapes)
                     : draw_wide(f, request, high, shapes);
}
