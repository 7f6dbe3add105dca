/* The table event: the dataset's events, then the samples of its trace lines, read from where they lie, a batch at a
 * time. Conditions on ids leave out whole lines, those on time the beginning and the end of each, found by binary
 * search. */
#include <math.h>
#include <stdlib.h>

#include "query/tables.h"

enum { ID, SOURCE_ID, RUN, LOCATION, CONTEXT, NAME, KIND, START, END, START_RAW, END_RAW };

/* What a plan was given, one bit and one argument each, in this order. EQ: both ends of a range. */
enum {
    BY_ID,
    BY_SOURCE_ID,
    BY_RUN,
    BY_LOCATION,
    BY_CONTEXT,
    FROM_START,
    TO_START,
    AT_START,
    FROM_RAW,
    TO_RAW,
    AT_RAW,
    N_CONDITIONS,
    ORDERED_BY_RAW = 1 << N_CONDITIONS /* rows of a line come in SQL's order of start_raw */
};
enum { SAMPLES_AT_ONCE = 512, MOST_RANGES = 3 };

typedef struct sample_range {
    uint64_t first, end;
} sample_range;

typedef struct event_cursor {
    sqlite3_vtab_cursor base;
    as_vtab *table;
    /* What is asked for */
    unsigned given; /* bits of conditions */
    uint64_t id;
    assay_id run, location, context;
    uint64_t from, to; /* time stamps */
    bool by_raw;
    /* Where it is: among the events */
    bool in_events;
    const uint32_t *list; /* NULL: the events themselves */
    size_t position, n_positions;
    as_event event; /* the one at hand */
    /* … or among the samples */
    const as_trace_line *line; /* NULL: none left, unless in_events */
    size_t next_line, end_line;
    sample_range ranges[MOST_RANGES]; /* still to be read, of the line */
    unsigned n_ranges, next_range;
    uint64_t number, batch_first; /* of the sample in the line; of samples[0] */
    size_t n_samples;
    as_trace_sample samples[SAMPLES_AT_ONCE];
} event_cursor;

static bool has(const event_cursor *cursor, int condition) { return cursor->given & 1u << condition; }

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* Which condition a constraint is, or -1. */
static int condition_of(const struct sqlite3_index_constraint *constraint) {
    bool is_equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
    bool is_from = constraint->op == SQLITE_INDEX_CONSTRAINT_GE || constraint->op == SQLITE_INDEX_CONSTRAINT_GT;
    bool is_to = constraint->op == SQLITE_INDEX_CONSTRAINT_LE || constraint->op == SQLITE_INDEX_CONSTRAINT_LT;
    switch (constraint->iColumn) {
    case -1:
    case ID: return is_equal ? BY_ID : -1;
    case SOURCE_ID: return is_equal ? BY_SOURCE_ID : -1;
    case RUN: return is_equal ? BY_RUN : -1;
    case LOCATION: return is_equal ? BY_LOCATION : -1;
    case CONTEXT: return is_equal ? BY_CONTEXT : -1;
    case START: return is_equal ? AT_START : is_from ? FROM_START : is_to ? TO_START : -1;
    case START_RAW: return is_equal ? AT_RAW : is_from ? FROM_RAW : is_to ? TO_RAW : -1;
    default: return -1;
    }
}

static bool is_text_condition(int condition) { return condition == BY_SOURCE_ID; }

static unsigned take_conditions(sqlite3_index_info *info) {
    int constraint_of[N_CONDITIONS];
    unsigned plan = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int condition = info->aConstraint[i].usable ? condition_of(&info->aConstraint[i]) : -1;
        if (condition < 0 || plan & 1u << condition) continue;
        if (is_text_condition(condition) && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) continue;
        constraint_of[condition] = i;
        plan |= 1u << condition;
    }
    int n_arguments = 0;
    for (int condition = 0; condition < N_CONDITIONS; condition++) {
        if (plan & 1u << condition) info->aConstraintUsage[constraint_of[condition]].argvIndex = ++n_arguments;
    }
    return plan;
}

