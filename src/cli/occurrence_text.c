/* `assay stat` over occurrences, for people. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/context_text.h"
#include "cli/occurrence_view.h"
#include "cli/pause_note.h"
#include "render/display.h"
#include "render/quantity.h"

enum { MOST_NAME = 48, LEAST_PATH = 24, CELL_SIZE = 128, WORDS_FOR_PEOPLE = 10 };

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* "12.3 ms": what occurs takes from nanoseconds to hours, so that each number has its own unit. */
static void put_amount(const as_occurrence_view *view, double value, const char *unit, char out[CELL_SIZE]) {
    char number[AS_QUANTITY_SIZE];
    out[0] = '\0';
    if (isnan(value)) return;
    bool is_whole = value == floor(value) && fabs(value) < 1e15 && !(unit && as_unit_is_time(unit));
    as_quantity q = as_quantity_of(unit, fabs(value), is_whole);
    as_quantity_format(&q, (as_number){.kind = AS_REAL, .r = value}, number);
    snprintf(out, CELL_SIZE, "%s%s%.40s", number, *q.unit ? " " : "", as_unit_shown(&q, view->is_ascii));
}

static void put_path(as_text *out, const as_occurrence_view *view, const as_subject *subject, as_vec *names) {
    as_path_style style = {.most = view->cli->style.width > 0 ? MOST_NAME : 0,
                           .ellipsis = view->is_ascii ? "..." : "…"};
    as_text_clear(out);
    if (subject->context != ASSAY_NONE) {
        as_context_put_path(out, view->names, subject->context, &style, names);
        return;
    }
    const char *name = as_ds_text(view->ds, subject->name), *kind = as_ds_text(view->ds, subject->kind);
    as_text_add(out, name && *name ? name : kind ? kind : "(no name)");
}

static size_t width_of(const char *cell) { return as_display_width(cell, strlen(cell)); }

/* Texts that are aligned to the right by blanks before them. */
static void pad(const char *cell, size_t width, char out[2 * CELL_SIZE]) {
    size_t taken = width_of(cell);
    snprintf(out, 2 * CELL_SIZE, "%*s%s", (int)(width > taken ? width - taken : 0), "", cell);
}

/* ---- a table of distributions ------------------------------------------------------------------------------------ */

enum column { PATH, KIND, COUNT, TOTAL, MEAN, STDDEV, MIN, P50, P90, P99, MAX, AT, RUN, N_COLUMNS };
static const char *const heads[] = {"call path", "kind", "count", "total", "mean", "stddev", "min",
                                    "p50",       "p90",  "p99",   "max",   "at",   "run"};

/* What the numbers are: the sum of states, such as the memory in use at each start, means nothing. */
enum what { TIMES, AMOUNTS, STATES };

/* A line of it: a subject, and what of it is shown. */
struct line {
    const as_subject *subject;
    const as_distribution *numbers;
    const char *unit;
};

struct layout {
    bool has[N_COLUMNS];
    size_t widths[N_COLUMNS];
};

static void put_longest(const as_occurrence_view *view, const as_subject *subject, bool is_run, char out[CELL_SIZE]) {
    as_event event;
    as_ds_event(view->ds, AS_AT(as_worst, &view->found.worst, subject->first_worst).event, &event);
    if (is_run && event.run != ASSAY_NONE)
        snprintf(out, CELL_SIZE, "%u", (unsigned)event.run);
    else if (!is_run)
        put_amount(view, event.start, "s", out);
}

static void put_cell(const as_occurrence_view *view, const struct line *line, enum column column, char out[CELL_SIZE]) {
    const as_distribution *d = line->numbers;
    const char *kind = as_ds_text(view->ds, line->subject->kind);
    const double numbers[N_COLUMNS] = {[TOTAL] = d->sum,  [MEAN] = d->mean, [STDDEV] = d->stddev, [MIN] = d->min,
                                       [P50] = d->median, [P90] = d->p90,   [P99] = d->p99,       [MAX] = d->max};
    out[0] = '\0';
    switch (column) {
    case KIND: snprintf(out, CELL_SIZE, "%.30s", kind ? kind : ""); break;
    case COUNT: as_count_format(d->n, out); break;
    case AT:
    case RUN:
        if (line->subject->n_worst) put_longest(view, line->subject, column == RUN, out);
        break;
    case PATH:
    case N_COLUMNS: break;
    default: put_amount(view, numbers[column], line->unit, out);
    }
}

