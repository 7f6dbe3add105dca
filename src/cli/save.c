#include "cli/save.h"

#include <stdlib.h>

#include "cli/progress.h"
#include "render/json_builder.h"

/* ---- what was asked for ------------------------------------------------------------------------------------------ */

/* -O serves both sides: what the target knows goes there, all else to the readers. */
static bool split_options(as_cli *cli, as_save *save) {
    size_t n = 0, reads = 0, writes = 0;
    while (cli->options[n]) n++;
    save->read_options = calloc(n + 1, sizeof *save->read_options);
    save->write_options = calloc(n + 1, sizeof *save->write_options);
    if (!save->read_options || !save->write_options) return false;
    for (size_t i = 0; i < n; i++) {
        size_t size = strcspn(cli->options[i], "=");
        bool writer = false;
        for (const as_option *o = save->target.format ? save->target.format->write_options : NULL;
             o && o->name && !writer; o++) {
            writer = strlen(o->name) == size && strncmp(o->name, cli->options[i], size) == 0;
        }
        if (writer)
            save->write_options[writes++] = cli->options[i];
        else
            save->read_options[reads++] = cli->options[i];
    }
    return true;
}

as_exit as_save_plan(as_cli *cli, const char *output, size_t n_inputs, as_save *save) {
    *save = (as_save){.output = output, .n_inputs = n_inputs};
    const char *to = as_cli_value(cli, "to");
    if (!output && to) return as_cli_fail(cli, AS_EXIT_USAGE, "--to names a format, but no file to write; add -o FILE");
    if (!output) return split_options(cli, save) ? AS_EXIT_FINE : as_cli_memory(cli);
    bool to_stdout = strcmp(output, "-") == 0;
    if (to_stdout && !to)
        return as_cli_fail(cli, AS_EXIT_USAGE, "standard output has no ending that names a format; name one with --to");
    assay_error error;
    if (as_target_find(to, output, &save->target, &error) != ASSAY_OK) {
        as_cli_error(cli, &error);
        return AS_EXIT_USAGE; /* whatever is wrong with it */
    }
    bool is_directory = as_target_is_directory(&save->target);
    if (to_stdout && (!save->target.format || is_directory))
        return as_cli_fail(cli, AS_EXIT_USAGE, "a %s cannot be written to standard output; name a %s",
                           is_directory ? "directory" : "database", is_directory ? "directory" : "file");
    if (to_stdout && cli->style.mode == AS_PRINT_JSON)
        return as_cli_fail(cli, AS_EXIT_USAGE, "--json reports on standard output, where the result goes; name a file");
    if (as_cli_has(cli, "derive") && save->target.format)
        return as_cli_fail(cli, AS_EXIT_USAGE,
                           "%s cannot hold what --derive computes; a database can: name a file that ends in .sqlite",
                           save->target.name);
    if (!split_options(cli, save)) return as_cli_memory(cli);
    return is_directory ? AS_EXIT_FINE : as_cli_check_output(cli, output, n_inputs);
}

void as_save_free(as_save *save) {
    free(save->read_options);
    free(save->write_options);
}

/* ---- losses, writing --------------------------------------------------------------------------------------------- */

/* What there is to say of a result. */
typedef struct report {
    as_cli *cli;
    const as_save *save;
    as_losses losses, remarks;
} report;

static void find_report(report *r, const as_dataset *ds) {
    const as_target *target = &r->save->target;
    as_target_losses(target, ds, &r->losses);
    as_losses_init(&r->remarks);
    if (!target->format || !target->format->remarks) return;
    as_options options = {target->format->write_options, r->save->write_options};
    target->format->remarks(ds, &options, &r->remarks);
}

static void print_losses(const report *r) {
    for (size_t i = 0; i < r->losses.texts.count; i++)
        as_cli_note(r->cli, "%s cannot hold %s", r->save->target.name, AS_AT(char *, &r->losses.texts, i));
}

/* A result that cannot be written has no losses: the error is all there is to say. */
static void print_notes(void *user) {
    const report *r = user;
    print_losses(r);
    for (size_t i = 0; i < r->remarks.texts.count; i++) as_cli_note(r->cli, "%s", AS_AT(char *, &r->remarks.texts, i));
}

static as_exit refuse_losses(const report *r) {
    size_t n = r->losses.texts.count;
    if (!n || !as_cli_has(r->cli, "strict")) return AS_EXIT_FINE;
    print_losses(r);
    return as_cli_fail(r->cli, AS_EXIT_CHECK, "%s: not written, because %s cannot hold %s and --strict forbids losses",
                       r->save->output, r->save->target.name,
                       n == 1 ? AS_AT(char *, &r->losses.texts, 0) : "all that is in the input");
}

/* --json: what was done. */
static void print_report(as_cli *cli, const as_save *save, const as_losses *losses) {
    as_builder b = as_builder_of(cli->out);
    as_build_object(&b, NULL, true);
    as_build_array(&b, "inputs", false);
    for (size_t i = 0; i < save->n_inputs; i++) as_build_text(&b, NULL, as_cli_operand(cli, i));
    as_build_end(&b);
    as_build_text(&b, "output", save->output);
    as_build_text(&b, "format", save->target.name);
    as_build_array(&b, "losses", true);
    for (size_t i = 0; i < losses->texts.count; i++) as_build_text(&b, NULL, AS_AT(char *, &losses->texts, i));
    as_build_end(&b);
    as_build_end(&b);
}

as_exit as_save_write(as_cli *cli, const as_save *save, const as_dataset *ds) {
    report r = {.cli = cli, .save = save};
    find_report(&r, ds);
    as_exit status = r.losses.failed || r.remarks.failed ? as_cli_memory(cli) : refuse_losses(&r);
    if (status == AS_EXIT_FINE) {
        assay_error error;
        as_target target = save->target;
        target.begins = print_notes;
        target.user = &r;
        if (!cli->quiet && strcmp(save->output, "-") != 0) as_progress_begin("writing", save->output);
        assay_status written = as_target_write(&target, ds, save->output, save->write_options, &error);
        as_progress_end();
        if (written != ASSAY_OK) status = as_cli_error(cli, &error);
    }
    if (status == AS_EXIT_FINE && cli->style.mode == AS_PRINT_JSON) print_report(cli, save, &r.losses);
    as_losses_free(&r.losses);
    as_losses_free(&r.remarks);
    return status;
}
