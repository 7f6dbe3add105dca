/* The records of the file, as text. Only the writer comes here. */
#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEX = 19 }; /* bytes of ",0x" and an id */

static char *put(char *at, const char *text, size_t length) {
    memcpy(at, text, length);
    return at + length;
}

static char *put_hex(char *at, uint64_t n) {
    static const char digits[] = "0123456789abcdef";
    int bits = n ? (64 - __builtin_clzll(n) + 3) / 4 * 4 : 4;
    *at++ = ',', *at++ = '0', *at++ = 'x';
    while (bits) *at++ = digits[n >> (bits -= 4) & 15];
    return at;
}

/* The field of a text, of at most limit bytes of it. */
static char *put_field(char *at, const char *text, size_t limit) {
    *at++ = ',';
    return at + as_capture_field(at, text, as_capture_cut(text, limit));
}

#define PUT(at, constant) put(at, constant, sizeof(constant) - 1)

static char *begin(size_t size) { return as_capture_output_begin(&as_capture.output, size); }

static void end(char *at) {
    *at++ = '\n';
    as_capture_output_end(&as_capture.output, at);
}

/* ---- runs ---- */

/* A tag's name or value from outside the program: it may not look like another tag. */
static void tag_clean(char *text) {
    for (; *text; text++)
        if (*text == ';' || *text == '=') *text = '_';
}

/* RunInfo, and blanks up to `room` bytes, with a line end behind each. Returns its length without the blanks. */
static size_t run_text(const as_capture_thread *thread, char *out, size_t room) {
    char tags[AS_CAPTURE_TAGS + 1 + 256], name[sizeof thread->name], application[256], version[256];
    pthread_mutex_lock(&as_capture.lock);
    memcpy(name, thread->name, sizeof name);
    tag_clean(name);
    snprintf(tags, sizeof tags, "process=%ld;thread=%u%s%s%s%s", (long)getpid(), thread->number,
             *name ? ";thread_name=" : "", name, *as_capture.tags ? ";" : "", as_capture.tags);
    memcpy(application, as_capture.application, sizeof application);
    memcpy(version, as_capture.version, sizeof version);
    pthread_mutex_unlock(&as_capture.lock);
    int64_t wallclock = as_capture.wallclock_ns + (int64_t)thread->started;
    char *at = put_hex(PUT(out, "RunInfo"), thread->started);
    at += snprintf(at, 64, ",nanoseconds,%lld.%09lld,1.0.0", (long long)(wallclock / 1000000000),
                   (long long)(wallclock % 1000000000));
    at = put_hex(at, thread->run);
    at = put_field(at, application, sizeof application - 1);
    at = put_field(at, version, sizeof version - 1);
    at = put_field(at, tags, sizeof tags - 1);
    *at++ = '\n';
    size_t length = (size_t)(at - out);
    if (length < room) {
        memset(at, ' ', room - length - 1);
        out[room - 1] = '\n';
    }
    return length;
}

void as_capture_records_run(as_capture_thread *thread) {
    static char text[2 * AS_CAPTURE_PAGE];
    size_t length = run_text(thread, text, thread->announced ? thread->run_room : 0);
    if (!thread->announced) {
        /* room for tags that come later: of the process's run more, for that is where they are missed */
        size_t room = length + (thread->number == 0 ? 1024 : 256);
        if (room > AS_CAPTURE_PAGE) room = AS_CAPTURE_PAGE;
        run_text(thread, text, room);
        thread->run_offset = as_capture_output_place(&as_capture.output, room);
        thread->run_room = room;
        char *at = begin(room);
        as_capture_output_end(&as_capture.output, put(at, text, room));
        thread->announced = true;
    } else if (length <= thread->run_room) {
        as_capture_output_replace(&as_capture.output, thread->run_offset, text, thread->run_room);
    } else if (!as_capture.output.tags_missed) {
        as_capture.output.tags_missed = true;
        as_capture_say("%s: no room for more tags in the run of thread %u, and maybe others; set them earlier",
                       as_capture.output.path, thread->number);
    }
}

static void type_write(uint64_t time, uint64_t run, uint32_t id, const char *name, const char *type, const char *units,
                       const char *summary) {
    char *at = put_hex(PUT(begin(1024), "MeasurementType"), time);
    at = put_hex(put_hex(at, run), id);
    at = put_field(at, name, 63);
    *at++ = ',';
    at = put(at, type, strlen(type));
    at = put_field(at, units, 31);
    at = put_field(at, summary, 255);
    *at++ = ',';
    end(at);
}

void as_capture_records_types(as_capture_thread *thread, const as_capture_set *set) {
    static const char *const types[] = {"int64", "double", "bool", "string", "enum"};
    int count = atomic_load_explicit(&set->count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        const as_capture_measure *m = set->measures[i];
        int k = 0;
        while (k < thread->type_count && thread->types[k] != m->id) k++;
        if (k < thread->type_count || k == (int)(sizeof thread->types / sizeof thread->types[0])) continue;
        thread->types[thread->type_count++] = m->id;
        type_write(thread->started, thread->run, m->id, m->name, types[m->type], m->units, m->summary);
    }
}

void as_capture_records_pause(uint64_t resumed, uint64_t paused, uint64_t run) {
    char *at = PUT(begin(16 + 3 * HEX), "PauseResume");
    end(put_hex(put_hex(put_hex(at, resumed), paused), run));
}

/* ---- regions and sections ---- */

void as_capture_records_region_start(as_capture_thread *thread, uint64_t time, uint64_t id,
                                     const as_capture_label *label) {
    char *at = PUT(begin(16 + 3 * HEX + label->written_length), "RegionStart");
    at = put_hex(put_hex(put_hex(at, time), thread->run), id);
    *at++ = ',';
    at = put(at, label->written, label->written_length);
    *at++ = ',';
    end(at);
}