/* Whether occurrences are of several kinds, so that it is worth a column. */
static bool has_kinds(const as_occurrence_view *view) {
    for (size_t i = 1; i < view->n_rows; i++) {
        if (as_occurrence_row(view, i)->kind != as_occurrence_row(view, 0)->kind) return true;
    }
    return false;
}

static struct layout lay_out(const as_occurrence_view *view, const struct line *lines, size_t n, enum what what) {
    /* What says least goes first, until call paths have enough room */
    static const enum column dispensable[] = {STDDEV, P90, MIN, RUN, AT, MEAN, KIND, P99, P50};
    struct layout l = {0};
    char cell[CELL_SIZE];
    size_t total = LEAST_PATH;
    for (int c = PATH; c < N_COLUMNS; c++) {
        l.has[c] = c == KIND    ? has_kinds(view)
                   : c == AT    ? what == TIMES
                   : c == RUN   ? what == TIMES && view->n_runs > 1
                   : c == TOTAL ? what != STATES
                                : true;
        l.widths[c] = width_of(heads[c]);
        for (size_t i = 0; i < n && c != PATH; i++) {
            put_cell(view, &lines[i], (enum column)c, cell);
            if (width_of(cell) > l.widths[c]) l.widths[c] = width_of(cell);
        }
        if (c != PATH && l.has[c]) total += l.widths[c] + 2;
    }
    unsigned width = view->cli->style.width;
    for (size_t i = 0; width && total > width && i < sizeof dispensable / sizeof *dispensable; i++) {
        if (l.has[dispensable[i]]) total -= l.widths[dispensable[i]] + 2;
        l.has[dispensable[i]] = false;
    }
    return l;
}

static as_table *new_table(const struct layout *l) {
    as_column columns[N_COLUMNS];
    char padded[N_COLUMNS][2 * CELL_SIZE];
    size_t n = 0;
    for (int c = PATH; c < N_COLUMNS; c++) {
        if (!l->has[c]) continue;
        pad(heads[c], c == PATH || c == KIND ? 0 : l->widths[c], padded[c]);
        columns[n++].name = padded[c];
    }
    return as_table_new(columns, n, NULL);
}

static bool print_lines(as_occurrence_view *view, const struct line *lines, size_t n, enum what what) {
    struct layout l = lay_out(view, lines, n, what);
    as_table *table = new_table(&l);
    bool fine = table != NULL;
    as_text path;
    as_vec names;
    as_text_init(&path);
    as_vec_init(&names, sizeof(assay_id), NULL);
    for (size_t i = 0; i < n && fine; i++) {
        as_cell cells[N_COLUMNS];
        char cell[CELL_SIZE], padded[N_COLUMNS][2 * CELL_SIZE];
        size_t used = 0;
        put_path(&path, view, lines[i].subject, &names);
        cells[used++] = as_cell_text_n(as_text_data(&path), as_text_size(&path));
        for (int c = KIND; c < N_COLUMNS; c++) {
            if (!l.has[c]) continue;
            put_cell(view, &lines[i], (enum column)c, cell);
            pad(cell, c == KIND ? 0 : l.widths[c], padded[c]);
            cells[used++] = as_cell_text(padded[c]);
        }
        fine = !path.failed && as_table_append(table, cells);
    }
    as_print_style style = view->cli->style;
    style.keep_end = true;
    fine = fine && as_print_table(view->cli->out, table, style);
    as_table_free(table);
    as_text_free(&path);
    as_vec_free(&names);
    return fine;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void print_name(const as_occurrence_view *view, const char *name) {
    as_output *out = view->cli->out;
    as_output_text(out, as_sgr(view->cli->style.colour, AS_BOLD));
    as_display_write(out, name, strlen(name), 0);
    as_output_text(out, as_sgr(view->cli->style.colour, AS_PLAIN));
}

/* "time of each occurrence, inclusive: 1,234 occurrences in 2 runs". */
static void print_head(const as_occurrence_view *view) {
    uint64_t total = 0;
    char count[AS_QUANTITY_SIZE];
    for (size_t i = 0; i < view->n_rows; i++) total += as_occurrence_row(view, i)->time.n;
    as_count_format(total, count);
    print_name(view, "time");
    as_output_printf(view->cli->out, " of each occurrence, %s, over %s %s",
                     view->is_exclusive ? "exclusive" : "inclusive", count, total == 1 ? "occurrence" : "occurrences");
    if (view->n_runs > 1) as_output_printf(view->cli->out, " in %zu runs", view->n_runs);
    if (*view->choice.label && view->n_runs == 1) as_output_printf(view->cli->out, " (%s)", view->choice.label);
    as_output_char(view->cli->out, '\n');
}

static void print_more(const as_occurrence_view *view) {
    size_t n = view->n_rows - as_occurrence_shown(view);
    char more[AS_QUANTITY_SIZE];
    if (!n) return;
    as_count_format(n, more);
    as_output_printf(view->cli->out, "%s %s more call path%s\n", view->is_ascii ? "..." : "…", more,
                     n == 1 ? "; --all shows it" : "s; --all shows them");
}

static bool print_time(as_occurrence_view *view) {
    size_t n = as_occurrence_shown(view);
    as_vec lines;
    as_vec_init(&lines, sizeof(struct line), NULL);
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        const as_subject *subject = as_occurrence_row(view, i);
        struct line line = {subject, &subject->time, "s"};
        fine = as_vec_append(&lines, &line, 1);
    }
    print_head(view);
    if (fine) fine = print_lines(view, lines.data, n, TIMES);
    as_vec_free(&lines);
    print_more(view);
    return fine;
}

