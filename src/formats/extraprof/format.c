/* The format `extra-prof`: one file, the profile of one process. */
#include "formats/extraprof/extraprof.h"

static const as_option read_options[] = {
    AS_EP_OPTIONS,
    {NULL, AS_OPTION_TEXT, NULL, NULL, NULL},
};

as_ep_rules as_ep_rules_of(const as_options *options) {
    return (as_ep_rules){.sums_threads = strcmp(as_option_text(options, "scaling"), "strong") == 0,
                         .sums_gpu = as_option_bool(options, "sum_gpu"),
                         .is_inclusive = as_option_bool(options, "inclusive"),
                         .keeps_all = as_option_bool(options, "concurrent_threads")};
}

/* A list of 3 to 15 parts, of which the first is the magic word. The oldest files are a nameless node with seven
 * fields, whose last five are small numbers: 0 or, the flags, 4. Others that are called so bid a little, to be told
 * what is wrong with them. */
static int bid(const as_probe *probe) {
    static const char magic[] = "\xaa"
                                "EXTRA PROF";
    const unsigned char *head = (const unsigned char *)probe->head, *tail = (const unsigned char *)probe->tail;
    size_t n = probe->head_size;
    if (probe->is_directory) return 0;
    if (n > sizeof magic && head[0] >= 0x90 && head[0] <= 0x9f && memcmp(head + 1, magic, sizeof magic - 1) == 0)
        return 4 + 8 * (int)(sizeof magic - 1);
    bool has_list = n >= 8 && head[0] == 0x97 && head[1] == 0xa0 &&
                    ((head[2] >= 0x90 && head[2] <= 0x9f) || head[2] == 0xdc || head[2] == 0xdd);
    const unsigned char *last = has_list ? tail + probe->tail_size - 5 : NULL;
    if (has_list && last[0] == 0 && (last[1] == 0 || last[1] == 4) && !last[2] && !last[3] && !last[4])
        return 8 + 8 + 3 + 5 * 8;
    return as_has_ending(probe->path, AS_EP_ENDING) ? 1 : 0;
}

static assay_status read_file(as_reader *reader, as_ep_builder *builder, as_ep_file *file) {
    as_dataset *ds = reader->dataset;
    AS_TRY(as_ep_parse(reader->input, &builder->rules, reader->max_depth, reader, file, reader->error));
    as_ep_report(builder, file, reader->input->path);
    as_run run = AS_RUN_INIT;
    run.source = ds->path;
    ds->format_version = file->version ? as_ep_text(&builder->names, file->version, file->version_size) : AS_NO_STR;
    if (as_add_run(ds, &run) == ASSAY_NONE || (file->version && ds->format_version == AS_NO_STR))
        return as_reader_memory(reader);
    builder->is_one_point = true;
    AS_TRY(as_ep_add_point(builder, file, 1, 0));
    as_ep_file_free(file);
    return as_ep_finish(builder);
}

static assay_status read_profile(as_reader *reader) {
    as_ep_builder builder;
    as_ep_file file;
    as_ep_file_init(&file, &reader->dataset->budget);
    assay_status status = as_ep_builder_init(&builder, reader);
    if (status == ASSAY_OK) status = read_file(reader, &builder, &file);
    as_ep_builder_free(&builder);
    as_ep_file_free(&file);
    return status;
}

const struct assay_format as_format_extra_prof = {
    .name = "extra-prof",
    .title = "Extra-Prof profile",
    .extensions = "",
    .holds = AS_HOLDS_VALUES | AS_HOLDS_ATTRIBUTES | AS_HOLDS_UNITS | AS_HOLDS_PROFILES,
    .read_options = read_options,
    .bid = bid,
    .read = read_profile,
};
