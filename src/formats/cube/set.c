/* The format `cube-set`: a directory of measured points. */
#include "formats/cube/set.h"

#include "formats/cube/rows.h"

/* ONE_FILE_BITS: for a directory that has .cubex files itself, so that reading can say what to do. */
enum { BID_BITS = 56, ONE_FILE_BITS = 8 };

static const char FULL_UINT64[] = "full-uint64";

static const as_option read_options[] = {
    {"scaling", AS_OPTION_CHOICE, "weak", "weak|weak_threaded|strong",
     "how the values of a point's locations become one: all in one pool, the same without zeros, or summed for each "
     "run"},
    {FULL_UINT64, AS_OPTION_BOOL, "no", NULL,
     "sums take a UINT64 above 2^64 - 1025 as it stands, instead of as a counter that ran below zero"},
    AS_POINTS_OPTION,
    {NULL, AS_OPTION_TEXT, NULL, NULL, NULL},
};

static const as_point_rules rules = {.ending = ".cubex", .parse = as_set_parse_name};

/* ---- bid --------------------------------------------------------------------------------------------------------- */

/* The probe has nothing of a directory but its name: hence a bounded look into it. */
static int bid_set(const as_probe *probe) {
    as_points_seen found = probe->is_directory ? as_point_set_look(probe->path, rules.ending) : AS_POINTS_NONE;
    return found == AS_POINTS_DIRECTORIES ? BID_BITS : found == AS_POINTS_FILES ? ONE_FILE_BITS : 0;
}

/* ---- reading them ------------------------------------------------------------------------------------------------ */

/* Formulas are those of the set: what is wrong with them is said once, not for each file. */
static void forget_formulas(as_dataset *part) {
    size_t n = 0;
    for (size_t i = 0; i < part->problems.count; i++) {
        as_problem problem = *as_ds_problem(part, i);
        if (strcmp(problem.rule, "cubepl") != 0) *as_problems_at(&part->problems, n++) = problem;
    }
    part->problems.count = n;
}

static assay_status read_one(void *user, size_t i, assay_error *error) {
    as_set *set = user;
    as_set_file *file = &AS_AT(as_set_file, &set->files, i);
    as_reader *reader = set->reader;
    as_read_config config = {.format = "cube",
                             .options = set->options,
                             .memory_limit = set->ds->budget.limit,
                             .budget = &set->ds->budget,
                             .depth_limit = reader->max_depth,
                             .keep_going = reader->keep_going};
    as_dataset_free(file->part);
    file->part = NULL;
    AS_TRY(as_read(file->path, &config, &file->part, error));
    for (size_t k = 0; k < file->part->profiles.count; k++)
        AS_TRY(as_cube_list(&AS_AT(as_profile, &file->part->profiles, k), error));
    forget_formulas(file->part);
    return ASSAY_OK;
}

static assay_status read_files(as_set *set) {
    for (size_t i = 0; i < set->points.files.count; i++) {
        as_set_file file = {.path = as_point_file_at(&set->points, i)->path};
        if (!as_vec_append(&set->files, &file, 1)) return as_reader_memory(set->reader);
    }
    return as_point_set_read(&set->points, read_one, set);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static as_scaling chosen_scaling(const as_options *options) {
    const char *text = as_option_text(options, "scaling");
    as_scaling scaling = AS_SCALING_STRONG;
    while (scaling > AS_SCALING_WEAK && strcmp(text, as_scaling_name(scaling)) != 0) scaling--;
    return scaling;
}

static assay_status read_all(as_set *set) {
    AS_TRY(as_point_set_find(set->reader, &rules, &set->points));
    AS_TRY(read_files(set));
    AS_TRY(as_set_unite(set));
    AS_TRY(as_set_find_series(set));
    set->ds->pooling = chosen_scaling(&set->reader->options);
    as_cell scaling = as_cell_text(as_scaling_name(set->ds->pooling));
    return as_add_attribute(set->ds, AS_OWNER_DATASET, 0, "scaling", scaling) ? ASSAY_OK
                                                                              : as_reader_memory(set->reader);
}

static assay_status read_set(as_reader *reader) {
    const char *options[] = {as_option_bool(&reader->options, FULL_UINT64) ? "full-uint64=yes" : NULL, NULL};
    as_set set = {.reader = reader, .ds = reader->dataset, .options = options};
    as_vec_init(&set.files, sizeof(as_set_file), &reader->dataset->budget);
    assay_status status = read_all(&set);
    for (size_t i = 0; i < set.files.count; i++) as_dataset_free(AS_AT(as_set_file, &set.files, i).part);
    as_vec_free(&set.files);
    as_point_set_free(&set.points);
    return status;
}

const struct assay_format as_format_cube_set = {
    .name = "cube-set",
    .title = "Cube experiment",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_LOCATIONS | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_SOURCE |
             AS_HOLDS_PROFILES | AS_HOLDS_FOREIGN | AS_HOLDS_KINDS | AS_HOLDS_MANGLED | AS_HOLDS_ENDS | AS_HOLDS_SHOWN |
             AS_HOLDS_DESCRIBED | AS_HOLDS_CALLS,
    .reads_directories = true,
    .writes_directories = true,
    .writes_points = true,
    .points = &rules,
    .read_options = read_options,
    .write_options = as_cube_write_options,
    .bid = bid_set,
    .read = read_set,
    .write = as_cube_set_write,
    .losses = as_cube_set_losses,
    .remarks = as_cube_set_remarks,
};
