/* Two inputs as one flame graph (api/compare_flame): each stack as wide as the larger of its two amounts, so that
 * nothing is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/flame_frames.h"
#include "core/large_pages.h"
#include "core/needle.h"
#include "core/parallel.h"
#include "dataset/pieces.h"
#include "server/change_noise.h"

enum { MOST_SHAPES = 8000, USUAL_WIDTH = 1600, WIDEST = 20000 };

/* Frames, the table that has their names, and what frames have of their own on each side: with these, values of items
 * are not needed any more. */
typedef struct kept_frames {
    as_flame_frames *frames;
    as_change_table *table;
    uint8_t *rules;          /* of each item, for all metrics: what rules_of() says */
    uint8_t *ways;           /* of each item: its as_frame_way */
    double *own[2];          /* of each frame */
    as_change_values values; /* without numbers */
    double scale;
} kept_frames;

/* An item of a shape that is one frame. */
typedef struct member {
    uint32_t shape, item;
} member;

/* What is found of a picture at once. */
typedef enum picture_part { BASE_TOTALS, TARGET_TOTALS, MEMBERS, N_PARTS } picture_part;

typedef struct flame {
    as_asked_changes asked;
    const kept_frames *kept;
    const as_flame_frames *frames;
    as_flame_asked request;
    bool *wanted;              /* names that are looked for; or NULL */
    as_vec shapes;             /* as_flame_shape */
    uint32_t n_levels;         /* of these; 0: nothing is cut */
    double *own[2], *total[2]; /* of each shape on each side */
    double whole[2];
    uint32_t *order; /* shapes that are one frame, as their frames lie */
    size_t n_ordered;
    as_vec members; /* member: the items of these, as they lie */
    bool is_done[N_PARTS];
    double *left[2]; /* of each shape what it has below it that is no shape of its own */
    as_change_spreads spreads;
    double (*quartiles)[2]; /* of each shape that of the changes of its locations; NULL: there are none */
} flame;

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void release(void *object) {
    kept_frames *kept = object;
    if (!kept) return;
    as_flame_frames_free(kept->frames);
    as_change_table_free(kept->table);
    free(kept->rules);
    free(kept->ways);
    for (size_t side = 0; side < 2; side++) free(kept->own[side]);
    free(kept);
}

static uint32_t items_of(const kept_frames *kept) { return as_view_items(&kept->table->view); }

static size_t bytes_of(const kept_frames *kept) {
    size_t n_frames = as_flame_frames_count(kept->frames);
    return as_flame_frames_bytes(kept->frames) + 2 * n_frames * sizeof(double) + 2 * (size_t)items_of(kept);
}

/* As `flame --diff` does: what only calls, on both sides, is one with whom it calls, and the root of all is no frame
 * above the others. */
enum { ITEM_JOINS = 1, ITEM_IS_ROOT = 2, IDLE_IN_BASE = 4, IDLE_IN_TARGET = 8 /* joins where it has nothing there */ };

static uint8_t rules_of(const as_asked_changes *asked, uint8_t *const joinings[2], uint32_t i) {
    const as_change_table *table = asked->table;
    uint8_t rules = table->has_roles ? ITEM_JOINS : 0;
    for (size_t side = 0; side < 2; side++) {
        assay_id own = as_change_context(table, side, i);
        if (own == ASSAY_NONE) continue;
        if (joinings[side][own] == AS_JOINS_NEVER) rules &= (uint8_t)~ITEM_JOINS;
        if (joinings[side][own] == AS_JOINS_WHERE_IDLE) rules |= side == AS_BASE ? IDLE_IN_BASE : IDLE_IN_TARGET;
        if (as_view_item_at(&table->view, i)->parent == AS_NO_ITEM && as_context_is_root(asked->sides[side], own))
            rules |= ITEM_IS_ROOT;
    }
    return rules;
}

