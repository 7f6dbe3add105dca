/* What was measured: the pairs of all records of data are read once more, now that it is known what they mean. */
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/afperf/reading.h"

enum { CHUNK = 1 << 13, OTHERS = 1 << 10 }; /* intervals, and records that belong to none, that are done in one go */

/* ---- one value --------------------------------------------------------------------------------------------------- */

static as_cell text_cell(const as_af_field *field) { return as_cell_text_n(field->text, field->size); }

/* A number of no known type, or any text. */
static as_af_value loose_value(const as_af_field *field) {
    int64_t whole;
    double real;
    if (as_af_signed(field, &whole)) return (as_af_value){as_cell_int(whole), true};
    if (as_af_real(field, &real)) return (as_af_value){as_cell_real(real), true};
    return (as_af_value){text_cell(field), true};
}

as_af_value as_af_value_of(const as_af_field *field, const as_af_measure *measure, bool is_processed) {
    int64_t whole;
    double real;
    if (!measure) return loose_value(field);
    switch (measure->type) {
    case AS_AF_DOUBLE:
        return as_af_real(field, &real) ? (as_af_value){as_cell_real(real), true} : (as_af_value){.fits = false};
    case AS_AF_INT32:
    case AS_AF_INT64:
    case AS_AF_BOOL:
        if (as_af_signed(field, &whole)) {
            bool is_small = measure->type == AS_AF_BOOL ? field->size == 1 && (whole == 0 || whole == 1) /* literally */
                                                        : whole == (int32_t)whole;
            return (as_af_value){as_cell_int(whole), is_small || measure->type == AS_AF_INT64 || is_processed};
        }
        /* The mean of integers is none. */
        if (is_processed && as_af_real(field, &real)) return (as_af_value){as_cell_real(real), true};
        return (as_af_value){.fits = false};
    default: return (as_af_value){text_cell(field), true};
    }
}

/* ---- what an interval adds --------------------------------------------------------------------------------------- */

typedef struct amount {
    as_whole whole;
    double real;
} amount;

/* One measure in one interval. */
typedef struct tally {
    uint32_t measure;
    uint32_t n_points, n_aggregates;
    uint64_t first_time, last_time;
    amount first, last, aggregate;
} tally;

typedef struct job {
    as_af_reading *reading;
    as_af_capture *capture;
    const uint32_t *order;  /* records of data by their intervals, then those of none */
    const uint32_t *starts; /* where those of each interval begin in it; those of none last */
    size_t first_chunk, n_interval_chunks;
    struct chunk *chunks;
} job;

typedef struct chunk {
    as_vec sums;     /* as_af_sum */
    as_map sum_of;   /* as_pair(cell, metric) -> sum */
    as_vec tallies;  /* tally, of one interval */
    as_map tally_of; /* measure -> tally, where there are many */
    as_af_problems problems;
    bool failed;
} chunk;

static amount amount_of(as_cell cell) {
    if (cell.type == AS_CELL_REAL) return (amount){.real = cell.r};
    return (amount){.whole = cell.i, .real = (double)cell.i};
}

/* That of a measure, made if new. NULL when memory is out. */
static tally *tally_of(chunk *c, uint32_t measure) {
    enum { FEW = 16 };
    tally *tallies = c->tallies.data;
    size_t n = c->tallies.count;
    for (size_t i = 0; i < n && i < FEW; i++) {
        if (tallies[i].measure == measure) return &tallies[i];
    }
    uint32_t index = n > FEW ? as_map_get(&c->tally_of, measure) : AS_MAP_NONE;
    if (index != AS_MAP_NONE) return &tallies[index];
    tally *made = as_vec_push(&c->tallies);
    if (!made || (n >= FEW && !as_map_put(&c->tally_of, measure, (uint32_t)n))) return NULL;
    made->measure = measure;
    return made;
}

static void forget_tallies(chunk *c) {
    c->tallies.count = 0;
    if (c->tally_of.count) {
        as_budget *budget = c->tally_of.budget;
        as_map_free(&c->tally_of);
        as_map_init(&c->tally_of, budget);
    }
}

