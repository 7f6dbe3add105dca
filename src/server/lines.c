#include "server/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARPEST_GLANCE = 100, MOST_GLANCED = 256, BLOCK = 1024 };

/* The parameters that say which lines. */
#define CHOICE "run location wallclock"

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static void free_lines(void *object) {
    as_lines *lines = object;
    for (size_t i = 0; i < lines->view.n_lines && lines->block_ends; i++) free(lines->block_ends[i]);
    free(lines->block_ends);
    as_trace_view_free(&lines->view);
    free(lines->key);
    free(lines);
}

static size_t size_of(const as_lines *lines) {
    enum { BYTES_OF_LINE = 256 };
    return sizeof *lines + lines->view.n_lines * BYTES_OF_LINE + (size_t)as_timeline_size(&lines->view.timeline);
}

/* What was chosen. NULL when memory is out. */
static char *key_of(const as_view_input *input, const as_request *request) {
    char number[32];
    as_vec key;
    as_vec_init(&key, 1, NULL);
    snprintf(number, sizeof number, "lines %p", (const void *)input);
    bool fine = as_vec_text(&key, number) && as_request_words(request, CHOICE, &key) && as_vec_append(&key, "", 1);
    char *text = fine ? strdup(key.data) : NULL;
    as_vec_free(&key);
    return text;
}

/* Looks at all lines, or at some where they are many, and finds the depth that tells most. */
static assay_status find_telling(as_lines *lines, assay_error *error) {
    size_t rows[MOST_GLANCED], n = lines->view.n_lines < MOST_GLANCED ? lines->view.n_lines : MOST_GLANCED;
    as_trace_view part;
    for (size_t i = 0; i < n; i++) rows[i] = as_lines_every(lines, i, n);
    assay_status status = as_lines_part(lines, &lines->view.window, rows, n, SHARPEST_GLANCE, &part, error);
    if (status == ASSAY_OK) status = as_lines_look(&part, error);
    if (status == ASSAY_OK) status = as_trace_find_depth(&part, &lines->telling, error);
    as_lines_part_free(&part);
    return status;
}

static assay_status make_lines(as_view_input *input, as_request_cli *made, as_lines *lines, assay_error *error) {
    as_exit status = as_trace_choose_lines(&made->cli, input->ds, input->path, &lines->view);
    lines->view.cli = NULL; /* it ends with the request */
    AS_TRY(as_request_cli_status(made, status, error));
    lines->block_ends = calloc(lines->view.n_lines + 1, sizeof *lines->block_ends);
    return lines->block_ends ? find_telling(lines, error) : as_fail_memory(error, NULL);
}

static assay_status find_or_make(as_viewing *viewing, as_view_input *input, const as_request *request,
                                 as_request_cli *made, as_lines **out, assay_error *error) {
    char *key = key_of(input, request);
    if (!key) return as_fail_memory(error, NULL);
    *out = as_viewing_find(viewing, key);
    if (*out) {
        free(key);
        return ASSAY_OK;
    }
    as_lines *lines = calloc(1, sizeof *lines);
    if (!lines) {
        free(key);
        return as_fail_memory(error, NULL);
    }
    lines->key = key;
    assay_status status = make_lines(input, made, lines, error);
    if (status != ASSAY_OK) {
        free_lines(lines);
        return status;
    }
    if (!as_viewing_keep(viewing, key, lines, size_of(lines), free_lines)) return as_fail_memory(error, NULL);
    *out = lines;
    return ASSAY_OK;
}

assay_status as_lines_of(as_viewing *viewing, const as_request *request, as_lines **out, assay_error *error) {
    as_view_input *input;
    as_request_cli made;
    AS_TRY(as_request_input(viewing, request, "d", &input, error));
    assay_status status = as_request_cli_make(request, "trace", CHOICE, NULL, &made, error);
    if (status == ASSAY_OK) status = find_or_make(viewing, input, request, &made, out, error);
    as_request_cli_free(&made);
    return status;
}

static void free_frames(void *object) {
    as_frames_free(object);
    free(object);
}

