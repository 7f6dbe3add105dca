/* How much time the procedures have, of each line and in each part of a window. */
#include <stdlib.h>

#include "analysis/trace/trace.h"
#include "core/parallel.h"

/* Times are counted in halves of a tick, so that mid-points are exact, and in 128 bits, so that nothing overflows. */
typedef as_whole halves;

enum { SAMPLES_AT_ONCE = 4096, MOST_PIECES = 64 };

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* What a procedure has so far. */
typedef struct sum {
    uint32_t procedure;
    uint64_t n_samples;
    halves time;
} sum;

/* Sums of some procedures, found by their numbers; each with n_bins more. */
typedef struct sums {
    uint32_t *slot_of; /* for each procedure: 1 + index, or 0 */
    as_vec items;      /* sum */
    as_vec bins;       /* halves: n_bins for each item */
    size_t n_bins;
} sums;

static bool sums_init(sums *s, size_t n_procedures, size_t n_bins, as_budget *budget) {
    *s = (sums){.slot_of = calloc(n_procedures + 1, sizeof *s->slot_of), .n_bins = n_bins};
    as_vec_init(&s->items, sizeof(sum), budget);
    as_vec_init(&s->bins, sizeof(halves), budget);
    return s->slot_of != NULL;
}

static void sums_free(sums *s) {
    free(s->slot_of);
    as_vec_free(&s->items);
    as_vec_free(&s->bins);
}

static void sums_clear(sums *s) {
    for (size_t i = 0; i < s->items.count; i++) s->slot_of[AS_AT(sum, &s->items, i).procedure] = 0;
    s->items.count = s->bins.count = 0;
}

/* The index of a procedure's sum; SIZE_MAX when memory is out. */
static size_t slot(sums *s, uint32_t procedure) {
    if (s->slot_of[procedure]) return s->slot_of[procedure] - 1;
    sum *item = as_vec_push(&s->items);
    if (!item) return SIZE_MAX;
    *item = (sum){.procedure = procedure};
    for (size_t i = 0; i < s->n_bins; i++) {
        halves *bin = as_vec_push(&s->bins);
        if (!bin) return SIZE_MAX;
        *bin = 0;
    }
    s->slot_of[procedure] = (uint32_t)s->items.count;
    return s->items.count - 1;
}

static bool sums_add(sums *to, const sums *from) {
    for (size_t i = 0; i < from->items.count; i++) {
        const sum *item = &AS_AT(sum, &from->items, i);
        size_t at = slot(to, item->procedure);
        if (at == SIZE_MAX) return false;
        AS_AT(sum, &to->items, at).n_samples += item->n_samples;
        AS_AT(sum, &to->items, at).time += item->time;
        for (size_t b = 0; b < to->n_bins && from->n_bins; b++)
            AS_AT(halves, &to->bins, at * to->n_bins + b) += AS_AT(halves, &from->bins, i * from->n_bins + b);
    }
    return true;
}

/* ---- one line ---------------------------------------------------------------------------------------------------- */

typedef struct work {
    const as_dataset *ds;
    const as_trace_window *window;
    const as_frames *frames;
    halves from, to;  /* the window's */
    halves *bin_ends; /* n_bins */
    size_t n_bins, n_pieces;
    sums *pieces; /* of all lines of a piece, with bins */
    as_line_times *lines;
    assay_status *statuses; /* of each piece */
    assay_error *errors;
} work;

/* Where in its line a piece of work is. Samples of one procedure that follow each other are taken together. */
typedef struct walk {
    const work *w;
    sums *own, *shared; /* of the line; of the piece, with bins */
    as_line_times *out;
    as_trace_rule rule;
    uint32_t procedure; /* of the last sample */
    uint64_t time;      /* of the last sample */
    uint64_t n_samples; /* of this procedure inside the window, not counted yet */
    uint64_t longest_gap;
    halves begin; /* where their time begins, inside the window */
    size_t bin;   /* that holds it */
    bool has_sample;
} walk;