static void start_text(char *at, uint64_t time, uint64_t run, uint64_t id, const char *label, size_t label_length,
                       const char *tags, size_t tags_length) {
    at = put_hex(put_hex(put_hex(at, time), run), id);
    *at++ = ',';
    at += as_capture_field(at, label, label_length);
    *at++ = ',';
    end(at + as_capture_field(at, tags, tags_length));
}

void as_capture_records_region_start_text(as_capture_thread *thread, uint64_t time, uint64_t id, const char *label,
                                          size_t label_length, const char *tags, size_t tags_length) {
    char *at = begin(32 + 3 * HEX + 2 * (label_length + tags_length));
    start_text(PUT(at, "RegionStart"), time, thread->run, id, label, label_length, tags, tags_length);
}

void as_capture_records_section_info(uint64_t run, uint64_t time, uint64_t id, const char *label, size_t label_length,
                                     const char *tags, size_t tags_length) {
    char *at = begin(32 + 3 * HEX + 2 * (label_length + tags_length));
    start_text(PUT(at, "SectionInfo"), time, run, id, label, label_length, tags, tags_length);
}

void as_capture_records_region_stop(uint64_t time, uint64_t id) {
    end(put_hex(put_hex(PUT(begin(16 + 2 * HEX), "RegionStop"), time), id));
}

void as_capture_records_interval(const char *type, uint64_t time, uint64_t section, uint64_t interval) {
    char *at = put(begin(16 + 3 * HEX), type, strlen(type));
    end(put_hex(put_hex(put_hex(at, time), section), interval));
}

/* ---- values ---- */

/* ",id,value" of a snapshot. The writer's thread has the C locale. */
static char *put_value(char *at, const as_capture_measure *m, const uint64_t *words, uint64_t time) {
    assay_measure_value value;
    memset(&value, 0, sizeof value);
    if (m->words)
        memcpy(&value, words, (size_t)m->words * sizeof *words);
    else
        value.integer = (int64_t)time;
    at = put_hex(at, m->id);
    if (m->type == ASSAY_MEASURE_DOUBLE) return at + snprintf(at, 40, ",%.17g", value.number);
    if (m->type == ASSAY_MEASURE_INT64) return at + snprintf(at, 40, ",%lld", (long long)value.integer);
    if (m->type == ASSAY_MEASURE_BOOL) return PUT(at, ",") + snprintf(at + 1, 2, "%d", value.integer != 0);
    value.text[sizeof value.text - 1] = '\0';
    return put_field(at, value.text, sizeof value.text - 1);
}

static char *put_difference(char *at, const as_capture_measure *m, uint64_t first, uint64_t last) {
    at = put_hex(at, m->id);
    if (m->type == ASSAY_MEASURE_INT64) return at + snprintf(at, 40, ",%lld", (long long)(last - first));
    double a, b;
    memcpy(&a, &first, sizeof a);
    memcpy(&b, &last, sizeof b);
    return at + snprintf(at, 40, ",%.17g", b - a);
}

enum { VALUE = 100, HEAD = 32 + 4 * HEX }; /* bytes of one value, of all before them */

void as_capture_records_points(const as_capture_set *set, uint64_t time, uint64_t owner, uint64_t interval,
                               const uint64_t *values) {
    char *at = NULL;
    for (int i = 0; i < set->count; i++) {
        const as_capture_measure *m = set->measures[i];
        if (m->kind == ASSAY_MEASURE_SNAPSHOT) {
            if (!at) {
                at = begin(HEAD + (size_t)set->count * VALUE);
                at = interval ? PUT(at, "SectionPoint") : PUT(at, "RegionPoint");
                at = put_hex(put_hex(at, time), owner);
                if (interval) at = put_hex(at, interval);
            }
            at = put_value(at, m, values, time);
        }
        values += m->words;
    }
    if (at) end(at);
}

void as_capture_records_aggregate(const as_capture_set *set, uint64_t last_time, uint64_t first_time, uint64_t owner,
                                  uint64_t interval, const uint64_t *first, const uint64_t *last) {
    char *at = NULL;
    for (int i = 0; i < set->count; i++) {
        const as_capture_measure *m = set->measures[i];
        if (m->kind == ASSAY_MEASURE_DURATION) {
            if (!at) {
                at = begin(HEAD + (size_t)set->count * VALUE);
                at = interval ? PUT(at, "SectionAggregate") : PUT(at, "RegionAggregate");
                at = put_hex(put_hex(put_hex(at, last_time), first_time), owner);
                if (interval) at = put_hex(at, interval);
                *at++ = ',';
            }
            at = put_difference(at, m, m->words ? *first : first_time, m->words ? *last : last_time);
        }
        first += m->words, last += m->words;
    }
    if (at) end(at);
}

void as_capture_records_run_points(const as_capture_set *set, uint64_t time, uint64_t run, const uint64_t *values) {
    int count = atomic_load_explicit(&set->count, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        char *at = put_hex(put_hex(PUT(begin(HEAD + VALUE), "RunPoint"), time), run);
        end(put_value(at, set->measures[i], values, time));
        values += set->measures[i]->words;
    }
}

void as_capture_records_count(uint64_t time, uint64_t run, const char *name, const char *units, const char *summary,
                              uint64_t value) {
    uint32_t id = (uint32_t)as_capture_hash(name, strlen(name));
    type_write(time, run, id, name, "int64", units, summary);
    char *at = put_hex(put_hex(put_hex(PUT(begin(HEAD + VALUE), "RunPoint"), time), run), id);
    end(at + snprintf(at, 40, ",%llu", (unsigned long long)value));
}
