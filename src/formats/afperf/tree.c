/* Call paths: which region is inside which, and how often and long each path was visited. */
#include <stdlib.h>

#include "formats/afperf/reading.h"

typedef struct builder {
    as_af_reading *reading;
    as_af_capture *capture;
    as_tree tree;
    as_map region_of; /* as_pair(kind, label) -> region */
    as_map root_of;   /* as_pair(run, region) -> cell */
    as_map child_of;  /* as_pair(cell, region) -> cell */
    as_vec order;     /* uint32_t: intervals of a run, or of sections */
    as_vec stack;     /* entry */
} builder;

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static assay_id region_of(builder *b, enum as_af_kind kind, as_str label) {
    uint64_t key = as_pair(kind, label);
    assay_id id = as_map_get(&b->region_of, key);
    if (id != AS_MAP_NONE) return id;
    as_region region = AS_REGION_INIT;
    region.name = label;
    region.kind = b->capture->kinds[kind];
    id = as_add_region(b->reading->ds, &region);
    return id != ASSAY_NONE && as_map_put(&b->region_of, key, id) ? id : ASSAY_NONE;
}

/* The cell of a region below another (AS_AF_NONE: at the root). AS_AF_NONE when memory is out. */
static uint32_t cell_of(builder *b, uint32_t run, uint32_t parent, enum as_af_kind kind, as_str label) {
    assay_id region = region_of(b, kind, label);
    if (region == ASSAY_NONE) return AS_AF_NONE;
    as_map *map = parent == AS_AF_NONE ? &b->root_of : &b->child_of;
    uint64_t key = as_pair(parent == AS_AF_NONE ? run : parent, region);
    uint32_t index = as_map_get(map, key);
    if (index != AS_MAP_NONE) return index;
    as_vec *cells = &b->capture->cells;
    assay_id above = parent == AS_AF_NONE ? ASSAY_NONE : AS_AT(as_af_cell, cells, parent).context;
    as_af_cell cell = {
        .run = run, .context = as_tree_child(&b->tree, above, region), .is_section = kind == AS_AF_SECTION};
    if (cell.context == ASSAY_NONE || cells->count >= AS_AF_NONE || !as_vec_append(cells, &cell, 1)) return AS_AF_NONE;
    as_tree_mark_callpath(&b->tree, cell.context);
    index = (uint32_t)cells->count - 1;
    return as_map_put(map, key, index) ? index : AS_AF_NONE;
}

/* Adds an interval to the cell below `parent`. */
static bool visit(builder *b, as_af_interval *interval, uint32_t parent) {
    as_af_capture *capture = b->capture;
    enum as_af_kind kind = as_af_kind_of(interval);
    as_str label = kind == AS_AF_REGION ? interval->what : AS_AF_SECTION_AT(capture, interval->what)->label;
    uint32_t index = cell_of(b, interval->run, parent, kind, label);
    if (index == AS_AF_NONE) return false;
    as_af_cell *cell = &AS_AT(as_af_cell, &capture->cells, index);
    uint64_t end = as_af_end_of(interval), time = end - interval->start;
    if (capture->deducts_pauses) time -= as_af_paused_in(AS_AF_RUN(capture, interval->run), interval->start, end);
    cell->visits++;
    cell->time += time;
    interval->cell = index;
    return true;
}

/* ---- runs whose records come in the order of time ---------------------------------------------------------------- */

static bool has_run(const as_af_capture *capture, const as_af_interval *interval) {
    return interval->run != AS_AF_NONE && AS_AF_RUN(capture, interval->run)->is_defined;
}

/* Whether each region of such a run ends inside the one that was open when it began; else sorting says what
 * overlaps. */
static void check_nesting(const as_af_capture *capture) {
    for (size_t i = 0; i < capture->intervals.count; i++) {
        const as_af_interval *interval = AS_AF_INTERVAL(capture, i);
        if (as_af_kind_of(interval) != AS_AF_REGION || interval->cell == AS_AF_NONE) continue;
        if (as_af_end_of(interval) > as_af_end_of(AS_AF_INTERVAL(capture, interval->cell)))
            AS_AF_RUN(capture, interval->run)->is_unordered = true;
    }
}

static bool visit_in_order(builder *b) {
    as_af_capture *capture = b->capture;
    for (size_t i = 0; i < capture->intervals.count; i++) {
        as_af_interval *interval = AS_AF_INTERVAL(capture, i);
        enum as_af_kind kind = as_af_kind_of(interval);
        if (kind == AS_AF_PAUSE) continue;
        if (!has_run(capture, interval)) {
            interval->cell = AS_AF_NONE;
            continue;
        }
        if (kind == AS_AF_SECTION) {
            if (!visit(b, interval, AS_AF_NONE)) return false;
            continue;
        }
        if (AS_AF_RUN(capture, interval->run)->is_unordered) continue;
        uint32_t outer = interval->cell;
        uint32_t parent = outer == AS_AF_NONE ? AS_AF_NONE : AS_AF_INTERVAL(capture, outer)->cell;
        if (!visit(b, interval, parent)) return false;
    }
    return true;
}

