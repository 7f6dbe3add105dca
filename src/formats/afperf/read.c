/* The format: telling captures from other files, and reading one. */
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/afperf/reading.h"
#include "formats/afperf/write.h"

/* Tests that want many pieces of a small file build with less. */
#ifndef AS_AF_PIECE_SIZE
#define AS_AF_PIECE_SIZE (1 << 20)
#endif
enum { PIECE_SIZE = AS_AF_PIECE_SIZE, SLACK = AS_AF_PIECE_SIZE, PIECES_AT_A_TIME = 16 };

/* ---- the signature ----------------------------------------------------------------------------------------------- */

static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

static int bid(const as_probe *probe) {
    uint64_t major;
    const char *head = probe->head;
    size_t size = probe->head_size;
    if (probe->is_directory) return 0;
    if (size >= 3 && memcmp(head, BYTE_ORDER_MARK, 3) == 0) head += 3, size -= 3; /* which reading refuses */
    if (size >= AS_AF_SIGNATURE_SIZE && memcmp(head, AS_AF_SIGNATURE, AS_AF_SIGNATURE_SIZE) == 0)
        return 8 * AS_AF_SIGNATURE_SIZE;
    return as_af_signature_of(head, size, &major) ? 80 : 0;
}

static assay_status check_signature(as_reader *reader) {
    const as_input *input = reader->input;
    uint64_t major;
    as_place place = as_place_line(input->path, 1, 1);
    place.offset = 0;
    if (input->size >= AS_AF_SIGNATURE_SIZE && memcmp(input->data, AS_AF_SIGNATURE, AS_AF_SIGNATURE_SIZE) == 0)
        return ASSAY_OK;
    if (input->size >= 3 && memcmp(input->data, BYTE_ORDER_MARK, 3) == 0)
        return as_fail(reader->error, ASSAY_E_FORMAT, place, "afperf-byte-order-mark",
                       "begins with a byte order mark, which AFPerf forbids; remove the first 3 bytes");
    if (as_af_signature_of(input->data, input->size, &major) && major != 1)
        return as_fail(reader->error, ASSAY_E_FORMAT, place, "afperf-version",
                       "is of another major version of AFPerf; only version 1 is known");
    return as_fail(reader->error, ASSAY_E_FORMAT, place, "afperf-signature",
                   "does not begin with the signature of AFPerf, '# AFPerf v1' and 5 spaces");
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct pieces {
    as_af_reading *reading;
    as_af_piece all[2][PIECES_AT_A_TIME];
    size_t n[2];
    int taken, made; /* which half is taken while the other one is made */
    size_t next;     /* where the next piece begins that is made */
    size_t expected; /* where the next record is */
    bool failed, stopped;
} pieces;

/* Behind the first line end from here on. */
static size_t cut_at(const as_af_reading *reading, size_t from) {
    if (from >= reading->size) return reading->size;
    const char *newline = memchr(reading->data + from, '\n', reading->size - from);
    return newline ? (size_t)(newline - reading->data) + 1 : reading->size;
}

static void cut_pieces(pieces *p) {
    p->n[p->made] = 0;
    while (p->next < p->reading->size && p->n[p->made] < PIECES_AT_A_TIME) {
        as_af_piece *piece = &p->all[p->made][p->n[p->made]++];
        piece->from = p->next;
        piece->end = p->next = cut_at(p->reading, p->next + PIECE_SIZE);
    }
}

static void make_piece(pieces *p, as_af_piece *piece, bool looks_at_all) {
    const as_af_reading *reading = p->reading;
    size_t limit = looks_at_all || reading->size - piece->end < SLACK ? reading->size : piece->end + SLACK;
    as_af_tokenise(piece, reading->data, reading->size, limit, reading->reader->keep_going);
}

static void take_piece(pieces *p, as_af_piece *piece) {
    as_af_reading *reading = p->reading;
    if (piece->end <= p->expected) return; /* all of it is inside a quoted field */
    if (piece->from != p->expected || piece->overruns) {
        piece->from = p->expected;
        make_piece(p, piece, true);
    }
    p->expected = piece->next;
    p->stopped = piece->stopped;
    if (piece->failed || !as_af_collect(reading, piece)) p->failed = true;
}

/* Number 0 takes the pieces that were made before, in their order; each of the others makes one. */
static void work(void *user, size_t i) {
    pieces *p = user;
    if (i) {
        make_piece(p, &p->all[p->made][i - 1], false);
        return;
    }
    for (size_t k = 0; k < p->n[p->taken] && !p->failed && !p->stopped; k++) take_piece(p, &p->all[p->taken][k]);
}

static assay_status collect_pieces(pieces *p) {
    as_reader *reader = p->reading->reader;
    p->made = 1;
    do {
        p->taken = p->made;
        p->made = 1 - p->made;
        cut_pieces(p);
        as_parallel(1 + p->n[p->made], reader->threads, work, p);
        if (p->failed) return as_reader_memory(reader);
        AS_TRY(as_reader_progress(reader, p->expected));
    } while (p->n[p->made] && !p->stopped);
    return ASSAY_OK;
}

static assay_status collect(as_af_reading *reading) {
    pieces *p = calloc(1, sizeof *p);
    if (!p) return as_reader_memory(reading->reader);
    p->reading = reading;
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < PIECES_AT_A_TIME; i++) as_af_piece_init(&p->all[half][i], &reading->ds->budget);
    }
    assay_status status = collect_pieces(p);
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < PIECES_AT_A_TIME; i++) as_af_piece_free(&p->all[half][i]);
    }
    free(p);
    return status;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Faults of quoting are no problems like others: the first ends the reading, unless all are asked for. */