/* Sets orderByConsumed where rows come as wanted; true where that needs ORDERED_BY_RAW. */
static bool plan_order(const as_dataset *ds, sqlite3_index_info *info, unsigned plan) {
    static const int by_id[] = {ID, -1}, by_start[] = {RUN, LOCATION, START, ID, -1},
                     by_raw[] = {RUN, LOCATION, START_RAW, ID, -1};
    unsigned fixed = 0;
    if (plan & 1u << BY_RUN || AS_COUNT(ds, runs) <= 1) fixed |= 1u << RUN;
    if (plan & 1u << BY_LOCATION) fixed |= 1u << LOCATION;
    info->orderByConsumed = false;
    if (info->nOrderBy == 0) return false;
    bool lines_only = as_ds_intervals(ds) == 0;
    bool by_rowid = info->nOrderBy == 1 && info->aOrderBy[0].iColumn < 0 && !info->aOrderBy[0].desc;
    info->orderByConsumed =
        by_rowid || as_order_fits(info, by_id, 0) || (lines_only && as_order_fits(info, by_start, fixed));
    if (info->orderByConsumed || !lines_only) return false;
    info->orderByConsumed = as_order_fits(info, by_raw, fixed);
    return info->orderByConsumed;
}

static int event_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const as_dataset *ds = ((as_vtab *)base)->view->ds;
    unsigned plan = take_conditions(info);
    const unsigned ranges = 1u << FROM_START | 1u << TO_START | 1u << FROM_RAW | 1u << TO_RAW;
    double rows = (double)as_ds_events(ds), lines = (double)as_trace_line_count(&ds->traces), read;
    if (plan & (1u << BY_LOCATION | 1u << BY_RUN)) rows /= lines > 4 ? lines : 4;
    if (plan & ranges) rows /= 4;
    if (plan & (1u << AT_START | 1u << AT_RAW)) rows /= 100;
    if (plan & 1u << BY_SOURCE_ID && rows > 16) rows = 16; /* found by an index, and samples have none */
    read = rows;
    if (plan & 1u << BY_CONTEXT) rows /= 20;
    bool is_one = plan & 1u << BY_ID;
    if (is_one) rows = read = 1;
    info->idxNum = (int)(plan_order(ds, info, plan) ? plan | ORDERED_BY_RAW : plan);
    info->idxFlags = is_one ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = 10 + rows + (read - rows) / 8;
    return SQLITE_OK;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* The first time stamp that is so many seconds or more; false where none is. */
static bool first_at(const as_dataset *ds, double seconds, uint64_t *time) {
    uint64_t low = 0, high = UINT64_MAX;
    if (isnan(seconds) || as_trace_seconds(ds, high) < seconds) return false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (as_trace_seconds(ds, middle) < seconds)
            low = middle + 1;
        else
            high = middle;
    }
    *time = low;
    return true;
}

static void want_no_samples(event_cursor *cursor) {
    cursor->from = 1;
    cursor->to = 0;
}

static bool is_number(sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Narrows the samples to what start may be. */
static void read_start(event_cursor *cursor, int condition, sqlite3_value *value) {
    const as_dataset *ds = cursor->table->view->ds;
    double seconds = sqlite3_value_double(value);
    uint64_t time = 0;
    if (condition != TO_START) {
        if (!first_at(ds, seconds, &time)) want_no_samples(cursor);
        if (time > cursor->from) cursor->from = time;
    }
    if (condition != FROM_START && first_at(ds, nextafter(seconds, INFINITY), &time)) {
        if (time == 0)
            want_no_samples(cursor);
        else if (time - 1 < cursor->to)
            cursor->to = time - 1;
    }
}

/* The same of start_raw. Time stamps of 64 bits are texts in SQL, behind all numbers. */
static void read_raw(event_cursor *cursor, int condition, sqlite3_value *value) {
    double real = sqlite3_value_double(value);
    uint64_t from = 0, to = INT64_MAX;
    if (real < 0) {
        if (condition != FROM_RAW) want_no_samples(cursor);
    } else if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        from = to = (uint64_t)sqlite3_value_int64(value);
    } else if (real < 0x1p63) {
        from = (uint64_t)floor(real);
        to = (uint64_t)ceil(real);
    } else {
        from = INT64_MAX;
    }
    if (condition != TO_RAW && from > cursor->from) cursor->from = from;
    if (condition != FROM_RAW && to < cursor->to) cursor->to = to;
}

