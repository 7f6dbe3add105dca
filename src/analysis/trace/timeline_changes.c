/* The moments at which a row changes, packed: those of five million intervals are ten million, and would be the largest
 * part of what a viewer keeps. */
#include "analysis/trace/timeline_private.h"

/* ---- packing ----------------------------------------------------------------------------------------------------- */

enum { MOST_BYTES = 10 }; /* of a number of 64 bits, seven in each */

static size_t pack(uint64_t number, unsigned char *out) {
    size_t n = 0;
    for (; number >= 0x80; number >>= 7) out[n++] = (unsigned char)(number | 0x80);
    out[n++] = (unsigned char)number;
    return n;
}

static inline const unsigned char *unpack(const unsigned char *at, uint64_t *out) {
    uint64_t number = *at & 0x7f;
    for (unsigned shift = 7; *at++ & 0x80; shift += 7) number |= (uint64_t)(*at & 0x7f) << shift;
    *out = number;
    return at;
}

/* The signs of trace.h, the last numbers there are, become the first. */
enum { SIGNS = 4 };

bool as_row_add_change(as_timeline_row *row, const as_trace_sample *change, uint64_t time_before) {
    unsigned char bytes[2 * MOST_BYTES];
    if (row->n_changes % AS_BLOCK_CHANGES == 0) {
        as_change_block block = {change->time, row->packed.count};
        if (!as_vec_append(&row->blocks, &block, 1)) return false;
        time_before = change->time;
    }
    size_t n = pack(change->time - time_before, bytes);
    n += pack((assay_id)(change->context + SIGNS), bytes + n);
    if (!as_vec_append(&row->packed, bytes, n)) return false;
    row->n_changes++;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

void as_changes_load(as_changes *changes, size_t number) {
    const as_timeline_row *row = changes->row;
    const as_change_block *block = &AS_AT(as_change_block, &row->blocks, number);
    const unsigned char *at = (const unsigned char *)row->packed.data + block->at;
    size_t n = row->n_changes - number * AS_BLOCK_CHANGES;
    if (n > AS_BLOCK_CHANGES) n = AS_BLOCK_CHANGES;
    uint64_t time = block->time, difference, context;
    for (size_t i = 0; i < n; i++) {
        at = unpack(unpack(at, &difference), &context);
        time += difference;
        changes->samples[i] = (as_trace_sample){.time = time, .context = (assay_id)context - SIGNS};
    }
    changes->samples[n] =
        (as_trace_sample){.time = number + 1 < row->blocks.count ? block[1].time : time, .context = AS_TRACE_NOTHING};
    changes->block = number;
}

/* The last block from `first` on whose first change is before the time; `first` where there is none. */
static size_t block_before(const as_timeline_row *row, size_t first, uint64_t time) {
    const as_change_block *blocks = row->blocks.data;
    size_t low = first, n = row->blocks.count, step = 1;
    while (n - low > step && blocks[low + step].time < time) {
        low += step;
        step *= 2;
    }
    size_t high = n - low > step ? low + step : n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (blocks[middle].time < time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t as_change_from(as_changes *changes, size_t from, uint64_t time) {
    const as_timeline_row *row = changes->row;
    if (from >= row->n_changes) return row->n_changes;
    size_t block = block_before(row, from / AS_BLOCK_CHANGES, time);
    if (block * AS_BLOCK_CHANGES > from) from = block * AS_BLOCK_CHANGES;
    while (from < row->n_changes && as_change_at(changes, from)->time < time) {
        from++;
        if (from % AS_BLOCK_CHANGES == 0) break; /* the next block begins at that time or after it */
    }
    return from;
}

size_t as_change_before(as_changes *changes, uint64_t time) {
    size_t number = as_change_from(changes, 0, time);
    bool is_there = number < changes->row->n_changes && as_change_at(changes, number)->time == time;
    return is_there ? number : number ? number - 1 : 0;
}

assay_status as_row_read(const as_trace_source *source, const as_trace_line *line, uint64_t first, size_t n,
                         as_trace_sample *out, assay_error *error) {
    as_changes changes;
    (void)line;
    (void)error;
    as_changes_of(&changes, (const as_timeline_row *)source);
    for (size_t i = 0; i < n; i++) out[i] = *as_change_at(&changes, (size_t)first + i);
    return ASSAY_OK;
}
