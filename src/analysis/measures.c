#include "analysis/measures.h"

#include <stdlib.h>

#include "core/map.h"

/* ---- the table ------------------------------------------------------------------------------------------------------- */

enum column { RUN, TYPE, OWNER, INTERVAL, START, AGGREGATION, MEASUREMENT, VALUE, N_COLUMNS };

typedef struct reader {
    const as_dataset *ds;
    const as_table *table;
    size_t columns[N_COLUMNS];
    const bool *runs;
    as_measures *out;
    as_map owners;     /* what tells owners apart -> index into events */
    as_vec events;     /* uint64_t: of each owner */
    as_map measure_of; /* text of words -> measure */
    as_map metric_of;  /* name, a text of the dataset -> metric */
    as_vec is_boolean; /* bool: of each measure */
    as_vec rows;       /* struct row */
} reader;

/* One recorded value. */
struct row {
    uint64_t interval, number; /* number: of the row */
    double time;
    as_number value;
    assay_id run;
    uint32_t owner, measure; /* owner UINT32_MAX: the run */
    as_str word;             /* AS_NO_STR: it is a number */
    bool is_aggregate;
};

static bool find_columns(reader *r) {
    static const char *const names[] = {"run",   "type",        "owner",       "interval",
                                        "start", "aggregation", "measurement", "value"};
    r->table = as_ds_records(r->ds, "record");
    for (size_t i = 0; r->table && i < N_COLUMNS; i++) {
        r->columns[i] = as_table_find_column(r->table, names[i]);
        if (r->columns[i] == SIZE_MAX) return false;
    }
    return r->table != NULL;
}

static as_cell cell_at(const reader *r, size_t row, enum column column) {
    return as_table_get(r->table, row, r->columns[column]);
}

/* ---- owners ---------------------------------------------------------------------------------------------------------- */

/* Ids that are numbers, as nearly all are, without their text. */
static uint64_t owner_key(assay_id run, bool is_number, uint64_t number) {
    return (number ^ (is_number ? 0 : 0x5851f42d4c957f2du)) * 0x9e3779b97f4a7c15u + run;
}