static void give_bins(const work *w, walk *k, halves end, halves *bins) {
    for (halves begin = k->begin; begin < end;) {
        while (w->bin_ends[k->bin] <= begin && k->bin + 1 < w->n_bins) k->bin++;
        halves until = k->bin + 1 < w->n_bins && w->bin_ends[k->bin] < end ? w->bin_ends[k->bin] : end;
        bins[k->bin] += until - begin;
        begin = until;
    }
}

/* Gives the samples at hand, and the time from k->begin up to `end`, to their procedure. */
static bool give(walk *k, halves end) {
    const work *w = k->w;
    if (end > w->to) end = w->to;
    bool has_time = end > k->begin;
    if (k->procedure == AS_NO_PROCEDURE) {
        k->n_samples = 0;
        if (has_time) k->begin = end;
        return true;
    }
    if (!has_time && !k->n_samples) return true;
    size_t at = slot(k->own, k->procedure);
    if (at == SIZE_MAX) return false;
    AS_AT(sum, &k->own->items, at).n_samples += k->n_samples;
    k->n_samples = 0;
    if (!has_time) return true;
    AS_AT(sum, &k->own->items, at).time += end - k->begin;
    if (w->n_bins) {
        at = slot(k->shared, k->procedure);
        if (at == SIZE_MAX) return false;
        give_bins(w, k, end, &AS_AT(halves, &k->shared->bins, at * w->n_bins));
    }
    k->begin = end;
    return true;
}

static inline void count_sample(walk *k, uint64_t time) {
    as_line_times *out = k->out;
    if (time < k->w->window->from || time > k->w->window->to) return;
    if (!out->n_samples++) {
        out->first = time;
    } else if (time - out->last > k->longest_gap) {
        k->longest_gap = time - out->last;
        out->gap_at = out->last;
    }
    out->last = time;
    k->n_samples++;
}

static inline bool take_sample(walk *k, const as_trace_sample *sample) {
    uint32_t procedure = as_procedure_of(k->w->frames, sample->context);
    if (!k->has_sample) {
        halves time = (halves)sample->time * 2;
        k->begin = time > k->w->from ? time : k->w->from;
        k->has_sample = true;
    } else if (procedure != k->procedure) {
        bool is_nearest = k->rule == AS_TRACE_NEAREST;
        if (!give(k, (halves)sample->time + (halves)(is_nearest ? k->time : sample->time))) return false;
    }
    k->procedure = procedure;
    k->time = sample->time;
    count_sample(k, sample->time);
    return true;
}

/* The samples of the window, and the nearest outside, which may own time inside. */
static assay_status walk_line(walk *k, const as_trace_line *line, as_trace_sample *samples, assay_error *error) {
    const work *w = k->w;
    uint64_t first, end = line->n;
    AS_TRY(as_trace_find(w->ds, line, w->window->from, &first, error));
    if (w->window->to < UINT64_MAX) AS_TRY(as_trace_find(w->ds, line, w->window->to + 1, &end, error));
    if (first > 0) first--;
    if (end < line->n) end++;
    while (first < end) {
        size_t n = end - first < SAMPLES_AT_ONCE ? (size_t)(end - first) : SAMPLES_AT_ONCE;
        AS_TRY(as_trace_read(w->ds, line, first, n, samples, error));
        for (size_t i = 0; i < n; i++) {
            if (!take_sample(k, &samples[i])) return as_fail_memory(error, NULL);
        }
        first += n;
    }
    if (k->has_sample && !give(k, (halves)k->time * 2)) return as_fail_memory(error, NULL);
    k->out->longest_gap = (double)k->longest_gap;
    return ASSAY_OK;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b) {
    const sum *x = *(const sum *const *)a, *y = *(const sum *const *)b;
    if (x->time != y->time) return x->time > y->time ? -1 : 1;
    if (x->n_samples != y->n_samples) return x->n_samples > y->n_samples ? -1 : 1;
    return (x->procedure > y->procedure) - (x->procedure < y->procedure);
}

