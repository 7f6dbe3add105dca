/* chrome-trace: the Trace Event Format of Chrome's tracing, which Perfetto's UI, chrome://tracing and speedscope open.
 * Written only.
 *
 *   {"traceEvents":[
 *   {"ph":"M","pid":1,"name":"process_name","args":{"name":"rank 0"}},                     names of processes and
 *   threads
 *   {"ph":"B","pid":1,"tid":1,"ts":12.345,"cat":"region","name":"solve"},                  what lasted: its begin …
 *   {"ph":"E","pid":1,"tid":1,"ts":15.345,"name":"solve"},                                 … and its end; times in
 *   microseconds
 *   {"ph":"b","pid":1,"tid":2,"ts":1.000,"cat":"section","id":"0x7","name":"paging"},      sections and ranges, which
 *   overlap: begin and end
 *   {"ph":"i","pid":1,"tid":3,"ts":4.200,"cat":"sample","name":"f","s":"t"}                a moment
 *   ],…}
 *
 * Events are written as they are found, in order of time (formats/slices.h): nothing is held of what is written. */
#include "formats/format.h"
#include "formats/slices.h"
#include "io/json.h"

typedef struct tracing {
    as_writer *writer;
    as_output *out;
    as_slices slices;
    as_vec text; /* char */
    bool is_first, fine;
} tracing;

static void put_time(as_output *out, const char *key, uint64_t nanoseconds) {
    as_output_printf(out, "%s%llu.%03llu", key, (unsigned long long)(nanoseconds / 1000),
                     (unsigned long long)(nanoseconds % 1000));
}

