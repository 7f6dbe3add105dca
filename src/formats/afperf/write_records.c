/* The records of a capture, spelled in full: see write.h. */
#include "formats/afperf/write.h"

#include <stdlib.h>

enum { BUFFER_SIZE = 1 << 17, RUN_ID = 5 };

typedef struct copy {
    const as_af_part *text;
    const as_af_renumbering *ids; /* NULL: ids stay */
    size_t part;
    bool follows;        /* others stand before it, so that its blank ids must not become theirs */
    bool is_before_runs; /* follows, and no RunInfo of the part has come; the same of other records below */
    bool has_section, has_region, has_block;
    as_output *out;
    as_af_field run; /* the id of the nearest RunInfo so far, as it is written; size 0: blank, or there is none */
    char run_digits[AS_NUMBER_SIZE];
    char *at, *end, *buffer;
} copy;

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void hand_over(copy *c) {
    as_output_write(c->out, c->buffer, (size_t)(c->at - c->buffer));
    c->at = c->buffer;
}

static inline void put(copy *c, const char *text, size_t size) {
    if (__builtin_expect((size_t)(c->end - c->at) < size, 0)) {
        hand_over(c);
        if (size > BUFFER_SIZE) {
            as_output_write(c->out, text, size);
            return;
        }
    }
    memcpy(c->at, text, size);
    c->at += size;
}

static inline void put_char(copy *c, char byte) {
    if (c->at == c->end) hand_over(c);
    *c->at++ = byte;
}

static bool needs_quotes(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r') return true;
    }
    return false;
}

/* Of quoted fields the quotes in it are doubled already. */
static void put_quoted(copy *c, const as_af_field *field) {
    put_char(c, '"');
    put(c, field->text, field->size);
    put_char(c, '"');
}

static inline void put_field(copy *c, const as_af_field *field, bool has_returns) {
    bool is_special =
        field->has_quotes || ((field->is_quoted || has_returns) && needs_quotes(field->text, field->size));
    if (__builtin_expect(is_special, 0))
        put_quoted(c, field);
    else
        put(c, field->text, field->size);
}