assay_status as_lines_frames_at(as_viewing *viewing, as_lines *lines, uint32_t depth, const as_frames **out,
                                assay_error *error) {
    const as_vec *names = &lines->view.timeline.names;
    char *key;
    if (asprintf(&key, "frames %u of %s", depth, lines->key) < 0) return as_fail_memory(error, NULL);
    as_frames *frames = as_viewing_find(viewing, key);
    assay_status status = ASSAY_OK;
    if (!frames) {
        frames = calloc(1, sizeof *frames);
        status = frames ? as_frames_at(lines->view.ds, depth, false, frames, error) : as_fail_memory(error, NULL);
        if (status == ASSAY_OK && names->count &&
            !as_frames_add_names(frames, lines->view.ds, names->data, names->count))
            status = as_fail_memory(error, NULL);
        if (status != ASSAY_OK && frames) free_frames(frames);
        if (status == ASSAY_OK) {
            size_t bytes = frames->n_contexts * (2 * sizeof(uint32_t) + sizeof(as_procedure)) + sizeof *frames;
            if (!as_viewing_keep(viewing, key, frames, bytes, free_frames)) status = as_fail_memory(error, NULL);
        }
    }
    free(key);
    *out = status == ASSAY_OK ? frames : NULL;
    return status;
}

assay_status as_lines_frames(as_viewing *viewing, const as_request *request, as_lines *lines, const as_frames **out,
                             assay_error *error) {
    const char *text = as_request_text(request, "depth");
    int64_t depth = AS_DEEPEST;
    if (!text || strcmp(text, "deepest") != 0)
        AS_TRY(as_request_number(request, "depth", 1, AS_DEEPEST, lines->telling, &depth, error));
    return as_lines_frames_at(viewing, lines, (uint32_t)depth, out, error);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

assay_status as_lines_window(const as_lines *lines, const as_request *request, as_trace_window *out,
                             assay_error *error) {
    const as_trace_view *view = &lines->view;
    double from, to;
    AS_TRY(as_request_real(request, "from", view->from, &from, error));
    AS_TRY(as_request_real(request, "to", view->to, &to, error));
    *out = view->window;
    if (as_request_text(request, "from")) out->from = as_clock_stamp(&view->clock, from);
    if (as_request_text(request, "to")) out->to = as_clock_stamp(&view->clock, to);
    if (out->from < view->window.from) out->from = view->window.from;
    if (out->to > view->window.to) out->to = view->window.to;
    if (out->from <= out->to) return ASSAY_OK;
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "", "there is nothing from %s to %s",
                   as_request_text(request, "from") ? as_request_text(request, "from") : "the beginning",
                   as_request_text(request, "to") ? as_request_text(request, "to") : "the end");
}

