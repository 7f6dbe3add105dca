#include "analysis/views/flame_frames.h"

#include <stdlib.h>

#include "core/large_pages.h"
#include "dataset/own_values.h"

/* ---- what each item has itself --------------------------------------------------------------------------------------- */

static bool is_left_out(const as_view_item *item) { return item->flags & (AS_ITEM_APART | AS_ITEM_ASIDE); }

/* What a frame names an item by: its context, or its number where the table is of names alone. */
static uint32_t number_of(const as_view_table *table, uint32_t i) {
    return AS_COUNT(table->ds, contexts) ? as_view_item_at(table, i)->context : i;
}

static double known(double value) { return isnan(value) ? 0 : value; }

void as_flame_differences(const as_view_table *table, const double *inclusive, double *own) {
    for (uint32_t i = 0; i < as_view_items(table); i++) own[i] = 0;
    for (uint32_t i = as_view_items(table); i-- > 0;) {
        const as_view_item *item = as_view_item_at(table, i);
        double all = known(inclusive[i]);
        if (item->parent != AS_NO_ITEM && !is_left_out(item)) own[item->parent] += all;
        own[i] = all - own[i];
        if (fabs(own[i]) <= 1e-12 * fabs(all)) own[i] = 0; /* rounding */
    }
}

void as_flame_guess_own(const as_view_table *table, const double *values, double *own) {
    bool has_inner = false, nests = true;
    as_flame_differences(table, values, own);
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
        as_flame_differences(table, values->inclusive, own);
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

/* ---- items of one name ----------------------------------------------------------------------------------------------- */

/* Items that become one frame: the last `n` of those that wait. */
typedef struct group {
    uint32_t n, parent;
} group;

typedef struct making {
    as_flame_frames *out;
    const as_view_table *table;
    const uint8_t *ways; /* or NULL */
    double *own;
    as_vec groups;  /* group: the last one comes next */
    as_vec waiting; /* uint32_t: items of all groups */
    as_vec members; /* uint32_t: items of the frame at hand */
    as_vec below;   /* uint32_t: items below them */
    as_vec sizes;   /* uint32_t: of the groups of these, in order of appearance */
    uint32_t *slot; /* of each string, and of no name: the group of this name; AS_NO_FRAME: none */
} making;

static uint32_t *slot_of(const making *m, uint32_t item) {
    as_str name = as_view_item_at(m->table, item)->name;
    return &m->slot[name == AS_NO_STR ? m->table->ds->strings.entries.count : name];
}

static as_frame_way way_of(const making *m, uint32_t item) {
    return m->ways ? (as_frame_way)m->ways[item] : AS_FRAME_USUAL;
}

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
    if (i != AS_NO_ITEM && way_of(m, i) == AS_FRAME_ALONE) return true;
    for (uint32_t at = i == AS_NO_ITEM ? 0 : i + 1; fine && at < end;) {
        const as_view_item *item = as_view_item_at(m->table, at);
        as_frame_way way = way_of(m, at);
        bool is_joined = way == AS_FRAME_JOINED && i != AS_NO_ITEM, is_out = is_left_out(item);
        bool is_frame = !is_out && !is_joined && !(way == AS_FRAME_ALONE && m->own[at] == 0);
        if (is_frame) fine = add_number(&m->below, at);
        at = !is_out && (is_joined || way == AS_FRAME_ALONE) ? at + 1 : item->end;
    }
    return fine;
}

/* Few items, as most are: they are groups of their own unless two have the same name. False where these have, and nothing was done. */
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

static void check_own(as_flame_frames *f, as_flame_box *frame) {
    if (isfinite(frame->own) && frame->own >= 0) return;
    frame->own = 0;
    f->n_minus++;
}