/* ---- the longest ------------------------------------------------------------------------------------------------- */

/* "platform=F15, unfinished=1". */
static void put_tags(as_text *out, const as_occurrence_view *view, uint64_t event) {
    size_t n;
    const as_worst_tag *tags = as_tags_of_worst(view, event, &n);
    as_text_clear(out);
    for (size_t i = 0; i < n; i++) {
        as_attribute attribute;
        bool is_tag;
        char digits[AS_NUMBER_SIZE];
        as_ds_any_attribute(view->ds, tags[i].attribute, &attribute);
        if (i) as_text_add(out, ", ");
        as_text_add(out, as_tag_name(view->ds, &attribute, &is_tag));
        as_text_char(out, '=');
        const as_cell *value = &attribute.value;
        if (value->type == AS_CELL_TEXT || value->type == AS_CELL_JSON)
            as_text_write(out, value->text, value->size);
        else if (value->type == AS_CELL_INT)
            as_text_write(out, digits, as_int_format(value->i, digits));
        else if (value->type == AS_CELL_UINT)
            as_text_write(out, digits, as_uint_format(value->u, digits));
        else if (value->type == AS_CELL_REAL)
            as_text_write(out, digits, as_real_format(value->r, digits));
    }
}

enum worst_column { W_PATH, W_TOOK, W_START, W_UTC, W_RUN, W_TAGS, W_COLUMNS };

/* Where there is little room, the time since the run's start has to do. */
static bool leave_out_utc(const as_occurrence_view *view) {
    enum { ENOUGH = 100 };
    return view->cli->style.width && view->cli->style.width < ENOUGH;
}

static bool add_worst(as_occurrence_view *view, as_table *table, const as_subject *subject, as_text texts[2],
                      as_vec *names) {
    bool fine = true;
    put_path(&texts[0], view, subject, names);
    for (size_t i = 0; i < subject->n_worst && i < view->n_worst && fine; i++) {
        const as_worst *worst = &AS_AT(as_worst, &view->found.worst, subject->first_worst + i);
        as_event event;
        char took[CELL_SIZE], start[CELL_SIZE], utc[AS_UTC_SIZE] = "", run[CELL_SIZE] = "";
        as_ds_event(view->ds, worst->event, &event);
        put_amount(view, worst->duration, "s", took);
        put_amount(view, event.start, "s", start);
        if (event.run != ASSAY_NONE) {
            as_utc_format(as_ds_run(view->ds, event.run)->start_time + event.start, utc);
            snprintf(run, sizeof run, "%u", (unsigned)event.run);
        }
        put_tags(&texts[1], view, worst->event);
        if (!as_text_size(&texts[1])) as_text_add(&texts[1], "(no tags)");
        as_cell cells[W_COLUMNS] = {i ? as_cell_text("")
                                      : as_cell_text_n(as_text_data(&texts[0]), as_text_size(&texts[0])),
                                    as_cell_text(took),
                                    as_cell_text(start),
                                    as_cell_text(utc),
                                    as_cell_text(run),
                                    as_cell_text_n(as_text_data(&texts[1]), as_text_size(&texts[1]))};
        size_t n = leave_out_utc(view) ? W_COLUMNS - 1 : W_COLUMNS;
        memmove(cells + n - (W_COLUMNS - W_RUN), cells + W_RUN, (W_COLUMNS - W_RUN) * sizeof *cells);
        fine = !texts[0].failed && !texts[1].failed && as_table_append(table, cells);
    }
    return fine;
}

