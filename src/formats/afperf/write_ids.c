/* Ids of captures that come together in one file: see write.h. Numbers that a part only refers to count like those it
 * defines: they must not become those of another part either. */
#include "formats/afperf/write.h"

#include <stdlib.h>

enum { WINDOW_BITS = 58, N_WINDOWS = 64 };

/* ---- what is an id of what --------------------------------------------------------------------------------------- */

as_af_space as_af_space_of(as_af_type type, size_t field) {
    enum { RUN = AS_AF_RUNS + 1, REGION = AS_AF_REGIONS + 1, SECTION = AS_AF_SECTIONS + 1 };
    static const uint8_t spaces[AS_AF_N_TYPES][AS_AF_MOST_FIELDS] = {
        [AS_AF_MEASUREMENT_TYPE] = {[2] = RUN},
        [AS_AF_PAUSE_RESUME] = {[3] = RUN},
        [AS_AF_REGION_AGGREGATE] = {[3] = REGION},
        [AS_AF_REGION_POINT] = {[2] = REGION},
        [AS_AF_REGION_START] = {[2] = RUN, [3] = REGION},
        [AS_AF_REGION_STOP] = {[2] = REGION},
        [AS_AF_RUN_AGGREGATE] = {[3] = RUN},
        [AS_AF_RUN_INFO] = {[5] = RUN},
        [AS_AF_RUN_POINT] = {[2] = RUN},
        [AS_AF_SECTION_AGGREGATE] = {[3] = SECTION},
        [AS_AF_SECTION_INFO] = {[2] = RUN, [3] = SECTION},
        [AS_AF_SECTION_POINT] = {[2] = SECTION},
        [AS_AF_SECTION_START] = {[2] = SECTION},
        [AS_AF_SECTION_STOP] = {[2] = SECTION},
    };
    uint8_t space = field < AS_AF_MOST_FIELDS ? spaces[type][field] : 0;
    return space ? (as_af_space)(space - 1) : AS_AF_NO_SPACE;
}