static assay_status report_faults(as_af_reading *reading) {
    as_vec *list = &reading->problems.list;
    as_af_lines lines = {0};
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        as_af_problem problem = AS_AT(as_af_problem, list, i);
        if (problem.rule != AS_AF_FAULT) {
            AS_AT(as_af_problem, list, n++) = problem;
            continue;
        }
        const char *rule = problem.field == AS_AF_OTHER_VERSION ? "afperf-version" : "afperf-quoting";
        as_place place = as_af_place(&lines, reading->reader->input->path, reading->data, problem.offset);
        AS_TRY(as_broken(reading->reader, place, rule, "%s", as_af_fault_text((as_af_step)problem.field)));
    }
    list->count = n;
    return ASSAY_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void release_capture(void *object) {
    as_af_capture *capture = object;
    for (size_t i = 0; i < capture->runs.count; i++) as_map_free(&AS_AF_RUN(capture, i)->measures);
    as_vec *vecs[] = {&capture->intervals, &capture->data, &capture->runs,     &capture->sections,
                      &capture->measures,  &capture->tags, &capture->tag_sets, &capture->cells};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_free(vecs[i]);
    as_map_free(&capture->tag_set_of);
    as_map_free(&capture->run_of);
    as_map_free(&capture->section_of);
    free(capture);
}

static as_af_capture *new_capture(as_reader *reader) {
    static const char *const kinds[] = {"region", "section", "pause"};
    as_dataset *ds = reader->dataset;
    as_af_capture *capture = calloc(1, sizeof *capture);
    if (!capture) return NULL;
    capture->ds = ds;
    capture->deducts_pauses = as_option_bool(&reader->options, "deduct_pauses");
    as_vec_init(&capture->intervals, sizeof(as_af_interval), &ds->budget);
    as_vec_init(&capture->data, sizeof(as_af_datum), &ds->budget);
    as_vec_init(&capture->runs, sizeof(as_af_run), &ds->budget);
    as_vec_init(&capture->sections, sizeof(as_af_section), &ds->budget);
    as_vec_init(&capture->measures, sizeof(as_af_measure), &ds->budget);
    as_vec_init(&capture->tags, sizeof(as_af_tag), &ds->budget);
    as_vec_init(&capture->tag_sets, sizeof(as_af_tag_set), &ds->budget);
    as_vec_init(&capture->cells, sizeof(as_af_cell), &ds->budget);
    as_map_init(&capture->tag_set_of, &ds->budget);
    as_map_init(&capture->run_of, &ds->budget);
    as_map_init(&capture->section_of, &ds->budget);
    if (!as_ds_hold(ds, capture, release_capture)) return NULL;
    for (int i = 0; i < 3; i++) capture->kinds[i] = as_ds_intern_text(ds, kinds[i]);
    capture->unfinished = as_ds_intern_text(ds, "unfinished");
    return capture->kinds[0] == AS_NO_STR || capture->kinds[1] == AS_NO_STR || capture->kinds[2] == AS_NO_STR ||
                   capture->unfinished == AS_NO_STR
               ? NULL
               : capture;
}

