/* The old layout: snapshots for rows that have one, and global for the others. A snapshot or global has one time for
 * all its rows; rows that do not fit such a frame go into a list of resources that adds nothing to them: global, or
 * where that is taken, resources. */
#include <stdlib.h>

#include "formats/perun/write_layout.h"

/* The frame of a kind: the number of its snapshot, or one of these. */
enum { IN_GLOBAL = UINT32_MAX - 1, IN_LIST = UINT32_MAX - 2, UNKNOWN = UINT32_MAX };

/* What a frame says of all its rows. */
typedef struct frame_time {
    bool is_known;
    as_cell time;
} frame_time;

typedef struct old_writer {
    as_layout *layout;
    as_output *out;
    uint32_t *frame_of; /* by kind */
    as_vec snapshots;   /* frame_time */
    frame_time global;
    uint32_t *order; /* rows from profile->first_row on: those of snapshots, in order, then the others in file order */
    size_t *starts;  /* by snapshot, and one more: where the others begin */
    bool has_global, has_list;
} old_writer;

/* ---- which row where --------------------------------------------------------------------------------------------- */

static bool same_cell(as_cell a, as_cell b) {
    if (a.type != b.type) return false;
    switch (a.type) {
    case AS_CELL_NULL: return true;
    case AS_CELL_INT: return a.i == b.i;
    case AS_CELL_UINT: return a.u == b.u;
    case AS_CELL_REAL: return a.r == b.r;
    case AS_CELL_TEXT:
    case AS_CELL_JSON: return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
    }
    return false;
}

static bool joins(frame_time *frame, as_cell time) {
    if (!frame->is_known) *frame = (frame_time){true, time};
    return same_cell(frame->time, time);
}

/* Whether rows have cells of their own in a column that frames have for all. */
static bool is_own(const old_writer *w, uint32_t column) {
    return column != UINT32_MAX && as_records_own(w->layout->records, column).count;
}

/* UNKNOWN when memory is out. */
static uint32_t find_frame(old_writer *w, uint32_t kind) {
    const as_layout *layout = w->layout;
    as_cell snapshot = as_layout_shared(layout, kind, layout->snapshot);
    as_cell time = as_layout_shared(layout, kind, layout->time);
    size_t most = 2 * layout->profile->n_rows + 1000; /* gaps between numbers are written, too */
    if (is_own(w, layout->time) || is_own(w, layout->snapshot)) return IN_LIST;
    if (snapshot.type == AS_CELL_NULL)
        return time.type != AS_CELL_NULL && joins(&w->global, time) ? IN_GLOBAL : IN_LIST;
    if (snapshot.type != AS_CELL_INT || snapshot.i < 0 || (uint64_t)snapshot.i > most) return IN_LIST;
    while (w->snapshots.count <= (size_t)snapshot.i) {
        if (!as_vec_push(&w->snapshots)) return UNKNOWN;
    }
    bool fits = joins(&AS_AT(frame_time, &w->snapshots, snapshot.i), time);
    return fits ? (uint32_t)snapshot.i : IN_LIST;
}

