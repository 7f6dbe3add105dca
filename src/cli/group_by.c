#include "cli/group_by.h"

bool as_cli_pauses(const as_cli *cli, const char *const *options, const as_dataset *ds, as_pauses *out,
                   const as_pauses **pauses) {
    static const as_option table[] = {{.name = "deduct_pauses", .type = AS_OPTION_BOOL, .fallback = "no"},
                                      {.name = NULL}};
    as_options given = {.table = table, .given = options ? options : cli->options};
    *out = (as_pauses){0};
    *pauses = NULL;
    if (!as_option_bool(&given, "deduct_pauses")) return true;
    *pauses = out;
    return as_pauses_load(ds, out);
}

assay_status as_cli_group(const as_cli *cli, const char *const *options, const as_dataset *ds, bool wants_events,
                          as_grouping *out, assay_error *error) {
    as_pauses loaded;
    as_grouping_request request = {.ds = ds,
                                   .keys = as_cli_value(cli, "group-by"),
                                   .wants_events = wants_events,
                                   .memory_limit = cli->memory_limit};
    *out = (as_grouping){0};
    assay_status status =
        as_cli_pauses(cli, options, ds, &loaded, &request.pauses) ? ASSAY_OK : as_fail_memory(error, NULL);
    if (status == ASSAY_OK) status = as_group(&request, out, error);
    as_pauses_free(&loaded);
    return status;
}