static bool find_rules(const as_asked_changes *asked, kept_frames *kept) {
    uint8_t *joinings[2];
    for (size_t side = 0; side < 2; side++) joinings[side] = as_find_joinings(asked->sides[side]);
    kept->rules = as_large_array(items_of(kept), sizeof *kept->rules);
    bool fine = kept->rules && joinings[AS_BASE] && joinings[AS_TARGET];
    for (uint32_t i = 0; fine && i < items_of(kept); i++) kept->rules[i] = rules_of(asked, joinings, i);
    for (size_t side = 0; side < 2; side++) free(joinings[side]);
    return fine;
}

/* Frames in the making. */
typedef struct framing {
    kept_frames *kept;
    double *own[2]; /* what each item did itself on both sides */
    double *most;   /* the larger of both, but at least 0 */
    uint8_t *ways;
    bool has_widths; /* the frames are as wide as they have to be */
} framing;

enum { ITEMS_AT_ONCE = 1 << 14 };

static as_frame_way way_of(const framing *f, uint32_t i) {
    uint8_t rules = f->kept->rules[i];
    if (rules & ITEM_IS_ROOT) return f->most[i] == 0 ? AS_FRAME_NONE : AS_FRAME_ALONE;
    bool is_busy =
        (rules & IDLE_IN_BASE && f->own[AS_BASE][i] != 0) || (rules & IDLE_IN_TARGET && f->own[AS_TARGET][i] != 0);
    return rules & ITEM_JOINS && !is_busy ? AS_FRAME_JOINED : AS_FRAME_USUAL;
}

static void find_ways(void *user, size_t piece) {
    const framing *f = user;
    uint32_t n = items_of(f->kept), first = (uint32_t)piece * ITEMS_AT_ONCE;
    for (uint32_t i = first; i < n && i - first < ITEMS_AT_ONCE; i++) {
        f->most[i] = fmax(0, fmax(f->kept->scale * f->own[AS_BASE][i], f->own[AS_TARGET][i]));
        f->ways[i] = (uint8_t)way_of(f, i);
    }
}

/* What the frames have on a side; that of items is not needed any more. */
static void sum_items(framing *f, size_t side) {
    const as_flame_frames *frames = f->kept->frames;
    double *of_frames = f->kept->own[side] = as_large_zeros(as_flame_frames_count(frames), sizeof *of_frames);
    for (uint32_t i = 0; of_frames && i < items_of(f->kept); i++) {
        uint32_t frame = frames->of_context[i];
        bool is_apart = as_view_item_at(&f->kept->table->view, i)->flags & AS_ITEM_APART;
        if (frame != AS_NO_FRAME && !is_apart && isfinite(f->own[side][i])) of_frames[frame] += f->own[side][i];
    }
    free(f->own[side]);
    f->own[side] = NULL;
}

enum { BASE_SUMS, TARGET_SUMS, WIDTHS };

static void fill_part(void *user, size_t part) {
    framing *f = user;
    if (part == WIDTHS) {
        f->has_widths = as_flame_frames_fill(f->kept->frames, &f->kept->table->view, f->most);
        f->most = NULL;
    } else {
        sum_items(f, part == BASE_SUMS ? AS_BASE : AS_TARGET);
    }
}

static assay_status make_frames(framing *f, assay_error *error) {
    kept_frames *kept = f->kept;
    as_flame_frames_free(kept->frames);
    kept->frames = NULL;
    AS_TRY(as_flame_frames_of(&kept->table->view, f->ways, &kept->frames, error));
    free(kept->ways);
    kept->ways = f->ways;
    f->ways = NULL;
    return ASSAY_OK;
}

/* Each as wide as the larger of its two amounts. Frames that are there stay what they are where the same items are
 * frames. */
