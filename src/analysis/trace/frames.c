/* Which frame stands for a context at a depth, and which frames are one procedure; which depth to choose. */
#include <math.h>
#include <stdlib.h>

#include "analysis/trace/trace.h"

/* Contexts that are no steps of a call path: processes and threads, which are places; and those that are a path of
 * their own wherever they stand, because they run elsewhere (on a GPU) or beside the others. */
enum { N_PLACES = 2, N_ALONE = 5 };
typedef struct frame_kinds {
    as_str root, places[N_PLACES], alone[N_ALONE];
} frame_kinds;

static frame_kinds find_kinds(const as_dataset *ds) {
    static const char *const places[N_PLACES] = {"process", "thread"}, *const alone[N_ALONE] = {"kernel", "memcpy",
                                                                                                "memset", "graph",
                                                                                                "osrt"};
    frame_kinds kinds = {.root = as_find(&ds->strings, "root", 4)};
    for (size_t i = 0; i < N_PLACES; i++) kinds.places[i] = as_find(&ds->strings, places[i], strlen(places[i]));
    for (size_t i = 0; i < N_ALONE; i++) kinds.alone[i] = as_find(&ds->strings, alone[i], strlen(alone[i]));
    return kinds;
}

static bool is_among(as_str kind, const as_str *kinds, size_t n) {
    size_t i = 0;
    while (i < n && kinds[i] != kind) i++;
    return i < n && kind != AS_NO_STR;
}

/* Whether a context that is no root counts as a step down the call path. is_outermost: there is no frame above that it
 * could belong to. */
static bool is_frame(const as_context *context, bool is_outermost, bool all_contexts) {
    return all_contexts || context->role == AS_ROLE_CALL || (is_outermost && context->role != AS_ROLE_CALL_SITE);
}

static uint32_t number_of(const as_dataset *ds, assay_id id, as_map *numbers, as_frames *out) {
    as_str name = as_ds_context(ds, id)->name;
    uint64_t key = name == AS_NO_STR ? UINT64_MAX - 1 : name;
    uint32_t number = as_map_get(numbers, key);
    if (number != AS_MAP_NONE) return number;
    number = (uint32_t)out->n_procedures;
    if (!as_map_put(numbers, key, number)) return AS_MAP_NONE;
    const char *text = as_ds_text(ds, name);
    out->procedures[out->n_procedures++] = (as_procedure){.name = text ? text : "", .context = id};
    return number;
}

size_t as_cells_without_alone(const as_dataset *ds, assay_id *cells, size_t n) {
    frame_kinds kinds = find_kinds(ds);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        assay_id region = cells[i] < AS_COUNT(ds, contexts) ? as_ds_context(ds, cells[i])->region : ASSAY_NONE;
        bool is_alone = region != ASSAY_NONE && is_among(as_ds_region(ds, region)->kind, kinds.alone, N_ALONE);
        if (!is_alone) cells[kept++] = cells[i];
    }
    return kept;
}

/* A context that is named like one of those that are always there is the same. */
static bool know_names(const as_dataset *ds, as_map *numbers, as_frames *out) {
    static const char *const names[] = {[AS_PROCEDURE_IDLE] = "<no activity>",
                                        [AS_PROCEDURE_UNKNOWN] = "<unknown>",
                                        [AS_PROCEDURE_PAUSED] = "<paused>"};
    for (uint32_t i = 0; i < AS_FIRST_PROCEDURE; i++) {
        as_str name = as_find(&ds->strings, names[i], strlen(names[i]));
        out->procedures[i] = (as_procedure){.name = names[i], .context = ASSAY_NONE};
        if (name != AS_NO_STR && !as_map_put(numbers, name, i)) return false;
    }
    out->n_procedures = AS_FIRST_PROCEDURE;
    return true;
}

/* Parents come before their children: one pass. */
static bool number_all(const as_dataset *ds, bool all_contexts, as_map *numbers, as_frames *out) {
    uint32_t *levels = out->levels;
    frame_kinds kinds = find_kinds(ds);
    if (!know_names(ds, numbers, out)) return false;
    for (assay_id id = 0; id < out->n_contexts; id++) {
        const as_context *context = as_ds_context(ds, id);
        bool has_parent = context->parent != ASSAY_NONE;
        levels[id] = has_parent ? levels[context->parent] : 0;
        out->procedure_of[id] = has_parent ? out->procedure_of[context->parent] : AS_PROCEDURE_IDLE;
        as_str kind = context->region == ASSAY_NONE ? AS_NO_STR : as_ds_region(ds, context->region)->kind;
        bool is_root = !has_parent && kind == kinds.root && kind != AS_NO_STR;
        if (is_root || is_among(kind, kinds.places, N_PLACES)) continue;
        if (is_among(kind, kinds.alone, N_ALONE)) levels[id] = 0;
        if (!is_frame(context, levels[id] == 0, all_contexts)) continue;
        if (++levels[id] > out->deepest) out->deepest = levels[id];
        if (levels[id] > out->depth) continue;
        out->procedure_of[id] = number_of(ds, id, numbers, out);
        if (out->procedure_of[id] == AS_MAP_NONE) return false;
    }
    return true;
}