static bool parse_hex(const char *text, size_t size, uint64_t *out) {
    *out = 0;
    if (size < 3 || size > 18 || text[0] != '0' || text[1] != 'x') return false;
    for (size_t i = 2; i < size; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return true;
}

/* The owner of this key, made if new; UINT32_MAX when memory is out. */
static uint32_t owner_of(reader *r, assay_id run, const as_cell *cell) {
    uint64_t number;
    bool is_number = parse_hex(cell->text, cell->size, &number);
    uint64_t key = owner_key(run, is_number, is_number ? number : as_hash(cell->text, cell->size));
    uint32_t known = as_map_get(&r->owners, key);
    if (known != AS_MAP_NONE) return known;
    uint64_t none = AS_NO_EVENT;
    uint32_t owner = (uint32_t)r->events.count;
    return as_vec_append(&r->events, &none, 1) && as_map_put(&r->owners, key, owner) ? owner : UINT32_MAX;
}

/* Which events they are. */
static void find_events(reader *r) {
    as_event event;
    for (uint64_t i = 0, n = r->events.count ? as_ds_intervals(r->ds) : 0; i < n; i++) {
        as_ds_event(r->ds, i, &event);
        uint64_t number = event.source_number;
        if (!event.is_numbered) {
            const char *text = as_ds_text(r->ds, event.source_id);
            size_t size = text ? as_str_size(&r->ds->strings, event.source_id) : 0;
            if (!text) continue;
            event.is_numbered = parse_hex(text, size, &number);
            if (!event.is_numbered) number = as_hash(text, size);
        }
        uint32_t owner = as_map_get(&r->owners, owner_key(event.run, event.is_numbered, number));
        if (owner != AS_MAP_NONE && AS_AT(uint64_t, &r->events, owner) == AS_NO_EVENT)
            AS_AT(uint64_t, &r->events, owner) = i;
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

/* Of metrics of one name the last: what is measured comes behind what the format has by itself. */
static bool index_metrics(reader *r) {
    for (assay_id id = 0; id < AS_COUNT(r->ds, metrics); id++) {
        if (!as_map_put(&r->metric_of, as_ds_metric(r->ds, id)->name, id)) return false;
    }
    return true;
}

/* UINT32_MAX when memory is out. */
static uint32_t measure_of(reader *r, const as_cell *name) {
    as_str text = as_intern(&r->out->words, name->text, name->size);
    if (text == AS_NO_STR) return UINT32_MAX;
    uint32_t known = as_map_get(&r->measure_of, text);
    if (known != AS_MAP_NONE) return known;
    as_str here = as_find(&r->ds->strings, name->text, name->size);
    as_measure_name measure = {.name = text,
                               .metric = here == AS_NO_STR ? ASSAY_NONE : as_map_get(&r->metric_of, here)};
    const char *dtype =
        measure.metric == ASSAY_NONE ? NULL : as_ds_text(r->ds, as_ds_metric(r->ds, measure.metric)->dtype);
    bool is_boolean = dtype && strcmp(dtype, "bool") == 0;
    known = (uint32_t)r->out->measures.count;
    bool fine = as_vec_append(&r->out->measures, &measure, 1) && as_vec_append(&r->is_boolean, &is_boolean, 1) &&
                as_map_put(&r->measure_of, text, known);
    return fine ? known : UINT32_MAX;
}

/* What is written in the record: a number, or a word. False when memory is out. */
static bool take_value(reader *r, const as_cell *cell, struct row *row) {
    char digits[AS_NUMBER_SIZE];
    row->word = AS_NO_STR;
    switch (cell->type) {
    case AS_CELL_INT: row->value = (as_number){.kind = AS_INT, .i = cell->i}; break;
    case AS_CELL_UINT: row->value = (as_number){.kind = AS_UINT, .u = cell->u}; break;
    case AS_CELL_REAL: row->value = (as_number){.kind = AS_REAL, .r = cell->r}; break;
    default: row->word = as_intern(&r->out->words, cell->text, cell->size); return row->word != AS_NO_STR;
    }
    if (!AS_AT(bool, &r->is_boolean, row->measure)) return true;
    row->word = as_intern(&r->out->words, digits, as_number_format(row->value, digits));
    return row->word != AS_NO_STR;
}

static bool begins(const as_cell *cell, const char *word) {
    return cell->size >= strlen(word) && memcmp(cell->text, word, strlen(word)) == 0;
}

static bool is_text(const as_cell *cell) { return cell->type == AS_CELL_TEXT; }

/* Text is borrowed until the next cell: each is made use of before. */
static bool take_row(reader *r, size_t number) {
    struct row row = {.number = number, .owner = UINT32_MAX};
    as_cell cell = cell_at(r, number, RUN);
    if (cell.type != AS_CELL_INT || cell.i < 0 || (uint64_t)cell.i >= AS_COUNT(r->ds, runs)) return true;
    row.run = (assay_id)cell.i;
    if ((r->runs && !r->runs[row.run]) || cell_at(r, number, AGGREGATION).type != AS_CELL_NULL) return true;
    cell = cell_at(r, number, TYPE);
    if (!is_text(&cell)) return true;
    bool is_of_run = begins(&cell, "Run");
    row.is_aggregate = cell.size > 9 && memcmp(cell.text + cell.size - 9, "Aggregate", 9) == 0;
    cell = cell_at(r, number, START);
    row.time = cell.type == AS_CELL_REAL ? cell.r : cell.type == AS_CELL_INT ? (double)cell.i : 0;
    cell = cell_at(r, number, INTERVAL);
    row.interval = cell.type == AS_CELL_INT ? (uint64_t)cell.i : cell.type == AS_CELL_UINT ? cell.u : 0;
    cell = cell_at(r, number, MEASUREMENT);
    if (!is_text(&cell)) return true;
    if ((row.measure = measure_of(r, &cell)) == UINT32_MAX) return false;
    cell = cell_at(r, number, OWNER);
    if (!is_of_run && !is_text(&cell)) return true;
    if (!is_of_run && (row.owner = owner_of(r, row.run, &cell)) == UINT32_MAX) return false;
    cell = cell_at(r, number, VALUE);
    if (cell.type == AS_CELL_NULL) return true;
    return take_value(r, &cell, &row) && as_vec_append(&r->rows, &row, 1);
}

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    int found = order(x->owner, y->owner);
    if (!found && x->owner == UINT32_MAX) found = order(x->run, y->run);
    if (!found) found = order(x->measure, y->measure);
    if (!found) found = order(x->interval, y->interval);
    if (!found) found = x->time < y->time ? -1 : x->time > y->time;
    return found ? found : order(x->number, y->number);
}

/* ---- samples --------------------------------------------------------------------------------------------------------- */

static bool is_same_interval(const struct row *a, const struct row *b) {
    return a->owner == b->owner && a->run == b->run && a->measure == b->measure && a->interval == b->interval;
}

static bool add_sample(reader *r, const struct row *first, const struct row *last, as_sample_type type) {
    as_sample sample = {.event = first->owner == UINT32_MAX ? AS_NO_EVENT : AS_AT(uint64_t, &r->events, first->owner),
                        .run = first->run,
                        .measure = first->measure,
                        .type = type,
                        .time = first->time,
                        .first = first->value,
                        .last = last->value,
                        .word = first->word};
    return as_vec_append(&r->out->samples, &sample, 1);
}

/* The rows of one interval and measure: begin … end - 1. Those of an owner that is no event are left out, as their records are orphans. */
static bool add_interval(reader *r, const struct row *begin, const struct row *end) {
    const struct row *first = NULL, *last = NULL, *aggregate = NULL;
    bool is_of_run = begin->owner == UINT32_MAX;
    if (!is_of_run && AS_AT(uint64_t, &r->events, begin->owner) == AS_NO_EVENT) return true;
    for (const struct row *row = begin; row < end; row++) {
        bool is_word = row->word != AS_NO_STR;
        if (is_word || is_of_run) {
            if (!add_sample(r, row, row, is_word ? AS_SAMPLE_WORD : AS_SAMPLE_POINT)) return false;
        } else if (row->is_aggregate) {
            aggregate = row;
        } else {
            first = first ? first : row;
            last = row;
        }
    }
    if (aggregate) return add_sample(r, aggregate, aggregate, AS_SAMPLE_SINGLE);
    return !first || add_sample(r, first, last, first == last ? AS_SAMPLE_SINGLE : AS_SAMPLE_SNAPSHOT);
}

static int compare_samples(const void *a, const void *b) {
    const as_sample *x = a, *y = b;
    int found = order(x->event, y->event);
    if (!found) found = order(x->run, y->run);
    if (!found) found = order(x->measure, y->measure);
    return found ? found : x->time < y->time ? -1 : x->time > y->time;
}

static bool make_samples(reader *r) {
    const struct row *rows = r->rows.data;
    size_t n = r->rows.count;
    if (n) qsort(r->rows.data, n, sizeof *rows, compare_rows);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_interval(&rows[i], &rows[end]);) end++;
        if (!add_interval(r, rows + i, rows + end)) return false;
    }
    as_vec *samples = &r->out->samples;
    if (samples->count) qsort(samples->data, samples->count, sizeof(as_sample), compare_samples);
    return true;
}

