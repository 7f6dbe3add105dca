/* What is wrong with a capture: noted while reading, and told in the order of the file. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/afperf/reading.h"

void as_af_problems_init(as_af_problems *problems, as_budget *budget) {
    *problems = (as_af_problems){0};
    as_vec_init(&problems->list, sizeof(as_af_problem), budget);
}

void as_af_problems_free(as_af_problems *problems) {
    as_budget *budget = problems->list.budget;
    as_vec_free(&problems->list);
    as_af_problems_init(problems, budget);
}

bool as_af_report(as_af_problems *problems, const as_af_problem *problem) {
    if (problems->kept[problem->severity] >= AS_MAX_PROBLEMS && problem->rule != AS_AF_FAULT) {
        problems->dropped++;
        return true;
    }
    problems->kept[problem->severity]++;
    return as_vec_append(&problems->list, problem, 1);
}

bool as_af_problems_append(as_af_problems *problems, const as_af_problems *more) {
    problems->dropped += more->dropped;
    for (size_t i = 0; i < more->list.count; i++) {
        if (!as_af_report(problems, &AS_AT(as_af_problem, &more->list, i))) return false;
    }
    return true;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static const char *name_of(const as_af_problem *problem) {
    return problem->type && problem->type < AS_AF_N_TYPES ? as_af_layouts[problem->type].name : "the record";
}

static const char *field_of(const as_af_problem *problem) {
    if (problem->field == UINT8_MAX) return "value of its last measurement";
    const as_af_layout *layout = &as_af_layouts[problem->type];
    if (problem->field < layout->n_fields) return layout->fields[problem->field].name;
    return (problem->field - layout->n_fields) % 2 ? "value" : "measurement type id";
}

typedef struct teller {
    as_af_reading *reading;
    as_af_lines lines;
} teller;

/* Lines are counted some at a time, so that the text need not all be in memory. */
static as_place place_of(teller *t, size_t offset) {
    enum { STEP = 1 << 24 };
    as_input *input = t->reading->reader->input;
    if (offset < t->lines.line_start) t->lines = (as_af_lines){0};
    while (offset > STEP && t->lines.offset < offset - STEP) {
        as_af_place(&t->lines, input->path, t->reading->data, t->lines.offset + STEP);
        as_input_consumed(input, t->lines.offset);
    }
    return as_af_place(&t->lines, input->path, t->reading->data, offset);
}

static void tell_orphan(teller *t, const as_af_problem *problem) {
    as_dataset *ds = t->reading->ds;
    as_place place = place_of(t, problem->offset);
    char id[AS_NUMBER_SIZE];
    if (problem->has_number) {
        as_hex_format(problem->number, id);
        as_add_problem(ds, AS_WARNING, place, "afperf-orphan",
                       "there is no %s %s; what is said of it belongs to nothing", problem->text, id);
    } else
        as_add_problem(ds, AS_WARNING, place, "afperf-orphan", "there is no %s that this could belong to",
                       problem->text);
}

static void tell_ids(teller *t, const as_af_problem *problem) {
    as_dataset *ds = t->reading->ds;
    as_place place = place_of(t, problem->offset);
    char id[AS_NUMBER_SIZE] = "without an id", other[AS_NUMBER_SIZE] = "without an id";
    if (problem->has_number) as_hex_format(problem->number, id);
    if (problem->has_other) as_hex_format(problem->other, other);
    switch (problem->rule) {
    case AS_AF_UNFINISHED:
        as_add_problem(ds, AS_WARNING, place, "afperf-unfinished",
                       "the %s %s is never stopped; it ends with the latest time of its run", problem->text, id);
        return;
    case AS_AF_BACKWARDS:
        as_add_problem(ds, AS_ERROR, place, "afperf-backwards",
                       "the %s %s ends before it starts; its duration counts as 0", problem->text, id);
        return;
    case AS_AF_DUPLICATE:
        as_add_problem(ds, AS_WARNING, place, "afperf-duplicate",
                       "the %s id %s is used again; what follows is taken for the latest", problem->text, id);
        return;
    default:
        as_add_problem(ds, AS_ERROR, place, "afperf-overlap",
                       "the regions %s and %s overlap, but neither is inside the other", other, id);
    }
}

static const char *datatype_name(uint64_t type) {
    static const char *const names[] = {"double", "int32", "int64", "bool", "string", "enum", "text"};
    return names[type <= AS_AF_OTHER ? type : AS_AF_OTHER];
}