static bool read_id(event_cursor *cursor, int condition, sqlite3_value *value) {
    assay_id *keys[] = {[BY_RUN] = &cursor->run, [BY_LOCATION] = &cursor->location, [BY_CONTEXT] = &cursor->context};
    as_match match = as_match_id(value, keys[condition]);
    if (match == AS_MATCH_ID) cursor->given |= 1u << condition;
    return match != AS_MATCH_NOTHING;
}

/* One condition's argument; false where no row can satisfy it. */
static bool read_condition(event_cursor *cursor, int condition, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return false;
    switch (condition) {
    case BY_ID:
        if (type != SQLITE_INTEGER) return true;
        if (sqlite3_value_int64(value) < 0) return false;
        cursor->id = (uint64_t)sqlite3_value_int64(value);
        cursor->given |= 1u << BY_ID;
        return true;
    case BY_SOURCE_ID:
        if (type == SQLITE_TEXT) cursor->given |= 1u << BY_SOURCE_ID; /* what is looked for: see enter_events() */
        return true;
    case BY_RUN:
    case BY_LOCATION:
    case BY_CONTEXT: return read_id(cursor, condition, value);
    case FROM_START:
    case TO_START:
    case AT_START:
        if (is_number(value)) read_start(cursor, condition, value);
        return true;
    default:
        if (is_number(value)) read_raw(cursor, condition, value);
        return true;
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* What events are found by, the most selective first. */
static const int event_keys[] = {BY_SOURCE_ID, BY_CONTEXT, BY_LOCATION, BY_RUN};
enum { N_EVENT_KEYS = sizeof event_keys / sizeof *event_keys };
_Static_assert((int)N_EVENT_KEYS <= (int)AS_MAX_KEYS, "as_vtab has an index for each");

typedef struct event_key {
    const as_dataset *ds;
    int condition;
} event_key;

static uint64_t hash_event(void *user, size_t row) {
    const event_key *key = user;
    as_event event;
    char digits[AS_NUMBER_SIZE];
    const char *text;
    as_ds_event(key->ds, row, &event);
    switch (key->condition) {
    case BY_CONTEXT: return event.context;
    case BY_LOCATION: return event.location;
    case BY_RUN: return event.run;
    default: text = as_event_source_id(key->ds, &event, digits); return text ? as_hash(text, strlen(text)) : 0;
    }
}

/* The hash that events with this condition have. */
static uint64_t wanted_hash(const event_cursor *cursor, int condition, sqlite3_value *source_id) {
    switch (condition) {
    case BY_CONTEXT: return cursor->context;
    case BY_LOCATION: return cursor->location;
    case BY_RUN: return cursor->run;
    default: return as_hash(sqlite3_value_text(source_id), (size_t)sqlite3_value_bytes(source_id));
    }
}

static size_t event_row(const event_cursor *cursor) {
    return cursor->list ? cursor->list[cursor->position] : cursor->position;
}

/* Makes the event at the position, once for all its columns; false where there is none. */
static bool look_at_event(event_cursor *cursor) {
    cursor->in_events = cursor->position < cursor->n_positions;
    if (cursor->in_events) as_ds_event(cursor->table->view->ds, event_row(cursor), &cursor->event);
    return cursor->in_events;
}

/* Takes up the events, narrowed by the first condition there is an index for. */
static int enter_events(event_cursor *cursor, sqlite3_value *source_id) {
    as_vtab *table = cursor->table;
    const as_dataset *ds = table->view->ds;
    size_t n = as_ds_intervals(ds);
    cursor->list = NULL;
    cursor->position = 0;
    cursor->n_positions = n;
    if (has(cursor, BY_ID)) {
        cursor->position = cursor->id < n ? (size_t)cursor->id : n;
        cursor->n_positions = cursor->id < n ? (size_t)cursor->id + 1 : n;
    }
    for (size_t k = 0; k < N_EVENT_KEYS && !has(cursor, BY_ID) && n; k++) {
        if (!has(cursor, event_keys[k])) continue;
        as_index *index = &table->indexes[k];
        event_key key = {ds, event_keys[k]};
        if (event_keys[k] == BY_SOURCE_ID && !sqlite3_value_text(source_id)) return SQLITE_NOMEM;
        if (!as_index_is_built(index) && !as_index_build(index, n, hash_event, &key)) return SQLITE_NOMEM;
        uint32_t found;
        cursor->list = as_index_find(index, wanted_hash(cursor, event_keys[k], source_id), &found);
        cursor->n_positions = found;
        break;
    }
    look_at_event(cursor);
    return SQLITE_OK;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* The number of the first row of a line, behind the events. */
static uint64_t first_row(const event_cursor *cursor, size_t line) {
    return as_ds_intervals(cursor->table->view->ds) + cursor->table->first_rows[line];
}

static assay_status cut_at(event_cursor *cursor, uint64_t time, uint64_t *number, assay_error *error) {
    return as_trace_find(cursor->table->view->ds, cursor->line, time, number, error);
}

/* Time stamps from 2^63 on are texts in SQL, sorted as such: those of 20 digits, which begin with 1, before those of
 * 19. */
static assay_status order_ranges(event_cursor *cursor, assay_error *error) {
    const uint64_t first_text = (uint64_t)1 << 63, first_long = 10000000000000000000u;
    sample_range all = cursor->ranges[0];
    uint64_t texts, longs;
    AS_TRY(cut_at(cursor, first_text, &texts, error));
    if (texts >= all.end) return ASSAY_OK;
    AS_TRY(cut_at(cursor, first_long, &longs, error));
    if (texts < all.first) texts = all.first;
    if (longs < texts) longs = texts;
    if (longs > all.end) longs = all.end;
    cursor->ranges[0] = (sample_range){all.first, texts};
    cursor->ranges[1] = (sample_range){longs, all.end};
    cursor->ranges[2] = (sample_range){texts, longs};
    cursor->n_ranges = 3;
    return ASSAY_OK;
}

/* Which samples of the line are asked for, as far as time and id say. */
static assay_status find_ranges(event_cursor *cursor, size_t number, assay_error *error) {
    sample_range range = {0, cursor->line->n};
    if (has(cursor, BY_ID)) {
        range.first = cursor->id - first_row(cursor, number);
        range.end = range.first + 1;
    } else {
        if (cursor->from > 0) AS_TRY(cut_at(cursor, cursor->from, &range.first, error));
        if (cursor->to < UINT64_MAX) AS_TRY(cut_at(cursor, cursor->to + 1, &range.end, error));
    }
    cursor->ranges[0] = range;
    cursor->n_ranges = 1;
    cursor->next_range = 0;
    return cursor->by_raw && range.first < range.end ? order_ranges(cursor, error) : ASSAY_OK;
}

/* The line that has the row asked for, or the number of lines. */
static size_t line_of_row(const event_cursor *cursor) {
    size_t low = 0, high = as_trace_line_count(&cursor->table->view->ds->traces);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first_row(cursor, middle + 1) <= cursor->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Which lines are to be gone through: where there can only be one, it is found without looking at all of them. */
static void choose_lines(event_cursor *cursor) {
    const as_dataset *ds = cursor->table->view->ds;
    size_t n = as_trace_line_count(&ds->traces);
    bool is_of_place = has(cursor, BY_LOCATION) && (has(cursor, BY_RUN) || AS_COUNT(ds, runs) == 1);
    cursor->next_line = 0;
    cursor->end_line = n;
    if (has(cursor, BY_ID)) {
        cursor->next_line = line_of_row(cursor);
    } else if (is_of_place) {
        const as_trace_line *line = as_trace_line_of(ds, has(cursor, BY_RUN) ? cursor->run : 0, cursor->location);
        cursor->next_line = line ? (size_t)(line - as_trace_line_at(&ds->traces, 0)) : n;
    }
    if ((has(cursor, BY_ID) || is_of_place) && cursor->next_line < n) cursor->end_line = cursor->next_line + 1;
}

/* The next line that can have rows asked for, or none. */
static assay_status enter_line(event_cursor *cursor, assay_error *error) {
    const as_traces *traces = &cursor->table->view->ds->traces;
    cursor->line = NULL;
    while (cursor->next_line < cursor->end_line) {
        size_t number = cursor->next_line++;
        const as_trace_line *line = as_trace_line_at(traces, number);
        if (has(cursor, BY_RUN) && line->run != cursor->run) continue;
        if (has(cursor, BY_LOCATION) && line->location != cursor->location) continue;
        uint64_t first = first_row(cursor, number);
        if (line->n == 0 || (has(cursor, BY_ID) && (cursor->id < first || cursor->id - first >= line->n))) continue;
        cursor->line = line;
        return find_ranges(cursor, number, error);
    }
    return ASSAY_OK;
}

/* Reads the next samples of the ranges into the batch; n_samples 0: the line is over. */
static assay_status read_batch(event_cursor *cursor, assay_error *error) {
    cursor->n_samples = 0;
    while (cursor->next_range < cursor->n_ranges) {
        sample_range *range = &cursor->ranges[cursor->next_range];
        if (range->first >= range->end) {
            cursor->next_range++;
            continue;
        }
        uint64_t left = range->end - range->first;
        size_t n = left < SAMPLES_AT_ONCE ? (size_t)left : SAMPLES_AT_ONCE;
        AS_TRY(as_trace_read(cursor->table->view->ds, cursor->line, range->first, n, cursor->samples, error));
        cursor->batch_first = cursor->number = range->first;
        cursor->n_samples = n;
        range->first += n;
        return ASSAY_OK;
    }
    return ASSAY_OK;
}

/* Moves on, from the sample at hand or from where a line begins, to one with the context asked for. */
static assay_status find_sample(event_cursor *cursor, assay_error *error) {
    while (cursor->line) {
        while (cursor->number - cursor->batch_first < cursor->n_samples) {
            size_t i = (size_t)(cursor->number - cursor->batch_first);
            if (!has(cursor, BY_CONTEXT) || cursor->samples[i].context == cursor->context) return ASSAY_OK;
            cursor->number++;
        }
        AS_TRY(read_batch(cursor, error));
        if (cursor->n_samples) continue;
        AS_TRY(enter_line(cursor, error));
        cursor->number = cursor->batch_first;
    }
    return ASSAY_OK;
}

static int enter_samples(event_cursor *cursor) {
    assay_error error;
    cursor->in_events = false;
    cursor->n_samples = 0;
    cursor->number = cursor->batch_first = 0;
    if (has(cursor, BY_SOURCE_ID) || cursor->from > cursor->to) return SQLITE_OK;
    choose_lines(cursor);
    assay_status status = enter_line(cursor, &error);
    if (status == ASSAY_OK) status = find_sample(cursor, &error);
    return status == ASSAY_OK ? SQLITE_OK : as_vtab_fail(cursor->table, &error);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static int event_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    event_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->table = (as_vtab *)base;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int event_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

/* Numbers of the first rows of lines, and when the run began. */
static int prepare(as_vtab *table) {
    const as_traces *traces = &table->view->ds->traces;
    size_t n = as_trace_line_count(traces);
    if (!table->first_rows) {
        table->first_rows = calloc(n + 1, sizeof *table->first_rows);
        if (!table->first_rows) return SQLITE_NOMEM;
        for (size_t i = 0; i < n; i++) table->first_rows[i + 1] = table->first_rows[i] + as_trace_line_at(traces, i)->n;
    }
    assay_error error;
    return as_trace_prepare(table->view->ds, &error) == ASSAY_OK ? SQLITE_OK : as_vtab_fail(table, &error);
}

static int event_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc, sqlite3_value **argv) {
    (void)plan_text;
    (void)argc;
    event_cursor *cursor = (event_cursor *)base;
    int status = prepare(cursor->table);
    if (status != SQLITE_OK) return status;
    cursor->given = 0;
    cursor->from = 0;
    cursor->to = UINT64_MAX;
    cursor->by_raw = plan & ORDERED_BY_RAW;
    cursor->in_events = false;
    cursor->line = NULL;
    sqlite3_value *source_id = NULL;
    int argument = 0;
    for (int condition = 0; condition < N_CONDITIONS; condition++) {
        if (!((unsigned)plan & 1u << condition)) continue;
        if (condition == BY_SOURCE_ID) source_id = argv[argument];
        if (!read_condition(cursor, condition, argv[argument++])) return SQLITE_OK;
    }
    status = enter_events(cursor, source_id);
    return status == SQLITE_OK && !cursor->in_events ? enter_samples(cursor) : status;
}

static int event_next(sqlite3_vtab_cursor *base) {
    event_cursor *cursor = (event_cursor *)base;
    if (cursor->in_events) {
        cursor->position++;
        return look_at_event(cursor) ? SQLITE_OK : enter_samples(cursor);
    }
    assay_error error;
    cursor->number++;
    return find_sample(cursor, &error) == ASSAY_OK ? SQLITE_OK : as_vtab_fail(cursor->table, &error);
}

static int event_eof(sqlite3_vtab_cursor *base) {
    const event_cursor *cursor = (event_cursor *)base;
    return !cursor->in_events && !cursor->line;
}

static int event_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    const event_cursor *cursor = (event_cursor *)base;
    uint64_t row = cursor->in_events ? event_row(cursor) : first_row(cursor, cursor->next_line - 1) + cursor->number;
    *rowid = (sqlite3_int64)row;
    return SQLITE_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void result_source_id(sqlite3_context *context, const as_view *view, const as_event *event) {
    char digits[AS_NUMBER_SIZE];
    if (event->is_numbered)
        sqlite3_result_text(context, as_event_source_id(view->ds, event, digits), -1, SQLITE_TRANSIENT);
    else
        as_result_str(context, view, event->source_id);
}

static void result_of_event(as_view *view, const as_event *event, sqlite3_context *context, int column) {
    switch (column) {
    case SOURCE_ID: result_source_id(context, view, event); break;
    case RUN: as_result_id(context, event->run); break;
    case LOCATION: as_result_id(context, event->location); break;
    case CONTEXT: as_result_id(context, event->context); break;
    case NAME: as_result_str(context, view, event->name); break;
    case KIND: as_result_str(context, view, event->kind); break;
    case START: sqlite3_result_double(context, event->start); break; /* NaN becomes NULL */
    case END: sqlite3_result_double(context, event->end); break;
    case START_RAW: as_result_cell(context, view, event->start_raw); break;
    default: as_result_cell(context, view, event->end_raw);
    }
}

static int event_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    event_cursor *cursor = (event_cursor *)base;
    as_view *view = cursor->table->view;
    const as_dataset *ds = view->ds;
    if (column == ID) {
        sqlite3_int64 id;
        event_rowid(base, &id);
        sqlite3_result_int64(context, id);
        return SQLITE_OK;
    }
    if (cursor->in_events) {
        result_of_event(view, &cursor->event, context, column);
        return SQLITE_OK;
    }
    const as_trace_sample *sample = &cursor->samples[cursor->number - cursor->batch_first];
    switch (column) {
    case RUN: as_result_id(context, cursor->line->run); break;
    case LOCATION: as_result_id(context, cursor->line->location); break;
    case CONTEXT: as_result_id(context, sample->context); break;
    case NAME:
        if (sample->context != ASSAY_NONE) as_result_str(context, view, as_ds_context(ds, sample->context)->name);
        break;
    case KIND: sqlite3_result_text(context, "sample", -1, SQLITE_STATIC); break;
    case START: sqlite3_result_double(context, as_trace_seconds(ds, sample->time)); break;
    case START_RAW: as_result_whole(context, sample->time); break;
    default: break; /* NULL: a sample has no end, and no id of its own */
    }
    return SQLITE_OK;
}

const sqlite3_module as_event_module = {
    .xCreate = as_vtab_connect,
    .xConnect = as_vtab_connect,
    .xBestIndex = event_best_index,
    .xDisconnect = as_vtab_disconnect,
    .xDestroy = as_vtab_disconnect,
    .xOpen = event_open,
    .xClose = event_close,
    .xFilter = event_filter,
    .xNext = event_next,
    .xEof = event_eof,
    .xColumn = event_column,
    .xRowid = event_rowid,
};
