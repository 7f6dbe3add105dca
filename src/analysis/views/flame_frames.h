/* The frames of a flame graph: the call tree with equal names below one frame taken together, as `assay flame` folds
 * it. For whoever draws one part after the other, as the viewer does.
 *
 * Frames are in pre-order, siblings as in the source. What stands aside, and sections beside regions, are no part of
 * it: they are in the stacks of others already. Amounts below 0, and those that are no numbers, have no width: they
 * count as 0. A frame takes 32 bytes, and each context of the dataset 4. */
#ifndef AS_ANALYSIS_VIEWS_FLAME_FRAMES_H
#define AS_ANALYSIS_VIEWS_FLAME_FRAMES_H

#include "analysis/views/table.h"

#define AS_NO_FRAME UINT32_MAX

typedef struct as_flame_box {
    as_str name;
    uint32_t parent;  /* AS_NO_FRAME: it is of the first level */
    uint32_t end;     /* what follows it, up to this, lies below it */
    assay_id context; /* of several the first; of a table of names alone: its item */
} as_flame_box;

typedef struct as_flame_frames {
    const as_dataset *ds; /* must last */
    as_vec frames;        /* as_flame_box */
    double *own;          /* of each: of the stacks that end here; NULL: as_flame_frames_forget() */
    double *total;        /* with all below it */
    size_t n_contexts;    /* of the dataset; of a table of names alone: items */
    uint32_t *of_context; /* of each of these: the frame it is in, or AS_NO_FRAME */
    double all;           /* the total of all */
    uint64_t n_minus;     /* frames whose own amount counts as 0 */
    bool has_root;        /* the last frame is what the root of all has itself */
    uint64_t table;       /* the caller's: the number of the table it was made of */
} as_flame_frames;

/* It is no part of a flame graph, nor is what lies below it. */
static inline bool as_flame_leaves_out(const as_view_item *item) {
    return item->flags & (AS_ITEM_APART | AS_ITEM_ASIDE);
}

/* What an item has that those below it have not: exclusive values will not do where lines are nodes, for those of a
 * function have them, too. number: what one has with all below it, NAN nothing. */
typedef double (*as_item_number)(const void *user, uint32_t item);
static inline double as_flame_difference(const as_view_table *table, uint32_t i, as_item_number number,
                                         const void *user) {
    double all = number(user, i), below = 0;
    if (isnan(all)) all = 0;
    for (uint32_t at = i + 1, end = as_view_item_at(table, i)->end; at < end; at = as_view_item_at(table, at)->end) {
        double part = as_flame_leaves_out(as_view_item_at(table, at)) ? NAN : number(user, at);
        if (!isnan(part)) below += part;
    }
    double own = all - below;
    return fabs(own) <= 1e-12 * fabs(all) ? 0 /* rounding */ : own;
}
/* What each item has itself where nobody knows whether values have in them what is below: differences where it looks so
 * (as_looks_inclusive()), else the values. */
void as_flame_guess_own(const as_view_table *table, const double *values, double *own);

/* What becomes of an item: a frame; nothing of its own, so that it and what is below it are its parent's (but at the
 * first level, where it is a frame); a frame beside those of what is below it (the root of all), or none (where that
 * has nothing itself). */
typedef enum as_frame_way { AS_FRAME_USUAL, AS_FRAME_JOINED, AS_FRAME_ALONE, AS_FRAME_NONE } as_frame_way;

/* Of a top-down table made with joins_calls and without_root, and the values of a metric that adds up: all items are
 * frames; what the root of all has itself is one, too. as_flame_frames_free() in every case. */
assay_status as_flame_frames_new(const as_view_table *table, const as_view_values *values, as_flame_frames **out,
                                 assay_error *error);
/* What as_flame_frames_new() makes of the same table, but for the values of another metric: names and places of frames
 * stay what they are. When memory is out the frames may only be freed. */
assay_status as_flame_frames_renew(as_flame_frames *frames, const as_view_table *table, const as_view_values *values,
                                   assay_error *error);
/* Of any top-down table, without amounts. ways: as_frame_way of each item; NULL: all are usual ones. */
assay_status as_flame_frames_of(const as_view_table *table, const uint8_t *ways, as_flame_frames **out,
                                assay_error *error);
/* Gives such frames amounts, in place of those they may have. table: the same; own: what each item has itself, none of
 * them NAN, in an array of as_large_array(), which is the frames' from now on. False when memory is out. */
bool as_flame_frames_fill(as_flame_frames *frames, const as_view_table *table, double *own);
/* Lets the amounts go, for who will renew them: there is not always room for these and for what that takes. */
void as_flame_frames_forget(as_flame_frames *frames);
/* NULL is fine. */
void as_flame_frames_free(as_flame_frames *frames);
size_t as_flame_frames_bytes(const as_flame_frames *frames);

static inline uint32_t as_flame_frames_count(const as_flame_frames *frames) { return (uint32_t)frames->frames.count; }
static inline const as_flame_box *as_flame_box_at(const as_flame_frames *frames, uint32_t i) {
    return &AS_AT(as_flame_box, &frames->frames, i);
}

/* ---- a picture --------------------------------------------------------------------------------------------------- */

typedef struct as_flame_asked {
    bool is_inverted; /* the innermost frames first, below each who called it */
    uint32_t root;    /* frame: only it and what is below it; AS_NO_FRAME: all. Inverted: only stacks that end so … */
    uint32_t levels;  /* … with this frame and as many of its callers, by name */
    bool by_size;     /* siblings with the largest first; else as in the source */
    double narrowest; /* what has less is not shown one by one */
    uint32_t most;    /* shapes; more than so many, and the narrowest are left out as well */
    const bool *names; /* of each string of the dataset: whether it is looked for; NULL: nothing is */
} as_flame_asked;

/* One box of the picture. */
typedef struct as_flame_shape {
    uint32_t parent;        /* before it; AS_NO_FRAME: none */
    uint32_t frame;         /* whose name it has; AS_NO_FRAME: the whole, or a rest */
    uint32_t origin, level; /* inverted: a stack ends with `origin`, and goes through `frame` this many levels above */
    uint32_t rest; /* so many frames are taken together here, each too narrow or too deep; 0: it is one frame */
    double own, total;
    bool is_found; /* its name is looked for */
} as_flame_shape;

/* Puts into shapes (as_flame_shape) the root, or one for the whole, and what is below it, parents first. *n_levels:
 * only so many levels below the root are shown, as there is no room for more; 0: all are. False when memory is out. */
bool as_flame_frames_draw(const as_flame_frames *frames, const as_flame_asked *request, as_vec *shapes,
                          uint32_t *n_levels);

/* What stacks have that go through a name that is looked for, each counted once; *n: how many frames there are of these
 * names. */
double as_flame_frames_found(const as_flame_frames *frames, const bool *names, uint32_t *n);

#endif
