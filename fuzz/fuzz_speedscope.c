/* Reading of speedscope files: what was read is a sound profile, can be written as samples and as events, and then read
 * again; traces for Chrome and Perfetto are sound too. */
#include "io/json.h"
#include "io/protobuf.h"
#include "profile.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void write_and_read(const as_dataset *ds, const char *option) {
    const char *options[] = {option, NULL};
    as_output *out = as_output_to_memory();
    if (!out) abort();
    if (as_write(ds, as_format_find("speedscope"), options, 1, out, NULL) == ASSAY_OK) {
        size_t size;
        const char *text = as_output_memory(out, &size);
        as_read_config config = {.format = "speedscope", .memory_limit = AS_FUZZ_MEMORY};
        as_dataset *back = NULL;
        if (as_read_memory("written", text, size, &config, &back, NULL) != ASSAY_OK) abort();
        as_dataset_free(back);
    }
    as_output_discard(out);
}

static void check_chrome(const char *text, size_t size) {
    as_json json;
    as_json_init(&json, "written", text, size, (as_json_options){.max_depth = 1000}, NULL);
    as_json_next(&json);
    if (as_json_skip(&json, NULL, NULL) == AS_JSON_ERROR || as_json_next(&json) != AS_JSON_END) abort();
    as_json_free(&json);
}

/* The number that a message has for a field; 0: none. */
static uint64_t number_in(as_protobuf message, uint32_t field) {
    uint64_t number = 0;
    while (as_protobuf_next(&message))
        if (message.field == field) number = message.number;
    if (message.error) abort();
    return number;
}

/* On each track time goes on, and slices that begin end, not more than 512 in each other. */
static void check_perfetto(const char *bytes, size_t size) {
    enum { TIME = 8, EVENT = 11, TYPE = 9, TRACK = 11, BEGIN = 1, END = 2, MOST_DEEP = 512 };
    as_protobuf trace = as_protobuf_of(bytes, size);
    as_map depths, numbers;
    as_vec times; /* uint64_t */
    as_map_init(&depths, NULL);
    as_map_init(&numbers, NULL);
    as_vec_init(&times, sizeof(uint64_t), NULL);
    uint64_t open = 0;
    while (as_protobuf_next(&trace)) {
        as_protobuf packet = as_protobuf_message_of(&trace);
        uint64_t time = number_in(packet, TIME);
        while (as_protobuf_next(&packet)) {
            if (packet.field != EVENT) continue;
            uint64_t type = number_in(as_protobuf_message_of(&packet), TYPE),
                     track = number_in(as_protobuf_message_of(&packet), TRACK);
            uint32_t depth = as_map_get(&depths, track), number = as_map_get(&numbers, track);
            if (depth == AS_MAP_NONE) depth = 0;
            if (number == AS_MAP_NONE) {
                number = (uint32_t)times.count;
                if (!as_map_put(&numbers, track, number) || !as_vec_append(&times, &time, 1)) abort();
            }
            if (AS_AT(uint64_t, &times, number) > time || (type == END && !depth)) abort();
            if (type == BEGIN && depth == MOST_DEEP) abort();
            AS_AT(uint64_t, &times, number) = time;
            open += type == BEGIN;
            open -= type == END;
            if (!as_map_put(&depths, track, depth + (type == BEGIN) - (type == END))) abort();
        }
    }
    if (trace.error || open) abort();
    as_map_free(&depths);
    as_map_free(&numbers);
    as_vec_free(&times);
}

static void write_and_check(const as_dataset *ds, const char *name, void (*check)(const char *, size_t)) {
    size_t size;
    as_output *out = written(ds, as_format_find(name));
    const char *bytes = out ? as_output_memory(out, &size) : NULL;
    if (bytes) check(bytes, size);
    as_output_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    for (int keep_going = 0; keep_going < 2; keep_going++) {
        as_read_config config = {.format = "speedscope", .memory_limit = AS_FUZZ_MEMORY, .keep_going = keep_going};
        as_dataset *ds = NULL;
        assay_error error;
        if (as_read_memory("input", (const char *)bytes, size, &config, &ds, &error) != ASSAY_OK) {
            if (error.code == ASSAY_OK || !error.message[0]) abort();
            continue;
        }
        if (!keep_going) {
            check_profile(ds);
            write_and_read(ds, "profiles=auto");
            write_and_read(ds, "profiles=sampled");
            write_and_check(ds, "chrome-trace", check_chrome);
            write_and_check(ds, "perfetto", check_perfetto);
        }
        as_dataset_free(ds);
    }
    return 0;
}