/* Puts sums down as procedures, sorted; bins (may be NULL) gets theirs. */
static bool put_sums(const sums *s, as_line_times *out, double *bins) {
    size_t n = s->items.count;
    const sum **order = malloc((n + 1) * sizeof *order);
    out->procedures = calloc(n + 1, sizeof *out->procedures);
    if (!order || !out->procedures) {
        free(order);
        return false;
    }
    halves total = 0;
    for (size_t i = 0; i < n; i++) order[i] = &AS_AT(sum, &s->items, i);
    qsort(order, n, sizeof *order, compare_sums);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(order[i] - &AS_AT(sum, &s->items, 0));
        out->procedures[i] = (as_procedure_time){
            .procedure = order[i]->procedure, .n_samples = order[i]->n_samples, .ticks = (double)order[i]->time / 2};
        total += order[i]->time;
        for (size_t b = 0; bins && b < s->n_bins; b++)
            bins[i * s->n_bins + b] = (double)AS_AT(halves, &s->bins, at * s->n_bins + b) / 2;
    }
    out->n_procedures = n;
    out->ticks = (double)total / 2;
    free(order);
    return true;
}

/* What lines have in common. */
static void sum_up_lines(as_trace_times *times) {
    as_line_times *all = &times->all;
    for (size_t i = 0; i < times->n_lines; i++) {
        const as_line_times *line = &times->lines[i];
        if (!line->n_samples) continue;
        if (!all->n_samples || line->first < all->first) all->first = line->first;
        if (!all->n_samples || line->last > all->last) all->last = line->last;
        if (line->longest_gap > all->longest_gap) {
            all->longest_gap = line->longest_gap;
            all->gap_at = line->gap_at;
        }
        all->n_samples += line->n_samples;
    }
}

static bool put_all(const sums *all, size_t n_bins, as_trace_times *out) {
    out->bins = calloc(all->items.count * n_bins + 1, sizeof *out->bins);
    out->bin_ticks = calloc(n_bins + 1, sizeof *out->bin_ticks);
    out->n_bins = n_bins;
    if (!out->bins || !out->bin_ticks || !put_sums(all, &out->all, out->bins)) return false;
    for (size_t b = 0; b < n_bins; b++) {
        halves ticks = 0;
        for (size_t i = 0; i < all->items.count; i++) ticks += AS_AT(halves, &all->bins, i * n_bins + b);
        out->bin_ticks[b] = (double)ticks / 2;
    }
    sum_up_lines(out);
    return true;
}

/* ---- exactly ----------------------------------------------------------------------------------------------------- */

/* The lines of one piece, one after the other. */
static assay_status do_lines(work *w, size_t piece, sums *own, as_trace_sample *samples, assay_error *error) {
    size_t n = w->window->n_lines;
    for (size_t i = n * piece / w->n_pieces; i < n * (piece + 1) / w->n_pieces; i++) {
        sums_clear(own);
        walk k = {.w = w,
                  .own = own,
                  .shared = &w->pieces[piece],
                  .out = &w->lines[i],
                  .rule = as_trace_rule_of(w->window, i)};
        AS_TRY(walk_line(&k, w->window->lines[i], samples, error));
        if (!put_sums(own, &w->lines[i], NULL) || !sums_add(&w->pieces[piece], own)) return as_fail_memory(error, NULL);
    }
    return ASSAY_OK;
}

static void do_piece(void *user, size_t piece) {
    work *w = user;
    sums own;
    as_trace_sample *samples = malloc(SAMPLES_AT_ONCE * sizeof *samples);
    bool fine = sums_init(&own, w->frames->n_procedures, 0, as_ds_budget(w->ds)) &&
                sums_init(&w->pieces[piece], w->frames->n_procedures, w->n_bins, as_ds_budget(w->ds)) && samples;
    w->statuses[piece] =
        fine ? do_lines(w, piece, &own, samples, &w->errors[piece]) : as_fail_memory(&w->errors[piece], NULL);
    free(samples);
    sums_free(&own);
}

