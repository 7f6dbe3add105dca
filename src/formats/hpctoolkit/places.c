/* Id tuples of profiles, and the tree of locations they make. */
#include "formats/hpctoolkit/private.h"

/* Tuples name the levels of a machine: there are less than ten kinds of them. */
enum { MOST_ELEMENTS = 64, SHARED_TUPLES = 1 << 20 };
enum { KIND_SIZE = 64 };

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static as_str lower_case(as_dataset *ds, const char *kind) {
    char text[KIND_SIZE];
    size_t n = strlen(kind);
    if (n >= sizeof text) return as_ds_intern_text(ds, kind);
    for (size_t i = 0; i <= n; i++) text[i] = kind[i] >= 'A' && kind[i] <= 'Z' ? (char)(kind[i] - 'A' + 'a') : kind[i];
    return as_ds_intern(ds, text, n);
}

/* "rank 3" */
static as_str name_of(as_dataset *ds, as_str kind, uint64_t number) {
    char digits[AS_NUMBER_SIZE], text[KIND_SIZE + AS_NUMBER_SIZE];
    size_t size = as_str_size(&ds->strings, kind), n = as_uint_format(number, digits);
    if (size >= KIND_SIZE) return kind;
    memcpy(text, as_ds_text(ds, kind), size);
    text[size] = ' ';
    memcpy(text + size + 1, digits, n);
    return as_ds_intern(ds, text, size + 1 + n);
}

/* A location for one element. source_id AS_NO_STR: an inner one. */
static assay_id add_location(as_dataset *ds, assay_id parent, as_str kind, const as_hpc_place *place, int64_t rank,
                             as_str source_id) {
    as_location location = AS_LOCATION_INIT;
    location.kind = kind;
    location.name = name_of(ds, kind, place->logical);
    location.parent = parent;
    location.rank = rank;
    location.source_id = source_id;
    location.leaf = source_id != AS_NO_STR;
    return location.name == AS_NO_STR ? ASSAY_NONE : as_add_location(ds, &location);
}

/* What two elements have in common that are the same location. */
typedef struct identity {
    uint64_t logical, physical;
    assay_id parent;
    as_str kind;
} identity;

typedef struct known_place {
    identity is;
    assay_id location;
} known_place;

/* The location of an inner element, made if it is new. */
static assay_id find_inner(as_dataset *ds, as_hpc_places *places, assay_id parent, as_str kind,
                           const as_hpc_place *place, int64_t rank) {
    identity is = {.logical = place->logical, .physical = place->physical, .parent = parent, .kind = kind};
    uint64_t key = as_hash(&is, sizeof is);
    for (uint32_t i; (i = as_map_get(&places->known, key)) != AS_MAP_NONE; key++) {
        const known_place *known = &AS_AT(known_place, &places->list, i);
        if (memcmp(&known->is, &is, sizeof is) == 0) return known->location;
    }
    known_place added = {.is = is, .location = add_location(ds, parent, kind, place, rank, AS_NO_STR)};
    uint32_t i = (uint32_t)places->list.count;
    bool is_fine =
        added.location != ASSAY_NONE && as_vec_append(&places->list, &added, 1) && as_map_put(&places->known, key, i);
    return is_fine ? added.location : ASSAY_NONE;
}

/* "NODE:0:713047168 RANK:1:1", and "0 3" of the bits, where any are set. */
static bool add_attributes(as_dataset *ds, as_hpc_places *places, assay_id leaf, const as_hpc_place *tuple, size_t n) {
    as_vec *text = &places->text;
    unsigned any = 0;
    bool is_fine = true;
    text->count = 0;
    for (size_t i = 0; i < n; i++) {
        char logical[AS_NUMBER_SIZE], physical[AS_NUMBER_SIZE];
        as_uint_format(tuple[i].logical, logical);
        as_uint_format(tuple[i].physical, physical);
        is_fine = is_fine && as_vec_text(text, i ? " " : "") && as_vec_text(text, tuple[i].kind) &&
                  as_vec_text(text, ":") && as_vec_text(text, logical) && as_vec_text(text, ":") &&
                  as_vec_text(text, physical);
        any |= tuple[i].bits;
    }
    is_fine = is_fine && as_add_attribute(ds, AS_OWNER_LOCATION, leaf, "id_tuple",
                                          as_cell_text_n(text->count ? text->data : "", text->count));
    if (!any || !is_fine) return is_fine;
    text->count = 0;
    for (size_t i = 0; i < n; i++) {
        char bits[AS_NUMBER_SIZE];
        as_uint_format(tuple[i].bits, bits);
        is_fine = is_fine && as_vec_text(text, i ? " " : "") && as_vec_text(text, bits);
    }
    return is_fine &&
           as_add_attribute(ds, AS_OWNER_LOCATION, leaf, "id_tuple_bits", as_cell_text_n(text->data, text->count));
}

assay_id as_hpc_add_leaf(as_dataset *ds, as_hpc_places *places, const as_hpc_place *tuple, size_t n, as_str source_id) {
    static const as_hpc_place none = {.kind = "profile"};
    assay_id parent = ASSAY_NONE;
    int64_t rank = -1;
    if (!places->list.size) {
        as_map_init(&places->known, &ds->budget);
        as_vec_init(&places->list, sizeof(known_place), &ds->budget);
        as_vec_init(&places->text, 1, &ds->budget);
    }
    for (size_t i = 0; i < n; i++) {
        as_str kind = lower_case(ds, tuple[i].kind);
        if (kind == AS_NO_STR) return ASSAY_NONE;
        if (rank < 0 && strcmp(tuple[i].kind, "RANK") == 0 && tuple[i].logical <= INT64_MAX)
            rank = (int64_t)tuple[i].logical;
        parent = i + 1 < n ? find_inner(ds, places, parent, kind, &tuple[i], rank)
                           : add_location(ds, parent, kind, &tuple[i], rank, source_id);
        if (parent == ASSAY_NONE) return ASSAY_NONE;
    }
    if (!n) {
        as_str kind = as_ds_intern_text(ds, none.kind);
        parent = kind == AS_NO_STR ? ASSAY_NONE : add_location(ds, ASSAY_NONE, kind, &none, -1, source_id);
        if (parent == ASSAY_NONE) return ASSAY_NONE;
    }
    return add_attributes(ds, places, parent, tuple, n) ? parent : ASSAY_NONE;
}

