/* Traces for the Perfetto UI (ui.perfetto.dev) and its trace processor, written as protocol buffers.
 *
 *   Trace { repeated TracePacket packet = 1 }
 *
 * A packet describes a track (a process, a thread, or something in a process), or is an event on one: a slice begins, a
 * slice ends, or something happens at a moment. Names are given numbers in the packet that first uses them. Those of a
 * track come in order of time; who reads them sorts them all. */
#include "formats/format.h"
#include "formats/slices.h"
#include "io/protobuf.h"

enum { PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum { STATE_IS_CLEARED = 1, NEEDS_STATE = 2 }; /* flags */
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_RANK = 12,
    TRACK_MERGING = 15,
    TRACK_PROCESS_ORDER = 19,
    TRACK_THREAD_ORDER = 20
};
enum { BY_RANK = 1 };    /* of processes and threads */
enum { NOT_MERGED = 2 }; /* else those of one name are drawn as one */
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { EVENT_CATEGORY = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_MOMENT = 3 };
enum { ANNOTATION_NAME = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_REAL = 5, ANNOTATION_TEXT = 6 };
enum { NAME_NUMBER = 1, NAME_TEXT = 2 };

/* Kinds of names, by the fields of InternedData. */
typedef enum name_kind { CATEGORIES = 1, EVENT_NAMES, ANNOTATION_NAMES, N_KINDS } name_kind;

typedef struct writing {
    const as_slices *slices;
    const as_dataset *ds;
    as_output *out;
    as_message packet, names; /* names: those that the packet is the first to use */
    as_map numbers[N_KINDS];  /* text of the dataset -> number */
    bool failed;
} writing;

