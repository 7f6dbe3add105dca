/* A piece of the text becomes items. See reading.h. */
#include <stdlib.h>

#include "core/utf8.h"
#include "formats/afperf/reading.h"

enum { KEPT_FIELDS = 10 };

void as_af_piece_init(as_af_piece *piece, as_budget *budget) {
    *piece = (as_af_piece){0};
    as_vec_init(&piece->items, sizeof(as_af_item), budget);
    as_vec_init(&piece->texts, sizeof(as_af_text), budget);
    as_af_problems_init(&piece->problems, budget);
}

void as_af_piece_free(as_af_piece *piece) {
    as_vec_free(&piece->items);
    as_vec_free(&piece->texts);
    as_af_problems_free(&piece->problems);
    as_budget_give(piece->items.budget, piece->n_slots * sizeof *piece->slots);
    free(piece->slots);
    piece->slots = NULL;
    piece->n_slots = 0;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool same_text(const as_af_text *a, const as_af_field *b, uint64_t hash) {
    return a->hash == hash && a->field.size == b->size && a->field.has_quotes == b->has_quotes &&
           memcmp(a->field.text, b->text, b->size) == 0;
}

static bool grow_slots(as_af_piece *piece) {
    size_t n_slots = piece->n_slots ? 2 * piece->n_slots : 256;
    if (!as_budget_take(piece->items.budget, n_slots * sizeof *piece->slots)) return false;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) {
        as_budget_give(piece->items.budget, n_slots * sizeof *piece->slots);
        return false;
    }
    for (size_t i = 0; i < piece->texts.count; i++) {
        size_t at = (size_t)AS_AT(as_af_text, &piece->texts, i).hash & (n_slots - 1);
        while (slots[at]) at = (at + 1) & (n_slots - 1);
        slots[at] = (uint32_t)i + 1;
    }
    as_budget_give(piece->items.budget, piece->n_slots * sizeof *piece->slots);
    free(piece->slots);
    piece->slots = slots;
    piece->n_slots = n_slots;
    return true;
}

