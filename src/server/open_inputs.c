#include "server/open_inputs.h"

#include <string.h>

#include "cli/progress.h"

as_exit as_open_inputs(as_cli *cli, bool needs_all, as_viewing **out) {
    as_read_config config = {.format = cli->from,
                             .options = cli->options,
                             .memory_limit = cli->memory_limit,
                             .progress = cli->quiet ? NULL : as_progress_step};
    as_exit status = AS_EXIT_FINE;
    size_t n_open = 0, n = as_cli_operands(cli);
    as_viewing *viewing = *out = as_viewing_new(&config);
    if (!viewing) return as_cli_memory(cli);
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        bool derives = strcmp(given->option->name, "derive") == 0;
        if (derives && !as_vec_append(&viewing->derives, &(as_view_derive){.text = given->value}, 1))
            return as_cli_memory(cli);
    }
    for (size_t i = 0; i < n; i++) {
        if (!cli->quiet) as_progress_begin("reading", as_cli_operand(cli, i));
        bool fine = as_viewing_open(viewing, as_cli_operand(cli, i), NULL);
        as_progress_end();
        if (!fine) return as_cli_memory(cli);
        const as_view_input *input = as_viewing_input(viewing, i);
        if (!input->ds) status = as_cli_error(cli, &input->error);
        n_open += input->ds != NULL;
    }
    if (status != AS_EXIT_FINE && (needs_all || n_open == 0)) return status;
    for (size_t i = 0; n_open > 0 && i < viewing->derives.count; i++) {
        const as_view_derive *derive = &AS_AT(as_view_derive, &viewing->derives, i);
        if (!derive->is_used) return as_cli_error(cli, &derive->error);
    }
    viewing->config.progress = NULL; /* what is dropped later has no line in the terminal */
    return AS_EXIT_FINE;
}
