#include "cli/compatible.h"

#include <string.h>

static const char NAME[] = "perun_compatible";

const as_option as_compatible_option_table[] = {
    {.name = NAME,
     .type = AS_OPTION_BOOL,
     .fallback = "no",
     .help = "Give Perun's own numbers, bugs included, where the right ones differ"},
    {.name = NULL},
};

static bool is_ours(const char *key_value) {
    size_t size = strcspn(key_value, "=");
    return size == strlen(NAME) && strncmp(key_value, NAME, size) == 0;
}

as_exit as_cli_compatible(as_cli *cli, bool *out) {
    *out = false;
    for (size_t i = 0; i < cli->arguments.given.count; i++) {
        const as_given *given = &AS_AT(as_given, &cli->arguments.given, i);
        if (given->option->letter != 'O' || !given->value || !is_ours(given->value)) continue;
        const char *one[] = {given->value, NULL};
        as_options options = {.table = as_compatible_option_table, .given = one};
        assay_error error;
        if (as_options_check(&options, cli->verb->name, &error) != ASSAY_OK) return as_cli_error(cli, &error);
        *out = as_option_bool(&options, NAME);
    }
    const char **kept = (const char **)(uintptr_t)cli->options;
    for (const char *const *option = cli->options; option && *option; option++) {
        if (!is_ours(*option)) *kept++ = *option;
    }
    if (kept) *kept = NULL;
    return AS_EXIT_FINE;
}