bool as_measures_load(const as_dataset *ds, const bool *runs, as_measures *out) {
    as_budget *budget = as_ds_budget(ds);
    reader r = {.ds = ds, .runs = runs, .out = out};
    *out = (as_measures){0};
    as_arena_init(&out->arena, budget);
    as_strings_init(&out->words, &out->arena);
    as_vec_init(&out->measures, sizeof(as_measure_name), budget);
    as_vec_init(&out->samples, sizeof(as_sample), budget);
    if (!find_columns(&r)) return true;
    as_map_init(&r.owners, budget);
    as_map_init(&r.measure_of, budget);
    as_map_init(&r.metric_of, budget);
    as_vec_init(&r.events, sizeof(uint64_t), budget);
    as_vec_init(&r.is_boolean, sizeof(bool), budget);
    as_vec_init(&r.rows, sizeof(struct row), budget);
    bool fine = index_metrics(&r);
    for (size_t row = 0, n = as_table_rows(r.table); row < n && fine; row++) fine = take_row(&r, row);
    if (fine) find_events(&r);
    fine = fine && make_samples(&r);
    as_map_free(&r.owners);
    as_map_free(&r.measure_of);
    as_map_free(&r.metric_of);
    as_vec_free(&r.events);
    as_vec_free(&r.is_boolean);
    as_vec_free(&r.rows);
    return fine;
}

void as_measures_free(as_measures *measures) {
    if (!measures->words.arena) return; /* never loaded */
    as_vec_free(&measures->measures);
    as_vec_free(&measures->samples);
    as_strings_free(&measures->words);
    as_arena_free(&measures->arena);
}