/* ---- other runs -------------------------------------------------------------------------------------------------- */

static int compare_intervals(const void *a, const void *b, void *user) {
    const as_af_interval *intervals = user, *x = &intervals[*(const uint32_t *)a],
                         *y = &intervals[*(const uint32_t *)b];
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    uint64_t x_end = as_af_end_of(x), y_end = as_af_end_of(y);
    if (x_end != y_end) return x_end > y_end ? -1 : 1; /* what is longer is outside */
    return x < y ? -1 : x > y;
}

/* An open region, and where on the stack the one is that it is inside of. */
typedef struct entry {
    uint32_t interval, parent;
} entry;

static bool report_overlap(builder *b, const as_af_interval *first, const as_af_interval *second) {
    as_af_problem problem = {.offset = as_af_offset_of(second->offset),
                             .rule = AS_AF_OVERLAP,
                             .severity = AS_ERROR,
                             .number = second->id,
                             .other = first->id,
                             .has_number = !(second->offset & AS_AF_HAS_NO_ID),
                             .has_other = !(first->offset & AS_AF_HAS_NO_ID)};
    return as_af_report(&b->reading->problems, &problem);
}

/* Where on the stack the region is that this one is inside of. Whoever ends too early to be it ends before anybody asks
 * again, so that in all this is no long way. */
static uint32_t find_outer(builder *b, const as_af_interval *interval) {
    uint32_t at = b->stack.count ? (uint32_t)b->stack.count - 1 : AS_AF_NONE;
    while (at != AS_AF_NONE &&
           as_af_end_of(AS_AF_INTERVAL(b->capture, AS_AT(entry, &b->stack, at).interval)) < as_af_end_of(interval))
        at = AS_AT(entry, &b->stack, at).parent;
    return at;
}

/* Whether a region is open at a time. One that was never stopped is so also at the very end. */
static bool is_open_at(const as_af_interval *interval, uint64_t time) {
    uint64_t end = as_af_end_of(interval);
    return end > time || (end == time && interval->offset & AS_AF_IS_CUT);
}

static bool visit_sorted(builder *b, uint32_t index) {
    as_af_capture *capture = b->capture;
    as_af_interval *interval = AS_AF_INTERVAL(capture, index);
    as_vec *stack = &b->stack;
    while (stack->count) {
        const as_af_interval *top = AS_AF_INTERVAL(capture, AS_AT(entry, stack, stack->count - 1).interval);
        if (top->run == interval->run && is_open_at(top, interval->start)) break;
        stack->count--;
    }
    uint32_t outer = find_outer(b, interval);
    if (stack->count && outer != stack->count - 1) {
        uint32_t top = AS_AT(entry, stack, stack->count - 1).interval;
        if (!report_overlap(b, AS_AF_INTERVAL(capture, top), interval)) return false;
    }
    uint32_t parent =
        outer == AS_AF_NONE ? AS_AF_NONE : AS_AF_INTERVAL(capture, AS_AT(entry, stack, outer).interval)->cell;
    entry own = {index, outer};
    return visit(b, interval, parent) && as_vec_append(stack, &own, 1);
}

static bool visit_the_rest(builder *b) {
    as_af_capture *capture = b->capture;
    for (size_t i = 0; i < capture->intervals.count; i++) {
        const as_af_interval *interval = AS_AF_INTERVAL(capture, i);
        uint32_t index = (uint32_t)i;
        if (as_af_kind_of(interval) != AS_AF_REGION || !has_run(capture, interval)) continue;
        if (AS_AF_RUN(capture, interval->run)->is_unordered && !as_vec_append(&b->order, &index, 1)) return false;
    }
    const uint32_t *order = b->order.data;
    if (b->order.count)
        qsort_r(b->order.data, b->order.count, sizeof *order, compare_intervals, capture->intervals.data);
    for (size_t i = 0; i < b->order.count; i++) {
        if (!visit_sorted(b, order[i])) return false;
    }
    b->order.count = 0;
    return true;
}

/* ---- time covered by sections ------------------------------------------------------------------------------------ */

