/* `assay stat` over occurrences, for programs: JSON, and flat rows. */
#include <math.h>
#include <string.h>

#include "cli/occurrence_view.h"

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void build_numbers(as_builder *b, const as_distribution *d) {
    as_build_int(b, "count", (int64_t)d->n);
    as_build_real(b, "sum", d->sum);
    as_build_real(b, "mean", d->mean);
    as_build_real(b, "min", d->min);
    as_build_real(b, "max", d->max);
    as_build_real(b, "stddev", d->stddev);
    as_build_real(b, "q1", d->q1);
    as_build_real(b, "median", d->median);
    as_build_real(b, "q3", d->q3);
    as_build_real(b, "p90", d->p90);
    as_build_real(b, "p99", d->p99);
}

static void build_number(as_builder *b, const char *key, as_number number) {
    if (number.kind == AS_INT)
        as_build_int(b, key, number.i);
    else if (number.kind == AS_UINT)
        as_build_whole(b, key, number.u);
    else
        as_build_real(b, key, number.r);
}

static void build_value(as_builder *b, const char *key, const as_cell *value) {
    switch (value->type) {
    case AS_CELL_INT: as_build_int(b, key, value->i); break;
    case AS_CELL_UINT: as_build_whole(b, key, value->u); break;
    case AS_CELL_REAL: as_build_real(b, key, value->r); break;
    case AS_CELL_TEXT: as_build_text(b, key, value->text); break;
    case AS_CELL_JSON: as_build_json(b, key, value->text); break;
    case AS_CELL_NULL: as_build_text(b, key, NULL); break;
    }
}

/* The tags of an event, or its other attributes. */
static void build_attributes(as_builder *b, const as_occurrence_view *view, uint64_t event, bool tags) {
    size_t n;
    const as_worst_tag *all = as_tags_of_worst(view, event, &n);
    as_build_object(b, tags ? "tags" : "attributes", false);
    for (size_t i = 0; i < n; i++) {
        as_attribute attribute;
        bool is_tag;
        as_ds_any_attribute(view->ds, all[i].attribute, &attribute);
        const char *name = as_tag_name(view->ds, &attribute, &is_tag);
        if (is_tag == tags) build_value(b, name, &attribute.value);
    }
    as_build_end(b);
}

