#include "analysis/views/flame_frames.h"

#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "dataset/own_values.h"

/* ---- what each item has itself ----------------------------------------------------------------------------------- */

/* What a frame names an item by: its context, or its number where the table is of names alone. */
static uint32_t number_of(const as_view_table *table, uint32_t i) {
    return AS_COUNT(table->ds, contexts) ? as_view_item_at(table, i)->context : i;
}

static double known(double value) { return isnan(value) ? 0 : value; }

/* Differences in pieces for several threads. */
typedef struct differing {
    const as_view_table *table;
    const double *inclusive;
    double *own;
} differing;

enum { ITEMS_AT_ONCE = 1 << 14 };

static double number_at(const void *numbers, uint32_t item) { return ((const double *)numbers)[item]; }

static void find_differences(void *user, size_t piece) {
    const differing *d = user;
    uint32_t n = as_view_items(d->table), first = (uint32_t)piece * ITEMS_AT_ONCE;
    for (uint32_t i = first; i < n && i - first < ITEMS_AT_ONCE; i++)
        d->own[i] = as_flame_difference(d->table, i, number_at, d->inclusive);
}

static void differences(const as_view_table *table, const double *inclusive, double *own) {
    differing d = {table, inclusive, own};
    as_parallel(((size_t)as_view_items(table) + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, 0, find_differences, &d);
}

void as_flame_guess_own(const as_view_table *table, const double *values, double *own) {
    bool has_inner = false, nests = true;
    differences(table, values, own);
    for (uint32_t i = 0; nests && i < as_view_items(table); i++) {
        double value = known(values[i]), below = value - own[i];
        if (below == 0) continue;
        has_inner = true;
        nests = as_looks_inclusive(value, below, as_view_item_at(table, i)->parent == AS_NO_ITEM);
    }
    for (uint32_t i = 0; i < as_view_items(table); i++)
        own[i] = !nests || !has_inner ? known(values[i]) : own[i] < 0 ? 0 : own[i];
}

static double *find_own(const as_view_table *table, const as_view_values *values) {
    double *own = as_large_array(values->n, sizeof *own);
    if (!own) return NULL;
    if (values->has_exclusive && values->has_inclusive && as_ds_has_roles(table->ds)) {
        differences(table, values->inclusive, own);
        return own;
    }
    if (!values->has_exclusive && as_ds_metric(table->ds, values->metric)->kind == AS_KIND_NONE) {
        as_flame_guess_own(table, values->inclusive, own);
        return own;
    }
    for (uint32_t i = 0; i < values->n; i++)
        own[i] = known(values->has_exclusive ? values->exclusive[i] : values->inclusive[i]);
    return own;
}

/* ---- items of one name ------------------------------------------------------------------------------------------- */

/* Items that become one frame: the last `n` of those that wait. */
typedef struct group {
    uint32_t n, parent;
} group;

typedef struct making {
    as_flame_frames *out;
    const as_view_table *table;
    const uint8_t *ways; /* or NULL */
    as_vec groups;       /* group: the last one comes next */
    as_vec waiting;      /* uint32_t: items of all groups */
    as_vec members;      /* uint32_t: items of the frame at hand */
    as_vec below;        /* uint32_t: items below them */
    as_vec sizes;        /* uint32_t: of the groups of these, in order of appearance */
    uint32_t *slot;      /* of each string, and of no name: the group of this name; AS_NO_FRAME: none */
    bool *is_plain;      /* of each item: what lies below it are frames as the items are, one each */
} making;

static uint32_t *slot_of(const making *m, uint32_t item) {
    as_str name = as_view_item_at(m->table, item)->name;
    return &m->slot[name == AS_NO_STR ? m->table->ds->strings.entries.count : name];
}

static as_frame_way way_of(const making *m, uint32_t item) {
    return m->ways ? (as_frame_way)m->ways[item] : AS_FRAME_USUAL;
}
/* What lies below it stands beside it. */
static bool is_alone(as_frame_way way) { return way == AS_FRAME_ALONE || way == AS_FRAME_NONE; }

/* One more, of which there may be millions. */
static inline bool add_number(as_vec *vec, uint32_t number) {
    if (vec->count == vec->capacity && !as_vec_reserve(vec, 1)) return false;
    AS_AT(uint32_t, vec, vec->count++) = number;
    return true;
}

/* The items below i (AS_NO_ITEM: of the first level) that are frames behind those in m->below. */
static bool gather_below(making *m, uint32_t i) {
    uint32_t end = i == AS_NO_ITEM ? as_view_items(m->table) : as_view_item_at(m->table, i)->end;
    bool fine = true;
    if (i != AS_NO_ITEM && is_alone(way_of(m, i))) return true;
    for (uint32_t at = i == AS_NO_ITEM ? 0 : i + 1; fine && at < end;) {
        const as_view_item *item = as_view_item_at(m->table, at);
        as_frame_way way = way_of(m, at);
        bool is_joined = way == AS_FRAME_JOINED && i != AS_NO_ITEM, is_out = as_flame_leaves_out(item);
        if (!is_out && !is_joined && way != AS_FRAME_NONE) fine = add_number(&m->below, at);
        at = !is_out && (is_joined || is_alone(way)) ? at + 1 : item->end;
    }
    return fine;
}

/* Few items, as most are: they are groups of their own unless two have the same name. False where these have, and
 * nothing was done. */
static bool are_apart(const making *m) {
    enum { FEW = 8 };
    size_t n = m->below.count;
    as_str names[FEW];
    if (n > FEW) return false;
    for (size_t i = 0; i < n; i++) {
        names[i] = as_view_item_at(m->table, AS_AT(uint32_t, &m->below, i))->name;
        for (size_t k = 0; k < i; k++) {
            if (names[k] == names[i]) return false;
        }
    }
    return true;
}

/* Each item in m->below is a group, the first of which comes next. */
static bool part_all(making *m, uint32_t parent) {
    size_t n = m->below.count;
    if (!as_vec_reserve(&m->waiting, n) || !as_vec_reserve(&m->groups, n)) return false;
    for (size_t i = n; i-- > 0;) {
        AS_AT(uint32_t, &m->waiting, m->waiting.count++) = AS_AT(uint32_t, &m->below, i);
        AS_AT(group, &m->groups, m->groups.count++) = (group){1, parent};
    }
    m->below.count = 0;
    return true;
}

/* Puts the items in m->below into groups of one name, the first of which comes next. */
static bool part_below(making *m, uint32_t parent) {
    size_t n = m->below.count, end = m->waiting.count + n, n_groups = 0;
    if (are_apart(m)) return part_all(m, parent);
    const uint32_t *below = m->below.data;
    m->sizes.count = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = slot_of(m, below[i]);
        if (*slot == AS_NO_FRAME) {
            *slot = (uint32_t)n_groups++;
            if (!as_vec_append(&m->sizes, &(uint32_t){0}, 1)) return false;
        }
        AS_AT(uint32_t, &m->sizes, *slot)++;
    }
    if (!as_vec_append(&m->waiting, below, n) || !as_vec_reserve(&m->groups, n_groups)) return false;
    uint32_t *waiting = m->waiting.data;
    for (size_t k = n_groups; k-- > 0;) {
        uint32_t size = AS_AT(uint32_t, &m->sizes, k);
        if (!as_vec_append(&m->groups, &(group){size, parent}, 1)) return false;
    }
    /* From here on a size is where the next item of the group goes: groups lie from the end on. */
    for (size_t k = 0; k < n_groups; k++) {
        end -= AS_AT(uint32_t, &m->sizes, k);
        AS_AT(uint32_t, &m->sizes, k) = (uint32_t)end;
    }
    for (size_t i = 0; i < n; i++) waiting[AS_AT(uint32_t, &m->sizes, *slot_of(m, below[i]))++] = below[i];
    for (size_t i = 0; i < n; i++) *slot_of(m, below[i]) = AS_NO_FRAME;
    m->below.count = 0;
    return true;
}

