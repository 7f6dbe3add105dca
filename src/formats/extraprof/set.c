/* The format `extra-prof-set`: a directory of measured points, each a directory with the profiles of its processes and
 * repetitions. */
#include <stdlib.h>

#include "formats/extraprof/extraprof.h"
#include "formats/points.h"

/* FILES_BITS: for a directory that has profiles itself, so that reading can say what to do. */
enum { BID_BITS = 56, FILES_BITS = 8 };

static const as_point_rules rules = {
    .ending = AS_EP_ENDING, .parse = as_point_parse, .takes_one_point = true, .counts_ranks = true};

static const as_option read_options[] = {AS_EP_OPTIONS, AS_POINTS_OPTION, {NULL, AS_OPTION_TEXT, NULL, NULL, NULL}};

static int bid(const as_probe *probe) {
    if (!probe->is_directory) return 0;
    as_points_seen seen = as_point_set_look(probe->path, AS_EP_ENDING);
    return seen == AS_POINTS_DIRECTORIES ? BID_BITS : seen == AS_POINTS_FILES ? FILES_BITS : 0;
}

/* A file of the set, while it is needed. */
typedef struct set_file {
    as_input *input;
    as_ep_file content;
} set_file;

typedef struct set {
    as_reader *reader;
    as_point_set points;
    as_ep_builder builder;
    as_vec files; /* set_file */
} set;

static void close_file(set_file *file) {
    as_ep_file_free(&file->content);
    as_input_close(file->input);
    file->input = NULL;
}

static assay_status read_file(void *user, size_t i, assay_error *error) {
    set *s = user;
    set_file *file = &AS_AT(set_file, &s->files, i);
    as_ep_file_init(&file->content, &s->reader->dataset->budget);
    assay_status status =
        as_input_open(as_point_file_at(&s->points, i)->path, &s->reader->dataset->budget, &file->input, error);
    if (status == ASSAY_OK)
        status = as_ep_parse(file->input, &s->builder.rules, s->reader->max_depth, NULL, &file->content, error);
    if (status != ASSAY_OK) close_file(file);
    return status;
}

static assay_status add_points(set *s) {
    as_dataset *ds = s->reader->dataset;
    size_t n = s->files.count;
    as_ep_file *contents = malloc((n + 1) * sizeof *contents);
    assay_status status = contents ? ASSAY_OK : as_reader_memory(s->reader);
    for (size_t first = 0, end; first < n && status == ASSAY_OK; first = end) {
        assay_id point = as_ds_run(ds, (assay_id)first)->point;
        for (end = first; end < n && as_ds_run(ds, (assay_id)end)->point == point; end++) {
            const set_file *file = &AS_AT(set_file, &s->files, end);
            ds->input_size += file->input->size;
            as_ep_report(&s->builder, &file->content, file->input->path);
            contents[end - first] = file->content;
        }
        status = as_ep_add_point(&s->builder, contents, end - first, (assay_id)first);
        for (size_t i = first; i < end; i++) close_file(&AS_AT(set_file, &s->files, i));
    }
    free(contents);
    return status;
}

static assay_status read_all(set *s) {
    AS_TRY(as_ep_builder_init(&s->builder, s->reader));
    AS_TRY(as_point_set_find(s->reader, &rules, &s->points));
    for (size_t i = 0; i < s->points.files.count; i++) {
        if (!as_vec_push(&s->files)) return as_reader_memory(s->reader);
    }
    AS_TRY(as_point_set_read(&s->points, read_file, s));
    AS_TRY(add_points(s));
    AS_TRY(as_ep_finish(&s->builder));
    AS_TRY(as_point_set_add_block_series(s->reader));
    as_cell scaling =
        as_cell_text(as_scaling_name(s->builder.rules.sums_threads ? AS_SCALING_STRONG : AS_SCALING_WEAK_THREADED));
    bool fine = as_add_attribute(s->reader->dataset, AS_OWNER_DATASET, 0, "scaling", scaling);
    return fine ? ASSAY_OK : as_reader_memory(s->reader);
}

static assay_status read_set(as_reader *reader) {
    set s = {.reader = reader};
    as_vec_init(&s.files, sizeof(set_file), &reader->dataset->budget);
    assay_status status = read_all(&s);
    for (size_t i = 0; i < s.files.count; i++) {
        if (AS_AT(set_file, &s.files, i).input) close_file(&AS_AT(set_file, &s.files, i));
    }
    as_vec_free(&s.files);
    as_point_set_free(&s.points);
    as_ep_builder_free(&s.builder);
    return status;
}

const struct assay_format as_format_extra_prof_set = {
    .name = "extra-prof-set",
    .title = "Extra-Prof experiment",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS,
    .reads_directories = true,
    .points = &rules,
    .read_options = read_options,
    .bid = bid,
    .read = read_set,
};
