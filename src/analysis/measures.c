#include "analysis/measures.h"

#include <stdlib.h>

#include "core/map.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum column { RUN, TYPE, OWNER, INTERVAL, START, AGGREGATION, MEASUREMENT, VALUE, N_COLUMNS };

typedef struct reader {
    const as_dataset *ds;
    const as_table *table;
    size_t columns[N_COLUMNS];
    const bool *runs;
    as_measures *out;
    as_map owners;     /* what tells owners apart -> index into events */
    as_vec events;     /* uint64_t: of each owner */
    as_map measure_of; /* name, a text of words, or of the dataset where its event source has the values -> measure */
    as_map metric_of;  /* name, a text of the dataset -> metric */
    as_vec is_boolean; /* bool: of each measure */
    as_vec rows;       /* struct row */
    as_vec order;      /* uint32_t: rows by event, measure, interval and time */
} reader;

/* One recorded value. */
struct row {
    uint64_t event;    /* AS_NO_EVENT: it is of the run. While the table is read: the owner */
    uint64_t interval; /* tells those of a section apart that have one event */
    double time;
    as_number value;
    assay_id run;
    uint32_t measure;
    as_str word; /* AS_NO_STR: it is a number */
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

/* ---- owners ------------------------------------------------------------------------------------------------------ */

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

/* Rows of owners that are no events are orphans, and left out. */
static void settle_owners(reader *r) {
    size_t n = 0;
    find_events(r);
    for (size_t i = 0; i < r->rows.count; i++) {
        struct row row = AS_AT(struct row, &r->rows, i);
        bool is_of_run = row.event == AS_NO_EVENT;
        if (!is_of_run) row.event = AS_AT(uint64_t, &r->events, row.event);
        if (is_of_run || row.event != AS_NO_EVENT) AS_AT(struct row, &r->rows, n++) = row;
    }
    r->rows.count = n;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Of metrics of one name the last: what is measured comes behind what the format has by itself. */
static bool index_metrics(reader *r) {
    for (assay_id id = 0; id < AS_COUNT(r->ds, metrics); id++) {
        if (!as_map_put(&r->metric_of, as_ds_metric(r->ds, id)->name, id)) return false;
    }
    return true;
}

/* The measure of this key, made if new; UINT32_MAX when memory is out. */
static uint32_t measure_of(reader *r, as_str key, const char *name, size_t size) {
    uint32_t known = as_map_get(&r->measure_of, key);
    if (known != AS_MAP_NONE) return known;
    as_str here = as_find(&r->ds->strings, name, size);
    as_measure_name measure = {.name = as_intern(&r->out->words, name, size),
                               .metric = here == AS_NO_STR ? ASSAY_NONE : as_map_get(&r->metric_of, here)};
    const char *dtype =
        measure.metric == ASSAY_NONE ? NULL : as_ds_text(r->ds, as_ds_metric(r->ds, measure.metric)->dtype);
    bool is_boolean = dtype && strcmp(dtype, "bool") == 0;
    known = (uint32_t)r->out->measures.count;
    bool fine = measure.name != AS_NO_STR && as_vec_append(&r->out->measures, &measure, 1) &&
                as_vec_append(&r->is_boolean, &is_boolean, 1) && as_map_put(&r->measure_of, key, known);
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

/* A number as it is, other texts by their hash: 0 where there is none. */
static uint64_t interval_of(const as_cell *cell) {
    uint64_t number;
    if (cell->type == AS_CELL_INT) return (uint64_t)cell->i;
    if (cell->type == AS_CELL_UINT) return cell->u;
    if (!is_text(cell)) return 0;
    return parse_hex(cell->text, cell->size, &number) ? number : as_hash(cell->text, cell->size);
}

/* Text is borrowed until the next cell: each is made use of before. */
static bool take_row(reader *r, size_t number) {
    struct row row = {.event = AS_NO_EVENT};
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
    row.interval = interval_of(&cell);
    cell = cell_at(r, number, MEASUREMENT);
    if (!is_text(&cell)) return true;
    as_str name = as_intern(&r->out->words, cell.text, cell.size);
    if (name == AS_NO_STR || (row.measure = measure_of(r, name, cell.text, cell.size)) == UINT32_MAX) return false;
    cell = cell_at(r, number, OWNER);
    if (!is_of_run && !is_text(&cell)) return true;
    if (!is_of_run) {
        uint32_t owner = owner_of(r, row.run, &cell);
        if (owner == UINT32_MAX) return false;
        row.event = owner;
    }
    cell = cell_at(r, number, VALUE);
    if (cell.type == AS_CELL_NULL) return true;
    return take_value(r, &cell, &row) && as_vec_append(&r->rows, &row, 1);
}

/* A value of the event source. */
static bool take_measured(void *user, const as_recorded *measured) {
    reader *r = user;
    struct row row = {
        .event = measured->event, .time = measured->time, .run = measured->run, .is_aggregate = measured->is_aggregate};
    if (r->runs && !r->runs[row.run]) return true;
    as_str name = measured->measurement;
    row.measure = measure_of(r, name, as_ds_text(r->ds, name), as_str_size(&r->ds->strings, name));
    return row.measure != UINT32_MAX && take_value(r, &measured->value, &row) && as_vec_append(&r->rows, &row, 1);
}

static bool read_rows(reader *r) {
    const as_event_source *source = r->ds->event_source;
    bool fine = true;
    if (source && source->measured) {
        for (uint64_t i = 0; i < source->n_measured && fine; i++) fine = source->measured(source, i, take_measured, r);
        return fine;
    }
    if (!find_columns(r)) return true;
    for (size_t row = 0, n = as_table_rows(r->table); row < n && fine; row++) fine = take_row(r, row);
    if (fine) settle_owners(r);
    return fine;
}

/* ---- their order ------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Those of one event, or of runs. */
static int compare_rows(const void *a, const void *b, void *user) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct row *rows = user, *x = &rows[i], *y = &rows[k];
    int found = order(x->run, y->run);
    if (!found) found = order(x->measure, y->measure);
    if (!found) found = order(x->interval, y->interval);
    if (!found) found = x->time < y->time ? -1 : x->time > y->time;
    return found ? found : order(i, k);
}

/* Mostly there are a few, which are in order or nearly so. */
static void sort_few(uint32_t *list, size_t n, struct row *rows) {
    enum { FEW = 16 };
    if (n > FEW) {
        qsort_r(list, n, sizeof *list, compare_rows, rows);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint32_t one = list[i];
        size_t at = i;
        for (; at && compare_rows(&one, &list[at - 1], rows) < 0; at--) list[at] = list[at - 1];
        list[at] = one;
    }
}

/* By event, those of runs last. */
static bool sort_rows(reader *r) {
    size_t n = r->rows.count, n_events = (size_t)as_ds_intervals(r->ds);
    struct row *rows = r->rows.data;
    as_vec starts; /* uint32_t: of each event in the order, of runs, and the end */
    as_vec_init(&starts, sizeof(uint32_t), as_ds_budget(r->ds));
    bool fine = n < UINT32_MAX && as_vec_reserve(&starts, n_events + 3) && as_vec_reserve(&r->order, n + 1);
    uint32_t *at = starts.data, *list = r->order.data;
    if (fine) {
        memset(at, 0, (n_events + 3) * sizeof *at);
        for (size_t i = 0; i < n; i++) at[(rows[i].event == AS_NO_EVENT ? n_events : rows[i].event) + 2]++;
        for (size_t i = 2; i < n_events + 2; i++) at[i + 1] += at[i];
        for (size_t i = 0; i < n; i++)
            list[at[(rows[i].event == AS_NO_EVENT ? n_events : rows[i].event) + 1]++] = (uint32_t)i;
        for (size_t i = 0; i <= n_events; i++) sort_few(list + at[i], at[i + 1] - at[i], rows);
    }
    as_vec_free(&starts);
    return fine;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static bool is_same_interval(const struct row *a, const struct row *b) {
    return a->event == b->event && a->run == b->run && a->measure == b->measure && a->interval == b->interval;
}

static bool add_sample(reader *r, const struct row *first, const struct row *last, as_sample_type type) {
    as_sample sample = {.event = first->event,
                        .run = first->run,
                        .measure = first->measure,
                        .type = type,
                        .time = first->time,
                        .first = first->value,
                        .last = last->value,
                        .word = first->word};
    return as_vec_append(&r->out->samples, &sample, 1);
}

/* The rows of one interval and measure: n of the order. */
static bool add_interval(reader *r, const uint32_t *list, size_t n) {
    const struct row *rows = r->rows.data, *first = NULL, *last = NULL, *aggregate = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct row *row = &rows[list[i]];
        bool is_word = row->word != AS_NO_STR;
        if (is_word || row->event == AS_NO_EVENT) {
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

static bool make_samples(reader *r) {
    const struct row *rows = r->rows.data;
    size_t n = r->rows.count;
    if (!n) return true;
    if (!sort_rows(r)) return false;
    const uint32_t *list = r->order.data;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_interval(&rows[list[i]], &rows[list[end]]);) end++;
        if (!add_interval(r, list + i, end - i)) return false;
    }
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
    as_map_init(&r.owners, budget);
    as_map_init(&r.measure_of, budget);
    as_map_init(&r.metric_of, budget);
    as_vec_init(&r.events, sizeof(uint64_t), budget);
    as_vec_init(&r.is_boolean, sizeof(bool), budget);
    as_vec_init(&r.rows, sizeof(struct row), budget);
    as_vec_init(&r.order, sizeof(uint32_t), budget);
    bool fine = index_metrics(&r) && read_rows(&r) && make_samples(&r);
    as_map_free(&r.owners);
    as_map_free(&r.measure_of);
    as_map_free(&r.metric_of);
    as_vec_free(&r.events);
    as_vec_free(&r.is_boolean);
    as_vec_free(&r.rows);
    as_vec_free(&r.order);
    return fine;
}

void as_measures_free(as_measures *measures) {
    if (!measures->words.arena) return; /* never loaded */
    as_vec_free(&measures->measures);
    as_vec_free(&measures->samples);
    as_strings_free(&measures->words);
    as_arena_free(&measures->arena);
}
