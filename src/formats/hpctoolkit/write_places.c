/* The profiles of a database, and their identifier tuples: as the source has them, or made from the tree of
 * locations. */
#include "formats/hpctoolkit/write_plan.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static const char *const usual_kinds[] = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                          "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
enum { KIND_RANK = 2 };

/* The number of a kind, made if new; the last one, "OTHER", where numbers are out. UINT32_MAX when memory is out. */
static uint32_t kind_number(as_hpc_plan *plan, const char *name, size_t size) {
    for (uint32_t i = 0; i < plan->kinds.count; i++) {
        const char *known = AS_AT(const char *, &plan->kinds, i);
        if (strlen(known) == size && memcmp(known, name, size) == 0) return i;
    }
    size_t most = plan->form == AS_HPC_2021 ? 1 << 14 : UINT8_MAX;
    if (plan->kinds.count == most) return (uint32_t)most - 1;
    bool is_last = plan->kinds.count == most - 1;
    const char *copy = as_arena_copy(&plan->arena, is_last ? "OTHER" : name, is_last ? strlen("OTHER") : size);
    return copy && as_vec_append(&plan->kinds, &copy, 1) ? (uint32_t)plan->kinds.count - 1 : UINT32_MAX;
}

/* ---- as the source has them -------------------------------------------------------------------------------------- */

static bool take_number(const char **at, char before, uint64_t *out) {
    as_number number;
    size_t n = 0;
    if (**at != before) return false;
    while (isdigit((unsigned char)(*at)[1 + n])) n++;
    if (!n || !as_number_parse(*at + 1, n, &number) || number.kind == AS_REAL) return false;
    *at += 1 + n;
    *out = number.u;
    return true;
}

/* What the bits of the form that was read mean in the one that is written: 2021 tells which of the ids mean something,
 * 4 whether the physical one does. */
static uint8_t translate_bits(const as_hpc_plan *plan, uint64_t bits) {
    bool was_2021 = as_hpc_is_from(plan->ds, "hpctoolkit-2021");
    enum { BOTH = 0, ONLY_LOGICAL = 3 };
    if (plan->form == AS_HPC_2021) return (uint8_t)(was_2021 ? bits & 3 : bits & 1 ? BOTH : ONLY_LOGICAL);
    return (uint8_t)(was_2021 ? bits != ONLY_LOGICAL : bits & 1);
}

/* "NODE:0:713047168 RANK:1:1", with bits "0 3" or NULL: all 0. False where it is written otherwise, or memory is
 * out. */
static bool parse_tuple(as_hpc_plan *plan, const char *tuple, const char *bits) {
    for (const char *at = tuple; *at;) {
        const char *colon = strchr(at, ':');
        as_hpc_identifier id = {0};
        uint64_t meaning = 0;
        if (!colon || colon == at) return false;
        uint32_t kind = kind_number(plan, at, (size_t)(colon - at));
        at = colon;
        if (kind == UINT32_MAX || !take_number(&at, ':', &id.logical) || !take_number(&at, ':', &id.physical))
            return false;
        if (bits && *bits) {
            while (*bits == ' ') bits++;
            while (isdigit((unsigned char)*bits)) meaning = meaning * 10 + (uint64_t)(*bits++ - '0');
        }
        id.kind = (uint16_t)kind;
        id.bits = translate_bits(plan, meaning);
        if (!as_vec_append(&plan->ids_of_places, &id, 1)) return false;
        if (*at == ' ') at++;
    }
    return true;
}

/* ---- from the tree ----------------------------------------------------------------------------------------------- */

/* What a kind of location is called in tuples, made in `name` where it has no word of its own; NULL: it is left out. */
static const char *tuple_kind(const char *kind, char name[64]) {
    static const struct {
        const char *kind, *name;
    } known[] = {{"machine", NULL},
                 {"process", "RANK"},
                 {"node", "NODE"},
                 {"thread", "THREAD"},
                 {"device", "GPUDEVICE"},
                 {"stream", "GPUSTREAM"},
                 {"gpu", "GPUSTREAM"},
                 {"CPU thread", "THREAD"},
                 {"GPU", "GPUSTREAM"},
                 {"accelerator", "GPUDEVICE"},
                 {"accelerator stream", "GPUSTREAM"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].kind, kind) == 0) return known[i].name;
    }
    size_t n = 0;
    for (; n < 63 && kind[n]; n++) {
        unsigned char c = (unsigned char)kind[n];
        name[n] = (char)(isalnum(c) ? toupper(c) : '_');
    }
    name[n] = '\0';
    return n ? name : NULL;
}

/* For each location how many of its parent and kind come before it: the logical id, where there is no rank. */
static uint32_t *count_siblings(const as_hpc_plan *plan) {
    size_t n = plan->ds->locations.count;
    uint32_t *index = calloc(n + 1, sizeof *index);
    as_map next;
    as_map_init(&next, NULL);
    bool fine = index;
    for (assay_id i = 0; fine && i < n; i++) {
        const as_location *location = as_ds_location(plan->ds, i);
        uint64_t key = as_pair(location->parent, location->kind);
        uint32_t before = as_map_get(&next, key);
        index[i] = before == AS_MAP_NONE ? 0 : before;
        fine = as_map_put(&next, key, index[i] + 1);
    }
    as_map_free(&next);
    if (fine) return index;
    free(index);
    return NULL;
}

