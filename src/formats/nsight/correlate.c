/* Which call caused which activity, by the numbers that CUPTI gave both. */
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/nsight/load.h"

/* ---- calls by their numbers -------------------------------------------------------------------------------------- */

typedef struct numbered {
    int64_t correlation;
    uint32_t call;
} numbered;

/* The calls of a process (or of all) by correlation. Numbers are handed out one after the other, so that a table of all
 * that could be is hardly larger than the calls; where it would be, they are sorted. */
typedef struct call_numbers {
    uint64_t n;
    int64_t least, greatest;
    size_t span;       /* of the table; 0: sorted */
    uint32_t *table;   /* call + 1 of correlation least + i */
    numbered *entries; /* ascending, equal ones in the order of the file */
    size_t n_entries;
} call_numbers;

typedef struct correlating {
    as_ns_export *x;
    as_vec processes;  /* call_numbers, one for each */
    call_numbers all;  /* for activities that name no process */
    uint32_t nameless; /* process of the calls that name none; AS_NS_NONE: all do */
    as_vec is_many;    /* bool, for each call: another process has one of its number, too. Empty: nobody asks */
} correlating;

static uint32_t process_of(const as_ns_export *x, const as_ns_call *call) {
    return AS_NS_AT(as_ns_thread, x, threads, call->thread)->process;
}

static call_numbers *numbers_of(const correlating *c, uint32_t process) {
    return &AS_AT(call_numbers, &c->processes, process);
}

static void note(call_numbers *numbers, int64_t correlation) {
    if (!numbers->n || correlation < numbers->least) numbers->least = correlation;
    if (!numbers->n || correlation > numbers->greatest) numbers->greatest = correlation;
    numbers->n++;
}

static bool make_room(call_numbers *numbers, as_budget *budget) {
    enum { SPARSENESS = 8 };
    if (!numbers->n) return true;
    uint64_t span = (uint64_t)numbers->greatest - (uint64_t)numbers->least;
    numbers->span = span < numbers->n * SPARSENESS ? (size_t)span + 1 : 0;
    size_t bytes = numbers->span ? numbers->span * sizeof *numbers->table : numbers->n * sizeof *numbers->entries;
    if (!as_budget_take(budget, bytes)) return false;
    void *memory = calloc(1, bytes);
    if (!memory) {
        as_budget_give(budget, bytes);
        return false;
    }
    if (numbers->span)
        numbers->table = memory;
    else
        numbers->entries = memory;
    return true;
}

static void numbers_free(call_numbers *numbers, as_budget *budget) {
    if (numbers->table) as_budget_give(budget, numbers->span * sizeof *numbers->table);
    if (numbers->entries) as_budget_give(budget, numbers->n * sizeof *numbers->entries);
    free(numbers->table);
    free(numbers->entries);
    *numbers = (call_numbers){0};
}

/* Into the table, or to the entries to be sorted; gives the call that has its place in the table already, or
 * AS_NS_NONE. */
static uint32_t enter(call_numbers *numbers, int64_t correlation, uint32_t call) {
    if (!numbers->span) {
        numbers->entries[numbers->n_entries++] = (numbered){correlation, call};
        return AS_NS_NONE;
    }
    uint32_t *slot = &numbers->table[(uint64_t)correlation - (uint64_t)numbers->least];
    if (*slot) return *slot - 1;
    *slot = call + 1;
    return AS_NS_NONE;
}

static int compare_numbered(const void *a, const void *b) {
    const numbered *p = a, *q = b;
    if (p->correlation != q->correlation) return p->correlation < q->correlation ? -1 : 1;
    return p->call < q->call ? -1 : p->call > q->call;
}

