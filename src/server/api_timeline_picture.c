/* What the rows of the time line show in a window, and how much time it takes (api/timeline_picture). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/lines.h"

enum {
    USUAL_COLUMNS = 600,
    MOST_COLUMNS = 2000,
    MOST_ROWS = AS_MOST_LINES_AT_ONCE,
    USUAL_BINS = 100,
    MOST_BINS = 500,
    MOST_PROCEDURES = 2000, /* that are named; the others are one */
    MOST_BINNED = 24,       /* procedures with a share of their own in each bin */
    MOST_EXACT = 200000,    /* samples or changes that are told as they are */
    MOST_GLANCED = 256,     /* lines whose moments tell shares */
    MOST_MOMENTS = 1 << 18,
    MOST_OF_BIN = 256
};
/* Windows with more samples, or changes of rows, are not read as a whole: their times are those of a picture. */
static const uint64_t read_at_once = (uint64_t)1 << 20;

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static assay_status fail_rows(const char *text, assay_error *error) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                   "'rows' cannot be '%.100s'; numbers of at most %d rows such as 0-9,12, or none", text, MOST_ROWS);
}

/* "0-9,12": those that are there. By default the first; "none". */
static assay_status choose_rows(const as_request *request, size_t n_lines, size_t rows[MOST_ROWS], size_t *n,
                                assay_error *error) {
    const char *text = as_request_text(request, "rows");
    *n = 0;
    if (text && strcmp(text, "none") == 0) return ASSAY_OK;
    if (!text) {
        while (*n < MOST_ROWS && *n < n_lines) rows[*n] = *n, ++*n;
        return ASSAY_OK;
    }
    for (const char *at = text;; at++) {
        size_t ends[2], size;
        for (int i = 0; i < 2; i++) {
            as_number number;
            size = strspn(at, "0123456789");
            if (!as_number_parse(at, size, &number) || number.kind != AS_INT || number.i < 0)
                return fail_rows(text, error);
            ends[i] = (size_t)number.i;
            at += size;
            if (i == 0 && *at != '-') ends[++i] = ends[0];
            if (i == 0) at++;
        }
        for (size_t row = ends[0]; row <= ends[1] && row < n_lines; row++) {
            if (*n == MOST_ROWS) return fail_rows(text, error);
            rows[(*n)++] = row;
        }
        if (*at == '\0') return ASSAY_OK;
        if (*at != ',') return fail_rows(text, error);
    }
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* How many samples or changes the window has; estimated where nobody reads all of them. */
static assay_status count_inside(const as_lines *lines, const as_trace_window *window, uint64_t *out,
                                 assay_error *error) {
    const as_trace_view *view = &lines->view;
    uint64_t n = 0, first, end;
    if (!view->is_exact) {
        double span = (double)(view->window.to - view->window.from), part = (double)(window->to - window->from);
        *out = span > 0 ? (uint64_t)((double)view->n_samples * (part / span)) : view->n_samples;
        return ASSAY_OK;
    }
    for (size_t i = 0; i < view->n_lines; i++) {
        if (view->lines[i]->n == 0) continue;
        AS_TRY(as_trace_find(view->ds, view->lines[i], window->from, &first, error));
        AS_TRY(as_trace_find(view->ds, view->lines[i], window->to, &end, error));
        n += end - first;
    }
    *out = n;
    return ASSAY_OK;
}

/* From moments of all lines, or of some of many: what takes most of a column would hide what it has besides. */
static assay_status see_times(const as_lines *lines, const as_trace_window *window, const as_frames *frames,
                              size_t n_bins, as_trace_times *out, assay_error *error) {
    size_t rows[MOST_GLANCED], n = lines->view.n_lines < MOST_GLANCED ? lines->view.n_lines : MOST_GLANCED;
    size_t per_bin = MOST_MOMENTS / n / n_bins;
    as_trace_view part;
    for (size_t i = 0; i < n; i++) rows[i] = as_lines_every(lines, i, n);
    per_bin = per_bin < 2 ? 2 : per_bin > MOST_OF_BIN ? MOST_OF_BIN : per_bin;
    assay_status status = as_lines_part(lines, window, rows, n, per_bin * n_bins, &part, error);
    if (status == ASSAY_OK) status = as_lines_look(&part, error);
    if (status == ASSAY_OK)
        status = as_trace_times_seen(&part.window, frames, part.cells, part.n_columns, n_bins, out, error);
    as_lines_part_free(&part);
    return status;
}

static assay_status find_times(const as_lines *lines, const as_trace_window *window, const as_frames *frames,
                               size_t n_bins, as_trace_times *out, bool *is_exact, assay_error *error) {
    uint64_t n;
    *out = (as_trace_times){0};
    AS_TRY(count_inside(lines, window, &n, error));
    *is_exact = n <= read_at_once;
    if (!*is_exact) return see_times(lines, window, frames, n_bins, out, error);
    AS_TRY(as_trace_times_of(lines->view.ds, window, frames, n_bins, out, error));
    if (lines->view.has_intervals && !as_timeline_count(&lines->view.timeline, window, frames, out))
        return as_fail_memory(error, NULL);
    return ASSAY_OK;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* The procedures of an answer, which it calls by their numbers. */
typedef struct listing {
    const as_lines *lines;
    const as_frames *frames;
    const as_trace_times *times;
    int32_t *numbers; /* for each procedure; -1: it is not listed */
    as_vec listed;    /* as_procedure_time: those that have time, the longest first; then others that are seen */
} listing;

static bool list_procedure(listing *l, const as_procedure_time *time) {
    if (l->numbers[time->procedure] >= 0 || l->listed.count >= MOST_PROCEDURES) return true;
    l->numbers[time->procedure] = (int32_t)l->listed.count;
    return as_vec_append(&l->listed, time, 1);
}

static bool list_procedures(listing *l, const as_trace_view *part) {
    size_t n_cells = part->n_lines * part->n_columns;
    l->numbers = malloc((l->frames->n_procedures + 1) * sizeof *l->numbers);
    for (size_t i = 0; l->numbers && i < l->frames->n_procedures; i++) l->numbers[i] = -1;
    bool fine = l->numbers != NULL;
    for (size_t i = 0; i < l->times->all.n_procedures && fine; i++)
        fine = list_procedure(l, &l->times->all.procedures[i]);
    for (size_t i = 0; i < n_cells && fine; i++) {
        as_procedure_time seen = {.procedure = as_procedure_of(l->frames, part->cells[i])};
        if (seen.procedure != AS_NO_PROCEDURE) fine = list_procedure(l, &seen);
    }
    return fine;
}

static void build_procedures(as_builder *b, const listing *l) {
    const as_trace_view *view = &l->lines->view;
    const as_procedure_time *listed = l->listed.data;
    as_build_object(b, "procedures", false);
    as_build_array(b, "name", false);
    for (size_t i = 0; i < l->listed.count; i++)
        as_build_text(b, NULL, l->frames->procedures[listed[i].procedure].name);
    as_build_end(b);
    as_build_array(b, "context", false);
    for (size_t i = 0; i < l->listed.count; i++) {
        assay_id context = l->frames->procedures[listed[i].procedure].context;
        as_build_known(b, NULL, context < l->frames->n_contexts ? (int64_t)context : -1, false);
    }
    as_build_end(b);
    as_build_array(b, "kind", false);
    for (size_t i = 0; i < l->listed.count; i++) {
        static const char *const signs[] = {
            [AS_PROCEDURE_IDLE] = "idle", [AS_PROCEDURE_UNKNOWN] = "unknown", [AS_PROCEDURE_PAUSED] = "paused"};
        uint32_t procedure = listed[i].procedure;
        as_build_text(b, NULL,
                      procedure < AS_FIRST_PROCEDURE
                          ? signs[procedure]
                          : as_lines_kind(l->lines, l->frames->procedures[procedure].context));
    }
    as_build_end(b);
    as_build_array(b, "time", false);
    for (size_t i = 0; i < l->listed.count; i++) as_build_real(b, NULL, as_trace_duration(view, listed[i].ticks));
    as_build_end(b);
    as_build_array(b, "count", false);
    for (size_t i = 0; i < l->listed.count; i++) as_build_int(b, NULL, (int64_t)listed[i].n_samples);
    as_build_end(b);
    as_build_end(b);
}

/* The share of each bin's time, of the largest procedures; the first are those of the listing. */
static void build_bins(as_builder *b, const listing *l) {
    const as_trace_times *times = l->times;
    size_t n = times->all.n_procedures < MOST_BINNED ? times->all.n_procedures : MOST_BINNED;
    as_build_array(b, "bins", false);
    for (size_t i = 0; i < n; i++) {
        as_build_array(b, NULL, false);
        for (size_t bin = 0; bin < times->n_bins; bin++) {
            double all = times->bin_ticks[bin];
            /* Four digits are more than a screen shows. */
            as_build_real(
                b, NULL, all > 0 ? (double)(int64_t)(times->bins[i * times->n_bins + bin] / all * 1e4 + 0.5) / 1e4 : 0);
        }
        as_build_end(b);
    }
    as_build_end(b);
}

/* For each row how many columns show which procedure, -1: nothing, -2: one that is not listed. */
static void build_pieces(as_builder *b, const listing *l, const as_trace_view *part) {
    as_build_array(b, "pieces", false);
    for (size_t i = 0; i < part->n_lines; i++) {
        const assay_id *cells = part->cells + i * part->n_columns;
        as_build_array(b, NULL, false);
        for (size_t column = 0, begin = 0; column < part->n_columns; begin = column) {
            uint32_t procedure = as_procedure_of(l->frames, cells[column]);
            while (column < part->n_columns && as_procedure_of(l->frames, cells[column]) == procedure) column++;
            as_build_int(b, NULL, (int64_t)(column - begin));
            as_build_int(b, NULL,
                         procedure == AS_NO_PROCEDURE ? -1
                         : l->numbers[procedure] < 0  ? -2
                                                      : l->numbers[procedure]);
        }
        as_build_end(b);
    }
    as_build_end(b);
}

/* One row as it is told: stretches of ticks. Those that show the same are one. */
typedef struct stretches {
    as_builder *builder;
    uint64_t from, to; /* the window */
    uint64_t begin;    /* of the one at hand */
    int64_t shown;
} stretches;

static void end_stretch(stretches *s, uint64_t end) {
    if (end <= s->begin) return;
    as_build_real(s->builder, NULL, (double)(end - s->begin));
    as_build_int(s->builder, NULL, s->shown);
    s->begin = end;
}

static void show_from(stretches *s, uint64_t time, int64_t shown) {
    uint64_t at = time < s->from ? s->from : time > s->to ? s->to : time;
    if (shown == s->shown) return;
    end_stretch(s, at);
    s->shown = shown;
}

/* What a row shows, tick by tick. */
static assay_status build_exact_row(as_builder *b, const listing *l, const as_trace_view *part, size_t row,
                                    assay_error *error) {
    enum { AT_ONCE = 1024 };
    const as_trace_line *line = part->lines[row];
    as_trace_rule rule = as_trace_rule_of(&part->window, row);
    as_trace_sample *samples = malloc(AT_ONCE * sizeof *samples);
    if (!samples) return as_fail_memory(error, NULL);
    stretches s = {b, part->window.from, part->window.to, part->window.from, -1};
    assay_status status = ASSAY_OK;
    uint64_t before = 0, begin = 0;
    if (line->n) status = as_trace_find(part->ds, line, s.from, &begin, error);
    begin -= begin > 0; /* what lasts until then */
    for (uint64_t first = begin; first < line->n && before <= s.to && status == ASSAY_OK; first += AT_ONCE) {
        size_t n = line->n - first < AT_ONCE ? (size_t)(line->n - first) : AT_ONCE;
        status = as_trace_read(part->ds, line, first, n, samples, error);
        for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
            uint32_t procedure = as_procedure_of(l->frames, samples[i].context);
            bool is_first = first + i == begin;
            show_from(&s, is_first ? samples[i].time : as_lines_border(before, samples[i].time, rule),
                      procedure == AS_NO_PROCEDURE ? -1
                      : l->numbers[procedure] < 0  ? -2
                                                   : l->numbers[procedure]);
            before = samples[i].time;
        }
    }
    if (line->n) show_from(&s, before, -1);
    end_stretch(&s, s.to);
    free(samples);
    return status;
}

/* As build_pieces(), in ticks. */
static assay_status build_exact(as_builder *b, const listing *l, const as_trace_view *part, assay_error *error) {
    assay_status status = ASSAY_OK;
    as_build_array(b, "pieces", false);
    for (size_t i = 0; i < part->n_lines && status == ASSAY_OK; i++) {
        as_build_array(b, NULL, false);
        status = build_exact_row(b, l, part, i, error);
        as_build_end(b);
    }
    as_build_end(b);
    return status;
}

/* in_ticks: its columns are ticks. */
static assay_status build_answer(as_builder *b, const listing *l, const as_trace_view *part, const size_t *rows,
                                 bool is_exact, bool in_ticks, int64_t node, assay_error *error) {
    const as_trace_view *view = &l->lines->view;
    const as_frames *frames = l->frames;
    b->compact = true;
    as_build_object(b, NULL, false);
    as_build_real(b, "from", as_clock_seconds(&view->clock, part->window.from));
    as_build_real(b, "to", as_clock_seconds(&view->clock, part->window.to));
    as_build_real(b, "columns", in_ticks ? (double)(part->window.to - part->window.from) : (double)part->n_columns);
    as_build_int(b, "depth", frames->depth < frames->deepest ? frames->depth : frames->deepest);
    as_build_bool(b, "exact", is_exact);
    as_build_real(b, "time", as_trace_duration(view, l->times->all.ticks));
    as_build_known(b, "count", is_exact ? (int64_t)l->times->all.n_samples : -1, false);
    as_build_real(b, "longest_gap", as_trace_duration(view, l->times->all.longest_gap));
    as_build_array(b, "rows", false);
    for (size_t i = 0; i < part->n_lines; i++) as_build_int(b, NULL, (int64_t)rows[i]);
    as_build_end(b);
    if (in_ticks)
        AS_TRY(build_exact(b, l, part, error));
    else
        build_pieces(b, l, part);
    build_procedures(b, l);
    if (node >= 0) as_build_known(b, "node", l->numbers[as_procedure_of(frames, (assay_id)node)], false);
    as_build_int(b, "n_bins", (int64_t)l->times->n_bins);
    build_bins(b, l);
    as_build_end(b);
    return ASSAY_OK;
}

static assay_status fail_exact(uint64_t n, assay_error *error) {
    return as_fail(error, ASSAY_E_USAGE, AS_NOWHERE, "",
                   "'exact' tells at most %d samples or changes, and there are %" PRIu64
                   ": leave it out, or look at fewer",
                   MOST_EXACT, n);
}

static assay_status answer_picture(as_viewing *viewing, const as_request *request, as_output *out, assay_error *error) {
    as_lines *lines;
    const as_frames *frames;
    as_trace_window window;
    as_trace_times times;
    as_trace_view part = {0};
    size_t rows[MOST_ROWS], n;
    int64_t columns, bins, node;
    bool is_exact = false;
    AS_TRY(as_lines_of(viewing, request, &lines, error));
    AS_TRY(as_lines_frames(viewing, request, lines, &frames, error));
    AS_TRY(as_lines_window(lines, request, &window, error));
    AS_TRY(as_request_number(request, "columns", 1, MOST_COLUMNS, USUAL_COLUMNS, &columns, error));
    AS_TRY(as_request_number(request, "bins", 1, MOST_BINS, USUAL_BINS, &bins, error));
    AS_TRY(as_request_number(request, "node", 0, (int64_t)frames->n_contexts - 1, -1, &node, error));
    AS_TRY(choose_rows(request, lines->view.n_lines, rows, &n, error));
    bool in_ticks = as_request_flag(request, "exact");
    if (in_ticks) {
        uint64_t n_inside;
        AS_TRY(count_inside(lines, &window, &n_inside, error));
        if (n_inside > MOST_EXACT) return fail_exact(n_inside, error);
        columns = 1;
    }
    assay_status status = find_times(lines, &window, frames, (size_t)bins, &times, &is_exact, error);
    if (status == ASSAY_OK) status = as_lines_part(lines, &window, rows, n, (size_t)columns, &part, error);
    if (status == ASSAY_OK && n > 0) status = as_lines_draw(&part, frames, error);
    listing l = {.lines = lines, .frames = frames, .times = &times};
    as_vec_init(&l.listed, sizeof(as_procedure_time), NULL);
    if (status == ASSAY_OK && !list_procedures(&l, &part)) status = as_fail_memory(error, NULL);
    if (status == ASSAY_OK) {
        as_builder b = as_builder_of(out);
        status = build_answer(&b, &l, &part, rows, is_exact, in_ticks, node, error);
    }
    free(l.numbers);
    as_vec_free(&l.listed);
    as_lines_part_free(&part);
    as_trace_times_free(&times);
    return status;
}

const as_endpoint as_endpoint_timeline_picture = {
    .path = "timeline_picture", .answer = answer_picture, .report = as_report_timeline};