/* The number that a device or stream has in the program, "stream 13": its physical id. */
static bool number_in_name(const as_dataset *ds, const as_location *location, const char *tuple_kind, uint64_t *out) {
    const char *name = as_ds_text(ds, location->name), *kind = as_ds_text(ds, location->kind);
    size_t n = kind && name ? strlen(kind) : 0;
    if (strncmp(tuple_kind, "GPU", 3) != 0 || !n || strncmp(name, kind, n) != 0) return false;
    name += n;
    return take_number(&name, ' ', out);
}

static bool make_tuple(as_hpc_plan *plan, assay_id leaf, const uint32_t *index) {
    enum { MAX_LEVELS = 64 };
    const as_dataset *ds = plan->ds;
    assay_id chain[MAX_LEVELS];
    size_t n = 0;
    for (assay_id at = leaf; at < ds->locations.count && n < MAX_LEVELS; at = as_ds_location(ds, at)->parent)
        chain[n++] = at;
    while (n--) {
        const as_location *location = as_ds_location(ds, chain[n]);
        const char *kind = as_ds_text(ds, location->kind);
        char upper[64];
        const char *name = tuple_kind(kind ? kind : "place", upper);
        if (!name) continue;
        uint32_t number = kind_number(plan, name, strlen(name));
        if (number == UINT32_MAX) return false;
        as_hpc_identifier id = {.kind = (uint16_t)number, .bits = plan->form == AS_HPC_2021 ? 3 : 0};
        bool has_rank = number == KIND_RANK && location->rank >= 0;
        id.logical = id.physical = has_rank ? (uint64_t)location->rank : index[chain[n]];
        if (number_in_name(ds, location, name, &id.physical)) id.bits = plan->form == AS_HPC_2021 ? 0 : 1;
        if (!as_vec_append(&plan->ids_of_places, &id, 1)) return false;
    }
    return true;
}

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

static bool add_profile(as_hpc_plan *plan, assay_id location, const uint32_t *index) {
    as_hpc_planned_profile profile = {.location = location, .first_id = (uint32_t)plan->ids_of_places.count};
    const char *tuple = plan->kept.tuple[location];
    if (!tuple || !parse_tuple(plan, tuple, plan->kept.tuple_bits[location])) {
        plan->ids_of_places.count = profile.first_id;
        if (!make_tuple(plan, location, index)) return false;
    }
    profile.n_ids = (uint32_t)plan->ids_of_places.count - profile.first_id;
    plan->profile_of_location[location] = (uint32_t)plan->profiles.count;
    return as_vec_append(&plan->profiles, &profile, 1);
}

/* Values without a place are RANK 0's, unless there are places: then they have an empty tuple. */
static bool add_placeless(as_hpc_plan *plan) {
    as_hpc_planned_profile profile = {.location = ASSAY_NONE, .first_id = (uint32_t)plan->ids_of_places.count};
    as_hpc_identifier id = {.kind = KIND_RANK, .bits = plan->form == AS_HPC_2021 ? 3 : 0};
    profile.n_ids = plan->profiles.count ? 0 : 1;
    plan->placeless_profile = (uint32_t)plan->profiles.count;
    return (!profile.n_ids || as_vec_append(&plan->ids_of_places, &id, 1)) &&
           as_vec_append(&plan->profiles, &profile, 1);
}

/* Marks the locations that have values of this run, and whether some have no place. */
static void find_used(const as_hpc_plan *plan, bool *used, bool *is_placeless) {
    const as_dataset *ds = plan->ds;
    for (size_t i = 0; i < ds->profiles.count; i++) {
        const as_profile *profile = &AS_AT(as_profile, &ds->profiles, i);
        if (profile->run != plan->run || !as_hpc_can_write(ds, profile->metric)) continue;
        if (!profile->columns) *is_placeless = true;
        for (uint32_t k = 0; profile->columns && k < profile->n_columns; k++) {
            if (profile->columns[k] < ds->locations.count) used[profile->columns[k]] = true;
        }
    }
    for (size_t i = 0; i < ds->blocks.count; i++) {
        const as_block *block = as_ds_block(ds, i);
        if (!block->locations) *is_placeless = true;
        for (uint64_t row = 0; block->locations && row < as_block_rows(block); row++) {
            if (block->locations[row] < ds->locations.count)
                used[block->locations[row]] = true;
            else
                *is_placeless = true;
        }
    }
}

assay_status as_hpc_plan_places(as_hpc_plan *plan) {
    const as_dataset *ds = plan->ds;
    size_t n = ds->locations.count;
    bool is_placeless = false;
    bool fine = as_vec_append(&plan->kinds, usual_kinds, sizeof usual_kinds / sizeof *usual_kinds);
    plan->profile_of_location = as_arena_array(&plan->arena, n + 1, sizeof *plan->profile_of_location);
    bool *used = calloc(n + 1, sizeof *used);
    uint32_t *index = count_siblings(plan);
    fine = fine && plan->profile_of_location && used && index;
    if (fine) {
        memset(plan->profile_of_location, 0xff, (n + 1) * sizeof *plan->profile_of_location);
        find_used(plan, used, &is_placeless);
    }
    for (assay_id i = 0; i < n && fine; i++) {
        if (used[i] || (ds->runs.count == 1 && as_ds_location(ds, i)->leaf)) fine = add_profile(plan, i, index);
    }
    if (fine && (is_placeless || !plan->profiles.count)) fine = add_placeless(plan);
    free(used);
    free(index);
    return fine ? ASSAY_OK : as_fail_memory(plan->error, NULL);
}