/* The first call of this number. */
static uint32_t find_call(const call_numbers *numbers, int64_t correlation) {
    if (!numbers->n || correlation < numbers->least || correlation > numbers->greatest) return AS_NS_NONE;
    if (numbers->span) return numbers->table[(uint64_t)correlation - (uint64_t)numbers->least] - 1;
    size_t low = 0, high = numbers->n_entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers->entries[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < numbers->n_entries && numbers->entries[low].correlation == correlation ? numbers->entries[low].call
                                                                                        : AS_NS_NONE;
}

/* ---- calls that are there twice ---------------------------------------------------------------------------------- */

/* Two rows of one call, of which the one with a chain counts, at the place of the first. */
static void merge_calls(as_ns_export *x, uint32_t first, uint32_t second) {
    as_ns_call *kept = AS_NS_AT(as_ns_call, x, calls, first), *other = AS_NS_AT(as_ns_call, x, calls, second);
    if (kept->chain == AS_NS_NONE && other->chain != AS_NS_NONE) *kept = *other;
    other->thread = AS_NS_NONE; /* it goes */
}

static void merge_sorted(as_ns_export *x, call_numbers *numbers) {
    if (numbers->span || !numbers->n_entries) return;
    qsort(numbers->entries, numbers->n_entries, sizeof *numbers->entries, compare_numbered);
    for (size_t i = 1, first = 0; i < numbers->n_entries; i++) {
        if (numbers->entries[i].correlation != numbers->entries[first].correlation)
            first = i;
        else
            merge_calls(x, numbers->entries[first].call, numbers->entries[i].call);
    }
}

static void drop_merged(as_ns_export *x) {
    size_t kept = 0;
    for (size_t i = 0; i < x->calls.count; i++) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        if (call->thread == AS_NS_NONE) continue;
        if (kept != i) *AS_NS_AT(as_ns_call, x, calls, kept) = *call;
        kept++;
    }
    x->calls.count = kept;
    as_vec_shrink(&x->calls);
}

/* Numbers all calls; *n_merged: how many of them are others once more, and are marked as such. */
static bool number_calls(correlating *c, size_t *n_merged) {
    as_ns_export *x = c->x;
    as_budget *budget = &x->ds->budget;
    size_t n_processes = x->processes.count;
    *n_merged = 0;
    for (uint32_t i = 0; i < n_processes; i++) numbers_free(numbers_of(c, i), budget);
    for (size_t i = 0; i < x->calls.count; i++) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        if (call->correlation) note(numbers_of(c, process_of(x, call)), call->correlation);
    }
    for (uint32_t i = 0; i < n_processes; i++) {
        if (!make_room(numbers_of(c, i), budget)) return false;
    }
    for (size_t i = 0; i < x->calls.count; i++) {
        const as_ns_call *call = AS_NS_AT(as_ns_call, x, calls, i);
        if (!call->correlation) continue;
        uint32_t first = enter(numbers_of(c, process_of(x, call)), call->correlation, (uint32_t)i);
        if (first != AS_NS_NONE) merge_calls(x, first, (uint32_t)i);
    }
    for (uint32_t i = 0; i < n_processes; i++) merge_sorted(x, numbers_of(c, i));
    for (size_t i = 0; i < x->calls.count; i++) *n_merged += AS_NS_AT(as_ns_call, x, calls, i)->thread == AS_NS_NONE;
    return true;
}

/* For activities that do not say of which process they are. */
static bool number_all(correlating *c) {
    as_ns_export *x = c->x;
    for (size_t i = 0; i < x->calls.count; i++) {
        int64_t correlation = AS_NS_AT(as_ns_call, x, calls, i)->correlation;
        if (correlation) note(&c->all, correlation);
    }
    if (!as_ns_zeros(&c->is_many, x->calls.count) || !make_room(&c->all, &x->ds->budget)) return false;
    for (size_t i = 0; i < x->calls.count; i++) {
        int64_t correlation = AS_NS_AT(as_ns_call, x, calls, i)->correlation;
        if (!correlation) continue;
        uint32_t first = enter(&c->all, correlation, (uint32_t)i);
        if (first != AS_NS_NONE) AS_AT(bool, &c->is_many, first) = true;
    }
    if (c->all.n_entries) qsort(c->all.entries, c->all.n_entries, sizeof *c->all.entries, compare_numbered);
    for (size_t i = 1; i < c->all.n_entries; i++) {
        const numbered *entry = &c->all.entries[i];
        AS_AT(bool, &c->is_many, entry[-1].call) |= entry[-1].correlation == entry->correlation;
    }
    return true;
}