static assay_status make_tables(as_af_reading *reading) {
    as_vec sums;
    as_vec_init(&sums, sizeof(as_af_sum), &reading->ds->budget);
    bool fine = as_af_build_tree(reading) && as_af_add_up(reading, &sums) && as_af_add_profiles(reading, &sums) &&
                as_af_add_events(reading) && as_af_add_records(reading) &&
                (!reading->reader->keep_going || as_af_check(reading));
    as_vec_free(&sums);
    return fine ? ASSAY_OK : as_reader_memory(reading->reader);
}

static assay_status read_text(as_af_reading *reading) {
    as_dataset *ds = reading->ds;
    AS_TRY(collect(reading));
    AS_TRY(report_faults(reading));
    AS_TRY(as_af_resolve(reading));
    if (!as_af_unite_pauses(reading->capture)) return as_reader_memory(reading->reader);
    AS_TRY(as_af_add_runs(reading));
    AS_TRY(make_tables(reading));
    as_vec_shrink(&reading->capture->intervals);
    as_vec_shrink(&reading->capture->data);
    as_af_tell_problems(reading);
    ds->of_format = &reading->capture->file;
    ds->format_version = as_ds_intern_text(ds, "1");
    return ds->format_version == AS_NO_STR ? as_reader_memory(reading->reader) : ASSAY_OK;
}

static assay_status read_afperf(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_budget *budget = &ds->budget;
    AS_TRY(check_signature(reader));
    if (reader->input->size > AS_AF_OFFSET_MASK)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(reader->input->path), "afperf-size",
                       "is larger than 256 TiB");
    as_af_capture *capture = new_capture(reader);
    if (!capture) return as_reader_memory(reader);
    as_af_reading reading = {.reader = reader, .capture = capture, .ds = ds, .size = reader->input->size};
    reader->keeps_input = reader->can_keep_input;
    reading.data = reader->can_keep_input ? reader->input->data
                                          : as_arena_copy(&ds->arena, reader->input->data, reader->input->size);
    if (!reading.data) return as_reader_memory(reader);
    capture->file = (as_afperf){reading.data, reading.size, capture->deducts_pauses};
    reading.current_run = reading.block_run = reading.current_section = reading.nobody = AS_AF_NONE;
    reading.open_section_interval = AS_AF_NONE;
    reading.ids.budget = budget;
    as_af_problems_init(&reading.problems, budget);
    as_vec_init(&reading.pending, sizeof(as_af_pending), budget);
    as_map_init(&reading.pending_of, budget);
    as_vec_init(&reading.waiting, sizeof(as_af_waiting), budget);
    as_vec_init(&reading.loose_stops, sizeof(as_af_loose), budget);
    as_vec_init(&reading.unknown, sizeof(as_af_unknown_type), budget);
    as_map_init(&reading.unknown_of, budget);
    as_vec_init(&reading.text, 1, budget);
    as_vec_init(&reading.names, sizeof(as_str), budget);
    as_vec_init(&reading.sets, sizeof(uint32_t), budget);
    assay_status status = read_text(&reading);
    as_af_problems_free(&reading.problems);
    as_af_index_free(&reading.ids);
    as_vec *vecs[] = {&reading.pending, &reading.waiting, &reading.loose_stops, &reading.unknown,
                      &reading.text,    &reading.names,   &reading.sets};
    for (size_t i = 0; i < sizeof vecs / sizeof *vecs; i++) as_vec_free(vecs[i]);
    as_map_free(&reading.pending_of);
    as_map_free(&reading.unknown_of);
    return status;
}

static const as_option read_options[] = {
    {.name = "deduct_pauses",
     .type = AS_OPTION_BOOL,
     .fallback = "no",
     .help = "subtract from all times what the pauses of the run overlap"},
    {.name = "parameter",
     .type = AS_OPTION_TEXT,
     .fallback = "",
     .help = "tags of the runs that are the parameters of models: tag:size, or several with commas"},
    {0}};

const as_format as_format_afperf = {.name = "afperf",
                                    .title = "AFPerf capture",
                                    .extensions = ".afperf",
                                    .holds = AS_HOLDS_VALUES | AS_HOLDS_EVENTS | AS_HOLDS_RECORDS |
                                             AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
                                             AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN | AS_HOLDS_STARTS |
                                             AS_HOLDS_DESCRIBED | AS_HOLDS_ENDS | AS_HOLDS_ASIDES,
                                    .writes_points = true,
                                    .read_options = read_options,
                                    .bid = bid,
                                    .read = read_afperf,
                                    .appends = true,
                                    .write = as_af_write,
                                    .merge = as_af_merge,
                                    .losses = as_af_losses,
                                    .remarks = as_af_remarks};
