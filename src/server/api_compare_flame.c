/* Two inputs as one flame graph (api/compare_flame): each stack as wide as the larger of its two amounts, so that nothing is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/flame_frames.h"
#include "core/large_pages.h"
#include "core/needle.h"
#include "dataset/pieces.h"
#include "server/change_noise.h"

enum { MOST_SHAPES = 8000, USUAL_WIDTH = 1600, WIDEST = 20000 };

/* Frames, the table that has their names, and what frames have of their own on each side: with these, values of items are not needed any more. */
typedef struct kept_frames {
    as_flame_frames *frames;
    as_change_table *table;
    double *own[2];          /* of each frame */
    as_change_values values; /* without numbers */
    double scale;
} kept_frames;

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
    double *left[2]; /* of each shape what it has below it that is no shape of its own */
    as_change_spreads spreads;
    double (*quartiles)[2]; /* of each shape that of the changes of its locations; NULL: there are none */
} flame;

/* ---- frames ---------------------------------------------------------------------------------------------------------- */

static void release(void *object) {
    kept_frames *kept = object;
    if (!kept) return;
    as_flame_frames_free(kept->frames);
    as_change_table_free(kept->table);
    for (size_t side = 0; side < 2; side++) free(kept->own[side]);
    free(kept);
}

/* What each item did itself on both sides; as_frame_way. */
typedef struct widths {
    double *own[2];
    uint8_t *ways;
} widths;

static void free_widths(widths *w) {
    for (size_t side = 0; side < 2; side++) free(w->own[side]);
    free(w->ways);
}

/* As `flame --diff` does: what only calls, on both sides, is one with whom it calls, and the root of all is no frame above the others. */
static bool find_ways(const flame *f, widths *w) {
    const as_change_table *table = f->asked.table;
    uint32_t n = as_view_items(&f->asked.table->view);
    uint8_t *joinings[2] = {0};
    bool fine = true;
    w->ways = as_large_zeros(n, sizeof *w->ways);
    for (size_t side = 0; side < 2; side++)
        fine = (joinings[side] = as_find_joinings(f->asked.sides[side])) != NULL && fine;
    for (uint32_t i = 0; fine && w->ways && i < n; i++) {
        bool is_joined = table->has_roles, is_root = false;
        for (size_t side = 0; side < 2; side++) {
            assay_id own = as_change_context(table, side, i);
            if (own == ASSAY_NONE) continue;
            uint8_t joining = joinings[side][own];
            is_joined &= joining == AS_JOINS_ALWAYS || (joining == AS_JOINS_WHERE_IDLE && w->own[side][i] == 0);
            is_root |=
                as_view_item_at(&table->view, i)->parent == AS_NO_ITEM && as_context_is_root(f->asked.sides[side], own);
        }
        w->ways[i] = is_root ? AS_FRAME_ALONE : is_joined ? AS_FRAME_JOINED : AS_FRAME_USUAL;
    }
    for (size_t side = 0; side < 2; side++) free(joinings[side]);
    return fine && w->ways;
}