static void build_worst(as_builder *b, const as_occurrence_view *view, const as_subject *subject) {
    as_build_array(b, "worst", false);
    for (size_t i = 0; i < subject->n_worst && i < view->n_worst; i++) {
        const as_worst *worst = &AS_AT(as_worst, &view->found.worst, subject->first_worst + i);
        as_event event;
        char digits[AS_NUMBER_SIZE], utc[AS_UTC_SIZE];
        as_ds_event(view->ds, worst->event, &event);
        double since = event.run == ASSAY_NONE ? NAN : as_ds_run(view->ds, event.run)->start_time;
        as_build_object(b, NULL, false);
        as_build_real(b, "duration", worst->duration);
        as_build_real(b, "start", event.start);
        as_build_real(b, "end", event.end);
        as_utc_format(since + event.start, utc);
        as_build_text(b, "utc", *utc ? utc : NULL);
        if (event.run == ASSAY_NONE)
            as_build_text(b, "run", NULL);
        else
            as_build_int(b, "run", event.run);
        as_build_int(b, "event", (int64_t)worst->event);
        as_build_text(b, "source_id", as_event_source_id(view->ds, &event, digits));
        build_attributes(b, view, worst->event, true);
        build_attributes(b, view, worst->event, false);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_words(as_builder *b, const as_occurrence_view *view, const as_subject_measure *m) {
    as_build_array(b, "values", false);
    for (size_t i = 0; i < m->n_words; i++) {
        const as_word_count *word = &AS_AT(as_word_count, &view->found.words, m->first_word + i);
        as_build_object(b, NULL, false);
        as_build_text(b, "value", as_str_text(&view->found.measured.words, word->word));
        as_build_int(b, "count", (int64_t)word->count);
        as_build_real(b, "share", (double)word->count / (double)m->n_recorded);
        as_build_end(b);
    }
    as_build_end(b);
}

static void build_part(as_builder *b, const char *key, const as_distribution *d) {
    as_build_object(b, key, false);
    build_numbers(b, d);
    as_build_end(b);
}

/* The unit as the file has it. */
static const char *unit_of(const as_occurrence_view *view, uint32_t measure) {
    assay_id metric = AS_AT(as_measure_name, &view->found.measured.measures, measure).metric;
    return metric == ASSAY_NONE ? NULL : as_ds_text(view->ds, as_ds_metric(view->ds, metric)->unit);
}

static void build_measure(as_builder *b, const as_occurrence_view *view, const as_subject_measure *m) {
    as_build_object(b, m->subject == AS_OF_RUN ? NULL : as_measure_text(&view->found.measured, m->measure), false);
    if (m->subject == AS_OF_RUN) {
        as_build_int(b, "run", m->run);
        as_build_text(b, "measure", as_measure_text(&view->found.measured, m->measure));
    }
    as_build_text(b, "unit", unit_of(view, m->measure));
    if (m->value.n) build_part(b, m->start.n ? "difference" : "value", &m->value);
    if (m->start.n) build_part(b, "start", &m->start);
    if (m->start.n) build_part(b, "end", &m->end);
    if (m->value.n && m->subject == AS_OF_RUN) {
        build_number(b, "first", m->first);
        build_number(b, "last", m->last);
    }
    if (m->n_words) build_words(b, view, m);
    as_build_end(b);
}

static bool build_subject(as_builder *b, const as_occurrence_view *view, const as_subject *subject, as_vec *text) {
    bool fine = true;
    char digits[AS_NUMBER_SIZE];
    const char *path = as_subject_path(view, subject, text, &fine);
    as_build_object(b, NULL, false);
    as_build_text(b, "path", path);
    as_build_text(b, "kind", as_ds_text(view->ds, subject->kind));
    as_build_text(b, "source_id",
                  subject->context == ASSAY_NONE ? NULL : as_context_source_id(view->names, subject->context, digits));
    as_build_object(b, "metrics", false);
    if (view->shows_time) {
        as_build_object(b, "time", false);
        as_build_object(b, view->is_exclusive ? "exclusive" : "inclusive", false);
        build_numbers(b, &subject->time);
        build_worst(b, view, subject);
        as_build_end(b);
        as_build_end(b);
    }
    as_build_end(b);
    as_build_object(b, "measures", false);
    for (size_t i = 0; i < subject->n_measures; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, subject->first_measure + i);
        if (view->shows_measure[m->measure]) build_measure(b, view, m);
    }
    as_build_end(b);
    as_build_end(b);
    return fine;
}

bool as_occurrence_json(as_builder *b, const as_occurrence_view *view) {
    as_vec text;
    as_vec_init(&text, 1, NULL);
    bool fine = true;
    as_build_object(b, NULL, true);
    as_build_text(b, "file", as_ds_text(view->ds, view->ds->path));
    as_build_text(b, "over", "occurrences");
    as_build_int(b, "runs", (int64_t)view->n_runs);
    if (*view->choice.label && view->n_runs == 1) as_build_text(b, "run", view->choice.label);
    if (as_cli_has(view->cli, "group-by")) as_build_text(b, "group_by", as_cli_value(view->cli, "group-by"));
    as_build_array(b, "contexts", true);
    for (size_t i = 0; i < view->n_rows && fine; i++) fine = build_subject(b, view, as_occurrence_row(view, i), &text);
    as_build_end(b);
    as_build_array(b, "run_measures", true);
    for (size_t i = 0; i < view->found.measures.count && view->context == ASSAY_NONE; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, i);
        if (m->subject == AS_OF_RUN && view->shows_measure[m->measure]) build_measure(b, view, m);
    }
    as_build_end(b);
    as_build_end(b);
    as_vec_free(&text);
    return fine;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

enum column {
    FILE_NAME,
    CALLPATH,
    KIND,
    RUN,
    METRIC,
    UNIT,
    PART,
    VALUE,
    COUNT,
    SHARE,
    SUM,
    MEAN,
    MIN,
    Q1,
    MEDIAN,
    Q3,
    P90,
    P99,
    MAX,
    MAX_AT,
    STDDEV,
    FIRST,
    LAST,
    N_COLUMNS
};
static const as_column number_columns[] = {{"file"}, {"callpath"}, {"kind"},   {"run"},   {"metric"}, {"unit"},
                                           {"part"}, {"value"},    {"count"},  {"share"}, {"sum"},    {"mean"},
                                           {"min"},  {"q1"},       {"median"}, {"q3"},    {"p90"},    {"p99"},
                                           {"max"},  {"max_at"},   {"stddev"}, {"first"}, {"last"}};
enum worst_column { W_FILE, W_CALLPATH, W_KIND, W_DURATION, W_START, W_UTC, W_RUN, W_EVENT, W_ID, W_TAGS, W_COLUMNS };
static const as_column worst_columns[] = {{"file"}, {"callpath"}, {"kind"},  {"duration"},  {"start"},
                                          {"utc"},  {"run"},      {"event"}, {"source_id"}, {"tags"}};
enum { BATCH = 1000 };

/* --worst with rows asks for the occurrences themselves. */
static bool lists_worst(const as_cli *cli) { return as_cli_has(cli, "worst"); }

const as_column *as_occurrence_columns(const as_cli *cli, size_t *n) {
    *n = lists_worst(cli) ? W_COLUMNS : N_COLUMNS;
    return lists_worst(cli) ? worst_columns : number_columns;
}

typedef struct rows {
    const as_occurrence_view *view;
    as_printer *printer;
    as_table *batch;
    const char *file, *path;
    const as_subject *subject;
    as_vec text; /* char */
} rows;

static bool append(rows *r, const as_cell *cells) {
    if (!as_table_append(r->batch, cells + !r->file)) return false;
    if (as_table_rows(r->batch) < BATCH) return true;
    bool fine = as_printer_rows(r->printer, r->batch);
    as_table_clear(r->batch);
    return fine;
}

static void begin_row(const rows *r, as_cell cells[N_COLUMNS]) {
    for (size_t i = 0; i < N_COLUMNS; i++) cells[i] = as_cell_null();
    cells[FILE_NAME] = as_cell_text(r->file);
    cells[CALLPATH] = as_cell_text(r->path);
    if (r->subject) cells[KIND] = as_cell_text(as_ds_text(r->view->ds, r->subject->kind));
}

static void put_numbers(as_cell cells[N_COLUMNS], const as_distribution *d) {
    cells[COUNT] = as_cell_uint(d->n);
    cells[SUM] = as_cell_real(d->sum);
    cells[MEAN] = as_cell_real(d->mean);
    cells[MIN] = as_cell_real(d->min);
    cells[Q1] = as_cell_real(d->q1);
    cells[MEDIAN] = as_cell_real(d->median);
    cells[Q3] = as_cell_real(d->q3);
    cells[P90] = as_cell_real(d->p90);
    cells[P99] = as_cell_real(d->p99);
    cells[MAX] = as_cell_real(d->max);
    cells[STDDEV] = as_cell_real(d->stddev);
}

static bool add_time(rows *r) {
    as_cell cells[N_COLUMNS];
    begin_row(r, cells);
    cells[METRIC] = as_cell_text("time");
    cells[UNIT] = as_cell_text("s");
    cells[PART] = as_cell_text(r->view->is_exclusive ? "exclusive" : "inclusive");
    put_numbers(cells, &r->subject->time);
    as_event event;
    as_ds_event(r->view->ds, AS_AT(as_worst, &r->view->found.worst, r->subject->first_worst).event, &event);
    cells[MAX_AT] = as_cell_real(event.start);
    if (event.run != ASSAY_NONE) cells[RUN] = as_cell_int(event.run);
    return append(r, cells);
}

static bool add_part(rows *r, const as_subject_measure *m, const char *part, const as_distribution *d) {
    as_cell cells[N_COLUMNS];
    if (!d->n) return true;
    begin_row(r, cells);
    if (m->subject == AS_OF_RUN) {
        cells[RUN] = as_cell_int(m->run);
        cells[FIRST] = as_cell_number(m->first);
        cells[LAST] = as_cell_number(m->last);
    }
    cells[METRIC] = as_cell_text(as_measure_text(&r->view->found.measured, m->measure));
    cells[UNIT] = as_cell_text(unit_of(r->view, m->measure));
    cells[PART] = as_cell_text(part);
    put_numbers(cells, d);
    return append(r, cells);
}

static bool add_measure(rows *r, const as_subject_measure *m) {
    const char *word = m->subject == AS_OF_RUN ? "point" : m->start.n ? "difference" : "value";
    bool fine = add_part(r, m, word, &m->value) && add_part(r, m, "start", &m->start) && add_part(r, m, "end", &m->end);
    for (size_t i = 0; i < m->n_words && fine; i++) {
        const as_word_count *count = &AS_AT(as_word_count, &r->view->found.words, m->first_word + i);
        const as_strings *words = &r->view->found.measured.words;
        as_cell cells[N_COLUMNS];
        begin_row(r, cells);
        if (m->subject == AS_OF_RUN) cells[RUN] = as_cell_int(m->run);
        cells[METRIC] = as_cell_text(as_measure_text(&r->view->found.measured, m->measure));
        cells[UNIT] = as_cell_text(unit_of(r->view, m->measure));
        cells[PART] = as_cell_text("word");
        cells[VALUE] = as_cell_text_n(as_str_text(words, count->word), as_str_size(words, count->word));
        cells[COUNT] = as_cell_uint(count->count);
        cells[SHARE] = as_cell_real((double)count->count / (double)m->n_recorded);
        fine = append(r, cells);
    }
    return fine;
}

/* "k=v;k=v", as AFPerf writes them. */
static bool put_tags(rows *r, uint64_t event) {
    size_t n;
    const as_worst_tag *all = as_tags_of_worst(r->view, event, &n);
    r->text.count = 0;
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        as_attribute attribute;
        bool is_tag;
        as_ds_any_attribute(r->view->ds, all[i].attribute, &attribute);
        const char *name = as_tag_name(r->view->ds, &attribute, &is_tag);
        if (!is_tag || attribute.value.type != AS_CELL_TEXT) continue;
        fine = (!r->text.count || as_vec_text(&r->text, ";")) && as_vec_text(&r->text, name) &&
               as_vec_text(&r->text, "=") && as_vec_append(&r->text, attribute.value.text, attribute.value.size);
    }
    return fine;
}