/* The number of a text in the piece. */
static uint32_t text_of(as_af_piece *piece, const as_af_field *field) {
    if (2 * (piece->texts.count + 1) > piece->n_slots && !grow_slots(piece)) {
        piece->failed = true;
        return 0;
    }
    uint64_t hash = as_hash(field->text, field->size);
    size_t at = (size_t)hash & (piece->n_slots - 1);
    for (; piece->slots[at]; at = (at + 1) & (piece->n_slots - 1)) {
        if (same_text(&AS_AT(as_af_text, &piece->texts, piece->slots[at] - 1), field, hash))
            return piece->slots[at] - 1;
    }
    as_af_text text = {*field, hash};
    if (!as_vec_append(&piece->texts, &text, 1)) {
        piece->failed = true;
        return 0;
    }
    piece->slots[at] = (uint32_t)piece->texts.count;
    return piece->slots[at] - 1;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static bool complain(as_af_piece *piece, const as_af_record *record, as_af_rule rule, size_t offset, size_t field) {
    as_af_problem problem = {.offset = offset,
                             .rule = rule,
                             .severity = rule == AS_AF_OMITTED ? AS_WARNING : AS_ERROR,
                             .type = (uint8_t)record->type,
                             .field = (uint8_t)field};
    if (!as_af_report(&piece->problems, &problem)) piece->failed = true;
    return false;
}

/* A number that must be there. */
static inline bool time_of(as_af_piece *piece, const as_af_record *record, size_t i, uint64_t *out) {
    const as_af_field *field = &record->fields[i];
    if (as_af_integer(field, out)) return true;
    as_af_rule rule = as_af_is_blank(field) ? AS_AF_MISSING : AS_AF_NUMBER;
    return complain(piece, record, rule, (size_t)(field->text - piece->data), i);
}

/* A number that may be blank: then flag is set. */
static inline bool id_of(as_af_piece *piece, const as_af_record *record, size_t i, uint64_t *out, uint8_t *flags,
                         uint8_t flag) {
    const as_af_field *field = &record->fields[i];
    if (as_af_integer(field, out)) return true;
    *out = 0;
    if (!as_af_is_blank(field)) return complain(piece, record, AS_AF_NUMBER, (size_t)(field->text - piece->data), i);
    *flags |= flag;
    return true;
}

static bool start_item(as_af_piece *piece, const as_af_record *record, as_af_item *item) {
    const as_af_field *fields = record->fields;
    size_t omitted = as_af_omitted(record), id = omitted ? 2 : 3;
    if (record->n_fields < 5 - (omitted != 0))
        return complain(piece, record, AS_AF_MISSING, record->offset, record->n_fields);
    if (!time_of(piece, record, 1, &item->time)) return false;
    item->run = 0;
    if (omitted)
        item->flags |= AS_AF_BLANK_RUN;
    else if (!id_of(piece, record, 2, &item->run, &item->flags, AS_AF_BLANK_RUN))
        return false;
    if (!id_of(piece, record, id, &item->id, &item->flags, AS_AF_BLANK_ID)) return false;
    if (omitted) complain(piece, record, AS_AF_OMITTED, record->offset, omitted);
    item->label = text_of(piece, &fields[id + 1]);
    item->tags = record->n_fields > id + 2 && fields[id + 2].size ? text_of(piece, &fields[id + 2]) : AS_AF_NONE;
    if (record->n_fields > id + 3) item->flags |= AS_AF_EXTRA;
    return true;
}

/* Whether its last field is empty, with quotes or without. */
static bool ends_empty(const as_af_piece *piece, const as_af_record *record) {
    const char *data = piece->data;
    size_t end = record->end;
    while (end > record->offset && (data[end - 1] == '\n' || data[end - 1] == '\r')) end--;
    if (end > record->offset + 2 && data[end - 1] == '"' && data[end - 2] == '"' && data[end - 3] == ',') end -= 2;
    return end > record->offset && data[end - 1] == ',';
}

/* What a record of data says before its pairs. */
static bool data_item(as_af_piece *piece, const as_af_record *record, as_af_item *item) {
    const as_af_layout *layout = &as_af_layouts[record->type];
    size_t at = 2, n = layout->n_fields;
    bool is_aggregate = layout->fields[2].kind == AS_AF_TIME;
    if (record->n_fields < n + 2) return complain(piece, record, AS_AF_MISSING, record->offset, record->n_fields);
    if (!time_of(piece, record, 1, &item->time)) return false;
    if (is_aggregate && !time_of(piece, record, at++, &item->start)) return false;
    if (!id_of(piece, record, at++, &item->id, &item->flags, AS_AF_BLANK_ID)) return false;
    bool is_section = record->type == AS_AF_SECTION_POINT || record->type == AS_AF_SECTION_AGGREGATE;
    if (is_section && !id_of(piece, record, at++, &item->interval, &item->flags, AS_AF_BLANK_INTERVAL)) return false;
    if (is_aggregate && !as_af_is_blank(&record->fields[at])) item->flags |= AS_AF_PROCESSED;
    size_t n_pairs = (record->n_fields - n) / 2;
    if (n_pairs > UINT32_MAX) return complain(piece, record, AS_AF_MISSING, record->offset, n);
    item->n_pairs = (uint32_t)n_pairs;
    if ((record->n_fields - n) % 2 == 0) return true;
    if (!ends_empty(piece, record)) return complain(piece, record, AS_AF_MISSING, record->offset, UINT8_MAX);
    item->flags |= AS_AF_EXTRA;
    return true;
}

/* RegionStop, SectionStart, SectionStop, PauseResume: numbers only. */
static bool plain_item(as_af_piece *piece, const as_af_record *record, as_af_item *item) {
    const as_af_layout *layout = &as_af_layouts[record->type];
    if (record->n_fields < layout->n_required)
        return complain(piece, record, AS_AF_MISSING, record->offset, record->n_fields);
    if (record->n_fields > layout->n_fields) item->flags |= AS_AF_EXTRA;
    if (!time_of(piece, record, 1, &item->time)) return false;
    if (record->type == AS_AF_PAUSE_RESUME)
        return time_of(piece, record, 2, &item->start) &&
               id_of(piece, record, 3, &item->id, &item->flags, AS_AF_BLANK_ID);
    if (!id_of(piece, record, 2, &item->id, &item->flags, AS_AF_BLANK_ID)) return false;
    return record->type == AS_AF_REGION_STOP ||
           id_of(piece, record, 3, &item->interval, &item->flags, AS_AF_BLANK_INTERVAL);
}

static bool make_item(as_af_piece *piece, const as_af_record *record, as_af_item *item) {
    *item = (as_af_item){.offset = record->offset, .type = (uint8_t)record->type};
    switch (record->type) {
    case AS_AF_REGION_START: return start_item(piece, record, item);
    case AS_AF_REGION_STOP:
    case AS_AF_SECTION_START:
    case AS_AF_SECTION_STOP:
    case AS_AF_PAUSE_RESUME: return plain_item(piece, record, item);
    case AS_AF_RESERVED: return complain(piece, record, AS_AF_RECORD_TYPE, record->offset, 0);
    case AS_AF_UNKNOWN:
    case AS_AF_RUN_INFO:
    case AS_AF_MEASUREMENT_TYPE:
    case AS_AF_SECTION_INFO: return true; /* read again by whom they concern */
    default: return data_item(piece, record, item);
    }
}

static void take_record(as_af_piece *piece, const as_af_record *record) {
    as_af_item item;
    if (!make_item(piece, record, &item)) return;
    if (item.flags & AS_AF_EXTRA && !piece->extra[item.type].count++) piece->extra[item.type].offset = record->offset;
    as_vec *items = &piece->items;
    if (items->count == items->capacity && !as_vec_reserve(items, 1024))
        piece->failed = true;
    else
        AS_AT(as_af_item, items, items->count++) = item;
}

/* ---- the whole piece --------------------------------------------------------------------------------------------- */

/* A warning for each line of from … end - 1 with bytes that are no UTF-8. */
static void check_utf8(as_af_piece *piece, size_t end) {
    const char *data = piece->data;
    size_t at = piece->from;
    while (at < end) {
        const char *bad = as_utf8_invalid(data + at, end - at);
        if (!bad) return;
        as_af_problem problem = {.offset = (size_t)(bad - data), .rule = AS_AF_UTF8, .severity = AS_WARNING};
        if (!as_af_report(&piece->problems, &problem)) piece->failed = true;
        const char *newline = memchr(bad, '\n', end - problem.offset);
        at = newline ? (size_t)(newline - data) + 1 : end;
    }
}

/* Later signatures must be the same 16 bytes. */
static void check_header(as_af_piece *piece, as_af_scanner *scanner) {
    as_af_problem problem = {.offset = scanner->odd_header,
                             .rule = AS_AF_CHECK,
                             .severity = AS_WARNING,
                             .check = "afperf-signature",
                             .text = "a later signature must be the same as the first one, '# AFPerf v1' and 5 spaces"};
    if (scanner->odd_header < piece->end && !as_af_report(&piece->problems, &problem)) piece->failed = true;
    scanner->odd_header = SIZE_MAX;
}

/* True: it goes on behind the fault. */
static bool step_over(as_af_piece *piece, as_af_scanner *scanner, as_af_step fault, bool keeps_going) {
    as_af_problem problem = {
        .offset = scanner->fault, .rule = AS_AF_FAULT, .severity = AS_ERROR, .field = (uint8_t)fault};
    if (fault == AS_AF_OUT_OF_MEMORY || !as_af_report(&piece->problems, &problem)) {
        piece->failed = true;
        return false;
    }
    const char *newline = memchr(scanner->data + scanner->fault, '\n', scanner->size - scanner->fault);
    bool goes_on = keeps_going && newline && fault != AS_AF_OTHER_VERSION && fault != AS_AF_OPEN_QUOTE;
    piece->stopped |= !goes_on;
    if (!goes_on) return false;
    as_af_scan_end(scanner);
    as_af_scan(scanner, scanner->data, scanner->size, (size_t)(newline - scanner->data) + 1, scanner->fields.budget);
    scanner->most_fields = KEPT_FIELDS;
    return true;
}

void as_af_tokenise(as_af_piece *piece, const char *data, size_t size, size_t limit, bool keeps_going) {
    as_af_scanner scanner;
    as_af_record record;
    piece->data = data;
    piece->items.count = piece->texts.count = 0;
    if (piece->slots) memset(piece->slots, 0, piece->n_slots * sizeof *piece->slots);
    as_af_problems_free(&piece->problems);
    memset(piece->extra, 0, sizeof piece->extra);
    piece->overruns = piece->stopped = piece->failed = false;
    as_af_scan(&scanner, data, limit, piece->from, piece->items.budget);
    scanner.most_fields = KEPT_FIELDS;
    bool is_done = false;
    while (!piece->failed && !is_done && scanner.next < piece->end) {
        as_af_step step = as_af_next(&scanner, &record);
        size_t start = step == AS_AF_RECORD ? record.offset : scanner.next;
        if (keeps_going && scanner.odd_header != SIZE_MAX) check_header(piece, &scanner);
        if (step == AS_AF_END || start >= piece->end) { /* the next piece's */
            scanner.next = piece->end;
            break;
        }
        /* What ends where nobody looked any further has not ended yet. */
        bool is_whole = limit == size || (step == AS_AF_RECORD ? record.end < limit || data[limit - 1] == '\n'
                                                               : step != AS_AF_OPEN_QUOTE);
        if (!is_whole)
            is_done = piece->overruns = true;
        else if (step == AS_AF_RECORD)
            take_record(piece, &record);
        else
            is_done = !step_over(piece, &scanner, step, keeps_going);
    }
    piece->next = scanner.next > piece->end ? scanner.next : piece->end;
    if (scanner.has_high && !piece->failed) check_utf8(piece, piece->next < limit ? piece->next : limit);
    as_af_scan_end(&scanner);
}