static bool make_frame(making *m) {
    group g = AS_AT(group, &m->groups, --m->groups.count);
    uint32_t id = as_flame_frames_count(m->out);
    m->members.count = 0;
    m->waiting.count -= g.n;
    for (uint32_t i = 0; i < g.n; i++) {
        if (!add_number(&m->members, AS_AT(uint32_t, &m->waiting, m->waiting.count + i))) return false;
    }
    uint32_t first = AS_AT(uint32_t, &m->members, 0);
    as_flame_box frame = {.name = as_view_item_at(m->table, first)->name,
                          .parent = g.parent,
                          .end = id + 1,
                          .context = number_of(m->table, first)};
    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t item = AS_AT(uint32_t, &m->members, i);
        frame.own += m->own[item];
        m->out->of_context[number_of(m->table, item)] = id;
        if (!gather_below(m, item)) return false;
    }
    check_own(m->out, &frame);
    if (!as_vec_reserve(&m->out->frames, 1)) return false;
    AS_AT(as_flame_box, &m->out->frames, m->out->frames.count++) = frame;
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
    bool fine = m->slot && gather_below(m, AS_NO_ITEM) && part_below(m, AS_NO_FRAME);
    while (fine && m->groups.count) fine = make_frame(m);
    for (size_t i = 0; i < 4; i++) as_vec_free(vectors[i]);
    as_vec_free(&m->groups);
    free(m->slot);
    return fine;
}