/* Begins an event: "{"ph":…,"pid":…,"tid":…". */
static void begin_event(tracing *t, char phase, const as_slice_track *track) {
    as_output_text(t->out, t->is_first ? "\n" : ",\n");
    t->is_first = false;
    as_output_printf(t->out, "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phase, track->pid, track->tid);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void put_name(tracing *t, const as_slice_track *track, const char *what, bool is_there) {
    t->fine &= is_there;
    begin_event(t, 'M', track);
    as_output_printf(t->out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    as_json_write_string(t->out, is_there ? t->text.data : "", is_there ? strlen(t->text.data) : 0);
    as_output_text(t->out, "}}");
}

static void put_order(tracing *t, const as_slice_track *track, const char *what, size_t place) {
    begin_event(t, 'M', track);
    as_output_printf(t->out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%zu}}", what, place);
}

/* What overlaps is drawn by name, not by thread. */
static bool is_loose(const as_slice_track *track) {
    return track->kind == AS_SLICES_SECTION || track->kind == AS_SLICES_RANGES;
}

static void put_names(tracing *t) {
    uint32_t process = UINT32_MAX;
    for (size_t i = 0; i < as_slice_track_count(&t->slices) && t->fine; i++) {
        const as_slice_track *track = as_slice_track_at(&t->slices, i);
        if (track->process != process) {
            process = track->process;
            put_name(t, track, "process", as_slice_process_name(&t->slices, process, &t->text));
            put_order(t, track, "process", process);
        }
        if (is_loose(track)) continue;
        put_name(t, track, "thread", as_slice_track_name(&t->slices, track, &t->text));
        put_order(t, track, "thread", i);
    }
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void put_cell(as_output *out, as_cell cell) {
    switch (cell.type) {
    case AS_CELL_NULL: as_output_text(out, "null"); break;
    case AS_CELL_INT: as_output_int(out, cell.i); break;
    case AS_CELL_UINT: as_output_printf(out, "%llu", (unsigned long long)cell.u); break;
    case AS_CELL_REAL: as_json_write_real(out, cell.r); break;
    case AS_CELL_TEXT: as_json_write_string(out, cell.text, cell.size); break;
    case AS_CELL_JSON: as_output_write(out, cell.text, cell.size); break;
    }
}

/* What the source says of the event besides. */
static void put_arguments(tracing *t, const as_time_slice *slice) {
    as_attribute attribute;
    size_t k = 0;
    while (slice->event != AS_NO_EVENT && as_slice_attribute(&t->slices, slice->event, k, &attribute)) {
        as_output_text(t->out, k++ ? "," : ",\"args\":{");
        as_json_write_string(t->out, as_ds_text(t->slices.ds, attribute.key),
                             as_str_size(&t->slices.ds->strings, attribute.key));
        as_output_char(t->out, ':');
        put_cell(t->out, attribute.value);
    }
    if (k) as_output_char(t->out, '}');
}

/* The rest of an event, behind its times. */
static void put_words(tracing *t, const as_time_slice *slice, const char *kind) {
    size_t size;
    const char *name = as_slice_name(t->slices.ds, slice, &size), *own = as_ds_text(t->slices.ds, slice->kind);
    as_output_text(t->out, ",\"cat\":");
    as_json_write_string(t->out, own ? own : kind, strlen(own ? own : kind));
    as_output_text(t->out, ",\"name\":");
    as_json_write_string(t->out, name, size);
}

/* A moment, or the begin of what lasts. */
static void put_begin(tracing *t, const as_slice_track *track, const as_time_slice *slice) {
    begin_event(t, slice->is_moment ? 'i' : 'B', track);
    put_time(t->out, ",\"ts\":", slice->start);
    put_words(t, slice, track->kind == AS_SLICES_TRACE ? "sample" : "region");
    if (slice->is_moment) as_output_text(t->out, ",\"s\":\"t\"");
    put_arguments(t, slice);
    as_output_char(t->out, '}');
}

/* Its end is said, not how long it takes: whoever adds that up in floating point lets it end behind the begin of the
 * next. */
static void put_end(tracing *t, const as_slice_track *track, const as_time_slice *slice) {
    size_t size;
    const char *name = as_slice_name(t->slices.ds, slice, &size);
    begin_event(t, 'E', track);
    put_time(t->out, ",\"ts\":", slice->end);
    as_output_text(t->out, ",\"name\":");
    as_json_write_string(t->out, name, size);
    as_output_char(t->out, '}');
}

static void put_loose(tracing *t, const as_slice_track *track, const as_time_slice *slice, bool is_end) {
    begin_event(t, is_end ? 'e' : 'b', track);
    put_time(t->out, ",\"ts\":", is_end ? slice->end : slice->start);
    as_output_printf(t->out, ",\"id\":\"0x%llx\"", (unsigned long long)slice->event);
    put_words(t, slice, "section");
    if (!is_end) put_arguments(t, slice);
    as_output_char(t->out, '}');
}

static bool begin_slice(void *user, const as_slice_track *track, const as_time_slice *slice) {
    if (is_loose(track) && !slice->is_moment)
        put_loose(user, track, slice, false);
    else
        put_begin(user, track, slice);
    return true;
}

static bool end_slice(void *user, const as_slice_track *track, const as_time_slice *slice) {
    if (is_loose(track))
        put_loose(user, track, slice, true);
    else
        put_end(user, track, slice);
    return true;
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static assay_status write_tracks(tracing *t) {
    const char *name = as_source_name(t->slices.ds);
    as_slice_visitor visitor = {begin_slice, end_slice, t};
    as_output_text(t->out, "{\"traceEvents\":[");
    put_names(t);
    if (t->fine) AS_TRY(as_slices_walk_all(&t->slices, &visitor, t->writer->error));
    as_output_text(t->out, "\n],\n\"otherData\":{\"exporter\":\"assay\",\"source\":");
    as_json_write_string(t->out, name, strlen(name));
    if (t->slices.n_left_out)
        as_output_printf(t->out, ",\"events_left_out\":%llu", (unsigned long long)t->slices.n_left_out);
    as_output_text(t->out, "}}\n");
    return t->fine ? ASSAY_OK : as_fail_memory(t->writer->error, NULL);
}

static assay_status write_trace(as_writer *writer) {
    tracing t = {.writer = writer, .out = writer->out, .is_first = true, .fine = true};
    as_vec_init(&t.text, 1, NULL);
    assay_status status = as_slices_open(writer->dataset, false, AS_SLICES_OF_PERFETTO, &t.slices, writer->error);
    if (status == ASSAY_OK && !as_slice_track_count(&t.slices))
        status = as_fail(writer->error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "no-events",
                         "there is no time line to write; speedscope and folded hold profiles without one");
    if (status == ASSAY_OK) status = write_tracks(&t);
    as_slices_close(&t.slices);
    as_vec_free(&t.text);
    return status;
}

const struct assay_format as_format_chrome_trace = {
    .name = "chrome-trace",
    .title = "Chrome trace",
    .extensions = ".trace.json",
    .holds = AS_HOLDS_LOCATIONS | AS_HOLDS_EVENTS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_FOREIGN | AS_HOLDS_PROFILES |
             AS_HOLDS_ASIDES | AS_HOLDS_KINDS,
    .write = write_trace,
    .losses = as_lose_beside_slices,
};