static void take_value(chunk *c, uint32_t measure, bool is_point, uint64_t time, amount value) {
    tally *t = tally_of(c, measure);
    if (!t) {
        c->failed = true;
        return;
    }
    if (!is_point) {
        t->n_aggregates++;
        t->aggregate.whole += value.whole;
        t->aggregate.real += value.real;
        return;
    }
    bool is_first = !t->n_points || time < t->first_time, is_last = !t->n_points || time >= t->last_time;
    t->n_points++;
    if (is_first) t->first = value, t->first_time = time;
    if (is_last) t->last = value, t->last_time = time;
}

/* The sum of (cell, metric). */
static as_af_sum *sum_of(chunk *c, uint32_t cell, const as_af_measure *measure) {
    uint64_t key = as_pair(cell, measure->metric);
    uint32_t index = as_map_get(&c->sum_of, key);
    if (index != AS_MAP_NONE) return &AS_AT(as_af_sum, &c->sums, index);
    as_af_sum sum = {.metric = measure->metric, .cell = cell, .is_real = measure->type == AS_AF_DOUBLE};
    index = (uint32_t)c->sums.count;
    if (!as_vec_append(&c->sums, &sum, 1) || !as_map_put(&c->sum_of, key, index)) return NULL;
    return &AS_AT(as_af_sum, &c->sums, index);
}

/* The aggregate; else the difference of the last and the first point; else the only point. */
static void add_tallies(const job *j, chunk *c, uint32_t cell) {
    for (size_t i = 0; i < c->tallies.count && !c->failed; i++) {
        const tally *t = &AS_AT(tally, &c->tallies, i);
        as_af_sum *sum = sum_of(c, cell, AS_AF_MEASURE(j->capture, t->measure));
        if (!sum) {
            c->failed = true;
            return;
        }
        bool is_difference = !t->n_aggregates && t->n_points > 1;
        amount own = t->n_aggregates ? t->aggregate : t->last;
        sum->whole += own.whole - (is_difference ? t->first.whole : 0);
        sum->real += own.real - (is_difference ? t->first.real : 0);
    }
    forget_tallies(c);
}

/* ---- one record -------------------------------------------------------------------------------------------------- */

static const as_af_run *run_of(const as_af_capture *capture, const as_af_datum *datum) {
    uint32_t run = AS_AF_NONE;
    if (datum->offset & AS_AF_OWNER_RUN)
        run = datum->owner;
    else if (datum->offset & AS_AF_OWNER_INTERVAL)
        run = AS_AF_INTERVAL(capture, datum->owner)->run;
    return run == AS_AF_NONE ? NULL : AS_AF_RUN(capture, run);
}

static void complain(const job *j, chunk *c, as_af_rule rule, const as_af_field *at, uint64_t number) {
    as_af_problem problem = {.offset = (size_t)(at->text - j->reading->data) - at->is_quoted,
                             .rule = rule,
                             .severity = rule == AS_AF_ORPHAN ? AS_WARNING : AS_ERROR,
                             .field = UINT8_MAX - 1,
                             .text = "measurement",
                             .number = number,
                             .has_number = true};
    if (!as_af_report(&c->problems, &problem)) c->failed = true;
}

/* Checks a pair, and takes its value for the interval where it counts. False: the pair is left out. */
static bool take_pair(const job *j, chunk *c, const as_af_datum *datum, const as_af_run *run, const as_af_field *id,
                      const as_af_field *value, uint64_t time) {
    uint64_t number;
    if (!as_af_integer(id, &number)) {
        complain(j, c, AS_AF_NUMBER, id, 0);
        return false;
    }
    uint32_t index = run ? as_map_get(&run->measures, number) : AS_MAP_NONE;
    if (index == AS_MAP_NONE) {
        if (run && run->is_defined) complain(j, c, AS_AF_ORPHAN, id, number);
        return true;
    }
    const as_af_measure *measure = AS_AF_MEASURE(j->capture, index);
    bool is_processed = datum->offset & AS_AF_IS_PROCESSED;
    as_af_value read = as_af_value_of(value, measure, is_processed);
    if (!read.fits) {
        complain(j, c, AS_AF_VALUE, value, measure->type);
        return false;
    }
    as_af_type type = as_af_datum_type(datum);
    bool is_point = type == AS_AF_REGION_POINT || type == AS_AF_SECTION_POINT;
    bool counts = datum->offset & AS_AF_OWNER_INTERVAL && !is_processed && as_af_is_numeric(measure->type);
    if (counts) take_value(c, index, is_point, time, amount_of(read.cell));
    return true;
}