static assay_status do_all(work *w, as_trace_times *out, assay_error *error) {
    w->from = (halves)w->window->from * 2;
    w->to = (halves)w->window->to * 2;
    for (size_t b = 0; b < w->n_bins; b++)
        w->bin_ends[b] = w->from + (w->to - w->from) * (halves)(b + 1) / (halves)w->n_bins;
    as_parallel(w->n_pieces, 0, do_piece, w);
    for (size_t i = 0; i < w->n_pieces; i++) {
        if (w->statuses[i] == ASSAY_OK) continue;
        if (error) *error = w->errors[i];
        return w->statuses[i];
    }
    sums all;
    bool fine = sums_init(&all, w->frames->n_procedures, w->n_bins, as_ds_budget(w->ds));
    for (size_t i = 0; i < w->n_pieces && fine; i++) fine = sums_add(&all, &w->pieces[i]);
    fine = fine && put_all(&all, w->n_bins, out);
    sums_free(&all);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

/* Each piece may have the bins of all procedures. */
static size_t count_pieces(size_t n_lines, size_t n_procedures, size_t n_bins) {
    enum { FEWEST_PIECES = 4, MOST_BINS = 1 << 24 };
    double fitting = MOST_BINS / ((double)(n_procedures + 1) * (double)(n_bins + 1));
    size_t most = fitting < FEWEST_PIECES ? FEWEST_PIECES : fitting > MOST_PIECES ? MOST_PIECES : (size_t)fitting;
    return n_lines < most ? n_lines : most;
}

assay_status as_trace_times_of(const as_dataset *ds, const as_trace_window *window, const as_frames *frames,
                               size_t n_bins, as_trace_times *out, assay_error *error) {
    size_t n_pieces = count_pieces(window->n_lines, frames->n_procedures, n_bins);
    *out = (as_trace_times){.lines = calloc(window->n_lines + 1, sizeof *out->lines), .n_lines = window->n_lines};
    work w = {.ds = ds,
              .window = window,
              .frames = frames,
              .n_bins = n_bins,
              .n_pieces = n_pieces,
              .bin_ends = calloc(n_bins + 1, sizeof *w.bin_ends),
              .pieces = calloc(n_pieces + 1, sizeof *w.pieces),
              .lines = out->lines,
              .statuses = calloc(n_pieces + 1, sizeof *w.statuses),
              .errors = calloc(n_pieces + 1, sizeof *w.errors)};
    bool fine = out->lines && w.bin_ends && w.pieces && w.statuses && w.errors;
    assay_status status = fine ? do_all(&w, out, error) : as_fail_memory(error, NULL);
    for (size_t i = 0; i < n_pieces && w.pieces; i++) sums_free(&w.pieces[i]);
    free(w.bin_ends);
    free(w.pieces);
    free(w.statuses);
    free(w.errors);
    return status;
}

/* ---- from a picture ---------------------------------------------------------------------------------------------- */

assay_status as_trace_times_seen(const as_trace_window *window, const as_frames *frames, const assay_id *cells,
                                 size_t n_columns, size_t n_bins, as_trace_times *out, assay_error *error) {
    sums all, own;
    *out = (as_trace_times){.lines = calloc(window->n_lines + 1, sizeof *out->lines), .n_lines = window->n_lines};
    bool fine = sums_init(&all, frames->n_procedures, n_bins, NULL);
    fine = sums_init(&own, frames->n_procedures, n_bins, NULL) && fine && out->lines;
    halves span = ((halves)window->to - (halves)window->from) * 2;
    for (size_t i = 0; i < window->n_lines && fine; i++) {
        sums_clear(&own);
        for (size_t c = 0; c < n_columns && fine; c++) {
            assay_id context = cells[i * n_columns + c];
            if (context == AS_TRACE_NOTHING) continue;
            halves time = span * (halves)(c + 1) / (halves)n_columns - span * (halves)c / (halves)n_columns;
            size_t at = slot(&own, as_procedure_of(frames, context));
            fine = at != SIZE_MAX;
            if (!fine) break;
            AS_AT(sum, &own.items, at).time += time;
            if (n_bins) AS_AT(halves, &own.bins, at * n_bins + c * n_bins / n_columns) += time;
        }
        fine = fine && put_sums(&own, &out->lines[i], NULL) && sums_add(&all, &own);
    }
    fine = fine && put_all(&all, n_bins, out);
    sums_free(&own);
    sums_free(&all);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

void as_trace_times_free(as_trace_times *times) {
    for (size_t i = 0; i < times->n_lines && times->lines; i++) free(times->lines[i].procedures);
    free(times->lines);
    free(times->all.procedures);
    free(times->bins);
    free(times->bin_ticks);
    *times = (as_trace_times){0};
}