static void put_packet(writing *w) {
    as_message_number(&w->packet, PACKET_SEQUENCE, 1);
    w->failed |= !as_message_output(&w->packet, PACKET, w->out);
    as_message_clear(&w->packet);
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

/* What holds for all: processes and threads are to be drawn in the order of the dataset. */
static void put_root(writing *w) {
    as_message_number(&w->packet, PACKET_FLAGS, STATE_IS_CLEARED);
    size_t track = as_message_begin(&w->packet, PACKET_TRACK);
    as_message_number(&w->packet, TRACK_UUID, 0);
    as_message_number(&w->packet, TRACK_PROCESS_ORDER, BY_RANK);
    as_message_number(&w->packet, TRACK_THREAD_ORDER, BY_RANK);
    as_message_end(&w->packet, track);
    put_packet(w);
}

static void put_process(writing *w, size_t process, const char *name) {
    size_t track = as_message_begin(&w->packet, PACKET_TRACK);
    as_message_number(&w->packet, TRACK_UUID, process + 1);
    size_t within = as_message_begin(&w->packet, TRACK_PROCESS);
    as_message_number(&w->packet, PROCESS_PID, process + 1);
    as_message_text(&w->packet, PROCESS_NAME, name);
    as_message_end(&w->packet, within);
    as_message_number(&w->packet, TRACK_RANK, process);
    as_message_end(&w->packet, track);
    put_packet(w);
}

/* Threads of the host are such; what runs beside them, and GPUs, are further tracks of the process. */
static void put_track(writing *w, const as_slice_track *t, const char *name) {
    bool is_call_track = t->kind == AS_SLICES_NESTED || t->kind == AS_SLICES_TRACE;
    bool is_thread = is_call_track && !t->lane && !t->is_of_gpu && t->location != ASSAY_NONE;
    size_t track = as_message_begin(&w->packet, PACKET_TRACK);
    as_message_number(&w->packet, TRACK_UUID, t->tid);
    if (is_thread) {
        size_t within = as_message_begin(&w->packet, TRACK_THREAD);
        as_message_number(&w->packet, THREAD_PID, t->pid);
        as_message_number(&w->packet, THREAD_TID, t->tid);
        as_message_text(&w->packet, THREAD_NAME, name);
        as_message_end(&w->packet, within);
    } else {
        as_message_text(&w->packet, TRACK_NAME, name);
        as_message_number(&w->packet, TRACK_PARENT, t->pid);
        as_message_number(&w->packet, TRACK_MERGING, NOT_MERGED);
    }
    as_message_number(&w->packet, TRACK_RANK, (uint64_t)(t - as_slice_track_at(w->slices, 0)));
    as_message_end(&w->packet, track);
    put_packet(w);
}

static void put_tracks(writing *w) {
    as_vec name;
    as_vec_init(&name, 1, as_ds_budget(w->ds));
    put_root(w);
    for (size_t i = 0; i < w->slices->processes.count && !w->failed; i++) {
        w->failed |= !as_slice_process_name(w->slices, i, &name);
        if (!w->failed) put_process(w, i, name.data);
    }
    for (size_t i = 0; i < as_slice_track_count(w->slices) && !w->failed; i++) {
        w->failed |= !as_slice_track_name(w->slices, as_slice_track_at(w->slices, i), &name);
        if (!w->failed) put_track(w, as_slice_track_at(w->slices, i), name.data);
    }
    as_vec_free(&name);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* The number of a name of the dataset (AS_NO_STR: of one that has none); a new one is told to whoever reads. */
static uint64_t number_of(writing *w, name_kind kind, as_str id, const char *text, size_t size) {
    uint32_t number = as_map_get(&w->numbers[kind], id);
    if (number != AS_MAP_NONE) return (uint64_t)number + 1;
    number = (uint32_t)w->numbers[kind].count;
    w->failed |= !as_map_put(&w->numbers[kind], id, number);
    size_t begun = as_message_begin(&w->names, kind);
    as_message_number(&w->names, NAME_NUMBER, (uint64_t)number + 1);
    as_message_bytes(&w->names, NAME_TEXT, text, size);
    as_message_end(&w->names, begun);
    return (uint64_t)number + 1;
}

static uint64_t number_of_text(writing *w, name_kind kind, as_str text) {
    bool is_there = text != AS_NO_STR;
    return number_of(w, kind, text, is_there ? as_ds_text(w->ds, text) : "",
                     is_there ? as_str_size(&w->ds->strings, text) : 0);
}

static void put_annotation(writing *w, const as_attribute *attribute) {
    const as_cell *value = &attribute->value;
    if (value->type == AS_CELL_NULL) return;
    uint64_t name = number_of_text(w, ANNOTATION_NAMES, attribute->key);
    size_t begun = as_message_begin(&w->packet, EVENT_ANNOTATION);
    as_message_number(&w->packet, ANNOTATION_NAME, name);
    switch (value->type) {
    case AS_CELL_INT: as_message_number(&w->packet, ANNOTATION_INT, (uint64_t)value->i); break;
    case AS_CELL_UINT: as_message_number(&w->packet, ANNOTATION_UINT, value->u); break;
    case AS_CELL_REAL: as_message_real(&w->packet, ANNOTATION_REAL, value->r); break;
    default: as_message_bytes(&w->packet, ANNOTATION_TEXT, value->text, value->size);
    }
    as_message_end(&w->packet, begun);
}

static void put_event(writing *w, const as_slice_track *track, uint64_t time, unsigned type,
                      const as_time_slice *named) {
    as_message_number(&w->packet, PACKET_TIMESTAMP, time);
    size_t event = as_message_begin(&w->packet, PACKET_EVENT);
    as_message_number(&w->packet, EVENT_TYPE, type);
    as_message_number(&w->packet, EVENT_TRACK, track->tid);
    if (named) {
        bool has_context = named->name == AS_NO_STR && named->context < AS_COUNT(w->ds, contexts);
        as_str name = has_context ? as_ds_context(w->ds, named->context)->name : named->name;
        size_t size;
        const char *text = as_slice_name(w->ds, named, &size);
        as_message_number(&w->packet, EVENT_NAME, number_of(w, EVENT_NAMES, name, text, size));
        if (named->kind != AS_NO_STR)
            as_message_number(&w->packet, EVENT_CATEGORY, number_of_text(w, CATEGORIES, named->kind));
        as_attribute attribute;
        for (size_t k = 0; named->event != AS_NO_EVENT && as_slice_attribute(w->slices, named->event, k, &attribute);
             k++)
            put_annotation(w, &attribute);
    }
    as_message_end(&w->packet, event);
    w->failed |= w->names.failed;
    if (w->names.bytes.count) as_message_bytes(&w->packet, PACKET_INTERNED, w->names.bytes.data, w->names.bytes.count);
    as_message_clear(&w->names);
    as_message_number(&w->packet, PACKET_FLAGS, NEEDS_STATE);
    put_packet(w);
}

static bool begin(void *user, const as_slice_track *track, const as_time_slice *slice) {
    writing *w = user;
    put_event(w, track, slice->start, slice->is_moment ? TYPE_MOMENT : TYPE_BEGIN, slice);
    return !w->failed;
}

static bool end(void *user, const as_slice_track *track, const as_time_slice *slice) {
    writing *w = user;
    put_event(w, track, slice->end, TYPE_END, NULL);
    return !w->failed;
}

/* ---- the trace --------------------------------------------------------------------------------------------------- */

static assay_status write_trace(const as_slices *slices, as_writer *writer) {
    writing w = {.slices = slices, .ds = writer->dataset, .out = writer->out};
    as_slice_visitor visitor = {begin, end, &w};
    as_budget *budget = as_ds_budget(w.ds);
    assay_status status = ASSAY_OK;
    as_message_init(&w.packet, budget);
    as_message_init(&w.names, budget);
    for (name_kind kind = CATEGORIES; kind < N_KINDS; kind++) as_map_init(&w.numbers[kind], budget);
    put_tracks(&w);
    if (!w.failed) status = as_slices_walk_all(slices, &visitor, writer->error);
    if (status == ASSAY_OK && w.failed) status = as_fail_memory(writer->error, NULL);
    as_message_free(&w.packet);
    as_message_free(&w.names);
    for (name_kind kind = CATEGORIES; kind < N_KINDS; kind++) as_map_free(&w.numbers[kind]);
    return status;
}

static assay_status write_perfetto(as_writer *writer) {
    as_slices slices;
    assay_status status = as_slices_open(writer->dataset, false, AS_SLICES_OF_PERFETTO, &slices, writer->error);
    if (status == ASSAY_OK && !as_slice_track_count(&slices))
        status =
            as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-events",
                    "there is no time line to write: a trace needs events or samples with times; a profile can go to "
                    "pprof, callgrind or folded stacks");
    if (status == ASSAY_OK) status = write_trace(&slices, writer);
    as_slices_close(&slices);
    return status;
}

const struct assay_format as_format_perfetto = {
    .name = "perfetto",
    .title = "Perfetto trace",
    .extensions = ".pftrace .perfetto-trace",
    .holds = AS_HOLDS_EVENTS | AS_HOLDS_LOCATIONS | AS_HOLDS_PROFILES | AS_HOLDS_ATTRIBUTES | AS_HOLDS_FOREIGN |
             AS_HOLDS_ASIDES | AS_HOLDS_KINDS,
    .write = write_perfetto,
    .losses = as_lose_beside_slices,
};
