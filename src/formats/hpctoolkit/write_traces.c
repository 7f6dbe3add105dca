/* trace.db: the trace lines of all profiles. */
#include <stdlib.h>

#include "formats/hpctoolkit/write_bytes.h"

enum { STEP = 1 << 14, SAMPLE = 12, ENTRY_2021 = 22, ENTRY_4 = 24, ENTRIES_4 = 0x40 };
#define NANOSECONDS 1e9

/* The released form counts nanoseconds. */
static uint64_t written_time(const as_hpc_plan *plan, uint64_t time) {
    double ticks = as_hpc_ticks(plan);
    if (plan->form == AS_HPC_2021 || ticks == NANOSECONDS || !(ticks > 0)) return time;
    if (ticks < NANOSECONDS && fmod(NANOSECONDS, ticks) == 0) {
        uint64_t scaled;
        return __builtin_mul_overflow(time, (uint64_t)(NANOSECONDS / ticks), &scaled) ? UINT64_MAX : scaled;
    }
    double scaled = (double)time / ticks * NANOSECONDS;
    return scaled < 0x1p63 ? (uint64_t)scaled : UINT64_MAX;
}

assay_status as_hpc_trace_range(const as_hpc_plan *plan, uint64_t *first, uint64_t *last, bool *has_samples) {
    *first = UINT64_MAX;
    *last = 0;
    *has_samples = false;
    for (size_t i = 0; i < plan->profiles.count; i++) {
        as_hpc_line line = as_hpc_line_of(plan, i);
        as_trace_sample sample;
        if (!line.n) continue;
        *has_samples = true;
        AS_TRY(as_hpc_line_read(plan, &line, 0, 1, &sample));
        if (sample.time < *first) *first = sample.time;
        AS_TRY(as_hpc_line_read(plan, &line, line.n - 1, 1, &sample));
        if (sample.time > *last) *last = sample.time;
    }
    const as_traces *traces = &plan->ds->traces;
    if (*has_samples && traces->has_start && traces->start < *first) *first = traces->start;
    if (plan->made_samples.count && plan->made_start < *first) *first = plan->made_start;
    *first = written_time(plan, *first);
    *last = written_time(plan, *last);
    return ASSAY_OK;
}

static assay_status write_line(const as_hpc_plan *plan, const as_hpc_line *line, as_trace_sample *samples,
                               unsigned char *bytes, as_output *out) {
    bool is_2021 = plan->form == AS_HPC_2021;
    for (uint64_t done = 0; done < line->n;) {
        size_t n = line->n - done < STEP ? (size_t)(line->n - done) : STEP;
        AS_TRY(as_hpc_line_read(plan, line, done, n, samples));
        as_hpc_bytes b = {.at = bytes, .big_endian = is_2021};
        for (size_t i = 0; i < n; i++) {
            assay_id context = samples[i].context;
            as_hpc_put_u64(&b, written_time(plan, samples[i].time));
            as_hpc_put_u32(&b, context < plan->n_contexts ? plan->trace_ids[context] : 0);
        }
        as_output_write(out, bytes, n * SAMPLE);
        done += n;
    }
    return ASSAY_OK;
}

/* Header and index; the lines lie behind them in order, each at a multiple of 8. */
static assay_status write_table(const as_hpc_plan *plan, uint64_t first, uint64_t last, as_output *out) {
    bool is_2021 = plan->form == AS_HPC_2021;
    uint32_t n = (uint32_t)plan->profiles.count;
    uint64_t entries = is_2021 ? AS_HPC_FIRST_SECTION : ENTRIES_4;
    uint64_t entry = is_2021 ? ENTRY_2021 : ENTRY_4, size = as_hpc_align(entries + entry * n), at = size;
    unsigned char *table = calloc(1, size);
    if (!table) return as_fail_memory(plan->error, NULL);
    as_hpc_bytes b = {.at = table + (is_2021 ? 18 : 16), .big_endian = is_2021};
    memcpy(table, is_2021 ? "HPCPROF-tracedb_\1" : "HPCTOOLKITtrce\4", is_2021 ? 18 : 16);
    if (is_2021) {
        as_hpc_put_u32(&b, n);
        as_hpc_put_u16(&b, 1);
        as_hpc_put_u64(&b, entry * n);
        as_hpc_put_u64(&b, entries);
    } else {
        as_hpc_put_u64(&b, ENTRIES_4 - 0x20 + entry * n);
        as_hpc_put_u64(&b, 0x20);
        as_hpc_put_u64(&b, entries);
        as_hpc_put_u32(&b, n);
        as_hpc_put_u8(&b, ENTRY_4);
        b.at = table + 0x30;
        as_hpc_put_u64(&b, first);
        as_hpc_put_u64(&b, last);
    }
    for (uint32_t i = 0; i < n; i++) {
        as_hpc_line line = as_hpc_line_of(plan, i);
        b.at = table + entries + entry * i;
        as_hpc_put_u32(&b, i + 1);
        b.at += is_2021 ? 2 : 4;
        as_hpc_put_u64(&b, at);
        as_hpc_put_u64(&b, at + line.n * SAMPLE);
        if (line.n) at = as_hpc_align(at + line.n * SAMPLE);
    }
    as_output_write(out, table, size);
    free(table);
    return ASSAY_OK;
}

/* samples, bytes: room for STEP of them. */
static assay_status write_each_line(const as_hpc_plan *plan, as_trace_sample *samples, unsigned char *bytes,
                                    as_output *out) {
    for (size_t i = 0; i < plan->profiles.count; i++) {
        static const char zeros[8] = "";
        as_hpc_line line = as_hpc_line_of(plan, i);
        if (!line.n) continue;
        AS_TRY(write_line(plan, &line, samples, bytes, out));
        uint64_t size = as_output_size(out);
        as_output_write(out, zeros, as_hpc_align(size) - size);
    }
    return ASSAY_OK;
}

static assay_status write_lines(const as_hpc_plan *plan, as_output *out) {
    as_trace_sample *samples = malloc(STEP * sizeof *samples);
    unsigned char *bytes = malloc((size_t)STEP * SAMPLE);
    assay_status code =
        samples && bytes ? write_each_line(plan, samples, bytes, out) : as_fail_memory(plan->error, NULL);
    free(samples);
    free(bytes);
    return code;
}

/* The released form has no file where nothing was traced, the 2021 form always has one. */
assay_status as_hpc_write_traces(const as_hpc_plan *plan, as_output_directory *directory) {
    as_output *out = NULL;
    uint64_t first, last;
    bool has_samples;
    AS_TRY(as_hpc_trace_range(plan, &first, &last, &has_samples));
    if (!has_samples && plan->form == AS_HPC_4) return ASSAY_OK;
    AS_TRY(as_output_directory_file(directory, "trace.db", &out, plan->error));
    assay_status code = write_table(plan, first, last, out);
    if (code == ASSAY_OK) code = write_lines(plan, out);
    if (plan->form == AS_HPC_4) as_output_text(out, "trace.db");
    if (code == ASSAY_OK) return as_output_commit(out, plan->error);
    as_output_discard(out);
    return code;
}