static bool print_worst(as_occurrence_view *view) {
    static const as_column all[] = {{"the longest"}, {"took"}, {"began after"}, {"at (UTC)"}, {"run"}, {"tags"}},
                           fewer[] = {{"the longest"}, {"took"}, {"began after"}, {"run"}, {"tags"}};
    bool is_narrow = leave_out_utc(view);
    as_table *table = as_table_new(is_narrow ? fewer : all, is_narrow ? W_COLUMNS - 1 : W_COLUMNS, NULL);
    as_text texts[2];
    as_vec names;
    as_text_init(&texts[0]);
    as_text_init(&texts[1]);
    as_vec_init(&names, sizeof(assay_id), NULL);
    bool fine = table != NULL;
    for (size_t i = 0; i < as_occurrence_shown(view) && fine; i++)
        fine = add_worst(view, table, as_occurrence_row(view, i), texts, &names);
    as_output_char(view->cli->out, '\n');
    as_print_style style = view->cli->style;
    style.last_below = true;
    fine = fine && as_print_table(view->cli->out, table, style);
    as_table_free(table);
    as_text_free(&texts[0]);
    as_text_free(&texts[1]);
    as_vec_free(&names);
    return fine;
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

/* What a row has of a measure; NULL: nothing. */
static const as_subject_measure *measure_of(const as_occurrence_view *view, const as_subject *subject,
                                            uint32_t measure) {
    for (size_t i = 0; i < subject->n_measures; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, subject->first_measure + i);
        if (m->measure == measure) return m;
    }
    return NULL;
}

/* The name of a measure above a table, with an empty line between it and what was before. */
static void begin_block(as_occurrence_view *view, uint32_t measure) {
    if (view->has_begun) as_output_char(view->cli->out, '\n');
    view->has_begun = true;
    print_name(view, as_measure_text(&view->found.measured, measure));
}

/* One table of the numbers of a measure. part: 0 differences and single values, 1 at the start, 2 at the end. */
static bool print_part(as_occurrence_view *view, uint32_t measure, int part) {
    const char *unit = as_measure_unit(view, measure);
    bool fine = true, has_snapshots = false;
    as_vec lines;
    as_vec_init(&lines, sizeof(struct line), NULL);
    for (size_t i = 0; i < as_occurrence_shown(view) && fine; i++) {
        const as_subject *subject = as_occurrence_row(view, i);
        const as_subject_measure *m = measure_of(view, subject, measure);
        const as_distribution *d = m ? part == 0 ? &m->value : part == 1 ? &m->start : &m->end : NULL;
        if (!d || !d->n) continue;
        has_snapshots |= m->start.n > 0;
        struct line line = {subject, d, unit};
        fine = as_vec_append(&lines, &line, 1);
    }
    if (lines.count) {
        static const char *const words[] = {"", " at the start", " at the end"};
        begin_block(view, measure);
        as_output_printf(view->cli->out, "%s\n", part == 0 && has_snapshots ? ", end - start" : words[part]);
        fine = fine && print_lines(view, lines.data, lines.count, part == 0 ? AMOUNTS : STATES);
    }
    as_vec_free(&lines);
    return fine;
}

/* How often a row's words were recorded. */
static bool add_words(as_occurrence_view *view, as_table *table, const as_subject_measure *m, const char *label,
                      size_t label_size) {
    bool fine = true;
    size_t most = as_cli_has(view->cli, "all") ? m->n_words : WORDS_FOR_PEOPLE;
    for (size_t i = 0; i < m->n_words && i < most && fine; i++) {
        const as_word_count *word = &AS_AT(as_word_count, &view->found.words, m->first_word + i);
        char count[AS_QUANTITY_SIZE], share[AS_QUANTITY_SIZE];
        as_count_format(word->count, count);
        as_percent_format((double)word->count / (double)m->n_recorded, share);
        const as_strings *words = &view->found.measured.words;
        as_cell cells[] = {i ? as_cell_text("") : as_cell_text_n(label, label_size),
                           as_cell_text_n(as_str_text(words, word->word), as_str_size(words, word->word)),
                           as_cell_text(count), as_cell_text(share)};
        fine = as_table_append(table, cells);
    }
    if (fine && m->n_words > most) {
        char more[CELL_SIZE];
        snprintf(more, sizeof more, "%s %zu more", view->is_ascii ? "..." : "…", m->n_words - most);
        as_cell cells[] = {as_cell_text(""), as_cell_text(more), as_cell_text(""), as_cell_text("")};
        fine = as_table_append(table, cells);
    }
    return fine;
}

