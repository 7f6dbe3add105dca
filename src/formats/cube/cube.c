/* The format `cube`: one .cubex. */
#include "formats/cube/cube.h"

#include "core/utf8.h"

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_MAGIC_AT = 257, TAR_BITS = 40, MEMBER_BITS = 72, ENDING_BITS = 48 };

static const as_option read_options[] = {
    {"full-uint64", AS_OPTION_BOOL, "no", NULL,
     "sums take a UINT64 above 2^64 - 1025 as it stands, instead of as a counter that ran below zero"},
    {NULL, AS_OPTION_TEXT, NULL, NULL, NULL},
};

/* ---- bid --------------------------------------------------------------------------------------------------------- */

/* "anchor.xml", "12.index", "12.data", with a NUL behind it; possibly below a directory, which reading then refuses. */
static bool is_member_name(const char *name, size_t room) {
    size_t size = strnlen(name, room);
    const char *slash = memrchr(name, '/', size);
    const char *base = slash ? slash + 1 : name;
    size -= (size_t)(base - name);
    if (size == 10 && memcmp(base, "anchor.xml", 10) == 0) return true;
    size_t digits = 0;
    while (digits < size && base[digits] >= '0' && base[digits] <= '9') digits++;
    const char *ending = base + digits;
    size_t left = size - digits;
    return digits &&
           ((left == 6 && memcmp(ending, ".index", 6) == 0) || (left == 5 && memcmp(ending, ".data", 5) == 0));
}

/* Whether a header of such a member stands at a multiple of the block size from `first`. */
static bool has_member(const char *window, size_t size, size_t first) {
    for (size_t at = first; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
        if (memcmp(window + at + TAR_MAGIC_AT, "ustar", 5) == 0 && is_member_name(window + at, TAR_NAME)) return true;
    }
    return false;
}

static int bid_cube(const as_probe *probe) {
    if (probe->is_directory) return 0;
    int ending = as_has_ending(probe->path, ".cubex") ? ENDING_BITS : 0;
    int bits = as_tar_looks_like(probe->head, probe->head_size);
    if (!bits) return 0;
    if (bits != TAR_BITS) return ending ? bits + ending : 0; /* compressed: what is in it cannot be seen */
    size_t odd = (size_t)(probe->size - probe->tail_size) % TAR_BLOCK;
    bool has_one = has_member(probe->head, probe->head_size, 0) ||
                   has_member(probe->tail, probe->tail_size, (TAR_BLOCK - odd) % TAR_BLOCK);
    return has_one ? bits + MEMBER_BITS + ending : ending ? bits + ending : 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The input stays open with the dataset, or, where it cannot, is copied. */
static assay_status open_archive(as_reader *reader, as_cube *cube) {
    as_dataset *ds = reader->dataset;
    as_input copy = {.path = as_ds_text(ds, ds->path), .size = reader->input->size};
    const as_input *input = reader->input;
    if (reader->can_keep_input)
        reader->keeps_input = true;
    else {
        copy.data = as_arena_copy(&ds->arena, input->data, input->size);
        if (!copy.data) return as_reader_memory(reader);
        input = &copy;
    }
    as_tar *tar;
    AS_TRY(as_tar_open(input, &ds->budget, &tar, reader->error));
    if (!as_ds_hold(ds, tar, (void (*)(void *))as_tar_free)) return as_reader_memory(reader);
    cube->tar = tar;
    return ASSAY_OK;
}

static assay_status find_anchor(as_reader *reader, const as_cube *cube, const as_tar_member **out) {
    *out = as_tar_find(cube->tar, "anchor.xml");
    if (*out) return ASSAY_OK;
    for (size_t i = 0; i < cube->tar->n_members; i++) {
        const char *name = cube->tar->members[i].name, *slash = strrchr(name, '/');
        if (slash && strcmp(slash + 1, "anchor.xml") == 0)
            return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(cube->path), "no-anchor",
                           "anchor.xml is below a directory (%s); pack the files themselves", name);
    }
    return as_fail(reader->error, ASSAY_E_FORMAT, as_place_file(cube->path), "no-anchor",
                   "the archive has no anchor.xml: not a Cube file, or cut off");
}