/* ---- activities -------------------------------------------------------------------------------------------------- */

typedef struct piece {
    const correlating *c;
    const as_vec *rows;
    bool is_sync;
    size_t first, end;
    uint64_t n_no_call, n_many;
} piece;

static bool has_name(const correlating *c, uint32_t process) { return process != AS_NS_NONE && process != c->nameless; }

/* The process counts where both sides name one. */
static uint32_t call_of(const correlating *c, uint32_t process, int64_t correlation, piece *counts) {
    if (!correlation) return AS_NS_NONE;
    bool is_named = has_name(c, process);
    uint32_t call = find_call(is_named ? numbers_of(c, process) : &c->all, correlation);
    if (call == AS_NS_NONE && is_named && c->nameless != AS_NS_NONE)
        call = find_call(numbers_of(c, c->nameless), correlation);
    if (call == AS_NS_NONE)
        counts->n_no_call++;
    else if (!is_named)
        counts->n_many += AS_AT(bool, &c->is_many, call);
    return call;
}

static void correlate_piece(void *user, size_t i) {
    piece *p = &((piece *)user)[i];
    const as_ns_export *x = p->c->x;
    for (size_t k = p->first; k < p->end; k++) {
        if (p->is_sync) {
            as_ns_sync *sync = &AS_AT(as_ns_sync, p->rows, k);
            sync->call = call_of(p->c, sync->process, sync->correlation, p);
        } else {
            as_ns_activity *activity = &AS_AT(as_ns_activity, p->rows, k);
            uint32_t process = AS_NS_AT(as_ns_stream, x, streams, activity->stream)->process;
            activity->call = call_of(p->c, process, activity->correlation, p);
        }
    }
}

static bool correlate_activities(correlating *c) {
    enum { PIECE = 1 << 18 };
    as_ns_export *x = c->x;
    as_vec *const tables[] = {&x->kernels, &x->copies, &x->sets, &x->graphs, &x->syncs};
    as_vec pieces;
    as_vec_init(&pieces, sizeof(piece), &x->ds->budget);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (size_t first = 0; first < tables[i]->count; first += PIECE) {
            piece *p = as_vec_push(&pieces);
            if (!p) {
                as_vec_free(&pieces);
                return false;
            }
            size_t end = tables[i]->count - first < PIECE ? tables[i]->count : first + PIECE;
            *p = (piece){.c = c, .rows = tables[i], .is_sync = tables[i] == &x->syncs, .first = first, .end = end};
        }
    }
    as_parallel(pieces.count, x->reader->threads, correlate_piece, pieces.data);
    for (size_t i = 0; i < pieces.count; i++) {
        x->n_no_call += AS_AT(piece, &pieces, i).n_no_call;
        x->n_many_calls += AS_AT(piece, &pieces, i).n_many;
    }
    as_vec_free(&pieces);
    return true;
}

static bool needs_all(const correlating *c) {
    const as_ns_export *x = c->x;
    for (size_t i = 0; i < x->streams.count; i++) {
        if (!has_name(c, AS_NS_AT(as_ns_stream, x, streams, i)->process)) return true;
    }
    for (size_t i = 0; i < x->syncs.count; i++) {
        if (!has_name(c, AS_NS_AT(as_ns_sync, x, syncs, i)->process)) return true;
    }
    return false;
}

/* That of NULL and 0. */
static uint32_t find_nameless(const as_ns_export *x) {
    for (uint32_t i = 0; i < x->processes.count; i++) {
        if (AS_NS_AT(as_ns_process, x, processes, i)->global_pid == 0) return i;
    }
    return AS_NS_NONE;
}

static bool correlate_all(correlating *c) {
    as_ns_export *x = c->x;
    size_t n_merged;
    if (!as_ns_zeros(&c->processes, x->processes.count) || !number_calls(c, &n_merged)) return false;
    if (n_merged) {
        drop_merged(x);
        if (!number_calls(c, &n_merged)) return false;
    }
    return (!needs_all(c) || number_all(c)) && correlate_activities(c);
}