/* ---- what needs no groups ---------------------------------------------------------------------------------------- */

/* Whether each item right below this one is a frame. Of many nobody asks. */
static bool are_frames_below(const making *m, uint32_t i) {
    enum { MANY = 24 };
    as_str names[MANY];
    size_t n = 0;
    for (uint32_t at = i + 1, end = as_view_item_at(m->table, i)->end; at < end;) {
        const as_view_item *item = as_view_item_at(m->table, at);
        if (n == MANY || as_flame_leaves_out(item) || way_of(m, at) != AS_FRAME_USUAL) return false;
        for (size_t k = 0; k < n; k++) {
            if (names[k] == item->name) return false;
        }
        names[n++] = item->name;
        at = item->end;
    }
    return true;
}

static void look_below(void *user, size_t piece) {
    const making *m = user;
    uint32_t n = as_view_items(m->table), first = (uint32_t)piece * ITEMS_AT_ONCE;
    for (uint32_t i = first; i < n && i - first < ITEMS_AT_ONCE; i++)
        m->is_plain[i] = way_of(m, i) == AS_FRAME_USUAL && are_frames_below(m, i);
}

static bool find_plain(making *m) {
    uint32_t n = as_view_items(m->table);
    m->is_plain = malloc((size_t)n + 1);
    if (!m->is_plain) return false;
    as_parallel(((size_t)n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, 0, look_below, m);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = as_view_item_at(m->table, i)->parent;
        if (!m->is_plain[i] && parent != AS_NO_ITEM) m->is_plain[parent] = false;
    }
    return true;
}