static assay_status frame_items(framing *f, assay_error *error) {
    kept_frames *kept = f->kept;
    uint32_t n = items_of(kept);
    f->most = as_large_array(n, sizeof *f->most);
    f->ways = as_large_array(n, sizeof *f->ways);
    if (!f->most || !f->ways) return as_fail_memory(error, NULL);
    as_parallel((n + (size_t)ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, 0, find_ways, f);
    if (!kept->ways || memcmp(kept->ways, f->ways, n) != 0) AS_TRY(make_frames(f, error));
    as_parallel(WIDTHS + 1, 0, fill_part, f);
    bool fine = kept->own[AS_BASE] && kept->own[AS_TARGET] && f->has_widths;
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Of the values only what is no array. */
static as_change_values without_numbers(const as_change_values *values) {
    as_change_values out = *values;
    out.by_context = out.lacks_own = false;
    for (size_t side = 0; side < 2; side++) {
        out.n[side] = 0;
        out.inclusive[side] = out.exclusive[side] = NULL;
        out.stored[side] = out.own[side] = (as_stored_sums){0};
    }
    return out;
}

/* The values go as soon as they are not needed: all of it at once would be too much. */
static assay_status fill_frames(as_viewing *viewing, flame *f, kept_frames *kept, assay_error *error) {
    const as_view_source sources[2] = {as_diff_view_source(&f->asked.diff, AS_BASE),
                                       as_diff_view_source(&f->asked.diff, AS_TARGET)};
    framing making = {.kept = kept};
    assay_status status = kept->rules || find_rules(&f->asked, kept) ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_change_own(kept->table, f->asked.values, sources, making.own, error);
    kept->values = without_numbers(f->asked.values);
    as_asked_changes_forget_values(viewing, &f->asked);
    as_give_back_memory();
    if (status == ASSAY_OK) status = frame_items(&making, error);
    free(making.most);
    free(making.ways);
    for (size_t side = 0; side < 2; side++) free(making.own[side]);
    return status;
}

/* Others of the same two trees have keys that begin alike. */
static char *frames_beginning(const as_asked_changes *asked) {
    char *beginning = NULL;
    int size = asprintf(&beginning, "frames compared %lld %lld %d ", (long long)asked->numbers[AS_BASE],
                        (long long)asked->numbers[AS_TARGET], (int)asked->matching);
    return size < 0 ? NULL : beginning;
}

static char *frames_key(const as_asked_changes *asked, bool normalized) {
    char *beginning = frames_beginning(asked), *key = NULL;
    int size = beginning ? asprintf(&key, "%s%s%s", beginning, asked->key, normalized ? " normalized" : "") : -1;
    free(beginning);
    return size < 0 ? NULL : key;
}

/* The frames of another metric of the same sides, where there are any; what they have goes at once. */
static kept_frames *take_others(as_viewing *viewing, const as_asked_changes *asked) {
    char *beginning = frames_beginning(asked);
    kept_frames *kept = beginning ? as_viewing_take_like(viewing, beginning, NULL, NULL) : NULL;
    for (size_t side = 0; kept && side < 2; side++) {
        free(kept->own[side]);
        kept->own[side] = NULL;
    }
    free(beginning);
    if (!kept) return NULL;
    as_viewing_expect(viewing, bytes_of(kept));
    as_flame_frames_forget(kept->frames);
    return kept;
}

/* *kept: those of another metric, or NULL; the caller's in every case. */
static assay_status find_amounts(as_viewing *viewing, const as_request *request, flame *f, kept_frames **kept,
                                 assay_error *error) {
    if (*kept) f->asked.table = (*kept)->table;
    AS_TRY(as_asked_changes_find(viewing, &f->asked, error));
    AS_TRY(as_asked_changes_need_metric(&f->asked, error));
    if (!f->asked.values->adds_up)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "the values of this metric do not add up; choose another one");
    if (!*kept) {
        as_viewing_expect(viewing, as_view_items(&f->asked.table->view) * (sizeof(as_flame_box) + 4 * sizeof(double)));
        if (!(*kept = calloc(1, sizeof **kept))) return as_fail_memory(error, NULL);
        (*kept)->table = as_change_table_share(f->asked.table);
    }
    (*kept)->scale = as_asked_scale(&f->asked, request);
    return fill_frames(viewing, f, *kept, error);
}

static assay_status keep_frames(as_viewing *viewing, const as_request *request, flame *f, const char *key,
                                assay_error *error) {
    kept_frames *kept = take_others(viewing, &f->asked);
    assay_status status = find_amounts(viewing, request, f, &kept, error);
    if (status != ASSAY_OK) {
        release(kept);
        return status;
    }
    f->kept = kept;
    bool is_kept = as_viewing_keep(viewing, key, kept, bytes_of(kept), release);
    as_give_back_memory();
    return is_kept ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status find_frames(as_viewing *viewing, const as_request *request, flame *f, assay_error *error) {
    char *key = frames_key(&f->asked, as_request_flag(request, "normalize"));
    if (!key) return as_fail_memory(error, NULL);
    f->kept = as_viewing_find(viewing, key);
    assay_status status = f->kept ? ASSAY_OK : keep_frames(viewing, request, f, key, error);
    free(key);
    if (status != ASSAY_OK) return status;
    f->frames = f->kept->frames;
    f->asked.table = f->kept->table;
    f->asked.values = &f->kept->values;
    as_asked_changes_touch(viewing, &f->asked);
    return ASSAY_OK;
}

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static assay_status find_names(const as_request *request, flame *f, assay_error *error) {
    const char *match = as_request_text(request, "match");
    const as_dataset *names = f->asked.table->names;
    as_needle needle;
    if (!match) return ASSAY_OK;
    assay_status status = as_needle_init(&needle, match, error);
    size_t n = names->strings.entries.count;
    if (status == ASSAY_OK && !(f->wanted = calloc(n + 1, sizeof *f->wanted))) status = as_fail_memory(error, NULL);
    for (as_str name = 0; status == ASSAY_OK && name < n; name++) {
        const char *text = as_ds_text(names, name);
        f->wanted[name] = text && as_needle_matches(&needle, text);
    }
    as_needle_free(&needle);
    f->request.names = f->wanted;
    return status;
}

static assay_status choose(as_viewing *viewing, const as_request *request, flame *f, assay_error *error) {
    int64_t width, root;
    AS_TRY(as_asked_changes_choose(viewing, request, false, &f->asked, error));
    AS_TRY(find_frames(viewing, request, f, error));
    AS_TRY(as_request_number(request, "width", 1, WIDEST, USUAL_WIDTH, &width, error));
    AS_TRY(as_request_number(request, "root", 0, (int64_t)as_view_items(&f->asked.table->view) - 1, -1, &root, error));
    f->request = (as_flame_asked){.root = AS_NO_FRAME, .by_size = true, .most = MOST_SHAPES};
    if (root >= 0) f->request.root = f->frames->of_context[root];
    if (root >= 0 && f->request.root == AS_NO_FRAME)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is no frame %lld here", (long long)root);
    double total = f->frames->all;
    if (f->request.root != AS_NO_FRAME) total = f->frames->total[f->request.root];
    f->request.narrowest = 0.5 * total / (double)width;
    return find_names(request, f, error);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static const as_flame_shape *shape_at(const flame *f, size_t i) { return &AS_AT(as_flame_shape, &f->shapes, i); }

/* On a side; what too narrow frames have together is what the others leave of their parent. */
static double total_of(const flame *f, size_t side, size_t i) {
    const as_flame_shape *shape = shape_at(f, i);
    if (shape->rest) return f->left[side][shape->parent];
    return shape->frame == AS_NO_FRAME ? f->whole[side] : f->total[side][i];
}
static double own_of(const flame *f, size_t side, size_t i) { return f->own[side][i]; }

/* ---- what the picture shows of both sides ------------------------------------------------------------------------ */

static int compare_frames(const void *x, const void *y) {
    const as_flame_shape *a = *(as_flame_shape *const *)x, *b = *(as_flame_shape *const *)y;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static bool order_shapes(flame *f) {
    const as_flame_shape **sorted = malloc((f->shapes.count + 1) * sizeof *sorted);
    f->order = malloc((f->shapes.count + 1) * sizeof *f->order);
    bool fine = sorted && f->order;
    for (size_t i = 0; fine && i < f->shapes.count; i++) {
        const as_flame_shape *shape = shape_at(f, i);
        if (!shape->rest && shape->frame != AS_NO_FRAME) sorted[f->n_ordered++] = shape;
    }
    if (fine && f->n_ordered) qsort(sorted, f->n_ordered, sizeof *sorted, compare_frames);
    for (size_t i = 0; fine && i < f->n_ordered; i++) f->order[i] = (uint32_t)(sorted[i] - shape_at(f, 0));
    free(sorted);
    return fine;
}

/* Frames one after the other: each counts in the innermost shape it is in, and that with all it has in the one around
 * it. */
typedef struct summing {
    const flame *f;
    const double *own;
    double *total, *whole; /* total: of each shape */
    uint32_t at;           /* the next frame */
    uint32_t *open;        /* shapes it is in, the innermost last */
    size_t n_open;
} summing;

static double *innermost(const summing *s) { return s->n_open ? &s->total[s->open[s->n_open - 1]] : s->whole; }

static void sum_until(summing *s, uint32_t end) {
    while (s->at < end || s->n_open) {
        const as_flame_shape *shape = s->n_open ? shape_at(s->f, s->open[s->n_open - 1]) : NULL;
        uint32_t shape_end = shape ? as_flame_box_at(s->f->frames, shape->frame)->end : end, to = end;
        if (shape_end < end) to = shape_end;
        double sum = 0;
        for (; s->at < to; s->at++) sum += s->own[s->at];
        *innermost(s) += sum;
        if (!shape || shape_end > end) return;
        double all = s->total[s->open[--s->n_open]];
        *innermost(s) += all;
    }
}

static bool sum_side(flame *f, size_t side) {
    f->own[side] = calloc(f->shapes.count + 1, sizeof(double));
    f->total[side] = calloc(f->shapes.count + 1, sizeof(double));
    summing s = {.f = f, .own = f->kept->own[side], .total = f->total[side], .whole = &f->whole[side]};
    s.open = malloc((f->n_ordered + 1) * sizeof *s.open);
    bool fine = f->own[side] && f->total[side] && s.open;
    for (size_t i = 0; fine && i < f->n_ordered; i++) {
        uint32_t frame = shape_at(f, f->order[i])->frame;
        sum_until(&s, frame);
        f->own[side][f->order[i]] = s.own[frame];
        s.open[s.n_open++] = f->order[i];
    }
    if (fine) sum_until(&s, as_flame_frames_count(f->frames));
    free(s.open);
    return fine;
}

/* The items of all shapes: of those of one name below one frame several. */
static bool list_members(flame *f) {
    uint32_t n = as_flame_frames_count(f->frames), *shape_of = as_large_array(n, sizeof *shape_of);
    bool fine = shape_of != NULL;
    for (uint32_t i = 0; fine && i < n; i++) shape_of[i] = AS_NO_FRAME;
    for (size_t i = 0; fine && i < f->n_ordered; i++) shape_of[shape_at(f, f->order[i])->frame] = f->order[i];
    for (uint32_t i = 0; fine && i < as_view_items(&f->asked.table->view); i++) {
        uint32_t frame = f->frames->of_context[i];
        if (frame == AS_NO_FRAME || shape_of[frame] == AS_NO_FRAME) continue;
        uint32_t parent = as_view_item_at(&f->asked.table->view, i)->parent;
        if (parent != AS_NO_ITEM && f->frames->of_context[parent] == frame) continue; /* is in that one already */
        fine = as_vec_append(&f->members, &(member){shape_of[frame], i}, 1);
    }
    free(shape_of);
    return fine;
}

static void find_part(void *user, size_t part) {
    flame *f = user;
    f->is_done[part] = part == MEMBERS ? list_members(f) : sum_side(f, part == BASE_TOTALS ? AS_BASE : AS_TARGET);
}

static bool find_parts(flame *f) {
    if (!order_shapes(f)) return false;
    as_parallel(N_PARTS, 0, find_part, f);
    return f->is_done[BASE_TOTALS] && f->is_done[TARGET_TOTALS] && f->is_done[MEMBERS];
}

static bool find_left(flame *f) {
    for (size_t side = 0; side < 2; side++) {
        double *left = f->left[side] = malloc((f->shapes.count + 1) * sizeof *left);
        if (!left) return false;
        for (size_t i = 0; i < f->shapes.count; i++) {
            const as_flame_shape *shape = shape_at(f, i);
            if (shape->rest) continue;
            left[i] = total_of(f, side, i) - own_of(f, side, i);
            if (shape->parent != AS_NO_FRAME) left[shape->parent] -= total_of(f, side, i);
        }
    }
    return true;
}

/* The widest first: they come first, and are known where not all can be. */
static assay_status find_spreads(flame *f, assay_error *error) {
    if (!as_change_spreads_locations(&f->spreads)) return ASSAY_OK;
    size_t n = f->shapes.count, n_members = f->members.count;
    uint32_t *starts = calloc(n + 2, sizeof *starts), *items = malloc((n_members + 1) * sizeof *items);
    const member *members = f->members.data;
    f->quartiles = malloc((n + 1) * sizeof *f->quartiles);
    assay_status status = starts && items && f->quartiles ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) { /* the items of a shape stay as they lie */
        for (size_t i = 0; i < n_members; i++) starts[members[i].shape + 2]++;
        for (size_t i = 2; i < n + 2; i++) starts[i] += starts[i - 1];
        for (size_t i = 0; i < n_members; i++) items[starts[members[i].shape + 1]++] = members[i].item;
        status = as_change_spreads_of(&f->spreads, items, starts, n, false, f->quartiles, error);
    }
    free(starts);
    free(items);
    return status;
}

typedef enum column {
    NODE,
    PARENT,
    NAME,
    VALUE,
    OWN,
    A,
    B,
    A_OWN,
    B_OWN,
    IN,
    A_CONTEXT,
    B_CONTEXT,
    REST,
    FOUND,
    QUARTER,
    THREE_QUARTERS,
    N_COLUMNS
} column;

static void build_item(as_builder *b, const flame *f, uint32_t item, column k) {
    uint8_t flags = as_view_item_at(&f->asked.table->view, item)->flags;
    assay_id own = as_change_context(f->asked.table, k == B_CONTEXT, item);
    if (k == IN)
        as_build_int(b, NULL, (flags & AS_ITEM_IN_BASE ? 1 : 0) + (flags & AS_ITEM_IN_TARGET ? 2 : 0));
    else
        as_build_known(b, NULL, own == ASSAY_NONE ? -1 : (int64_t)own, false);
}

static void build_cell(as_builder *b, const flame *f, size_t i, column k) {
    const as_flame_shape *shape = shape_at(f, i);
    const as_flame_box *box = shape->frame == AS_NO_FRAME ? NULL : as_flame_box_at(f->frames, shape->frame);
    switch (k) {
    case NODE: as_build_known(b, NULL, box ? (int64_t)box->context : -1, false); break;
    case PARENT: as_build_int(b, NULL, shape->parent == AS_NO_FRAME ? -1 : (int64_t)shape->parent); break;
    case NAME: as_build_text(b, NULL, box ? as_ds_text(f->frames->ds, box->name) : NULL); break;
    case VALUE: as_build_real(b, NULL, shape->total); break;
    case OWN: as_build_real(b, NULL, shape->own); break;
    case A: as_build_real(b, NULL, total_of(f, AS_BASE, i)); break;
    case B: as_build_real(b, NULL, total_of(f, AS_TARGET, i)); break;
    case A_OWN: as_build_real(b, NULL, own_of(f, AS_BASE, i)); break;
    case B_OWN: as_build_real(b, NULL, own_of(f, AS_TARGET, i)); break;
    case IN:
    case A_CONTEXT:
    case B_CONTEXT:
        if (box)
            build_item(b, f, box->context, k);
        else
            as_build_text(b, NULL, NULL);
        break;
    case REST: as_build_int(b, NULL, shape->rest); break;
    case FOUND: as_build_int(b, NULL, shape->is_found); break;
    case QUARTER:
    case THREE_QUARTERS: as_build_number(b, NULL, f->quartiles[i][k - QUARTER]); break;
    case N_COLUMNS: break;
    }
}

/* What lies above the root, the innermost first. */
static void build_above(as_builder *b, const flame *f) {
    for (int names = 0; names < 2; names++) {
        as_build_array(b, names ? "above_names" : "above", false);
        uint32_t at = f->request.root;
        while (at != AS_NO_FRAME && (at = as_flame_box_at(f->frames, at)->parent) != AS_NO_FRAME) {
            const as_flame_box *box = as_flame_box_at(f->frames, at);
            if (names)
                as_build_text(b, NULL, as_ds_text(f->frames->ds, box->name));
            else
                as_build_int(b, NULL, box->context);
        }
        as_build_end(b);
    }
}

static void build(const flame *f, as_output *out) {
    static const char *const titles[N_COLUMNS] = {
        "node",  "parent", "name",      "value",     "own",  "a",     "b",       "a_own",
        "b_own", "in",     "a_context", "b_context", "rest", "found", "quarter", "three_quarters"};
    as_builder builder = as_builder_of(out), *b = &builder;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_changes_head(b, &f->asked, f->kept->scale);
    as_build_int(b, "locations", as_change_spreads_locations(&f->spreads));
    as_build_real(b, "total", f->frames->all);
    as_build_int(b, "n_frames", as_flame_frames_count(f->frames));
    if (f->n_levels) as_build_int(b, "n_levels", f->n_levels);
    build_above(b, f);
    as_build_object(b, "shapes", false);
    for (column k = 0; k < N_COLUMNS; k++) {
        if ((k == FOUND && !f->wanted) || (k >= QUARTER && !f->quartiles)) continue;
        as_build_array(b, titles[k], false);
        for (size_t i = 0; i < f->shapes.count; i++) build_cell(b, f, i, k);
        as_build_end(b);
    }
    as_build_end(b);
    as_build_end(b);
}

static assay_status answer_flame(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    flame f = {0};
    as_vec_init(&f.shapes, sizeof(as_flame_shape), NULL);
    as_vec_init(&f.members, sizeof(member), NULL);
    assay_status status = choose(viewing, request, &f, error);
    if (status == ASSAY_OK &&
        !(as_flame_frames_draw(f.frames, &f.request, &f.shapes, &f.n_levels) && find_parts(&f) && find_left(&f)))
        status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_change_spreads_open(viewing, &f.asked, f.kept->scale, &f.spreads, error);
    if (status == ASSAY_OK) status = find_spreads(&f, error);
    if (status == ASSAY_OK) build(&f, out);
    for (size_t side = 0; side < 2; side++) {
        free(f.own[side]);
        free(f.total[side]);
        free(f.left[side]);
    }
    free(f.order);
    free(f.wanted);
    free(f.quartiles);
    as_vec_free(&f.members);
    as_change_spreads_free(&f.spreads);
    as_vec_free(&f.shapes);
    as_asked_changes_free(&f.asked);
    return status;
}

const as_endpoint as_endpoint_compare_flame = {.path = "compare_flame", .answer = answer_flame};
