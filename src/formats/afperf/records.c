/* The table `record`: a row for each pair of every record of data, read again from the file when somebody asks. */
#include <stdlib.h>

#include "core/search.h"
#include "formats/afperf/reading.h"

enum {
    ID,
    RUN,
    TYPE,
    OWNER,
    INTERVAL,
    START_RAW,
    END_RAW,
    START,
    END,
    AGGREGATION,
    MEASUREMENT,
    MEASUREMENT_ID,
    VALUE
};
static const char *const COLUMNS[] = {"type", "owner",       "interval",    "start_raw",      "end_raw", "start",
                                      "end",  "aggregation", "measurement", "measurement_id", "value"};

/* What a record of data says, as far as all its pairs share it, and one of its pairs. */
typedef struct decoded {
    size_t row, datum;
    uint32_t pair; /* that `next` is behind, among those that count */
    as_af_walker next;
    as_af_field owner, interval, aggregation, measurement, value;
    uint64_t start, end;
    bool is_valid;
} decoded;

typedef struct as_af_records {
    as_table_source source; /* first: the table finds the records by it */
    const as_af_capture *capture;
    uint64_t n_rows;
    pthread_mutex_t lock;
    decoded now; /* the row asked for last */
    char owner[AS_NUMBER_SIZE], interval[AS_NUMBER_SIZE], measurement[AS_NUMBER_SIZE];
    as_vec text; /* char: a value, or an aggregation, without its quotes */
} as_af_records;

/* ---- finding a row ----------------------------------------------------------------------------------------------- */

static const as_af_run *run_of(const as_af_capture *capture, const as_af_datum *datum) {
    uint32_t run = AS_AF_NONE;
    if (datum->offset & AS_AF_OWNER_RUN)
        run = datum->owner;
    else if (datum->offset & AS_AF_OWNER_INTERVAL)
        run = AS_AF_INTERVAL(capture, datum->owner)->run;
    const as_af_run *found = run == AS_AF_NONE ? NULL : AS_AF_RUN(capture, run);
    return found && found->is_defined ? found : NULL;
}

static const as_af_measure *measure_of(const as_af_capture *capture, const as_af_datum *datum,
                                       const as_af_field *field) {
    const as_af_run *run = run_of(capture, datum);
    uint64_t id;
    uint32_t index = run && as_af_integer(field, &id) ? as_map_get(&run->measures, id) : AS_MAP_NONE;
    return index == AS_MAP_NONE ? NULL : AS_AF_MEASURE(capture, index);
}

static bool pair_counts(const as_af_capture *capture, const as_af_datum *datum, const decoded *d) {
    uint64_t id;
    if (!(datum->offset & AS_AF_IS_PARTIAL)) return true;
    return as_af_integer(&d->measurement, &id) &&
           as_af_value_of(&d->value, measure_of(capture, datum, &d->measurement), datum->offset & AS_AF_IS_PROCESSED)
               .fits;
}

static void next_pair(const as_af_capture *capture, decoded *d) {
    const as_af_datum *datum = AS_AF_DATUM(capture, d->datum);
    bool is_there;
    do {
        is_there = as_af_walk_next(&d->next, &d->measurement) && as_af_walk_next(&d->next, &d->value);
    } while (is_there && !pair_counts(capture, datum, d));
}

/* The fields before the pairs. */
static void decode_datum(const as_af_capture *capture, decoded *d) {
    const as_af_datum *datum = AS_AF_DATUM(capture, d->datum);
    as_af_type type = as_af_datum_type(datum);
    const as_af_layout *layout = &as_af_layouts[type];
    as_af_field fields[AS_AF_MOST_FIELDS];
    d->next = as_af_walk(capture->file.data, capture->file.size, as_af_offset_of(datum->offset));
    for (uint8_t i = 0; i < layout->n_fields; i++) as_af_walk_next(&d->next, &fields[i]);
    bool is_aggregate = layout->fields[2].kind == AS_AF_TIME;
    bool is_section = type == AS_AF_SECTION_POINT || type == AS_AF_SECTION_AGGREGATE;
    const as_af_field none = {.text = ""};
    as_af_integer(&fields[1], &d->end);
    d->start = d->end;
    if (is_aggregate) as_af_integer(&fields[2], &d->start);
    d->owner = fields[is_aggregate ? 3 : 2];
    d->interval = is_section ? fields[is_aggregate ? 4 : 3] : none;
    d->aggregation = is_aggregate ? fields[layout->n_fields - 1] : none;
}