/* The number of "12.index" or "12.data"; false for other names. */
static bool parse_member_name(const char *name, uint64_t *number) {
    const char *at = name;
    for (*number = 0; *at >= '0' && *at <= '9' && *number <= UINT32_MAX; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at > name && (strcmp(at, ".index") == 0 || strcmp(at, ".data") == 0);
}

static bool is_text(const as_tar_member *member) {
    return member->size <= AS_CUBE_KEPT_FILE && !memchr(member->data, '\0', member->size) &&
           !as_utf8_invalid(member->data, member->size);
}

static assay_status keep_file(as_reader *reader, const as_cube *cube, const as_tar_member *member) {
    if (!is_text(member)) {
        as_add_problem(reader->dataset, AS_NOTE, as_tar_place(cube->tar, member, 0), "other-file",
                       "%s: a further file of the archive, which is no text of up to 1 MiB, is left out", member->name);
        return ASSAY_OK;
    }
    as_vec key;
    as_vec_init(&key, 1, &reader->dataset->budget);
    bool fine =
        as_vec_text(&key, AS_CUBE_FILE) && as_vec_text(&key, member->name) && as_vec_append(&key, "", 1) &&
        as_add_attribute(reader->dataset, AS_OWNER_DATASET, 0, key.data, as_cell_text_n(member->data, member->size));
    as_vec_free(&key);
    return fine ? ASSAY_OK : as_reader_memory(reader);
}

/* Files that are neither the anchor nor a metric's. */
static assay_status keep_other_files(as_reader *reader, const as_cube *cube, const as_vec *metrics) {
    as_map numbers;
    as_map_init(&numbers, &reader->dataset->budget);
    bool fine = true;
    for (size_t i = 0; i < metrics->count && fine; i++)
        fine = as_map_put(&numbers, AS_AT(as_cube_metric, metrics, i).number, (uint32_t)i);
    assay_status status = fine ? ASSAY_OK : as_reader_memory(reader);
    for (size_t i = 0; i < cube->tar->n_members && status == ASSAY_OK; i++) {
        const as_tar_member *member = &cube->tar->members[i];
        uint64_t number;
        if (strcmp(member->name, "anchor.xml") == 0) continue;
        if (!parse_member_name(member->name, &number))
            status = keep_file(reader, cube, member);
        else if (as_map_get(&numbers, number) == AS_MAP_NONE)
            as_warn(reader, as_tar_place(cube->tar, member, 0), "other-file",
                    "%s: anchor.xml has no metric of this number; it is not read", member->name);
    }
    as_map_free(&numbers);
    return status;
}

static assay_status read_file(as_reader *reader, as_cube *cube, as_vec *metrics) {
    const as_tar_member *anchor;
    as_run run = AS_RUN_INIT;
    AS_TRY(open_archive(reader, cube));
    AS_TRY(find_anchor(reader, cube, &anchor));
    AS_TRY(as_cube_read_anchor(reader, anchor, cube, metrics));
    run.source = cube->ds->path;
    cube->run = as_add_run(cube->ds, &run);
    if (cube->run == ASSAY_NONE) return as_reader_memory(reader);
    for (size_t i = 0; i < metrics->count; i++)
        AS_TRY(as_cube_open_metric(cube, &AS_AT(as_cube_metric, metrics, i), reader->error));
    if (!as_cube_formulas(cube->ds, cube->path)) return as_reader_memory(reader);
    return keep_other_files(reader, cube, metrics);
}

static assay_status read_cube(as_reader *reader) {
    as_dataset *ds = reader->dataset;
    as_cube *cube = as_arena_alloc(&ds->arena, sizeof *cube);
    if (!cube) return as_reader_memory(reader);
    *cube = (as_cube){
        .ds = ds, .path = as_ds_text(ds, ds->path), .full_uint64 = as_option_bool(&reader->options, "full-uint64")};
    as_vec metrics;
    as_vec_init(&metrics, sizeof(as_cube_metric), &ds->budget);
    assay_status status = read_file(reader, cube, &metrics);
    as_vec_free(&metrics);
    return status;
}

const struct assay_format as_format_cube = {
    .name = "cube",
    .title = "Cube profile",
    .extensions = ".cubex",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
             AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN | AS_HOLDS_KINDS | AS_HOLDS_MANGLED | AS_HOLDS_ENDS | AS_HOLDS_SHOWN |
             AS_HOLDS_DESCRIBED | AS_HOLDS_CALLS,
    .read_options = read_options,
    .write_options = as_cube_write_options,
    .bid = bid_cube,
    .read = read_cube,
    .write = as_cube_write,
    .losses = as_cube_losses,
};