/* The frames of an item that is plain, and of all below it. */
static bool copy_plain(making *m, uint32_t item, uint32_t parent) {
    as_vec *frames = &m->out->frames;
    uint32_t n = as_view_item_at(m->table, item)->end - item, first = (uint32_t)frames->count;
    if (!as_vec_reserve(frames, n)) return false;
    as_flame_box *to = &AS_AT(as_flame_box, frames, first);
    for (uint32_t i = 0; i < n; i++) {
        const as_view_item *from = as_view_item_at(m->table, item + i);
        to[i] = (as_flame_box){.name = from->name,
                               .parent = i ? first + (from->parent - item) : parent,
                               .end = first + (from->end - item),
                               .context = number_of(m->table, item + i)};
        m->out->of_context[to[i].context] = first + i;
    }
    frames->count += n;
    return true;
}

/* ---- frame by frame ---------------------------------------------------------------------------------------------- */

/* Puts a frame that begins with this item behind the others. NULL when memory is out. */
static inline as_flame_box *new_frame(making *m, uint32_t item, uint32_t parent) {
    as_vec *frames = &m->out->frames;
    if (frames->count == frames->capacity && !as_vec_reserve(frames, 1)) return NULL;
    uint32_t id = (uint32_t)frames->count++;
    as_flame_box *frame = &AS_AT(as_flame_box, frames, id);
    *frame = (as_flame_box){.name = as_view_item_at(m->table, item)->name,
                            .parent = parent,
                            .end = id + 1,
                            .context = number_of(m->table, item)};
    return frame;
}

/* Of one item, as most are: its frame, and what lies below it waits. */
static bool make_single(making *m, uint32_t item, uint32_t parent) {
    if (m->is_plain[item]) return copy_plain(m, item, parent);
    as_flame_box *frame = new_frame(m, item, parent);
    if (!frame) return false;
    uint32_t id = as_flame_frames_count(m->out) - 1;
    m->out->of_context[frame->context] = id;
    return gather_below(m, item) && part_below(m, id);
}

static bool make_frame(making *m) {
    group g = AS_AT(group, &m->groups, --m->groups.count);
    m->waiting.count -= g.n;
    const uint32_t *items = &AS_AT(uint32_t, &m->waiting, m->waiting.count);
    if (g.n == 1) return make_single(m, items[0], g.parent);
    m->members.count = 0;
    as_flame_box *frame = new_frame(m, items[0], g.parent);
    if (!frame || !as_vec_append(&m->members, items, g.n)) return false;
    uint32_t id = as_flame_frames_count(m->out) - 1;
    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t item = AS_AT(uint32_t, &m->members, i);
        m->out->of_context[number_of(m->table, item)] = id;
        if (!gather_below(m, item)) return false;
    }
    return part_below(m, id);
}