static void tell(teller *t, const as_af_problem *problem) {
    as_dataset *ds = t->reading->ds;
    as_place place = place_of(t, problem->offset);
    switch (problem->rule) {
    case AS_AF_ORPHAN: tell_orphan(t, problem); return;
    case AS_AF_UNFINISHED:
    case AS_AF_BACKWARDS:
    case AS_AF_DUPLICATE:
    case AS_AF_OVERLAP: tell_ids(t, problem); return;
    case AS_AF_MISSING:
        as_add_problem(ds, AS_ERROR, place, "afperf-missing", "%s has no %s; the record is left out", name_of(problem),
                       field_of(problem));
        return;
    case AS_AF_NUMBER:
        if (problem->field == UINT8_MAX - 1) {
            as_add_problem(ds, AS_ERROR, place, "afperf-number",
                           "the measurement type id is no integer of 64 bits; it and its value are left out");
            return;
        }
        as_add_problem(ds, AS_ERROR, place, "afperf-number",
                       "the %s of %s is no number of its kind (0 … 2^64 - 1, decimal or 0x…); the record is left out",
                       field_of(problem), name_of(problem));
        return;
    case AS_AF_RECORD_TYPE:
        as_add_problem(ds, AS_ERROR, place, "afperf-record-type", "record type 0 is reserved; the record is left out");
        return;
    case AS_AF_OMITTED:
        as_add_problem(ds, AS_WARNING, place, "afperf-omitted", "%s has no %s; %s is assumed", name_of(problem),
                       field_of(problem), problem->type == AS_AF_RUN_INFO ? "1.0.0" : "the nearest RunInfo before it");
        return;
    case AS_AF_VALUE:
        as_add_problem(ds, AS_ERROR, place, "afperf-value", "the value does not fit its type, %s; it is left out",
                       datatype_name(problem->number));
        return;
    case AS_AF_UTF8:
        as_add_problem(ds, AS_WARNING, place, "afperf-utf8", "invalid UTF-8; the bytes stay as they are");
        return;
    default: as_add_problem(ds, problem->severity, place, problem->check, "%s", problem->text);
    }
}

/* Once for each type, with how many there are. */
static void tell_extra(teller *t, int type) {
    size_t n = t->reading->extra[type].count;
    as_add_problem(t->reading->ds, AS_NOTE, place_of(t, t->reading->extra[type].offset), "afperf-extra",
                   "%zu %s record%s %s more fields than version 1.0 of the format; they are ignored", n,
                   as_af_layouts[type].name, n == 1 ? "" : "s", n == 1 ? "has" : "have");
}

/* What comes before all runs is taken for a part of the first one in the file. */
static bool first_run_is_later(const as_af_capture *capture) {
    const as_af_run *first = NULL;
    for (size_t i = 0; i < capture->runs.count; i++) {
        const as_af_run *run = AS_AF_RUN(capture, i);
        if (run->is_defined && (!first || run->offset < first->offset)) first = run;
    }
    return first && first->minor;
}

static void tell_unknown(teller *t, const as_af_unknown_type *unknown, bool first_is_later) {
    bool is_later = !unknown->in_first_minor && (first_is_later || !unknown->before_runs);
    as_add_problem(t->reading->ds, is_later ? AS_NOTE : AS_WARNING, place_of(t, unknown->offset),
                   "afperf-unknown-record", "%zu record%s of the unknown type '%s' %s ignored", unknown->count,
                   unknown->count == 1 ? "" : "s", as_ds_text(t->reading->ds, unknown->name),
                   unknown->count == 1 ? "is" : "are");
}

static int by_severity(const void *a, const void *b) {
    const as_af_problem *x = a, *y = b;
    return (x->severity < y->severity) - (x->severity > y->severity);
}

static int by_offset(const void *a, const void *b) {
    const as_af_problem *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->rule > y->rule) - (x->rule < y->rule);
}

void as_af_tell_problems(as_af_reading *reading) {
    teller t = {.reading = reading};
    as_vec *list = &reading->problems.list;
    size_t dropped = reading->problems.dropped, room = AS_MAX_PROBLEMS;
    for (int type = 0; type < AS_AF_N_TYPES; type++) {
        if (reading->extra[type].count) tell_extra(&t, type);
    }
    bool first_is_later = first_run_is_later(reading->capture);
    for (size_t i = 0; i < reading->unknown.count; i++)
        tell_unknown(&t, &AS_AT(as_af_unknown_type, &reading->unknown, i), first_is_later);
    room -= reading->ds->problems.count < room ? reading->ds->problems.count : room;
    if (list->count > room) {
        qsort(list->data, list->count, list->size, by_severity); /* the worst stay */
        dropped += list->count - room;
        list->count = room;
    }
    if (list->count) qsort(list->data, list->count, list->size, by_offset);
    t.lines = (as_af_lines){0};
    for (size_t i = 0; i < list->count; i++) tell(&t, &AS_AT(as_af_problem, list, i));
    as_input_consumed(reading->reader->input, 0);
    reading->ds->problems.n_dropped += dropped;
}
