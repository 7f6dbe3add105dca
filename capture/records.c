/* The records of the file, as text. Only the writer comes here, and it must be faster than a thread that does nothing
 * but record. So numbers are made eight digits at a time, texts that are the same again and again are copied in blocks
 * of a fixed size, whatever their length (what follows overwrites the rest), and records that are frequent have the
 * number of their type instead of its name. */
#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEX = 19 }; /* bytes of ",0x" and an id */

#define REGION_AGGREGATE  "3"
#define REGION_POINT      "4"
#define REGION_START      "5"
#define REGION_STOP       "6"
#define SECTION_AGGREGATE "10"
#define SECTION_POINT     "12"
#define SECTION_START     "13"
#define SECTION_STOP      "14"

/* All numbers of two digits. */
#define ROW(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f"
static const char two_digits[] = ROW("0") ROW("1") ROW("2") ROW("3") ROW("4") ROW("5") ROW("6") ROW("7") ROW("8")
    ROW("9") ROW("a") ROW("b") ROW("c") ROW("d") ROW("e") ROW("f");

static inline char *put(char *at, const char *text, size_t length) {
    memcpy(at, text, length);
    return at + length;
}

/* A text of which a block at least can be read. */
static inline char *put_block(char *at, const char *text, size_t length) {
    memcpy(at, text, AS_CAPTURE_BLOCK);
    if (__builtin_expect(length > AS_CAPTURE_BLOCK, 0)) memcpy(at, text, length);
    return at + length;
}

static inline void put_8_digits(char *at, uint32_t n) {
    uint64_t x = n; /* its four bits each to a byte of their own */
    x = (x | x << 16) & 0x0000FFFF0000FFFF;
    x = (x | x << 8) & 0x00FF00FF00FF00FF;
    x = (x | x << 4) & 0x0F0F0F0F0F0F0F0F;
    uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    x += 0x3030303030303030 + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(at, &x, sizeof x);
}

static inline char *put_digits(char *at, uint64_t n) {
    int digits = (67 - __builtin_clzll(n | 1)) / 4;
    n <<= 64 - 4 * digits;
    put_8_digits(at, (uint32_t)(n >> 32));
    if (digits > 8) put_8_digits(at + 8, (uint32_t)n);
    return at + digits;
}

static inline char *put_hex(char *at, uint64_t n) {
    memcpy(at, ",0x", 4);
    return put_digits(at + 3, n);
}

/* Of numbers that follow one another, times and ids, all but the last four digits are mostly those of the one
 * before. */
typedef struct lead {
    uint64_t upper; /* the number without them */
    size_t length;
    char text[AS_CAPTURE_BLOCK]; /* ",0x" and the upper digits */
} lead;

static lead time_lead, id_lead;

static __attribute__((noinline)) void lead_change(lead *kept, uint64_t upper) {
    char *end = put_hex(kept->text, upper);
    kept->upper = upper;
    kept->length = upper ? (size_t)(end - kept->text) : sizeof ",0x" - 1;
}

void as_capture_records_begin(void) {
    lead_change(&time_lead, 0);
    lead_change(&id_lead, 0);
}

/* As put_hex() of a number that has four digits at least. */
static inline char *put_next(char *at, lead *kept, uint64_t n) {
    if (__builtin_expect(n >> 16 != kept->upper, 0)) lead_change(kept, n >> 16);
    memcpy(at, kept->text, AS_CAPTURE_BLOCK);
    at += kept->length;
    memcpy(at, &two_digits[2 * (n >> 8 & 0xFF)], 2);
    memcpy(at + 2, &two_digits[2 * (n & 0xFF)], 2);
    return at + 4;
}

/* "," and a number in decimal. */
static char *put_integer(char *at, int64_t n) {
    char digits[20], *first = digits + sizeof digits;
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    *at++ = ',';
    if (n < 0) *at++ = '-';
    return put(at, first, (size_t)(digits + sizeof digits - first));
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

/* ---- runs -------------------------------------------------------------------------------------------------------- */

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
        thread->run_field_length = (size_t)(put_hex(thread->run_field, thread->run) - thread->run_field);
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

/* ---- regions and sections ---------------------------------------------------------------------------------------- */

void as_capture_records_region_start(as_capture_thread *thread, uint64_t time, uint64_t id,
                                     const as_capture_label *label) {
    char *at = put_next(PUT(begin(16 + 3 * HEX + label->written_length), REGION_START), &time_lead, time);
    at = put_next(put_block(at, thread->run_field, thread->run_field_length), &id_lead, id);
    as_capture_output_end(&as_capture.output, put_block(at, label->written, label->written_length));
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
    start_text(PUT(at, REGION_START), time, thread->run, id, label, label_length, tags, tags_length);
}

void as_capture_records_section_info(uint64_t run, uint64_t time, uint64_t id, const char *label, size_t label_length,
                                     const char *tags, size_t tags_length) {
    char *at = begin(32 + 3 * HEX + 2 * (label_length + tags_length));
    start_text(PUT(at, "SectionInfo"), time, run, id, label, label_length, tags, tags_length);
}

void as_capture_records_region_stop(uint64_t time, uint64_t id) {
    end(put_next(put_next(PUT(begin(16 + 2 * HEX), REGION_STOP), &time_lead, time), &id_lead, id));
}

void as_capture_records_interval_start(uint64_t time, uint64_t section, uint64_t interval) {
    end(put_hex(put_hex(put_hex(PUT(begin(16 + 3 * HEX), SECTION_START), time), section), interval));
}

void as_capture_records_interval_stop(uint64_t time, uint64_t section, uint64_t interval) {
    end(put_hex(put_hex(put_hex(PUT(begin(16 + 3 * HEX), SECTION_STOP), time), section), interval));
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

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
    if (m->type == ASSAY_MEASURE_INT64) return put_integer(at, value.integer);
    if (m->type == ASSAY_MEASURE_BOOL) return put_integer(at, value.integer != 0);
    value.text[sizeof value.text - 1] = '\0';
    return put_field(at, value.text, sizeof value.text - 1);
}

static char *put_difference(char *at, const as_capture_measure *m, uint64_t first, uint64_t last) {
    at = put_hex(at, m->id);
    if (m->type == ASSAY_MEASURE_INT64) return put_integer(at, (int64_t)(last - first));
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
                at = interval ? PUT(at, SECTION_POINT) : PUT(at, REGION_POINT);
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
                at = interval ? PUT(at, SECTION_AGGREGATE) : PUT(at, REGION_AGGREGATE);
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