void as_af_put_text(as_output *out, const char *text, size_t size) {
    if (!needs_quotes(text, size))
        as_output_write(out, text, size);
    else
        as_output_quoted(out, text, size);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* Whether a blank id would be taken for something of another part: what it stands for, a record before it, is not in
 * this one. */
static bool is_astray(const copy *c, const as_af_record *record, size_t field) {
    as_af_type type = record->type;
    if (as_af_space_of(type, field) == AS_AF_NO_SPACE) return false;
    switch (type) {
    case AS_AF_RUN_INFO: return false;
    case AS_AF_REGION_START:
    case AS_AF_SECTION_INFO: return field == 2 && c->is_before_runs;
    case AS_AF_MEASUREMENT_TYPE:
    case AS_AF_PAUSE_RESUME: return c->is_before_runs;
    case AS_AF_REGION_STOP: return c->follows && !c->has_region;
    case AS_AF_SECTION_START: return c->follows && !c->has_section;
    default: break;
    }
    bool is_processed = type == AS_AF_RUN_AGGREGATE ? 4 < record->n_fields && !as_af_is_blank(&record->fields[4])
                                                    : as_af_is_processed(record);
    if (is_processed) return c->is_before_runs;
    return c->follows && !c->has_block;
}

static void note_block(copy *c, as_af_type type) {
    if (type == AS_AF_SECTION_INFO) c->has_section = true;
    if (type == AS_AF_RUN_INFO || type == AS_AF_REGION_START) c->has_region = true;
    if (type == AS_AF_RUN_INFO || type == AS_AF_REGION_START || type == AS_AF_REGION_STOP ||
        type == AS_AF_SECTION_START || type == AS_AF_SECTION_STOP)
        c->has_block = true;
}

static void put_id(copy *c, const as_af_record *record, size_t field, const as_af_field *id, bool has_returns) {
    char digits[AS_NUMBER_SIZE];
    uint64_t number;
    as_af_space space = as_af_space_of(record->type, field);
    if (as_af_integer(id, &number)) {
        if (c->ids && space != AS_AF_NO_SPACE)
            number = as_af_id_of(c->ids, c->part, space, as_af_is_processed(record), number);
        put(c, digits, as_hex_format(number, digits));
    } else if (as_af_is_blank(id) && is_astray(c, record, field))
        put(c, digits, as_hex_format(as_af_id_of_nobody(c->ids, c->part), digits));
    else if (!as_af_is_blank(id))
        put_field(c, id, has_returns);
}

/* Whether a RunInfo is one for the reader, too. */
static bool is_run(const as_af_record *record, size_t omitted) {
    const as_af_field *fields = record->fields, *id = &fields[omitted ? RUN_ID - 1 : RUN_ID];
    uint64_t number;
    double wallclock;
    return record->n_fields + (omitted != 0) >= as_af_layouts[AS_AF_RUN_INFO].n_required &&
           as_af_integer(&fields[1], &number) && as_af_real(&fields[3], &wallclock) &&
           (as_af_is_blank(id) || as_af_integer(id, &number));
}

/* Keeps the id of a RunInfo for records that leave theirs out. */
static void enter_run(copy *c, const as_af_record *record, size_t omitted) {
    size_t at = omitted ? RUN_ID - 1 : RUN_ID;
    uint64_t number;
    if (!is_run(record, omitted)) return;
    note_block(c, AS_AF_RUN_INFO);
    c->is_before_runs = false;
    c->run = (as_af_field){.text = c->run_digits};
    if (!as_af_integer(&record->fields[at], &number)) return;
    if (c->ids) number = as_af_id_of(c->ids, c->part, AS_AF_RUNS, false, number);
    c->run.size = (uint32_t)as_hex_format(number, c->run_digits);
}

static void put_omitted(copy *c, const as_af_record *record) {
    char digits[AS_NUMBER_SIZE];
    if (record->type == AS_AF_RUN_INFO)
        put(c, "1.0.0", 5);
    else if (c->is_before_runs)
        put(c, digits, as_hex_format(as_af_id_of_nobody(c->ids, c->part), digits));
    else
        put(c, c->run.text, c->run.size);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* One that is no comment and not blank without its quotes either. */
static void put_unknown(copy *c, const as_af_record *record, bool has_returns) {
    const as_af_field *first = record->fields;
    bool looks_like_none = (first->size && first->text[0] == '#') || (record->n_fields == 1 && as_af_is_blank(first));
    for (size_t i = 0; i < record->n_fields; i++) {
        if (i) put_char(c, ',');
        if (i == 0 && looks_like_none)
            put_quoted(c, first);
        else
            put_field(c, &record->fields[i], has_returns);
    }
}

static void put_known(copy *c, const as_af_record *record, bool has_returns) {
    const as_af_layout *layout = &as_af_layouts[record->type];
    size_t omitted = as_af_omitted(record), n = record->n_fields + (omitted != 0);
    bool is_whole = n >= layout->n_required;
    if (record->type == AS_AF_RUN_INFO) enter_run(c, record, omitted);
    put(c, layout->name, strlen(layout->name));
    const as_af_field *field = record->fields + 1;
    for (size_t i = 1; i < n; i++) {
        bool is_extra = i >= layout->n_fields && !layout->has_pairs;
        if (is_extra && !c->text->keeps_extra) break;
        put_char(c, ',');
        if (i == omitted)
            put_omitted(c, record);
        else if (i < layout->n_fields ? layout->fields[i].kind == AS_AF_ID
                                      : layout->has_pairs && (i - layout->n_fields) % 2 == 0)
            put_id(c, record, i, field++, has_returns);
        else
            put_field(c, field++, has_returns);
    }
    for (size_t i = n; is_whole && i < layout->n_fields; i++) put_char(c, ',');
    if (record->type != AS_AF_RUN_INFO) note_block(c, record->type);
}

/* "0x1f" as it is to be, or nothing. */
static inline bool is_plain_id(const as_af_field *field) {
    const char *text = field->text;
    if (!field->size) return true;
    if (field->size < 3 || text[0] != '0' || text[1] != 'x' || field->size > 18 || (text[2] == '0' && field->size > 3))
        return false;
    for (uint32_t i = 2; i < field->size; i++) {
        char byte = text[i];
        if ((byte < '0' || byte > '9') && (byte < 'a' || byte > 'f')) return false;
    }
    return true;
}

/* Whether a known record is to be written as it stands: most are, where one of our own wrote them. */
static bool is_plain(const as_af_record *record) {
    const as_af_layout *layout = &as_af_layouts[record->type];
    size_t n = record->n_fields;
    if (layout->has_pairs ? n < layout->n_fields : n != layout->n_fields) return false;
    if (record->fields[0].is_quoted || (record->fields[0].text[0] >= '0' && record->fields[0].text[0] <= '9'))
        return false;
    for (size_t i = 1; i < n; i++) {
        const as_af_field *field = &record->fields[i];
        if (field->is_quoted) return false;
        bool is_id = i < layout->n_fields ? layout->fields[i].kind == AS_AF_ID : (i - layout->n_fields) % 2 == 0;
        if (is_id && !is_plain_id(field)) return false;
    }
    return !as_af_omitted(record);
}

static void put_record(copy *c, const as_af_record *record) {
    const as_af_field *last = &record->fields[record->n_fields - 1];
    const char *from = c->text->data + record->offset, *end = last->text + last->size;
    bool has_returns = memchr(from, '\r', (size_t)(end - from)) != NULL;
    bool is_known = record->type != AS_AF_UNKNOWN && record->type != AS_AF_RESERVED;
    if (is_known && !has_returns && !c->ids && is_plain(record)) {
        if (record->type == AS_AF_RUN_INFO) enter_run(c, record, 0);
        put(c, from, (size_t)(end - from));
    } else if (is_known)
        put_known(c, record, has_returns);
    else
        put_unknown(c, record, has_returns);
    put_char(c, '\n');
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

assay_status as_af_fail_scan(const as_af_part *text, as_af_step step, size_t fault, assay_error *error) {
    if (step == AS_AF_OUT_OF_MEMORY) return as_fail_memory(error, text->name);
    as_af_lines lines = {0};
    as_place place = as_af_place(&lines, text->name, text->data, fault);
    return as_fail(error, ASSAY_E_FORMAT, place, "afperf-syntax", "%s", as_af_fault_text(step));
}

assay_status as_af_write_records(const as_af_part *text, const as_af_renumbering *ids, size_t part, bool follows,
                                 as_output *out, as_budget *budget, assay_error *error) {
    copy c = {.text = text,
              .ids = ids,
              .part = part,
              .follows = follows,
              .is_before_runs = follows,
              .out = out,
              .run.text = ""};
    c.at = c.buffer = malloc(BUFFER_SIZE);
    if (!c.buffer) return as_fail_memory(error, text->name);
    c.end = c.buffer + BUFFER_SIZE;
    as_af_scanner scanner;
    as_af_record record;
    as_af_step step;
    as_af_scan(&scanner, text->data, text->size, 0, budget);
    while ((step = as_af_next(&scanner, &record)) == AS_AF_RECORD) put_record(&c, &record);
    hand_over(&c);
    as_af_scan_end(&scanner);
    free(c.buffer);
    return step == AS_AF_END ? ASSAY_OK : as_af_fail_scan(text, step, scanner.fault, error);
}
