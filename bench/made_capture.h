/* A capture of a simulation as AFPerf, of about any size: four runs whose records are interleaved, each of frames that
 * update platforms, and those their components. Regions have tags, CPU time and page faults, some of them snapshots of
 * memory at both ends; messages between platforms are a section whose intervals overlap; the run is sampled once a
 * frame and paused at times. */
#ifndef AS_BENCH_MADE_CAPTURE_H
#define AS_BENCH_MADE_CAPTURE_H

#include <inttypes.h>
#include <stdio.h>

enum { MADE_RUNS = 4, MADE_PLATFORMS = 20, MADE_COMPONENTS = 3 };

typedef struct made_capture {
    FILE *out;
    size_t bytes, records, intervals;
    uint64_t random, next_region, next_message;
    struct {
        uint64_t id, now, memory;
    } runs[MADE_RUNS], *run;
} made_capture;

#define MADE_RECORD(made, ...) ((made)->records++, (made)->bytes += (size_t)fprintf((made)->out, __VA_ARGS__))

/* 0 … below - 1. */
static inline uint64_t made_random(made_capture *made, uint64_t below) {
    made->random = made->random * 6364136223846793005u + 1442695040888963407u;
    return (made->random >> 33) % below;
}

static inline void made_header(made_capture *made) {
    static const char *const measures[] = {
        "0x1,CPU Time,int64,ns,Time on a processor,", "0x2,Page Faults,int64,count,,",
        "0x3,Resident Memory,int64,KiB,Memory in use,", "0x4,Load,double,count,Share of the machine that is in use,"};
    made->bytes += (size_t)fprintf(made->out, "# AFPerf v1     \n");
    for (int i = 0; i < MADE_RUNS; i++) {
        made->runs[i].id = 0xbad0bad0u + (unsigned)i;
        made->runs[i].now = 86400000000000u + 1000u * (unsigned)i;
        made->runs[i].memory = 1 << 20;
        uint64_t id = made->runs[i].id, now = made->runs[i].now;
        MADE_RECORD(made,
                    "RunInfo,%" PRIu64 ",nanoseconds,1639527663.713,1.0.0,0x%" PRIx64
                    ",mission,2.9.0,size=%d;host=node-7\n",
                    now, id, 1000 * (i + 1));
        for (int k = 0; k < 4; k++)
            MADE_RECORD(made, "MeasurementType,%" PRIu64 ",0x%" PRIx64 ",%s\n", now, id, measures[k]);
        MADE_RECORD(made, "SectionInfo,%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 ",message in flight,network=link_16\n",
                    now, id, 0xe000u + (uint64_t)i);
    }
}

static inline uint64_t made_start(made_capture *made, const char *label, int platform, int component) {
    static const char *const components[] = {"sensor", "mover", "comm"};
    uint64_t id = 0x7f3a00000000u + made->next_region++;
    made->intervals++;
    made->run->now += 40 + made_random(made, 200);
    MADE_RECORD(made, "RegionStart,%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 ",%s,", made->run->now, made->run->id, id,
                label);
    if (platform >= 0) made->bytes += (size_t)fprintf(made->out, "platform=F15_%02d", platform);
    if (component >= 0) made->bytes += (size_t)fprintf(made->out, ";component=%s", components[component]);
    made->bytes += (size_t)fprintf(made->out, "\n");
    return id;
}

static inline void made_stop(made_capture *made, uint64_t id, uint64_t start) {
    uint64_t now = made->run->now += 300 + made_random(made, 3000);
    MADE_RECORD(made, "RegionStop,%" PRIu64 ",0x%" PRIx64 "\n", now, id);
    MADE_RECORD(made, "RegionAggregate,%" PRIu64 ",%" PRIu64 ",0x%" PRIx64 ",,0x1,%" PRIu64 ",0x2,%" PRIu64 "\n", now,
                start, id, (now - start) * 9 / 10, made_random(made, 4));
}

static inline void made_snapshot(made_capture *made, uint64_t id) {
    made->run->memory += made_random(made, 3);
    MADE_RECORD(made, "RegionPoint,%" PRIu64 ",0x%" PRIx64 ",0x3,%" PRIu64 "\n", made->run->now, id, made->run->memory);
}

/* A message that starts here and arrives some messages later: up to eight are on their way. */
static inline void made_message(made_capture *made) {
    uint64_t n = made->next_message++, section = 0xe000u + (uint64_t)(made->run - made->runs);
    made->intervals++;
    MADE_RECORD(made, "SectionStart,%" PRIu64 ",0x%" PRIx64 ",%" PRIu64 "\n", made->run->now, section, n);
    if (n >= 8 * MADE_RUNS)
        MADE_RECORD(made, "SectionStop,%" PRIu64 ",0x%" PRIx64 ",%" PRIu64 "\n", made->run->now + 20, section,
                    n - 8 * MADE_RUNS);
}

static inline void made_pause(made_capture *made) {
    uint64_t paused = made->run->now;
    made->intervals++;
    made->run->now += 5000000;
    MADE_RECORD(made, "PauseResume,%" PRIu64 ",%" PRIu64 ",0x%" PRIx64 "\n", made->run->now, paused, made->run->id);
}

static inline void made_frame(made_capture *made, size_t number) {
    static const char *const labels[] = {"update sensor", "integrate motion", "\"send, receive\""};
    uint64_t begun = made->run->now, frame = made_start(made, "frame", -1, -1);
    for (int platform = 0; platform < MADE_PLATFORMS; platform++) {
        uint64_t since = made->run->now, outer = made_start(made, "update platform", platform, -1);
        made_snapshot(made, outer);
        for (int i = 0; i < MADE_COMPONENTS; i++) {
            uint64_t start = made->run->now, id = made_start(made, labels[i], platform, i);
            made_stop(made, id, start);
        }
        made_stop(made, outer, since);
        made_snapshot(made, outer);
    }
    for (int i = 0; i < 4; i++) made->run = &made->runs[i], made_message(made);
    made->run = &made->runs[number % MADE_RUNS];
    if (number % 1000 < MADE_RUNS) made_pause(made);
    made_stop(made, frame, begun);
    MADE_RECORD(made, "RunPoint,%" PRIu64 ",0x%" PRIx64 ",0x4,%.3f\n", made->run->now, made->run->id,
                1e-3 * (double)made_random(made, 1000));
}

/* Writes about `size` bytes; false where that fails. */
static inline bool make_capture(made_capture *made, const char *path, size_t size) {
    *made = (made_capture){.out = fopen(path, "w"), .random = 1};
    if (!made->out) return false;
    made_header(made);
    for (size_t frame = 0; made->bytes < size; frame++) {
        made->run = &made->runs[frame % MADE_RUNS];
        made_frame(made, frame);
    }
    return fclose(made->out) == 0;
}

#endif
