/* The time lines there are (api/timeline). */
#include <stdlib.h>
#include <string.h>

#include "server/lines.h"

/* At most so many rows are listed: nobody scrolls through more. */
enum { MOST_LISTED = 20000 };

static const char *track_of(const as_trace_view *view, size_t row) {
    static const char *const tracks[] = {[AS_TRACK_NESTED] = "region",
                                         [AS_TRACK_SECTION] = "section",
                                         [AS_TRACK_RANGES] = "range",
                                         [AS_TRACK_OSRT] = "osrt",
                                         [AS_TRACK_SAMPLES] = "sample"};
    return view->has_intervals ? tracks[view->timeline.rows[row].track] : "trace";
}

static assay_id location_of(const as_trace_view *view, size_t row) {
    assay_id location = view->lines[row]->location;
    return location < AS_COUNT(view->ds, locations) ? location : ASSAY_NONE;
}

/* GPUs and their streams. */
static bool is_of_gpu(const as_trace_view *view, size_t row) {
    static const char *const kinds[] = {"gpu", "device", "stream"};
    for (assay_id at = location_of(view, row); at != ASSAY_NONE; at = as_ds_location(view->ds, at)->parent) {
        const char *kind = as_ds_text(view->ds, as_ds_location(view->ds, at)->kind);
        for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++) {
            if (strncmp(kind, kinds[i], strlen(kinds[i])) == 0) return true;
        }
    }
    return false;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Rows that follow each other and whose places are parts of one: of a process, else of whatever is above them. */
typedef struct group {
    assay_id run, above;
} group;

static bool is_process(const as_dataset *ds, assay_id location) {
    const char *kind = as_ds_text(ds, as_ds_location(ds, location)->kind);
    return kind && (strcmp(kind, "process") == 0 || strcmp(kind, "rank") == 0);
}

static group group_of(const as_trace_view *view, size_t row) {
    assay_id location = location_of(view, row);
    group g = {view->lines[row]->run, ASSAY_NONE};
    if (location == ASSAY_NONE) return g;
    g.above = as_ds_location(view->ds, location)->parent;
    for (assay_id at = g.above; at != ASSAY_NONE; at = as_ds_location(view->ds, at)->parent) {
        if (!is_process(view->ds, at)) continue;
        g.above = at;
        break;
    }
    return g;
}

static bool is_same(group a, group b) { return a.run == b.run && a.above == b.above; }

static void build_groups(as_builder *b, const as_trace_view *view, size_t n) {
    as_build_array(b, "groups", false);
    for (size_t i = 0; i < n; i++) {
        group g = group_of(view, i);
        if (i > 0 && is_same(g, group_of(view, i - 1))) continue;
        const as_location *above = g.above == ASSAY_NONE ? NULL : as_ds_location(view->ds, g.above);
        const char *name = above ? as_ds_text(view->ds, above->name) : NULL;
        as_build_object(b, NULL, false);
        as_build_int(b, "first", (int64_t)i);
        as_build_known(b, "location", g.above == ASSAY_NONE ? -1 : (int64_t)g.above, false);
        as_build_text(b, "label", name ? name : above ? as_ds_text(view->ds, above->kind) : NULL);
        as_build_int(b, "run", g.run == ASSAY_NONE ? -1 : (int64_t)g.run);
        as_build_end(b);
    }
    as_build_end(b);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void build_numbers(as_builder *b, const char *key, const as_trace_view *view, size_t n,
                          int64_t (*number)(const as_trace_view *view, size_t row)) {
    as_build_array(b, key, false);
    for (size_t i = 0; i < n; i++) as_build_known(b, NULL, number(view, i), false);
    as_build_end(b);
}

static int64_t location_number(const as_trace_view *view, size_t row) {
    assay_id location = location_of(view, row);
    return location == ASSAY_NONE ? -1 : (int64_t)location;
}
static int64_t run_number(const as_trace_view *view, size_t row) { return (int64_t)view->lines[row]->run; }
static int64_t gpu_number(const as_trace_view *view, size_t row) { return is_of_gpu(view, row); }
static int64_t below_number(const as_trace_view *view, size_t row) { return view->below && view->below[row]; }
static int64_t count_number(const as_trace_view *view, size_t row) {
    return (int64_t)(view->has_intervals ? view->timeline.rows[row].n_intervals : view->lines[row]->n);
}

static void build_rows(as_builder *b, const as_trace_view *view, size_t n) {
    as_build_object(b, "rows", false);
    as_build_array(b, "label", false);
    for (size_t i = 0; i < n; i++) {
        const char *label = as_trace_listed(view, i);
        as_build_text(b, NULL, label + strspn(label, " "));
    }
    as_build_end(b);
    as_build_array(b, "track", false);
    for (size_t i = 0; i < n; i++) as_build_text(b, NULL, track_of(view, i));
    as_build_end(b);
    build_numbers(b, "location", view, n, location_number);
    build_numbers(b, "run", view, n, run_number);
    build_numbers(b, "gpu", view, n, gpu_number);
    build_numbers(b, "below", view, n, below_number);
    build_numbers(b, "n", view, n, count_number);
    as_build_end(b);
}

static assay_status answer_timeline(as_viewing *viewing, const as_request *request, as_output *out,
                                    assay_error *error) {
    as_lines *lines;
    const as_frames *frames;
    as_builder b = as_builder_of(out);
    AS_TRY(as_lines_of(viewing, request, &lines, error));
    AS_TRY(as_lines_frames_at(viewing, lines, lines->telling, &frames, error));
    const as_trace_view *view = &lines->view;
    size_t n = view->n_lines < MOST_LISTED ? view->n_lines : MOST_LISTED;
    b.compact = true;
    as_build_object(&b, NULL, false);
    as_build_text(&b, "counted", as_trace_counted(view));
    as_build_whole(&b, "count", view->n_samples);
    as_build_real(&b, "from", view->from);
    as_build_real(&b, "to", view->to);
    as_build_real(&b, "ticks_per_second", view->clock.ticks_per_second);
    as_build_int(&b, "depth", lines->telling < frames->deepest ? lines->telling : frames->deepest);
    as_build_int(&b, "deepest", frames->deepest);
    as_build_int(&b, "n_runs", (int64_t)view->n_runs);
    as_build_int(&b, "pauses", (int64_t)view->timeline.n_pauses);
    as_build_int(&b, "hidden", (int64_t)view->timeline.n_hidden);
    as_build_int(&b, "n_rows", (int64_t)view->n_lines);
    build_rows(&b, view, n);
    build_groups(&b, view, n);
    as_build_end(&b);
    return ASSAY_OK;
}

const as_endpoint as_endpoint_timeline = {.path = "timeline", .answer = answer_timeline};