/* ---- names of waits ---------------------------------------------------------------------------------------------- */

/* ENUM_CUPTI_SYNC_TYPE: the last words of CUPTI's names. */
static assay_status read_types(as_ns_export *x, as_map *types) {
    static const char *const columns[] = {"id", "name"};
    static const char prefix[] = "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_";
    as_scan *scan;
    AS_TRY(as_scan_open(x->db, "ENUM_CUPTI_SYNC_TYPE", columns, 2, (as_scan_range){0}, &scan, x->reader->error));
    bool fine = true;
    while (fine && as_scan_next(scan)) {
        size_t size;
        if (as_scan_type_of(scan, 0) != AS_SCAN_INT || as_scan_type_of(scan, 1) != AS_SCAN_TEXT) continue;
        const char *text = as_scan_text(scan, 1, &size);
        size_t skipped =
            size > sizeof prefix - 1 && memcmp(text, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
        as_str name = as_ns_fit_name(x, text + skipped, size - skipped, false);
        fine = name != AS_NO_STR && as_map_put(types, (uint64_t)as_scan_int(scan, 0), name);
    }
    assay_status status = as_scan_close(scan, x->reader->error);
    return fine ? status : as_reader_memory(x->reader);
}

static const char *type_by_call(const char *call) {
    static const char *const words[][2] = {{"DeviceSynchronize", "CONTEXT_SYNCHRONIZE"},
                                           {"CtxSynchronize", "CONTEXT_SYNCHRONIZE"},
                                           {"EventSynchronize", "EVENT_SYNCHRONIZE"},
                                           {"StreamSynchronize", "STREAM_SYNCHRONIZE"},
                                           {"StreamWaitEvent", "STREAM_WAIT_EVENT"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(call, words[i][0])) return words[i][1];
    }
    return NULL;
}

static const char *type_by_number(uint32_t type, char buffer[40]) {
    static const char *const names[] = {"UNKNOWN", "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT", "STREAM_SYNCHRONIZE",
                                        "CONTEXT_SYNCHRONIZE"};
    if (type < sizeof names / sizeof *names) return names[type];
    snprintf(buffer, 40, "UNKNOWN_SYNC_TYPE_%u", type);
    return buffer;
}

static bool name_syncs(as_ns_export *x, const as_map *types) {
    char buffer[40];
    for (size_t i = 0; i < x->syncs.count; i++) {
        as_ns_sync *sync = AS_NS_AT(as_ns_sync, x, syncs, i);
        uint32_t type = sync->name, known = as_map_get(types, type);
        const char *name = NULL;
        if (known == AS_MAP_NONE && sync->call != AS_NS_NONE)
            name = type_by_call(as_ds_text(x->ds, AS_NS_AT(as_ns_call, x, calls, sync->call)->name));
        sync->has_sure_name = known != AS_MAP_NONE || name;
        if (!name) name = type_by_number(type, buffer);
        sync->name = known != AS_MAP_NONE ? known : as_ds_intern_text(x->ds, name);
        if (sync->name == AS_NO_STR) return false;
    }
    return true;
}

assay_status as_ns_correlate(as_ns_export *x) {
    as_budget *budget = &x->ds->budget;
    correlating c = {.x = x, .nameless = find_nameless(x)};
    as_vec_init(&c.processes, sizeof(call_numbers), budget);
    as_vec_init(&c.is_many, sizeof(bool), budget);
    bool fine = correlate_all(&c);
    for (uint32_t i = 0; i < c.processes.count; i++) numbers_free(numbers_of(&c, i), budget);
    numbers_free(&c.all, budget);
    as_vec_free(&c.processes);
    as_vec_free(&c.is_many);
    if (!fine) return as_reader_memory(x->reader);
    as_map types;
    as_map_init(&types, budget);
    assay_status status = read_types(x, &types);
    if (status == ASSAY_OK && !name_syncs(x, &types)) status = as_reader_memory(x->reader);
    as_map_free(&types);
    return status;
}