static void take_datum(const job *j, chunk *c, as_af_datum *datum) {
    const as_af_layout *layout = &as_af_layouts[as_af_datum_type(datum)];
    as_af_walker walker = as_af_walk(j->reading->data, j->reading->size, as_af_offset_of(datum->offset));
    const as_af_run *run = run_of(j->capture, datum);
    as_af_field id, value;
    uint64_t time = 0;
    uint32_t n_left = 0;
    for (uint8_t i = 0; i < layout->n_fields; i++) {
        as_af_walk_next(&walker, &value);
        if (i == 1) as_af_integer(&value, &time);
    }
    for (uint32_t i = 0; i < datum->n_pairs && !c->failed; i++) {
        as_af_walk_next(&walker, &id);
        as_af_walk_next(&walker, &value);
        n_left += take_pair(j, c, datum, run, &id, &value, time);
    }
    if (n_left < datum->n_pairs) datum->offset |= AS_AF_IS_PARTIAL;
    datum->n_pairs = n_left;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* The first record of a chunk of those that belong to no interval. */
static size_t first_other(const job *j, size_t number) {
    size_t n = j->capture->data.count;
    size_t from = j->starts[j->capture->intervals.count] + (number - j->n_interval_chunks) * OTHERS;
    return from < n ? from : n;
}

static void do_chunk(void *user, size_t i) {
    const job *j = user;
    chunk *c = &j->chunks[i];
    size_t number = j->first_chunk + i, n_intervals = j->capture->intervals.count;
    as_af_datum *data = j->capture->data.data;
    if (number >= j->n_interval_chunks) { /* records that belong to no interval */
        size_t from = first_other(j, number), end = first_other(j, number + 1);
        for (size_t k = from; k < end && !c->failed; k++) take_datum(j, c, &data[j->order[k]]);
        return;
    }
    size_t from = number * CHUNK, end = from + CHUNK < n_intervals ? from + CHUNK : n_intervals;
    for (size_t k = from; k < end && !c->failed; k++) {
        for (uint32_t at = j->starts[k]; at < j->starts[k + 1] && !c->failed; at++)
            take_datum(j, c, &data[j->order[at]]);
        uint32_t cell = AS_AF_INTERVAL(j->capture, k)->cell;
        if (cell == AS_AF_NONE || as_af_kind_of(AS_AF_INTERVAL(j->capture, k)) == AS_AF_PAUSE)
            forget_tallies(c);
        else
            add_tallies(j, c, cell);
    }
}

/* Sorts the records by their intervals; those of one stay in the order of the file. */
static void sort_data(const as_af_capture *capture, uint32_t *order, uint32_t *starts) {
    size_t n = capture->intervals.count;
    const as_af_datum *data = capture->data.data;
    for (size_t i = 0; i < capture->data.count; i++)
        starts[(data[i].offset & AS_AF_OWNER_INTERVAL ? data[i].owner : n) + 1]++;
    for (size_t i = 0; i <= n; i++) starts[i + 1] += starts[i];
    for (size_t i = 0; i < capture->data.count; i++)
        order[starts[data[i].offset & AS_AF_OWNER_INTERVAL ? data[i].owner : n]++] = (uint32_t)i;
    memmove(starts + 1, starts, (n + 1) * sizeof *starts); /* now they are where those of the next begin */
    starts[0] = 0;
}

/* Adds what a chunk has to the sums of all. */
static bool take_chunk(as_af_reading *reading, chunk *c, as_vec *sums, as_map *sum_of_all) {
    for (size_t i = 0; i < c->sums.count; i++) {
        const as_af_sum *part = &AS_AT(as_af_sum, &c->sums, i);
        uint64_t key = as_pair(part->cell, part->metric);
        uint32_t index = as_map_get(sum_of_all, key);
        if (index == AS_MAP_NONE) {
            index = (uint32_t)sums->count;
            if (sums->count >= AS_AF_NONE || !as_vec_append(sums, part, 1) || !as_map_put(sum_of_all, key, index))
                return false;
            continue;
        }
        as_af_sum *sum = &AS_AT(as_af_sum, sums, index);
        sum->whole += part->whole;
        sum->real += part->real;
    }
    return as_af_problems_append(&reading->problems, &c->problems);
}

static void chunk_init(chunk *c, as_budget *budget) {
    *c = (chunk){0};
    as_vec_init(&c->sums, sizeof(as_af_sum), budget);
    as_vec_init(&c->tallies, sizeof(tally), budget);
    as_map_init(&c->sum_of, budget);
    as_map_init(&c->tally_of, budget);
    as_af_problems_init(&c->problems, budget);
}

static void chunk_free(chunk *c) {
    as_vec_free(&c->sums);
    as_vec_free(&c->tallies);
    as_map_free(&c->sum_of);
    as_map_free(&c->tally_of);
    as_af_problems_free(&c->problems);
}

/* Where in the text a chunk begins, the one after the last of its kind at the end: mostly the records of intervals come
 * with them. */
static size_t place_of(const job *j, size_t number) {
    const as_af_capture *capture = j->capture;
    if (number < j->n_interval_chunks) return as_af_offset_of(AS_AF_INTERVAL(capture, number * CHUNK)->offset);
    if (j->first_chunk < j->n_interval_chunks) return j->reading->size;
    size_t other = first_other(j, number);
    return other < capture->data.count ? as_af_offset_of(AS_AF_DATUM(capture, j->order[other])->offset)
                                       : j->reading->size;
}

/* How many chunks from the first one on are done together, of n: as many as lie in a part of the text that may be in
 * memory at once. */
static size_t chunks_together(const job *j, size_t n, size_t most) {
    enum { PART = 1 << 25 };
    size_t end = j->first_chunk < j->n_interval_chunks ? j->n_interval_chunks : n;
    size_t some = end - j->first_chunk < most ? end - j->first_chunk : most;
    size_t from = place_of(j, j->first_chunk);
    while (some > 1 && place_of(j, j->first_chunk + some) > from + PART) some /= 2;
    return some;
}

/* Some chunks at a time, whatever the number of threads: what they add up to never depends on it. */
static bool do_chunks(job *j, as_vec *sums, as_map *sum_of_all) {
    enum { AT_A_TIME = 64 };
    as_budget *budget = &j->reading->ds->budget;
    as_input *input = j->reading->reader->input;
    size_t n_others = j->capture->data.count - j->starts[j->capture->intervals.count];
    size_t n = j->n_interval_chunks + (n_others + OTHERS - 1) / OTHERS, some;
    chunk chunks[AT_A_TIME];
    bool fine = true;
    j->chunks = chunks;
    as_input_consumed(input, 0);
    for (j->first_chunk = 0; fine && j->first_chunk < n; j->first_chunk += some) {
        if (j->first_chunk == j->n_interval_chunks) as_input_consumed(input, 0); /* from the start again */
        some = chunks_together(j, n, AT_A_TIME);
        for (size_t i = 0; i < some; i++) chunk_init(&chunks[i], budget);
        as_parallel(some, j->reading->reader->threads, do_chunk, j);
        for (size_t i = 0; i < some; i++) {
            fine = fine && !chunks[i].failed && take_chunk(j->reading, &chunks[i], sums, sum_of_all);
            chunk_free(&chunks[i]);
        }
        as_input_consumed(input, place_of(j, j->first_chunk + some));
    }
    as_input_consumed(input, 0);
    return fine;
}

bool as_af_add_up(as_af_reading *reading, as_vec *sums) {
    as_af_capture *capture = reading->capture;
    as_budget *budget = &reading->ds->budget;
    if (!capture->data.count) return true;
    size_t n_order = capture->data.count, n_starts = capture->intervals.count + 2;
    uint64_t room = (n_order + n_starts) * sizeof(uint32_t);
    if (!as_budget_take(budget, room)) return false;
    uint32_t *order = malloc(n_order * sizeof *order), *starts = calloc(n_starts, sizeof *starts);
    bool fine = order && starts;
    if (fine) {
        as_map sum_of_all;
        as_map_init(&sum_of_all, budget);
        sort_data(capture, order, starts);
        job j = {.reading = reading,
                 .capture = capture,
                 .order = order,
                 .starts = starts,
                 .n_interval_chunks = (capture->intervals.count + CHUNK - 1) / CHUNK};
        fine = do_chunks(&j, sums, &sum_of_all);
        as_map_free(&sum_of_all);
    }
    free(order);
    free(starts);
    as_budget_give(budget, room);
    return fine;
}
