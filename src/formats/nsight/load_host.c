/* What ran on the host: calls of the CUDA API and of the OS runtime, samples. */
#include "formats/nsight/load.h"

static bool number_name(as_ns_loading *loading, const as_ns_part *part, const int64_t *key, uint32_t *out) {
    (void)part;
    as_ns_export *x = loading->x;
    *out = *key == AS_NS_NULL ? as_ds_intern_text(x->ds, "[unnamed]") : as_ns_string(x, *key);
    return *out != AS_NO_STR;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static const char *const call_columns[] = {"start",         "end",         "globalTid",  "nameId",
                                           "correlationId", "callchainId", "returnValue"};

static as_ns_taken take_call(as_ns_part *part, const as_scan *scan, void *row) {
    enum { START, END, THREAD, NAME, CORRELATION, CHAIN, RESULT, N };
    as_ns_call *call = row;
    int64_t cells[N];
    if (!as_ns_ints(scan, 0, N, cells) || !as_ns_take_span(part, cells[START], cells[END], &call->span))
        return AS_NS_WRONG;
    if (!as_ns_small(cells[CHAIN], AS_NS_NONE, &call->chain)) call->chain = AS_NS_NONE; /* -1, where NULL is not used */
    call->thread = as_ns_keys_number(&part->places, &cells[THREAD]);
    call->name = as_ns_keys_number(&part->names, &cells[NAME]);
    call->correlation = as_ns_or(cells[CORRELATION], 0);
    call->result = (int32_t)as_ns_or(cells[RESULT], 0);
    call->context = ASSAY_NONE;
    return call->thread == AS_NS_NONE || call->name == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static void settle_call(const as_ns_part *part, void *row) {
    as_ns_call *call = row;
    call->thread = part->place_of[call->thread];
    call->name = part->name_of[call->name];
}

const as_ns_source as_ns_load_calls = {.table = "CUPTI_ACTIVITY_KIND_RUNTIME",
                                       AS_NS_COLUMNS(call_columns),
                                       .rows = offsetof(as_ns_export, calls),
                                       .name_words = 1,
                                       .take = take_call,
                                       .settle = settle_call,
                                       .name = number_name};

/* ---- OS runtime -------------------------------------------------------------------------------------------------- */

static const char *const osrt_columns[] = {"start", "end", "globalTid", "nameId", "nestingLevel"};

static as_ns_taken take_osrt(as_ns_part *part, const as_scan *scan, void *row) {
    enum { START, END, THREAD, NAME, NESTING, N };
    as_ns_osrt *osrt = row;
    int64_t cells[N];
    if (!as_ns_ints(scan, 0, N, cells) || !as_ns_take_span(part, cells[START], cells[END], &osrt->span) ||
        !as_ns_small(cells[NESTING], 0, &osrt->nesting))
        return AS_NS_WRONG;
    osrt->thread = as_ns_keys_number(&part->places, &cells[THREAD]);
    osrt->name = as_ns_keys_number(&part->names, &cells[NAME]);
    osrt->context = ASSAY_NONE;
    return osrt->thread == AS_NS_NONE || osrt->name == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static void settle_osrt(const as_ns_part *part, void *row) {
    as_ns_osrt *osrt = row;
    osrt->thread = part->place_of[osrt->thread];
    osrt->name = part->name_of[osrt->name];
}

const as_ns_source as_ns_load_osrt = {.table = "OSRT_API",
                                      AS_NS_COLUMNS(osrt_columns),
                                      .rows = offsetof(as_ns_export, osrt),
                                      .name_words = 1,
                                      .take = take_osrt,
                                      .settle = settle_osrt,
                                      .name = number_name};

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static const char *const sample_columns[] = {"start", "globalTid", "id"};

static as_ns_taken take_sample(as_ns_part *part, const as_scan *scan, void *row) {
    enum { TIME, THREAD, CHAIN, N };
    as_ns_sample *sample = row;
    int64_t cells[N];
    as_ns_span moment;
    if (!as_ns_ints(scan, 0, N, cells) || !as_ns_take_span(part, cells[TIME], AS_NS_OPEN, &moment)) return AS_NS_WRONG;
    sample->time = moment.start;
    sample->thread = as_ns_keys_number(&part->places, &cells[THREAD]);
    sample->chain = cells[CHAIN];
    sample->name = AS_NO_STR;
    sample->context = ASSAY_NONE;
    return sample->thread == AS_NS_NONE ? AS_NS_MEMORY : AS_NS_TAKEN;
}

static void settle_sample(const as_ns_part *part, void *row) {
    as_ns_sample *sample = row;
    sample->thread = part->place_of[sample->thread];
}

const as_ns_source as_ns_load_samples = {.table = "COMPOSITE_EVENTS",
                                         AS_NS_COLUMNS(sample_columns),
                                         .rows = offsetof(as_ns_export, samples),
                                         .take = take_sample,
                                         .settle = settle_sample};

/* The innermost frame found so far of the chain that a sample is the first of. */
typedef struct innermost {
    int64_t depth, symbol;
} innermost;

static void look_at_frames(as_scan *scan, const as_map *by_chain, innermost *frames) {
    enum { CHAIN, DEPTH, SYMBOL, N };
    while (as_scan_next(scan)) {
        int64_t cells[N];
        if (!as_ns_ints(scan, 0, N, cells) || cells[SYMBOL] == AS_NS_NULL) continue;
        uint32_t sample = as_map_get(by_chain, (uint64_t)cells[CHAIN]);
        if (sample == AS_MAP_NONE) continue;
        innermost *frame = &frames[sample];
        int64_t depth = as_ns_or(cells[DEPTH], 0);
        if (frame->symbol == AS_NS_NULL || depth < frame->depth) *frame = (innermost){depth, cells[SYMBOL]};
    }
}

static bool name_by_frames(as_ns_export *x, const as_map *by_chain, const innermost *frames) {
    as_str unknown = as_ds_intern_text(x->ds, "[unknown]");
    for (size_t i = 0; i < x->samples.count; i++) {
        as_ns_sample *sample = AS_NS_AT(as_ns_sample, x, samples, i);
        int64_t symbol = frames[as_map_get(by_chain, (uint64_t)sample->chain)].symbol;
        sample->name = symbol == AS_NS_NULL ? unknown : as_ns_string(x, symbol);
        if (sample->name == AS_NO_STR) return false;
    }
    return true;
}

assay_status as_ns_name_samples(as_ns_export *x) {
    static const char *const columns[] = {"id", "stackDepth", "symbol"};
    size_t n = x->samples.count;
    if (n == 0) return ASSAY_OK;
    as_map by_chain; /* the first sample of each chain */
    as_vec frames;
    as_map_init(&by_chain, &x->ds->budget);
    as_vec_init(&frames, sizeof(innermost), &x->ds->budget);
    bool fine = as_vec_reserve(&frames, n);
    as_map_expect(&by_chain, n);
    for (size_t i = 0; fine && i < n; i++) {
        uint64_t chain = (uint64_t)AS_NS_AT(as_ns_sample, x, samples, i)->chain;
        AS_AT(innermost, &frames, i) = (innermost){0, AS_NS_NULL};
        if (as_map_get(&by_chain, chain) == AS_MAP_NONE) fine = as_map_put(&by_chain, chain, (uint32_t)i);
    }
    assay_status status = ASSAY_OK;
    as_scan *scan = NULL;
    if (fine)
        status = as_scan_open(x->db, "SAMPLING_CALLCHAINS", columns, 3, (as_scan_range){0}, &scan, x->reader->error);
    if (scan) {
        look_at_frames(scan, &by_chain, frames.data);
        status = as_scan_close(scan, x->reader->error);
    }
    if (fine && status == ASSAY_OK) fine = name_by_frames(x, &by_chain, frames.data);
    as_map_free(&by_chain);
    as_vec_free(&frames);
    return fine ? status : as_reader_memory(x->reader);
}