/* The record that a row is of, and which of its pairs. */
static void find_row(const as_af_records *records, size_t row, size_t *datum, uint32_t *pair) {
    const as_af_capture *capture = records->capture;
    size_t block = as_last_not_above(capture->pairs_before, capture->data.count / AS_AF_STEP_SIZE + 1, row);
    uint64_t left = row - capture->pairs_before[block];
    *datum = block * AS_AF_STEP_SIZE;
    while (left >= AS_AF_DATUM(capture, *datum)->n_pairs) left -= AS_AF_DATUM(capture, (*datum)++)->n_pairs;
    *pair = (uint32_t)left;
}

static void decode_row(as_af_records *records, size_t row) {
    const as_af_capture *capture = records->capture;
    decoded *d = &records->now;
    size_t datum = d->datum;
    uint32_t pair = d->pair + 1;
    if (d->is_valid && d->row == row) return;
    bool follows = d->is_valid && d->row + 1 == row && pair < AS_AF_DATUM(capture, datum)->n_pairs;
    if (!follows) find_row(records, row, &datum, &pair);
    if (!d->is_valid || d->datum != datum || pair <= d->pair) {
        d->datum = datum;
        decode_datum(capture, d);
        next_pair(capture, d);
        d->pair = 0;
    }
    for (; d->pair < pair; d->pair++) next_pair(capture, d);
    d->row = row;
    d->is_valid = true;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static as_cell hex_cell(uint64_t id, char digits[AS_NUMBER_SIZE]) {
    return as_cell_text_n(digits, as_hex_format(id, digits));
}

static as_cell owner_cell(as_af_records *records, const as_af_datum *datum) {
    const as_af_capture *capture = records->capture;
    uint64_t id;
    if (as_af_integer(&records->now.owner, &id)) return hex_cell(id, records->owner);
    if (datum->offset & AS_AF_OWNER_RUN) {
        const as_af_run *run = AS_AF_RUN(capture, datum->owner);
        return run->has_id ? hex_cell(run->id, records->owner) : as_cell_null();
    }
    if (!(datum->offset & AS_AF_OWNER_INTERVAL)) return as_cell_null();
    const as_af_interval *interval = AS_AF_INTERVAL(capture, datum->owner);
    if (as_af_kind_of(interval) == AS_AF_SECTION) {
        const as_af_section *section = AS_AF_SECTION_AT(capture, interval->what);
        return section->has_id ? hex_cell(section->id, records->owner) : as_cell_null();
    }
    return interval->offset & AS_AF_HAS_NO_ID ? as_cell_null() : hex_cell(interval->id, records->owner);
}

static as_cell interval_cell(as_af_records *records, const as_af_datum *datum) {
    uint64_t id;
    if (as_af_integer(&records->now.interval, &id)) return hex_cell(id, records->interval);
    if (!(datum->offset & AS_AF_OWNER_INTERVAL)) return as_cell_null();
    const as_af_interval *interval = AS_AF_INTERVAL(records->capture, datum->owner);
    bool has_one = as_af_kind_of(interval) == AS_AF_SECTION && !(interval->offset & AS_AF_HAS_NO_ID);
    return has_one ? hex_cell(interval->id, records->interval) : as_cell_null();
}

/* The text that a field means. */
static as_cell text_cell(as_af_records *records, const as_af_field *field) {
    if (!field->has_quotes) return as_cell_text_n(field->text, field->size);
    records->text.count = 0;
    if (!as_af_unquote(field, &records->text)) return as_cell_null();
    return as_cell_text_n(records->text.data, records->text.count);
}

static as_cell aggregation_cell(as_af_records *records) {
    static const char *const same[][2] = {{"sum", "sum"},
                                          {"summation", "sum"},
                                          {"total", "sum"},
                                          {"max", "max"},
                                          {"maximum", "max"},
                                          {"min", "min"},
                                          {"minimum", "min"},
                                          {"mean", "mean"},
                                          {"average", "mean"},
                                          {"avg", "mean"},
                                          {"std deviation", "stddev"},
                                          {"stddev", "stddev"},
                                          {"std", "stddev"},
                                          {"count", "count"}};
    const as_af_field *field = &records->now.aggregation;
    if (as_af_is_blank(field)) return as_cell_null();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (strlen(same[i][0]) == field->size && memcmp(same[i][0], field->text, field->size) == 0)
            return as_cell_text(same[i][1]);
    }
    return text_cell(records, field);
}