assay_status as_frames_at(const as_dataset *ds, uint32_t depth, bool all_contexts, as_frames *out, assay_error *error) {
    size_t n = AS_COUNT(ds, contexts);
    *out = (as_frames){.depth = depth, .n_contexts = n};
    as_map numbers;
    as_map_init(&numbers, as_ds_budget(ds));
    out->levels = malloc((n + 1) * sizeof *out->levels);
    out->procedure_of = malloc((n + 1) * sizeof *out->procedure_of);
    out->procedures = malloc((n + AS_FIRST_PROCEDURE) * sizeof *out->procedures);
    bool fine = out->levels && out->procedure_of && out->procedures && number_all(ds, all_contexts, &numbers, out);
    as_map_free(&numbers);
    return fine ? ASSAY_OK : as_fail_memory(error, NULL);
}

bool as_frames_add_names(as_frames *frames, const as_dataset *ds, const as_str *names, size_t n) {
    as_map known; /* the address of a name, which is interned -> procedure */
    as_map_init(&known, as_ds_budget(ds));
    as_procedure *procedures = realloc(frames->procedures, (frames->n_procedures + n + 1) * sizeof *procedures);
    if (procedures) frames->procedures = procedures;
    frames->procedure_of_name = malloc((n + 1) * sizeof *frames->procedure_of_name);
    bool fine = procedures && frames->procedure_of_name;
    for (uint32_t i = 0; fine && i < frames->n_procedures; i++)
        fine = as_map_put(&known, (uintptr_t)frames->procedures[i].name, i);
    for (size_t i = 0; fine && i < n; i++) {
        const char *name = as_ds_text(ds, names[i]);
        uint32_t number = as_map_get(&known, (uintptr_t)name);
        if (number == AS_MAP_NONE) {
            number = (uint32_t)frames->n_procedures++;
            frames->procedures[number] = (as_procedure){name, (assay_id)(frames->n_contexts + i)};
            fine = as_map_put(&known, (uintptr_t)name, number);
        }
        frames->procedure_of_name[i] = number;
    }
    as_map_free(&known);
    if (fine) frames->n_names = n;
    return fine;
}

void as_frames_free(as_frames *frames) {
    free(frames->procedure_of_name);
    free(frames->procedure_of);
    free(frames->levels);
    free(frames->procedures);
    *frames = (as_frames){0};
}

/* ---- which depth ------------------------------------------------------------------------------------------------- */

/* How many procedures of equal weight would tell as much: 2 to the power of the entropy. Idle time and pauses tell
 * nothing. */
static double weight_of(const as_frames *frames, const assay_id *cells, size_t n, uint64_t *counts) {
    uint64_t total = 0;
    double entropy = 0;
    memset(counts, 0, frames->n_procedures * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        uint32_t procedure = as_procedure_of(frames, cells[i]);
        if (procedure == AS_NO_PROCEDURE || procedure == AS_PROCEDURE_IDLE || procedure == AS_PROCEDURE_PAUSED)
            continue;
        counts[procedure]++;
        total++;
    }
    for (size_t i = 0; i < frames->n_procedures; i++) {
        double share = total ? (double)counts[i] / (double)total : 0;
        if (share > 0) entropy -= share * log2(share);
    }
    return exp2(entropy);
}

assay_status as_trace_telling_depth(const as_dataset *ds, const assay_id *cells, size_t n_cells, bool all_contexts,
                                    uint32_t *depth, assay_error *error) {
    enum { MOST_DEPTHS = 64 }; /* deeper ones show no more of a program's structure */
    const double enough = 4, nearly = 0.75, dull = 1.05;
    double weights[MOST_DEPTHS + 1] = {0}, largest = 0;
    uint32_t last = 1;
    uint64_t *counts = malloc((AS_COUNT(ds, contexts) + AS_FIRST_PROCEDURE) * sizeof *counts);
    if (!counts) return as_fail_memory(error, NULL);
    assay_status status = ASSAY_OK;
    for (uint32_t d = 1; d <= last && status == ASSAY_OK; d++) {
        as_frames frames;
        status = as_frames_at(ds, d, all_contexts, &frames, error);
        if (status == ASSAY_OK) {
            weights[d] = weight_of(&frames, cells, n_cells, counts);
            last = frames.deepest < MOST_DEPTHS ? frames.deepest : MOST_DEPTHS;
            if (weights[d] > largest) largest = weights[d];
        }
        as_frames_free(&frames);
        if (largest * nearly >= enough) break;
    }
    free(counts);
    if (largest < dull) { /* one procedure, wherever one looks: then at least the innermost */
        *depth = last;
        return status;
    }
    double wanted = largest * nearly < enough ? largest * nearly : enough;
    *depth = 1;
    while (*depth < MOST_DEPTHS && *depth < last && weights[*depth] < wanted) ++*depth;
    return status;
}