static bool make_frames(making *m) {
    const as_budget *budget = as_ds_budget(m->table->ds);
    size_t n_names = m->table->ds->strings.entries.count + 1;
    as_vec *vectors[] = {&m->waiting, &m->members, &m->below, &m->sizes};
    for (size_t i = 0; i < 4; i++) as_vec_init(vectors[i], sizeof(uint32_t), (as_budget *)(uintptr_t)budget);
    as_vec_init(&m->groups, sizeof(group), (as_budget *)(uintptr_t)budget);
    m->slot = malloc(n_names * sizeof *m->slot);
    for (size_t i = 0; m->slot && i < n_names; i++) m->slot[i] = AS_NO_FRAME;
    bool fine = m->slot && find_plain(m) && gather_below(m, AS_NO_ITEM) && part_below(m, AS_NO_FRAME);
    while (fine && m->groups.count) fine = make_frame(m);
    for (size_t i = 0; i < 4; i++) as_vec_free(vectors[i]);
    as_vec_free(&m->groups);
    free(m->slot);
    free(m->is_plain);
    return fine;
}

/* Joined items are in the nearest frame above them. */
static void join_items(const making *m) {
    const as_view_table *table = m->table;
    uint32_t *frames = m->out->of_context;
    for (uint32_t i = 0; m->ways && i < as_view_items(table); i++) {
        uint32_t parent = as_view_item_at(table, i)->parent;
        if (way_of(m, i) != AS_FRAME_JOINED || parent == AS_NO_ITEM || is_alone(way_of(m, parent))) continue;
        frames[number_of(table, i)] = frames[number_of(table, parent)];
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The frames have what their items have; there is room for that of one more. own, which has at least as much room, is
 * theirs from now on: for totals. False when memory is out. */
static bool fill_own(as_flame_frames *f, const as_view_table *table, double *own) {
    size_t n = f->frames.count + 1;
    as_flame_frames_forget(f);
    f->total = own;
    f->own = as_large_zeros(n, sizeof *f->own);
    if (!own || !f->own) return false;
    for (uint32_t i = 0; i < as_view_items(table);) {
        const as_view_item *item = as_view_item_at(table, i);
        bool is_out = as_flame_leaves_out(item);
        uint32_t frame = is_out ? AS_NO_FRAME : f->of_context[number_of(table, i)];
        if (frame != AS_NO_FRAME) f->own[frame] += own[i];
        i = is_out ? item->end : i + 1;
    }
    double *total = realloc(own, n * sizeof *total);
    if (total) f->total = total;
    memset(f->total, 0, n * sizeof *total);
    return true;
}

/* Contexts that are no nodes are parts of those above them. Parents come first. */
static void fill_contexts(as_flame_frames *f) {
    for (assay_id id = 0; id < AS_COUNT(f->ds, contexts); id++) {
        if (f->of_context[id] != AS_NO_FRAME) continue;
        assay_id parent = as_ds_context(f->ds, id)->parent;
        if (parent != ASSAY_NONE) f->of_context[id] = f->of_context[parent];
    }
}

static void check_own(as_flame_frames *f, uint32_t i) {
    if (isfinite(f->own[i]) && f->own[i] >= 0) return;
    f->own[i] = 0;
    f->n_minus++;
}

static void sum_up(as_flame_frames *f) {
    f->all = 0;
    f->n_minus = 0;
    for (uint32_t i = as_flame_frames_count(f); i-- > 0;) {
        const as_flame_box *frame = as_flame_box_at(f, i);
        check_own(f, i);
        f->total[i] += f->own[i];
        *(frame->parent == AS_NO_FRAME ? &f->all : &f->total[frame->parent]) += f->total[i];
    }
}

/* Frames that lie below one end with it. */
static void find_ends(as_flame_frames *f) {
    as_flame_box *frames = f->frames.data;
    for (uint32_t i = as_flame_frames_count(f); i-- > 0;) {
        if (frames[i].parent == AS_NO_FRAME) continue;
        as_flame_box *parent = &frames[frames[i].parent];
        if (frames[i].end > parent->end) parent->end = frames[i].end;
    }
}

/* What the root of all has itself, where the table is without it: a frame beside those of the first level. False when
 * memory is out. */
static bool add_root(as_flame_frames *f, const as_view_table *table, const as_view_values *values) {
    if (!table->request.without_root || !as_view_items(table)) return true;
    assay_id root = as_view_item_at(table, 0)->context;
    while (root != ASSAY_NONE && as_ds_context(table->ds, root)->parent != ASSAY_NONE)
        root = as_ds_context(table->ds, root)->parent;
    if (!as_context_is_root(table->ds, root) || !values->has_inclusive || !values->all.is_known) return true;
    double all = values->all.real, own = all;
    for (uint32_t i = 0; i != AS_NO_ITEM; i = as_view_next_sibling(table, i)) {
        if (!as_flame_leaves_out(as_view_item_at(table, i))) own -= known(values->inclusive[i]);
    }
    if (!(own > 1e-12 * fabs(all))) return true; /* rounding */
    uint32_t id = as_flame_frames_count(f);
    as_flame_box frame = {
        .name = as_ds_context(table->ds, root)->name, .parent = AS_NO_FRAME, .end = id + 1, .context = root};
    f->own[id] = own;
    f->of_context[root] = id;
    f->has_root = true;
    return as_vec_append(&f->frames, &frame, 1);
}

assay_status as_flame_frames_of(const as_view_table *table, const uint8_t *ways, as_flame_frames **out,
                                assay_error *error) {
    size_t n_contexts = AS_COUNT(table->ds, contexts), n = n_contexts ? n_contexts : as_view_items(table);
    as_flame_frames *f = *out = calloc(1, sizeof *f);
    if (!f) return as_fail_memory(error, NULL);
    f->ds = table->ds;
    as_vec_init(&f->frames, sizeof(as_flame_box), as_ds_budget(f->ds));
    f->n_contexts = n;
    f->of_context = as_large_array(n, sizeof *f->of_context);
    for (size_t i = 0; f->of_context && i < n; i++) f->of_context[i] = AS_NO_FRAME;
    making m = {.out = f, .table = table, .ways = ways};
    if (!f->of_context || !make_frames(&m)) {
        as_flame_frames_free(f);
        *out = NULL;
        return as_fail_memory(error, NULL);
    }
    as_vec_shrink(&f->frames);
    join_items(&m);
    find_ends(f);
    fill_contexts(f);
    return ASSAY_OK;
}

bool as_flame_frames_fill(as_flame_frames *f, const as_view_table *table, double *own) {
    bool fine = fill_own(f, table, own);
    if (fine) sum_up(f);
    return fine;
}

assay_status as_flame_frames_new(const as_view_table *table, const as_view_values *values, as_flame_frames **out,
                                 assay_error *error) {
    AS_TRY(as_flame_frames_of(table, NULL, out, error));
    return as_flame_frames_renew(*out, table, values, error);
}

/* Takes off what add_root() added. */
static void remove_root(as_flame_frames *f) {
    if (!f->has_root) return;
    f->of_context[as_flame_box_at(f, (uint32_t)--f->frames.count)->context] = AS_NO_FRAME;
    f->has_root = false;
}

assay_status as_flame_frames_renew(as_flame_frames *f, const as_view_table *table, const as_view_values *values,
                                   assay_error *error) {
    remove_root(f);
    bool fine = fill_own(f, table, find_own(table, values)) && add_root(f, table, values);
    if (fine) sum_up(f);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_flame_frames_forget(as_flame_frames *frames) {
    free(frames->own);
    free(frames->total);
    frames->own = frames->total = NULL;
}

void as_flame_frames_free(as_flame_frames *frames) {
    if (!frames) return;
    as_flame_frames_forget(frames);
    as_vec_free(&frames->frames);
    free(frames->of_context);
    free(frames);
}

size_t as_flame_frames_bytes(const as_flame_frames *frames) {
    size_t n_amounts = frames->own ? 2 * (frames->frames.count + 1) : 0;
    return sizeof *frames + frames->frames.capacity * sizeof(as_flame_box) + n_amounts * sizeof(double) +
           frames->n_contexts * sizeof *frames->of_context;
}

double as_flame_frames_found(const as_flame_frames *f, const bool *names, uint32_t *n) {
    double sum = 0;
    uint32_t end = 0; /* of the last one that was counted */
    *n = 0;
    for (uint32_t i = 0; i < as_flame_frames_count(f); i++) {
        const as_flame_box *frame = as_flame_box_at(f, i);
        if (frame->name == AS_NO_STR || !names[frame->name]) continue;
        ++*n;
        if (i < end) continue;
        sum += f->total[i];
        end = frame->end;
    }
    return sum;
}