static as_cell value_cell(as_af_records *records, const as_af_datum *datum) {
    const as_af_measure *measure = measure_of(records->capture, datum, &records->now.measurement);
    as_cell cell = as_af_value_of(&records->now.value, measure, datum->offset & AS_AF_IS_PROCESSED).cell;
    return cell.type == AS_CELL_TEXT ? text_cell(records, &records->now.value) : cell;
}

static as_cell cell_of(as_af_records *records, const as_af_datum *datum, size_t column) {
    const as_af_capture *capture = records->capture;
    const decoded *d = &records->now;
    const as_af_run *run = run_of(capture, datum);
    const as_af_measure *measure;
    uint64_t id;
    switch (column) {
    case RUN: return run ? as_cell_int(run->final) : as_cell_null();
    case TYPE: return as_cell_text(as_af_layouts[as_af_datum_type(datum)].name);
    case OWNER: return owner_cell(records, datum);
    case INTERVAL: return interval_cell(records, datum);
    case START_RAW: return as_cell_uint(d->start);
    case END_RAW: return as_cell_uint(d->end);
    case START: return run ? as_cell_real(as_af_since_start(run, d->start)) : as_cell_null();
    case END: return run ? as_cell_real(as_af_since_start(run, d->end)) : as_cell_null();
    case AGGREGATION: return aggregation_cell(records);
    case MEASUREMENT:
        measure = measure_of(capture, datum, &d->measurement);
        return measure ? as_cell_text_n(as_ds_text(capture->ds, measure->name),
                                        as_str_size(&capture->ds->strings, measure->name))
                       : as_cell_null();
    case MEASUREMENT_ID:
        return as_af_integer(&d->measurement, &id) ? hex_cell(id, records->measurement) : as_cell_null();
    default: return value_cell(records, datum);
    }
}

static size_t view_rows(const as_table_source *source) { return (size_t)((const as_af_records *)source)->n_rows; }

static as_cell view_cell(const as_table_source *source, size_t row, size_t column) {
    as_af_records *records = (as_af_records *)(uintptr_t)source;
    if (column == ID) return as_cell_uint(row);
    pthread_mutex_lock(&records->lock);
    decode_row(records, row);
    as_cell cell = cell_of(records, AS_AF_DATUM(records->capture, records->now.datum), column);
    pthread_mutex_unlock(&records->lock);
    return cell;
}

static void release(void *object) {
    as_af_records *records = object;
    pthread_mutex_destroy(&records->lock);
    as_vec_free(&records->text);
    free(records);
}

bool as_af_add_records(as_af_reading *reading) {
    as_af_capture *capture = reading->capture;
    as_dataset *ds = reading->ds;
    size_t n = capture->data.count;
    as_af_records *records = calloc(1, sizeof *records);
    if (!records) return false;
    pthread_mutex_init(&records->lock, NULL);
    as_vec_init(&records->text, 1, &ds->budget);
    records->source = (as_table_source){.rows = view_rows, .cell = view_cell};
    records->capture = capture;
    if (!as_ds_hold(ds, records, release)) return false;
    capture->pairs_before = as_arena_array(&ds->arena, n / AS_AF_STEP_SIZE + 1, sizeof(uint64_t));
    if (!capture->pairs_before) return false;
    for (size_t i = 0; i < n; i++) {
        if (i % AS_AF_STEP_SIZE == 0) capture->pairs_before[i / AS_AF_STEP_SIZE] = records->n_rows;
        records->n_rows += AS_AF_DATUM(capture, i)->n_pairs;
    }
    if (n % AS_AF_STEP_SIZE == 0) capture->pairs_before[n / AS_AF_STEP_SIZE] = records->n_rows;
    as_table *table = as_add_record_view(ds, "record", &records->source, NULL);
    for (size_t i = 0; table && i < sizeof COLUMNS / sizeof *COLUMNS; i++) {
        if (as_table_add_column(table, COLUMNS[i]) == SIZE_MAX) return false;
    }
    return table;
}