static assay_status find_widths(const flame *f, widths *w, assay_error *error) {
    const as_view_source sources[2] = {as_diff_view_source(&f->asked.diff, AS_BASE),
                                       as_diff_view_source(&f->asked.diff, AS_TARGET)};
    for (size_t side = 0; side < 2; side++)
        AS_TRY(as_change_own(f->asked.table, f->asked.values, sources, side, &w->own[side], error));
    return find_ways(f, w) ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Each as wide as the larger of its two amounts. */
static assay_status frame_items(const as_change_table *table, const widths *w, kept_frames *kept, assay_error *error) {
    uint32_t n = as_view_items(&table->view);
    double *most = as_large_array(n, sizeof *most);
    if (!most) return as_fail_memory(error, NULL);
    for (uint32_t i = 0; i < n; i++) most[i] = fmax(0, fmax(kept->scale * w->own[AS_BASE][i], w->own[AS_TARGET][i]));
    assay_status status = as_flame_frames_of(&table->view, most, w->ways, &kept->frames, error);
    free(most);
    return status;
}

/* What the frames have on a side. */
static bool sum_items(const as_change_table *table, const double *own, size_t side, kept_frames *kept) {
    double *of_frames = kept->own[side] = as_large_zeros(as_flame_frames_count(kept->frames), sizeof *of_frames);
    for (uint32_t i = 0; of_frames && i < as_view_items(&table->view); i++) {
        uint32_t frame = kept->frames->of_context[i];
        bool is_apart = as_view_item_at(&table->view, i)->flags & AS_ITEM_APART;
        if (frame != AS_NO_FRAME && !is_apart && isfinite(own[i])) of_frames[frame] += own[i];
    }
    return of_frames != NULL;
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

/* The values go as soon as they are not needed, and what is known of a side when the frames have it: all of it at once would be too much. */
static assay_status fill_frames(as_viewing *viewing, flame *f, kept_frames *kept, assay_error *error) {
    widths w = {0};
    assay_status status = find_widths(f, &w, error);
    kept->values = without_numbers(f->asked.values);
    kept->table = as_change_table_share(f->asked.table);
    as_asked_changes_forget_values(viewing, &f->asked);
    as_give_back_memory();
    if (status == ASSAY_OK) status = frame_items(kept->table, &w, kept, error);
    for (size_t side = 0; side < 2 && status == ASSAY_OK; side++) {
        if (!sum_items(kept->table, w.own[side], side, kept)) status = as_fail_memory(error, NULL);
        free(w.own[side]);
        w.own[side] = NULL;
    }
    free_widths(&w);
    return status;
}

static assay_status make_frames(as_viewing *viewing, const as_request *request, flame *f, const char *key,
                                assay_error *error) {
    AS_TRY(as_asked_changes_find(viewing, &f->asked, error));
    AS_TRY(as_asked_changes_need_metric(&f->asked, error));
    if (!f->asked.values->adds_up)
        return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                       "the values of this metric do not add up; choose another one");
    kept_frames *kept = calloc(1, sizeof *kept);
    if (!kept) return as_fail_memory(error, NULL);
    kept->scale = as_asked_scale(&f->asked, request);
    as_viewing_expect(viewing, as_view_items(&f->asked.table->view) * (sizeof(as_flame_box) + 2 * sizeof(double)));
    assay_status status = fill_frames(viewing, f, kept, error);
    if (status != ASSAY_OK) {
        release(kept);
        return status;
    }
    size_t bytes = as_flame_frames_bytes(kept->frames) + 2 * as_flame_frames_count(kept->frames) * sizeof(double);
    f->kept = kept;
    bool is_kept = as_viewing_keep(viewing, key, kept, bytes, release);
    as_give_back_memory();
    return is_kept ? ASSAY_OK : as_fail_memory(error, NULL);
}

static assay_status find_frames(as_viewing *viewing, const as_request *request, flame *f, assay_error *error) {
    char *key = NULL;
    if (asprintf(&key, "frames compared %s%s", f->asked.key,
                 as_request_flag(request, "normalize") ? " normalized" : "") < 0)
        return as_fail_memory(error, NULL);
    f->kept = as_viewing_find(viewing, key);
    assay_status status = f->kept ? ASSAY_OK : make_frames(viewing, request, f, key, error);
    free(key);
    if (status != ASSAY_OK) return status;
    f->frames = f->kept->frames;
    f->asked.table = f->kept->table;
    f->asked.values = &f->kept->values;
    as_asked_changes_touch(viewing, &f->asked);
    return ASSAY_OK;
}

/* What the shapes have on a side. */
static bool sum_side(flame *f, size_t side) {
    uint32_t n = as_flame_frames_count(f->frames);
    const double *own = f->kept->own[side];
    double *total = as_large_zeros(n, sizeof *total);
    f->own[side] = calloc(f->shapes.count + 1, sizeof(double));
    f->total[side] = calloc(f->shapes.count + 1, sizeof(double));
    bool fine = total && f->own[side] && f->total[side];
    for (uint32_t i = n; fine && i-- > 0;) {
        uint32_t parent = as_flame_box_at(f->frames, i)->parent;
        total[i] += own[i];
        *(parent == AS_NO_FRAME ? &f->whole[side] : &total[parent]) += total[i];
    }
    for (size_t i = 0; fine && i < f->shapes.count; i++) {
        uint32_t frame = AS_AT(as_flame_shape, &f->shapes, i).frame;
        if (frame == AS_NO_FRAME) continue;
        f->own[side][i] = own[frame];
        f->total[side][i] = total[frame];
    }
    free(total);
    return fine;
}

/* ---- what is asked --------------------------------------------------------------------------------------------------- */

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
    double total = f->frames->total;
    if (f->request.root != AS_NO_FRAME) total = as_flame_box_at(f->frames, f->request.root)->total;
    f->request.narrowest = 0.5 * total / (double)width;
    return find_names(request, f, error);
}