static bool add_worst(rows *r) {
    const as_occurrence_view *view = r->view;
    bool fine = true;
    for (size_t i = 0; i < r->subject->n_worst && i < view->n_worst && fine; i++) {
        const as_worst *worst = &AS_AT(as_worst, &view->found.worst, r->subject->first_worst + i);
        as_event event;
        char digits[AS_NUMBER_SIZE], utc[AS_UTC_SIZE] = "";
        as_ds_event(view->ds, worst->event, &event);
        if (event.run != ASSAY_NONE) as_utc_format(as_ds_run(view->ds, event.run)->start_time + event.start, utc);
        fine = put_tags(r, worst->event);
        as_cell cells[W_COLUMNS] = {[W_FILE] = as_cell_text(r->file),
                                    [W_CALLPATH] = as_cell_text(r->path),
                                    [W_KIND] = as_cell_text(as_ds_text(view->ds, r->subject->kind)),
                                    [W_DURATION] = as_cell_real(worst->duration),
                                    [W_START] = as_cell_real(event.start),
                                    [W_UTC] = as_cell_text(*utc ? utc : NULL),
                                    [W_RUN] = event.run == ASSAY_NONE ? as_cell_null() : as_cell_int(event.run),
                                    [W_EVENT] = as_cell_uint(worst->event),
                                    [W_ID] = as_cell_text(as_event_source_id(view->ds, &event, digits)),
                                    [W_TAGS] = as_cell_text_n(r->text.data, r->text.count)};
        fine = fine && append(r, cells);
    }
    return fine;
}