static bool sort_rows(old_writer *w) {
    const as_perun_profile *profile = w->layout->profile;
    const uint32_t *kinds = as_records_row_kinds(w->layout->records) + profile->first_row;
    size_t n_kinds = w->layout->perun->kinds.count;
    w->frame_of = malloc((n_kinds + 1) * sizeof *w->frame_of);
    w->order = malloc((profile->n_rows + 1) * sizeof *w->order);
    if (!w->frame_of || !w->order) return false;
    for (size_t i = 0; i < n_kinds; i++) w->frame_of[i] = UNKNOWN;
    for (size_t i = 0; i < profile->n_rows; i++) {
        uint32_t *frame = &w->frame_of[kinds[i]];
        if (*frame == UNKNOWN) *frame = find_frame(w, kinds[i]);
        if (*frame == UNKNOWN) return false;
        w->has_global |= *frame == IN_GLOBAL;
        w->has_list |= *frame == IN_LIST;
    }
    size_t n = w->snapshots.count;
    w->starts = calloc(n + 2, sizeof *w->starts);
    if (!w->starts) return false;
    for (size_t i = 0; i < profile->n_rows; i++) {
        uint32_t frame = w->frame_of[kinds[i]];
        w->starts[(frame < IN_LIST ? frame : n) + 1]++;
    }
    for (size_t i = 1; i <= n + 1; i++) w->starts[i] += w->starts[i - 1];
    for (size_t i = profile->n_rows; i-- > 0;) { /* from the end, so that starts are right in the end */
        uint32_t frame = w->frame_of[kinds[i]];
        w->order[--w->starts[(frame < IN_LIST ? frame : n) + 1]] = (uint32_t)i;
    }
    memmove(w->starts, w->starts + 1, (n + 1) * sizeof *w->starts);
    w->starts[n + 1] = profile->n_rows;
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void write_extra(old_writer *w, const char *key, as_cell cell, size_t *n) {
    if (cell.type == AS_CELL_NULL) return;
    if ((*n)++) as_output_text(w->out, ", ");
    as_json_write_string(w->out, key, strlen(key));
    as_output_text(w->out, ": ");
    as_perun_write_cell(w->out, cell);
}

/* is_bare: the frame adds nothing, so that the row has to say all. */
static void write_row(old_writer *w, size_t row, bool is_bare) {
    as_layout *layout = w->layout;
    uint32_t kind = as_records_row_kinds(layout->records)[row];
    as_perun_place place = as_layout_kind(layout, kind)->place;
    bool had_time = place == AS_PERUN_GLOBAL || place == AS_PERUN_SNAPSHOTS, had_snapshot = place == AS_PERUN_SNAPSHOTS;
    unsigned without = is_bare ? (had_time ? AS_WITHOUT_TIME : 0u) | (had_snapshot ? AS_WITHOUT_SNAPSHOT : 0u)
                               : AS_WITHOUT_TIME | AS_WITHOUT_SNAPSHOT;
    as_raw_json members = as_layout_members(layout, kind, without);
    size_t n = members.size != 0;
    as_output_char(w->out, '{');
    as_perun_write_raw(w->out, members);
    if (is_bare && had_snapshot) write_extra(w, "snapshot", as_layout_shared(layout, kind, layout->snapshot), &n);
    if (is_bare && had_time) write_extra(w, "time", as_layout_shared(layout, kind, layout->time), &n);
    for (size_t i = 0; i < layout->columns.count; i++) {
        const as_layout_column *column = &AS_AT(as_layout_column, &layout->columns, i);
        if (!as_layout_has(column, row)) continue;
        if (n++) as_output_text(w->out, ", ");
        as_json_write_string(w->out, column->key, column->key_size);
        as_output_text(w->out, ": ");
        as_layout_write_own(layout, column, row);
    }
    as_output_char(w->out, '}');
}

/* The rows of order[from … to - 1] that are in this frame. */
static void write_rows(old_writer *w, size_t from, size_t to, uint32_t frame) {
    size_t first_row = w->layout->profile->first_row, n = 0;
    const uint32_t *kinds = as_records_row_kinds(w->layout->records) + first_row;
    as_output_char(w->out, '[');
    for (size_t i = from; i < to; i++) {
        uint32_t row = w->order[i];
        if (w->frame_of[kinds[row]] != frame) continue;
        as_output_text(w->out, n++ ? ",\n    " : "\n    ");
        write_row(w, first_row + row, frame == IN_LIST);
    }
    as_output_text(w->out, n ? "\n  ]" : "]");
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* Begins the object of a frame: its time, and what the profile's own frame says besides. */
static void begin_frame(old_writer *w, const frame_time *frame, as_raw_json had) {
    static const char *const with_time[] = {"resources", NULL}, *const without_time[] = {"resources", "time", NULL};
    size_t n = 0;
    bool has_time = frame && frame->is_known && frame->time.type != AS_CELL_NULL;
    as_output_char(w->out, '{');
    if (has_time) write_extra(w, "time", frame->time, &n);
    as_layout_write_members(w->layout, had, has_time ? without_time : with_time, &n);
    as_output_text(w->out, n ? ", \"resources\": " : "\"resources\": ");
}

static void write_global(old_writer *w, as_raw_json had) {
    size_t n = w->snapshots.count;
    as_region_named(&w->layout->regions, "global");
    begin_frame(w, &w->global, had);
    write_rows(w, w->starts[n], w->starts[n + 1], IN_GLOBAL);
    as_output_char(w->out, '}');
}

static void write_snapshots(old_writer *w, as_raw_json had) {
    as_raw_items items;
    bool is_list = as_raw_begins(had) == '[';
    bool more = is_list && as_raw_items_begin(&items, had, w->layout->budget);
    as_region_named(&w->layout->regions, "snapshots");
    as_output_char(w->out, '[');
    for (size_t i = 0;; i++) {
        more = more && as_raw_items_next(&items);
        if (!more && i >= w->snapshots.count) break;
        if (i) as_output_text(w->out, ", ");
        bool is_ours = i < w->snapshots.count;
        begin_frame(w, is_ours ? &AS_AT(frame_time, &w->snapshots, i) : NULL, more ? items.value : (as_raw_json){0});
        if (is_ours)
            write_rows(w, w->starts[i], w->starts[i + 1], (uint32_t)i);
        else
            as_output_text(w->out, "[]");
        as_output_char(w->out, '}');
    }
    as_output_char(w->out, ']');
    if (is_list) w->layout->fine &= !as_raw_items_end(&items);
}

static void write_list(old_writer *w, const char *key) {
    size_t n = w->snapshots.count;
    as_region_named(&w->layout->regions, key);
    write_rows(w, w->starts[n], w->starts[n + 1], IN_LIST);
}

/* All that has rows. */
static void write_frames(old_writer *w) {
    as_raw_json global = as_layout_region(w->layout, "global"), snapshots = as_layout_region(w->layout, "snapshots");
    bool global_is_frame = as_raw_begins(global) == '{';
    if (w->snapshots.count || snapshots.size) write_snapshots(w, snapshots);
    if (w->has_global || global_is_frame)
        write_global(w, global);
    else if (!w->has_list && !w->snapshots.count) /* nothing at all: an empty one says which layout it is */
        write_list(w, "global");
    if (w->has_list) write_list(w, w->has_global || global_is_frame ? "resources" : "global");
}

static bool is_frame(const char *key) {
    return strcmp(key, "resources") == 0 || strcmp(key, "resource_type_map") == 0 || strcmp(key, "global") == 0 ||
           strcmp(key, "snapshots") == 0;
}

static void write_regions(old_writer *w) {
    bool frames = false;
    const as_vec *regions = &w->layout->profile->regions;
    for (size_t i = 0; i < regions->count; i++) {
        const as_perun_region *region = &AS_AT(as_perun_region, regions, i);
        const char *key = as_ds_text(w->layout->ds, region->key);
        if (is_frame(key)) {
            if (!frames) write_frames(w);
            frames = true;
            continue;
        }
        as_region_begin(&w->layout->regions, key, as_str_size(&w->layout->ds->strings, region->key));
        as_perun_write_raw(w->out, region->value);
    }
    if (!frames) write_frames(w);
    as_region_end(&w->layout->regions);
}

assay_status as_layout_write_old(as_layout *layout) {
    old_writer w = {.layout = layout, .out = layout->out};
    as_vec_init(&w.snapshots, sizeof(frame_time), layout->budget);
    bool fine = sort_rows(&w);
    if (fine) write_regions(&w);
    as_vec_free(&w.snapshots);
    free(w.frame_of);
    free(w.order);
    free(w.starts);
    return fine ? ASSAY_OK : as_fail_memory(layout->writer->error, NULL);
}