static bool print_words(as_occurrence_view *view, uint32_t measure) {
    static const as_column columns[] = {{"call path"}, {"value"}, {"count"}, {"%"}};
    as_table *table = as_table_new(columns, 4, NULL);
    as_text path;
    as_vec names;
    as_text_init(&path);
    as_vec_init(&names, sizeof(assay_id), NULL);
    bool fine = table != NULL;
    for (size_t i = 0; i < as_occurrence_shown(view) && fine; i++) {
        const as_subject *subject = as_occurrence_row(view, i);
        const as_subject_measure *m = measure_of(view, subject, measure);
        if (!m || !m->n_words) continue;
        put_path(&path, view, subject, &names);
        fine = !path.failed && add_words(view, table, m, as_text_data(&path), as_text_size(&path));
    }
    for (size_t i = 0; i < view->found.measures.count && fine; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, i);
        if (m->subject != AS_OF_RUN || m->measure != measure || !m->n_words) continue;
        char label[CELL_SIZE];
        snprintf(label, sizeof label, "(run %u)", (unsigned)m->run);
        fine = add_words(view, table, m, label, strlen(label));
    }
    if (fine && as_table_rows(table)) {
        begin_block(view, measure);
        as_output_text(view->cli->out, ", values recorded\n");
        fine = as_print_table(view->cli->out, table, view->cli->style);
    }
    as_table_free(table);
    as_text_free(&path);
    as_vec_free(&names);
    return fine;
}

static bool print_points(as_occurrence_view *view, uint32_t measure) {
    static const as_column columns[] = {{"run"}, {"points"}, {"min"}, {"mean"}, {"max"}, {"first"}, {"last"}};
    as_table *table = as_table_new(columns, 7, NULL);
    const char *unit = as_measure_unit(view, measure);
    bool fine = table != NULL;
    for (size_t i = 0; i < view->found.measures.count && fine; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, i);
        if (m->subject != AS_OF_RUN || m->measure != measure || !m->value.n) continue;
        const double numbers[] = {m->value.min, m->value.mean, m->value.max, as_number_real(m->first),
                                  as_number_real(m->last)};
        char text[5][CELL_SIZE], count[AS_QUANTITY_SIZE];
        as_cell cells[7] = {as_cell_int(m->run), as_cell_text_n(count, as_count_format(m->value.n, count))};
        for (size_t k = 0; k < 5; k++) {
            put_amount(view, numbers[k], unit, text[k]);
            cells[2 + k] = as_cell_text(text[k]);
        }
        fine = as_table_append(table, cells);
    }
    if (fine && as_table_rows(table)) {
        begin_block(view, measure);
        as_output_text(view->cli->out, " of the run\n");
        fine = as_print_table(view->cli->out, table, view->cli->style);
    }
    as_table_free(table);
    return fine;
}

/* Which measures there are besides, where none is shown. */
static void print_others(const as_occurrence_view *view) {
    size_t n = view->found.measured.measures.count;
    if (!n || as_cli_has(view->cli, "metric") || !view->cli->is_terminal) return;
    as_output_printf(view->cli->out, "%salso measured: ", as_sgr(view->cli->style.colour, AS_DIM));
    for (size_t i = 0; i < n && i < WORDS_FOR_PEOPLE; i++) {
        const char *name = as_measure_text(&view->found.measured, i);
        if (i) as_output_text(view->cli->out, ", ");
        as_display_write(view->cli->out, name, strlen(name), MOST_NAME);
    }
    as_output_printf(view->cli->out, "%s (--metric NAME)%s\n", n > WORDS_FOR_PEOPLE ? " and others" : "",
                     as_sgr(view->cli->style.colour, AS_PLAIN));
}

bool as_occurrence_text(as_occurrence_view *view) {
    bool fine = true;
    if (view->shows_time) {
        fine = print_time(view);
        if (fine && view->n_worst) fine = print_worst(view);
        print_others(view);
        as_pauses_print(view->cli, view->ds, view->choice.runs, view->choice.n_runs, false);
        view->has_begun = true;
    }
    for (uint32_t i = 0; i < view->found.measured.measures.count && fine; i++) {
        if (!view->shows_measure[i]) continue;
        for (int part = 0; part < 3 && fine; part++) fine = print_part(view, i, part);
        fine = fine && print_words(view, i) && print_points(view, i);
    }
    return fine;
}