assay_status as_lines_row(const as_lines *lines, const as_request *request, size_t *out, assay_error *error) {
    int64_t row;
    AS_TRY(as_request_number(request, "row", 0, (int64_t)lines->view.n_lines - 1, 0, &row, error));
    *out = (size_t)row;
    return ASSAY_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

assay_status as_lines_part(const as_lines *lines, const as_trace_window *window, const size_t *rows, size_t n,
                           size_t n_columns, as_trace_view *part, assay_error *error) {
    const as_trace_view *view = &lines->view;
    size_t n_cells;
    *part = *view;
    part->n_lines = n;
    part->n_columns = n_columns;
    part->lines = calloc(n + 1, sizeof *part->lines);
    part->are_stamped = calloc(n + 1, sizeof *part->are_stamped);
    part->timeline.rows = calloc(n + 1, sizeof *part->timeline.rows);
    part->timeline.n_rows = view->has_intervals ? n : 0;
    part->cells = as_mul_size(n, n_columns, &n_cells) ? calloc(n_cells + 1, sizeof *part->cells) : NULL;
    if (!part->lines || !part->are_stamped || !part->timeline.rows || !part->cells) return as_fail_memory(error, NULL);
    for (size_t i = 0; i < n; i++) {
        part->lines[i] = view->lines[rows[i]];
        part->are_stamped[i] = view->are_stamped[rows[i]];
        if (view->has_intervals) part->timeline.rows[i] = view->timeline.rows[rows[i]];
    }
    part->window = *window;
    part->window.lines = part->lines;
    part->window.n_lines = n;
    if (window->are_stamped) part->window.are_stamped = part->are_stamped;
    return ASSAY_OK;
}

void as_lines_part_free(as_trace_view *part) {
    free(part->lines);
    free(part->are_stamped);
    free(part->timeline.rows);
    free(part->cells);
}

assay_status as_lines_draw(as_trace_view *part, const as_frames *frames, assay_error *error) {
    if (!part->has_intervals) return as_trace_picture(part->ds, &part->window, part->n_columns, part->cells, error);
    return as_timeline_glance(&part->timeline, &part->window, frames, part->n_columns, part->cells)
               ? ASSAY_OK
               : as_fail_memory(error, NULL);
}

assay_status as_lines_look(as_trace_view *part, assay_error *error) {
    if (!part->has_intervals) return as_trace_picture(part->ds, &part->window, part->n_columns, part->cells, error);
    return as_timeline_moments(&part->timeline, &part->window, part->n_columns, part->cells)
               ? ASSAY_OK
               : as_fail_memory(error, NULL);
}

const char *as_lines_kind(const as_lines *lines, assay_id context) {
    const as_dataset *ds = lines->view.ds;
    assay_id region = context < AS_COUNT(ds, contexts) ? as_ds_context(ds, context)->region : ASSAY_NONE;
    return region == ASSAY_NONE ? NULL : as_ds_text(ds, as_ds_region(ds, region)->kind);
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* The latest end of each block, so that what began long ago and still lasts is found without looking at all there is.
 * NULL when memory is out. */
static const uint64_t *ends_of(as_lines *lines, size_t number) {
    const as_timeline *timeline = &lines->view.timeline;
    const as_timeline_row *row = &timeline->rows[number];
    if (lines->block_ends[number]) return lines->block_ends[number];
    uint64_t *ends = calloc(row->n_intervals / BLOCK + 1, sizeof *ends);
    for (size_t i = 0; ends && i < row->n_intervals; i++) {
        uint64_t end = as_row_interval(timeline, row, i).end;
        if (end > ends[i / BLOCK]) ends[i / BLOCK] = end;
    }
    return lines->block_ends[number] = ends;
}

/* Those around the one at hand, by their ends. */
typedef struct around {
    as_vec ends; /* uint64_t */
    bool (*visit)(void *user, const as_interval *interval, size_t level);
    void *user;
} around;

static bool tell(around *a, const as_interval *interval) {
    while (a->ends.count && AS_AT(uint64_t, &a->ends, a->ends.count - 1) <= interval->start) a->ends.count--;
    return a->visit(a->user, interval, a->ends.count) && as_vec_append(&a->ends, &interval->end, 1);
}

bool as_lines_each_interval(as_lines *lines, size_t number, const as_trace_window *window,
                            bool (*visit)(void *user, const as_interval *interval, size_t level), void *user) {
    const as_timeline *timeline = &lines->view.timeline;
    const as_timeline_row *row = &timeline->rows[number];
    const uint64_t *ends = ends_of(lines, number);
    around a = {.visit = visit, .user = user};
    size_t first, end;
    if (!ends) return false;
    as_vec_init(&a.ends, sizeof(uint64_t), NULL);
    as_row_intervals(timeline, row, window->from, window->to, &first, &end);
    bool fine = true;
    for (size_t block = 0; block * BLOCK < first && fine; block++) {
        if (ends[block] <= window->from) continue;
        size_t until = (block + 1) * BLOCK < first ? (block + 1) * BLOCK : first;
        for (size_t i = block * BLOCK; i < until && fine; i++) {
            as_interval interval = as_row_interval(timeline, row, i);
            if (interval.end > window->from) fine = tell(&a, &interval);
        }
    }
    for (; first < end && fine; first++) {
        as_interval interval = as_row_interval(timeline, row, first);
        fine = tell(&a, &interval);
    }
    as_vec_free(&a.ends);
    return fine;
}