/* What joined items have is that of the nearest frame above them, and so are they; ready: frames are made. */
static void join_items(making *m, bool ready) {
    const as_view_table *table = m->table;
    uint32_t n = m->ways ? as_view_items(table) : 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = ready ? k : n - 1 - k;
        const as_view_item *item = as_view_item_at(table, i);
        if (way_of(m, i) != AS_FRAME_JOINED || item->parent == AS_NO_ITEM) continue;
        if (way_of(m, item->parent) == AS_FRAME_ALONE) continue;
        uint32_t *frames = m->out->of_context;
        if (ready) {
            frames[number_of(table, i)] = frames[number_of(table, item->parent)];
        } else if (!is_left_out(item)) {
            m->own[item->parent] += m->own[i];
            m->own[i] = 0;
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------------------- */

/* Contexts that are no nodes are parts of those above them. Parents come first. */
static void fill_contexts(as_flame_frames *f) {
    for (assay_id id = 0; id < AS_COUNT(f->ds, contexts); id++) {
        assay_id parent = as_ds_context(f->ds, id)->parent;
        if (f->of_context[id] == AS_NO_FRAME && parent != ASSAY_NONE) f->of_context[id] = f->of_context[parent];
    }
}

static void sum_up(as_flame_frames *f) {
    for (uint32_t i = as_flame_frames_count(f); i-- > 0;) {
        as_flame_box *frame = &AS_AT(as_flame_box, &f->frames, i);
        frame->total += frame->own;
        if (frame->parent == AS_NO_FRAME) {
            f->total += frame->total;
            continue;
        }
        as_flame_box *parent = &AS_AT(as_flame_box, &f->frames, frame->parent);
        parent->total += frame->total;
        if (frame->end > parent->end) parent->end = frame->end;
    }
}

/* What the root of all has itself, where the table is without it: a frame beside those of the first level. False when memory is out. */
static bool add_root(const making *m, const as_view_values *values) {
    const as_view_table *table = m->table;
    if (m->ways || !table->request.without_root || !as_view_items(table)) return true;
    assay_id root = as_view_item_at(table, 0)->context;
    while (root != ASSAY_NONE && as_ds_context(table->ds, root)->parent != ASSAY_NONE)
        root = as_ds_context(table->ds, root)->parent;
    if (!as_context_is_root(table->ds, root) || !values->has_inclusive || !values->all.is_known) return true;
    double all = values->all.real, own = all;
    for (uint32_t i = 0; i != AS_NO_ITEM; i = as_view_next_sibling(table, i)) {
        if (!is_left_out(as_view_item_at(table, i))) own -= known(values->inclusive[i]);
    }
    if (!(own > 1e-12 * fabs(all))) return true; /* rounding */
    uint32_t id = as_flame_frames_count(m->out);
    as_flame_box frame = {.name = as_ds_context(table->ds, root)->name,
                          .parent = AS_NO_FRAME,
                          .end = id + 1,
                          .context = root,
                          .own = own};
    m->out->of_context[root] = id;
    m->out->has_root = true;
    return as_vec_append(&m->out->frames, &frame, 1);
}

/* own: NULL when memory is out; values: NULL where there are ways. */
static assay_status make(const as_view_table *table, double *own, const uint8_t *ways, const as_view_values *values,
                         as_flame_frames **out, assay_error *error) {
    size_t n_contexts = AS_COUNT(table->ds, contexts), n = n_contexts ? n_contexts : as_view_items(table);
    as_flame_frames *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return as_fail_memory(error, NULL);
    f->ds = table->ds;
    as_vec_init(&f->frames, sizeof(as_flame_box), as_ds_budget(f->ds));
    f->n_contexts = n;
    f->of_context = as_large_array(n, sizeof *f->of_context);
    for (size_t i = 0; f->of_context && i < n; i++) f->of_context[i] = AS_NO_FRAME;
    making m = {.out = f, .table = table, .ways = ways, .own = own};
    bool fine = f->of_context && own;
    if (fine) join_items(&m, false);
    fine = fine && make_frames(&m);
    if (fine) join_items(&m, true);
    if (fine) {
        fill_contexts(f);
        fine = add_root(&m, values);
    }
    if (!fine) {
        as_flame_frames_free(f);
        return as_fail_memory(error, NULL);
    }
    as_vec_shrink(&f->frames);
    sum_up(f);
    *out = f;
    return ASSAY_OK;
}

assay_status as_flame_frames_new(const as_view_table *table, const as_view_values *values, as_flame_frames **out,
                                 assay_error *error) {
    double *own = find_own(table, values);
    assay_status status = make(table, own, NULL, values, out, error);
    free(own);
    return status;
}

/* Takes off what add_root() added. */
static void remove_root(as_flame_frames *f) {
    if (!f->has_root) return;
    f->of_context[as_flame_box_at(f, (uint32_t)--f->frames.count)->context] = AS_NO_FRAME;
    f->has_root = false;
}

assay_status as_flame_frames_renew(as_flame_frames *f, const as_view_table *table, const as_view_values *values,
                                   assay_error *error) {
    making m = {.out = f, .table = table, .own = find_own(table, values)};
    if (!m.own) return as_fail_memory(error, NULL);
    remove_root(f);
    f->total = 0;
    f->n_minus = 0;
    as_flame_box *frames = f->frames.data;
    for (uint32_t i = 0; i < as_flame_frames_count(f); i++) frames[i].own = frames[i].total = 0;
    for (uint32_t i = 0; i < as_view_items(table);) { /* in the order in which items were put into frames */
        const as_view_item *item = as_view_item_at(table, i);
        bool is_out = is_left_out(item);
        if (!is_out) frames[f->of_context[number_of(table, i)]].own += m.own[i];
        i = is_out ? item->end : i + 1;
    }
    for (uint32_t i = 0; i < as_flame_frames_count(f); i++) check_own(f, &frames[i]);
    bool fine = add_root(&m, values);
    if (fine) sum_up(f);
    free(m.own);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

assay_status as_flame_frames_of(const as_view_table *table, double *own, const uint8_t *ways, as_flame_frames **out,
                                assay_error *error) {
    return make(table, own, ways, NULL, out, error);
}

void as_flame_frames_free(as_flame_frames *frames) {
    if (!frames) return;
    as_vec_free(&frames->frames);
    free(frames->of_context);
    free(frames);
}

size_t as_flame_frames_bytes(const as_flame_frames *frames) {
    return sizeof *frames + frames->frames.capacity * sizeof(as_flame_box) +
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
        sum += frame->total;
        end = frame->end;
    }
    return sum;
}