/* ---- the answer ------------------------------------------------------------------------------------------------------ */

static const as_flame_shape *shape_at(const flame *f, size_t i) { return &AS_AT(as_flame_shape, &f->shapes, i); }

/* On a side; what too narrow frames have together is what the others leave of their parent. */
static double total_of(const flame *f, size_t side, size_t i) {
    const as_flame_shape *shape = shape_at(f, i);
    if (shape->rest) return f->left[side][shape->parent];
    return shape->frame == AS_NO_FRAME ? f->whole[side] : f->total[side][i];
}
static double own_of(const flame *f, size_t side, size_t i) { return f->own[side][i]; }

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

/* An item of a shape that is one frame. */
typedef struct member {
    uint32_t shape, item;
} member;

static int compare_members(const void *x, const void *y) {
    const member *a = x, *b = y;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* The items of all shapes: of those of one name below one frame several. */
static bool list_members(const flame *f, as_vec *out) {
    uint32_t n = as_flame_frames_count(f->frames), *shape_of = as_large_array(n, sizeof *shape_of);
    bool fine = shape_of != NULL;
    for (uint32_t i = 0; fine && i < n; i++) shape_of[i] = AS_NO_FRAME;
    for (size_t i = 0; fine && i < f->shapes.count; i++) {
        const as_flame_shape *shape = shape_at(f, i);
        if (!shape->rest && shape->frame != AS_NO_FRAME) shape_of[shape->frame] = (uint32_t)i;
    }
    for (uint32_t i = 0; fine && i < as_view_items(&f->asked.table->view); i++) {
        uint32_t frame = f->frames->of_context[i];
        uint32_t parent = as_view_item_at(&f->asked.table->view, i)->parent;
        if (frame == AS_NO_FRAME || shape_of[frame] == AS_NO_FRAME) continue;
        if (parent != AS_NO_ITEM && f->frames->of_context[parent] == frame) continue; /* is in that one already */
        fine = as_vec_append(out, &(member){shape_of[frame], i}, 1);
    }
    free(shape_of);
    if (fine && out->count) qsort(out->data, out->count, sizeof(member), compare_members);
    return fine;
}

/* The widest first: they come first, and are known where not all can be. */
static assay_status find_spreads(flame *f, assay_error *error) {
    as_vec members, items;
    if (!as_change_spreads_locations(&f->spreads)) return ASSAY_OK;
    as_vec_init(&members, sizeof(member), NULL);
    as_vec_init(&items, sizeof(uint32_t), NULL);
    f->quartiles = malloc((f->shapes.count + 1) * sizeof *f->quartiles);
    bool fine = f->quartiles && list_members(f, &members);
    assay_status status = ASSAY_OK;
    for (size_t i = 0, at = 0; fine && status == ASSAY_OK && i < f->shapes.count; i++) {
        items.count = 0;
        for (; fine && at < members.count && AS_AT(member, &members, at).shape == i; at++)
            fine = as_vec_append(&items, &AS_AT(member, &members, at).item, 1);
        f->quartiles[i][0] = f->quartiles[i][1] = NAN;
        if (fine && items.count)
            status = as_change_spread_of(&f->spreads, items.data, items.count, false, f->quartiles[i], error);
    }
    as_vec_free(&members);
    as_vec_free(&items);
    return fine ? status : as_fail_memory(error, NULL);
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
    as_build_real(b, "total", f->frames->total);
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
    assay_status status = choose(viewing, request, &f, error);
    if (status == ASSAY_OK && !(as_flame_frames_draw(f.frames, &f.request, &f.shapes, &f.n_levels) &&
                                sum_side(&f, AS_BASE) && sum_side(&f, AS_TARGET) && find_left(&f)))
        status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_change_spreads_open(viewing, &f.asked, f.kept->scale, &f.spreads, error);
    if (status == ASSAY_OK) status = find_spreads(&f, error);
    if (status == ASSAY_OK) build(&f, out);
    for (size_t side = 0; side < 2; side++) {
        free(f.own[side]);
        free(f.total[side]);
        free(f.left[side]);
    }
    free(f.wanted);
    free(f.quartiles);
    as_change_spreads_free(&f.spreads);
    as_vec_free(&f.shapes);
    as_asked_changes_free(&f.asked);
    return status;
}

const as_endpoint as_endpoint_compare_flame = {.path = "compare_flame", .answer = answer_flame};