static bool add_subject(rows *r) {
    const as_occurrence_view *view = r->view;
    if (lists_worst(view->cli)) return add_worst(r);
    bool fine = !view->shows_time || add_time(r);
    for (size_t i = 0; i < r->subject->n_measures && fine; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, r->subject->first_measure + i);
        if (view->shows_measure[m->measure]) fine = add_measure(r, m);
    }
    return fine;
}

bool as_occurrence_rows(as_printer *printer, as_table *batch, const as_occurrence_view *view, const char *file) {
    rows r = {.view = view, .printer = printer, .batch = batch, .file = file};
    as_vec path;
    as_vec_init(&path, 1, NULL);
    as_vec_init(&r.text, 1, NULL);
    bool fine = as_vec_reserve(&r.text, 1);
    for (size_t i = 0; i < as_occurrence_shown(view) && fine; i++) {
        r.subject = as_occurrence_row(view, i);
        r.path = as_subject_path(view, r.subject, &path, &fine);
        fine = fine && add_subject(&r);
    }
    r.subject = NULL;
    r.path = NULL;
    for (size_t i = 0; i < view->found.measures.count && fine && view->context == ASSAY_NONE; i++) {
        const as_subject_measure *m = &AS_AT(as_subject_measure, &view->found.measures, i);
        if (m->subject == AS_OF_RUN && view->shows_measure[m->measure] && !lists_worst(view->cli))
            fine = add_measure(&r, m);
    }
    fine = fine && as_printer_rows(printer, batch);
    as_table_clear(batch);
    as_vec_free(&path);
    as_vec_free(&r.text);
    return fine;
}