static int compare_cells(const void *a, const void *b, void *user) {
    const as_af_interval *intervals = user, *x = &intervals[*(const uint32_t *)a],
                         *y = &intervals[*(const uint32_t *)b];
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static void cover(as_af_capture *capture, uint32_t cell, uint64_t start, uint64_t end) {
    as_af_cell *of = &AS_AT(as_af_cell, &capture->cells, cell);
    of->covered += end - start;
    if (capture->deducts_pauses) of->covered -= as_af_paused_in(AS_AF_RUN(capture, of->run), start, end);
}

static bool cover_sections(builder *b) {
    as_af_capture *capture = b->capture;
    const as_af_interval *intervals = capture->intervals.data;
    bool is_sorted = true;
    for (size_t i = 0; i < capture->intervals.count; i++) {
        uint32_t index = (uint32_t)i;
        if (as_af_kind_of(&intervals[i]) != AS_AF_SECTION || intervals[i].cell == AS_AF_NONE) continue;
        const uint32_t *last = b->order.count ? &AS_AT(uint32_t, &b->order, b->order.count - 1) : NULL;
        if (last && compare_cells(last, &index, capture->intervals.data) > 0) is_sorted = false;
        if (!as_vec_append(&b->order, &index, 1)) return false;
    }
    uint32_t *order = b->order.data;
    size_t n = b->order.count;
    if (!is_sorted) qsort_r(order, n, sizeof *order, compare_cells, capture->intervals.data);
    uint64_t start = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        const as_af_interval *next = &intervals[order[i]];
        bool is_first = i == 0 || intervals[order[i - 1]].cell != next->cell;
        if (!is_first && next->start <= end) {
            if (end < as_af_end_of(next)) end = as_af_end_of(next);
            continue;
        }
        if (i) cover(capture, intervals[order[i - 1]].cell, start, end);
        start = next->start;
        end = as_af_end_of(next);
    }
    if (n) cover(capture, intervals[order[n - 1]].cell, start, end);
    return true;
}

/* ---- the whole tree ---------------------------------------------------------------------------------------------- */

/* The tags of a section are those of its context, once each. */
static bool add_section_tags(builder *b, const as_af_section *section, uint32_t cell, as_map *seen,
                             const assay_id *final) {
    as_af_capture *capture = b->capture;
    if (section->tags == AS_AF_NONE) return true;
    assay_id context = final[AS_AT(as_af_cell, &capture->cells, cell).context];
    const as_af_tag_set *set = &AS_AT(as_af_tag_set, &capture->tag_sets, section->tags);
    if (as_map_get(seen, as_pair(context, section->tags)) != AS_MAP_NONE) return true;
    if (!as_map_put(seen, as_pair(context, section->tags), 0)) return false;
    for (uint32_t i = 0; i < set->n; i++) {
        as_af_tag tag = AS_AT(as_af_tag, &capture->tags, set->first + i);
        as_cell value =
            as_cell_text_n(as_ds_text(capture->ds, tag.value), as_str_size(&capture->ds->strings, tag.value));
        if (!as_add_attribute(capture->ds, AS_OWNER_CONTEXT, context, as_ds_text(capture->ds, tag.key), value))
            return false;
    }
    return true;
}

/* Sections have a context also where they have no interval. */
static bool add_sections(builder *b, as_vec *cells) {
    for (size_t i = 0; i < b->capture->sections.count; i++) {
        const as_af_section *section = AS_AF_SECTION_AT(b->capture, i);
        uint32_t cell = AS_AF_NONE;
        if (section->is_defined && AS_AF_RUN(b->capture, section->run)->is_defined) {
            cell = cell_of(b, section->run, AS_AF_NONE, AS_AF_SECTION, section->label);
            if (cell == AS_AF_NONE) return false;
        }
        if (!as_vec_append(cells, &cell, 1)) return false;
    }
    return true;
}

static bool finish(builder *b) {
    as_af_capture *capture = b->capture;
    const assay_id *final;
    as_vec cells; /* of the sections */
    as_map seen;
    as_vec_init(&cells, sizeof(uint32_t), &capture->ds->budget);
    as_map_init(&seen, &capture->ds->budget);
    bool fine = add_sections(b, &cells) && as_tree_finish(&b->tree, &final);
    for (size_t i = 0; fine && i < cells.count; i++) {
        uint32_t cell = AS_AT(uint32_t, &cells, i);
        if (cell != AS_AF_NONE) fine = add_section_tags(b, AS_AF_SECTION_AT(capture, i), cell, &seen, final);
    }
    for (size_t i = 0; fine && i < capture->cells.count; i++) {
        as_af_cell *cell = &AS_AT(as_af_cell, &capture->cells, i);
        cell->context = final[cell->context];
    }
    as_vec_free(&cells);
    as_map_free(&seen);
    return fine;
}

bool as_af_build_tree(as_af_reading *reading) {
    builder b = {.reading = reading, .capture = reading->capture};
    as_budget *budget = &reading->ds->budget;
    as_tree_init(&b.tree, reading->ds);
    as_map_init(&b.region_of, budget);
    as_map_init(&b.root_of, budget);
    as_map_init(&b.child_of, budget);
    as_vec_init(&b.order, sizeof(uint32_t), budget);
    as_vec_init(&b.stack, sizeof(entry), budget);
    check_nesting(reading->capture);
    bool fine = visit_in_order(&b) && visit_the_rest(&b) && cover_sections(&b) && finish(&b);
    as_tree_free(&b.tree);
    as_map_free(&b.region_of);
    as_map_free(&b.root_of);
    as_map_free(&b.child_of);
    as_vec_free(&b.order);
    as_vec_free(&b.stack);
    return fine;
}