void as_hpc_places_free(as_hpc_places *places) {
    as_map_free(&places->known);
    as_vec_free(&places->list);
    as_vec_free(&places->text);
}

/* ---- tuples of profile.db ---------------------------------------------------------------------------------------- */

/* Elements of a tuple, and the texts of those kinds that have no name. */
typedef struct tuple {
    as_hpc_place places[MOST_ELEMENTS];
    char numbers[MOST_ELEMENTS][AS_NUMBER_SIZE];
    uint32_t n;
} tuple;

static void read_element(const as_hpc_database *db, const as_hpc_meaning *meaning, uint64_t at, tuple *out) {
    const as_hpc_file *file = &db->profile;
    as_hpc_place *place = &out->places[out->n];
    unsigned kind;
    if (db->form == AS_HPC_2021) {
        kind = as_hpc_u16(file, at) & 0x3fff;
        *place = (as_hpc_place){.bits = as_hpc_u16(file, at) >> 14,
                                .physical = as_hpc_u64(file, at + 2),
                                .logical = as_hpc_u64(file, at + 10)};
    } else {
        kind = file->data[at];
        *place = (as_hpc_place){.bits = as_hpc_u16(file, at + 2),
                                .logical = as_hpc_u32(file, at + 4),
                                .physical = as_hpc_u64(file, at + 8)};
    }
    as_uint_format(kind, out->numbers[out->n]);
    place->kind = kind < meaning->n_kinds && meaning->kinds[kind] ? meaning->kinds[kind] : out->numbers[out->n];
    out->n++;
}

/* left: bytes that tuples may still have; they do not share theirs. */
static assay_status read_tuple(as_reader *reader, const as_hpc_database *db, const as_hpc_meaning *meaning, uint32_t i,
                               tuple *out, uint64_t *left) {
    const as_hpc_file *file = &db->profile;
    uint64_t at = db->profiles[i].tuple, head = db->form == AS_HPC_2021 ? 2 : 8;
    uint64_t size = db->form == AS_HPC_2021 ? 18 : 16;
    uint64_t entry = db->profile_entries + (uint64_t)i * db->profile_entry;
    out->n = 0;
    if (!at) return ASSAY_OK;
    uint32_t n = as_hpc_fits(file, at, head, 1) ? as_hpc_u16(file, at) : 0;
    if (!as_hpc_fits(file, at, head, 1) || !as_hpc_fits(file, at + head, n, size))
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(file->path, entry), "outside-file",
                       "profile %u: its id tuple goes beyond the end of the file", i);
    if (n > MOST_ELEMENTS)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(file->path, at), "absurd-count",
                       "profile %u: its id tuple has %u elements; at most %d are possible", i, n, MOST_ELEMENTS);
    if (n * size > *left)
        return as_fail(reader->error, ASSAY_E_FORMAT, as_place_offset(file->path, entry), "overlap",
                       "profile %u: its id tuple is that of many others", i);
    *left -= n * size;
    for (uint32_t k = 0; k < n; k++) read_element(db, meaning, at + head + k * size, out);
    return ASSAY_OK;
}

static assay_status add_leaves(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning,
                               as_hpc_places *places, assay_id *leaves) {
    tuple elements;
    uint64_t left = db->profile.size + SHARED_TUPLES;
    for (uint32_t i = 0; i < db->n_profiles; i++) {
        db->columns[i] = UINT32_MAX;
        if (db->profiles[i].is_summary) continue;
        AS_TRY(read_tuple(reader, db, meaning, i, &elements, &left));
        char number[AS_NUMBER_SIZE];
        as_str source_id = as_ds_intern(db->ds, number, as_uint_format(i, number));
        if (source_id == AS_NO_STR) return as_reader_memory(reader);
        assay_id leaf = as_hpc_add_leaf(db->ds, places, elements.places, elements.n, source_id);
        if (leaf == ASSAY_NONE) return as_reader_memory(reader);
        db->columns[i] = db->n_columns;
        db->profile_of_column[db->n_columns] = i;
        leaves[db->n_columns++] = leaf;
    }
    return ASSAY_OK;
}

assay_status as_hpc_attach_places(as_reader *reader, as_hpc_database *db, const as_hpc_meaning *meaning,
                                  const assay_id **columns) {
    as_arena *arena = &db->ds->arena;
    as_hpc_places places = {0};
    assay_id *leaves = as_arena_array(arena, db->n_profiles, sizeof *leaves);
    db->columns = as_arena_array(arena, db->n_profiles, sizeof *db->columns);
    db->profile_of_column = as_arena_array(arena, db->n_profiles, sizeof *db->profile_of_column);
    if (!leaves || !db->columns || !db->profile_of_column) return as_reader_memory(reader);
    assay_status status = add_leaves(reader, db, meaning, &places, leaves);
    as_hpc_places_free(&places);
    *columns = leaves;
    return status;
}