bool as_af_is_processed(const as_af_record *record) {
    size_t at = record->type == AS_AF_REGION_AGGREGATE ? 4 : record->type == AS_AF_SECTION_AGGREGATE ? 5 : SIZE_MAX;
    return at < record->n_fields && !as_af_is_blank(&record->fields[at]);
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

static void see(as_af_renumbering *ids, uint64_t id) {
    unsigned window = (unsigned)(id >> WINDOW_BITS);
    if (!(ids->is_used >> window & 1) || id > ids->largest[window]) ids->largest[window] = id;
    ids->is_used |= 1ull << window;
}

static bool replace(as_af_renumbering *ids, size_t part, as_af_space space, uint64_t id) {
    as_map *replaced = &ids->parts[part].replaced[space];
    return as_map_get(replaced, id) != AS_MAP_NONE ||
           (ids->n_new < AS_MAP_NONE - 1 && as_map_put(replaced, id, ids->n_new++));
}

/* part SIZE_MAX: what is there already. */
static bool note(as_af_renumbering *ids, size_t part, as_af_space space, uint64_t id) {
    see(ids, id);
    uint32_t owner = as_map_get(&ids->owners[space], id);
    if (part == SIZE_MAX) return owner == AS_MAP_NONE || replace(ids, owner, space, id);
    if (owner == AS_MAP_NONE) return as_map_put(&ids->owners[space], id, (uint32_t)part);
    return owner == part || replace(ids, part, space, id);
}

static bool note_record(as_af_renumbering *ids, size_t part, const as_af_record *record) {
    const as_af_layout *layout = &as_af_layouts[record->type];
    size_t omitted = as_af_omitted(record), n = record->n_fields + (omitted != 0);
    const as_af_field *field = record->fields + 1;
    for (size_t i = 1; i < n && i < layout->n_fields; i++) {
        if (i == omitted) continue;
        const as_af_field *own = field++;
        as_af_space space = as_af_space_of(record->type, i);
        uint64_t id;
        if (space == AS_AF_NO_SPACE || !as_af_integer(own, &id)) continue;
        if (!note(ids, part, space, id)) return false;
        if (as_af_is_processed(record) && !note(ids, part, AS_AF_RUNS, id)) return false;
        if (part != SIZE_MAX && record->type == AS_AF_RUN_INFO && !as_map_put(&ids->parts[part].runs, id, 0))
            return false;
    }
    return true;
}

static assay_status note_part(as_af_renumbering *ids, size_t number, const as_af_part *part, assay_error *error) {
    as_af_scanner scanner;
    as_af_record record;
    as_af_step step;
    bool fine = true;
    as_af_scan(&scanner, part->data, part->size, 0, ids->budget);
    scanner.most_fields = AS_AF_MOST_FIELDS;
    while (fine && (step = as_af_next(&scanner, &record)) == AS_AF_RECORD) {
        if (record.n_fields > AS_AF_MOST_FIELDS) record.n_fields = AS_AF_MOST_FIELDS;
        if (record.type != AS_AF_UNKNOWN && record.type != AS_AF_RESERVED) fine = note_record(ids, number, &record);
    }
    as_af_scan_end(&scanner);
    if (!fine) return as_fail_memory(error, part->name);
    return step == AS_AF_END ? ASSAY_OK : as_af_fail_scan(part, step, scanner.fault, error);
}

/* ---- new ones ---------------------------------------------------------------------------------------------------- */

/* Behind the largest one of a range that has room. */
static bool find_room(as_af_renumbering *ids) {
    uint64_t needed = (uint64_t)ids->n_new + ids->n_parts;
    for (unsigned window = 0; window < N_WINDOWS; window++) {
        uint64_t last = (uint64_t)window << WINDOW_BITS | ((1ull << WINDOW_BITS) - 1);
        uint64_t used = ids->is_used >> window & 1 ? ids->largest[window] : (uint64_t)window << WINDOW_BITS;
        if (last - used < needed) continue;
        ids->first_new = used + 1;
        return true;
    }
    return false;
}

assay_status as_af_renumber(as_af_renumbering *ids, const as_af_part *parts, size_t n, const as_af_part *existing,
                            as_budget *budget, assay_error *error) {
    *ids = (as_af_renumbering){.budget = budget, .n_parts = n, .parts = calloc(n + 1, sizeof *ids->parts)};
    if (!ids->parts) return as_fail_memory(error, NULL);
    for (int space = 0; space < AS_AF_N_SPACES; space++) {
        as_map_init(&ids->owners[space], budget);
        for (size_t i = 0; i < n; i++) as_map_init(&ids->parts[i].replaced[space], budget);
    }
    for (size_t i = 0; i < n; i++) as_map_init(&ids->parts[i].runs, budget);
    for (size_t i = 0; i < n; i++) AS_TRY(note_part(ids, i, &parts[i], error));
    if (existing) AS_TRY(note_part(ids, SIZE_MAX, existing, error));
    for (int space = 0; space < AS_AF_N_SPACES; space++) as_map_free(&ids->owners[space]);
    if (find_room(ids)) return ASSAY_OK;
    return as_fail(error, ASSAY_E_UNSUPPORTED, AS_NOWHERE, "afperf-ids",
                   "ids collide, and those of 64 bits leave no range free for new ones");
}

void as_af_renumbering_free(as_af_renumbering *ids) {
    for (int space = 0; space < AS_AF_N_SPACES; space++) {
        as_map_free(&ids->owners[space]);
        for (size_t i = 0; ids->parts && i < ids->n_parts; i++) as_map_free(&ids->parts[i].replaced[space]);
    }
    for (size_t i = 0; ids->parts && i < ids->n_parts; i++) as_map_free(&ids->parts[i].runs);
    free(ids->parts);
}

static bool find(const as_af_renumbering *ids, size_t part, as_af_space space, uint64_t id, uint64_t *out) {
    uint32_t number = as_map_get(&ids->parts[part].replaced[space], id);
    if (number == AS_MAP_NONE) return false;
    *out = ids->first_new + number;
    return true;
}

uint64_t as_af_id_of(const as_af_renumbering *ids, size_t part, as_af_space space, bool is_processed, uint64_t id) {
    uint64_t other;
    bool is_run = is_processed && as_map_get(&ids->parts[part].runs, id) != AS_MAP_NONE;
    if (find(ids, part, is_run ? AS_AF_RUNS : space, id, &other)) return other;
    return is_processed && !is_run && find(ids, part, AS_AF_RUNS, id, &other) ? other : id;
}

uint64_t as_af_id_of_nobody(const as_af_renumbering *ids, size_t part) { return ids->first_new + ids->n_new + part; }
